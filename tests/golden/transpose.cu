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

// kernel0: 1 element-wise op over one space, 1 result
// rows 1000, columns 768; vector along c
//   in0  f32[768000]
//   in1  f32[768000]
//   out0  f32[768000]
//   shared0  f32[1056]
//   held0  f32[4]
//   launch threads=256 index=i32
//     for j in 0..32  bind=grid
//       for i in 0..24  bind=grid
//         for y in 0..32  bind=block
//           for x in 0..8  bind=lane
//             for u in 0..1  bind=unroll
//               if 0 <= 32*j + 32*u + y < 1000
//                 axis r = 32*j + 32*u + y in 0..1000
//                 for l in 0..4  bind=vector
//                   axis c = 32*i + 4*x + l in 0..768
//                   %10 = load in1[768*r + c]  f32 col
//                   store held0[4*u + l] %10
//                 end
//               end
//             end
//             for u in 0..1  bind=unroll
//               if 0 <= 32*j + 4*x < 1000
//                 axis c = 32*i + 32*u + y in 0..768
//                 for l in 0..4  bind=vector
//                   axis r = 32*j + 4*x + l in 0..1000
//                   %20 = load in0[1000*c + r]  f32 col
//                   store shared0[1056*u + 33*y + 4*x + l] %20
//                 end
//               end
//             end
//             barrier block
//             for u in 0..1  bind=unroll
//               if 0 <= 32*j + 32*u + y < 1000
//                 axis r = 32*j + 32*u + y in 0..1000
//                 for l in 0..4  bind=vector
//                   axis c = 32*i + 4*x + l in 0..768
//                   %31 = load shared0[132*x + 33*l + 32*u + y]  f32 col
//                   %32 = load held0[4*u + l]  f32 col
//                   %33 = add %31 %32  f32 col
//                   store out0[768*r + c] %33
//                 end
//               end
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 768 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin();
    __shared__ __align__(16) float shared0[1056];
    __align__(16) float held0[4];
    const int j = blockIdx.x / 24, i = blockIdx.x % 24;
    const int y = threadIdx.x / 8, x = threadIdx.x % 8;
    __builtin_assume(y < 32);
    #pragma unroll
    for (int u = 0; u < 1; u++) {
        if (32 * j + y + 32 * u < 1000) {
            const int r = 32 * j + y + 32 * u;
            const tc_pack<float, 4> v10 = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 32 * i + 4 * x]);
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t10 = v10.at[l];
                held0[4 * u + l] = t10;
            }
        }
    }
    #pragma unroll
    for (int u = 0; u < 1; u++) {
        if (32 * j + 4 * x < 1000) {
            const int c = 32 * i + y + 32 * u;
            const tc_pack<float, 4> v20 = tc_load((const tc_pack<float, 4> *)&in0[1000 * c + 32 * j + 4 * x]);
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t20 = v20.at[l];
                shared0[33 * y + 4 * x + 1056 * u + l] = t20;
            }
        }
    }
    __syncthreads();
    #pragma unroll
    for (int u = 0; u < 1; u++) {
        if (32 * j + y + 32 * u < 1000) {
            const int r = 32 * j + y + 32 * u;
            tc_pack<float, 4> o34;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t31 = shared0[y + 132 * x + 32 * u + 33 * l];
                const float t32 = held0[4 * u + l];
                const float t33 = TC_ADD_f32(t31, t32);
                o34.at[l] = t33;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 32 * i + 4 * x], o34);
        }
    }
}
