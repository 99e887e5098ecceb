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
//   launch threads=256 index=i32
//     for j in 0..384  bind=grid
//       for t in 0..256  bind=block
//         axis i = 256*j + t in 0..98304
//         axis r = i/192 in 0..512
//         axis x = i%192 in 0..192
//         if 0 <= 4*x - 1 < 763, 0 <= r - 1 < 510
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %9 = load in0[768*r + c + 1]  f32 col
//             %10 = load in0[768*r + c - 1]  f32 col
//             %11 = sub %9 %10        f32 col
//             store out0[768*r + c] %11
//           end
//         else
//           for l in 0..4  bind=vector
//             axis c = 4*x + l in 0..768
//             %17 = valid 0 <= r - 511 < 1  bool row
//             %18 = valid 0 <= r - 1 < 510  bool row
//             %19 = load in0[768*r + c] if 0 <= r - 511 < 1 else 0  f32 col
//             %20 = valid 0 <= c - 767 < 1  bool col
//             %21 = load in0[768*r + c] if 0 <= r - 1 < 510, 0 <= c - 767 < 1 else 0  f32 col
//             %22 = valid 0 <= c - 1 < 766  bool col
//             %23 = load in0[768*r + c + 1] if 0 <= r - 1 < 510, 0 <= c - 1 < 766 else 0  f32 col
//             %24 = load in0[768*r + c - 1] if 0 <= r - 1 < 510, 0 <= c - 1 < 766 else 0  f32 col
//             %25 = sub %23 %24       f32 col
//             %26 = load in0[768*r + c] if 0 <= r - 1 < 510, 0 <= c < 1 else 0  f32 col
//             %27 = where %22 %25 %26  f32 col
//             %28 = where %20 %21 %27  f32 col
//             %29 = load in0[768*r + c] if 0 <= r < 1 else 0  f32 col
//             %30 = where %18 %28 %29  f32 col
//             %31 = where %17 %19 %30  f32 col
//             store out0[768*r + c] %31
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 384 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    const int i = 256 * j + t;
    const int r = i / 192;
    const int x = i % 192;
    if (4 * x - 1 >= 0 && 4 * x - 1 < 763 && r - 1 >= 0 && r - 1 < 510) {
        tc_pack<float, 4> o12;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + l;
            const float t9 = in0[768 * r + c + 1];
            const float t10 = in0[768 * r + c - 1];
            const float t11 = TC_SUB_f32(t9, t10);
            o12.at[l] = t11;
        }
        tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x], o12);
    } else {
        const int t17 = (unsigned)(r - 511) < (unsigned)(1);
        const int t18 = (unsigned)(r - 1) < (unsigned)(510);
        const tc_pack<float, 4> v19 = (unsigned)(r - 511) < (unsigned)(1) ? tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x]) : tc_splat<float, 4>(0.0f);
        const tc_pack<float, 4> v29 = (unsigned)(r) < (unsigned)(1) ? tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x]) : tc_splat<float, 4>(0.0f);
        tc_pack<float, 4> o32;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + l;
            const float t19 = v19.at[l];
            const int t20 = (unsigned)(c - 767) < (unsigned)(1);
            const float t21 = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c - 767) < (unsigned)(1) ? in0[768 * r + c] : 0.0f;
            const int t22 = (unsigned)(c - 1) < (unsigned)(766);
            const float t23 = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c - 1) < (unsigned)(766) ? in0[768 * r + c + 1] : 0.0f;
            const float t24 = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c - 1) < (unsigned)(766) ? in0[768 * r + c - 1] : 0.0f;
            const float t25 = TC_SUB_f32(t23, t24);
            const float t26 = (unsigned)(r - 1) < (unsigned)(510) && (unsigned)(c) < (unsigned)(1) ? in0[768 * r + c] : 0.0f;
            const float t27 = TC_SEL_f32(TC_M_f32(t22), t25, t26);
            const float t28 = TC_SEL_f32(TC_M_f32(t20), t21, t27);
            const float t29 = v29.at[l];
            const float t30 = TC_SEL_f32(TC_M_f32(t18), t28, t29);
            const float t31 = TC_SEL_f32(TC_M_f32(t17), t19, t30);
            o32.at[l] = t31;
        }
        tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x], o32);
    }
}
