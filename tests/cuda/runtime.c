// The CUDA runtime (gen/cuda) on a driver that is a fake (tools/cuda_fake.c): order of
// calls, memory, copies, launches and graphs, and every call failing with every kind of
// error.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.in.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "tools/cuda_fake_use.h"

#define MIB ((size_t)1 << 20)

// ---- a runtime whose host memory is counted

static size_t host_bytes;
static int host_calls, host_fail; // number of the allocation that fails; 0 = none

static void *counted(void *user, void *p, size_t old, size_t size) {
    (void)user;
    if (size && ++host_calls == host_fail) return NULL;
    if (!size) {
        host_bytes -= old;
        free(p);
        return NULL;
    }
    void *q = realloc(p, size);
    if (q) host_bytes += size - (p ? old : 0);
    return q;
}

static const tc_allocator hook = {counted, NULL};
static tcu__runtime runtime;

static int open_runtime(void) {
    if (!fake_use("new.so")) return 0;
    return (tcu__runtime_open(&runtime, &hook, 0) && tcu__enter(&runtime.device)) ||
           FAIL("open: %s", runtime.device.trouble.text);
}

static int alive(void) {
    int n = 0;
    for (int i = 0; i < FAKE_KINDS; i++) n += fake->live[i];
    return n;
}

// After closing nothing may be left, and no handle was misused.
static void check_gone(void) {
    CHECK_EQ(alive(), 0);
    CHECK_EQ(fake->used, 0);
    CHECK_EQ(host_bytes, 0);
    CHECK(!fake->misuse || FAIL("misused: %s", fake->misused));
}

static void close_runtime(void) {
    tcu__runtime_close(&runtime);
    check_gone();
}

static int calls_of(const char *name) {
    int n = 0;
    for (int i = 0; i < fake->calls; i++) n += !strcmp(fake->name[i], name);
    return n;
}

// The names of the calls from `from` on are these, in order.
static void check_calls(int from, const char *const *name, int count) {
    CHECK_EQ(fake->calls - from, count);
    for (int i = 0; i < count && from + i < fake->calls; i++)
        CHECK_STR(fake->name[from + i], name[i]);
}

#define CALLS(from, ...)                                                                   \
    do {                                                                                   \
        const char *const names[] = {__VA_ARGS__};                                         \
        check_calls(from, names, (int)(sizeof names / sizeof *names));                     \
    } while (0)

static void check_text(const char *text, const char *part) {
    CHECK(strstr(text, part) || FAIL("\"%s\" lacks \"%s\"", text, part));
}

// ---- open and close

#define ATTRIBUTE "cuDeviceGetAttribute"

TEST(open_and_close) {
    REQUIRE(open_runtime());
    const tcu__facts *f = &runtime.device.facts;
    fake->calls -= 2; // our own tcu__enter, after open has left
    CALLS(0, "cuDriverGetVersion", "cuInit", "cuDeviceGetCount", "cuDeviceGet",
          "cuDeviceGetName", "cuDeviceTotalMem_v2", ATTRIBUTE, ATTRIBUTE, ATTRIBUTE,
          ATTRIBUTE, ATTRIBUTE, ATTRIBUTE, ATTRIBUTE, ATTRIBUTE, ATTRIBUTE, ATTRIBUTE,
          ATTRIBUTE, "cuDevicePrimaryCtxRetain", "cuCtxGetCurrent", "cuCtxSetCurrent",
          "cuStreamCreateWithPriority", "cuCtxSetCurrent");
    CHECK_STR(f->name, "Fake 0");
    CHECK_EQ(f->major * 10 + f->minor, 90);
    CHECK_EQ(f->sms, 132);
    CHECK_EQ(f->l2_bytes, 62914560);
    CHECK_EQ(f->threads_sm, 2048);
    CHECK_EQ(f->threads_block, 1024);
    CHECK_EQ(f->shared_block, 232448);
    CHECK_EQ(f->virtual_memory, 1);
    CHECK_EQ(f->clusters, 1);
    CHECK_EQ(f->tensor_maps, 1);
    CHECK_EQ(f->memory, 1024 * MIB);
    int before = fake->calls;
    close_runtime();
    CALLS(before, "cuStreamSynchronize", "cuStreamDestroy_v2", "cuCtxSetCurrent",
          "cuDevicePrimaryCtxRelease_v2");
}

TEST(open_twice_in_a_process) {
    for (int i = 0; i < 2; i++) {
        REQUIRE(open_runtime());
        close_runtime();
    }
    CHECK_EQ(calls_of("cuDevicePrimaryCtxRetain"), 2);
}

// Two users of one device share its primary context.
TEST(open_two_at_once) {
    static tcu__runtime other;
    REQUIRE(open_runtime());
    REQUIRE(tcu__runtime_open(&other, &hook, 0));
    CHECK_EQ(fake->live[FAKE_CONTEXT], 1);
    CHECK_EQ(fake->live[FAKE_STREAM], 2);
    tcu__runtime_close(&other);
    CHECK_EQ(fake->live[FAKE_CONTEXT], 1);
    CHECK(tcu__pool_take(&runtime.pool, 100, runtime.device.compute) != NULL);
    close_runtime();
}

TEST(streams_and_events) {
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    CHECK_EQ(fake->live[FAKE_STREAM], 1);
    tcu__stream in = tcu__copy_stream(d, TCU__COPY_IN);
    CHECK(in && in == tcu__copy_stream(d, TCU__COPY_IN));
    CHECK(in != tcu__copy_stream(d, TCU__COPY_OUT));
    CHECK_EQ(fake->live[FAKE_STREAM], 3);
    tcu__event a = tcu__event_take(d), b = tcu__event_take(d);
    CHECK(a && b && a != b);
    tcu__event_give(d, a);
    CHECK(tcu__event_take(d) == a); // pooled
    CHECK_EQ(fake->live[FAKE_EVENT], 2);
    tcu__event_give(d, a);
    tcu__event_give(d, b);
    int before = fake->calls;
    CHECK(tcu__stream_after(d, d->compute, in));
    CALLS(before, "cuEventRecord", "cuStreamWaitEvent");
    close_runtime();
}

// An event that stays busy is slept on; one that is done soon is not.
TEST(waiting) {
    REQUIRE(open_runtime());
    fake->busy = 2;
    CHECK(tcu__stream_wait(&runtime.device, runtime.device.compute));
    CHECK_EQ(calls_of("cuEventQuery"), 3);
    CHECK_EQ(calls_of("cuEventSynchronize"), 0);
    fake->busy = 1 << 30;
    CHECK(tcu__stream_wait(&runtime.device, runtime.device.compute));
    CHECK_EQ(calls_of("cuEventSynchronize"), 1);
    close_runtime();
}

// ---- reasons

static void check_reason(const char *part) {
    char why[TCU__TEXT] = "";
    CHECK_EQ(tc_cuda_available(why, sizeof why), 0);
    check_text(why, part);
    CHECK_EQ(tc_cuda_device_count(), 0);
    CHECK(!tcu__runtime_open(&runtime, &hook, 0));
    CHECK_STR(runtime.device.trouble.text, why);
    CHECK(runtime.device.trouble.status != TC_OK);
    if (fake) check_gone();
}

TEST(reason_no_file) {
    setenv("TC_CUDA_LIBRARY", "/nonexistent", 1);
    check_reason("TC_CUDA_LIBRARY=/nonexistent cannot be loaded");
}

TEST(reason_not_a_driver) {
    setenv("TC_CUDA_LIBRARY", "libm.so.6", 1);
    check_reason("libm.so.6 has no cuDriverGetVersion: it is older than CUDA 12.0");
}

TEST(reason_stub) {
    REQUIRE(fake_use("new.so"));
    fake->init_code = 34;
    check_reason("this is the toolkit's stub");
}

// That of a toolkit, where one is installed.
TEST(reason_real_stub) {
    static const char stub[] = "/usr/local/cuda/lib64/stubs/libcuda.so";
    if (access(stub, R_OK)) SKIP("no stub of a toolkit");
    setenv("TC_CUDA_LIBRARY", stub, 1);
    check_reason("error (34); this is the toolkit's stub");
}

TEST(reason_no_device) {
    REQUIRE(fake_use("new.so"));
    fake->init_code = 100;
    check_reason("no GPU is visible");
}

TEST(reason_zero_devices) {
    REQUIRE(fake_use("new.so"));
    fake->devices = 0;
    check_reason("sees no device");
}

TEST(reason_old_driver) {
    REQUIRE(fake_use("new.so"));
    fake->version = 11040;
    check_reason("supports CUDA 11.4, and 12.0 is needed");
    CHECK_EQ(calls_of("cuInit"), 0);
}

TEST(reason_mismatch) {
    REQUIRE(fake_use("new.so"));
    fake->init_code = 803;
    check_reason("kernel module and driver library differ");
}

TEST(no_such_device) {
    REQUIRE(fake_use("new.so"));
    for (int ordinal = -1; ordinal < 2; ordinal += 2) {
        CHECK(!tcu__runtime_open(&runtime, &hook, ordinal));
        check_text(runtime.device.trouble.text, "there is 1, numbered from 0");
        CHECK_EQ(runtime.device.trouble.status, TC_E_ARG);
        check_gone();
    }
}

TEST(looking) {
    char name[40], text[4096], tiny[5];
    REQUIRE(fake_use("new.so"));
    fake->devices = 2;
    CHECK(tc_cuda_available(text, sizeof text));
    CHECK_STR(text, "");
    CHECK(tc_cuda_available(NULL, 0));
    CHECK_EQ(tc_cuda_device_count(), 2);
    CHECK(tc_cuda_device_name(1, name, sizeof name));
    CHECK_STR(name, "Fake 1");
    CHECK(tc_cuda_device_name(1, tiny, sizeof tiny));
    CHECK_STR(tiny, "Fake");
    CHECK(!tc_cuda_device_name(2, name, sizeof name));
    CHECK_STR(name, "");
    CHECK(tc_cuda_report(0, text, sizeof text));
    check_text(text, "CUDA 13.0");
    check_text(text, "Fake 0, compute capability 9.0, 132 multiprocessors");
    check_text(text, "1.00 GiB");
    CHECK(!tc_cuda_report(7, text, sizeof text));
    check_text(text, "device 7: there are 2");
    CHECK_EQ(alive(), 0); // no context was made
}

// ---- forks and other users of the process

TEST(fork_refuses) {
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__leave(d);
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        char why[TCU__TEXT];
        int before = fake->calls;
        test_failures = 0;
        CHECK(!tcu__enter(d));
        check_text(d->trouble.text, "opened before this process was forked");
        CHECK(!tc_cuda_available(why, sizeof why));
        check_text(why, "initialised before this process was forked");
        tcu__runtime_close(&runtime);
        CHECK_EQ(fake->calls, before); // the driver was not touched
        CHECK_EQ(host_bytes, 0);
        _exit(test_failures != 0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    CHECK_EQ(status, 0);
    CHECK(tcu__enter(d));
    close_runtime();
}

// A thread that had another context has it again after each use.
TEST(context_of_others) {
    tcu__context now = NULL, other = NULL;
    REQUIRE(fake_use("new.so"));
    other = (tcu__context)fake->foreign();
    REQUIRE(tcu__runtime_open(&runtime, &hook, 0));
    tcu__device *d = &runtime.device;
    d->driver.call.cuCtxGetCurrent(&now);
    CHECK(now == other);
    CHECK(tcu__enter(d) && tcu__enter(d)); // nests
    tcu__leave(d);
    d->driver.call.cuCtxGetCurrent(&now);
    CHECK(now == d->context);
    tcu__driver_calls call = d->driver.call;
    tcu__runtime_close(&runtime);
    call.cuCtxGetCurrent(&now);
    CHECK(now == other);
    CHECK_EQ(alive(), 1); // the other one
}

// ---- the pool

TEST(classes) {
    CHECK_EQ(tcu__class_of(0), 512);
    CHECK_EQ(tcu__class_of(1), 512);
    CHECK_EQ(tcu__class_of(512), 512);
    CHECK_EQ(tcu__class_of(513), 1024);
    CHECK_EQ(tcu__class_of(MIB), MIB);
    CHECK_EQ(tcu__class_of(MIB + 1), 2 * MIB);
    CHECK_EQ(tcu__class_of(2 * MIB + 1), 4 * MIB);
    CHECK_EQ(tcu__class_of(SIZE_MAX), 0);
}

TEST(pool_reuses) {
    REQUIRE(open_runtime());
    tcu__pool *p = &runtime.pool;
    tcu__device *d = &runtime.device;
    tcu__stream other = tcu__copy_stream(d, TCU__COPY_IN);
    tcu__block *a = tcu__pool_take(p, 1000, d->compute),
               *b = tcu__pool_take(p, 1000, d->compute);
    REQUIRE(a && b);
    CHECK(a->address != b->address);
    CHECK_EQ(d->held.live, 2048);
    tcu__address was = a->address;
    tcu__pool_give(p, a);
    CHECK_EQ(d->held.cached, 1024);
    // Another stream, another class: not that block.
    tcu__block *c = tcu__pool_take(p, 1000, other),
               *e = tcu__pool_take(p, 1025, d->compute);
    REQUIRE(c && e);
    CHECK(c->address != was && e->address != was);
    CHECK_EQ(calls_of("cuMemAlloc_v2"), 4);
    a = tcu__pool_take(p, 600, d->compute);
    REQUIRE(a);
    CHECK(a->address == was);
    CHECK_EQ(calls_of("cuMemAlloc_v2"), 4);
    CHECK_EQ(d->held.cached, 0);
    CHECK_EQ(d->held.peak, d->held.live);
    CHECK_EQ(d->held.live, 1024 * 3 + 1536);
    tcu__pool_give(p, b);
    tcu__pool_give(p, NULL);
    CHECK_EQ(tcu__pool_trim(p), 1024);
    CHECK_EQ(calls_of("cuMemFree_v2"), 1);
    close_runtime(); // frees those in use too
}

// Many streams share a chain of cached blocks, and never a block.
TEST(pool_keeps_streams_apart) {
    enum { STREAMS = 400 };
    static tcu__address of[STREAMS];
    REQUIRE(open_runtime());
    tcu__pool *p = &runtime.pool;
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < STREAMS; i++) {
            tcu__stream s = (tcu__stream)(uintptr_t)(64 * (i + 1)); // just a name here
            tcu__block *b = tcu__pool_take(p, 512, s);
            REQUIRE(b);
            CHECK(!round || b->address == of[i]);
            of[i] = b->address;
            tcu__pool_give(p, b);
            if (!round) CHECK_EQ(calls_of("cuMemAlloc_v2"), i + 1);
        }
    }
    CHECK_EQ(calls_of("cuMemAlloc_v2"), STREAMS);
    close_runtime();
}

// Thousands of blocks of many classes, against a list of what must be free.
TEST(pool_many) {
    enum { MANY = 300 };
    tcu__block *block[MANY] = {NULL};
    REQUIRE(open_runtime());
    tcu__stream s = runtime.device.compute;
    unsigned random = 1;
    for (int i = 0; i < 5000; i++) {
        random = random * 1664525u + 1013904223u;
        int k = (int)(random >> 8) % MANY;
        if (block[k]) {
            tcu__pool_give(&runtime.pool, block[k]);
            block[k] = NULL;
            continue;
        }
        size_t size = random % 20000;
        block[k] = tcu__pool_take(&runtime.pool, size, s);
        REQUIRE(block[k] && block[k]->size >= size);
        for (int j = 0; j < MANY; j++)
            CHECK(j == k || !block[j] || block[j]->address != block[k]->address);
    }
    CHECK_EQ(runtime.device.held.live + runtime.device.held.cached, fake->used);
    close_runtime();
}

TEST(pool_full) {
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__block *a = tcu__pool_take(&runtime.pool, 600 * MIB, d->compute);
    tcu__block *b = tcu__pool_take(&runtime.pool, 300 * MIB, d->compute);
    REQUIRE(a && b);
    tcu__pool_give(&runtime.pool, a);
    // 900 of 1024 MiB are held, 600 of them for nobody: they go.
    a = tcu__pool_take(&runtime.pool, 700 * MIB, d->compute);
    REQUIRE(a);
    CHECK_EQ(d->trouble.status, TC_OK);
    CHECK_EQ(d->held.cached, 0);
    CHECK(!tcu__pool_take(&runtime.pool, 500 * MIB, d->compute));
    CHECK_EQ(d->trouble.status, TC_E_NOMEM);
    check_text(d->trouble.text, "device 0 is full: 500.0 MiB wanted for a tensor");
    check_text(d->trouble.text, "tensors hold 1000.0 MiB");
    check_text(d->trouble.text, "0 B are kept");
    check_text(d->trouble.text, "24.0 MiB of the device's 1.00 GiB are free");
    tcu__trouble_clear(&d->trouble);
    CHECK(tcu__pool_take(&runtime.pool, 20 * MIB, d->compute) != NULL); // goes on
    close_runtime();
}

// ---- the arena

static void touch(tcu__address at, unsigned char value) {
    memset((void *)(uintptr_t)at, value, 1);
}

TEST(arena_keeps_addresses) {
    REQUIRE(open_runtime());
    tcu__arena *a = &runtime.arena;
    tcu__address base = 0, again = 0;
    REQUIRE(tcu__arena_reserve(a, 100, &base));
    CHECK_EQ(a->mapped, 2 * MIB);
    touch(base + 99, 7);
    for (size_t size = MIB; size <= 64 * MIB; size *= 2) {
        REQUIRE(tcu__arena_reserve(a, size, &again));
        CHECK(again == base);
        touch(base + size - 1, 3);
        CHECK_EQ(*(unsigned char *)(uintptr_t)(base + 99), 7);
    }
    CHECK_EQ(a->mapped, 64 * MIB);
    CHECK_EQ(runtime.device.held.arena, 64 * MIB);
    int before = fake->calls;
    CHECK(tcu__arena_reserve(a, 5 * MIB, &again)); // smaller: no call
    CHECK_EQ(fake->calls, before);
    CHECK_EQ(calls_of("cuMemAddressReserve"), 1);
    close_runtime();
}

TEST(arena_full) {
    tcu__address base = 0, again = 0;
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__block *b = tcu__pool_take(&runtime.pool, 800 * MIB, d->compute);
    tcu__pool_give(&runtime.pool, b);
    CHECK(tcu__arena_reserve(&runtime.arena, 600 * MIB, &base)); // takes what tensors kept
    CHECK_EQ(d->held.cached, 0);
    static const size_t too_much[] = {(size_t)1025, (size_t)1 << 40, SIZE_MAX / MIB};
    for (int i = 0; i < 3; i++) {
        CHECK(!tcu__arena_reserve(&runtime.arena, too_much[i] * MIB, &again));
        check_text(d->trouble.text, "wanted for the intermediate results of a plan");
        tcu__trouble_clear(&d->trouble);
    }
    CHECK(tcu__pool_take(&runtime.pool, 300 * MIB, d->compute) != NULL);
    CHECK(!tcu__arena_reserve(&runtime.arena, 800 * MIB, &again)); // fits, but is taken
    tcu__trouble_clear(&d->trouble);
    CHECK(tcu__arena_reserve(&runtime.arena, 700 * MIB, &again));
    CHECK(again == base);
    close_runtime();
}

// Without virtual memory what was given stays, and a larger chunk comes.
static void check_chunks(void) {
    tcu__address base[3] = {0};
    tcu__arena *a = &runtime.arena;
    REQUIRE(tcu__arena_reserve(a, 3 * MIB, &base[0]));
    CHECK_EQ(a->mapped, 4 * MIB);
    REQUIRE(tcu__arena_reserve(a, 4 * MIB, &base[1]));
    CHECK(base[0] == base[1]);
    REQUIRE(tcu__arena_reserve(a, 5 * MIB, &base[2]));
    CHECK(base[2] != base[0]);
    CHECK_EQ(a->mapped, 8 * MIB); // doubles
    CHECK_EQ(runtime.device.held.arena, 12 * MIB);
    touch(base[0] + 3 * MIB - 1, 1);
    touch(base[2] + 5 * MIB - 1, 1);
    CHECK_EQ(calls_of("cuMemAlloc_v2"), 2);
}

TEST(arena_without_virtual_memory) {
    REQUIRE(fake_use("new.so"));
    fake->virtual_memory = 0;
    REQUIRE(open_runtime());
    check_chunks();
    close_runtime();
}

// ---- copies

static unsigned char *pattern(size_t size, unsigned seed) {
    unsigned char *p = (unsigned char *)malloc(size + 1);
    for (size_t i = 0; i < size; i++)
        p[i] = (unsigned char)((i * 31 + i / 4096 + seed) >> 1);
    return p;
}

static void check_round_trip(size_t size) {
    tcu__stream s = runtime.device.compute;
    unsigned char *from = pattern(size, 5), *kept = pattern(size, 5);
    unsigned char *to = (unsigned char *)malloc(size + 1);
    tcu__block *b = tcu__pool_take(&runtime.pool, size, s);
    REQUIRE(b);
    to[size] = 99;
    CHECK(tcu__copy_in(&runtime.staging, b->address, from, size, s));
    memset(from, 0, size); // it may change at once
    CHECK(tcu__copy_out(&runtime.staging, to, b->address, size, s));
    CHECK(!memcmp(to, kept, size) || FAIL("%zu bytes differ", size));
    CHECK_EQ(to[size], 99);
    tcu__pool_give(&runtime.pool, b);
    free(from);
    free(kept);
    free(to);
}

TEST(copies_of_all_sizes) {
    static const size_t size[] = {
        0, 1, 63, 4097, MIB, 32 * MIB, 32 * MIB + 1, 64 * MIB + 3, 100000000};
    REQUIRE(open_runtime());
    CHECK_EQ(fake->live[FAKE_PINNED], 0); // on first use
    for (size_t i = 0; i < sizeof size / sizeof *size; i++) check_round_trip(size[i]);
    CHECK_EQ(fake->live[FAKE_PINNED], 2);
    CHECK_EQ(runtime.device.held.pinned, 64 * MIB);
    close_runtime();
}

TEST(copies_on_the_device) {
    unsigned char bytes[3000];
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__block *a = tcu__pool_take(&runtime.pool, 3000, d->compute);
    tcu__block *b = tcu__pool_take(&runtime.pool, 3000, d->compute);
    REQUIRE(a && b);
    CHECK(tcu__set_bytes(d, a->address, 7, 3000, d->compute));
    CHECK(tcu__set_bytes(d, a->address + 1000, 9, 1000, d->compute));
    CHECK(tcu__copy_on(d, b->address, a->address, 3000, d->compute));
    CHECK(tcu__set_bytes(d, a->address, 1, 3000, d->compute)); // after the copy
    CHECK(tcu__copy_on(d, b->address, a->address, 0, d->compute));
    CHECK(tcu__copy_out(&runtime.staging, bytes, b->address, 3000, d->compute));
    CHECK(bytes[0] == 7 && bytes[999] == 7 && bytes[1000] == 9 && bytes[1999] == 9 &&
          bytes[2000] == 7);
    close_runtime();
}

// Many small copies fill slots without waiting, and on two streams; the fake copies as late
// as it may, so a slot that is used too soon gives wrong bytes.
TEST(copies_small_and_many) {
    enum { COUNT = 200, SIZE = 1000000 };
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__stream stream[2] = {d->compute, tcu__copy_stream(d, TCU__COPY_IN)};
    tcu__block *b = tcu__pool_take(&runtime.pool, (size_t)COUNT * SIZE, d->compute);
    unsigned char *to = (unsigned char *)malloc(SIZE);
    REQUIRE(b && to);
    for (int i = 0; i < COUNT; i++) {
        unsigned char *from = pattern(SIZE, (unsigned)i * 7);
        CHECK(tcu__copy_in(&runtime.staging, b->address + (tcu__address)i * SIZE, from,
                           SIZE, stream[i / 8 % 2]));
        free(from);
        if (i == 20) CHECK(calls_of("cuEventQuery") < 5); // 20 MB fit into a slot or two
    }
    CHECK(tcu__stream_after(d, d->compute, stream[1]));
    for (int i = 0; i < COUNT; i++) {
        unsigned char *want = pattern(SIZE, (unsigned)i * 7);
        CHECK(tcu__copy_out(&runtime.staging, to, b->address + (tcu__address)i * SIZE, SIZE,
                            d->compute));
        CHECK(!memcmp(to, want, SIZE) || FAIL("copy %d", i));
        free(want);
    }
    free(to);
    close_runtime();
}

// ---- kernels

static const char code[] = "add 8 8 4\nscale 8 4\nfill 8\n";

typedef struct binary_args {
    uint64_t x, y;
    int32_t n;
} binary_args;

static const uint32_t binary_offset[] = {0, 8, 16};

static tcu__launch_shape shape_of(unsigned grid, unsigned block) {
    tcu__launch_shape s;
    memset(&s, 0, sizeof s);
    s.grid[0] = grid;
    s.block[0] = block;
    s.grid[1] = s.grid[2] = s.block[1] = s.block[2] = 1;
    return s;
}

static tcu__args args_of(const binary_args *a) {
    tcu__args r;
    r.at = (const unsigned char *)a;
    r.offset = binary_offset;
    r.count = 3;
    r.size = sizeof *a;
    return r;
}

static binary_args arguments(uint64_t x, uint64_t y, int32_t n) {
    binary_args a;
    memset(&a, 0, sizeof a);
    a.x = x;
    a.y = y;
    a.n = n;
    return a;
}

// What the fake saw of launch i: name, grid, and the three arguments of `add`.
static void check_launch(int i, const char *name, unsigned grid, binary_args a) {
    const fake_launch *l = &fake->launch[i];
    REQUIRE(i >= 0 && i < fake->launches);
    CHECK_STR(l->name, name);
    CHECK_EQ(l->grid[0], grid);
    CHECK_EQ(l->size, 20);
    CHECK_BYTES(l->params, &a.x, 8);
    CHECK_BYTES(l->params + 8, &a.y, 8);
    CHECK_BYTES(l->params + 16, &a.n, 4);
}

static void check_kernels(void) {
    tcu__device *d = &runtime.device;
    tcu__module m;
    tcu__kernel k;
    tcu__launch_shape s = shape_of(7, 128);
    binary_args a = arguments(0x1000, 0x2000, 42);
    tcu__args args = args_of(&a);
    REQUIRE(tcu__module_load(d, &m, code, "the test"));
    s.shared = 100 * 1024;
    REQUIRE(tcu__kernel_get(d, &m, "add", &s, &k));
    CHECK_EQ(k.registers, 40);
    CHECK_EQ(k.spilled, 16);
    CHECK_EQ(k.shared, 1024);
    CHECK_EQ(k.threads, 512);
    CHECK(tcu__launch(d, &k, &s, &args, d->compute));
    CHECK_EQ(fake->launch[0].shared, 100 * 1024);
    CHECK_EQ(fake->launch[0].block[0], 128);
    CHECK_EQ(calls_of("cuLaunchKernel"), 1);
    check_launch(0, "add", 7, a);
    CHECK(!tcu__kernel_get(d, &m, "nothing", &s, &k));
    check_text(d->trouble.text, "for nothing: CUDA_ERROR_OF_THE_FAKE (500)");
    tcu__trouble_clear(&d->trouble);
    tcu__module_unload(d, &m);
    CHECK(!tcu__module_load(d, &m, "garbage", "broken"));
    check_text(d->trouble.text, "for broken: ");
    check_text(d->trouble.text, "this is no code");
    tcu__trouble_clear(&d->trouble);
    tcu__module_unload(d, &m);
}

TEST(kernels) {
    REQUIRE(open_runtime());
    check_kernels();
    CHECK_EQ(calls_of("cuLibraryLoadData"), 2);
    close_runtime();
}

TEST(launch_attributes) {
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__module m;
    tcu__kernel k;
    tcu__launch_shape s = shape_of(16, 64);
    binary_args a = arguments(1, 2, 3);
    tcu__args args = args_of(&a);
    s.cluster[0] = 16;
    s.cluster[1] = s.cluster[2] = 1;
    s.programmatic = 1;
    REQUIRE(tcu__module_load(d, &m, code, "the test"));
    REQUIRE(tcu__kernel_get(d, &m, "add", &s, &k));
    int set = 0; // a cluster above the portable size needs leave
    for (int i = 0; i < fake->calls; i++)
        set += !strcmp(fake->name[i], "cuFuncSetAttribute") && fake->detail[i] == 14;
    CHECK_EQ(set, 1);
    CHECK(tcu__launch(d, &k, &s, &args, d->compute));
    CHECK_EQ(calls_of("cuLaunchKernelEx"), 1);
    CHECK_EQ(fake->launch[0].cluster[0], 16);
    CHECK_EQ(fake->launch[0].programmatic, 1);
    check_launch(0, "add", 16, a);
    args.count = TCU__MOST_ARGS + 1;
    CHECK(!tcu__launch(d, &k, &s, &args, d->compute));
    check_text(d->trouble.text, "257 arguments");
    tcu__module_unload(d, &m);
    close_runtime();
}

// What the device does not have is told in numbers, before the driver says "invalid".
TEST(kernel_that_does_not_fit) {
    REQUIRE(open_runtime());
    tcu__device *d = &runtime.device;
    tcu__module m;
    tcu__kernel k;
    tcu__launch_shape s = shape_of(1, 64);
    REQUIRE(tcu__module_load(d, &m, code, "the test"));
    s.shared = 232448 - 1024; // and 1024 of its own
    CHECK(tcu__kernel_get(d, &m, "add", &s, &k));
    s.shared++;
    CHECK(!tcu__kernel_get(d, &m, "add", &s, &k));
    check_text(d->trouble.text,
               "add needs 232449 bytes of shared memory, device 0 has 232448");
    tcu__trouble_clear(&d->trouble);
    s = shape_of(1, 1024);
    CHECK(!tcu__kernel_get(d, &m, "add", &s, &k));
    check_text(d->trouble.text,
               "blocks of 1024 threads, and with 40 registers a block may have 512");
    CHECK_EQ(d->trouble.status, TC_E_UNSUPPORTED);
    tcu__module_unload(d, &m);
    close_runtime();
}

// A driver that has nothing of what is optional.
TEST(old_driver) {
    REQUIRE(fake_use("old.so"));
    REQUIRE(tcu__runtime_open(&runtime, &hook, 0) && tcu__enter(&runtime.device));
    check_kernels();
    CHECK_EQ(calls_of("cuModuleLoadDataEx"), 2);
    check_chunks();
    tcu__device *d = &runtime.device;
    tcu__module m;
    tcu__kernel k;
    tcu__launch_shape s = shape_of(4, 32);
    binary_args a = arguments(1, 2, 3);
    tcu__args args = args_of(&a);
    REQUIRE(tcu__module_load(d, &m, code, "the test"));
    REQUIRE(tcu__kernel_get(d, &m, "add", &s, &k));
    s.programmatic = 1; // just starts later
    CHECK(tcu__launch(d, &k, &s, &args, d->compute));
    s.cluster[0] = s.cluster[1] = s.cluster[2] = 1;
    CHECK(!tcu__launch(d, &k, &s, &args, d->compute));
    check_text(d->trouble.text, "clusters, which the driver does not know");
    tcu__module_unload(d, &m);
    close_runtime();
}

// ---- graphs

enum { NODES = 5 };

typedef struct plan {
    tcu__module module;
    tcu__kernel kernel;
    tcu__graphs graphs;
    binary_args args[NODES];
    tcu__node node[NODES];
    int after[NODES][2];
} plan;

// Node 0 reads input 0; 1 and 2 come after it, 3 after both and reads input 1, 4 after 3.
static int plan_open(plan *p) {
    static const int after[NODES][2] = {{-1, -1}, {0, -1}, {0, -1}, {1, 2}, {3, -1}};
    tcu__launch_shape s = shape_of(4, 64);
    memset(p, 0, sizeof *p);
    if (!tcu__module_load(&runtime.device, &p->module, code, "the plan") ||
        !tcu__kernel_get(&runtime.device, &p->module, "add", &s, &p->kernel))
        return 0;
    tcu__graphs_open(&p->graphs, &runtime.device);
    for (int i = 0; i < NODES; i++) {
        tcu__node *n = &p->node[i];
        p->args[i] = arguments(100 + (uint64_t)i, 200 + (uint64_t)i, i);
        memcpy(p->after[i], after[i], sizeof after[i]);
        n->kernel = &p->kernel;
        n->shape = s;
        n->args = args_of(&p->args[i]);
        n->after = p->after[i];
        n->n_after = (after[i][0] >= 0) + (after[i][1] >= 0);
    }
    return 1;
}

static void plan_close(plan *p) {
    tcu__graphs_close(&p->graphs);
    tcu__module_unload(&runtime.device, &p->module);
}

// Runs with these two inputs, and checks that the launches are what they should be.
static int plan_run(plan *p, uint64_t x, uint64_t y) {
    uint64_t key[] = {x, y};
    int from = fake->launches;
    p->args[0].x = x;
    p->args[3].x = y;
    if (!tcu__graphs_run(&p->graphs, p->node, NODES, key, 2, runtime.device.compute))
        return 0;
    CHECK_EQ(fake->launches - from, NODES);
    for (int i = 0; i < NODES; i++)
        check_launch(from + i, "add", p->node[i].shape.grid[0], p->args[i]);
    return 1;
}

#define SET "cuGraphExecKernelNodeSetParams_v2"
#define NEW "cuGraphInstantiateWithFlags"

// Each kernel after the one before it, unless branches are asked for: then the last of those that may does first.
TEST(graph_is_a_chain) {
    static const int branches[NODES] = {0, 2, 1, 3, 4};
    static const size_t edges[] = {0, 1, 1, 2, 1};
    static plan p;
    REQUIRE(open_runtime() && plan_open(&p));
    fake->last_first = 1;
    REQUIRE(plan_run(&p, 10, 20)); // in their order
    tcu__graphs_close(&p.graphs);
    runtime.device.branches = 1;
    int from = fake->launches, before = fake->calls;
    REQUIRE(tcu__graphs_run(&p.graphs, p.node, NODES, NULL, 0, runtime.device.compute));
    CHECK_EQ(fake->launches - from, NODES);
    for (int i = 0; i < NODES; i++) CHECK_EQ(fake->detail[before + 1 + i], edges[i]);
    for (int i = 0; i < NODES; i++) check_launch(from + i, "add", 4, p.args[branches[i]]);
    fake->last_first = 0;
    plan_close(&p);
    close_runtime();
}

TEST(graph_changes_only_what_changed) {
    static plan p;
    REQUIRE(open_runtime());
    REQUIRE(plan_open(&p));
    int before = fake->calls;
    REQUIRE(plan_run(&p, 10, 20));
    CALLS(before, "cuGraphCreate", "cuGraphAddKernelNode_v2", "cuGraphAddKernelNode_v2",
          "cuGraphAddKernelNode_v2", "cuGraphAddKernelNode_v2", "cuGraphAddKernelNode_v2",
          NEW, "cuGraphUpload", "cuGraphLaunch");
    static const size_t edges[] = {0, 1, 1, 1, 1}; // of the nodes, in their order
    for (int i = 0; i < NODES; i++) CHECK_EQ(fake->detail[before + 1 + i], edges[i]);

    before = fake->calls;
    REQUIRE(plan_run(&p, 10, 20)); // the same: launched only
    CALLS(before, "cuGraphLaunch");
    before = fake->calls;
    p.args[2].n = 77; // an argument that is no address
    REQUIRE(plan_run(&p, 10, 20));
    CALLS(before, SET, "cuGraphLaunch");
    before = fake->calls;
    p.node[1].shape.grid[0] = 9;
    p.node[4].shape.block[0] = 32;
    REQUIRE(plan_run(&p, 10, 20));
    CALLS(before, SET, SET, "cuGraphLaunch");
    CHECK_EQ(p.graphs.changed, 3);
    CHECK_EQ(p.graphs.built, 1);
    plan_close(&p);
    close_runtime();
}

TEST(graph_keeps_four) {
    static plan p;
    REQUIRE(open_runtime());
    REQUIRE(plan_open(&p));
    for (uint64_t i = 1; i <= 4; i++) REQUIRE(plan_run(&p, i, 20)); // one graph each
    CHECK_EQ(calls_of(NEW), 4);
    for (uint64_t i = 1; i <= 4; i++) REQUIRE(plan_run(&p, i, 20));
    CHECK_EQ(calls_of(NEW), 4);
    CHECK_EQ(calls_of(SET), 0);
    REQUIRE(plan_run(&p, 1, 20)); // now 2 is the oldest
    int before = fake->calls;
    REQUIRE(plan_run(&p, 5, 20)); // takes its graph, and changes one node
    CALLS(before, SET, "cuGraphLaunch");
    before = fake->calls;
    REQUIRE(plan_run(&p, 1, 20));
    REQUIRE(plan_run(&p, 3, 20));
    REQUIRE(plan_run(&p, 4, 20));
    REQUIRE(plan_run(&p, 5, 20));
    CALLS(before, "cuGraphLaunch", "cuGraphLaunch", "cuGraphLaunch", "cuGraphLaunch");
    before = fake->calls;
    REQUIRE(plan_run(&p, 2, 21)); // takes that of 1, two nodes change
    CALLS(before, SET, SET, "cuGraphLaunch");
    CHECK_EQ(fake->live[FAKE_EXEC], 4);
    plan_close(&p);
    CHECK_EQ(fake->live[FAKE_EXEC] + fake->live[FAKE_GRAPH], 0);
    close_runtime();
}

// What cannot be set makes another graph: clusters, and what a driver refuses.
TEST(graph_is_built_again) {
    static plan p;
    REQUIRE(open_runtime());
    REQUIRE(plan_open(&p));
    REQUIRE(plan_run(&p, 1, 2));
    p.node[3].shape.cluster[0] = p.node[3].shape.cluster[1] = p.node[3].shape.cluster[2] =
        2;
    REQUIRE(plan_run(&p, 1, 2));
    CHECK_EQ(calls_of(NEW), 2);
    CHECK_EQ(calls_of(SET), 0);
    CHECK_EQ(fake->launch[fake->launches - 2].cluster[0], 2);
    fake->set_params = 910;
    p.args[0].n = 50;
    REQUIRE(plan_run(&p, 1, 2));
    CHECK_EQ(calls_of(NEW), 3);
    CHECK_EQ(runtime.device.trouble.status, TC_OK);
    fake->set_params = 0;
    p.node[4].shape.programmatic = 1;
    REQUIRE(plan_run(&p, 1, 2));
    CHECK_EQ(calls_of("cuGraphAddDependencies_v2"), 1);
    CHECK_EQ(fake->launch[fake->launches - 1].programmatic, 1);
    CHECK_EQ(fake->live[FAKE_EXEC], 1);
    plan_close(&p);
    close_runtime();
}

// A careful device waits for each kernel, whose name is then in the error.
TEST(careful) {
    static plan p;
    REQUIRE(open_runtime());
    REQUIRE(plan_open(&p));
    runtime.device.careful = 1;
    int before = fake->calls;
    REQUIRE(plan_run(&p, 1, 2));
    CHECK_EQ(fake->calls - before, 2 * NODES);
    CHECK_EQ(calls_of("cuStreamSynchronize"), NODES);
    fake->fail_at = fake->calls + 2;
    fake->fail_code = 700;
    CHECK(!plan_run(&p, 1, 2));
    check_text(runtime.device.trouble.text, "cuStreamSynchronize, for add: ");
    fake->fail_at = 0;
    plan_close(&p);
    close_runtime();
}

TEST(graph_has_a_cap) {
    static plan p;
    REQUIRE(open_runtime());
    REQUIRE(plan_open(&p));
    CHECK(!tcu__graph_fits(0) && tcu__graph_fits(1) && tcu__graph_fits(TCU__GRAPH_NODES));
    CHECK(!tcu__graph_fits(TCU__GRAPH_NODES + 1));
    CHECK(!tcu__graphs_run(&p.graphs, p.node, TCU__GRAPH_NODES + 1, NULL, 0,
                           runtime.device.compute));
    check_text(runtime.device.trouble.text, "4097 kernels");
    tcu__trouble_clear(&runtime.device.trouble);
    p.after[1][0] = 1; // after itself
    CHECK(!plan_run(&p, 1, 2));
    CHECK_EQ(runtime.device.trouble.status, TC_E_INTERNAL);
    tcu__trouble_clear(&runtime.device.trouble);
    p.after[1][0] = 0;
    CHECK(plan_run(&p, 1, 2));
    plan_close(&p);
    close_runtime();
}

// ---- every call fails

static int scenario_copies(void) {
    tcu__stream s = runtime.device.compute;
    unsigned char bytes[300] = {1, 2, 3};
    tcu__block *a = tcu__pool_take(&runtime.pool, 300, s);
    tcu__block *b = tcu__pool_take(&runtime.pool, 3 * MIB, s);
    int ok = a && b && tcu__copy_in(&runtime.staging, a->address, bytes, sizeof bytes, s);
    memset(bytes, 0, sizeof bytes);
    ok = ok && tcu__copy_out(&runtime.staging, bytes, a->address, sizeof bytes, s);
    CHECK(!ok || (bytes[0] == 1 && bytes[2] == 3));
    tcu__pool_give(&runtime.pool, a);
    a = ok ? tcu__pool_take(&runtime.pool, 300, s) : NULL;
    ok = a != NULL;
    tcu__pool_give(&runtime.pool, a);
    tcu__pool_give(&runtime.pool, b);
    if (ok) tcu__pool_trim(&runtime.pool);
    return ok;
}

static int scenario_arena(void) {
    tcu__address base = 0, again = 0;
    int ok = tcu__arena_reserve(&runtime.arena, MIB, &base) &&
             tcu__arena_reserve(&runtime.arena, 5 * MIB, &again);
    CHECK(!ok || base == again || !runtime.device.facts.virtual_memory);
    return ok;
}

static int scenario_maps(void) {
    static const tc_device_map m = {
        1, 0, TC_BF16, 8, {40, 8, 1, 1}, {64, 512, 512}, {64, 8, 1, 1}};
    unsigned char map[TC_DEVICE_MAP_BYTES];
    return tcu__map_make(&runtime.device, &m, 4096, map);
}

static int scenario_kernels(void) {
    static plan p;
    tcu__device *d = &runtime.device;
    tcu__stream copy = tcu__copy_stream(d, TCU__COPY_IN);
    int ok = copy && tcu__stream_after(d, d->compute, copy) && plan_open(&p) &&
             tcu__launch(d, &p.kernel, &p.node[0].shape, &p.node[0].args, d->compute) &&
             plan_run(&p, 1, 2) && plan_run(&p, 1, 2);
    for (uint64_t i = 3; ok && i < 8; i++) ok = plan_run(&p, i, 2);
    if (copy) plan_close(&p);
    memset(&p, 0, sizeof p);
    return ok && tcu__stream_wait(d, d->compute);
}

// Everything once. 1 = nothing failed; the runtime is left open in any case.
static int scenario(void) {
    if (!tcu__runtime_open(&runtime, &hook, 0)) return 0;
    return tcu__enter(&runtime.device) && scenario_copies() && scenario_arena() &&
           scenario_maps() && scenario_kernels() &&
           !runtime.device.trouble.dead; // an error that only a call of giving back saw
}

// A call whose failure the work may survive: what gives back, and a full device that has
// something to give.
static int may_survive(const char *name, size_t detail, int error) {
    static const char *const back[] = {"Destroy", "Free", "Release", "Unload", "Unmap"};
    int deadly = error >= 700 && error <= 721;
    for (size_t i = 0; i < sizeof back / sizeof *back; i++)
        if (strstr(name, back[i])) return !deadly;
    if (!strcmp(name, "cuCtxSetCurrent") && !detail) return !deadly; // what it was before
    if (error == 2) return !strcmp(name, "cuMemAlloc_v2") || !strcmp(name, "cuMemCreate");
    if (error == 910 || error == 801) return !strcmp(name, SET);
    if (error == 1) return !strcmp(name, ATTRIBUTE);
    return 0;
}

static void reset_fake(void) {
    fake->calls = fake->launches = fake->fail_at = fake->sticky = 0;
}

// After a deadly error everything is refused with its text, and the driver is left alone.
static void check_refused(const char *name) {
    tcu__trouble *t = &runtime.device.trouble;
    tcu__address base;
    if (!runtime.device.context) return;
    CHECK(t->dead);
    tcu__trouble_clear(t);
    int before = fake->calls;
    CHECK(!tcu__pool_take(&runtime.pool, 7 * MIB, runtime.device.compute));
    check_text(t->text, "refused, since an earlier error");
    check_text(t->text, name);
    tcu__trouble_clear(t);
    CHECK(!tcu__arena_reserve(&runtime.arena, 100 * MIB, &base));
    check_text(t->text, name);
    tcu__trouble_clear(t);
    CHECK_EQ(fake->calls, before);
}

// The scenario with call n failing. 0 = it has fewer calls.
static int fail_once(int n, int error, int sticky) {
    reset_fake();
    fake->fail_at = n;
    fake->fail_code = error;
    fake->sticky = sticky;
    int ok = scenario(), happened = fake->calls >= n;
    const char *name = happened ? fake->name[n - 1] : "";
    const tcu__trouble *t = &runtime.device.trouble;
    if (ok && happened && !may_survive(name, fake->detail[n - 1], error))
        FAIL("%s, call %d, gave %d and nobody noticed", name, n, error);
    if (!ok && t->status == TC_OK && !t->dead) FAIL("call %d, %s: no error", n, name);
    if (!ok && t->status != TC_OK) {
        char number[20];
        snprintf(number, sizeof number, "(%d)", error);
        CHECK(t->status < 0);
        if (!strstr(t->text, "is full")) check_text(t->text, number);
        if (!strstr(t->text, "is full")) check_text(t->text, name);
    }
    if (error >= 700 && error < 720 && happened && !ok) check_refused(name);
    if (test_failures)
        printf("  (call %d: %s, error %d%s)\n", n, name, error,
               sticky ? ", all after it" : "");
    tcu__runtime_close(&runtime); // whose calls fail too, and it closes all the same
    check_gone();
    return fake->calls >= n && !test_failures;
}

static void fail_all(int error, int sticky, int virtual_memory) {
    int n = 1;
    REQUIRE(fake_use("new.so"));
    fake->virtual_memory = virtual_memory;
    while (fail_once(n, error, sticky)) n++;
    CHECK(n > 80); // the scenario has that many calls
    reset_fake();
    CHECK(scenario() || FAIL("%s", runtime.device.trouble.text)); // and works after all
    close_runtime();
}

TEST(fails_invalid) { fail_all(1, 0, 1); }
TEST(fails_out_of_memory) { fail_all(2, 0, 1); }
TEST(fails_unsupported) { fail_all(801, 0, 1); }
TEST(fails_update) { fail_all(910, 0, 1); }
TEST(fails_unknown) { fail_all(999, 0, 1); }
TEST(fails_illegal_address) { fail_all(700, 0, 1); }
TEST(fails_launch) { fail_all(719, 0, 1); }
TEST(fails_chunks_out_of_memory) { fail_all(2, 0, 0); }
TEST(fails_chunks_unknown) { fail_all(999, 0, 0); }
// As a device does it: after the error all calls fail until the context is gone.
TEST(dies_illegal_address) { fail_all(700, 1, 1); }
TEST(dies_misaligned) { fail_all(716, 1, 0); }

// Every allocation of the host fails once.
TEST(host_out_of_memory) {
    REQUIRE(fake_use("new.so"));
    int n = 1;
    for (;; n++) {
        reset_fake();
        host_calls = 0;
        host_fail = n;
        int ok = scenario();
        if (!ok) {
            CHECK_EQ(runtime.device.trouble.status, TC_E_NOMEM);
            check_text(runtime.device.trouble.text, "out of memory of the host");
        }
        tcu__runtime_close(&runtime);
        check_gone();
        if (host_calls < n || test_failures) break;
    }
    CHECK(n > 10);
}
