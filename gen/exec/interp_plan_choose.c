// The interpreter's plan, choices: which WHEREs, VALIDs and LOADs become one instruction (exec/interp_choose.c), and what it
// is. A tree is what is chosen among by places alone: its root a WHERE, inside it WHEREs and
// LOADs that nothing else uses; other values are in registers, whoever made them.
//
// Trees are found before registers are given away, as what is inside has none, and once more for their instruction.

enum {
    TC__PICK_MOST = 64, // of a tree; a concatenation of more parts has several
    TC__PICK_LANES =
        256 // of a rectangle: where places are asked for fewer, masks are faster
};

// The choices of a tree, breadth first, and the length of their runs.
typedef struct tc__tree {
    uint32_t root, count;
    struct {
        uint32_t node;
        uint32_t yes; // of a WHERE: its two choices stand here and behind; 0: a leaf
        const tc__node *path; // the VALID or LOAD that says where; NULL: a value
    } at[TC__PICK_MOST];
    int64_t run;
} tc__tree;

// Index and predicates of a LOAD or VALID.
static int64_t tc__plan_index_of(const tc__node *n) {
    return n->op == TC_OP_LOAD ? n->attr[TC__LOAD_INDEX] : tc__ix_const(0);
}

static uint32_t tc__plan_first_limit(const tc__node *n) {
    return n->op == TC_OP_LOAD ? TC__LOAD_PREDICATES : 0;
}

// Joins how index and predicates of n move to the runs of a tree. 0 = lanes are asked one by one, or values of the list.
static int tc__plan_joins(tc__planner *b, tc__tree *t, const tc__node *n) {
    int64_t run = t->run, index = tc__plan_index_of(n);
    if (tc__ix_has_val(b->g->body.ix, index)) return 0;
    tc__ixrun r = tc__plan_run(b, index);
    tc__plan_join_run(&run, &r);
    for (uint32_t i = tc__plan_first_limit(n); i + 1 < n->n_attr; i += 2) {
        if (tc__ix_has_val(b->g->body.ix, n->attr[i])) return 0;
        if (!tc__plan_is_still(b, n->attr[i + 1])) return 0;
        r = tc__plan_run(b, n->attr[i]);
        tc__plan_join_run(&run, &r);
    }
    if (run < TC__PLAN_SHORT_RUN) return 0;
    t->run = run;
    return 1;
}

// Whether n may be made at `root`: in the same loop, nothing stored before.
static int tc__plan_is_near(const tc__planner *b, uint32_t root, const tc__node *n) {
    if (b->uniform[n->id]) return 0;
    for (uint32_t i = n->id + 1; i < root; i++) {
        tc__op op = (tc__op)tc__plan_node(b, i)->op;
        if ((op == TC_OP_FOR && !b->flat) || op == TC_OP_END || op == TC_OP_STORE) return 0;
    }
    return 1;
}

static int tc__plan_may_wait(const tc__planner *b, uint32_t root, const tc__node *n) {
    return b->uses[n->id] == 1 && tc__plan_is_near(b, root, n);
}

// What says where n is chosen, or where its elements are; NULL: it is a value.
static const tc__node *tc__plan_says_where(tc__planner *b, tc__tree *t, const tc__node *n) {
    const tc__node *path = n;
    if (n->id != t->root && !tc__plan_may_wait(b, t->root, n)) return NULL;
    if (n->op == TC_OP_WHERE) path = tc__plan_node(b, n->in[0]);
    if (n->op == TC_OP_WHERE && t->count + 2 > TC__PICK_MOST) return NULL;
    if (path->op != (n->op == TC_OP_WHERE ? TC_OP_VALID : TC_OP_LOAD)) return NULL;
    if (path == n && tc__plan_in_lanes(b, n)) return NULL;
    return tc__plan_joins(b, t, path) ? path : NULL;
}

static void tc__plan_tree_add(tc__tree *t, uint32_t node) {
    t->at[t->count].node = node, t->at[t->count].yes = 0, t->at[t->count++].path = NULL;
}

// The tree of WHERE n; 0 = it is none.
static int tc__plan_tree_open(tc__planner *b, const tc__node *n, tc__tree *t) {
    t->root = n->id, t->count = 0, t->run = INT64_MAX;
    tc__plan_tree_add(t, n->id);
    for (uint32_t k = 0; k < t->count; k++) {
        n = tc__plan_node(b, t->at[k].node);
        t->at[k].path = tc__plan_says_where(b, t, n);
        if (!t->at[k].path || n->op != TC_OP_WHERE) continue;
        t->at[k].yes = t->count;
        tc__plan_tree_add(t, n->in[1]), tc__plan_tree_add(t, n->in[2]);
    }
    return t->at[0].path != NULL;
}

// Whether the runs of a tree are long, or many of them move evenly.
static int tc__plan_tree_is_large(tc__planner *b, const tc__tree *t) {
    int64_t stretch = INT64_MAX;
    if (t->run >= TC__PICK_LANES) return 1;
    for (uint32_t k = 0; k < t->count; k++) {
        const tc__node *n = t->at[k].path;
        if (!n) continue;
        tc__ixrun r = tc__plan_over(b, tc__plan_index_of(n), t->run);
        tc__plan_join_run(&stretch, &r);
        for (uint32_t i = tc__plan_first_limit(n); i + 1 < n->n_attr; i += 2) {
            r = tc__plan_over(b, n->attr[i], t->run);
            tc__plan_join_run(&stretch, &r);
            if (tc__plan_limit_kind(b, n->attr[i], t->run) == TC__LIMIT_MOVES) return 0;
        }
    }
    return stretch >= TC__PLAN_SHORT_STRETCH && stretch >= TC__PICK_LANES / t->run;
}

static void tc__plan_count_use(void *user, uint32_t id) {
    ((tc__planner *)user)->uses[id] += 2; // as an index: it is no choice
}

static void tc__plan_scan_uses(tc__planner *b) {
    for (uint32_t i = 0; i < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i);
        for (uint32_t k = 0; k < n->n_in; k++) b->uses[n->in[k]]++;
        for (uint32_t k = 0; k < n->n_attr; k++)
            if (tc__attr_is_ix(n, k))
                tc__ix_each_val(b->g->body.ix, n->attr[k], tc__plan_count_use, b);
    }
}

// Which values are inside trees, from the last one on, so that roots come first; of VALIDs, which no other value uses.
static void tc__plan_scan_choices(tc__planner *b) {
    tc__tree t;
    tc__plan_scan_uses(b);
    b->axis = b->p->vector;
    for (uint32_t i = b->p->nodes; i-- > 0;) {
        const tc__node *n = tc__plan_node(b, i);
        if (n->op != TC_OP_WHERE || b->uniform[i] || b->tree[i]) continue;
        if (tc__plan_part(b, n)->product || !tc__plan_tree_open(b, n, &t)) continue;
        if (!tc__plan_tree_is_large(b, &t)) continue;
        for (uint32_t k = 0; k < t.count; k++) {
            if (t.at[k].path) b->tree[t.at[k].node] = 1 + i;
            if (t.at[k].yes) b->uses[t.at[k].path->id]--;
        }
    }
    for (uint32_t i = 0; i < b->p->nodes; i++)
        if (tc__plan_node(b, i)->op == TC_OP_VALID && !b->uses[i]) b->tree[i] = UINT32_MAX;
}

// Sums of products along columns: the product is inside the ACC.
static void tc__plan_scan_products(tc__planner *b) {
    for (uint32_t i = 0; i < b->p->nodes && b->p->vector == TC__COL; i++) {
        const tc__node *n = tc__plan_node(b, i), *product;
        if (n->op != TC_OP_ACC || n->attr[TC__ACC_MONOID] != TC_OP_ADD) continue;
        if (tc__plan_is_down(b, n)) continue;
        product = tc__plan_node(b, n->in[0]);
        if (product->op != TC_OP_MUL && product->op != TC_OP_SQUARE) continue;
        if (!b->p->isa->fold_mul[tc__dtype(product->dtype)->reg]) continue;
        if (tc__plan_may_wait(b, i, product)) b->tree[product->id] = 1 + i;
    }
}

// FMAs whose sum is one that nothing else uses, two by two from the last one on: the first is inside the second.
static void tc__plan_scan_sums(tc__planner *b) {
    for (uint32_t i = b->p->nodes; i-- > 0;) {
        const tc__node *n = tc__plan_node(b, i), *sum;
        if (n->op != TC_OP_FMA || b->tree[i] || b->uniform[i]) continue;
        sum = tc__plan_node(b, n->in[2]);
        if (sum->op != TC_OP_FMA || tc__plan_part(b, n)->product) continue;
        if (!b->p->isa->fma2[tc__dtype(n->dtype)->reg]) continue;
        if (tc__plan_may_wait(b, i, sum)) b->tree[sum->id] = 1 + i;
    }
}

// ---- the instruction

static uint32_t tc__plan_choice_path(tc__planner *b, const tc__node *n, int64_t run) {
    uint32_t first = tc__plan_first_limit(n);
    tc__path p = tc__plan_path_of(
        b, tc__plan_index_of(n), n->attr + first, n->n_attr > first ? n->n_attr - first : 0,
        n->op == TC_OP_LOAD ? (uint32_t)n->attr[TC__LOAD_BUFFER] : 0, run);
    p.scale = 1;
    if (!TC__PUSH(b->ctx, b->p->path, p)) b->failed = 1;
    return (uint32_t)b->p->path.count - 1;
}

static tc__picked tc__plan_choice(tc__planner *b, const tc__tree *t, uint32_t k) {
    const tc__node *n = tc__plan_node(b, t->at[k].node), *path = t->at[k].path;
    uint32_t first = (uint32_t)b->p->choice.count - k; // of the tree's
    tc__value fill;
    tc__picked c;
    memset(&c, 0, sizeof c);
    c.kind = TC__PICK_VALUE, c.node = n->id, c.dtype = n->dtype;
    if (!path) return c;
    c.kind = t->at[k].yes ? TC__PICK_WHERE : TC__PICK_LOAD;
    c.path = tc__plan_choice_path(b, path, t->run);
    c.yes = first + t->at[k].yes, c.no = c.yes + 1;
    if (t->at[k].yes) return c;
    memcpy(&fill, &n->attr[TC__LOAD_FILL], sizeof fill);
    c.fill = tc__word_of(b->p->isa, n->dtype, fill);
    return c;
}

static void tc__plan_choose(tc__planner *b, const tc__node *n, tc__insn *i) {
    tc__tree t;
    int64_t stretch = INT64_MAX;
    i->item = (uint32_t)b->p->choice.count, i->step = tc__step_choose;
    if (!tc__plan_tree_open(b, n, &t)) tc__plan_fail(b, n, "a tree of choices is none");
    for (uint32_t k = 0; k < t.count && !b->failed; k++) {
        tc__picked c = tc__plan_choice(b, &t, k);
        if (!TC__PUSH(b->ctx, b->p->choice, c)) b->failed = 1;
        if (b->failed || !t.at[k].path) continue;
        int64_t own = b->p->path.at[c.path].stretch;
        stretch = own == INT64_MAX ? stretch
                  : own && stretch ? tc__ix_gcd(own, stretch == INT64_MAX ? own : stretch)
                                   : 0;
    }
    if (b->failed) return;
    tc__path *root = &b->p->path.at[b->p->choice.at[i->item].path];
    root->stretch = stretch < TC__PLAN_SHORT_STRETCH ? 0 : stretch;
}

// ---- narrow elements

static int tc__plan_narrow_op(const tc__node *n) {
    if (n->dtype != TC_I32) return -1;
    if (n->op == TC_OP_ADD) return TC__NARROW_ADD;
    if (n->op == TC_OP_SUB) return TC__NARROW_SUB;
    return n->op == TC_OP_MUL ? (int)TC__NARROW_MUL : -1;
}

// Whether memory is read or written side by side everywhere, without predicates.
static int tc__plan_is_plain(tc__planner *b, const tc__node *n, uint32_t words) {
    tc__ixrun r = tc__plan_run(b, n->attr[TC__ACCESS_INDEX]);
    if (tc__plan_in_lanes(b, n) || n->n_attr > words) return 0;
    return r.ok && r.run == INT64_MAX && tc__ix_equals(r.stride, 1);
}

static const tc__node *tc__plan_narrow_load(const tc__planner *b, const tc__node *op,
                                            int k) {
    return tc__plan_node(b, tc__plan_node(b, op->in[k])->in[0]);
}

// Whether operand k of op, inside `root`, is a LOAD of elements of so many bytes, cast to i32 and used so alone.
static int tc__plan_is_narrow(tc__planner *b, const tc__node *op, int k, uint32_t root,
                              uint32_t bytes) {
    const tc__node *cast = tc__plan_node(b, op->in[k]), *load;
    uint32_t uses = 1u + (op->in[0] == op->in[1]);
    if (cast->op != TC_OP_CAST || b->uses[cast->id] != uses) return 0;
    load = tc__plan_narrow_load(b, op, k);
    if (load->op != TC_OP_LOAD || load->dtype == TC_BOOL || b->uses[load->id] != 1)
        return 0;
    if (tc__dtype(load->dtype)->reg != TC__CLASS_i32) return 0;
    if (tc__dtype(load->dtype)->bytes != bytes) return 0;
    return tc__plan_is_near(b, root, load) &&
           tc__plan_is_plain(b, load, TC__LOAD_PREDICATES);
}

// store(cast(op(cast(load), cast(load)))) of u8, i8 or i16: what is between LOADs and STORE is inside the last cast.
static int tc__plan_is_narrow_root(tc__planner *b, const tc__node *n) {
    uint32_t bytes = (uint32_t)tc__dtype(n->dtype)->bytes;
    if (n->op != TC_OP_CAST || n->dtype == TC_BOOL || b->uses[n->id] != 1) return 0;
    if (tc__dtype(n->dtype)->reg != TC__CLASS_i32 || bytes > 2) return 0;
    if (!b->stored[n->id] || tc__plan_part(b, n)->product) return 0;
    const tc__node *op = tc__plan_node(b, n->in[0]), *store = tc__plan_node(b, n->id + 1);
    if (store->op != TC_OP_STORE || store->in[0] != n->id) return 0;
    if (tc__plan_narrow_op(op) < 0 || !tc__plan_may_wait(b, n->id, op)) return 0;
    return tc__plan_is_plain(b, store, TC__STORE_KIND + 1) &&
           tc__plan_is_narrow(b, op, 0, n->id, bytes) &&
           tc__plan_is_narrow(b, op, 1, n->id, bytes);
}

static void tc__plan_scan_narrow(tc__planner *b) {
    b->axis = b->p->vector;
    for (uint32_t i = 0; i + 1 < b->p->nodes; i++) {
        const tc__node *n = tc__plan_node(b, i), *op;
        if (!tc__plan_is_narrow_root(b, n)) continue;
        op = tc__plan_node(b, n->in[0]);
        b->tree[i] = b->tree[op->id] = 1 + i;
        for (int k = 0; k < 2; k++)
            b->tree[op->in[k]] = b->tree[tc__plan_narrow_load(b, op, k)->id] = 1 + i;
    }
}

static void tc__plan_narrow(tc__planner *b, const tc__node *n, tc__insn *i) {
    const tc__node *op = tc__plan_node(b, n->in[0]);
    i->item = tc__plan_choice_path(b, tc__plan_narrow_load(b, op, 0), INT64_MAX);
    i->k = tc__plan_choice_path(b, tc__plan_narrow_load(b, op, 1), INT64_MAX);
    i->step = tc__step_narrow;
    i->narrow = b->p->isa->narrow[tc__dtype(n->dtype)->bytes - 1][tc__plan_narrow_op(op)];
}

// The instruction of a root.
static void tc__plan_root(tc__planner *b, const tc__node *n, tc__insn *i) {
    if (n->op == TC_OP_CAST)
        tc__plan_narrow(b, n, i);
    else
        tc__plan_choose(b, n, i);
}
