// TENSOR dumps read back: text -> graph. The text may come from anybody.
//
//     # comment
//     size s0 in 1..4096                        a symbol, before its first use
//     %0 = input x0                   f32[32,s0]
//     %1 = amax %0 dims=2             f32[32,1]
//     composite softmax %0 -> %4 dim=1          what nodes are together: graph/composite.c
//     return %1
//
// A failure is one error with line and column, never a crash; the graph then holds what
// came before. Only the form is judged here (known op, operands already there, words in
// order, numbers in range); whether the nodes obey the rules of their ops is asked of
// tc__verify.

enum {
    TC__READ_DEPTH = 32, // brackets inside brackets
    TC__READ_SYMBOLS = 64,
    TC__READ_NODES = 1 << 20
};

#define TC__READ_MOST ((int64_t)1 << 40) // size of any number, and of any coefficient

typedef TC__VEC(uint32_t) tc__ids;

typedef struct tc__reader {
    tc_ctx *ctx;
    tc__graph *g;
    const char *text, *at;
    tc__map names;                   // number in the text -> node id
    tc__ix symbol[TC__READ_SYMBOLS]; // by slot, 0 = not declared
    int depth, failed;
    char point[8]; // decimal point of the locale
} tc__reader;

TC__PRINTF(2, 3)
static int tc__read_fail(tc__reader *r, const char *fmt, ...) {
    char text[200];
    va_list args;
    int line = 1, column = 1;
    if (r->failed) return 0;
    r->failed = 1;
    for (const char *s = r->text; s < r->at; s++) {
        column = *s == '\n' ? 1 : column + 1;
        line += *s == '\n';
    }
    va_start(args, fmt);
    tc__format_line(text, sizeof text, fmt, args);
    va_end(args);
    return tc__fail(r->ctx, TC_E_FORMAT, "graph text, line %d, column %d: %s", line, column,
                    text);
}

// ---- characters and words ----

static void tc__read_blanks(tc__reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r') r->at++;
}

// Takes `word` if it is next; blanks before it do not count.
static int tc__read_take(tc__reader *r, const char *word) {
    size_t n = strlen(word);
    tc__read_blanks(r);
    if (strncmp(r->at, word, n)) return 0;
    r->at += n;
    return 1;
}

static int tc__read_expect(tc__reader *r, const char *word) {
    return tc__read_take(r, word) || tc__read_fail(r, "\"%s\" is expected here", word);
}

static int tc__is_digit(char c) { return c >= '0' && c <= '9'; }

static int tc__is_name(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || tc__is_digit(c) || c == '_';
}

// The next name into out; "" if there is none.
static void tc__read_name(tc__reader *r, char out[32]) {
    size_t n = 0;
    tc__read_blanks(r);
    for (; tc__is_name(*r->at) && n < 31; r->at++) out[n++] = *r->at;
    out[n] = 0;
}

// Digits as a number of at most TC__READ_MOST.
static int tc__read_digits(tc__reader *r, int64_t *out) {
    int64_t v = 0;
    if (!tc__is_digit(*r->at)) return tc__read_fail(r, "a number is expected here");
    for (; tc__is_digit(*r->at); r->at++) {
        v = v * 10 + (*r->at - '0');
        if (v > TC__READ_MOST) return tc__read_fail(r, "the number is too large");
    }
    *out = v;
    return 1;
}

static int tc__read_int(tc__reader *r, int64_t *out) {
    int negative = tc__read_take(r, "-");
    if (!tc__read_digits(r, out)) return 0;
    if (negative) *out = -*out;
    return 1;
}

// %7 -> id of its node.
static int tc__read_ref(tc__reader *r, uint32_t *id) {
    int64_t number;
    uint64_t found;
    const char *start = (tc__read_blanks(r), r->at);
    if (!tc__read_expect(r, "%") || !tc__read_digits(r, &number)) return 0;
    if (!tc__map_get(&r->names, (uint64_t)number, &found)) {
        r->at = start;
        return tc__read_fail(r, "%%%lld is used before it is made", (long long)number);
    }
    *id = (uint32_t)found;
    return 1;
}

// ---- index expressions ----

// Beside an expression, how large its coefficients may be: what keeps arithmetic from
// overflow.
typedef struct tc__read_ix {
    tc__ix e;
    int64_t most;
} tc__read_ix;

static int tc__read_sum(tc__reader *r, tc__read_ix *out);

static int tc__read_fits(tc__reader *r, const tc__read_ix *x) {
    const tc__ixpool *p = r->g->ix;
    if (p->failed) return tc__read_fail(r, "the expression is too large");
    int64_t lo = tc__ix_lo(p, x->e), hi = tc__ix_hi(p, x->e);
    if (x->most <= TC__READ_MOST && lo > -TC__IX_INF && hi < TC__IX_INF) return 1;
    return tc__read_fail(r, "the expression is too large");
}

static int tc__read_symbol(tc__reader *r, tc__read_ix *out) {
    int64_t slot;
    if (!tc__read_digits(r, &slot)) return 0;
    if (slot >= TC__READ_SYMBOLS || !r->symbol[slot])
        return tc__read_fail(r,
                             "s%lld is not declared; \"size s%lld in 1..4096\" does that",
                             (long long)slot, (long long)slot);
    out->e = r->symbol[slot], out->most = 1;
    return 1;
}

static int tc__read_min(tc__reader *r, tc__read_ix *out) {
    tc__read_ix a, b;
    if (!tc__read_sum(r, &a) || !tc__read_expect(r, ",") || !tc__read_sum(r, &b)) return 0;
    if (!tc__read_expect(r, ")")) return 0;
    out->e = tc__ix_min(r->g->ix, a.e, b.e);
    out->most = a.most > b.most ? a.most : b.most;
    return 1;
}

static int tc__read_factor(tc__reader *r, tc__read_ix *out) {
    int ok;
    tc__read_blanks(r);
    if (tc__is_digit(*r->at)) {
        if (!tc__read_digits(r, &out->most)) return 0;
        out->e = tc__ix_const(out->most);
        return 1;
    }
    if (*r->at == 's') {
        r->at++;
        return tc__read_symbol(r, out);
    }
    int min = tc__read_take(r, "min(");
    if (!min && !tc__read_take(r, "(")) return tc__read_fail(r, "a size is expected here");
    if (++r->depth > TC__READ_DEPTH) return tc__read_fail(r, "too many brackets");
    ok = min ? tc__read_min(r, out) : tc__read_sum(r, out) && tc__read_expect(r, ")");
    r->depth--;
    return ok;
}

static int tc__read_quotient(tc__reader *r, tc__read_ix *out, const tc__read_ix *d,
                             int rest) {
    if (tc__ix_lo(r->g->ix, d->e) < 1)
        return tc__read_fail(r, "a divisor must be at least 1");
    out->e = rest ? tc__ix_mod(r->g->ix, out->e, d->e) : tc__ix_div(r->g->ix, out->e, d->e);
    return tc__read_fits(r, out);
}

static int tc__read_product(tc__reader *r, tc__read_ix *out) {
    if (!tc__read_factor(r, out)) return 0;
    for (;;) {
        tc__read_ix x;
        int times = tc__read_take(r, "*"), over = !times && tc__read_take(r, "/");
        if (!times && !over && !tc__read_take(r, "%")) return 1;
        if (!tc__read_factor(r, &x)) return 0;
        if (!times) {
            if (!tc__read_quotient(r, out, &x, !over)) return 0;
            continue;
        }
        // Checked before multiplying: both sides fit, so the product of their sizes does
        // not overflow.
        out->most = tc__ix_times(out->most, x.most);
        if (!tc__read_fits(r, out)) return 0;
        out->e = tc__ix_mul(r->g->ix, out->e, x.e);
        if (!tc__read_fits(r, out)) return 0;
    }
}

static int tc__read_sum(tc__reader *r, tc__read_ix *out) {
    int minus = tc__read_take(r, "-");
    out->e = tc__ix_const(0), out->most = 0;
    do {
        tc__read_ix x;
        if (!tc__read_product(r, &x)) return 0;
        out->e =
            minus ? tc__ix_sub(r->g->ix, out->e, x.e) : tc__ix_add(r->g->ix, out->e, x.e);
        out->most += x.most;
        if (!tc__read_fits(r, out)) return 0;
        minus = tc__read_take(r, "-");
    } while (minus || tc__read_take(r, "+"));
    return 1;
}

static int tc__read_index(tc__reader *r, int64_t *out) {
    tc__read_ix x;
    if (!tc__read_sum(r, &x)) return 0;
    *out = x.e;
    return 1;
}

// ---- values ----

// A number as strtod of this locale reads it; 0 = it is none.
static int tc__read_double(const tc__reader *r, const char *s, size_t n, double *out) {
    char buffer[80], *end;
    size_t k = 0;
    for (size_t i = 0; i < n && k < sizeof buffer - 9; i++) {
        if (s[i] != '.') buffer[k++] = s[i];
        for (const char *p = r->point; s[i] == '.' && *p; p++) buffer[k++] = *p;
    }
    buffer[k] = 0;
    *out = strtod(buffer, &end);
    return k && !*end;
}

static int tc__read_i64(tc__reader *r, const char *s, size_t n, int64_t *out) {
    int negative = n && *s == '-';
    uint64_t v = 0, most = negative ? (uint64_t)1 << 63 : (uint64_t)INT64_MAX;
    for (size_t i = (size_t)negative; i < n; i++) {
        uint64_t digit = (uint64_t)(s[i] - '0');
        if (!tc__is_digit(s[i]) || v > (most - digit) / 10)
            return tc__read_fail(r, "not a whole number of 64 bits");
        v = v * 10 + digit;
    }
    if (n == (size_t)negative) return tc__read_fail(r, "a number is expected here");
    *out = negative ? (int64_t)(0 - v) : (int64_t)v;
    return 1;
}

// The bits of the number at s, as a node of this dtype holds it.
static int tc__read_value(tc__reader *r, const char *s, int dtype, int64_t *bits) {
    tc__value v;
    size_t n = 0;
    const char *end = r->at;
    while (tc__is_name(s[n]) || s[n] == '-' || s[n] == '+' || s[n] == '.') n++;
    r->at = s;
    v.i = 0;
    if (n > 64) return tc__read_fail(r, "the number is too long");
    if (!tc__is_float(dtype) && !tc__read_i64(r, s, n, &v.i)) return 0;
    if (!tc__is_float(dtype)) v = tc__value_cast(v, TC_I64, dtype);
    if (tc__is_float(dtype)) {
        if (!tc__read_double(r, s, n, &v.f)) return tc__read_fail(r, "not a number");
        if (dtype == TC_F32) v.f = (double)(float)v.f;
    }
    r->at = end;
    memcpy(bits, &v, sizeof v);
    return 1;
}

static int tc__skip_value(tc__reader *r, const char **start) {
    tc__read_blanks(r);
    *start = r->at;
    while (tc__is_name(*r->at) || *r->at == '-' || *r->at == '+' || *r->at == '.') r->at++;
    return r->at > *start || tc__read_fail(r, "a number is expected here");
}

// ---- nodes ----

typedef struct tc__read_node {
    tc__op op;
    int dtype, rank;
    tc__ix dims[TC_MAX_RANK];
    uint32_t in[TC__MAX_OPERANDS], n_in;
    int64_t attr[TC__MAX_OPERANDS];
    uint32_t n_attr;
    const char
        *value; // where the word of kind v stands; its dtype is known at the line's end
    uint32_t value_word;
    int device; // of a source, and of TO
    int aside;  // composite ops alone name it
} tc__read_node;

static int tc__read_op(tc__reader *r, tc__read_node *n) {
    char name[32];
    const char *start = (tc__read_blanks(r), r->at);
    tc__read_name(r, name);
    for (int op = 0; op < TC_OP_COUNT; op++) {
        tc__kind k = tc__ops[op].kind;
        if (k == TC__KIND_KERNEL || k == TC__KIND_EFFECT || k == TC__KIND_DERIVE) continue;
        if (strcmp(tc__op_name((tc__op)op), name)) continue;
        n->op = (tc__op)op;
        return 1;
    }
    r->at = start;
    return tc__read_fail(r, "\"%s\" is no op of a tensor graph", name);
}

static int tc__read_operands(tc__reader *r, tc__read_node *n) {
    int arity = tc__ops[n->op].arity;
    for (tc__read_blanks(r); *r->at == '%'; tc__read_blanks(r)) {
        if (n->n_in == TC__MAX_OPERANDS) return tc__read_fail(r, "too many operands");
        if (!tc__read_ref(r, &n->in[n->n_in++])) return 0;
        if (n->in[n->n_in - 1] & TC__ASIDE && !n->aside)
            return tc__read_fail(r, "what stands aside is no operand");
    }
    if (arity < 0 ? n->n_in > 0 : n->n_in == (uint32_t)arity) return 1;
    return tc__read_fail(r, "%s has %d operands, not %u", tc__op_name(n->op), arity,
                         (unsigned)n->n_in);
}

static int tc__read_word(tc__reader *r, tc__read_node *n, char kind) {
    int64_t *word = &n->attr[n->n_attr];
    if (n->n_attr == TC_MAX_RANK) return tc__read_fail(r, "too many words");
    n->n_attr++;
    if (kind == 's') return tc__read_index(r, word);
    if (kind == 't') return tc__read_int(r, word);
    n->value_word = n->n_attr - 1;
    return tc__skip_value(r, &n->value);
}

// The name of an op that the context has registered, as its number.
static int tc__read_custom(tc__reader *r, tc__read_node *n) {
    size_t size = 0;
    if (!tc__read_expect(r, "op") || !tc__read_expect(r, "=")) return 0;
    while (tc__is_name(r->at[size])) size++;
    const tc__custom *o = tc__custom_named(r->ctx, r->at, size);
    if (!o) return tc__read_fail(r, "no op of this name is registered; tc_register_op it");
    r->at += size;
    n->attr[n->n_attr++] = o->number;
    return 1;
}

// The name of a device that the context has, as its number.
static int tc__read_device(tc__reader *r, int *number) {
    size_t size = 0;
    tc__read_blanks(r);
    while (tc__is_name(r->at[size]) || r->at[size] == ':') size++;
    *number = tc__device_named(r->ctx, r->at, size);
    if (*number < 0) return tc__read_fail(r, "no device of this name is registered");
    r->at += size;
    return 1;
}

static int tc__read_attrs(tc__reader *r, tc__read_node *n) {
    tc__attr_name a;
    a.rest = tc__ops[n->op].attr;
    while (tc__attr_next(&a)) {
        int external = tc__attr_is(&a, "external");
        if (tc__attr_implied(&a)) continue;
        if (tc__attr_is(&a, "op")) {
            if (!tc__read_custom(r, n)) return 0;
            continue;
        }
        if (tc__attr_is(&a, "device")) {
            if (!tc__read_device(r, &n->device)) return 0;
            n->attr[n->n_attr++] = n->device;
            continue;
        }
        int first_draw = n->op == TC_OP_RANDOM && n->n_attr == TC__RANDOM_MARK;
        if (first_draw && !tc__read_take(r, a.name)) return 1;
        if (external && !tc__read_expect(r, "x")) return 0;
        if (!external && !tc__attr_is(&a, "bits") &&
            ((!first_draw && !tc__read_expect(r, a.name)) || !tc__read_expect(r, "=")))
            return 0;
        do {
            if (!tc__read_word(r, n, a.kind)) return 0;
        } while (a.is_list && tc__read_take(r, ","));
    }
    return 1;
}

static int tc__read_type(tc__reader *r, tc__read_node *n) {
    char name[32];
    const char *start = (tc__read_blanks(r), r->at);
    tc__read_name(r, name);
    for (n->dtype = 0; n->dtype < TC_DTYPE_COUNT; n->dtype++)
        if (!strcmp(tc__dtype(n->dtype)->name, name)) break;
    if (n->dtype == TC_DTYPE_COUNT) {
        r->at = start;
        return tc__read_fail(r, "a dtype and sizes are expected here, such as f32[2,3]");
    }
    if (!tc__read_expect(r, "[")) return 0;
    if (tc__read_take(r, "]")) return 1;
    do {
        if (n->rank == TC_MAX_RANK)
            return tc__read_fail(r, "more than %d dimensions", TC_MAX_RANK);
        if (!tc__read_index(r, &n->dims[n->rank])) return 0;
        if (tc__ix_lo(r->g->ix, n->dims[n->rank++]) < 0)
            return tc__read_fail(r, "a negative size");
    } while (tc__read_take(r, ","));
    return tc__read_expect(r, "]");
}

// Words that the type implies: the dtype of a cast, the sizes of a reshape.
static void tc__read_implied(tc__read_node *n) {
    tc__attr_name a;
    a.rest = tc__ops[n->op].attr;
    while (tc__attr_next(&a)) {
        if (tc__attr_is(&a, "dtype")) n->attr[n->n_attr++] = n->dtype;
        if (!tc__attr_is(&a, "sizes")) continue;
        memcpy(n->attr, n->dims, (size_t)n->rank * sizeof *n->attr);
        n->n_attr = (uint32_t)n->rank;
    }
}

// The node that was read; TC__NO_NODE = reported.
static uint32_t tc__read_made(tc__reader *r, tc__read_node *n) {
    tc__node m;
    if (!n->aside) {
        const tc__node *made = tc__make(r->g, n->op, n->dtype, n->rank, n->dims, n->in,
                                        n->n_in, n->attr, n->n_attr);
        return made ? made->id : TC__NO_NODE;
    }
    memset(&m, 0, sizeof m);
    m.op = (uint16_t)n->op, m.stage = TC__TENSOR, m.dtype = (uint8_t)n->dtype;
    m.rank = (uint8_t)n->rank, m.n_in = n->n_in, m.n_attr = n->n_attr;
    m.in = n->in, m.attr = n->attr;
    memcpy(m.dims, n->dims, sizeof m.dims);
    if (tc__may_stand_aside(&m)) return tc__aside(r->g, &m);
    tc__read_fail(r, "movement, casts and sources may stand aside, %s may not",
                  tc__op_name(n->op));
    return TC__NO_NODE;
}

static int tc__read_line(tc__reader *r, int aside) {
    tc__read_node n;
    int64_t number;
    memset(&n, 0, sizeof n);
    n.aside = aside;
    if (!tc__read_digits(r, &number)) return 0;
    if (tc__map_get(&r->names, (uint64_t)number, NULL))
        return tc__read_fail(r, "%%%lld is made twice", (long long)number);
    if (!tc__read_expect(r, "=") || !tc__read_op(r, &n) || !tc__read_operands(r, &n))
        return 0;
    if (!tc__read_attrs(r, &n) || !tc__read_type(r, &n)) return 0;
    if (tc__read_take(r, "on") && !tc__read_device(r, &n.device)) return 0;
    tc__read_implied(&n);
    r->g->device = n.device;
    if (n.value && !tc__read_value(r, n.value, n.dtype, &n.attr[n.value_word])) return 0;
    if (r->g->node.count >= TC__READ_NODES) return tc__read_fail(r, "too many nodes");
    uint32_t made = tc__read_made(r, &n);
    r->failed |= made == TC__NO_NODE;
    return made != TC__NO_NODE && tc__map_set(&r->names, (uint64_t)number, made);
}

// ---- composite ops ----

static int tc__read_composite_op(tc__reader *r, tc__composite *f) {
    char name[32];
    const char *start = (tc__read_blanks(r), r->at);
    tc__read_name(r, name);
    for (int op = TC_OP_COUNT; op < TC_OP_TOTAL; op++) {
        if (strcmp(tc__op_name((tc__op)op), name)) continue;
        f->op = (uint16_t)op;
        return 1;
    }
    r->at = start;
    return tc__read_fail(r, "\"%s\" is no composite op", name);
}

static int tc__read_composite_word(tc__reader *r, tc__composite *f, uint32_t i, char kind) {
    const char *start;
    if (kind == 's') return tc__read_index(r, &f->attr[i]);
    if (kind == 't') return tc__read_int(r, &f->attr[i]);
    if (tc__read_take(r, "arg")) {
        f->args |= 1u << i;
        return tc__read_digits(r, &f->attr[i]);
    }
    return tc__skip_value(r, &start) && tc__read_value(r, start, TC_F64, &f->attr[i]);
}

// composite attention %0 %1 %2 - -> %9 causal=1 scale=0.125 nan=0
static int tc__read_composite(tc__reader *r) {
    tc__attr_name a;
    tc__composite f;
    memset(&f, 0, sizeof f);
    for (uint32_t i = 0; i < TC__WHOLE_OPERANDS; i++) f.in[i] = TC__NO_NODE;
    if (!tc__read_composite_op(r, &f)) return 0;
    for (uint32_t i = 0; i < tc__whole_of((tc__op)f.op)->n_in; i++) {
        if (tc__read_take(r, "-")) continue;
        if (!tc__read_ref(r, &f.in[i])) return 0;
        f.attr[TC__WHOLE_GIVEN] |= (int64_t)1 << i;
    }
    if (!tc__read_expect(r, "->") || !tc__read_ref(r, &f.result)) return 0;
    a.rest = tc__ops[f.op].attr;
    (void)tc__attr_next(&a); // which operands there are
    for (uint32_t i = 1; tc__attr_next(&a); i++)
        if (!tc__read_expect(r, a.name) || !tc__read_expect(r, "=") ||
            !tc__read_composite_word(r, &f, i, a.kind))
            return 0;
    return tc__composite_add(r->g, &f);
}

// size s0 in 1..4096
static int tc__read_size(tc__reader *r) {
    int64_t slot, lo, hi;
    if (!tc__read_expect(r, "s") || !tc__read_digits(r, &slot) || !tc__read_expect(r, "in"))
        return 0;
    if (!tc__read_int(r, &lo) || !tc__read_expect(r, "..") || !tc__read_int(r, &hi))
        return 0;
    if (slot >= TC__READ_SYMBOLS || r->symbol[slot])
        return tc__read_fail(r, "s%lld is there already, or not below s%d", (long long)slot,
                             TC__READ_SYMBOLS);
    if (lo < 0 || hi < lo || hi < 1)
        return tc__read_fail(r, "sizes are 0 or more, the lower one first");
    r->symbol[slot] = tc__ix_sym(r->g->ix, slot, lo, hi);
    return !r->g->ix->failed || tc__read_fail(r, "out of memory");
}

static int tc__read_return(tc__reader *r, tc__ids *outputs) {
    for (tc__read_blanks(r); *r->at == '%'; tc__read_blanks(r)) {
        uint32_t id;
        if (!tc__read_ref(r, &id)) return 0;
        if (id & TC__ASIDE) return tc__read_fail(r, "what stands aside is no result");
        if (outputs && !TC__PUSH(r->ctx, *outputs, id)) return 0;
    }
    return 1;
}

static int tc__read_lines(tc__reader *r, tc__ids *outputs) {
    while (tc__read_blanks(r), *r->at) {
        int ok = 1;
        if (tc__read_take(r, "%"))
            ok = tc__read_line(r, 0);
        else if (tc__read_take(r, "aside %"))
            ok = tc__read_line(r, 1);
        else if (tc__read_take(r, "composite "))
            ok = tc__read_composite(r);
        else if (tc__read_take(r, "size "))
            ok = tc__read_size(r);
        else if (tc__read_take(r, "return"))
            ok = tc__read_return(r, outputs);
        if (!ok) return 0;
        tc__read_blanks(r);
        if (*r->at == '#') r->at += strcspn(r->at, "\n");
        if (*r->at && *r->at != '\n') return tc__read_fail(r, "the line should end here");
        r->at += *r->at == '\n';
    }
    return 1;
}

// Adds the nodes of `text` to g, an open graph without nodes; `outputs` (may be NULL) gets
// what the text returns. 0 = reported.
TC__UNUSED static int tc__read_graph(tc_ctx *c, tc__graph *g, const char *text,
                                     tc__ids *outputs) {
    tc__reader r;
    char half[16];
    memset(&r, 0, sizeof r);
    r.ctx = c, r.g = g, r.text = r.at = text;
    snprintf(half, sizeof half, "%.1f", 0.5); // "0.5", with the point of this locale
    for (size_t i = 1; half[i] && half[i] != '5' && i < sizeof r.point; i++)
        r.point[i - 1] = half[i];
    tc__map_init(&r.names, c);
    int ok = tc__read_lines(&r, outputs);
    tc__map_free(&r.names);
    return ok;
}
