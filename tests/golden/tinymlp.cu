// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90 -fmad=false
#define TC_FN static __device__ __forceinline__
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

template <class A, class B> TC_FN auto TC_N(min)(A a, B b) -> decltype(a + b) {
    return a < b ? a : b;
}

TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_LE_f32(a, b) ((a) <= (b))
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

// kernel0: 13 element-wise ops, 2 reductions of rows before it around one product, 1 result
// rows 16, columns 64, depth 64; vector along c
//   in0  f32[1024]
//   in1  f32[64]
//   in2  f32[64]
//   made0  f32[64]
//   in3  f32[4096]
//   in4  f32[64]
//   out0  f32[1024]
//   for r in 0..16 worker
//     %1 = const 64  f32
//     %2 = const 9.999999747378752e-6  f32
//     acc0 = new add  f32
//     for c in 0..64 vector
//       %5 = load in0[64 * r + c]  f32
//       acc0 add= %5  f32
//     end
//     %8 = combine acc0  f32
//     %9 = div %8 %1  f32
//     acc1 = new add  f32
//     for c in 0..64 vector
//       %12 = load in0[64 * r + c]  f32
//       %13 = sub %12 %9  f32
//       %14 = square %13  f32
//       acc1 add= %14  f32
//     end
//     %17 = combine acc1  f32
//     %18 = div %17 %1  f32
//     %19 = add %18 %2  f32
//     %20 = rsqrt %19  f32
//     for c in 0..64 vector
//       %22 = load in0[64 * r + c]  f32
//       %23 = sub %22 %9  f32
//       %24 = mul %23 %20  f32
//       %25 = load in1[c]  f32
//       %26 = mul %24 %25  f32
//       %27 = load in2[c]  f32
//       %28 = add %26 %27  f32
//       store made0[c] %28  f32
//     end
//   end
//   %32 = load made0[k]  f32
//   %33 = load in3[k + 64 * c]  f32
//   for r in 0..16 worker
//     for c in 0..64 vector
//       %36 = load in0[64 * r + c]  f32
//       %37 = contract [64] %32 %33  f32
//       %38 = load in4[c]  f32
//       %39 = add %37 %38  f32
//       %40 = relu %39  f32
//       %41 = add %36 %40  f32
//       store out0[64 * r + c] %41  f32
//     end
//   end
// 256 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, const float *__restrict__ in4, float *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_reads(in4), tc_begin();
    const int r0 = (int)blockIdx.x / 4;
    const int c0 = (int)blockIdx.x % 4 * 16;
    const int cols = 64;
    char *const rows = shared;
    float *const tile = (float *)(shared + 256);
    const int lane = threadIdx.x % 16, group = threadIdx.x / 16 * 1;
    tc_pack<float, 4> wide[1][1];
    #pragma unroll
    for (int s = 0; s < 1; s++) {
        const int k = lane * 4 + s * 64;
        #pragma unroll
        for (int j = 0; j < 1; j++) {
            const int c = tc_min(c0 + group + j, cols - 1);
            wide[s][j] = tc_load((const tc_pack<float, 4> *)&in3[k + 64 * c]);
        }
    }
    const int at = tc_min((int)threadIdx.x, 16 - 1);
    const int r = r0 + at / 16;
    const int c = c0 + at % 16;
    const float v36 = in0[64 * r + c];
    const float v38 = in4[c];
    if (threadIdx.x < 32) {
        const int x = threadIdx.x % 16;
        const int r = r0;
        float *const made0 = (float *)(rows);
        tc_pack<float, 4> v5[1];
        tc_pack<float, 4> v25[1];
        tc_pack<float, 4> v27[1];
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            const int c = (x + u * 16) * 4;
            v5[u] = tc_load((const tc_pack<float, 4> *)&in0[64 * r + c]);
            v25[u] = tc_load((const tc_pack<float, 4> *)&in1[c]);
            v27[u] = tc_load((const tc_pack<float, 4> *)&in2[c]);
        }
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t5 = v5[u].at[l];
                sum0[l] = tc_acc_add_f32(sum0[l], t5);
            }
        }
        const float t8 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum0));
        const float t9 = t8 / 64.0f;
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t12 = v5[u].at[l];
                const float t13 = TC_SUB_f32(t12, t9);
                const float t14 = TC_MUL_f32(t13, t13);
                sum1[l] = tc_acc_add_f32(sum1[l], t14);
            }
        }
        const float t17 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum1));
        const float t18 = t17 / 64.0f;
        const float t19 = TC_ADD_f32(t18, 0x1.4f8b58p-17f);
        const float t20 = 1.0f / TC_SQRT_f32(t19);
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            const int c = (x + u * 16) * 4;
            tc_pack<float, 4> o29;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t22 = v5[u].at[l];
                const float t23 = TC_SUB_f32(t22, t9);
                const float t24 = TC_MUL_f32(t23, t20);
                const float t25 = v25[u].at[l];
                const float t26 = TC_MUL_f32(t24, t25);
                const float t27 = v27[u].at[l];
                const float t28 = TC_ADD_f32(t26, t27);
                o29.at[l] = t28;
            }
            *((tc_pack<float, 4> *)&made0[c]) = o29;
        }
    }
    __syncthreads();
    float sum[1][1] = {};
    #pragma unroll
    for (int s = 0; s < 1; s++) {
        const int k = lane * 4 + s * 64;
        #pragma unroll
        for (int i = 0; i < 1; i++) {
            tc_pack<float, 4> few;
            const float *const made0 = (const float *)(rows);
            few = *((const tc_pack<float, 4> *)&made0[k]);
            #pragma unroll
            for (int j = 0; j < 1 * 4; j++)
                sum[i][j / 4] = tc_add_product_f32(few.at[j % 4], wide[s][j / 4].at[j % 4], sum[i][j / 4]);
        }
    }
    #pragma unroll
    for (int i = 0; i < 1 * 1; i++) {
        float v = sum[i / 1][i % 1];
        for (int o = 8; o; o /= 2) v = TC_ADD_f32(v, __shfl_xor_sync(~0u, v, o));
        if (lane == 0) tile[i / 1 * 16 + group + i % 1] = v;
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        const float t36 = v36;
        const float t37 = tile[at];
        const float t38 = v38;
        const float t39 = TC_ADD_f32(t37, t38);
        const float t40 = TC_SEL_f32(TC_LE_f32(t39, 0.0f), 0.0f, t39);
        const float t41 = TC_ADD_f32(t36, t40);
        out0[64 * r + c] = t41;
    }
}

// kernel1: 13 element-wise ops, 2 reductions of rows before it around one product, 1 result
// rows 16, columns 64, depth 64; vector along c
//   in0  f32[1024]
//   in1  f32[64]
//   in2  f32[64]
//   made0  f32[64]
//   in3  f32[4096]
//   in4  f32[64]
//   out0  f32[1024]
//   for r in 0..16 worker
//     %1 = const 64  f32
//     %2 = const 9.999999747378752e-6  f32
//     acc0 = new add  f32
//     for c in 0..64 vector
//       %5 = load in0[64 * r + c]  f32
//       acc0 add= %5  f32
//     end
//     %8 = combine acc0  f32
//     %9 = div %8 %1  f32
//     acc1 = new add  f32
//     for c in 0..64 vector
//       %12 = load in0[64 * r + c]  f32
//       %13 = sub %12 %9  f32
//       %14 = square %13  f32
//       acc1 add= %14  f32
//     end
//     %17 = combine acc1  f32
//     %18 = div %17 %1  f32
//     %19 = add %18 %2  f32
//     %20 = rsqrt %19  f32
//     for c in 0..64 vector
//       %22 = load in0[64 * r + c]  f32
//       %23 = sub %22 %9  f32
//       %24 = mul %23 %20  f32
//       %25 = load in1[c]  f32
//       %26 = mul %24 %25  f32
//       %27 = load in2[c]  f32
//       %28 = add %26 %27  f32
//       store made0[c] %28  f32
//     end
//   end
//   %32 = load made0[k]  f32
//   %33 = load in3[k + 64 * c]  f32
//   for r in 0..16 worker
//     for c in 0..64 vector
//       %36 = load in0[64 * r + c]  f32
//       %37 = contract [64] %32 %33  f32
//       %38 = load in4[c]  f32
//       %39 = add %37 %38  f32
//       %40 = relu %39  f32
//       %41 = add %36 %40  f32
//       store out0[64 * r + c] %41  f32
//     end
//   end
// 256 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, const float *__restrict__ in4, float *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_reads(in4), tc_begin();
    const int r0 = (int)blockIdx.x / 4;
    const int c0 = (int)blockIdx.x % 4 * 16;
    const int cols = 64;
    char *const rows = shared;
    float *const tile = (float *)(shared + 256);
    const int lane = threadIdx.x % 16, group = threadIdx.x / 16 * 1;
    tc_pack<float, 4> wide[1][1];
    #pragma unroll
    for (int s = 0; s < 1; s++) {
        const int k = lane * 4 + s * 64;
        #pragma unroll
        for (int j = 0; j < 1; j++) {
            const int c = tc_min(c0 + group + j, cols - 1);
            wide[s][j] = tc_load((const tc_pack<float, 4> *)&in3[k + 64 * c]);
        }
    }
    const int at = tc_min((int)threadIdx.x, 16 - 1);
    const int r = r0 + at / 16;
    const int c = c0 + at % 16;
    const float v36 = in0[64 * r + c];
    const float v38 = in4[c];
    if (threadIdx.x < 32) {
        const int x = threadIdx.x % 16;
        const int r = r0;
        float *const made0 = (float *)(rows);
        tc_pack<float, 4> v5[1];
        tc_pack<float, 4> v25[1];
        tc_pack<float, 4> v27[1];
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            const int c = (x + u * 16) * 4;
            v5[u] = tc_load((const tc_pack<float, 4> *)&in0[64 * r + c]);
            v25[u] = tc_load((const tc_pack<float, 4> *)&in1[c]);
            v27[u] = tc_load((const tc_pack<float, 4> *)&in2[c]);
        }
        float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t5 = v5[u].at[l];
                sum0[l] = tc_acc_add_f32(sum0[l], t5);
            }
        }
        const float t8 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum0));
        const float t9 = t8 / 64.0f;
        float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t12 = v5[u].at[l];
                const float t13 = TC_SUB_f32(t12, t9);
                const float t14 = TC_MUL_f32(t13, t13);
                sum1[l] = tc_acc_add_f32(sum1[l], t14);
            }
        }
        const float t17 = tc_lanes_add_f32<16>(tc_fold_add_f32(sum1));
        const float t18 = t17 / 64.0f;
        const float t19 = TC_ADD_f32(t18, 0x1.4f8b58p-17f);
        const float t20 = 1.0f / TC_SQRT_f32(t19);
        #pragma unroll
        for (int u = 0; u < 1; u++) {
            const int c = (x + u * 16) * 4;
            tc_pack<float, 4> o29;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t22 = v5[u].at[l];
                const float t23 = TC_SUB_f32(t22, t9);
                const float t24 = TC_MUL_f32(t23, t20);
                const float t25 = v25[u].at[l];
                const float t26 = TC_MUL_f32(t24, t25);
                const float t27 = v27[u].at[l];
                const float t28 = TC_ADD_f32(t26, t27);
                o29.at[l] = t28;
            }
            *((tc_pack<float, 4> *)&made0[c]) = o29;
        }
    }
    __syncthreads();
    float sum[1][1] = {};
    #pragma unroll
    for (int s = 0; s < 1; s++) {
        const int k = lane * 4 + s * 64;
        #pragma unroll
        for (int i = 0; i < 1; i++) {
            tc_pack<float, 4> few;
            const float *const made0 = (const float *)(rows);
            few = *((const tc_pack<float, 4> *)&made0[k]);
            #pragma unroll
            for (int j = 0; j < 1 * 4; j++)
                sum[i][j / 4] = tc_add_product_f32(few.at[j % 4], wide[s][j / 4].at[j % 4], sum[i][j / 4]);
        }
    }
    #pragma unroll
    for (int i = 0; i < 1 * 1; i++) {
        float v = sum[i / 1][i % 1];
        for (int o = 8; o; o /= 2) v = TC_ADD_f32(v, __shfl_xor_sync(~0u, v, o));
        if (lane == 0) tile[i / 1 * 16 + group + i % 1] = v;
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        const float t36 = v36;
        const float t37 = tile[at];
        const float t38 = v38;
        const float t39 = TC_ADD_f32(t37, t38);
        const float t40 = TC_SEL_f32(TC_LE_f32(t39, 0.0f), 0.0f, t39);
        const float t41 = TC_ADD_f32(t36, t40);
        out0[64 * r + c] = t41;
    }
}
