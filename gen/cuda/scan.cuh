// Device functions of scans, and of what else opaque ops need: what cuda_print/opaque.c calls.
// Blocks that wait for others take tickets, so those that they wait for have begun. Results do not
// depend on the order in which threads come: sums are added in one order, and where atomics are
// used they are of integers.
//
// x are elements, y results, r a row and n its length; F is a step of a scan, or a function of the
// kernel's.
//
// Words that are waited for carry their own mark, so stores need no order between them.
// Sums of a scan are folded in one order: groups of 32 tiles, then the groups.

// fn: sums
template <class T> struct TC_N(sums) {
    TC_FN T none() { return 0; }
    TC_FN T with(T a, T b) { return a + b; }
};

// fn: products
template <class T> struct TC_N(products) {
    TC_FN T none() { return 1; }
    TC_FN T with(T a, T b) { return a * b; }
};

// fn: scan_warp
// What F makes of the values of the lanes up to this one.
template <class F, class T> TC_FN T TC_N(scan_warp)(T x) {
    const int lane = threadIdx.x % 32;
    for (int o = 1; o < 32; o *= 2) {
        const T y = __shfl_up_sync(~0u, x, o);
        if (lane >= o) x = F::with(y, x);
    }
    return x;
}

// fn: scan_load
// V elements of a row of n from c on; behind its end, those that change nothing.
template <class F, class T, int V>
TC_FN tc_pack<T, V> TC_N(scan_load)(const T *x, tc_i64 c, tc_i64 n) {
    tc_pack<T, V> v;
    for (int j = 0; j < V; j++) v.at[j] = F::none();
    if (c < n) v = *(const tc_pack<T, V> *)&x[c];
    return v;
}

// fn: scan_store
template <class F, class T, int V>
TC_FN void TC_N(scan_store)(T *y, tc_i64 c, tc_i64 n, T before, tc_pack<T, V> v) {
    for (int j = 0; j < V; j++) v.at[j] = F::with(before, v.at[j]);
    if (c < n) *(tc_pack<T, V> *)&y[c] = v;
}

// fn: scan_lines
// A warp for each row, 8 in a block: steps of 32 V elements.
template <class F, class T, int V>
TC_FN void TC_N(scan_lines)(const T *x, T *y, tc_i64 rows, tc_i64 n) {
    const int lane = threadIdx.x % 32;
    for (tc_i64 r = (tc_i64)blockIdx.x * 8 + threadIdx.x / 32; r < rows;
         r += (tc_i64)gridDim.x * 8) {
        T carry = F::none();
        for (tc_i64 begin = 0; begin < n; begin += 32 * V) {
            const tc_i64 c = begin + lane * V;
            tc_pack<T, V> v = TC_N(scan_load)<F, T, V>(x + r * n, c, n);
            for (int j = 1; j < V; j++) v.at[j] = F::with(v.at[j - 1], v.at[j]);
            const T upto = TC_N(scan_warp)<F>(v.at[V - 1]);
            const T left = __shfl_up_sync(~0u, upto, 1);
            TC_N(scan_store)<F, T, V>(y + r * n, c, n,
                                     lane ? F::with(carry, left) : carry, v);
            carry = F::with(carry, __shfl_sync(~0u, upto, 31));
        }
    }
}

// fn: scan_tile
// Scans the 1024 V elements that 256 threads have, access k of thread x at (256 k + x) V, and
// gives what F makes of all of them.
template <class F, class T, int V>
TC_FN T TC_N(scan_tile)(tc_pack<T, V> (&v)[4], T *part) {
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    T upto[4];
    for (int k = 0; k < 4; k++) {
        for (int j = 1; j < V; j++)
            v[k].at[j] = F::with(v[k].at[j - 1], v[k].at[j]);
        upto[k] = TC_N(scan_warp)<F>(v[k].at[V - 1]);
        if (lane == 31) part[k * 8 + warp] = upto[k];
    }
    __syncthreads();
    if (warp == 0) part[lane] = TC_N(scan_warp)<F>(part[lane]);
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        const T left = __shfl_up_sync(~0u, upto[k], 1);
        T before = F::none();
        if (k * 8 + warp) before = part[k * 8 + warp - 1];
        if (lane) before = F::with(before, left);
        for (int j = 0; j < V; j++) v[k].at[j] = F::with(before, v[k].at[j]);
    }
    return part[31];
}

// fn: scan_rows
// A block for each row: its tiles one after the other.
template <class F, class T, int V>
TC_FN void TC_N(scan_rows)(const T *x, T *y, tc_i64 rows, tc_i64 n) {
    __shared__ T part[2 * 32];
    tc_pack<T, V> v[4], next[4];
    int turn = 0;
    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        T carry = F::none();
        tc_i64 c = threadIdx.x * V;
        for (int k = 0; k < 4; k++)
            next[k] = TC_N(scan_load)<F, T, V>(x + r * n, c + k * 256 * V, n);
        for (tc_i64 begin = 0; begin < n; begin += 1024 * V) {
            for (int k = 0; k < 4; k++) {
                v[k] = next[k];
                next[k] =
                    TC_N(scan_load)<F, T, V>(x + r * n, c + (k * 256 + 1024) * V, n);
            }
            const T all = TC_N(scan_tile)<F, T, V>(v, part + turn * 32);
            for (int k = 0; k < 4; k++)
                TC_N(scan_store)<F, T, V>(y + r * n, c + k * 256 * V, n, carry,
                                         v[k]);
            carry = F::with(carry, all);
            c += 1024 * V;
            turn ^= 1;
        }
    }
}

// fn: word_of
// The bits of a value, and back.
template <class T> struct TC_N(word_of) {
    TC_FN tc_u64 bits(T x) { return (tc_u64)x; }
    TC_FN T value(tc_u64 w) { return (T)w; }
};

// fn: word_of
template <> struct TC_N(word_of)<float> {
    TC_FN tc_u64 bits(float x) { return __float_as_uint(x); }
    TC_FN float value(tc_u64 w) { return __uint_as_float((unsigned)w); }
};

// fn: word_of
template <> struct TC_N(word_of)<double> {
    TC_FN tc_u64 bits(double x) { return (tc_u64)__double_as_longlong(x); }
    TC_FN double value(tc_u64 w) { return __longlong_as_double((tc_i64)w); }
};

// fn: slot
// A value that other blocks wait for, in memory that was 0: each 4 bytes of it with a mark in
// one word, so that words may come in any order.
template <class T> struct TC_N(slot) {
    volatile tc_u64 word[sizeof(T) / 4];
    __device__ __forceinline__ void put(T v) {
        const tc_u64 bits = TC_N(word_of)<T>::bits(v);
        for (int i = 0; i < (int)sizeof(T) / 4; i++)
            word[i] = 1ull << 32 | (bits >> 32 * i & 0xffffffff);
    }
    __device__ __forceinline__ bool get(T &v) {
        tc_u64 bits = 0;
        tc_u64 there = 1;
        for (int i = 0; i < (int)sizeof(T) / 4; i++) {
            const tc_u64 w = word[i];
            there &= w >> 32;
            bits |= (w & 0xffffffff) << 32 * i;
        }
        if (there) v = TC_N(word_of)<T>::value(bits);
        return there;
    }
};

// fn: look_back
// What F makes of all tiles of a row before tile t, whose own is `all`: of one warp. 32 tiles are a
// group. A tile waits for those of its group, then for what the groups before it came to; both are
// taken in an order that does not depend on who was first.
template <class F, class T>
TC_FN T TC_N(look_back)(TC_N(slot)<T> *slot, tc_i64 tiles, tc_i64 t, T all) {
    const int lane = threadIdx.x % 32, i = (int)(t % 32);
    const tc_i64 g = t / 32, groups = (tiles + 31) / 32;
    TC_N(slot)<T> *own = slot, *whole = slot + tiles, *before = whole + groups;
    T x = F::none(), sum = F::none();
    if (lane == 0) own[t].put(all);
    for (bool there = false; !__all_sync(~0u, there);)
        there = lane >= i || own[g * 32 + lane].get(x);
    if (lane == i) x = all;
    x = TC_N(scan_warp)<F>(x);
    if (lane == 31 && i == 31) whole[g].put(x);
    const T near = __shfl_sync(~0u, x, i ? i - 1 : 0);
    int from = -1; // the lane whose group knows what is before it
    while (g > 0 && from < 0) {
        const tc_i64 q = g - 1 - lane;
        const int here = q >= 0 && whole[q].get(x),
                  first = here && (q == 0 || before[q].get(sum));
        const unsigned missing = __ballot_sync(~0u, !here),
                       found = __ballot_sync(~0u, first);
        const int nearest = __ffs(found) - 1;
        if (found && !(missing & ((2u << nearest) - 1))) from = nearest;
    }
    if (g > 0) sum = __shfl_sync(~0u, sum, from);
    for (int l = from; l >= 0; l--) sum = F::with(sum, __shfl_sync(~0u, x, l));
    if (lane == 0 && i == 0 && g > 0) before[g].put(sum);
    return i ? F::with(sum, near) : sum;
}

// fn: scan_tiles
// A block for each tile of 1024 V elements of a row, in the order in which blocks begin.
template <class F, class T, int V>
TC_FN void TC_N(scan_tiles)(const T *x, T *y, tc_i64 rows, tc_i64 n,
                           unsigned char *work) {
    __shared__ T part[32], before;
    __shared__ unsigned ticket;
    const tc_i64 tiles = (n + 1024 * V - 1) / (1024 * V),
                 slots = tiles + (tiles + 31) / 32 * 2;
    if (threadIdx.x == 0)
        ticket = tiles > 1 ? atomicAdd((unsigned *)work, 1u) : blockIdx.x;
    __syncthreads();
    if (ticket >= rows * tiles) return;
    const tc_i64 r = ticket / tiles, t = ticket % tiles,
                 c = (t * 1024 + threadIdx.x) * V;
    TC_N(slot)<T> *slot = (TC_N(slot)<T> *)(work + 64) + r * slots;
    tc_pack<T, V> v[4];
    for (int k = 0; k < 4; k++)
        v[k] = TC_N(scan_load)<F, T, V>(x + r * n, c + k * 256 * V, n);
    const T all = TC_N(scan_tile)<F, T, V>(v, part);
    if (threadIdx.x < 32) {
        const T sum =
            tiles > 1 ? TC_N(look_back)<F, T>(slot, tiles, t, all) : F::none();
        if (threadIdx.x == 0) before = sum;
    }
    __syncthreads();
    for (int k = 0; k < 4; k++)
        TC_N(scan_store)<F, T, V>(y + r * n, c + k * 256 * V, n, before, v[k]);
}

// fn: clear
// Leaves the workspace as it was found.
TC_FN void TC_N(clear)(tc_u64 *work, tc_i64 n) {
    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < n;
         i += (tc_i64)gridDim.x * 256)
        work[i] = 0;
}
