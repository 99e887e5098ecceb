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
//           do
//             axis r = 64*p + i in 0..64
//             copy 4 held3[0] <- in0[768*r + 4*x]
//             copy 4 held4[0] <- in1[768*r + 4*x]
//             copy 4 held5[0] <- in2[768*r + 4*x]
//           end
//           axis r = 64*p + i in 0..64
//           acc0 = new sum width=4    f32 row
//           forget held3
//           forget held4
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %36 = index 768*r + c  i64 col
//               %37 = random %36 kind=0 draw=0  f32 col
//               %38 = ge %37 %0       bool col
//               %39 = load held3[4*u + l]  f32 col
//               %40 = mul %39 %1      f32 col
//               %41 = where %38 %40 %2  f32 col
//               %42 = load held4[4*u + l]  f32 col
//               %43 = add %41 %42     f32 col
//               acc0 sum= %43
//               store held0[4*u + l] %43
//               store held1[4*u + l] %38
//             end
//           end
//           %49 = combine acc0 threads=192  f32 row
//           %50 = div %49 %3          f32 row
//           acc1 = new sum width=4    f32 row
//           acc2 = new sum width=4    f32 row
//           forget held5
//           for u in 0..1  bind=unroll
//             copy 4 held6[4*u] <- in3[768*u + 4*x]
//           end
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %60 = load held0[4*u + l]  f32 col
//               %61 = sub %60 %50     f32 col
//               %62 = square %61      f32 col
//               acc1 sum= %62
//               %64 = load held5[4*u + l]  f32 col
//               %65 = load held6[4*u + l]  f32 col
//               %66 = mul %64 %65     f32 col
//               %67 = mul %66 %61     f32 col
//               acc2 sum= %67
//             end
//           end
//           %71 = combine acc1 threads=192  f32 row
//           %72 = combine acc2 threads=192  f32 row
//           %73 = div %71 %3          f32 row
//           %74 = add %73 %4          f32 row
//           %75 = rsqrt %74           f32 row
//           %76 = mul %72 %5          f32 row
//           %77 = mul %75 %75         f32 row
//           %78 = mul %75 %77         f32 row
//           %79 = mul %76 %78         f32 row
//           %80 = div %79 %3          f32 row
//           acc3 = new sum width=4    f32 row
//           forget held5
//           for u in 0..1  bind=unroll
//             copy 4 held6[4*u] <- in3[768*u + 4*x]
//           end
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %89 = load held5[4*u + l]  f32 col
//               %90 = load held6[4*u + l]  f32 col
//               %91 = mul %89 %90     f32 col
//               %92 = mul %91 %75     f32 col
//               %93 = load held0[4*u + l]  f32 col
//               %94 = sub %93 %50     f32 col
//               %95 = add %94 %94     f32 col
//               %96 = mul %80 %95     f32 col
//               %97 = add %92 %96     f32 col
//               %98 = neg %97         f32 col
//               acc3 sum= %98
//               store held2[4*u + l] %97
//             end
//           end
//           %103 = combine acc3 threads=192  f32 row
//           %104 = div %103 %3        f32 row
//           for u in 0..1  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 768*u + 4*x + l in 0..768
//               %108 = load held2[4*u + l]  f32 col
//               %109 = add %108 %104  f32 col
//               store out0[768*r + c] %109
//               %111 = load held1[4*u + l]  bool col
//               %112 = where %111 %109 %2  f32 col
//               %113 = mul %112 %1    f32 col
//               store out1[768*r + c] %113
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %119 = load held5[l]    f32 col
//             %120 = load shared0[4*x + l]  f32 col
//             %121 = add %120 %119    f32 col
//             store shared0[4*x + l] %121
//             %123 = index 768*r + c  i64 col
//             %124 = random %123 kind=0 draw=0  f32 col
//             %125 = ge %124 %6       bool col
//             %126 = load held3[l]    f32 col
//             %127 = mul %126 %7      f32 col
//             %128 = where %125 %127 %8  f32 col
//             %129 = load held4[l]    f32 col
//             %130 = add %128 %129    f32 col
//             %131 = div %49 %9       f32 col
//             %132 = sub %130 %131    f32 col
//             %133 = mul %132 %75     f32 col
//             %134 = mul %119 %133    f32 col
//             %135 = load shared1[4*x + l]  f32 col
//             %136 = add %135 %134    f32 col
//             store shared1[4*x + l] %136
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
//             %178 = combine acc5 threads=1  f32 col
//             %179 = combine acc7 threads=1  f32 col
//             store out2[c] %178
//             store out3[c] %179
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
        {
            const int r = i + 64 * p;
            *(tc_pack<float, 4> *)&held3[0] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x]);
            *(tc_pack<float, 4> *)&held4[0] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x]);
            *(tc_pack<float, 4> *)&held5[0] = tc_load((const tc_pack<float, 4> *)&in2[768 * r + 4 * x]);
        }
        const int r = i + 64 * p;
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held3);
        tc_forget(held4);
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const int c = 4 * x + l + 768 * u;
                const tc_i64 t36 = 768 * r + c;
                const float t37 = tc_uniform_f32(tc_drawn<1>(t36 - l, l, draw + 0, seed));
                const int t38 = TC_B_f32(TC_GE_f32(t37, 0x1.99999ap-4f));
                const float t39 = held3[l + 4 * u];
                const float t40 = TC_MUL_f32(t39, 0x1.1c71c8p+0f);
                const float t41 = TC_SEL_f32(TC_M_f32(t38), t40, 0.0f);
                const float t42 = held4[l + 4 * u];
                const float t43 = TC_ADD_f32(t41, t42);
                sum0[l] = tc_acc_add_f32(sum0[l], t43);
                held0[l + 4 * u] = t43;
                held1[l + 4 * u] = tc_u8(t38);
            }
        }
        __shared__ float part0[6];
        const float all49 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        if (x % 32 == 0) part0[x / 32] = all49;
        __syncthreads();
        const float t49 = tc_parts_add_f32<6>(part0);
        const float t50 = t49 / 768.0f;
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
                const float t60 = held0[l + 4 * u];
                const float t61 = TC_SUB_f32(t60, t50);
                const float t62 = TC_MUL_f32(t61, t61);
                sum1[l] = tc_acc_add_f32(sum1[l], t62);
                const float t64 = held5[l + 4 * u];
                const float t65 = held6[l + 4 * u];
                const float t66 = TC_MUL_f32(t64, t65);
                const float t67 = TC_MUL_f32(t66, t61);
                sum2[l] = tc_acc_add_f32(sum2[l], t67);
            }
        }
        __shared__ float part1[6];
        const float all71 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        __shared__ float part2[6];
        const float all72 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        if (x % 32 == 0) part1[x / 32] = all71;
        if (x % 32 == 0) part2[x / 32] = all72;
        __syncthreads();
        const float t71 = tc_parts_add_f32<6>(part1);
        const float t72 = tc_parts_add_f32<6>(part2);
        const float t73 = t71 / 768.0f;
        const float t74 = TC_ADD_f32(t73, 0x1.4f8b58p-17f);
        const float t75 = 1.0f / TC_SQRT_f32(t74);
        const float t76 = TC_MUL_f32(t72, -0.5f);
        const float t77 = TC_MUL_f32(t75, t75);
        const float t78 = TC_MUL_f32(t75, t77);
        const float t79 = TC_MUL_f32(t76, t78);
        const float t80 = t79 / 768.0f;
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
                const float t89 = held5[l + 4 * u];
                const float t90 = held6[l + 4 * u];
                const float t91 = TC_MUL_f32(t89, t90);
                const float t92 = TC_MUL_f32(t91, t75);
                const float t93 = held0[l + 4 * u];
                const float t94 = TC_SUB_f32(t93, t50);
                const float t95 = TC_ADD_f32(t94, t94);
                const float t96 = TC_MUL_f32(t80, t95);
                const float t97 = TC_ADD_f32(t92, t96);
                const float t98 = TC_NEG_f32(t97);
                sum3[l] = tc_acc_add_f32(sum3[l], t98);
                held2[l + 4 * u] = t97;
            }
        }
        __shared__ float part3[6];
        const float all103 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        if (x % 32 == 0) part3[x / 32] = all103;
        __syncthreads();
        const float t103 = tc_parts_add_f32<6>(part3);
        const float t104 = t103 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            tc_pack<float, 4> o110;
            tc_pack<float, 4> o114;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t108 = held2[l + 4 * u];
                const float t109 = TC_ADD_f32(t108, t104);
                o110.at[l] = t109;
                const int t111 = held1[l + 4 * u];
                const float t112 = TC_SEL_f32(TC_M_f32(t111), t109, 0.0f);
                const float t113 = TC_MUL_f32(t112, 0x1.1c71c8p+0f);
                o114.at[l] = t113;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 768 * u], o110);
            tc_store((tc_pack<float, 4> *)&out1[768 * r + 4 * x + 768 * u], o114);
        }
        const tc_pack<float, 4> v120 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        const float t131 = t49 / 768.0f;
        const tc_pack<float, 4> v135 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        tc_pack<float, 4> o122;
        tc_pack<float, 4> o137;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + l;
            const float t119 = held5[l];
            const float t120 = v120.at[l];
            const float t121 = TC_ADD_f32(t120, t119);
            o122.at[l] = t121;
            const tc_i64 t123 = 768 * r + c;
            const float t124 = tc_uniform_f32(tc_drawn<1>(t123 - l, l, draw + 0, seed));
            const int t125 = TC_B_f32(TC_GE_f32(t124, 0x1.99999ap-4f));
            const float t126 = held3[l];
            const float t127 = TC_MUL_f32(t126, 0x1.1c71c8p+0f);
            const float t128 = TC_SEL_f32(TC_M_f32(t125), t127, 0.0f);
            const float t129 = held4[l];
            const float t130 = TC_ADD_f32(t128, t129);
            const float t132 = TC_SUB_f32(t130, t131);
            const float t133 = TC_MUL_f32(t132, t75);
            const float t134 = TC_MUL_f32(t119, t133);
            const float t135 = v135.at[l];
            const float t136 = TC_ADD_f32(t135, t134);
            o137.at[l] = t136;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o122;
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o137;
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
            const float t178 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum5));
            const float t179 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum7));
            out2[c] = t178;
            out3[c] = t179;
        }
    }
}
