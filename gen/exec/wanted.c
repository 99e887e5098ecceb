// Which results of a path its program stores, and what a result is computed from. Input: the steps of a visit.
//
// Results of at most TC__SMALL_RESULT elements are stored although another op uses them:
// people print losses. What else is read late is computed then, and stored from the next
// visit on.

enum { TC__SMALL_RESULT = 16 };

// Small whatever the run-time sizes are: what a path stores does not depend on them.
static int tc__is_small_result(const tc__step *s) {
    int64_t n = 1;
    for (int i = 0; i < s->meta.rank; i++) {
        if (!tc__ix_is_const(s->meta.dims[i])) return 0;
        n *= tc__ix_value(s->meta.dims[i]);
    }
    return tc__ops[s->op].kind != TC__KIND_SOURCE && n <= TC__SMALL_RESULT;
}

// What the value of one position is made of: bytes by position, then by external.
typedef struct tc__reach {
    const tc__visit *v;
    uint8_t *used; // owned by tc__reach_open's caller through tc__reach_close
    size_t size;
} tc__reach;

static uint8_t *tc__reach_at(const tc__reach *r, uint32_t code) {
    if (code & TC__EXTERNAL) return &r->used[r->v->path.count + (code & ~TC__EXTERNAL)];
    return &r->used[code];
}

// Every operand of a used step is used. Operands come before: one walk down is enough.
static void tc__reach_down(const tc__reach *r, uint32_t from) {
    for (uint32_t i = from + 1; i-- > 0;) {
        const tc__step *s = r->v->path.at[i];
        for (uint32_t k = 0; k < s->n_in && r->used[i]; k++) *tc__reach_at(r, s->in[k]) = 1;
    }
}

static int tc__reach_open(tc__reach *r, tc_ctx *c, const tc__visit *v) {
    r->v = v, r->size = v->path.count + v->external.count;
    r->used = TC__NEW_ARRAY(c, uint8_t, r->size);
    return r->used != NULL;
}

static void tc__reach_close(tc__reach *r, tc_ctx *c) {
    if (r->used) TC__FREE_ARRAY(c, r->used, r->size);
}

// Whether something of the memory that `code` shows is used; externals on one storage are one here.
static int tc__reach_has(const tc__reach *r, uint32_t code) {
    const tc__visit *v = r->v;
    if (*tc__reach_at(r, code)) return 1;
    if (!(code & TC__EXTERNAL)) return 0;
    uint32_t alias = v->external.at[code & ~TC__EXTERNAL].alias;
    for (uint32_t i = 0; i < v->external.count; i++)
        if (v->external.at[i].alias == alias && *tc__reach_at(r, TC__EXTERNAL | i))
            return 1;
    return 0;
}

// A write in place is a part of the value when what it writes to is; also one that comes
// later, before step `count`.
static void tc__reach_writes(tc__reach *r, uint32_t count) {
    int more = r->v->writes;
    while (more) {
        more = 0;
        for (uint32_t i = count; i-- > 0;) {
            const tc__step *s = r->v->path.at[i];
            if (s->op != TC_OP_COPY_ || r->used[i]) continue;
            if (!tc__reach_has(r, tc__memory_of(r->v, s->in[0]))) continue;
            r->used[i] = 1, more = 1;
        }
        tc__reach_down(r, count - 1);
    }
}

// All that the values of `code`s before step `count` are computed from, themselves included.
// 0 = out of memory.
static int tc__reach_of(tc__reach *r, tc_ctx *c, const tc__visit *v, const uint32_t *code,
                        uint32_t n, uint32_t count) {
    if (!tc__reach_open(r, c, v)) return 0;
    for (uint32_t i = 0; i < n; i++) *tc__reach_at(r, code[i]) = 1;
    if (count) tc__reach_down(r, count - 1);
    tc__reach_writes(r, count);
    return 1;
}

// A zeros or arange that is written in place is a buffer somebody holds.
static void tc__mark_buffer(const tc__visit *v, const tc__step *copy, uint8_t *used) {
    uint32_t root = tc__memory_of(v, copy->in[0]);
    if (root & TC__EXTERNAL) return;
    if (v->path.at[root]->flags & TC__STEP_OWN) used[root] = 1;
}

// The outputs of a body: what its FINISH names, and what it keeps.
static void tc__mark_named(const tc__visit *v, const tc__step *leaf, uint8_t *used) {
    for (uint32_t i = 0; i < leaf->n_in; i++)
        if (!(leaf->in[i] & TC__EXTERNAL)) used[leaf->in[i]] = 1;
    for (uint32_t i = 0; i < leaf->position; i++) {
        const tc__step *s = v->path.at[i];
        if (s->op == TC_OP_KEEP && !(s->in[0] & TC__EXTERNAL)) used[s->in[0]] = 1;
    }
}

// used[p] = 1: an output. Not consumed by another step since it was last written, kept,
// wanted before, small, or a buffer.
static void tc__mark_outputs(const tc__visit *v, uint32_t count, uint8_t *used) {
    for (uint32_t i = 0; i < count; i++) used[i] = 1;
    for (uint32_t i = 0; i < count; i++) {
        const tc__step *s = v->path.at[i];
        int writes = s->op == TC_OP_COPY_;
        if (tc__is_composite((tc__op)s->op)) continue;
        for (uint32_t k = (uint32_t)writes; k < s->n_in; k++)
            if (!(s->in[k] & TC__EXTERNAL)) used[s->in[k]] = 0;
        uint32_t root = writes ? tc__memory_of(v, s->in[0]) : TC__EXTERNAL;
        if (!(root & TC__EXTERNAL)) used[root] = 1;
    }
    for (uint32_t i = 0; i < count; i++) {
        tc__step *s = v->path.at[i];
        if (!tc__has_result((tc__op)s->op) || s->loop) {
            used[i] = 0;
            if (s->op == TC_OP_KEEP && !(s->in[0] & TC__EXTERNAL)) {
                used[s->in[0]] = 2;
                v->path.at[s->in[0]]->flags &= (uint16_t)~TC__STEP_BY_THE_WAY;
            }
            if (s->op == TC_OP_COPY_) tc__mark_buffer(v, s, used);
            continue;
        }
        int small = !used[i] && tc__is_small_result(s) && !(s->flags & TC__STEP_WANTED);
        s->flags &= (uint16_t)~TC__STEP_BY_THE_WAY;
        if (small) s->flags |= TC__STEP_BY_THE_WAY;
        if (small || s->flags & TC__STEP_WANTED) used[i] = 1;
    }
}

// Positions that the end of the path has to leave in memory: the first *n are not there yet, the
// *known after them are. NULL = out of memory.
static uint32_t *tc__output_positions(tc_ctx *c, tc__visit *v, const tc__step *leaf,
                                      size_t *n, size_t *known) {
    uint32_t count = leaf->position;
    uint8_t *used = TC__NEW_ARRAY(c, uint8_t, count);
    uint32_t *at = TC__NEW_ARRAY(c, uint32_t, count);
    *n = *known = 0;
    if (used && at) {
        if (v->region->function)
            tc__mark_named(v, leaf, used);
        else
            tc__mark_outputs(v, count, used);
        for (int there = 0; there < 2; there++)
            for (uint32_t i = 0; i < count; i++)
                if (used[i] && there == (i < v->result_of.count && v->result_of.at[i] != 0))
                    at[*n + *known] = i, *(there ? known : n) += 1;
    }
    TC__FREE_ARRAY(c, used, count);
    return at;
}
