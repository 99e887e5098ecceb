// What a turn of a loop makes and stores, by an LSTM and its gradients: of gates for a product, in the kernel of what they share;
// its own row of what stands before the loop; a carry that is stacked, once. Values are held against a formula in double.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <math.h>

enum { T = 5, B = 3, H = 32, GATES = 4 * H };

typedef struct cell {
    double i[T][B][H], f[T][B][H], g[T][B][H], o[T][B][H], c[T + 1][B][H], h[T + 1][B][H];
} cell;

static float x_at(int t, int b, int k) {
    return (float)test_number((unsigned)((t * B + b) * GATES + k), 1);
}

static float w_at(int j, int k) {
    return (float)(test_number((unsigned)(j * GATES + k), 2) / 4);
}

static double sigmoid(double v) { return 1 / (1 + exp(-v)); }

static double gate(const cell *l, int t, int b, int k) {
    double sum = (double)x_at(t, b, k);
    for (int j = 0; j < H; j++) sum += l->h[t][b][j] * (double)w_at(j, k);
    return sum;
}

static void forward(cell *l) {
    memset(l, 0, sizeof *l);
    for (int t = 0; t < T; t++)
        for (int b = 0; b < B; b++)
            for (int k = 0; k < H; k++) {
                double i = l->i[t][b][k] = sigmoid(gate(l, t, b, k));
                double f = l->f[t][b][k] = sigmoid(gate(l, t, b, H + k));
                double g = l->g[t][b][k] = tanh(gate(l, t, b, 2 * H + k));
                double o = l->o[t][b][k] = sigmoid(gate(l, t, b, 3 * H + k));
                double c = l->c[t + 1][b][k] = f * l->c[t][b][k] + i * g;
                l->h[t + 1][b][k] = o * tanh(c);
            }
}

// Of sum(h * h) / 4 over all turns, by the weight.
static void backward(const cell *l, double dw[H][GATES]) {
    static double dh[B][H], dc[B][H], d[B][GATES];
    memset(dh, 0, sizeof dh), memset(dc, 0, sizeof dc);
    memset(dw, 0, sizeof(double[H][GATES]));
    for (int t = T - 1; t >= 0; t--) {
        for (int b = 0; b < B; b++)
            for (int k = 0; k < H; k++) {
                double i = l->i[t][b][k], f = l->f[t][b][k], g = l->g[t][b][k],
                       o = l->o[t][b][k], c = tanh(l->c[t + 1][b][k]),
                       to = dh[b][k] + l->h[t + 1][b][k] / 2,
                       own = dc[b][k] + to * o * (1 - c * c);
                d[b][k] = own * g * i * (1 - i);
                d[b][H + k] = own * l->c[t][b][k] * f * (1 - f);
                d[b][2 * H + k] = own * i * (1 - g * g);
                d[b][3 * H + k] = to * c * o * (1 - o);
                dc[b][k] = own * f;
            }
        for (int b = 0; b < B; b++)
            for (int j = 0; j < H; j++) {
                dh[b][j] = 0;
                for (int k = 0; k < GATES; k++) {
                    dh[b][j] += d[b][k] * (double)w_at(j, k);
                    dw[j][k] += l->h[t][b][j] * d[b][k];
                }
            }
    }
}

static tc_tensor part(tc_tensor a, int number) { return tc_narrow(a, 1, number * H, H); }

static void turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor a = tc_add(tc_matmul(in[0], *(const tc_tensor *)user), in[2]);
    tc_tensor come = tc_mul(tc_sigmoid(part(a, 0)), tc_tanh(part(a, 2)));
    (void)tc;
    out[1] = tc_add(tc_mul(tc_sigmoid(part(a, 1)), in[1]), come);
    out[0] = out[2] = tc_mul(tc_sigmoid(part(a, 3)), tc_tanh(out[1]));
}

typedef struct step {
    tc_tensor w, x, zeros, dw, y;
} step;

static void run_step(tc_ctx *tc, step *s) {
    tc_tensor first[2] = {s->zeros, s->zeros}, last[2];
    tc_trace_begin(tc, "lstm");
    tc_scan(turn, &s->w, first, 2, &s->x, 1, last, &s->y, 1);
    tc_tensor loss = tc_mul_s(tc_sum_all(tc_square(s->y)), 0.25);
    tc_grad(loss, &s->w, 1, &s->dw);
    tc_keep(s->dw), tc_keep(s->y);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

static tc_ctx *open_step(const char *backend, int threads, step *s) {
    static float w[H * GATES], x[T * B * GATES];
    tc_config config = tc_config_default();
    config.backend = backend, config.threads = threads, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    for (int j = 0; j < H; j++)
        for (int k = 0; k < GATES; k++) w[j * GATES + k] = w_at(j, k);
    for (int i = 0; i < T * B; i++)
        for (int k = 0; k < GATES; k++) x[i * GATES + k] = x_at(i / B, i % B, k);
    s->w = tc_from_data(tc, w, TC_DIMS(H, GATES), TC_F32);
    s->x = tc_from_data(tc, x, TC_DIMS(T, B, GATES), TC_F32);
    s->zeros = tc_zeros(tc, TC_DIMS(B, H), TC_F32);
    return tc;
}

static void check_step(const char *backend, int threads, float *dw) {
    static cell l;
    static double want[H][GATES];
    static float y[T * B * H];
    step s;
    tc_ctx *tc = open_step(backend, threads, &s);
    forward(&l), backward(&l, want);
    for (int again = 0; again < 2; again++) {
        run_step(tc, &s);
        CHECK_EQ(tc_read(s.dw, dw, sizeof(float[H * GATES])), TC_OK);
        CHECK_EQ(tc_read(s.y, y, sizeof y), TC_OK);
        for (int i = 0; i < H * GATES; i++)
            CHECK_NEAR(dw[i], want[i / GATES][i % GATES], 1e-5);
        for (int i = 0; i < T * B * H; i++)
            CHECK_NEAR(y[i], l.h[1 + i / (B * H)][i / H % B][i % H], 1e-6);
        tc_free(s.dw), tc_free(s.y);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

TEST(values) {
    static float one[H * GATES], other[H * GATES];
    check_step("aot_eager", 1, one);
    check_step("cpu", 1, other);
    CHECK_BYTES(one, other, sizeof one);
    check_step("cpu", 3, other);
    CHECK_BYTES(one, other, sizeof one);
}

// ---- carries that are stacked, as they are and as they will be ----

enum { INNER = 4, OUTER = 3, N = 3 };

static void count_up(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = out[1] = tc_add(tc_mul_s(in[0], 2), in[1]);
    out[2] = in[0];
}

static void outer_turn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor last, ys[2];
    tc_scan(count_up, NULL, &in[0], 1, (const tc_tensor *)user, 1, &last, ys, 2);
    (void)tc;
    out[0] = tc_cast(tc_sub(tc_sum(ys[0], 0), tc_sum(ys[1], 0)), TC_I32);
    out[1] = out[0], out[2] = in[0], out[3] = last;
}

static void check_nested(const char *backend) {
    int32_t x[INNER * N], now[N], want[3][OUTER][N], got[OUTER][N];
    tc_config config = tc_config_default();
    config.backend = backend, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    for (int i = 0; i < INNER * N; i++) x[i] = i * i - 7;
    for (int k = 0; k < N; k++) now[k] = k + 1;
    tc_tensor xs = tc_from_data(tc, x, TC_DIMS(INNER, N), TC_I32), y[3], last;
    tc_tensor first = tc_from_data(tc, now, TC_DIMS(N), TC_I32);
    tc_tensor turns = tc_arange(tc, 0, OUTER, 1, TC_I32);
    for (int t = 0; t < OUTER; t++)
        for (int k = 0; k < N; k++) {
            int32_t own = now[k], sum = 0;
            for (int i = 0; i < INNER; i++) {
                int32_t next = 2 * own + x[i * N + k];
                sum += next - own, own = next;
            }
            want[0][t][k] = sum, want[1][t][k] = now[k], want[2][t][k] = own, now[k] = sum;
        }
    tc_trace_begin(tc, "nested");
    tc_scan(outer_turn, &xs, &first, 1, &turns, 1, &last, y, 3);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < 3; i++) {
        CHECK_EQ(tc_read(y[i], got, sizeof got), TC_OK);
        CHECK_BYTES(got, want[i], sizeof got);
    }
    CHECK_EQ(tc_read(last, got, sizeof now), TC_OK);
    CHECK_BYTES(got, now, sizeof now);
    tc_close(tc);
}

TEST(rows_of_carries) {
    check_nested("aot_eager"), check_nested("cpu"), check_nested("eager");
}

// ---- kernels and what they store ----

// Kernels in loops, or the results that they have.
static int count_in_loops(const tc__program *p, int results) {
    int count = 0;
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__group *g = p->launch.at[i].group;
        for (size_t b = 0; results && g->target.loop && b < g->buffer.count; b++)
            count += g->buffer.at[b].written;
        count += !results && g->target.loop;
    }
    return count;
}

static const tc__program *last_program(tc_ctx *tc) {
    tc__step *s = tc->recorder.region->root.next;
    while (s->next) s = s->next;
    return (const tc__program *)s->program;
}

TEST(kernels_of_turns) {
    step s;
    tc_ctx *tc = open_step("aot_eager", 1, &s);
    run_step(tc, &s);
    const tc__program *p = last_program(tc);
    // forward a product and the gates, backward what is made of one row, and a product
    CHECK_EQ(count_in_loops(p, 0), 4);
    // 1; 5 saved and 2 carries, which are stacked; the gates' gradient and a carry; a carry
    CHECK_EQ(count_in_loops(p, 1), 1 + 7 + 2 + 1);
    // no multiple of y in memory
    for (size_t i = 0; i < p->launch.count; i++)
        CHECK(p->launch.at[i].group->target.loop ||
              p->launch.at[i].group->shape.kind != TC__POINTWISE ||
              tc__ix_value(p->launch.at[i].group->shape.cols) <= B * H);
    tc_free(s.dw), tc_free(s.y);
    tc_close(tc);
}
