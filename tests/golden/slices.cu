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

template <class A, class B> TC_FN auto TC_N(min)(A a, B b) -> decltype(a + b) {
    return a < b ? a : b;
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

TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
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

// kernel0: 0 element-wise ops around one product, 1 result
// rows 64, columns 64, depth 65536; vector along c
//   in0  bf16[4194304]
//   in1  bf16[4194304]
//   out0  bf16[4096]
//   %0 = load in0[k + 65536 * r]  bf16
//   %1 = load in1[64 * k + c]  bf16
//   for r in 0..64 worker
//     for c in 0..64 vector
//       %4 = contract [65536] %0 %1  bf16
//       store out0[64 * r + c] %4  bf16
//     end
//   end
// 128 threads in a block, 128 blocks have work
extern "C" __global__ void __launch_bounds__(128, 3)
kernel0(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, tc_u16 *__restrict__ out0, unsigned char *work, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int block = blockIdx.x / 128, slice = blockIdx.x % 128;
    const int x = threadIdx.x, warp = x / 32, lane = x % 32;
    int m, n;
    tc_place_tile<int>(block, 1, 1, m, n);
    const int r0 = m * 64;
    const int c0 = n * 64;
    const int depth = 65536;
    const int begin = slice * 512, end = tc_min(begin + 512, depth);
    tc_u16 *const left = (tc_u16 *)shared;
    tc_u16 *const right = left + 4 * 2048;
    float *const tile = (float *)shared;  // when the operands are done
    const int row = warp / 2 * 32, col = warp % 2 * 32;
    const int leftlane = tc_swizzle<32>(row + lane % 16, lane / 16 * 8);
    const int rightlane = tc_swizzle<64>(lane % 16, col + lane / 16 * 8);
    float sum[2][4][4] = {};
    int left_place;
    const tc_u16 *left_from;
    {
        const int e = x;
        const int r = r0 + e / 4;
        const int k = begin + e % 4 * 8;
        left_place = tc_swizzle<32>(e / 4, e % 4 * 8);
        left_from = &in0[k + 65536 * r];
    }
    int right_place;
    const tc_u16 *right_from;
    {
        const int e = x;
        const int c = c0 + e % 8 * 8;
        const int k = begin + e / 8;
        right_place = tc_swizzle<64>(e / 8, e % 8 * 8);
        right_from = &in1[64 * k + c];
    }
    auto bring = [&](int step, int to) {
        const int k0 = begin + (int)step * 32;
        if (k0 < end) {
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                tc_copy_async16(&left[to * 2048 + left_place + j * 1024], left_from + j * 2097152);
            }
            left_from += 32;
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                tc_copy_async16(&right[to * 2048 + right_place + j * 1024], right_from + j * 1024);
            }
            right_from += 2048;
        }
        tc_copy_commit();
    };
    unsigned lefts[2][2][4], rights[2][4][2];
    auto fetch = [&](int at, int d, int to) {
        #pragma unroll
        for (int i = 0; i < 2; i++)
            tc_ldmatrix4(lefts[to][i], &left[at * 2048 + i * 512 + (leftlane ^ d)]);
        #pragma unroll
        for (int j = 0; j < 4; j += 2) {
            unsigned two[4];
            tc_ldmatrix4_trans(two, &right[at * 2048 + d * 64 + (rightlane ^ j * 8)]);
            rights[to][j][0] = two[0], rights[to][j][1] = two[1];
            rights[to][j + 1][0] = two[2], rights[to][j + 1][1] = two[3];
        }
    };
    const int steps = (int)((end - begin + (32 - 1)) / 32);
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
            for (int i = 0; i < 2; i++) {
                #pragma unroll
                for (int c = 0; c < 4; c++) {
                    const int j = i % 2 ? 4 - 1 - c : c;
                    tc_mma_bf16(sum[i][j], lefts[now][i], rights[now][j]);
                }
            }
        }
    }
    // Blocks that share sums meet in groups of neighbours: the last of a group adds what all have, in
    // their order. Then those of the groups meet, and one goes on.
    float *const own = (float *)sum;
    float *const work_sums = (float *)(work + 768) + (tc_i64)block * 128 * 32 * 128 + threadIdx.x;
    #pragma unroll 1
    for (int apart = 1; apart < 128; apart *= 12) {
        const int first = slice / (apart * 12) * (apart * 12);
        const int count = tc_min((128 - 1 - first) / apart + 1, 12);
        float *const mine = work_sums + slice / apart * apart * 32 * 128;
        #pragma unroll
        for (int u = 0; u < 32; u++) mine[u * 128] = own[u];
        if (!tc_arrives_last((unsigned *)work + block * 129 + first + (apart > 1), count)) return;
        #pragma unroll
        for (int u = 0; u < 32; u++) own[u] = tc_peek(&work_sums[(first * 32 + u) * 128]);
        #pragma unroll 2
        for (int i = 1; i < count; i++) {
            const float *const other = work_sums + (first + i * apart) * 32 * 128;
            #pragma unroll
            for (int u = 0; u < 32; u++) own[u] = TC_ADD_f32(own[u], tc_peek(&other[u * 128]));
        }
    }
    #pragma unroll 1
    for (int part = 0; part < 2; part++) {
        __syncthreads();
        if (warp / 2 == part) {
            #pragma unroll
            for (int i = 0; i < 2; i++) {
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    float *const two = &tile[(lane / 4 + i * 16) * 72 + col + j * 8 + lane % 4 * 2];
                    *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};
                    *(tc_pack<float, 2> *)&two[8 * 72] = {sum[i][j][2], sum[i][j][3]};
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = x; e < 256; e += 128) {
            const int at = e / 8 * 72 + e % 8 * 8;
            const int r = r0 + part * 32 + e / 8;
            const int c = c0 + e % 8 * 8;
            tc_pack<float, 8> sums;
            #pragma unroll
            for (int l = 0; l < 8; l += 4) *(tc_pack<float, 4> *)&sums.at[l] = *(const tc_pack<float, 4> *)&tile[at + l];
            tc_pack<float, 8> o5;
            #pragma unroll
            for (int l = 0; l < 8; l++) {
                const float t4 = sums.at[l];
                o5.at[l] = t4;
            }
            tc_store((tc_pack<tc_u16, 8> *)&out0[64 * r + c], tc_halves_bf16(o5));
        }
    }
}
