// CUDA as devices have it: all that stands above.
//
// These printers stand on the inside of tcompile.h, so both implementations are in one
// file. Kernels could have come to them as text, or as a public structure, but every form
// would have been written down twice. gen/cuda, below, uses declarations alone, but for
// what registers the language.

// Whether value v of the knob differs from what the rules say: see kernel/tune.c.
static int tc__cuda_knob_fits(const tc__group *g, int knob, int v) {
    tc__group plain = *g;
    memset(&plain.shape.tuning, 0, sizeof plain.shape.tuning);
    return tc__device_knob_fits(&plain, knob, v);
}

static const tc__language tc__language_cuda = {
    &tc__dialect_cuda,
    tc__print_cuda_prelude,
    tc__cuda_knob_fits,
    {tc__text_cuda_spread, (uint32_t)TC__COUNT(tc__text_cuda_spread)},
};
