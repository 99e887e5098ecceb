// include-many: from here to base/once_end.c stands code that runs once per program, or never.
// gcc takes 2 s of -O2 for it, and all that gives is 4 % of the time to make a program. Without a dozen passes of
// -Og it takes another tenth less, but ten kernels from disk take 1.1 times as long (bench cold).
#if TC__GNUC && !defined(__clang__) && defined(__OPTIMIZE__) && !defined(__OPTIMIZE_SIZE__)
#    define TC__ONCE_CODE
#    pragma GCC push_options
#    pragma GCC optimize("Og")
#endif
