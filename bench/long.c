// What does a long program cost? Its first visit with nothing on disk, and a visit later. Rows:
//     sines          one expression of 50, with a bar in seconds, and of more
//     all kinds      a chain of ops of every kind; against the same ops run eagerly
//     LSTM           unrolled, an input of its own in every step
//     each           cost of one op of 16,000 against that of one of 1,000
// `long NAME COUNT` runs one row alone, with the times of its stages.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

#include <unistd.h>

typedef struct inputs {
    tc_ctx *tc;
    tc_tensor x, y, seq, wx, wh, bias;
} inputs;

enum { ROWS = 64, COLUMNS = 512, BATCH = 8, WIDE = 32, STEPS_MOST = 256 };

typedef tc_tensor (*recipe)(const inputs *in, int count);

static tc_tensor sines(const inputs *in, int count) {
    tc_tensor x = in->x;
    for (int i = 0; i < count; i++) x = tc_sin(x);
    return x;
}

static tc_tensor fmas(const inputs *in, int count) {
    tc_tensor x = in->x;
    for (int i = 0; i < count; i++) x = i % 2 ? tc_add_s(x, 0.25 + i) : tc_mul(x, in->y);
    return x;
}

// Every 20 ops: arithmetic, math, movement, a stencil's neighbours, a softmax's reductions.
static tc_tensor kinds(const inputs *in, int count) {
    tc_tensor x = in->x;
    for (int i = 0; i < count; i++) {
        switch (i % 20) {
        case 0: x = tc_add(x, in->y); break;
        case 1: x = tc_mul_s(x, 0.5 + i / 4096.0); break;
        case 2: x = tc_tanh(x); break;
        case 3: x = tc_sub(x, tc_mean_dims(x, TC_DIMS(1), TC_KEEPDIM)); break;
        case 4: x = tc_maximum(x, in->y); break;
        case 5: x = tc_sin(x); break;
        case 6: x = tc_roll(x, 1, 1); break;
        case 7: x = tc_square(x); break;
        case 8: x = tc_sqrt(x); break;
        case 9: x = tc_where(tc_gt_s(x, 0.5), x, in->y); break;
        case 10: x = tc_neg(x); break;
        case 11: x = tc_exp(x); break;
        case 12: x = tc_log1p(x); break;
        case 13: x = tc_flip(x, TC_DIMS(1)); break;
        case 14: x = tc_sigmoid(x); break;
        case 15: x = tc_div(x, tc_sum_dims(x, TC_DIMS(1), TC_KEEPDIM)); break;
        case 16: x = tc_minimum(x, in->y); break;
        case 17: x = tc_abs(x); break;
        case 18: x = tc_cos(x); break;
        case 19: x = tc_add_s(x, 0.25); break;
        }
    }
    return x;
}

static tc_tensor lstm(const inputs *in, int count) {
    tc_tensor h = tc_zeros(in->tc, TC_DIMS(BATCH, WIDE), TC_F32), c = h;
    for (int i = 0; i < count; i++) {
        tc_tensor x = tc_select(in->seq, 0, i);
        tc_tensor g = tc_add(tc_add(tc_matmul(x, in->wx), tc_matmul(h, in->wh)), in->bias);
        tc_tensor input = tc_sigmoid(tc_narrow(g, 1, 0, WIDE));
        tc_tensor forget = tc_sigmoid(tc_narrow(g, 1, WIDE, WIDE));
        tc_tensor cell = tc_tanh(tc_narrow(g, 1, 2 * WIDE, WIDE));
        tc_tensor output = tc_sigmoid(tc_narrow(g, 1, 3 * WIDE, WIDE));
        c = tc_add(tc_mul(forget, c), tc_mul(input, cell));
        h = tc_mul(output, tc_tanh(c));
    }
    return h;
}

// Two iterations x = f(x) side by side, each of which has a stencil.
static tc_tensor two_chains(const inputs *in, int count) {
    tc_tensor x = in->x, y = in->y;
    for (int i = 0; i < count; i++) {
        x = tc_mul_s(tc_add(tc_sin(x), tc_roll(x, 1, 1)), 0.5);
        y = tc_mul_s(tc_add(tc_cos(y), tc_roll(y, 1, 1)), 0.5);
    }
    tc_keep(x);
    return y;
}

// Nothing is fused: each op is a kernel, and its result a temporary.
static tc_tensor scans(const inputs *in, int count) {
    tc_tensor x = in->wx;
    for (int i = 0; i < count; i++) x = tc_cumsum(x, i % 2);
    return x;
}

static const struct row {
    const char *name;
    recipe f;
} recipes[] = {
    {"sines", sines}, {"fmas", fmas},         {"kinds", kinds},
    {"lstm", lstm},   {"chains", two_chains}, {"scans", scans},
};

static inputs open_inputs(const char *cache) {
    inputs in;
    tc_config config = tc_config_default();
    config.threads = 2, config.cache_dir = cache;
    in.tc = tc_open(&config);
    bench_check(in.tc);
    in.x = bench_randn(in.tc, TC_DIMS(ROWS, COLUMNS), 1);
    in.y = bench_randn(in.tc, TC_DIMS(ROWS, COLUMNS), 2);
    in.seq = bench_randn(in.tc, TC_DIMS(STEPS_MOST, BATCH, WIDE), 3);
    in.wx = bench_randn(in.tc, TC_DIMS(WIDE, 4 * WIDE), 4);
    in.wh = bench_randn(in.tc, TC_DIMS(WIDE, 4 * WIDE), 5);
    in.bias = bench_randn(in.tc, TC_DIMS(4 * WIDE), 6);
    return in;
}

typedef struct sample {
    double first, later, eager; // ns
    tc_stats stats;
    int kernels;
} sample;

static double visit(const inputs *in, recipe f, int count) {
    double start = bench_ns();
    tc_trace_begin(in->tc, "long");
    tc_keep(f(in, count));
    tc_trace_end(in->tc);
    double took = bench_ns() - start;
    bench_check(in->tc);
    return took;
}

static double by_eager_ops(const inputs *in, recipe f, int count) {
    tc_scope_begin(in->tc);
    double start = bench_ns();
    f(in, count);
    double took = bench_ns() - start;
    tc_scope_end(in->tc);
    return took;
}

enum { TURNS = 21 };

static sample measure(recipe f, int count, int eagerly) {
    double later[TURNS], eager[TURNS];
    char folder[] = "/tmp/bench-long-XXXXXX", command[64];
    sample s;
    memset(&s, 0, sizeof s);
    if (!mkdtemp(folder)) exit(2);
    inputs in = open_inputs(folder);
    s.first = visit(&in, f, count);
    s.stats = tc_stats_get(in.tc);
    s.kernels = tc_explain_counts(in.tc, "long").kernels;
    for (int i = 0; i < TURNS; i++) {
        later[i] = visit(&in, f, count);
        eager[i] = eagerly ? by_eager_ops(&in, f, count) : 0;
    }
    s.later = bench_median(later, TURNS), s.eager = bench_median(eager, TURNS);
    tc_close(in.tc);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) fprintf(stderr, "%s: left behind\n", folder);
    return s;
}

static void print_stages(const sample *s) {
    const tc_stats *t = &s->stats;
    printf("first %.1f ms: record %.1f, passes %.1f, print %.1f, compiler %.1f, load %.1f, "
           "run %.1f; later %.3f ms; %d kernels, %d texts\n",
           s->first / 1e6, (double)t->record_ns / 1e6, (double)t->pass_ns / 1e6,
           (double)t->emit_ns / 1e6, (double)t->cc_ns / 1e6, (double)t->load_ns / 1e6,
           (double)t->run_ns / 1e6, s->later / 1e6, s->kernels, (int)t->kernels_made);
}

static int one(const char *name, int count) {
    for (size_t i = 0; i < sizeof recipes / sizeof *recipes; i++) {
        if (strcmp(recipes[i].name, name)) continue;
        sample s = measure(recipes[i].f, count, 0);
        printf("%s %d: ", name, count);
        print_stages(&s);
        return 0;
    }
    fprintf(stderr, "no row %s\n", name);
    return 2;
}

// A first visit in seconds.
static int seconds(const char *label, recipe f, int count, double bar) {
    sample s = measure(f, count, 0);
    return bench_row(label, s.first, -1, s.first / 1e9, BENCH_AT_MOST, bar);
}

// The first visit of one op of a long program against that of one of a short.
static int growth(const char *label, recipe f, int ops) {
    sample few = measure(f, 1000 / ops, 0), many = measure(f, 16000 / ops, 0);
    return bench_row(label, many.first / 16, few.first, many.first / 16 / few.first,
                     BENCH_AT_MOST, 1.3);
}

int main(int argc, char **argv) {
    int missed = 0;
    if (argc == 3) return one(argv[1], atoi(argv[2]));
    bench_head("first visit", "other", "value");
    missed += seconds("50 sines, s", sines, 50, 0.4);
    missed += seconds("400 multiply-adds, s", fmas, 400, 0.6);
    missed += seconds("1000 ops of all kinds, s", kinds, 1000, 2);
    missed += seconds("10000 ops of all kinds, s", kinds, 10000, 15);
    missed += seconds("LSTM of 200 steps, s", lstm, 200, 1.5);
    sample s = measure(kinds, 1000, 1);
    missed += bench_row("1000 ops: a visit against eager", s.later, s.eager,
                        s.eager / s.later, BENCH_AT_LEAST, 4);
    missed += growth("16000 ops against 1000, each", kinds, 1);
    missed += growth("  the same, of equal steps", two_chains, 6);
    missed += growth("  the same, of scans", scans, 1);
    return bench_status(missed);
}
