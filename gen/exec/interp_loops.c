// include-many: once per instruction set and vector width, after cpu/scalar.h or
// cpu/vector.h and cpu/math.h. The includer defines
//   TC__LN(x)         name of a loop                 TC__LOOP_FN    what stands before one
//   TC__LOOPS_32      1: the loops of 32-bit classes
//   TC__LOOPS_64      1: the loops that touch a 64-bit class
//   TC__LOOPS_SCALAR  1: the lanes of a fold are an array; 0: vectors
// Rows that say what a loop computes come from ops.def (out/interp_rows*.inc).

#ifndef TC__LOOP1
#    define TC__T_f32           TC_F32
#    define TC__T_f64           TC_F64
#    define TC__T_i32           TC_I32
#    define TC__T_i64           TC_I64
#    define TC__E_f32           float
#    define TC__E_f64           double
#    define TC__E_i32           int32_t
#    define TC__E_i64           int64_t
#    define TC__FN(x)           TC__LN(x##_fold)
#    define TC_FMA_f64(a, b, c) TC_ADD_f64(TC_MUL_f64(a, b), c) // f64 rounds twice

// Operand V of class C: where it is, its vector at hand, and on to the next one.
#    define TC__POINTERS(V, C, R)                                                          \
        const TC__E_##C *p##V = (const TC__E_##C *)(R)->at;                                \
        const int64_t s##V = (R)->mask & TC_LANES
#    define TC__OPERAND(V, C) TC__T_##C V = TC_N(ld_##C)(p##V)
#    define TC__NEXT(V)       p##V += s##V

#    define TC__LOOP1(NAME, OUT, C, EXPR)                                                  \
        TC__LOOP_FN void TC__LN(NAME)(void *d, const tc__reg *x, const tc__reg *y,         \
                                      const tc__reg *z, int64_t n) {                       \
            TC__E_##OUT *out = (TC__E_##OUT *)d;                                           \
            TC__POINTERS(a, C, x);                                                         \
            (void)y, (void)z;                                                              \
            for (int64_t i = 0; i < n; i += TC_LANES) {                                    \
                TC__OPERAND(a, C);                                                         \
                TC_N(st_##OUT)(out + i, EXPR);                                             \
                TC__NEXT(a);                                                               \
            }                                                                              \
        }

// Two vectors a round: the pointers' steps are a third of a round's work.
#    define TC__LOOP2(NAME, OUT, C, EXPR)                                                  \
        TC__LOOP_FN void TC__LN(NAME)(void *d, const tc__reg *x, const tc__reg *y,         \
                                      const tc__reg *z, int64_t n) {                       \
            TC__E_##OUT *out = (TC__E_##OUT *)d;                                           \
            TC__POINTERS(a, C, x);                                                         \
            TC__POINTERS(b, C, y);                                                         \
            int64_t i = 0;                                                                 \
            (void)z;                                                                       \
            for (; i + TC_LANES < n; i += 2 * TC_LANES) {                                  \
                {                                                                          \
                    TC__OPERAND(a, C);                                                     \
                    TC__OPERAND(b, C);                                                     \
                    TC_N(st_##OUT)(out + i, EXPR);                                         \
                }                                                                          \
                TC__T_##C a = TC_N(ld_##C)(pa + sa), b = TC_N(ld_##C)(pb + sb);            \
                TC_N(st_##OUT)(out + i + TC_LANES, EXPR);                                  \
                pa += 2 * sa, pb += 2 * sb;                                                \
            }                                                                              \
            if (i < n) {                                                                   \
                TC__OPERAND(a, C);                                                         \
                TC__OPERAND(b, C);                                                         \
                TC_N(st_##OUT)(out + i, EXPR);                                             \
            }                                                                              \
        }

// Two vectors a round: the pointers' steps are a third of a round's work.
#    define TC__LOOP3_OF(NAME, A, C, EXPR)                                                 \
        TC__LOOP_FN void TC__LN(NAME)(void *d, const tc__reg *x, const tc__reg *y,         \
                                      const tc__reg *z, int64_t n) {                       \
            TC__E_##C *out = (TC__E_##C *)d;                                               \
            TC__POINTERS(a, A, x);                                                         \
            TC__POINTERS(b, C, y);                                                         \
            TC__POINTERS(c, C, z);                                                         \
            int64_t i = 0;                                                                 \
            for (; i + TC_LANES < n; i += 2 * TC_LANES) {                                  \
                {                                                                          \
                    TC__OPERAND(a, A);                                                     \
                    TC__OPERAND(b, C);                                                     \
                    TC__OPERAND(c, C);                                                     \
                    TC_N(st_##C)(out + i, EXPR);                                           \
                }                                                                          \
                TC__T_##A a = TC_N(ld_##A)(pa + sa);                                       \
                TC__T_##C b = TC_N(ld_##C)(pb + sb), c = TC_N(ld_##C)(pc + sc);            \
                TC_N(st_##C)(out + i + TC_LANES, EXPR);                                    \
                pa += 2 * sa, pb += 2 * sb, pc += 2 * sc;                                  \
            }                                                                              \
            if (i < n) {                                                                   \
                TC__OPERAND(a, A);                                                         \
                TC__OPERAND(b, C);                                                         \
                TC__OPERAND(c, C);                                                         \
                TC_N(st_##C)(out + i, EXPR);                                               \
            }                                                                              \
        }
#    define TC__LOOP3(NAME, OUT, C, EXPR) TC__LOOP3_OF(NAME, C, C, EXPR)
#    define TC__LOOP_WHERE(NAME, C, EXPR) TC__LOOP3_OF(NAME, i32, C, EXPR)

// Bools as 0 and 1.
#    define TC__LOOP_BOOL1(NAME, OUT, C, EXPR)                                             \
        TC__LOOP_FN void TC__LN(NAME)(void *d, const tc__reg *x, const tc__reg *y,         \
                                      const tc__reg *z, int64_t n) {                       \
            int32_t *out = (int32_t *)d;                                                   \
            TC__POINTERS(a_, C, x);                                                        \
            (void)y, (void)z;                                                              \
            for (int64_t i = 0; i < n; i += TC_LANES) {                                    \
                TC__OPERAND(a_, C);                                                        \
                TC_I32 a = a_ & 1;                                                         \
                TC_N(st_i32)(out + i, EXPR);                                               \
                TC__NEXT(a_);                                                              \
            }                                                                              \
        }
#    define TC__LOOP_BOOL2(NAME, OUT, C, EXPR)                                             \
        TC__LOOP_FN void TC__LN(NAME)(void *d, const tc__reg *x, const tc__reg *y,         \
                                      const tc__reg *z, int64_t n) {                       \
            int32_t *out = (int32_t *)d;                                                   \
            TC__POINTERS(a_, C, x);                                                        \
            TC__POINTERS(b_, C, y);                                                        \
            (void)z;                                                                       \
            for (int64_t i = 0; i < n; i += TC_LANES) {                                    \
                TC__OPERAND(a_, C);                                                        \
                TC__OPERAND(b_, C);                                                        \
                TC_I32 a = a_ & 1, b = b_ & 1;                                             \
                TC_N(st_i32)(out + i, EXPR);                                               \
                TC__NEXT(a_), TC__NEXT(b_);                                                \
            }                                                                              \
        }

// Part P of the 32 lanes of an accumulator: TC_LANES of them, held in s##P.
#    define TC__FOLD_LOAD(P, NAME, C) TC__T_##C s##P = TC_N(ld_##C)(acc + P * TC_LANES);
#    define TC__FOLD_SAVE(P, NAME, C) TC_N(st_##C)(acc + P * TC_LANES, s##P);
#    define TC__FOLD_STEP(P, NAME, C)                                                      \
        s##P = TC__LN(NAME##_step)(s##P, TC_N(ld_##C)(px + P * sx));
#    define TC__FOLD_REST(P, NAME, C)                                                      \
        if (n - i >= (P + 1) * TC_LANES) {                                                 \
            TC__FOLD_STEP(P, NAME, C)                                                      \
        } else if (n - i > P * TC_LANES) {                                                 \
            TC_I32 some = TC_N(lanes)((int)(n - i) - P * TC_LANES);                        \
            TC__T_##C old = s##P;                                                          \
            TC__FOLD_STEP(P, NAME, C)                                                      \
            s##P = TC_SEL_##C(TC_M_##C(some), s##P, old);                                  \
        }
#    define TC__4(F, NAME, C) F(0, NAME, C) F(1, NAME, C) F(2, NAME, C) F(3, NAME, C)
#    define TC__8(F, NAME, C)                                                              \
        TC__4(F, NAME, C) F(4, NAME, C) F(5, NAME, C) F(6, NAME, C) F(7, NAME, C)

// c[4][16] (+)= a[k][4] * b[k][16]: four rows and two vectors of columns at a time.
#    define TC__MULADD_f32(a, b, s) TC_FMA_f32(a, b, s)
#    define TC__MULADD_f64(a, b, s) TC_FMA_f64(a, b, s)
#    define TC__MULADD_i32(a, b, s) TC_ADD_i32(s, TC_MUL_i32(a, b))
#    define TC__MULADD_i64(a, b, s) TC_ADD_i64(s, TC_MUL_i64(a, b))
#    define TC__TILE_OPEN(R, C)                                                            \
        TC__T_##C s##R = TC_N(splat_##C)(0), t##R = s##R;                                  \
        if (!first) {                                                                      \
            s##R = TC_N(ld_##C)(out + R * ldc + j);                                        \
            t##R = TC_N(ld_##C)(out + R * ldc + j + TC_LANES);                             \
        }
#    define TC__TILE_STEP(R, C)                                                            \
        e = TC_N(splat_##C)(p[R]);                                                         \
        s##R = TC__MULADD_##C(e, u, s##R);                                                 \
        t##R = TC__MULADD_##C(e, v, t##R);
#    define TC__TILE_CLOSE(R, C)                                                           \
        TC_N(st_##C)(out + R * ldc + j, s##R);                                             \
        TC_N(st_##C)(out + R * ldc + j + TC_LANES, t##R);
#    define TC__TILE_EACH(F, C) F(0, C) F(1, C) F(2, C) F(3, C)
#    define TC__TILE(C)                                                                    \
        TC__LOOP_FN void TC__LN(tile_##C)(void *c, int64_t ldc, const void *a,             \
                                          const void *b, int64_t ldb, int64_t k,           \
                                          int first) {                                     \
            TC__E_##C *out = (TC__E_##C *)c;                                               \
            for (int64_t j = 0; j < TC__TILE_COLS; j += 2 * TC_LANES) {                    \
                const TC__E_##C *p = (const TC__E_##C *)a, *q = (const TC__E_##C *)b + j;  \
                TC__T_##C e, u, v;                                                         \
                TC__TILE_EACH(TC__TILE_OPEN, C)                                            \
                for (int64_t i = 0; i < k; i++, p += TC__TILE_ROWS, q += ldb) {            \
                    u = TC_N(ld_##C)(q), v = TC_N(ld_##C)(q + TC_LANES);                   \
                    TC__TILE_EACH(TC__TILE_STEP, C)                                        \
                }                                                                          \
                TC__TILE_EACH(TC__TILE_CLOSE, C)                                           \
            }                                                                              \
        }

// The lanes of a vector, and in which group of 32 elements they were won: M is the class of masks.
#    define TC__ARG(C, M)                                                                  \
        TC__LOOP_FN void TC__LN(arg_##C)(void *b, int64_t *at, const void *x,              \
                                         int64_t index, int less, int64_t n) {             \
            TC__E_##C *best = (TC__E_##C *)b;                                              \
            for (int p = 0; p < TC__FOLD_LANES; p += TC_LANES) {                           \
                const TC__E_##C *v = (const TC__E_##C *)x + p;                             \
                TC__T_##C s = TC_N(ld_##C)(best + p);                                      \
                TC__T_##M won = TC_N(splat_##M)(-1), k = TC_N(splat_##M)(0);               \
                TC__E_##M group[TC_LANES];                                                 \
                for (int64_t i = 0; i < n; i += TC__FOLD_LANES, v += TC__FOLD_LANES) {     \
                    TC__T_##C e = TC_N(ld_##C)(v);                                         \
                    TC__T_##C over = less ? s : e, under = less ? e : s;                   \
                    TC__T_##M win =                                                        \
                        TC_EQ_##C(s, s) & (TC_GT_##C(over, under) | TC_NE_##C(e, e));      \
                    s = TC_SEL_##C(win, e, s), won = TC_SEL_##M(win, k, won);              \
                    k = TC_ADD_##M(k, TC_N(splat_##M)(1));                                 \
                }                                                                          \
                TC_N(st_##C)(best + p, s), TC_N(st_##M)(group, won);                       \
                for (int l = 0; l < TC_LANES; l++)                                         \
                    if (group[l] >= 0)                                                     \
                        at[p + l] = index + (int64_t)group[l] * TC__FOLD_LANES + p + l;    \
            }                                                                              \
        }

// How many elements were stored four vectors at a time; the rest is for the loop behind.
#    define TC__PACKED_u8(d, s, n)     TC__LN(pack)(d, s, n, 255)
#    define TC__PACKED_i8(d, s, n)     TC__LN(pack)(d, s, n, 255)
#    define TC__PACKED_i16(d, s, n)    0
#    define TC__PACKED_f16(d, s, n)    0
#    define TC__PACKED_bf16(d, s, n)   0
#    define TC__PACKED_f8e4m3(d, s, n) 0
#    define TC__PACKED_f8e5m2(d, s, n) 0

// X_in and X_out: a memory type T, the class C it becomes, and one element each way.
#    define TC__IN_OUT(X, T, C, IN, OUT)                                                   \
        TC__LOOP_FN void TC__LN(X##_in)(void *to, const void *from, int64_t n) {           \
            TC__E_##C *d = (TC__E_##C *)to;                                                \
            const T *s = (const T *)from;                                                  \
            int64_t i = 0;                                                                 \
            for (; i + 4 * TC_LANES <= n; i += 4 * TC_LANES) {                             \
                TC_N(st_##C)(d + i, TC_N(ld_##X)(s + i));                                  \
                TC_N(st_##C)(d + i + TC_LANES, TC_N(ld_##X)(s + i + TC_LANES));            \
                TC_N(st_##C)(d + i + 2 * TC_LANES, TC_N(ld_##X)(s + i + 2 * TC_LANES));    \
                TC_N(st_##C)(d + i + 3 * TC_LANES, TC_N(ld_##X)(s + i + 3 * TC_LANES));    \
            }                                                                              \
            for (; i + TC_LANES <= n; i += TC_LANES)                                       \
                TC_N(st_##C)(d + i, TC_N(ld_##X)(s + i));                                  \
            for (; i < n; i++) d[i] = IN;                                                  \
        }                                                                                  \
        TC__LOOP_FN void TC__LN(X##_out)(void *to, const void *from, int64_t n) {          \
            T *d = (T *)to;                                                                \
            const TC__E_##C *s = (const TC__E_##C *)from;                                  \
            int64_t i = TC__PACKED_##X(to, from, n);                                       \
            for (; i + TC_LANES <= n; i += TC_LANES)                                       \
                TC_N(st_##X)(d + i, TC_N(ld_##C)(s + i));                                  \
            for (; i < n; i++) d[i] = OUT;                                                 \
        }

// The random words of the elements at i, each of which takes `words`.
#    define TC__WORDS(NAME)                                                                \
        TC__LOOP_PART void TC__LN(NAME)(TC_U32 w[4], int words, const tc__reg *x,          \
                                        int64_t i, uint64_t seed, uint64_t draw) {         \
            int32_t low[TC_LANES], high[TC_LANES];                                         \
            for (int l = 0; l < TC_LANES; l++) {                                           \
                const uint64_t e = (uint64_t)((const int64_t *)x->at)[(i + l) & x->mask];  \
                low[l] = (int32_t)(uint32_t)e;                                             \
                high[l] = (int32_t)(uint32_t)(e >> 32);                                    \
            }                                                                              \
            w[0] = (TC_U32)TC_N(ld_i32)(low), w[1] = (TC_U32)TC_N(ld_i32)(high);           \
            TC_N(draw_u32)(w, words, draw, seed);                                          \
        }
#endif

#undef TC__MASK
#undef TC__TRUTH
#undef TC__FOLD
#undef TC__FOLD_VECTORS
#undef TC__FOLD_MUL
// Every second element of a, and of what b has from its second on; the elements of a from the last on. In AVX2 an
// instruction moves elements within halves of a vector, or halves.
#undef TC__EVEN
#undef TC__TURN
#if !TC__LOOPS_SCALAR && (defined(__clang__) || __GNUC__ >= 12)
#    define TC__SHUFFLE __builtin_shufflevector
#    if TC_W == 8
#        define TC__PAIRS(a, b)                                                            \
            ((TC_E_I64 __attribute__((vector_size(32))))TC__SHUFFLE(a, b, 0, 2, 9, 11, 4,  \
                                                                    6, 13, 15))
#        define TC__EVEN(a, b)                                                             \
            ((TC_F32)TC__SHUFFLE(TC__PAIRS(a, b), TC__PAIRS(a, b), 0, 2, 1, 3))
#        define TC__TURN(a) TC__SHUFFLE(a, a, 7, 6, 5, 4, 3, 2, 1, 0)
#    else
#        define TC__EVEN(a, b) TC__SHUFFLE(a, b, 0, 2, 5, 7)
#        define TC__TURN(a)    TC__SHUFFLE(a, a, 3, 2, 1, 0)
#    endif
#endif
#if TC__LOOPS_SCALAR
#    define TC__TRUTH   1
#    define TC__MASK(x) ((x)&1)
#    define TC__FOLD(NAME, C, EXPR)                                                        \
        TC__LOOP_FN void TC__FN(NAME)(void *lanes, const tc__reg *x, int64_t n) {          \
            TC__E_##C *acc = (TC__E_##C *)lanes;                                           \
            for (int64_t half = x ? 0 : 16; half; half /= 2)                               \
                for (int64_t i = 0; i < half; i++) {                                       \
                    const TC__E_##C a = acc[i], b = acc[i + half];                         \
                    acc[i] = EXPR;                                                         \
                }                                                                          \
            for (int64_t i = 0; x && i < n; i++) {                                         \
                const TC__E_##C a = acc[i & 31];                                           \
                const TC__E_##C b = ((const TC__E_##C *)x->at)[i & x->mask];               \
                acc[i & 31] = EXPR;                                                        \
            }                                                                              \
        }
#else
#    define TC__TRUTH   -1
#    define TC__MASK(x) TC_NEG_i32((x)&1)
#    undef TC__DOWN
#    undef TC__FOLD_JOIN
#    define TC__FOLD_DOWN(STEP, C, l)                                                      \
        {                                                                                  \
            TC__T_##C upper = TC__DOWN(s0, l);                                             \
            s0 = STEP(s0, upper);                                                          \
        }
#    if TC_W == 8
#        define TC__DOWN         TC_DOWN
#        define TC__FOLD_VECTORS TC__4
#        define TC__FOLD_JOIN(STEP, C)                                                     \
            s0 = STEP(s0, s2), s1 = STEP(s1, s3), s0 = STEP(s0, s1);                       \
            TC__FOLD_DOWN(STEP, C, 4) TC__FOLD_DOWN(STEP, C, 2) TC__FOLD_DOWN(STEP, C, 1)
#    else
#        define TC__FOLD_VECTORS TC__8
#        define TC__FOLD_JOIN(STEP, C)                                                     \
            s0 = STEP(s0, s4), s1 = STEP(s1, s5), s2 = STEP(s2, s6), s3 = STEP(s3, s7);    \
            s0 = STEP(s0, s2), s1 = STEP(s1, s3), s0 = STEP(s0, s1);                       \
            TC__FOLD_DOWN(STEP, C, 2) TC__FOLD_DOWN(STEP, C, 1)
#        if defined(__clang__) || __GNUC__ >= 12
#            define TC__DOWN(v, l) __builtin_shufflevector(v, v, l, ((l) + 1) & 3, 2, 3)
#        else
#            define TC__DOWN TC_DOWN
#        endif
#    endif
#    define TC__FOLD(NAME, C, EXPR)                                                        \
        TC__LOOP_FN TC__T_##C TC__LN(NAME##_step)(TC__T_##C a, TC__T_##C b) {              \
            return EXPR;                                                                   \
        }                                                                                  \
        TC__LOOP_FN void TC__FN(NAME)(void *lanes, const tc__reg *x, int64_t n) {          \
            TC__E_##C *acc = (TC__E_##C *)lanes;                                           \
            int64_t i = 0;                                                                 \
            TC__FOLD_VECTORS(TC__FOLD_LOAD, NAME, C)                                       \
            if (!x) {                                                                      \
                TC__FOLD_JOIN(TC__LN(NAME##_step), C)                                      \
                TC_N(st_##C)(acc, s0);                                                     \
                return;                                                                    \
            }                                                                              \
            const TC__E_##C *px = (const TC__E_##C *)x->at;                                \
            const int64_t sx = x->mask & TC_LANES;                                         \
            for (; i + 32 <= n; i += 32, px += 32 / TC_LANES * sx) {                       \
                TC__FOLD_VECTORS(TC__FOLD_STEP, NAME, C)                                   \
            }                                                                              \
            TC__FOLD_VECTORS(TC__FOLD_REST, NAME, C)                                       \
            TC__FOLD_VECTORS(TC__FOLD_SAVE, NAME, C)                                       \
        }
#endif

// Sums of products: what is multiplied in the same pass takes no register.
#if TC__LOOPS_SCALAR
#    define TC__FOLD_MUL(C)                                                                \
        TC__LOOP_FN void TC__LN(fold_mul_##C)(void *lanes, const tc__reg *x,               \
                                              const tc__reg *y, int64_t n) {               \
            TC__E_##C *acc = (TC__E_##C *)lanes;                                           \
            for (int64_t i = 0; i < n; i++) {                                              \
                const TC__E_##C a = ((const TC__E_##C *)x->at)[i & x->mask];               \
                const TC__E_##C b = ((const TC__E_##C *)y->at)[i & y->mask];               \
                const TC__E_##C ab = TC_MUL_##C(a, b);                                     \
                acc[i & 31] = TC_ADD_##C(acc[i & 31], ab);                                 \
            }                                                                              \
        }
#else
#    define TC__FOLD_MUL_STEP(P, NAME, C)                                                  \
        s##P = TC__LN(NAME##_step)(                                                        \
            s##P, TC_MUL_##C(TC_N(ld_##C)(px + P * sx), TC_N(ld_##C)(py + P * sy)));
#    define TC__FOLD_MUL_REST(P, NAME, C)                                                  \
        if (n - i > P * TC_LANES) {                                                        \
            TC_I32 some = TC_N(lanes)((int)(n - i) - P * TC_LANES);                        \
            TC__T_##C old = s##P;                                                          \
            TC__FOLD_MUL_STEP(P, NAME, C)                                                  \
            s##P = TC_SEL_##C(TC_M_##C(some), s##P, old);                                  \
        }
#    define TC__FOLD_MUL(C)                                                                \
        TC__LOOP_FN void TC__LN(fold_mul_##C)(void *lanes, const tc__reg *x,               \
                                              const tc__reg *y, int64_t n) {               \
            TC__E_##C *acc = (TC__E_##C *)lanes;                                           \
            int64_t i = 0;                                                                 \
            TC__POINTERS(x, C, x);                                                         \
            TC__POINTERS(y, C, y);                                                         \
            TC__FOLD_VECTORS(TC__FOLD_LOAD, ADD_##C, C)                                    \
            for (; i + 32 <= n; i += 32) {                                                 \
                TC__FOLD_VECTORS(TC__FOLD_MUL_STEP, ADD_##C, C)                            \
                px += 32 / TC_LANES * sx, py += 32 / TC_LANES * sy;                        \
            }                                                                              \
            TC__FOLD_VECTORS(TC__FOLD_MUL_REST, ADD_##C, C)                                \
            TC__FOLD_VECTORS(TC__FOLD_SAVE, ADD_##C, C)                                    \
        }
#endif

// Two products onto a sum in one pass, which is in a register between them. Factors that are the same for all elements, as a filter's,
// are loaded once.
#define TC__FMA2_STEP(C, V, B, Y)                                                          \
    TC_N(st_##C)                                                                           \
    (out + i + V * TC_LANES,                                                               \
     TC_FMA_##C(TC_N(ld_##C)(pa + V * sa), B,                                              \
                TC_FMA_##C(TC_N(ld_##C)(px + V * sx), Y, TC_N(ld_##C)(pz + V * sz))))
#define TC__FMA2(C)                                                                        \
    TC__LOOP_FN void TC__LN(fma2_##C)(void *d, const tc__reg *const *in, int64_t n) {      \
        TC__E_##C *out = (TC__E_##C *)d;                                                   \
        TC__POINTERS(a, C, in[0]);                                                         \
        TC__POINTERS(b, C, in[1]);                                                         \
        TC__POINTERS(x, C, in[2]);                                                         \
        TC__POINTERS(y, C, in[3]);                                                         \
        TC__POINTERS(z, C, in[4]);                                                         \
        const TC__T_##C b = TC_N(ld_##C)(pb), y = TC_N(ld_##C)(py);                        \
        int64_t i = 0;                                                                     \
        for (; !sb && !sy && i + TC_LANES < n; i += 2 * TC_LANES) {                        \
            TC__FMA2_STEP(C, 0, b, y);                                                     \
            TC__FMA2_STEP(C, 1, b, y);                                                     \
            pa += 2 * sa, px += 2 * sx, pz += 2 * sz;                                      \
        }                                                                                  \
        for (; i < n; i += TC_LANES) {                                                     \
            TC__FMA2_STEP(C, 0, TC_N(ld_##C)(pb), TC_N(ld_##C)(py));                       \
            TC__NEXT(a), TC__NEXT(b), TC__NEXT(x), TC__NEXT(y), TC__NEXT(z);               \
        }                                                                                  \
    }

#if TC__LOOPS_32
#    include "out/interp_rows32.inc"

TC__FMA2(f32)

TC__FOLD_MUL(f32)

TC__TILE(f32)
TC__TILE(i32)
TC__ARG(f32, i32)
TC__ARG(i32, i32)

// What wraps needs no wider lanes: four times as many bytes a vector as of casts to i32 and back.
#    undef TC__NARROW_VECTORS
#    if TC__LOOPS_SCALAR
#        define TC__NARROW_VECTORS(T, OP)
#    else
#        define TC__NARROW_VECTORS(T, OP)                                                  \
            typedef T several __attribute__((vector_size(4 * TC_W)));                      \
            const int64_t size = (int64_t)(sizeof(several) / sizeof(T));                   \
            for (; i + size <= n; i += size) {                                             \
                several p, q;                                                              \
                memcpy(&p, a + i, sizeof p), memcpy(&q, b + i, sizeof q);                  \
                p = p OP q;                                                                \
                memcpy(d + i, &p, sizeof p);                                               \
            }
#    endif
#    undef TC__NARROW_LOOP
#    define TC__NARROW_LOOP(NAME, T, OP)                                                   \
        TC__LOOP_FN void TC__LN(NAME)(void *to, const void *x, const void *y, int64_t n) { \
            T *d = (T *)to;                                                                \
            const T *a = (const T *)x, *b = (const T *)y;                                  \
            int64_t i = 0;                                                                 \
            TC__NARROW_VECTORS(T, OP)                                                      \
            for (; i < n; i++) d[i] = (T)((uint32_t)a[i] OP(uint32_t) b[i]);               \
        }
TC__NARROW_LOOP(add8, uint8_t, +)
TC__NARROW_LOOP(sub8, uint8_t, -)
TC__NARROW_LOOP(mul8, uint8_t, *)
TC__NARROW_LOOP(add16, uint16_t, +)
TC__NARROW_LOOP(sub16, uint16_t, -)
TC__NARROW_LOOP(mul16, uint16_t, *)

// The bytes `keep` of 32 lanes to one vector, which packs within its halves: so those are put in order behind.
TC__LOOP_PART int64_t TC__LN(pack)(void *to, const void *from, int64_t n, int32_t keep) {
    int64_t i = 0;
#    if !TC__LOOPS_SCALAR && TC_ISA_AVX2 && TC_W == 8 && !defined(__clang__)
    typedef short words __attribute__((vector_size(32)));
    typedef char bytes __attribute__((vector_size(32)));
    typedef int ints __attribute__((vector_size(32)));
    const int32_t *s = (const int32_t *)from;
    const ints order = {0, 4, 1, 5, 2, 6, 3, 7};
    for (; i + 32 <= n; i += 32) {
        words a = (words)__builtin_ia32_packusdw256((ints)(TC_N(ld_i32)(s + i) & keep),
                                                    (ints)(TC_N(ld_i32)(s + i + 8) & keep));
        words b =
            (words)__builtin_ia32_packusdw256((ints)(TC_N(ld_i32)(s + i + 16) & keep),
                                              (ints)(TC_N(ld_i32)(s + i + 24) & keep));
        bytes t = (bytes)__builtin_ia32_packuswb256(a, b);
        ints all = (ints)__builtin_ia32_permvarsi256((ints)t, order);
        memcpy((char *)to + i, &all, sizeof all);
    }
#    endif
    (void)to, (void)from, (void)n, (void)keep;
    return i;
}

// Memory that is narrower than a register, in and out; the last few one by one, memory may end
// there.
TC__LOOP_FN void TC__LN(bool_in)(void *to, const void *from, int64_t n) {
    int32_t *d = (int32_t *)to;
    const uint8_t *s = (const uint8_t *)from;
    int64_t i = 0;
    for (; i + TC_LANES <= n; i += TC_LANES) TC_N(st_i32)(d + i, TC_N(ld_bool)(s + i));
    for (; i < n; i++) d[i] = s[i] ? TC__TRUTH : 0;
}

TC__LOOP_FN void TC__LN(bool_out)(void *to, const void *from, int64_t n) {
    uint8_t *d = (uint8_t *)to;
    const int32_t *s = (const int32_t *)from;
    int64_t i = TC__LN(pack)(to, from, n, 1);
    for (; i + TC_LANES <= n; i += TC_LANES) TC_N(st_bool)(d + i, TC_N(ld_i32)(s + i));
    for (; i < n; i++) d[i] = (uint8_t)(s[i] & 1);
}

TC__IN_OUT(u8, uint8_t, i32, s[i], (uint8_t)(s[i] & 255))
TC__IN_OUT(i8, int8_t, i32, s[i], (int8_t)(uint8_t)(s[i] & 255))
TC__IN_OUT(i16, int16_t, i32, s[i], (int16_t)(uint16_t)(s[i] & 65535))
TC__IN_OUT(f8e4m3, uint8_t, f32, tc__f8e4m3_value(s[i]), tc__f8e4m3_of(s[i]))
TC__IN_OUT(f8e5m2, uint8_t, f32, tc__f8e5m2_value(s[i]), tc__f8e5m2_of(s[i]))
TC__IN_OUT(f16, uint16_t, f32, tc__f16_value(s[i]), tc__f16_of(s[i]))
TC__IN_OUT(bf16, uint16_t, f32, tc__bf16_value(s[i]), tc__bf16_of(s[i]))

// What lies behind the last of them may not be memory: so a vector's second half is read from one
// element before, and the last vector is one that ends there.
#    ifdef TC__EVEN
TC__LOOP_PART void TC__LN(second_of)(float *d, const float *s) {
    TC_F32 a = TC_N(ld_f32)(s), b = TC_N(ld_f32)(s + TC_LANES - 1);
    TC_N(st_f32)(d, TC__EVEN(a, b));
}
#    endif

TC__LOOP_FN void TC__LN(second)(void *to, const void *from, int64_t n) {
    float *d = (float *)to;
    const float *s = (const float *)from;
    int64_t i = 0;
#    ifdef TC__EVEN
    for (; i + TC_LANES <= n; i += TC_LANES) TC__LN(second_of)(d + i, s + 2 * i);
    if (i < n && i) TC__LN(second_of)(d + n - TC_LANES, s + 2 * (n - TC_LANES)), i = n;
#    endif
    for (; i < n; i++) memcpy(d + i, s + 2 * i, sizeof *d); // a float may not keep all bits
}

TC__LOOP_FN void TC__LN(ramp_i32)(int32_t *d, int64_t at, int64_t step, int64_t n) {
    int32_t first[TC_LANES];
    int64_t i = 0;
    for (int l = 0; l < TC_LANES; l++) first[l] = (int32_t)(at + l * step);
    TC_I32 v = TC_N(ld_i32)(first), move = TC_N(splat_i32)((int32_t)(TC_LANES * step));
    for (; i + TC_LANES <= n; i += TC_LANES) {
        TC_N(st_i32)(d + i, v);
        v = TC_ADD_i32(v, move);
    }
    for (; i < n; i++) d[i] = (int32_t)(at + i * step);
}

TC__LOOP_FN void TC__LN(turned)(void *to, const void *from, int64_t n) {
    int32_t *d = (int32_t *)to;
    const int32_t *s = (const int32_t *)from;
    int64_t i = 0;
#    ifdef TC__TURN
    for (; i + TC_LANES <= n; i += TC_LANES) {
        TC_I32 a = TC_N(ld_i32)(s - i - (TC_LANES - 1));
        TC_N(st_i32)(d + i, TC__TURN(a));
    }
#    endif
    for (; i < n; i++) d[i] = s[-i];
}

TC__WORDS(words32)

// Whether the elements at i are four vectors in a row, from a multiple of 4 on.
TC__LOOP_PART int TC__LN(fours)(const tc__reg *x, int64_t i, int64_t n) {
    const int64_t *e = (const int64_t *)x->at + i, first = *e;
    int64_t a = first & 3, b = 0, c = 0, d = 0;
    if (n - i < 4 * TC_LANES || !x->mask) return 0;
    for (int l = 0; l < 4 * TC_LANES; l += 4) {
        a |= e[l] ^ (first + l), b |= e[l + 1] ^ (first + l + 1);
        c |= e[l + 2] ^ (first + l + 2), d |= e[l + 3] ^ (first + l + 3);
    }
    return !(a | b | c | d);
}

// Those: what Philox gives for an element is four words.
TC__LOOP_PART void TC__LN(uniform_fours)(float *d, int64_t first, uint64_t seed,
                                         uint64_t draw) {
    int32_t low[TC_LANES], high[TC_LANES];
    float of[4][TC_LANES];
    TC_U32 w[4];
    for (int l = 0; l < TC_LANES; l++) {
        const uint64_t e = (uint64_t)first / 4 + (uint64_t)l;
        low[l] = (int32_t)(uint32_t)e, high[l] = (int32_t)(uint32_t)(e >> 32);
    }
    w[0] = (TC_U32)TC_N(ld_i32)(low), w[1] = (TC_U32)TC_N(ld_i32)(high);
    TC_N(philox_u32)(w, draw, seed);
    for (int v = 0; v < 4; v++) TC_N(st_f32)(of[v], TC_N(uniform_f32)(w[v]));
    for (int l = 0; l < TC_LANES; l++, d += 4)
        d[0] = of[0][l], d[1] = of[1][l], d[2] = of[2][l], d[3] = of[3][l];
}

TC__LOOP_FN void TC__LN(uniform_f32)(void *d, const tc__reg *x, uint64_t seed,
                                     uint64_t draw, int64_t n) {
    int64_t i = 0;
    for (; TC__LN(fours)(x, i, n); i += 4 * TC_LANES) TC__LN(uniform_fours)
    ((float *)d + i, ((const int64_t *)x->at)[i], seed, draw);
    for (; i < n; i += TC_LANES) {
        TC_U32 w[4];
        TC__LN(words32)(w, 1, x, i, seed, draw);
        TC_N(st_f32)((float *)d + i, TC_N(uniform_f32)(w[0]));
    }
}

TC__LOOP_FN void TC__LN(normal_f32)(void *d, const tc__reg *x, uint64_t seed, uint64_t draw,
                                    int64_t n) {
    for (int64_t i = 0; i < n; i += TC_LANES) {
        TC_U32 w[4];
        TC__LN(words32)(w, 2, x, i, seed, draw);
        TC_N(st_f32)((float *)d + i, TC_N(normal_f32)(w[0], w[1]));
    }
}
#endif

#if TC__LOOPS_64
#    include "out/interp_rows64.inc"

TC__FMA2(f64)

TC__FOLD_MUL(f64)

TC__TILE(f64)
TC__TILE(i64)
TC__ARG(f64, i64)
TC__ARG(i64, i64)

TC__LOOP_FN void TC__LN(fill)(void *to, int64_t v, int64_t bytes) {
    const TC_I64 all = TC_N(splat_i64)(v);
    const int64_t size = (int64_t)sizeof all;
    char *d = (char *)to;
    for (; bytes >= 2 * size; bytes -= 2 * size, d += 2 * size)
        memcpy(d, &all, sizeof all), memcpy(d + size, &all, sizeof all);
    if (size > 8 && bytes >= size) memcpy(d, &all, sizeof all), bytes -= size, d += size;
    for (; bytes >= 8; bytes -= 8, d += 8) memcpy(d, &v, 8);
    if (bytes & 4) memcpy(d, &v, 4), d += 4;
    if (bytes & 2) memcpy(d, &v, 2), d += 2;
    if (bytes & 1) memcpy(d, &v, 1);
}

TC__LOOP_FN void TC__LN(ramp)(int64_t *d, int64_t at, int64_t step, int64_t n) {
    int64_t first[TC_LANES], i = 0;
    for (int l = 0; l < TC_LANES; l++) first[l] = at + l * step;
    TC_I64 v = TC_N(ld_i64)(first), move = TC_N(splat_i64)(TC_LANES * step);
    for (; i + TC_LANES <= n; i += TC_LANES) {
        TC_N(st_i64)(d + i, v);
        v = TC_ADD_i64(v, move);
    }
    for (; i < n; i++) d[i] = at + i * step;
}

TC__WORDS(words64)

TC__LOOP_FN void TC__LN(uniform_f64)(void *d, const tc__reg *x, uint64_t seed,
                                     uint64_t draw, int64_t n) {
    for (int64_t i = 0; i < n; i += TC_LANES) {
        TC_U32 w[4];
        TC__LN(words64)(w, 2, x, i, seed, draw);
        TC_N(st_f64)((double *)d + i, TC_N(uniform_f64)(w[0], w[1]));
    }
}

TC__LOOP_FN void TC__LN(normal_f64)(void *d, const tc__reg *x, uint64_t seed, uint64_t draw,
                                    int64_t n) {
    for (int64_t i = 0; i < n; i += TC_LANES) {
        TC_U32 w[4];
        TC__LN(words64)(w, 4, x, i, seed, draw);
        TC_N(st_f64)((double *)d + i, TC_N(normal_f64)(w[0], w[1], w[2], w[3]));
    }
}
#endif
