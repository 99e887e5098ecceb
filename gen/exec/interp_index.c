// What a program of the interpreter consists of, and its index expressions. An expression is affine in the
// variables, and the rest is a stack program. Along the vector axis an index moves in runs, so what a
// block needs is evaluated where its runs begin, for up to TC__EXPR_LANES of them together; where there are no
// runs, for as many lanes. Stencils differ in the affine part alone: what a program gave last is kept.

// What a compiled kernel gets too. arg: doubles for floats, int64 for the rest.
typedef struct tc__kargs {
    void *const *buf;     // by position in g->buffer
    const int64_t *size;  // by symbol
    const double *arg;    // by slot
    void *const *scratch; // by worker, aligned to TC__STORAGE_ALIGN
    int64_t *flag;        // [3]: site + 1, value, limit of a failed CHECK
    uint64_t seed, draw;  // of RANDOM
    uint64_t turn;        // of the launch: no other one of the context has it
    int64_t
        *packed; // by worker TC__PACKED: a turn, and which panels its scratch has in that
    void *sums;  // of the launch: down the columns, by work item (down_host.c)
} tc__kargs;

enum { TC__PACKED = 8 };

enum {
    TC__EXPR_DEPTH = 16,  // stack of an index program
    TC__EXPR_LANES = 64,  // lanes done at a time where a load has no runs
    TC__FOLD_CHUNK = 8192 // elements that a reduction combines before it goes on
};

typedef enum tc__expr_op {
    TC__EXPR_CONST,
    TC__EXPR_SYM,
    TC__EXPR_VAR,
    TC__EXPR_VAL,
    TC__EXPR_ADD,
    TC__EXPR_MUL,
    TC__EXPR_DIV,
    TC__EXPR_MOD,
    TC__EXPR_MIN,
    TC__EXPR_ADD_K, // of the top and `a`
    TC__EXPR_MUL_K,
    TC__EXPR_DIV_K, // a > 0
    TC__EXPR_MOD_K
} tc__expr_op;

typedef struct tc__expr_step {
    tc__expr_op op;
    int64_t a; // CONST, ..._K: value; SYM: slot; VAR: axis; VAL: node
} tc__expr_step;

// An index expression: affine in the variables, and a stack program to be added if count is not 0.
// Equal programs stand once.
typedef struct tc__expr {
    uint32_t first, count,
        kept;      // by number of its program; UINT32_MAX: not remembered
    uint32_t same; // it is `base` everywhere
    int64_t base, coef[TC__AXES];
} tc__expr;

typedef int64_t tc__expr_row[TC__EXPR_LANES]; // values by lane

// What a program gave last, and where.
typedef struct tc__kept {
    int64_t n, lane, step, var[TC__AXES]; // n: 0 = nothing
    tc__expr_row value;
    tc__axis axis;
} tc__kept;

// e(v + j) = e(v) + j * stride inside a run, whose start moves by `over` from run to run of a stretch.
typedef struct tc__walk {
    tc__expr at, stride, over;
} tc__walk;

// What a predicate is from run to run of its path.
typedef enum tc__limit_kind {
    TC__LIMIT_MOVES, // anything
    TC__LIMIT_ALIKE, // it cuts all of them alike: columns of a stencil
    TC__LIMIT_STILL  // it holds for all lanes of a run or for none: rows of a stencil
} tc__limit_kind;

typedef struct tc__limit {
    tc__walk e; // 0 <= e < limit
    tc__expr limit;
    tc__limit_kind kind;
} tc__limit;

// The index and predicates of a LOAD, STORE, INDEX or VALID.
typedef struct tc__path {
    int64_t run; // elements of a run, a multiple of which starts one; 0: none, lane by lane
    int64_t stretch; // runs of a stretch, every so many starts one; 0: run by run
    tc__walk index;
    uint32_t first_limit, limits;
    uint32_t buffer;
    int64_t scale; // of LOAD and STORE: elements of memory for one of the index
    int64_t comb;  // lanes from one to the next of a comb, 0: no combs
    uint32_t
        teeth; //   the paths of the combs that begin at lane 0, 1, ... stand from here on
    int whole; // the index moves by 1 everywhere, whatever the predicates do
    int plain; // the same, and there are no predicates
} tc__path;

typedef enum tc__pick_kind {
    TC__PICK_WHERE, // `yes` where the predicates of its path hold, `no` elsewhere
    TC__PICK_LOAD,  // elements of memory; fill where the predicates do not hold
    TC__PICK_VALUE  // what is in the register of a node
} tc__pick_kind;

// A choice of a tree (exec/interp_choose.c).
typedef struct tc__picked {
    tc__pick_kind kind;
    uint32_t path, yes, no, node;
    int dtype;
    tc__word fill;
} tc__picked;

typedef struct tc__accum {
    uint8_t dtype; // of the values
    uint8_t arg;   // ARGMAX, ARGMIN: indices too
    uint8_t less;  // ARGMIN
    uint8_t used;
    uint8_t down;   // of each column, in memory of the work item: down_host.c
    int64_t before; //   bytes of an element of those before it
    tc__word identity;
    tc__block_fn step;
    tc__fold_fn fold;
    tc__fold_mul_fn fold_mul; // of products that have no register
    int64_t lane;             // elements between lanes: 1, or the block for vectors of rows
    int64_t width;            // bytes of an element
    int64_t set;              // elements of one set of lanes
    size_t at, index;         // bytes into scratch: two sets of values, two of indices
} tc__accum;

typedef struct tc__loop {
    tc__axis axis;
    tc__bind bind;
    int vector; // steps in blocks
    int once;   // only sets the worker's columns for the vector loop inside
    int64_t chunk;
    tc__expr begin, end;
    uint32_t body, after;     // instructions
    uint32_t first_acc, accs; // in acc_of_loop
} tc__loop;

typedef struct tc__frame tc__frame;
typedef struct tc__insn tc__insn;
typedef void (*tc__step_fn)(tc__frame *f, const tc__insn *i);

struct tc__insn {
    tc__step_fn step;
    tc__block_fn block;
    tc__random_fn random;
    tc__narrow_fn narrow;
    uint32_t dst, in[TC__FMA2_OPERANDS]; // registers, by node id
    uint32_t item;                       // path, accumulator, loop or limit expression
    uint8_t dtype;                       // of the value, or of memory
    uint8_t uniform;                     // dst is one vector
    uint8_t alias;                       // a load may leave its value where it is
    uint32_t direct; // 1 + path of the STORE whose memory gets the value at once; 0: none
    int64_t home;    // bytes into scratch, where it is otherwise
    int64_t k;       // of the step: a slot, a draw, a site, a loop
    tc__word fill;
};

// A run of instructions over blocks of one axis.
typedef struct tc__section {
    uint32_t first, end;
    tc__axis axis;
} tc__section;

// A part of the list (kernel/part.c).
typedef struct tc__interp_part {
    uint32_t begin, end; // nodes
    tc__section main, left, right;
    tc__expr cols, wide;
    int product; // it is a contraction, which has the rest
    tc__expr depth;
    uint8_t dtype; // of the product
    uint32_t tile; // its register
    uint32_t left_node, right_node;
    uint32_t right_path; // of a right operand used in memory; UINT32_MAX: packed
    tc__expr right_step; //   elements from k to k + 1 there
} tc__interp_part;

typedef struct tc__home {
    size_t at; // bytes into scratch
    int64_t mask;
    uint32_t node;
} tc__home;

enum { TC__TILE_MAX_ROWS = 64 }; // of a block of a contraction

typedef struct tc__interp {
    tc_ctx *ctx;
    const tc__isa *isa;
    tc__axis vector;
    tc__group_kind kind;
    int64_t block, grain;
    int64_t
        flat; // columns of a row, where many stand behind one another in a block; else 0
    // Of a copy that turns its data: rows `every` apart lie side by side in what is read, `length` of them.
    int64_t turn_every, turn_length,
        turn_to;       // turn_to: elements from row to row of the result
    tc__section start; // constants, once per run
    TC__VEC(tc__interp_part) part;
    int blocks; // an item is a block of rows, through which parts go one by one
    uint32_t nodes, buffers;
    TC__VEC(tc__insn) code;
    TC__VEC(tc__expr_step) steps;
    TC__VEC(tc__path) path;
    TC__VEC(tc__limit) limit;
    TC__VEC(tc__picked) choice;
    TC__VEC(tc__loop) loop;
    TC__VEC(tc__accum) acc;
    TC__VEC(uint32_t) acc_of_loop;
    TC__VEC(tc__home) home;
    TC__VEC(tc__expr) expr;      // limits of CHECKs
    TC__VEC(tc__expr) row_numel; // of ROW and MADE buffers, by buffer
    TC__VEC(tc__kbuf) buffer;    // place, dtype
    tc__expr rows, batch;
    int down; // sums down the columns: items of rows, and elements of an item's sums
    tc__expr down_items, down_stride;
    TC__VEC(tc__expr) kept; // programs whose values are remembered
    size_t deepest;         // rows of the stack that programs take
    // Parts of scratch, in bytes; fixed: their end.
    size_t reg_at, base_at, cursor_at, kept_at, stack_at, square_at, fixed;
} tc__interp;

typedef struct tc__cursor {
    int64_t at, end, chunks; // chunks: 0, or the chunk that comes next plus 1
} tc__cursor;

struct tc__frame {
    const tc__interp *p;
    const tc__interp_part *part; // at hand
    const tc__isa *isa;
    const tc__kargs *a;
    uint8_t *scratch;
    tc__reg *reg;        // by node
    void **base;         // by buffer
    tc__cursor *cursor;  // by loop
    tc__kept *kept;      // by program
    tc__expr_row *stack; // of programs
    int64_t var[TC__AXES];
    int64_t n;     // elements of the current block
    tc__axis axis; // of the current block
    uint32_t pc;
    int64_t down_items, down_stride;
    int64_t lo, hi;         // items
    int64_t col_lo, col_hi; // columns of the worker
    uint8_t *tile_area;     // CONTRACTION
    uint8_t *tile_row;      // where column 0 of the row would be
};

// ---- index expressions

static int64_t tc__lesser(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t tc__expr_apply(tc__expr_op op, int64_t x, int64_t y) {
    switch (op) {
    case TC__EXPR_ADD:
    case TC__EXPR_ADD_K: return x + y;
    case TC__EXPR_MUL:
    case TC__EXPR_MUL_K: return x * y;
    case TC__EXPR_DIV:
    case TC__EXPR_DIV_K: return tc__ix_floor_div(x, y);
    case TC__EXPR_MOD:
    case TC__EXPR_MOD_K: return x - tc__ix_floor_div(x, y) * y;
    case TC__EXPR_MIN: return x < y ? x : y;
    case TC__EXPR_CONST:
    case TC__EXPR_SYM:
    case TC__EXPR_VAR:
    case TC__EXPR_VAL: break;
    }
    return x;
}

static int64_t tc__expr_leaf(const tc__frame *f, const tc__expr_step *s, int64_t lane) {
    if (s->op == TC__EXPR_CONST) return s->a;
    if (s->op == TC__EXPR_SYM) return f->a->size[s->a];
    if (s->op == TC__EXPR_VAR) return f->var[s->a] + (s->a == (int64_t)f->axis ? lane : 0);
    const tc__reg *r = &f->reg[s->a];
    return ((const int64_t *)r->at)[lane & r->mask];
}

static int64_t tc__expr_run(const tc__frame *f, const tc__expr *e, int64_t lane) {
    int64_t stack[TC__EXPR_DEPTH];
    const tc__expr_step *s = f->p->steps.at + e->first, *end = s + e->count;
    int top = 0;
    for (; s < end; s++) {
        if (s->op <= TC__EXPR_VAL) {
            stack[top++] = tc__expr_leaf(f, s, lane);
            continue;
        }
        if (s->op >= TC__EXPR_ADD_K) {
            stack[top - 1] = tc__expr_apply(s->op, stack[top - 1], s->a);
            continue;
        }
        top--;
        stack[top - 1] = tc__expr_apply(s->op, stack[top - 1], stack[top]);
    }
    return stack[0];
}

static int64_t tc__expr_affine(const tc__frame *f, const tc__expr *e, int64_t lane) {
    return e->base + e->coef[TC__ROW] * f->var[TC__ROW] +
           e->coef[TC__COL] * f->var[TC__COL] + e->coef[TC__DEPTH] * f->var[TC__DEPTH] +
           e->coef[f->axis] * lane;
}

// Whether the program that `k` remembers would give the same again at n lanes.
static int tc__kept_holds(const tc__frame *f, const tc__kept *k, int64_t lane, int64_t step,
                          int64_t n) {
    int same = k->n == n && k->lane == lane && k->step == step && k->axis == f->axis;
    for (int a = 0; a < TC__AXES; a++) same &= k->var[a] == f->var[a];
    return same;
}

static void tc__kept_set(const tc__frame *f, tc__kept *k, int64_t lane, int64_t step,
                         int64_t n) {
    memcpy(k->var, f->var, sizeof k->var);
    k->n = n, k->lane = lane, k->step = step, k->axis = f->axis;
}

static int64_t tc__expr_kept(const tc__frame *f, const tc__expr *e, int64_t lane) {
    if (e->kept == UINT32_MAX || !f->kept) return tc__expr_run(f, e, lane);
    tc__kept *k = &f->kept[e->kept];
    if (!tc__kept_holds(f, k, lane, 0, 1)) {
        k->value[0] = tc__expr_run(f, e, lane);
        tc__kept_set(f, k, lane, 0, 1);
    }
    return k->value[0];
}

// The value at lane `lane` of the block.
static int64_t tc__expr_at(const tc__frame *f, const tc__expr *e, int64_t lane) {
    if (e->same) return e->base;
    int64_t v = tc__expr_affine(f, e, lane);
    return e->count ? v + tc__expr_kept(f, e, lane) : v;
}

static void tc__expr_leaf_lanes(const tc__frame *f, const tc__expr_step *s, int64_t lane,
                                int64_t step, int64_t n, int64_t *out) {
    if (s->op == TC__EXPR_VAL) {
        const tc__reg *r = &f->reg[s->a];
        const int64_t *v = (const int64_t *)r->at;
        for (int64_t i = 0; i < n; i++) out[i] = v[(lane + i * step) & r->mask];
        return;
    }
    int64_t v = tc__expr_leaf(f, s, lane);
    if (s->op != TC__EXPR_VAR || s->a != (int64_t)f->axis) step = 0;
    for (int64_t i = 0; i < n; i++, v += step) out[i] = v;
}

// x / y, or x % y. Lanes beside each other mostly have one quotient, or the next one: a lane whose
// remainder by that of the lane before is in range needs no division.
static void tc__expr_divide_lanes(int quotient, int64_t *x, int64_t by, int64_t n) {
    int64_t q = 0, whole = 0; // whole = q * by
    if (!(by & (by - 1))) {   // a power of two; right shifts keep the sign
        while (INT64_C(1) << q < by) q++;
        for (int64_t i = 0; i < n; i++) x[i] = quotient ? x[i] >> q : x[i] & (by - 1);
        return;
    }
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = x[i] - whole;
        if (rest >= by) rest -= by, whole += by, q++; // the next one
        if (rest < 0 || rest >= by) {
            q = tc__ix_floor_div(x[i], by), whole = q * by;
            rest = x[i] - whole;
        }
        x[i] = quotient ? q : rest;
    }
}

static void tc__expr_apply_lanes(tc__expr_op op, int64_t *x, const int64_t *y, int64_t n) {
    if (op == TC__EXPR_ADD)
        for (int64_t i = 0; i < n; i++) x[i] += y[i];
    else if (op == TC__EXPR_MUL)
        for (int64_t i = 0; i < n; i++) x[i] *= y[i];
    else
        for (int64_t i = 0; i < n; i++) x[i] = tc__expr_apply(op, x[i], y[i]);
}

static void tc__expr_apply_k(tc__expr_op op, int64_t *x, int64_t k, int64_t n) {
    if (op == TC__EXPR_ADD_K)
        for (int64_t i = 0; i < n; i++) x[i] += k;
    else if (op == TC__EXPR_MUL_K)
        for (int64_t i = 0; i < n; i++) x[i] *= k;
    else
        tc__expr_divide_lanes(op == TC__EXPR_DIV_K, x, k, n);
}

// The stack program of an expression at n lanes. The result is in the first row.
static void tc__expr_run_lanes(const tc__frame *f, const tc__expr *e, int64_t lane,
                               int64_t step, int64_t n) {
    tc__expr_row *stack = f->stack;
    const tc__expr_step *s = f->p->steps.at + e->first, *end = s + e->count;
    int top = 0;
    for (; s < end; s++) {
        if (s->op <= TC__EXPR_VAL) {
            tc__expr_leaf_lanes(f, s, lane, step, n, stack[top++]);
            continue;
        }
        if (s->op >= TC__EXPR_ADD_K) {
            tc__expr_apply_k(s->op, stack[top - 1], s->a, n);
            continue;
        }
        top--;
        tc__expr_apply_lanes(s->op, stack[top - 1], stack[top], n);
    }
}

// The same, remembered: loads of a stencil differ in the affine part alone.
static const int64_t *tc__expr_kept_lanes(const tc__frame *f, const tc__expr *e,
                                          int64_t lane, int64_t step, int64_t n) {
    tc__kept *k = &f->kept[e->kept];
    if (e->kept == UINT32_MAX) {
        tc__expr_run_lanes(f, e, lane, step, n);
        return f->stack[0];
    }
    if (tc__kept_holds(f, k, lane, step, n)) return k->value;
    tc__expr_run_lanes(f, e, lane, step, n);
    memcpy(k->value, f->stack[0], (size_t)n * sizeof *k->value);
    tc__kept_set(f, k, lane, step, n);
    return k->value;
}

// The values at n <= TC__EXPR_LANES lanes from `lane`, `step` apart.
static void tc__expr_lanes(const tc__frame *f, const tc__expr *e, int64_t lane,
                           int64_t step, int64_t n, int64_t *out) {
    const int64_t *rest;
    int64_t v = tc__expr_affine(f, e, lane), move = e->coef[f->axis] * step;
    if (!e->count) {
        for (int64_t i = 0; i < n; i++, v += move) out[i] = v;
        return;
    }
    rest = tc__expr_kept_lanes(f, e, lane, step, n);
    for (int64_t i = 0; i < n; i++, v += move) out[i] = rest[i] + v;
}

// ---- runs and predicates

// Cuts [*lo, *hi), lanes counted from the start of a run, to where 0 <= at + i * step <
// limit.
static void tc__limit_cut(int64_t at, int64_t step, int64_t limit, int64_t *lo,
                          int64_t *hi) {
    int64_t first = 0, end = INT64_MAX;
    if (step == 0 && (at < 0 || at >= limit)) end = 0;
    if (step == 1) first = -at, end = limit - at;
    if (step > 1) {
        first = tc__ix_floor_div(-at + step - 1, step);
        end = tc__ix_floor_div(limit - at + step - 1, step);
    }
    if (step < 0) {
        first = tc__ix_floor_div(at - limit, -step) + 1;
        end = tc__ix_floor_div(at, -step) + 1;
    }
    if (end < *hi) *hi = end > *lo ? end : *lo;
    if (first > *lo) *lo = tc__lesser(first, *hi);
}

// Do all predicates of a path hold at lane 0?
static int tc__path_holds(const tc__frame *f, const tc__path *p) {
    const tc__limit *l = f->p->limit.at + p->first_limit;
    for (uint32_t i = 0; i < p->limits; i++, l++) {
        int64_t e = tc__expr_at(f, &l->e.at, 0);
        if (e < 0 || e >= tc__expr_at(f, &l->limit, 0)) return 0;
    }
    return 1;
}

// Lanes of a block that move evenly: `count` runs of `length` lanes, one behind the other.
typedef struct tc__rect {
    int64_t lane, length, count;
    int64_t lo, hi;         // lanes of a run where the predicates hold,
    int64_t first, last;    //   and the runs in which; both are empty where no lane counts
    int64_t at, step, over; // the index of the first lane; to the next lane, the next run
} tc__rect;

// The rectangles of a path in the block, one after the other; runs of no stretch are evaluated many together.
typedef struct tc__runs {
    tc__rect now;
    int64_t end; // the first lane that no rectangle has covered
    int64_t known, next;
    int64_t at[TC__EXPR_LANES], step[TC__EXPR_LANES]; // by known run, as in tc__rect
    int64_t lo[TC__EXPR_LANES], hi[TC__EXPR_LANES];
} tc__runs;

static void tc__runs_open(tc__runs *r) { r->end = r->known = r->next = 0; }

// A predicate holds for all lanes of a run or for none, or it cuts all runs alike.
static void tc__rect_place(const tc__frame *f, const tc__path *p, tc__rect *q) {
    const tc__limit *l = f->p->limit.at + p->first_limit;
    q->lo = q->first = 0, q->hi = q->length, q->last = q->count;
    q->at = tc__expr_at(f, &p->index.at, q->lane);
    q->step = tc__expr_at(f, &p->index.stride, q->lane);
    q->over = tc__expr_at(f, &p->index.over, q->lane);
    for (uint32_t i = 0; i < p->limits; i++, l++) {
        int64_t at = tc__expr_at(f, &l->e.at, q->lane), most = tc__expr_at(f, &l->limit, 0);
        if (l->kind == TC__LIMIT_STILL)
            tc__limit_cut(at, tc__expr_at(f, &l->e.over, q->lane), most, &q->first,
                          &q->last);
        else
            tc__limit_cut(at, tc__expr_at(f, &l->e.stride, q->lane), most, &q->lo, &q->hi);
    }
    if (q->lo == q->hi || q->first == q->last) q->hi = q->lo, q->last = q->first;
}

// The whole runs from lane j on, as many as are evaluated together.
static void tc__runs_learn(const tc__frame *f, const tc__path *p, int64_t j, tc__runs *r) {
    const tc__limit *l = f->p->limit.at + p->first_limit;
    int64_t at[TC__EXPR_LANES], step[TC__EXPR_LANES], run = p->run;
    r->next = 0, r->known = tc__lesser((f->n - j) / run, TC__EXPR_LANES);
    tc__expr_lanes(f, &p->index.at, j, run, r->known, r->at);
    tc__expr_lanes(f, &p->index.stride, j, run, r->known, r->step);
    for (int64_t k = 0; k < r->known; k++) r->lo[k] = 0, r->hi[k] = run;
    for (uint32_t i = 0; i < p->limits; i++, l++) {
        int64_t most = tc__expr_at(f, &l->limit, 0);
        tc__expr_lanes(f, &l->e.at, j, run, r->known, at);
        tc__expr_lanes(f, &l->e.stride, j, run, r->known, step);
        for (int64_t k = 0; k < r->known; k++)
            tc__limit_cut(at[k], step[k], most, &r->lo[k], &r->hi[k]);
    }
}

static void tc__runs_known(const tc__frame *f, const tc__path *p, tc__runs *r) {
    tc__rect *q = &r->now;
    if (r->next == r->known) tc__runs_learn(f, p, q->lane, r);
    int64_t k = r->next++;
    q->length = p->run, q->first = q->over = 0, q->last = 1;
    q->at = r->at[k], q->step = r->step[k], q->lo = r->lo[k], q->hi = r->hi[k];
}

// The next rectangle of the block in r->now; 0 = it is over.
static int tc__runs_next(const tc__frame *f, const tc__path *p, tc__runs *r) {
    tc__rect *q = &r->now;
    int64_t left = f->n - r->end, run = p->run, known = 0;
    if (left <= 0) return 0;
    q->lane = r->end, q->length = left, q->count = 1;
    if (run != INT64_MAX) {
        int64_t v = f->var[f->axis] + q->lane, nth = v / run, in = v - nth * run;
        q->length = tc__lesser(left, run - in);
        if (q->length == run && p->stretch)
            q->count = tc__lesser(left / run, p->stretch - nth % p->stretch);
        else if (q->length == run)
            known = left >= 2 * run || r->next < r->known;
    }
    if (known)
        tc__runs_known(f, p, r);
    else
        tc__rect_place(f, p, q);
    r->end = q->lane + q->count * q->length;
    return 1;
}

// keep[i]: do all predicates hold at lane j + i?
static void tc__path_keep(const tc__frame *f, const tc__path *p, int64_t j, int64_t n,
                          uint8_t *keep) {
    const tc__limit *l = f->p->limit.at + p->first_limit;
    int64_t e[TC__EXPR_LANES], limit[TC__EXPR_LANES];
    memset(keep, 1, (size_t)n);
    for (uint32_t k = 0; k < p->limits; k++, l++) {
        tc__expr_lanes(f, &l->e.at, j, 1, n, e);
        if (!l->limit.count && !l->limit.coef[f->axis]) {
            int64_t most = tc__expr_at(f, &l->limit, j);
            for (int64_t i = 0; i < n; i++) keep[i] &= (uint8_t)(e[i] >= 0 && e[i] < most);
            continue;
        }
        tc__expr_lanes(f, &l->limit, j, 1, n, limit);
        for (int64_t i = 0; i < n; i++) keep[i] &= (uint8_t)(e[i] >= 0 && e[i] < limit[i]);
    }
}

static int64_t tc__lanes_after(const tc__frame *f, int64_t j) {
    return tc__lesser(f->n - j, TC__EXPR_LANES);
}
