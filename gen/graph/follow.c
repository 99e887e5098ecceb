// Following and forking: one call against the steps that may come next.
// Input: a visit and a call. Output: the step it is, new or known.
//
// One idea: re-running the C body is the guard. A call that equals the step expected next costs a few
// compares (tc__follows, graph/record.c); here is the long way: binding externals, sizes and values
// known at run time only, other branches, another path for the same calls, and at last a new step.

// ---- run-time sizes and values ----

static int tc__symbol_take(tc_ctx *c, tc__visit *v, tc__ix sym, int64_t size) {
    v->sym.count = v->size.count;
    return TC__PUSH(c, v->sym, sym) && TC__PUSH(c, v->size, size);
}

// A size of this visit where the path has expression `e`: the next symbol takes it, if it may.
static int tc__size_fits(tc_ctx *c, tc__visit *v, tc__ix e, int64_t size) {
    const tc__ixpool *p = &tc__recorder_of(c)->ix;
    if (tc__ix_is_const(e)) return tc__ix_value(e) == size;
    const tc__ixnode *n = tc__ix_node(p, e);
    if (n->kind != TC__IX_SYM || n->a != (int64_t)v->size.count)
        return tc__visit_eval(c, v, e) == size;
    return size >= n->lo && size <= n->hi && tc__symbol_take(c, v, e, size);
}

static int tc__sizes_fit(tc_ctx *c, tc__visit *v, int n, const tc__ix *e,
                         const int64_t *size) {
    for (int i = 0; i < n; i++)
        if (!tc__size_fits(c, v, e[i], size[i])) return 0;
    return 1;
}

// Whether a layout is one that a path describes. Strides of size 1 do not matter.
static int tc__shape_fits(tc_ctx *c, tc__visit *v, const tc__shape *s,
                          const tc__layout *l) {
    if (s->dtype != l->dtype || s->rank != l->rank || s->contiguous != l->contiguous ||
        s->device != l->device)
        return 0;
    if (!tc__sizes_fit(c, v, l->rank, s->dims, l->dims)) return 0;
    for (int i = 0; i < l->rank && !l->contiguous; i++)
        if (l->dims[i] > 1 && tc__visit_eval(c, v, s->strides[i]) != l->strides[i])
            return 0;
    return 1;
}

// A scalar that is not whole makes integers floats: 1 = whole, 2 = not.
static int tc__wholeness(int64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return tc__promote_scalar(TC_I64, x) == TC_I64 ? 1 : 2;
}

static int tc__attr_fits(tc_ctx *c, tc__visit *v, const tc__step *s, uint32_t i,
                         int64_t now) {
    // A composite op's value is one of its parts'.
    if (s->args >> i & 1 && s->attr[i] < (int64_t)v->arg.count)
        return v->arg.at[s->attr[i]] == now;
    if (s->args >> i & 1)
        return (!s->whole || tc__wholeness(now) == s->whole) && TC__PUSH(c, v->arg, now);
    if (!s->symbolic || tc__slot_of((tc__op)s->op, s->n_attr, i) != TC__SLOT_SIZE)
        return s->attr[i] == now;
    return tc__size_fits(c, v, s->attr[i], tc__ix_value(now));
}

static int tc__guards_hold(tc_ctx *c, const tc__visit *v, const tc__step *s) {
    for (uint32_t i = 0; i < s->n_guard; i++) {
        const tc__relation *g = &s->guard[i];
        int64_t a = tc__visit_eval(c, v, g->a), b = tc__visit_eval(c, v, g->b);
        if (!tc__relation_holds(g->kind, a, b)) return 0;
    }
    return 1;
}

// ---- matching a step ----

// Binds the next external, which step `s` binds; 0 = it is another, or shares other memory.
static int tc__bind_next(tc_ctx *c, tc__visit *v, const tc__step *s, tc_tensor h,
                         tc__tensor *t) {
    uint32_t n = (uint32_t)v->external.count, i = n - s->first_external;
    if (i >= s->n_bind) return 0;
    const tc__binding *b = &s->bind[i];
    if (b->shape ? !tc__shape_fits(c, v, b->shape, tc__layout_at(c, t->layout))
                 : b->layout != t->layout)
        return 0;
    if (!tc__bind_external(c, v, h, t)) return 0;
    v->external.at[n].shape = b->shape;
    return v->external.at[n].alias == b->alias;
}

// The code of an operand that is no result of this visit, binding it if step `s` binds it here.
// Anything unexpected gives a code that matches nothing.
static uint32_t tc__external_code(tc_ctx *c, tc__visit *v, const tc__step *s, tc_tensor h) {
    tc__tensor *t = tc__tensor_find(c, h);
    uint32_t n = (uint32_t)v->external.count;
    if (!t) return UINT32_MAX;
    if (t->bind_epoch == v->epoch) return TC__EXTERNAL | t->bind_index;
    return tc__bind_next(c, v, s, h, t) ? TC__EXTERNAL | n : UINT32_MAX;
}

static int tc__operands_match(tc_ctx *c, tc__visit *v, const tc__step *s,
                              const tc__call *k) {
    for (uint32_t i = 0; i < k->n_in; i++) {
        uint64_t id = k->in[i].id;
        uint32_t code = id >> TC__SLOT_BITS == v->key
                            ? (uint32_t)id & (TC__VISIT_BIT - 1)
                            : tc__external_code(c, v, s, k->in[i]);
        if (code != s->in[i]) return 0;
    }
    return 1;
}

static int tc__source_matches(tc_ctx *c, tc__visit *v, const tc__step *s,
                              const tc__call *k) {
    if (!k->dims) return 1;
    if (s->meta.dtype != k->dtype || s->meta.rank != k->rank) return 0;
    if (!tc__source_is_there(c, v, s, k)) return 0;
    for (int i = 0; i < k->rank; i++)
        if (!tc__size_fits(c, v, s->meta.dims[i], tc__ix_value(k->dims[i]))) return 0;
    return 1;
}

// Sizes or steps of the visit become others.
static void tc__views_forget(const tc__visit *v) {
    if (v->viewed) memset(v->viewed->step, 0, sizeof v->viewed->step);
}

// Back to the state before step `s`.
static void tc__visit_rewind(tc_ctx *c, tc__visit *v, const tc__step *s) {
    if (v->external.count > s->first_external || v->size.count > s->first_size)
        tc__views_forget(v);
    if (v->external.count > s->first_external) tc__unbind_to(c, v, s->first_external);
    if (v->size.count > s->first_size) v->size.count = s->first_size;
    if (v->arg.count > s->first_arg) v->arg.count = s->first_arg;
}

// The words of the call take the sizes and values that the step leaves open.
static int tc__words_fit(tc_ctx *c, tc__visit *v, const tc__step *s, const tc__call *k) {
    for (uint32_t i = 0; i < k->n_attr; i++)
        if (!tc__attr_fits(c, v, s, i, k->attr[i])) return 0;
    return 1;
}

static int tc__step_matches(tc_ctx *c, tc__visit *v, const tc__step *s, const tc__call *k) {
    if (s->op != k->op || s->n_in != k->n_in || s->n_attr != k->n_attr) return 0;
    for (uint32_t i = 0; i < k->n_attr; i++)
        if (!s->symbolic && s->attr[i] != k->attr[i]) return 0;
    int ok = tc__operands_match(c, v, s, k) && tc__source_matches(c, v, s, k);
    if (ok && s->symbolic) ok = tc__words_fit(c, v, s, k) && tc__guards_hold(c, v, s);
    if (ok && s->op == TC_OP_SHARE) ok = tc__share_bind(c, v, k->attr);
    if (!ok) tc__visit_rewind(c, v, s);
    return ok;
}

// ---- forking ----

// Whether loop `loop` is open behind step s; both as tc__step.loop.
static int tc__loop_is_open(const tc__step *s, uint32_t loop) {
    while (s->loop && s->loop != loop) {
        uint32_t inner = s->loop;
        while (s->loop >= inner) s = s->parent;
    }
    return s->loop == loop;
}

// Whether what step s made may be an operand of a call behind v->at: what the body of a loop made ends with it, but
// for what becomes its results.
static int tc__is_in_reach(tc_ctx *c, const tc__visit *v, const tc__step *s, tc__op op) {
    return !s->loop || op == TC_OP_CARRIED || op == TC_OP_STACKED ||
           tc__loop_is_open(v->at, s->loop) || tc__fail_looped(c, tc__called(c, op), s);
}

// Operand codes of a call that no step matched; new externals are bound.
static int tc__call_codes(tc_ctx *c, tc__visit *v, const tc__call *k, uint32_t *code) {
    for (uint32_t i = 0; i < k->n_in; i++) {
        if (k->in[i].id >> TC__SLOT_BITS == v->key) {
            code[i] = tc__position(k->in[i]);
            if (code[i] >= v->path.count)
                return tc__fail_dead(c, tc__called(c, k->op), k->in[i]);
            if (!tc__is_in_reach(c, v, v->path.at[code[i]], k->op)) return 0;
            continue;
        }
        tc__tensor *t = tc__tensor_need(c, tc__called(c, k->op), k->in[i]);
        if (!t) return 0;
        if (t->bind_epoch != v->epoch && !tc__bind_external(c, v, k->in[i], t)) return 0;
        code[i] = TC__EXTERNAL | t->bind_index;
    }
    return 1;
}

// What tc__follows compares at once. The forms of public functions are constants. A write in place has
// more to do than to be followed.
TC__ALWAYS_INLINE uint64_t tc__form_of(tc__op op, uint32_t n_in, uint32_t n_attr) {
    return (uint64_t)op << 32 | n_in << 16 | n_attr;
}

static int tc__any_symbol(int n, const tc__ix *e) {
    for (int i = 0; i < n; i++)
        if (!tc__ix_is_const(e[i])) return 1;
    return 0;
}

// With a scalar operand: the word that tells its side is part of the form.
TC__ALWAYS_INLINE uint64_t tc__form_of_scalar(tc__op op, int64_t side) {
    return tc__form_of(op, 1, 2) | (uint64_t)side << 8;
}

TC__ALWAYS_INLINE tc__op tc__form_op(uint64_t form) { return (tc__op)(form >> 32); }

// Steps that take sizes or values from the call, or set conditions, are matched the long way.
static uint64_t tc__step_form(const tc__step *s) {
    int varies = s->op == TC_OP_COPY_ || s->n_guard || s->args;
    for (uint32_t i = 0; i < s->n_attr; i++)
        varies |= tc__slot_of((tc__op)s->op, s->n_attr, i) == TC__SLOT_SIZE &&
                  !tc__ix_is_const(s->attr[i]);
    if (varies) return 0;
    if (tc__ops[s->op].kind == TC__KIND_BINARY && s->n_attr == 2)
        return tc__form_of_scalar((tc__op)s->op, s->attr[TC__SCALAR_SIDE]);
    return tc__form_of((tc__op)s->op, s->n_in, s->n_attr);
}

enum { TC__BRANCH_FIRST = 1024 }; // bytes: a fork at the end of a path is a few steps

// Where the visit makes steps; NULL = out of memory.
static tc__arena *tc__visit_arena(tc_ctx *c, tc__visit *v) {
    if (v->branch) return &v->branch->arena;
    const char *was = tc__core_of(c)->unseen;
    tc__core_of(c)->unseen = v->region->name;
    tc__branch *b = TC__NEW(c, tc__branch);
    tc__core_of(c)->unseen = was;
    if (!b) return NULL;
    tc__arena_init(&b->arena, c);
    b->arena.least = TC__BRANCH_FIRST;
    b->next = v->region->branch, v->region->branch = b;
    v->branch = b;
    return &b->arena;
}

// The loop that is open behind step s, as tc__step.loop has it.
static uint16_t tc__step_loop(const tc__step *s) {
    if (s->op == TC_OP_LOOP) return (uint16_t)(s->attr[TC__LOOP_LOOP] + 1);
    if (s->op == TC_OP_END_LOOP) return (uint16_t)s->attr[TC__END_LOOP_OUTER];
    return s->parent->loop;
}

// A step of `k` after v->at, not yet among its continuations. Externals from `first` on are its.
static tc__step *tc__step_new(tc_ctx *c, tc__visit *v, const tc__call *k,
                              const tc__infer *q) {
    tc__arena *a = tc__visit_arena(c, v);
    if (!a) return NULL;
    uint32_t first = (uint32_t)v->external.count;
    tc__step *s = TC__ANEW(a, tc__step);
    uint32_t *in = TC__ANEW_ARRAY(a, uint32_t, k->n_in + 1);
    int64_t *attr = TC__ANEW_ARRAY(a, int64_t, k->n_attr + 1);
    tc__relation *guard = TC__ANEW_ARRAY(a, tc__relation, q->needs + 1);
    if (!s || !in || !attr || !guard || !tc__call_codes(c, v, k, in)) return NULL;
    if (k->op == TC_OP_SHARE && !tc__share_bind(c, v, k->attr)) return NULL;
    if (k->n_attr) memcpy(attr, k->attr, k->n_attr * sizeof *attr);
    memcpy(guard, q->need, q->needs * sizeof *guard);
    s->op = (uint16_t)k->op, s->n_in = (uint16_t)k->n_in, s->n_attr = (uint16_t)k->n_attr;
    s->in = in, s->attr = attr, s->meta = q->out, s->site = k->site, s->parent = v->at;
    s->call = tc__core_of(c)->doing, s->branch = v->branch;
    s->guard = guard, s->n_guard = q->needs;
    s->kept = tc__step_kept(s);
    tc__step_place(c, v, s, k);
    s->position = (uint32_t)v->path.count, s->loop = tc__step_loop(s);
    s->first_external = first;
    s->first_size = (uint32_t)v->size.count, s->first_arg = (uint32_t)v->arg.count;
    s->n_bind = (uint32_t)v->external.count - first;
    s->bind = TC__ANEW_ARRAY(a, tc__binding, s->n_bind + 1);
    if (!s->bind) return NULL;
    for (uint32_t i = 0; i < s->n_bind; i++) {
        s->bind[i].layout = v->external.at[first + i].layout;
        s->bind[i].alias = v->external.at[first + i].alias;
    }
    s->symbolic = s->n_guard || tc__any_symbol(s->meta.rank, s->meta.dims);
    if (k->op == TC_OP_ARG) {
        s->args = 1, s->symbolic = 1, s->attr[TC__ARG_SLOT] = (int64_t)v->arg.count;
        if (!TC__PUSH(c, v->arg, k->attr[TC__CONST_BITS])) return NULL;
    }
    s->form = tc__step_form(s);
    return s;
}

// The words of a step's attribute in this visit.
static void tc__visit_attrs(tc_ctx *c, const tc__visit *v, const tc__step *s,
                            int64_t *attr) {
    for (uint32_t i = 0; i < s->n_attr; i++) {
        attr[i] = s->args >> i & 1 ? v->arg.at[s->attr[i]] : s->attr[i];
        if (s->symbolic && tc__slot_of((tc__op)s->op, s->n_attr, i) == TC__SLOT_SIZE)
            attr[i] = tc__ix_const(tc__visit_eval(c, v, s->attr[i]));
    }
}

// Layout of an external, or of a step's result that is no view.
static uint32_t tc__base_layout(tc_ctx *c, const tc__visit *v, uint32_t code) {
    int64_t dims[TC_MAX_RANK];
    if (code & TC__EXTERNAL) return v->external.at[code & ~TC__EXTERNAL].layout;
    tc__meta m = v->path.at[code]->meta;
    tc__visit_sizes(c, v, m.rank, m.dims);
    for (int i = 0; i < m.rank; i++) dims[i] = tc__ix_value(m.dims[i]);
    int device = tc__step_device(c, v, v->path.at[code]);
    return tc__layout_on(c, device, m.dtype, m.rank, dims, NULL);
}

// Layout of view `s` of what has the layout `from`; its begin there is added to *offset.
static uint32_t tc__view_layout(tc_ctx *c, const tc__visit *v, const tc__step *s,
                                uint32_t from, int64_t *offset) {
    int64_t attr[TC_MAX_RANK], begin = 0;
    uint32_t layout = 0;
    tc__meta m = s->meta;
    tc__visit_sizes(c, v, m.rank, m.dims);
    tc__visit_attrs(c, v, s, attr);
    if (!tc__view_of(c, (tc__op)s->op, attr, from, &m, &layout, &begin)) return 0;
    *offset += begin;
    return layout;
}

static int tc__view_known(const tc__visit *v, uint32_t code, uint32_t *layout,
                          int64_t *offset) {
    uint32_t i = code % TC__VIEWED;
    if (!v->viewed || v->viewed->step[i] != v->path.at[code]) return 0;
    *layout = v->viewed->layout[i], *offset = v->viewed->offset[i];
    return 1;
}

static void tc__view_note(const tc__visit *v, uint32_t code, uint32_t layout,
                          int64_t offset) {
    uint32_t i = code % TC__VIEWED;
    if (!v->viewed || !layout) return;
    v->viewed->step[i] = v->path.at[code];
    v->viewed->layout[i] = layout, v->viewed->offset[i] = offset;
}

// Layout of an operand in this visit, and for a view the begin behind the memory it shows.
// 0 = out of memory.
static uint32_t tc__code_layout(tc_ctx *c, const tc__visit *v, uint32_t code,
                                int64_t *offset) {
    TC__VEC(uint32_t) view; // of views, the last one first
    uint32_t layout = 1, of = code, known = 0;
    memset(&view, 0, sizeof view);
    *offset = 0;
    while (layout && !(code & TC__EXTERNAL) && v->path.at[code]->view) {
        if (tc__view_known(v, code, &known, offset)) break;
        layout = TC__PUSH(c, view, code);
        code = v->path.at[code]->in[0];
    }
    if (layout) layout = known ? known : tc__base_layout(c, v, code);
    while (layout && view.count)
        layout = tc__view_layout(c, v, v->path.at[view.at[--view.count]], layout, offset);
    if (of != code) tc__view_note(v, of, layout, *offset);
    TC__VEC_FREE(c, view);
    return layout;
}

// The layout of `t`, eager or recorded: what strides it has, or will have. 0 = it is not known yet, or
// out of memory.
static uint32_t tc__layout_of(tc_ctx *c, tc_tensor t) {
    const tc__visit *v = tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    const tc__tensor *e = tc__tensor_find(c, t);
    int64_t offset;
    if (e) return e->layout;
    if (!v || v->state != TC__VISIT_OPEN || tc__position(t) >= v->path.count) return 0;
    return tc__code_layout(c, v, tc__position(t), &offset);
}

// Sets s->view, as it is in this visit; 0 = out of memory.
static int tc__step_view(tc_ctx *c, const tc__visit *v, tc__step *s) {
    int64_t attr[TC_MAX_RANK], offset;
    uint32_t layout = 0;
    tc__meta m = s->meta;
    if (tc__ops[s->op].kind != TC__KIND_MOVE) return 1;
    uint32_t from = tc__code_layout(c, v, s->in[0], &offset);
    if (!from) return 0;
    tc__visit_attrs(c, v, s, attr);
    tc__visit_sizes(c, v, m.rank, m.dims);
    s->view = tc__view_of(c, (tc__op)s->op, attr, from, &m, &layout, &offset);
    return !s->view || layout;
}

static void tc__step_origin(const tc__visit *v, tc__step *s) {
    for (uint32_t i = 0; i < s->n_in; i++)
        if (s->in[i] & TC__EXTERNAL || !(v->path.at[s->in[i]]->flags & TC__STEP_OWN))
            return;
    s->flags |= TC__STEP_OWN;
}

// The run-time sizes of a path are kept with it, to compare later ones with.
static int tc__step_hint(tc__visit *v, tc__step *s) {
    size_t n = v->size.count;
    if (v->fresh < s->position) {
        s->hint = v->at->hint;
        return 1;
    }
    int64_t *hint = TC__ANEW_ARRAY(&v->branch->arena, int64_t, n + 1);
    if (!hint) return 0;
    if (n) memcpy(hint, v->size.at, n * sizeof *hint);
    s->hint = hint;
    return 1;
}

// A loop that never comes to the end of its region, or to tc_eval, takes memory in each round: that is told
// before it is much (26 MB), and ends where positions do.
enum { TC__LONG_VISIT = 1 << 16, TC__LONGEST_VISIT = TC__VISIT_BIT - 1 };

static int tc__visit_has_room(tc_ctx *c, const tc__visit *v, tc__site at) {
    size_t n = v->path.count;
    const tc__region *r = v->region;
    if (n == TC__LONG_VISIT)
        tc__warn(c,
                 "region \"%s\" (%s:%d) has recorded %u ops, the last at %s:%d, and takes "
                 "memory for each until it ends; a loop has one recording for all its "
                 "rounds where %s in each",
                 r->name, r->begin.file ? r->begin.file : "?", r->begin.line, (unsigned)n,
                 at.file ? at.file : "?", at.line,
                 strcmp(r->name, "lazy") ? "the region begins and ends" : "tc_eval stands");
    if (n < TC__LONGEST_VISIT) return 1;
    return tc__fail(c, TC_E_TOO_BIG,
                    "region \"%s\": more than %u ops without its end, or a tc_eval; end it "
                    "in each round of the loop at %s:%d",
                    r->name, (unsigned)n, at.file ? at.file : "?", at.line);
}

// The position of the first step of the loop that is open.
static uint32_t tc__loop_first(const tc__visit *v) {
    const tc__step *s = v->at;
    while (s->parent->loop >= v->at->loop) s = s->parent;
    return s->position;
}

// The root of what a write in place writes: a step, or TC__EXTERNAL for any from outside.
static uint32_t tc__root_written(const tc__visit *v, const tc__call *k) {
    int ours = k->in[0].id >> TC__SLOT_BITS == v->key;
    return ours ? tc__memory_of(v, tc__position(k->in[0])) : TC__EXTERNAL;
}

// What of a call may not be in the body of a loop; NULL = it may.
static const char *tc__loop_refuses(const tc__visit *v, const tc__call *k) {
    if (k->op == TC_OP_RANDOM)
        return "nothing random is drawn; draw before the loop, and give it as rows";
    if (k->op == TC_OP_KEEP) return "nothing is kept; give it as a result";
    if (k->op != TC_OP_COPY_) return NULL;
    uint32_t to = tc__root_written(v, k);
    return to & TC__EXTERNAL || to < tc__loop_first(v)
               ? "what is from outside of it is not written in place; make that a carry"
               : NULL;
}

static int tc__loop_allows(tc_ctx *c, const tc__visit *v, const tc__call *k) {
    const char *why = v->at->loop ? tc__loop_refuses(v, k) : NULL;
    const tc__recorder *r = tc__recorder_of(c);
    return !why || tc__fail(c, TC_E_UNSUPPORTED, "%s: in %s of %s %s", tc__called(c, k->op),
                            r->loop_body, r->loop, why);
}

// What of a call may not be in the gradient of an op of the user's, whose grad_out is zeros that stand for what comes
// later; NULL = it may.
static const char *tc__own_refuses(const tc__visit *v, const tc__call *k, uint32_t first) {
    if (k->op == TC_OP_KEEP) return "nothing is kept; give it in grad_in";
    if (k->op == TC_OP_BREAK)
        return "no value is read: grad_out has none yet; compute with ops";
    if (k->op != TC_OP_COPY_) return NULL;
    uint32_t to = tc__root_written(v, k);
    return to & TC__EXTERNAL || to < first
               ? "only what it made itself is written in place; tc_clone the tensor"
               : NULL;
}

static int tc__own_allows(tc_ctx *c, const tc__visit *v, const tc__call *k) {
    const tc__recorder *r = tc__recorder_of(c);
    const char *why = r->own ? tc__own_refuses(v, k, r->own_first) : NULL;
    return !why ||
           tc__fail(c, TC_E_UNSUPPORTED, "%s: in the gradient of custom op \"%s\" %s",
                    tc__called(c, k->op), r->own, why);
}

static tc__step *tc__visit_fork(tc_ctx *c, tc__visit *v, const tc__call *k) {
    tc__infer q;
    uint32_t bound = (uint32_t)v->external.count;
    if (!tc__loop_allows(c, v, k) || !tc__own_allows(c, v, k)) return NULL;
    if (!tc__visit_has_room(c, v, k->site) || !tc__call_infer(c, v, k, &q)) return NULL;
    tc__step *s = tc__step_new(c, v, k, &q);
    if (!s || !tc__step_view(c, v, s) || !tc__step_hint(v, s)) {
        tc__unbind_to(c, v, bound);
        return NULL;
    }
    tc__step_origin(v, s);
    if (v->fresh > s->position) v->fresh = s->position;
    s->sibling = v->at->next;
    v->at->next = s;
    return s;
}

static tc__step *tc__step_among(tc_ctx *c, tc__visit *v, tc__step *s, const tc__call *k) {
    while (s && !tc__step_matches(c, v, s, k)) s = s->sibling;
    return s;
}

// ---- another way to the same place ----
// The calls so far may also be a path with run-time sizes, one that goes on with this call.

typedef struct tc__past {
    tc__call call;
    tc__step *step; // that it matched
    int64_t dims[TC_MAX_RANK];
} tc__past;

// The call that step `s` of this visit was; its operands and words go to `in` and `attr`.
static void tc__step_call(tc_ctx *c, const tc__visit *v, tc__step *s, tc__past *p,
                          tc_tensor *in, int64_t *attr) {
    tc__call *k = &p->call;
    memset(p, 0, sizeof *p);
    for (uint32_t i = 0; i < s->n_in; i++) {
        uint32_t code = s->in[i];
        in[i].id = v->first | code;
        if (code & TC__EXTERNAL) in[i] = v->external.at[code & ~TC__EXTERNAL].handle;
    }
    tc__visit_attrs(c, v, s, attr);
    memcpy(p->dims, s->meta.dims, sizeof p->dims);
    tc__visit_sizes(c, v, s->meta.rank, p->dims);
    p->step = s;
    k->op = (tc__op)s->op, k->n_in = s->n_in, k->in = in, k->n_attr = s->n_attr;
    k->attr = attr, k->site = s->site;
    if (tc__ops[s->op].kind != TC__KIND_SOURCE) return;
    k->dims = p->dims, k->rank = s->meta.rank, k->dtype = s->meta.dtype;
    k->device = s->flags & TC__STEP_HOME ? (int)TC__ANYWHERE : s->device;
}

// The step for the last of n calls, the first of which is one of `s` and its siblings; the others
// are pushed. NULL = there is none, nothing is changed.
static tc__step *tc__follow_past(tc_ctx *c, tc__visit *v, tc__step *s, const tc__past *p,
                                 size_t n, const tc__call *last) {
    for (size_t i = 0;;) {
        s = tc__step_among(c, v, s, i < n ? &p[i].call : last);
        if (s && i == n) return s;
        if (!s && !i) return NULL;
        if (s) { // deeper
            v->path.at[v->path.count++] = s, v->at = s;
            s = s->next, i++;
        } else { // back
            s = v->path.at[--v->path.count], v->at = s->parent;
            tc__visit_rewind(c, v, s);
            s = s->sibling, i--;
        }
    }
}

// Tries the siblings of position `from`; the calls from there on are p[0..n).
static tc__step *tc__retrace_from(tc_ctx *c, tc__visit *v, uint32_t from, const tc__past *p,
                                  size_t n, const tc__call *k) {
    tc__step *other = p->step->sibling;
    v->path.count = from, v->at = p->step->parent;
    tc__visit_rewind(c, v, p->step);
    tc__step *end = tc__follow_past(c, v, other, p, n, k);
    for (size_t i = 0; !end && i < n; i++) { // back to where we were
        int same = tc__step_matches(c, v, p[i].step, &p[i].call);
        TC_ASSERT(same), (void)same;
        v->path.at[v->path.count++] = p[i].step, v->at = p[i].step;
    }
    return end;
}

static int tc__step_has_rival(const tc__step *s) {
    for (s = s->sibling; s; s = s->sibling)
        if (s->symbolic) return 1;
    return 0;
}

static tc__step *tc__visit_retrace(tc_ctx *c, tc__visit *v, const tc__call *k) {
    tc__step *end = NULL;
    size_t count = v->path.count, from = count, words = 0, operands = 0;
    if (v->fresh != UINT32_MAX) return NULL;
    for (size_t i = v->segment; i < count; i++) {
        if (from == count && tc__step_has_rival(v->path.at[i])) from = i;
        if (from == count) continue;
        words += v->path.at[i]->n_attr, operands += v->path.at[i]->n_in;
    }
    if (from == count) return NULL;
    tc__past *p = TC__NEW_ARRAY(c, tc__past, count - from);
    tc_tensor *in = TC__NEW_ARRAY(c, tc_tensor, operands + 1);
    int64_t *attr = TC__NEW_ARRAY(c, int64_t, words + 1);
    if (p && in && attr) {
        tc_tensor *next_in = in;
        int64_t *next_attr = attr;
        for (size_t i = from; i < count; i++) {
            tc__step *s = v->path.at[i];
            tc__step_call(c, v, s, &p[i - from], next_in, next_attr);
            next_in += s->n_in, next_attr += s->n_attr;
        }
        for (size_t i = count; i-- > from && !end;)
            if (tc__step_has_rival(p[i - from].step))
                end = tc__retrace_from(c, v, (uint32_t)i, &p[i - from], count - i, k);
    }
    tc__free(c, p, (count - from) * sizeof *p);
    tc__free(c, in, (operands + 1) * sizeof *in);
    tc__free(c, attr, (words + 1) * sizeof *attr);
    return end;
}

// Operands from outside are in memory before the call is compared with anything: one that an earlier
// visit had not stored is computed now. So what was read late is an external like any other, whichever
// visit it was read in. 0 = reported.
static int tc__operands_come(tc_ctx *c, const tc__visit *v, const tc__call *k) {
    for (uint32_t i = 0; i < k->n_in; i++) {
        if (k->in[i].id >> TC__SLOT_BITS == v->key || tc__tensor_find(c, k->in[i]))
            continue;
        tc__site_set(c, k->site);
        if (!tc__tensor_need(c, tc__called(c, k->op), k->in[i])) return 0;
    }
    return tc__operands_told(c, k);
}

// Follows or forks by one call; NULL = reported, the visit goes on without the call.
static tc__step *tc__visit_step(tc_ctx *c, tc__visit *v, const tc__call *k) {
    if (!tc__operands_come(c, v, k)) return NULL;
    tc__step *s = tc__step_among(c, v, v->at->next, k);
    if (!s) s = tc__visit_retrace(c, v, k);
    if (!s) {
        tc__site_set(c, k->site);
        s = tc__visit_fork(c, v, k);
    }
    if (!s || !TC__PUSH(c, v->path, s)) return NULL;
    v->at = s;
    if (k->op == TC_OP_COPY_) {
        // What lies in memory may be the value before the write.
        v->writes = 1;
        tc__rewritten(c, v, s);
        for (size_t i = 0; i < v->result_of.count; i++) v->result_of.at[i] = 0;
    }
    return s;
}

// ---- memory that externals share ----

// The SHARE steps that the path lacks for what it has written so far; `word` has room. 0 = reported.
static int tc__shares_record(tc_ctx *c, tc__visit *v, const tc__sharer *s, uint32_t n,
                             int64_t *word, tc__site site) {
    tc__call k;
    memset(&k, 0, sizeof k);
    k.op = TC_OP_SHARE, k.attr = word, k.site = site;
    for (uint32_t from = 0, end; from < n; from = end) {
        for (end = from + 1; end < n && s[end].alias == s[from].alias;) end++;
        k.n_attr = tc__share_words(c, v, s, from, end, word);
        if (k.n_attr == UINT32_MAX) return 0;
        if (!k.n_attr || tc__share_is_known(v, word, k.n_attr)) continue;
        if (k.n_attr > UINT16_MAX)
            return tc__fail(c, TC_E_TOO_BIG,
                            "region \"%s\": one of %u tensors that share memory is written "
                            "in place; %d are possible",
                            v->region->name, (unsigned)(end - from),
                            UINT16_MAX / TC__SHARE_EACH);
        if (!tc__visit_step(c, v, &k)) return 0;
    }
    return 1;
}

// Before a segment ends: how its externals share memory is a part of the path. 0 = reported.
static int tc__visit_share(tc_ctx *c, tc__visit *v, tc__site site) {
    size_t n = v->external.count, words = TC__SHARE_HEAD + TC__SHARE_EACH * n;
    if (!v->writes || !tc__may_share(c, v)) return 1;
    tc__sharer *s = TC__NEW_ARRAY(c, tc__sharer, n);
    uint8_t *written = TC__NEW_ARRAY(c, uint8_t, n);
    int64_t *word = TC__NEW_ARRAY(c, int64_t, words);
    int ok = s && written && word;
    uint32_t many = ok ? tc__sharers(c, v, s, written) : 0;
    for (uint32_t from = 0; from < many;) from = tc__sharers_mark(c, v, s, many, from);
    ok = ok && tc__shares_record(c, v, s, many, word, site);
    if (s) TC__FREE_ARRAY(c, s, n);
    if (written) TC__FREE_ARRAY(c, written, n);
    if (word) TC__FREE_ARRAY(c, word, words);
    return ok;
}
