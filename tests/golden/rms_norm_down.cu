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
//   held0  f32[24]
//   held1  f32[24]
//   held2  f32[24]
//   ticket0  i32[3]
//   work0  f32[6144]
//   shared0  f32[1024]
//   shared1  f32[1024]
//   shared2  f32[1024]
//   shared3  f32[1024]
//   shared4  f32[1024]
//   shared5  f32[1024]
//   shared6  i32[2]
//   shared7  f32[256]
//   %0 = const 768                    f32 row
//   %1 = const 1e-6                   f32 row
//   %2 = const -0.5                   f32 row
//   launch threads=256 index=i32 resident=1
//     for i in 0..8  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..32  bind=lane
//           begun at ticket0
//           acc2 = new sum width=4    f32 row
//           acc3 = new sum width=4    f32 row
//           acc4 = new sum width=4    f32 row
//           acc5 = new sum width=4    f32 row
//           acc6 = new sum width=4    f32 row
//           acc7 = new sum width=4    f32 row
//           for p in 0..1  bind=serial
//             do
//               axis r = 64*p + 8*i + y in 0..64
//               for u in 0..6  bind=unroll
//                 copy 4 held0[4*u] <- in0[768*r + 128*u + 4*x]
//                 copy 4 held1[4*u] <- in1[768*r + 128*u + 4*x]
//               end
//             end
//             axis r = 64*p + 8*i + y in 0..64
//             acc0 = new sum width=4  f32 row
//             acc1 = new sum width=4  f32 row
//             for u in 0..6  bind=unroll
//               copy 4 held2[4*u] <- in2[128*u + 4*x]
//             end
//             for u in 0..6  bind=unroll
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %31 = load held0[4*u + l]  f32 col
//                 %32 = square %31    f32 col
//                 acc0 sum= %32
//                 %34 = load held1[4*u + l]  f32 col
//                 %35 = load held2[4*u + l]  f32 col
//                 %36 = mul %34 %35   f32 col
//                 %37 = mul %36 %31   f32 col
//                 acc1 sum= %37
//               end
//             end
//             %41 = combine acc0 threads=32  f32 row
//             %42 = combine acc1 threads=32  f32 row
//             %43 = div %41 %0        f32 row
//             %44 = add %43 %1        f32 row
//             %45 = rsqrt %44         f32 row
//             %46 = mul %42 %2        f32 row
//             %47 = mul %45 %45       f32 row
//             %48 = mul %45 %47       f32 row
//             %49 = mul %46 %48       f32 row
//             %50 = div %49 %0        f32 row
//             for u in 0..6  bind=unroll
//               copy 4 held2[4*u] <- in2[128*u + 4*x]
//             end
//             for u in 0..6  bind=unroll
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %57 = load held1[4*u + l]  f32 col
//                 %58 = load held2[4*u + l]  f32 col
//                 %59 = mul %57 %58   f32 col
//                 %60 = mul %59 %45   f32 col
//                 %61 = load held0[4*u + l]  f32 col
//                 %62 = add %61 %61   f32 col
//                 %63 = mul %50 %62   f32 col
//                 %64 = add %60 %63   f32 col
//                 store out0[768*r + c] %64
//               end
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l in 0..768
//               %70 = load held1[l]   f32 col
//               %71 = load held0[l]   f32 col
//               %72 = mul %71 %45     f32 col
//               %73 = mul %70 %72     f32 col
//               acc2 sum= %73
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 128 in 0..768
//               %78 = load held1[l + 4]  f32 col
//               %79 = load held0[l + 4]  f32 col
//               %80 = mul %79 %45     f32 col
//               %81 = mul %78 %80     f32 col
//               acc3 sum= %81
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 256 in 0..768
//               %86 = load held1[l + 8]  f32 col
//               %87 = load held0[l + 8]  f32 col
//               %88 = mul %87 %45     f32 col
//               %89 = mul %86 %88     f32 col
//               acc4 sum= %89
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 384 in 0..768
//               %94 = load held1[l + 12]  f32 col
//               %95 = load held0[l + 12]  f32 col
//               %96 = mul %95 %45     f32 col
//               %97 = mul %94 %96     f32 col
//               acc5 sum= %97
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 512 in 0..768
//               %102 = load held1[l + 16]  f32 col
//               %103 = load held0[l + 16]  f32 col
//               %104 = mul %103 %45   f32 col
//               %105 = mul %102 %104  f32 col
//               acc6 sum= %105
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 640 in 0..768
//               %110 = load held1[l + 20]  f32 col
//               %111 = load held0[l + 20]  f32 col
//               %112 = mul %111 %45   f32 col
//               %113 = mul %110 %112  f32 col
//               acc7 sum= %113
//             end
//           end
//           for l in 0..4  bind=vector
//             put shared0[128*y + 4*x + l] <- acc2
//           end
//           for l in 0..4  bind=vector
//             put shared1[128*y + 4*x + l] <- acc3
//           end
//           for l in 0..4  bind=vector
//             put shared2[128*y + 4*x + l] <- acc4
//           end
//           for l in 0..4  bind=vector
//             put shared3[128*y + 4*x + l] <- acc5
//           end
//           for l in 0..4  bind=vector
//             put shared4[128*y + 4*x + l] <- acc6
//           end
//           for l in 0..4  bind=vector
//             put shared5[128*y + 4*x + l] <- acc7
//           end
//           barrier block
//           acc2 = new sum width=1    f32 row
//           acc3 = new sum width=1    f32 row
//           acc4 = new sum width=1    f32 row
//           acc5 = new sum width=1    f32 row
//           acc6 = new sum width=1    f32 row
//           acc7 = new sum width=1    f32 row
//           if 0 <= 32*y + x < 128
//             for n in 0..8  bind=unroll
//               get acc2 <- shared0[128*n + 32*y + x]
//               get acc3 <- shared1[128*n + 32*y + x]
//               get acc4 <- shared2[128*n + 32*y + x]
//               get acc5 <- shared3[128*n + 32*y + x]
//               get acc6 <- shared4[128*n + 32*y + x]
//               get acc7 <- shared5[128*n + 32*y + x]
//             end
//             put work0[768*i + 32*y + x] <- acc2
//             put work0[768*i + 32*y + x + 128] <- acc3
//             put work0[768*i + 32*y + x + 256] <- acc4
//             put work0[768*i + 32*y + x + 384] <- acc5
//             put work0[768*i + 32*y + x + 512] <- acc6
//             if 0 <= 32*y + x + 640 < 768
//               put work0[768*i + 32*y + x + 640] <- acc7
//             end
//           end
//           meet 8 at ticket0, own shared6
//           for j in 0..96  bind=taken
//             acc8 = new sum width=1  f32 row
//             if 0 <= 4*y + x/8 < 8
//               axis c = 8*j + x%8 in 0..768
//               for q in 0..1  bind=serial
//                 for n in 0..1  bind=unroll
//                   axis m = 8*n + 8*q + 4*y + x/8 in 0..8
//                   get acc8 <- work0[768*m + c]
//                 end
//               end
//             end
//             put shared7[32*y + x] <- acc8
//             barrier block
//             if 0 <= 4*y + x/8 < 1
//               acc8 = new sum width=1  f32 row
//               for n in 0..8  bind=unroll
//                 get acc8 <- shared7[8*n + x%8]
//               end
//               axis c = 8*j + x%8 in 0..768
//               %180 = combine acc8 threads=1  f32 col
//               store out1[c] %180
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 8 blocks have work
extern "C" __global__ void __launch_bounds__(256, 1)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, float *__restrict__ out1, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[24];
    __align__(16) float held1[24];
    __align__(16) float held2[24];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    __shared__ __align__(16) float shared0[1024];
    __shared__ __align__(16) float shared1[1024];
    __shared__ __align__(16) float shared2[1024];
    __shared__ __align__(16) float shared3[1024];
    __shared__ __align__(16) float shared4[1024];
    __shared__ __align__(16) float shared5[1024];
    __shared__ __align__(16) tc_i32 shared6[2];
    __shared__ __align__(16) float shared7[256];
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 8);
    tc_begun(ticket0);
    float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum4[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum5[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum6[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum7[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        {
            const int r = 8 * i + y + 64 * p;
            #pragma unroll
            for (int u = 0; u < 6; u++) {
                *(tc_pack<float, 4> *)&held0[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 128 * u]);
                *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 128 * u]);
            }
        }
        const int r = 8 * i + y + 64 * p;
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 128 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t31 = held0[4 * u + l];
                const float t32 = TC_MUL_f32(t31, t31);
                sum0[l] = tc_acc_add_f32(sum0[l], t32);
                const float t34 = held1[4 * u + l];
                const float t35 = held2[4 * u + l];
                const float t36 = TC_MUL_f32(t34, t35);
                const float t37 = TC_MUL_f32(t36, t31);
                sum1[l] = tc_acc_add_f32(sum1[l], t37);
            }
        }
        const float t41 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        const float t42 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        const float t43 = t41 / 768.0f;
        const float t44 = TC_ADD_f32(t43, 0x1.0c6f7ap-20f);
        const float t45 = 1.0f / TC_SQRT_f32(t44);
        const float t46 = TC_MUL_f32(t42, -0.5f);
        const float t47 = TC_MUL_f32(t45, t45);
        const float t48 = TC_MUL_f32(t45, t47);
        const float t49 = TC_MUL_f32(t46, t48);
        const float t50 = t49 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 128 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            tc_pack<float, 4> o65;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t57 = held1[4 * u + l];
                const float t58 = held2[4 * u + l];
                const float t59 = TC_MUL_f32(t57, t58);
                const float t60 = TC_MUL_f32(t59, t45);
                const float t61 = held0[4 * u + l];
                const float t62 = TC_ADD_f32(t61, t61);
                const float t63 = TC_MUL_f32(t50, t62);
                const float t64 = TC_ADD_f32(t60, t63);
                o65.at[l] = t64;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 128 * u], o65);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t70 = held1[l];
            const float t71 = held0[l];
            const float t72 = TC_MUL_f32(t71, t45);
            const float t73 = TC_MUL_f32(t70, t72);
            sum2[l] = tc_acc_add_f32(sum2[l], t73);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t78 = held1[l + 4];
            const float t79 = held0[l + 4];
            const float t80 = TC_MUL_f32(t79, t45);
            const float t81 = TC_MUL_f32(t78, t80);
            sum3[l] = tc_acc_add_f32(sum3[l], t81);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t86 = held1[l + 8];
            const float t87 = held0[l + 8];
            const float t88 = TC_MUL_f32(t87, t45);
            const float t89 = TC_MUL_f32(t86, t88);
            sum4[l] = tc_acc_add_f32(sum4[l], t89);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t94 = held1[l + 12];
            const float t95 = held0[l + 12];
            const float t96 = TC_MUL_f32(t95, t45);
            const float t97 = TC_MUL_f32(t94, t96);
            sum5[l] = tc_acc_add_f32(sum5[l], t97);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t102 = held1[l + 16];
            const float t103 = held0[l + 16];
            const float t104 = TC_MUL_f32(t103, t45);
            const float t105 = TC_MUL_f32(t102, t104);
            sum6[l] = tc_acc_add_f32(sum6[l], t105);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t110 = held1[l + 20];
            const float t111 = held0[l + 20];
            const float t112 = TC_MUL_f32(t111, t45);
            const float t113 = TC_MUL_f32(t110, t112);
            sum7[l] = tc_acc_add_f32(sum7[l], t113);
        }
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[128 * y + 4 * x + l] = sum2[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared1[128 * y + 4 * x + l] = sum3[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared2[128 * y + 4 * x + l] = sum4[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared3[128 * y + 4 * x + l] = sum5[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared4[128 * y + 4 * x + l] = sum6[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared5[128 * y + 4 * x + l] = sum7[l];
    }
    __syncthreads();
    for (int l = 0; l < 1; l++) sum2[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum3[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum4[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum5[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum6[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum7[l] = 0.0f;
    if (32 * y + x < 128) {
        #pragma unroll
        for (int n = 0; n < 8; n++) {
            sum2[0] = tc_acc_add_f32(sum2[0], shared0[32 * y + x + 128 * n]);
            sum3[0] = tc_acc_add_f32(sum3[0], shared1[32 * y + x + 128 * n]);
            sum4[0] = tc_acc_add_f32(sum4[0], shared2[32 * y + x + 128 * n]);
            sum5[0] = tc_acc_add_f32(sum5[0], shared3[32 * y + x + 128 * n]);
            sum6[0] = tc_acc_add_f32(sum6[0], shared4[32 * y + x + 128 * n]);
            sum7[0] = tc_acc_add_f32(sum7[0], shared5[32 * y + x + 128 * n]);
        }
        work0[768 * i + 32 * y + x] = sum2[0];
        work0[768 * i + 32 * y + x + 128] = sum3[0];
        work0[768 * i + 32 * y + x + 256] = sum4[0];
        work0[768 * i + 32 * y + x + 384] = sum5[0];
        work0[768 * i + 32 * y + x + 512] = sum6[0];
        if (32 * y + x + 640 < 768) {
            work0[768 * i + 32 * y + x + 640] = sum7[0];
        }
    }
    const tc_met met = tc_meets(ticket0, 8, shared6);
    if (met.turn < 0) return;
    for (int j = met.turn; j < 96; j += met.blocks, __syncthreads()) {
        float sum8[1] = {0.0f};
        if (4 * y + (x / 8) < 8) {
            const int c = (x % 8) + 8 * j;
            for (int q = 0; q < 1; q++) {
                #pragma unroll
                for (int n = 0; n < 1; n++) {
                    const int m = 4 * y + (x / 8) + 8 * q + 8 * n;
                    sum8[0] = tc_acc_add_f32(sum8[0], tc_peek(&work0[c + 768 * m]));
                }
            }
        }
        shared7[32 * y + x] = sum8[0];
        __syncthreads();
        if (4 * y + (x / 8) < 1) {
            for (int l = 0; l < 1; l++) sum8[l] = 0.0f;
            #pragma unroll
            for (int n = 0; n < 8; n++) {
                sum8[0] = tc_acc_add_f32(sum8[0], shared7[8 * n + (x % 8)]);
            }
            const int c = (x % 8) + 8 * j;
            const float t180 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum8));
            out1[c] = t180;
        }
    }
    tc_parts(ticket0, met);
}
