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

// kernel0: 1 element-wise op over one space, 1 result
// rows 1000, columns 768; vector along c
//   in0  f32[768000]
//   in1  f32[768000]
//   out0  f32[768000]
//   for r in 0..1000 worker
//     for c in 0..768 vector
//       %2 = load in0[r + 1000 * c]  f32
//       %3 = load in1[768 * r + c]  f32
//       %4 = add %2 %3  f32
//       store out0[768 * r + c] %4  f32
//     end
//   end
// 256 threads in a block, 768 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    __shared__ float tile2[32][33];  // 33: no two rows in one bank
    const int x = threadIdx.x % 8 * 4, y = threadIdx.x / 8;
    for (tc_i64 tile = blockIdx.x; tile < 768; tile += gridDim.x) {
        const tc_i64 r0 = tile / 24 * 32;
        const tc_i64 c0 = tile % 24 * 32;
        __syncthreads();
        {
            const int i = y;
            const tc_i64 r = r0 + x, c = c0 + i;
            if (r < 1000 && c < 768) {
                const tc_pack<float, 4> v2 = *(const tc_pack<float, 4> *)&in0[r + 1000 * c];
                tile2[i][x + 0] = v2.at[0];
                tile2[i][x + 1] = v2.at[1];
                tile2[i][x + 2] = v2.at[2];
                tile2[i][x + 3] = v2.at[3];
            }
        }
        __syncthreads();
        {
            const int i = y;
            const tc_i64 r = r0 + i, c = c0 + x;
            if (r < 1000 && c < 768) {
                const float t2_0 = tile2[x + 0][i];
                const float t2_1 = tile2[x + 1][i];
                const float t2_2 = tile2[x + 2][i];
                const float t2_3 = tile2[x + 3][i];
                const tc_pack<float, 4> v3 = *(const tc_pack<float, 4> *)&in1[768 * r + c];
                const float t3_0 = v3.at[0];
                const float t3_1 = v3.at[1];
                const float t3_2 = v3.at[2];
                const float t3_3 = v3.at[3];
                const float t4_0 = TC_ADD_f32(t2_0, t3_0);
                const float t4_1 = TC_ADD_f32(t2_1, t3_1);
                const float t4_2 = TC_ADD_f32(t2_2, t3_2);
                const float t4_3 = TC_ADD_f32(t2_3, t3_3);
                *(tc_pack<float, 4> *)&out0[768 * r + c] = {t4_0, t4_1, t4_2, t4_3};
            }
        }
    }
}
