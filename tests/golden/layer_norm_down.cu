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
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_NEG_f32(a) ((float)(-(float)(a)))
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

// kernel0: 24 element-wise ops, 6 reductions in 4 phases over the same rows, 3 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   in1  f32[49152]
//   in2  f32[768]
//   row0  f32[768]
//   row1  f32[768]
//   out0  f32[49152]
//   out1  f32[768]
//   out2  f32[768]
//   held0  f32[8]
//   held1  f32[8]
//   held2  f32[8]
//   held3  f32[8]
//   ticket0  i32[4]
//   work0  f32[49152]
//   work1  f32[49152]
//   shared0  f32[384]
//   shared1  f32[384]
//   shared2  f32[384]
//   shared3  f32[384]
//   shared4  f32[96]
//   shared5  f32[96]
//   %0 = const 768                    f32 row
//   %1 = const 0.00001                f32 row
//   %2 = const -0.5                   f32 row
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
//               copy 4 held1[4*u] <- in0[768*r + 384*u + 4*x]
//               copy 4 held2[4*u] <- in1[768*r + 384*u + 4*x]
//             end
//           end
//           axis r = 64*p + i in 0..64
//           acc0 = new sum width=4    f32 row
//           forget held1
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %37 = load held1[4*u + l]  f32 col
//               acc0 sum= %37
//             end
//           end
//           %41 = combine acc0 threads=96  f32 row
//           %42 = div %41 %0          f32 row
//           acc1 = new sum width=4    f32 row
//           acc2 = new sum width=4    f32 row
//           forget held1
//           forget held2
//           for u in 0..2  bind=unroll
//             copy 4 held3[4*u] <- in2[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %53 = load held1[4*u + l]  f32 col
//               %54 = sub %53 %42     f32 col
//               %55 = square %54      f32 col
//               acc1 sum= %55
//               %57 = load held2[4*u + l]  f32 col
//               %58 = load held3[4*u + l]  f32 col
//               %59 = mul %57 %58     f32 col
//               %60 = mul %59 %54     f32 col
//               acc2 sum= %60
//             end
//           end
//           %64 = combine acc1 threads=96  f32 row
//           %65 = combine acc2 threads=96  f32 row
//           %66 = div %64 %0          f32 row
//           %67 = add %66 %1          f32 row
//           %68 = rsqrt %67           f32 row
//           %69 = mul %65 %2          f32 row
//           %70 = mul %68 %68         f32 row
//           %71 = mul %68 %70         f32 row
//           %72 = mul %69 %71         f32 row
//           %73 = div %72 %0          f32 row
//           acc3 = new sum width=4    f32 row
//           forget held1
//           forget held2
//           for u in 0..2  bind=unroll
//             copy 4 held3[4*u] <- in2[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %83 = load held1[4*u + l]  f32 col
//               %84 = sub %83 %42     f32 col
//               %85 = add %84 %84     f32 col
//               %86 = load held2[4*u + l]  f32 col
//               %87 = load held3[4*u + l]  f32 col
//               %88 = mul %86 %87     f32 col
//               %89 = mul %88 %68     f32 col
//               %90 = mul %73 %85     f32 col
//               %91 = add %89 %90     f32 col
//               %92 = neg %91         f32 col
//               acc3 sum= %92
//               store held0[4*u + l] %91
//             end
//           end
//           %97 = combine acc3 threads=96  f32 row
//           %98 = div %97 %0          f32 row
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %102 = load held0[4*u + l]  f32 col
//               %103 = add %102 %98   f32 col
//               store out0[768*r + c] %103
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %109 = load held2[l]    f32 col
//             %110 = load shared0[4*x + l]  f32 col
//             %111 = add %110 %109    f32 col
//             store shared0[4*x + l] %111
//             %113 = load held1[l]    f32 col
//             %114 = sub %113 %42     f32 col
//             %115 = mul %114 %68     f32 col
//             %116 = mul %109 %115    f32 col
//             %117 = load shared2[4*x + l]  f32 col
//             %118 = add %117 %116    f32 col
//             store shared2[4*x + l] %118
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l + 384 in 0..768
//             %123 = load held2[l + 4]  f32 col
//             %124 = load shared1[4*x + l]  f32 col
//             %125 = add %124 %123    f32 col
//             store shared1[4*x + l] %125
//             %127 = load held1[l + 4]  f32 col
//             %128 = sub %127 %42     f32 col
//             %129 = mul %128 %68     f32 col
//             %130 = mul %123 %129    f32 col
//             %131 = load shared3[4*x + l]  f32 col
//             %132 = add %131 %130    f32 col
//             store shared3[4*x + l] %132
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
//             %185 = combine acc6 threads=1  f32 col
//             %186 = combine acc9 threads=1  f32 col
//             store out1[c] %185
//             store out2[c] %186
//           end
//         end
//       end
//     end
//   end
// 96 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(96, 8)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, float *__restrict__ out1, float *__restrict__ out2, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[8];
    __align__(16) float held1[8];
    __align__(16) float held2[8];
    __align__(16) float held3[8];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    float *const work1 = (float *)(work + 196864);
    __shared__ __align__(16) float shared0[384];
    __shared__ __align__(16) float shared1[384];
    __shared__ __align__(16) float shared2[384];
    __shared__ __align__(16) float shared3[384];
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
                *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 384 * u]);
                *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 384 * u]);
            }
        }
        const int r = i + 64 * p;
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held1);
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t37 = held1[l + 4 * u];
                sum0[l] = tc_acc_add_f32(sum0[l], t37);
            }
        }
        __shared__ float part0[3];
        const float all41 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        if (x % 32 == 0) part0[x / 32] = all41;
        __syncthreads();
        const float t41 = tc_parts_add_f32<3>(part0);
        const float t42 = t41 / 768.0f;
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held1);
        tc_forget(held2);
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 384 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t53 = held1[l + 4 * u];
                const float t54 = TC_SUB_f32(t53, t42);
                const float t55 = TC_MUL_f32(t54, t54);
                sum1[l] = tc_acc_add_f32(sum1[l], t55);
                const float t57 = held2[l + 4 * u];
                const float t58 = held3[l + 4 * u];
                const float t59 = TC_MUL_f32(t57, t58);
                const float t60 = TC_MUL_f32(t59, t54);
                sum2[l] = tc_acc_add_f32(sum2[l], t60);
            }
        }
        __shared__ float part1[3];
        const float all64 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        __shared__ float part2[3];
        const float all65 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        if (x % 32 == 0) part1[x / 32] = all64;
        if (x % 32 == 0) part2[x / 32] = all65;
        __syncthreads();
        const float t64 = tc_parts_add_f32<3>(part1);
        const float t65 = tc_parts_add_f32<3>(part2);
        const float t66 = t64 / 768.0f;
        const float t67 = TC_ADD_f32(t66, 0x1.4f8b58p-17f);
        const float t68 = 1.0f / TC_SQRT_f32(t67);
        const float t69 = TC_MUL_f32(t65, -0.5f);
        const float t70 = TC_MUL_f32(t68, t68);
        const float t71 = TC_MUL_f32(t68, t70);
        const float t72 = TC_MUL_f32(t69, t71);
        const float t73 = t72 / 768.0f;
        float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held1);
        tc_forget(held2);
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 384 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t83 = held1[l + 4 * u];
                const float t84 = TC_SUB_f32(t83, t42);
                const float t85 = TC_ADD_f32(t84, t84);
                const float t86 = held2[l + 4 * u];
                const float t87 = held3[l + 4 * u];
                const float t88 = TC_MUL_f32(t86, t87);
                const float t89 = TC_MUL_f32(t88, t68);
                const float t90 = TC_MUL_f32(t73, t85);
                const float t91 = TC_ADD_f32(t89, t90);
                const float t92 = TC_NEG_f32(t91);
                sum3[l] = tc_acc_add_f32(sum3[l], t92);
                held0[l + 4 * u] = t91;
            }
        }
        __shared__ float part3[3];
        const float all97 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        if (x % 32 == 0) part3[x / 32] = all97;
        __syncthreads();
        const float t97 = tc_parts_add_f32<3>(part3);
        const float t98 = t97 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            tc_pack<float, 4> o104;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t102 = held0[l + 4 * u];
                const float t103 = TC_ADD_f32(t102, t98);
                o104.at[l] = t103;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 384 * u], o104);
        }
        const tc_pack<float, 4> v110 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        const tc_pack<float, 4> v117 = *((const tc_pack<float, 4> *)&shared2[4 * x]);
        tc_pack<float, 4> o112;
        tc_pack<float, 4> o119;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t109 = held2[l];
            const float t110 = v110.at[l];
            const float t111 = TC_ADD_f32(t110, t109);
            o112.at[l] = t111;
            const float t113 = held1[l];
            const float t114 = TC_SUB_f32(t113, t42);
            const float t115 = TC_MUL_f32(t114, t68);
            const float t116 = TC_MUL_f32(t109, t115);
            const float t117 = v117.at[l];
            const float t118 = TC_ADD_f32(t117, t116);
            o119.at[l] = t118;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o112;
        *((tc_pack<float, 4> *)&shared2[4 * x]) = o119;
        const tc_pack<float, 4> v124 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        const tc_pack<float, 4> v131 = *((const tc_pack<float, 4> *)&shared3[4 * x]);
        tc_pack<float, 4> o126;
        tc_pack<float, 4> o133;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t123 = held2[l + 4];
            const float t124 = v124.at[l];
            const float t125 = TC_ADD_f32(t124, t123);
            o126.at[l] = t125;
            const float t127 = held1[l + 4];
            const float t128 = TC_SUB_f32(t127, t42);
            const float t129 = TC_MUL_f32(t128, t68);
            const float t130 = TC_MUL_f32(t123, t129);
            const float t131 = v131.at[l];
            const float t132 = TC_ADD_f32(t131, t130);
            o133.at[l] = t132;
        }
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o126;
        *((tc_pack<float, 4> *)&shared3[4 * x]) = o133;
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
            const float t185 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum6));
            const float t186 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum9));
            out1[c] = t185;
            out2[c] = t186;
        }
    }
}
