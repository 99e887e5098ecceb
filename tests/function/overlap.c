// out[] of a call may be its in[], or overlap it: every public call that gives tensors into memory of the caller's, with
// its results before, over and behind what it is given, at each place, in each way to run it. Values come from loops.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

enum { MOST = 3, WIDE = 3 }; // inputs and results of a call at most; elements of an input

typedef const double (*given)[WIDE]; // values of the inputs
typedef double (*wanted)[WIDE];

static tc_fn *mixed; // of `mix`

// ---- bodies ----

static void mix(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[1], in[2]);
    out[1] = in[0];
    out[2] = tc_mul(in[0], in[2]);
}

static void want_mix(given x, wanted y) {
    for (int i = 0; i < WIDE; i++) {
        y[0][i] = x[1][i] + x[2][i];
        y[1][i] = x[0][i];
        y[2][i] = x[0][i] * x[2][i];
    }
}

static void turned(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    for (int i = 0; i < 3; i++) out[i] = tc_neg(in[i]);
}

// h, g, x -> h / 2 + x, g + h, h - g
static void cell(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_mul_s(in[0], 0.5), in[2]);
    out[1] = tc_add(in[1], in[0]);
    out[2] = tc_sub(in[0], in[1]);
}

// h, x, z -> h / 2 + x, h[0] - z, x * z
static void rows(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_mul_s(in[0], 0.5), in[1]);
    out[1] = tc_sub(tc_select(in[0], 0, 0), in[2]);
    out[2] = tc_mul(in[1], in[2]);
}

static void is_small(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_lt_s(tc_sum_all(tc_square(in[0])), 30);
}

static void grow(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[1], 1);
    out[1] = tc_add(in[0], in[2]);
    out[2] = tc_mul_s(in[2], 2);
}

// ---- calls ----

static tc_status scan_last(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    tc_tensor y;
    (void)tc;
    return tc_scan(cell, NULL, in, 2, in + 2, 1, out, &y, 1);
}

static void want_last(given x, wanted y) {
    memcpy(y, x, 2 * sizeof *x);
    for (int t = 0; t < WIDE; t++)
        for (int i = 0; i < WIDE; i++) {
            double h = y[0][i];
            y[0][i] = h / 2 + x[2][t];
            y[1][i] += h;
        }
}

static tc_status scan_ys(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    tc_tensor last;
    (void)tc;
    return tc_scan(rows, NULL, in, 1, in + 1, 2, &last, out, 2);
}

static void want_ys(given x, wanted y) {
    double h = x[0][0];
    for (int t = 0; t < WIDE; t++) {
        y[0][t] = h - x[2][t];
        y[1][t] = x[1][t] * x[2][t];
        h = h / 2 + x[1][t];
    }
}

static tc_status call_while(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_while(is_small, grow, NULL, in, 3, 4, out);
}

static void want_while(given x, wanted y) {
    memcpy(y, x, 3 * sizeof *x);
    for (int t = 0; t < 4; t++) {
        double sum = 0;
        for (int i = 0; i < WIDE; i++) sum += y[0][i] * y[0][i];
        for (int i = 0; i < WIDE && sum < 30; i++) {
            double a = y[0][i];
            y[0][i] = y[1][i] + 1;
            y[1][i] = a + y[2][i];
            y[2][i] *= 2;
        }
    }
}

static tc_status call_cond(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    tc_tensor yes = in[0].id ? tc_gt_s(tc_sum_all(in[0]), -100) : in[0];
    return tc_cond(yes, mix, turned, NULL, in, 3, out, 3);
}

static tc_status call_fn(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_call(mixed, in, 3, out, 3);
}

static tc_status call_into(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_call_into(mixed, in, 3, out, 3);
}

static tc_status checkpoint(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    return tc_checkpoint(tc, mix, NULL, in, 3, out, 3);
}

static tc_status grad(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_grad(tc_sum_all(tc_mul(tc_mul(in[0], in[1]), in[2])), in, 3, out);
}

static void want_grad(given x, wanted y) {
    for (int i = 0; i < WIDE; i++) {
        y[0][i] = x[1][i] * x[2][i];
        y[1][i] = x[0][i] * x[2][i];
        y[2][i] = x[0][i] * x[1][i];
    }
}

static tc_status vjp(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_vjp(tc_mul(in[0], in[1]), in[2], in, 2, out);
}

static void want_vjp(given x, wanted y) {
    for (int i = 0; i < WIDE; i++) {
        y[0][i] = x[1][i] * x[2][i];
        y[1][i] = x[0][i] * x[2][i];
    }
}

// wrt are in[0], in[1], and change by in[1], in[2]
static tc_status jvp(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_jvp(tc_mul(in[0], in[1]), in, in + 1, 2, out);
}

static void want_jvp(given x, wanted y) {
    for (int i = 0; i < WIDE; i++) y[0][i] = x[1][i] * x[1][i] + x[0][i] * x[2][i];
}

static tc_status pieces(tc_ctx *tc, int n) { return n ? TC_OK : tc_error(tc); }

static tc_status split(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    return pieces(tc, tc_split(in[2], 1, 0, out, 3));
}

static tc_status chunk(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    return pieces(tc, tc_chunk(in[2], 3, 0, out, 3));
}

static void want_pieces(given x, wanted y) {
    for (int i = 0; i < 3; i++) y[i][0] = x[2][i];
}

static tc_status sort(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_sort(in[2], 0, 0, &out[0], &out[1]);
}

static tc_status topk(tc_ctx *tc, const tc_tensor *in, tc_tensor *out) {
    (void)tc;
    return tc_topk(in[2], WIDE, 0, 0, &out[0], &out[1]);
}

static void want_sort(given x, wanted y) {
    for (int i = 0; i < WIDE; i++) {
        int before = 0;
        for (int k = 0; k < WIDE; k++) before += x[2][k] < x[2][i];
        y[0][before] = x[2][i], y[1][before] = i;
    }
}

enum {
    IN_REGIONS = 1,
    UNTOUCHED = 2,
    INTO = 4
}; // only there; what fails leaves out[]; out[] are given, too

static const struct {
    const char *name;
    tc_status (*call)(tc_ctx *tc, const tc_tensor *in, tc_tensor *out);
    void (*want)(given x, wanted y);
    int n_out, size, flags; // results, elements of each
} calls[] = {
    {"tc_scan, last", scan_last, want_last, 2, WIDE, 0},
    {"tc_scan, ys", scan_ys, want_ys, 2, WIDE, 0},
    {"tc_while", call_while, want_while, 3, WIDE, 0},
    {"tc_cond", call_cond, want_mix, 3, WIDE, 0},
    {"tc_call", call_fn, want_mix, 3, WIDE, 0},
    {"tc_call_into", call_into, want_mix, 3, WIDE, UNTOUCHED | INTO},
    {"tc_checkpoint", checkpoint, want_mix, 3, WIDE, 0},
    {"tc_grad", grad, want_grad, 3, WIDE, IN_REGIONS},
    {"tc_vjp", vjp, want_vjp, 2, WIDE, IN_REGIONS},
    {"tc_jvp", jvp, want_jvp, 1, WIDE, IN_REGIONS},
    {"tc_split", split, want_pieces, 3, 1, UNTOUCHED},
    {"tc_chunk", chunk, want_pieces, 3, 1, UNTOUCHED},
    {"tc_sort", sort, want_sort, 2, WIDE, 0},
    {"tc_topk", topk, want_sort, 2, WIDE, 0},
};

enum { CALLS = sizeof calls / sizeof *calls };

// ---- places ----
// in[] stands at [MOST, 2 * MOST) of an array, out[] at any place from before to behind it.

enum { PLACES = 3 * MOST };

static tc_tensor numbers(tc_ctx *tc, given x, int i) {
    float f[WIDE];
    for (int k = 0; k < WIDE; k++) f[k] = (float)x[i][k];
    return tc_from_data(tc, f, TC_DIMS(WIDE), TC_F32);
}

static void fill(tc_ctx *tc, given x, tc_tensor *at) {
    for (int i = 0; i < PLACES; i++)
        at[i] =
            i / MOST == 1 ? numbers(tc, x, i - MOST) : tc_zeros(tc, TC_DIMS(WIDE), TC_F32);
}

static void draw(double x[MOST][WIDE], unsigned seed) {
    for (unsigned i = 0; i < MOST * WIDE; i++) // few bits, so that all is exact
        x[i / WIDE][i % WIDE] = (double)(test_word(i, seed) % 29) / 4 - 3;
    for (int i = 0; i < WIDE; i++) x[2][i] += i / 16.; // no two alike
}

static int holds(int n, tc_tensor t, const double *want) {
    float f[WIDE] = {0};
    if (tc_read(tc_cast(t, TC_F32), f, (size_t)n * sizeof *f)) return 0;
    for (int i = 0; i < n; i++)
        if ((double)f[i] != want[i]) return 0;
    return 1;
}

typedef struct job {
    int call, place;
    tc_status status;
} job;

// All of the array as inputs; its places behind the call as results.
static void wrapped(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    job *j = (job *)user;
    memcpy(out, in, PLACES * sizeof *out);
    j->status = calls[j->call].call(tc, out + MOST, out + j->place);
}

typedef enum way { EAGER, REGION, FORCED, BODY, WAYS } way;

static const char *const way_names[] = {"eager", "in a region", "op by op", "in a body"};

static void check_values(const job *j, given x, const tc_tensor *before,
                         const tc_tensor *at, const char *how, int visit) {
    double want[MOST][WIDE];
    memset(want, 0, sizeof want);
    calls[j->call].want(x, want);
    int ok = CHECK_EQ(j->status, TC_OK);
    for (int i = 0; i < PLACES && ok; i++) {
        int k = i - j->place;
        if (k >= 0 && k < calls[j->call].n_out)
            ok = CHECK(holds(calls[j->call].size, at[i], want[k]));
        else
            ok = CHECK(!before || at[i].id == before[i].id) &&
                 (i / MOST != 1 || CHECK(holds(WIDE, at[i], x[i - MOST])));
    }
    if (!ok)
        printf("    %s, out is in %+d, %s, visit %d\n", calls[j->call].name,
               j->place - MOST, how, visit);
}

static void check_way(tc_ctx *tc, int call, int place, way w) {
    enum { VISITS = 5 };
    job j = {call, place, TC_OK};
    tc_fn *f = w == BODY ? tc_compile(tc, wrapped, &j, 0, NULL) : NULL;
    for (int visit = 0; visit < VISITS; visit++) {
        double x[MOST][WIDE];
        tc_tensor at[PLACES], before[PLACES], got[PLACES];
        draw(x, (unsigned)(visit + call));
        fill(tc, (given)x, at);
        memcpy(before, at, sizeof at);
        if (w == REGION || w == FORCED) tc_trace_begin(tc, "overlap");
        if (w == BODY) {
            int given_status = tc_call(f, at, PLACES, got, PLACES);
            CHECK_EQ(given_status, TC_OK);
        } else {
            j.status = calls[call].call(tc, at + MOST, at + place);
        }
        if (w == REGION || w == FORCED) CHECK_EQ(tc_trace_end(tc), TC_OK);
        check_values(&j, (given)x, w == BODY ? NULL : before, w == BODY ? got : at,
                     way_names[w], visit);
    }
    tc_fn_free(f);
}

static tc_ctx *open_all(void) {
    tc_config k = tc_config_default();
    k.no_disk_cache = 1, k.threads = 1;
    tc_ctx *tc = tc_open(&k);
    mixed = tc_compile(tc, mix, NULL, 0, NULL);
    return tc;
}

TEST(out_may_be_in) {
    for (int call = 0; call < CALLS; call++) {
        tc_ctx *tc = open_all();
        for (int place = MOST - calls[call].n_out; place <= 2 * MOST; place++)
            for (int w = 0; w < WAYS; w++) {
                if (w == EAGER && calls[call].flags & IN_REGIONS) continue;
                tc_set_stance(tc, w == FORCED ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
                check_way(tc, call, place, (way)w);
            }
        CHECK_EQ(tc_error(tc), TC_OK);
        tc_close(tc);
    }
}

// What fails gives nulls, and touches nothing beside out[].
TEST(what_fails_leaves_the_rest) {
    for (int call = 0; call < CALLS; call++) {
        tc_ctx *tc = open_all();
        for (int place = MOST - calls[call].n_out; place <= 2 * MOST; place++) {
            double x[MOST][WIDE];
            tc_tensor at[PLACES], before[PLACES];
            int ok = 1;
            draw(x, 1);
            fill(tc, (given)x, at);
            at[2 * MOST - 1] = tc_null();
            memcpy(before, at, sizeof at);
            ok = CHECK(calls[call].call(tc, at + MOST, at + place) != TC_OK);
            tc_error_clear(tc);
            for (int i = 0; i < PLACES; i++) {
                int is_out = i >= place && i < place + calls[call].n_out;
                uint64_t want =
                    is_out && !(calls[call].flags & UNTOUCHED) ? 0 : before[i].id;
                ok = CHECK(at[i].id == want) && ok;
            }
            if (!ok) printf("    %s, out is in %+d\n", calls[call].name, place - MOST);
        }
        tc_close(tc);
    }
}

// Two results cannot have one place.
TEST(results_need_places_of_their_own) {
    tc_ctx *tc = open_all();
    double x[MOST][WIDE];
    tc_tensor at[PLACES], t;
    draw(x, 1);
    fill(tc, (given)x, at);
    t = at[MOST];
    CHECK_EQ(tc_sort(t, 0, 0, &at[0], &at[0]), TC_E_ARG);
    CHECK(!at[0].id && strstr(tc_error_text(tc), "same variable"));
    tc_error_clear(tc);
    CHECK_EQ(tc_topk(t, 1, 0, 0, &at[0], &at[0]), TC_E_ARG);
    tc_error_clear(tc);
    for (int k = 0; k < 2; k++) {
        fill(tc, (given)x, at);
        CHECK_EQ(tc_scan(cell, NULL, at + MOST, 2, at + MOST + 2, 1, at, at + k, 1),
                 TC_E_ARG);
        CHECK(strstr(tc_error_text(tc), "place of its own"));
        CHECK(holds(WIDE, at[MOST], x[0]) && holds(WIDE, at[MOST + 2], x[2]));
        tc_error_clear(tc);
    }
    CHECK_EQ(tc_scan(cell, NULL, at + MOST, 2, at + MOST + 2, 1, at, at + 2, 1), TC_OK);
    tc_close(tc);
}

// Also where no context is found, or the first thing that is looked at is missing.
TEST(nulls_without_a_context) {
    tc_ctx *tc = open_all();
    tc_tensor at[3] = {tc_ones(tc, TC_DIMS(2), TC_F32)}, none = tc_null();
    static const int calls_here = 8;
    for (int k = 0; k < calls_here; k++) {
        tc_tensor out[2] = {at[0], at[0]};
        tc_status s = TC_OK;
        if (k == 0) s = tc_call(NULL, at, 1, out, 2);
        if (k == 1) s = tc_grad(none, at, 1, out), out[1] = none;
        if (k == 2) s = tc_vjp(none, none, at, 1, out), out[1] = none;
        if (k == 3) s = tc_jvp(none, at, at, 1, out), out[1] = none;
        if (k == 4) s = tc_checkpoint(NULL, mix, NULL, at, 1, out, 2);
        if (k == 5) s = tc_scan(cell, NULL, at, 1, &none, 1, &out[0], &out[1], 1);
        if (k == 6) s = tc_cond(none, mix, mix, NULL, at, 1, out, 2);
        if (k == 7) s = tc_while(is_small, grow, NULL, &none, 1, 2, out), out[1] = none;
        CHECK(s != TC_OK);
        if (!CHECK(!out[0].id && !out[1].id)) printf("    call %d\n", k);
        tc_error_clear(tc);
    }
    tc_close(tc);
}
