// The verifier of lists for devices, memory: indices are inside, and of two accesses that one barrier does not part only a
// thread with itself may meet. And the walk over a list that all of verify_threads.c and verify_template.c is for.

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

// Quotients of a variable that is in s as well are gaps: 8*x + 4*(x/4) grows by 8 at least with x. They are taken out of s;
// *gaps is their sum, wider[axis] how much is added to what x is at most.
static void tc__device_gaps(const tc__device_verifier *d, tc__ixsum *s, tc__ix *gaps,
                            int64_t *wider) {
    *gaps = tc__ix_const(0);
    for (int i = 0; i < s->count; i++) {
        const tc__ixterm t = s->term[i];
        const tc__ixnode n = *tc__ix_node(d->ix, t.atom[0]);
        int of = 0; // the term of the variable
        if (t.atom[1] || t.coef < 0 || n.kind != TC__IX_DIV || tc__ix_is_const(n.a) ||
            tc__ix_node(d->ix, n.a)->kind != TC__IX_VAR)
            continue;
        while (of < s->count &&
               (s->term[of].atom[0] != n.a || s->term[of].atom[1] || s->term[of].coef <= 0))
            of++;
        if (of == s->count) continue;
        *gaps =
            tc__ix_add(d->ix, *gaps, tc__ix_mul(d->ix, tc__ix_const(t.coef), t.atom[0]));
        wider[tc__ix_node(d->ix, n.a)->a] += t.coef * n.hi;
        s->term[i--] = s->term[--s->count];
    }
}

// Whether no two threads have the same e here: it is a number whose digits are variables, those of all threads among
// them but what is 0. An IF may keep the lower digits below the next. Variables of blocks are the same for all threads.
static int tc__device_is_own(const tc__device_verifier *d, tc__ix e) {
    tc__ixsum s;
    int64_t below = 0;
    uint32_t named = tc__device_pinned(d);
    int64_t wider[TC__VAR_END] = {0};
    tc__ix part = tc__ix_const(0), gaps;
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(d->ix, &s, e, 1);
    tc__device_gaps(d, &s, &gaps, wider);
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
        below += t.coef * n.hi + wider[n.a], named |= (uint32_t)1 << n.a;
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

// Whether a statement leaves what is there as it is.
static int tc__device_reads(const tc__node *n) {
    return n->op == TC_OP_LOAD || n->op == TC_OP_GET;
}

// n is at `index` of a buffer, and with a COPY at the elements behind it.
static int tc__device_verify_place(tc__device_verifier *d, const tc__node *n,
                                   int64_t buffer, tc__ix index, int reads) {
    const tc__kbuf *b = &d->k->buffer.at[buffer];
    if (reads && d->under_way[buffer] & TC__DEVICE_COPIED)
        return tc__verify_fail(&d->v, "nobody waited for what is copied there");
    if (tc__is_memory(b)) return 1;
    int64_t more = n->op == TC_OP_COPY ? n->attr[TC__COPY_ELEMENTS] - 1 : 0;
    tc__ix own = tc__ix_add(d->ix, index, tc__ix_const(more)); // the last
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
    a->node = n, a->buffer = buffer, a->reads = reads;
    a->at = tc__ix_sub(d->ix, e, tc__ix_const(more)), a->barriers = d->barriers;
    a->own = tc__device_is_own(d, a->at);
    tc__device_bounds(d, a);
    return 1;
}

static int tc__device_verify_access(tc__device_verifier *d, const tc__node *n) {
    int64_t buffer = n->attr[TC__ACCESS_BUFFER];
    const tc__kbuf *b = &d->k->buffer.at[buffer];
    uint8_t *way = &d->under_way[buffer];
    if (n->op == TC_OP_COPY && n->n_attr > TC__COPY_PREDICATES && b->place != TC__BUF_GIVEN)
        return tc__verify_fail(&d->v, "only a hole's copy has predicates");
    if (n->op == TC_OP_COPY &&
        !tc__device_verify_place(d, n, n->attr[TC__COPY_FROM], n->attr[TC__COPY_SOURCE], 1))
        return 0;
    if (n->op == TC_OP_COPY && b->place == TC__BUF_SHARED) *way |= TC__DEVICE_COPIED;
    if (n->op == TC_OP_PUT && b->place == TC__BUF_WORK) *way |= TC__DEVICE_PUT;
    if (n->op == TC_OP_GET && *way & TC__DEVICE_PUT)
        return tc__verify_fail(&d->v, "other blocks may not have written it yet");
    return tc__device_verify_place(d, n, buffer, n->attr[TC__ACCESS_INDEX],
                                   tc__device_reads(n));
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

// a where e is a*x + l + (a multiple of a*S), x counts all S threads of the block and l is less than a: the elements of
// one thread are its own, whatever else they are made of; or a*x + l + *gaps, of x. Else 0.
static int64_t tc__device_dealt(const tc__device_verifier *d, tc__ix e, tc__ix *gaps) {
    tc__ixsum s;
    int64_t a = 0, low = 0, wider[TC__VAR_END] = {0};
    memset(&s, 0, sizeof s);
    tc__ix_sum_add(d->ix, &s, e, 1);
    tc__device_gaps(d, &s, gaps, wider);
    for (int i = 0; i < s.count; i++) {
        const tc__ixnode *n = tc__ix_node(d->ix, s.term[i].atom[0]);
        if (n->kind != TC__IX_VAR || s.term[i].atom[1] || !tc__device_is_thread(d, n->a) ||
            n->hi + 1 != d->threads)
            continue;
        a = s.term[i].coef;
        wider[n->a] = 0;
    }
    int64_t period = tc__ix_equals(*gaps, 0) ? a * d->threads : INT64_MAX;
    for (int i = 0; i < s.count && a > 0; i++) {
        const tc__ixnode *n = tc__ix_node(d->ix, s.term[i].atom[0]);
        if (s.term[i].coef == a || s.term[i].coef % period == 0) continue;
        if (s.term[i].coef < 0 || s.term[i].atom[1]) return 0;
        if (n->kind == TC__IX_VAR && wider[n->a]) return 0;
        low += s.term[i].coef * n->hi;
    }
    int inside = a > 0 && s.base >= 0 && low + s.base % period < a;
    return inside ? a : 0;
}

static int tc__device_verify_shared(tc__device_verifier *d) {
    for (int i = 0; i < d->count; i++)
        for (int k = 0; k <= i; k++) {
            const tc__shared_access *a = &d->access[i], *b = &d->access[k];
            int writes = !a->reads || !b->reads;
            if (!writes || a->barriers != b->barriers || a->buffer != b->buffer) continue;
            d->v.node = a->node;
            int own = a->at == b->at && a->own && b->own;
            tc__ix gaps, others;
            int64_t dealt = tc__device_dealt(d, a->at, &gaps);
            if (dealt != tc__device_dealt(d, b->at, &others) || gaps != others) dealt = 0;
            if (!own && !dealt && !tc__device_is_before(d, a, b) &&
                !tc__device_is_before(d, b, a))
                return tc__verify_fail(&d->v, "another thread may meet it: %%%u",
                                       (unsigned)b->node->id);
        }
    return 1;
}

// ---- entry ----

// A turn of a loop in which threads meet ends where they do: its next one begins there. Or they meet to combine alone, and
// twice: what they leave for the one is read before they meet for the other. Of no turn, nothing has parted what is before
// the loop from what is behind.
static int tc__device_verify_turn(tc__device_verifier *d, const tc__node *loop) {
    const tc__node *last = d->k->body.node.at[d->v.node->id - 1];
    int apart = d->barriers > d->before[d->depth];
    int combined = tc__device_meetings(d->k, loop->id, d->v.node->id);
    int met = apart || combined;
    d->barriers = d->before[d->depth];
    if (!met || (!apart && combined > 1) || loop->attr[TC__FOR_BIND] == TC__BIND_TAKEN ||
        (last->op == TC_OP_BARRIER && !last->n_attr))
        return 1;
    return tc__verify_fail(&d->v, "threads may be in two turns of the loop");
}

static int tc__device_verify_end(tc__device_verifier *d) {
    const tc__node *n = d->open[--d->depth];
    if (tc__device_turns_together(n) && !tc__device_verify_turn(d, n)) return 0;
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
    if (tc__opens(n)) d->before[d->depth] = d->barriers, d->open[d->depth++] = n;
    switch (n->op) {
    case TC_OP_AXIS: return tc__device_verify_axis(d, n);
    case TC_OP_BARRIER: return tc__device_verify_barrier(d);
    case TC_OP_ELSE: d->open[d->depth - 1] = n; return 1;
    case TC_OP_LEAVE: return tc__device_verify_leave(d, n);
    case TC_OP_WAIT: tc__device_arrives(d, TC__DEVICE_COPIED); return 1;
    case TC_OP_COMBINE: return tc__device_verify_combine(d);
    case TC_OP_LAST: return tc__device_verify_last(d);
    case TC_OP_BEGUN:
    case TC_OP_MEET: return tc__device_verify_meet(d);
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
