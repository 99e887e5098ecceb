// Regions and functions over several devices: recorded as one, run in parts. The host and a device, a GPU or
// the emulated one. Values come from plain C and are exact in f32.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { N = 100 };

// A test with a context `tc` that has the device; it must clear the errors it makes.
#define DEVICE(name)                                                                       \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) { on_device(body_##name); }                                                 \
    static void body_##name(tc_ctx *tc)

static void on_device(void (*body)(tc_ctx *)) {
    tc_config config = tc_config_default();
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

static tc_tensor there(tc_ctx *tc, int n, double from, double step) {
    tc_tensor t = line(tc, n, from, step), d = tc_to(t, DEVICE_NAME);
    tc_free(t);
    return d;
}

// t is on that device, and its element i is a + i * b.
#define LINE(t, device, a, b) check_line(t, device, a, b, __LINE__)
static void check_line(tc_tensor t, const char *device, double a, double b, int at) {
    const char *name = tc_device_of(t);
    float x[4 * N];
    int64_t n = tc_numel(t);
    if (!name || strcmp(name, device)) FAIL("line %d: on %s", at, name ? name : "-");
    if (n < 0 || n > 4 * N || tc_read(t, x, (size_t)n * sizeof *x)) {
        FAIL("line %d: not read", at);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        if ((double)x[i] != (double)(float)(a + (double)i * b)) {
            FAIL("line %d: element %d is %g, not %g", at, (int)i, (double)x[i],
                 a + (double)i * b);
            return;
        }
}

static const char *const cpu = "cpu", *const gpu = DEVICE_NAME;

// ---- regions ----

// Two chains that have nothing to do with each other, one after the other and step by step.
DEVICE(chains) {
    for (int k = 0; k < 5; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 2 * k, 3), a, b;
        BEGIN("one after the other");
        a = tc_add_s(tc_mul_s(h, 2), 1);
        b = tc_add_s(tc_mul_s(d, 4), 1);
        END();
        LINE(a, cpu, 2 * k + 1, 2);
        LINE(b, gpu, 8 * k + 1, 12);
        BEGIN("step by step");
        a = tc_mul_s(h, 2), b = tc_mul_s(d, 4);
        a = tc_add_s(a, 1), b = tc_add_s(b, 1);
        END();
        LINE(a, cpu, 2 * k + 1, 2);
        LINE(b, gpu, 8 * k + 1, 12);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_explain_counts(tc, "one after the other").programs, 2);
    CHECK_EQ(tc_explain_counts(tc, "step by step").programs, 4);
}

// What is on one device is computed with on the other, by tc_to inside, there and back again.
DEVICE(there_and_back) {
    uint64_t programs = 0;
    for (int k = 0; k < 6; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 1, 1), a, b, y;
        BEGIN("there and back");
        a = tc_mul_s(h, 2);
        b = tc_mul(tc_to(a, gpu), d);
        y = tc_add(tc_to(b, cpu), h);
        END();
        LINE(a, cpu, 2 * k, 2);
        CHECK_STR(tc_device_of(b), gpu);
        for (int i = 0; i < N; i += 9) {
            CHECK_EQ(AT(b, i), 2 * (k + i) * (1 + i));
            CHECK_EQ(AT(y, i), 2 * (k + i) * (1 + i) + k + i);
        }
        tc_scope_end(tc);
        if (k == 1) programs = tc_stats_get(tc).programs;
    }
    CHECK_EQ(tc_stats_get(tc).programs, programs); // all was learnt at the second visit
}

// Operands of one op are on two devices: that op fails, what is around it does not.
DEVICE(one_op) {
    tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1), a, y, z;
    CHECK(!tc_add(h, d).id);
    ERROR(TC_E_DEVICE, "add: operand 0 is on cpu, operand 1 on " DEVICE_NAME);
    CHECK(!tc_add(d, h).id);
    ERROR(TC_E_DEVICE, "tc_to(t, \"" DEVICE_NAME "\")");
    BEGIN("one op");
    a = tc_mul_s(h, 2);
    y = tc_add(a, d);
    CHECK(!y.id);
    ERROR(TC_E_DEVICE, "add: operand 0 is on cpu, operand 1 on " DEVICE_NAME);
    CHECK(!tc_mul(d, h).id);
    ERROR(TC_E_DEVICE, "mul: operand 0 is on " DEVICE_NAME ", operand 1 on cpu");
    z = tc_mul_s(d, 3);
    END();
    LINE(a, cpu, 2, 2);
    LINE(z, gpu, 6, 3);
}

// Writes in place belong to the part that they were recorded in, and are seen behind it.
DEVICE(writes) {
    for (int k = 0; k < 4; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, k, 1), a, b, c;
        BEGIN("writes");
        tc_add_s_(h, 1);
        a = tc_mul_s(h, 2); // 2k+2
        tc_add_s_(d, 2);
        b = tc_mul_s(d, 2); // 2k+4
        tc_mul_s_(h, 3);    // 3k+3
        c = tc_add(h, a);   // 5k+5
        tc_add_(d, b);      // 3k+6
        tc_zero_(h);
        END();
        LINE(a, cpu, 2 * k + 2, 2);
        LINE(b, gpu, 2 * k + 4, 2);
        LINE(c, cpu, 5 * k + 5, 5);
        LINE(d, gpu, 3 * k + 6, 3);
        LINE(h, cpu, 0, 0);
        tc_scope_end(tc);
    }
}

// Results of a part are kept, freed, read in the region, and read late, as those of one part are.
DEVICE(results) {
    tc_tensor last = tc_null();
    for (int k = 0; k < 6; k++) {
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, k, 1), mid, a, b, kept;
        BEGIN("results");
        mid = tc_mul_s(h, 2);
        a = tc_add_s(mid, 1);
        kept = tc_keep(tc_add_s(mid, 5));
        b = tc_mul_s(d, 2);
        CHECK_EQ(tc_item(tc_sum_all(a)), (2 * k + 1) * N + N * (N - 1));
        CHECK_EQ(tc_item(tc_sum_all(b)), 2 * k * N + N * (N - 1));
        a = tc_add(a, mid); // of the first part, which did not store it at first
        END();
        LINE(a, cpu, 4 * k + 1, 4);
        LINE(mid, cpu, 2 * k, 2);
        if (last.id) LINE(last, cpu, 2 * k + 3, 2);
        tc_free(last);
        last = kept;
        tc_free(h), tc_free(d);
    }
    tc_free(last);
}

// A state on each device goes from visit to visit.
DEVICE(loops) {
    tc_tensor h = line(tc, N, 0, 1), d = there(tc, N, 0, 1), hs[2], ds[2];
    uint64_t programs = 0;
    hs[0] = h, ds[0] = d;
    for (int k = 0; k < 8; k++) {
        BEGIN("loops");
        hs[1] = tc_add_s(hs[0], 1);
        ds[1] = tc_add_s(ds[0], 2);
        tc_tensor across = tc_add(tc_to(ds[1], cpu), hs[0]);
        END();
        LINE(hs[1], cpu, k + 1, 1);
        LINE(ds[1], gpu, 2 * k + 2, 1);
        LINE(across, cpu, 3 * k + 2, 2);
        hs[0] = hs[1], ds[0] = ds[1];
        if (k == 3) programs = tc_stats_get(tc).programs;
    }
    CHECK_EQ(tc_stats_get(tc).programs, programs);
}

// Other sizes are no other programs, in every part.
DEVICE(sizes) {
    for (int n = 10; n < 60; n += 7) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, n, 1, 1), d = there(tc, n, 2, 1), a, b, c;
        BEGIN("sizes");
        a = tc_mul_s(h, 2);
        b = tc_mul(tc_to(a, gpu), d);
        c = tc_add(tc_to(b, cpu), a);
        END();
        for (int i = 0; i < n; i += 3)
            CHECK_EQ(AT(c, i), 2 * (1 + i) * (2 + i) + 2 * (1 + i));
        tc_scope_end(tc);
    }
    CHECK(tc_stats_get(tc).programs <= 12 ||
          FAIL("%d programs", (int)tc_stats_get(tc).programs));
}

// A number of the host goes along, whichever part computed it; what is made of nothing is where the call is.
DEVICE(numbers) {
    for (int k = 0; k < 3; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 0, 1), y;
        BEGIN("numbers");
        tc_tensor s = tc_sum_all(h);
        y = tc_add(d, s);
        tc_fill_(h, 7);
        tc_tensor z = tc_masked_fill(d, tc_ge_s(d, 0), 3);
        END();
        LINE(y, gpu, k * N + N * (N - 1) / 2, 1);
        LINE(h, cpu, 7, 0);
        LINE(z, gpu, 3, 0);
        tc_scope_end(tc);
    }
}

// The same random numbers as where nothing is split.
DEVICE(random) {
    float want[2][N], got[2][N];
    for (int k = 0; k < 2; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, 0, 0), d = there(tc, N, 0, 0), a, b;
        tc_manual_seed(tc, 5);
        if (k) BEGIN("random");
        a = tc_dropout(tc_add_s(h, 1), 0.5);
        b = tc_dropout(tc_add_s(d, 1), 0.5);
        if (k) END();
        CHECK_EQ(tc_read(a, k ? got[0] : want[0], sizeof want[0]), TC_OK);
        CHECK_EQ(tc_read(b, k ? got[1] : want[1], sizeof want[1]), TC_OK);
        tc_scope_end(tc);
    }
    CHECK_BYTES(got, want, sizeof want);
    CHECK(memcmp(want[0], want[1], sizeof want[0]) != 0);
}

DEVICE(asked_for_one_program) {
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1);
    tc_trace_begin_with(tc, "fullgraph", &o);
    tc_tensor a = tc_mul_s(h, 2);
    CHECK(a.id && !tc_mul_s(d, 2).id);
    CHECK_EQ(tc_trace_end(tc), TC_E_FULLGRAPH);
    ERROR(TC_E_FULLGRAPH, "mul is computed on " DEVICE_NAME);
}

// A region begun again while its second part is open, and one that is reset.
DEVICE(left_open) {
    tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1), a;
    for (int k = 0; k < 3; k++) {
        BEGIN("left open");
        a = tc_mul_s(h, 2);
        CHECK(tc_mul_s(d, 2).id);
        if (!k) continue;
        if (k == 1) ERROR(TC_E_REGION, "was begun again");
        END();
        LINE(a, cpu, 2, 2);
    }
    CHECK_EQ(tc_reset(tc), TC_OK);
    BEGIN("left open");
    a = tc_mul_s(h, 2);
    CHECK(tc_mul_s(d, 2).id);
    END();
    LINE(a, cpu, 2, 2);
    BEGIN("left open");
    a = tc_mul_s(h, 2);
    CHECK(tc_mul_s(d, 2).id);
    (void)a; // it is closed with a part open
}

DEVICE(lazily) {
    tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1);
    tc_lazy(tc, 1);
    for (int k = 0; k < 3; k++) {
        tc_tensor t[2];
        t[0] = tc_add_s(h, k), t[1] = tc_add_s(d, k);
        CHECK_EQ(tc_eval(tc, t, 2), TC_OK);
        LINE(t[0], cpu, 1 + k, 1);
        LINE(t[1], gpu, 2 + k, 1);
        tc_free(t[0]), tc_free(t[1]);
    }
    tc_lazy(tc, 0);
}

// ---- functions ----

static void both(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor a = tc_mul_s(in[0], 2);
    out[0] = tc_add_s(a, 1);
    out[1] = tc_add(tc_to(a, gpu), in[1]);
    out[2] = in[0];
    out[3] = tc_add(tc_to(out[1], cpu), a);
}

DEVICE(functions) {
    tc_fn *f = tc_compile(tc, both, NULL, 0, NULL);
    for (int k = 0; k < 5; k++) {
        tc_scope_begin(tc);
        tc_tensor in[2], out[4];
        in[0] = line(tc, N, k, 1), in[1] = there(tc, N, 1, 1);
        CALL(f, in, 2, out, 4);
        LINE(out[0], cpu, 2 * k + 1, 2);
        LINE(out[1], gpu, 2 * k + 1, 3);
        LINE(out[2], cpu, k, 1);
        LINE(out[3], cpu, 4 * k + 1, 5);
        tc_scope_end(tc);
    }
    CHECK(tc_fn_demoted(f) != NULL);
    // Inside of a region, where it is a part of that.
    tc_tensor in[2], out[4], y;
    in[0] = line(tc, N, 3, 1), in[1] = there(tc, N, 1, 1);
    BEGIN("around");
    CALL(f, in, 2, out, 4);
    y = tc_mul_s(out[3], 2);
    END();
    LINE(y, cpu, 26, 10);
    CHECK_EQ(tc_reset(tc), TC_OK);
    CALL(f, in, 2, out, 4);
    LINE(out[3], cpu, 13, 5);
    tc_fn_free(f);
    LINE(out[3], cpu, 13, 5);
}

// A body that hands through what is on another device.
static void handed_through(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
    out[1] = in[1];
}

DEVICE(hands_through) {
    tc_fn *f = tc_compile(tc, handed_through, NULL, 0, NULL);
    tc_tensor in[2], out[2];
    in[0] = line(tc, N, 3, 1), in[1] = there(tc, N, 1, 1);
    for (int k = 0; k < 3; k++) {
        CALL(f, in, 2, out, 2);
        LINE(out[0], cpu, 6, 2);
        LINE(out[1], gpu, 1, 1);
    }
}

// ---- copies between devices ----

// Element i of what was copied: i, or 2 i + k, of a base of 4 N elements.
static void check_strided(tc_tensor base, const char *device, int k, int columns) {
    float x[4 * N];
    CHECK_STR(tc_device_of(base), device);
    CHECK_EQ(tc_read(base, x, sizeof x), TC_OK);
    for (int i = 0; i < 4 * N; i++) {
        int row = i / columns, column = i % columns, inside = column % 2 && row % 2;
        float want = (float)(inside ? 2 * i + k : i);
        if (x[i] != want) FAIL("element %d is %g, not %g", i, (double)x[i], (double)want);
    }
}

static tc_tensor odd(tc_tensor base) {
    return tc_slice(tc_slice(base, 0, 1, TC_END, 2), 1, 1, TC_END, 2);
}

// Both ways; outside, in a region, in a body; dense and strided, converted and broadcast.
DEVICE(copies) {
    for (int way = 0; way < 2; way++)
        for (int k = 0; k < 4; k++) {
            const char *from = way ? gpu : cpu, *to = way ? cpu : gpu;
            tc_scope_begin(tc);
            tc_tensor x = tc_to(line(tc, N, k, 1), from), y = tc_to(line(tc, N, 0, 0), to);
            tc_tensor i = tc_to(tc_cast(line(tc, N, k, 3), TC_I32), from);
            tc_tensor many = tc_to(tc_reshape(line(tc, 4 * N, 0, 1), TC_DIMS(20, 20)), to);
            tc_tensor other =
                tc_to(tc_reshape(line(tc, 4 * N, k, 2), TC_DIMS(20, 20)), from);
            tc_tensor number = tc_to(tc_scalar(tc, 5 + k, TC_F32), from), z, none;
            if (k) BEGIN("copies");
            CHECK(tc_copy_(y, x).id == y.id);
            z = tc_mul_s(y, 2);
            CHECK(tc_copy_(odd(many), odd(other)).id);
            none = tc_copy_(y, i);
            CHECK(none.id);
            if (k) END();
            LINE(y, to, k, 3);
            LINE(z, to, 2 * k, 2);
            LINE(x, from, k, 1);
            check_strided(many, to, k, 20);
            if (k) BEGIN("broadcast");
            CHECK(tc_copy_(y, number).id);
            CHECK(tc_copy_(tc_narrow(many, 0, 0, 4), tc_mul_s(number, 2)).id);
            if (k) END();
            LINE(y, to, 5 + k, 0);
            LINE(tc_narrow(many, 0, 0, 4), to, 10 + 2 * k, 0);
            tc_scope_end(tc);
        }
}

// What is copied is the value at that place: what was recorded before is in it, what comes behind is not.
DEVICE(copies_in_order) {
    for (int k = 0; k < 4; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 0, 0), e = there(tc, N, 0, 0), a,
                  n;
        n = tc_scalar(tc, 1, TC_F32);
        BEGIN("in order");
        a = tc_mul_s(h, 2);
        tc_copy_(d, a);
        tc_add_s_(h, 1);
        tc_copy_(e, h);
        tc_mul_s_(h, 3);
        tc_add_(d, e);
        tc_copy_(h, tc_add_s(d, 1));
        tc_copy_(n, tc_sum_all(e));
        END();
        LINE(e, gpu, k + 1, 1);
        LINE(d, gpu, 3 * k + 1, 3);
        LINE(h, cpu, 3 * k + 2, 3);
        LINE(a, cpu, 2 * k, 2);
        CHECK_EQ(tc_item(n), (k + 1) * N + N * (N - 1) / 2);
        tc_scope_end(tc);
    }
}

static void doubled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

DEVICE(calls_into) {
    tc_fn *f = tc_compile(tc, doubled, NULL, 0, NULL);
    tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1), to[2];
    to[0] = line(tc, N, 0, 0), to[1] = there(tc, N, 0, 0);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call_into(f, &d, 1, &to[0], 1), TC_OK);
        LINE(to[0], cpu, 4, 2);
        CHECK_EQ(tc_call_into(f, &h, 1, &to[1], 1), TC_OK);
        LINE(to[1], gpu, 2, 2);
        BEGIN("into");
        CHECK_EQ(tc_call_into(f, &to[1], 1, &to[0], 1), TC_OK);
        END();
        LINE(to[0], cpu, 4, 4);
    }
}

// Copies of the same inputs do not pile up: neither programs nor memory.
DEVICE(copies_again) {
    tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1);
    size_t bytes = 0;
    uint64_t programs = 0;
    for (int k = 0; k < 40; k++) {
        BEGIN("again");
        tc_copy_(d, tc_mul_s(h, 2));
        END();
        tc_copy_(h, h);
        tc_copy_(d, h);
        if (k == 9) bytes = tc_stats_get(tc).bytes, programs = tc_stats_get(tc).programs;
    }
    CHECK_EQ(tc_stats_get(tc).bytes, bytes);
    CHECK_EQ(tc_stats_get(tc).programs, programs);
}

// ---- two devices ----

#define OTHER_NAME "cuda:1"
static const char *const other = OTHER_NAME;

// The same test with a second device; skipped where there is one GPU.
#define DEVICES(name)                                                                      \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) {                                                                           \
        if (!two_devices()) SKIP("there is no second GPU");                                \
        on_device(body_##name);                                                            \
    }                                                                                      \
    static void body_##name(tc_ctx *tc)

static int two_devices(void) {
    if (!device_use()) return 0;
    if (fake) fake->devices = 2;
    return tc_cuda_device_count() > 1;
}

static void open_other(tc_ctx *tc) { CHECK_EQ(tc_cuda_open(tc, 1), TC_OK); }

static int calls_of(const char *name) {
    int n = 0;
    for (int i = 0; fake && i < fake->calls && i < FAKE_CALLS; i++)
        n += !strcmp(fake->name[i], name);
    return n;
}

// From one device to the other over the link, each way: what was computed before is in the copy, what
// comes behind is not, and the host has no part in it.
DEVICES(over_the_link) {
    open_other(tc);
    for (int way = 0; way < 2; way++) {
        const char *from = way ? other : gpu, *to = way ? gpu : other;
        tc_tensor x = tc_to(line(tc, N, 1, 1), from), y, z, strided;
        tc_add_s_(x, 0); // compiled before calls are counted
        tc_tensor t = tc_reshape(tc_to(line(tc, N, 1, 1), from), TC_DIMS(10, 10));
        tc_free(tc_contiguous(tc_t(t)));
        int out = calls_of("cuMemcpyDtoHAsync_v2"), copies = fake ? fake->peer_copies : 0;
        tc_add_s_(x, 2);
        y = tc_to(x, to);
        tc_add_s_(x, 3);
        z = tc_to(x, to);
        tc_free(x);
        x = tc_to(line(tc, N, -5, 0), from); // in the memory that it had
        strided = tc_to(tc_t(t), to);
        if (fake) CHECK_EQ(calls_of("cuMemcpyDtoHAsync_v2"), out);
        if (fake) CHECK_EQ(fake->peer_copies, copies + 3);
        LINE(y, to, 3, 1);
        LINE(z, to, 6, 1);
        CHECK_STR(tc_device_of(strided), to);
        for (int i = 0; i < 100; i++) CHECK_EQ(AT(strided, i), i % 10 * 10 + i / 10 + 1);
        CHECK(tc_copy_(x, y).id);
        LINE(x, from, 3, 1);
        CHECK(!tc_add(x, y).id);
        ERROR(TC_E_DEVICE, OTHER_NAME);
    }
}

// Where the driver knows no link, or its calls fail, the host copies.
DEVICES(without_a_link) {
    static const char *const call[] = {"cuDeviceCanAccessPeer", "cuCtxEnablePeerAccess",
                                       "cuMemcpyPeerAsync", "cuStreamWaitEvent", NULL};
    (void)tc;
    if (!fake) return;
    for (int i = 0; i < 5; i++) {
        tc_ctx *own = tc_open(NULL);
        REQUIRE(open_device(own));
        open_other(own);
        tc_tensor x = there(own, N, 1, 1), y;
        fake->links = call[i] != NULL;
        fake->fail_name = call[i], fake->fail_code = 999;
        int before = call[i] ? calls_of(call[i]) : 0, copies = fake->peer_copies;
        y = tc_to(x, other);
        fake->fail_name = NULL;
        if (call[i]) CHECK(calls_of(call[i]) > before);
        CHECK_EQ(fake->peer_copies, copies);
        LINE(y, other, 1, 1);
        CHECK_EQ(tc_error(own), TC_OK);
        tc_close(own);
    }
}

// Three devices in one region.
DEVICES(all_in_a_region) {
    open_other(tc);
    for (int k = 0; k < 4; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 1, 1), e = tc_to(d, other), a, b;
        BEGIN("all");
        a = tc_mul_s(h, 2);           // 2k + 2i
        b = tc_add(tc_to(a, gpu), d); // 2k + 1 + 3i
        tc_copy_(e, tc_mul_s(b, 2));  // 4k + 2 + 6i
        tc_add_s_(e, 1);
        a = tc_add(tc_to(e, cpu), h); // 5k + 3 + 7i
        END();
        LINE(b, gpu, 2 * k + 1, 3);
        LINE(e, other, 4 * k + 3, 6);
        LINE(a, cpu, 5 * k + 3, 7);
        tc_scope_end(tc);
    }
}
