// One kernel for many tensors of different sizes: an optimiser's step, the same formula for each of a
// list. Input: kernels of a program (LOOP). Output: pieces, and forms. A piece is what a kernel does to
// one tensor; kernels that the scheduler has put together for their equal sizes have several. Its form
// is a kernel of its own, whose columns are the symbol s0: pieces that do the same have one form, and a
// launch of it (exec/dispatch.c) is told the addresses and the size of each of its tensors.
//
// A kernel has pieces if it is pointwise over one row, and reads and writes every tensor at its own
// column or at one place for all columns. Tensors of one element are not told from scalars: they
// have none.
//
// Or it is a reduction of rows in one sweep, as the parts of a norm of all gradients are: it reads
// and writes tensors at their own element, results at their row, scalars at one place. Columns are as
// many as they are, s0 is the rows, and of a single row there is none. A launch is told the rows of
// each tensor, and where its part of the workspace is, in which the blocks that share a row meet. In
// which order a device adds the columns depends on how many rows there are: that is a number of the
// form (tc__dialect.order). So each tensor has the bits that it has without a list. All pieces of such
// a kernel are of one form, else it would be more launches than it was.
//
// Addresses and sizes of all tensors are arguments, up to 32 KB (4 KB before CUDA 12.1:
// then it is a few launches), so nothing is copied before a launch, and a recorded graph
// has them like any other arguments. Only where four tensors or more meet, by what depends
// on what, do kernels become pieces; that is decided when a program is made, and the arena
// may only make it more launches of the same text.

typedef struct tc__piece {
    uint32_t launch; // kernel of the program
    uint32_t form;
    tc__ix count; // what s0 is, elements or rows: an expression of the program's
    size_t work;  // its place in the workspace
    uint32_t *
        buffer; // the kernel's, by buffer of the form, or the slot of a number; of the arena
} tc__piece;

static const uint32_t tc__piece_number = UINT32_C(1) << 31; // a bit of such a slot

// tc__dialect.order.
typedef int64_t (*tc__list_order)(const tc__group *g);

typedef struct tc__lists {
    tc_ctx *ctx;
    tc__list_order order;      // of reductions; NULL = they have no pieces
    tc__arena *arena;          // of the program
    tc__ixpool ix;             // of the forms
    TC__VEC(tc__group *) form; // owned
    TC__VEC(tc__piece) piece;  // in the order of kernels
} tc__lists;

static void tc__lists_open(tc__lists *s, tc_ctx *c, tc__arena *arena,
                           tc__list_order order) {
    memset(s, 0, sizeof *s);
    s->ctx = c, s->arena = arena, s->order = order;
    tc__ix_open(&s->ix, c);
}

static void tc__lists_close(tc__lists *s) {
    if (!s->ctx) return;
    for (size_t i = 0; i < s->form.count; i++) tc__group_free(s->ctx, s->form.at[i]);
    TC__VEC_FREE(s->ctx, s->form);
    TC__VEC_FREE(s->ctx, s->piece);
    tc__ix_close(&s->ix);
}

// What every load of a tensor adds to its index is where the tensor begins for this kernel: an address,
// not a part of the text. So the steps of a loop over slices of one tensor are equal kernels. What is
// written keeps its indices, with which those of loads are compared.
// Not on a device, where alignment is part of the text.
static void tc__group_from_begin(tc__group *k) {
    tc__ixpool *p = k->body.ix;
    for (size_t b = 0; b < k->buffer.count; b++) {
        int64_t least = INT64_MAX;
        if (!tc__is_memory(&k->buffer.at[b]) || k->buffer.at[b].written) continue;
        for (size_t i = 0; i < k->body.node.count; i++) {
            const tc__node *n = k->body.node.at[i];
            if (n->op != TC_OP_LOAD || n->attr[TC__LOAD_BUFFER] != (int64_t)b) continue;
            int64_t part = tc__ix_constant_part(p, n->attr[TC__LOAD_INDEX]);
            if (part < least) least = part;
        }
        if (least <= 0 || least == INT64_MAX) continue;
        k->buffer.at[b].begin = least;
        for (size_t i = 0; i < k->body.node.count; i++) {
            tc__node *n = k->body.node.at[i];
            if (n->op == TC_OP_LOAD && n->attr[TC__LOAD_BUFFER] == (int64_t)b)
                n->attr[TC__LOAD_INDEX] =
                    tc__ix_sub(p, n->attr[TC__LOAD_INDEX], tc__ix_const(least));
        }
    }
}

// ---- the pieces of a kernel ----

// A kernel while it is taken apart. Nodes that have to stay together are a tree of `up`.
typedef struct tc__parter {
    tc__lists *lists;
    const tc__group *g;
    const uint64_t *memory;        // by buffer: equal where the memory is
    int64_t order;                 // of a reduction, in which it adds; 0 = it is pointwise
    tc__ix element, row;           // the places of one, as the kernel's indices have them,
    tc__ix form_element, form_row; //   and as those of the form at hand
    uint32_t begin, end;           // the loop over columns
    uint32_t *up;                  // by node; then
    uint32_t *made;                //   the node of the form and one; 0 = none yet
    uint32_t *node;                //   nodes of the piece, operands first
    uint32_t *shared;              // by node: every piece that uses it gets a copy of it
    uint32_t *fresh, *step;        // by accumulator: its NEW and its ACC,
    uint32_t *sum;                 //   and its number in the form
    uint32_t *first;               // by buffer: the node that uses its memory first
    uint32_t *place;               //   the buffer of the form and one
    uint32_t *buffer;              // by buffer of the form
    uint32_t count, sums;          // in node; accumulators of the form
} tc__parter;

// Where a tensor is accessed.
typedef enum tc__piece_place {
    TC__PIECE_ELSEWHERE,
    TC__PIECE_ELEMENT = 1, // at its own element,
    TC__PIECE_ROW = 2,     //   at the row,
    TC__PIECE_ONE = 4      // at one place for all: a scalar
} tc__piece_place;

static tc__piece_place tc__piece_place_of(const tc__parter *p, const tc__node *n) {
    tc__ix at = tc__index_of(n);
    if (at == p->element) return TC__PIECE_ELEMENT;
    if (p->order && n->level == TC__AT_ROW && at == p->row &&
        (n->op == TC_OP_STORE || !tc__ix_is_const(at)))
        return TC__PIECE_ROW;
    return n->op == TC_OP_LOAD && tc__ix_is_const(at) ? TC__PIECE_ONE : TC__PIECE_ELSEWHERE;
}

static int tc__is_sum(const tc__node *n) {
    return n->op == TC_OP_NEW || n->op == TC_OP_ACC || n->op == TC_OP_COMBINE;
}

static int64_t tc__sum_of(const tc__node *n) {
    return n->attr[n->op == TC_OP_NEW   ? (int)TC__NEW_ACCUMULATOR
                   : n->op == TC_OP_ACC ? (int)TC__ACC_ACCUMULATOR
                                        : (int)TC__COMBINE_ACCUMULATOR];
}

static int tc__node_has_piece(const tc__parter *p, const tc__node *n) {
    int access = n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
    if (n->op == TC_OP_FOR) return !p->order || n->n_attr == TC__FOR_BOXES;
    if (n->op == TC_OP_END || n->op == TC_OP_CONST || n->op == TC_OP_ARG) return 1;
    if (p->order && tc__is_sum(n)) return 1;
    if (n->op == TC_OP_INDEX)
        return !p->order && n->level == TC__AT_COL && tc__index_of(n) == p->element;
    if (!access) return tc__is_alu(n);
    if (n->op == TC_OP_LOAD && n->n_attr != TC__LOAD_PREDICATES) return 0;
    tc__piece_place at = tc__piece_place_of(p, n);
    return at == TC__PIECE_ELEMENT ? n->level == TC__AT_COL : at != TC__PIECE_ELSEWHERE;
}

// The places at which buffer b is accessed.
static int tc__buffer_places(const tc__parter *p, size_t b) {
    int places = 0;
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *n = p->g->body.node.at[i];
        if (tc__accesses(n, (int64_t)b)) places |= (int)tc__piece_place_of(p, n);
    }
    return places;
}

// No scalar lies in memory that is written, or is an element of a tensor of the list, nor is a row.
static int tc__memory_has_pieces(const tc__parter *p) {
    const tc__group *g = p->g;
    for (size_t i = 0; i < g->buffer.count; i++)
        if (!tc__is_memory(&g->buffer.at[i])) return 0;
    for (size_t i = 0; i < g->buffer.count; i++) {
        int places = tc__buffer_places(p, i);
        if (!(places & (TC__PIECE_ONE | TC__PIECE_ROW))) continue;
        for (size_t k = 0; k < g->buffer.count; k++)
            if (p->memory[i] == p->memory[k] && tc__buffer_places(p, k) & ~places) return 0;
        if (places & (places - 1)) return 0;
    }
    return 1;
}

static int tc__kernel_has_pieces(const tc__parter *p) {
    for (size_t i = 0; i < p->g->body.node.count; i++)
        if (!tc__node_has_piece(p, p->g->body.node.at[i])) return 0;
    return tc__memory_has_pieces(p);
}

// Whether kernels of its kind have pieces, and where elements are then.
static int tc__parter_begin(tc__parter *p) {
    const tc__group *g = p->g;
    tc__ixpool *x = g->body.ix;
    tc__ix c = tc__ix_var(x, TC__COL, g->shape.cols), r = tc__ix_const(0);
    int one_row = tc__ix_equals(g->shape.rows, 1), loops = 0;
    int many = !tc__ix_is_const(g->shape.cols) || tc__ix_value(g->shape.cols) > 1;
    if (g->shape.vector != TC__COL || g->shape.prologue || !many) return 0;
    if (!one_row) r = tc__ix_var(x, TC__ROW, g->shape.rows);
    p->row = r, p->element = tc__ix_add(x, c, tc__ix_mul(x, g->shape.cols, r));
    if (g->shape.kind == TC__POINTWISE) return g->shape.phases <= 1 && one_row;
    if (g->shape.kind != TC__REDUCTION || !p->lists->order ||
        !tc__ix_is_const(g->shape.cols) || tc__ix_lo(x, g->shape.rows) < 1)
        return 0;
    for (uint32_t i = 0; i < g->body.node.count; i++) {
        const tc__node *n = g->body.node.at[i];
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_AXIS] == TC__COL) p->begin = i, loops++;
        if (n->op == TC_OP_END && n->attr[TC__END_AXIS] == TC__COL) p->end = i;
    }
    p->order = loops == 1 ? p->lists->order(g) : 0;
    return p->order != 0;
}

// What names no tensor's element, nor is made of what does.
static void tc__pieces_share(tc__parter *p) {
    for (uint32_t id = 0; id < p->g->body.node.count; id++) {
        const tc__node *n = p->g->body.node.at[id];
        int shared = n->level == TC__AT_ROW && tc__is_alu(n);
        for (uint32_t k = 0; k < n->n_in; k++) shared = shared && p->shared[n->in[k]];
        if (n->op == TC_OP_LOAD) shared = tc__piece_place_of(p, n) == TC__PIECE_ONE;
        p->shared[id] = n->op == TC_OP_CONST || n->op == TC_OP_ARG || shared;
        if (!tc__is_sum(n)) continue;
        if (n->op == TC_OP_NEW) p->fresh[tc__sum_of(n)] = id;
        if (n->op == TC_OP_ACC) p->step[tc__sum_of(n)] = id;
    }
}

static uint32_t tc__piece_root(const tc__parter *p, uint32_t id) {
    while (p->up[id] != id) id = p->up[id];
    return id;
}

static void tc__piece_join(tc__parter *p, uint32_t a, uint32_t b) {
    a = tc__piece_root(p, a), b = tc__piece_root(p, b);
    if (a > b)
        p->up[a] = b; // to the earlier one, so that the order of pieces is the kernel's
    if (b > a) p->up[b] = a;
}

// What uses a value stays with it, and so does what uses the same memory.
static void tc__pieces_join(tc__parter *p) {
    const tc__group *g = p->g;
    for (uint32_t id = 0; id < g->body.node.count; id++) p->up[id] = id;
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (n->op == TC_OP_FOR || n->op == TC_OP_END || p->shared[id]) continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (!p->shared[n->in[k]]) tc__piece_join(p, id, n->in[k]);
        if (tc__is_sum(n)) tc__piece_join(p, id, p->fresh[tc__sum_of(n)]);
        if (n->op != TC_OP_LOAD && n->op != TC_OP_STORE) continue;
        size_t b = 0;
        while (p->memory[b] != p->memory[n->attr[TC__ACCESS_BUFFER]]) b++;
        if (p->first[b]) tc__piece_join(p, id, p->first[b] - 1);
        p->first[b] = id + 1;
    }
}

// ---- the form of a piece ----

// What node n needs, one after the other: its operands, then what its accumulator is. UINT32_MAX = nothing more.
static uint32_t tc__piece_need(const tc__parter *p, const tc__node *n, uint32_t k) {
    if (k < n->n_in) return n->in[k];
    if (k == n->n_in && n->op == TC_OP_ACC) return p->fresh[tc__sum_of(n)];
    if (k == n->n_in && n->op == TC_OP_COMBINE) return p->step[tc__sum_of(n)];
    return UINT32_MAX;
}

// Node `id` and what it needs, operands first. Places of `node` that are still free hold those that
// wait for operands.
static void tc__piece_visit(tc__parter *p, uint32_t id) {
    size_t end = p->g->body.node.count, top = end;
    if (p->made[id]) return;
    p->node[--top] = id;
    while (top < end) {
        uint32_t k = 0, need;
        const tc__node *n = p->g->body.node.at[p->node[top]];
        while ((need = tc__piece_need(p, n, k)) != UINT32_MAX && p->made[need]) k++;
        if (need != UINT32_MAX) {
            p->node[--top] = need;
            continue;
        }
        top++;
        p->made[n->id] = 1;
        p->node[p->count++] = n->id;
    }
}

// The rows and columns of a form: one of them is s0. Rows of a tensor whose elements are numbered by int are, too.
static void tc__form_extents(tc__parter *p, tc__group *form) {
    const int64_t narrow = INT32_MAX - (2 << 20);
    tc__ixpool *x = &p->lists->ix, *from = p->g->body.ix;
    tc__ix rows = p->g->shape.rows, cols = p->g->shape.cols;
    form->shape.rows = tc__ix_const(1), form->shape.cols = cols;
    if (!p->order) {
        form->shape.cols = tc__ix_sym(x, 0, 1, INT64_MAX / 8);
    } else if (!tc__ix_equals(rows, 1)) {
        int64_t few = narrow / tc__ix_value(cols);
        int64_t most = INT64_MAX / 8 / tc__ix_value(cols);
        form->shape.rows = tc__ix_sym(x, 0, 1, tc__ix_hi(from, rows) <= few ? few : most);
    }
    tc__ix c = tc__ix_var(x, TC__COL, form->shape.cols);
    p->form_row = tc__ix_equals(form->shape.rows, 1)
                      ? tc__ix_const(0)
                      : tc__ix_var(x, TC__ROW, form->shape.rows);
    p->form_element = tc__ix_add(x, c, tc__ix_mul(x, form->shape.cols, p->form_row));
}

static int tc__form_buffer(tc__parter *p, tc__group *form, const tc__node *n) {
    uint32_t *place = &p->place[n->attr[TC__ACCESS_BUFFER]];
    tc__kbuf b = p->g->buffer.at[n->attr[TC__ACCESS_BUFFER]];
    if (*place) return 1;
    b.place = b.written ? TC__BUF_NODE : TC__BUF_INPUT;
    b.source = (uint32_t)form->buffer.count, b.offset = tc__ix_const(0);
    tc__piece_place at = tc__piece_place_of(p, n);
    b.numel = at == TC__PIECE_ROW ? form->shape.rows
              : at == TC__PIECE_ONE
                  ? tc__ix_const(tc__ix_value(tc__index_of(n)) + 1)
                  : tc__ix_mul(&p->lists->ix, form->shape.rows, form->shape.cols);
    p->buffer[form->buffer.count] = (uint32_t)n->attr[TC__ACCESS_BUFFER];
    *place = b.source + 1;
    return TC__PUSH(p->lists->ctx, form->buffer, b);
}

// A number of the run is loaded from where the device has all of them, as f64, and cast.
static int tc__form_number(tc__parter *p, tc__group *form, const tc__node *n) {
    tc__kbuf b;
    tc__node m;
    int64_t attr[TC__LOAD_PREDICATES];
    memset(&b, 0, sizeof b), memset(&m, 0, sizeof m), memset(attr, 0, sizeof attr);
    b.place = TC__BUF_INPUT, b.dtype = TC_F64, b.source = (uint32_t)form->buffer.count;
    b.numel = tc__ix_const(1), b.offset = tc__ix_const(0);
    p->buffer[b.source] = tc__piece_number | (uint32_t)n->attr[TC__ARG_SLOT];
    if (!TC__PUSH(p->lists->ctx, form->buffer, b)) return 0;
    m.op = TC_OP_LOAD, m.stage = TC__LOOP, m.dtype = TC_F64, m.level = TC__AT_ROW;
    attr[TC__LOAD_BUFFER] = b.source, attr[TC__LOAD_INDEX] = tc__ix_const(0);
    m.attr = attr, m.n_attr = TC__LOAD_PREDICATES;
    const tc__node *made = tc__node_append(&form->body, &m);
    if (made && n->dtype != TC_F64) {
        uint32_t in = made->id;
        m.op = TC_OP_CAST, m.dtype = n->dtype, m.in = &in, m.n_in = 1, m.n_attr = 0;
        made = tc__node_append(&form->body, &m);
    }
    p->made[n->id] = made ? made->id + 1 : 0;
    return made != NULL;
}

// Accumulators are numbered as they come.
static void tc__form_sum(tc__parter *p, const tc__node *n, int64_t *attr) {
    uint32_t *to = &p->sum[tc__sum_of(n)];
    if (n->op == TC_OP_NEW) attr[TC__NEW_ACCUMULATOR] = *to = p->sums++;
    if (n->op == TC_OP_ACC) attr[TC__ACC_ACCUMULATOR] = *to;
    if (n->op == TC_OP_COMBINE) attr[TC__COMBINE_ACCUMULATOR] = *to;
}

// A node of the piece in its form: what depends on the size or on other pieces is left out.
static int tc__form_node(tc__parter *p, tc__group *form, uint32_t id) {
    const tc__node *n = p->g->body.node.at[id];
    int memory = n->op == TC_OP_LOAD || n->op == TC_OP_STORE;
    uint32_t in[4];
    int64_t attr[4];
    tc__node m = *n;
    if (n->n_in > TC__COUNT(in) || n->n_attr > TC__COUNT(attr)) return 0;
    if (n->op == TC_OP_ARG && tc__is_float(n->dtype)) return tc__form_number(p, form, n);
    for (uint32_t k = 0; k < n->n_in; k++) in[k] = p->made[n->in[k]] - 1;
    if (n->n_attr) memcpy(attr, n->attr, n->n_attr * sizeof *attr);
    m.in = in, m.attr = attr;
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG) m.level = TC__AT_ROW;
    if (memory && !tc__form_buffer(p, form, n)) return 0;
    if (memory) attr[TC__ACCESS_BUFFER] = p->place[n->attr[TC__ACCESS_BUFFER]] - 1;
    if (n->op == TC_OP_LOAD) attr[TC__LOAD_FILL] = 0;
    if (n->op == TC_OP_STORE) attr[TC__STORE_KIND] = TC__STORE_CACHED;
    if (memory || n->op == TC_OP_INDEX) {
        tc__piece_place at = tc__piece_place_of(p, n);
        if (at == TC__PIECE_ELEMENT) attr[tc__index_word(n)] = p->form_element;
        if (at == TC__PIECE_ROW) attr[tc__index_word(n)] = p->form_row;
    }
    if (tc__is_sum(n)) tc__form_sum(p, n, attr);
    const tc__node *made = tc__node_append(&form->body, &m);
    p->made[id] = made ? made->id + 1 : 0;
    return made != NULL;
}

static int tc__form_statement(tc__group *form, tc__op op, tc__axis axis) {
    tc__node n;
    int64_t attr[6];
    memset(&n, 0, sizeof n), memset(attr, 0, sizeof attr);
    n.op = (uint16_t)op, n.stage = TC__LOOP, n.dtype = TC_I64, n.attr = attr;
    n.n_attr = op == TC_OP_FOR ? TC__FOR_BOXES : 1;
    attr[TC__FOR_AXIS] = axis;
    attr[TC__FOR_BIND] = TC__BIND_WORKER;
    if (form->shape.order && axis == TC__COL) attr[TC__FOR_BIND] = TC__BIND_VECTOR;
    if (!form->shape.order && axis == TC__ROW) attr[TC__FOR_BIND] = TC__BIND_SERIAL;
    attr[TC__FOR_UNROLL] = 1;
    attr[TC__FOR_BEGIN] = tc__ix_const(0);
    attr[TC__FOR_END] = axis == TC__ROW ? form->shape.rows : form->shape.cols;
    if (op == TC_OP_END) attr[TC__END_AXIS] = axis;
    return tc__node_append(&form->body, &n) != NULL;
}

// What stands before the columns; loads, and what is computed: memory may be written in place, so
// nothing is loaded behind a store. The same behind the columns.
typedef enum tc__form_part {
    TC__FORM_HEAD,
    TC__FORM_LOADS,
    TC__FORM_REST,
    TC__FORM_ROW_LOADS,
    TC__FORM_ROW
} tc__form_part;

static tc__form_part tc__form_part_of(const tc__parter *p, const tc__node *n) {
    int load = n->op == TC_OP_LOAD;
    int row = n->op == TC_OP_CONST || n->op == TC_OP_ARG || n->level == TC__AT_ROW;
    if (row && (!p->order || p->shared[n->id] || n->id < p->begin)) return TC__FORM_HEAD;
    if (p->order && n->id > p->end) return load ? TC__FORM_ROW_LOADS : TC__FORM_ROW;
    return load ? TC__FORM_LOADS : TC__FORM_REST;
}

static int tc__form_fill(tc__parter *p, tc__group *form) {
    int ok = tc__form_statement(form, TC_OP_FOR, TC__ROW);
    for (int part = TC__FORM_HEAD; part <= TC__FORM_ROW; part++) {
        if (part == TC__FORM_LOADS) ok = ok && tc__form_statement(form, TC_OP_FOR, TC__COL);
        if (part == TC__FORM_ROW_LOADS)
            ok = ok && tc__form_statement(form, TC_OP_END, TC__COL);
        for (uint32_t i = 0; ok && i < p->count; i++)
            if ((int)tc__form_part_of(p, p->g->body.node.at[p->node[i]]) == part)
                ok = tc__form_node(p, form, p->node[i]);
    }
    return ok && tc__form_statement(form, TC_OP_END, TC__ROW);
}

// The form of the piece with this root; NULL = reported.
static tc__group *tc__form_make(tc__parter *p, uint32_t root) {
    const tc__group *g = p->g;
    tc_ctx *c = p->lists->ctx;
    tc__group *form = TC__NEW(c, tc__group);
    if (!form) return NULL;
    size_t nodes = g->body.node.count;
    memset(p->made, 0, nodes * sizeof *p->made);
    memset(p->place, 0, g->buffer.count * sizeof *p->place);
    p->count = p->sums = 0;
    for (uint32_t id = 0; id < nodes; id++)
        if (g->body.node.at[id]->op == TC_OP_STORE && tc__piece_root(p, id) == root)
            tc__piece_visit(p, id);
    form->shape.kind = g->shape.kind, form->shape.phases = g->shape.phases,
    form->shape.vector = TC__COL, form->shape.order = p->order;
    form->shape.list = 1, form->target.guarded = g->target.guarded;
    tc__form_extents(p, form);
    if (tc__graph_open(&form->body, c, &p->lists->ix) && tc__form_fill(p, form) &&
        tc__checked(c, &form->body, TC__LOOP))
        return form;
    tc__group_free(c, form);
    return NULL;
}

// The number of an equal form, which the lists own from now on; UINT32_MAX = out of memory.
static uint32_t tc__lists_form(tc__lists *s, tc__group *form) {
    for (uint32_t i = 0; i < s->form.count; i++) {
        if (!tc__groups_same(s->form.at[i], form)) continue;
        tc__group_free(s->ctx, form);
        return i;
    }
    if (TC__PUSH(s->ctx, s->form, form)) return (uint32_t)s->form.count - 1;
    tc__group_free(s->ctx, form);
    return UINT32_MAX;
}

static int tc__lists_piece(tc__parter *p, uint32_t launch, uint32_t root) {
    tc__lists *s = p->lists;
    tc__piece piece;
    tc__group *form = tc__form_make(p, root);
    if (!form) return 0;
    size_t n = form->buffer.count;
    memset(&piece, 0, sizeof piece);
    piece.launch = launch;
    piece.count = p->order ? p->g->shape.rows : p->g->shape.cols;
    piece.form = tc__lists_form(s, form);
    piece.buffer = TC__ANEW_ARRAY(s->arena, uint32_t, n + 1);
    if (piece.form == UINT32_MAX || !piece.buffer) return 0;
    memcpy(piece.buffer, p->buffer, n * sizeof *p->buffer);
    return TC__PUSH(s->ctx, s->piece, piece);
}

static int tc__lists_take(tc__parter *p, uint32_t launch) {
    const tc__group *g = p->g;
    tc__pieces_join(p);
    for (uint32_t id = 0; id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        uint32_t root = tc__piece_root(p, id), before = 0;
        if (n->op != TC_OP_STORE) continue;
        while (before < id && (g->body.node.at[before]->op != TC_OP_STORE ||
                               tc__piece_root(p, before) != root))
            before++;
        if (before == id && !tc__lists_piece(p, launch, root)) return 0;
    }
    return 1;
}

// Whether the pieces from `first` on, of a reduction, are of one form that adds as it does.
static int tc__lists_are_one(const tc__parter *p, size_t first) {
    const tc__lists *s = p->lists;
    for (size_t i = first; i < s->piece.count; i++)
        if (s->piece.at[i].form != s->piece.at[first].form) return 0;
    return first < s->piece.count &&
           s->order(s->form.at[s->piece.at[first].form]) == p->order;
}

// Adds the pieces of kernel `launch`, if it has any. memory[i] tells which of its buffers are the same
// memory. 0 = out of memory, reported.
static int tc__lists_add(tc__lists *s, uint32_t launch, const tc__group *g,
                         const uint64_t *memory) {
    enum { BY_NODE = 7, BY_BUFFER = 3 };
    tc__parter p;
    size_t nodes = g->body.node.count, buffers = g->buffer.count, before = s->piece.count;
    memset(&p, 0, sizeof p);
    p.lists = s, p.g = g, p.memory = memory;
    if (!tc__parter_begin(&p) || !tc__kernel_has_pieces(&p)) return 1;
    // A number is a buffer of a form, but no kernel's.
    size_t room = (BY_NODE + 1) * nodes + BY_BUFFER * buffers;
    uint32_t *at = TC__NEW_ARRAY(s->ctx, uint32_t, room);
    if (!at) return 0;
    p.up = at, p.made = at + nodes, p.node = at + 2 * nodes, p.shared = at + 3 * nodes;
    p.fresh = at + 4 * nodes, p.step = at + 5 * nodes, p.sum = at + 6 * nodes;
    p.first = at + BY_NODE * nodes;
    p.place = p.first + buffers, p.buffer = p.place + buffers;
    tc__pieces_share(&p);
    int ok = tc__lists_take(&p, launch);
    if (ok && p.order && !tc__lists_are_one(&p, before)) s->piece.count = before;
    tc__free(s->ctx, at, room * sizeof *at);
    return ok;
}

// ---- arguments of a launch for a list: by tensor and buffer the address, of a reduction behind them that of its
// workspace, by tensor how many elements or rows it has, by tensor the first block, and how many tensors there are

// Addresses of a tensor; the buffers of a device's list of a form that are memory are the form's.
static size_t tc__list_width(const tc__group *form) {
    size_t n = form->shape.order != 0;
    for (size_t i = 0; i < form->buffer.count; i++)
        n += (size_t)tc__is_memory(&form->buffer.at[i]);
    return n;
}

static size_t tc__list_bytes(size_t width, size_t tensors) {
    return tensors * (8 * width + 8) + (4 * tensors + 4 + 7) / 8 * 8;
}

// Where the host writes them.
typedef struct tc__list_argument {
    void **at; // by tensor and address
    int64_t *count;
    int32_t *first, *rows;
} tc__list_argument;

static tc__list_argument tc__list_argument_of(uint8_t *bytes, size_t width,
                                              size_t tensors) {
    tc__list_argument a;
    a.at = (void **)(void *)bytes;
    a.count = (int64_t *)(void *)(bytes + 8 * width * tensors);
    a.first = (int32_t *)(void *)(a.count + tensors);
    a.rows = a.first + tensors;
    return a;
}

// Tensors that a launch with so many bytes of arguments has room for.
static size_t tc__list_room(size_t width, size_t bytes) {
    size_t fixed = sizeof(void *) + 8 + 16; // the state and a size, and what is rounded up
    return bytes < fixed ? 0 : (bytes - fixed) / (8 * width + 12);
}
