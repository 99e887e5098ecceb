// Ops with a scalar operand, and ops in place. A scalar is an attribute word of the op, not
// a tensor, so it costs no step of its own. An in-place op is the ordinary op followed by
// the effect COPY_, which the compiler turns into a write.

// ---- scalars ----

#define TC__SCALAR_OP(name, OP, SIDE)                                                      \
    TCDEF tc_tensor tc_##name##_s_at(tc_tensor a, double s, const char *file, int line) {  \
        return tc__op_scalar(a, s, file, line,                                             \
                             tc__form_of_scalar(TC_OP_##OP, TC__SCALAR_##SIDE));           \
    }
TC__SCALAR_OP(add, ADD, RIGHT)
TC__SCALAR_OP(sub, SUB, RIGHT)
TC__SCALAR_OP(mul, MUL, RIGHT)
TC__SCALAR_OP(div, DIV, RIGHT)
TC__SCALAR_OP(floor_divide, FLOOR_DIVIDE, RIGHT)
TC__SCALAR_OP(remainder, REMAINDER, RIGHT)
TC__SCALAR_OP(fmod, FMOD, RIGHT)
TC__SCALAR_OP(pow, POW, RIGHT)
TC__SCALAR_OP(maximum, MAXIMUM, RIGHT)
TC__SCALAR_OP(minimum, MINIMUM, RIGHT)
TC__SCALAR_OP(eq, EQ, RIGHT)
TC__SCALAR_OP(ne, NE, RIGHT)
TC__SCALAR_OP(lt, LT, RIGHT)
TC__SCALAR_OP(le, LE, RIGHT)
TC__SCALAR_OP(gt, GT, RIGHT)
TC__SCALAR_OP(ge, GE, RIGHT)
TC__SCALAR_OP(bitwise_and, BITWISE_AND, RIGHT)
TC__SCALAR_OP(bitwise_or, BITWISE_OR, RIGHT)
TC__SCALAR_OP(bitwise_xor, BITWISE_XOR, RIGHT)
TC__SCALAR_OP(bitwise_left_shift, BITWISE_LEFT_SHIFT, RIGHT)
TC__SCALAR_OP(bitwise_right_shift, BITWISE_RIGHT_SHIFT, RIGHT)
TC__SCALAR_OP(rsub, SUB, LEFT)
TC__SCALAR_OP(rdiv, DIV, LEFT)
TC__SCALAR_OP(rpow, POW, LEFT)
#undef TC__SCALAR_OP

TCDEF tc_tensor tc_clamp_min_at(tc_tensor a, double low, const char *file, int line) {
    return tc_maximum_s_at(a, low, file, line);
}

TCDEF tc_tensor tc_clamp_max_at(tc_tensor a, double high, const char *file, int line) {
    return tc_minimum_s_at(a, high, file, line);
}

TCDEF tc_tensor tc_clamp_at(tc_tensor a, double low, double high, const char *file,
                            int line) {
    tc__api f;
    if (!tc__begin(&f, "clamp", a, file, line)) return tc__null();
    tc_tensor y = tc_maximum_s_at(a, low, file, line);
    return tc__leave(&f, tc_minimum_s_at(y, high, file, line));
}

// ---- in place ----

// Elements of dst must not share memory, and a tc_const never changes.
static int tc__writable(const tc__api *f, tc_tensor dst) {
    const tc__tensor *e = tc__tensor_find(f->c, dst);
    uint32_t layout = tc__layout_of(f->c, dst);
    if (e && e->storage->constant)
        return tc__fail(f->c, TC_E_ARG, "%s: the tensor is a tc_const; use tc_from_data",
                        f->who);
    const tc__layout *l = tc__layout_at(f->c, layout);
    for (int i = 0; i < l->rank; i++)
        if (l->dims[i] > 1 && !l->strides[i])
            return tc__fail(f->c, TC_E_ALIAS,
                            "%s: dimension %d is expanded: its elements are one in "
                            "memory; tc_clone it first",
                            f->who, i);
    return 1;
}

// Whether the sizes of v broadcast to those of dst.
static int tc__broadcasts_to(const tc__meta *v, const tc__meta *dst) {
    int lead = dst->rank - v->rank, ok = lead >= 0;
    for (int i = 0; ok && i < v->rank; i++)
        ok = v->dims[i] == dst->dims[lead + i] || tc__ix_equals(v->dims[i], 1);
    return ok;
}

// The same of a value and of dst, which f is about.
static int tc__assign_fits(const tc__api *f, const tc__meta *v) {
    char x[160], y[160];
    if (tc__broadcasts_to(v, &f->x)) return 1;
    return tc__fail(f->c, TC_E_BROADCAST,
                    "%s: the result %s does not broadcast to the destination %s", f->who,
                    tc__dims_text(v, x), tc__dims_text(&f->x, y));
}

typedef enum tc__convert {
    TC__CONVERT_WITHIN, // of a higher category than dst: refused
    TC__CONVERT_ANY,
    TC__CONVERT_MOVED // and from any device
} tc__convert;

// *value where dst is, by a copy if it is on another device. In a region the copy lives as long as the visit
// that is open behind this. 0 = reported.
static int tc__assign_move(const tc__api *f, tc_tensor dst, tc_tensor *value) {
    tc_tensor in[2];
    tc__call k;
    const tc__visit *v = tc__recorder_of(f->c)->visit;
    if (!tc__values_of(f->c)->device.count) return 1;
    memset(&k, 0, sizeof k);
    in[0] = dst, in[1] = *value;
    k.op = TC_OP_COPY_, k.in = in, k.n_in = 2;
    int to = tc__operand_device(f->c, v, &k, 0), from = tc__operand_device(f->c, v, &k, 1);
    if (to == TC__ANYWHERE || from == TC__ANYWHERE || to == from) return 1;
    *value = tc_to_at(*value, tc__device_name(f->c, to), f->file, f->line);
    return value->id != 0;
}

static tc_tensor tc__assign_op(const tc__api *f, tc_tensor dst, tc_tensor value,
                               tc__convert convert) {
    uint64_t given = value.id;
    if (convert == TC__CONVERT_MOVED && !tc__assign_move(f, dst, &value)) return tc__null();
    tc_tensor done = tc__op2(dst, value, f->file, f->line, tc__form_of(TC_OP_COPY_, 2, 0));
    if (value.id != given && tc__is_recording(f->c))
        tc__visit_adopt(f->c, tc__recorder_of(f->c)->visit, value);
    return done;
}

static int tc__assign_check(const tc__api *f, tc_tensor dst, tc_tensor value,
                            tc__convert convert) {
    tc__meta m;
    if (!value.id) return tc__fail_null(f->c, f->who);
    if (!tc__meta_get(f, value, &m) || !tc__writable(f, dst) || !tc__assign_fits(f, &m))
        return 0;
    if (convert != TC__CONVERT_WITHIN ||
        tc__dtype(m.dtype)->category <= tc__dtype(f->x.dtype)->category)
        return 1;
    return tc__fail(f->c, TC_E_DTYPE,
                    "%s: the result is %s, the destination %s cannot hold it; use tc_copy_ "
                    "to convert",
                    f->who, tc__dtype(m.dtype)->name, tc__dtype(f->x.dtype)->name);
}

// dst = value, inside the frame of dst; gives dst. Ends the frame.
static tc_tensor tc__assign(tc__api *f, tc_tensor dst, tc_tensor value,
                            tc__convert convert) {
    tc_tensor done = tc__null();
    if (tc__assign_check(f, dst, value, convert))
        done = tc__assign_op(f, dst, value, convert);
    tc__leave_null(f);
    if (done.id) return dst;
    tc__refuse(f->c, dst);
    return done;
}

TCDEF tc_tensor tc_copy__at(tc_tensor dst, tc_tensor src, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "copy_", dst, file, line)) return tc__null();
    return tc__assign(&f, dst, src, TC__CONVERT_MOVED);
}

TCDEF tc_tensor tc_fill__at(tc_tensor dst, double value, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "fill_", dst, file, line)) return tc__null();
    return tc__assign(&f, dst, tc__scalar(&f, value, f.x.dtype), TC__CONVERT_ANY);
}

TCDEF tc_tensor tc_zero__at(tc_tensor dst, const char *file, int line) {
    return tc_fill__at(dst, 0, file, line);
}

TCDEF tc_tensor tc_clamp__at(tc_tensor dst, double low, double high, const char *file,
                             int line) {
    tc__api f;
    if (!tc__begin(&f, "clamp_", dst, file, line)) return tc__null();
    return tc__assign(&f, dst, tc_clamp_at(dst, low, high, file, line), TC__CONVERT_WITHIN);
}

TCDEF tc_tensor tc_masked_fill__at(tc_tensor dst, tc_tensor mask, double value,
                                   const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "masked_fill_", dst, file, line)) return tc__null();
    return tc__assign(&f, dst, tc_masked_fill_at(dst, mask, value, file, line),
                      TC__CONVERT_WITHIN);
}

#define TC__IN_PLACE_TENSOR(name)                                                          \
    TCDEF tc_tensor tc_##name##__at(tc_tensor dst, tc_tensor b, const char *file,          \
                                    int line) {                                            \
        tc__api f;                                                                         \
        if (!tc__begin(&f, #name "_", dst, file, line)) return tc__null();                 \
        return tc__assign(&f, dst, tc_##name##_at(dst, b, file, line),                     \
                          TC__CONVERT_WITHIN);                                             \
    }
TC__IN_PLACE_TENSOR(add)
TC__IN_PLACE_TENSOR(sub)
TC__IN_PLACE_TENSOR(mul)
TC__IN_PLACE_TENSOR(div)
TC__IN_PLACE_TENSOR(maximum)
TC__IN_PLACE_TENSOR(minimum)
#undef TC__IN_PLACE_TENSOR

#define TC__IN_PLACE_SCALAR(name)                                                          \
    TCDEF tc_tensor tc_##name##_s__at(tc_tensor dst, double s, const char *file,           \
                                      int line) {                                          \
        tc__api f;                                                                         \
        if (!tc__begin(&f, #name "_s_", dst, file, line)) return tc__null();               \
        return tc__assign(&f, dst, tc_##name##_s_at(dst, s, file, line),                   \
                          TC__CONVERT_WITHIN);                                             \
    }
TC__IN_PLACE_SCALAR(add)
TC__IN_PLACE_SCALAR(sub)
TC__IN_PLACE_SCALAR(mul)
TC__IN_PLACE_SCALAR(div)
TC__IN_PLACE_SCALAR(pow)
#undef TC__IN_PLACE_SCALAR

#define TC__IN_PLACE_UNARY(name)                                                           \
    TCDEF tc_tensor tc_##name##__at(tc_tensor dst, const char *file, int line) {           \
        tc__api f;                                                                         \
        if (!tc__begin(&f, #name "_", dst, file, line)) return tc__null();                 \
        return tc__assign(&f, dst, tc_##name##_at(dst, file, line), TC__CONVERT_WITHIN);   \
    }
TC__IN_PLACE_UNARY(neg)
TC__IN_PLACE_UNARY(abs)
TC__IN_PLACE_UNARY(square)
TC__IN_PLACE_UNARY(sqrt)
TC__IN_PLACE_UNARY(rsqrt)
TC__IN_PLACE_UNARY(reciprocal)
TC__IN_PLACE_UNARY(exp)
TC__IN_PLACE_UNARY(log)
TC__IN_PLACE_UNARY(tanh)
TC__IN_PLACE_UNARY(sigmoid)
TC__IN_PLACE_UNARY(relu)
TC__IN_PLACE_UNARY(gelu)
TC__IN_PLACE_UNARY(silu)
#undef TC__IN_PLACE_UNARY
