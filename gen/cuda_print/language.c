// CUDA as devices have it: all that stands above.
//
// These printers stand on the inside of tcompile.h, so both implementations are in one
// file. Kernels could have come to them as text, or as a public structure, but every form
// would have been written down twice. gen/cuda, below, uses declarations alone, but for
// what registers the language.

// Whether value v of the knob differs from what the rules say: see kernel/tune.c.
static int tc__cuda_knob_fits(const tc__group *g, int knob, int v) {
    tc__group plain = *g;
    if (tc__device_has_list(g)) return 0;
    memset(&plain.shape.tuning, 0, sizeof plain.shape.tuning);
    tc__cuda_plan q = tc__cuda_plan_of(&plain);
    if (knob == TC__KNOB_PRODUCT_TILE && q.form == TC__CUDA_PRODUCT)
        return tc__product_tile_fits(&plain, v);
    if (q.form != TC__CUDA_FLAT) return 0;
    if (knob == TC__KNOB_BLOCK_THREADS)
        return tc__cuda_flat_threads[v] != q.threads && tc__ix_hi(g->body.ix, q.blocks) > 1;
    if (knob != TC__KNOB_VECTORS || tc__cuda_flat_vectors[v] == q.vectors) return 0;
    int64_t blocks = tc__ix_hi(g->body.ix, q.blocks) / tc__cuda_flat_vectors[v];
    return tc__cuda_flat_vectors[v] <= tc__cuda_vectors(g, &q, TC__CUDA_FLIGHT) &&
           blocks * q.vectors >= TC__CUDA_SMS;
}

static const tc__language tc__language_cuda = {
    &tc__dialect_cuda,
    tc__print_cuda_prelude,
    tc__cuda_knob_fits,
    {tc__text_cuda_spread, (uint32_t)TC__COUNT(tc__text_cuda_spread)},
};
