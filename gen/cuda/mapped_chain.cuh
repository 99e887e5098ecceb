// Products whose left operand is made of other products (chain.cuh), by matrix units that read shared memory, of operands that
// the device brings by itself (mapped.cuh).
//
// A group of four warps has 64 rows, a block two or three groups, and one thread more that orders copies: the left tiles of a
// block of rows, then a ring of steps of columns. Sums of the first products are the left fragments of the last one, which takes
// them from registers: they are never in shared memory. Streamed, the first product of the next step is on its way before the
// exponentials of the present one are made, and so is the last product of the step before; groups are not in step with each
// other, so that one multiplies while another makes exponentials. Blocks stay, and go from rows to rows, those with the most
// columns first; operands of what comes next arrive while results are stored, left ones too where `ahead` is 2.
//
// Which columns of a band count is said here, and only of steps that its edge crosses: the hole's scores are those of columns
// that count. Where they are sums times `scale` (a float's bits), the hole is not asked at all: the
// exponent is one fma. Of scores that are made twice over (`same`), the last right operand is the first one, and comes once.

// fn: chain_block
// A block of rows, and the columns that they look at. With a band, heads whose right operands L2 has go together, so that all
// their heavy blocks come first.
template <class P, class I> struct TC_N(chain_block) {
    I batch, down, begin;
    int steps;
    __device__ __forceinline__ TC_N(chain_block)(I t, I m, I keys) {
        const I high = (m + (P::rows - 1)) / P::rows, batches = P::batches ? P::batches : 1;
        const I fits = (I)((1 << 24) / ((P::depth + P::wide) * 2)) / keys;
        const I beside = !P::band || fits < 1 ? 1 : fits < batches ? fits : batches;
        const I first = t / (beside * high) * beside, heads = batches - first < beside ? batches - first : beside;
        const I at = (t - first * high) / heads;
        I end;
        batch = first + (t - first * high) % heads;
        down = (P::band & 2 ? high - 1 - at : at) * P::rows;
        TC_N(chain_columns)<P>(down, keys, begin, end);
        steps = end > begin ? (int)((end - begin + (P::cols - 1)) / P::cols) : 0;
    }
    static __device__ __forceinline__ I count(I m) {
        return (m + (P::rows - 1)) / P::rows * (P::batches ? P::batches : 1);
    }
};

// fn: chain_turn
// A stage of the ring, and the parity of its semaphores.
template <int STAGES> struct TC_N(chain_turn) {
    int at, parity;
    __device__ __forceinline__ void next() {
        if (++at == STAGES) at = 0, parity ^= 1;
    }
};

// fn: chain_memory
// Tiles in shared memory: lines of 64 elements of k, then the next 64. Semaphores behind them.
template <class P> struct TC_N(chain_memory) {
    enum : int {
        left = P::rows * P::depth * 2, lefts = left + P::rows * P::next * 2,
        right = P::cols * P::depth * 2, rights = right + P::cols * P::next * 2,
        stage = rights + (P::same ? 0 : P::cols * P::wide * 2)
    };
    char *at;
    tc_u64 *left_full, *left_empty, *full, *empty, *value_full, *value_empty;
    __device__ __forceinline__ TC_N(chain_memory)(char *shared) {
        at = TC_N(align_shared)<1024>(shared);
        left_full = (tc_u64 *)(at + P::ahead * lefts + P::stages * stage), left_empty = left_full + P::ahead;
        full = left_full + 2 * P::ahead, empty = full + P::stages, value_full = empty + P::stages, value_empty = value_full + P::stages;
    }
    __device__ __forceinline__ void begin() {
        const int warps = P::threads / 32;
        if (threadIdx.x == 0) {
            #pragma unroll
            for (int i = 0; i < P::ahead; i++) TC_N(semaphore_set)(left_full + i, 1), TC_N(semaphore_set)(left_empty + i, warps);
            #pragma unroll
            for (int i = 0; i < P::stages; i++) {
                TC_N(semaphore_set)(full + i, 1), TC_N(semaphore_set)(empty + i, warps);
                TC_N(semaphore_set)(value_full + i, 1), TC_N(semaphore_set)(value_empty + i, warps);
            }
            TC_N(semaphores_are_set)();
        }
        __syncthreads();
    }
    __device__ __forceinline__ char *left_at(int i) { return at + i * lefts; }
    __device__ __forceinline__ char *right_at(int i) { return at + P::ahead * lefts + i * stage; }
    __device__ __forceinline__ char *value_at(int i) { return right_at(i) + (P::same ? 0 : (int)rights); }
};

// fn: chain_bring
// LINES lines of an operand from `line` on, all DEPTH of what is contiguous.
template <class S, int LINES, int DEPTH> TC_FN void TC_N(chain_bring)(char *to, const TC_N(map) &map, int line, int z, tc_u64 *s) {
    #pragma unroll
    for (int k = 0; k < DEPTH; k += 64) TC_N(map_load_batch)<S>(to + k * (LINES * 2), &map, k, line, z, s);
}

// fn: chain_product
// Sums of a group's rows and the columns of a step.
template <class P, int DEPTH> TC_FN void TC_N(chain_product)(float (&s)[P::cols / 2], const char *left, const char *right) {
    const tc_u64 a = TC_N(matrix_place)(left), b = TC_N(matrix_place)(right);
    #pragma unroll
    for (int d = 0; d < DEPTH / 16; d++)
        TC_N(wgmma)<(int)P::units, (int)P::cols, 0, 0>(s, a + (d / 4 * (P::rows * 8) + d % 4 * 2), b + (d / 4 * (P::cols * 8) + d % 4 * 2), d);
}

// fn: chain_counts
// Whether column c of a row of its batch counts.
template <class P, class I> TC_FN bool TC_N(chain_counts)(I row, I c, I keys) {
    const bool inside = !P::ragged_cols || c < keys;
    const bool low = !(P::band & 1) || c >= row + P::low, up = !(P::band & 2) || c <= row + P::up;
    return inside && low && up;
}

// fn: chain_edge
// Whether of a warp's rows from `row` on and columns of the step from c on some do not count.
template <class P, class I> TC_FN bool TC_N(chain_edge)(I row, I c, I keys) {
    const bool low = (P::band & 1) && c < row + (15 + P::low), up = (P::band & 2) && c + (P::cols - 1) > row + P::up;
    return (P::ragged_cols && c + P::cols > keys) || low || up;
}

// fn: chain_group
// What a thread has of its group's rows: in each 8 columns 2 * (lane % 4) and the next, of rows lane / 4 and 8 behind.
template <class P> struct TC_N(chain_group) {
    enum : int { two = P::next != 0, count = P::cols / 2, wide = P::wide / 2 };
    float sum[wide], score[count], other[two ? (int)count : 1], most[2], all[2];
    unsigned made[P::cols / 16][4]; // halves of two columns, as the last product takes them

    __device__ __forceinline__ void clear() {
        #pragma unroll
        for (int i = 0; i < wide; i++) sum[i] = 0;
        #pragma unroll
        for (int k = 0; k < 2; k++) most[k] = -__int_as_float(0x7f800000), all[k] = 0;
    }
    // The last product, of a step.
    __device__ __forceinline__ void add(const char *value) {
        const tc_u64 b = TC_N(matrix_place)<(int)P::cols>(value);
        #pragma unroll
        for (int d = 0; d < P::cols / 16; d++) TC_N(wgmma_held)<(int)P::units, (int)P::wide>(sum, made[d], b + d * 128);
    }
    // Sums become scores, by the hole: halves, or where they are streamed numbers in place of the sums.
    template <class I, class Columns, class Score> __device__ __forceinline__ void ask(I first, I row, I m, I c0, I keys, Columns columns, Score hole) {
        const int lane = threadIdx.x % 32;
        #pragma unroll
        for (int q = 0; q < count / 2; q += P::scores) {
            const int j = q / 2, u = q % 2;
            const I c = c0 + (j * 8 + lane % 4 * 2 + u);
            const bool inside = !P::ragged_cols || c < keys;
            if constexpr (P::columns)
                if (inside) columns(first, c);
            #pragma unroll
            for (int h = 0; h < 2; h++) {
                const I own = row + (lane / 4 + h * 8), r = first + (P::ragged_rows && own >= m ? m - 1 : own);
                const int i = j * 4 + h * 2 + u;
                tc_pack<float, 2 * P::scores> sums;
                tc_pack<typename P::made, P::scores> one;
                #pragma unroll
                for (int l = 0; l < P::scores; l++) {
                    sums.at[l] = score[i + l];
                    if constexpr (two) sums.at[P::scores + l] = other[i + l];
                }
                if (inside) hole(r, c, sums.at, one.at);
                unsigned &word = made[j / 2][j % 2 * 2 + h];
                if constexpr (!P::streamed && P::scores == 2) word = *(const unsigned *)one.at;
                else if constexpr (!P::streamed) word = u ? word | (unsigned)one.at[0] << 16 : (unsigned)one.at[0];
                #pragma unroll
                for (int l = 0; P::streamed && l < P::scores; l++) score[i + l] = one.at[l];
            }
        }
    }
    // At an edge, what does not count is left out.
    template <class I> __device__ __forceinline__ void leave_out(I row, I c0, I keys) {
        const int lane = threadIdx.x % 32;
        #pragma unroll
        for (int i = 0; i < count; i++) {
            const I c = c0 + (i / 4 * 8 + lane % 4 * 2 + i % 2);
            if (TC_N(chain_counts)<P>(row + (lane / 4 + i / 2 % 2 * 8), c, keys)) continue;
            if constexpr (P::streamed) score[i] = -__int_as_float(0x7f800000);
            else made[i / 8][i / 4 % 2 * 2 + i / 2 % 2] &= i % 2 ? 0xffffu : 0xffff0000u;
        }
    }
    template <class I, class Columns, class Score> __device__ __forceinline__ void scores(I first, I row, I m, I c0, I keys, Columns columns, Score hole) {
        if constexpr (!P::scale) ask(first, row, m, c0, keys, columns, hole);
        if (TC_N(chain_edge)<P>(row, c0, keys)) leave_out(row, c0, keys);
    }
    // Scores become exponentials without the maximum so far; what was summed before is to be multiplied with f.
    __device__ __forceinline__ void soften(float (&f)[2]) {
        const float none = -__int_as_float(0x7f800000), scale = P::scale ? __int_as_float(P::scale) : 1.0f, binary = scale * 1.44269502f;
        #pragma unroll
        for (int k = 0; k < 2; k++) {
            float top[2] = {none, none}, part[2] = {0, 0};
            #pragma unroll
            for (int i = k * 2; i < count; i += 4) top[0] = fmaxf(top[0], score[i]), top[1] = fmaxf(top[1], score[i + 1]);
            const float now = fmaxf(most[k], TC_N(row_most)(fmaxf(top[0], top[1])) * scale), from = now == none ? 0.0f : now;
            const float base = from * 1.44269502f;
            f[k] = TC_N(ex2)((most[k] - from) * 1.44269502f);
            most[k] = now;
            #pragma unroll
            for (int i = k * 2; i < count; i += 4) {
                #pragma unroll
                for (int u = 0; u < 2; u++) score[i + u] = TC_N(ex2)(fmaf(score[i + u], binary, -base)), part[u] += score[i + u];
            }
            all[k] = all[k] * f[k] + (part[0] + part[1]);
        }
    }
    __device__ __forceinline__ void pack() {
        #pragma unroll
        for (int i = 0; i < count; i += 2) made[i / 8][i / 4 % 2 * 2 + i / 2 % 2] = P::pack_two(score[i], score[i + 1]);
    }
    __device__ __forceinline__ void scale_by(const float (&f)[2]) {
        #pragma unroll
        for (int i = 0; i < wide; i++) sum[i] *= f[i / 2 % 2];
    }
};

// fn: chain_whole
// The sums of a row are whole: what they are multiplied with, one lane asks.
template <class P, class I, class Share> TC_FN void TC_N(chain_whole)(TC_N(chain_group)<P> &g, I first, I row, I m, Share hole) {
    const int lane = threadIdx.x % 32;
    float f[2];
    #pragma unroll
    for (int k = 0; k < 2; k++) {
        const I own = row + (lane / 4 + k * 8);
        tc_pack<float, 4> of = {g.most[k], TC_N(row_sum)(g.all[k]), 0, 0};
        // The greatest has a share of 1, which the fma may have made a little less: what divides asks whether there is one.
        if (g.most[k] != -__int_as_float(0x7f800000) && of.at[1] < 1) of.at[1] = 1;
        if (lane % 4 == 0 && (!P::ragged_rows || own < m)) hole(first + own, 0, of.at);
        f[k] = __shfl_sync(~0u, of.at[2], lane / 4 * 4);
        if constexpr (P::streamed == 2) f[k] = 1.0f / f[k];
        if constexpr (P::streamed == 3) f[k] = 1.0f;
        if constexpr (P::bare != 0) f[k] = g.most[k] == -__int_as_float(0x7f800000) ? __int_as_float(0x7fffffff) : f[k];
    }
    g.scale_by(f);
}

// fn: chain_once
// All steps of a block of rows whose scores stand by themselves. What a step adds is on its way while the next one's scores are
// multiplied.
template <class P, class I, class Columns, class Score>
TC_FN void TC_N(chain_once)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, TC_N(chain_turn)<P::stages> &turn, int own, const TC_N(chain_block)<P, I> &b, I m, I keys, Columns columns, Score score) {
    typedef TC_N(chain_memory)<P> M;
    const int lane = threadIdx.x % 32;
    const char *const left = memory.left_at(own) + threadIdx.x / 128 * 8192;
    const I row = b.down + threadIdx.x / 32 * 16;
    tc_u64 *before = nullptr;
    #pragma unroll 1
    for (int step = 0; step < b.steps; step++, turn.next()) {
        const char *const right = memory.right_at(turn.at);
        TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);
        TC_N(matrix_begin)();
        TC_N(chain_product)<P, (int)P::depth>(g.score, left, right);
        if constexpr (P::next != 0) TC_N(chain_product)<P, (int)P::next>(g.other, left + (int)M::left, right + (int)M::right);
        TC_N(matrix_commit)();
        TC_N(matrix_wait)<0>();
        TC_N(matrix_keep)(g.score), TC_N(matrix_keep)(g.other), TC_N(matrix_keep)(g.sum);
        if (lane == 0 && before) TC_N(semaphore_arrive)(before);
        if (lane == 0 && !P::same) TC_N(semaphore_arrive)(memory.empty + turn.at);
        if (lane == 0 && step + 1 == b.steps) TC_N(semaphore_arrive)(memory.left_empty + own);
        g.scores(b.batch * m, row, m, b.begin + (I)step * P::cols, keys, columns, score);
        if constexpr (!P::same) TC_N(semaphore_wait)(memory.value_full + turn.at, turn.parity);
        TC_N(matrix_begin)();
        g.add(memory.value_at(turn.at));
        TC_N(matrix_commit)();
        before = (P::same ? memory.empty : memory.value_empty) + turn.at;
    }
    TC_N(matrix_wait)<0>();
    TC_N(matrix_keep)(g.sum);
    if (lane == 0 && before) TC_N(semaphore_arrive)(before);
}

// fn: chain_flow
// All steps of a block of rows whose scores are streamed.
template <class P, class I, class Columns, class Score>
TC_FN void TC_N(chain_flow)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, TC_N(chain_turn)<P::stages> &turn, int own, const TC_N(chain_block)<P, I> &b, I m, I keys, Columns columns, Score score) {
    const int lane = threadIdx.x % 32;
    const char *const left = memory.left_at(own) + threadIdx.x / 128 * 8192;
    const I row = b.down + threadIdx.x / 32 * 16;
    TC_N(chain_turn)<P::stages> last = turn; // of the values
    float f[2];
    if (!b.steps) return;
    TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);
    TC_N(matrix_begin)();
    TC_N(chain_product)<P, (int)P::depth>(g.score, left, memory.right_at(turn.at));
    TC_N(matrix_commit)();
    TC_N(matrix_wait)<0>();
    TC_N(matrix_keep)(g.score);
    if (lane == 0) TC_N(semaphore_arrive)(memory.empty + turn.at);
    if (lane == 0 && b.steps == 1) TC_N(semaphore_arrive)(memory.left_empty + own);
    turn.next();
    g.scores(b.batch * m, row, m, b.begin, keys, columns, score);
    g.soften(f);
    g.pack();
    #pragma unroll 1
    for (int step = 1; step < b.steps; step++, turn.next(), last.next()) {
        TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);
        TC_N(matrix_begin)();
        TC_N(chain_product)<P, (int)P::depth>(g.score, left, memory.right_at(turn.at));
        TC_N(matrix_commit)();
        TC_N(semaphore_wait)(memory.value_full + last.at, last.parity);
        TC_N(matrix_begin)();
        g.add(memory.value_at(last.at));
        TC_N(matrix_commit)();
        TC_N(matrix_wait)<1>();
        TC_N(matrix_keep)(g.score);
        if (lane == 0) TC_N(semaphore_arrive)(memory.empty + turn.at);
        if (lane == 0 && step + 1 == b.steps) TC_N(semaphore_arrive)(memory.left_empty + own);
        g.scores(b.batch * m, row, m, b.begin + (I)step * P::cols, keys, columns, score);
        g.soften(f);
        TC_N(matrix_wait)<0>();
        TC_N(matrix_keep)(g.sum);
        if (lane == 0) TC_N(semaphore_arrive)(memory.value_empty + last.at);
        g.scale_by(f);
        g.pack();
    }
    TC_N(semaphore_wait)(memory.value_full + last.at, last.parity);
    TC_N(matrix_begin)();
    g.add(memory.value_at(last.at));
    TC_N(matrix_commit)();
    TC_N(matrix_wait)<0>();
    TC_N(matrix_keep)(g.sum);
    if (lane == 0) TC_N(semaphore_arrive)(memory.value_empty + last.at);
}

// fn: chain_bring_all
// All blocks of rows from j on, as memory becomes free: by one thread.
template <class P, class A, class B, class AN, class BN, class V, class I>
TC_FN void TC_N(chain_bring_all)(TC_N(chain_memory)<P> &memory, I j, I m, I keys, const TC_N(map) &left, const TC_N(map) &right, const TC_N(map) &left_next, const TC_N(map) &right_next, const TC_N(map) &value) {
    typedef TC_N(chain_memory)<P> M;
    typedef TC_N(chain_block)<P, I> Block;
    TC_N(chain_turn)<P::stages> turn = {0, 1}; // all is empty
    TC_N(chain_turn)<P::ahead> own = {0, 1};
    #pragma unroll 1
    for (I t = j; t < Block::count(m); t += (I)gridDim.x, own.next()) {
        const Block b(t, m, keys);
        const int z = (int)b.batch;
        char *const mine = memory.left_at(own.at);
        TC_N(semaphore_wait)(memory.left_empty + own.at, own.parity);
        TC_N(semaphore_expect)(memory.left_full + own.at, M::lefts);
        TC_N(chain_bring)<A, (int)P::rows, (int)P::depth>(mine, left, (int)b.down, z, memory.left_full + own.at);
        if constexpr (P::next != 0) TC_N(chain_bring)<AN, (int)P::rows, (int)P::next>(mine + M::left, left_next, (int)b.down, z, memory.left_full + own.at);
        #pragma unroll 1
        for (int step = 0; step < b.steps; step++, turn.next()) {
            const int c = (int)b.begin + step * P::cols;
            char *const to = memory.right_at(turn.at);
            TC_N(semaphore_wait)(memory.empty + turn.at, turn.parity);
            TC_N(semaphore_expect)(memory.full + turn.at, M::rights);
            TC_N(chain_bring)<B, (int)P::cols, (int)P::depth>(to, right, c, z, memory.full + turn.at);
            if constexpr (P::next != 0) TC_N(chain_bring)<BN, (int)P::cols, (int)P::next>(to + M::right, right_next, c, z, memory.full + turn.at);
            if constexpr (!P::same) {
                TC_N(semaphore_wait)(memory.value_empty + turn.at, turn.parity);
                TC_N(semaphore_expect)(memory.value_full + turn.at, M::stage - M::rights);
                TC_N(chain_bring)<V, (int)P::cols, (int)P::wide>(memory.value_at(turn.at), value, c, z, memory.value_full + turn.at);
            }
        }
    }
}

// fn: mapped_chain
// j: of the launch's blocks. m: rows of a batch; n: columns of the result; keys: columns of scores.
template <class P, class A, class B, class AN, class BN, class V, class I, class Columns, class Score, class Share, class Result>
TC_FN void TC_N(mapped_chain)(char *shared, I j, I m, I n, I keys, const TC_N(map) &left, const TC_N(map) &right, const TC_N(map) &left_next, const TC_N(map) &right_next, const TC_N(map) &value, Columns columns, Score score, Share share, Result result) {
    typedef TC_N(chain_block)<P, I> Block;
    TC_N(chain_memory)<P> memory(shared);
    memory.begin();
    if ((int)threadIdx.x >= P::threads) {
        TC_N(registers_give)<P::threads == 256 ? 24 : 32>();
        if ((int)threadIdx.x == P::threads)
            TC_N(chain_bring_all)<P, A, B, AN, BN, V, I>(memory, j, m, keys, left, right, left_next, right_next, value);
        return;
    }
    TC_N(registers_take)<P::threads == 256 ? 240 : 160>();
    TC_N(chain_group)<P> g;
    TC_N(chain_turn)<P::stages> turn = {0, 0};
    TC_N(chain_turn)<P::ahead> own = {0, 0};
    const int lane = threadIdx.x % 32;
    #pragma unroll 1
    for (I t = j; t < Block::count(m); t += (I)gridDim.x, own.next()) {
        const Block b(t, m, keys);
        const I first = b.batch * m, row = b.down + threadIdx.x / 32 * 16;
        g.clear();
        TC_N(semaphore_wait)(memory.left_full + own.at, own.parity);
        if constexpr (P::streamed != 0) TC_N(chain_flow)(g, memory, turn, own.at, b, m, keys, columns, score);
        else TC_N(chain_once)(g, memory, turn, own.at, b, m, keys, columns, score);
        if (lane == 0 && !b.steps) TC_N(semaphore_arrive)(memory.left_empty + own.at);
        if constexpr (P::streamed != 0) TC_N(chain_whole)(g, first, row, m, share);
        #pragma unroll
        for (int k = 0; k < P::wide / 16; k++)
            TC_N(give_fours)<(int)P::width>(g.sum + k / 2 * 16, k % 2, row + lane / 4, k / 2 * 32 + lane % 4 * 8, [&](const float *some, I r, I c) {
                if ((P::ragged_rows && r >= m) || (P::ragged_wide && c >= n)) return;
                result(first + r, c, some);
            });
    }
}
