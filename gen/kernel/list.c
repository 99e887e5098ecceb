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
// Addresses and sizes of all tensors are arguments, up to 32 KB (4 KB before CUDA 12.1:
// then it is a few launches), so nothing is copied before a launch, and a recorded graph
// has them like any other arguments. Only where four tensors or more meet, by what depends
// on what, do kernels become pieces; that is decided when a program is made, and the arena
// may only make it more launches of the same text.

typedef struct tc__piece {
    uint32_t launch; // kernel of the program
    uint32_t form;
    tc__ix count; // elements, an expression of the program's
    uint32_t *
        buffer; // the kernel's, by buffer of the form, or the slot of a number; of the arena
} tc__piece;

static const uint32_t tc__piece_number = UINT32_C(1) << 31; // a bit of such a slot

typedef struct tc__lists {
    tc_ctx *ctx;
    tc__arena *arena;          // of the program
    tc__ixpool ix;             // of the forms
    TC__VEC(tc__group *) form; // owned
    TC__VEC(tc__piece) piece;  // in the order of kernels
} tc__lists;

static void tc__lists_open(tc__lists *s, tc_ctx *c, tc__arena *arena) {
    memset(s, 0, sizeof *s);
    s->ctx = c, s->arena = arena;
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
    const uint64_t *memory; // by buffer: equal where the memory is
    tc__ix column;          // c, as the kernel's indices have it
    uint32_t *up;           // by node; then
    uint32_t *made;         //   the node of the form and one; 0 = none yet
    uint32_t *order;        //   nodes of the piece, operands first
    uint32_t *first;        // by buffer: the node that uses its memory first
    uint32_t *place;        //   the buffer of the form and one
    uint32_t *buffer;       // by buffer of the form
    uint32_t count;         // in order
} tc__parter;

// At its own column.
static int tc__is_dense(const tc__parter *p, const tc__node *n) {
    return tc__index_of(n) == p->column;
}

// What every piece that uses it gets a copy of: it names no tensor's column.
static int tc__is_shared(const tc__parter *p, const tc__node *n) {
    return n->op == TC_OP_CONST || n->op == TC_OP_ARG || n->level == TC__AT_ROW ||
           (n->op == TC_OP_LOAD && !tc__is_dense(p, n));
}

static int tc__node_has_piece(const tc__parter *p, const tc__node *n) {
    int at = n->op == TC_OP_LOAD || n->op == TC_OP_STORE || n->op == TC_OP_INDEX;
    if (n->op == TC_OP_FOR || n->op == TC_OP_END || n->op == TC_OP_CONST ||
        n->op == TC_OP_ARG)
        return 1;
    if (!at) return tc__is_alu(n);
    if (n->op == TC_OP_LOAD && n->n_attr != TC__LOAD_PREDICATES) return 0;
    if (n->level == TC__AT_COL && tc__is_dense(p, n)) return 1;
    return n->op == TC_OP_LOAD && tc__ix_is_const(tc__index_of(n));
}

// Whether a buffer is read or written at all columns; *one: at a place for all of them.
static int tc__buffer_is_dense(const tc__parter *p, size_t b, int *one) {
    int dense = 0;
    *one = 0;
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *n = p->g->body.node.at[i];
        if ((n->op != TC_OP_LOAD && n->op != TC_OP_STORE) ||
            n->attr[TC__ACCESS_BUFFER] != (int64_t)b)
            continue;
        if (tc__is_dense(p, n))
            dense = 1;
        else
            *one = 1;
    }
    return dense;
}

// No scalar lies in memory that is written, or is an element of a tensor of the list.
static int tc__memory_has_pieces(const tc__parter *p) {
    const tc__group *g = p->g;
    for (size_t i = 0; i < g->buffer.count; i++) {
        int one = 0;
        if (!tc__is_memory(&g->buffer.at[i])) return 0;
        (void)tc__buffer_is_dense(p, i, &one);
        for (size_t k = 0; one && k < g->buffer.count; k++) {
            int other = 0;
            if (p->memory[i] == p->memory[k] && tc__buffer_is_dense(p, k, &other)) return 0;
        }
    }
    return 1;
}

static int tc__kernel_has_pieces(const tc__parter *p) {
    const tc__group *g = p->g;
    int dense = !tc__ix_is_const(g->shape.cols) || tc__ix_value(g->shape.cols) > 1;
    if (g->shape.kind != TC__POINTWISE || g->shape.phases > 1 ||
        g->shape.vector != TC__COL || !dense || !tc__ix_equals(g->shape.rows, 1))
        return 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (!tc__node_has_piece(p, g->body.node.at[i])) return 0;
    return tc__memory_has_pieces(p);
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
        if (n->op == TC_OP_FOR || n->op == TC_OP_END || tc__is_shared(p, n)) continue;
        for (uint32_t k = 0; k < n->n_in; k++)
            if (!tc__is_shared(p, g->body.node.at[n->in[k]]))
                tc__piece_join(p, id, n->in[k]);
        if (n->op != TC_OP_LOAD && n->op != TC_OP_STORE) continue;
        size_t b = 0;
        while (p->memory[b] != p->memory[n->attr[TC__ACCESS_BUFFER]]) b++;
        if (p->first[b]) tc__piece_join(p, id, p->first[b] - 1);
        p->first[b] = id + 1;
    }
}

// ---- the form of a piece ----

// Node `id` and what it needs, operands first. Places of `order` that are still free hold those that
// wait for operands.
static void tc__piece_visit(tc__parter *p, uint32_t id) {
    size_t end = p->g->body.node.count, top = end;
    if (p->made[id]) return;
    p->order[--top] = id;
    while (top < end) {
        uint32_t k = 0;
        const tc__node *n = p->g->body.node.at[p->order[top]];
        while (k < n->n_in && p->made[n->in[k]]) k++;
        if (k < n->n_in) {
            p->order[--top] = n->in[k];
            continue;
        }
        top++;
        p->made[n->id] = 1;
        p->order[p->count++] = n->id;
    }
}

static tc__ix tc__form_size(tc__lists *s) {
    return tc__ix_sym(&s->ix, 0, 1, INT64_MAX / 8);
}

static int tc__form_buffer(tc__parter *p, tc__group *form, const tc__node *n) {
    uint32_t *place = &p->place[n->attr[TC__ACCESS_BUFFER]];
    tc__kbuf b = p->g->buffer.at[n->attr[TC__ACCESS_BUFFER]];
    if (*place) return 1;
    b.place = b.written ? TC__BUF_NODE : TC__BUF_INPUT;
    b.source = (uint32_t)form->buffer.count, b.offset = tc__ix_const(0);
    b.numel = tc__is_dense(p, n) ? form->shape.cols
                                 : tc__ix_const(tc__ix_value(tc__index_of(n)) + 1);
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
    if ((memory || n->op == TC_OP_INDEX) && tc__is_dense(p, n))
        attr[tc__index_word(n)] = tc__ix_var(&p->lists->ix, TC__COL, form->shape.cols);
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
    attr[TC__FOR_BIND] = axis == TC__ROW ? TC__BIND_SERIAL : TC__BIND_WORKER;
    attr[TC__FOR_UNROLL] = 1;
    attr[TC__FOR_BEGIN] = tc__ix_const(0);
    attr[TC__FOR_END] = axis == TC__ROW ? form->shape.rows : form->shape.cols;
    if (op == TC_OP_END) attr[TC__END_AXIS] = axis;
    return tc__node_append(&form->body, &n) != NULL;
}

// What stands before the columns, loads, and what is computed: memory may be written in place, so
// nothing is loaded behind a store.
typedef enum tc__form_part { TC__FORM_HEAD, TC__FORM_LOADS, TC__FORM_REST } tc__form_part;

static tc__form_part tc__form_part_of(const tc__parter *p, const tc__node *n) {
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG || n->level == TC__AT_ROW)
        return TC__FORM_HEAD;
    (void)p;
    return n->op == TC_OP_LOAD ? TC__FORM_LOADS : TC__FORM_REST;
}

static int tc__form_fill(tc__parter *p, tc__group *form) {
    int ok = tc__form_statement(form, TC_OP_FOR, TC__ROW);
    for (int part = TC__FORM_HEAD; part <= TC__FORM_REST; part++) {
        if (part == TC__FORM_LOADS) ok = ok && tc__form_statement(form, TC_OP_FOR, TC__COL);
        for (uint32_t i = 0; ok && i < p->count; i++)
            if ((int)tc__form_part_of(p, p->g->body.node.at[p->order[i]]) == part)
                ok = tc__form_node(p, form, p->order[i]);
    }
    return ok && tc__form_statement(form, TC_OP_END, TC__COL) &&
           tc__form_statement(form, TC_OP_END, TC__ROW);
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
    p->count = 0;
    for (uint32_t id = 0; id < nodes; id++)
        if (g->body.node.at[id]->op == TC_OP_STORE && tc__piece_root(p, id) == root)
            tc__piece_visit(p, id);
    form->shape.kind = TC__POINTWISE, form->shape.phases = g->shape.phases,
    form->shape.vector = TC__COL;
    form->shape.rows = tc__ix_const(1), form->shape.cols = tc__form_size(p->lists);
    form->shape.list = 1, form->target.guarded = g->target.guarded;
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
    piece.launch = launch, piece.count = p->g->shape.cols;
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

// Adds the pieces of kernel `launch`, if it has any. memory[i] tells which of its buffers are the same
// memory. 0 = out of memory, reported.
static int tc__lists_add(tc__lists *s, uint32_t launch, const tc__group *g,
                         const uint64_t *memory) {
    tc__parter p;
    size_t nodes = g->body.node.count, buffers = g->buffer.count;
    memset(&p, 0, sizeof p);
    p.lists = s, p.g = g, p.memory = memory;
    if (g->shape.kind != TC__POINTWISE) return 1;
    p.column = tc__ix_var(g->body.ix, TC__COL, g->shape.cols);
    if (!tc__kernel_has_pieces(&p)) return 1;
    size_t room =
        4 * nodes + 3 * buffers; // a number is a buffer of a form, but no kernel's
    uint32_t *at = TC__NEW_ARRAY(s->ctx, uint32_t, room);
    if (!at) return 0;
    p.up = at, p.made = at + nodes, p.order = at + 2 * nodes;
    p.first = at + 3 * nodes, p.place = p.first + buffers, p.buffer = p.place + buffers;
    int ok = tc__lists_take(&p, launch);
    tc__free(s->ctx, at, room * sizeof *at);
    return ok;
}

// ---- arguments of a launch for a list: by tensor and buffer the address, by tensor how many elements it
// has, by tensor the first block, and how many tensors there are

static size_t tc__list_bytes(size_t buffers, size_t tensors) {
    return tensors * (8 * buffers + 8) + (4 * tensors + 4 + 7) / 8 * 8;
}

// Where the host writes them.
typedef struct tc__list_argument {
    void **at; // by tensor and buffer
    int64_t *count;
    int32_t *first, *rows;
} tc__list_argument;

static tc__list_argument tc__list_argument_of(uint8_t *bytes, size_t buffers,
                                              size_t tensors) {
    tc__list_argument a;
    a.at = (void **)(void *)bytes;
    a.count = (int64_t *)(void *)(bytes + 8 * buffers * tensors);
    a.first = (int32_t *)(void *)(a.count + tensors);
    a.rows = a.first + tensors;
    return a;
}

// Tensors that a launch with so many bytes of arguments has room for.
static size_t tc__list_room(size_t buffers, size_t bytes) {
    size_t fixed = sizeof(void *) + 8 + 16; // the state and a size, and what is rounded up
    return bytes < fixed ? 0 : (bytes - fixed) / (8 * buffers + 12);
}
