// Random programs over tensors that share memory: views of views made outside and inside, tensors given twice,
// reads and writes in place of any of them in any order, results that are views of inputs; in regions,
// in functions and eagerly; the same path again, with other sizes and with views that lie otherwise; and a cache
// that grows: a slice is written at another place at each visit, and what was written so far is read. A
// reshape is a view where its elements can have strides, else a copy.
// Values come from plain arrays of doubles with strides and offsets of their own; all ops are exact.
//
//     views [SECONDS] [SEED] [--graphs N] [--only SEED]
#include "tcompile.h"

#define TEST_NO_MAIN
#include "../harness.h"
#include "fuzz/arguments.h"

enum {
    RANK = 4,
    SIZES = 3,       // that a path is taken with: the last ones by a program for all
    BASES = 2,       // memories, for each of them
    WIDE = 128,      // columns: vectors are whole there
    ROOM = 7 * WIDE, // elements of one
    MOST = 3 * ROOM, // of a view, expanded
    OUTER = 7,       // tensors made outside: the bases first
    DEEDS = 10,      // inside
    TENSORS = OUTER + DEEDS,
    STORES = SIZES * BASES + DEEDS,
    VISITS = 9
};

static const int rows_of[SIZES] = {4, 7, 5};

typedef enum kind { VIEW, COMPUTE, WRITE, READ } kind;
typedef enum op {
    NEG,
    ADD,
    SUB,
    LARGER,
    COPY,
    ADD_S,
    SUMS,   // along rows, which an op takes that reads whole buffers
    TIMES,  // rows times a vector, which a product reads
    FILL,   // with a number: what was there is not read
    OWN,    // the same elements in memory of their own
    REPEAT, // a dimension several times over
    OPS
} op; // COPY computed: the largest of rows
typedef enum fate {
    NOTHING,
    KEPT,
    LATE,
    FATES
} fate; // of what a deed makes, after the region
typedef enum moving {
    SLICE,
    SELECT,
    SWAP,
    FLATTEN,
    SPLIT, // of all elements, in two
    CUT,   // of a dimension, in two
    MERGE, // of a dimension and the next
    UNSQUEEZE,
    EXPAND,
    SAME,
    MOVES
} moving;
typedef enum how { EAGER, REGION, FUNCTION } how;

typedef struct deed {
    kind kind;
    op op;
    int a, b; // tensors
    fate fate;
    unsigned word[4];
} deed;

typedef struct program {
    how how;
    int bases, outer, deeds, sizes;
    int wrapped, columns;
    int remade, moving; // views are made again at each visit, and lie otherwise then
    int into;           // a function's results are written to tensors that are there
    int grows;          // the first deeds are those of grow_first
    deed outside[OUTER], deed[DEEDS];
} program;

static uint64_t random_state;
static unsigned word(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33);
}
static int below(int n) { return (int)(word() % (unsigned)n); }

// A decode loop's: a slice of a tensor is written, which was not read before, and then it is read.
static void append_first(program *p) {
    deed *slice = &p->deed[0], *fill = &p->deed[1];
    p->how = below(2) ? FUNCTION : REGION, p->outer = p->bases;
    if (p->deeds < 3) p->deeds = 3;
    slice->kind = VIEW, slice->a = 0, slice->word[0] = SLICE;
    fill->kind = WRITE, fill->op = FILL, fill->a = p->outer;
    for (int i = 2; i < p->deeds; i++) {
        deed *d = &p->deed[i];
        d->a %= p->outer + i, d->b %= p->outer + i;
        if (d->kind == WRITE) d->kind = COMPUTE, d->fate = KEPT;
    }
}

// Another decode loop's: what is written lies at another place each time, and more is read each time.
static void grow_first(program *p) {
    deed *slice = &p->deed[0], *write = &p->deed[1], *seen = &p->deed[2];
    p->how = below(2) ? FUNCTION : REGION, p->grows = 1, p->moving = 0;
    if (p->deeds < 5) p->deeds = 5;
    slice->kind = VIEW, slice->word[0] = SLICE, slice->a = below(p->outer);
    write->kind = below(2) ? WRITE : VIEW; // also: nothing is written before results are
    write->op = FILL, write->word[0] = SAME, write->a = p->outer;
    seen->kind = VIEW, seen->word[0] = SLICE, seen->a = slice->a;
    for (int i = 3; i < p->deeds; i++) {
        deed *d = &p->deed[i];
        if (below(2)) d->a = p->outer + 2 + below(i - 2);
        if (d->kind == WRITE && below(3)) d->kind = VIEW, d->word[0] = FLATTEN + word() % 4;
        if (d->kind == COMPUTE && below(2)) d->op = below(2) ? REPEAT : TIMES;
    }
}

static void random_program(program *p, uint64_t seed) {
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
    memset(p, 0, sizeof *p);
    p->how = below(7) ? below(2) ? FUNCTION : REGION : EAGER;
    p->bases = 1 + !below(3), p->outer = p->bases + below(OUTER + 1 - p->bases);
    p->deeds = 1 + below(DEEDS), p->sizes = 1 + below(SIZES);
    p->columns = below(3) ? 6 : WIDE;
    p->wrapped = below(2), p->moving = !below(3), p->remade = p->moving || below(2);
    for (int i = p->bases; i < p->outer; i++) {
        deed *d = &p->outside[i];
        d->a = below(i);
        for (int k = 0; k < 4; k++) d->word[k] = word();
    }
    for (int i = 0; i < p->deeds; i++) {
        deed *d = &p->deed[i];
        d->kind = (kind)below(3), d->op = (op)below(OPS), d->fate = (fate)below(FATES);
        if (!below(16)) d->kind = READ;
        d->a = below(p->outer + i), d->b = below(p->outer + i);
        for (int k = 0; k < 4; k++) d->word[k] = word();
    }
    if (!below(4))
        append_first(p);
    else if (!below(3))
        grow_first(p);
    p->into = p->how == FUNCTION && !below(3);
}

// ---- where elements are ----

typedef struct place {
    int store, rank, dims[RANK], strides[RANK], offset;
} place;

// A view: what is asked of the library, and where its elements are.
typedef struct move {
    moving how;
    int dim;
    int64_t start, end, step;
    int expands; // SAME: by an expand to the same sizes
    int copies;  // a reshape that no strides can show
    place to;
} move;

static int count(const place *p) {
    int n = 1;
    for (int i = 0; i < p->rank; i++) n *= p->dims[i];
    return n;
}

static int repeats(const place *p) {
    for (int i = 0; i < p->rank; i++)
        if (p->dims[i] > 1 && !p->strides[i]) return 1;
    return 0;
}

static void drop_dim(place *p, int dim) {
    for (int i = dim; i + 1 < p->rank; i++)
        p->dims[i] = p->dims[i + 1], p->strides[i] = p->strides[i + 1];
    p->rank--;
}

static void add_dim(place *p, int dim, int size, int stride) {
    for (int i = p->rank++; i > dim; i--)
        p->dims[i] = p->dims[i - 1], p->strides[i] = p->strides[i - 1];
    p->dims[dim] = size, p->strides[dim] = stride;
}

static void row_major(place *p) {
    int n = 1;
    for (int i = p->rank - 1; i >= 0; n *= p->dims[i--]) p->strides[i] = n;
}

static int element(const place *p, int i) { // the i-th in row-major order
    int at = p->offset;
    for (int d = p->rank - 1; d >= 0; i /= p->dims[d--])
        at += i % p->dims[d] * p->strides[d];
    return at;
}

// Strides of `to` that show the elements of `from` in the same order; 0 = there are none.
static int find_strides(const place *from, place *to) {
    for (int d = to->rank - 1, n = 1; d >= 0; n *= to->dims[d--])
        to->strides[d] = to->dims[d] > 1 ? element(from, n) - from->offset : 0;
    for (int i = 0, n = count(from); i < n; i++)
        if (element(to, i) != element(from, i)) return 0;
    return 1;
}

// The second word tells where it begins, and nothing else.
static void slice(move *m, const unsigned *w) {
    int size = m->to.dims[m->dim], step = w[1] / 8 % 3 ? 1 : 1 + (int)(w[1] / 64 % 2);
    int n = 1 + (int)(w[3] % (unsigned)((size - 1) / step + 1)), reach = (n - 1) * step + 1;
    int start = (int)(w[2] % (unsigned)(size - reach + 1));
    m->step = step, m->start = start, m->end = start + reach;
    if (w[1] / 128 % 4 == 0) { // backwards
        m->start = start + reach - 1, m->step = -step;
        m->end = start ? start - 1 : TC_END;
    }
    m->to.offset += (int)m->start * m->to.strides[m->dim];
    m->to.dims[m->dim] = n, m->to.strides[m->dim] *= (int)m->step;
}

static int divisor(int n, unsigned w) {
    int d = 2 + (int)(w % 3);
    return n % d ? n % 2 ? 1 : 2 : d;
}

static move random_move(const place *from, const unsigned *w) {
    move m;
    int cut;
    m.to = *from, m.how = (moving)(w[0] % MOVES), m.start = m.end = m.step = 0,
    m.copies = 0;
    m.expands = from->rank && w[3] % 2;
    m.dim = from->rank ? (int)(w[1] % 8 % (unsigned)from->rank) : 0;
    if (!from->rank && m.how != UNSQUEEZE && m.how != EXPAND) m.how = SAME;
    if (m.how == EXPAND && count(from) > ROOM) m.how = SLICE;
    if (m.how == MERGE && from->rank < 2) m.how = FLATTEN;
    if (m.how == MERGE) m.dim %= from->rank - 1;
    if (m.how == CUT && from->rank == RANK) m.how = SPLIT;
    if (from->rank == RANK && (m.how == UNSQUEEZE || m.how == EXPAND)) m.how = SELECT;
    switch (m.how) {
    case SLICE: slice(&m, w); break;
    case SELECT:
        m.start = w[2] % (unsigned)from->dims[m.dim];
        m.to.offset += (int)m.start * from->strides[m.dim];
        drop_dim(&m.to, m.dim);
        break;
    case SWAP:
        m.start = w[2] % (unsigned)from->rank;
        m.to.dims[m.dim] = from->dims[m.start], m.to.dims[m.start] = from->dims[m.dim];
        m.to.strides[m.dim] = from->strides[m.start];
        m.to.strides[m.start] = from->strides[m.dim];
        break;
    case FLATTEN: m.to.rank = 1, m.to.dims[0] = count(from); break;
    case SPLIT:
        m.to.rank = 2, m.to.dims[0] = divisor(count(from), w[2]);
        m.to.dims[1] = count(from) / m.to.dims[0];
        break;
    case CUT:
        cut = divisor(from->dims[m.dim], w[2]);
        m.to.dims[m.dim] /= cut, add_dim(&m.to, m.dim, cut, 0);
        break;
    case MERGE:
        m.to.dims[m.dim + 1] *= m.to.dims[m.dim];
        drop_dim(&m.to, m.dim);
        break;
    case UNSQUEEZE: add_dim(&m.to, m.dim, 1, 0); break;
    case EXPAND: add_dim(&m.to, 0, 1 + (int)(w[2] % 3), 0); break;
    case SAME:
    case MOVES: break;
    }
    if (m.how >= FLATTEN && m.how <= MERGE) m.copies = !find_strides(from, &m.to);
    return m;
}

// One of views outside, which are views for all that is done with them.
static move random_view(const place *from, const unsigned *w) {
    unsigned slices[4];
    move m = random_move(from, w);
    if (!m.copies) return m;
    memcpy(slices, w, sizeof slices), slices[0] = SLICE;
    return random_move(from, slices);
}

// What grow_first's slices are of a tensor there: row n of a dimension, or the rows up to it.
static move growing(const place *from, const unsigned *w, int n, int all) {
    move m;
    memset(&m, 0, sizeof m);
    m.to = *from, m.how = SAME;
    if (!from->rank) return m;
    m.how = SLICE, m.dim = (int)(w[1] % (unsigned)from->rank);
    n %= from->dims[m.dim];
    m.start = all ? 0 : n, m.end = n + 1, m.step = 1;
    m.to.offset += (int)m.start * m.to.strides[m.dim];
    m.to.dims[m.dim] = (int)(m.end - m.start);
    return m;
}

static tc_dims sizes(const place *p) {
    tc_dims d;
    memset(&d, 0, sizeof d);
    d.rank = p->rank;
    for (int i = 0; i < p->rank; i++) d.size[i] = p->dims[i];
    return d;
}

static tc_tensor do_move(tc_tensor t, const move *m) {
    tc_dims order;
    switch (m->how) {
    case SLICE: return tc_slice(t, m->dim, m->start, m->end, m->step);
    case SELECT: return tc_select(t, m->dim, m->start);
    case SWAP:
        memset(&order, 0, sizeof order);
        order.rank = m->to.rank;
        for (int i = 0; i < order.rank; i++) order.size[i] = i;
        order.size[m->dim] = m->start, order.size[m->start] = m->dim;
        return tc_permute(t, order);
    case FLATTEN:
    case SPLIT:
    case CUT:
    case MERGE: return tc_reshape(t, sizes(&m->to));
    case UNSQUEEZE: return tc_unsqueeze(t, m->dim);
    case EXPAND: return tc_expand(t, sizes(&m->to));
    case SAME: return m->expands ? tc_expand(t, sizes(&m->to)) : t;
    case MOVES: break;
    }
    return t;
}

// ---- values ----

static double store[STORES][MOST]; // what is expanded may go to a new tensor

static void values(const place *p, double *out) {
    for (int i = 0, n = count(p); i < n; i++) out[i] = store[p->store][element(p, i)];
}

static double clamped(double x) { return x < -999 ? -999 : x > 999 ? 999 : x; }

// Whether b is as large as a, or one element.
static int fits(const place *a, const place *b) {
    if (count(b) == 1 && b->rank <= a->rank) return 1;
    return a->rank == b->rank &&
           !memcmp(a->dims, b->dims, (size_t)a->rank * sizeof *a->dims);
}

static double apply(op o, double a, double b, unsigned w) {
    switch (o) {
    case NEG: return -a;
    case ADD: return clamped(a + b);
    case SUB: return clamped(a - b);
    case LARGER: return a > b ? a : b;
    case COPY: return b;
    case OWN:
    case REPEAT: return a;
    case FILL: return (int)(w % 19) - 9;
    default: return clamped(a + (int)(w % 19) - 9);
    }
}

// What moves nothing is a copy nevertheless.
static tc_tensor copied(tc_tensor a, unsigned w) {
    tc_dims none = TC_SCALAR, ones = TC_DIMS(1, 1, 1, 1), nothing = TC_DIMS(0, 0, 0, 0);
    int rank = tc_rank(a);
    ones.rank = nothing.rank = rank;
    switch (rank ? w % 8 : w % 3) {
    case 0: return tc_clone(a);
    case 1: return tc_flip(a, none);
    case 2: return tc_tile(a, ones);
    case 3: return tc_roll(a, w / 8 % 3 * tc_dim(a, 0), 0);
    case 4: return tc_pad(a, nothing, nothing, 7);
    case 5: return tc_repeat_interleave(a, 1, (int)(w / 8) % rank);
    case 6: return tc_cat(&a, 1, (int)(w / 8) % rank);
    default: return rank < 2 ? tc_clone(a) : tc_max_pool2d(a, 1, 1, 0);
    }
}

static tc_tensor record(op o, tc_tensor a, tc_tensor b, unsigned w) {
    switch (o) {
    case NEG: return tc_neg(a);
    case ADD: return tc_clamp(tc_add(a, b), -999, 999);
    case SUB: return tc_clamp(tc_sub(a, b), -999, 999);
    case LARGER: return tc_maximum(a, b);
    case SUMS: return tc_clamp(tc_cumsum(a, -1), -999, 999);
    case OWN: return copied(a, w);
    default: return tc_clamp(tc_add_s(a, (int)(w % 19) - 9), -999, 999);
    }
}

static tc_tensor assign(op o, tc_tensor a, tc_tensor b, unsigned w) {
    switch (o) {
    case FILL: return tc_fill_(a, (int)(w % 19) - 9);
    case NEG: return tc_neg_(a);
    case COPY: return tc_copy_(a, b);
    case LARGER: return tc_maximum_(a, b);
    case ADD:
    case SUMS:
    case OWN:
    case SUB: return tc_copy_(a, record(o, a, b, w));
    default: return tc_clamp_(tc_add_s_(a, (int)(w % 19) - 9), -999, 999);
    }
}

// ---- what a visit does ----

typedef struct run {
    tc_ctx *tc;
    tc_fn *fn;
    program p;
    uint64_t seed;
    int failed, visit;
    float memory[SIZES][BASES][ROOM];
    tc_tensor outer[SIZES][OUTER];
    int made[SIZES];
    int into[DEEDS];   // the tensor from outside that has the result then; -1 = a new one
    place at[TENSORS]; // in this visit
    place end[DEEDS];  // of results
    move move[TENSORS];
    tc_tensor t[TENSORS];
    double seen[DEEDS][MOST]; // by deed: what READ finds
} run;

static run *now; // of the body

static void fails(run *r, const char *what, int i) {
    if (!r->failed++)
        printf("seed %llu, visit %d: %s %d: %s\n", (unsigned long long)r->seed, r->visit,
               what, i, tc_error_text(r->tc));
    tc_error_clear(r->tc);
}

// REPEAT: of a dimension that the word tells, as blocks or element by element.
static int repeated(const place *a, unsigned w) { return (int)(w / 4 % (unsigned)a->rank); }
static int repeats_blocks(unsigned w) { return w % 2 != 0; }
enum { TIMES_OVER = 2 };

static int is_reduced(const deed *d, const place *a) {
    return d->kind == COMPUTE && (d->op == COPY || d->op == TIMES) && a->rank;
}

static int along_rows(op o) { return o == SUMS || o == TIMES; }

// What the deed does to these operands: an op that fits, or nothing.
static deed fitted(const run *r, int i) {
    deed d = r->p.deed[i];
    const place *a = &r->at[d.a], *b = &r->at[d.b];
    if (d.kind == COMPUTE && d.op == COPY && !a->rank) d.op = NEG;
    if (d.op == REPEAT && (d.kind == WRITE || !a->rank || TIMES_OVER * count(a) > ROOM))
        d.op = NEG;
    if (d.op == TIMES && d.kind == WRITE) d.op = SUMS;
    if (along_rows(d.op) && !a->rank) d.op = NEG;
    if (d.op == FILL && d.kind == COMPUTE) d.op = NEG;
    if (d.op == COPY && d.kind == WRITE && !fits(a, b)) d.op = FILL;
    if (d.op != NEG && d.op != ADD_S && d.op != FILL && d.op != OWN && d.op != REPEAT &&
        !along_rows(d.op) && !is_reduced(&d, a) && !fits(a, b))
        d.op = ADD_S;
    if (d.kind == COMPUTE && count(a) > ROOM) d.kind = VIEW;
    if (d.kind == WRITE && repeats(a)) d.kind = VIEW;
    return d;
}

static deed outside(const run *r, int i) {
    deed d = r->p.outside[i];
    if (r->p.moving) d.word[2] += (unsigned)(r->visit / 2 % 3);
    return d;
}

// Where a result goes: a tensor from outside that it broadcasts to, or a new one.
static int destination(const run *r, int i) {
    const place *a = &r->at[r->p.outer + i];
    const unsigned *w = r->p.deed[i].word;
    for (int k = 0; k < r->p.outer && w[0] % 4; k++) {
        int t = (int)((w[1] + (unsigned)k) % (unsigned)r->p.outer);
        const place *b = &r->at[t];
        if (b->rank == a->rank && fits(b, a) && !repeats(b)) return t;
    }
    return -1;
}

// Where everything is in this visit, which has sizes z.
static void plan(run *r, int z) {
    const program *p = &r->p;
    for (int i = 0; i < p->outer; i++) {
        place *a = &r->at[i];
        if (i < p->bases) {
            a->store = z * BASES + i, a->rank = 2, a->offset = 0;
            a->dims[0] = rows_of[z], a->dims[1] = p->columns, row_major(a);
            continue;
        }
        deed d = outside(r, i);
        r->move[i] = random_view(&r->at[d.a], d.word), *a = r->move[i].to;
    }
    for (int i = 0; i < p->deeds; i++) {
        deed d = fitted(r, i);
        place *a = &r->at[p->outer + i];
        *a = r->at[d.a];
        if (d.kind == VIEW) {
            move *m = &r->move[p->outer + i];
            *m = p->grows && (i == 0 || i == 2)
                     ? growing(&r->at[d.a], p->deed[0].word, r->visit, i == 2)
                     : random_move(&r->at[d.a], d.word);
            *a = m->to;
        }
        if (d.kind == COMPUTE || (d.kind == VIEW && r->move[p->outer + i].copies)) {
            a->store = SIZES * BASES + i, a->offset = 0;
            if (is_reduced(&d, a)) a->rank--;
            if (d.kind == COMPUTE && d.op == REPEAT)
                a->dims[repeated(a, d.word[3])] *= TIMES_OVER;
            row_major(a);
        }
        r->into[i] = destination(r, i);
    }
}

// x[row][i] = x[row][0] + ... + x[row][i]
static void sum_rows(double *x, int n, int columns) {
    for (int k = 0; k < n; k++) x[k] += k % columns ? x[k - 1] : 0;
    for (int k = 0; k < n; k++) x[k] = clamped(x[k]);
}

// x[row] = 2 * (x[row][0] + ...); their number.
static int times_rows(double *x, int n, int columns) {
    for (int i = 0; i < n / columns; i++) {
        double sum = 0;
        for (int k = 0; k < columns; k++) sum += 2 * x[i * columns + k];
        x[i] = clamped(sum);
    }
    return n / columns;
}

// Element k of what REPEAT makes is that one of x.
static int repeated_from(const place *to, int k, unsigned w) {
    int dim = repeated(to, w), inner = 1;
    for (int i = dim + 1; i < to->rank; i++) inner *= to->dims[i];
    int size = to->dims[dim], at = k / inner % size, before = k / inner / size;
    at = repeats_blocks(w) ? at % (size / TIMES_OVER) : at / TIMES_OVER;
    return (before * (size / TIMES_OVER) + at) * inner + k % inner;
}

// Whether deed i makes a tensor, which is a result then.
static int makes(const run *r, int i) {
    deed d = fitted(r, i);
    return d.kind == COMPUTE || d.kind == VIEW;
}

static int is_kept(const run *r, int i) { return makes(r, i) && r->p.deed[i].fate == KEPT; }

// All results go to where they are wanted, as they were before the first of them is written.
static void model_into(run *r) {
    static double x[DEEDS][MOST];
    for (int i = 0; i < r->p.deeds; i++)
        if (is_kept(r, i)) values(&r->end[i], x[i]);
    for (int i = 0; i < r->p.deeds; i++) {
        place *to = &r->end[i];
        int one = count(to) == 1;
        if (!is_kept(r, i)) continue;
        if (r->into[i] < 0)
            to->store = SIZES * BASES + i, to->offset = 0, row_major(to);
        else
            *to = r->at[r->into[i]];
        for (int k = 0; k < count(to); k++)
            store[to->store][element(to, k)] = x[i][one ? 0 : k];
    }
}

// The same in doubles.
static void model(run *r) {
    double x[MOST], y[MOST];
    for (int i = 0; i < r->p.deeds; i++) {
        deed d = fitted(r, i);
        const place *a = &r->at[d.a], *b = &r->at[d.b], *to = &r->at[r->p.outer + i];
        int n = count(a), one = count(b) == 1, each = n;
        values(a, x), values(b, y);
        if (d.kind == READ) memcpy(r->seen[i], x, sizeof x);
        if (d.kind == READ || (d.kind == VIEW && !r->move[r->p.outer + i].copies)) continue;
        if (d.kind == WRITE) to = a;
        if (d.kind == VIEW) d.op = OWN;
        if (d.op == TIMES) {
            each = times_rows(x, n, a->dims[a->rank - 1]);
        } else if (d.op == SUMS) {
            sum_rows(x, n, a->dims[a->rank - 1]);
        } else if (is_reduced(&d, a)) {
            int m = a->dims[a->rank - 1];
            for (each = 0; each < n / m; each++) {
                double most = x[each * m];
                for (int k = 1; k < m; k++)
                    most = x[each * m + k] > most ? x[each * m + k] : most;
                x[each] = most;
            }
        } else {
            for (int k = 0; k < n; k++) x[k] = apply(d.op, x[k], y[one ? 0 : k], d.word[3]);
        }
        if (d.op == REPEAT) each = count(to);
        for (int k = 0; k < each; k++)
            store[to->store][element(to, k)] =
                x[d.op == REPEAT ? repeated_from(to, k, d.word[3]) : k];
    }
    for (int i = 0; i < r->p.deeds; i++) r->end[i] = r->at[r->p.outer + i];
    if (r->p.into) model_into(r);
}

static void compare(run *r, tc_tensor t, const double *want, int n, const char *what,
                    int i) {
    float x[MOST];
    if (tc_read(t, x, sizeof *x * (size_t)n) || tc_error(r->tc)) return fails(r, what, i);
    for (int k = 0; k < n; k++)
        if ((double)x[k] != want[k]) return fails(r, what, i);
}

static tc_tensor times(run *r, tc_tensor a, const place *at, unsigned w) {
    tc_dims columns = TC_DIMS(at->dims[at->rank - 1], 1), rows = sizes(at);
    rows.rank--;
    tc_dims flat = TC_DIMS(count(at) / (int)columns.size[0], columns.size[0]);
    if (w % 2) a = tc_reshape(a, flat);
    tc_tensor t = tc_matmul(a, tc_full(r->tc, columns, 2, TC_F32));
    return tc_clamp(tc_reshape(t, rows), -999, 999);
}

static tc_tensor repeat(tc_tensor a, const place *at, unsigned w) {
    tc_dims over = TC_DIMS(1, 1, 1, 1);
    int dim = repeated(at, w);
    if (!repeats_blocks(w)) return tc_repeat_interleave(a, TIMES_OVER, dim);
    over.rank = at->rank, over.size[dim] = TIMES_OVER;
    return tc_tile(a, over);
}

static void deeds(run *r) {
    const program *p = &r->p;
    for (int i = 0; i < p->deeds; i++) {
        deed d = fitted(r, i);
        tc_tensor a = r->t[d.a], b = r->t[d.b], *t = &r->t[p->outer + i];
        *t = a;
        if (d.kind == VIEW) *t = do_move(a, &r->move[p->outer + i]);
        if (d.kind == WRITE) (void)assign(d.op, a, b, d.word[3]);
        if (d.kind == READ) compare(r, a, r->seen[i], count(&r->at[d.a]), "read inside", i);
        if (d.kind != COMPUTE) continue;
        *t = d.op == TIMES                 ? times(r, a, &r->at[d.a], d.word[3])
             : d.op == REPEAT              ? repeat(a, &r->at[d.a], d.word[3])
             : is_reduced(&d, &r->at[d.a]) ? tc_amax(a, -1)
                                           : record(d.op, a, b, d.word[3]);
    }
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    run *r = now;
    (void)tc, (void)user;
    for (int i = 0; i < r->p.outer; i++) r->t[i] = in[i];
    deeds(r);
    for (int i = 0, n = 0; i < r->p.deeds; i++)
        if (is_kept(r, i)) out[n++] = r->t[r->p.outer + i];
}

static tc_tensor target(run *r, int i) {
    if (r->into[i] >= 0) return r->t[r->into[i]];
    return tc_full(r->tc, sizes(&r->at[r->p.outer + i]), 55, TC_F32);
}

static void perform(run *r) {
    const program *p = &r->p;
    tc_tensor out[DEEDS];
    int n = 0;
    if (p->how == EAGER) {
        deeds(r);
    } else if (p->how == REGION) {
        tc_trace_begin_at(r->tc, "views", NULL, "views.c", 1);
        deeds(r);
        for (int i = 0; i < p->deeds; i++)
            if (is_kept(r, i)) tc_keep(r->t[p->outer + i]);
        if (tc_trace_end(r->tc)) fails(r, "the region", 0);
    } else {
        now = r;
        for (int i = 0; i < p->deeds; i++)
            if (is_kept(r, i)) out[n++] = p->into ? target(r, i) : tc_null();
        if (p->into ? tc_call_into(r->fn, r->t, p->outer, out, n)
                    : tc_call(r->fn, r->t, p->outer, out, n))
            fails(r, "the call", 0);
        for (int i = n = 0; i < p->deeds; i++)
            if (is_kept(r, i)) r->t[p->outer + i] = out[n++];
    }
    if (tc_error(r->tc)) fails(r, "an error", 0);
}

// ---- what it leaves ----

static void check_memory(run *r, const char *what) {
    double x[ROOM];
    for (int z = 0; z < SIZES; z++)
        for (int i = 0; r->made[z] && i < r->p.bases; i++) {
            for (int k = 0; k < rows_of[z] * r->p.columns; k++)
                x[k] = store[z * BASES + i][k];
            compare(r, r->outer[z][i], x, rows_of[z] * r->p.columns, what, i);
        }
}

// A result that shows memory from outside is written, and that memory has it.
static void check_kept(run *r, int i) {
    double x[MOST];
    const place *a = &r->end[i];
    tc_tensor t = r->t[r->p.outer + i];
    values(a, x);
    compare(r, t, x, count(a), "result", i);
    if (r->failed || repeats(a) || a->store >= SIZES * BASES) return;
    tc_add_s_(t, 1);
    for (int k = 0; k < count(a); k++) store[a->store][element(a, k)] = x[k] + 1;
    check_memory(r, "memory written by a result");
}

static void check_late(run *r, int i) {
    double x[MOST];
    const place *a = &r->at[r->p.outer + i];
    float late[MOST];
    if (r->p.how == FUNCTION || fitted(r, i).kind != COMPUTE || r->p.deed[i].fate != LATE)
        return;
    values(a, x);
    tc_status s = tc_read(r->t[r->p.outer + i], late, sizeof *late * (size_t)count(a));
    if (s == TC_E_TOUCHED) return tc_error_clear(r->tc);
    compare(r, r->t[r->p.outer + i], x, count(a), "late result", i);
}

static void make_outer(run *r, int z) {
    for (int i = r->p.bases; i < r->p.outer; i++)
        r->outer[z][i] = do_move(r->outer[z][r->p.outside[i].a], &r->move[i]);
}

static void make(run *r, int z) {
    for (int i = 0; i < r->p.bases; i++) {
        tc_dims d = TC_DIMS(rows_of[z], r->p.columns);
        for (int k = 0; k < ROOM; k++)
            r->memory[z][i][k] =
                (float)(store[z * BASES + i][k] = (k * 7 + i + z) % 19 - 9);
        r->outer[z][i] = r->p.wrapped ? tc_wrap(r->tc, r->memory[z][i], d, TC_F32)
                                      : tc_from_data(r->tc, r->memory[z][i], d, TC_F32);
    }
    if (!r->p.remade) make_outer(r, z);
    r->made[z] = 1;
}

// A kept result is freed, once, unless it is a tensor from outside.
static void drop(run *r, int i) {
    tc_tensor *t = r->t;
    for (int k = 0; k < i; k++)
        if (t[k].id == t[i].id && (k < r->p.outer || is_kept(r, k - r->p.outer))) return;
    tc_free(t[i]);
}

static void visit(run *r) {
    const program *p = &r->p;
    int z = r->visit / 3 % p->sizes;
    plan(r, z);
    if (!r->made[z]) make(r, z);
    tc_scope_begin(r->tc);
    if (p->remade) make_outer(r, z);
    for (int i = 0; i < p->outer; i++) r->t[i] = r->outer[z][i];
    model(r);
    perform(r);
    if (!r->failed) check_memory(r, "memory");
    for (int i = 0; i < p->deeds && !r->failed; i++)
        if (is_kept(r, i)) check_kept(r, i);
    for (int i = 0; i < p->deeds && !r->failed; i++) check_late(r, i);
    for (int i = 0; i < p->deeds && p->how == REGION; i++)
        if (is_kept(r, i)) drop(r, p->outer + i);
    tc_scope_end(r->tc);
}

static void show(const run *r) {
    static const char *const kinds[] = {"view", "compute", "write", "read"};
    static const char *const ops[] = {"neg",  "add",   "sub",  "larger", "copy",  "add_s",
                                      "sums", "times", "fill", "own",    "repeat"};
    static const char *const moves[] = {"slice", "select", "swap",      "flatten", "split",
                                        "cut",   "merge",  "unsqueeze", "expand",  "same"};
    for (int i = 0; i < r->p.outer + r->p.deeds; i++) {
        const place *a = &r->at[i];
        deed d = i < r->p.outer ? r->p.outside[i] : fitted(r, i - r->p.outer);
        printf("    t%d = %s %s t%d t%d", i, i < r->p.bases ? "base" : kinds[d.kind],
               d.kind == VIEW ? moves[r->move[i].how] : ops[d.op], d.a, d.b);
        printf(" fate %d: store %d offset %d", (int)d.fate, a->store, a->offset);
        for (int k = 0; k < a->rank; k++) printf(" %d:%d", a->dims[k], a->strides[k]);
        printf("\n");
    }
}

static int run_program(uint64_t seed, const char *backend) {
    static run r;
    tc_config config = tc_config_default();
    memset(&r, 0, sizeof r), memset(store, 0, sizeof store);
    random_program(&r.p, seed);
    config.backend = backend, config.threads = 1, config.no_disk_cache = 1;
    r.tc = tc_open(&config), r.seed = seed;
    // What grows is told by the number of the visit, which a body may depend on by its guard alone.
    r.fn = tc_compile(r.tc, body, &r.visit, r.p.grows ? sizeof r.visit : 0, NULL);
    for (; r.visit < VISITS && !r.failed; r.visit++) visit(&r);
    if (r.failed)
        printf("    with %s, %s\n", backend,
               r.p.how == EAGER    ? "eager"
               : r.p.how == REGION ? "a region"
                                   : "a function");
    if (r.failed) show(&r);
    tc_close(r.tc);
    return r.failed != 0;
}

int main(int count, char **args) {
    arguments a = read_arguments(count, args);
    uint64_t graphs = a.graphs < UINT64_MAX / 8 ? 8 * a.graphs : UINT64_MAX, done = 0,
             failures = 0;
    for (double end = test_clock() + a.seconds; !a.one && done < graphs && failures < 5;
         done++) {
        uint64_t s = a.seed * 1000003 + done;
        if (test_clock() > end) break;
        failures += (uint64_t)(run_program(s, "aot_eager") ||
                               (s % 100 == 0 && run_program(s, "cpu")));
    }
    if (a.one)
        done++, failures +=
                (uint64_t)(run_program(a.one, "aot_eager") | run_program(a.one, "cpu"));
    printf("%llu passed, %llu failed\n", (unsigned long long)(done - failures),
           (unsigned long long)failures);
    return failures != 0;
}
