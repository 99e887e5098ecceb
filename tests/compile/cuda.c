// Both implementations in one file.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.h"

#include "tcompile_cuda.h"

int main(void) {
    tc_ctx *tc = tc_open(NULL);
    tc_close(tc);
    return !tc;
}
