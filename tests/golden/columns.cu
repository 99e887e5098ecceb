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

template <class T> TC_FN T TC_N(peek)(const T *p) {
    return *(const volatile T *)p;
}

TC_FN void TC_N(bar_sync)(int id, int threads) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }

TC_FN int TC_N(bar_any)(int id, int threads, int says) {
    int any;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q; }"
        : "=r"(any) : "r"(id), "r"(threads), "r"(says) : "memory");
    return any;
}

template <int N = 0> TC_FN int TC_N(arrives_last)(unsigned *ticket, unsigned n) {
    int last = 0;
    __threadfence();
    if constexpr (N > 0) TC_N(bar_sync)(1, N);
    else __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == n - 1;
    if constexpr (N > 0) last = TC_N(bar_any)(1, N, last);
    else last = __syncthreads_or(last);
    if (last && threadIdx.x == 0) *ticket = 0;
    __threadfence();
    return last;
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))


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

// kernel0: 0 element-wise ops, 1 reduction in 2 phases over the same rows, 1 result
// rows 65536, columns 256; vector along r
//   in0  f32[16777216]
//   out0  f32[65536]
//   held0  f32[32]
//   shared0  f32[1024]
//   launch threads=256 index=i32
//     for i in 0..512  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..32  bind=block
//           acc0 = new sum width=4    f32 row
//           for p in 0..4  bind=serial
//             for u in 0..8  bind=unroll
//               axis c = 64*p + 8*u + y in 0..256
//               copy 4 held0[4*u] <- in0[65536*c + 128*i + 4*x]
//             end
//             for u in 0..8  bind=unroll
//               axis c = 64*p + 8*u + y in 0..256
//               for l in 0..4  bind=vector
//                 axis r = 128*i + 4*x + l in 0..65536
//                 %14 = load held0[4*u + l]  f32 col
//                 acc0 sum= %14
//               end
//             end
//           end
//           for l in 0..4  bind=vector
//             put shared0[128*y + 4*x + l] <- acc0
//           end
//           barrier block
//           acc1 = new sum width=1    f32 row
//           if 0 <= 32*y + x < 128, 0 <= 128*i + 32*y + x < 65536
//             for n in 0..8  bind=unroll
//               get acc1 <- shared0[128*n + 32*y + x]
//             end
//           end
//           if 0 <= 32*y + x < 128, 0 <= 128*i + 32*y + x < 65536
//             axis r = 128*i + 32*y + x in 0..65536
//             %31 = combine acc1 threads=1  f32 row
//             store out0[r] %31
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 512 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    __align__(16) float held0[32];
    __shared__ __align__(16) float shared0[1024];
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 8);
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 4; p++) {
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            const int c = y + 64 * p + 8 * u;
            *(tc_pack<float, 4> *)&held0[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[65536 * c + 128 * i + 4 * x]);
        }
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t14 = held0[4 * u + l];
                sum0[l] = tc_acc_add_f32(sum0[l], t14);
            }
        }
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[128 * y + 4 * x + l] = sum0[l];
    }
    __syncthreads();
    float sum1[1] = {0.0f};
    if (32 * y + x < 128 && 128 * i + 32 * y + x < 65536) {
        #pragma unroll
        for (int n = 0; n < 8; n++) {
            sum1[0] = tc_acc_add_f32(sum1[0], shared0[32 * y + x + 128 * n]);
        }
    }
    if (32 * y + x < 128 && 128 * i + 32 * y + x < 65536) {
        const int r = 128 * i + 32 * y + x;
        const float t31 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum1));
        out0[r] = t31;
    }
}

// kernel1: 0 element-wise ops, 1 reduction in 2 phases over the same rows, 1 result
// rows 1024, columns 65536; vector along r
//   in0  f32[67108864]
//   out0  f32[1024]
//   held0  f32[32]
//   shared0  f32[2048]
//   ticket0  i32[8]
//   work0  f32[33792]
//   launch threads=512 index=i32
//     for i in 0..8  bind=grid
//       for z in 0..33  bind=grid
//         for y in 0..16  bind=block
//           for x in 0..32  bind=block
//             acc0 = new sum width=4  f32 row
//             for p in 0..16  bind=serial
//               for u in 0..8  bind=unroll
//                 if 0 <= 1986*z + 128*p + 16*u + y < 65536, 0 <= 128*p + 16*u + y < 1986
//                   axis c = 1986*z + 128*p + 16*u + y in 0..65536
//                   copy 4 held0[4*u] <- in0[1024*c + 128*i + 4*x]
//                 end
//               end
//               for u in 0..8  bind=unroll
//                 if 0 <= 1986*z + 128*p + 16*u + y < 65536, 0 <= 128*p + 16*u + y < 1986
//                   axis c = 1986*z + 128*p + 16*u + y in 0..65536
//                   for l in 0..4  bind=vector
//                     axis r = 128*i + 4*x + l in 0..1024
//                     %18 = load held0[4*u + l]  f32 col
//                     acc0 sum= %18
//                   end
//                 end
//               end
//             end
//             for l in 0..4  bind=vector
//               put shared0[128*y + 4*x + l] <- acc0
//             end
//             barrier block
//             acc1 = new sum width=1  f32 row
//             if 0 <= 32*y + x < 128, 0 <= 128*i + 32*y + x < 1024
//               for n in 0..16  bind=unroll
//                 get acc1 <- shared0[128*n + 32*y + x]
//               end
//             end
//             if 0 <= 32*y + x < 128, 0 <= 128*i + 32*y + x < 1024
//               put work0[1024*z + 128*i + 32*y + x] <- acc1
//             end
//             last of 33 at ticket0[i]
//             acc1 = new sum width=1  f32 row
//             if 0 <= 32*y + x < 128, 0 <= 128*i + 32*y + x < 1024
//               for q in 0..33  bind=unroll
//                 axis m = q in 0..33
//                 get acc1 <- work0[1024*m + 128*i + 32*y + x]
//               end
//             end
//             if 0 <= 32*y + x < 128, 0 <= 128*i + 32*y + x < 1024
//               axis r = 128*i + 32*y + x in 0..1024
//               %47 = combine acc1 threads=1  f32 row
//               store out0[r] %47
//             end
//           end
//         end
//       end
//     end
//   end
// 512 threads in a block, 264 blocks have work
extern "C" __global__ void __launch_bounds__(512)
kernel1(const float *__restrict__ in0, float *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    __align__(16) float held0[32];
    __shared__ __align__(16) float shared0[2048];
    unsigned *const ticket0 = (unsigned *)(work + 0);
    float *const work0 = (float *)(work + 256);
    const int i = blockIdx.x / 33, z = blockIdx.x % 33;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 16);
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 16; p++) {
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (16 * u + 1986 * z + y + 128 * p < 65536 && 16 * u + y + 128 * p < 1986) {
                const int c = 16 * u + 1986 * z + y + 128 * p;
                *(tc_pack<float, 4> *)&held0[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[1024 * c + 4 * x + 128 * i]);
            }
        }
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (16 * u + 1986 * z + y + 128 * p < 65536 && 16 * u + y + 128 * p < 1986) {
                #pragma unroll
                for (int l = 0; l < 4; l++) {
                    const float t18 = held0[4 * u + l];
                    sum0[l] = tc_acc_add_f32(sum0[l], t18);
                }
            }
        }
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[4 * x + l + 128 * y] = sum0[l];
    }
    __syncthreads();
    float sum1[1] = {0.0f};
    if (x + 32 * y < 128 && x + 128 * i + 32 * y < 1024) {
        #pragma unroll
        for (int n = 0; n < 16; n++) {
            sum1[0] = tc_acc_add_f32(sum1[0], shared0[x + 32 * y + 128 * n]);
        }
    }
    if (x + 32 * y < 128 && x + 128 * i + 32 * y < 1024) {
        work0[x + 128 * i + 1024 * z + 32 * y] = sum1[0];
    }
    if (!tc_arrives_last(&ticket0[i], 33)) return;
    for (int l = 0; l < 1; l++) sum1[l] = 0.0f;
    if (x + 32 * y < 128 && x + 128 * i + 32 * y < 1024) {
        #pragma unroll
        for (int q = 0; q < 33; q++) {
            const int m = q;
            sum1[0] = tc_acc_add_f32(sum1[0], tc_peek(&work0[x + 128 * i + 32 * y + 1024 * m]));
        }
    }
    if (x + 32 * y < 128 && x + 128 * i + 32 * y < 1024) {
        const int r = x + 128 * i + 32 * y;
        const float t47 = tc_lanes_add_f32<1>(tc_fold_add_f32(sum1));
        out0[r] = t47;
    }
}
