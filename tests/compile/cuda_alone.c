// The device's implementation without the inside of tcompile.h: refused in words.
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"
