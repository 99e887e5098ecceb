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
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))

TC_FN float tc_erf_f32(float x) {
    typedef float T;
    return (T)(erff(x));
}

TC_FN float tc_exp_f32(float x) {
    typedef float T;
    return (T)(expf(x));
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

// kernel0: 12 element-wise ops, 1 reduction in 2 phases over the same rows, 2 results
// rows 768, columns 64; vector along r
//   in0  f32[49152]
//   in1  f32[49152]
//   in2  f32[768]
//   out0  f32[49152]
//   out1  f32[768]
//   held0  f32[4]
//   held1  f32[16]
//   held2  f32[16]
//   shared0  f32[1024]
//   %0 = const 0.70710677             f32 row
//   %1 = const 1                      f32 row
//   %2 = const 0.5                    f32 row
//   %3 = const -0.5                   f32 row
//   %4 = const 0.3989423              f32 row
//   launch threads=256 index=i32
//     for i in 0..6  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..32  bind=block
//           for l in 0..4  bind=vector
//             axis r = 128*i + 4*x + l in 0..768
//             %11 = load in2[r]       f32 row
//             store held0[l] %11
//           end
//           acc0 = new sum width=4    f32 row
//           for p in 0..2  bind=serial
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               copy 4 held1[4*u] <- in0[768*c + 128*i + 4*x]
//               copy 4 held2[4*u] <- in1[768*c + 128*i + 4*x]
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               for l in 0..4  bind=vector
//                 axis r = 128*i + 4*x + l in 0..768
//                 %25 = load held0[l]  f32 row
//                 %26 = load held1[4*u + l]  f32 col
//                 %27 = load held2[4*u + l]  f32 col
//                 %28 = add %27 %25   f32 col
//                 %29 = mul %28 %0    f32 col
//                 %30 = erf %29       f32 col
//                 %31 = add %30 %1    f32 col
//                 %32 = mul %31 %2    f32 col
//                 %33 = mul %28 %28   f32 col
//                 %34 = mul %33 %3    f32 col
//                 %35 = exp %34       f32 col
//                 %36 = mul %28 %35   f32 col
//                 %37 = mul %36 %4    f32 col
//                 %38 = add %32 %37   f32 col
//                 %39 = mul %26 %38   f32 col
//                 acc0 sum= %39
//                 store out0[768*c + r] %39
//               end
//             end
//           end
//           for l in 0..4  bind=vector
//             put shared0[128*y + 4*x + l] <- acc0
//           end
//           barrier block
//           acc0 = new sum width=4    f32 row
//           for n in 0..8  bind=unroll
//             for l in 0..4  bind=vector
//               get acc0 <- shared0[128*n + 4*x + l]
//             end
//           end
//           if 0 <= y < 1
//             for l in 0..4  bind=vector
//               axis r = 128*i + 4*x + l in 0..768
//               %58 = combine acc0 threads=1  f32 row
//               store out1[r] %58
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 6 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, float *__restrict__ out1, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[4];
    __align__(16) float held1[16];
    __align__(16) float held2[16];
    __shared__ __align__(16) float shared0[1024];
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 8);
    const tc_pack<float, 4> v11 = tc_load((const tc_pack<float, 4> *)&in2[128 * i + 4 * x]);
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        const float t11 = v11.at[l];
        held0[l] = t11;
    }
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 2; p++) {
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * c + 128 * i + 4 * x]);
            *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * c + 128 * i + 4 * x]);
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            tc_pack<float, 4> o41;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t25 = held0[l];
                const float t26 = held1[l + 4 * u];
                const float t27 = held2[l + 4 * u];
                const float t28 = TC_ADD_f32(t27, t25);
                const float t29 = TC_MUL_f32(t28, 0x1.6a09e6p-1f);
                const float t30 = tc_erf_f32(t29);
                const float t31 = TC_ADD_f32(t30, 1.0f);
                const float t32 = TC_MUL_f32(t31, 0.5f);
                const float t33 = TC_MUL_f32(t28, t28);
                const float t34 = TC_MUL_f32(t33, -0.5f);
                const float t35 = tc_exp_f32(t34);
                const float t36 = TC_MUL_f32(t28, t35);
                const float t37 = TC_MUL_f32(t36, 0x1.988454p-2f);
                const float t38 = TC_ADD_f32(t32, t37);
                const float t39 = TC_MUL_f32(t26, t38);
                sum0[l] = tc_acc_add_f32(sum0[l], t39);
                o41.at[l] = t39;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * c + 128 * i + 4 * x], o41);
        }
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[128 * y + 4 * x + l] = sum0[l];
    }
    __syncthreads();
    for (int l = 0; l < 4; l++) sum0[l] = 0.0f;
    #pragma unroll
    for (int n = 0; n < 8; n++) {
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            sum0[l] = tc_acc_add_f32(sum0[l], shared0[4 * x + l + 128 * n]);
        }
    }
    if (y < 1) {
        tc_pack<float, 4> o59;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t58 = sum0[l];
            o59.at[l] = t58;
        }
        tc_store((tc_pack<float, 4> *)&out1[128 * i + 4 * x], o59);
    }
}
