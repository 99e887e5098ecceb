// What products use: steps of sums, tiles in shared memory, tensor cores.

// fn: add_product_f32
TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }

// fn: add_product_f64
TC_FN double TC_N(add_product_f64)(double a, double b, double c) { return fma(a, b, c); }

// fn: add_product_i32
TC_FN int TC_N(add_product_i32)(int a, int b, int c) { return (int)((unsigned)a * (unsigned)b + (unsigned)c); }

// fn: add_product_i64
TC_FN tc_i64 TC_N(add_product_i64)(tc_i64 a, tc_i64 b, tc_i64 c) { return (tc_i64)((tc_u64)a * (tc_u64)b + (tc_u64)c); }

// fn: copy_async16_of
// So many of the 16 bytes, and zeros; of none `global` is not read.
TC_FN void TC_N(copy_async16_of)(void *shared, const void *global, int bytes) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                 :: "r"((unsigned)__cvta_generic_to_shared(shared)), "l"(global), "r"(bytes) : "memory");
}

// fn: copy_commit
TC_FN void TC_N(copy_commit)() { asm volatile("cp.async.commit_group;" ::: "memory"); }

// fn: copy_wait
// Until at most N of the thread's groups of copies are on their way.
template <int N> TC_FN void TC_N(copy_wait)() {
    asm volatile("cp.async.wait_group %0;" :: "n"(N) : "memory");
}

// fn: ldmatrix4
// Four 8 x 8 matrices of 2-byte elements; lane i gives the address of row i % 8 of matrix i / 8.
TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}

// fn: ldmatrix4_trans
// The same, each matrix transposed.
TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"((unsigned)__cvta_generic_to_shared(row)) : "memory");
}

// fn: mma_f16
// d += a * b, 16 x 8 x 16, of a warp.
TC_FN void TC_N(mma_f16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// fn: mma_bf16
// d += a * b, 16 x 8 x 16, of a warp.
TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// fn: mma_tf32
// d += a * b, 16 x 8 x 8, of a warp; of a and b the leading 11 bits count.
TC_FN void TC_N(mma_tf32)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// fn: proxy_fence
// What the thread has in shared memory, matrix units see behind the next barrier.
TC_FN void TC_N(proxy_fence)() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// fn: align_shared
template <int N> TC_FN char *TC_N(align_shared)(char *p) {
    return p + (0u - (unsigned)__cvta_generic_to_shared(p)) % N;
}

// fn: matrix_place
// A tile of halves in shared memory, aligned to 1024 bytes, as matrix units are told of it: lines of 64 in which chunks of 16
// bytes are swizzled, 8 of them a block; of LINE bytes, which may be 64. What runs along the other axis has 64 of its lines together for a
// whole step, K of k.
template <int K = 64, int LINE = 128> TC_FN tc_u64 TC_N(matrix_place)(const void *tile) {
    const tc_u64 block = 8 * LINE / 16, lines = K * 128 / 16, swizzled = (tc_u64)(LINE == 128 ? 1 : 2) << 62;
    return ((unsigned)__cvta_generic_to_shared(tile) & 0x3ffff) / 16 | lines << 16 | block << 32 | swizzled;
}

// fn: matrix_begin
// Sums are where matrix units look for them.
TC_FN void TC_N(matrix_begin)() { asm volatile("wgmma.fence.sync.aligned;" ::: "memory"); }

// fn: matrix_commit
TC_FN void TC_N(matrix_commit)() { asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory"); }

// fn: matrix_wait
// Until at most N groups of products are on their way.
template <int N> TC_FN void TC_N(matrix_wait)() {
    asm volatile("wgmma.wait_group.sync.aligned %0;" :: "n"(N) : "memory");
}

// fn: matrix_keep
// Sums are there: nobody reads them ahead of the wait.
template <int N> TC_FN void TC_N(matrix_keep)(float (&d)[N]) {
    #pragma unroll
    for (int i = 0; i < N; i++) asm volatile("" : "+f"(d[i]) :: "memory");
}

// fn: wgmma
// d += a * b, or without `keep` d = a * b, 64 x N x 16, by four warps, of f16 (UNITS 0), bf16 or, 64 x N x 8, tf32; a lane's sums are those of fragments of 16 x 8. TA, TB: the operand runs along its
// lines, not along k. The numbers of operands behind the sums follow from N.
#define TC_WGMMA_8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
#define TC_WGMMA_32(i) TC_WGMMA_8(i), TC_WGMMA_8(i + 8), TC_WGMMA_8(i + 16), TC_WGMMA_8(i + 24)
#define TC_WGMMA_NAMES_64 "%2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, %32, %33"
#define TC_WGMMA_16(i) TC_WGMMA_8(i), TC_WGMMA_8(i + 8)
#define TC_WGMMA_NAMES_96 TC_WGMMA_NAMES_64 ", %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49"
#define TC_WGMMA_NAMES_128 TC_WGMMA_NAMES_64 ", %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, %64, %65"
#define TC_WGMMA_NAMES_192 TC_WGMMA_NAMES_128 ", %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, %80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, %96, %97"
#define TC_WGMMA_NAMES_256 TC_WGMMA_NAMES_192 ", %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, %112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127, %128, %129"
#define TC_WGMMA_BEGIN(keep) "{ .reg .pred p; setp.ne.b32 p, " keep ", 0; wgmma.mma_async.sync.aligned.m64n"
template <int UNITS, int N, int TA, int TB> TC_FN void TC_N(wgmma)(float (&d)[N / 2], tc_u64 a, tc_u64 b, int keep) {
    if constexpr (UNITS == 1 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%36") "64k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1, %34, %35; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 1 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%52") "96k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1, %50, %51; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 1 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%68") "128k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1, %66, %67; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 1 && N == 192)
        asm volatile(TC_WGMMA_BEGIN("%100") "192k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_192 "}, %0, %1, p, 1, 1, %98, %99; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 1 && N == 256)
        asm volatile(TC_WGMMA_BEGIN("%132") "256k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_256 "}, %0, %1, p, 1, 1, %130, %131; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 0 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%36") "64k16.f32.f16.f16 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1, %34, %35; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 0 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%52") "96k16.f32.f16.f16 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1, %50, %51; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 0 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%68") "128k16.f32.f16.f16 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1, %66, %67; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 0 && N == 192)
        asm volatile(TC_WGMMA_BEGIN("%100") "192k16.f32.f16.f16 {" TC_WGMMA_NAMES_192 "}, %0, %1, p, 1, 1, %98, %99; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 0 && N == 256)
        asm volatile(TC_WGMMA_BEGIN("%132") "256k16.f32.f16.f16 {" TC_WGMMA_NAMES_256 "}, %0, %1, p, 1, 1, %130, %131; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96) : "n"(TA), "n"(TB), "r"(keep));
    if constexpr (UNITS == 2 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%34") "64k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "r"(keep));
    if constexpr (UNITS == 2 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%50") "96k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "r"(keep));
    if constexpr (UNITS == 2 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%66") "128k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(keep));
    if constexpr (UNITS == 2 && N == 192)
        asm volatile(TC_WGMMA_BEGIN("%98") "192k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_192 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64) : "r"(keep));
    if constexpr (UNITS == 2 && N == 256)
        asm volatile(TC_WGMMA_BEGIN("%130") "256k8.f32.tf32.tf32 {" TC_WGMMA_NAMES_256 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32), TC_WGMMA_32(64), TC_WGMMA_32(96) : "r"(keep));
}

// fn: wgmma_f8
// The same of f8, 64 x N x 32, where both operands run along k: UNITS 3 is e4m3 by e4m3, 4 has e5m2 on the left, 5 on the right, 6 on both.
template <int UNITS, int N> TC_FN void TC_N(wgmma_f8)(float (&d)[N / 2], tc_u64 a, tc_u64 b, int keep) {
    if constexpr (UNITS == 3 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%34") "64k32.f32.e4m3.e4m3 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "r"(keep));
    if constexpr (UNITS == 3 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%50") "96k32.f32.e4m3.e4m3 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "r"(keep));
    if constexpr (UNITS == 3 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%66") "128k32.f32.e4m3.e4m3 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(keep));
    if constexpr (UNITS == 4 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%34") "64k32.f32.e5m2.e4m3 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "r"(keep));
    if constexpr (UNITS == 4 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%50") "96k32.f32.e5m2.e4m3 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "r"(keep));
    if constexpr (UNITS == 4 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%66") "128k32.f32.e5m2.e4m3 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(keep));
    if constexpr (UNITS == 5 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%34") "64k32.f32.e4m3.e5m2 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "r"(keep));
    if constexpr (UNITS == 5 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%50") "96k32.f32.e4m3.e5m2 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "r"(keep));
    if constexpr (UNITS == 5 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%66") "128k32.f32.e4m3.e5m2 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(keep));
    if constexpr (UNITS == 6 && N == 64)
        asm volatile(TC_WGMMA_BEGIN("%34") "64k32.f32.e5m2.e5m2 {" TC_WGMMA_NAMES_64 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0) : "r"(keep));
    if constexpr (UNITS == 6 && N == 96)
        asm volatile(TC_WGMMA_BEGIN("%50") "96k32.f32.e5m2.e5m2 {" TC_WGMMA_NAMES_96 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_16(32) : "r"(keep));
    if constexpr (UNITS == 6 && N == 128)
        asm volatile(TC_WGMMA_BEGIN("%66") "128k32.f32.e5m2.e5m2 {" TC_WGMMA_NAMES_128 "}, %0, %1, p, 1, 1; }"
                     : "+l"(a), "+l"(b), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(keep));
}

// fn: wgmma_held
// d += a * b, 64 x N x 16, where the four warps have a in registers, as fragments of 16 x 16, and b runs along its lines.
// The numbers of operands are those of wgmma.
#define TC_WGMMA_HELD "{ .reg .pred p; setp.ne.b32 p, %1, 0; wgmma.mma_async.sync.aligned.m64n"
template <int UNITS, int N> TC_FN void TC_N(wgmma_held)(float (&d)[N / 2], const unsigned (&a)[4], tc_u64 b) {
    int keep = 1;
    if constexpr (UNITS == 1 && N == 64)
        asm volatile(TC_WGMMA_HELD "64k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_64 "}, {%34, %35, %36, %37}, %0, p, 1, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    if constexpr (UNITS == 1 && N == 128)
        asm volatile(TC_WGMMA_HELD "128k16.f32.bf16.bf16 {" TC_WGMMA_NAMES_128 "}, {%66, %67, %68, %69}, %0, p, 1, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    if constexpr (UNITS == 0 && N == 64)
        asm volatile(TC_WGMMA_HELD "64k16.f32.f16.f16 {" TC_WGMMA_NAMES_64 "}, {%34, %35, %36, %37}, %0, p, 1, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
    if constexpr (UNITS == 0 && N == 128)
        asm volatile(TC_WGMMA_HELD "128k16.f32.f16.f16 {" TC_WGMMA_NAMES_128 "}, {%66, %67, %68, %69}, %0, p, 1, 1, 1; }"
                     : "+l"(b), "+r"(keep), TC_WGMMA_32(0), TC_WGMMA_32(32) : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]));
}

// fn: bits_tf32
// The nearest number with 11 leading bits, of two the larger one.
TC_FN unsigned TC_N(bits_tf32)(float f) {
    unsigned b;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(b) : "f"(f));
    return b;
}

// fn: split
// The 11 leading bits of numbers, rounded, and the rest. By the units for integers, or by those for
// floats: both have work.
template <int N> TC_FN void TC_N(split)(const float (&x)[N], unsigned (&lead)[N], unsigned (&rest)[N]) {
    #pragma unroll
    for (int i = 0; i < N; i++) {
        const float far = x[i] * 8193.0f;
        const float y = i % 2 ? far - (far - x[i]) : __uint_as_float((__float_as_uint(x[i]) + 0x1000u) & 0xffffe000u);
        lead[i] = __float_as_uint(y);
        rest[i] = __float_as_uint(x[i] - y);
    }
}

// fn: is_finite
TC_FN int TC_N(is_finite)(float x) { return (__float_as_uint(x) & 0x7f800000u) != 0x7f800000u; }

// fn: place_tile
// Tile t of high x across, in strips of `rows` rows, so that neighbours in time share operands in L2.
template <class I> TC_FN void TC_N(place_tile)(I t, I high, I across, I &m, I &n, I rows = 8) {
    const I strip = t / (rows * across) * rows, left = high - strip, tall = left < rows ? left : rows;
    m = strip + t % (rows * across) % tall;
    n = t % (rows * across) / tall;
}

// fn: swizzle
// Element (row, column) of a tile of 2-byte elements in rows of L: 16-byte chunks change places
// so that 8 rows below each other lie in different banks.
template <int L> TC_FN int TC_N(swizzle)(int row, int column) {
    const int rows = L < 64 ? 64 / L : 1, chunks = L < 64 ? L / 8 : 8;
    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);
}
