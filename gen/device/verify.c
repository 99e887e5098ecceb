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
    TC__DEVICE_BOUNDS = 4
};

typedef struct tc__shared_access {
    const tc__node *node;
    tc__ix at;                       // by the loops alone
    int barriers;                    // before it
    tc__ix below[TC__DEVICE_BOUNDS]; // limits that an IF keeps it below, 0 = none
} tc__shared_access;

typedef struct tc__device_verifier {
    tc__verifier v;
    const tc__group *k;
    tc__ixpool *ix;
    const tc__node *open[TC__VERIFY_DEPTH];
    uint32_t depth;
    tc__ix axis[TC__VAR_END]; // by the loops, 0 = not bound
    int64_t threads;          // of the loops over them
    int barriers, count;
    const tc__node *left[TC__DEVICE_LEFT]; // facts that hold to the launch's end
    int n_left, warps;                     // threads have left, so warps alone may meet
    uint64_t copied; // bit i: of buffer i, copies that nobody waited for,
    uint64_t put;    //   and what was written for other blocks
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

// All threads of a row are there, and where these are more than a warp, all of the block.
static int tc__device_verify_combine(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    if (n->n_attr > TC__COMBINE_THREADS && n->attr[TC__COMBINE_THREADS] == 1) return 1;
    for (uint32_t i = 0; i < d->depth; i++)
        if (!tc__device_is_outer(d->open[i]))
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
    d->put = 0, d->barriers++;
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

// The limits of open IFs that the access is below.
static void tc__device_bounds(const tc__device_verifier *d, tc__shared_access *a) {
    int count = 0;
    memset(a->below, 0, sizeof a->below);
    for (uint32_t i = 0; i < d->depth; i++) {
        const tc__node *n = d->open[i];
        for (uint32_t k = 0; n->op == TC_OP_IF && k < n->n_attr; k += 2)
            if (count < TC__DEVICE_BOUNDS && tc__device_holds(d, n, a->at, n->attr[k + 1]))
                a->below[count++] = n->attr[k + 1];
    }
}

// Whether a is below what b is not.
static int tc__device_is_before(const tc__device_verifier *d, const tc__shared_access *a,
                                const tc__shared_access *b) {
    for (int i = 0; i < TC__DEVICE_BOUNDS && a->below[i]; i++)
        if (tc__ix_lo(d->ix, tc__ix_sub(d->ix, b->at, a->below[i])) >= 0) return 1;
    return 0;
}

static int tc__device_verify_access(tc__device_verifier *d, const tc__node *n) {
    const tc__kbuf *b = &d->k->buffer.at[n->attr[TC__ACCESS_BUFFER]];
    uint64_t bit = (uint64_t)1 << (n->attr[TC__ACCESS_BUFFER] & 63);
    if (n->op == TC_OP_LOAD && d->copied & bit)
        return tc__verify_fail(&d->v, "nobody waited for what is copied there");
    if (n->op == TC_OP_COPY && b->place == TC__BUF_SHARED) d->copied |= bit;
    if (n->op == TC_OP_PUT && b->place == TC__BUF_WORK) d->put |= bit;
    if (n->op == TC_OP_GET && d->put & bit)
        return tc__verify_fail(&d->v, "other blocks may not have written it yet");
    if (tc__is_memory(b)) return 1;
    tc__ix e = tc__device_expand(d, n->attr[TC__ACCESS_INDEX]);
    tc__ix own = n->attr[TC__ACCESS_INDEX];
    int inside = tc__device_is_below(d->ix, own, b->numel) ||
                 tc__device_is_below(d->ix, e, b->numel) ||
                 tc__device_is_held(d, e, b->numel);
    if (n->op ==
        TC_OP_COPY) // of what it copies the last is inside of what the first may reach
        inside = tc__ix_lo(d->ix, b->numel) > 0;
    if ((tc__ix_lo(d->ix, own) < 0 && tc__ix_lo(d->ix, e) < 0) || !inside)
        return tc__verify_fail(&d->v, "its index leaves the %s",
                               b->place == TC__BUF_SHARED ? "shared memory"
                               : b->place == TC__BUF_WORK ? "workspace"
                                                          : "registers");
    if (b->place == TC__BUF_WORK || b->place == TC__BUF_LOCAL) return 1;
    if (b->place == TC__BUF_REGISTER)
        return tc__device_is_unrolled(d, e) ||
               tc__verify_fail(&d->v, "a register has no address");
    if (d->count == TC__DEVICE_ACCESSES)
        return tc__verify_fail(&d->v, "too many accesses to shared memory");
    tc__shared_access *a = &d->access[d->count++];
    a->node = n, a->at = e, a->barriers = d->barriers;
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

// Whether a variable is a thread's, of more than one.
static int tc__device_is_thread(const tc__device_verifier *d, int64_t axis) {
    for (size_t i = 0; i < d->k->body.node.count; i++) {
        const tc__node *n = d->k->body.node.at[i];
        if (tc__device_binds_threads(n) && n->attr[TC__FOR_AXIS] == axis)
            return tc__ix_value(n->attr[TC__FOR_END]) > 1;
    }
    return 0;
}

// Whether no two threads have the same e: it is a number whose digits are variables, those of all threads
// among them. Variables of blocks are the same for all threads.
static int tc__device_is_own(const tc__device_verifier *d, tc__ix e) {
    tc__ixsum s;
    int64_t below = 0;
    uint32_t named = 0;
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(d->ix, &s, e, 1);
    for (int left = s.count; left; left--) {
        int least = 0;
        for (int i = 1; i < s.count; i++)
            if (s.term[i].coef &&
                (!s.term[least].coef || s.term[i].coef < s.term[least].coef))
                least = i;
        const tc__ixterm t = s.term[least];
        const tc__ixnode *n = tc__ix_node(d->ix, t.atom[0]);
        if (t.atom[1] || n->kind != TC__IX_VAR || t.coef <= below) return 0;
        below += t.coef * n->hi, named |= (uint32_t)1 << n->a, s.term[least].coef = 0;
    }
    for (int64_t a = TC__VAR0; a < (int64_t)TC__VAR_END; a++)
        if (tc__device_is_thread(d, a) && !(named >> a & 1)) return 0;
    return 1;
}

// Whether e is a*x + l + (a multiple of a*S), where x counts all S threads of the block and l is less than a: the
// elements of one thread are its own, whatever else they are made of.
static int tc__device_is_dealt(const tc__device_verifier *d, tc__ix e) {
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
    return a > 0 && s.base >= 0 && low + s.base % (a * d->threads) < a;
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
            int own = a->at == b->at && tc__device_is_own(d, a->at);
            int dealt = tc__device_is_dealt(d, a->at) && tc__device_is_dealt(d, b->at);
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
    if (n->op != TC_OP_LAUNCH) return 1;
    int ok = d->threads == n->attr[TC__LAUNCH_THREADS] && d->threads <= TC__DEVICE_THREADS;
    if (!ok)
        return tc__verify_fail(&d->v, "its loops have %lld threads", (long long)d->threads);
    return tc__device_verify_shared(d);
}

static int tc__device_verify_node(tc__device_verifier *d, const tc__node *n) {
    d->v.node = n;
    if (n->op == TC_OP_LAUNCH)
        d->threads = 1, d->barriers = d->count = d->n_left = 0, d->copied = d->put = 0;
    if (!d->depth && n->op != TC_OP_LAUNCH && n->op != TC_OP_CONST && n->op != TC_OP_ARG)
        return tc__verify_fail(&d->v, "it is in no launch");
    if (n->op == TC_OP_FOR && !tc__device_verify_for(d, n)) return 0;
    if (tc__opens(n)) d->open[d->depth++] = n;
    switch (n->op) {
    case TC_OP_AXIS: return tc__device_verify_axis(d, n);
    case TC_OP_BARRIER: return tc__device_verify_barrier(d);
    case TC_OP_ELSE: d->open[d->depth - 1] = n; return 1;
    case TC_OP_LEAVE: return tc__device_verify_leave(d, n);
    case TC_OP_WAIT: d->copied = 0; return 1;
    case TC_OP_COMBINE: return tc__device_verify_combine(d);
    case TC_OP_LAST: return tc__device_verify_last(d);
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
    int ok = d != NULL;
    if (!d) return 0;
    d->v.ctx = c, d->v.g = &k->body, d->k = k, d->ix = k->body.ix;
    for (size_t i = 0; ok && i < k->body.node.count; i++)
        ok = tc__device_verify_node(d, k->body.node.at[i]);
    tc__free(c, d, sizeof *d);
    return ok;
}
