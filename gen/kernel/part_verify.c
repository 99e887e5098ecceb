// The verifier of lists of several parts (part.c), behind that of single nodes (graph/verify.c): what leads from one part to
// another is rows that are made, and all parts go over the same rows.

typedef struct tc__parts_verifier {
    tc_ctx *ctx;
    const tc__group *k, *part;
    const tc__node *node;
    uint32_t begin; // of the part
    int *made_by;   // by buffer: 1 + the part that writes it, 0 = none has
    int number;     // of the part
} tc__parts_verifier;

static int tc__parts_fail(const tc__parts_verifier *v, const char *why) {
    return tc__fail(v->ctx, TC_E_INTERNAL, "verify: part %d, %%%u = %s: %s", v->number,
                    (unsigned)v->node->id, tc__op_name((tc__op)v->node->op), why);
}

// A row that is made: written by one part, in its columns; read by later ones, at their column or k.
static int tc__verify_made(tc__parts_verifier *v, int64_t b) {
    const tc__node *n = v->node;
    const tc__kbuf *made = &v->k->buffer.at[b];
    tc__axis axis = n->level == TC__AT_LEFT ? TC__DEPTH : TC__COL;
    tc__ix extent = axis == TC__COL ? v->part->shape.cols : tc__depth_of(v->part);
    if (n->level != TC__AT_LEFT && n->level != TC__AT_COL)
        return tc__parts_fail(v, "a made row is neither a left operand nor in columns");
    if (extent != made->numel)
        return tc__parts_fail(v, "a made row has another length than its axis");
    if (n->attr[TC__ACCESS_INDEX] != tc__ix_var(v->k->body.ix, (int)axis, extent) ||
        (n->op == TC_OP_LOAD && n->n_attr > TC__LOAD_PREDICATES))
        return tc__parts_fail(v, "a made row is accessed at another place than its own");
    if (n->op == TC_OP_LOAD)
        return (v->made_by[b] && v->made_by[b] <= v->number) ||
               tc__parts_fail(v, "no earlier part makes what it reads");
    if (v->made_by[b]) return tc__parts_fail(v, "it makes what is made already");
    return 1;
}

static int tc__verify_part_access(tc__parts_verifier *v) {
    const tc__node *n = v->node;
    int64_t b = n->attr[TC__ACCESS_BUFFER];
    if (b < 0 || b >= (int64_t)v->k->buffer.count)
        return tc__parts_fail(v, "no such buffer");
    if (v->k->buffer.at[b].place == TC__BUF_MADE) return tc__verify_made(v, b);
    if (n->op == TC_OP_LOAD && v->made_by[b] && v->made_by[b] <= v->number)
        return tc__parts_fail(v, "it reads what an earlier part writes to memory");
    return 1;
}

// A node of the part: what it names is of the part, too.
static int tc__verify_part_node(tc__parts_verifier *v) {
    const tc__node *n = v->node;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (n->in[i] < v->begin)
            return tc__parts_fail(v, "it uses a value of another part");
    if (n->op == TC_OP_LOAD || n->op == TC_OP_STORE) return tc__verify_part_access(v);
    if (n->op != TC_OP_CONTRACT) return 1;
    const tc__node *last = tc__contract_of(v->part);
    return (n->in[0] == last->in[0] && n->in[1] == last->in[1]) ||
           tc__parts_fail(v, "a part has two products");
}

static int tc__verify_part(tc__parts_verifier *v) {
    uint32_t end = (uint32_t)v->part->body.node.count;
    const tc__node *rows = tc__part_find(v->k, v->begin, end, TC_OP_FOR);
    v->node = rows ? rows : v->k->body.node.at[v->begin];
    if (!rows || rows->attr[TC__FOR_AXIS] != TC__ROW ||
        rows->attr[TC__FOR_END] != v->k->shape.rows)
        return tc__parts_fail(v, "a part is no loop over the rows that all parts have");
    for (uint32_t id = v->begin; id < end; id++) {
        v->node = v->k->body.node.at[id];
        if (!tc__verify_part_node(v)) return 0;
    }
    for (uint32_t id = v->begin; id < end; id++) {
        const tc__node *n = v->k->body.node.at[id];
        if (n->op == TC_OP_STORE) v->made_by[n->attr[TC__ACCESS_BUFFER]] = v->number + 1;
    }
    return 1;
}

// 1, or 0 with TC_E_INTERNAL: behind tc__verify of the list, where there are several parts.
static int tc__verify_parts(tc_ctx *c, const tc__group *k) {
    tc__group part[TC__LIST_PARTS];
    tc__parts_verifier v;
    size_t buffers = k->buffer.count + 1;
    int n = tc__parts_of_list(k, part);
    memset(&v, 0, sizeof v);
    v.ctx = c, v.k = k;
    v.made_by = TC__NEW_ARRAY(c, int, buffers);
    int ok = v.made_by != NULL;
    for (; ok && v.number < n; v.number++) {
        v.part = &part[v.number];
        ok = tc__verify_part(&v);
        v.begin = (uint32_t)v.part->body.node.count;
    }
    if (ok &&
        (v.begin != k->body.node.count || part[n - 1].shape.prologue != k->shape.prologue))
        ok = tc__fail(c, TC_E_INTERNAL, "verify: %d parts do not end where the list does",
                      n);
    if (v.made_by) TC__FREE_ARRAY(c, v.made_by, buffers);
    return ok;
}

// A list of parts as join.c has made it, in debug builds.
static int tc__parts_checked(tc_ctx *c, const tc__group *k) {
    return tc__checked(c, &k->body, TC__LOOP) && (!TC__DEBUG || tc__verify_parts(c, k));
}
