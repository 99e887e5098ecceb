// What a thread of a CUDA kernel does at its vectors: the lines that place one, loads of all vectors, what is
// computed of each.

// A line that defines a place, and its name: left out where nothing names it.
typedef struct tc__cuda_place {
    int count;
    char word[4][8], line[4][160];
    char inside[100], beyond[100]; // whether the place is in the extent or not; "" = it is
} tc__cuda_place;

static void tc__cuda_place_add(tc__cuda_place *at, const char *word, const char *line) {
    snprintf(at->word[at->count], sizeof at->word[0], "%s", word);
    snprintf(at->line[at->count], sizeof at->line[0], "%s", line);
    at->count++;
}

static void tc__cuda_put_place(tc__printer *p, const tc__cuda_place *at,
                               const tc__text *body) {
    int needed[4] = {0, 0, 0, 0};
    for (int i = at->count; i-- > 0;) {
        tc__text line;
        needed[i] = tc__c_mentions(body, at->word[i]);
        for (int k = i + 1; k < at->count; k++) {
            tc__text_init(&line, p->out->ctx);
            tc__put(&line, "%s", at->line[k]);
            needed[i] |= needed[k] && tc__c_mentions(&line, at->word[i]);
            tc__text_free(&line);
        }
    }
    for (int i = 0; i < at->count; i++) {
        if (!needed[i]) continue;
        tc__line(p);
        tc__put(p->out, "%s\n", at->line[i]);
    }
}

typedef void (*tc__cuda_body_fn)(tc__printer *p, const tc__cuda_loop_body *b,
                                 const tc__cuda_place *at);

// The lines of a place, then what `print` prints there.
static void tc__cuda_at(tc__printer *p, const tc__cuda_loop_body *b,
                        const tc__cuda_place *at, tc__cuda_body_fn print) {
    tc__text body, *out = p->out;
    tc__text_init(&body, out->ctx);
    p->out = &body;
    print(p, b, at);
    p->out = out;
    tc__cuda_put_place(p, at, &body);
    tc__put_raw(out, body.at, body.size);
    out->failed |= body.failed;
    tc__text_free(&body);
}

static void tc__cuda_issue_at(tc__printer *p, const tc__cuda_loop_body *b,
                              const tc__cuda_place *at) {
    tc__cuda_issue_all(p, b, at->inside, 0);
}

static void tc__cuda_break(tc__printer *p, const tc__cuda_place *at) {
    if (!*at->beyond) return;
    tc__line(p);
    tc__put(p->out, "if (%s) break;\n", at->beyond);
}

static void tc__cuda_compute_at(tc__printer *p, const tc__cuda_loop_body *b,
                                const tc__cuda_place *at) {
    tc__cuda_break(p, at);
    tc__cuda_compute(p, b);
}

static void tc__cuda_one_at(tc__printer *p, const tc__cuda_loop_body *b,
                            const tc__cuda_place *at) {
    (void)at;
    tc__cuda_issue_all(p, b, "", 1);
    tc__cuda_compute(p, b);
}

// ---- loads at loaded indices, ahead of what is computed ----

enum { TC__NEED_AHEAD = 1, TC__NEED_REST = 2 };

static void tc__cuda_need_operands(const tc__printer *p, const tc__node *n, uint8_t what,
                                   uint8_t *need) {
    for (uint32_t k = 0; k < n->n_in; k++) need[n->in[k]] |= what;
    for (uint32_t k = 0; k < n->n_attr; k++) {
        tc__ix vals[64];
        if (!tc__attr_is_ix(n, k)) continue;
        uint32_t found = tc__ix_vals(p->g->body.ix, n->attr[k], vals, 64);
        for (uint32_t v = 0; v < found; v++)
            need[tc__ix_node(p->g->body.ix, vals[v])->a] |= what;
    }
}

// need[]: what loads that are issued ahead need, and what the rest does without what these alone need.
// 0 = there are none.
static int tc__cuda_need_ahead(const tc__printer *p, const tc__cuda_loop_body *b,
                               uint8_t *need) {
    int some = 0;
    for (uint32_t id = b->end; id-- > 0;) {
        const tc__node *n = tc__body(p, id);
        if (!b->set[id]) continue;
        int ahead = tc__cuda_is_ahead(p, n);
        if (ahead || n->op == TC_OP_STORE || !tc__cuda_still(p, n))
            need[id] |= TC__NEED_REST;
        tc__cuda_need_operands(p, n, ahead ? (uint8_t)TC__NEED_AHEAD : need[id], need);
        if (ahead) need[id] |= TC__NEED_AHEAD, some = 1;
    }
    return some;
}

static void tc__cuda_ahead_at(tc__printer *p, const tc__cuda_loop_body *b,
                              const tc__cuda_place *at) {
    tc__cuda_break(p, at);
    tc__cuda_print_still(p, b);
    tc__cuda_issue_late(p, b, 1);
}

static void tc__cuda_unrolled(tc__printer *p, const tc__cuda_loop_body *b,
                              const tc__cuda_place *at, int count, tc__cuda_body_fn print) {
    tc__cuda_unroll(p, "u", count);
    tc__cuda_at(p, b, at, print);
    tc__block_close(p);
}

// What is needed for `what` of the nodes of b.
static void tc__cuda_put_needed(tc__printer *p, const tc__cuda_loop_body *b,
                                const tc__cuda_place *at, int count, const uint8_t *need,
                                uint8_t what) {
    tc__cuda_loop_body part = *b;
    part.set = TC__NEW_ARRAY(p->out->ctx, uint8_t, p->g->body.node.count);
    p->out->failed |= !part.set;
    for (uint32_t id = 0; part.set && id < b->end; id++)
        part.set[id] = b->set[id] && need[id] & what;
    if (part.set)
        tc__cuda_unrolled(p, &part, at, count,
                          what == TC__NEED_AHEAD ? tc__cuda_ahead_at : tc__cuda_compute_at);
    tc__free(p->out->ctx, part.set, p->g->body.node.count);
}

// `count` vectors of a thread: all loads, then all that is computed. Its arrays are declared.
static void tc__cuda_put_vectors(tc__printer *p, const tc__cuda_loop_body *b,
                                 const tc__cuda_place *at, int count) {
    size_t nodes = p->g->body.node.count;
    uint8_t *need = TC__NEW_ARRAY(p->out->ctx, uint8_t, nodes);
    p->out->failed |= !need;
    if (!p->issued && tc__cuda_count_issues(p, b))
        tc__cuda_unrolled(p, b, at, count, tc__cuda_issue_at);
    if (need && tc__cuda_need_ahead(p, b, need)) {
        tc__cuda_put_needed(p, b, at, count, need, TC__NEED_AHEAD);
        tc__cuda_put_needed(p, b, at, count, need, TC__NEED_REST);
    } else {
        tc__cuda_unrolled(p, b, at, count, tc__cuda_compute_at);
    }
    tc__free(p->out->ctx, need, nodes);
}
