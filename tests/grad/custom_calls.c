// The function that gives an op's gradient is code of the user's like a body: it may not call itself without end, close
// the context or a set, or leave a scope, a region or a range open, whatever it does in the graph. What it left open is
// closed, so that what follows computes as ever.
#include "tcompile.h"

#include "harness.h"

enum deed {
    WELL,
    ITSELF,
    CLOSES,
    SCOPE,
    SCOPE_END,
    REGION,
    DISABLES,
    AUTOCAST,
    NO_GRAD,
    DEEDS
};
static int number, deed;

static tc_status same(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    memcpy(out->data, in[0].data, 3 * sizeof(float));
    return TC_OK;
}

static tc_status derive(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                        tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    (void)user, (void)n_in, (void)out;
    grad_in[0] = grad_out;
    switch (deed) {
    case ITSELF: return tc_grad(tc_sum_all(tc_custom(tc, number, in, 1)), in, 1, grad_in);
    case CLOSES: tc_close(tc); break;
    case SCOPE: tc_scope_begin(tc); break;
    case SCOPE_END: tc_scope_end(tc); break;
    case REGION: tc_trace_begin(tc, "inner"); break;
    case DISABLES: tc_disable_begin(tc); break;
    case AUTOCAST: tc_autocast_begin(tc, TC_BF16); break;
    case NO_GRAD: tc_no_grad_begin(tc); break;
    default: break;
    }
    return TC_OK;
}

static const struct {
    tc_status status;
    const char *words;
} want[DEEDS] = {
    {TC_OK, ""},
    {TC_E_STATE,
     "custom op \"same\": calls of bodies and host functions are nested 64 deep"},
    {TC_E_STATE, "tc_close: called by a body or a host call"},
    {TC_E_STATE,
     "custom op \"same\": its gradient has a tc_scope_begin without its tc_scope_end"},
    {TC_E_STATE, "tc_scope_end: the scope was begun by the code that called"},
    {TC_E_REGION, "custom op \"same\": its gradient has a tc_trace_begin without its"},
    {TC_E_REGION, "custom op \"same\": its gradient has a tc_disable_begin without its"},
    {TC_OK, ""},
    {TC_OK, ""}};

// The gradient of sum(same(x)^2), and of a product behind it, which is f32 and derived as ever.
static void step(tc_ctx *tc, tc_tensor x, tc_tensor m) {
    tc_tensor g = tc_null(), h = tc_null();
    char name[16];
    snprintf(name, sizeof name, "deed %d", deed);
    tc_trace_begin(tc, name);
    tc_tensor loss = tc_sum_all(tc_square(tc_custom(tc, number, &x, 1)));
    tc_status s = tc_grad(loss, &x, 1, &g);
    tc_tensor after = tc_matmul(m, x);
    CHECK_EQ(tc_dtype_of(after), TC_F32);
    CHECK_EQ(tc_grad(tc_sum_all(after), &x, 1, &h), TC_OK);
    CHECK_EQ(tc_trace_end(tc), want[deed].status);
    CHECK_EQ(s, want[deed].status);
    if (!strstr(tc_error_text(tc), want[deed].words))
        FAIL("%d: \"%s\" lacks \"%s\"", deed, tc_error_text(tc), want[deed].words);
    tc_error_clear(tc);
    CHECK_NEAR(tc_get(h, TC_DIMS(1)), 3, 0);
    if (!want[deed].status) CHECK_NEAR(tc_get(g, TC_DIMS(1)), 4, 0);
    CHECK_EQ(tc_is_compiling(tc), 0);
}

TEST(what_a_gradient_does) {
    tc_ctx *tc = tc_open(NULL);
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "same", op.run = same, op.gradient = derive;
    number = tc_register_op(tc, &op);
    float values[] = {1, 2, 3};
    tc_tensor x = tc_from_data(tc, values, TC_DIMS(3), TC_F32),
              m = tc_ones(tc, TC_DIMS(3, 3), TC_F32);
    for (int i = 0; i < 2 * DEEDS; i++) {
        deed = i / 2; // twice: what was recorded is followed
        tc_scope_begin(tc);
        step(tc, x, m);
        CHECK_EQ(tc_scope_end(tc), TC_OK);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

static void leaves_open(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_add(in[0], in[1]);
    tc_trace_begin(tc, "left");
}

// Outside of regions a loop calls its body for each row; a region that it leaves open is closed, too.
TEST(a_region_left_by_the_body_of_an_eager_loop) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x = tc_ones(tc, TC_DIMS(3), TC_F32),
              rows = tc_ones(tc, TC_DIMS(2, 3), TC_F32), last;
    CHECK_EQ(tc_scan(leaves_open, NULL, &x, 1, &rows, 1, &last, NULL, 0), TC_E_REGION);
    CHECK(strstr(tc_error_text(tc), "tc_scan: the body has a tc_trace_begin") != NULL);
    CHECK_EQ(tc_is_compiling(tc), 0);
    tc_error_clear(tc);
    CHECK_NEAR(tc_item(tc_sum_all(tc_add(x, x))), 6, 0);
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

static void leaves_ranges(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_mul_s(in[0], 2);
    tc_autocast_begin(tc, TC_BF16), tc_no_grad_begin(tc);
}

// A body that leaves ranges open ends them, and only them: those around it go on.
TEST(ranges_left_open_by_bodies) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x = tc_ones(tc, TC_DIMS(3), TC_F32), m = tc_ones(tc, TC_DIMS(3, 3), TC_F32),
              y, g = tc_null(), rows = tc_ones(tc, TC_DIMS(2, 3), TC_F32);
    tc_fn *f = tc_compile(tc, leaves_ranges, NULL, 0, NULL);
    for (int i = 0; i < 6; i++) {
        char name[16];
        snprintf(name, sizeof name, "by %d", i / 2);
        tc_trace_begin(tc, name);
        if (i / 2 == 0) tc_checkpoint(tc, leaves_ranges, NULL, &x, 1, &y, 1);
        if (i / 2 == 1) tc_scan(leaves_ranges, NULL, &x, 1, &rows, 1, &y, NULL, 0);
        if (i / 2 == 2) tc_call(f, &x, 1, &y, 1);
        tc_tensor after = tc_matmul(m, x);
        CHECK_EQ(tc_dtype_of(after), TC_F32);
        CHECK_EQ(tc_grad(tc_sum_all(after), &x, 1, &g), TC_OK);
        CHECK_EQ(tc_no_grad_end(tc), TC_E_STATE); // none is open here
        CHECK_EQ(tc_trace_end(tc), TC_E_STATE);
        tc_error_clear(tc);
        CHECK_NEAR(tc_get(g, TC_DIMS(1)), 3, 0);
    }
    tc_close(tc);
}
