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

// kernel0: 32 element-wise ops, 6 reductions in 4 phases over the same rows, 4 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   in1  f32[49152]
//   row0  f32[768]
//   row1  f32[768]
//   row2  bool[768]
//   in2  f32[49152]
//   in3  f32[768]
//   row3  f32[768]
//   out0  f32[49152]
//   out1  f32[49152]
//   out2  f32[768]
//   out3  f32[768]
//   held0  f32[8]
//   held1  f32[8]
//   held2  bool[8]
//   held3  f32[8]
//   held4  f32[8]
//   held5  f32[8]
//   ticket0  i32[4]
//   work0  f32[49152]
//   work1  f32[49152]
//   shared0  f32[384]
//   shared1  f32[384]
//   shared2  f32[384]
//   shared3  f32[384]
//   held6  f32[8]
//   held7  f32[8]
//   shared4  f32[96]
//   shared5  f32[96]
//   %0 = const 0.1                    f32 row
//   %1 = const 1.1111112              f32 row
//   %2 = const 0                      f32 row
//   %3 = const 768                    f32 row
//   %4 = const 0.00001                f32 row
//   %5 = const -0.5                   f32 row
//   %6 = const 768                    f32 col
//   launch threads=96 index=i32 resident=8
//     for i in 0..64  bind=grid
//       for x in 0..96  bind=block
//         begun at ticket0
//         acc4 = new sum width=4      f32 row
//         acc5 = new sum width=4      f32 row
//         acc7 = new sum width=4      f32 row
//         acc8 = new sum width=4      f32 row
//         for l in 0..4  bind=vector
//           put shared0[4*x + l] <- acc4
//         end
//         for l in 0..4  bind=vector
//           put shared1[4*x + l] <- acc5
//         end
//         for l in 0..4  bind=vector
//           put shared2[4*x + l] <- acc7
//         end
//         for l in 0..4  bind=vector
//           put shared3[4*x + l] <- acc8
//         end
//         for p in 0..1  bind=serial
//           do
//             axis r = 64*p + i in 0..64
//             for u in 0..2  bind=unroll
//               copy 4 held4[4*u] <- in2[768*r + 384*u + 4*x]
//             end
//           end
//           axis r = 64*p + i in 0..64
//           acc0 = new sum width=4    f32 row
//           for u in 0..2  bind=unroll
//             copy 4 held6[4*u] <- in0[768*r + 384*u + 4*x]
//             copy 4 held7[4*u] <- in1[768*r + 384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %43 = index 768*r + c  i64 col
//               %44 = random %43 kind=0 draw=0  f32 col
//               %45 = ge %44 %0       bool col
//               %46 = load held6[4*u + l]  f32 col
//               %47 = mul %46 %1      f32 col
//               %48 = where %45 %47 %2  f32 col
//               %49 = load held7[4*u + l]  f32 col
//               %50 = add %48 %49     f32 col
//               acc0 sum= %50
//               store held0[4*u + l] %50
//               store held1[4*u + l] %50
//               store held2[4*u + l] %45
//             end
//           end
//           %57 = combine acc0 threads=96  f32 row
//           %58 = div %57 %3          f32 row
//           acc1 = new sum width=4    f32 row
//           acc2 = new sum width=4    f32 row
//           forget held4
//           for u in 0..2  bind=unroll
//             copy 4 held5[4*u] <- in3[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %68 = load held0[4*u + l]  f32 col
//               %69 = sub %68 %58     f32 col
//               %70 = square %69      f32 col
//               acc1 sum= %70
//               %72 = load held4[4*u + l]  f32 col
//               %73 = load held5[4*u + l]  f32 col
//               %74 = mul %72 %73     f32 col
//               %75 = mul %74 %69     f32 col
//               acc2 sum= %75
//             end
//           end
//           %79 = combine acc1 threads=96  f32 row
//           %80 = combine acc2 threads=96  f32 row
//           %81 = div %79 %3          f32 row
//           %82 = add %81 %4          f32 row
//           %83 = rsqrt %82           f32 row
//           %84 = mul %80 %5          f32 row
//           %85 = mul %83 %83         f32 row
//           %86 = mul %83 %85         f32 row
//           %87 = mul %84 %86         f32 row
//           %88 = div %87 %3          f32 row
//           acc3 = new sum width=4    f32 row
//           forget held4
//           for u in 0..2  bind=unroll
//             copy 4 held5[4*u] <- in3[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %97 = load held4[4*u + l]  f32 col
//               %98 = load held5[4*u + l]  f32 col
//               %99 = mul %97 %98     f32 col
//               %100 = mul %99 %83    f32 col
//               %101 = load held0[4*u + l]  f32 col
//               %102 = sub %101 %58   f32 col
//               %103 = add %102 %102  f32 col
//               %104 = mul %88 %103   f32 col
//               %105 = add %100 %104  f32 col
//               %106 = neg %105       f32 col
//               acc3 sum= %106
//               store held3[4*u + l] %105
//             end
//           end
//           %111 = combine acc3 threads=96  f32 row
//           %112 = div %111 %3        f32 row
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %116 = load held3[4*u + l]  f32 col
//               %117 = add %116 %112  f32 col
//               store out0[768*r + c] %117
//               %119 = load held2[4*u + l]  bool col
//               %120 = where %119 %117 %2  f32 col
//               %121 = mul %120 %1    f32 col
//               store out1[768*r + c] %121
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %127 = load held4[l]    f32 col
//             %128 = load shared0[4*x + l]  f32 col
//             %129 = add %128 %127    f32 col
//             store shared0[4*x + l] %129
//             %131 = load held1[l]    f32 col
//             %132 = div %57 %6       f32 col
//             %133 = sub %131 %132    f32 col
//             %134 = mul %133 %83     f32 col
//             %135 = mul %127 %134    f32 col
//             %136 = load shared2[4*x + l]  f32 col
//             %137 = add %136 %135    f32 col
//             store shared2[4*x + l] %137
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l + 384 in 0..768
//             %142 = load held4[l + 4]  f32 col
//             %143 = load shared1[4*x + l]  f32 col
//             %144 = add %143 %142    f32 col
//             store shared1[4*x + l] %144
//             %146 = load held1[l + 4]  f32 col
//             %147 = div %57 %6       f32 col
//             %148 = sub %146 %147    f32 col
//             %149 = mul %148 %83     f32 col
//             %150 = mul %142 %149    f32 col
//             %151 = load shared3[4*x + l]  f32 col
//             %152 = add %151 %150    f32 col
//             store shared3[4*x + l] %152
//           end
//           barrier block
//         end
//         acc4 = new sum width=4      f32 row
//         acc5 = new sum width=4      f32 row
//         acc7 = new sum width=4      f32 row
//         acc8 = new sum width=4      f32 row
//         for l in 0..4  bind=vector
//           get acc4 <- shared0[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           get acc5 <- shared1[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           get acc7 <- shared2[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           get acc8 <- shared3[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           put work0[768*i + 4*x + l] <- acc4
//           put work1[768*i + 4*x + l] <- acc7
//         end
//         for l in 0..4  bind=vector
//           put work0[768*i + 4*x + l + 384] <- acc5
//           put work1[768*i + 4*x + l + 384] <- acc8
//         end
//         meet 64 at ticket0
//         for j in 0..96  bind=taken
//           acc6 = new sum width=1    f32 row
//           acc9 = new sum width=1    f32 row
//           if 0 <= x/8 < 8
//             axis c = 8*j + x%8 in 0..768
//             for q in 0..1  bind=serial
//               for n in 0..8  bind=unroll
//                 axis m = 64*q + 8*n + x/8 in 0..64
//                 get acc6 <- work0[768*m + c]
//                 get acc9 <- work1[768*m + c]
//               end
//             end
//           end
//           put shared4[x] <- acc6
//           put shared5[x] <- acc9
//           barrier block
//           if 0 <= x/8 < 1
//             acc6 = new sum width=1  f32 row
//             acc9 = new sum width=1  f32 row
//             for n in 0..8  bind=unroll
//               get acc6 <- shared4[8*n + x%8]
//               get acc9 <- shared5[8*n + x%8]
//             end
//             axis c = 8*j + x%8 in 0..768
//             %206 = combine acc6 threads=1  f32 col
//             %207 = combine acc9 threads=1  f32 col
//             store out2[c] %206
//             store out3[c] %207
//           end
//         end
//       end
//     end
//   end
// 96 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(96, 8)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, float *__restrict__ out0, float *__restrict__ out1, float *__restrict__ out2, float *__restrict__ out3, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_begin();
    const tc_u64 seed = a.state->seed, draw = a.state->draw;
    __align__(16) float held0[8];
    __align__(16) float held1[8];
    __align__(16) tc_u8 held2[8];
    __align__(16) float held3[8];
    __align__(16) float held4[8];
    __align__(16) float held5[8];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    float *const work1 = (float *)(work + 196864);
    __shared__ __align__(16) float shared0[384];
    __shared__ __align__(16) float shared1[384];
    __shared__ __align__(16) float shared2[384];
    __shared__ __align__(16) float shared3[384];
    __align__(16) float held6[8];
    __align__(16) float held7[8];
    __shared__ __align__(16) float shared4[96];
    __shared__ __align__(16) float shared5[96];
    const int i = blockIdx.x;
    const int x = threadIdx.x;
    __builtin_assume(x < 96);
    tc_begun(ticket0);
    float sum4[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum5[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum7[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum8[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[4 * x + l] = sum4[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared1[4 * x + l] = sum5[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared2[4 * x + l] = sum7[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared3[4 * x + l] = sum8[l];
    }
    for (int p = 0; p < 1; p++) {
        {
            const int r = i + 64 * p;
            #pragma unroll
            for (int u = 0; u < 2; u++) {
                *(tc_pack<float, 4> *)&held4[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[768 * r + 4 * x + 384 * u]);
            }
        }
        const int r = i + 64 * p;
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            *(tc_pack<float, 4> *)&held6[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 384 * u]);
            *(tc_pack<float, 4> *)&held7[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 384 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const int c = 4 * x + l + 384 * u;
                const tc_i64 t43 = 768 * r + c;
                const float t44 = tc_uniform_f32(tc_drawn<1>(t43 - l, l, draw + 0, seed));
                const int t45 = TC_B_f32(TC_GE_f32(t44, 0x1.99999ap-4f));
                const float t46 = held6[l + 4 * u];
                const float t47 = TC_MUL_f32(t46, 0x1.1c71c8p+0f);
                const float t48 = TC_SEL_f32(TC_M_f32(t45), t47, 0.0f);
                const float t49 = held7[l + 4 * u];
                const float t50 = TC_ADD_f32(t48, t49);
                sum0[l] = tc_acc_add_f32(sum0[l], t50);
                held0[l + 4 * u] = t50;
                held1[l + 4 * u] = t50;
                held2[l + 4 * u] = tc_u8(t45);
            }
        }
        __shared__ float part0[3];
        const float all57 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        if (x % 32 == 0) part0[x / 32] = all57;
        __syncthreads();
        const float t57 = tc_parts_add_f32<3>(part0);
        const float t58 = t57 / 768.0f;
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held4);
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            *(tc_pack<float, 4> *)&held5[4 * u] = tc_load((const tc_pack<float, 4> *)&in3[4 * x + 384 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t68 = held0[l + 4 * u];
                const float t69 = TC_SUB_f32(t68, t58);
                const float t70 = TC_MUL_f32(t69, t69);
                sum1[l] = tc_acc_add_f32(sum1[l], t70);
                const float t72 = held4[l + 4 * u];
                const float t73 = held5[l + 4 * u];
                const float t74 = TC_MUL_f32(t72, t73);
                const float t75 = TC_MUL_f32(t74, t69);
                sum2[l] = tc_acc_add_f32(sum2[l], t75);
            }
        }
        __shared__ float part1[3];
        const float all79 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        __shared__ float part2[3];
        const float all80 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        if (x % 32 == 0) part1[x / 32] = all79;
        if (x % 32 == 0) part2[x / 32] = all80;
        __syncthreads();
        const float t79 = tc_parts_add_f32<3>(part1);
        const float t80 = tc_parts_add_f32<3>(part2);
        const float t81 = t79 / 768.0f;
        const float t82 = TC_ADD_f32(t81, 0x1.4f8b58p-17f);
        const float t83 = 1.0f / TC_SQRT_f32(t82);
        const float t84 = TC_MUL_f32(t80, -0.5f);
        const float t85 = TC_MUL_f32(t83, t83);
        const float t86 = TC_MUL_f32(t83, t85);
        const float t87 = TC_MUL_f32(t84, t86);
        const float t88 = t87 / 768.0f;
        float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held4);
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            *(tc_pack<float, 4> *)&held5[4 * u] = tc_load((const tc_pack<float, 4> *)&in3[4 * x + 384 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t97 = held4[l + 4 * u];
                const float t98 = held5[l + 4 * u];
                const float t99 = TC_MUL_f32(t97, t98);
                const float t100 = TC_MUL_f32(t99, t83);
                const float t101 = held0[l + 4 * u];
                const float t102 = TC_SUB_f32(t101, t58);
                const float t103 = TC_ADD_f32(t102, t102);
                const float t104 = TC_MUL_f32(t88, t103);
                const float t105 = TC_ADD_f32(t100, t104);
                const float t106 = TC_NEG_f32(t105);
                sum3[l] = tc_acc_add_f32(sum3[l], t106);
                held3[l + 4 * u] = t105;
            }
        }
        __shared__ float part3[3];
        const float all111 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        if (x % 32 == 0) part3[x / 32] = all111;
        __syncthreads();
        const float t111 = tc_parts_add_f32<3>(part3);
        const float t112 = t111 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            tc_pack<float, 4> o118;
            tc_pack<float, 4> o122;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t116 = held3[l + 4 * u];
                const float t117 = TC_ADD_f32(t116, t112);
                o118.at[l] = t117;
                const int t119 = held2[l + 4 * u];
                const float t120 = TC_SEL_f32(TC_M_f32(t119), t117, 0.0f);
                const float t121 = TC_MUL_f32(t120, 0x1.1c71c8p+0f);
                o122.at[l] = t121;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 384 * u], o118);
            tc_store((tc_pack<float, 4> *)&out1[768 * r + 4 * x + 384 * u], o122);
        }
        const tc_pack<float, 4> v128 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        const float t132 = t57 / 768.0f;
        const tc_pack<float, 4> v136 = *((const tc_pack<float, 4> *)&shared2[4 * x]);
        tc_pack<float, 4> o130;
        tc_pack<float, 4> o138;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t127 = held4[l];
            const float t128 = v128.at[l];
            const float t129 = TC_ADD_f32(t128, t127);
            o130.at[l] = t129;
            const float t131 = held1[l];
            const float t133 = TC_SUB_f32(t131, t132);
            const float t134 = TC_MUL_f32(t133, t83);
            const float t135 = TC_MUL_f32(t127, t134);
            const float t136 = v136.at[l];
            const float t137 = TC_ADD_f32(t136, t135);
            o138.at[l] = t137;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o130;
        *((tc_pack<float, 4> *)&shared2[4 * x]) = o138;
        const tc_pack<float, 4> v143 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        const float t147 = t57 / 768.0f;
        const tc_pack<float, 4> v151 = *((const tc_pack<float, 4> *)&shared3[4 * x]);
        tc_pack<float, 4> o145;
        tc_pack<float, 4> o153;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t142 = held4[l + 4];
            const float t143 = v143.at[l];
            const float t144 = TC_ADD_f32(t143, t142);
            o145.at[l] = t144;
            const float t146 = held1[l + 4];
            const float t148 = TC_SUB_f32(t146, t147);
            const float t149 = TC_MUL_f32(t148, t83);
            const float t150 = TC_MUL_f32(t142, t149);
            const float t151 = v151.at[l];
            const float t152 = TC_ADD_f32(t151, t150);
            o153.at[l] = t152;
        }
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o145;
        *((tc_pack<float, 4> *)&shared3[4 * x]) = o153;
        __syncthreads();
    }
    for (int l = 0; l < 4; l++) sum4[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum5[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum7[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum8[l] = 0.0f;
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum4[l] = tc_acc_add_f32(sum4[l], shared0[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum5[l] = tc_acc_add_f32(sum5[l], shared1[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum7[l] = tc_acc_add_f32(sum7[l], shared2[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum8[l] = tc_acc_add_f32(sum8[l], shared3[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        work0[768 * i + 4 * x + l] = sum4[l];
        work1[768 * i + 4 * x + l] = sum7[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        work0[768 * i + 4 * x + l + 384] = sum5[l];
        work1[768 * i + 4 * x + l + 384] = sum8[l];
    }
    if (!tc_meets(ticket0, 64)) return;
    for (int j = tc_takes(ticket0, 96, 64); j < 96; j = tc_takes(ticket0, 96, 64)) {
        float sum6[1] = {0.0f};
        float sum9[1] = {0.0f};
        if (x / 8 < 8) {
            const int c = (x % 8) + 8 * j;
            for (int q = 0; q < 1; q++) {
                #pragma unroll
                for (int n = 0; n < 8; n++) {
                    const int m = (x / 8) + 64 * q + 8 * n;
                    sum6[0] = tc_acc_add_f32(sum6[0], tc_peek(&work0[c + 768 * m]));
                    sum9[0] = tc_acc_add_f32(sum9[0], tc_peek(&work1[c + 768 * m]));
                }
            }
        }
        shared4[x] = sum6[0];
        shared5[x] = sum9[0];
        __syncthreads();
        if (x / 8 < 1) {
            for (int l = 0; l < 1; l++) sum6[l] = 0.0f;
            for (int l = 0; l < 1; l++) sum9[l] = 0.0f;
            #pragma unroll
            for (int n = 0; n < 8; n++) {
                sum6[0] = tc_acc_add_f32(sum6[0], shared4[(x % 8) + 8 * n]);
                sum9[0] = tc_acc_add_f32(sum9[0], shared5[(x % 8) + 8 * n]);
            }
            const int c = (x % 8) + 8 * j;
            const float t206 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum6));
            const float t207 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum9));
            out2[c] = t206;
            out3[c] = t207;
        }
    }
}
