// The block loops of the interpreter, from the elementwise rows of ops.def and all casts.
// One line per function; gen/exec/interp_loops.c gives the line its meaning, once for each
// instruction set. Three products, all to be included many times:
//   interp_rows32   loops whose operands and results are 32-bit classes
//   interp_rows64   loops that touch a 64-bit class
//   interp_table    the functions by op and dtype: rows in the order of the two tables
// An op has a loop for a dtype when its DTYPE rule allows that dtype; see loop_rules.

// Columns in the order of dtypes.def. u8 is class i32 and wraps; bool is a mask in class
// i32.
typedef struct loop_column {
    const char *dtype, *class_;
    int wide; // 64-bit lanes
} loop_column;

static const loop_column loop_columns[] = {
    {"bool", "i32", 0}, {"u8", "i32", 0},  {"i32", "i32", 0},
    {"i64", "i64", 1},  {"f32", "f32", 0}, {"f64", "f64", 1},
};

// For each column the name of the loop, "" = none. '=' means the column's own.
typedef struct loop_rule {
    const char *dtype;
    const char *name[COUNT(loop_columns)];
} loop_rule;

static const loop_rule loop_rules[] = {
    {"promote", {"", "=", "=", "=", "=", "="}},
    {"floating", {"", "", "", "", "=", "="}},
    {"rounding", {"", "", "", "", "=", "="}},
    {"compare", {"=", "i32", "=", "=", "=", "="}},
    {"logic", {"=", "", "", "", "", ""}},
    {"bits", {"=", "=", "=", "=", "", ""}},
    {"shift", {"", "=", "=", "=", "", ""}},
    {"where", {"i32", "i32", "=", "=", "=", "="}},
};

static int loop_is_own(const char *name) { return strcmp(name, "=") == 0; }

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

// What a bool or u8 result needs so that it is a bool or a u8 again.
static char *loop_result(const op *o, const loop_column *c) {
    char *e = loop_expression(o->expr, c->class_);
    int bits = strcmp(o->dtype, "bits") == 0;
    if (strcmp(c->dtype, "u8") == 0) return join("TC__U8(%s)", e);
    if (strcmp(c->dtype, "bool") == 0 && bits) return join("TC__MASK(%s)", e);
    return e;
}

static void put_loop(text *t, const op *o, const loop_column *c) {
    int arity = kind_of(o)->arity;
    int compare = strcmp(o->dtype, "compare") == 0, where = strcmp(o->dtype, "where") == 0;
    char *e = loop_result(o, c);
    if (where) {
        put(t, "TC__LOOP_WHERE(%s_%s, %s, %s)\n", o->id, c->dtype, c->class_, e);
        return;
    }
    // A mask of -1 would turn comparisons and shifts round: there bools are 0 and 1.
    int plain = strcmp(c->dtype, "bool") == 0 && strcmp(o->dtype, "logic") != 0;
    put(t, "TC__LOOP%s%d(%s_%s, %s, %s, %s)\n", plain ? "_BOOL" : "", arity, o->id,
        c->dtype, compare ? "i32" : c->class_, c->class_, e);
    if (loop_has_flag(o, "MONOID")) {
        put(t, "TC__FOLD(%s_%s, %s, %s)\n", o->id, c->dtype, c->class_, e);
    }
}

static void loop_casts(text *t, int wide) {
    EACH(from, loop_column, loop_columns) {
        EACH(to, loop_column, loop_columns) {
            if (from == to || (from->wide || to->wide) != wide) continue;
            put(t, "TC__LOOP1(CAST_%s_%s, %s, %s, TC_N(cast_%s_%s)(a))\n", from->dtype,
                to->dtype, to->class_, from->class_, from->dtype, to->dtype);
        }
    }
}

static void loop_rows(text *t, int wide) {
    put(t, "// include-many: the includer defines TC__LOOP1 and so on. ");
    head(t, "ops");
    EACH(o, op, ops) {
        const loop_rule *r = loop_rule_of(o);
        if (!kind_of(o)->elementwise || !*o->expr || !r) continue;
        for (size_t i = 0; i < COUNT(loop_columns); i++) {
            const loop_column *c = &loop_columns[i];
            if (loop_is_own(r->name[i]) && c->wide == wide) put_loop(t, o, c);
        }
    }
    loop_casts(t, wide);
}

static void loop_rows32(text *t) { loop_rows(t, 0); }
static void loop_rows64(text *t) { loop_rows(t, 1); }

// COLS_promote(F, ADD) stands for NULL, F(ADD_u8), F(ADD_i32)...: loop_columns by the rule.
static void loop_row_macros(text *t) {
    EACH(r, loop_rule, loop_rules) {
        put(t, "#define TC__COLS_%s(F, ID) {", r->dtype);
        for (size_t i = 0; i < COUNT(loop_columns); i++) {
            const char *name = r->name[i];
            put(t, "%s", i ? ", " : "");
            if (!*name) put(t, "NULL");
            if (*name)
                put(t, "F(ID##_%s)", loop_is_own(name) ? loop_columns[i].dtype : name);
        }
        put(t, "}\n");
    }
    put(t, "#define TC__COLS_none {NULL, NULL, NULL, NULL, NULL, NULL}\n\n");
}

static void loop_op_rows(text *t, const char *table, const char *type, int folds) {
    put(t, "static const %s TC__LN(%s)[TC_OP_COUNT][TC__LOOP_DTYPES] = {\n", type, table);
    EACH(o, op, ops) {
        const loop_rule *r = loop_rule_of(o);
        int any = r && kind_of(o)->elementwise && *o->expr;
        if (folds) any = any && loop_has_flag(o, "MONOID");
        if (any)
            put(t, "    TC__COLS_%s(TC__%s, %s),\n", o->dtype, folds ? "FN" : "LN", o->id);
        if (!any) put(t, "    TC__COLS_none,  // %s\n", o->id);
    }
    put(t, "};\n\n");
}

static void loop_table(text *t) {
    put(t, "// include-many: the includer defines TC__LN and TC__FN. ");
    head(t, "ops");
    put(t, "#ifndef TC__COLS_none\n");
    loop_row_macros(t);
    put(t, "#endif\n");
    loop_op_rows(t, "alu", "tc__block_fn", 0);
    loop_op_rows(t, "fold", "tc__fold_fn", 1);
    put(t,
        "static const tc__block_fn TC__LN(cast)[TC__LOOP_DTYPES][TC__LOOP_DTYPES] = {\n");
    EACH(from, loop_column, loop_columns) {
        put(t, "    {");
        EACH(to, loop_column, loop_columns) {
            put(t, "%s",
                to == loop_columns       ? ""
                : to == loop_columns + 3 ? ",\n     "
                                         : ", ");
            if (from == to) put(t, "NULL");
            if (from != to) put(t, "TC__LN(CAST_%s_%s)", from->dtype, to->dtype);
        }
        put(t, "},\n");
    }
    put(t, "};\n");
}
