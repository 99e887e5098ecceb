// Tensors and programs on a CUDA device as users see them, on a GPU or on the emulator. Values
// come from plain C; what is compared exactly is exact in f32.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"
#include "tools/poor.h"

enum { N = 1000 };

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 2;
    return tc_open(&config);
}

// A test with a context `tc` that has the device; it must clear the errors it makes.
#define DEVICE(name)                                                                       \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) { on_device(body_##name); }                                                 \
    static void body_##name(tc_ctx *tc)

static void on_device(void (*body)(tc_ctx *)) {
    tc_ctx *tc = open_context();
    REQUIRE(open_device(tc));
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

// The same in each way to run: settings of the environment, as a context reads them.
typedef struct setting {
    const char *name, *variable, *value;
} setting;

static const setting settings[] = {{"default", "TC_MODE", "default"},
                                   {"reduce-overhead", "TC_MODE", "reduce-overhead"},
                                   {"cudagraphs", "TC_BACKEND", "cudagraphs"},
                                   {"one by one", "TC_MODE", "max-autotune-no-cudagraphs"},
                                   {"TC_CUDA_SYNC", "TC_CUDA_SYNC", "1"}};

static void in_setting(int i, void (*body)(tc_ctx *)) {
    int failed = test_failures;
    setenv(settings[i].variable, settings[i].value, 1);
    on_device(body);
    unsetenv(settings[i].variable);
    if (test_failures > failed) printf("  (%s)\n", settings[i].name);
}

// The emulator has every second one.
#define SETTINGS(name)                                                                     \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) {                                                                           \
        for (int i = 0; i < (int)(sizeof settings / sizeof *settings);                     \
             i += device_is_real ? 1 : 2)                                                  \
            in_setting(i, body_##name);                                                    \
    }                                                                                      \
    static void body_##name(tc_ctx *tc)

static tc_tensor to_device(tc_tensor t) { return tc_to(t, DEVICE_NAME); }

// f32 [n] there: from + i * step
static tc_tensor there(tc_ctx *tc, int n, double from, double step) {
    tc_tensor t = line(tc, n, from, step), d = to_device(t);
    tc_free(t);
    return d;
}

// t is on the device, and its element i is a + i * b.
static void check_line(tc_tensor t, int n, double a, double b) {
    float *p = (float *)calloc((size_t)n + 1, sizeof *p);
    const char *name = tc_device_of(t);
    int bad = 0;
    CHECK_STR(name, DEVICE_NAME);
    CHECK_EQ(tc_read(t, p, (size_t)n * sizeof *p), TC_OK);
    for (int i = 0; i < n && bad < 3; i++)
        if ((double)p[i] != (double)(float)(a + i * b))
            FAIL("element %d is %g, not %g", i, (double)p[i], a + i * b), bad++;
    free(p);
}

// ---- moving ----

// Bytes of elements that are numbers in every dtype: small, and none is a bool but 0 and 1.
static void fill(unsigned char *p, int n, tc_dtype dtype) {
    size_t size = tc_dtype_bytes(dtype);
    for (int i = 0; i < n * (int)size; i++)
        p[i] = (unsigned char)(dtype == TC_BOOL ? i % 3 == 1 : i * 37 % 113);
}

static tc_tensor view_of(tc_tensor base, int which) {
    switch (which) {
    case 0: return base;
    case 1: return tc_permute(base, TC_DIMS(2, 0, 1));
    case 2: return tc_slice(base, 1, 1, TC_END, 2);
    case 3: return tc_slice(base, 0, -1, TC_END, -1);
    case 4: return tc_expand(tc_narrow(base, 0, 1, 1), TC_DIMS(3, 5, 7));
    case 5: return tc_slice(base, 0, 2, 2, 1); // nothing
    case 6: return tc_narrow(base, 0, 1, 3);   // dense, and begins at an odd place
    case 7: return tc_select(tc_select(tc_select(base, 0, 3), 0, 2), 0, 5); // 0-d
    default: return tc_narrow(tc_narrow(tc_narrow(base, 0, 1, 1), 1, 1, 1), 2, 3, 1);
    }
}

enum { VIEWS = 9, BASE = 4 * 5 * 7 };

static void check_same(tc_tensor a, tc_tensor b, const char *what, tc_dtype dtype,
                       int view) {
    unsigned char x[BASE * 8], y[BASE * 8];
    size_t n = (size_t)tc_numel(a) * tc_dtype_bytes(dtype);
    memset(x, 1, sizeof x), memset(y, 2, sizeof y);
    if (tc_read(a, x, n) || tc_read(b, y, n) || memcmp(x, y, n))
        FAIL("%s, %s, view %d: %s", what, tc_dtype_name(dtype), view,
             tc_status_name(TC_OK));
}

// Views are moved, and views of what was moved are read: that takes a kernel for each.
DEVICE(moves) {
    unsigned char data[BASE * 8];
    for (int t = 0; t < TC_DTYPE_COUNT; t++) {
        tc_dtype dtype = (tc_dtype)t;
        tc_scope_begin(tc);
        fill(data, BASE, dtype);
        tc_tensor base = tc_from_data(tc, data, TC_DIMS(4, 5, 7), dtype),
                  d = to_device(base);
        CHECK_STR(tc_device_of(base), "cpu");
        for (int v = 0; v < VIEWS; v++) {
            tc_tensor from = view_of(base, v), to = to_device(from),
                      back = tc_to(to, "cpu");
            CHECK_STR(tc_device_of(to), DEVICE_NAME);
            CHECK_STR(tc_device_of(back), "cpu");
            CHECK_EQ(tc_dtype_of(to), dtype);
            CHECK_EQ(tc_rank(to), tc_rank(from));
            check_same(from, to, "moved", dtype, v);
            check_same(from, back, "moved back", dtype, v);
            if (!device_is_real && dtype != TC_U8 && !(dtype == TC_F64 && v == 2)) continue;
            check_same(from, view_of(d, v), "a view there", dtype, v);
            check_same(from, tc_to(view_of(d, v), "cpu"), "a view there", dtype, v);
        }
        tc_scope_end(tc);
    }
}

// The device it is on already: the same memory.
DEVICE(moves_to_where_it_is) {
    tc_tensor x = there(tc, N, 1, 1), same = to_device(x), h = line(tc, 5, 1, 1);
    CHECK(same.id != x.id);
    tc_mul_s_(x, 2);
    check_line(same, N, 2, 2);
    tc_free(x);
    check_line(same, N, 2, 2);
    tc_tensor host = tc_to(h, "cpu");
    tc_mul_s_(h, 3);
    CHECK_EQ(AT(host, 1), 6);
}

DEVICE(names) {
    tc_tensor x = line(tc, 5, 1, 1), none = tc_null();
    CHECK(!tc_to(x, "cuda:7").id);
    ERROR(TC_E_DEVICE, "\"cuda:7\"");
    CHECK(!tc_to(x, "gpu").id);
    ERROR(TC_E_DEVICE, "tc_cuda_open");
    CHECK(!tc_to(x, NULL).id);
    ERROR(TC_E_NULL, "NULL");
    CHECK(!tc_to(none, DEVICE_NAME).id);
    CHECK(!tc_device_of(none));
    tc_error_clear(tc);
    CHECK_EQ(tc_cuda_open(tc, 0), TC_OK); // again
    CHECK(tc_cuda_open(tc, 99) < 0);
    CHECK(strstr(tc_error_text(tc), "99") || FAIL("%s", tc_error_text(tc)));
    tc_error_clear(tc);
    CHECK(tc_cuda_stream(tc, 0) != NULL && tc_cuda_stream(tc, 1) == NULL);
    CHECK_EQ(tc_sync(tc), TC_OK);
    CHECK(tc_registered_device(tc, DEVICE_NAME) && !tc_registered_device(tc, "cpu"));
}

// ---- regions ----

SETTINGS(regions) {
    for (int k = 0; k < 6; k++) {
        tc_tensor x = there(tc, N, k, 1), y, z, s;
        BEGIN("chain");
        y = tc_relu(tc_add_s(tc_mul_s(x, 2), 1));
        s = tc_sum(tc_reshape(tc_sub_s(y, 1), TC_DIMS(10, 100)), 1);
        z = tc_add(tc_reshape(y, TC_DIMS(10, 100)), tc_unsqueeze(s, 1));
        END();
        CHECK_STR(tc_device_of(z), DEVICE_NAME);
        for (int i = 0; i < N; i += 77) {
            double sum = 0;
            for (int j = i / 100 * 100, n = 0; n < 100; n++, j++) sum += 2 * (k + j);
            CHECK_EQ(AT(z, i), 2 * (k + i) + 1 + sum);
        }
        CHECK_EQ(AT(s, 0), 2 * (100 * k + 4950));
        tc_free(x);
    }
    CHECK_EQ(tc_explain_counts(tc, "chain").graphs, 1);
    CHECK(tc_sync(tc) == TC_OK);
}

// A chain whose kernels do not merge, so that graphs have edges.
SETTINGS(graphs) {
    tc_tensor w = there(tc, 64 * 64, 0, 0);
    tc_add_s_(w, 1);
    w = tc_reshape(w, TC_DIMS(64, 64));
    for (int k = 0; k < 6; k++) {
        int rows = k < 4 ? 8 : 3; // two sets of sizes, by which launches change
        tc_tensor x = tc_reshape(there(tc, rows * 64, k, 0), TC_DIMS(rows, 64)), y, m;
        BEGIN("products");
        y = x;
        for (int i = 0; i < 4; i++) y = tc_mul_s(tc_matmul(y, w), 1 / 64. + (k % 2) / 64.);
        m = tc_amax(y, 1);
        END();
        CHECK_EQ(AT(y, 5), k * (k % 2 ? 16 : 1));
        CHECK_EQ(AT(m, rows - 1), k * (k % 2 ? 16 : 1));
        CHECK_EQ(tc_numel(y), rows * 64);
    }
}

DEVICE(mixed_devices) {
    tc_tensor x = there(tc, 4, 0, 1), h = line(tc, 4, 0, 1);
    CHECK(!tc_add(x, h).id);
    ERROR(TC_E_DEVICE, "cuda:0");
    CHECK(!tc_add(h, x).id);
    ERROR(TC_E_DEVICE, "cpu");
    BEGIN("mixed");
    tc_tensor y = tc_add(tc_mul_s(x, 2), tc_mul_s(h, 3));
    CHECK(!y.id);
    (void)tc_trace_end(tc);
    CHECK(strstr(tc_error_text(tc), "cuda:0") && strstr(tc_error_text(tc), "cpu"));
    ERROR(TC_E_DEVICE, "tc_to");
    check_line(x, 4, 0, 1);
    CHECK(tc_copy_(x, tc_add_s(h, 1)).id); // from anywhere
    check_line(x, 4, 1, 1);
    CHECK(!tc_add_(x, h).id);
    ERROR(TC_E_DEVICE, "cpu");
}

// The region of one place runs where its inputs are.
DEVICE(a_region_on_both) {
    for (int k = 0; k < 4; k++) {
        tc_tensor x = k % 2 ? there(tc, N, 1, 1) : line(tc, N, 1, 1), y;
        BEGIN("both");
        y = tc_mul_s(tc_add_s(x, 1), 2);
        END();
        CHECK_STR(tc_device_of(y), k % 2 ? DEVICE_NAME : "cpu");
        CHECK_EQ(AT(y, 10), 24);
    }
}

DEVICE(reading) {
    tc_tensor x = there(tc, 6, 1, 1), one = tc_to(tc_scalar(tc, 42, TC_F64), DEVICE_NAME);
    CHECK(!tc_data(x)); // there is nothing that the host could look at
    ERROR(TC_E_DEVICE, "tc_read");
    CHECK_EQ(tc_item(one), 42);
    CHECK_EQ(tc_item_i64(tc_select(x, 0, 3)), 4);
    fflush(stdout);
    int saved = dup(1);
    char path[] = "/tmp/tc-print-XXXXXX", text[400] = "";
    int file = mkstemp(path);
    dup2(file, 1);
    CHECK_EQ(tc_print(tc_reshape(x, TC_DIMS(2, 3))), TC_OK);
    fflush(stdout);
    dup2(saved, 1);
    CHECK(pread(file, text, sizeof text - 1, 0) > 0);
    close(file), close(saved), unlink(path);
    CHECK(strstr(text, "[4., 5., 6.]") || FAIL("%s", text));
    float few[2];
    CHECK_EQ(tc_read(x, few, sizeof few), TC_E_ARG);
    ERROR(TC_E_ARG, "24");
}

DEVICE(kept_and_scopes) {
    tc_tensor x = there(tc, N, 0, 1), kept[3], y;
    for (int k = 0; k < 3; k++) {
        BEGIN("kept");
        kept[k] = tc_keep(tc_add_s(x, k));
        y = tc_mul_s(kept[k], 2);
        END();
        check_line(y, N, 2 * k, 2);
    }
    for (int k = 0; k < 3; k++) check_line(kept[k], N, k, 1);
    tc_scope_begin(tc);
    tc_tensor inner = tc_add_s(x, 1);
    check_line(inner, N, 1, 1);
    tc_scope_end(tc);
    CHECK(!tc_device_of(inner));
    for (int k = 0; k < 3; k++) tc_free(kept[k]);
    tc_error_clear(tc);
}

// A large intermediate that is read later is computed on demand.
DEVICE(on_demand) {
    tc_tensor x = there(tc, N, 0, 1), mid, y;
    for (int k = 0; k < 3; k++) {
        BEGIN("demand");
        mid = tc_add_s(x, 1);
        y = tc_mul_s(mid, 2);
        END();
        check_line(mid, N, 1, 1);
        check_line(y, N, 2, 2);
    }
}

DEVICE(graph_breaks) {
    for (int k = 0; k < 4; k++) {
        tc_tensor x = there(tc, 8, k, 0), y;
        BEGIN("break");
        tc_tensor s = tc_sum_all(x);
        y = tc_item(s) > 10 ? tc_add_s(x, 100) : tc_mul_s(x, -1);
        tc_tensor h = tc_to(y, "cpu"); // another
        CHECK_EQ(AT(h, 7), 8 * k > 10 ? 100 + k : -k);
        y = tc_add_s(y, 1);
        END();
        check_line(y, 8, 1 + (8 * k > 10 ? 100 + k : -k), 0);
    }
    CHECK(tc_stats_get(tc).graph_breaks > 0);
}

// What is read inside a region may be a view.
DEVICE(views_read_inside) {
    for (int k = 0; k < 3; k++) {
        float v[5], item[5] = {0};
        tc_tensor x = there(tc, 10, k, 1), odd = tc_slice(x, 0, 1, TC_END, 2);
        BEGIN("views read");
        CHECK_EQ(tc_read(odd, v, sizeof v), TC_OK);
        tc_tensor y = tc_add_s(x, (double)v[4]);
        CHECK_EQ(tc_read(tc_slice(y, 0, 0, TC_END, 2), item, sizeof item), TC_OK);
        CHECK_EQ(tc_item(tc_slice(tc_slice(x, 0, 0, TC_END, 3), 0, 2, 3, 1)), k + 6);
        END();
        CHECK_EQ(v[4], k + 9);
        CHECK_EQ(item[4], 2 * k + 17);
        check_line(y, 10, 2 * k + 9, 1);
    }
}

// ---- in place ----

DEVICE(in_place) {
    for (int k = 0; k < 3; k++) {
        tc_tensor x = there(tc, N, 0, 1), y;
        BEGIN("in place");
        tc_add_s_(x, 5);
        y = tc_mul_s(x, 2);
        tc_mul_s_(x, 3);
        END();
        check_line(x, N, 15, 3);
        check_line(y, N, 10, 2);
        tc_neg_(x);
        check_line(x, N, -15, -3);
    }
}

// x [10, 100]: a part of it, dense or strided, is written.
static tc_tensor part_of(tc_tensor x, int which) {
    if (which == 0) return tc_narrow(x, 0, 3, 4);
    if (which == 1) return tc_narrow(x, 1, 3, 50);
    if (which == 2) return tc_slice(x, 1, 1, TC_END, 3);
    if (which == 3) return tc_t(x);
    return tc_slice(x, 0, -1, TC_END, -2);
}

static int is_in_part(int i, int which) {
    int r = i / 100, c = i % 100;
    if (which == 0) return r >= 3 && r < 7;
    if (which == 1) return c >= 3 && c < 53;
    if (which == 2) return c % 3 == 1;
    return which == 3 || r % 2 == 1;
}

DEVICE(views_in_place) {
    for (int which = 0; which < 5; which++)
        for (int k = 0; k < 2; k++) {
            char name[20];
            tc_tensor x = tc_reshape(there(tc, N, 0, 1), TC_DIMS(10, 100));
            tc_tensor part = part_of(x, which);
            snprintf(name, sizeof name, "part %d", which);
            if (k == 1) BEGIN(name);
            tc_mul_s_(part, 2);
            tc_add_(part, tc_ones_like(part));
            if (k == 1) END();
            for (int i = 0; i < N; i++)
                if (AT(x, i) != (is_in_part(i, which) ? 2 * i + 1 : i)) {
                    FAIL("part %d, element %d is %g", which, i, AT(x, i));
                    break;
                }
        }
}

// Elements of every size go to strided places.
DEVICE(strided_writes_of_all_sizes) {
    static const tc_dtype dtypes[] = {TC_U8, TC_I16, TC_F32, TC_F64, TC_I64};
    unsigned char data[12 * 8], got[12 * 8], want[12 * 8];
    for (int t = 0; t < 5; t++) {
        size_t size = tc_dtype_bytes(dtypes[t]);
        fill(data, 12, dtypes[t]);
        tc_tensor x = to_device(tc_from_data(tc, data, TC_DIMS(4, 3), dtypes[t]));
        tc_tensor y = to_device(tc_from_data(tc, data, TC_DIMS(3, 4), dtypes[t]));
        CHECK(tc_copy_(tc_t(x), y).id);
        for (size_t i = 0; i < 12; i++)
            memcpy(want + i * size, data + (i % 3 * 4 + i / 3) * size, size);
        CHECK_EQ(tc_read(x, got, 12 * size), TC_OK);
        CHECK_BYTES(got, want, 12 * size);
    }
}

// ---- addresses that kernels cannot take as they are ----

SETTINGS(unaligned_inputs) {
    tc_tensor x = there(tc, N, 0, 1), y, z;
    for (int k = 0; k < 5; k++) {
        tc_tensor v = tc_narrow(x, 0, k, 512), w = tc_narrow(x, 0, k + 3, 512);
        BEGIN("unaligned");
        y = tc_mul_s(v, 2);
        z = tc_sum(tc_reshape(tc_sub(w, v), TC_DIMS(8, 64)), 1);
        END();
        check_line(y, 512, 2 * k, 2);
        check_line(z, 8, 3 * 64, 0);
    }
    // Backwards: the first element is the last of the memory.
    tc_tensor back = tc_slice(tc_narrow(x, 0, 1, 800), 0, -1, TC_END, -1);
    check_line(tc_mul_s(back, 1), 800, 800, -1);
    // Rows of which a part is used.
    tc_tensor rows = tc_narrow(tc_reshape(x, TC_DIMS(10, 100)), 1, 3, 64);
    y = tc_sum(rows, 1);
    check_line(y, 10, 64 * 3 + 63 * 32, 6400);
}

SETTINGS(unaligned_in_place) {
    tc_tensor x = there(tc, N, 0, 1);
    for (int k = 0; k < 4; k++) {
        tc_tensor v = tc_narrow(x, 0, 1, 512);
        BEGIN("in place");
        tc_add_s_(v, 1);
        END();
        CHECK_EQ(AT(x, 0), 0);
        CHECK_EQ(AT(x, 1), 2 + k);
        CHECK_EQ(AT(x, 512), 513 + k);
        CHECK_EQ(AT(x, 513), 513);
    }
}

static void doubled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

// The short cut of calls has addresses of its own.
SETTINGS(unaligned_calls) {
    tc_tensor x = there(tc, N, 0, 1), y;
    tc_fn *f = tc_compile(tc, doubled, NULL, 0, NULL);
    for (int k = 0; k < 8; k++) {
        tc_tensor v = tc_narrow(x, 0, k / 2 * 3, 256);
        CALL(f, &v, 1, &y, 1);
        check_line(y, 256, 2 * (k / 2 * 3), 2);
        tc_free(y);
        if (k < 4) continue;
        tc_add_s_(v, 1); // what is called with the same tensor has other values
        CALL(f, &v, 1, &y, 1);
        check_line(y, 256, 2 * (k / 2 * 3) + 2, 2);
        tc_free(y);
        tc_sub_s_(v, 1);
        CALL(f, &v, 1, &y, 1);
        check_line(y, 256, 2 * (k / 2 * 3), 2);
        tc_free(y);
    }
    CHECK(tc_stats_get(tc).skips > 6);
}

// Softmax down columns whose length is known at run time, of what has to be kept for a second reading.
SETTINGS(columns_of_any_length) {
    static const int size[][3] = {
        {1, 1, 1}, {48, 8, 8}, {301, 4, 2}, {7, 3, 5}, {300, 2, 4}};
    for (int i = 0; i < 5; i++) {
        int n = size[i][0] * size[i][1] * size[i][2];
        float got[48 * 64], want[48 * 64];
        tc_scope_begin(tc);
        tc_tensor host = tc_reshape(tc_cast(line(tc, n, -3, 0.01), TC_I64),
                                    TC_DIMS(size[i][0], size[i][1], size[i][2]));
        tc_options o = tc_options_default();
        o.round_each_op = 1;
        for (int device = 0; device < 2; device++) {
            tc_tensor x = device ? to_device(host) : host;
            tc_trace_begin_with(tc, "columns", &o);
            tc_tensor half = tc_keep(tc_cast(x, TC_BF16));
            tc_tensor y = tc_keep(tc_softmax(tc_keep(tc_clamp(half, -10000, 10000)), 0));
            tc_trace_end(tc);
            y = tc_cast(y, TC_F32);
            CHECK_EQ(tc_read(y, device ? got : want, (size_t)n * sizeof *got), TC_OK);
        }
        for (int k = 0; k < n; k++) CHECK_NEAR(got[k], want[k], 0.02 * (double)want[k]);
        tc_scope_end(tc);
    }
}

// ---- functions ----

static void affine(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_mul_s(in[0], 2), in[1]);
    out[1] = tc_sum_all(out[0]);
}

SETTINGS(functions) {
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    tc_tensor in[2], out[2], b = there(tc, 100, 1, 0);
    for (int k = 0; k < 8; k++) {
        in[0] = there(tc, 100, k, 1), in[1] = b;
        CALL(f, in, 2, out, 2);
        check_line(out[0], 100, 2 * k + 1, 2);
        CHECK_EQ(AT(out[1], 0), 100 * (2 * k + 1) + 2 * 4950);
        tc_free(in[0]), tc_free(out[0]), tc_free(out[1]);
    }
    CHECK(tc_stats_get(tc).skips >= 6);
    // The same tensors, whose values change.
    in[0] = there(tc, 100, 0, 1);
    for (int k = 0; k < 4; k++) {
        CALL(f, in, 2, out, 2);
        check_line(out[0], 100, 2 * k + 1, 2);
        tc_free(out[0]), tc_free(out[1]);
        tc_add_s_(in[0], 1);
    }
    // On the host it is another entry, and then again this one.
    tc_tensor h[2];
    h[0] = line(tc, 100, 3, 1), h[1] = line(tc, 100, 1, 0);
    CALL(f, h, 2, out, 2);
    CHECK_STR(tc_device_of(out[0]), "cpu");
    CHECK_EQ(AT(out[0], 1), 9);
    CALL(f, in, 2, out, 2);
    check_line(out[0], 100, 9, 2);
    h[1] = b;
    CHECK_EQ(tc_call(f, h, 2, out, 2), TC_E_DEVICE);
    ERROR(TC_E_DEVICE, "");
}

static void outer(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_unsqueeze(in[0], 1), tc_unsqueeze(in[1], 0));
}

SETTINGS(call_into) {
    tc_fn *f = tc_compile(tc, outer, NULL, 0, NULL);
    tc_tensor in[2], to = tc_reshape(there(tc, 64 * 8, 0, 0), TC_DIMS(64, 8));
    for (int k = 0; k < 6; k++) {
        in[0] = there(tc, 64, 8 * k, 8), in[1] = there(tc, 8, 0, 1);
        CHECK_EQ(tc_call_into(f, in, 2, &to, 1), TC_OK);
        check_line(to, 64 * 8, 8 * k, 1);
        tc_free(in[0]), tc_free(in[1]);
    }
    CHECK(tc_stats_get(tc).skips >= 4);
}

static void scaled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = tc_add_s(tc_mul(in[0], in[1]), *(const double *)user);
    out[1] = tc_sum_all(in[0]);
}

SETTINGS(sizes_and_values_at_run_time) {
    double add = 1;
    tc_fn *f = tc_compile(tc, scaled, &add, sizeof add, NULL);
    for (int k = 0; k < 10; k++) {
        int n = 100 + k % 5 * 37;
        tc_tensor in[2], out[2];
        in[0] = line(tc, n, 0, 1);
        if (k == 0) CHECK_EQ(tc_mark_dynamic(in[0], 0, 0, 0), TC_OK);
        in[0] = to_device(in[0]), in[1] = to_device(tc_scalar(tc, k, TC_F32));
        if (k == 0) CHECK_EQ(tc_mark_dynamic(in[0], 0, 0, 0), TC_OK);
        add = k % 3;
        CALL(f, in, 2, out, 2);
        check_line(out[0], n, k % 3, k);
        CHECK_EQ(AT(out[1], 0), n * (n - 1) / 2);
    }
    CHECK(tc_stats_get(tc).programs <= 8);
    for (int k = 0; k < 4; k++) { // a number of the recording that changes
        tc_tensor x = there(tc, 64 + k, 0, 1), y;
        BEGIN("scalar");
        y = tc_mul_s(x, 0.5 * k + 1);
        END();
        check_line(y, 64 + k, 0, 0.5 * k + 1);
    }
    CHECK(tc_explain_counts(tc, "scalar").programs <= 2);
}

// ---- products ----

// In [-1, 1], of all sizes.
static float some_float(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return (float)((double)*state / 2147483648.0 - 1) * ldexpf(1, -(int)(*state >> 8) % 6);
}

// Products so large that tensor cores make them are at least as near as a chain of f32, and keep what is
// not finite.
DEVICE(large_products_of_f32) {
    enum { M = 1536, P = 1408, D = 130 };
    float *a = (float *)malloc(M * D * sizeof *a), *b = (float *)malloc(D * P * sizeof *b),
          *y = (float *)malloc((size_t)M * P * sizeof *y);
    uint32_t state = 1;
    double ours = 0, chain = 0;
    int wrong = 0;
    REQUIRE(a && b && y);
    for (int i = 0; i < M * D; i++) a[i] = some_float(&state);
    for (int i = 0; i < D * P; i++) b[i] = some_float(&state);
    a[7 * D + 3] = INFINITY, b[5 * P + 9] = -INFINITY, a[20 * D] = NAN;
    BEGIN("large");
    tc_tensor t = tc_matmul(to_device(tc_from_data(tc, a, TC_DIMS(M, D), TC_F32)),
                            to_device(tc_from_data(tc, b, TC_DIMS(D, P), TC_F32)));
    END();
    CHECK_EQ(tc_read(t, y, (size_t)M * P * sizeof *y), TC_OK);
    for (int r = 0; r < M; r += r < 24 ? 1 : 7) {
        for (int c = 0; c < P; c++) {
            double want = 0, size = 0;
            float sum = 0, have = y[r * P + c];
            for (int k = 0; k < D; k++) {
                double z = (double)a[r * D + k] * b[k * P + c];
                want += z, size += fabs(z);
                sum = fmaf(a[r * D + k], b[k * P + c], sum);
            }
            if (!isfinite(want)) {
                wrong += isnan(want) ? !isnan(have) : have != want;
                continue;
            }
            ours += (have - want) / size * ((have - want) / size);
            chain += (sum - want) / size * ((sum - want) / size);
        }
    }
    CHECK_EQ(wrong, 0);
    CHECK(ours <= chain || FAIL("squared errors %g, of a chain %g", ours, chain));
    free(a), free(b), free(y);
}

// ---- numbers ----

DEVICE(random_numbers) {
    float a[2][N], b[2][N], c[N];
    for (int k = 0; k < 2; k++) {
        tc_tensor x = there(tc, N, 0, 0), u, n;
        CHECK_EQ(tc_manual_seed(tc, 7), TC_OK);
        BEGIN("random");
        u = tc_add(x, tc_rand(tc, TC_DIMS(N), TC_F32));
        n = tc_add(x, tc_randn(tc, TC_DIMS(N), TC_F32));
        if (tc_trace_end(tc) && strstr(tc_error_text(tc), "no text for random yet")) {
            tc_error_clear(tc);
            SKIP("random numbers have no text yet");
            return;
        }
        CHECK_EQ(tc_read(u, a[k], sizeof a[k]), TC_OK);
        CHECK_EQ(tc_read(n, b[k], sizeof b[k]), TC_OK);
    }
    CHECK_BYTES(a[0], a[1], sizeof a[0]);
    CHECK_BYTES(b[0], b[1], sizeof b[0]);
    CHECK_EQ(tc_manual_seed(tc, 7), TC_OK);
    tc_tensor x = line(tc, N, 0, 0), u; // the host's are the same
    BEGIN("random");
    u = tc_add(x, tc_rand(tc, TC_DIMS(N), TC_F32));
    tc_tensor n = tc_add(x, tc_randn(tc, TC_DIMS(N), TC_F32));
    END();
    CHECK_EQ(tc_read(u, c, sizeof c), TC_OK);
    CHECK_BYTES(c, a[0], sizeof c);
    CHECK_EQ(tc_read(n, c, sizeof c), TC_OK);
    for (int i = 0; i < N; i++) CHECK_NEAR(c[i], b[0][i], 1e-5);
    double mean = 0;
    for (int i = 0; i < N; i++) mean += (double)a[0][i] / N;
    CHECK_NEAR(mean, 0.5, 0.05);
    // Each visit draws on.
    x = there(tc, N, 0, 0);
    for (int k = 0; k < 2; k++) {
        BEGIN("random");
        u = tc_add(x, tc_rand(tc, TC_DIMS(N), TC_F32));
        n = tc_add(x, tc_randn(tc, TC_DIMS(N), TC_F32));
        END();
        CHECK_EQ(tc_read(u, a[k], sizeof a[k]), TC_OK);
    }
    CHECK(memcmp(a[0], a[1], sizeof a[0]) != 0);
}

// Labels count from the front alone; an ignored one is none.
DEVICE(labels_out_of_range) {
    static const int64_t at[][3] = {{0, 4, 1}, {0, -1, 1}, {0, 5, 1}, {0, -100, 1}};
    tc_tensor x = tc_reshape(there(tc, 15, 0, 0.25), TC_DIMS(3, 5)), y;
    for (int i = 0; i < 4; i++)
        for (int ignores = 0; ignores < 2; ignores++) {
            tc_tensor t = to_device(tc_from_data(tc, at[i], TC_DIMS(3), TC_I64));
            int fits = i == 0 || (i == 3 && ignores);
            char text[64];
            BEGIN("labels");
            y = tc_keep(ignores ? tc_cross_entropy_ignore(x, t, -100)
                                : tc_cross_entropy(x, t));
            END();
            CHECK_EQ(tc_sync(tc), fits ? TC_OK : TC_E_INDEX);
            snprintf(text, sizeof text, "): index %d is out of range for size 5",
                     (int)at[i][1]);
            if (!fits) ERROR(TC_E_INDEX, text);
            if (!fits) continue;
            double sum = 0, e = 0;
            for (int k = 0; k < 5; k++) e += exp(0.25 * k); // of each row, from its first
            for (int r = 0; r < 3; r++)
                if (at[i][r] >= 0) sum += log(e) - 0.25 * (double)at[i][r];
            CHECK_NEAR(tc_item(y), sum / (i == 3 ? 2 : 3), 1e-5);
        }
}

DEVICE(indices_out_of_range) {
    int64_t good[] = {0, 3, 1}, bad[] = {0, 9, 1};
    tc_tensor x = there(tc, 5, 10, 10), y;
    tc_tensor g = to_device(tc_from_data(tc, good, TC_DIMS(3), TC_I64));
    tc_tensor b = to_device(tc_from_data(tc, bad, TC_DIMS(3), TC_I64));
    for (int how = 0; how < 3; how++) {
        BEGIN("take");
        y = tc_take(x, b, 0);
        END();
        if (how == 0) CHECK_EQ(tc_sync(tc), TC_E_INDEX);
        float v[3];
        if (how == 1) CHECK_EQ(tc_read(y, v, sizeof v), TC_E_INDEX);
        if (how == 2) CHECK(!tc_to(y, "cpu").id);
        ERROR(TC_E_INDEX, "): index 9 is out of range for size 5");
        CHECK_EQ(tc_sync(tc), TC_OK); // it is told once
        BEGIN("take");
        y = tc_take(x, g, 0);
        END();
        CHECK_EQ(AT(y, 1), 40);
    }
    // What is written in place is as it was.
    tc_tensor z = there(tc, 3, 1, 1);
    BEGIN("take and write");
    tc_add_(z, tc_take(x, b, 0));
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    ERROR(TC_E_INDEX, "9");
    check_line(z, 3, 1, 1);
    BEGIN("take and write");
    tc_add_(z, tc_take(x, g, 0));
    END();
    CHECK_EQ(AT(z, 1), 42);
}

// Constant filters: small ones become arithmetic, larger ones memory of the program.
DEVICE(constants) {
    float sobel[9] = {-1, 0, 1, -2, 0, 2, -1, 0, 1}, wide[49];
    for (int i = 0; i < 49; i++) wide[i] = (float)(i % 5);
    tc_tensor k = to_device(tc_const(tc, sobel, TC_DIMS(1, 1, 3, 3), TC_F32));
    tc_tensor w = to_device(tc_const(tc, wide, TC_DIMS(1, 1, 7, 7), TC_F32));
    tc_tensor x = tc_reshape(there(tc, 20 * 20, 0, 1), TC_DIMS(1, 1, 20, 20)), y, z;
    for (int visit = 0; visit < 2; visit++) {
        BEGIN("filters");
        y = tc_conv2d(x, k, tc_null(), 1, 0, 1, 1);
        z = tc_conv2d(x, w, tc_null(), 1, 0, 1, 1);
        END();
        double sum = 0;
        for (int i = 0; i < 49; i++) sum += (double)wide[i] * (i / 7 * 20 + i % 7);
        CHECK_STR(tc_device_of(y), DEVICE_NAME);
        CHECK_EQ(AT(y, 0), 8);
        CHECK_EQ(AT(z, 0), sum);
    }
}

// ---- the host's code ----

static tc_status summed(void *user, const tc_buffer *in, int n_in) {
    double *sum = (double *)user;
    *sum = n_in;
    for (int k = 0; k < n_in; k++)
        for (int64_t i = 0; i < in[k].spec.dims[0]; i++)
            *sum += (double)((const float *)in[k].data)[i];
    return TC_OK;
}

DEVICE(host_calls) {
    for (int k = 0; k < 3; k++) {
        double sum = 0;
        tc_tensor x = there(tc, 100, k, 1), in[2];
        BEGIN("host");
        in[0] = tc_mul_s(x, 2), in[1] = tc_narrow(x, 0, 1, 5);
        CHECK_EQ(tc_host_call(tc, summed, &sum, in, 2), TC_OK);
        tc_tensor y = tc_add_s(in[0], sum);
        END();
        double want = 2 + 2 * (100 * k + 4950) + 5 * k + 15;
        CHECK_EQ(sum, want);
        check_line(y, 100, 2 * k + want, 2);
    }
}

static tc_status running_sum(void *user, const tc_buffer *in, int n_in,
                             const tc_buffer *out) {
    const float *x = (const float *)in->data;
    float *y = (float *)out->data, sum = 0;
    (void)user, (void)n_in;
    for (int64_t i = 0; i < in->spec.dims[0]; i++) y[i] = sum += x[i];
    return x[0] < 0 ? TC_E_ARG : TC_OK;
}

// An op that only the host has, between kernels of the device; so have sorts and scans.
DEVICE(custom_ops) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "running_sum", op.run = running_sum;
    int number = tc_register_op(tc, &op);
    REQUIRE(number);
    for (int k = 0; k < 3; k++) {
        tc_tensor x = there(tc, 100, k, 0), two, y, z, in;
        BEGIN("custom");
        two = tc_mul_s(x, 2);
        y = tc_custom(tc, number, &two, 1);
        z = tc_cumsum(tc_add_s(y, 1), 0);
        END();
        check_line(y, 100, 2 * k, 2 * k);
        CHECK_EQ(AT(z, 2), 3 + 2 * k * 6);
        in = tc_narrow(x, 0, 1, 50);
        check_line(tc_custom(tc, number, &in, 1), 50, k, k);
    }
    tc_tensor x = there(tc, 4, -1, 0), z = there(tc, 4, 1, 0);
    BEGIN("custom fails");
    tc_add_(z, tc_custom(tc, number, &x, 1));
    CHECK(tc_trace_end(tc) < 0);
    tc_error_clear(tc);
    check_line(z, 4, 1, 0);
}

// ---- life ----

// What the context holds there, in bytes.
static size_t held(tc_ctx *tc) {
    char text[512];
    CHECK(tc_cuda_memory(tc, 0, text, sizeof text));
    return fake ? fake->used : 0;
}

static void calls_of_everything(tc_ctx *tc, tc_fn *f, int k) {
    int64_t at[] = {0, 2};
    tc_scope_begin(tc);
    tc_tensor in[2], out[2], x = there(tc, 128, k, 1), y;
    in[0] = x, in[1] = there(tc, 128, 1, 0);
    tc_tensor index = to_device(tc_from_data(tc, at, TC_DIMS(2), TC_I64));
    CALL(f, in, 2, out, 2);
    CALL(f, in, 2, out, 2);
    BEGIN("much");
    y = tc_mul_s(tc_narrow(x, 0, 1, 64), 2);
    tc_add_s_(tc_slice(x, 0, 0, TC_END, 2), 1);
    tc_tensor z = tc_take(x, index, 0);
    END();
    CHECK_EQ(AT(y, 0), 2 * (k + 1));
    CHECK_EQ(AT(z, 1), k + 3);
    tc_scope_end(tc);
}

DEVICE(memory_stays_flat) {
    tc_fn *f = tc_compile(tc, affine, NULL, 0, NULL);
    size_t device = 0, host = 0;
    for (int k = 0; k < 2000; k++) {
        calls_of_everything(tc, f, k % 100);
        if (k == 200) device = held(tc), host = (size_t)tc_stats_get(tc).bytes;
    }
    CHECK_EQ(held(tc), device);
    CHECK(tc_stats_get(tc).bytes <= host + 4096);
}

// Programs go while their kernels are still to run, and of kernels that nobody uses 256 stay.
TEST(kernels_that_nobody_uses_go) {
    enum { REGIONS = 28, KERNELS = 12, STAY = 256 };
    static tc_tensor y[REGIONS][KERNELS];
    tc_config config = tc_config_default();
    config.threads = 2, config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    int most = 0;
    tc_tensor x = there(tc, 100, 0, 1), part[KERNELS];
    for (int k = 0; k < KERNELS; k++) part[k] = tc_narrow(x, 0, 0, 100 - 7 * k);
    for (int i = 0; i < REGIONS; i++) {
        tc_trace_begin_at(tc, "many", NULL, "test.c", i);
        for (int k = 0; k < KERNELS; k++)
            y[i][k] = tc_keep(tc_add_s(tc_mul_s(part[k], i + 2), k));
        END();
        CHECK_EQ(tc_reset(tc), TC_OK);
        int now = fake ? fake->live[FAKE_LIBRARY] + fake->live[FAKE_MODULE] : 0;
        most = now > most ? now : most;
    }
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.kernels_made, REGIONS * KERNELS);
    int each = (int)(s.kernels_made / s.compiles), made = (int)s.compiles;
    if (fake) CHECK(most < made && most <= (STAY + KERNELS) / each + 1);
    for (int i = 0; i < REGIONS; i++)
        for (int k = 0; k < KERNELS; k++) check_line(y[i][k], 100 - 7 * k, k, i + 2);
    tc_close(tc);
    check_device_closed();
}

// Everything is alive when the context is closed, work too.
TEST(close_with_everything_alive) {
    double add = 1;
    tc_ctx *tc = open_context();
    REQUIRE(open_device(tc));
    tc_tensor x = there(tc, N, 0, 1), kept, in[2], out[2];
    tc_fn *f = tc_compile(tc, scaled, &add, sizeof add, NULL);
    tc_scope_begin(tc);
    tc_tensor view = tc_narrow(x, 0, 1, 5);
    BEGIN("kept");
    kept = tc_keep(tc_add_s(view, 1));
    END();
    in[0] = x, in[1] = to_device(tc_scalar(tc, 2, TC_F32));
    for (int i = 0; i < 3; i++) CALL(f, in, 2, out, 2);
    BEGIN("open");
    (void)tc_mul_s(kept, 2);
    tc_close(tc);
    check_device_closed();
}

TEST(contexts_side_by_side) {
    tc_ctx *a = open_context(), *b = open_context();
    REQUIRE(open_device(a) && open_device(b));
    tc_tensor x = there(a, N, 1, 1), y = there(b, N, 2, 2);
    check_line(tc_mul_s(x, 2), N, 2, 2);
    check_line(tc_mul_s(y, 2), N, 4, 4);
    tc_close(a);
    check_line(tc_add_s(y, 1), N, 3, 2);
    tc_close(b);
    check_device_closed();
}

// What is on a device stays the parent's.
DEVICE(shared_contexts) {
    tc_tensor x = there(tc, N, 1, 1), h = line(tc, N, 1, 1);
    tc_ctx *child = tc_open_shared(tc);
    REQUIRE(child);
    CHECK(tc_cuda_open(child, 0) < 0);
    CHECK_EQ(tc_error(child), TC_E_STATE);
    tc_error_clear(child);
    tc_trace_begin(child, "child");
    tc_tensor y = tc_mul_s(h, 2);
    CHECK_EQ(tc_trace_end(child), TC_OK);
    CHECK_EQ(AT(y, 1), 4);
    tc_trace_begin(child, "child, there");
    (void)tc_mul_s(x, 2);
    (void)tc_trace_end(child);
    CHECK_EQ(tc_error(child), TC_E_DEVICE);
    tc_error_clear(child);
    check_line(tc_mul_s(x, 3), N, 3, 3);
    tc_free(x);
    tc_close(child);
    tc_error_clear(tc);
}

// The driver does not work in a child: it is refused, and nothing hangs.
DEVICE(forks) {
    tc_tensor x = there(tc, N, 1, 1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        float v[N];
        int refused = tc_read(x, v, sizeof v) < 0 && strstr(tc_error_text(tc), "fork");
        if (!refused) printf("in the child: %s\n", tc_error_text(tc));
        tc_close(tc);
        fflush(stdout);
        _exit(!refused);
    }
    int status = 1;
    CHECK_EQ(waitpid(child, &status, 0), child);
    CHECK_EQ(status, 0);
    check_line(tc_mul_s(x, 2), N, 2, 2);
}

static void take_rows(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_take(in[0], in[1], 0);
}

// What a function's last call found is told where its program goes first.
DEVICE(an_index_error_outlives_its_function) {
    int64_t bad[] = {0, 9, 1};
    for (int how = 0; how < 2; how++) {
        tc_tensor in[2], y;
        in[0] = there(tc, 5, 10, 10);
        in[1] = to_device(tc_from_data(tc, bad, TC_DIMS(3), TC_I64));
        tc_fn *f = tc_compile(tc, take_rows, NULL, 0, NULL);
        CHECK_EQ(tc_call(f, in, 2, &y, 1), TC_OK);
        if (how)
            tc_reset(tc);
        else
            tc_fn_free(f);
        ERROR(TC_E_INDEX, "): index 9 is out of range for size 5");
        CHECK_EQ(tc_sync(tc), TC_OK);
    }
}

static void sum_of_two(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[0], in[1]);
}

// A call that skips the body fails with its own status, whatever was wrong before, and null results.
TEST(a_call_that_fails_says_so_itself) {
    tc_ctx *tc = open_context();
    REQUIRE(open_device(tc));
    tc_tensor in[2], y;
    in[0] = there(tc, N, 0, 1), in[1] = there(tc, N, 0, 1);
    tc_fn *f = tc_compile(tc, sum_of_two, NULL, 0, NULL);
    for (int k = 0; k < 6; k++) {
        REQUIRE(tc_call(f, in, 2, &y, 1) == TC_OK);
        tc_free(y);
    }
    if (!fake) SKIP("a GPU does not fail when told to");
    int failures = 0;
    for (int at = 1; at < 12; at++) {
        tc_item(in[0]); // TC_E_SHAPE, which nobody clears
        y = in[0];
        fake->calls = 0, fake->fail_at = at, fake->fail_code = 2; // out of memory
        tc_status s = tc_call(f, in, 2, &y, 1);
        int failed = fake->calls >= at;
        fake->fail_at = 0;
        if (s) CHECK_EQ(s, TC_E_NOMEM);
        CHECK(s ? !y.id : y.id != in[0].id);
        CHECK(!s || failed);
        failures += s != 0;
        if (y.id) tc_free(y);
        tc_error_clear(tc);
    }
    CHECK(failures > 0);
    REQUIRE(tc_call(f, in, 2, &y, 1) == TC_OK);
    CHECK_EQ(AT(y, 5), 10);
    tc_close(tc);
}

// A write to a strided view has a kernel that is printed for it.
static tc_tensor work_strided(tc_ctx *tc, tc_tensor x) {
    (void)tc;
    tc_tensor half = tc_slice(x, 0, 0, TC_END, 2);
    return tc_mul_s_(half, 1).id ? tc_mul_s(x, 2) : tc_null();
}

TEST(memory_that_ended_is_not_remembered) { check_poor("strided", work_strided); }

// Layouts that the dense copies need are made while they are read.
DEVICE(many_strided_reads) {
    for (int i = 2; i < 40; i++) {
        tc_tensor t = tc_t(tc_reshape(there(tc, 3 * i, 0, 1), TC_DIMS(3, i)));
        float v[3 * 40];
        CHECK_EQ(tc_read(t, v, sizeof *v * 3 * (size_t)i), TC_OK);
        CHECK_EQ(v[3 * (i - 1) + 1], 2 * i - 1);
    }
}

// A copy of a constant is one, here and there.
DEVICE(constants_that_return) {
    float k[6] = {1, 4, 2, 5, 3, 6};
    tc_tensor c = tc_const(tc, k, TC_DIMS(2, 3), TC_F32);
    tc_tensor back = tc_to(tc_t(to_device(c)), "cpu");
    CHECK(!tc_add_s_(back, 1).id);
    ERROR(TC_E_ARG, "tc_const");
    CHECK_EQ(AT(back, 1), 5);
    CHECK(!tc_add_s_(tc_to(to_device(c), "cpu"), 1).id);
    ERROR(TC_E_ARG, "tc_const");
}

DEVICE(wrapped_memory) {
    CHECK(
        !tc_wrap_device(tc, DEVICE_NAME, (void *)(uintptr_t)0x101, TC_DIMS(2), TC_F32).id);
    ERROR(TC_E_ARG, "not aligned to 4 bytes");
    tc_tensor x = there(tc, N, 1, 1);
    const tc_device *d = tc_registered_device(tc, DEVICE_NAME);
    tc_device_memory m;
    float v[N];
    REQUIRE(d && d->take(d->user, sizeof v, &m) == TC_OK);
    for (int i = 0; i < N; i++) v[i] = (float)i;
    CHECK_EQ(d->copy_in(d->user, m.address, v, sizeof v), TC_OK);
    tc_tensor w = tc_wrap_cuda(tc, 0, m.address, TC_DIMS(N), TC_F32);
    check_line(tc_add(w, x), N, 1, 2);
    BEGIN("wrapped");
    tc_add_s_(w, 5);
    END();
    CHECK_EQ(d->copy_out(d->user, v, m.address, sizeof v), TC_OK);
    CHECK_EQ(v[7], 12);
    tc_free(w);
    d->give(d->user, m);
    CHECK(!tc_wrap_device(tc, "cuda:9", m.address, TC_DIMS(N), TC_F32).id);
    ERROR(TC_E_DEVICE, "cuda:9");
}

DEVICE(reset_and_stances) {
    for (int k = 0; k < 2; k++)
        for (int s = 0; s <= TC_STANCE_EAGER_THEN_COMPILE; s++) {
            tc_tensor x = there(tc, 32, k, 1), y;
            tc_set_stance(tc, (tc_stance)s);
            BEGIN("stance");
            y = tc_add_s(tc_mul_s(x, 2), 3);
            tc_status status = tc_trace_end(tc);
            CHECK(status == TC_OK || (s == TC_STANCE_FAIL_ON_RECOMPILE && k == 0));
            if (!status) check_line(y, 32, 2 * k + 3, 2);
            tc_error_clear(tc);
            if (k == 0) CHECK_EQ(tc_reset(tc), TC_OK);
        }
    tc_set_stance(tc, TC_STANCE_DEFAULT);
}

// ---- every call of the driver fails

// Moves, kernels, a graph, a strided write, an index that is looked at, reading. 1 = all of it worked;
// else the context has an error.
static int scenario(tc_ctx *tc) {
    int64_t at[] = {0, 2, 1, 0};
    tc_scope_begin(tc);
    tc_tensor x = there(tc, 64, 0, 1), y = tc_null(), m, z;
    tc_tensor index = to_device(tc_from_data(tc, at, TC_DIMS(4), TC_I64));
    int ok = x.id && index.id;
    for (int k = 0; ok && k < 4; k++) {
        tc_trace_begin_at(tc, "scenario", NULL, "test.c", 1);
        m = tc_softmax(tc_reshape(tc_narrow(x, 0, 1, 60), TC_DIMS(6, 10)), 1);
        z = tc_matmul(tc_reshape(x, TC_DIMS(8, 8)),
                      tc_reshape(tc_add_s(x, 1), TC_DIMS(8, 8)));
        y = tc_add_s(tc_sum(z, 1), k);
        z = tc_take(tc_sum(m, 0), index, 0);
        ok = tc_trace_end(tc) == TC_OK;
    }
    float v[64], w[64];
    ok = ok && tc_add_s_(tc_slice(x, 0, 0, TC_END, 2), 1).id;
    ok = ok && tc_read(y, v, 8 * sizeof *v) == TC_OK && tc_read(x, w, sizeof w) == TC_OK;
    CHECK(!ok || (v[0] > 0 && w[0] == 1 && w[1] == 1 && w[2] == 3 && w[3] == 3));
    ok = ok && tc_sync(tc) == TC_OK;
    CHECK(ok || tc_error(tc) != TC_OK);
    tc_scope_end(tc);
    return ok;
}

static void forget_fake(void) {
    fake->calls = fake->launches = fake->fail_at = fake->sticky = 0;
}

// What need not stop the work: calls that give back, hints, a graph that is set anew.
static int may_go_on(const char *name, int code) {
    static const char *const calls[] = {
        "Destroy",   "Free",         "Release",  "Unload",    "Unmap", "cuCtxSetCurrent",
        "SetParams", "GetAttribute", "MemAlloc", "MemCreate", "Upload"};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strstr(name, calls[i])) return code < 700 || code > 721;
    return 0;
}

// The scenario, with call n of the driver failing. The context opens, or says why not; it says what
// failed by name; after a failure it works again, or says that the device is dead. 0 = fewer calls.
static int fail_once(int n, int code) {
    tc_ctx *tc = open_context();
    forget_fake();
    fake->fail_at = n, fake->fail_code = code;
    int opened = tc_cuda_open(tc, 0) == TC_OK, ok = opened && scenario(tc);
    int happened = fake->calls >= n;
    const char *name = happened ? fake->name[n - 1] : "";
    char number[20], text[2000];
    snprintf(number, sizeof number, "(%d)", code);
    snprintf(text, sizeof text, "%s", tc_error_text(tc));
    CHECK(ok || tc_error(tc) < 0);
    int anew = tc_stats_get(tc).compiles > 0; // what the disk has did not load
    // Entering goes on only to give something back; who leaves last is not asked any more.
    int back = happened && !strcmp(name, "cuCtxGetCurrent") && fake->calls > n &&
               !strcmp(fake->name[n], "cuCtxSetCurrent");
    int late = n == fake->calls && !strcmp(name, "cuCtxSetCurrent");
    // A copy for late reads goes without, where there is no memory for it.
    back |= code == 2 && !strcmp(name, "cuCtxGetCurrent");
    if (ok && happened && !anew && !back && !late && !may_go_on(name, code))
        FAIL("call %d, %s, gave %d and nobody noticed", n, name, code);
    if (!ok && !strstr(text, "is full") && !(strstr(text, number) && strstr(text, name)))
        FAIL("call %d, %s, error %d: \"%s\"", n, name, code, text);
    int dead = code >= 700 && code <= 721 && happened;
    fake->fail_at = 0;
    tc_error_clear(tc);
    if (opened && !dead && !scenario(tc))
        FAIL("after call %d, %s, error %d: %s", n, name, code, tc_error_text(tc));
    if (opened && dead && !ok && scenario(tc)) FAIL("a dead device works");
    if (opened && dead && !ok && !strstr(tc_error_text(tc), "earlier error"))
        FAIL("after call %d, %s, error %d: %s", n, name, code, tc_error_text(tc));
    tc_close(tc);
    for (int i = 0; i < FAKE_KINDS; i++)
        if (fake->live[i])
            FAIL("call %d, %s, error %d: %d objects of kind %d are left", n, name, code,
                 fake->live[i], i);
    CHECK_EQ(fake->used, 0);
    CHECK(!fake->misuse || FAIL("call %d, %s: misused: %s", n, name, fake->misused));
    return happened && !test_failures;
}

// A call of each kind fails, and the first and last of many of them: code is from the disk.
static void fail_all(int code) {
    static char done[400][64];
    int kinds = 0, n = 1, again = 0;
    if (device_is_real) SKIP("a GPU does not fail when it is told to");
    REQUIRE(device_use());
    tc_ctx *tc = open_context();
    REQUIRE(open_device(tc) && scenario(tc));
    int calls = fake->calls;
    static char name[2000][64];
    for (int i = 0; i < calls && i < 2000; i++)
        snprintf(name[i], 64, "%.63s", fake->name[i]);
    tc_close(tc);
    forget_fake();
    for (; n <= calls && !test_failures; n++) {
        int seen = 0;
        for (int i = 0; i < kinds; i++) seen += !strcmp(done[i], name[n - 1]);
        if (seen > 2 && n % 7) continue; // a call that has failed at three places already
        if (kinds < 400) strcpy(done[kinds++], name[n - 1]);
        again += fail_once(n, code);
    }
    CHECK(again > 50);
}

TEST(driver_says_invalid) { fail_all(1); }
TEST(driver_is_out_of_memory) { fail_all(2); }
TEST(driver_does_not_know) { fail_all(999); }
TEST(device_dies) { fail_all(700); }
