// A user with TC_NO_SITES: no call names its file. Linked with only.c.
#define TC_NO_SITES
#include "tcompile.h"

#include <string.h>

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x = tc_ones(tc, TC_DIMS(40), TC_F32), y;
    float out[40], few[1];
    int bad = 0;
    tc_trace_begin(tc, "quiet");
    y = tc_keep(tc_add_s(x, 1));
    bad |= tc_item(tc_sum_all(y)) != 80;
    bad |= tc_trace_end(tc) != TC_OK;
    bad |= tc_read(y, out, sizeof out) != TC_OK || out[3] != 2;
    bad |= tc_read(y, few, sizeof few) == TC_OK || strcmp(tc_error_file(tc), "?") ||
           tc_error_line(tc);
    tc_close(tc);
    return bad;
}
