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
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_M_f32(b) (b)

// kernel0: 5 element-wise ops over one space, 1 result
// rows 512, columns 768; vector along c
//   in0  f32[393216]
//   out0  f32[393216]
//   for r in 0..512 worker
//     %1 = valid [r - 511] [1]  bool
//     %2 = valid [r - 1] [510]  bool
//     for c in 0..768 vector
//       inside [c - 1] [766] [r - 1] [510]
//       %4 = load in0[768 * r + c][r - 511][1]  f32
//       %5 = valid [c - 767] [1]  bool
//       %6 = load in0[768 * r + c][r - 1][510][c - 767][1]  f32
//       %7 = valid [c - 1] [766]  bool
//       %8 = load in0[768 * r + c + 1][r - 1][510][c - 1][766]  f32
//       %9 = load in0[768 * r + c - 1][r - 1][510][c - 1][766]  f32
//       %10 = sub %8 %9  f32
//       %11 = load in0[768 * r + c][r - 1][510][c][1]  f32
//       %12 = where %7 %10 %11  f32
//       %13 = where %5 %6 %12  f32
//       %14 = load in0[768 * r + c][r][1]  f32
//       %15 = where %2 %13 %14  f32
//       %16 = where %1 %4 %15  f32
//       store out0[768 * r + c] %16  f32
//     end
//   end
// 256 threads in a block, 384 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int r = i / 192;
    const int c = i % 192 * 4;
    if (c >= 1 && c + 4 <= 767 && r - 1 >= 0 && r - 1 < 510) {
        tc_pack<float, 4> v8;
        #pragma unroll
        for (int l = 0; l < 4; l++) v8.at[l] = in0[768 * r + c + 1 + l];
        tc_pack<float, 4> v9;
        #pragma unroll
        for (int l = 0; l < 4; l++) v9.at[l] = in0[768 * r + c - 1 + l];
        tc_pack<float, 4> o17;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t8 = v8.at[l];
            const float t9 = v9.at[l];
            const float t10 = TC_SUB_f32(t8, t9);
            o17.at[l] = t10;
        }
        tc_store((tc_pack<float, 4> *)&out0[768 * r + c], o17);
    }
    else {
        const tc_pack<float, 4> v4 = (unsigned)(r - 511) < (unsigned)(1) ? tc_load((const tc_pack<float, 4> *)&in0[768 * r + c]) : tc_splat<float, 4>(0.0f);
        tc_pack<float, 4> v6;
        #pragma unroll
        for (int l = 0; l < 4; l++) v6.at[l] = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c + l - 767) < (unsigned)(1) ? in0[768 * r + c + l] : 0.0f;
        tc_pack<float, 4> v8;
        #pragma unroll
        for (int l = 0; l < 4; l++) v8.at[l] = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c + l - 1) < (unsigned)(766) ? in0[768 * r + c + 1 + l] : 0.0f;
        tc_pack<float, 4> v9;
        #pragma unroll
        for (int l = 0; l < 4; l++) v9.at[l] = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c + l - 1) < (unsigned)(766) ? in0[768 * r + c - 1 + l] : 0.0f;
        tc_pack<float, 4> v11;
        #pragma unroll
        for (int l = 0; l < 4; l++) v11.at[l] = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c + l) < (unsigned)(1) ? in0[768 * r + c + l] : 0.0f;
        const tc_pack<float, 4> v14 = (unsigned)(r) < (unsigned)(1) ? tc_load((const tc_pack<float, 4> *)&in0[768 * r + c]) : tc_splat<float, 4>(0.0f);
        const int t1 = (unsigned)(r - 511) < (unsigned)(1);
        const int t2 = (unsigned)(r - 1) < (unsigned)(510);
        tc_pack<float, 4> o17;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t4 = v4.at[l];
            const int t5 = (unsigned)(c + l - 767) < (unsigned)(1);
            const float t6 = v6.at[l];
            const int t7 = (unsigned)(c + l - 1) < (unsigned)(766);
            const float t8 = v8.at[l];
            const float t9 = v9.at[l];
            const float t10 = TC_SUB_f32(t8, t9);
            const float t11 = v11.at[l];
            const float t12 = TC_SEL_f32(TC_M_f32(t7), t10, t11);
            const float t13 = TC_SEL_f32(TC_M_f32(t5), t6, t12);
            const float t14 = v14.at[l];
            const float t15 = TC_SEL_f32(TC_M_f32(t2), t13, t14);
            const float t16 = TC_SEL_f32(TC_M_f32(t1), t4, t15);
            o17.at[l] = t16;
        }
        tc_store((tc_pack<float, 4> *)&out0[768 * r + c], o17);
    }
}
