// Device functions of sorts: what cuda_print/opaque.c calls for argsort, topk and indices of sums. Pairs of
// a key and its place are sorted by digits, the lowest first, equal ones in their order. Results do not
// depend on the order in which threads come.

// fn: key_i32
// Elements as unsigned keys in their order; of floats NaN is the last, and -0 like 0.
TC_FN unsigned TC_N(key_i32)(int x) { return (unsigned)x ^ 0x80000000u; }

// fn: key_i64
TC_FN tc_u64 TC_N(key_i64)(tc_i64 x) { return (tc_u64)x ^ 0x8000000000000000ull; }

// fn: key_f32
// Elements as unsigned keys in their order; NaN is the last, and -0 like 0.
TC_FN unsigned TC_N(key_f32)(float x) {
    const unsigned b = x == 0 ? 0 : __float_as_uint(x);
    if (x != x) return 0xffffffffu;
    return b >> 31 ? ~b : b | 0x80000000u;
}

// fn: key_f64
// Elements as unsigned keys in their order; NaN is the last, and -0 like 0.
TC_FN tc_u64 TC_N(key_f64)(double x) {
    const tc_u64 b = x == 0 ? 0 : (tc_u64)__double_as_longlong(x);
    if (x != x) return 0xffffffffffffffffull;
    return b >> 63 ? ~b : b | 0x8000000000000000ull;
}

// fn: pair
// A key, and the place in its row where it was.
template <class K> struct __align__(2 * sizeof(K)) TC_N(pair) {
    K key;
    unsigned at;
};

// fn: is_behind
template <class K>
TC_FN bool TC_N(is_behind)(const TC_N(pair)<K> &a, const TC_N(pair)<K> &b) {
    return a.key > b.key || (a.key == b.key && a.at > b.at);
}

// fn: sort_pairs
// Sorts n pairs in shared memory, equal keys by their places: two runs, the second read backwards,
// become one of `run` pairs. What happens inside of 64 pairs is a warp's own.
template <class K> TC_FN void TC_N(sort_pairs)(TC_N(pair)<K> *v, int n) {
    int last = n;
    for (int run = 2; run < 2 * n; run *= 2) {
        for (int span = run; span > 1; span /= 2) {
            const int half = span / 2, work = (n + span - 1) / span * half;
            if (span > 64 || last > 64)
                __syncthreads();
            else
                __syncwarp();
            last = span;
            for (int i = threadIdx.x; i < work; i += blockDim.x) {
                const int low = i / half * span + i % half;
                const int high =
                    span < run ? low + half : low + span - 1 - i % half * 2;
                if (high >= n || !TC_N(is_behind)(v[low], v[high])) continue;
                const TC_N(pair)<K> was = v[low];
                v[low] = v[high];
                v[high] = was;
            }
        }
    }
    __syncthreads();
}

// fn: sort_few
// A block for each row of n <= MOST keys: put gets place and pair, in order.
template <class K, int MOST, class F, class G>
TC_FN void TC_N(sort_few)(tc_i64 rows, tc_i64 n, F key, G put) {
    __shared__ TC_N(pair)<K> v[MOST];
    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        for (int i = threadIdx.x; i < n; i += blockDim.x)
            v[i] = {key(r, i), (unsigned)i};
        __syncthreads();
        TC_N(sort_pairs)(v, (int)n);
        for (int i = threadIdx.x; i < n; i += blockDim.x) put(r, i, v[i]);
        __syncthreads();
    }
}

// fn: scan_block
// Of T threads: the sum of the counts before this one's.
template <int T> TC_FN unsigned TC_N(scan_block)(unsigned x) {
    __shared__ unsigned part[T / 32];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    unsigned sum = x;
    for (int o = 1; o < 32; o *= 2) {
        const unsigned y = __shfl_up_sync(~0u, sum, o);
        if (lane >= o) sum += y;
    }
    __syncthreads();
    if (lane == 31) part[warp] = sum;
    __syncthreads();
    for (int w = 0; w < warp; w++) sum += part[w];
    return sum - x;
}

// fn: sort_tile
// Pairs of T threads, ITEMS each: warp by warp, of a warp 32 by 32. What they share while they are
// sorted by digits of BITS bits.
template <class K, int T, int ITEMS, int BITS> struct TC_N(sort_tile) {
    enum { WARPS = T / 32, VALUES = 1 << BITS, EACH = VALUES > T ? VALUES / T : 1 };
    TC_N(pair)<K> sorted[T * ITEMS];
    unsigned short before[WARPS * VALUES]; // by warp and value: of earlier warps
    unsigned short start[VALUES];          // by value: its first place
    static __device__ __forceinline__ int place(int k) {
        return (threadIdx.x / 32 * ITEMS + k) * 32 + threadIdx.x % 32;
    }
    static __device__ __forceinline__ bool is(int k, int n) {
        return n == T * ITEMS || place(k) < n;
    }
    // Of what is behind the end VALUES.
    static __device__ __forceinline__ int value(K key, int shift, bool is) {
        return is ? (int)(key >> shift) & (VALUES - 1) : VALUES;
    }
};

// fn: sort_ranks
// rank[k]: pairs of the warp with the value of mine[k] that stand before it; s.before: those of the warp.
template <class K, int T, int ITEMS, int BITS>
TC_FN void TC_N(sort_ranks)(TC_N(sort_tile)<K, T, ITEMS, BITS> &s,
                            const TC_N(pair)<K> (&mine)[ITEMS], unsigned (&rank)[ITEMS],
                            int shift, int n) {
    enum { VALUES = TC_N(sort_tile)<K, T, ITEMS, BITS>::VALUES };
    unsigned short *before = s.before + threadIdx.x / 32 * VALUES;
    for (int i = threadIdx.x; i < T / 32 * VALUES / 2; i += T) ((unsigned *)s.before)[i] = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) { // one does not wait for the other
        const bool is = s.is(k, n);
        const unsigned same =
            __match_any_sync(~0u, s.value(mine[k].key, shift, is));
        rank[k] = __popc(same & ((1u << threadIdx.x % 32) - 1)) | __popc(same) << 16;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const bool is = s.is(k, n);
        const int value = s.value(mine[k].key, shift, true);
        const unsigned left = rank[k] & 0xffff, same = rank[k] >> 16;
        rank[k] = is ? left + before[value] : 0;
        __syncwarp();
        if (is && !left) before[value] = (unsigned short)(rank[k] + same);
        __syncwarp();
    }
    __syncthreads();
}

// fn: sort_starts
// Where the pairs of each value begin, and those of each warp behind that.
template <class K, int T, int ITEMS, int BITS>
TC_FN void TC_N(sort_starts)(TC_N(sort_tile)<K, T, ITEMS, BITS> &s) {
    enum {
        VALUES = TC_N(sort_tile)<K, T, ITEMS, BITS>::VALUES,
        EACH = TC_N(sort_tile)<K, T, ITEMS, BITS>::EACH
    };
    const int first = threadIdx.x * EACH;
    unsigned all = 0, start[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        start[e] = all;
        if (first + e >= VALUES) break;
        unsigned before = 0;
        for (int w = 0; w < T / 32; w++) {
            const unsigned here = s.before[w * VALUES + first + e];
            s.before[w * VALUES + first + e] = (unsigned short)before;
            before += here;
        }
        all += before;
    }
    const unsigned place = TC_N(scan_block)<T>(all);
#pragma unroll
    for (int e = 0; e < EACH; e++)
        if (first + e < VALUES) s.start[first + e] = (unsigned short)(place + start[e]);
    __syncthreads();
}

// fn: sort_rows
// A block for each row of n <= T * ITEMS keys of KEY bits: put gets place and pair, in order.
template <class K, int T, int ITEMS, int BITS, int KEY, class F, class G>
TC_FN void TC_N(sort_rows)(tc_i64 rows, tc_i64 n, F key, G put) {
    __shared__ TC_N(sort_tile)<K, T, ITEMS, BITS> s;
    TC_N(pair)<K> mine[ITEMS];
    unsigned rank[ITEMS];
    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {
#pragma unroll
        for (int k = 0; k < ITEMS; k++) {
            const int i = s.place(k);
            if (s.is(k, (int)n)) mine[k] = {key(r, i), (unsigned)i};
        }
#pragma unroll 1
        for (int shift = 0; shift < KEY; shift += BITS) {
            TC_N(sort_ranks)(s, mine, rank, shift, (int)n);
            TC_N(sort_starts)(s);
#pragma unroll
            for (int k = 0; k < ITEMS; k++) {
                if (!s.is(k, (int)n)) continue;
                const int value = s.value(mine[k].key, shift, true),
                          warp = threadIdx.x / 32;
                s.sorted[s.start[value] + s.before[warp * s.VALUES + value] + rank[k]] =
                    mine[k];
            }
            __syncthreads();
            if (shift + BITS >= KEY) break;
#pragma unroll
            for (int k = 0; k < ITEMS; k++)
                if (s.is(k, (int)n)) mine[k] = s.sorted[s.place(k)];
        }
        for (int i = threadIdx.x; i < n; i += T) put(r, i, s.sorted[i]);
    }
}

// fn: sorter
// Rows sorted by the lowest D digits of 8 bits of their keys, the lowest digit first, and the
// workspace of that. A pass moves pairs from one of two places to the other.
template <class K, int D> struct TC_N(sorter) {
    enum { TILE = sizeof(K) == 4 ? 4096 : 2048 };
    tc_i64 rows, n, tiles; // tiles of a row
    unsigned *ticket;      // of each pass
    unsigned *count;       // [row][digit][256]: keys with this value of the digit
    volatile tc_u64 *state; // [row][tile][256]: pass, and how many there or up to it
    TC_N(pair)<K> *pair[2]; // [row][n]
    __device__ __forceinline__ TC_N(sorter)(unsigned char *work, tc_i64 rows,
                                           tc_i64 n)
        : rows(rows), n(n), tiles((n + TILE - 1) / TILE) {
        ticket = (unsigned *)work;
        count = ticket + 16;
        state = (tc_u64 *)(count + rows * D * 256);
        pair[0] = (TC_N(pair)<K> *)(state + rows * tiles * 256);
        pair[1] = pair[0] + rows * n;
    }
    __device__ __forceinline__ bool in_block() const { return n <= TILE; }
};

// fn: sort_count
// Counts the values of all digits.
template <class K, int D, class F>
TC_FN void TC_N(sort_count)(const TC_N(sorter)<K, D> &s, F key) {
    __shared__ unsigned here[D * 256];
    const tc_i64 all = s.rows * s.tiles, begin = all * blockIdx.x / gridDim.x,
                 end = all * (blockIdx.x + 1) / gridDim.x;
    if (s.n >> 32) __trap(); // places are of 32 bits
    for (int i = threadIdx.x; i < D * 256; i += 256) here[i] = 0;
    __syncthreads();
    for (tc_i64 tile = begin; tile < end; tile++) {
        const tc_i64 r = tile / s.tiles, first = tile % s.tiles * s.TILE;
        const int n = (int)(s.n - first < s.TILE ? s.n - first : s.TILE);
#pragma unroll 4
        for (int i = threadIdx.x; i < n; i += 256) {
            const K k = key(r, first + i);
            for (int d = 0; d < D; d++)
                atomicAdd(&here[d * 256 + (k >> 8 * d & 255)], 1u);
        }
        if (tile + 1 < end && (tile + 1) % s.tiles) continue;
        __syncthreads();
        for (int i = threadIdx.x; i < D * 256; i += 256) {
            if (here[i]) atomicAdd(&s.count[r * D * 256 + i], here[i]);
            here[i] = 0;
        }
        __syncthreads();
    }
}

// fn: sort_pass
// Moves pairs to where the digit wants them, in order among equal ones: a block for each tile, in
// the order in which blocks begin. get gives the pair at a place of a row, put takes it.
template <int PASS, class K, int D, class F, class G>
TC_FN void TC_N(sort_pass)(const TC_N(sorter)<K, D> &s, F get, G put) {
    enum { ITEMS = TC_N(sorter)<K, D>::TILE / 256 };
    __shared__ TC_N(pair)<K> sorted[ITEMS * 256];
    __shared__ unsigned before[8 * 256]; // by warp and value: of earlier warps
    __shared__ unsigned start[256]; // by value: place in the tile,
    __shared__ tc_i64 to[256];      // and how far from there to that in the row
    __shared__ unsigned ticket;
    const int x = threadIdx.x, lane = x % 32, warp = x / 32;
    for (int i = x; i < 8 * 256; i += 256) before[i] = 0;
    if (x == 0) ticket = atomicAdd(&s.ticket[PASS], 1u);
    __syncthreads();
    if (ticket >= s.rows * s.tiles) return;
    const tc_i64 r = ticket / s.tiles, t = ticket % s.tiles, first = t * s.TILE;
    const int n = (int)(s.n - first < s.TILE ? s.n - first : s.TILE);
    TC_N(pair)<K> mine[ITEMS];
    unsigned rank[ITEMS];
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = (warp * ITEMS + k) * 32 + lane;
        if (i < n) mine[k] = get(r, first + i);
    }
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = (warp * ITEMS + k) * 32 + lane;
        const unsigned value =
            i < n ? (unsigned)(mine[k].key >> 8 * PASS) & 255 : 256;
        const unsigned same = __match_any_sync(~0u, value),
                       left = same & ((1u << lane) - 1);
        rank[k] = __popc(left) + (i < n ? before[warp * 256 + value] : 0);
        __syncwarp();
        if (i < n && !left) before[warp * 256 + value] += __popc(same);
        __syncwarp();
    }
    __syncthreads();
    unsigned all = 0; // in the tile, of value x
    for (int w = 0; w < 8; w++) {
        const unsigned here = before[w * 256 + x];
        before[w * 256 + x] = all;
        all += here;
    }
    volatile tc_u64 *state = s.state + (tc_i64)ticket * 256 + x;
    const tc_u64 in_tile = (tc_u64)(2 * PASS + 1) << 48,
                 up_to = (tc_u64)(2 * PASS + 2) << 48;
    *state = (t ? in_tile : up_to) | all;
    const unsigned place = TC_N(scan_block)<256>(all),
                   in_row = TC_N(scan_block)<256>(s.count[(r * D + PASS) * 256 + x]);
    tc_u64 earlier = 0;
    for (tc_i64 q = 1; q <= t;) {
        const tc_u64 word = *(state - q * 256);
        if (word < in_tile) continue; // it is not there yet
        earlier += word & 0xffffffffffffull;
        if (word >= up_to) break;
        q++;
    }
    if (t) *state = up_to | (earlier + all);
    start[x] = place;
    to[x] = (tc_i64)(in_row + earlier) - place;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
        const int i = (warp * ITEMS + k) * 32 + lane;
        if (i >= n) continue;
        const int value = (int)(mine[k].key >> 8 * PASS) & 255;
        sorted[start[value] + before[warp * 256 + value] + rank[k]] = mine[k];
    }
    __syncthreads();
#pragma unroll 4
    for (int i = x; i < n; i += 256) {
        const TC_N(pair)<K> v = sorted[i];
        put(r, to[(int)(v.key >> 8 * PASS) & 255] + i, v);
    }
}

// fn: sort_first
// The pass that makes the pairs.
template <class K, int D, class F>
TC_FN void TC_N(sort_first)(const TC_N(sorter)<K, D> &s, F key) {
    TC_N(sort_pass)<0>(
        s,
        [&](tc_i64 r, tc_i64 i) {
            return TC_N(pair)<K>{key(r, i), (unsigned)i};
        },
        [&](tc_i64 r, tc_i64 i, TC_N(pair)<K> v) { s.pair[0][r * s.n + i] = v; });
}

// fn: sort_next
template <int PASS, class K, int D>
TC_FN void TC_N(sort_next)(const TC_N(sorter)<K, D> &s) {
    TC_N(sort_pass)<PASS>(
        s, [&](tc_i64 r, tc_i64 i) { return s.pair[(PASS + 1) % 2][r * s.n + i]; },
        [&](tc_i64 r, tc_i64 i, TC_N(pair)<K> v) {
            s.pair[PASS % 2][r * s.n + i] = v;
        });
}

// fn: sort_last
// The pass after which the order is known.
template <class K, int D, class G>
TC_FN void TC_N(sort_last)(const TC_N(sorter)<K, D> &s, G put) {
    TC_N(sort_pass)<D - 1>(
        s, [&](tc_i64 r, tc_i64 i) { return s.pair[D % 2][r * s.n + i]; }, put);
}

// fn: top_rows
// The first k of n pairs of each row, of a block: the key of the last one by its digits from the
// highest down, then all before it, then as many equal ones as are missing.
template <class K, int k, class F, class G>
TC_FN void TC_N(top_rows)(tc_i64 rows, tc_i64 n, F key, G put) {
    __shared__ TC_N(pair)<K> v[k];
    __shared__ unsigned count[256], part[32], taken, digit, less;
    const int x = threadIdx.x, lane = x % 32, warp = x / 32;
    if (n >> 32) __trap(); // places are of 32 bits
    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        K last = 0;
        unsigned below = 0; // keys below all that begin as `last`
        for (int shift = 8 * (int)sizeof(K) - 8; shift >= 0; shift -= 8) {
            for (int i = x; i < 256; i += blockDim.x) count[i] = 0;
            __syncthreads();
#pragma unroll 4
            for (tc_i64 i = x; i < n; i += blockDim.x) {
                const K rest = (key(r, i) ^ last) >> shift;
                if (rest < 256) atomicAdd(&count[rest], 1u);
            }
            __syncthreads();
            if (warp == 0) {
                unsigned own = 0;
                for (int j = 0; j < 8; j++) own += count[lane * 8 + j];
                unsigned upto = below + TC_N(scan_warp)<TC_N(sums)<unsigned>>(own);
                const unsigned enough = __ballot_sync(~0u, upto >= (unsigned)k);
                if (lane == __ffs(enough) - 1) {
                    unsigned j = lane * 8;
                    for (upto -= own; upto + count[j] < (unsigned)k; j++)
                        upto += count[j];
                    digit = j, less = upto;
                }
            }
            __syncthreads();
            last |= (K)digit << shift, below = less;
        }
        if (x == 0) taken = 0;
        __syncthreads();
        unsigned seen =
            below; // of the pairs of `last`, those in v behind the others
        for (tc_i64 begin = 0; begin < n; begin += blockDim.x) {
            const tc_i64 i = begin + x;
            const K y = i < n ? key(r, i) : 0;
            const int equal = i < n && y == last;
            if (i < n && y < last) v[atomicAdd(&taken, 1u)] = {y, (unsigned)i};
            if (seen >= (unsigned)k || !__syncthreads_or(equal)) continue;
            const unsigned lanes = __ballot_sync(~0u, equal);
            if (lane == 0) part[warp] = __popc(lanes);
            __syncthreads();
            unsigned all = 0;
            for (int w = 0; w < (int)blockDim.x / 32; w++) {
                if (w == warp && equal &&
                    seen + all + __popc(lanes & ((1u << lane) - 1)) < (unsigned)k)
                    v[seen + all + __popc(lanes & ((1u << lane) - 1))] = {
                        y, (unsigned)i};
                all += part[w];
            }
            seen += all;
        }
        __syncthreads();
        TC_N(sort_pairs)(v, k);
        for (int i = x; i < k; i += blockDim.x) put(r, i, v[i]);
        __syncthreads();
    }
}
