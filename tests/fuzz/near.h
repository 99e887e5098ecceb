// Results of a device, which rounds some ops otherwise, against the interpreter's. What such an op may
// change is found out by doing it: the program runs NEAR times more, eagerly, and every result of an op
// that the two need not compute to the same bits is multiplied by a number near 1, another one for
// each element. The results of these runs show what of a difference reaches a value: nothing, where
// only exact ops are (then the device must have the same), much, where values cancel, anything,
// where a comparison or an index depends on it.
//
// Code for TC_NUMERICS_FAST is held against it as well (`near_fast`): the same ops may differ, and products, which may be
// rounded together with a sum, by less.
#ifndef FUZZ_NEAR_H
#define FUZZ_NEAR_H

enum { NEAR = 16, OF_ALL = 8, MAX_NEAR = 8 };

static int perturbation; // number of such a run, from 1; 0 = none
static int near_fast;    // 1: it stands for TC_NUMERICS_FAST on the host
static int near_derives; // 1: of a program with gradients

// How far from 1: some units of the last place. A product that is not rounded is half a unit away, and ours of several of
// them, as polynomials are, some units; a half has no number nearer to 1 than one.
static double nearness(int dtype) {
    if (near_fast)
        return dtype == TC_BF16  ? 0x1p-7
               : dtype == TC_F16 ? 0x1p-10
               : dtype == TC_F32 ? 0x1p-22
                                 : 0x1p-51;
    return dtype == TC_BF16  ? 0x1p-5
           : dtype == TC_F16 ? 0x1p-8
           : dtype == TC_F32 ? 0x1p-17
                             : 0x1p-46;
}

static int is_named(const char *name, const char *const *list, int n) {
    for (int i = 0; i < n; i++)
        if (!strcmp(name, list[i])) return 1;
    return 0;
}

// Ops whose results are the nearest number, or no arithmetic: the same everywhere.
static const char *const exact_unary[] = {
    "neg",      "abs",         "sign",        "square",     "reciprocal", "sqrt",
    "relu",     "floor",       "ceil",        "round",      "trunc",      "isnan",
    "isfinite", "logical_not", "bitwise_not", "contiguous", "clone",      "squeeze_all",
    "zero_",    "neg_",        "relu_",       "square_"};
static const char *const inexact_binary[] = {"pow", "atan2", "pow_s", "rpow_s"};
static const char *const exact_reduce[] = {"amax", "amin",   "any",
                                           "all",  "argmax", "argmin"};

// 1 = the result may differ; 2 = and by as much as other operands would change it.
static int is_inexact(const call *o) {
    switch (o->kind) {
    case C_UNARY:
        if (strstr(unary_ops[o->fn].name, "_all") &&
            strcmp(unary_ops[o->fn].name, "squeeze_all"))
            return 2;
        return !is_named(unary_ops[o->fn].name, exact_unary, COUNT(exact_unary));
    case C_IN_UNARY:
        return !is_named(in_place_unary[o->fn].name, exact_unary, COUNT(exact_unary));
    case C_BINARY:
        return is_named(binary_ops[o->fn].name, inexact_binary, COUNT(inexact_binary));
    case C_SCALAR:
        return is_named(scalar_ops[o->fn].name, inexact_binary, COUNT(inexact_binary));
    case C_REDUCE:
        return 2 * !is_named(reduce_ops[o->fn].name, exact_reduce, COUNT(exact_reduce));
    case C_ALONG:
        return 2 * !is_named(along_ops[o->fn].name, exact_reduce, COUNT(exact_reduce));
    case C_MATMUL:
    case C_LINEAR:
    case C_VAR:
    case C_LAYER_NORM:
    case C_SCATTER: return 2;
    case C_ROWS: return 2 * !o->fn;
    case C_RAND: return o->fn;
    default: return 0;
    }
}

static const char *name_of(const call *o) {
    switch (o->kind) {
    case C_UNARY: return unary_ops[o->fn].name;
    case C_BINARY: return binary_ops[o->fn].name;
    case C_SCALAR: return scalar_ops[o->fn].name;
    case C_IN_UNARY: return in_place_unary[o->fn].name;
    case C_IN_TENSOR: return in_place_tensor[o->fn].name;
    case C_IN_SCALAR: return in_place_scalar[o->fn].name;
    default: return "";
    }
}

// The same of ops that multiply, where a product may be rounded with what it is added to; 2: it is added within the op.
static int is_product(const call *o) {
    static const char *const products[] = {"mul",  "mul_s",  "square",
                                           "mul_", "mul_s_", "square_"};
    // Quotients, whose derivatives are products.
    static const char *const derived[] = {"reciprocal", "sqrt", "div", "div_s", "rdiv_s"};
    static const char *const sums[] = {"remainder",   "fmod",   "floor_divide",
                                       "remainder_s", "fmod_s", "floor_divide_s"};
    if (o->kind == C_FMA || o->kind == C_RESIZE || is_named(name_of(o), sums, COUNT(sums)))
        return 2;
    if (near_derives && is_named(name_of(o), derived, COUNT(derived))) return 1;
    return o->kind == C_ARANGE || is_named(name_of(o), products, COUNT(products));
}

static int is_in_place(const call *o) {
    return o->kind == C_IN_UNARY || o->kind == C_IN_TENSOR || o->kind == C_IN_SCALAR;
}

// Numbers near 1 of t's sizes; null = t is not of floats.
static tc_tensor noise_like(tc_ctx *tc, tc_tensor t, uint64_t seed) {
    int dtype = (int)tc_dtype_of(t);
    tc_dims d = tc_shape(t);
    int64_t n = tc_numel(t);
    if (!t.id || category(dtype) < 2 || n <= 0) return tc_null();
    void *p = calloc((size_t)n, 8);
    for (int64_t i = 0; i < n; i++) {
        double u = (double)(mix(seed + (uint64_t)i) >> 11) * 0x1p-52 - 1;
        if (perturbation <= 2) u = perturbation == 1 ? 1 : -1; // all the same way
        store(p, dtype, i, 1 + u * nearness(dtype));
    }
    tc_tensor noise = tc_from_data(tc, p, d, (tc_dtype)dtype);
    free(p);
    return noise;
}

static tc_tensor nudged(tc_ctx *tc, tc_tensor t, uint64_t seed) {
    tc_tensor noise = noise_like(tc, t, seed);
    return noise.id ? tc_mul(t, noise) : t;
}

// Whether the op computes with floats whatever it is given.
static int is_of_floats(const call *o) {
    static const char *const names[] = {"mean", "logsumexp", "softmax", "log_softmax",
                                        "mean_all"};
    const char *name = o->kind == C_REDUCE  ? reduce_ops[o->fn].name
                       : o->kind == C_ALONG ? along_ops[o->fn].name
                       : o->kind == C_UNARY ? unary_ops[o->fn].name
                                            : "";
    return o->kind == C_VAR || o->kind == C_LAYER_NORM || (o->kind == C_RESIZE && o->fn) ||
           is_named(name, names, COUNT(names));
}

static int is_of_logs(const call *o) {
    const char *name = o->kind == C_REDUCE  ? reduce_ops[o->fn].name
                       : o->kind == C_ALONG ? along_ops[o->fn].name
                                            : "";
    return !strcmp(name, "log_softmax") || !strcmp(name, "logsumexp");
}

// Derivatives are sums, too, of terms that are as large as 1, as 1 - tanh^2 is; and x (1 + erf) / 2 is near 0 one of terms as large as
// x. So t, a function of x, gets such a slope, or such a sum, beside its own.
static tc_tensor steepened(tc_ctx *tc, const call *o, tc_tensor t, tc_tensor x,
                           uint64_t seed) {
    tc_tensor noise = noise_like(tc, t, seed);
    if (!noise.id) return t;
    x = tc_cast(x, tc_dtype_of(t));
    x = tc_masked_fill(x, tc_logical_not(tc_isfinite(x)), 0);
    if (!strstr(name_of(o), "gelu")) x = tc_sub(x, tc_detach(x));
    return tc_add(t, tc_mul(x, tc_sub_s(noise, 1)));
}

// The same of norms: terms of their slopes are as large as what rows are multiplied by, also of a row of one, whose slope is 0.
static tc_tensor steepened_norm(tc_ctx *tc, const call *o, tc_tensor t, tc_tensor x,
                                uint64_t seed) {
    tc_tensor noise = noise_like(tc, t, seed);
    if (!noise.id) return t;
    x = tc_cast(x, tc_dtype_of(t));
    tc_tensor own = tc_detach(x);
    tc_tensor from = o->fn ? own : tc_sub(own, tc_unsqueeze(tc_mean(own, -1), -1));
    tc_tensor mean = tc_unsqueeze(tc_mean(tc_square(from), -1), -1);
    tc_tensor scale = tc_rsqrt(tc_add_s(mean, 1e-5));
    return tc_add(t, tc_mul(tc_mul(tc_sub(x, own), scale), tc_sub_s(noise, 1)));
}

static int is_function(const call *o) {
    return near_fast && o->kind == C_UNARY && !strstr(name_of(o), "_all") && is_inexact(o);
}

// perform(), with what it may give in this run.
static tc_tensor perform_near(tc_ctx *tc, const call *o, tc_tensor *v, reads *read) {
    uint64_t seed = mix((uint64_t)perturbation * 1000 + (uint64_t)o->out);
    int how = perturbation && (perturbation <= OF_ALL || seed % 2) ? is_inexact(o) : 0;
    if (near_fast && perturbation && !how && (perturbation <= OF_ALL || seed % 2))
        how = is_product(o);
    if (how && is_function(o)) how = 2; // what 1 - x^2 is within one may be rounded once
    tc_tensor before[MAX_LIST];
    for (int i = 0; how && i < o->n_in; i++) before[i] = v[o->in[i]];
    for (int i = 0; how == 2 && i < o->n_in; i++)
        v[o->in[i]] = nudged(tc,
                             is_of_floats(o) && category((int)tc_dtype_of(before[i])) < 2
                                 ? tc_cast(before[i], TC_F32)
                                 : before[i],
                             seed + (uint64_t)i * 77777);
    tc_tensor t = perform(tc, o, v, read, NULL);
    for (int i = 0; how && i < o->n_in; i++) v[o->in[i]] = before[i];
    if (how && is_in_place(o)) {
        tc_tensor noise = noise_like(tc, t, seed);
        if (noise.id) tc_mul_(t, noise);
        return t;
    }
    if (how && is_function(o)) t = steepened(tc, o, t, v[o->in[0]], seed + 2);
    if (how && near_fast && near_derives && o->kind == C_LAYER_NORM)
        t = steepened_norm(tc, o, t, v[o->in[0]], seed + 2);
    if (is_of_logs(o) && how) { // the logarithm of a sum near 1 has the error of that sum
        tc_tensor noise = noise_like(tc, t, seed + 1);
        if (noise.id) t = tc_add(t, tc_sub_s(noise, 1));
    }
    return how ? nudged(tc, t, seed) : t;
}

// ---- comparing ----

typedef struct near_part {
    int dtype, loose; // loose: some element of the value differs in some run
    const unsigned char *exact, *there, *near[NEAR];
} near_part;

static double unit_of(int dtype) {
    return dtype == TC_BF16  ? 0x1p-8
           : dtype == TC_F16 ? 0x1p-11
           : dtype == TC_F32 ? 0x1p-24
                             : 0x1p-53;
}

static double least_of(int dtype) {
    return dtype == TC_BF16 || dtype == TC_F32 ? 0x1p-126
           : dtype == TC_F16                   ? 0x1p-14
                                               : 0x1p-1022;
}

static int same_number(double x, double y) { return x == y || (x != x && y != y); }

// Whether element i of the device is one that the interpreter might have.
static int is_near(const near_part *p, int64_t i) {
    double x = fetch(p->exact, p->dtype, i), y = fetch(p->there, p->dtype, i), spread = 0;
    if (same_number(x, y)) return 1;
    if (!p->loose) return 0;
    for (int k = 0; k < NEAR; k++) {
        double z = fetch(p->near[k], p->dtype, i);
        if (same_number(x, z)) continue;
        if (category(p->dtype) < 2 || !isfinite(x) || !isfinite(z)) return 1;
        spread = fmax(spread, fabs(x - z));
    }
    if (category(p->dtype) < 2) return 0;
    if (!isfinite(x) || !isfinite(y)) return 0;
    return fabs(x - y) <=
           4 * spread + 16 * unit_of(p->dtype) * fabs(x) + least_of(p->dtype);
}

// "" = as it should be. `what` names the first difference.
static void compare_near(const reads *exact, const reads near[NEAR], const reads *there,
                         char what[400]) {
    what[0] = 0;
    if (exact->n != there->n)
        snprintf(what, 400, "%d values read, not %d", there->n, exact->n);
    for (int i = 0; i < exact->n && !what[0]; i++) {
        near_part p;
        size_t bytes = exact->part[i].bytes;
        int64_t n = (int64_t)(bytes / tc_dtype_bytes((tc_dtype)exact->part[i].dtype));
        memset(&p, 0, sizeof p);
        p.dtype = exact->part[i].dtype;
        p.exact = exact->at + exact->part[i].offset,
        p.there = there->at + there->part[i].offset;
        if (there->part[i].bytes != bytes || there->part[i].dtype != p.dtype) {
            snprintf(what, 400, "v%d: other sizes or another dtype", exact->part[i].value);
            return;
        }
        for (int k = 0; k < NEAR; k++) {
            if (near[k].n != exact->n || near[k].part[i].bytes != bytes)
                return; // it took another way
            p.near[k] = near[k].at + near[k].part[i].offset;
            p.loose |= bytes && memcmp(p.exact, p.near[k], bytes) != 0;
        }
        for (int64_t k = 0; k < n && !what[0]; k++)
            if (!is_near(&p, k))
                snprintf(what, 400, "v%d[%lld] (%s) is %.17g, eager %.17g (%s)",
                         exact->part[i].value, (long long)k,
                         tc_dtype_name((tc_dtype)p.dtype), fetch(p.there, p.dtype, k),
                         fetch(p.exact, p.dtype, k),
                         p.loose ? "more than other roundings change it" : "exact");
    }
}

#endif
