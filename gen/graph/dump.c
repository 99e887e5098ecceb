// Text of every IR, in the notation of gen/README.md, and dot.
// Input: a visit (trace) or a graph of any stage. Output: one line per step or node, the
// same text every time: ids are positions. A TENSOR dump reads back (graph/read.c).
//
// One idea: the ATTR column of ops.def names the words of a node, so one walk prints most
// ops; a row of tc__dump_rows is needed only where the notation differs from `name=value`.

enum { TC__DUMP_TYPE_COLUMN = 34 };

// ---- types, values, names ----

// "[6272,768]"
static void tc__dump_dims(tc__text *t, const tc__ixpool *p, int rank, const tc__ix *dims) {
    tc__put(t, "[");
    for (int i = 0; i < rank; i++) {
        if (i) tc__put(t, ",");
        tc__dump_ix(t, p, dims[i]);
    }
    tc__put(t, "]");
}

// Fewest digits that read back as this float.
static void tc__dump_float(tc__text *t, double v) {
    char text[40];
    for (int precision = 0; precision < 9 && v - v == 0; precision++) {
        snprintf(text, sizeof text, "%.*e", precision, v);
        double d = strtod(text, NULL);
        if ((double)(float)d != v) continue;
        tc__put_double(t, d);
        return;
    }
    tc__put_double(t, v);
}

// The bits of a tc__value, an attribute word of kind v.
static void tc__dump_value(tc__text *t, int dtype, int64_t bits) {
    tc__value v;
    memcpy(&v, &bits, sizeof v);
    if (dtype == TC_F32)
        tc__dump_float(t, v.f);
    else if (tc__is_float(dtype))
        tc__put_double(t, v.f);
    else
        tc__put(t, "%lld", (long long)v.i);
}

// "sum", "max", ...: the monoid of an accumulator.
static const char *tc__dump_monoid(int64_t op) {
    static const struct {
        tc__op op;
        const char *name;
    } names[] = {{TC_OP_ADD, "sum"},        {TC_OP_MUL, "prod"},
                 {TC_OP_MAXIMUM, "max"},    {TC_OP_MINIMUM, "min"},
                 {TC_OP_LOGICAL_OR, "any"}, {TC_OP_LOGICAL_AND, "all"}};
    for (size_t i = 0; i < TC__COUNT(names); i++)
        if ((int64_t)names[i].op == op) return names[i].name;
    return op >= 0 && op < TC_OP_COUNT ? tc__op_name((tc__op)op) : "?";
}

// ---- attribute words ----

// One name of an ATTR column: "t dim, s start" is walked by tc__attr_next.
typedef struct tc__attr_name {
    char kind; // v, s or t
    char name[24];
    int is_list; // "s sizes[]": all words from there on
    const char *rest;
} tc__attr_name;

// 0 = no more names.
static int tc__attr_next(tc__attr_name *a) {
    const char *s = a->rest;
    size_t n = 0;
    while (*s == ' ' || *s == ',') s++;
    if (!*s) return 0;
    a->kind = *s++;
    while (*s == ' ') s++;
    for (; *s && *s != ',' && *s != '['; s++)
        if (n < sizeof a->name - 1) a->name[n++] = *s;
    a->name[n] = 0, a->is_list = *s == '[';
    a->rest = a->is_list ? s + 2 : s;
    return 1;
}

static int tc__attr_is(const tc__attr_name *a, const char *name) {
    return !strcmp(a->name, name);
}

// Words that the type at the end of the line tells already.
static int tc__attr_implied(const tc__attr_name *a) {
    return tc__attr_is(a, "sizes") || tc__attr_is(a, "dtype");
}

// Of a name, the words it stands for: all the rest for a list, else one.
static uint32_t tc__attr_words(const tc__attr_name *a, uint32_t left) {
    return a->is_list ? left : left ? 1 : 0;
}

static void tc__dump_word(tc__text *t, const tc__ixpool *p, char kind, int dtype,
                          int64_t word) {
    if (kind == 's')
        tc__dump_ix(t, p, word);
    else if (kind == 'v')
        tc__dump_value(t, dtype, word);
    else
        tc__put(t, "%lld", (long long)word);
}

static void tc__dump_attrs(tc__text *t, const tc__ixpool *p, int op, int dtype,
                           const int64_t *attr, uint32_t n_attr) {
    tc__attr_name a;
    uint32_t at = 0;
    a.rest = tc__ops[op].attr;
    while (tc__attr_next(&a)) {
        uint32_t n = tc__attr_words(&a, n_attr - at);
        if (tc__attr_is(&a, "op")) { // of the user's: its name tells more than its number
            tc__put(t, " op=%s", tc__custom_name(t->ctx, n ? attr[at] : -1));
            at += n;
            continue;
        }
        if (tc__attr_is(&a, "device")) {
            tc__put(t, " %s", tc__device_name(t->ctx, n ? (int)attr[at] : 0));
            at += n;
            continue;
        }
        if (tc__attr_is(&a, "external"))
            tc__put(t, " x");
        else if (tc__attr_is(&a, "bits"))
            tc__put(t, " ");
        else if (n && !tc__attr_implied(&a))
            tc__put(t, " %s=", a.name);
        for (uint32_t i = 0; i < n && !tc__attr_implied(&a); i++) {
            if (i) tc__put(t, ",");
            tc__dump_word(t, p, a.kind, dtype, attr[at + i]);
        }
        at += n;
    }
}

// ---- trace ----

static void tc__dump_pad(tc__text *t, size_t line, size_t column) {
    size_t used = t->size - line;
    tc__put(t, "%*s", (int)(used + 2 < column ? column - used : 2), "");
}

static void tc__dump_code(tc__text *t, uint32_t code) {
    tc__put(t, code & TC__EXTERNAL ? " x%u" : " %%%u", (unsigned)(code & ~TC__EXTERNAL));
}

static void tc__dump_step_scalar(tc__text *t, const tc__step *s) {
    double v;
    memcpy(&v, &s->attr[TC__SCALAR_VALUE], sizeof v);
    if (s->args & 1) {
        tc__put(t, " arg%lld", (long long)s->attr[TC__SCALAR_VALUE]);
        return;
    }
    tc__put(t, " ");
    tc__put_double(t, v);
}

// "eps=0.00001": the words of a composite op; of `args` the numbers of run-time values.
static void tc__dump_whole_words(tc__text *t, const tc__ixpool *p, tc__op op,
                                 const int64_t *attr, uint32_t args) {
    tc__attr_name a;
    a.rest = tc__ops[op].attr;
    (void)tc__attr_next(&a); // which operands there are
    for (uint32_t i = 1; tc__attr_next(&a); i++) {
        tc__put(t, " %s=", a.name);
        if (args >> i & 1)
            tc__put(t, "arg%lld", (long long)attr[i]);
        else
            tc__dump_word(t, p, a.kind, TC_F64, attr[i]);
    }
}

// " x0 - %1 -> %8 eps=0.00001": operands that are not there are told, too.
static void tc__dump_step_whole(tc__text *t, const tc__ixpool *p, const tc__step *s) {
    const tc__whole_info *w = tc__whole_of((tc__op)s->op);
    uint32_t at = 0;
    for (uint32_t i = 0; i < w->n_in; i++)
        if (s->attr[TC__WHOLE_GIVEN] >> i & 1)
            tc__dump_code(t, s->in[at++]);
        else
            tc__put(t, " -");
    tc__put(t, " ->");
    tc__dump_code(t, s->in[at]);
    tc__dump_whole_words(t, p, (tc__op)s->op, s->attr, s->args);
}

static void tc__dump_step(tc__text *t, const tc__ixpool *p, const tc__step *s) {
    tc__kind kind = tc__ops[s->op].kind;
    int alu = kind == TC__KIND_UNARY || kind == TC__KIND_BINARY || kind == TC__KIND_TERNARY;
    int scalar = alu && s->n_attr == 2,
        left = scalar && s->attr[TC__SCALAR_SIDE] == TC__SCALAR_LEFT;
    tc__put(t, "%s", s->op == TC_OP_FINISH ? "end" : tc__op_name((tc__op)s->op));
    if (tc__is_composite((tc__op)s->op)) {
        tc__dump_step_whole(t, p, s);
        return;
    }
    if (left) tc__dump_step_scalar(t, s);
    for (uint32_t i = 0; i < s->n_in; i++) tc__dump_code(t, s->in[i]);
    if (scalar && !left) tc__dump_step_scalar(t, s);
    if (!alu && s->args)
        tc__put(t, " arg%lld", (long long)s->attr[TC__ARG_SLOT]);
    else if (!alu)
        tc__dump_attrs(t, p, s->op, s->meta.dtype, s->attr, s->n_attr);
}

static void tc__dump_binding(tc__text *t, const tc__ixpool *p, const tc__step *s,
                             uint32_t i) {
    const tc__binding *b = &s->bind[i];
    uint32_t number = s->first_external + i;
    tc__shape l;
    if (b->shape)
        l = *b->shape;
    else
        tc__shape_of_layout(tc__layout_at(t->ctx, b->layout), &l);
    tc__put(t, "%sx%u: %s", i ? ", " : "  ", (unsigned)number, tc__dtype(l.dtype)->name);
    tc__dump_dims(t, p, l.rank, l.dims);
    tc__put(t, l.contiguous ? " contiguous" : " strided");
    if (b->alias != number) tc__put(t, " shares x%u", (unsigned)b->alias);
}

// The path of a visit, one step per line: what it does, its result, the externals it binds.
TC__UNUSED static void tc__dump_trace(tc__text *t, const tc__visit *v) {
    const tc__ixpool *p = &tc__recorder_of(t->ctx)->ix;
    if (v->region) tc__put(t, "region \"%s\"\n", v->region->name);
    for (size_t i = 0; i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        size_t line = t->size;
        tc__put(t, "%-3u ", (unsigned)i);
        tc__dump_step(t, p, s);
        if (tc__has_result((tc__op)s->op)) {
            tc__dump_pad(t, line, TC__DUMP_TYPE_COLUMN);
            tc__put(t, "%s", tc__dtype(s->meta.dtype)->name);
            tc__dump_dims(t, p, s->meta.rank, s->meta.dims);
        }
        for (uint32_t k = 0; k < s->n_bind; k++) tc__dump_binding(t, p, s, k);
        tc__put(t, "\n");
    }
}

// ---- GROUP and LOOP nodes whose notation is their own ----

typedef struct tc__dump {
    tc__text *t;
    const tc__graph *g;
    int indent;
    // What buffers of a list are called; NULL = by their number.
    void (*buffer)(tc__text *t, const void *user, int64_t b);
    const void *user;
} tc__dump;

static void tc__dump_buffer(tc__dump *d, int64_t b) {
    if (d->buffer)
        d->buffer(d->t, d->user, b);
    else
        tc__put(d->t, "b%lld", (long long)b);
}

// b2[768*r + c]
static void tc__dump_element(tc__dump *d, int64_t b, tc__ix e) {
    tc__dump_buffer(d, b);
    tc__put(d->t, "[");
    tc__dump_ix(d->t, d->g->ix, e);
    tc__put(d->t, "]");
}

static void tc__dump_predicates(tc__dump *d, const tc__node *n, uint32_t first) {
    for (uint32_t i = first; i + 1 < n->n_attr; i += 2) {
        tc__put(d->t, i > first ? ", 0 <= " : "0 <= ");
        tc__dump_ix(d->t, d->g->ix, n->attr[i]);
        tc__put(d->t, " < ");
        tc__dump_ix(d->t, d->g->ix, n->attr[i + 1]);
    }
}

static void tc__dump_access(tc__dump *d, const tc__node *n) {
    tc__dump_element(d, n->attr[TC__ACCESS_BUFFER], n->attr[TC__ACCESS_INDEX]);
}

static void tc__dump_load(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "%%%u = load ", (unsigned)n->id);
    tc__dump_access(d, n);
    if (n->n_attr <= TC__LOAD_PREDICATES) return;
    tc__put(d->t, " if ");
    tc__dump_predicates(d, n, TC__LOAD_PREDICATES);
    tc__put(d->t, " else ");
    tc__dump_value(d->t, n->dtype, n->attr[TC__LOAD_FILL]);
}

static void tc__dump_store(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "store ");
    tc__dump_access(d, n);
    tc__put(d->t, " %%%u%s", (unsigned)n->in[0],
            n->n_attr > TC__STORE_KIND && n->attr[TC__STORE_KIND] == TC__STORE_STREAMS
                ? " streamed"
                : "");
}

static void tc__dump_valid(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "%%%u = valid ", (unsigned)n->id);
    tc__dump_predicates(d, n, TC__VALID_PREDICATES);
}

static void tc__dump_index(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "%%%u = index ", (unsigned)n->id);
    tc__dump_ix(d->t, d->g->ix, n->attr[TC__INDEX_EXPR]);
}

static void tc__dump_acc(tc__dump *d, const tc__node *n) {
    const char *monoid = tc__dump_monoid(n->attr[TC__ACC_MONOID]);
    if (n->n_attr <= TC__ACC_ACCUMULATOR) {
        tc__put(d->t, "%%%u = acc %s %%%u", (unsigned)n->id, monoid, (unsigned)n->in[0]);
        return;
    }
    tc__put(d->t, "acc%lld %s= %%%u", (long long)n->attr[TC__ACC_ACCUMULATOR], monoid,
            (unsigned)n->in[0]);
}

static void tc__dump_new(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "acc%lld = new %s", (long long)n->attr[TC__NEW_ACCUMULATOR],
            tc__dump_monoid(n->attr[TC__NEW_MONOID]));
    if (n->n_attr > TC__NEW_WIDTH)
        tc__put(d->t, " width=%lld", (long long)n->attr[TC__NEW_WIDTH]);
}

static void tc__dump_combine(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "%%%u = combine acc%lld", (unsigned)n->id,
            (long long)n->attr[TC__COMBINE_ACCUMULATOR]);
    if (n->n_attr > TC__COMBINE_THREADS)
        tc__put(d->t, " threads=%lld", (long long)n->attr[TC__COMBINE_THREADS]);
    if (n->n_attr > TC__COMBINE_THREADS + 1)
        tc__put(d->t, " blocks=%lld", (long long)n->attr[TC__COMBINE_THREADS + 1]);
}

//  inside [c - 1 < 1022, r - 1 < 1022]: each box of a loop
static void tc__dump_boxes(tc__dump *d, const tc__node *n) {
    for (uint32_t at = TC__FOR_BOXES; at < n->n_attr;) {
        int64_t pairs = tc__ix_value(n->attr[at++]);
        tc__put(d->t, " inside [");
        for (int64_t i = 0; i < pairs; i++, at += 2) {
            if (i) tc__put(d->t, ", ");
            tc__dump_ix(d->t, d->g->ix, n->attr[at]);
            tc__put(d->t, " < ");
            tc__dump_ix(d->t, d->g->ix, n->attr[at + 1]);
        }
        tc__put(d->t, "]");
    }
}

static void tc__dump_for(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "for ");
    tc__dump_var(d->t, n->attr[TC__FOR_AXIS]);
    tc__put(d->t, " in ");
    tc__dump_ix(d->t, d->g->ix, n->attr[TC__FOR_BEGIN]);
    tc__put(d->t, "..");
    tc__dump_ix(d->t, d->g->ix, n->attr[TC__FOR_END]);
    tc__put(d->t, "  bind=%s",
            (uint64_t)n->attr[TC__FOR_BIND] < TC__COUNT(tc__bind_names)
                ? tc__bind_names[n->attr[TC__FOR_BIND]]
                : "?");
    if (n->attr[TC__FOR_UNROLL] > 1)
        tc__put(d->t, "*%lld", (long long)n->attr[TC__FOR_UNROLL]);
    if (n->attr[TC__FOR_UNROLL] == 0) tc__put(d->t, " rolled");
    if (n->attr[TC__FOR_CHUNK])
        tc__put(d->t, " chunk=%lld", (long long)n->attr[TC__FOR_CHUNK]);
    tc__dump_boxes(d, n);
}

// launch threads=256
static void tc__dump_launch(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "launch threads=%lld index=%s", (long long)n->attr[TC__LAUNCH_THREADS],
            n->attr[TC__LAUNCH_NARROW] ? "i32" : "i64");
    if (n->attr[TC__LAUNCH_RESIDENT])
        tc__put(d->t, " resident=%lld", (long long)n->attr[TC__LAUNCH_RESIDENT]);
    if (n->n_attr > TC__LAUNCH_CLUSTER)
        tc__put(d->t, " cluster=%lld", (long long)n->attr[TC__LAUNCH_CLUSTER]);
}

// template tiles b5 block=j 4096 x 4096 x 1024 way=1 rows=128 ...
static void tc__dump_template(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "template %s ", tc__template_names[n->attr[TC__TEMPLATE_NAME]]);
    tc__dump_buffer(d, n->attr[TC__TEMPLATE_SHARED]);
    for (int i = TC__TEMPLATE_TICKETS; i <= (int)TC__TEMPLATE_SUMS && n->attr[i] >= 0;
         i++) {
        tc__put(d->t, i == TC__TEMPLATE_TICKETS ? " tickets=" : " sums=");
        tc__dump_buffer(d, n->attr[i]);
    }
    tc__put(d->t, " block=");
    tc__dump_ix(d->t, d->g->ix, n->attr[TC__TEMPLATE_BLOCK]);
    for (int i = TC__TEMPLATE_ROWS; i <= (int)TC__TEMPLATE_DEPTH; i++) {
        tc__put(d->t, i == TC__TEMPLATE_ROWS ? " of " : " x ");
        tc__dump_ix(d->t, d->g->ix, n->attr[i]);
    }
    for (uint32_t i = TC__TEMPLATE_NUMBERS; i < n->n_attr; i++)
        tc__put(d->t, " %s=%lld",
                tc__template_number(n->attr[TC__TEMPLATE_NAME], i - TC__TEMPLATE_NUMBERS),
                (long long)n->attr[i]);
}

// hole left r q async b6 of 8 strides 1024 1
static void tc__dump_hole(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "hole %s", tc__hole_names[n->attr[TC__HOLE_HOLE]]);
    for (int i = TC__HOLE_ROW; i <= (int)TC__HOLE_DEEP; i++) {
        tc__put(d->t, " ");
        if (n->attr[i] >= 0) tc__dump_var(d->t, n->attr[i]);
        if (n->attr[i] < 0) tc__put(d->t, "-");
    }
    tc__put(d->t, " %s", tc__bring_names[n->attr[TC__HOLE_BRING]]);
    if (n->attr[TC__HOLE_BUFFER] >= 0) {
        tc__put(d->t, " ");
        tc__dump_buffer(d, n->attr[TC__HOLE_BUFFER]);
        tc__put(d->t, " of %lld", (long long)n->attr[TC__HOLE_WIDTH]);
    }
    if (n->attr[TC__HOLE_MADE] >= 0) {
        tc__put(d->t, " into ");
        tc__dump_buffer(d, n->attr[TC__HOLE_MADE]);
    }
    if (n->attr[TC__HOLE_DEEP_STRIDE])
        tc__put(d->t, " strides %lld %lld", (long long)n->attr[TC__HOLE_LINE_STRIDE],
                (long long)n->attr[TC__HOLE_DEEP_STRIDE]);
}

// axis c = 32*i + x in 0..768
static void tc__dump_axis(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "axis ");
    tc__dump_var(d->t, n->attr[TC__AXIS_AXIS]);
    tc__put(d->t, " = ");
    tc__dump_ix(d->t, d->g->ix, n->attr[TC__AXIS_VALUE]);
    tc__put(d->t, " in 0..");
    tc__dump_ix(d->t, d->g->ix, n->attr[TC__AXIS_EXTENT]);
}

static void tc__dump_if(tc__dump *d, const tc__node *n) {
    tc__put(d->t, n->n_attr ? "if " : "do");
    tc__dump_predicates(d, n, TC__IF_PREDICATES);
}

static void tc__dump_else(tc__dump *d, const tc__node *n) {
    (void)n;
    tc__put(d->t, "else");
}

static void tc__dump_barrier(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "barrier %s", n->n_attr ? "warp" : "block");
}

// leave unless r < 1000
static void tc__dump_leave(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "leave unless ");
    tc__dump_predicates(d, n, TC__LEAVE_PREDICATES);
}

// copy 8 b2[c] <- b0[768*r + c]
static void tc__dump_copy(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "copy %lld ", (long long)n->attr[TC__COPY_ELEMENTS]);
    tc__dump_element(d, n->attr[TC__COPY_BUFFER], n->attr[TC__COPY_INDEX]);
    tc__put(d->t, " <- ");
    tc__dump_element(d, n->attr[TC__COPY_FROM], n->attr[TC__COPY_SOURCE]);
    if (n->n_attr == TC__COPY_PREDICATES) return;
    tc__put(d->t, " if ");
    tc__dump_predicates(d, n, TC__COPY_PREDICATES);
    tc__put(d->t, " else 0");
}

// put b3[8*r + part] <- acc0, get acc0 <- b3[8*r + i]; of places, those are in another buffer
static void tc__dump_put(tc__dump *d, const tc__node *n) {
    int put = n->op == TC_OP_PUT;
    if (put) tc__put(d->t, "put ");
    if (!put) tc__put(d->t, "get acc%lld <- ", (long long)n->attr[TC__PUT_ACCUMULATOR]);
    if (n->n_attr > TC__PUT_PLACES) {
        tc__dump_buffer(d, n->attr[TC__PUT_PLACES]);
        tc__put(d->t, ", ");
    }
    tc__dump_element(d, n->attr[TC__PUT_BUFFER], n->attr[TC__PUT_INDEX]);
    if (put) tc__put(d->t, " <- acc%lld", (long long)n->attr[TC__PUT_ACCUMULATOR]);
}

// last of 8 at b2[r]
static void tc__dump_last(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "last of %lld at ", (long long)n->attr[TC__LAST_COUNT]);
    tc__dump_element(d, n->attr[TC__LAST_BUFFER], n->attr[TC__LAST_INDEX]);
}

// forget b4
static void tc__dump_forget(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "forget ");
    tc__dump_buffer(d, n->attr[TC__FORGET_BUFFER]);
}

// begun at b2
static void tc__dump_begun(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "begun at ");
    tc__dump_buffer(d, n->attr[TC__BEGUN_BUFFER]);
}

// meet 264 at b2, own b9
static void tc__dump_meet(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "meet %lld at ", (long long)n->attr[TC__MEET_COUNT]);
    tc__dump_buffer(d, n->attr[TC__MEET_BUFFER]);
    tc__put(d->t, ", own ");
    tc__dump_buffer(d, n->attr[TC__MEET_OWN]);
}

static void tc__dump_wait(tc__dump *d, const tc__node *n) {
    (void)n;
    tc__put(d->t, "wait");
}

static void tc__dump_end(tc__dump *d, const tc__node *n) {
    (void)n;
    tc__put(d->t, "end");
}

static void tc__dump_call(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "call %s", tc__call_name(d->t->ctx, n));
    for (uint32_t i = TC__CALL_BUFFERS + 1;
         i <= TC__CALL_BUFFERS + n->attr[TC__CALL_OPERANDS]; i++) {
        tc__put(d->t, n->attr[i] == TC__CALL_FILLED ? " filled"
                      : n->attr[i] < 0              ? " empty"
                                                    : " ");
        if (n->attr[i] >= 0) tc__dump_buffer(d, n->attr[i]);
    }
    tc__put(d->t, " -> ");
    tc__dump_buffer(d, n->attr[TC__CALL_BUFFERS]);
}

typedef struct tc__dump_row {
    tc__op op;
    int typed; // its dtype ends the line
    void (*put)(tc__dump *d, const tc__node *n);
} tc__dump_row;

static const tc__dump_row tc__dump_rows[] = {
    {TC_OP_LOAD, 1, tc__dump_load},       // %4 = load b0[768*r + c] if 0 <= c < 8 else 0
    {TC_OP_STORE, 0, tc__dump_store},     // store b1[c] %4
    {TC_OP_VALID, 1, tc__dump_valid},     // %5 = valid 0 <= c < 8
    {TC_OP_INDEX, 1, tc__dump_index},     // %6 = index 768*r + c
    {TC_OP_ACC, 0, tc__dump_acc},         // GROUP: %7 = acc max %4; LOOP: acc0 max= %4
    {TC_OP_NEW, 1, tc__dump_new},         // acc0 = new max
    {TC_OP_COMBINE, 1, tc__dump_combine}, // %8 = combine acc0
    {TC_OP_FOR, 0, tc__dump_for},         // for c in 0..768  bind=vector*4
    {TC_OP_LAUNCH, 0, tc__dump_launch},   {TC_OP_TEMPLATE, 0, tc__dump_template},
    {TC_OP_HOLE, 0, tc__dump_hole},       {TC_OP_AXIS, 0, tc__dump_axis},
    {TC_OP_IF, 0, tc__dump_if}, // if 0 <= c < 8, or do
    {TC_OP_ELSE, 0, tc__dump_else},       {TC_OP_LEAVE, 0, tc__dump_leave},
    {TC_OP_COPY, 0, tc__dump_copy},       {TC_OP_WAIT, 0, tc__dump_wait},
    {TC_OP_BARRIER, 0, tc__dump_barrier}, {TC_OP_END, 0, tc__dump_end},
    {TC_OP_PUT, 0, tc__dump_put},         {TC_OP_GET, 0, tc__dump_put},
    {TC_OP_LAST, 0, tc__dump_last},       {TC_OP_FORGET, 0, tc__dump_forget},
    {TC_OP_BEGUN, 0, tc__dump_begun},     {TC_OP_MEET, 0, tc__dump_meet},
    {TC_OP_CALL, 0, tc__dump_call}, // call cumsum b1 -> b0
};

static const tc__dump_row *tc__dump_row_of(const tc__node *n) {
    for (size_t i = 0; i < TC__COUNT(tc__dump_rows); i++)
        if (tc__dump_rows[i].op == (tc__op)n->op) return &tc__dump_rows[i];
    return NULL;
}

// ---- graphs ----

// " %7"; what stands aside is counted behind all other nodes.
static void tc__dump_ref(tc__dump *d, uint32_t id) {
    uint32_t behind = id & TC__ASIDE ? (uint32_t)d->g->node.count : 0;
    tc__put(d->t, " %%%u", (unsigned)((id & ~TC__ASIDE) + behind));
}

static void tc__dump_plain(tc__dump *d, const tc__node *n) {
    uint32_t behind = n->id & TC__ASIDE ? (uint32_t)d->g->node.count : 0;
    tc__put(d->t, "%s%%%u = %s", behind ? "aside " : "",
            (unsigned)((n->id & ~TC__ASIDE) + behind), tc__op_name((tc__op)n->op));
    for (uint32_t i = 0; i < n->n_in; i++) tc__dump_ref(d, n->in[i]);
    tc__dump_attrs(d->t, d->g->ix, n->op, n->dtype, n->attr, n->n_attr);
}

// What stands at the end of the line: sizes, or the phase and level.
static void tc__dump_type(tc__dump *d, const tc__node *n) {
    static const char *const level[] = {"row", "col", "left", "right"};
    const char *name = tc__dtype(n->dtype)->name;
    if (n->stage == TC__TENSOR) {
        tc__put(d->t, "%s", name);
        tc__dump_dims(d->t, d->g->ix, n->rank, n->dims);
        if (n->device && !n->n_in)
            tc__put(d->t, " on %s", tc__device_name(d->t->ctx, n->device));
        return;
    }
    tc__put(d->t, "%s %s", name, n->level < TC__COUNT(level) ? level[n->level] : "?");
    if (n->stage == TC__GROUP) tc__put(d->t, " phase %u", (unsigned)n->phase);
}

static void tc__dump_node(tc__dump *d, const tc__node *n) {
    const tc__dump_row *row = tc__dump_row_of(n);
    size_t line = d->t->size;
    d->indent -= tc__outdents(n);
    tc__put(d->t, "%*s", d->indent * 2, "");
    if (row)
        row->put(d, n);
    else
        tc__dump_plain(d, n);
    d->indent += tc__indents(n);
    if (!row || row->typed || n->stage == TC__GROUP) {
        tc__dump_pad(d->t, line, TC__DUMP_TYPE_COLUMN);
        tc__dump_type(d, n);
    }
    tc__put(d->t, "\n");
}

static void tc__dump_symbols(tc__text *t, const tc__ixpool *p) {
    for (size_t i = 0; i < p->node.count; i++) {
        const tc__ixnode *n = &p->node.at[i];
        if (n->kind == TC__IX_SYM)
            tc__put(t, "size s%lld in %lld..%lld\n", (long long)n->a, (long long)n->lo,
                    (long long)n->hi);
    }
}

// composite attention %0 %1 %2 - -> %9 causal=1 scale=0.125 nan=0
static void tc__dump_composite(tc__dump *d, const tc__composite *f) {
    tc__put(d->t, "composite %s", tc__op_name((tc__op)f->op));
    for (uint32_t i = 0; i < tc__whole_of((tc__op)f->op)->n_in; i++)
        if (f->in[i] == TC__NO_NODE)
            tc__put(d->t, " -");
        else
            tc__dump_ref(d, f->in[i]);
    tc__put(d->t, " ->");
    tc__dump_ref(d, f->result);
    tc__dump_whole_words(d->t, d->g->ix, (tc__op)f->op, f->attr, f->args);
    tc__put(d->t, "\n");
}

// All nodes of a graph of any stage. A TENSOR graph tells its symbols first, then composite ops and, with
// `outputs`, what it returns last.
TC__UNUSED static void tc__dump_graph(tc__text *t, const tc__graph *g,
                                      const uint32_t *outputs, size_t n_outputs) {
    tc__dump d;
    memset(&d, 0, sizeof d);
    d.t = t, d.g = g;
    if (g->node.count && g->node.at[0]->stage == TC__TENSOR) tc__dump_symbols(t, g->ix);
    for (size_t i = 0; i < g->node.count; i++) tc__dump_node(&d, g->node.at[i]);
    for (size_t i = 0; i < g->aside.count; i++) tc__dump_node(&d, g->aside.at[i]);
    for (size_t i = 0; i < g->composite.count; i++)
        tc__dump_composite(&d, &g->composite.at[i]);
    if (!n_outputs) return;
    tc__put(t, "return");
    for (size_t i = 0; i < n_outputs; i++) tc__put(t, " %%%u", (unsigned)outputs[i]);
    tc__put(t, "\n");
}

// ---- dot ----

static void tc__dump_dot_node(tc__dump *d, const tc__node *n) {
    tc__put(d->t, "    n%u [label=\"%%%u %s", (unsigned)n->id, (unsigned)n->id,
            tc__op_name((tc__op)n->op));
    tc__dump_attrs(d->t, d->g->ix, n->op, n->dtype, n->attr, n->n_attr);
    tc__put(d->t, "\\n");
    tc__dump_type(d, n);
    tc__put(d->t, "\"];\n");
}

// A TENSOR graph for graphviz. kernel[id] is the kernel that a node is computed in,
// UINT32_MAX for none; nodes of one kernel stand in a box. kernel NULL = no boxes.
TC__UNUSED static void tc__dump_dot(tc__text *t, const tc__graph *g, const uint32_t *kernel,
                                    uint32_t kernels) {
    tc__dump d;
    memset(&d, 0, sizeof d);
    d.t = t, d.g = g;
    tc__put(t, "digraph tcompile {\n    node [shape=box, fontname=monospace];\n");
    for (uint32_t k = 0; kernel && k < kernels; k++) {
        tc__put(t, "    subgraph cluster_%u {\n    label=\"kernel %u\";\n", (unsigned)k,
                (unsigned)k);
        for (size_t i = 0; i < g->node.count; i++)
            if (kernel[i] == k) tc__dump_dot_node(&d, g->node.at[i]);
        tc__put(t, "    }\n");
    }
    for (size_t i = 0; i < g->node.count; i++)
        if (!kernel || kernel[i] >= kernels) tc__dump_dot_node(&d, g->node.at[i]);
    for (size_t i = 0; i < g->node.count; i++)
        for (uint32_t k = 0; k < g->node.at[i]->n_in; k++)
            tc__put(t, "    n%u -> n%u;\n", (unsigned)g->node.at[i]->in[k], (unsigned)i);
    tc__put(t, "}\n");
}

// The graph of a region's program about to be scheduled, on the log channel "graph".
static void tc__log_graph(tc_ctx *c, const tc__region *r, const tc__graph *g,
                          const uint32_t *outputs, size_t n_outputs) {
    tc__text t;
    if (!r || !tc__log_on(c, TC__LOG_GRAPH)) return;
    tc__text_init(&t, c);
    tc__put(&t, "region \"%s\" (%s:%d), %u nodes after all passes\n", r->name,
            r->begin.file ? r->begin.file : "?", r->begin.line, (unsigned)g->node.count);
    tc__dump_graph(&t, g, outputs, n_outputs);
    if (!t.failed) tc__log_text(c, TC__LOG_GRAPH, t.at);
    tc__text_free(&t);
}
