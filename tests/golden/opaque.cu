// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90 -fmad=false
#define TC_FN [[maybe_unused]] static __device__ __forceinline__
#define TC_N(name) tc_##name
typedef unsigned char tc_u8;
typedef signed char tc_i8;
typedef short tc_i16;
typedef unsigned short tc_u16;
typedef int tc_i32;
typedef long long tc_i64;
typedef unsigned long long tc_u64;
union tc_scalar {
    double f;
    tc_i64 i;
};
struct tc_state {
    tc_i64 *flag;
    tc_u64 seed, draw;
    tc_u64 failed;
};
template <int N> struct tc_kargs {
    tc_state *state;
    tc_i64 size[N];
    __device__ __forceinline__ const tc_scalar &arg(int i) const { return ((const tc_scalar *)(state + 1))[i]; }
};
template <class T, int V> struct __align__(sizeof(T) * V < 16 ? sizeof(T) * V : 16) tc_pack {
    T at[V];
};

TC_FN void TC_N(reads)(const void *p) { asm volatile("" ::"l"(p) : "memory"); }

TC_FN void TC_N(begin)() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

template <class P> union TC_N(words) {
    P v;
    unsigned w[sizeof(P) < 4 ? 1 : sizeof(P) / 4];
    __device__ __forceinline__ TC_N(words)() {}
    __device__ __forceinline__ TC_N(words)(const P &p) : v(p) {}
};

template <class P> TC_FN TC_N(words)<P> TC_N(load_words)(const P *p) {
    TC_N(words)<P> u;
    const unsigned *q = (const unsigned *)p;
    #pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
            : "=r"(u.w[4 * i]), "=r"(u.w[4 * i + 1]), "=r"(u.w[4 * i + 2]), "=r"(u.w[4 * i + 3])
            : "l"(q + 4 * i));
    if (sizeof(P) == 8) asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(u.w[0]), "=r"(u.w[sizeof(P) / 8]) : "l"(q));
    if (sizeof(P) == 4) asm volatile("ld.global.b32 %0, [%1];" : "=r"(u.w[0]) : "l"(q));
    if (sizeof(P) < 4) u.v = *p;
    return u;
}

template <class P> TC_FN P TC_N(load)(const P *p) {
    return TC_N(load_words)(p).v;
}

template <class P> TC_FN void TC_N(store)(P *p, const P &v) {
    TC_N(words)<P> u;
    unsigned *q = (unsigned *)p;
    u.v = v;
    #pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(q + 4 * i),
                     "r"(u.w[4 * i]), "r"(u.w[4 * i + 1]), "r"(u.w[4 * i + 2]), "r"(u.w[4 * i + 3])
                     : "memory");
    if (sizeof(P) == 8) asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(q), "r"(u.w[0]), "r"(u.w[sizeof(P) / 8]) : "memory");
    if (sizeof(P) < 8) *p = v;
}

TC_FN void TC_N(copy_async16)(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

TC_FN void TC_N(copy_async8)(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

TC_FN void TC_N(copy_async4)(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

template <class P> TC_FN void TC_N(copy_async)(P *to, const P *from) {
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        TC_N(copy_async16)((char *)to + 16 * i, (const char *)from + 16 * i);
    if (sizeof(P) == 8) TC_N(copy_async8)(to, from);
    if (sizeof(P) == 4) TC_N(copy_async4)(to, from);
}

TC_FN int TC_N(bar_any)(int id, int threads, int says) {
    int any;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q; }"
        : "=r"(any) : "r"(id), "r"(threads), "r"(says) : "memory");
    return any;
}

TC_FN tc_i64 TC_N(check)(tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {
    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;
    if ((tc_u64)w < (tc_u64)limit) return w;
    a->flag[1] = v;
    a->flag[2] = limit;
    a->flag[0] = site + 1;
    a->failed = 1;
    return w < 0 || limit <= 0 ? 0 : limit - 1;
}

TC_FN void TC_N(copy_commit)() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

template <class T> struct TC_N(sums) {
    TC_FN T none() { return 0; }
    TC_FN T with(T a, T b) { return a + b; }
};

template <class T> struct TC_N(products) {
    TC_FN T none() { return 1; }
    TC_FN T with(T a, T b) { return a * b; }
};

template <class F, class T> TC_FN T TC_N(scan_warp)(T x) {
    const int lane = threadIdx.x % 32;
    for (int o = 1; o < 32; o *= 2) {
        const T y = __shfl_up_sync(~0u, x, o);
        if (lane >= o) x = F::with(y, x);
    }
    return x;
}

template <class F, class T, int V>
TC_FN tc_pack<T, V> TC_N(scan_load)(const T *x, tc_i64 c, tc_i64 n) {
    tc_pack<T, V> v;
    for (int j = 0; j < V; j++) v.at[j] = F::none();
    if (c < n) v = *(const tc_pack<T, V> *)&x[c];
    return v;
}

template <class F, class T, int V>
TC_FN void TC_N(scan_store)(T *y, tc_i64 c, tc_i64 n, T before, tc_pack<T, V> v) {
    for (int j = 0; j < V; j++) v.at[j] = F::with(before, v.at[j]);
    if (c < n) *(tc_pack<T, V> *)&y[c] = v;
}

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

template <class T> struct TC_N(word_of) {
    TC_FN tc_u64 bits(T x) { return (tc_u64)x; }
    TC_FN T value(tc_u64 w) { return (T)w; }
};

template <> struct TC_N(word_of)<float> {
    TC_FN tc_u64 bits(float x) { return __float_as_uint(x); }
    TC_FN float value(tc_u64 w) { return __uint_as_float((unsigned)w); }
};

template <> struct TC_N(word_of)<double> {
    TC_FN tc_u64 bits(double x) { return (tc_u64)__double_as_longlong(x); }
    TC_FN double value(tc_u64 w) { return __longlong_as_double((tc_i64)w); }
};

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
    int from = -1;
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

TC_FN void TC_N(clear)(tc_u64 *work, tc_i64 n) {
    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < n;
         i += (tc_i64)gridDim.x * 256)
        work[i] = 0;
}

TC_FN tc_u64 TC_N(key_i64)(tc_i64 x) { return (tc_u64)x ^ 0x8000000000000000ull; }

TC_FN unsigned TC_N(key_f32)(float x) {
    const unsigned b = x == 0 ? 0 : __float_as_uint(x);
    if (x != x) return 0xffffffffu;
    return b >> 31 ? ~b : b | 0x80000000u;
}

template <class K> struct __align__(2 * sizeof(K)) TC_N(pair) {
    K key;
    unsigned at;
};

template <class K>
TC_FN bool TC_N(is_behind)(const TC_N(pair)<K> &a, const TC_N(pair)<K> &b) {
    return a.key > b.key || (a.key == b.key && a.at > b.at);
}

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

template <class K, int T, int ITEMS, int BITS> struct TC_N(sort_tile) {
    enum { WARPS = T / 32, VALUES = 1 << BITS, EACH = VALUES > T ? VALUES / T : 1 };
    TC_N(pair)<K> sorted[T * ITEMS];
    unsigned short before[WARPS * VALUES];
    unsigned short start[VALUES];
    static __device__ __forceinline__ int place(int k) {
        return (threadIdx.x / 32 * ITEMS + k) * 32 + threadIdx.x % 32;
    }
    static __device__ __forceinline__ bool is(int k, int n) {
        return n == T * ITEMS || place(k) < n;
    }
    static __device__ __forceinline__ int value(K key, int shift, bool is) {
        return is ? (int)(key >> shift) & (VALUES - 1) : VALUES;
    }
};

template <class K, int T, int ITEMS, int BITS>
TC_FN void TC_N(sort_ranks)(TC_N(sort_tile)<K, T, ITEMS, BITS> &s,
                            const TC_N(pair)<K> (&mine)[ITEMS], unsigned (&rank)[ITEMS],
                            int shift, int n) {
    enum { VALUES = TC_N(sort_tile)<K, T, ITEMS, BITS>::VALUES };
    unsigned short *before = s.before + threadIdx.x / 32 * VALUES;
    for (int i = threadIdx.x; i < T / 32 * VALUES / 2; i += T) ((unsigned *)s.before)[i] = 0;
#pragma unroll
    for (int k = 0; k < ITEMS; k++) {
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

template <class K, int D> struct TC_N(sorter) {
    enum { TILE = sizeof(K) == 4 ? 4096 : 2048 };
    tc_i64 rows, n, tiles;
    unsigned *ticket;
    unsigned *count;
    volatile tc_u64 *state;
    TC_N(pair)<K> *pair[2];
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

template <class K, int D, class F>
TC_FN void TC_N(sort_count)(const TC_N(sorter)<K, D> &s, F key) {
    __shared__ unsigned here[D * 256];
    const tc_i64 all = s.rows * s.tiles, begin = all * blockIdx.x / gridDim.x,
                 end = all * (blockIdx.x + 1) / gridDim.x;
    if (s.n >> 32) __trap();
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

template <int PASS, class K, int D, class F, class G>
TC_FN void TC_N(sort_pass)(const TC_N(sorter)<K, D> &s, F get, G put) {
    enum { ITEMS = TC_N(sorter)<K, D>::TILE / 256 };
    __shared__ TC_N(pair)<K> sorted[ITEMS * 256];
    __shared__ unsigned before[8 * 256];
    __shared__ unsigned start[256];
    __shared__ tc_i64 to[256];
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
    unsigned all = 0;
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
        if (word < in_tile) continue;
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

template <class K, int D, class F>
TC_FN void TC_N(sort_first)(const TC_N(sorter)<K, D> &s, F key) {
    TC_N(sort_pass)<0>(
        s,
        [&](tc_i64 r, tc_i64 i) {
            return TC_N(pair)<K>{key(r, i), (unsigned)i};
        },
        [&](tc_i64 r, tc_i64 i, TC_N(pair)<K> v) { s.pair[0][r * s.n + i] = v; });
}

template <int PASS, class K, int D>
TC_FN void TC_N(sort_next)(const TC_N(sorter)<K, D> &s) {
    TC_N(sort_pass)<PASS>(
        s, [&](tc_i64 r, tc_i64 i) { return s.pair[(PASS + 1) % 2][r * s.n + i]; },
        [&](tc_i64 r, tc_i64 i, TC_N(pair)<K> v) {
            s.pair[PASS % 2][r * s.n + i] = v;
        });
}

template <class K, int D, class G>
TC_FN void TC_N(sort_last)(const TC_N(sorter)<K, D> &s, G put) {
    TC_N(sort_pass)<D - 1>(
        s, [&](tc_i64 r, tc_i64 i) { return s.pair[D % 2][r * s.n + i]; }, put);
}

template <class K, int k, class F, class G>
TC_FN void TC_N(top_rows)(tc_i64 rows, tc_i64 n, F key, G put) {
    __shared__ TC_N(pair)<K> v[k];
    __shared__ unsigned count[256], part[32], taken, digit, less;
    const int x = threadIdx.x, lane = x % 32, warp = x / 32;
    if (n >> 32) __trap();
    for (tc_i64 r = blockIdx.x; r < rows; r += gridDim.x) {
        K last = 0;
        unsigned below = 0;
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
            below;
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

template <class F, class G>
TC_FN void TC_N(scatter_mark)(tc_i64 rows, tc_i64 n, tc_i64 m, F index, G whole,
                             unsigned *last) {
    if (m >> 32) __trap();
    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < rows * m;
         i += (tc_i64)gridDim.x * 256) {
        const tc_i64 r = i / m, j = i % m;
        atomicMax(&last[whole(r) * n + index(r, j)], (unsigned)(j + 1));
    }
}

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

template <class T> TC_FN void TC_N(copy)(const T *x, T *y, tc_i64 n) {
    for (tc_i64 i = (tc_i64)blockIdx.x * blockDim.x + threadIdx.x; i < n;
         i += (tc_i64)gridDim.x * blockDim.x)
        y[i] = x[i];
}

template <class T> TC_FN T TC_N(of_word)(tc_u64 bits) {
    const union {
        tc_u64 bits;
        T element;
    } word = {bits};
    return word.element;
}

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

template <int THREADS, int EACH>
TC_FN void TC_N(count_indices)(unsigned *count, const int (&k)[EACH], int base, unsigned size, int first, int behind) {
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        const unsigned w = (unsigned)(k[u] - base);
        if (w < size && (threadIdx.x + u * THREADS >= (unsigned)first) == (unsigned)behind)
            atomicAdd(&count[w / 2], 1u << w % 2 * 16);
    }
}

TC_FN unsigned TC_N(count_of)(unsigned two) { return (two & 65535) + (two >> 16); }

template <int EACH, class I, class F>
TC_FN void TC_N(rank_indices)(tc_i64 m, tc_i64 n, int window, const I *index, F checked, unsigned *count,
                             TC_N(pair)<unsigned> *pairs) {
    enum : int { THREADS = 1024, OWN = 64, LANES = THREADS / OWN };
    __shared__ unsigned before[THREADS + 1];
    __shared__ int owned[OWN];
    const int x = threadIdx.x, first = blockIdx.x * OWN, place = x / LANES, lane = x % LANES;
    if (first >= m) return;
    int k[EACH];
    I asked[EACH];
#pragma unroll
    for (int u = 0; u < EACH; u++) asked[u] = x + u * THREADS < m ? index[x + u * THREADS] : 0;
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        const int i = x + u * THREADS;
        k[u] = i < m ? checked(asked[u]) : -1;
        if (i >= first && i < first + OWN) owned[i - first] = k[u];
    }
    __syncthreads();
    const int own = owned[place];
    unsigned rank = 0, below = 0;
#pragma unroll
    for (int j = lane; j < OWN; j += LANES) rank += j < place && owned[j] == own;
#pragma unroll 1
    for (int base = 0; base < n; base += window) {
        const unsigned size = (unsigned)(n - base < window ? n - base : window), at = (unsigned)(own - base);
        const int words = (int)(size + 1) / 2, each = (words + THREADS - 1) / THREADS | 1;
        __syncthreads();
        for (int i = x; i < words; i += THREADS) count[i] = 0;
        __syncthreads();
        TC_N(count_indices)<THREADS>(count, k, base, size, first, 0);
        __syncthreads();
        if (lane == 0 && at < size) rank += count[at / 2] >> at % 2 * 16 & 65535;
        __syncthreads();
        TC_N(count_indices)<THREADS>(count, k, base, size, first, 1);
        __syncthreads();
        unsigned sum = 0;
#pragma unroll 8
        for (int i = x * each; i < (x + 1) * each; i++) sum += i < words ? TC_N(count_of)(count[i]) : 0;
        const unsigned scanned = TC_N(scan_block)<THREADS>(sum);
        before[x] = scanned;
        if (x == THREADS - 1) before[THREADS] = scanned + sum;
        __syncthreads();
        const int word = at < size ? (int)at / 2 : 0, thread = word / each;
        if (lane == 0 && at < size) rank += below + before[thread] + (at % 2 ? count[word] & 65535 : 0);
        for (int i = thread * each + lane; i < word; i += LANES) rank += TC_N(count_of)(count[i]);
        below += before[THREADS];
    }
    for (int o = LANES / 2; o; o /= 2) rank += __shfl_xor_sync(~0u, rank, o);
    if (lane == 0 && own >= 0) pairs[rank] = {(unsigned)own, (unsigned)(first + place)};
}

template <class T, int COLUMNS> struct TC_N(run_ring) {
    enum : int { DEEP = 3, ROWS = 128, LOOKS = 8, AHEAD = 3, THREADS = 96 };
    struct __align__(16) chunk {
        T row[ROWS][COLUMNS], old[ROWS][COLUMNS];
        unsigned key[ROWS];
        unsigned owned[ROWS / 32], heads[ROWS / 32];
    };
    chunk at[DEEP];
    TC_N(pair)<unsigned> look[LOOKS * ROWS];
};

template <class T, int BYTES> TC_FN void TC_N(copy_piece)(T *to, const T *from) {
    if (BYTES < 4) *to = *from;
    else TC_N(copy_async)((tc_pack<T, BYTES / (int)sizeof(T)> *)to, (const tc_pack<T, BYTES / (int)sizeof(T)> *)from);
}

template <class T, int COLUMNS, int PIECE>
TC_FN void TC_N(bring_rows)(T (*to)[COLUMNS], unsigned row, unsigned wanted, const T *from, tc_i64 bytes) {
    enum : int { LANES = COLUMNS * (int)sizeof(T) / PIECE, ROWS = 32 / LANES, STEPS = 32 / ROWS };
    const int its = threadIdx.x % 32 / LANES, piece = threadIdx.x % LANES * (PIECE / (int)sizeof(T));
    unsigned at[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; k++) at[k] = __shfl_sync(~0u, row, k * ROWS + its);
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        if (wanted >> (k * ROWS + its) & 1)
            TC_N(copy_piece)<T, PIECE>(&to[k * ROWS + its][piece], (const T *)((const char *)(from + piece) + at[k] * bytes));
}

template <class R> TC_FN TC_N(pair)<unsigned> &TC_N(looked)(R &ring, int place, int begin) {
    return ring.look[(place - begin) % (R::LOOKS * R::ROWS)];
}

template <class R> TC_FN void TC_N(look_ahead)(R &ring, const TC_N(pair)<unsigned> *pairs, int chunk, int begin, int n) {
#pragma unroll
    for (int u = 0; u < R::ROWS / 2; u += 32) {
        const int place = chunk + threadIdx.x / 32 * (R::ROWS / 2) + u + threadIdx.x % 32;
        TC_N(pair)<unsigned> &to = TC_N(looked)(ring, place, begin);
        if (place < n) TC_N(copy_async8)(&to, &pairs[place]);
        else to = {~0u, 0};
    }
}

template <class T, int COLUMNS, int PIECE, bool OLD>
TC_FN void TC_N(bring_runs)(TC_N(run_ring)<T, COLUMNS> &ring, tc_i64 bytes, tc_i64 left, int n, int begin, int end,
                           unsigned prior, unsigned last, const T *src, const TC_N(pair)<unsigned> *pairs, const T *y) {
    typedef TC_N(run_ring)<T, COLUMNS> R;
    enum : int { HALF = R::ROWS / 2, LANES = COLUMNS * (int)sizeof(T) / PIECE };
    const int lane = threadIdx.x % 32, half = threadIdx.x / 32 * HALF;
    const bool in = threadIdx.x % LANES * (PIECE / (int)sizeof(T)) < left;
    int p = begin;
    bool more = true;
    const auto ask = [&](int slot) {
        auto &to = ring.at[slot];
        TC_N(pair)<unsigned> own[HALF / 32];
        unsigned owned[HALF / 32], heads[HALF / 32];
#pragma unroll
        for (int u = 0; u < HALF / 32; u++) {
            const int place = p + half + 32 * u + lane;
            own[u] = TC_N(looked)(ring, place, begin);
            const unsigned before = place > begin ? TC_N(looked)(ring, place - 1, begin).key : prior;
            const bool is = more && place < n && own[u].key != prior && (place < end || own[u].key == last);
            owned[u] = __ballot_sync(~0u, is), heads[u] = __ballot_sync(~0u, is && before != own[u].key);
            to.key[half + 32 * u + lane] = own[u].key;
            if (lane == 0) to.owned[half / 32 + u] = owned[u], to.heads[half / 32 + u] = heads[u];
        }
        TC_N(look_ahead)(ring, pairs, p + R::AHEAD * R::ROWS, begin, n);
        p += R::ROWS;
        more = more && p < n && (p < end || TC_N(looked)(ring, p, begin).key == last);
#pragma unroll
        for (int u = 0; u < HALF / 32; u++) {
            TC_N(bring_rows)<T, COLUMNS, PIECE>(to.row + half + 32 * u, own[u].at, in ? owned[u] : 0, src, bytes);
            if (OLD && heads[u]) TC_N(bring_rows)<T, COLUMNS, PIECE>(to.old + half + 32 * u, own[u].key, in ? heads[u] : 0, y, bytes);
        }
        TC_N(copy_commit)();
        return (owned[0] | owned[HALF / 32 - 1]) != 0;
    };
    TC_N(copy_wait)<0>();
    TC_N(bar_any)(1, R::THREADS, 1);
    int before = ask(0), slot = 1, on;
#pragma unroll 1
    do {
        const int next = ask(slot);
        TC_N(copy_wait)<1>();
        on = TC_N(bar_any)(1, R::THREADS, before || next || more);
        before = next, slot = slot + 1 < R::DEEP ? slot + 1 : 0;
    } while (on);
    TC_N(copy_wait)<0>();
}

template <class S, int V, class T, int COLUMNS> TC_FN void TC_N(add_run_rows)(S (&sum)[V], const T (*row)[COLUMNS], int mine) {
    typedef tc_pack<T, V> pack;
#pragma unroll
    for (int h = 0; h < 32; h += 16) {
        pack v[16];
#pragma unroll
        for (int l = 0; l < 16; l++) v[l] = *(const pack *)&row[h + l][mine];
#pragma unroll
        for (int l = 0; l < 16; l++)
            for (int e = 0; e < V; e++) sum[e] = sum[e] + v[l].at[e];
    }
}

template <class T, class S, int V, int COLUMNS, int PIECE, int SPAN, int BYTES, bool OLD>
TC_FN void TC_N(add_runs)(tc_i64 columns, tc_i64 m, const T *src, const TC_N(pair)<unsigned> *pairs, T *y, void *shared,
                          tc_u64 bits) {
    typedef tc_pack<T, V> pack;
    typedef TC_N(run_ring)<T, COLUMNS> R;
    static_assert(sizeof(R) == BYTES, "what the launch asks for");
    R &ring = *(R *)shared;
    const int lane = threadIdx.x % 32, n = (int)m, parts = (int)((columns + COLUMNS - 1) / COLUMNS);
    const int begin = blockIdx.x / parts * SPAN, end = begin + SPAN < n ? begin + SPAN : n;
    const tc_i64 column = (tc_i64)(blockIdx.x % parts) * COLUMNS;
    if (m > 0x7fff0000) __trap();
    if (begin >= n) return;
    for (int k = 0; k < R::AHEAD && threadIdx.x < 64; k++)
        TC_N(look_ahead)(ring, pairs, begin + k * R::ROWS, begin, n);
    TC_N(copy_commit)();
    const unsigned prior = begin ? pairs[begin - 1].key : ~0u, last = pairs[end - 1].key;
    if (prior == last) {
        TC_N(copy_wait)<0>();
        return;
    }
    if (threadIdx.x < 64) {
        TC_N(bring_runs)<T, COLUMNS, PIECE, OLD>(ring, columns * (tc_i64)sizeof(T), columns - column, n, begin, end, prior, last,
                                            src + column, pairs, y + column);
        return;
    }
    const bool in = lane * V < COLUMNS && column + lane * V < columns;
    const int mine = lane * V < COLUMNS ? lane * V : 0;
    const T none = TC_N(of_word)<T>(bits);
    S sum[V] = {};
    T *const own = y + column + mine, *to = own;
    bool goes = false;
    const auto leave = [&]() {
        pack v;
        for (int e = 0; e < V; e++) v.at[e] = (T)sum[e];
        *(pack *)to = v;
    };
    TC_N(bar_any)(1, R::THREADS, 1);
#pragma unroll 1
    for (int slot = 0; TC_N(bar_any)(1, R::THREADS, 0); slot = slot + 1 < R::DEEP ? slot + 1 : 0) {
        const auto &chunk = ring.at[slot];
#pragma unroll 1
        for (int w = 0; w < R::ROWS / 32; w++) {
            const unsigned owned = chunk.owned[w], heads = chunk.heads[w];
            if (owned == ~0u && !heads) {
                TC_N(add_run_rows)<S, V>(sum, chunk.row + 32 * w, mine);
                continue;
            }
#pragma unroll
            for (int h = 0; h < 32; h += 8) {
                if (!(owned >> h & 255)) continue;
                pack v[8], o[8];
                unsigned key[8];
#pragma unroll
                for (int l = 0; l < 8; l++) {
                    const int row = 32 * w + h + l;
                    v[l] = *(const pack *)&chunk.row[row][mine];
                    if (OLD) o[l] = *(const pack *)&chunk.old[row][mine];
                    key[l] = chunk.key[row];
                }
#pragma unroll
                for (int l = 0; l < 8; l++) {
                    const bool starts = heads >> (h + l) & 1, is = owned >> (h + l) & 1;
                    if (starts && goes) leave();
                    goes = starts ? in : goes, to = starts ? own + (tc_i64)key[l] * columns : to;
                    for (int e = 0; e < V; e++) {
                        const S from = starts ? (S)(OLD ? o[l].at[e] : none) : sum[e], next = from + v[l].at[e];
                        sum[e] = is ? next : from;
                    }
                }
            }
        }
    }
    if (goes) leave();
}

// kernel0: 0 element-wise ops over one space, 1 result
// rows 4, columns 6; vector along c
//   in0  f32[24]
//   out0  f32[24]
//   launch threads=256 index=i32
//     for j in 0..1  bind=grid
//       for t in 0..256  bind=block
//         if 0 <= 256*j + t < 12
//           axis i = 256*j + t in 0..12
//           axis r = i/3 in 0..4
//           axis x = i%3 in 0..3
//           for l in 0..2  bind=vector
//             axis c = 2*x + l in 0..6
//             %9 = load in0[96*r + c]  f32 col
//             store out0[6*r + c] %9
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    if (256 * j + t < 12) {
        const int i = 256 * j + t;
        const int r = i / 3;
        const int x = i % 3;
        const tc_pack<float, 2> v9 = tc_load((const tc_pack<float, 2> *)&in0[96 * r + 2 * x]);
        tc_pack<float, 2> o10;
        #pragma unroll
        for (int l = 0; l < 2; l++) {
            const float t9 = v9.at[l];
            o10.at[l] = t9;
        }
        tc_store((tc_pack<float, 2> *)&out0[6 * r + 2 * x], o10);
    }
}

// kernel1: 0 element-wise ops over one space, 2 results
// rows 3, columns 6; vector along c
//   in0  i64[18]
//   out0  i64[18]
//   in1  f32[24]
//   out1  f32[18]
//   launch threads=256 index=i32
//     for j in 0..1  bind=grid
//       for t in 0..256  bind=block
//         if 0 <= 256*j + t < 9
//           axis i = 256*j + t in 0..9
//           axis r = i/3 in 0..3
//           axis x = i%3 in 0..3
//           for l in 0..2  bind=vector
//             axis c = 2*x + l in 0..6
//             %9 = load in0[c]        i64 col
//             store out0[6*r + c] %9
//             %11 = load in1[6*r + c]  f32 col
//             store out1[6*r + c] %11
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1(const tc_i64 *__restrict__ in0, tc_i64 *__restrict__ out0, const float *__restrict__ in1, float *__restrict__ out1, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    if (256 * j + t < 9) {
        const int i = 256 * j + t;
        const int r = i / 3;
        const int x = i % 3;
        const tc_pack<tc_i64, 2> v9 = tc_load((const tc_pack<tc_i64, 2> *)&in0[2 * x]);
        const tc_pack<float, 2> v11 = tc_load((const tc_pack<float, 2> *)&in1[6 * r + 2 * x]);
        tc_pack<tc_i64, 2> o10;
        tc_pack<float, 2> o12;
        #pragma unroll
        for (int l = 0; l < 2; l++) {
            const tc_i64 t9 = v9.at[l];
            o10.at[l] = t9;
            const float t11 = v11.at[l];
            o12.at[l] = t11;
        }
        tc_store((tc_pack<tc_i64, 2> *)&out0[6 * r + 2 * x], o10);
        tc_store((tc_pack<float, 2> *)&out1[6 * r + 2 * x], o12);
    }
}

// kernel2: cumsum along rows, 1 launch
// rows 4, columns 96
//   out0  f32[384]
//   in0  f32[384]

extern "C" __global__ void __launch_bounds__(256, 2)
kernel2(float *__restrict__ out0, const float *__restrict__ in0, const tc_kargs<1> a) {
    const tc_i64 rows = 4;
    const tc_i64 n = 96;
    tc_scan_lines<tc_sums<float>, float, 4>((const float *)in0, (float *)out0, rows, n);
}

// kernel3: cumprod along rows, 2 launches
// rows 2, columns 50000
//   out0  f32[100000]
//   in0  f32[100000]

extern "C" __global__ void __launch_bounds__(256, 2)
kernel3(float *__restrict__ out0, const float *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 rows = 2;
    const tc_i64 n = 50000;
    tc_scan_tiles<tc_products<float>, float, 4>((const float *)in0, (float *)out0, rows, n, work);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel3_1(float *__restrict__ out0, const float *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    tc_clear((tc_u64 *)work, 38);
}

// kernel4: argsort along rows, 1 launch
// rows 4, columns 96
//   out0  i64[384]
//   in0  f32[384]

extern "C" __global__ void __launch_bounds__(32, 16)
kernel4(tc_i64 *__restrict__ out0, const float *__restrict__ in0, const tc_kargs<1> a) {
    const tc_i64 n = 96;
    const auto key = [=](tc_i64 r, tc_i64 i) { return ~tc_key_f32(in0[r * n + i]); };
    const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<unsigned> v) { out0[r * n + i] = v.at; };
    tc_sort_rows<unsigned, 32, 3, 6, 32>(4, n, key, put);
}

// kernel5: argsort along rows, 10 launches
// rows 2, columns 50000
//   out0  i64[100000]
//   in0  i64[100000]

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    const auto key = [=](tc_i64 r, tc_i64 i) { return tc_key_i64(in0[r * n + i]); };
    tc_sort_count(s, key);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_1(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    const auto key = [=](tc_i64 r, tc_i64 i) { return tc_key_i64(in0[r * n + i]); };
    tc_sort_first(s, key);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_2(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    tc_sort_next<1>(s);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_3(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    tc_sort_next<2>(s);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_4(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    tc_sort_next<3>(s);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_5(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    tc_sort_next<4>(s);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_6(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    tc_sort_next<5>(s);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_7(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    tc_sort_next<6>(s);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_8(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 50000;
    const tc_sorter<tc_u64, 8> s(work, 2, n);
    const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<tc_u64> v) { out0[r * n + i] = v.at; };
    tc_sort_last(s, put);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel5_9(tc_i64 *__restrict__ out0, const tc_i64 *__restrict__ in0, unsigned char *work, const tc_kargs<1> a) {
    tc_clear((tc_u64 *)work, 14856);
}

// kernel6: topk along rows, 1 launch
// rows 2, columns 10
//   out0  i64[20]
//   in0  f32[100000]

extern "C" __global__ void __launch_bounds__(512, 2)
kernel6(tc_i64 *__restrict__ out0, const float *__restrict__ in0, const tc_kargs<1> a) {
    const tc_i64 rows = 2;
    const tc_i64 n = 50000;
    const tc_i64 k = 10;
    const auto key = [=](tc_i64 r, tc_i64 i) { return ~tc_key_f32(in0[r * n + i]); };
    const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<unsigned> v) { if (i < k) out0[r * k + i] = v.at; };
    tc_top_rows<unsigned, 10>(rows, n, key, put);
}

// kernel7: 0 element-wise ops over one space, 1 result
// rows 1, columns 20; vector along c
//   in0  i64[20]
//   in1  f32[100000]
//   out0  f32[20]
//   launch threads=256 index=i32
//     for j in 0..1  bind=grid
//       for t in 0..256  bind=block
//         if 0 <= 256*j + t < 5
//           axis i = 256*j + t in 0..5
//           axis r = 0 in 0..1
//           for l in 0..4  bind=vector
//             axis c = 4*i + l in 0..20
//             %8 = load in0[c]        i64 col
//             %9 = check %8 limit=50000 site=11  i64 col
//             %10 = load in1[50000*(c/10) + %9]  f32 col
//             store out0[c] %10
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel7(const tc_i64 *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    if (256 * j + t < 5) {
        const int i = 256 * j + t;
        __builtin_assume(i >= 0);
        const tc_pack<tc_i64, 4> v8 = tc_load((const tc_pack<tc_i64, 4> *)&in0[4 * i]);
        tc_pack<float, 4> o11;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * i + l;
            const tc_i64 t8 = v8.at[l];
            const tc_i64 t9 = tc_check(a.state, t8, 50000, 11);
            const float t10 = in1[(int)t9 + 50000 * (c / 10)];
            o11.at[l] = t10;
        }
        tc_store((tc_pack<float, 4> *)&out0[4 * i], o11);
    }
}

// kernel8: scatter along rows, 2 launches
// rows 4, columns 96
//   out0  f32[384]
//   in0  f32[384]
//   in1  i64[18]
//   in2  f32[18]

extern "C" __global__ void __launch_bounds__(256, 2)
kernel8(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 96;
    const tc_i64 m = 6;
    const auto key = [=](tc_i64 r, tc_i64 i) { return (unsigned)tc_check(a.state, in1[r * m + i], n, 4); };
    const auto whole = [=](tc_i64 r) -> tc_i64 { return r; };
    tc_scatter_mark(3, n, m, key, whole, (unsigned *)work);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel8_1(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 rows = 4;
    const tc_i64 n = 96;
    const tc_i64 m = 6;
    const auto part = [=](tc_i64 r) -> tc_i64 { return r < 3 ? r : -1; };
    tc_scatter_take(rows, n, m, (const float *)in0, (const float *)in2, part, (unsigned *)work, (float *)out0);
}

// kernel9: scatter_add along rows, 2 launches
// rows 4, columns 96
//   out0  f32[384]
//   in0  f32[384]
//   in1  i64[18]
//   in2  f32[18]

extern "C" __global__ void __launch_bounds__(32, 16)
kernel9(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 96;
    const tc_i64 m = 6;
    const auto key = [=](tc_i64 r, tc_i64 i) { return (unsigned)tc_check(a.state, in1[r * m + i], n, 4); };
    tc_pair<unsigned> *const pairs = (tc_pair<unsigned> *)work;
    const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<unsigned> v) { pairs[r * m + i] = v; };
    tc_sort_few<unsigned, 6>(3, m, key, put);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel9_1(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 rows = 4;
    const tc_i64 n = 96;
    const tc_i64 m = 6;
    tc_pair<unsigned> *const pairs = (tc_pair<unsigned> *)work;
    const auto part = [=](tc_i64 r) -> tc_i64 { return r < 3 ? r : -1; };
    tc_scatter_sum<float, float, 1>(rows, n, m, (const float *)in0, (const float *)in2, part, pairs, (float *)out0);
}

// kernel10: index_add along rows, 2 launches
// rows 4, columns 96
//   out0  f32[384]
//   in0  f32[384]
//   in1  i64[6]
//   in2  f32[24]

extern "C" __global__ void __launch_bounds__(32, 16)
kernel10(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 n = 96;
    const tc_i64 m = 6;
    const auto key = [=](tc_i64 r, tc_i64 i) { return (unsigned)tc_check(a.state, in1[r * m + i], n, 5); };
    tc_pair<unsigned> *const pairs = (tc_pair<unsigned> *)work;
    const auto put = [=](tc_i64 r, tc_i64 i, tc_pair<unsigned> v) { pairs[r * m + i] = v; };
    tc_sort_few<unsigned, 6>(1, m, key, put);
}

extern "C" __global__ void __launch_bounds__(256, 2)
kernel10_1(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 rows = 4;
    const tc_i64 n = 96;
    const tc_i64 m = 6;
    tc_pair<unsigned> *const pairs = (tc_pair<unsigned> *)work;
    const auto part = [=](tc_i64 r) -> tc_i64 { return r; };
    tc_scatter_sum<float, float, 8>(rows, n, m, (const float *)in0, (const float *)in2, part, pairs, (float *)out0);
}

// kernel11: row_add along rows, 3 launches
// rows 4, columns 96
//   out0  f32[384]
//   in0  f32[384]
//   in1  i64[6]
//   in2  f32[576]

extern "C" __global__ void __launch_bounds__(256, 2)
kernel11(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    const tc_i64 rows = 96;
    const tc_i64 n = 4;
    tc_copy((const float *)in0, (float *)out0, rows * n);
}

extern "C" __global__ void __launch_bounds__(1024, 1)
kernel11_1(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    const tc_i64 n = 4;
    const tc_i64 m = 6;
    const auto checked = [=](tc_i64 v) { return (int)tc_check(a.state, v, n, 5); };
    tc_pair<unsigned> *const pairs = (tc_pair<unsigned> *)work;
    tc_rank_indices<1>(m, n, 4, in1, checked, (unsigned *)shared, pairs);
}

extern "C" __global__ void __launch_bounds__(96, 2)
kernel11_2(float *__restrict__ out0, const float *__restrict__ in0, const tc_i64 *__restrict__ in1, const float *__restrict__ in2, unsigned char *work, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    const tc_i64 rows = 96;
    const tc_i64 m = 6;
    tc_pair<unsigned> *const pairs = (tc_pair<unsigned> *)work;
    tc_add_runs<float, float, 1, 32, 16, 768, 108128, true>(rows, m, (const float *)in2, pairs, (float *)out0, shared, 0x0u);
}
