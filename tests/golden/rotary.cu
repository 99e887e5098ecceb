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

TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }

TC_FN unsigned TC_N(pack_bf16)(float a, float b) {
    unsigned w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(b), "f"(a));
    return w;
}

template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))

// kernel0: 6 element-wise ops over one space, 1 result
// rows 131072, columns 64; vector along c
//   in0  bf16[16777216]
//   in1  bf16[131072]
//   in2  bf16[131072]
//   out0  bf16[16777216]
//   launch threads=256 index=i32
//     for j in 0..4096  bind=grid
//       for t in 0..256  bind=block
//         axis i = 256*j + t in 0..1048576
//         axis r = i/8 in 0..131072
//         axis x = i%8 in 0..8
//         for l in 0..8  bind=vector
//           axis c = 8*x + l in 0..64
//           %8 = load in0[128*r + c]  bf16 col
//           %9 = load in1[64*(r%2048) + c]  bf16 col
//           %10 = mul %8 %9           bf16 col
//           %11 = load in0[128*r + c + 64]  bf16 col
//           %12 = load in2[64*(r%2048) + c]  bf16 col
//           %13 = mul %11 %12         bf16 col
//           %14 = sub %10 %13         bf16 col
//           store out0[128*r + c] %14
//           %16 = mul %11 %9          bf16 col
//           %17 = mul %8 %12          bf16 col
//           %18 = add %16 %17         bf16 col
//           store out0[128*r + c + 64] %18
//         end
//       end
//     end
//   end
// 256 threads in a block, 4096 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, const tc_u16 *__restrict__ in2, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    const int i = 256 * j + t;
    const int r = i / 8;
    const int x = i % 8;
    const tc_pack<tc_u16, 8> v8 = tc_load((const tc_pack<tc_u16, 8> *)&in0[128 * r + 8 * x]);
    const tc_pack<tc_u16, 8> v9 = tc_load((const tc_pack<tc_u16, 8> *)&in1[64 * (r % 2048) + 8 * x]);
    const tc_pack<tc_u16, 8> v11 = tc_load((const tc_pack<tc_u16, 8> *)&in0[128 * r + 8 * x + 64]);
    const tc_pack<tc_u16, 8> v12 = tc_load((const tc_pack<tc_u16, 8> *)&in2[64 * (r % 2048) + 8 * x]);
    tc_pack<float, 8> o15;
    tc_pack<float, 8> o19;
    #pragma unroll
    for (int l = 0; l < 8; l++) {
        const float t8 = tc_of_bf16(v8.at[l]);
        const float t9 = tc_of_bf16(v9.at[l]);
        const float t10 = TC_MUL_f32(t8, t9);
        const float t11 = tc_of_bf16(v11.at[l]);
        const float t12 = tc_of_bf16(v12.at[l]);
        const float t13 = TC_MUL_f32(t11, t12);
        const float t14 = TC_SUB_f32(t10, t13);
        o15.at[l] = t14;
        const float t16 = TC_MUL_f32(t11, t9);
        const float t17 = TC_MUL_f32(t8, t12);
        const float t18 = TC_ADD_f32(t16, t17);
        o19.at[l] = t18;
    }
    tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + 8 * x], tc_halves_bf16(o15));
    tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + 8 * x + 64], tc_halves_bf16(o19));
}
