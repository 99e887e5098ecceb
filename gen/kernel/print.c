// Kernels as text: the walker over a LOOP list, and what all dialects share. A dialect is
// data: a table op -> function for what differs (loads, stores, loops, accumulators) and
// names of types. Arithmetic needs no function: the EXPR of its row in ops.def is copied,
// operands and the suffix of the class put in. One statement per line, the same text every
// time.
//
// A value is named t<id>, or t<id>_0.. where a loop is unrolled and keeps several copies.

enum {
    TC__PRINT_POINTERS = 24,
    TC__PRINT_ACCS = 64,
    TC__PRINT_DEPTH = 16, // nested loops
    // Where the functions of a kernel cost more than this together, those that it has more than once are
    // called: 50 sines take gcc 0.05 s then and 0.6 s inlined, and run as fast.
    TC__PRINT_INLINE = 60
};

typedef struct tc__printer tc__printer;
typedef struct tc__acc tc__acc;
typedef void (*tc__print_fn)(tc__printer *p, const tc__node *n, int copy);

// How often a row of the dialect is called for a node.
typedef enum tc__each { TC__ONCE, TC__PER_COPY } tc__each;

typedef struct tc__print_row {
    tc__op op;
    tc__each each;
    tc__print_fn print;
} tc__print_row;

// A launch of a kernel where there is a grid of threads.
typedef struct tc__grid {
    int threads;   // of a block
    tc__ix blocks; // that have work
    int waves;     // blocks at most for each multiprocessor, 0 = all that have work
    tc__ix shared; // bytes of a block, beside what the text itself declares
    int cluster;   // blocks that share their memory, 0 = none
    int early; // its blocks may begin while the launch before ends: they wait by themselves
} tc__grid;

enum {
    TC__GRIDS = 10
}; // sorting keys of 64 bits: all digits counted, 8 passes, clearing up

// The launches that a text is for: `symbol`, then `symbol_1`, ... with the same arguments, which are
// the addresses of buffers that are memory, in the group's order; that of the workspace, if there is
// one; the address of the program's state; and the run-time sizes.
typedef struct tc__grids {
    tc__grid at[TC__GRIDS];
    int count;
    tc__ix workspace; // bytes, 0 = none
    tc__ix
        zeroed; // of its bytes, those that are 0 before the first launch and after the last
    int sizes;  // symbols s0.. that it is told
} tc__grids;

// Words of a program's flag on a device, beside the three of an index out of range: an access outside of a
// tensor, which checked kernels tell (tc_device.checked).
enum {
    TC__OUTSIDE_BUFFER = 4, // of the group, + 1; 0 = all accesses were inside
    TC__OUTSIDE_AT,         // the element
    TC__OUTSIDE_LAUNCH,     // of the program
    TC__OUTSIDE_WRITE,
    TC__FLAG_WORDS
};

typedef struct tc__dialect tc__dialect;
struct tc__dialect {
    const char *name;
    const char *reg[TC__CLASSES];    // type of a value in a register
    const char *scalar[TC__CLASSES]; // of one element of it
    const char *index;               // type of loop variables
    int threads; // 1: the text is of one thread among many, values are single elements
    const char *const
        *expr; // by op: instead of EXPR in ops.def; NULL = there are none, or not for it
    int unit;  // elements in one copy of a value, 0 = the group's
    const tc__print_row *row; // ends with print = NULL
    void (*kernel)(tc__printer *p, const char *symbol);
    void (*loop)(tc__printer *p, const tc__node *n, uint32_t begin, uint32_t end);
    void (*constant)(tc__printer *p, int dtype, tc__value v);
    void (*monoid)(tc__printer *p,
                   const tc__acc *a); // more text for a reduction's head; may be NULL
    // How its texts are launched; 0 = reported. NULL = they are called.
    int (*grids)(tc_ctx *c, const tc__group *g, tc__grids *out);
    // The text of an opaque op, which has_opaque tells that there is; 0 = reported.
    int (*opaque)(tc__text *out, const tc__group *g, const tc__dialect *d,
                  const char *symbol);
    int (*has_opaque)(tc_ctx *c, const tc__group *g);
    // Whether a product that makes rows of its left operand (join.c) is worth it; NULL = never.
    int (*takes_rows)(const tc__group *g);
    tc__fuse fuse; // of programs that fuse
    // Where devices have lists of their own (device/lower.c): the list of g, NULL = reported; and who prints
    // it. has_list = NULL: nowhere.
    int (*has_list)(const tc__group *g);
    tc__group *(*lower)(tc_ctx *c, const tc__group *g);
    const tc__dialect *lists;
};

// How an accumulator is held; decided by the loop that steps it.
typedef enum tc__acc_form {
    TC__ACC_NAMED, // one vector per copy
    TC__ACC_ARRAY, // 32 lanes in memory, the vector of a step indexed by c
    TC__ACC_LANES  // vector == TC__ROW: [logical lane][copy] in memory
} tc__acc_form;

struct tc__acc {
    int used;
    tc__op monoid;
    uint8_t dtype; // of the values
    tc__acc_form form;
    int lanes;            // ACC_LANES: logical lanes in use
    const tc__node *loop; // the FOR that steps it
};

// `const float *in0_r1 = in0 + 768 * r;` printed at the head of the row loop.
typedef struct tc__row_pointer {
    int64_t buffer;
    tc__ix part;
    int serial;     // of this buffer: in0_r, in0_r1, ...
    int64_t stride; // along the vector, where the rows are the vector; else 0
} tc__row_pointer;

struct tc__printer {
    tc__text *out;
    const tc__group *g;
    const tc__dialect *d;
    int indent;
    int unit;  // elements in one copy of a value
    int calls; // functions that it has more than once are called, not inlined
    uint16_t uses[TC_OP_COUNT]; // nodes of the kernel by op
    const char *lead;           // of the function that is printed: "call_"
    // Around the node being printed:
    tc__axis axis; // the vector runs along it
    int copies;    // named copies of a value that differs between lanes
    int tail;      // 1: only the first n lanes count
    int shift;     // added to the vector's variable
    int lane;      // 1: and l too
    int lanes_put; // of the kernel's loads, those that are put together in registers
    int outer;     // axis of the loop that row pointers belong to, -1 = none
    int pointers;
    tc__row_pointer pointer[TC__PRINT_POINTERS];
    tc__acc acc[TC__PRINT_ACCS];
    const struct tc__cuda_plan
        *cuda; // CUDA: how the loops map, NULL = each node as it stands
    const struct tc__cuda_vector
        *vector;   // CUDA: of a device's list, the loop that is printed
    int narrow;    // CUDA: indices are int
    int scalar;    // CUDA: what is printed has single elements, the plan vectors
    int row_lanes; // CUDA: values of rows are arrays over l
    int launch;    // CUDA: of the kernel's launches, the one that is printed
    int issued; // CUDA: loads of all phases stand before the first; those without k, before its loop
    const char
        *owner; // CUDA: the block that stores what others make, too; NULL = each its own
    const uint8_t
        *need;         // by node: it is computed in the box that is printed; NULL = all are
    int parts;         // contraction: columns run from c0 to c1,
    int64_t part_step; //   which are multiples of this or the end
};

static void tc__line(tc__printer *p) {
    for (int i = 0; i < p->indent; i++) tc__put_raw(p->out, "    ", 4);
}

static void tc__block_open(tc__printer *p) {
    tc__put(p->out, " {\n");
    p->indent++;
}

static void tc__block_close(tc__printer *p) {
    p->indent--;
    tc__line(p);
    tc__put(p->out, "}\n");
}

static tc__node *tc__body(const tc__printer *p, uint32_t id) {
    return p->g->body.node.at[id];
}
static tc__class tc__class_of(int dtype) { return tc__dtypes[dtype].reg; }
static const char *tc__suffix(int dtype) { return tc__class_names[tc__class_of(dtype)]; }

// The random words that an element of RANDOM n takes: two for a normal number, twice as many for f64.
static int tc__draw_words(const tc__node *n) {
    return (n->attr[TC__RANDOM_KIND] ? 2 : 1) * (n->dtype == TC_F64 ? 2 : 1);
}

static int tc__copies_of(const tc__printer *p, const tc__node *n) {
    return tc__lanes_differ(n, p->axis) ? p->copies : 1;
}

static int tc__is_row_lane(const tc__printer *p, const tc__node *n) {
    return p->row_lanes && n->level == TC__AT_ROW;
}

static void tc__put_name(tc__printer *p, const tc__node *n, int copy) {
    tc__put(p->out, tc__is_row_lane(p, n) ? "t%u[l]" : "t%u", n->id);
    if (tc__copies_of(p, n) > 1) tc__put(p->out, "_%d", copy);
}

static tc__value tc__const_value(const tc__node *n) {
    tc__value v;
    memcpy(&v, &n->attr[TC__CONST_BITS], sizeof v);
    return v;
}

// A node as an operand of an expression.
static void tc__put_value(tc__printer *p, uint32_t id, int copy) {
    const tc__node *n = tc__body(p, id);
    if (n->op == TC_OP_CONST) {
        p->d->constant(p, n->dtype, tc__const_value(n));
        return;
    }
    if (n->op == TC_OP_ARG) {
        tc__put(p->out, "arg%lld", (long long)n->attr[TC__ARG_SLOT]);
        return;
    }
    tc__put_name(p, n, copy);
}

// `const tc_vf t5_1 = `
static void tc__put_let(tc__printer *p, const tc__node *n, int copy) {
    tc__line(p);
    if (!tc__is_row_lane(p, n))
        tc__put(p->out, "const %s ", p->d->reg[tc__class_of(n->dtype)]);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
}

// ---- index expressions ----

static void tc__put_ix(tc__printer *p, tc__ix e);

static int tc__is_shifted(const tc__printer *p, const tc__ixnode *n) {
    return n->kind == TC__IX_VAR && n->a == (int64_t)p->axis && (p->shift || p->lane);
}

static void tc__put_shift(tc__printer *p) {
    if (p->shift) tc__put(p->out, " + %d", p->shift);
    if (p->lane) tc__put(p->out, " + l");
}

static void tc__put_val(tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id);
    int many = !p->d->threads, wide = tc__class_of(n->dtype) == TC__CLASS_i64;
    if (!wide || p->narrow) tc__put(p->out, "(%s)", p->narrow ? "int" : p->d->index);
    tc__put_name(p, n, p->shift / p->unit);
    if (many) tc__put(p->out, "[%s]", p->lane && tc__lanes_differ(n, p->axis) ? "l" : "0");
}

// An atom; `bare` leaves out the brackets it needs inside a product.
static void tc__put_atom(tc__printer *p, tc__ix e, int bare) {
    static const char *const names[] = {
        "", "", "", "tc_floor_div", "tc_floor_mod", "tc_min", "tc_max"};
    if (tc__ix_is_const(e)) {
        tc__put(p->out, "%lld", (long long)tc__ix_value(e));
        return;
    }
    tc__ixnode n = *tc__ix_node(p->g->body.ix, e);
    int plain = n.kind == TC__IX_SYM || n.kind == TC__IX_VAL ||
                (n.kind == TC__IX_VAR && !tc__is_shifted(p, &n));
    int natural = (n.kind == TC__IX_DIV || n.kind == TC__IX_MOD) &&
                  tc__ix_lo(p->g->body.ix, n.a) >= 0;
    int call = !plain && !natural && n.kind != TC__IX_VAR && n.kind != TC__IX_POLY;
    bare |= plain || call;
    if (!bare) tc__put(p->out, "(");
    if (n.kind == TC__IX_SYM) tc__put(p->out, "s%lld", (long long)n.a);
    if (n.kind == TC__IX_VAL) tc__put_val(p, (uint32_t)n.a);
    if (n.kind == TC__IX_VAR) tc__put(p->out, "%s", tc__axis_name(n.a));
    if (tc__is_shifted(p, &n)) tc__put_shift(p);
    if (n.kind == TC__IX_POLY) tc__put_ix(p, e);
    if (natural) {
        tc__put_atom(p, n.a, 0);
        tc__put(p->out, n.kind == TC__IX_DIV ? " / " : " %% ");
        tc__put_atom(p, n.b, 0);
    }
    if (call) {
        tc__put(p->out, "%s(", names[n.kind]);
        tc__put_ix(p, n.a);
        tc__put(p->out, ", ");
        tc__put_ix(p, n.b);
        tc__put(p->out, ")");
    }
    if (!bare) tc__put(p->out, ")");
}

static void tc__put_term(tc__printer *p, tc__ixterm t, int first) {
    int64_t coef = t.coef;
    int alone = !t.atom[1] && (coef == 1 || coef == -1);
    if (!first) tc__put(p->out, coef < 0 ? " - " : " + ");
    if (first && coef < 0) tc__put(p->out, "-");
    if (coef < 0) coef = -coef;
    if (coef != 1) tc__put(p->out, "%lld * ", (long long)coef);
    for (int k = 0; k < TC__IX_ATOMS && t.atom[k]; k++) {
        const tc__ixnode *n = tc__ix_node(p->g->body.ix, t.atom[k]);
        if (k) tc__put(p->out, " * ");
        tc__put_atom(p, t.atom[k], alone && t.coef > 0 && n->kind == TC__IX_VAR);
    }
}

static void tc__put_ix(tc__printer *p, tc__ix e) {
    if (tc__ix_is_const(e) || tc__ix_node(p->g->body.ix, e)->kind != TC__IX_POLY) {
        tc__put_atom(p, e, 1);
        return;
    }
    tc__ixnode n = *tc__ix_node(p->g->body.ix, e);
    for (uint32_t i = 0; i < n.count; i++)
        tc__put_term(p, p->g->body.ix->term.at[n.first + i], i == 0);
    if (n.base > 0) tc__put(p->out, " + %lld", (long long)n.base);
    if (n.base < 0) tc__put(p->out, " - %lld", -(long long)n.base);
}

// ---- expressions of ops.def ----

// "(name)" after TC_F or TC_K: copies the name into out, gives what follows.
static const char *tc__bracketed(const char *s, char out[40]) {
    size_t n = 0;
    for (s += *s == '('; *s && *s != ')'; s++)
        if (n < 39) out[n++] = *s;
    out[n] = 0;
    return *s ? s + 1 : s;
}

// The value of TC_K(text), a small whole number, as dtype `t` holds it.
static void tc__put_k(tc__printer *p, const char *text, tc__class cls) {
    static const int dtypes[TC__CLASSES] = {TC_F32, TC_F64, TC_I32, TC_I64};
    tc__value v;
    long whole = strtol(text, NULL, 10);
    v.i = whole;
    if (tc__is_float(dtypes[cls])) v.f = (double)whole;
    p->d->constant(p, dtypes[cls], v);
}

// `a > b` or `a != TC_K(0)` at s: its macro's name, the operator's size in *n; NULL = another.
static const char *tc__comparison(const char *s, size_t *n) {
    static const char *const signs[][2] = {{" <= ", "TC_LE"}, {" >= ", "TC_GE"},
                                           {" == ", "TC_EQ"}, {" != ", "TC_NE"},
                                           {" < ", "TC_LT"},  {" > ", "TC_GT"}};
    for (size_t i = 0; i < TC__COUNT(signs); i++) {
        *n = strlen(signs[i][0]);
        if (strncmp(s, signs[i][0], *n)) continue;
        s += *n;
        int letter = *s >= 'a' && *s <= 'c' && !tc__is_word(s[1]);
        return letter || !strncmp(s, "TC_K(", 5) ? signs[i][1] : NULL;
    }
    return NULL;
}

static void tc__put_letter(tc__printer *p, char letter, const uint32_t *in, int copy) {
    if (in)
        tc__put_value(p, in[letter - 'a'], copy);
    else
        tc__put_raw(p->out, &letter, 1);
}

// A comparison of a letter with a letter or a constant as a macro: gcc takes the operators of
// types wider than a register apart lane by lane. Gives what follows.
static const char *tc__put_comparison(tc__printer *p, const char *s, tc__class cls,
                                      const uint32_t *in, int copy) {
    char word[40];
    size_t n = 0;
    const char *macro = tc__comparison(s + 1, &n), *right = s + 1 + n;
    tc__put(p->out, "%s_%s(", macro, tc__class_names[cls]);
    tc__put_letter(p, *s, in, copy);
    tc__put(p->out, ", ");
    if (*right == 'T') {
        right = tc__bracketed(right + 4, word);
        tc__put_k(p, word, cls);
    } else {
        tc__put_letter(p, *right++, in, copy);
    }
    tc__put(p->out, ")");
    return right;
}

// Copies an expression over a b c. in == NULL leaves the letters, else they are the
// operands.
static void tc__put_expr(tc__printer *p, const char *s, tc__class cls, const uint32_t *in,
                         int copy) {
    char word[40];
    while (*s) {
        size_t n = 0;
        while (tc__is_word(s[n])) n++;
        if (!n) {
            tc__put_raw(p->out, s++, 1);
            continue;
        }
        const char *next = s + n;
        size_t sign;
        int letter = n == 1 && *s >= 'a' && *s <= 'c';
        if (letter && tc__comparison(next, &sign))
            next = tc__put_comparison(p, s, cls, in, copy);
        else if (letter)
            tc__put_letter(p, *s, in, copy);
        else if (n == 4 && !memcmp(s, "TC_F", 4)) {
            next = tc__bracketed(next, word);
            tc__put(p->out, "tc_%s%s_%s", p->lead, word, tc__class_names[cls]);
        } else if (n == 4 && !memcmp(s, "TC_K", 4)) {
            next = tc__bracketed(next, word);
            tc__put_k(p, word, cls);
        } else {
            tc__put_raw(p->out, s, n);
            if (n > 3 && !memcmp(s, "TC_", 3) && (n != 6 || memcmp(s, "TC_NOT", 6)))
                tc__put(p->out, "_%s", tc__class_names[cls]);
        }
        s = next;
    }
}

static const char *tc__op_expr(const tc__printer *p, int op) {
    const char *own = p->d->expr ? p->d->expr[op] : NULL;
    return own ? own : tc__ops[op].expr;
}

// The class an op computes in: its operands', which differs from the result's for
// comparisons.
static tc__class tc__op_class(const tc__printer *p, const tc__node *n) {
    if (n->op == TC_OP_WHERE || !n->n_in) return tc__class_of(n->dtype);
    return tc__class_of(tc__body(p, n->in[0])->dtype);
}

// Whether an op is a function and nothing else, and a long one.
static int tc__is_function(const tc__node *n) {
    return tc__is_alu(n) && tc__is_float(n->dtype) && tc__ops[n->op].cost >= 8 &&
           !strncmp(tc__ops[n->op].expr, "TC_F(", 5);
}

static void tc__count_functions(tc__printer *p) {
    uint32_t cost = 0;
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *n = p->g->body.node.at[i];
        if (!tc__is_function(n)) continue;
        cost += tc__ops[n->op].cost;
        p->uses[n->op] = (uint16_t)(p->uses[n->op] + (p->uses[n->op] < 2));
    }
    p->calls = !p->d->threads && cost > TC__PRINT_INLINE;
}

// What stands between `tc_` and the name of n's function.
static const char *tc__function_lead(const tc__printer *p, const tc__node *n) {
    return p->calls && p->uses[n->op] > 0 && tc__is_function(n) ? "call_" : "";
}

static void tc__print_alu(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    p->lead = tc__function_lead(p, n);
    tc__put_expr(p, tc__op_expr(p, n->op), tc__op_class(p, n), n->in, copy);
    p->lead = "";
    tc__put(p->out, ";\n");
}

// `tc_cast_f32_i16(t3)`: from what a register holds, which may be all there is to do.
static void tc__print_cast(tc__printer *p, const tc__node *n, int copy) {
    int from = tc__body(p, n->in[0])->dtype, same = tc__cast_is_nothing(from, n->dtype);
    tc__put_let(p, n, copy);
    if (!same)
        tc__put(p->out, "tc_cast_%s_%s(", tc__cast_from(from), tc__cast_to(from, n->dtype));
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, same ? ";\n" : ");\n");
}

// ---- the list ----

static const tc__print_row *tc__print_row_of(const tc__dialect *d, int op) {
    for (const tc__print_row *row = d->row; row->print; row++)
        if ((int)row->op == op) return row;
    return NULL;
}

static void tc__print_node(tc__printer *p, const tc__node *n) {
    const tc__print_row *row = tc__print_row_of(p->d, n->op);
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG) return;
    if (p->need && !p->need[n->id]) return;
    if (!row && n->op != TC_OP_CAST && !*tc__op_expr(p, n->op)) {
        p->out->failed = 1;
        tc__fail(p->out->ctx, TC_E_UNSUPPORTED, "%s kernels have no text for %s yet",
                 p->d->name, tc__op_name((tc__op)n->op));
        return;
    }
    tc__print_fn print = row                   ? row->print
                         : n->op == TC_OP_CAST ? tc__print_cast
                                               : tc__print_alu;
    int copies = row && row->each == TC__ONCE ? 1 : tc__copies_of(p, n), shift = p->shift;
    for (int i = 0; i < copies; i++) {
        p->shift = shift + i * p->unit;
        print(p, n, i);
    }
    p->shift = shift;
}

// `r >= 1 && r < s0 - 1`: the range may be empty, or less.
static void tc__put_fact(tc__printer *p, tc__ix e, tc__ix limit) {
    tc__put_ix(p, e);
    tc__put(p->out, " >= 0 && ");
    tc__put_ix(p, e);
    tc__put(p->out, " < ");
    tc__put_ix(p, limit);
}

// The END of the FOR at `id`.
static uint32_t tc__loop_end(const tc__group *g, uint32_t id) {
    int depth = 0;
    for (; id < g->body.node.count; id++) {
        int op = g->body.node.at[id]->op;
        depth += tc__opens(g->body.node.at[id]);
        depth -= op == TC_OP_END;
        if (!depth) return id;
    }
    return id;
}

// Prints nodes [begin, end).
static void tc__print_range(tc__printer *p, uint32_t begin, uint32_t end) {
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_FOR) {
            uint32_t last = tc__loop_end(p->g, id);
            p->d->loop(p, n, id + 1, last);
            id = last;
            continue;
        }
        tc__print_node(p, n);
    }
}

// ---- row pointers ----

// Whether every atom of the term can be computed at the head of the loop over `axis`.
static int tc__term_is_outer(const tc__printer *p, const tc__ixterm *t, tc__axis axis) {
    for (int k = 0; k < TC__IX_ATOMS && t->atom[k]; k++) {
        for (int other = 0; other < TC__AXES; other++)
            if (other != (int)axis &&
                tc__ix_uses(p->g->body.ix, t->atom[k], (tc__axis)other))
                return 0;
        if (tc__ix_has_val(p->g->body.ix, t->atom[k])) return 0;
    }
    return 1;
}

// The part of e that names only `axis` and symbols; 0 if that does not name `axis`.
static tc__ix tc__row_part(const tc__printer *p, tc__ix e, tc__axis axis) {
    tc__ixpool *x = p->g->body.ix;
    tc__ixsum all, part;
    all.base = part.base = 0, all.count = part.count = 0, all.overflow = part.overflow = 0;
    tc__ix_sum_add(x, &all, e, 1);
    for (int i = 0; i < all.count; i++)
        if (tc__term_is_outer(p, &all.term[i], axis))
            tc__ix_sum_term(&part, &all.term[i], 1);
    tc__ix sum = tc__ix_sum_end(x, &part);
    return tc__ix_uses(x, sum, axis) ? sum : 0;
}

static tc__row_pointer *tc__find_pointer(tc__printer *p, int64_t buffer, tc__ix part) {
    for (int i = 0; i < p->pointers; i++)
        if (p->pointer[i].buffer == buffer && p->pointer[i].part == part)
            return &p->pointer[i];
    return NULL;
}

// Remembers a pointer for the access n if its index has a part to move out of the inner
// loops.
static tc__row_pointer *tc__add_pointer(tc__printer *p, const tc__node *n, tc__axis axis) {
    tc__ix stride = tc__ix_const(0),
           part = tc__row_part(p, n->attr[TC__ACCESS_INDEX], axis);
    if (!part || p->pointers == TC__PRINT_POINTERS || part == n->attr[TC__ACCESS_INDEX])
        return NULL;
    if (tc__is_lane_row(p->g, n, p->axis) ||
        tc__find_pointer(p, n->attr[TC__ACCESS_BUFFER], part))
        return NULL;
    if (axis == p->axis) {
        int steps = tc__ix_steps(p->g, part, axis, p->unit, &stride);
        tc__ixrun run = tc__ix_run(p->g->body.ix, part, axis);
        if (!steps || run.run != INT64_MAX || !tc__ix_is_const(stride)) return NULL;
    }
    tc__row_pointer *q = &p->pointer[p->pointers++];
    q->buffer = n->attr[TC__ACCESS_BUFFER], q->part = part, q->serial = 0,
    q->stride = tc__ix_value(stride);
    for (tc__row_pointer *o = p->pointer; o < q; o++) q->serial += o->buffer == q->buffer;
    return q;
}

// ---- buffers ----

// in0, out0, row0, tile0: numbered by kind, in the order of the group.
static void tc__buffer_name(const tc__printer *p, int64_t i, char out[24]) {
    static const char *const names[] = {"in",   "in",     "row", "tile",
                                        "left", "shared", "held"};
    const char *name = NULL;
    int serial = 0;
    for (int64_t j = i; j >= 0; j--) {
        const tc__kbuf *b = &p->g->buffer.at[j];
        const char *kind = tc__is_memory(b) && b->written ? "out" : names[b->place];
        if (!name)
            name = kind;
        else
            serial += !strcmp(kind, name);
    }
    snprintf(out, 24, "%s%d", name, serial);
}

static void tc__put_buffer(tc__printer *p, int64_t i) {
    char name[24];
    tc__buffer_name(p, i, name);
    tc__put(p->out, "%s", name);
}

static void tc__put_pointer_name(tc__printer *p, const tc__row_pointer *q) {
    tc__put_buffer(p, q->buffer);
    tc__put(p->out, "_r");
    if (q->serial) tc__put(p->out, "%d", q->serial);
}

// ---- accumulators ----

static int tc__is_arg(const tc__acc *a) {
    return a->monoid == TC_OP_ARGMAX || a->monoid == TC_OP_ARGMIN;
}

// max0, sum1, ...
static void tc__put_acc(tc__printer *p, int64_t i) {
    static const struct {
        tc__op op;
        const char *name;
    } names[] = {{TC_OP_ADD, "sum"},        {TC_OP_MUL, "prod"},
                 {TC_OP_MAXIMUM, "max"},    {TC_OP_MINIMUM, "min"},
                 {TC_OP_LOGICAL_OR, "any"}, {TC_OP_LOGICAL_AND, "every"},
                 {TC_OP_ARGMAX, "best"},    {TC_OP_ARGMIN, "best"}};
    const char *name = "acc";
    for (size_t k = 0; k < TC__COUNT(names); k++)
        if (names[k].op == p->acc[i].monoid) name = names[k].name;
    tc__put(p->out, "%s%lld", name, (long long)i);
}

static int tc__power_of_two_above(int64_t n) {
    int v = 1;
    while (v < n) v *= 2;
    return v;
}

// Few columns use few of the 32 lanes: combining an untouched lane changes nothing.
static int tc__lanes_in_use(const tc__group *g, const tc__node *loop) {
    tc__ix n = tc__ix_sub(g->body.ix, loop->attr[TC__FOR_END], loop->attr[TC__FOR_BEGIN]);
    if (!tc__ix_is_const(n) || tc__ix_value(n) > TC__LANES) return TC__LANES;
    return tc__power_of_two_above(tc__ix_value(n));
}

// Whether a loop over columns that has accumulators keeps their 32 lanes in named vectors.
static int tc__sums_are_named(const tc__group *g, const tc__node *loop) {
    int knob = g->shape.tuning.knob[TC__KNOB_SUMS];
    return knob ? knob == TC__SUMS_NAMED : loop->attr[TC__FOR_UNROLL] >= 4;
}

// Finds every accumulator and the loop that steps it. 0 = reported.
static int tc__find_accs(tc__printer *p) {
    const tc__node *stack[TC__PRINT_DEPTH];
    int depth = 0;
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_END) depth--;
        if (tc__opens(n) && depth == TC__PRINT_DEPTH)
            return tc__fail(p->out->ctx, TC_E_TOO_BIG, "kernel: more than %d nested loops",
                            depth);
        if (tc__opens(n)) stack[depth++] = n;
        if (n->op != TC_OP_ACC) continue;
        if (n->attr[TC__ACC_ACCUMULATOR] >= TC__PRINT_ACCS || !depth)
            return tc__fail(p->out->ctx, TC_E_TOO_BIG,
                            "kernel: accumulator %lld (limit %d)",
                            (long long)n->attr[TC__ACC_ACCUMULATOR], TC__PRINT_ACCS);
        tc__acc *a = &p->acc[n->attr[TC__ACC_ACCUMULATOR]];
        a->used = 1, a->monoid = (tc__op)n->attr[TC__ACC_MONOID],
        a->dtype = tc__body(p, n->in[0])->dtype;
        a->loop = stack[depth - 1];
        a->form = tc__sums_are_named(p->g, a->loop) ? TC__ACC_NAMED : TC__ACC_ARRAY;
        if (p->g->shape.vector == TC__ROW) a->form = TC__ACC_LANES;
        a->lanes = tc__lanes_in_use(p->g, a->loop);
    }
    return 1;
}

// ---- head comment ----

static void tc__put_dump_begin(tc__printer *p, int depth) {
    tc__put(p->out, "//   ");
    for (int i = 0; i < depth; i++) tc__put(p->out, "  ");
}

static void tc__put_dump_const(tc__printer *p, const tc__node *n) {
    tc__value v = tc__const_value(n);
    tc__put(p->out, " ");
    if (tc__is_float(n->dtype))
        tc__put_double(p->out, v.f);
    else
        tc__put(p->out, "%lld", (long long)v.i);
}

// acc0 = new add     acc0 add= %4     %7 = combine acc0
static int tc__put_dump_acc(tc__printer *p, const tc__node *n) {
    if (n->op == TC_OP_NEW)
        tc__put(p->out, "acc%d = new %s", (int)n->attr[TC__NEW_ACCUMULATOR],
                tc__op_name((tc__op)n->attr[TC__NEW_MONOID]));
    else if (n->op == TC_OP_ACC)
        tc__put(p->out, "acc%d %s= %%%u", (int)n->attr[TC__ACC_ACCUMULATOR],
                tc__op_name((tc__op)n->attr[TC__ACC_MONOID]), n->in[0]);
    else if (n->op == TC_OP_COMBINE)
        tc__put(p->out, "%%%u = combine acc%d", n->id,
                (int)n->attr[TC__COMBINE_ACCUMULATOR]);
    else
        return 0;
    return 1;
}

static void tc__put_dump_indices(tc__printer *p, const tc__node *n) {
    for (uint32_t i = 0; i < n->n_attr; i++) {
        if (!tc__attr_is_ix(n, i)) continue;
        tc__put(p->out, n->op == TC_OP_LOAD || n->op == TC_OP_STORE ? "[" : " [");
        tc__put_ix(p, n->attr[i]);
        tc__put(p->out, "]");
    }
}

static void tc__put_dump_node(tc__printer *p, const tc__node *n) {
    if (!tc__put_dump_acc(p, n)) {
        if (n->op != TC_OP_STORE) tc__put(p->out, "%%%u = ", n->id);
        tc__put(p->out, "%s", tc__op_name((tc__op)n->op));
        if (n->op == TC_OP_CONST) tc__put_dump_const(p, n);
        if (n->op == TC_OP_LOAD || n->op == TC_OP_STORE) {
            tc__put(p->out, " ");
            tc__put_buffer(p, n->attr[TC__ACCESS_BUFFER]);
        }
        tc__put_dump_indices(p, n);
        for (uint32_t i = 0; i < n->n_in; i++) tc__put(p->out, " %%%u", n->in[i]);
    }
    tc__put(p->out, "  %s\n", tc__dtypes[n->dtype].name);
}

// Boxes of a loop, each with what is known inside.
static void tc__put_dump_boxes(tc__printer *p, const tc__node *n) {
    tc__kbox box;
    for (uint32_t i = 0; tc__box_at(n, i, &box); i++) {
        tc__put(p->out, "//       inside");
        for (uint32_t k = 0; k < box.count; k += 2) {
            tc__put(p->out, " [");
            tc__put_ix(p, box.pair[k]);
            tc__put(p->out, "] [");
            tc__put_ix(p, box.pair[k + 1]);
            tc__put(p->out, "]");
        }
        tc__put(p->out, "\n");
    }
}

static void tc__put_dump_loop(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "for %s in ", tc__axis_name(n->attr[TC__FOR_AXIS]));
    tc__put_ix(p, n->attr[TC__FOR_BEGIN]);
    tc__put(p->out, "..");
    tc__put_ix(p, n->attr[TC__FOR_END]);
    tc__put(p->out, " %s\n", tc__bind_names[n->attr[TC__FOR_BIND]]);
    tc__put_dump_boxes(p, n);
}

static void tc__put_dump_axis(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "axis %s = ", tc__axis_name(n->attr[TC__AXIS_AXIS]));
    tc__put_ix(p, n->attr[TC__AXIS_VALUE]);
    tc__put(p->out, "\n");
}

static void tc__put_dump_if(tc__printer *p, const tc__node *n) {
    tc__put(p->out, n->n_attr ? "if" : "do");
    for (uint32_t i = TC__IF_PREDICATES; i < n->n_attr; i += 2) {
        tc__put(p->out, " [");
        tc__put_ix(p, n->attr[i]);
        tc__put(p->out, "] [");
        tc__put_ix(p, n->attr[i + 1]);
        tc__put(p->out, "]");
    }
    tc__put(p->out, "\n");
}

static void tc__put_dump_statement(tc__printer *p, const tc__node *n) {
    switch (n->op) {
    case TC_OP_FOR: tc__put_dump_loop(p, n); return;
    case TC_OP_AXIS: tc__put_dump_axis(p, n); return;
    case TC_OP_IF: tc__put_dump_if(p, n); return;
    case TC_OP_LAUNCH:
        tc__put(p->out, "launch threads=%lld\n", (long long)n->attr[TC__LAUNCH_THREADS]);
        return;
    case TC_OP_BARRIER: tc__put(p->out, "barrier block\n"); return;
    case TC_OP_END: tc__put(p->out, "end\n"); return;
    default: tc__put_dump_node(p, n);
    }
}

// Not from where: equal kernels of two programs have equal text, and are compiled once.
static void tc__put_dump_buffers(tc__printer *p) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        tc__put_dump_begin(p, 0);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, "  %s[", tc__dtypes[b->dtype].name);
        tc__put_ix(p, b->numel);
        tc__put(p->out, "]\n");
    }
}

static void tc__put_head(tc__printer *p, const char *symbol) {
    const tc__group *g = p->g;
    int depth = 0;
    tc__put(p->out, "\n// %s: ", symbol);
    tc__report_why(p->out, g);
    tc__put(p->out, "\n// rows ");
    tc__put_ix(p, g->shape.rows);
    tc__put(p->out, ", columns ");
    tc__put_ix(p, g->shape.cols);
    if (g->shape.kind == TC__CONTRACTION) {
        tc__put(p->out, ", depth ");
        tc__put_ix(p, g->shape.depth);
    }
    tc__put(p->out, "; vector along %s\n", tc__axis_name(g->shape.vector));
    if (g->shape.list)
        tc__put(p->out, "// of each tensor of a list, up to %d\n", g->shape.list);
    tc__put_dump_buffers(p);
    for (size_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        depth -= n->op == TC_OP_END;
        tc__put_dump_begin(p, depth);
        depth += tc__opens(n);
        tc__put_dump_statement(p, n);
    }
}

// ---- entry ----

static void tc__printer_open(tc__printer *p, tc__text *out, const tc__group *g,
                             const tc__dialect *d) {
    memset(p, 0, sizeof *p);
    p->out = out, p->g = g, p->d = d;
    p->axis = g->shape.vector, p->copies = 1, p->outer = -1, p->lead = "";
    p->unit = d->unit ? d->unit : tc__group_lanes(g);
}

static int tc__print_list(tc__text *out, const tc__group *g, const tc__dialect *d,
                          const char *symbol) {
    tc__printer p;
    tc__printer_open(&p, out, g, d);
    if (!tc__find_accs(&p)) return 0;
    tc__count_functions(&p);
    tc__put_head(&p, symbol);
    d->kernel(&p, symbol);
    return !out->failed && !g->body.ix->failed;
}

// The same, of the list that devices have of it.
static int tc__print_lowered(tc__text *out, const tc__group *g, const tc__dialect *d,
                             const char *symbol) {
    tc__group *list = d->lower(out->ctx, g);
    int ok = list && tc__print_list(out, list, d->lists, symbol);
    tc__group_free(out->ctx, list);
    return ok;
}

// Appends the kernel of group g (LOOP stage) as a function `symbol`. 1, or 0 = reported.
static int tc__print_kernel(tc__text *out, const tc__group *g, const tc__dialect *d,
                            const char *symbol) {
    if (g->shape.kind == TC__OPAQUE && !d->has_opaque(out->ctx, g))
        return tc__fail(out->ctx, TC_E_UNSUPPORTED, "%s kernels have no text of %s",
                        d->name, tc__call_name(out->ctx, g->body.node.at[0]));
    if (g->shape.kind == TC__OPAQUE) return d->opaque(out, g, d, symbol);
    if (d->has_list && d->has_list(g)) return tc__print_lowered(out, g, d, symbol);
    return tc__print_list(out, g, d, symbol);
}
