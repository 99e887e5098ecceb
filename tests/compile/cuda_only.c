// The device backend sees declarations only: it stands on the public backend interface.
// Linked with only.c and declarations.c.
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"
