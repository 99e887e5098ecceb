// The implementation, for tests and examples of the public interface alone.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile_cuda.h"

// Kernels for AMX from here on, which amx.h executes on CPUs without it. 0: the CPU has not what they use beside it.
int test_use_tiles(tc_ctx *tc);
int test_use_tiles(tc_ctx *tc) {
    if (tc->target < TC__EMIT_AVX512) return 0;
    tc->target = TC__EMIT_AMX;
    return 1;
}
