// What does it cost to record a region that is known? Time and instructions per op, call
// sites on, between tc_trace_begin and tc_trace_end; and the rest of a visit, one small
// kernel and all.
//
// Instructions are counted by valgrind's callgrind, which this program runs on itself;
// without valgrind that column is left out.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { ROUNDS = 31, REPEAT = 8 };

typedef struct kind {
    const char *name;
    tc_tensor (*record)(tc_tensor a, tc_tensor b); // records `ops` ops
    int ops;
    double most; // instructions per op; 0 = no bar
} kind;

static tc_tensor binary(tc_tensor a, tc_tensor b) {
    for (int i = 0; i < REPEAT; i++) {
        tc_tensor c = tc_add(a, b), d = tc_mul(c, b);
        a = tc_sub(tc_maximum(c, d), tc_minimum(b, d));
    }
    return a;
}

static tc_tensor scalars(tc_tensor a, tc_tensor b) {
    for (int i = 0; i < REPEAT; i++)
        b = tc_sub_s(tc_mul_s(tc_add_s(tc_mul_s(b, 0.5), 1), 2), 3);
    return tc_add(a, b);
}

static tc_tensor unary(tc_tensor a, tc_tensor b) {
    for (int i = 0; i < REPEAT; i++) b = tc_tanh(tc_exp(tc_neg(tc_abs(b))));
    return tc_add(a, b);
}

static tc_tensor broadcast(tc_tensor a, tc_tensor b) {
    for (int i = 0; i < REPEAT; i++) a = tc_sub(a, tc_amax_dims(b, TC_DIMS(1), TC_KEEPDIM));
    return a;
}

static tc_tensor softmax(tc_tensor a, tc_tensor b) {
    for (int i = 0; i < REPEAT; i++) a = tc_softmax(a, -1);
    return tc_add(a, b);
}

static tc_tensor nothing(tc_tensor a, tc_tensor b) { return tc_add(a, b); }

static const kind kinds[] = {
    {"binary ops", binary, 5 * REPEAT, 80},
    {"ops with a scalar", scalars, 4 * REPEAT + 1, 80},
    {"unary ops", unary, 4 * REPEAT + 1, 80},
    {"amax, sub with broadcasting", broadcast, 2 * REPEAT, 0},
    {"softmax, a composite of 5 or more", softmax, REPEAT, 0},
};

enum { KINDS = sizeof kinds / sizeof kinds[0] };

// Callgrind counts what runs inside this function.
__attribute__((noinline)) static void counted(const kind *k, tc_tensor a, tc_tensor b) {
    k->record(a, b);
    __asm__ volatile("" ::: "memory");
}

typedef struct cost {
    double op_ns, visit_ns; // per op; begin and end
} cost;

// One visit; the clock is read outside the ops.
static cost visit(tc_ctx *tc, const kind *k, tc_tensor a, tc_tensor b) {
    cost c;
    double start = bench_ns();
    tc_trace_begin(tc, k->name);
    double begun = bench_ns();
    k->record(a, b);
    double recorded = bench_ns();
    tc_trace_end(tc);
    c.visit_ns = bench_ns() - recorded + begun - start;
    c.op_ns = (recorded - begun) / k->ops;
    return c;
}

// Medians over rounds of short averages: one visit is too short for the clock.
static cost measure(tc_ctx *tc, const kind *k, tc_tensor a, tc_tensor b) {
    static double op[ROUNDS], rest[ROUNDS];
    for (int i = 0; i < 100; i++) visit(tc, k, a, b);
    for (int r = 0; r < ROUNDS; r++) {
        op[r] = rest[r] = 0;
        for (int i = 0; i < 200; i++) {
            cost c = visit(tc, k, a, b);
            op[r] += c.op_ns / 200, rest[r] += c.visit_ns / 200;
        }
    }
    cost c = {bench_median(op, ROUNDS), bench_median(rest, ROUNDS)};
    return c;
}

// The child under callgrind: known visits of kind i.
static int count(tc_ctx *tc, const kind *k, tc_tensor a, tc_tensor b) {
    for (int i = 0; i < BENCH_COUNTED + 3; i++) {
        tc_trace_begin(tc, k->name);
        if (i < 3)
            k->record(a, b);
        else
            counted(k, a, b);
        tc_trace_end(tc);
    }
    bench_check(tc);
    return 0;
}

int main(int argc, char **argv) {
    tc_ctx *tc = bench_open(1);
    tc_tensor a = bench_randn(tc, TC_DIMS(4, 8), 1), b = bench_randn(tc, TC_DIMS(4, 8), 2);
    int missed = 0;
    int counted_kind = bench_count_of(argc, argv);
    if (counted_kind >= 0) return count(tc, &kinds[counted_kind], a, b);
    bench_head("per op", "", "instr/op");
    for (int i = 0; i < (int)KINDS; i++) {
        cost c = measure(tc, &kinds[i], a, b);
        double n = bench_instructions("TC_BACKEND=aot_eager ", "counted*", argv[0], i);
        if (n > 0) n /= kinds[i].ops;
        missed += bench_row(kinds[i].name, c.op_ns, -1, n,
                            kinds[i].most > 0 && n >= 0 ? BENCH_AT_MOST : BENCH_NO_BAR,
                            kinds[i].most);
        if (kinds[i].most > 0 && c.op_ns > 20) {
            printf("%-34s more than 20 ns per op  MISSED\n", "");
            missed++;
        }
    }
    const kind one = {"visit of one op", nothing, 1, 0};
    cost c = measure(tc, &one, a, b);
    printf("\n%-34s %9.1f ns  begin, bind, run one kernel of 32 elements, end\n",
           "rest of a visit", c.visit_ns);
    bench_check(tc);
    tc_close(tc);
    return bench_status(missed);
}
