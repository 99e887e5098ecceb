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

TC_FN float TC_N(larger_f32)(float x, float y) {
    float z;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(z) : "f"(x), "f"(y));
    return z;
}

TC_FN float TC_N(ex2)(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

TC_FN float TC_N(exp_shifted)(float x) {
    const float y = TC_N(larger_f32)(x, -104.0f), t = y * 1.44269502f, e = TC_N(ex2)(t);
    return fmaf(e, fmaf(t, 1.90465421e-09f, fmaf(t, -0.693147182f, y)), e);
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_GT_f32(a, b) ((a) > (b))
#define TC_EQ_f32(a, b) ((a) == (b))
#define TC_NE_f32(a, b) ((a) != (b))


TC_FN int tc_win_max_f32(float v, float b, int lower) {
    const int nan = TC_NE_f32(v, v), other = TC_NE_f32(b, b);
    const int same = TC_EQ_f32(v, b) | (nan & other);
    return TC_GT_f32(v, b) | (nan & !other) | (same & lower);
}

// (b, j) becomes (v, i) if that is better.
template <class I> TC_FN void tc_keep_max_f32(float &b, I &j, float v, I i) {
    const int win = tc_win_max_f32(v, b, i < j);
    b = win ? v : b;
    j = win ? i : j;
}

template <int V, class I> TC_FN void tc_fold_max_f32(float (&v)[V], I (&i)[V]) {
    for (int l = 1; l < V; l++) tc_keep_max_f32(v[0], i[0], v[l], i[l]);
}

template <int L, class I> TC_FN void tc_lanes_max_f32(float &v, I &i) {
    for (int o = L / 2; o; o /= 2) {
        const float w = __shfl_xor_sync(~0u, v, o);
        const I k = __shfl_xor_sync(~0u, i, o);
        tc_keep_max_f32(v, i, w, k);
    }
}

template <int W, class I> TC_FN void tc_parts_max_f32(float &v, I &i, const float *part, const I *place) {
    const int w = threadIdx.x % 32 % W;
    v = part[w];
    i = place[w];
    tc_lanes_max_f32<32>(v, i);
}

template <int H, int S, class I> TC_FN void tc_below_max_f32(float &v, I &i, const float *part, const I *place) {
    v = part[0];
    i = place[0];
    for (int y = 1; y < H; y++) tc_keep_max_f32(v, i, part[y * S], place[y * S]);
}

TC_FN float tc_acc_maximum_f32(float a, float b) {
    return tc_larger_f32(a, b);
}

// The elements of a thread.
template <int V> TC_FN float tc_fold_maximum_f32(const float (&x)[V]) {
    float y = x[0];
    for (int l = 1; l < V; l++) y = tc_acc_maximum_f32(y, x[l]);
    return y;
}

// The values of L lanes that are neighbours; all of them get the result.
template <int L> TC_FN float tc_lanes_maximum_f32(float x) {
    for (int o = L / 2; o; o /= 2) x = tc_acc_maximum_f32(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

// What W warps have put into shared memory; all threads get the result.
template <int W> TC_FN float tc_parts_maximum_f32(const float *part) {
    const int w = threadIdx.x % 32;
    return tc_lanes_maximum_f32<32>(w < W ? part[w] : (-1.0f/0.0f));
}

// H values of shared memory, S apart.
template <int H, int S> TC_FN float tc_below_maximum_f32(const float *part) {
    float x = part[0];
    for (int y = 1; y < H; y++) x = tc_acc_maximum_f32(x, part[y * S]);
    return x;
}

TC_FN float tc_acc_add_f32(float a, float b) {
    return TC_ADD_f32(a, b);
}

// The elements of a thread.
template <int V> TC_FN float tc_fold_add_f32(const float (&x)[V]) {
    float y = x[0];
    for (int l = 1; l < V; l++) y = tc_acc_add_f32(y, x[l]);
    return y;
}

// The values of L lanes that are neighbours; all of them get the result.
template <int L> TC_FN float tc_lanes_add_f32(float x) {
    for (int o = L / 2; o; o /= 2) x = tc_acc_add_f32(x, __shfl_xor_sync(~0u, x, o));
    return x;
}

// What W warps have put into shared memory; all threads get the result.
template <int W> TC_FN float tc_parts_add_f32(const float *part) {
    const int w = threadIdx.x % 32;
    return tc_lanes_add_f32<32>(w < W ? part[w] : 0.0f);
}

// H values of shared memory, S apart.
template <int H, int S> TC_FN float tc_below_add_f32(const float *part) {
    float x = part[0];
    for (int y = 1; y < H; y++) x = tc_acc_add_f32(x, part[y * S]);
    return x;
}

// kernel0: 0 element-wise ops, 1 reduction in 2 phases over the same rows, 1 result
// rows 32, columns 65536; vector along c
//   in0  f32[2097152]
//   out0  i64[32]
//   for r in 0..32 worker
//     acc0 = new argmax  f32
//     for c in 0..65536 vector
//       %3 = load in0[65536 * r + c]  f32
//       acc0 argmax= %3  i64
//     end
//     %6 = combine acc0  i64
//     store out0[r] %6  i64
//   end
// 256 threads in a block, 544 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel0(const float *__restrict__ in0, tc_i64 *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int x = threadIdx.x, part = blockIdx.x % 17;
    const int r = blockIdx.x / 17;
    const int first = part * 964, last = tc_min(first + 964, 16384);
    float best0[4] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    int at0[4] = {0x7fffffff, 0x7fffffff, 0x7fffffff, 0x7fffffff};
    for (int k0 = first + x; k0 < last; k0 += 1024) {
        tc_pack<float, 4> v3[4];
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            const int c = k * 4;
            if (k < last) v3[u] = tc_load((const tc_pack<float, 4> *)&in0[65536 * r + c]);
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            const int c = k * 4;
            if (k >= last) break;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t3 = v3[u].at[l];
                tc_keep_max_f32(best0[l], at0[l], t3, int(c + l));
            }
        }
    }
    float *const work0 = (float *)(work + 256);
    tc_i64 *const places0 = (tc_i64 *)(work + 4608);
    {
        __shared__ float part0[8];
        __shared__ int place0[8];
        tc_fold_max_f32(best0, at0);
        tc_lanes_max_f32<32>(best0[0], at0[0]);
        if (x % 32 == 0) part0[x / 32] = best0[0], place0[x / 32] = at0[0];
        __syncthreads();
        tc_parts_max_f32<8>(best0[0], at0[0], part0, place0);
        if (x == 0) work0[17 * r + part] = best0[0], places0[17 * r + part] = at0[0];
    }
    if (!tc_arrives_last((unsigned *)work + r, 17)) return;
    for (int l = 0; l < 4; l++) best0[l] = (-1.0f/0.0f), at0[l] = 0x7fffffff;
    for (int i = x; i < 17; i += 256) {
        tc_keep_max_f32(best0[0], at0[0], tc_peek(&work0[17 * r + i]), (int)tc_peek(&places0[17 * r + i]));
    }
    __shared__ float part0[8];
    __shared__ int place0[8];
    tc_fold_max_f32(best0, at0);
    tc_lanes_max_f32<32>(best0[0], at0[0]);
    if (x % 32 == 0) part0[x / 32] = best0[0], place0[x / 32] = at0[0];
    __syncthreads();
    tc_parts_max_f32<8>(best0[0], at0[0], part0, place0);
    const tc_i64 t6 = at0[0] == 0x7fffffff ? 0 : at0[0];
    if (x == 0) out0[r] = t6;
}

// kernel1: 3 element-wise ops, 2 reductions in 3 phases over the same rows, 1 result
// rows 32, columns 262144; vector along c
//   in0  f32[8388608]
//   out0  f32[8388608]
//   row0  f32[262144]
//   for r in 0..32 worker
//     acc0 = new maximum  f32
//     for c in 0..262144 vector
//       %3 = load in0[262144 * r + c]  f32
//       acc0 maximum= %3  f32
//     end
//     %6 = combine acc0  f32
//     acc1 = new add  f32
//     for c in 0..262144 vector
//       %9 = load in0[262144 * r + c]  f32
//       %10 = sub %9 %6  f32
//       %11 = exp %10  f32
//       acc1 add= %11  f32
//       store row0[c] %11  f32
//     end
//     %15 = combine acc1  f32
//     for c in 0..262144 vector
//       %17 = load row0[c]  f32
//       %18 = div %17 %15  f32
//       store out0[262144 * r + c] %18  f32
//     end
//   end
// 256 threads in a block, 544 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1(const float *__restrict__ in0, float *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int x = threadIdx.x, part = blockIdx.x % 17;
    const int r = blockIdx.x / 17;
    const int first = part * 3856, last = tc_min(first + 3856, 65536);
    float max0[4] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    for (int k0 = first + x; k0 < last; k0 += 1024) {
        tc_pack<float, 4> v3[4];
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            const int c = k * 4;
            if (k < last) v3[u] = tc_load((const tc_pack<float, 4> *)&in0[262144 * r + c]);
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            if (k >= last) break;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t3 = v3[u].at[l];
                max0[l] = tc_acc_maximum_f32(max0[l], t3);
            }
        }
    }
    float *const work0 = (float *)(work + 256);
    {
        __shared__ float part0[8];
        const float all0 = tc_lanes_maximum_f32<32>(tc_fold_maximum_f32(max0));
        if (x % 32 == 0) part0[x / 32] = all0;
        __syncthreads();
        const float t6 = tc_parts_maximum_f32<8>(part0);
        if (x == 0) work0[17 * r + part] = t6;
    }
}

// 256 threads in a block, 544 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1_1(const float *__restrict__ in0, float *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int x = threadIdx.x, part = blockIdx.x % 17;
    const int r = blockIdx.x / 17;
    const int first = part * 3856, last = tc_min(first + 3856, 65536);
    float max0[4] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    float *const work0 = (float *)(work + 256);
    for (int i = x; i < 17; i += 256) {
        max0[0] = tc_acc_maximum_f32(max0[0], tc_peek(&work0[17 * r + i]));
    }
    __shared__ float part0[8];
    const float all0 = tc_lanes_maximum_f32<32>(tc_fold_maximum_f32(max0));
    if (x % 32 == 0) part0[x / 32] = all0;
    __syncthreads();
    const float t6 = tc_parts_maximum_f32<8>(part0);
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int k0 = first + x; k0 < last; k0 += 1024) {
        tc_pack<float, 4> v9[4];
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            const int c = k * 4;
            if (k < last) v9[u] = tc_load((const tc_pack<float, 4> *)&in0[262144 * r + c]);
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            if (k >= last) break;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t9 = v9[u].at[l];
                const float t10 = TC_SUB_f32(t9, t6);
                const float t11 = tc_exp_shifted(t10);
                sum1[l] = tc_acc_add_f32(sum1[l], t11);
            }
        }
    }
    float *const work1 = (float *)(work + 8960);
    {
        __shared__ float part1[8];
        const float all1 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
        if (x % 32 == 0) part1[x / 32] = all1;
        __syncthreads();
        const float t15 = tc_parts_add_f32<8>(part1);
        if (x == 0) work1[17 * r + part] = t15;
    }
}

// 256 threads in a block, 544 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1_2(const float *__restrict__ in0, float *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    tc_reads(in0), tc_begin();
    const int x = threadIdx.x, part = blockIdx.x % 17;
    const int r = blockIdx.x / 17;
    const int first = part * 3856, last = tc_min(first + 3856, 65536);
    float max0[4] = {(-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f), (-1.0f/0.0f)};
    float *const work0 = (float *)(work + 256);
    for (int i = x; i < 17; i += 256) {
        max0[0] = tc_acc_maximum_f32(max0[0], tc_peek(&work0[17 * r + i]));
    }
    __shared__ float part0[8];
    const float all0 = tc_lanes_maximum_f32<32>(tc_fold_maximum_f32(max0));
    if (x % 32 == 0) part0[x / 32] = all0;
    __syncthreads();
    const float t6 = tc_parts_maximum_f32<8>(part0);
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float *const work1 = (float *)(work + 8960);
    for (int i = x; i < 17; i += 256) {
        sum1[0] = tc_acc_add_f32(sum1[0], tc_peek(&work1[17 * r + i]));
    }
    __shared__ float part1[8];
    const float all1 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    if (x % 32 == 0) part1[x / 32] = all1;
    __syncthreads();
    const float t15 = tc_parts_add_f32<8>(part1);
    for (int k0 = first + x; k0 < last; k0 += 1024) {
        tc_pack<float, 4> v9[4];
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            const int c = k * 4;
            if (k < last) v9[u] = tc_load((const tc_pack<float, 4> *)&in0[262144 * r + c]);
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int k = k0 + u * 256;
            const int c = k * 4;
            if (k >= last) break;
            tc_pack<float, 4> o19;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t9 = v9[u].at[l];
                const float t10 = TC_SUB_f32(t9, t6);
                const float t11 = tc_exp_shifted(t10);
                const float t17 = t11;
                const float t18 = t17 / t15;
                o19.at[l] = t18;
            }
            tc_store((tc_pack<float, 4> *)&out0[262144 * r + c], o19);
        }
    }
}
