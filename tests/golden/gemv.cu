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

template <class T> TC_FN T TC_N(peek)(const T *p) {
    return *(const volatile T *)p;
}

TC_FN int TC_N(arrives_last)(unsigned *ticket, unsigned n) {
    __shared__ unsigned before;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) before = atomicAdd(ticket, 1u);
    __syncthreads();
    const int last = before == n - 1;
    if (last && threadIdx.x == 0) *ticket = 0;
    __threadfence();
    return last;
}

template <class A, class B> TC_FN auto TC_N(min)(A a, B b) -> decltype(a + b) {
    return a < b ? a : b;
}

TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))

// kernel0: 0 element-wise ops around one product, 1 result
// rows 1, columns 4096, depth 4096; vector along c
//   in0  f32[4096]
//   in1  f32[16777216]
//   out0  f32[4096]
//   %0 = load in0[k]  f32
//   %1 = load in1[k + 4096 * c]  f32
//   for r in 0..1 worker
//     for c in 0..4096 vector
//       %4 = contract [4096] %0 %1  f32
//       store out0[c] %4  f32
//     end
//   end
// 256 threads in a block, 1024 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int block = blockIdx.x / 2, slice = blockIdx.x % 2;
    const int c0 = (int)block * 8;
    const int cols = 4096;
    const int depth = 4096;
    const int begin = slice * 2048, end = tc_min(begin + 2048, depth);
    float *const tile = (float *)shared;
    const int lane = threadIdx.x % 32, group = threadIdx.x / 32 * 1;
    float sum[1][1] = {};
    #pragma unroll 4
    for (int k = begin + lane * 4; k < end; k += 128) {
        tc_pack<float, 4> few, wide[1];
        #pragma unroll
        for (int j = 0; j < 1; j++) {
            const int c = tc_min(c0 + group + j, cols - 1);
            wide[j] = tc_load((const tc_pack<float, 4> *)&in1[k + 4096 * c]);
        }
        #pragma unroll
        for (int i = 0; i < 1; i++) {
            few = tc_load((const tc_pack<float, 4> *)&in0[k]);
            #pragma unroll
            for (int j = 0; j < 1 * 4; j++)
                sum[i][j / 4] = tc_add_product_f32(few.at[j % 4], wide[j / 4].at[j % 4], sum[i][j / 4]);
        }
    }
    // Blocks that share sums meet in groups of neighbours: the last of a group adds what all have, in
    // their order. Then those of the groups meet, and one goes on.
    float *const own = (float *)sum;
    float *const work_sums = (float *)(work + 6144) + (tc_i64)block * 2 * 1 * 256 + threadIdx.x;
    #pragma unroll 1
    for (int apart = 1; apart < 2; apart *= 12) {
        const int first = slice / (apart * 12) * (apart * 12);
        const int count = tc_min((2 - 1 - first) / apart + 1, 12);
        float *const mine = work_sums + slice / apart * apart * 1 * 256;
        #pragma unroll
        for (int u = 0; u < 1; u++) mine[u * 256] = own[u];
        if (!tc_arrives_last((unsigned *)work + block * 3 + first + (apart > 1), count)) return;
        #pragma unroll
        for (int u = 0; u < 1; u++) own[u] = tc_peek(&work_sums[(first * 1 + u) * 256]);
        #pragma unroll 4
        for (int i = 1; i < count; i++) {
            const float *const other = work_sums + (first + i * apart) * 1 * 256;
            #pragma unroll
            for (int u = 0; u < 1; u++) own[u] = TC_ADD_f32(own[u], tc_peek(&other[u * 256]));
        }
    }
    #pragma unroll
    for (int i = 0; i < 1 * 1; i++) {
        float v = sum[i / 1][i % 1];
        for (int o = 16; o; o /= 2) v = TC_ADD_f32(v, __shfl_xor_sync(~0u, v, o));
        if (lane == 0) tile[i / 1 * 8 + group + i % 1] = v;
    }
    __syncthreads();
    for (int at = threadIdx.x; at < 8; at += 256) {
        const int c = c0 + at % 8;
        if (c < cols) {
            const float t4 = tile[at];
            out0[c] = t4;
        }
    }
}
