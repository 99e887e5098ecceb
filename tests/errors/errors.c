// Every row of gen/tables/errors.def: a case that provokes it, or the reason why none can.
// A case checks the item, the words of its text, that inputs are as before, and that work
// goes on. Cases run eagerly and, unless marked, inside a region too.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <pthread.h>

#include <math.h>
#include <sys/stat.h>

// ---- what a case has ----
typedef struct world {
    tc_ctx *tc, *other;
    tc_tensor a, b, i; // f32 [3, 4] of 0..11, f32 [2, 5] of ones, i64 [3] = 0, 1, 2
    tc_tensor q;       // f32 [2, 3, 4]
    int region;        // a region is open
    int fail_after;    // allocations until they fail; -1 = never
    char folder[64];
} world;

static void *limited(void *user, void *p, size_t old, size_t size) {
    world *w = (world *)user;
    if (size && w->fail_after == 0) return NULL;
    if (size && w->fail_after > 0) w->fail_after--;
    return checked_realloc(p, old, size);
}

static void quiet(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)level, (void)channel, (void)text;
}

static tc_ctx *open_context(world *w) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1;
    config.allocator.realloc = limited, config.allocator.user = w;
    config.logger.log = quiet;
    return tc_open(&config);
}

// Ops of our own: as input 0; what shape() and run() return is `user_status`.
static tc_status user_status;
static tc_status user_shape(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)in, (void)n_in;
    if (*(const char *)user == 'r') out->rank = 12;
    if (*(const char *)user == 'd') out->dtype = (tc_dtype)99;
    return *(const char *)user == 's' ? TC_E_SHAPE : TC_OK;
}
static tc_status user_run(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    size_t bytes = tc_dtype_bytes(out->spec.dtype);
    for (int i = 0; i < out->spec.rank; i++) bytes *= (size_t)out->spec.dims[i];
    if (bytes) memcpy(out->data, in[0].data, bytes);
    return (void)user, (void)n_in, user_status;
}
static tc_status user_host(void *user, const tc_buffer *in, int n_in) {
    return (void)user, (void)in, (void)n_in, user_status;
}
static const char user_source[] =
    "tc_status user_text(void *user, const tc_buffer *in, int n, const tc_buffer *out) {\n"
    "    return 0;\n}\n";

static void register_ops(tc_ctx *tc) {
    static char kinds[] = "osrd"; // fine; shapes that fail, have no rank, no dtype
    static const char *const names[] = {"user_op", "user_shape", "user_rank", "user_dtype"};
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.run = user_run, op.shape = user_shape;
    for (int k = 0; k < 4; k++) {
        op.name = names[k], op.user = &kinds[k];
        CHECK(tc_register_op(tc, &op) > 0);
    }
    memset(&op, 0, sizeof op);
    op.name = "user_text", op.c_source = user_source;
    CHECK(tc_register_op(tc, &op) > 0);
    user_status = TC_OK;
}

static tc_tensor call_op(tc_ctx *tc, const char *name, tc_tensor t) {
    return tc_custom(tc, tc_op_named(tc, name), &t, 1);
}

static void open_world(world *w) {
    float a[24];
    int64_t i[3] = {0, 1, 2};
    memset(w, 0, sizeof *w);
    w->fail_after = -1;
    w->tc = open_context(w), w->other = open_context(w);
    for (int k = 0; k < 24; k++) a[k] = (float)k;
    w->a = tc_from_data(w->tc, a, TC_DIMS(3, 4), TC_F32);
    w->q = tc_from_data(w->tc, a, TC_DIMS(2, 3, 4), TC_F32);
    w->b = tc_ones(w->tc, TC_DIMS(2, 5), TC_F32);
    w->i = tc_from_data(w->tc, i, TC_DIMS(3), TC_I64);
    register_ops(w->tc);
}

static void close_world(world *w) {
    w->fail_after = -1;
    tc_close(w->tc), tc_close(w->other);
}

// A file of these bytes, for the readers.
static const char *file_of(world *w, const char *name, const void *p, size_t n) {
    static char path[128];
    snprintf(w->folder, sizeof w->folder, "/tmp/tc_errors_%d", (int)getpid());
    mkdir(w->folder, 0700);
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    FILE *f = fopen(path, "wb");
    if (f) fwrite(p, 1, n, f), fclose(f);
    return path;
}

// ---- cases: each provokes one error; a tensor result must be null unless said ----
typedef tc_tensor (*case_run)(world *w);
#define CASE(name) static tc_tensor name(world *w)

CASE(nomem_full) {
    w->fail_after = 0;
    tc_tensor t = tc_full(w->tc, TC_DIMS(1000, 1000), 1, TC_F32);
    w->fail_after = -1;
    return t;
}
CASE(nomem_op) {
    w->fail_after = 1;
    tc_tensor t = tc_softmax(tc_matmul(w->a, tc_t(w->a)), -1);
    w->fail_after = -1;
    return t;
}
// A region of every kind of kernel, with a break; its results, NULL where an op failed.
static tc_status poor_region(world *w, int k, tc_tensor *y, tc_tensor *z) {
    tc_trace_begin_at(w->tc, "poor", NULL, "errors.c", 3);
    w->fail_after = k;
    tc_tensor a = tc_add_s(w->a, k), b = tc_matmul(a, tc_t(a));
    *y = tc_softmax(b, -1);
    tc_tensor g = tc_gather(b, 1, tc_unsqueeze(tc_argmax(b, 1), 1));
    tc_add_s_(w->i, 0);
    double top = tc_item(tc_amax_all(g));
    b = call_op(w->tc, "user_op", tc_t(b));
    if (b.id) tc_host_call(w->tc, user_host, NULL, &b, 1);
    tc_tensor x = tc_pad(tc_mul_s(b, top), TC_DIMS(1, 0), TC_DIMS(1, 0), 0), two[2];
    two[0] = tc_abs(x), two[1] = tc_rand(w->tc, TC_DIMS(5, 3), TC_F32);
    *z = tc_var(tc_cat(two, 2, 0), 0, 1);
    tc_status s = tc_trace_end(w->tc);
    w->fail_after = -1;
    return s;
}

// Memory ends at every allocation that a region makes, recording and at its end.
CASE(nomem_end) {
    tc_status s = TC_E_NOMEM;
    int k = 0;
    tc_tensor index = tc_clone(w->i);
    for (; s && k < 5000; k++) {
        tc_tensor y, z;
        float out[9];
        tc_copy_(
            w->i,
            index); // after a write that failed it is used again when all of it is written
        s = poor_region(w, k, &y, &z);
        if (s && s != TC_E_NOMEM) FAIL("allocation %d fails: %s", k, tc_status_name(s));
        if (!s && tc_read(y, out, sizeof out)) FAIL("no result without an error");
        if (!s && tc_read(z, out, 3 * sizeof *out)) FAIL("no result without an error");
    }
    if (s) FAIL("still no memory after %d allocations", k);
    return tc_null();
}
CASE(null_data) { return tc_from_data(w->tc, NULL, TC_DIMS(3), TC_F32); }
CASE(null_operand) { return tc_add(w->a, tc_null()); }
CASE(null_strides) {
    static float memory[4];
    return tc_wrap_strided(w->tc, memory, TC_DIMS(4), NULL, TC_F32);
}
CASE(dead_operand) {
    tc_tensor t = tc_from_data(w->tc, "1234", TC_DIMS(1), TC_F32);
    tc_free(t);
    return tc_add(w->a, t);
}
CASE(dead_garbage) {
    tc_tensor t; // a handle that was never set, in the slot of this context
    t.id = (w->a.id >> 56 << 56) | 0x12345678000007u;
    return tc_neg(t);
}
CASE(dead_garbage_result) { // the same, like a result of a region
    tc_tensor t;
    t.id = (w->a.id >> 56 << 56) | 0x123456789abcefu;
    return tc_neg(t);
}
CASE(alias_wraps) {
    static float memory[8];
    tc_tensor x = tc_wrap(w->tc, memory, TC_DIMS(8), TC_F32);
    tc_tensor y = tc_wrap(w->tc, memory + 2, TC_DIMS(6), TC_F32);
    return tc_copy_(tc_slice(x, 0, 0, 6, 1), y);
}
CASE(pad_negative) { return tc_pad(w->a, TC_DIMS(-9, 0), TC_DIMS(2, 0), 0); }
CASE(pad_with_negative) {
    return tc_pad_with(w->a, TC_DIMS(-9, 0), TC_DIMS(2, 0), TC_PAD_REFLECT);
}
CASE(repeat_negative) { return tc_repeat_interleave(w->a, -1, 0); }
CASE(tile_negative) { return tc_tile(w->a, TC_DIMS(-1, 1)); }
CASE(dead_free) {
    tc_tensor t = tc_from_data(w->tc, "1234", TC_DIMS(1), TC_F32);
    tc_free(t), tc_free(t);
    return tc_null();
}
CASE(dead_scope) {
    tc_scope_begin(w->tc);
    tc_tensor t = tc_from_data(w->tc, "1234", TC_DIMS(1), TC_F32);
    tc_scope_end(w->tc);
    return tc_neg(t);
}
CASE(foreign) { return tc_mul(w->a, tc_ones(w->other, TC_DIMS(3, 4), TC_F32)); }
CASE(device_unknown) { return tc_to(w->a, "cuda:7"); }
CASE(slice_step) { return tc_slice(w->a, 0, 0, 2, 0); }
CASE(arange_step) { return tc_arange(w->tc, 0, 5, 0, TC_F32); }
CASE(randint_range) { return tc_randint(w->tc, 5, 5, TC_DIMS(3), TC_I32); }
CASE(dropout_p) { return tc_dropout(w->a, 1.5); }
CASE(split_zero) {
    tc_tensor out[4];
    out[0] = tc_null();
    return tc_split(w->a, 0, 0, out, 4) ? w->a : out[0];
}
CASE(split_room) {
    tc_tensor out[2];
    out[0] = tc_null();
    return tc_split(w->a, 1, 0, out, 2) ? w->a : out[0];
}
CASE(write_const) {
    float x = 1;
    tc_tensor t = tc_const(w->tc, &x, TC_DIMS(1), TC_F32);
    return tc_add_s_(t, 1);
}
CASE(unaligned) {
    static float memory[4];
    return tc_wrap(w->tc, (char *)memory + 1, TC_DIMS(2), TC_F32);
}
CASE(read_size) {
    float out[3];
    CHECK_EQ(tc_read(w->a, out, sizeof out), TC_E_ARG);
    return tc_null();
}
CASE(data_of_view) {
    CHECK(tc_data(tc_t(w->a)) == NULL);
    return tc_null();
}
CASE(conv_stride) {
    tc_tensor x = tc_reshape(w->a, TC_DIMS(1, 1, 3, 4)),
              k = tc_reshape(w->i, TC_DIMS(1, 1, 1, 3));
    return tc_conv2d(x, tc_to_f32(k), tc_null(), -1, 0, 1, 1);
}
// Errors name the call that was made, with the sizes that it was given.
static tc_tensor dead_one(world *w) {
    float x[2] = {1, 2};
    tc_tensor t = tc_from_data(w->tc, x, TC_DIMS(2), TC_F32);
    tc_free(t);
    return t;
}
CASE(rsub_dead) { return tc_rsub_s(dead_one(w), 1); }
CASE(rdiv_dead) { return tc_rdiv_s(dead_one(w), 1); }
CASE(rpow_dead) { return tc_rpow_s(dead_one(w), 2); }
CASE(conv1d_weight) {
    return tc_conv1d(w->q, tc_reshape(w->a, TC_DIMS(1, 4, 3)), tc_null(), 1, 0, 1, 1);
}
CASE(conv1d_no_weight) { return tc_conv1d(w->q, tc_null(), tc_null(), 1, 0, 1, 1); }
CASE(conv1d_bias) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(5, 3, 2), TC_F32);
    return tc_conv1d(w->q, k, tc_to_f32(w->i), 1, 0, 1, 1);
}
CASE(transposed_weight) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(4, 3, 2), TC_F32);
    return tc_conv_transpose1d(w->q, k, tc_null(), 1, 0, 0, 1, 1);
}
CASE(transposed_groups) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(3, 3, 2), TC_F32);
    return tc_conv_transpose1d(w->q, k, tc_null(), 1, 0, 0, 1, 2);
}
CASE(transposed_bias) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(3, 5, 2), TC_F32);
    return tc_conv_transpose1d(w->q, k, tc_to_f32(w->i), 1, 0, 0, 1, 1);
}
CASE(transposed_more) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(3, 5, 2), TC_F32);
    return tc_conv_transpose1d(w->q, k, tc_null(), 2, 0, 2, 1, 1);
}
CASE(transposed_stride) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(2, 5, 2, 2), TC_F32);
    return tc_conv_transpose2d(w->q, k, tc_null(), -2, 0, 0, 1, 1);
}
CASE(transposed_nothing) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(3, 5, 2), TC_F32);
    return tc_conv_transpose1d(w->q, k, tc_null(), 1, 3, 0, 1, 1);
}
CASE(transposed_far) {
    tc_tensor k = tc_ones(w->tc, TC_DIMS(2, 5, 2, 2), TC_F32);
    return tc_conv_transpose2d(w->q, k, tc_null(), INT_MAX, 0, 0, 1, 1);
}
CASE(transposed3d_weight) {
    tc_tensor x = tc_ones(w->tc, TC_DIMS(1, 2, 3, 3, 3), TC_F32);
    return tc_conv_transpose3d(x, tc_ones(w->tc, TC_DIMS(4, 2, 2, 2, 2), TC_F32), tc_null(),
                               1, 0, 0, 1, 1);
}
CASE(transposed3d_more) {
    tc_conv_options o;
    tc_tensor x = tc_ones(w->tc, TC_DIMS(2, 3, 3, 3), TC_F32);
    memset(&o, 0, sizeof o);
    o.stride[2] = 2, o.output_padding[2] = 2;
    return tc_conv_transpose3d_with(x, tc_ones(w->tc, TC_DIMS(2, 3, 2, 2, 2), TC_F32),
                                    tc_null(), &o);
}
CASE(transposed3d_empty) {
    tc_tensor x = tc_ones(w->tc, TC_DIMS(2, 3, 0, 3), TC_F32);
    return tc_conv_transpose3d(x, tc_ones(w->tc, TC_DIMS(2, 3, 2, 2, 2), TC_F32), tc_null(),
                               1, 0, 0, 1, 1);
}
CASE(conv3d_weight) {
    tc_tensor x = tc_ones(w->tc, TC_DIMS(1, 2, 3, 3, 3), TC_F32);
    return tc_conv3d(x, tc_ones(w->tc, TC_DIMS(4, 3, 2, 2, 2), TC_F32), tc_null(), 1, 0, 1,
                     1);
}
CASE(conv3d_window) {
    tc_tensor x = tc_ones(w->tc, TC_DIMS(1, 2, 3, 1, 3), TC_F32);
    return tc_conv3d(x, tc_ones(w->tc, TC_DIMS(4, 2, 2, 2, 2), TC_F32), tc_null(), 1, 0, 1,
                     1);
}
CASE(conv_output_padding) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    o.output_padding[1] = 1;
    tc_tensor k = tc_ones(w->tc, TC_DIMS(5, 2, 2, 2), TC_F32);
    return tc_conv2d_with(w->q, k, tc_null(), &o);
}
CASE(resize_mode) { return tc_interpolate(w->a, TC_DIMS(2), (tc_interpolation)9); }
CASE(pool_padding) { return tc_max_pool2d(w->q, 2, 1, 2); }
CASE(pool_bool) { return tc_max_pool2d(tc_gt_s(w->q, 0), 2, 1, 0); }
CASE(pool_bool_wide) { return tc_max_pool2d(tc_gt_s(w->q, 0), 3, 1, 0); }
CASE(dead_mask) {
    tc_tensor mask = tc_ones(w->tc, TC_DIMS(3, 3), TC_BOOL);
    tc_free(mask);
    return tc_scaled_dot_product_attention(w->a, w->a, w->a, mask, 0, 0);
}
// Composite ops tell of the operands by the names they have in the call, whatever is made of them inside.
static tc_tensor of_sizes(world *w, int64_t batch, int64_t rows, int64_t columns,
                          tc_dtype dtype) {
    return tc_ones(w->tc, TC_DIMS(batch, rows, columns), dtype);
}
static tc_tensor attend_with(world *w, tc_tensor k, tc_tensor v, tc_tensor mask,
                             double scale) {
    return tc_scaled_dot_product_attention(of_sizes(w, 2, 5, 8, TC_F32), k, v, mask, 0,
                                           scale);
}
static tc_tensor attend_f32(world *w, tc_tensor mask, double scale) {
    tc_tensor k = of_sizes(w, 2, 6, 8, TC_F32), v = of_sizes(w, 2, 6, 3, TC_F32);
    return attend_with(w, k, v, mask, scale);
}
CASE(attention_width) {
    tc_tensor k = of_sizes(w, 2, 6, 9, TC_F32);
    return attend_with(w, k, of_sizes(w, 2, 6, 3, TC_F32), tc_null(), 0);
}
CASE(attention_rows) {
    tc_tensor k = of_sizes(w, 2, 6, 8, TC_F32);
    return attend_with(w, k, of_sizes(w, 2, 7, 3, TC_F32), tc_null(), 0);
}
CASE(attention_lead) {
    tc_tensor k = of_sizes(w, 2, 6, 8, TC_F32);
    return attend_with(w, k, of_sizes(w, 4, 6, 3, TC_F32), tc_null(), 0);
}
CASE(attention_rank) {
    tc_tensor v = tc_ones(w->tc, TC_DIMS(6), TC_F32);
    return attend_with(w, of_sizes(w, 2, 6, 8, TC_F32), v, tc_null(), 0);
}
CASE(attention_integers) {
    tc_tensor k = of_sizes(w, 2, 6, 8, TC_I64);
    return attend_with(w, k, of_sizes(w, 2, 6, 3, TC_F32), tc_null(), 0);
}
CASE(attention_integer_values) {
    tc_tensor k = of_sizes(w, 2, 6, 8, TC_F32);
    return attend_with(w, k, of_sizes(w, 2, 6, 3, TC_I64), tc_null(), 0);
}
CASE(attention_no_keys) {
    return attend_with(w, tc_null(), of_sizes(w, 2, 6, 3, TC_F32), tc_null(), 0);
}
CASE(attention_mask) { return attend_f32(w, of_sizes(w, 2, 6, 5, TC_BOOL), 0); }
CASE(attention_mask_rank) {
    return attend_f32(w, tc_ones(w->tc, TC_DIMS(3, 2, 5, 6), TC_BOOL), 0);
}
CASE(attention_mask_integers) { return attend_f32(w, of_sizes(w, 2, 5, 6, TC_I32), 0); }
CASE(attention_scale) { return attend_f32(w, tc_null(), (double)NAN); }
CASE(attention_nomem) {
    tc_tensor q = of_sizes(w, 2, 5, 8, TC_F32);
    w->fail_after = 0;
    tc_tensor y = tc_scaled_dot_product_attention(q, q, q, tc_null(), 0, 0);
    w->fail_after = -1;
    return y;
}
CASE(neg_nomem) {
    tc_tensor x = tc_ones(w->tc, TC_DIMS(1000, 1000), TC_F32);
    w->fail_after = 0;
    tc_tensor y = tc_neg(x);
    w->fail_after = -1;
    return y;
}
CASE(target_dtype) { return tc_cross_entropy(w->a, tc_ones(w->tc, TC_DIMS(3), TC_F32)); }
CASE(addmm_sum) {
    return tc_addmm(tc_ones(w->tc, TC_DIMS(3, 4), TC_F32), w->a, tc_t(w->a), 1, 1);
}
CASE(norm_no_mean) { return tc_batch_norm(w->a, tc_null(), w->a, tc_null(), tc_null(), 0); }
CASE(pool_kernel) { return tc_avg_pool2d(w->q, 0, 1, 0); }
CASE(one_hot_classes) { return tc_one_hot(w->i, -3); }
// Numbers that would wrap in sizes and expressions.
CASE(far_pad) {
    int64_t low[2] = {0, INT64_MIN}, high[2] = {0, INT64_MAX};
    return tc_pad(w->a, tc_dims_of(2, low), tc_dims_of(2, high), 0);
}
CASE(far_pad_sum) {
    int64_t far = INT64_C(1) << 62;
    return tc_pad(w->a, TC_DIMS(0, far), TC_DIMS(0, far), 0);
}
CASE(far_tile) { return tc_tile(w->a, TC_DIMS(1, INT64_MAX)); }
CASE(far_repeat) { return tc_repeat_interleave(w->a, INT64_C(1) << 57, 0); }
CASE(far_repeat_empty) {
    tc_tensor none = tc_slice(w->a, 0, 0, 0, 1);
    return tc_repeat_interleave(none, INT64_MAX, 1);
}
CASE(far_reshape) { return tc_reshape(w->a, TC_DIMS(INT64_MAX, INT64_MAX)); }
CASE(far_conv) {
    tc_tensor x = tc_reshape(w->q, TC_DIMS(1, 2, 3, 4));
    tc_tensor one = tc_ones(w->tc, TC_DIMS(1, 2, 1, 1), TC_F32);
    return tc_conv2d(x, one, tc_null(), 1, INT_MAX, 1, 1);
}
CASE(eye_rows) { return tc_eye(w->tc, INT64_MIN, 3, TC_F64); }
CASE(dtype_bits) { return tc_bitwise_and(w->a, w->a); }
CASE(dtype_shift) { return tc_bitwise_left_shift(tc_gt_s(w->a, 0), tc_gt_s(w->a, 1)); }
CASE(dtype_bool) { return tc_sub(tc_isnan(w->a), tc_isnan(w->a)); }
CASE(dtype_where) { return tc_where(w->a, w->a, w->a); }
CASE(dtype_index) { return tc_take(w->a, w->a, 0); }
CASE(dtype_index_narrow) { return tc_take(w->a, tc_cast(w->i, TC_I16), 0); }
CASE(dtype_bits_half) {
    tc_tensor h = tc_cast(w->a, TC_BF16);
    return tc_bitwise_and(h, h);
}
CASE(dtype_number) { return tc_full(w->tc, TC_DIMS(2), 1, (tc_dtype)77); }
CASE(dtype_random) { return tc_randn(w->tc, TC_DIMS(2), TC_I32); }
CASE(dtype_in_place) { return tc_mul_s_(w->i, 0.5); }
CASE(shape_matmul) { return tc_matmul(w->a, w->b); }
// The bias is of another size than the weight's first.
CASE(shape_linear_bias) {
    tc_tensor x = tc_ones(w->tc, TC_DIMS(4, 8), TC_F32);
    return tc_linear(x, tc_ones(w->tc, TC_DIMS(3, 8), TC_F32),
                     tc_ones(w->tc, TC_DIMS(5), TC_F32));
}
CASE(shape_linear) { return tc_linear(w->a, w->b, tc_null()); }
CASE(shape_reshape) { return tc_reshape(w->a, TC_DIMS(5, 3)); }
CASE(shape_two_open) { return tc_reshape(w->a, TC_DIMS(-1, -1)); }
CASE(shape_negative) { return tc_full(w->tc, TC_DIMS(2, -3), 0, TC_F32); }
CASE(shape_cat) {
    tc_tensor list[2];
    list[0] = w->a, list[1] = w->b;
    return tc_cat(list, 2, 0);
}
CASE(shape_empty_max) { return tc_amax(tc_narrow(w->a, 1, 0, 0), 1); }
CASE(shape_empty_argmin) { return tc_argmin_all(tc_narrow(w->a, 0, 0, 0)); }
CASE(shape_unfold) { return tc_unfold(w->a, 1, 9, 1); }
CASE(shape_weight) { return tc_layer_norm(w->a, w->b, tc_null(), 1e-5); }
CASE(norm_eps) { return tc_layer_norm(w->a, tc_null(), tc_null(), -1e-5); }
CASE(running_eps) {
    tc_tensor none = tc_null();
    return tc_batch_norm_running(w->a, none, none, none, none, 0.1, NAN);
}
CASE(normalize_eps) { return tc_normalize(w->a, 2, 1, NAN); }
CASE(shape_groups) { return tc_group_norm(w->q, 2, tc_null(), tc_null(), 1e-5); }
CASE(shape_entropy) { return tc_cross_entropy(w->b, w->i); }
CASE(shape_item) {
    CHECK_EQ(tc_item(w->a), 0);
    return tc_null();
}
CASE(rank_get) {
    CHECK_EQ(tc_get(w->a, TC_DIMS(1)), 0);
    return tc_null();
}
CASE(index_get) {
    CHECK_EQ(tc_get(w->a, TC_DIMS(2, -5)), 0);
    return tc_null();
}
CASE(shape_pad) { return tc_pad(w->a, TC_DIMS(-2, 0), TC_DIMS(-2, 0), 0); }
CASE(broadcast_add) { return tc_add(w->a, w->b); }
CASE(broadcast_lower) { return tc_add(tc_ones(w->tc, TC_DIMS(7), TC_F32), w->a); }
CASE(broadcast_mask) {
    return tc_masked_fill(w->q, tc_ones(w->tc, TC_DIMS(5, 1), TC_BOOL), 0);
}
CASE(broadcast_where) { return tc_where(tc_isnan(w->b), w->a, w->a); }
CASE(broadcast_expand) { return tc_expand(w->a, TC_DIMS(3, 8)); }
CASE(broadcast_in_place) { return tc_add_(w->a, w->q); }
CASE(rank_t) { return tc_t(w->q); }
CASE(rank_dims) { return tc_full(w->tc, TC_DIMS(1, 1, 1, 1, 1, 1, 1, 1, 1), 0, TC_F32); }
CASE(rank_pad) { return tc_pad(w->a, TC_DIMS(1), TC_DIMS(1), 0); }
CASE(rank_index_select) {
    return tc_index_select(w->a, 0, tc_reshape(w->i, TC_DIMS(3, 1)));
}
CASE(rank_take) {
    tc_tensor deep = tc_reshape(w->i, TC_DIMS(1, 1, 1, 1, 1, 1, 1, 3));
    return tc_take(w->a, deep, 0);
}
CASE(rank_select) { return tc_select(tc_sum_all(w->a), 0, 0); }
CASE(rank_norm) { return tc_batch_norm(w->i, w->i, w->i, tc_null(), tc_null(), 1e-5); }
CASE(dim_sum) { return tc_sum(w->a, 2); }
CASE(dim_low) { return tc_softmax(w->a, -3); }
CASE(dim_twice) { return tc_sum_dims(w->a, TC_DIMS(1, -1), 0); }
CASE(dim_permute) { return tc_permute(w->a, TC_DIMS(0, 0)); }
CASE(dim_size) {
    CHECK_EQ(tc_dim(w->a, 7), -1);
    return tc_null();
}
CASE(dim_flatten) { return tc_flatten(w->a, 1, 0); }
CASE(index_select_out) { return tc_select(w->a, 1, 4); }
CASE(index_narrow) { return tc_narrow(w->a, 0, 2, 2); }
CASE(index_take) {
    int64_t bad = 5;
    tc_tensor k = tc_from_data(w->tc, &bad, TC_DIMS(1), TC_I64), t = tc_take(w->a, k, 0);
    if (w->region) CHECK_EQ(tc_trace_end(w->tc), TC_E_INDEX), w->region = 0;
    (void)t;
    return tc_null();
}
CASE(too_big) { return tc_full(w->tc, TC_DIMS(1LL << 40, 1LL << 40), 0, TC_F32); }
CASE(too_big_strides) {
    static float memory[4];
    int64_t far[1] = {INT64_MAX / 2};
    return tc_wrap_strided(w->tc, memory, TC_DIMS(4), far, TC_F32);
}
CASE(too_big_expand) { return tc_expand(tc_sum_all(w->a), TC_DIMS(1LL << 40, 1LL << 40)); }
CASE(too_big_outer) {
    tc_tensor x = tc_expand(tc_reshape(tc_sum_all(w->a), TC_DIMS(1)), TC_DIMS(1LL << 40));
    return tc_outer(x, x);
}
CASE(state_scope) {
    CHECK_EQ(tc_scope_end(w->tc), TC_E_STATE);
    return tc_null();
}
CASE(state_seed) {
    tc_trace_begin_at(w->tc, "seeded", NULL, "errors.c", 5);
    CHECK_EQ(tc_manual_seed(w->tc, 1), TC_E_STATE);
    tc_trace_end(w->tc);
    return tc_null();
}
CASE(cumsum_dim) { return tc_cumsum(w->a, 2); }
CASE(argsort_dim) { return tc_argsort(w->a, -3, 1); }
CASE(sort_dim) {
    tc_tensor v = w->a, i = w->a;
    CHECK_EQ(tc_sort(w->a, 5, 0, &v, &i), TC_E_DIM);
    CHECK(!v.id && !i.id);
    return tc_null();
}
CASE(topk_many) {
    tc_tensor v = w->a;
    CHECK_EQ(tc_topk(w->a, 5, 1, 1, &v, NULL), TC_E_ARG);
    return v;
}
CASE(topk_negative) {
    CHECK_EQ(tc_topk(w->a, -1, 0, 1, NULL, NULL), TC_E_ARG);
    return tc_null();
}
CASE(topk_scalar) {
    tc_tensor v;
    CHECK_EQ(tc_topk(tc_scalar(w->tc, 1, TC_F32), 2, 0, 1, &v, NULL), TC_E_ARG);
    return v;
}
static tc_tensor zeros_of(world *w, int64_t rows, int64_t columns, tc_dtype dtype) {
    return tc_zeros(w->tc, TC_DIMS(rows, columns), dtype);
}
CASE(scatter_index) { return tc_scatter(w->a, 0, w->a, w->a); }
CASE(scatter_dtype) {
    return tc_scatter(w->a, 0, zeros_of(w, 1, 4, TC_I32), zeros_of(w, 1, 4, TC_F64));
}
CASE(scatter_src) {
    return tc_scatter(w->a, 0, zeros_of(w, 2, 4, TC_I32), zeros_of(w, 1, 4, TC_F32));
}
CASE(scatter_outside) {
    return tc_scatter_add(w->a, 0, zeros_of(w, 2, 5, TC_I32), zeros_of(w, 2, 5, TC_F32));
}
CASE(scatter_rank) {
    return tc_scatter(w->a, 0, tc_zeros(w->tc, TC_DIMS(2), TC_I64), w->a);
}
CASE(scatter_scalar) {
    tc_tensor s = tc_scalar(w->tc, 1, TC_F32);
    return tc_scatter(s, 0, tc_zeros(w->tc, TC_DIMS(1, 1), TC_I64), s);
}
CASE(scatter_bool) {
    tc_tensor t = zeros_of(w, 2, 2, TC_BOOL);
    return tc_scatter_add(t, 1, zeros_of(w, 2, 2, TC_I64), t);
}
CASE(scatter_place) {
    tc_tensor at = tc_full(w->tc, TC_DIMS(1, 4), 3, TC_I32);
    return tc_scatter_add(w->a, 0, at, w->a);
}
CASE(index_add_rank) { return tc_index_add(w->a, 0, zeros_of(w, 1, 3, TC_I32), w->a); }
CASE(index_add_src) {
    return tc_index_add(w->a, 1, tc_zeros(w->tc, TC_DIMS(3), TC_I32), w->a);
}
CASE(adamw_sizes) {
    tc_tensor step = tc_zeros(w->tc, TC_SCALAR, TC_F32);
    return tc_adamw_(w->a, w->b, w->a, w->a, step, 0.1, 0.9, 0.999, 1e-8, 0);
}
CASE(adamw_step) {
    return tc_adamw_(w->a, w->a, w->a, w->a, w->a, 0.1, 0.9, 0.999, 1e-8, 0);
}
CASE(adamw_null) {
    tc_tensor step = tc_zeros(w->tc, TC_SCALAR, TC_F32);
    return tc_adamw_(w->a, w->a, tc_null(), w->a, step, 0.1, 0.9, 0.999, 1e-8, 0);
}
CASE(adamw_list_count) {
    tc_tensor step = tc_zeros(w->tc, TC_SCALAR, TC_F32);
    CHECK_EQ(tc_adamw_list_(NULL, NULL, NULL, NULL, -2, step, 0.1, 0.9, 0.999, 1e-8, 0),
             TC_E_ARG);
    return tc_null();
}
CASE(sgd_dtype) {
    tc_tensor t = zeros_of(w, 3, 4, TC_I32);
    return tc_sgd_(t, w->a, tc_null(), 0.1, 0, 0, 0);
}
CASE(custom_unknown) { return tc_custom(w->tc, 77, &w->a, 1); }
CASE(custom_count) {
    tc_tensor two[2];
    two[0] = two[1] = w->a;
    return tc_custom(w->tc, tc_op_named(w->tc, "user_op"), two, 2);
}
CASE(custom_null) { return call_op(w->tc, "user_op", tc_null()); }
CASE(custom_shape) { return call_op(w->tc, "user_shape", w->a); }
CASE(custom_rank) { return call_op(w->tc, "user_rank", w->a); }
CASE(custom_dtype) { return call_op(w->tc, "user_dtype", w->a); }
CASE(custom_run) {
    user_status = TC_E_IO;
    tc_tensor t = call_op(w->tc, "user_op", w->a);
    user_status = TC_OK;
    return t;
}
CASE(custom_run_odd) {
    user_status = 5;
    tc_tensor t = call_op(w->tc, "user_op", w->a);
    user_status = TC_OK;
    return t;
}
// In a region, which also writes its input in place.
CASE(custom_region) {
    user_status = TC_E_BACKEND;
    tc_trace_begin_at(w->tc, "user", NULL, "errors.c", 20);
    tc_mul_s_(w->a, 2);
    call_op(w->tc, "user_op", w->a);
    CHECK_EQ(tc_trace_end(w->tc), TC_E_BACKEND);
    user_status = TC_OK;
    return tc_null();
}
CASE(custom_text) { return call_op(w->tc, "user_text", w->a); }
static tc_tensor register_one(world *w, tc_custom_op op) {
    CHECK_EQ(tc_register_op(w->tc, &op), 0);
    return tc_null();
}
static tc_custom_op one_op(const char *name, tc_custom_run run) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = name, op.run = run;
    return op;
}
CASE(register_twice) { return register_one(w, one_op("user_op", user_run)); }
CASE(register_name) { return register_one(w, one_op("no name", user_run)); }
CASE(register_empty) { return register_one(w, one_op("empty", NULL)); }
CASE(register_null) { return register_one(w, one_op(NULL, user_run)); }
CASE(register_inputs) {
    tc_custom_op op = one_op("many", user_run);
    op.n_in = 1000;
    return register_one(w, op);
}
CASE(register_text) {
    tc_custom_op op = one_op("other_text", NULL);
    op.c_source = user_source;
    return register_one(w, op);
}
CASE(register_inside) {
    tc_trace_begin_at(w->tc, "register", NULL, "errors.c", 21);
    register_one(w, one_op("late", user_run));
    tc_trace_end(w->tc);
    return tc_null();
}
CASE(host_null) {
    CHECK_EQ(tc_host_call(w->tc, NULL, NULL, &w->a, 1), TC_E_NULL);
    return tc_null();
}
CASE(host_count) {
    CHECK_EQ(tc_host_call(w->tc, user_host, NULL, &w->a, 1000), TC_E_ARG);
    return tc_null();
}
CASE(host_fails) {
    user_status = TC_E_IO;
    CHECK_EQ(tc_host_call(w->tc, user_host, NULL, &w->a, 1), TC_E_IO);
    user_status = TC_OK;
    return tc_null();
}
CASE(host_fullgraph) {
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_trace_begin_at(w->tc, "closed", &o, "errors.c", 22);
    CHECK_EQ(tc_host_call(w->tc, user_host, NULL, &w->a, 1), TC_E_FULLGRAPH);
    CHECK_EQ(tc_error_line(w->tc), __LINE__ - 1);
    CHECK_EQ(tc_trace_end(w->tc), TC_E_FULLGRAPH);
    return tc_null();
}
CASE(region_end) {
    CHECK_EQ(tc_trace_end(w->tc), TC_E_REGION);
    return tc_null();
}
CASE(region_twice) {
    tc_trace_begin_at(w->tc, "twice", NULL, "errors.c", 6);
    tc_add_s(w->a, 1);
    tc_trace_begin_at(w->tc, "twice", NULL, "errors.c", 6);
    tc_trace_end(w->tc);
    return tc_null();
}
// Every entry refuses a thread that did not begin the open region, and the region goes on.
static void *stray(void *arg) {
    tc_tensor x = *(tc_tensor *)arg;
    tc_ctx *tc = tc__ctx_of(x);
    float out[64];
    CHECK_EQ(tc_trace_begin(tc, "mine"), TC_E_THREAD);
    CHECK_EQ(tc_trace_end(tc), TC_E_THREAD);
    CHECK_EQ(tc_read(x, out, sizeof out), TC_E_THREAD);
    CHECK_EQ(tc_tanh(x).id, 0);
    return NULL;
}
CASE(recompile_forbidden) {
    tc_set_stance(w->tc, TC_STANCE_FAIL_ON_RECOMPILE);
    tc_trace_begin_at(w->tc, "cold", NULL, "errors.c", 9);
    tc_neg(tc_zeros(w->tc, TC_DIMS(40), TC_F32));
    CHECK_EQ(tc_trace_end(w->tc), TC_E_RECOMPILE);
    tc_set_stance(w->tc, TC_STANCE_DEFAULT);
    return tc_null();
}

CASE(thread_other) {
    pthread_t other;
    tc_trace_begin_at(w->tc, "owned", NULL, "errors.c", 8);
    tc_tensor y = tc_add_s(w->a, 1);
    CHECK_EQ(pthread_create(&other, NULL, stray, &w->a), 0);
    CHECK_EQ(pthread_join(other, NULL), 0);
    CHECK_EQ(tc_trace_end(w->tc), TC_OK);
    CHECK(tc_sum_all(y).id != 0);
    return tc_null();
}
CASE(fullgraph) {
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    tc_trace_begin_at(w->tc, "whole", &o, "errors.c", 7);
    CHECK_EQ(tc_item(tc_sum_all(w->a)), 0);
    CHECK_EQ(tc_error_line(w->tc), __LINE__ - 1);
    tc_trace_end(w->tc);
    return tc_null();
}
CASE(touched) {
    float out[24];
    tc_tensor x = tc_full(w->tc, TC_DIMS(24), 2, TC_F32);
    tc_tensor y = tc_null();
    for (int k = 0; k < 10; k++) { // the first visits learn what is read late
        tc_trace_begin_at(w->tc, "touched", NULL, "errors.c", 8);
        y = tc_square(x);
        tc_neg(y);
        tc_trace_end(w->tc);
    }
    tc_add_s_(x, 1);
    CHECK_EQ(tc_read(y, out, sizeof out), TC_E_TOUCHED);
    return tc_null();
}
CASE(alias_expanded) {
    return tc_add_s_(tc_expand(tc_ones(w->tc, TC_DIMS(1, 4), TC_F32), TC_DIMS(3, 4)), 1);
}
CASE(alias_wrapped) {
    static float memory[8];
    int64_t strides[2] = {0, 1};
    tc_tensor t = tc_wrap_strided(w->tc, memory, TC_DIMS(2, 4), strides, TC_F32);
    return tc_fill_(t, 3);
}
CASE(alias_overlapping) {
    static float memory[8];
    int64_t strides[2] = {1, 1};
    return tc_add_s_(tc_wrap_strided(w->tc, memory, TC_DIMS(3, 3), strides, TC_F32), 1);
}
CASE(io_missing) { return tc_load_npy(w->tc, "/nonexistent/folder/x.npy"); }
CASE(io_save) {
    CHECK_EQ(tc_save_npy(w->a, "/nonexistent/folder/x.npy"), TC_E_IO);
    return tc_null();
}
CASE(format_magic) {
    return tc_load_npy(w->tc, file_of(w, "magic", "not a numpy file", 16));
}
CASE(format_short) {
    static const char head[] =
        "\x93NUMPY\x01\x00\x46\x00{'descr': '<f4', 'fortran_order': False, "
        "'shape': (1000,), }           \n1234";
    return tc_load_npy(w->tc, file_of(w, "short", head, sizeof head - 1));
}
CASE(unsupported_dtype) {
    static const char head[] =
        "\x93NUMPY\x01\x00\x46\x00{'descr': '<c8', 'fortran_order': False, "
        "'shape': (1,), }              \n12345678";
    return tc_load_npy(w->tc, file_of(w, "complex", head, sizeof head - 1));
}

// ---- the table: words are separated by | and must all be in the text ----
enum { EAGER_ONLY = 1 };
static const struct {
    tc_status item;
    case_run run;
    const char *name, *words;
    int flags;
} cases[] = {
#define ROW(item, name, words, flags)                                                      \
    { TC_E_##item, name, #name, words, flags }
    ROW(NOMEM, nomem_full, "full: out of memory", EAGER_ONLY),
    ROW(NOMEM, nomem_op, "matmul: out of memory", EAGER_ONLY),
    ROW(NOMEM, neg_nomem, "neg: out of memory", EAGER_ONLY),
    ROW(NOMEM, attention_nomem, "scaled_dot_product_attention: out of memory", EAGER_ONLY),
    ROW(SHAPE, attention_width, "q is f32[2, 5, 8], k f32[2, 6, 9], v f32[2, 6, 3]", 0),
    ROW(SHAPE, attention_rows, "q is f32[2, 5, 8], k f32[2, 6, 8], v f32[2, 7, 3]", 0),
    ROW(BROADCAST, attention_lead, "q is f32[2, 5, 8], k|v f32[4, 6, 3]", 0),
    ROW(RANK, attention_rank, "v f32[6]|v[..., S, F]", 0),
    ROW(DTYPE, attention_integers, "k i64[2, 6, 8]|floats", 0),
    ROW(DTYPE, attention_integer_values, "v i64[2, 6, 3]|floats", 0),
    ROW(NULL, attention_no_keys, "scaled_dot_product_attention: k is a null tensor", 0),
    ROW(BROADCAST, attention_mask, "mask is [2, 6, 5]|[2, 5, 6]", 0),
    ROW(BROADCAST, attention_mask_rank, "mask is [3, 2, 5, 6]|[2, 5, 6]", 0),
    ROW(DTYPE, attention_mask_integers, "mask is i32|bool|tc_ne_s", 0),
    ROW(ARG, attention_scale, "scaled_dot_product_attention: scale is nan|finite", 0),
    ROW(DTYPE, target_dtype, "cross_entropy: the target|f32", 0),
    ROW(BROADCAST, addmm_sum, "addmm: t is [3, 4]|[3, 3]", 0),
    ROW(NULL, norm_no_mean, "batch_norm: mean is a null tensor", 0),
    ROW(ARG, pool_kernel, "avg_pool2d: the kernel is 0", 0),
    ROW(ARG, one_hot_classes, "one_hot: -3 classes", 0),
    ROW(NOMEM, nomem_end, "", EAGER_ONLY),
    ROW(NULL, null_data, "from_data", 0),
    ROW(NULL, null_operand, "add", 0),
    ROW(NULL, null_strides, "strides", 0),
    ROW(DEAD, dead_operand, "add|errors.c", 0),
    ROW(DEAD, dead_garbage, "neg|never was one|initialised", 0),
    ROW(DEAD, dead_garbage_result, "neg|never was a tensor|initialised", 0),
    ROW(ALIAS, alias_wraps,
        "copy_: the f32 tensor made at|errors.c:|wraps some of the same memory",
        EAGER_ONLY),
    ROW(SHAPE, pad_negative, "pad|-9 and 2 leave dimension 0 of|negative size", 0),
    ROW(SHAPE, pad_with_negative, "pad_with|-9 and 2 leave dimension 0|negative size", 0),
    ROW(ARG, repeat_negative, "repeat_interleave|-1 repeats; 0 or more are needed", 0),
    ROW(ARG, tile_negative, "tile|-1 repeats of dimension 0; 0 or more are needed", 0),
    ROW(DEAD, dead_free, "free", 0),
    ROW(DEAD, dead_scope, "neg|scope", 0),
    ROW(FOREIGN, foreign, "mul|context", 0),
    ROW(DEVICE, device_unknown, "to|cuda:7|tc_cuda_open", 0),
    ROW(ARG, slice_step, "slice|step|0", 0),
    ROW(ARG, arange_step, "arange|step", 0),
    ROW(ARG, randint_range, "randint|5", 0),
    ROW(ARG, dropout_p, "dropout", 0),
    ROW(ARG, norm_eps, "layer_norm: eps is -1e-05, 0 or more", 0),
    ROW(ARG, running_eps, "batch_norm_running: eps is nan, 0 or more", 0),
    ROW(ARG, normalize_eps, "normalize: eps is nan, 0 or more", 0),
    ROW(ARG, split_zero, "split|0", 0),
    ROW(ARG, split_room, "split|3|2", 0),
    ROW(ARG, write_const, "add_s_|tc_const", 0),
    ROW(ARG, unaligned, "wrap|4", 0),
    ROW(ARG, read_size, "read|12|48", 0),
    ROW(ARG, data_of_view, "data|tc_contiguous", EAGER_ONLY),
    ROW(ARG, conv_stride, "conv2d|stride|-1", 0),
    ROW(DEAD, rsub_dead, "rsub_s|errors.c", EAGER_ONLY),
    ROW(DEAD, rdiv_dead, "rdiv_s|errors.c", EAGER_ONLY),
    ROW(DEAD, rpow_dead, "rpow_s|errors.c", EAGER_ONLY),
    ROW(SHAPE, conv1d_weight,
        "conv1d|[2, 3, 4]|[1, 4, 3]|x[N, C, L]|weight[O, C / groups, K]", 0),
    ROW(NULL, conv1d_no_weight, "conv1d|null", 0),
    ROW(SHAPE, conv1d_bias, "conv1d|[3]|[5]|[2, 3, 4]", 0),
    ROW(SHAPE, transposed_weight,
        "conv_transpose1d|[2, 3, 4]|[4, 3, 2]|x[N, C, L]|weight[C, O / groups, K]", 0),
    ROW(SHAPE, transposed_groups, "conv_transpose1d|groups 2|groups dividing C", 0),
    ROW(SHAPE, transposed_bias, "conv_transpose1d|[3]|[5]|[2, 3, 4]", 0),
    ROW(ARG, transposed_more, "conv_transpose1d|output_padding 2|less than stride", 0),
    ROW(ARG, transposed_stride, "conv_transpose2d|stride -2|at least 1", 0),
    ROW(SHAPE, transposed_nothing, "conv_transpose1d|4 elements|padding of 3|pad less", 0),
    ROW(TOO_BIG, transposed_far, "conv_transpose2d|elements", 0),
    ROW(SHAPE, transposed3d_weight,
        "conv_transpose3d|[1, 2, 3, 3, 3]|[4, 2, 2, 2, 2]|x[N, C, D, H, W]|weight[C, O / "
        "groups, KD, KH, KW]",
        0),
    ROW(ARG, transposed3d_more, "conv_transpose3d_with|output_padding 2|less than stride",
        0),
    ROW(SHAPE, transposed3d_empty, "conv_transpose3d|dimension -2 of x|no elements", 0),
    ROW(SHAPE, conv3d_weight, "conv3d|[1, 2, 3, 3, 3]|[4, 3, 2, 2, 2]|x[N, C, D, H, W]", 0),
    ROW(SHAPE, conv3d_window, "conv3d|a window of 2|over 1 elements|pad more", 0),
    ROW(ARG, conv_output_padding, "conv2d_with|output_padding[1] is 1|transposed", 0),
    ROW(ARG, resize_mode, "interpolate|9|TC_NEAREST|TC_LINEAR|TC_LINEAR_CORNERS", 0),
    ROW(ARG, pool_padding, "max_pool2d|padding 2|kernel 2", 0),
    ROW(DTYPE, pool_bool, "max_pool2d|bool|tc_cast", 0),
    ROW(DTYPE, pool_bool_wide, "max_pool2d|bool|tc_cast", 0),
    ROW(DEAD, dead_mask, "scaled_dot_product_attention|errors.c", EAGER_ONLY),
    ROW(TOO_BIG, far_pad, "pad|-9223372036854775808", 0),
    ROW(TOO_BIG, far_pad_sum, "pad|4611686018427387904", 0),
    ROW(TOO_BIG, far_tile, "tile|9223372036854775807", 0),
    ROW(TOO_BIG, far_repeat, "repeat_interleave|elements", 0),
    ROW(TOO_BIG, far_repeat_empty, "repeat_interleave|9223372036854775807", 0),
    ROW(SHAPE, far_reshape, "reshape|9223372036854775807", 0),
    ROW(TOO_BIG, far_conv, "conv2d|elements", 0),
    ROW(SHAPE, eye_rows, "eye|-9223372036854775808", 0),
    ROW(DTYPE, dtype_bits, "bitwise_and|f32", 0),
    ROW(DTYPE, dtype_shift, "bitwise_left_shift|bool", 0),
    ROW(DTYPE, dtype_bool, "sub|bool", 0),
    ROW(DTYPE, dtype_where, "where|f32", 0),
    ROW(DTYPE, dtype_index, "take|f32", 0),
    ROW(DTYPE, dtype_number, "full|77", 0),
    ROW(DTYPE, dtype_random, "randn|i32", 0),
    ROW(DTYPE, dtype_index_narrow, "take|i32 or i64|i16", 0),
    ROW(DTYPE, dtype_bits_half, "bitwise_and|bf16", 0),
    ROW(DTYPE, dtype_in_place, "mul_s_|i64|f32", 0),
    ROW(SHAPE, shape_matmul, "matmul|[3, 4]|[2, 5]|4 != 2", 0),
    ROW(SHAPE, shape_linear_bias, "linear: x is [4, 8]|[3, 8]|[5]|must be [3]", 0),
    ROW(SHAPE, shape_linear, "linear|[3, 4]|[2, 5]", 0),
    ROW(SHAPE, shape_reshape, "reshape|12|[3, 4]|[5, 3]", 0),
    ROW(SHAPE, shape_two_open, "reshape|-1", 0),
    ROW(SHAPE, shape_negative, "full|-3", 0),
    ROW(SHAPE, shape_cat, "cat|[3, 4]|[2, 5]", 0),
    ROW(SHAPE, shape_empty_max, "amax|empty", 0),
    ROW(SHAPE, shape_empty_argmin, "argmin|empty", 0),
    ROW(SHAPE, shape_unfold, "unfold|9|4", 0),
    ROW(SHAPE, shape_weight, "layer_norm|[2, 5]|4", 0),
    ROW(SHAPE, shape_groups, "group_norm|2|3", 0),
    ROW(SHAPE, shape_entropy, "cross_entropy|[2, 5]|[3]", 0),
    ROW(SHAPE, shape_item, "item|[3, 4]", 0),
    ROW(SHAPE, shape_pad, "pad|negative", 0),
    ROW(BROADCAST, broadcast_add, "add|[3, 4]|[2, 5]", 0),
    ROW(BROADCAST, broadcast_lower, "add|[7] and [3, 4] differ in dimension 1", 0),
    ROW(BROADCAST, broadcast_mask, "masked_fill|[5, 1] and [2, 3, 4] differ in dimension 1",
        0),
    ROW(BROADCAST, broadcast_where, "where", 0),
    ROW(BROADCAST, broadcast_expand, "expand|[3, 4]|[3, 8]", 0),
    ROW(BROADCAST, broadcast_in_place, "add_|[2, 3, 4]|[3, 4]", 0),
    ROW(RANK, rank_get, "get: 1 indices|[3, 4]|2 dimensions", 0),
    ROW(INDEX, index_get, "get: index -5|dimension 1|[3, 4]", 0),
    ROW(RANK, rank_t, "t:|[2, 3, 4]", 0),
    ROW(RANK, rank_dims, "full|9|8", 0),
    ROW(RANK, rank_pad, "pad|1|2", 0),
    ROW(RANK, rank_index_select, "index_select|2", 0),
    ROW(RANK, rank_take, "take|9|8", 0),
    ROW(RANK, rank_select, "select|scalar", 0),
    ROW(RANK, rank_norm, "batch_norm|[3]", 0),
    ROW(DIM, dim_sum, "sum|2|-2..1", 0),
    ROW(DIM, dim_low, "softmax|-3", 0),
    ROW(DIM, dim_twice, "sum|1|twice", 0),
    ROW(DIM, dim_permute, "permute|0", 0),
    ROW(DIM, dim_size, "dim|7", 0),
    ROW(DIM, dim_flatten, "flatten|1|0", 0),
    ROW(INDEX, index_select_out, "select|4|1", 0),
    ROW(INDEX, index_narrow, "narrow|2|0|3", 0),
    ROW(INDEX, index_take, "take|5|3", 0),
    ROW(TOO_BIG, too_big, "full", 0),
    ROW(TOO_BIG, too_big_strides, "wrap_strided|stride", 0),
    ROW(TOO_BIG, too_big_expand, "expand", 0),
    ROW(TOO_BIG, too_big_outer, "", EAGER_ONLY),
    ROW(STATE, state_scope, "tc_scope_end|tc_scope_begin", 0),
    ROW(STATE, state_seed, "tc_manual_seed|region", EAGER_ONLY),
    ROW(DIM, cumsum_dim, "cumsum|2|-2..1", 0),
    ROW(DIM, argsort_dim, "argsort|-3", 0),
    ROW(DIM, sort_dim, "sort|5", 0),
    ROW(ARG, topk_many, "topk|5|[3, 4]|4 elements", 0),
    ROW(ARG, topk_negative, "topk|-1", 0),
    ROW(ARG, topk_scalar, "topk|2|scalar", 0),
    ROW(DTYPE, scatter_index, "scatter|f32|i64", 0),
    ROW(DTYPE, scatter_dtype, "scatter|f64|f32|tc_cast", 0),
    ROW(SHAPE, scatter_src, "scatter|[2, 4]|[1, 4]|[3, 4]|slice", 0),
    ROW(SHAPE, scatter_outside, "scatter_add|[2, 5]|[3, 4]", 0),
    ROW(SHAPE, scatter_rank, "scatter|[2]|[3, 4]", 0),
    ROW(SHAPE, scatter_scalar, "scatter|[1, 1]", 0),
    ROW(DTYPE, scatter_bool, "scatter_add|bool|tc_cast", 0),
    ROW(INDEX, scatter_place, "scatter_add|index 3|size 3", EAGER_ONLY),
    ROW(RANK, index_add_rank, "index_add|[1, 3]|one dimension", 0),
    ROW(SHAPE, index_add_src, "index_add|[3]|[3, 4]", 0),
    ROW(SHAPE, adamw_sizes, "adamw_|grad|[2, 5]|[3, 4]", 0),
    ROW(SHAPE, adamw_step, "adamw_|step|[3, 4]|scalar", 0),
    ROW(NULL, adamw_null, "adamw_|exp_avg|null", 0),
    ROW(ARG, adamw_list_count, "adamw_list_|-2", 0),
    ROW(DTYPE, sgd_dtype, "sgd_|parameter|i32", 0),
    ROW(ARG, custom_unknown, "tc_custom|77|tc_register_op", 0),
    ROW(ARG, custom_count, "user_op|2 inputs|has 1", 0),
    ROW(NULL, custom_null, "user_op|input 0|null", 0),
    ROW(SHAPE, custom_shape, "user_shape|TC_E_SHAPE|f32[3, 4]", 0),
    ROW(RANK, custom_rank, "user_rank|shape|12", 0),
    ROW(DTYPE, custom_dtype, "user_dtype|99", 0),
    ROW(IO, custom_run, "user_op|returned TC_E_IO", EAGER_ONLY),
    ROW(ARG, custom_run_odd, "user_op|5|no status", EAGER_ONLY),
    ROW(BACKEND, custom_region, "user_op|returned TC_E_BACKEND", EAGER_ONLY),
    ROW(COMPILER, custom_text, "user_text|c_source|run", EAGER_ONLY),
    ROW(ARG, register_twice, "tc_register_op|user_op|already", EAGER_ONLY),
    ROW(ARG, register_name, "no name|identifier", EAGER_ONLY),
    ROW(NULL, register_empty, "empty|neither run nor c_source", EAGER_ONLY),
    ROW(NULL, register_null, "tc_register_op|name is null", EAGER_ONLY),
    ROW(ARG, register_inputs, "many|1000|64", EAGER_ONLY),
    ROW(ARG, register_text, "other_text|no function", EAGER_ONLY),
    ROW(STATE, register_inside, "tc_register_op|region", EAGER_ONLY),
    ROW(NULL, host_null, "host_call|function", 0),
    ROW(ARG, host_count, "host_call|1000|64", 0),
    ROW(IO, host_fails, "host_call|TC_E_IO", 0),
    ROW(FULLGRAPH, host_fullgraph, "host_call|closed|fullgraph", EAGER_ONLY),
    ROW(REGION, region_end, "tc_trace_end|tc_trace_begin", EAGER_ONLY),
    ROW(REGION, region_twice, "twice|errors.c|6", EAGER_ONLY),
    ROW(THREAD, thread_other, "tc_trace_begin|owned|errors.c|8|thread", EAGER_ONLY),
    ROW(RECOMPILE, recompile_forbidden, "cold|errors.c|9|stance", EAGER_ONLY),
    ROW(FULLGRAPH, fullgraph, "item|whole|fullgraph", EAGER_ONLY),
    ROW(TOUCHED, touched, "touched|errors.c|tc_keep", EAGER_ONLY),
    ROW(ALIAS, alias_expanded, "add_s_|expanded|tc_clone", 0),
    ROW(ALIAS, alias_wrapped, "fill_|tc_clone", 0),
    ROW(ALIAS, alias_overlapping, "add_s_|strides of the destination overlap|tc_clone", 0),
    ROW(IO, io_missing, "load_npy|/nonexistent/folder/x.npy|No such file", 0),
    ROW(IO, io_save, "save_npy|/nonexistent/folder/x.npy", EAGER_ONLY),
    ROW(FORMAT, format_magic, "magic", 0),
    ROW(FORMAT, format_short, "short", 0),
    ROW(UNSUPPORTED, unsupported_dtype, "load_npy|complex|convert to|int8|float16", 0),
};

// Rows that no public call can reach, and why.
static const struct {
    tc_status item;
    const char *reason;
} unreachable[] = {
    {TC_E_CACHE, "an unusable cache is a log line and a rebuild (tests/fault)"},
    {TC_E_VERSION, "no file format of ours is read yet"},
    {TC_E_INTERNAL, "bugs of the library"},
};

static int has_words(const char *text, const char *words) {
    char word[64];
    while (*words) {
        size_t n = strcspn(words, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (!strstr(text, word)) return 0;
        words += n + (words[n] == '|');
    }
    return 1;
}

static void check_unharmed(world *w, const char *name) {
    float a[12];
    int64_t i[3];
    tc_error_clear(w->tc);
    int ok = tc_read(w->a, a, sizeof a) == TC_OK && tc_read(w->i, i, sizeof i) == TC_OK;
    for (int k = 0; k < 12; k++) ok = ok && a[k] == (float)k;
    for (int k = 0; k < 3; k++) ok = ok && i[k] == k;
    if (!ok) FAIL("%s: an input changed or cannot be read: %s", name, tc_error_text(w->tc));
    tc_tensor s = tc_sum_all(tc_add(w->a, w->a));
    if (tc_item(s) != 132 || tc_error(w->tc))
        FAIL("%s: eager work fails afterwards: %s", name, tc_error_text(w->tc));
    tc_trace_begin_at(w->tc, "after", NULL, "errors.c", 99);
    s = tc_sum_all(tc_mul_s(w->a, 2));
    if (tc_trace_end(w->tc) || tc_item(s) != 132)
        FAIL("%s: a region fails afterwards: %s", name, tc_error_text(w->tc));
}

static void run_case(int n, int region) {
    world w;
    const char *name = cases[n].name, *how = region ? "region" : "eager";
    open_world(&w);
    if (!CHECK(w.tc && w.other && w.a.id && !tc_error(w.tc))) return;
    if (region) tc_trace_begin_at(w.tc, "case", NULL, "errors.c", 1);
    w.region = region;
    tc_tensor before = region ? tc_add_s(w.a, 1) : tc_null();
    tc_tensor t = cases[n].run(&w);
    w.fail_after = -1;
    tc_status item = tc_error(w.tc);
    if (item != cases[n].item)
        FAIL("%s (%s): %s \"%s\", not %s", name, how,
             item ? tc_status_name(item) : "no error", tc_error_text(w.tc),
             tc_status_name(cases[n].item));
    else if (!has_words(tc_error_text(w.tc), cases[n].words))
        FAIL("%s (%s): \"%s\" lacks one of \"%s\"", name, how, tc_error_text(w.tc),
             cases[n].words);
    if (t.id) FAIL("%s (%s): a tensor came back", name, how);
    // The first error stays.
    tc_reshape(w.b, TC_DIMS(7));
    if (item && tc_error(w.tc) != item)
        FAIL("%s (%s): a later error took its place", name, how);
    if (w.region) {
        tc_trace_end(w.tc);
        tc_error_clear(w.tc);
        float out[12];
        if (tc_read(before, out, sizeof out) || out[3] != 4)
            FAIL("%s: valid work of the region is lost: %s", name, tc_error_text(w.tc));
    }
    check_unharmed(&w, name);
    close_world(&w);
    if (w.folder[0]) {
        char path[128];
        static const char *const files[] = {"magic", "short", "complex"};
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            snprintf(path, sizeof path, "%s/%s", w.folder, files[k]);
            unlink(path);
        }
        rmdir(w.folder);
    }
}

static int cases_named(const char *part, int region) {
    int ran = 0;
    for (size_t n = 0; n < sizeof cases / sizeof *cases; n++) {
        if (strcmp(tc_status_name(cases[n].item) + 5, part) != 0) continue;
        if (region && cases[n].flags & EAGER_ONLY) continue;
        run_case((int)n, region);
        ran++;
    }
    return ran;
}

// One test per row and way, so that a crash is one row's.
#define ERR(ID, doc)                                                                       \
    TEST(eager_##ID) {                                                                     \
        if (!cases_named(#ID, 0)) SKIP("not reachable, see the list");                     \
    }                                                                                      \
    TEST(region_##ID) {                                                                    \
        if (!cases_named(#ID, 1)) SKIP("not reachable inside a region");                   \
    }
#include "tables/errors.def"
#undef ERR

static int listed(tc_status item) {
    int n = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) n += cases[i].item == item;
    for (size_t i = 0; i < sizeof unreachable / sizeof *unreachable; i++)
        n += unreachable[i].item == item;
    return n;
}

TEST(every_row_has_a_case_or_a_reason) {
#define ERR(ID, doc)                                                                       \
    if (!listed(TC_E_##ID)) FAIL("TC_E_" #ID " has neither a case nor a reason");
#include "tables/errors.def"
#undef ERR
    for (size_t i = 0; i < sizeof unreachable / sizeof *unreachable; i++)
        for (size_t k = 0; k < sizeof cases / sizeof *cases; k++)
            if (cases[k].item == unreachable[i].item)
                FAIL("%s has a case, so it is reachable",
                     tc_status_name(unreachable[i].item));
}

TEST(every_row_has_a_name_and_a_doc) {
#define ERR(ID, doc)                                                                       \
    CHECK_STR(tc_status_name(TC_E_##ID), "TC_E_" #ID);                                     \
    CHECK_STR(tc_status_doc(TC_E_##ID), doc);
#include "tables/errors.def"
#undef ERR
    CHECK(tc_status_name(-1000) != NULL && tc_status_doc(-1000) != NULL);
    CHECK(tc_error(NULL) == TC_E_NULL);
    CHECK(tc_error_text(NULL) != NULL);
}

// What is printed with %s is never NULL, but where a header says what that means: those are all the others.
TEST(texts_are_never_null) {
    tc_ctx *tc = tc_open(NULL);
    for (int i = 0; i < 2; i++) {
        tc_ctx *c = i ? tc : NULL;
        CHECK_STR(tc_error_text(c), "");
        CHECK_STR(tc_error_file(c), "");
        CHECK_EQ(tc_error_line(c), 0);
        CHECK(tc_explain(c) && tc_profile_text(c));
        tc_error_clear(tc); // that there is no context
    }
    CHECK_STR(tc_params_text(NULL), "");
    CHECK_STR(tc_params_unmatched(NULL), "");
    tc_error_clear(tc);
    CHECK_STR(tc_miss_text(NULL), "");
    CHECK_STR(tc_dtype_name((tc_dtype)99), "?");
    CHECK(tc_version() && tc_status_name((tc_status)1) && tc_status_doc((tc_status)1));
    tc_params *p = tc_params_open(tc);
    CHECK(tc_params_text(p) && *tc_params_text(p));
    CHECK_STR(tc_params_unmatched(p), "");
    tc_params_close(p);
    tc_add_at(tc_ones(tc, TC_DIMS(2), TC_F32), tc_ones(tc, TC_DIMS(3), TC_F32), NULL, 0);
    CHECK(tc_error(tc) && *tc_error_text(tc));
    CHECK_STR(tc_error_file(tc), "?");
    tc_error_clear(tc);
    tc_close(tc);
}

TEST(an_error_names_its_caller) {
    world w;
    open_world(&w);
    tc_add(w.a, w.b);
    int line = __LINE__ - 1;
    CHECK_EQ(tc_error_line(w.tc), line);
    CHECK(strstr(tc_error_file(w.tc), "errors.c"));
    tc_error_clear(w.tc);
    CHECK_EQ(tc_error(w.tc), TC_OK);
    CHECK_STR(tc_error_text(w.tc), "");
    CHECK_STR(tc_error_file(w.tc), "");
    CHECK_EQ(tc_error_line(w.tc), 0);
    tc_softmax(w.a, 9); // a call made of several
    CHECK_EQ(tc_error_line(w.tc), __LINE__ - 1);
    close_world(&w);
}

// ---- a call made of several ops has one name ----
// Each fails in an op that it calls, or in a check of its own.
#define MISUSES(X)                                                                         \
    X(sum, tc_sum(w->a, 9))                                                                \
    X(mean, tc_mean(w->a, 9))                                                              \
    X(amax, tc_amax(tc_slice(w->a, 0, 0, 0, 1), 0))                                        \
    X(argmin, tc_argmin(tc_slice(w->a, 0, 0, 0, 1), 0))                                    \
    X(logsumexp, tc_logsumexp(w->a, 9))                                                    \
    X(var, tc_var(w->a, 9, 1))                                                             \
    X(std, tc_std(w->a, 9, 1))                                                             \
    X(norm, tc_norm(w->a, 9, 2))                                                           \
    X(softmax, tc_softmax(w->a, 9))                                                        \
    X(log_softmax, tc_log_softmax(w->a, 9))                                                \
    X(layer_norm, tc_layer_norm(w->a, w->b, none, 0))                                      \
    X(rms_norm, tc_rms_norm(w->a, w->b, 0))                                                \
    X(group_norm, tc_group_norm(w->q, 2, none, none, 0))                                   \
    X(batch_norm, tc_batch_norm(w->q, w->b, w->b, none, none, 0))                          \
    X(normalize, tc_normalize(w->a, 2, 9, 0))                                              \
    X(cosine_similarity, tc_cosine_similarity(w->a, w->b, 0, 0))                           \
    X(dropout, tc_dropout(w->a, 2))                                                        \
    X(mse_loss, tc_mse_loss(w->a, w->b))                                                   \
    X(l1_loss, tc_l1_loss(w->a, w->b))                                                     \
    X(bce_with_logits, tc_bce_with_logits(w->a, w->b))                                     \
    X(cross_entropy, tc_cross_entropy(w->a, tc_to_f32(w->i)))                              \
    X(cross_entropy_ignore, tc_cross_entropy_ignore(w->a, tc_to_f32(w->i), 1))             \
    X(matmul, tc_matmul(w->a, w->b))                                                       \
    X(linear, tc_linear(w->a, tc_ones(w->tc, TC_DIMS(2, 4), TC_F32), w->b))                \
    X(addmm, tc_addmm(w->b, w->a, tc_t(w->a), 2, 2))                                       \
    X(bmm, tc_bmm(w->q, w->q))                                                             \
    X(dot, tc_dot(w->a, w->b))                                                             \
    X(outer, tc_outer(w->a, w->b))                                                         \
    X(scaled_dot_product_attention,                                                        \
      tc_scaled_dot_product_attention(w->a, w->a, w->a, w->b, 0, 0))                       \
    X(conv2d, tc_conv2d(w->q, w->q, none, 1, 0, 1, 1))                                     \
    X(conv1d, tc_conv1d(w->q, w->a, none, 1, 0, 1, 1))                                     \
    X(conv3d, tc_conv3d(w->q, w->q, none, 1, 0, 1, 1))                                     \
    X(conv_transpose2d, tc_conv_transpose2d(w->q, w->q, none, 1, 0, 0, 1, 1))              \
    X(conv_transpose3d, tc_conv_transpose3d(w->q, w->q, none, 1, 0, 0, 1, 1))              \
    X(conv_transpose1d, tc_conv_transpose1d(w->q, w->a, none, 1, 0, 0, 1, 1))              \
    X(avg_pool2d, tc_avg_pool2d(w->a, 9, 1, 0))                                            \
    X(max_pool2d, tc_max_pool2d(w->a, 9, 1, 0))                                            \
    X(cumsum, tc_cumsum(w->a, 9))                                                          \
    X(cumprod, tc_cumprod(w->a, 9))                                                        \
    X(argsort, tc_argsort(w->a, 9, 0))                                                     \
    X(scatter, tc_scatter(w->a, 0, tc_to_i64(w->a), tc_to_i32(w->a)))                      \
    X(scatter_add, tc_scatter_add(w->a, 0, w->a, w->a))                                    \
    X(index_add, tc_index_add(w->a, 0, tc_to_f32(w->i), w->a))                             \
    X(take, tc_take(w->a, w->a, 0))                                                        \
    X(index_select, tc_index_select(w->a, 0, tc_to_f32(w->i)))                             \
    X(embedding, tc_embedding(w->a, w->a))                                                 \
    X(gather, tc_gather(w->a, 0, w->a))                                                    \
    X(one_hot, tc_one_hot(w->i, -1))                                                       \
    X(tril, tc_tril(w->i, 0))                                                              \
    X(triu, tc_triu(w->i, 0))                                                              \
    X(masked_fill, tc_masked_fill(w->a, w->b, 0))                                          \
    X(clamp, tc_clamp(dead_one(w), 0, 1))                                                  \
    X(clamp_min, tc_clamp_min(dead_one(w), 0))                                             \
    X(clamp_max, tc_clamp_max(dead_one(w), 1))                                             \
    X(copy_, tc_copy_(w->a, w->b))                                                         \
    X(fill_, tc_fill_(tc_expand(w->a, TC_DIMS(2, 3, 4)), 0))                               \
    X(add_, tc_add_(w->a, w->b))                                                           \
    X(mul_s_, tc_mul_s_(tc_expand(w->a, TC_DIMS(2, 3, 4)), 2))                             \
    X(exp_, tc_exp_(w->i))                                                                 \
    X(clamp_, tc_clamp_(tc_expand(w->a, TC_DIMS(2, 3, 4)), 0, 1))                          \
    X(masked_fill_, tc_masked_fill_(w->a, w->b, 0))                                        \
    X(select, tc_select(w->a, 0, 9))                                                       \
    X(narrow, tc_narrow(w->a, 0, 2, 2))                                                    \
    X(flip, tc_flip(w->a, TC_DIMS(9)))                                                     \
    X(roll, tc_roll(w->a, 1, 9))                                                           \
    X(pad, tc_pad(w->a, TC_DIMS(-9, 0), TC_DIMS(0, 0), 0))                                 \
    X(pad_with, tc_pad_with(w->a, TC_DIMS(9, 0), TC_DIMS(0, 0), TC_PAD_REFLECT))           \
    X(interpolate, tc_interpolate(w->a, TC_DIMS(0), TC_LINEAR))                            \
    X(cat, tc_cat(pair(w->a, w->b), 2, 0))                                                 \
    X(stack, tc_stack(pair(w->a, w->b), 2, 0))                                             \
    X(unfold, tc_unfold(deep(w), 0, 1, 1))                                                 \
    X(tile, tc_tile(w->a, TC_DIMS(-1, 1)))                                                 \
    X(repeat_interleave, tc_repeat_interleave(w->a, INT64_C(1) << 57, 0))                  \
    X(unsqueeze, tc_unsqueeze(deep(w), 0))                                                 \
    X(t, tc_t(w->q))                                                                       \
    X(eye, tc_eye(w->tc, -1, 1, TC_F32))                                                   \
    X(arange, tc_arange(w->tc, 0, 1, 0, TC_F32))                                           \
    X(rand, tc_rand(w->tc, TC_DIMS(-1), TC_F32))                                           \
    X(randn, tc_randn(w->tc, TC_DIMS(-1), TC_F16))                                         \
    X(randint, tc_randint(w->tc, 0, 9, TC_DIMS(-1), TC_I32))                               \
    X(full, tc_full(w->tc, TC_DIMS(-1), 1, TC_F32))

static const tc_tensor none = {0};
static const tc_tensor *pair(tc_tensor a, tc_tensor b) {
    static tc_tensor list[2];
    list[0] = a, list[1] = b;
    return list;
}
static tc_tensor deep(world *w) {
    return tc_reshape(w->i, TC_DIMS(3, 1, 1, 1, 1, 1, 1, 1));
}
#define MISUSE(name, call)                                                                 \
    static tc_tensor misuse_##name(world *w) { return call; }
MISUSES(MISUSE)
static const struct {
    const char *name;
    case_run run;
} misuses[] = {
#define MISUSE_ROW(name, call) {#name, misuse_##name},
    MISUSES(MISUSE_ROW)};

static void check_misuse(world *w, int k, const char *where) {
    char want[64];
    tc_tensor t = misuses[k].run(w);
    snprintf(want, sizeof want, "%s: ", misuses[k].name);
    if (t.id || strncmp(tc_error_text(w->tc), want, strlen(want)) != 0)
        FAIL("%s, %s: \"%s\"", misuses[k].name, where, tc_error_text(w->tc));
    tc_error_clear(w->tc);
    tc_add(w->a, w->b); // and the name goes with the call
    if (strncmp(tc_error_text(w->tc), "add: ", 5) != 0)
        FAIL("after %s, %s: \"%s\"", misuses[k].name, where, tc_error_text(w->tc));
    tc_error_clear(w->tc);
}

TEST(an_error_bears_the_name_of_the_call) {
    world w;
    open_world(&w);
    for (int k = 0; k < (int)(sizeof misuses / sizeof *misuses); k++) {
        check_misuse(&w, k, "eager");
        tc_trace_begin_at(w.tc, misuses[k].name, NULL, "errors.c", 9);
        check_misuse(&w, k, "region");
        tc_trace_end(w.tc);
        tc_error_clear(w.tc);
    }
    close_world(&w);
}

// Calls of several ops are those that open a frame by tc__begin and name themselves there.
TEST(every_call_of_several_ops_is_misused) {
    static const char *const files[] = {"compose", "product", "rows", "move", "scalar"};
    static const char *const ways[] = {"tc__begin(&f, \"", "tc__begin_along(&f, \""};
    static const char *const others[] = {"sort", "topk"}; // give a status; rows above
    static char text[200000];
    for (int i = 0; i < 5; i++) {
        char path[64];
        snprintf(path, sizeof path, "gen/graph/%s.c", files[i]);
        FILE *f = fopen(path, "r");
        if (!f) SKIP("not run in the folder of the project");
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        for (int way = 0; way < 2; way++)
            for (const char *p = text; (p = strstr(p, ways[way])) != NULL;) {
                p += strlen(ways[way]);
                size_t n = strcspn(p, "\"");
                int known = 0;
                for (size_t k = 0; k < sizeof misuses / sizeof *misuses; k++)
                    known |=
                        strlen(misuses[k].name) == n && !strncmp(misuses[k].name, p, n);
                for (size_t k = 0; k < sizeof others / sizeof *others; k++)
                    known |= strlen(others[k]) == n && !strncmp(others[k], p, n);
                if (!known) FAIL("%.*s has no row in MISUSES", (int)n, p);
            }
    }
}

// A null operand gives null all the way, and only the first error counts.
TEST(null_goes_through) {
    world w;
    open_world(&w);
    tc_tensor t = tc_matmul(w.a, w.b);
    t = tc_softmax(tc_add(tc_t(t), tc_null()), -1);
    t = tc_layer_norm(t, w.a, w.a, 1e-5);
    CHECK(tc_is_null(tc_cross_entropy(t, w.i)));
    CHECK_EQ(tc_error(w.tc), TC_E_SHAPE);
    CHECK(strstr(tc_error_text(w.tc), "matmul") != NULL);
    close_world(&w);
}

// Bits that no call gave: of every context, epoch and place, as each operand, eagerly and in a region.
TEST(handles_that_nobody_made) {
    static const uint64_t contexts[] = {0, 1, 2, 255}, epochs[] = {0, 1, 63, UINT32_MAX},
                          slots[] = {0, 1, 5, 0x7fffff, 0x800000, 0x800005, 0xffffff};
    world w;
    open_world(&w);
    for (int i = 0; i < 2 * 4 * 4 * 7; i++) {
        tc_tensor t;
        t.id = contexts[i / 28 % 4] << 56 | epochs[i / 7 % 4] << 24 | slots[i % 7];
        if (i / 112) tc_trace_begin(w.tc, "forged");
        tc_tensor y = tc_add(w.a, t), z = tc_mul(t, w.a);
        tc_contiguous(t), tc_transpose(t, 0, 1), tc_keep(t);
        if (i / 112) tc_trace_end(w.tc);
        // An epoch and slot may be those of a tensor of ours.
        if (!y.id) CHECK(tc_error(w.tc) != TC_OK);
        if (z.id) tc_free(z);
        if (y.id) tc_free(y);
        if (i / 7 % 4 != 1) (void)tc_item(t), tc_free(t);
        tc_error_clear(w.tc);
        tc_error_clear(w.other);
    }
    close_world(&w);
}

// The packed header keeps the blanks of what the preprocessor says.
TEST(errors_of_the_preprocessor_are_whole) {
    char line[1000];
    int found = 0;
    FILE *f = fopen("tcompile.h", "r");
    if (!f) SKIP("tcompile.h is elsewhere");
    while (fgets(line, sizeof line, f)) {
        found +=
            strstr(line, "_GNU_SOURCE. Fix: include tcompile.h first in the one") != NULL;
        found += strstr(line, "or compile that file with -D_GNU_SOURCE.\"") != NULL;
    }
    fclose(f);
    CHECK_EQ(found, 2);
}
