// Ends what base/float_begin.c begins.
#if defined(__clang__)
#    pragma float_control(pop)
#    pragma STDC FP_CONTRACT DEFAULT
#elif defined(TC__FLOAT_OPTIONS)
#    undef TC__FLOAT_OPTIONS
#    pragma GCC pop_options
#endif
