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

template <class T> TC_FN T TC_N(peek)(const T *p) {
    return *(const volatile T *)p;
}

TC_FN void TC_N(bar_sync)(int id, int threads) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }

TC_FN int TC_N(bar_any)(int id, int threads, int says) {
    int any;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q; }"
        : "=r"(any) : "r"(id), "r"(threads), "r"(says) : "memory");
    return any;
}

template <int N = 0> TC_FN int TC_N(arrives_last)(unsigned *ticket, unsigned n) {
    int last = 0;
    __threadfence();
    if constexpr (N > 0) TC_N(bar_sync)(1, N);
    else __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == n - 1;
    if constexpr (N > 0) last = TC_N(bar_any)(1, N, last);
    else last = __syncthreads_or(last);
    if (last && threadIdx.x == 0) *ticket = 0;
    __threadfence();
    return last;
}

TC_FN void TC_N(copy_async16_of)(void *shared, const void *global, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global), "r"(bytes) : "memory");
}

TC_FN void TC_N(copy_commit)() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

TC_FN void TC_N(mma_tf32)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

TC_FN unsigned TC_N(bits_tf32)(float f) {
    unsigned b;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(f));
    return b;
}

template <int N> TC_FN void TC_N(split)(const float (&x)[N], unsigned (&lead)[N], unsigned (&rest)[N]) {
    #pragma unroll
    for (int i = 0; i < N; i++) {
        const float far = x[i] * 8193.0f;
        const float y = i % 2 ? far - (far - x[i]) : __uint_as_float((__float_as_uint(x[i]) + 0x1000u) & 0xffffe000u);
        lead[i] = __float_as_uint(y);
        rest[i] = __float_as_uint(x[i] - y);
    }
}

TC_FN int TC_N(is_finite)(float x) { return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u; }

template <class I> TC_FN void TC_N(place_tile)(I t, I high, I across, I &m, I &n, I rows = 8) {
    const I strip = t / (rows * across) * rows, left = high - strip, tall = left < rows ? left : rows;
    m = strip + t % (rows * across) % tall;
    n = t % (rows * across) / tall;
}

template <int L> TC_FN int TC_N(swizzle)(int row, int column) {
    const int rows = L < 64 ? 64 / L : 1, chunks = L < 64 ? L / 8 : 8;
    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);
}

template <class T> TC_FN T TC_N(plus)(T a, T b) {
    if constexpr ((T)0.5 != (T)0) return a + b;
    else return (T)((tc_u64)a + (tc_u64)b);
}

template <class T> TC_FN T TC_N(add_product)(T a, T b, T c) {
    if constexpr ((T)0.5 == (T)0) return (T)((tc_u64)a * (tc_u64)b + (tc_u64)c);
    else if constexpr (sizeof(T) == 4) return fmaf(a, b, c);
    else return fma(a, b, c);
}

template <class P> TC_FN typename P::stored TC_N(as_stored)(typename P::element v) {
    if constexpr (P::way == 3) return TC_N(bits_tf32)(v);
    else return v;
}

template <class P> __device__ constexpr int TC_N(pitch)(int lines) {
    return P::way == 1 || P::way == 4 ? lines : lines + (P::way == 0 ? (int)P::pack : 8);
}

template <class S, int ALIGN> TC_FN int TC_N(word_line)(int first, int more, int k) {
    if constexpr (!S::deep || S::stepped) return first + more;
    else if constexpr (ALIGN % 32 == 0) return first + (more ^ (k >> 2 & 3) * 8);
    else return (first + more) ^ (k >> 2 & 3) * 8;
}

template <class E, int N> TC_FN void TC_N(cut)(tc_pack<E, N> &some, int n) {
    #pragma unroll
    for (int u = 0; u < N; u++)
        if (u >= n) some.at[u] = 0;
}

template <class P, class S, int LINES> struct TC_N(stage_places) {
    enum : int {
        grouped = P::way == 4,
        along = grouped ? 64 : S::deep ? P::depth : LINES,
        lanes = along / S::width,
        jump = P::threads / lanes
    };
    TC_FN int line(int e) {
        if constexpr (grouped && !S::deep) return e / (lanes * P::depth) * along + e % lanes * S::width;
        else return S::deep ? e / lanes : e % lanes * S::width;
    }
    TC_FN int deep(int e) {
        if constexpr (grouped && !S::deep) return e / lanes % P::depth;
        else return S::deep ? e % lanes * S::width : e / lanes;
    }
    template <class I> TC_FN I far(int j) {
        if constexpr (grouped && !S::deep)
            return (I)(j * jump % P::depth) * (I)S::deep_stride + (I)(j * jump / P::depth * along) * (I)S::line_stride;
        else return (I)j * ((I)jump * (I)(S::deep ? S::line_stride : S::deep_stride));
    }
    TC_FN int swizzled(int e) {
        return TC_N(swizzle)<along>(e / lanes, e % lanes * S::width);
    }
};

enum : int { TC_BRING_VALUES, TC_BRING_LATER, TC_BRING_NOW, TC_BRING_ASYNC };
template <class P, class S, int LINES, bool RAGGED, class I> struct TC_N(stage) {
    typedef TC_N(stage_places)<P, S, LINES> F;
    typedef typename P::element E;
    typedef typename P::stored M;
    enum : int {
        count = LINES * P::depth / S::width / P::threads,
        halves = P::way == 1 || P::way == 4, pitch = TC_N(pitch)<P>(LINES),
        size = P::depth * pitch,
        always = !RAGGED && !P::ragged_depth, last = S::deep ? (int)P::last % (int)S::width : 0
    };
    M *ring;
    const E *from;
    int place;
    typedef tc_pack<E, S::width> packs[count];
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
            if (!source) inside = 0;
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
    __device__ __forceinline__ int place_of(int k, int line) const {
        if constexpr (P::way == 0) return k * pitch + line;
        else return k * pitch + TC_N(word_line)<S, 1>(line, 0, k);
    }
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

template <class P> struct TC_N(tile_march) {
    enum : int { waits = P::stages - 2 };
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
    typename Lefts::packs leftnext;
    typename Rights::packs rightnext;
    typename W::sum_type sum;
    shared = W::march::memory(shared);
    T *const tile = (T *)shared;
    lefts.ring = (M *)shared, rights.ring = (M *)shared + P::stages * lefts.size;
    way.begin(sum);
    lefts.first(r0, r0, begin, left_hole);
    rights.first(r0, c0, begin, right_hole);
    const int steps = (int)((end - begin + (P::depth - 1)) / P::depth);
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
        typename W::step_type step_sum;
        typename W::left_type left;
        typename W::right_type right;
        #pragma unroll 1
        for (int step = 0; step < P::stages - 1; step++) bring(step, step), put(step);
        wait();
        __syncthreads();
        way.fetch(left, right, lefts.ring, rights.ring, 0, 0, 0);
        int at = 0;
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

// kernel0: 0 element-wise ops around one product, 1 result
// rows 4096, columns 4096, depth 4096; vector along c
//   in0  f32[16777216]
//   in1  f32[16777216]
//   out0  f32[16777216]
//   shared0  f32[8704]
//   given0  f32[4]
//   given1  f32[4]
//   given2  f32[1]
//   given3  f32[1]
//   given4  f32[4]
//   launch threads=256 index=i32 resident=1
//     for j in 0..1024  bind=grid
//       for t in 0..256  bind=block
//         template tiles shared0 block=j of 4096 x 4096 x 4096 way=2 rows=128 cols=128 depth=16 high=2 across=4 stages=2 threads=256 pack=4 width=4 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 last=0 turns=0 cluster=1 by_row=0 relay=0 total=0
//           hole left - r q later given0 of 4 strides 4096 1
//             copy 4 given0[0] <- in0[4096*r + q]
//           end
//           hole right r p k later given1 of 4 strides 1 4096
//             copy 4 given1[0] <- in1[4096*k + p]
//           end
//           hole left_one - r k values given2 of 1
//             %11 = load in0[4096*r + k]  f32 left
//             store given2[0] %11
//           end
//           hole right_one r c k values given3 of 1
//             %15 = load in1[4096*k + c]  f32 right
//             store given3[0] %15
//           end
//           hole result r p - values given4 of 4
//             for l in 0..4  bind=vector
//               axis c = l + p in 0..4096
//               %21 = load given4[l]  f32 col
//               store out0[4096*r + c] %21
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 1024 blocks have work
extern "C" __global__ void __launch_bounds__(256, 1)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef float element;
        typedef float stored;
        enum : int { way = 2, rows = 128, cols = 128, depth = 16, high = 2, across = 4, stages = 2, threads = 256, pack = 4, width = 4, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, last = 0, turns = 0, cluster = 1, by_row = 0, relay = 0, total = 0 };
    };
    struct left_way { enum : int { bring = 1, deep = 1, width = 4, stepped = 1, line_stride = 4096, deep_stride = 1 }; };
    auto left = [&](int, int r, int q, bool) {
        return &in0[4096 * r + q];
    };
    struct right_way { enum : int { bring = 1, deep = 0, width = 4, stepped = 1, line_stride = 1, deep_stride = 4096 }; };
    auto right = [&](int r, int p, int k, bool) {
        return &in1[4096 * k + p];
    };
    auto left_one = [&](int, int r, int k, float *given2) {
        const float t11 = in0[k + 4096 * r];
        given2[0] = t11;
    };
    auto right_one = [&](int r, int c, int k, float *given3) {
        const float t15 = in1[4096 * k + c];
        given3[0] = t15;
    };
    auto result = [&](int r, int p, const float *given4) {
        const tc_pack<float, 4> v21 = *((const tc_pack<float, 4> *)&given4[0]);
        tc_pack<float, 4> o22;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t21 = v21.at[l];
            o22.at[l] = t21;
        }
        tc_store((tc_pack<float, 4> *)&out0[4096 * r + p], o22);
    };
    tc_tiles<tc_tile_split, product, left_way, right_way, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 4096, 4096, 4096, left, right, left_one, right_one, result);
}
