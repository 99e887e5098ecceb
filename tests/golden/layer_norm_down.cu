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
//   held0  f32[24]
//   held1  f32[24]
//   held2  f32[24]
//   held3  f32[24]
//   ticket0  i32[3]
//   work0  f32[6144]
//   work1  f32[6144]
//   shared0  f32[1024]
//   shared1  f32[1024]
//   shared2  f32[1024]
//   shared3  f32[1024]
//   shared4  f32[1024]
//   shared5  f32[1024]
//   shared6  f32[1024]
//   shared7  f32[1024]
//   shared8  f32[1024]
//   shared9  f32[1024]
//   shared10  f32[1024]
//   shared11  f32[1024]
//   shared12  i32[2]
//   shared13  f32[256]
//   shared14  f32[256]
//   %0 = const 768                    f32 row
//   %1 = const 0.00001                f32 row
//   %2 = const -0.5                   f32 row
//   launch threads=256 index=i32 resident=1
//     for i in 0..8  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..32  bind=lane
//           begun at ticket0
//           acc4 = new sum width=4    f32 row
//           acc5 = new sum width=4    f32 row
//           acc6 = new sum width=4    f32 row
//           acc7 = new sum width=4    f32 row
//           acc8 = new sum width=4    f32 row
//           acc9 = new sum width=4    f32 row
//           acc11 = new sum width=4   f32 row
//           acc12 = new sum width=4   f32 row
//           acc13 = new sum width=4   f32 row
//           acc14 = new sum width=4   f32 row
//           acc15 = new sum width=4   f32 row
//           acc16 = new sum width=4   f32 row
//           for p in 0..1  bind=serial
//             do
//               axis r = 64*p + 8*i + y in 0..64
//               for u in 0..6  bind=unroll
//                 copy 4 held1[4*u] <- in0[768*r + 128*u + 4*x]
//                 copy 4 held2[4*u] <- in1[768*r + 128*u + 4*x]
//               end
//             end
//             axis r = 64*p + 8*i + y in 0..64
//             acc0 = new sum width=4  f32 row
//             for u in 0..6  bind=unroll
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %33 = load held1[4*u + l]  f32 col
//                 acc0 sum= %33
//               end
//             end
//             %37 = combine acc0 threads=32  f32 row
//             %38 = div %37 %0        f32 row
//             acc1 = new sum width=4  f32 row
//             acc2 = new sum width=4  f32 row
//             for u in 0..6  bind=unroll
//               copy 4 held3[4*u] <- in2[128*u + 4*x]
//             end
//             for u in 0..6  bind=unroll
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %47 = load held1[4*u + l]  f32 col
//                 %48 = sub %47 %38   f32 col
//                 %49 = square %48    f32 col
//                 acc1 sum= %49
//                 %51 = load held2[4*u + l]  f32 col
//                 %52 = load held3[4*u + l]  f32 col
//                 %53 = mul %51 %52   f32 col
//                 %54 = mul %53 %48   f32 col
//                 acc2 sum= %54
//               end
//             end
//             %58 = combine acc1 threads=32  f32 row
//             %59 = combine acc2 threads=32  f32 row
//             %60 = div %58 %0        f32 row
//             %61 = add %60 %1        f32 row
//             %62 = rsqrt %61         f32 row
//             %63 = mul %59 %2        f32 row
//             %64 = mul %62 %62       f32 row
//             %65 = mul %62 %64       f32 row
//             %66 = mul %63 %65       f32 row
//             %67 = div %66 %0        f32 row
//             acc3 = new sum width=4  f32 row
//             for u in 0..6  bind=unroll
//               copy 4 held3[4*u] <- in2[128*u + 4*x]
//             end
//             for u in 0..6  bind=unroll
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %75 = load held1[4*u + l]  f32 col
//                 %76 = sub %75 %38   f32 col
//                 %77 = add %76 %76   f32 col
//                 %78 = load held2[4*u + l]  f32 col
//                 %79 = load held3[4*u + l]  f32 col
//                 %80 = mul %78 %79   f32 col
//                 %81 = mul %80 %62   f32 col
//                 %82 = mul %67 %77   f32 col
//                 %83 = add %81 %82   f32 col
//                 %84 = neg %83       f32 col
//                 acc3 sum= %84
//                 store held0[4*u + l] %83
//               end
//             end
//             %89 = combine acc3 threads=32  f32 row
//             %90 = div %89 %0        f32 row
//             for u in 0..6  bind=unroll
//               for l in 0..4  bind=vector
//                 axis c = 128*u + 4*x + l in 0..768
//                 %94 = load held0[4*u + l]  f32 col
//                 %95 = add %94 %90   f32 col
//                 store out0[768*r + c] %95
//               end
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l in 0..768
//               %101 = load held2[l]  f32 col
//               acc4 sum= %101
//               %103 = load held1[l]  f32 col
//               %104 = sub %103 %38   f32 col
//               %105 = mul %104 %62   f32 col
//               %106 = mul %101 %105  f32 col
//               acc11 sum= %106
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 128 in 0..768
//               %111 = load held2[l + 4]  f32 col
//               acc5 sum= %111
//               %113 = load held1[l + 4]  f32 col
//               %114 = sub %113 %38   f32 col
//               %115 = mul %114 %62   f32 col
//               %116 = mul %111 %115  f32 col
//               acc12 sum= %116
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 256 in 0..768
//               %121 = load held2[l + 8]  f32 col
//               acc6 sum= %121
//               %123 = load held1[l + 8]  f32 col
//               %124 = sub %123 %38   f32 col
//               %125 = mul %124 %62   f32 col
//               %126 = mul %121 %125  f32 col
//               acc13 sum= %126
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 384 in 0..768
//               %131 = load held2[l + 12]  f32 col
//               acc7 sum= %131
//               %133 = load held1[l + 12]  f32 col
//               %134 = sub %133 %38   f32 col
//               %135 = mul %134 %62   f32 col
//               %136 = mul %131 %135  f32 col
//               acc14 sum= %136
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 512 in 0..768
//               %141 = load held2[l + 16]  f32 col
//               acc8 sum= %141
//               %143 = load held1[l + 16]  f32 col
//               %144 = sub %143 %38   f32 col
//               %145 = mul %144 %62   f32 col
//               %146 = mul %141 %145  f32 col
//               acc15 sum= %146
//             end
//             for l in 0..4  bind=vector
//               axis c = 4*x + l + 640 in 0..768
//               %151 = load held2[l + 20]  f32 col
//               acc9 sum= %151
//               %153 = load held1[l + 20]  f32 col
//               %154 = sub %153 %38   f32 col
//               %155 = mul %154 %62   f32 col
//               %156 = mul %151 %155  f32 col
//               acc16 sum= %156
//             end
//           end
//           for l in 0..4  bind=vector
//             put shared0[128*y + 4*x + l] <- acc4
//           end
//           for l in 0..4  bind=vector
//             put shared1[128*y + 4*x + l] <- acc5
//           end
//           for l in 0..4  bind=vector
//             put shared2[128*y + 4*x + l] <- acc6
//           end
//           for l in 0..4  bind=vector
//             put shared3[128*y + 4*x + l] <- acc7
//           end
//           for l in 0..4  bind=vector
//             put shared4[128*y + 4*x + l] <- acc8
//           end
//           for l in 0..4  bind=vector
//             put shared5[128*y + 4*x + l] <- acc9
//           end
//           for l in 0..4  bind=vector
//             put shared6[128*y + 4*x + l] <- acc11
//           end
//           for l in 0..4  bind=vector
//             put shared7[128*y + 4*x + l] <- acc12
//           end
//           for l in 0..4  bind=vector
//             put shared8[128*y + 4*x + l] <- acc13
//           end
//           for l in 0..4  bind=vector
//             put shared9[128*y + 4*x + l] <- acc14
//           end
//           for l in 0..4  bind=vector
//             put shared10[128*y + 4*x + l] <- acc15
//           end
//           for l in 0..4  bind=vector
//             put shared11[128*y + 4*x + l] <- acc16
//           end
//           barrier block
//           acc4 = new sum width=1    f32 row
//           acc5 = new sum width=1    f32 row
//           acc6 = new sum width=1    f32 row
//           acc7 = new sum width=1    f32 row
//           acc8 = new sum width=1    f32 row
//           acc9 = new sum width=1    f32 row
//           acc11 = new sum width=1   f32 row
//           acc12 = new sum width=1   f32 row
//           acc13 = new sum width=1   f32 row
//           acc14 = new sum width=1   f32 row
//           acc15 = new sum width=1   f32 row
//           acc16 = new sum width=1   f32 row
//           if 0 <= 32*y + x < 128
//             for n in 0..8  bind=unroll
//               get acc4 <- shared0[128*n + 32*y + x]
//               get acc5 <- shared1[128*n + 32*y + x]
//               get acc6 <- shared2[128*n + 32*y + x]
//               get acc7 <- shared3[128*n + 32*y + x]
//               get acc8 <- shared4[128*n + 32*y + x]
//               get acc9 <- shared5[128*n + 32*y + x]
//               get acc11 <- shared6[128*n + 32*y + x]
//               get acc12 <- shared7[128*n + 32*y + x]
//               get acc13 <- shared8[128*n + 32*y + x]
//               get acc14 <- shared9[128*n + 32*y + x]
//               get acc15 <- shared10[128*n + 32*y + x]
//               get acc16 <- shared11[128*n + 32*y + x]
//             end
//             put work0[768*i + 32*y + x] <- acc4
//             put work1[768*i + 32*y + x] <- acc11
//             put work0[768*i + 32*y + x + 128] <- acc5
//             put work1[768*i + 32*y + x + 128] <- acc12
//             put work0[768*i + 32*y + x + 256] <- acc6
//             put work1[768*i + 32*y + x + 256] <- acc13
//             put work0[768*i + 32*y + x + 384] <- acc7
//             put work1[768*i + 32*y + x + 384] <- acc14
//             put work0[768*i + 32*y + x + 512] <- acc8
//             put work1[768*i + 32*y + x + 512] <- acc15
//             if 0 <= 32*y + x + 640 < 768
//               put work0[768*i + 32*y + x + 640] <- acc9
//               put work1[768*i + 32*y + x + 640] <- acc16
//             end
//           end
//           meet 8 at ticket0, own shared12
//           for j in 0..96  bind=taken
//             acc10 = new sum width=1  f32 row
//             acc17 = new sum width=1  f32 row
//             if 0 <= 4*y + x/8 < 8
//               axis c = 8*j + x%8 in 0..768
//               for q in 0..1  bind=serial
//                 for n in 0..1  bind=unroll
//                   axis m = 8*n + 8*q + 4*y + x/8 in 0..8
//                   get acc10 <- work0[768*m + c]
//                   get acc17 <- work1[768*m + c]
//                 end
//               end
//             end
//             put shared13[32*y + x] <- acc10
//             put shared14[32*y + x] <- acc17
//             barrier block
//             if 0 <= 4*y + x/8 < 1
//               acc10 = new sum width=1  f32 row
//               acc17 = new sum width=1  f32 row
//               for n in 0..8  bind=unroll
//                 get acc10 <- shared13[8*n + x%8]
//                 get acc17 <- shared14[8*n + x%8]
//               end
//               axis c = 8*j + x%8 in 0..768
//               %264 = combine acc10 threads=1  f32 col
//               %265 = combine acc17 threads=1  f32 col
//               store out1[c] %264
//               store out2[c] %265
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 8 blocks have work
extern "C" __global__ void __launch_bounds__(256, 1)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, float *__restrict__ out1, float *__restrict__ out2, unsigned char *work, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[24];
    __align__(16) float held1[24];
    __align__(16) float held2[24];
    __align__(16) float held3[24];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    float *const work1 = (float *)(work + 24832);
    float *const shared0 = (float *)(shared + 0);
    float *const shared1 = (float *)(shared + 4096);
    float *const shared2 = (float *)(shared + 8192);
    float *const shared3 = (float *)(shared + 12288);
    float *const shared4 = (float *)(shared + 16384);
    float *const shared5 = (float *)(shared + 20480);
    float *const shared6 = (float *)(shared + 24576);
    float *const shared7 = (float *)(shared + 28672);
    float *const shared8 = (float *)(shared + 32768);
    float *const shared9 = (float *)(shared + 36864);
    float *const shared10 = (float *)(shared + 40960);
    float *const shared11 = (float *)(shared + 45056);
    tc_i32 *const shared12 = (tc_i32 *)(shared + 49152);
    float *const shared13 = (float *)(shared + 49216);
    float *const shared14 = (float *)(shared + 50240);
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 8);
    tc_begun(ticket0);
    float sum4[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum5[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum6[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum7[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum8[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum9[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum11[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum12[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum13[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum14[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum15[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum16[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        {
            const int r = 8 * i + y + 64 * p;
            #pragma unroll
            for (int u = 0; u < 6; u++) {
                *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 128 * u]);
                *(tc_pack<float, 4> *)&held2[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 128 * u]);
            }
        }
        const int r = 8 * i + y + 64 * p;
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t33 = held1[4 * u + l];
                sum0[l] = tc_acc_add_f32(sum0[l], t33);
            }
        }
        const float t37 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
        const float t38 = t37 / 768.0f;
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 128 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t47 = held1[4 * u + l];
                const float t48 = TC_SUB_f32(t47, t38);
                const float t49 = TC_MUL_f32(t48, t48);
                sum1[l] = tc_acc_add_f32(sum1[l], t49);
                const float t51 = held2[4 * u + l];
                const float t52 = held3[4 * u + l];
                const float t53 = TC_MUL_f32(t51, t52);
                const float t54 = TC_MUL_f32(t53, t48);
                sum2[l] = tc_acc_add_f32(sum2[l], t54);
            }
        }
        const float t58 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        const float t59 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
        const float t60 = t58 / 768.0f;
        const float t61 = TC_ADD_f32(t60, 0x1.4f8b58p-17f);
        const float t62 = 1.0f / TC_SQRT_f32(t61);
        const float t63 = TC_MUL_f32(t59, -0.5f);
        const float t64 = TC_MUL_f32(t62, t62);
        const float t65 = TC_MUL_f32(t62, t64);
        const float t66 = TC_MUL_f32(t63, t65);
        const float t67 = t66 / 768.0f;
        float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            *(tc_pack<float, 4> *)&held3[4 * u] = tc_load((const tc_pack<float, 4> *)&in2[4 * x + 128 * u]);
        }
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t75 = held1[4 * u + l];
                const float t76 = TC_SUB_f32(t75, t38);
                const float t77 = TC_ADD_f32(t76, t76);
                const float t78 = held2[4 * u + l];
                const float t79 = held3[4 * u + l];
                const float t80 = TC_MUL_f32(t78, t79);
                const float t81 = TC_MUL_f32(t80, t62);
                const float t82 = TC_MUL_f32(t67, t77);
                const float t83 = TC_ADD_f32(t81, t82);
                const float t84 = TC_NEG_f32(t83);
                sum3[l] = tc_acc_add_f32(sum3[l], t84);
                held0[4 * u + l] = t83;
            }
        }
        const float t89 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
        const float t90 = t89 / 768.0f;
        #pragma unroll
        for (int u = 0; u < 6; u++) {
            tc_pack<float, 4> o96;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t94 = held0[4 * u + l];
                const float t95 = TC_ADD_f32(t94, t90);
                o96.at[l] = t95;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 128 * u], o96);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t101 = held2[l];
            sum4[l] = tc_acc_add_f32(sum4[l], t101);
            const float t103 = held1[l];
            const float t104 = TC_SUB_f32(t103, t38);
            const float t105 = TC_MUL_f32(t104, t62);
            const float t106 = TC_MUL_f32(t101, t105);
            sum11[l] = tc_acc_add_f32(sum11[l], t106);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t111 = held2[l + 4];
            sum5[l] = tc_acc_add_f32(sum5[l], t111);
            const float t113 = held1[l + 4];
            const float t114 = TC_SUB_f32(t113, t38);
            const float t115 = TC_MUL_f32(t114, t62);
            const float t116 = TC_MUL_f32(t111, t115);
            sum12[l] = tc_acc_add_f32(sum12[l], t116);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t121 = held2[l + 8];
            sum6[l] = tc_acc_add_f32(sum6[l], t121);
            const float t123 = held1[l + 8];
            const float t124 = TC_SUB_f32(t123, t38);
            const float t125 = TC_MUL_f32(t124, t62);
            const float t126 = TC_MUL_f32(t121, t125);
            sum13[l] = tc_acc_add_f32(sum13[l], t126);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t131 = held2[l + 12];
            sum7[l] = tc_acc_add_f32(sum7[l], t131);
            const float t133 = held1[l + 12];
            const float t134 = TC_SUB_f32(t133, t38);
            const float t135 = TC_MUL_f32(t134, t62);
            const float t136 = TC_MUL_f32(t131, t135);
            sum14[l] = tc_acc_add_f32(sum14[l], t136);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t141 = held2[l + 16];
            sum8[l] = tc_acc_add_f32(sum8[l], t141);
            const float t143 = held1[l + 16];
            const float t144 = TC_SUB_f32(t143, t38);
            const float t145 = TC_MUL_f32(t144, t62);
            const float t146 = TC_MUL_f32(t141, t145);
            sum15[l] = tc_acc_add_f32(sum15[l], t146);
        }
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t151 = held2[l + 20];
            sum9[l] = tc_acc_add_f32(sum9[l], t151);
            const float t153 = held1[l + 20];
            const float t154 = TC_SUB_f32(t153, t38);
            const float t155 = TC_MUL_f32(t154, t62);
            const float t156 = TC_MUL_f32(t151, t155);
            sum16[l] = tc_acc_add_f32(sum16[l], t156);
        }
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[128 * y + 4 * x + l] = sum4[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared1[128 * y + 4 * x + l] = sum5[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared2[128 * y + 4 * x + l] = sum6[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared3[128 * y + 4 * x + l] = sum7[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared4[128 * y + 4 * x + l] = sum8[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared5[128 * y + 4 * x + l] = sum9[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared6[128 * y + 4 * x + l] = sum11[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared7[128 * y + 4 * x + l] = sum12[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared8[128 * y + 4 * x + l] = sum13[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared9[128 * y + 4 * x + l] = sum14[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared10[128 * y + 4 * x + l] = sum15[l];
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared11[128 * y + 4 * x + l] = sum16[l];
    }
    __syncthreads();
    for (int l = 0; l < 1; l++) sum4[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum5[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum6[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum7[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum8[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum9[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum11[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum12[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum13[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum14[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum15[l] = 0.0f;
    for (int l = 0; l < 1; l++) sum16[l] = 0.0f;
    if (32 * y + x < 128) {
        #pragma unroll
        for (int n = 0; n < 8; n++) {
            sum4[0] = tc_acc_add_f32(sum4[0], shared0[32 * y + x + 128 * n]);
            sum5[0] = tc_acc_add_f32(sum5[0], shared1[32 * y + x + 128 * n]);
            sum6[0] = tc_acc_add_f32(sum6[0], shared2[32 * y + x + 128 * n]);
            sum7[0] = tc_acc_add_f32(sum7[0], shared3[32 * y + x + 128 * n]);
            sum8[0] = tc_acc_add_f32(sum8[0], shared4[32 * y + x + 128 * n]);
            sum9[0] = tc_acc_add_f32(sum9[0], shared5[32 * y + x + 128 * n]);
            sum11[0] = tc_acc_add_f32(sum11[0], shared6[32 * y + x + 128 * n]);
            sum12[0] = tc_acc_add_f32(sum12[0], shared7[32 * y + x + 128 * n]);
            sum13[0] = tc_acc_add_f32(sum13[0], shared8[32 * y + x + 128 * n]);
            sum14[0] = tc_acc_add_f32(sum14[0], shared9[32 * y + x + 128 * n]);
            sum15[0] = tc_acc_add_f32(sum15[0], shared10[32 * y + x + 128 * n]);
            sum16[0] = tc_acc_add_f32(sum16[0], shared11[32 * y + x + 128 * n]);
        }
        work0[768 * i + 32 * y + x] = sum4[0];
        work1[768 * i + 32 * y + x] = sum11[0];
        work0[768 * i + 32 * y + x + 128] = sum5[0];
        work1[768 * i + 32 * y + x + 128] = sum12[0];
        work0[768 * i + 32 * y + x + 256] = sum6[0];
        work1[768 * i + 32 * y + x + 256] = sum13[0];
        work0[768 * i + 32 * y + x + 384] = sum7[0];
        work1[768 * i + 32 * y + x + 384] = sum14[0];
        work0[768 * i + 32 * y + x + 512] = sum8[0];
        work1[768 * i + 32 * y + x + 512] = sum15[0];
        if (32 * y + x + 640 < 768) {
            work0[768 * i + 32 * y + x + 640] = sum9[0];
            work1[768 * i + 32 * y + x + 640] = sum16[0];
        }
    }
    const tc_met met = tc_meets(ticket0, 8, shared12);
    if (met.turn < 0) return;
    for (int j = met.turn; j < 96; j += met.blocks, __syncthreads()) {
        float sum10[1] = {0.0f};
        float sum17[1] = {0.0f};
        if (4 * y + (x / 8) < 8) {
            const int c = (x % 8) + 8 * j;
            for (int q = 0; q < 1; q++) {
                #pragma unroll
                for (int n = 0; n < 1; n++) {
                    const int m = 4 * y + (x / 8) + 8 * q + 8 * n;
                    sum10[0] = tc_acc_add_f32(sum10[0], tc_peek(&work0[c + 768 * m]));
                    sum17[0] = tc_acc_add_f32(sum17[0], tc_peek(&work1[c + 768 * m]));
                }
            }
        }
        shared13[32 * y + x] = sum10[0];
        shared14[32 * y + x] = sum17[0];
        __syncthreads();
        if (4 * y + (x / 8) < 1) {
            for (int l = 0; l < 1; l++) sum10[l] = 0.0f;
            for (int l = 0; l < 1; l++) sum17[l] = 0.0f;
            #pragma unroll
            for (int n = 0; n < 8; n++) {
                sum10[0] = tc_acc_add_f32(sum10[0], shared13[8 * n + (x % 8)]);
                sum17[0] = tc_acc_add_f32(sum17[0], shared14[8 * n + (x % 8)]);
            }
            const int c = (x % 8) + 8 * j;
            const float t264 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum10));
            const float t265 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum17));
            out1[c] = t264;
            out2[c] = t265;
        }
    }
    tc_parts(ticket0, met);
}
