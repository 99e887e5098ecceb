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

TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }

TC_FN unsigned TC_N(pack_bf16)(float a, float b) {
    unsigned w;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(w) : "f"(b), "f"(a));
    return w;
}

TC_FN tc_u16 TC_N(bits_bf16)(float f) { return (tc_u16)TC_N(pack_bf16)(f, 0.0f); }

template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {
    TC_N(words)<tc_pack<tc_u16, V>> u;
    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);
    return u.v;
}

template <int W, int N> struct tc_list {
    void *at[N][W];
    tc_i64 count[N];
    int first[N], rows;
};

template <int TOP, int W, int N> TC_FN int TC_N(list_row)(const tc_list<W, N> &list) {
    int row = 0;
    #pragma unroll
    for (int step = TOP; step; step /= 2)
        if (row + step < list.rows && list.first[row + step] <= (int)blockIdx.x) row += step;
    return row;
}
#define TC_ADD_f32(a, b) ((float)((float)(a) + (float)(b)))
#define TC_SUB_f32(a, b) ((float)((float)(a) - (float)(b)))
#define TC_MUL_f32(a, b) ((float)((float)(a) * (float)(b)))
#define TC_SQRT_f32(x) sqrtf(x)

// kernel0: 14 element-wise ops over one space, 3 results
// rows 1, columns s0; vector along c
// of each tensor of a list, up to 5
//   in0  f32[1]
//   in1  f32[1]
//   in2  f32[s0]
//   in3  f32[s0]
//   in4  f32[s0]
//   in5  f32[s0]
//   out0  f32[s0]
//   out1  f32[s0]
//   out2  f32[s0]
//   %0 = const 0.1                    f32 row
//   %1 = const 0.999                  f32 row
//   %2 = const 0.001                  f32 row
//   %3 = const 0.99999                f32 row
//   %4 = const 1e-8                   f32 row
//   launch threads=256 index=i64
//     for j in 0..((s0 + 3)/4 + 255)/256  bind=grid
//       for t in 0..256  bind=block
//         if 0 <= 1024*j + 4*t + 3 < s0
//           axis i = 256*j + t in 0..s0
//           axis r = 0 in 0..1
//           for l in 0..4  bind=vector
//             axis c = 4*i + l in 0..s0
//             %13 = load in0[0]       f32 row
//             %14 = load in1[0]       f32 row
//             %15 = load in2[c]       f32 col
//             %16 = load in3[c]       f32 col
//             %17 = load in4[c]       f32 col
//             %18 = load in5[c]       f32 col
//             %19 = sub %16 %15       f32 col
//             %20 = mul %19 %0        f32 col
//             %21 = add %15 %20       f32 col
//             store out0[c] %21
//             %23 = mul %17 %1        f32 col
//             %24 = square %16        f32 col
//             %25 = mul %24 %2        f32 col
//             %26 = add %23 %25       f32 col
//             store out1[c] %26
//             %28 = mul %18 %3        f32 col
//             %29 = sqrt %26          f32 col
//             %30 = div %29 %13       f32 col
//             %31 = add %30 %4        f32 col
//             %32 = div %21 %31       f32 col
//             %33 = mul %32 %14       f32 col
//             %34 = sub %28 %33       f32 col
//             store out2[c] %34
//           end
//         end
//         if 0 <= 256*j + 4*(s0/4) + t < s0
//           axis r = 0 in 0..1
//           axis c = 256*j + 4*(s0/4) + t in 0..s0
//           %41 = load in0[0]         f32 row
//           %42 = load in1[0]         f32 row
//           %43 = load in2[c]         f32 col
//           %44 = load in3[c]         f32 col
//           %45 = load in4[c]         f32 col
//           %46 = load in5[c]         f32 col
//           %47 = sub %44 %43         f32 col
//           %48 = mul %47 %0          f32 col
//           %49 = add %43 %48         f32 col
//           store out0[c] %49
//           %51 = mul %45 %1          f32 col
//           %52 = square %44          f32 col
//           %53 = mul %52 %2          f32 col
//           %54 = add %51 %53         f32 col
//           store out1[c] %54
//           %56 = mul %46 %3          f32 col
//           %57 = sqrt %54            f32 col
//           %58 = div %57 %41         f32 col
//           %59 = add %58 %4          f32 col
//           %60 = div %49 %59         f32 col
//           %61 = mul %60 %42         f32 col
//           %62 = sub %56 %61         f32 col
//           store out2[c] %62
//         end
//       end
//     end
//   end
// 256 threads in a block, (((s0 + 3) / 4) + 255) / 256 blocks have work for a tensor
extern "C" __global__ void __launch_bounds__(256)
kernel0(const __grid_constant__ tc_list<9, 5> list, const tc_kargs<1> a) {
    tc_begin();
    const int row = tc_list_row<4>(list);
    const tc_i64 s0 = list.count[row];
    const float *__restrict__ in0 = (const float *)list.at[row][0];
    const float *__restrict__ in1 = (const float *)list.at[row][1];
    const float *__restrict__ in2 = (const float *)list.at[row][2];
    const float *__restrict__ in3 = (const float *)list.at[row][3];
    const float *__restrict__ in4 = (const float *)list.at[row][4];
    const float *__restrict__ in5 = (const float *)list.at[row][5];
    float *__restrict__ out0 = (float *)list.at[row][6];
    float *__restrict__ out1 = (float *)list.at[row][7];
    float *__restrict__ out2 = (float *)list.at[row][8];
    const tc_i64 j = (blockIdx.x - list.first[row]);
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    if (1024 * j + 4 * t + 3 < s0) {
        const tc_i64 i = 256 * j + t;
        const float t13 = in0[0];
        const float t14 = in1[0];
        const tc_pack<float, 4> v15 = tc_load((const tc_pack<float, 4> *)&in2[4 * i]);
        const tc_pack<float, 4> v16 = tc_load((const tc_pack<float, 4> *)&in3[4 * i]);
        const tc_pack<float, 4> v17 = tc_load((const tc_pack<float, 4> *)&in4[4 * i]);
        const tc_pack<float, 4> v18 = tc_load((const tc_pack<float, 4> *)&in5[4 * i]);
        tc_pack<float, 4> o22;
        tc_pack<float, 4> o27;
        tc_pack<float, 4> o35;
        #pragma unroll
        for (int l = 0; l < 4; l++) {
            const float t15 = v15.at[l];
            const float t16 = v16.at[l];
            const float t17 = v17.at[l];
            const float t18 = v18.at[l];
            const float t19 = TC_SUB_f32(t16, t15);
            const float t20 = TC_MUL_f32(t19, 0x1.99999ap-4f);
            const float t21 = TC_ADD_f32(t15, t20);
            o22.at[l] = t21;
            const float t23 = TC_MUL_f32(t17, 0x1.ff7ceep-1f);
            const float t24 = TC_MUL_f32(t16, t16);
            const float t25 = TC_MUL_f32(t24, 0x1.0624dep-10f);
            const float t26 = TC_ADD_f32(t23, t25);
            o27.at[l] = t26;
            const float t28 = TC_MUL_f32(t18, 0x1.fffebp-1f);
            const float t29 = TC_SQRT_f32(t26);
            const float t30 = t29 / t13;
            const float t31 = TC_ADD_f32(t30, 0x1.5798eep-27f);
            const float t32 = t21 / t31;
            const float t33 = TC_MUL_f32(t32, t14);
            const float t34 = TC_SUB_f32(t28, t33);
            o35.at[l] = t34;
        }
        tc_store((tc_pack<float, 4> *)&out0[4 * i], o22);
        tc_store((tc_pack<float, 4> *)&out1[4 * i], o27);
        tc_store((tc_pack<float, 4> *)&out2[4 * i], o35);
    }
    if (4 * (s0 / 4) + 256 * j + t < s0) {
        const tc_i64 c = 4 * (s0 / 4) + 256 * j + t;
        const float t41 = in0[0];
        const float t42 = in1[0];
        const float t43 = in2[c];
        const float t44 = in3[c];
        const float t45 = in4[c];
        const float t46 = in5[c];
        const float t47 = TC_SUB_f32(t44, t43);
        const float t48 = TC_MUL_f32(t47, 0x1.99999ap-4f);
        const float t49 = TC_ADD_f32(t43, t48);
        out0[c] = t49;
        const float t51 = TC_MUL_f32(t45, 0x1.ff7ceep-1f);
        const float t52 = TC_MUL_f32(t44, t44);
        const float t53 = TC_MUL_f32(t52, 0x1.0624dep-10f);
        const float t54 = TC_ADD_f32(t51, t53);
        out1[c] = t54;
        const float t56 = TC_MUL_f32(t46, 0x1.fffebp-1f);
        const float t57 = TC_SQRT_f32(t54);
        const float t58 = t57 / t41;
        const float t59 = TC_ADD_f32(t58, 0x1.5798eep-27f);
        const float t60 = t49 / t59;
        const float t61 = TC_MUL_f32(t60, t42);
        const float t62 = TC_SUB_f32(t56, t61);
        out2[c] = t62;
    }
}

// kernel1: 17 element-wise ops over one space, 3 results
// rows 1, columns s0; vector along c
// of each tensor of a list, up to 3
//   in0  f32[1]
//   in1  f32[1]
//   in2  f32[s0]
//   in3  bf16[s0]
//   in4  f32[s0]
//   in5  bf16[s0]
//   out0  f32[s0]
//   out1  f32[s0]
//   out2  bf16[s0]
//   %0 = const 0.1                    f32 row
//   %1 = const 0.999                  f32 row
//   %2 = const 0.001                  f32 row
//   %3 = const 0.99999                f32 row
//   %4 = const 1e-8                   f32 row
//   launch threads=256 index=i64
//     for j in 0..((s0 + 7)/8 + 255)/256  bind=grid
//       for t in 0..256  bind=block
//         if 0 <= 2048*j + 8*t + 7 < s0
//           axis i = 256*j + t in 0..s0
//           axis r = 0 in 0..1
//           for l in 0..8  bind=vector
//             axis c = 8*i + l in 0..s0
//             %13 = load in0[0]       f32 row
//             %14 = load in1[0]       f32 row
//             %15 = load in2[c]       f32 col
//             %16 = load in3[c]       bf16 col
//             %17 = load in4[c]       f32 col
//             %18 = load in5[c]       bf16 col
//             %19 = cast %16          f32 col
//             %20 = sub %19 %15       f32 col
//             %21 = mul %20 %0        f32 col
//             %22 = add %15 %21       f32 col
//             store out0[c] %22
//             %24 = mul %17 %1        f32 col
//             %25 = square %19        f32 col
//             %26 = mul %25 %2        f32 col
//             %27 = add %24 %26       f32 col
//             store out1[c] %27
//             %29 = cast %18          f32 col
//             %30 = mul %29 %3        f32 col
//             %31 = sqrt %27          f32 col
//             %32 = div %31 %13       f32 col
//             %33 = add %32 %4        f32 col
//             %34 = div %22 %33       f32 col
//             %35 = mul %34 %14       f32 col
//             %36 = sub %30 %35       f32 col
//             %37 = cast %36          bf16 col
//             store out2[c] %37
//           end
//         end
//         if 0 <= 256*j + 8*(s0/8) + t < s0
//           axis r = 0 in 0..1
//           axis c = 256*j + 8*(s0/8) + t in 0..s0
//           %44 = load in0[0]         f32 row
//           %45 = load in1[0]         f32 row
//           %46 = load in2[c]         f32 col
//           %47 = load in3[c]         bf16 col
//           %48 = load in4[c]         f32 col
//           %49 = load in5[c]         bf16 col
//           %50 = cast %47            f32 col
//           %51 = sub %50 %46         f32 col
//           %52 = mul %51 %0          f32 col
//           %53 = add %46 %52         f32 col
//           store out0[c] %53
//           %55 = mul %48 %1          f32 col
//           %56 = square %50          f32 col
//           %57 = mul %56 %2          f32 col
//           %58 = add %55 %57         f32 col
//           store out1[c] %58
//           %60 = cast %49            f32 col
//           %61 = mul %60 %3          f32 col
//           %62 = sqrt %58            f32 col
//           %63 = div %62 %44         f32 col
//           %64 = add %63 %4          f32 col
//           %65 = div %53 %64         f32 col
//           %66 = mul %65 %45         f32 col
//           %67 = sub %61 %66         f32 col
//           %68 = cast %67            bf16 col
//           store out2[c] %68
//         end
//       end
//     end
//   end
// 256 threads in a block, (((s0 + 7) / 8) + 255) / 256 blocks have work for a tensor
extern "C" __global__ void __launch_bounds__(256)
kernel1(const __grid_constant__ tc_list<9, 3> list, const tc_kargs<1> a) {
    tc_begin();
    const int row = tc_list_row<2>(list);
    const tc_i64 s0 = list.count[row];
    const float *__restrict__ in0 = (const float *)list.at[row][0];
    const float *__restrict__ in1 = (const float *)list.at[row][1];
    const float *__restrict__ in2 = (const float *)list.at[row][2];
    const tc_u16 *__restrict__ in3 = (const tc_u16 *)list.at[row][3];
    const float *__restrict__ in4 = (const float *)list.at[row][4];
    const tc_u16 *__restrict__ in5 = (const tc_u16 *)list.at[row][5];
    float *__restrict__ out0 = (float *)list.at[row][6];
    float *__restrict__ out1 = (float *)list.at[row][7];
    tc_u16 *__restrict__ out2 = (tc_u16 *)list.at[row][8];
    const tc_i64 j = (blockIdx.x - list.first[row]);
    const int t = threadIdx.x;
    __builtin_assume(t < 256);
    if (8 * t + 2048 * j + 7 < s0) {
        const tc_i64 i = t + 256 * j;
        const float t13 = in0[0];
        const float t14 = in1[0];
        const tc_pack<float, 8> v15 = tc_load((const tc_pack<float, 8> *)&in2[8 * i]);
        const tc_pack<tc_u16, 8> v16 = tc_load((const tc_pack<tc_u16, 8> *)&in3[8 * i]);
        const tc_pack<float, 8> v17 = tc_load((const tc_pack<float, 8> *)&in4[8 * i]);
        const tc_pack<tc_u16, 8> v18 = tc_load((const tc_pack<tc_u16, 8> *)&in5[8 * i]);
        tc_pack<float, 8> o23;
        tc_pack<float, 8> o28;
        tc_pack<float, 8> o38;
        #pragma unroll
        for (int l = 0; l < 8; l++) {
            const float t15 = v15.at[l];
            const float t16 = tc_of_bf16(v16.at[l]);
            const float t17 = v17.at[l];
            const float t18 = tc_of_bf16(v18.at[l]);
            const float t19 = t16;
            const float t20 = TC_SUB_f32(t19, t15);
            const float t21 = TC_MUL_f32(t20, 0x1.99999ap-4f);
            const float t22 = TC_ADD_f32(t15, t21);
            o23.at[l] = t22;
            const float t24 = TC_MUL_f32(t17, 0x1.ff7ceep-1f);
            const float t25 = TC_MUL_f32(t19, t19);
            const float t26 = TC_MUL_f32(t25, 0x1.0624dep-10f);
            const float t27 = TC_ADD_f32(t24, t26);
            o28.at[l] = t27;
            const float t29 = t18;
            const float t30 = TC_MUL_f32(t29, 0x1.fffebp-1f);
            const float t31 = TC_SQRT_f32(t27);
            const float t32 = t31 / t13;
            const float t33 = TC_ADD_f32(t32, 0x1.5798eep-27f);
            const float t34 = t22 / t33;
            const float t35 = TC_MUL_f32(t34, t14);
            const float t36 = TC_SUB_f32(t30, t35);
            const float t37 = t36;
            o38.at[l] = t37;
        }
        tc_store((tc_pack<float, 8> *)&out0[8 * i], o23);
        tc_store((tc_pack<float, 8> *)&out1[8 * i], o28);
        tc_store((tc_pack<tc_u16, 8> *)&out2[8 * i], tc_halves_bf16(o38));
    }
    if (t + 8 * (s0 / 8) + 256 * j < s0) {
        const tc_i64 c = t + 8 * (s0 / 8) + 256 * j;
        const float t44 = in0[0];
        const float t45 = in1[0];
        const float t46 = in2[c];
        const float t47 = tc_of_bf16(in3[c]);
        const float t48 = in4[c];
        const float t49 = tc_of_bf16(in5[c]);
        const float t50 = t47;
        const float t51 = TC_SUB_f32(t50, t46);
        const float t52 = TC_MUL_f32(t51, 0x1.99999ap-4f);
        const float t53 = TC_ADD_f32(t46, t52);
        out0[c] = t53;
        const float t55 = TC_MUL_f32(t48, 0x1.ff7ceep-1f);
        const float t56 = TC_MUL_f32(t50, t50);
        const float t57 = TC_MUL_f32(t56, 0x1.0624dep-10f);
        const float t58 = TC_ADD_f32(t55, t57);
        out1[c] = t58;
        const float t60 = t49;
        const float t61 = TC_MUL_f32(t60, 0x1.fffebp-1f);
        const float t62 = TC_SQRT_f32(t58);
        const float t63 = t62 / t44;
        const float t64 = TC_ADD_f32(t63, 0x1.5798eep-27f);
        const float t65 = t53 / t64;
        const float t66 = TC_MUL_f32(t65, t45);
        const float t67 = TC_SUB_f32(t61, t66);
        const float t68 = t67;
        out2[c] = tc_bits_bf16(t68);
    }
}
