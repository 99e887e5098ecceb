// include-self: the arithmetic and the loops of one instruction set and vector width, for exec/interp_isa.c,
// which says which. The table of loops comes with those of 64-bit classes, which are made last.
#if TC__LOOPS_SCALAR
#    include "cpu/scalar.h"
#else
#    include "cpu/vector.h"
#endif

#include "cpu/math.h"

#include "exec/interp_loops.c"

#if TC__LOOPS_64
#    include "out/interp_table.inc"

#    include "base/float_check.c"
#endif
