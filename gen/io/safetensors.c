// safetensors files: open ones, what is read and borrowed of them, and writing. Nothing is allocated before the
// lengths in a file agree with its size. Elements are read when they are asked for, or the file becomes memory once
// (tc__mapping), which tensors share.

#define TC__SAFE_HEADER_MOST ((uint64_t)100000000) // the format's limit

struct tc_safetensors {
    tc__resource own; // must be first
    const char *path;
    FILE *file;
    uint64_t size, start; // of the file; of the elements in it
    tc__safe_header header;
    tc__mapping *mapping; // counted; NULL = none yet
};

// ---- opening ----

static int tc__safe_failed(const tc__api *f, const char *path, tc_status status,
                           const char *what) {
    return tc__fail(f->c, status, "%s: \"%s\": %s", f->who, path, what);
}

static int tc__safe_io_failed(const tc__api *f, const char *path, const char *what) {
    return tc__fail(f->c, TC_E_IO, "%s: %s \"%s\": %s", f->who, what, path,
                    errno ? strerror(errno) : "unexpected end");
}

static int tc__safe_measure(const tc__api *f, tc_safetensors *s) {
    long size = -1;
    errno = 0;
    if (!fseek(s->file, 0, SEEK_END)) size = ftell(s->file);
    if (size < 0 || size == LONG_MAX || fseek(s->file, 0, SEEK_SET))
        return tc__safe_io_failed(f, s->path, "cannot measure");
    s->size = (uint64_t)size;
    return 1;
}

static int tc__safe_read(const tc__api *f, const tc_safetensors *s, void *to, size_t size) {
    errno = 0;
    return fread(to, 1, size, s->file) == size ||
           tc__safe_io_failed(f, s->path, "cannot read");
}

// The length of the header; 0 = reported.
static size_t tc__safe_length(const tc__api *f, tc_safetensors *s) {
    uint8_t bytes[8];
    if (s->size < 8)
        return (size_t)tc__safe_failed(f, s->path, TC_E_FORMAT,
                                       "it ends before the length of its header");
    if (!tc__safe_read(f, s, bytes, 8)) return 0;
    uint64_t n = tc__load_le64(bytes);
    s->start = 8 + n;
    if (n >= 2 && n <= TC__SAFE_HEADER_MOST && n <= s->size - 8) return (size_t)n;
    return (size_t)tc__fail(
        f->c, TC_E_FORMAT,
        "%s: \"%s\": its header would have %llu bytes; the file has %llu, "
        "and 100000000 are the most",
        f->who, s->path, (unsigned long long)n, (unsigned long long)s->size);
}

static int tc__safe_header_read(const tc__api *f, tc_safetensors *s) {
    tc__safe_reader r;
    tc__blob text;
    size_t n = tc__safe_length(f, s);
    if (!n || !tc__blob_init(f->c, &text, n)) return 0;
    int ok = tc__safe_read(f, s, text.at, n);
    if (ok && !tc__safe_parse(&r, f->c, (const char *)text.at, n, s->size - s->start,
                              &s->header)) {
        ok = 0;
        if (r.wrong)
            tc__fail(f->c, TC_E_FORMAT,
                     "%s: \"%s\": %s%.80s%s%s, at byte %zu of the header", f->who, s->path,
                     r.name ? "\"" : "", r.name ? r.name : "", r.name ? "\": " : "",
                     r.wrong, (size_t)(r.at - r.begin));
    }
    tc__blob_free(f->c, &text);
    return ok;
}

static void tc__safe_end(tc__resource *o) {
    tc_safetensors *s = (tc_safetensors *)(void *)o;
    tc_ctx *c = o->ctx;
    tc__resource_remove(o);
    tc__mapping_unref(c, s->mapping);
    tc__safe_header_free(c, &s->header);
    if (s->file) fclose(s->file);
    tc__string_free(c, s->path);
    tc__free(c, s, sizeof *s);
}

static int tc__safe_file(const tc__api *f, tc_safetensors *s, const char *path) {
    s->path = tc__string_copy(f->c, path);
    if (!s->path) return 0;
    errno = 0;
    s->file = tc__file_stream(path, TC__STREAM_READ);
    if (!s->file && errno == EINVAL)
        return tc__safe_failed(f, path, TC_E_IO, "it is no plain file");
    if (!s->file) return tc__safe_io_failed(f, path, "cannot open");
    return tc__safe_measure(f, s) && tc__safe_header_read(f, s);
}

// Whether a file of this path can be used here; 0 = reported.
static int tc__safe_path(const tc__api *f, const char *path) {
    if (!path) return tc__fail(f->c, TC_E_NULL, "%s: path is NULL", f->who);
    return tc__little_endian() ||
           tc__fail(f->c, TC_E_UNSUPPORTED, "%s: this machine is big-endian", f->who);
}

static tc_safetensors *tc__safe_open(const tc__api *f, const char *path) {
    if (!tc__safe_path(f, path)) return NULL;
    tc_safetensors *s = TC__NEW(f->c, tc_safetensors);
    if (!s) return NULL;
    tc__arena_init(&s->header.arena, f->c);
    tc__resource_add(f->c, &s->own, tc__safe_end);
    tc__calm calm = tc__calm_begin();
    int ok = tc__safe_file(f, s, path);
    if (!ok) tc__safe_end(&s->own);
    tc__calm_end(calm);
    return ok ? s : NULL;
}

TCDEF tc_safetensors *tc_safetensors_open_at(tc_ctx *tc, const char *path, const char *file,
                                             int line) {
    tc__api f;
    if (!tc__api_open(&f, tc, "tc_safetensors_open", file, line)) return NULL;
    tc_status outer = tc__unit_begin(tc);
    tc_safetensors *s = tc__safe_open(&f, path);
    (void)tc__unit_end(tc, outer, s != NULL);
    return s;
}

TCDEF void tc_safetensors_close(tc_safetensors *s) {
    if (s && tc__is_ours(s->own.ctx, "tc_safetensors_close")) tc__safe_end(&s->own);
}

// ---- asking ----

TCDEF int tc_safetensors_count(const tc_safetensors *s) {
    return s ? (int)s->header.tensor.count : 0;
}

static const tc__safe_tensor *tc__safe_at(const tc_safetensors *s, int i) {
    return s && i >= 0 && i < tc_safetensors_count(s) ? &s->header.tensor.at[i] : NULL;
}

TCDEF const char *tc_safetensors_name(const tc_safetensors *s, int i) {
    const tc__safe_tensor *t = tc__safe_at(s, i);
    return t ? t->name : NULL;
}

TCDEF int tc_safetensors_find(const tc_safetensors *s, const char *name) {
    const tc__safe_tensor *t = s && name ? tc__safe_find(&s->header, name) : NULL;
    return t ? (int)(t - s->header.tensor.at) : -1;
}

TCDEF const char *tc_safetensors_metadata(const tc_safetensors *s, const char *key) {
    for (size_t i = 0; s && key && i < s->header.metadata.count; i++)
        if (!strcmp(s->header.metadata.at[i].key, key))
            return s->header.metadata.at[i].value;
    return NULL;
}

TCDEF const char *tc_safetensors_metadata_key(const tc_safetensors *s, int i) {
    int there = s && i >= 0 && (size_t)i < s->header.metadata.count;
    return there ? s->header.metadata.at[i].key : NULL;
}

// Whether we have such tensors; 0 = reported.
static int tc__safe_known(const tc__api *f, const tc_safetensors *s,
                          const tc__safe_tensor *t) {
    if (t->dtype < 0)
        return tc__fail(
            f->c, TC_E_UNSUPPORTED,
            "%s: \"%s\": \"%.80s\" has elements of %s; convert it to one of BOOL, "
            "U8, I8, F8_E4M3, F8_E5M2, I16, I32, I64, F16, BF16, F32, F64",
            f->who, s->path, t->name, t->dtype_name);
    return t->rank <= TC_MAX_RANK ||
           tc__fail(f->c, TC_E_UNSUPPORTED,
                    "%s: \"%s\": \"%.80s\" has %d dimensions; %d are the most", f->who,
                    s->path, t->name, t->rank, TC_MAX_RANK);
}

// A frame of a call about s; 0 = reported.
static int tc__safe_enter(tc__api *f, tc_safetensors *s, const char *who, const char *file,
                          int line) {
    if (s) return tc__api_open(f, s->own.ctx, who, file, line);
    tc__fail_missing(who, "the file is NULL (did tc_safetensors_open fail?)", file, line);
    return 0;
}

TCDEF tc_status tc_safetensors_spec_at(tc_safetensors *s, int i, tc_spec *spec,
                                       const char *file, int line) {
    tc__api f;
    if (!tc__safe_enter(&f, s, "tc_safetensors_spec", file, line))
        return s ? tc__not_ours(s->own.ctx) : TC_E_NULL;
    const tc__safe_tensor *t = tc__safe_at(s, i);
    tc_status outer = tc__unit_begin(f.c);
    int ok =
        spec ? t != NULL || tc__fail(f.c, TC_E_ARG, "%s: \"%s\" has %d tensors, none is %d",
                                     f.who, s->path, tc_safetensors_count(s), i)
             : tc__fail(f.c, TC_E_NULL, "%s: spec is NULL", f.who);
    ok = ok && tc__safe_known(&f, s, t);
    if (ok) {
        memset(spec, 0, sizeof *spec);
        spec->dtype = (tc_dtype)t->dtype, spec->rank = t->rank;
        memcpy(spec->dims, t->dims, (size_t)t->rank * sizeof *t->dims);
    }
    return tc__unit_end(f.c, outer, ok);
}

// ---- elements ----

// The tensor of this name, that we have; NULL = reported.
static const tc__safe_tensor *tc__safe_need(const tc__api *f, const tc_safetensors *s,
                                            const char *name) {
    const tc__safe_tensor *t = name ? tc__safe_find(&s->header, name) : NULL;
    if (!name)
        tc__fail(f->c, TC_E_NULL, "%s: name is NULL", f->who);
    else if (!t)
        tc__fail(f->c, TC_E_ARG, "%s: \"%s\" has no tensor \"%.80s\"", f->who, s->path,
                 name);
    if (!t || !tc__safe_known(f, s, t) || !tc__dims_check(f->c, f->who, t->rank, t->dims))
        return NULL;
    return t;
}

static int tc__safe_elements(const tc__api *f, const tc_safetensors *s,
                             const tc__safe_tensor *t, void *to) {
    tc__calm calm = tc__calm_begin();
    errno = 0;
    int ok = !fseek(s->file, (long)(s->start + t->begin), SEEK_SET) ||
             tc__safe_io_failed(f, s->path, "cannot read");
    ok = ok && tc__safe_read(f, s, to, (size_t)(t->end - t->begin));
    tc__calm_end(calm);
    return ok;
}

static tc_tensor tc__safe_copy(const tc__api *f, const tc_safetensors *s,
                               const tc__safe_tensor *t) {
    size_t bytes = (size_t)(t->end - t->begin);
    uint32_t layout = tc__layout_intern(f->c, t->dtype, t->rank, t->dims, NULL);
    tc__storage *to = layout ? tc__storage_new(f->c, bytes) : NULL;
    if (!to) return tc__null();
    if (bytes && !tc__safe_elements(f, s, t, to->data)) {
        tc__storage_unref(f->c, to);
        return tc__null();
    }
    if (t->dtype == TC_BOOL) tc__bool_normalise(to->data, (int64_t)bytes);
    return tc__loaded(f, layout, to);
}

// The file as memory; NULL = there is no such memory.
static tc__mapping *tc__safe_map(tc_safetensors *s) {
    if (s->mapping) return s->mapping;
    tc__error_mark before = tc__error_now(s->own.ctx);
    tc__mapping *m = TC__NEW(s->own.ctx, tc__mapping);
    if (!m) return tc__error_restore(s->own.ctx, before), (tc__mapping *)NULL;
    m->size = (size_t)s->size, m->refs = 1;
    m->at = tc__file_map(s->file, m->size);
    if (!m->at) return tc__free(s->own.ctx, m, sizeof *m), (tc__mapping *)NULL;
    return s->mapping = m;
}

// Where tensor t lies in memory; NULL = it is to be copied.
static char *tc__safe_there(tc_safetensors *s, const tc__safe_tensor *t) {
    uint64_t at = s->start + t->begin;
    tc_ctx *c = s->own.ctx;
    if (t->dtype == TC_BOOL || t->begin == t->end || tc__values_of(c)->default_device)
        return NULL;
    if (at % tc__dtype(t->dtype)->bytes || !tc__safe_map(s)) return NULL;
    return (char *)s->mapping->at + at;
}

static tc_tensor tc__safe_borrow(const tc__api *f, tc_safetensors *s,
                                 const tc__safe_tensor *t) {
    char *at = tc__safe_there(s, t);
    if (!at) return tc__safe_copy(f, s, t);
    uint32_t layout = tc__layout_intern(f->c, t->dtype, t->rank, t->dims, NULL);
    tc__storage *to =
        layout ? tc__storage_wrap(f->c, at, (size_t)(t->end - t->begin)) : NULL;
    if (!to) return tc__null();
    to->owner = TC__MAPPED, to->block = s->mapping, s->mapping->refs++;
    return tc__tensor_new(f->c, layout, to, 0, f->file, f->line);
}

TCDEF tc_tensor tc_safetensors_read_at(tc_safetensors *s, const char *name,
                                       const char *file, int line) {
    tc__api f;
    if (!tc__safe_enter(&f, s, "tc_safetensors_read", file, line)) return tc__null();
    const tc__safe_tensor *t = tc__safe_need(&f, s, name);
    return t ? tc__safe_copy(&f, s, t) : tc__null();
}

TCDEF tc_tensor tc_safetensors_borrow_at(tc_safetensors *s, const char *name,
                                         const char *file, int line) {
    tc__api f;
    if (!tc__safe_enter(&f, s, "tc_safetensors_borrow", file, line)) return tc__null();
    const tc__safe_tensor *t = tc__safe_need(&f, s, name);
    return t ? tc__safe_borrow(&f, s, t) : tc__null();
}

// ---- writing ----

typedef struct tc__safe_item {
    const char *name; // the caller's
    tc_tensor tensor;
    int order; // of its dtype: see tc__safe_dtypes
    tc__meta meta;
    uint64_t bytes;
} tc__safe_item;

typedef struct tc__safe_draft {
    const tc__api *f;
    const char *path;
    tc__safe_item *item; // owned
    int n;
    tc__text head, temp; // the header, and where it is written at first
    FILE *file;
} tc__safe_draft;

// The largest dtypes first, so that all elements are aligned; then names.
static int tc__safe_item_order(const void *a, const void *b) {
    const tc__safe_item *x = (const tc__safe_item *)a, *y = (const tc__safe_item *)b;
    if (x->order != y->order) return x->order > y->order ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int tc__safe_item_names(const void *a, const void *b) {
    const tc__safe_item *x = (const tc__safe_item *)a, *y = (const tc__safe_item *)b;
    return strcmp(x->name, y->name);
}

// Whether a text may stand in the header; 0 = reported.
static int tc__safe_text(const tc__api *f, const char *what, int i, const char *s) {
    if (!s) return tc__fail(f->c, TC_E_NULL, "%s: %s %d is NULL", f->who, what, i);
    for (int n; *s; s += n) {
        n = tc__utf8_size(s);
        if (!n) return tc__fail(f->c, TC_E_ARG, "%s: %s %d is no UTF-8", f->who, what, i);
    }
    return 1;
}

static int tc__safe_item_make(const tc__api *f, tc__safe_item *o, const char *name,
                              tc_tensor t, int i) {
    if (!tc__safe_text(f, "name", i, name)) return 0;
    if (!strcmp(name, "__metadata__"))
        return tc__fail(f->c, TC_E_ARG, "%s: name %d is __metadata__, which is no tensor",
                        f->who, i);
    if (!t.id)
        return tc__fail(f->c, TC_E_NULL, "%s: tensor %d, \"%.80s\", is null", f->who, i,
                        name);
    o->name = name, o->tensor = t;
    if (!tc__meta_get(f, t, &o->meta)) return 0;
    while (tc__safe_dtypes[o->order].dtype != o->meta.dtype) o->order++;
    o->bytes = (uint64_t)tc__meta_elements(&o->meta) * tc__dtype(o->meta.dtype)->bytes;
    return 1;
}

static int tc__safe_items(tc__safe_draft *d, const char *const *names,
                          const tc_tensor *tensors) {
    const tc__api *f = d->f;
    for (int i = 0; i < d->n; i++)
        if (!tc__safe_item_make(f, &d->item[i], names[i], tensors[i], i)) return 0;
    qsort(d->item, (size_t)d->n, sizeof *d->item, tc__safe_item_names);
    for (int i = 1; i < d->n; i++)
        if (!strcmp(d->item[i].name, d->item[i - 1].name))
            return tc__fail(f->c, TC_E_ARG, "%s: two tensors have the name \"%.80s\"",
                            f->who, d->item[i].name);
    qsort(d->item, (size_t)d->n, sizeof *d->item, tc__safe_item_order);
    return 1;
}

static void tc__safe_put_item(tc__text *t, const tc__safe_item *o, uint64_t begin) {
    tc__put_json(t, o->name);
    tc__put(t, ":{\"dtype\":\"%s\",\"shape\":[", tc__safe_dtypes[o->order].name);
    for (int k = 0; k < o->meta.rank; k++)
        tc__put(t, "%s%lld", k ? "," : "", (long long)tc__meta_size(&o->meta, k));
    tc__put(t, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)begin,
            (unsigned long long)(begin + o->bytes));
}

static int tc__safe_pair_order(const void *a, const void *b) {
    return strcmp(((const tc__safe_pair *)a)->key, ((const tc__safe_pair *)b)->key);
}

// The n pairs of metadata, in the order of their keys; 0 = reported.
static int tc__safe_put_metadata(tc__safe_draft *d, const char *const *metadata, int n) {
    const tc__api *f = d->f;
    tc__safe_pair *pair = TC__NEW_ARRAY(f->c, tc__safe_pair, n);
    int ok = pair != NULL;
    for (int i = 0; ok && i < 2 * n; i++) ok = tc__safe_text(f, "metadata", i, metadata[i]);
    for (int i = 0; ok && i < n; i++)
        pair[i].key = metadata[2 * i], pair[i].value = metadata[2 * i + 1];
    if (ok) qsort(pair, (size_t)n, sizeof *pair, tc__safe_pair_order);
    tc__put(&d->head, "\"__metadata__\":{");
    for (int i = 0; ok && i < n; i++) {
        if (i && !strcmp(pair[i].key, pair[i - 1].key))
            ok = tc__fail(f->c, TC_E_ARG, "%s: two values have the key \"%.80s\"", f->who,
                          pair[i].key);
        if (i) tc__put(&d->head, ",");
        tc__put_json(&d->head, pair[i].key);
        tc__put(&d->head, ":");
        tc__put_json(&d->head, pair[i].value);
    }
    tc__put(&d->head, d->n ? "}," : "}");
    if (pair) TC__FREE_ARRAY(f->c, pair, n);
    return ok;
}

// Length and JSON, padded with blanks so that elements begin at a multiple of 8.
static int tc__safe_put_header(tc__safe_draft *d, const char *const *metadata,
                               int n_metadata) {
    tc__text *t = &d->head;
    uint64_t at = 0;
    tc__put_raw(t, "\0\0\0\0\0\0\0\0{", 9);
    if (n_metadata && !tc__safe_put_metadata(d, metadata, n_metadata)) return 0;
    for (int i = 0; i < d->n; i++) {
        if (i) tc__put(t, ",");
        tc__safe_put_item(t, &d->item[i], at);
        at += d->item[i].bytes;
    }
    tc__put(t, "}");
    while (!t->failed && t->size % 8) tc__put(t, " ");
    if (t->failed) return 0;
    if (t->size - 8 > TC__SAFE_HEADER_MOST)
        return tc__fail(d->f->c, TC_E_TOO_BIG,
                        "%s: the header would have %zu bytes, 100000000 are the most",
                        d->f->who, t->size - 8);
    for (int i = 0; i < 8; i++) t->at[i] = (char)((uint64_t)(t->size - 8) >> 8 * i & 255);
    return 1;
}

// A name in the folder of the path that nobody else has.
static void tc__safe_put_temp(tc__text *t, const char *path) {
    const char *last = strrchr(path, '/');
    tc__put_raw(t, path, last ? (size_t)(last - path) + 1 : 0);
    tc__put(t, ".%llx.%llx.tmp", (unsigned long long)tc__process_number(),
            (unsigned long long)tc__now_ns());
}

// The status of a computation, or of the file.
static tc_status tc__safe_write_item(const tc__safe_draft *d, const tc__safe_item *o) {
    const tc__api *f = d->f;
    const void *data;
    const tc__layout *l;
    int64_t offset;
    tc_status s = tc__host_view(f->c, f->who, o->tensor, NULL, &data, &l, &offset);
    if (s) return s;
    const char *at = (const char *)data + offset * (int64_t)tc__dtype(l->dtype)->bytes;
    tc__calm calm = tc__calm_begin();
    errno = 0;
    int ok = tc__npy_put_elements(d->file, l, at) ||
             tc__safe_io_failed(f, d->path, "cannot write");
    tc__calm_end(calm);
    return ok ? TC_OK : TC_E_IO;
}

static tc_status tc__safe_write(tc__safe_draft *d) {
    errno = 0;
    tc_status s = TC_OK;
    if (fwrite(d->head.at, 1, d->head.size, d->file) != d->head.size)
        tc__safe_io_failed(d->f, d->path, "cannot write"), s = TC_E_IO;
    for (int i = 0; !s && i < d->n; i++) s = tc__safe_write_item(d, &d->item[i]);
    return s;
}

// Writes what is ready. TC_OK, or reported.
static tc_status tc__safe_draft_write(tc__safe_draft *d) {
    const tc__api *f = d->f;
    errno = 0;
    d->file = tc__draft_open(d->path, d->temp.at);
    if (!d->file && errno == EINVAL)
        tc__safe_failed(f, d->path, TC_E_IO,
                        "it is no plain file; write one, and copy it there");
    else if (!d->file)
        tc__safe_io_failed(f, d->path, "cannot write");
    if (!d->file) return TC_E_IO;
    tc_status s = tc__safe_write(d);
    tc__calm calm = tc__calm_begin();
    errno = 0;
    int placed = tc__draft_close(d->file, d->path, d->temp.at, !s);
    if (!placed && !s) tc__safe_io_failed(f, d->path, "cannot write"), s = TC_E_IO;
    tc__calm_end(calm);
    return s;
}

static int tc__safe_save_check(const tc__api *f, const char *path, const char *const *names,
                               const tc_tensor *tensors, int n, const char *const *metadata,
                               int n_metadata) {
    if (!tc__safe_path(f, path)) return 0;
    if (n < 0 || n_metadata < 0 || n_metadata > INT_MAX / 2)
        return tc__fail(f->c, TC_E_ARG, "%s: %d tensors, %d pairs of metadata", f->who, n,
                        n_metadata);
    if ((n && (!names || !tensors)) || (n_metadata && !metadata))
        return tc__fail(f->c, TC_E_NULL, "%s: %s is NULL", f->who,
                        n && !names     ? "names"
                        : n && !tensors ? "tensors"
                                        : "metadata");
    return 1;
}

// 0 = reported.
static int tc__safe_save(const tc__api *f, const char *path, const char *const *names,
                         const tc_tensor *tensors, int n, const char *const *metadata,
                         int n_metadata) {
    tc_ctx *tc = f->c;
    tc__safe_draft d;
    tc_status s = TC_OK;
    memset(&d, 0, sizeof d);
    d.f = f, d.path = path, d.n = n;
    tc__text_init(&d.head, tc), tc__text_init(&d.temp, tc);
    int ok = tc__safe_save_check(f, path, names, tensors, n, metadata, n_metadata);
    d.item = ok ? TC__NEW_ARRAY(tc, tc__safe_item, n) : NULL;
    ok = d.item && tc__safe_items(&d, names, tensors) &&
         tc__safe_put_header(&d, metadata, n_metadata);
    if (ok) tc__safe_put_temp(&d.temp, path);
    if (ok && !d.temp.failed) s = tc__safe_draft_write(&d);
    ok = ok && !d.temp.failed && !s;
    if (d.item) TC__FREE_ARRAY(tc, d.item, n);
    tc__text_free(&d.head), tc__text_free(&d.temp);
    return ok;
}

TCDEF tc_status tc_safetensors_save_at(tc_ctx *tc, const char *path,
                                       const char *const *names, const tc_tensor *tensors,
                                       int n, const char *const *metadata, int n_metadata,
                                       const char *file, int line) {
    tc__api f;
    if (!tc) return tc__fail_no_context("tc_safetensors_save", file, line);
    if (!tc__api_open(&f, tc, "tc_safetensors_save", file, line)) return tc__not_ours(tc);
    tc_status outer = tc__unit_begin(tc);
    int ok = tc__safe_save(&f, path, names, tensors, n, metadata, n_metadata);
    return tc__unit_end(tc, outer, ok);
}
