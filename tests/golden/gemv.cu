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

TC_FN void TC_N(begin_beside)(tc_i64 beside) {
#if __CUDA_ARCH__ >= 900
    if (beside == 1) asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
    if (beside == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
    if (beside == 2) asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

TC_FN void TC_N(follow)(tc_i64 beside) {
#if __CUDA_ARCH__ >= 900
    if (beside == 2) asm volatile("griddepcontrol.wait;" ::: "memory");
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

template <class T> TC_FN T TC_N(plus)(T a, T b) {
    if constexpr ((T)0.5 != (T)0) return a + b;
    else return (T)((tc_u64)a + (tc_u64)b);
}

template <class T> TC_FN T TC_N(add_product)(T a, T b, T c) {
    if constexpr ((T)0.5 == (T)0) return (T)((tc_u64)a * (tc_u64)b + (tc_u64)c);
    else if constexpr (sizeof(T) == 4) return fmaf(a, b, c);
    else return fma(a, b, c);
}

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

template <class P, class I> struct TC_N(skinny_block) {
    typedef typename P::sum T;
    enum : int {
        lanes = P::threads / P::sharing,
        high = P::by_rows ? P::cover : P::few,
        broad = P::by_rows ? P::few : P::cover,
        many = P::few * P::cover,
        parts = P::dot ? (P::sharing > 32 ? P::sharing / 32 : 1) : P::threads / 32,
        each = P::dot ? P::each : P::width,
        packs = P::dot ? P::each : 1,
        deep = P::dot ? P::width : 1,
        stride = P::sharing * deep,
        sums = P::few * each
    };
    typedef tc_pack<T, P::width> wide_packs[packs];
    typedef T all_sums[P::few][each];
    int slice, x, y, lane, group, own;
    I block, r0, r1, c0, n, begin, end;
    __device__ __forceinline__ void first(I j, I m, I cols, I depth) {
        const I down = (m + (high - 1)) / high, across = (cols + (broad - 1)) / broad;
        slice = P::slices > 1 ? (int)((unsigned)j % (unsigned)P::slices) : 0;
        block = P::slices > 1 ? (I)((unsigned)j / (unsigned)P::slices) : j;
        const I place = P::batches ? block % (down * across) : block, batch = P::batches ? block / (down * across) * m : 0;
        r0 = batch + place / across * high, r1 = batch + m, c0 = place % across * broad, n = cols;
        begin = P::slices > 1 ? (I)slice * P::length : 0;
        end = P::slices > 1 && (!P::ragged_depth || begin + P::length < depth) ? begin + P::length : depth;
        x = threadIdx.x % lanes * P::width, y = threadIdx.x / lanes;
        lane = threadIdx.x % P::sharing, group = threadIdx.x / P::sharing * P::each;
        own = P::dot ? lane * P::width : y;
    }
    __device__ __forceinline__ I row(I r, int width) const { return P::ragged_rows && r > r1 - width ? r1 - width : r; }
    __device__ __forceinline__ I column(I c, int width) const { return P::ragged_cols && c > n - width ? n - width : c; }
    template <class H> __device__ __forceinline__ void wides(I k, wide_packs &wide, H hole) const {
        #pragma unroll
        for (int u = 0; u < packs; u++) {
            const int line = P::dot ? group + u : x, width = P::dot ? 1 : P::width;
            if constexpr (P::by_rows) hole((I)line, row(r0 + line, width), k, wide[u].at);
            else hole(r0, column(c0 + line, width), k, wide[u].at);
        }
    }
    template <class H> __device__ __forceinline__ void step(all_sums &sum, I k, const wide_packs &wide, H hole) const {
        #pragma unroll
        for (int i = 0; i < P::few; i++) {
            tc_pack<T, deep> few;
            if constexpr (P::by_rows) hole(r0, (I)i, k, few.at);
            else hole((I)i, row(r0 + i, 1), k, few.at);
            #pragma unroll
            for (int u = 0; u < each * deep; u++)
                sum[i][u / deep] = TC_N(add_product)(few.at[u % deep], wide[P::dot ? u / deep : 0].at[P::dot ? u % deep : u], sum[i][u / deep]);
        }
    }
    __device__ __forceinline__ void put(const all_sums &sum, T *tile) const {
        #pragma unroll
        for (int i = 0; i < sums; i++) {
            T v = sum[i / each][i % each];
            if constexpr (!P::dot) {
                for (int o = 16; o >= lanes; o /= 2) v = TC_N(plus)(v, __shfl_xor_sync(~0u, v, o));
                if ((int)threadIdx.x % 32 < lanes) tile[(threadIdx.x / 32 * P::few + i / each) * P::cover + x + i % each] = v;
            } else {
                for (int o = P::sharing > 32 ? 16 : P::sharing / 2; o; o /= 2) v = TC_N(plus)(v, __shfl_xor_sync(~0u, v, o));
                if (lane % 32 == 0) tile[lane / 32 * many + i / each * P::cover + group + i % each] = v;
            }
        }
    }
    __device__ __forceinline__ I row_of(int at) const { return r0 + (P::by_rows ? at % P::cover : at / P::cover); }
    __device__ __forceinline__ I column_of(int at) const { return P::by_rows ? (I)(at / P::cover) : c0 + at % P::cover; }
};

template <class P, class I, class Block, class Rows> TC_FN void TC_N(make_rows)(const Block &b, Rows rows) {
    const int together = P::threads / P::making, turns = (b.high + together - 1) / together;
    #pragma unroll 1
    for (int t = 0; t < turns; t++) {
        const I r = b.r0 + t * together + threadIdx.x / P::making;
        rows((I)t, r < b.r1 ? r : b.r1 - 1, b.c0);
    }
    __syncthreads();
}

template <class P, class I, class Rows, class Wide, class Few, class Ahead, class Early, class Result>
TC_FN void TC_N(skinny)(char *shared, unsigned *tickets, typename P::sum *work, I j, I m, I n, I depth, Rows rows, Wide wide_hole, Few few_hole,
                        Ahead ahead, Early early, Result result, tc_i64 beside) {
    typedef typename P::sum T;
    typedef TC_N(skinny_block)<P, I> B;
    T *const tile = (T *)shared;
    typename B::wide_packs held[P::steps > 0 ? P::steps : 1];
    typename B::all_sums sum;
    B b;
    b.first(j, m, n, depth);
    #pragma unroll
    for (int i = 0; i < B::sums; i++) sum[i / B::each][i % B::each] = 0;
    if constexpr (P::steps > 0) {
        #pragma unroll
        for (int s = 0; s < P::steps; s++) {
            const I k = b.own + s * B::stride;
            b.wides(k < depth - B::deep ? k : depth - B::deep, held[s], wide_hole);
        }
    }
    if constexpr (P::early) {
        const int at = threadIdx.x < B::many ? threadIdx.x : B::many - 1;
        early(b.row(b.row_of(at), 1), b.column(b.column_of(at), 1));
    }
    if constexpr (P::making > 0) TC_N(make_rows)<P, I>(b, rows);
    if constexpr (P::steps > 0) {
        #pragma unroll
        for (int s = 0; s < P::steps; s++) {
            const I k = b.own + s * B::stride;
            if (k < depth) b.step(sum, k, held[s], few_hole);
        }
    } else {
        if constexpr (P::ahead && P::by_rows) ahead(b.r0, b.row(b.r0 + b.x, P::width));
        if constexpr (P::ahead && !P::by_rows) ahead(b.r0, b.column(b.c0 + b.x, P::width));
        #pragma unroll (P::unrolled)
        for (I k = b.begin + b.own; k < b.end; k += B::stride) {
            b.wides(k, held[0], wide_hole);
            b.step(sum, k, held[0], few_hole);
        }
    }
    TC_N(follow)(beside);
    if constexpr (P::slices > 1)
        if (!TC_N(meet)<P, B::sums>(&sum[0][0], tickets, work, b.block, b.slice)) return;
    b.put(sum, tile);
    __syncthreads();
    for (int at = threadIdx.x; at < B::many; at += P::threads) {
        const I r = b.row_of(at), c = b.column_of(at);
        if ((P::ragged_rows && r >= b.r1) || (P::ragged_cols && c >= n)) continue;
        T all[1] = {tile[at]};
        for (int i = 1; i < B::parts; i++) all[0] = TC_N(plus)(all[0], tile[at + i * B::many]);
        result(r, c, all);
    }
}

// kernel0: 0 element-wise ops around one product, 1 result
// rows 1, columns 4096, depth 4096; vector along c
//   in0  f32[4096]
//   in1  f32[16777216]
//   out0  f32[4096]
//   shared0  f32[32]
//   given0  f32[4]
//   given1  f32[4]
//   given2  f32[1]
//   launch threads=256 index=i32
//     for j in 0..1024  bind=grid
//       for t in 0..256  bind=block
//         template skinny shared0 block=j of 1 x 4096 x 4096 by_rows=0 dot=1 few=1 sharing=256 each=4 cover=4 unrolled=4 threads=256 width=4 ahead=0 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 making=0 steps=0 early=0
//           hole right r c q values given0 of 4
//             copy 4 given0[0] <- in1[4096*c + q]
//           end
//           hole left - r q values given1 of 4
//             copy 4 given1[0] <- in0[q]
//           end
//           hole result r c - values given2 of 1
//             %11 = load given2[0]    f32 col
//             store out0[c] %11
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 1024 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin_beside(a.size[0]);
    __shared__ __align__(16) float shared0[32];
    const int j = blockIdx.x;
    struct product {
        typedef float sum;
        typedef float element;
        typedef float stored;
        enum : int { by_rows = 0, dot = 1, few = 1, sharing = 256, each = 4, cover = 4, unrolled = 4, threads = 256, width = 4, ahead = 0, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, making = 0, steps = 0, early = 0 };
    };
    auto right = [&](int r, int c, int q, float *given0) {
        *(tc_pack<float, 4> *)&given0[0] = tc_load((const tc_pack<float, 4> *)&in1[4096 * c + q]);
    };
    auto left = [&](int, int r, int q, float *given1) {
        *(tc_pack<float, 4> *)&given1[0] = tc_load((const tc_pack<float, 4> *)&in0[q]);
    };
    auto result = [&](int r, int c, const float *given2) {
        const float t11 = given2[0];
        out0[c] = t11;
    };
    tc_skinny<product, int>((char *)shared0, (unsigned *)nullptr, (float *)nullptr, j, 1, 4096, 4096, 0, right, left, 0, 0, result, a.size[0]);
}
