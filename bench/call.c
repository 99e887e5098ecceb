// What does it cost to call a compiled function whose guards hold? Eight rank-4 inputs, one
// result of 16 elements; time and instructions of a call, the kernel itself subtracted.
// And what do run-time sizes cost in a kernel: the same body compiled for its sizes, and with all
// of them known at run time only.
//
// Instructions are counted by valgrind's callgrind, which this program runs on itself;
// without valgrind that column is left out.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { INPUTS = 8, ROUNDS = 31, CALLS = 2000 };

static void many(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor s = in[0];
    for (int i = 1; i < INPUTS; i++) s = tc_add_s(tc_mul(s, in[i]), 1);
    out[0] = s;
}

typedef struct guarded {
    tc_fn *f;
    tc_tensor in[INPUTS], spare[INPUTS], out;
    tc__launch *kernel; // of the program
} guarded;

// Callgrind counts what runs inside these.
__attribute__((noinline)) static void counted_call(guarded *g) {
    tc_call(g->f, g->in, INPUTS, &g->out, 1);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void counted_other(guarded *g) {
    tc_call(g->f, g->in, INPUTS, &g->out, 1);
    __asm__ volatile("" ::: "memory");
}

static void call(guarded *g) {
    counted_call(g);
    tc_free(g->out);
}

// Two sets of tensors in turn: nothing is known of them from the call before.
static void call_other(guarded *g) {
    for (int i = 0; i < INPUTS; i++) {
        tc_tensor t = g->in[i];
        g->in[i] = g->spare[i], g->spare[i] = t;
    }
    counted_other(g);
    tc_free(g->out);
}

__attribute__((noinline)) static void counted_into(guarded *g) {
    tc_call_into(g->f, g->in, INPUTS, &g->out, 1);
    __asm__ volatile("" ::: "memory");
}

__attribute__((noinline)) static void counted_kernel(guarded *g) {
    tc__launch *l = g->kernel;
    if (l->run) l->run(&l->args, 0, l->items, 0);
    __asm__ volatile("" ::: "memory");
}

static const struct {
    const char *counted; // what callgrind counts
    void (*run)(guarded *g);
    const char *name;
} sides[] = {{"counted_call", call, "tc_call"},
             {"counted_other", call_other, "tc_call, other tensors each time"},
             {"counted_into", counted_into, "tc_call_into"},
             {"counted_kernel", counted_kernel, "the kernel"}};

enum { SIDES = sizeof sides / sizeof sides[0] };

static guarded guarded_open(tc_ctx *tc, int side) {
    enum { INTO = 2 };
    guarded g;
    memset(&g, 0, sizeof g);
    g.f = tc_compile(tc, many, NULL, 0, NULL);
    for (int i = 0; i < INPUTS; i++) {
        g.in[i] = bench_randn(tc, TC_DIMS(2, 2, 2, 2), (uint64_t)i + 1);
        g.spare[i] = bench_randn(tc, TC_DIMS(2, 2, 2, 2), (uint64_t)i + 99);
    }
    g.out = tc_zeros(tc, TC_DIMS(2, 2, 2, 2), TC_F32);
    for (int i = 0; i < 200; i++) {
        tc_tensor y;
        if (side == INTO) {
            tc_call_into(g.f, g.in, INPUTS, &g.out, 1);
            continue;
        }
        tc_call(g.f, i % 2 ? g.in : g.spare, INPUTS, &y, 1);
        tc_free(y);
    }
    bench_check(tc);
    g.kernel = &((tc__program *)g.f->entry->leaf->program)->launch.at[0];
    return g;
}

// ---- run-time sizes in kernels ----

static void softmax(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_softmax(in[0], -1);
}

static void layer_norm(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_layer_norm(in[0], tc_null(), tc_null(), 1e-5);
}

static void chain(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor x = in[0];
    for (int i = 0; i < 4; i++) x = tc_relu(tc_add_s(tc_mul_s(tc_tanh(x), 1.5), 0.25));
    out[0] = x;
}

typedef struct sized {
    tc_fn *f;
    tc_tensor x, to;
} sized;

static void run_sized(void *user) {
    sized *s = (sized *)user;
    tc_call_into(s->f, &s->x, 1, &s->to, 1);
}

static int dynamic_rows(tc_ctx *tc) {
    static const struct {
        const char *name;
        tc_body body;
    } rows[] = {{"softmax 2048x1024", softmax},
                {"layer_norm 2048x1024", layer_norm},
                {"chain 2048x1024", chain}};
    int missed = 0;
    tc_tensor x = bench_randn(tc, TC_DIMS(2048, 1024), 7),
              to = tc_zeros(tc, TC_DIMS(2048, 1024), TC_F32);
    bench_head("run time", "fixed", "ratio");
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        sized s[2];
        bench_side side[2];
        for (int k = 0; k < 2; k++) {
            tc_options o = tc_options_default();
            o.dynamic = k ? TC_DYNAMIC_OFF : TC_DYNAMIC_ON;
            s[k].f = tc_compile(tc, rows[i].body, NULL, 0, &o), s[k].x = x, s[k].to = to;
            side[k].run = run_sized, side[k].user = &s[k];
            for (int n = 0; n < 3; n++) run_sized(&s[k]);
        }
        bench_check(tc);
        bench_interleave(side, 2, BENCH_ROUNDS);
        missed += bench_row(rows[i].name, side[0].ns, side[1].ns, side[0].ns / side[1].ns,
                            BENCH_AT_MOST, 1.1);
    }
    return missed;
}

int main(int argc, char **argv) {
    tc_ctx *tc = bench_open(1);
    double ns[SIDES][ROUNDS], t[SIDES], n[SIDES];
    int counted = bench_count_of(argc, argv);
    if (counted >= 0) {
        guarded g = guarded_open(tc, counted);
        for (int k = 0; k < BENCH_COUNTED; k++) sides[counted].run(&g);
        bench_check(tc);
        return 0;
    }
    guarded g[SIDES];
    for (int i = 0; i < SIDES; i++) g[i] = guarded_open(tc, i);
    for (int r = 0; r < ROUNDS; r++)
        for (int i = 0; i < SIDES; i++) {
            double start = bench_ns();
            for (int k = 0; k < CALLS; k++) sides[i].run(&g[i]);
            ns[i][r] = (bench_ns() - start) / CALLS;
        }
    bench_check(tc);
    enum { KERNEL = SIDES - 1 };
    for (int i = 0; i < SIDES; i++) t[i] = bench_median(ns[i], ROUNDS);
    for (int i = 0; i < SIDES; i++)
        n[i] = bench_instructions("", sides[i].counted, argv[0], i);
    int missed = 0;
    bench_head("call", "kernel", "less kernel");
    for (int i = 0; i < KERNEL; i++)
        missed +=
            bench_row(sides[i].name, t[i], t[KERNEL], t[i] - t[KERNEL], BENCH_AT_MOST, 100);
    printf("instructions\n");
    for (int i = 0; i < KERNEL && n[0] > 0; i++)
        missed += bench_row(sides[i].name, -1, -1, n[i] - n[KERNEL],
                            i == 1 ? BENCH_NO_BAR : BENCH_AT_MOST, 400);
    missed += dynamic_rows(tc);
    tc_close(tc);
    return bench_status(missed);
}
