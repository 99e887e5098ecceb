// include-many: ends what base/once_begin.c begins.
#ifdef TC__ONCE_CODE
#    undef TC__ONCE_CODE
#    pragma GCC pop_options
#endif
