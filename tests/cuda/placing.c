// Where tensors are made and computed: the default device, and numbers of the host among tensors of a
// device. On a GPU or on the emulator; values are exact in f32.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

enum { N = 24 };

// A test with a context `tc` that has the device; it must clear the errors it makes.
#define DEVICE(name)                                                                       \
    static void body_##name(tc_ctx *tc);                                                   \
    TEST(name) { on_device(body_##name); }                                                 \
    static void body_##name(tc_ctx *tc)

static void on_device(void (*body)(tc_ctx *)) {
    tc_config config = tc_config_default();
    config.threads = 2;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(open_device(tc));
    body(tc);
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
    check_device_closed();
}

static void set_default(tc_ctx *tc, const char *device) {
    CHECK_EQ(tc_set_default_device(tc, device), TC_OK);
    CHECK_STR(tc_default_device(tc), device ? device : "cpu");
}

// f32 [n] on the device: from + i * step
static tc_tensor there(tc_ctx *tc, int n, double from, double step) {
    return tc_to(line(tc, n, from, step), DEVICE_NAME);
}

#define ON(t, device) CHECK_STR(tc_device_of(t), device)

// t is there, and its element i is a + i * b.
#define LINE(t, n, a, b) check_line(t, n, a, b, __LINE__)
static void check_line(tc_tensor t, int n, double a, double b, int at) {
    const char *name = tc_device_of(t);
    if (!name || strcmp(name, DEVICE_NAME)) FAIL("line %d: on %s", at, name ? name : "-");
    for (int i = 0; i<n; i += n> 4 ? n / 4 : 1)
        if (!(AT(t, i) == a + i * b))
            FAIL("line %d: element %d is %g, not %g", at, i, AT(t, i), a + i * b);
}

// ---- what is made of nothing ----

enum { MAKERS = 14 };

static tc_tensor make(tc_ctx *tc, int which) {
    static const float data[4] = {1, 2, 3, 4};
    static const unsigned char flags[4] = {0, 7, 0, 255};
    switch (which) {
    case 0: return tc_from_data(tc, data, TC_DIMS(2, 2), TC_F32);
    case 1: return tc_const(tc, data, TC_DIMS(4), TC_F32);
    case 2: return tc_full(tc, TC_DIMS(4), 2.5, TC_F32);
    case 3: return tc_zeros(tc, TC_DIMS(4), TC_I64);
    case 4: return tc_ones(tc, TC_DIMS(4), TC_F16);
    case 5: return tc_scalar(tc, 3, TC_F64);
    case 6: return tc_arange(tc, 1, 9, 2, TC_F32);
    case 7: return tc_eye(tc, 2, 2, TC_F32);
    case 8: return tc_rand(tc, TC_DIMS(4), TC_F32);
    case 9: return tc_randn(tc, TC_DIMS(4), TC_F64);
    case 10: return tc_randint(tc, 5, 9, TC_DIMS(4), TC_I32);
    case 11: return tc_rand(tc, TC_DIMS(4), TC_BF16);
    case 12: return tc_from_data(tc, flags, TC_DIMS(4), TC_BOOL);
    default: return tc_const(tc, flags, TC_DIMS(4), TC_BOOL);
    }
}

static size_t bytes_of(tc_tensor t) {
    return (size_t)tc_numel(t) * tc_dtype_bytes(tc_dtype_of(t));
}

// Each on the device, with the elements that the host makes; eagerly and recorded.
DEVICE(all_makers) {
    double want[8], got[8]; // bytes of any dtype
    for (int k = 0; k < MAKERS; k++)
        for (int recorded = 0; recorded < 2; recorded++) {
            char name[32];
            tc_tensor host, t;
            snprintf(name, sizeof name, "maker %d", k);
            set_default(tc, "cpu");
            tc_manual_seed(tc, 5);
            if (recorded) BEGIN(name);
            host = make(tc, k);
            if (recorded) END();
            ON(host, "cpu");
            tc_dtype dtype = tc_dtype_of(host);
            size_t bytes = bytes_of(host);
            CHECK_EQ(tc_read(host, want, bytes), TC_OK);
            set_default(tc, DEVICE_NAME);
            tc_manual_seed(tc, 5);
            if (recorded) BEGIN(name);
            t = make(tc, k);
            if (recorded) END();
            ON(t, DEVICE_NAME);
            CHECK_EQ(tc_dtype_of(t), dtype);
            CHECK_EQ(tc_read(t, got, bytes), TC_OK);
            if (k == 9 ? fabs(got[0] - want[0]) > 1e-12 : memcmp(got, want, bytes) != 0)
                FAIL("maker %d: other elements%s", k, recorded ? ", recorded" : "");
        }
    set_default(tc, NULL);
    ON(make(tc, 0), "cpu");
}

// One element is copied, not the tensor.
DEVICE(elements) {
    tc_tensor x = tc_reshape(there(tc, N, 0, 1), TC_DIMS(4, 6));
    tc_tensor large = tc_to(tc_full(tc, TC_DIMS(1 << 20), 5, TC_F32), DEVICE_NAME);
    CHECK_EQ(tc_get(x, TC_DIMS(3, -1)), 23);
    CHECK_EQ(tc_get(tc_t(x), TC_DIMS(2, 1)), 8);
    uint64_t before = tc_stats_get(tc).bytes;
    CHECK_EQ(tc_get(large, TC_DIMS(7)), 5);
    CHECK(tc_stats_get(tc).bytes < before + (1 << 20));
    CHECK_EQ(tc_get(large, TC_DIMS(1 << 20)), 0);
    ERROR(TC_E_INDEX, "index 1048576");
}

DEVICE(constants_stay_known) {
    static const float two[2] = {2, 2};
    set_default(tc, DEVICE_NAME);
    tc_tensor c = tc_const(tc, two, TC_DIMS(2), TC_F32), x = line(tc, 2, 1, 1);
    CHECK(!tc_add_s_(c, 1).id);
    ERROR(TC_E_ARG, "tc_const");
    BEGIN("constant");
    tc_tensor y = tc_mul(x, c);
    END();
    LINE(y, 2, 2, 2);
    tc_free(c); // its copy too
}

// What is made of a tensor is where that is; memory of the host stays there.
DEVICE(tensors_decide) {
    float data[N];
    for (int i = 0; i < N; i++) data[i] = (float)i;
    tc_tensor h = line(tc, N, 0, 1), d = there(tc, N, 0, 1);
    ON(tc_dropout(d, 0.5), DEVICE_NAME);
    set_default(tc, DEVICE_NAME);
    tc_tensor w = tc_wrap(tc, data, TC_DIMS(N), TC_F32);
    ON(w, "cpu");
    ON(tc_zeros_like(h), "cpu");
    ON(tc_full_like(w, 2), "cpu");
    ON(tc_dropout(h, 0.5), "cpu");
    ON(tc_softmax(h, 0), "cpu");
    ON(tc_mul_s(w, 2), "cpu");
    ON(tc_zeros_like(d), DEVICE_NAME);
    ON(tc_to(w, DEVICE_NAME), DEVICE_NAME);
    BEGIN("mine");
    tc_tensor y = tc_add(tc_mul_s(h, 2), tc_arange(tc, 0, N, 1, TC_F32));
    END();
    ON(y, "cpu");
    CHECK_EQ(AT(y, 3), 9);
    // A forgotten result of the host, and what is made for an op on it.
    tc_tensor mid;
    BEGIN("forgotten");
    mid = tc_mul_s(h, 2);
    y = tc_add_s(mid, 1);
    END();
    tc_tensor e = tc_dropout(mid, 0);
    ON(e, "cpu");
    CHECK_EQ(AT(e, 3), 6);
}

DEVICE(files) {
    char path[] = "/tmp/tc-npy-XXXXXX";
    close(mkstemp(path));
    CHECK_EQ(tc_save_npy(tc_reshape(line(tc, 6, 1, 1), TC_DIMS(2, 3)), path), TC_OK);
    ON(tc_load_npy(tc, path), "cpu");
    set_default(tc, DEVICE_NAME);
    tc_tensor t = tc_load_npy(tc, path);
    LINE(t, 6, 1, 1);
    CHECK_EQ(tc_rank(t), 2);
    CHECK_EQ(tc_save_npy(tc_mul_s(t, 2), path), TC_OK);
    LINE(tc_load_npy(tc, path), 6, 2, 2);
    unlink(path);
}

static tc_status sets_default(void *user, const tc_buffer *in, int n_in) {
    (void)in, (void)n_in;
    return tc_set_default_device((tc_ctx *)user, DEVICE_NAME);
}

DEVICE(names_and_places) {
    CHECK_EQ(tc_set_default_device(NULL, "cpu"), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_set_default_device");
    CHECK(!tc_default_device(NULL));
    CHECK_STR(tc_default_device(tc), "cpu");
    set_default(tc, DEVICE_NAME);
    CHECK_EQ(tc_set_default_device(tc, "cuda:7"), TC_E_DEVICE);
    ERROR(TC_E_DEVICE, "\"cuda:7\"");
    CHECK_EQ(tc_set_default_device(tc, ""), TC_E_DEVICE);
    ERROR(TC_E_DEVICE, "tc_cuda_open");
    CHECK_STR(tc_default_device(tc), DEVICE_NAME);
    BEGIN("open");
    CHECK_EQ(tc_set_default_device(tc, "cpu"), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_set_default_device: a region is open");
    tc_tensor y = tc_zeros(tc, TC_DIMS(3), TC_F32);
    END();
    LINE(y, 3, 0, 0);
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    CHECK_EQ(tc_set_default_device(tc, "cpu"), TC_E_STATE);
    ERROR(TC_E_STATE, "open");
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    set_default(tc, "cpu");
    CHECK_EQ(tc_host_call(tc, sets_default, tc, NULL, 0), TC_OK); // it may use the context
    CHECK_STR(tc_default_device(tc), DEVICE_NAME);
    tc_ctx *other = tc_open(NULL); // which has its own
    CHECK_STR(tc_default_device(other), "cpu");
    CHECK_EQ(tc_set_default_device(other, DEVICE_NAME), TC_E_DEVICE);
    tc_close(other);
}

// ---- regions ----

// A region of one place under both defaults: each has a program, and keeps it.
DEVICE(regions_of_nothing) {
    for (int k = 0; k < 8; k++) {
        const char *device = k & 1 ? DEVICE_NAME : "cpu";
        set_default(tc, device);
        BEGIN("nothing");
        tc_tensor x = tc_arange(tc, 0, N, 1, TC_F32);
        tc_tensor y = tc_sum(tc_reshape(tc_mul_s(x, k), TC_DIMS(4, N / 4)), 1);
        END();
        ON(y, device);
        CHECK_EQ(AT(y, 1), (6 + 7 + 8 + 9 + 10 + 11) * k);
    }
    CHECK_EQ(tc_stats_get(tc).programs, 4); // for one k, and for any
    CHECK(strstr(tc_explain(tc), "made on " DEVICE_NAME));
}

// What is computed later is computed where it was recorded.
DEVICE(results_read_later) {
    for (int k = 0; k < 2; k++) {
        set_default(tc, k ? DEVICE_NAME : "cpu");
        BEGIN("later");
        tc_tensor mid = tc_add_s(tc_arange(tc, 0, N, 1, TC_F32), k);
        tc_tensor y = tc_mul_s(mid, 2);
        END();
        set_default(tc, k ? "cpu" : DEVICE_NAME);
        ON(mid, k ? DEVICE_NAME : "cpu");
        CHECK_EQ(AT(mid, 5), 5 + k);
        ON(mid, k ? DEVICE_NAME : "cpu");
        CHECK_EQ(AT(y, 5), 10 + 2 * k);
    }
}

// A first segment of nothing, and tensors of the device behind the break.
DEVICE(segments_of_nothing) {
    tc_tensor d = there(tc, N, 1, 1);
    for (int k = 0; k < 4; k++) {
        set_default(tc, k == 2 ? "cpu" : DEVICE_NAME);
        BEGIN("segments");
        tc_tensor x = tc_add_s(tc_zeros(tc, TC_DIMS(N), TC_F32), 2), y = tc_null();
        CHECK_EQ(tc_item(tc_sum_all(x)), 2 * N);
        y = tc_add(x, d); // made of nothing, it goes along
        END();
        LINE(y, N, 3, 1);
    }
}

// ---- functions ----

static int bodies;

static void of_nothing(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)in, (void)user;
    bodies++;
    out[0] = tc_add_s(tc_arange(tc, 0, N, 1, TC_F32), 1);
}

static void of_input(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    bodies++;
    out[0] = tc_add(in[0], tc_arange(tc, 0, N, 1, TC_F32));
}

DEVICE(functions_of_nothing) {
    tc_fn *f = tc_compile(tc, of_nothing, NULL, 0, NULL);
    tc_tensor y;
    bodies = 0;
    for (int k = 0; k < 24; k++) {
        const char *device = k / 4 % 2 ? DEVICE_NAME : "cpu";
        set_default(tc, device);
        CALL(f, NULL, 0, &y, 1);
        ON(y, device);
        CHECK_EQ(AT(y, 7), 8);
        if (k == 4) {
            MISS(f, TC_MISS_DEVICE);
            CHECK(strstr(tc_miss_text(f), "default device was cpu, now " DEVICE_NAME) ||
                  FAIL("%s", tc_miss_text(f)));
        }
        tc_free(y);
    }
    CHECK_EQ(bodies, 4); // two of each, as for any new program
    CHECK_EQ(tc_stats_get(tc).programs, 2);
}

DEVICE(functions_of_inputs) {
    tc_fn *f = tc_compile(tc, of_input, NULL, 0, NULL);
    tc_tensor in[2], y;
    in[0] = line(tc, N, 0, 1), in[1] = there(tc, N, 0, 1);
    for (int k = 0; k < 12; k++) {
        set_default(tc, k / 3 % 2 ? DEVICE_NAME : "cpu");
        CALL(f, &in[k % 2], 1, &y, 1);
        ON(y, k % 2 ? DEVICE_NAME : "cpu");
        CHECK_EQ(AT(y, 7), 14);
        if (k == 1) {
            MISS(f, TC_MISS_DEVICE);
            CHECK(strstr(tc_miss_text(f), "arg 0 device was cpu, now " DEVICE_NAME) ||
                  FAIL("%s", tc_miss_text(f)));
        }
        tc_free(y);
    }
}

DEVICE(precompiled_there) {
    tc_fn *f = tc_compile(tc, of_input, NULL, 0, NULL);
    tc_spec s;
    memset(&s, 0, sizeof s);
    s.dtype = TC_F32, s.rank = 1, s.dims[0] = N;
    set_default(tc, DEVICE_NAME);
    CHECK_EQ(tc_precompile(f, &s, 1, 1), TC_OK);
    bodies = 0;
    tc_tensor x = line(tc, N, 0, 1), y;
    CALL(f, &x, 1, &y, 1);
    LINE(y, N, 0, 2);
    CHECK_EQ(bodies, 0);
}

// ---- numbers of the host ----

static tc_tensor number(tc_ctx *tc, double v, tc_dtype dtype) {
    tc_tensor t = tc_to(tc_scalar(tc, v, dtype), "cpu");
    CHECK_EQ(tc_rank(t), 0);
    ON(t, "cpu");
    return t;
}

DEVICE(numbers_with_eager_ops) {
    static const tc_dtype dtypes[] = {TC_F32, TC_F64, TC_I64, TC_I16, TC_U8, TC_BF16};
    tc_tensor d = there(tc, N, 0, 1);
    for (int k = 0; k < 6; k++) {
        tc_tensor s = number(tc, 3, dtypes[k]);
        LINE(tc_cast(tc_mul(d, s), TC_F32), N, 0, 3);
        LINE(tc_cast(tc_sub(s, d), TC_F32), N, 3, -1);
        ON(s, "cpu");
    }
    tc_tensor yes = number(tc, 1, TC_BOOL), s = number(tc, 4, TC_F32);
    LINE(tc_where(yes, d, s), N, 0, 1);
    LINE(tc_add_(d, s), N, 4, 1);
    LINE(tc_copy_(d, s), N, 4, 0);
    CHECK(!tc_add_(s, tc_select(d, 0, 0)).id); // it is the host's
    ERROR(TC_E_DEVICE, "number of the host");
    CHECK_EQ(tc_item(s), 4);
    CHECK(!tc_add(d, tc_reshape(s, TC_DIMS(1))).id); // it has a dimension
    ERROR(TC_E_DEVICE, "tc_to");
}

// Before and behind the tensors, changed from run to run: each run has what they are then.
static void numbers_recorded(tc_ctx *tc) {
    float wrapped = 0;
    tc_tensor w = tc_wrap(tc, &wrapped, TC_SCALAR, TC_F32);
    for (int k = 0; k < 6; k++) {
        tc_tensor d = there(tc, N, k, 1), s = number(tc, k + 2, TC_F32), y, z, r;
        wrapped = (float)(10 * k);
        BEGIN("numbers");
        tc_tensor twice = tc_mul_s(s, 2); // nothing says yet where that is
        y = tc_add(tc_mul(twice, d), w);
        z = tc_sum_all(tc_mul(d, s));
        r = tc_reshape(s, TC_DIMS(1));
        END();
        LINE(y, N, 2 * (k + 2) * k + 10 * k, 2 * (k + 2));
        CHECK_EQ(AT(z, 0), (k + 2) * (N * k + N * (N - 1) / 2));
        ON(r, "cpu"); // a view of it
        CHECK_EQ(AT(r, 0), k + 2);
        tc_free(d);
    }
    CHECK_EQ(tc_explain_counts(tc, "numbers").graphs, 1);
}

DEVICE(numbers_in_regions) { numbers_recorded(tc); }

TEST(numbers_in_graphs) {
    setenv("TC_MODE", "reduce-overhead", 1);
    on_device(numbers_recorded);
    unsetenv("TC_MODE");
}

DEVICE(numbers_alone) {
    tc_tensor s = number(tc, 3, TC_F32), d = there(tc, N, 1, 0);
    set_default(tc, DEVICE_NAME);
    BEGIN("alone");
    tc_tensor y = tc_add_s(s, 1);
    END();
    ON(y, "cpu");
    CHECK_EQ(AT(y, 0), 4);
    BEGIN("copied");
    tc_tensor same = tc_clone(s), z = tc_add(d, same);
    END();
    LINE(z, N, 4, 0);
    CHECK_EQ(AT(same, 0), 3);
    // The first segment has the number alone, and is on the host.
    BEGIN("break");
    y = tc_add_s(s, 1);
    CHECK_EQ(tc_item(y), 4);
    END();
    BEGIN("written");
    tc_add_s_(s, 1);
    z = tc_add(d, s);
    END();
    LINE(z, N, 5, 0);
    CHECK_EQ(tc_item(s), 4);
    BEGIN("written here");
    tc_add_s_(s, 1);
    END();
    CHECK_EQ(tc_item(s), 5);
}

static void scaled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    bodies++;
    out[0] = tc_mul(in[1], in[0]);
}

DEVICE(numbers_in_functions) {
    tc_fn *f = tc_compile(tc, scaled, NULL, 0, NULL);
    tc_tensor in[2], y;
    bodies = 0;
    in[1] = there(tc, N, 0, 1), in[0] = number(tc, 1, TC_F32);
    for (int k = 0; k < 8; k++) {
        if (k == 5) in[0] = number(tc, 6, TC_F32);
        CALL(f, in, 2, &y, 1);
        LINE(y, N, 0, k < 5 ? k + 1 : k + 1);
        tc_free(y);
        tc_add_s_(in[0], 1);
    }
    CHECK_EQ(bodies, 2);
}

static tc_status host_scale(void *user, const tc_buffer *in, int n_in,
                            const tc_buffer *out) {
    (void)user, (void)n_in;
    for (int64_t i = 0; i < out->spec.dims[0]; i++)
        ((float *)out->data)[i] = ((float *)in[0].data)[i] * *(float *)in[1].data;
    return TC_OK;
}

// Also where the host does a part of the program.
DEVICE(numbers_for_host_code) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "host_scale", op.n_in = 2, op.run = host_scale;
    int id = tc_register_op(tc, &op);
    for (int k = 0; k < 3; k++) {
        tc_tensor in[2], y;
        in[0] = there(tc, N, k, 1), in[1] = number(tc, k + 1, TC_F32);
        BEGIN("host");
        y = tc_add(tc_custom(tc, id, in, 2), in[1]);
        END();
        LINE(y, N, k * (k + 1) + k + 1, k + 1);
    }
}

// ---- contexts that share ----

static tc_tensor weight;

static void weighted(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul(in[0], weight);
}

// A child has the host alone, and says so; the device stays the parent's.
DEVICE(shared_contexts) {
    tc_tensor d = there(tc, N, 0, 1), h = line(tc, N, 0, 1), kept, in, y;
    BEGIN("kept");
    kept = tc_keep(tc_add_s(d, 1));
    END();
    set_default(tc, DEVICE_NAME);
    tc_fn *f = tc_compile(tc, weighted, NULL, 0, NULL);
    tc_ctx *child = tc_open_shared(tc), *parent = tc;
    REQUIRE(child);
    tc = child; // whose errors they are
    CHECK_STR(tc_default_device(child), "cpu");
    in = line(child, N, 1, 1);
    ON(in, "cpu");
    y = tc_add(in, h);
    CHECK_EQ(AT(y, 3), 7);
    CHECK(!tc_add(in, d).id);
    ERROR(TC_E_DEVICE, "add: the tensor is on a device, which only the context has");
    CHECK(!tc_add(in, kept).id);
    ERROR(TC_E_DEVICE, "tc_to it to \"cpu\" before that");
    BEGIN("child");
    CHECK(!tc_mul(tc_add_s(in, 1), d).id);
    (void)tc_trace_end(child);
    ERROR(TC_E_DEVICE, "mul");
    weight = d;
    CHECK_EQ(tc_call(f, &in, 1, &y, 1), TC_E_DEVICE);
    ERROR(TC_E_DEVICE, "tc_open_shared");
    weight = h;
    CALL(f, &in, 1, &y, 1);
    CHECK_EQ(AT(y, 3), 12);
    CHECK(!tc_to(in, DEVICE_NAME).id);
    ERROR(TC_E_DEVICE, "needs a context of tc_open");
    CHECK_EQ(tc_set_default_device(child, DEVICE_NAME), TC_E_DEVICE);
    ERROR(TC_E_DEVICE, "tc_set_default_device");
    CHECK(tc_cuda_open(child, 0) < 0);
    ERROR(TC_E_STATE, "a context of tc_open_shared has no devices");
    tc_free(d); // the child holds nothing of it
    tc_close(child);
    tc = parent;
    LINE(kept, N, 1, 1);
    tc_free(kept);
}
