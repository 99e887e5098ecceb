// Targets of losses that are no class: below 0, where an index counts from the end, and too large ones. TC_E_INDEX with the
// number that was given, eagerly and in regions, interpreted and compiled, with a gradient or without.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

enum { ROWS = 4, CLASSES = 5 };
enum { NO_IGNORE = 99 };

static tc_tensor loss_of(tc_tensor x, tc_tensor target, int64_t ignore) {
    return ignore == NO_IGNORE ? tc_cross_entropy(x, target)
                               : tc_cross_entropy_ignore(x, target, ignore);
}

static tc_tensor labels(tc_ctx *tc, tc_dtype dtype, int64_t label) {
    int64_t at[ROWS] = {1, 0, label, 4};
    tc_tensor t = tc_from_data(tc, at, TC_DIMS(ROWS), TC_I64);
    return dtype == TC_I64 ? t : tc_to_i32(t);
}

// The loss by hand, of the rows whose label is not the ignored one.
static double by_hand(tc_tensor x, int64_t label, int64_t ignore) {
    int64_t at[ROWS] = {1, 0, label, 4};
    double sum = 0;
    int n = 0;
    for (int r = 0; r < ROWS; r++) {
        double e = 0;
        if (at[r] == ignore) continue;
        for (int k = 0; k < CLASSES; k++) e += exp(AT(x, r * CLASSES + k));
        sum += log(e) - AT(x, r * CLASSES + (int)at[r]), n++;
    }
    return sum / n;
}

static const struct {
    int64_t label, ignore;
    int fits;
} rows[] = {
    {2, NO_IGNORE, 1},    {-1, NO_IGNORE, 0},   {-CLASSES, NO_IGNORE, 0},
    {-6, NO_IGNORE, 0},   {-100, NO_IGNORE, 0}, {CLASSES, NO_IGNORE, 0},
    {-100, -100, 1},      {-1, -100, 0},        {-1, -1, 1},
    {-2, -1, 0},          {CLASSES, -100, 0},   {77, 77, 1},
    {INT32_MIN, -100, 0}, {INT32_MAX, -1, 0},
};

static void settle(tc_ctx *tc, tc_status s, size_t i, tc_tensor loss, double hand) {
    char text[80];
    if (rows[i].fits) {
        CHECK_EQ(s, TC_OK);
        CHECK_NEAR(tc_item(loss), hand, 1e-5);
        return;
    }
    CHECK_EQ(s, TC_E_INDEX);
    snprintf(text, sizeof text, ": index %lld is out of range for size 5",
             (long long)rows[i].label);
    ERROR(TC_E_INDEX, text);
}

BOTH(no_class) {
    static const tc_dtype dtypes[] = {TC_I32, TC_I64};
    tc_tensor x =
        tc_sin(tc_reshape(line(tc, ROWS * CLASSES, 0, 0.7), TC_DIMS(ROWS, CLASSES)));
    tc_tensor loss = tc_null(), grad = tc_null();
    for (int d = 0; d < 2; d++)
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            tc_tensor t = labels(tc, dtypes[d], rows[i].label);
            double hand = rows[i].fits ? by_hand(x, rows[i].label, rows[i].ignore) : 0;
            for (int derive = 0; derive < 2; derive++) {
                tc_trace_begin(tc, derive ? "derived" : "loss");
                loss = tc_keep(loss_of(x, t, rows[i].ignore));
                if (derive) tc_grad(loss, &x, 1, &grad), grad = tc_keep(grad);
                settle(tc, tc_trace_end(tc), i, loss, hand);
            }
            loss = loss_of(x, t, rows[i].ignore);
            settle(tc, tc_error(tc), i, loss, hand);
        }
    // A scalar target, and one of maps.
    tc_tensor one = tc_reshape(labels(tc, TC_I64, -1), TC_DIMS(ROWS));
    (void)tc_cross_entropy(tc_select(x, 0, 0), tc_select(one, 0, 2));
    ERROR(TC_E_INDEX, "index -1 is out of range for size 5");
    (void)tc_cross_entropy(tc_unsqueeze(x, 2), tc_unsqueeze(one, 1));
    ERROR(TC_E_INDEX, "index -1 is out of range for size 5");
}
