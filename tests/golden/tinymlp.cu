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
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_LE_f32(a, b) ((a) <= (b))
#define TC_SQRT_f32(x) sqrtf(x)


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

// kernel0: 13 element-wise ops, 2 reductions of rows before it around one product, 1 result
// rows 16, columns 64, depth 64; vector along c
//   in0  f32[1024]
//   in1  f32[64]
//   in2  f32[64]
//   shared0  f32[128]
//   in3  f32[4096]
//   in4  f32[64]
//   out0  f32[1024]
//   shared1  f32[16]
//   held0  f32[1]
//   held1  f32[1]
//   held2  f32[4]
//   held3  f32[4]
//   held4  f32[4]
//   given0  f32[4]
//   given1  f32[4]
//   given2  f32[1]
//   %0 = const 64                     f32 row
//   %1 = const 0.00001                f32 row
//   launch threads=256 index=i32
//     for j in 0..64  bind=grid
//       for y in 0..16  bind=block
//         for x in 0..16  bind=lane
//           template skinny shared1 block=j of 16 x 64 x 64 by_rows=0 dot=1 few=1 sharing=16 each=1 cover=16 unrolled=4 threads=256 width=4 ahead=0 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 making=16 steps=1 early=1
//             hole early r c - values
//               copy 1 held0[0] <- in0[64*r + c]
//               copy 1 held1[0] <- in4[c]
//             end
//             hole rows t r q values
//               if 0 <= 16*t + y < 2
//                 axis i = 16*t + y in 0..2
//                 for u in 0..1  bind=unroll
//                   copy 4 held2[4*u] <- in0[64*r + 64*u + 4*x]
//                   copy 4 held3[4*u] <- in1[64*u + 4*x]
//                   copy 4 held4[4*u] <- in2[64*u + 4*x]
//                 end
//                 acc0 = new sum width=4  f32 row
//                 for u in 0..1  bind=unroll
//                   for l in 0..4  bind=vector
//                     axis c = 64*u + 4*x + l in 0..64
//                     %23 = load held2[4*u + l]  f32 col
//                     acc0 sum= %23
//                   end
//                 end
//                 %27 = combine acc0 threads=16  f32 row
//                 %28 = div %27 %0    f32 row
//                 acc1 = new sum width=4  f32 row
//                 for u in 0..1  bind=unroll
//                   for l in 0..4  bind=vector
//                     axis c = 64*u + 4*x + l in 0..64
//                     %33 = load held2[4*u + l]  f32 col
//                     %34 = sub %33 %28  f32 col
//                     %35 = square %34  f32 col
//                     acc1 sum= %35
//                   end
//                 end
//                 %39 = combine acc1 threads=16  f32 row
//                 %40 = div %39 %0    f32 row
//                 %41 = add %40 %1    f32 row
//                 %42 = rsqrt %41     f32 row
//                 for u in 0..1  bind=unroll
//                   for l in 0..4  bind=vector
//                     axis c = 64*u + 4*x + l in 0..64
//                     %46 = load held2[4*u + l]  f32 col
//                     %47 = sub %46 %28  f32 col
//                     %48 = mul %47 %42  f32 col
//                     %49 = load held3[4*u + l]  f32 col
//                     %50 = mul %48 %49  f32 col
//                     %51 = load held4[4*u + l]  f32 col
//                     %52 = add %50 %51  f32 col
//                     store shared0[64*i + c] %52
//                   end
//                 end
//               end
//             end
//             hole right r c q values given0 of 4
//               copy 4 given0[0] <- in3[64*c + q]
//             end
//             hole left i r q values given1 of 4
//               for l in 0..4  bind=vector
//                 axis k = l + q in 0..64
//                 %64 = load shared0[64*i + k]  f32 left
//                 store given1[l] %64
//               end
//             end
//             hole result r c - values given2 of 1
//               %69 = load held0[0]   f32 col
//               %70 = load given2[0]  f32 col
//               %71 = load held1[0]   f32 col
//               %72 = add %70 %71     f32 col
//               %73 = relu %72        f32 col
//               %74 = add %69 %73     f32 col
//               store out0[64*r + c] %74
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, const float *__restrict__ in4, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_reads(in4), tc_begin_beside(a.size[0]);
    __shared__ __align__(16) float shared0[128];
    __shared__ __align__(16) float shared1[16];
    __align__(16) float held0[1];
    __align__(16) float held1[1];
    __align__(16) float held2[4];
    __align__(16) float held3[4];
    __align__(16) float held4[4];
    const int j = blockIdx.x;
    const int y = threadIdx.x / 16, x = threadIdx.x % 16;
    __builtin_assume(y < 16);
    struct product {
        typedef float sum;
        typedef float element;
        typedef float stored;
        enum : int { by_rows = 0, dot = 1, few = 1, sharing = 16, each = 1, cover = 16, unrolled = 4, threads = 256, width = 4, ahead = 0, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, making = 16, steps = 1, early = 1 };
    };
    auto early = [&](int r, int c) {
        *(tc_pack<float, 1> *)&held0[0] = tc_load((const tc_pack<float, 1> *)&in0[64 * r + c]);
        *(tc_pack<float, 1> *)&held1[0] = tc_load((const tc_pack<float, 1> *)&in4[c]);
    };
    auto rows = [&](int t, int r, int q) {
        if (y + 16 * t < 2) {
            const int i = y + 16 * t;
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[64 * r + 4 * x + 64 * u]);
                *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[4 * x + 64 * u]);
                *(tc_pack<float, 4> *)&held4[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 64 * u]);
            }
            float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t23 = held2[4 * u + l];
                    sum0[l] = tc_acc_add_f32(sum0[l], t23);
                }
            }
            const float t27 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum0));
            const float t28 = t27 / 64.0f;
            float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t33 = held2[4 * u + l];
                    const float t34 = TC_SUB_f32(t33, t28);
                    const float t35 = TC_MUL_f32(t34, t34);
                    sum1[l] = tc_acc_add_f32(sum1[l], t35);
                }
            }
            const float t39 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum1));
            const float t40 = t39 / 64.0f;
            const float t41 = TC_ADD_f32(t40, 0x1.4f8b58p-17f);
            const float t42 = 1.0f / TC_SQRT_f32(t41);
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                tc_pack<float, 4> o53;
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t46 = held2[4 * u + l];
                    const float t47 = TC_SUB_f32(t46, t28);
                    const float t48 = TC_MUL_f32(t47, t42);
                    const float t49 = held3[4 * u + l];
                    const float t50 = TC_MUL_f32(t48, t49);
                    const float t51 = held4[4 * u + l];
                    const float t52 = TC_ADD_f32(t50, t51);
                    o53.at[l] = t52;
                }
                *((tc_pack<float, 4> *)&shared0[64 * i + 4 * x + 64 * u]) = o53;
            }
        }
    };
    auto right = [&](int r, int c, int q, float *given0) {
        *(tc_pack<float, 4> *)&given0[0] = tc_load((const tc_pack<float, 4> *)&in3[64 * c + q]);
    };
    auto left = [&](int i, int r, int q, float *given1) {
        const tc_pack<float, 4> v64 = *((const tc_pack<float, 4> *)&shared0[64 * i + q]);
        tc_pack<float, 4> o65;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t64 = v64.at[l];
            o65.at[l] = t64;
        }
        *((tc_pack<float, 4> *)&given1[0]) = o65;
    };
    auto result = [&](int r, int c, const float *given2) {
        const float t69 = held0[0];
        const float t70 = given2[0];
        const float t71 = held1[0];
        const float t72 = TC_ADD_f32(t70, t71);
        const float t73 = TC_SEL_f32(TC_LE_f32(t72, 0.0f), 0.0f, t72);
        const float t74 = TC_ADD_f32(t69, t73);
        out0[64 * r + c] = t74;
    };
    tc_skinny<product, int>((char *)shared1, (unsigned *)nullptr, (float *)nullptr, j, 16, 64, 64, rows, right, left, 0, early, result, a.size[0]);
}

// kernel1: 13 element-wise ops, 2 reductions of rows before it around one product, 1 result
// rows 16, columns 64, depth 64; vector along c
//   in0  f32[1024]
//   in1  f32[64]
//   in2  f32[64]
//   shared0  f32[128]
//   in3  f32[4096]
//   in4  f32[64]
//   out0  f32[1024]
//   shared1  f32[16]
//   held0  f32[1]
//   held1  f32[1]
//   held2  f32[4]
//   held3  f32[4]
//   held4  f32[4]
//   given0  f32[4]
//   given1  f32[4]
//   given2  f32[1]
//   %0 = const 64                     f32 row
//   %1 = const 0.00001                f32 row
//   launch threads=256 index=i32
//     for j in 0..64  bind=grid
//       for y in 0..16  bind=block
//         for x in 0..16  bind=lane
//           template skinny shared1 block=j of 16 x 64 x 64 by_rows=0 dot=1 few=1 sharing=16 each=1 cover=16 unrolled=4 threads=256 width=4 ahead=0 slices=1 length=0 group=12 batches=0 ragged_rows=0 ragged_cols=0 ragged_depth=0 making=16 steps=1 early=1
//             hole early r c - values
//               copy 1 held0[0] <- in0[64*r + c]
//               copy 1 held1[0] <- in4[c]
//             end
//             hole rows t r q values
//               if 0 <= 16*t + y < 2
//                 axis i = 16*t + y in 0..2
//                 for u in 0..1  bind=unroll
//                   copy 4 held2[4*u] <- in0[64*r + 64*u + 4*x]
//                   copy 4 held3[4*u] <- in1[64*u + 4*x]
//                   copy 4 held4[4*u] <- in2[64*u + 4*x]
//                 end
//                 acc0 = new sum width=4  f32 row
//                 for u in 0..1  bind=unroll
//                   for l in 0..4  bind=vector
//                     axis c = 64*u + 4*x + l in 0..64
//                     %23 = load held2[4*u + l]  f32 col
//                     acc0 sum= %23
//                   end
//                 end
//                 %27 = combine acc0 threads=16  f32 row
//                 %28 = div %27 %0    f32 row
//                 acc1 = new sum width=4  f32 row
//                 for u in 0..1  bind=unroll
//                   for l in 0..4  bind=vector
//                     axis c = 64*u + 4*x + l in 0..64
//                     %33 = load held2[4*u + l]  f32 col
//                     %34 = sub %33 %28  f32 col
//                     %35 = square %34  f32 col
//                     acc1 sum= %35
//                   end
//                 end
//                 %39 = combine acc1 threads=16  f32 row
//                 %40 = div %39 %0    f32 row
//                 %41 = add %40 %1    f32 row
//                 %42 = rsqrt %41     f32 row
//                 for u in 0..1  bind=unroll
//                   for l in 0..4  bind=vector
//                     axis c = 64*u + 4*x + l in 0..64
//                     %46 = load held2[4*u + l]  f32 col
//                     %47 = sub %46 %28  f32 col
//                     %48 = mul %47 %42  f32 col
//                     %49 = load held3[4*u + l]  f32 col
//                     %50 = mul %48 %49  f32 col
//                     %51 = load held4[4*u + l]  f32 col
//                     %52 = add %50 %51  f32 col
//                     store shared0[64*i + c] %52
//                   end
//                 end
//               end
//             end
//             hole right r c q values given0 of 4
//               copy 4 given0[0] <- in3[64*c + q]
//             end
//             hole left i r q values given1 of 4
//               for l in 0..4  bind=vector
//                 axis k = l + q in 0..64
//                 %64 = load shared0[64*i + k]  f32 left
//                 store given1[l] %64
//               end
//             end
//             hole result r c - values given2 of 1
//               %69 = load held0[0]   f32 col
//               %70 = load given2[0]  f32 col
//               %71 = load held1[0]   f32 col
//               %72 = add %70 %71     f32 col
//               %73 = relu %72        f32 col
//               %74 = add %69 %73     f32 col
//               store out0[64*r + c] %74
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, const float *__restrict__ in4, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_reads(in4), tc_begin_beside(a.size[0]);
    __shared__ __align__(16) float shared0[128];
    __shared__ __align__(16) float shared1[16];
    __align__(16) float held0[1];
    __align__(16) float held1[1];
    __align__(16) float held2[4];
    __align__(16) float held3[4];
    __align__(16) float held4[4];
    const int j = blockIdx.x;
    const int y = threadIdx.x / 16, x = threadIdx.x % 16;
    __builtin_assume(y < 16);
    struct product {
        typedef float sum;
        typedef float element;
        typedef float stored;
        enum : int { by_rows = 0, dot = 1, few = 1, sharing = 16, each = 1, cover = 16, unrolled = 4, threads = 256, width = 4, ahead = 0, slices = 1, length = 0, group = 12, batches = 0, ragged_rows = 0, ragged_cols = 0, ragged_depth = 0, making = 16, steps = 1, early = 1 };
    };
    auto early = [&](int r, int c) {
        *(tc_pack<float, 1> *)&held0[0] = tc_load((const tc_pack<float, 1> *)&in0[64 * r + c]);
        *(tc_pack<float, 1> *)&held1[0] = tc_load((const tc_pack<float, 1> *)&in4[c]);
    };
    auto rows = [&](int t, int r, int q) {
        if (y + 16 * t < 2) {
            const int i = y + 16 * t;
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[64 * r + 4 * x + 64 * u]);
                *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[4 * x + 64 * u]);
                *(tc_pack<float, 4> *)&held4[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 64 * u]);
            }
            float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t23 = held2[4 * u + l];
                    sum0[l] = tc_acc_add_f32(sum0[l], t23);
                }
            }
            const float t27 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum0));
            const float t28 = t27 / 64.0f;
            float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t33 = held2[4 * u + l];
                    const float t34 = TC_SUB_f32(t33, t28);
                    const float t35 = TC_MUL_f32(t34, t34);
                    sum1[l] = tc_acc_add_f32(sum1[l], t35);
                }
            }
            const float t39 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum1));
            const float t40 = t39 / 64.0f;
            const float t41 = TC_ADD_f32(t40, 0x1.4f8b58p-17f);
            const float t42 = 1.0f / TC_SQRT_f32(t41);
            #pragma unroll
            for (int u = 0; u < 1; u++) {
                tc_pack<float, 4> o53;
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t46 = held2[4 * u + l];
                    const float t47 = TC_SUB_f32(t46, t28);
                    const float t48 = TC_MUL_f32(t47, t42);
                    const float t49 = held3[4 * u + l];
                    const float t50 = TC_MUL_f32(t48, t49);
                    const float t51 = held4[4 * u + l];
                    const float t52 = TC_ADD_f32(t50, t51);
                    o53.at[l] = t52;
                }
                *((tc_pack<float, 4> *)&shared0[64 * i + 4 * x + 64 * u]) = o53;
            }
        }
    };
    auto right = [&](int r, int c, int q, float *given0) {
        *(tc_pack<float, 4> *)&given0[0] = tc_load((const tc_pack<float, 4> *)&in3[64 * c + q]);
    };
    auto left = [&](int i, int r, int q, float *given1) {
        const tc_pack<float, 4> v64 = *((const tc_pack<float, 4> *)&shared0[64 * i + q]);
        tc_pack<float, 4> o65;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t64 = v64.at[l];
            o65.at[l] = t64;
        }
        *((tc_pack<float, 4> *)&given1[0]) = o65;
    };
    auto result = [&](int r, int c, const float *given2) {
        const float t69 = held0[0];
        const float t70 = given2[0];
        const float t71 = held1[0];
        const float t72 = TC_ADD_f32(t70, t71);
        const float t73 = TC_SEL_f32(TC_LE_f32(t72, 0.0f), 0.0f, t72);
        const float t74 = TC_ADD_f32(t69, t73);
        out0[64 * r + c] = t74;
    };
    tc_skinny<product, int>((char *)shared1, (unsigned *)nullptr, (float *)nullptr, j, 16, 64, 64, rows, right, left, 0, early, result, a.size[0]);
}
