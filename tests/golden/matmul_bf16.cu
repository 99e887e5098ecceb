// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90a -fmad=false
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

// Memory to shared memory, without registers; tc_copy_wait_all ends it for the thread that asked.
TC_FN void TC_N(copy_async16)(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }

TC_FN tc_u16 TC_N(bits_bf16)(float f) {
    tc_u16 b;
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(b) : "f"(f));
    return b;
}

TC_FN float TC_N(cast_f32_bf16)(float x) { return TC_N(of_bf16)(TC_N(bits_bf16)(x)); }

// Tile t of high x across, in strips of 8 rows, so that neighbours in time share operands in L2.
TC_FN void TC_N(place_tile)(tc_i64 t, tc_i64 high, tc_i64 across, tc_i64 &m, tc_i64 &n) {
    const tc_i64 strip = t / (8 * across) * 8, left = high - strip, tall = left < 8 ? left : 8;
    m = strip + t % (8 * across) % tall;
    n = t % (8 * across) / tall;
}

// Element (row, column) of a tile of 2-byte elements in rows of L: 16-byte chunks change places
// so that 8 rows below each other lie in different banks.
template <int L> TC_FN int TC_N(swizzle)(int row, int column) {
    const int rows = L < 64 ? 64 / L : 1, chunks = L < 64 ? L / 8 : 8;
    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);
}

// Four 8 x 8 matrices of 2-byte elements; lane i gives the address of row i % 8 of matrix i / 8.
TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}

// d += a * b, 16 x 8 x 16, of a warp.
TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

TC_FN void TC_N(copy_commit)() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// Until at most N of the thread's groups of copies are on their way.
template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))

TC_FN float tc_gelu_f32(float x) {
    typedef float T;
    return (T)(x * (T)0.5 * erfcf(x * (T)-0.70710678118654752));
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
//       %4 = contract  bf16
//       %5 = cast %4  f32
//       %6 = load in2[c]  bf16
//       %7 = cast %6  f32
//       %8 = add %5 %7  f32
//       %9 = gelu %8  f32
//       %10 = cast %9  bf16
//       store out0[4096 * r + c] %10  bf16
//     end
//   end
// 256 threads in a block, 512 blocks have work
extern "C" __global__ void __launch_bounds__(256, 1)
kernel0(const tc_u16 *__restrict__ in0, const tc_u16 *__restrict__ in1, const tc_u16 *__restrict__ in2, tc_u16 *__restrict__ out0, const tc_kargs<1> a) {
    extern __shared__ __align__(16) char shared[];
    const int x = threadIdx.x, warp = x / 32, lane = x % 32;
    tc_i64 m, n;
    tc_place_tile(blockIdx.x, 32, 16, m, n);
    const tc_i64 r0 = m * 128;
    const tc_i64 c0 = n * 256;
    const tc_i64 depth = 1024;
    tc_u16 *const left = (tc_u16 *)shared;
    tc_u16 *const right = left + 4 * 4096;
    float *const tile = (float *)shared;  // when the operands are done
    const int row = warp / 4 * 64, col = warp % 4 * 64;
    float sum[4][8][4] = {};
    const int steps = (int)((depth + (32 - 1)) / 32);
    #pragma unroll 1
    for (int step = -3; step < steps; step++) {
        const int at = step % 4, to = (step + 3) % 4;
        const tc_i64 k0 = (tc_i64)(step + 3) * 32;
        if (step >= 0) tc_copy_wait<2>();
        if (step >= 0) __syncthreads();
        if (k0 < depth) {
            #pragma unroll
            for (int j = 0; j < 2; j++) {
                const int e = x + j * 256;
                const tc_i64 r = r0 + e / 4;
                const tc_i64 k = k0 + e % 4 * 8;
                tc_copy_async16(&left[to * 4096 + tc_swizzle<32>(e / 4, e % 4 * 8)], &in0[k + 1024 * r]);
            }
            #pragma unroll
            for (int j = 0; j < 4; j++) {
                const int e = x + j * 256;
                const tc_i64 c = c0 + e / 4;
                const tc_i64 k = k0 + e % 4 * 8;
                tc_copy_async16(&right[to * 8192 + tc_swizzle<32>(e / 4, e % 4 * 8)], &in1[k + 1024 * c]);
            }
        }
        tc_copy_commit();
        if (step >= 0) {
            #pragma unroll
            for (int d = 0; d < 32; d += 16) {
                unsigned lefts[4][4], rights[8][2];
                #pragma unroll
                for (int i = 0; i < 4; i++)
                    tc_ldmatrix4(lefts[i], &left[at * 4096 + tc_swizzle<32>(row + i * 16 + lane % 16, d + lane / 16 * 8)]);
                #pragma unroll
                for (int j = 0; j < 8; j += 2) {
                    unsigned two[4];
                    tc_ldmatrix4(two, &right[at * 8192 + tc_swizzle<32>(col + j * 8 + lane / 16 * 8 + lane % 8, d + lane / 8 % 2 * 8)]);
                    rights[j][0] = two[0], rights[j][1] = two[1];
                    rights[j + 1][0] = two[2], rights[j + 1][1] = two[3];
                }
                #pragma unroll
                for (int i = 0; i < 4; i++) {
                    #pragma unroll
                    for (int j = 0; j < 8; j++) tc_mma_bf16(sum[i][j], lefts[i], rights[j]);
                }
            }
        }
    }
    #pragma unroll 1
    for (int part = 0; part < 2; part++) {
        __syncthreads();
        if (warp / 4 == part) {
            #pragma unroll
            for (int i = 0; i < 4; i++) {
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    float *const two = &tile[(lane / 4 + i * 16) * 264 + col + j * 8 + lane % 4 * 2];
                    *(tc_pack<float, 2> *)two = {sum[i][j][0], sum[i][j][1]};
                    *(tc_pack<float, 2> *)&two[8 * 264] = {sum[i][j][2], sum[i][j][3]};
                }
            }
        }
        __syncthreads();
        #pragma unroll 1
        for (int e = x; e < 4096; e += 256) {
            const int at = e / 64 * 264 + e % 64 * 4;
            const tc_i64 r = r0 + part * 64 + e / 64;
            const tc_i64 c = c0 + e % 64 * 4;
            const tc_pack<float, 4> v4_0 = *(const tc_pack<float, 4> *)&tile[at];
            const float t4_0 = v4_0.at[0];
            const float t4_1 = v4_0.at[1];
            const float t4_2 = v4_0.at[2];
            const float t4_3 = v4_0.at[3];
            const float t5_0 = t4_0;
            const float t5_1 = t4_1;
            const float t5_2 = t4_2;
            const float t5_3 = t4_3;
            const tc_pack<tc_u16, 4> v6 = *(const tc_pack<tc_u16, 4> *)&in2[c];
            const float t6_0 = tc_of_bf16(v6.at[0]);
            const float t6_1 = tc_of_bf16(v6.at[1]);
            const float t6_2 = tc_of_bf16(v6.at[2]);
            const float t6_3 = tc_of_bf16(v6.at[3]);
            const float t7_0 = t6_0;
            const float t7_1 = t6_1;
            const float t7_2 = t6_2;
            const float t7_3 = t6_3;
            const float t8_0 = TC_ADD_f32(t5_0, t7_0);
            const float t8_1 = TC_ADD_f32(t5_1, t7_1);
            const float t8_2 = TC_ADD_f32(t5_2, t7_2);
            const float t8_3 = TC_ADD_f32(t5_3, t7_3);
            const float t9_0 = tc_gelu_f32(t8_0);
            const float t9_1 = tc_gelu_f32(t8_1);
            const float t9_2 = tc_gelu_f32(t8_2);
            const float t9_3 = tc_gelu_f32(t8_3);
            const float t10_0 = tc_cast_f32_bf16(t9_0);
            const float t10_1 = tc_cast_f32_bf16(t9_1);
            const float t10_2 = tc_cast_f32_bf16(t9_2);
            const float t10_3 = tc_cast_f32_bf16(t9_3);
            *(tc_pack<tc_u16, 4> *)&out0[4096 * r + c] = {tc_bits_bf16(t10_0), tc_bits_bf16(t10_1), tc_bits_bf16(t10_2), tc_bits_bf16(t10_3)};
        }
    }
}
