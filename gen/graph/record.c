// Recording: the entry of every primitive, and the visits of regions.
// Input: primitive calls from user code and composites. Output: a handle at once, and a path of steps
// per visit. exec/ is reached through the hooks of the recorder.
//
// Visits end by way. A region has its last visit on each of eight ways (ends of paths); one
// ends when another ends on the same way, and what that one used of it moves to a slot
// (tc__own_used), where it stays while it is used. Results that are kept move to a slot as
// their visit ends, under the handle they have: from then on they are tensors like the
// eager ones (tc__known_add). A view made outside belongs to whom its tensor belongs to.
// Nothing tells a temporary from a tensor that somebody holds, so eager results are never
// freed by guessing: a warning names the place.

static tc_tensor tc__record_eager(tc_ctx *c, const tc__call *k) {
    tc_tensor t = tc__null();
    const char *doing = tc__core_of(c)->doing, *who = tc__called(c, k->op);
    tc__claim claim = tc__claim_ours(c, who);
    if (!claim) return t;
    tc__site_set(c, k->site);
    tc__core_of(c)->doing = who;
    t = tc__recorder_of(c)->hooks->eager(c, k);
    tc__core_of(c)->doing = doing;
    tc__claim_end(c, claim);
    return t;
}

// The entry of every primitive: records inside a region, runs at once outside.
static tc_tensor tc__record(tc_ctx *c, const tc__call *k) {
    tc__visit *v = tc__recorder_of(c)->visit;
    tc_tensor t = tc__null();
    if (!v) return tc__record_eager(c, k);
    if (!tc__is_ours(c, tc__called(c, k->op))) return t;
    if (TC__UNLIKELY(!tc__call_is_together(c, v, k))) return t;
    tc__step *s = tc__visit_step(c, v, k);
    t.id = s ? v->first | (uint32_t)(v->path.count - 1) : 0;
    return t;
}

// ---- entries by arity, for the generated functions ----

static tc_tensor tc__op_slow(tc__op op, const tc_tensor *in, uint32_t n,
                             const int64_t *attr, uint32_t n_attr, const char *file,
                             int line) {
    tc__call k;
    tc_ctx *c = tc__ctx_of_all(in, n);
    if (!c)
        return tc__fail_lost(tc__op_name(op), n ? in[0] : tc__null(), file, line),
               tc__null();
    k.op = op, k.n_in = n, k.n_attr = n_attr, k.in = in, k.attr = attr;
    k.site.file = file, k.site.line = line, k.dtype = 0, k.rank = 0, k.dims = NULL;
    return tc__record(c, &k);
}

// Is the call the first expected step `s`, all of whose operands are results of this visit or bound
// already? The common case of a re-run body, in a few compares per operand.
TC__ALWAYS_INLINE int tc__follows(const tc__visit *v, const tc__step *s, uint64_t form,
                                  const tc_tensor *in, uint32_t n, const int64_t *attr,
                                  uint32_t n_attr) {
    if (!s || s->form != form) return 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t code = s->in[i], e = code & ~TC__EXTERNAL;
        if (!(code & TC__EXTERNAL)) {
            if (in[i].id != (v->first | code)) return 0;
        } else if (e >= v->external.count || v->external.at[e].handle.id != in[i].id) {
            return 0;
        }
    }
    for (uint32_t i = 0; i < n_attr; i++)
        if (s->attr[i] != attr[i]) return 0;
    return v->path.count < v->path.capacity;
}

// Calls that autocast looks at take the long way where there has ever been a range: the path may have been recorded
// without one.
typedef enum tc__listing { TC__UNLISTED, TC__LISTED } tc__listing;

TC__ALWAYS_INLINE int tc__follows_none(tc_ctx *c, tc__listing listing) {
    const tc__values *v = tc__values_of(c);
    return tc__atomic_load32(&v->children) ||
           (listing == TC__LISTED && tc__atomic_load32(&v->autocasts));
}

TC__ALWAYS_INLINE tc_tensor tc__op_follow_as(tc__listing listing, uint64_t form,
                                             const tc_tensor *in, uint32_t n,
                                             const int64_t *attr, uint32_t n_attr) {
    tc_ctx *c = tc__ctx_at((unsigned)(in[0].id >> 56));
    int ours = c && tc__is_open_mine(tc__recorder_of(c)) && !tc__follows_none(c, listing);
    tc__visit *v = TC__LIKELY(ours) ? tc__recorder_of(c)->visit : NULL;
    tc_tensor t = tc__null();
    if (!v || !tc__follows(v, v->at->next, form, in, n, attr, n_attr)) return t;
    v->at = v->at->next;
    t.id = v->first | (uint32_t)v->path.count;
    v->path.at[v->path.count++] = v->at;
    return t;
}

// The result of a call that follows the visit; null = it takes the long way, tc__op_slow.
TC__ALWAYS_INLINE tc_tensor tc__op_follow(uint64_t form, const tc_tensor *in, uint32_t n,
                                          const int64_t *attr, uint32_t n_attr) {
    return tc__op_follow_as(TC__UNLISTED, form, in, n, attr, n_attr);
}

static tc_tensor tc__op_n(tc__op op, const tc_tensor *in, uint32_t n, const int64_t *attr,
                          uint32_t n_attr, const char *file, int line) {
    tc_tensor t = tc__op_follow(tc__form_of(op, n, n_attr), in, n, attr, n_attr);
    return t.id ? t : tc__op_slow(op, in, n, attr, n_attr, file, line);
}

// By arity. The long way is a function of the same parameters: a call that follows moves nothing from
// where it is and saves no register.

TC__NOINLINE static tc_tensor tc__op1_slow(tc_tensor a, const char *file, int line,
                                           uint64_t form) {
    return tc__op_slow(tc__form_op(form), &a, 1, NULL, 0, file, line);
}

static tc_tensor tc__op1(tc_tensor a, const char *file, int line, uint64_t form) {
    tc_tensor t = tc__op_follow(form, &a, 1, NULL, 0);
    return t.id ? t : tc__op1_slow(a, file, line, form);
}

TC__NOINLINE static tc_tensor tc__op2_slow(tc_tensor a, tc_tensor b, const char *file,
                                           int line, uint64_t form) {
    tc_tensor in[2];
    in[0] = a, in[1] = b;
    return tc__op_slow(tc__form_op(form), in, 2, NULL, 0, file, line);
}

static tc_tensor tc__op2(tc_tensor a, tc_tensor b, const char *file, int line,
                         uint64_t form) {
    tc_tensor in[2], t;
    in[0] = a, in[1] = b;
    t = tc__op_follow(form, in, 2, NULL, 0);
    return t.id ? t : tc__op2_slow(a, b, file, line, form);
}

static tc_tensor tc__op3(tc_tensor a, tc_tensor b, tc_tensor d, const char *file, int line,
                         uint64_t form) {
    tc_tensor in[3];
    in[0] = a, in[1] = b, in[2] = d;
    return tc__op_n(tc__form_op(form), in, 3, NULL, 0, file, line);
}

typedef enum tc__side { TC__SCALAR_RIGHT, TC__SCALAR_LEFT } tc__side;

TC__NOINLINE static tc_tensor tc__op_scalar_slow(tc_tensor a, double s, const char *file,
                                                 int line, uint64_t form) {
    int64_t attr[2];
    memcpy(&attr[TC__SCALAR_VALUE], &s, sizeof s);
    attr[TC__SCALAR_SIDE] = form == tc__form_of_scalar(tc__form_op(form), TC__SCALAR_LEFT);
    return tc__op_slow(tc__form_op(form), &a, 1, attr, 2, file, line);
}

// op(a, s), or op(s, a) with the scalar on the left.
static tc_tensor tc__op_scalar(tc_tensor a, double s, const char *file, int line,
                               uint64_t form) {
    int64_t value;
    memcpy(&value, &s, sizeof s);
    tc_tensor t = tc__op_follow(form, &a, 1, &value, 1);
    return t.id ? t : tc__op_scalar_slow(a, s, file, line, form);
}

// op(s, a): errors bear the name of the call, which is not the op's.
static tc_tensor tc__op_scalar_left(const char *who, tc_tensor a, double s,
                                    const char *file, int line, uint64_t form) {
    tc_ctx *c = tc__ctx_of(a);
    if (!c) return tc__fail_lost(who, a, file, line), tc__null();
    const char *doing = tc__core_of(c)->doing;
    if (!doing) tc__core_of(c)->doing = who;
    tc_tensor t = tc__op_scalar(a, s, file, line, form);
    tc__core_of(c)->doing = doing;
    return t;
}

static tc_tensor tc__source(tc_ctx *c, tc__op op, int dtype, int rank, const int64_t *dims,
                            const int64_t *attr, uint32_t n_attr, const char *file,
                            int line) {
    tc__call k;
    int64_t ix[TC_MAX_RANK];
    if (!tc__dims_check(c, tc__called(c, op), rank, dims)) return tc__null();
    for (int i = 0; i < rank; i++) ix[i] = tc__ix_const(dims[i]);
    k.op = op, k.n_in = 0, k.n_attr = n_attr, k.in = NULL, k.attr = attr;
    k.site.file = file, k.site.line = line;
    k.dtype = (uint8_t)dtype, k.rank = (uint8_t)rank, k.dims = ix;
    k.device = tc__values_of(c)->source_is_like ? tc__values_of(c)->source_device
                                                : (int)TC__ANYWHERE;
    return tc__record(c, &k);
}

// ---- visits ----

// Room for the results that tc_keep named, before anything is written; 0 = reported.
static int tc__keeps_prepare(tc_ctx *c, const tc__visit *v) {
    uint32_t n = 0;
    for (const tc__step *s = v->at->kept; s; s = s->parent->kept) n++;
    return !n || tc__known_prepare(c, n);
}

// Results that tc_keep named are tensors of the caller's from the end of their visit on. 0 = reported.
static int tc__keeps_hand_over(tc_ctx *c, const tc__visit *v) {
    for (const tc__step *s = v->at->kept; s; s = s->parent->kept) {
        uint32_t p = s->in[0];
        if (p & TC__EXTERNAL) continue;
        if (p >= v->result_of.count || !v->result_of.at[p]) continue;
        if (p < v->freed.count && v->freed.at[p]) continue;
        if (!tc__known_add(c, v->first | p, &v->result.at[v->result_of.at[p] - 1]))
            return 0;
    }
    return 1;
}

// tc_free for result `p` of a visit; its memory goes where no later segment may have to have it.
static int tc__visit_result_free(tc_ctx *c, tc__visit *v, uint32_t p, const char *file,
                                 int line) {
    if (p >= v->path.count || tc__is_freed(v, p)) return 0;
    while (v->freed.count <= p)
        if (!TC__PUSH(c, v->freed, 0)) return 1;
    v->freed.at[p] = 1;
    tc__obituary_write(tc__values_of(c), v->first | p, "freed by tc_free", file, line);
    if (v->state != TC__VISIT_DONE || v->segment) return 1;
    if (p >= v->result_of.count || !v->result_of.at[p]) return 1;
    tc__tensor *t = &v->result.at[v->result_of.at[p] - 1];
    tc__storage_unref(c, t->storage);
    t->storage = NULL, v->result_of.at[p] = 0;
    return 1;
}

// The same by handle; 0 = it is dead already, reported.
static int tc__result_free(tc_ctx *c, tc_tensor t, const char *file, int line) {
    int found = tc__known_find(c, t.id) != NULL;
    tc__visit *v = tc__visit_find(c, t);
    if (found) tc__slot_free(c, tc__slot_number(c, t), "freed by tc_free", file, line);
    if (v) found |= tc__visit_result_free(c, v, tc__position(t), file, line);
    return found || tc__fail_dead(c, "tc_free", t);
}

// Tensor t, which is in memory, is the caller's until tc_free, whoever made it; 0 = reported.
static int tc__keep_now(tc_ctx *c, tc_tensor h, tc__tensor *t) {
    if (h.id >> 56 != tc__values_of(c)->slot_of_ctx) return 1; // the parent's
    if (tc__is_visit(h) && !tc__known_find(c, h.id))
        return tc__known_add(c, h.id, t) != NULL;
    tc__tensor_move(c, t, 0);
    return 1;
}

// The results of a visit end; what of them is still used is held by references.
static void tc__visit_clear(tc_ctx *c, tc__visit *v, const char *how, tc__site site) {
    if (v->epoch) {
        tc__map_remove(&tc__recorder_of(c)->visits, v->epoch);
        tc__obituary_write(tc__values_of(c), tc__visit_id(v), how, site.file, site.line);
    }
    tc__unbind_to(c, v, 0);
    for (size_t i = 0; i < v->result.count; i++)
        tc__storage_unref(c, v->result.at[i].storage);
    v->result.count = v->result_of.count = v->path.count = v->freed.count = 0;
    v->refusal.count = 0;
    v->state = TC__VISIT_NONE, v->let_go = v->young = 0, v->copied = 0;
    v->epoch = 0;
    tc__views_forget(v);
}

static void tc__visit_free(tc_ctx *c, tc__visit *v) {
    TC__VEC_FREE(c, v->path);
    TC__VEC_FREE(c, v->external);
    TC__VEC_FREE(c, v->result);
    TC__VEC_FREE(c, v->result_of);
    TC__VEC_FREE(c, v->refusal);
    TC__VEC_FREE(c, v->freed);
    TC__VEC_FREE(c, v->size);
    TC__VEC_FREE(c, v->sym);
    TC__VEC_FREE(c, v->arg);
    tc__free(c, v->viewed, sizeof *v->viewed);
    tc__free(c, v, sizeof *v);
}

// ---- what regions own beyond a visit ----

// Tensor t goes with what its region computes on one way; 0 = out of memory, it is the caller's.
static int tc__own(tc_ctx *c, tc__region *r, const tc__step *way, tc__tensor *t) {
    tc__owned o;
    o.t.id = t->id, o.way = way;
    if (!TC__PUSH(c, r->owned, o)) return 0;
    tc__tensor_move(c, t, TC__OF_REGION);
    t->region = r, t->way = way;
    return 1;
}

// Frees what the region owns of this way, or of all if NULL, but what visit `user` uses.
static void tc__owned_free(tc_ctx *c, tc__region *r, const tc__step *way,
                           const tc__visit *user, const char *how, tc__site site) {
    size_t n = 0;
    for (size_t i = 0; i < r->owned.count; i++) {
        tc__owned o = r->owned.at[i];
        tc__tensor *t = tc__tensor_find(c, o.t);
        if (!t || t->scope != TC__OF_REGION) continue; // freed, or kept
        if ((way && o.way != way) || (user && t->bind_epoch == user->epoch))
            r->owned.at[n++] = o;
        else
            tc__slot_free(c, tc__slot_number(c, o.t), how, site.file, site.line);
    }
    r->owned.count = n;
}

// What the ending visit v has used of an earlier one on the same way lives as long as it is used.
// 0 = reported, nothing has changed for the earlier one.
static int tc__own_used(tc_ctx *c, const tc__visit *v, const tc__visit *old) {
    for (size_t i = 0; i < v->external.count; i++) {
        tc_tensor h = v->external.at[i].handle;
        const tc__tensor *t = NULL;
        if (tc__is_visit(h) && tc__visit_find(c, h) == old) t = tc__tensor_find(c, h);
        if (!t || tc__known_find(c, h.id)) continue;
        tc__tensor *own = tc__known_add(c, h.id, t);
        if (!own || !tc__own(c, old->region, old->at, own)) return 0;
    }
    return 1;
}

// A visit on another way than the last one does not hold what the caller has freed: what it did not
// store cannot be computed then.
static void tc__visit_let_go(tc_ctx *c, tc__visit *v) {
    for (size_t i = 0; i < v->external.count && !v->let_go; i++)
        v->let_go = !tc__is_hidden(&v->external.at[i]) &&
                    !tc__tensor_find(c, v->external.at[i].handle);
    if (v->let_go) tc__unbind_to(c, v, 0);
}

// What ending visit v has used of visits before it lives on. 0 = reported.
static int tc__visit_owns(tc_ctx *c, const tc__visit *v) {
    tc__visit *const *visit = v->region->visit;
    for (int i = 0; i < TC__VISITS && visit[i]; i++)
        if (visit[i] != v && visit[i]->state == TC__VISIT_DONE && visit[i]->at == v->at &&
            !tc__own_used(c, v, visit[i]))
            return 0;
    return 1;
}

// Ends the visits before v on the same way, and what else its region owns of that, but what v uses.
static void tc__visit_ends_others(tc_ctx *c, tc__visit *v) {
    static const char how[] = "which ended with a later visit that did not use it, begun";
    tc__region *r = v->region;
    for (int i = 0; i < TC__VISITS && r->visit[i]; i++) {
        tc__visit *old = r->visit[i];
        if (old == v || old->state == TC__VISIT_NONE) continue;
        if (old->state != TC__VISIT_DONE || old->at == v->at)
            tc__visit_clear(c, old, how, v->begin);
        else
            tc__visit_let_go(c, old);
    }
    tc__owned_free(c, r, v->at, v, how, v->begin);
}

// Visit v is about to end: results of the one before it on the same way end, and what else the region owns of
// that way, but what v uses. 0 = reported, and nothing has ended.
static int tc__visit_succeed(tc_ctx *c, tc__visit *v) {
    if (!tc__visit_owns(c, v)) return 0;
    tc__visit_ends_others(c, v);
    return 1;
}

// ---- regions ----

// The first of its branches.
static void tc__branch_free(tc_ctx *c, tc__region *r) {
    tc__branch *b = r->branch;
    r->branch = b->next;
    tc__recorder_of(c)->recorded -= b->bytes;
    tc__arena_free(&b->arena);
    tc__free(c, b, sizeof *b);
}

static void tc__region_free(tc_ctx *c, tc__region *r) {
    const char *how =
        r->end_of_results ? r->end_of_results : "which ended with its region, begun";
    tc__recorder_of(c)->hooks->forget(c, r);
    tc__owned_free(c, r, NULL, NULL, how, r->begin);
    TC__VEC_FREE(c, r->owned);
    for (int i = 0; i < TC__VISITS && r->visit[i]; i++) {
        tc__visit_clear(c, r->visit[i], how, r->begin);
        tc__visit_free(c, r->visit[i]);
    }
    while (r->branch) tc__branch_free(c, r);
    tc__recorder *rec = tc__recorder_of(c);
    uint64_t known;
    rec->recording -= r->visit[0] != NULL;
    if (tc__map_get(&rec->region_ids, r->hash, &known) && known == (uint64_t)(uintptr_t)r)
        tc__map_remove(&rec->region_ids, r->hash);
    tc__arena_free(&r->arena);
    tc__free(c, r, sizeof *r);
}

static tc__region *tc__region_new(tc_ctx *c, const char *name, tc__site begin, int depth) {
    tc__recorder *rec = tc__recorder_of(c);
    tc__region *r = TC__NEW(c, tc__region);
    if (!r) return NULL;
    tc__arena_init(&r->arena, c);
    size_t n = strlen(name) + 1;
    r->arena.least = n; // nothing else goes into it
    char *copy = (char *)tc__arena_alloc(&r->arena, n);
    if (!copy) {
        tc__free(c, r, sizeof *r);
        return NULL;
    }
    memcpy(copy, name, n);
    r->name = copy, r->begin = begin, r->depth = depth;
    r->next = rec->region, r->link = &rec->region;
    if (r->next) r->next->link = &r->next;
    rec->region = r;
    return r;
}

// Takes it out of the list of regions.
static void tc__region_unlink(tc__region *r) {
    *r->link = r->next;
    if (r->next) r->next->link = r->link;
}

// The region of this name, begin site and depth, made if new; NULL = out of memory. Two with one hash have the
// next one; where the first goes, the other is recorded again.
static tc__region *tc__region_find(tc_ctx *c, const char *name, tc__site begin, int depth) {
    tc__map *ids = &tc__recorder_of(c)->region_ids;
    uint64_t found, h = tc__hash_mix((uint64_t)(uintptr_t)begin.file, (uint64_t)begin.line);
    h = tc__hash64(name, strlen(name), tc__hash_mix(h, (uint64_t)depth));
    for (; tc__map_get(ids, h, &found); h = tc__hash_mix(h, 1)) {
        tc__region *r = (tc__region *)(uintptr_t)found;
        if (r->begin.line == begin.line && r->depth == depth &&
            r->begin.file == begin.file && !strcmp(r->name, name))
            return r;
    }
    const char *was = tc__core_of(c)->unseen;
    tc__core_of(c)->unseen = name;
    tc__region *r = tc__map_reserve(ids, 1) ? tc__region_new(c, name, begin, depth) : NULL;
    tc__core_of(c)->unseen = was;
    if (r) r->hash = h, (void)tc__map_set(ids, h, (uint64_t)(uintptr_t)r);
    return r;
}

// A region that was begun inside the open one and left without its end took the end of that one for its own.
enum { TC__INSIDE_TEXT = 200 };

static const char *tc__inside_text(tc_ctx *c, char *text) {
    tc__site s = tc__recorder_of(c)->inside;
    text[0] = 0;
    if (s.file)
        snprintf(text, TC__INSIDE_TEXT,
                 "; was the region that %.100s:%d begins inside it left without its "
                 "tc_trace_end?",
                 s.file, s.line);
    return text;
}

static void tc__visit_abandon(tc_ctx *c, tc__visit *v, const char *why) {
    char inside[TC__INSIDE_TEXT];
    tc__fail(c, TC_E_REGION, "region \"%s\" begun at %s:%d %s%s %s", v->region->name,
             v->begin.file ? v->begin.file : "?", v->begin.line, why,
             *tc__inside_text(c, inside) ? inside : ".",
             v->path.count ? "What was recorded in it is lost"
                           : "Nothing was recorded in it");
    v->state = TC__VISIT_FAILED;
    tc__refuse_writes(c, v);
    tc__unbind_to(c, v, 0);
    tc__recorder_of(c)->visit = NULL;
    tc__recorder_of(c)->depth = 0;
    tc__here_leave(c, 0);
}

// Whether another visit can take its place. One that failed can in a frozen context, where no memory is to be had.
static int tc__visit_is_over(tc_ctx *c, const tc__visit *v) {
    return v->state == TC__VISIT_NONE ||
           (v->state == TC__VISIT_FAILED && tc__core_of(c)->frozen);
}

// The visit that is opened next: one that is over, a new one, or the oldest. NULL = out of memory.
static tc__visit *tc__visit_next(tc_ctx *c, tc__region *r, tc__site begin) {
    int n = 0;
    while (n < TC__VISITS - 1 && r->visit[n] && !tc__visit_is_over(c, r->visit[n])) n++;
    tc__visit *v = r->visit[n] ? r->visit[n] : TC__NEW(c, tc__visit);
    if (!v) return NULL;
    if (!v->viewed) v->viewed = TC__NEW(c, tc__views);
    tc__recorder_of(c)->recording += !r->visit[0];
    memmove(r->visit + 1, r->visit, (size_t)n * sizeof *r->visit);
    r->visit[0] = v, v->region = r;
    tc__visit_clear(c, v, "which ended when its region had taken eight other ways", begin);
    return v;
}

// Opens the next visit of `r`. 0 = out of memory, none is open.
static int tc__visit_open(tc_ctx *c, tc__region *r, tc__site begin) {
    tc__recorder *rec = tc__recorder_of(c);
    tc__visit *v = tc__visit_next(c, r, begin);
    if (!v) return 0;
    v->epoch = tc__epoch_next(&rec->values);
    if (!tc__map_set(&rec->visits, v->epoch, (uint64_t)(uintptr_t)v)) return 0;
    v->key = tc__handle(&rec->values, v->epoch, 0).id >> TC__SLOT_BITS;
    v->first = (v->key << TC__SLOT_BITS) | TC__VISIT_BIT;
    v->at = &r->root, v->begin = begin, v->segment = 0, v->writes = 0, v->broken = 0,
    v->left = 0, v->no_grad = 0, v->loops = 0, v->draw = rec->draw;
    v->state = TC__VISIT_OPEN, tc__open_is_mine(rec);
    v->device = rec->values.default_device;
    v->lexical = tc__lexical_inside(&rec->lexical);
    rec->visit = v, rec->inside.file = NULL;
    v->size.count = v->arg.count = 0, v->fresh = UINT32_MAX;
    v->branch = NULL;
    r->visits++, r->used = ++rec->opened;
    return 1;
}
