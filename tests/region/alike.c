// Clusters that are alike are lowered once and copied with other buffers (kernel/outline.c). Layers that are equal,
// and layers that only nearly are, each with tensors of its own, against sums in double.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

enum { ROWS = 5, COLS = 24, LAYERS = 4 };

typedef struct layer {
    float gain[COLS], shift[COLS], weight[COLS][COLS];
} layer;

static void layer_fill(layer *l, int seed) {
    for (int i = 0; i < COLS; i++) l->gain[i] = 1 + (float)test_number(i, seed) / 2;
    for (int i = 0; i < COLS; i++) l->shift[i] = (float)test_number(i, seed + 1);
    for (int i = 0; i < COLS * COLS; i++)
        (&l->weight[0][0])[i] = (float)test_number(i, seed + 2) / 4;
}

// x += relu(norm(x) w^T), in double.
static void layer_in_double(const layer *l, double *x) {
    for (double *row = x; row < x + ROWS * COLS; row += COLS) {
        double mean = 0, var = 0, norm[COLS], sum[COLS] = {0};
        for (int c = 0; c < COLS; c++) mean += row[c] / COLS;
        for (int c = 0; c < COLS; c++) var += (row[c] - mean) * (row[c] - mean) / COLS;
        for (int c = 0; c < COLS; c++)
            norm[c] = (row[c] - mean) / sqrt(var + 1e-5) * (double)l->gain[c] +
                      (double)l->shift[c];
        for (int c = 0; c < COLS; c++)
            for (int k = 0; k < COLS; k++) sum[c] += norm[k] * (double)l->weight[c][k];
        for (int c = 0; c < COLS; c++) row[c] += sum[c] > 0 ? sum[c] : 0;
    }
}

typedef struct model {
    tc_tensor gain[LAYERS], shift[LAYERS], weight[LAYERS];
} model;

// The weight of a layer that is `turned` lies in memory by columns.
static void model_open(tc_ctx *tc, model *m, const layer *l, int turned) {
    for (int i = 0; i < LAYERS; i++) {
        float by_columns[COLS][COLS];
        for (int r = 0; r < COLS; r++)
            for (int c = 0; c < COLS; c++) by_columns[c][r] = l[i].weight[r][c];
        m->gain[i] = tc_from_data(tc, l[i].gain, TC_DIMS(COLS), TC_F32);
        m->shift[i] = tc_from_data(tc, l[i].shift, TC_DIMS(COLS), TC_F32);
        m->weight[i] = i == turned
                           ? tc_t(tc_from_data(tc, by_columns, TC_DIMS(COLS, COLS), TC_F32))
                           : tc_from_data(tc, l[i].weight, TC_DIMS(COLS, COLS), TC_F32);
    }
}

static void check_layers(tc_ctx *tc, int turned, int kept) {
    static layer l[LAYERS];
    float x[ROWS * COLS];
    double want[LAYERS + 1][ROWS * COLS];
    model m;
    tc_scope_begin(tc);
    for (int i = 0; i < LAYERS; i++) layer_fill(&l[i], 10 * i + 1);
    for (int i = 0; i < ROWS * COLS; i++)
        want[0][i] = (double)(x[i] = (float)test_number(i, 99));
    model_open(tc, &m, l, turned);
    tc_tensor y = tc_from_data(tc, x, TC_DIMS(ROWS, COLS), TC_F32), after[LAYERS + 1];
    BEGIN("layers");
    for (int i = 0; i < LAYERS; i++) {
        tc_tensor n = tc_layer_norm(y, m.gain[i], m.shift[i], 1e-5);
        y = tc_add(y, tc_relu(tc_linear(n, m.weight[i], tc_null())));
        after[i + 1] = i == kept || i == LAYERS - 1 ? tc_keep(y) : tc_null();
    }
    END();
    for (int i = 1; i <= LAYERS; i++) {
        memcpy(want[i], want[i - 1], sizeof want[i]);
        layer_in_double(&l[i - 1], want[i]);
        for (int k = 0; after[i].id && k < ROWS * COLS; k++)
            CHECK(fabs(AT(after[i], k) - want[i][k]) <= 2e-5 * (1 + fabs(want[i][k])) ||
                  FAIL("layer %d, [%d] is %.9g, not %.9g", i, k, AT(after[i], k),
                       want[i][k]));
    }
    tc_scope_end(tc);
}

BOTH(layers) { check_layers(tc, -1, -1); }
BOTH(one_weight_is_turned) { check_layers(tc, 2, -1); }
BOTH(one_result_is_kept) { check_layers(tc, -1, 1); }

// Rows of tables by indices: of those that are out of range it is said which.
BOTH(tables) {
    enum { WORDS = 7 };
    static const int64_t right[ROWS] = {6, 0, 3, 3, 1}, wrong[ROWS] = {0, 1, 17, 2, 3};
    float table[LAYERS][WORDS * COLS];
    tc_scope_begin(tc);
    for (int bad = -1; bad < LAYERS; bad++) {
        tc_tensor t[LAYERS], at[LAYERS], y = tc_null();
        for (int i = 0; i < LAYERS; i++) {
            for (int k = 0; k < WORDS * COLS; k++) table[i][k] = (float)test_number(k, i);
            t[i] = tc_from_data(tc, table[i], TC_DIMS(WORDS, COLS), TC_F32);
            at[i] = tc_from_data(tc, i == bad ? wrong : right, TC_DIMS(ROWS), TC_I64);
        }
        BEGIN("tables");
        for (int i = 0; i < LAYERS; i++) {
            tc_tensor sum = tc_sum(tc_exp(tc_embedding(t[i], at[i])), 1);
            y = i ? tc_mul(y, sum) : sum;
        }
        y = tc_keep(y);
        tc_status s = tc_trace_end(tc);
        if (bad >= 0) {
            CHECK_EQ(s, TC_E_INDEX);
            ERROR(TC_E_INDEX, "index 17");
            continue;
        }
        for (int r = 0; r < ROWS; r++) {
            double want = 1;
            for (int i = 0; i < LAYERS; i++) {
                double sum = 0;
                for (int c = 0; c < COLS; c++)
                    sum += exp((double)table[i][right[r] * COLS + c]);
                want *= sum;
            }
            CHECK(fabs(AT(y, r) - want) <= 1e-5 * want);
        }
    }
    tc_scope_end(tc);
}

// The same ops at other sizes, and of other dtypes, are no copies of one another.
BOTH(nearly_alike) {
    tc_scope_begin(tc);
    tc_tensor a = line(tc, 12, 0, 1), b = line(tc, 24, 0, 0.5);
    tc_tensor c = tc_cast(line(tc, 24, 0, 0.5), TC_F64), d = line(tc, 24, -3, 0.5), y[4];
    BEGIN("nearly");
    y[0] = tc_sum(tc_exp(tc_neg(a)), 0), y[1] = tc_sum(tc_exp(tc_neg(b)), 0);
    y[2] = tc_cast(tc_sum(tc_exp(tc_neg(c)), 0), TC_F32);
    y[3] = tc_sum(tc_exp(tc_mul_s(d, -2)), 0);
    for (int i = 0; i < 4; i++) y[i] = tc_keep(y[i]);
    END();
    double want[4] = {0};
    for (int i = 0; i < 12; i++) want[0] += exp(-i);
    for (int i = 0; i < 24; i++) want[1] += exp(-0.5 * i);
    for (int i = 0; i < 24; i++) want[3] += exp(-2 * (-3 + 0.5 * i));
    want[2] = want[1];
    for (int i = 0; i < 4; i++) CHECK(fabs(AT(y[i], 0) - want[i]) <= 1e-6 * want[i]);
    tc_scope_end(tc);
}

// Element e of [24] taken as p sizes, whose order is turned.
static int turned_place(int e, const int64_t size[3]) {
    int k = e % (int)size[0], j = e / (int)size[0] % (int)size[1],
        i = e / (int)(size[0] * size[1]); // of the turned sizes: [size 2, size 1, size 0]
    return (k * (int)size[1] + j) * (int)size[2] + i;
}

// As many elements in other shapes on the way, one after the other.
BOTH(other_shapes) {
    static const int64_t size[3][3] = {{2, 3, 4}, {4, 3, 2}, {3, 2, 4}};
    static const int64_t back[] = {2, 1, 0};
    double want = 1;
    tc_scope_begin(tc);
    tc_tensor x = line(tc, 24, -1, 0.0625), weights;
    tc_tensor s = line(tc, 1, 1, 0);
    weights = tc_reshape(line(tc, 24, 0, 0.001), TC_DIMS(24, 1));
    BEGIN("shapes");
    for (int i = 0; i < 3; i++) {
        tc_tensor y = tc_reshape(x, tc_dims_of(3, size[i]));
        y = tc_reshape(tc_permute(y, tc_dims_of(3, back)), TC_DIMS(24));
        y = tc_reshape(tc_exp(tc_mul(y, s)), TC_DIMS(1, 24)); // a factor is in memory
        s = tc_reshape(tc_matmul(y, weights), TC_DIMS(1));
    }
    s = tc_keep(s);
    END();
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int e = 0; e < 24; e++)
            sum += exp((-1 + 0.0625 * turned_place(e, size[i])) * want) * (0.001 * e);
        want = sum;
    }
    CHECK(fabs(AT(s, 0) - want) <= 1e-6 * want || FAIL("%.9g, not %.9g", AT(s, 0), want));
    tc_scope_end(tc);
}
