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

template <class T, int V> TC_FN tc_pack<T, V> TC_N(splat)(T x) {
    tc_pack<T, V> v;
    for (int l = 0; l < V; l++) v.at[l] = x;
    return v;
}

template <class T, int V> TC_FN void TC_N(unpack)(T *to, const tc_pack<T, V> &v) {
    #pragma unroll
    for (int l = 0; l < V; l++) to[l] = v.at[l];
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))

// kernel0: 5 element-wise ops over one space, 1 result
// rows 1080, columns 1920; vector along c
//   in0  f32[2073600]
//   out0  f32[2073600]
//   for r in 0..1080 worker
//     %1 = const -4  f32
//     for c in 0..1920 vector
//       inside [c - 1] [1918] [r - 1] [1078]
//       %3 = load in0[1920 * r + c - 1920][r - 1][1080]  f32
//       %4 = load in0[1920 * r + c - 1][c - 1][1920]  f32
//       %5 = add %3 %4  f32
//       %6 = load in0[1920 * r + c]  f32
//       %7 = mul %6 %1  f32
//       %8 = add %5 %7  f32
//       %9 = load in0[1920 * r + c + 1][c + 1][1920]  f32
//       %10 = add %8 %9  f32
//       %11 = load in0[1920 * r + c + 1920][r + 1][1080]  f32
//       %12 = add %10 %11  f32
//       store out0[1920 * r + c] %12  f32
//     end
//   end
// 256 threads in a block, 544 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int r0 = (blockIdx.x / 8 * 4 + threadIdx.x / 64) * 4;
    const int c = (blockIdx.x % 8 * 64 + threadIdx.x % 64) * 4;
    if (r0 >= 1080 || c >= 1920) return;
    float w3[6][6];  // 5 loads of in0
    #pragma unroll
    for (int k = 0; k < 6; k++) {
        const int r = r0;
        w3[k][0] = (unsigned)(r + k - 1) < (unsigned)(1080) && (unsigned)(c - 1) < (unsigned)(1920) ? in0[1920 * r + c + 1920 * k - 1921] : 0.0f;
        tc_unpack(&w3[k][1], (unsigned)(r + k - 1) < (unsigned)(1080) && (unsigned)(c) < (unsigned)(1920) ? tc_load((const tc_pack<float, 4> *)&in0[1920 * r + c + 1920 * k - 1920]) : tc_splat<float, 4>(0.0f));
        w3[k][5] = (unsigned)(r + k - 1) < (unsigned)(1080) && (unsigned)(c + 4) < (unsigned)(1920) ? in0[1920 * r + c + 1920 * k - 1916] : 0.0f;
    }
    #pragma unroll
    for (int u = 0; u < 4; u++) {
        const int r = r0 + u;
        tc_pack<float, 4> o13;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t3 = w3[u + 0][l + 1];
            const float t4 = w3[u + 1][l + 0];
            const float t5 = TC_ADD_f32(t3, t4);
            const float t6 = w3[u + 1][l + 1];
            const float t7 = TC_MUL_f32(t6, -4.0f);
            const float t8 = TC_ADD_f32(t5, t7);
            const float t9 = w3[u + 1][l + 2];
            const float t10 = TC_ADD_f32(t8, t9);
            const float t11 = w3[u + 2][l + 1];
            const float t12 = TC_ADD_f32(t10, t11);
            o13.at[l] = t12;
        }
        tc_store((tc_pack<float, 4> *)&out0[1920 * r + c], o13);
    }
}
