// Regions and functions over several devices, each one program: the host, a device, and a second one where there
// are two GPUs, or the emulated ones. Values come from plain C and are exact in f32.
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
    CHECK_EQ(tc_explain_counts(tc, "one after the other").programs, 1);
    CHECK_EQ(tc_explain_counts(tc, "step by step").programs, 1);
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
    tc_tensor a = tc_mul_s(h, 2), b = tc_add(tc_to(a, gpu), d);
    END();
    LINE(a, cpu, 2, 2);
    LINE(b, gpu, 4, 3);
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 0);
    CHECK_EQ(tc_explain_counts(tc, "fullgraph").programs, 1);
}

// A graph break computes what it needs on either device, and what comes behind it goes on from there.
DEVICE(breaks) {
    for (int k = 0; k < 4; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 1, 1), a, b, c;
        BEGIN("breaks");
        a = tc_mul_s(h, 2);
        b = tc_add(tc_to(a, gpu), d);
        CHECK_EQ(tc_item(tc_select(b, 0, 3)), 2 * (k + 3) + 4);
        tc_add_s_(h, 1);
        c = tc_add(tc_to(b, cpu), h);
        CHECK_EQ(tc_item(tc_select(c, 0, 1)), 2 * (k + 1) + 2 + k + 2);
        b = tc_mul(b, tc_to(c, gpu));
        END();
        LINE(h, cpu, k + 1, 1);
        LINE(c, cpu, 3 * k + 2, 4);
        for (int i = 0; i < N; i += 9)
            CHECK_EQ(AT(b, i), (2 * k + 1 + 3 * i) * (3 * k + 2 + 4 * i));
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_explain_counts(tc, "breaks").programs, 3);
}

// What is there already is a view of it, as outside; there and back is a copy of nothing.
DEVICE(to_where_it_is) {
    for (int k = 0; k < 3; k++) {
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 1, 1), a, b, e, none;
        none = line(tc, 0, 0, 0);
        BEGIN("to where it is");
        a = tc_to(h, cpu);
        b = tc_to(tc_mul_s(d, 2), gpu);
        e = tc_to(tc_to(tc_mul_s(d, 3), cpu), gpu);
        none = tc_add_s(tc_to(none, gpu), 1);
        tc_add_s_(a, 1);
        END();
        LINE(h, cpu, k + 1, 1);
        LINE(b, gpu, 2, 2);
        LINE(e, gpu, 3, 3);
        CHECK_EQ(tc_numel(none), 0);
        CHECK_STR(tc_device_of(none), gpu);
    }
    CHECK(!strstr(tc_explain(tc), "copy"));
}

// Views, broadcasts, casts and random numbers on both sides of a copy.
DEVICE(of_all_kinds) {
    for (int k = 0; k < 3; k++) {
        tc_scope_begin(tc);
        tc_tensor h = tc_reshape(line(tc, 4 * N, k, 1), TC_DIMS(20, 20)), t, u, v, w;
        tc_tensor row = there(tc, 20, 1, 1);
        BEGIN("kinds");
        t = tc_to(tc_t(h), gpu);                                      // h[j][i]
        u = tc_to(tc_expand(tc_mul_s(row, 2), TC_DIMS(20, 20)), cpu); // 2 (j + 1)
        v = tc_add(tc_cast(tc_to(tc_cast(h, TC_I32), gpu), TC_F32), row);
        w = tc_to(tc_slice(tc_slice(h, 0, 1, TC_END, 2), 1, 1, TC_END, 3), gpu);
        END();
        for (int i = 0; i < 20; i += 3)
            for (int j = 0; j < 20; j += 3) {
                CHECK_EQ(AT(t, 20 * i + j), k + 20 * j + i);
                CHECK_EQ(AT(u, 20 * i + j), 2 * (j + 1));
                CHECK_EQ(AT(v, 20 * i + j), k + 20 * i + j + j + 1);
            }
        CHECK_EQ(AT(w, 6), k + 20 * 1 + 1 + 3 * 6 - 0 + (6 / 7) * 40);
        tc_scope_end(tc);
    }
}

// An index out of range on a device is told where the host gets what was made of it, and of the host where a
// device does.
DEVICE(checks) {
    int64_t at[2] = {1, 9};
    tc_tensor h = line(tc, 5, 1, 1), d = there(tc, 5, 1, 1), y;
    tc_tensor i = tc_from_data(tc, at, TC_DIMS(2), TC_I64), j = tc_to(i, gpu);
    BEGIN("to the host");
    y = tc_mul_s(tc_to(tc_take(d, j, 0), cpu), 2);
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    ERROR(TC_E_INDEX, "index 9 is out of range for size 5");
    BEGIN("to the device");
    y = tc_mul_s(tc_to(tc_take(h, i, 0), gpu), 2);
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    ERROR(TC_E_INDEX, "index 9 is out of range for size 5");
    BEGIN("written");
    tc_add_s_(h, 1);
    y = tc_add_s_(tc_narrow(d, 0, 0, 2), 1);
    y = tc_take(d, j, 0);
    CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
    ERROR(TC_E_INDEX, "index 9 is out of range for size 5");
    LINE(h, cpu, 1, 1);
    LINE(d, gpu, 1, 1);
    (void)y;
}

// A region begun again while it is open, and one that is reset.
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

static int bodies;

static void both(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    bodies++;
    tc_tensor a = tc_mul_s(in[0], 2);
    out[0] = tc_add_s(a, 1);
    out[1] = tc_add(tc_to(a, gpu), in[1]);
    out[2] = in[0];
    out[3] = tc_add(tc_to(out[1], cpu), a);
}

DEVICE(functions) {
    tc_fn *f = tc_compile(tc, both, NULL, 0, NULL);
    bodies = 0;
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
    CHECK(!tc_fn_demoted(f) || FAIL("%s", tc_fn_demoted(f)));
    CHECK_EQ(bodies, 2); // then it is skipped
    CHECK_EQ(tc_stats_get(tc).programs, 1);
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

static void moves(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    bodies++;
    out[0] = tc_add_s(tc_to(tc_mul_s(in[0], 2), gpu), 1);
    out[1] = tc_to(tc_mul_s(out[0], 2), cpu);
}

// The program of a body that moves tensors is made without any.
DEVICE(precompiled) {
    tc_spec s;
    tc_fn *f = tc_compile(tc, moves, NULL, 0, NULL);
    tc_tensor in = line(tc, N, 3, 1), out[2];
    memset(&s, 0, sizeof s);
    s.dtype = TC_F32, s.rank = 1, s.dims[0] = N;
    CHECK_EQ(tc_precompile(f, &s, 1, 2), TC_OK);
    bodies = 0;
    for (int k = 0; k < 3; k++) {
        CALL(f, &in, 1, out, 2);
        LINE(out[0], gpu, 7, 2);
        LINE(out[1], cpu, 14, 4);
    }
    CHECK_EQ(bodies, 0);
    CHECK_EQ(tc_stats_get(tc).programs, 1);
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

// ---- halves of a program ----

// The calls of the driver since `from` up to the last that launches something, one of which waits; NULL = none
// does. *launches: how many launch.
static const char *waits_between(int from, int *launches) {
    static const char *const launch[] = {"cuLaunchKernel", "cuLaunchKernelEx",
                                         "cuGraphLaunch"};
    static const char *const wait[] = {"cuEventSynchronize", "cuEventQuery",
                                       "cuStreamSynchronize"};
    const char *waited = NULL, *before = NULL;
    *launches = 0;
    for (int i = from; i < fake->calls && i < FAKE_CALLS; i++)
        for (int k = 0; k < 3; k++) {
            if (!strcmp(fake->name[i], wait[k]) && *launches) waited = wait[k];
            if (strcmp(fake->name[i], launch[k])) continue;
            ++*launches;
            if (waited) before = waited;
        }
    return before;
}

enum { ROWS = 24, COLUMNS = 40 };

static tc_tensor values(tc_ctx *tc, int seed, const char *device) {
    float v[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) v[i] = (float)((i * 37 + seed) % 101) / 16 - 3;
    tc_tensor t = tc_from_data(tc, v, TC_DIMS(ROWS, COLUMNS), TC_F32), d = tc_to(t, device);
    tc_free(t);
    return d;
}

static tc_tensor half(tc_tensor x) {
    return tc_softmax(tc_matmul(tc_softmax(x, -1), tc_transpose(x, 0, 1)), -1);
}

// The first half where a is, the second where b is; both go where a is.
static void both_halves(tc_tensor a, tc_tensor b, tc_tensor *out) {
    out[0] = half(a), out[1] = tc_to(half(b), tc_device_of(a));
}

static void read_both(tc_ctx *tc, const tc_tensor *t, float (*to)[ROWS * ROWS]) {
    (void)tc;
    for (int i = 0; i < 2; i++) {
        CHECK_STR(tc_device_of(t[i]), gpu);
        CHECK_EQ(tc_read(t[i], to[i], sizeof to[i]), TC_OK);
    }
}

// One program; both lists are given out before anybody waits for one; the bits are those of one device.
DEVICES(halves) {
    float on_one[2][ROWS * ROWS], on_two[2][ROWS * ROWS];
    int launches;
    open_other(tc);
    tc_tensor a = values(tc, 1, gpu), b = values(tc, 2, gpu), c = tc_to(b, other), y[2];
    for (int k = 0; k < 4; k++) {
        BEGIN("one"); // each by itself: what shares a kernel may be summed in another order
        y[0] = tc_keep(half(a));
        END();
        BEGIN("the other");
        y[1] = tc_keep(half(b));
        END();
        read_both(tc, y, on_one);
        tc_free(y[0]), tc_free(y[1]);
        uint64_t programs = tc_stats_get(tc).programs;
        CHECK_EQ(tc_sync(tc), TC_OK);
        int from = fake ? fake->calls : 0, copies = fake ? fake->peer_copies : 0;
        int out = calls_of("cuMemcpyDtoHAsync_v2");
        BEGIN("on two");
        both_halves(a, c, y);
        END();
        CHECK_EQ(tc_stats_get(tc).programs, programs + !k);
        if (fake) {
            CHECK_EQ(fake->peer_copies, copies + 1);
            CHECK_EQ(calls_of("cuMemcpyDtoHAsync_v2"), out);
        }
        int steady = fake && k == 3; // code is there, and lists were measured
        const char *waited = steady ? waits_between(from, &launches) : NULL;
        if (steady) CHECK(launches >= 2);
        CHECK(!waited || FAIL("%s between the launches", waited));
        read_both(tc, y, on_two);
        CHECK_BYTES(on_two, on_one, sizeof on_one);
    }
    const char *told = tc_explain(tc);
    CHECK(strstr(told, "on " DEVICE_NAME ": ") && strstr(told, "on " OTHER_NAME ": "));
    CHECK(strstr(told, "from " OTHER_NAME " to " DEVICE_NAME) || FAIL("%s", told));
}

// Two chains that have nothing to do with each other, and a third one of the host.
DEVICES(chains_apart) {
    int launches;
    open_other(tc);
    for (int k = 0; k < 4; k++) {
        tc_scope_begin(tc);
        tc_tensor h = line(tc, N, k, 1), d = there(tc, N, 2 * k, 3), e = tc_to(d, other), a,
                  b, c;
        CHECK_EQ(tc_sync(tc), TC_OK);
        int from = fake ? fake->calls : 0;
        BEGIN("apart");
        a = tc_mul_s(h, 2), b = tc_mul_s(d, 4), c = tc_mul_s(e, 5);
        a = tc_add_s(a, 1), b = tc_add_s(b, 1), c = tc_add_s(c, 1);
        END();
        const char *waited = fake && k ? waits_between(from, &launches) : NULL;
        if (fake && k) CHECK_EQ(launches, 2);
        CHECK(!waited || FAIL("%s between the launches", waited));
        LINE(a, cpu, 2 * k + 1, 2);
        LINE(b, gpu, 8 * k + 1, 12);
        LINE(c, other, 10 * k + 1, 15);
        tc_scope_end(tc);
    }
    CHECK_EQ(tc_explain_counts(tc, "apart").programs, 1);
    CHECK_EQ(tc_explain_counts(tc, "apart").kernels, 3);
}

// Each way at once, and on: what one device has of the other is what that had then.
DEVICES(exchange) {
    open_other(tc);
    tc_tensor x = there(tc, N, 1, 1), y = tc_to(there(tc, N, 2, 1), other), z[2];
    double a = 1, b = 2;
    for (int k = 0; k < 5; k++) {
        BEGIN("exchange");
        z[0] = tc_add(x, tc_to(tc_mul_s(y, 2), gpu));
        z[1] = tc_sub(y, tc_to(tc_mul_s(x, 2), other));
        END();
        double was = a;
        a += 2 * b, b -= 2 * was;
        x = z[0], y = z[1];
        CHECK_EQ(AT(x, 0), a);
        CHECK_EQ(AT(y, 0), b);
    }
}

static void halves_of(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    bodies++;
    both_halves(in[0], in[1], out);
}

// A function is skipped, with the sizes of the run too; by graphs as well.
static void halves_called(tc_ctx *tc) {
    tc_fn *f = tc_compile(tc, halves_of, NULL, 0, NULL);
    open_other(tc);
    bodies = 0;
    for (int k = 0; k < 8; k++) {
        int rows = k < 4 ? ROWS : 8 + 2 * k;
        tc_scope_begin(tc);
        tc_tensor in[2], y[2], want;
        in[0] = tc_contiguous(tc_narrow(values(tc, k, gpu), 0, 0, rows));
        in[1] = tc_contiguous(tc_narrow(values(tc, k + 9, other), 0, 0, rows));
        CALL(f, in, 2, y, 2);
        for (int i = 0; i < 2; i++) {
            want = half(in[i]);
            for (int at = 0; at < rows * rows; at += 47)
                CHECK_NEAR(AT(y[i], at), AT(want, at), 1e-6);
        }
        tc_scope_end(tc);
    }
    CHECK(!tc_fn_demoted(f) || FAIL("%s", tc_fn_demoted(f)));
    CHECK(bodies <= 6 || FAIL("%d bodies", bodies)); // as many as on one device
    CHECK_EQ(tc_stats_get(tc).graph_breaks, 0);
}

DEVICES(functions_of_halves) { halves_called(tc); }

TEST(graphs_of_halves) {
    if (!two_devices()) SKIP("there is no second GPU");
    setenv("TC_MODE", "reduce-overhead", 1);
    on_device(halves_called);
    unsetenv("TC_MODE");
}

// A dead device is the region's error, and what it writes in place elsewhere is as it was.
TEST(one_device_fails) {
    static const char *const call[] = {"cuLaunchKernelEx", "cuMemcpyPeerAsync"};
    (void)device_use();
    if (!fake) SKIP("a GPU does not fail when it is told to");
    fake->devices = 2;
    for (int i = 0; i < 2; i++) {
        tc_ctx *tc = tc_open(NULL);
        REQUIRE(open_device(tc));
        open_other(tc);
        tc_tensor h = line(tc, N, 1, 1), d = there(tc, N, 2, 1), e = tc_to(d, other);
        for (int k = 0; k < 3; k++) {
            fake->fail_name = k == 1 ? call[i] : NULL, fake->fail_code = 999;
            BEGIN("fails");
            tc_add_s_(h, 1);
            tc_add_(d, tc_to(tc_mul_s(e, 2), gpu));
            tc_add_s_(e, 1);
            tc_status s = tc_trace_end(tc);
            fake->fail_name = NULL;
            if (k != 1) CHECK_EQ(s, TC_OK);
            if (k == 1 && i == 0) {
                CHECK(s < 0);
                CHECK(strstr(tc_error_text(tc), ", on cuda:") ||
                      FAIL("%s", tc_error_text(tc)));
                tc_error_clear(tc);
                break;
            }
            CHECK_EQ(s, TC_OK); // the copy goes by way of the host
        }
        LINE(h, cpu, i ? 4 : 2, 1);
        tc_close(tc);
    }
}

// Updates in place where nothing of another device follows are stored by the kernels themselves.
DEVICE(updates) {
    tc_tensor h = line(tc, N, 0, 1), d = there(tc, 4 * N, 0, 1);
    for (int k = 0; k < 7; k++) { // the first ones keep what they write
        int copies = calls_of("cuMemcpyDtoDAsync_v2");
        BEGIN("updates");
        tc_add_s_(d, 1);
        tc_add_s_(h, 2);
        END();
        if (k == 6) CHECK_EQ(calls_of("cuMemcpyDtoDAsync_v2"), copies);
        LINE(h, cpu, 2 * k + 2, 1);
        LINE(d, gpu, k + 1, 1);
    }
    CHECK_EQ(tc_explain_counts(tc, "updates").programs, 1);
}

// The profiler tells where each kernel ran, and what copies took.
DEVICES(profiled) {
    open_other(tc);
    if (fake) fake->op_ns = 1000;
    tc_tensor a = values(tc, 1, gpu), c = values(tc, 2, other);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int k = 0; k < 2; k++) {
        BEGIN("profiled");
        tc_tensor y[2];
        both_halves(a, c, y);
        END();
    }
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *text = tc_profile_text(tc);
    CHECK(strstr(text, DEVICE_NAME) && strstr(text, OTHER_NAME) && strstr(text, "copy_to"));
    if (test_failures) printf("%s\n", text);
}
