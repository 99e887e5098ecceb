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

template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
}

struct TC_N(draw) {
    unsigned w[4];
};

TC_FN TC_N(draw) TC_N(philox)(tc_i64 i, tc_u64 draw, tc_u64 seed) {
    unsigned a = (unsigned)i, b = (unsigned)((tc_u64)i >> 32), c = (unsigned)draw, d = (unsigned)(draw >> 32);
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    #pragma unroll
    for (int n = 0; n < 10; n++) {
        const unsigned h0 = __umulhi(a, 0xd2511f53u), h1 = __umulhi(c, 0xcd9e8d57u);
        const unsigned l0 = a * 0xd2511f53u, l1 = c * 0xcd9e8d57u;
        a = h1 ^ b ^ k0;
        b = l1;
        c = h0 ^ d ^ k1;
        d = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{a, b, c, d}};
}

template <int N> TC_FN TC_N(draw) TC_N(drawn)(tc_i64 i, int l, tc_u64 draw, tc_u64 seed) {
    const TC_N(draw) x = TC_N(philox)(i / (4 / N) + l / (4 / N), draw, seed);
    const unsigned *w = x.w;
    if (N == 1) return {{l & 2 ? l & 1 ? w[3] : w[2] : l & 1 ? w[1] : w[0], 0, 0, 0}};
    if (N == 2) return {{l & 1 ? w[2] : w[0], l & 1 ? w[3] : w[1], 0, 0}};
    return x;
}

TC_FN float TC_N(uniform_f32)(const TC_N(draw) &x) { return (float)(x.w[0] >> 8) * 5.96046448e-08f; }
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_GE_f32(a, b) ((a) >= (b))
#define TC_M_f32(b) (b)
#define TC_B_f32(m) (m)
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

// kernel0: 18 element-wise ops, 2 reductions in 3 phases over the same rows, 1 result
// rows 64, columns 1024; vector along c
//   in0  bf16[65536]
//   in1  bf16[65536]
//   in2  bf16[1024]
//   in3  bf16[1024]
//   out0  bf16[65536]
//   row0  f32[1024]
//   held0  f32[32]
//   held1  bf16[32]
//   held2  bf16[32]
//   held3  bf16[32]
//   held4  bf16[32]
//   %0 = const 0.1                    f32 row
//   %1 = const 1.1111111640930176     bf16 row
//   %2 = const 0                      bf16 row
//   %3 = const 1024                   f32 row
//   %4 = const 0.00001                f32 row
//   launch threads=128 index=i32
//     for i in 0..16  bind=grid
//       for y in 0..4  bind=block
//         for x in 0..32  bind=lane
//           axis r = 4*i + y in 0..64
//           acc0 = new sum width=8    f32 row
//           for u in 0..4  bind=unroll
//             copy 8 held1[8*u] <- in0[1024*r + 256*u + 8*x]
//             copy 8 held2[8*u] <- in1[1024*r + 256*u + 8*x]
//           end
//           for u in 0..4  bind=unroll
//             for l in 0..8  bind=vector
//               axis c = 256*u + 8*x + l in 0..1024
//               %18 = index 1024*r + c  i64 col
//               %19 = random %18 kind=0 draw=0  f32 col
//               %20 = ge %19 %0       bool col
//               %21 = load held1[8*u + l]  bf16 col
//               %22 = mul %21 %1      bf16 col
//               %23 = where %20 %22 %2  bf16 col
//               %24 = load held2[8*u + l]  bf16 col
//               %25 = add %23 %24     bf16 col
//               %26 = cast %25        f32 col
//               acc0 sum= %26
//               store held0[8*u + l] %26
//             end
//           end
//           %31 = combine acc0 threads=32  f32 row
//           %32 = div %31 %3          f32 row
//           acc1 = new sum width=8    f32 row
//           for u in 0..4  bind=unroll
//             for l in 0..8  bind=vector
//               axis c = 256*u + 8*x + l in 0..1024
//               %37 = load held0[8*u + l]  f32 col
//               %38 = sub %37 %32     f32 col
//               %39 = square %38      f32 col
//               acc1 sum= %39
//             end
//           end
//           %43 = combine acc1 threads=32  f32 row
//           %44 = div %43 %3          f32 row
//           %45 = add %44 %4          f32 row
//           %46 = rsqrt %45           f32 row
//           for u in 0..4  bind=unroll
//             copy 8 held3[8*u] <- in2[256*u + 8*x]
//             copy 8 held4[8*u] <- in3[256*u + 8*x]
//           end
//           for u in 0..4  bind=unroll
//             for l in 0..8  bind=vector
//               axis c = 256*u + 8*x + l in 0..1024
//               %54 = load held0[8*u + l]  f32 col
//               %55 = sub %54 %32     f32 col
//               %56 = mul %55 %46     f32 col
//               %57 = load held3[8*u + l]  bf16 col
//               %58 = cast %57        f32 col
//               %59 = mul %56 %58     f32 col
//               %60 = load held4[8*u + l]  bf16 col
//               %61 = cast %60        f32 col
//               %62 = add %59 %61     f32 col
//               %63 = cast %62        bf16 col
//               store out0[1024*r + c] %63
//             end
//           end
//         end
//       end
//     end
//   end
// 128 threads in a block, 16 blocks have work
extern "C" __global__ void __launch_bounds__(128)
kernel0(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, const tc_u16 *__restrict__ in2, const tc_u16 *__restrict__ in3, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_begin();
    const tc_u64 seed = a.state->seed, draw = a.state->draw;
    __align__(16) float held0[32];
    tc_kept<32> held1;
    tc_kept<32> held2;
    tc_kept<32> held3;
    tc_kept<32> held4;
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 4);
    const int r = 4 * i + y;
    float sum0[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 4; u++) {
        held1.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[1024 * r + 8 * x + 256 * u]));
        held2.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in1[1024 * r + 8 * x + 256 * u]));
    }
    #pragma unroll
    for (int u = 0; u < 4; u++) {
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const int c = 8 * x + 256 * u + l;
            const tc_i64 t18 = 1024 * r + c;
            const float t19 = tc_uniform_f32(tc_drawn<1>(t18 - l, l, draw + 0, seed));
            const int t20 = TC_B_f32(TC_GE_f32(t19, 0x1.99999ap-4f));
            const float t21 = tc_of_bf16(held1[8 * u + l]);
            const float t22 = TC_MUL_f32(t21, 0x1.1c71c8p+0f);
            const float t23 = TC_SEL_f32(TC_M_f32(t20), t22, 0.0f);
            const float t24 = tc_of_bf16(held2[8 * u + l]);
            const float t25 = TC_ADD_f32(t23, t24);
            const float t26 = t25;
            sum0[l] = tc_acc_add_f32(sum0[l], t26);
            held0[8 * u + l] = t26;
        }
    }
    const float t31 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
    const float t32 = t31 / 1024.0f;
    float sum1[8] = {0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int u = 0; u < 4; u++) {
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t37 = held0[8 * u + l];
            const float t38 = TC_SUB_f32(t37, t32);
            const float t39 = TC_MUL_f32(t38, t38);
            sum1[l] = tc_acc_add_f32(sum1[l], t39);
        }
    }
    const float t43 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    const float t44 = t43 / 1024.0f;
    const float t45 = TC_ADD_f32(t44, 0x1.4f8b58p-17f);
    const float t46 = 1.0f / TC_SQRT_f32(t45);
    #pragma unroll
    for (int u = 0; u < 4; u++) {
        held3.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in2[8 * x + 256 * u]));
        held4.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in3[8 * x + 256 * u]));
    }
    #pragma unroll
    for (int u = 0; u < 4; u++) {
        tc_pack<float, 8> o64;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t54 = held0[8 * u + l];
            const float t55 = TC_SUB_f32(t54, t32);
            const float t56 = TC_MUL_f32(t55, t46);
            const float t57 = tc_of_bf16(held3[8 * u + l]);
            const float t58 = t57;
            const float t59 = TC_MUL_f32(t56, t58);
            const float t60 = tc_of_bf16(held4[8 * u + l]);
            const float t61 = t60;
            const float t62 = TC_ADD_f32(t59, t61);
            const float t63 = t62;
            o64.at[l] = t63;
        }
        tc_store((tc_pack<tc_u16, 8> *)&out0[1024 * r + 8 * x + 256 * u], tc_halves_bf16(o64));
    }
}
