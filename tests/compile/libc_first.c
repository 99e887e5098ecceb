// A libc header before the implementation. Fine with -D_GNU_SOURCE; without it, under a
// strict -std, the header has to say so (run.sh checks both).
#include <stdio.h>

#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_close(tc);
    return !tc;
}
