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

TC_FN tc_i64 TC_N(check)(tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {
    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;
    if ((tc_u64)w < (tc_u64)limit) return w;
    a->flag[1] = v;
    a->flag[2] = limit;
    a->flag[0] = site + 1;
    a->failed = 1;
    return w < 0 || limit <= 0 ? 0 : limit - 1;
}

// kernel0: 0 element-wise ops over one space, 1 result
// rows 64, columns 768; vector along c
//   in0  i64[64]
//   in1  f32[76800]
//   out0  f32[49152]
//   launch threads=256 index=i32
//     for j in 0..48  bind=grid
//       for t in 0..256  bind=block
//         axis i = 256*j + t in 0..12288
//         axis r = i/192 in 0..64
//         axis x = i%192 in 0..192
//         for l in 0..4  bind=vector
//           axis c = 4*x + l in 0..768
//           %8 = load in0[r]          i64 row
//           %9 = check %8 limit=100 site=1  i64 row
//           %10 = load in1[768*%9 + c]  f32 col
//           store out0[768*r + c] %10
//         end
//       end
//     end
//   end
// 256 threads in a block, 48 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const tc_i64 *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int j = blockIdx.x;
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    const int i = 256 * j + t;
    const int r = i / 192;
    const int x = i % 192;
    const tc_i64 t8 = in0[r];
    const tc_i64 t9 = tc_check(a.state, t8, 100, 1);
    const tc_pack<float, 4> v10 = tc_load((const tc_pack<float, 4> *)&in1[4 * x + 768 * (int)t9]);
    tc_pack<float, 4> o11;
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        const float t10 = v10.at[l];
        o11.at[l] = t10;
    }
    tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x], o11);
}
