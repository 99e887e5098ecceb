// The driver's types as its libraries have them: no header of NVIDIA's is needed. Sizes and
// offsets are of the 64-bit ABI, the same since CUDA 12.0; tests/cuda/abi.c compares all of
// it with cuda.h where that is installed.

typedef int tcu__code;                    // CUresult; 0 is success
typedef int tcu__ordinal;                 // CUdevice
typedef unsigned long long tcu__address;  // CUdeviceptr
typedef unsigned long long tcu__physical; // CUmemGenericAllocationHandle

typedef struct tcu__context_ *tcu__context;
typedef struct tcu__stream_ *tcu__stream;
typedef struct tcu__event_ *tcu__event;
typedef struct tcu__code_library_ *tcu__code_library;
typedef struct tcu__code_kernel_ *tcu__code_kernel;
typedef struct tcu__code_module_ *tcu__code_module;
typedef struct tcu__function_ *tcu__function;
typedef struct tcu__graph_ *tcu__graph;
typedef struct tcu__graph_node_ *tcu__graph_node;
typedef struct tcu__graph_exec_ *tcu__graph_exec;
typedef struct tcu__nvrtc_program_ *tcu__nvrtc_program;

// Enumerations of the driver: what we name of them.
typedef enum tcu__device_attribute {
    TCU__THREADS_PER_BLOCK = 1,
    TCU__MULTIPROCESSORS = 16,
    TCU__L2_BYTES = 38,
    TCU__THREADS_PER_SM = 39,
    TCU__MAJOR = 75,
    TCU__MINOR = 76,
    TCU__SHARED_PER_SM = 81,
    TCU__SHARED_PER_BLOCK = 97, // with opt-in
    TCU__VIRTUAL_MEMORY = 102,
    TCU__CLUSTERS = 120,
    TCU__TENSOR_MAPS = 127
} tcu__device_attribute;

typedef enum tcu__function_attribute {
    TCU__FN_THREADS = 0,
    TCU__FN_SHARED = 1,
    TCU__FN_LOCAL = 3,
    TCU__FN_REGISTERS = 4,
    TCU__FN_DYNAMIC_SHARED = 8,
    TCU__FN_LARGE_CLUSTER = 14 // sizes above the portable 8
} tcu__function_attribute;

typedef enum tcu__launch_attribute_id {
    TCU__LAUNCH_CLUSTER = 4,
    TCU__LAUNCH_PROGRAMMATIC = 6
} tcu__launch_attribute_id;

typedef enum tcu__jit_option {
    TCU__JIT_ERROR_LOG = 5,
    TCU__JIT_ERROR_LOG_BYTES = 6
} tcu__jit_option;
typedef enum tcu__map_dtype {
    TCU__MAP_U8 = 0,
    TCU__MAP_F16 = 6,
    TCU__MAP_F32 = 7,
    TCU__MAP_BF16 = 9
} tcu__map_dtype;
typedef enum tcu__map_interleave { TCU__MAP_PLAIN = 0 } tcu__map_interleave;
typedef enum tcu__map_swizzle {
    TCU__MAP_SWIZZLE_64 = 2,
    TCU__MAP_SWIZZLE_128 = 3
} tcu__map_swizzle;
typedef enum tcu__map_promotion { TCU__MAP_L2_128 = 2 } tcu__map_promotion;
typedef enum tcu__map_fill { TCU__MAP_ZEROS = 0 } tcu__map_fill;
typedef enum tcu__library_option { TCU__LIBRARY_OPTION_NONE = 0 } tcu__library_option;
typedef enum tcu__granularity { TCU__GRANULARITY_MINIMUM = 0 } tcu__granularity;

enum {
    TCU__STREAM_NON_BLOCKING = 1, // cuStreamCreate: not ordered with the legacy stream
    TCU__EVENT_BLOCKING = 1,      // cuEventCreate: cuEventSynchronize sleeps
    TCU__EVENT_NO_TIMING = 2,
    TCU__MEMORY_PINNED = 1, // CUmemAllocationType
    TCU__ON_DEVICE = 1,     // CUmemLocationType
    TCU__READ_WRITE = 3,    // CUmemAccess_flags
    TCU__EDGE_PROGRAMMATIC = 1
};

typedef struct tcu__location {
    int type, id;
} tcu__location;

typedef struct tcu__memory_kind { // CUmemAllocationProp
    int type, handle_types;
    tcu__location location;
    void *windows;
    unsigned char flags[8];
} tcu__memory_kind;

typedef struct tcu__access { // CUmemAccessDesc
    tcu__location location;
    int flags;
} tcu__access;

typedef union tcu__launch_value { // CUlaunchAttributeValue
    unsigned char pad[64];
    unsigned cluster[3];
    int programmatic;
    void *align;
} tcu__launch_value;

typedef struct tcu__launch_attribute {
    tcu__launch_attribute_id id;
    char pad[4];
    tcu__launch_value value;
} tcu__launch_attribute;

typedef struct tcu__launch_config {
    unsigned grid[3], block[3], shared;
    tcu__stream stream;
    tcu__launch_attribute *attributes;
    unsigned count;
} tcu__launch_config;

typedef struct tcu__node_params { // CUDA_KERNEL_NODE_PARAMS_v2
    tcu__function function;
    unsigned grid[3], block[3], shared;
    void **parameters, **extra;
    tcu__code_kernel kernel; // counts where function is NULL
    tcu__context context;    // NULL = the current one
} tcu__node_params;

typedef struct tcu__tensor_map { // CUtensorMap; aligned to 128 bytes
    uint64_t opaque[16];
} tcu__tensor_map;

typedef struct tcu__edge { // CUgraphEdgeData
    unsigned char from_port, to_port, type, reserved[5];
} tcu__edge;

#define TCU__AT(T, field, offset, size)                                                    \
    TCU__STATIC_ASSERT(T##_##field,                                                        \
                       sizeof(void *) != 8 ||                                              \
                           (offsetof(T, field) == offset && sizeof(T) == size))
TCU__AT(tcu__memory_kind, flags, 24, 32);
TCU__AT(tcu__access, flags, 8, 12);
TCU__AT(tcu__launch_attribute, value, 8, 72);
TCU__AT(tcu__launch_config, shared, 24, 56);
TCU__AT(tcu__launch_config, stream, 32, 56);
TCU__AT(tcu__launch_config, count, 48, 56);
TCU__AT(tcu__node_params, parameters, 40, 72);
TCU__AT(tcu__node_params, context, 64, 72);
TCU__AT(tcu__edge, type, 2, 8);

// A row of the tables of entry points: where in the struct of pointers it goes.
typedef enum tcu__need { TCU__OPTIONAL, TCU__REQUIRED } tcu__need;

typedef struct tcu__symbol {
    const char *name;
    size_t offset;
    tcu__need need;
} tcu__symbol;
