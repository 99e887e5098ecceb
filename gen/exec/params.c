// Sets of parameters: tensors in slots of no scope, known by a name each. What is here is bookkeeping; values are
// graph/init.c's, gradients exec/grads.c's, files io/params_file.c's.

typedef struct tc__param {
    const char *name; // owned
    tc_tensor tensor; // the set's
    int is_buffer;
} tc__param;

// Parameters that may be added, besides as many as there are, until tc_params_state gives another array.
enum { TC__STATE_ROOM = 64 };

// An array that tc_params_state gave: element i belongs to element i of the list of its set, now and later.
typedef struct tc__params_state {
    tc_params *owner;   // whose tensors it has
    tc_params *of;      // whose list it follows; NULL = none any more
    const char *prefix; // owned
    tc_tensor *at;      // owned; null from the list's end on
    size_t room;
    uint64_t version; // the list's that it was filled for
} tc__params_state;

struct tc_params {
    tc__resource own; // must be first
    uint64_t version; // counts parameters that were added
    TC__VEC(tc__param) param;
    tc__map by_name;                    // hash of a name -> its number
    TC__VEC(tc_tensor) list, grads;     // of tc_params_list
    uint64_t list_version;              // counts changes of the list's parameters
    TC__VEC(tc__params_state *) owns;   // whose tensors are this set's, owned
    TC__VEC(tc__params_state *) follow; // that follow this set's list; another set's
    tc__text text, unmatched;
};

// ---- asking ----

// What a body learns of the set, it depends on: on which parameters there are,
static void tc__params_seen(const tc_params *p) {
    if (p) tc__guard_seen(p->own.ctx, &p->version, sizeof p->version);
}

// and which of them have a gradient, those too that it uses in no other way.
static void tc__params_grads_seen(const tc_params *p) {
    tc__params_seen(p);
    tc__guard_seen(p->own.ctx, &p->own.ctx->grads_switched,
                   sizeof p->own.ctx->grads_switched);
}

static tc_status tc__fail_no_set(const char *who, const char *file, int line) {
    return tc__fail_missing(who, "the set is NULL (did tc_params_open fail?)", file, line);
}

// Whether there is a set to ask; 0 = reported.
static int tc__params_given(const tc_params *p, const char *who) {
    if (!p) tc__fail_no_set(who, NULL, 0);
    tc__params_seen(p);
    return p != NULL;
}

// The number of a name, -1 = there is none.
static int tc__param_find(const tc_params *p, const char *name) {
    uint64_t at, hash = tc__hash64(name, strlen(name), 0);
    for (; tc__map_get(&p->by_name, hash, &at); hash = tc__hash_mix(hash, 1))
        if (!strcmp(p->param.at[at].name, name)) return (int)at;
    return -1;
}

static const tc__param *tc__param_numbered(const tc_params *p, int i) {
    return i >= 0 && (size_t)i < p->param.count ? &p->param.at[i] : NULL;
}

TCDEF int tc_params_count(const tc_params *p) {
    return tc__params_given(p, "tc_params_count") ? (int)p->param.count : 0;
}

TCDEF const char *tc_params_name(const tc_params *p, int i) {
    if (!tc__params_given(p, "tc_params_name")) return NULL;
    const tc__param *m = tc__param_numbered(p, i);
    return m ? m->name : NULL;
}

TCDEF tc_tensor tc_params_tensor(const tc_params *p, int i) {
    if (!tc__params_given(p, "tc_params_tensor")) return tc__null();
    const tc__param *m = tc__param_numbered(p, i);
    return m ? m->tensor : tc__null();
}

TCDEF tc_tensor tc_params_find(const tc_params *p, const char *name) {
    if (!tc__params_given(p, "tc_params_find")) return tc__null();
    if (!name && tc__is_ours(p->own.ctx, "tc_params_find"))
        tc__fail(p->own.ctx, TC_E_NULL, "tc_params_find: the name is NULL");
    return tc_params_tensor(p, name ? tc__param_find(p, name) : -1);
}

// Those that somebody has freed count as nothing.
static const tc__layout *tc__param_layout(const tc_params *p, size_t i) {
    const tc__tensor *t = tc__slot_find(p->own.ctx, p->param.at[i].tensor);
    return tc__layout_at(p->own.ctx, t ? t->layout : 0);
}

static int64_t tc__param_bytes(const tc__layout *l) {
    return l->numel * (int64_t)tc__dtype(l->dtype)->bytes;
}

TCDEF int64_t tc_params_elements(const tc_params *p) {
    int64_t n = 0;
    if (!tc__params_given(p, "tc_params_elements")) return 0;
    for (size_t i = 0; i < p->param.count; i++) n += tc__param_layout(p, i)->numel;
    return n;
}

TCDEF int64_t tc_params_bytes(const tc_params *p) {
    int64_t n = 0;
    if (!tc__params_given(p, "tc_params_bytes")) return 0;
    for (size_t i = 0; i < p->param.count; i++)
        n += tc__param_bytes(tc__param_layout(p, i));
    return n;
}

// ---- opening and closing ----

// The array follows no list any more. Null handles say so to who uses it all the same.
static void tc__params_state_leave(tc__params_state *s) {
    tc_params *p = s->of;
    memset(s->at, 0, s->room * sizeof *s->at);
    for (size_t i = 0; p && i < p->follow.count; i++)
        if (p->follow.at[i] == s) p->follow.at[i] = p->follow.at[--p->follow.count];
    s->of = NULL;
}

static void tc__params_state_free(tc_ctx *c, tc__params_state *s) {
    if (s->at) tc__params_state_leave(s), TC__FREE_ARRAY(c, s->at, s->room);
    tc__string_free(c, s->prefix);
    tc__free(c, s, sizeof *s);
}

static void tc__params_end(tc__resource *o) {
    tc_params *p = (tc_params *)(void *)o;
    tc_ctx *c = o->ctx;
    tc__resource_remove(o);
    tc__fns_forget_bytes(c, &p->version);
    for (size_t i = 0; i < p->param.count; i++) {
        tc_tensor t = p->param.at[i].tensor;
        if (tc__slot_find(c, t))
            tc__slot_free(c, tc__handle_slot(t), "freed with its tc_params", NULL, 0);
        tc__string_free(c, p->param.at[i].name);
    }
    while (p->follow.count) tc__params_state_leave(p->follow.at[0]);
    for (size_t i = 0; i < p->owns.count; i++) tc__params_state_free(c, p->owns.at[i]);
    TC__VEC_FREE(c, p->param);
    TC__VEC_FREE(c, p->list);
    TC__VEC_FREE(c, p->grads);
    TC__VEC_FREE(c, p->owns);
    TC__VEC_FREE(c, p->follow);
    tc__map_free(&p->by_name);
    tc__text_free(&p->text), tc__text_free(&p->unmatched);
    tc__free(c, p, sizeof *p);
}

TCDEF tc_params *tc_params_open_at(tc_ctx *tc, const char *file, int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_params_open", file, line)) return NULL;
    tc_params *p = TC__NEW(tc, tc_params);
    if (!p) return NULL;
    tc__map_init(&p->by_name, tc);
    tc__text_init(&p->text, tc), tc__text_init(&p->unmatched, tc);
    tc__resource_add(tc, &p->own, tc__params_end);
    return p;
}

TCDEF void tc_params_close(tc_params *p) {
    if (!p || !tc__is_ours(p->own.ctx, "tc_params_close")) return;
    if (p->own.ctx->bodies) {
        tc__fail(p->own.ctx, TC_E_STATE,
                 "tc_params_close: called by a function's body; close it afterwards");
        return;
    }
    tc__family_settle(p->own.ctx);
    tc__params_end(&p->own);
}

// A frame of a call about the set; the status, TC_OK = it is there.
static tc_status tc__params_enter(tc__api *f, const tc_params *p, const char *who,
                                  const char *file, int line) {
    if (!p) return tc__fail_no_set(who, file, line);
    return tc__api_open(f, p->own.ctx, who, file, line) ? TC_OK : tc__not_ours(p->own.ctx);
}

// Tensor i as it is in memory; NULL = somebody has freed it, reported.
static tc__tensor *tc__param_need(const tc__api *f, const tc_params *p, size_t i) {
    const tc__param *m = &p->param.at[i];
    tc__tensor *t = tc__slot_find(f->c, m->tensor);
    if (!t)
        tc__fail(f->c, TC_E_DEAD,
                 "%s: \"%.80s\" was freed; the set frees it, with tc_params_close", f->who,
                 m->name);
    return t;
}

// ---- one parameter ----

static const char *tc__params_dims(const tc__layout *l, char text[160]) {
    tc_dims d = tc_dims_of(l->rank, l->dims);
    return tc__sizes_text(&d, text);
}

// Whether what is there is what is asked for; 0 = reported.
static int tc__param_fits(const tc__api *f, const tc_params *p, int i, const tc_dims *d,
                          int dtype, int is_buffer) {
    const tc__param *m = &p->param.at[i];
    const tc__tensor *t = tc__param_need(f, p, (size_t)i);
    char is[160], asked[160];
    if (!t) return 0;
    const tc__layout *l = tc__layout_at(f->c, t->layout);
    int same = d->rank == l->rank &&
               (!d->rank || !memcmp(d->size, l->dims, (size_t)d->rank * sizeof *d->size));
    if (!same || dtype != l->dtype)
        return tc__fail(f->c, same ? TC_E_DTYPE : TC_E_SHAPE,
                        "%s: \"%.80s\" is %s%s, %s%s is asked for", f->who, m->name,
                        tc__dtype(l->dtype)->name, tc__params_dims(l, is),
                        tc__dtype_valid(dtype) ? tc__dtype(dtype)->name : "?",
                        tc__sizes_text(d, asked));
    if (is_buffer == m->is_buffer) return 1;
    return tc__fail(f->c, TC_E_ARG, "%s: \"%.80s\" is there as a %s", f->who, m->name,
                    m->is_buffer ? "buffer; use tc_param_buffer"
                                 : "parameter; use tc_param");
}

static int tc__param_name_check(const tc__api *f, const char *name) {
    int n = 1;
    if (!name) return tc__fail(f->c, TC_E_NULL, "%s: name is NULL", f->who);
    if (!*name || !strcmp(name, "__metadata__"))
        return tc__fail(f->c, TC_E_ARG, "%s: the name \"%s\" cannot be saved; take another",
                        f->who, name);
    for (const char *s = name; n && *s; s += n) n = tc__utf8_size(s);
    return n || tc__fail(f->c, TC_E_ARG, "%s: the name is no UTF-8", f->who);
}

// The tensor of a new parameter, filled; 0 = reported, and nothing is left.
static int tc__param_fill(const tc__api *f, tc_tensor t, const tc_init *init,
                          int is_buffer) {
    tc__tensor *m = tc__slot_find(f->c, t);
    if (!m || !tc_init__at(t, *init, f->file, f->line).id) return 0;
    int is_float = tc__is_arithmetic(tc__layout_at(f->c, m->layout)->dtype);
    if (!is_buffer && is_float && tc_requires_grad_at(t, 1, f->file, f->line)) return 0;
    tc__tensor_move(f->c, m, 0), m->held = 1;
    return 1;
}

static int tc__param_add(tc_params *p, const char *name, tc_tensor t, int is_buffer) {
    tc_ctx *c = p->own.ctx;
    uint64_t hash = tc__hash64(name, strlen(name), 0);
    tc__param m;
    m.name = tc__string_copy(c, name), m.tensor = t, m.is_buffer = is_buffer;
    while (tc__map_get(&p->by_name, hash, NULL)) hash = tc__hash_mix(hash, 1);
    int ok = m.name && TC__VEC_RESERVE(c, p->param, p->param.count + 1) &&
             tc__map_set(&p->by_name, hash, p->param.count);
    tc__tensor *own = tc__slot_find(c, t);
    if (own && ok) own->name = m.name;
    if (ok)
        (void)TC__PUSH(c, p->param, m), p->version++;
    else
        tc__string_free(c, m.name);
    return ok;
}

static tc_tensor tc__param_new(const tc__api *f, tc_params *p, const char *name,
                               const tc_dims *d, int dtype, const tc_init *init,
                               int is_buffer) {
    if (!tc__param_name_check(f, name) || tc__outside(f->c, f->who) ||
        !tc__dims_check(f->c, f->who, d->rank, d->size) || !tc__dtype_check(f, dtype))
        return tc__null();
    tc_tensor t = tc_empty_at(f->c, *d, (tc_dtype)dtype, f->file, f->line);
    if (!t.id) return t;
    if (tc__param_fill(f, t, init, is_buffer) && tc__param_add(p, name, t, is_buffer))
        return t;
    tc__slot_free(f->c, tc__handle_slot(t), "not made", NULL, 0);
    return tc__null();
}

static tc_tensor tc__param_get(tc_params *p, const char *who, const char *name,
                               const tc_dims *d, int dtype, const tc_init *init,
                               int is_buffer, const char *file, int line) {
    tc__api f;
    if (tc__params_enter(&f, p, who, file, line)) return tc__null();
    int i = name ? tc__param_find(p, name) : -1;
    if (i < 0) return tc__param_new(&f, p, name, d, dtype, init, is_buffer);
    return tc__param_fits(&f, p, i, d, dtype, is_buffer) ? p->param.at[i].tensor
                                                         : tc__null();
}

TCDEF tc_tensor tc_param_at(tc_params *p, const char *name, tc_dims dims, tc_dtype dtype,
                            tc_init init, const char *file, int line) {
    return tc__param_get(p, "tc_param", name, &dims, (int)dtype, &init, 0, file, line);
}

TCDEF tc_tensor tc_param_buffer_at(tc_params *p, const char *name, tc_dims dims,
                                   tc_dtype dtype, tc_init init, const char *file,
                                   int line) {
    return tc__param_get(p, "tc_param_buffer", name, &dims, (int)dtype, &init, 1, file,
                         line);
}

// ---- lists ----

// The list as it is now. What was handed out beyond its end becomes null: a number of before is an error then.
static int tc__params_list(const tc__api *f, tc_params *p) {
    tc_tensor g;
    size_t n = 0, before = p->list.count;
    tc__params_grads_seen(p);
    if (!TC__VEC_RESERVE(f->c, p->list, p->param.count) ||
        !TC__VEC_RESERVE(f->c, p->grads, p->param.count))
        return 0;
    p->list.count = p->grads.count = 0;
    for (size_t i = 0; i < p->param.count; i++) {
        const tc__tensor *t = tc__param_need(f, p, i);
        if (!t) {
            p->list_version++; // half of it is another
            return 0;
        }
        g.id = t->grad;
        if (!g.id || p->param.at[i].is_buffer) continue;
        if (n >= before || p->list.at[n].id != p->param.at[i].tensor.id) p->list_version++;
        p->list.at[n] = p->param.at[i].tensor, p->grads.at[n++] = g;
    }
    if (n != before) p->list_version++;
    for (size_t i = n; i < before; i++) p->list.at[i] = p->grads.at[i] = tc__null();
    p->list.count = p->grads.count = n;
    return 1;
}

// Buffer "prefix.name" of `state`, zeros like t, on its device if made now; null = reported.
static tc_tensor tc__params_state_one(const tc__api *f, tc_params *state,
                                      const char *prefix, const char *name, tc_tensor t) {
    tc__text text;
    tc__meta m;
    tc_init zeros = tc_init_zeros();
    tc_tensor made = tc__null();
    if (!tc__meta_get(f, t, &m)) return made;
    tc__text_init(&text, f->c);
    tc__put(&text, "%s.%s", prefix, name);
    tc_dims d = tc__meta_dims(&m);
    tc__values *v = tc__values_of(f->c);
    int device = v->default_device;
    v->default_device = tc__device_number(f->c, t);
    if (!text.failed)
        made =
            tc__param_get(state, f->who, text.at, &d, m.dtype, &zeros, 1, f->file, f->line);
    v->default_device = device;
    tc__text_free(&text);
    return made;
}

// Fills an array for the list as it is, where it is not; 0 = reported.
static int tc__params_state_fill(const tc__api *f, tc__params_state *s) {
    const tc_params *p = s->of;
    size_t n = 0;
    if (s->version == p->list_version) return 1;
    if (p->list.count > s->room)
        return tc__fail(f->c, TC_E_STATE,
                        "%s: parameters were added, and the array of \"%.80s\" has no room "
                        "for %zu; ask for it again, with tc_params_state",
                        f->who, s->prefix, p->list.count);
    for (size_t i = 0; i < p->param.count && n < p->list.count; i++) {
        if (p->param.at[i].tensor.id != p->list.at[n].id) continue;
        tc_tensor t = tc__params_state_one(f, s->owner, s->prefix, p->param.at[i].name,
                                           p->list.at[n]);
        if (!t.id) return 0;
        s->at[n++] = t;
    }
    memset(s->at + n, 0, (s->room - n) * sizeof *s->at);
    s->version = p->list_version;
    return 1;
}

TCDEF int tc_params_list_at(tc_params *p, const tc_tensor **params, const tc_tensor **grads,
                            const char *file, int line) {
    tc__api f;
    if (params) *params = NULL;
    if (grads) *grads = NULL;
    if (tc__params_enter(&f, p, "tc_params_list", file, line) || !tc__params_list(&f, p))
        return -1;
    for (size_t i = 0; i < p->follow.count; i++)
        if (!tc__params_state_fill(&f, p->follow.at[i])) return -1;
    if (params) *params = p->list.at;
    if (grads) *grads = p->grads.at;
    return (int)p->list.count;
}

// A new array, not filled yet, with room for parameters that are added later; NULL = no memory.
static tc__params_state *tc__params_state_new(tc_params *p, tc_params *state,
                                              const char *prefix) {
    tc_ctx *c = p->own.ctx;
    tc__params_state *s = TC__NEW(c, tc__params_state);
    if (!s) return NULL;
    s->owner = state, s->room = 2 * p->param.count + TC__STATE_ROOM;
    s->version = p->list_version - 1;
    s->prefix = tc__string_copy(c, prefix);
    s->at = TC__NEW_ARRAY(c, tc_tensor, s->room);
    if (s->prefix && s->at && TC__PUSH(c, p->follow, s)) {
        s->of = p;
        if (TC__PUSH(c, state->owns, s)) return s;
    }
    tc__params_state_free(c, s);
    return NULL;
}

// The array that the prefix has; one that got too small for the list is left to who has it.
static tc__params_state *tc__params_state_of(tc_params *p, tc_params *state,
                                             const char *prefix) {
    for (size_t i = 0; i < p->follow.count; i++) {
        tc__params_state *s = p->follow.at[i];
        if (s->owner != state || strcmp(s->prefix, prefix)) continue;
        if (s->room >= p->list.count) return s;
        tc__params_state_leave(s);
        break;
    }
    return tc__params_state_new(p, state, prefix);
}

TCDEF const tc_tensor *tc_params_state_at(tc_params *p, tc_params *state,
                                          const char *prefix, const char *file, int line) {
    tc__api f;
    if (tc__params_enter(&f, p, "tc_params_state", file, line)) return NULL;
    if (!state || !prefix || state->own.ctx != f.c || state == p) {
        tc__fail(f.c, state && prefix ? TC_E_ARG : TC_E_NULL, "%s: %s", f.who,
                 !state       ? "state is NULL"
                 : !prefix    ? "prefix is NULL"
                 : state == p ? "state is the set of the parameters; open another"
                              : "state is of another context");
        return NULL;
    }
    if (!tc__params_list(&f, p)) return NULL;
    tc__params_state *s = tc__params_state_of(p, state, prefix);
    return s && tc__params_state_fill(&f, s) ? s->at : NULL;
}

TCDEF tc_status tc_params_zero_grad_at(tc_params *p, const char *file, int line) {
    tc__api f;
    tc_tensor g;
    tc_status s = tc__params_enter(&f, p, "tc_params_zero_grad", file, line);
    if (s) return s;
    tc_status outer = tc__unit_begin(f.c);
    int ok = 1;
    tc__params_grads_seen(p);
    for (size_t i = 0; ok && i < p->param.count; i++) ok = tc__param_need(&f, p, i) != NULL;
    for (size_t i = 0; ok && i < p->param.count; i++) {
        g.id = tc__param_need(&f, p, i)->grad;
        if (g.id && !p->param.at[i].is_buffer) ok = tc_zero__at(g, file, line).id != 0;
    }
    return tc__unit_end(f.c, outer, ok);
}

// ---- another device ----

// A tensor of the set, or a gradient, and the copy that takes its place.
typedef struct tc__moving {
    tc_tensor from, copy;
} tc__moving;

typedef struct tc__params_move {
    const tc__api *f;
    const char *device;
    TC__VEC(tc__moving) all;
} tc__params_move;

static int tc__move_one(tc__params_move *m, tc_tensor t) {
    tc__moving o;
    if (!t.id) return 1;
    o.from = t, o.copy = tc_to_at(t, m->device, m->f->file, m->f->line);
    if (!o.copy.id) return 0;
    if (TC__PUSH(m->f->c, m->all, o)) return 1;
    tc__slot_free(m->f->c, tc__handle_slot(o.copy), "not moved", NULL, 0);
    return 0;
}

static int tc__move_copies(tc__params_move *m, const tc_params *p) {
    tc_tensor grad;
    for (size_t i = 0; i < p->param.count; i++) {
        const tc__tensor *t = tc__param_need(m->f, p, i);
        if (!t) return 0;
        grad.id = t->grad;
        if (!tc__move_one(m, p->param.at[i].tensor) || !tc__move_one(m, grad)) return 0;
    }
    return 1;
}

// Both tensors show what the other one did.
static void tc__tensors_swap(tc__tensor *a, tc__tensor *b) {
    tc__storage *storage = a->storage;
    uint32_t layout = a->layout;
    int64_t offset = a->offset;
    a->storage = b->storage, a->layout = b->layout, a->offset = b->offset;
    b->storage = storage, b->layout = layout, b->offset = offset;
    a->bind_epoch = b->bind_epoch = 0;
}

TCDEF tc_status tc_params_to_at(tc_params *p, const char *device, const char *file,
                                int line) {
    tc__api f;
    tc__params_move m;
    tc_status s = tc__params_enter(&f, p, "tc_params_to", file, line);
    if (!s) s = tc__outside(f.c, f.who);
    if (s) return s;
    tc_status outer = tc__unit_begin(f.c);
    memset(&m, 0, sizeof m);
    m.f = &f, m.device = device;
    int ok = tc__device_need(f.c, f.who, device) >= 0 && tc__move_copies(&m, p);
    for (size_t i = 0; i < m.all.count; i++) {
        tc__tensor *copy = tc__slot_find(f.c, m.all.at[i].copy);
        tc__tensor *from = tc__slot_find(f.c, m.all.at[i].from);
        if (ok && from && copy) tc__tensors_swap(from, copy);
        if (copy)
            tc__slot_free(f.c, tc__handle_slot(m.all.at[i].copy), "moved", file, line);
    }
    if (m.all.count) tc__fns_look_again(f.c);
    TC__VEC_FREE(f.c, m.all);
    return tc__unit_end(f.c, outer, ok);
}

// ---- as a table ----

enum { TC__PARAMS_COLUMNS = 60 }; // of a name or sizes; longer ones stand out

static void tc__params_widths(const tc_params *p, int *name, int *sizes) {
    char text[160];
    *name = 9, *sizes = 5;
    for (size_t i = 0; i < p->param.count; i++) {
        int n = (int)strlen(p->param.at[i].name);
        int d = (int)strlen(tc__params_dims(tc__param_layout(p, i), text));
        if (n > *name && n <= TC__PARAMS_COLUMNS) *name = n;
        if (d > *sizes && d <= TC__PARAMS_COLUMNS) *sizes = d;
    }
}

static void tc__put_param(tc__text *t, const tc_params *p, size_t i, int name, int sizes) {
    const tc__param *m = &p->param.at[i];
    const tc__layout *l = tc__param_layout(p, i);
    const tc__tensor *own = tc__slot_find(p->own.ctx, m->tensor);
    char text[160];
    tc__put(t, "%-*s  %-5s  %-*s  %12lld  %14lld  %s\n", name, m->name,
            own ? tc__dtype(l->dtype)->name : "freed", sizes, tc__params_dims(l, text),
            (long long)l->numel, (long long)tc__param_bytes(l),
            m->is_buffer       ? "buffer"
            : own && own->grad ? "trained"
                               : "fixed");
}

TCDEF const char *tc_params_text(tc_params *p) {
    int name, sizes;
    int64_t trained = 0;
    if (!p) return tc__fail_no_set("tc_params_text", NULL, 0), "";
    if (!tc__is_ours(p->own.ctx, "tc_params_text")) return "";
    tc__text *t = &p->text;
    tc__text_clear(t);
    tc__params_widths(p, &name, &sizes);
    tc__put(t, "%-*s  %-5s  %-*s  %12s  %14s\n", name, "name", "dtype", sizes, "sizes",
            "elements", "bytes");
    for (size_t i = 0; i < p->param.count; i++) {
        const tc__tensor *m = tc__slot_find(p->own.ctx, p->param.at[i].tensor);
        if (m && m->grad) trained += tc__param_layout(p, i)->numel;
        tc__put_param(t, p, i, name, sizes);
    }
    tc__put(t, "%-*s  %-5s  %-*s  %12lld  %14lld\n", name, "total", "", sizes, "",
            (long long)tc_params_elements(p), (long long)tc_params_bytes(p));
    tc__put(t, "%d tensors, %lld elements trained\n", tc_params_count(p),
            (long long)trained);
    return t->failed ? "" : t->at;
}
