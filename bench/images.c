// What do images of many sizes cost? Convolutions and pooling in a program whose heights and widths, or batch as well, are
// known at run time only, against the same compiled for the sizes at hand. `images TEXT`: rows whose names have it.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

typedef enum what { CONVOLVE, TRANSPOSE, MAX_POOL, AVG_POOL, GRADIENTS } what;

// x [batch, channels, side, side]; filters [filters, channels / groups, size, size], or [channels, filters, ...].
static const struct {
    what what;
    int batch, channels, side, filters, size, stride, pad, groups;
} rows[] = {
    {CONVOLVE, 1, 64, 56, 64, 3, 1, 1, 1},     {CONVOLVE, 1, 256, 28, 256, 3, 1, 1, 1},
    {CONVOLVE, 1, 3, 224, 64, 7, 2, 3, 1},     {CONVOLVE, 1, 256, 28, 64, 1, 1, 0, 1},
    {CONVOLVE, 1, 128, 56, 128, 3, 1, 1, 128}, {CONVOLVE, 1, 50, 56, 70, 3, 1, 1, 1},
    {CONVOLVE, 8, 64, 56, 64, 3, 1, 1, 1},     {CONVOLVE, 8, 64, 56, 128, 3, 2, 1, 1},
    {CONVOLVE, 1, 512, 7, 512, 3, 1, 1, 1},    {TRANSPOSE, 1, 128, 28, 64, 4, 2, 1, 1},
    {TRANSPOSE, 1, 128, 28, 64, 3, 2, 1, 1},   {TRANSPOSE, 1, 128, 28, 64, 2, 2, 0, 1},
    {MAX_POOL, 8, 64, 112, 0, 3, 2, 1, 1},     {AVG_POOL, 8, 64, 56, 0, 2, 2, 0, 1},
    {GRADIENTS, 1, 64, 56, 64, 3, 1, 1, 1},    {GRADIENTS, 4, 64, 56, 128, 3, 2, 1, 1},
};

enum { ROWS = sizeof rows / sizeof rows[0], SIDES = 3 };

static tc_tensor forward(const tc_tensor *in, int i) {
    int stride = rows[i].stride, pad = rows[i].pad;
    switch (rows[i].what) {
    case TRANSPOSE:
        return tc_conv_transpose2d(in[0], in[1], tc_null(), stride, pad, 0, 1, 1);
    case MAX_POOL: return tc_max_pool2d(in[0], rows[i].size, stride, pad);
    case AVG_POOL: return tc_avg_pool2d(in[0], rows[i].size, stride, pad);
    case CONVOLVE:
    case GRADIENTS: break;
    }
    return tc_conv2d(in[0], in[1], tc_null(), stride, pad, 1, rows[i].groups);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int i = *(const int *)user;
    (void)tc;
    tc_tensor y = forward(in, i);
    if (rows[i].what == GRADIENTS)
        tc_grad(tc_sum_all(tc_mul(y, y)), in, 2, out);
    else
        out[0] = y;
}

typedef struct image {
    tc_fn *f;
    tc_tensor in[2], to[2];
    int inputs, outputs;
} image;

static void run(void *user) {
    image *s = (image *)user;
    tc_call_into(s->f, s->in, s->inputs, s->to, s->outputs);
}

static const char *const names[] = {"", "transposed ", "max pool ", "average ",
                                    "gradients "};

// Where results go.
static void image_results(tc_ctx *tc, image *s, int i) {
    tc_dims d = TC_DIMS(tc_dim(s->in[0], 0), rows[i].filters);
    d.rank = 4;
    if (!rows[i].filters) d.size[1] = rows[i].channels;
    for (int k = 2; k < 4; k++) {
        int64_t n = tc_dim(s->in[0], k);
        d.size[k] = rows[i].what == TRANSPOSE
                        ? (n - 1) * rows[i].stride - 2 * rows[i].pad + rows[i].size
                        : (n + 2 * rows[i].pad - rows[i].size) / rows[i].stride + 1;
    }
    if (rows[i].what == GRADIENTS)
        for (int k = 0; k < 2; k++) s->to[k] = tc_zeros_like(s->in[k]);
    else
        s->to[0] = tc_zeros(tc, d, TC_F32);
}

// Row i compiled for its sizes (side 0), for any height and width (1), and any batch (2).
static image image_open(tc_ctx *tc, int i, int side) {
    static const int more[][2] = {{0, 0}, {4, 2}, {9, 0}, {3, 7}};
    image s;
    tc_options o = tc_options_default();
    memset(&s, 0, sizeof s);
    if (!side) o.dynamic = TC_DYNAMIC_OFF;
    s.f = tc_compile(tc, body, &i, sizeof i, &o);
    s.inputs = rows[i].filters ? 2 : 1, s.outputs = rows[i].what == GRADIENTS ? 2 : 1;
    int pair = rows[i].what == TRANSPOSE, size = rows[i].size;
    s.in[1] = bench_randn(
        tc,
        TC_DIMS(pair ? rows[i].channels : rows[i].filters,
                pair ? rows[i].filters : rows[i].channels / rows[i].groups, size, size),
        2);
    for (int k = side ? 3 : 0; k >= 0; k--) {
        tc_dims d = TC_DIMS(rows[i].batch + (side == 2 ? k : 0), rows[i].channels,
                            rows[i].side + more[k][0], rows[i].side + more[k][1]);
        s.in[0] = bench_randn(tc, d, 1);
        image_results(tc, &s, i);
        for (int n = 0; n < 3; n++) run(&s);
        bench_check(tc);
    }
    return s;
}

int main(int argc, char **argv) {
    tc_ctx *tc = bench_open(2);
    int missed = 0;
    bench_head("run time", "fixed", "ratio");
    for (int i = 0; i < ROWS; i++) {
        image s[SIDES];
        bench_side side[SIDES];
        char name[2][80];
        for (int k = 1; k < SIDES; k++)
            snprintf(name[k - 1], sizeof name[0], "%s%d %dx%dx%dx%d by %dx%d%s%s",
                     names[rows[i].what], rows[i].filters, rows[i].batch, rows[i].channels,
                     rows[i].side, rows[i].side, rows[i].size, rows[i].size,
                     rows[i].stride > 1 ? " /2" : "", k == 2 ? ", any batch" : "");
        if (argc > 1 && !strstr(name[1], argv[1])) continue;
        int sides = rows[i].batch > 1 ? SIDES : 2; // one image has a program of its own
        for (int k = 0; k < sides; k++) {
            s[k] = image_open(tc, i, k);
            side[k].run = run, side[k].user = &s[k];
        }
        bench_interleave(side, sides, BENCH_ROUNDS);
        bench_check(tc);
        for (int k = 1; k < sides; k++)
            missed +=
                bench_row(name[k - 1], side[k].ns, side[0].ns, side[k].ns / side[0].ns,
                          BENCH_AT_MOST, rows[i].what == GRADIENTS ? 2 : 1.3);
    }
    tc_close(tc);
    return bench_status(missed);
}
