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
//   for r in 0..131072 worker
//     for c in 0..64 vector
//       %2 = load in0[128 * r + c]  bf16
//       %3 = load in1[c + 64 * (r % 2048)]  bf16
//       %4 = mul %2 %3  bf16
//       %5 = load in0[128 * r + c + 64]  bf16
//       %6 = load in2[c + 64 * (r % 2048)]  bf16
//       %7 = mul %5 %6  bf16
//       %8 = sub %4 %7  bf16
//       store out0[128 * r + c] %8  bf16
//       %10 = mul %5 %3  bf16
//       %11 = mul %2 %6  bf16
//       %12 = add %10 %11  bf16
//       store out0[128 * r + c + 64] %12  bf16
//     end
//   end
// 256 threads in a block, 4096 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, const tc_u16 *__restrict__ in2, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    const int i = blockIdx.x * 256 + threadIdx.x;
    const int r = i / 8;
    const int c = i % 8 * 8;
    const tc_pack<tc_u16, 8> v2 = tc_load((const tc_pack<tc_u16, 8> *)&in0[128 * r + c]);
    const tc_pack<tc_u16, 8> v3 = tc_load((const tc_pack<tc_u16, 8> *)&in1[c + 64 * (r % 2048)]);
    const tc_pack<tc_u16, 8> v5 = tc_load((const tc_pack<tc_u16, 8> *)&in0[128 * r + c + 64]);
    const tc_pack<tc_u16, 8> v6 = tc_load((const tc_pack<tc_u16, 8> *)&in2[c + 64 * (r % 2048)]);
    tc_pack<float, 8> o9;
    tc_pack<float, 8> o13;
    #pragma unroll
    for (int l = 0; l < 8; l++) {
        const float t2 = tc_of_bf16(v2.at[l]);
        const float t3 = tc_of_bf16(v3.at[l]);
        const float t4 = TC_MUL_f32(t2, t3);
        const float t5 = tc_of_bf16(v5.at[l]);
        const float t6 = tc_of_bf16(v6.at[l]);
        const float t7 = TC_MUL_f32(t5, t6);
        const float t8 = TC_SUB_f32(t4, t7);
        o9.at[l] = t8;
        const float t10 = TC_MUL_f32(t5, t3);
        const float t11 = TC_MUL_f32(t2, t6);
        const float t12 = TC_ADD_f32(t10, t11);
        o13.at[l] = t12;
    }
    tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + c], tc_halves_bf16(o9));
    tc_store((tc_pack<tc_u16, 8> *)&out0[128 * r + c + 64], tc_halves_bf16(o13));
}
