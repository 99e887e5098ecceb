// The head of a CUDA file: types, and the macros and functions of ops.def that its kernels use.
// Functions are written once as text over T, for float and double.

static const char *const tc__text_cuda[] = {
    "#define TC_FN static __device__ __forceinline__",
    "#define TC_N(name) tc_##name",
    "typedef unsigned char tc_u8;",
    "typedef signed char tc_i8;",
    "typedef short tc_i16;",
    "typedef unsigned short tc_u16;",
    "typedef int tc_i32;",
    "typedef long long tc_i64;",
    "typedef unsigned long long tc_u64;",
    "",
    "union tc_scalar {",
    "    double f;",
    "    tc_i64 i;",
    "};",
    "",
    "struct tc_state {         // of the program, in the device's memory; its scalars follow",
    "    tc_i64 *flag;          // an index out of range: site + 1, value, limit",
    "    tc_u64 seed, draw;     // of the random numbers",
    "};",
    "",
    "template <int N> struct tc_kargs {",
    "    tc_state *state;",
    "    tc_i64 size[N];        // run-time sizes",
    "    __device__ __forceinline__ const tc_scalar &arg(int i) const { return ((const tc_scalar *)(state + 1))[i]; }",
    "};",
    "",
    "template <class T, int V> struct __align__(sizeof(T) * V) tc_pack {",
    "    T at[V];",
    "};",
    "",
    "// fn: of_f16",
    "TC_FN float TC_N(of_f16)(tc_u16 b) {",
    "    float f;",
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(b));",
    "    return f;",
    "}",
    "",
    "// fn: bits_f16",
    "TC_FN tc_u16 TC_N(bits_f16)(float f) {",
    "    tc_u16 b;",
    "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(f));",
    "    return b;",
    "}",
    "",
    "// fn: of_bf16",
    "TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }",
    "",
    "// fn: bits_bf16",
    "TC_FN tc_u16 TC_N(bits_bf16)(float f) {",
    "    tc_u16 b;",
    "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(f));",
    "    return b;",
    "}",
    "",
    "// fn: cast_f32_f16",
    "TC_FN float TC_N(cast_f32_f16)(float x) { return TC_N(of_f16)(TC_N(bits_f16)(x)); }",
    "",
    "// fn: cast_f64_f16",
    "TC_FN float TC_N(cast_f64_f16)(double x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
    "",
    "// fn: cast_i32_f16",
    "TC_FN float TC_N(cast_i32_f16)(int x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
    "",
    "// fn: cast_i64_f16",
    "TC_FN float TC_N(cast_i64_f16)(tc_i64 x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
    "",
    "// fn: cast_f32_bf16",
    "TC_FN float TC_N(cast_f32_bf16)(float x) { return TC_N(of_bf16)(TC_N(bits_bf16)(x)); }",
    "",
    "// fn: cast_f64_bf16",
    "TC_FN float TC_N(cast_f64_bf16)(double x) { return TC_N(of_bf16)(TC_N(bits_bf16)((float)x)); }",
    "",
    "// fn: cast_i32_bf16",
    "TC_FN float TC_N(cast_i32_bf16)(int x) { return TC_N(of_bf16)(TC_N(bits_bf16)((float)x)); }",
    "",
    "// fn: cast_i64_bf16",
    "TC_FN float TC_N(cast_i64_bf16)(tc_i64 x) { return TC_N(of_bf16)(TC_N(bits_bf16)((float)x)); }",
    "",
    "// fn: floor_div",
    "TC_FN tc_i64 TC_N(floor_div)(tc_i64 a, tc_i64 b) { return a / b - (a % b < 0); }",
    "",
    "// fn: floor_mod",
    "TC_FN tc_i64 TC_N(floor_mod)(tc_i64 a, tc_i64 b) { return a % b < 0 ? a % b + b : a "
    "% b; }",
    "",
    "// fn: min",
    "TC_FN tc_i64 TC_N(min)(tc_i64 a, tc_i64 b) { return a < b ? a : b; }",
    "",
    "// fn: add_product_f32",
    "TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }",
    "",
    "// fn: add_product_f64",
    "TC_FN double TC_N(add_product_f64)(double a, double b, double c) { return fma(a, b, c); }",
    "",
    "// fn: add_product_i32",
    "TC_FN int TC_N(add_product_i32)(int a, int b, int c) { return (int)((unsigned)a * (unsigned)b + (unsigned)c); }",
    "",
    "// fn: add_product_i64",
    "TC_FN tc_i64 TC_N(add_product_i64)(tc_i64 a, tc_i64 b, tc_i64 c) { return (tc_i64)((tc_u64)a * (tc_u64)b + (tc_u64)c); }",
    "",
    "// fn: place_tile",
    "// Tile t of high x across, in strips of 8 rows, so that neighbours in time share operands in L2.",
    "TC_FN void TC_N(place_tile)(tc_i64 t, tc_i64 high, tc_i64 across, tc_i64 &m, tc_i64 &n) {",
    "    const tc_i64 strip = t / (8 * across) * 8, left = high - strip, tall = left < 8 ? left : 8;",
    "    m = strip + t % (8 * across) % tall;",
    "    n = t % (8 * across) / tall;",
    "}",
    "",
    "// fn: swizzle",
    "// Element (row, column) of a tile of 2-byte elements in rows of L: 16-byte chunks change places",
    "// so that 8 rows below each other lie in different banks.",
    "template <int L> TC_FN int TC_N(swizzle)(int row, int column) {",
    "    const int rows = L < 64 ? 64 / L : 1, chunks = L < 64 ? L / 8 : 8;",
    "    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);",
    "}",
    "",
    "// fn: ldmatrix4",
    "// Four 8 x 8 matrices of 2-byte elements; lane i gives the address of row i % 8 of matrix i / 8.",
    "TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {",
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"",
    "                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])",
    "                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");",
    "}",
    "",
    "// fn: ldmatrix4_trans",
    "// The same, each matrix transposed.",
    "TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {",
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\"",
    "                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])",
    "                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");",
    "}",
    "",
    "// fn: mma_f16",
    "// d += a * b, 16 x 8 x 16, of a warp.",
    "TC_FN void TC_N(mma_f16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
    "                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
    "                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
    "}",
    "",
    "// fn: mma_bf16",
    "// d += a * b, 16 x 8 x 16, of a warp.",
    "TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
    "                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
    "                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
    "}",
    "",
    "// fn: copy_async16",
    "TC_FN void TC_N(copy_async16)(void *shared, const void *global) {",
    "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\"",
    "                 :: \"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(global) : \"memory\");",
    "}",
    "",
    "// fn: copy_async16_if",
    "// Zeros where it is not ok; `global` is not read then.",
    "TC_FN void TC_N(copy_async16_if)(void *shared, const void *global, int ok) {",
    "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\"",
    "                 :: \"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(global), \"r\"(ok ? 16 : 0) : \"memory\");",
    "}",
    "",
    "// fn: copy_commit",
    "TC_FN void TC_N(copy_commit)() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }",
    "",
    "// fn: copy_wait",
    "// Until at most N of the thread's groups of copies are on their way.",
    "template <int N> TC_FN void TC_N(copy_wait)() {",
    "    asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(N) : \"memory\");",
    "}",
    "",
    "// fn: check",
    "// Index v made safe: negative ones count from the end, others are clamped and "
    "flagged.",
    "TC_FN tc_i64 TC_N(check)(const tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {",
    "    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;",
    "    if ((tc_u64)w < (tc_u64)limit) return w;",
    "    a->flag[1] = v;",
    "    a->flag[2] = limit;",
    "    a->flag[0] = site + 1;",
    "    return w < 0 || limit <= 0 ? 0 : limit - 1;",
    "}",
    "",
};

// Macros of ops.def for each class: T the type, U the unsigned type that arithmetic wraps
// in.
static const char *const tc__text_cuda_class[] = {
    "#define TC_ADD_@(a, b) ((T)((U)(a) + (U)(b)))",
    "#define TC_SUB_@(a, b) ((T)((U)(a) - (U)(b)))",
    "#define TC_MUL_@(a, b) ((T)((U)(a) * (U)(b)))",
    "#define TC_NEG_@(a) ((T)((U)0 - (U)(a)))",
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

// Functions of float and double: the name in ops.def and its body over x, y; # is the
// suffix of the CUDA function (f or nothing), @ the class.
static const char *const tc__cuda_functions[][2] = {
    {"exp", "exp#(x)"},
    {"exp2", "exp2#(x)"},
    {"expm1", "expm1#(x)"},
    {"log", "log#(x)"},
    {"log2", "log2#(x)"},
    {"log10", "log10#(x)"},
    {"log1p", "log1p#(x)"},
    {"sin", "sin#(x)"},
    {"cos", "cos#(x)"},
    {"tan", "tan#(x)"},
    {"asin", "asin#(x)"},
    {"acos", "acos#(x)"},
    {"atan", "atan#(x)"},
    {"sinh", "sinh#(x)"},
    {"cosh", "cosh#(x)"},
    {"tanh", "tanh#(x)"},
    {"erf", "erf#(x)"},
    {"floor", "floor#(x)"},
    {"ceil", "ceil#(x)"},
    {"trunc", "trunc#(x)"},
    {"round", "rint#(x)"},
    {"abs", "fabs#(x)"},
    {"sqrt", "sqrt#(x)"},
    {"rsqrt", "(T)1 / sqrt#(x)"},
    {"sign", "x > 0 ? (T)1 : x < 0 ? (T)-1 : x"},
    {"sigmoid", "(T)1 / ((T)1 + exp#(-x))"},
    {"silu", "x / ((T)1 + exp#(-x))"},
    {"gelu", "x * (T)0.5 * erfc#(x * (T)-0.70710678118654752)"},
    {"gelu_tanh",
     "x * (T)0.5 * ((T)1 + tanh#((T)0.79788456080286536 * (x + (T)0.044715 * x * x * x)))"},
    {"softplus", "fmax#(x, (T)0) + log1p#(exp#(-fabs#(x)))"},
    {"pow", "pow#(x, y)"},
    {"atan2", "atan2#(x, y)"},
    {"fmod", "fmod#(x, y)"},
    {"remainder", "tc_wrap_@(fmod#(x, y), y)"},
    {"floor_divide", "floor#((x - tc_wrap_@(fmod#(x, y), y)) / y + (T)0.5)"},
    {"wrap", "x != 0 && (x < 0) != (y < 0) ? x + y : x"},
    {"fma", "fma#(x, y, z)"}};

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

// Replaces T and U by types: done by typedefs around each function, for short text.
static void tc__cuda_function(tc__text *out, const char *name, const char *body,
                              const char *cls, const char *type, const char *argument,
                              const char *suffix) {
    int three = strstr(body, "z)") != NULL,
        two = three || strstr(body, "y)") || strstr(body, "y <");
    tc__put(out, "TC_FN %s tc_%s(%s x", type, name, argument);
    if (two) tc__put(out, ", %s y", type);
    if (three) tc__put(out, ", %s z", type);
    tc__put(out, ") {\n    typedef %s T;\n    return (T)(", type);
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

static void tc__cuda_math(tc__text *out, const tc__text *kernels) {
    char name[64];
    for (int wide = 0; wide < 2; wide++) {
        const char *cls = wide ? "f64" : "f32", *type = wide ? "double" : "float";
        for (size_t i = TC__COUNT(tc__cuda_functions); i-- > 0;) {
            snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i][0], cls);
            int wrap = !strcmp(tc__cuda_functions[i][0], "wrap");
            snprintf(name, sizeof name, "%s_%s",
                     wrap ? "remainder" : tc__cuda_functions[i][0], cls);
            int used = tc__uses_word(kernels, name);
            snprintf(name, sizeof name, "floor_divide_%s", cls);
            used |= wrap && tc__uses_word(kernels, name);
            snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i][0], cls);
            if (used)
                tc__cuda_function(out, name, tc__cuda_functions[i][1], cls, type, type,
                                  wide ? "" : "f");
        }
    }
    for (int from = 0; from < TC_DTYPE_COUNT; from++) {
        for (int to = 0; to < TC_DTYPE_COUNT; to++) {
            snprintf(name, sizeof name, "cast_%s_%s", tc__cast_from(from),
                     tc__cast_to(from, to));
            int first = from == TC_BOOL || tc__is_own_class(from);
            int made = tc__is_half(to) || (from == TC_BOOL && !tc__is_own_class(to));
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
        {tc__text_cuda, (uint32_t)TC__COUNT(tc__text_cuda)},
        {tc__text_cuda_rows, (uint32_t)TC__COUNT(tc__text_cuda_rows)}};
    tc__prelude q;
    tc__text kernels, steps, functions, macros;
    const tc__text *all = &kernels;
    tc__text_init(&kernels, out->ctx);
    tc__text_init(&steps, out->ctx);
    tc__text_init(&functions, out->ctx);
    tc__text_init(&macros, out->ctx);
    tc__prelude_open(&q, out->ctx, texts, TC__COUNT(texts));
    int ok = 1;
    for (int i = 0; i < count && ok; i++)
        ok = tc__print_kernel(&kernels, groups[i], &tc__dialect_cuda, "kernel");
    ok = ok && tc__put_monoids(&steps, &tc__dialect_cuda, groups, count) &&
         tc__prelude_mark(&q, &all, 1, &steps);
    tc__put(
        out,
        "// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90a -fmad=false\n");
    if (ok) tc__put_sections(out, &q);
    tc__cuda_math(&functions, &kernels);
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
