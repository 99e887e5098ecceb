// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90a -fmad=false
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

struct tc_state {         // of the program, in the device's memory; its scalars follow
    tc_i64 *flag;          // an index out of range: site + 1, value, limit
    tc_u64 seed, draw;     // of the random numbers
};

template <int N> struct tc_kargs {
    tc_state *state;
    tc_i64 size[N];        // run-time sizes
    __device__ __forceinline__ const tc_scalar &arg(int i) const { return ((const tc_scalar *)(state + 1))[i]; }
};

template <class T, int V> struct __align__(sizeof(T) * V) tc_pack {
    T at[V];
};

// The bits of a value, and back.
template <class T> struct TC_N(word_of) {
    TC_FN tc_u64 bits(T x) { return (tc_u64)x; }
    TC_FN T value(tc_u64 w) { return (T)w; }
};
template <> struct TC_N(word_of)<float> {
    TC_FN tc_u64 bits(float x) { return __float_as_uint(x); }
    TC_FN float value(tc_u64 w) { return __uint_as_float((unsigned)w); }
};
template <> struct TC_N(word_of)<double> {
    TC_FN tc_u64 bits(double x) { return (tc_u64)__double_as_longlong(x); }
    TC_FN double value(tc_u64 w) { return __longlong_as_double((tc_i64)w); }
};

#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_MAX_f32(a, b) ((a) > (b) ? (a) : (b))
#define TC_NE_f32(a, b) ((a) != (b))

TC_FN float tc_exp_f32(float x) {
    typedef float T;
    return (T)(expf(x));
}


TC_FN float tc_acc_maximum_f32(float a, float b) {
    return TC_SEL_f32(TC_NE_f32(a, a), a, TC_MAX_f32(a, b));
}

template <int W> TC_FN float tc_block_maximum_f32(float x) {
    __shared__ float part[W];
    for (int o = 16; o; o /= 2) x = tc_acc_maximum_f32(x, __shfl_down_sync(~0u, x, o));
    if (W == 1) return __shfl_sync(~0u, x, 0);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int w = 1; w < W; w++) x = tc_acc_maximum_f32(x, part[w]);
    return x;
}

TC_FN float tc_acc_add_f32(float a, float b) {
    return TC_ADD_f32(a, b);
}

template <int W> TC_FN float tc_block_add_f32(float x) {
    __shared__ float part[W];
    for (int o = 16; o; o /= 2) x = tc_acc_add_f32(x, __shfl_down_sync(~0u, x, o));
    if (W == 1) return __shfl_sync(~0u, x, 0);
    __syncthreads();
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
    __syncthreads();
    x = part[0];
    for (int w = 1; w < W; w++) x = tc_acc_add_f32(x, part[w]);
    return x;
}

// kernel0: 3 element-wise ops, 2 reductions in 3 phases over the same rows, 1 result
// rows 8, columns s0; vector along c
//   in0  f32[8 * s0]
//   out0  f32[8 * s0]
//   row0  f32[s0]
//   for r in 0..8 worker
//     acc0 = new maximum  f32
//     for c in 0..s0 vector
//       %3 = load in0[s0 * r + c]  f32
//       acc0 maximum= %3  f32
//     end
//     %6 = combine acc0  f32
//     acc1 = new add  f32
//     for c in 0..s0 vector
//       %9 = load in0[s0 * r + c]  f32
//       %10 = sub %9 %6  f32
//       %11 = exp %10  f32
//       store row0[c] %11  f32
//       acc1 add= %11  f32
//     end
//     %15 = combine acc1  f32
//     for c in 0..s0 vector
//       %17 = load row0[c]  f32
//       %18 = div %17 %15  f32
//       store out0[s0 * r + c] %18  f32
//     end
//   end
// 256 threads in a block, 8 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ char shared[];
    const tc_i64 s0 = a.size[0];
    float *row0 = (float *)(shared + 0);
    const int x = threadIdx.x;
    for (tc_i64 r = blockIdx.x; r < 8; r += gridDim.x) {
        float max0_0 = (-1.0f/0.0f);
        for (tc_i64 c = x; c < s0; c += 256) {
            const float t3 = in0[s0 * r + c];
            max0_0 = tc_acc_maximum_f32(max0_0, t3);
        }
        const float t6 = tc_block_maximum_f32<8>(max0_0);
        float sum1_0 = 0.0f;
        for (tc_i64 c = x; c < s0; c += 256) {
            const float t9 = in0[s0 * r + c];
            const float t10 = TC_SUB_f32(t9, t6);
            const float t11 = tc_exp_f32(t10);
            row0[c] = t11;
            sum1_0 = tc_acc_add_f32(sum1_0, t11);
        }
        __syncthreads();
        const float t15 = tc_block_add_f32<8>(sum1_0);
        for (tc_i64 c = x; c < s0; c += 256) {
            const float t17 = row0[c];
            const float t18 = t17 / t15;
            out0[s0 * r + c] = t18;
        }
        __syncthreads();
    }
}
