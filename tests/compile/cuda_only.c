// Both implementations in a file of their own, which is included by nobody's sources. Linked with
// declarations.c.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"
