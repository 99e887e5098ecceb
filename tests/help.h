// What tests over the public API share: a context per backend, small f32 tensors whose values
// are known, reading them back, the error of the context. After tcompile.h and harness.h.
#ifndef TEST_HELP_H
#define TEST_HELP_H

#include <math.h>

// "aot_eager" never compiles, "cpu" compiles; both without the disk.
TEST_UNUSED static tc_ctx *open_backend(const char *backend) {
    tc_config config = tc_config_default();
    config.backend = backend;
    config.threads = 2;
    config.no_disk_cache = 1;
    return tc_open(&config);
}

// The same for an instruction set (NULL = what there is) and so many threads.
TEST_UNUSED static tc_ctx *open_as(const char *backend, const char *isa, int threads) {
    tc_config config = tc_config_default();
    config.backend = backend, config.isa = isa, config.threads = threads;
    config.no_disk_cache = 1;
    return tc_open(&config);
}

// A test with a context `tc`, run interpreted and compiled; it must clear the errors it makes.
#define BOTH(name)                                                                         \
    static void body_##name(tc_ctx *tc);                                                   \
    static void both_##name(const char *backend) {                                         \
        tc_ctx *tc = open_backend(backend);                                                \
        REQUIRE(tc);                                                                       \
        body_##name(tc);                                                                   \
        if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));                  \
        tc_close(tc);                                                                      \
    }                                                                                      \
    TEST(name##_interp) { both_##name("aot_eager"); }                                      \
    TEST(name##_cpu) { both_##name("cpu"); }                                               \
    static void body_##name(tc_ctx *tc)

// f32 [n]: from + i * step
TEST_UNUSED static tc_tensor line(tc_ctx *tc, int n, double from, double step) {
    float *p = (float *)malloc(sizeof *p * (size_t)(n + 1));
    for (int i = 0; i < n; i++) p[i] = (float)(from + i * step);
    tc_tensor t = tc_from_data(tc, p, TC_DIMS(n), TC_F32);
    free(p);
    return t;
}

// Element i, row-major, of an f32 tensor.
#define AT(t, i) at_index((t), (i), __FILE__, __LINE__)
TEST_UNUSED static double at_index(tc_tensor t, int i, const char *file, int line_number) {
    int64_t n = tc_numel(t);
    float *p = (float *)malloc(sizeof *p * (size_t)(n > 0 ? n : 1));
    double x = NAN;
    tc_status s = tc_read(t, p, (size_t)(n > 0 ? n : 0) * sizeof *p);
    if (s || i >= n)
        test_fail(file, line_number, "read: %s", tc_status_name(s));
    else
        x = (double)p[i];
    free(p);
    return x;
}

// The context's error is `item` and its text has `text`; clears it.
#define ERROR(item, text) expect_error(tc, (item), (text), __FILE__, __LINE__)
TEST_UNUSED static void expect_error(tc_ctx *tc, tc_status item, const char *text,
                                     const char *file, int line_number) {
    if (tc_error(tc) != item)
        test_fail(file, line_number, "error is %s (%s), not %s",
                  tc_status_name(tc_error(tc)), tc_error_text(tc), tc_status_name(item));
    else if (!strstr(tc_error_text(tc), text))
        test_fail(file, line_number, "\"%s\" lacks \"%s\"", tc_error_text(tc), text);
    tc_error_clear(tc);
}

// A region whose place does not move with the lines of the test; calls that must work.
#define BEGIN(name)            tc_trace_begin_at(tc, name, NULL, "test.c", 1)
#define END()                  CHECK(tc_trace_end(tc) == TC_OK || FAIL("%s", tc_error_text(tc)))
#define CALL(f, in, n, out, m) CHECK_EQ(tc_call(f, in, n, out, m), TC_OK)
#define MISS(f, k)             CHECK_EQ(tc_last_miss(f).kind, k)

#endif
