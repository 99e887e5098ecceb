// The verifier of lists for devices, behind tc__verify: what threads share is written and read in order. It
// knows nothing of forms; what it cannot tell, it refuses. Here: loops, axes and where threads meet; templates
// are verify_template.c's, memory is verify.c's.
//
//   launches  all stands in them; loops over blocks and threads are around all else, and the extents of the
//             latter make the threads of a block
//   axes      stay below their extents: by what is known of their loops, or by an `if` around them
//   barriers  stand where all threads of the block come: in no `if`, and in no loop but those whose turns they all
//             have; a turn then ends in one, as those of loops whose turns are taken do
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
    int64_t buffer;
    int reads;                       // and nothing else
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
    int before[TC__VERIFY_DEPTH]; //   and barriers before each
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

// A loop whose turns all threads of the block have together.
static int tc__device_turns_together(const tc__node *n) {
    return n->op == TC_OP_FOR && (n->attr[TC__FOR_BIND] == TC__BIND_SERIAL ||
                                  n->attr[TC__FOR_BIND] == TC__BIND_TAKEN);
}

static int tc__device_verify_barrier(tc__device_verifier *d) {
    for (uint32_t i = 0; i < d->depth; i++)
        if (!tc__device_is_outer(d->open[i]) && !tc__device_turns_together(d->open[i]))
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
        int whole =
            tc__ix_is_const(n->attr[k + 1]) && !(tc__ix_value(n->attr[k + 1]) % together);
        if ((together > 1 && !whole) || s.base % together) return 0;
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

// Whether all threads of the block go into IF n, or none: it names none of their variables.
static int tc__device_is_of_block(const tc__device_verifier *d, const tc__node *n) {
    for (uint32_t k = 0; k < n->n_attr; k++)
        for (int64_t a = TC__VAR0; a < (int64_t)TC__VAR_END; a++)
            if (tc__device_is_thread(d, a) &&
                tc__ix_uses(d->ix, tc__device_expand(d, n->attr[k]), (tc__axis)a))
                return 0;
    return n->op == TC_OP_IF;
}

// All threads of a row are there, and where these are more than a warp, all of the block.
static int tc__device_verify_combine(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    if (n->n_attr > TC__COMBINE_THREADS && n->attr[TC__COMBINE_THREADS] == 1) return 1;
    for (uint32_t i = 0; i < d->depth; i++)
        if (!tc__device_is_of_all(d->open[i]) && !tc__device_turns_together(d->open[i]) &&
            !tc__device_is_of_block(d, d->open[i]) &&
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

// All threads of the block are there, and its ticket has a number for each step of a meeting.
static int tc__device_verify_meet(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    const tc__kbuf *b = &d->k->buffer.at[n->attr[TC__BEGUN_BUFFER]];
    if (!tc__device_is_outer(d->open[d->depth - 1]) || d->n_left)
        return tc__verify_fail(&d->v, "not all threads come here together");
    if (b->place != TC__BUF_TICKET || !tc__ix_equals(b->numel, TC__DEVICE_MEETING))
        return tc__verify_fail(&d->v, "there is no such ticket");
    if (n->op == TC_OP_BEGUN) return 1;
    b = &d->k->buffer.at[n->attr[TC__MEET_OWN]];
    if (b->place != TC__BUF_SHARED || b->dtype != TC_I32 || !tc__ix_equals(b->numel, 2))
        return tc__verify_fail(&d->v, "the block has no two numbers of its own");
    if (!tc__ix_equals(d->blocks, n->attr[TC__MEET_COUNT]))
        return tc__verify_fail(&d->v, "it is not of all blocks");
    tc__device_arrives(d, TC__DEVICE_PUT);
    d->barriers++;
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
