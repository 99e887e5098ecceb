// Kernels as text: what all dialects share, but for the walk over a list, which is
// kernel/print_list.c: names, index expressions, expressions of ops.def. A dialect is
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

enum { TC__MAPS = 5 }; // of tensors that a launch's blocks bring

enum {
    TC__GRIDS = 10
}; // sorting keys of 64 bits: all digits counted, 8 passes, clearing up

// The launches that a text is for: `symbol`, then `symbol_1`, ... with the same arguments, which are
// the addresses of buffers that are memory, in the group's order; that of the workspace, if there is
// one; the address of the program's state; and the run-time sizes.
// Of launches that work beside each other (tc_begin_beside): what a kernel is told.
typedef enum tc__beside {
    TC__BESIDE_NONE,
    TC__BESIDE_LEADS,  // the next one may begin when it has what it waits for
    TC__BESIDE_FOLLOWS // it begins beside the one before it
} tc__beside;

typedef struct tc__grids {
    tc__grid at[TC__GRIDS];
    int count;
    tc__ix workspace; // bytes, 0 = none
    tc__ix
        zeroed; // of its bytes, those that are 0 before the first launch and after the last
    int sizes;  // symbols s0.. that it is told,
    int beside; //   and behind them a tc__beside, if it can work beside the launch before it:
    uint64_t first; // buffers that it reads before it waits for that then, a bit for each
    tc_device_map map[TC__MAPS]; // behind them; `address` is the number of a buffer
    int maps;
    tc__overlay_set over; // results that may lie where operands do
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

// Whether a kernel of several parts is worth it: not, or not without what reads its rows.
typedef enum tc__takes { TC__TAKES_NOT, TC__TAKES, TC__TAKES_WITH_READER } tc__takes;
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
    // Whether a kernel of several parts (join.c), the last of which reads rows that are made before it, is
    // worth it; NULL = never. And how many contractions such a kernel may have.
    tc__takes (*takes_rows)(const tc__group *g);
    int contractions;
    tc__fuse fuse; // of programs that fuse
    // The list that a device has of g (device/lower.c), which is printed; NULL = reported. lower = NULL: g is.
    tc__group *(*lower)(tc_ctx *c, const tc__group *g);
    int guards; // texts look at tc__group_target.guarded
    // Whether sums down the columns of what a kernel does row by row are done with it (down.c); NULL = never.
    int (*takes_down)(const tc__group *g);
    // Whether two lists of the same rows are one kernel (beside.c); NULL = never.
    int (*takes_beside)(const tc__group *g);
    // In which order a row reduction adds its columns there, as a number; 0 = it is in no list of tensors. Of a form
    // (list.c) that is the same number, or it adds them otherwise. NULL = such kernels are in no lists.
    tc__list_order order;
};

// How an accumulator is held; decided by the loop that steps it.
typedef enum tc__acc_form {
    TC__ACC_NAMED, // one vector per copy
    TC__ACC_ARRAY, // 32 lanes in memory, the vector of a step indexed by c
    TC__ACC_LANES, // vector == TC__ROW: [logical lane][copy] in memory
    TC__ACC_DOWN   // of each column, in memory of the work item: down_host.c
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
    int calls; // long functions are called, not inlined
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
    const struct tc__cuda_vector
        *vector;       // CUDA: of a device's list, the loop that is printed
    int team, cluster; // CUDA: threads that share a sum, and blocks (0 = one)
    int narrow;        // CUDA: indices are int
    uint64_t kept; // CUDA: buffers of registers, a bit for each, that are words of halves
    const uint8_t
        *need;     // by node: it is computed in the box that is printed; NULL = all are
    uint32_t down; // C: the loop over columns behind all rows, 0 = there is none
    const char *symbol;                //   of its kernel
    int parts;                         // contraction: columns run from c0 to c1,
    int64_t part_step;                 //   which are multiples of this or the end
    const struct tc__contract *direct; //   of a row, only those that no whole block has
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

static void tc__put_name(tc__printer *p, const tc__node *n, int copy) {
    tc__put(p->out, "t%u", n->id);
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
            tc__put(p->out, "tc_%s_%s", word, tc__class_names[cls]);
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
        if (tc__is_function(n)) cost += tc__ops[n->op].cost;
    }
    p->calls = !p->d->threads && cost > TC__PRINT_INLINE;
}

// Whether n's function is called, not copied into the loop.
static int tc__is_called(const tc__printer *p, const tc__node *n) {
    return p->calls && tc__is_function(n);
}

// `tc_vf v5[4] = {t4_0, t4_1, t4_2, t4_3};`
static void tc__print_vectors(tc__printer *p, const tc__node *n, char letter, uint32_t of) {
    tc__line(p);
    tc__put(p->out, "%s %c%u[%d] = {", p->d->reg[tc__class_of(n->dtype)], letter, n->id,
            p->copies);
    for (int i = 0; i < p->copies; i++) {
        if (i) tc__put(p->out, ", ");
        tc__put_value(p, of, i);
    }
    tc__put(p->out, "};\n");
}

// `tc_vf t5_0, t5_1; {tc_vf v5[2] = {t4_0, t4_1}; tc_calls_exp_f32(v5, 2); t5_0 = v5[0], ...}`: all copies of a value by one call. Each
// of them waits for itself; together they take the time of two. What is in memory for the call ends with it: of
// 500 calls in a kernel all would have room on the stack.
static void tc__print_calls(tc__printer *p, const tc__node *n, const char *name) {
    tc__line(p);
    tc__put(p->out, "%s ", p->d->reg[tc__class_of(n->dtype)]);
    for (int i = 0; i < p->copies; i++)
        tc__put(p->out, i ? ", t%u_%d" : "t%u_%d", n->id, i);
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(p->out, "{\n");
    p->indent++;
    tc__print_vectors(p, n, 'v', n->in[0]);
    if (n->n_in > 1) tc__print_vectors(p, n, 'w', n->in[1]);
    tc__line(p);
    tc__put(p->out, "tc_calls_%s_%s(v%u, ", name, tc__suffix(n->dtype), n->id);
    if (n->n_in > 1) tc__put(p->out, "w%u, ", n->id);
    tc__put(p->out, "%d);\n", p->copies);
    tc__line(p);
    for (int i = 0; i < p->copies; i++)
        tc__put(p->out, "%st%u_%d = v%u[%d]", i ? ", " : "", n->id, i, n->id, i);
    tc__put(p->out, ";\n");
    tc__block_close(p);
}

// `const tc_vf t5 = tc_call_exp_f32(t4);`, or what stands for it where a loop keeps copies. The operands of
// all copies are there before the first is made.
static void tc__print_called(tc__printer *p, const tc__node *n, int copy,
                             const char *name) {
    if (tc__copies_of(p, n) > 1) {
        if (!copy) tc__print_calls(p, n, name);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_call_%s_%s(", name, tc__suffix(n->dtype));
    for (uint32_t i = 0; i < n->n_in; i++) {
        if (i) tc__put(p->out, ", ");
        tc__put_value(p, n->in[i], copy);
    }
    tc__put(p->out, ");\n");
}

static void tc__print_alu(tc__printer *p, const tc__node *n, int copy) {
    char name[40];
    if (tc__is_called(p, n)) {
        tc__bracketed(tc__ops[n->op].expr + 4, name);
        tc__print_called(p, n, copy, name);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put_expr(p, tc__op_expr(p, n->op), tc__op_class(p, n), n->in, copy);
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
