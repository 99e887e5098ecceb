// Trace -> TENSOR graph: a path of steps becomes pure nodes.
// Recording's conveniences are made explicit: operands are cast and broadcast, scalars become
// constants, and in-place writes become new values of a root (graph/cells.c).
//
// Halves keep their dtype in the graph and are f32 in registers: what crosses memory is 16
// bits wide, which would not be so if the graph said f32, and what does not cross it is not
// rounded. So bits depend on what shares a kernel, and a result that is demanded later may
// be rounded once more; round_each_op puts a cast of a half to itself, which rounds, behind
// every op, and has the bits of eager code. Sums of halves are sums of f32 in the graph,
// since what lies between two kernels of one sum must not overflow. A scalar operand is
// f32, but what is compared with a half.

// ---- run-time sizes ----
// The expressions of a path name its symbols. In the graph a symbol that has to be equal to
// something is that.

static tc__ix tc__local(const tc__builder *b, tc__ix e) {
    return tc__ix_copy(b->g->ix, &tc__recorder_of(b->ctx)->ix, e, b->sym.at);
}

// The next symbol of the path, if e is it.
static int tc__build_symbol(tc__builder *b, tc__ix e) {
    if (tc__ix_is_const(e)) return 1;
    const tc__ixnode *n = tc__ix_node(&tc__recorder_of(b->ctx)->ix, e);
    if (n->kind != TC__IX_SYM || n->a != (int64_t)b->sym.count) return 1;
    return TC__PUSH(b->ctx, b->sym, tc__ix_sym(b->g->ix, n->a, n->lo, n->hi));
}

static int tc__build_symbols_of(tc__builder *b, const tc__step *s) {
    for (uint32_t i = 0; i < s->n_bind; i++)
        for (int d = 0; s->bind[i].shape && d < s->bind[i].shape->rank; d++)
            if (!tc__build_symbol(b, s->bind[i].shape->dims[d])) return 0;
    for (uint32_t i = 0; i < s->n_attr; i++)
        if (tc__slot_of((tc__op)s->op, s->n_attr, i) == TC__SLOT_SIZE &&
            !tc__build_symbol(b, s->attr[i]))
            return 0;
    for (int d = 0; tc__ops[s->op].kind == TC__KIND_SOURCE && d < s->meta.rank; d++)
        if (!tc__build_symbol(b, s->meta.dims[d])) return 0;
    return 1;
}

// The symbols of the first `count` steps, and of the mark behind them: its operands may be externals
// that no step before it uses.
static int tc__build_symbols(tc__builder *b, uint32_t count) {
    tc__ix equal[TC__MAX_SYMBOLS];
    if (count < b->visit->path.count) count++;
    for (uint32_t i = 0; i < count; i++)
        if (b->visit->path.at[i]->symbolic &&
            !tc__build_symbols_of(b, b->visit->path.at[i]))
            return 0;
    if (!b->sym.count) return 1;
    tc__path_equalities(b->ctx, b->visit, count, equal);
    tc__ix own[TC__MAX_SYMBOLS];
    memcpy(own, b->sym.at, b->sym.count * sizeof *own);
    for (size_t i = 0; i < b->sym.count && b->visit->exact; i++)
        own[i] = tc__ix_const(b->visit->size.at[i]);
    for (size_t i = 0; i < b->sym.count; i++)
        b->sym.at[i] = tc__ix_copy(b->g->ix, &tc__recorder_of(b->ctx)->ix, equal[i], own);
    return 1;
}

// The step with the graph's expressions; NULL = out of memory.
static const tc__step *tc__local_step(tc__builder *b, const tc__step *s) {
    if (!s->symbolic) return s;
    tc__step *l = TC__ANEW(&b->g->arena, tc__step);
    int64_t *attr = TC__ANEW_ARRAY(&b->g->arena, int64_t, s->n_attr + 1);
    if (!l || !attr) return NULL;
    *l = *s;
    l->attr = attr;
    for (uint32_t i = 0; i < s->n_attr; i++) {
        int size = tc__slot_of((tc__op)s->op, s->n_attr, i) == TC__SLOT_SIZE;
        attr[i] = size ? tc__local(b, s->attr[i]) : s->attr[i];
    }
    for (int d = 0; d < s->meta.rank; d++) l->meta.dims[d] = tc__local(b, s->meta.dims[d]);
    return l;
}

// ---- steps ----

static uint32_t tc__code_cell(const tc__builder *b, uint32_t code) {
    return code & TC__EXTERNAL ? code & ~TC__EXTERNAL : b->externals + code;
}

// Whether node a is made again on another device rather than copied there: it is made of nothing, with the same
// bits, or is a number of the host's, of which kernels there have a copy (exec/transfer.c).
static int tc__is_made_anywhere(const tc__builder *b, const tc__node *a) {
    if (a->op == TC_OP_INPUT)
        return !a->device && !a->rank && !a->n_in &&
               a->attr[TC__INPUT_EXTERNAL] < b->externals;
    return !a->n_in && a->op != TC_OP_RANDOM;
}

enum { TC__TO_MOVES = 8 }; // sizes that are changed behind the copy, which is small so

// A copy of node a on a device.
static tc__node *tc__make_to(tc__builder *b, tc__node *a, int device) {
    tc__graph *g = b->g;
    const tc__node *move[TC__TO_MOVES];
    int moves = 0, was = g->device;
    int64_t word = device;
    while (a && a->device != device && moves < TC__TO_MOVES &&
           (a->op == TC_OP_EXPAND || a->op == TC_OP_RESHAPE || a->op == TC_OP_TO)) {
        if (a->op != TC_OP_TO) move[moves++] = a;
        a = tc__operand(g, a, 0);
    }
    if (!a) return NULL;
    g->device = device;
    if (a->device != device && tc__is_made_anywhere(b, a))
        a = tc__make(g, (tc__op)a->op, a->dtype, a->rank, a->dims, NULL, 0, a->attr,
                     a->n_attr);
    else if (a->device != device)
        a = tc__make1(g, TC_OP_TO, a, a->rank, a->dims, &word, 1);
    g->device = was;
    while (a && moves) {
        const tc__node *m = move[--moves];
        a = m->op == TC_OP_EXPAND ? tc__make_expand(g, a, m->rank, m->dims)
                                  : tc__make_reshape(g, a, m->rank, m->dims);
    }
    return a;
}

// Operand i, where the step is computed: a number of the host goes along.
static tc__node *tc__step_operand(tc__builder *b, const tc__step *s, uint32_t i) {
    return tc__make_to(b, tc__cell_read(b, tc__code_cell(b, s->in[i])), b->g->device);
}

// dtype in which operand i of an elementwise step is computed.
static int tc__operand_dtype(const tc__step *s, uint32_t i, int common) {
    if (s->op == TC_OP_WHERE) return i ? s->meta.dtype : (int)TC_BOOL;
    if (tc__ops[s->op].dtype == tc__dtype_logic) return TC_BOOL;
    // bool registers are masks, which order the wrong way: compare truth values as 0 and 1.
    if (tc__ops[s->op].dtype == tc__dtype_compare)
        return common == TC_BOOL ? (int)TC_I32 : tc__computed_as(common);
    return tc__computed_as(s->meta.dtype);
}

// The scalar of a step in dtype t: a constant, or a run-time value.
static tc__node *tc__make_scalar(tc__builder *b, const tc__step *s, int t) {
    int is_value = s->op == TC_OP_CONST || s->op == TC_OP_ARG;
    tc__run_arg a;
    double x;
    tc__value v;
    if (!(s->args & 1)) {
        memcpy(&v, &s->attr[TC__SCALAR_VALUE], sizeof v);
        memcpy(&x, &s->attr[TC__SCALAR_VALUE], sizeof x);
        return tc__make_const(b->g, t, is_value ? v : tc__value_of(x, t));
    }
    memset(&a, 0, sizeof a);
    a.number = (uint32_t)s->attr[TC__SCALAR_VALUE], a.dtype = (uint8_t)t,
    a.is_value = (uint8_t)is_value;
    int64_t slot = 0, n = (int64_t)b->arg.count;
    while (slot < n && memcmp(&b->arg.at[slot], &a, sizeof a)) slot++;
    if (slot == n && !TC__PUSH(b->ctx, b->arg, a)) return NULL;
    return tc__make(b->g, TC_OP_ARG, t, 0, NULL, NULL, 0, &slot, 1);
}

static int tc__step_common_dtype(tc__builder *b, const tc__step *s) {
    double v = 0;
    tc__common all = tc__common_none();
    for (uint32_t i = 0; i < s->n_in; i++) {
        tc__node *n = tc__step_operand(b, s, i);
        if (n) tc__common_add(&all, n->dtype, n->rank);
    }
    int t = all.tensors < 0 && all.points < 0 ? TC_BOOL : tc__common_dtype(&all);
    if (s->n_attr == 2)
        memcpy(&v,
               s->args & 1 ? &b->visit->arg.at[s->attr[TC__SCALAR_VALUE]]
                           : &s->attr[TC__SCALAR_VALUE],
               sizeof v);
    return s->n_attr == 2 ? tc__promote_scalar(t, v) : t;
}

// The result of an op that computes, rounded if it is to be as eager code would.
static tc__node *tc__make_rounded(tc__builder *b, tc__node *n) {
    return b->round_each_op ? tc__make_rounding(b->g, n) : n;
}

// Narrow integers are computed as i32, and a cast back wraps them. That is put into the
// graph here, so neither the interpreter nor a printer knows of u8 arithmetic.
static tc__node *tc__step_alu(tc__builder *b, const tc__step *s) {
    const tc__op_info *o = &tc__ops[s->op];
    tc__node *in[3] = {NULL, NULL, NULL};
    int common = tc__step_common_dtype(b, s), scalar = s->n_attr == 2;
    for (uint32_t i = 0, k = 0; i < (uint32_t)o->arity; i++) {
        int t = tc__operand_dtype(s, i, common);
        if (scalar &&
            i == (s->attr[TC__SCALAR_SIDE] == TC__SCALAR_LEFT ? 0u
                                                              : (uint32_t)o->arity - 1)) {
            in[i] = tc__make_scalar(b, s, t);
            // What is compared with a half is one too: x == 0.1 where x was made of 0.1.
            if (o->dtype == tc__dtype_compare) in[i] = tc__make_rounding(b->g, in[i]);
        } else {
            in[i] = tc__make_cast(b->g, tc__step_operand(b, s, k++), t);
        }
        in[i] = tc__make_expand(b->g, in[i], s->meta.rank, s->meta.dims);
        if (!in[i]) return NULL;
    }
    tc__node *n = in[0];
    int t = s->op == TC_OP_WHERE ? s->meta.dtype : tc__computed_as(s->meta.dtype);
    tc__op op = tc__op_on((tc__op)s->op, t);
    if (o->dtype != tc__dtype_rounding || tc__is_float(t))
        n = tc__make_alu(b->g, op, t, in, (uint32_t)o->arity);
    return tc__make_rounded(b, tc__make_cast(b->g, n, s->meta.dtype));
}

// The product of two operands of dtype t, as which it is computed but where halves are to give f32.
static tc__node *tc__make_product(tc__graph *g, const tc__step *s, int t,
                                  const uint32_t *in) {
    int wide = tc__is_half(t) && s->meta.dtype == TC_F32;
    return tc__make_cast(g,
                         tc__make(g, TC_OP_MATMUL, wide ? (int)TC_F32 : t, s->meta.rank,
                                  s->meta.dims, in, 2, NULL, 0),
                         s->meta.dtype);
}

static tc__node *tc__step_node(tc__builder *b, const tc__step *s) {
    uint32_t ids[TC__MAX_OPERANDS];
    switch (tc__ops[s->op].kind) {
    case TC__KIND_UNARY:
    case TC__KIND_BINARY:
    case TC__KIND_TERNARY: return tc__step_alu(b, s);
    case TC__KIND_CAST:
        return tc__make_cast(b->g, tc__step_operand(b, s, 0), s->meta.dtype);
    case TC__KIND_CONTRACT:
    case TC__KIND_OPAQUE:
    case TC__KIND_MOVE:
    case TC__KIND_JOIN:
    case TC__KIND_GATHER:
    case TC__KIND_REDUCE:
    case TC__KIND_SOURCE:
    case TC__KIND_LAYOUT:
    case TC__KIND_KERNEL:
    case TC__KIND_EFFECT:
    case TC__KIND_DERIVE:
    case TC__KIND_LOOP:
    case TC__KIND_COMPOSITE: break;
    }
    if (s->op == TC_OP_CONST || s->op == TC_OP_ARG)
        return tc__make_expand(
            b->g, tc__make_rounding(b->g, tc__make_scalar(b, s, s->meta.dtype)),
            s->meta.rank, s->meta.dims);
    if (tc__ops[s->op].kind == TC__KIND_REDUCE)
        return tc__make_reduce(b->g, s, tc__step_operand(b, s, 0));
    int cast = s->op == TC_OP_CAT || s->op == TC_OP_MATMUL;
    int t = s->op == TC_OP_MATMUL ? tc__computed_as(tc__step_common_dtype(b, s))
                                  : s->meta.dtype;
    for (uint32_t i = 0; i < s->n_in; i++) {
        tc__node *n = tc__step_operand(b, s, i);
        if (cast) n = tc__make_cast(b->g, n, t);
        if (!n) return NULL;
        ids[i] = n->id;
    }
    if (s->op == TC_OP_TO) return b->g->node.at[ids[0]]; // it is there
    if (tc__ops[s->op].kind == TC__KIND_MOVE)
        return tc__move(b->g, s, b->g->node.at[ids[0]]);
    if (s->op == TC_OP_MATMUL)
        return tc__make_rounded(b, tc__make_product(b->g, s, t, ids));
    return tc__make(b->g, (tc__op)s->op, t, s->meta.rank, s->meta.dims, ids, s->n_in,
                    s->attr, s->n_attr);
}

// ---- composite ops ----

// The slot of run-time value `number`, as a part of the composite op that has it is computed with it.
static int64_t tc__noted_slot(tc__builder *b, int64_t number) {
    tc__run_arg a;
    memset(&a, 0, sizeof a);
    for (size_t i = b->arg.count; i-- > 0;)
        if (b->arg.at[i].number == (uint32_t)number) return (int64_t)i;
    a.number = (uint32_t)number, a.dtype = TC_F64;
    return TC__PUSH(b->ctx, b->arg, a) ? (int64_t)b->arg.count - 1 : -1;
}

// Notes composite step s. What it names may be written later, so values are taken as they are now.
static int tc__build_noted(tc__builder *b, const tc__step *s) {
    tc__noted n;
    memset(&n, 0, sizeof n);
    n.step = s;
    for (uint32_t i = 0; i < s->n_in; i++) {
        uint32_t cell = tc__code_cell(b, s->in[i]);
        const tc__cell *v = tc__cell_at(b, cell);
        n.version[i] = tc__cell_at(b, tc__cell_root(b, cell))->version;
        n.node[i] =
            v->node && (!v->via || v->version == n.version[i]) ? v->node->id : TC__NO_NODE;
    }
    for (uint32_t i = 0; i < s->n_attr; i++) {
        n.attr[i] = s->args >> i & 1 ? tc__noted_slot(b, s->attr[i]) : s->attr[i];
        if (s->args >> i & 1 && n.attr[i] < 0) return 0;
    }
    return TC__PUSH(b->ctx, b->noted, n);
}

// Operand i of a noted step; TC__NO_NODE = the view was written before anything read it.
static uint32_t tc__noted_node(tc__builder *b, const tc__noted *n, uint32_t i) {
    uint32_t cell = tc__code_cell(b, n->step->in[i]);
    if (n->node[i] != TC__NO_NODE) return n->node[i];
    if (tc__cell_at(b, tc__cell_root(b, cell))->version != n->version[i])
        return TC__NO_NODE;
    const tc__node *node = tc__cell_read(b, cell);
    if (!node) b->failed = 1;
    return node ? node->id : TC__NO_NODE;
}

static void tc__build_composite(tc__builder *b, const tc__noted *n, tc__composite *f) {
    uint32_t at = 0;
    memset(f, 0, sizeof *f);
    f->op = n->step->op, f->args = n->step->args;
    memcpy(f->attr, n->attr, sizeof f->attr);
    for (uint32_t i = 0; i < TC__WHOLE_OPERANDS; i++)
        f->in[i] =
            f->attr[TC__WHOLE_GIVEN] >> i & 1 ? tc__noted_node(b, n, at++) : TC__NO_NODE;
    f->result = tc__noted_node(b, n, at);
}

static int tc__composite_is_whole(const tc__composite *f) {
    for (uint32_t i = 0; i < TC__WHOLE_OPERANDS; i++)
        if (f->attr[TC__WHOLE_GIVEN] >> i & 1 && f->in[i] == TC__NO_NODE) return 0;
    return f->result != TC__NO_NODE;
}

// The composite ops of the graph. Behind its outputs: views that only composite ops name are made last, and change
// the order of no other node. 0 = reported.
static int tc__build_composites(tc__builder *b) {
    while (b->composed < b->noted.count) {
        tc__composite f;
        tc__build_composite(b, &b->noted.at[b->composed++], &f);
        if (b->failed) return 0;
        if (tc__composite_is_whole(&f) && !tc__composite_add(b->g, &f)) return 0;
    }
    return 1;
}

// ---- derivatives ----

// What of the user's, or of ours, a node is.
static const char *tc__node_called(tc_ctx *c, const tc__node *n, char out[100]) {
    const tc__custom *o =
        n->op == TC_OP_CUSTOM ? tc__custom_at(c, n->attr[TC__CUSTOM_OP]) : NULL;
    if (!o) return tc__op_name((tc__op)n->op);
    snprintf(out, 100, "custom op \"%.63s\"", o->op.name);
    return out;
}

// Why there is no derivative by operand 0 of step s, whose node is x.
static tc__node *tc__fail_gradient(tc__builder *b, const tc__step *s, const tc__node *x) {
    const tc__derive *d = &b->derive;
    char place[160] = "", dims[160], called[100], by[40] = "the ";
    int64_t number = s->attr[TC__DERIVE_WRT];
    if (number >= 0) snprintf(by, sizeof by, "wrt[%lld], the ", (long long)number);
    const char *who = s->call ? s->call : "tc_grad", *dtype = tc__dtype(x->dtype)->name;
    tc__meta m;
    memset(&m, 0, sizeof m);
    m.dtype = x->dtype, m.rank = x->rank;
    memcpy(m.dims, x->dims, sizeof *x->dims * (size_t)x->rank);
    tc__site_set(b->ctx, s->site);
    tc__dims_text(&m, dims);
    if (x->id >= d->n || !(d->how[x->id] & TC__REFUSED)) {
        tc__fail(
            b->ctx, TC_E_ARG,
            "%s: what is derived does not depend on %s%s%s that it is derived by; is it "
            "the one that was used, and not written in place since?",
            who, by, dtype, dims);
        return NULL;
    }
    if (d->why->from && d->why->from->site.file)
        snprintf(place, sizeof place, ", at %.100s:%d", d->why->from->site.file,
                 d->why->from->site.line);
    tc__fail(b->ctx, TC_E_UNSUPPORTED,
             "%s: the way to %s%s%s is through %s%s, which has no derivative; tc_detach "
             "it, or give a custom op its gradient",
             who, by, dtype, dims, tc__node_called(b->ctx, d->why, called), place);
    return NULL;
}

// What n is, where it is a tensor that something is derived by.
static const tc__node *tc__without_wrt(const tc__builder *b, const tc__node *n) {
    return n->op == TC_OP_WRT ? b->g->node.at[*n->in] : n;
}

// What the user told of operand 0, a result of an op of his: operand 1 is the seed, behind it the gradients that are
// given. 0 = reported.
static int tc__build_own(tc__builder *b, const tc__step *s) {
    tc__own_gradient o;
    const tc__node *y = tc__cell_read(b, tc__code_cell(b, s->in[0]));
    const tc__node *seed = tc__cell_read(b, tc__code_cell(b, s->in[1]));
    if (!y || !seed) return 0;
    y = tc__without_wrt(b, y);
    uint32_t *in = TC__ANEW_ARRAY(&b->g->arena, uint32_t, y->n_in), at = 2;
    if (!in || y->op != TC_OP_CUSTOM) return in != NULL;
    for (uint32_t i = 0; i < y->n_in; i++) {
        in[i] = TC__NO_NODE;
        if (!(s->attr[TC__OWN_GRADIENT_GIVEN] >> i & 1)) continue;
        const tc__node *n = tc__cell_read(b, tc__code_cell(b, s->in[at++]));
        if (!n) return 0;
        in[i] = n->id;
    }
    o.result = y->id, o.seed = seed->id, o.n = y->n_in, o.in = in;
    return TC__PUSH(b->ctx, b->own, o);
}

// Whether an adjoint has come to memory that is read behind what is stored there: it goes no further, though what
// is stored is what it is of.
static int tc__derive_is_behind(const tc__derive *d) {
    for (uint32_t i = 0; i < d->n; i++) {
        const tc__node *n = d->g->node.at[i];
        if (n->op == TC_OP_INPUT && n->n_in && d->how[i]) return 1;
    }
    return 0;
}

// A checkpoint begins or ends.
static int tc__build_checkpoint(tc__builder *b, int begins) {
    tc__checkpoint k;
    k.first = (uint32_t)b->g->node.count, k.end = TC__CHECKPOINT_OPEN, k.outer = b->inside;
    if (!begins && b->inside) {
        tc__checkpoint *now = &b->checkpoint.at[b->inside - 1];
        now->end = k.first, b->inside = now->outer;
    }
    if (!begins) return 1;
    if (!TC__PUSH(b->ctx, b->checkpoint, k)) return 0;
    b->inside = (uint32_t)b->checkpoint.count;
    return 1;
}

// Adjoints of all that y is made of, where it counts v; 0 = reported, or the program has to be made without reads
// behind what is stored. `again`: values of checkpoints are computed again.
static int tc__build_adjoints(tc__builder *b, tc__derive *d, const tc__node *y,
                              const tc__node *v, int again) {
    int share;
    tc__derive_close(d);
    if (!tc__budget_checkpoints(b->g, y, again ? b->memory_budget : 0, b->checkpoint.at,
                                again ? b->checkpoint.count : 0, &b->around, &share))
        return 0;
    if (share > b->memory_budget && share > b->budget_share) b->budget_share = share;
    d->own = b->own.at, d->owns = b->own.count, d->rounds = b->round_each_op;
    if (!tc__derive_all(d, b->g, y, v, b->around.at, b->around.count, &b->copies)) return 0;
    b->derives_behind |= tc__derive_is_behind(d);
    return !b->derives_behind;
}

// Whether what was derived depends on an external as it came, though not on what it has become since.
static int tc__was_used(const tc__builder *b, uint32_t code) {
    const tc__derive *d = &b->derive;
    for (uint32_t i = 0; i < d->n && code & TC__EXTERNAL; i++) {
        const tc__node *n = b->g->node.at[i];
        if (d->how[i] && n->op == TC_OP_INPUT &&
            n->attr[TC__INPUT_EXTERNAL] == (int64_t)(code & ~TC__EXTERNAL))
            return 1;
    }
    return 0;
}

// The adjoint of x in what was derived last; lenient: zeros, where that does not depend on x.
static tc__node *tc__build_adjoint(tc__builder *b, const tc__step *s, const tc__node *x,
                                   int lenient) {
    tc__derive *d = &b->derive;
    int how = x->id < d->n ? d->how[x->id] : 0;
    b->g->device = x->device;
    if (how & TC__REFUSED || (!how && (!lenient || tc__was_used(b, s->in[0]))))
        return tc__fail_gradient(b, s, x);
    if (how && d->adjoint[x->id]) return b->g->node.at[d->adjoint[x->id] - 1];
    return tc__d_zeros(d, x);
}

// What operand 1 changes by with operand 0. Of several such steps with the same operand 1 the first derives.
static tc__node *tc__build_gradient(tc__builder *b, const tc__step *s) {
    tc__derive *d = &b->derive;
    tc__node *x = tc__cell_read(b, tc__code_cell(b, s->in[0]));
    tc__node *y = tc__cell_read(b, tc__code_cell(b, s->in[1]));
    tc__node *v = s->n_in > 2 ? tc__cell_read(b, tc__code_cell(b, s->in[2])) : NULL;
    if (!x || !y || !tc__build_composites(b)) return NULL;
    b->g->device = y->device;
    if (s->n_in <= 2) v = tc__make_number(b->g, y, 1);
    if (!v) return NULL;
    int derived = d->g && d->y == y->id && d->v == v->id;
    if (!derived && !tc__build_adjoints(b, d, y, v, 1)) return NULL;
    return tc__build_adjoint(b, s, x, s->attr[TC__DERIVE_WRT] < 0);
}

// What operand 0, y, changes by when x changes by t. The adjoint of x is linear in what y counts, u; so what its sum,
// each element times that of t, changes by with u is the answer, and has no u in it.
static tc__node *tc__build_jvp(tc__builder *b, const tc__step *s) {
    tc__derive d;
    tc__node *y = tc__cell_read(b, tc__code_cell(b, s->in[0]));
    tc__node *x = tc__cell_read(b, tc__code_cell(b, s->in[1]));
    tc__node *t = tc__cell_read(b, tc__code_cell(b, s->in[2])), *u, *made = NULL;
    int64_t mark = (int64_t)b->cell.count + 1;
    if (!x || !y || !t || !tc__build_composites(b)) return NULL;
    memset(&d, 0, sizeof d);
    d.g = b->g;
    b->g->device = y->device;
    u = tc__d_detach(b->g, tc__d_zeros(&d, y), mark);
    if (!u || !tc__build_adjoints(b, &b->derive, y, u, 0)) return NULL;
    tc__node *by = tc__build_adjoint(b, s, x, 0);
    if (by && tc__build_adjoints(b, &d, by, t, 0)) {
        int known = u->id < d.n && d.adjoint[u->id];
        made = known ? b->g->node.at[d.adjoint[u->id] - 1] : tc__d_zeros(&d, y);
    }
    tc__derive_close(&d);
    return made;
}

// ---- loops ----

static int tc__build_loop(tc__builder *b, const tc__step *s) {
    const tc__node *rows = tc__step_operand(b, s, 0);
    uint32_t number = (uint32_t)b->g->loop.count;
    if (!rows || !tc__make_loop(b->g, rows->dims[0], b->sym.count + number)) return 0;
    tc__rounds *l = &b->g->loop.at[number];
    l->outer = b->open, l->times = (uint32_t)s->attr[TC__LOOP_TIMES];
    l->go = (uint32_t)s->attr[TC__LOOP_GO], l->count = (uint32_t)s->attr[TC__LOOP_COUNT];
    b->open = number + 1;
    return TC__PUSH(b->ctx, b->loop, number);
}

// What is stacked may be a view, which is made where it is read: that is in the loop.
static int tc__build_loop_end(tc__builder *b, const tc__step *s) {
    tc__rounds *l = &b->g->loop.at[b->open - 1];
    const tc__visit *v = b->visit;
    for (size_t i = s->position + 1; i < v->path.count; i++) {
        const tc__step *left = v->path.at[i];
        if (left->op != TC_OP_CARRIED && left->op != TC_OP_STACKED) break;
        if (!tc__step_operand(b, left, 0)) return 0;
    }
    l->last = (uint32_t)b->g->node.count, b->open = l->outer;
    return 1;
}

static tc__node *tc__build_looped(tc__builder *b, const tc__step *s) {
    uint32_t loop = b->loop.at[s->attr[TC__CARRY_LOOP]];
    tc__node *a = tc__step_operand(b, s, 0);
    tc__node *v = s->op == TC_OP_NEXT ? tc__step_operand(b, s, 1) : a;
    if (!a || !v) return NULL;
    switch (s->op) {
    case TC_OP_CARRY: return tc__make_carry(b->g, loop, a, s->attr[TC__CARRY_NUMBER]);
    case TC_OP_EACH: return tc__make_row(b->g, a, b->g->loop.at[loop].turn);
    case TC_OP_NEXT: return tc__make_next(b->g, tc__without_wrt(b, a), v);
    case TC_OP_CARRIED: return tc__make_carried(b->g, a);
    default: // a view is made where it is read, here
        b->g->loop.at[loop].last = (uint32_t)b->g->node.count;
        return tc__make_stacked(b->g, loop, a);
    }
}

static int tc__build_step(tc__builder *b, const tc__step *s) {
    tc__cell v;
    memset(&v, 0, sizeof v);
    if (s->op == TC_OP_COPY_) {
        tc__node *to = tc__step_operand(b, s, 0), *value = tc__step_operand(b, s, 1);
        if (!to || !value) return 0;
        value = tc__make_expand(b->g, tc__make_cast(b->g, value, to->dtype), to->rank,
                                to->dims);
        if (b->no_grad) value = tc__d_detach(b->g, value, 0);
        if (!tc__cell_write(b, tc__code_cell(b, s->in[0]), value)) return 0;
    } else if (!tc__has_result((tc__op)s->op)) {
        if (tc__is_composite((tc__op)s->op) && !tc__build_noted(b, s)) return 0;
        if (s->op == TC_OP_OWN_GRADIENT && !tc__build_own(b, s)) return 0;
        if (s->op == TC_OP_CHECKPOINT &&
            !tc__build_checkpoint(b, s->attr[TC__CHECKPOINT_ON] != 0))
            return 0;
        if (s->op == TC_OP_LOOP && !tc__build_loop(b, s)) return 0;
        if (s->op == TC_OP_END_LOOP && !tc__build_loop_end(b, s)) return 0;
        if (s->op == TC_OP_NO_GRAD) b->no_grad += s->attr[TC__NO_GRAD_ON] ? 1 : -1;
    } else if (s->view) {
        v.via = s, v.n_via = 1, v.parent = tc__code_cell(b, s->in[0]);
        v.root = tc__cell_root(b, v.parent), v.stops = b->no_grad;
    } else {
        int loops = tc__ops[s->op].kind == TC__KIND_LOOP;
        v.node = loops                     ? tc__build_looped(b, s)
                 : s->op == TC_OP_GRADIENT ? tc__build_gradient(b, s)
                 : s->op == TC_OP_JVP      ? tc__build_jvp(b, s)
                                           : tc__step_node(b, s);
        if (b->no_grad && s->op != TC_OP_CARRY && s->op != TC_OP_NEXT)
            v.node = tc__d_detach(b->g, v.node, 0);
        if (!v.node) return 0;
    }
    return TC__PUSH(b->ctx, b->cell, v);
}

// Where externals lie in memory that others show: the last SHARE step that names one tells it.
static int tc__build_places(tc__builder *b, uint32_t count) {
    tc__within none;
    none.hidden = UINT32_MAX, none.at = 0;
    while (b->within.count < b->externals)
        if (!TC__PUSH(b->ctx, b->within, none)) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const tc__step *s = b->visit->path.at[i];
        if (s->op != TC_OP_SHARE) continue;
        for (uint32_t k = 0; k < tc__shared_count(s); k++) {
            tc__shared m = tc__shared_at(s, k);
            b->within.at[m.external].hidden = s->first_external;
            b->within.at[m.external].at = m.at;
        }
    }
    return 1;
}

// An external that shares memory is a view of what shows it. Its strides are numbers: with run-time sizes
// the program is for those of the visit.
static int tc__build_view(tc__builder *b, uint32_t i) {
    const tc__external *e = &b->visit->external.at[i];
    const tc__layout *l = tc__layout_at(b->ctx, e->layout);
    tc__way w;
    tc__cell v;
    memset(&v, 0, sizeof v);
    if (e->shape && !b->visit->exact) return b->g->ix->failed = 1, 0;
    if (!tc__way_open(&w, b, l->dtype)) return 0;
    tc__way_to(&w, l, b->within.at[i].at);
    v.via = w.step, v.n_via = w.n, v.parent = v.root = b->within.at[i].hidden;
    return TC__PUSH(b->ctx, b->cell, v);
}

static int tc__build_external(tc__builder *b, uint32_t i) {
    const tc__external *e = &b->visit->external.at[i];
    tc__meta m;
    tc__cell v;
    int64_t attr = i;
    if (b->within.at[i].hidden != UINT32_MAX) return tc__build_view(b, i);
    memset(&v, 0, sizeof v);
    tc__meta_of_layout(tc__layout_at(b->ctx, e->layout), &m);
    b->g->device = tc__layout_at(b->ctx, e->layout)->device;
    for (int d = 0; e->shape && d < m.rank; d++)
        m.dims[d] = tc__local(b, e->shape->dims[d]);
    v.node = tc__make(b->g, TC_OP_INPUT, m.dtype, m.rank, m.dims, NULL, 0, &attr, 1);
    return v.node && TC__PUSH(b->ctx, b->cell, v);
}

// Results of earlier segments that are in memory enter as inputs: code n_ext + position. Views are
// made again from what they show.
static int tc__build_known(tc__builder *b, const tc__step *s) {
    tc__visit *v = b->visit;
    if (s->view || s->position >= v->result_of.count || !v->result_of.at[s->position])
        return 0;
    int64_t attr = (int64_t)(b->externals + s->position);
    tc__cell cell;
    memset(&cell, 0, sizeof cell);
    cell.node = tc__make(b->g, TC_OP_INPUT, s->meta.dtype, s->meta.rank, s->meta.dims, NULL,
                         0, &attr, 1);
    if (!cell.node || !TC__PUSH(b->ctx, b->cell, cell)) b->failed = 1;
    return 1;
}

static void tc__builder_close(tc__builder *b) {
    TC__VEC_FREE(b->ctx, b->cell);
    TC__VEC_FREE(b->ctx, b->chain);
    TC__VEC_FREE(b->ctx, b->wrt);
    TC__VEC_FREE(b->ctx, b->copies.original);
    TC__VEC_FREE(b->ctx, b->within);
    TC__VEC_FREE(b->ctx, b->sym);
    TC__VEC_FREE(b->ctx, b->arg);
    TC__VEC_FREE(b->ctx, b->noted);
    TC__VEC_FREE(b->ctx, b->own);
    tc__derive_close(&b->derive); // before the checkpoints that it was given
    TC__VEC_FREE(b->ctx, b->checkpoint);
    TC__VEC_FREE(b->ctx, b->loop);
    TC__VEC_FREE(b->ctx, b->around);
}

// Notes by which cells the steps derive. 0 = reported.
static int tc__build_wrt(tc__builder *b, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const tc__step *s = b->visit->path.at[i];
        if (s->op != TC_OP_GRADIENT && s->op != TC_OP_JVP) continue;
        uint32_t cell = tc__code_cell(b, s->in[s->op == TC_OP_JVP]);
        while (b->wrt.count <= cell)
            if (!TC__PUSH(b->ctx, b->wrt, 0)) return 0;
        b->wrt.at[cell] = 1;
    }
    return 1;
}

// Walks the first `count` steps of the visit. Results already in memory are inputs unless the path
// writes in place anywhere, or derives: then everything is recomputed from the externals. 0 = reported.
static int tc__build(tc__builder *b, tc__graph *g, tc__visit *v, uint32_t count) {
    int pure = 1;
    memset(b, 0, sizeof *b);
    b->ctx = g->ctx, b->g = g, b->visit = v, b->externals = (uint32_t)v->external.count;
    b->round_each_op = v->region && v->region->options.round_each_op;
    b->memory_budget = v->region ? v->region->options.memory_budget : 0;
    b->in_place = v->in_place;
    if (!tc__build_symbols(b, count) || !tc__build_places(b, count) ||
        !tc__build_wrt(b, count))
        return 0;
    for (uint32_t i = 0; i < count; i++)
        pure &= v->path.at[i]->op != TC_OP_COPY_ &&
                tc__ops[v->path.at[i]->op].kind != TC__KIND_DERIVE &&
                tc__ops[v->path.at[i]->op].kind != TC__KIND_LOOP;
    for (uint32_t i = 0; i < b->externals; i++)
        if (!tc__build_external(b, i)) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const tc__step *s = tc__local_step(b, v->path.at[i]);
        if (!s) return 0;
        g->from = v->path.at[i];
        g->device = tc__step_device(b->ctx, v, v->path.at[i]);
        if (pure && tc__build_known(b, s)) continue;
        if (b->failed || !tc__build_step(b, s)) return 0;
    }
    return 1;
}
