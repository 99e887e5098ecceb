// The block interpreter: runs a LOOP list in blocks of up to TC__BLOCK elements of the
// vector axis, one prebuilt loop per node and block. It is the eager backend, tier 0 while
// a compiler works, and the fallback without one; the bits are those of the compiled
// kernel.
//
// exec/interp_plan.c turns a list into a program: a linear array of instructions, each
// with the function that does it; FOR and END move f->pc. Registers live in the worker's
// scratch, which also holds accumulators and ROW buffers; running allocates nothing. A
// load, store or index moves along the vector axis in runs: inside a run its index is e +
// j * stride, so a block is a few copies. Where there are no runs, lanes are done one by
// one.

// What a compiled kernel gets too. arg: doubles for floats, int64 for the rest.
typedef struct tc__kargs {
    void *const *buf;     // by position in g->buffer
    const int64_t *size;  // by symbol
    const double *arg;    // by slot
    void *const *scratch; // by worker, aligned to TC__STORAGE_ALIGN
    int64_t *flag;        // [3]: site + 1, value, limit of a failed CHECK
    uint64_t seed, draw;  // of RANDOM
} tc__kargs;

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
    TC__EXPR_MIN
} tc__expr_op;

typedef struct tc__expr_step {
    tc__expr_op op;
    int64_t a; // CONST: value; SYM: slot; VAR: axis; VAL: node
} tc__expr_step;

// An index expression: affine in the variables, or a stack program if count is not 0.
typedef struct tc__expr {
    uint32_t first, count;
    int64_t base, coef[TC__AXES];
} tc__expr;

// e(v + j) = e(v) + j * stride inside a run.
typedef struct tc__walk {
    tc__expr at, stride;
} tc__walk;

typedef struct tc__limit {
    tc__walk e; // 0 <= e < limit
    tc__expr limit;
} tc__limit;

// The index and predicates of a LOAD, STORE, INDEX or VALID.
typedef struct tc__path {
    int64_t run; // elements of a run, a multiple of which starts one; 0: none, lane by lane
    tc__walk index;
    uint32_t first_limit, limits;
    uint32_t buffer;
    int plain; // one run, stride 1, no predicates
} tc__path;

typedef struct tc__accum {
    uint8_t dtype; // of the values
    uint8_t arg;   // ARGMAX, ARGMIN: indices too
    uint8_t less;  // ARGMIN
    uint8_t used;
    tc__word identity;
    tc__block_fn step;
    tc__fold_fn fold;
    int64_t lane;     // elements between lanes: 1, or the block for vectors of rows
    int64_t width;    // bytes of an element
    int64_t set;      // elements of one set of lanes
    size_t at, index; // bytes into scratch: two sets of values, two of indices
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
    uint32_t dst, in[3]; // registers, by node id
    uint32_t item;       // path, accumulator, loop or limit expression
    uint8_t dtype;       // of the value, or of memory
    uint8_t uniform;     // dst is one vector
    uint8_t alias;       // a load may leave its value where it is
    int64_t k[2];
    tc__word fill;
};

// A run of instructions over blocks of one axis.
typedef struct tc__section {
    uint32_t first, end;
    tc__axis axis;
} tc__section;

typedef struct tc__home {
    size_t at; // bytes into scratch
    int64_t mask;
    uint32_t node;
} tc__home;

typedef struct tc__interp {
    tc_ctx *ctx;
    const tc__isa *isa;
    tc__axis vector;
    tc__group_kind kind;
    int64_t block, grain;
    tc__section start, main, left, right; // start: constants, once per run
    uint32_t nodes, buffers;
    TC__VEC(tc__insn) code;
    TC__VEC(tc__expr_step) steps;
    TC__VEC(tc__path) path;
    TC__VEC(tc__limit) limit;
    TC__VEC(tc__loop) loop;
    TC__VEC(tc__accum) acc;
    TC__VEC(uint32_t) acc_of_loop;
    TC__VEC(tc__home) home;
    TC__VEC(tc__expr) expr;      // limits of CHECKs
    TC__VEC(tc__expr) row_numel; // of ROW buffers, by buffer; only where place is ROW
    TC__VEC(tc__kbuf) buffer;    // place, dtype
    tc__expr rows, cols, depth, batch, wide;
    uint32_t tile; // CONTRACTION: register of the product
    uint32_t left_node, right_node;
    uint32_t right_path; // of a right operand used in memory; UINT32_MAX: packed
    tc__expr right_step; //   elements from k to k + 1 there
    uint8_t product;     // its dtype
    size_t reg_at, base_at, cursor_at,
        fixed; // parts of scratch, in bytes; fixed: their end
} tc__interp;

typedef struct tc__cursor {
    int64_t at, end, chunks; // chunks: 0, or the chunk that comes next plus 1
} tc__cursor;

struct tc__frame {
    const tc__interp *p;
    const tc__isa *isa;
    const tc__kargs *a;
    uint8_t *scratch;
    tc__reg *reg;       // by node
    void **base;        // by buffer
    tc__cursor *cursor; // by loop
    int64_t var[TC__AXES];
    int64_t n;     // elements of the current block
    tc__axis axis; // of the current block
    uint32_t pc;
    int64_t lo, hi;         // items
    int64_t col_lo, col_hi; // columns of the worker
    uint8_t *tile_area;     // CONTRACTION
    uint8_t *tile_row;      // where column 0 of the row would be
};

// ---- index expressions

static void tc__expr_apply(tc__expr_op op, int64_t *x, int64_t y) {
    int64_t v = *x;
    switch (op) {
    case TC__EXPR_ADD: *x = v + y; return;
    case TC__EXPR_MUL: *x = v * y; return;
    case TC__EXPR_DIV: *x = tc__ix_floor_div(v, y); return;
    case TC__EXPR_MOD: *x = v - tc__ix_floor_div(v, y) * y; return;
    case TC__EXPR_MIN: *x = v < y ? v : y; return;
    case TC__EXPR_CONST:
    case TC__EXPR_SYM:
    case TC__EXPR_VAR:
    case TC__EXPR_VAL: return;
    }
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
        top--;
        tc__expr_apply(s->op, &stack[top - 1], stack[top]);
    }
    return stack[0];
}

// The value at lane `lane` of the block.
static int64_t tc__expr_at(const tc__frame *f, const tc__expr *e, int64_t lane) {
    if (e->count) return tc__expr_run(f, e, lane);
    return e->base + e->coef[TC__ROW] * f->var[TC__ROW] +
           e->coef[TC__COL] * f->var[TC__COL] + e->coef[TC__DEPTH] * f->var[TC__DEPTH] +
           e->coef[f->axis] * lane;
}

static void tc__expr_leaf_lanes(const tc__frame *f, const tc__expr_step *s, int64_t lane,
                                int64_t n, int64_t *out) {
    if (s->op == TC__EXPR_VAL) {
        const tc__reg *r = &f->reg[s->a];
        const int64_t *v = (const int64_t *)r->at;
        for (int64_t i = 0; i < n; i++) out[i] = v[(lane + i) & r->mask];
        return;
    }
    int64_t v = tc__expr_leaf(f, s, lane);
    int64_t step = s->op == TC__EXPR_VAR && s->a == (int64_t)f->axis;
    for (int64_t i = 0; i < n; i++) out[i] = v + i * step;
}

// x / y, or x % y. Lanes beside each other mostly have one quotient: a lane whose remainder by that of the
// lane before is in range needs no division.
static void tc__expr_divide_lanes(tc__expr_op op, int64_t *x, const int64_t *y, int64_t n) {
    int64_t q = 0, by = 0, whole = 0; // whole = q * by
    for (int64_t i = 0; i < n; i++) {
        int64_t rest = x[i] - whole;
        if (y[i] != by || rest < 0 || rest >= by) {
            by = y[i], q = tc__ix_floor_div(x[i], by), whole = q * by;
            rest = x[i] - whole;
        }
        x[i] = op == TC__EXPR_DIV ? q : rest;
    }
}

static void tc__expr_apply_lanes(tc__expr_op op, int64_t *x, const int64_t *y, int64_t n) {
    if (op == TC__EXPR_ADD) {
        for (int64_t i = 0; i < n; i++) x[i] += y[i];
        return;
    }
    if (op == TC__EXPR_MUL) {
        for (int64_t i = 0; i < n; i++) x[i] *= y[i];
        return;
    }
    if (op == TC__EXPR_DIV || op == TC__EXPR_MOD) {
        tc__expr_divide_lanes(op, x, y, n);
        return;
    }
    for (int64_t i = 0; i < n; i++) tc__expr_apply(op, &x[i], y[i]);
}

// The values at n <= TC__EXPR_LANES lanes from `lane`.
static void tc__expr_lanes(const tc__frame *f, const tc__expr *e, int64_t lane, int64_t n,
                           int64_t *out) {
    int64_t stack[TC__EXPR_DEPTH][TC__EXPR_LANES];
    const tc__expr_step *s = f->p->steps.at + e->first, *end = s + e->count;
    int top = 0;
    if (!e->count) {
        int64_t v = tc__expr_at(f, e, lane), step = e->coef[f->axis];
        for (int64_t i = 0; i < n; i++) out[i] = v + i * step;
        return;
    }
    for (; s < end; s++) {
        if (s->op <= TC__EXPR_VAL) {
            tc__expr_leaf_lanes(f, s, lane, n, stack[top++]);
            continue;
        }
        top--;
        tc__expr_apply_lanes(s->op, stack[top - 1], stack[top], n);
    }
    memcpy(out, stack[0], (size_t)n * sizeof *out);
}

// ---- runs and predicates

// Elements from lane j of the block to the end of its run, at most to the end of the block.
static int64_t tc__path_left(const tc__frame *f, const tc__path *p, int64_t j) {
    int64_t left = f->n - j, run;
    if (p->run == INT64_MAX) return left;
    run = p->run - (f->var[f->axis] + j) % p->run;
    return run < left ? run : left;
}

// Cuts [*lo, *hi), lanes counted from the start of a run, to where 0 <= at + i * step <
// limit.
static void tc__limit_cut(int64_t at, int64_t step, int64_t limit, int64_t *lo,
                          int64_t *hi) {
    int64_t first = 0, end = INT64_MAX;
    if (step == 0 && (at < 0 || at >= limit)) end = 0;
    if (step > 0) {
        first = tc__ix_floor_div(-at + step - 1, step);
        end = tc__ix_floor_div(limit - at + step - 1, step);
    }
    if (step < 0) {
        first = tc__ix_floor_div(at - limit, -step) + 1;
        end = tc__ix_floor_div(at, -step) + 1;
    }
    if (first > *lo) *lo = first;
    if (end < *hi) *hi = end;
    if (*hi < *lo) *hi = *lo;
}

// The lanes [*lo, *hi) of the n from lane j where all predicates of a path hold.
static void tc__path_valid(const tc__frame *f, const tc__path *p, int64_t j, int64_t n,
                           int64_t *lo, int64_t *hi) {
    const tc__limit *l = f->p->limit.at + p->first_limit;
    *lo = 0, *hi = n;
    for (uint32_t i = 0; i < p->limits; i++, l++) {
        tc__limit_cut(tc__expr_at(f, &l->e.at, j), tc__expr_at(f, &l->e.stride, j),
                      tc__expr_at(f, &l->limit, j), lo, hi);
    }
    if (*hi > n) *hi = n;
    if (*lo > *hi) *lo = *hi;
}

// keep[i]: do all predicates hold at lane j + i?
static void tc__path_keep(const tc__frame *f, const tc__path *p, int64_t j, int64_t n,
                          uint8_t *keep) {
    const tc__limit *l = f->p->limit.at + p->first_limit;
    int64_t e[TC__EXPR_LANES], limit[TC__EXPR_LANES];
    memset(keep, 1, (size_t)n);
    for (uint32_t k = 0; k < p->limits; k++, l++) {
        tc__expr_lanes(f, &l->e.at, j, n, e);
        tc__expr_lanes(f, &l->limit, j, n, limit);
        for (int64_t i = 0; i < n; i++) keep[i] &= (uint8_t)(e[i] >= 0 && e[i] < limit[i]);
    }
}

static int64_t tc__lesser(int64_t a, int64_t b) { return a < b ? a : b; }

static int64_t tc__lanes_after(const tc__frame *f, int64_t j) {
    return tc__lesser(f->n - j, TC__EXPR_LANES);
}

// Where the instruction writes, reset each time since loads may point elsewhere.
static void *tc__dst(tc__frame *f, const tc__insn *i) { return f->reg[i->dst].at; }

// Lane 0 of a uniform register to its other lanes.
static void tc__spread(void *at, int dtype) {
    tc__word v;
    v.i64 = 0;
    memcpy(&v, at, (size_t)tc__reg_width(dtype));

    tc__words_fill(at, tc__reg_width(dtype), 0, TC__BLOCK_VECTOR, v);
}

// ---- loads

// Buffers of one row hold a whole block at each element when the vector runs along rows.
static int64_t tc__path_scale(const tc__frame *f, const tc__path *p) {
    int rows = f->p->vector == TC__ROW && f->p->buffer.at[p->buffer].place == TC__BUF_ROW;
    return rows ? f->p->block : 1;
}

static void tc__step_load_uniform(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t lo, hi;
    void *d = tc__dst(f, i);
    tc__path_valid(f, p, 0, 1, &lo, &hi);
    tc__words_fill(d, tc__reg_width(i->dtype), 0, 1, i->fill);
    if (hi > lo)
        tc__take(f->isa, i->dtype, d, 0, f->base[p->buffer],
                 tc__expr_at(f, &p->index.at, 0), 1, 1);
    tc__spread(d, i->dtype);
}

// One run without predicates: whole vectors of a wide type are used where they are.
static void tc__step_load_plain(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at = tc__expr_at(f, &p->index.at, 0) * i->k[1];
    char *home = (char *)f->scratch + i->k[0], *s = (char *)f->base[p->buffer];
    if (i->alias && !(f->n & (TC__BLOCK_VECTOR - 1))) {
        f->reg[i->dst].at = s + at * tc__dtype(i->dtype)->bytes;
        return;
    }
    f->reg[i->dst].at = home;
    tc__take(f->isa, i->dtype, home, 0, s, at, 1, f->n);
}

static void tc__step_load_runs(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t j = 0, n, lo, hi, at, step, width = tc__reg_width(i->dtype);
    void *d = tc__dst(f, i);
    for (; j < f->n; j += n) {
        n = tc__path_left(f, p, j);
        tc__path_valid(f, p, j, n, &lo, &hi);
        tc__words_fill(d, width, j, lo, i->fill);
        tc__words_fill(d, width, j + hi, n - hi, i->fill);
        if (hi == lo) continue;
        at = tc__expr_at(f, &p->index.at, j), step = tc__expr_at(f, &p->index.stride, j);
        tc__take(f->isa, i->dtype, d, j + lo, f->base[p->buffer], at + lo * step, step,
                 hi - lo);
    }
}

static void tc__step_load_lanes(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at[TC__EXPR_LANES], n, scale = tc__path_scale(f, p);
    uint8_t keep[TC__EXPR_LANES];
    void *d = tc__dst(f, i);
    for (int64_t j = 0; j < f->n; j += n) {
        n = tc__lanes_after(f, j);
        tc__expr_lanes(f, &p->index.at, j, n, at);
        tc__path_keep(f, p, j, n, keep);
        if (p->limits) tc__words_fill(d, tc__reg_width(i->dtype), j, n, i->fill);
        for (int64_t l = 0; scale > 1 && l < n; l++) at[l] = at[l] * scale + j + l;
        tc__gather(f->isa, i->dtype, d, j, f->base[p->buffer], at, keep, n);
    }
}

// ---- stores

static void tc__step_store_one(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    tc__give(f->isa, i->dtype, f->base[p->buffer], tc__expr_at(f, &p->index.at, 0), 1,
             &f->reg[i->in[0]], 0, 1);
}

static void tc__step_store_plain(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    tc__give(f->isa, i->dtype, f->base[p->buffer],
             tc__expr_at(f, &p->index.at, 0) * i->k[1], 1, &f->reg[i->in[0]], 0, f->n);
}

static void tc__step_store_runs(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t j = 0, n;
    for (; j < f->n; j += n) {
        n = tc__path_left(f, p, j);
        tc__give(f->isa, i->dtype, f->base[p->buffer], tc__expr_at(f, &p->index.at, j),
                 tc__expr_at(f, &p->index.stride, j), &f->reg[i->in[0]], j, n);
    }
}

static void tc__step_store_lanes(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at[TC__EXPR_LANES], n, scale = tc__path_scale(f, p);
    for (int64_t j = 0; j < f->n; j += n) {
        n = tc__lanes_after(f, j);
        tc__expr_lanes(f, &p->index.at, j, n, at);
        for (int64_t l = 0; l < n; l++) {
            int64_t to = scale > 1 ? at[l] * scale + j + l : at[l];
            tc__give(f->isa, i->dtype, f->base[p->buffer], to, 1, &f->reg[i->in[0]], j + l,
                     1);
        }
    }
}

// ---- values

static int64_t tc__lanes_of(const tc__frame *f, const tc__insn *i) {
    return i->uniform ? f->isa->lanes : f->n;
}

static void tc__step_block(tc__frame *f, const tc__insn *i) {
    i->block(tc__dst(f, i), &f->reg[i->in[0]], &f->reg[i->in[1]], &f->reg[i->in[2]],
             tc__lanes_of(f, i));
}

// The loop whose result goes to memory by the STORE that follows (item, k[1] as there): whole
// vectors are computed in place. k[0]: where the register is otherwise.
static void tc__step_block_store(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at = tc__expr_at(f, &p->index.at, 0) * i->k[1];
    f->reg[i->dst].at = f->scratch + i->k[0];
    if (!(f->n & (TC__BLOCK_VECTOR - 1)))
        f->reg[i->dst].at = (char *)f->base[p->buffer] + at * tc__dtype(i->dtype)->bytes;
    tc__step_block(f, i);
}

static void tc__step_copy(tc__frame *f, const tc__insn *i) {
    const tc__reg *r = &f->reg[i->in[0]];
    int64_t width = tc__reg_width(i->dtype);
    int64_t n = f->n;
    if (i->uniform) n = TC__BLOCK_VECTOR;
    memmove(tc__dst(f, i), r->at, (size_t)(n * width));
}

static void tc__step_random(tc__frame *f, const tc__insn *i) {
    i->random(tc__dst(f, i), &f->reg[i->in[0]], f->a->seed, f->a->draw + (uint64_t)i->k[0],
              tc__lanes_of(f, i));
}

// CONST: k is unused, the value is in fill.
static void tc__step_const(tc__frame *f, const tc__insn *i) {
    tc__words_fill(tc__dst(f, i), tc__reg_width(i->dtype), 0, TC__BLOCK_VECTOR, i->fill);
}

static void tc__step_arg(tc__frame *f, const tc__insn *i) {
    tc__value v;
    memcpy(&v, &f->a->arg[i->k[0]], sizeof v);
    tc__words_fill(tc__dst(f, i), tc__reg_width(i->dtype), 0, TC__BLOCK_VECTOR,
                   tc__word_of(f->isa, i->dtype, v));
}

static void tc__step_index(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t *d = (int64_t *)tc__dst(f, i), n, at, step;
    if (i->uniform) {
        d[0] = tc__expr_at(f, &p->index.at, 0);
        tc__spread(d, TC_I64);
        return;
    }
    for (int64_t j = 0; j < f->n; j += n) {
        n = p->run ? tc__path_left(f, p, j) : tc__lanes_after(f, j);
        if (!p->run) {
            tc__expr_lanes(f, &p->index.at, j, n, d + j);
            continue;
        }
        at = tc__expr_at(f, &p->index.at, j), step = tc__expr_at(f, &p->index.stride, j);
        for (int64_t l = 0; l < n; l++) d[j + l] = at + l * step;
    }
}

static void tc__step_valid(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int32_t *d = (int32_t *)tc__dst(f, i), truth = f->isa->truth;
    int64_t n, lo, hi, end = i->uniform ? 1 : f->n;
    uint8_t keep[TC__EXPR_LANES];
    for (int64_t j = 0; j < end; j += n) {
        n = end == 1 ? 1 : p->run ? tc__path_left(f, p, j) : tc__lanes_after(f, j);
        if (p->run || end == 1) {
            tc__path_valid(f, p, j, n, &lo, &hi);
            for (int64_t l = 0; l < n; l++) d[j + l] = l >= lo && l < hi ? truth : 0;
            continue;
        }
        tc__path_keep(f, p, j, n, keep);
        for (int64_t l = 0; l < n; l++) d[j + l] = keep[l] ? truth : 0;
    }
    if (i->uniform) tc__spread(d, TC_BOOL);
}

static int64_t tc__check_one(tc__frame *f, const tc__insn *i, int64_t v, int64_t limit) {
    int64_t x = v < 0 ? v + limit : v;
    if (TC__LIKELY(x >= 0 && x < limit)) return x;
    f->a->flag[0] = i->k[0] + 1;
    f->a->flag[1] = v;
    f->a->flag[2] = limit;
    return x < 0 || limit < 1 ? 0 : limit - 1;
}

static void tc__step_check(tc__frame *f, const tc__insn *i) {
    const tc__reg *r = &f->reg[i->in[0]];
    const int64_t *v = (const int64_t *)r->at;
    int64_t *d = (int64_t *)tc__dst(f, i), n = i->uniform ? 1 : f->n;
    int64_t limit = tc__expr_at(f, &f->p->expr.at[i->item], 0);
    for (int64_t j = 0; j < n; j++) d[j] = tc__check_one(f, i, v[j & r->mask], limit);
    if (i->uniform) tc__spread(d, TC_I64);
}

// ---- reductions

static uint8_t *tc__acc_set(const tc__frame *f, const tc__accum *a, int second) {
    return f->scratch + a->at + (second ? (size_t)(a->set * a->width) : 0);
}

static int64_t *tc__acc_index(const tc__frame *f, const tc__accum *a, int second) {
    return (int64_t *)(void *)(f->scratch + a->index) + (second ? a->set : 0);
}

static void tc__acc_reset(const tc__frame *f, const tc__accum *a, int second) {
    tc__word never;
    tc__words_fill(tc__acc_set(f, a, second), a->width, 0, a->set, a->identity);
    never.i64 = INT64_MAX;
    if (a->arg) tc__words_fill(tc__acc_index(f, a, second), 8, 0, a->set, never);
}

static void tc__step_acc_new(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    tc__acc_reset(f, a, 0);
}

// Vectors of columns: the lanes are elements.
static void tc__step_acc_cols(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    a->fold(tc__acc_set(f, a, 0), &f->reg[i->in[0]], f->n);
}

static void tc__step_arg_cols(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    tc__arg_fold[tc__dtype(a->dtype)->reg](tc__acc_set(f, a, 0), tc__acc_index(f, a, 0),
                                           &f->reg[i->in[0]], f->var[TC__COL], 1,
                                           TC__FOLD_LANES - 1, a->less, f->n);
}

// Vectors of rows: a lane is a block, the column chooses the lane.
static void tc__step_acc_rows(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t lane = f->var[TC__COL] % TC__FOLD_LANES;
    tc__reg r;
    r.at = tc__acc_set(f, a, 0) + lane * a->lane * a->width, r.mask = -1;
    a->step(r.at, &r, &f->reg[i->in[0]], NULL, f->n);
}

static void tc__step_arg_rows(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t lane = f->var[TC__COL] % TC__FOLD_LANES * a->lane;
    tc__arg_fold[tc__dtype(a->dtype)->reg](tc__acc_set(f, a, 0) + lane * a->width,
                                           tc__acc_index(f, a, 0) + lane, &f->reg[i->in[0]],
                                           f->var[TC__COL], 0, -1, a->less, f->n);
}

// Lanes l and l + half, for every l < half, down to lane 0. n: elements of a lane.
static void tc__acc_join(const tc__frame *f, const tc__accum *a, int second, int64_t n) {
    uint8_t *set = tc__acc_set(f, a, second);
    tc__reg x, y;
    x.mask = y.mask = -1;
    for (int64_t half = TC__FOLD_LANES / 2; half; half /= 2) {
        x.at = set, y.at = set + half * a->lane * a->width;
        if (a->lane == 1) {
            a->step(x.at, &x, &y, NULL, half);
            continue;
        }
        for (int64_t l = 0; l < half; l++) {
            a->step(x.at, &x, &y, NULL, n);
            x.at = (uint8_t *)x.at + a->lane * a->width;
            y.at = (uint8_t *)y.at + a->lane * a->width;
        }
    }
}

static void tc__acc_join_arg(const tc__frame *f, const tc__accum *a, int64_t n) {
    tc__arg_merge_fn merge = tc__arg_merge[tc__dtype(a->dtype)->reg];
    uint8_t *set = tc__acc_set(f, a, 0);
    int64_t *at = tc__acc_index(f, a, 0);
    for (int64_t half = TC__FOLD_LANES / 2; half; half /= 2) {
        for (int64_t l = 0; l < half; l++) {
            int64_t x = l * a->lane, y = (l + half) * a->lane;
            merge(set + x * a->width, at + x, set + y * a->width, at + y, a->less, n);
        }
    }
}

// A chunk is over: its result joins lane chunk % 32 of the second set.
static void tc__acc_end_chunk(tc__frame *f, const tc__accum *a, int64_t chunk) {
    int64_t n = a->lane == 1 ? 1 : f->n, lane = chunk % TC__FOLD_LANES;
    uint8_t sum[TC__BLOCK_VECTOR * 8];
    tc__reg x, y;
    if (a->arg) return; // the order of the elements is all that counts
    tc__acc_join(f, a, 0, n);
    x.mask = y.mask = -1;
    x.at = tc__acc_set(f, a, 1) + lane * a->lane * a->width, y.at = tc__acc_set(f, a, 0);
    a->step(a->lane == 1 ? (void *)sum : x.at, &x, &y, NULL, n);
    if (a->lane == 1) memcpy(x.at, sum, (size_t)a->width);
    tc__acc_reset(f, a, 0);
}

// k[0]: the loop that was reduced, so that its chunks are known.
static void tc__step_combine(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int second = f->cursor[i->k[0]].chunks > 0;
    int64_t n = a->lane == 1 ? 1 : f->n;
    void *d = tc__dst(f, i);
    tc__acc_join(f, a, second, n);
    memcpy(d, tc__acc_set(f, a, second), (size_t)(n * a->width));
    if (a->lane == 1) tc__spread(d, i->dtype);
}

static void tc__step_combine_arg(tc__frame *f, const tc__insn *i) {
    const tc__accum *a = &f->p->acc.at[i->item];
    int64_t n = a->lane == 1 ? 1 : f->n, *at = tc__acc_index(f, a, 0);
    int64_t *d = (int64_t *)tc__dst(f, i);
    tc__acc_join_arg(f, a, n);
    for (int64_t j = 0; j < n; j++) d[j] = at[j] == INT64_MAX ? 0 : at[j];
    if (a->lane == 1) tc__spread(d, TC_I64);
}

// ---- loops

// The block that begins at the cursor; blocks start at multiples of the block size.
static void tc__loop_place(tc__frame *f, const tc__loop *l, const tc__cursor *c) {
    f->var[l->axis] = c->at;
    if (!l->vector) return;
    f->axis = l->axis;
    f->n = tc__lesser(f->p->block - c->at % f->p->block, c->end - c->at);
    if (f->tile_row)
        f->reg[f->p->tile].at = f->tile_row + c->at * tc__reg_width(f->p->product);
}

static const tc__accum *tc__loop_acc(const tc__frame *f, const tc__loop *l, uint32_t k) {
    return &f->p->acc.at[f->p->acc_of_loop.at[l->first_acc + k]];
}

static void tc__loop_start_chunks(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    c->chunks = l->chunk && c->end - c->at > l->chunk;
    for (uint32_t k = 0; c->chunks && k < l->accs; k++) {
        const tc__accum *a = tc__loop_acc(f, l, k);
        if (!a->arg) tc__acc_reset(f, a, 1);
    }
}

static void tc__loop_end_chunk(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    for (uint32_t k = 0; k < l->accs; k++)
        tc__acc_end_chunk(f, tc__loop_acc(f, l, k), c->chunks - 1);
    c->chunks++;
}

// The worker's share of the items, as the range of the loop's variable.
static void tc__loop_share(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    int64_t per = f->p->grain;
    if (l->axis == TC__ROW) per = TC__FOLD_LANES;
    if (!l->vector && !l->once) per = 1;
    c->at = f->lo * per;
    c->end = tc__lesser(f->hi * per, tc__expr_at(f, &l->end, 0));
}

static void tc__loop_range(tc__frame *f, const tc__loop *l, tc__cursor *c) {
    if (l->bind == TC__BIND_WORKER) {
        tc__loop_share(f, l, c);
        return;
    }
    c->at = tc__expr_at(f, &l->begin, 0);
    c->end = tc__expr_at(f, &l->end, 0);
    if (l->axis == TC__COL && l->vector) {
        if (c->at < f->col_lo) c->at = f->col_lo;
        if (c->end > f->col_hi) c->end = f->col_hi;
    }
}

static void tc__step_for(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor *c = &f->cursor[i->item];
    tc__loop_range(f, l, c);
    if (c->at >= c->end) {
        c->chunks = 0;
        f->pc = l->after;
        return;
    }
    tc__loop_start_chunks(f, l, c);
    tc__loop_place(f, l, c);
}

static void tc__step_end(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor *c = &f->cursor[i->item];
    c->at += l->vector ? f->n : 1;
    if (c->chunks && (c->at % l->chunk == 0 || c->at >= c->end))
        tc__loop_end_chunk(f, l, c);
    if (c->at >= c->end) return;
    tc__loop_place(f, l, c);
    f->pc = l->body;
}

// A worker's loop over columns around the loop that steps through them: sets the range
// once.
static void tc__step_share(tc__frame *f, const tc__insn *i) {
    const tc__loop *l = &f->p->loop.at[i->item];
    tc__cursor c;
    tc__loop_share(f, l, &c);
    f->col_lo = c.at, f->col_hi = c.end;
}

static void tc__step_nothing(tc__frame *f, const tc__insn *i) { (void)f, (void)i; }

static void tc__section_run(tc__frame *f, const tc__section *s) {
    const tc__insn *code = f->p->code.at;
    f->pc = s->first;
    while (f->pc < s->end) {
        const tc__insn *i = &code[f->pc++];
        i->step(f, i);
    }
}

// ---- a run

// Bytes of the ROW buffers' area; places them where base is given.
static size_t tc__interp_rows(const tc__interp *p, const tc__frame *f, uint8_t *at,
                              void **base) {
    size_t used = 0;
    int64_t lanes = p->vector == TC__ROW ? p->block : 1;
    for (uint32_t b = 0; b < p->buffers; b++) {
        const tc__kbuf *k = &p->buffer.at[b];
        if (k->place != TC__BUF_ROW) continue;
        if (base) base[b] = at + used;
        size_t n = (size_t)tc__expr_at(f, &p->row_numel.at[b], 0) * (size_t)lanes;
        used += (n + TC__BLOCK_VECTOR) * tc__dtype(k->dtype)->bytes + TC__STORAGE_ALIGN;
        used -= used % TC__STORAGE_ALIGN;
    }
    return used;
}

static void tc__frame_open(tc__frame *f, const tc__interp *p, const tc__kargs *a) {
    memset(f, 0, sizeof *f);
    f->p = p, f->a = a, f->isa = p->isa;
    f->axis = p->vector;
    f->col_hi = INT64_MAX;
}

static void tc__frame_place(tc__frame *f, int worker) {
    const tc__interp *p = f->p;
    f->scratch = (uint8_t *)f->a->scratch[worker];
    f->reg = (tc__reg *)(void *)(f->scratch + p->reg_at);
    f->base = (void **)(void *)(f->scratch + p->base_at);
    f->cursor = (tc__cursor *)(void *)(f->scratch + p->cursor_at);
    for (size_t i = 0; i < p->home.count; i++) {
        tc__reg *r = &f->reg[p->home.at[i].node];
        r->at = f->scratch + p->home.at[i].at, r->mask = p->home.at[i].mask;
    }
    for (uint32_t b = 0; b < p->buffers; b++) f->base[b] = f->a->buf[b];
    f->tile_area =
        f->scratch + p->fixed + tc__interp_rows(p, f, f->scratch + p->fixed, f->base);
}
