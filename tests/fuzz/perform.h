// What a fuzzed program may do: one concrete call of the public API per `call`. perform() runs
// it and can print it as C at the same time, so that a reproducer is what was run.
#ifndef FUZZ_PERFORM_H
#define FUZZ_PERFORM_H
#include "numbers.h"

enum { MAX_VALUES = 160, MAX_LIST = 4 };

// ---- tables of functions ----
typedef tc_tensor (*unary_fn)(tc_tensor, const char *, int);
typedef tc_tensor (*binary_fn)(tc_tensor, tc_tensor, const char *, int);
typedef tc_tensor (*ternary_fn)(tc_tensor, tc_tensor, tc_tensor, const char *, int);
typedef tc_tensor (*scalar_fn)(tc_tensor, double, const char *, int);
typedef tc_tensor (*reduce_fn)(tc_tensor, tc_dims, int, const char *, int);
typedef tc_tensor (*along_fn)(tc_tensor, int, const char *, int);

// What operands an op wants.
enum { ANY, NUMBER, INTEGER, SHIFT, TRUTH };

#define F(name) #name, tc_##name##_at
static const struct {
    const char *name;
    unary_fn fn;
    int wants;
    double low, high; // operands are clamped to this, so that results stay finite
} unary_ops[] = {
    {F(neg), NUMBER, -1e6, 1e6},
    {F(abs), NUMBER, -1e6, 1e6},
    {F(sign), NUMBER, -1e6, 1e6},
    {F(square), NUMBER, -1e3, 1e3},
    {F(reciprocal), ANY, 0.05, 1e6},
    {F(sqrt), ANY, 0, 1e6},
    {F(rsqrt), ANY, 1e-3, 1e6},
    {F(exp), ANY, -20, 8},
    {F(exp2), ANY, -20, 10},
    {F(expm1), ANY, -20, 8},
    {F(log), ANY, 1e-3, 1e6},
    {F(log2), ANY, 1e-3, 1e6},
    {F(log10), ANY, 1e-3, 1e6},
    {F(log1p), ANY, -0.9, 1e6},
    {F(sin), ANY, -100, 100},
    {F(cos), ANY, -100, 100},
    {F(tan), ANY, -1.3, 1.3},
    {F(asin), ANY, -1, 1},
    {F(acos), ANY, -1, 1},
    {F(atan), ANY, -1e6, 1e6},
    {F(sinh), ANY, -6, 6},
    {F(cosh), ANY, -6, 6},
    {F(tanh), ANY, -1e6, 1e6},
    {F(erf), ANY, -1e6, 1e6},
    {F(sigmoid), ANY, -1e6, 1e6},
    {F(relu), NUMBER, -1e6, 1e6},
    {F(gelu), ANY, -1e3, 1e3},
    {F(gelu_tanh), ANY, -1e3, 1e3},
    {F(silu), ANY, -1e6, 1e6},
    {F(softplus), ANY, -1e6, 1e6},
    {F(floor), NUMBER, -1e6, 1e6},
    {F(ceil), NUMBER, -1e6, 1e6},
    {F(round), NUMBER, -1e6, 1e6},
    {F(trunc), NUMBER, -1e6, 1e6},
    {F(isnan), ANY, -1e30, 1e30},
    {F(isfinite), ANY, -1e30, 1e30},
    {F(logical_not), ANY, -1e30, 1e30},
    {F(bitwise_not), INTEGER, -1e30, 1e30},
    {F(contiguous), ANY, -1e30, 1e30},
    {F(clone), ANY, -1e30, 1e30},
    {F(squeeze_all), ANY, -1e30, 1e30},
    {F(sum_all), ANY, -1e3, 1e3},
    {F(mean_all), ANY, -1e3, 1e3},
};

static const struct {
    const char *name;
    binary_fn fn;
    int wants;
    double low, high;   // of both operands
    double low2, high2; // of the second, tighter; equal = as above
} binary_ops[] = {
    {F(add), ANY, -1e6, 1e6, 0, 0},
    {F(sub), NUMBER, -1e6, 1e6, 0, 0},
    {F(mul), ANY, -1e3, 1e3, 0, 0},
    {F(add), ANY, -1e6, 1e6, 0, 0},
    {F(mul), ANY, -1e3, 1e3, 0, 0},
    {F(div), ANY, -1e6, 1e6, 0.1, 1e6},
    {F(floor_divide), NUMBER, -1e6, 1e6, 0.1, 1e6},
    {F(remainder), NUMBER, -1e6, 1e6, 0.1, 1e6},
    {F(fmod), NUMBER, -1e6, 1e6, 0.1, 1e6},
    {F(pow), NUMBER, 0.1, 8, -3, 3},
    {F(atan2), ANY, -1e6, 1e6, 0, 0},
    {F(maximum), ANY, -1e30, 1e30, 0, 0},
    {F(minimum), ANY, -1e30, 1e30, 0, 0},
    {F(eq), ANY, -1e30, 1e30, 0, 0},
    {F(ne), ANY, -1e30, 1e30, 0, 0},
    {F(lt), ANY, -1e30, 1e30, 0, 0},
    {F(le), ANY, -1e30, 1e30, 0, 0},
    {F(gt), ANY, -1e30, 1e30, 0, 0},
    {F(ge), ANY, -1e30, 1e30, 0, 0},
    {F(logical_and), ANY, -1e30, 1e30, 0, 0},
    {F(logical_or), ANY, -1e30, 1e30, 0, 0},
    {F(logical_xor), ANY, -1e30, 1e30, 0, 0},
    {F(bitwise_and), INTEGER, -1e30, 1e30, 0, 0},
    {F(bitwise_or), INTEGER, -1e30, 1e30, 0, 0},
    {F(bitwise_xor), INTEGER, -1e30, 1e30, 0, 0},
    {F(bitwise_left_shift), SHIFT, -1e30, 1e30, 0, 0},
    {F(bitwise_right_shift), SHIFT, -1e30, 1e30, 0, 0},
};

static const struct {
    const char *name;
    scalar_fn fn;
    int wants;
    double low, high;
    double s, t; // scalars are taken from [s, t]
} scalar_ops[] = {
    {F(add_s), ANY, -1e6, 1e6, -9, 9},
    {F(sub_s), ANY, -1e6, 1e6, -9, 9},
    {F(mul_s), ANY, -1e6, 1e6, -3, 3},
    {F(div_s), ANY, -1e6, 1e6, 0.5, 9},
    {F(floor_divide_s), NUMBER, -1e6, 1e6, 0.5, 9},
    {F(remainder_s), NUMBER, -1e6, 1e6, 0.5, 9},
    {F(fmod_s), NUMBER, -1e6, 1e6, 0.5, 9},
    {F(pow_s), NUMBER, 0.1, 20, -2, 3},
    {F(maximum_s), ANY, -1e6, 1e6, -3, 3},
    {F(minimum_s), ANY, -1e6, 1e6, -3, 3},
    {F(gt_s), ANY, -1e30, 1e30, -3, 3},
    {F(le_s), ANY, -1e30, 1e30, -3, 3},
    {F(eq_s), ANY, -1e30, 1e30, -3, 3},
    {F(rsub_s), ANY, -1e6, 1e6, -9, 9},
    {F(rdiv_s), ANY, 0.1, 1e6, -9, 9},
    {F(rpow_s), ANY, -3, 3, 0.1, 3},
};
#undef F
#define F(name) #name, tc_##name##_dims_at
static const struct {
    const char *name;
    reduce_fn fn;
    int wants;
    double low, high;
} reduce_ops[] = {
    {F(sum), ANY, -1e4, 1e4},         {F(mean), ANY, -1e4, 1e4},
    {F(amax), NUMBER, -1e30, 1e30},   {F(amin), NUMBER, -1e30, 1e30},
    {F(prod), ANY, 0.7, 1.3},         {F(any), ANY, -1e30, 1e30},
    {F(all), ANY, -1e30, 1e30},       {F(argmax), NUMBER, -1e30, 1e30},
    {F(argmin), NUMBER, -1e30, 1e30}, {F(logsumexp), ANY, -1e3, 1e3},
    {F(sum), ANY, -1e4, 1e4},         {F(amax), NUMBER, -1e30, 1e30},
};
#undef F
#define F(name) #name, tc_##name##_at
static const struct {
    const char *name;
    along_fn fn;
} along_ops[] = {
    {F(softmax)}, {F(log_softmax)}, {F(logsumexp)}, {F(sum)}, {F(amax)}, {F(mean)},
};
// In-place forms.
static const struct {
    const char *name;
    binary_fn fn;
} in_place_tensor[] = {{F(add_)}, {F(sub_)}, {F(mul_)}, {F(maximum_)}, {F(copy_)}};
static const struct {
    const char *name;
    scalar_fn fn;
} in_place_scalar[] = {{F(add_s_)}, {F(mul_s_)}, {F(fill_)}};
static const struct {
    const char *name;
    unary_fn fn;
} in_place_unary[] = {{F(neg_)}, {F(relu_)}, {F(tanh_)}, {F(square_)}, {F(zero_)}};
#undef F
#include "ops.h"

// ---- calls ----
typedef enum call_kind {
    C_UNARY,
    C_BINARY,
    C_SCALAR,
    C_REDUCE,
    C_ALONG,
    C_FMA,
    C_WHERE,
    C_CLAMP,
    C_CAST,
    C_MASKED,
    C_RESHAPE,
    C_PERMUTE,
    C_EXPAND,
    C_SLICE,
    C_SELECT,
    C_FLIP,
    C_ROLL,
    C_PAD,    // 0: with a number, else a mode of tc_pad_with
    C_RESIZE, // a mode of tc_interpolate
    C_CAT,
    C_STACK,
    C_UNFOLD,
    C_TILE,
    C_REPEAT,
    C_UNSQUEEZE,
    C_SQUEEZE,
    C_FLATTEN,
    C_TRIANGLE,
    C_MATMUL,
    C_LINEAR,
    C_TAKE,
    C_GATHER,
    C_ONE_HOT,
    C_VAR,
    C_LAYER_NORM,
    C_FULL,
    C_ARANGE,
    C_RAND,
    C_ROWS, // 0: cumsum, 1: argsort
    C_SCATTER,
    C_CUSTOM,
    C_IN_TENSOR,
    C_IN_SCALAR,
    C_IN_UNARY,
    C_ITEM,
    C_READ,
    C_BRANCH,
    C_KEEP,
    C_KINDS
} call_kind;

typedef struct call {
    call_kind kind;
    int fn; // row of the kind's table, or a variant
    int in[MAX_LIST], n_in;
    int out; // value it makes; in place and effects: same as in[0]
    int64_t a[4];
    tc_dims d, e;
    double s[2];
} call;

#define SITE "program", (int)o->out
#define V(i) (v[o->in[i]])
// Prints (f) and runs (tc) one arm: CALL is the C call, the rest its text.
#define DO(call_, ...)                                                                     \
    do {                                                                                   \
        if (f) fprintf(f, __VA_ARGS__);                                                    \
        if (tc) r = (call_);                                                               \
    } while (0)
#define DO_DIMS(call_, before, dims_, after)                                               \
    do {                                                                                   \
        if (f) fputs(before, f), print_dims(f, dims_), fputs(after, f);                    \
        if (tc) r = (call_);                                                               \
    } while (0)

// Runs the call in `tc` on values v, and prints it to f; either may be NULL.
static tc_tensor perform(tc_ctx *tc, const call *o, tc_tensor *v, reads *read, FILE *f) {
    tc_tensor r = tc_null(), list[MAX_LIST];
    char text[160];
    double item;
    int in = o->in[0];
    if (f) {
        if (o->kind == C_BRANCH)
            fprintf(f, "    tc_tensor v%d;\n", o->out);
        else if (o->out == in && o->n_in)
            fprintf(f, "    ");
        else
            fprintf(f, "    tc_tensor v%d = ", o->out);
    }
    switch (o->kind) {
    case C_UNARY:
        DO(unary_ops[o->fn].fn(V(0), SITE), "tc_%s(v%d)", unary_ops[o->fn].name, in);
        break;
    case C_BINARY:
        DO(binary_ops[o->fn].fn(V(0), V(1), SITE), "tc_%s(v%d, v%d)",
           binary_ops[o->fn].name, in, o->in[1]);
        break;
    case C_SCALAR:
        DO(scalar_ops[o->fn].fn(V(0), o->s[0], SITE), "tc_%s(v%d, %.17g)",
           scalar_ops[o->fn].name, in, o->s[0]);
        break;
    case C_REDUCE:
        snprintf(text, sizeof text, "tc_%s_dims(v%d, ", reduce_ops[o->fn].name, in);
        DO_DIMS(reduce_ops[o->fn].fn(V(0), o->d, (int)o->a[0], SITE), text, o->d,
                o->a[0] ? ", 1)" : ", 0)");
        break;
    case C_ALONG:
        DO(along_ops[o->fn].fn(V(0), (int)o->a[0], SITE), "tc_%s(v%d, %d)",
           along_ops[o->fn].name, in, (int)o->a[0]);
        break;
    case C_FMA:
        DO(tc_fma_at(V(0), V(1), V(2), SITE), "tc_fma(v%d, v%d, v%d)", in, o->in[1],
           o->in[2]);
        break;
    case C_WHERE:
        DO(tc_where_at(V(0), V(1), V(2), SITE), "tc_where(v%d, v%d, v%d)", in, o->in[1],
           o->in[2]);
        break;
    case C_CLAMP:
        DO(tc_clamp_at(V(0), o->s[0], o->s[1], SITE), "tc_clamp(v%d, %.17g, %.17g)", in,
           o->s[0], o->s[1]);
        break;
    case C_CAST:
        DO(tc_cast_at(V(0), (tc_dtype)o->a[0], SITE), "tc_cast(v%d, %s)", in,
           dtype_names[o->a[0]]);
        break;
    case C_MASKED:
        DO(tc_masked_fill_at(V(0), V(1), o->s[0], SITE), "tc_masked_fill(v%d, v%d, %.17g)",
           in, o->in[1], o->s[0]);
        break;
    case C_RESHAPE:
        snprintf(text, sizeof text, "tc_reshape(v%d, ", in);
        DO_DIMS(tc_reshape_at(V(0), o->d, SITE), text, o->d, ")");
        break;
    case C_PERMUTE:
        snprintf(text, sizeof text, "tc_permute(v%d, ", in);
        DO_DIMS(tc_permute_at(V(0), o->d, SITE), text, o->d, ")");
        break;
    case C_EXPAND:
        snprintf(text, sizeof text, "tc_expand(v%d, ", in);
        DO_DIMS(tc_expand_at(V(0), o->d, SITE), text, o->d, ")");
        break;
    case C_SLICE:
        DO(tc_slice_at(V(0), (int)o->a[0], o->a[1], o->a[2], o->a[3], SITE),
           "tc_slice(v%d, %d, %lldLL, %lldLL, %lldLL)", in, (int)o->a[0],
           (long long)o->a[1], (long long)o->a[2], (long long)o->a[3]);
        break;
    case C_SELECT:
        DO(tc_select_at(V(0), (int)o->a[0], o->a[1], SITE), "tc_select(v%d, %d, %lld)", in,
           (int)o->a[0], (long long)o->a[1]);
        break;
    case C_FLIP:
        snprintf(text, sizeof text, "tc_flip(v%d, ", in);
        DO_DIMS(tc_flip_at(V(0), o->d, SITE), text, o->d, ")");
        break;
    case C_ROLL:
        DO(tc_roll_at(V(0), o->a[0], (int)o->a[1], SITE), "tc_roll(v%d, %lld, %d)", in,
           (long long)o->a[0], (int)o->a[1]);
        break;
    case C_RESIZE:
        if (f) {
            fprintf(f, "tc_interpolate(v%d, ", in);
            print_dims(f, o->d);
            fprintf(f, ", (tc_interpolation)%d)", o->fn);
        }
        if (tc) r = tc_interpolate_at(V(0), o->d, (tc_interpolation)o->fn, SITE);
        break;
    case C_PAD:
        if (f && o->fn) {
            fprintf(f, "tc_pad_with(v%d, ", in);
            print_dims(f, o->d);
            fprintf(f, ", ");
            print_dims(f, o->e);
            fprintf(f, ", (tc_pad_mode)%d)", o->fn - 1);
        }
        if (tc && o->fn)
            r = tc_pad_with_at(V(0), o->d, o->e, (tc_pad_mode)(o->fn - 1), SITE);
        if (o->fn) break;
        if (f) {
            fprintf(f, "tc_pad(v%d, ", in);
            print_dims(f, o->d);
            fprintf(f, ", ");
            print_dims(f, o->e);
            fprintf(f, ", %.17g)", o->s[0]);
        }
        if (tc) r = tc_pad_at(V(0), o->d, o->e, o->s[0], SITE);
        break;
    case C_CAT:
    case C_STACK:
        for (int i = 0; i < o->n_in; i++) list[i] = tc ? V(i) : tc_null();
        if (f) {
            fprintf(f, "tc_%s(((const tc_tensor[]){", o->kind == C_CAT ? "cat" : "stack");
            for (int i = 0; i < o->n_in; i++) fprintf(f, "%sv%d", i ? ", " : "", o->in[i]);
            fprintf(f, "}), %d, %d)", o->n_in, (int)o->a[0]);
        }
        if (tc && o->kind == C_CAT) r = tc_cat_at(list, o->n_in, (int)o->a[0], SITE);
        if (tc && o->kind == C_STACK) r = tc_stack_at(list, o->n_in, (int)o->a[0], SITE);
        break;
    case C_UNFOLD:
        DO(tc_unfold_at(V(0), (int)o->a[0], o->a[1], o->a[2], SITE),
           "tc_unfold(v%d, %d, %lld, %lld)", in, (int)o->a[0], (long long)o->a[1],
           (long long)o->a[2]);
        break;
    case C_TILE:
        snprintf(text, sizeof text, "tc_tile(v%d, ", in);
        DO_DIMS(tc_tile_at(V(0), o->d, SITE), text, o->d, ")");
        break;
    case C_REPEAT:
        DO(tc_repeat_interleave_at(V(0), o->a[0], (int)o->a[1], SITE),
           "tc_repeat_interleave(v%d, %lld, %d)", in, (long long)o->a[0], (int)o->a[1]);
        break;
    case C_UNSQUEEZE:
        DO(tc_unsqueeze_at(V(0), (int)o->a[0], SITE), "tc_unsqueeze(v%d, %d)", in,
           (int)o->a[0]);
        break;
    case C_SQUEEZE:
        DO(tc_squeeze_at(V(0), (int)o->a[0], SITE), "tc_squeeze(v%d, %d)", in,
           (int)o->a[0]);
        break;
    case C_FLATTEN:
        DO(tc_flatten_at(V(0), (int)o->a[0], (int)o->a[1], SITE), "tc_flatten(v%d, %d, %d)",
           in, (int)o->a[0], (int)o->a[1]);
        break;
    case C_TRIANGLE:
        DO(o->fn ? tc_triu_at(V(0), o->a[0], SITE) : tc_tril_at(V(0), o->a[0], SITE),
           "tc_tri%c(v%d, %lld)", o->fn ? 'u' : 'l', in, (long long)o->a[0]);
        break;
    case C_MATMUL:
        DO(tc_matmul_at(V(0), V(1), SITE), "tc_matmul(v%d, v%d)", in, o->in[1]);
        break;
    case C_LINEAR:
        DO(tc_linear_at(V(0), V(1), tc_null(), SITE), "tc_linear(v%d, v%d, tc_null())", in,
           o->in[1]);
        break;
    case C_TAKE:
        DO(tc_take_at(V(0), V(1), (int)o->a[0], SITE), "tc_take(v%d, v%d, %d)", in,
           o->in[1], (int)o->a[0]);
        break;
    case C_GATHER:
        DO(tc_gather_at(V(0), (int)o->a[0], V(1), SITE), "tc_gather(v%d, %d, v%d)", in,
           (int)o->a[0], o->in[1]);
        break;
    case C_ONE_HOT:
        DO(tc_one_hot_at(V(0), o->a[0], SITE), "tc_one_hot(v%d, %lld)", in,
           (long long)o->a[0]);
        break;
    case C_VAR:
        DO(tc_var_at(V(0), (int)o->a[0], o->s[0], SITE), "tc_var(v%d, %d, %g)", in,
           (int)o->a[0], o->s[0]);
        break;
    case C_LAYER_NORM:
        DO(o->fn ? tc_rms_norm_at(V(0), tc_null(), 1e-5, SITE)
                 : tc_layer_norm_at(V(0), tc_null(), tc_null(), 1e-5, SITE),
           o->fn ? "tc_rms_norm(v%d, tc_null(), 1e-5)"
                 : "tc_layer_norm(v%d, tc_null(), tc_null(), 1e-5)",
           in);
        break;
    case C_FULL:
        if (f) {
            fprintf(f, "tc_full(tc, ");
            print_dims(f, o->d);
            fprintf(f, ", %.17g, %s)", o->s[0], dtype_names[o->a[0]]);
        }
        if (tc) r = tc_full_at(tc, o->d, o->s[0], (tc_dtype)o->a[0], SITE);
        break;
    case C_ARANGE:
        DO(tc_arange_at(tc, o->s[0], o->s[0] + (double)o->a[1] * o->s[1], o->s[1],
                        (tc_dtype)o->a[0], SITE),
           "tc_arange(tc, %.17g, %.17g, %.17g, %s)", o->s[0],
           o->s[0] + (double)o->a[1] * o->s[1], o->s[1], dtype_names[o->a[0]]);
        break;
    case C_RAND:
        if (f) {
            fprintf(f, "tc_rand%s(tc, ", o->fn ? "n" : "");
            print_dims(f, o->d);
            fprintf(f, ", %s)", dtype_names[o->a[0]]);
        }
        if (tc && o->fn) r = tc_randn_at(tc, o->d, (tc_dtype)o->a[0], SITE);
        if (tc && !o->fn) r = tc_rand_at(tc, o->d, (tc_dtype)o->a[0], SITE);
        break;
    case C_ROWS:
        DO(o->fn ? tc_argsort_at(V(0), (int)o->a[0], (int)o->a[1], SITE)
                 : tc_cumsum_at(V(0), (int)o->a[0], SITE),
           o->fn ? "tc_argsort(v%d, %d, %d)" : "tc_cumsum(v%d, %d)", in, (int)o->a[0],
           (int)o->a[1]);
        break;
    case C_SCATTER:
        DO(tc_scatter_add_at(V(0), (int)o->a[0], V(1), V(0), SITE),
           "tc_scatter_add(v%d, %d, v%d, v%d)", in, (int)o->a[0], o->in[1], in);
        break;
    case C_CUSTOM:
        DO(tc_custom_at(tc, tc_op_named(tc, custom_ops[o->fn]), &V(0), 1, SITE),
           "tc_custom(tc, tc_op_named(tc, \"%s\"), &v%d, 1)", custom_ops[o->fn], in);
        break;
    case C_IN_TENSOR:
        DO(in_place_tensor[o->fn].fn(V(0), V(1), SITE), "tc_%s(v%d, v%d)",
           in_place_tensor[o->fn].name, in, o->in[1]);
        break;
    case C_IN_SCALAR:
        DO(in_place_scalar[o->fn].fn(V(0), o->s[0], SITE), "tc_%s(v%d, %.17g)",
           in_place_scalar[o->fn].name, in, o->s[0]);
        break;
    case C_IN_UNARY:
        DO(in_place_unary[o->fn].fn(V(0), SITE), "tc_%s(v%d)", in_place_unary[o->fn].name,
           in);
        break;
    case C_ITEM:
        if (f) fprintf(f, "print_item(v%d)", in);
        if (tc) {
            item = tc_item_at(V(0), SITE);
            reads_add(read, in, TC_F64, &item, sizeof item);
            r = V(0);
        }
        break;
    case C_READ:
        if (f) fprintf(f, "show(\"v%d, read inside\", v%d)", in, in);
        if (tc) reads_tensor(read, in, V(0)), r = V(0);
        break;
    case C_BRANCH:
        if (f) {
            fprintf(f, "    if (tc_item(v%d) > %.17g) v%d = tc_add_s(v%d, 1);\n", in,
                    o->s[0], o->out, o->in[1]);
            fprintf(f, "    else v%d = tc_mul_s(v%d, 2)", o->out, o->in[1]);
        }
        if (tc) {
            item = tc_item_at(V(0), SITE);
            reads_add(read, in, TC_F64, &item, sizeof item);
            r = item > o->s[0] ? tc_add_s_at(V(1), 1, SITE) : tc_mul_s_at(V(1), 2, SITE);
        }
        break;
    case C_KEEP:
        if (f) fprintf(f, "v%d = tc_keep(v%d)", in, in);
        if (tc) r = tc_keep_at(V(0), SITE);
        break;
    case C_KINDS: break;
    }
    if (f) fprintf(f, ";\n");
    if (f && (o->kind < C_IN_TENSOR || o->kind == C_BRANCH))
        fprintf(f, "    if (KEEP && region) v%d = tc_keep(v%d);\n", o->out, o->out);
    if (f) fflush(f);
    return r;
}

#endif
