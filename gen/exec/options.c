// Settings: one table for the fields of tc_config and tc_options, their environment variables, what
// values they take, and what the manual says of them.
//
// To add one: a field of tc_config or tc_options, a row in the list of the same kind, and a
// row in tests/function/options.c that sees its effect: the driver there fails for an
// option without one.

typedef enum tc__option_kind {
    TC__OPTION_FLAG,
    TC__OPTION_NUMBER,
    TC__OPTION_PERCENT,
    TC__OPTION_EVERY, // one in so many; without a number each
    TC__OPTION_WORD,  // one of `words`, as its index
    TC__OPTION_TEXT
} tc__option_kind;

#define TC__ISAS "native,avx512,avx2,baseline"
#define TC__STANCES                                                                        \
    "default,force_eager,eager_on_recompile,fail_on_recompile,eager_then_compile"
#define TC__MODES "default,reduce-overhead,max-autotune,max-autotune-no-cudagraphs"

typedef enum tc__mode { // in the order of TC__MODES
    TC__MODE_DEFAULT,
    TC__MODE_REDUCE_OVERHEAD,
    TC__MODE_MAX_AUTOTUNE,
    TC__MODE_MAX_AUTOTUNE_NO_GRAPHS
} tc__mode;

// X(field, env, kind, values, default, "doc")
#define TC__CONTEXT_OPTIONS(X)                                                             \
    X(threads, "TC_THREADS", NUMBER, "number", "all cores the process may use",            \
      "threads that run kernels")                                                          \
    X(cache_dir, "TC_CACHE_DIR", TEXT, "text", "$XDG_CACHE_HOME or ~/.cache, /tcompile",   \
      "where compiled kernels are kept")                                                   \
    X(cc, "CC", TEXT, "text", "cc, gcc or clang", "the compiler")                          \
    X(logs, "TC_LOGS", TEXT, "text", "", "log channels, such as graph,output_code")        \
    X(no_disk_cache, "TC_NO_DISK_CACHE", FLAG, "0,1", "0",                                 \
      "compiled kernels live in memory only")                                              \
    X(no_fusion, "TC_NO_FUSION", FLAG, "0,1", "0", "one kernel per op")                    \
    X(passes_off, "TC_PASSES_OFF", TEXT, "text", "", "graph passes to leave out, or all")  \
    X(isa, "TC_ISA", TEXT, TC__ISAS, "native",                                             \
      "instructions of the CPU that may be used at most")                                  \
    X(stance, "TC_STANCE", WORD, TC__STANCES, "default",                                   \
      "what regions and functions do where there is no program: tc_set_stance")            \
    X(memory_mb, "TC_MEMORY_MB", NUMBER, "number", "192",                                  \
      "megabytes that recordings and programs may hold; then the oldest go")               \
    X(compile_threads, "TC_COMPILE_THREADS", NUMBER, "number",                             \
      "half the cores, at most 4", "programs compiled in the background at once")          \
    X(compile_ms, "TC_COMPILE_MS", NUMBER, "number", "60000",                              \
      "milliseconds one step of the compiler may take")                                    \
    X(compile_mb, "TC_COMPILE_MB", NUMBER, "number", "8192",                               \
      "megabytes one process of the compiler may have")

#define TC__REGION_OPTIONS(X)                                                              \
    X(fullgraph, "TC_FULLGRAPH", FLAG, "0,1", "0", "a graph break is an error")            \
    X(disable, "TC_DISABLE", FLAG, "0,1", "0", "regions and functions run eagerly")        \
    X(dynamic, "TC_DYNAMIC", WORD, "auto,on,off", "auto",                                  \
      "sizes and scalars that are known at run time only")                                 \
    X(recompile_limit, "TC_RECOMPILE_LIMIT", NUMBER, "number", "16",                       \
      "programs of one region that are compiled")                                          \
    X(backend, "TC_BACKEND", TEXT, "text", "cpu", "who runs programs")                     \
    X(mode, "TC_MODE", TEXT, TC__MODES, "default", "what compiling is to aim at")          \
    X(numerics, "TC_NUMERICS", WORD, "strict,fast", "strict",                              \
      "what compiled code may do to floating point")                                       \
    X(round_each_op, "TC_ROUND_EACH_OP", FLAG, "0,1", "0",                                 \
      "f16 and bf16 are rounded after every op, as in eager code")                         \
    X(threads, "TC_REGION_THREADS", NUMBER, "number", "the context's",                     \
      "threads that one kernel may use")                                                   \
    X(verify, "TC_VERIFY", EVERY, "number", "0",                                           \
      "first runs of compiled code, and one run in so many, are compared with the "        \
      "interpreter's")                                                                     \
    X(suppress_errors, "TC_SUPPRESS_ERRORS", FLAG, "0,1", "0",                             \
      "where a registered backend fails the interpreter goes on")                          \
    X(autotune_seconds, "TC_AUTOTUNE_SECONDS", NUMBER, "number", "10",                     \
      "seconds that max-autotune may take for one program")                                \
    X(allow_tf32, "TC_ALLOW_TF32", FLAG, "0,1", "0",                                       \
      "products of f32 on a GPU may round what they multiply to 11 bits")                  \
    X(memory_budget, "TC_MEMORY_BUDGET", PERCENT, "0 to 100", "100",                       \
      "percent of the memory of intermediates that they may take; values that gradients "  \
      "need are computed again for that")

static const tc_option_info tc__options[] = {
#define TC__ROW(field, env, kind, values, fallback, doc)                                   \
    {#field, env, values, fallback, doc, 0},
    TC__CONTEXT_OPTIONS(TC__ROW)
#undef TC__ROW
#define TC__ROW(field, env, kind, values, fallback, doc)                                   \
    {#field, env, values, fallback, doc, 1},
        TC__REGION_OPTIONS(TC__ROW)
#undef TC__ROW
};

// Where a field stands in its struct, and what it is.
static const struct {
    tc__option_kind kind;
    size_t offset;
} tc__option_fields[] = {
#define TC__ROW(field, env, kind, values, fallback, doc)                                   \
    {TC__OPTION_##kind, offsetof(tc_config, field)},
    TC__CONTEXT_OPTIONS(TC__ROW)
#undef TC__ROW
#define TC__ROW(field, env, kind, values, fallback, doc)                                   \
    {TC__OPTION_##kind, offsetof(tc_options, field)},
        TC__REGION_OPTIONS(TC__ROW)
#undef TC__ROW
};

TCDEF int tc_list_options(const tc_option_info **rows) {
    if (rows) *rows = tc__options;
    return (int)TC__COUNT(tc__options);
}

TCDEF tc_options tc_options_default(void) {
    tc_options o;
    memset(&o, 0, sizeof o);
    return o;
}

// ---- words ----

// Letters to change, add or leave out to make b of a[0..n). What is longer than the table is far.
static int tc__word_distance(const char *a, size_t n, const char *b) {
    enum { MOST = 32 };
    int row[MOST + 1];
    size_t m = strlen(b);
    if (n > MOST || m > MOST) return MOST;
    for (size_t k = 0; k <= m; k++) row[k] = (int)k;
    for (size_t i = 0; i < n; i++) {
        int corner = row[0];
        row[0] = (int)i + 1;
        for (size_t k = 0; k < m; k++) {
            int change = corner + (a[i] != b[k]);
            corner = row[k + 1];
            int step = (row[k] < corner ? row[k] : corner) + 1;
            row[k + 1] = change < step ? change : step;
        }
    }
    return row[m];
}

// The index of a word in a list "a,b,c"; -1 = it is not there.
static int tc__word_in(const char *list, const char *word, size_t n) {
    for (int i = 0; *list; i++) {
        size_t m = strcspn(list, ",");
        if (m == n && !memcmp(list, word, n)) return i;
        list += m + (list[m] != 0);
    }
    return -1;
}

static const char *const tc__mode_names[] = {"default", "reduce-overhead", "max-autotune",
                                             "max-autotune-no-cudagraphs"};

// ---- setting a field ----

static int tc__fail_option(tc_ctx *c, const char *name, const char *value, size_t n,
                           const char *values) {
    return tc__fail(c, TC_E_ARG, "option %s: \"%.*s\" is none of its values: %s", name,
                    (int)(n < 60 ? n : 60), value, values);
}

// A whole number, 0 or more; -1 = it is none.
static int64_t tc__option_number(const char *s, size_t n) {
    int64_t v = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] < '0' || s[i] > '9' || v > 100000000) return -1;
        v = v * 10 + (s[i] - '0');
    }
    return n ? v : -1;
}

// Sets field i of a tc_config or tc_options; 0 = reported. A text must live as long as the struct does.
static int tc__option_set(tc_ctx *c, int i, void *at, const char *value, size_t n) {
    const tc_option_info *o = &tc__options[i];
    char *field = (char *)at + tc__option_fields[i].offset;
    tc__option_kind kind = tc__option_fields[i].kind;
    int64_t v;
    if (kind == TC__OPTION_TEXT) {
        int word = strchr(o->values, ',') ? tc__word_in(o->values, value, n) : 0;
        if (word < 0) return tc__fail_option(c, o->name, value, n, o->values);
        if (!strcmp(o->name, "mode")) value = tc__mode_names[word];
        memcpy(field, &value, sizeof value);
        return 1;
    }
    v = kind == TC__OPTION_WORD ? tc__word_in(o->values, value, n)
                                : tc__option_number(value, n);
    if (v < 0 || (kind == TC__OPTION_FLAG && v > 1) ||
        (kind == TC__OPTION_PERCENT && v > 100))
        return tc__fail_option(c, o->name, value, n, o->values);
    int number = (int)v;
    memcpy(field, &number, sizeof number);
    return 1;
}

TC__STATIC_ASSERT(enums_are_int_do_not_use_fshort_enums,
                  sizeof(tc_dynamic) == sizeof(int) && sizeof(tc_numerics) == sizeof(int) &&
                      sizeof(tc_stance) == sizeof(int));

static int tc__option_is_zero(int i, const void *at) {
    const char *field = (const char *)at + tc__option_fields[i].offset;
    const char *text;
    int number;
    if (tc__option_fields[i].kind == TC__OPTION_TEXT)
        return memcpy(&text, field, sizeof text), !text;
    return memcpy(&number, field, sizeof number), !number;
}

// Fields that are zero take their environment variables. What those say wrong is warned of.
static void tc__options_environment(tc_ctx *c, void *at, int of_region) {
    for (int i = 0; i < (int)TC__COUNT(tc__options); i++) {
        const tc_option_info *o = &tc__options[i];
        const char *value = o->of_region == of_region ? tc__env(o->env) : NULL;
        if (!value || !*value || !tc__option_is_zero(i, at)) continue;
        tc__error_mark before = tc__error_now(c);
        if (tc__option_set(c, i, at, value, strlen(value))) continue;
        tc__error_restore(c, before);
        tc__warn(c, "%s=\"%.60s\" is ignored; its values: %s", o->env, value, o->values);
    }
}

// The numbers of a tc_config or tc_options as they stand in code. A wrong option is an error, 0 = reported; a wrong
// field of tc_open's is warned of, and as if it were not given.
static int tc__options_check(tc_ctx *c, const char *who, void *at, int of_region) {
    for (int i = 0; i < (int)TC__COUNT(tc__options); i++) {
        const tc_option_info *o = &tc__options[i];
        char *field = (char *)at + tc__option_fields[i].offset;
        int v = 0, most = 0; // most: of words, or 0 and 1, or percent
        if (o->of_region != of_region || tc__option_fields[i].kind == TC__OPTION_TEXT)
            continue;
        for (const char *s = o->values; (s = strchr(s, ',')) != NULL; s++) most++;
        if (tc__option_fields[i].kind == TC__OPTION_PERCENT) most = 100;
        memcpy(&v, field, sizeof v);
        if (v >= 0 && (!most || v <= most)) continue;
        if (of_region)
            return tc__fail(c, TC_E_ARG, "%s: option %s is %d; its values: %s", who,
                            o->name, v, o->values);
        tc__warn(c, "%s: %s is %d, which is ignored; its values: %s", who, o->name, v,
                 o->values);
        memset(field, 0, sizeof v);
    }
    return 1;
}

// Fields that are zero take those of `from`.
static void tc__options_inherit(tc_options *o, const tc_options *from) {
    for (int i = 0; i < (int)TC__COUNT(tc__options); i++) {
        size_t at = tc__option_fields[i].offset;
        size_t n =
            tc__option_fields[i].kind == TC__OPTION_TEXT ? sizeof(char *) : sizeof(int);
        if (tc__options[i].of_region && tc__option_is_zero(i, o))
            memcpy((char *)o + at, (const char *)from + at, n);
    }
}

// ---- by name ----

static int tc__fail_option_name(tc_ctx *c, const char *name, size_t n) {
    const char *nearest = "";
    int best = INT_MAX;
    for (size_t i = 0; i < TC__COUNT(tc__options); i++) {
        int d = tc__options[i].of_region ? tc__word_distance(name, n, tc__options[i].name)
                                         : INT_MAX;
        if (d < best) best = d, nearest = tc__options[i].name;
    }
    return tc__fail(
        c, TC_E_ARG,
        "no option is called \"%.*s\"; is \"%s\" meant? tc_list_options gives all",
        (int)(n < 60 ? n : 60), name, nearest);
}

static size_t tc__trim(const char **s, size_t n) {
    while (n && (**s == ' ' || **s == '\t')) ++*s, n--;
    while (n && ((*s)[n - 1] == ' ' || (*s)[n - 1] == '\t')) n--;
    return n;
}

// One "name=value"; the text of a value is made to last by the backend's table.
static int tc__options_parse_one(tc_ctx *c, tc_options *o, const char *item, size_t n) {
    const char *equal = (const char *)memchr(item, '=', n);
    size_t name_size = equal ? (size_t)(equal - item) : n;
    const char *name = item, *value = equal ? equal + 1 : "";
    size_t value_size = equal ? n - name_size - 1 : 0;
    name_size = tc__trim(&name, name_size), value_size = tc__trim(&value, value_size);
    for (int i = 0; i < (int)TC__COUNT(tc__options); i++) {
        const tc_option_info *row = &tc__options[i];
        if (!row->of_region || strlen(row->name) != name_size) continue;
        if (memcmp(row->name, name, name_size)) continue;
        if (!equal && (tc__option_fields[i].kind == TC__OPTION_FLAG ||
                       tc__option_fields[i].kind == TC__OPTION_EVERY))
            value = "1", value_size = 1;
        if (!strcmp(row->name, "backend")) {
            const char *known = tc__backend_name(c, value, value_size);
            if (!known) return tc__fail_backend(c, "option backend", value, value_size);
            value = known;
        }
        return tc__option_set(c, i, o, value, value_size);
    }
    return tc__fail_option_name(c, name, name_size);
}

TCDEF tc_status tc_options_parse(tc_ctx *c, tc_options *options, const char *list) {
    if (!c) return tc__fail_no_context("tc_options_parse", NULL, 0);
    if (!tc__is_ours(c, "tc_options_parse")) return tc__not_ours(c);
    if (!options) return tc__fail(c, TC_E_NULL, "tc_options_parse: no options"), TC_E_NULL;
    while (list && *list) {
        size_t n = strcspn(list, ",");
        const char *item = list;
        size_t size = tc__trim(&item, n);
        if (size && !tc__options_parse_one(c, options, item, size)) return TC_E_ARG;
        list += n + (list[n] != 0);
    }
    return TC_OK;
}
