// Convolution, transposed too, and pooling in public ops: everything becomes MATMUL over index maps, or a sum of few
// slices. Same rules as compose.c.

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
    if (!tc__operand_given(f, "weight", weight) || !tc__meta_get(f, weight, &w)) return 0;
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
    tc_conv_options o = tc__conv_alike(stride, padding, dilation, groups);
    return tc__conv_with(f, x, weight, bias, &o, 3);
}

static tc_tensor tc__conv2d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    tc_conv_options o = tc__conv_alike(stride, padding, dilation, groups);
    return tc__conv_with(f, x, weight, bias, &o, 2);
}

static tc_tensor tc__conv1d(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                            int stride, int padding, int dilation, int groups) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    if (!tc__conv_check(f, weight, bias, tc__or_one(groups), 1, 0)) return tc__null();
    o.stride[1] = stride, o.padding[1] = padding, o.dilation[1] = dilation,
    o.groups = groups;
    f->word[TC__CONV1D_STRIDE] = tc__or_one(stride);
    f->word[TC__CONV1D_DILATION] = tc__or_one(dilation);
    f->word[TC__CONV1D_GROUPS] = tc__ix_const(tc__or_one(groups));
    x = tc_unsqueeze(x, -2);
    weight = tc_unsqueeze(weight, -2);
    tc_tensor y = tc_conv2d_with(x, weight, bias, &o);
    return tc_squeeze(y, -2);
}

// ---- transposed convolution ----
//
// Element i of x counts for the results i * stride + k * dilation - padding of each tap k. Results that are `stride`
// apart see the same taps, every stride-th of the weight: each of stride * stride phases is a convolution with stride
// 1, and they are woven into each other (Shi et al. 2016). So no zero is multiplied, and taps beside each other are
// products of more rows. The first phases have a tap more than the last, where stride does not divide the kernel.

typedef struct tc__woven {
    tc__conv v;        // of a phase
    int64_t stride[2]; // phases
    int64_t taps[2];   // of the first phases, of which there are
    int64_t longer[2]; //   so many
    int64_t kernel[2], out[2], groups;
} tc__woven;

// What options say of axis i, and the size of the result; 0 = reported.
static int tc__woven_axis(tc__woven *s, const tc_conv_options *o, int i) {
    const tc__api *f = s->v.f;
    int64_t n = tc__meta_size(&f->x, 2 + i), stride = tc__or_one(o->stride[i]),
            dilation = tc__or_one(o->dilation[i]), padding = o->padding[i],
            more = o->output_padding[i];
    if (stride < 1 || dilation < 1 || padding < 0 || more < 0 ||
        (more >= stride && more >= dilation))
        return tc__fail(
            f->c, TC_E_ARG,
            "%s: stride %lld, padding %lld, output_padding %lld, dilation %lld; stride and "
            "dilation must be at least 1, padding at least 0, output_padding at least 0 "
            "and less than stride or dilation",
            f->who, (long long)stride, (long long)padding, (long long)more,
            (long long)dilation);
    int64_t reach = tc__ix_times(dilation, s->kernel[i] - 1);
    s->out[i] = tc__ix_clamp(tc__ix_times(n - 1, stride) - 2 * padding) + reach + more + 1;
    if (n < 1)
        return tc__fail(f->c, TC_E_SHAPE,
                        "%s: dimension %d of x has no elements, of which a result could be "
                        "made; at least 1 is needed",
                        f->who, f->x.rank - 2 + i);
    if (s->kernel[i] < 1 || s->kernel[i] > INT32_MAX || s->out[i] < 1)
        return tc__fail(
            f->c, TC_E_SHAPE,
            "%s: %lld elements by a kernel of %lld (stride %lld, dilation %lld), less "
            "a padding of %lld, leave nothing; pad less, or take a larger kernel",
            f->who, (long long)n, (long long)s->kernel[i], (long long)stride,
            (long long)dilation, (long long)padding);
    s->stride[i] = stride, s->v.dilation[i] = dilation, s->v.padding[i] = padding;
    s->v.stride[i] = 1;
    return 1;
}

// x with zeros between its elements along axis i, for taps that are apart as well: phases see every other of them.
static tc_tensor tc__woven_apart(tc__woven *s, tc_tensor x, int i) {
    int64_t attr[5];
    attr[TC__PAD_DIM] = 2 + i, attr[TC__PAD_LOW] = attr[TC__PAD_HIGH] = tc__ix_const(0);
    attr[TC__PAD_DILATION] = tc__ix_const(s->stride[i]);
    attr[TC__PAD_FILL] = tc__value_word(0, s->v.f->x.dtype);
    s->stride[i] = 1;
    return tc__prim(s->v.f, TC_OP_PAD, x, attr, 5);
}

// The weight [C, Og, KH, KW] as that of phases [from, to) of each axis: [G * Og * PH * PW, C / G, TH, TW], their last tap first.
static tc_tensor tc__woven_weight(const tc__woven *s, tc_tensor w, const int64_t *from,
                                  const int64_t *to, const int64_t *taps) {
    const tc__api *f = s->v.f;
    tc__meta m;
    if (!tc__meta_get(f, w, &m)) return w;
    int64_t c = tc__meta_size(&m, 0) / s->groups, o = tc__meta_size(&m, 1), phases[2];
    tc_dims apart = TC_DIMS(s->groups, c, o, taps[0], s->stride[0], taps[1], s->stride[1]),
            order = TC_DIMS(0, 2, 4, 6, 1, 3, 5);
    for (int i = 0; i < 2; i++) {
        phases[i] = to[i] - from[i];
        int64_t size = (taps[i] - 1) * s->stride[i] + phases[i];
        w = tc__slice(f, w, 2 + i, from[i], size, 1);
        if (phases[i] < s->stride[i])
            w = tc__pad(f, w, 2 + i, 0, s->stride[i] - phases[i], 0, m.dtype);
    }
    w = tc_flip(tc__reshape(f, w, &apart), TC_DIMS(3, 5));
    for (int i = 0; i < 2; i++)
        if (phases[i] < s->stride[i]) w = tc__slice(f, w, 4 + 2 * i, 0, phases[i], 1);
    tc_dims rows = TC_DIMS(s->groups * o * phases[0] * phases[1], c, taps[0], taps[1]);
    return tc__reshape(f, tc__permute(f, w, &order), &rows);
}

// [PH, PW, N, O, QH, QW] of phases [from, to) with `taps` each; of x[N, C, H, W], zeros of `dtype` where they have none.
static tc_tensor tc__woven_phases(const tc__woven *s, tc_tensor x, tc_tensor weight,
                                  const int64_t *from, const int64_t *to,
                                  const int64_t *taps, int dtype) {
    const tc__api *f = s->v.f;
    tc__conv v = s->v;
    tc__meta w;
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    int64_t n = tc__meta_size(&f->x, 0), o = tc__meta_size(&w, 1) * s->groups;
    int64_t high = to[0] - from[0], wide = to[1] - from[1];
    tc_dims part = TC_DIMS(n, o, high, wide, v.out[0], v.out[1]),
            none = TC_DIMS(high, wide, n, o, v.out[0], v.out[1]),
            order = TC_DIMS(2, 3, 0, 1, 4, 5);
    if (!taps[0] || !taps[1]) return tc__expand(f, tc__scalar(f, 0, dtype), &none);
    for (int i = 0; i < 2; i++) {
        v.size[i] = taps[i];
        x = tc__pad(f, x, 2 + i, v.dilation[i] * (taps[i] - 1),
                    v.dilation[i] * (s->taps[i] - 1), 0, f->x.dtype);
    }
    weight = tc__woven_weight(s, weight, from, to, taps);
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    tc_tensor y = tc__conv_matmul(&v, x, weight, &w, s->groups);
    return tc__permute(f, tc__reshape(f, y, &part), &order);
}

// All of them behind each other, [SH, SW, N, O, QH, QW]: of each axis the first phases, and the rest.
static tc_tensor tc__woven_all(const tc__woven *s, tc_tensor x, tc_tensor weight) {
    const tc__api *f = s->v.f;
    tc_tensor row[2], part[2];
    tc__meta m;
    int rows = 0;
    m.dtype = f->x.dtype;
    for (int i = 0; i < 2; i++) {
        int64_t from[2], to[2], taps[2];
        int parts = 0;
        from[0] = i ? s->longer[0] : 0, to[0] = i ? s->stride[0] : s->longer[0];
        taps[0] = s->taps[0] - i;
        for (int j = 0; j < 2 && from[0] < to[0]; j++) {
            from[1] = j ? s->longer[1] : 0, to[1] = j ? s->stride[1] : s->longer[1];
            taps[1] = s->taps[1] - j;
            if (from[1] == to[1]) continue;
            part[parts] = tc__woven_phases(s, x, weight, from, to, taps, m.dtype);
            if (!tc__meta_get(f, part[parts++], &m)) return tc__null();
        }
        if (parts) row[rows++] = parts > 1 ? tc__cat(f, part, parts, 1) : part[0];
    }
    return rows > 1 ? tc__cat(f, row, rows, 0) : row[0];
}

// [SH, SW, N, O, QH, QW] as the image that phases are of, without its padding.
static tc_tensor tc__woven_image(const tc__woven *s, tc_tensor y) {
    const tc__api *f = s->v.f;
    tc_dims order = TC_DIMS(2, 3, 4, 0, 5, 1);
    tc__meta m;
    if (!tc__meta_get(f, y, &m)) return tc__null();
    tc_dims d = TC_DIMS(tc__meta_size(&m, 2), tc__meta_size(&m, 3),
                        s->v.out[0] * s->stride[0], s->v.out[1] * s->stride[1]);
    y = tc__reshape(f, tc__permute(f, y, &order), &d);
    for (int i = 0; i < 2; i++) {
        int64_t more = s->v.padding[i] + s->out[i] - d.size[2 + i];
        if (more > 0) y = tc__pad(f, y, 2 + i, 0, more, 0, m.dtype);
        y = tc__slice(f, y, 2 + i, s->v.padding[i], s->out[i], 1);
    }
    return y;
}

static void tc__woven_words(const tc_conv_options *o, int64_t *word) {
    for (int i = 0; i < 2; i++) {
        word[TC__CONV_TRANSPOSE2D_STRIDE_H + i] = tc__or_one(o->stride[i]);
        word[TC__CONV_TRANSPOSE2D_PADDING_H + i] = tc__ix_const(o->padding[i]);
        word[TC__CONV_TRANSPOSE2D_OUTPUT_PADDING_H + i] =
            tc__ix_const(o->output_padding[i]);
        word[TC__CONV_TRANSPOSE2D_DILATION_H + i] = tc__or_one(o->dilation[i]);
    }
    word[TC__CONV_TRANSPOSE2D_GROUPS] = tc__ix_const(tc__or_one(o->groups));
}

static tc_tensor tc__woven_batch(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                 const tc_conv_options *o, int axes) {
    tc__meta w;
    tc__woven s;
    tc_tensor in[3];
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    s.v.f = f, s.v.h = 2, s.v.axes = axes, s.groups = tc__or_one(o->groups);
    for (int i = 0; i < 2; i++) {
        s.kernel[i] = tc__meta_size(&w, 2 + i);
        if (!tc__woven_axis(&s, o, i)) return tc__null();
    }
    if (!tc__dims_check(f->c, f->who, 2, s.out)) return tc__null();
    tc__woven_words(o, f->word);
    in[0] = x, in[1] = weight, in[2] = bias;
    if (bias.id) tc__widen_product(f, in, 3);
    for (int i = 0; i < 2; i++) {
        int64_t n = tc__meta_size(&f->x, 2 + i);
        if (s.stride[i] > 1 && s.v.dilation[i] > 1)
            n = (n - 1) * s.stride[i] + 1, x = tc__woven_apart(&s, x, i);
        s.taps[i] = (s.kernel[i] - 1) / s.stride[i] + 1;
        s.longer[i] = s.kernel[i] - (s.taps[i] - 1) * s.stride[i];
        s.v.out[i] = n + s.v.dilation[i] * (s.taps[i] - 1);
    }
    tc_tensor y = tc__woven_image(&s, tc__woven_all(&s, x, weight));
    if (bias.id) y = tc_add(y, tc__per_channel(f, bias));
    return tc__rounded(f, y);
}

static tc_tensor tc__conv_transpose2d_with(tc__api *f, tc_tensor x, tc_tensor weight,
                                           tc_tensor bias, const tc_conv_options *options) {
    return tc__conv_of(f, x, weight, bias, options, 2, 1, tc__woven_batch);
}

static tc_tensor tc__conv_transpose2d(tc__api *f, tc_tensor x, tc_tensor weight,
                                      tc_tensor bias, int stride, int padding,
                                      int output_padding, int dilation, int groups) {
    tc_conv_options o = tc__conv_alike(stride, padding, dilation, groups);
    o.output_padding[0] = o.output_padding[1] = output_padding;
    return tc__conv_transpose2d_with(f, x, weight, bias, &o);
}

static tc_tensor tc__conv_transpose1d(tc__api *f, tc_tensor x, tc_tensor weight,
                                      tc_tensor bias, int stride, int padding,
                                      int output_padding, int dilation, int groups) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    if (!tc__conv_check(f, weight, bias, tc__or_one(groups), 1, 1)) return tc__null();
    o.stride[1] = stride, o.padding[1] = padding, o.dilation[1] = dilation;
    o.output_padding[1] = output_padding, o.groups = groups;
    f->word[TC__CONV_TRANSPOSE1D_STRIDE] = tc__or_one(stride);
    f->word[TC__CONV_TRANSPOSE1D_DILATION] = tc__or_one(dilation);
    f->word[TC__CONV_TRANSPOSE1D_GROUPS] = tc__ix_const(tc__or_one(groups));
    tc_tensor y =
        tc_conv_transpose2d_with(tc_unsqueeze(x, -2), tc_unsqueeze(weight, -2), bias, &o);
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
