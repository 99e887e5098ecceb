// Random loops: states that a region computes from themselves, consumed in it, read late, kept, freed, viewed,
// written in place; inputs that are filled again; several ways; eager ops in scopes beside. Values come from
// plain C arrays of floats: all ops are exact in both. What a loop does is periodic, so after a
// while it makes no program, and its memory does not grow.
//
//     loops [SECONDS] [SEED] [--graphs N] [--only SEED]
#include "tcompile.h"

#define TEST_NO_MAIN
#include "../harness.h"
#include "fuzz/arguments.h"

enum {
    N = 24,
    MOST_STEPS = 6,
    MOST_STATES = 3,
    WAYS = 2,
    PERIOD = 12,
    VISITS = 6 * PERIOD
};

enum { SLACK = 1024 }; // bytes that lists may grow by; a tensor lost at each visit is more

typedef enum op { HALF, NEG, ADD, SUB, MOST, ABS, VIEW, OPS } op;
typedef enum late {
    NOTHING,
    READ,
    KEEP,
    FREE,
    EAGER,
    LATES
} late; // with a step, after the visit

typedef struct step {
    op op;
    int a, b;    // states, then the input, then steps
    int largest; // its largest element is a result as well: it is consumed
    int write;   // it is added to the input in place, halved
    late late;   // every `every` visits, from `at` on
    int every, at;
} step;

typedef struct loop {
    int states, steps[WAYS], ways, refill, viewed;
    step step[WAYS][MOST_STEPS];
    int from[WAYS][MOST_STATES],
        every[MOST_STATES]; // the step that a state becomes, and when
    int swap;               // two states change places
} loop;

static uint64_t random_state;
static int below(int n) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (int)((random_state >> 33) % (uint64_t)n);
}

static void random_loop(loop *l, uint64_t seed) {
    static const int periods[4] = {1, 1, 2, 3};
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    memset(l, 0, sizeof *l);
    l->states = 1 + below(MOST_STATES), l->ways = 1 + !below(3), l->refill = below(5);
    l->swap = l->states > 1 && !below(4), l->viewed = below(2);
    for (int w = 0; w < l->ways; w++) {
        l->steps[w] = l->states + below(MOST_STEPS - l->states + 1);
        for (int i = 0; i < l->steps[w]; i++) {
            step *s = &l->step[w][i];
            s->op = (op)below(OPS);
            s->a = i < l->states ? i : below(l->states + 1 + i); // each state is used
            s->b = below(l->states + 1 + i);
            s->largest = below(2), s->write = !below(6);
            s->late = (late)below(LATES), s->every = periods[below(4)],
            s->at = below(s->every);
        }
        for (int i = 0; i < l->states; i++) l->from[w][i] = below(l->steps[w]);
    }
    for (int i = 0; i < l->states; i++) l->every[i] = periods[below(4)];
}

// ---- plain C ----

static float apply(op o, float a, float b) {
    float x = o == HALF   ? a / 2
              : o == NEG  ? -a
              : o == ADD  ? a / 2 + b / 2
              : o == SUB  ? a / 2 - b / 2
              : o == ABS  ? (a < 0 ? -a : a)
              : o == MOST ? (a > b ? a : b)
                          : a;
    return x;
}

static tc_tensor record(op o, tc_tensor a, tc_tensor b) {
    switch (o) {
    case HALF: return tc_mul_s(a, 0.5);
    case NEG: return tc_neg(a);
    case ADD: return tc_add(tc_mul_s(a, 0.5), tc_mul_s(b, 0.5));
    case SUB: return tc_sub(tc_mul_s(a, 0.5), tc_mul_s(b, 0.5));
    case ABS: return tc_abs(a);
    case MOST: return tc_maximum(a, b);
    case VIEW: return tc_reshape(tc_t(tc_reshape(a, TC_DIMS(4, 6))), TC_DIMS(N));
    case OPS: break;
    }
    return tc_null();
}

static void calculate(op o, const float *a, const float *b, float *out) {
    float x[N];
    for (int i = 0; i < N; i++)
        x[i] = o == VIEW ? a[i % 4 * 6 + i / 4] : apply(o, a[i], b[i]);
    memcpy(out, x, sizeof x);
}

static float largest(const float *a) {
    float x = a[0];
    for (int i = 1; i < N; i++) x = a[i] > x ? a[i] : x;
    return x;
}

// ---- one loop ----

typedef struct run {
    tc_ctx *tc;
    const loop *l;
    uint64_t seed;
    float state[MOST_STATES][N], input[N], memory[N],
        value[MOST_STATES + 1 + MOST_STEPS][N];
    tc_tensor s[MOST_STATES], in, t[MOST_STATES + 1 + MOST_STEPS];
    tc_tensor top[MOST_STEPS], kept[PERIOD];
    float kept_value[PERIOD][N];
    int n_kept, failed;
} run;

static void fails(run *r, int visit, const char *what) {
    if (!r->failed++)
        printf("seed %llu, visit %d: %s: %s\n", (unsigned long long)r->seed, visit, what,
               tc_error_text(r->tc));
}

static void compare(run *r, int visit, tc_tensor t, const float *want, const char *what) {
    float x[N];
    if (tc_read(t, x, sizeof x) || memcmp(x, want, sizeof x)) {
        for (int i = 0; i < N; i++)
            if (x[i] != want[i]) return fails(r, visit, what); // -0 is 0
        if (tc_error(r->tc)) fails(r, visit, what);
    }
}

static void fill(run *r, int visit) {
    const loop *l = r->l;
    if (visit && !l->refill) return;
    for (int i = 0; i < N; i++) r->input[i] = (float)((visit * 7 + i * 5) % 13 - 6);
    if (l->refill > 2) // wrapped memory that its owner writes
        memcpy(r->memory, r->input, sizeof r->input);
    else if (visit)
        tc_copy_(r->in, tc_from_data(r->tc, r->input, TC_DIMS(N), TC_F32));
}

static void visit(run *r, int k, int w) {
    const loop *l = r->l;
    int base = l->states + 1;
    tc_trace_begin_at(r->tc, "loop", NULL, "loops.c", 1);
    for (int i = 0; i < l->states; i++)
        r->t[i] = r->s[i], memcpy(r->value[i], r->state[i], sizeof r->input);
    for (int i = 0; i < l->steps[w]; i++) {
        const step *s = &l->step[w][i];
        r->t[l->states] = r->in, memcpy(r->value[l->states], r->input, sizeof r->input);
        r->t[base + i] = record(s->op, r->t[s->a], r->t[s->b]);
        if (s->op == VIEW) // not of the input's memory, which may be written
            r->t[base + i] = tc_add_s(r->t[base + i], 0);
        calculate(s->op, r->value[s->a], r->value[s->b], r->value[base + i]);
        if (s->largest) r->top[i] = tc_amax_all(r->t[base + i]);
        if (!s->write) continue;
        tc_copy_(r->in, tc_add(tc_mul_s(r->in, 0.5), tc_mul_s(r->t[base + i], 0.5)));
        calculate(ADD, r->input, r->value[base + i], r->input);
    }
    if (tc_trace_end(r->tc) || tc_error(r->tc)) fails(r, k, "the region");
    for (int i = 0; i < l->steps[w]; i++)
        if (l->step[w][i].largest &&
            (float)tc_item(r->top[i]) != largest(r->value[base + i]))
            fails(r, k, "a small result");
}

static int is_state(const run *r, int w, int i) {
    for (int k = 0; k < r->l->states; k++)
        if (r->l->from[w][k] == i) return 1;
    return 0;
}

static void late_step(run *r, int k, int w, int i) {
    const step *s = &r->l->step[w][i];
    tc_tensor t = r->t[r->l->states + 1 + i];
    const float *v = r->value[r->l->states + 1 + i];
    if (k % s->every != s->at) return;
    if (s->late == READ) compare(r, k, t, v, "a late read");
    if (s->late == FREE && !is_state(r, w, i)) {
        tc_free(t);
        if (tc_numel(t) > 0 || tc_error(r->tc) != TC_E_DEAD) fails(r, k, "it lives");
        tc_error_clear(r->tc);
    }
    if (s->late == KEEP && !is_state(r, w, i) && r->n_kept < PERIOD) {
        r->kept[r->n_kept] = tc_keep(t);
        memcpy(r->kept_value[r->n_kept++], v, sizeof r->input);
    }
    if (s->late == EAGER) {
        float x[N];
        tc_scope_begin(r->tc);
        calculate(SUB, v, r->input, x);
        tc_tensor e = record(SUB, t, r->in);
        if (k % 2) e = tc_keep(e);
        tc_neg(e);
        e = tc_scope_return(r->tc, e);
        compare(r, k, e, x, "an eager op");
        tc_free(e);
    }
}

static void advance(run *r, int k, int w) {
    const loop *l = r->l;
    for (int i = 0; i < l->steps[w]; i++) late_step(r, k, w, i);
    for (int i = 0; i < l->states; i++) {
        int at = l->states + 1 + l->from[w][i];
        if (k % l->every[i]) continue;
        r->s[i] = r->t[at], memcpy(r->state[i], r->value[at], sizeof r->input);
        if (l->viewed) r->s[i] = tc_reshape(tc_reshape(r->s[i], TC_DIMS(6, 4)), TC_DIMS(N));
    }
    if (!l->swap) return;
    float x[N];
    tc_tensor t = r->s[0];
    r->s[0] = r->s[1], r->s[1] = t;
    memcpy(x, r->state[0], sizeof x), memcpy(r->state[0], r->state[1], sizeof x);
    memcpy(r->state[1], x, sizeof x);
}

static void drop_kept(run *r, int k) {
    for (int i = 0; i < r->n_kept; i++) {
        compare(r, k, r->kept[i], r->kept_value[i], "a kept result");
        tc_free(r->kept[i]);
    }
    r->n_kept = 0;
}

static int run_loop(uint64_t seed, const char *backend) {
    loop l;
    static run r;
    tc_config config = tc_config_default();
    uint64_t programs = 0;
    size_t bytes = 0;
    random_loop(&l, seed);
    memset(&r, 0, sizeof r);
    config.backend = backend, config.threads = 1, config.no_disk_cache = 1;
    r.tc = tc_open(&config), r.l = &l, r.seed = seed;
    fill(&r, 0);
    r.in = l.refill > 2 ? tc_wrap(r.tc, r.memory, TC_DIMS(N), TC_F32)
                        : tc_from_data(r.tc, r.input, TC_DIMS(N), TC_F32);
    for (int i = 0; i < l.states; i++) {
        for (int k = 0; k < N; k++) r.state[i][k] = (float)((k * 3 + i) % 17 - 8);
        r.s[i] = tc_from_data(r.tc, r.state[i], TC_DIMS(N), TC_F32);
    }
    for (int k = 0; k < VISITS && !r.failed; k++) {
        int w = l.ways > 1 ? k % 3 == 1 : 0;
        tc_scope_begin(r.tc); // of what fills the input
        if (k) fill(&r, k);
        tc_scope_end(r.tc);
        visit(&r, k, w);
        advance(&r, k, w);
        if (k % PERIOD == PERIOD - 1) drop_kept(&r, k);
        if (k == VISITS - 2 * PERIOD - 1)
            programs = tc_stats_get(r.tc).programs, bytes = tc_stats_get(r.tc).bytes;
    }
    for (int i = 0; i < l.states; i++) compare(&r, VISITS, r.s[i], r.state[i], "a state");
    if (tc_stats_get(r.tc).programs != programs)
        fails(&r, VISITS, "programs go on being made");
    if (tc_stats_get(r.tc).bytes > bytes + SLACK) fails(&r, VISITS, "memory grows");
    tc_close(r.tc);
    return r.failed != 0;
}

int main(int count, char **args) {
    arguments a = read_arguments(count, args);
    uint64_t graphs = a.graphs / 5, done = 0, failures = 0;
    for (double end = test_clock() + a.seconds; !a.one && done < graphs && failures < 5;
         done++) {
        uint64_t s = a.seed * 1000003 + done;
        if (test_clock() > end) break;
        failures +=
            (uint64_t)(run_loop(s, "aot_eager") || (s % 50 == 0 && run_loop(s, "cpu")));
    }
    if (a.one)
        done++,
            failures += (uint64_t)(run_loop(a.one, "aot_eager") | run_loop(a.one, "cpu"));
    printf("%llu passed, %llu failed\n", (unsigned long long)(done - failures),
           (unsigned long long)failures);
    return failures != 0;
}
