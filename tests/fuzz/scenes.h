// What recipes make: a product, a convolution, pooling or attention of random sizes and operands, and what follows it.
#ifndef FUZZ_SCENES_H
#define FUZZ_SCENES_H
#include "recipe.h"

// ---- products ----
static array product_of(machine *m, int a, int b, int as) {
    int dtype = promoted(A(a)->dtype, A(b)->dtype);
    array x = array_cast(A(a), dtype), y = array_cast(A(b), dtype);
    array r = array_matmul(&x, &y, as);
    free(x.at), free(y.at);
    return r;
}

static int matmul(machine *m, int a, int b) {
    int r = add(m, product_of(m, a, b, promoted(A(a)->dtype, A(b)->dtype)));
    DO(r, tc_matmul(T(a), T(b)), "tc_matmul(v%d, v%d)", a, b);
    return r;
}

static int bmm(machine *m, int a, int b) {
    int r = add(m, product_of(m, a, b, promoted(A(a)->dtype, A(b)->dtype)));
    DO(r, tc_bmm(T(a), T(b)), "tc_bmm(v%d, v%d)", a, b);
    return r;
}

// What several calculate together is rounded once to a half.
static int once(int dtype) { return is_half(dtype) ? (int)TC_F32 : dtype; }

// The sum of a and b, which it takes, as dtype; without b a alone.
static array summed(array a, const array *b, int dtype) {
    array y = b ? array_binary(&a, b, ADD) : array_cast(&a, dtype), r = y;
    if (b) r = array_cast(&y, dtype), free(y.at);
    free(a.at);
    return r;
}

static int linear(machine *m, int x, int w, int bias) {
    int dtype = A(x)->dtype;
    array t = array_permute(A(w), TC_DIMS(1, 0)),
          y = array_matmul(A(x), &t, bias < 0 ? dtype : once(dtype));
    free(t.at);
    int r = add(m, summed(y, bias < 0 ? NULL : A(bias), dtype));
    if (bias < 0)
        DO(r, tc_linear(T(x), T(w), tc_null()), "tc_linear(v%d, v%d, tc_null())", x, w);
    else
        DO(r, tc_linear(T(x), T(w), T(bias)), "tc_linear(v%d, v%d, v%d)", x, w, bias);
    return r;
}

static int addmm(machine *m, int t, int a, int b, double beta, double alpha) {
    int dtype = A(a)->dtype;
    array y = array_matmul(A(a), A(b), once(dtype)), z = array_cast(A(t), once(dtype));
    array u = array_unary(&y, TIMES, alpha), v = array_unary(&z, TIMES, beta);
    free(y.at), free(z.at);
    int r = add(m, summed(u, &v, dtype));
    free(v.at);
    DO(r, tc_addmm(T(t), T(a), T(b), beta, alpha), "tc_addmm(v%d, v%d, v%d, %g, %g)", t, a,
       b, beta, alpha);
    return r;
}

static int64_t some_size(machine *m) {
    return EXTENT(m, 1, 2, 3, 4, 5, 7, 8, 12, 13, 16, 16, 17, 24, 31, 32, 32, 33, 40, 48,
                  49, 64, 64, 65, 80, 96, 97, 100, 128, 128, 129, 160, 192, 200);
}

static int64_t some_depth(machine *m) {
    return EXTENT(m, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 20, 31, 32, 33, 48, 60, 64, 65, 96,
                  100, 127, 128, 129, 200, 256, 300, 400, 511, 512, 513, 640, 641, 768,
                  1000, 1025, 2000);
}

// Another product of the same sizes, added.
static int matmul_scene(machine *m, int dtype) {
    axis rows = in_parts(m, some_size(m)), cols = in_parts(m, some_size(m)),
         depth = in_parts(m, some_depth(m)), batch = one(1);
    int form = choose(m, 10), batched = form == 7 || odds(m, 25);
    if (odds(m, 25)) // whole vectors of rows, times heads beside each other
        rows = one(8 * EXTENT(m, 1, 2, 3, 4, 5, 8, 12, 16)), batched = form == 7,
        depth = in_two(m, some_depth(m)), cols = in_two(m, some_size(m));
    if (batched) batch = in_parts(m, EXTENT(m, 2, 3, 4, 5, 6, 8, 12, 16));
    axis *all[4] = {&batch, &rows, &cols, &depth};
    fit(all, 4, m->limit);
    axis left[3] = {batch, rows, depth}, right[3] = {batch, depth, cols},
         turned[2] = {cols, depth};
    int other = form < 4 && odds(m, 6) && !m->derives ? random_dtype(m) : dtype;
    int a = operand(m, left + !batched, 2 + batched, dtype);
    if (form == 4 || form == 5) {
        int w = operand(m, turned, 2, dtype);
        axis row = one(whole(cols));
        return linear(m, a, w, form == 5 ? view_of_input(m, &row, 1, dtype) : -1);
    }
    int shared = batched && form != 7 && odds(m, 40); // the right one is one for all
    if (shared && choose(m, 2)) right[0] = one(1), shared = 0;
    int b = operand(m, right + (!batched || shared), 2 + (batched && !shared), other);
    if (form == 7 && whole(right[0]) == whole(batch)) return bmm(m, a, b);
    if (form == 6 && !batched) {
        axis sizes[2] = {choose(m, 2) ? one(1) : rows, cols};
        int t = operand(m, sizes, 2, dtype);
        return addmm(m, t, a, b, ONE_OF(m, 1, 2), ONE_OF(m, 1, 3));
    }
    int y = matmul(m, a, b);
    if (!odds(m, 15) || !has_room(m)) return y;
    b = operand(m, right + (!batched || shared), 2 + (batched && !shared), other);
    int z =
        matmul(m, choose(m, 2) ? a : operand(m, left + !batched, 2 + batched, dtype), b);
    return combine(m, y, z, choose(m, 2) ? MUL : ADD);
}

// ---- convolutions ----
static tc_conv_options options_of(const windows *w) {
    tc_conv_options o;
    int first = 3 - w->axes;
    memset(&o, 0, sizeof o);
    for (int i = first; i < 3; i++) {
        o.stride[i - first] = (int)w->stride[i], o.padding[i - first] = (int)w->padding[i];
        o.dilation[i - first] = (int)w->dilation[i];
        o.output_padding[i - first] = (int)w->more[i];
    }
    o.groups = w->groups;
    return o;
}

static tc_tensor convolution_call(const windows *w, tc_tensor x, tc_tensor weight,
                                  tc_tensor bias) {
    tc_conv_options o = options_of(w);
    if (w->axes == 1 && w->transposed)
        return tc_conv_transpose1d(x, weight, bias, o.stride[0], o.padding[0],
                                   o.output_padding[0], o.dilation[0], o.groups);
    if (w->axes == 1)
        return tc_conv1d(x, weight, bias, o.stride[0], o.padding[0], o.dilation[0],
                         o.groups);
    if (w->transposed)
        return w->axes == 2 ? tc_conv_transpose2d_with(x, weight, bias, &o)
                            : tc_conv_transpose3d_with(x, weight, bias, &o);
    return w->axes == 2 ? tc_conv2d_with(x, weight, bias, &o)
                        : tc_conv3d_with(x, weight, bias, &o);
}

static void convolution_text(machine *m, const windows *w, int r, int x, int weight,
                             int bias) {
    tc_conv_options o = options_of(w);
    char with[40] = "tc_null()";
    if (!m->f || m->pass != RECORD) return;
    if (bias >= 0) snprintf(with, sizeof with, "v%d", bias);
    fprintf(m->f, "    tc_tensor v%d = tc_conv%s%dd", r, w->transposed ? "_transpose" : "",
            w->axes);
    fprintf(m->f, "%s(v%d, v%d, %s, ", w->axes == 1 ? "" : "_with", x, weight, with);
    if (w->axes == 1 && w->transposed)
        fprintf(m->f, "%d, %d, %d, %d, %d);\n", o.stride[0], o.padding[0],
                o.output_padding[0], o.dilation[0], o.groups);
    else if (w->axes == 1)
        fprintf(m->f, "%d, %d, %d, %d);\n", o.stride[0], o.padding[0], o.dilation[0],
                o.groups);
    else
        fprintf(
            m->f,
            "&(tc_conv_options){{%d, %d, %d}, {%d, %d, %d}, {%d, %d, %d}, %d, {%d, %d, %d}});\n",
            o.stride[0], o.stride[1], o.stride[2], o.padding[0], o.padding[1], o.padding[2],
            o.dilation[0], o.dilation[1], o.dilation[2], o.groups, o.output_padding[0],
            o.output_padding[1], o.output_padding[2]);
}

// As five dimensions: those that are not there are of one element.
static array deep(const array *a, int axes, int batch) {
    tc_dims d = TC_DIMS(1, 1, 1, 1, 1);
    int lead = batch ? 2 : 1;
    for (int i = 0; i < lead; i++) d.size[2 - lead + i] = a->d.size[i];
    for (int i = 0; i < axes; i++) d.size[5 - axes + i] = a->d.size[lead + i];
    return array_reshape(a, d);
}

static int convolution(machine *m, const windows *w, int x, int weight, int bias,
                       int batch) {
    int dtype = A(x)->dtype, lead = batch ? 2 : 1;
    array p = deep(A(x), w->axes, batch), q = deep(A(weight), w->axes, 1), b, y, z;
    y = array_windows(&p, &q, w, bias >= 0 ? once(dtype) : dtype);
    if (bias >= 0) b = array_reshape(A(bias), TC_DIMS(A(bias)->n, 1, 1, 1));
    tc_dims d = y.d, e = A(x)->d;
    y = summed(y, bias >= 0 ? &b : NULL, dtype);
    for (int i = 0; i < lead; i++) e.size[i] = d.size[2 - lead + i];
    for (int i = 0; i < w->axes; i++) e.size[lead + i] = d.size[5 - w->axes + i];
    z = array_reshape(&y, e);
    free(p.at), free(q.at), free(y.at);
    if (bias >= 0) free(b.at);
    int r = add(m, z);
    convolution_text(m, w, r, x, weight, bias);
    if (m->tc && m->pass == RECORD)
        T(r) = convolution_call(w, T(x), T(weight), bias < 0 ? tc_null() : T(bias));
    return r;
}

// An axis of windows over n elements, of which at least one fits.
static void choose_window(machine *m, windows *w, int i, int64_t n) {
    w->taps[i] = ONE_OF(m, 1, 3, 3, 3, 2, 4, 5, 7);
    w->stride[i] = ONE_OF(m, 1, 1, 1, 2, 2, 3);
    w->dilation[i] = ONE_OF(m, 1, 1, 1, 1, 2, 3);
    w->padding[i] = choose(m, 2) ? w->dilation[i] * (w->taps[i] - 1) / 2 : choose(m, 3);
    if (w->transposed) {
        int64_t most = w->stride[i] > w->dilation[i] ? w->stride[i] : w->dilation[i];
        w->more[i] = odds(m, 30) ? choose(m, (int)most) : 0;
        if (windows_out(w, i, n) < 1) w->padding[i] = 0;
    }
    while (windows_out(w, i, n) < 1) w->padding[i]++;
}

static int convolution_scene(machine *m, int dtype, int transposed) {
    windows w;
    axis x[5], weight[5];
    memset(&w, 0, sizeof w);
    w.axes = ONE_OF(m, 2, 2, 2, 1, 3), w.transposed = transposed, w.groups = 1;
    for (int i = 0; i < 3; i++) w.taps[i] = w.stride[i] = w.dilation[i] = 1;
    axis batch = one(EXTENT(m, 1, 1, 1, 2, 3)),
         c = one(EXTENT(m, 1, 2, 3, 4, 5, 8, 8, 8, 16, 16, 17, 24, 30, 32, 64)),
         o = one(
             EXTENT(m, 1, 2, 3, 5, 6, 7, 8, 8, 8, 9, 12, 13, 16, 16, 17, 32, 33, 48, 64)),
         n[3];
    axis *all[6] = {&batch, &c, &o};
    for (int i = 3 - w.axes; i < 3; i++)
        n[i] = one(w.axes == 3 ? EXTENT(m, 1, 2, 3, 4, 5, 7, 8, 9, 14)
                               : EXTENT(m, 1, 3, 5, 7, 8, 12, 14, 15, 16, 16, 20, 24, 27,
                                        28, 30, 32, 32, 36, 40, 54, 56, 57, 66)),
        all[3 + i - (3 - w.axes)] = &n[i];
    if (w.axes == 1) n[2] = one(some_depth(m));
    if (w.axes == 2 && odds(m, 60)) n[1] = n[2];
    if (choose(m, 2)) { // large images of few channels, not small ones of many
        int64_t image = 1;
        for (int i = 3 - w.axes; i < 3; i++) image *= whole(n[i]);
        fit(all, 3, 1 + m->limit / (image * (w.axes == 1 ? 3 : 9)));
    }
    fit(all, 3 + w.axes, m->limit / (w.axes == 1 ? 3 : 9));
    int usual = choose(m, 2),
        three =
            choose(m, 4); // 3x3, or 1x1, with as many results as elements, in whole vectors
    if (usual) n[2] = one((whole(n[2]) + 7) / 8 * 8);
    for (int i = 3 - w.axes; i < 3; i++)
        if (usual)
            w.taps[i] = three ? 3 : 1, w.padding[i] = w.taps[i] / 2;
        else
            choose_window(m, &w, i, whole(n[i]));
    int64_t per = whole(c), results = whole(o);
    if (odds(m, usual ? 8 : 30)) { // groups
        w.groups = ONE_OF(m, 2, 3, 4, 8);
        if (odds(m, 40)) w.groups = (int)per; // each channel by itself
        per = (per + w.groups - 1) / w.groups,
        results = (results + w.groups - 1) / w.groups;
        if (odds(m, 30)) per = results = 1;
    }
    x[0] = batch, x[1] = in_parts(m, per * w.groups);
    weight[0] = in_parts(m, transposed ? per * w.groups : results * w.groups);
    if (whole(x[1]) != per * w.groups) x[1] = one(per * w.groups);
    if (whole(weight[0]) != (transposed ? per : results) * w.groups)
        weight[0] = one((transposed ? per : results) * w.groups);
    weight[1] = one(transposed ? results : per);
    for (int i = 0; i < w.axes; i++) {
        int k = 3 - w.axes + i;
        x[2 + i] = n[k], weight[2 + i] = one(w.taps[k]);
    }
    int alone = odds(m, 12); // no batch
    int p = operand(m, x + alone, 2 + w.axes - alone, dtype),
        q = operand(m, weight, 2 + w.axes, dtype), b = -1;
    axis bias = one(results * w.groups);
    if (choose(m, 2)) b = view_of_input(m, &bias, 1, dtype);
    return convolution(m, &w, p, q, b, !alone);
}

// 3x3 with channels and images enough to take fewer products (Winograd), and another one behind it.
static int fewer_scene(machine *m, int transposed) {
    windows w;
    axis x[4], weight[4];
    memset(&w, 0, sizeof w);
    w.axes = 2, w.transposed = transposed, w.groups = 1;
    for (int i = 0; i < 3; i++) w.taps[i] = i ? 3 : 1, w.stride[i] = w.dilation[i] = 1;
    for (int i = 1; i < 3; i++) w.padding[i] = ONE_OF(m, 1, 0, 1, 2, 1);
    x[0] = one(EXTENT(m, 1, 1, 2, 3));
    for (int i = 1; i < 4; i++)
        x[i] = one(i == 1 ? ONE_OF(m, 32, 32, 40, 48, 64, 72, 96, 36)
                          : ONE_OF(m, 24, 20, 14, 16, 17, 21, 22, 25, 27, 33, 9));
    axis o = one(ONE_OF(m, 32, 32, 40, 48, 64, 72, 24)), *all[3] = {&x[0], &x[2], &x[3]};
    fit(all, 3, 700000 / (whole(x[1]) * whole(o)));
    for (int i = 2; i < 4; i++)
        if (whole(x[i]) < 3) x[i] = one(3);
    weight[0] = transposed ? x[1] : o, weight[1] = transposed ? o : x[1];
    weight[2] = weight[3] = one(3);
    int p = operand(m, x, 4, TC_F32), q = operand(m, weight, 4, TC_F32), b = -1;
    if (choose(m, 2)) b = view_of_input(m, &o, 1, TC_F32);
    int y = convolution(m, &w, p, q, b, 1);
    if (!odds(m, 30) || A(y)->d.size[2] < 3 || A(y)->d.size[3] < 3) return y;
    if (choose(m, 2)) y = apply(m, y, RELU);
    if (!transposed) weight[1] = o, weight[0] = x[1];
    if (transposed) weight[0] = o, weight[1] = x[1];
    return convolution(m, &w, y, operand(m, weight, 4, TC_F32), -1, 1);
}

static int pool_scene(machine *m, int dtype) {
    windows w;
    memset(&w, 0, sizeof w);
    axis x[4] = {one(EXTENT(m, 1, 2, 3)), one(EXTENT(m, 1, 2, 3, 5, 16)),
                 one(EXTENT(m, 1, 2, 5, 7, 14, 27, 56)),
                 one(EXTENT(m, 1, 3, 7, 14, 33, 56, 57))};
    int kernel = ONE_OF(m, 1, 2, 3, 5), stride = ONE_OF(m, 0, 1, 2, 3), mean = choose(m, 2);
    int padding = odds(m, 40) ? choose(m, kernel / 2 + 1) : 0;
    for (int i = 0; i < 3; i++) {
        w.taps[i] = kernel, w.stride[i] = stride ? stride : kernel, w.dilation[i] = 1;
        w.padding[i] = padding;
        if (i && windows_out(&w, i, whole(x[1 + i])) < 1) x[1 + i] = one(kernel);
    }
    if (!is_floating(dtype)) mean = 0; // it would be a float
    int v = operand(m, x, 4, dtype), r = add(m, array_pool(A(v), &w, mean));
    if (mean)
        DO(r, tc_avg_pool2d(T(v), kernel, stride, padding),
           "tc_avg_pool2d(v%d, %d, %d, %d)", v, kernel, stride, padding);
    else
        DO(r, tc_max_pool2d(T(v), kernel, stride, padding),
           "tc_max_pool2d(v%d, %d, %d, %d)", v, kernel, stride, padding);
    return r;
}

// ---- attention ----
// Scores and shares of halves are f32, and shares are rounded as factors of the second product.
static array attention_of(const array *q, const array *k, const array *v, const array *mask,
                          int causal, double scale) {
    int dtype = q->dtype, rank = k->d.rank;
    tc_dims order = k->d;
    for (int i = 0; i < rank; i++) order.size[i] = i;
    order.size[rank - 1] = rank - 2, order.size[rank - 2] = rank - 1;
    array t = array_permute(k, order), s = array_matmul(q, &t, once(dtype)), u, y;
    int64_t rows = s.d.size[s.d.rank - 2], cols = s.d.size[s.d.rank - 1];
    array wide;
    memset(&wide, 0, sizeof wide);
    if (mask) wide = array_expand(mask, s.d);
    for (int64_t i = 0; s.at && i < s.n; i++) {
        cell c = s.at[i];
        c = settled(s.dtype, c.x * scale,
                    c.far * scale + 0x1p-50 * fabs(c.x) +
                        (s.dtype == TC_F64 ? 0 : 0x1p-22 * fabs(c.x * scale)));
        if (mask && mask->dtype == TC_BOOL && !wide.at[i].i)
            c = settled(s.dtype, -INFINITY, 0);
        if (mask && mask->dtype != TC_BOOL)
            c = binary_of(ADD, s.dtype, c, cast_of(mask->dtype, s.dtype, wide.at[i]));
        if (causal && i % cols > i / cols % rows) c = settled(s.dtype, -INFINITY, 0);
        s.at[i] = c;
    }
    u = array_softmax(&s, 1), y = array_cast(&u, dtype);
    array r = array_matmul(&y, v, dtype);
    free(t.at), free(s.at), free(u.at), free(y.at), free(wide.at);
    return r;
}

static int attention(machine *m, int q, int k, int v, int mask, int causal, double scale) {
    double by = scale == 0 ? 1 / sqrt((double)A(q)->d.size[A(q)->d.rank - 1]) : scale;
    int r = add(m, attention_of(A(q), A(k), A(v), mask < 0 ? NULL : A(mask), causal, by));
    char with[40] = "tc_null()";
    if (mask >= 0) snprintf(with, sizeof with, "v%d", mask);
    DO(r,
       tc_scaled_dot_product_attention(T(q), T(k), T(v), mask < 0 ? tc_null() : T(mask),
                                       causal, scale),
       "tc_scaled_dot_product_attention(v%d, v%d, v%d, %s, %d, %g)", q, k, v, with, causal,
       scale);
    return r;
}

static int transposed(machine *m, int v) {
    tc_dims d = A(v)->d;
    for (int i = 0; i < d.rank; i++) d.size[i] = i;
    d.size[d.rank - 1] = d.rank - 2, d.size[d.rank - 2] = d.rank - 1;
    return permute(m, v, d);
}

static int attention_scene(machine *m, int dtype) {
    axis batch = one(EXTENT(m, 1, 1, 2, 3)), heads = one(EXTENT(m, 1, 2, 4)),
         group = one(EXTENT(m, 1, 2, 3)), rows = one(EXTENT(m, 1, 4, 7, 16, 33, 40, 64)),
         keys = one(EXTENT(m, 1, 5, 16, 17, 32, 40, 64, 100)),
         wide = one(EXTENT(m, 1, 4, 8, 16, 20, 32, 64)),
         of = one(EXTENT(m, 1, 8, 16, 24, 32, 64));
    axis *all[6] = {&batch, &heads, &group, &rows, &keys, &wide};
    int form = choose(m, 5), shares = odds(m, 40);
    if (!shares) group = one(1);
    fit(all, 6, m->limit);
    axis q[5] = {batch, heads, group, rows, wide},
         k[5] = {batch, heads, one(1), keys, wide}, v[5] = {batch, heads, one(1), keys, of};
    axis flat[4] = {batch, one(whole(heads) * whole(group)), rows, wide};
    int twice = shares && choose(m, 2); // keys and values are repeated for a group's heads
    int a = twice ? operand(m, flat, 4, dtype) : operand(m, q, 5, dtype);
    int b = operand(m, k, 5, dtype), c = operand(m, v, 5, dtype);
    if (twice) {
        tc_dims d = A(b)->d, e = A(c)->d;
        for (int i = 2; i < 4; i++) d.size[i] = d.size[i + 1], e.size[i] = e.size[i + 1];
        d.rank = e.rank = 4, d.size[4] = e.size[4] = 0;
        b = repeat(m, reshape(m, b, d), whole(group), 1);
        c = repeat(m, reshape(m, c, e), whole(group), 1);
    }
    if (form == 4) { // by hand
        int s = matmul(m, a, transposed(m, b));
        s = apply(m, s, TIMES);
        if (odds(m, 50)) s = combine(m, s, beside(m, s, dtype), ADD);
        return matmul(m, softmax(m, s), c);
    }
    int mask = -1;
    if (form == 2 || form == 3) {
        axis full[2] = {choose(m, 2) ? one(1) : rows, keys};
        mask = view_of_input(m, full, 2, form == 2 ? (int)TC_BOOL : dtype);
    }
    return attention(m, a, b, c, mask, form == 1 || odds(m, 10), choose(m, 2) ? 0.25 : 0);
}

// ---- what follows ----

// Of other sizes, or the same elements in another order.
static int moved(machine *m, int y) {
    tc_dims d = A(y)->d, e = d;
    int dim = choose(m, d.rank);
    switch (choose(m, 4)) {
    case 0: return d.rank > 1 ? transposed(m, y) : y;
    case 1:
        e.rank = 1, e.size[0] = A(y)->n;
        for (int i = 1; i < TC_MAX_RANK; i++) e.size[i] = 0;
        if (d.rank > 1)
            e.rank = 2, e.size[0] = A(y)->n / d.size[d.rank - 1],
            e.size[1] = d.size[d.rank - 1];
        return reshape(m, y, e);
    case 2: return slice(m, y, dim, d.size[dim] - 1, d.size[dim], -1);
    default: return slice(m, y, dim, 0, (d.size[dim] + 1) / 2, 2);
    }
}

// Added to, or written into, a slice of something larger, from outside or computed here.
static int written(machine *m, int y) {
    tc_dims d = A(y)->d;
    int dim = choose(m, d.rank), step = 1 + choose(m, 2);
    d.size[dim] = d.size[dim] * step + 1;
    int z = input(m, d, A(y)->dtype);
    if (choose(m, 2)) z = apply(m, z, NEG);
    return write_slice(m, z, dim, 1, step, y, choose(m, 2));
}

// A product with y, or y turned, on one of its sides.
static int multiplied(machine *m, int y) {
    if (A(y)->d.rank < 2) return y;
    if (odds(m, 30)) y = transposed(m, y);
    tc_dims d = A(y)->d;
    int left = !choose(m, 2);
    axis inner = in_parts(m, 1), outer = one(EXTENT(m, 1, 4, 8, 16, 17, 33, 64));
    int64_t depth = d.size[d.rank - (left ? 1 : 2)];
    inner = one(depth);
    while (whole(outer) > 1 && A(y)->n * whole(outer) > m->limit) halve(&outer);
    axis sizes[2] = {left ? inner : outer, left ? outer : inner};
    int w = operand(m, sizes, 2, A(y)->dtype);
    return left ? matmul(m, y, w) : matmul(m, w, y);
}

static unsigned some_mask(machine *m, int rank) {
    unsigned mask = 1 + (unsigned)choose(m, (1 << rank) - 1);
    return mask;
}

static int follow(machine *m, int y) {
    int dtype = A(y)->dtype, floats = is_floating(dtype), r;
    switch (choose(m, 14)) {
    case 0: return y;
    case 1: return apply(m, y, ONE_OF(m, RELU, NEG, TIMES, PLUS, ABS, AT_LEAST));
    case 2:
    case 3:
    case 4: return combine(m, y, beside(m, y, dtype), (binary)choose(m, BINARIES));
    case 5: return combine(m, beside(m, y, dtype), y, (binary)choose(m, BINARIES));
    case 6: result(m, y); return y;
    case 7:
        r = reduce(m, y,
                   floats         ? (reduction)choose(m, REDUCTIONS)
                   : choose(m, 2) ? SUM
                                  : LARGEST,
                   some_mask(m, A(y)->d.rank));
        result(m, r);
        return y;
    case 8:
        r = reduce(m, y, floats ? (reduction)choose(m, REDUCTIONS) : LARGEST,
                   some_mask(m, A(y)->d.rank));
        return combine(m, y, r, SUB);
    case 9: return cast_to(m, y, floats ? random_float(m) : (int)TC_I32);
    case 10: return moved(m, y);
    case 11: return m->derives ? y : written(m, y);
    case 12: return multiplied(m, y);
    default: // of large sums the slopes of the first two are what rounding leaves of 1 - 1
        return floats ? apply(m, y, m->derives ? SILU : ONE_OF(m, TANH, SIGMOID, SILU)) : y;
    }
}

// Gradients of the results, each times numbers, by all inputs that are floats so far.
static void derive(machine *m) {
    int before = m->inputs, loss = -1;
    m->moved = 0;
    for (int i = 0; i < before; i++)
        if (is_floating(A(m->input[i])->dtype)) m->wrt[m->n_wrt++] = i;
    for (int i = 0; i < m->results && m->inputs < MOST_INPUTS; i++) {
        int v = m->result[i], g = input(m, A(v)->d, A(v)->dtype);
        int s = combine(m, v, g, MUL);
        s = reduce(m, s, SUM, (1u << A(v)->d.rank) - 1);
        s = reshape(m, s, TC_SCALAR);
        loss = loss < 0 ? s : combine(m, loss, s, ADD);
    }
    if (A(loss)->at) m->loss = A(loss)->at[0].x;
    if (m->pass != RECORD || m->eager) return;
    if (m->f) {
        fprintf(m->f, "    tc_tensor grad[%d];\n    tc_grad(v%d, ((const tc_tensor[]){",
                m->n_wrt, loss);
        for (int i = 0; i < m->n_wrt; i++)
            fprintf(m->f, "%sv%d", i ? ", " : "", m->input[m->wrt[i]]);
        fprintf(m->f, "}), %d, grad);\n", m->n_wrt);
        fprintf(m->f, "    for (int i = 0; i < %d; i++) tc_keep(grad[i]);\n", m->n_wrt);
    }
    if (!m->tc) return;
    tc_tensor wrt[MOST_INPUTS];
    for (int i = 0; i < m->n_wrt; i++) wrt[i] = m->in[m->wrt[i]];
    tc_grad(T(loss), wrt, m->n_wrt, m->grad);
    for (int i = 0; i < m->n_wrt; i++) tc_keep(m->grad[i]);
}

// All of a program, in one pass of the machine.
static void go(machine *m, pass pass) {
    m->pass = pass, m->at = m->extents = m->n = m->inputs = m->results = m->n_wrt = 0;
    m->limit = ONE_OF(m, 20000, 60000, 200000, 200000, 400000, 800000, 800000, 3000000);
    m->derives = odds(m, 15);
    int scene = choose(m, 100), fewer = m->fast && odds(m, 15), y;
    int dtype = m->derives || scene >= 88 ? random_float(m) : random_dtype(m);
    if (scene >= 83 || m->derives) m->wild = 0; // what they make of NaN is their own
    y = fewer        ? fewer_scene(m, scene < 20)
        : scene < 42 ? matmul_scene(m, dtype)
        : scene < 74 ? convolution_scene(m, dtype, 0)
        : scene < 83 ? convolution_scene(m, dtype, 1)
        : scene < 88 ? pool_scene(m, dtype)
                     : attention_scene(m, dtype);
    // What stands beside a sum is what its kernel reads beside its operands.
    if (odds(m, 60)) y = combine(m, y, beside(m, y, A(y)->dtype), choose(m, 2) ? MUL : ADD);
    for (int steps = choose(m, 4); steps > 0 && has_room(m); steps--) y = follow(m, y);
    result(m, y);
    if (m->derives) derive(m);
}

static void forget(machine *m) {
    for (int i = 0; i < m->n; i++) free(m->a[i].at), m->a[i].at = NULL;
}

#endif
