// Custom ops that are text: compiled with the kernels, found on disk, and what happens where that
// is not possible. The same text is compiled into this program, as the run of the same ops.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <sys/stat.h>

// ---- help ----
enum { ROWS = 3, COLS = 10, N = ROWS * COLS };

static char warning[2000]; // the last one
static int warnings;

static void keep_warning(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level < 1) return;
    snprintf(warning, sizeof warning, "%s", text);
    warnings++;
}

typedef enum use { CPU, INTERP, NO_COMPILER, DISK } use;

static tc_ctx *open_for(use how) {
    static char folder[] = "/tmp/tc-custom-XXXXXX";
    static int made; // a name may end in X
    tc_config config = tc_config_default();
    config.backend = how == INTERP ? "aot_eager" : "cpu";
    config.cc = how == NO_COMPILER ? "/nowhere/cc" : NULL;
    config.no_disk_cache = how != DISK;
    config.threads = 2;
    config.logger.log = keep_warning;
    if (how == DISK && !made && !(made = mkdtemp(folder) != NULL)) return NULL;
    if (how == DISK) config.cache_dir = folder;
    warnings = 0;
    return tc_open(&config);
}

static float given(int i) { return (float)((i * 7 + 3) % 11 - 5) * 0.37f; }

static tc_tensor matrix(tc_ctx *tc, int rows) {
    float p[1000];
    for (int i = 0; i < rows * COLS; i++) p[i] = given(i);
    return tc_from_data(tc, p, TC_DIMS(rows, COLS), TC_F32);
}

static int add_source(tc_ctx *tc, const char *name, tc_custom_run run, const char *source,
                      void *user) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = name, op.run = run, op.c_source = source, op.user = user;
    int id = tc_register_op(tc, &op);
    if (!id) FAIL("%s", tc_error_text(tc));
    return id;
}

static tc_status run_region(tc_ctx *tc, int op, int rows, tc_tensor *y) {
    tc_tensor a = matrix(tc, rows);
    tc_trace_begin_at(tc, "text", NULL, "custom_source.c", 1);
    tc_tensor t = tc_mul_s(a, 2);
    t = tc_custom(tc, op, &t, 1);
    *y = tc_add_s(t, 1);
    return tc_trace_end(tc);
}

// y = running sums of 2 * given, in f32 and in order, times `scale`, plus 1.
static void expect_sums(tc_tensor y, int rows, float scale, int line_number) {
    float got[1000], sum = 0;
    if (tc_read(y, got, (size_t)(rows * COLS) * sizeof *got)) {
        test_fail(__FILE__, line_number, "cannot be read");
        return;
    }
    for (int i = 0; i < rows * COLS; i++) {
        float x = given(i) * 2;
        sum = i % COLS ? sum + x : x;
        float want = sum * scale;
        want += 1;
        if (memcmp(&got[i], &want, sizeof want))
            test_fail(__FILE__, line_number, "element %d is %a, not %a", i, (double)got[i],
                      (double)want);
    }
}
#define EXPECT_SUMS(y, rows, scale) expect_sums((y), (rows), (scale), __LINE__)

// ---- one text, for the compiler of this program and for that of the library ----
#define SUMS(name)                                                                         \
    static tc_status name(void *user, const tc_buffer *in, int n_in,                       \
                          const tc_buffer *out) {                                          \
        const float *x = (const float *)in[0].data;                                        \
        float *y = (float *)out->data;                                                     \
        float scale = user ? *(const float *)user : 1;                                     \
        float sum = 0;                                                                     \
        int64_t n = 1;                                                                     \
        int64_t cols = in[0].spec.dims[in[0].spec.rank - 1];                               \
        for (int i = 0; i < in[0].spec.rank; i++) n *= in[0].spec.dims[i];                 \
        if (in[0].spec.dtype != TC_F32 || n_in != 1) return TC_E_DTYPE;                    \
        for (int64_t i = 0; i < n; i++) {                                                  \
            sum = i % cols ? sum + x[i] : x[i];                                            \
            y[i] = sum * scale;                                                            \
        }                                                                                  \
        return TC_OK;                                                                      \
    }
#define QUOTED(...)   #__VA_ARGS__
#define EXPANDED(...) QUOTED(__VA_ARGS__)
SUMS(sums)
static const char sums_text[] = EXPANDED(SUMS(sums));

TEST(text_is_compiled_with_the_kernels) {
    tc_ctx *tc = open_for(CPU);
    tc_tensor y;
    int op = add_source(tc, "sums", NULL, sums_text, NULL);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(run_region(tc, op, ROWS, &y), TC_OK);
        EXPECT_SUMS(y, ROWS, 1);
    }
    CHECK_EQ(tc_region_kernels(tc, "text"), 3);
    CHECK_EQ(tc_stats_get(tc).kernels_made, 3);
    CHECK_EQ(tc_stats_get(tc).compiles, 2); // the op is a unit of its own
    CHECK_EQ(warnings, 0);
    CHECK(strstr(tc_explain(tc), "kernel 1: custom op"));
    CHECK(!strstr(tc_explain(tc), "runs the host's function"));
    const char *source = tc_region_source(tc, "text");
    REQUIRE(source);
    CHECK(strstr(source, "custom op sums") && strstr(source, sums_text));
    tc_close(tc);
}

TEST(text_and_function_give_the_same_bits) {
    static const use uses[] = {CPU, INTERP, NO_COMPILER};
    float scale = 0.1f;
    for (int k = 0; k < 3; k++) {
        tc_ctx *tc = open_for(uses[k]);
        tc_tensor y;
        int op = add_source(tc, "sums", sums, sums_text, &scale);
        CHECK_EQ(run_region(tc, op, ROWS, &y), TC_OK);
        EXPECT_SUMS(y, ROWS, scale);
        int ours = strstr(tc_explain(tc), "runs the host's function") != NULL;
        CHECK_EQ(ours, uses[k] != CPU);
        CHECK(!tc_error(tc));
        tc_close(tc);
    }
}

TEST(a_second_run_finds_it_on_disk) {
    tc_ctx *tc = open_for(DISK);
    tc_tensor y;
    CHECK_EQ(run_region(tc, add_source(tc, "sums", NULL, sums_text, NULL), ROWS, &y),
             TC_OK);
    EXPECT_SUMS(y, ROWS, 1);
    CHECK_EQ(tc_stats_get(tc).compiles, 2);
    CHECK_EQ(tc_stats_get(tc).disk_hits, 0);
    tc_close(tc);
    tc = open_for(DISK);
    float scale = 3;
    CHECK_EQ(run_region(tc, add_source(tc, "sums", NULL, sums_text, &scale), ROWS, &y),
             TC_OK);
    EXPECT_SUMS(y, ROWS, 3); // `user` is no part of the code
    CHECK_EQ(tc_stats_get(tc).compiles, 0);
    CHECK_EQ(tc_stats_get(tc).disk_hits, 3);
    tc_close(tc);
    // The same name and another text: other code.
    tc = open_for(DISK);
    char other[sizeof sums_text + 8];
    const char *at = strstr(sums_text, "sum * scale");
    REQUIRE(at);
    snprintf(other, sizeof other, "%.*ssum * 2 * scale%s", (int)(at - sums_text), sums_text,
             at + strlen("sum * scale"));
    CHECK_EQ(run_region(tc, add_source(tc, "sums", NULL, other, NULL), ROWS, &y), TC_OK);
    EXPECT_SUMS(y, ROWS, 2);
    CHECK_EQ(tc_stats_get(tc).compiles, 1);
    CHECK_EQ(tc_stats_get(tc).disk_hits, 2);
    CHECK(!tc_error(tc));
    tc_close(tc);
}

TEST(two_contexts_have_their_own) {
    tc_ctx *one = open_for(CPU), *two = open_for(CPU), *tc = two;
    tc_tensor y;
    float scale = 5;
    int a = add_source(one, "sums", NULL, sums_text, NULL);
    int b = add_source(two, "sums", NULL, sums_text, &scale);
    CHECK(a != b);
    for (int k = 0; k < 2; k++) {
        CHECK_EQ(run_region(one, a, ROWS, &y), TC_OK);
        EXPECT_SUMS(y, ROWS, 1);
        CHECK_EQ(run_region(two, b, ROWS, &y), TC_OK);
        EXPECT_SUMS(y, ROWS, 5);
    }
    tc_custom(two, a, &y, 1);
    ERROR(TC_E_ARG, "no op of this context");
    tc_close(one), tc_close(two);
}

// What one text defines does not meet what another does.
TEST(texts_are_apart) {
    tc_ctx *tc = open_for(CPU);
    static const char *const form =
        "#define STEP %d\n"
        "typedef float number;\n"
        "int counter = STEP;\n"
        "number helper(number x) { return x + counter; }\n"
        "tc_status %s(void *user, const tc_buffer *in, int n_in, const tc_buffer *out)\n"
        "{\n"
        "    const number *x = in[0].data;\n"
        "    for (size_t i = 0; i < %d; i++) ((number *)out->data)[i] = helper(x[i]);\n"
        "    return (void)user, (void)n_in, TC_OK;\n"
        "}\n";
    char name[2][16], source[2][1000];
    int op[2];
    for (int k = 0; k < 2; k++) {
        snprintf(name[k], sizeof name[k], "step%d", k);
        snprintf(source[k], sizeof source[k], form, 10 * (k + 1), name[k], N);
        op[k] = add_source(tc, name[k], NULL, source[k], NULL);
    }
    tc_tensor a = matrix(tc, ROWS);
    tc_trace_begin(tc, "apart");
    tc_tensor y = tc_custom(tc, op[0], &a, 1);
    y = tc_sub_s(tc_custom(tc, op[1], &y, 1), 30);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    float got[N];
    CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
    for (int i = 0; i < N; i++) CHECK_NEAR(got[i], given(i), 1e-5);
    CHECK_EQ(tc_stats_get(tc).compiles, 3);
    CHECK_EQ(warnings, 0);
    tc_close(tc);
}

static tc_status spec_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)in, (void)n_in;
    out->dtype = TC_I64, out->rank = 1, out->dims[0] = 24;
    return TC_OK;
}

// All that a text is told, written out by it.
TEST(what_a_text_sees) {
    tc_ctx *tc = open_for(CPU);
    tc_custom_op op;
    static const char source[] =
        "typedef int size_is_64[sizeof(size_t) == 8 ? 1 : -1];\n"
        "typedef int names[TC_E_SHAPE == -7 && TC_BOOL == 0 && TC_I8 == 2 &&\n"
        "    TC_BF16 == 9 && TC_F64 == 11 ? 1 : -1];\n"
        "static int put(int64_t *to, const tc_spec *s) {\n"
        "    *to++ = s->dtype, *to++ = s->rank;\n"
        "    for (int i = 0; i < TC_MAX_RANK; i++) *to++ = s->dims[i];\n"
        "    return TC_MAX_RANK + 2;\n"
        "}\n"
        "tc_status see (void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {\n"
        "    int64_t *y = out->data;\n"
        "    uint8_t u = 255; int8_t c = -1; int16_t s = -1; uint16_t v = 65535;\n"
        "    uint32_t w = 4294967295u; uint64_t l = (uint64_t)-1;\n"
        "    y += put(y, &in[0].spec), y += put(y, &in[1].spec);\n"
        "    y[0] = n_in, y[1] = out->spec.dims[0], y[2] = user == NULL;\n"
        "    y[3] = u == 255 && c < 0 && s < 0 && v > 0 && w > 0 && l > 0;\n"
        "    return TC_OK;\n"
        "}\n";
    memset(&op, 0, sizeof op);
    op.name = "see", op.n_in = 2, op.c_source = source, op.shape = spec_shape;
    int id = tc_register_op(tc, &op);
    tc_tensor in[2];
    in[0] = tc_zeros(tc, TC_DIMS(2, 3), TC_F64), in[1] = tc_zeros(tc, TC_DIMS(7), TC_U8);
    for (int region = 0; region < 2; region++) {
        int64_t got[24];
        static const int64_t want[24] = {TC_F64, 2, 2, 3, 0, 0, 0, 0, 0, 0,  TC_U8, 1,
                                         7,      0, 0, 0, 0, 0, 0, 0, 2, 24, 1,     1};
        if (region) tc_trace_begin(tc, "see");
        tc_tensor y = tc_custom(tc, id, in, 2);
        if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof want);
    }
    CHECK(!tc_error(tc));
    tc_close(tc);
}

// ---- where an op that is only text is needed ----
TEST(outside_regions_too) {
    tc_ctx *tc = open_for(CPU);
    int op = add_source(tc, "sums", NULL, sums_text, NULL);
    for (int k = 0; k < 3; k++) {
        tc_tensor t = tc_mul_s(matrix(tc, ROWS + k), 2);
        EXPECT_SUMS(tc_add_s(tc_custom(tc, op, &t, 1), 1), ROWS + k, 1);
    }
    CHECK_EQ(tc_stats_get(tc).compiles, 1);
    CHECK(!tc_error(tc));
    tc_close(tc);
}

TEST(past_a_limit_and_in_any_stance) {
    tc_ctx *tc = open_for(CPU);
    tc_options o = tc_options_default();
    o.recompile_limit = 1, o.dynamic = TC_DYNAMIC_OFF;
    int op = add_source(tc, "sums", NULL, sums_text, NULL);
    for (int k = 0; k < 4; k++) {
        if (k == 3) tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
        tc_tensor a = matrix(tc, ROWS + k);
        tc_trace_begin_at(tc, "limit", &o, "custom_source.c", 2);
        tc_tensor t = tc_mul_s(a, 2), y = tc_add_s(tc_custom(tc, op, &t, 1), 1);
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        EXPECT_SUMS(y, ROWS + k, 1);
    }
    CHECK_EQ(tc_stats_get(tc).compiles, 2); // what is interpreted needs no new code
    tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    for (int k = 0; k < 3; k++) {
        tc_tensor y;
        if (k == 1) tc_set_stance(tc, TC_STANCE_DEFAULT), tc_disable_begin(tc);
        CHECK_EQ(run_region(tc, op, ROWS, &y), TC_OK);
        EXPECT_SUMS(y, ROWS, 1);
        if (k == 1) tc_disable_end(tc), tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    }
    CHECK_EQ(tc_stats_get(tc).compiles, 2); // the op itself was there
    CHECK(!tc_error(tc));
    tc_close(tc);
}

TEST(a_result_that_is_read_later) {
    tc_ctx *tc = open_for(CPU);
    int op = add_source(tc, "sums", NULL, sums_text, NULL);
    tc_tensor a = matrix(tc, ROWS);
    tc_trace_begin(tc, "demand");
    tc_tensor t = tc_mul_s(a, 2), y = tc_custom(tc, op, &t, 1);
    tc_tensor z = tc_add_s(y, 1), s = tc_sum(z, -1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    EXPECT_SUMS(z, ROWS, 1);
    (void)s;
    CHECK(!tc_error(tc));
    tc_close(tc);
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor t = tc_mul_s(in[0], 2);
    out[0] = tc_add_s(tc_custom(tc, *(int *)user, &t, 1), 1);
}

TEST(in_a_function) {
    tc_ctx *tc = open_for(CPU);
    int op = add_source(tc, "sums", NULL, sums_text, NULL);
    tc_fn *f = tc_compile(tc, body, &op, sizeof op, NULL);
    for (int k = 0; k < 5; k++) {
        tc_tensor a = matrix(tc, ROWS), y;
        CHECK_EQ(tc_call(f, &a, 1, &y, 1), TC_OK);
        EXPECT_SUMS(y, ROWS, 1);
    }
    CHECK_EQ(tc_stats_get(tc).skips, 3);
    tc_close(tc);
}

TEST(many_of_them) {
    enum { MANY = 20 }; // more units than are built at once
    tc_ctx *tc = open_for(CPU);
    static char name[MANY][16], source[MANY][400];
    tc_tensor y = matrix(tc, ROWS);
    int op[MANY];
    for (int k = 0; k < MANY; k++) {
        snprintf(name[k], sizeof name[k], "plus%d", k);
        snprintf(
            source[k], sizeof source[k],
            "tc_status %s(void *u, const tc_buffer *in, int n, const tc_buffer *out) {\n"
            "    for (int i = 0; i < %d; i++)\n"
            "        ((float *)out->data)[i] = ((float *)in->data)[i] + %d;\n"
            "    return 0;\n}\n",
            name[k], N, k);
        op[k] = add_source(tc, name[k], NULL, source[k], NULL);
    }
    tc_trace_begin(tc, "many");
    for (int k = 0; k < MANY; k++) y = tc_custom(tc, op[k], &y, 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_NEAR(tc_item(tc_select(tc_select(y, 0, 0), 0, 0)), given(0) + 190, 1e-3);
    CHECK_EQ(tc_stats_get(tc).compiles, MANY);
    tc_close(tc);
}

// ---- errors ----
TEST(without_a_compiler) {
    static const use uses[] = {INTERP, NO_COMPILER};
    static const char *const text[] = {"the backend does not compile", "/nowhere/cc"};
    for (int k = 0; k < 2; k++) {
        tc_ctx *tc = open_for(uses[k]);
        int op = add_source(tc, "sums", NULL, sums_text, NULL);
        tc_tensor a = matrix(tc, ROWS), y;
        for (int turn = 0; turn < 2; turn++) {
            CHECK_EQ(run_region(tc, op, ROWS, &y), TC_E_COMPILER);
            CHECK(strstr(tc_error_text(tc), "\"sums\" has only c_source"));
            ERROR(TC_E_COMPILER, text[k]);
            CHECK(!tc_custom(tc, op, &a, 1).id);
            ERROR(TC_E_COMPILER, text[k]);
        }
        tc_trace_begin(tc, "in place");
        tc_mul_s_(a, 100);
        tc_custom(tc, op, &a, 1);
        CHECK_EQ(tc_trace_end(tc), TC_E_COMPILER);
        tc_error_clear(tc);
        CHECK_EQ(tc_item(tc_select(tc_select(a, 0, 0), 0, 0)), given(0));
        tc_close(tc);
    }
}

static const char broken[] = "tc_status sums(void *user, const tc_buffer *in, int n_in,\n"
                             "               const tc_buffer *out) {\n"
                             "    return undeclared;\n"
                             "}\n";

TEST(text_that_does_not_compile) {
    tc_ctx *tc = open_for(CPU);
    int op = add_source(tc, "sums", NULL, broken, NULL);
    tc_tensor y;
    CHECK_EQ(run_region(tc, op, ROWS, &y), TC_E_COMPILER);
    CHECK(strstr(tc_error_text(tc), "\"sums\" has only c_source"));
    CHECK(strstr(warning, "custom op sums:3") && strstr(warning, "undeclared"));
    ERROR(TC_E_COMPILER, "undeclared");
    // The other kernels were compiled nevertheless.
    CHECK_EQ(tc_stats_get(tc).kernels_made, 2);
    CHECK_EQ(run_region(tc, op, ROWS, &y), TC_E_COMPILER);
    tc_error_clear(tc);
    tc_tensor a = tc_add_s(matrix(tc, ROWS), 1);
    CHECK_NEAR(tc_item(tc_select(tc_select(a, 0, 0), 0, 0)), given(0) + 1, 1e-6);
    tc_close(tc);
}

TEST(run_takes_over) {
    static const char *const texts[] = {
        broken, "tc_status sums(int only);",
        "int missing(void);\n"
        "tc_status sums(void *u, const tc_buffer *i, int n, const tc_buffer *o) {\n"
        "    return missing();\n}",
        "#define x sums(\n", // the name is there, the function is not
    };
    for (int k = 0; k < 4; k++) {
        tc_ctx *tc = open_for(CPU);
        int op = add_source(tc, "sums", sums, texts[k], NULL);
        tc_tensor y;
        for (int turn = 0; turn < 2; turn++) {
            CHECK_EQ(run_region(tc, op, ROWS, &y), TC_OK);
            EXPECT_SUMS(y, ROWS, 1);
        }
        CHECK_EQ(warnings, 1);
        CHECK(strstr(warning, "custom op \"sums\"") && strstr(warning, "run is called"));
        CHECK_EQ(tc_stats_get(tc).kernels_made, 2);
        // The compiler is not to blame: kernels made later are compiled as before.
        tc_trace_begin(tc, "later");
        tc_tensor z = tc_exp(matrix(tc, ROWS));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        (void)z;
        CHECK_EQ(tc_stats_get(tc).kernels_made, 3);
        CHECK(!tc_error(tc));
        tc_close(tc);
    }
}

TEST(a_text_may_fail) {
    tc_ctx *tc = open_for(CPU);
    tc_custom_op op;
    static const char source[] =
        "tc_status fails(void *user, const tc_buffer *in, int n_in, const tc_buffer *out)\n"
        "{ return *(const int *)user; }\n";
    int status = TC_E_IO;
    memset(&op, 0, sizeof op);
    op.name = "fails", op.c_source = source, op.user = &status;
    int id = tc_register_op(tc, &op);
    tc_tensor y;
    CHECK_EQ(run_region(tc, id, ROWS, &y), TC_E_IO);
    ERROR(TC_E_IO, "\"fails\": its function returned TC_E_IO");
    status = 0;
    CHECK_EQ(run_region(tc, id, ROWS, &y), TC_OK);
    tc_close(tc);
}
