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

TC_FN void TC_N(copy_wait_all)() { asm volatile("cp.async.wait_all;" ::: "memory"); }

TC_FN void TC_N(cluster_arrive)() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }

TC_FN void TC_N(cluster_wait)() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

template <class T> TC_FN void TC_N(cluster_store)(T *p, unsigned rank, T v) {
    tc_u64 there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
    *(T *)there = v;
}

TC_FN float TC_N(larger_f32)(float x, float y) {
    float z;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

TC_FN float TC_N(ex2)(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TC_FN float TC_N(exp_shifted)(float x) {
    const float y = TC_N(larger_f32)(x, -104.0f), t = y * 1.44269502f, e = TC_N(ex2)(t);
    return fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e);
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))


TC_FN float tc_acc_maximum_f32(float a, float b) {
    return tc_larger_f32(a, b);
}

// The elements of a thread.
template <int V> TC_FN float tc_fold_maximum_f32(const float (&x)[V]) {
    float y = x[0];
    for (int l = 1; l < V; l++) y = tc_acc_maximum_f32(y, x[l]);
    return y;
}

// The values of L lanes that are neighbours; all of them get the result.
template <int L> TC_FN float tc_lanes_maximum_f32(float x) {
    for (int o = L / 2; o; o /= 2) x = tc_acc_maximum_f32(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

// What W warps have put into shared memory; all threads get the result.
template <int W> TC_FN float tc_parts_maximum_f32(const float *part) {
    const int w = threadIdx.x % 32;
    return tc_lanes_maximum_f32<32>(w < W ? part[w] : (-1.0f/0.0f));
}

// H values of shared memory, S apart.
template <int H, int S> TC_FN float tc_below_maximum_f32(const float *part) {
    float x = part[0];
    for (int y = 1; y < H; y++) x = tc_acc_maximum_f32(x, part[y * S]);
    return x;
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

// kernel0: 3 element-wise ops, 2 reductions in 3 phases over the same rows, 1 result
// rows 512, columns 100000; vector along c
//   in0  f32[51200000]
//   out0  f32[51200000]
//   row0  f32[100000]
//   shared0  f32[25024]
//   launch threads=1024 index=i32 cluster=4
//     for r in 0..512  bind=grid
//       for z in 0..4  bind=grid
//         for x in 0..1024  bind=block
//           acc0 = new max width=4    f32 row
//           for p in 0..7  bind=serial
//             if 0 <= 4096*p + 4*x < 25000
//               copy 4 shared0[4096*p + 4*x] <- in0[100000*r + 25000*z + 4096*p + 4*x]
//             end
//           end
//           wait
//           for p in 0..7  bind=serial
//             if 0 <= 4096*p + 4*x < 25000
//               for l in 0..4  bind=vector
//                 axis c = 25000*z + 4096*p + 4*x + l in 0..100000
//                 %15 = load shared0[-25000*z + c]  f32 col
//                 acc0 max= %15
//               end
//             end
//           end
//           %20 = combine acc0 threads=1024 blocks=4  f32 row
//           acc1 = new sum width=4    f32 row
//           for p in 0..7  bind=serial
//             if 0 <= 4096*p + 4*x < 25000
//               for l in 0..4  bind=vector
//                 axis c = 25000*z + 4096*p + 4*x + l in 0..100000
//                 %26 = load shared0[-25000*z + c]  f32 col
//                 %27 = sub %26 %20   f32 col
//                 %28 = exp %27       f32 col
//                 acc1 sum= %28
//               end
//             end
//           end
//           %33 = combine acc1 threads=1024 blocks=4  f32 row
//           for p in 0..7  bind=serial
//             if 0 <= 4096*p + 4*x < 25000
//               for l in 0..4  bind=vector
//                 axis c = 25000*z + 4096*p + 4*x + l in 0..100000
//                 %38 = load shared0[-25000*z + c]  f32 col
//                 %39 = sub %38 %20   f32 col
//                 %40 = exp %39       f32 col
//                 %41 = div %40 %33   f32 col
//                 store out0[100000*r + c] %41 streamed
//               end
//             end
//           end
//         end
//       end
//     end
//   end
// 1024 threads in a block, 2048 blocks have work, launched in clusters of 4
extern "C" __global__ void __launch_bounds__(1024)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_begin();
    float *const shared0 = (float *)(shared + 0);
    const int r = blockIdx.x / 4, z = blockIdx.x % 4;
    const int x = threadIdx.x;
    __builtin_assume(x < 1024);
    tc_cluster_arrive();
    float max0[4] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    for (int p = 0; p < 7; p++) {
        if (4 * x + 4096 * p < 25000) {
            tc_copy_async((tc_pack<float, 4> *)&shared0[4 * x + 4096 * p], (const tc_pack<float, 4> *)&in0[100000 * r + 25000 * z + 4 * x + 4096 * p]);
        }
    }
    tc_copy_wait_all();
    for (int p = 0; p < 7; p++) {
        if (4 * x + 4096 * p < 25000) {
            const tc_pack<float, 4> v15 = *((const tc_pack<float, 4> *)&shared0[4 * x + 4096 * p]);
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t15 = v15.at[l];
                max0[l] = tc_acc_maximum_f32(max0[l], t15);
            }
        }
    }
    float *const part0 = (float *)(shared + 100096);
    const float all20 = tc_lanes_maximum_f32<32>(tc_fold_maximum_f32(max0));
    tc_cluster_wait();
    if (x % 32 < 4) tc_cluster_store(&part0[z * 32 + x / 32], x % 32, all20);
    tc_cluster_arrive();
    tc_cluster_wait();
    const float t20 = tc_lanes_maximum_f32<32>(tc_below_maximum_f32<4, 32>(&part0[x % 32]));
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 7; p++) {
        if (4 * x + 4096 * p < 25000) {
            const tc_pack<float, 4> v26 = *((const tc_pack<float, 4> *)&shared0[4 * x + 4096 * p]);
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t26 = v26.at[l];
                const float t27 = TC_SUB_f32(t26, t20);
                const float t28 = tc_exp_shifted(t27);
                sum1[l] = tc_acc_add_f32(sum1[l], t28);
            }
        }
    }
    float *const part1 = (float *)(shared + 100608);
    const float all33 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    if (x % 32 < 4) tc_cluster_store(&part1[z * 32 + x / 32], x % 32, all33);
    tc_cluster_arrive();
    tc_cluster_wait();
    const float t33 = tc_lanes_add_f32<32>(tc_below_add_f32<4, 32>(&part1[x % 32]));
    for (int p = 0; p < 7; p++) {
        if (4 * x + 4096 * p < 25000) {
            const tc_pack<float, 4> v38 = *((const tc_pack<float, 4> *)&shared0[4 * x + 4096 * p]);
            tc_pack<float, 4> o42;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t38 = v38.at[l];
                const float t39 = TC_SUB_f32(t38, t20);
                const float t40 = tc_exp_shifted(t39);
                const float t41 = t40 / t33;
                o42.at[l] = t41;
            }
            tc_store((tc_pack<float, 4> *)&out0[100000 * r + 25000 * z + 4 * x + 4096 * p], o42);
        }
    }
}
