// The emulator of tests (tools/cuda_emulate.c, nvrtc_fake.c): kernels of tests/golden with the
// values of references in double, then what threads do together, and what is reported.
// With TEST_ON_GPU=1 in the environment the same kernels run on a device: what the emulator is
// believed to do is then what a GPU does.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.in.h"

#define TEST_NO_MAIN
#include "halves.h"
#include "harness.h"
#include "tools/cuda_fake_use.h"
#include "tools/nvrtc.h"

#include <dirent.h>

// ---- kernels: compiled, loaded and launched as the runtime does it

enum { MOST_MEMORY = 16, ARGS_SIZE = 1024 };

static const tc_allocator hook = {NULL, NULL};
static tcu__runtime runtime;
static tcu__module module;
static tcu__address memory[MOST_MEMORY];
static int memories;

// The arguments of the next launch.
static struct {
    unsigned char at[ARGS_SIZE];
    uint32_t offset[32];
    int count;
    size_t size;
} args;

static int on_gpu(void) { return getenv("TEST_ON_GPU") != NULL; }

static int open_emulator(void) {
    if (!on_gpu() && !use_emulator()) return 0;
    return (tcu__runtime_open(&runtime, &hook, 0) && tcu__enter(&runtime.device)) ||
           FAIL("open: %s", runtime.device.trouble.text);
}

// For what a GPU does not define, or does in its own words.
static int open_only_emulator(void) {
    if (on_gpu()) SKIP("of the emulator alone");
    return open_emulator();
}

// The device can reach memory of the host by the same address.
static int memory_get(tcu__address *at, size_t size) {
    const tcu__driver_calls *call = &runtime.device.driver.call;
    void *p = NULL;
    if (!on_gpu()) return call->cuMemAlloc_v2(at, size);
    int code = call->cuMemHostAlloc(&p, size, 0);
    *at = (tcu__address)(uintptr_t)p;
    return code;
}

static int memory_give(tcu__address at) {
    const tcu__driver_calls *call = &runtime.device.driver.call;
    return on_gpu() ? call->cuMemFreeHost((void *)(uintptr_t)at) : call->cuMemFree_v2(at);
}

static void close_emulator(void) {
    if (module.library) tcu__module_unload(&runtime.device, &module);
    while (memories > 0) CHECK_EQ(memory_give(memory[--memories]), 0);
    tcu__runtime_close(&runtime);
    if (on_gpu()) return;
    for (int i = 0; i < FAKE_KINDS; i++) CHECK_EQ(fake->live[i], 0);
    CHECK(!fake->misuse || FAIL("misused: %s", fake->misused));
}

// Compiles: 1, or 0 with the reason in the device's trouble. Free the job in any case.
static int compile_text(const char *name, const char *source, tcu__job *job) {
    static const char *const strict[] = {"-fmad=false"};
    tcu__device *d = &runtime.device;
    tcu__nvrtc nvrtc;
    tcu__arch arch;
    memset(&nvrtc, 0, sizeof nvrtc);
    memset(job, 0, sizeof *job);
    job->name = name;
    job->source = source;
    job->options = strict;
    job->n_options = 1;
    int ok = tcu__nvrtc_open(&nvrtc, &d->trouble) &&
             tcu__arch_choose(&nvrtc, 9, 0, &arch, &d->trouble) &&
             tcu__compile(&nvrtc, &hook, &arch, job, 1, 1, &d->trouble);
    tcu__nvrtc_close(&nvrtc);
    return ok;
}

static int load_text(const char *name, const char *source) {
    tcu__job job;
    int ok = compile_text(name, source, &job) &&
             tcu__module_load(&runtime.device, &module, job.cubin, name);
    tcu__job_free(&hook, &job);
    return ok;
}

static int load_golden(const char *name) {
    char path[300];
    snprintf(path, sizeof path, "tests/golden/%s.cu", name);
    char *source = nvrtc_read(path);
    int ok = source && load_text(name, source);
    free(source);
    return ok || FAIL("%s: %s", path, runtime.device.trouble.text);
}

// The kernels of emulate.cu, compiled by the first test that needs them.
static int load_kernels(void) {
    static const char *const source = "tests/cuda/emulate.cu";
    char path[300];
    tcu__job job;
    snprintf(path, sizeof path, "%s/emulate.cubin", fake_folder);
    char *code = nvrtc_read(path), *text = nvrtc_read(source);
    memset(&job, 0, sizeof job);
    if (!code && text && compile_text("emulate.cu", text, &job)) {
        FILE *f = fopen(path, "wb");
        if (f) fwrite(job.cubin, 1, job.cubin_size, f), fclose(f);
        code = nvrtc_read(path);
    }
    int ok = code && tcu__module_load(&runtime.device, &module, code, source);
    tcu__job_free(&hook, &job);
    free(text);
    free(code);
    return ok || FAIL("%s: %s", source, runtime.device.trouble.text);
}

// Memory of the device: an address of the host. It is given back at the end.
static void *device_memory(size_t size) {
    if (memories == MOST_MEMORY) return FAIL("too many memories"), (void *)NULL;
    CHECK_EQ(memory_get(&memory[memories], size), 0);
    return (void *)(uintptr_t)memory[memories++];
}

static void arg_bytes(const void *value, size_t size, size_t align) {
    args.size = (args.size + align - 1) / align * align;
    args.offset[args.count++] = (uint32_t)args.size;
    memcpy(args.at + args.size, value, size);
    args.size += size;
}

static void arg_memory(const void *p) { arg_bytes(&p, sizeof p, 8); }

static void arg_int(int v) { arg_bytes(&v, sizeof v, 4); }

// `const tc_kargs<1> a` of emitted kernels.
static void arg_sizes(int64_t size) {
    int64_t words[2] = {0, size};
    arg_bytes(words, sizeof words, 8);
}

static tcu__launch_shape shape_of(unsigned blocks, unsigned threads) {
    tcu__launch_shape s;
    memset(&s, 0, sizeof s);
    s.grid[0] = blocks;
    s.block[0] = threads;
    s.grid[1] = s.grid[2] = s.block[1] = s.block[2] = 1;
    return s;
}

// Launches with the arguments so far, and waits. 1, or 0 with a reason.
static int launch_shape(const char *name, const tcu__launch_shape *s) {
    tcu__device *d = &runtime.device;
    tcu__kernel k;
    tcu__args a;
    a.at = args.at;
    a.offset = args.offset;
    a.count = args.count;
    a.size = args.size;
    args.count = 0;
    args.size = 0;
    return tcu__kernel_get(d, &module, name, s, &k) &&
           tcu__launch(d, &k, s, &a, d->compute) &&
           TCU__DO(d, name, cuStreamSynchronize, d->compute);
}

static int launch(const char *name, unsigned blocks, unsigned threads) {
    tcu__launch_shape s = shape_of(blocks, threads);
    return launch_shape(name, &s) || FAIL("%s", runtime.device.trouble.text);
}

static float value_of(unsigned i, unsigned seed) { return (float)test_number(i, seed); }

static float *device_values(size_t n, unsigned seed) {
    float *p = (float *)device_memory(n * sizeof *p);
    for (size_t i = 0; p && i < n; i++) p[i] = value_of((unsigned)i, seed);
    return p;
}

// ---- emitted kernels

TEST(pointwise) {
    enum { ROWS = 5, COLUMNS = 768 };
    REQUIRE(open_emulator() && load_golden("pointwise"));
    float *x = device_values(ROWS * COLUMNS, 1), *y = device_values(COLUMNS, 2),
          *z = device_values(1, 3),
          *out = (float *)device_memory(ROWS * COLUMNS * sizeof *out);
    arg_memory(x), arg_memory(y), arg_memory(z), arg_memory(out), arg_sizes(ROWS);
    REQUIRE(launch("kernel0", (192 * ROWS + 255) / 256, 256));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
        double r = (double)x[i] * (double)y[i % COLUMNS] + (double)z[0];
        CHECK_NEAR(out[i], r > 0 ? r : 0, 1e-6);
    }
    close_emulator();
}

static void check_softmax(const char *golden, unsigned blocks, unsigned threads, int rows,
                          int columns, unsigned shared, int symbolic) {
    tcu__launch_shape s = shape_of(blocks, threads);
    size_t n = (size_t)rows * (size_t)columns;
    REQUIRE(open_emulator() && load_golden(golden));
    float *x = device_values(n, 4), *out = (float *)device_memory(n * sizeof *out);
    s.shared = shared;
    arg_memory(x), arg_memory(out), arg_sizes(symbolic ? columns : 0);
    CHECK(launch_shape("kernel0", &s) || FAIL("%s", runtime.device.trouble.text));
    for (int r = 0; r < rows; r++) {
        double sum = 0;
        for (int c = 0; c < columns; c++) sum += exp((double)x[r * columns + c]);
        for (int c = 0; c < columns; c++)
            CHECK_NEAR(out[r * columns + c], exp((double)x[r * columns + c]) / sum, 1e-7);
    }
    close_emulator();
}

TEST(softmax) { check_softmax("softmax", 16, 128, 64, 768, 0, 0); }

TEST(softmax_of_any_size) { check_softmax("symbolic", 8, 256, 8, 333, 333 * 4, 1); }

TEST(transpose) {
    enum { ROWS = 1000, COLUMNS = 768 };
    REQUIRE(open_emulator() && load_golden("transpose"));
    float *x = device_values(ROWS * COLUMNS, 5), *y = device_values(ROWS * COLUMNS, 6),
          *out = (float *)device_memory(ROWS * COLUMNS * sizeof *out);
    arg_memory(x), arg_memory(y), arg_memory(out), arg_sizes(0);
    REQUIRE(launch("kernel0", 768, 256));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            CHECK_NEAR(out[r * COLUMNS + c],
                       (double)x[r + ROWS * c] + (double)y[r * COLUMNS + c], 1e-6);
    close_emulator();
}

// Which kernels there are, and how they are launched, differs: that they are made is all.
TEST(all_golden_kernels_compile) {
    DIR *folder = opendir("tests/golden");
    int count = 0;
    REQUIRE(folder && open_emulator());
    for (struct dirent *e; (e = readdir(folder)) != NULL;) {
        char name[256];
        size_t n = strlen(e->d_name);
        if (n < 4 || strcmp(e->d_name + n - 3, ".cu")) continue;
        snprintf(name, sizeof name, "%.*s", (int)n - 3, e->d_name);
        CHECK(load_golden(name));
        tcu__kernel k;
        tcu__launch_shape s = shape_of(1, 32);
        CHECK(tcu__kernel_get(&runtime.device, &module, "kernel0", &s, &k));
        tcu__module_unload(&runtime.device, &module);
        count++;
    }
    closedir(folder);
    CHECK(count >= 6);
    close_emulator();
}

// ---- values

static int open_kernels(void) { return open_emulator() && load_kernels(); }

static int open_only_emulated(void) { return open_only_emulator() && load_kernels(); }

TEST(the_kernels_are_cuda) {
    static const char *const archs[] = {"sm_80", "sm_90a"};
    const char *why = nvrtc_open();
    if (why) SKIP(why);
    char *source = nvrtc_read("tests/cuda/emulate.cu");
    REQUIRE(source != NULL);
    for (int i = 0; i < 2; i++) {
        nvrtc_result r;
        CHECK(nvrtc_compile(source, archs[i], &r) || FAIL("%s", r.log));
        nvrtc_free(&r);
    }
    free(source);
}

static void check_halves(half_format f, const float *of, const uint16_t *bits,
                         const float *x) {
    for (uint32_t h = 0; h < 0x10000; h++) {
        double want = half_value(f, (uint16_t)h);
        CHECK(((double)of[h] == want && (signbit(of[h]) != 0) == (h >> 15 != 0)) ||
              (want != want && of[h] != of[h]) ||
              FAIL("%04x: %g, not %g", h, (double)of[h], want));
    }
    for (int i = 0; i < HALF_CASES; i++) {
        uint16_t want = half_nearest(f, (double)x[i]);
        CHECK(half_same(f, bits[i], want) ||
              FAIL("%a: %04x, not %04x", (double)x[i], bits[i], want));
        if (x[i] != x[i]) CHECK_EQ(bits[i], 0x7fff); // what PTX makes of any NaN
    }
}

TEST(halves) {
    REQUIRE(open_kernels());
    float *of_f16 = (float *)device_memory(0x10000 * 4),
          *of_bf16 = (float *)device_memory(0x10000 * 4),
          *x = (float *)device_memory(HALF_CASES * 4);
    uint16_t *f16 = (uint16_t *)device_memory(HALF_CASES * 2),
             *bf16 = (uint16_t *)device_memory(HALF_CASES * 2);
    half_format format[] = {half_f16, half_bf16};
    for (int i = 0; i < 2; i++) {
        half_cases(format[i], x);
        arg_memory(of_f16), arg_memory(of_bf16), arg_memory(x);
        arg_memory(f16), arg_memory(bf16), arg_int(HALF_CASES);
        REQUIRE(launch("halves", 2, 128));
        check_halves(format[i], i ? of_bf16 : of_f16, i ? bf16 : f16, x);
    }
    close_emulator();
}

TEST(casts_saturate) {
    static const double from[] = {2.9,   -2.9, 3e9,      -3e9,      1e20,
                                  -1e20, NAN,  INFINITY, -INFINITY, 9223372036854775807.0};
    static const int i32[] = {2,         -2, INT32_MAX, INT32_MIN, INT32_MAX,
                              INT32_MIN, 0,  INT32_MAX, INT32_MIN, INT32_MAX};
    static const int64_t i64[] = {2,         -2, 3000000000, -3000000000, INT64_MAX,
                                  INT64_MIN, 0,  INT64_MAX,  INT64_MIN,   INT64_MAX};
    enum { N = 10 };
    REQUIRE(open_kernels());
    double *x = (double *)device_memory(sizeof from);
    int *a = (int *)device_memory(sizeof i32);
    int64_t *b = (int64_t *)device_memory(sizeof i64);
    memcpy(x, from, sizeof from);
    arg_memory(x), arg_memory(a), arg_memory(b), arg_int(N);
    REQUIRE(launch("casts", 1, 32));
    for (int i = 0; i < N; i++) {
        CHECK_EQ(a[i], i32[i]);
        CHECK_EQ(b[i], i64[i]);
    }
    close_emulator();
}

// Each thread of each block runs once, and knows where it is.
TEST(places) {
    tcu__launch_shape s = shape_of(3, 5);
    s.grid[1] = 2, s.grid[2] = 4, s.block[1] = 3, s.block[2] = 2;
    REQUIRE(open_kernels());
    unsigned *out = (unsigned *)device_memory(24 * 30 * 4);
    memset(out, 0, 24 * 30 * 4);
    arg_memory(out);
    REQUIRE(launch_shape("places", &s));
    for (unsigned i = 0; i < 24 * 30; i++) CHECK_EQ(out[i], i / 30 * 1000 + i % 30);
    close_emulator();
}

TEST(bits) {
    static const unsigned want[] = {8,          31,         32,         4,
                                    0x80000000, 0xfffffffe, 0xffffffff, 0x77553311,
                                    3,          0x3f800000, 2,          (unsigned)-2};
    REQUIRE(open_kernels());
    unsigned *out = (unsigned *)device_memory(sizeof want);
    arg_memory(out);
    REQUIRE(launch("bits", 1, 2));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) CHECK_EQ(out[i], want[i]);
    close_emulator();
}

// Near their zeros, where what pi x is rounded by would be all that is left.
TEST(turns) {
    enum { N = 96 };
    const long double pi = 3.14159265358979323846264338327950288L;
    REQUIRE(open_kernels());
    double *x = (double *)device_memory(N * sizeof *x),
           *y = (double *)device_memory(2 * N * sizeof *y);
    for (int i = 0; i < N; i++) // quarters and a little beside them
        x[i] = (i % 16 - 8) / 2.0 + ldexp(i % 3 - 1, -(i / 16) * 8 - 3);
    arg_memory(x), arg_memory(y);
    REQUIRE(launch("turns", 1, N));
    for (int i = 0; i < N; i++) {
        int quarter = (i % 16 - 8) & 3;
        long double e = pi * ldexpl(i % 3 - 1, -(i / 16) * 8 - 3), s = sinl(e), c = cosl(e);
        long double want[4] = {c, -s, -c, s};
        for (int k = 0; k < 2; k++) { // sin is cos, a quarter earlier
            long double w = want[(quarter + 3 * k) & 3];
            CHECK(fabsl(y[2 * i + k] - w) <= 0x1p-51L * fabsl(w) ||
                  FAIL("%d of %.17g: %.17g, not %.17Lg", k, x[i], y[2 * i + k], w));
        }
    }
    close_emulator();
}

// ---- threads together

TEST(shuffles) {
    enum { N = 64 };
    REQUIRE(open_kernels());
    int *out[4];
    for (int i = 0; i < 4; i++) arg_memory(out[i] = (int *)device_memory(N * 4));
    double *wide = (double *)device_memory(N * 8);
    unsigned *votes = (unsigned *)device_memory(N * 4);
    arg_memory(wide), arg_memory(votes);
    REQUIRE(launch("shuffles", 1, N));
    for (int x = 0; x < N; x++) {
        int lane = x % 32, first = x - lane, in16 = x % 16;
        unsigned ballot = 0;
        for (int l = 0; l < 32; l++) ballot |= (unsigned)((first + l) % 3 == 0) << l;
        CHECK_EQ(out[0][x], 100 + (lane + 3 < 32 ? x + 3 : x));
        CHECK_EQ(out[1][x], 100 + (in16 >= 5 ? x - 5 : x));
        CHECK_EQ(out[2][x], 100 + first + (lane ^ 9));
        CHECK_EQ(out[3][x], 100 + x / 8 * 8 + x * 7 % 8);
        CHECK(wide[x] == first + (31 - lane) + 0.25);
        CHECK_EQ(votes[x], (unsigned)(ballot + (lane < 16    ? 120u
                                                : first == 0 ? 1000u
                                                             : 0u)));
    }
    close_emulator();
}

// A vector of 32 bytes is loaded in two parts, at a multiple of 16.
TEST(vectors) {
    REQUIRE(open_kernels());
    float *at = device_values(16, 1);
    arg_memory(at), arg_int(4);
    REQUIRE(launch("load_at", 1, 1));
    for (unsigned i = 0; i < 8; i++) CHECK(at[i] == value_of(i + 4, 1));
    close_emulator();
}

TEST(part_of_a_warp) {
    REQUIRE(open_only_emulated());
    int *out = (int *)device_memory(48 * 4), sum = 0, a;
    arg_memory(out);
    REQUIRE(launch("part_of_a_warp", 1, 48));
    for (int x = 0; x < 32; x++) sum += x;
    for (int x = 0; x < 32; x++) CHECK_EQ(out[x], sum);
    // Of each pair one is not there; its value is poison, -1.
    for (sum = 0, a = 32; a < 48; a++) sum += a - 1;
    for (int x = 32; x < 48; x++) CHECK_EQ(out[x], sum);
    close_emulator();
}

TEST(barrier_and_shared_memory) {
    enum { N = 200, BLOCKS = 4 };
    tcu__launch_shape s = shape_of(BLOCKS, N);
    s.shared = N * 4;
    REQUIRE(open_kernels());
    float *at = device_values(N * BLOCKS, 1);
    arg_memory(at), arg_int(N);
    REQUIRE(launch_shape("reverse", &s) || FAIL("%s", runtime.device.trouble.text));
    for (unsigned b = 0; b < BLOCKS; b++)
        for (unsigned x = 0; x < N; x++) {
            float want = value_of(b * N + N - 1 - x, 1) + value_of(b * N + N - 1, 1) + 7;
            CHECK(at[b * N + x] == want);
        }
    close_emulator();
}

// The order of threads differs from block to block, so that a race shows.
TEST(a_race_shows) {
    enum { N = 256, BLOCKS = 3 };
    REQUIRE(open_only_emulated());
    float *at = device_values(N * BLOCKS, 1);
    int wrong = 0;
    arg_memory(at), arg_int(N);
    REQUIRE(launch("race", BLOCKS, N));
    for (int i = 0; i < N * BLOCKS; i++) wrong += at[i] != (float)(i % N / 2);
    CHECK(wrong > 0);
    close_emulator();
}

TEST(barriers_that_count) {
    REQUIRE(open_kernels());
    int *out = (int *)device_memory(128 * 4);
    arg_memory(out);
    REQUIRE(launch("counts", 1, 128));
    for (int x = 0; x < 128; x++) CHECK_EQ(out[x], 43 * 100 + 10 + 100000 * (x ^ 63));
    close_emulator();
}

TEST(atomics) {
    enum { N = 64, BLOCKS = 5 };
    static const unsigned want[] = {463, 1000 - 63, N * BLOCKS, 0, N * BLOCKS, 9, 7};
    REQUIRE(open_kernels());
    unsigned *at = (unsigned *)device_memory(7 * 4);
    float *sum = (float *)device_memory(4);
    uint64_t *key = (uint64_t *)device_memory(8);
    memset(at, 0, 7 * 4);
    at[1] = 5000, at[5] = 7, *sum = 0, *key = 0;
    arg_memory(at), arg_memory(sum), arg_memory(key);
    REQUIRE(launch("atomics", BLOCKS, N));
    at[6] -= 1; // old value 8, and only once
    for (int i = 0; i < 7; i++) CHECK_EQ(at[i], want[i]);
    CHECK(*sum == 0.5f * N * BLOCKS);
    CHECK_EQ(*key, (uint64_t)(N - 1) << 32 | (BLOCKS - 1));
    close_emulator();
}

TEST(look_back) {
    enum { TILES = 9, N = TILES * 64 };
    REQUIRE(open_kernels());
    unsigned *in = (unsigned *)device_memory(N * 4),
             *out = (unsigned *)device_memory(N * 4),
             *work = (unsigned *)device_memory((1 + TILES) * 4), sum = 0;
    for (unsigned i = 0; i < N; i++) in[i] = i % 13;
    memset(work, 0, (1 + TILES) * 4);
    arg_memory(in), arg_memory(out), arg_memory(work);
    REQUIRE(launch("look_back", TILES, 64));
    for (int i = 0; i < N; i++) CHECK_EQ(out[i], sum += in[i]);
    close_emulator();
}

TEST(clusters) {
    enum { N = 32, BLOCKS = 12 };
    tcu__launch_shape s = shape_of(BLOCKS, N);
    s.cluster[0] = 4, s.cluster[1] = s.cluster[2] = 1;
    REQUIRE(open_kernels());
    int *in = (int *)device_memory(N * BLOCKS * 4), *out = (int *)device_memory(BLOCKS * 4);
    for (int i = 0; i < N * BLOCKS; i++) in[i] = i % N == 5 ? i / N : 0;
    arg_memory(in), arg_memory(out);
    REQUIRE(launch_shape("together", &s) || FAIL("%s", runtime.device.trouble.text));
    for (int b = 0; b < BLOCKS; b++) {
        int c = b / 4 * 4;
        CHECK_EQ(out[b], c + 10 * (c + 1) + 100 * (c + 2) + 1000 * (c + 3));
    }
    close_emulator();
}

// ---- matrices

// Of a product: (16 x k) * (k x 8), on top of d. Halves and tf32 are exact in double.
static void check_product(const double *a, const double *b, const float *before,
                          const float *after, int k) {
    for (int m = 0; m < 16; m++) {
        for (int n = 0; n < 8; n++) {
            double sum = before ? (double)before[m * 8 + n] : 0;
            for (int i = 0; i < k; i++) sum += a[m * k + i] * b[i * 8 + n];
            CHECK_NEAR(after[m * 8 + n], sum, 1e-6);
        }
    }
}

static void check_mma_of_halves(const char *kernel, half_format f, int adds) {
    float before[128];
    double x[256], y[128];
    REQUIRE(open_kernels());
    uint16_t *a = (uint16_t *)device_memory(256 * 2),
             *b = (uint16_t *)device_memory(128 * 2);
    float *d = device_values(128, 9);
    for (unsigned i = 0; i < 256; i++) a[i] = half_nearest(f, (double)value_of(i, 7));
    for (unsigned i = 0; i < 128; i++) b[i] = half_nearest(f, (double)value_of(i, 8));
    for (int i = 0; i < 256; i++) x[i] = half_value(f, a[i]);
    for (int i = 0; i < 128; i++) y[i] = half_value(f, b[i]);
    memcpy(before, d, sizeof before);
    arg_memory(a), arg_memory(b), arg_memory(d);
    REQUIRE(launch(kernel, 1, 32));
    check_product(x, y, adds ? before : NULL, d, 16);
    close_emulator();
}

TEST(mma_f16) { check_mma_of_halves("multiply_f16", half_f16, 1); }
TEST(mma_bf16) { check_mma_of_halves("multiply_bf16", half_bf16, 1); }
TEST(mma_of_tiles) { check_mma_of_halves("multiply_tiles", half_f16, 0); }

// The low 13 bits of tf32 do not count.
static double tf32_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (double)half_f32_of_bits(bits >> 13 << 13);
}

TEST(mma_tf32) {
    float before[128];
    double x[128], y[64];
    REQUIRE(open_kernels());
    float *a = device_values(128, 1), *b = device_values(64, 2), *d = device_values(128, 3);
    for (int i = 0; i < 128; i++) x[i] = tf32_of(a[i]);
    for (int i = 0; i < 64; i++) y[i] = tf32_of(b[i]);
    memcpy(before, d, sizeof before);
    arg_memory(a), arg_memory(b), arg_memory(d);
    REQUIRE(launch("multiply_tf32", 1, 32));
    check_product(x, y, before, d, 8);
    close_emulator();
}

// Of the two nearest the one that is larger without its sign; halves of the last place are where they part.
TEST(rounding_to_tf32) {
    static const uint32_t from[] = {0x3f800000, 0x3f800fff, 0x3f801000, 0x3f803000,
                                    0xbf801000, 0x3ffff000, 0x00001000, 0x80000fff,
                                    0x7f7fffff, 0x7f800000, 0xff800000};
    static const uint32_t to[] = {0x3f800000, 0x3f800000, 0x3f802000, 0x3f804000,
                                  0xbf802000, 0x40000000, 0x00002000, 0x80000000,
                                  0x7f800000, 0x7f800000, 0xff800000};
    enum { N = (int)(sizeof from / sizeof *from) };
    REQUIRE(open_kernels());
    uint32_t *x = (uint32_t *)device_memory(sizeof from),
             *y = (uint32_t *)device_memory(sizeof to);
    memcpy(x, from, sizeof from);
    arg_memory(x), arg_memory(y);
    REQUIRE(launch("round_tf32", 1, N));
    for (int i = 0; i < N; i++) CHECK_EQ(y[i], to[i]);
    close_emulator();
}

// Matrix i is rows 8 * i..; element [r][c] is 64 * i + 8 * r + c.
static unsigned two_of(int matrix, int lane, int transposed) {
    int g = lane / 4, t = lane % 4, base = 64 * matrix;
    int low = transposed ? 8 * (2 * t) + g : 8 * g + 2 * t, step = transposed ? 8 : 1;
    return (unsigned)(base + low) | (unsigned)(base + low + step) << 16;
}

TEST(ldmatrix) {
    static const int matrix[7] = {0, 0, 1, 0, 1, 2, 3};
    REQUIRE(open_kernels());
    unsigned *out = (unsigned *)device_memory(32 * 14 * 4);
    arg_memory(out);
    REQUIRE(launch("fragments", 1, 32));
    for (int l = 0; l < 32; l++)
        for (int i = 0; i < 14; i++)
            CHECK_EQ(out[l * 14 + i], two_of(matrix[i % 7], l, i / 7));
    close_emulator();
}

// A copy is not there before it is waited for.
TEST(async_copies) {
    REQUIRE(open_only_emulated());
    float *in = device_values(12, 1), *out = device_values(36, 2);
    arg_memory(in), arg_memory(out);
    REQUIRE(launch("copies", 1, 2));
    for (int i = 0; i < 36; i++) {
        int there = i % 12 < 4 ? i >= 12 : i >= 24;
        float want = i % 12 < 8 ? in[i % 12] : 0;
        CHECK(there ? out[i] == want : out[i] != out[i]);
    }
    close_emulator();
}

// ---- what the driver does

TEST(poison) {
    tcu__launch_shape s = shape_of(3, 32);
    s.shared = 32 * 4;
    REQUIRE(open_only_emulated());
    unsigned *out = (unsigned *)device_memory(3 * 64 * 4);
    CHECK_EQ(out[0], ~0u);
    memset(out, 0, 3 * 64 * 4);
    arg_memory(out);
    REQUIRE(launch_shape("poison", &s));
    for (int i = 0; i < 3 * 64; i++) CHECK_EQ(out[i], ~0u);
    close_emulator();
}

// A launch is an operation of its stream, and its arguments are those of the call.
TEST(launches_are_late) {
    enum { N = 100 };
    REQUIRE(open_only_emulated());
    tcu__device *d = &runtime.device;
    tcu__launch_shape s = shape_of(2, 64);
    tcu__kernel k;
    float *at = device_values(N, 1), one = 1;
    int n = N;
    void *params[2] = {&at, &n};
    REQUIRE(tcu__kernel_get(d, &module, "twice", &s, &k));
    at[0] = one;
    for (int i = 0; i < 2; i++)
        CHECK_EQ(d->driver.call.cuLaunchKernel(k.function, 2, 1, 1, 64, 1, 1, 0, d->compute,
                                               params, NULL),
                 0);
    n = 0;
    CHECK_EQ(fake->launches, 2);
    CHECK_EQ(fake->executed, 0);
    CHECK(at[0] == one);
    CHECK_EQ(d->driver.call.cuStreamSynchronize(d->compute), 0);
    CHECK_EQ(fake->executed, 2);
    CHECK(at[0] == 7);
    CHECK(at[N - 1] == 2 * (2 * value_of(N - 1, 1) + 1) + 1);
    close_emulator();
}

TEST(graphs_are_executed) {
    enum { N = 64 };
    REQUIRE(open_only_emulated());
    const tcu__driver_calls *v = &runtime.device.driver.call;
    tcu__launch_shape s = shape_of(1, N);
    tcu__kernel k;
    tcu__graph graph;
    tcu__graph_node node[2];
    tcu__graph_exec exec;
    tcu__node_params p;
    float *at = (float *)device_memory(N * 4), *other = (float *)device_memory(N * 4);
    int n = N;
    void *params[2] = {&at, &n};
    for (int i = 0; i < N; i++) at[i] = other[i] = 0;
    REQUIRE(tcu__kernel_get(&runtime.device, &module, "twice", &s, &k));
    memset(&p, 0, sizeof p);
    p.function = k.function;
    p.grid[0] = p.grid[1] = p.grid[2] = p.block[1] = p.block[2] = 1;
    p.block[0] = N;
    p.parameters = params;
    CHECK_EQ(v->cuGraphCreate(&graph, 0), 0);
    CHECK_EQ(v->cuGraphAddKernelNode_v2(&node[0], graph, NULL, 0, &p), 0);
    CHECK_EQ(v->cuGraphAddKernelNode_v2(&node[1], graph, &node[0], 1, &p), 0);
    CHECK_EQ(v->cuGraphInstantiateWithFlags(&exec, graph, 0), 0);
    CHECK_EQ(v->cuGraphLaunch(exec, runtime.device.compute), 0);
    params[0] = &other;
    CHECK_EQ(v->cuGraphExecKernelNodeSetParams_v2(exec, node[1], &p), 0);
    CHECK_EQ(v->cuGraphLaunch(exec, runtime.device.compute), 0);
    CHECK_EQ(fake->executed, 0);
    CHECK_EQ(v->cuStreamSynchronize(runtime.device.compute), 0);
    CHECK_EQ(fake->executed, 4);
    for (int i = 0; i < N; i++) CHECK(at[i] == 7 && other[i] == 1);
    CHECK_EQ(v->cuGraphExecDestroy(exec), 0);
    CHECK_EQ(v->cuGraphDestroy(graph), 0);
    close_emulator();
}

TEST(launch_bounds_hold) {
    tcu__launch_shape s = shape_of(1, 96);
    tcu__kernel k;
    REQUIRE(open_kernels());
    CHECK(!tcu__kernel_get(&runtime.device, &module, "places", &s, &k));
    CHECK(strstr(runtime.device.trouble.text, "a block may have 64") ||
          FAIL("%s", runtime.device.trouble.text));
    tcu__trouble_clear(&runtime.device.trouble);
    close_emulator();
}

// ---- errors: of a launch, with an argument, the code and what is said

static const struct {
    const char *kernel;
    int argument;
    unsigned threads, shared;
    int code;
    const char *said, *also;
} errors[] = {
    {"write_at", 16, 32, 0, 700, "a write right behind memory of 64 bytes", "write_at"},
    {"write_at", -1, 32, 0, 700, "a write right before memory of 64 bytes", "write_at"},
    {"write_at", 200, 32, 0, 700, "at byte 800 of memory of 64",
     "thread (3,0,0) of block (0,0,0)"},
    {"read_at", 200, 32, 0, 700, "at byte 800 of memory of 64", "thread (3,0,0)"},
    {"read_at", -1000, 32, 0, 700, "4000 bytes before memory of 64", "thread (3,0,0)"},
    {"wide_at", 1, 1, 0, 716, "an access that is not aligned", "thread (0,0,0)"},
    {"load_at", 2, 1, 0, 716, "an access that is not aligned", "at byte 8 of memory of 64"},
    {"shared_at", 8, 32, 0, 700, "an index beyond an array", "thread (3,0,0)"},
    {"pointer_at", 8, 32, 0, 700, "a write 0 bytes behind __shared__ row", "pointer_at"},
    {"dynamic_at", 32, 32, 128, 700, "a write 0 bytes behind __shared__ dynamic memory",
     "dynamic_at"},
    {"dynamic_at", 256, 32, 128, 700, "outside of the block's shared memory (128 bytes",
     "thread (3,0,0)"},
    {"half_waits", 40, 64, 0, 719, "has ended, and thread (",
     "waits in the barrier of line"},
    {"two_barriers", 40, 64, 0, 719, "threads wait in different barriers: thread (0,0,0)",
     "thread (40,0,0)"},
    {"half_shuffles", 40, 64, 0, 719, "threads wait for what never comes", "a shuffle"},
    {"two_shuffles", 40, 64, 0, 719, "lanes of a warp disagree", "mask ffffffff"},
    {"not_in_mask", 2, 32, 0, 719, "lacks the lane itself", "thread (0,0,0)"},
    {"waits_for_nobody", 5, 32, 0, 719, "threads wait for what never comes",
     "memory to change"},
    {"no_end", 5, 1, 0, 702, "an endless loop?", "thread (0,0,0)"},
    {"divide", 0, 1, 0, 719, "an integer division by 0", "thread (0,0,0)"},
    {"shift", 32, 1, 0, 719, "a shift by as many bits as there are", "thread (0,0,0)"},
    {"saturate", 3, 1, 0, 719, "a GPU saturates", "thread (0,0,0)"},
    {"copy_elsewhere", 4, 1, 0, 700, "not to shared memory", "thread (0,0,0)"},
    {"misaligned_rows", 4, 32, 0, 716, "a row of ldmatrix that is not aligned",
     "thread (0,0,0)"},
};

static void check_error(int i) {
    tcu__launch_shape s = shape_of(1, errors[i].threads);
    REQUIRE(open_only_emulated());
    tcu__device *d = &runtime.device;
    float *at = (float *)device_memory(64);
    for (int k = 0; k < 16; k++) at[k] = 0;
    s.shared = errors[i].shared;
    arg_memory(at), arg_int(errors[i].argument);
    CHECK(!launch_shape(errors[i].kernel, &s) || FAIL("%s: no error", errors[i].kernel));
    CHECK_EQ(fake->fault, errors[i].code);
    CHECK(strstr(d->trouble.text, errors[i].said) ||
          FAIL("\"%s\" lacks \"%s\"", d->trouble.text, errors[i].said));
    CHECK(strstr(d->trouble.text, errors[i].also) ||
          FAIL("\"%s\" lacks \"%s\"", d->trouble.text, errors[i].also));
    CHECK_EQ(d->trouble.dead, errors[i].code);
    memories = 0; // they died with the context
    memset(&module, 0, sizeof module);
    tcu__runtime_close(&runtime);
    for (int k = 0; k < FAKE_KINDS; k++) CHECK_EQ(fake->live[k], 0);
    fake->fail_at = fake->sticky = fake->fault = 0;
}

TEST(errors_are_reported) {
    setenv("EMULATE_SECONDS", "1", 1);
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) check_error((int)i);
}

// ---- the compiler

static void check_refused(const char *source, const char *said) {
    REQUIRE(open_only_emulator());
    CHECK(!load_text("bad.cu", source));
    CHECK(strstr(runtime.device.trouble.text, said) ||
          FAIL("\"%s\" lacks \"%s\"", runtime.device.trouble.text, said));
    tcu__trouble_clear(&runtime.device.trouble);
    close_emulator();
}

TEST(unknown_ptx_is_an_error) {
    check_refused(
        "static __device__ int tc_known(int x) { return x; }\n"
        "static __device__ int tc_lane() {\n    int x;\n"
        "    asm(\"mov.u32 %0, %%laneid;\" : \"=r\"(x)); // asm\n    return x;\n}\n"
        "extern \"C\" __global__ void k(int *x) { *x = tc_lane() + tc_known(1); }\n",
        "bad.cu(4): error: PTX in tc_lane, which the emulator has no host version of");
}

TEST(ptx_in_a_macro_is_an_error) {
    check_refused("#define STOP asm(\"exit;\")\n"
                  "extern \"C\" __global__ void k(int *x) { STOP; }\n",
                  "bad.cu(1): error: PTX in a macro");
}

TEST(errors_have_lines) {
    check_refused("extern \"C\" __global__ void k(int *x) {\n    __shared__ int y[2],\n"
                  "        z;\n    *x = missing;\n}\n",
                  "bad.cu:4:10: error: ");
}

TEST(options_are_checked) {
    static const char *const unknown[] = {"--no-such-option"};
    tcu__nvrtc nvrtc;
    tcu__arch arch;
    tcu__job job;
    memset(&nvrtc, 0, sizeof nvrtc);
    memset(&job, 0, sizeof job);
    REQUIRE(open_only_emulator());
    tcu__trouble *t = &runtime.device.trouble;
    job.name = "k.cu";
    job.source = "extern \"C\" __global__ void k(int *x) { *x = 1; }";
    job.options = unknown;
    job.n_options = 1;
    REQUIRE(tcu__nvrtc_open(&nvrtc, t) && tcu__arch_choose(&nvrtc, 9, 0, &arch, t));
    CHECK_STR(arch.name, "sm_90");
    CHECK(!tcu__compile(&nvrtc, &hook, &arch, &job, 1, 1, t));
    CHECK(strstr(job.why, "unrecognized option --no-such-option") || FAIL("%s", job.why));
    tcu__job_free(&hook, &job);
    tcu__nvrtc_close(&nvrtc);
    tcu__trouble_clear(t);
    close_emulator();
}

TEST(what_is_no_code_is_refused) {
    REQUIRE(open_only_emulator());
    char elf[100] = "\177ELF";
    CHECK(!tcu__module_load(&runtime.device, &module, elf, "half a file"));
    CHECK(strstr(runtime.device.trouble.text, "no code for the emulator") ||
          FAIL("%s", runtime.device.trouble.text));
    tcu__trouble_clear(&runtime.device.trouble);
    close_emulator();
}
