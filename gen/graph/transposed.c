// Transposed convolutions in public ops: products over index maps by phases (graph/woven.c). Same rules as compose.c.

typedef struct tc__woven {
    tc__conv v; // of a phase
    tc__woven_axis axis[TC__CONV_AXES];
    int64_t from[TC__CONV_AXES], to[TC__CONV_AXES]; // phases that are made
    int64_t groups, results;
    tc_tensor x, weight;
    int dtype, weight_dtype;
} tc__woven;

// What options say of axis i, and the size of the result; 0 = reported.
static int tc__woven_axis_of(tc__woven *s, const tc_conv_options *o, int i) {
    const tc__api *f = s->v.f;
    tc__woven_axis *a = &s->axis[i];
    int64_t more = o->output_padding[i];
    a->n = tc__meta_size(&f->x, 2 + i), a->stride = tc__or_one(o->stride[i]);
    a->dilation = tc__or_one(o->dilation[i]), a->low = o->padding[i];
    if (a->stride < 1 || a->dilation < 1 || a->low < 0 || more < 0 ||
        (more >= a->stride && more >= a->dilation))
        return tc__fail(
            f->c, TC_E_ARG,
            "%s: stride %lld, padding %lld, output_padding %lld, dilation %lld; stride and "
            "dilation must be at least 1, padding at least 0, output_padding at least 0 "
            "and less than stride or dilation",
            f->who, (long long)a->stride, (long long)a->low, (long long)more,
            (long long)a->dilation);
    int64_t reach = tc__ix_times(a->dilation, a->kernel - 1);
    a->out =
        tc__ix_clamp(tc__ix_times(a->n - 1, a->stride) - 2 * a->low) + reach + more + 1;
    if (a->n < 1)
        return tc__fail(f->c, TC_E_SHAPE,
                        "%s: dimension %d of x has no elements, of which a result could be "
                        "made; at least 1 is needed",
                        f->who, i - s->v.axes);
    if (a->kernel < 1 || a->kernel > INT32_MAX || a->out < 1)
        return tc__fail(
            f->c, TC_E_SHAPE,
            "%s: %lld elements by a kernel of %lld (stride %lld, dilation %lld), less "
            "a padding of %lld, leave nothing; pad less, or take a larger kernel",
            f->who, (long long)a->n, (long long)a->kernel, (long long)a->stride,
            (long long)a->dilation, (long long)a->low);
    tc__woven_plan(a, 1);
    if (tc__woven_meets(a)) return 1;
    tc__woven_whole(a);
    int64_t behind =
        a->low + a->out - a->places * a->phases; // output_padding may be more than a step
    a->behind = behind > 0 ? behind : 0;
    return 1;
}

// x with zeros around and between elements along dimension `dim`.
static tc_tensor tc__woven_pad(const tc__woven *s, tc_tensor x, int dim, int64_t low,
                               int64_t high, int64_t dilation) {
    int64_t attr[5];
    if (!low && !high && dilation == 1) return x;
    attr[TC__PAD_DIM] = dim, attr[TC__PAD_DILATION] = tc__ix_const(dilation);
    attr[TC__PAD_LOW] = tc__ix_const(low), attr[TC__PAD_HIGH] = tc__ix_const(high);
    attr[TC__PAD_FILL] = tc__value_word(0, s->dtype);
    return tc__prim(s->v.f, TC_OP_PAD, x, attr, 5);
}

// The weight [C, Og, K...] as that of the phases: [G * Og * P..., C / G, T...], their last tap first.
static tc_tensor tc__woven_weight(const tc__woven *s) {
    const tc__api *f = s->v.f;
    int axes = s->v.axes;
    tc_tensor w = s->weight;
    tc__meta m;
    if (!tc__meta_get(f, w, &m)) return w;
    int64_t c = tc__meta_size(&m, 0) / s->groups, rows = tc__meta_size(&m, 1);
    tc_dims apart = TC_DIMS(c * s->groups, rows), flip = TC_DIMS(0), order = TC_DIMS(0, 1);
    flip.rank = axes, order.rank = apart.rank = 2 + 2 * axes;
    for (int i = 0; i < axes; i++) {
        int64_t phases = s->to[i] - s->from[i], all = s->axis[i].phases,
                taps = s->v.size[i];
        w = tc__slice(f, w, 2 + i, s->from[i], (taps - 1) * all + phases, 1);
        w = tc__woven_pad(s, w, 2 + i, 0, all - phases, 1);
        apart.size[2 + 2 * i] = taps, apart.size[3 + 2 * i] = all, flip.size[i] = 2 + 2 * i;
        order.size[2 + i] = 3 + 2 * i, order.size[2 + axes + i] = 2 + 2 * i;
        rows *= phases;
    }
    w = tc_flip(tc__reshape(f, w, &apart), flip);
    for (int i = 0; i < axes; i++)
        if (s->to[i] - s->from[i] < s->axis[i].phases)
            w = tc__slice(f, w, 3 + 2 * i, 0, s->to[i] - s->from[i], 1);
    tc_dims by_group = TC_DIMS(s->groups, c, rows), turn = TC_DIMS(0, 2, 1),
            left = TC_DIMS(s->groups * rows, c);
    by_group.rank = turn.rank = 3 + axes, left.rank = 2 + axes;
    for (int i = 0; i < axes; i++) {
        by_group.size[3 + i] = left.size[2 + i] = s->v.size[i];
        turn.size[3 + i] = 3 + i;
    }
    w = tc__reshape(f, tc__permute(f, w, &order), &by_group);
    return tc__reshape(f, tc__permute(f, w, &turn), &left);
}

// Of one element along each axis: [P..., N, O, 1...] is a product [N, C] x [C, O * taps] in each group, of the weight as it lies.
static tc_tensor tc__woven_element(const tc__woven *s) {
    const tc__api *f = s->v.f;
    int axes = s->v.axes;
    int64_t n = tc__meta_size(&f->x, 0), c = tc__meta_size(&f->x, 1) / s->groups;
    int64_t o = s->results / s->groups, columns = o;
    tc_dims left = TC_DIMS(n, s->groups, c), by_group = TC_DIMS(1, 0, 2),
            y = TC_DIMS(s->groups, n, o), order = TC_DIMS(0), out = TC_DIMS(0);
    y.rank = order.rank = 3 + axes, out.rank = 2 + 2 * axes;
    for (int i = 0; i < axes; i++) {
        columns *= y.size[3 + i] = out.size[i] = s->axis[i].kernel;
        order.size[i] = 3 + i, out.size[2 + axes + i] = 1;
    }
    order.size[axes] = 1, order.size[axes + 1] = 0, order.size[axes + 2] = 2;
    out.size[axes] = n, out.size[axes + 1] = s->groups * o;
    tc_dims right = TC_DIMS(s->groups, c, columns);
    tc_tensor a = tc__permute(f, tc__reshape(f, s->x, &left), &by_group);
    a = tc__product_of(f, a, f->x.dtype, tc__reshape(f, s->weight, &right),
                       s->weight_dtype);
    return tc__reshape(f, tc__permute(f, tc__reshape(f, a, &y), &order), &out);
}

// Few places for many rows of weights, which would be laid out anew to be met once. From 64 places on devices have a form for
// windows (pass/channels.c).
enum { TC__WOVEN_PLACES = 63, TC__WOVEN_ROWS = 4 };

static int tc__woven_is_turned(const tc__woven *s, int64_t rows) {
    int64_t places = tc__meta_size(&s->v.f->x, 0);
    if (places != 1) return 0;
    for (int i = 0; i < s->v.axes; i++) places *= s->v.out[i];
    return places <= TC__WOVEN_PLACES && rows >= TC__WOVEN_ROWS * places * s->groups;
}

// Windows of x as rows, [G, cells, k], times the weight [G, k, rows]: the same sums, [G * rows, cells].
static tc_tensor tc__woven_turned(const tc__woven *s, tc_tensor x, tc_tensor weight,
                                  const tc__meta *w) {
    const tc__api *f = s->v.f;
    int axes = s->v.axes;
    int64_t k = tc__meta_size(w, 1), cells = 1, rows = tc__meta_size(w, 0) / s->groups;
    tc_dims order = TC_DIMS(0, 1), turn = TC_DIMS(0, 2, 1);
    order.rank = 2 + 2 * axes;
    for (int i = 0; i < axes; i++) {
        k *= s->v.size[i], cells *= s->v.out[i];
        order.size[2 + i] = 2 + axes + i, order.size[2 + axes + i] = 2 + i;
    }
    tc_dims column = TC_DIMS(s->groups, k, cells), row = TC_DIMS(s->groups, rows, k);
    x = tc__permute(f, tc__conv_windows(&s->v, x), &order);
    x = tc__permute(f, tc__reshape(f, x, &column), &turn);
    weight = tc__permute(f, tc__reshape(f, weight, &row), &turn);
    x = tc__product_of(f, x, f->x.dtype, weight, w->dtype);
    return tc__permute(f, x, &turn);
}

// [P..., N, O, Q...] of the phases, which all meet elements.
static tc_tensor tc__woven_phases(const tc__woven *s) {
    const tc__api *f = s->v.f;
    int axes = s->v.axes;
    tc_dims part = TC_DIMS(tc__meta_size(&f->x, 0), s->results), order = TC_DIMS(0);
    tc_tensor x = s->x;
    tc__meta w;
    part.rank = order.rank = 2 + 2 * axes;
    order.size[axes] = 0, order.size[axes + 1] = 1;
    for (int i = 0; i < axes; i++) {
        int64_t low, high, all = tc__woven_elements(&s->axis[i]);
        (void)tc__woven_border(&s->axis[i], s->v.size[i], &low, &high);
        int64_t before = low < 0 ? -low : 0, behind = high < 0 ? -high : 0;
        if (before + behind) x = tc__slice(f, x, 2 + i, before, all - before - behind, 1);
        x = tc__woven_pad(s, x, 2 + i, low + before, high + behind, 1);
        part.size[2 + i] = s->to[i] - s->from[i], part.size[2 + axes + i] = s->v.out[i];
        order.size[i] = 2 + i, order.size[2 + axes + i] = 2 + axes + i;
    }
    tc_tensor weight = tc__woven_weight(s);
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    tc_tensor y = tc__woven_is_turned(s, tc__meta_size(&w, 0))
                      ? tc__woven_turned(s, x, weight, &w)
                      : tc__conv_matmul(&s->v, x, weight, &w, s->groups);
    return tc__permute(f, tc__reshape(f, y, &part), &order);
}

// All phases from axis i on, behind each other: the first, and the rest.
static tc_tensor tc__woven_all(tc__woven *s, int i) {
    const tc__woven_axis *a = &s->axis[i];
    tc_tensor part[2];
    int parts = 0;
    if (i == s->v.axes) return tc__woven_phases(s);
    for (int j = 0; j < 2; j++) {
        s->v.size[i] = tc__woven_part(a, j, &s->from[i], &s->to[i]);
        if (s->v.size[i]) part[parts++] = tc__woven_all(s, i + 1);
    }
    if (parts == 2) return tc__cat(s->v.f, part, 2, i);
    return tc__woven_pad(s, part[0], i, 0, a->taps > 1 ? 0 : a->phases - a->longer, 1);
}

// [P..., N, O, Q...] as the image that phases are of, without its padding.
static tc_tensor tc__woven_image(const tc__woven *s, tc_tensor y) {
    const tc__api *f = s->v.f;
    int axes = s->v.axes;
    tc_dims order = TC_DIMS(axes, axes + 1);
    tc_dims d = TC_DIMS(tc__meta_size(&f->x, 0), s->results);
    order.rank = 2 + 2 * axes, d.rank = 2 + axes;
    for (int i = 0; i < axes; i++) {
        order.size[2 + 2 * i] = 2 + axes + i, order.size[3 + 2 * i] = i;
        d.size[2 + i] = s->v.out[i] * s->axis[i].phases;
    }
    y = tc__reshape(f, tc__permute(f, y, &order), &d);
    for (int i = 0; i < axes; i++) {
        const tc__woven_axis *a = &s->axis[i];
        int64_t size = (a->length - 1) * a->apart + 1;
        if (a->whole) y = tc__woven_pad(s, y, 2 + i, 0, a->behind, 1);
        y = tc__slice(f, y, 2 + i, a->skip, a->length, 1);
        y = tc__woven_pad(s, y, 2 + i, a->before, a->out - a->before - size, a->apart);
    }
    return y;
}

// The words of those of two axes and of three, by axis.
static void tc__transposed_words(const tc_conv_options *o, int axes, int64_t *word) {
    int deep = axes == 3;
    int stride = deep ? TC__CONV_TRANSPOSE3D_STRIDE_D : TC__CONV_TRANSPOSE2D_STRIDE_H,
        padding = deep ? TC__CONV_TRANSPOSE3D_PADDING_D : TC__CONV_TRANSPOSE2D_PADDING_H,
        more = deep ? TC__CONV_TRANSPOSE3D_OUTPUT_PADDING_D
                    : TC__CONV_TRANSPOSE2D_OUTPUT_PADDING_H,
        dilation = deep ? TC__CONV_TRANSPOSE3D_DILATION_D : TC__CONV_TRANSPOSE2D_DILATION_H;
    for (int i = 0; i < axes; i++) {
        word[stride + i] = tc__or_one(o->stride[i]);
        word[padding + i] = tc__ix_const(o->padding[i]);
        word[more + i] = tc__ix_const(o->output_padding[i]);
        word[dilation + i] = tc__or_one(o->dilation[i]);
    }
    word[deep ? TC__CONV_TRANSPOSE3D_GROUPS : TC__CONV_TRANSPOSE2D_GROUPS] =
        tc__ix_const(tc__or_one(o->groups));
}

static tc_tensor tc__woven_batch(tc__api *f, tc_tensor x, tc_tensor weight, tc_tensor bias,
                                 const tc_conv_options *o, int axes) {
    tc__meta w;
    tc__woven s;
    tc_tensor in[3];
    int64_t out[TC__CONV_AXES];
    int element = 1;
    if (!tc__meta_get(f, weight, &w)) return tc__null();
    s.v.f = f, s.v.h = 2, s.v.axes = axes, s.groups = tc__or_one(o->groups);
    s.results = tc__meta_size(&w, 1) * s.groups;
    s.x = x, s.weight = weight, s.dtype = f->x.dtype, s.weight_dtype = w.dtype;
    for (int i = 0; i < axes; i++) {
        tc__woven_axis *a = &s.axis[i];
        a->kernel = tc__meta_size(&w, 2 + i);
        if (!tc__woven_axis_of(&s, o, i)) return tc__null();
        s.v.out[i] = a->places, s.v.dilation[i] = a->gap, s.v.stride[i] = 1;
        out[i] = a->out;
        element &= a->n == 1 && a->phases == a->kernel && a->places == 1 && !a->first;
    }
    if (!tc__dims_check(f->c, f->who, axes, out)) return tc__null();
    tc__transposed_words(o, axes, f->word);
    in[0] = x, in[1] = weight, in[2] = bias;
    if (bias.id) tc__widen_product(f, in, 3);
    for (int i = 0; i < axes; i++)
        s.x = tc__woven_pad(&s, s.x, 2 + i, 0, 0, s.axis[i].spread);
    tc_tensor y =
        tc__woven_image(&s, element ? tc__woven_element(&s) : tc__woven_all(&s, 0));
    if (bias.id) y = tc_add(y, tc__per_channel(f, bias));
    return tc__rounded(f, y);
}

static tc_tensor tc__conv_transpose_with(tc__api *f, tc_tensor x, tc_tensor weight,
                                         tc_tensor bias, const tc_conv_options *options,
                                         int axes) {
    return tc__conv_of(f, x, weight, bias, options, axes, 1, tc__woven_batch);
}

static tc_tensor tc__conv_transpose2d_with(tc__api *f, tc_tensor x, tc_tensor weight,
                                           tc_tensor bias, const tc_conv_options *options) {
    return tc__conv_transpose_with(f, x, weight, bias, options, 2);
}

static tc_tensor tc__conv_transpose3d_with(tc__api *f, tc_tensor x, tc_tensor weight,
                                           tc_tensor bias, const tc_conv_options *options) {
    return tc__conv_transpose_with(f, x, weight, bias, options, 3);
}

// The same along all axes.
static tc_tensor tc__conv_transpose_alike(tc__api *f, tc_tensor x, tc_tensor weight,
                                          tc_tensor bias, int stride, int padding,
                                          int output_padding, int dilation, int groups,
                                          int axes) {
    if (!tc__conv_given(f, stride, padding, dilation, groups)) return tc__null();
    tc_conv_options o = tc__conv_alike(stride, padding, dilation, groups);
    for (int i = 0; i < axes; i++) o.output_padding[i] = output_padding;
    return tc__conv_transpose_with(f, x, weight, bias, &o, axes);
}

static tc_tensor tc__conv_transpose2d(tc__api *f, tc_tensor x, tc_tensor weight,
                                      tc_tensor bias, int stride, int padding,
                                      int output_padding, int dilation, int groups) {
    return tc__conv_transpose_alike(f, x, weight, bias, stride, padding, output_padding,
                                    dilation, groups, 2);
}

static tc_tensor tc__conv_transpose3d(tc__api *f, tc_tensor x, tc_tensor weight,
                                      tc_tensor bias, int stride, int padding,
                                      int output_padding, int dilation, int groups) {
    return tc__conv_transpose_alike(f, x, weight, bias, stride, padding, output_padding,
                                    dilation, groups, 3);
}

static tc_tensor tc__conv_transpose1d(tc__api *f, tc_tensor x, tc_tensor weight,
                                      tc_tensor bias, int stride, int padding,
                                      int output_padding, int dilation, int groups) {
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    if (!tc__conv_given(f, stride, padding, dilation, groups) ||
        !tc__conv_check(f, weight, bias, groups, 1, 1))
        return tc__null();
    o.stride[1] = stride, o.padding[1] = padding, o.dilation[1] = dilation;
    o.output_padding[1] = output_padding, o.groups = groups;
    f->word[TC__CONV_TRANSPOSE1D_STRIDE] = stride;
    f->word[TC__CONV_TRANSPOSE1D_DILATION] = dilation;
    f->word[TC__CONV_TRANSPOSE1D_GROUPS] = tc__ix_const(groups);
    tc_tensor image = tc_unsqueeze(x, -2), w = tc_unsqueeze(weight, -2);
    return tc_squeeze(tc_conv_transpose2d_with(image, w, bias, &o), -2);
}
