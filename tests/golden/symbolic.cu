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

TC_FN float TC_N(larger_f32)(float x, float y) {
    float z;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

TC_FN float TC_N(ex2)(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TC_FN float TC_N(exp_shifted)(float x) {
    const float y = TC_N(larger_f32)(x, -104.0f), t = y * 1.44269502f, e = TC_N(ex2)(t);
    return fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e);
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))


TC_FN float tc_acc_maximum_f32(float a, float b) {
    return tc_larger_f32(a, b);
}

// The elements of a thread.
template <int V> TC_FN float tc_fold_maximum_f32(const float (&x)[V]) {
    float y = x[0];
    for (int l = 1; l < V; l++) y = tc_acc_maximum_f32(y, x[l]);
    return y;
}

// The values of L lanes that are neighbours; all of them get the result.
template <int L> TC_FN float tc_lanes_maximum_f32(float x) {
    for (int o = L / 2; o; o /= 2) x = tc_acc_maximum_f32(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

// What W warps have put into shared memory; all threads get the result.
template <int W> TC_FN float tc_parts_maximum_f32(const float *part) {
    const int w = threadIdx.x % 32;
    return tc_lanes_maximum_f32<32>(w < W ? part[w] : (-1.0f/0.0f));
}

// H values of shared memory, S apart.
template <int H, int S> TC_FN float tc_below_maximum_f32(const float *part) {
    float x = part[0];
    for (int y = 1; y < H; y++) x = tc_acc_maximum_f32(x, part[y * S]);
    return x;
}

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

// kernel0: 3 element-wise ops, 2 reductions in 3 phases over the same rows, 1 result
// rows 8, columns s0; vector along c
//   in0  f32[8 * s0]
//   out0  f32[8 * s0]
//   row0  f32[s0]
//   held0  f32[8]
//   held1  f32[8]
//   held2  f32[8]
//   launch threads=256 index=i32
//     for r in 0..8  bind=grid
//       for x in 0..256  bind=block
//         acc0 = new max width=1      f32 row
//         for p in 0..(s0 + 2047)/2048  bind=serial
//           for u in 0..8  bind=unroll
//             if 0 <= 2048*p + 256*u + x < s0
//               axis c = 2048*p + 256*u + x in 0..s0
//               %8 = load in0[s0*r + c]  f32 col
//               store held0[u] %8
//             end
//           end
//           for u in 0..8  bind=unroll
//             if 0 <= 2048*p + 256*u + x < s0
//               axis c = 2048*p + 256*u + x in 0..s0
//               %15 = load held0[u]   f32 col
//               acc0 max= %15
//             end
//           end
//         end
//         %20 = combine acc0 threads=256  f32 row
//         acc1 = new sum width=1      f32 row
//         for p in 0..(s0 + 2047)/2048  bind=serial
//           for u in 0..8  bind=unroll
//             if 0 <= 2048*p + 256*u + x < s0
//               axis c = 2048*p + 256*u + x in 0..s0
//               %26 = load in0[s0*r + c]  f32 col
//               store held1[u] %26
//             end
//           end
//           for u in 0..8  bind=unroll
//             if 0 <= 2048*p + 256*u + x < s0
//               axis c = 2048*p + 256*u + x in 0..s0
//               %33 = load held1[u]   f32 col
//               %34 = sub %33 %20     f32 col
//               %35 = exp %34         f32 col
//               acc1 sum= %35
//             end
//           end
//         end
//         %40 = combine acc1 threads=256  f32 row
//         for p in 0..(s0 + 2047)/2048  bind=serial
//           for u in 0..8  bind=unroll
//             if 0 <= 2048*p + 256*u + x < s0
//               axis c = 2048*p + 256*u + x in 0..s0
//               %45 = load in0[s0*r + c]  f32 col
//               store held2[u] %45
//             end
//           end
//           for u in 0..8  bind=unroll
//             if 0 <= 2048*p + 256*u + x < s0
//               axis c = 2048*p + 256*u + x in 0..s0
//               %52 = load held2[u]   f32 col
//               %53 = sub %52 %20     f32 col
//               %54 = exp %53         f32 col
//               %55 = div %54 %40     f32 col
//               store out0[s0*r + c] %55
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 8 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int s0 = (int)a.size[0];
    __align__(16) float held0[8];
    __align__(16) float held1[8];
    __align__(16) float held2[8];
    const int r = blockIdx.x;
    const int x = threadIdx.x;
    __builtin_assume(x < 256);
    float max0[1] = {(-1.0f/0.0f)};
    for (int p = 0; p < (s0 + 2047) / 2048; p++) {
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (x + 2048 * p + 256 * u < s0) {
                const int c = x + 2048 * p + 256 * u;
                const float t8 = in0[s0 * r + c];
                held0[u] = t8;
            }
        }
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (x + 2048 * p + 256 * u < s0) {
                const float t15 = held0[u];
                max0[0] = tc_acc_maximum_f32(max0[0], t15);
            }
        }
    }
    __shared__ float part0[8];
    const float all20 = tc_lanes_maximum_f32<32>(tc_fold_maximum_f32(max0));
    if (x % 32 == 0) part0[x / 32] = all20;
    __syncthreads();
    const float t20 = tc_parts_maximum_f32<8>(part0);
    float sum1[1] = {0.0f};
    for (int p = 0; p < (s0 + 2047) / 2048; p++) {
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (x + 2048 * p + 256 * u < s0) {
                const int c = x + 2048 * p + 256 * u;
                const float t26 = in0[s0 * r + c];
                held1[u] = t26;
            }
        }
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (x + 2048 * p + 256 * u < s0) {
                const float t33 = held1[u];
                const float t34 = TC_SUB_f32(t33, t20);
                const float t35 = tc_exp_shifted(t34);
                sum1[0] = tc_acc_add_f32(sum1[0], t35);
            }
        }
    }
    __shared__ float part1[8];
    const float all40 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    if (x % 32 == 0) part1[x / 32] = all40;
    __syncthreads();
    const float t40 = tc_parts_add_f32<8>(part1);
    for (int p = 0; p < (s0 + 2047) / 2048; p++) {
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (x + 2048 * p + 256 * u < s0) {
                const int c = x + 2048 * p + 256 * u;
                const float t45 = in0[s0 * r + c];
                held2[u] = t45;
            }
        }
        #pragma unroll
        for (int u = 0; u < 8; u++) {
            if (x + 2048 * p + 256 * u < s0) {
                const int c = x + 2048 * p + 256 * u;
                const float t52 = held2[u];
                const float t53 = TC_SUB_f32(t52, t20);
                const float t54 = tc_exp_shifted(t53);
                const float t55 = t54 / t40;
                out0[s0 * r + c] = t55;
            }
        }
    }
}
