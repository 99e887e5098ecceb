// Parameters and their states are all written, so none may be another, of its own or of another parameter, show memory
// of another, or wrap the same bytes: one step would leave what only one of them was to become. Eager, in regions and in
// functions; nothing is written. The same of gradients that are clipped or unscaled.
// What may be: views of one buffer that do not meet, and gradients that are read alone.
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

// ---- lists: nothing is in them twice ----

enum { MANY = 40 };

typedef struct lists {
    tc_tensor p[MANY], g[MANY], m[MANY], v[MANY], step;
    int n, how;
} lists;

static tc_status optimise(int k, const lists *l) {
    const tc_tensor *p = l->p, *g = l->g, *m = l->m, *v = l->v;
    switch (k) {
    case 0: return tc_sgd_list_(p, g, m, l->n, 0.5, 0.5, 0, 0);
    case 1: return tc_adam_list_(p, g, m, v, l->n, l->step, 0.5, 0.5, 0.5, 1e-8, 0);
    case 2: return tc_adamw_list_(p, g, m, v, l->n, l->step, 0.5, 0.5, 0.5, 1e-8, 0);
    case 3: return tc_adagrad_list_(p, g, m, l->n, l->step, 0.5, 0, 1e-8, 0);
    case 4: return tc_rmsprop_list_(p, g, m, v, NULL, l->n, 0.5, 0.5, 1e-8, 0, 0, 1);
    case 5: return tc_lion_list_(p, g, m, l->n, 0.5, 0.5, 0.5, 0);
    case 6: return tc_clip_grad_value_(p, l->n, 0.25);
    default: return tc_clip_grad_norm_(p, l->n, 0.25, 2).id ? TC_OK : TC_E_ALIAS;
    }
}

enum { SGD, ADAM, ADAMW, ADAGRAD, RMSPROP, LION, CLIP_VALUE, CLIP_NORM, CALLS };
static const struct {
    const char *name, *what;
} call[CALLS] = {{"sgd_list_", "parameter"},     {"adam_list_", "parameter"},
                 {"adamw_list_", "parameter"},   {"adagrad_list_", "parameter"},
                 {"rmsprop_list_", "parameter"}, {"lion_list_", "parameter"},
                 {"clip_grad_value_", "grad"},   {"clip_grad_norm_", "grad"}};

static lists lists_of(tc_ctx *tc, int n) {
    lists l;
    memset(&l, 0, sizeof l);
    for (int i = 0; i < n; i++) {
        l.p[i] = tc_ones(tc, TC_DIMS(4), TC_F32), l.g[i] = tc_ones(tc, TC_DIMS(4), TC_F32);
        l.m[i] = tc_zeros(tc, TC_DIMS(4), TC_F32);
        l.v[i] = tc_zeros(tc, TC_DIMS(4), TC_F32);
    }
    l.step = tc_zeros(tc, TC_SCALAR, TC_F32), l.n = n;
    return l;
}

static void list_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const lists *l = (const lists *)user;
    (void)tc;
    optimise(l->how, l);
    out[0] = tc_neg(in[0]);
}

static tc_status list_by(tc_ctx *tc, int how, int k, lists *l) {
    tc_tensor x = tc_ones(tc, TC_DIMS(1), TC_F32), y;
    tc_status s = TC_OK;
    if (how == EAGER) s = optimise(k, l);
    if (how == REGION) tc_trace_begin(tc, "list"), optimise(k, l), s = tc_trace_end(tc);
    if (how != FUNCTION) return s;
    l->how = k;
    tc_fn *f = tc_compile(tc, list_body, l, sizeof *l, NULL);
    s = tc_call(f, &x, 1, &y, 1);
    tc_fn_free(f);
    return s;
}

// The error is `words` behind the call's name, and what was all 1 is so.
static void list_refused(tc_ctx *tc, int k, lists l, const char *words) {
    char text[200];
    snprintf(text, sizeof text, "%s: %s", call[k].name, words);
    for (int how = 0; how < HOWS; how++) {
        CHECK_EQ(list_by(tc, how, k, &l), TC_E_ALIAS);
        if (!strstr(tc_error_text(tc), text))
            FAIL("%d: \"%s\" lacks \"%s\"", how, tc_error_text(tc), text);
        tc_error_clear(tc);
        for (int i = 0; i < l.n; i++) CHECK_NEAR(tc_get(l.p[i], TC_DIMS(0)), 1, 0);
        CHECK_NEAR(tc_item(l.step), 0, 0);
    }
}

TEST(what_is_in_a_list_twice) {
    tc_ctx *tc = tc_open(NULL);
    for (int n = 4; n <= MANY; n += 16) // by pairs, and by what owns memory
        for (int k = 0; k < CALLS; k++) {
            char words[100];
            lists l = lists_of(tc, n);
            l.p[3] = l.p[1];
            snprintf(words, sizeof words, "%s 3 is %s 1, which would be written twice",
                     call[k].what, call[k].what);
            list_refused(tc, k, l, words);
        }
    tc_close(tc);
}

TEST(states_of_two) {
    tc_ctx *tc = tc_open(NULL);
    for (int n = 4; n <= MANY; n += 16) {
        lists l = lists_of(tc, n), bad = l;
        bad.m[2] = l.m[0];
        list_refused(tc, ADAMW, bad,
                     "exp_avg 2 is exp_avg 0, which would be written twice");
        bad = l, bad.v[3] = l.p[2];
        list_refused(tc, ADAM, bad, "exp_avg_sq 3 is parameter 2, which");
        bad = l, bad.m[1] = tc_narrow(l.v[3], 0, 1, 2), bad.p[1] = bad.v[1] = bad.g[1];
        bad.g[1] = bad.p[1] = tc_ones(tc, TC_DIMS(2), TC_F32);
        bad.v[1] = tc_zeros(tc, TC_DIMS(2), TC_F32);
        list_refused(
            tc, ADAMW, bad,
            "exp_avg_sq 3 shares memory with exp_avg 1, and both are written; give "
            "each a tensor of its own");
        bad = l, bad.g[3] = bad.g[0]; // which are read alone
        CHECK_EQ(list_by(tc, REGION, ADAMW, &bad), TC_OK);
        CHECK_NEAR(tc_get(l.p[3], TC_DIMS(0)), 0.5, 1e-6);
    }
    lists l = lists_of(tc, 2);
    l.p[1] = tc_ones(tc, TC_SCALAR, TC_F32), l.g[1] = tc_ones(tc, TC_SCALAR, TC_F32);
    l.m[1] = l.step, l.v[1] = tc_zeros(tc, TC_SCALAR, TC_F32);
    CHECK_EQ(optimise(ADAM, &l), TC_E_ALIAS);
    CHECK_STR(tc_error_text(tc), "adam_list_: exp_avg 1 is step, which would be written "
                                 "twice; give it once");
    tc_close(tc);
}

TEST(gradients_of_a_scaler) {
    tc_ctx *tc = tc_open(NULL);
    tc_grad_scaler s;
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 4), TC_OK);
    tc_tensor g[3];
    for (int i = 0; i < 3; i++) g[i] = tc_ones(tc, TC_DIMS(4), TC_F32);
    g[2] = tc_reshape(g[0], TC_DIMS(2, 2));
    CHECK_EQ(tc_grad_scaler_unscale_(&s, g, 3), TC_E_ALIAS);
    CHECK_STR(tc_error_text(tc),
              "tc_grad_scaler_unscale_: grad 2 shares memory with grad 0, "
              "and both are written; give each a tensor of its own");
    tc_error_clear(tc);
    CHECK_NEAR(tc_get(g[0], TC_DIMS(0)), 1, 0);
    CHECK_EQ(tc_grad_scaler_unscale_(&s, g, 2), TC_OK);
    CHECK_NEAR(tc_get(g[1], TC_DIMS(3)), 0.25, 0);
    tc_grad_scaler_free(&s);
    tc_close(tc);
}

// Gradients of a region have no memory yet: of its results, and of views of what is outside.
TEST(views_that_a_region_makes) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor w = tc_ones(tc, TC_DIMS(4, 3), TC_F32);
    static const char text[] =
        "clip_grad_value_: grad 2 shares memory with grad 1, and both "
        "are written; give each a tensor of its own";
    for (int made = 0; made < 3; made++)
        for (int meet = 0; meet < 2; meet++) {
            tc_trace_begin(tc, "views");
            tc_tensor all = made ? tc_mul_s(w, 1) : w, v[3];
            if (made == 2)
                CHECK_NEAR(tc_get(all, TC_DIMS(0, 0)), 1, 0); // in memory from here
            v[0] = tc_select(all, 1, 0);
            v[1] = meet ? all : tc_transpose(tc_narrow(all, 1, 1, 1), 0, 1);
            v[2] = meet ? tc_narrow(all, 0, 3, 1) : tc_select(all, 1, 2);
            if (meet) v[0] = tc_ones(tc, TC_DIMS(2), TC_F32);
            CHECK_EQ(tc_clip_grad_value_(v, 3, 0.5), meet ? TC_E_ALIAS : TC_OK);
            if (meet) CHECK_STR(tc_error_text(tc), text);
            tc_tensor y = tc_keep(tc_add_s(all, 0));
            CHECK_EQ(tc_trace_end(tc), meet ? TC_E_ALIAS : TC_OK);
            tc_error_clear(tc);
            if (!meet) CHECK_NEAR(tc_get(y, TC_DIMS(3, 2)), 0.5, 0);
            tc_fill_(w, 1);
        }
    tc_close(tc);
}

// ---- parts of one buffer, against a map of its elements ----

enum { I = 6, J = 5, K = 7, PARTS = 40 };

typedef struct part {
    int at[3], size[3];
} part;

static unsigned draw(unsigned *state, unsigned n) {
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 16) % n;
}

static part part_of(unsigned *state, int most) {
    static const int whole[3] = {I, J, K};
    part p;
    for (int d = 0; d < 3; d++) {
        p.size[d] = 1 + (int)draw(state, (unsigned)(whole[d] < most ? whole[d] : most));
        p.at[d] = (int)draw(state, (unsigned)(whole[d] - p.size[d] + 1));
    }
    return p;
}

static int parts_meet(const part *a, const part *b) {
    for (int d = 0; d < 3; d++)
        if (a->at[d] + a->size[d] <= b->at[d] || b->at[d] + b->size[d] <= a->at[d])
            return 0;
    return 1;
}

// The part of a buffer, as a view of it, or wrapped in memory of the caller's.
static tc_tensor show(tc_ctx *tc, tc_tensor all, float *memory, const part *p) {
    static const int64_t strides[3] = {J * K, K, 1};
    int64_t dims[3];
    for (int d = 0; d < 3; d++) {
        dims[d] = p->size[d];
        if (!memory) all = tc_narrow(all, d, p->at[d], p->size[d]);
    }
    if (!memory) return all;
    memory += p->at[0] * J * K + p->at[1] * K + p->at[2];
    return tc_wrap_strided(tc, memory, tc_dims_of(3, dims), strides, TC_F32);
}

// The first of n parts that meets `p`; -1 = none does.
static int first_met(const part *all, int n, const part *p) {
    for (int i = 0; i < n; i++)
        if (parts_meet(&all[i], p)) return i;
    return -1;
}

// Parts that do not meet are taken; with one more, which does, they are refused, and both are told.
static void parts(tc_ctx *tc, unsigned seed, int wrapped, int most) {
    static float memory[I * J * K];
    tc_tensor all = tc_ones(tc, TC_DIMS(I, J, K), TC_F32), v[PARTS + 1];
    float *at = wrapped ? memory : NULL;
    part p[PARTS + 1];
    unsigned state = seed;
    char a[60], b[60];
    int n = 0, with = -1;
    for (int tries = 0; n < PARTS && tries < 400; tries++) {
        p[n] = part_of(&state, most);
        if (first_met(p, n, &p[n]) < 0) n++;
    }
    while (with < 0) p[n] = part_of(&state, most), with = first_met(p, n, &p[n]);
    for (int i = 0; i <= n; i++) v[i] = show(tc, all, at, &p[i]);
    CHECK_EQ(tc_clip_grad_value_(v, n, 0.5), TC_OK);
    CHECK_EQ(tc_clip_grad_value_(v, n + 1, 0.25), TC_E_ALIAS);
    snprintf(a, sizeof a, "clip_grad_value_: grad %d ", n);
    snprintf(b, sizeof b, " grad %d, ", with);
    const char *text = tc_error_text(tc);
    if (!strstr(text, a) || !strstr(text, b))
        FAIL("\"%s\" lacks \"%s\", \"%s\"", text, a, b);
    tc_error_clear(tc);
}

TEST(parts_of_one_buffer) {
    tc_ctx *tc = tc_open(NULL);
    for (unsigned seed = 0; seed < 40; seed++) {
        tc_scope_begin(tc);
        parts(tc, seed, seed & 1, 1 + (int)(seed / 2 % 3));
        tc_scope_end(tc);
    }
    tc_close(tc);
}

// Columns of a matrix, whose bytes from first to last all meet.
TEST(columns_of_one_matrix) {
    tc_ctx *tc = tc_open(NULL);
    enum { COLUMNS = 300 };
    tc_tensor all = tc_ones(tc, TC_DIMS(5, COLUMNS), TC_F32), v[COLUMNS + 1];
    for (int i = 0; i < COLUMNS; i++) v[i] = tc_select(all, 1, i);
    CHECK_EQ(tc_clip_grad_value_(v, COLUMNS, 0.5), TC_OK);
    CHECK_NEAR(tc_get(all, TC_DIMS(4, COLUMNS - 1)), 0.5, 0);
    v[COLUMNS] = tc_narrow(v[7], 0, 1, 3);
    CHECK_EQ(tc_clip_grad_value_(v, COLUMNS + 1, 0.25), TC_E_ALIAS);
    CHECK(strstr(tc_error_text(tc), "grad 300 shares memory with grad 7,") != NULL);
    v[COLUMNS] = v[7];
    tc_error_clear(tc);
    CHECK_EQ(tc_clip_grad_value_(v, COLUMNS + 1, 0.25), TC_E_ALIAS);
    CHECK(strstr(tc_error_text(tc), "grad 300 is grad 7,") != NULL);
    CHECK_NEAR(tc_get(all, TC_DIMS(4, COLUMNS - 1)), 0.5, 0);
    tc_close(tc);
}
