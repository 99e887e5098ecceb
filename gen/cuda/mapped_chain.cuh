// Products whose left operand is made of other products (chain.cuh), by matrix units that read shared memory, of operands that
// the device brings by itself (mapped.cuh).
//
// A group of four warps has 64 rows, a block two or three groups, and one thread more that orders copies: the left tiles of a
// block of rows, then a ring of steps of columns. Sums of the first products are the left fragments of the last one, which takes
// them from registers: they are never in shared memory. While scores are made of the sums of a step, the last product of the
// step before is on its way; groups are not in step with each other, so that one multiplies while another makes exponentials.
// Blocks stay, and go from rows to rows, those with the most
// columns first; operands of what comes next arrive while results are stored, left ones too where `ahead` is 2.
//
// Which columns of a band count is said here, and only of steps that its edge crosses: the hole's scores are those of columns
// that count. Where they are sums times `scale` (a float's bits), the hole is not asked at all: the exponent is one fma. Where
// the last right operand is the first one (`same`), it comes once.
//
// What scores need of their columns (`columns` words of each), a warp beside the one that orders copies brings with a step: read
// where scores are made, it came late. Of chains beside each other (`pair`: the gradients of keys and values) one has the first
// product's sums as scores, by the hole score_next, and the second right operand as the last one; the hole score gets what that
// has made, and the sums of the second product. So each is multiplied once, and every hole has a product beside it.

// fn: chain_block
// A block of rows, and the columns that they look at. With a band, heads whose right operands L2 has go together, so that all
// their heavy blocks come first.
template <class P, class I> struct TC_N(chain_block) {
    I batch, down, begin;
    int steps;
    __device__ __forceinline__ TC_N(chain_block)(I t, I m, I keys) {
        const I high = (m + (P::rows - 1)) / P::rows, batches = P::batches ? P::batches : 1, beside = together(keys);
        const I first = t / (beside * high) * beside, heads = batches - first < beside ? batches - first : beside;
        const I at = (t - first * high) / heads;
        I end;
        batch = first + (t - first * high) % heads;
        down = (P::band & 2 ? high - 1 - at : at) * P::rows;
        TC_N(chain_columns)<P>(down, keys, begin, end);
        steps = end > begin ? (int)((end - begin + (P::cols - 1)) / P::cols) : 0;
    }
    static __device__ __forceinline__ I together(I keys) {
        const I batches = P::batches ? P::batches : 1, fits = (I)((1 << 25) / ((P::depth + P::wide) * 2)) / keys;
        return !P::band || fits < 1 ? 1 : fits < batches ? fits : batches;
    }
    static __device__ __forceinline__ I count(I m) {
        return (m + (P::rows - 1)) / P::rows * (P::batches ? P::batches : 1);
    }
};

// fn: chain_walk
// What a block has of them, one in each round. Where all go from heavy to light, every other round goes back: else the same
// ones had the heaviest of each (96 heads of 1024 rows: 35 steps at most and 29 on average; with this 30).
template <class P, class I> struct TC_N(chain_walk) {
    I t, round;
    __device__ __forceinline__ TC_N(chain_walk)(I j) { t = j, round = 0; }
    __device__ __forceinline__ void next(I j, I keys) {
        const bool back = P::band && TC_N(chain_block)<P, I>::together(keys) == (P::batches ? P::batches : 1);
        round++;
        t = round * (I)gridDim.x + (back && round % 2 ? (I)gridDim.x - 1 - j : j);
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
    float *column;
    __device__ __forceinline__ TC_N(chain_memory)(char *shared) {
        at = TC_N(align_shared)<1024>(shared);
        left_full = (tc_u64 *)(at + P::ahead * lefts + P::stages * stage), left_empty = left_full + P::ahead;
        full = left_full + 2 * P::ahead, empty = full + P::stages, value_full = empty + P::stages, value_empty = value_full + P::stages;
        column = (float *)(value_empty + P::stages);
    }
    __device__ __forceinline__ void begin() {
        const int warps = P::threads / 32;
        if (threadIdx.x == 0) {
            #pragma unroll
            for (int i = 0; i < P::ahead; i++) TC_N(semaphore_set)(left_full + i, 1), TC_N(semaphore_set)(left_empty + i, warps);
            #pragma unroll
            for (int i = 0; i < P::stages; i++) {
                TC_N(semaphore_set)(full + i, P::columns ? 33 : 1), TC_N(semaphore_set)(empty + i, P::columns ? P::threads : warps);
                TC_N(semaphore_set)(value_full + i, 1), TC_N(semaphore_set)(value_empty + i, warps);
            }
            TC_N(semaphores_are_set)();
        }
        __syncthreads();
    }
    // A lane tells for its warp that units have read a step's memory; what columns need, each lane has read by itself, and tells it.
    static __device__ __forceinline__ bool tells_step() { return P::columns || threadIdx.x % 32 == 0; }
    __device__ __forceinline__ char *left_at(int i) { return at + i * lefts; }
    __device__ __forceinline__ char *right_at(int i) { return at + P::ahead * lefts + i * stage; }
    __device__ __forceinline__ char *value_at(int i) { return right_at(i) + (P::same ? 0 : (int)rights); }
    __device__ __forceinline__ float *column_at(int i) { return column + i * (P::cols * P::columns); }
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
    enum : int { count = P::cols / 2, wide = P::wide / 2, beside = P::pair ? P::next / 2 : 1 };
    float sum[wide], sum_next[beside], score[count], other[P::next ? (int)count : 1], most[2], all[2];
    // Halves of two columns, as the last product takes them; of the next step, while that is under way; of the chain beside.
    unsigned made[P::cols / 16][4], coming[P::streamed || P::pair ? 1 : P::cols / 16][4], made_next[P::pair ? P::cols / 16 : 1][4];

    __device__ __forceinline__ void clear() {
        #pragma unroll
        for (int i = 0; i < wide; i++) sum[i] = 0;
        #pragma unroll
        for (int i = 0; i < beside; i++) sum_next[i] = 0;
        #pragma unroll
        for (int k = 0; k < 2; k++) most[k] = -__int_as_float(0x7f800000), all[k] = 0;
    }
    // What was made is for the last product. `none` is 0, and what it hides is there behind the wait alone: ptxas would take what
    // was made before, and have products one after the other.
    __device__ __forceinline__ void take(unsigned none) {
        const unsigned zero = __float_as_uint(sum[0]) & none;
        #pragma unroll
        for (int i = 0; i < count; i += 2) {
            unsigned &word = made[i / 8][i / 4 % 2 * 2 + i / 2 % 2];
            if constexpr (P::streamed) word = P::pack_two(score[i], score[i + 1]);
            else word = coming[i / 8][i / 4 % 2 * 2 + i / 2 % 2] | zero;
        }
    }
    __device__ __forceinline__ void scale_by(const float (&f)[2]) {
        #pragma unroll
        for (int i = 0; i < wide; i++) sum[i] *= f[i / 2 % 2];
    }
};

// fn: chain_add
// The last product, of a step.
template <class P, int WIDE> TC_FN void TC_N(chain_add)(float (&sum)[WIDE / 2], const unsigned (&made)[P::cols / 16][4], const char *value) {
    const tc_u64 b = TC_N(matrix_place)<(int)P::cols>(value);
    #pragma unroll
    for (int d = 0; d < P::cols / 16; d++) TC_N(wgmma_held)<(int)P::units, WIDE>(sum, made[d], b + d * 128);
}

// fn: chain_ask
// The hole makes scores of SUMS sums, and of what is there of the step's columns: halves, or numbers in place of the first sums.
template <class P, int SUMS, class T, class I, class Score>
TC_FN void TC_N(chain_ask)(TC_N(chain_group)<P> &g, unsigned (*halves)[4], const float *column, I first, I row, I m, I c0, I keys, Score hole) {
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int q = 0; q < P::cols / 4; q += P::scores) {
        const int j = q / 2, u = q % 2, at = j * 8 + lane % 4 * 2 + u;
        const bool inside = !P::ragged_cols || c0 + at < keys;
        float sums[P::scores * (SUMS + P::columns)];
        if constexpr (P::columns != 0) {
            typedef tc_pack<float, P::scores * (P::columns ? P::columns : 1)> words;
            const words some = *(const words *)(column + at * P::columns);
            #pragma unroll
            for (int l = 0; l < P::scores * P::columns; l++) sums[P::scores * SUMS + l] = some.at[l];
        }
        #pragma unroll
        for (int h = 0; h < 2; h++) {
            const I own = row + (lane / 4 + h * 8), r = first + (P::ragged_rows && own >= m ? m - 1 : own);
            const int i = j * 4 + h * 2 + u;
            tc_pack<T, P::scores> one;
            #pragma unroll
            for (int l = 0; l < P::scores; l++) {
                sums[l] = g.score[i + l];
                if constexpr (SUMS == 2) sums[P::scores + l] = g.other[i + l];
            }
            if (inside) hole(r, c0 + at, sums, one.at);
            if constexpr (sizeof(T) == 4) {
                #pragma unroll
                for (int l = 0; l < P::scores; l++) g.score[i + l] = one.at[l];
            } else {
                unsigned &word = halves[j / 2][j % 2 * 2 + h];
                if constexpr (P::scores == 2) word = *(const unsigned *)one.at;
                else word = u ? word | (unsigned)one.at[0] << 16 : (unsigned)one.at[0];
            }
        }
    }
}

// fn: chain_leave_out
// At an edge, what does not count is left out: numbers are `none` there, and halves, if there are any, 0.
template <class P, class I> TC_FN void TC_N(chain_leave_out)(TC_N(chain_group)<P> &g, unsigned (*halves)[4], float none, I row, I c0, I keys) {
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int i = 0; i < P::cols / 2; i++) {
        const I c = c0 + (i / 4 * 8 + lane % 4 * 2 + i % 2);
        if (TC_N(chain_counts)<P>(row + (lane / 4 + i / 2 % 2 * 8), c, keys)) continue;
        if (halves) halves[i / 8][i / 4 % 2 * 2 + i / 2 % 2] &= i % 2 ? 0xffffu : 0xffff0000u;
        else g.score[i] = none;
    }
}

// fn: chain_soften
// Scores become exponentials without the maximum so far; what was summed before is to be multiplied with f.
template <class P> TC_FN void TC_N(chain_soften)(TC_N(chain_group)<P> &g, float (&f)[2]) {
    const float none = -__int_as_float(0x7f800000), scale = P::scale ? __int_as_float(P::scale) : 1.0f, binary = scale * 1.44269502f;
    #pragma unroll
    for (int k = 0; k < 2; k++) {
        float top[2] = {none, none}, part[2] = {0, 0};
        #pragma unroll
        for (int i = k * 2; i < P::cols / 2; i += 4) top[0] = fmaxf(top[0], g.score[i]), top[1] = fmaxf(top[1], g.score[i + 1]);
        const float now = fmaxf(g.most[k], TC_N(row_most)(fmaxf(top[0], top[1])) * scale), from = now == none ? 0.0f : now;
        const float base = from * 1.44269502f;
        f[k] = TC_N(ex2)((g.most[k] - from) * 1.44269502f);
        g.most[k] = now;
        #pragma unroll
        for (int i = k * 2; i < P::cols / 2; i += 4) {
            #pragma unroll
            for (int u = 0; u < 2; u++) g.score[i + u] = TC_N(ex2)(fmaf(g.score[i + u], binary, -base)), part[u] += g.score[i + u];
        }
        g.all[k] = g.all[k] * f[k] + (part[0] + part[1]);
    }
}

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

// fn: chain_begin
// The first products of a step are on their way.
template <class P> TC_FN void TC_N(chain_begin)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, const TC_N(chain_turn)<P::stages> &turn, const char *left) {
    typedef TC_N(chain_memory)<P> M;
    TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);
    TC_N(matrix_begin)();
    TC_N(chain_product)<P, (int)P::depth>(g.score, left, memory.right_at(turn.at));
    if constexpr (P::next != 0) TC_N(chain_product)<P, (int)P::next>(g.other, left + (int)M::left, memory.right_at(turn.at) + (int)M::right);
    TC_N(matrix_commit)();
}

// fn: chain_end
// And so is the last product.
template <class P> TC_FN void TC_N(chain_end)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, const TC_N(chain_turn)<P::stages> &turn) {
    if constexpr (!P::same) TC_N(semaphore_wait)(memory.value_full + turn.at, turn.parity);
    TC_N(matrix_begin)();
    TC_N(chain_add)<P, (int)P::wide>(g.sum, g.made, memory.value_at(turn.at));
    TC_N(matrix_commit)();
}

// fn: chain_made
// What is made of a step's scores: its own memory is free then, and that of the left tiles after the last step.
template <class P, class I, class Score>
TC_FN void TC_N(chain_made)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, int at, int own, const TC_N(chain_block)<P, I> &b, int step, I m, I keys, float (&f)[2], Score score) {
    const bool tells = threadIdx.x % 32 == 0;
    const I row = b.down + (I)(threadIdx.x / 32 * 16), c0 = b.begin + (I)step * P::cols;
    TC_N(matrix_keep)(g.score), TC_N(matrix_keep)(g.other);
    if (tells && !P::same && !P::columns) TC_N(semaphore_arrive)(memory.empty + at);
    if (tells && step + 1 == b.steps) TC_N(semaphore_arrive)(memory.left_empty + own);
    if constexpr (P::streamed && !P::scale) TC_N(chain_ask)<P, 1, float>(g, nullptr, memory.column_at(at), b.batch * m, row, m, c0, keys, score);
    if constexpr (!P::streamed) TC_N(chain_ask)<P, P::next ? 2 : 1, typename P::element>(g, g.coming, memory.column_at(at), b.batch * m, row, m, c0, keys, score);
    if (TC_N(chain_edge)<P>(row, c0, keys)) TC_N(chain_leave_out)<P>(g, P::streamed ? nullptr : g.coming, -__int_as_float(0x7f800000), row, c0, keys);
    if (!P::same && P::columns) TC_N(semaphore_arrive)(memory.empty + at);
    if constexpr (P::streamed) TC_N(chain_soften)<P>(g, f);
}

// fn: chain_flow
// All steps of a block of rows. The first one stands by itself: ptxas has products one after the other where a loop chooses.
template <class P, class I, class Score>
TC_FN void TC_N(chain_flow)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, TC_N(chain_turn)<P::stages> &turn, int own, const TC_N(chain_block)<P, I> &b, I m, I keys, Score score) {
    const bool tells = P::same ? memory.tells_step() : threadIdx.x % 32 == 0;
    const char *const left = memory.left_at(own) + threadIdx.x / 128 * 8192;
    tc_u64 *const free = P::same ? memory.empty : memory.value_empty;
    TC_N(chain_turn)<P::stages> last = turn; // of the values
    const unsigned none = threadIdx.z; // 0
    float f[2];
    if (!b.steps) return;
    TC_N(chain_begin)(g, memory, turn, left);
    TC_N(matrix_wait)<0>();
    TC_N(chain_made)(g, memory, turn.at, own, b, 0, m, keys, f, score);
    g.take(none);
    turn.next();
    #pragma unroll 1
    for (int step = 1; step < b.steps; step++, turn.next(), last.next()) {
        TC_N(chain_begin)(g, memory, turn, left);
        TC_N(chain_end)(g, memory, last);
        TC_N(matrix_wait)<1>();
        TC_N(chain_made)(g, memory, turn.at, own, b, step, m, keys, f, score);
        TC_N(matrix_wait)<0>();
        TC_N(matrix_keep)(g.sum);
        if (tells) TC_N(semaphore_arrive)(free + last.at);
        if constexpr (P::streamed) g.scale_by(f);
        g.take(none);
    }
    TC_N(chain_end)(g, memory, last);
    TC_N(matrix_wait)<0>();
    TC_N(matrix_keep)(g.sum);
    if (tells) TC_N(semaphore_arrive)(free + last.at);
}

// fn: chain_pair
// All steps of a block of rows of two chains beside each other. The first product of a step is on its way behind the last ones of
// the step before, so that these have left their registers for the second.
template <class P, class I, class Next, class Score>
TC_FN void TC_N(chain_pair)(TC_N(chain_group)<P> &g, TC_N(chain_memory)<P> &memory, TC_N(chain_turn)<P::stages> &turn, int own, const TC_N(chain_block)<P, I> &b, I m, I keys, Next next, Score score) {
    typedef TC_N(chain_memory)<P> M;
    const bool tells = threadIdx.x % 32 == 0;
    const char *const left = memory.left_at(own) + threadIdx.x / 128 * 8192;
    const I row = b.down + (I)(threadIdx.x / 32 * 16);
    tc_u64 *before = nullptr;
    #pragma unroll 1
    for (int step = 0; step < b.steps; step++, turn.next()) {
        const char *const right = memory.right_at(turn.at);
        const float *const column = memory.column_at(turn.at);
        const I c0 = b.begin + (I)step * P::cols;
        const bool edge = TC_N(chain_edge)<P>(row, c0, keys);
        TC_N(semaphore_wait)(memory.full + turn.at, turn.parity);
        TC_N(matrix_begin)();
        TC_N(chain_product)<P, (int)P::depth>(g.score, left, right);
        TC_N(matrix_commit)();
        TC_N(matrix_wait)<1>();
        TC_N(matrix_keep)(g.sum), TC_N(matrix_keep)(g.sum_next);
        if (memory.tells_step() && before) TC_N(semaphore_arrive)(before);
        before = memory.empty + turn.at;
        TC_N(matrix_begin)();
        TC_N(chain_product)<P, (int)P::next>(g.other, left + (int)M::left, right + (int)M::right);
        TC_N(matrix_commit)();
        TC_N(matrix_wait)<1>();
        TC_N(matrix_keep)(g.score);
        TC_N(chain_ask)<P, 1, float>(g, nullptr, column, b.batch * m, row, m, c0, keys, next);
        if (edge) TC_N(chain_leave_out)<P>(g, nullptr, 0.0f, row, c0, keys);
        #pragma unroll
        for (int i = 0; i < P::cols / 2; i += 2) g.made_next[i / 8][i / 4 % 2 * 2 + i / 2 % 2] = P::pack_two(g.score[i], g.score[i + 1]);
        TC_N(matrix_begin)();
        TC_N(chain_add)<P, (int)P::next>(g.sum_next, g.made_next, right + (int)M::right);
        TC_N(matrix_commit)();
        TC_N(matrix_wait)<1>();
        TC_N(matrix_keep)(g.other);
        if (tells && step + 1 == b.steps) TC_N(semaphore_arrive)(memory.left_empty + own);
        TC_N(chain_ask)<P, 2, typename P::element>(g, g.made, column, b.batch * m, row, m, c0, keys, score);
        if (edge) TC_N(chain_leave_out)<P>(g, g.made, 0.0f, row, c0, keys);
        TC_N(matrix_begin)();
        TC_N(chain_add)<P, (int)P::wide>(g.sum, g.made, right);
        TC_N(matrix_commit)();
    }
    TC_N(matrix_wait)<0>();
    TC_N(matrix_keep)(g.sum), TC_N(matrix_keep)(g.sum_next);
    if (memory.tells_step() && before) TC_N(semaphore_arrive)(before);
}

// fn: chain_bring_columns
// What scores need of their columns, of all blocks from j on: by one warp.
template <class P, class I, class Columns> TC_FN void TC_N(chain_bring_columns)(TC_N(chain_memory)<P> &memory, I j, I m, I keys, Columns columns) {
    typedef TC_N(chain_block)<P, I> Block;
    TC_N(chain_turn)<P::stages> turn = {0, 1}; // all is empty
    #pragma unroll 1
    for (TC_N(chain_walk)<P, I> w(j); w.t < Block::count(m); w.next(j, keys)) {
        const Block b(w.t, m, keys);
        #pragma unroll 1
        for (int step = 0; step < b.steps; step++, turn.next()) {
            TC_N(semaphore_wait)(memory.empty + turn.at, turn.parity);
            #pragma unroll
            for (int i = 0; i < P::cols; i += 32 * P::scores) {
                const int at = i + threadIdx.x % 32 * P::scores;
                const I c = b.begin + (I)step * P::cols + at;
                if (!P::ragged_cols || c < keys) columns(b.batch * m, c, memory.column_at(turn.at) + at * P::columns);
            }
            TC_N(semaphore_arrive)(memory.full + turn.at);
        }
    }
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
    for (TC_N(chain_walk)<P, I> w(j); w.t < Block::count(m); w.next(j, keys), own.next()) {
        const Block b(w.t, m, keys);
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

// fn: chain_give
// Sums of a group's rows, to the hole; RAGGED: `wide` columns of WIDE are there.
template <class P, int WIDE, int RAGGED, class I, class Result> TC_FN void TC_N(chain_give)(float (&sum)[WIDE / 2], I first, I row, I m, I wide, Result result) {
    TC_N(give_fours)<WIDE, (int)P::width>(sum, row, [](I, I) { return TC_N(nothing){}; }, [&](const float *some, I r, I c, TC_N(nothing)) {
        if ((P::ragged_rows && r >= m) || (RAGGED && c >= wide)) return;
        result(first + r, c, some);
    });
}

// fn: mapped_chain
// j: of the launch's blocks. m: rows of a batch; n: columns of the result; keys: columns of scores.
template <class P, class A, class B, class AN, class BN, class V, class I, class Columns, class Next, class Score, class Share, class Result, class ResultNext>
TC_FN void TC_N(mapped_chain)(char *shared, I j, I m, I n, I keys, const TC_N(map) &left, const TC_N(map) &right, const TC_N(map) &left_next, const TC_N(map) &right_next, const TC_N(map) &value, Columns columns, Next score_next, Score score, Share share, Result result, ResultNext result_next) {
    typedef TC_N(chain_block)<P, I> Block;
    TC_N(chain_memory)<P> memory(shared);
    memory.begin();
    if ((int)threadIdx.x >= P::threads) {
        TC_N(registers_give)<P::threads == 256 ? 24 : 32>();
        if ((int)threadIdx.x == P::threads)
            TC_N(chain_bring_all)<P, A, B, AN, BN, V, I>(memory, j, m, keys, left, right, left_next, right_next, value);
        if constexpr (P::columns != 0)
            if ((int)threadIdx.x / 32 == P::threads / 32 + 1) TC_N(chain_bring_columns)<P>(memory, j, m, keys, columns);
        return;
    }
    TC_N(registers_take)<P::threads == 256 ? 240 : 160>();
    TC_N(chain_group)<P> g;
    TC_N(chain_turn)<P::stages> turn = {0, 0};
    TC_N(chain_turn)<P::ahead> own = {0, 0};
    #pragma unroll 1
    for (TC_N(chain_walk)<P, I> w(j); w.t < Block::count(m); w.next(j, keys), own.next()) {
        const Block b(w.t, m, keys);
        const I first = b.batch * m, row = b.down + threadIdx.x / 32 * 16;
        g.clear();
        TC_N(semaphore_wait)(memory.left_full + own.at, own.parity);
        if constexpr (P::pair != 0) TC_N(chain_pair)<P>(g, memory, turn, own.at, b, m, keys, score_next, score);
        else TC_N(chain_flow)<P>(g, memory, turn, own.at, b, m, keys, score);
        if (threadIdx.x % 32 == 0 && !b.steps) TC_N(semaphore_arrive)(memory.left_empty + own.at);
        if constexpr (P::streamed != 0) TC_N(chain_whole)(g, first, row, m, share);
        TC_N(chain_give)<P, (int)P::wide, (int)P::ragged_wide>(g.sum, first, row, m, n, result);
        if constexpr (P::pair != 0) TC_N(chain_give)<P, (int)P::next, (int)P::ragged_next>(g.sum_next, first, row, m, (I)P::ragged_next, result_next);
    }
}
