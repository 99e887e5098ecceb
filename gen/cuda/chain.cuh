// Products whose left operand is made of other products, a block of columns after the other, so that it is never in memory:
// attention, and its gradients.
//
//     o[r, n] = sum over c of e(r, c) * value[c, n],   e(r, c) = score(sum over k of left[r, k] * right[c, k])
//
// Of the score may be a second product, left_next by right_next. Streamed, e is exp of the score without the maximum of its
// row, which is that of the columns so far: what was summed is scaled where it grows. What the sums are multiplied with in
// the end says `share`, of the row's maximum and sum.
//
// A warp has `rows / high` rows; its left operands are fetched once, if there are registers (`held`). The next block of
// columns is on its way while the present is multiplied. Sums of the first products are the left fragments of the last: a
// lane has the same rows and columns in both.
//
// Of a kernel are: P, with the numbers of TC__CHAIN_...; how operands are read, as in tiles.cuh, and the holes.

// fn: chain_stage
// The numbers of a tile of an operand: DEPTH along k, of which there are RAGGED, 0 = all.
template <class P, int DEPTH, int RAGGED> struct TC_N(chain_stage) : P {
    enum : int { way = 1, depth = DEPTH, ragged_depth = RAGGED, last = 0 };
};

// fn: tile_place
// Where, from a place at a multiple of 16 along a line of a tile, one that is `far` of 16 behind it is: swizzling changes
// the bits of 64 elements alike.
TC_FN int TC_N(tile_place)(int first, int far) { return (first ^ far % 64) + far / 64 * 64; }

// fn: fetch_left
// Fragments of 16 x 16 of a tile whose lines of DEPTH run along k; `first` is the lane's place.
template <int DEPTH, int ROWS> TC_FN void TC_N(fetch_left)(unsigned (&a)[ROWS][4], const tc_u16 *tile, int first, int d) {
    #pragma unroll
    for (int i = 0; i < ROWS; i++) TC_N(ldmatrix4)(a[i], &tile[i * (16 * DEPTH) + TC_N(tile_place)(first, d)]);
}

// fn: fetch_right
// Two of 16 x 8, of lines j * 8 on. DEEP: they run along k, else across it, and have LINE elements.
template <int DEEP, int LINE> TC_FN void TC_N(fetch_right)(unsigned (&b)[4], const tc_u16 *tile, int first, int j, int d) {
    if constexpr (DEEP) TC_N(ldmatrix4)(b, &tile[j * (8 * LINE) + TC_N(tile_place)(first, d)]);
    else TC_N(ldmatrix4_trans)(b, &tile[d * LINE + TC_N(tile_place)(first, j * 8)]);
}

// fn: right_place
template <int DEEP, int LINE> TC_FN int TC_N(right_place)() {
    const int lane = threadIdx.x % 32;
    return DEEP ? TC_N(swizzle)<LINE>(lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8) : TC_N(swizzle)<LINE>(lane % 16, lane / 16 * 8);
}

// fn: chain_inner
// A product of the warp's rows and the columns of a step: both tiles run along k, DEPTH of it.
template <class P, int DEPTH> struct TC_N(chain_inner) {
    enum : int { rows = P::rows / (16 * P::high), cols = P::cols / 8, pieces = (DEPTH + 15) / 16, held = P::held };
    unsigned left[held ? pieces : 1][rows][4];
    const tc_u16 *tile;
    int leftlane, rightlane;

    __device__ __forceinline__ void begin(const tc_u16 *lefts) {
        const int x = threadIdx.x, lane = x % 32;
        tile = lefts + x / 32 * (16 * rows) * DEPTH;
        leftlane = TC_N(swizzle)<DEPTH>(lane % 16, lane / 16 * 8);
        rightlane = TC_N(right_place)<1, DEPTH>();
        if constexpr (held) {
            #pragma unroll
            for (int p = 0; p < pieces; p++) TC_N(fetch_left)<DEPTH>(left[p], tile, leftlane, p * 16);
        }
    }
    __device__ __forceinline__ void multiply(float (&s)[rows][cols][4], const tc_u16 *right) {
        #pragma unroll
        for (int i = 0; i < rows * cols * 4; i++) s[i / 4 / cols][i / 4 % cols][i % 4] = 0;
        #pragma unroll
        for (int p = 0; p < pieces; p++) {
            unsigned (&a)[rows][4] = left[held ? p : 0];
            if constexpr (!held) TC_N(fetch_left)<DEPTH>(a, tile, leftlane, p * 16);
            #pragma unroll
            for (int j = 0; j < cols; j += 2) {
                unsigned two[4];
                TC_N(fetch_right)<1, DEPTH>(two, right, rightlane, j, p * 16);
                const unsigned one[2] = {two[0], two[1]}, other[2] = {two[2], two[3]};
                #pragma unroll
                for (int i = 0; i < rows; i++) P::mma(s[i][j], a[i], one), P::mma(s[i][j + 1], a[i], other);
            }
        }
    }
};

// fn: row_most
// The greatest of what the four lanes have that share a row.
TC_FN float TC_N(row_most)(float x) {
    x = fmaxf(x, __shfl_xor_sync(~0u, x, 1));
    return fmaxf(x, __shfl_xor_sync(~0u, x, 2));
}

// fn: row_sum
TC_FN float TC_N(row_sum)(float x) {
    x += __shfl_xor_sync(~0u, x, 1);
    return x + __shfl_xor_sync(~0u, x, 2);
}

// fn: chain_sums
// What a lane has of a warp's rows: in each 16 of them lane / 4 and 8 behind; in each 8 columns 2 * (lane % 4) and the next.
template <class P> struct TC_N(chain_sums) {
    enum : int { rows = P::rows / (16 * P::high), cols = P::cols / 8, wide = P::wide / 8, two = P::next != 0 };
    typedef float scores[rows][cols][4], results[rows][wide][4], sides[rows][2];
    typedef float others[two ? rows : 1][two ? cols : 1][4];
    typedef unsigned halves[rows][cols][2]; // two columns of a row each, as the last product takes them
    TC_FN float none() { return P::streamed ? -__int_as_float(0x7f800000) : 0.0f; }
};

// fn: chain_columns
// Columns that rows from `down` on look at.
template <class P, class I> TC_FN void TC_N(chain_columns)(I down, I keys, I &begin, I &end) {
    begin = 0, end = keys;
    if constexpr ((P::band & 1) != 0) {
        const I least = down + P::low;
        if (least > 0) begin = least / P::cols * P::cols;
    }
    if constexpr ((P::band & 2) != 0) {
        const I most = down + (P::rows + P::up);
        if (most < end) end = most;
    }
}

// fn: chain_scores
// Sums of the first products become scores: halves, or where they are streamed numbers in place of the sums.
template <class P, class I, class Columns, class Score>
TC_FN void TC_N(chain_scores)(typename TC_N(chain_sums)<P>::scores &s, const typename TC_N(chain_sums)<P>::others &t, typename TC_N(chain_sums)<P>::halves &e, I own, I r1, I c0, I keys, Columns columns, Score score) {
    typedef TC_N(chain_sums)<P> S;
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int q = 0; q < 2 * S::cols; q += P::scores) {
        const int j = q / 2, u = q % 2;
        const I c = c0 + (j * 8 + lane % 4 * 2 + u);
        const bool inside = !P::ragged_cols || c < keys;
        if constexpr (P::columns)
            if (inside) columns(r1 - 1, c);
        #pragma unroll
        for (int h = 0; h < 2 * S::rows; h++) {
            const I r = own + h * 8, at_row = P::ragged_rows && r >= r1 ? r1 - 1 : r;
            float *const sum = &s[h / 2][j][h % 2 * 2 + u];
            tc_pack<float, 2 * P::scores> sums;
            tc_pack<typename P::made, P::scores> made;
            #pragma unroll
            for (int l = 0; l < P::scores; l++) {
                sums.at[l] = sum[l];
                if constexpr (S::two) sums.at[P::scores + l] = t[h / 2][j][h % 2 * 2 + u + l];
            }
            if (inside) score(at_row, c, sums.at, made.at);
            #pragma unroll
            for (int l = 0; l < P::scores; l++) {
                if constexpr (P::streamed) {
                    sum[l] = inside ? made.at[l] : S::none();
                } else {
                    const unsigned word = inside ? (unsigned)made.at[l] : 0u;
                    e[h / 2][j][h % 2] = u + l ? e[h / 2][j][h % 2] | word << 16 : word;
                }
            }
        }
    }
}

// fn: chain_stream
// Scores become exponentials without the maximum so far; sums before are scaled to that.
template <class P>
TC_FN void TC_N(chain_stream)(const typename TC_N(chain_sums)<P>::scores &s, typename TC_N(chain_sums)<P>::halves &e, typename TC_N(chain_sums)<P>::results &o, typename TC_N(chain_sums)<P>::sides &most, typename TC_N(chain_sums)<P>::sides &all) {
    typedef TC_N(chain_sums)<P> S;
    #pragma unroll
    for (int h = 0; h < 2 * S::rows; h++) {
        const int i = h / 2, k = h % 2;
        float top = most[i][k];
        #pragma unroll
        for (int u = 0; u < 2 * S::cols; u++) top = fmaxf(top, s[i][u / 2][k * 2 + u % 2]);
        top = TC_N(row_most)(top);
        const float from = top == S::none() ? 0.0f : top, f = TC_N(ex2)((most[i][k] - from) * 1.44269502f);
        float sum = all[i][k] * f;
        most[i][k] = top;
        #pragma unroll
        for (int j = 0; j < S::cols; j++) {
            const float a = TC_N(ex2)((s[i][j][k * 2] - from) * 1.44269502f), b = TC_N(ex2)((s[i][j][k * 2 + 1] - from) * 1.44269502f);
            sum += a, sum += b;
            e[i][j][k] = P::pack_two(a, b);
        }
        all[i][k] = sum;
        #pragma unroll
        for (int j = 0; j < S::wide; j++) o[i][j][k * 2] *= f, o[i][j][k * 2 + 1] *= f;
    }
}

// fn: chain_values
// The last product, of a step.
template <class P, class V>
TC_FN void TC_N(chain_values)(typename TC_N(chain_sums)<P>::results &o, const typename TC_N(chain_sums)<P>::halves &e, const tc_u16 *tile, int place) {
    typedef TC_N(chain_sums)<P> S;
    #pragma unroll
    for (int d = 0; d < S::cols; d += 2) {
        #pragma unroll
        for (int j = 0; j < S::wide; j += 2) {
            unsigned two[4];
            TC_N(fetch_right)<V::deep, V::deep ? (int)P::cols : (int)P::wide>(two, tile, place, j, d * 8);
            const unsigned one[2] = {two[0], two[1]}, other[2] = {two[2], two[3]};
            #pragma unroll
            for (int i = 0; i < S::rows; i++) {
                const unsigned a[4] = {e[i][d][0], e[i][d][1], e[i][d + 1][0], e[i][d + 1][1]};
                P::mma(o[i][j], a, one), P::mma(o[i][j + 1], a, other);
            }
        }
    }
}

// fn: chain_share
// The sums of a row are whole: what they are multiplied with, one lane asks.
template <class P, class I, class Share>
TC_FN void TC_N(chain_share)(typename TC_N(chain_sums)<P>::results &o, const typename TC_N(chain_sums)<P>::sides &most, const typename TC_N(chain_sums)<P>::sides &all, I own, I r1, Share share) {
    typedef TC_N(chain_sums)<P> S;
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int h = 0; h < 2 * S::rows; h++) {
        const int i = h / 2, k = h % 2;
        const I r = own + h * 8;
        tc_pack<float, 4> of = {most[i][k], TC_N(row_sum)(all[i][k]), 0, 0};
        if (lane % 4 == 0 && (!P::ragged_rows || r < r1)) share(r, 0, of.at);
        float f = __shfl_sync(~0u, of.at[2], lane / 4 * 4);
        if constexpr (P::streamed == 2) f = 1.0f / f;
        if constexpr (P::streamed == 3) f = 1.0f;
        if constexpr (P::bare != 0) f = most[i][k] == S::none() ? __int_as_float(0x7fffffff) : f;
        #pragma unroll
        for (int j = 0; j < S::wide; j++) o[i][j][k * 2] *= f, o[i][j][k * 2 + 1] *= f;
    }
}

// fn: chain_results
// Each warp brings its own sums to the hole, whose first row is r0.
template <class P, class I, class Result>
TC_FN void TC_N(chain_results)(const typename TC_N(chain_sums)<P>::results &o, float *tile, I r0, I r1, I n, Result result) {
    typedef TC_N(chain_sums)<P> S;
    enum : int { pitch = P::wide + 8, packs = P::wide / P::width, access = P::width < P::pack ? (int)P::width : (int)P::pack };
    const int lane = threadIdx.x % 32;
    #pragma unroll
    for (int i = 0; i < S::rows; i++) {
        if (i) __syncwarp();
        #pragma unroll
        for (int j = 0; j < S::wide; j++) {
            float *const at = &tile[lane / 4 * pitch + j * 8 + lane % 4 * 2];
            *(tc_pack<float, 2> *)at = {o[i][j][0], o[i][j][1]};
            *(tc_pack<float, 2> *)&at[8 * pitch] = {o[i][j][2], o[i][j][3]};
        }
        __syncwarp();
        #pragma unroll 4
        for (int q = lane; q < 16 * packs; q += 32) {
            const I r = r0 + (i * 16 + q / packs), c = q % packs * P::width;
            tc_pack<float, P::width> sums;
            if ((P::ragged_rows && r >= r1) || (P::ragged_wide && c >= n)) continue;
            #pragma unroll
            for (int l = 0; l < P::width; l += access)
                *(tc_pack<float, access> *)&sums.at[l] = *(const tc_pack<float, access> *)&tile[q / packs * pitch + c + l];
            result(r, c, sums.at);
        }
    }
}

// fn: chain_tiles
// Tiles of the operands: of the left ones all, of the others a ring of two steps.
template <class P, class A, class B, class AN, class BN, class V, class I> struct TC_N(chain_tiles) {
    typedef TC_N(chain_stage)<P, P::depth, P::ragged_depth> P0;
    typedef TC_N(chain_stage)<P, P::next ? (int)P::next : 16, P::ragged_next> P1;
    typedef TC_N(chain_stage)<P, P::cols, P::ragged_cols> PV;
    enum : int { two = P::next != 0 };
    TC_N(stage)<P0, A, P::rows, (bool)P::ragged_rows, I> left;
    TC_N(stage)<P0, B, P::cols, (bool)P::ragged_cols, I> right;
    TC_N(stage)<P1, AN, P::rows, (bool)P::ragged_rows, I> left_next;
    TC_N(stage)<P1, BN, P::cols, (bool)P::ragged_cols, I> right_next;
    TC_N(stage)<PV, V, P::wide, (bool)P::ragged_wide, I> value;
    I r0, r1, n, keys;

    __device__ __forceinline__ void place(tc_u16 *ring) {
        left.ring = ring, ring += left.size;
        if constexpr (two) left_next.ring = ring, ring += left_next.size;
        right.ring = ring, ring += 2 * right.size;
        if constexpr (two) right_next.ring = ring, ring += 2 * right_next.size;
        value.ring = ring;
    }
    // All is copied: no access waits in registers.
    template <class S, class H> __device__ __forceinline__ void bring(S &s, int to, I line, I end, I k, I depth, H hole) {
        typename S::packs none;
        s.bring(none, to, r0, line, end, k, depth, hole);
    }
    template <class H, class HN> __device__ __forceinline__ void lefts(H hole, HN next) {
        left.first(r0, r0, 0, hole);
        bring(left, 0, r0, r1, 0, P::ragged_depth, hole);
        if constexpr (two) {
            left_next.first(r0, r0, 0, next);
            bring(left_next, 0, r0, r1, 0, P::ragged_next, next);
        }
    }
    // A step's, from column c on.
    template <class H, class HN, class HV> __device__ __forceinline__ void rights(int to, I c, H hole, HN next, HV values) {
        right.first(r0, c, 0, hole);
        bring(right, to, c, keys, 0, P::ragged_depth, hole);
        if constexpr (two) {
            right_next.first(r0, c, 0, next);
            bring(right_next, to, c, keys, 0, P::ragged_next, next);
        }
        bring(value, to, 0, n, c, keys, values);
    }
};

// fn: chain
// m: rows of a batch; n: columns of the result; keys: columns of scores. Blocks with the most columns come first.
template <class P, class A, class B, class AN, class BN, class V, class I, class Left, class Right, class LeftNext, class RightNext, class Value, class Columns, class Score, class Share, class Result>
TC_FN void TC_N(chain)(char *shared, unsigned *, typename P::sum *, I j, I m, I n, I keys, Left left, Right right,
                       LeftNext left_next, RightNext right_next, Value value, Columns columns, Score score, Share share, Result result) {
    typedef TC_N(chain_tiles)<P, A, B, AN, BN, V, I> T;
    typedef TC_N(chain_sums)<P> S;
    T t;
    TC_N(chain_inner)<P, T::P0::depth> inner;
    TC_N(chain_inner)<P, T::P1::depth> inner_next;
    const I high = (m + (P::rows - 1)) / P::rows, batch = P::batches ? j / high : 0, first = batch * m;
    const I down = (P::band & 2 ? high - 1 - (j - batch * high) : j - batch * high) * P::rows;
    I begin, end;
    TC_N(chain_columns)<P>(down, keys, begin, end);
    const int steps = end > begin ? (int)((end - begin + (P::cols - 1)) / P::cols) : 0;
    t.place((tc_u16 *)shared);
    t.r0 = first + down, t.r1 = first + m, t.n = n, t.keys = keys;
    t.lefts(left, left_next);
    t.value.first(t.r0, 0, begin, value);
    if (steps) t.rights(0, begin, right, right_next, value);
    TC_N(copy_commit)();
    TC_N(copy_wait)<0>();
    __syncthreads();
    inner.begin(t.left.ring);
    if constexpr (T::two) inner_next.begin(t.left_next.ring);
    const int place = TC_N(right_place)<V::deep, V::deep ? (int)P::cols : (int)P::wide>();
    const I mine = t.r0 + threadIdx.x / 32 * (16 * S::rows), own = mine + threadIdx.x % 32 / 4;
    typename S::results o;
    typename S::sides most, all;
    #pragma unroll
    for (int i = 0; i < S::rows * S::wide * 4; i++) o[i / 4 / S::wide][i / 4 % S::wide][i % 4] = 0;
    #pragma unroll
    for (int i = 0; i < S::rows * 2; i++) most[i / 2][i % 2] = S::none(), all[i / 2][i % 2] = 0;

    #pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int at = step % 2;
        const I c0 = begin + (I)step * P::cols;
        typename S::scores s;
        typename S::others other;
        typename S::halves e;
        if (step + 1 < steps) t.rights(1 - at, c0 + P::cols, right, right_next, value);
        TC_N(copy_commit)();
        inner.multiply(s, t.right.ring + at * t.right.size);
        if constexpr (T::two) inner_next.multiply(other, t.right_next.ring + at * t.right_next.size);
        TC_N(chain_scores)<P>(s, other, e, own, t.r1, c0, keys, columns, score);
        if constexpr (P::streamed) TC_N(chain_stream)<P>(s, e, o, most, all);
        TC_N(chain_values)<P, V>(o, e, t.value.ring + at * t.value.size, place);
        TC_N(copy_wait)<0>();
        __syncthreads();
    }
    if constexpr (P::streamed) TC_N(chain_share)<P>(o, most, all, own, t.r1, share);
    TC_N(chain_results)<P>(o, (float *)shared + threadIdx.x / 32 * (16 * (P::wide + 8)), mine, t.r1, n, result);
}
