// Ops in place, and clamping. An in-place op is the ordinary op followed by the effect COPY_, which the
// compiler turns into a write; out/in_place.inc has the one of each op that is declared with a `_`.

// ---- clamping ----

TCDEF tc_tensor tc_clamp_min_at(tc_tensor a, double low, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "clamp_min", a, file, line)) return tc__null();
    return tc__leave(&f, tc_maximum_s_at(a, low, file, line));
}

TCDEF tc_tensor tc_clamp_max_at(tc_tensor a, double high, const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, "clamp_max", a, file, line)) return tc__null();
    return tc__leave(&f, tc_minimum_s_at(a, high, file, line));
}

TCDEF tc_tensor tc_clamp_at(tc_tensor a, double low, double high, const char *file,
                            int line) {
    tc__api f;
    if (!tc__begin(&f, "clamp", a, file, line)) return tc__null();
    tc_tensor y = tc_maximum_s_at(a, low, file, line);
    return tc__leave(&f, tc_minimum_s_at(y, high, file, line));
}

// ---- in place ----

enum { TC__UNWRITABLE_TEXT = 120 };

// Why dst cannot be written, as *text and *s; 0 = it can. Its elements must not share memory, and a tc_const never
// changes.
static int tc__unwritable(tc_ctx *c, tc_tensor dst, tc_status *s,
                          char text[TC__UNWRITABLE_TEXT]) {
    const tc__tensor *e = tc__tensor_find(c, dst);
    const tc__layout *l = tc__layout_at(c, tc__layout_of(c, dst));
    *s = TC_E_ARG;
    if (e && e->storage->constant)
        return snprintf(text, TC__UNWRITABLE_TEXT,
                        "the tensor is a tc_const; use tc_from_data");
    *s = TC_E_ALIAS;
    for (int i = 0; i < l->rank; i++)
        if (l->dims[i] > 1 && !l->strides[i])
            return snprintf(text, TC__UNWRITABLE_TEXT,
                            "dimension %d is expanded: its elements are one in memory; "
                            "tc_clone it first",
                            i);
    return tc__layout_overlaps(l)
               ? snprintf(text, TC__UNWRITABLE_TEXT,
                          "the strides of the destination overlap: several of its elements "
                          "are one in memory; tc_clone it first")
               : 0;
}

static int tc__writable(const tc__api *f, tc_tensor dst) {
    tc_status s;
    char text[TC__UNWRITABLE_TEXT];
    return !tc__unwritable(f->c, dst, &s, text) ||
           tc__fail(f->c, s, "%s: %s", f->who, text);
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

// *value where dst is, by a copy if it is on another device. 0 = reported.
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
    *value = tc__recorder_of(f->c)->hooks->move(*value, tc__device_name(f->c, to), f->file,
                                                f->line);
    return value->id != 0;
}

// What a write leaves in dst inside a step of a scaler: dst as it is where the step is skipped, which nothing waits
// for. Gradients that are not finite may be in value, so it is chosen and not multiplied.
static tc_tensor tc__assign_unless(const tc__api *f, tc_tensor dst, tc_tensor value) {
    tc__meta m;
    tc_tensor skips = tc__lexical_now(f->c)->skips;
    if (!skips.id || !tc__meta_get(f, value, &m)) return value;
    if (m.dtype != f->x.dtype) value = tc__cast(f, value, f->x.dtype);
    return tc_where_at(skips, dst, value, f->file, f->line);
}

static tc_tensor tc__assign_op(const tc__api *f, tc_tensor dst, tc_tensor value,
                               tc__convert convert) {
    if (convert == TC__CONVERT_MOVED && !tc__assign_move(f, dst, &value)) return tc__null();
    value = tc__assign_unless(f, dst, value);
    if (!value.id) return value;
    return tc__op2(dst, value, f->file, f->line, tc__form_of(TC_OP_COPY_, 2, 0));
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
    if (!tc__begin_two(&f, "copy_", dst, src, file, line)) return tc__null();
    return tc__assign(&f, dst, src, TC__CONVERT_MOVED);
}

static tc_tensor tc__fill_call(const char *who, tc_tensor dst, double value,
                               const char *file, int line) {
    tc__api f;
    if (!tc__begin(&f, who, dst, file, line)) return tc__null();
    return tc__assign(&f, dst, tc__scalar(&f, value, f.x.dtype), TC__CONVERT_ANY);
}

TCDEF tc_tensor tc_fill__at(tc_tensor dst, double value, const char *file, int line) {
    return tc__fill_call("fill_", dst, value, file, line);
}

TCDEF tc_tensor tc_zero__at(tc_tensor dst, const char *file, int line) {
    return tc__fill_call("zero_", dst, 0, file, line);
}
