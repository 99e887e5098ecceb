// The verifier of lists for devices, behind tc__verify: what threads share is written and read in order. It
// knows nothing of forms; what it cannot tell, it refuses.
//
//   launches  all stands in them; loops over blocks and threads are around all else, and the extents of the
//             latter make the threads of a block
//   axes      stay below their extents: by what is known of their loops, or by an `if` around them
//   barriers  stand where all threads of the block come: in no `if`, and in no other loop
//   shared    indices are inside. Of two accesses that one barrier does not part, one a write, only a thread
//             with itself may meet: they have one index, which no two threads have
//   register  indices are inside, and made of what the compiler unrolls
//   work      indices are inside; what a launch has written there it reads behind a LAST only

enum {
    TC__DEVICE_ACCESSES = 256,
    TC__DEVICE_THREADS = 1024,
    TC__DEVICE_LEFT = 4,
    TC__DEVICE_BOUNDS = 4,
    TC__DEVICE_COPIED = 1, // copies that nobody waited for,
    TC__DEVICE_PUT = 2     //   and what was written for other blocks
};

typedef struct tc__shared_access {
    const tc__node *node;
    tc__ix at;                       // by the loops alone
    int barriers;                    // before it
    tc__ix below[TC__DEVICE_BOUNDS]; // limits that an IF keeps it below
    int bounds;                      //   so many
    int own;                         // no two threads have it
} tc__shared_access;

typedef struct tc__device_verifier {
    tc__verifier v;
    const tc__group *k;
    tc__ixpool *ix;
    const tc__node *open[TC__VERIFY_DEPTH];
    uint32_t depth;
    tc__ix axis[TC__VAR_END]; // by the loops, 0 = not bound
    int64_t threads;          // of the loops over them
    tc__ix blocks;            // of the others
    int barriers, count;
    const tc__node *left[TC__DEVICE_LEFT]; // facts that hold to the launch's end
    int n_left, warps;                     // threads have left, so warps alone may meet
    uint8_t *under_way;                    // by buffer: TC__DEVICE_COPIED, TC__DEVICE_PUT
    tc__shared_access access[TC__DEVICE_ACCESSES];
} tc__device_verifier;

static int tc__device_binds_threads(const tc__node *n) {
    return n->op == TC_OP_FOR && (n->attr[TC__FOR_BIND] == TC__BIND_BLOCK ||
                                  n->attr[TC__FOR_BIND] == TC__BIND_LANE);
}

static int tc__device_is_outer(const tc__node *n) {
    return n->op == TC_OP_LAUNCH || tc__device_binds_threads(n) ||
           (n->op == TC_OP_FOR && n->attr[TC__FOR_BIND] == TC__BIND_GRID);
}

// Whether all threads come together into what n opens.
static int tc__device_is_of_all(const tc__node *n) {
    return tc__device_is_outer(n) || n->op == TC_OP_TEMPLATE ||
           (n->op == TC_OP_HOLE && n->attr[TC__HOLE_HOLE] == TC__HOLE_ROWS);
}

// What was so is there for all now.
static void tc__device_arrives(tc__device_verifier *d, int what) {
    for (size_t i = 0; i < d->k->buffer.count; i++) d->under_way[i] &= (uint8_t)~what;
}

// e with the axes that are bound replaced by what they are made of.
static tc__ix tc__device_expand(const tc__device_verifier *d, tc__ix e) {
    for (int a = 0; a < (int)TC__VAR_END; a++) {
        tc__ix var = d->axis[a] ? tc__ix_find_var(d->ix, e, (tc__axis)a) : 0;
        if (var) e = tc__ix_subst(d->ix, e, var, d->axis[a]);
    }
    return e;
}

// ---- statements ----

static int tc__device_verify_for(tc__device_verifier *d, const tc__node *n) {
    const tc__node *around = d->depth ? d->open[d->depth - 1] : NULL;
    int64_t bind = n->attr[TC__FOR_BIND];
    if (bind == TC__BIND_WORKER) return tc__verify_fail(&d->v, "a device has no workers");
    if (tc__device_is_outer(n) && !(around && tc__device_is_outer(around)))
        return tc__verify_fail(&d->v, "a loop over blocks or threads inside of another");
    int fixed = bind != TC__BIND_GRID && bind != TC__BIND_SERIAL;
    if (fixed && !tc__ix_is_const(n->attr[TC__FOR_END]))
        return tc__verify_fail(&d->v, "its extent is known at run time only");
    if (tc__device_binds_threads(n)) d->threads *= tc__ix_value(n->attr[TC__FOR_END]);
    if (bind == TC__BIND_GRID)
        d->blocks = tc__ix_mul(d->ix, d->blocks, n->attr[TC__FOR_END]);
    return 1;
}

// The most that a sum of loop variables can be, by their extents; 0 = it is another.
static tc__ix tc__device_most(tc__ixpool *x, tc__ix e) {
    tc__ixsum s;
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(x, &s, e, 1);
    tc__ix most = tc__ix_const(s.base), one = tc__ix_const(1);
    for (int i = 0; i < s.count; i++) {
        tc__ixnode n = *tc__ix_node(x, s.term[i].atom[0]);
        if (s.term[i].atom[1] || n.kind != TC__IX_VAR || s.term[i].coef < 0) return 0;
        tc__ix last = tc__ix_sub(x, n.b, one);
        most = tc__ix_add(x, most, tc__ix_mul(x, tc__ix_const(s.term[i].coef), last));
    }
    return most;
}

// Whether e, which is not negative, is below a limit that may be one of run time, by what it is made of.
static int tc__device_is_below(tc__ixpool *x, tc__ix e, tc__ix limit) {
    if (tc__ix_hi(x, e) < tc__ix_lo(x, limit)) return 1;
    if (tc__ix_is_const(e)) return 0;
    tc__ixnode n = *tc__ix_node(x, e);
    if (n.kind == TC__IX_MOD && n.b == limit) return 1;
    if (n.kind == TC__IX_DIV) return tc__device_is_below(x, n.a, tc__ix_mul(x, limit, n.b));
    tc__ix most = tc__device_most(x, e);
    return most && tc__ix_lo(x, tc__ix_sub(x, limit, most)) >= 1;
}

// Whether p + d stays below a limit that p is below: d takes away, or p is a multiple of what d is less than.
static int tc__device_stays(const tc__ixpool *x, tc__ix p, tc__ix d, tc__ix limit) {
    if (tc__ix_hi(x, d) <= 0) return 1;
    int64_t step = tc__ix_gcd(tc__ix_divisor(x, p), tc__ix_divisor(x, limit));
    return tc__ix_lo(x, d) >= 0 && (tc__ix_equals(d, 0) || tc__ix_hi(x, d) < step);
}

// Whether p + d is below a limit since p, below its own, is at most the last multiple of what it is one of.
static int tc__device_adds_up(const tc__ixpool *x, tc__ix p, tc__ix below, tc__ix d,
                              tc__ix limit) {
    int64_t step = tc__ix_gcd(tc__ix_divisor(x, p), tc__ix_divisor(x, below));
    if (!tc__ix_is_const(below) || !tc__ix_is_const(limit) ||
        tc__ix_hi(x, d) > tc__ix_value(limit))
        return 0;
    return tc__ix_value(below) - step + tc__ix_hi(x, d) < tc__ix_value(limit);
}

// Whether a is b, or less: of run-time sizes, also as a multiple of V that is in b.
static int tc__device_at_most(tc__ixpool *x, tc__ix a, tc__ix b) {
    if (a == b || tc__ix_lo(x, tc__ix_sub(x, b, a)) >= 0) return 1;
    tc__ixsum s;
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(x, &s, a, 1);
    if (s.base || s.count != 1 || s.term[0].atom[1]) return 0;
    const tc__ixnode *n = tc__ix_node(x, s.term[0].atom[0]);
    return n->kind == TC__IX_DIV && n->a == b && tc__ix_equals(n->b, s.term[0].coef);
}

// Whether one of n's predicates holds e below the limit.
static int tc__device_holds(const tc__device_verifier *d, const tc__node *n, tc__ix e,
                            tc__ix limit) {
    for (uint32_t k = 0; k < n->n_attr; k += 2) {
        tc__ix p = tc__device_expand(d, n->attr[k]), below = n->attr[k + 1];
        tc__ix more = tc__ix_sub(d->ix, e, p);
        if (tc__device_at_most(d->ix, below, limit) &&
            tc__device_stays(d->ix, p, more, below))
            return 1;
        if (tc__device_adds_up(d->ix, p, below, more, limit)) return 1;
    }
    return 0;
}

// Whether an open `if` does, or that other threads have left.
static int tc__device_is_held(const tc__device_verifier *d, tc__ix e, tc__ix limit) {
    for (uint32_t i = 0; i < d->depth; i++)
        if (d->open[i]->op == TC_OP_IF && tc__device_holds(d, d->open[i], e, limit))
            return 1;
    for (int i = 0; i < d->n_left; i++)
        if (tc__device_holds(d, d->left[i], e, limit)) return 1;
    return 0;
}

static int tc__device_verify_leave(tc__device_verifier *d, const tc__node *n) {
    if (!tc__device_is_outer(d->open[d->depth - 1]) || d->n_left == TC__DEVICE_LEFT)
        return tc__verify_fail(&d->v, "threads leave a launch where all of them are");
    d->left[d->n_left++] = n;
    return 1;
}

static int tc__device_verify_axis(tc__device_verifier *d, const tc__node *n) {
    tc__ix value = n->attr[TC__AXIS_VALUE], extent = n->attr[TC__AXIS_EXTENT];
    tc__ix e = tc__device_expand(d, value);
    if (tc__ix_lo(d->ix, value) < 0) return tc__verify_fail(&d->v, "it may be negative");
    if (!tc__device_is_below(d->ix, value, extent) &&
        !tc__device_is_below(d->ix, e, extent) && !tc__device_is_held(d, e, extent))
        return tc__verify_fail(&d->v, "it may reach its extent");
    d->axis[n->attr[TC__AXIS_AXIS]] = e;
    return 1;
}

static int tc__device_verify_barrier(tc__device_verifier *d) {
    for (uint32_t i = 0; i < d->depth; i++)
        if (!tc__device_is_outer(d->open[i]))
            return tc__verify_fail(&d->v, "not all threads come here together");
    if (d->n_left && !d->v.node->n_attr)
        return tc__verify_fail(&d->v, "threads of the block have left");
    d->barriers += !d->v.node->n_attr; // of a warp: it orders no memory of the block
    return 1;
}

// Whether a variable is a thread's, of more than one.
static int tc__device_is_thread(const tc__device_verifier *d, int64_t axis) {
    for (size_t i = 0; i < d->k->body.node.count; i++) {
        const tc__node *n = d->k->body.node.at[i];
        if (tc__device_binds_threads(n) && n->attr[TC__FOR_AXIS] == axis)
            return tc__ix_value(n->attr[TC__FOR_END]) > 1;
    }
    return 0;
}

// Whether a variable counts the shares of so many threads in a block: one loop over lanes is inside of its own.
static int tc__device_counts_shares(const tc__device_verifier *d, int64_t axis,
                                    int64_t share) {
    int64_t inside = 1;
    int found = 0;
    for (size_t i = 0; i < d->k->body.node.count; i++) {
        const tc__node *n = d->k->body.node.at[i];
        if (!tc__device_binds_threads(n)) continue;
        if (found) inside *= tc__ix_value(n->attr[TC__FOR_END]);
        found |= n->attr[TC__FOR_AXIS] == axis;
    }
    return found && inside == share;
}

// Whether the threads of a warp go into IF n together: it asks for numbers that are the same for `together` threads, of
// `share` each, that make a warp. No lane of a share is asked.
static int tc__device_is_of_warps(const tc__device_verifier *d, const tc__node *n,
                                  int64_t share) {
    int64_t together = share < 32 ? 32 / share : 1;
    for (uint32_t k = 0; k < n->n_attr; k += 2) {
        tc__ixsum s;
        memset(&s, 0, sizeof s);
        tc__ix_sum_add(d->ix, &s, tc__device_expand(d, n->attr[k]), 1);
        if (!tc__ix_is_const(n->attr[k + 1]) || tc__ix_value(n->attr[k + 1]) % together ||
            s.base % together)
            return 0;
        for (int i = 0; i < s.count; i++) {
            const tc__ixnode *v = tc__ix_node(d->ix, s.term[i].atom[0]);
            int plain = v->kind == TC__IX_VAR && !s.term[i].atom[1];
            int shares =
                plain && s.term[i].coef == 1 && tc__device_counts_shares(d, v->a, share);
            int still =
                plain && s.term[i].coef % together == 0 && !tc__device_is_thread(d, v->a);
            if (!shares && !still) return 0;
        }
    }
    return 1;
}

// All threads of a row are there, and where these are more than a warp, all of the block.
static int tc__device_verify_combine(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    if (n->n_attr > TC__COMBINE_THREADS && n->attr[TC__COMBINE_THREADS] == 1) return 1;
    for (uint32_t i = 0; i < d->depth; i++)
        if (!tc__device_is_of_all(d->open[i]) &&
            !(d->open[i]->op == TC_OP_IF && n->n_attr > TC__COMBINE_THREADS &&
              n->attr[TC__COMBINE_THREADS] <= 32 &&
              tc__device_is_of_warps(d, d->open[i], n->attr[TC__COMBINE_THREADS])))
            return tc__verify_fail(&d->v, "not all threads come here together");
    if (n->n_attr <= TC__COMBINE_THREADS || n->attr[TC__COMBINE_THREADS] < 1)
        return tc__verify_fail(&d->v, "it says of no threads");
    if (n->attr[TC__COMBINE_THREADS] > 32 &&
        (d->n_left || n->attr[TC__COMBINE_THREADS] != d->threads))
        return tc__verify_fail(&d->v, "it is not of all threads of the block");
    return 1;
}

// All threads of the block are there, and all blocks that it counts come.
static int tc__device_verify_last(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    const tc__kbuf *b = &d->k->buffer.at[n->attr[TC__LAST_BUFFER]];
    tc__ix e = tc__device_expand(d, n->attr[TC__LAST_INDEX]);
    if (!tc__device_is_outer(d->open[d->depth - 1]) || d->n_left)
        return tc__verify_fail(&d->v, "not all threads come here together");
    if (b->place != TC__BUF_TICKET || tc__ix_lo(d->ix, e) < 0 ||
        !tc__device_is_below(d->ix, e, b->numel))
        return tc__verify_fail(&d->v, "there is no such ticket");
    tc__device_arrives(d, TC__DEVICE_PUT);
    d->barriers++;
    return 1;
}

// ---- templates ----

static const tc__node *tc__device_open(const tc__device_verifier *d, tc__op op) {
    for (uint32_t i = d->depth; i-- > 0;)
        if (d->open[i]->op == op) return d->open[i];
    return NULL;
}

// What a hole gives, or is given, is its own.
static int tc__device_verify_given(const tc__device_verifier *d, const tc__node *n) {
    const tc__node *hole = tc__device_open(d, TC_OP_HOLE);
    return (hole && hole->attr[TC__HOLE_BUFFER] == n->attr[TC__ACCESS_BUFFER]) ||
           tc__verify_fail(&d->v, "it is of another hole");
}

// Bytes of a block that tiles need: the ring of operands, later the part of the result that the hole reads.
static int64_t tc__device_tiles_bytes(const int64_t *n, int64_t element, int64_t sum) {
    int64_t way = n[TC__TILES_WAY], pad = TC__PRODUCT_PAD;
    if (way == (int64_t)TC__WAY_MMA) pad = 0;
    if (way == (int64_t)TC__WAY_SIMT) pad = n[TC__TILES_PACK];
    int64_t lines = n[TC__TILES_ROWS] + n[TC__TILES_COLS] + 2 * pad;
    int64_t ring = n[TC__TILES_STAGES] * n[TC__TILES_DEPTH] * lines * element;
    int64_t part =
        n[TC__TILES_ROWS] / n[TC__TILES_HIGH] * (n[TC__TILES_COLS] + TC__PRODUCT_PAD) * sum;
    return ring > part ? ring : part;
}

static int64_t tc__device_skinny_bytes(const int64_t *n, int64_t sum) {
    int64_t parts = n[TC__SKINNY_SHARING];
    if (n[TC__SKINNY_DOT]) parts = parts > 32 ? parts / 32 : 1;
    return parts * n[TC__SKINNY_FEW] * n[TC__SKINNY_COVER] * sum;
}

// Sums of a thread, and the words that say how many threads there are and slices of k.
typedef struct tc__template_facts {
    int64_t bytes, sums, threads, slices;
    int64_t rows, cols, batches; // of the result for a block; 0 = all are one product's
} tc__template_facts;

static tc__template_facts tc__device_template_facts(const tc__node *n, int64_t element) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    int64_t sum = (int64_t)tc__dtypes[n->dtype].bytes;
    tc__template_facts f;
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES) {
        f.bytes = tc__device_tiles_bytes(number, element, sum);
        f.threads = number[TC__TILES_THREADS], f.slices = number[TC__TILES_SLICES];
        f.sums = number[TC__TILES_ROWS] * number[TC__TILES_COLS] / f.threads;
        f.rows = number[TC__TILES_ROWS], f.cols = number[TC__TILES_COLS];
        f.batches = number[TC__TILES_BATCHES];
    } else {
        f.bytes = tc__device_skinny_bytes(number, sum);
        f.threads = number[TC__SKINNY_THREADS], f.slices = number[TC__SKINNY_SLICES];
        f.sums = number[TC__SKINNY_FEW] *
                 number[number[TC__SKINNY_DOT] ? TC__SKINNY_EACH : TC__SKINNY_WIDTH];
        int by_rows = number[TC__SKINNY_BY_ROWS] != 0;
        f.rows = number[by_rows ? TC__SKINNY_COVER : TC__SKINNY_FEW];
        f.cols = number[by_rows ? TC__SKINNY_FEW : TC__SKINNY_COVER];
        f.batches = number[TC__SKINNY_BATCHES];
    }
    return f;
}

// Its holes, a bit for each; 0 = something else is in it, or one twice.
static uint32_t tc__device_holes(const tc__device_verifier *d, const tc__node *n) {
    uint32_t holes = 0, end = tc__loop_end(d->k, n->id);
    for (uint32_t id = n->id + 1; id < end; id = tc__loop_end(d->k, id) + 1) {
        const tc__node *hole = d->k->body.node.at[id];
        if (hole->op != TC_OP_HOLE || hole->attr[TC__HOLE_HOLE] < 0 ||
            hole->attr[TC__HOLE_HOLE] > (int64_t)TC__HOLE_RESULT ||
            holes >> hole->attr[TC__HOLE_HOLE] & 1)
            return 0;
        holes |= (uint32_t)1 << hole->attr[TC__HOLE_HOLE];
    }
    return holes;
}

static const tc__node *tc__device_hole(const tc__device_verifier *d, const tc__node *n,
                                       tc__hole hole) {
    uint32_t id = n->id + 1;
    while (d->k->body.node.at[id]->attr[TC__HOLE_HOLE] != (int64_t)hole)
        id = tc__loop_end(d->k, id) + 1;
    return d->k->body.node.at[id];
}

static uint32_t tc__device_holes_due(const tc__node *n) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    uint32_t due = 1 << TC__HOLE_LEFT | 1 << TC__HOLE_RIGHT | 1 << TC__HOLE_RESULT;
    int tiles = n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES;
    if (tiles && number[TC__TILES_WAY] == (int64_t)TC__WAY_SPLIT)
        due |= 1 << TC__HOLE_LEFT_ONE | 1 << TC__HOLE_RIGHT_ONE;
    if (!tiles && number[TC__SKINNY_AHEAD]) due |= 1 << TC__HOLE_AHEAD;
    if (!tiles && number[TC__SKINNY_EARLY]) due |= 1 << TC__HOLE_EARLY;
    if (!tiles && number[TC__SKINNY_MAKING]) due |= 1 << TC__HOLE_ROWS;
    return due;
}

// Whether blocks have all of the result, and no more; of sizes at run time nobody knows.
static int tc__device_covers(const tc__device_verifier *d, const tc__node *n,
                             const tc__template_facts *f) {
    tc__ix rows = n->attr[TC__TEMPLATE_ROWS], cols = n->attr[TC__TEMPLATE_COLS];
    if (!tc__ix_is_const(rows) || !tc__ix_is_const(cols) || !tc__ix_is_const(d->blocks))
        return 1;
    int64_t blocks = tc__ix_value(d->blocks),
            product = ((tc__ix_value(rows) - 1) / f->rows + 1) *
                      ((tc__ix_value(cols) - 1) / f->cols + 1) * f->slices;
    return product > 0 && blocks % product == 0 && (f->batches || blocks == product);
}

// Whether blocks that share sums have room to leave them.
static int tc__device_has_slices(const tc__device_verifier *d, const tc__node *n,
                                 const tc__template_facts *f) {
    int64_t tickets = n->attr[TC__TEMPLATE_TICKETS], sums = n->attr[TC__TEMPLATE_SUMS];
    if (f->slices == 1) return 1;
    if (tickets < 0 || sums < 0 || !tc__ix_is_const(d->blocks)) return 0;
    int64_t shares = tc__ix_value(d->blocks) / f->slices;
    const tc__kbuf *t = &d->k->buffer.at[tickets], *w = &d->k->buffer.at[sums];
    return t->place == TC__BUF_TICKET && w->place == TC__BUF_WORK &&
           tc__ix_lo(d->ix, t->numel) >= shares * (f->slices + 1) &&
           tc__ix_lo(d->ix, w->numel) >= shares * f->slices * f->threads * f->sums;
}

// Whether the words are those of a template that there is.
static int tc__device_is_template(const tc__node *n) {
    int64_t name = n->attr[TC__TEMPLATE_NAME];
    uint32_t count = name == TC__TEMPLATE_TILES    ? TC__TILES_NUMBERS
                     : name == TC__TEMPLATE_SKINNY ? TC__SKINNY_NUMBERS
                                                   : 0;
    return count && n->n_attr == TC__TEMPLATE_NUMBERS + count;
}

static int tc__device_verify_template(const tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    if (!tc__device_is_template(n)) return tc__verify_fail(&d->v, "no such template");
    uint32_t holes = tc__device_holes(d, n);
    if (!tc__device_is_outer(d->open[d->depth - 2]) || d->n_left)
        return tc__verify_fail(&d->v, "not all threads come here together");
    if (!holes || holes != tc__device_holes_due(n))
        return tc__verify_fail(&d->v, "its holes are not those of %s",
                               tc__template_names[n->attr[TC__TEMPLATE_NAME]]);
    const tc__node *left = tc__device_hole(d, n, TC__HOLE_LEFT);
    const tc__kbuf *given = &d->k->buffer.at[left->attr[TC__HOLE_BUFFER]],
                   *shared = &d->k->buffer.at[n->attr[TC__TEMPLATE_SHARED]];
    tc__template_facts f =
        tc__device_template_facts(n, (int64_t)tc__dtypes[given->dtype].bytes);
    if (f.threads != d->threads)
        return tc__verify_fail(&d->v, "it is for %lld threads", (long long)f.threads);
    if (shared->place != TC__BUF_SHARED ||
        tc__ix_lo(d->ix, shared->numel) * (int64_t)tc__dtypes[shared->dtype].bytes <
            f.bytes)
        return tc__verify_fail(&d->v, "it needs %lld bytes of a block", (long long)f.bytes);
    if (!tc__device_covers(d, n, &f))
        return tc__verify_fail(&d->v, "its blocks are not those of the result");
    return tc__device_has_slices(d, n, &f) ||
           tc__verify_fail(&d->v, "blocks cannot leave their sums");
}

// Whether what hole n copies moves with `axis` by what the hole says; lines of a batch alone need to.
static int tc__device_is_stepped(const tc__device_verifier *d, const tc__node *n,
                                 int64_t axis, int64_t stride) {
    const tc__node *around = tc__device_open(d, TC_OP_TEMPLATE);
    tc__ixrun run = tc__ix_run(d->ix, d->k->body.node.at[n->id + 1]->attr[TC__COPY_SOURCE],
                               (tc__axis)axis);
    return run.ok && tc__ix_equals(run.stride, stride) &&
           (run.run == INT64_MAX ||
            tc__ix_equals(around->attr[TC__TEMPLATE_ROWS], run.run));
}

// A hole of an operand writes nothing but that; one that gives an address has a single copy.
static int tc__device_verify_hole(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    for (int i = TC__HOLE_ROW; i <= (int)TC__HOLE_DEEP; i++) // it is told them
        if (n->attr[i] >= 0) d->axis[n->attr[i]] = 0;
    uint32_t end = tc__loop_end(d->k, n->id);
    int address =
        n->attr[TC__HOLE_BRING] == TC__BRING_ASYNC || n->attr[TC__HOLE_DEEP_STRIDE];
    if (d->open[d->depth - 2]->op != TC_OP_TEMPLATE)
        return tc__verify_fail(&d->v, "no template is around");
    if (address && (end != n->id + 2 || d->k->body.node.at[n->id + 1]->op != TC_OP_COPY))
        return tc__verify_fail(&d->v, "it gives an address of more than a copy");
    if (n->attr[TC__HOLE_DEEP_STRIDE] &&
        !(tc__device_is_stepped(d, n, n->attr[TC__HOLE_LINE],
                                n->attr[TC__HOLE_LINE_STRIDE]) &&
          tc__device_is_stepped(d, n, n->attr[TC__HOLE_DEEP],
                                n->attr[TC__HOLE_DEEP_STRIDE])))
        return tc__verify_fail(&d->v, "its accesses do not lie so far apart");
    for (uint32_t id = n->id; id < end; id++) {
        const tc__node *m = d->k->body.node.at[id];
        if (n->attr[TC__HOLE_HOLE] < (int64_t)TC__HOLE_ROWS && m->op == TC_OP_STORE &&
            tc__is_memory(tc__buffer_of(d->k, m)))
            return tc__verify_fail(&d->v, "an operand is stored to memory");
    }
    return 1;
}

// ---- shared memory ----

// Whether the variables of an index are those of loops that the compiler unrolls.
static int tc__device_is_unrolled(const tc__device_verifier *d, tc__ix e) {
    for (uint32_t i = 0; i < d->depth; i++) {
        const tc__node *n = d->open[i];
        if (n->op != TC_OP_FOR || n->attr[TC__FOR_BIND] == TC__BIND_UNROLL ||
            n->attr[TC__FOR_BIND] == TC__BIND_VECTOR)
            continue;
        if (tc__ix_uses(d->ix, e, (tc__axis)n->attr[TC__FOR_AXIS])) return 0;
    }
    return !tc__ix_has_val(d->ix, e);
}

// The variables of a sum that is 0, where none of them takes away.
static uint32_t tc__device_zeros(tc__ixpool *x, tc__ix e) {
    tc__ixsum s;
    uint32_t zero = 0;
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(x, &s, e, 1);
    for (int i = 0; i < s.count; i++) {
        const tc__ixnode *n = tc__ix_node(x, s.term[i].atom[0]);
        if (s.term[i].atom[1] || n->kind != TC__IX_VAR || s.term[i].coef < 0) return 0;
        zero |= (uint32_t)1 << n->a;
    }
    return s.base ? 0 : zero;
}

// Variables that open IFs let only be 0, a bit for each.
static uint32_t tc__device_pinned(const tc__device_verifier *d) {
    uint32_t zero = 0;
    for (uint32_t i = 0; i < d->depth; i++) {
        const tc__node *n = d->open[i];
        for (uint32_t k = 0; n->op == TC_OP_IF && k < n->n_attr; k += 2)
            if (tc__ix_equals(n->attr[k + 1], 1))
                zero |= tc__device_zeros(d->ix, tc__device_expand(d, n->attr[k]));
    }
    return zero;
}

// Whether no two threads have the same e here: it is a number whose digits are variables, those of all threads among
// them but what is 0. An IF may keep the lower digits below the next. Variables of blocks are the same for all threads.
static int tc__device_is_own(const tc__device_verifier *d, tc__ix e) {
    tc__ixsum s;
    int64_t below = 0;
    uint32_t named = tc__device_pinned(d);
    tc__ix part = tc__ix_const(0);
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(d->ix, &s, e, 1);
    for (int left = s.count; left; left--) {
        int least = 0;
        for (int i = 1; i < s.count; i++)
            if (s.term[i].coef &&
                (!s.term[least].coef || s.term[i].coef < s.term[least].coef))
                least = i;
        const tc__ixterm t = s.term[least];
        const tc__ixnode n = *tc__ix_node(d->ix, t.atom[0]); // more are made below
        s.term[least].coef = 0;
        if (t.atom[1] || n.kind != TC__IX_VAR) return 0;
        if (t.coef < 0) return 0;
        if (!n.hi) continue; // it is always 0
        if (t.coef <= below && !tc__device_is_held(d, part, tc__ix_const(t.coef))) return 0;
        if (t.coef <= below) below = t.coef - 1;
        below += t.coef * n.hi, named |= (uint32_t)1 << n.a;
        part = tc__ix_add(d->ix, part, tc__ix_mul(d->ix, tc__ix_const(t.coef), t.atom[0]));
    }
    for (int64_t a = TC__VAR0; a < (int64_t)TC__VAR_END; a++)
        if (tc__device_is_thread(d, a) && !(named >> a & 1)) return 0;
    return 1;
}

// The limits of open IFs that the access is below.
static void tc__device_bounds(const tc__device_verifier *d, tc__shared_access *a) {
    a->bounds = 0;
    for (uint32_t i = 0; i < d->depth; i++) {
        const tc__node *n = d->open[i];
        for (uint32_t k = 0; n->op == TC_OP_IF && k < n->n_attr; k += 2)
            if (a->bounds < TC__DEVICE_BOUNDS &&
                tc__device_holds(d, n, a->at, n->attr[k + 1]))
                a->below[a->bounds++] = n->attr[k + 1];
    }
}

// Whether a is below what b is not.
static int tc__device_is_before(const tc__device_verifier *d, const tc__shared_access *a,
                                const tc__shared_access *b) {
    for (int i = 0; i < a->bounds; i++)
        if (tc__ix_lo(d->ix, tc__ix_sub(d->ix, b->at, a->below[i])) >= 0) return 1;
    return 0;
}

static int tc__device_verify_access(tc__device_verifier *d, const tc__node *n) {
    const tc__kbuf *b = &d->k->buffer.at[n->attr[TC__ACCESS_BUFFER]];
    uint8_t *way = &d->under_way[n->attr[TC__ACCESS_BUFFER]];
    if (n->op == TC_OP_LOAD && *way & TC__DEVICE_COPIED)
        return tc__verify_fail(&d->v, "nobody waited for what is copied there");
    if (n->op == TC_OP_COPY && b->place == TC__BUF_SHARED) *way |= TC__DEVICE_COPIED;
    if (n->op == TC_OP_PUT && b->place == TC__BUF_WORK) *way |= TC__DEVICE_PUT;
    if (n->op == TC_OP_GET && *way & TC__DEVICE_PUT)
        return tc__verify_fail(&d->v, "other blocks may not have written it yet");
    if (tc__is_memory(b)) return 1;
    int64_t more = n->op == TC_OP_COPY ? n->attr[TC__COPY_ELEMENTS] - 1 : 0;
    tc__ix own =
        tc__ix_add(d->ix, n->attr[TC__ACCESS_INDEX], tc__ix_const(more)); // the last
    tc__ix e = tc__device_expand(d, own);
    int inside = tc__device_is_below(d->ix, own, b->numel) ||
                 tc__device_is_below(d->ix, e, b->numel) ||
                 tc__device_is_held(d, e, b->numel);
    if ((tc__ix_lo(d->ix, own) < more && tc__ix_lo(d->ix, e) < more) || !inside)
        return tc__verify_fail(&d->v, "its index leaves the %s",
                               b->place == TC__BUF_SHARED ? "shared memory"
                               : b->place == TC__BUF_WORK ? "workspace"
                                                          : "registers");
    if (b->place == TC__BUF_GIVEN) return tc__device_verify_given(d, n);
    if (b->place == TC__BUF_WORK || b->place == TC__BUF_LOCAL) return 1;
    if (b->place == TC__BUF_REGISTER)
        return tc__device_is_unrolled(d, e) ||
               tc__verify_fail(&d->v, "a register has no address");
    if (d->count == TC__DEVICE_ACCESSES)
        return tc__verify_fail(&d->v, "too many accesses to shared memory");
    tc__shared_access *a = &d->access[d->count++];
    a->node = n, a->at = tc__ix_sub(d->ix, e, tc__ix_const(more)),
    a->barriers = d->barriers;
    a->own = tc__device_is_own(d, a->at);
    tc__device_bounds(d, a);
    return 1;
}

// What is moved of an accumulator: values, and places that stand like them.
static int tc__device_verify_move(tc__device_verifier *d, const tc__node *n) {
    const tc__kbuf *b = &d->k->buffer.at[n->attr[TC__PUT_BUFFER]];
    if (n->n_attr > TC__PUT_PLACES) {
        const tc__kbuf *places = &d->k->buffer.at[n->attr[TC__PUT_PLACES]];
        if (places->place != b->place || places->numel != b->numel)
            return tc__verify_fail(&d->v, "values and places differ in number");
    }
    return tc__device_verify_access(d, n);
}

// Whether a statement leaves what is there as it is.
static int tc__device_reads(const tc__node *n) {
    return n->op == TC_OP_LOAD || n->op == TC_OP_GET;
}

// a where e is a*x + l + (a multiple of a*S), x counts all S threads of the block and l is less than a: the elements of
// one thread are its own, whatever else they are made of. Else 0.
static int64_t tc__device_dealt(const tc__device_verifier *d, tc__ix e) {
    tc__ixsum s;
    int64_t a = 0, low = 0;
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(d->ix, &s, e, 1);
    for (int i = 0; i < s.count; i++) {
        const tc__ixnode *n = tc__ix_node(d->ix, s.term[i].atom[0]);
        if (n->kind == TC__IX_VAR && !s.term[i].atom[1] && tc__device_is_thread(d, n->a) &&
            n->hi + 1 == d->threads)
            a = s.term[i].coef;
    }
    for (int i = 0; i < s.count && a > 0; i++) {
        const tc__ixnode *n = tc__ix_node(d->ix, s.term[i].atom[0]);
        if (s.term[i].coef == a || s.term[i].coef % (a * d->threads) == 0) continue;
        if (s.term[i].coef < 0 || s.term[i].atom[1]) return 0;
        low += s.term[i].coef * n->hi;
    }
    int inside = a > 0 && s.base >= 0 && low + s.base % (a * d->threads) < a;
    return inside ? a : 0;
}

static int tc__device_verify_shared(tc__device_verifier *d) {
    for (int i = 0; i < d->count; i++)
        for (int k = 0; k <= i; k++) {
            const tc__shared_access *a = &d->access[i], *b = &d->access[k];
            int writes = !tc__device_reads(a->node) || !tc__device_reads(b->node);
            if (!writes || a->barriers != b->barriers ||
                a->node->attr[TC__ACCESS_BUFFER] != b->node->attr[TC__ACCESS_BUFFER])
                continue;
            d->v.node = a->node;
            int own = a->at == b->at && a->own && b->own;
            int64_t dealt = tc__device_dealt(d, a->at);
            if (dealt != tc__device_dealt(d, b->at)) dealt = 0;
            if (!own && !dealt && !tc__device_is_before(d, a, b) &&
                !tc__device_is_before(d, b, a))
                return tc__verify_fail(&d->v, "another thread may meet it: %%%u",
                                       (unsigned)b->node->id);
        }
    return 1;
}

// ---- entry ----

static int tc__device_verify_end(tc__device_verifier *d) {
    const tc__node *n = d->open[--d->depth];
    // The template waits for the rows.
    d->barriers += n->op == TC_OP_HOLE && n->attr[TC__HOLE_HOLE] == TC__HOLE_ROWS;
    if (n->op != TC_OP_LAUNCH) return 1;
    int ok = d->threads == n->attr[TC__LAUNCH_THREADS] && d->threads <= TC__DEVICE_THREADS;
    if (!ok)
        return tc__verify_fail(&d->v, "its loops have %lld threads", (long long)d->threads);
    return tc__device_verify_shared(d);
}

static int tc__device_verify_node(tc__device_verifier *d, const tc__node *n) {
    d->v.node = n;
    if (n->op == TC_OP_LAUNCH)
        d->threads = 1, d->blocks = tc__ix_const(1), d->barriers = d->count = d->n_left = 0;
    if (n->op == TC_OP_LAUNCH) tc__device_arrives(d, TC__DEVICE_COPIED | TC__DEVICE_PUT);
    if (!d->depth && n->op != TC_OP_LAUNCH && n->op != TC_OP_CONST && n->op != TC_OP_ARG)
        return tc__verify_fail(&d->v, "it is in no launch");
    if (n->op == TC_OP_FOR && !tc__device_verify_for(d, n)) return 0;
    if (tc__opens(n)) d->open[d->depth++] = n;
    switch (n->op) {
    case TC_OP_AXIS: return tc__device_verify_axis(d, n);
    case TC_OP_BARRIER: return tc__device_verify_barrier(d);
    case TC_OP_ELSE: d->open[d->depth - 1] = n; return 1;
    case TC_OP_LEAVE: return tc__device_verify_leave(d, n);
    case TC_OP_WAIT: tc__device_arrives(d, TC__DEVICE_COPIED); return 1;
    case TC_OP_COMBINE: return tc__device_verify_combine(d);
    case TC_OP_LAST: return tc__device_verify_last(d);
    case TC_OP_TEMPLATE: return tc__device_verify_template(d);
    case TC_OP_HOLE: return tc__device_verify_hole(d);
    case TC_OP_PUT:
    case TC_OP_GET: return tc__device_verify_move(d, n);
    case TC_OP_COPY:
    case TC_OP_LOAD:
    case TC_OP_STORE: return tc__device_verify_access(d, n);
    case TC_OP_END: return tc__device_verify_end(d);
    default: return 1;
    }
}

// 1, or 0 with TC_E_INTERNAL that names the statement at fault. tc__verify has taken the list.
static int tc__verify_device(tc_ctx *c, const tc__group *k) {
    tc__device_verifier *d = TC__NEW(c, tc__device_verifier);
    uint8_t *under_way = TC__NEW_ARRAY(c, uint8_t, k->buffer.count);
    int ok = d && under_way;
    if (ok)
        d->v.ctx = c, d->v.g = &k->body, d->k = k, d->ix = k->body.ix,
        d->under_way = under_way;
    for (size_t i = 0; ok && i < k->body.node.count; i++)
        ok = tc__device_verify_node(d, k->body.node.at[i]);
    TC__FREE_ARRAY(c, under_way, k->buffer.count);
    tc__free(c, d, sizeof *d);
    return ok;
}
