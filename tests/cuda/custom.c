// Custom ops whose cuda_source a device runs. On a GPU or on the emulator.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "halves.h"
#include "tools/cuda_custom.h"
#include "tools/cuda_device.h"
#include "tools/poor.h"

enum { N = 24 };

static char warned[2000]; // of this test
static int warnings;

static void keep_warning(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level < 1) return;
    warnings++;
    snprintf(warned, sizeof warned, "%s", text);
}

static tc_ctx *open_context(const char *folder) {
    tc_config config = tc_config_default();
    config.threads = 2;
    config.cache_dir = folder, config.no_disk_cache = !folder;
    config.logger.log = keep_warning;
    warnings = 0;
    return tc_open(&config);
}

// A test with a context `tc` that has the device; it must clear the errors it makes.
#define DEVICE(name)                                                                       \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) { on_device(body_##name); }                                                 \
    static void body_##name(tc_ctx *tc)

static void on_device(void (*body)(tc_ctx *)) {
    tc_ctx *tc = open_context(NULL);
    REQUIRE(open_device(tc));
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

static tc_tensor there(tc_ctx *tc, int n, double from, double step) {
    return tc_to(line(tc, n, from, step), DEVICE_NAME);
}

#define LINE(t, n, a, b) check_line(t, n, a, b, __LINE__)
static void check_line(tc_tensor t, int n, double a, double b, int at) {
    const char *name = tc_device_of(t);
    if (!name || strcmp(name, DEVICE_NAME)) FAIL("line %d: on %s", at, name ? name : "-");
    for (int i = 0; i<n; i += n> 4 ? n / 4 : 1)
        if (!(AT(t, i) == a + i * b))
            FAIL("line %d: element %d is %g, not %g", at, i, AT(t, i), a + i * b);
}

// ---- ops ----

static int host_calls;

// Twice input 0, of f32.
static tc_status twice_here(void *user, const tc_buffer *in, int n_in,
                            const tc_buffer *out) {
    int64_t n = 1;
    (void)user, (void)n_in;
    host_calls++;
    for (int d = 0; d < out->spec.rank; d++) n *= out->spec.dims[d];
    for (int64_t i = 0; i < n; i++)
        ((float *)out->data)[i] = 2 * ((const float *)in->data)[i];
    return TC_OK;
}

static const char twice_there[] = SIGNATURE("twice") ELEMENTS
    "((float *)out->data)[i] = 2 * ((const float *)in[0].data)[i];\n}\n";

static int add(tc_ctx *tc, const char *name, const char *source, tc_custom_run run) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = name, op.run = run, op.cuda_source = source;
    host_calls = 0;
    return tc_register_op(tc, &op);
}

// ---- where it runs ----

// Alone, between fused neighbours, in a function: never by the host.
DEVICE(runs_there) {
    int op = add(tc, "twice", twice_there, twice_here);
    for (int k = 0; k < 4; k++) {
        tc_tensor x = there(tc, N, k, 1), y, z;
        y = tc_custom(tc, op, &x, 1);
        LINE(y, N, 2 * k, 2);
        BEGIN("between");
        tc_tensor a = tc_add_s(x, 1);
        y = tc_custom(tc, op, &a, 1);
        z = tc_sum_all(tc_mul_s(y, 3));
        y = tc_sub_s(y, 1);
        END();
        LINE(y, N, 2 * k + 1, 2);
        CHECK_EQ(AT(z, 0), 6 * (N * (k + 1) + N * (N - 1) / 2));
    }
    CHECK_EQ(host_calls, 0);
    CHECK_EQ(warnings, 0);
    CHECK_EQ(tc_explain_counts(tc, "between").graphs, 1);
    tc_tensor h = line(tc, N, 1, 1), y = tc_custom(tc, op, &h, 1);
    CHECK_STR(tc_device_of(y), "cpu");
    CHECK_EQ(AT(y, 2), 6);
    CHECK_EQ(host_calls, 1);
}

static int fn_op;
static void in_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_tensor a = tc_add_s(in[0], 1);
    out[0] = tc_add(tc_custom(tc, fn_op, &a, 1), in[0]);
}

static void in_functions(tc_ctx *tc) {
    fn_op = add(tc, "twice", twice_there, twice_here);
    tc_fn *f = tc_compile(tc, in_body, NULL, 0, NULL);
    for (int k = 0; k < 8; k++) {
        int n = k < 4 ? N : N + 900 * (k - 3); // sizes come at run time
        tc_tensor x = there(tc, n, k, 1), y;
        CALL(f, &x, 1, &y, 1);
        LINE(y, n, 3 * k + 2, 3);
        tc_free(x), tc_free(y);
    }
    CHECK_EQ(host_calls, 0);
    CHECK(tc_stats_get(tc).skips >= 2);
}

DEVICE(functions) { in_functions(tc); }

TEST(functions_in_graphs) {
    setenv("TC_MODE", "reduce-overhead", 1);
    on_device(in_functions);
    unsetenv("TC_MODE");
}

// Several in one program, and views, which come row-major.
DEVICE(several_and_views) {
    static const char mixed_there[] =
        SIGNATURE("mixed") ELEMENTS "((float *)out->data)[i] = ((float *)in[0].data)[i] + "
                                    "10 * ((float *)in[1].data)[i];\n}\n";
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "mixed", op.n_in = 2, op.cuda_source = mixed_there;
    int mixed = tc_register_op(tc, &op);
    int twice = add(tc, "twice", twice_there, NULL);
    tc_tensor x = tc_reshape(there(tc, N, 0, 1), TC_DIMS(4, N / 4)), in[2], y;
    BEGIN("several");
    in[0] = tc_t(x);
    in[1] = tc_custom(tc, twice, &in[0], 1);
    y = tc_custom(tc, mixed, in, 2);
    y = tc_custom(tc, twice, &y, 1);
    END();
    for (int i = 0; i < N / 4; i++)
        for (int k = 0; k < 4; k++) CHECK_EQ(AT(y, i * 4 + k), 42 * (k * N / 4 + i));
}

// ---- dtypes, ranks, sizes ----

DEVICE(all_dtypes) {
    int op = add(tc, "any", any_there, NULL);
    for (int t = 0; t < TC_DTYPE_COUNT; t++) {
        tc_tensor x = tc_cast(there(tc, N, 0, 1), (tc_dtype)t), y;
        BEGIN("dtypes");
        y = tc_cast(tc_custom(tc, op, &x, 1), TC_F32);
        END();
        if (t == TC_BOOL) {
            CHECK_EQ(AT(y, 0), 0);
            CHECK_EQ(AT(y, 1), 1);
            x = tc_custom(tc, op, &x, 1);
            CHECK_EQ(tc_item_i64(tc_sum_all(tc_cast(x, TC_I64))), N - 1);
        } else if (t == TC_F8E4M3 || t == TC_F8E5M2) {
            byte_format f = t == TC_F8E4M3 ? byte_e4m3 : byte_e5m2;
            for (int i = 0; i < N; i += 7) {
                double from = byte_value(f, byte_nearest(f, i));
                CHECK_EQ(AT(y, i), byte_value(f, byte_nearest(f, from + 1)));
            }
        } else {
            LINE(y, N, 1, 1);
        }
    }
}

static tc_status sum_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)n_in;
    if (in->rank != 2) return TC_E_SHAPE;
    out->rank = 1, out->dims[0] = in->dims[0];
    return TC_OK;
}

DEVICE(rows_and_sizes) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "sums", op.cuda_source = sums_there, op.shape = sum_shape;
    int sums = tc_register_op(tc, &op);
    for (int rows = 0; rows < 4; rows++) {
        int cols = 700;
        tc_tensor x = tc_reshape(there(tc, rows * cols, 0, 1), TC_DIMS(rows, cols)), y;
        BEGIN("rows");
        y = tc_mul_s(tc_custom(tc, sums, &x, 1), 2);
        END();
        CHECK_EQ(tc_numel(y), rows);
        for (int r = 0; r < rows; r++)
            CHECK_EQ(AT(y, r), 2. * (r * cols * cols + cols * (cols - 1) / 2));
    }
    // No columns: an input without elements.
    tc_tensor none = tc_reshape(there(tc, 0, 0, 1), TC_DIMS(3, 0));
    CHECK_EQ(AT(tc_custom(tc, sums, &none, 1), 2), 0);
    // A number, of the device and of the host.
    int op2 = add(tc, "any", any_there, NULL);
    tc_tensor one = tc_to(tc_scalar(tc, 4, TC_F32), DEVICE_NAME), x = there(tc, 2, 1, 1);
    CHECK_EQ(tc_item(tc_custom(tc, op2, &one, 1)), 5);
    (void)x;
}

// ---- what does not compile ----

static const char *const bad_sources[] = {
    SIGNATURE("twice") "    this is no C++;\n}\n",
    "__device__ int twice(int);\n", // not defined as it must be
    SIGNATURE("twice"),             // not ended
    SIGNATURE("twice") "}\n}\nnamespace other {\n",
    "#error no twice(x) today\n",
};

// The host goes on, in the same program and in later ones, and there is one warning.
DEVICE(bad_source_with_a_host_function) {
    for (int b = 0; b < (int)(sizeof bad_sources / sizeof *bad_sources); b++) {
        tc_ctx *other = open_context(NULL);
        REQUIRE(open_device(other));
        int op = add(other, "twice", bad_sources[b], twice_here);
        CHECK(op > 0);
        int fine = b == 3; // odd, and correct
        for (int k = 0; k < 3; k++) {
            tc_tensor x = there(other, N, k, 1), a, y;
            tc_trace_begin_at(other, "bad", NULL, "test.c", 1);
            a = tc_add_s(x, 1);
            y = tc_sub_s(tc_custom(other, op, &a, 1), 1);
            CHECK(tc_trace_end(other) == TC_OK || FAIL("%s", tc_error_text(other)));
            if (!fine) LINE(y, N, 2 * k + 1, 2);
            a = tc_custom(other, op, &x, 1);
            if (!fine) LINE(a, N, 2 * k, 2);
        }
        CHECK(host_calls == (fine ? 0 : 6) || FAIL("%d: %d calls", b, host_calls));
        CHECK(warnings == !fine || FAIL("%d: %d warnings", b, warnings));
        const char *why = b == 1 ? "twice" : "error";
        CHECK(fine || (strstr(warned, "custom op \"twice\"") && strstr(warned + 40, why)) ||
              FAIL("%d: %s", b, warned));
        CHECK(!tc_error(other) || FAIL("%d: %s", b, tc_error_text(other)));
        tc_close(other);
    }
    CHECK_EQ(tc_sync(tc), TC_OK);
}

static tc_tensor work_custom(tc_ctx *tc, tc_tensor x) {
    int op = tc_op_named(tc, "twice");
    if (op <= 0) op = add(tc, "twice", twice_there, NULL);
    return tc_custom(tc, op, &x, 1);
}

// Its text compiles all the same.
TEST(memory_that_ended_is_not_remembered) { check_poor("a custom op", work_custom); }

DEVICE(bad_source_alone) {
    int op = add(tc, "twice", bad_sources[0], NULL);
    for (int k = 0; k < 2; k++) {
        tc_tensor x = there(tc, N, 0, 1);
        CHECK(!tc_custom(tc, op, &x, 1).id);
        CHECK(strstr(tc_error_text(tc), "this is no C++") ||
              strstr(tc_error_text(tc), "custom op twice") ||
              FAIL("%s", tc_error_text(tc)));
        ERROR(TC_E_COMPILER, "custom op \"twice\": its cuda_source does not compile");
        BEGIN("bad alone");
        (void)tc_add_s(tc_custom(tc, op, &x, 1), 1);
        CHECK_EQ(tc_trace_end(tc), TC_E_COMPILER);
        ERROR(TC_E_COMPILER, "neither run nor c_source");
    }
    tc_tensor h = line(tc, N, 0, 1);
    CHECK(!tc_custom(tc, op, &h, 1).id);
    ERROR(TC_E_DEVICE, "has only cuda_source, and its inputs are on cpu");
}

// The text of the host is compiled where that of the device is not.
DEVICE(bad_source_with_c_source) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "twice", op.cuda_source = bad_sources[0];
    op.c_source = "tc_status twice(void *user, const tc_buffer *in, int n_in, const "
                  "tc_buffer *out) {\n"
                  "    for (int64_t i = 0; i < out->spec.dims[0]; i++)\n"
                  "        ((float *)out->data)[i] = 2 * ((float *)in->data)[i];\n"
                  "    return TC_OK;\n}\n";
    int id = tc_register_op(tc, &op);
    tc_tensor x = there(tc, N, 1, 1), y = tc_custom(tc, id, &x, 1);
    LINE(y, N, 2, 2);
    CHECK_EQ(warnings, 1);
}

DEVICE(registering) {
    CHECK(!add(tc, "none", NULL, NULL));
    ERROR(TC_E_NULL, "\"none\" has neither run nor c_source nor cuda_source");
    CHECK(!add(tc, "absent", twice_there, twice_here));
    ERROR(TC_E_ARG, "the cuda_source of \"absent\" has no function of that name");
    CHECK(!add(tc, "twice", "#include <cuda_fp16.h>\nvoid twice(int);", twice_here));
    ERROR(TC_E_ARG, "the cuda_source of \"twice\" has an #include");
    CHECK(!add(tc, "twice", "", twice_here));
    ERROR(TC_E_ARG, "no function");
}

// Words that our own text has, as macros and names of the user's.
DEVICE(names_do_not_meet) {
    static const char source[] =
        "#define in 5 +\n#undef in\n#define tc_i64 char\n#define result 7\n"
        "#define operands 8\nstruct tc_kargs { int a; };\n"
        "static __device__ float tc_check(float x) { return 3 * x; }\n" SIGNATURE("rows")
            ELEMENTS
        "((float *)out->data)[i] = tc_check(((const float *)in[0].data)[i]);\n}\n";
    static char more[sizeof source + 40];
    int op = add(tc, "rows", source, NULL);
    snprintf(more, sizeof more, "// s0(\n%s", source);
    memcpy(strstr(more, "void rows"), "void s040", 9);
    int op2 = add(tc, "s040", more, NULL);
    for (int n = 3; n < 6; n++) {
        tc_tensor x = there(tc, n, 1, 1), a, y;
        BEGIN("names");
        a = tc_custom(tc, op, &x, 1);
        y = tc_flip(tc_custom(tc, op2, &a, 1), TC_DIMS(0));
        END();
        LINE(y, n, 9 * n, -9);
    }
}

// ---- caches ----

static void cached_run(const char *folder, uint64_t compiles) {
    tc_ctx *tc = open_context(folder);
    REQUIRE(open_device(tc));
    int op = add(tc, "twice", twice_there, NULL);
    tc_tensor x = there(tc, N, 1, 1), y = tc_custom(tc, op, &x, 1);
    LINE(y, N, 2, 2);
    CHECK_EQ(tc_stats_get(tc).compiles, compiles);
    y = tc_custom(tc, op, &x, 1);
    LINE(y, N, 2, 2);
    CHECK_EQ(tc_stats_get(tc).compiles, compiles);
    tc_close(tc);
}

// By its text: another context finds it on disk, and another text is another entry.
TEST(on_disk) {
    char folder[] = "/tmp/tc-custom-XXXXXX";
    REQUIRE(mkdtemp(folder));
    cached_run(folder, 1);
    cached_run(folder, 0);
    tc_ctx *tc = open_context(folder);
    REQUIRE(open_device(tc));
    int op = add(tc, "twice",
                 SIGNATURE("twice") ELEMENTS
                 "((float *)out->data)[i] = 5 * ((const float *)in[0].data)[i];\n}\n",
                 NULL);
    tc_tensor x = there(tc, N, 1, 1), y = tc_custom(tc, op, &x, 1);
    LINE(y, N, 5, 5);
    CHECK_EQ(tc_stats_get(tc).compiles, 1);
    tc_close(tc);
    test_folder_remove(folder);
    check_device_closed();
}

// ---- without memory ----

static int left = -1; // allocations that still work; -1 = all

static void *limited(void *user, void *p, size_t old_size, size_t new_size) {
    (void)user;
    if (new_size && !left) return NULL;
    if (new_size && left > 0) left--;
    return checked_realloc(p, old_size, new_size);
}

// The `n`th allocation from here on fails, and all behind it, until there is memory again.
static int short_run(const char *folder, const char *source, int n) {
    tc_config config = tc_config_default();
    float data[N] = {1, 2, 3};
    config.threads = 1, config.cache_dir = folder, config.allocator.realloc = limited;
    config.logger.log = keep_warning;
    tc_ctx *tc = tc_open(&config);
    if (!CHECK(open_device(tc))) exit(TEST_FAILED);
    tc_tensor h = tc_from_data(tc, data, TC_DIMS(N), TC_F32), x = tc_null(), y = x;
    tc_tensor s = tc_from_data(tc, data + 2, TC_SCALAR, TC_F32);
    left = n;
    tc_status status = tc_set_default_device(tc, DEVICE_NAME);
    int op = add(tc, "twice", source, twice_here);
    x = tc_from_data(tc, data, TC_DIMS(N), TC_F32);
    BEGIN("short");
    if (op)
        y = tc_add(tc_mul(tc_custom(tc, op, &x, 1), s), tc_ones(tc, TC_DIMS(N), TC_F32));
    status = status ? status : tc_trace_end(tc);
    int enough = left != 0;
    left = -1;
    if (enough) {
        CHECK_EQ(status, TC_OK);
        LINE(y, 3, 7, 6);
        if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    } else if (tc_error(tc) != TC_E_NOMEM) { // it got along without
        CHECK(!tc_error(tc) || FAIL("%d: %s", n, tc_error_text(tc)));
        LINE(y, 3, 7, 6);
    }
    tc_error_clear(tc);
    op = tc_op_named(tc, "twice") ? tc_op_named(tc, "twice")
                                  : add(tc, "twice", source, twice_here);
    x = tc_to(h, DEVICE_NAME);
    y = tc_custom(tc, op, &x, 1);
    LINE(y, 3, 2, 2);
    tc_close(tc);
    check_device_closed();
    return enough;
}

static void without_memory(const char *source) {
    char folder[] = "/tmp/tc-custom-XXXXXX";
    int n = 0;
    REQUIRE(mkdtemp(folder));
    short_run(folder, source, 1 << 30); // from then on texts are on disk
    for (; !short_run(folder, source, n) && n < 100000; n += 1 + n / 12) continue;
    CHECK(n > 50 && n < 100000);
    test_folder_remove(folder);
}

TEST(no_memory) { without_memory(twice_there); }
TEST(no_memory_for_the_host) { without_memory(bad_sources[0]); }
