// Everything static to one file.
#define TCOMPILE_STATIC
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_close(tc);
    return !tc;
}
