// The usual way: the implementation in one file of its own, with a user of it.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x = tc_randn(tc, TC_DIMS(2, 3), TC_F32);
    tc_tensor y = tc_neg(tc_add(x, x));
    int bad = !tc || !y.id;
    tc_close(tc);
    return bad;
}
