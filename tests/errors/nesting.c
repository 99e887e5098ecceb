// Code of the user's that is called inside of others, bodies of all kinds, gradients and host calls, ends nothing that was
// begun around it, and leaves nothing open: each call that would, in each kind of body, eager, in a region, between
// tc_disable_begin and its end there, and in a function. It is an error; what was open stays so, and its results are right.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

// ---- what a body calls ----

static tc_grad_scaler scaler;
static tc_tensor factor; // of rates

#define WRONG(name) static tc_status name(tc_ctx *tc)
WRONG(nothing) { return (void)tc, TC_OK; }
WRONG(trace_end) { return tc_trace_end(tc); }
WRONG(trace_end_of_two) { // its own, and one more
    tc_trace_begin(tc, "own");
    tc_trace_end(tc);
    return tc_trace_end(tc);
}
WRONG(trace_begin) { return tc_trace_begin(tc, "left open"), TC_OK; }
WRONG(trace_begin_two) {
    tc_trace_begin(tc, "left open"), tc_trace_begin(tc, "and another");
    return TC_OK;
}
WRONG(trace_begin_again) { return BEGIN("outer"); }
WRONG(trace_balanced) { return tc_trace_begin(tc, "own"), tc_trace_end(tc); }
WRONG(disable_end) { return tc_disable_end(tc); }
WRONG(disable_end_of_two) {
    tc_disable_begin(tc);
    tc_disable_end(tc);
    return tc_disable_end(tc);
}
WRONG(disable_begin) { return tc_disable_begin(tc), TC_OK; }
WRONG(trace_end_disabled) { // inside of its own tc_disable_begin
    tc_disable_begin(tc);
    tc_status s = tc_trace_end(tc);
    tc_disable_end(tc);
    return s;
}
WRONG(disable_begins_region) {
    tc_disable_begin(tc), tc_trace_begin(tc, "left open");
    return TC_OK;
}
WRONG(autocast_end) { return tc_autocast_end(tc); }
WRONG(autocast_begin) { return tc_autocast_begin(tc, TC_F16); }
WRONG(no_grad_end) { return tc_no_grad_end(tc); }
WRONG(no_grad_begin) { return tc_no_grad_begin(tc); }
WRONG(step_end) { return tc_grad_scaler_step_end(&scaler); }
WRONG(lr_scale_end) { return tc_lr_scale_end(tc); }
WRONG(lr_scale_begin) { return tc_lr_scale_begin(tc, factor); } // there is one around
WRONG(scope_end) { return tc_scope_end(tc); }
WRONG(scope_return) { return tc_scope_return(tc, tc_null()).id ? TC_OK : tc_error(tc); }
WRONG(scope_begin) { return tc_scope_begin(tc), TC_OK; }
WRONG(scope_end_of_two) {
    tc_scope_begin(tc);
    tc_scope_end(tc);
    return tc_scope_end(tc);
}
WRONG(lazy) { return tc_lazy(tc, 1); }

enum around { EAGER, REGION, DISABLED, FUNCTION, AROUND };
static const char *const around_name[AROUND] = {"eager", "region", "disabled", "function"};

// What is reported in each of them, by the call itself or behind the body; NULL = nothing is wrong with it there.
static const struct {
    const char *name;
    tc_status (*call)(tc_ctx *tc);
    tc_status item;
    const char *text[AROUND];
} mistake[] = {
#define SAME(text)                                                                         \
    { text, text, text, text }
#define THEIRS(own, theirs)                                                                \
    { own, theirs, theirs, own }
    {"nothing", nothing, TC_OK, {0}},
    {"trace_end", trace_end, TC_E_REGION,
     THEIRS("tc_trace_end without a tc_trace_begin",
            "tc_trace_end: region \"outer\" is open around the")},
    {"trace_end_of_two", trace_end_of_two, TC_E_REGION,
     THEIRS("tc_trace_end without a tc_trace_begin",
            "tc_trace_end: region \"outer\" is open around the")},
    {"trace_begin", trace_begin, TC_E_REGION,
     SAME("has a tc_trace_begin without its tc_trace_end")},
    {"trace_begin_two", trace_begin_two, TC_E_REGION,
     SAME("has a tc_trace_begin without its tc_trace_end")},
    {"trace_begin_again",
     trace_begin_again,
     TC_E_REGION,
     {"has a tc_trace_begin without its",
      "tc_trace_begin: region \"outer\" is open around the",
      "has a tc_trace_begin without its", "has a tc_trace_begin without its"}},
    {"trace_balanced", trace_balanced, TC_OK, {0}},
    {"disable_end",
     disable_end,
     TC_E_STATE,
     {"tc_disable_end without a tc_disable_begin",
      "tc_disable_end without a tc_disable_begin",
      "tc_disable_end: its tc_disable_begin is around the",
      "tc_disable_end without a tc_disable_begin"}},
    {"disable_end_of_two",
     disable_end_of_two,
     TC_E_STATE,
     {"tc_disable_end without a tc_disable_begin",
      "tc_disable_end without a tc_disable_begin",
      "tc_disable_end: its tc_disable_begin is around the",
      "tc_disable_end without a tc_disable_begin"}},
    {"disable_begin", disable_begin, TC_E_REGION,
     SAME("has a tc_disable_begin without its tc_disable_end")},
    {"disable_begins_region", disable_begins_region, TC_E_REGION,
     SAME("has a tc_disable_begin without its tc_disable_end")},
    {"trace_end_disabled", trace_end_disabled, TC_E_REGION,
     SAME("tc_trace_end between tc_disable_begin and its end")},
    {"autocast_end", autocast_end, TC_E_STATE,
     SAME("tc_autocast_end: no tc_autocast_begin is open here")},
    {"autocast_begin", autocast_begin, TC_OK, {0}}, // ends with the body
    {"no_grad_end",
     no_grad_end,
     TC_E_STATE,
     {NULL, "tc_no_grad_end: there was no tc_no_grad_begin in this body", NULL,
      "tc_no_grad_end: there was no tc_no_grad_begin in this body"}},
    {"no_grad_begin", no_grad_begin, TC_OK, {0}},
    {"step_end", step_end, TC_E_STATE,
     SAME("tc_grad_scaler_step_end: no tc_grad_scaler_step_begin of")},
    {"lr_scale_end", lr_scale_end, TC_E_STATE,
     SAME("tc_lr_scale_end: no tc_lr_scale_begin is open here")},
    {"lr_scale_begin", lr_scale_begin, TC_E_STATE,
     SAME("tc_lr_scale_begin: there is a factor already")},
    {"scope_end", scope_end, TC_E_STATE,
     SAME("tc_scope_end: the scope was begun by the code that called")},
    {"scope_return", scope_return, TC_E_STATE,
     SAME("tc_scope_return: the scope was begun by the code")},
    {"scope_begin", scope_begin, TC_E_STATE,
     SAME("has a tc_scope_begin without its tc_scope_end")},
    {"scope_end_of_two", scope_end_of_two, TC_E_STATE,
     SAME("tc_scope_end: the scope was begun by")},
    {"lazy", lazy, TC_E_STATE, SAME("tc_lazy: ")},
};
enum { MISTAKES = sizeof mistake / sizeof *mistake };

// ---- kinds of bodies ----

static int now; // the mistake that is made

static void mistaken(tc_ctx *tc) { mistake[now].call(tc); }

static void triples(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_mul_s(in[0], 3);
    mistaken(tc);
}
static void straight(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 3);
}
static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_add(in[0], in[1]), out[1] = in[1];
    mistaken(tc);
}
static void is_small(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    out[0] = tc_lt_s(tc_sum_all(in[0]), 5);
    if (user) mistaken(tc);
}

static tc_status cube(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    const float *x = (const float *)in->data;
    for (int i = 0; i < 4; i++) ((float *)out->data)[i] = x[i] * x[i] * x[i];
    return TC_OK;
}
static tc_status cube_gradient(tc_ctx *tc, void *user, const tc_tensor *in, int n_in,
                               tc_tensor out, tc_tensor grad_out, tc_tensor *grad_in) {
    (void)user, (void)n_in, (void)out;
    grad_in[0] = tc_mul(grad_out, tc_mul_s(tc_square(in[0]), 3));
    mistaken(tc);
    return TC_OK;
}
static tc_status called(void *user, const tc_buffer *in, int n_in) {
    (void)in, (void)n_in;
    mistaken((tc_ctx *)user);
    return TC_OK;
}

enum kind { CALL, SCAN, WHILE, TEST_OF_WHILE, COND, CHECKPOINT, GRADIENT, HOST, KINDS };
static const char *const kind_name[KINDS] = {"function", "scan",       "while",    "test",
                                             "cond",     "checkpoint", "gradient", "host"};

static int op_id;

// Three times x, which is 1, by code that makes the mistake; null after an error.
static tc_tensor three_times(tc_ctx *tc, int kind, tc_fn *f, tc_tensor x) {
    tc_tensor y = tc_null(), ys = y, rows, g;
    tc_tensor yes = tc_scalar(tc, 1, TC_I32);
    static int in_test = 1;
    switch (kind) {
    case CALL: tc_call(f, &x, 1, &y, 1); return y;
    case SCAN:
        rows = tc_ones(tc, TC_DIMS(2, 4), TC_F32);
        tc_scan(turn, NULL, &x, 1, &rows, 1, &y, &ys, 1);
        return y;
    case WHILE: tc_while(is_small, triples, NULL, &x, 1, 5, &y); return y;
    case TEST_OF_WHILE: tc_while(is_small, straight, &in_test, &x, 1, 5, &y); return y;
    case COND: tc_cond(yes, triples, straight, NULL, &x, 1, &y, 1); return y;
    case CHECKPOINT: tc_checkpoint(tc, triples, NULL, &x, 1, &y, 1); return y;
    case GRADIENT: tc_grad(tc_sum_all(tc_custom(tc, op_id, &x, 1)), &x, 1, &g); return g;
    default:
        if (tc_host_call(tc, called, tc, &x, 1)) return y;
        return tc_mul_s(x, 3);
    }
}

// ---- a cell of the table ----

typedef struct cell {
    int kind, around;
    tc_fn *f;
    tc_tensor x, w;
    tc_tensor before, got, after; // results
} cell;

// With ranges of all kinds around the body, all of which go on behind it.
static void inside(tc_ctx *tc, cell *c) {
    int derives = c->kind == GRADIENT;
    tc_scope_begin(tc);
    CHECK_EQ(tc_autocast_begin(tc, TC_BF16), TC_OK);
    if (!derives) CHECK_EQ(tc_no_grad_begin(tc), TC_OK);
    CHECK_EQ(tc_grad_scaler_step_begin(&scaler), TC_OK);
    CHECK_EQ(tc_lr_scale_begin(tc, factor), TC_OK);
    c->before = tc_add_s(c->x, 4);
    c->got = three_times(tc, c->kind, c->f, c->x);
    tc_tensor product = tc_matmul(c->w, c->w);
    CHECK_EQ(tc_dtype_of(product), TC_BF16);
    c->after = tc_add(tc_sum_all(tc_cast(product, TC_F32)), c->before);
    CHECK_EQ(tc_lr_scale_end(tc), TC_OK);
    CHECK_EQ(tc_grad_scaler_step_end(&scaler), TC_OK);
    if (!derives) CHECK_EQ(tc_no_grad_end(tc), TC_OK);
    CHECK_EQ(tc_autocast_end(tc), TC_OK);
    tc_keep(c->before), tc_keep(c->after);
    if (c->got.id) tc_keep(c->got);
    CHECK_EQ(tc_scope_end(tc), TC_OK);
}

static void function_around(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    cell *c = *(cell **)user;
    c->x = in[0], c->w = in[1];
    inside(tc, c);
    out[0] = c->before, out[1] = c->after, out[2] = c->got;
}

static tc_status run_cell(tc_ctx *tc, cell *c) {
    tc_tensor in[2], out[3];
    tc_status s = TC_OK;
    in[0] = c->x, in[1] = c->w;
    switch (c->around) {
    case EAGER: inside(tc, c); return tc_error(tc);
    case REGION:
        BEGIN("outer");
        inside(tc, c);
        return tc_trace_end(tc);
    case DISABLED:
        BEGIN("outer");
        tc_disable_begin(tc);
        inside(tc, c);
        CHECK_EQ(tc_disable_end(tc), TC_OK);
        return tc_trace_end(tc);
    default: {
        tc_fn *f = tc_compile(tc, function_around, &c, sizeof c, NULL);
        s = tc_call(f, in, 2, out, 3);
        c->before = out[0], c->after = out[1], c->got = out[2];
        tc_fn_free(f);
        return s;
    }
    }
}

static int has(const char *text, const char *part) { return strstr(text, part) != NULL; }

static void check_cell(tc_ctx *tc, cell *c) {
    int own = c->kind == CALL && c->around == EAGER; // what a function records is its own
    const char *text = mistake[now].text[own ? FUNCTION : c->around];
    tc_status want = text ? mistake[now].item : TC_OK;
    tc_tensor x = c->x, w = c->w;
    tc_status s = run_cell(tc, c);
    if (s != want || tc_error(tc) != want || (text && !has(tc_error_text(tc), text)))
        FAIL("%s, %s, %s: %s, not %s: %s", mistake[now].name, kind_name[c->kind],
             around_name[c->around], tc_status_name(s), tc_status_name(want),
             tc_error_text(tc));
    tc_error_clear(tc);
    int lost = want && c->around == FUNCTION; // a call that fails gives nothing
    if (!lost &&
        (!CHECK_NEAR(AT(c->before, 1), 5, 0) || !CHECK_NEAR(AT(c->after, 2), 69, 0)))
        FAIL("%s, %s, %s", mistake[now].name, kind_name[c->kind], around_name[c->around]);
    if (!want && !CHECK_NEAR(AT(c->got, 3), 3, 0))
        FAIL("%s, %s, %s", mistake[now].name, kind_name[c->kind], around_name[c->around]);
    c->x = x, c->w = w;
    CHECK_EQ(tc_scope_end(tc), TC_E_STATE); // nothing is open
    CHECK_EQ(tc_disable_end(tc), TC_E_STATE);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    CHECK_EQ(tc_autocast_end(tc), TC_E_STATE);
    tc_error_clear(tc);
}

// Where there are no gradients outside of regions, there is no call of one.
static int is_there(int kind, int around) {
    return kind != GRADIENT || around == REGION || around == FUNCTION;
}

static void table(tc_ctx *tc, int around) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "cube", op.run = cube, op.gradient = cube_gradient;
    op_id = tc_register_op(tc, &op);
    CHECK_EQ(tc_grad_scaler_init(tc, &scaler, 0), TC_OK);
    factor = tc_full(tc, TC_SCALAR, 0.5, TC_F32);
    for (now = 0; now < MISTAKES; now++)
        for (int kind = 0; kind < KINDS; kind++)
            for (int visit = 0; visit < 2 && is_there(kind, around); visit++) {
                cell c;
                memset(&c, 0, sizeof c);
                c.kind = kind, c.around = around;
                c.f = tc_compile(tc, triples, NULL, 0, NULL);
                c.x = tc_ones(tc, TC_DIMS(4), TC_F32);
                c.w = tc_ones(tc, TC_DIMS(4, 4), TC_F32);
                check_cell(tc, &c);
                tc_fn_free(c.f);
            }
    tc_grad_scaler_free(&scaler), tc_free(factor);
}

BOTH(eager) { table(tc, EAGER); }
BOTH(in_a_region) { table(tc, REGION); }
BOTH(between_disable_begin_and_its_end) { table(tc, DISABLED); }
BOTH(in_a_function) { table(tc, FUNCTION); }
