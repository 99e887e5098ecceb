// Random loops of the graph (tc_scan) with gradients, in double: each as a loop and as the same calls one after the
// other. What they compute has to be the same bits, what they derive the same but for the order of sums; and a
// loop has the same bits in all variants: threads, no fusion, no passes, in checkpoints, compiled. Three visits of one region
// have other numbers of rows, of which the last ones are one program.
//
// A failing loop is shrunk, and its body printed.
//
//     scans [SECONDS] [SEED] [--graphs N] [--only SEED]
#include "tcompile.h"

#define TEST_NO_MAIN
#include "../harness.h"
#include "fuzz/arguments.h"

#include <math.h>

enum {
    MOST_CARRIES = 2,
    MOST_XS = 2,
    MOST_YS = 2,
    MOST_STEPS = 12,
    MOST_ROWS = 6,
    MOST_BATCH = 5, // mostly;
    MOST_WIDE = 7,
    LARGE_BATCH = 32, // else at most
    LARGE_WIDE = 128,
    LARGE_EVERY = 32,
    MOST_GIVEN = MOST_CARRIES + MOST_XS + 4,
    MOST_READ = MOST_GIVEN + MOST_CARRIES + MOST_YS,
    MOST_NUMBERS = MOST_ROWS * LARGE_BATCH * LARGE_WIDE,
    VISITS = 3
};

// What a step does with values a and b of [batch, wide].
#define STEPS(X)                                                                           \
    X(ADD, tc_add(a, b))                                                                   \
    X(SUB, tc_sub(a, tc_mul_s(b, 0.5)))                                                    \
    X(MUL, tc_mul(a, b))                                                                   \
    X(DIV, tc_div(a, tc_add_s(tc_square(b), 1)))                                           \
    X(TANH, tc_tanh(a))                                                                    \
    X(SIN, tc_sin(a))                                                                      \
    X(SIGMOID, tc_mul(tc_sigmoid(a), b))                                                   \
    X(GELU, tc_gelu(a))                                                                    \
    X(WEIGH, tc_matmul(a, l->weight))                                                      \
    X(LINEAR, tc_linear(a, l->weight, l->bias))                                            \
    X(GRAM, tc_matmul(tc_matmul(a, tc_t(b)), a))                                           \
    X(BIAS, tc_add(a, l->bias))                                                            \
    X(NUMBER, tc_mul(a, l->number))                                                        \
    X(WHOLE, tc_mul(a, tc_mean(l->rows, 0)))                                               \
    X(SOFTMAX, tc_softmax(a, -1))                                                          \
    X(NORM, tc_layer_norm(a, l->bias, tc_null(), 1e-2))                                    \
    X(CENTRED, tc_sub(a, tc_mean_dims(a, TC_DIMS(0), 1)))                                  \
    X(LARGEST, tc_add(b, tc_amax_dims(a, TC_DIMS(1), 1)))                                  \
    X(CUMSUM, tc_cumsum(a, 1))                                                             \
    X(ROLL, tc_roll(a, 1, 1))                                                              \
    X(FLIP, tc_mul(tc_flip(a, TC_DIMS(1)), b))                                             \
    X(MAXIMUM, tc_maximum(a, b))                                                           \
    X(WHERE, tc_where(tc_gt(a, b), tc_mul(a, b), a))                                       \
    X(RELU, tc_relu(a))                                                                    \
    X(DETACH, tc_mul(tc_detach(a), b))                                                     \
    X(SORTED, sorted_of(a, b))                                                             \
    X(MOVED, moved_of(a))                                                                  \
    X(WRITTEN, written_of(a, b))                                                           \
    X(JOINED, joined_of(a, b))                                                             \
    X(STOPPED, stopped_of(tc, a, b))

typedef enum step_kind {
#define X(name, text) name,
    STEPS(X)
#undef X
        STEP_KINDS
} step_kind;

static const char *const step_texts[] = {
#define X(name, text) #text,
    STEPS(X)
#undef X
};

typedef struct step {
    step_kind kind;
    int a, b; // carries, then rows of xs, then steps
} step;

typedef struct loop {
    uint64_t seed;
    int carries, xs, ys, steps, batch, wide, orders;
    int rows[VISITS];
    step step[MOST_STEPS];
    int carry_of[MOST_CARRIES],
        bounded[MOST_CARRIES]; // the value that a carry becomes, by sin or tanh
    int y_of[MOST_YS];
} loop;

// ---- random loops ----

static uint64_t random_state;
static int below(int n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)n);
}

static void random_loop(loop *l, uint64_t seed) {
    memset(l, 0, sizeof *l);
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    l->seed = seed;
    l->carries = below(8) ? 1 + below(MOST_CARRIES) : 0;
    l->xs = 1 + below(MOST_XS),
    l->ys = l->carries ? below(MOST_YS + 1) : 1 + below(MOST_YS);
    l->steps = 1 + below(MOST_STEPS);
    l->batch = 1 + below(MOST_BATCH), l->wide = 1 + below(MOST_WIDE);
    l->orders = 1 + !below(8);
    if (seed % LARGE_EVERY == 7) {
        l->batch = LARGE_BATCH >> below(2), l->wide = LARGE_WIDE >> below(2);
        l->orders = 1;
    }
    for (int i = 0; i < VISITS; i++) l->rows[i] = 1 + below(MOST_ROWS);
    int first = l->carries + l->xs, all = first + l->steps;
    for (int i = 0; i < l->steps; i++) {
        l->step[i].kind = (step_kind)below(STEP_KINDS);
        l->step[i].a = below(2) && i ? first + i - 1 : below(first + i);
        l->step[i].b = below(first + i);
    }
    for (int i = 0; i < l->carries; i++)
        l->carry_of[i] = below(3) ? all - 1 - below(l->steps) : below(all),
        l->bounded[i] = below(2);
    for (int i = 0; i < l->ys; i++) l->y_of[i] = below(all);
}

// ---- bodies ----

// What a body is given: the loop, and tensors of the outside.
typedef struct given {
    const loop *loop;
    tc_tensor weight, bias, number, rows;
    int again; // 1: what it computes stands in a checkpoint
} given;

static tc_tensor sorted_of(tc_tensor a, tc_tensor b) {
    tc_tensor values, index;
    tc_sort(a, 1, 0, &values, &index);
    return tc_mul(values, tc_gather(b, 1, index));
}

static tc_tensor moved_of(tc_tensor a) {
    tc_tensor less = tc_slice(a, 1, 1, TC_END, 1);
    return tc_pad(less, TC_DIMS(0, 0), TC_DIMS(0, 1), 0.5);
}

static tc_tensor written_of(tc_tensor a, tc_tensor b) {
    tc_tensor w = tc_mul_s(a, 0.5), end = tc_slice(w, 0, 0, 1, 1);
    tc_mul_(w, b);
    tc_add_(end, tc_sin(tc_slice(a, 0, 0, 1, 1)));
    return w;
}

static tc_tensor joined_of(tc_tensor a, tc_tensor b) {
    tc_tensor both[2];
    both[0] = a, both[1] = b;
    int64_t wide = tc_dim(a, 1);
    return tc_slice(tc_cat(both, 2, 1), 1, wide / 2, wide / 2 + wide, 1);
}

static tc_tensor stopped_of(tc_ctx *tc, tc_tensor a, tc_tensor b) {
    tc_no_grad_begin(tc);
    tc_tensor k = tc_mul(a, b);
    tc_no_grad_end(tc);
    return tc_sub(a, k);
}

static tc_tensor step_of(tc_ctx *tc, const given *l, step_kind kind, tc_tensor a,
                         tc_tensor b) {
    switch (kind) {
#define X(name, text)                                                                      \
    case name: return text;
        STEPS(X)
#undef X
    case STEP_KINDS: break;
    }
    (void)tc;
    return tc_null();
}

static void body_of(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const given *k = (const given *)user;
    const loop *l = k->loop;
    tc_tensor v[MOST_CARRIES + MOST_XS + MOST_STEPS];
    int n = l->carries + l->xs;
    for (int i = 0; i < n; i++) v[i] = in[i];
    for (int i = 0; i < l->steps; i++) {
        const step *s = &l->step[i];
        v[n + i] = step_of(tc, k, s->kind, v[s->a], v[s->b]);
    }
    for (int i = 0; i < l->carries; i++)
        out[i] = l->bounded[i] ? tc_tanh(v[l->carry_of[i]]) : tc_sin(v[l->carry_of[i]]);
    for (int i = 0; i < l->ys; i++) out[l->carries + i] = tc_mul_s(v[l->y_of[i]], 0.5);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const given *k = (const given *)user;
    const loop *l = k->loop;
    if (k->again)
        tc_checkpoint(tc, body_of, user, in, l->carries + l->xs, out, l->carries + l->ys);
    else
        body_of(tc, in, out, user);
}

static void unrolled(tc_ctx *tc, given *k, const tc_tensor *init, const tc_tensor *xs,
                     tc_tensor *last, tc_tensor *ys) {
    const loop *l = k->loop;
    tc_tensor in[MOST_CARRIES + MOST_XS], out[MOST_CARRIES + MOST_YS];
    tc_tensor row[MOST_YS][MOST_ROWS];
    int rows = (int)tc_dim(xs[0], 0);
    for (int i = 0; i < l->carries; i++) in[i] = init[i];
    for (int t = 0; t < rows; t++) {
        for (int i = 0; i < l->xs; i++) in[l->carries + i] = tc_select(xs[i], 0, t);
        body(tc, in, out, k);
        for (int i = 0; i < l->carries; i++) in[i] = out[i];
        for (int i = 0; i < l->ys; i++) row[i][t] = out[l->carries + i];
    }
    for (int i = 0; i < l->carries; i++) last[i] = in[i];
    for (int i = 0; i < l->ys; i++) ys[i] = tc_stack(row[i], rows, 0);
}

// ---- variants ----

enum { UNROLLED, LOOPED, COMPILED = 7, VARIANTS = 8 };

static const struct {
    const char *name, *backend;
    int threads, no_fusion;
    const char *passes_off;
    int again, budget;
} variants[VARIANTS] = {
    {"unrolled", "aot_eager", 1, 0, "", 0, 0},
    {"a loop", "aot_eager", 1, 0, "", 0, 0},
    {"a loop, 2 threads", "aot_eager", 2, 0, "", 0, 0},
    {"a loop, no fusion", "aot_eager", 1, 1, "", 0, 0},
    {"a loop, no passes", "aot_eager", 1, 0, "all", 0, 0},
    {"a loop of checkpoints", "aot_eager", 1, 0, "", 1, 0},
    {"a loop under a budget", "aot_eager", 1, 0, "", 0, 10},
    {"a loop, compiled", "cpu", 2, 0, "", 0, 0},
};

static tc_ctx *contexts[VARIANTS];

static tc_ctx *context(int variant) {
    tc_config config = tc_config_default();
    if (contexts[variant]) return contexts[variant];
    config.backend = variants[variant].backend;
    config.threads = variants[variant].threads;
    config.no_fusion = variants[variant].no_fusion;
    config.passes_off = variants[variant].passes_off;
    config.no_disk_cache = 1;
    return contexts[variant] = tc_open(&config);
}

static void close_contexts(void) {
    for (int i = 0; i < VARIANTS; i++) tc_close(contexts[i]), contexts[i] = NULL;
}

// ---- one loop ----

enum { WEIGHT = 21 }; // numbers of its elements

// What a visit gave: what the loop computes, then gradients; numbers of each.
typedef struct result {
    int n, values;
    int64_t count[MOST_READ];
    double at[MOST_READ][MOST_NUMBERS];
} result;

// Of a weight sums stay as they are, however many they are of.
static tc_tensor doubles(tc_ctx *tc, const loop *l, tc_dims d, unsigned number) {
    static double p[MOST_NUMBERS + LARGE_WIDE * LARGE_WIDE];
    int64_t n = 1;
    for (int i = 0; i < d.rank; i++) n *= d.size[i];
    double scale = number == WEIGHT && l->wide > MOST_WIDE ? 1.0 / 16 : 1;
    for (int64_t i = 0; i < n; i++)
        p[i] = scale * test_number((unsigned)i, (unsigned)(l->seed * 31) + number);
    return tc_from_data(tc, p, d, TC_F64);
}

// Initial carries, rows, and what a body captures: all that is derived by.
static int give(tc_ctx *tc, const loop *l, int rows, tc_tensor *t) {
    int n = 0;
    for (int i = 0; i < l->carries; i++, n++)
        t[n] = doubles(tc, l, TC_DIMS(l->batch, l->wide), 1 + (unsigned)i);
    for (int i = 0; i < l->xs; i++, n++)
        t[n] = doubles(tc, l, TC_DIMS(rows, l->batch, l->wide), 11 + (unsigned)i);
    t[n++] = doubles(tc, l, TC_DIMS(l->wide, l->wide), WEIGHT);
    t[n++] = doubles(tc, l, TC_DIMS(l->wide), 22);
    t[n++] = doubles(tc, l, TC_SCALAR, 23);
    t[n++] = doubles(tc, l, TC_DIMS(3, l->batch, l->wide), 24);
    return n;
}

static tc_tensor plus(tc_tensor loss, tc_tensor t) {
    return loss.id ? tc_add(loss, tc_sum_all(t)) : tc_sum_all(t);
}

// Of all that is derived by a little counts by itself, so that the loss depends on it.
static tc_tensor plus_given(tc_tensor loss, const tc_tensor *t, int n) {
    for (int i = 0; i < n; i++) loss = plus(loss, tc_mul_s(t[i], 0.125));
    return loss;
}

// Results go where what is given stands.
static void scan_in_place(given *k, const tc_tensor *t, tc_tensor *last, tc_tensor *ys) {
    const loop *l = k->loop;
    tc_tensor at[MOST_CARRIES + MOST_XS + MOST_YS];
    memset(at, 0, sizeof at);
    memcpy(at, t, (size_t)(l->carries + l->xs) * sizeof *at);
    tc_tensor *xs = at + l->carries;
    tc_scan(body, k, at, l->carries, xs, l->xs, at, xs, l->ys);
    memcpy(last, at, (size_t)l->carries * sizeof *at);
    memcpy(ys, xs, (size_t)l->ys * sizeof *at);
}

// What the visit of region `name` has in its body: results, then gradients to read[]; how many are results.
static int record(tc_ctx *tc, const loop *l, int variant, const tc_tensor *t, int n,
                  tc_tensor *read) {
    given k;
    const tc_tensor *xs = t + l->carries, *rest = xs + l->xs;
    tc_tensor *last = read, *ys = read + l->carries, *g = ys + l->ys;
    k.loop = l, k.weight = rest[0], k.bias = rest[1], k.number = rest[2], k.rows = rest[3];
    k.again = variants[variant].again;
    if (variant == UNROLLED)
        unrolled(tc, &k, t, xs, last, ys);
    else if (l->seed % 2)
        tc_scan(body, &k, t, l->carries, xs, l->xs, last, ys, l->ys);
    else
        scan_in_place(&k, t, last, ys);
    tc_tensor loss = tc_null();
    for (int i = 0; i < l->carries; i++) loss = plus(loss, tc_mul(last[i], last[i]));
    for (int i = 0; i < l->ys; i++) loss = plus(loss, tc_sin(ys[i]));
    loss = plus_given(loss, t, n);
    for (int order = 0; order < l->orders; order++) {
        tc_grad(loss, t, n, g);
        loss = tc_null();
        for (int i = 0; i < n; i++) loss = plus(loss, tc_mul(g[i], g[i]));
        loss = plus_given(loss, t, n);
    }
    return l->carries + l->ys;
}

// "" or what went wrong.
static const char *run(const loop *l, int variant, int visit, result *r) {
    static char error[700];
    char name[64];
    tc_ctx *tc = context(variant);
    tc_tensor t[MOST_GIVEN], read[MOST_READ];
    tc_options options = tc_options_default();
    error[0] = 0;
    memset(r, 0, sizeof *r);
    options.memory_budget = variants[variant].budget;
    snprintf(name, sizeof name, "scan %llu", (unsigned long long)l->seed);
    tc_error_clear(tc);
    tc_scope_begin(tc);
    int n = give(tc, l, l->rows[visit], t);
    tc_trace_begin_at(tc, name, &options, "scans.c", 1);
    r->values = record(tc, l, variant, t, n, read);
    tc_trace_end(tc);
    r->n = r->values + n;
    for (int i = 0; i < r->n && !tc_error(tc); i++) {
        r->count[i] = tc_numel(read[i]);
        tc_read(read[i], r->at[i], (size_t)r->count[i] * sizeof(double));
    }
    if (tc_error(tc))
        snprintf(error, sizeof error, "%s: %s", tc_status_name(tc_error(tc)),
                 tc_error_text(tc));
    tc_error_clear(tc);
    tc_scope_end(tc);
    return error;
}

// How far gradients may be from each other, of their largest: sums have other orders.
static double tolerance(const loop *l) { return l->orders > 1 ? 1e-9 : 1e-11; }

static double largest(const double *a, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++) most = fmax(most, fabs(a[i]));
    return most;
}

// "" = b is what it should be; a is of the plain calls, or of a loop, whose bits another one has.
static void compare(const loop *l, const result *a, const result *b, int bits,
                    char what[300]) {
    what[0] = 0;
    for (int i = 0; i < a->n && !what[0]; i++) {
        double near =
            bits || i < a->values ? 0 : tolerance(l) * (1 + largest(a->at[i], a->count[i]));
        if (a->count[i] != b->count[i]) snprintf(what, 300, "%d has other sizes", i);
        for (int64_t k = 0; k < a->count[i] && !what[0]; k++) {
            double x = a->at[i][k], y = b->at[i][k];
            if (x == y || (x != x && y != y) || fabs(x - y) <= near) continue;
            snprintf(what, 300, "%s %d[%lld] is %.17g, not %.17g",
                     i < a->values ? "result" : "gradient",
                     i - (i < a->values ? 0 : a->values), (long long)k, y, x);
        }
    }
}

// Loop l in all variants; compiled, if asked for. 0 = `what` went wrong.
static int check(const loop *l, int compiled, char what[1200]) {
    static result plain, first, r;
    char differs[300];
    for (int visit = 0; visit < VISITS; visit++)
        for (int v = 0; v < VARIANTS; v++) {
            if (v == COMPILED && !compiled) continue;
            result *to = v == UNROLLED ? &plain : v == LOOPED ? &first : &r;
            const char *error = run(l, v, visit, to);
            differs[0] = 0;
            if (!error[0] && v != UNROLLED)
                compare(l, v == LOOPED ? &plain : &first, to, v != LOOPED, differs);
            if (!error[0] && !differs[0]) continue;
            snprintf(what, 1200, "%s, visit %d of %d rows: %s%s", variants[v].name, visit,
                     l->rows[visit], error, differs);
            return 0;
        }
    return 1;
}

// ---- what failed ----

// The loop without step i: who took it takes what it took.
static loop without(const loop *l, int i) {
    loop s = *l;
    int at = l->carries + l->xs + i, to = l->step[i].a;
    for (int k = i + 1; k < l->steps; k++) s.step[k - 1] = l->step[k];
    s.steps--;
#define AFTER(value) (value) == at ? to : (value) > at ? (value)-1 : (value)
    for (int k = 0; k < s.steps; k++)
        s.step[k].a = AFTER(s.step[k].a), s.step[k].b = AFTER(s.step[k].b);
    for (int k = 0; k < s.carries; k++) s.carry_of[k] = AFTER(s.carry_of[k]);
    for (int k = 0; k < s.ys; k++) s.y_of[k] = AFTER(s.y_of[k]);
#undef AFTER
    return s;
}

static int still_fails(loop *l, const loop *smaller, int compiled, char what[1200]) {
    close_contexts();
    if (check(smaller, compiled, what)) return 0;
    *l = *smaller;
    return 1;
}

static void shrink(loop *l, int compiled, char what[1200]) {
    for (int more = 1; more;) {
        more = 0;
        for (int i = l->steps; i-- > 0;) {
            loop s = without(l, i);
            more |= still_fails(l, &s, compiled, what);
        }
        loop s = *l;
        if (s.batch > 1 && (s.batch--, still_fails(l, &s, compiled, what))) more = 1;
        s = *l;
        if (s.wide > 1 && (s.wide--, still_fails(l, &s, compiled, what))) more = 1;
        s = *l;
        if (s.orders > 1 && (s.orders--, still_fails(l, &s, compiled, what))) more = 1;
        s = *l;
        if (s.ys > !s.carries && (s.ys--, still_fails(l, &s, compiled, what))) more = 1;
    }
    still_fails(l, l, compiled, what);
}

static void print_loop(const loop *l) {
    int n = l->carries + l->xs;
    printf("    %d carries, %d xs, [%d, %d], order %d\n", l->carries, l->xs, l->batch,
           l->wide, l->orders);
    for (int i = 0; i < l->steps; i++)
        printf("    v%d: a = v%d, b = v%d; %s\n", n + i, l->step[i].a, l->step[i].b,
               step_texts[l->step[i].kind]);
    for (int i = 0; i < l->carries; i++)
        printf("    carry %d = %s(v%d)\n", i, l->bounded[i] ? "tanh" : "sin",
               l->carry_of[i]);
    for (int i = 0; i < l->ys; i++) printf("    y %d = v%d / 2\n", i, l->y_of[i]);
}

static int failures_of(uint64_t seed, int compiled) {
    static char what[1200];
    loop l;
    random_loop(&l, seed);
    if (check(&l, compiled, what)) return 0;
    printf("seed %llu: %s\n", (unsigned long long)seed, what);
    shrink(&l, compiled, what);
    printf("    shrunk: %s\n", what);
    print_loop(&l);
    fflush(stdout);
    close_contexts();
    return 1;
}

enum { COMPILED_EVERY = 100, CLOSED_EVERY = 32 };

int main(int count, char **args) {
    arguments a = read_arguments(count, args);
    uint64_t graphs = a.graphs / 10, done = 0, failures = 0;
    double end = test_clock() + a.seconds;
    for (; !a.one && done < graphs && failures < 5 && test_clock() < end; done++) {
        failures +=
            (uint64_t)failures_of(a.seed * 1000003 + done, done % COMPILED_EVERY == 0);
        if (done % CLOSED_EVERY == CLOSED_EVERY - 1) close_contexts();
    }
    if (a.one) done++, failures += (uint64_t)failures_of(a.one, 1);
    close_contexts();
    printf("%llu passed, %llu failed\n", (unsigned long long)(done - failures),
           (unsigned long long)failures);
    return failures != 0;
}
