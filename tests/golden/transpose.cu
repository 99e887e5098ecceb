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

struct tc_state {         // of the program, in the device's memory; its scalars follow
    tc_i64 *flag;          // an index out of range: site + 1, value, limit
    tc_u64 seed, draw;     // of the random numbers
};

template <int N> struct tc_kargs {
    tc_state *state;
    tc_i64 size[N];        // run-time sizes
    __device__ __forceinline__ const tc_scalar &arg(int i) const { return ((const tc_scalar *)(state + 1))[i]; }
};

template <class T, int V> struct __align__(sizeof(T) * V < 16 ? sizeof(T) * V : 16) tc_pack {
    T at[V];
};

// Before tc_begin, of memory that the kernel only reads. Nothing happens; but ptxas moves loads ahead
// of a wait where it knows that they are of such memory (ld.global.nc), and does not know it now.
TC_FN void TC_N(reads)(const void *p) { asm volatile("" ::"l"(p) : "memory"); }

// The launch behind this one may begin; what those before it wrote is there when this returns.
TC_FN void TC_N(begin)() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// A vector as the words that memory instructions move.
template <class P> union TC_N(words) {
    P v;
    unsigned w[sizeof(P) < 4 ? 1 : sizeof(P) / 4];
    __device__ __forceinline__ TC_N(words)() {}
};

// A vector of memory, as few instructions as its bytes allow.
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
    tc_reads(in0), tc_reads(in1), tc_begin();
    __shared__ float tile2[32][33];  // 33: no two rows in one bank
    const int x = threadIdx.x % 8 * 4, y = threadIdx.x / 8;
    const int r0 = blockIdx.x / 24 * 32;
    const int c0 = blockIdx.x % 24 * 32;
    {
        const int i = y;
        const int r = r0 + x, c = c0 + i;
        if (r < 1000 && c < 768) {
            const tc_pack<float, 4> v2 = tc_load((const tc_pack<float, 4> *)&in0[r + 1000 * c]);
            for (int l = 0; l < 4; l++) tile2[i][x + l] = v2.at[l];
        }
    }
    __syncthreads();
    {
        const int i = y;
        const int r = r0 + i, c = c0 + x;
        if (r < 1000 && c < 768) {
            const tc_pack<float, 4> v3 = tc_load((const tc_pack<float, 4> *)&in1[768 * r + c]);
            tc_pack<float, 4> o5;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t2 = tile2[x + l][i];
                const float t3 = v3.at[l];
                const float t4 = TC_ADD_f32(t2, t3);
                o5.at[l] = t4;
            }
            tc_store((tc_pack<float, 4> *)&out0[768 * r + c], o5);
        }
    }
}
