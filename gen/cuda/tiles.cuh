// Products in tiles. A ring of stages holds tiles of the operands. Step i multiplies stage i while stage i + stages - 1 is
// on its way. What is multiplied next is fetched to registers while the present is, also from the stage of the next
// step: so the one barrier of a step stands before its last piece, and a stage is written anew one step after it was
// read.
//
// Fetching ahead is 4.5 % of a bf16 product of 4096, and 26 registers; a fourth stage 3 % more; copies spread over the
// pieces, other orders of mma and a result in one part 2 % or less. mma.sync with nothing around it reaches 626 TFLOP/s,
// cuBLAS (wgmma) 694, this 430 to 455, at the card's limit of power. Addresses of copies move by steps. NVRTC's code of
// the same text is slower than nvcc's (its addresses in shared memory have 64 bits): measure with NVRTC.
//
// Of a kernel are: P, its types `sum`, `element` (what holes give) and `stored` (what shared memory has) and the numbers
// of TC__TILES_...; L and R, how an operand is read: `bring`; `deep`: accesses of `width` elements are along k, else along
// its lines; `stepped`: accesses lie apart by strides that are known; and functions: left and right give elements (or
// their address) at (first row of the batch, line, k), left_one and right_one a single one, result takes those of
// `width` columns.

// fn: plus
// Integers wrap.
template <class T> TC_FN T TC_N(plus)(T a, T b) {
    if constexpr ((T)0.5 != (T)0) return a + b;
    else return (T)((tc_u64)a + (tc_u64)b);
}

// fn: add_product
// a * b + c: one fma, of floats; integers wrap.
template <class T> TC_FN T TC_N(add_product)(T a, T b, T c) {
    if constexpr ((T)0.5 == (T)0) return (T)((tc_u64)a * (tc_u64)b + (tc_u64)c);
    else if constexpr (sizeof(T) == 4) return fmaf(a, b, c);
    else return fma(a, b, c);
}

// fn: as_stored
// An element as shared memory has it: of tf32, its leading bits. The tensor cores would cut the others off.
template <class P> TC_FN typename P::stored TC_N(as_stored)(typename P::element v) {
    if constexpr (P::way == 3) return TC_N(bits_tf32)(v);
    else return v;
}

// fn: pitch
// Elements between lines of a tile that lies along k: so that neighbours are in other banks. Those of halves are swizzled.
template <class P> __device__ constexpr int TC_N(pitch)(int lines) {
    return P::way == 1 || P::way == 4 ? lines : lines + (P::way == 0 ? (int)P::pack : 8);
}

// fn: word_line
// Where a line of a tile of words (of tf32, and of f32 that is split) stands at k. Of windows along k, places of eight lines
// change with every four of it, so that lanes that write four of k, of eight lines, meet no bank twice, as those that read do
// not: 0.92 of a convolution's time (of an operand that comes by steps 1.03 of a product's). The line is first + more, where
// ALIGN divides first, but for lanes, and more is known.
template <class S, int ALIGN> TC_FN int TC_N(word_line)(int first, int more, int k) {
    if constexpr (!S::deep || S::stepped) return first + more;
    else if constexpr (ALIGN % 32 == 0) return first + (more ^ (k >> 2 & 3) * 8);
    else return (first + more) ^ (k >> 2 & 3) * 8;
}

// fn: cut
// Zeros behind the first n.
template <class E, int N> TC_FN void TC_N(cut)(tc_pack<E, N> &some, int n) {
    #pragma unroll
    for (int u = 0; u < N; u++)
        if (u >= n) some.at[u] = 0;
}

// fn: stage_places
// Where accesses to the tiles of an operand are, of LINES lines. For matrix units (`grouped`) shared memory has rows of 64
// elements: what runs along the operand's lines has the first 64 of them for all k of a step, then the next.
template <class P, class S, int LINES> struct TC_N(stage_places) {
    enum : int {
        grouped = P::way == 4,
        along = grouped ? 64 : S::deep ? P::depth : LINES, // what accesses are along: elements of it in the tile,
        lanes = along / S::width,                          //   and accesses
        jump = P::threads / lanes                          // lines between accesses of a thread
    };
    // Of access e: its line in the tile, and its place along k.
    TC_FN int line(int e) {
        if constexpr (grouped && !S::deep) return e / (lanes * P::depth) * along + e % lanes * S::width;
        else return S::deep ? e / lanes : e % lanes * S::width;
    }
    TC_FN int deep(int e) {
        if constexpr (grouped && !S::deep) return e / lanes % P::depth;
        else return S::deep ? e % lanes * S::width : e / lanes;
    }
    // How far the thread's access j is from its first, where accesses are stepped.
    template <class I> TC_FN I far(int j) {
        if constexpr (grouped && !S::deep)
            return (I)(j * jump % P::depth) * (I)S::deep_stride + (I)(j * jump / P::depth * along) * (I)S::line_stride;
        else return (I)j * ((I)jump * (I)(S::deep ? S::line_stride : S::deep_stride));
    }
    TC_FN int swizzled(int e) {
        return TC_N(swizzle)<along>(e / lanes, e % lanes * S::width);
    }
};

// fn: stage
// Brings the tiles of an operand.
enum : int { TC_BRING_VALUES, TC_BRING_LATER, TC_BRING_NOW, TC_BRING_ASYNC };
template <class P, class S, int LINES, bool RAGGED, class I> struct TC_N(stage) {
    typedef TC_N(stage_places)<P, S, LINES> F;
    typedef typename P::element E;
    typedef typename P::stored M;
    enum : int {
        count = LINES * P::depth / S::width / P::threads, // accesses of a thread
        halves = P::way == 1 || P::way == 4, pitch = TC_N(pitch)<P>(LINES),
        size = P::depth * pitch,
        always = !RAGGED && !P::ragged_depth, last = S::deep ? (int)P::last % (int)S::width : 0
    };
    M *ring;
    const E *from; // of the first access of the thread
    int place;
    typedef tc_pack<E, S::width> packs[count];

    // Where the thread's first access comes from, and where its copy goes to: chunks of a tile change places alike in
    // every 8 lines.
    template <class H> __device__ __forceinline__ void first(I row, I lines, I k, H hole) {
        if constexpr (S::stepped) {
            const int e = threadIdx.x;
            if constexpr (S::bring == TC_BRING_ASYNC) place = F::swizzled(e);
            from = hole(row, lines + F::line(e), k + F::deep(e), true);
        }
    }
    template <class H> __device__ __forceinline__ void copy(int j, int to, I row, I l, I k, int inside, H hole) {
        const int e = threadIdx.x + j * P::threads;
        M *at;
        const E *source;
        if constexpr (S::stepped) {
            at = &ring[to * size + place + j * (int)F::jump * (int)F::along];
            source = from + F::template far<I>(j);
        } else {
            at = &ring[to * size + F::swizzled(e)];
            source = hole(row, l, k, inside != 0);
            if (!source) inside = 0; // outside of an image
        }
        if constexpr (always && S::stepped) TC_N(copy_async16)(at, source);
        else TC_N(copy_async16_of)(at, source, inside * (int)sizeof(E));
    }
    template <class H> __device__ __forceinline__ void later(packs &next, int j, I row, I l, I k, int inside, H hole) {
        if constexpr (!always) next[j] = {};
        if (!inside) return;
        if constexpr (S::stepped) next[j] = TC_N(load)((const tc_pack<E, S::width> *)(from + F::template far<I>(j)));
        else hole(row, l, k, next[j].at);
        if constexpr (last) TC_N(cut)(next[j], inside);
    }
    template <class H> __device__ __forceinline__ void now(int j, int to, I row, I l, I k, int inside, H hole) {
        const int e = threadIdx.x + j * P::threads;
        tc_pack<E, S::width> one = {};
        if (inside) hole(row, l, k, one.at);
        if constexpr (halves) ring[to * size + F::swizzled(e)] = one.at[0];
        else ring[to * size + place_of(F::deep(e), F::line(e))] = TC_N(as_stored)<P>(one.at[0]);
    }
    // Of an element of words in a stage.
    __device__ __forceinline__ int place_of(int k, int line) const {
        if constexpr (P::way == 0) return k * pitch + line;
        else return k * pitch + TC_N(word_line)<S, 1>(line, 0, k);
    }
    // The stage of k.. is on its way to `to`, or to registers.
    template <class H> __device__ __forceinline__ void bring(packs &next, int to, I row, I first, I end, I k0, I depth, H hole) {
        #pragma unroll (S::bring == TC_BRING_NOW ? 4 : (int)count)
        for (int j = 0; j < count; j++) {
            const int e = threadIdx.x + j * P::threads;
            const I l = first + F::line(e), k = k0 + F::deep(e);
            const bool some = (!RAGGED || l < end) && (!P::ragged_depth || k < depth);
            const int inside = !some ? 0 : last && depth - k < S::width ? (int)last : (int)S::width;
            if constexpr (S::bring == TC_BRING_ASYNC) copy(j, to, row, l, k, inside, hole);
            else if constexpr (S::bring == TC_BRING_LATER) later(next, j, row, l, k, inside, hole);
            else now(j, to, row, l, k, inside, hole);
        }
        if constexpr (S::stepped) from += (I)S::deep_stride * (I)P::depth;
    }
    // From registers to shared memory: whole accesses where the tile's lines run as they do.
    __device__ __forceinline__ void put(const packs &next, int to) {
        if constexpr (S::bring == TC_BRING_LATER) {
            #pragma unroll
            for (int j = 0; j < count; j++) {
                const int e = threadIdx.x + j * P::threads;
                if constexpr (halves) {
                    *(tc_pack<M, S::width> *)&ring[to * size + F::swizzled(e)] = next[j];
                } else if constexpr (S::deep || S::width < P::pack) {
                    #pragma unroll
                    for (int u = 0; u < S::width; u++)
                        ring[to * size + place_of(F::deep(e) + (S::deep ? u : 0), F::line(e) + (S::deep ? 0 : u))] =
                            TC_N(as_stored)<P>(next[j].at[u]);
                } else {
                    #pragma unroll
                    for (int u = 0; u < S::width; u += P::pack) {
                        tc_pack<M, P::pack> some;
                        #pragma unroll
                        for (int v = 0; v < P::pack; v++) some.at[v] = TC_N(as_stored)<P>(next[j].at[u + v]);
                        *(tc_pack<M, P::pack> *)&ring[to * size + place_of(F::deep(e), F::line(e) + u)] = some;
                    }
                }
            }
        }
    }
};

// fn: tile_march
// How a block's sums come to the hole: through shared memory by rows of warps.
template <class P> struct TC_N(tile_march) {
    enum : int { waits = P::stages - 2 }; // groups of copies that may be on their way
    TC_FN char *memory(char *shared) { return shared; }

    template <class W, class Give>
    static __device__ __forceinline__ void results(const W &way, const typename W::sum_type &sum, typename P::sum *tile, Give give) {
        const int warp = threadIdx.x / 32, packs = P::cols / P::width;
        #pragma unroll 1
        for (int part = 0; part < P::high; part++) {
            __syncthreads();
            if (warp / P::across == part) way.result(sum, tile);
            __syncthreads();
            #pragma unroll 1
            for (int e = threadIdx.x; e < W::warprows * packs; e += P::threads)
                give(&tile[e / packs * W::pitch + e % packs * P::width], part * W::warprows + e / packs, e % packs * P::width);
        }
    }
};

// fn: tile_simt
// One fused multiply-add a step, in the order of k. A thread's sums are packs of rows and columns, 4 and 8 of them apart,
// so that a warp reads each operand in one go.
template <class P, class L, class R> struct TC_N(tile_simt) {
    typedef typename P::sum T;
    typedef tc_pack<T, P::pack> pack;
    enum : int {
        warprows = P::rows / P::high, warpcols = P::cols / P::across, rows = warprows / 4, cols = warpcols / 8,
        rowpacks = rows / P::pack, colpacks = cols / P::pack, rowstep = 4 * P::pack, colstep = 8 * P::pack,
        pitch = P::cols + 8, piece = 1, sums = rows * cols,
        leftpitch = TC_N(pitch)<P>(P::rows), rightpitch = TC_N(pitch)<P>(P::cols)
    };
    typedef TC_N(tile_march)<P> march;
    typedef pack sum_type[rows][colpacks], left_type[2][rowpacks], right_type[2][colpacks];
    typedef char step_type[1];
    int row, col;

    __device__ __forceinline__ void begin(sum_type &sum) {
        const int x = threadIdx.x, warp = x / 32, lane = x % 32;
        row = warp / P::across * warprows + lane / 8 * P::pack;
        col = warp % P::across * warpcols + lane % 8 * P::pack;
        #pragma unroll
        for (int i = 0; i < sums; i++) ((T *)sum)[i] = 0;
    }
    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const T *left, const T *right, int at, int d, int to) const {
        #pragma unroll
        for (int i = 0; i < rowpacks; i++)
            lefts[to][i] = *(const pack *)&left[(at * P::depth + d) * leftpitch + row + i * rowstep];
        #pragma unroll
        for (int j = 0; j < colpacks; j++)
            rights[to][j] = *(const pack *)&right[(at * P::depth + d) * rightpitch + col + j * colstep];
    }
    // Columns to and fro: a register is used again where the next row begins.
    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            #pragma unroll
            for (int c = 0; c < cols; c++) {
                const int j = i % 2 ? cols - 1 - c : c;
                T &s = sum[i][j / P::pack].at[j % P::pack];
                s = TC_N(add_product)(lefts[now][i / P::pack].at[i % P::pack], rights[now][j / P::pack].at[j % P::pack], s);
            }
        }
    }
    __device__ __forceinline__ void result(const sum_type &sum, T *tile) const {
        const int x = threadIdx.x, lane = x % 32;
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            #pragma unroll
            for (int j = 0; j < colpacks; j++)
                *(pack *)&tile[(lane / 8 * P::pack + i / P::pack * rowstep + i % P::pack) * pitch + col + j * colstep] = sum[i][j];
        }
    }
};

// fn: tile_fragments
// What the ways by tensor cores have: sums in fragments of 16 x 8.
template <class P> struct TC_N(tile_fragments) {
    enum : int {
        warprows = P::rows / P::high, warpcols = P::cols / P::across, rows = warprows / 16, cols = warpcols / 8,
        pitch = P::cols + 8, sums = rows * cols * 4
    };
    typedef TC_N(tile_march)<P> march;
    typedef float sum_type[rows][cols][4];
    int row, col;

    __device__ __forceinline__ void begin(sum_type &sum) {
        const int x = threadIdx.x, warp = x / 32;
        row = warp / P::across * warprows, col = warp % P::across * warpcols;
        #pragma unroll
        for (int i = 0; i < sums; i++) sum[i / 4 / cols][i / 4 % cols][i % 4] = 0;
    }
    __device__ __forceinline__ void result(const sum_type &sum, float *tile) const {
        const int x = threadIdx.x, lane = x % 32;
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            #pragma unroll
            for (int j = 0; j < cols; j++) {
                float *const two = &tile[(lane / 4 + i * 16) * pitch + col + j * 8 + lane % 4 * 2];
                *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};
                *(tc_pack<float, 2> *)&two[8 * pitch] = {sum[i][j][2], sum[i][j][3]};
            }
        }
    }
};

// fn: tile_halves
// Halves, in fragments of 16 x 16; the right operand's are two of 16 x 8. What runs along k in shared memory is read as it
// lies, the other turned.
template <class P, class L, class R> struct TC_N(tile_halves) : TC_N(tile_fragments)<P> {
    typedef TC_N(tile_fragments)<P> F;
    enum : int { rows = F::rows, cols = F::cols, piece = 16, leftline = L::deep ? P::depth : P::rows, rightline = R::deep ? P::depth : P::cols };
    typedef typename F::sum_type sum_type;
    typedef unsigned left_type[2][rows][4], right_type[2][cols][2];
    typedef char step_type[1];
    int leftlane, rightlane;

    __device__ __forceinline__ void begin(sum_type &sum) {
        const int x = threadIdx.x, lane = x % 32;
        F::begin(sum);
        leftlane = L::deep ? TC_N(swizzle)<leftline>(F::row + lane % 16, lane / 16 * 8)
                           : TC_N(swizzle)<leftline>(lane / 16 * 8 + lane % 8, F::row + lane / 8 % 2 * 8);
        rightlane = R::deep ? TC_N(swizzle)<rightline>(F::col + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8)
                            : TC_N(swizzle)<rightline>(lane % 16, F::col + lane / 16 * 8);
    }
    // Places of a tile differ from the lane's first in bits that swizzling changes alike.
    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const tc_u16 *left, const tc_u16 *right, int at, int d, int to) const {
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            const int stage = at * (P::depth * P::rows);
            if constexpr (L::deep) TC_N(ldmatrix4)(lefts[to][i], &left[stage + i * (16 * P::depth) + (leftlane ^ d)]);
            else TC_N(ldmatrix4_trans)(lefts[to][i], &left[stage + d * P::rows + (leftlane ^ i * 16)]);
        }
        #pragma unroll
        for (int j = 0; j < cols; j += 2) {
            const int stage = at * (P::depth * P::cols);
            unsigned two[4];
            if constexpr (R::deep) TC_N(ldmatrix4)(two, &right[stage + j * (8 * P::depth) + (rightlane ^ d)]);
            else TC_N(ldmatrix4_trans)(two, &right[stage + d * P::cols + (rightlane ^ j * 8)]);
            rights[to][j][0] = two[0], rights[to][j][1] = two[1];
            rights[to][j + 1][0] = two[2], rights[to][j + 1][1] = two[3];
        }
    }
    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            #pragma unroll
            for (int c = 0; c < cols; c++) {
                const int j = i % 2 ? cols - 1 - c : c;
                P::mma(sum[i][j], lefts[now][i], rights[now][j]);
            }
        }
    }
};

// fn: group_march
// By matrix units, which have one step before them while what is behind the next comes. A stage is written anew two steps after
// it was given to them: all threads have waited for it, and met. Each warp brings its own sums to the hole.
template <class P> struct TC_N(group_march) {
    enum : int { ahead = P::stages - 2, waits = ahead - 1 };
    TC_FN char *memory(char *shared) { return TC_N(align_shared)<1024>(shared); }

    template <class W, class Lefts, class Rights, class Bring, class Put, class Wait>
    static __device__ __forceinline__ void add(W &way, typename W::sum_type &sum, const Lefts &lefts, const Rights &rights, int steps, Bring bring, Put put, Wait wait) {
        #pragma unroll 1
        for (int step = 0; step < ahead; step++) bring(step, step), put(step);
        int at = 0;
        #pragma unroll 1
        for (int step = 0; step < steps; step++) {
            const int to = at + ahead < P::stages ? at + ahead : at - 2;
            wait();
            TC_N(proxy_fence)();
            __syncthreads();
            way.multiply(sum, lefts.ring + at * lefts.size, rights.ring + at * rights.size);
            bring(step + ahead, to);
            TC_N(matrix_wait)<1>();
            put(to);
            at = at == P::stages - 1 ? 0 : at + 1;
        }
        TC_N(matrix_wait)<0>();
    }
    template <class W, class Give>
    static __device__ __forceinline__ void results(const W &way, const typename W::sum_type &sum, typename P::sum *tile, Give give) {
        const int warp = threadIdx.x / 32, lane = threadIdx.x % 32, packs = P::cols / P::width;
        typename P::sum *const mine = tile + warp * (16 * W::pitch);
        __syncthreads();
        #pragma unroll
        for (int i = 0; i < W::rows; i++) {
            const int row = (warp / 4 * W::rows + i) * 64 + warp % 4 * 16;
            if (i) __syncwarp();
            way.result(sum[i], mine);
            __syncwarp();
            #pragma unroll 4
            for (int e = lane; e < 16 * packs; e += 32)
                give(&mine[e / packs * W::pitch + e % packs * P::width], row + e / packs, e % packs * P::width);
        }
    }
};

// fn: tile_groups
// Halves by matrix units: four warps multiply 64 rows of a tile by all its columns, both in shared memory, while their threads
// go on. Lanes have sums as in fragments of 16 x 8.
template <class P, class L, class R> struct TC_N(tile_groups) {
    enum : int { rows = P::rows / (16 * P::high), pitch = P::cols + 8, sums = rows * P::cols / 2, size = 64 * P::depth };
    typedef TC_N(group_march)<P> march;
    typedef float sum_type[rows][P::cols / 2];

    __device__ __forceinline__ void begin(sum_type &sum) {
        #pragma unroll
        for (int i = 0; i < sums; i++) sum[i / (P::cols / 2)][i % (P::cols / 2)] = 0;
    }
    // Gives a step to the matrix units.
    __device__ __forceinline__ void multiply(sum_type &sum, const tc_u16 *left, const tc_u16 *right) const {
        const int first = threadIdx.x / 128 * rows;
        const tc_u64 b = TC_N(matrix_place)(right);
        TC_N(matrix_begin)();
        #pragma unroll
        for (int d = 0; d < P::depth / 16; d++) {
            #pragma unroll
            for (int i = 0; i < rows; i++) {
                const tc_u64 a = TC_N(matrix_place)(left + (first + i) * size);
                TC_N(wgmma)<(int)P::units, (int)P::cols, !L::deep, !R::deep>(sum[i], a + d * (L::deep ? 2 : 128), b + d * (R::deep ? 2 : 128), 1);
            }
        }
        TC_N(matrix_commit)();
    }
    // The warp's 16 of 64 rows, from fragments to lines.
    __device__ __forceinline__ void result(const float (&sum)[P::cols / 2], float *tile) const {
        const int lane = threadIdx.x % 32;
        #pragma unroll
        for (int j = 0; j < P::cols / 8; j++) {
            float *const two = &tile[lane / 4 * pitch + j * 8 + lane % 4 * 2];
            *(tc_pack<float, 2> *)two = {sum[j * 4], sum[j * 4 + 1]};
            *(tc_pack<float, 2> *)&two[8 * pitch] = {sum[j * 4 + 2], sum[j * 4 + 3]};
        }
    }
};

// fn: tile_words
// Fragments of 16 x 8 and 8 x 8 of words; a lane has elements of the rows or columns lane / 4 and 8 behind, at lane % 4
// and 4 behind along k.
template <class P, class L, class R> struct TC_N(tile_words) : TC_N(tile_fragments)<P> {
    typedef TC_N(tile_fragments)<P> F;
    typedef typename P::stored M;
    enum : int { rows = F::rows, cols = F::cols, piece = 8, leftpitch = TC_N(pitch)<P>(P::rows), rightpitch = TC_N(pitch)<P>(P::cols) };
    typedef M left_type[2][rows][4], right_type[2][cols][2];

    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const M *left, const M *right, int at, int d, int to) const {
        const int x = threadIdx.x, lane = x % 32, k = lane % 4, row = F::row + lane / 4, col = F::col + lane / 4;
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            #pragma unroll
            for (int u = 0; u < 4; u++) {
                const int deep = d + u / 2 * 4, line = TC_N(word_line)<L, F::warprows>(row, i * 16 + u % 2 * 8, deep);
                lefts[to][i][u] = left[(at * P::depth + deep + k) * leftpitch + line];
            }
        }
        #pragma unroll
        for (int j = 0; j < cols; j++) {
            #pragma unroll
            for (int u = 0; u < 2; u++) {
                const int deep = d + u * 4, line = TC_N(word_line)<R, F::warpcols>(col, j * 8, deep);
                rights[to][j][u] = right[(at * P::depth + deep + k) * rightpitch + line];
            }
        }
    }
};

// fn: tile_tf32
// f32 by its 11 leading bits alone, where allow_tf32 is set: rounded on their way to shared memory.
template <class P, class L, class R> struct TC_N(tile_tf32) : TC_N(tile_words)<P, L, R> {
    typedef TC_N(tile_words)<P, L, R> F;
    typedef typename F::sum_type sum_type;
    typedef typename F::left_type left_type;
    typedef typename F::right_type right_type;
    typedef char step_type[1];

    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {
        #pragma unroll
        for (int i = 0; i < F::rows; i++) {
            #pragma unroll
            for (int c = 0; c < F::cols; c++) {
                const int j = i % 2 ? F::cols - 1 - c : c;
                TC_N(mma_tf32)(sum[i][j], lefts[now][i], rights[now][j]);
            }
        }
    }
};

// fn: tile_split
// f32 as the sum of its 11 leading bits and of the rest: three of the four products count. Tensor cores do not round
// sums to nearest, so those of a step are added to the others outside: that is nearer to the sum than a chain of f32 is.
template <class P, class L, class R> struct TC_N(tile_split) : TC_N(tile_words)<P, L, R> {
    typedef TC_N(tile_words)<P, L, R> F;
    enum : int { rows = F::rows, cols = F::cols };
    typedef typename F::sum_type sum_type;
    typedef typename F::left_type left_type;
    typedef typename F::right_type right_type;
    typedef sum_type step_type;

    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &some, int d, int now, bool last) const {
        unsigned rightlead[cols][2], rightrest[cols][2];
        #pragma unroll
        for (int j = 0; j < cols; j++) TC_N(split)(rights[now][j], rightlead[j], rightrest[j]);
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            unsigned lead[4], rest[4];
            TC_N(split)(lefts[now][i], lead, rest);
            float (&s)[cols][4] = some[i];
            #pragma unroll
            for (int j = 0; j < cols; j++) {
                if (d == 0) s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;
                TC_N(mma_tf32)(s[j], rest, rightlead[j]);
            }
            #pragma unroll
            for (int j = 0; j < cols; j++) TC_N(mma_tf32)(s[j], lead, rightrest[j]);
            #pragma unroll
            for (int j = 0; j < cols; j++) TC_N(mma_tf32)(s[j], lead, rightlead[j]);
            #pragma unroll
            for (int u = 0; u < 4 * cols; u++)
                if (last) sum[i][u / 4][u % 4] += s[u / 4][u % 4];
        }
    }
};

// fn: meet
// Blocks that share sums meet in groups of neighbours: the last of a group adds what all have, in their order.
// Then those of the groups meet, and one goes on: `own` is of all of k then. False = this block has done its part. THREADS:
// that meet, the first of the block; 0 = all do.
template <class P, int SUMS, int THREADS = 0, class T> TC_FN bool TC_N(meet)(T *own, unsigned *tickets, T *work, tc_i64 block, int slice) {
    const int together = 64 / SUMS < 1 ? 1 : 64 / SUMS > 4 ? 4 : 64 / SUMS;
    T *const sums = work + block * P::slices * SUMS * P::threads + threadIdx.x;
    #pragma unroll 1
    for (int apart = 1; apart < P::slices; apart *= P::group) {
        const int first = slice / (apart * P::group) * (apart * P::group);
        const int left = (P::slices - 1 - first) / apart + 1, count = left < P::group ? left : P::group;
        T *const mine = sums + slice / apart * apart * SUMS * P::threads;
        #pragma unroll
        for (int u = 0; u < SUMS; u++) mine[u * P::threads] = own[u];
        if (!TC_N(arrives_last)<THREADS>(tickets + block * (P::slices + 1) + first + (apart > 1), count)) return false;
        #pragma unroll
        for (int u = 0; u < SUMS; u++) own[u] = TC_N(peek)(&sums[(first * SUMS + u) * P::threads]);
        #pragma unroll (together)
        for (int i = 1; i < count; i++) {
            const T *const other = sums + (first + i * apart) * SUMS * P::threads;
            #pragma unroll
            for (int u = 0; u < SUMS; u++) own[u] = TC_N(plus)(own[u], TC_N(peek)(&other[u * P::threads]));
        }
    }
    return true;
}

// fn: sum_again
// 3xTF32 sums what is not finite anew, by a chain which stops at NaN: inf - inf is no rest.
template <class P, class I, class Left, class Right>
TC_FN void TC_N(sum_again)(typename P::sum *sums, I r, I c, I depth, Left left_one, Right right_one) {
    #pragma unroll 1
    for (int l = 0; l < P::width; l++) {
        if (TC_N(is_finite)(sums[l])) continue;
        typename P::sum sum = 0, a[1], b[1];
        for (I k = 0; k < depth && sum == sum; k++) {
            left_one(r, r, k, a), right_one(r, c + l, k, b);
            sum = TC_N(add_product)(a[0], b[0], sum);
        }
        sums[l] = sum;
    }
}

// fn: tiles
// m: rows of a batch; n, depth: columns, and k.
template <template <class, class, class> class Way, class P, class L, class R, class I, class Left, class Right, class LeftOne, class RightOne, class Result>
TC_FN void TC_N(tiles)(char *shared, unsigned *tickets, typename P::sum *work, I j, I m, I n, I depth, Left left_hole, Right right_hole,
                       LeftOne left_one, RightOne right_one, Result result) {
    typedef typename P::sum T;
    typedef typename P::stored M;
    typedef Way<P, L, R> W;
    const int slice = P::slices > 1 ? (int)((unsigned)j % (unsigned)P::slices) : 0;
    const I block = P::slices > 1 ? (I)((unsigned)j / (unsigned)P::slices) : j;
    const I high = (m + (P::rows - 1)) / P::rows, across = (n + (P::cols - 1)) / P::cols;
    I down, along;
    TC_N(place_tile)<I>(P::batches ? block % (high * across) : block, high, across, down, along);
    const I first = P::batches ? block / (high * across) * m : 0;
    const I r0 = first + down * P::rows, r1 = first + m, c0 = along * P::cols;
    const I begin = P::slices > 1 ? (I)slice * P::length : 0;
    const I end = P::slices > 1 && begin + P::length < depth ? begin + P::length : depth;
    typedef TC_N(stage)<P, L, P::rows, (bool)P::ragged_rows, I> Lefts;
    typedef TC_N(stage)<P, R, P::cols, (bool)P::ragged_cols, I> Rights;
    Lefts lefts;
    Rights rights;
    W way;
    // Arrays stand apart from what says where they are: the compiler has that in registers before it unrolls.
    typename Lefts::packs leftnext;
    typename Rights::packs rightnext;
    typename W::sum_type sum;
    shared = W::march::memory(shared);
    T *const tile = (T *)shared; // when the operands are done
    lefts.ring = (M *)shared, rights.ring = (M *)shared + P::stages * lefts.size;
    way.begin(sum);
    lefts.first(r0, r0, begin, left_hole);
    rights.first(r0, c0, begin, right_hole);
    const int steps = (int)((end - begin + (P::depth - 1)) / P::depth);
    // What step `step` multiplies is on its way to stage `to`; what comes in registers is put there later, also where
    // nothing more came.
    auto bring = [&](int step, int to) {
        if (step < steps) {
            const I k0 = begin + (I)step * P::depth;
            lefts.bring(leftnext, to, r0, r0, r1, k0, depth, left_hole);
            rights.bring(rightnext, to, r0, c0, n, k0, depth, right_hole);
        }
        if constexpr (L::bring == TC_BRING_ASYNC || R::bring == TC_BRING_ASYNC) TC_N(copy_commit)();
    };
    auto put = [&](int to) { lefts.put(leftnext, to), rights.put(rightnext, to); };
    auto wait = [&] {
        if constexpr (L::bring == TC_BRING_ASYNC || R::bring == TC_BRING_ASYNC) TC_N(copy_wait)<W::march::waits>();
    };
    if constexpr (P::way == 4) {
        W::march::add(way, sum, lefts, rights, steps, bring, put, wait);
    } else {
        // In line: as a function of its own it takes more registers than there are. Fragments are fetched one piece ahead,
        // also from the stage of the next step.
        typename W::step_type step_sum;
        typename W::left_type left;
        typename W::right_type right;
        #pragma unroll 1
        for (int step = 0; step < P::stages - 1; step++) bring(step, step), put(step);
        wait();
        __syncthreads();
        way.fetch(left, right, lefts.ring, rights.ring, 0, 0, 0);
        int at = 0; // the stage of this step; the one before it is free
        #pragma unroll 1
        for (int step = 0; step < steps; step++) {
            const int to = P::stages == 2 ? 1 - at : at ? at - 1 : P::stages - 1;
            #pragma unroll
            for (int d = 0; d < P::depth; d += W::piece) {
                const int now = d / W::piece % 2;
                const bool last = d + W::piece == P::depth;
                if (last) {
                    put(to);
                    wait();
                    __syncthreads();
                    at = P::stages == 2 ? 1 - at : at == P::stages - 1 ? 0 : at + 1;
                }
                if (d == 0) bring(step + P::stages - 1, to);
                way.fetch(left, right, lefts.ring, rights.ring, at, last ? 0 : d + W::piece, 1 - now);
                way.multiply(sum, left, right, step_sum, d, now, last);
            }
        }
    }
    if constexpr (P::slices > 1)
        if (!TC_N(meet)<P, W::sums>((T *)sum, tickets, work, block, slice)) return;
    W::march::results(way, sum, tile, [&](const T *sums, int row, int col) {
        const I r = r0 + row, c = c0 + col;
        const int access = P::width < P::pack ? P::width : P::pack;
        tc_pack<T, P::width> all;
        if ((P::ragged_rows && r >= r1) || (P::ragged_cols && c >= n)) return;
        #pragma unroll
        for (int l = 0; l < P::width; l += access) *(tc_pack<T, access> *)&all.at[l] = *(const tc_pack<T, access> *)&sums[l];
        if constexpr (P::way == 2) TC_N(sum_again)<P>(all.at, r, c, depth, left_one, right_one);
        result(r, c, all.at);
    });
}
