// One element of an element-wise op, by the portable loops of the interpreter: what folds constants, with the
// bits of a kernel (pass/rules.c).

static tc__value tc__value_of_word(tc__word w, int dtype) {
    tc__value v;
    v.i = 0;
    switch (tc__dtype(dtype)->reg) {
    case TC__CLASS_f32: v.f = (double)w.f32; break;
    case TC__CLASS_f64: v.f = w.f64; break;
    case TC__CLASS_i32: v.i = dtype == TC_BOOL ? w.i32 != 0 : w.i32; break;
    case TC__CLASS_i64:
    case TC__CLASSES: v.i = w.i64; break;
    }
    return v;
}

static int tc__hook_evaluate(tc__op op, int dtype, const tc__value *in, uint32_t n,
                             tc__value *out) {
    tc__block_fn f = tc__isa_scalar.alu[op][dtype];
    int gives = tc__ops[op].dtype == tc__dtype_compare ? (int)TC_BOOL : dtype;
    tc__word word[3], result;
    tc__reg x[3];
    if (!f) return 0;
    memset(&result, 0, sizeof result);
    for (uint32_t i = 0; i < 3; i++) {
        int from = op == TC_OP_WHERE && !i ? (int)TC_BOOL : dtype;
        x[i].at = &word[i], x[i].mask = 0;
        if (i < n) word[i] = tc__word_of(&tc__isa_scalar, from, in[i]);
    }
    f(&result, &x[0], &x[1], &x[2], 1);
    *out = tc__value_of_word(result, gives);
    return 1;
}
