// An index out of range is found when a kernel runs. The error names the call that the user wrote, and
// the line where it stands: in regions, in functions, at visits that follow, with run-time sizes, and eagerly.
#include "tcompile.h"

#include "harness.h"

enum { ROWS = 5, COLUMNS = 4, BAD = 9 };

static tc_tensor rows_of(tc_tensor i) {
    return tc_expand(tc_unsqueeze(i, 1), TC_DIMS(-1, COLUMNS));
}

static tc_tensor ones_like(tc_ctx *tc, tc_tensor i) {
    return tc_ones(tc, TC_DIMS(tc_dim(i, 0), COLUMNS), TC_F32);
}

// Every public call whose indices are checked when it runs; `at` is its line.
typedef tc_tensor (*call)(tc_ctx *tc, tc_tensor w, tc_tensor i, int at);
#define CALL(name) static tc_tensor name(tc_ctx *tc, tc_tensor w, tc_tensor i, int at)

CALL(embedding) { return (void)tc, tc_embedding_at(w, i, "user.c", at); }
CALL(index_select) { return (void)tc, tc_index_select_at(w, 0, i, "user.c", at); }
CALL(take) { return (void)tc, tc_take_at(w, i, 0, "user.c", at); }
CALL(gather) { return (void)tc, tc_gather_at(w, 0, rows_of(i), "user.c", at); }
CALL(scatter) { return tc_scatter_at(w, 0, rows_of(i), ones_like(tc, i), "user.c", at); }
CALL(scatter_add) {
    return tc_scatter_add_at(w, 0, rows_of(i), ones_like(tc, i), "user.c", at);
}
CALL(index_add) { return tc_index_add_at(w, 0, i, ones_like(tc, i), "user.c", at); }
CALL(cross_entropy) {
    tc_tensor x = tc_matmul(ones_like(tc, i), tc_t(w));
    return tc_cross_entropy_at(x, i, "user.c", at);
}

static const struct {
    const char *name;
    call make;
} calls[] = {
    {"embedding", embedding}, {"index_select", index_select},
    {"take", take},           {"gather", gather},
    {"scatter", scatter},     {"scatter_add", scatter_add},
    {"index_add", index_add}, {"cross_entropy", cross_entropy},
};
enum { CALLS = sizeof calls / sizeof *calls };

static tc_tensor indices(tc_ctx *tc, int n) {
    int64_t at[16] = {1, 0, BAD};
    return tc_from_data(tc, at, TC_DIMS(n), TC_I64);
}

static void expect(tc_ctx *tc, const char *want) {
    const char *text = tc_error_text(tc);
    CHECK_EQ(tc_error(tc), TC_E_INDEX);
    if (!strstr(text, want)) FAIL("no \"%s\" in \"%s\"", want, text);
    tc_error_clear(tc);
}

static const char *named(const char *name, int line) {
    static char text[100];
    char where[40] = "";
    if (line) snprintf(where, sizeof where, " (user.c:%d)", line);
    snprintf(text, sizeof text, "%s%s: index 9 is out of range for size 5", name, where);
    return text;
}

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager";
    return tc_open(&config);
}

// The third visit has another size, the fourth follows with one of its own.
TEST(in_regions) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(ROWS, COLUMNS), TC_F32);
    for (int k = 0; k < CALLS; k++)
        for (int visit = 0; visit < 4; visit++) {
            tc_tensor i = indices(tc, 3 + (visit > 1 ? visit : 0));
            tc_trace_begin(tc, calls[k].name);
            tc_tanh(calls[k].make(tc, tc_mul_s(w, 2), tc_add_s(i, 0), 100 + k));
            CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
            expect(tc, named(calls[k].name, 100 + k));
        }
    tc_close(tc);
}

TEST(eagerly) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(ROWS, COLUMNS), TC_F32);
    for (int twice = 0; twice < 2; twice++)
        for (int k = 0; k < CALLS; k++) {
            (void)calls[k].make(tc, w, indices(tc, 3), 100 + k);
            expect(tc, named(calls[k].name, 0));
        }
    tc_close(tc);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    int k = *(const int *)user;
    out[0] = calls[k].make(tc, in[0], in[1], 100 + k);
}

// The third call skips the body.
TEST(in_functions) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(ROWS, COLUMNS), TC_F32), y;
    for (int k = 0; k < CALLS; k++) {
        tc_fn *f = tc_compile(tc, body, &k, sizeof k, NULL);
        for (int i = 0; i < 3; i++) {
            tc_tensor in[2];
            in[0] = w, in[1] = indices(tc, 3);
            CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_E_INDEX);
            expect(tc, named(calls[k].name, 100 + k));
        }
    }
    tc_close(tc);
}

// Two calls with one index: the size tells which of them it is out of range for.
TEST(of_two_calls_with_one_index) {
    tc_ctx *tc = open_context();
    tc_tensor w = tc_ones(tc, TC_DIMS(20, COLUMNS), TC_F32), i = indices(tc, 3);
    tc_tensor v = tc_ones(tc, TC_DIMS(ROWS), TC_F32);
    tc_trace_begin(tc, "two");
    tc_tensor a = tc_embedding_at(w, i, "user.c", 1);
    tc_tensor b = tc_index_select_at(v, 0, i, "user.c", 2);
    tc_tensor c = tc_take_at(w, i, 0, "user.c", 3);
    tc_add(tc_add(a, tc_unsqueeze(b, 1)), c);
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    expect(tc, named("index_select", 2));
    tc_close(tc);
}
