// The verifier of lists for devices, templates: the text that a TEMPLATE names is not looked into. Its numbers say how many
// threads run it, which memory it takes and which blocks there are of the result; its holes are all there, and what they
// say of their statements is so.

static const tc__node *tc__device_open(const tc__device_verifier *d, tc__op op) {
    for (uint32_t i = d->depth; i-- > 0;)
        if (d->open[i]->op == op) return d->open[i];
    return NULL;
}

// What a hole gives, or is given, is its own.
static int tc__device_verify_given(const tc__device_verifier *d, const tc__node *n) {
    const tc__node *hole = tc__device_open(d, TC_OP_HOLE);
    return (hole && (hole->attr[TC__HOLE_BUFFER] == n->attr[TC__ACCESS_BUFFER] ||
                     hole->attr[TC__HOLE_MADE] == n->attr[TC__ACCESS_BUFFER])) ||
           tc__verify_fail(&d->v, "it is of another hole");
}

// Bytes of a block that tiles need: the ring of operands, later the part of the result that the hole reads.
static int64_t tc__device_tiles_bytes(const int64_t *n, int64_t element, int64_t sum) {
    int64_t way = n[TC__TILES_WAY], pad = TC__PRODUCT_PAD;
    if (way == (int64_t)TC__WAY_MMA || way >= (int64_t)TC__WAY_GROUPS) pad = 0;
    if (way == (int64_t)TC__WAY_SIMT) pad = n[TC__TILES_PACK];
    int64_t lines = n[TC__TILES_ROWS] + n[TC__TILES_COLS] + 2 * pad;
    int64_t ring = n[TC__TILES_STAGES] * n[TC__TILES_DEPTH] * lines * element;
    int64_t part = tc__tile_part((int)way, n[TC__TILES_ROWS], n[TC__TILES_HIGH]) *
                   (n[TC__TILES_COLS] + TC__PRODUCT_PAD) * sum;
    int64_t turns = n[TC__TILES_TURNS], given = turns > 1 ? n[TC__TILES_COLS] / turns : 0;
    int64_t warps = n[TC__TILES_THREADS] / 32;
    if (n[TC__TILES_RELAY])
        return ring + tc__tile_spare((int)way, (int)n[TC__TILES_STAGES], 0, 0) +
               tc__relay_bytes(n[TC__TILES_ROWS], n[TC__TILES_COLS], warps);
    return (ring > part ? ring : part) +
           tc__tile_spare((int)way, (int)n[TC__TILES_STAGES], warps, given);
}

static int64_t tc__device_skinny_bytes(const int64_t *n, int64_t sum) {
    int64_t parts =
        (n[TC__SKINNY_DOT] ? n[TC__SKINNY_SHARING] : n[TC__SKINNY_THREADS]) / 32;
    if (!parts) parts = 1;
    return parts * n[TC__SKINNY_FEW] * n[TC__SKINNY_COVER] * sum;
}

// Left tiles, and two stages of the others; later each warp's part of the result. What the device brings has stages of
// its own, and semaphores.
static int64_t tc__device_chain_bytes(const int64_t *n) {
    int64_t depth = n[TC__CHAIN_DEPTH] + n[TC__CHAIN_NEXT], wide = n[TC__CHAIN_WIDE];
    if (n[TC__CHAIN_STAGES])
        return tc__mapped_chain_bytes(
            n[TC__CHAIN_ROWS] * n[TC__CHAIN_AHEAD], n[TC__CHAIN_COLS], depth,
            n[TC__CHAIN_SAME] ? 0 : wide, n[TC__CHAIN_STAGES], n[TC__CHAIN_COLUMNS]);
    int64_t ring = 2 * (n[TC__CHAIN_ROWS] * depth + 2 * n[TC__CHAIN_COLS] * (depth + wide)),
            part = 4 * n[TC__CHAIN_HIGH] * 16 * (wide + TC__PRODUCT_PAD);
    return ring > part ? ring : part;
}

// Sums of a thread, and the words that say how many threads there are and slices of k.
typedef struct tc__template_facts {
    int64_t bytes, sums, threads, slices;
    int64_t rows, cols, batches; // of the result for a block; 0 = all are one product's
    int64_t cluster;             // blocks below each other that work together
    int near;                    // blocks that share are a cluster
    int total; // sums of the left operand are shared by those beside each other
    int64_t left,
        tickets; // what a block leaves for others; tickets of those that share, 0 = of their rounds
} tc__template_facts;

static tc__template_facts tc__device_template_facts(const tc__node *n, int64_t element) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    int64_t sum = (int64_t)tc__dtypes[n->dtype].bytes;
    tc__template_facts f;
    f.cluster = 1, f.near = f.total = 0, f.left = f.tickets = 0;
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES) {
        f.bytes = tc__device_tiles_bytes(number, element, sum);
        f.threads = number[TC__TILES_THREADS], f.slices = number[TC__TILES_SLICES];
        f.sums = number[TC__TILES_ROWS] * number[TC__TILES_COLS] / f.threads;
        f.rows = number[TC__TILES_ROWS], f.cols = number[TC__TILES_COLS];
        f.total = number[TC__TILES_TOTAL] != 0;
        if (f.total) f.left = f.rows, f.tickets = f.rows / TC__MAP_LINE;
        f.batches = number[TC__TILES_BATCHES], f.cluster = number[TC__TILES_CLUSTER];
    } else if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN) {
        f.bytes = tc__device_chain_bytes(number);
        f.threads = number[TC__CHAIN_THREADS], f.slices = 1, f.sums = 0;
        f.rows = number[TC__CHAIN_ROWS], f.cols = number[TC__CHAIN_WIDE];
        f.batches = number[TC__CHAIN_BATCHES];
    } else if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_DECODE) {
        int64_t rows = number[TC__DECODE_ROWS], lanes = number[TC__DECODE_LANES];
        f.threads = number[TC__DECODE_THREADS], f.slices = number[TC__DECODE_SLICES];
        f.bytes = tc__decode_bytes(rows, lanes, f.threads,
                                   number[TC__DECODE_CLUSTER] ? f.slices : 0);
        f.near = number[TC__DECODE_CLUSTER] != 0;
        f.sums = 0, f.left = tc__decode_room(rows, lanes), f.tickets = 1;
        f.rows = rows, f.cols = 8 * lanes, f.batches = number[TC__DECODE_BATCHES];
    } else {
        f.bytes = tc__device_skinny_bytes(number, sum);
        f.threads = number[TC__SKINNY_THREADS], f.slices = number[TC__SKINNY_SLICES];
        f.sums = number[TC__SKINNY_FEW] *
                 number[number[TC__SKINNY_DOT] ? TC__SKINNY_EACH : TC__SKINNY_WIDTH];
        int by_rows = number[TC__SKINNY_BY_ROWS] != 0;
        f.rows = number[by_rows ? TC__SKINNY_COVER : TC__SKINNY_FEW];
        f.cols = number[by_rows ? TC__SKINNY_FEW : TC__SKINNY_COVER];
        f.batches = number[TC__SKINNY_BATCHES];
    }
    return f;
}

// Its holes, a bit for each; 0 = something else is in it, or one twice.
static uint32_t tc__device_holes(const tc__device_verifier *d, const tc__node *n) {
    uint32_t holes = 0, end = tc__loop_end(d->k, n->id);
    for (uint32_t id = n->id + 1; id < end; id = tc__loop_end(d->k, id) + 1) {
        const tc__node *hole = d->k->body.node.at[id];
        if (hole->op != TC_OP_HOLE || hole->attr[TC__HOLE_HOLE] < 0 ||
            hole->attr[TC__HOLE_HOLE] > (int64_t)TC__HOLE_TOTAL ||
            holes >> hole->attr[TC__HOLE_HOLE] & 1)
            return 0;
        holes |= (uint32_t)1 << hole->attr[TC__HOLE_HOLE];
    }
    return holes;
}

static const tc__node *tc__device_hole(const tc__device_verifier *d, const tc__node *n,
                                       tc__hole hole) {
    uint32_t id = n->id + 1;
    while (d->k->body.node.at[id]->attr[TC__HOLE_HOLE] != (int64_t)hole)
        id = tc__loop_end(d->k, id) + 1;
    return d->k->body.node.at[id];
}

static uint32_t tc__device_holes_due(const tc__node *n) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    uint32_t due = 1 << TC__HOLE_LEFT | 1 << TC__HOLE_RIGHT | 1 << TC__HOLE_RESULT;
    int tiles = n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES;
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN) {
        due |= 1 << TC__HOLE_VALUE | 1 << TC__HOLE_SCORE;
        if (number[TC__CHAIN_NEXT])
            due |= 1 << TC__HOLE_LEFT_NEXT | 1 << TC__HOLE_RIGHT_NEXT;
        if (number[TC__CHAIN_COLUMNS]) due |= 1 << TC__HOLE_COLUMNS;
        if (number[TC__CHAIN_STREAMED]) due |= 1 << TC__HOLE_SHARE;
        if (number[TC__CHAIN_PAIR])
            due |= 1 << TC__HOLE_SCORE_NEXT | 1 << TC__HOLE_RESULT_NEXT;
        return due;
    }
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_DECODE)
        return due | 1 << TC__HOLE_VALUE | 1 << TC__HOLE_SCORE | 1 << TC__HOLE_SHARE;
    if (tiles && number[TC__TILES_RELAY]) due |= 1 << TC__HOLE_ROUNDED;
    if (tiles && number[TC__TILES_TOTAL]) due |= 1 << TC__HOLE_TOTAL;
    if (tiles && number[TC__TILES_WAY] == (int64_t)TC__WAY_SPLIT)
        due |= 1 << TC__HOLE_LEFT_ONE | 1 << TC__HOLE_RIGHT_ONE;
    if (!tiles && number[TC__SKINNY_AHEAD]) due |= 1 << TC__HOLE_AHEAD;
    if (!tiles && number[TC__SKINNY_EARLY]) due |= 1 << TC__HOLE_EARLY;
    if (!tiles && number[TC__SKINNY_MAKING]) due |= 1 << TC__HOLE_ROWS;
    return due;
}

// Whether blocks have all of the result, and no more; of sizes at run time nobody knows.
static int tc__device_covers(const tc__device_verifier *d, const tc__node *n,
                             const tc__template_facts *f) {
    tc__ix rows = n->attr[TC__TEMPLATE_ROWS], cols = n->attr[TC__TEMPLATE_COLS];
    if (!tc__ix_is_const(rows) || !tc__ix_is_const(cols) || !tc__ix_is_const(d->blocks))
        return 1;
    int64_t high = (tc__ix_value(rows) - 1) / f->rows + 1, blocks = tc__ix_value(d->blocks),
            product = high * ((tc__ix_value(cols) - 1) / f->cols + 1) * f->slices;
    if (f->cluster < 1 || high % f->cluster) return 0;
    return product > 0 && blocks % product == 0 && (f->batches || blocks == product);
}

// Whether blocks that share sums have room to leave them.
static int tc__device_has_slices(const tc__device_verifier *d, const tc__node *n,
                                 const tc__template_facts *f) {
    int64_t tickets = n->attr[TC__TEMPLATE_TICKETS], sums = n->attr[TC__TEMPLATE_SUMS];
    if ((f->slices == 1 && !f->total) || f->near) return 1;
    if (f->slices > 1 && f->total) return 0;
    if (tickets < 0 || sums < 0 || !tc__ix_is_const(d->blocks)) return 0;
    int64_t shares = tc__ix_value(d->blocks) / f->slices;
    const tc__kbuf *t = &d->k->buffer.at[tickets], *w = &d->k->buffer.at[sums];
    return t->place == TC__BUF_TICKET && w->place == TC__BUF_WORK &&
           tc__ix_lo(d->ix, t->numel) >=
               shares * (f->tickets ? f->tickets : f->slices + 1) &&
           tc__ix_lo(d->ix, w->numel) >=
               shares * f->slices * (f->left ? f->left : f->threads * f->sums);
}

// Whether the words are those of a template that there is.
static int tc__device_is_template(const tc__node *n) {
    int64_t name = n->attr[TC__TEMPLATE_NAME];
    return name >= 0 && name < (int64_t)TC__TEMPLATES &&
           n->n_attr == TC__TEMPLATE_NUMBERS + tc__template_words[name].count;
}

// Whether maps can bring all operands, in the tiles' lines.
static int tc__device_has_maps(const tc__device_verifier *d, const tc__node *n) {
    uint32_t end = tc__loop_end(d->k, n->id);
    for (uint32_t id = n->id + 1; id < end; id = tc__loop_end(d->k, id) + 1) {
        const tc__node *hole = d->k->body.node.at[id];
        tc_device_map m;
        if (tc__hole_is_mapped(n, hole) && !tc__template_map(d->k, n, hole, &m)) return 0;
    }
    return 1;
}

static int tc__device_verify_template(const tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    if (!tc__device_is_template(n)) return tc__verify_fail(&d->v, "no such template");
    uint32_t holes = tc__device_holes(d, n);
    if (!tc__device_is_outer(d->open[d->depth - 2]) || d->n_left)
        return tc__verify_fail(&d->v, "not all threads come here together");
    if (!holes || holes != tc__device_holes_due(n))
        return tc__verify_fail(&d->v, "its holes are not those of %s",
                               tc__template_names[n->attr[TC__TEMPLATE_NAME]]);
    const tc__node *left = tc__device_hole(d, n, TC__HOLE_LEFT);
    const tc__kbuf *given = &d->k->buffer.at[left->attr[TC__HOLE_BUFFER]],
                   *shared = &d->k->buffer.at[n->attr[TC__TEMPLATE_SHARED]];
    tc__template_facts f =
        tc__device_template_facts(n, (int64_t)tc__dtypes[given->dtype].bytes);
    if (f.threads + (tc__template_is_mapped(n) ? TC__MAP_BRINGERS : 0) != d->threads)
        return tc__verify_fail(&d->v, "it is for %lld threads", (long long)f.threads);
    if (shared->place != TC__BUF_SHARED ||
        tc__ix_lo(d->ix, shared->numel) * (int64_t)tc__dtypes[shared->dtype].bytes <
            f.bytes)
        return tc__verify_fail(&d->v, "it needs %lld bytes of a block", (long long)f.bytes);
    if (!tc__device_covers(d, n, &f))
        return tc__verify_fail(&d->v, "its blocks are not those of the result");
    if (tc__template_is_mapped(n) && !tc__device_has_maps(d, n))
        return tc__verify_fail(&d->v, "there is no map of an operand");
    return tc__device_has_slices(d, n, &f) ||
           tc__verify_fail(&d->v, "blocks cannot leave their sums");
}

// Whether what hole n copies moves with `axis` by what the hole says; lines of a batch alone need to.
static int tc__device_is_stepped(const tc__device_verifier *d, const tc__node *n,
                                 int64_t axis, int64_t stride) {
    const tc__node *around = tc__device_open(d, TC_OP_TEMPLATE);
    tc__ixrun run = tc__ix_run(d->ix, d->k->body.node.at[n->id + 1]->attr[TC__COPY_SOURCE],
                               (tc__axis)axis);
    return run.ok && tc__ix_equals(run.stride, stride) &&
           (run.run == INT64_MAX ||
            tc__ix_equals(around->attr[TC__TEMPLATE_ROWS], run.run));
}

// A hole of an operand writes nothing but that; one that gives an address has a single copy.
static int tc__device_verify_hole(tc__device_verifier *d) {
    const tc__node *n = d->v.node;
    for (int i = TC__HOLE_ROW; i <= (int)TC__HOLE_DEEP; i++) // it is told them
        if (n->attr[i] >= 0) d->axis[n->attr[i]] = 0;
    uint32_t end = tc__loop_end(d->k, n->id);
    int address =
        n->attr[TC__HOLE_BRING] == TC__BRING_ASYNC || n->attr[TC__HOLE_DEEP_STRIDE];
    if (d->open[d->depth - 2]->op != TC_OP_TEMPLATE)
        return tc__verify_fail(&d->v, "no template is around");
    if (address && (end != n->id + 2 || d->k->body.node.at[n->id + 1]->op != TC_OP_COPY))
        return tc__verify_fail(&d->v, "it gives an address of more than a copy");
    if (n->attr[TC__HOLE_DEEP_STRIDE] &&
        !(tc__device_is_stepped(d, n, n->attr[TC__HOLE_LINE],
                                n->attr[TC__HOLE_LINE_STRIDE]) &&
          tc__device_is_stepped(d, n, n->attr[TC__HOLE_DEEP],
                                n->attr[TC__HOLE_DEEP_STRIDE])))
        return tc__verify_fail(&d->v, "its accesses do not lie so far apart");
    for (uint32_t id = n->id; id < end; id++) {
        const tc__node *m = d->k->body.node.at[id];
        if (n->attr[TC__HOLE_HOLE] < (int64_t)TC__HOLE_ROWS && m->op == TC_OP_STORE &&
            tc__is_memory(tc__buffer_of(d->k, m)))
            return tc__verify_fail(&d->v, "an operand is stored to memory");
    }
    return 1;
}
