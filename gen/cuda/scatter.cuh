// Device functions of scatters: what cuda_print/opaque.c calls. Of what goes to one place the last is taken,
// whichever thread comes first, or all is added in its order.

// fn: scatter_mark
// For each place the last element that goes there, as its number + 1: order cannot matter.
template <class F, class G>
TC_FN void TC_N(scatter_mark)(tc_i64 rows, tc_i64 n, tc_i64 m, F index, G whole,
                             unsigned *last) {
    if (m >> 32) __trap(); // numbers are of 32 bits
    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < rows * m;
         i += (tc_i64)gridDim.x * 256) {
        const tc_i64 r = i / m, j = i % m;
        atomicMax(&last[whole(r) * n + index(r, j)], (unsigned)(j + 1));
    }
}

// fn: scatter_take
template <class T, class F>
TC_FN void TC_N(scatter_take)(tc_i64 rows, tc_i64 n, tc_i64 m, const T *x,
                             const T *src, F part, unsigned *last, T *y) {
    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < rows * n;
         i += (tc_i64)gridDim.x * 256) {
        const unsigned j = last[i];
        if (j) last[i] = 0;
        y[i] = j ? src[part(i / n) * m + j - 1] : x[i];
    }
}

// fn: copy
template <class T> TC_FN void TC_N(copy)(const T *x, T *y, tc_i64 n) {
    for (tc_i64 i = (tc_i64)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (tc_i64)gridDim.x * blockDim.x)
        y[i] = x[i];
}

// fn: of_word
// The element whose bits those are.
template <class T> TC_FN T TC_N(of_word)(tc_u64 bits) {
    const union {
        tc_u64 bits;
        T element;
    } word = {bits};
    return word.element;
}

// fn: fill
// n elements of y become the one whose bits those are; y is at a multiple of 16 bytes.
template <class T> TC_FN void TC_N(fill)(T *y, tc_u64 bits, tc_i64 n) {
    enum : int { V = 16 / (int)sizeof(T) };
    const T one = TC_N(of_word)<T>(bits);
    tc_pack<T, V> all;
    for (int l = 0; l < V; l++) all.at[l] = one;
    const tc_i64 first = (tc_i64)blockIdx.x * blockDim.x + threadIdx.x, step = (tc_i64)gridDim.x * blockDim.x;
    for (tc_i64 i = first; i < n / V; i += step) *(tc_pack<T, V> *)&y[i * V] = all;
    for (tc_i64 i = n / V * V + first; i < n; i += step) y[i] = one;
}

// fn: first_from
// Of n pairs in order, the first whose key is not below.
TC_FN tc_i64 TC_N(first_from)(const TC_N(pair)<unsigned> *v, tc_i64 begin, tc_i64 n,
                             tc_i64 key) {
    while (begin < n) {
        const tc_i64 half = begin + (n - begin) / 2;
        if (v[half].key < key)
            begin = half + 1;
        else
            n = half;
    }
    return begin;
}

// fn: scatter_sum
// To each element of x, those of src that go there are added, in their order: a thread for a place
// of EACH rows. pairs are the sorted indices of a row of src; a run of many is added by the warp.
template <class T, class S, int EACH, class F>
TC_FN void TC_N(scatter_sum)(tc_i64 rows, tc_i64 n, tc_i64 m, const T *x,
                            const T *src, F part, const TC_N(pair)<unsigned> *pairs,
                            T *y) {
    const int lane = threadIdx.x % 32;
    const tc_i64 all = (rows + EACH - 1) / EACH * n;
    for (tc_i64 begin = (tc_i64)blockIdx.x * 256 + threadIdx.x - lane; begin < all;
         begin += (tc_i64)gridDim.x * 256) {
        const tc_i64 i = begin + lane, r0 = i / n * EACH, c = i % n;
        const tc_i64 line = EACH > 1 || i >= all ? 0 : part(r0);
        const TC_N(pair)<unsigned> *run = pairs + (line > 0 ? line * m : 0);
        const tc_i64 size = i < all && line >= 0 ? m : 0,
                     first = TC_N(first_from)(run, 0, size, c);
        const tc_i64 end = TC_N(first_from)(
            run, first, first < size && run[first].key == c ? size : first, c + 1);
#pragma unroll 1
        for (int e = 0; e < EACH; e++) {
            const tc_i64 r = r0 + e;
            const bool in = i < all && r < rows;
            const T *from = src + (in && end > first ? part(r) * m : 0);
            S sum = in ? x[r * n + c] : 0;
            tc_i64 p = first;
#pragma unroll 1
            for (; in && p < end && p < first + 32; p++)
                sum = sum + from[run[p].at];
            for (unsigned left = __ballot_sync(~0u, in && p < end); left;
                 left &= left - 1) {
                const int l = __ffs(left) - 1;
                const tc_i64 stop = __shfl_sync(~0u, end, l);
                const T *its = (const T *)__shfl_sync(~0u, (tc_u64)from, l);
                const TC_N(pair)<unsigned> *their =
                    (const TC_N(pair)<unsigned> *)__shfl_sync(~0u, (tc_u64)run, l);
                S whole = __shfl_sync(~0u, sum, l);
#pragma unroll 1
                for (tc_i64 q = __shfl_sync(~0u, p, l); q < stop; q += 32) {
                    const S v = q + lane < stop ? its[their[q + lane].at] : 0;
                    for (int o = 0; o < 32 && q + o < stop; o++)
                        whole = whole + __shfl_sync(~0u, v, o);
                }
                if (lane == l) sum = whole;
            }
            if (in) y[r * n + c] = (T)sum;
        }
    }
}
