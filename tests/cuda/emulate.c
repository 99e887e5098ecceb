// The emulator of tests (tools/cuda_emulate.c, nvrtc_fake.c): kernels of tests/golden with the
// values of references in double, then what threads do together, and what is reported.
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

static int open_emulator(void) {
    if (!use_emulator()) return 0;
    return (tcu__runtime_open(&runtime, &hook, 0) && tcu__enter(&runtime.device)) ||
           FAIL("open: %s", runtime.device.trouble.text);
}

static void close_emulator(void) {
    const tcu__driver_calls *call = &runtime.device.driver.call;
    if (module.library) tcu__module_unload(&runtime.device, &module);
    while (memories > 0) CHECK_EQ(call->cuMemFree_v2(memory[--memories]), 0);
    tcu__runtime_close(&runtime);
    for (int i = 0; i < FAKE_KINDS; i++) CHECK_EQ(fake->live[i], 0);
    CHECK(!fake->misuse || FAIL("misused: %s", fake->misused));
}

// 1, or 0 with the reason in the device's trouble.
static int load_text(const char *name, const char *source) {
    static const char *const strict[] = {"-fmad=false"};
    tcu__device *d = &runtime.device;
    tcu__nvrtc nvrtc;
    tcu__arch arch;
    tcu__job job;
    memset(&nvrtc, 0, sizeof nvrtc);
    memset(&job, 0, sizeof job);
    job.name = name;
    job.source = source;
    job.options = strict;
    job.n_options = 1;
    int ok = tcu__nvrtc_open(&nvrtc, &d->trouble) &&
             tcu__arch_choose(&nvrtc, 9, 0, &arch, &d->trouble) &&
             tcu__compile(&nvrtc, &hook, &arch, &job, 1, 1, &d->trouble);
    if (ok && module.library) tcu__module_unload(d, &module);
    ok = ok && tcu__module_load(d, &module, job.cubin, name);
    tcu__job_free(&hook, &job);
    tcu__nvrtc_close(&nvrtc);
    return ok;
}

static int load(const char *source) {
    return load_text("test.cu", source) || FAIL("%s", runtime.device.trouble.text);
}

static int load_golden(const char *name) {
    char path[300];
    snprintf(path, sizeof path, "tests/golden/%s.cu", name);
    char *source = nvrtc_read(path);
    int ok = source && load_text(name, source);
    free(source);
    return ok || FAIL("%s: %s", path, runtime.device.trouble.text);
}

// Memory of the device: an address of the host. It is given back at the end.
static void *device_memory(size_t size) {
    if (memories == MOST_MEMORY) return FAIL("too many memories"), (void *)NULL;
    CHECK_EQ(runtime.device.driver.call.cuMemAlloc_v2(&memory[memories], size), 0);
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

// In [-1, 1), another for each i and seed.
static float value_of(unsigned i, unsigned seed) {
    uint32_t x = (i + 1) * 2654435761u + seed * 40503u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (float)(int32_t)x / 2147483648.0f;
}

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
    REQUIRE(launch("kernel0", 3, 256));
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

TEST(softmax_of_any_size) { check_softmax("symbolic", 3, 256, 8, 333, 333 * 4, 1); }

TEST(transpose) {
    enum { ROWS = 1000, COLUMNS = 768 };
    REQUIRE(open_emulator() && load_golden("transpose"));
    float *x = device_values(ROWS * COLUMNS, 5), *y = device_values(ROWS * COLUMNS, 6),
          *out = (float *)device_memory(ROWS * COLUMNS * sizeof *out);
    arg_memory(x), arg_memory(y), arg_memory(out), arg_sizes(0);
    REQUIRE(launch("kernel0", 100, 256));
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            CHECK_NEAR(out[r * COLUMNS + c],
                       (double)x[r + ROWS * c] + (double)y[r * COLUMNS + c], 1e-6);
    close_emulator();
}
