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

struct TC_N(draw) {
    unsigned w[4];
};

TC_FN TC_N(draw) TC_N(philox)(tc_i64 i, tc_u64 draw, tc_u64 seed) {
    unsigned a = (unsigned)i, b = (unsigned)((tc_u64)i >> 32), c = (unsigned)draw, d = (unsigned)(draw >> 32);
    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);
    #pragma unroll
    for (int n = 0; n < 10; n++) {
        const unsigned h0 = __umulhi(a, 0xd2511f53u), h1 = __umulhi(c, 0xcd9e8d57u);
        const unsigned l0 = a * 0xd2511f53u, l1 = c * 0xcd9e8d57u;
        a = h1 ^ b ^ k0;
        b = l1;
        c = h0 ^ d ^ k1;
        d = l0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{a, b, c, d}};
}

template <int N> TC_FN TC_N(draw) TC_N(drawn)(tc_i64 i, int l, tc_u64 draw, tc_u64 seed) {
    const TC_N(draw) x = TC_N(philox)(i / (4 / N) + l / (4 / N), draw, seed);
    const unsigned *w = x.w;
    if (N == 1) return {{l & 2 ? l & 1 ? w[3] : w[2] : l & 1 ? w[1] : w[0], 0, 0, 0}};
    if (N == 2) return {{l & 1 ? w[2] : w[0], l & 1 ? w[3] : w[1], 0, 0}};
    return x;
}

TC_FN float TC_N(uniform_f32)(const TC_N(draw) &x) { return (float)(x.w[0] >> 8) * 5.96046448e-08f; }
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_NEG_f32(a) ((float)(-(float)(a)))
#define TC_SEL_f32(m, a, b) ((m) ? (a) : (b))
#define TC_GE_f32(a, b) ((a) >= (b))
#define TC_M_f32(b) (b)
#define TC_B_f32(m) (m)
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

// kernel0: 28 element-wise ops, 4 reductions in 4 phases over the same rows, 4 results
// rows 64, columns 768; vector along c
//   in0  f32[49152]
//   in1  f32[49152]
//   out0  f32[49152]
//   out1  f32[64]
//   in2  f32[49152]
//   in3  f32[768]
//   out2  f32[49152]
//   out3  f32[49152]
//   row0  f32[768]
//   shared0  f32[768]
//   row1  bool[768]
//   shared1  f32[768]
//   shared2  f32[768]
//   %0 = const 0.1                    f32 row
//   %1 = const 1.1111112              f32 row
//   %2 = const 0                      f32 row
//   %3 = const 768                    f32 row
//   %4 = const 0.00001                f32 row
//   %5 = const -0.5                   f32 row
//   launch threads=192 index=i32
//     for r in 0..64  bind=grid
//       for x in 0..192  bind=block
//         acc0 = new sum width=4      f32 row
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %13 = index 768*r + c   i64 col
//             %14 = random %13 kind=0 draw=0  f32 col
//             %15 = ge %14 %0         bool col
//             %16 = load in0[768*r + c]  f32 col
//             %17 = mul %16 %1        f32 col
//             %18 = where %15 %17 %2  f32 col
//             %19 = load in1[768*r + c]  f32 col
//             %20 = add %18 %19       f32 col
//             acc0 sum= %20
//           end
//         end
//         %24 = combine acc0 threads=192  f32 row
//         %25 = div %24 %3            f32 row
//         acc1 = new sum width=4      f32 row
//         acc2 = new sum width=4      f32 row
//         for p in 0..1  bind=serial
//           copy 4 shared1[768*p + 4*x] <- in2[768*p + 768*r + 4*x]
//           copy 4 shared2[768*p + 4*x] <- in3[768*p + 4*x]
//         end
//         wait
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %36 = index 768*r + c   i64 col
//             %37 = random %36 kind=0 draw=0  f32 col
//             %38 = ge %37 %0         bool col
//             %39 = load in0[768*r + c]  f32 col
//             %40 = mul %39 %1        f32 col
//             %41 = where %38 %40 %2  f32 col
//             %42 = load in1[768*r + c]  f32 col
//             %43 = add %41 %42       f32 col
//             %44 = sub %43 %25       f32 col
//             %45 = square %44        f32 col
//             acc1 sum= %45
//             %47 = load shared1[c]   f32 col
//             %48 = load shared2[c]   f32 col
//             %49 = mul %47 %48       f32 col
//             %50 = mul %49 %44       f32 col
//             acc2 sum= %50
//             store out0[768*r + c] %44
//           end
//         end
//         barrier block
//         %56 = combine acc1 threads=192  f32 row
//         %57 = combine acc2 threads=192  f32 row
//         %58 = div %56 %3            f32 row
//         %59 = add %58 %4            f32 row
//         %60 = rsqrt %59             f32 row
//         %61 = mul %57 %5            f32 row
//         %62 = mul %60 %60           f32 row
//         %63 = mul %60 %62           f32 row
//         %64 = mul %61 %63           f32 row
//         %65 = div %64 %3            f32 row
//         if 0 <= x < 1
//           store out1[r] %60
//         end
//         acc3 = new sum width=4      f32 row
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %73 = index 768*r + c   i64 col
//             %74 = random %73 kind=0 draw=0  f32 col
//             %75 = ge %74 %0         bool col
//             %76 = load in0[768*r + c]  f32 col
//             %77 = mul %76 %1        f32 col
//             %78 = where %75 %77 %2  f32 col
//             %79 = load in1[768*r + c]  f32 col
//             %80 = add %78 %79       f32 col
//             %81 = load shared1[c]   f32 col
//             %82 = load shared2[c]   f32 col
//             %83 = mul %81 %82       f32 col
//             %84 = mul %83 %60       f32 col
//             %85 = sub %80 %25       f32 col
//             %86 = add %85 %85       f32 col
//             %87 = mul %65 %86       f32 col
//             %88 = add %84 %87       f32 col
//             %89 = neg %88           f32 col
//             acc3 sum= %89
//             store shared0[c] %88
//           end
//         end
//         barrier block
//         %95 = combine acc3 threads=192  f32 row
//         %96 = div %95 %3            f32 row
//         for p in 0..1  bind=serial
//           for l in 0..4  bind=vector
//             axis c = 768*p + 4*x + l in 0..768
//             %100 = index 768*r + c  i64 col
//             %101 = random %100 kind=0 draw=0  f32 col
//             %102 = ge %101 %0       bool col
//             %103 = load shared0[c]  f32 col
//             %104 = add %103 %96     f32 col
//             store out2[768*r + c] %104
//             %106 = where %102 %104 %2  f32 col
//             %107 = mul %106 %1      f32 col
//             store out3[768*r + c] %107
//           end
//         end
//       end
//     end
//   end
// 192 threads in a block, 64 blocks have work
extern "C" __global__ void __launch_bounds__(192)
kernel0(const float *__restrict__ in0, const float *__restrict__ in1, float *__restrict__ out0, float *__restrict__ out1, const float *__restrict__ in2, const float *__restrict__ in3, float *__restrict__ out2, float *__restrict__ out3, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_reads(in3), tc_begin();
    const tc_u64 seed = a.state->seed, draw = a.state->draw;
    __shared__ __align__(16) float shared0[768];
    __shared__ __align__(16) float shared1[768];
    __shared__ __align__(16) float shared2[768];
    const int r = blockIdx.x;
    const int x = threadIdx.x;
    __builtin_assume(x < 192);
    float sum0[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v16 = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 768 * p]);
        const tc_pack<float, 4> v19 = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 768 * p]);
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + 768 * p + l;
            const tc_i64 t13 = 768 * r + c;
            const float t14 = tc_uniform_f32(tc_drawn<1>(t13 - l, l, draw + 0, seed));
            const int t15 = TC_B_f32(TC_GE_f32(t14, 0x1.99999ap-4f));
            const float t16 = v16.at[l];
            const float t17 = TC_MUL_f32(t16, 0x1.1c71c8p+0f);
            const float t18 = TC_SEL_f32(TC_M_f32(t15), t17, 0.0f);
            const float t19 = v19.at[l];
            const float t20 = TC_ADD_f32(t18, t19);
            sum0[l] = tc_acc_add_f32(sum0[l], t20);
        }
    }
    __shared__ float part0[6];
    const float all24 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum0));
    if (x % 32 == 0) part0[x / 32] = all24;
    __syncthreads();
    const float t24 = tc_parts_add_f32<6>(part0);
    const float t25 = t24 / 768.0f;
    float sum1[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    float sum2[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        tc_copy_async((tc_pack<float, 4> *)&shared1[4 * x + 768 * p], (const tc_pack<float, 4> *)&in2[768 * r + 4 * x + 768 * p]);
        tc_copy_async((tc_pack<float, 4> *)&shared2[4 * x + 768 * p], (const tc_pack<float, 4> *)&in3[4 * x + 768 * p]);
    }
    tc_copy_wait_all();
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v39 = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 768 * p]);
        const tc_pack<float, 4> v42 = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 768 * p]);
        const tc_pack<float, 4> v47 = *((const tc_pack<float, 4> *)&shared1[4 * x + 768 * p]);
        const tc_pack<float, 4> v48 = *((const tc_pack<float, 4> *)&shared2[4 * x + 768 * p]);
        tc_pack<float, 4> o52;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + 768 * p + l;
            const tc_i64 t36 = 768 * r + c;
            const float t37 = tc_uniform_f32(tc_drawn<1>(t36 - l, l, draw + 0, seed));
            const int t38 = TC_B_f32(TC_GE_f32(t37, 0x1.99999ap-4f));
            const float t39 = v39.at[l];
            const float t40 = TC_MUL_f32(t39, 0x1.1c71c8p+0f);
            const float t41 = TC_SEL_f32(TC_M_f32(t38), t40, 0.0f);
            const float t42 = v42.at[l];
            const float t43 = TC_ADD_f32(t41, t42);
            const float t44 = TC_SUB_f32(t43, t25);
            const float t45 = TC_MUL_f32(t44, t44);
            sum1[l] = tc_acc_add_f32(sum1[l], t45);
            const float t47 = v47.at[l];
            const float t48 = v48.at[l];
            const float t49 = TC_MUL_f32(t47, t48);
            const float t50 = TC_MUL_f32(t49, t44);
            sum2[l] = tc_acc_add_f32(sum2[l], t50);
            o52.at[l] = t44;
        }
        tc_store((tc_pack<float, 4> *)&out0[768 * r + 4 * x + 768 * p], o52);
    }
    __syncthreads();
    __shared__ float part1[6];
    const float all56 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum1));
    __shared__ float part2[6];
    const float all57 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum2));
    if (x % 32 == 0) part1[x / 32] = all56;
    if (x % 32 == 0) part2[x / 32] = all57;
    __syncthreads();
    const float t56 = tc_parts_add_f32<6>(part1);
    const float t57 = tc_parts_add_f32<6>(part2);
    const float t58 = t56 / 768.0f;
    const float t59 = TC_ADD_f32(t58, 0x1.4f8b58p-17f);
    const float t60 = 1.0f / TC_SQRT_f32(t59);
    const float t61 = TC_MUL_f32(t57, -0.5f);
    const float t62 = TC_MUL_f32(t60, t60);
    const float t63 = TC_MUL_f32(t60, t62);
    const float t64 = TC_MUL_f32(t61, t63);
    const float t65 = t64 / 768.0f;
    if (x < 1) {
        out1[r] = t60;
    }
    float sum3[4] = {0.0f, 0.0f, 0.0f, 0.0f};
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v76 = tc_load((const tc_pack<float, 4> *)&in0[768 * r + 4 * x + 768 * p]);
        const tc_pack<float, 4> v79 = tc_load((const tc_pack<float, 4> *)&in1[768 * r + 4 * x + 768 * p]);
        const tc_pack<float, 4> v81 = *((const tc_pack<float, 4> *)&shared1[4 * x + 768 * p]);
        const tc_pack<float, 4> v82 = *((const tc_pack<float, 4> *)&shared2[4 * x + 768 * p]);
        tc_pack<float, 4> o91;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + 768 * p + l;
            const tc_i64 t73 = 768 * r + c;
            const float t74 = tc_uniform_f32(tc_drawn<1>(t73 - l, l, draw + 0, seed));
            const int t75 = TC_B_f32(TC_GE_f32(t74, 0x1.99999ap-4f));
            const float t76 = v76.at[l];
            const float t77 = TC_MUL_f32(t76, 0x1.1c71c8p+0f);
            const float t78 = TC_SEL_f32(TC_M_f32(t75), t77, 0.0f);
            const float t79 = v79.at[l];
            const float t80 = TC_ADD_f32(t78, t79);
            const float t81 = v81.at[l];
            const float t82 = v82.at[l];
            const float t83 = TC_MUL_f32(t81, t82);
            const float t84 = TC_MUL_f32(t83, t60);
            const float t85 = TC_SUB_f32(t80, t25);
            const float t86 = TC_ADD_f32(t85, t85);
            const float t87 = TC_MUL_f32(t65, t86);
            const float t88 = TC_ADD_f32(t84, t87);
            const float t89 = TC_NEG_f32(t88);
            sum3[l] = tc_acc_add_f32(sum3[l], t89);
            o91.at[l] = t88;
        }
        *((tc_pack<float, 4> *)&shared0[4 * x + 768 * p]) = o91;
    }
    __syncthreads();
    __shared__ float part3[6];
    const float all95 = tc_lanes_add_f32<32>(tc_fold_add_f32(sum3));
    if (x % 32 == 0) part3[x / 32] = all95;
    __syncthreads();
    const float t95 = tc_parts_add_f32<6>(part3);
    const float t96 = t95 / 768.0f;
    for (int p = 0; p < 1; p++) {
        const tc_pack<float, 4> v103 = *((const tc_pack<float, 4> *)&shared0[4 * x + 768 * p]);
        tc_pack<float, 4> o105;
        tc_pack<float, 4> o108;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const int c = 4 * x + 768 * p + l;
            const tc_i64 t100 = 768 * r + c;
            const float t101 = tc_uniform_f32(tc_drawn<1>(t100 - l, l, draw + 0, seed));
            const int t102 = TC_B_f32(TC_GE_f32(t101, 0x1.99999ap-4f));
            const float t103 = v103.at[l];
            const float t104 = TC_ADD_f32(t103, t96);
            o105.at[l] = t104;
            const float t106 = TC_SEL_f32(TC_M_f32(t102), t104, 0.0f);
            const float t107 = TC_MUL_f32(t106, 0x1.1c71c8p+0f);
            o108.at[l] = t107;
        }
        tc_store((tc_pack<float, 4> *)&out2[768 * r + 4 * x + 768 * p], o105);
        tc_store((tc_pack<float, 4> *)&out3[768 * r + 4 * x + 768 * p], o108);
    }
}

// kernel1: 2 element-wise ops, 2 reductions in 2 phases over the same rows, 2 results
// rows 768, columns 64; vector along r
//   in0  f32[49152]
//   out0  f32[768]
//   in1  f32[49152]
//   in2  f32[64]
//   out1  f32[768]
//   held0  f32[16]
//   held1  f32[16]
//   held2  f32[4]
//   shared0  f32[1024]
//   shared1  f32[1024]
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
//               %15 = load in2[c]     f32 col
//               store held2[u] %15
//             end
//             for u in 0..4  bind=unroll
//               axis c = 32*p + 8*u + y in 0..64
//               for l in 0..4  bind=vector
//                 axis r = 128*i + 4*x + l in 0..768
//                 %22 = load held0[4*u + l]  f32 col
//                 acc0 sum= %22
//                 %24 = load held1[4*u + l]  f32 col
//                 %25 = load held2[u]  f32 col
//                 %26 = mul %24 %25   f32 col
//                 %27 = mul %22 %26   f32 col
//                 acc1 sum= %27
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
//               %48 = combine acc0 threads=1  f32 row
//               %49 = combine acc1 threads=1  f32 row
//               store out0[r] %48
//               store out1[r] %49
//             end
//           end
//         end
//       end
//     end
//   end
// 256 threads in a block, 6 blocks have work
extern "C" __global__ void __launch_bounds__(256)
kernel1(const float *__restrict__ in0, float *__restrict__ out0, const float *__restrict__ in1, const float *__restrict__ in2, float *__restrict__ out1, const tc_kargs<1> a) {
    tc_reads(in0), tc_reads(in1), tc_reads(in2), tc_begin();
    __align__(16) float held0[16];
    __align__(16) float held1[16];
    __align__(16) float held2[4];
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
            const float t15 = in2[c];
            held2[u] = t15;
        }
        #pragma unroll
        for (int u = 0; u < 4; u++) {
            const float t25 = held2[u];
            #pragma unroll
            for (int l = 0; l < 4; l++) {
                const float t22 = held0[l + 4 * u];
                sum0[l] = tc_acc_add_f32(sum0[l], t22);
                const float t24 = held1[l + 4 * u];
                const float t26 = TC_MUL_f32(t24, t25);
                const float t27 = TC_MUL_f32(t22, t26);
                sum1[l] = tc_acc_add_f32(sum1[l], t27);
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
        tc_pack<float, 4> o50;
        tc_pack<float, 4> o51;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t48 = sum0[l];
            const float t49 = sum1[l];
            o50.at[l] = t48;
            o51.at[l] = t49;
        }
        tc_store((tc_pack<float, 4> *)&out0[128 * i + 4 * x], o50);
        tc_store((tc_pack<float, 4> *)&out1[128 * i + 4 * x], o51);
    }
}
