// Products of few rows or columns, and those that make the rows of their left operand themselves. The other operand is
// read once; sums are made by lanes along k, or by slices of k, and meet in shared memory, from where the hole `result`
// takes them.
//
// Of a kernel are: P, its type `sum` and the numbers of TC__SKINNY_...; and functions as in tiles.cuh: wide gives `width`
// elements of the wide operand, few those of the other at the same k, ahead what of the wide one is the same for all
// of k. Where rows are made: rows makes those of turn t, all threads together, and the left operand is told which of
// the block's; what needs no row is under way before, the wide operand as far as registers go, and early.
//
// The launch may work beside the one before it, whose results the hole `result` alone reads: see tc_begin_beside. One row's
// q, k and v, or gate and up, of a decoder are so. (Where rows are results of the one before, to read the weight's first vectors
// beside it is no gain: a LLaMA-shaped step took an H200 970 us so, not 951; nor is to ask for it in L2.)

// fn: skinny_block
// A block's part of the result, and what a thread has of it.
template <class P, class I> struct TC_N(skinny_block) {
    typedef typename P::sum T;
    enum : int {
        lanes = P::threads / P::sharing, // COLUMNS: side by side
        high = P::by_rows ? P::cover : P::few, // rows and columns
        broad = P::by_rows ? P::few : P::cover,
        many = P::few * P::cover,
        parts = P::dot ? (P::sharing > 32 ? P::sharing / 32 : 1) : P::threads / 32,
        each = P::dot ? P::each : P::width,
        packs = P::dot ? P::each : 1, // of the wide operand, for a step of a thread
        deep = P::dot ? P::width : 1, // of k
        stride = P::sharing * deep,
        sums = P::few * each
    };
    typedef tc_pack<T, P::width> wide_packs[packs];
    typedef T all_sums[P::few][each]; // apart: places are registers before sums are
    int slice, x, y, lane, group, own;   // own: of a step along k
    I block, r0, r1, c0, n, begin, end;

    __device__ __forceinline__ void first(I j, I m, I cols, I depth) {
        const I down = (m + (high - 1)) / high, across = (cols + (broad - 1)) / broad;
        slice = P::slices > 1 ? (int)((unsigned)j % (unsigned)P::slices) : 0;
        block = P::slices > 1 ? (I)((unsigned)j / (unsigned)P::slices) : j;
        const I place = P::batches ? block % (down * across) : block, batch = P::batches ? block / (down * across) * m : 0;
        r0 = batch + place / across * high, r1 = batch + m, c0 = place % across * broad, n = cols;
        begin = P::slices > 1 ? (I)slice * P::length : 0;
        end = P::slices > 1 && (!P::ragged_depth || begin + P::length < depth) ? begin + P::length : depth;
        x = threadIdx.x % lanes * P::width, y = threadIdx.x / lanes;
        lane = threadIdx.x % P::sharing, group = threadIdx.x / P::sharing * P::each;
        own = P::dot ? lane * P::width : y;
    }
    // Lines that lie outside are the last ones inside, once more.
    __device__ __forceinline__ I row(I r, int width) const { return P::ragged_rows && r > r1 - width ? r1 - width : r; }
    __device__ __forceinline__ I column(I c, int width) const { return P::ragged_cols && c > n - width ? n - width : c; }
    // What of the wide operand is the thread's at k.
    template <class H> __device__ __forceinline__ void wides(I k, wide_packs &wide, H hole) const {
        #pragma unroll
        for (int u = 0; u < packs; u++) {
            const int line = P::dot ? group + u : x, width = P::dot ? 1 : P::width;
            if constexpr (P::by_rows) hole((I)line, row(r0 + line, width), k, wide[u].at);
            else hole(r0, column(c0 + line, width), k, wide[u].at);
        }
    }
    template <class H> __device__ __forceinline__ void step(all_sums &sum, I k, const wide_packs &wide, H hole) const {
        #pragma unroll
        for (int i = 0; i < P::few; i++) {
            tc_pack<T, deep> few;
            if constexpr (P::by_rows) hole(r0, (I)i, k, few.at);
            else hole((I)i, row(r0 + i, 1), k, few.at);
            #pragma unroll
            for (int u = 0; u < each * deep; u++)
                sum[i][u / deep] = TC_N(add_product)(few.at[u % deep], wide[P::dot ? u / deep : 0].at[P::dot ? u % deep : u], sum[i][u / deep]);
        }
    }
    __device__ __forceinline__ void put(const all_sums &sum, T *tile) const {
        #pragma unroll
        for (int i = 0; i < sums; i++) {
            T v = sum[i / each][i % each];
            if constexpr (!P::dot) {
                for (int o = 16; o >= lanes; o /= 2) v = TC_N(plus)(v, __shfl_xor_sync(~0u, v, o));
                if ((int)threadIdx.x % 32 < lanes) tile[(threadIdx.x / 32 * P::few + i / each) * P::cover + x + i % each] = v;
            } else {
                for (int o = P::sharing > 32 ? 16 : P::sharing / 2; o; o /= 2) v = TC_N(plus)(v, __shfl_xor_sync(~0u, v, o));
                if (lane % 32 == 0) tile[lane / 32 * many + i / each * P::cover + group + i % each] = v;
            }
        }
    }
    // Where element `at` of the result is.
    __device__ __forceinline__ I row_of(int at) const { return r0 + (P::by_rows ? at % P::cover : at / P::cover); }
    __device__ __forceinline__ I column_of(int at) const { return P::by_rows ? (I)(at / P::cover) : c0 + at % P::cover; }
};

// fn: make_rows
// All of a block, in turns.
template <class P, class I, class Block, class Rows> TC_FN void TC_N(make_rows)(const Block &b, Rows rows) {
    const int together = P::threads / P::making, turns = (b.high + together - 1) / together;
    #pragma unroll 1
    for (int t = 0; t < turns; t++) {
        const I r = b.r0 + t * together + threadIdx.x / P::making;
        rows((I)t, r < b.r1 ? r : b.r1 - 1, b.c0);
    }
    __syncthreads();
}

// fn: skinny
template <class P, class I, class Rows, class Wide, class Few, class Ahead, class Early, class Result>
TC_FN void TC_N(skinny)(char *shared, unsigned *tickets, typename P::sum *work, I j, I m, I n, I depth, Rows rows, Wide wide_hole, Few few_hole,
                        Ahead ahead, Early early, Result result, tc_i64 beside) {
    typedef typename P::sum T;
    typedef TC_N(skinny_block)<P, I> B;
    T *const tile = (T *)shared;
    typename B::wide_packs held[P::steps > 0 ? P::steps : 1];
    typename B::all_sums sum;
    B b;
    b.first(j, m, n, depth);
    #pragma unroll
    for (int i = 0; i < B::sums; i++) sum[i / B::each][i % B::each] = 0;
    if constexpr (P::steps > 0) {
        #pragma unroll
        for (int s = 0; s < P::steps; s++) {
            const I k = b.own + s * B::stride;
            b.wides(k < depth - B::deep ? k : depth - B::deep, held[s], wide_hole);
        }
    }
    if constexpr (P::early) {
        const int at = threadIdx.x < B::many ? threadIdx.x : B::many - 1;
        early(b.row(b.row_of(at), 1), b.column(b.column_of(at), 1));
    }
    if constexpr (P::making > 0) TC_N(make_rows)<P, I>(b, rows);
    if constexpr (P::steps > 0) {
        #pragma unroll
        for (int s = 0; s < P::steps; s++) {
            const I k = b.own + s * B::stride;
            if (k < depth) b.step(sum, k, held[s], few_hole);
        }
    } else {
        if constexpr (P::ahead && P::by_rows) ahead(b.r0, b.row(b.r0 + b.x, P::width));
        if constexpr (P::ahead && !P::by_rows) ahead(b.r0, b.column(b.c0 + b.x, P::width));
        #pragma unroll (P::unrolled)
        for (I k = b.begin + b.own; k < b.end; k += B::stride) {
            b.wides(k, held[0], wide_hole);
            b.step(sum, k, held[0], few_hole);
        }
    }
    TC_N(follow)(beside);
    if constexpr (P::slices > 1)
        if (!TC_N(meet)<P, B::sums>(&sum[0][0], tickets, work, b.block, b.slice)) return;
    b.put(sum, tile);
    __syncthreads();
    for (int at = threadIdx.x; at < B::many; at += P::threads) {
        const I r = b.row_of(at), c = b.column_of(at);
        if ((P::ragged_rows && r >= b.r1) || (P::ragged_cols && c >= n)) continue;
        T all[1] = {tile[at]};
        for (int i = 1; i < B::parts; i++) all[0] = TC_N(plus)(all[0], tile[at + i * B::many]);
        result(r, c, all);
    }
}
