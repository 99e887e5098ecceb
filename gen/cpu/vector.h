// include-many: see the instantiations in exec/interp_isa.c
// Vector form of the CPU numerics, for the vector extensions of gcc and clang.
// The same macros as cpu/scalar.h with the same bits; no header is included.
//
// The includer defines TC_FN (what stands before a function: storage, inlining, target) and
// TC_N(x) (names of functions and types), and keeps contraction of a*b+c off. It may define
//   TC_ISA_AVX2  1: the functions are compiled for AVX2 and FMA     (0: any target)
//   TC_ISA_AVX512  1: for AVX-512 with BW, DQ and VL, on top of AVX2 (0)
//   TC_W         lanes of EVERY class: 8, 4, or 16 with AVX-512      (8)
//   TC_MATH_64   0 leaves out functions that take or return 64-bit lanes (1)
// gcc cannot pass 64-byte vectors by value without a note on the ABI, so a file that must
// be silent takes the 32-bit classes with TC_W 8 and TC_MATH_64 0, and the rest with
// TC_W 4.
//
// Macro arguments may be evaluated more than once: give names or small expressions.
// A line "fn: name needs..." stands above every function that a printer may leave out; the
// other lines are needed by all.

// undef: begin (only a second form in one file needs these)
#ifdef TC_LANES
#undef TC_ABS_f32
#undef TC_ABS_f64
#undef TC_ADD_f32
#undef TC_ADD_f64
#undef TC_ADD_i32
#undef TC_ADD_i64
#undef TC_ANY_i32
#undef TC_ANY_i64
#undef TC_AT
#undef TC_BITS_f32
#undef TC_BITS_f64
#undef TC_B_f32
#undef TC_B_f64
#undef TC_B_i32
#undef TC_B_i64
#undef TC_CMP_f32
#undef TC_CMP_f64
#undef TC_CMP_i32
#undef TC_CMP_i64
#undef TC_COMBINE
#undef TC_COMBINE_ARRAY
#undef TC_COMBINE_f32
#undef TC_COMBINE_f64
#undef TC_COMBINE_i32
#undef TC_COMBINE_i64
#undef TC_COPY_f32
#undef TC_COPY_f64
#undef TC_CUT
#undef TC_CUT1
#undef TC_CUT2
#undef TC_CUT4
#undef TC_CVT_f32_f64
#undef TC_CVT_f32_i32
#undef TC_CVT_f32_i64
#undef TC_CVT_f64_f32
#undef TC_CVT_f64_i32
#undef TC_CVT_f64_i64
#undef TC_CVT_i32_f32
#undef TC_CVT_i32_f64
#undef TC_CVT_i32_i64
#undef TC_CVT_i64_f32
#undef TC_CVT_i64_f64
#undef TC_CVT_i64_i32
#undef TC_DOWN
#undef TC_EQ_f32
#undef TC_EQ_f64
#undef TC_EQ_i32
#undef TC_EQ_i64
#undef TC_E_F32
#undef TC_E_F64
#undef TC_E_I16
#undef TC_E_I32
#undef TC_E_I64
#undef TC_E_U16
#undef TC_E_U8
#undef TC_E_U32
#undef TC_E_U64
#undef TC_F16_IN
#undef TC_F16_OUT
#undef TC_F32
#undef TC_F64
#undef TC_FIRST
#undef TC_FLIP_f32
#undef TC_FLIP_f64
#undef TC_FMAK_f32
#undef TC_FMA_f32
#undef TC_FROM_BITS_f32
#undef TC_FROM_BITS_f64
#undef TC_GET
#undef TC_GE_f32
#undef TC_GE_f64
#undef TC_GE_i32
#undef TC_GE_i64
#undef TC_GT_f32
#undef TC_GT_f64
#undef TC_GT_i32
#undef TC_GT_i64
#undef TC_HW_F16
#undef TC_HW_FMA
#undef TC_HW_NEON
#undef TC_HW_ROUND
#undef TC_HW_SCALE
#undef TC_HW_SSE2
#undef TC_I32
#undef TC_I64
#undef TC_HALVE
#undef TC_INF_f32
#undef TC_INF_f64
#undef TC_K_f32
#undef TC_K_f64
#undef TC_K_i32
#undef TC_K_i64
#undef TC_K_u32
#undef TC_K_u64
#undef TC_LANES
#undef TC_LE_f32
#undef TC_LE_f64
#undef TC_LE_i32
#undef TC_LE_i64
#undef TC_LT_f32
#undef TC_LT_f64
#undef TC_LT_i32
#undef TC_LT_i64
#undef TC_MAX_f32
#undef TC_MAX_f64
#undef TC_MAX_i32
#undef TC_MAX_i64
#undef TC_MIN_f32
#undef TC_MIN_f64
#undef TC_MIN_i32
#undef TC_MIN_i64
#undef TC_MULHI_u32
#undef TC_MUL_f32
#undef TC_MUL_f64
#undef TC_MUL_i32
#undef TC_MUL_i64
#undef TC_M_f32
#undef TC_M_f64
#undef TC_M_i32
#undef TC_M_i64
#undef TC_NAN_f32
#undef TC_NAN_f64
#undef TC_NEG_f32
#undef TC_NEG_f64
#undef TC_NEG_i32
#undef TC_NEG_i64
#undef TC_NE_f32
#undef TC_NE_f64
#undef TC_NE_i32
#undef TC_NE_i64
#undef TC_NOT
#undef TC_ONE
#undef TC_P32
#undef TC_P64
#undef TC_PART
#undef TC_PARTS32
#undef TC_PARTS64
#undef TC_PICK32
#undef TC_QUARTER
#undef TC_ROUND_PART
#undef TC_ROUND_f32
#undef TC_ROUND_f64
#undef TC_SCALE_f32
#undef TC_SEL_f32
#undef TC_SEL_f64
#undef TC_SEL_i32
#undef TC_SEL_i64
#undef TC_SET
#undef TC_SIGN_f32
#undef TC_SIGN_f64
#undef TC_SOME
#undef TC_SQRTD
#undef TC_SQRTD_PART
#undef TC_SQRTF
#undef TC_SQRTF_PART
#undef TC_SQRT_f32
#undef TC_SQRT_f64
#undef TC_SUB_f32
#undef TC_SUB_f64
#undef TC_SUB_i32
#undef TC_SUB_i64
#undef TC_TOP_f64
#undef TC_U32
#undef TC_U64
#endif
// undef: end

#ifndef TC_ISA_AVX2
#define TC_ISA_AVX2 0
#endif
#ifndef TC_ISA_AVX512
#define TC_ISA_AVX512 0
#endif
#ifndef TC_W
#define TC_W 8
#endif
#ifndef TC_MATH_64
#define TC_MATH_64 1
#endif

#define TC_LANES TC_W

// Types of one lane.
#define TC_E_F32 float
#define TC_E_F64 double
#define TC_E_I32 __INT32_TYPE__
#define TC_E_U32 __UINT32_TYPE__
#define TC_E_I64 __INT64_TYPE__
#define TC_E_U64 __UINT64_TYPE__
#define TC_E_I16 __INT16_TYPE__
#define TC_E_U16 __UINT16_TYPE__
#define TC_E_U8  __UINT8_TYPE__

typedef float TC_N(vf) __attribute__((vector_size(4 * TC_W)));
typedef __INT32_TYPE__ TC_N(vi) __attribute__((vector_size(4 * TC_W)));
typedef __UINT32_TYPE__ TC_N(vu) __attribute__((vector_size(4 * TC_W)));
typedef double TC_N(vd) __attribute__((vector_size(8 * TC_W)));
typedef __INT64_TYPE__ TC_N(vl) __attribute__((vector_size(8 * TC_W)));
typedef __UINT64_TYPE__ TC_N(vul) __attribute__((vector_size(8 * TC_W)));

#define TC_F32 TC_N(vf)
#define TC_I32 TC_N(vi)
#define TC_U32 TC_N(vu)
#define TC_F64 TC_N(vd)
#define TC_I64 TC_N(vl)
#define TC_U64 TC_N(vul)

#if defined(__SSE2__) || TC_ISA_AVX2
#define TC_HW_SSE2 1
#else
#define TC_HW_SSE2 0
#endif
#if defined(__aarch64__)
#define TC_HW_NEON 1
#else
#define TC_HW_NEON 0
#endif
#define TC_HW_FMA (TC_ISA_AVX2 || TC_HW_NEON)
#define TC_HW_ROUND TC_ISA_AVX2
#define TC_HW_SCALE (TC_ISA_AVX512 && TC_W >= 8)
#if TC_W == 8 && defined(__clang__) // which has no builtin of that name for eight lanes
#define TC_HW_F16 0
#else
#define TC_HW_F16 (TC_ISA_AVX2 && TC_W >= 8)
#endif

// Parts: gcc takes loads, stores, shuffles and comparisons apart lane by lane when a type
// is wider than a register, so these are written on register-sized parts, through unions.
#if TC_W >= 8 && TC_ISA_AVX2
#define TC_P32 1
#define TC_P64 2
#elif TC_W == 8
#define TC_P32 2
#define TC_P64 4
#elif TC_ISA_AVX2
#define TC_P32 1
#define TC_P64 1
#else
#define TC_P32 1
#define TC_P64 2
#endif
typedef float TC_N(pf) __attribute__((vector_size(4 * TC_W / TC_P32)));
typedef TC_E_I32 TC_N(pi) __attribute__((vector_size(4 * TC_W / TC_P32)));
typedef double TC_N(pd) __attribute__((vector_size(8 * TC_W / TC_P64)));
typedef TC_E_I64 TC_N(pl) __attribute__((vector_size(8 * TC_W / TC_P64)));
typedef TC_E_U64 TC_N(pw) __attribute__((vector_size(8 * TC_W / TC_P64)));
typedef union {
    TC_F32 all;
    TC_N(pf) part[TC_P32];
} TC_N(uf);
typedef union {
    TC_I32 all;
    TC_N(pi) part[TC_P32];
} TC_N(ui);
typedef union {
    TC_F64 all;
    TC_N(pd) part[TC_P64];
} TC_N(ud);
typedef union {
    TC_I64 all;
    TC_N(pl) part[TC_P64];
} TC_N(ul);

// Parts in memory, at any address and of any effective type.
typedef TC_N(pf) TC_N(mf) __attribute__((aligned(4), may_alias));
typedef TC_N(pi) TC_N(mi) __attribute__((aligned(4), may_alias));
typedef TC_N(pd) TC_N(md) __attribute__((aligned(8), may_alias));
typedef TC_N(pl) TC_N(ml) __attribute__((aligned(8), may_alias));
typedef TC_N(pw) TC_N(mw) __attribute__((aligned(8), may_alias));

// r[i] = F(i) for all parts of a 32-bit or of a 64-bit class.
#if TC_P32 == 1
#define TC_PARTS32(r, F) ((void)((r)[0] = F(0)))
#else
#define TC_PARTS32(r, F) ((r)[0] = F(0), (void)((r)[1] = F(1)))
#endif
#if TC_P64 == 1
#define TC_PARTS64(r, F) ((void)((r)[0] = F(0)))
#elif TC_P64 == 2
#define TC_PARTS64(r, F) ((r)[0] = F(0), (void)((r)[1] = F(1)))
#else
#define TC_PARTS64(r, F) \
    ((r)[0] = F(0), (r)[1] = F(1), (r)[2] = F(2), (void)((r)[3] = F(3)))
#endif

// a op b as a mask; T and M are the unions of the operands and of the mask.
#define TC_CUT1(m, a, op, b) (m)[0] = (a)[0] op (b)[0]
#define TC_CUT2(m, a, op, b) TC_CUT1(m, a, op, b), (m)[1] = (a)[1] op (b)[1]
#define TC_CUT4(m, a, op, b) \
    TC_CUT2(m, a, op, b), (m)[2] = (a)[2] op (b)[2], (m)[3] = (a)[3] op (b)[3]
#define TC_CUT(CUT, T, M, a, op, b) \
    __extension__({ \
        T tc_a, tc_b; \
        M tc_m; \
        tc_a.all = (a); \
        tc_b.all = (b); \
        CUT(tc_m.part, tc_a.part, op, tc_b.part); \
        tc_m.all; \
    })
#if defined(__clang__) || TC_P32 == 1
#define TC_CMP_f32(a, op, b) ((TC_I32)((a) op (b)))
#define TC_CMP_i32(a, op, b) ((TC_I32)((a) op (b)))
#else
#define TC_CMP_f32(a, op, b) TC_CUT(TC_CUT2, TC_N(uf), TC_N(ui), a, op, b)
#define TC_CMP_i32(a, op, b) TC_CUT(TC_CUT2, TC_N(ui), TC_N(ui), a, op, b)
#endif
#if defined(__clang__) || TC_P64 == 1
#define TC_CMP_f64(a, op, b) ((TC_I64)((a) op (b)))
#define TC_CMP_i64(a, op, b) ((TC_I64)((a) op (b)))
#elif TC_P64 == 2
#define TC_CMP_f64(a, op, b) TC_CUT(TC_CUT2, TC_N(ud), TC_N(ul), a, op, b)
#define TC_CMP_i64(a, op, b) TC_CUT(TC_CUT2, TC_N(ul), TC_N(ul), a, op, b)
#else
#define TC_CMP_f64(a, op, b) TC_CUT(TC_CUT4, TC_N(ud), TC_N(ul), a, op, b)
#define TC_CMP_i64(a, op, b) TC_CUT(TC_CUT4, TC_N(ul), TC_N(ul), a, op, b)
#endif

// Constants and lanes. Subtracting +0 keeps -0.0.
#define TC_K_f32(c) ((c) - __extension__(TC_F32){0})
#define TC_K_f64(c) ((c) - __extension__(TC_F64){0})
#define TC_K_i32(c) ((TC_E_I32)(c) - __extension__(TC_I32){0})
#define TC_K_u32(c) ((TC_E_U32)(c) - __extension__(TC_U32){0})
#define TC_K_i64(c) ((TC_E_I64)(c) - __extension__(TC_I64){0})
#define TC_K_u64(c) ((TC_E_U64)(c) - __extension__(TC_U64){0})
#define TC_GET(v, i) ((v)[i])
#define TC_SET(v, i, s) (void)((v)[i] = (s))

// Comparisons and masks: 0 or -1 in each lane.
#define TC_LT_f32(a, b) TC_CMP_f32(a, <, b)
#define TC_LE_f32(a, b) TC_CMP_f32(a, <=, b)
#define TC_GT_f32(a, b) TC_CMP_f32(a, >, b)
#define TC_GE_f32(a, b) TC_CMP_f32(a, >=, b)
#define TC_EQ_f32(a, b) TC_CMP_f32(a, ==, b)
#define TC_NE_f32(a, b) TC_CMP_f32(a, !=, b)
#define TC_LT_f64(a, b) TC_CMP_f64(a, <, b)
#define TC_LE_f64(a, b) TC_CMP_f64(a, <=, b)
#define TC_GT_f64(a, b) TC_CMP_f64(a, >, b)
#define TC_GE_f64(a, b) TC_CMP_f64(a, >=, b)
#define TC_EQ_f64(a, b) TC_CMP_f64(a, ==, b)
#define TC_NE_f64(a, b) TC_CMP_f64(a, !=, b)
#define TC_LT_i32(a, b) TC_CMP_i32(a, <, b)
#define TC_LE_i32(a, b) TC_CMP_i32(a, <=, b)
#define TC_GT_i32(a, b) TC_CMP_i32(a, >, b)
#define TC_GE_i32(a, b) TC_CMP_i32(a, >=, b)
#define TC_EQ_i32(a, b) TC_CMP_i32(a, ==, b)
#define TC_NE_i32(a, b) TC_CMP_i32(a, !=, b)
#define TC_LT_i64(a, b) TC_CMP_i64(a, <, b)
#define TC_LE_i64(a, b) TC_CMP_i64(a, <=, b)
#define TC_GT_i64(a, b) TC_CMP_i64(a, >, b)
#define TC_GE_i64(a, b) TC_CMP_i64(a, >=, b)
#define TC_EQ_i64(a, b) TC_CMP_i64(a, ==, b)
#define TC_NE_i64(a, b) TC_CMP_i64(a, !=, b)
#define TC_NOT(m) (~(m))

#define TC_PICK32(m, a, b) (((m) & (a)) | (~(m) & (b)))
#if TC_ISA_AVX2 && TC_W == 8
#define TC_SEL_f32(m, a, b) __builtin_ia32_blendvps256(b, a, (TC_F32)(m))
#elif TC_ISA_AVX2 && TC_W == 4
#define TC_SEL_f32(m, a, b) __builtin_ia32_blendvps(b, a, (TC_F32)(m))
#else
#define TC_SEL_f32(m, a, b) ((TC_F32)TC_PICK32((TC_I32)(m), (TC_I32)(a), (TC_I32)(b)))
#endif
#if TC_ISA_AVX2 && TC_W == 4
#define TC_SEL_f64(m, a, b) __builtin_ia32_blendvpd256(b, a, (TC_F64)(m))
#else
#define TC_SEL_f64(m, a, b) ((TC_F64)TC_PICK32((TC_I64)(m), (TC_I64)(a), (TC_I64)(b)))
#endif
#if TC_ISA_AVX2 && TC_W <= 8
#define TC_SEL_i32(m, a, b) ((TC_I32)TC_SEL_f32(m, (TC_F32)(a), (TC_F32)(b)))
#else
#define TC_SEL_i32(m, a, b) TC_PICK32(m, a, b)
#endif
#define TC_SEL_i64(m, a, b) ((TC_I64)TC_SEL_f64(m, (TC_F64)(a), (TC_F64)(b)))

// a > b ? a : b and a < b ? a : b: b where they are equal and where one is NaN. These are
// single instructions.
#if TC_ISA_AVX2 && TC_W == 8
#define TC_MAX_f32(a, b) __builtin_ia32_maxps256(a, b)
#define TC_MIN_f32(a, b) __builtin_ia32_minps256(a, b)
#elif TC_W == 16 && defined(__clang__)
#define TC_MAX_f32(a, b) __builtin_ia32_maxps512(a, b, 4)
#define TC_MIN_f32(a, b) __builtin_ia32_minps512(a, b, 4)
#elif TC_W == 16
#define TC_MAX_f32(a, b) __builtin_ia32_maxps512_mask(a, b, a, -1, 4)
#define TC_MIN_f32(a, b) __builtin_ia32_minps512_mask(a, b, a, -1, 4)
#elif TC_HW_SSE2 && TC_W == 4
#define TC_MAX_f32(a, b) __builtin_ia32_maxps(a, b)
#define TC_MIN_f32(a, b) __builtin_ia32_minps(a, b)
#else
#define TC_MAX_f32(a, b) TC_SEL_f32(TC_GT_f32(a, b), a, b)
#define TC_MIN_f32(a, b) TC_SEL_f32(TC_LT_f32(a, b), a, b)
#endif
#if TC_ISA_AVX2 && TC_W == 4
#define TC_MAX_f64(a, b) __builtin_ia32_maxpd256(a, b)
#define TC_MIN_f64(a, b) __builtin_ia32_minpd256(a, b)
#else
#define TC_MAX_f64(a, b) TC_SEL_f64(TC_GT_f64(a, b), a, b)
#define TC_MIN_f64(a, b) TC_SEL_f64(TC_LT_f64(a, b), a, b)
#endif
#define TC_MAX_i32(a, b) TC_SEL_i32(TC_GT_i32(a, b), a, b)
#define TC_MAX_i64(a, b) TC_SEL_i64(TC_GT_i64(a, b), a, b)
#define TC_MIN_i32(a, b) TC_SEL_i32(TC_LT_i32(a, b), a, b)
#define TC_MIN_i64(a, b) TC_SEL_i64(TC_LT_i64(a, b), a, b)

// Bool register (TC_I32, 0 or -1) <-> mask of a class.
#define TC_M_f32(b) (b)
#define TC_M_f64(b) TC_CVT_i32_i64(b)
#define TC_M_i32(b) (b)
#define TC_M_i64(b) TC_CVT_i32_i64(b)
#define TC_B_f32(m) (m)
#define TC_B_f64(m) TC_CVT_i64_i32(m)
#define TC_B_i32(m) (m)
#define TC_B_i64(m) TC_CVT_i64_i32(m)

// Is any lane of the mask set?
#if TC_ISA_AVX2 && TC_W == 8
#define TC_ANY_i32(m) (__builtin_ia32_movmskps256((TC_F32)(m)) != 0)
#elif TC_W == 16
#define TC_ANY_i32(m) (__builtin_ia32_cvtd2mask512(m) != 0)
#elif TC_HW_SSE2 && TC_W == 8
#define TC_ANY_i32(m) \
    __extension__({ \
        TC_N(uf) tc_u; \
        tc_u.all = (TC_F32)(m); \
        (__builtin_ia32_movmskps(tc_u.part[0]) | __builtin_ia32_movmskps(tc_u.part[1])) != \
            0; \
    })
#elif TC_HW_SSE2
#define TC_ANY_i32(m) (__builtin_ia32_movmskps((TC_F32)(m)) != 0)
#else
#define TC_ANY_i32(m) \
    __extension__({ \
        TC_I32 tc_m = (m); \
        int tc_i, tc_any = 0; \
        for (tc_i = 0; tc_i < TC_W; tc_i++) tc_any |= tc_m[tc_i]; \
        tc_any != 0; \
    })
#endif
#if TC_ISA_AVX2 && TC_W == 4
#define TC_ANY_i64(m) (__builtin_ia32_movmskpd256((TC_F64)(m)) != 0)
#else
#define TC_ANY_i64(m) TC_ANY_i32(TC_B_i64(m))
#endif

// Arithmetic: integers wrap.
#define TC_ADD_f32(a, b) ((a) + (b))
#define TC_SUB_f32(a, b) ((a) - (b))
#define TC_MUL_f32(a, b) ((a) * (b))
#define TC_NEG_f32(a) (-(a))
#define TC_ADD_f64(a, b) ((a) + (b))
#define TC_SUB_f64(a, b) ((a) - (b))
#define TC_MUL_f64(a, b) ((a) * (b))
#define TC_NEG_f64(a) (-(a))
#define TC_ADD_i32(a, b) ((TC_I32)((TC_U32)(a) + (TC_U32)(b)))
#define TC_SUB_i32(a, b) ((TC_I32)((TC_U32)(a) - (TC_U32)(b)))
#define TC_MUL_i32(a, b) ((TC_I32)((TC_U32)(a) * (TC_U32)(b)))
#define TC_NEG_i32(a) ((TC_I32)(0u - (TC_U32)(a)))
#define TC_ADD_i64(a, b) ((TC_I64)((TC_U64)(a) + (TC_U64)(b)))
#define TC_SUB_i64(a, b) ((TC_I64)((TC_U64)(a) - (TC_U64)(b)))
#define TC_MUL_i64(a, b) ((TC_I64)((TC_U64)(a) * (TC_U64)(b)))
#define TC_NEG_i64(a) ((TC_I64)((TC_E_U64)0 - (TC_U64)(a)))
#define TC_MULHI_u32(a, b) TC_N(mulhi_u32)(a, b)

// Value conversions. Float to integer truncates and wants a value in range; 64 -> 32 wraps. Of four
// lanes gcc converts two and two, where AVX2 has an instruction.
#define TC_CVT_i32_f32(x) __builtin_convertvector(x, TC_F32)
#define TC_CVT_i64_f32(x) __builtin_convertvector(x, TC_F32)
#define TC_CVT_f32_i32(x) __builtin_convertvector(x, TC_I32)
#define TC_CVT_f32_i64(x) __builtin_convertvector(x, TC_I64)
#define TC_CVT_f64_i32(x) __builtin_convertvector(x, TC_I32)
#define TC_CVT_f64_i64(x) __builtin_convertvector(x, TC_I64)
#define TC_CVT_f64_f32(x) __builtin_convertvector(x, TC_F32)
#if TC_ISA_AVX2 && TC_W == 4 && !defined(__clang__)
#define TC_CVT_i32_i64(x) ((TC_I64)__builtin_ia32_pmovsxdq256(x))
#define TC_CVT_i32_f64(x) __builtin_ia32_cvtdq2pd256(x)
#define TC_CVT_f32_f64(x) __builtin_ia32_cvtps2pd256(x)
#else
#define TC_CVT_i32_i64(x) __builtin_convertvector(x, TC_I64)
#define TC_CVT_i32_f64(x) __builtin_convertvector(x, TC_F64)
#define TC_CVT_f32_f64(x) __builtin_convertvector(x, TC_F64)
#endif
#if TC_HW_SSE2 && TC_W == 4 && !defined(__clang__)
#define TC_CVT_i64_i32(x) \
    __extension__({ \
        union { \
            TC_I64 all; \
            TC_F32 half[2]; \
        } tc_u; \
        tc_u.all = (x); \
        (TC_I32) __builtin_ia32_shufps(tc_u.half[0], tc_u.half[1], 0x88); \
    })
#else
#define TC_CVT_i64_i32(x) __builtin_convertvector(x, TC_I32)
#endif
// Without an instruction: both halves as the last bits of a large number; the sum rounds once.
#if TC_HW_SSE2 && !TC_ISA_AVX512
#define TC_CVT_i64_f64(x) \
    __extension__({ \
        TC_U64 tc_x = (TC_U64)(x); \
        TC_F64 tc_low = (TC_F64)((tc_x & 0xffffffffu) | 0x4330000000000000u); \
        TC_F64 tc_high = (TC_F64)((tc_x >> 32) ^ 0x4530000080000000u); \
        (tc_high - 19342822341709703277445120.0) + tc_low; \
    })
#else
#define TC_CVT_i64_f64(x) __builtin_convertvector(x, TC_F64)
#endif

// Bit patterns: a cast between vector types keeps the bits.
#define TC_BITS_f32(x) ((TC_I32)(x))
#define TC_BITS_f64(x) ((TC_I64)(x))
#define TC_FROM_BITS_f32(i) ((TC_F32)(i))
#define TC_FROM_BITS_f64(i) ((TC_F64)(i))

// Rounding to an integer by mode: 8 to nearest even, 9 down, 10 up, 11 to zero.
#if TC_ISA_AVX2 && TC_W == 8
#define TC_ROUND_f32(x, mode) __builtin_ia32_roundps256(x, mode)
#define TC_ROUND_f64(x, mode) \
    __extension__({ \
        TC_N(ud) tc_u; \
        tc_u.all = (x); \
        tc_u.part[0] = __builtin_ia32_roundpd256(tc_u.part[0], mode); \
        tc_u.part[1] = __builtin_ia32_roundpd256(tc_u.part[1], mode); \
        tc_u.all; \
    })
#elif TC_W == 16
#define TC_ROUND_f32(x, mode) __builtin_ia32_rndscaleps_mask(x, mode, x, -1, 4)
#define TC_ROUND_PART(x, mode) __builtin_ia32_rndscalepd_mask(x, mode, x, -1, 4)
#define TC_ROUND_f64(x, mode) \
    __extension__({ \
        TC_N(ud) tc_u; \
        tc_u.all = (x); \
        tc_u.part[0] = TC_ROUND_PART(tc_u.part[0], mode); \
        tc_u.part[1] = TC_ROUND_PART(tc_u.part[1], mode); \
        tc_u.all; \
    })
#elif TC_ISA_AVX2
#define TC_ROUND_f32(x, mode) __builtin_ia32_roundps(x, mode)
#define TC_ROUND_f64(x, mode) __builtin_ia32_roundpd256(x, mode)
#endif

// Square root, correctly rounded: SQRTF and SQRTD do one part.
#if TC_ISA_AVX2 && TC_W == 8
#define TC_SQRTF __builtin_ia32_sqrtps256
#define TC_SQRTD __builtin_ia32_sqrtpd256
#elif TC_W == 16 && defined(__clang__)
#define TC_SQRTF(x) __builtin_ia32_sqrtps512(x, 4)
#define TC_SQRTD(x) __builtin_ia32_sqrtpd512(x, 4)
#elif TC_W == 16
#define TC_SQRTF(x) __builtin_ia32_sqrtps512_mask(x, x, -1, 4)
#define TC_SQRTD(x) __builtin_ia32_sqrtpd512_mask(x, x, -1, 4)
#elif TC_ISA_AVX2
#define TC_SQRTF __builtin_ia32_sqrtps
#define TC_SQRTD __builtin_ia32_sqrtpd256
#elif TC_HW_SSE2
#define TC_SQRTF __builtin_ia32_sqrtps
#define TC_SQRTD __builtin_ia32_sqrtpd
#else
#define TC_SQRTF TC_N(sqrt_pf)
#define TC_SQRTD TC_N(sqrt_pd)

TC_FN TC_N(pf) TC_N(sqrt_pf)(TC_N(pf) x) {
#if TC_HW_NEON
    __asm__("fsqrt %0.4s, %1.4s" : "=w"(x) : "w"(x));
#else
    int i;
    for (i = 0; i < 4; i++) x[i] = __builtin_sqrtf(x[i]);
#endif
    return x;
}

TC_FN TC_N(pd) TC_N(sqrt_pd)(TC_N(pd) x) {
#if TC_HW_NEON
    __asm__("fsqrt %0.2d, %1.2d" : "=w"(x) : "w"(x));
#else
    int i;
    for (i = 0; i < 2; i++) x[i] = __builtin_sqrt(x[i]);
#endif
    return x;
}
#endif
#define TC_SQRT_f32(x) \
    __extension__({ \
        TC_N(uf) tc_u; \
        tc_u.all = (x); \
        TC_PARTS32(tc_u.part, TC_SQRTF_PART); \
        tc_u.all; \
    })
#define TC_SQRT_f64(x) \
    __extension__({ \
        TC_N(ud) tc_u; \
        tc_u.all = (x); \
        TC_PARTS64(tc_u.part, TC_SQRTD_PART); \
        tc_u.all; \
    })
#define TC_SQRTF_PART(i) TC_SQRTF(tc_u.part[i])
#define TC_SQRTD_PART(i) TC_SQRTD(tc_u.part[i])

// a * 2^b for a whole number b, rounded once.
#if TC_W == 16
#define TC_SCALE_f32(a, b) __builtin_ia32_scalefps512_mask(a, b, a, -1, 4)
#elif TC_HW_SCALE
#define TC_SCALE_f32(a, b) __builtin_ia32_scalefps256_mask(a, b, a, -1)
#endif

// fl(a * b + c) with one rounding.
#define TC_FMAK_f32(a, b, k) TC_FMA_f32(a, b, TC_K_f32(k))
#if TC_ISA_AVX2 && TC_W == 8
#define TC_FMA_f32(a, b, c) __builtin_ia32_vfmaddps256(a, b, c)
#elif TC_W == 16
#define TC_FMA_f32(a, b, c) __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4)
#elif TC_ISA_AVX2
#define TC_FMA_f32(a, b, c) __builtin_ia32_vfmaddps(a, b, c)
#else
#define TC_FMA_f32(a, b, c) TC_N(fma_f32)(a, b, c)

// Without the instruction: see fma_f32 in cpu/scalar.h. The sum in double is rounded to
// odd, by 100 instructions: inlined, an exponential would take the compiler ten times as long.
#if TC_HW_NEON
TC_FN
#else
TC_FN_COLD
#endif
TC_F32 TC_N(fma_f32)(TC_F32 a, TC_F32 b, TC_F32 c) {
#if TC_HW_NEON
    TC_N(uf) u, v, w;
    int i;
    u.all = a;
    v.all = b;
    w.all = c;
    for (i = 0; i < TC_P32; i++)
        __asm__("fmla %0.4s, %1.4s, %2.4s"
                : "+w"(w.part[i])
                : "w"(u.part[i]), "w"(v.part[i]));
    return w.all;
#else
    TC_F64 p = TC_CVT_f32_f64(a) * TC_CVT_f32_f64(b), d = TC_CVT_f32_f64(c);
    TC_F64 s = p + d, t = s - p;
    TC_F64 e = (p - (s - t)) + (d - t), zero = TC_K_f64(0.0);
    TC_U64 i = (TC_U64)s, j = (TC_U64)e;
    TC_U64 inexact = (TC_U64)(TC_CMP_f64(e, <, zero) | TC_CMP_f64(e, >, zero));
    TC_U64 step = 1u - (((i ^ j) >> 63) << 1);
    i += step & inexact & ((i & 1u) - 1u);
    return TC_CVT_f64_f32((TC_F64)i);
#endif
}
#endif

// High halves of the 64-bit products.
TC_FN TC_U32 TC_N(mulhi_u32)(TC_U32 a, TC_U32 b) {
#if TC_ISA_AVX2 && TC_W == 8
    typedef TC_E_U64 wide __attribute__((vector_size(32)));
    TC_I32 a1 = (TC_I32)((wide)a >> 32), b1 = (TC_I32)((wide)b >> 32);
    wide even = (wide)__builtin_ia32_pmuludq256((TC_I32)a, (TC_I32)b);
    wide odd = (wide)__builtin_ia32_pmuludq256(a1, b1);
    return (TC_U32)((even >> 32) | ((odd >> 32) << 32));
#elif TC_W == 16
    typedef TC_E_U64 wide __attribute__((vector_size(64)));
    TC_I32 a1 = (TC_I32)((wide)a >> 32), b1 = (TC_I32)((wide)b >> 32);
#if defined(__clang__)
    wide even = (wide)__builtin_ia32_pmuludq512((TC_I32)a, (TC_I32)b);
    wide odd = (wide)__builtin_ia32_pmuludq512(a1, b1);
#else // by `*` it would be the product of 64 bits, which takes three times as long
    typedef long long parts __attribute__((vector_size(64)));
    const parts none = {0};
    wide even = (wide)__builtin_ia32_pmuludq512_mask((TC_I32)a, (TC_I32)b, none, -1);
    wide odd = (wide)__builtin_ia32_pmuludq512_mask(a1, b1, none, -1);
#endif
    return (TC_U32)((even >> 32) | ((odd >> 32) << 32));
#else
    TC_U32 a0 = a & 0xffffu, a1 = a >> 16, b0 = b & 0xffffu, b1 = b >> 16;
    TC_U32 t = a1 * b0 + ((a0 * b0) >> 16), u = a0 * b1 + (t & 0xffffu);
    return a1 * b1 + (t >> 16) + (u >> 16);
#endif
}

// Loads and stores at any address. ldn: the first n lanes, the others zero. ldm: the lanes of a mask,
// the others zero; memory of those is not touched. stn: the first n. nt: a store past the cache; p is
// aligned to the vector, and an sfence belongs at the end.

#define TC_AT(i) q[i]
#define TC_PART(i) u.part[i]
#if TC_W == 16
// The first n lanes as bits of a mask register.
#define TC_FIRST(n) ((unsigned short)((1u << (n)) - 1u))
#endif
// The lanes whose bit is set, the others zero.
#define TC_ONE(p, bits, i) (bits) >> (i)&1 ? (p)[i] : 0
#if TC_W == 8
#define TC_SOME(p, bits) \
    {TC_ONE(p, bits, 0), TC_ONE(p, bits, 1), TC_ONE(p, bits, 2), TC_ONE(p, bits, 3), \
     TC_ONE(p, bits, 4), TC_ONE(p, bits, 5), TC_ONE(p, bits, 6), TC_ONE(p, bits, 7)}
#else
#define TC_SOME(p, bits) \
    {TC_ONE(p, bits, 0), TC_ONE(p, bits, 1), TC_ONE(p, bits, 2), TC_ONE(p, bits, 3)}
#endif

// fn: ld_f32
TC_FN TC_F32 TC_N(ld_f32)(const float *p) {
    const TC_N(mf) *q = (const TC_N(mf) *)p;
    TC_N(uf) u;
    TC_PARTS32(u.part, TC_AT);
    return u.all;
}

// fn: ld_i32
TC_FN TC_I32 TC_N(ld_i32)(const TC_E_I32 *p) {
    const TC_N(mi) *q = (const TC_N(mi) *)p;
    TC_N(ui) u;
    TC_PARTS32(u.part, TC_AT);
    return u.all;
}

// fn: st_f32
TC_FN void TC_N(st_f32)(float *p, TC_F32 v) {
    TC_N(mf) *q = (TC_N(mf) *)p;
    TC_N(uf) u;
    u.all = v;
    TC_PARTS32(q, TC_PART);
}

// fn: st_i32
TC_FN void TC_N(st_i32)(TC_E_I32 *p, TC_I32 v) {
    TC_N(mi) *q = (TC_N(mi) *)p;
    TC_N(ui) u;
    u.all = v;
    TC_PARTS32(q, TC_PART);
}

// fn: ldm_f32 ld_f32
TC_FN TC_F32 TC_N(ldm_f32)(const float *p, TC_I32 m) {
#if TC_W == 16
    TC_F32 zero = {0};
    return __builtin_ia32_loadups512_mask(p, zero, (unsigned short)__builtin_ia32_cvtd2mask512(m));
#elif TC_ISA_AVX2 && TC_W == 8
    return __builtin_ia32_maskloadps256((const TC_F32 *)(const void *)p, m);
#else
    unsigned bits = 0;
    int i;
    for (i = 0; i < TC_W; i++) bits |= (unsigned)m[i] & 1u << i;
    TC_F32 some = TC_SOME(p, bits);
    return some;
#endif
}

// fn: ldm_i32 ldm_f32
TC_FN TC_I32 TC_N(ldm_i32)(const TC_E_I32 *p, TC_I32 m) {
    return (TC_I32)TC_N(ldm_f32)((const float *)(const void *)p, m);
}

// fn: ldn_f32 ld_f32
TC_FN TC_F32 TC_N(ldn_f32)(const float *p, int n) {
#if TC_W == 16
    TC_F32 zero = {0};
    return __builtin_ia32_loadups512_mask(p, zero, TC_FIRST(n));
#elif TC_ISA_AVX2 && TC_W == 8
    TC_I32 lane = {0, 1, 2, 3, 4, 5, 6, 7}, end = TC_K_i32(n);
    return __builtin_ia32_maskloadps256((const TC_F32 *)(const void *)p,
                                        TC_CMP_i32(lane, <, end));
#else
    unsigned bits = (1u << n) - 1u;
    TC_F32 some = TC_SOME(p, bits);
    return n >= TC_W ? TC_N(ld_f32)(p) : some;
#endif
}

// fn: ldn_i32 ldn_f32
TC_FN TC_I32 TC_N(ldn_i32)(const TC_E_I32 *p, int n) {
    return (TC_I32)TC_N(ldn_f32)((const float *)(const void *)p, n);
}

// fn: stn_f32 st_f32
// In halves, which are few where n is a constant: masked stores are slow on AMD, and need AVX.
TC_FN void TC_N(stn_f32)(float *p, TC_F32 v, int n) {
#if TC_W == 16
    __builtin_ia32_storeups512_mask(p, v, TC_FIRST(n));
#else
    typedef float four __attribute__((vector_size(16), aligned(4), may_alias));
    typedef TC_E_I64 two __attribute__((aligned(4), may_alias));
    union {
        TC_F32 all;
        float f32[TC_W];
        TC_E_I64 i64[TC_W / 2];
        float v4f __attribute__((vector_size(16)));
    } u;
    int i = 0;
    if (n >= TC_W) {
        TC_N(st_f32)(p, v);
        return;
    }
    u.all = v;
    if (n & 4) *(four *)(void *)p = u.v4f, i = 4;
    if (n & 2) *(two *)(void *)(p + i) = u.i64[i / 2], i += 2;
    if (n & 1) p[i] = u.f32[i];
#endif
}

// fn: stn_i32 stn_f32
TC_FN void TC_N(stn_i32)(TC_E_I32 *p, TC_I32 v, int n) {
    TC_N(stn_f32)((float *)(void *)p, (TC_F32)v, n);
}

// fn: nt_f32 st_f32
TC_FN void TC_N(nt_f32)(float *p, TC_F32 v) {
#if TC_HW_SSE2
    TC_N(uf) u;
    int i;
    u.all = v;
    for (i = 0; i < TC_P32; i++) {
#if defined(__clang__)
        __builtin_nontemporal_store(u.part[i], (TC_N(pf) *)(void *)p + i);
#elif TC_W == 16
        __builtin_ia32_movntps512(p + i * (TC_W / TC_P32), u.part[i]);
#elif TC_ISA_AVX2 && TC_W == 8
        __builtin_ia32_movntps256(p + i * (TC_W / TC_P32), u.part[i]);
#else
        __builtin_ia32_movntps(p + i * (TC_W / TC_P32), u.part[i]);
#endif
    }
#else
    TC_N(st_f32)(p, v);
#endif
}

// fn: nt_i32 nt_f32
TC_FN void TC_N(nt_i32)(TC_E_I32 *p, TC_I32 v) {
    TC_N(nt_f32)((float *)(void *)p, (TC_F32)v);
}

// fn: fence
// Orders non-temporal stores before what follows.
TC_FN void TC_N(fence)(void) {
#if TC_HW_SSE2
    __builtin_ia32_sfence();
#endif
}

// fn: ld_u8
// Bytes as 0..255.
TC_FN TC_I32 TC_N(ld_u8)(const __UINT8_TYPE__ *p) {
#if TC_W == 16 && !defined(__clang__)
    typedef char bytes __attribute__((vector_size(16)));
    TC_I32 zero = {0};
    bytes t;
    __builtin_memcpy(&t, p, TC_W);
    return __builtin_ia32_pmovzxbd512_mask(t, zero, -1);
#elif TC_ISA_AVX2 && !defined(__clang__)
    typedef char bytes __attribute__((vector_size(16)));
#if TC_W == 8
    typedef long long word __attribute__((vector_size(16)));
    word t = {0, 0};
    long long bits;
#else
    typedef int word __attribute__((vector_size(16)));
    word t = {0, 0, 0, 0};
    int bits;
#endif
    __builtin_memcpy(&bits, p, TC_W);
    t[0] = bits;
#if TC_W == 8
    return (TC_I32)__builtin_ia32_pmovzxbd256((bytes)t);
#else
    return (TC_I32)__builtin_ia32_pmovzxbd128((bytes)t);
#endif
#else
    typedef __UINT8_TYPE__ bytes __attribute__((vector_size(TC_W)));
    bytes t;
    __builtin_memcpy(&t, p, TC_W);
    return __builtin_convertvector(t, TC_I32);
#endif
}

// fn: st_u8
// The low byte of every lane.
TC_FN void TC_N(st_u8)(__UINT8_TYPE__ *p, TC_I32 v) {
#if TC_W == 16 && !defined(__clang__)
    typedef char bytes __attribute__((vector_size(16)));
    bytes t = {0};
    t = __builtin_ia32_pmovdb512_mask(v, t, -1);
    __builtin_memcpy(p, &t, TC_W);
#elif TC_ISA_AVX2 && !defined(__clang__)
    typedef short words __attribute__((vector_size(16)));
    typedef int ints __attribute__((vector_size(16)));
    union {
        TC_I32 all;
        ints half[TC_W / 4];
    } t;
    words w;
    ints b;
    t.all = v & 255;
    w = __builtin_ia32_packusdw128(t.half[0], t.half[TC_W / 4 - 1]);
    b = (ints)__builtin_ia32_packuswb128(w, w);
    __builtin_memcpy(p, &b, TC_W);
#else
    typedef __UINT8_TYPE__ bytes __attribute__((vector_size(TC_W)));
    bytes t = __builtin_convertvector(v, bytes);
    __builtin_memcpy(p, &t, TC_W);
#endif
}

// fn: ld_bool ld_u8
TC_FN TC_I32 TC_N(ld_bool)(const __UINT8_TYPE__ *p) {
    TC_I32 v = TC_N(ld_u8)(p), zero = TC_K_i32(0);
    return TC_CMP_i32(v, !=, zero);
}

// fn: st_bool st_u8
TC_FN void TC_N(st_bool)(__UINT8_TYPE__ *p, TC_I32 v) { TC_N(st_u8)(p, v & 1); }

// fn: ldn_u8 ld_u8
TC_FN TC_I32 TC_N(ldn_u8)(const __UINT8_TYPE__ *p, int n) {
    __UINT8_TYPE__ t[TC_W] = {0};
    int i;
    for (i = 0; i < n; i++) t[i] = p[i];
    return TC_N(ld_u8)(t);
}

// fn: stn_u8 st_u8
TC_FN void TC_N(stn_u8)(__UINT8_TYPE__ *p, TC_I32 v, int n) {
    __UINT8_TYPE__ t[TC_W];
    int i;
    TC_N(st_u8)(t, v);
    for (i = 0; i < n; i++) p[i] = t[i];
}

// fn: ldn_bool ldn_u8
TC_FN TC_I32 TC_N(ldn_bool)(const __UINT8_TYPE__ *p, int n) {
    TC_I32 v = TC_N(ldn_u8)(p, n), zero = TC_K_i32(0);
    return TC_CMP_i32(v, !=, zero);
}

// fn: stn_bool stn_u8
TC_FN void TC_N(stn_bool)(__UINT8_TYPE__ *p, TC_I32 v, int n) { TC_N(stn_u8)(p, v & 1, n); }

// fn: ld_i8 ld_u8
TC_FN TC_I32 TC_N(ld_i8)(const __INT8_TYPE__ *p) {
    TC_I32 v = TC_N(ld_u8)((const __UINT8_TYPE__ *)p);
    return (v ^ 128) - 128;
}

// fn: st_i8 st_u8
TC_FN void TC_N(st_i8)(__INT8_TYPE__ *p, TC_I32 v) { TC_N(st_u8)((__UINT8_TYPE__ *)p, v); }

// fn: ldn_i8 ldn_u8
TC_FN TC_I32 TC_N(ldn_i8)(const __INT8_TYPE__ *p, int n) {
    TC_I32 v = TC_N(ldn_u8)((const __UINT8_TYPE__ *)p, n);
    return (v ^ 128) - 128;
}

// fn: stn_i8 stn_u8
TC_FN void TC_N(stn_i8)(__INT8_TYPE__ *p, TC_I32 v, int n) {
    TC_N(stn_u8)((__UINT8_TYPE__ *)p, v, n);
}

// fn: ld_u16
// 16-bit words as 0..65535.
TC_FN TC_I32 TC_N(ld_u16)(const __UINT16_TYPE__ *p) {
#if TC_W == 16 && !defined(__clang__)
    typedef short words __attribute__((vector_size(32)));
    TC_I32 zero = {0};
    words t;
    __builtin_memcpy(&t, p, 2 * TC_W);
    return __builtin_ia32_pmovzxwd512_mask(t, zero, -1);
#elif TC_ISA_AVX2 && TC_W == 8 && !defined(__clang__)
    typedef short words __attribute__((vector_size(16)));
    words t;
    __builtin_memcpy(&t, p, 2 * TC_W);
    return (TC_I32)__builtin_ia32_pmovzxwd256(t);
#else
    typedef __UINT16_TYPE__ words __attribute__((vector_size(2 * TC_W)));
    words t;
    __builtin_memcpy(&t, p, 2 * TC_W);
    return __builtin_convertvector(t, TC_I32);
#endif
}

// fn: st_u16
// The low word of every lane.
TC_FN void TC_N(st_u16)(__UINT16_TYPE__ *p, TC_I32 v) {
#if TC_W == 16 && !defined(__clang__)
    typedef short words __attribute__((vector_size(32)));
    words t = {0};
    t = __builtin_ia32_pmovdw512_mask(v, t, -1);
    __builtin_memcpy(p, &t, 2 * TC_W);
#elif TC_ISA_AVX2 && !defined(__clang__)
    typedef int ints __attribute__((vector_size(16)));
    typedef short words __attribute__((vector_size(16)));
    union {
        TC_I32 all;
        ints half[TC_W / 4];
    } t;
    words w;
    t.all = v & 65535;
    w = (words)__builtin_ia32_packusdw128(t.half[0], t.half[TC_W / 4 - 1]);
    __builtin_memcpy(p, &w, 2 * TC_W);
#else
    typedef __UINT16_TYPE__ words __attribute__((vector_size(2 * TC_W)));
    words t = __builtin_convertvector(v, words);
    __builtin_memcpy(p, &t, 2 * TC_W);
#endif
}

// fn: ldn_u16 ld_u16
TC_FN TC_I32 TC_N(ldn_u16)(const __UINT16_TYPE__ *p, int n) {
    __UINT16_TYPE__ t[TC_W] = {0};
    int i;
    for (i = 0; i < n; i++) t[i] = p[i];
    return TC_N(ld_u16)(t);
}

// fn: stn_u16 st_u16
TC_FN void TC_N(stn_u16)(__UINT16_TYPE__ *p, TC_I32 v, int n) {
    __UINT16_TYPE__ t[TC_W];
    int i;
    TC_N(st_u16)(t, v);
    for (i = 0; i < n; i++) p[i] = t[i];
}

// f16 where the CPU converts it: eight or sixteen at a time.
#if TC_W == 16
typedef short TC_N(f16s) __attribute__((vector_size(32)));
#define TC_F16_IN(t) __builtin_ia32_vcvtph2ps512_mask(t, __extension__(TC_F32){0}, -1, 4)
#define TC_F16_OUT(v) __builtin_ia32_vcvtps2ph512_mask(v, 0, __extension__(TC_N(f16s)){0}, -1)
#elif TC_HW_F16
typedef short TC_N(f16s) __attribute__((vector_size(16)));
#define TC_F16_IN(t) __builtin_ia32_vcvtph2ps256(t)
#define TC_F16_OUT(v) __builtin_ia32_vcvtps2ph256(v, 0)
#endif

// fn: splat_f32
TC_FN TC_F32 TC_N(splat_f32)(float x) { return x - __extension__(TC_F32){0}; }

// fn: splat_i32
TC_FN TC_I32 TC_N(splat_i32)(TC_E_I32 x) { return x - __extension__(TC_I32){0}; }

// fn: iota_i32
// base + lane
TC_FN TC_I32 TC_N(iota_i32)(TC_E_I32 base) {
#if TC_W == 16
    TC_U32 v = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif TC_W == 8
    TC_U32 v = {0, 1, 2, 3, 4, 5, 6, 7};
#else
    TC_U32 v = {0, 1, 2, 3};
#endif
    return (TC_I32)(v + (TC_E_U32)base);
}

// fn: lanes iota_i32
// The mask of the first n lanes.
TC_FN TC_I32 TC_N(lanes)(int n) {
    TC_I32 v = TC_N(iota_i32)(0), m = TC_K_i32(n);
    return TC_CMP_i32(v, <, m);
}

#if TC_MATH_64
// fn: ld_f64
TC_FN TC_F64 TC_N(ld_f64)(const double *p) {
    const TC_N(md) *q = (const TC_N(md) *)p;
    TC_N(ud) u;
    TC_PARTS64(u.part, TC_AT);
    return u.all;
}

// fn: ld_i64
TC_FN TC_I64 TC_N(ld_i64)(const TC_E_I64 *p) {
    const TC_N(ml) *q = (const TC_N(ml) *)p;
    TC_N(ul) u;
    TC_PARTS64(u.part, TC_AT);
    return u.all;
}

// fn: st_f64
TC_FN void TC_N(st_f64)(double *p, TC_F64 v) {
    TC_N(md) *q = (TC_N(md) *)p;
    TC_N(ud) u;
    u.all = v;
    TC_PARTS64(q, TC_PART);
}

// fn: st_i64
TC_FN void TC_N(st_i64)(TC_E_I64 *p, TC_I64 v) {
    TC_N(ml) *q = (TC_N(ml) *)p;
    TC_N(ul) u;
    u.all = v;
    TC_PARTS64(q, TC_PART);
}

// fn: ldm_f64 ld_f64
TC_FN TC_F64 TC_N(ldm_f64)(const double *p, TC_I32 m) {
#if TC_ISA_AVX2 && TC_W == 4
    typedef long long longs __attribute__((vector_size(32)));
    return __builtin_ia32_maskloadpd256((const TC_F64 *)(const void *)p, (longs)TC_M_f64(m));
#else
    double t[TC_W] = {0};
    int i;
    for (i = 0; i < TC_W; i++)
        if (m[i]) t[i] = p[i];
    return TC_N(ld_f64)(t);
#endif
}

// fn: ldm_i64 ldm_f64
TC_FN TC_I64 TC_N(ldm_i64)(const TC_E_I64 *p, TC_I32 m) {
    return (TC_I64)TC_N(ldm_f64)((const double *)(const void *)p, m);
}

// fn: ldn_f64 ld_f64
TC_FN TC_F64 TC_N(ldn_f64)(const double *p, int n) {
#if TC_ISA_AVX2 && TC_W == 4
    typedef long long longs __attribute__((vector_size(32)));
    TC_I64 lane = {0, 1, 2, 3}, end = TC_K_i64(n);
    return __builtin_ia32_maskloadpd256((const TC_F64 *)(const void *)p,
                                        (longs)TC_CMP_i64(lane, <, end));
#else
    double t[TC_W] = {0};
    int i;
    for (i = 0; i < n; i++) t[i] = p[i];
    return TC_N(ld_f64)(t);
#endif
}

// fn: ldn_i64 ldn_f64
TC_FN TC_I64 TC_N(ldn_i64)(const TC_E_I64 *p, int n) {
    return (TC_I64)TC_N(ldn_f64)((const double *)(const void *)p, n);
}

// fn: stn_f64 st_f64
TC_FN void TC_N(stn_f64)(double *p, TC_F64 v, int n) {
    double t[TC_W];
    int i;
    TC_N(st_f64)(t, v);
    for (i = 0; i < n; i++) p[i] = t[i];
}

// fn: stn_i64 st_i64
TC_FN void TC_N(stn_i64)(TC_E_I64 *p, TC_I64 v, int n) {
    TC_E_I64 t[TC_W];
    int i;
    TC_N(st_i64)(t, v);
    for (i = 0; i < n; i++) p[i] = t[i];
}

// fn: nt_f64 st_f64
TC_FN void TC_N(nt_f64)(double *p, TC_F64 v) {
#if TC_HW_SSE2
    TC_N(ud) u;
    int i;
    u.all = v;
    for (i = 0; i < TC_P64; i++) {
#if defined(__clang__)
        __builtin_nontemporal_store(u.part[i], (TC_N(pd) *)(void *)p + i);
#elif TC_W == 16
        __builtin_ia32_movntpd512(p + i * (TC_W / TC_P64), u.part[i]);
#elif TC_ISA_AVX2
        __builtin_ia32_movntpd256(p + i * (TC_W / TC_P64), u.part[i]);
#else
        __builtin_ia32_movntpd(p + i * (TC_W / TC_P64), u.part[i]);
#endif
    }
#else
    TC_N(st_f64)(p, v);
#endif
}

// fn: nt_i64 nt_f64
TC_FN void TC_N(nt_i64)(TC_E_I64 *p, TC_I64 v) {
    TC_N(nt_f64)((double *)(void *)p, (TC_F64)v);
}

// fn: splat_f64
TC_FN TC_F64 TC_N(splat_f64)(double x) { return x - __extension__(TC_F64){0}; }

// fn: splat_i64
TC_FN TC_I64 TC_N(splat_i64)(TC_E_I64 x) { return x - __extension__(TC_I64){0}; }

// fn: iota_i64
TC_FN TC_I64 TC_N(iota_i64)(TC_E_I64 base) {
#if TC_W == 16
    TC_U64 v = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
#elif TC_W == 8
    TC_U64 v = {0, 1, 2, 3, 4, 5, 6, 7};
#else
    TC_U64 v = {0, 1, 2, 3};
#endif
    return (TC_I64)(v + (TC_E_U64)base);
}
#endif

// Combines 32 partial results, in vectors from lane 0 up, into a scalar in the one order
// that all forms share: lane l with l + 16, then + 8, + 4, + 2, + 1, the lower lane on the
// left. OP(a, b) takes vectors. TC_DOWN brings lane l to 0; what lies above l is not used.
#if TC_W == 16 && (defined(__clang__) || __GNUC__ >= 12)
#define TC_DOWN(v, l) \
    __builtin_shufflevector(v, v, l, ((l) + 1) & 15, ((l) + 2) & 15, ((l) + 3) & 15, \
                            ((l) + 4) & 15, ((l) + 5) & 15, ((l) + 6) & 15, ((l) + 7) & 15, 8, 9, \
                            10, 11, 12, 13, 14, 15)
#elif TC_W == 8 && (defined(__clang__) || __GNUC__ >= 12)
#define TC_DOWN(v, l) \
    __builtin_shufflevector(v, v, l, ((l) + 1) & 7, ((l) + 2) & 7, ((l) + 3) & 7, 4, 5, 6, \
                            7)
#elif defined(__clang__) || __GNUC__ >= 12
#define TC_DOWN(v, l) __builtin_shufflevector(v, v, l, ((l) + 1) & 3, 2, 3)
#else
#define TC_DOWN(v, l) \
    __extension__({ \
        __typeof__(v) tc_t = (v); \
        int tc_n; \
        for (tc_n = 0; tc_n < (l); tc_n++) tc_t[tc_n] = tc_t[tc_n + (l)]; \
        tc_t; \
    })
#endif
#define TC_HALVE(T, OP, v, l) \
    __extension__({ \
        T tc_a = (v), tc_b = TC_DOWN(tc_a, l); \
        OP(tc_a, tc_b); \
    })
#define TC_QUARTER(T, OP, v) TC_HALVE(T, OP, TC_HALVE(T, OP, v, 2), 1)[0]
#if TC_W == 16
#define TC_COMBINE(T, OP, v0, v1) \
    TC_QUARTER(T, OP, TC_HALVE(T, OP, TC_HALVE(T, OP, OP(v0, v1), 8), 4))
#elif TC_W == 8
#define TC_COMBINE(T, OP, v0, v1, v2, v3) \
    TC_QUARTER(T, OP, TC_HALVE(T, OP, OP(OP(v0, v2), OP(v1, v3)), 4))
#else
#define TC_COMBINE(T, OP, v0, v1, v2, v3, v4, v5, v6, v7) \
    TC_QUARTER(T, OP, OP(OP(OP(v0, v4), OP(v2, v6)), OP(OP(v1, v5), OP(v3, v7))))
#endif
#define TC_COMBINE_f32(OP, ...) TC_COMBINE(TC_F32, OP, __VA_ARGS__)
#define TC_COMBINE_f64(OP, ...) TC_COMBINE(TC_F64, OP, __VA_ARGS__)
#define TC_COMBINE_i32(OP, ...) TC_COMBINE(TC_I32, OP, __VA_ARGS__)
#define TC_COMBINE_i64(OP, ...) TC_COMBINE(TC_I64, OP, __VA_ARGS__)
