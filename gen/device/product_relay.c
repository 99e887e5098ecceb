// Products whose results others finish (cuda/mapped.cuh, relay): warps that multiply make halves of their sums and go on with the
// next tile; a second set of warps does the rest with those. That needs a cast to halves in the result's hole behind which
// nobody wants the sums, made of them and of what is the same for all rows, as a bias is: most products of halves have one.
//
// Halves of a tile need half of the memory that its sums would, so that the ring keeps three stages.

enum {
    TC__RELAY_NODES = 64, // from the sums on, that are looked at
    TC__RELAY_THREADS =
        TC__MAP_BRINGERS - 32, // that finish results, beside the warp that orders copies
    TC__RELAY_OF = 256,        //   of so many that multiply: there are registers for them
    TC__RELAY_STAGES = 3,      // of the ring at least
    TC__RELAY_ENDS = 40, // what begin and end of a tile take then, as in product_tiles.c
    TC__RELAY_MOVES = 6, // instructions that bring an element and store it,
    TC__RELAY_LOAD = 8,  //   or load what is of another row,
    TC__RELAY_CHEAP = 2, //   that stand before the rounding of a product of halves,
    TC__RELAY_PACE = 22  //   and elements of k that are multiplied in the time of one
};

typedef struct tc__relay {
    uint32_t sums,
        rounded;    // ids of the contraction and of what rounds it, 0 = there is none
    uint64_t made;  // what the cast is made of, with it: bit i for node sums + i
    uint64_t again; // and of those what others read as well
} tc__relay;

static uint64_t tc__relay_bit(const tc__relay *r, uint32_t id) {
    return id >= r->sums && id - r->sums < (uint32_t)TC__RELAY_NODES
               ? (uint64_t)1 << (id - r->sums)
               : 0;
}

// Whether node n can be had for a column, whatever the row is.
static int tc__relay_is_of_column(const tc__group *g, const tc__node *n) {
    if (n->op == TC_OP_LOAD)
        return n->n_attr == TC__LOAD_PREDICATES && !tc__buffer_of(g, n)->written &&
               !tc__ix_uses(g->body.ix, n->attr[TC__LOAD_INDEX], TC__ROW) &&
               !tc__ix_has_val(g->body.ix, n->attr[TC__LOAD_INDEX]);
    return n->op == TC_OP_CONST || n->op == TC_OP_ARG || n->op == TC_OP_CAST ||
           tc__is_alu(n);
}

static uint64_t tc__relay_operands(const tc__relay *r, const tc__node *n) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n->n_in; i++) bits |= tc__relay_bit(r, n->in[i]);
    return bits;
}

// What node id is made of, with it; 0 = not of sums and columns alone.
static uint64_t tc__relay_made(const tc__group *g, const tc__relay *r, uint32_t id) {
    uint64_t made = tc__relay_bit(r, id);
    for (uint32_t k = id; k > r->sums; k--) {
        const tc__node *n = g->body.node.at[k];
        if (!(made & tc__relay_bit(r, k))) continue;
        if (!tc__relay_is_of_column(g, n)) return 0;
        for (uint32_t i = 0; i < n->n_in; i++)
            if (!tc__relay_bit(r, n->in[i])) return 0;
        made |= tc__relay_operands(r, n);
    }
    return made;
}

// What of r->made the other nodes read, and that is made of.
static uint64_t tc__relay_again(const tc__group *g, const tc__relay *r, uint64_t rounded) {
    uint64_t again = 0;
    for (uint32_t id = (uint32_t)g->body.node.count; --id > r->sums;) {
        uint64_t own = tc__relay_bit(r, id);
        if (!(own & r->made) || (own & again & ~rounded))
            again |= tc__relay_operands(r, g->body.node.at[id]) & r->made;
    }
    return again;
}

// The only node that reads what r rounds; NULL = several do, or none.
static const tc__node *tc__relay_reader(const tc__group *g, const tc__relay *r) {
    const tc__node *reader = NULL;
    for (uint32_t id = r->rounded + 1; id < g->body.node.count; id++)
        for (uint32_t i = 0; i < g->body.node.at[id]->n_in; i++) {
            if (g->body.node.at[id]->in[i] != r->rounded) continue;
            if (reader && reader->id != id) return NULL;
            reader = g->body.node.at[id];
        }
    return reader;
}

// A product of halves is f32 up to where it is stored: so what is cheap and of sums and columns, as a bias and a relu, stands
// before its rounding, too.
static tc__relay tc__relay_of_halves(const tc__group *g, tc__relay r) {
    const tc__node *n;
    r.rounded = r.sums, r.made = 1;
    while ((n = tc__relay_reader(g, &r)) != NULL) {
        uint64_t made =
            tc__is_alu(n) && tc__is_half(n->dtype) && tc__ops[n->op].cost <= TC__RELAY_CHEAP
                ? tc__relay_made(g, &r, n->id)
                : 0;
        if (!made) break;
        r.rounded = n->id, r.made = made;
        r.again = tc__relay_again(g, &r, tc__relay_bit(&r, n->id));
    }
    return r;
}

// The first cast to halves behind which nobody reads what depends on sums.
static tc__relay tc__relay_of(const tc__group *g) {
    tc__relay r;
    memset(&r, 0, sizeof r);
    r.sums = tc__contract_of(g)->id;
    if (tc__is_half(tc__contract_of(g)->dtype)) return tc__relay_of_halves(g, r);
    uint64_t uses = 1;
    for (uint32_t id = r.sums + 1;
         id < g->body.node.count && id - r.sums < (uint32_t)TC__RELAY_NODES; id++) {
        const tc__node *n = g->body.node.at[id];
        if (!(tc__relay_operands(&r, n) & uses)) continue;
        uint64_t own = tc__relay_bit(&r, id);
        uses |= own;
        if (n->op != TC_OP_CAST || !tc__is_half(n->dtype)) continue;
        r.made = tc__relay_made(g, &r, id), r.again = tc__relay_again(g, &r, own);
        if (r.made && !(r.again & uses & ~own)) {
            r.rounded = id;
            return r;
        }
    }
    return r;
}

// Whether halves are what the result has anyway, though the product is one of halves: it is f32 up to where it is stored.
static int tc__relay_is_exact(const tc__group *g, const tc__relay *r) {
    if (!tc__is_half(tc__contract_of(g)->dtype)) return 1;
    for (uint32_t id = r->rounded + 1; id < g->body.node.count; id++)
        for (uint32_t i = 0; i < g->body.node.at[id]->n_in; i++)
            if (g->body.node.at[id]->in[i] == r->rounded &&
                g->body.node.at[id]->op != TC_OP_STORE)
                return 0;
    return 1;
}

// The loop over rows: operands stand before, the result in it.
static uint32_t tc__product_rows_loop(const tc__group *g) {
    uint32_t id = g->shape.prologue;
    while (g->body.node.at[id]->op != TC_OP_FOR) id++;
    return id;
}

// What the rest of the result takes for an element, in instructions or so.
static int64_t tc__relay_rest(const tc__group *g, const tc__relay *r) {
    int64_t cost = TC__RELAY_MOVES;
    for (uint32_t id = tc__product_rows_loop(g); id < g->body.node.count; id++) {
        const tc__node *n = g->body.node.at[id];
        if (tc__relay_bit(r, id) & r->made) continue;
        if (n->level == TC__AT_COL && tc__is_alu(n)) cost += tc__ops[n->op].cost;
        if (n->op == TC_OP_LOAD && !tc__relay_is_of_column(g, n)) cost += TC__RELAY_LOAD;
    }
    return cost;
}

// Bytes of a block for halves of a tile, and two semaphores of each warp.
static int tc__relay_bytes(int64_t rows, int64_t cols, int64_t warps) {
    return (int)(2 * rows * cols + 16 * warps);
}
