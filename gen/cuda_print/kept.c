// CUDA dialect, halves that wait in registers: words, as they were loaded, where nothing else is stored there. As elements each
// would be taken out at once, and the thread would wait for each load before it asks for the next, where loops have ends that
// blocks share: sums down 8192 rows of 2304 bf16 took 53 us of an H200, and 128 registers.
//
//     tc_kept<32> held0;                                            // 32 halves
//     held0.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[c]));
//     ... tc_of_bf16(held0[8 * u + l]) ...

static int tc__cuda_is_kept(const tc__printer *p, int64_t b) {
    return b < 64 && (int)(p->kept >> b & 1);
}

// `held0.set(8 * u, `
static void tc__cuda_set_kept_at(tc__printer *p, int64_t b, tc__ix e) {
    tc__put_buffer(p, b);
    tc__put(p->out, ".set(");
    tc__put_ix(p, e);
    tc__put(p->out, ", ");
}

static void tc__cuda_set_kept(tc__printer *p, const tc__node *store) {
    tc__cuda_set_kept_at(p, store->attr[TC__STORE_BUFFER],
                         tc__cuda_first(p, store->attr[TC__STORE_INDEX]));
}

// The STORE of a buffer of registers that LOAD n is for alone, a vector to its place; NULL = it is for something else.
static const tc__node *tc__cuda_passed(const tc__printer *p, const tc__node *n) {
    const tc__node *store = NULL;
    if (n->op != TC_OP_LOAD || !tc__cuda_is_whole(p, n) || p->vector->width % 2)
        return NULL;
    for (uint32_t id = n->id + 1; id < p->g->body.node.count; id++) {
        const tc__node *m = tc__body(p, id);
        if (m->op == TC_OP_FOR || m->op == TC_OP_END || !tc__has_operand(m, n->id))
            continue;
        if (store || m->op != TC_OP_STORE || id >= p->vector->end) return NULL;
        store = m;
    }
    if (!store || tc__buffer_of(p->g, store)->place != TC__BUF_REGISTER) return NULL;
    if (tc__cuda_dtype(p, store) != tc__cuda_dtype(p, n)) return NULL;
    int whole = tc__cuda_moves_by(p, store->attr[TC__STORE_INDEX]) == TC__CONTIGUOUS &&
                tc__cuda_starts_at_multiple(p, store->attr[TC__STORE_INDEX]);
    return whole ? store : NULL;
}

// Whether n, in the vector, is a LOAD or STORE of what is kept, which stands before the loop.
static int tc__cuda_is_passed(const tc__printer *p, const tc__node *n) {
    if (!p->vector || n->id < p->vector->begin || n->id >= p->vector->end) return 0;
    if (n->op == TC_OP_STORE) return tc__cuda_is_kept(p, n->attr[TC__STORE_BUFFER]);
    const tc__node *store = n->op == TC_OP_LOAD ? tc__cuda_passed(p, n) : NULL;
    return store && tc__cuda_is_kept(p, store->attr[TC__STORE_BUFFER]);
}

// Whether STORE n, in the loop at `loop`, is of a vector as it was loaded.
static int tc__cuda_stores_words(tc__printer *p, const tc__node *n, uint32_t loop) {
    tc__cuda_vector v;
    const tc__node *from = n->n_in ? tc__body(p, n->in[0]) : n;
    if (!tc__cuda_vector_open(p, &v, tc__body(p, loop), tc__loop_end(p->g, loop))) return 0;
    int words = from->id >= v.begin && tc__cuda_passed(p, from) == n;
    tc__cuda_vector_close(p, &v);
    return words;
}

// Whether all that nodes [begin, end) store in buffer b are vectors as they were loaded.
static int tc__cuda_keeps(tc__printer *p, int64_t b, uint32_t begin, uint32_t end) {
    const tc__kbuf *k = &p->g->buffer.at[b];
    uint32_t loop = 0, stores = 0;
    if (k->place != TC__BUF_REGISTER || !tc__is_half(k->dtype) ||
        tc__ix_value(k->numel) % 2)
        return 0;
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op == TC_OP_FOR && n->attr[TC__FOR_BIND] == TC__BIND_VECTOR) loop = id;
        if ((n->op == TC_OP_PUT || n->op == TC_OP_GET) && n->attr[TC__ACCESS_BUFFER] == b)
            return 0;
        if (n->op == TC_OP_COPY && n->attr[TC__COPY_BUFFER] == b) {
            tc__place from = p->g->buffer.at[n->attr[TC__COPY_FROM]].place;
            if (n->attr[TC__COPY_ELEMENTS] % 2 || from == TC__BUF_SHARED) return 0;
            stores++;
        }
        if (n->op != TC_OP_STORE || n->attr[TC__STORE_BUFFER] != b) continue;
        if (!loop || id >= tc__loop_end(p->g, loop) || !tc__cuda_stores_words(p, n, loop))
            return 0;
        stores++;
    }
    return stores > 0;
}

static void tc__cuda_choose_kept(tc__printer *p, uint32_t begin, uint32_t end) {
    uint64_t kept = 0;
    p->kept = 0;
    for (size_t b = 0; b < p->g->buffer.count && b < 64; b++)
        if (tc__cuda_keeps(p, (int64_t)b, begin, end)) kept |= (uint64_t)1 << b;
    p->kept = kept;
}
