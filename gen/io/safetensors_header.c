// The header of a safetensors file: eight bytes of length, JSON, then the elements.
//     {"__metadata__":{"key":"value"},"name":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}
// Input: a text that anyone may have made. Output: tensors in the order in which they lie, metadata; or what is
// wrong, and where. The reader knows this one form of JSON and nothing else, so nothing nests.

// dtypes of the format that we have, in the order in which its writers sort them.
static const struct {
    const char *name;
    int dtype;
} tc__safe_dtypes[] = {{"BOOL", TC_BOOL},      {"U8", TC_U8},          {"I8", TC_I8},
                       {"F8_E5M2", TC_F8E5M2}, {"F8_E4M3", TC_F8E4M3}, {"I16", TC_I16},
                       {"F16", TC_F16},        {"BF16", TC_BF16},      {"I32", TC_I32},
                       {"F32", TC_F32},        {"F64", TC_F64},        {"I64", TC_I64}};

typedef struct tc__safe_tensor {
    const char *name; // in the header's arena
    int dtype;        // -1 = not one of ours
    char dtype_name[16];
    int rank; // may be above TC_MAX_RANK: then it is not one of ours either
    int64_t dims[TC_MAX_RANK];
    uint64_t begin, end; // bytes behind the header
} tc__safe_tensor;

typedef struct tc__safe_pair {
    const char *key, *value; // in the header's arena
} tc__safe_pair;

typedef struct tc__safe_header {
    tc__arena arena;
    TC__VEC(tc__safe_tensor) tensor; // by place
    TC__VEC(const tc__safe_tensor *) by_name;
    TC__VEC(tc__safe_pair) metadata;
    int has_metadata;
} tc__safe_header;

typedef struct tc__safe_reader {
    tc_ctx *c;
    const char *begin, *at, *end; // a NUL stands at the end
    tc__safe_header *to;
    const char *wrong; // static text of the failure; NULL = none, or that of memory
    const char *name;  // of the tensor or key that it is about; NULL = none
} tc__safe_reader;

static int tc__safe_wrong(tc__safe_reader *r, const char *wrong) {
    if (!r->wrong) r->wrong = wrong;
    return 0;
}

// ---- JSON ----

static void tc__safe_blank(tc__safe_reader *r) {
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\n' || *r->at == '\r') r->at++;
}

static int tc__safe_take(tc__safe_reader *r, char c) {
    tc__safe_blank(r);
    if (*r->at != c || r->at == r->end) return 0;
    r->at++;
    return 1;
}

static int tc__safe_expect(tc__safe_reader *r, char c, const char *wrong) {
    return tc__safe_take(r, c) || tc__safe_wrong(r, wrong);
}

// Behind an element: a comma, which says that more comes, or `close`.
static int tc__safe_more(tc__safe_reader *r, char close, int *more) {
    *more = tc__safe_take(r, ',');
    return *more || tc__safe_take(r, close) ||
           tc__safe_wrong(r, "a comma or a closing bracket was expected");
}

// A whole number that is not negative.
static int tc__safe_number(tc__safe_reader *r, int64_t *out) {
    tc__safe_blank(r);
    const char *start = r->at;
    int64_t v = 0;
    for (; *r->at >= '0' && *r->at <= '9'; r->at++) {
        int digit = *r->at - '0';
        if (v > (INT64_MAX - digit) / 10) return tc__safe_wrong(r, "a number is too large");
        v = v * 10 + digit;
    }
    *out = v;
    if (r->at == start)
        return tc__safe_wrong(r, "a number without sign or fraction was expected");
    if (*start == '0' && r->at > start + 1)
        return tc__safe_wrong(r, "a number begins with 0");
    if (*r->at == '.' || *r->at == 'e' || *r->at == 'E')
        return tc__safe_wrong(r, "a number is not whole");
    return 1;
}

// Four hex digits; -1 = they are none.
static int32_t tc__safe_hex(const char *s) {
    int32_t v = 0;
    for (int i = 0; i < 4; i++) {
        int digit = s[i] >= '0' && s[i] <= '9'   ? s[i] - '0'
                    : s[i] >= 'a' && s[i] <= 'f' ? s[i] - 'a' + 10
                    : s[i] >= 'A' && s[i] <= 'F' ? s[i] - 'A' + 10
                                                 : -1;
        if (digit < 0) return -1;
        v = v << 4 | digit;
    }
    return v;
}

static char *tc__put_utf8(char *o, uint32_t v) {
    if (v < 0x80) return *o++ = (char)v, o;
    int more = v < 0x800 ? 1 : v < 0x10000 ? 2 : 3;
    *o++ = (char)((0xff00u >> (more + 1) & 0xff) | v >> 6 * more);
    while (more--) *o++ = (char)(0x80 | (v >> 6 * more & 0x3f));
    return o;
}

// \u and what follows; NULL = wrong.
static char *tc__safe_unicode(tc__safe_reader *r, char *o) {
    int32_t v = tc__safe_hex(r->at), low = -1;
    if (v < 0) return tc__safe_wrong(r, "\\u without four digits"), (char *)NULL;
    r->at += 4;
    if (v >= 0xd800 && v < 0xdc00 && r->at[0] == '\\' && r->at[1] == 'u')
        low = tc__safe_hex(r->at + 2);
    if (low >= 0xdc00 && low < 0xe000) {
        r->at += 6;
        v = 0x10000 + ((v - 0xd800) << 10) + (low - 0xdc00);
    }
    if (!v) return tc__safe_wrong(r, "\\u0000 in a text"), (char *)NULL;
    if (v >= 0xd800 && v < 0xe000)
        return tc__safe_wrong(r, "half of a surrogate pair"), (char *)NULL;
    return tc__put_utf8(o, (uint32_t)v);
}

static char *tc__safe_escape(tc__safe_reader *r, char *o) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *known = *r->at ? strchr(from, *r->at) : NULL;
    if (*r->at == 'u') return r->at++, tc__safe_unicode(r, o);
    if (!known) return tc__safe_wrong(r, "an unknown escape in a text"), (char *)NULL;
    r->at++;
    *o++ = to[known - from];
    return o;
}

// The bytes of a text up to its quote, escapes and all; SIZE_MAX = it has none.
static size_t tc__safe_span(const tc__safe_reader *r) {
    const char *s = r->at;
    while (s < r->end && *s != '"') s += *s == '\\' && s + 1 < r->end ? 2 : 1;
    return s < r->end ? (size_t)(s - r->at) : SIZE_MAX;
}

// A text, decoded, which is never longer than it was written; NULL = wrong, or no memory.
static const char *tc__safe_string(tc__safe_reader *r) {
    if (!tc__safe_expect(r, '"', "a text in quotes was expected")) return NULL;
    size_t most = tc__safe_span(r);
    if (most == SIZE_MAX) return tc__safe_wrong(r, "a text does not end"), (char *)NULL;
    char *text = (char *)tc__arena_alloc(&r->to->arena, most + 1), *o = text;
    while (o && *r->at != '"') {
        int n = tc__utf8_size(r->at);
        if (*r->at == '\\') {
            r->at++;
            o = tc__safe_escape(r, o);
        } else if (!n || (unsigned char)*r->at < 0x20) {
            (void)tc__safe_wrong(r, n ? "a control character in a text" : "no UTF-8");
            return NULL;
        } else {
            memcpy(o, r->at, (size_t)n);
            o += n, r->at += n;
        }
    }
    if (!o) return NULL;
    r->at++, *o = 0;
    return text;
}

// ---- what the header has ----

static int tc__safe_dtype(tc__safe_reader *r, tc__safe_tensor *t) {
    const char *name = tc__safe_string(r);
    if (!name) return 0;
    t->dtype = -1;
    for (size_t i = 0; i < TC__COUNT(tc__safe_dtypes); i++)
        if (!strcmp(name, tc__safe_dtypes[i].name)) t->dtype = tc__safe_dtypes[i].dtype;
    snprintf(t->dtype_name, sizeof t->dtype_name, "%.15s", name);
    return 1;
}

static int tc__safe_shape(tc__safe_reader *r, tc__safe_tensor *t) {
    int64_t size;
    int more = 1;
    t->rank = 0;
    if (!tc__safe_expect(r, '[', "the shape is no list")) return 0;
    if (tc__safe_take(r, ']')) return 1;
    for (; more; t->rank++) {
        if (!tc__safe_number(r, &size)) return 0;
        if (t->rank < TC_MAX_RANK) t->dims[t->rank] = size;
        if (!tc__safe_more(r, ']', &more)) return 0;
    }
    return 1;
}

static int tc__safe_offsets(tc__safe_reader *r, tc__safe_tensor *t) {
    int64_t begin, end;
    if (!tc__safe_expect(r, '[', "data_offsets is no list") ||
        !tc__safe_number(r, &begin) ||
        !tc__safe_expect(r, ',', "data_offsets has not two numbers") ||
        !tc__safe_number(r, &end) ||
        !tc__safe_expect(r, ']', "data_offsets has not two numbers"))
        return 0;
    t->begin = (uint64_t)begin, t->end = (uint64_t)end;
    return end >= begin || tc__safe_wrong(r, "it ends before it begins");
}

static const struct {
    const char *name;
    int (*read)(tc__safe_reader *r, tc__safe_tensor *t);
} tc__safe_keys[] = {{"dtype", tc__safe_dtype},           // element type
                     {"shape", tc__safe_shape},           // sizes
                     {"data_offsets", tc__safe_offsets}}; // first byte, and the one behind

static int tc__safe_key(tc__safe_reader *r, tc__safe_tensor *t, unsigned *seen) {
    const char *key = tc__safe_string(r);
    if (!key || !tc__safe_expect(r, ':', "a colon was expected")) return 0;
    for (unsigned i = 0; i < TC__COUNT(tc__safe_keys); i++) {
        if (strcmp(key, tc__safe_keys[i].name)) continue;
        if (*seen >> i & 1) return tc__safe_wrong(r, "a key stands twice");
        *seen |= 1u << i;
        return tc__safe_keys[i].read(r, t);
    }
    return tc__safe_wrong(r, "a key that is not dtype, shape or data_offsets");
}

static int tc__safe_tensor_read(tc__safe_reader *r, const char *name) {
    tc__safe_tensor t;
    unsigned seen = 0;
    int more = 1;
    memset(&t, 0, sizeof t);
    t.name = r->name = name;
    if (!tc__safe_expect(r, '{', "it is no object")) return 0;
    while (more)
        if (!tc__safe_key(r, &t, &seen) || !tc__safe_more(r, '}', &more)) return 0;
    if (seen != 7) return tc__safe_wrong(r, "dtype, shape or data_offsets is missing");
    r->name = NULL;
    return TC__PUSH(r->c, r->to->tensor, t);
}

static int tc__safe_metadata_read(tc__safe_reader *r) {
    tc__safe_pair p;
    int more = 1;
    r->name = "__metadata__";
    if (r->to->has_metadata) return tc__safe_wrong(r, "it stands twice");
    r->to->has_metadata = 1;
    if (!tc__safe_expect(r, '{', "it is no object of texts")) return 0;
    if (tc__safe_take(r, '}')) more = 0;
    while (more) {
        p.key = tc__safe_string(r);
        if (!p.key || !tc__safe_expect(r, ':', "a colon was expected")) return 0;
        p.value = tc__safe_string(r);
        if (!p.value || !TC__PUSH(r->c, r->to->metadata, p) ||
            !tc__safe_more(r, '}', &more))
            return 0;
    }
    r->name = NULL;
    return 1;
}

static int tc__safe_pairs(tc__safe_reader *r) {
    int more = 1;
    if (*r->at != '{') return tc__safe_wrong(r, "the header does not begin with {");
    r->at++;
    if (tc__safe_take(r, '}')) more = 0;
    while (more) {
        const char *name = tc__safe_string(r);
        if (!name || !tc__safe_expect(r, ':', "a colon was expected")) return 0;
        int ok = strcmp(name, "__metadata__") ? tc__safe_tensor_read(r, name)
                                              : tc__safe_metadata_read(r);
        if (!ok || !tc__safe_more(r, '}', &more)) return 0;
    }
    tc__safe_blank(r);
    return r->at == r->end || tc__safe_wrong(r, "something follows the header's object");
}

// ---- whether it fits together ----

static int tc__safe_by_place(const void *a, const void *b) {
    const tc__safe_tensor *x = (const tc__safe_tensor *)a, *y = (const tc__safe_tensor *)b;
    if (x->begin != y->begin) return x->begin < y->begin ? -1 : 1;
    if (x->end != y->end) return x->end < y->end ? -1 : 1;
    return strcmp(x->name, y->name);
}

static int tc__safe_by_name(const void *a, const void *b) {
    const tc__safe_tensor *x = *(const tc__safe_tensor *const *)a;
    const tc__safe_tensor *y = *(const tc__safe_tensor *const *)b;
    return strcmp(x->name, y->name);
}

// The bytes of its elements; SIZE_MAX = more than there can be.
static uint64_t tc__safe_bytes(const tc__safe_tensor *t) {
    size_t n = tc__dtype(t->dtype)->bytes;
    int empty = 0;
    for (int i = 0; i < t->rank; i++) empty |= !t->dims[i];
    for (int i = 0; i < t->rank && !empty; i++)
        if ((uint64_t)t->dims[i] > SIZE_MAX || !tc__mul_size(n, (size_t)t->dims[i], &n))
            return UINT64_MAX;
    return empty ? 0 : n;
}

// `size` bytes of elements follow the header.
static int tc__safe_places(tc__safe_reader *r, uint64_t size) {
    tc__safe_header *h = r->to;
    uint64_t at = 0;
    if (h->tensor.count)
        qsort(h->tensor.at, h->tensor.count, sizeof *h->tensor.at, tc__safe_by_place);
    for (size_t i = 0; i < h->tensor.count; i++) {
        const tc__safe_tensor *t = &h->tensor.at[i];
        r->name = t->name;
        if (t->begin > at) return tc__safe_wrong(r, "there is a gap before its bytes");
        if (t->begin < at) return tc__safe_wrong(r, "its bytes overlap others");
        if (t->end > size) return tc__safe_wrong(r, "its bytes are not all in the file");
        if (t->dtype >= 0 && t->rank <= TC_MAX_RANK &&
            tc__safe_bytes(t) != t->end - t->begin)
            return tc__safe_wrong(r, "its shape and dtype need another number of bytes");
        at = t->end;
    }
    r->name = NULL;
    return at == size || tc__safe_wrong(r, "bytes follow the last tensor");
}

static int tc__safe_names(tc__safe_reader *r) {
    tc__safe_header *h = r->to;
    for (size_t i = 0; i < h->tensor.count; i++)
        if (!TC__PUSH(r->c, h->by_name, &h->tensor.at[i])) return 0;
    if (h->by_name.count)
        qsort((void *)h->by_name.at, h->by_name.count, sizeof *h->by_name.at,
              tc__safe_by_name);
    for (size_t i = 1; i < h->by_name.count; i++) {
        r->name = h->by_name.at[i]->name;
        if (!strcmp(r->name, h->by_name.at[i - 1]->name))
            return tc__safe_wrong(r, "two tensors have this name");
    }
    r->name = NULL;
    return 1;
}

static int tc__safe_metadata_keys(tc__safe_reader *r) {
    const tc__safe_header *h = r->to;
    tc__map seen;
    int ok = 1;
    tc__map_init(&seen, r->c);
    for (size_t i = 0; i < h->metadata.count && ok; i++) {
        const char *key = h->metadata.at[i].key;
        uint64_t at, hash = tc__hash64(key, strlen(key), 0);
        for (; ok && tc__map_get(&seen, hash, &at); hash = tc__hash_mix(hash, 1))
            if (!strcmp(h->metadata.at[at].key, key))
                r->name = key, ok = tc__safe_wrong(r, "two values have this key");
        ok = ok && tc__map_set(&seen, hash, i);
    }
    tc__map_free(&seen);
    return ok;
}

static void tc__safe_header_free(tc_ctx *c, tc__safe_header *h) {
    TC__VEC_FREE(c, h->tensor);
    TC__VEC_FREE(c, h->by_name);
    TC__VEC_FREE(c, h->metadata);
    tc__arena_free(&h->arena);
}

// Reads the header's text of n bytes, with a NUL behind them, of a file with `size` bytes of elements. 0 = r->wrong
// says what, else there is no memory.
static int tc__safe_parse(tc__safe_reader *r, tc_ctx *c, const char *text, size_t n,
                          uint64_t size, tc__safe_header *to) {
    memset(r, 0, sizeof *r);
    memset(to, 0, sizeof *to);
    tc__arena_init(&to->arena, c);
    r->c = c, r->begin = r->at = text, r->end = text + n, r->to = to;
    return tc__safe_pairs(r) && tc__safe_places(r, size) && tc__safe_names(r) &&
           tc__safe_metadata_keys(r);
}

// The tensor of this name; NULL = there is none.
static const tc__safe_tensor *tc__safe_find(const tc__safe_header *h, const char *name) {
    size_t low = 0, high = h->by_name.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(h->by_name.at[middle]->name, name);
        if (!order) return h->by_name.at[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
