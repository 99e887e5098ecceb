// Does examples/char_gpt.c learn to read in a minute? Its long run with 2 threads: its bar for the loss on what was held
// out is its own, and this one for the time.
#define main char_gpt_main
#include "../examples/char_gpt.c"
#undef main

#include "bench.h"

enum { MINUTE = 60 };

int main(void) {
    char name[] = "char_gpt", steps[24];
    char *arguments[] = {name, steps, NULL};
    snprintf(steps, sizeof steps, "%d", LONG_RUN);
    setenv("TC_THREADS", "2", 1);
    double begun = bench_ns();
    int missed = char_gpt_main(2, arguments);
    double took = bench_ns() - begun;
    bench_head("ours", "", "seconds");
    missed |=
        bench_row("to the loss of its bar", took, -1, took * 1e-9, BENCH_AT_MOST, MINUTE);
    return bench_status(missed);
}
