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

TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }

TC_FN unsigned TC_N(pack_bf16)(float a, float b) {
    unsigned w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(b), "f"(a));
    return w;
}

TC_FN tc_u16 TC_N(bits_bf16)(float f) { return (tc_u16)TC_N(pack_bf16)(f, 0.0f); }

template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
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

TC_FN float TC_N(exp_half)(float x) { return TC_N(ex2)(x * 1.44269502f); }

TC_FN float TC_N(div_half)(float a, float b) {
    float y;
    asm("div.full.f32 %0, %1, %2;" : "=f"(y) : "f"(a), "f"(b));
    return y;
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
// rows 8192, columns 64; vector along r
//   in0  bf16[524288]
//   out0  bf16[524288]
//   row0  bf16[64]
//   held0  bf16[32]
//   shared0  f32[2048]
//   held1  bf16[8]
//   held2  bf16[32]
//   shared1  f32[2048]
//   held3  bf16[8]
//   held4  bf16[32]
//   launch threads=256 index=i32
//     for i in 0..32  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..32  bind=block
//           acc0 = new max width=8    bf16 row
//           for p in 0..2  bind=serial
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               copy 8 held0[8*u] <- in0[8192*c + 256*i + 8*x]
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               for l in 0..8  bind=vector
//                 axis r = 256*i + 8*x + l in 0..8192
//                 %14 = load held0[8*u + l]  bf16 col
//                 acc0 max= %14
//               end
//             end
//           end
//           for l in 0..8  bind=vector
//             put shared0[256*y + 8*x + l] <- acc0
//           end
//           barrier block
//           acc0 = new max width=8    f32 row
//           for n in 0..8  bind=unroll
//             for l in 0..8  bind=vector
//               get acc0 <- shared0[256*n + 8*x + l]
//             end
//           end
//           for l in 0..8  bind=vector
//             axis r = 256*i + 8*x + l in 0..8192
//             %31 = combine acc0 threads=1  bf16 row
//             store held1[l] %31
//           end
//           acc1 = new sum width=8    bf16 row
//           for p in 0..2  bind=serial
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               copy 8 held2[8*u] <- in0[8192*c + 256*i + 8*x]
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               for l in 0..8  bind=vector
//                 axis r = 256*i + 8*x + l in 0..8192
//                 %44 = load held1[l]  bf16 row
//                 %45 = load held2[8*u + l]  bf16 col
//                 %46 = sub %45 %44   bf16 col
//                 %47 = exp %46       bf16 col
//                 acc1 sum= %47
//               end
//             end
//           end
//           for l in 0..8  bind=vector
//             put shared1[256*y + 8*x + l] <- acc1
//           end
//           barrier block
//           acc1 = new sum width=8    f32 row
//           for n in 0..8  bind=unroll
//             for l in 0..8  bind=vector
//               get acc1 <- shared1[256*n + 8*x + l]
//             end
//           end
//           for l in 0..8  bind=vector
//             axis r = 256*i + 8*x + l in 0..8192
//             %64 = combine acc1 threads=1  bf16 row
//             store held3[l] %64
//           end
//           for p in 0..2  bind=serial
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               copy 8 held4[8*u] <- in0[8192*c + 256*i + 8*x]
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               for l in 0..8  bind=vector
//                 axis r = 256*i + 8*x + l in 0..8192
//                 %76 = load held1[l]  bf16 row
//                 %77 = load held4[8*u + l]  bf16 col
//                 %78 = sub %77 %76   bf16 col
//                 %79 = exp %78       bf16 col
//                 %80 = load held3[l]  bf16 row
//                 %81 = div %79 %80   bf16 col
//                 store out0[8192*c + r] %81
//               end
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 32 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const tc_u16 *__restrict__ in0, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    tc_kept<32> held0;
    __shared__ __align__(16) float shared0[2048];
    __align__(16) tc_u16 held1[8];
    tc_kept<32> held2;
    __shared__ __align__(16) float shared1[2048];
    __align__(16) tc_u16 held3[8];
    tc_kept<32> held4;
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 8);
    float max0[8] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    for (int p = 0; p < 2; p++) {
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            held0.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[8192 * c + 256 * i + 8 * x]));
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            #pragma unroll
            for (int l = 0; l < 8; l++) {
                const float t14 = tc_of_bf16(held0[8 * u + l]);
                max0[l] = tc_acc_maximum_f32(max0[l], t14);
            }
        }
    }
    #pragma unroll
    for (int l = 0; l < 8; l++) {
        shared0[256 * y + 8 * x + l] = max0[l];
    }
    __syncthreads();
    for (int l = 0; l < 8; l++) max0[l] = (-1.0f/0.0f);
    #pragma unroll
    for (int n = 0; n < 8; n++) {
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            max0[l] = tc_acc_maximum_f32(max0[l], shared0[8 * x + l + 256 * n]);
        }
    }
    #pragma unroll
    for (int l = 0; l < 8; l++) {
        const float t31 = max0[l];
        held1[l] = tc_bits_bf16(t31);
    }
    float sum1[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 2; p++) {
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            held2.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[8192 * c + 256 * i + 8 * x]));
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            #pragma unroll
            for (int l = 0; l < 8; l++) {
                const float t44 = tc_of_bf16(held1[l]);
                const float t45 = tc_of_bf16(held2[8 * u + l]);
                const float t46 = TC_SUB_f32(t45, t44);
                const float t47 = tc_exp_half(t46);
                sum1[l] = tc_acc_add_f32(sum1[l], t47);
            }
        }
    }
    #pragma unroll
    for (int l = 0; l < 8; l++) {
        shared1[256 * y + 8 * x + l] = sum1[l];
    }
    __syncthreads();
    for (int l = 0; l < 8; l++) sum1[l] = 0.0f;
    #pragma unroll
    for (int n = 0; n < 8; n++) {
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            sum1[l] = tc_acc_add_f32(sum1[l], shared1[8 * x + l + 256 * n]);
        }
    }
    #pragma unroll
    for (int l = 0; l < 8; l++) {
        const float t64 = sum1[l];
        held3[l] = tc_bits_bf16(t64);
    }
    for (int p = 0; p < 2; p++) {
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            held4.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[8192 * c + 256 * i + 8 * x]));
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            tc_pack<float, 8> o82;
            #pragma unroll
            for (int l = 0; l < 8; l++) {
                const float t76 = tc_of_bf16(held1[l]);
                const float t77 = tc_of_bf16(held4[8 * u + l]);
                const float t78 = TC_SUB_f32(t77, t76);
                const float t79 = tc_exp_half(t78);
                const float t80 = tc_of_bf16(held3[l]);
                const float t81 = tc_div_half(t79, t80);
                o82.at[l] = t81;
            }
            tc_store((tc_pack<tc_u16, 8> *)&out0[8192 * c + 256 * i + 8 * x], tc_halves_bf16(o82));
        }
    }
}
