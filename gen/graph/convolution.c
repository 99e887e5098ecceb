// Convolution and pooling in public ops: everything becomes MATMUL over index maps, or a sum of few slices. Same rules as
// compose.c.

// ---- convolution ----

enum { TC__CONV_TAPS = 49, TC__POOL_TAPS = 64 };

enum { TC__CONV_AXES = 3 };

// A window over the last dimensions of x.
typedef struct tc__conv {
    tc__api *f;
    int axes; // how many: height and width, before them depth
    int64_t size[TC__CONV_AXES], stride[TC__CONV_AXES], padding[TC__CONV_AXES],
        dilation[TC__CONV_AXES];
    int64_t out[TC__CONV_AXES]; // sizes of the result
    int h;                      // the first such dimension
} tc__conv;

// Sizes of the result; 0 = reported. Everything else is set.
static int tc__conv_sizes(tc__conv *v) {
    const tc__api *f = v->f;
    for (int i = 0; i < v->axes; i++) {
        int64_t n = tc__meta_size(&f->x, v->h + i), limit = INT32_MAX;
        if (v->stride[i] < 1 || v->dilation[i] < 1 || v->padding[i] < 0 ||
            v->size[i] > limit)
            return tc__fail(f->c, TC_E_ARG,
                            "%s: stride %lld, padding %lld, dilation %lld; stride and "
                            "dilation must be at least 1, padding at least 0",
                            f->who, (long long)v->stride[i], (long long)v->padding[i],
                            (long long)v->dilation[i]);
        int64_t left = n + 2 * v->padding[i] - v->dilation[i] * (v->size[i] - 1) - 1;
        if (left < 0 || v->size[i] < 1)
            return tc__fail(f->c, TC_E_SHAPE,
                            "%s: a window of %lld (dilation %lld) over %lld elements with "
                            "padding %lld; pad more, or take a smaller window",
                            f->who, (long long)v->size[i], (long long)v->dilation[i],
                            (long long)n, (long long)v->padding[i]);
        v->out[i] = left / v->stride[i] + 1;
    }
    return tc__dims_check(f->c, f->who, v->axes, v->out);
}

static tc_tensor tc__conv_pad(const tc__conv *v, tc_tensor x, double fill, int dtype) {
    for (int i = 0; i < v->axes; i++)
        if (v->padding[i])
            x = tc__pad(v->f, x, v->h + i, v->padding[i], v->padding[i], fill, dtype);
    return x;
}

// What tap `i` of dimension h (axis 0) or h + 1 (axis 1) sees of the padded x.
static tc_tensor tc__conv_tap(const tc__conv *v, tc_tensor x, int axis, int64_t i) {
    return tc__slice(v->f, x, v->h + axis, i * v->dilation[axis], v->out[axis],
                     v->stride[axis]);
}

// [..., H', W', KH, KW] of the padded [..., H, W].
static tc_tensor tc__conv_windows(const tc__conv *v, tc_tensor x) {
    for (int i = 0; i < v->axes; i++)
        x = tc__window(v->f, x, v->h + i, v->size[i], v->stride[i], v->dilation[i]);
    return x;
}

// A small kernel with one input channel per group, [O, 1, KH, KW].
typedef struct tc__taps {
    tc__constant of; // its contents,
    int known;       //   if it is a constant
    int dtype;
    int64_t channels; // O
    tc_tensor weight;
} tc__taps;

// Tap i of KH * KW, which is of a float dtype.
static double tc__tap_value(const tc__taps *k, int64_t o, int64_t i) {
    const int64_t *stride = k->of.layout.strides, width = k->of.layout.dims[3];
    int64_t at = o * stride[0] + i / width * stride[2] + i % width * stride[3];
    return tc__value_load(k->of.data, at, k->dtype).f;
}

// The factor of tap i: a scalar where all channels agree, else [O, 1, 1]; null where all
// are zero.
static tc_tensor tc__tap_factor(const tc__conv *v, const tc__taps *k, int64_t i) {
    int64_t count = v->size[0] * v->size[1];
    double first = k->known ? tc__tap_value(k, 0, i) : 0;
    int same = k->known;
    for (int64_t o = 1; o < k->channels && same; o++)
        same = tc__tap_value(k, o, i) == first;
    if (same) return first == 0 ? tc__null() : tc__scalar(v->f, first, k->dtype);
    tc_dims flat = TC_DIMS(k->channels, count, 1);
    return tc__slice(v->f, tc__reshape(v->f, k->weight, &flat), 1, i, 1, 1);
}

// Sum of the taps over slices of the padded x in (ky, kx) order, one fma each.
static tc_tensor tc__conv_taps(const tc__conv *v, tc_tensor x, const tc__taps *k) {
    const tc__api *f = v->f;
    tc_tensor sum = tc__null();
    for (int64_t y = 0; y < v->size[0]; y++) {
        tc_tensor row = tc__null();
        for (int64_t i = 0; i < v->size[1]; i++) {
            tc_tensor w = tc__tap_factor(v, k, y * v->size[1] + i);
            if (!w.id) continue;
            if (!row.id) row = tc__conv_tap(v, x, 0, y);
            tc_tensor part = tc__conv_tap(v, row, 1, i);
            sum = sum.id ? tc_fma(part, w, sum) : tc_mul(part, w);
        }
    }
    if (sum.id) return sum;
    return tc_mul_s(tc__conv_tap(v, tc__conv_tap(v, x, 0, 0), 1, 0), 0);
}

// The weight as taps, if it is worth unrolling: small, one input channel per group, and output channels that
// broadcast against the input's. A product would have one row for each channel: its columns would be packed
// for that alone. One channel of x for all of a weight that is not known is a product with many rows.
static int tc__conv_unrolls(const tc__conv *v, tc_tensor weight, const tc__meta *w,
                            tc__taps *k) {
    int64_t in = tc__meta_size(&v->f->x, v->h - 1);
    k->dtype = w->dtype, k->channels = tc__meta_size(w, 0), k->weight = weight;
    k->known = tc__constant_of(v->f->c, weight, &k->of);
    if (!k->channels || tc__meta_size(w, 1) != 1 || !tc__is_float(w->dtype)) return 0;
    if (v->size[0] * v->size[1] > TC__CONV_TAPS) return 0;
    return in == k->channels || (in == 1 && k->known);
}

// Windows as columns [N, G, Cg * KH * KW, H' * W'] under the weight's rows [N, G, Og, Cg *
// KH * KW].
static tc_tensor tc__conv_matmul(const tc__conv *v, tc_tensor x, tc_tensor weight,
                                 const tc__meta *w, int64_t groups) {
    const tc__api *f = v->f;
    int64_t n = tc__meta_size(&f->x, 0), o = tc__meta_size(w, 0), k = tc__meta_size(w, 1),
            cells = 1;
    tc_dims order = TC_DIMS(0, 1), out = TC_DIMS(n, o);
    order.rank = 2 + 2 * v->axes, out.rank = 2 + v->axes;
    for (int i = 0; i < v->axes; i++) {
        k *= v->size[i], cells *= out.size[2 + i] = v->out[i];
        order.size[2 + i] = 2 + v->axes + i, order.size[2 + v->axes + i] = 2 + i;
    }
    tc_dims column = TC_DIMS(n, groups, k, cells), row = TC_DIMS(1, groups, o / groups, k),
            rows = TC_DIMS(n, groups, o / groups, k);
    tc_tensor cols =
        tc__reshape(f, tc__permute(f, tc__conv_windows(v, x), &order), &column);
    tc_tensor left = tc__reshape(f, weight, &row);
    if (n != 1) left = tc__expand(f, left, &rows);
    return tc__reshape(f, tc__product_of(f, left, w->dtype, cols, f->x.dtype), &out);
}

// Whether x, a batch or one of it, fits the weight and the bias.
static int tc__conv_check(const tc__api *f, tc_tensor weight, tc_tensor bias,
                          int64_t groups, int axes, int transposed) {
    static const char *const size[] = {"L", "H, W", "D, H, W"};
    static const char *const taps[] = {"K", "KH, KW", "KD, KH, KW"};
    char x[160], y[160];
    tc__meta w;
    int channels = f->x.rank - axes - 1;
    if (!tc__operand_need(f, "weight", weight, &w)) return 0;
    if ((channels == 0 || channels == 1) && w.rank == axes + 2 && groups >= 1 &&
        tc__meta_size(&w, 0) % groups == 0) {
        int64_t of[2] = {tc__meta_size(&w, 0), tc__ix_times(tc__meta_size(&w, 1), groups)};
        if (of[!transposed] == tc__meta_size(&f->x, channels))
            return tc__param_check(f, "bias", bias, of[transposed]);
    }
    return tc__fail(f->c, TC_E_SHAPE,
                    "%s: x is %s, the weight %s, groups %lld; x[N, C, %s] and weight[%s / "
                    "groups, %s] with groups dividing C and O are needed",
                    f->who, tc__dims_text(&f->x, x), tc__dims_text(&w, y),
                    (long long)groups, size[axes - 1], transposed ? "C, O" : "O, C",
                    taps[axes - 1]);
}

static int64_t tc__or_one(int v) { return v ? v : 1; }

// Of a call that has no options: what is not given has no default there. 0 = reported.
static int tc__conv_given(const tc__api *f, int stride, int padding, int dilation,
                          int groups) {
    if (stride >= 1 && padding >= 0 && dilation >= 1 && groups >= 1) return 1;
    return tc__fail(f->c, TC_E_ARG,
                    "%s: stride %d, padding %d, dilation %d, groups %d; stride, dilation "
                    "and groups must be at least 1, padding at least 0",
                    f->who, stride, padding, dilation, groups);
}

// The words of conv2d and conv3d, whose x is a batch or one of it. Those of each axis follow each other.
static void tc__conv_words(const tc__conv *v, int64_t groups, int64_t *word) {
    int deep = v->axes == 3, stride = deep ? TC__CONV3D_STRIDE_D : TC__CONV2D_STRIDE_H,
        padding = deep ? TC__CONV3D_PADDING_D : TC__CONV2D_PADDING_H,
        dilation = deep ? TC__CONV3D_DILATION_D : TC__CONV2D_DILATION_H;
    for (int i = 0; i < v->axes; i++) {
        if (!deep) word[TC__CONV2D_KERNEL_H + i] = v->size[i];
        word[stride + i] = v->stride[i], word[dilation + i] = v->dilation[i];
        word[padding + i] = tc__ix_const(v->padding[i]);
    }
    word[deep ? TC__CONV3D_GROUPS : TC__CONV2D_GROUPS] = tc__ix_const(groups);
}

static tc_tensor tc__conv_batch(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                const tc_conv_options *o, int axes) {
    tc__meta w;
    tc__conv v;
    tc__taps taps;
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    v.f = f, v.h = 2, v.axes = axes;
    for (int i = 0; i < axes; i++) {
        v.size[i] = tc__meta_size(&w, 2 + i), v.stride[i] = tc__or_one(o->stride[i]);
        v.dilation[i] = tc__or_one(o->dilation[i]), v.padding[i] = o->padding[i];
    }
    if (!tc__conv_sizes(&v)) return tc__null();
    tc__conv_words(&v, tc__or_one(o->groups), f->word);
    int unroll = axes == 2 && tc__conv_unrolls(&v, weight, &w, &taps);
    if (unroll) tc__api_together(f);
    x = tc__conv_pad(&v, x, 0, f->x.dtype);
    tc_tensor in[3];
    in[0] = x, in[1] = weight, in[2] = bias;
    if (unroll || bias.id) tc__widen_product(f, in, 3);
    tc_tensor y = unroll ? tc__conv_taps(&v, tc__widened(f, x), &taps)
                         : tc__conv_matmul(&v, x, weight, &w, tc__or_one(o->groups));
    tc_dims image =
        TC_DIMS(tc__meta_size(&f->x, 0), tc__meta_size(&w, 0), v.out[0], v.out[1]);
    // One input channel and equal taps in all output channels: the sum has one channel so
    // far.
    if (unroll && tc_dim(y, 1) != image.size[1]) y = tc__expand(f, y, &image);
    if (bias.id) y = tc_add(y, tc__per_channel(f, bias));
    return tc__rounded(f, y);
}

typedef tc_tensor (*tc__conv_form)(tc__api *f, tc_tensor x, tc_tensor weight,
                                   tc_tensor bias, const tc_conv_options *o, int axes);

// x without a batch is one of one; no options are all defaults.
static tc_tensor tc__conv_of(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                             const tc_conv_options *options, int axes, int transposed,
                             tc__conv_form form) {
    tc__api batch;
    tc_conv_options none;
    memset(&none, 0, sizeof none);
    if (!options) options = &none;
    if (options->groups < 0) {
        tc__fail(f->c, TC_E_ARG, "%s: groups is %d; at least 1 is needed", f->who,
                 options->groups);
        return tc__null();
    }
    if (!tc__conv_check(f, weight, bias, tc__or_one(options->groups), axes, transposed))
        return tc__null();
    if (f->x.rank != axes + 1) return form(f, x, weight, bias, options, axes);
    x = tc_unsqueeze(x, 0);
    if (!tc__api_about(f, &batch, x)) return tc__null();
    tc_tensor y = tc_squeeze(form(&batch, x, weight, bias, options, axes), 0);
    memcpy(f->word, batch.word, sizeof f->word);
    return y;
}

static tc_tensor tc__conv_with(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                               const tc_conv_options *options, int axes) {
    for (int i = 0; i < axes && options; i++) {
        if (!options->output_padding[i]) continue;
        tc__fail(f->c, TC_E_ARG,
                 "%s: output_padding[%d] is %d, which is of transposed convolutions; leave "
                 "it 0",
                 f->who, i, options->output_padding[i]);
        return tc__null();
    }
    return tc__conv_of(f, x, weight, bias, options, axes, 0, tc__conv_batch);
}

static tc_tensor tc__conv2d_with(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                 const tc_conv_options *options) {
    return tc__conv_with(f, x, weight, bias, options, 2);
}

static tc_tensor tc__conv3d_with(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                 const tc_conv_options *options) {
    return tc__conv_with(f, x, weight, bias, options, 3);
}

// The same along all axes.
static tc_conv_options tc__conv_alike(int stride, int padding, int dilation, int groups) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    for (int i = 0; i < TC__CONV_AXES; i++)
        o.stride[i] = stride, o.padding[i] = padding, o.dilation[i] = dilation;
    o.groups = groups;
    return o;
}

static tc_tensor tc__conv3d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    if (!tc__conv_given(f, stride, padding, dilation, groups)) return tc__null();
    tc_conv_options o = tc__conv_alike(stride, padding, dilation, groups);
    return tc__conv_with(f, x, weight, bias, &o, 3);
}

static tc_tensor tc__conv2d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    if (!tc__conv_given(f, stride, padding, dilation, groups)) return tc__null();
    tc_conv_options o = tc__conv_alike(stride, padding, dilation, groups);
    return tc__conv_with(f, x, weight, bias, &o, 2);
}

static tc_tensor tc__conv1d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    if (!tc__conv_given(f, stride, padding, dilation, groups) ||
        !tc__conv_check(f, weight, bias, groups, 1, 0))
        return tc__null();
    o.stride[1] = stride, o.padding[1] = padding, o.dilation[1] = dilation,
    o.groups = groups;
    f->word[TC__CONV1D_STRIDE] = stride;
    f->word[TC__CONV1D_DILATION] = dilation;
    f->word[TC__CONV1D_GROUPS] = tc__ix_const(groups);
    x = tc_unsqueeze(x, -2);
    weight = tc_unsqueeze(weight, -2);
    tc_tensor y = tc_conv2d_with(x, weight, bias, &o);
    return tc_squeeze(y, -2);
}

// ---- pooling ----

// The window of a pool over x[..., H, W]; 0 = reported.
static int tc__pool_windows(tc__conv *v, tc__api *f, int kernel, int stride, int padding) {
    if (f->x.rank < 2)
        return tc__fail(f->c, TC_E_RANK, "%s: x has rank %d, [..., H, W] is needed", f->who,
                        f->x.rank);
    if (kernel < 1)
        return tc__fail(f->c, TC_E_ARG, "%s: the kernel is %d; at least 1 is needed",
                        f->who, kernel);
    if (padding > kernel / 2)
        return tc__fail(f->c, TC_E_ARG, "%s: padding %d is more than half of the kernel %d",
                        f->who, padding, kernel);
    v->f = f, v->h = f->x.rank - 2, v->axes = 2;
    for (int i = 0; i < 2; i++) {
        v->size[i] = kernel, v->stride[i] = stride ? stride : kernel;
        v->padding[i] = padding, v->dilation[i] = 1;
    }
    return tc__conv_sizes(v);
}

// Reduces every window by `op`: small ones tap by tap, large ones as a reduction.
static tc_tensor tc__pool_2d(const tc__conv *v, tc_tensor x, tc__op op, tc__op reduction) {
    const tc__api *f = v->f;
    tc_tensor y = tc__null();
    if (v->size[0] * v->size[1] > TC__POOL_TAPS) {
        int64_t mask = (int64_t)3 << f->x.rank;
        tc_dims d = tc__dims_shape(f);
        if (!tc__rank_check(f, f->x.rank + 2)) return y;
        d.size[v->h] = v->out[0], d.size[v->h + 1] = v->out[1];
        return tc__reshape(f, tc__prim(f, reduction, tc__conv_windows(v, x), &mask, 1), &d);
    }
    for (int64_t k = 0; k < v->size[0]; k++) {
        tc_tensor row = tc__conv_tap(v, x, 0, k);
        for (int64_t i = 0; i < v->size[1]; i++) {
            tc_tensor part = tc__conv_tap(v, row, 1, i);
            y = y.id ? tc__op2(y, part, f->file, f->line, tc__form_of(op, 2, 0)) : part;
        }
    }
    return y;
}

static tc_tensor tc__avg_pool2d(tc__api *f, tc_tensor x, int kernel, int stride,
                                int padding) {
    tc__conv v;
    if (!tc__pool_windows(&v, f, kernel, stride, padding)) return tc__null();
    f->word[TC__AVG_POOL2D_STRIDE] = v.stride[0];
    tc__widen_half(f, &x);
    x = tc__conv_pad(&v, tc__as_float(f, x), 0, tc__float_dtype(f));
    tc_tensor sum = tc__pool_2d(&v, x, TC_OP_ADD, TC_OP_SUM);
    return tc_div_s(sum, (double)(v.size[0] * v.size[1]));
}

static tc_tensor tc__max_pool2d(tc__api *f, tc_tensor x, int kernel, int stride,
                                int padding) {
    tc__conv v;
    if (f->x.dtype == TC_BOOL) {
        tc__fail(f->c, TC_E_DTYPE,
                 "max_pool2d: not defined on bool; tc_cast to TC_U8 first");
        return tc__null();
    }
    if (!tc__pool_windows(&v, f, kernel, stride, padding)) return tc__null();
    f->word[TC__MAX_POOL2D_STRIDE] = v.stride[0];
    x = tc__conv_pad(&v, x, tc__least_value(f->x.dtype), f->x.dtype);
    tc_tensor y = tc__pool_2d(&v, x, TC_OP_MAXIMUM, TC_OP_AMAX);
    return kernel > 1 ? y : tc__cast(f, y, f->x.dtype); // of one element: a view so far
}
