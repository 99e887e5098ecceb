// Whose an error is: of the context that an operand or a scaler leads to, whatever context was opened last. A row is a
// call of which the first tensor or an array is null, or that has no tensors, while another context is the last one.
#include "tcompile.h"

#include "harness.h"

#include <math.h>

static tc_ctx *mine, *last;

// The error is in `mine`, with these words.
static void said(int at, tc_status item, const char *words) {
    if (!CHECK_EQ(tc_error(last), TC_OK)) FAIL("line %d: \"%s\"", at, tc_error_text(last));
    if (!CHECK_EQ(tc_error(mine), item)) FAIL("line %d: other status", at);
    if (!strstr(tc_error_text(mine), words))
        FAIL("line %d: \"%s\" lacks \"%s\"", at, tc_error_text(mine), words);
    tc_error_clear(mine), tc_error_clear(last);
}

#define STATUS(call, item, words) (CHECK_EQ(call, item), said(__LINE__, item, words))
#define RESULT(call, item, words) (CHECK_EQ((call).id, 0), said(__LINE__, item, words))

static void open_both(void) { mine = tc_open(NULL), last = tc_open(NULL); }
static void close_both(void) { tc_close(last), tc_close(mine); }

TEST(scalers) {
    tc_grad_scaler s;
    open_both();
    tc_tensor g = tc_ones(mine, TC_DIMS(2), TC_F32);
    CHECK_EQ(tc_grad_scaler_init(mine, &s, 8), TC_OK);
    STATUS(tc_grad_scaler_unscale_(&s, NULL, 2), TC_E_NULL,
           "tc_grad_scaler_unscale_: grad is null, an array of 2 is needed");
    STATUS(tc_grad_scaler_unscale_(&s, &g, -1), TC_E_ARG,
           "tc_grad_scaler_unscale_: -1 tensors; 0 or more");
    close_both();
}

TEST(optimisers) {
    open_both();
    tc_tensor none = tc_null(), p = tc_ones(mine, TC_DIMS(3), TC_F32),
              g = tc_ones(mine, TC_DIMS(3), TC_F32), m = tc_zeros(mine, TC_DIMS(3), TC_F32),
              v = tc_zeros(mine, TC_DIMS(3), TC_F32),
              step = tc_zeros(mine, TC_SCALAR, TC_F32);
    RESULT(tc_adamw_(none, g, m, v, step, 0.1, 0.9, 0.99, 1e-8, 0), TC_E_NULL,
           "adamw_: parameter is a null tensor");
    RESULT(tc_adamw_(p, g, m, v, none, 0.1, 0.9, 0.99, 1e-8, 0), TC_E_NULL,
           "adamw_: step is a null tensor");
    STATUS(tc_adamw_list_(&p, &g, &m, &v, 1, none, 0.1, 0.9, 0.99, 1e-8, 0), TC_E_NULL,
           "adamw_list_: step is a null tensor");
    RESULT(tc_sgd_(none, g, none, 0.1, 0, 0, 0), TC_E_NULL,
           "sgd_: parameter is a null tensor");
    STATUS(tc_adamw_list_(&p, &g, &m, &v, 0, step, NAN, 0.9, 0.99, 1e-8, 0), TC_E_ARG,
           "adamw_list_: lr is nan, 0 or more is needed");
    CHECK_NEAR(tc_item(step), 0, 0);
    close_both();
}

static void keeps(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = in[0];
}

// In a region, which then fails with it.
TEST(loops_of_nothing) {
    open_both();
    tc_tensor x = tc_ones(mine, TC_DIMS(3), TC_F32), y;
    for (int i = 0; i < 4; i++) {
        tc_trace_begin(mine, "loops");
        if (i == 0) tc_while(keeps, keeps, NULL, NULL, 1, 5, &y);
        if (i == 1) tc_while(keeps, keeps, NULL, &x, 0, 5, &y);
        if (i == 2) tc_scan(keeps, NULL, NULL, 0, &x, 0, NULL, &y, 1);
        if (i == 3) tc_clip_grad_norm_(NULL, 1, 1, 2);
        static const struct {
            tc_status status;
            const char *words;
        } want[] = {{TC_E_NULL, "tc_while: init is null"},
                    {TC_E_ARG, "tc_while: n is 0; 1 to 62 carries are possible"},
                    {TC_E_ARG, "tc_scan: there are no xs; it needs rows"},
                    {TC_E_NULL, "clip_grad_norm_: grad is null, an array of 1"}};
        CHECK_EQ(tc_trace_end(mine), want[i].status);
        said(__LINE__, want[i].status, want[i].words);
    }
    close_both();
}
