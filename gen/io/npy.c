// NumPy's .npy files: a magic string, a version, the text of a Python dict, then the
// elements. https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html A file
// is hostile until proved otherwise: nothing is allocated before the sizes in the header
// agree with the size of the file, and the dict is read by a parser that knows its three
// keys and nothing else.

enum {
    TC__NPY_HEADER = 65536
}; // bytes of the longest header taken; NumPy's own limit is 10000

typedef struct tc__npy {
    int dtype;
    int fortran; // first dimension fastest
    int rank;
    int64_t dims[TC_MAX_RANK];
    char descr[16]; // as written, for messages
} tc__npy;

// ---- the header ----

typedef struct tc__npy_reader {
    const char *at, *end;
    tc_status status;  // of the failure; TC_OK = none
    const char *wrong; // what is wrong; NULL = nothing
} tc__npy_reader;

static int tc__npy_fail(tc__npy_reader *r, tc_status status, const char *wrong) {
    if (!r->wrong) r->wrong = wrong, r->status = status;
    return 0;
}

static void tc__npy_blank(tc__npy_reader *r) {
    while (r->at < r->end &&
           (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r'))
        r->at++;
}

// Takes `c` after blanks, if it is next.
static int tc__npy_take(tc__npy_reader *r, char c) {
    tc__npy_blank(r);
    if (r->at == r->end || *r->at != c) return 0;
    r->at++;
    return 1;
}

static int tc__npy_word(tc__npy_reader *r, const char *word) {
    size_t n = strlen(word);
    tc__npy_blank(r);
    if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n)) return 0;
    r->at += n;
    return 1;
}

// A quoted string without escapes, at most size - 1 characters.
static int tc__npy_string(tc__npy_reader *r, char *out, size_t size) {
    size_t n = 0;
    tc__npy_blank(r);
    if (r->at == r->end || (*r->at != '\'' && *r->at != '"'))
        return tc__npy_fail(r, TC_E_FORMAT, "a quoted string was expected in the header");
    char quote = *r->at++;
    for (; r->at < r->end && *r->at != quote && *r->at >= ' ' && *r->at != '\\'; r->at++)
        if (n + 1 < size) out[n++] = *r->at;
    out[n] = 0;
    if (r->at < r->end && *r->at == quote) return r->at++, 1;
    return tc__npy_fail(r, TC_E_FORMAT, "a string in the header does not end");
}

// A size: digits only.
static int tc__npy_size(tc__npy_reader *r, int64_t *out) {
    int64_t v = 0;
    const char *start;
    tc__npy_blank(r);
    start = r->at;
    for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
        if (v > (INT64_MAX - 9) / 10)
            return tc__npy_fail(r, TC_E_FORMAT, "a size is too large");
        v = v * 10 + (*r->at - '0');
    }
    *out = v;
    return r->at > start ||
           tc__npy_fail(r, TC_E_FORMAT, "a size was expected in the shape");
}

// (), (3,), (3, 4)
static int tc__npy_shape(tc__npy_reader *r, tc__npy *out) {
    if (!tc__npy_take(r, '(')) return tc__npy_fail(r, TC_E_FORMAT, "the shape is no tuple");
    for (out->rank = 0; !tc__npy_take(r, ')');) {
        if (out->rank == TC_MAX_RANK)
            return tc__npy_fail(r, TC_E_UNSUPPORTED,
                                "more than 8 dimensions; reshape in NumPy");
        if (!tc__npy_size(r, &out->dims[out->rank])) return 0;
        out->rank++;
        if (tc__npy_take(r, ',')) continue;
        if (tc__npy_take(r, ')')) return 1;
        return tc__npy_fail(r, TC_E_FORMAT, "a comma or ) was expected in the shape");
    }
    return 1;
}

static int tc__npy_fortran(tc__npy_reader *r, tc__npy *out) {
    out->fortran = tc__npy_word(r, "True");
    return out->fortran || tc__npy_word(r, "False") ||
           tc__npy_fail(r, TC_E_FORMAT, "fortran_order is neither True nor False");
}

// "<f4" and "|b1" by the table of dtypes; for single bytes the order mark does not matter. NumPy has
// no bf16: it is two bytes of no type, as ml_dtypes writes it.
static int tc__npy_descr(tc__npy_reader *r, tc__npy *out) {
    char *s = out->descr;
    tc__npy_blank(r);
    if (r->at < r->end && *r->at == '[')
        return tc__npy_fail(r, TC_E_UNSUPPORTED,
                            "structured elements; save one field at a time");
    if (!tc__npy_string(r, s, sizeof out->descr)) return 0;
    if (*s == '>' && s[1] && s[2] != '1')
        return tc__npy_fail(
            r, TC_E_UNSUPPORTED,
            "big-endian elements; a.astype(a.dtype.newbyteorder('<')) in NumPy");
    for (int t = 0; *s && t < TC_DTYPE_COUNT; t++) {
        const char *known = tc__dtype(t)->numpy;
        if (!*known || strcmp(s + 1, known + 1) || !strchr("<|=>", *s)) continue;
        out->dtype = t;
        return 1;
    }
    return tc__npy_fail(r, TC_E_UNSUPPORTED,
                        "elements of another type; convert to bool, uint8, int8, int16, "
                        "int32, int64, float16, float32 or float64 in NumPy");
}

typedef struct tc__npy_key {
    const char *name;
    int (*read)(tc__npy_reader *r, tc__npy *out);
} tc__npy_key;

static const tc__npy_key tc__npy_keys[] = {
    {"descr", tc__npy_descr},           // element type
    {"fortran_order", tc__npy_fortran}, // which dimension is fastest
    {"shape", tc__npy_shape},           // sizes
};

static int tc__npy_pair(tc__npy_reader *r, tc__npy *out, unsigned *seen) {
    char key[16];
    if (!tc__npy_string(r, key, sizeof key)) return 0;
    if (!tc__npy_take(r, ':'))
        return tc__npy_fail(r, TC_E_FORMAT, "a colon was expected after a key");
    for (unsigned i = 0; i < TC__COUNT(tc__npy_keys); i++) {
        if (strcmp(key, tc__npy_keys[i].name)) continue;
        if (*seen >> i & 1)
            return tc__npy_fail(r, TC_E_FORMAT, "a key stands twice in the header");
        *seen |= 1u << i;
        return tc__npy_keys[i].read(r, out);
    }
    return tc__npy_fail(r, TC_E_FORMAT, "the header has an unknown key");
}

// Reads the dict of `size` bytes; r->wrong says what failed.
static int tc__npy_parse(tc__npy_reader *r, const char *text, size_t size, tc__npy *out) {
    unsigned seen = 0;
    memset(out, 0, sizeof *out);
    r->at = text, r->end = text + size, r->status = TC_OK, r->wrong = NULL;
    if (!tc__npy_take(r, '{')) return tc__npy_fail(r, TC_E_FORMAT, "the header is no dict");
    while (!tc__npy_take(r, '}')) {
        if (!tc__npy_pair(r, out, &seen)) return 0;
        if (tc__npy_take(r, ',')) continue;
        if (!tc__npy_take(r, '}'))
            return tc__npy_fail(r, TC_E_FORMAT, "a comma or } was expected in the header");
        break;
    }
    tc__npy_blank(r);
    if (r->at != r->end)
        return tc__npy_fail(r, TC_E_FORMAT, "something follows the header's dict");
    return seen == 7 ||
           tc__npy_fail(r, TC_E_FORMAT, "descr, fortran_order or shape is missing");
}

// ---- reading ----

typedef struct tc__npy_file {
    const tc__api *f;
    const char *path;
    FILE *file;
    int64_t size;  // of the file
    int64_t start; // of the elements
} tc__npy_file;

static int tc__npy_io_fail(const tc__npy_file *n, const char *what) {
    return tc__fail(n->f->c, TC_E_IO, "%s: %s \"%s\": %s", n->f->who, what, n->path,
                    errno ? strerror(errno) : "unexpected end");
}

static int tc__npy_format_fail(const tc__npy_file *n, tc_status status, const char *what) {
    return tc__fail(n->f->c, status, "%s: \"%s\": %s", n->f->who, n->path, what);
}

static int tc__npy_read(const tc__npy_file *n, void *to, size_t size) {
    errno = 0;
    return fread(to, 1, size, n->file) == size || tc__npy_io_fail(n, "cannot read");
}

// The size of the file, which must be a plain one.
static int tc__npy_measure(tc__npy_file *n) {
    long size = -1;
    errno = 0;
    if (!fseek(n->file, 0, SEEK_END)) size = ftell(n->file);
    if (size < 0 || size == LONG_MAX || fseek(n->file, 0, SEEK_SET))
        return tc__npy_io_fail(n, "cannot measure");
    n->size = size;
    return 1;
}

// Magic, version and length; then the dict into `text`. Its size, or 0 = reported.
static size_t tc__npy_head(tc__npy_file *n, char *text) {
    unsigned char b[12];
    if (n->size < 10 || !tc__npy_read(n, b, 10) || memcmp(b, "\x93NUMPY", 6))
        return (size_t)tc__npy_format_fail(n, TC_E_FORMAT, "not a .npy file");
    int wide = b[6] == 2 || b[6] == 3;
    if ((b[6] != 1 && !wide) || b[7])
        return (size_t)tc__npy_format_fail(n, TC_E_UNSUPPORTED,
                                           "its version is not 1.0, 2.0 or 3.0");
    size_t size = b[8] | (size_t)b[9] << 8;
    if (wide) {
        if (n->size < 12 || !tc__npy_read(n, b + 10, 2))
            return (size_t)tc__npy_format_fail(n, TC_E_FORMAT, "it ends in the header");
        size |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
    }
    n->start = (wide ? 12 : 10) + (int64_t)size;
    if (!size || size > TC__NPY_HEADER || n->start > n->size)
        return (size_t)tc__npy_format_fail(n, TC_E_FORMAT,
                                           "the length of its header is wrong");
    return tc__npy_read(n, text, size) ? size : 0;
}

// Whether the file has all elements; more may follow (NumPy appends arrays). Their bytes in
// *size.
static int tc__npy_fits(const tc__npy_file *n, const tc__npy *h, size_t *size) {
    size_t bytes = tc__dtype(h->dtype)->bytes, left = (size_t)(n->size - n->start);
    int empty = 0;
    for (int i = 0; i < h->rank; i++) empty |= h->dims[i] == 0;
    for (int i = 0; i < h->rank && !empty; i++)
        if (!tc__mul_size(bytes, (size_t)h->dims[i], &bytes)) bytes = SIZE_MAX;
    if (empty) bytes = 0;
    *size = bytes;
    if (bytes <= left) return 1;
    return tc__fail(n->f->c, TC_E_FORMAT,
                    "%s: \"%s\": the shape needs %zu bytes, the file has %zu", n->f->who,
                    n->path, bytes, left);
}

static void tc__npy_strides(const tc__npy *h, int64_t *strides) {
    int64_t s = 1;
    for (int i = 0; i < h->rank; i++) {
        strides[i] = s;
        s *= h->dims[i] > 0 ? h->dims[i] : 1;
    }
}

// What was read of a file: a tensor of the host's memory, or, where that is the default, of a device. Takes over
// `s`.
static tc_tensor tc__loaded(const tc__api *f, uint32_t layout, tc__storage *s) {
    tc_tensor t = tc__tensor_new(f->c, layout, s, 0, f->file, f->line);
    const tc__tensor *m = t.id ? tc__slot_find(f->c, t) : NULL;
    int device = tc__values_of(f->c)->default_device;
    if (!m || !device) return t;
    tc_tensor there = tc__to_device(f, m, device);
    tc__slot_free(f->c, tc__handle_slot(t), "a copy", NULL, 0);
    return there;
}

static tc_tensor tc__npy_elements(const tc__npy_file *n, const tc__npy *h) {
    const tc__api *f = n->f;
    int64_t strides[TC_MAX_RANK];
    size_t bytes;
    if (!tc__npy_fits(n, h, &bytes) || !tc__dims_check(f->c, f->who, h->rank, h->dims))
        return tc__null();
    tc__npy_strides(h, strides);
    uint32_t layout =
        tc__layout_intern(f->c, h->dtype, h->rank, h->dims, h->fortran ? strides : NULL);
    tc__storage *s = layout ? tc__storage_new(f->c, bytes) : NULL;
    if (!s) return tc__null();
    if (!tc__npy_read(n, s->data, bytes)) {
        tc__storage_unref(f->c, s);
        return tc__null();
    }
    if (h->dtype == TC_BOOL) tc__bool_normalise(s->data, (int64_t)bytes);
    return tc__loaded(f, layout, s);
}

static tc_tensor tc__npy_load(tc__npy_file *n, char *text) {
    tc__npy h;
    tc__npy_reader r;
    if (!tc__npy_measure(n)) return tc__null();
    size_t size = tc__npy_head(n, text);
    if (!size) return tc__null();
    if (tc__npy_parse(&r, text, size, &h)) return tc__npy_elements(n, &h);
    tc__npy_format_fail(n, r.status, r.wrong);
    return tc__null();
}

static int tc__little_endian(void) {
    uint16_t one = 1;
    unsigned char low;
    memcpy(&low, &one, 1);
    return low;
}

// Opens the file of a call, to read or to write; 0 = reported.
static int tc__npy_open(tc__npy_file *n, const tc__api *f, const char *path,
                        tc__stream way) {
    n->f = f, n->path = path, n->size = n->start = 0, n->file = NULL;
    if (!path) return tc__fail(f->c, TC_E_NULL, "%s: path is NULL", f->who);
    if (!tc__little_endian())
        return tc__fail(f->c, TC_E_UNSUPPORTED, "%s: this machine is big-endian", f->who);
    errno = 0;
    n->file = tc__file_stream(path, way);
    if (!n->file && errno == EINVAL)
        return tc__fail(f->c, TC_E_IO, "%s: \"%s\" is no plain file; %s", f->who, path,
                        way == TC__STREAM_WRITE ? "write one, and copy it there"
                                                : "copy what it gives into one");
    return n->file || tc__npy_io_fail(n, "cannot open");
}

TCDEF tc_tensor tc_load_npy_at(tc_ctx *tc, const char *path, const char *file, int line) {
    tc__api f;
    tc__npy_file n;
    if (!tc__api_open(&f, tc, "tc_load_npy", file, line)) return tc__null();
    tc__calm calm = tc__calm_begin();
    int ok = tc__npy_open(&n, &f, path, TC__STREAM_READ);
    char *text = ok ? (char *)tc__alloc(tc, TC__NPY_HEADER) : NULL;
    tc_tensor t = text ? tc__npy_load(&n, text) : tc__null();
    tc__free(tc, text, TC__NPY_HEADER);
    if (ok) fclose(n.file);
    tc__calm_end(calm);
    return t;
}

// ---- writing ----

// The header, padded with blanks so that the elements start at a multiple of 64.
static void tc__npy_put_header(tc__text *out, const tc__layout *l) {
    tc__put_raw(out, "\x93NUMPY\1\0\0\0", 10);
    tc__put(out, "{'descr': '%s', 'fortran_order': False, 'shape': (",
            tc__dtype(l->dtype)->numpy);
    for (int i = 0; i < l->rank; i++)
        tc__put(out, "%lld%s", (long long)l->dims[i],
                i + 1 < l->rank ? ", "
                : l->rank == 1  ? ","
                                : "");
    tc__put(out, "), }");
    while (!out->failed && (out->size + 1) % 64) tc__put(out, " ");
    tc__put(out, "\n");
    if (out->failed) return;
    out->at[8] = (char)((out->size - 10) & 255);
    out->at[9] = (char)((out->size - 10) >> 8);
}

// Elements in row-major order, a buffer at a time.
static int tc__npy_put_elements(FILE *file, const tc__layout *l, const char *data) {
    char buffer[4096];
    size_t bytes = tc__dtype(l->dtype)->bytes, used = 0;
    int64_t at[TC_MAX_RANK] = {0}, offset = 0;
    if (l->contiguous)
        return fwrite(data, bytes, (size_t)l->numel, file) == (size_t)l->numel;
    for (int64_t i = 0; i < l->numel; i++) {
        memcpy(buffer + used, data + offset * (int64_t)bytes, bytes);
        used += bytes;
        if (used == sizeof buffer || i + 1 == l->numel) {
            if (fwrite(buffer, 1, used, file) != used) return 0;
            used = 0;
        }
        int k = l->rank - 1;
        for (; k >= 0 && ++at[k] == l->dims[k]; k--)
            offset -= (at[k] - 1) * l->strides[k], at[k] = 0;
        if (k >= 0) offset += l->strides[k];
    }
    return 1;
}

static int tc__npy_save(const tc__npy_file *n, const tc__layout *l, const char *data) {
    tc__text head;
    tc__text_init(&head, n->f->c);
    tc__npy_put_header(&head, l);
    errno = 0;
    int ok = !head.failed;
    if (ok && (fwrite(head.at, 1, head.size, n->file) != head.size ||
               !tc__npy_put_elements(n->file, l, data)))
        ok = tc__npy_io_fail(n, "cannot write");
    tc__text_free(&head);
    return ok;
}

TCDEF tc_status tc_save_npy_at(tc_tensor t, const char *path, const char *file, int line) {
    tc__api f;
    tc__npy_file n;
    const void *data;
    const tc__layout *at;
    int64_t offset;
    if (!tc__api_of(&f, "tc_save_npy", t, file, line)) return tc__api_refused(&f, t);
    if (!*tc__dtype(f.x.dtype)->numpy) {
        tc__fail(f.c, TC_E_DTYPE,
                 "tc_save_npy: .npy files have no %s; tc_safetensors_save, or tc_cast it",
                 tc__dtype(f.x.dtype)->name);
        return TC_E_DTYPE;
    }
    tc_status status = tc__host_view(f.c, f.who, t, NULL, &data, &at, &offset);
    if (status) return status;
    tc__layout l = *at;
    tc__calm calm = tc__calm_begin();
    int opened = tc__npy_open(&n, &f, path, TC__STREAM_WRITE);
    int ok = opened &&
             tc__npy_save(&n, &l,
                          (const char *)data + offset * (int64_t)tc__dtype(l.dtype)->bytes);
    errno = 0;
    if (opened && fclose(n.file) && ok) ok = tc__npy_io_fail(&n, "cannot write");
    tc__calm_end(calm);
    return ok ? TC_OK : path ? TC_E_IO : TC_E_NULL;
}
