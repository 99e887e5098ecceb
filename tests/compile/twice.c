// Declarations, then the implementation, then declarations again: the usual accident when
// another header of the user's includes ours first.
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE
#endif
#include "tcompile.h"
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"
#undef TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_close(tc);
    return !tc;
}
