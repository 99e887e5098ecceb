// The random programs of fuzz.c, each with gradients.
#define FUZZ_GRADIENTS
#include "fuzz.c"
