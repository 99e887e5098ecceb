// Externals that share memory, one of which a region writes in place: the others see the write.
//
// One idea: before the end of each segment a SHARE step says which externals lie how in one memory, and
// binds a hidden external that shows all of it as a row of elements. In the program's graph those
// externals are views of that one (graph/cells.c), as views made inside the region are of what they
// show. The step's words are exact, so a path holds for tensors that lie in the same way only. There is
// no such step where nothing is written, or what is written shares no element with another.

// SHARE: the words for each of its externals, behind the layout of the hidden one.
enum { TC__SHARE_LAYOUT, TC__SHARE_HEAD, TC__SHARE_EACH = 3 };

typedef struct tc__shared {
    uint32_t external, layout;
    int64_t at; // where its first element is in the hidden external
} tc__shared;

static uint32_t tc__shared_count(const tc__step *s) {
    return (s->n_attr - (uint32_t)TC__SHARE_HEAD) / TC__SHARE_EACH;
}

static tc__shared tc__shared_at(const tc__step *s, uint32_t i) {
    const int64_t *word = s->attr + TC__SHARE_HEAD + TC__SHARE_EACH * i;
    tc__shared m;
    m.external = (uint32_t)word[0], m.layout = (uint32_t)word[1], m.at = word[2];
    return m;
}

// The external of a SHARE step, which no handle names.
static int tc__is_hidden(const tc__external *e) { return !e->handle.id; }

// The hidden external of SHARE words; not counted.
static tc__external tc__share_external(const tc__visit *v, const int64_t *word) {
    tc__external e = v->external.at[word[TC__SHARE_HEAD]];
    e.handle = tc__null(), e.constant = 0;
    e.shape = NULL, e.layout = (uint32_t)word[TC__SHARE_LAYOUT];
    e.offset -= word[TC__SHARE_HEAD + 2];
    return e;
}

static int tc__share_bind(tc_ctx *c, tc__visit *v, const int64_t *word) {
    tc__external e = tc__share_external(v, word);
    if (!TC__PUSH(c, v->external, e)) return 0;
    e.storage->refs++;
    return 1;
}

// ---- which externals do ----

// An external and the elements of its storage that it reaches.
typedef struct tc__sharer {
    uint32_t external, alias;
    int64_t low, high;
    int written, shares;
} tc__sharer;

// By storage, then by the first element.
static int tc__sharer_order(const void *x, const void *y) {
    const tc__sharer *a = (const tc__sharer *)x, *b = (const tc__sharer *)y;
    if (a->alias != b->alias) return a->alias < b->alias ? -1 : 1;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return a->external < b->external ? -1 : a->external > b->external;
}

// Whether some externals may share memory at all: few visits go on from here.
static int tc__may_share(tc_ctx *c, const tc__visit *v) {
    for (uint32_t i = 0; i < v->external.count; i++) {
        const tc__external *e = &v->external.at[i];
        if (tc__is_hidden(e)) continue;
        if (e->alias != i || tc__layout_repeats(tc__layout_at(c, e->layout))) return 1;
    }
    return 0;
}

// All externals with elements, in order, and which of them are written in place; their number.
static uint32_t tc__sharers(tc_ctx *c, const tc__visit *v, tc__sharer *s,
                            uint8_t *written) {
    uint32_t n = 0;
    for (size_t i = 0; i < v->path.count; i++) {
        if (v->path.at[i]->op != TC_OP_COPY_) continue;
        uint32_t code = tc__memory_of(v, v->path.at[i]->in[0]);
        if (code & TC__EXTERNAL) written[code & ~TC__EXTERNAL] = 1;
    }
    for (uint32_t i = 0; i < v->external.count; i++) {
        const tc__external *e = &v->external.at[i];
        const tc__layout *l = tc__layout_at(c, e->layout);
        if (tc__is_hidden(e) || !l->numel) continue;
        s[n].external = i, s[n].alias = e->alias, s[n].written = written[i];
        s[n].low = e->offset + l->low, s[n].high = e->offset + l->high;
        s[n].shares = written[i] && tc__layout_repeats(l);
        n++;
    }
    qsort(s, n, sizeof *s, tc__sharer_order);
    return n;
}

static int tc__sharers_meet(tc_ctx *c, const tc__visit *v, const tc__sharer *a,
                            const tc__sharer *b) {
    const tc__external *x = &v->external.at[a->external], *y = &v->external.at[b->external];
    return tc__layouts_meet(tc__layout_at(c, x->layout), x->offset,
                            tc__layout_at(c, y->layout), y->offset);
}

// The end of the run of s[from...] that is on one storage. Those of it that share elements with a written
// one, which does too, are marked.
static uint32_t tc__sharers_mark(tc_ctx *c, const tc__visit *v, tc__sharer *s, uint32_t n,
                                 uint32_t from) {
    uint32_t end = from + 1;
    while (end < n && s[end].alias == s[from].alias) end++;
    for (uint32_t i = from; i < end; i++)
        for (uint32_t k = i + 1; k < end && s[k].low <= s[i].high; k++)
            if ((s[i].written || s[k].written) && !(s[i].shares && s[k].shares) &&
                tc__sharers_meet(c, v, &s[i], &s[k]))
                s[i].shares = s[k].shares = 1;
    return end;
}

static int tc__fail_share(tc_ctx *c, const tc__visit *v, uint32_t external) {
    return tc__fail(c, TC_E_ALIAS,
                    "region \"%s\": external %u shares memory with one that is written in "
                    "place, and several of its elements are one in memory; tc_clone it",
                    v->region ? v->region->name : "eager", (unsigned)external);
}

// Words of the SHARE step for the marked ones of s[from, end), all on one storage; their number, 0 = there
// are none. UINT32_MAX = reported.
static uint32_t tc__share_words(tc_ctx *c, const tc__visit *v, const tc__sharer *s,
                                uint32_t from, uint32_t end, int64_t *word) {
    int64_t low = INT64_MAX, high = INT64_MIN, size;
    uint32_t n = TC__SHARE_HEAD;
    for (uint32_t i = from; i < end; i++) {
        if (!s[i].shares) continue;
        if (s[i].low < low) low = s[i].low;
        if (s[i].high > high) high = s[i].high;
    }
    if (low > high) return 0;
    for (uint32_t i = from; i < end; i++) {
        const tc__external *e = &v->external.at[s[i].external];
        if (!s[i].shares) continue;
        if (!tc__layout_nests(tc__layout_at(c, e->layout)))
            return tc__fail_share(c, v, s[i].external), UINT32_MAX;
        word[n++] = s[i].external, word[n++] = e->layout, word[n++] = e->offset - low;
    }
    const tc__layout *l = tc__layout_at(c, v->external.at[s[from].external].layout);
    size = high - low + 1;
    word[TC__SHARE_LAYOUT] = tc__layout_on(c, l->device, l->dtype, 1, &size, NULL);
    return word[TC__SHARE_LAYOUT] ? n : UINT32_MAX;
}

// Whether a SHARE step of the path has these words.
static int tc__share_is_known(const tc__visit *v, const int64_t *word, uint32_t n) {
    for (size_t i = v->path.count; i-- > 0;) {
        const tc__step *s = v->path.at[i];
        if (s->op == TC_OP_SHARE && s->n_attr == n &&
            !memcmp(s->attr, word, n * sizeof *word))
            return 1;
    }
    return 0;
}
