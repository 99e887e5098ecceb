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

TC_FN float TC_N(lg2)(float x) {
    float y;
    asm("lg2.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TC_FN float TC_N(exp_shifted)(float x) {
    const float y = TC_N(larger_f32)(x, -104.0f), t = y * 1.44269502f, e = TC_N(ex2)(t);
    return fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e);
}

TC_FN float TC_N(log_of)(float x) {
    const int b = __float_as_int(x), n = (b - 0x3f2aaaab) & (int)0xff800000;
    const float f = __int_as_float(b - n) - 1.0f;
    float q = 0.138212666f;
    q = fmaf(q, f, -0.151228189f);
    q = fmaf(q, f, 0.140420899f);
    q = fmaf(q, f, -0.164722338f);
    q = fmaf(q, f, 0.200079337f);
    q = fmaf(q, f, -0.250042409f);
    q = fmaf(q, f, 0.333332658f);
    q = fmaf(q, f, -0.5f);
    return fmaf((float)n, 8.26295832e-08f, fmaf(q, f * f, f));
}

static __device__ __noinline__ float TC_N(log_special)(float x) {
    return TC_N(lg2)(x) * 0.693147182f;
}

TC_FN float TC_N(log_f32)(float x) {
    const float y = TC_N(log_of)(x);
    return (unsigned)__float_as_int(x) - 0x00800000u < 0x7f000000u ? y : TC_N(log_special)(x);
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_M_f32(b) (b)
#define TC_ADD_i64(a, b) ((tc_i64)((tc_u64)(a) + (tc_u64)(b)))
#define TC_SEL_i64(m, a, b) ((m) ? (a) : (b))
#define TC_LT_i64(a, b) ((a) < (b))
#define TC_EQ_i64(a, b) ((a) == (b))
#define TC_M_i64(b) (b)
#define TC_B_i64(m) (m)


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

// kernel0: 14 element-wise ops, 2 reductions in 3 phases over the same rows, 2 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   in1  i64[64]
//   out0  f32[64]
//   out1  f32[49152]
//   row0  f32[768]
//   held0  f32[24]
//   held1  f32[24]
//   %0 = const -4611686018427387905   i64 row
//   %1 = const 0                      i64 row
//   %2 = const -0.015625              f32 row
//   %3 = const 0                      f32 row
//   %4 = const 0.015625               f32 row
//   launch threads=128 index=i32
//     for i in 0..16  bind=grid
//       for y in 0..4  bind=block
//         for x in 0..32  bind=lane
//           axis r = 4*i + y in 0..64
//           %10 = load in1[r]         i64 row
//           %11 = bitwise_and %10 %0  i64 row
//           %12 = check %11 limit=768 site=11  i64 row
//           %13 = load in0[768*r + %12]  f32 row
//           %14 = lt %11 %1           bool row
//           %15 = index 768           i64 row
//           %16 = add %11 %15         i64 row
//           %17 = where %14 %16 %11   i64 row
//           acc0 = new max width=4    f32 row
//           for u in 0..6  bind=unroll
//             copy 4 held1[4*u] <- in0[768*r + 128*u + 4*x]
//           end
//           for u in 0..6  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 128*u + 4*x + l in 0..768
//               %25 = load held1[4*u + l]  f32 col
//               acc0 max= %25
//             end
//           end
//           %29 = combine acc0 threads=32  f32 row
//           %30 = sub %13 %29         f32 row
//           acc1 = new sum width=4    f32 row
//           for u in 0..6  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 128*u + 4*x + l in 0..768
//               %35 = load held1[4*u + l]  f32 col
//               %36 = sub %35 %29     f32 col
//               %37 = exp %36         f32 col
//               acc1 sum= %37
//               store held0[4*u + l] %37
//             end
//           end
//           %42 = combine acc1 threads=32  f32 row
//           %43 = log %42             f32 row
//           %44 = sub %43 %30         f32 row
//           if 0 <= x < 1
//             store out0[r] %44
//           end
//           %48 = div %4 %42          f32 row
//           for u in 0..6  bind=unroll
//             if 0 <= -128*u - 4*x + %17 < 4
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %53 = index c       i64 col
//                 %54 = eq %53 %17    bool col
//                 %55 = where %54 %2 %3  f32 col
//                 %56 = load held0[4*u + l]  f32 col
//                 %57 = mul %48 %56   f32 col
//                 %58 = add %55 %57   f32 col
//                 store out1[768*r + c] %58
//               end
//             else
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %64 = load held0[4*u + l]  f32 col
//                 %65 = mul %48 %64   f32 col
//                 %66 = add %3 %65    f32 col
//                 store out1[768*r + c] %66
//               end
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 16 blocks have work
extern "C" __global__ void __launch_bounds__(128)
kernel0(const float *__restrict__ in0, const tc_i64 *__restrict__ in1, float *__restrict__ out0, float *__restrict__ out1, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin();
    __align__(16) float held0[24];
    __align__(16) float held1[24];
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 4);
    const int r = 4 * i + y;
    const tc_i64 t10 = in1[r];
    const tc_i64 t11 = t10 & -4611686018427387905ll;
    const tc_i64 t12 = tc_check(a.state, t11, 768, 11);
    const float t13 = in0[768 * r + (int)t12];
    const int t14 = TC_B_i64(TC_LT_i64(t11, 0ll));
    const tc_i64 t15 = 768;
    const tc_i64 t16 = TC_ADD_i64(t11, t15);
    const tc_i64 t17 = TC_SEL_i64(TC_M_i64(t14), t16, t11);
    float max0[4] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 128 * u]);
    }
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t25 = held1[4 * u + l];
            max0[l] = tc_acc_maximum_f32(max0[l], t25);
        }
    }
    const float t29 = tc_lanes_maximum_f32<32>(tc_fold_maximum_f32(max0));
    const float t30 = TC_SUB_f32(t13, t29);
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t35 = held1[4 * u + l];
            const float t36 = TC_SUB_f32(t35, t29);
            const float t37 = tc_exp_shifted(t36);
            sum1[l] = tc_acc_add_f32(sum1[l], t37);
            held0[4 * u + l] = t37;
        }
    }
    const float t42 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    const float t43 = tc_log_f32(t42);
    const float t44 = TC_SUB_f32(t43, t30);
    if (x < 1) {
        out0[r] = t44;
    }
    const float t48 = 0x1p-6f / t42;
    #pragma unroll
    for (int u = 0; u < 6; u++) {
        if (-4 * x - 128 * u + (int)t17 >= 0 && -4 * x - 128 * u + (int)t17 < 4) {
            tc_pack<float, 4> o59;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const int c = 4 * x + 128 * u + l;
                const tc_i64 t53 = c;
                const int t54 = TC_B_i64(TC_EQ_i64(t53, t17));
                const float t55 = TC_SEL_f32(TC_M_f32(t54), -0x1p-6f, 0.0f);
                const float t56 = held0[4 * u + l];
                const float t57 = TC_MUL_f32(t48, t56);
                const float t58 = TC_ADD_f32(t55, t57);
                o59.at[l] = t58;
            }
            tc_store((tc_pack<float, 4> *)&out1[768 * r + 4 * x + 128 * u], o59);
        } else {
            tc_pack<float, 4> o67;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t64 = held0[4 * u + l];
                const float t65 = TC_MUL_f32(t48, t64);
                const float t66 = TC_ADD_f32(0.0f, t65);
                o67.at[l] = t66;
            }
            tc_store((tc_pack<float, 4> *)&out1[768 * r + 4 * x + 128 * u], o67);
        }
    }
}

// kernel1: 1 element-wise op, 1 reduction in 2 phases over the same rows, 3 results
// rows 1, columns 64; vector along c
//   in0  f32[64]
//   out0  f32[1]
//   out1  f32[1]
//   out2  f32[1]
//   %0 = const 64                     f32 row
//   launch threads=128 index=i32
//     for i in 0..1  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..16  bind=lane
//           leave unless 0 <= 8*i + y < 1
//           axis r = 8*i + y in 0..1
//           acc0 = new sum width=4    f32 row
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 64*u + 4*x + l in 0..64
//               %11 = load in0[c]     f32 col
//               acc0 sum= %11
//             end
//           end
//           %15 = combine acc0 threads=16  f32 row
//           if 0 <= x < 1
//             store out0[0] %15
//           end
//           %19 = div %15 %0          f32 row
//           if 0 <= x < 1
//             store out1[0] %19
//           end
//           if 0 <= x < 1
//             store out2[0] %19
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 1 blocks have work
extern "C" __global__ void __launch_bounds__(128)
kernel1(const float *__restrict__ in0, float *__restrict__ out0, float *__restrict__ out1, float *__restrict__ out2, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int i = blockIdx.x;
    const int y = threadIdx.x / 16, x = threadIdx.x % 16;
    __builtin_assume(y < 8);
    if (8 * i + y >= 1) return;
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 1; u++) {
        const tc_pack<float, 4> v11 = tc_load((const tc_pack<float, 4> *)&in0[4 * x + 64 * u]);
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t11 = v11.at[l];
            sum0[l] = tc_acc_add_f32(sum0[l], t11);
        }
    }
    const float t15 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum0));
    if (x < 1) {
        out0[0] = t15;
    }
    const float t19 = t15 / 64.0f;
    if (x < 1) {
        out1[0] = t19;
    }
    if (x < 1) {
        out2[0] = t19;
    }
}
