// Arguments of the smaller fuzzers: [SECONDS] [SEED] [--graphs N] [--only SEED]; others begin with - and have a value.
#ifndef FUZZ_ARGUMENTS_H
#define FUZZ_ARGUMENTS_H
#include "harness.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct arguments {
    uint64_t graphs, seed, one; // one: alone, 0 = all
    double seconds;
} arguments;

static arguments read_arguments(int count, char **args) {
    arguments a = {UINT64_MAX, 1, 0, 5};
    for (int i = 1, plain = 0; i < count; i++) {
        const char *b = i + 1 < count ? args[i + 1] : "0";
        if (!strcmp(args[i], "--graphs"))
            a.graphs = strtoull(b, NULL, 10), a.seconds = 1e6, i++;
        else if (!strcmp(args[i], "--only"))
            a.one = strtoull(b, NULL, 10), i++;
        else if (args[i][0] == '-')
            i++;
        else if (plain++ == 0)
            a.seconds = atof(args[i]);
        else
            a.seed = strtoull(args[i], NULL, 10);
    }
    return a;
}
#endif
