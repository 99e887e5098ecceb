// Differential fuzzer: random programs over the public API, run eagerly, as regions in the
// interpreter (plain, with two threads, unfused, without passes, every result kept, behind a
// backend that forwards, under TC_STANCE_FORCE_EAGER) and as regions compiled by cc; three times each with fresh inputs. Every
// value read must be the same bits (any NaN equals any NaN).
//
// Every fourth program also runs with four sets of sizes and scalars through one region, whose paths
// get run-time sizes then: in three interpreted variants, a few compiled; and behind the backend that
// forwards, where they do not.
//
// Some are compiled for TC_NUMERICS_FAST, too, and near the interpreter's: near.h says how near.
//
// A quarter has gradients, which are read as well, and is also run in checkpoints, under a memory_budget that is drawn,
// where intermediates may take no more memory than without, and in pieces; gradients.c has programs of which each has some, and runs
// each in the plain variant and three that are drawn for it.
//
// The test makes 3,000 programs. All of them run in the eight interpreted variants, about 4 ms
// each; 2 percent, taken by a hash of their number, are also compiled, eight programs to a
// unit of the compiler, because that costs a second for each. `./build.sh fuzz SECONDS` runs
// longer and compiles a quarter.
//
//     fuzz [SECONDS] [SEED] [--from K] [--graphs N] [--least N] [--cpu PERCENT] [--fast PERCENT] [--failures N]
//          [--only SEED] [--out FOLDER]
//
// tests/cuda/fuzz.c runs the same programs on a device: it defines FUZZ_DEVICE, and what near.h asks for.
//
// Program k of a run has the seed SEED * 1000003 + k; a run begins at K and ends before N; it fails with fewer programs than
// --least, in gradients.c with fewer of them that have gradients; --only runs one by its own seed. A failing
// program is shrunk, and written as FOLDER/fuzz_SEED.c, which needs only tcompile.h.
#include "tcompile.h"

#define TEST_NO_MAIN
#include "../halves.h"
#include "../harness.h"
#include "child.h"

#include <math.h>
#include <stdint.h>
#include <sys/mman.h>

#ifndef FUZZ_DEVICE
static tc_tensor there(tc_ctx *tc, tc_tensor t) { return tc ? t : tc_null(); }
static int open_there(tc_ctx *tc) { return tc != NULL; }
enum { ON_DEVICE_ONLY = 0 };
#endif
#ifdef FUZZ_GRADIENTS
enum { ALL_DERIVE = 1 };
#else
enum { ALL_DERIVE = 0 };
#endif

#include "perform.h"
#include "graph.h"
#include "near.h"

// ---- variants ----
enum {
    EAGER,
    INTERP,
    THREADED,
    UNFUSED,
    UNPASSED,
    KEPT,
    FORWARDED,
    FORCED,
    CHECKPOINTED,
    BUDGETED,
    BROKEN,
    COMPILED,
    COMPILED_UNFUSED,
    COMPILED_AGAIN,
    COMPILED_FAST,
    ON_DEVICE,
    VARIANTS
};
enum { DRAWN = -1 };
static const struct {
    const char *name, *backend;
    int threads, no_fusion;
    const char *passes_off;
    int keep;       // 1: every result is named by tc_keep, so that it is an output
    int checkpoint; // 1: runs of calls stand in tc_checkpoint
    int budget;     // memory_budget of the region, 0 = all is kept, DRAWN = by the program
    int breaks;     // 1: values are read between calls, so it is several programs
} variants[VARIANTS] = {
    {"eager", "aot_eager", 1, 0, "", 0, 0, 0, 0},
    {"region, interpreted", "aot_eager", 1, 0, "", 0, 0, 0, 0},
    {"region, interpreted, 2 threads", "aot_eager", 2, 0, "", 0, 0, 0, 0},
    {"region, interpreted, no fusion", "aot_eager", 1, 1, "", 0, 0, 0, 0},
    {"region, interpreted, no passes", "aot_eager", 1, 0, "all", 0, 0, 0, 0},
    {"region, interpreted, all results kept", "aot_eager", 1, 0, "", 1, 0, 0, 0},
    {"region, a backend that forwards", "null", 1, 0, "", 0, 0, 0, 0},
    {"region, under TC_STANCE_FORCE_EAGER", "cpu", 1, 0, "", 0, 0, 0, 0},
    {"region, interpreted, checkpoints", "aot_eager", 1, 0, "", 0, 1, 0, 0},
    {"region, interpreted, a budget", "aot_eager", 1, 0, "", 0, 0, DRAWN, 0},
    {"region, interpreted, in pieces", "aot_eager", 1, 0, "", 0, 0, 0, 1},
    {"region, compiled", "cpu", 2, 0, "", 0, 0, 0, 0},
    {"region, compiled, no fusion", "cpu", 1, 1, "", 0, 0, 0, 0},
    {"region, compiled, checkpoints and a budget", "cpu", 1, 0, "", 0, 1, 1, 0},
    {"region, compiled, fast numerics", "cpu", 2, 0, "", 0, 0, 0, 0},
    {"region, on a device", "cpu", 0, 0, "", 0, 0, 0, 0},
};
enum {
    USE_INTERP = 1 << INTERP | 1 << THREADED | 1 << UNFUSED | 1 << UNPASSED | 1 << KEPT |
                 1 << FORWARDED | 1 << FORCED,
    USE_DERIVED =
        1 << CHECKPOINTED | 1 << BUDGETED | 1 << BROKEN, // where there are gradients
    USE_CPU = 1 << COMPILED,
    USE_CPU_UNFUSED = 1 << COMPILED_UNFUSED,
    USE_CPU_AGAIN = 1 << COMPILED_AGAIN,
    USE_ALL_CPU = 1 << INTERP | USE_CPU | USE_CPU_UNFUSED | USE_CPU_AGAIN,
    USE_FAST = 1 << COMPILED_FAST,
    USE_DEVICE = 1 << ON_DEVICE,
    USE_FAMILY = 1 << VARIANTS // several sizes, not one
};

static tc_ctx *contexts[VARIANTS];
static size_t live_bytes; // of all contexts; must be 0 when they are closed

// Knows the size of every block: the library must name it when it gives one back.
static void *counting(void *user, void *p, size_t old, size_t size) {
    void *q = checked_realloc(p, old, size);
    (void)user;
    if (q || !size) live_bytes += size - (p ? old : 0);
    return q;
}

// The last warning; a kernel that does not compile is one, and a failure here.
static char warning[500];
static void keep_warning(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level < 1) return;
    const char *error = strstr(text, "error:");
    snprintf(warning, sizeof warning, "%.200s", error ? error : text);
    for (char *p = warning; *p; p++)
        if (*p == '\n') *p = ' ';
}

static tc_status forward(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state;
    return tc_graph_forward(run);
}

static const tc_backend null_backend = {"null", NULL, NULL, NULL, forward, NULL};

static tc_ctx *context(int variant) {
    tc_config config = tc_config_default();
    if (contexts[variant]) return contexts[variant];
    config.backend = variants[variant].backend;
    config.threads = variants[variant].threads;
    config.no_fusion = variants[variant].no_fusion;
    config.passes_off = variants[variant].passes_off;
    config.no_disk_cache = 1;
    config.allocator.realloc = counting;
    config.logger.log = keep_warning;
    contexts[variant] = tc_open(&config);
    fuzz_register(contexts[variant]);
    if (variant == FORWARDED) tc_register_backend(contexts[variant], &null_backend);
    if (variant == FORCED) tc_set_stance(contexts[variant], TC_STANCE_FORCE_EAGER);
    if (variant == ON_DEVICE && !open_there(contexts[variant])) exit(TEST_FAILED);
    return contexts[variant];
}

static int close_contexts(void) {
    for (int i = 0; i < VARIANTS; i++) tc_close(contexts[i]), contexts[i] = NULL;
    int leaked = live_bytes != 0;
    if (leaked) printf("%lu bytes leaked\n", (unsigned long)live_bytes);
    live_bytes = 0;
    return leaked;
}

// ---- running ----
static void read_end(const graph *g, tc_tensor *v, reads *r) {
    for (int i = 0; i < g->n_values; i++)
        if (is_read(g, i)) reads_tensor(r, i, v[i]);
}

typedef struct run_state {
    tc_tensor v[MAX_VALUES];
} run_state;

// ---- gradients: eager code has none; the first region's are what those of the others must be ----
static int derived(int variant) { return variant != EAGER && variant != ON_DEVICE; }

static int is_of_gradients(int variant) {
    return variants[variant].checkpoint || variants[variant].budget ||
           variants[variant].breaks;
}

static int some_derive(graph **g, int n) {
    for (int i = 0; i < n; i++)
        if (derives(g[i])) return 1;
    return 0;
}

static void gradients_begin(const graph *g, const tc_tensor *v) {
    for (int i = 0; i < g->p->n_inputs; i++)
        if (category(g->p->input[i].dtype) == 2) tc_requires_grad(v[i], 1);
}

static void gradients_add(const graph *g, const tc_tensor *v) {
    int term[MAX_VALUES + MAX_INPUTS], n = loss_terms(g, term);
    tc_tensor loss = tc_null();
    for (int i = 0; i < n; i++) {
        tc_tensor sum = tc_sum_all(v[term[i]]);
        loss = i ? tc_add(loss, sum) : sum;
    }
    if (n) tc_backward(loss);
}

static void gradients_read(graph *g, const tc_tensor *v, reads *r) {
    size_t before = r->count;
    for (int i = 0; i < g->p->n_inputs; i++)
        if (tc_grad_of(v[i]).id) reads_tensor(r, 1000 + i, tc_grad_of(v[i]));
    for (size_t i = before; i < r->count; i++) g->has_gradient |= r->at[i] != 0;
}

// What of b is behind that of a is put behind a, too.
static void reads_extend(reads *a, const reads *b) {
    for (int i = a->n; i < b->n; i++)
        reads_add(a, b->part[i].value, b->part[i].dtype, b->at + b->part[i].offset,
                  b->part[i].bytes);
}

#ifdef FUZZ_ACROSS

// Whether the call computes something new of its operands, wherever they are: what shows an operand's memory stays
// where that is.
static int computes(const call *o) {
    if (o->kind == C_UNARY)
        return unary_ops[o->fn].fn != tc_contiguous_at &&
               unary_ops[o->fn].fn != tc_squeeze_all_at;
    return o->kind == C_BINARY || o->kind == C_SCALAR || o->kind == C_REDUCE ||
           o->kind == C_ALONG || o->kind == C_FMA || o->kind == C_WHERE ||
           o->kind == C_MATMUL || o->kind == C_LINEAR || o->kind == C_CAT ||
           o->kind == C_TAKE || o->kind == C_GATHER || o->kind == C_ROWS;
}

// Calls are computed here and there in turn: w = the values, but for operands that are moved.
static const tc_tensor *spread(tc_ctx *tc, const call *o, const tc_tensor *v,
                               tc_tensor *w) {
    int moves = computes(o);
    const char *to = moves && o->out * 7 / 3 % 2 ? "cpu" : DEVICE_NAME;
    if (!tc_registered_device(tc, DEVICE_NAME) || !o->n_in) return v;
    if (!moves) to = tc_device_of(v[o->in[0]]);
    memcpy(w, v, MAX_VALUES * sizeof *w);
    for (int k = !moves; to && k < o->n_in; k++) {
        const char *is = tc_device_of(w[o->in[k]]);
        if (is && strcmp(is, to)) w[o->in[k]] = tc_to(w[o->in[k]], to);
    }
    return w;
}

#else

static const tc_tensor *spread(tc_ctx *tc, const call *o, const tc_tensor *v,
                               tc_tensor *w) {
    return (void)tc, (void)o, (void)w, v;
}

#endif

static int makes_value(const call *o) {
    return o->kind < C_IN_TENSOR || o->kind == C_BRANCH;
}

// Calls [from, to) of a program in a variant.
typedef struct piece {
    const graph *g;
    tc_tensor *v;
    reads *r;
    int variant, from, to;
} piece;

static void replay_piece(tc_ctx *tc, const piece *k) {
    tc_tensor w[MAX_VALUES];
    for (int i = k->from; i < k->to; i++) {
        const call *o = &k->g->call[i];
        tc_tensor t = perform_near(tc, o, (tc_tensor *)spread(tc, o, k->v, w), k->r);
        if (!makes_value(o) || o->out < k->g->p->n_inputs) continue;
        // Results that the program does not keep itself are kept, for tc_free at the end.
        int keep = variants[k->variant].keep && t.id && !k->g->v[o->out].kept;
        k->v[o->out] = keep ? tc_keep(t) : t;
    }
}

// What the calls of a piece make, in order; how many.
static int made_in(const piece *k, int values[MAX_CALLS]) {
    int n = 0;
    for (int i = k->from; i < k->to; i++)
        if (makes_value(&k->g->call[i])) values[n++] = k->g->call[i].out;
    return n;
}

static void checkpoint_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const piece *k = (const piece *)user;
    int values[MAX_CALLS], n = made_in(k, values);
    (void)in;
    replay_piece(tc, k);
    for (int i = 0; i < n; i++) out[i] = k->v[values[i]];
}

// The piece in a checkpoint, that takes its first operand as an input and captures the others.
static void replay_checkpoint(tc_ctx *tc, piece *k) {
    tc_tensor out[MAX_CALLS], in = k->v[k->g->call[k->from].in[0]];
    int values[MAX_CALLS], n = made_in(k, values);
    int has_in = k->g->call[k->from].n_in > 0;
    tc_checkpoint(tc, checkpoint_body, k, &in, has_in, out, n);
    for (int i = 0; i < n; i++) k->v[values[i]] = out[i];
}

static void replay_broken(tc_ctx *tc, const piece *k) {
    reads unused;
    memset(&unused, 0, sizeof unused);
    replay_piece(tc, k);
    const call *o = &k->g->call[k->to - 1];
    if (k->v[o->out].id) reads_tensor(&unused, o->out, k->v[o->out]);
    free(unused.at);
}

// All of a program; in pieces of two to seven calls, where the variant has such.
static void replay(const graph *g, tc_ctx *tc, tc_tensor *v, reads *r, int variant) {
    piece k = {g, v, r, variant, 0, 0};
    rng gen = {mix(g->p->seed ^ 0x7069656365u)};
    int whole = !variants[variant].checkpoint && !variants[variant].breaks;
    for (; k.to < g->n_calls; k.from = k.to) {
        k.to = whole ? g->n_calls : k.to + 2 + below(&gen, 6);
        if (k.to > g->n_calls) k.to = g->n_calls;
        if (variants[variant].breaks)
            replay_broken(tc, &k);
        else if (variants[variant].checkpoint && chance(&gen, 70))
            replay_checkpoint(tc, &k);
        else
            replay_piece(tc, &k);
    }
}

// On a device every other program is.
static int is_fast(const graph *g, int variant) {
    return variant == COMPILED_FAST || (variant == ON_DEVICE && mix(g->p->seed) % 2);
}

static int budget_of(uint64_t seed, int variant) {
    static const int budgets[] = {1, 10, 20, 35, 50, 65, 80, 90};
    int budget = variants[variant].budget;
    return budget == DRAWN ? budgets[mix(seed + 1) % 8] : budget;
}

static double planned
    [VARIANTS]; // bytes of intermediates of the one program that a run made; -1 = it was not one

// Programs g[0..n) one after the other in one region (or eagerly); results to r[0..n).
// "" or what went wrong.
static const char *run(graph **g, int n, int variant, const char *name, int execution,
                       reads *r) {
    static char error[700];
    tc_ctx *tc = context(variant);
    run_state *s = (run_state *)calloc((size_t)n, sizeof *s);
    int status = TC_OK;
    error[0] = 0;
    tc_error_clear(tc);
    tc_scope_begin(tc);
    tc_manual_seed(tc, g[0]->p->seed);
    for (int i = 0; i < n; i++) {
        fill_inputs(g[i], execution);
        make_inputs(g[i], tc, s[i].v, NULL);
    }
    tc_options options = tc_options_default();
    options.round_each_op = 1; // so that halves have the bits of eager code
    options.memory_budget = budget_of(g[0]->p->seed, variant);
    if (is_fast(g[0], variant)) options.numerics = TC_NUMERICS_FAST;
    for (int i = 0; i < n && derived(variant); i++)
        if (derives(g[i])) gradients_begin(g[i], s[i].v);
    if (variant != EAGER) tc_trace_begin_at(tc, name, &options, "fuzz.c", 1);
    for (int i = 0; i < n; i++) replay(g[i], tc, s[i].v, &r[i], variant);
    for (int i = 0; i < n && derived(variant); i++)
        if (derives(g[i])) gradients_add(g[i], s[i].v);
    uint64_t before = tc_stats_get(tc).fallbacks, made = tc_stats_get(tc).programs;
    double bytes = (double)tc_stats_get(tc).arena_bytes;
    if (variant != EAGER) status = tc_trace_end(tc);
    bytes = (double)tc_stats_get(tc).arena_bytes - bytes;
    planned[variant] = tc_stats_get(tc).programs - made == 1 && bytes >= 0 ? bytes : -1;
    if (tc_stats_get(tc).fallbacks > before)
        snprintf(error, sizeof error, "a kernel does not compile: %s", warning);
    for (int i = 0; i < n; i++) read_end(g[i], s[i].v, &r[i]);
    for (int i = 0; i < n && derived(variant); i++)
        if (derives(g[i])) gradients_read(g[i], s[i].v, &r[i]);
    if ((status || tc_error(tc)) && !error[0])
        snprintf(error, sizeof error, "%s: %s",
                 tc_status_name(status ? status : tc_error(tc)), tc_error_text(tc));
    if (variant != EAGER)
        for (int i = 0; i < n; i++)
            for (int k = 0; k < g[i]->n_values; k++)
                if (g[i]->v[k].kept || (variants[variant].keep && k >= g[i]->p->n_inputs))
                    tc_free(s[i].v[k]);
    tc_error_clear(tc);
    tc_scope_end(tc);
    free(s);
    return error;
}

// The same with results that are rounded otherwise: near.h. Eagerly; with gradients as a region.
static void run_near(graph **g, int n, uint32_t mask, const char *name, int execution,
                     reads near[][NEAR]) {
    char other[80];
    near_fast = (mask & USE_FAST) != 0;
    near_derives = some_derive(g, n);
    int variant = near_fast && near_derives ? INTERP : EAGER;
    for (perturbation = 1; perturbation <= NEAR; perturbation++) {
        static reads r[MAX_NEAR];
        memset(r, 0, sizeof r);
        snprintf(other, sizeof other, "%s near %d", name, perturbation);
        run(g, n, variant, other, execution, r);
        for (int i = 0; i < n; i++) near[i][perturbation - 1] = r[i];
    }
    perturbation = 0;
}

// ---- comparing ----
// "" = equal. `what` names the first difference.
static void compare(const reads *a, const reads *b, char what[400]) {
    what[0] = 0;
    if (a->n != b->n) snprintf(what, 400, "%d values read, not %d", b->n, a->n);
    for (int i = 0; i < a->n && i < b->n && !what[0]; i++) {
        size_t size = tc_dtype_bytes((tc_dtype)a->part[i].dtype);
        if (a->part[i].bytes != b->part[i].bytes || a->part[i].dtype != b->part[i].dtype) {
            snprintf(
                what, 400, "v%d: %lu bytes of %s, not %lu of %s", a->part[i].value,
                (unsigned long)b->part[i].bytes, tc_dtype_name((tc_dtype)b->part[i].dtype),
                (unsigned long)a->part[i].bytes, tc_dtype_name((tc_dtype)a->part[i].dtype));
            return;
        }
        for (size_t k = 0; k * size < a->part[i].bytes; k++) {
            const unsigned char *x = a->at + a->part[i].offset + k * size;
            const unsigned char *y = b->at + b->part[i].offset + k * size;
            if (same_element(x, y, a->part[i].dtype, size)) continue;
            snprintf(what, 400, "v%d[%lu] (%s) is %.17g, eager %.17g", a->part[i].value,
                     (unsigned long)k, tc_dtype_name((tc_dtype)a->part[i].dtype),
                     fetch(y, a->part[i].dtype, 0), fetch(x, a->part[i].dtype, 0));
            return;
        }
    }
}

static void reads_free(reads *r, int n) {
    for (int i = 0; i < n; i++) free(r[i].at);
    memset(r, 0, (size_t)n * sizeof *r);
}

enum { MAX_BATCH = 8 };
typedef struct verdict {
    int failed, variant, execution, which; // which program of the batch
    char text[1200];
} verdict;

// ---- what processes share ----
typedef struct shared {
    uint64_t seed, next; // of the program being run; number of the one after it
    int family;          // it runs with several sizes
    int is_fast;         // and for TC_NUMERICS_FAST
    uint64_t families, family_programs; // contexts that ran one; programs they made
    uint64_t graphs, derived, compiled, fast, calls, refused, values;
    uint64_t runs;          // of a program in a variant; three times each
    uint64_t budgets, less; // programs under one, of those with less memory for it
    verdict verdict;
    char refusal[600];
} shared;
static shared *state; // shared with children

// Programs of one batch, in all variants of the mask.
static void check(graph **g, int n, uint32_t mask, verdict *out) {
    int written = 0; // no result can be demanded then
    for (int i = 0; i < n; i++) written |= g[i]->external_written;
    for (int i = 0; i < n; i++) g[i]->external_written = written;
    memset(out, 0, sizeof *out);
    for (int i = 0; i < n; i++) {
        if (!g[i]->internal) continue;
        out->failed = 1, out->which = i;
        snprintf(out->text, sizeof out->text, "eager: %s", g[i]->refusal);
        return;
    }
    char what[400], name[64];
    static reads near[MAX_BATCH][NEAR], eager[MAX_BATCH], r[MAX_BATCH];
    memset(eager, 0, sizeof eager), memset(r, 0, sizeof r);
    snprintf(name, sizeof name, "g%llu x%d", (unsigned long long)g[0]->p->seed, n);
    for (int e = 0; e < EXECUTIONS && !out->failed; e++) {
        const char *error = run(g, n, EAGER, name, e, eager);
        // Fresh inputs may run into an error the first ones did not; what matters is agreement.
        int eager_failed = error[0] != 0;
        if (mask & (USE_DEVICE | USE_FAST)) run_near(g, n, mask, name, e, near);
        for (int v = 1; v < VARIANTS && !out->failed && !eager_failed; v++) {
            if (!(mask >> v & 1) || (is_of_gradients(v) && !some_derive(g, n))) continue;
            error = run(g, n, v, name, e, r);
            state->runs += e ? 0 : (uint64_t)n;
            if (error[0]) {
                out->failed = 1, out->variant = v, out->execution = e;
                snprintf(out->text, sizeof out->text, "%s, run %d: %s", variants[v].name, e,
                         error);
            }
            int plans = v == BUDGETED && !e && planned[v] >= 0 && planned[INTERP] >= 0;
            state->budgets += (uint64_t)plans;
            state->less += plans && planned[v] < planned[INTERP];
            if (plans && !out->failed && planned[v] > planned[INTERP]) {
                out->failed = 1, out->variant = v;
                snprintf(out->text, sizeof out->text, "%s: %g bytes, without it %g",
                         variants[v].name, planned[v], planned[INTERP]);
            }
            for (int i = 0; i < n && !out->failed; i++) {
                if (v == ON_DEVICE || v == COMPILED_FAST)
                    compare_near(&eager[i], near[i], &r[i], what);
                else
                    reads_extend(&eager[i], &r[i]), compare(&eager[i], &r[i], what);
                if (!what[0]) continue;
                out->failed = 1, out->variant = v, out->execution = e, out->which = i;
                snprintf(out->text, sizeof out->text, "%s, run %d: %s", variants[v].name, e,
                         what);
            }
            reads_free(r, n);
        }
        reads_free(eager, n);
        for (int i = 0; i < n; i++) reads_free(near[i], NEAR);
    }
}

// One program with several sizes through one region: its paths get run-time sizes.
enum { SETS = 4, ROUNDS = 7 };

static void check_family(const program *p, uint32_t mask, verdict *out) {
    static const int order[ROUNDS] = {0, 1, 2, 0, 3, 1, 3};
    static program q[SETS];
    graph *g[SETS];
    char what[400], name[64];
    static reads near[SETS][NEAR], eager[SETS], r;
    memset(out, 0, sizeof *out), memset(eager, 0, sizeof eager), memset(&r, 0, sizeof r);
    snprintf(name, sizeof name, "family %llu", (unsigned long long)p->seed);
    int skip[SETS] = {0};
    for (int i = 0; i < SETS; i++) {
        g[i] = (graph *)calloc(1, sizeof **g);
        resize_program(&q[i], p, i);
        elaborate(g[i], &q[i], context(EAGER), NULL);
        skip[i] = run(&g[i], 1, EAGER, name, 0, &eager[i])[0] != 0;
        if (mask & (USE_DEVICE | USE_FAST)) run_near(&g[i], 1, mask, name, 0, &near[i]);
    }
    for (int v = 1; v < VARIANTS; v++) {
        uint64_t programs = tc_stats_get(context(v)).programs;
        int skipped = !(mask >> v & 1) || (is_of_gradients(v) && !some_derive(g, 1));
        for (int k = 0; k < ROUNDS && !skipped && !out->failed; k++) {
            int i = order[k];
            if (skip[i]) continue;
            const char *error = run(&g[i], 1, v, name, 0, &r);
            if (error[0]) {
                out->failed = 1;
                snprintf(out->text, sizeof out->text, "%s, sizes %d, round %d: %s",
                         variants[v].name, i, k, error);
            } else {
                if (v == ON_DEVICE || v == COMPILED_FAST)
                    compare_near(&eager[i], near[i], &r, what);
                else
                    reads_extend(&eager[i], &r), compare(&eager[i], &r, what);
                out->failed = what[0] != 0;
                if (out->failed)
                    snprintf(out->text, sizeof out->text, "%s, sizes %d, round %d: %s",
                             variants[v].name, i, k, what);
            }
            out->variant = v;
            reads_free(&r, 1);
        }
        state->family_programs += tc_stats_get(context(v)).programs - programs;
        state->families += !skipped;
    }
    reads_free(eager, SETS);
    for (int i = 0; i < SETS; i++) reads_free(near[i], NEAR);
    for (int i = 0; i < SETS; i++) graph_free(g[i]), free(g[i]);
}

static void check_program(const program *p, uint32_t mask, verdict *out) {
    if (mask & USE_FAMILY) {
        check_family(p, mask, out);
        return;
    }
    graph *g = (graph *)calloc(1, sizeof *g);
    elaborate(g, p, context(EAGER), NULL);
    check(&g, 1, mask, out);
    graph_free(g);
    free(g);
}

// ---- in a process of its own ----
static int fails(const program *p, uint32_t mask) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        freopen("/dev/null", "w", stderr);
        check_program(p, mask, &state->verdict);
        _exit(state->verdict.failed ? WRONG : FINE);
    }
    return wait_for(child, 20);
}

// ---- shrinking ----
static int shrink_try(program *p, const program *candidate, uint32_t mask, int *budget) {
    if (*budget <= 0 || !memcmp(p, candidate, sizeof *p)) return 0;
    --*budget;
    if (fails(candidate, mask) == FINE) return 0;
    *p = *candidate;
    return 1;
}

static int shrink_calls(program *p, uint32_t mask, int *budget) {
    int changed = 0;
    for (int cut = p->n / 2; cut > 0; cut /= 2)
        while (p->n > cut) {
            program q = *p;
            q.n -= cut;
            if (!shrink_try(p, &q, mask, budget)) break;
            changed = 1;
        }
    for (int i = p->n - 1; i >= 0; i--) {
        program q = *p;
        if (!q.ins[i].live) continue;
        q.ins[i].live = 0;
        changed |= shrink_try(p, &q, mask, budget);
    }
    for (int i = 0; i < p->n; i++) {
        program q = *p;
        q.ins[i].keep = q.ins[i].read = 0;
        if (q.ins[i].keep != p->ins[i].keep || q.ins[i].read != p->ins[i].read)
            changed |= shrink_try(p, &q, mask, budget);
    }
    return changed;
}

static int shrink_inputs(program *p, uint32_t mask, int *budget) {
    int changed = 0;
    for (int i = 0; i < p->n_inputs; i++) {
        program q = *p;
        q.input[i].layout = PLAIN;
        changed |= shrink_try(p, &q, mask, budget);
        q = *p;
        q.input[i].dtype = TC_F32, q.input[i].wide = 0;
        changed |= shrink_try(p, &q, mask, budget);
        for (int d = p->input[i].d.rank - 1; d >= 0; d--) {
            q = *p;
            for (int k = d; k < q.input[i].d.rank - 1; k++)
                q.input[i].d.size[k] = q.input[i].d.size[k + 1];
            q.input[i].d.size[--q.input[i].d.rank] = 0;
            if (shrink_try(p, &q, mask, budget)) {
                changed = 1;
                continue;
            }
            for (int64_t to = 1; to < p->input[i].d.size[d];
                 to = to < 4 ? to + 1 : to * 2) {
                q = *p;
                q.input[i].d.size[d] = to;
                if (!shrink_try(p, &q, mask, budget)) continue;
                changed = 1;
                break;
            }
        }
    }
    return changed;
}

static void shrink(program *p, uint32_t mask) {
    int budget = 500;
    program q = *p;
    q.wild = q.spice = 0;
    shrink_try(p, &q, mask, &budget);
    while (shrink_calls(p, mask, &budget) | shrink_inputs(p, mask, &budget)) {
    }
    fails(p, mask); // leaves the verdict of the smallest one
}

// ---- writing a reproducer ----
static void write_element(FILE *f, int dtype, double x) {
    if (is_half(dtype))
        fprintf(f, "0x%04x /* %g */", (unsigned)half_nearest(format_of(dtype), x), x);
    else if (x != x)
        fputs("NAN", f);
    else if (x - x != 0)
        fputs(x > 0 ? "INFINITY" : "-INFINITY", f);
    else if (dtype == TC_F32)
        fprintf(f, "%af", (double)(float)x);
    else if (dtype == TC_F64)
        fprintf(f, "%a", x);
    else if (x == -0x1p63)
        fputs("INT64_MIN", f);
    else
        fprintf(f, "%lldLL", (long long)x);
}

static void write_data(FILE *f, const program *p, int number) {
    static const char *const names[TC_DTYPE_COUNT] = {
        "uint8_t", "uint8_t", "int8_t",   "int16_t",  "int32_t", "int64_t",
        "uint8_t", "uint8_t", "uint16_t", "uint16_t", "float",   "double"};
    const input *in = &p->input[number];
    tc_dims b = base_dims(in);
    int64_t n = dims_count(&b);
    if (in->same) return;
    fprintf(f, "static %s d%d[%d][%lld] = {\n", names[in->dtype], number, EXECUTIONS,
            (long long)(n ? n : 1));
    for (int e = 0; e < EXECUTIONS; e++) {
        fputs("    {", f);
        if (!n) fputs("0", f);
        for (int64_t i = 0; i < n; i++) {
            write_element(f, in->dtype, input_element(p, number, e, i));
            fputs(i % 6 == 5 ? ",\n     " : ", ", f);
        }
        fputs("},\n", f);
    }
    fputs("};\n", f);
}

static const char reproducer_head[] =
    "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n\n"
    "// What was read in a run, as text; two runs must give the same.\n"
    "static char *seen[2];\nstatic int side;\n\n"
    "static void note(const char *text) {\n"
    "    size_t n = seen[side] ? strlen(seen[side]) : 0;\n"
    "    seen[side] = (char *)realloc(seen[side], n + strlen(text) + 1);\n"
    "    strcpy(seen[side] + n, text);\n}\n\n"
    "static double half_bits(unsigned h, unsigned infinity) {\n"
    "    return (h & 0x7fffu) > infinity ? (double)NAN : (double)h;\n}\n\n"
    "static double element(const void *p, tc_dtype t, size_t i) {\n"
    "    if (t == TC_F64) return ((const double *)p)[i];\n"
    "    if (t == TC_F32) return (double)((const float *)p)[i];\n"
    "    if (t == TC_I64) return (double)((const int64_t *)p)[i];\n"
    "    if (t == TC_I32) return (double)((const int32_t *)p)[i];\n"
    "    if (t == TC_I16) return (double)((const short *)p)[i];\n"
    "    if (t == TC_I8) return (double)((const signed char *)p)[i];\n"
    "    if (t == TC_F16 || t == TC_BF16) // as its bits: any NaN is the same\n"
    "        return half_bits(((const unsigned short *)p)[i], t == TC_F16 ? 0x7c00 : 0x7f80);\n"
    "    return (double)((const unsigned char *)p)[i];\n}\n\n"
    "static tc_tensor show(const char *name, tc_tensor t) {\n"
    "    char line[200];\n"
    "    size_t n = tc_numel(t) > 0 ? (size_t)tc_numel(t) : 0;\n"
    "    void *p = calloc(n + 1, 8);\n"
    "    tc_status s = tc_read(t, p, n * tc_dtype_bytes(tc_dtype_of(t)));\n"
    "    snprintf(line, sizeof line, \"%s: %s\\n\", name, s ? tc_status_name(s) : \"\");\n"
    "    note(line);\n"
    "    for (size_t i = 0; i < n && !s; i++) {\n"
    "        double x = element(p, tc_dtype_of(t), i);\n"
    "        snprintf(line, sizeof line, x != x ? \"  [%d] nan\\n\" : \"  [%d] %.17g\\n\", "
    "(int)i, x);\n"
    "        note(line);\n    }\n    free(p);\n    return t;\n}\n\n"
    "#define print_item(t) show(\"item\", t)\n\n"
    "static void end(tc_ctx *tc) {\n"
    "    tc_status s = tc_trace_end(tc);\n"
    "    if (s) printf(\"tc_trace_end: %s: %s\\n\", tc_status_name(s), tc_error_text(tc));\n"
    "    tc_error_clear(tc);\n}\n\n";

static const char reproducer_main[] =
    "// The first line that differs, and the last name before it.\n"
    "static int differ(int k) {\n"
    "    char *a = seen[0], *b = seen[1], *name = a;\n"
    "    while (a && b && (*a || *b)) {\n"
    "        size_t n = strcspn(a, \"\\n\"), m = strcspn(b, \"\\n\");\n"
    "        if (*a != ' ') name = a;\n"
    "        if (n != m || memcmp(a, b, n)) {\n"
    "            printf(\"run %d, %.*s eager%.*s, region%.*s\\n\", k, (int)strcspn(name, "
    "\"\\n\"), name,\n                   (int)n, a, (int)m, b);\n"
    "            return 1;\n        }\n"
    "        a += n + (a[n] == '\\n'), b += m + (b[m] == '\\n');\n    }\n    return 0;\n}\n\n"
    "static tc_status forward(void *user, void *state, const tc_graph_run *run) {\n"
    "    (void)user, (void)state;\n    return tc_graph_forward(run);\n}\n\n"
    "int main(void) {\n"
    "    tc_backend null = {\"null\", NULL, NULL, NULL, forward, NULL};\n"
    "    tc_config config = tc_config_default();\n    int wrong = 0;\n"
    "    config.backend = \"aot_eager\", config.threads = 1, config.no_disk_cache = 1;\n"
    "    tc_ctx *eager = tc_open(&config);\n"
    "    config.backend = BACKEND, config.threads = THREADS, config.no_fusion = NO_FUSION;\n"
    "    config.passes_off = PASSES_OFF;\n"
    "    tc_ctx *tc = tc_open(&config);\n    tc_register_backend(tc, &null);\n"
    "    if (FORCED) tc_set_stance(tc, TC_STANCE_FORCE_EAGER);\n"
    "    fuzz_register(eager), fuzz_register(tc);\n"
    "    for (int k = 0; k < 3 && !wrong; k++) {\n"
    "        side = 0, program(eager, k, EITHER_SIDE);\n"
    "        side = 1, program(tc, k, 1);\n"
    "        wrong = differ(k);\n"
    "        free(seen[0]), free(seen[1]), seen[0] = seen[1] = NULL;\n    }\n"
    "#ifdef EXPLAIN\n    puts(tc_explain(tc));\n#endif\n"
    "    tc_close(eager), tc_close(tc);\n"
    "    puts(wrong ? \"differs\" : \"same\");\n    return wrong;\n}\n";

// The body is printed while it runs, so that a crash loses nothing but what would follow it.
static void write_body(const program *p, const char *path) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FILE *f = fopen(path, "a");
        graph *g = (graph *)calloc(1, sizeof *g);
        if (!f || !g) _exit(1);
        setvbuf(f, NULL, _IONBF, 0);
        elaborate(g, p, context(EAGER), f);
        for (int i = 0; i < g->n_values; i++)
            if (is_read(g, i)) fprintf(f, "    show(\"v%d\", v%d);\n", i, i);
        for (int i = 0; i < p->n_inputs && derives(g); i++)
            if (category(p->input[i].dtype) == 2)
                fprintf(f, "    if (region) show(\"gradient of v%d\", tc_grad_of(v%d));\n",
                        i, i);
        for (int i = 0; i < g->n_values; i++)
            if (g->v[i].kept) fprintf(f, "    if (region) tc_free(v%d);\n", i);
        fclose(f);
        _exit(0);
    }
    wait_for(child, 20);
}

static const char *out_folder = "build";

static void write_reproducer(const program *p, const verdict *v, char path[300]) {
    snprintf(path, 300, "%s/fuzz_%llu.c", out_folder, (unsigned long long)p->seed);
    FILE *f = fopen(path, "w");
    if (!f) return;
    fprintf(f, "// Found by tests/fuzz. %s\n", v->text);
    fprintf(f, "//     cc -g -I. %s -o repro -lpthread -ldl && ./repro\n", path);
    fprintf(f, "#define TCOMPILE_IMPLEMENTATION\n#include \"tcompile.h\"\n%s",
            reproducer_head);
    print_ops(f);
    fprintf(f, "#ifndef BACKEND\n#    define BACKEND \"%s\"\n#    define THREADS %d\n",
            variants[v->variant].backend, variants[v->variant].threads);
    fprintf(f, "#    define NO_FUSION %d\n#    define PASSES_OFF \"%s\"\n",
            variants[v->variant].no_fusion, variants[v->variant].passes_off);
    fprintf(f, "#    define BUDGET %d\n", budget_of(p->seed, v->variant));
    fprintf(f, "#    define FORCED %d\n", v->variant == FORCED);
    if (v->variant == COMPILED_FAST) fputs("#    define FAST // last bits may differ\n", f);
    fprintf(f, "#    define KEEP %d\n#endif\n\n", variants[v->variant].keep);
    // Eager code has no gradients: a region of the interpreter is held against the other then.
    fprintf(f, "enum { EITHER_SIDE = %d };\n\n", p->derives);
    if (variants[v->variant].checkpoint || variants[v->variant].breaks)
        fprintf(f, "// The calls were run in pieces: see `piece` in tests/fuzz/fuzz.c.\n");
    for (int i = 0; i < p->n_inputs; i++) write_data(f, p, i);
    fprintf(f,
            "\nstatic void program(tc_ctx *tc, int k, int region) {\n"
            "    tc_scope_begin(tc);\n    tc_manual_seed(tc, %llullu);\n",
            (unsigned long long)p->seed);
    fclose(f);
    write_body(p, path);
    f = fopen(path, "a");
    if (!f) return;
    fprintf(f, "    tc_scope_end(tc);\n}\n\n%s", reproducer_main);
    fclose(f);
}

// The calls of every set of sizes, one after the other: not a program, but what to write one from.
static void write_family(const program *p, const verdict *v, char path[300]) {
    static program q;
    snprintf(path, 300, "%s/fuzz_%llu_sizes.txt", out_folder, (unsigned long long)p->seed);
    FILE *f = fopen(path, "w");
    if (!f) return;
    fprintf(f, "%s\n", v->text);
    fclose(f);
    for (int i = 0; i < SETS; i++) {
        f = fopen(path, "a");
        fprintf(f, "\n// sizes %d\n", i);
        fclose(f);
        resize_program(&q, p, i);
        write_body(&q, path);
    }
}

// ---- the run ----
typedef struct options {
    double seconds;
    uint64_t seed, graphs, from, step, least;
    int cpu, fast, failures;
} options;

static int is_compiled(uint64_t k, int cpu) { return (int)(mix(k) % 100) < cpu; }
static int is_compiled_fast(uint64_t k, int fast) {
    return !ON_DEVICE_ONLY && (int)(mix(k ^ 0xfa57) % 100) < fast;
}

enum { DRAWN_VARIANTS = 3 };

// Those that a program runs in. With gradients the plain one and some that are drawn: in the time of all of them twice as many
// programs run, and faults of one variant are found as soon.
static uint32_t variants_of(uint64_t seed) {
    uint32_t all = USE_INTERP | USE_DERIVED, mask = 1 << INTERP;
    rng gen = {mix(seed ^ 0x76617269616e7473u)};
    if (!ALL_DERIVE) return all;
    all &= ~(mask | 1u << FORWARDED);
    for (int n = 0; n < DRAWN_VARIANTS;) {
        uint32_t v = 1u << below(&gen, VARIANTS);
        n += (all & v) != 0;
        mask |= all & v, all &= ~v;
    }
    return mask;
}

static void count_calls(const graph *g) {
    state->calls += (uint64_t)g->n_calls, state->refused += (uint64_t)g->refused;
    if (g->refused) memcpy(state->refusal, g->refusal, sizeof g->refusal);
    state->values += (uint64_t)g->n_values;
}

// Programs that wait to be compiled together: one unit of the compiler for all their kernels.
typedef struct waiting {
    program p[MAX_BATCH];
    int n, fast;
} waiting;

static void check_compiled(waiting *w) {
    graph *g[MAX_BATCH];
    uint32_t mask = 1 << INTERP | (state->compiled % 2 ? USE_CPU_AGAIN : USE_CPU);
    if (w->fast) mask = 1 << INTERP | USE_FAST;
    if (!w->n) return;
    for (int i = 0; i < w->n; i++) {
        g[i] = (graph *)calloc(1, sizeof *g[i]);
        elaborate(g[i], &w->p[i], context(EAGER), NULL);
    }
    state->is_fast = w->fast;
    check(g, w->n, ON_DEVICE_ONLY ? USE_DEVICE : mask, &state->verdict);
    *(w->fast ? &state->fast : &state->compiled) += (uint64_t)w->n;
    if (state->verdict.failed) {
        state->seed = g[state->verdict.which]->p->seed;
        _exit(WRONG);
    }
    for (int i = 0; i < w->n; i++) graph_free(g[i]), free(g[i]);
    w->n = state->is_fast = 0;
}

static void wait_compiled(waiting *w, const program *p) {
    w->p[w->n++] = *p;
    if (w->n == MAX_BATCH) check_compiled(w);
}

// With several sizes, in the variants of the mask.
static void check_sizes(const program *p, uint32_t mask) {
    state->family = 1, state->is_fast = (mask & USE_FAST) != 0;
    check_family(p, mask, &state->verdict);
    if (state->verdict.failed) _exit(WRONG);
    state->family = state->is_fast = 0;
}

static void check_families(const program *p, const options *o, uint64_t k) {
    uint32_t mask = USE_FAMILY | 1 << INTERP | 1 << UNPASSED | 1 << FORWARDED | 1 << FORCED;
    if (k % 32 == 0) mask |= USE_DERIVED;
    if ((int)(mix(k ^ 0x5157) % 1000) < o->cpu * 2)
        mask |= state->graphs % 2 ? USE_CPU : USE_CPU_AGAIN;
    if (ON_DEVICE_ONLY) mask = USE_FAMILY | USE_DEVICE;
    if (k % (ON_DEVICE_ONLY || ALL_DERIVE ? 16 : 4) == 0) check_sizes(p, mask);
    if (is_compiled_fast(k, o->fast) && mix(k ^ 0x5158) % 8 == 0)
        check_sizes(p, USE_FAMILY | 1 << INTERP | USE_FAST);
}

// Programs first, first + step, ... until the time is over; ends WRONG at the first failure.
static void worker(const options *o, uint64_t first, uint64_t step, double end) {
    static waiting strict, fast;
    static program p;
    fast.fast = 1;
    for (uint64_t k = first, n = 0; k < o->graphs && test_clock() < end; k += step, n++) {
        graph *g = (graph *)calloc(1, sizeof *g);
        random_program(&p, o->seed * 1000003u + k);
        state->seed = p.seed, state->next = k + step;
        elaborate(g, &p, context(EAGER), NULL);
        if (!ON_DEVICE_ONLY) check(&g, 1, variants_of(p.seed), &state->verdict);
        count_calls(g);
        if (state->verdict.failed) _exit(WRONG);
        check_families(&p, o, k);
        state->graphs++, state->derived += (uint64_t)g->has_gradient;
        graph_free(g), free(g);
        if (ON_DEVICE_ONLY || is_compiled(k, o->cpu)) wait_compiled(&strict, &p);
        if (is_compiled_fast(k, o->fast)) wait_compiled(&fast, &p);
        if (n % 64 == 63 && close_contexts()) {
            snprintf(state->verdict.text, sizeof state->verdict.text, "memory leaked");
            _exit(WRONG);
        }
    }
    check_compiled(&strict), check_compiled(&fast);
    close_contexts();
    _exit(FINE);
}

static void report(uint64_t seed, int how) {
    program p;
    char path[300] = "", before[1200];
    random_program(&p, seed);
    memcpy(before, state->verdict.text, sizeof before);
    uint32_t family = state->family ? USE_FAMILY : 0, mask = ON_DEVICE_ONLY ? USE_DEVICE
                                                             : state->is_fast
                                                                 ? 1 << INTERP | USE_FAST
                                                                 : USE_INTERP | USE_DERIVED;
    int r = fails(&p, mask |= family);
    if (r == FINE && !ON_DEVICE_ONLY) r = fails(&p, mask = USE_ALL_CPU | family);
    if (r == FINE) {
        printf("seed %llu: %s%s; not by itself, only after others or in a batch\n",
               (unsigned long long)seed, how > 256 ? strsignal(how - 256) : "",
               how > 256 ? "" : before);
        return;
    }
    shrink(&p, mask);
    r = fails(&p, mask);
    if (r > 256)
        snprintf(state->verdict.text, sizeof state->verdict.text, "killed by %s",
                 strsignal(r - 256));
    if (family)
        write_family(&p, &state->verdict, path);
    else
        write_reproducer(&p, &state->verdict, path);
    int live = 0;
    for (int i = 0; i < p.n; i++) live += p.ins[i].live;
    printf("seed %llu: %s\n    %d instructions: %s\n", (unsigned long long)seed,
           state->verdict.text, live, path);
    fflush(stdout);
}

static int fuzz(const options *o) {
    double end = test_clock() + o->seconds;
    uint64_t next = o->from;
    int failures = 0;
    while (test_clock() < end && next < o->graphs && failures < o->failures) {
        memset(&state->verdict, 0, sizeof state->verdict);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) worker(o, next, o->step, end);
        int how = wait_for(child, end - test_clock() + 60);
        if (how == FINE) break;
        failures++;
        report(state->seed, how);
        next = state->next;
    }
    printf(
        "%llu graphs (%llu with gradients, %llu also compiled, %llu for fast numerics), %.1f calls each, %llu "
        "refused%s%s\n",
        (unsigned long long)state->graphs, (unsigned long long)state->derived,
        (unsigned long long)state->compiled, (unsigned long long)state->fast,
        state->graphs ? (double)state->calls / (double)state->graphs : 0.0,
        (unsigned long long)state->refused, state->refused ? "; the last: " : "",
        state->refused ? state->refusal : "");
    printf("%llu programs in variants, three times each\n",
           (unsigned long long)state->runs);
    printf("with %d sets of sizes, %d visits: %.2f programs each\n", SETS, ROUNDS,
           state->families ? (double)state->family_programs / (double)state->families
                           : 0.0);
    printf("%llu programs under budgets, %llu take less memory\n",
           (unsigned long long)state->budgets, (unsigned long long)state->less);
    uint64_t counted = ALL_DERIVE ? state->derived : state->graphs;
    if (counted < o->least) {
        printf("fewer than %llu%s\n", (unsigned long long)o->least,
               ALL_DERIVE ? " with gradients" : "");
        failures++;
    }
    printf("%llu passed, %d failed\n", (unsigned long long)state->graphs, failures);
    return failures != 0;
}

static int only(uint64_t seed) {
    program p;
    random_program(&p, seed);
    graph *g = (graph *)calloc(1, sizeof *g);
    printf("void program(tc_ctx *tc, int k, int region) {\n");
    fflush(stdout);
    elaborate(g, &p, context(EAGER), stdout);
    printf("}\n");
    graph_free(g);
    free(g);
    check_program(
        &p, ON_DEVICE_ONLY ? USE_DEVICE : USE_INTERP | USE_DERIVED | USE_ALL_CPU | USE_FAST,
        &state->verdict);
    int failed = state->verdict.failed;
    printf("%s\n", state->verdict.text);
    if (close_contexts()) failed = 1;
    if (!failed) {
        state->family = 1;
        check_family(&p,
                     USE_FAMILY |
                         (ON_DEVICE_ONLY ? USE_DEVICE
                                         : USE_INTERP | USE_DERIVED | USE_CPU | USE_FAST),
                     &state->verdict);
        failed = state->verdict.failed;
        printf("%s\n", state->verdict.text);
        close_contexts();
    }
    state->is_fast = state->verdict.variant == COMPILED_FAST;
    if (state->verdict.failed) report(seed, 0);
    printf("%d passed, %d failed\n", !failed, failed);
    return failed;
}

static void open_state(void) {
    void *at = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                    -1, 0);
    if (at == MAP_FAILED) abort();
    state = (shared *)at;
}

// What the arguments ask for; *one: the seed of a single program, else 0.
static options read_options(int count, char **args, uint64_t *one) {
    options o = {5, 1, UINT64_MAX, 0, 1, 0, 25, 5, 5};
    int plain = 0;
    *one = 0;
    for (int i = 1; i < count; i++) {
        const char *a = args[i], *b = i + 1 < count ? args[i + 1] : "0";
        if (!strcmp(a, "--graphs"))
            o.graphs = strtoull(b, NULL, 10), o.seconds = 1e6, i++;
        else if (!strcmp(a, "--least"))
            o.least = strtoull(b, NULL, 10), i++;
        else if (!strcmp(a, "--from"))
            o.from = strtoull(b, NULL, 10), i++;
        else if (!strcmp(a, "--cpu"))
            o.cpu = atoi(b), i++;
        else if (!strcmp(a, "--fast"))
            o.fast = atoi(b), i++;
        else if (!strcmp(a, "--failures"))
            o.failures = atoi(b), i++;
        else if (!strcmp(a, "--only"))
            *one = strtoull(b, NULL, 10), i++;
        else if (!strcmp(a, "--out"))
            out_folder = b, i++;
        else if (a[0] != '-' && plain++ == 0)
            o.seconds = atof(a);
        else if (a[0] != '-')
            o.seed = strtoull(a, NULL, 10);
    }
    return o;
}

#ifndef FUZZ_DEVICE
int main(int count, char **args) {
    uint64_t one;
    options o = read_options(count, args, &one);
    open_state();
    return one ? only(one) : fuzz(&o);
}
#endif
