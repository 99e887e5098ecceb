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
};

template <class P> TC_FN P TC_N(load)(const P *p) {
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
    return u.v;
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

template <class T, int N> TC_FN void TC_N(forget)(T (&held)[N]) {
    unsigned *w = (unsigned *)held;
    #pragma unroll
    for (int i = 0; i < (int)(sizeof(T) * N / 4); i++) asm volatile("" : "+r"(w[i]));
}

template <class T> TC_FN T TC_N(peek)(const T *p) {
    return *(const volatile T *)p;
}

TC_FN void TC_N(leaves)(unsigned *ticket, unsigned blocks) {
    __threadfence();
    if (atomicAdd(ticket + 3, 1u) != blocks - 1) return;
    for (int i = 0; i < 4; i++) ticket[i] = 0;
}

TC_FN void TC_N(begun)(unsigned *ticket) {
    if (threadIdx.x == 0) atomicAdd(ticket, 1u);
}

TC_FN int TC_N(meets)(unsigned *ticket, unsigned blocks) {
    __shared__ int goes;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        goes = atomicAdd(ticket + 1, 1u) == blocks - 1 || atomicAdd(ticket, 0u) == blocks;
        if (!goes) TC_N(leaves)(ticket, blocks);
        while (goes && *(volatile unsigned *)(ticket + 1) != blocks) {}
    }
    __syncthreads();
    __threadfence();
    return goes;
}

TC_FN int TC_N(takes)(unsigned *ticket, unsigned n, unsigned blocks) {
    __shared__ unsigned turn;
    __syncthreads();
    if (threadIdx.x == 0) {
        turn = atomicAdd(ticket + 2, 1u);
        if (turn >= n) TC_N(leaves)(ticket, blocks);
    }
    __syncthreads();
    return turn;
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
#define TC_NEG_f32(a) ((float)(-(float)(a)))
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

// kernel0: 36 element-wise ops, 6 reductions in 4 phases over the same rows, 4 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   in1  f32[49152]
//   row0  f32[768]
//   row1  bool[768]
//   in2  f32[49152]
//   in3  f32[768]
//   row2  f32[768]
//   out0  f32[49152]
//   out1  f32[49152]
//   out2  f32[768]
//   out3  f32[768]
//   held0  f32[4]
//   held1  bool[4]
//   held2  f32[4]
//   held3  f32[4]
//   held4  f32[4]
//   held5  f32[4]
//   held6  f32[4]
//   ticket0  i32[4]
//   work0  f32[49152]
//   work1  f32[49152]
//   shared0  f32[768]
//   shared1  f32[768]
//   shared2  f32[192]
//   shared3  f32[192]
//   %0 = const 0.1                    f32 row
//   %1 = const 1.1111112              f32 row
//   %2 = const 0                      f32 row
//   %3 = const 768                    f32 row
//   %4 = const 0.00001                f32 row
//   %5 = const -0.5                   f32 row
//   %6 = const 0.1                    f32 col
//   %7 = const 1.1111112              f32 col
//   %8 = const 0                      f32 col
//   %9 = const 768                    f32 col
//   launch threads=192 index=i32 resident=4
//     for i in 0..64  bind=grid
//       for x in 0..192  bind=block
//         begun at ticket0
//         acc4 = new sum width=4      f32 row
//         acc6 = new sum width=4      f32 row
//         for l in 0..4  bind=vector
//           put shared0[4*x + l] <- acc4
//         end
//         for l in 0..4  bind=vector
//           put shared1[4*x + l] <- acc6
//         end
//         for p in 0..1  bind=serial
//           axis r = 64*p + i in 0..64
//           for u in 0..1  bind=unroll
//             copy 4 held3[4*u] <- in0[768*r + 768*u + 4*x]
//             copy 4 held4[4*u] <- in1[768*r + 768*u + 4*x]
//             copy 4 held5[4*u] <- in2[768*r + 768*u + 4*x]
//           end
//           acc0 = new sum width=4    f32 row
//           forget held3
//           forget held4
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %35 = index 768*r + c  i64 col
//               %36 = random %35 kind=0 draw=0  f32 col
//               %37 = ge %36 %0       bool col
//               %38 = load held3[4*u + l]  f32 col
//               %39 = mul %38 %1      f32 col
//               %40 = where %37 %39 %2  f32 col
//               %41 = load held4[4*u + l]  f32 col
//               %42 = add %40 %41     f32 col
//               acc0 sum= %42
//               store held0[4*u + l] %42
//               store held1[4*u + l] %37
//             end
//           end
//           %48 = combine acc0 threads=192  f32 row
//           %49 = div %48 %3          f32 row
//           acc1 = new sum width=4    f32 row
//           acc2 = new sum width=4    f32 row
//           forget held5
//           for u in 0..1  bind=unroll
//             copy 4 held6[4*u] <- in3[768*u + 4*x]
//           end
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %59 = load held0[4*u + l]  f32 col
//               %60 = sub %59 %49     f32 col
//               %61 = square %60      f32 col
//               acc1 sum= %61
//               %63 = load held5[4*u + l]  f32 col
//               %64 = load held6[4*u + l]  f32 col
//               %65 = mul %63 %64     f32 col
//               %66 = mul %65 %60     f32 col
//               acc2 sum= %66
//             end
//           end
//           %70 = combine acc1 threads=192  f32 row
//           %71 = combine acc2 threads=192  f32 row
//           %72 = div %70 %3          f32 row
//           %73 = add %72 %4          f32 row
//           %74 = rsqrt %73           f32 row
//           %75 = mul %71 %5          f32 row
//           %76 = mul %74 %74         f32 row
//           %77 = mul %74 %76         f32 row
//           %78 = mul %75 %77         f32 row
//           %79 = div %78 %3          f32 row
//           acc3 = new sum width=4    f32 row
//           forget held5
//           for u in 0..1  bind=unroll
//             copy 4 held6[4*u] <- in3[768*u + 4*x]
//           end
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %88 = load held5[4*u + l]  f32 col
//               %89 = load held6[4*u + l]  f32 col
//               %90 = mul %88 %89     f32 col
//               %91 = mul %90 %74     f32 col
//               %92 = load held0[4*u + l]  f32 col
//               %93 = sub %92 %49     f32 col
//               %94 = add %93 %93     f32 col
//               %95 = mul %79 %94     f32 col
//               %96 = add %91 %95     f32 col
//               %97 = neg %96         f32 col
//               acc3 sum= %97
//               store held2[4*u + l] %96
//             end
//           end
//           %102 = combine acc3 threads=192  f32 row
//           %103 = div %102 %3        f32 row
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %107 = load held2[4*u + l]  f32 col
//               %108 = add %107 %103  f32 col
//               store out0[768*r + c] %108
//               %110 = load held1[4*u + l]  bool col
//               %111 = where %110 %108 %2  f32 col
//               %112 = mul %111 %1    f32 col
//               store out1[768*r + c] %112
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %118 = load held5[l]    f32 col
//             %119 = load shared0[4*x + l]  f32 col
//             %120 = add %119 %118    f32 col
//             store shared0[4*x + l] %120
//             %122 = index 768*r + c  i64 col
//             %123 = random %122 kind=0 draw=0  f32 col
//             %124 = ge %123 %6       bool col
//             %125 = load held3[l]    f32 col
//             %126 = mul %125 %7      f32 col
//             %127 = where %124 %126 %8  f32 col
//             %128 = load held4[l]    f32 col
//             %129 = add %127 %128    f32 col
//             %130 = div %48 %9       f32 col
//             %131 = sub %129 %130    f32 col
//             %132 = mul %131 %74     f32 col
//             %133 = mul %118 %132    f32 col
//             %134 = load shared1[4*x + l]  f32 col
//             %135 = add %134 %133    f32 col
//             store shared1[4*x + l] %135
//           end
//           barrier block
//         end
//         acc4 = new sum width=4      f32 row
//         acc6 = new sum width=4      f32 row
//         for l in 0..4  bind=vector
//           get acc4 <- shared0[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           get acc6 <- shared1[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           put work0[768*i + 4*x + l] <- acc4
//           put work1[768*i + 4*x + l] <- acc6
//         end
//         meet 64 at ticket0
//         for j in 0..96  bind=taken
//           acc5 = new sum width=1    f32 row
//           acc7 = new sum width=1    f32 row
//           if 0 <= x/8 < 16
//             axis c = 8*j + x%8 in 0..768
//             for q in 0..1  bind=serial
//               for n in 0..4  bind=unroll
//                 axis m = 64*q + 16*n + x/8 in 0..64
//                 get acc5 <- work0[768*m + c]
//                 get acc7 <- work1[768*m + c]
//               end
//             end
//           end
//           put shared2[x] <- acc5
//           put shared3[x] <- acc7
//           barrier block
//           if 0 <= x/8 < 1
//             acc5 = new sum width=1  f32 row
//             acc7 = new sum width=1  f32 row
//             for n in 0..16  bind=unroll
//               get acc5 <- shared2[8*n + x%8]
//               get acc7 <- shared3[8*n + x%8]
//             end
//             axis c = 8*j + x%8 in 0..768
//             %177 = combine acc5 threads=1  f32 col
//             %178 = combine acc7 threads=1  f32 col
//             store out2[c] %177
//             store out3[c] %178
//           end
//         end
//       end
//     end
//   end
// 192 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(192, 4)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, float *__restrict__ out0, float *__restrict__ out1, float *__restrict__ out2, float *__restrict__ out3, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_begin();
    const tc_u64 seed = a.state->seed, draw = a.state->draw;
    __align__(16) float held0[4];
    __align__(16) tc_u8 held1[4];
    __align__(16) float held2[4];
    __align__(16) float held3[4];
    __align__(16) float held4[4];
    __align__(16) float held5[4];
    __align__(16) float held6[4];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    float *const work1 = (float *)(work + 196864);
    __shared__ __align__(16) float shared0[768];
    __shared__ __align__(16) float shared1[768];
    __shared__ __align__(16) float shared2[192];
    __shared__ __align__(16) float shared3[192];
    const int i = blockIdx.x;
    const int x = threadIdx.x;
    __builtin_assume(x < 192);
    tc_begun(ticket0);
    float sum4[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum6[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[4 * x + l] = sum4[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared1[4 * x + l] = sum6[l];
    }
    for (int p = 0; p < 1; p++) {
        const int r = i + 64 * p;
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 768 * u]);
            *(tc_pack<float, 4> *)&held4[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 768 * u]);
            *(tc_pack<float, 4> *)&held5[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[768 * r + 4 * x + 768 * u]);
        }
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held3);
        tc_forget(held4);
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const int c = 4 * x + l + 768 * u;
                const tc_i64 t35 = 768 * r + c;
                const float t36 = tc_uniform_f32(tc_drawn<1>(t35 - l, l, draw + 0, seed));
                const int t37 = TC_B_f32(TC_GE_f32(t36, 0x1.99999ap-4f));
                const float t38 = held3[l + 4 * u];
                const float t39 = TC_MUL_f32(t38, 0x1.1c71c8p+0f);
                const float t40 = TC_SEL_f32(TC_M_f32(t37), t39, 0.0f);
                const float t41 = held4[l + 4 * u];
                const float t42 = TC_ADD_f32(t40, t41);
                sum0[l] = tc_acc_add_f32(sum0[l], t42);
                held0[l + 4 * u] = t42;
                held1[l + 4 * u] = tc_u8(t37);
            }
        }
        __shared__ float part0[6];
        const float all48 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        if (x % 32 == 0) part0[x / 32] = all48;
        __syncthreads();
        const float t48 = tc_parts_add_f32<6>(part0);
        const float t49 = t48 / 768.0f;
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held5);
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            *(tc_pack<float, 4> *)&held6[4 * u] = tc_load((const tc_pack<float, 4> *)&in3[4 * x + 768 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t59 = held0[l + 4 * u];
                const float t60 = TC_SUB_f32(t59, t49);
                const float t61 = TC_MUL_f32(t60, t60);
                sum1[l] = tc_acc_add_f32(sum1[l], t61);
                const float t63 = held5[l + 4 * u];
                const float t64 = held6[l + 4 * u];
                const float t65 = TC_MUL_f32(t63, t64);
                const float t66 = TC_MUL_f32(t65, t60);
                sum2[l] = tc_acc_add_f32(sum2[l], t66);
            }
        }
        __shared__ float part1[6];
        const float all70 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        __shared__ float part2[6];
        const float all71 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        if (x % 32 == 0) part1[x / 32] = all70;
        if (x % 32 == 0) part2[x / 32] = all71;
        __syncthreads();
        const float t70 = tc_parts_add_f32<6>(part1);
        const float t71 = tc_parts_add_f32<6>(part2);
        const float t72 = t70 / 768.0f;
        const float t73 = TC_ADD_f32(t72, 0x1.4f8b58p-17f);
        const float t74 = 1.0f / TC_SQRT_f32(t73);
        const float t75 = TC_MUL_f32(t71, -0.5f);
        const float t76 = TC_MUL_f32(t74, t74);
        const float t77 = TC_MUL_f32(t74, t76);
        const float t78 = TC_MUL_f32(t75, t77);
        const float t79 = t78 / 768.0f;
        float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held5);
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            *(tc_pack<float, 4> *)&held6[4 * u] = tc_load((const tc_pack<float, 4> *)&in3[4 * x + 768 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t88 = held5[l + 4 * u];
                const float t89 = held6[l + 4 * u];
                const float t90 = TC_MUL_f32(t88, t89);
                const float t91 = TC_MUL_f32(t90, t74);
                const float t92 = held0[l + 4 * u];
                const float t93 = TC_SUB_f32(t92, t49);
                const float t94 = TC_ADD_f32(t93, t93);
                const float t95 = TC_MUL_f32(t79, t94);
                const float t96 = TC_ADD_f32(t91, t95);
                const float t97 = TC_NEG_f32(t96);
                sum3[l] = tc_acc_add_f32(sum3[l], t97);
                held2[l + 4 * u] = t96;
            }
        }
        __shared__ float part3[6];
        const float all102 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        if (x % 32 == 0) part3[x / 32] = all102;
        __syncthreads();
        const float t102 = tc_parts_add_f32<6>(part3);
        const float t103 = t102 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            tc_pack<float, 4> o109;
            tc_pack<float, 4> o113;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t107 = held2[l + 4 * u];
                const float t108 = TC_ADD_f32(t107, t103);
                o109.at[l] = t108;
                const int t110 = held1[l + 4 * u];
                const float t111 = TC_SEL_f32(TC_M_f32(t110), t108, 0.0f);
                const float t112 = TC_MUL_f32(t111, 0x1.1c71c8p+0f);
                o113.at[l] = t112;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 768 * u], o109);
            tc_store((tc_pack<float, 4> *)&out1[768 * r + 4 * x + 768 * u], o113);
        }
        const tc_pack<float, 4> v119 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        const float t130 = t48 / 768.0f;
        const tc_pack<float, 4> v134 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        tc_pack<float, 4> o121;
        tc_pack<float, 4> o136;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + l;
            const float t118 = held5[l];
            const float t119 = v119.at[l];
            const float t120 = TC_ADD_f32(t119, t118);
            o121.at[l] = t120;
            const tc_i64 t122 = 768 * r + c;
            const float t123 = tc_uniform_f32(tc_drawn<1>(t122 - l, l, draw + 0, seed));
            const int t124 = TC_B_f32(TC_GE_f32(t123, 0x1.99999ap-4f));
            const float t125 = held3[l];
            const float t126 = TC_MUL_f32(t125, 0x1.1c71c8p+0f);
            const float t127 = TC_SEL_f32(TC_M_f32(t124), t126, 0.0f);
            const float t128 = held4[l];
            const float t129 = TC_ADD_f32(t127, t128);
            const float t131 = TC_SUB_f32(t129, t130);
            const float t132 = TC_MUL_f32(t131, t74);
            const float t133 = TC_MUL_f32(t118, t132);
            const float t134 = v134.at[l];
            const float t135 = TC_ADD_f32(t134, t133);
            o136.at[l] = t135;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o121;
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o136;
        __syncthreads();
    }
    for (int l = 0; l < 4; l++) sum4[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum6[l] = 0.0f;
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum4[l] = tc_acc_add_f32(sum4[l], shared0[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum6[l] = tc_acc_add_f32(sum6[l], shared1[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        work0[768 * i + 4 * x + l] = sum4[l];
        work1[768 * i + 4 * x + l] = sum6[l];
    }
    if (!tc_meets(ticket0, 64)) return;
    for (int j = tc_takes(ticket0, 96, 64); j < 96; j = tc_takes(ticket0, 96, 64)) {
        float sum5[1] = {0.0f};
        float sum7[1] = {0.0f};
        if (x / 8 < 16) {
            const int c = (x % 8) + 8 * j;
            for (int q = 0; q < 1; q++) {
                #pragma unroll
                for (int n = 0; n < 4; n++) {
                    const int m = (x / 8) + 64 * q + 16 * n;
                    sum5[0] = tc_acc_add_f32(sum5[0], tc_peek(&work0[c + 768 * m]));
                    sum7[0] = tc_acc_add_f32(sum7[0], tc_peek(&work1[c + 768 * m]));
                }
            }
        }
        shared2[x] = sum5[0];
        shared3[x] = sum7[0];
        __syncthreads();
        if (x / 8 < 1) {
            for (int l = 0; l < 1; l++) sum5[l] = 0.0f;
            for (int l = 0; l < 1; l++) sum7[l] = 0.0f;
            #pragma unroll
            for (int n = 0; n < 16; n++) {
                sum5[0] = tc_acc_add_f32(sum5[0], shared2[(x % 8) + 8 * n]);
                sum7[0] = tc_acc_add_f32(sum7[0], shared3[(x % 8) + 8 * n]);
            }
            const int c = (x % 8) + 8 * j;
            const float t177 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum5));
            const float t178 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum7));
            out2[c] = t177;
            out3[c] = t178;
        }
    }
}
