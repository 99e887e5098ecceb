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

template <class T, int N> TC_FN void TC_N(forget)(T (&held)[N]) {
    unsigned *w = (unsigned *)held;
    #pragma unroll
    for (int i = 0; i < (int)(sizeof(T) * N / 4); i++) asm volatile("" : "+r"(w[i]));
}

template <class T> TC_FN T TC_N(peek)(const T *p) {
    return *(const volatile T *)p;
}

TC_FN void TC_N(begun)(unsigned *ticket) {
    if (threadIdx.x == 0) atomicAdd(ticket, 1u);
}

struct TC_N(met) {
    int turn;
    unsigned blocks, before;
};

TC_FN TC_N(met) TC_N(meets)(unsigned *ticket, unsigned blocks, int *own) {
    unsigned begun = 0, before = 0;
    if (threadIdx.x == 0) begun = *(volatile unsigned *)ticket;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const int stays = begun == blocks;
        unsigned come = atomicAdd(ticket + 1, stays ? 1u : 65537u);
        own[0] = stays ? (int)((come & 65535) - (come >> 16)) : -1;
        for (come++; stays && (come & 65535) != blocks;) come = *(volatile unsigned *)(ticket + 1);
        own[1] = (int)(blocks - (come >> 16));
        if (stays) before = atomicAdd(ticket + 2, 1u);
    }
    __syncthreads();
    __threadfence();
    return {own[0], (unsigned)own[1], before};
}

TC_FN void TC_N(parts)(unsigned *ticket, const TC_N(met) &met) {
    if (threadIdx.x != 0 || met.before != met.blocks - 1) return;
    for (int i = 0; i < 3; i++) ticket[i] = 0;
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

// kernel0: 31 element-wise ops, 6 reductions in 4 phases over the same rows, 4 results
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
//   ticket0  i32[3]
//   work0  f32[49152]
//   work1  f32[49152]
//   shared0  f32[384]
//   shared1  f32[384]
//   shared2  f32[384]
//   shared3  f32[384]
//   held6  f32[8]
//   held7  f32[8]
//   shared4  i32[2]
//   shared5  f32[96]
//   shared6  f32[96]
//   %0 = const 0.1                    f32 row
//   %1 = const 1.1111112              f32 row
//   %2 = const 0                      f32 row
//   %3 = const 768                    f32 row
//   %4 = const 0.00001                f32 row
//   %5 = const -0.5                   f32 row
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
//               %42 = index 768*r + c  i64 col
//               %43 = random %42 kind=0 draw=0  f32 col
//               %44 = ge %43 %0       bool col
//               %45 = load held6[4*u + l]  f32 col
//               %46 = mul %45 %1      f32 col
//               %47 = where %44 %46 %2  f32 col
//               %48 = load held7[4*u + l]  f32 col
//               %49 = add %47 %48     f32 col
//               acc0 sum= %49
//               store held0[4*u + l] %49
//               store held1[4*u + l] %49
//               store held2[4*u + l] %44
//             end
//           end
//           %56 = combine acc0 threads=96  f32 row
//           %57 = div %56 %3          f32 row
//           acc1 = new sum width=4    f32 row
//           acc2 = new sum width=4    f32 row
//           forget held4
//           for u in 0..2  bind=unroll
//             copy 4 held5[4*u] <- in3[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %67 = load held0[4*u + l]  f32 col
//               %68 = sub %67 %57     f32 col
//               %69 = square %68      f32 col
//               acc1 sum= %69
//               %71 = load held4[4*u + l]  f32 col
//               %72 = load held5[4*u + l]  f32 col
//               %73 = mul %71 %72     f32 col
//               %74 = mul %73 %68     f32 col
//               acc2 sum= %74
//             end
//           end
//           %78 = combine acc1 threads=96  f32 row
//           %79 = combine acc2 threads=96  f32 row
//           %80 = div %78 %3          f32 row
//           %81 = add %80 %4          f32 row
//           %82 = rsqrt %81           f32 row
//           %83 = mul %79 %5          f32 row
//           %84 = mul %82 %82         f32 row
//           %85 = mul %82 %84         f32 row
//           %86 = mul %83 %85         f32 row
//           %87 = div %86 %3          f32 row
//           acc3 = new sum width=4    f32 row
//           forget held4
//           for u in 0..2  bind=unroll
//             copy 4 held5[4*u] <- in3[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %96 = load held4[4*u + l]  f32 col
//               %97 = load held5[4*u + l]  f32 col
//               %98 = mul %96 %97     f32 col
//               %99 = mul %98 %82     f32 col
//               %100 = load held0[4*u + l]  f32 col
//               %101 = sub %100 %57   f32 col
//               %102 = add %101 %101  f32 col
//               %103 = mul %87 %102   f32 col
//               %104 = add %99 %103   f32 col
//               %105 = neg %104       f32 col
//               acc3 sum= %105
//               store held3[4*u + l] %104
//             end
//           end
//           %110 = combine acc3 threads=96  f32 row
//           %111 = div %110 %3        f32 row
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %115 = load held3[4*u + l]  f32 col
//               %116 = add %115 %111  f32 col
//               store out0[768*r + c] %116
//               %118 = load held2[4*u + l]  bool col
//               %119 = where %118 %116 %2  f32 col
//               %120 = mul %119 %1    f32 col
//               store out1[768*r + c] %120
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %126 = load held4[l]    f32 col
//             %127 = load shared0[4*x + l]  f32 col
//             %128 = add %127 %126    f32 col
//             store shared0[4*x + l] %128
//             %130 = load held1[l]    f32 col
//             %131 = sub %130 %57     f32 col
//             %132 = mul %131 %82     f32 col
//             %133 = mul %126 %132    f32 col
//             %134 = load shared2[4*x + l]  f32 col
//             %135 = add %134 %133    f32 col
//             store shared2[4*x + l] %135
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l + 384 in 0..768
//             %140 = load held4[l + 4]  f32 col
//             %141 = load shared1[4*x + l]  f32 col
//             %142 = add %141 %140    f32 col
//             store shared1[4*x + l] %142
//             %144 = load held1[l + 4]  f32 col
//             %145 = sub %144 %57     f32 col
//             %146 = mul %145 %82     f32 col
//             %147 = mul %140 %146    f32 col
//             %148 = load shared3[4*x + l]  f32 col
//             %149 = add %148 %147    f32 col
//             store shared3[4*x + l] %149
//           end
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
//         meet 64 at ticket0, own shared4
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
//           put shared5[x] <- acc6
//           put shared6[x] <- acc9
//           barrier block
//           if 0 <= x/8 < 1
//             acc6 = new sum width=1  f32 row
//             acc9 = new sum width=1  f32 row
//             for n in 0..8  bind=unroll
//               get acc6 <- shared5[8*n + x%8]
//               get acc9 <- shared6[8*n + x%8]
//             end
//             axis c = 8*j + x%8 in 0..768
//             %202 = combine acc6 threads=1  f32 col
//             %203 = combine acc9 threads=1  f32 col
//             store out2[c] %202
//             store out3[c] %203
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
    __shared__ __align__(16) tc_i32 shared4[2];
    __shared__ __align__(16) float shared5[96];
    __shared__ __align__(16) float shared6[96];
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
                const tc_i64 t42 = 768 * r + c;
                const float t43 = tc_uniform_f32(tc_drawn<1>(t42 - l, l, draw + 0, seed));
                const int t44 = TC_B_f32(TC_GE_f32(t43, 0x1.99999ap-4f));
                const float t45 = held6[l + 4 * u];
                const float t46 = TC_MUL_f32(t45, 0x1.1c71c8p+0f);
                const float t47 = TC_SEL_f32(TC_M_f32(t44), t46, 0.0f);
                const float t48 = held7[l + 4 * u];
                const float t49 = TC_ADD_f32(t47, t48);
                sum0[l] = tc_acc_add_f32(sum0[l], t49);
                held0[l + 4 * u] = t49;
                held1[l + 4 * u] = t49;
                held2[l + 4 * u] = tc_u8(t44);
            }
        }
        __shared__ float part0[3];
        const float all56 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        if (x % 32 == 0) part0[x / 32] = all56;
        __syncthreads();
        const float t56 = tc_parts_add_f32<3>(part0);
        const float t57 = t56 / 768.0f;
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
                const float t67 = held0[l + 4 * u];
                const float t68 = TC_SUB_f32(t67, t57);
                const float t69 = TC_MUL_f32(t68, t68);
                sum1[l] = tc_acc_add_f32(sum1[l], t69);
                const float t71 = held4[l + 4 * u];
                const float t72 = held5[l + 4 * u];
                const float t73 = TC_MUL_f32(t71, t72);
                const float t74 = TC_MUL_f32(t73, t68);
                sum2[l] = tc_acc_add_f32(sum2[l], t74);
            }
        }
        __shared__ float part1[3];
        const float all78 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        __shared__ float part2[3];
        const float all79 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        if (x % 32 == 0) part1[x / 32] = all78;
        if (x % 32 == 0) part2[x / 32] = all79;
        __syncthreads();
        const float t78 = tc_parts_add_f32<3>(part1);
        const float t79 = tc_parts_add_f32<3>(part2);
        const float t80 = t78 / 768.0f;
        const float t81 = TC_ADD_f32(t80, 0x1.4f8b58p-17f);
        const float t82 = 1.0f / TC_SQRT_f32(t81);
        const float t83 = TC_MUL_f32(t79, -0.5f);
        const float t84 = TC_MUL_f32(t82, t82);
        const float t85 = TC_MUL_f32(t82, t84);
        const float t86 = TC_MUL_f32(t83, t85);
        const float t87 = t86 / 768.0f;
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
                const float t96 = held4[l + 4 * u];
                const float t97 = held5[l + 4 * u];
                const float t98 = TC_MUL_f32(t96, t97);
                const float t99 = TC_MUL_f32(t98, t82);
                const float t100 = held0[l + 4 * u];
                const float t101 = TC_SUB_f32(t100, t57);
                const float t102 = TC_ADD_f32(t101, t101);
                const float t103 = TC_MUL_f32(t87, t102);
                const float t104 = TC_ADD_f32(t99, t103);
                const float t105 = TC_NEG_f32(t104);
                sum3[l] = tc_acc_add_f32(sum3[l], t105);
                held3[l + 4 * u] = t104;
            }
        }
        __shared__ float part3[3];
        const float all110 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        if (x % 32 == 0) part3[x / 32] = all110;
        __syncthreads();
        const float t110 = tc_parts_add_f32<3>(part3);
        const float t111 = t110 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            tc_pack<float, 4> o117;
            tc_pack<float, 4> o121;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t115 = held3[l + 4 * u];
                const float t116 = TC_ADD_f32(t115, t111);
                o117.at[l] = t116;
                const int t118 = held2[l + 4 * u];
                const float t119 = TC_SEL_f32(TC_M_f32(t118), t116, 0.0f);
                const float t120 = TC_MUL_f32(t119, 0x1.1c71c8p+0f);
                o121.at[l] = t120;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 384 * u], o117);
            tc_store((tc_pack<float, 4> *)&out1[768 * r + 4 * x + 384 * u], o121);
        }
        const tc_pack<float, 4> v127 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        const tc_pack<float, 4> v134 = *((const tc_pack<float, 4> *)&shared2[4 * x]);
        tc_pack<float, 4> o129;
        tc_pack<float, 4> o136;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t126 = held4[l];
            const float t127 = v127.at[l];
            const float t128 = TC_ADD_f32(t127, t126);
            o129.at[l] = t128;
            const float t130 = held1[l];
            const float t131 = TC_SUB_f32(t130, t57);
            const float t132 = TC_MUL_f32(t131, t82);
            const float t133 = TC_MUL_f32(t126, t132);
            const float t134 = v134.at[l];
            const float t135 = TC_ADD_f32(t134, t133);
            o136.at[l] = t135;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o129;
        *((tc_pack<float, 4> *)&shared2[4 * x]) = o136;
        const tc_pack<float, 4> v141 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        const tc_pack<float, 4> v148 = *((const tc_pack<float, 4> *)&shared3[4 * x]);
        tc_pack<float, 4> o143;
        tc_pack<float, 4> o150;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t140 = held4[l + 4];
            const float t141 = v141.at[l];
            const float t142 = TC_ADD_f32(t141, t140);
            o143.at[l] = t142;
            const float t144 = held1[l + 4];
            const float t145 = TC_SUB_f32(t144, t57);
            const float t146 = TC_MUL_f32(t145, t82);
            const float t147 = TC_MUL_f32(t140, t146);
            const float t148 = v148.at[l];
            const float t149 = TC_ADD_f32(t148, t147);
            o150.at[l] = t149;
        }
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o143;
        *((tc_pack<float, 4> *)&shared3[4 * x]) = o150;
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
    const tc_met met = tc_meets(ticket0, 64, shared4);
    if (met.turn < 0) return;
    for (int j = met.turn; j < 96; j += met.blocks, __syncthreads()) {
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
        shared5[x] = sum6[0];
        shared6[x] = sum9[0];
        __syncthreads();
        if (x / 8 < 1) {
            for (int l = 0; l < 1; l++) sum6[l] = 0.0f;
            for (int l = 0; l < 1; l++) sum9[l] = 0.0f;
            #pragma unroll
            for (int n = 0; n < 8; n++) {
                sum6[0] = tc_acc_add_f32(sum6[0], shared5[(x % 8) + 8 * n]);
                sum9[0] = tc_acc_add_f32(sum9[0], shared6[(x % 8) + 8 * n]);
            }
            const int c = (x % 8) + 8 * j;
            const float t202 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum6));
            const float t203 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum9));
            out2[c] = t202;
            out3[c] = t203;
        }
    }
    tc_parts(ticket0, met);
}
