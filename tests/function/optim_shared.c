// A parameter and its states are all written, so none may be another, show memory of another, or wrap the same bytes:
// one step would leave what only one of them was to become. Eager, in regions and in functions; nothing is written.
// What may be: views of one buffer that do not meet, gradients that are read alone, lists whose rows share.
#include "tcompile.h"

#include "harness.h"

typedef struct operands {
    tc_tensor p, g, m, v, step;
} operands;

static tc_status adamw(const operands *o) {
    return tc_adamw_list_(&o->p, &o->g, &o->m, &o->v, 1, o->step, 0.5, 0.5, 0.5, 1e-8, 0);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    adamw((const operands *)user);
    out[0] = tc_neg(in[0]);
}

enum how { EAGER, REGION, FUNCTION, HOWS };

static tc_status step_by(tc_ctx *tc, int how, operands *o) {
    tc_tensor x = tc_ones(tc, TC_DIMS(1), TC_F32), y;
    tc_status s = TC_OK;
    if (how == EAGER) s = adamw(o);
    if (how == REGION) tc_trace_begin(tc, "step"), adamw(o), s = tc_trace_end(tc);
    if (how != FUNCTION) return s;
    tc_fn *f = tc_compile(tc, body, o, sizeof *o, NULL);
    s = tc_call(f, &x, 1, &y, 1);
    tc_fn_free(f);
    return s;
}

static void refused(tc_ctx *tc, operands o, const char *words) {
    for (int how = 0; how < HOWS; how++) {
        CHECK_EQ(step_by(tc, how, &o), TC_E_ALIAS);
        if (!strstr(tc_error_text(tc), words))
            FAIL("%d: \"%s\" lacks \"%s\"", how, tc_error_text(tc), words);
        tc_error_clear(tc);
        CHECK_NEAR(tc_get(o.p, TC_DIMS(0)), 1, 0);
        CHECK_NEAR(tc_item(o.step), 0, 0);
    }
}

static operands operands_of(tc_ctx *tc) {
    operands o;
    o.p = tc_ones(tc, TC_DIMS(4), TC_F32), o.g = tc_ones(tc, TC_DIMS(4), TC_F32);
    o.m = tc_zeros(tc, TC_DIMS(4), TC_F32), o.v = tc_zeros(tc, TC_DIMS(4), TC_F32);
    o.step = tc_zeros(tc, TC_SCALAR, TC_F32);
    return o;
}

TEST(shared_memory_is_refused) {
    tc_ctx *tc = tc_open(NULL);
    operands o = operands_of(tc), bad = o;
    bad.v = o.m;
    refused(tc, bad, "adamw_list_: exp_avg_sq 0 shares memory with its exp_avg");
    bad = o, bad.m = o.p;
    refused(tc, bad, "adamw_list_: exp_avg 0 shares memory with its parameter");
    tc_tensor all = tc_zeros(tc, TC_DIMS(7), TC_F32);
    bad = o, bad.m = tc_narrow(all, 0, 0, 4), bad.v = tc_narrow(all, 0, 3, 4);
    refused(tc, bad, "exp_avg_sq 0 shares memory with its exp_avg");
    float bytes[7] = {0};
    bad = o, bad.m = tc_wrap(tc, bytes, TC_DIMS(4), TC_F32);
    bad.v = tc_wrap(tc, bytes + 3, TC_DIMS(4), TC_F32);
    refused(tc, bad, "exp_avg_sq 0 shares memory with its exp_avg");
    for (int i = 0; i < 7; i++) CHECK_NEAR(bytes[i], 0, 0);
    CHECK(!tc_sgd_(o.p, o.g, o.p, 0.1, 0.9, 0, 0).id);
    CHECK_STR(tc_error_text(tc), "sgd_: momentum_buffer shares memory with its parameter, "
                                 "and both are written; give each a tensor of its own");
    tc_close(tc);
}

// With a step of 0.5 and betas of 0.5 the first step of AdamW is lr * g / |g|.
TEST(what_does_not_meet_is_not) {
    tc_ctx *tc = tc_open(NULL);
    for (int how = 0; how < HOWS; how++) {
        operands o = operands_of(tc);
        tc_tensor all = tc_zeros(tc, TC_DIMS(4, 2), TC_F32);
        o.m = tc_select(all, 1, 0), o.v = tc_select(all, 1, 1); // columns
        CHECK_EQ(step_by(tc, how, &o), TC_OK);
        CHECK_NEAR(tc_get(o.p, TC_DIMS(3)), 0.5, 1e-6);
        float bytes[8] = {0};
        o = operands_of(tc), o.m = tc_wrap(tc, bytes, TC_DIMS(4), TC_F32);
        o.v = tc_wrap(tc, bytes + 4, TC_DIMS(4), TC_F32); // neighbours
        CHECK_EQ(step_by(tc, how, &o), TC_OK);
        CHECK_NEAR(tc_get(o.p, TC_DIMS(3)), 0.5, 1e-6);
        CHECK_NEAR(bytes[7], 0.5, 1e-6);
    }
    tc_tensor p = tc_ones(tc, TC_DIMS(4), TC_F32);
    CHECK(tc_sgd_(p, p, tc_null(), 0.5, 0, 0, 0).id != 0); // its own gradient is read first
    CHECK_NEAR(tc_get(p, TC_DIMS(0)), 0.5, 0);
    tc_tensor nothing = tc_ones(tc, TC_DIMS(0), TC_F32),
              step = tc_zeros(tc, TC_SCALAR, TC_F32);
    CHECK(tc_adamw_(nothing, nothing, nothing, nothing, step, 0.1, 0.9, 0.9, 1e-8, 0).id !=
          0);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}
