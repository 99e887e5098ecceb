// Lists of several parts over the same rows that become one, where a device wants that: the gradients of attention by keys and
// by values, which both begin with the scores. Input: the kernels of a schedule, after join.c. Output: fewer of them.
//
// Neither reads what the other makes: one list stands before the other, with all its parts and its own results. What
// both compute, each still does in its own parts; that it is the same sees who runs the list (device/chain_plan.c).

enum { TC__BESIDE_FAR = 8 }; // kernels between two that are looked at together

// Whether k may be one of two.
static int tc__beside_has_parts(const tc__group *k, int device) {
    return k && k->target.device == device && k->shape.prologue &&
           k->shape.kind == TC__CONTRACTION && tc__count_contractions(k) > 1;
}

// Whether k writes what `list` reads or writes.
static int tc__beside_writes(const tc__group *k, const tc__group *list) {
    for (size_t i = 0; i < k->buffer.count; i++)
        if (k->buffer.at[i].written && tc__is_memory(&k->buffer.at[i]) &&
            tc__join_buffer(list, &k->buffer.at[i]) >= 0)
            return 1;
    return 0;
}

// Whether kernel `from` may as well stand where kernel `to` does.
static int tc__beside_moves(const tc__schedule *s, size_t from, size_t to) {
    for (size_t i = from + 1; i <= to; i++) {
        const tc__group *k = s->kernel.at[i];
        if (!k) continue;
        if (tc__beside_writes(k, s->kernel.at[from]) ||
            tc__beside_writes(s->kernel.at[from], k))
            return 0;
    }
    return 1;
}

static int tc__beside_aligns(const tc__group *a, const tc__group *b) {
    tc__group part[TC__LIST_PARTS];
    return a->shape.rows == b->shape.rows && a->shape.batch == b->shape.batch &&
           a->target.loop == b->target.loop &&
           tc__parts_of_list(a, part) + tc__parts_of_list(b, part) <= (int)TC__LIST_PARTS;
}

// The list of `first` and then `second`; NULL = out of memory, reported.
static tc__group *tc__beside_list(tc_ctx *c, const tc__group *first,
                                  const tc__group *second) {
    tc__join j;
    tc__group *k = tc__group_empty(c, second);
    if (!k) return NULL;
    memset(&j, 0, sizeof j);
    j.ctx = c, j.to = k;
    int ok = tc__join_append(&j, first);
    k->shape.prologue = (uint32_t)k->body.node.count + second->shape.prologue;
    if (ok && tc__join_append(&j, second) && tc__parts_checked(c, k)) return k;
    tc__group_free(c, k);
    return NULL;
}

// Makes one of kernels `from` and `to`, which then is where `to` was, if the language takes it. 0 = reported.
static int tc__beside_two(tc__schedule *s, const tc__dialect *d, size_t from, size_t to) {
    tc__group **at = s->kernel.at, *one = NULL;
    for (int turned = 0; turned < 2 && !one; turned++) {
        one = tc__beside_list(s->ctx, at[turned ? to : from], at[turned ? from : to]);
        if (!one) return 0;
        if (d->takes_beside(one)) break;
        tc__group_free(s->ctx, one), one = NULL;
    }
    if (!one) return 1;
    tc__log(s->ctx, TC__LOG_FUSION,
            "two kernels of several products over %lld rows are one",
            (long long)tc__ix_hi(s->g->ix, one->shape.rows));
    tc__group_free(s->ctx, at[from]), tc__group_free(s->ctx, at[to]);
    at[from] = NULL, at[to] = one;
    return 1;
}

// All kernels of a device. 0 = reported.
static int tc__beside_join(tc__schedule *s, const tc__dialect *d, int device) {
    int ok = 1;
    for (size_t from = 0; ok && from < s->kernel.count; from++) {
        size_t end = from + 1 + TC__BESIDE_FAR;
        for (size_t to = from + 1; ok && to < end && to < s->kernel.count; to++)
            if (tc__beside_has_parts(s->kernel.at[from], device) &&
                tc__beside_has_parts(s->kernel.at[to], device) &&
                tc__beside_aligns(s->kernel.at[from], s->kernel.at[to]) &&
                tc__beside_moves(s, from, to))
                ok = tc__beside_two(s, d, from, to);
    }
    return ok;
}
