// Products of f32 as tf32 by matrix units, whose operands are no tf32 yet: such units take them along k alone, and cut the
// bits off that are to be rounded. So both are rounded to nearest on their way, and a launch needs no other before it.
//
// The left operand comes as in mapped.cuh, by a tensor map. The groups of warps that multiply read it to registers, as
// fragments of 16 x 8, from lines along k or along rows, and round it there; units take one operand from registers. Of a
// tile that runs along rows a fragment has rows 4 apart, and others 16 apart: no two lanes look into one bank then, and the
// result is told which rows they are. The right operand is brought by the four warps beside them: four elements along what is
// contiguous for each access, or one by one, a step ahead, rounded in registers and stored as the units want them; squares of 4 x 4 turn
// what runs along columns. A tile of 256 x 128 has them bring a third of the bytes.

// fn: wgmma_words
// d += a * b, or without `keep` d = a * b, 64 x N x 8, of tf32; the four warps have a in registers, as fragments of 16 x 8, and
// b runs along k. The numbers of operands are those of wgmma.
#define TC_WGMMA_WORDS "{ .reg .pred p; setp.ne.b32 p, %1, 0; wgmma.mma_async.sync.aligned.m64n"
template <int N> TC_FN void TC_N(wgmma_words)(float (&d)[N / 2], const unsigned (&a)[4], tc_u64 b, int keep) {
    if constexpr (N == 64)
        asm volatile(TC_WGMMA_WORDS "64k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_64 "}, {%34, %35, %36, %37}, %0, p, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    if constexpr (N == 128)
        asm volatile(TC_WGMMA_WORDS "128k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_128 "}, {%66, %67, %68, %69}, %0, p, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    if constexpr (N == 256)
        asm volatile(TC_WGMMA_WORDS "256k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_256 "}, {%130, %131, %132, %133}, %0, p, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96)
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
}

// fn: held_right
// A tile of the right operand in registers of 128 threads.
template <class P, class R> struct TC_N(held_right) {
    enum : int { count = P::cols * P::depth / 512 }; // accesses of a thread
    tc_pack<float, 4> some[count];

    // Of access j: its line, and place along k. Where accesses are along lines four of them are a square, and a warp has 32
    // lines of 16 k.
    static __device__ __forceinline__ int line(int j) {
        const int t = threadIdx.x % 128, lane = t % 32, block = t / 32 + j / 4 * 4;
        if constexpr (R::deep) return t / 8 + j * 16;
        else return block % (P::cols / 32) * 32 + (lane % 2 + lane / 8 * 2) * 4;
    }
    static __device__ __forceinline__ int deep(int j) {
        const int t = threadIdx.x % 128, lane = t % 32, block = t / 32 + j / 4 * 4;
        if constexpr (R::deep) return t % 8 * 4;
        else return block / (P::cols / 32) * 16 + lane / 2 % 4 * 4 + j % 4;
    }
    // A step is on its way.
    template <class Tile, class I, class Hole> __device__ __forceinline__ void load(const Tile &tile, int step, I m, I n, I depth, Hole hole) {
        const I first = tile.batch * m, k0 = tile.begin + step * P::depth;
        const float *from = nullptr;
        if constexpr (R::stepped) from = hole(first, tile.col + line(0), k0 + deep(0), true);
        #pragma unroll
        for (int j = 0; j < count; j++) {
            const I l = tile.col + line(j), k = k0 + deep(j);
            const bool inside = (!P::ragged_cols || l < n) && (!P::ragged_depth || k < depth);
            if constexpr (P::ragged_cols || P::ragged_depth) some[j] = {};
            if constexpr (R::width == 1) {
                #pragma unroll
                for (int u = 0; u < 4; u++) {
                    const I own = R::deep ? l : l + u, at = R::deep ? k + u : k;
                    if ((!P::ragged_cols || own < n) && (!P::ragged_depth || at < depth)) hole(first, own, at, &some[j].at[u]);
                }
            } else if constexpr (R::stepped) {
                const I far = (I)(line(j) - line(0)) * (I)R::line_stride + (I)(deep(j) - deep(0)) * (I)R::deep_stride;
                if (inside) some[j] = TC_N(load)((const tc_pack<float, 4> *)(from + far));
            } else if (inside) {
                hole(first, l, k, some[j].at);
            }
        }
    }
    // Four along k, in their line's chunk of 16 bytes.
    static __device__ __forceinline__ void put_four(char *to, int line, int k, float a, float b, float c, float d) {
        const tc_pack<unsigned, 4> four = {TC_N(bits_tf32)(a), TC_N(bits_tf32)(b), TC_N(bits_tf32)(c), TC_N(bits_tf32)(d)};
        *(tc_pack<unsigned, 4> *)(to + line * 128 + (k / 4 ^ line % 8) * 16) = four;
    }
    __device__ __forceinline__ void put(char *to) const {
        if constexpr (R::deep) {
            #pragma unroll
            for (int j = 0; j < count; j++) put_four(to, line(j), deep(j), some[j].at[0], some[j].at[1], some[j].at[2], some[j].at[3]);
        } else {
            #pragma unroll
            for (int j = 0; j < count; j += 4) {
                #pragma unroll
                for (int l = 0; l < 4; l++)
                    put_four(to, line(j) + l, deep(j), some[j].at[l], some[j + 1].at[l], some[j + 2].at[l], some[j + 3].at[l]);
            }
        }
    }
};

// fn: held_bring
// Four warps bring all tiles of the block: one thread orders those of the left operand.
template <class P, class L, class R, class I, class Ring, class Right>
TC_FN void TC_N(held_bring)(Ring &ring, I t, I m, I n, I depth, const TC_N(map) &left, Right right) {
    typedef TC_N(mapped_tile)<P, I> Tile;
    typedef TC_N(held_right)<P, R> Rights;
    const I tiles = Tile::count(m, n), jump = (I)gridDim.x;
    if (t >= tiles) return;
    Tile tile(t, m, n, depth);
    int step = 0;
    Rights odd, even;
    ring.parity = 1; // stages are empty
    // What comes next is on its way while the present is stored; false = nothing does.
    auto bring = [&](Rights &now, Rights &next) {
        char *const to = ring.memory + ring.at * Ring::size;
        tc_u64 *const full = ring.full + ring.at;
        const int row = (int)tile.row, k = tile.begin + step * P::depth, batch = (int)tile.batch;
        if (++step == tile.steps) {
            step = 0, t += jump;
            if (t < tiles) tile = Tile(t, m, n, depth);
        }
        if (t < tiles) next.load(tile, step, m, n, depth, right);
        TC_N(semaphore_wait)(ring.empty + ring.at, ring.parity);
        if ((int)threadIdx.x == P::threads) {
            TC_N(semaphore_expect)(full, Ring::left);
            TC_N(map_bring)<L, (int)P::rows, 32>(to, left, row, k, batch, full);
        }
        now.put(to + Ring::left);
        TC_N(proxy_fence)();
        __syncwarp();
        if (threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(full);
        ring.next();
        return t < tiles;
    };
    even.load(tile, step, m, n, depth, right);
    #pragma unroll 1
    while (bring(even, odd) && bring(odd, even)) {
    }
}

// fn: held_sums
// Those of mapped.cuh. A group has what it multiplies in a step in registers first, then gives all of it to the units: they
// are busy for so long that another group does the same meanwhile.
template <class P, class L, class R> struct TC_N(held_sums) : TC_N(mapped_sums)<P, L, R> {
    typedef TC_N(mapped_sums)<P, L, R> F;
    enum : int { parts = F::parts, pieces = P::depth / 8 };
    unsigned piece[pieces][parts][4]; // bits: what units read stays in its registers

    // 16 x 8 of each part, from k on: rows lane / 4 and 8 behind, at lane % 4 and 4 behind along k.
    __device__ __forceinline__ void fetch(const char *left, int p) {
        const int warp = threadIdx.x / 32 % 4, lane = threadIdx.x % 32, x = lane / 4, y = lane % 4;
        left += threadIdx.x / 128 * parts * (64 * 128);
        #pragma unroll
        for (int i = 0; i < parts * 4; i++) {
            const int behind = i % 2, k = p * 8 + y + i / 2 % 2 * 4;
            int at;
            if constexpr (L::deep) at = (warp * 16 + x + behind * 8) * 128 + (k / 4 ^ x) * 16 + y * 4;
            else at = warp / 2 * 4096 + k * 128 + ((warp % 2 * 2 + x / 4 * 4 + behind) ^ k % 8) * 16 + x % 4 * 4;
            piece[p][i / 4][i % 4] = TC_N(bits_tf32)(*(const float *)(left + i / 4 * (64 * 128) + at));
        }
    }
    static __device__ __forceinline__ int row_of(int row) {
        if constexpr (L::deep) return row;
        else return (row & ~28) | (row & 4) << 2 | (row & 8) >> 1 | (row & 16) >> 1;
    }
    template <class Ring, class Meanwhile> __device__ __forceinline__ void add(Ring &ring, int steps, Meanwhile) {
        int before = 0;
        #pragma unroll 1
        for (int step = 0; step < steps; step++) {
            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);
            const char *const left = ring.memory + ring.at * Ring::size;
            const tc_u64 b = TC_N(matrix_place)(left + Ring::left);
            TC_N(matrix_wait)<0>(); // pieces are read, and with them the stage before
            __syncwarp(); // by all lanes
            if (step && threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(ring.empty + before);
            #pragma unroll
            for (int p = 0; p < pieces; p++) fetch(left, p);
            TC_N(matrix_begin)();
            #pragma unroll
            for (int p = 0; p < pieces; p++) {
                #pragma unroll
                for (int i = 0; i < parts; i++) TC_N(wgmma_words)<(int)P::cols>(F::sum[i], piece[p][i], b + p * 2, step | p);
            }
            TC_N(matrix_commit)();
            before = ring.at;
            ring.next();
        }
        TC_N(matrix_wait)<0>();
        __syncwarp();
        if (threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(ring.empty + before);
    }
};

// fn: held
// j: of the launch's blocks. m: rows of a batch; n, depth: columns, and k.
template <class P, class L, class R, class I, class Right, class Ahead, class Result>
TC_FN void TC_N(held)(char *shared, unsigned *tickets, float *work, I j, I m, I n, I depth, const TC_N(map) &left, Right right, Ahead ahead, Result result) {
    typedef TC_N(mapped_ring)<P> Ring;
    Ring ring(shared);
    ring.begin(1 + 4); // who orders copies, and each warp that brings
    if ((int)threadIdx.x >= P::threads) {
        if constexpr (P::threads == 256) TC_N(registers_give)<104>();
        TC_N(held_bring)<P, L, R, I>(ring, j, m, n, depth, left, right);
        return;
    }
    if constexpr (P::threads == 256) TC_N(registers_take)<200>();
    typedef TC_N(held_sums)<P, L, R> Sums;
    typedef TC_N(mapped_tile)<P, I> Tile;
    TC_N(mapped_multiply)<P, Sums>(ring, tickets, work, j, m, n, depth, [](const Tile &) {}, [&](const Tile &tile, Sums &sums) {
        TC_N(mapped_results)<P, float>(tile, sums, ring.lines(), m, n, ahead, result);
    });
}
