// Arithmetic of the whole implementation, whatever the file is compiled with: every operation rounds once, in
// its own type, and NaN, infinity and -0 are what they are. What -ffast-math and its parts change is set back
// here where the compiler says or allows it; base/float_check.c is asked at tc_open whether that was all.
#if defined(__FLT_EVAL_METHOD__) && __FLT_EVAL_METHOD__ != 0 && __FLT_EVAL_METHOD__ != 16
#    error                                                                                 \
        "tcompile.h needs float and double arithmetic in their own types, and this is x87's, which has \
more bits. Fix: compile the file with TCOMPILE_IMPLEMENTATION with -msse2 -mfpmath=sse."
#endif
#if defined(__clang__) && defined(__FAST_MATH__)
#    error                                                                                 \
        "clang's -ffast-math contracts products and sums, and no pragma sets that back. Fix: compile \
the file with TCOMPILE_IMPLEMENTATION with -fno-fast-math."
#endif
#if defined(__clang__)
#    pragma float_control(push)
#    pragma float_control(precise, on)
#    pragma STDC FP_CONTRACT OFF
#elif TC__GNUC &&                                                                          \
    (__FINITE_MATH_ONLY__ || defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) ||    \
     defined(__RECIPROCAL_MATH__) || defined(__NO_SIGNED_ZEROS__) ||                       \
     defined(__FP_FAST_FMA) || defined(__FP_FAST_FMAF))
#    define TC__FLOAT_OPTIONS
#    pragma GCC push_options
#    pragma GCC optimize("no-fast-math", "no-unsafe-math-optimizations",                   \
                         "no-associative-math")
#    pragma GCC optimize("no-reciprocal-math", "no-finite-math-only", "signed-zeros")
#    pragma GCC optimize("trapping-math", "fp-contract=off")
#endif

#define TC__FLOAT_FAULT static const char *tc__float_fault(void)
#include "base/float_check.c"
#undef TC__FLOAT_FAULT
