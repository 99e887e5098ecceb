// Tensors that a kernel only puts beside each other are stored there by the kernels that make them, on devices: the gradients of
// q, k and v, which one product made, are its gradient. Input: kernels of a schedule, a list each. Output: their stores go to
// the one memory, and the kernel between them is gone, or what else it does reads there.
//
//     %0 = load b0[64*c + r%64 ...] if 0 <= r < 768           store b3[2304*c + r] of one kernel,
//     %1 = load b1[64*c + r%64 ...] if 0 <= r - 768 < 768     and of another
//     %2 = add %0 %1
//     store b3[2304*c + r] %2
//
// Or each part has a store of its own, of what is loaded and zero, which is how border.c leaves kernels that do nothing else.
//
// An index of what is loaded is a sum of digits of r and c, whose places say where an element of it goes.

enum { TC__ASSEMBLED = 4, TC__ASSEMBLED_DIGITS = 6 };

// A digit of an index: what its place counts, so many of them, and what it is there.
typedef struct tc__part_digit {
    int64_t place, count, least;
    tc__ix atom;
} tc__part_digit;

typedef struct tc__assembled {
    const tc__node *load, *store;
    uint32_t source;    // node whose memory it reads
    size_t from;        // kernel that makes it
    int64_t begin, end; // of the axis along which parts are beside each other; 0 = all
    tc__ix at;          // where what that kernel stores goes
} tc__assembled;

typedef struct tc__assembly {
    tc__schedule *s;
    size_t to; // kernel
    tc__group *k;
    const tc__node *store; // the first
    tc__axis axis;
    int parts, failed;
    tc__assembled part[TC__ASSEMBLED];
} tc__assembly;

// ---- what is put beside each other ----

// A LOAD of the sum: where it is not zero.
static void tc__assembly_load(tc__assembly *a, const tc__node *n) {
    tc__ixpool *x = a->k->body.ix;
    int one = n->op == TC_OP_LOAD && n->n_attr == TC__LOAD_PREDICATES + 2;
    const tc__kbuf *b = one ? tc__buffer_of(a->k, n) : NULL;
    tc__assembled *p = &a->part[a->parts];
    if (!b || a->parts == TC__ASSEMBLED || b->place != TC__BUF_NODE) {
        a->failed = 1;
        return;
    }
    tc__ix e = n->attr[TC__LOAD_PREDICATES], limit = n->attr[TC__LOAD_PREDICATES + 1];
    tc__axis axis = tc__ix_uses(x, e, TC__ROW) ? TC__ROW : TC__COL;
    tc__ix v = tc__ix_find_var(x, e, axis), behind = v ? tc__ix_sub(x, v, e) : v;
    a->failed |= !v || !tc__ix_is_const(behind) || !tc__ix_is_const(limit) ||
                 (a->parts && axis != a->axis);
    if (a->failed) return;
    a->axis = axis, a->parts++;
    p->load = n, p->store = a->store, p->source = b->source;
    p->begin = tc__ix_value(behind), p->end = p->begin + tc__ix_value(limit);
}

// Value `id`: a sum of LOADs.
static void tc__assembly_sum(tc__assembly *a, uint32_t id) {
    const tc__node *n = a->k->body.node.at[id];
    if (n->op != TC_OP_ADD) {
        tc__assembly_load(a, n);
        return;
    }
    for (uint32_t i = 0; i < 2 && !a->failed; i++) tc__assembly_sum(a, n->in[i]);
}

// Whether node `id` is zero in all its elements.
static int tc__assembly_is_zero(const tc__assembly *a, uint32_t id) {
    const tc__node *n = a->k->body.node.at[id];
    return n->op == TC_OP_CONST && n->attr[TC__CONST_BITS] == 0;
}

// A store of one part alone, with zeros or not.
static void tc__assembly_store(tc__assembly *a, const tc__node *store) {
    const tc__node *n = a->k->body.node.at[store->in[0]];
    tc__assembled *p = &a->part[a->parts];
    while (n->op == TC_OP_ADD &&
           (tc__assembly_is_zero(a, n->in[0]) || tc__assembly_is_zero(a, n->in[1])))
        n = a->k->body.node.at[n->in[tc__assembly_is_zero(a, n->in[0])]];
    const tc__kbuf *b = n->op == TC_OP_LOAD ? tc__buffer_of(a->k, n) : NULL;
    if (!b || a->parts == TC__ASSEMBLED || b->place != TC__BUF_NODE ||
        n->n_attr != TC__LOAD_PREDICATES) {
        a->failed = 1;
        return;
    }
    memset(p, 0, sizeof *p);
    p->load = n, p->store = store, p->source = b->source, a->parts++;
}

// Whether the parts are all of the axis, and each is in no two.
static int tc__assembly_covers(const tc__assembly *a) {
    int64_t all = 0;
    tc__ix extent = a->axis == TC__ROW ? a->k->shape.rows : a->k->shape.cols;
    for (int i = 0; i < a->parts; i++) {
        const tc__assembled *p = &a->part[i];
        for (int j = 0; j < i; j++)
            if (p->begin < a->part[j].end && a->part[j].begin < p->end) return 0;
        all += p->end - p->begin;
    }
    return a->parts > 1 && tc__ix_equals(extent, all);
}

// Whether node `id` of the list is of the sum, below its value.
static int tc__assembly_is_inside(const tc__assembly *a, uint32_t id, uint32_t value) {
    const tc__node *n = a->k->body.node.at[value];
    if (n->op != TC_OP_ADD) return 0;
    for (uint32_t i = 0; i < 2; i++)
        if (n->in[i] == id || tc__assembly_is_inside(a, id, n->in[i])) return 1;
    return 0;
}

// Whether nothing else of the kernel is made of them.
static int tc__assembly_is_alone(const tc__assembly *a) {
    uint32_t value = a->store->in[0];
    for (uint32_t id = 0; id < a->k->body.node.count; id++) {
        const tc__node *n = a->k->body.node.at[id];
        if (id == value || tc__assembly_is_inside(a, id, value)) continue;
        for (uint32_t i = 0; i < n->n_in; i++)
            if (tc__assembly_is_inside(a, n->in[i], value)) return 0;
        for (int i = 0; i < a->parts; i++)
            if (n->op == TC_OP_LOAD && tc__buffer_of(a->k, n)->source == a->part[i].source)
                return 0;
    }
    return 1;
}

// ---- where an element goes ----

// Of which variable, and which of its digits, an atom is: (v / *by) % *rest, 0 = what is above. 0 = of none.
static tc__ix tc__assembly_digit_of(const tc__ixpool *x, tc__ix atom, int64_t *by,
                                    int64_t *rest) {
    const tc__ixnode *n = tc__ix_node(x, atom);
    *by = 1, *rest = 0;
    if (n->kind == TC__IX_MOD && tc__ix_is_const(n->b)) {
        *rest = tc__ix_value(n->b), atom = n->a;
        if (tc__ix_is_const(atom)) return 0;
        n = tc__ix_node(x, atom);
    }
    if (n->kind == TC__IX_DIV && tc__ix_is_const(n->b)) {
        *by = tc__ix_value(n->b), atom = n->a;
        if (tc__ix_is_const(atom)) return 0;
        n = tc__ix_node(x, atom);
    }
    return n->kind == TC__IX_VAR ? atom : 0;
}

// The digits of e, an index of a part, largest place first; how many, 0 = they are not all that its memory has.
static int tc__assembly_digits(const tc__assembly *a, const tc__assembled *p,
                               tc__part_digit *d) {
    tc__ixpool *x = a->k->body.ix;
    tc__ix e = p->load->attr[TC__LOAD_INDEX];
    if (tc__ix_is_const(e) || tc__ix_node(x, e)->kind != TC__IX_POLY) return 0;
    const tc__ixnode *n = tc__ix_node(x, e);
    int64_t base = n->base, place = 1;
    int count = (int)n->count;
    if (count > TC__ASSEMBLED_DIGITS) return 0;
    for (int i = 0; i < count; i++) {
        const tc__ixterm *t = &x->term.at[n->first + (uint32_t)i];
        tc__ix atom = t->atom[0];
        int64_t lo = tc__ix_lo(x, atom), hi = tc__ix_hi(x, atom), by, rest;
        if (t->atom[1] || t->coef < 1) return 0;
        tc__ix v = tc__assembly_digit_of(x, atom, &by, &rest);
        if (p->end && v && !rest && tc__ix_uses(x, v, a->axis)) { // of the part alone
            if (p->begin % by || p->end % by) return 0;
            lo = p->begin / by, hi = p->end / by - 1;
        }
        int at = i;
        for (; at && d[at - 1].place < t->coef; at--) d[at] = d[at - 1];
        d[at].place = t->coef, d[at].count = hi - lo + 1, d[at].least = lo;
        d[at].atom = atom, base += t->coef * lo;
    }
    for (int i = count; i-- > 0; place *= d[i].count)
        if (d[i].place != place) return 0;
    // Of what is read in part, the rest would go somewhere as well.
    int all = tc__ix_equals(tc__buffer_of(a->k, p->load)->numel, place);
    return base || !all ? 0 : count;
}

// What digit i of element e says its atom is.
static tc__ix tc__assembly_atom(tc__ixpool *x, const tc__part_digit *d, tc__ix e) {
    tc__ix digit =
        tc__ix_mod(x, tc__ix_div(x, e, tc__ix_const(d->place)), tc__ix_const(d->count));
    return tc__ix_add(x, digit, tc__ix_const(d->least));
}

// Variable v of element e, which all its digits make; 0 = some are missing.
static tc__ix tc__assembly_var(tc__ixpool *x, const tc__part_digit *d, int count, tc__ix v,
                               tc__ix e) {
    tc__ix is = 0;
    int64_t next = 1;
    for (int found = 1; found && next;) { // from the lowest on
        found = 0;
        for (int i = 0; i < count && !found; i++) {
            int64_t by, rest;
            if (tc__assembly_digit_of(x, d[i].atom, &by, &rest) != v || by != next)
                continue;
            tc__ix value = tc__ix_mul(x, tc__assembly_atom(x, &d[i], e), tc__ix_const(by));
            is = is ? tc__ix_add(x, is, value) : value;
            next = rest * by, found = 1;
        }
    }
    return next ? 0 : is;
}

// Where element e of part p goes; 0 = unknown.
static tc__ix tc__assembly_place(const tc__assembly *a, const tc__assembled *p, tc__ix e) {
    static const tc__axis axes[] = {TC__ROW, TC__COL};
    tc__ixpool *x = a->k->body.ix;
    tc__part_digit d[TC__ASSEMBLED_DIGITS];
    int count = tc__assembly_digits(a, p, d);
    tc__ix at = p->store->attr[TC__STORE_INDEX];
    // Expressions that are put in do not name what is still to be replaced: they name other variables first.
    tc__ix var[2], is[2];
    for (int i = 0; i < 2; i++) {
        var[i] = tc__ix_find_var(x, at, axes[i]);
        is[i] = var[i] && count ? tc__assembly_var(x, d, count, var[i], e) : 0;
        if (var[i] && !is[i]) return 0;
    }
    tc__ix hold = var[0] ? tc__ix_var(x, TC__VAR_END - 1, a->k->shape.rows) : 0;
    if (var[0]) at = tc__ix_subst(x, at, var[0], hold);
    if (var[1]) at = tc__ix_subst(x, at, var[1], is[1]);
    return var[0] ? tc__ix_subst(x, at, hold, is[0]) : at;
}

// ---- who makes it ----

// The STORE of kernel k to the memory of node `source`, if that is all k does with it.
static const tc__node *tc__assembly_made(const tc__group *k, uint32_t source) {
    const tc__node *store = NULL;
    for (size_t i = 0; i < k->body.node.count; i++) {
        const tc__node *n = k->body.node.at[i];
        if (!tc__is_access_of(k, n, source)) continue;
        if (store || n->op != TC_OP_STORE) return NULL;
        store = n;
    }
    return store;
}

// The kernel before that of the assembly that makes part p, if no other has to do with it.
static int tc__assembly_from(const tc__assembly *a, tc__assembled *p) {
    const tc__kbuf *to = tc__buffer_of(a->k, a->store);
    const tc__node *store = NULL;
    for (size_t i = 0; i < a->s->kernel.count; i++) {
        const tc__group *k = a->s->kernel.at[i];
        if (!k || i == a->to || !tc__has_buffer(k, p->source)) continue;
        if (store || i > a->to || k->target.device != a->k->target.device ||
            k->target.loop || k->shape.kind == TC__OPAQUE)
            return 0;
        store = tc__assembly_made(k, p->source), p->from = i;
        if (!store || tc__buffer_of(k, store)->dtype != to->dtype) return 0;
    }
    if (!store) return 0;
    const tc__group *k = a->s->kernel.at[p->from];
    tc__ix was = store->attr[TC__STORE_INDEX];
    p->at = tc__assembly_place(a, p, was);
    if (!p->at) return 0;
    tc__axis along = k->shape.vector;
    return tc__access_along(k, was, along, 8) == tc__access_along(k, p->at, along, 8);
}

// Whether the kernel stores something else.
static int tc__assembly_has_rest(const tc__assembly *a) {
    for (size_t i = 0; i < a->k->body.node.count; i++) {
        const tc__node *n = a->k->body.node.at[i];
        if (n->op == TC_OP_STORE &&
            n->attr[TC__STORE_BUFFER] != a->store->attr[TC__STORE_BUFFER])
            return 1;
    }
    return 0;
}

// The parts that stores to the memory of node `source` put there; 0 = something else is stored.
static int tc__assembly_parts(tc__assembly *a, uint32_t source) {
    const tc__group *k = a->k;
    int stores = 0;
    a->store = NULL, a->parts = a->failed = 0;
    for (size_t i = 0; i < k->body.node.count; i++)
        stores += tc__is_access_of(k, k->body.node.at[i], source);
    for (size_t i = 0; i < k->body.node.count && !a->failed; i++) {
        const tc__node *n = k->body.node.at[i];
        if (!tc__is_access_of(k, n, source)) continue;
        if (n->op != TC_OP_STORE) return 0;
        if (!a->store) a->store = n;
        if (stores == 1)
            tc__assembly_sum(a, n->in[0]);
        else
            tc__assembly_store(a, n);
    }
    if (a->failed || a->parts < 2) return 0;
    for (int i = 1; i < a->parts; i++) // each is in one place
        for (int j = 0; j < i; j++)
            if (a->part[i].source == a->part[j].source) return 0;
    return stores == 1 ? tc__assembly_covers(a) && tc__assembly_is_alone(a)
                       : !tc__assembly_has_rest(a);
}

// Whether kernel `to` puts parts beside each other that kernels before it make.
static int tc__assembly_fits(tc__assembly *a) {
    const uint8_t *output = a->s->output;
    for (size_t i = 0; i < a->k->buffer.count; i++) {
        const tc__kbuf *b = &a->k->buffer.at[i];
        if (b->place != TC__BUF_NODE || !b->written || output[b->source] ||
            !tc__assembly_parts(a, b->source))
            continue;
        int made = 0;
        for (int p = 0; p < a->parts; p++)
            made += !output[a->part[p].source] && tc__assembly_from(a, &a->part[p]);
        if (made == a->parts) return 1;
    }
    return 0;
}

// ---- what becomes of the kernels ----

// A kernel with `list` appended, whose buffers of the same memory are one; NULL = out of memory, reported.
static tc__group *tc__assembly_copy(tc_ctx *c, const tc__group *list) {
    tc__join j;
    tc__group *k = tc__group_empty(c, list);
    if (!k) return NULL;
    memset(&j, 0, sizeof j);
    j.ctx = c, j.to = k;
    if (tc__join_append(&j, list)) return k;
    tc__group_free(c, k);
    return NULL;
}

// The kernel that makes part p stores it where it goes. 0 = reported.
static int tc__assembly_move(tc__assembly *a, const tc__assembled *p) {
    tc__group **at = &a->s->kernel.at[p->from], *k = *at;
    tc__node *store = (tc__node *)(uintptr_t)tc__assembly_made(k, p->source);
    const tc__kbuf *to = tc__buffer_of(a->k, a->store);
    tc__kbuf *b = &k->buffer.at[store->attr[TC__STORE_BUFFER]];
    store->attr[TC__STORE_INDEX] = p->at;
    b->source = to->source, b->numel = to->numel;
    tc__group *own = tc__assembly_copy(a->s->ctx, k);
    if (!own) return 0;
    tc__group_free(a->s->ctx, k);
    *at = own;
    return 1;
}

// Nodes of the list that are not of the sum; in place of its value that is loaded.
static void tc__assembly_rest(const tc__assembly *a, tc__join *j) {
    uint32_t value = a->store->in[0];
    for (uint32_t id = 0; id < a->k->body.node.count && !j->failed; id++) {
        const tc__node *n = a->k->body.node.at[id];
        if (n == a->store || tc__assembly_is_inside(a, id, value)) continue;
        if (id != value) {
            tc__join_append_node(j, a->k, id);
            continue;
        }
        tc__node load = *a->part[0].load;
        int64_t attr[TC__LOAD_PREDICATES];
        attr[TC__LOAD_BUFFER] = j->buffer[a->store->attr[TC__STORE_BUFFER]];
        attr[TC__LOAD_INDEX] = a->store->attr[TC__STORE_INDEX];
        load.attr = attr, load.n_attr = TC__LOAD_PREDICATES;
        tc__join_node(j, &load, id);
    }
    tc__join_covers(j, a->k);
}

// That, reading what is beside each other already; NULL = out of memory, reported.
static tc__group *tc__assembly_left(const tc__assembly *a) {
    tc_ctx *c = a->s->ctx;
    size_t nodes = a->k->body.node.count + 1, buffers = a->k->buffer.count + 1;
    tc__join j;
    memset(&j, 0, sizeof j);
    j.ctx = c, j.to = tc__group_empty(c, a->k);
    j.at = TC__NEW_ARRAY(c, uint32_t, nodes), j.buffer = TC__NEW_ARRAY(c, int64_t, buffers);
    int ok = j.to && j.at && j.buffer;
    for (size_t i = 0; ok && i < a->k->buffer.count; i++) {
        tc__kbuf b = a->k->buffer.at[i];
        int of = 0;
        for (int p = 0; p < a->parts; p++)
            of |= b.place == TC__BUF_NODE && b.source == a->part[p].source;
        if ((int64_t)i == a->store->attr[TC__STORE_BUFFER]) b.written = 0;
        j.buffer[i] = of ? -1 : tc__join_add_buffer(&j, &b);
    }
    if (ok) tc__assembly_rest(a, &j);
    ok = ok && !j.failed && tc__checked(c, &j.to->body, TC__LOOP);
    TC__FREE_ARRAY(c, j.at, nodes);
    TC__FREE_ARRAY(c, j.buffer, buffers);
    if (!ok) tc__group_free(c, j.to);
    return ok ? j.to : NULL;
}

// All kernels on the device that do so. 0 = reported.
static int tc__assemble(tc__schedule *s, int device) {
    for (size_t i = 0; i < s->kernel.count; i++) {
        tc__assembly a;
        memset(&a, 0, sizeof a);
        a.s = s, a.to = i, a.k = s->kernel.at[i];
        if (!a.k || a.k->target.device != device || a.k->target.loop ||
            a.k->shape.prologue || a.k->shape.kind == TC__CONTRACTION ||
            a.k->shape.kind == TC__OPAQUE || !tc__assembly_fits(&a))
            continue;
        tc__log(s->ctx, TC__LOG_FUSION, "%%%u lies where its %d parts are stored",
                (unsigned)tc__buffer_of(a.k, a.store)->source, a.parts);
        tc__group *left = tc__assembly_has_rest(&a) ? tc__assembly_left(&a) : NULL;
        if (!left && tc__assembly_has_rest(&a)) return 0;
        for (int p = 0; p < a.parts; p++)
            if (!tc__assembly_move(&a, &a.part[p])) return tc__group_free(s->ctx, left), 0;
        tc__group_free(s->ctx, a.k);
        s->kernel.at[i] = left;
    }
    return 1;
}
