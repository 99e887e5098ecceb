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

TC_FN tc_i64 TC_N(check)(tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {
    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;
    if ((tc_u64)w < (tc_u64)limit) return w;
    a->flag[1] = v;
    a->flag[2] = limit;
    a->flag[0] = site + 1;
    a->failed = 1;
    return w < 0 || limit <= 0 ? 0 : limit - 1;
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
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

// kernel0: 11 element-wise ops, 2 reductions in 3 phases over the same rows, 1 result
// rows 64, columns 768; vector along c
//   in0  i64[64]
//   in1  f32[76800]
//   in2  f32[49152]
//   out0  f32[49152]
//   held0  f32[24]
//   held1  f32[24]
//   %0 = const 768                    f32 row
//   %1 = const 0.00001                f32 row
//   launch threads=128 index=i32
//     for i in 0..16  bind=grid
//       for y in 0..4  bind=block
//         for x in 0..32  bind=lane
//           axis r = 4*i + y in 0..64
//           %7 = load in0[r]          i64 row
//           %8 = check %7 limit=100 site=1  i64 row
//           acc0 = new sum width=4    f32 row
//           for u in 0..6  bind=unroll
//             copy 4 held1[4*u] <- in2[768*r + 128*u + 4*x]
//           end
//           for u in 0..6  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 128*u + 4*x + l in 0..768
//               %16 = load in1[768*%8 + c]  f32 col
//               store held0[4*u + l] %16
//             end
//           end
//           for u in 0..6  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 128*u + 4*x + l in 0..768
//               %23 = load held0[4*u + l]  f32 col
//               %24 = load held1[4*u + l]  f32 col
//               %25 = add %23 %24     f32 col
//               acc0 sum= %25
//             end
//           end
//           %29 = combine acc0 threads=32  f32 row
//           %30 = div %29 %0          f32 row
//           acc1 = new sum width=4    f32 row
//           for u in 0..6  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 128*u + 4*x + l in 0..768
//               %35 = load held0[4*u + l]  f32 col
//               %36 = load held1[4*u + l]  f32 col
//               %37 = add %35 %36     f32 col
//               %38 = sub %37 %30     f32 col
//               %39 = square %38      f32 col
//               acc1 sum= %39
//             end
//           end
//           %43 = combine acc1 threads=32  f32 row
//           %44 = div %43 %0          f32 row
//           %45 = add %44 %1          f32 row
//           %46 = rsqrt %45           f32 row
//           for u in 0..6  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 128*u + 4*x + l in 0..768
//               %50 = load held0[4*u + l]  f32 col
//               %51 = load held1[4*u + l]  f32 col
//               %52 = add %50 %51     f32 col
//               %53 = sub %52 %30     f32 col
//               %54 = mul %53 %46     f32 col
//               store out0[768*r + c] %54
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 16 blocks have work
extern "C" __global__ void __launch_bounds__(128)
kernel0(const tc_i64 *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[24];
    __align__(16) float held1[24];
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 4);
    const int r = 4 * i + y;
    const tc_i64 t7 = in0[r];
    const tc_i64 t8 = tc_check(a.state, t7, 100, 1);
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[768 * r + 4 * x + 128 * u]);
    }
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        const tc_pack<float, 4> v16 = tc_load((const tc_pack<float, 4> *)&in1[4 * x + 128 * u + 768 * (int)t8]);
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t16 = v16.at[l];
            held0[4 * u + l] = t16;
        }
    }
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t23 = held0[4 * u + l];
            const float t24 = held1[4 * u + l];
            const float t25 = TC_ADD_f32(t23, t24);
            sum0[l] = tc_acc_add_f32(sum0[l], t25);
        }
    }
    const float t29 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
    const float t30 = t29 / 768.0f;
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t35 = held0[4 * u + l];
            const float t36 = held1[4 * u + l];
            const float t37 = TC_ADD_f32(t35, t36);
            const float t38 = TC_SUB_f32(t37, t30);
            const float t39 = TC_MUL_f32(t38, t38);
            sum1[l] = tc_acc_add_f32(sum1[l], t39);
        }
    }
    const float t43 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    const float t44 = t43 / 768.0f;
    const float t45 = TC_ADD_f32(t44, 0x1.4f8b58p-17f);
    const float t46 = 1.0f / TC_SQRT_f32(t45);
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        tc_pack<float, 4> o55;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t50 = held0[4 * u + l];
            const float t51 = held1[4 * u + l];
            const float t52 = TC_ADD_f32(t50, t51);
            const float t53 = TC_SUB_f32(t52, t30);
            const float t54 = TC_MUL_f32(t53, t46);
            o55.at[l] = t54;
        }
        tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 128 * u], o55);
    }
}
