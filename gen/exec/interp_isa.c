// The block loops, built once per instruction set: portable C, and with gcc or clang
// vectors for AVX2 with FMA and F16C (x86-64) or NEON. Output: tc__isa_scalar, tc__isa_vector, and
// tc__isa_best(). gcc contracts a*b+c by default, which would change bits: off in here.
// These are 600 functions, so their options are those of the least compile time at equal
// speed: without four passes of -O1 that find nothing in straight vector code, a fifth
// less; -Og for the portable set, whose time goes into fmaf.

#if TC__GNUC && !defined(__clang__)
#    pragma GCC push_options
#    pragma GCC optimize("Og", "fp-contract=off")
#endif
#if defined(__clang__)
#    pragma STDC FP_CONTRACT OFF
#endif

#define TC_FN            TC__UNUSED TC__NOINLINE static
#define TC_FN_COLD       TC__UNUSED TC__NOINLINE static
#define TC_N(x)          tc__s_##x
#define TC__LOOP_FN      static
#define TC__LOOP_PART    static // of loops, inlined into each
#define TC__LN(x)        tc__s_loop_##x
#define TC__LOOPS_32     1
#define TC__LOOPS_64     1
#define TC__LOOPS_SCALAR 1
#define TC__AS_TEXT      0
#define TC__FLOAT_FAULT  TC__LOOP_FN const char *TC__LN(float_fault)(void)

#include "exec/interp_set.c"

// The table of an instruction set from the loops named by TC__LN.
#define TC__ISA(NAME, LANES, TRUTH)                                                        \
    {                                                                                      \
        NAME, LANES, TRUTH, TC__LN(alu), TC__LN(fold),                                     \
            {TC__LN(fold_mul_f32), TC__LN(fold_mul_f64), NULL, NULL},                      \
            {TC__LN(fma2_f32), TC__LN(fma2_f64), NULL, NULL},                              \
            {{TC__LN(add8), TC__LN(sub8), TC__LN(mul8)},                                   \
             {TC__LN(add16), TC__LN(sub16), TC__LN(mul16)}},                               \
            TC__LN(cast), {TC__LN(bool_in),                                                \
                           TC__LN(u8_in),                                                  \
                           TC__LN(i8_in),                                                  \
                           TC__LN(i16_in),                                                 \
                           NULL,                                                           \
                           NULL,                                                           \
                           TC__LN(f8e4m3_in),                                              \
                           TC__LN(f8e5m2_in),                                              \
                           TC__LN(f16_in),                                                 \
                           TC__LN(bf16_in),                                                \
                           NULL,                                                           \
                           NULL},                                                          \
            {TC__LN(bool_out),                                                             \
             TC__LN(u8_out),                                                               \
             TC__LN(i8_out),                                                               \
             TC__LN(i16_out),                                                              \
             NULL,                                                                         \
             NULL,                                                                         \
             TC__LN(f8e4m3_out),                                                           \
             TC__LN(f8e5m2_out),                                                           \
             TC__LN(f16_out),                                                              \
             TC__LN(bf16_out),                                                             \
             NULL,                                                                         \
             NULL},                                                                        \
            {{TC__LN(uniform_f32), TC__LN(uniform_f64)},                                   \
             {TC__LN(normal_f32), TC__LN(normal_f64)}},                                    \
            {TC__LN(tile_f32), TC__LN(tile_f64), TC__LN(tile_i32), TC__LN(tile_i64)},      \
            {TC__LN(arg_f32), TC__LN(arg_f64), TC__LN(arg_i32), TC__LN(arg_i64)},          \
            TC__LN(second), TC__LN(turned), TC__LN(fill), TC__LN(ramp), TC__LN(ramp_i32),  \
            TC__LN(float_fault)                                                            \
    }

static const tc__isa tc__isa_scalar = TC__ISA("scalar", 1, 1);

#if TC__GNUC && !defined(__clang__)
#    pragma GCC pop_options
#    pragma GCC push_options
#    pragma GCC diagnostic push
// Calls between functions of one target cross no ABI; gcc 13 thinks they do.
#    pragma GCC diagnostic ignored "-Wpsabi"
#    pragma GCC optimize("O1", "fp-contract=off", "no-tree-ccp", "no-tree-dominator-opts")
#    pragma GCC optimize("no-tree-pta", "no-tree-ter")
#endif

#if TC__GNUC && (TC__X86 || TC__ARM64)
#    undef TC_FN
#    undef TC_FN_COLD
#    undef TC__LOOP_FN
#    undef TC__LN
#    undef TC__LOOPS_SCALAR
#    define TC__LN(x)        tc__v_loop_##x
#    define TC__LOOPS_SCALAR 0
#    if TC__X86
#        define TC_ISA_AVX2 1
#        define TC_FN       __attribute__((unused, target("avx2,fma,f16c"))) static inline
#        define TC_FN_COLD  __attribute__((unused, noinline, target("avx2,fma,f16c"))) static
#        define TC__LOOP_FN __attribute__((target("avx2,fma,f16c"))) static
// gcc 13 forgets the target of such a function, under a pragma of optimisations, unless it
// is inlined.
#        undef TC__LOOP_PART
#        define TC__LOOP_PART                                                              \
            __attribute__((target("avx2,fma,f16c"), always_inline)) static inline
#    else
#        define TC_FN       __attribute__((unused)) static inline
#        define TC_FN_COLD  __attribute__((unused, noinline)) static
#        define TC__LOOP_FN static
#    endif

#    if TC__X86
#        undef TC_N
#        undef TC_MATH_64
#        undef TC__LOOPS_64
#        define TC_N(x)      tc__v8_##x
#        define TC_W         8
#        define TC_MATH_64   0
#        define TC__LOOPS_64 0

#        include "exec/interp_set.c"

#        undef TC_W
#        undef TC__LOOPS_32
#        undef TC__LOOPS_64
#        define TC__LOOPS_32 0
#        define TC__LOOPS_64 1
#    endif

// Four lanes: 64-bit classes on x86 (gcc has no silent way to pass 64-byte vectors), all
// on ARM.
#    undef TC_N
#    undef TC_MATH_64
#    define TC_N(x)    tc__v4_##x
#    define TC_W       4
#    define TC_MATH_64 1

#    include "exec/interp_set.c"

static const tc__isa tc__isa_vector =
    TC__ISA(TC__X86 ? "avx2" : "neon", TC__BLOCK_VECTOR, -1);
#endif

#if TC__GNUC && !defined(__clang__)
#    pragma GCC diagnostic pop
#    pragma GCC pop_options
#endif

// Names of the vocabulary that mean something else, or nothing, below.
#undef TC__AS_TEXT
#undef TC__FLOAT_FAULT
#undef TC_F32
#undef TC_F64
#undef TC_I32
#undef TC_U32
#undef TC_I64
#undef TC_U64
#undef TC_FN
#undef TC_FN_COLD
#undef TC_N
#undef TC_W

// The fastest set for a CPU with these TC__CPU_ bits.
static const tc__isa *tc__isa_best(unsigned cpu) {
#if TC__X86 && TC__GNUC
    if ((cpu & TC__CPU_WIDE) == TC__CPU_WIDE) return &tc__isa_vector;
#elif TC__ARM64 && TC__GNUC
    if (cpu & TC__CPU_NEON) return &tc__isa_vector;
#endif
    (void)cpu;
    return &tc__isa_scalar;
}
