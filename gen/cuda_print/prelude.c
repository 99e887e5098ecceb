// The head of a CUDA file: texts (cuda/*.cuh), and the macros and functions of ops.def that its kernels use.
// Functions are written once as text over T, for the classes. PTX stands in functions with a name, never in
// kernels: an emulator of tests has versions of its own.

// Macros of ops.def for each class: T the type, U the unsigned type that arithmetic wraps
// in.
static const char *const tc__text_cuda_class[] = {
    "#define TC_ADD_@(a, b) ((T)((U)(a) + (U)(b)))",
    "#define TC_SUB_@(a, b) ((T)((U)(a) - (U)(b)))",
    "#define TC_MUL_@(a, b) ((T)((U)(a) * (U)(b)))",
    "#define TC_NEG_@(a) ((T)(-(U)(a)))",
    "#define TC_SEL_@(m, a, b) ((m) ? (a) : (b))",
    "#define TC_MAX_@(a, b) ((a) > (b) ? (a) : (b))",
    "#define TC_MIN_@(a, b) ((a) < (b) ? (a) : (b))",
    "#define TC_LT_@(a, b) ((a) < (b))",
    "#define TC_LE_@(a, b) ((a) <= (b))",
    "#define TC_GT_@(a, b) ((a) > (b))",
    "#define TC_GE_@(a, b) ((a) >= (b))",
    "#define TC_EQ_@(a, b) ((a) == (b))",
    "#define TC_NE_@(a, b) ((a) != (b))",
    "#define TC_M_@(b) (b)",
    "#define TC_B_@(m) (m)",
};

// Functions of a class: the name in ops.def and its body over x, y, z; T is the type and U the unsigned
// one that arithmetic of integers wraps in, # is the suffix of the CUDA function (f or nothing), @ the
// class. What has a text of its own for float above is DOUBLE here.
enum { TC__CUDA_BOTH, TC__CUDA_DOUBLE, TC__CUDA_INTS };

static const struct {
    const char *name, *body;
    int classes;
} tc__cuda_functions[] = {
    {"exp", "exp#(x)", TC__CUDA_BOTH},
    {"exp2", "exp2#(x)", TC__CUDA_BOTH},
    {"expm1", "expm1#(x)", TC__CUDA_BOTH},
    {"log", "log#(x)", TC__CUDA_DOUBLE},
    {"log2", "log2#(x)", TC__CUDA_BOTH},
    {"log10", "log10#(x)", TC__CUDA_BOTH},
    {"log1p", "log1p#(x)", TC__CUDA_BOTH},
    {"sin", "sin#(x)", TC__CUDA_DOUBLE},
    {"cos", "cos#(x)", TC__CUDA_DOUBLE},
    {"tan", "tan#(x)", TC__CUDA_DOUBLE},
    {"asin", "asin#(x)", TC__CUDA_BOTH},
    {"acos", "acos#(x)", TC__CUDA_BOTH},
    {"atan", "atan#(x)", TC__CUDA_BOTH},
    {"sinh", "sinh#(x)", TC__CUDA_BOTH},
    {"cosh", "cosh#(x)", TC__CUDA_BOTH},
    {"tanh", "tanh#(x)", TC__CUDA_DOUBLE},
    {"erf", "erf#(x)", TC__CUDA_BOTH},
    {"floor", "floor#(x)", TC__CUDA_BOTH},
    {"ceil", "ceil#(x)", TC__CUDA_BOTH},
    {"trunc", "trunc#(x)", TC__CUDA_BOTH},
    {"round", "rint#(x)", TC__CUDA_BOTH},
    {"abs", "fabs#(x)", TC__CUDA_BOTH},
    {"sqrt", "sqrt#(x)", TC__CUDA_BOTH},
    {"rsqrt", "(T)1 / sqrt#(x)", TC__CUDA_BOTH},
    {"sign", "x > 0 ? (T)1 : x < 0 ? (T)-1 : x", TC__CUDA_BOTH},
    {"sigmoid", "(T)1 / ((T)1 + exp#(-x))", TC__CUDA_DOUBLE},
    {"silu", "x / ((T)1 + exp#(-x))", TC__CUDA_DOUBLE},
    {"gelu", "tc_gelu_of<T>(x, erfc#(x * (T)-0.70710678118654752))", TC__CUDA_BOTH},
    {"gelu_tanh",
     "x / ((T)1 + exp#((T)-1.5957691216057308 * (x + (T)0.044715 * x * x * x)))",
     TC__CUDA_DOUBLE},
    {"softplus", "fmax#(x, (T)0) + log1p#(exp#(-fabs#(x)))", TC__CUDA_BOTH},
    {"pow", "pow#(x, y)", TC__CUDA_BOTH},
    {"atan2", "atan2#(x, y)", TC__CUDA_BOTH},
    {"fmod", "fmod#(x, y)", TC__CUDA_BOTH},
    {"remainder", "tc_wrap_@(fmod#(x, y), y)", TC__CUDA_BOTH},
    {"wrap", "x != 0 && (x < 0) != (y < 0) ? x + y : x", TC__CUDA_BOTH},
    {"fma", "fma#(x, y, z)", TC__CUDA_BOTH},
    {"abs", "x < 0 ? (T)((U)0 - (U)x) : x", TC__CUDA_INTS},
    {"sign", "(x > 0) - (x < 0)", TC__CUDA_INTS},
    {"shl",
     "y < 0 || y > (T)(8 * sizeof(T) - 1) ? 0 : (T)((U)x << (y & (T)(8 * sizeof(T) - 1)))",
     TC__CUDA_INTS},
    {"shr", "x >> (y < 0 || y > (T)(8 * sizeof(T) - 1) ? (T)(8 * sizeof(T) - 1) : y)",
     TC__CUDA_INTS},
    {"pow", "tc_power<T, U>(x, y)", TC__CUDA_INTS},
    {"remainder", "tc_wrap_@(tc_fmod_@(x, y), y)", TC__CUDA_INTS},
    {"fmod", "y == 0 || y == -1 ? 0 : x % y", TC__CUDA_INTS},
    {"floor_divide", "tc_floor_quotient<T, U>(x, y)", TC__CUDA_INTS},
    {"wrap", "x != 0 && (x < 0) != (y < 0) ? x + y : x", TC__CUDA_INTS}};

// Conversions saturate and take NaN to 0 already, but for 64 bits and narrow integers.
static const char *tc__cuda_cast(int from, int to) {
    int of_float = tc__is_float(from);
    switch (to) {
    case TC_BOOL: return "x != 0";
    case TC_U8: return of_float ? "x > 0 ? x < 255 ? (int)x : 255 : 0" : "(int)(tc_u8)x";
    case TC_I8:
        return of_float ? "x > -128 ? x < 127 ? (int)x : 127 : x < 0 ? -128 : 0"
                        : "(int)(tc_i8)x";
    case TC_I16:
        return of_float ? "x > -32768 ? x < 32767 ? (int)x : 32767 : x < 0 ? -32768 : 0"
                        : "(int)(tc_i16)x";
    case TC_I64: return of_float ? "x != x ? 0 : (tc_i64)x" : "(T)x";
    case TC_I32:
        return from == TC_F64 ? "x != x ? 0 : (T)x" : "(T)x"; // f32 gives 0 by itself
    default: return "(T)x";
    }
}

static void tc__put_pattern(tc__text *out, const char *s, const char *cls,
                            const char *suffix) {
    for (; *s; s++) {
        if (*s == '@')
            tc__put(out, "%s", cls);
        else if (*s == '#')
            tc__put(out, "%s", suffix);
        else
            tc__put_raw(out, s, 1);
    }
}

static int tc__pattern_names(const char *s, char letter) {
    for (const char *at = s; *at; at++)
        if (*at == letter && !tc__is_word(at[1]) && (at == s || !tc__is_word(at[-1])))
            return 1;
    return 0;
}

// A function of x, y, z as far as its body names them; types are names inside it, for short text.
static void tc__cuda_function(tc__text *out, const char *name, const char *body,
                              const char *cls, const char *type, const char *argument,
                              const char *suffix) {
    tc__put(out, "TC_FN %s tc_%s(%s x", type, name, argument);
    if (tc__pattern_names(body, 'y')) tc__put(out, ", %s y", type);
    if (tc__pattern_names(body, 'z')) tc__put(out, ", %s z", type);
    tc__put(out, ") {\n    typedef %s T;\n", type);
    if (tc__pattern_names(body, 'U'))
        tc__put(out, "    typedef %s U;\n", *type == 'i' ? "unsigned" : "tc_u64");
    tc__put(out, "    return (T)(");
    tc__put_pattern(out, body, cls, suffix);
    tc__put(out, ");\n}\n\n");
}

static int tc__uses_word(const tc__text *kernels, const char *name) {
    char word[64];
    snprintf(word, sizeof word, "tc_%s", name);
    return tc__c_mentions(kernels, word);
}

// Appends the macros among `lines` that kernels or functions use.
static void tc__cuda_put_used(tc__text *out, const char *lines, const tc__text *kernels,
                              const tc__text *functions) {
    const char *s = lines, *end;
    char name[64];
    for (; (end = strchr(s, '\n')) != NULL; s = end + 1) {
        const char *word = s + strlen("#define ");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "("), word);
        if (tc__c_mentions(kernels, name) || tc__c_mentions(functions, name))
            tc__put_raw(out, s, (size_t)(end - s) + 1);
    }
}

static void tc__cuda_macros(tc__text *out) {
    static const char *const types[TC__CLASSES][2] = {{"float", "float"},
                                                      {"double", "double"},
                                                      {"int", "unsigned"},
                                                      {"tc_i64", "tc_u64"}};
    for (int cls = 0; cls < TC__CLASSES; cls++) {
        for (size_t i = 0; i < TC__COUNT(tc__text_cuda_class); i++) {
            for (const char *s = tc__text_cuda_class[i]; *s; s++) {
                if (*s == '@')
                    tc__put(out, "%s", tc__class_names[cls]);
                else if (s[0] == '(' && (s[1] == 'T' || s[1] == 'U') && s[2] == ')') {
                    tc__put(out, "(%s)", types[cls][s[1] == 'U']);
                    s += 2;
                } else
                    tc__put_raw(out, s, 1);
            }
            tc__put(out, "\n");
        }
    }
    tc__put(out,
            "#define TC_NOT(m) (!(m))\n#define TC_SQRT_f32(x) sqrtf(x)\n#define "
            "TC_SQRT_f64(x) sqrt(x)\n"
            "#define TC_FMA_f32(a, b, c) fmaf(a, b, c)\n#define TC_FMA_f64(a, b, c) ((a) * "
            "(b) + (c))\n");
}

// Whether the kernels, or functions of the class that are already written, use the function. Those
// that others use stand behind them in the table, and are written first.
static int tc__cuda_uses(const tc__text *out, const tc__text *kernels, const char *name) {
    return tc__uses_word(kernels, name) || tc__uses_word(out, name);
}

static void tc__cuda_class_math(tc__text *out, const tc__text *kernels, tc__class cls) {
    const char *type = tc__dialect_cuda.reg[cls];
    int whole = cls == TC__CLASS_i32 || cls == TC__CLASS_i64;
    tc__text used;
    char name[64];
    tc__text_init(&used, out->ctx);
    for (size_t i = 0; i < TC__COUNT(tc__cuda_functions); i++) {
        snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i].name,
                 tc__class_names[cls]);
        if ((tc__cuda_functions[i].classes == TC__CUDA_INTS) != whole) continue;
        if (tc__cuda_functions[i].classes == TC__CUDA_DOUBLE && cls != TC__CLASS_f64)
            continue;
        if (!tc__cuda_uses(&used, kernels, name)) continue;
        tc__put_pattern(&used, tc__cuda_functions[i].body, tc__class_names[cls], "");
        tc__put(&used, "\n");
    }
    for (size_t i = TC__COUNT(tc__cuda_functions); i-- > 0;) {
        snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i].name,
                 tc__class_names[cls]);
        if ((tc__cuda_functions[i].classes == TC__CUDA_INTS) != whole) continue;
        if (tc__cuda_functions[i].classes == TC__CUDA_DOUBLE && cls != TC__CLASS_f64)
            continue;
        if (tc__cuda_uses(&used, kernels, name))
            tc__cuda_function(out, name, tc__cuda_functions[i].body, tc__class_names[cls],
                              type, type, cls == TC__CLASS_f32 ? "f" : "");
    }
    tc__text_free(&used);
}

static void tc__cuda_math(tc__text *out, const tc__text *kernels) {
    char name[64];
    for (int cls = 0; cls < TC__CLASSES; cls++)
        tc__cuda_class_math(out, kernels, (tc__class)cls);
    for (int from = 0; from < TC_DTYPE_COUNT; from++) {
        for (int to = 0; to < TC_DTYPE_COUNT; to++) {
            snprintf(name, sizeof name, "cast_%s_%s", tc__cast_from(from),
                     tc__cast_to(from, to));
            int first = from == TC_BOOL || tc__is_own_class(from);
            int made = tc__is_rounded(to) || (from == TC_BOOL && !tc__is_own_class(to));
            if (first && !made && tc__uses_word(kernels, name))
                tc__cuda_function(out, name, tc__cuda_cast(from, to), "",
                                  tc__dialect_cuda.reg[tc__class_of(to)],
                                  tc__dialect_cuda.reg[tc__class_of(from)], "");
        }
    }
}

// Appends the head of a CUDA file that holds the kernels of `groups`. 1, or 0 = reported.
TC__UNUSED static int tc__print_cuda_prelude(tc__text *out, const tc__group *const *groups,
                                             int count) {
    static const tc__prelude_text texts[] = {
        {tc__text_cuda_types, (uint32_t)TC__COUNT(tc__text_cuda_types)},
        {tc__text_cuda_check, (uint32_t)TC__COUNT(tc__text_cuda_check)},
        {tc__text_cuda_memory, (uint32_t)TC__COUNT(tc__text_cuda_memory)},
        {tc__text_cuda_shared, (uint32_t)TC__COUNT(tc__text_cuda_shared)},
        {tc__text_cuda_halves, (uint32_t)TC__COUNT(tc__text_cuda_halves)},
        {tc__text_cuda_index, (uint32_t)TC__COUNT(tc__text_cuda_index)},
        {tc__text_cuda_math, (uint32_t)TC__COUNT(tc__text_cuda_math)},
        {tc__text_cuda_trig, (uint32_t)TC__COUNT(tc__text_cuda_trig)},
        {tc__text_cuda_fast, (uint32_t)TC__COUNT(tc__text_cuda_fast)},
        {tc__text_cuda_list, (uint32_t)TC__COUNT(tc__text_cuda_list)},
        {tc__text_cuda_random, (uint32_t)TC__COUNT(tc__text_cuda_random)},
        {tc__text_cuda_divide, (uint32_t)TC__COUNT(tc__text_cuda_divide)},
        {tc__text_cuda_product, (uint32_t)TC__COUNT(tc__text_cuda_product)},
        {tc__text_cuda_tiles, (uint32_t)TC__COUNT(tc__text_cuda_tiles)},
        {tc__text_cuda_mapped, (uint32_t)TC__COUNT(tc__text_cuda_mapped)},
        {tc__text_cuda_held, (uint32_t)TC__COUNT(tc__text_cuda_held)},
        {tc__text_cuda_chain, (uint32_t)TC__COUNT(tc__text_cuda_chain)},
        {tc__text_cuda_mapped_chain, (uint32_t)TC__COUNT(tc__text_cuda_mapped_chain)},
        {tc__text_cuda_decode, (uint32_t)TC__COUNT(tc__text_cuda_decode)},
        {tc__text_cuda_skinny, (uint32_t)TC__COUNT(tc__text_cuda_skinny)},
        {tc__text_cuda_scan, (uint32_t)TC__COUNT(tc__text_cuda_scan)},
        {tc__text_cuda_sort, (uint32_t)TC__COUNT(tc__text_cuda_sort)},
        {tc__text_cuda_scatter, (uint32_t)TC__COUNT(tc__text_cuda_scatter)},
        {tc__text_cuda_runs, (uint32_t)TC__COUNT(tc__text_cuda_runs)},
    };
    tc__prelude q;
    tc__text kernels, steps, functions, macros;
    const tc__text *all[2];
    all[0] = &kernels, all[1] = &functions;
    tc__text_init(&kernels, out->ctx);
    tc__text_init(&steps, out->ctx);
    tc__text_init(&functions, out->ctx);
    tc__text_init(&macros, out->ctx);
    tc__prelude_open(&q, out->ctx, texts, TC__COUNT(texts));
    int ok = 1;
    for (int i = 0; i < count && ok; i++)
        ok = tc__print_kernel(&kernels, groups[i], &tc__dialect_cuda, "kernel");
    ok = ok && tc__put_monoids(&steps, &tc__dialect_cuda, groups, count);
    if (ok) tc__cuda_math(&functions, &kernels);
    ok = ok && tc__prelude_mark(&q, all, 2, &steps);
    tc__put(
        out,
        "// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90 -fmad=false\n");
    if (ok) tc__put_sections(out, &q);
    tc__put_raw(&functions, steps.at, steps.size);
    tc__cuda_macros(&macros);
    ok = ok && !kernels.failed && !steps.failed && !functions.failed && !macros.failed;
    if (ok) tc__cuda_put_used(out, macros.at, &kernels, &functions);
    if (ok && functions.size) tc__put(out, "\n");
    if (ok) tc__put_raw(out, functions.at, functions.size);
    tc__prelude_close(&q);
    tc__text_free(&kernels);
    tc__text_free(&steps);
    tc__text_free(&functions);
    tc__text_free(&macros);
    return ok && !out->failed;
}
