// Products of halves, or of f32 that was rounded to tf32, whose operands the device copies by itself (Hopper): a tensor map, an argument of the launch, tells how an
// operand lies in memory, and one copy brings a whole tile of it, with zeros behind its ends, swizzled as matrix units read it.
//
// Threads have roles. One, in the warps behind the others, orders copies into a ring of stages; groups of four warps multiply
// what is there. They meet by semaphores: `full` counts the bytes of a stage, `empty` the warps that have done with it. A stage
// is free when the products that follow it are on their way. So no thread waits for all the others, and addresses and bounds
// cost nothing. Blocks stay, and go from tile to tile: what the next one needs first comes while the result of the last is
// stored. Those that bring give registers to those that multiply.
//
// The result goes from fragments to the hole through registers: four lanes exchange pairs, so that each has 8 columns of a row.
// Where the hole does much with an element, or takes one at a time, a warp gives its rows in `turns`, through memory behind the
// ring: the text stands once, not 16 times, and what is the same for all rows of a column is computed once for four.
//
// Where there are more tiles than blocks, warps beside the one that orders copies (`relay`) finish results: those that multiply leave
// them halves of their sums in memory and are at the next tile meanwhile. Each has memory for its rows, and two semaphores.
//
// Blocks of a cluster (`cluster`) have tiles below each other, and each brings a part of the right operand for all of them: L2 is
// asked for less. A stage is free when all of them have done with it.
//
// On an H200 with `relay` 8192 x 3072 x 768 with a bias and gelu of tanh took 73 us, not 86, 8192 x 50304 x 768 0.86 ms, not 0.94, GPT-2's forward
// 4.42 ms, not 4.58; with a residual 8192 x 2304 x 768 58 us, not 67, since that is kept as words (load_words). Three stages of 128 x 256 are fewer than it would have: multipliers wait for copies then. Twice as many of half
// the depth (lines of 64 bytes) take 1.0 to 1.04 of the time, and pairs of blocks 0.99 to 1.07: what limits long runs is power, the
// same kernel takes 70 us at first and 79 after 300 launches.
//
// Where the left operand's lines are summed, too (`total`: the gradient of a bias beside that of the weight), two warps beside the
// one that orders copies read them in the ring. On an H200 3072 x 768 x 8192 takes 68.5 us so, not 66.1, and 20 us of a kernel that
// reads it once more are over. What limits is shared memory: where tiles of the first columns do all steps 79 us, by matrix units with
// a right operand of ones 86.
//
// A prototype on an H200, against cuBLAS: 4096 x 4096 x 4096 1.01, 8192 1.02, 2048 1.00; one tile for each block 0.96 at 4096; clusters of
// two blocks that share an operand 0.7. Results that came in turns where they need not took 8192 x 50304 x 768 from 1.1 to 1.26 ms,
// strips as high as L2 keeps their rows from 1.1 to 0.94.

// fn: map
// As the driver makes it.
struct __align__(64) TC_N(map) {
    tc_u64 word[16];
};

// fn: semaphore_set
// It counts so many arrivals, and the bytes that are said to come.
TC_FN void TC_N(semaphore_set)(tc_u64 *s, int count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(s)), "r"(count) : "memory");
}

// fn: semaphores_are_set
// Copies see them behind the next barrier.
TC_FN void TC_N(semaphores_are_set)() { asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); }

// fn: semaphore_expect
// Arrives, and says how many bytes will come.
TC_FN void TC_N(semaphore_expect)(tc_u64 *s, int bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" :: "r"((unsigned)__cvta_generic_to_shared(s)), "r"(bytes) : "memory");
}

// fn: semaphore_arrive
TC_FN void TC_N(semaphore_arrive)(tc_u64 *s) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"((unsigned)__cvta_generic_to_shared(s)) : "memory");
}

// fn: semaphore_arrive_of
// At the semaphore that block `rank` of the cluster has in the same place. What units have read they have: nothing that this thread
// wrote is to be seen there, and a release for the cluster would wait for all of its memory, each time.
TC_FN void TC_N(semaphore_arrive_of)(tc_u64 *s, int rank) {
    asm volatile("{ .reg .b32 there; mapa.shared::cluster.u32 there, %0, %1; mbarrier.arrive.shared::cluster.b64 _, [there]; }"
                 :: "r"((unsigned)__cvta_generic_to_shared(s)), "r"(rank) : "memory");
}

// fn: semaphore_wait
// Until its phase of this parity is over.
TC_FN void TC_N(semaphore_wait)(tc_u64 *s, int parity) {
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @p bra done; bra again; done: }"
                 :: "r"((unsigned)__cvta_generic_to_shared(s)), "r"(parity) : "memory");
}

// fn: map_load
// The box of the map from (x, y, inner, outer) on is on its way to `to`; its bytes arrive at the semaphore.
TC_FN void TC_N(map_load)(void *to, const TC_N(map) *map, int x, int y, int inner, int outer, tc_u64 *s) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6];"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"(x), "r"(y), "r"(inner), "r"(outer), "r"((unsigned)__cvta_generic_to_shared(s))
                 : "memory");
}

// fn: map_load_to
// The same to the memory of each block of the cluster whose bit is set, in the same place, and to its semaphore.
TC_FN void TC_N(map_load_to)(int blocks, void *to, const TC_N(map) *map, int x, int y, int inner, int outer, tc_u64 *s) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%2, %3, %4, %5}], [%6], %7;"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"(x), "r"(y), "r"(inner), "r"(outer), "r"((unsigned)__cvta_generic_to_shared(s)),
                    "h"((unsigned short)blocks)
                 : "memory");
}

// fn: window_load
// The same of a map of windows: channels from c on, places from (x, y) of image n on, each so far beside and below.
TC_FN void TC_N(window_load)(void *to, const TC_N(map) *map, int c, int x, int y, int n, int beside, int below, tc_u64 *s) {
    asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                 :: "r"((unsigned)__cvta_generic_to_shared(to)), "l"(map), "r"(c), "r"(x), "r"(y), "r"(n),
                    "r"((unsigned)__cvta_generic_to_shared(s)), "h"((unsigned short)beside), "h"((unsigned short)below)
                 : "memory");
}

// fn: map_load_batch
// Of batch z: `share` of them are one in memory, `inner` lie equally far apart, and `outer` times those. For BLOCKS of a cluster.
template <class S, int BLOCKS = 1> TC_FN void TC_N(map_load_batch)(void *to, const TC_N(map) *map, int x, int y, int z, tc_u64 *s) {
    const int own = z / S::share, inner = S::outer > 1 ? own % S::inner : S::inner > 1 ? own : 0, outer = S::outer > 1 ? own / S::inner : 0;
    if constexpr (BLOCKS > 1) TC_N(map_load_to)((1 << BLOCKS) - 1, to, map, x, y, inner, outer, s);
    else TC_N(map_load)(to, map, x, y, inner, outer, s);
}

// fn: registers_give
// Four warps keep N registers for each thread,
template <int N> TC_FN void TC_N(registers_give)() { asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" :: "n"(N)); }

// fn: registers_take
// and others wait until they have N.
template <int N> TC_FN void TC_N(registers_take)() { asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" :: "n"(N)); }

// fn: window_bring
// A line of channels of a tap, of places from `place` on. What counts channels and taps is `deep`: k, or a line.
template <class S> TC_FN void TC_N(window_bring)(char *to, const TC_N(map) &map, int deep, int place, tc_u64 *s) {
    const int tap = deep / S::channels, beside = tap % S::taps * S::apart_x, below = tap / S::taps * S::apart_y;
    const int y = place / S::wide % S::tall * S::jump_y - S::low_y, x = place % S::wide * S::jump_x - S::low_x;
    TC_N(window_load)(to, &map, deep % S::channels, x, y, place / (S::wide * S::tall), beside, below, s);
}

// fn: map_bring
// LINES lines of an operand for a step of k: all at once where it runs along k, else WIDE lines at a time.
template <class S, int LINES, int WIDE = 64, int BLOCKS = 1> TC_FN void TC_N(map_bring)(char *to, const TC_N(map) &map, int line, int k, int z, tc_u64 *s) {
    if constexpr (S::windows && S::deep) {
        TC_N(window_bring)<S>(to, map, k, line, s);
    } else if constexpr (S::windows) {
        #pragma unroll
        for (int l = 0; l < LINES; l += 64) TC_N(window_bring)<S>(to + l * 128, map, line + l, k, s);
    } else if constexpr (S::deep) {
        TC_N(map_load_batch)<S, BLOCKS>(to, &map, k, line, z, s);
    } else {
        #pragma unroll
        for (int l = 0; l < LINES; l += WIDE) TC_N(map_load_batch)<S, BLOCKS>(to + l * 128, &map, line + l, k, z, s);
    }
}

// fn: turn_fours
// Pairs of four fragments that lie side by side, of four lanes: lane i gets all of fragment i.
TC_FN void TC_N(turn_fours)(float (&x)[8]) {
    #pragma unroll
    for (int o = 1; o < 4; o *= 2) {
        const bool upper = threadIdx.x & o;
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            if (i / 2 & o) continue;
            float &low = x[i], &high = x[i + 2 * o];
            const float got = __shfl_xor_sync(~0u, upper ? low : high, o);
            if (upper) low = got;
            else high = got;
        }
    }
}

// fn: nothing
// What a hole loads that loads nothing.
struct TC_N(nothing) {
};

// fn: fours
// Four fragments side by side, of a row or that 8 below: 8 columns of it.
TC_FN tc_pack<float, 8> TC_N(fours)(const float *four, int below) {
    tc_pack<float, 8> x;
    #pragma unroll
    for (int q = 0; q < 8; q++) x.at[q] = below ? four[q / 2 * 4 + q % 2 + 2] : four[q / 2 * 4 + q % 2];
    TC_N(turn_fours)(x.at);
    return x;
}

// fn: give_fours
// Fragments of a warp's 16 rows, from registers: to the hole WIDTH columns at a time. What it loads for 32 columns is on its way
// together, of halves while those before are given.
template <int COLS, int WIDTH, class Load, class Give> TC_FN void TC_N(give_fours)(const float *sum, int row, Load load, Give hole) {
    enum : int { pieces = 8 / WIDTH, each = 2 * pieces, early = WIDTH == 8 ? 32 : 0 };
    typedef decltype(load(0, 0)) Loaded;
    const int lane = threadIdx.x % 32, r = row + lane / 4, c = lane % 4 * 8;
    Loaded loaded[1 + early / 32][each];
    #pragma unroll
    for (int k = -early; k < COLS; k += 32) {
        if (k + early < COLS) {
            #pragma unroll
            for (int e = 0; e < each; e++) loaded[(k + early) / 32 % (1 + early / 32)][e] = load(r + e / pieces * 8, c + k + early + e % pieces * WIDTH);
        }
        if (k < 0) continue;
        #pragma unroll
        for (int below = 0; below < 2; below++) {
            const tc_pack<float, 8> x = TC_N(fours)(sum + k / 2, below);
            #pragma unroll
            for (int l = 0; l < pieces; l++)
                hole(x.at + l * WIDTH, r + below * 8, c + k + l * WIDTH, loaded[k / 32 % (1 + early / 32)][below * pieces + l]);
        }
    }
}

// fn: line_place
// Where an element is in a warp's memory of 16 rows: fours are exchanged so that neither lanes that write fragments nor those that
// read a row meet in a bank.
template <int WIDE> TC_FN int TC_N(line_place)(int row, int col) { return row * WIDE + (col / 4 ^ row % 4 * 2 ^ col / 32) * 4 + col % 4; }

// fn: put_lines
// A warp's fragments of WIDE columns.
template <int WIDE> TC_FN void TC_N(put_lines)(const float *sum, float *lines) {
    const int lane = threadIdx.x % 32, row = lane / 4, col = lane % 4 * 2;
    #pragma unroll
    for (int k = 0; k < WIDE / 2; k += 2)
        *(tc_pack<float, 2> *)&lines[TC_N(line_place)<WIDE>(row + k % 4 * 4, col + k / 4 * 8)] = {sum[k], sum[k + 1]};
}

// fn: give_lines
// The same some columns at a time, through the warp's own memory, so that lanes beside each other have what lies side by side, and the
// hole's text stands once. What it loads for its first rows is on its way while they come there.
template <class P, class Load, class Give> TC_FN void TC_N(give_lines)(const float *sum, float *lines, int row, Load load, Give hole) {
    enum : int { wide = P::cols / P::turns, lanes = wide / P::width, fours = P::width < 4 ? (int)P::width : 4, step = 32 / lanes };
    enum : int { most = !P::by_row ? 1 : 16 / step < 4 ? 16 / step : 4 };
    typedef decltype(load(0, 0)) Loaded;
    const int lane = threadIdx.x % 32, own = lane / lanes, col = lane % lanes * P::width;
    #pragma unroll 1
    for (int turn = 0; turn < P::turns; turn++) {
        Loaded loaded[most];
        #pragma unroll
        for (int i = 0; i < most; i++) loaded[i] = load(row + own + i * step, turn * wide + col);
        __syncwarp();
        #pragma unroll
        for (int t = 0; t < P::turns; t++)
            if (t == turn) TC_N(put_lines)<wide>(sum + t * (wide / 2), lines);
        __syncwarp();
        #pragma unroll (4 / fours)
        for (int r = own; r < 16; r += step) {
            tc_pack<float, (int)P::width> x;
            #pragma unroll
            for (int l = 0; l < P::width; l += fours)
                *(tc_pack<float, fours> *)&x.at[l] = *(const tc_pack<float, fours> *)&lines[TC_N(line_place)<wide>(r, col + l)];
            const Loaded now = loaded[0];
            #pragma unroll
            for (int i = 0; i + 1 < most; i++) loaded[i] = loaded[i + 1];
            if (P::by_row && most * step < 16) loaded[most - 1] = load(row + (r + most * step < 16 ? r + most * step : own), turn * wide + col);
            hole(x.at, row + r, turn * wide + col, now);
        }
    }
}

// fn: mapped_tile
// A tile, or a slice of one. Blocks of a cluster have tiles below each other: t is that of all of them.
template <class P, class I> struct TC_N(mapped_tile) {
    I batch, row, col, block; // row: in its batch
    int slice, begin, steps;
    enum : int { tall = P::rows * P::cluster };
    __device__ __forceinline__ TC_N(mapped_tile)(I t, I m, I n, I depth) {
        const I high = (m + (tall - 1)) / tall, across = (n + (P::cols - 1)) / P::cols;
        slice = P::slices > 1 ? (int)(t % P::slices) : 0;
        block = P::slices > 1 ? t / P::slices : t;
        batch = P::batches ? block / (high * across) : 0;
        // A strip is as high as L2 keeps its rows while columns pass by: each is read once then.
        const I fits = (I)(1 << 23) / ((I)(tall * sizeof(typename P::element))) / depth, strip = fits < 8 ? 8 : fits < high ? fits : high;
        TC_N(place_tile)<I>(P::batches ? block % (high * across) : block, high, across, row, col, strip);
        row *= tall, col *= P::cols;
        if constexpr (P::cluster > 1) row += rank() * P::rows, block = block * P::cluster + rank();
        begin = P::slices > 1 ? slice * P::length : 0;
        const int left = (int)depth - begin;
        steps = ((P::slices > 1 && left > P::length ? P::length : left) + (P::depth - 1)) / P::depth;
    }
    static __device__ __forceinline__ I count(I m, I n) {
        return (m + (tall - 1)) / tall * ((n + (P::cols - 1)) / P::cols) * (P::batches ? P::batches : 1) * P::slices;
    }
    // Of the block in its cluster; what its first tile is of them, and how many come between two of them.
    static __device__ __forceinline__ I rank() { return (I)(blockIdx.x % P::cluster); }
    static __device__ __forceinline__ I first(I j) { return P::cluster > 1 ? j / P::cluster : j; }
    static __device__ __forceinline__ I jump() { return (I)(P::cluster > 1 ? gridDim.x / P::cluster : gridDim.x); }
};

// fn: mapped_ring
// The stages, and where in them a thread is.
template <class P> struct TC_N(mapped_ring) {
    enum : int { line = P::depth * sizeof(typename P::element), left = P::rows * line, right = P::cols * line, size = left + right };
    char *memory;
    tc_u64 *full, *empty;
    int at, parity;
    __device__ __forceinline__ TC_N(mapped_ring)(char *shared) {
        memory = TC_N(align_shared)<1024>(shared);
        full = (tc_u64 *)(memory + P::stages * size), empty = full + P::stages;
        at = parity = 0;
    }
    // A stage is full when so many have arrived, and the bytes.
    __device__ __forceinline__ void begin(int arrivals = 1) {
        if (threadIdx.x == 0) {
            #pragma unroll
            for (int i = 0; i < P::stages; i++) TC_N(semaphore_set)(full + i, arrivals), TC_N(semaphore_set)(empty + i, P::threads / 32 * P::cluster + 2 * P::total);
            TC_N(semaphores_are_set)();
        }
        if constexpr (P::cluster > 1) meet();
        else __syncthreads();
    }
    // Memory of warps that give results in turns, or of a relay, behind semaphores of 16 bytes a stage.
    __device__ __forceinline__ float *lines() { return (float *)(empty + P::stages); }
    // Blocks of a cluster.
    static __device__ __forceinline__ void meet() { TC_N(cluster_arrive)(), TC_N(cluster_wait)(); }
    // A warp has done with a stage: all blocks that write into it are told.
    __device__ __forceinline__ void free(int stage) {
        const int lane = threadIdx.x % 32;
        __syncwarp(); // all of its lanes: those behind the result's end are here first
        if constexpr (P::cluster > 1) {
            if (lane < P::cluster) TC_N(semaphore_arrive_of)(empty + stage, lane);
        } else {
            if (lane == 0) TC_N(semaphore_arrive)(empty + stage);
        }
    }
    __device__ __forceinline__ void next() {
        if (++at == P::stages) at = 0, parity ^= 1;
    }
};

// fn: mapped_sums
// Sums of a thread: of each of its parts of 64 rows, in fragments of 16 x 8.
template <class P, class L, class R> struct TC_N(mapped_sums) {
    enum : int { parts = P::rows / (16 * P::high), count = P::cols / 2 };
    float sum[parts][count];

    // The row of a tile that a fragment's row is.
    static __device__ __forceinline__ int row_of(int row) { return row; }

    // A tile, from the ring.
    template <class Ring, class Meanwhile> __device__ __forceinline__ void add(Ring &ring, int steps, Meanwhile meanwhile) {
        const int first = threadIdx.x / 128 * parts;
        int before = 0;
        #pragma unroll 1
        for (int step = 0; step < steps; step++) {
            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);
            const tc_u64 a = TC_N(matrix_place)<64, (int)Ring::line>(ring.memory + ring.at * Ring::size + first * (64 * Ring::line)),
                         b = TC_N(matrix_place)<64, (int)Ring::line>(ring.memory + ring.at * Ring::size + Ring::left);
            TC_N(matrix_begin)();
            #pragma unroll
            for (int d = 0; d < Ring::line / 32; d++) {
                #pragma unroll
                for (int i = 0; i < parts; i++)
                    TC_N(wgmma)<(int)P::units, (int)P::cols, !L::deep, !R::deep>(
                        sum[i], a + i * (64 * Ring::line / 16) + d * (L::deep ? 2 : 128), b + d * (R::deep ? 2 : 128), step | d);
            }
            TC_N(matrix_commit)();
            if (step) {
                TC_N(matrix_wait)<1>();
                ring.free(before);
            }
            before = ring.at;
            ring.next();
        }
        meanwhile();
        TC_N(matrix_wait)<0>();
        ring.free(before);
    }

    template <class Load, class Give> __device__ __forceinline__ void results(float *lines, Load load, Give hole) {
        const int warp = threadIdx.x / 32, row = warp / 4 * (64 * parts) + warp % 4 * 16;
        #pragma unroll
        for (int i = 0; i < parts; i++) {
            if constexpr (P::turns > 1) TC_N(give_lines)<P>(sum[i], lines + warp * (16 * P::cols / P::turns), row + i * 64, load, hole);
            else TC_N(give_fours)<(int)P::cols, (int)P::width>(sum[i], row + i * 64, load, hole);
        }
    }
};

// fn: relay
// Halves of each warp's rows on their way to warps that finish them, 16 bytes of a row exchanged so that banks do not meet.
template <class P> struct TC_N(relay) {
    enum : int { warps = P::threads / 32, rows = P::rows / P::high, size = rows * P::cols, others = P::relay / 32 };
    tc_u16 *memory;
    tc_u64 *made, *taken; // of each warp that multiplies
    int warp, parity;
    __device__ __forceinline__ TC_N(relay)(float *shared) {
        made = (tc_u64 *)shared, taken = made + warps, memory = (tc_u16 *)(taken + warps);
        warp = threadIdx.x / 32, parity = 0;
    }
    // By one thread, before the ring begins.
    static __device__ __forceinline__ void begin(float *shared) {
        #pragma unroll
        for (int i = 0; i < 2 * warps; i++) TC_N(semaphore_set)((tc_u64 *)shared + i, i < warps ? 1 : others);
    }
    static __device__ __forceinline__ int place(int row, int eight) { return row * P::cols + (eight & ~7) * 8 + ((eight ^ row) & 7) * 8; }
    // The row of a tile that row r of a warp is.
    static __device__ __forceinline__ int row_of(int r) { return r; }
    // All lanes have done with the memory, or have written it.
    static __device__ __forceinline__ void pass(tc_u64 *to) {
        __syncwarp();
        if (threadIdx.x % 32 == 0) TC_N(semaphore_arrive)(to);
    }
    // The first of two columns of a lane, of each eight; behind the last the first of all.
    static __device__ __forceinline__ int column(int col, int cols, int eight) {
        const int c = col + eight * 8 + threadIdx.x % 4 * 2;
        return P::ragged_cols && c >= cols ? 0 : c;
    }
    // What the hole needs of columns from `col` on, beside sums: as much as there are registers for while sums come.
    template <class Loaded> struct some {
        enum : int { early = P::cols / 8 * sizeof(Loaded) <= 64 ? P::cols / 8 : sizeof(Loaded) <= 64 ? 64 / sizeof(Loaded) : 1 };
    };
    template <int EARLY, class Loaded, class Load> static __device__ __forceinline__ void ask(Loaded (&loaded)[EARLY], int col, int cols, Load load) {
        #pragma unroll
        for (int k = 0; k < EARLY; k++) loaded[k] = load(0, column(col, cols, k));
    }
    // Sums of the warp.
    template <int COUNT, int EARLY, class Loaded, class Load, class Rounded>
    __device__ __forceinline__ void put(float (&sum)[rows / 16][COUNT], Loaded (&loaded)[EARLY], int col, int cols, Load load, Rounded rounded) {
        const int lane = threadIdx.x % 32;
        TC_N(semaphore_wait)(taken + warp, parity ^ 1);
        #pragma unroll
        for (int k = 0; k < P::cols / 8; k++) {
            const int c = column(col, cols, k);
            #pragma unroll
            for (int i = 0; i < rows / 8; i++) {
                TC_N(words)<tc_pack<tc_u16, 2>> two;
                rounded(0, c, &sum[i / 2][k * 4 + i % 2 * 2], two.v.at, loaded[k % EARLY]);
                *(unsigned *)&memory[warp * size + place(i * 8 + lane / 4, k) + lane % 4 * 2] = two.w[0];
            }
            if (k + EARLY < P::cols / 8) loaded[k % EARLY] = load(0, column(col, cols, k + EARLY));
        }
        pass(made + warp);
        parity ^= 1;
    }
    // Warps that finish share units, of 16 rows and some columns, in turn; those that multiplied the last tile help with it. What the
    // hole loads of rows for the next units is on its way before. It is asked for at one place, for the first ones as well, in a turn
    // that has no units: what came from two places would be copied where they meet, which waits for it.
    template <class Load, class Give> __device__ __forceinline__ void results(bool last, Load load, Give hole) {
        enum : int { wide = P::cols / P::turns, lanes = wide / 8, step = 32 / lanes, each = 16 / step, most = P::by_row ? (int)each : 1 };
        typedef decltype(load(0, 0)) Loaded;
        enum : int { units = rows / 16 * P::turns, all = warps * units, ahead = P::by_row && most * sizeof(Loaded) <= 128 ? 2 : 1 };
        const int lane = threadIdx.x % 32, sharing = last ? others + warps : (int)others;
        Loaded loaded[ahead][most];
        auto row_at = [&](int unit, int i) { return unit / units / 4 * (4 * rows) + unit / units % 4 * 16 + unit % units / P::turns * 64 + i * step + lane / lanes; };
        auto col_at = [&](int unit) { return unit % P::turns * wide + lane % lanes * 8; };
        auto ask = [&](int e, int unit) {
            #pragma unroll
            for (int i = 0; i < most; i++) loaded[e][i] = load(row_at(unit, i), col_at(unit));
        };
        bool asked = !P::by_row;
        #pragma unroll 1
        for (int first = warp < warps ? warp + others : warp - warps; first < all; first += asked ? ahead * sharing : 0, asked = true) {
            #pragma unroll
            for (int e = 0; e < ahead; e++) {
                const int unit = first + e * sharing, then = asked ? unit + ahead * sharing : unit;
                if (asked && unit < all) {
                    const int from = unit / units, col = col_at(unit);
                    if (!P::by_row) ask(e, unit);
                    TC_N(semaphore_wait)(made + from, parity);
                    #pragma unroll
                    for (int i = 0; i < each; i++) {
                        const int r = unit % units / P::turns * 16 + i * step + lane / lanes;
                        const tc_pack<tc_u16, 8> x = *(const tc_pack<tc_u16, 8> *)&memory[from * size + place(r, col / 8)];
                        hole(x.at, row_at(unit, i), col, loaded[e][P::by_row ? i : 0]);
                    }
                    if (!last && (unit + sharing) / units != from) pass(taken + from);
                }
                if (P::by_row && then < all) ask(e, then);
            }
        }
        parity ^= 1;
    }
};

// fn: mapped_results
// What `from`, of which warps have some rows, has of a tile: to the hole.
template <class P, class Given, class I, class From, class How, class Ahead, class Result>
TC_FN void TC_N(mapped_results)(const TC_N(mapped_tile)<P, I> &tile, From &from, How how, I m, I n, Ahead ahead, Result result) {
    const I first = tile.batch * m;
    auto load = [&](int row, int col) { // something in any case: what is asked for is not waited for
        const I r = tile.row + From::row_of(row), c = tile.col + col;
        return ahead(first + (P::ragged_rows && r >= m ? m - 1 : r), P::ragged_cols && c >= n ? 0 : c);
    };
    from.results(how, load, [&](const Given *some, int row, int col, const decltype(load(0, 0)) &loaded) {
        const I r = tile.row + From::row_of(row), c = tile.col + col;
        if ((P::ragged_rows && r >= m) || (P::ragged_cols && c >= n)) return;
        result(first + r, c, some, loaded);
    });
}

// fn: mapped_sums_f8
// The same of f8, of whose sums units keep some 14 bits: those of a step, 128 elements of k, are added to what is f32, as many
// columns at a time as there are registers for: less where two blocks share them. Warps of the other rows multiply meanwhile.
template <class P, class L, class R> struct TC_N(mapped_sums_f8) : TC_N(mapped_sums)<P, L, R> {
    typedef TC_N(mapped_sums)<P, L, R> Base;
    enum : int { most = P::threads == 128 && P::cols == 128 ? 64 : 128 };
    enum : int { wide = P::cols > most ? P::cols / 2 : (int)P::cols, pieces = P::cols / wide };

    template <class Ring, class Meanwhile> __device__ __forceinline__ void add(Ring &ring, int steps, Meanwhile) {
        const int first = threadIdx.x / 128 * Base::parts;
        #pragma unroll
        for (int i = 0; i < Base::parts * Base::count; i++) this->sum[i / Base::count][i % Base::count] = 0;
        #pragma unroll 1
        for (int step = 0; step < steps; step++) {
            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);
            const tc_u64 a = TC_N(matrix_place)(ring.memory + ring.at * Ring::size + first * (64 * Ring::line)),
                         b = TC_N(matrix_place)(ring.memory + ring.at * Ring::size + Ring::left);
            #pragma unroll
            for (int i = 0; i < Base::parts * pieces; i++) {
                float some[wide / 2];
                TC_N(matrix_begin)();
                #pragma unroll
                for (int d = 0; d < Ring::line / 32; d++)
                    TC_N(wgmma_f8)<(int)P::units, wide>(some, a + i / pieces * (64 * Ring::line / 16) + d * 2, b + i % pieces * (wide * Ring::line / 16) + d * 2, d);
                TC_N(matrix_commit)();
                TC_N(matrix_wait)<0>();
                TC_N(matrix_keep)<wide / 2>(some);
                #pragma unroll
                for (int q = 0; q < wide / 2; q++) this->sum[i / pieces][i % pieces * (wide / 2) + q] += some[q];
            }
            ring.free(ring.at);
            ring.next();
        }
    }
};

// fn: total_meets
// Sums of eight lines by four lanes each; the last of the tiles beside each other gives those of all, a lane two of the lines.
template <class P, class I, class Give> TC_FN void TC_N(total_meets)(float (&sum)[8], unsigned *tickets, float *work, I ticket, int mine, int across, Give give) {
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int q = 0; q < 8; q++) sum[q] += __shfl_xor_sync(~0u, sum[q], 16);
    #pragma unroll
    for (int q = 0; q < 8; q++) sum[q] += __shfl_xor_sync(~0u, sum[q], 8);
    #pragma unroll
    for (int q = 0; q < 8; q++)
        if (q / 2 == lane / 8) work[mine * P::rows + lane % 8 * 8 + q] = sum[q];
    if (!TC_N(warp_arrives_last)(tickets + ticket, across)) return;
    #pragma unroll
    for (int l = lane; l < 64; l += 32) {
        float all = 0;
        for (int c = 0; c < across; c++) all += TC_N(peek)(&work[c * P::rows + l]);
        give(l, &all);
    }
}

// fn: mapped_total
// Sums of the left operand's lines over all of k, by two warps that have nothing else to do: they read in the ring what is
// multiplied. Each has every other 64 lines, a thread eight of them at every fourth place of a step. Tiles beside each other
// share steps, as shared memory is nearly all that those who multiply need; the last of them to be done adds what all have.
template <class P, class Ring, class I, class Total> TC_FN void TC_N(mapped_total)(Ring &ring, unsigned *tickets, float *work, I t, I m, I n, I depth, Total total) {
    typedef TC_N(mapped_tile)<P, I> Tile;
    enum : int { parts = (P::rows + 64) / 128 };
    const int lane = threadIdx.x % 32, first = threadIdx.x / 32 - P::threads / 32 - 1, eight = lane % 8, own = lane / 8;
    const int across = (int)((n + (P::cols - 1)) / P::cols);
    #pragma unroll 1
    for (t = Tile::first(t); t < Tile::count(m, n); t += Tile::jump()) {
        const Tile tile(t, m, n, depth);
        const int mine = (int)tile.col / P::cols;
        float sum[parts][8] = {};
        #pragma unroll 1
        for (int step = 0; step < tile.steps; step++, ring.next()) {
            TC_N(semaphore_wait)(ring.full + ring.at, ring.parity);
            if (step % across == mine) {
                #pragma unroll
                for (int i = 0; i < parts; i++) {
                    if ((first + 2 * i) * 64 >= P::rows) break;
                    const char *const lines = ring.memory + ring.at * Ring::size + (first + 2 * i) * (64 * Ring::line) + own * 128;
                    #pragma unroll
                    for (int k = 0; k < P::depth; k += 4) {
                        const tc_pack<unsigned, 4> x = *(const tc_pack<unsigned, 4> *)&lines[k * 128 + (eight ^ own ^ (k & 4)) * 16];
                        #pragma unroll
                        for (int q = 0; q < 4; q++) P::add(sum[i][2 * q], sum[i][2 * q + 1], x.at[q]);
                    }
                }
            }
            ring.free(ring.at);
        }
        #pragma unroll
        for (int i = 0; i < parts; i++) {
            const int line = (first + 2 * i) * 64;
            if (line >= P::rows) break;
            TC_N(total_meets)<P>(sum[i], tickets, work + tile.row * across + line, tile.row / 64 + first + 2 * i, mine, across, [&](int l, const float *all) {
                if (!P::ragged_rows || tile.row + line + l < m) total(0, tile.row + line + l, all);
            });
        }
    }
}

// fn: mapped_multiply
// What groups of warps that multiply do with the block's tiles, from t on; `give` is what they do with the sums of one, and
// `meanwhile` what they do while the last of these come.
template <class P, class Sums, class Ring, class I, class Meanwhile, class Give>
TC_FN void TC_N(mapped_multiply)(Ring &ring, unsigned *tickets, float *work, I t, I m, I n, I depth, Meanwhile meanwhile, Give give) {
    typedef TC_N(mapped_tile)<P, I> Tile;
    Sums sums;
    #pragma unroll 1
    for (t = Tile::first(t); t < Tile::count(m, n); t += Tile::jump()) {
        const Tile tile(t, m, n, depth);
        sums.add(ring, tile.steps, [&]() { meanwhile(tile); });
        if constexpr (P::slices > 1)
            if (!TC_N(meet)<P, Sums::parts * Sums::count, (int)P::threads>((float *)sums.sum, tickets, work, tile.block, tile.slice)) continue;
        give(tile, sums);
    }
}

// fn: mapped
// j: of the launch's blocks. m: rows of a batch; n, depth: columns, and k.
template <template <class, class, class> class Multiplied, class P, class L, class R, class I, class Before, class Rounded, class Ahead, class Result, class Total>
TC_FN void TC_N(mapped)(char *shared, unsigned *tickets, float *work, I j, I m, I n, I depth, const TC_N(map) &left, const TC_N(map) &right, Before before, Rounded rounded, Ahead ahead, Result result, Total total) {
    typedef TC_N(mapped_tile)<P, I> Tile;
    typedef TC_N(mapped_ring)<P> Ring;
    typedef Multiplied<P, L, R> Sums;
    const int part = (R::deep ? P::cols : P::depth) / P::cluster; // of the right tile's rows in memory a block brings so many, for all
    Ring ring(shared);
    if constexpr (P::relay)
        if (threadIdx.x == 0) TC_N(relay)<P>::begin(ring.lines());
    ring.begin();
    const I tiles = Tile::count(m, n), jump = Tile::jump();
    if constexpr (P::threads == 256)
        if ((int)threadIdx.x >= P::threads) TC_N(registers_give)<P::total ? 56 : !P::relay ? 40 : P::by_row ? 120 : 104>();
    if ((int)threadIdx.x >= P::threads + P::relay) {
        const int warp = threadIdx.x / 32 - (P::threads + P::relay) / 32;
        if constexpr (P::total)
            if (warp == 1 || warp == 2) TC_N(mapped_total)<P>(ring, tickets, work, j, m, n, depth, total);
        if ((int)threadIdx.x != P::threads + P::relay) return;
        ring.parity = 1; // stages are empty
        #pragma unroll 1
        for (I t = Tile::first(j); t < tiles; t += jump) {
            const Tile tile(t, m, n, depth);
            #pragma unroll 1
            for (int step = 0; step < tile.steps; step++, ring.next()) {
                const int k = tile.begin + step * P::depth;
                char *const to = ring.memory + ring.at * Ring::size;
                TC_N(semaphore_wait)(ring.empty + ring.at, ring.parity);
                TC_N(semaphore_expect)(ring.full + ring.at, Ring::size);
                TC_N(map_bring)<L, (int)P::rows>(to, left, (int)tile.row, k, (int)tile.batch, ring.full + ring.at);
                const int own = (int)Tile::rank() * part;
                TC_N(map_bring)<R, (int)P::cols, 64, (int)P::cluster>(to + Ring::left + own * (R::deep ? (int)Ring::line : 128), right, (int)tile.col + (R::deep ? own : 0), k + (R::deep ? 0 : own), (int)tile.batch, ring.full + ring.at);
            }
        }
        if constexpr (P::cluster > 1) ring.meet();
        return;
    }
    if constexpr (P::relay) {
        TC_N(relay)<P> relay(ring.lines());
        if ((int)threadIdx.x >= P::threads) {
            #pragma unroll 1
            for (I t = Tile::first(j); t < tiles; t += jump) TC_N(mapped_results)<P, tc_u16>(Tile(t, m, n, depth), relay, t + jump >= tiles, m, n, ahead, result);
            return;
        }
        TC_N(registers_take)<P::by_row ? 192 : 200>(); // those that finish have 16 more for what they ask for of rows
        typedef decltype(before(0, 0)) Loaded;
        Loaded loaded[TC_N(relay)<P>::template some<Loaded>::early];
        TC_N(mapped_multiply)<P, Sums>(ring, tickets, work, j, m, n, depth, [&](const Tile &tile) { relay.ask(loaded, (int)tile.col, (int)n, before); },
            [&](const Tile &tile, Sums &sums) { relay.put(sums.sum, loaded, (int)tile.col, (int)n, before, rounded); });
        if (Tile::first(j) >= tiles) return;
        const I end = Tile::first(j) + (tiles - 1 - Tile::first(j)) / jump * jump; // the last of them
        relay.parity ^= 1; // it is behind that tile
        TC_N(mapped_results)<P, tc_u16>(Tile(end, m, n, depth), relay, true, m, n, ahead, result);
    } else {
        if constexpr (P::threads == 256) TC_N(registers_take)<P::total ? 224 : 232>();
        TC_N(mapped_multiply)<P, Sums>(ring, tickets, work, j, m, n, depth, [](const Tile &) {}, [&](const Tile &tile, Sums &sums) {
            TC_N(mapped_results)<P, float>(tile, sums, ring.lines(), m, n, ahead, result);
        });
    }
    if constexpr (P::cluster > 1) ring.meet(); // no block ends while another still writes to it
}
