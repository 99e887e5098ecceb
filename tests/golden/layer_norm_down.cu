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

// kernel0: 25 element-wise ops, 6 reductions in 4 phases over the same rows, 3 results
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
//   %3 = const 768                    f32 col
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
//           axis r = 64*p + i in 0..64
//           for u in 0..2  bind=unroll
//             copy 4 held1[4*u] <- in0[768*r + 384*u + 4*x]
//             copy 4 held2[4*u] <- in1[768*r + 384*u + 4*x]
//           end
//           acc0 = new sum width=4    f32 row
//           forget held1
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %35 = load held1[4*u + l]  f32 col
//               acc0 sum= %35
//             end
//           end
//           %39 = combine acc0 threads=96  f32 row
//           %40 = div %39 %0          f32 row
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
//               %51 = load held1[4*u + l]  f32 col
//               %52 = sub %51 %40     f32 col
//               %53 = square %52      f32 col
//               acc1 sum= %53
//               %55 = load held2[4*u + l]  f32 col
//               %56 = load held3[4*u + l]  f32 col
//               %57 = mul %55 %56     f32 col
//               %58 = mul %57 %52     f32 col
//               acc2 sum= %58
//             end
//           end
//           %62 = combine acc1 threads=96  f32 row
//           %63 = combine acc2 threads=96  f32 row
//           %64 = div %62 %0          f32 row
//           %65 = add %64 %1          f32 row
//           %66 = rsqrt %65           f32 row
//           %67 = mul %63 %2          f32 row
//           %68 = mul %66 %66         f32 row
//           %69 = mul %66 %68         f32 row
//           %70 = mul %67 %69         f32 row
//           %71 = div %70 %0          f32 row
//           acc3 = new sum width=4    f32 row
//           forget held1
//           forget held2
//           for u in 0..2  bind=unroll
//             copy 4 held3[4*u] <- in2[384*u + 4*x]
//           end
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %81 = load held1[4*u + l]  f32 col
//               %82 = sub %81 %40     f32 col
//               %83 = add %82 %82     f32 col
//               %84 = load held2[4*u + l]  f32 col
//               %85 = load held3[4*u + l]  f32 col
//               %86 = mul %84 %85     f32 col
//               %87 = mul %86 %66     f32 col
//               %88 = mul %71 %83     f32 col
//               %89 = add %87 %88     f32 col
//               %90 = neg %89         f32 col
//               acc3 sum= %90
//               store held0[4*u + l] %89
//             end
//           end
//           %95 = combine acc3 threads=96  f32 row
//           %96 = div %95 %0          f32 row
//           for u in 0..2  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 384*u + 4*x + l in 0..768
//               %100 = load held0[4*u + l]  f32 col
//               %101 = add %100 %96   f32 col
//               store out0[768*r + c] %101
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %107 = load held2[l]    f32 col
//             %108 = load shared0[4*x + l]  f32 col
//             %109 = add %108 %107    f32 col
//             store shared0[4*x + l] %109
//             %111 = load held1[l]    f32 col
//             %112 = div %39 %3       f32 col
//             %113 = sub %111 %112    f32 col
//             %114 = mul %113 %66     f32 col
//             %115 = mul %107 %114    f32 col
//             %116 = load shared2[4*x + l]  f32 col
//             %117 = add %116 %115    f32 col
//             store shared2[4*x + l] %117
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l + 384 in 0..768
//             %122 = load held2[l + 4]  f32 col
//             %123 = load shared1[4*x + l]  f32 col
//             %124 = add %123 %122    f32 col
//             store shared1[4*x + l] %124
//             %126 = load held1[l + 4]  f32 col
//             %127 = div %39 %3       f32 col
//             %128 = sub %126 %127    f32 col
//             %129 = mul %128 %66     f32 col
//             %130 = mul %122 %129    f32 col
//             %131 = load shared3[4*x + l]  f32 col
//             %132 = add %131 %130    f32 col
//             store shared3[4*x + l] %132
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
//             %186 = combine acc6 threads=1  f32 col
//             %187 = combine acc9 threads=1  f32 col
//             store out1[c] %186
//             store out2[c] %187
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
        const int r = i + 64 * p;
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 384 * u]);
            *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 384 * u]);
        }
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held1);
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t35 = held1[l + 4 * u];
                sum0[l] = tc_acc_add_f32(sum0[l], t35);
            }
        }
        __shared__ float part0[3];
        const float all39 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        if (x % 32 == 0) part0[x / 32] = all39;
        __syncthreads();
        const float t39 = tc_parts_add_f32<3>(part0);
        const float t40 = t39 / 768.0f;
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
                const float t51 = held1[l + 4 * u];
                const float t52 = TC_SUB_f32(t51, t40);
                const float t53 = TC_MUL_f32(t52, t52);
                sum1[l] = tc_acc_add_f32(sum1[l], t53);
                const float t55 = held2[l + 4 * u];
                const float t56 = held3[l + 4 * u];
                const float t57 = TC_MUL_f32(t55, t56);
                const float t58 = TC_MUL_f32(t57, t52);
                sum2[l] = tc_acc_add_f32(sum2[l], t58);
            }
        }
        __shared__ float part1[3];
        const float all62 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        __shared__ float part2[3];
        const float all63 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        if (x % 32 == 0) part1[x / 32] = all62;
        if (x % 32 == 0) part2[x / 32] = all63;
        __syncthreads();
        const float t62 = tc_parts_add_f32<3>(part1);
        const float t63 = tc_parts_add_f32<3>(part2);
        const float t64 = t62 / 768.0f;
        const float t65 = TC_ADD_f32(t64, 0x1.4f8b58p-17f);
        const float t66 = 1.0f / TC_SQRT_f32(t65);
        const float t67 = TC_MUL_f32(t63, -0.5f);
        const float t68 = TC_MUL_f32(t66, t66);
        const float t69 = TC_MUL_f32(t66, t68);
        const float t70 = TC_MUL_f32(t67, t69);
        const float t71 = t70 / 768.0f;
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
                const float t81 = held1[l + 4 * u];
                const float t82 = TC_SUB_f32(t81, t40);
                const float t83 = TC_ADD_f32(t82, t82);
                const float t84 = held2[l + 4 * u];
                const float t85 = held3[l + 4 * u];
                const float t86 = TC_MUL_f32(t84, t85);
                const float t87 = TC_MUL_f32(t86, t66);
                const float t88 = TC_MUL_f32(t71, t83);
                const float t89 = TC_ADD_f32(t87, t88);
                const float t90 = TC_NEG_f32(t89);
                sum3[l] = tc_acc_add_f32(sum3[l], t90);
                held0[l + 4 * u] = t89;
            }
        }
        __shared__ float part3[3];
        const float all95 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        if (x % 32 == 0) part3[x / 32] = all95;
        __syncthreads();
        const float t95 = tc_parts_add_f32<3>(part3);
        const float t96 = t95 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 2; u++) {
            tc_pack<float, 4> o102;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t100 = held0[l + 4 * u];
                const float t101 = TC_ADD_f32(t100, t96);
                o102.at[l] = t101;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 384 * u], o102);
        }
        const tc_pack<float, 4> v108 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        const float t112 = t39 / 768.0f;
        const tc_pack<float, 4> v116 = *((const tc_pack<float, 4> *)&shared2[4 * x]);
        tc_pack<float, 4> o110;
        tc_pack<float, 4> o118;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t107 = held2[l];
            const float t108 = v108.at[l];
            const float t109 = TC_ADD_f32(t108, t107);
            o110.at[l] = t109;
            const float t111 = held1[l];
            const float t113 = TC_SUB_f32(t111, t112);
            const float t114 = TC_MUL_f32(t113, t66);
            const float t115 = TC_MUL_f32(t107, t114);
            const float t116 = v116.at[l];
            const float t117 = TC_ADD_f32(t116, t115);
            o118.at[l] = t117;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o110;
        *((tc_pack<float, 4> *)&shared2[4 * x]) = o118;
        const tc_pack<float, 4> v123 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        const float t127 = t39 / 768.0f;
        const tc_pack<float, 4> v131 = *((const tc_pack<float, 4> *)&shared3[4 * x]);
        tc_pack<float, 4> o125;
        tc_pack<float, 4> o133;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t122 = held2[l + 4];
            const float t123 = v123.at[l];
            const float t124 = TC_ADD_f32(t123, t122);
            o125.at[l] = t124;
            const float t126 = held1[l + 4];
            const float t128 = TC_SUB_f32(t126, t127);
            const float t129 = TC_MUL_f32(t128, t66);
            const float t130 = TC_MUL_f32(t122, t129);
            const float t131 = v131.at[l];
            const float t132 = TC_ADD_f32(t131, t130);
            o133.at[l] = t132;
        }
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o125;
        *((tc_pack<float, 4> *)&shared3[4 * x]) = o133;
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
            const float t186 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum6));
            const float t187 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum9));
            out1[c] = t186;
            out2[c] = t187;
        }
    }
}
