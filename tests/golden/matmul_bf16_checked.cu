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

static __device__ __align__(16) tc_u64 tc_nothing[16], tc_nowhere[16];
template <class T> struct TC_N(checked) {
    T *memory;
    tc_i64 low, high;
    int buffer, write;
    tc_i64 launch;
    const tc_state *state;
    __device__ __forceinline__ T *at(tc_i64 i, int n) const {
        if (low <= i && i + n <= high) return memory + i;
        if (!atomicCAS((tc_u64 *)state->flag + 4, (tc_u64)0, (tc_u64)buffer)) {
            state->flag[5] = i < low ? i : i + n - 1;
            state->flag[6] = launch;
            state->flag[7] = write;
        }
        return (T *)aside(memory);
    }
    static __device__ __forceinline__ const void *aside(const void *) { return tc_nothing; }
    static __device__ __forceinline__ void *aside(void *) { return tc_nowhere; }
    template <class I> __device__ __forceinline__ T &operator[](I i) const { return *at(i, 1); }
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

TC_FN void TC_N(copy_async16)(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
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

template <class T> TC_FN T TC_N(gelu_of)(T x, T y) {
    const T c = (T)-0.70710678118654752, z = x * c;
    const T lost = fma(x, c, -z) + x * (T)(-0.70710678118654752 - (double)c);
    return x * (T)0.5 * (z > (T)1 && y != (T)0 ? fma(y, (T)-2 * z * lost, y) : y);
}

TC_FN void TC_N(copy_commit)() { asm volatile("cp.async.commit_group;" ::: "memory"); }

template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}

TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <class I> TC_FN void TC_N(place_tile)(I t, I high, I across, I &m, I &n) {
    const I strip = t / (8 * across) * 8, left = high - strip, tall = left < 8 ? left : 8;
    m = strip + t % (8 * across) % tall;
    n = t % (8 * across) / tall;
}

template <int L> TC_FN int TC_N(swizzle)(int row, int column) {
    const int rows = L < 64 ? 64 / L : 1, chunks = L < 64 ? L / 8 : 8;
    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))

TC_FN float tc_gelu_f32(float x) {
    typedef float T;
    return (T)(tc_gelu_of<T>(x, erfcf(x * (T)-0.70710678118654752)));
}


// kernel0: 5 element-wise ops around one product, 1 result
// rows 4096, columns 4096, depth 1024; vector along c
//   in0  bf16[4194304]
//   in1  bf16[4194304]
//   in2  bf16[4096]
//   out0  bf16[16777216]
//   %0 = load in0[k + 1024 * r]  bf16
//   %1 = load in1[k + 1024 * c]  bf16
//   for r in 0..4096 worker
//     for c in 0..4096 vector
//       %4 = contract [1024] %0 %1  bf16
//       %5 = cast %4  f32
//       %6 = load in2[c]  bf16
//       %7 = cast %6  f32
//       %8 = add %5 %7  f32
//       %9 = gelu %8  f32
//       %10 = cast %9  bf16
//       store out0[4096 * r + c] %10  bf16
//     end
//   end
// 128 threads in a block, 1024 blocks have work
extern "C" __global__ void __launch_bounds__(128, 2)
kernel0(const tc_u16 *__restrict__ in0_memory, const tc_u16 *__restrict__ in1_memory, const tc_u16 *__restrict__ in2_memory, tc_u16 *__restrict__ out0_memory, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0_memory), tc_reads(in1_memory), tc_reads(in2_memory), tc_begin();
    const tc_checked<const tc_u16> in0 = {in0_memory, 0, 4194304, 1, 0, a.size[0], a.state};
    const tc_checked<const tc_u16> in1 = {in1_memory, 0, 4194304, 2, 0, a.size[0], a.state};
    const tc_checked<const tc_u16> in2 = {in2_memory, 0, 4096, 3, 0, a.size[0], a.state};
    const tc_checked<tc_u16> out0 = {out0_memory, 0, 16777216, 4, 1, a.size[0], a.state};
    const int x = threadIdx.x, warp = x / 32, lane = x % 32;
    int m, n;
    tc_place_tile<int>(blockIdx.x, 32, 32, m, n);
    const int r0 = m * 128;
    const int c0 = n * 128;
    const int depth = 1024;
    tc_u16 *const left = (tc_u16 *)shared;
    tc_u16 *const right = left + 4 * 4096;
    float *const tile = (float *)shared;  // when the operands are done
    const int row = warp / 2 * 64, col = warp % 2 * 64;
    const int leftlane = tc_swizzle<32>(row + lane % 16, lane / 16 * 8);
    const int rightlane = tc_swizzle<32>(col + lane / 16 * 8 + lane % 8, lane / 8 % 2 * 8);
    float sum[4][8][4] = {};
    auto bring = [&](int step, int to) {
        const int k0 = (int)step * 32;
        if (k0 < depth) {
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const int e = x + j * 128;
                const int r = r0 + e / 4;
                const int k = k0 + e % 4 * 8;
                tc_copy_async16(&left[to * 4096 + tc_swizzle<32>(e / 4, e % 4 * 8)], &in0.at(k + 1024 * r, 8)[0]);
            }
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const int e = x + j * 128;
                const int c = c0 + e / 4;
                const int k = k0 + e % 4 * 8;
                tc_copy_async16(&right[to * 4096 + tc_swizzle<32>(e / 4, e % 4 * 8)], &in1.at(k + 1024 * c, 8)[0]);
            }
        }
        tc_copy_commit();
    };
    unsigned lefts[2][4][4], rights[2][8][2];
    auto fetch = [&](int at, int d, int to) {
        #pragma unroll
        for (int i = 0; i < 4; i++)
            tc_ldmatrix4(lefts[to][i], &left[at * 4096 + i * 512 + (leftlane ^ d)]);
        #pragma unroll
        for (int j = 0; j < 8; j += 2) {
            unsigned two[4];
            tc_ldmatrix4(two, &right[at * 4096 + j * 256 + (rightlane ^ d)]);
            rights[to][j][0] = two[0], rights[to][j][1] = two[1];
            rights[to][j + 1][0] = two[2], rights[to][j + 1][1] = two[3];
        }
    };
    const int steps = (int)((depth + (32 - 1)) / 32);
    #pragma unroll 1
    for (int step = 0; step < 3; step++) {
        bring(step, step);
    }
    tc_copy_wait<2>();
    __syncthreads();
    fetch(0, 0, 0);
    int at = 0;  // the stage of this step; the one before it is free
    #pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int to = at ? at - 1 : 3;
        #pragma unroll
        for (int d = 0; d < 32; d += 16) {
            const int now = d / 16 % 2, last = d + 16 == 32;
            if (last) {
                tc_copy_wait<2>();
                __syncthreads();
                at = at == 3 ? 0 : at + 1;
            }
            if (d == 0) bring(step + 3, to);
            fetch(at, last ? 0 : d + 16, 1 - now);
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                #pragma unroll
                for (int c = 0; c < 8; c++) {
                    const int j = i % 2 ? 8 - 1 - c : c;
                    tc_mma_bf16(sum[i][j], lefts[now][i], rights[now][j]);
                }
            }
        }
    }
    #pragma unroll 1
    for (int part = 0; part < 2; part++) {
        __syncthreads();
        if (warp / 2 == part) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    float *const two = &tile[(lane / 4 + i * 16) * 136 + col + j * 8 + lane % 4 * 2];
                    *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};
                    *(tc_pack<float, 2> *)&two[8 * 136] = {sum[i][j][2], sum[i][j][3]};
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = x; e < 1024; e += 128) {
            const int at = e / 16 * 136 + e % 16 * 8;
            const int r = r0 + part * 64 + e / 16;
            const int c = c0 + e % 16 * 8;
            const tc_pack<tc_u16, 8> v6 = tc_load((const tc_pack<tc_u16, 8> *)&in2.at(c, 8)[0]);
            tc_pack<float, 8> sums;
            #pragma unroll
            for (int l = 0; l < 8; l += 4) *(tc_pack<float, 4> *)&sums.at[l] = *(const tc_pack<float, 4> *)&tile[at + l];
            tc_pack<float, 8> o11;
            #pragma unroll
            for (int l = 0; l < 8; l++) {
                const float t4 = sums.at[l];
                const float t5 = t4;
                const float t6 = tc_of_bf16(v6.at[l]);
                const float t7 = t6;
                const float t8 = TC_ADD_f32(t5, t7);
                const float t9 = tc_gelu_f32(t8);
                const float t10 = t9;
                o11.at[l] = t10;
            }
            tc_store((tc_pack<tc_u16, 8> *)&out0.at(4096 * r + c, 8)[0], tc_halves_bf16(o11));
        }
    }
}
