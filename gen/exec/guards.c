// What a program assumes, in words: one line per guard, for tc_explain and TC_LOGS=guards.
// Input: a recorded path. Output: lines of text, each ended by a newline. What a function's entry
// assumes beside that stands in exec/function.c.
//
// A path is handled as a visit that has nothing but its steps, so that everything which reads a
// visit's steps serves both.

// ---- paths ----

// The path from the root of `r` to `leaf`; 0 = reported, and there is nothing to close.
TC__UNUSED static int tc__path_open(tc_ctx *c, tc__visit *v, tc__region *r,
                                    tc__step *leaf) {
    memset(v, 0, sizeof *v);
    v->region = r, v->at = leaf;
    for (uint32_t i = 0; i <= leaf->position; i++)
        if (!TC__PUSH(c, v->path, NULL)) {
            TC__VEC_FREE(c, v->path);
            return 0;
        }
    for (tc__step *s = leaf; s->parent; s = s->parent) v->path.at[s->position] = s;
    return 1;
}

TC__UNUSED static void tc__path_close(tc_ctx *c, tc__visit *v) { TC__VEC_FREE(c, v->path); }

// ---- words ----

// "f32[s0,64] contiguous", "f32[64,s0] strides [1,64]"
static void tc__put_shape(tc__text *t, const tc__shape *s) {
    const tc__ixpool *p = &tc__recorder_of(t->ctx)->ix;
    tc__put(t, "%s", tc__dtype(s->dtype)->name);
    tc__dump_dims(t, p, s->rank, s->dims);
    tc__put(t, s->contiguous ? " contiguous" : " strides ");
    if (!s->contiguous) tc__dump_dims(t, p, s->rank, s->strides);
}

static void tc__put_layout(tc__text *t, uint32_t layout) {
    tc__shape s;
    tc__shape_of_layout(tc__layout_at(t->ctx, layout), &s);
    tc__put_shape(t, &s);
}

static const char *tc__step_name(const tc__step *s) {
    return s->op == TC_OP_FINISH ? "end" : tc__op_name((tc__op)s->op);
}

// " (matmul, main.c:12)": who asks for it.
static void tc__put_asker(tc__text *t, const tc__step *s) {
    tc__put(t, " (%s, ", tc__step_name(s));
    tc__put_site(t, s->site);
    tc__put(t, ")\n");
}

static void tc__put_binding_guard(tc__text *t, const tc__step *s, uint32_t i) {
    const tc__binding *b = &s->bind[i];
    uint32_t number = s->first_external + i;
    tc__put(t, "x%u ", (unsigned)number);
    if (b->shape)
        tc__put_shape(t, b->shape);
    else
        tc__put_layout(t, b->layout);
    if (b->alias != number) tc__put(t, ", shares memory with x%u", (unsigned)b->alias);
    tc__put_asker(t, s);
}

// What was made of nothing on a device; where a tensor decided, that one's guard says so.
static void tc__put_device_guard(tc__text *t, const tc__step *s) {
    if (!s->device || s->first_external) return;
    tc__put(t, "made on %s", tc__device_name(t->ctx, s->device));
    tc__put_asker(t, s);
}

// "s0 == 2*s1", "s0 % 4 == 0"
static void tc__put_relation(tc__text *t, const tc__relation *r) {
    const tc__ixpool *p = &tc__recorder_of(t->ctx)->ix;
    static const char *const between[] = {" == ", " != ", " >= ", " % "};
    tc__dump_ix_in(t, p, r->a,
                   r->kind == TC__MULTIPLE ? TC__AROUND_QUOTIENT : TC__AROUND_SUM);
    tc__put(t, "%s", between[r->kind]);
    tc__dump_ix_in(t, p, r->b,
                   r->kind == TC__MULTIPLE ? TC__AROUND_QUOTIENT : TC__AROUND_SUM);
    if (r->kind == TC__MULTIPLE) tc__put(t, " == 0");
}

// ---- run-time sizes and values ----

typedef struct tc__symbols {
    tc__text *t;
    int64_t next; // symbols are numbered along the path
} tc__symbols;

// Whether `e` is the symbol that begins here; its range is put then.
static int tc__symbol_begins(tc__symbols *y, tc__ix e) {
    const tc__ixpool *p = &tc__recorder_of(y->t->ctx)->ix;
    if (tc__ix_is_const(e)) return 0;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind != TC__IX_SYM || n->a != y->next) return 0;
    y->next++;
    if (n->hi >= TC__SIZE_LIMIT)
        tc__put(y->t, "s%lld >= %lld: ", (long long)n->a, (long long)n->lo);
    else
        tc__put(y->t, "%lld <= s%lld <= %lld: ", (long long)n->lo, (long long)n->a,
                (long long)n->hi);
    return 1;
}

static void tc__put_symbols(tc__symbols *y, const tc__step *s) {
    for (uint32_t i = 0; i < s->n_bind; i++)
        for (int d = 0; s->bind[i].shape && d < s->bind[i].shape->rank; d++) {
            if (!tc__symbol_begins(y, s->bind[i].shape->dims[d])) continue;
            tc__put(y->t, "size %d of x%u", d, (unsigned)(s->first_external + i));
            tc__put_asker(y->t, s);
        }
    for (uint32_t i = 0; i < s->n_attr; i++) {
        if (tc__slot_of((tc__op)s->op, s->n_attr, i) != TC__SLOT_SIZE) continue;
        if (!tc__symbol_begins(y, s->attr[i])) continue;
        tc__put(y->t, "argument %u", (unsigned)i);
        tc__put_asker(y->t, s);
    }
    for (int d = 0; tc__ops[s->op].kind == TC__KIND_SOURCE && d < s->meta.rank; d++) {
        if (!tc__symbol_begins(y, s->meta.dims[d])) continue;
        tc__put(y->t, "size %d of what it makes", d);
        tc__put_asker(y->t, s);
    }
}

static void tc__put_args(tc__text *t, const tc__step *s) {
    static const char *const whole[] = {"a value", "a whole number", "no whole number"};
    for (uint32_t i = 0; i < s->n_attr && i < 32; i++) {
        if (!(s->args >> i & 1)) continue;
        tc__put(t, "arg%lld %s", (long long)s->attr[i], whole[s->whole]);
        tc__put_asker(t, s);
    }
}

// ---- the guards of a path ----

// What the sizes, layouts and values of a visit must be to take this path, by the step that asks.
// Beside these each op of the visit must be the recorded one.
static void tc__put_path_guards(tc__text *t, const tc__visit *v) {
    tc__symbols y;
    y.t = t, y.next = 0;
    for (size_t i = 0; i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        for (uint32_t k = 0; k < s->n_bind; k++) tc__put_binding_guard(t, s, k);
        tc__put_device_guard(t, s);
        if (!s->symbolic) continue;
        tc__put_symbols(&y, s);
        tc__put_args(t, s);
        for (uint32_t k = 0; k < s->n_guard; k++) {
            tc__put_relation(t, &s->guard[k]);
            tc__put_asker(t, s);
        }
    }
}

// Sizes and values of the run before, " s0=48 arg0=0.5".
TC__UNUSED static void tc__put_run_values(tc__text *t, const tc__program *p) {
    for (size_t i = 0; i < p->size.count; i++)
        tc__put(t, " s%u=%lld", (unsigned)i, (long long)p->size.at[i]);
    for (size_t i = 0; i < p->arg.count; i++) {
        int64_t bits;
        memcpy(&bits, &p->arg_now.at[i], sizeof bits);
        tc__put(t, " arg%u=", (unsigned)p->arg.at[i].number);
        tc__dump_value(t, p->arg.at[i].dtype, bits);
    }
}

TC__UNUSED static uint32_t tc__count_lines(const tc__text *t) {
    uint32_t n = 0;
    for (size_t i = 0; i < t->size; i++) n += t->at[i] == '\n';
    return n;
}

// Each line of `lines` on the log channel "guards", behind `who`.
static void tc__log_guards(tc_ctx *c, const char *who, const tc__text *lines) {
    const char *at = lines->at, *end;
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1)
        tc__log(c, TC__LOG_GUARDS, "%s: %.*s", who, (int)(end - at), at);
}

// What a program with run-time sizes or values assumes, when it has just been made.
static void tc__log_path_guards(tc_ctx *c, const tc__visit *v, const tc__program *p) {
    tc__text who, lines;
    if (!tc__log_on(c, TC__LOG_GUARDS) || !(p->size.count || p->arg.count)) return;
    tc__text_init(&who, c);
    tc__text_init(&lines, c);
    tc__put(&who, "%s \"%s\", program %u", tc__region_kind(v->region), v->region->name,
            (unsigned)p->number);
    tc__put_path_guards(&lines, v);
    if (!who.failed && !lines.failed) tc__log_guards(c, who.at, &lines);
    tc__text_free(&who);
    tc__text_free(&lines);
}
