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

template <int N> struct TC_N(kept) {
    unsigned w[N / 2];
    __device__ __forceinline__ tc_u16 operator[](int i) const { return (tc_u16)(w[i / 2] >> 16 * (i % 2)); }
    template <class P> __device__ __forceinline__ void set(int i, const TC_N(words)<P> &u) {
        #pragma unroll
        for (int k = 0; k < (int)sizeof(P) / 4; k++) w[i / 2 + k] = u.w[k];
    }
};

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

TC_FN float TC_N(of_f16)(tc_u16 b) {
    float f;
    asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(b));
    return f;
}

TC_FN tc_u16 TC_N(bits_f16)(float f) {
    tc_u16 b;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
}

TC_FN unsigned TC_N(pack_f16)(float a, float b) {
    unsigned w;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(b), "f"(a));
    return w;
}

template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_f16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_f16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
}

TC_FN float TC_N(cast_f32_f16)(float x) { return TC_N(of_f16)(TC_N(bits_f16)(x)); }

TC_FN void TC_N(copy_async16_of)(void *shared, const void *global, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global), "r"(bytes) : "memory");
}

TC_FN void TC_N(copy_commit)() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}

TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}

TC_FN void TC_N(mma_f16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

TC_FN unsigned TC_N(bits_tf32)(float f) {
    unsigned b;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(f));
    return b;
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

template <class P, class L, class R> struct TC_N(tile_halves) : TC_N(tile_fragments)<P> {
    typedef TC_N(tile_fragments)<P> F;
    enum : int { rows = F::rows, cols = F::cols, piece = 16, leftline = L::deep ? P::depth : P::rows, rightline = R::deep ? P::depth : P::cols };
    typedef typename F::sum_type sum_type;
    typedef unsigned left_type[2][rows][4], right_type[2][cols][2];
    typedef char step_type[1];
    int leftlane, rightlane;
    __device__ __forceinline__ void begin(sum_type &sum) {
        const int x = threadIdx.x, lane = x % 32;
        F::begin(sum);
        leftlane = L::deep ? TC_N(swizzle)<leftline>(F::row + lane % 16, lane / 16 * 8)
                           : TC_N(swizzle)<leftline>(lane / 16 * 8 + lane % 8, F::row + lane / 8 % 2 * 8);
        rightlane = R::deep ? TC_N(swizzle)<rightline>(F::col + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8)
                            : TC_N(swizzle)<rightline>(lane % 16, F::col + lane / 16 * 8);
    }
    __device__ __forceinline__ void fetch(left_type &lefts, right_type &rights, const tc_u16 *left, const tc_u16 *right, int at, int d, int to) const {
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            const int stage = at * (P::depth * P::rows);
            if constexpr (L::deep) TC_N(ldmatrix4)(lefts[to][i], &left[stage + i * (16 * P::depth) + (leftlane ^ d)]);
            else TC_N(ldmatrix4_trans)(lefts[to][i], &left[stage + d * P::rows + (leftlane ^ i * 16)]);
        }
        #pragma unroll
        for (int j = 0; j < cols; j += 2) {
            const int stage = at * (P::depth * P::cols);
            unsigned two[4];
            if constexpr (R::deep) TC_N(ldmatrix4)(two, &right[stage + j * (8 * P::depth) + (rightlane ^ d)]);
            else TC_N(ldmatrix4_trans)(two, &right[stage + d * P::cols + (rightlane ^ j * 8)]);
            rights[to][j][0] = two[0], rights[to][j][1] = two[1];
            rights[to][j + 1][0] = two[2], rights[to][j + 1][1] = two[3];
        }
    }
    __device__ __forceinline__ void multiply(sum_type &sum, const left_type &lefts, const right_type &rights, step_type &, int d, int now, bool last) const {
        #pragma unroll
        for (int i = 0; i < rows; i++) {
            #pragma unroll
            for (int c = 0; c < cols; c++) {
                const int j = i % 2 ? cols - 1 - c : c;
                P::mma(sum[i][j], lefts[now][i], rights[now][j]);
            }
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
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_LE_f32(a, b) ((a) <= (b))
#define TC_M_f32(b) (b)
#define TC_B_f32(m) (m)
#define TC_MUL_f64(a, b) ((double)((double)(a) * (double)(b)))
#define TC_ADD_i32(a, b) ((int)((unsigned)(a) + (unsigned)(b)))
#define TC_SEL_i32(m, a, b) ((m) ? (a) : (b))
#define TC_EQ_i32(a, b) ((a) == (b))
#define TC_M_i32(b) (b)
#define TC_B_i32(m) (m)
#define TC_NOT(m) (!(m))

TC_FN double tc_cast_f32_f64(float x) {
    typedef double T;
    return (T)((T)x);
}

TC_FN float tc_cast_f64_f32(double x) {
    typedef float T;
    return (T)((T)x);
}


TC_FN float tc_acc_add_f32(float a, float b) {
    return TC_ADD_f32(a, b);
}

// The elements of a thread.
template <int V> TC_FN float tc_fold_add_f32(const float (&x)[V]) {
    float y = x[0];
    for (int l = 1; l < V; l++) y = tc_acc_add_f32(y, x[l]);
    return y;
}

// The values of L lanes that are neighbours; all of them get the result.
template <int L> TC_FN float tc_lanes_add_f32(float x) {
    for (int o = L / 2; o; o /= 2) x = tc_acc_add_f32(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

// What W warps have put into shared memory; all threads get the result.
template <int W> TC_FN float tc_parts_add_f32(const float *part) {
    const int w = threadIdx.x % 32;
    return tc_lanes_add_f32<32>(w < W ? part[w] : 0.0f);
}

// H values of shared memory, S apart.
template <int H, int S> TC_FN float tc_below_add_f32(const float *part) {
    float x = part[0];
    for (int y = 1; y < H; y++) x = tc_acc_add_f32(x, part[y * S]);
    return x;
}

TC_FN int tc_acc_logical_and_i32(int a, int b) {
    return a & b;
}

// The elements of a thread.
template <int V> TC_FN int tc_fold_logical_and_i32(const int (&x)[V]) {
    int y = x[0];
    for (int l = 1; l < V; l++) y = tc_acc_logical_and_i32(y, x[l]);
    return y;
}

// The values of L lanes that are neighbours; all of them get the result.
template <int L> TC_FN int tc_lanes_logical_and_i32(int x) {
    for (int o = L / 2; o; o /= 2) x = tc_acc_logical_and_i32(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

// What W warps have put into shared memory; all threads get the result.
template <int W> TC_FN int tc_parts_logical_and_i32(const int *part) {
    const int w = threadIdx.x % 32;
    return tc_lanes_logical_and_i32<32>(w < W ? part[w] : 1);
}

// H values of shared memory, S apart.
template <int H, int S> TC_FN int tc_below_logical_and_i32(const int *part) {
    int x = part[0];
    for (int y = 1; y < H; y++) x = tc_acc_logical_and_i32(x, part[y * S]);
    return x;
}

// kernel0: 3 element-wise ops around one product, 1 result
// rows 64, columns 128, depth 128; vector along c
//   in0  f32[8192]
//   in1  f32[16384]
//   out0  f16[8192]
//   shared0  f32[4096]
//   given0  f16[4]
//   given1  f16[4]
//   given2  f32[8]
//   launch threads=128 index=i32 resident=1
//     for j in 0..2  bind=grid
//       for t in 0..128  bind=block
//         template tiles shared0 block=j of 64 x 128 x 128 way=1 rows=64 cols=64 depth=32 high=2 across=2 stages=2 threads=128 pack=4 width=8 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 last=0 turns=0 cluster=1 by_row=0 relay=0 total=0
//           hole left - r q later given0 of 4
//             for l in 0..4  bind=vector
//               axis k = l + q in 0..128
//               %7 = load in0[128*r + k]  f32 left
//               %8 = cast %7          f16 left
//               store given0[l] %8
//             end
//           end
//           hole right r c q later given1 of 4
//             for l in 0..4  bind=vector
//               axis k = l + q in 0..128
//               %15 = load in1[128*c + k]  f32 right
//               %16 = cast %15        f16 right
//               store given1[l] %16
//             end
//           end
//           hole result r p - values given2 of 8
//             for l in 0..8  bind=vector
//               axis c = l + p in 0..128
//               %23 = load given2[l]  f16 col
//               %24 = relu %23        f16 col
//               store out0[128*r + c] %24
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 2 blocks have work
extern "C" __global__ void __launch_bounds__(128, 1)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef tc_u16 element;
        typedef tc_u16 stored;
        enum : int { way = 1, rows = 64, cols = 64, depth = 32, high = 2, across = 2, stages = 2, threads = 128, pack = 4, width = 8, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, last = 0, turns = 0, cluster = 1, by_row = 0, relay = 0, total = 0 };
        TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { tc_mma_f16(d, a, b); }
    };
    struct left_way { enum : int { bring = 1, deep = 1, width = 4, stepped = 0, line_stride = 0, deep_stride = 0 }; };
    auto left = [&](int, int r, int q, tc_u16 *given0) {
        const tc_pack<float, 4> v7 = tc_load((const tc_pack<float, 4> *)&in0[128 * r + q]);
        tc_pack<float, 4> o9;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t7 = v7.at[l];
            const float t8 = t7;
            o9.at[l] = t8;
        }
        *((tc_pack<tc_u16, 4> *)&given0[0]) = tc_halves_f16(o9);
    };
    struct right_way { enum : int { bring = 1, deep = 1, width = 4, stepped = 0, line_stride = 0, deep_stride = 0 }; };
    auto right = [&](int r, int c, int q, tc_u16 *given1) {
        const tc_pack<float, 4> v15 = tc_load((const tc_pack<float, 4> *)&in1[128 * c + q]);
        tc_pack<float, 4> o17;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t15 = v15.at[l];
            const float t16 = t15;
            o17.at[l] = t16;
        }
        *((tc_pack<tc_u16, 4> *)&given1[0]) = tc_halves_f16(o17);
    };
    auto result = [&](int r, int p, const float *given2) {
        const tc_pack<float, 8> v23 = *((const tc_pack<float, 8> *)&given2[0]);
        tc_pack<float, 8> o25;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t23 = v23.at[l];
            const float t24 = TC_SEL_f32(TC_LE_f32(t23, 0.0f), 0.0f, t23);
            o25.at[l] = t24;
        }
        tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + p], tc_halves_f16(o25));
    };
    tc_tiles<tc_tile_halves, product, left_way, right_way, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 64, 128, 128, left, right, 0, 0, result);
}

// kernel1: 7 element-wise ops around one product, 2 results
// rows 64, columns 128, depth 128; vector along c
//   in0  f16[8192]
//   in1  f32[16384]
//   out0  f16[8192]
//   in2  f32[1]
//   in3  f32[8192]
//   out1  f16[8192]
//   shared0  f32[8192]
//   given0  f16[8]
//   given1  f16[4]
//   given2  f32[8]
//   %0 = const 8192                   f32 row
//   launch threads=128 index=i32 resident=1
//     for j in 0..2  bind=grid
//       for t in 0..128  bind=block
//         template tiles shared0 block=j of 64 x 128 x 128 way=1 rows=64 cols=64 depth=32 high=2 across=2 stages=4 threads=128 pack=4 width=8 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 last=0 turns=0 cluster=1 by_row=0 relay=0 total=0
//           hole left - r q async given0 of 8 strides 128 1
//             copy 8 given0[0] <- in0[128*r + q]
//           end
//           hole right r c q later given1 of 4
//             for l in 0..4  bind=vector
//               axis k = l + q in 0..128
//               %11 = load in1[128*c + k]  f32 right
//               %12 = cast %11        f16 right
//               store given1[l] %12
//             end
//           end
//           hole result r p - values given2 of 8
//             for l in 0..8  bind=vector
//               axis c = l + p in 0..128
//               %19 = load in2[0]     f32 row
//               %20 = div %19 %0      f32 row
//               %21 = add %20 %20     f32 row
//               %22 = load given2[l]  f16 col
//               store out0[128*r + c] %22
//               %24 = cast %22        f32 col
//               %25 = load in3[128*r + c]  f32 col
//               %26 = sub %24 %25     f32 col
//               %27 = mul %21 %26     f32 col
//               %28 = cast %27        f16 col
//               store out1[128*r + c] %28
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 2 blocks have work
extern "C" __global__ void __launch_bounds__(128, 1)
kernel1(const tc_u16 *__restrict__ in0, const float *__restrict__ in1, tc_u16 *__restrict__ out0, const float *__restrict__ in2, const float *__restrict__ in3, tc_u16 *__restrict__ out1, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef tc_u16 element;
        typedef tc_u16 stored;
        enum : int { way = 1, rows = 64, cols = 64, depth = 32, high = 2, across = 2, stages = 4, threads = 128, pack = 4, width = 8, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, last = 0, turns = 0, cluster = 1, by_row = 0, relay = 0, total = 0 };
        TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { tc_mma_f16(d, a, b); }
    };
    struct left_way { enum : int { bring = 3, deep = 1, width = 8, stepped = 1, line_stride = 128, deep_stride = 1 }; };
    auto left = [&](int, int r, int q, bool) {
        return &in0[128 * r + q];
    };
    struct right_way { enum : int { bring = 1, deep = 1, width = 4, stepped = 0, line_stride = 0, deep_stride = 0 }; };
    auto right = [&](int r, int c, int q, tc_u16 *given1) {
        const tc_pack<float, 4> v11 = tc_load((const tc_pack<float, 4> *)&in1[128 * c + q]);
        tc_pack<float, 4> o13;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t11 = v11.at[l];
            const float t12 = t11;
            o13.at[l] = t12;
        }
        *((tc_pack<tc_u16, 4> *)&given1[0]) = tc_halves_f16(o13);
    };
    auto result = [&](int r, int p, const float *given2) {
        const float t19 = in2[0];
        const float t20 = t19 / 8192.0f;
        const float t21 = TC_ADD_f32(t20, t20);
        const tc_pack<float, 8> v22 = *((const tc_pack<float, 8> *)&given2[0]);
        const tc_pack<float, 8> v25 = tc_load((const tc_pack<float, 8> *)&in3[128 * r + p]);
        tc_pack<float, 8> o23;
        tc_pack<float, 8> o29;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t22 = v22.at[l];
            o23.at[l] = t22;
            const float t24 = t22;
            const float t25 = v25.at[l];
            const float t26 = TC_SUB_f32(t24, t25);
            const float t27 = TC_MUL_f32(t21, t26);
            const float t28 = t27;
            o29.at[l] = t28;
        }
        tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + p], tc_halves_f16(o23));
        tc_store((tc_pack<tc_u16, 8> *)&out1[128 * r + p], tc_halves_f16(o29));
    };
    tc_tiles<tc_tile_halves, product, left_way, right_way, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 64, 128, 128, left, right, 0, 0, result);
}

// kernel2: 5 element-wise ops, 1 reduction in 2 phases over the same rows, 4 results
// rows 1, columns 8192; vector along c
//   in0  f16[8192]
//   in1  f32[8192]
//   out0  f32[1]
//   out1  f32[1]
//   out2  f32[1]
//   in2  f32[1]
//   out3  f32[1]
//   held0  f16[16]
//   held1  f32[16]
//   %0 = const 8192                   f32 row
//   launch threads=512 index=i32
//     for r in 0..1  bind=grid
//       for x in 0..512  bind=block
//         %4 = load in2[0]            f32 row
//         acc0 = new sum width=8      f32 row
//         for u in 0..2  bind=unroll
//           copy 8 held0[8*u] <- in0[4096*u + 8*x]
//           copy 8 held1[8*u] <- in1[4096*u + 8*x]
//         end
//         for u in 0..2  bind=unroll
//           for l in 0..8  bind=vector
//             axis c = 4096*u + 8*x + l in 0..8192
//             %13 = load held0[8*u + l]  f16 col
//             %14 = cast %13          f32 col
//             %15 = load held1[8*u + l]  f32 col
//             %16 = sub %14 %15       f32 col
//             %17 = square %16        f32 col
//             acc0 sum= %17
//           end
//         end
//         %21 = combine acc0 threads=512  f32 row
//         if 0 <= x < 1
//           store out0[0] %21
//         end
//         %25 = div %21 %0            f32 row
//         if 0 <= x < 1
//           store out1[0] %25
//         end
//         if 0 <= x < 1
//           store out2[0] %25
//         end
//         %32 = mul %25 %4            f32 row
//         if 0 <= x < 1
//           store out3[0] %32
//         end
//       end
//     end
//   end
// 512 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(512)
kernel2(const tc_u16 *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, float *__restrict__ out1, float *__restrict__ out2, const float *__restrict__ in2, float *__restrict__ out3, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    tc_kept<16> held0;
    __align__(16) float held1[16];
    const int x = threadIdx.x;
    __builtin_assume(x < 512);
    const float t4 = in2[0];
    float sum0[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 2; u++) {
        held0.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[8 * x + 4096 * u]));
        *(tc_pack<float, 8> *)&held1[8 * u] = tc_load((const tc_pack<float, 8> *)&in1[8 * x + 4096 * u]);
    }
    #pragma unroll
    for (int u = 0; u < 2; u++) {
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t13 = tc_of_f16(held0[l + 8 * u]);
            const float t14 = t13;
            const float t15 = held1[l + 8 * u];
            const float t16 = TC_SUB_f32(t14, t15);
            const float t17 = TC_MUL_f32(t16, t16);
            sum0[l] = tc_acc_add_f32(sum0[l], t17);
        }
    }
    __shared__ float part0[16];
    const float all21 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
    if (x % 32 == 0) part0[x / 32] = all21;
    __syncthreads();
    const float t21 = tc_parts_add_f32<16>(part0);
    if (x < 1) {
        out0[0] = t21;
    }
    const float t25 = t21 / 8192.0f;
    if (x < 1) {
        out1[0] = t25;
    }
    if (x < 1) {
        out2[0] = t25;
    }
    const float t32 = TC_MUL_f32(t25, t4);
    if (x < 1) {
        out3[0] = t32;
    }
}

// kernel3: 3 element-wise ops around one product, 1 result
// rows 64, columns 128, depth 128; vector along c
//   in0  f16[8192]
//   in1  f32[16384]
//   in2  f16[8192]
//   out0  f16[8192]
//   shared0  f32[8192]
//   given0  f16[8]
//   given1  f16[4]
//   given2  f32[8]
//   %0 = const 0                      f16 row
//   launch threads=128 index=i32 resident=1
//     for j in 0..2  bind=grid
//       for t in 0..128  bind=block
//         template tiles shared0 block=j of 64 x 128 x 128 way=1 rows=64 cols=64 depth=32 high=2 across=2 stages=4 threads=128 pack=4 width=8 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 last=0 turns=0 cluster=1 by_row=0 relay=0 total=0
//           hole left - r q async given0 of 8 strides 128 1
//             copy 8 given0[0] <- in0[128*r + q]
//           end
//           hole right r p k later given1 of 4
//             for l in 0..4  bind=vector
//               axis c = l + p in 0..128
//               %11 = load in1[128*k + c]  f32 right
//               %12 = cast %11        f16 right
//               store given1[l] %12
//             end
//           end
//           hole result r p - values given2 of 8
//             for l in 0..8  bind=vector
//               axis c = l + p in 0..128
//               %19 = load in2[128*r + c]  f16 col
//               %20 = le %19 %0       bool col
//               %21 = load given2[l]  f16 col
//               %22 = where %20 %0 %21  f16 col
//               store out0[128*r + c] %22
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 2 blocks have work
extern "C" __global__ void __launch_bounds__(128, 1)
kernel3(const tc_u16 *__restrict__ in0, const float *__restrict__ in1, const tc_u16 *__restrict__ in2, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef tc_u16 element;
        typedef tc_u16 stored;
        enum : int { way = 1, rows = 64, cols = 64, depth = 32, high = 2, across = 2, stages = 4, threads = 128, pack = 4, width = 8, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, last = 0, turns = 0, cluster = 1, by_row = 0, relay = 0, total = 0 };
        TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { tc_mma_f16(d, a, b); }
    };
    struct left_way { enum : int { bring = 3, deep = 1, width = 8, stepped = 1, line_stride = 128, deep_stride = 1 }; };
    auto left = [&](int, int r, int q, bool) {
        return &in0[128 * r + q];
    };
    struct right_way { enum : int { bring = 1, deep = 0, width = 4, stepped = 0, line_stride = 0, deep_stride = 0 }; };
    auto right = [&](int r, int p, int k, tc_u16 *given1) {
        const tc_pack<float, 4> v11 = tc_load((const tc_pack<float, 4> *)&in1[128 * k + p]);
        tc_pack<float, 4> o13;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t11 = v11.at[l];
            const float t12 = t11;
            o13.at[l] = t12;
        }
        *((tc_pack<tc_u16, 4> *)&given1[0]) = tc_halves_f16(o13);
    };
    auto result = [&](int r, int p, const float *given2) {
        const tc_pack<tc_u16, 8> v19 = tc_load((const tc_pack<tc_u16, 8> *)&in2[128 * r + p]);
        const tc_pack<float, 8> v21 = *((const tc_pack<float, 8> *)&given2[0]);
        tc_pack<float, 8> o23;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t19 = tc_of_f16(v19.at[l]);
            const int t20 = TC_B_f32(TC_LE_f32(t19, 0.0f));
            const float t21 = v21.at[l];
            const float t22 = TC_SEL_f32(TC_M_f32(t20), 0.0f, t21);
            o23.at[l] = t22;
        }
        tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + p], tc_halves_f16(o23));
    };
    tc_tiles<tc_tile_halves, product, left_way, right_way, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 64, 128, 128, left, right, 0, 0, result);
}

// kernel4: 1 element-wise op around one product, 1 result
// rows 128, columns 128, depth 64; vector along c
//   in0  f16[8192]
//   in1  f32[8192]
//   out0  f16[16384]
//   shared0  f32[8192]
//   given0  f16[8]
//   given1  f16[4]
//   given2  f32[8]
//   launch threads=128 index=i32 resident=1
//     for j in 0..4  bind=grid
//       for t in 0..128  bind=block
//         template tiles shared0 block=j of 128 x 128 x 64 way=1 rows=64 cols=64 depth=32 high=2 across=2 stages=4 threads=128 pack=4 width=8 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 last=0 turns=0 cluster=1 by_row=0 relay=0 total=0
//           hole left - p k async given0 of 8 strides 1 128
//             copy 8 given0[0] <- in0[128*k + p]
//           end
//           hole right r p k later given1 of 4
//             for l in 0..4  bind=vector
//               axis c = l + p in 0..128
//               %10 = load in1[128*k + c]  f32 right
//               %11 = cast %10        f16 right
//               store given1[l] %11
//             end
//           end
//           hole result r p - values given2 of 8
//             for l in 0..8  bind=vector
//               axis c = l + p in 0..128
//               %18 = load given2[l]  f16 col
//               store out0[128*r + c] %18
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 4 blocks have work
extern "C" __global__ void __launch_bounds__(128, 1)
kernel4(const tc_u16 *__restrict__ in0, const float *__restrict__ in1, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef tc_u16 element;
        typedef tc_u16 stored;
        enum : int { way = 1, rows = 64, cols = 64, depth = 32, high = 2, across = 2, stages = 4, threads = 128, pack = 4, width = 8, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, last = 0, turns = 0, cluster = 1, by_row = 0, relay = 0, total = 0 };
        TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { tc_mma_f16(d, a, b); }
    };
    struct left_way { enum : int { bring = 3, deep = 0, width = 8, stepped = 1, line_stride = 1, deep_stride = 128 }; };
    auto left = [&](int, int p, int k, bool) {
        return &in0[128 * k + p];
    };
    struct right_way { enum : int { bring = 1, deep = 0, width = 4, stepped = 0, line_stride = 0, deep_stride = 0 }; };
    auto right = [&](int r, int p, int k, tc_u16 *given1) {
        const tc_pack<float, 4> v10 = tc_load((const tc_pack<float, 4> *)&in1[128 * k + p]);
        tc_pack<float, 4> o12;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t10 = v10.at[l];
            const float t11 = t10;
            o12.at[l] = t11;
        }
        *((tc_pack<tc_u16, 4> *)&given1[0]) = tc_halves_f16(o12);
    };
    auto result = [&](int r, int p, const float *given2) {
        const tc_pack<float, 8> v18 = *((const tc_pack<float, 8> *)&given2[0]);
        tc_pack<float, 8> o19;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t18 = v18.at[l];
            o19.at[l] = t18;
        }
        tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + p], tc_halves_f16(o19));
    };
    tc_tiles<tc_tile_halves, product, left_way, right_way, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 128, 128, 64, left, right, 0, 0, result);
}

// kernel5: 12 element-wise ops over one space, 13 results
// rows 1, columns 1; vector along c
//   in0  f32[1]
//   out0  f64[1]
//   out1  f64[1]
//   out2  f32[1]
//   in1  i32[1]
//   out3  i32[1]
//   out4  bool[1]
//   out5  f64[1]
//   out6  f32[1]
//   out7  bool[1]
//   out8  bool[1]
//   out9  f32[1]
//   out10  f64[1]
//   out11  f32[1]
//   out12  bool[1]
//   %0 = const 1                      i32 row
//   %1 = const 2000                   i32 row
//   %2 = const 2                      f64 row
//   %3 = const 0.5                    f64 row
//   %4 = const 0                      bool row
//   launch threads=256 index=i32
//     for j in 0..1  bind=grid
//       for t in 0..256  bind=block
//         if 0 <= 256*j + t < 1
//           axis i = 256*j + t in 0..1
//           axis r = i in 0..1
//           axis c = i in 0..1
//           %12 = load in0[0]         f32 row
//           %13 = cast %12            f64 row
//           if 0 <= c < 1
//             store out0[0] %13
//           end
//           %17 = reciprocal %13      f64 row
//           if 0 <= c < 1
//             store out1[0] %17
//           end
//           %21 = cast %17            f32 row
//           if 0 <= c < 1
//             store out2[0] %21
//           end
//           %25 = load in1[0]         i32 row
//           %26 = add %25 %0          i32 row
//           if 0 <= c < 1
//             store out3[0] %26
//           end
//           %30 = eq %26 %1           bool row
//           if 0 <= c < 1
//             store out4[0] %30
//           end
//           %34 = mul %13 %2          f64 row
//           if 0 <= c < 1
//             store out5[0] %34
//           end
//           %38 = cast %34            f32 row
//           if 0 <= c < 1
//             store out6[0] %38
//           end
//           %42 = isfinite %38        bool row
//           if 0 <= c < 1
//             store out7[0] %42
//           end
//           %46 = logical_and %30 %42  bool row
//           if 0 <= c < 1
//             store out8[0] %46
//           end
//           %50 = where %46 %38 %12   f32 row
//           if 0 <= c < 1
//             store out9[0] %50
//           end
//           %54 = mul %13 %3          f64 row
//           if 0 <= c < 1
//             store out10[0] %54
//           end
//           %58 = cast %54            f32 row
//           if 0 <= c < 1
//             store out11[0] %58
//           end
//           if 0 <= c < 1
//             store out12[0] %4
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel5(const float *__restrict__ in0, double *__restrict__ out0, double *__restrict__ out1, float *__restrict__ out2, const tc_i32 *__restrict__ in1, tc_i32 *__restrict__ out3, tc_u8 *__restrict__ out4, double *__restrict__ out5, float *__restrict__ out6, tc_u8 *__restrict__ out7, tc_u8 *__restrict__ out8, float *__restrict__ out9, double *__restrict__ out10, float *__restrict__ out11, tc_u8 *__restrict__ out12, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    if (256 * j + t < 1) {
        const int i = 256 * j + t;
        const int c = i;
        const float t12 = in0[0];
        const double t13 = tc_cast_f32_f64(t12);
        if (c < 1) {
            out0[0] = t13;
        }
        const double t17 = 1.0 / t13;
        if (c < 1) {
            out1[0] = t17;
        }
        const float t21 = tc_cast_f64_f32(t17);
        if (c < 1) {
            out2[0] = t21;
        }
        const int t25 = in1[0];
        const int t26 = TC_ADD_i32(t25, 1);
        if (c < 1) {
            out3[0] = t26;
        }
        const int t30 = TC_B_i32(TC_EQ_i32(t26, 2000));
        if (c < 1) {
            out4[0] = tc_u8(t30);
        }
        const double t34 = TC_MUL_f64(t13, 2.0);
        if (c < 1) {
            out5[0] = t34;
        }
        const float t38 = tc_cast_f64_f32(t34);
        if (c < 1) {
            out6[0] = t38;
        }
        const int t42 = TC_B_f32(TC_SUB_f32(t38, t38) == TC_SUB_f32(t38, t38));
        if (c < 1) {
            out7[0] = tc_u8(t42);
        }
        const int t46 = t30 & t42;
        if (c < 1) {
            out8[0] = tc_u8(t46);
        }
        const float t50 = TC_SEL_f32(TC_M_f32(t46), t38, t12);
        if (c < 1) {
            out9[0] = t50;
        }
        const double t54 = TC_MUL_f64(t13, 0.5);
        if (c < 1) {
            out10[0] = t54;
        }
        const float t58 = tc_cast_f64_f32(t54);
        if (c < 1) {
            out11[0] = t58;
        }
        if (c < 1) {
            out12[0] = tc_u8(0);
        }
    }
}

// kernel6: 6 element-wise ops around one product, 2 results
// rows 128, columns 128, depth 64; vector along c
//   in0  f16[8192]
//   in1  f16[8192]
//   out0  f16[16384]
//   in2  f32[16384]
//   in3  f16[16384]
//   in4  f32[1]
//   out1  f32[16384]
//   shared0  f32[8192]
//   given0  f16[8]
//   given1  f16[8]
//   given2  f32[8]
//   %0 = const 0.9                    f32 row
//   launch threads=128 index=i32 resident=3
//     for j in 0..4  bind=grid
//       for t in 0..128  bind=block
//         template tiles shared0 block=j of 128 x 128 x 64 way=1 rows=64 cols=64 depth=32 high=2 across=2 stages=4 threads=128 pack=4 width=8 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 last=0 turns=0 cluster=1 by_row=0 relay=0 total=0
//           hole left - p k async given0 of 8 strides 1 128
//             copy 8 given0[0] <- in0[128*k + p]
//           end
//           hole right r p k async given1 of 8 strides 1 128
//             copy 8 given1[0] <- in1[128*k + p]
//           end
//           hole result r p - values given2 of 8
//             for l in 0..8  bind=vector
//               axis c = l + p in 0..128
//               %14 = load in4[0]     f32 row
//               %15 = load given2[l]  f16 col
//               store out0[128*r + c] %15
//               %17 = load in2[128*r + c]  f32 col
//               %18 = mul %17 %0      f32 col
//               %19 = load in3[128*r + c]  f16 col
//               %20 = add %15 %19     f16 col
//               %21 = cast %20        f16 col
//               %22 = cast %21        f32 col
//               %23 = mul %22 %14     f32 col
//               %24 = add %18 %23     f32 col
//               store out1[128*r + c] %24
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 4 blocks have work
extern "C" __global__ void __launch_bounds__(128, 3)
kernel6(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, tc_u16 *__restrict__ out0, const float *__restrict__ in2, const tc_u16 *__restrict__ in3, const float *__restrict__ in4, float *__restrict__ out1, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_reads(in4), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef tc_u16 element;
        typedef tc_u16 stored;
        enum : int { way = 1, rows = 64, cols = 64, depth = 32, high = 2, across = 2, stages = 4, threads = 128, pack = 4, width = 8, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, last = 0, turns = 0, cluster = 1, by_row = 0, relay = 0, total = 0 };
        TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) { tc_mma_f16(d, a, b); }
    };
    struct left_way { enum : int { bring = 3, deep = 0, width = 8, stepped = 1, line_stride = 1, deep_stride = 128 }; };
    auto left = [&](int, int p, int k, bool) {
        return &in0[128 * k + p];
    };
    struct right_way { enum : int { bring = 3, deep = 0, width = 8, stepped = 1, line_stride = 1, deep_stride = 128 }; };
    auto right = [&](int r, int p, int k, bool) {
        return &in1[128 * k + p];
    };
    auto result = [&](int r, int p, const float *given2) {
        const float t14 = in4[0];
        const tc_pack<float, 8> v15 = *((const tc_pack<float, 8> *)&given2[0]);
        const tc_pack<float, 8> v17 = tc_load((const tc_pack<float, 8> *)&in2[128 * r + p]);
        const tc_pack<tc_u16, 8> v19 = tc_load((const tc_pack<tc_u16, 8> *)&in3[128 * r + p]);
        tc_pack<float, 8> o16;
        tc_pack<float, 8> o25;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t15 = v15.at[l];
            o16.at[l] = t15;
            const float t17 = v17.at[l];
            const float t18 = TC_MUL_f32(t17, 0x1.ccccccp-1f);
            const float t19 = tc_of_f16(v19.at[l]);
            const float t20 = TC_ADD_f32(t15, t19);
            const float t21 = tc_cast_f32_f16(t20);
            const float t22 = t21;
            const float t23 = TC_MUL_f32(t22, t14);
            const float t24 = TC_ADD_f32(t18, t23);
            o25.at[l] = t24;
        }
        tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + p], tc_halves_f16(o16));
        tc_store((tc_pack<float, 8> *)&out1[128 * r + p], o25);
    };
    tc_tiles<tc_tile_halves, product, left_way, right_way, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 128, 128, 64, left, right, 0, 0, result);
}

// kernel7: 13 element-wise ops, 1 reduction in 2 phases over the same rows, 9 results
// rows 1, columns 16384; vector along c
//   in0  f16[16384]
//   in1  f16[16384]
//   out0  bool[1]
//   out1  bool[1]
//   out2  bool[1]
//   in2  bool[1]
//   out3  bool[1]
//   in3  f32[16384]
//   in4  f32[16384]
//   out4  f32[16384]
//   in5  f32[16384]
//   out5  f32[16384]
//   in6  f32[1]
//   in7  f32[1]
//   out6  f32[1]
//   in8  bool[1]
//   out7  bool[1]
//   in9  i32[1]
//   out8  i32[1]
//   %0 = const 0.1                    f32 row
//   %1 = const 0                      i32 row
//   launch threads=512 index=i32
//     for r in 0..1  bind=grid
//       for x in 0..512  bind=block
//         %5 = load in2[0]            bool row
//         %6 = load in6[0]            f32 row
//         %7 = load in7[0]            f32 row
//         %8 = load in8[0]            bool row
//         %9 = load in9[0]            i32 row
//         acc0 = new all width=4      bool row
//         for u in 0..8  bind=unroll
//           for l in 0..4  bind=vector
//             axis c = 2048*u + 4*x + l in 0..16384
//             %14 = load in0[c]       f16 col
//             %15 = load in1[c]       f16 col
//             %16 = add %14 %15       f16 col
//             %17 = cast %16          f16 col
//             %18 = cast %17          f32 col
//             %19 = isfinite %18      bool col
//             acc0 all= %19
//           end
//         end
//         %23 = combine acc0 threads=512  bool row
//         if 0 <= x < 1
//           store out0[0] %23
//         end
//         if 0 <= x < 1
//           store out1[0] %23
//         end
//         %30 = logical_not %23       bool row
//         if 0 <= x < 1
//           store out2[0] %30
//         end
//         %34 = logical_or %5 %30     bool row
//         if 0 <= x < 1
//           store out3[0] %34
//         end
//         %38 = where %34 %6 %7       f32 row
//         if 0 <= x < 1
//           store out6[0] %38
//         end
//         %42 = logical_or %34 %8     bool row
//         if 0 <= x < 1
//           store out7[0] %42
//         end
//         %46 = where %42 %1 %9       i32 row
//         if 0 <= x < 1
//           store out8[0] %46
//         end
//         for u in 0..8  bind=unroll
//           for l in 0..4  bind=vector
//             axis c = 2048*u + 4*x + l in 0..16384
//             %53 = load in3[c]       f32 col
//             %54 = load in4[c]       f32 col
//             %55 = where %34 %53 %54  f32 col
//             store out4[c] %55
//             %57 = load in5[c]       f32 col
//             %58 = mul %54 %0        f32 col
//             %59 = sub %57 %58       f32 col
//             %60 = where %34 %57 %59  f32 col
//             store out5[c] %60
//           end
//         end
//       end
//     end
//   end
// 512 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(512)
kernel7(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, tc_u8 *__restrict__ out0, tc_u8 *__restrict__ out1, tc_u8 *__restrict__ out2, const tc_u8 *__restrict__ in2, tc_u8 *__restrict__ out3, const float *__restrict__ in3, const float *__restrict__ in4, float *__restrict__ out4, const float *__restrict__ in5, float *__restrict__ out5, const float *__restrict__ in6, const float *__restrict__ in7, float *__restrict__ out6, const tc_u8 *__restrict__ in8, tc_u8 *__restrict__ out7, const tc_i32 *__restrict__ in9, tc_i32 *__restrict__ out8, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_reads(in4), tc_reads(in5), tc_reads(in6), tc_reads(in7), tc_reads(in8), tc_reads(in9), tc_begin();
    const int x = threadIdx.x;
    __builtin_assume(x < 512);
    const int t5 = in2[0];
    const float t6 = in6[0];
    const float t7 = in7[0];
    const int t8 = in8[0];
    const int t9 = in9[0];
    int every0[4] = {1, 1, 1, 1};
    #pragma unroll
    for (int u = 0; u < 8; u++) {
        const tc_pack<tc_u16, 4> v14 = tc_load((const tc_pack<tc_u16, 4> *)&in0[4 * x + 2048 * u]);
        const tc_pack<tc_u16, 4> v15 = tc_load((const tc_pack<tc_u16, 4> *)&in1[4 * x + 2048 * u]);
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t14 = tc_of_f16(v14.at[l]);
            const float t15 = tc_of_f16(v15.at[l]);
            const float t16 = TC_ADD_f32(t14, t15);
            const float t17 = tc_cast_f32_f16(t16);
            const float t18 = t17;
            const int t19 = TC_B_f32(TC_SUB_f32(t18, t18) == TC_SUB_f32(t18, t18));
            every0[l] = tc_acc_logical_and_i32(every0[l], t19);
        }
    }
    __shared__ int part0[16];
    const int all23 = tc_lanes_logical_and_i32<32>(tc_fold_logical_and_i32(every0));
    if (x % 32 == 0) part0[x / 32] = all23;
    __syncthreads();
    const int t23 = tc_parts_logical_and_i32<16>(part0);
    if (x < 1) {
        out0[0] = tc_u8(t23);
    }
    if (x < 1) {
        out1[0] = tc_u8(t23);
    }
    const int t30 = TC_NOT(t23);
    if (x < 1) {
        out2[0] = tc_u8(t30);
    }
    const int t34 = t5 | t30;
    if (x < 1) {
        out3[0] = tc_u8(t34);
    }
    const float t38 = TC_SEL_f32(TC_M_f32(t34), t6, t7);
    if (x < 1) {
        out6[0] = t38;
    }
    const int t42 = t34 | t8;
    if (x < 1) {
        out7[0] = tc_u8(t42);
    }
    const int t46 = TC_SEL_i32(TC_M_i32(t42), 0, t9);
    if (x < 1) {
        out8[0] = t46;
    }
    #pragma unroll
    for (int u = 0; u < 8; u++) {
        const tc_pack<float, 4> v53 = tc_load((const tc_pack<float, 4> *)&in3[4 * x + 2048 * u]);
        const tc_pack<float, 4> v54 = tc_load((const tc_pack<float, 4> *)&in4[4 * x + 2048 * u]);
        const tc_pack<float, 4> v57 = tc_load((const tc_pack<float, 4> *)&in5[4 * x + 2048 * u]);
        tc_pack<float, 4> o56;
        tc_pack<float, 4> o61;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t53 = v53.at[l];
            const float t54 = v54.at[l];
            const float t55 = TC_SEL_f32(TC_M_f32(t34), t53, t54);
            o56.at[l] = t55;
            const float t57 = v57.at[l];
            const float t58 = TC_MUL_f32(t54, 0x1.99999ap-4f);
            const float t59 = TC_SUB_f32(t57, t58);
            const float t60 = TC_SEL_f32(TC_M_f32(t34), t57, t59);
            o61.at[l] = t60;
        }
        tc_store((tc_pack<float, 4> *)&out4[4 * x + 2048 * u], o56);
        tc_store((tc_pack<float, 4> *)&out5[4 * x + 2048 * u], o61);
    }
}
