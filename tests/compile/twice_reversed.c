// The implementation asked for twice in one file gives it once.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"
#include "tcompile.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_close(tc);
    return !tc;
}
