// dtype and sizes of a tensor.
typedef struct tc_spec {
    tc_dtype dtype;
    int rank;
    int64_t dims[TC_MAX_RANK];  // unused = 0
} tc_spec;

// All elements of a tensor, row-major without gaps. data is aligned to the element, and
// NULL where there are no elements; bools are 0 or 1. Borrowed for the length of the call.
typedef struct tc_buffer {
    void *data;
    tc_spec spec;
} tc_buffer;
