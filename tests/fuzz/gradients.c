// The random programs of fuzz.c, each with gradients of all its results: in the plain variant of the interpreter, and in three
// of the others, that are drawn for it; checkpoints, a memory_budget, and pieces between which values are read are
// among them. All have the same bits. One in a hundred is compiled, too. The options are those of fuzz.c.
#define FUZZ_GRADIENTS
#include "fuzz.c"
