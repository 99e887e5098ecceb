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

TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }

TC_FN void TC_N(mma_tf32)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

template <int N> TC_FN void TC_N(split)(const float (&x)[N], unsigned (&lead)[N], unsigned (&rest)[N]) {
    #pragma unroll
    for (int i = 0; i < N; i++) {
        const float far = x[i] * 8193.0f;
        const float y = i % 2 ? far - (far - x[i]) : __uint_as_float((__float_as_uint(x[i]) + 0x1000u) & 0xffffe000u);
        lead[i] = __float_as_uint(y);
        rest[i] = __float_as_uint(x[i] - y);
    }
}

TC_FN int TC_N(is_finite)(float x) { return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u; }

template <class I> TC_FN void TC_N(place_tile)(I t, I high, I across, I &m, I &n) {
    const I strip = t / (8 * across) * 8, left = high - strip, tall = left < 8 ? left : 8;
    m = strip + t % (8 * across) % tall;
    n = t % (8 * across) / tall;
}

// kernel0: 0 element-wise ops around one product, 1 result
// rows 4096, columns 4096, depth 4096; vector along c
//   in0  f32[16777216]
//   in1  f32[16777216]
//   out0  f32[16777216]
//   %0 = load in0[k + 4096 * r]  f32
//   %1 = load in1[4096 * k + c]  f32
//   for r in 0..4096 worker
//     for c in 0..4096 vector
//       %4 = contract [4096] %0 %1  f32
//       store out0[4096 * r + c] %4  f32
//     end
//   end
// 256 threads in a block, 1024 blocks have work
extern "C" __global__ void __launch_bounds__(256, 1)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    tc_reads(in0), tc_reads(in1), tc_begin();
    const int x = threadIdx.x, warp = x / 32, lane = x % 32;
    int m, n;
    tc_place_tile<int>(blockIdx.x, 32, 32, m, n);
    const int r0 = m * 128;
    const int c0 = n * 128;
    const int depth = 4096;
    float *const left = (float *)shared;
    float *const right = left + 2 * 2176;
    float *const tile = (float *)shared;  // when the operands are done
    const int row = warp / 4 * 64, col = warp % 4 * 32;
    float sum[4][4][4] = {};
    tc_pack<float, 4> left_next[2];
    tc_pack<float, 4> right_next[2];
    const float *left_from;
    {
        const int e = x;
        const int r = r0 + e / 4;
        const int k = e % 4 * 4;
        left_from = &in0[k + 4096 * r];
    }
    const float *right_from;
    {
        const int e = x;
        const int c = c0 + e % 32 * 4;
        const int k = e / 32;
        right_from = &in1[4096 * k + c];
    }
    auto bring = [&](int step, int to) {
        const int k0 = (int)step * 16;
        if (k0 < depth) {
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                left_next[j] = tc_load((const tc_pack<float, 4> *)(left_from + j * 262144));
            }
            left_from += 16;
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                right_next[j] = tc_load((const tc_pack<float, 4> *)(right_from + j * 32768));
            }
            right_from += 65536;
        }
    };
    auto put = [&](int to) {
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const int e = x + j * 256;
            left[to * 2176 + (e % 4 * 4 + 0) * 136 + e / 4] = left_next[j].at[0];
            left[to * 2176 + (e % 4 * 4 + 1) * 136 + e / 4] = left_next[j].at[1];
            left[to * 2176 + (e % 4 * 4 + 2) * 136 + e / 4] = left_next[j].at[2];
            left[to * 2176 + (e % 4 * 4 + 3) * 136 + e / 4] = left_next[j].at[3];
        }
        #pragma unroll
        for (int j = 0; j < 2; j++) {
            const int e = x + j * 256;
            *(tc_pack<float, 4> *)&right[to * 2176 + e / 32 * 136 + e % 32 * 4 + 0] = {right_next[j].at[0], right_next[j].at[1], right_next[j].at[2], right_next[j].at[3]};
        }
    };
    float lefts[2][4][4], rights[2][4][2], some[4][4][4];
    auto fetch = [&](int at, int d, int to) {
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            const float *const p = &left[(at * 16 + d + lane % 4) * 136 + row + i * 16 + lane / 4];
            lefts[to][i][0] = p[0], lefts[to][i][1] = p[8];
            lefts[to][i][2] = p[4 * 136], lefts[to][i][3] = p[4 * 136 + 8];
        }
        #pragma unroll
        for (int j = 0; j < 4; j++) {
            const float *const p = &right[(at * 16 + d + lane % 4) * 136 + col + j * 8 + lane / 4];
            rights[to][j][0] = p[0], rights[to][j][1] = p[4 * 136];
        }
    };
    const int steps = (int)((depth + (16 - 1)) / 16);
    #pragma unroll 1
    for (int step = 0; step < 1; step++) {
        bring(step, step);
        put(step);
    }
    __syncthreads();
    fetch(0, 0, 0);
    int at = 0;  // the stage of this step; the one before it is free
    #pragma unroll 1
    for (int step = 0; step < steps; step++) {
        const int to = 1 - at;
        #pragma unroll
        for (int d = 0; d < 16; d += 8) {
            const int now = d / 8 % 2, last = d + 8 == 16;
            if (last) {
                put(to);
                __syncthreads();
                at = 1 - at;
            }
            if (d == 0) bring(step + 1, to);
            fetch(at, last ? 0 : d + 8, 1 - now);
            unsigned rightlead[4][2], rightrest[4][2];
            #pragma unroll
            for (int j = 0; j < 4; j++) tc_split(rights[now][j], rightlead[j], rightrest[j]);
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                unsigned lead[4], rest[4];
                tc_split(lefts[now][i], lead, rest);
                float (&s)[4][4] = some[i];
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    if (d == 0) s[j][0] = s[j][1] = s[j][2] = s[j][3] = 0;
                    tc_mma_tf32(s[j], rest, rightlead[j]);
                }
                #pragma unroll
                for (int j = 0; j < 4; j++) tc_mma_tf32(s[j], lead, rightrest[j]);
                #pragma unroll
                for (int j = 0; j < 4; j++) tc_mma_tf32(s[j], lead, rightlead[j]);
                #pragma unroll
                for (int u = 0; u < 4 * 4; u++)
                    if (last) sum[i][u / 4][u % 4] += s[u / 4][u % 4];
            }
        }
    }
    auto again = [&](int r, int c) {
        float sum = 0;
        for (int k = 0; k < 4096; k++) {
            const float t0 = in0[k + 4096 * r];
            const float t1 = in1[4096 * k + c];
            sum = tc_add_product_f32(t0, t1, sum);
            if (sum != sum) break;
        }
        return sum;
    };
    #pragma unroll 1
    for (int part = 0; part < 2; part++) {
        __syncthreads();
        if (warp / 4 == part) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                #pragma unroll
                for (int j = 0; j < 4; j++) {
                    float *const two = &tile[(lane / 4 + i * 16) * 136 + col + j * 8 + lane % 4 * 2];
                    *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};
                    *(tc_pack<float, 2> *)&two[8 * 136] = {sum[i][j][2], sum[i][j][3]};
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = x; e < 2048; e += 256) {
            const int at = e / 32 * 136 + e % 32 * 4;
            const int r = r0 + part * 64 + e / 32;
            const int c = c0 + e % 32 * 4;
            #pragma unroll 1
            for (int l = 0; l < 4; l++)
                if (!tc_is_finite(tile[at + l])) tile[at + l] = again(r, c + l);
            tc_pack<float, 4> sums;
            #pragma unroll
            for (int l = 0; l < 4; l += 4) *(tc_pack<float, 4> *)&sums.at[l] = *(const tc_pack<float, 4> *)&tile[at + l];
            tc_pack<float, 4> o5;
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t4 = sums.at[l];
                o5.at[l] = t4;
            }
            tc_store((tc_pack<float, 4> *)&out0[4096 * r + c], o5);
        }
    }
}
