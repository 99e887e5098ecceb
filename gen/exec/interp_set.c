// include-self: the arithmetic and the loops of one instruction set and vector width, for exec/interp_isa.c,
// which says which. The table of loops comes with those of 64-bit classes, which are made last.
//
// Where TC__AS_TEXT is 1, for kernel/print_prelude.c, it is rows of text: the same arithmetic for emitted code. A
// function is one macro in both cases, so that its text stands once; it comes as one line, which
// tc__put_code breaks up.
#if TC__AS_TEXT
#    define TC__TEXT(name, ...) "// fn: " #    name, #    __VA_ARGS__,
#else
#    define TC__TEXT(name, ...) __VA_ARGS__
#endif

#if TC__LOOPS_SCALAR
#    include "cpu/scalar.h"
#else
#    include "out/text_cpu_vector.inc"
#endif

#include "out/text_cpu_math.inc"

#if !TC__AS_TEXT
#    include "exec/interp_loops.c"
#endif

#if TC__LOOPS_64
#    include "out/interp_table.inc"

#    include "base/float_check.c"
#endif

#undef TC__TEXT
