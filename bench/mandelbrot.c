// What does a long iteration cost that a program unrolls? Mandelbrot's: x, y and how often a point stayed
// inside, all under a mask, which is many ops on little memory. Against the same arithmetic written with
// the compiler's vectors, in this file, for the instructions that kernels use. One thread on both sides;
// ratio: our time / theirs.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

enum { ROUNDS = 15, SIDE = 512, POINTS = SIDE * SIDE };

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#    define CLONES                                                                         \
        __attribute__((noinline, optimize("O3", "fp-contract=off"),                        \
                       target_clones("default", "avx2", "avx512f")))
#else
#    define CLONES __attribute__((noinline))
#endif

enum { WIDE = 16 };

typedef float floats __attribute__((vector_size(4 * WIDE)));
typedef int32_t masks __attribute__((vector_size(4 * WIDE)));

typedef struct job {
    tc_ctx *tc;
    tc_tensor cx, cy;
    const char *name;
    int steps;
    float *want;
} job;

static tc_tensor mandelbrot(const job *j) {
    tc_tensor x = j->cx, y = j->cy, count = tc_zeros_like(x);
    for (int i = 0; i < j->steps; i++) {
        tc_tensor xx = tc_square(x), yy = tc_square(y);
        tc_tensor in = tc_lt_s(tc_add(xx, yy), 4);
        count = tc_add(count, tc_cast(in, TC_F32));
        tc_tensor yn = tc_add(tc_mul_s(tc_mul(x, y), 2), j->cy);
        tc_tensor xn = tc_add(tc_sub(xx, yy), j->cx);
        y = tc_where(in, yn, y), x = tc_where(in, xn, x);
    }
    return count;
}

static void ours(void *user) {
    job *j = (job *)user;
    tc_trace_begin(j->tc, j->name);
    mandelbrot(j);
    tc_trace_end(j->tc);
}

CLONES static void by_hand(void *user) {
    job *j = (job *)user;
    const float *cx = (const float *)tc_data(j->cx), *cy = (const float *)tc_data(j->cy);
    int steps = j->steps;
    for (int p = 0; p < POINTS; p += WIDE) {
        floats count = {0}, a, b;
        memcpy(&a, cx + p, sizeof a), memcpy(&b, cy + p, sizeof b);
        floats x = a, y = b;
        for (int i = 0; i < steps; i++) {
            floats xx = x * x, yy = y * y, yn = x * y * 2 + b, xn = xx - yy + a;
            masks in = xx + yy < 4, out = ~in;
            y = (floats)(((masks)yn & in) | ((masks)y & out));
            x = (floats)(((masks)xn & in) | ((masks)x & out));
            count += (floats)((masks)((floats){0} + 1) & in);
        }
        memcpy(j->want + p, &count, sizeof count);
    }
}

static void check(job *j) {
    static float got[POINTS];
    tc_trace_begin(j->tc, j->name);
    tc_tensor count = mandelbrot(j);
    tc_trace_end(j->tc);
    tc_read(count, got, sizeof got);
    bench_check(j->tc);
    for (int p = 0; p < POINTS; p++)
        if (got[p] != j->want[p]) {
            printf("point %d: %g, not %g\n", p, (double)got[p], (double)j->want[p]);
            exit(1);
        }
    tc_free(count);
}

int main(int argc, char **argv) {
    static const int steps[] = {8, 20, 50, 100, 200};
    static const char *names[] = {"8 steps", "20 steps", "50 steps", "100 steps",
                                  "200 steps"};
    job j;
    int missed = 0;
    float *cx = bench_floats(POINTS), *cy = bench_floats(POINTS);
    for (int p = 0; p < POINTS; p++) {
        cx[p] = (float)(p % SIDE) * (3.0f / SIDE) - 2.1f;
        cy[p] = (float)(p / SIDE) * (2.4f / SIDE) - 1.2f;
    }
    j.tc = bench_open(1);
    j.cx = tc_wrap(j.tc, cx, TC_DIMS(SIDE, SIDE), TC_F32);
    j.cy = tc_wrap(j.tc, cy, TC_DIMS(SIDE, SIDE), TC_F32);
    j.want = bench_floats(POINTS);
    bench_head("ours", "by hand", "ratio");
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        j.steps = steps[i], j.name = names[i];
        if (argc > 1 && atoi(argv[1]) != steps[i]) continue;
        bench_side side[2] = {{ours, &j, 0}, {by_hand, &j, 0}};
        bench_interleave(side, 2, ROUNDS);
        check(&j);
        missed += bench_row(j.name, side[0].ns, side[1].ns, side[0].ns / side[1].ns,
                            BENCH_AT_MOST, 1.3);
    }
    tc_close(j.tc);
    return bench_status(missed);
}
