// Sets of parameters in safetensors files. A file is compared with the set, and read, as a whole before anything of the
// set changes.

typedef struct tc__params_load {
    const tc__api *f;
    tc_params *p;
    tc_safetensors *file;
    tc_tensor *read; // of each of the set: what the file has; null = nothing. Owned
} tc__params_load;

TCDEF const char *tc_params_unmatched(const tc_params *p) {
    if (!p) tc__fail_no_set("tc_params_unmatched", NULL, 0);
    return p && !p->unmatched.failed ? p->unmatched.at : "";
}

// ---- saving ----

TCDEF tc_status tc_params_save_at(tc_params *p, const char *path, const char *file,
                                  int line) {
    tc__api f;
    tc_status s = tc__params_enter(&f, p, "tc_params_save", file, line);
    if (s) return s;
    tc_status outer = tc__unit_begin(f.c);
    size_t n = p->param.count;
    const char **names = TC__NEW_ARRAY(f.c, const char *, n);
    tc_tensor *tensors = TC__NEW_ARRAY(f.c, tc_tensor, n);
    int ok = names && tensors;
    for (size_t i = 0; ok && i < n; i++) {
        names[i] = p->param.at[i].name, tensors[i] = p->param.at[i].tensor;
        ok = tc__param_need(&f, p, i) != NULL;
    }
    ok = ok && tc__safe_save(&f, path, names, tensors, (int)n, NULL, 0);
    if (names) TC__FREE_ARRAY(f.c, names, n);
    if (tensors) TC__FREE_ARRAY(f.c, tensors, n);
    return tc__unit_end(f.c, outer, ok);
}

// ---- loading ----

static void tc__put_unmatched(tc__text *t, int *n, const char *what, const char *name) {
    if (!(*n)++)
        tc__put(t, "%s%s ", t->size ? "; " : "", what);
    else
        tc__put(t, ", ");
    tc__put_json(t, name);
}

// Names that only one of both has; their number.
static int tc__params_compare(const tc__params_load *l) {
    tc_params *p = l->p;
    int missing = 0, unexpected = 0;
    tc__text_clear(&p->unmatched);
    for (size_t i = 0; i < p->param.count; i++)
        if (tc_safetensors_find(l->file, p->param.at[i].name) < 0)
            tc__put_unmatched(&p->unmatched, &missing, "missing", p->param.at[i].name);
    for (int i = 0; i < tc_safetensors_count(l->file); i++)
        if (tc__param_find(p, tc_safetensors_name(l->file, i)) < 0)
            tc__put_unmatched(&p->unmatched, &unexpected, "unexpected",
                              tc_safetensors_name(l->file, i));
    return missing + unexpected;
}

// Whether tensor i of the set is in the file with its sizes; 0 = reported.
static int tc__params_sizes(const tc__params_load *l, size_t i) {
    const tc__api *f = l->f;
    const tc__param *m = &l->p->param.at[i];
    const tc__tensor *t = tc__param_need(f, l->p, i);
    const tc__safe_tensor *from = tc__safe_find(&l->file->header, m->name);
    char is[160], has[160];
    if (!t || !from) return t != NULL;
    if (!tc__safe_known(f, l->file, from)) return 0;
    const tc__layout *layout = tc__layout_at(f->c, t->layout);
    tc_dims d = tc_dims_of(from->rank, from->dims);
    if (d.rank == layout->rank &&
        (!d.rank || !memcmp(d.size, layout->dims, (size_t)d.rank * sizeof *d.size)))
        return 1;
    return tc__fail(f->c, TC_E_SHAPE, "%s: \"%.80s\" is %s, \"%s\" has it as %s", f->who,
                    m->name, tc__params_dims(layout, is), l->file->path,
                    tc__sizes_text(&d, has));
}

static int tc__params_check(const tc__params_load *l, int flags) {
    const tc__api *f = l->f;
    int unmatched = tc__params_compare(l), ok = !l->p->unmatched.failed;
    for (size_t i = 0; ok && i < l->p->param.count; i++) ok = tc__params_sizes(l, i);
    if (!ok || !unmatched || flags & TC_LOAD_PARTIAL) return ok;
    return tc__fail(f->c, TC_E_ARG,
                    "%s: \"%s\" is not of this set: %.300s; TC_LOAD_PARTIAL loads the rest",
                    f->who, l->file->path, l->p->unmatched.at);
}

static int tc__params_read(tc__params_load *l) {
    for (size_t i = 0; i < l->p->param.count; i++) {
        const tc__safe_tensor *from =
            tc__safe_find(&l->file->header, l->p->param.at[i].name);
        l->read[i] = from ? tc__safe_copy(l->f, l->file, from) : tc__null();
        if (from && !l->read[i].id) return 0;
    }
    return 1;
}

static int tc__params_write(const tc__params_load *l) {
    for (size_t i = 0; i < l->p->param.count; i++)
        if (l->read[i].id &&
            !tc_copy__at(l->p->param.at[i].tensor, l->read[i], l->f->file, l->f->line).id)
            return 0;
    return 1;
}

static int tc__params_load_file(tc__params_load *l, const char *path, int flags) {
    tc_ctx *c = l->f->c;
    size_t n = l->p->param.count;
    l->file = tc__safe_open(l->f, path);
    if (!l->file) return 0;
    l->read = TC__NEW_ARRAY(c, tc_tensor, n);
    int ok =
        l->read && tc__params_check(l, flags) && tc__params_read(l) && tc__params_write(l);
    for (size_t i = 0; l->read && i < n; i++)
        if (l->read[i].id) tc__slot_free(c, tc__handle_slot(l->read[i]), "loaded", NULL, 0);
    if (l->read) TC__FREE_ARRAY(c, l->read, n);
    tc__safe_end(&l->file->own);
    return ok;
}

TCDEF tc_status tc_params_load_at(tc_params *p, const char *path, int flags,
                                  const char *file, int line) {
    tc__api f;
    tc__params_load l;
    tc_status s = tc__params_enter(&f, p, "tc_params_load", file, line);
    if (!s) s = tc__outside(f.c, f.who);
    if (s) return s;
    memset(&l, 0, sizeof l);
    l.f = &f, l.p = p;
    tc__text_clear(&p->unmatched);
    tc_status outer = tc__unit_begin(f.c);
    int ok =
        flags == (flags & TC_LOAD_PARTIAL) ||
        tc__fail(f.c, TC_E_ARG, "%s: flags are %d; 0 or TC_LOAD_PARTIAL", f.who, flags);
    ok = ok && tc__params_load_file(&l, path, flags);
    return tc__unit_end(f.c, outer, ok);
}
