// The block loops of the interpreter, from the elementwise rows of ops.def and all casts.
// One line per function; gen/exec/interp_loops.c gives the line its meaning, once for each
// instruction set. Three products, all to be included many times:
//   interp_rows32   loops whose operands and results are 32-bit classes
//   interp_rows64   loops that touch a 64-bit class
//   interp_table    the functions by op and dtype: rows in the order of the two tables
// An op has a loop for a dtype when its DTYPE rule allows that dtype; see loop_rules.

// The loops an op has by its DTYPE rule. Arithmetic on narrow integers is done in i32 (tc__computed_as),
// so they need none; halves take those of f32, `class_` lets the others take those of their class too.
typedef struct loop_rule {
    const char *dtype;
    const char *own; // dtypes
    int class_;
} loop_rule;

static const loop_rule loop_rules[] = {
    {"promote", "i32 i64 f32 f64", 0},
    {"floating", "f32 f64", 0},
    {"rounding", "f32 f64", 0},
    {"compare", "bool i32 i64 f32 f64", 0},
    {"logic", "bool", 0},
    {"bits", "bool i32 i64", 0},
    {"shift", "i32 i64", 0},
    {"where", "i32 i64 f32 f64", 1},
};

static int loop_is_wide(const dtype *d) { return ends(d->class_, "64"); }

// The dtype whose loop dtype d takes, "" = none.
static const char *loop_name(const loop_rule *r, const dtype *d) {
    if (has_word(r->own, d->name)) return d->name;
    int half = strcmp(d->class_, "f32") == 0;
    return (half || r->class_) && has_word(r->own, d->class_) ? d->class_ : "";
}

static int loop_is_own(const loop_rule *r, const dtype *d) {
    return strcmp(loop_name(r, d), d->name) == 0;
}

static const loop_rule *loop_rule_of(const op *o) {
    EACH(r, loop_rule, loop_rules) {
        if (strcmp(r->dtype, o->dtype) == 0) return r;
    }
    return NULL;
}

static int loop_has_flag(const op *o, const char *flag) {
    const char *at = strstr(o->al, flag);
    return at && strcmp(o->kind, "REDUCE") != 0;
}

// The row's expression for a class: TC_F(exp) becomes TC_N(exp_f32), TC_ADD TC_ADD_f32.
static char *loop_expression(const char *s, const char *class_) {
    text t = {0};
    put_raw(&t, "", 0);
    while (*s) {
        size_t n = strspn(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_");
        int macro = n > 3 && starts(s, "TC_");
        if (!macro) {
            n = n ? n : 1;
            put_raw(&t, s, n);
            s += n;
            continue;
        }
        if (n == 4 && starts(s, "TC_F(")) {
            const char *end = strchr(s, ')');
            put(&t, "TC_N(%.*s_%s)", (int)(end - s - 5), s + 5, class_);
            s = end + 1;
            continue;
        }
        put_raw(&t, s, n);
        if (strncmp(s, "TC_NOT", n) != 0) put(&t, "_%s", class_);
        s += n;
    }
    return t.at;
}

// A bool is a mask, also after bit operations.
static char *loop_result(const op *o, const dtype *c) {
    char *e = loop_expression(o->expr, c->class_);
    int bits = strcmp(o->dtype, "bits") == 0;
    return strcmp(c->name, "bool") == 0 && bits ? join("TC__MASK(%s)", e) : e;
}

static void put_loop(text *t, const op *o, const dtype *c) {
    int arity = kind_of(o)->arity;
    int compare = strcmp(o->dtype, "compare") == 0, where = strcmp(o->dtype, "where") == 0;
    char *e = loop_result(o, c);
    if (where) {
        put(t, "TC__LOOP_WHERE(%s_%s, %s, %s)\n", o->id, c->name, c->class_, e);
        return;
    }
    // A mask of -1 would turn comparisons and shifts round: there bools are 0 and 1.
    int plain = strcmp(c->name, "bool") == 0 && strcmp(o->dtype, "logic") != 0;
    put(t, "TC__LOOP%s%d(%s_%s, %s, %s, %s)\n", plain ? "_BOOL" : "", arity, o->id, c->name,
        compare ? "i32" : c->class_, c->class_, e);
    if (loop_has_flag(o, "MONOID")) {
        put(t, "TC__FOLD(%s_%s, %s, %s)\n", o->id, c->name, c->class_, e);
    }
}

// Casts start from a bool or from a class: a register does not know more.
static const char *const loop_from[] = {"bool", "f32", "f64", "i32", "i64"};

static const dtype *dtype_named(const char *name) {
    EACH(d, dtype, dtypes) {
        if (strcmp(d->name, name) == 0) return d;
    }
    return NULL;
}

// The dtype whose cast is that from `from` to `to`, "" = there is nothing to do.
static const char *loop_cast(const char *from, const dtype *to) {
    if (strcmp(from, "bool") == 0) return strcmp(to->name, "bool") == 0 ? "" : to->class_;
    return strcmp(from, to->name) == 0 ? "" : to->name;
}

static void loop_casts(text *t, int wide) {
    for (size_t i = 0; i < COUNT(loop_from); i++) {
        const dtype *from = dtype_named(loop_from[i]);
        EACH(to, dtype, dtypes) {
            if (strcmp(loop_cast(from->name, to), to->name) != 0) continue;
            if ((loop_is_wide(from) || loop_is_wide(to)) != wide) continue;
            put(t, "TC__LOOP1(CAST_%s_%s, %s, %s, TC_N(cast_%s_%s)(a))\n", from->name,
                to->name, to->class_, from->class_, from->name, to->name);
        }
    }
}

static void loop_rows(text *t, int wide) {
    put(t, "// include-many: the includer defines TC__LOOP1 and so on. ");
    head(t, "ops");
    EACH(o, op, ops) {
        const loop_rule *r = loop_rule_of(o);
        if (!kind_of(o)->elementwise || !*o->expr || !r) continue;
        EACH(c, dtype, dtypes) {
            if (loop_is_own(r, c) && loop_is_wide(c) == wide) put_loop(t, o, c);
        }
    }
    loop_casts(t, wide);
}

static void loop_rows32(text *t) { loop_rows(t, 0); }
static void loop_rows64(text *t) { loop_rows(t, 1); }

// COLS_promote(F, ADD) stands for NULL, ..., F(ADD_i32), ...: the dtypes by the rule.
static void loop_row_macros(text *t) {
    EACH(r, loop_rule, loop_rules) {
        put(t, "#define TC__COLS_%s(F, ID) {", r->dtype);
        EACH(d, dtype, dtypes) {
            const char *name = loop_name(r, d);
            put(t, "%s", d == dtypes ? "" : ", ");
            if (*name) put(t, "F(ID##_%s)", name);
            if (!*name) put(t, "NULL");
        }
        put(t, "}\n");
    }
    put(t, "\n");
}

static void loop_op_rows(text *t, const char *table, const char *type, int folds) {
    put(t, "static const %s TC__LN(%s)[TC_OP_COUNT][TC_DTYPE_COUNT] = {\n", type, table);
    EACH(o, op, ops) {
        const loop_rule *r = loop_rule_of(o);
        int any = r && kind_of(o)->elementwise && *o->expr;
        if (folds) any = any && loop_has_flag(o, "MONOID");
        if (any)
            put(t, "    TC__COLS_%s(TC__%s, %s),\n", o->dtype, folds ? "FN" : "LN", o->id);
        if (!any) put(t, "    {NULL},  // %s\n", o->id);
    }
    put(t, "};\n\n");
}

static void loop_table(text *t) {
    put(t, "// include-many: the includer defines TC__LN and TC__FN. ");
    head(t, "ops");
    put(t, "#ifndef TC__COLS_promote\n");
    loop_row_macros(t);
    put(t, "#endif\n");
    loop_op_rows(t, "alu", "tc__block_fn", 0);
    loop_op_rows(t, "fold", "tc__fold_fn", 1);
    put(t, "static const tc__block_fn TC__LN(cast)[TC__LOOP_FROM][TC_DTYPE_COUNT] = {\n");
    for (size_t i = 0; i < COUNT(loop_from); i++) {
        put(t, "    {");
        EACH(to, dtype, dtypes) {
            const char *name = loop_cast(loop_from[i], to);
            put(t, "%s", to == dtypes ? "" : (to - dtypes) % 4 ? ", " : ",\n     ");
            if (*name) put(t, "TC__LN(CAST_%s_%s)", loop_from[i], name);
            if (!*name) put(t, "NULL");
        }
        put(t, "},\n");
    }
    put(t, "};\n");
}
