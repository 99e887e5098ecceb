// The head of a CUDA file: types, and the macros and functions of ops.def that its kernels use.
// Functions are written once as text over T, for float and double.

static const char *const tc__text_cuda[] = {
    "#define TC_FN static __device__ __forceinline__",
    "#define TC_N(name) tc_##name",
    "typedef unsigned char tc_u8;",
    "typedef signed char tc_i8;",
    "typedef short tc_i16;",
    "typedef unsigned short tc_u16;",
    "typedef int tc_i32;",
    "typedef long long tc_i64;",
    "typedef unsigned long long tc_u64;",
    "",
    "union tc_scalar {",
    "    double f;",
    "    tc_i64 i;",
    "};",
    "",
    "struct tc_state {         // of the program, in the device's memory; its scalars follow",
    "    tc_i64 *flag;          // an index out of range: site + 1, value, limit",
    "    tc_u64 seed, draw;     // of the random numbers",
    "};",
    "",
    "template <int N> struct tc_kargs {",
    "    tc_state *state;",
    "    tc_i64 size[N];        // run-time sizes",
    "    __device__ __forceinline__ const tc_scalar &arg(int i) const { return ((const tc_scalar *)(state + 1))[i]; }",
    "};",
    "",
    "template <class T, int V> struct __align__(sizeof(T) * V < 16 ? sizeof(T) * V : 16) tc_pack {",
    "    T at[V];",
    "};",
    "",
    "// fn: words",
    "// A vector as the words that memory instructions move.",
    "template <class P> union TC_N(words) {",
    "    P v;",
    "    unsigned w[sizeof(P) < 4 ? 1 : sizeof(P) / 4];",
    "    __device__ __forceinline__ TC_N(words)() {}",
    "};",
    "",
    "// fn: load",
    "// A vector of memory that the kernel does not write, as few instructions as its bytes allow.",
    "template <class P> TC_FN P TC_N(load)(const P *p) {",
    "    TC_N(words)<P> u;",
    "    const unsigned *q = (const unsigned *)p;",
    "    #pragma unroll",
    "    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
    "        asm(\"ld.global.nc.v4.b32 {%0, %1, %2, %3}, [%4];\"",
    "            : \"=r\"(u.w[4 * i]), \"=r\"(u.w[4 * i + 1]), \"=r\"(u.w[4 * i + 2]), \"=r\"(u.w[4 * i + 3])",
    "            : \"l\"(q + 4 * i));",
    "    if (sizeof(P) == 8) asm(\"ld.global.nc.v2.b32 {%0, %1}, [%2];\" : \"=r\"(u.w[0]), \"=r\"(u.w[sizeof(P) / 8]) : \"l\"(q));",
    "    if (sizeof(P) == 4) asm(\"ld.global.nc.b32 %0, [%1];\" : \"=r\"(u.w[0]) : \"l\"(q));",
    "    if (sizeof(P) < 4) u.v = *p;",
    "    return u.v;",
    "}",
    "",
    "// fn: load_stream",
    "// The same of what is read once: it takes no room in L1.",
    "template <class P> TC_FN P TC_N(load_stream)(const P *p) {",
    "    TC_N(words)<P> u;",
    "    const unsigned *q = (const unsigned *)p;",
    "    #pragma unroll",
    "    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
    "        asm(\"ld.global.nc.L1::no_allocate.v4.b32 {%0, %1, %2, %3}, [%4];\"",
    "            : \"=r\"(u.w[4 * i]), \"=r\"(u.w[4 * i + 1]), \"=r\"(u.w[4 * i + 2]), \"=r\"(u.w[4 * i + 3])",
    "            : \"l\"(q + 4 * i));",
    "    if (sizeof(P) < 16) u.v = TC_N(load)(p);",
    "    return u.v;",
    "}",
    "",
    "// fn: store",
    "template <class P> TC_FN void TC_N(store)(P *p, const P &v) {",
    "    TC_N(words)<P> u;",
    "    unsigned *q = (unsigned *)p;",
    "    u.v = v;",
    "    #pragma unroll",
    "    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
    "        asm volatile(\"st.global.v4.b32 [%0], {%1, %2, %3, %4};\" ::\"l\"(q + 4 * i),",
    "                     \"r\"(u.w[4 * i]), \"r\"(u.w[4 * i + 1]), \"r\"(u.w[4 * i + 2]), \"r\"(u.w[4 * i + 3])",
    "                     : \"memory\");",
    "    if (sizeof(P) == 8) asm volatile(\"st.global.v2.b32 [%0], {%1, %2};\" ::\"l\"(q), \"r\"(u.w[0]), \"r\"(u.w[sizeof(P) / 8]) : \"memory\");",
    "    if (sizeof(P) < 8) *p = v;",
    "}",
    "",
    "// fn: store_stream",
    "// Past the caches, for a result that is too large to be found there.",
    "template <class P> TC_FN void TC_N(store_stream)(P *p, const P &v) {",
    "    TC_N(words)<P> u;",
    "    unsigned *q = (unsigned *)p;",
    "    u.v = v;",
    "    #pragma unroll",
    "    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
    "        asm volatile(\"st.global.cs.v4.b32 [%0], {%1, %2, %3, %4};\" ::\"l\"(q + 4 * i),",
    "                     \"r\"(u.w[4 * i]), \"r\"(u.w[4 * i + 1]), \"r\"(u.w[4 * i + 2]), \"r\"(u.w[4 * i + 3])",
    "                     : \"memory\");",
    "    if (sizeof(P) < 16) TC_N(store)(p, v);",
    "}",
    "",
    "// fn: splat",
    "template <class T, int V> TC_FN tc_pack<T, V> TC_N(splat)(T x) {",
    "    tc_pack<T, V> v;",
    "    for (int l = 0; l < V; l++) v.at[l] = x;",
    "    return v;",
    "}",
    "",
    "// fn: copy_async16",
    "// Memory to shared memory, without registers; tc_copy_wait_all ends it for the thread that asked.",
    "TC_FN void TC_N(copy_async16)(void *to, const void *from) {",
    "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");",
    "}",
    "",
    "// fn: copy_async8",
    "TC_FN void TC_N(copy_async8)(void *to, const void *from) {",
    "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 8;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");",
    "}",
    "",
    "// fn: copy_async4",
    "TC_FN void TC_N(copy_async4)(void *to, const void *from) {",
    "    asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");",
    "}",
    "",
    "// fn: copy_async",
    "template <class P> TC_FN void TC_N(copy_async)(P *to, const P *from) {",
    "    for (int i = 0; i < (int)sizeof(P) / 16; i++)",
    "        TC_N(copy_async16)((char *)to + 16 * i, (const char *)from + 16 * i);",
    "    if (sizeof(P) == 8) TC_N(copy_async8)(to, from);",
    "    if (sizeof(P) == 4) TC_N(copy_async4)(to, from);",
    "}",
    "",
    "// fn: copy_wait_all",
    "TC_FN void TC_N(copy_wait_all)() { asm volatile(\"cp.async.wait_all;\" ::: \"memory\"); }",
    "",
    "// fn: peek",
    "// What another block has written.",
    "template <class T> TC_FN T TC_N(peek)(const T *p) {",
    "    return *(const volatile T *)p;",
    "}",
    "",
    "// fn: arrives_last",
    "// Whether this block is the last of n that share the ticket: it sees what all of them have written.",
    "// The ticket is 0 again afterwards.",
    "TC_FN int TC_N(arrives_last)(unsigned *ticket, unsigned n) {",
    "    __shared__ unsigned before;",
    "    __threadfence();",
    "    __syncthreads();",
    "    if (threadIdx.x == 0) before = atomicAdd(ticket, 1u);",
    "    __syncthreads();",
    "    const int last = before == n - 1;",
    "    if (last && threadIdx.x == 0) *ticket = 0;",
    "    __threadfence();",
    "    return last;",
    "}",
    "",
    "// fn: of_f16",
    "TC_FN float TC_N(of_f16)(tc_u16 b) {",
    "    float f;",
    "    asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(f) : \"h\"(b));",
    "    return f;",
    "}",
    "",
    "// fn: bits_f16",
    "TC_FN tc_u16 TC_N(bits_f16)(float f) {",
    "    tc_u16 b;",
    "    asm(\"cvt.rn.f16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(f));",
    "    return b;",
    "}",
    "",
    "// fn: of_bf16",
    "TC_FN float TC_N(of_bf16)(tc_u16 b) { return __uint_as_float((unsigned)b << 16); }",
    "",
    "// fn: bits_bf16",
    "TC_FN tc_u16 TC_N(bits_bf16)(float f) {",
    "    tc_u16 b;",
    "    asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(b) : \"f\"(f));",
    "    return b;",
    "}",
    "",
    "// fn: pack_f16",
    "// Two halves in a word, the first in its low part.",
    "TC_FN unsigned TC_N(pack_f16)(float a, float b) {",
    "    unsigned w;",
    "    asm(\"cvt.rn.f16x2.f32 %0, %1, %2;\" : \"=r\"(w) : \"f\"(b), \"f\"(a));",
    "    return w;",
    "}",
    "",
    "// fn: pack_bf16",
    "TC_FN unsigned TC_N(pack_bf16)(float a, float b) {",
    "    unsigned w;",
    "    asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(w) : \"f\"(b), \"f\"(a));",
    "    return w;",
    "}",
    "",
    "// fn: halves_f16",
    "// A vector rounded to 16 bits, two elements at a time.",
    "template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_f16)(const tc_pack<float, V> &x) {",
    "    TC_N(words)<tc_pack<tc_u16, V>> u;",
    "    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_f16)(x.at[2 * l], x.at[2 * l + 1]);",
    "    return u.v;",
    "}",
    "",
    "// fn: halves_bf16",
    "template <int V> TC_FN tc_pack<tc_u16, V> TC_N(halves_bf16)(const tc_pack<float, V> &x) {",
    "    TC_N(words)<tc_pack<tc_u16, V>> u;",
    "    for (int l = 0; l < V / 2; l++) u.w[l] = TC_N(pack_bf16)(x.at[2 * l], x.at[2 * l + 1]);",
    "    return u.v;",
    "}",
    "",
    "// fn: cast_f32_f16",
    "TC_FN float TC_N(cast_f32_f16)(float x) { return TC_N(of_f16)(TC_N(bits_f16)(x)); }",
    "",
    "// fn: cast_f64_f16",
    "TC_FN float TC_N(cast_f64_f16)(double x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
    "",
    "// fn: cast_i32_f16",
    "TC_FN float TC_N(cast_i32_f16)(int x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
    "",
    "// fn: cast_i64_f16",
    "TC_FN float TC_N(cast_i64_f16)(tc_i64 x) { return TC_N(of_f16)(TC_N(bits_f16)((float)x)); }",
    "",
    "// fn: cast_f32_bf16",
    "TC_FN float TC_N(cast_f32_bf16)(float x) { return TC_N(of_bf16)(TC_N(bits_bf16)(x)); }",
    "",
    "// fn: cast_f64_bf16",
    "TC_FN float TC_N(cast_f64_bf16)(double x) { return TC_N(of_bf16)(TC_N(bits_bf16)((float)x)); }",
    "",
    "// fn: cast_i32_bf16",
    "TC_FN float TC_N(cast_i32_bf16)(int x) { return TC_N(of_bf16)(TC_N(bits_bf16)((float)x)); }",
    "",
    "// fn: cast_i64_bf16",
    "TC_FN float TC_N(cast_i64_bf16)(tc_i64 x) { return TC_N(of_bf16)(TC_N(bits_bf16)((float)x)); }",
    "",
    "// fn: floor_div",
    "template <class A, class B> TC_FN auto TC_N(floor_div)(A a, B b) -> decltype(a + b) {",
    "    return a / b - (a % b < 0);",
    "}",
    "",
    "// fn: floor_mod",
    "template <class A, class B> TC_FN auto TC_N(floor_mod)(A a, B b) -> decltype(a + b) {",
    "    return a % b < 0 ? a % b + b : a % b;",
    "}",
    "",
    "// fn: min",
    "template <class A, class B> TC_FN auto TC_N(min)(A a, B b) -> decltype(a + b) {",
    "    return a < b ? a : b;",
    "}",
    "",
    "// fn: max",
    "template <class A, class B> TC_FN auto TC_N(max)(A a, B b) -> decltype(a + b) {",
    "    return a > b ? a : b;",
    "}",
    "",
    "// fn: add_product_f32",
    "TC_FN float TC_N(add_product_f32)(float a, float b, float c) { return fmaf(a, b, c); }",
    "",
    "// fn: add_product_f64",
    "TC_FN double TC_N(add_product_f64)(double a, double b, double c) { return fma(a, b, c); }",
    "",
    "// fn: add_product_i32",
    "TC_FN int TC_N(add_product_i32)(int a, int b, int c) { return (int)((unsigned)a * (unsigned)b + (unsigned)c); }",
    "",
    "// fn: add_product_i64",
    "TC_FN tc_i64 TC_N(add_product_i64)(tc_i64 a, tc_i64 b, tc_i64 c) { return (tc_i64)((tc_u64)a * (tc_u64)b + (tc_u64)c); }",
    "",
    "// fn: place_tile",
    "// Tile t of high x across, in strips of 8 rows, so that neighbours in time share operands in L2.",
    "template <class I> TC_FN void TC_N(place_tile)(I t, I high, I across, I &m, I &n) {",
    "    const I strip = t / (8 * across) * 8, left = high - strip, tall = left < 8 ? left : 8;",
    "    m = strip + t % (8 * across) % tall;",
    "    n = t % (8 * across) / tall;",
    "}",
    "",
    "// fn: swizzle",
    "// Element (row, column) of a tile of 2-byte elements in rows of L: 16-byte chunks change places",
    "// so that 8 rows below each other lie in different banks.",
    "template <int L> TC_FN int TC_N(swizzle)(int row, int column) {",
    "    const int rows = L < 64 ? 64 / L : 1, chunks = L < 64 ? L / 8 : 8;",
    "    return row * L + ((column / 8 ^ row / rows % chunks) * 8 + column % 8);",
    "}",
    "",
    "// fn: ldmatrix4",
    "// Four 8 x 8 matrices of 2-byte elements; lane i gives the address of row i % 8 of matrix i / 8.",
    "TC_FN void TC_N(ldmatrix4)(unsigned (&r)[4], const void *row) {",
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];\"",
    "                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])",
    "                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");",
    "}",
    "",
    "// fn: ldmatrix4_trans",
    "// The same, each matrix transposed.",
    "TC_FN void TC_N(ldmatrix4_trans)(unsigned (&r)[4], const void *row) {",
    "    asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];\"",
    "                 : \"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3])",
    "                 : \"r\"((unsigned)__cvta_generic_to_shared(row)) : \"memory\");",
    "}",
    "",
    "// fn: mma_f16",
    "// d += a * b, 16 x 8 x 16, of a warp.",
    "TC_FN void TC_N(mma_f16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
    "                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
    "                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
    "}",
    "",
    "// fn: mma_bf16",
    "// d += a * b, 16 x 8 x 16, of a warp.",
    "TC_FN void TC_N(mma_bf16)(float (&d)[4], const unsigned (&a)[4], const unsigned (&b)[2]) {",
    "    asm(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};\"",
    "                 : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3])",
    "                 : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));",
    "}",
    "",
    "// fn: copy_async16_if",
    "// Zeros where it is not ok; `global` is not read then.",
    "TC_FN void TC_N(copy_async16_if)(void *shared, const void *global, int ok) {",
    "    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\"",
    "                 :: \"r\"((unsigned)__cvta_generic_to_shared(shared)), \"l\"(global), \"r\"(ok ? 16 : 0) : \"memory\");",
    "}",
    "",
    "// fn: copy_commit",
    "TC_FN void TC_N(copy_commit)() { asm volatile(\"cp.async.commit_group;\" ::: \"memory\"); }",
    "",
    "// fn: copy_wait",
    "// Until at most N of the thread's groups of copies are on their way.",
    "template <int N> TC_FN void TC_N(copy_wait)() {",
    "    asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(N) : \"memory\");",
    "}",
    "",
    "// fn: check",
    "// Index v made safe: negative ones count from the end, others are clamped and "
    "flagged.",
    "TC_FN tc_i64 TC_N(check)(const tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {",
    "    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;",
    "    if ((tc_u64)w < (tc_u64)limit) return w;",
    "    a->flag[1] = v;",
    "    a->flag[2] = limit;",
    "    a->flag[0] = site + 1;",
    "    return w < 0 || limit <= 0 ? 0 : limit - 1;",
    "}",
    "",
};

// Math whose text is not the same for float and double, and the random numbers.
static const char *const tc__text_cuda_math[] = {
    "// fn: larger_f32",
    "// NaN wins; one instruction.",
    "TC_FN float TC_N(larger_f32)(float x, float y) {",
    "    float z;",
    "    asm(\"max.NaN.f32 %0, %1, %2;\" : \"=f\"(z) : \"f\"(x), \"f\"(y));",
    "    return z;",
    "}",
    "",
    "// fn: larger_f64",
    "TC_FN double TC_N(larger_f64)(double x, double y) { return x != x ? x : x > y ? x : y; }",
    "",
    "// fn: larger_i32",
    "TC_FN int TC_N(larger_i32)(int x, int y) { return x > y ? x : y; }",
    "",
    "// fn: larger_i64",
    "TC_FN tc_i64 TC_N(larger_i64)(tc_i64 x, tc_i64 y) { return x > y ? x : y; }",
    "",
    "// fn: smaller_f32",
    "// NaN wins; one instruction.",
    "TC_FN float TC_N(smaller_f32)(float x, float y) {",
    "    float z;",
    "    asm(\"min.NaN.f32 %0, %1, %2;\" : \"=f\"(z) : \"f\"(x), \"f\"(y));",
    "    return z;",
    "}",
    "",
    "// fn: smaller_f64",
    "TC_FN double TC_N(smaller_f64)(double x, double y) { return x != x ? x : x < y ? x : y; }",
    "",
    "// fn: smaller_i32",
    "TC_FN int TC_N(smaller_i32)(int x, int y) { return x < y ? x : y; }",
    "",
    "// fn: smaller_i64",
    "TC_FN tc_i64 TC_N(smaller_i64)(tc_i64 x, tc_i64 y) { return x < y ? x : y; }",
    "",
    "// fn: rcp",
    "// 1 / x within 1 ulp; results below 2^-126 are 0.",
    "TC_FN float TC_N(rcp)(float x) {",
    "    float y;",
    "    asm(\"rcp.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
    "    return y;",
    "}",
    "",
    "// fn: ex2",
    "// 2 ** x within 2 ulp.",
    "TC_FN float TC_N(ex2)(float x) {",
    "    float y;",
    "    asm(\"ex2.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
    "    return y;",
    "}",
    "",
    "// fn: lg2",
    "// log2(x), absolute error 2^-22 where the result is near 0.",
    "TC_FN float TC_N(lg2)(float x) {",
    "    float y;",
    "    asm(\"lg2.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
    "    return y;",
    "}",
    "",
    "// fn: sigmoid_f32",
    "// 1 / (1 + e^-x): 2 ulp of the exponential, 1 of the sum and the reciprocal.",
    "TC_FN float TC_N(sigmoid_f32)(float x) { return TC_N(rcp)(1.0f + expf(-x)); }",
    "",
    "// fn: tanh_f32",
    "// 1 - 2 / (e^2|x| + 1), and a polynomial where that cancels: both within 2 ulp.",
    "TC_FN float TC_N(tanh_f32)(float x) {",
    "    const float a = fabsf(x), s = x * x;",
    "    const float big = fmaf(-2.0f, TC_N(rcp)(expf(a + a) + 1.0f), 1.0f);",
    "    float p = fmaf(-0.00589514058f, s, 0.0207959563f);",
    "    p = fmaf(p, s, -0.0537838265f);",
    "    p = fmaf(p, s, 0.133319244f);",
    "    p = fmaf(p, s, -0.333332986f);",
    "    return a < 0.6f ? fmaf(p * s, x, x) : copysignf(big, x);",
    "}",
    "",
    "// fn: silu_f32",
    "TC_FN float TC_N(silu_f32)(float x) { return x * TC_N(sigmoid_f32)(x); }",
    "",
    "// fn: gelu_tanh_f32",
    "// x (1 + tanh u) / 2 = x / (1 + e^-2u): nothing cancels for negative x.",
    "TC_FN float TC_N(gelu_tanh_f32)(float x) {",
    "    const float u = x * fmaf(0.0713548163f, x * x, 1.59576912f);",
    "    return x * TC_N(rcp)(1.0f + expf(-u));",
    "}",
    "",
    "// fn: trig_big",
    "// x = (4 m + q) pi/2 + r for finite |x| >= 2^16: 24 bits of x times the 96 bits of 2/pi that matter.",
    "static __device__ __noinline__ int TC_N(trig_big)(float x, float &r) {",
    "    static const __device__ unsigned two_over_pi[8] = {0,           0xa2f9836eu, 0x4e441529u, 0xfc2757d1u,",
    "                                                       0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xfe5163abu};",
    "    const unsigned b = __float_as_uint(x), bit = ((b >> 23) & 255) - 120, word = bit / 32, shift = bit % 32;",
    "    const tc_u64 m = (b & 0x7fffffu) | 0x800000u;",
    "    unsigned w[3];",
    "    #pragma unroll",
    "    for (int i = 0; i < 3; i++) {",
    "        const tc_u64 two = (tc_u64)two_over_pi[word + i] << 32 | two_over_pi[word + i + 1];",
    "        w[i] = (unsigned)((two << shift) >> 32);",
    "    }",
    "    const tc_u64 p = ((m * w[0]) << 32) + m * w[1] + ((m * w[2]) >> 32);",
    "    const tc_u64 q = (p + 0x2000000000000000ull) >> 62;",
    "    const double d = (double)(tc_i64)(p - (q << 62)) * 3.4061215800865545e-19;",
    "    r = x < 0 ? -(float)d : (float)d;",
    "    return x < 0 ? -(int)q : (int)q;",
    "}",
    "",
    "// fn: trig_reduce",
    "// x = (4 m + q) pi/2 + r with |r| <= pi/4; the low two bits of the result are q.",
    "TC_FN int TC_N(trig_reduce)(float x, float &r) {",
    "    const float t = fmaf(x, 0.636619747f, 12582912.0f), n = t - 12582912.0f;",
    "    r = fmaf(n, -1.57079637f, x);",
    "    r = fmaf(n, 4.37113883e-08f, r);",
    "    r = fmaf(n, 1.71512451e-15f, r);",
    "    if (fabsf(x) > 1e5f && fabsf(x) < __int_as_float(0x7f800000)) return TC_N(trig_big)(x, r);",
    "    return __float_as_int(t);",
    "}",
    "",
    "// fn: sin_poly_f32",
    "// sin(r) for |r| <= pi/4",
    "TC_FN float TC_N(sin_poly_f32)(float r) {",
    "    const float z = r * r;",
    "    float p = fmaf(2.83250984e-06f, z, -0.000198530644f);",
    "    p = fmaf(p, z, 0.0083333794f);",
    "    p = fmaf(p, z, -0.166666672f);",
    "    return fmaf(r * z, p, r);",
    "}",
    "",
    "// fn: cos_poly_f32",
    "// cos(r) for |r| <= pi/4",
    "TC_FN float TC_N(cos_poly_f32)(float r) {",
    "    const float z = r * r;",
    "    float p = fmaf(2.44323219e-05f, z, -0.00138873095f);",
    "    p = fmaf(p, z, 0.0416666456f);",
    "    return fmaf(z * z, p, fmaf(z, -0.5f, 1.0f));",
    "}",
    "",
    "// fn: sin_f32",
    "TC_FN float TC_N(sin_f32)(float x) {",
    "    float r;",
    "    const int q = TC_N(trig_reduce)(x, r);",
    "    const float y = q & 1 ? TC_N(cos_poly_f32)(r) : TC_N(sin_poly_f32)(r);",
    "    return x == 0 ? x : __int_as_float(__float_as_int(y) ^ ((q & 2) << 30));",
    "}",
    "",
    "// fn: cos_f32",
    "TC_FN float TC_N(cos_f32)(float x) {",
    "    float r;",
    "    const int q = TC_N(trig_reduce)(x, r);",
    "    const float y = q & 1 ? TC_N(sin_poly_f32)(r) : TC_N(cos_poly_f32)(r);",
    "    return __int_as_float(__float_as_int(y) ^ (((q + 1) & 2) << 30));",
    "}",
    "",
    "// fn: tan_f32",
    "TC_FN float TC_N(tan_f32)(float x) {",
    "    float r;",
    "    const int q = TC_N(trig_reduce)(x, r);",
    "    const float s = TC_N(sin_poly_f32)(r), c = TC_N(cos_poly_f32)(r);",
    "    return x == 0 ? x : q & 1 ? -c / s : s / c;",
    "}",
    "",
    "// fn: exp_half",
    "TC_FN float TC_N(exp_half)(float x) { return TC_N(ex2)(x * 1.44269502f); }",
    "",
    "// fn: exp2_half",
    "TC_FN float TC_N(exp2_half)(float x) { return TC_N(ex2)(x); }",
    "",
    "// fn: log_half",
    "// Near 1 the logarithm of the unit is not accurate.",
    "TC_FN float TC_N(log_half)(float x) {",
    "    const float d = x - 1.0f;",
    "    return fabsf(d) < 0.0078125f ? d * fmaf(d, fmaf(d, 0.333333343f, -0.5f), 1.0f) : TC_N(lg2)(x) * 0.693147182f;",
    "}",
    "",
    "// fn: log2_half",
    "TC_FN float TC_N(log2_half)(float x) {",
    "    const float d = x - 1.0f;",
    "    return fabsf(d) < 0.0078125f ? d * fmaf(d, fmaf(d, 0.480898350f, -0.721347511f), 1.44269502f) : TC_N(lg2)(x);",
    "}",
    "",
    "// fn: turn_half",
    "// The odd polynomial of sin on [-pi/2, pi/2], error 1e-6; q is odd where the sign turns.",
    "TC_FN float TC_N(turn_half)(float r, int q) {",
    "    const float z = r * r;",
    "    float p = fmaf(-0.000185009f, z, 0.00831199f);",
    "    p = fmaf(p, z, -0.166655f);",
    "    return __int_as_float(__float_as_int(fmaf(r * z, p, r)) ^ (q << 31));",
    "}",
    "",
    "// fn: sin_half",
    "TC_FN float TC_N(sin_half)(float x) {",
    "    if (fabsf(x) > 1e5f) return TC_N(sin_f32)(x);",
    "    const float t = fmaf(x, 0.318309873f, 12582912.0f), n = t - 12582912.0f;",
    "    return TC_N(turn_half)(fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)), __float_as_int(t));",
    "}",
    "",
    "// fn: cos_half",
    "// cos(x) = sin(x + pi/2), with the shift in the multiple of pi.",
    "TC_FN float TC_N(cos_half)(float x) {",
    "    if (fabsf(x) > 1e5f) return TC_N(cos_f32)(x);",
    "    const float t = fmaf(x, 0.318309873f, 0.5f) + 12582912.0f, n = t - 12582912.0f - 0.5f;",
    "    return TC_N(turn_half)(fmaf(n, 8.74227766e-08f, fmaf(n, -3.14159274f, x)), __float_as_int(t));",
    "}",
    "",
    "// fn: tanh_half",
    "// 1 - 2 / (e^2x + 1), and where that cancels the beginning of the series.",
    "TC_FN float TC_N(tanh_half)(float x) {",
    "    const float y = fmaf(-2.0f, TC_N(rcp)(TC_N(ex2)(x * 2.88539004f) + 1.0f), 1.0f);",
    "    return fabsf(x) < 0.0625f ? x * fmaf(x * x, -0.333333343f, 1.0f) : y;",
    "}",
    "",
    "// fn: tanh_bf16",
    "// Within 2^-11.",
    "TC_FN float TC_N(tanh_bf16)(float x) {",
    "    float y;",
    "    asm(\"tanh.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
    "    return y;",
    "}",
    "",
    "// fn: sigmoid_half",
    "TC_FN float TC_N(sigmoid_half)(float x) { return TC_N(rcp)(1.0f + TC_N(ex2)(x * -1.44269502f)); }",
    "",
    "// fn: silu_half",
    "TC_FN float TC_N(silu_half)(float x) { return x * TC_N(sigmoid_half)(x); }",
    "",
    "// fn: gelu_tanh_half",
    "TC_FN float TC_N(gelu_tanh_half)(float x) {",
    "    const float u = x * fmaf(0.0713548163f, x * x, 1.59576912f);",
    "    return x * TC_N(sigmoid_half)(u);",
    "}",
    "",
    "// fn: div_half",
    "TC_FN float TC_N(div_half)(float a, float b) {",
    "    float y;",
    "    asm(\"div.full.f32 %0, %1, %2;\" : \"=f\"(y) : \"f\"(a), \"f\"(b));",
    "    return y;",
    "}",
    "",
    "// fn: rcp_half",
    "TC_FN float TC_N(rcp_half)(float x) { return TC_N(rcp)(x); }",
    "",
    "// fn: sqrt_half",
    "TC_FN float TC_N(sqrt_half)(float x) {",
    "    float y;",
    "    asm(\"sqrt.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
    "    return y;",
    "}",
    "",
    "// fn: rsqrt_half",
    "TC_FN float TC_N(rsqrt_half)(float x) {",
    "    float y;",
    "    asm(\"rsqrt.approx.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x));",
    "    return y;",
    "}",
    "",
    "// fn: power",
    "// Wraps. A negative exponent gives 1 for 1, +-1 for -1, else 0.",
    "template <class T, class U> TC_FN T TC_N(power)(T a, T n) {",
    "    if (n < 0) return a == 1 ? 1 : a == -1 ? (n & 1 ? -1 : 1) : 0;",
    "    U y = 1, base = (U)a;",
    "    #pragma unroll 1",
    "    for (U e = (U)n; e; e >>= 1) {",
    "        if (e & 1) y *= base;",
    "        base *= base;",
    "    }",
    "    return (T)y;",
    "}",
    "",
    "// fn: floor_quotient",
    "// x / 0 = 0, and the least number by -1 is itself.",
    "template <class T, class U> TC_FN T TC_N(floor_quotient)(T x, T y) {",
    "    if (y == 0) return 0;",
    "    if (y == -1) return (T)((U)0 - (U)x);",
    "    const T q = x / y, m = x % y;",
    "    return m != 0 && (m < 0) != (y < 0) ? q - 1 : q;",
    "}",
    "",
    "// fn: draw",
    "// Four random words.",
    "struct TC_N(draw) {",
    "    unsigned w[4];",
    "};",
    "",
    "// fn: philox",
    "// Philox4x32-10 with the key seed; the index of the element and draw are the counter.",
    "TC_FN TC_N(draw) TC_N(philox)(tc_i64 i, tc_u64 draw, tc_u64 seed) {",
    "    unsigned a = (unsigned)i, b = (unsigned)((tc_u64)i >> 32), c = (unsigned)draw, d = (unsigned)(draw >> 32);",
    "    unsigned k0 = (unsigned)seed, k1 = (unsigned)(seed >> 32);",
    "    #pragma unroll",
    "    for (int n = 0; n < 10; n++) {",
    "        const unsigned h0 = __umulhi(a, 0xd2511f53u), h1 = __umulhi(c, 0xcd9e8d57u);",
    "        const unsigned l0 = a * 0xd2511f53u, l1 = c * 0xcd9e8d57u;",
    "        a = h1 ^ b ^ k0;",
    "        b = l1;",
    "        c = h0 ^ d ^ k1;",
    "        d = l0;",
    "        k0 += 0x9e3779b9u;",
    "        k1 += 0xbb67ae85u;",
    "    }",
    "    return {{a, b, c, d}};",
    "}",
    "",
    "// fn: uniform_f32",
    "// [0, 1) from one word, 24 bits.",
    "TC_FN float TC_N(uniform_f32)(const TC_N(draw) &x) { return (float)(x.w[0] >> 8) * 5.96046448e-08f; }",
    "",
    "// fn: normal_f32",
    "// Box-Muller: sqrt(-2 log u) cos(2 pi v), u in (0, 1], v in [0, 1).",
    "TC_FN float TC_N(normal_f32)(const TC_N(draw) &x) {",
    "    const float u = ((float)(x.w[0] >> 8) + 1.0f) * 5.96046448e-08f;",
    "    const float v = (float)(x.w[1] >> 8) * 2.38418579e-07f, t = v + 12582912.0f;",
    "    const float r = (v - (t - 12582912.0f)) * 1.57079637f;",
    "    const int q = __float_as_int(t);",
    "    const float y = q & 1 ? TC_N(sin_poly_f32)(r) : TC_N(cos_poly_f32)(r);",
    "    return sqrtf(logf(u) * -2.0f) * __int_as_float(__float_as_int(y) ^ (((q + 1) & 2) << 30));",
    "}",
    "",
    "// fn: uniform_f64",
    "// [0, 1) from two words, 53 bits.",
    "TC_FN double TC_N(uniform_f64)(const TC_N(draw) &x) {",
    "    return ((double)(x.w[0] >> 5) * 67108864.0 + (double)(x.w[1] >> 6)) * 1.1102230246251565e-16;",
    "}",
    "",
    "// fn: normal_f64",
    "TC_FN double TC_N(normal_f64)(const TC_N(draw) &x) {",
    "    const double u = TC_N(uniform_f64)(x) + 1.1102230246251565e-16;",
    "    const double v = ((double)(x.w[2] >> 5) * 67108864.0 + (double)(x.w[3] >> 6)) * 1.1102230246251565e-16;",
    "    return sqrt(log(u) * -2.0) * cospi(2.0 * v);",
    "}",
    "",
};

// Macros of ops.def for each class: T the type, U the unsigned type that arithmetic wraps
// in.
static const char *const tc__text_cuda_class[] = {
    "#define TC_ADD_@(a, b) ((T)((U)(a) + (U)(b)))",
    "#define TC_SUB_@(a, b) ((T)((U)(a) - (U)(b)))",
    "#define TC_MUL_@(a, b) ((T)((U)(a) * (U)(b)))",
    "#define TC_NEG_@(a) ((T)((U)0 - (U)(a)))",
    "#define TC_SEL_@(m, a, b) ((m) ? (a) : (b))",
    "#define TC_MAX_@(a, b) ((a) > (b) ? (a) : (b))",
    "#define TC_MIN_@(a, b) ((a) < (b) ? (a) : (b))",
    "#define TC_LT_@(a, b) ((a) < (b))",
    "#define TC_LE_@(a, b) ((a) <= (b))",
    "#define TC_GT_@(a, b) ((a) > (b))",
    "#define TC_GE_@(a, b) ((a) >= (b))",
    "#define TC_EQ_@(a, b) ((a) == (b))",
    "#define TC_NE_@(a, b) ((a) != (b))",
    "#define TC_M_@(b) (b)",
    "#define TC_B_@(m) (m)",
};

// Functions of a class: the name in ops.def and its body over x, y, z; T is the type and U the unsigned
// one that arithmetic of integers wraps in, # is the suffix of the CUDA function (f or nothing), @ the
// class. What has a text of its own for float above is DOUBLE here.
enum { TC__CUDA_BOTH, TC__CUDA_DOUBLE, TC__CUDA_INTS };

static const struct {
    const char *name, *body;
    int classes;
} tc__cuda_functions[] = {
    {"exp", "exp#(x)", TC__CUDA_BOTH},
    {"exp2", "exp2#(x)", TC__CUDA_BOTH},
    {"expm1", "expm1#(x)", TC__CUDA_BOTH},
    {"log", "log#(x)", TC__CUDA_BOTH},
    {"log2", "log2#(x)", TC__CUDA_BOTH},
    {"log10", "log10#(x)", TC__CUDA_BOTH},
    {"log1p", "log1p#(x)", TC__CUDA_BOTH},
    {"sin", "sin#(x)", TC__CUDA_DOUBLE},
    {"cos", "cos#(x)", TC__CUDA_DOUBLE},
    {"tan", "tan#(x)", TC__CUDA_DOUBLE},
    {"asin", "asin#(x)", TC__CUDA_BOTH},
    {"acos", "acos#(x)", TC__CUDA_BOTH},
    {"atan", "atan#(x)", TC__CUDA_BOTH},
    {"sinh", "sinh#(x)", TC__CUDA_BOTH},
    {"cosh", "cosh#(x)", TC__CUDA_BOTH},
    {"tanh", "tanh#(x)", TC__CUDA_DOUBLE},
    {"erf", "erf#(x)", TC__CUDA_BOTH},
    {"floor", "floor#(x)", TC__CUDA_BOTH},
    {"ceil", "ceil#(x)", TC__CUDA_BOTH},
    {"trunc", "trunc#(x)", TC__CUDA_BOTH},
    {"round", "rint#(x)", TC__CUDA_BOTH},
    {"abs", "fabs#(x)", TC__CUDA_BOTH},
    {"sqrt", "sqrt#(x)", TC__CUDA_BOTH},
    {"rsqrt", "(T)1 / sqrt#(x)", TC__CUDA_BOTH},
    {"sign", "x > 0 ? (T)1 : x < 0 ? (T)-1 : x", TC__CUDA_BOTH},
    {"sigmoid", "(T)1 / ((T)1 + exp#(-x))", TC__CUDA_DOUBLE},
    {"silu", "x / ((T)1 + exp#(-x))", TC__CUDA_DOUBLE},
    {"gelu", "x * (T)0.5 * erfc#(x * (T)-0.70710678118654752)", TC__CUDA_BOTH},
    {"gelu_tanh",
     "x * (T)0.5 * ((T)1 + tanh#((T)0.79788456080286536 * (x + (T)0.044715 * x * x * x)))",
     TC__CUDA_DOUBLE},
    {"softplus", "fmax#(x, (T)0) + log1p#(exp#(-fabs#(x)))", TC__CUDA_BOTH},
    {"pow", "pow#(x, y)", TC__CUDA_BOTH},
    {"atan2", "atan2#(x, y)", TC__CUDA_BOTH},
    {"fmod", "fmod#(x, y)", TC__CUDA_BOTH},
    {"remainder", "tc_wrap_@(fmod#(x, y), y)", TC__CUDA_BOTH},
    {"wrap", "x != 0 && (x < 0) != (y < 0) ? x + y : x", TC__CUDA_BOTH},
    {"fma", "fma#(x, y, z)", TC__CUDA_BOTH},
    {"abs", "x < 0 ? (T)((U)0 - (U)x) : x", TC__CUDA_INTS},
    {"sign", "(x > 0) - (x < 0)", TC__CUDA_INTS},
    {"shl",
     "y < 0 || y > (T)(8 * sizeof(T) - 1) ? 0 : (T)((U)x << (y & (T)(8 * sizeof(T) - 1)))",
     TC__CUDA_INTS},
    {"shr", "x >> (y < 0 || y > (T)(8 * sizeof(T) - 1) ? (T)(8 * sizeof(T) - 1) : y)",
     TC__CUDA_INTS},
    {"pow", "tc_power<T, U>(x, y)", TC__CUDA_INTS},
    {"remainder", "tc_wrap_@(tc_fmod_@(x, y), y)", TC__CUDA_INTS},
    {"fmod", "y == 0 || y == -1 ? 0 : x % y", TC__CUDA_INTS},
    {"floor_divide", "tc_floor_quotient<T, U>(x, y)", TC__CUDA_INTS},
    {"wrap", "x != 0 && (x < 0) != (y < 0) ? x + y : x", TC__CUDA_INTS}};

// Conversions saturate and take NaN to 0 already, but for 64 bits and narrow integers.
static const char *tc__cuda_cast(int from, int to) {
    int of_float = tc__is_float(from);
    switch (to) {
    case TC_BOOL: return "x != 0";
    case TC_U8: return of_float ? "x > 0 ? x < 255 ? (int)x : 255 : 0" : "(int)(tc_u8)x";
    case TC_I8:
        return of_float ? "x > -128 ? x < 127 ? (int)x : 127 : x < 0 ? -128 : 0"
                        : "(int)(tc_i8)x";
    case TC_I16:
        return of_float ? "x > -32768 ? x < 32767 ? (int)x : 32767 : x < 0 ? -32768 : 0"
                        : "(int)(tc_i16)x";
    case TC_I64: return of_float ? "x != x ? 0 : (tc_i64)x" : "(T)x";
    default: return "(T)x";
    }
}

static void tc__put_pattern(tc__text *out, const char *s, const char *cls,
                            const char *suffix) {
    for (; *s; s++) {
        if (*s == '@')
            tc__put(out, "%s", cls);
        else if (*s == '#')
            tc__put(out, "%s", suffix);
        else
            tc__put_raw(out, s, 1);
    }
}

static int tc__pattern_names(const char *s, char letter) {
    for (const char *at = s; *at; at++)
        if (*at == letter && !tc__is_word(at[1]) && (at == s || !tc__is_word(at[-1])))
            return 1;
    return 0;
}

// A function of x, y, z as far as its body names them; types are names inside it, for short text.
static void tc__cuda_function(tc__text *out, const char *name, const char *body,
                              const char *cls, const char *type, const char *argument,
                              const char *suffix) {
    tc__put(out, "TC_FN %s tc_%s(%s x", type, name, argument);
    if (tc__pattern_names(body, 'y')) tc__put(out, ", %s y", type);
    if (tc__pattern_names(body, 'z')) tc__put(out, ", %s z", type);
    tc__put(out, ") {\n    typedef %s T;\n", type);
    if (tc__pattern_names(body, 'U'))
        tc__put(out, "    typedef %s U;\n", *type == 'i' ? "unsigned" : "tc_u64");
    tc__put(out, "    return (T)(");
    tc__put_pattern(out, body, cls, suffix);
    tc__put(out, ");\n}\n\n");
}

static int tc__uses_word(const tc__text *kernels, const char *name) {
    char word[64];
    snprintf(word, sizeof word, "tc_%s", name);
    return tc__c_mentions(kernels, word);
}

// Appends the macros among `lines` that kernels or functions use.
static void tc__cuda_put_used(tc__text *out, const char *lines, const tc__text *kernels,
                              const tc__text *functions) {
    const char *s = lines, *end;
    char name[64];
    for (; (end = strchr(s, '\n')) != NULL; s = end + 1) {
        const char *word = s + strlen("#define ");
        snprintf(name, sizeof name, "%.*s", (int)strcspn(word, "("), word);
        if (tc__c_mentions(kernels, name) || tc__c_mentions(functions, name))
            tc__put_raw(out, s, (size_t)(end - s) + 1);
    }
}

static void tc__cuda_macros(tc__text *out) {
    static const char *const types[TC__CLASSES][2] = {{"float", "float"},
                                                      {"double", "double"},
                                                      {"int", "unsigned"},
                                                      {"tc_i64", "tc_u64"}};
    for (int cls = 0; cls < TC__CLASSES; cls++) {
        for (size_t i = 0; i < TC__COUNT(tc__text_cuda_class); i++) {
            for (const char *s = tc__text_cuda_class[i]; *s; s++) {
                if (*s == '@')
                    tc__put(out, "%s", tc__class_names[cls]);
                else if (s[0] == '(' && (s[1] == 'T' || s[1] == 'U') && s[2] == ')') {
                    tc__put(out, "(%s)", types[cls][s[1] == 'U']);
                    s += 2;
                } else
                    tc__put_raw(out, s, 1);
            }
            tc__put(out, "\n");
        }
    }
    tc__put(out,
            "#define TC_NOT(m) (!(m))\n#define TC_SQRT_f32(x) sqrtf(x)\n#define "
            "TC_SQRT_f64(x) sqrt(x)\n"
            "#define TC_FMA_f32(a, b, c) fmaf(a, b, c)\n#define TC_FMA_f64(a, b, c) ((a) * "
            "(b) + (c))\n");
}

// Whether the kernels, or functions of the class that are already written, use the function. Those
// that others use stand behind them in the table, and are written first.
static int tc__cuda_uses(const tc__text *out, const tc__text *kernels, const char *name) {
    return tc__uses_word(kernels, name) || tc__uses_word(out, name);
}

static void tc__cuda_class_math(tc__text *out, const tc__text *kernels, tc__class cls) {
    const char *type = tc__dialect_cuda.reg[cls];
    int whole = cls == TC__CLASS_i32 || cls == TC__CLASS_i64;
    tc__text used;
    char name[64];
    tc__text_init(&used, out->ctx);
    for (size_t i = 0; i < TC__COUNT(tc__cuda_functions); i++) {
        snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i].name,
                 tc__class_names[cls]);
        if ((tc__cuda_functions[i].classes == TC__CUDA_INTS) != whole) continue;
        if (tc__cuda_functions[i].classes == TC__CUDA_DOUBLE && cls != TC__CLASS_f64)
            continue;
        if (!tc__cuda_uses(&used, kernels, name)) continue;
        tc__put_pattern(&used, tc__cuda_functions[i].body, tc__class_names[cls], "");
        tc__put(&used, "\n");
    }
    for (size_t i = TC__COUNT(tc__cuda_functions); i-- > 0;) {
        snprintf(name, sizeof name, "%s_%s", tc__cuda_functions[i].name,
                 tc__class_names[cls]);
        if ((tc__cuda_functions[i].classes == TC__CUDA_INTS) != whole) continue;
        if (tc__cuda_functions[i].classes == TC__CUDA_DOUBLE && cls != TC__CLASS_f64)
            continue;
        if (tc__cuda_uses(&used, kernels, name))
            tc__cuda_function(out, name, tc__cuda_functions[i].body, tc__class_names[cls],
                              type, type, cls == TC__CLASS_f32 ? "f" : "");
    }
    tc__text_free(&used);
}

static void tc__cuda_math(tc__text *out, const tc__text *kernels) {
    char name[64];
    for (int cls = 0; cls < TC__CLASSES; cls++)
        tc__cuda_class_math(out, kernels, (tc__class)cls);
    for (int from = 0; from < TC_DTYPE_COUNT; from++) {
        for (int to = 0; to < TC_DTYPE_COUNT; to++) {
            snprintf(name, sizeof name, "cast_%s_%s", tc__cast_from(from),
                     tc__cast_to(from, to));
            int first = from == TC_BOOL || tc__is_own_class(from);
            int made = tc__is_half(to) || (from == TC_BOOL && !tc__is_own_class(to));
            if (first && !made && tc__uses_word(kernels, name))
                tc__cuda_function(out, name, tc__cuda_cast(from, to), "",
                                  tc__dialect_cuda.reg[tc__class_of(to)],
                                  tc__dialect_cuda.reg[tc__class_of(from)], "");
        }
    }
}

// Appends the head of a CUDA file that holds the kernels of `groups`. 1, or 0 = reported.
TC__UNUSED static int tc__print_cuda_prelude(tc__text *out, const tc__group *const *groups,
                                             int count) {
    static const tc__prelude_text texts[] = {
        {tc__text_cuda, (uint32_t)TC__COUNT(tc__text_cuda)},
        {tc__text_cuda_math, (uint32_t)TC__COUNT(tc__text_cuda_math)},
        {tc__text_cuda_divide, (uint32_t)TC__COUNT(tc__text_cuda_divide)},
        {tc__text_cuda_integers, (uint32_t)TC__COUNT(tc__text_cuda_integers)},
        {tc__text_cuda_rows, (uint32_t)TC__COUNT(tc__text_cuda_rows)}};
    tc__prelude q;
    tc__text kernels, steps, functions, macros;
    const tc__text *all[2];
    all[0] = &kernels, all[1] = &functions;
    tc__text_init(&kernels, out->ctx);
    tc__text_init(&steps, out->ctx);
    tc__text_init(&functions, out->ctx);
    tc__text_init(&macros, out->ctx);
    tc__prelude_open(&q, out->ctx, texts, TC__COUNT(texts));
    int ok = 1;
    for (int i = 0; i < count && ok; i++)
        ok = tc__print_kernel(&kernels, groups[i], &tc__dialect_cuda, "kernel");
    ok = ok && tc__put_monoids(&steps, &tc__dialect_cuda, groups, count);
    if (ok) tc__cuda_math(&functions, &kernels);
    ok = ok && tc__prelude_mark(&q, all, 2, &steps);
    tc__put(
        out,
        "// Kernels made by tcompile, for NVRTC: --gpu-architecture=sm_90a -fmad=false\n");
    if (ok) tc__put_sections(out, &q);
    tc__put_raw(&functions, steps.at, steps.size);
    tc__cuda_macros(&macros);
    ok = ok && !kernels.failed && !steps.failed && !functions.failed && !macros.failed;
    if (ok) tc__cuda_put_used(out, macros.at, &kernels, &functions);
    if (ok && functions.size) tc__put(out, "\n");
    if (ok) tc__put_raw(out, functions.at, functions.size);
    tc__prelude_close(&q);
    tc__text_free(&kernels);
    tc__text_free(&steps);
    tc__text_free(&functions);
    tc__text_free(&macros);
    return ok && !out->failed;
}
