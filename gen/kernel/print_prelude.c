// The head of an emitted translation unit: types of the ABI, cpu/vector.h, and of
// cpu/math.h (both without their comments) only the functions that the kernels behind it use.
//
// A function stands in the texts from its "// fn: name" line to the "}" that closes it.
// Which are used is read off the printed kernels: every word tc_name there, then, from the
// last function to the first, every TC_N(name) in the ones kept. Lines outside functions
// are always kept.

#define TC__AS_TEXT      1
#define TC__LOOPS_SCALAR 0
#define TC__LOOPS_64     0
static const char *const tc__text_cpu[] = {
#include "exec/interp_set.c"
};
#undef TC__AS_TEXT
#undef TC__LOOPS_SCALAR
#undef TC__LOOPS_64

// What kernels need beside arithmetic, in the same form.
static const char *const tc__text_kernel[] = {
    "// fn: floor_div",
    "// Quotient rounded down; b > 0.",
    "TC_FN tc_i64 TC_N(floor_div)(tc_i64 a, tc_i64 b) {",
    "    return a / b - (a % b < 0);",
    "}",
    "",
    "// fn: floor_mod",
    "TC_FN tc_i64 TC_N(floor_mod)(tc_i64 a, tc_i64 b) {",
    "    const tc_i64 m = a % b;",
    "    return m < 0 ? m + b : m;",
    "}",
    "",
    "// fn: min",
    "TC_FN tc_i64 TC_N(min)(tc_i64 a, tc_i64 b) { return a < b ? a : b; }",
    "",
    "// fn: max",
    "TC_FN tc_i64 TC_N(max)(tc_i64 a, tc_i64 b) { return a > b ? a : b; }",
    "",
    "// fn: inside",
    "// The lanes l with 0 <= e + l < limit.",
    "TC_FN tc_vi TC_N(inside)(tc_i64 e, tc_i64 limit) {",
    "    const tc_i64 low = TC_N(min)(TC_N(max)(-e, 0), TC_W);",
    "    const tc_i64 high = TC_N(min)(TC_N(max)(limit - e, 0), TC_W);",
    "    return TC_N(lanes)((int)high) & ~TC_N(lanes)((int)low);",
    "}",
    "",
    "// fn: even_f32",
    "// Every second of 2 * W - 1 elements: a has the first W, b the last W.",
    "TC_FN TC_N(pf) TC_N(even_f32)(TC_N(pf) a, TC_N(pf) b) {",
    "#if defined(__clang__) || __GNUC__ >= 12",
    "#define TC_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)",
    "#else",
    "#define TC_OF(a, b, ...) __builtin_shuffle(a, b, __extension__(TC_N(pi)){__VA_ARGS__})",
    "#endif",
    "#if TC_W / TC_P32 == 16",
    "    return TC_OF(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 17, 19, 21, 23, 25, 27, 29, 31);",
    "#elif TC_W / TC_P32 == 8",
    "    return TC_OF(a, b, 0, 2, 4, 6, 9, 11, 13, 15);",
    "#else",
    "    return TC_OF(a, b, 0, 2, 5, 7);",
    "#endif",
    "}",
    "",
    "// fn: ld2_f32",
    "// p[0], p[2], ..., and nothing behind the last of them is read.",
    "TC_FN tc_vf TC_N(ld2_f32)(const float *p) {",
    "    enum { part = TC_W / TC_P32 };",
    "    TC_N(uf) u;",
    "    for (int i = 0; i < TC_P32; i++, p += 2 * part)",
    "        u.part[i] = TC_N(even_f32)(*(const TC_N(mf) *)p, *(const TC_N(mf) *)(p + part - 1));",
    "    return u.all;",
    "}",
    "",
    "// fn: ld2n_f32",
    "// The first n of them.",
    "TC_FN tc_vf TC_N(ld2n_f32)(const float *p, int n) {",
    "    TC_N(uf) u;",
    "#if TC_W == 16",
    "    const int all = 2 * n - 1, behind = all - TC_W + 1;",
    "    u.part[0] = TC_N(even_f32)(TC_N(ldn_f32)(p, all < TC_W ? all : TC_W),",
    "                               TC_N(ldn_f32)(p + TC_W - 1, behind > 0 ? behind : 0));",
    "#else",
    "    float x[TC_W] = {0};",
    "    for (int l = 0; l < n; l++) x[l] = p[2 * l];",
    "    u.all = TC_N(ld_f32)(x);",
    "#endif",
    "    return u.all;",
    "}",
    "",
    "// fn: span",
    "// Of lanes [low, high), those with 0 <= e + s * l < limit.",
    "TC_FN void TC_N(span)(tc_i64 e, tc_i64 limit, tc_i64 s, tc_i64 *low, tc_i64 *high) {",
    "    const tc_i64 first = e < 0 ? (s - 1 - e) / s : 0;",
    "    const tc_i64 end = e < limit ? (limit - e + s - 1) / s : 0;",
    "    *low = TC_N(max)(*low, TC_N(min)(first, TC_W)), *high = TC_N(min)(*high, end);",
    "}",
    "",
    "// fn: between",
    "// The lanes [low, high).",
    "TC_FN tc_vi TC_N(between)(tc_i64 low, tc_i64 high) {",
    "    return TC_N(lanes)((int)high) & ~TC_N(lanes)((int)low);",
    "}",
    "",
    "// fn: ld2m_f32",
    "// Every second of the elements, in lanes [low, high); the others are 0.",
    "TC_FN tc_vf TC_N(ld2m_f32)(const float *p, tc_i64 low, tc_i64 high) {",
    "    TC_N(uf) u;",
    "#if TC_P32 == 1",
    "    const tc_i64 first = 2 * low, end = 2 * high - 1, half = TC_W - 1;",
    "    u.part[0] = TC_N(even_f32)(",
    "        TC_N(ldm_f32)(p, TC_N(between)(first, end)),",
    "        TC_N(ldm_f32)(p + half, TC_N(between)(first - half, end - half)));",
    "#else",
    "    float x[TC_W] = {0};",
    "    for (tc_i64 l = low; l < high; l++) x[l] = p[2 * l];",
    "    u.all = TC_N(ld_f32)(x);",
    "#endif",
    "    return u.all;",
    "}",
    "",
    "// fn: turn_i32",
    "// The last lane first.",
    "TC_FN TC_N(pi) TC_N(turn_i32)(TC_N(pi) a) {",
    "#if defined(__clang__) || __GNUC__ >= 12",
    "#define TC_TURN32(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)",
    "#else",
    "#define TC_TURN32(a, ...) __builtin_shuffle(a, __extension__(TC_N(pi)){__VA_ARGS__})",
    "#endif",
    "#if TC_W / TC_P32 == 16",
    "    return TC_TURN32(a, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);",
    "#elif TC_W / TC_P32 == 8",
    "    return TC_TURN32(a, 7, 6, 5, 4, 3, 2, 1, 0);",
    "#else",
    "    return TC_TURN32(a, 3, 2, 1, 0);",
    "#endif",
    "}",
    "",
    "// fn: steps_i32",
    "// p[0], p[s], p[2 * s], ...: one part.",
    "TC_FN TC_N(pi) TC_N(steps_i32)(const void *at, tc_i64 s) {",
    "    typedef tc_i32 TC_N(word) __attribute__((may_alias));",
    "    const TC_N(word) *p = (const TC_N(word) *)at;",
    "#if TC_W / TC_P32 == 16",
    "    return (TC_N(pi)){p[0],      p[s],      p[2 * s],  p[3 * s],",
    "                      p[4 * s],  p[5 * s],  p[6 * s],  p[7 * s],",
    "                      p[8 * s],  p[9 * s],  p[10 * s], p[11 * s],",
    "                      p[12 * s], p[13 * s], p[14 * s], p[15 * s]};",
    "#elif TC_W / TC_P32 == 8",
    "    return (TC_N(pi)){p[0],     p[s],     p[2 * s], p[3 * s],",
    "                      p[4 * s], p[5 * s], p[6 * s], p[7 * s]};",
    "#else",
    "    return (TC_N(pi)){p[0], p[s], p[2 * s], p[3 * s]};",
    "#endif",
    "}",
    "",
    "// fn: turn_i64",
    "// The last lane first.",
    "TC_FN TC_N(pl) TC_N(turn_i64)(TC_N(pl) a) {",
    "#if defined(__clang__) || __GNUC__ >= 12",
    "#define TC_TURN64(a, ...) __builtin_shufflevector(a, a, __VA_ARGS__)",
    "#else",
    "#define TC_TURN64(a, ...) __builtin_shuffle(a, __extension__(TC_N(pl)){__VA_ARGS__})",
    "#endif",
    "#if TC_W / TC_P64 == 8",
    "    return TC_TURN64(a, 7, 6, 5, 4, 3, 2, 1, 0);",
    "#elif TC_W / TC_P64 == 4",
    "    return TC_TURN64(a, 3, 2, 1, 0);",
    "#else",
    "    return TC_TURN64(a, 1, 0);",
    "#endif",
    "}",
    "",
    "// fn: steps_i64",
    "// p[0], p[s], p[2 * s], ...: one part.",
    "TC_FN TC_N(pl) TC_N(steps_i64)(const void *at, tc_i64 s) {",
    "    typedef tc_i64 TC_N(word) __attribute__((may_alias));",
    "    const TC_N(word) *p = (const TC_N(word) *)at;",
    "#if TC_W / TC_P64 == 8",
    "    return (TC_N(pl)){p[0],     p[s],     p[2 * s], p[3 * s],",
    "                      p[4 * s], p[5 * s], p[6 * s], p[7 * s]};",
    "#elif TC_W / TC_P64 == 4",
    "    return (TC_N(pl)){p[0], p[s], p[2 * s], p[3 * s]};",
    "#else",
    "    return (TC_N(pl)){p[0], p[s]};",
    "#endif",
    "}",
    "",
    "// fn: rev_f32",
    "TC_FN tc_vf TC_N(rev_f32)(tc_vf a) {",
    "    TC_N(uf) u, v;",
    "    u.all = a;",
    "    for (int i = 0; i < TC_P32; i++)",
    "        v.part[TC_P32 - 1 - i] = (TC_N(pf))TC_N(turn_i32)((TC_N(pi))u.part[i]);",
    "    return v.all;",
    "}",
    "",
    "// fn: ldx_f32",
    "// p[0], p[s], p[2 * s], ...: no lane is stored and read back, which stalls.",
    "TC_FN tc_vf TC_N(ldx_f32)(const float *p, tc_i64 s) {",
    "    TC_N(uf) u;",
    "    for (int i = 0; i < TC_P32; i++, p += s * (TC_W / TC_P32))",
    "        u.part[i] = (TC_N(pf))TC_N(steps_i32)(p, s);",
    "    return u.all;",
    "}",
    "",
    "// fn: rev_i32",
    "TC_FN tc_vi TC_N(rev_i32)(tc_vi a) {",
    "    TC_N(ui) u, v;",
    "    u.all = a;",
    "    for (int i = 0; i < TC_P32; i++)",
    "        v.part[TC_P32 - 1 - i] = (TC_N(pi))TC_N(turn_i32)((TC_N(pi))u.part[i]);",
    "    return v.all;",
    "}",
    "",
    "// fn: ldx_i32",
    "// p[0], p[s], p[2 * s], ...: no lane is stored and read back, which stalls.",
    "TC_FN tc_vi TC_N(ldx_i32)(const tc_i32 *p, tc_i64 s) {",
    "    TC_N(ui) u;",
    "    for (int i = 0; i < TC_P32; i++, p += s * (TC_W / TC_P32))",
    "        u.part[i] = (TC_N(pi))TC_N(steps_i32)(p, s);",
    "    return u.all;",
    "}",
    "",
    "// fn: rev_f64",
    "TC_FN tc_vd TC_N(rev_f64)(tc_vd a) {",
    "    TC_N(ud) u, v;",
    "    u.all = a;",
    "    for (int i = 0; i < TC_P64; i++)",
    "        v.part[TC_P64 - 1 - i] = (TC_N(pd))TC_N(turn_i64)((TC_N(pl))u.part[i]);",
    "    return v.all;",
    "}",
    "",
    "// fn: ldx_f64",
    "// p[0], p[s], p[2 * s], ...: no lane is stored and read back, which stalls.",
    "TC_FN tc_vd TC_N(ldx_f64)(const double *p, tc_i64 s) {",
    "    TC_N(ud) u;",
    "    for (int i = 0; i < TC_P64; i++, p += s * (TC_W / TC_P64))",
    "        u.part[i] = (TC_N(pd))TC_N(steps_i64)(p, s);",
    "    return u.all;",
    "}",
    "",
    "// fn: rev_i64",
    "TC_FN tc_vl TC_N(rev_i64)(tc_vl a) {",
    "    TC_N(ul) u, v;",
    "    u.all = a;",
    "    for (int i = 0; i < TC_P64; i++)",
    "        v.part[TC_P64 - 1 - i] = (TC_N(pl))TC_N(turn_i64)((TC_N(pl))u.part[i]);",
    "    return v.all;",
    "}",
    "",
    "// fn: ldx_i64",
    "// p[0], p[s], p[2 * s], ...: no lane is stored and read back, which stalls.",
    "TC_FN tc_vl TC_N(ldx_i64)(const tc_i64 *p, tc_i64 s) {",
    "    TC_N(ul) u;",
    "    for (int i = 0; i < TC_P64; i++, p += s * (TC_W / TC_P64))",
    "        u.part[i] = (TC_N(pl))TC_N(steps_i64)(p, s);",
    "    return u.all;",
    "}",
    "",
    "// fn: packed",
    "// Which panels the worker's scratch has, by product of the kernel: what it packed in pieces of this launch",
    "// before; -1 = none.",
    "TC_FN tc_i64 *TC_N(packed)(const tc_kargs *a, int worker) {",
    "    tc_i64 *p = a->packed + 8 * worker;",
    "    if (p[0] != (tc_i64)a->turn) {",
    "        p[0] = (tc_i64)a->turn;",
    "        for (int i = 1; i < 8; i++) p[i] = -1;",
    "    }",
    "    return p + 1;",
    "}",
    "",
    "// fn: check_lane",
    "// Index v made safe: negative ones count from the end, others are clamped and flagged.",
    "TC_FN tc_i64 TC_N(check_lane)(const tc_kargs *a, tc_i64 v, tc_i64 limit, tc_i64 site) {",
    "    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;",
    "    if ((tc_u64)w < (tc_u64)limit) return w;",
    "    a->flag[1] = v;",
    "    a->flag[2] = limit;",
    "    a->flag[0] = site + 1;",
    "    return w < 0 || limit <= 0 ? 0 : limit - 1;",
    "}",
    "",
    "// fn: check_one",
    "// All lanes are equal.",
    "TC_FN tc_vl TC_N(check_one)(const tc_kargs *a, tc_vl v, tc_i64 limit, tc_i64 site) {",
    "    return TC_N(splat_i64)(TC_N(check_lane)(a, v[0], limit, site));",
    "}",
    "",
    "// fn: check",
    "// The first n lanes; the others are 0.",
    "TC_FN tc_vl TC_N(check)(const tc_kargs *a, tc_vl v, tc_i64 limit, tc_i64 site, int n) {",
    "    tc_i64 t[TC_W], x[TC_W] = {0};",
    "    TC_N(st_i64)(t, v);",
    "    for (int l = 0; l < n; l++) x[l] = TC_N(check_lane)(a, t[l], limit, site);",
    "    return TC_N(ld_i64)(x);",
    "}",
    "",
    "// fn: philox",
    "// The random words of each element, so many as it takes.",
    "TC_FN void TC_N(philox)(tc_vl i, tc_i32 words, tc_u64 draw, tc_u64 seed, tc_vu *w) {",
    "    w[0] = (tc_vu)TC_CVT_i64_i32(i), w[1] = (tc_vu)TC_CVT_i64_i32(i >> 32);",
    "    TC_N(draw_u32)(w, words, draw, seed);",
    "}",
    "",
    "// fn: count_from",
    "// first + by as 64 bits: the low words to w[0], the high ones to w[1].",
    "TC_FN void TC_N(count_from)(tc_u64 first, tc_vu by, tc_vu *w) {",
    "    const tc_vu low = TC_K_u32(first);",
    "    w[0] = low + by, w[1] = TC_K_u32(first >> 32) - (tc_vu)(w[0] < low);",
    "}",
    "",
    "// fn: philox_run",
    "// The same of the elements from e on.",
    "TC_FN void TC_N(philox_run)(tc_i64 e, tc_i32 words, tc_u64 draw, tc_u64 seed, tc_vu *w) {",
    "    TC_N(count_from)((tc_u64)e, (tc_vu)TC_N(iota_i32)(0), w);",
    "    TC_N(draw_u32)(w, words, draw, seed);",
    "}",
    "",
    "// fn: draw_32",
    "// A random word for each of 32 elements from e on. Four share what Philox gives for one: lane",
    "// 4 * i + v counts for the elements 4 * i to 4 * i + 3 of vector v.",
    "static __attribute__((noinline, unused)) void TC_N(draw_32)(tc_i64 e, tc_u64 draw, tc_u64 seed,",
    "                                                            tc_vu *w) {",
    "#if defined(__clang__) || __GNUC__ >= 12",
    "#define TC_DEAL(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)",
    "#else",
    "#define TC_DEAL(a, b, ...) __builtin_shuffle(a, b, __extension__(tc_vu){__VA_ARGS__})",
    "#endif",
    "    tc_vu x[4];",
    "    const tc_vu lane = (tc_vu)TC_N(iota_i32)(0);",
    "    for (int v = 0; e & 3 && v < 32 / TC_W; v++) {",
    "        TC_N(philox_run)(e + v * TC_W, 1, draw, seed, x);",
    "        w[v] = x[0];",
    "    }",
    "    if (e & 3) return;",
    "    TC_N(count_from)((tc_u64)e >> 2, (lane & 3) * (TC_W / 4) + (lane >> 2), x);",
    "    TC_N(philox_u32)(x, draw, seed);",
    "#if TC_W == 16",
    "#define TC_DEAL_LOW(a, b) TC_DEAL(a, b, 0, 16, 1, 17, 4, 20, 5, 21, 8, 24, 9, 25, 12, 28, 13, 29)",
    "    const tc_vu a = TC_DEAL_LOW(x[0], x[1]), b = TC_DEAL_LOW(x[2], x[3]);",
    "    w[0] = TC_DEAL(a, b, 0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29);",
    "    w[1] = TC_DEAL(a, b, 2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31);",
    "#else",
    "#define TC_DEAL_LOW(a, b) TC_DEAL(a, b, 0, 8, 1, 9, 4, 12, 5, 13)",
    "#define TC_DEAL_HIGH(a, b) TC_DEAL(a, b, 2, 10, 3, 11, 6, 14, 7, 15)",
    "    const tc_vu a = TC_DEAL_LOW(x[0], x[1]), b = TC_DEAL_LOW(x[2], x[3]);",
    "    const tc_vu c = TC_DEAL_HIGH(x[0], x[1]), d = TC_DEAL_HIGH(x[2], x[3]);",
    "    w[0] = TC_DEAL(a, b, 0, 1, 8, 9, 4, 5, 12, 13);",
    "    w[1] = TC_DEAL(a, b, 2, 3, 10, 11, 6, 7, 14, 15);",
    "    w[2] = TC_DEAL(c, d, 0, 1, 8, 9, 4, 5, 12, 13);",
    "    w[3] = TC_DEAL(c, d, 2, 3, 10, 11, 6, 7, 14, 15);",
    "#endif",
    "}",
    "",
};

// Transposition by blocks of eight floats, for operands of products.
static const char *const tc__text_transpose[] = {
    "",
    "// fn: ld_oct",
    "TC_FN tc_oct TC_N(ld_oct)(const float *p) {",
    "#if TC_W == 8",
    "    return TC_N(ld_f32)(p);",
    "#else",
    "    return *(const tc_oct_at *)(const void *)p;",
    "#endif",
    "}",
    "",
    "// fn: st_oct",
    "TC_FN void TC_N(st_oct)(float *p, tc_oct v) {",
    "#if TC_W == 8",
    "    TC_N(st_f32)(p, v);",
    "#else",
    "    *(tc_oct_at *)(void *)p = v;",
    "#endif",
    "}",
    "",
    "// fn: transpose_f32",
    "// 8 x 8: elements k.. of eight rows become rows of q, `step` apart.",
    "TC_FN void TC_N(transpose_f32)(const float *const *x, tc_i64 k, float *q, tc_i64 step) {",
    "    tc_oct r0 = TC_N(ld_oct)(x[0] + k), r1 = TC_N(ld_oct)(x[1] + k);",
    "    tc_oct r2 = TC_N(ld_oct)(x[2] + k), r3 = TC_N(ld_oct)(x[3] + k);",
    "    tc_oct r4 = TC_N(ld_oct)(x[4] + k), r5 = TC_N(ld_oct)(x[5] + k);",
    "    tc_oct r6 = TC_N(ld_oct)(x[6] + k), r7 = TC_N(ld_oct)(x[7] + k);",
    "    tc_oct a0 = TC_ZIP_LOW(r0, r1), a1 = TC_ZIP_HIGH(r0, r1), a2 = TC_ZIP_LOW(r2, r3);",
    "    tc_oct a3 = TC_ZIP_HIGH(r2, r3), a4 = TC_ZIP_LOW(r4, r5), a5 = TC_ZIP_HIGH(r4, r5);",
    "    tc_oct a6 = TC_ZIP_LOW(r6, r7), a7 = TC_ZIP_HIGH(r6, r7);",
    "    tc_oct b0 = TC_PAIR_LOW(a0, a2), b1 = TC_PAIR_HIGH(a0, a2), b2 = TC_PAIR_LOW(a1, a3);",
    "    tc_oct b3 = TC_PAIR_HIGH(a1, a3), b4 = TC_PAIR_LOW(a4, a6), b5 = TC_PAIR_HIGH(a4, a6);",
    "    tc_oct b6 = TC_PAIR_LOW(a5, a7), b7 = TC_PAIR_HIGH(a5, a7);",
    "    TC_N(st_oct)(q, TC_HALF_LOW(b0, b4));",
    "    TC_N(st_oct)(q + step, TC_HALF_LOW(b1, b5));",
    "    TC_N(st_oct)(q + 2 * step, TC_HALF_LOW(b2, b6));",
    "    TC_N(st_oct)(q + 3 * step, TC_HALF_LOW(b3, b7));",
    "    TC_N(st_oct)(q + 4 * step, TC_HALF_HIGH(b0, b4));",
    "    TC_N(st_oct)(q + 5 * step, TC_HALF_HIGH(b1, b5));",
    "    TC_N(st_oct)(q + 6 * step, TC_HALF_HIGH(b2, b6));",
    "    TC_N(st_oct)(q + 7 * step, TC_HALF_HIGH(b3, b7));",
    "}",
    "",
    "// fn: interleave_f32",
    "// q[k][j] = x[j][k]: `width` rows, a multiple of 8, become one panel.",
    "static __attribute__((noinline, unused)) void TC_N(interleave_f32)(",
    "        const float *const *x, int width, tc_i64 depth, float *q) {",
    "    for (int j = 0; j < width; j += 8) {",
    "        tc_i64 k = 0;",
    "        for (; k + 8 <= depth; k += 8) TC_N(transpose_f32)(x + j, k, q + k * width + j, width);",
    "        for (; k < depth; k++)",
    "            for (int l = 0; l < 8; l++) q[k * width + j + l] = x[j + l][k];",
    "    }",
    "}",
    "",
    "// fn: flip_f32",
    "// q[j][i] = p[i][j]: `count` rows of `width`; both sides are padded to 8.",
    "static __attribute__((noinline, unused)) void TC_N(flip_f32)(",
    "        const float *p, int width, tc_i64 count, float *q, tc_i64 step) {",
    "    for (tc_i64 i = 0; i < count; i += 8) {",
    "        const float *x[8];",
    "        for (int l = 0; l < 8; l++) x[l] = p + (i + l) * width;",
    "        for (int j = 0; j < width; j += 8) TC_N(transpose_f32)(x, j, q + j * step + i, step);",
    "    }",
    "}",
};

// Steps of the transposition of eight floats, inside and across halves of 4. gcc before 12
// has another builtin.
static const char *const tc__text_shuffles[] = {
    "typedef float tc_oct __attribute__((vector_size(32)));",
    "typedef tc_i32 tc_oct_i __attribute__((vector_size(32)));",
    "typedef tc_oct tc_oct_at __attribute__((aligned(4), may_alias));",
    "#if defined(__clang__) || __GNUC__ >= 12",
    "#define TC_MIX(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)",
    "#else",
    "#define TC_MIX(a, b, ...) __builtin_shuffle(a, b, (tc_oct_i){__VA_ARGS__})",
    "#endif",
    "#define TC_ZIP_LOW(a, b) TC_MIX(a, b, 0, 8, 1, 9, 4, 12, 5, 13)",
    "#define TC_ZIP_HIGH(a, b) TC_MIX(a, b, 2, 10, 3, 11, 6, 14, 7, 15)",
    "#define TC_PAIR_LOW(a, b) TC_MIX(a, b, 0, 1, 8, 9, 4, 5, 12, 13)",
    "#define TC_PAIR_HIGH(a, b) TC_MIX(a, b, 2, 3, 10, 11, 6, 7, 14, 15)",
    "#define TC_HALF_LOW(a, b) TC_MIX(a, b, 0, 1, 2, 3, 8, 9, 10, 11)",
    "#define TC_HALF_HIGH(a, b) TC_MIX(a, b, 4, 5, 6, 7, 12, 13, 14, 15)",
};

typedef struct tc__text_section {
    uint32_t text, begin, end; // lines [begin, end) of texts[text]
    int used;                  // 2 = not a function: always kept
} tc__text_section;

typedef struct tc__prelude_text {
    const char *const *line;
    uint32_t count;
} tc__prelude_text;

// All of it.
TC__UNUSED static void tc__put_prelude_text(tc__text *out, const tc__prelude_text *t) {
    for (uint32_t i = 0; i < t->count; i++) tc__put(out, "%s\n", t->line[i]);
}

static const tc__prelude_text tc__prelude_texts[] = {
    {tc__text_cpu, (uint32_t)TC__COUNT(tc__text_cpu)},
    {tc__text_kernel, (uint32_t)TC__COUNT(tc__text_kernel)},
    {tc__text_transpose, (uint32_t)TC__COUNT(tc__text_transpose)},
};

typedef struct tc__prelude {
    tc_ctx *ctx;
    const tc__prelude_text *texts;
    uint32_t count;
    TC__VEC(tc__text_section) section;
    tc__map words; // hash of a used name -> 1
} tc__prelude;

static int tc__begins(const char *s, const char *with) {
    return !strncmp(s, with, strlen(with));
}

static size_t tc__word_size(const char *s) {
    size_t n = 0;
    while (tc__is_word(s[n])) n++;
    return n;
}

static int tc__use_word(tc__prelude *q, const char *s) {
    return tc__map_set(&q->words, tc__hash64(s, tc__word_size(s), 0), 1);
}

// Every `lead`name in the text s.
static int tc__use_words(tc__prelude *q, const char *s, const char *lead) {
    size_t n = strlen(lead);
    for (s = strstr(s, lead); s; s = strstr(s + n, lead))
        if (!tc__use_word(q, s + n)) return 0;
    return 1;
}

// The line behind the function that begins at `i`.
static uint32_t tc__text_section_end(const tc__prelude_text *t, uint32_t i) {
    for (; i < t->count; i++) {
        const char *s = t->line[i];
        size_t n = strlen(s);
        if (s[0] == '}' || (tc__begins(s, "TC_FN") && n && s[n - 1] == '}')) return i + 1;
    }
    return i;
}

static int tc__cut_sections(tc__prelude *q, uint32_t text) {
    const tc__prelude_text *t = &q->texts[text];
    tc__text_section s;
    s.text = text;
    for (uint32_t i = 0; i < t->count; i = s.end) {
        int function = tc__begins(t->line[i], "// fn: ");
        s.begin = i, s.end = function ? tc__text_section_end(t, i) : i + 1;
        s.used = function ? 0 : 2;
        if (!TC__PUSH(q->ctx, q->section, s)) return 0;
    }
    return 1;
}

// Keeps section s if its function is used, and then what it names.
static int tc__keep_section(tc__prelude *q, tc__text_section *s) {
    const char *const *line = q->texts[s->text].line;
    uint64_t found;
    if (!s->used && tc__begins(line[s->begin], "// fn: ")) {
        const char *name = line[s->begin] + 7;
        s->used = tc__map_get(&q->words, tc__hash64(name, tc__word_size(name), 0), &found);
    }
    for (uint32_t i = s->begin; s->used && i < s->end; i++)
        if (!tc__use_words(q, line[i], "TC_N(")) return 0;
    return 1;
}

// The size of the line of a function's text that begins at s: a statement, or what opens or closes a block.
// A brace of a block has a blank before it, that of a list has none, or an equals sign.
static size_t tc__code_line_size(const char *s) {
    int inside = 0; // brackets
    size_t n = *s == '}';
    if (n && !tc__begins(s, "} else")) return n;
    for (; s[n]; n++) {
        int block = s[n] == '{' && n > 1 && s[n - 1] == ' ' && s[n - 2] != '=';
        if (!inside && (block || s[n] == ';')) return n + 1;
        inside += s[n] == '(' || s[n] == '{';
        inside -= s[n] == ')' || s[n] == '}';
    }
    return n;
}

enum { TC__CODE_COLUMNS = 92 };

// Where a line of at most `most` characters ends: at a blank, unless there is none.
static size_t tc__code_cut(const char *s, size_t n, size_t most) {
    size_t cut = most;
    if (n <= most) return n;
    while (cut && s[cut] != ' ') cut--;
    return cut ? cut : n;
}

static void tc__put_code_line(tc__text *out, const char *s, size_t n, size_t level) {
    size_t cut;
    for (size_t in = level; n; in = level + 2, s += cut, n -= cut) {
        for (size_t i = 0; i < in; i++) tc__put_raw(out, "    ", 4);
        cut = tc__code_cut(s, n, TC__CODE_COLUMNS - 4 * in);
        tc__put_raw(out, s, cut);
        tc__put_raw(out, "\n", 1);
        cut += cut < n; // the blank
    }
}

// A function that came as one line, as its statements.
static void tc__put_code(tc__text *out, const char *s) {
    size_t level = 0;
    while (*s) {
        size_t n = tc__code_line_size(s);
        level -= *s == '}';
        tc__put_code_line(out, s, n, level);
        level += s[n - 1] == '{';
        for (s += n; *s == ' ';) s++;
    }
}

// Text sections in order, functions behind an empty line.
static void tc__put_sections(tc__text *out, const tc__prelude *q) {
    for (size_t i = 0; i < q->section.count; i++) {
        const tc__text_section *s = &q->section.at[i];
        const char *const *line = q->texts[s->text].line;
        int beside = s->used == 2 && (!*line[s->begin] || tc__begins(line[s->begin], "//"));
        int one = s->end == s->begin + 2; // line, behind its mark
        if (!s->used || beside) continue;
        for (uint32_t k = s->begin; k < s->end; k++)
            if (tc__begins(line[k], "// fn: "))
                tc__put(out, "\n");
            else if (line == tc__text_cpu && one && strlen(line[k]) > TC__CODE_COLUMNS)
                tc__put_code(out, line[k]);
            else
                tc__put(out, "%s\n", line[k]);
    }
}

static void tc__put_abi(tc__text *out, tc__emit target, int lanes) {
    static const char *const flags = "-O1 -fexpensive-optimizations -fgcse";
    static const char *const cpu[] = {
        "", " -mavx2 -mfma -mf16c",
        " -mavx2 -mfma -mf16c\n//     -mavx512f -mavx512bw -mavx512dq -mavx512vl"};
    tc__put(out,
            "// Kernels made by tcompile. To build this file by hand (clang: -O1 "
            "-fno-unroll-loops):\n// gcc %s%s -fno-math-errno -fno-trapping-math\n"
            "//     -ffp-contract=off -fwrapv -Wno-psabi -fPIC -shared -nostdlib FILE.c\n",
            flags, cpu[target]);
    tc__put(out,
            "#define TC_FN static inline __attribute__((always_inline, unused))\n"
            "#define TC_FMA_f64(a, b, c) TC_ADD_f64(TC_MUL_f64(a, b), c)\n"
            "#define TC_FN_COLD static __attribute__((noinline, unused))\n"
            "#define TC_KERNEL __attribute__((visibility(\"default\")))\n"
            "#define TC_N(name) tc_##name\n#define TC_ISA_AVX2 %d\n"
            "#define TC_ISA_AVX512 %d\n#define TC_W %d\n",
            target >= TC__EMIT_AVX2, target >= TC__EMIT_AVX512, lanes);
    tc__put(
        out,
        "typedef __UINT8_TYPE__ tc_u8;\ntypedef __INT8_TYPE__ tc_i8;\n"
        "typedef __INT16_TYPE__ tc_i16;\ntypedef __UINT16_TYPE__ tc_u16;\n"
        "typedef __INT32_TYPE__ tc_i32;\n"
        "typedef __INT64_TYPE__ tc_i64;\ntypedef __UINT64_TYPE__ tc_u64;\n\n"
        "typedef union tc_scalar {\n    double f;\n    tc_i64 i;\n} tc_scalar;\n\n"
        "typedef struct tc_kargs {\n    void *const *buf;      // by buffer of the kernel\n"
        "    const tc_i64 *size;    // run-time sizes\n"
        "    const tc_scalar *arg;  // run-time scalars\n"
        "    void *const *scratch;  // by worker\n"
        "    tc_i64 *flag;          // an index out of range: site + 1, value, limit\n"
        "    tc_u64 seed, draw;     // of the random numbers\n"
        "    tc_u64 turn;           // of the launch: no other one has it\n"
        "    tc_i64 *packed;        // by worker 8: a turn, and what its scratch has of that\n"
        "} tc_kargs;\n\n");
}

// `tc_acc_maximum_f32(a, b)`: one step of a reduction.
static void tc__put_monoid(tc__printer *p, tc__op monoid, uint8_t dtype) {
    const char *type = p->d->reg[tc__class_of(dtype)];
    tc__put(p->out, "\nTC_FN %s tc_acc_%s_%s(%s a, %s b) {\n    return ", type,
            tc__ops[monoid].name, tc__suffix(dtype), type, type);
    tc__put_expr(p, tc__op_expr(p, (int)monoid), tc__class_of(dtype), NULL, 0);
    tc__put(p->out, ";\n}\n");
}

// `tc_win_max_f32(v, b, lower)`: the lanes where v replaces b; NaN wins, then the lower
// index.
static void tc__put_win(tc__printer *p, tc__op monoid, uint8_t dtype) {
    const char *cls = tc__suffix(dtype), *type = p->d->reg[tc__class_of(dtype)];
    const char *mask = p->d->threads ? "int" : strstr(cls, "64") ? "tc_vl" : "tc_vi";
    const char *best = "max", *order = "GT", *no = p->d->threads ? "!" : "~";
    if (monoid == TC_OP_ARGMIN) best = "min", order = "LT";
    tc__put(p->out, "\nTC_FN %s tc_win_%s_%s(%s v, %s b, %s lower) {\n", mask, best, cls,
            type, type, mask);
    tc__put(p->out, "    const %s nan = TC_NE_%s(v, v), other = TC_NE_%s(b, b);\n", mask,
            cls, cls);
    tc__put(p->out, "    const %s same = TC_EQ_%s(v, b) | (nan & other);\n", mask, cls);
    tc__put(p->out, "    return TC_%s_%s(v, b) | (nan & %sother) | (same & lower);\n}\n",
            order, cls, no);
}

static int tc__monoid_key(const tc__acc *a) {
    return (int)a->monoid * (int)TC__CLASSES + (int)tc__class_of(a->dtype);
}

// The step functions of all kernels, each once.
static int tc__put_monoids(tc__text *out, const tc__dialect *d,
                           const tc__group *const *groups, int count) {
    tc__map seen;
    tc__printer *p = TC__NEW(out->ctx, tc__printer);
    int ok = p != NULL;
    tc__map_init(&seen, out->ctx);
    for (int i = 0; i < count && ok; i++) {
        uint64_t found;
        tc__printer_open(p, out, groups[i], d);
        ok = tc__find_accs(p);
        for (int k = 0; k < TC__PRINT_ACCS && ok; k++) {
            const tc__acc *a = &p->acc[k];
            uint64_t key = (uint64_t)tc__monoid_key(a);
            if (!a->used || tc__map_get(&seen, key, &found)) continue;
            if (tc__is_arg(a))
                tc__put_win(p, a->monoid, a->dtype);
            else
                tc__put_monoid(p, a->monoid, a->dtype);
            if (d->monoid) d->monoid(p, a);
            ok = tc__map_set(&seen, key, 1);
        }
    }
    tc__map_free(&seen);
    tc__free(out->ctx, p, sizeof *p);
    return ok;
}

// `tc_calls_exp_f32(v, n)`: tc_exp_f32 of n vectors in place, as a function that is called, and
// `tc_call_exp_f32(a)` of one. `s` is its name behind "tc_call_".
static void tc__put_called(tc__text *out, const tc__dialect *d, const char *s) {
    int n = (int)tc__word_size(s), two = 0, cls = 0;
    while (cls < TC__CLASSES && memcmp(s + n - 3, tc__class_names[cls], 3)) cls++;
    for (int op = 0; op < TC_OP_COUNT; op++) {
        const char *expr = tc__ops[op].expr + 5;
        two |= !strncmp(tc__ops[op].expr, "TC_F(", 5) && (int)strlen(expr) > n - 4 &&
               !memcmp(expr, s, (size_t)n - 4) && !strcmp(expr + n - 4, ")(a, b)");
    }
    const char *type = d->reg[cls];
    tc__put(out, "TC_FN_COLD void tc_calls_%.*s(%s *v, ", n, s, type);
    if (two) tc__put(out, "const %s *w, ", type);
    tc__put(out, "int n) {\n    for (int i = 0; i < n; i++) v[i] = tc_%.*s(v[i]%s);\n}\n",
            n, s, two ? ", w[i]" : "");
    tc__put(out, "TC_FN %s tc_call_%.*s(%s a", type, n, s, type);
    if (two) tc__put(out, ", %s b", type);
    tc__put(out, ") {\n    tc_calls_%.*s(&a, %s1);\n    return a;\n}\n", n, s,
            two ? "&b, " : "");
}

// Functions that the kernels call by this lead, each once.
static int tc__put_called_by(tc__text *out, const tc__dialect *d, tc__map *seen,
                             const char *text, const char *lead) {
    uint64_t found;
    int ok = 1;
    for (const char *s = strstr(text, lead); s && ok; s = strstr(s, lead)) {
        s += strlen(lead);
        uint64_t key = tc__hash64(s, tc__word_size(s), 0);
        if (tc__map_get(seen, key, &found)) continue;
        tc__put_called(out, d, s);
        ok = tc__map_set(seen, key, 1);
    }
    return ok;
}

static int tc__put_all_called(tc__text *out, const tc__dialect *d,
                              const tc__text *const *text, int texts) {
    tc__map seen;
    int ok = 1;
    tc__map_init(&seen, out->ctx);
    for (int i = 0; i < texts && ok; i++)
        ok = tc__put_called_by(out, d, &seen, text[i]->at, "tc_call_") &&
             tc__put_called_by(out, d, &seen, text[i]->at, "tc_calls_");
    tc__map_free(&seen);
    return ok;
}

// Reads the words of the kernels and of their step functions, and marks what they use.
static int tc__prelude_mark(tc__prelude *q, const tc__text *const *text, int texts,
                            const tc__text *steps) {
    int ok = tc__use_words(q, steps->at, "tc_");
    for (int i = 0; i < texts && ok; i++) ok = tc__use_words(q, text[i]->at, "tc_");
    for (uint32_t i = 0; i < q->count && ok; i++) ok = tc__cut_sections(q, i);
    for (size_t i = 0; i < q->section.count && ok; i++) // macros name functions below them
        if (q->section.at[i].used) ok = tc__keep_section(q, &q->section.at[i]);
    for (size_t i = q->section.count; i-- > 0 && ok;)
        if (!q->section.at[i].used) ok = tc__keep_section(q, &q->section.at[i]);
    return ok;
}

static void tc__prelude_open(tc__prelude *q, tc_ctx *c, const tc__prelude_text *texts,
                             size_t count) {
    memset(q, 0, sizeof *q);
    q->ctx = c, q->texts = texts, q->count = (uint32_t)count;
    tc__map_init(&q->words, c);
}

static void tc__prelude_close(tc__prelude *q) {
    TC__VEC_FREE(q->ctx, q->section);
    tc__map_free(&q->words);
}

// Appends the head of a translation unit that holds the kernels of `groups`, which were printed to
// `texts` with vectors of `lanes` elements. 1, or 0 = reported.
TC__UNUSED static int tc__print_prelude(tc__text *out, const tc__group *const *groups,
                                        int count, const tc__text *const *text, int texts,
                                        tc__emit target, int lanes) {
    tc__prelude q;
    tc__text steps;
    uint64_t found;
    tc__text_init(&steps, out->ctx);
    tc__prelude_open(&q, out->ctx, tc__prelude_texts, TC__COUNT(tc__prelude_texts));
    int ok = tc__put_monoids(&steps, &tc__dialect_c, groups, count) &&
             tc__put_all_called(&steps, &tc__dialect_c, text, texts) &&
             tc__prelude_mark(&q, text, texts, &steps);
    tc__put_abi(out, target, lanes);
    if (ok && tc__map_get(&q.words, tc__hash64("transpose_f32", 13, 0), &found))
        for (size_t i = 0; i < TC__COUNT(tc__text_shuffles); i++)
            tc__put(out, "%s\n", tc__text_shuffles[i]);
    if (ok) tc__put_sections(out, &q);
    if (ok) tc__put_raw(out, steps.at, steps.size);
    ok = ok && !steps.failed;
    tc__prelude_close(&q);
    tc__text_free(&steps);
    return ok && !out->failed;
}

// Appends a whole translation unit: kernels with vectors of one size, under these names.
TC__UNUSED static int tc__print_unit(tc__text *out, const tc__group *const *groups,
                                     const char *const *symbols, int count,
                                     tc__emit target) {
    tc__text kernels;
    const tc__text *text = &kernels;
    int ok = 1;
    tc__text_init(&kernels, out->ctx);
    for (int i = 0; i < count && ok; i++)
        ok = tc__print_kernel(&kernels, groups[i], &tc__dialect_c, symbols[i]);
    int lanes = count ? tc__group_lanes(groups[0]) : (int)TC__VECTOR;
    ok = ok && tc__print_prelude(out, groups, count, &text, 1, target, lanes);
    if (ok) tc__put_raw(out, kernels.at, kernels.size);
    ok = ok && !kernels.failed;
    tc__text_free(&kernels);
    return ok && !out->failed;
}

// What a device's texts are in: a header beside tcompile.h brings one (cuda_print/language.c).
typedef struct tc__language {
    const tc__dialect *dialect;
    // The head of a text that has these kernels; 0 = reported.
    int (*prelude)(tc__text *out, const tc__group *const *groups, int count);
    // Whether value v of a knob of devices differs from what the rules say, and makes sense.
    int (*knob_fits)(const tc__group *g, int knob, int v);
    tc__prelude_text spread; // kernels that write a strided view: see exec/transfer.c
} tc__language;
