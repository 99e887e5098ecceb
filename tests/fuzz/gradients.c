// The random programs of fuzz.c, each with gradients of all its results, in all variants of the interpreter; also in
// checkpoints, under a memory_budget, and in pieces between which values are read. All have the same bits. One
// in a hundred is compiled, too. The options are those of fuzz.c.
#define FUZZ_GRADIENTS
#include "fuzz.c"
