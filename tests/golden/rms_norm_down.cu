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

// kernel0: 18 element-wise ops, 3 reductions in 2 phases over the same rows, 2 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   in1  f32[49152]
//   in2  f32[768]
//   out0  f32[49152]
//   out1  f32[768]
//   held0  f32[12]
//   held1  f32[12]
//   held2  f32[12]
//   ticket0  i32[4]
//   work0  f32[49152]
//   shared0  f32[256]
//   shared1  f32[256]
//   shared2  f32[256]
//   shared3  f32[64]
//   %0 = const 768                    f32 row
//   %1 = const 1e-6                   f32 row
//   %2 = const -0.5                   f32 row
//   launch threads=64 index=i32 resident=12
//     for i in 0..64  bind=grid
//       for x in 0..64  bind=block
//         begun at ticket0
//         acc2 = new sum width=4      f32 row
//         acc3 = new sum width=4      f32 row
//         acc4 = new sum width=4      f32 row
//         for l in 0..4  bind=vector
//           put shared0[4*x + l] <- acc2
//         end
//         for l in 0..4  bind=vector
//           put shared1[4*x + l] <- acc3
//         end
//         for l in 0..4  bind=vector
//           put shared2[4*x + l] <- acc4
//         end
//         for p in 0..1  bind=serial
//           do
//             axis r = 64*p + i in 0..64
//             for u in 0..3  bind=unroll
//               copy 4 held0[4*u] <- in0[768*r + 256*u + 4*x]
//               copy 4 held1[4*u] <- in1[768*r + 256*u + 4*x]
//             end
//           end
//           axis r = 64*p + i in 0..64
//           acc0 = new sum width=4    f32 row
//           acc1 = new sum width=4    f32 row
//           forget held0
//           forget held1
//           for u in 0..3  bind=unroll
//             copy 4 held2[4*u] <- in2[256*u + 4*x]
//           end
//           for u in 0..3  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 256*u + 4*x + l in 0..768
//               %38 = load held0[4*u + l]  f32 col
//               %39 = square %38      f32 col
//               acc0 sum= %39
//               %41 = load held1[4*u + l]  f32 col
//               %42 = load held2[4*u + l]  f32 col
//               %43 = mul %41 %42     f32 col
//               %44 = mul %43 %38     f32 col
//               acc1 sum= %44
//             end
//           end
//           %48 = combine acc0 threads=64  f32 row
//           %49 = combine acc1 threads=64  f32 row
//           %50 = div %48 %0          f32 row
//           %51 = add %50 %1          f32 row
//           %52 = rsqrt %51           f32 row
//           %53 = mul %49 %2          f32 row
//           %54 = mul %52 %52         f32 row
//           %55 = mul %52 %54         f32 row
//           %56 = mul %53 %55         f32 row
//           %57 = div %56 %0          f32 row
//           forget held1
//           forget held0
//           for u in 0..3  bind=unroll
//             copy 4 held2[4*u] <- in2[256*u + 4*x]
//           end
//           for u in 0..3  bind=unroll
//             for l in 0..4  bind=vector
//               axis c = 256*u + 4*x + l in 0..768
//               %66 = load held1[4*u + l]  f32 col
//               %67 = load held2[4*u + l]  f32 col
//               %68 = mul %66 %67     f32 col
//               %69 = mul %68 %52     f32 col
//               %70 = load held0[4*u + l]  f32 col
//               %71 = add %70 %70     f32 col
//               %72 = mul %57 %71     f32 col
//               %73 = add %69 %72     f32 col
//               store out0[768*r + c] %73
//             end
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %79 = load held1[l]     f32 col
//             %80 = load held0[l]     f32 col
//             %81 = mul %80 %52       f32 col
//             %82 = mul %79 %81       f32 col
//             %83 = load shared0[4*x + l]  f32 col
//             %84 = add %83 %82       f32 col
//             store shared0[4*x + l] %84
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l + 256 in 0..768
//             %89 = load held1[l + 4]  f32 col
//             %90 = load held0[l + 4]  f32 col
//             %91 = mul %90 %52       f32 col
//             %92 = mul %89 %91       f32 col
//             %93 = load shared1[4*x + l]  f32 col
//             %94 = add %93 %92       f32 col
//             store shared1[4*x + l] %94
//           end
//           for l in 0..4  bind=vector
//             axis c = 4*x + l + 512 in 0..768
//             %99 = load held1[l + 8]  f32 col
//             %100 = load held0[l + 8]  f32 col
//             %101 = mul %100 %52     f32 col
//             %102 = mul %99 %101     f32 col
//             %103 = load shared2[4*x + l]  f32 col
//             %104 = add %103 %102    f32 col
//             store shared2[4*x + l] %104
//           end
//           barrier block
//         end
//         acc2 = new sum width=4      f32 row
//         acc3 = new sum width=4      f32 row
//         acc4 = new sum width=4      f32 row
//         for l in 0..4  bind=vector
//           get acc2 <- shared0[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           get acc3 <- shared1[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           get acc4 <- shared2[4*x + l]
//         end
//         for l in 0..4  bind=vector
//           put work0[768*i + 4*x + l] <- acc2
//         end
//         for l in 0..4  bind=vector
//           put work0[768*i + 4*x + l + 256] <- acc3
//         end
//         for l in 0..4  bind=vector
//           put work0[768*i + 4*x + l + 512] <- acc4
//         end
//         meet 64 at ticket0
//         for j in 0..96  bind=taken
//           acc5 = new sum width=1    f32 row
//           do
//             axis c = 8*j + x%8 in 0..768
//             for q in 0..1  bind=serial
//               for n in 0..8  bind=unroll
//                 axis m = 64*q + 8*n + x/8 in 0..64
//                 get acc5 <- work0[768*m + c]
//               end
//             end
//           end
//           put shared3[x] <- acc5
//           barrier block
//           if 0 <= x/8 < 1
//             acc5 = new sum width=1  f32 row
//             for n in 0..8  bind=unroll
//               get acc5 <- shared3[8*n + x%8]
//             end
//             axis c = 8*j + x%8 in 0..768
//             %150 = combine acc5 threads=1  f32 col
//             store out1[c] %150
//           end
//         end
//       end
//     end
//   end
// 64 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(64, 12)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, float *__restrict__ out1, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[12];
    __align__(16) float held1[12];
    __align__(16) float held2[12];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    __shared__ __align__(16) float shared0[256];
    __shared__ __align__(16) float shared1[256];
    __shared__ __align__(16) float shared2[256];
    __shared__ __align__(16) float shared3[64];
    const int i = blockIdx.x;
    const int x = threadIdx.x;
    __builtin_assume(x < 64);
    tc_begun(ticket0);
    float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum4[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[4 * x + l] = sum2[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared1[4 * x + l] = sum3[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared2[4 * x + l] = sum4[l];
    }
    for (int p = 0; p < 1; p++) {
        {
            const int r = i + 64 * p;
            #pragma unroll
            for (int u = 0; u < 3; u++) {
                *(tc_pack<float, 4> *)&held0[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 256 * u]);
                *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 256 * u]);
            }
        }
        const int r = i + 64 * p;
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        tc_forget(held0);
        tc_forget(held1);
        #pragma unroll
        for (int u = 0; u < 3; u++) {
            *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 256 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 3; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t38 = held0[l + 4 * u];
                const float t39 = TC_MUL_f32(t38, t38);
                sum0[l] = tc_acc_add_f32(sum0[l], t39);
                const float t41 = held1[l + 4 * u];
                const float t42 = held2[l + 4 * u];
                const float t43 = TC_MUL_f32(t41, t42);
                const float t44 = TC_MUL_f32(t43, t38);
                sum1[l] = tc_acc_add_f32(sum1[l], t44);
            }
        }
        __shared__ float part0[2];
        const float all48 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        __shared__ float part1[2];
        const float all49 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        if (x % 32 == 0) part0[x / 32] = all48;
        if (x % 32 == 0) part1[x / 32] = all49;
        __syncthreads();
        const float t48 = tc_parts_add_f32<2>(part0);
        const float t49 = tc_parts_add_f32<2>(part1);
        const float t50 = t48 / 768.0f;
        const float t51 = TC_ADD_f32(t50, 0x1.0c6f7ap-20f);
        const float t52 = 1.0f / TC_SQRT_f32(t51);
        const float t53 = TC_MUL_f32(t49, -0.5f);
        const float t54 = TC_MUL_f32(t52, t52);
        const float t55 = TC_MUL_f32(t52, t54);
        const float t56 = TC_MUL_f32(t53, t55);
        const float t57 = t56 / 768.0f;
        tc_forget(held1);
        tc_forget(held0);
        #pragma unroll
        for (int u = 0; u < 3; u++) {
            *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 256 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 3; u++) {
            tc_pack<float, 4> o74;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t66 = held1[l + 4 * u];
                const float t67 = held2[l + 4 * u];
                const float t68 = TC_MUL_f32(t66, t67);
                const float t69 = TC_MUL_f32(t68, t52);
                const float t70 = held0[l + 4 * u];
                const float t71 = TC_ADD_f32(t70, t70);
                const float t72 = TC_MUL_f32(t57, t71);
                const float t73 = TC_ADD_f32(t69, t72);
                o74.at[l] = t73;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 256 * u], o74);
        }
        const tc_pack<float, 4> v83 = *((const tc_pack<float, 4> *)&shared0[4 * x]);
        tc_pack<float, 4> o85;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t79 = held1[l];
            const float t80 = held0[l];
            const float t81 = TC_MUL_f32(t80, t52);
            const float t82 = TC_MUL_f32(t79, t81);
            const float t83 = v83.at[l];
            const float t84 = TC_ADD_f32(t83, t82);
            o85.at[l] = t84;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x]) = o85;
        const tc_pack<float, 4> v93 = *((const tc_pack<float, 4> *)&shared1[4 * x]);
        tc_pack<float, 4> o95;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t89 = held1[l + 4];
            const float t90 = held0[l + 4];
            const float t91 = TC_MUL_f32(t90, t52);
            const float t92 = TC_MUL_f32(t89, t91);
            const float t93 = v93.at[l];
            const float t94 = TC_ADD_f32(t93, t92);
            o95.at[l] = t94;
        }
        *((tc_pack<float, 4> *)&shared1[4 * x]) = o95;
        const tc_pack<float, 4> v103 = *((const tc_pack<float, 4> *)&shared2[4 * x]);
        tc_pack<float, 4> o105;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t99 = held1[l + 8];
            const float t100 = held0[l + 8];
            const float t101 = TC_MUL_f32(t100, t52);
            const float t102 = TC_MUL_f32(t99, t101);
            const float t103 = v103.at[l];
            const float t104 = TC_ADD_f32(t103, t102);
            o105.at[l] = t104;
        }
        *((tc_pack<float, 4> *)&shared2[4 * x]) = o105;
        __syncthreads();
    }
    for (int l = 0; l < 4; l++) sum2[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum3[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum4[l] = 0.0f;
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum2[l] = tc_acc_add_f32(sum2[l], shared0[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum3[l] = tc_acc_add_f32(sum3[l], shared1[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        sum4[l] = tc_acc_add_f32(sum4[l], shared2[4 * x + l]);
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        work0[768 * i + 4 * x + l] = sum2[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        work0[768 * i + 4 * x + l + 256] = sum3[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        work0[768 * i + 4 * x + l + 512] = sum4[l];
    }
    if (!tc_meets(ticket0, 64)) return;
    for (int j = tc_takes(ticket0, 96, 64); j < 96; j = tc_takes(ticket0, 96, 64)) {
        float sum5[1] = {0.0f};
        {
            const int c = (x % 8) + 8 * j;
            for (int q = 0; q < 1; q++) {
                #pragma unroll
                for (int n = 0; n < 8; n++) {
                    const int m = (x / 8) + 64 * q + 8 * n;
                    sum5[0] = tc_acc_add_f32(sum5[0], tc_peek(&work0[c + 768 * m]));
                }
            }
        }
        shared3[x] = sum5[0];
        __syncthreads();
        if (x / 8 < 1) {
            for (int l = 0; l < 1; l++) sum5[l] = 0.0f;
            #pragma unroll
            for (int n = 0; n < 8; n++) {
                sum5[0] = tc_acc_add_f32(sum5[0], shared3[(x % 8) + 8 * n]);
            }
            const int c = (x % 8) + 8 * j;
            const float t150 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum5));
            out1[c] = t150;
        }
    }
}
