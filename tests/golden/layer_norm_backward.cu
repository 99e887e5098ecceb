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

TC_FN void TC_N(copy_async8)(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

TC_FN void TC_N(copy_async4)(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

template <class P> TC_FN void TC_N(copy_async)(P *to, const P *from) {
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        TC_N(copy_async16)((char *)to + 16 * i, (const char *)from + 16 * i);
    if (sizeof(P) == 8) TC_N(copy_async8)(to, from);
    if (sizeof(P) == 4) TC_N(copy_async4)(to, from);
}

TC_FN void TC_N(copy_wait_all)() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_NEG_f32(a) ((float)(-(float)(a)))
#define TC_SQRT_f32(x) sqrtf(x)


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

// kernel0: 21 element-wise ops, 4 reductions in 4 phases over the same rows, 3 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   out0  f32[64]
//   out1  f32[64]
//   in1  f32[49152]
//   in2  f32[768]
//   out2  f32[49152]
//   row0  f32[768]
//   shared0  f32[768]
//   shared1  f32[768]
//   shared2  f32[768]
//   shared3  f32[768]
//   %0 = const 768                    f32 row
//   %1 = const 0.00001                f32 row
//   %2 = const -0.5                   f32 row
//   launch threads=192 index=i32
//     for r in 0..64  bind=grid
//       for x in 0..192  bind=block
//         acc0 = new sum width=4      f32 row
//         for p in 0..1  bind=serial
//           copy 4 shared1[768*p + 4*x] <- in0[768*p + 768*r + 4*x]
//         end
//         wait
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %14 = load shared1[c]   f32 col
//             acc0 sum= %14
//           end
//         end
//         %18 = combine acc0 threads=192  f32 row
//         %19 = div %18 %0            f32 row
//         if 0 <= x < 1
//           store out0[r] %18
//         end
//         acc1 = new sum width=4      f32 row
//         acc2 = new sum width=4      f32 row
//         for p in 0..1  bind=serial
//           copy 4 shared2[768*p + 4*x] <- in1[768*p + 768*r + 4*x]
//           copy 4 shared3[768*p + 4*x] <- in2[768*p + 4*x]
//         end
//         wait
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %33 = load shared1[c]   f32 col
//             %34 = sub %33 %19       f32 col
//             %35 = square %34        f32 col
//             acc1 sum= %35
//             %37 = load shared2[c]   f32 col
//             %38 = load shared3[c]   f32 col
//             %39 = mul %37 %38       f32 col
//             %40 = mul %39 %34       f32 col
//             acc2 sum= %40
//           end
//         end
//         %44 = combine acc1 threads=192  f32 row
//         %45 = combine acc2 threads=192  f32 row
//         %46 = div %44 %0            f32 row
//         %47 = add %46 %1            f32 row
//         %48 = rsqrt %47             f32 row
//         %49 = mul %45 %2            f32 row
//         %50 = mul %48 %48           f32 row
//         %51 = mul %48 %50           f32 row
//         %52 = mul %49 %51           f32 row
//         %53 = div %52 %0            f32 row
//         if 0 <= x < 1
//           store out1[r] %48
//         end
//         acc3 = new sum width=4      f32 row
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %61 = load shared1[c]   f32 col
//             %62 = sub %61 %19       f32 col
//             %63 = add %62 %62       f32 col
//             %64 = load shared2[c]   f32 col
//             %65 = load shared3[c]   f32 col
//             %66 = mul %64 %65       f32 col
//             %67 = mul %66 %48       f32 col
//             %68 = mul %53 %63       f32 col
//             %69 = add %67 %68       f32 col
//             %70 = neg %69           f32 col
//             acc3 sum= %70
//             store shared0[c] %69
//           end
//         end
//         barrier block
//         %76 = combine acc3 threads=192  f32 row
//         %77 = div %76 %0            f32 row
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %81 = load shared0[c]   f32 col
//             %82 = add %81 %77       f32 col
//             store out2[768*r + c] %82
//           end
//         end
//       end
//     end
//   end
// 192 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(192)
kernel0(const float *__restrict__ in0, float *__restrict__ out0, float *__restrict__ out1, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out2, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __shared__ __align__(16) float shared0[768];
    __shared__ __align__(16) float shared1[768];
    __shared__ __align__(16) float shared2[768];
    __shared__ __align__(16) float shared3[768];
    const int r = blockIdx.x;
    const int x = threadIdx.x;
    __builtin_assume(x < 192);
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        tc_copy_async((tc_pack<float, 4> *)&shared1[4 * x + 768 * p], (const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 768 * p]);
    }
    tc_copy_wait_all();
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v14 = *((const tc_pack<float, 4> *)&shared1[4 * x + 768 * p]);
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t14 = v14.at[l];
            sum0[l] = tc_acc_add_f32(sum0[l], t14);
        }
    }
    __shared__ float part0[6];
    const float all18 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
    if (x % 32 == 0) part0[x / 32] = all18;
    __syncthreads();
    const float t18 = tc_parts_add_f32<6>(part0);
    const float t19 = t18 / 768.0f;
    if (x < 1) {
        out0[r] = t18;
    }
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        tc_copy_async((tc_pack<float, 4> *)&shared2[4 * x + 768 * p], (const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 768 * p]);
        tc_copy_async((tc_pack<float, 4> *)&shared3[4 * x + 768 * p], (const tc_pack<float, 4> *)&in2[4 * x + 768 * p]);
    }
    tc_copy_wait_all();
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v33 = *((const tc_pack<float, 4> *)&shared1[4 * x + 768 * p]);
        const tc_pack<float, 4> v37 = *((const tc_pack<float, 4> *)&shared2[4 * x + 768 * p]);
        const tc_pack<float, 4> v38 = *((const tc_pack<float, 4> *)&shared3[4 * x + 768 * p]);
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t33 = v33.at[l];
            const float t34 = TC_SUB_f32(t33, t19);
            const float t35 = TC_MUL_f32(t34, t34);
            sum1[l] = tc_acc_add_f32(sum1[l], t35);
            const float t37 = v37.at[l];
            const float t38 = v38.at[l];
            const float t39 = TC_MUL_f32(t37, t38);
            const float t40 = TC_MUL_f32(t39, t34);
            sum2[l] = tc_acc_add_f32(sum2[l], t40);
        }
    }
    __shared__ float part1[6];
    const float all44 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    __shared__ float part2[6];
    const float all45 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
    if (x % 32 == 0) part1[x / 32] = all44;
    if (x % 32 == 0) part2[x / 32] = all45;
    __syncthreads();
    const float t44 = tc_parts_add_f32<6>(part1);
    const float t45 = tc_parts_add_f32<6>(part2);
    const float t46 = t44 / 768.0f;
    const float t47 = TC_ADD_f32(t46, 0x1.4f8b58p-17f);
    const float t48 = 1.0f / TC_SQRT_f32(t47);
    const float t49 = TC_MUL_f32(t45, -0.5f);
    const float t50 = TC_MUL_f32(t48, t48);
    const float t51 = TC_MUL_f32(t48, t50);
    const float t52 = TC_MUL_f32(t49, t51);
    const float t53 = t52 / 768.0f;
    if (x < 1) {
        out1[r] = t48;
    }
    float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v61 = *((const tc_pack<float, 4> *)&shared1[4 * x + 768 * p]);
        const tc_pack<float, 4> v64 = *((const tc_pack<float, 4> *)&shared2[4 * x + 768 * p]);
        const tc_pack<float, 4> v65 = *((const tc_pack<float, 4> *)&shared3[4 * x + 768 * p]);
        tc_pack<float, 4> o72;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t61 = v61.at[l];
            const float t62 = TC_SUB_f32(t61, t19);
            const float t63 = TC_ADD_f32(t62, t62);
            const float t64 = v64.at[l];
            const float t65 = v65.at[l];
            const float t66 = TC_MUL_f32(t64, t65);
            const float t67 = TC_MUL_f32(t66, t48);
            const float t68 = TC_MUL_f32(t53, t63);
            const float t69 = TC_ADD_f32(t67, t68);
            const float t70 = TC_NEG_f32(t69);
            sum3[l] = tc_acc_add_f32(sum3[l], t70);
            o72.at[l] = t69;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x + 768 * p]) = o72;
    }
    __syncthreads();
    __shared__ float part3[6];
    const float all76 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
    if (x % 32 == 0) part3[x / 32] = all76;
    __syncthreads();
    const float t76 = tc_parts_add_f32<6>(part3);
    const float t77 = t76 / 768.0f;
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v81 = *((const tc_pack<float, 4> *)&shared0[4 * x + 768 * p]);
        tc_pack<float, 4> o83;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t81 = v81.at[l];
            const float t82 = TC_ADD_f32(t81, t77);
            o83.at[l] = t82;
        }
        tc_store((tc_pack<float, 4> *)&out2[768 * r + 4 * x + 768 * p], o83);
    }
}

// kernel1: 4 element-wise ops, 2 reductions in 2 phases over the same rows, 2 results
// rows 768, columns 64; vector along r
//   in0  f32[49152]
//   out0  f32[768]
//   in1  f32[49152]
//   in2  f32[64]
//   in3  f32[64]
//   out1  f32[768]
//   held0  f32[16]
//   held1  f32[16]
//   held2  f32[4]
//   held3  f32[4]
//   shared0  f32[1024]
//   shared1  f32[1024]
//   %0 = const 768                    f32 row
//   launch threads=256 index=i32
//     for i in 0..6  bind=grid
//       for y in 0..8  bind=block
//         for x in 0..32  bind=block
//           acc0 = new sum width=4    f32 row
//           acc1 = new sum width=4    f32 row
//           for p in 0..2  bind=serial
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               copy 4 held0[4*u] <- in0[768*c + 128*i + 4*x]
//               copy 4 held1[4*u] <- in1[768*c + 128*i + 4*x]
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               axis r = 128*i + 4*x in 0..768
//               %16 = load in2[c]     f32 col
//               store held2[u] %16
//               %18 = load in3[c]     f32 col
//               store held3[u] %18
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               for l in 0..4  bind=vector
//                 axis r = 128*i + 4*x + l in 0..768
//                 %25 = load held0[4*u + l]  f32 col
//                 acc0 sum= %25
//                 %27 = load held1[4*u + l]  f32 col
//                 %28 = load held2[u]  f32 col
//                 %29 = div %28 %0    f32 col
//                 %30 = sub %27 %29   f32 col
//                 %31 = load held3[u]  f32 col
//                 %32 = mul %30 %31   f32 col
//                 %33 = mul %25 %32   f32 col
//                 acc1 sum= %33
//               end
//             end
//           end
//           for l in 0..4  bind=vector
//             put shared0[128*y + 4*x + l] <- acc0
//             put shared1[128*y + 4*x + l] <- acc1
//           end
//           barrier block
//           acc0 = new sum width=4    f32 row
//           acc1 = new sum width=4    f32 row
//           for n in 0..8  bind=unroll
//             for l in 0..4  bind=vector
//               get acc0 <- shared0[128*n + 4*x + l]
//               get acc1 <- shared1[128*n + 4*x + l]
//             end
//           end
//           if 0 <= y < 1
//             for l in 0..4  bind=vector
//               axis r = 128*i + 4*x + l in 0..768
//               %54 = combine acc0 threads=1  f32 row
//               %55 = combine acc1 threads=1  f32 row
//               store out0[r] %54
//               store out1[r] %55
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 6 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1(const float *__restrict__ in0, float *__restrict__ out0, const float *__restrict__ in1, const float *__restrict__ in2, const float *__restrict__ in3, float *__restrict__ out1, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_begin();
    __align__(16) float held0[16];
    __align__(16) float held1[16];
    __align__(16) float held2[4];
    __align__(16) float held3[4];
    __shared__ __align__(16) float shared0[1024];
    __shared__ __align__(16) float shared1[1024];
    const int i = blockIdx.x;
    const int y = threadIdx.x / 32, x = threadIdx.x % 32;
    __builtin_assume(y < 8);
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 2; p++) {
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            *(tc_pack<float, 4> *)&held0[4 * u] = tc_load((const tc_pack<float, 4> *)&in0[768 * c + 128 * i + 4 * x]);
            *(tc_pack<float, 4> *)&held1[4 * u] = tc_load((const tc_pack<float, 4> *)&in1[768 * c + 128 * i + 4 * x]);
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const int c = y + 32 * p + 8 * u;
            const float t16 = in2[c];
            held2[u] = t16;
            const float t18 = in3[c];
            held3[u] = t18;
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const float t28 = held2[u];
            const float t29 = t28 / 768.0f;
            const float t31 = held3[u];
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t25 = held0[l + 4 * u];
                sum0[l] = tc_acc_add_f32(sum0[l], t25);
                const float t27 = held1[l + 4 * u];
                const float t30 = TC_SUB_f32(t27, t29);
                const float t32 = TC_MUL_f32(t30, t31);
                const float t33 = TC_MUL_f32(t25, t32);
                sum1[l] = tc_acc_add_f32(sum1[l], t33);
            }
        }
    }
    #pragma unroll
    for (int l = 0; l < 4; l++) {
        shared0[l + 128 * y + 4 * x] = sum0[l];
        shared1[l + 128 * y + 4 * x] = sum1[l];
    }
    __syncthreads();
    for (int l = 0; l < 4; l++) sum0[l] = 0.0f;
    for (int l = 0; l < 4; l++) sum1[l] = 0.0f;
    #pragma unroll
    for (int n = 0; n < 8; n++) {
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            sum0[l] = tc_acc_add_f32(sum0[l], shared0[l + 4 * x + 128 * n]);
            sum1[l] = tc_acc_add_f32(sum1[l], shared1[l + 4 * x + 128 * n]);
        }
    }
    if (y < 1) {
        tc_pack<float, 4> o56;
        tc_pack<float, 4> o57;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t54 = sum0[l];
            const float t55 = sum1[l];
            o56.at[l] = t54;
            o57.at[l] = t55;
        }
        tc_store((tc_pack<float, 4> *)&out0[128 * i + 4 * x], o56);
        tc_store((tc_pack<float, 4> *)&out1[128 * i + 4 * x], o57);
    }
}
