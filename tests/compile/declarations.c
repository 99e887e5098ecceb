// Declarations only, after the user's own headers; linked with only.c.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tcompile.h"
#include "tcompile.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x = tc_randn(tc, TC_DIMS(2, 3), TC_F32);
    tc_tensor y = tc_where(tc_lt(x, x), x, tc_exp(x));
    int bad = !tc || !y.id;
    tc_close(tc);
    return bad;
}
