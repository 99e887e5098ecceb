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
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_LE_f32(a, b) ((a) <= (b))

// kernel0: 3 element-wise ops over one space, 1 result
// rows 1, columns 768 * s0; vector along c
//   in0  f32[768 * s0]
//   in1  f32[768]
//   in2  f32[1]
//   out0  f32[768 * s0]
//   for r in 0..1 serial
//     %1 = load in2[0]  f32
//     for c in 0..768 * s0 worker
//       %3 = load in0[c]  f32
//       %4 = load in1[c % 768]  f32
//       %5 = mul %3 %4  f32
//       %6 = add %5 %1  f32
//       %7 = relu %6  f32
//       store out0[c] %7  f32
//     end
//   end
// 256 threads in a block, (192 * s0 + 255) / 256 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out0, const tc_kargs<1> a) {
    const tc_i64 s0 = a.size[0];
    for (tc_i64 i = (tc_i64)blockIdx.x * 256 + threadIdx.x; i < 192 * s0; i += (tc_i64)gridDim.x * 256) {
        const tc_i64 c = i * 4;
        const float t1 = in2[0];
        const tc_pack<float, 4> v3 = *(const tc_pack<float, 4> *)&in0[c];
        const float t3_0 = v3.at[0];
        const float t3_1 = v3.at[1];
        const float t3_2 = v3.at[2];
        const float t3_3 = v3.at[3];
        const tc_pack<float, 4> v4 = *(const tc_pack<float, 4> *)&in1[c % 768];
        const float t4_0 = v4.at[0];
        const float t4_1 = v4.at[1];
        const float t4_2 = v4.at[2];
        const float t4_3 = v4.at[3];
        const float t5_0 = TC_MUL_f32(t3_0, t4_0);
        const float t5_1 = TC_MUL_f32(t3_1, t4_1);
        const float t5_2 = TC_MUL_f32(t3_2, t4_2);
        const float t5_3 = TC_MUL_f32(t3_3, t4_3);
        const float t6_0 = TC_ADD_f32(t5_0, t1);
        const float t6_1 = TC_ADD_f32(t5_1, t1);
        const float t6_2 = TC_ADD_f32(t5_2, t1);
        const float t6_3 = TC_ADD_f32(t5_3, t1);
        const float t7_0 = TC_SEL_f32(TC_LE_f32(t6_0, 0.0f), 0.0f, t6_0);
        const float t7_1 = TC_SEL_f32(TC_LE_f32(t6_1, 0.0f), 0.0f, t6_1);
        const float t7_2 = TC_SEL_f32(TC_LE_f32(t6_2, 0.0f), 0.0f, t6_2);
        const float t7_3 = TC_SEL_f32(TC_LE_f32(t6_3, 0.0f), 0.0f, t6_3);
        *(tc_pack<float, 4> *)&out0[c] = {t7_0, t7_1, t7_2, t7_3};
    }
}
