// The head of an emitted translation unit: types of the ABI, cpu/vector.h, and of
// cpu/math.h (both without their comments) only the functions that the kernels behind it use.
//
// A function stands in the texts from its "// fn: name" line to the "}" that closes it.
// Which are used is read off the printed kernels: every word tc_name there, then, from the
// last function to the first, every TC_N(name) in the ones kept. Lines outside functions
// are always kept.

typedef struct tc__text_section {
    uint32_t text, begin, end; // lines [begin, end) of texts[text]
    int used;                  // 2 = not a function: always kept
} tc__text_section;

typedef struct tc__prelude_text {
    const char *const *line;
    uint32_t count;
} tc__prelude_text;

// All of it.
TC__UNUSED static void tc__put_prelude_text(tc__text *out, const tc__prelude_text *t) {
    for (uint32_t i = 0; i < t->count; i++) tc__put(out, "%s\n", t->line[i]);
}

static const tc__prelude_text tc__prelude_texts[] = {
    {tc__text_cpu, (uint32_t)TC__COUNT(tc__text_cpu)},
    {tc__text_kernel, (uint32_t)TC__COUNT(tc__text_kernel)},
    {tc__text_transpose, (uint32_t)TC__COUNT(tc__text_transpose)},
    {tc__text_thirds, (uint32_t)TC__COUNT(tc__text_thirds)},
};

typedef struct tc__prelude {
    tc_ctx *ctx;
    const tc__prelude_text *texts;
    uint32_t count;
    TC__VEC(tc__text_section) section;
    tc__map words; // hash of a used name -> 1
} tc__prelude;

static int tc__begins(const char *s, const char *with) {
    return !strncmp(s, with, strlen(with));
}

static size_t tc__word_size(const char *s) {
    size_t n = 0;
    while (tc__is_word(s[n])) n++;
    return n;
}

static int tc__use_word(tc__prelude *q, const char *s) {
    return tc__map_set(&q->words, tc__hash64(s, tc__word_size(s), 0), 1);
}

// Every `lead`name in the text s.
static int tc__use_words(tc__prelude *q, const char *s, const char *lead) {
    size_t n = strlen(lead);
    for (s = strstr(s, lead); s; s = strstr(s + n, lead))
        if (!tc__use_word(q, s + n)) return 0;
    return 1;
}

// The line behind the function that begins at `i`.
static uint32_t tc__text_section_end(const tc__prelude_text *t, uint32_t i) {
    for (; i < t->count; i++) {
        const char *s = t->line[i];
        size_t n = strlen(s);
        if (s[0] == '}' || (tc__begins(s, "TC_FN") && n && s[n - 1] == '}')) return i + 1;
    }
    return i;
}

static int tc__cut_sections(tc__prelude *q, uint32_t text) {
    const tc__prelude_text *t = &q->texts[text];
    tc__text_section s;
    s.text = text;
    for (uint32_t i = 0; i < t->count; i = s.end) {
        int function = tc__begins(t->line[i], "// fn: ");
        s.begin = i, s.end = function ? tc__text_section_end(t, i) : i + 1;
        s.used = function ? 0 : 2;
        if (!TC__PUSH(q->ctx, q->section, s)) return 0;
    }
    return 1;
}

// Keeps section s if its function is used, and then what it names.
static int tc__keep_section(tc__prelude *q, tc__text_section *s) {
    const char *const *line = q->texts[s->text].line;
    uint64_t found;
    if (!s->used && tc__begins(line[s->begin], "// fn: ")) {
        const char *name = line[s->begin] + 7;
        s->used = tc__map_get(&q->words, tc__hash64(name, tc__word_size(name), 0), &found);
    }
    for (uint32_t i = s->begin; s->used && i < s->end; i++)
        if (!tc__use_words(q, line[i], "TC_N(")) return 0;
    return 1;
}

// The size of the line of a function's text that begins at s: a statement, or what opens or closes a block.
// A brace of a block has a blank before it, that of a list has none, or an equals sign.
static size_t tc__code_line_size(const char *s) {
    int inside = 0; // brackets
    size_t n = *s == '}';
    if (n && !tc__begins(s, "} else")) return n;
    for (; s[n]; n++) {
        int block = s[n] == '{' && n > 1 && s[n - 1] == ' ' && s[n - 2] != '=';
        if (!inside && (block || s[n] == ';')) return n + 1;
        inside += s[n] == '(' || s[n] == '{';
        inside -= s[n] == ')' || s[n] == '}';
    }
    return n;
}

enum { TC__CODE_COLUMNS = 92 };

// Where a line of at most `most` characters ends: at a blank, unless there is none.
static size_t tc__code_cut(const char *s, size_t n, size_t most) {
    size_t cut = most;
    if (n <= most) return n;
    while (cut && s[cut] != ' ') cut--;
    return cut ? cut : n;
}

static void tc__put_code_line(tc__text *out, const char *s, size_t n, size_t level) {
    size_t cut;
    for (size_t in = level; n; in = level + 2, s += cut, n -= cut) {
        for (size_t i = 0; i < in; i++) tc__put_raw(out, "    ", 4);
        cut = tc__code_cut(s, n, TC__CODE_COLUMNS - 4 * in);
        tc__put_raw(out, s, cut);
        tc__put_raw(out, "\n", 1);
        cut += cut < n; // the blank
    }
}

// A function that came as one line, as its statements.
static void tc__put_code(tc__text *out, const char *s) {
    size_t level = 0;
    while (*s) {
        size_t n = tc__code_line_size(s);
        level -= *s == '}';
        tc__put_code_line(out, s, n, level);
        level += s[n - 1] == '{';
        for (s += n; *s == ' ';) s++;
    }
}

// Text sections in order, functions behind an empty line.
static void tc__put_sections(tc__text *out, const tc__prelude *q) {
    for (size_t i = 0; i < q->section.count; i++) {
        const tc__text_section *s = &q->section.at[i];
        const char *const *line = q->texts[s->text].line;
        int beside = s->used == 2 && (!*line[s->begin] || tc__begins(line[s->begin], "//"));
        int one = s->end == s->begin + 2; // line, behind its mark
        if (!s->used || beside) continue;
        for (uint32_t k = s->begin; k < s->end; k++)
            if (tc__begins(line[k], "// fn: "))
                tc__put(out, "\n");
            else if (line == tc__text_cpu && one && strlen(line[k]) > TC__CODE_COLUMNS)
                tc__put_code(out, line[k]);
            else
                tc__put(out, "%s\n", line[k]);
    }
}

// Of four lanes two and more vectors are computed beside each other, whose instructions gcc is asked to mix: polynomials
// in double, which have no fma, wait four times as long for a step as it takes.
static const char tc__mixed_kernel[] =
    "#ifdef __clang__\n"
    "#define TC_KERNEL __attribute__((visibility(\"default\")))\n"
    "#else\n"
    "#define TC_KERNEL \\\n"
    "    __attribute__((visibility(\"default\"), optimize(\"schedule-insns,sched-pressure\")))\n"
    "#endif\n";

static const char tc__plain_kernel[] =
    "#define TC_KERNEL __attribute__((visibility(\"default\")))\n";

static void tc__put_abi(tc__text *out, tc__emit target, int lanes) {
    const char *flags = tc__gcc_flags[target >= TC__EMIT_AVX512];
    if (target > TC__EMIT_AVX512) target = TC__EMIT_AVX512; // the rest is inline assembly
    static const char *const cpu[] = {
        "", " -mavx2 -mfma -mf16c",
        " -mavx2 -mfma -mf16c\n//     -mavx512f -mavx512bw -mavx512dq -mavx512vl"};
    tc__put(out,
            "// Kernels made by tcompile. To build this file by hand (clang: -O1 "
            "-fno-unroll-loops):\n// gcc %s%s -fno-math-errno -fno-trapping-math\n"
            "//     -ffp-contract=off -fwrapv -Wno-psabi -fPIC -shared -nostdlib FILE.c\n",
            flags, cpu[target]);
    tc__put(out,
            "#define TC_FN static inline __attribute__((always_inline, unused))\n"
            "#define TC_FMA_f64(a, b, c) TC_ADD_f64(TC_MUL_f64(a, b), c)\n"
            "#define TC_FN_COLD static __attribute__((noinline, unused))\n"
            "%s"
            "#define TC_N(name) tc_##name\n#define TC_ISA_AVX2 %d\n"
            "#define TC_ISA_AVX512 %d\n#define TC_W %d\n",
            lanes < (int)TC__VECTOR ? tc__mixed_kernel : tc__plain_kernel,
            target >= TC__EMIT_AVX2, target >= TC__EMIT_AVX512, lanes);
    tc__put(
        out,
        "typedef __UINT8_TYPE__ tc_u8;\ntypedef __INT8_TYPE__ tc_i8;\n"
        "typedef __INT16_TYPE__ tc_i16;\ntypedef __UINT16_TYPE__ tc_u16;\n"
        "typedef __INT32_TYPE__ tc_i32;\n"
        "typedef __INT64_TYPE__ tc_i64;\ntypedef __UINT64_TYPE__ tc_u64;\n\n"
        "typedef union tc_scalar {\n    double f;\n    tc_i64 i;\n} tc_scalar;\n\n"
        "typedef struct tc_kargs {\n    void *const *buf;      // by buffer of the kernel\n"
        "    const tc_i64 *size;    // run-time sizes\n"
        "    const tc_scalar *arg;  // run-time scalars\n"
        "    void *const *scratch;  // by worker\n"
        "    tc_i64 *flag;          // an index out of range: site + 1, value, limit\n"
        "    tc_u64 seed, draw;     // of the random numbers\n"
        "    tc_u64 turn;           // of the launch: no other one has it\n"
        "    tc_i64 *packed;        // by worker 8: a turn, and what its scratch has of that\n"
        "    void *sums;            // of the launch: down the columns, by work item\n"
        "} tc_kargs;\n\n");
}

// `tc_acc_maximum_f32(a, b)`: one step of a reduction.
static void tc__put_monoid(tc__printer *p, tc__op monoid, uint8_t dtype) {
    const char *type = p->d->reg[tc__class_of(dtype)];
    tc__put(p->out, "\nTC_FN %s tc_acc_%s_%s(%s a, %s b) {\n    return ", type,
            tc__op_name(monoid), tc__suffix(dtype), type, type);
    tc__put_expr(p, tc__op_expr(p, (int)monoid), tc__class_of(dtype), NULL, 0);
    tc__put(p->out, ";\n}\n");
}

// `tc_win_max_f32(v, b, lower)`: the lanes where v replaces b; NaN wins, then the lower
// index.
static void tc__put_win(tc__printer *p, tc__op monoid, uint8_t dtype) {
    const char *cls = tc__suffix(dtype), *type = p->d->reg[tc__class_of(dtype)];
    const char *mask = p->d->threads ? "int" : strstr(cls, "64") ? "tc_vl" : "tc_vi";
    const char *best = "max", *order = "GT", *no = p->d->threads ? "!" : "~";
    if (monoid == TC_OP_ARGMIN) best = "min", order = "LT";
    tc__put(p->out, "\nTC_FN %s tc_win_%s_%s(%s v, %s b, %s lower) {\n", mask, best, cls,
            type, type, mask);
    tc__put(p->out, "    const %s nan = TC_NE_%s(v, v), other = TC_NE_%s(b, b);\n", mask,
            cls, cls);
    tc__put(p->out, "    const %s same = TC_EQ_%s(v, b) | (nan & other);\n", mask, cls);
    tc__put(p->out, "    return TC_%s_%s(v, b) | (nan & %sother) | (same & lower);\n}\n",
            order, cls, no);
}

static int tc__monoid_key(const tc__acc *a) {
    return (int)a->monoid * (int)TC__CLASSES + (int)tc__class_of(a->dtype);
}

// The step functions of all kernels, each once.
static int tc__put_monoids(tc__text *out, const tc__dialect *d,
                           const tc__group *const *groups, int count) {
    tc__map seen;
    tc__printer *p = TC__NEW(out->ctx, tc__printer);
    int ok = p != NULL;
    tc__map_init(&seen, out->ctx);
    for (int i = 0; i < count && ok; i++) {
        uint64_t found;
        tc__printer_open(p, out, groups[i], d);
        ok = tc__find_accs(p);
        for (int k = 0; k < TC__PRINT_ACCS && ok; k++) {
            const tc__acc *a = &p->acc[k];
            uint64_t key = (uint64_t)tc__monoid_key(a);
            if (!a->used || tc__map_get(&seen, key, &found)) continue;
            if (tc__is_arg(a))
                tc__put_win(p, a->monoid, a->dtype);
            else
                tc__put_monoid(p, a->monoid, a->dtype);
            if (d->monoid) d->monoid(p, a);
            ok = tc__map_set(&seen, key, 1);
        }
    }
    tc__map_free(&seen);
    tc__free(out->ctx, p, sizeof *p);
    return ok;
}

// `tc_calls_exp_f32(v, n)`: tc_exp_f32 of n vectors in place, as a function that is called, and
// `tc_call_exp_f32(a)` of one. `s` is its name behind "tc_call_".
static void tc__put_called(tc__text *out, const tc__dialect *d, const char *s) {
    int n = (int)tc__word_size(s), two = 0, cls = 0;
    while (cls < TC__CLASSES && memcmp(s + n - 3, tc__class_names[cls], 3)) cls++;
    for (int op = 0; op < TC_OP_COUNT; op++) {
        const char *expr = tc__ops[op].expr + 5;
        two |= !strncmp(tc__ops[op].expr, "TC_F(", 5) && (int)strlen(expr) > n - 4 &&
               !memcmp(expr, s, (size_t)n - 4) && !strcmp(expr + n - 4, ")(a, b)");
    }
    const char *type = d->reg[cls];
    tc__put(out, "TC_FN_COLD void tc_calls_%.*s(%s *v, ", n, s, type);
    if (two) tc__put(out, "const %s *w, ", type);
    tc__put(out, "int n) {\n    for (int i = 0; i < n; i++) v[i] = tc_%.*s(v[i]%s);\n}\n",
            n, s, two ? ", w[i]" : "");
    tc__put(out, "TC_FN %s tc_call_%.*s(%s a", type, n, s, type);
    if (two) tc__put(out, ", %s b", type);
    tc__put(out, ") {\n    tc_calls_%.*s(&a, %s1);\n    return a;\n}\n", n, s,
            two ? "&b, " : "");
}

// Functions that the kernels call by this lead, each once.
static int tc__put_called_by(tc__text *out, const tc__dialect *d, tc__map *seen,
                             const char *text, const char *lead) {
    uint64_t found;
    int ok = 1;
    for (const char *s = strstr(text, lead); s && ok; s = strstr(s, lead)) {
        s += strlen(lead);
        uint64_t key = tc__hash64(s, tc__word_size(s), 0);
        if (tc__map_get(seen, key, &found)) continue;
        tc__put_called(out, d, s);
        ok = tc__map_set(seen, key, 1);
    }
    return ok;
}

static int tc__put_all_called(tc__text *out, const tc__dialect *d,
                              const tc__text *const *text, int texts) {
    tc__map seen;
    int ok = 1;
    tc__map_init(&seen, out->ctx);
    for (int i = 0; i < texts && ok; i++)
        ok = tc__put_called_by(out, d, &seen, text[i]->at, "tc_call_") &&
             tc__put_called_by(out, d, &seen, text[i]->at, "tc_calls_");
    tc__map_free(&seen);
    return ok;
}

// Reads the words of the kernels and of their step functions, and marks what they use.
static int tc__prelude_mark(tc__prelude *q, const tc__text *const *text, int texts,
                            const tc__text *steps) {
    int ok = tc__use_words(q, steps->at, "tc_");
    for (int i = 0; i < texts && ok; i++) ok = tc__use_words(q, text[i]->at, "tc_");
    for (uint32_t i = 0; i < q->count && ok; i++) ok = tc__cut_sections(q, i);
    for (size_t i = 0; i < q->section.count && ok; i++) // macros name functions below them
        if (q->section.at[i].used) ok = tc__keep_section(q, &q->section.at[i]);
    for (size_t i = q->section.count; i-- > 0 && ok;)
        if (!q->section.at[i].used) ok = tc__keep_section(q, &q->section.at[i]);
    return ok;
}

static void tc__prelude_open(tc__prelude *q, tc_ctx *c, const tc__prelude_text *texts,
                             size_t count) {
    memset(q, 0, sizeof *q);
    q->ctx = c, q->texts = texts, q->count = (uint32_t)count;
    tc__map_init(&q->words, c);
}

static void tc__prelude_close(tc__prelude *q) {
    TC__VEC_FREE(q->ctx, q->section);
    tc__map_free(&q->words);
}

// Appends the head of a translation unit that holds the kernels of `groups`, which were printed to
// `texts` with vectors of `lanes` elements. 1, or 0 = reported.
TC__UNUSED static int tc__print_prelude(tc__text *out, const tc__group *const *groups,
                                        int count, const tc__text *const *text, int texts,
                                        tc__emit target, int lanes) {
    tc__prelude q;
    tc__text steps;
    uint64_t found;
    tc__text_init(&steps, out->ctx);
    tc__prelude_open(&q, out->ctx, tc__prelude_texts, TC__COUNT(tc__prelude_texts));
    int ok = tc__put_monoids(&steps, &tc__dialect_c, groups, count) &&
             tc__put_all_called(&steps, &tc__dialect_c, text, texts) &&
             tc__prelude_mark(&q, text, texts, &steps);
    tc__put_abi(out, target, lanes);
    if (ok && tc__map_get(&q.words, tc__hash64("turn_octs", 9, 0), &found))
        for (size_t i = 0; i < TC__COUNT(tc__text_shuffles); i++)
            tc__put(out, "%s\n", tc__text_shuffles[i]);
    if (ok) tc__put_sections(out, &q);
    if (ok) tc__put_raw(out, steps.at, steps.size);
    ok = ok && !steps.failed;
    tc__prelude_close(&q);
    tc__text_free(&steps);
    return ok && !out->failed;
}

// Appends a whole translation unit: kernels with vectors of one size, under these names.
TC__UNUSED static int tc__print_unit(tc__text *out, const tc__group *const *groups,
                                     const char *const *symbols, int count,
                                     tc__emit target) {
    tc__text kernels;
    const tc__text *text = &kernels;
    int ok = 1;
    tc__text_init(&kernels, out->ctx);
    for (int i = 0; i < count && ok; i++)
        ok = tc__print_kernel(&kernels, groups[i], &tc__dialect_c, symbols[i]);
    int lanes = count ? tc__group_lanes(groups[0]) : (int)TC__VECTOR;
    ok = ok && tc__print_prelude(out, groups, count, &text, 1, target, lanes);
    if (ok) tc__put_raw(out, kernels.at, kernels.size);
    ok = ok && !kernels.failed;
    tc__text_free(&kernels);
    return ok && !out->failed;
}

// What a device's texts are in: a header beside tcompile.h brings one (cuda_print/language.c).
typedef struct tc__language {
    const tc__dialect *dialect;
    // The head of a text that has these kernels; 0 = reported.
    int (*prelude)(tc__text *out, const tc__group *const *groups, int count);
    // Whether value v of a knob of devices differs from what the rules say, and makes sense.
    int (*knob_fits)(const tc__group *g, int knob, int v);
    tc__prelude_text spread; // kernels that write a strided view: see exec/transfer.c
} tc__language;
