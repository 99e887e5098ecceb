// Ops of the user's: what a context has registered. A CUSTOM step or node names one by its number,
// from 0 in the order of registration; to the user it has the context's slot in front, so that an
// op of another context is found out. They stay until the context closes, so a number never means
// anything else. A context opened from another begins with the ops of that one, under the same ids.

typedef struct tc__custom {
    tc_custom_op op; // its strings are owned
    uint32_t number;
    int id; // the user's: slot of the context that registered it, then the number + 1
    const char *trouble; // why cuda_source does not compile, owned; NULL = nothing is known
} tc__custom;

struct tc__customs {
    TC__VEC(tc__custom *) at; // owned, by number
};

enum {
    TC__CUSTOM_INPUTS = 64, // of an op
    TC__CALL_MOST =
        TC__CALL_BUFFERS + (1 + TC__CUSTOM_INPUTS) * (2 + TC_MAX_RANK), // words of a CALL
    TC__CALL_FILLED = -2, // for a buffer: all its elements are TC__CALL_FILL

    TC__CUSTOM_NAME = 63, // characters
    TC__CUSTOM_BITS = 16  // of an id: the number + 1
};

static int tc__custom_count(const tc_ctx *c) {
    const tc__values *v = (const tc__values *)(const void *)c;
    return v->customs ? (int)v->customs->at.count : 0;
}

// Op `number` of a graph of this context, NULL = there is none.
static const tc__custom *tc__custom_at(tc_ctx *c, int64_t number) {
    if (number < 0 || number >= tc__custom_count(c)) return NULL;
    return tc__values_of(c)->customs->at.at[number];
}

static const char *tc__custom_name(tc_ctx *c, int64_t number) {
    const tc__custom *o = tc__custom_at(c, number);
    return o ? o->op.name : "?";
}

// The op of the name that the `size` characters at `name` are.
static const tc__custom *tc__custom_named(const tc_ctx *c, const char *name, size_t size) {
    const tc__values *v = (const tc__values *)(const void *)c;
    for (int i = 0; i < tc__custom_count(c); i++) {
        const tc__custom *o = v->customs->at.at[i];
        if (strlen(o->op.name) == size && !memcmp(o->op.name, name, size)) return o;
    }
    return NULL;
}

// ---- keeping them ----

static void tc__custom_free(tc_ctx *c, tc__custom *o) {
    tc__string_free(c, o->op.name);
    tc__string_free(c, o->op.c_source);
    tc__string_free(c, o->op.cuda_source);
    tc__string_free(c, o->trouble);
    tc__free(c, o, sizeof *o);
}

static void tc__customs_close(tc_ctx *c) {
    struct tc__customs *all = tc__values_of(c)->customs;
    if (!all) return;
    for (size_t i = 0; i < all->at.count; i++) tc__custom_free(c, all->at.at[i]);
    TC__VEC_FREE(c, all->at);
    tc__free(c, all, sizeof *all);
    tc__values_of(c)->customs = NULL;
}

// A copy of the op, as the newest; NULL = reported.
static tc__custom *tc__custom_add(tc_ctx *c, const tc_custom_op *op) {
    tc__values *v = tc__values_of(c);
    if (!v->customs) v->customs = TC__NEW(c, struct tc__customs);
    tc__custom *o = v->customs ? TC__NEW(c, tc__custom) : NULL;
    if (!o) return NULL;
    o->op = *op;
    if (!o->op.n_in) o->op.n_in = 1;
    o->number = (uint32_t)v->customs->at.count;
    o->id = (int)(v->slot_of_ctx << TC__CUSTOM_BITS | (o->number + 1));
    o->op.name = tc__string_copy(c, op->name);
    o->op.c_source = tc__string_copy(c, op->c_source);
    o->op.cuda_source = tc__string_copy(c, op->cuda_source);
    int whole = o->op.name && !op->c_source == !o->op.c_source &&
                !op->cuda_source == !o->op.cuda_source;
    if (whole && TC__PUSH(c, v->customs->at, o)) return o;
    tc__custom_free(c, o);
    return NULL;
}

// The ops of `parent` in a new context; 0 = out of memory.
static int tc__customs_share(tc_ctx *c, tc_ctx *parent) {
    for (int i = 0; i < tc__custom_count(parent); i++) {
        const tc__custom *from = tc__custom_at(parent, i);
        tc__custom *o = tc__custom_add(c, &from->op);
        if (!o) return 0;
        o->id = from->id;
    }
    return 1;
}

// ---- what the user's functions return ----

// The error of a status that is not TC_OK: itself, or TC_E_ARG for what is no status.
static tc_status tc__user_status(tc_status s) {
    return s < 0 && s >= -TC__ERRORS ? s : TC_E_ARG;
}

// "returned TC_E_SHAPE" or "returned 7, which is no status" into out.
static const char *tc__user_status_text(tc_status s, char out[64]) {
    if (s < 0 && s >= -TC__ERRORS)
        snprintf(out, 64, "returned %s", tc__error_name(s));
    else
        snprintf(out, 64, "returned %d, which is no status", s);
    return out;
}
