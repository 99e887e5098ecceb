// The CUDA layer, for programs that are linked with the implementation.
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"
