// What the user's cuda_source may use: see cuda_print/custom.c. The layouts are those of api/extend.h.

// The types that the text of a custom op may use, as on the host.
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;

enum { TC_MAX_RANK = 8 };

struct tc_spec {
    tc_dtype dtype;
    int rank;
    int64_t dims[TC_MAX_RANK];
};

struct tc_buffer {
    void *data;
    tc_spec spec;
};

// Elements. Where the loop ends is no question, so that specs stay in registers.
__device__ __forceinline__ int64_t tc_elements(const tc_buffer *b) {
    int64_t n = 1;
#pragma unroll
    for (int d = 0; d < TC_MAX_RANK; d++)
        if (d < b->spec.rank) n *= b->spec.dims[d];
    return n;
}

