// Expands gen/tables/*.def. Each table is an X-macro; here its columns become strings.
// A missing column is a compile error at its row.

// ---- ops.def ----------------------------------------------------------------
typedef struct op {
    const char *id, *name, *kind, *dtype, *shape, *attr, *al, *cost, *expr, *cuda, *grad;
    const char *test, *doc;
} op;

#define DTYPE(...) #__VA_ARGS__
#define SHAPE(...) #__VA_ARGS__
#define ATTR(...)  #__VA_ARGS__
#define AL(...)    #__VA_ARGS__
#define COST(...)  #__VA_ARGS__
#define EXPR(...)  #__VA_ARGS__
#define CUDA(...)  #__VA_ARGS__
#define GRAD(...)  #__VA_ARGS__
#define TEST(...)  #__VA_ARGS__
#define OP(id, name, kind, dtype, shape, attr, al, cost, expr, cuda, grad, test, doc)      \
    {#id, #name, #kind, dtype, shape, attr, al, cost, expr, cuda, grad, test, doc},
static const op ops[] = {
#include "tables/ops.def"
};
#undef OP

// One row per KIND: operands, and whether a row makes a public function by itself.
typedef struct op_kind {
    const char *name;
    int arity;       // -1: any number
    int elementwise; // one line over tc__op<arity>, one interpreter loop
} op_kind;

static const op_kind op_kinds[] = {
    {"UNARY", 1, 1},   {"BINARY", 2, 1},   {"TERNARY", 3, 1}, {"CAST", 1, 0},
    {"LAYOUT", 1, 0}, // the same values, where they lie is another thing

    {"SOURCE", 0, 0},  {"MOVE", 1, 0},     {"JOIN", -1, 0},   // cat
    {"GATHER", 2, 0},                                         // data, index
    {"REDUCE", 1, 0},  {"CONTRACT", 2, 0}, {"OPAQUE", -1, 0}, // over whole buffers
    {"EFFECT", -1, 0}, {"KERNEL", -1, 0},  {"DERIVE", -1, 0}, {"LOOP", -1, 0},
};

// ---- composites.def: how composite ops are recorded whole --------------------
// Ops of kind COMPOSITE, numbered behind all others: TC_OP_COUNT is the first of them.
typedef struct whole {
    const char *name, *in, *attr, *dtype, *shape;
} whole;

#define IN(...) #__VA_ARGS__
#define COMPOSITE(name, operand, frame, whole)
#define WHOLE(name, in, attr, dtype, shape) {#name, in, attr, dtype, shape},
static const whole wholes[] = {
#include "tables/composites.def"
};
#undef DTYPE
#undef COMPOSITE
#undef WHOLE

// ---- autocast.def: which public calls are cast -------------------------------
typedef struct autocast {
    const char *name, *policy;
} autocast;

#define AUTOCAST(name, policy) {#name, #policy},
static const autocast autocasts[] = {
#include "tables/autocast.def"
};
#undef AUTOCAST

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define EACH(item, type, table)                                                            \
    for (const type *item = table; item < table + COUNT(table); item++)

static const op_kind *kind_of(const op *o) {
    EACH(k, op_kind, op_kinds) {
        if (strcmp(k->name, o->kind) == 0) return k;
    }
    fail("gen/tables/ops.def", 0, join("%s has the unknown kind %s", o->id, o->kind),
         "the kind says how many operands an op has",
         "correct it, or add a row to op_kinds in gen/gen_tables.c");
    return op_kinds;
}

// The policy of tc_NAME, NULL = it is not listed.
static const char *autocast_of(const char *name) {
    EACH(a, autocast, autocasts) {
        if (!strcmp(a->name, name)) return a->policy;
    }
    return NULL;
}

static int has_function(const op *o) {
    return kind_of(o)->elementwise && strcmp(o->name, "NOFN") != 0;
}

static void head(text *t, const char *table) {
    put(t, "// Generated from gen/tables/%s.def by gen/gen_tables.c.\n", table);
}

// "// " lines at an indent, broken at the line width.
static void put_comment(text *t, int indent, const char *s) {
    const int width = 92 - 3 - indent;
    while (*s) {
        int n = (int)strlen(s), cut = n > width ? width : n;
        while (cut < n && cut > 1 && s[cut] != ' ') cut--;
        put(t, "%*s// %.*s\n", indent, "", cut, s);
        s += cut;
        while (*s == ' ') s++;
    }
}

static void put_string(text *t, const char *s) { put_literal(t, s, strlen(s)); }

static void put_lower(text *t, const char *s) {
    for (; *s; s++) put(t, "%c", *s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
}

static void put_upper(text *t, const char *s) {
    for (; *s; s++) put(t, "%c", *s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
}

static void op_enum(text *t) {
    head(t, "ops");
    put(t, "typedef enum tc__op {\n");
    EACH(o, op, ops) put(t, "    TC_OP_%s,\n", o->id);
    put(t, "    TC_OP_COUNT,\n");
    EACH(w, whole, wholes) {
        put(t, "    TC_OP_");
        put_upper(t, w->name);
        put(t, "%s,\n", w == wholes ? " = TC_OP_COUNT" : "");
    }
    put(t, "    TC_OP_TOTAL\n} tc__op;\n");
}

// One name of an ATTR column, "s start" or, for all words from there on, "s sizes[]".
typedef struct op_word {
    char kind; // v, s or t
    const char *name;
    int is_list;
} op_word;

// 0 = no more names.
static int next_word(const char **rest, op_word *w) {
    const char *s = *rest + strspn(*rest, ", ");
    size_t n = strcspn(s, ","), name = n;
    if (!n) return 0;
    w->kind = *s;
    w->is_list = n > 2 && s[n - 1] == ']';
    if (w->is_list) name -= 2;
    w->name = join("%.*s", (int)name - 2, s + 2);
    *rest = s + n;
    if (!w->is_list || !*(*rest)) return 1;
    fail("gen/tables/ops.def", 0, join("a list stands before the end: %s", s),
         "a list has all words from its place on", "move it to the end of ATTR");
    return 0;
}

// Ops of a kind whose words are all the same share names: TC__REDUCE_DIMS.
static const char *words_family(const op *o) {
    int many = 0;
    EACH(other, op, ops) {
        if (strcmp(other->kind, o->kind)) continue;
        if (strcmp(other->attr, o->attr)) return o->id;
        many += other != o;
    }
    return many ? o->kind : o->id;
}

static int is_first_of(const op *o, const char *family) {
    EACH(other, op, ops) {
        if (*other->attr && !strcmp(words_family(other), family)) return other == o;
    }
    return 0;
}

// "weight? 1" of an IN column.
typedef struct whole_operand {
    const char *name;
    int may_miss, rank, at_least;
} whole_operand;

// 0 = no more operands.
static int next_operand(const char **rest, whole_operand *o) {
    const char *s = *rest + strspn(*rest, ", ");
    size_t n = strcspn(s, ","), name = strcspn(s, "?, ");
    if (!n) return 0;
    o->name = join("%.*s", (int)name, s);
    o->may_miss = s[name] == '?';
    const char *rank = s + name + (size_t)o->may_miss;
    rank += strspn(rank, " ");
    o->rank = rank < s + n ? atoi(rank) : 0;
    o->at_least = rank == s + n || rank[strcspn(rank, "+,")] == '+';
    *rest = s + n;
    return 1;
}

// TC__ATTENTION_K: which operand it is; TC__ATTENTION_SCALE: where its word stands, behind the word that
// tells which operands are there.
static void whole_words(text *t, const whole *o) {
    const char *rest = o->in;
    whole_operand in;
    op_word w;
    put(t, "    ");
    for (int i = 0; next_operand(&rest, &in); i++) {
        put(t, "TC__");
        put_upper(t, o->name);
        put(t, "_");
        put_upper(t, in.name);
        put(t, " = %d, ", i);
    }
    rest = o->attr;
    for (int i = 1; next_word(&rest, &w); i++) {
        put(t, "TC__");
        put_upper(t, o->name);
        put(t, "_");
        put_upper(t, w.name);
        put(t, " = %d, ", i);
    }
    put(t, "\n");
}

// TC__SLICE_START: where the word stands in n->attr; of a list, its first word.
static void op_words(text *t) {
    head(t, "ops");
    put(t, "enum {\n");
    EACH(o, op, ops) {
        const char *family = words_family(o), *rest = o->attr;
        op_word w;
        if (!is_first_of(o, family)) continue;
        for (int i = 0; next_word(&rest, &w); i++) {
            put(t, "%sTC__%s_", i % 4 ? ", " : i ? ",\n        " : "    ", family);
            put_upper(t, w.name);
            put(t, " = %d", i);
        }
        put(t, ",\n");
    }
    EACH(w, whole, wholes) whole_words(t, w);
    put(t, "};\n");
}

// A bit per word of this kind; a list has all bits from its own on.
static uint32_t words_of_kind(const char *attr, char kind) {
    uint32_t bits = 0;
    op_word w;
    for (int i = 0; next_word(&attr, &w); i++) {
        if (w.kind == kind) bits |= (w.is_list ? ~(uint32_t)0 : 1u) << i;
    }
    return bits;
}

// "IDEM, MONOID" -> "0 | TC__AL_IDEM": who is a monoid is the generator's to know, for its loops.
static void put_flags(text *t, const op *o) {
    char *words = join("%s", o->al);
    put(t, "0");
    if (strcmp(o->kind, "REDUCE") == 0) return; // it names its step
    for (char *w = strtok(words, ", "); w; w = strtok(NULL, ", ")) {
        if (strcmp(w, "MONOID")) put(t, " | TC__AL_%s", w);
    }
}

static void put_op_rest(text *t, const char *attr, const char *expr) {
    put(t, "0x%xu, 0x%xu,\n        ", words_of_kind(attr, 's'), words_of_kind(attr, 'v'));
    put_string(t, attr);
    put(t, ", ");
    put_string(t, expr);
    put(t, ")\n");
}

static void op_names(text *t) {
    head(t, "ops");
    put(t, "static const char *const tc__op_names[TC_OP_TOTAL] = {\n");
    EACH(o, op, ops) {
        put(t, "    \"");
        put_lower(t, o->id);
        put(t, "\",\n");
    }
    EACH(o, whole, wholes) { put(t, "    \"%s\",\n", o->name); }
    put(t, "};\n");
}

static void op_info(text *t) {
    head(t, "ops");
    put(t, "#define TC__OP(kind, arity, cost, dtype, shape, flags, monoid, ...) \\\n"
           "    {TC__KIND_##kind, arity, cost, tc__dtype_##dtype, tc__shape_##shape, \\\n"
           "     flags, TC_OP_##monoid, __VA_ARGS__},\n");
    put(t, "static const tc__op_info tc__ops[TC_OP_TOTAL] = {\n");
    EACH(o, op, ops) {
        int reduce = strcmp(o->kind, "REDUCE") == 0;
        put(t, "    /* ");
        put_lower(t, o->id);
        put(t, " */ TC__OP(%s, %d, %s, %s, %s, ", o->kind, kind_of(o)->arity, o->cost,
            o->dtype, o->shape);
        put_flags(t, o);
        put(t, ", %s, ", reduce ? o->al : "COUNT");
        put_op_rest(t, o->attr, o->expr);
    }
    EACH(o, whole, wholes) {
        const char *attr = join("t given%s%s", *o->attr ? ", " : "", o->attr);
        put(t, "    /* %s */ TC__OP(COMPOSITE, -1, 0, %s, %s, 0, COUNT, ", o->name,
            o->dtype, o->shape);
        put_op_rest(t, attr, "");
    }
    put(t, "};\n\n");
    put(t, "static const tc__whole_info tc__wholes[TC_OP_TOTAL - TC_OP_COUNT] = {\n");
    EACH(o, whole, wholes) {
        const char *rest = o->in;
        whole_operand in;
        int n = 0;
        put(t, "    {{");
        for (; next_operand(&rest, &in); n++)
            put(t, "%s{%d, %d, %d}", n ? ", " : "", in.rank, in.at_least, in.may_miss);
        put(t, "}, %d}, // %s\n", n, o->name);
    }
    put(t, "};\n");
}

// Writes the head of one call of a GRAD column over nodes: tc_mul_s( as tc__d2_s(d, TC_OP_MUL.
static void put_derivative_call(text *t, const char *name, size_t n) {
    static const struct {
        const char *name, *as;
    } own[] = {{"zeros_like", "zeros"}, {"cast", "cast"}, {"dtype_of", "dtype"}};
    for (size_t i = 0; i < COUNT(own); i++)
        if (strlen(own[i].name) == n && !memcmp(own[i].name, name, n)) {
            put(t, "tc__d_%s(d", own[i].as);
            return;
        }
    int scalar = n > 2 && !memcmp(name + n - 2, "_s", 2);
    size_t size = scalar ? n - 2 : n;
    EACH(o, op, ops) {
        int left = scalar && *name == 'r' && strlen(o->name) == size - 1 &&
                   !memcmp(o->name, name + 1, size - 1);
        if (!left && (strlen(o->name) != size || memcmp(o->name, name, size))) continue;
        put(t, "tc__d%d%s(d, TC_OP_%s", kind_of(o)->arity,
            left     ? "_rs"
            : scalar ? "_s"
                     : "",
            o->id);
        return;
    }
    fail("gen/tables/ops.def", 0, join("GRAD names tc_%.*s", (int)n, name),
         "it is no op of the table", "write it with ops of the table");
}

enum { DERIVATIVE = 256 }; // characters of an operand in a derivative

// Writes an expression of a GRAD column as statements, in the order in which its calls stand, which C leaves open; `as`
// becomes what has its value. Gives what is behind it.
static const char *put_derivative(text *t, const char *s, int *temps, char *as) {
    char arg[DERIVATIVE];
    if (strncmp(s, "tc_", 3)) { // a name, or a number
        size_t n = strcspn(s, ",)");
        snprintf(as, DERIVATIVE, "%.*s", (int)n, s);
        return s + n;
    }
    const char *name = s + 3, *end = strchr(name, '(');
    text args = {0};

    for (s = end; *s != ')';) {
        s = put_derivative(t, s + 1 + strspn(s + 1, " "), temps, arg);
        put(&args, ", %s", arg);
    }
    if (!strncmp(name, "dtype_of", 8)) {
        snprintf(as, DERIVATIVE, "tc__d_dtype(d, a)");
        return s + 1;
    }
    snprintf(as, DERIVATIVE, "t%d", (*temps)++);
    put(t, "    tc__node *%s = ", as);
    put_derivative_call(t, name, (size_t)(end - name));
    put(t, "%s);\n", args.at);
    return s + 1;
}

// Whether floats give floats: there a derivative of 0 is one.
static int gives_floats(const op *o) {
    return !strcmp(o->dtype, "promote") || !strcmp(o->dtype, "rounding");
}

// A case for each op with a derivative: what its operands a, b, c get, of the result's g.
static void derive_rules(text *t) {
    head(t, "ops");
    EACH(o, op, ops) {
        const char *rest = o->grad;
        int temps = 0;
        if (!strchr(rest, 'g') && !(*rest && gives_floats(o))) continue;
        put(t, "case TC_OP_%s: {\n", o->id);
        for (char operand = 'a'; *rest; operand++) {
            char as[DERIVATIVE];
            rest = put_derivative(t, rest, &temps, as);
            if (strcmp(as, "0"))
                put(t, "    tc__d_give(d, %c, %s);\n", operand, as);
            else if (gives_floats(o))
                put(t, "    tc__d_give(d, %c, tc__d_zeros(d, %c));\n", operand, operand);
            rest += strspn(rest, ", ");
        }
        put(t, "    break;\n}\n");
    }
}

// NULL where the text is that of C.
static void cuda_ops(text *t) {
    head(t, "ops");
    put(t, "static const char *const tc__cuda_expr[TC_OP_COUNT] = {\n");
    EACH(o, op, ops) {
        put(t, "    ");
        if (!strcmp(o->cuda, "SAME") || !strcmp(o->cuda, o->expr))
            put(t, "NULL");
        else
            put_string(t, o->cuda);
        put(t, ", // ");
        put_lower(t, o->id);
        put(t, "\n");
    }
    put(t, "};\n");
}

static const char *const parameters[] = {"", "tc_tensor a", "tc_tensor a, tc_tensor b",
                                         "tc_tensor a, tc_tensor b, tc_tensor c"};
static const char *const arguments[] = {"", "a", "a, b", "a, b, c"};

static void op_api(text *t) {
    head(t, "ops");
    EACH(o, op, ops) {
        if (!has_function(o)) continue;
        put(t, "\n");
        put_comment(t, 0, o->doc);
        put(t, "TCDEF tc_tensor tc_%s_at(%s, const char *file, int line);\n", o->name,
            parameters[kind_of(o)->arity]);
    }
}

static void scalar_calls(text *t); // gen_calls.c

// The calls of one number of operands are one macro.
static void op_calls_macro(text *t, int arity) {
    put(t, "#define TC__CALL%d(name, id) \\\n", arity);
    put(t, "    TCDEF tc_tensor tc_##name##_at(%s, const char *file, int line) { \\\n",
        parameters[arity]);
    put(t, "        return tc__op%d(%s, file, line, tc__form_of(TC_OP_##id, %d, 0)); \\\n",
        arity, arguments[arity], arity);
    put(t, "    }\n");
}

// The same for ops that autocast looks at.
static void op_casts_macro(text *t, int arity) {
    put(t, "#define TC__CALL%d_AUTOCAST(name, id, policy) \\\n", arity);
    put(t, "    TCDEF tc_tensor tc_##name##_at(%s, const char *file, int line) { \\\n",
        parameters[arity]);
    put(t, "        const tc_tensor in[] = {%s}; \\\n", arguments[arity]);
    put(t,
        "        return tc__listed_op(TC__AUTOCAST_##policy, #name, in, %d, file, line, \\\n",
        arity);
    put(t, "                             TC_OP_##id); \\\n");
    put(t, "    }\n");
}

static void op_calls(text *t) {
    head(t, "ops");
    for (int arity = 1; arity < (int)COUNT(arguments); arity++) op_calls_macro(t, arity);
    for (int arity = 1; arity < (int)COUNT(arguments); arity++) op_casts_macro(t, arity);
    EACH(o, op, ops) {
        const char *policy = autocast_of(o->name);
        if (!has_function(o)) continue;
        put(t, "TC__CALL%d%s(%s, %s%s%s)\n", kind_of(o)->arity, policy ? "_AUTOCAST" : "",
            o->name, o->id, policy ? ", " : "", policy ? policy : "");
    }
    scalar_calls(t);
}

// ---- dtypes.def -------------------------------------------------------------
typedef struct dtype {
    const char *id, *name, *bytes, *category, *class_, *precision, *memory, *descr, *doc;
} dtype;

#define DTYPE(id, name, bytes, category, class_, precision, memory, descr, doc)            \
    {#id, name, #bytes, #category, #class_, #precision, memory, descr, doc},
static const dtype dtypes[] = {
#include "tables/dtypes.def"
};
#undef DTYPE

static void dtype_enum(text *t) {
    head(t, "dtypes");
    put(t, "typedef enum tc_dtype {\n");
    EACH(d, dtype, dtypes) {
        put(t, "    TC_%s,%*s  // %s\n", d->id, 4 - (int)strlen(d->id), "", d->doc);
    }
    put(t, "    TC_DTYPE_COUNT\n} tc_dtype;\n");
}

static void dtype_info(text *t) {
    head(t, "dtypes");
    // The row behind the last, all zero, is for gcc 13: it follows the branch of a switch
    // for TC_DTYPE_COUNT into a subscript, and warns.
    put(t, "static const tc__dtype_info tc__dtypes[TC_DTYPE_COUNT + 1] = {\n");
    EACH(d, dtype, dtypes) {
        put(t, "    {\"%s\", %s, TC__%s, TC__CLASS_%s, %s, \"%s\", \"%s\"},\n", d->name,
            d->bytes, d->category, d->class_, d->precision, d->memory, d->descr);
    }
    put(t, "};\n");
}

// ---- errors.def -------------------------------------------------------------
typedef struct error_item {
    const char *id, *doc;
} error_item;

#define ERR(id, doc) {#id, doc},
static const error_item error_items[] = {
#include "tables/errors.def"
};

// The values count down from -1: 0 is success, and a row keeps its value while rows are
// only added at the end.
static void status_enum(text *t) {
    int value = 0;
    head(t, "errors");
    put(t, "enum {\n    TC_OK = 0,\n");
    EACH(e, error_item, error_items) {
        put_comment(t, 4, e->doc);
        int last = e == error_items + COUNT(error_items) - 1;
        put(t, "    TC_E_%s = %d%s\n", e->id, --value, last ? "" : ",");
    }
    put(t, "};\n");
}

// The rows of an array of { name, doc }, indexed by -status - 1.
static void error_info(text *t) {
    head(t, "errors");
    EACH(e, error_item, error_items) {
        put(t, "{\"TC_E_%s\",\n ", e->id);
        put_string(t, e->doc);
        put(t, "},\n");
    }
}

// ---- cuda_driver.def --------------------------------------------------------
typedef struct entry_point {
    const char *name, *need, *parameters;
} entry_point;

#define NVRTC(name, need, parameters)
#define DRIVER(name, need, parameters) {#name, #need, #parameters},
static const entry_point driver_calls[] = {
#include "tables/cuda_driver.def"
};
#undef NVRTC
#undef DRIVER
#define DRIVER(name, need, parameters)
#define NVRTC(name, need, parameters) {#name, #need, #parameters},
static const entry_point nvrtc_calls[] = {
#include "tables/cuda_driver.def"
};

// A struct of function pointers, and where dlsym is to put what it finds.
static void entry_points(text *t, const char *result, const char *library,
                         const entry_point *e, size_t count) {
    head(t, "cuda_driver");
    put(t, "typedef struct tcu__%s_calls {\n", library);
    for (size_t i = 0; i < count; i++) {
        put(t, "    %s (*%s)%s;\n", result, e[i].name, e[i].parameters);
    }
    put(t, "} tcu__%s_calls;\n\n", library);
    put(t, "static const tcu__symbol tcu__%s_symbols[] = {\n", library);
    for (size_t i = 0; i < count; i++) {
        put(t, "    {\"%s\", offsetof(tcu__%s_calls, %s), TCU__%s},\n", e[i].name, library,
            e[i].name, e[i].need);
    }
    put(t, "};\n");
}

static void cuda_driver(text *t) {
    entry_points(t, "tcu__code", "driver", driver_calls, COUNT(driver_calls));
}

static void cuda_nvrtc(text *t) {
    entry_points(t, "int", "nvrtc", nvrtc_calls, COUNT(nvrtc_calls));
}

#include "gen_loops.c"

#include "gen_calls.c"

// ---- what is made -----------------------------------------------------------
typedef struct product {
    const char *name;
    void (*make)(text *t);
} product;

static const product products[] = {
    {"op_enum", op_enum},            // enum tc__op
    {"op_words", op_words},          // names of attribute words
    {"op_names", op_names},          // what errors and dumps call an op
    {"op_info", op_info},            // tc__ops: facts by op
    {"derive_rules", derive_rules},  // GRAD over nodes
    {"op_api", op_api},              // public prototypes of the elementwise ops
    {"call_macros", call_macros},    // what passes the site of a call
    {"autocast", autocast_calls},    // which hand-written calls are cast
    {"op_calls", op_calls},          // bodies of elementwise ops, also with a scalar
    {"in_place", in_place_calls},    // of ops in place
    {"composites", composite_calls}, // of composite ops
    {"reductions", reduce_calls},    // of reductions over one, several, all dimensions
    {"interp_rows32", loop_rows32},  // block loops of the interpreter, include-many
    {"interp_rows64", loop_rows64},
    {"interp_table", loop_table},
    {"dtype_enum", dtype_enum},   // enum tc_dtype
    {"dtype_info", dtype_info},   // tc__dtypes
    {"status", status_enum},      // TC_OK, TC_E_...
    {"error_info", error_info},   // rows of error names and meanings
    {"cuda_ops", cuda_ops},       // their text in CUDA, where it is another
    {"cuda_driver", cuda_driver}, // entry points of the CUDA driver
    {"cuda_nvrtc", cuda_nvrtc},   // and of NVRTC
};
