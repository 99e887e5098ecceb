// Our declarations of the driver's and NVRTC's types and functions against NVIDIA's
// headers: sizes, offsets, values, and the prototype of every row of
// tables/cuda_driver.def. All of it is decided by the compiler; skipped where the headers
// are not installed.
#include "harness.h"

#if defined(__has_include)
#    if __has_include("/usr/local/cuda/include/cuda.h")
#        define HAVE_HEADERS 1
#    endif
#endif

#ifndef HAVE_HEADERS
TEST(abi) { SKIP("no /usr/local/cuda/include/cuda.h"); }
#else
#    include "/usr/local/cuda/include/cuda.h"
#    include "/usr/local/cuda/include/nvrtc.h"
// The header has a newer version only, with the same parameters.
typedef __typeof__(cuEventElapsedTime) elapsed_time;
#    undef cuEventElapsedTime
extern elapsed_time cuEventElapsedTime;
#    include "tcompile.h"
#    include "cuda/prelude.c"
#    include "cuda/types.c"

// ---- layout

#    define SAME_SIZE(ours, theirs) CHECK_EQ(sizeof(ours), sizeof(theirs))
#    define SAME_PLACE(ours, field, theirs, its)                                           \
        CHECK_EQ(offsetof(ours, field), offsetof(theirs, its))

TEST(layout) {
    SAME_SIZE(tcu__address, CUdeviceptr);
    SAME_SIZE(tcu__physical, CUmemGenericAllocationHandle);
    SAME_SIZE(tcu__memory_kind, CUmemAllocationProp);
    SAME_PLACE(tcu__memory_kind, handle_types, CUmemAllocationProp, requestedHandleTypes);
    SAME_PLACE(tcu__memory_kind, location.id, CUmemAllocationProp, location.id);
    SAME_PLACE(tcu__memory_kind, flags, CUmemAllocationProp, allocFlags);
    SAME_SIZE(tcu__access, CUmemAccessDesc);
    SAME_PLACE(tcu__access, flags, CUmemAccessDesc, flags);
    SAME_SIZE(tcu__launch_value, CUlaunchAttributeValue);
    SAME_PLACE(tcu__launch_value, cluster[2], CUlaunchAttributeValue, clusterDim.z);
    SAME_SIZE(tcu__launch_attribute, CUlaunchAttribute);
    SAME_PLACE(tcu__launch_attribute, value, CUlaunchAttribute, value);
    SAME_SIZE(tcu__launch_config, CUlaunchConfig);
    SAME_PLACE(tcu__launch_config, grid[2], CUlaunchConfig, gridDimZ);
    SAME_PLACE(tcu__launch_config, block[0], CUlaunchConfig, blockDimX);
    SAME_PLACE(tcu__launch_config, shared, CUlaunchConfig, sharedMemBytes);
    SAME_PLACE(tcu__launch_config, stream, CUlaunchConfig, hStream);
    SAME_PLACE(tcu__launch_config, attributes, CUlaunchConfig, attrs);
    SAME_PLACE(tcu__launch_config, count, CUlaunchConfig, numAttrs);
    SAME_SIZE(tcu__node_params, CUDA_KERNEL_NODE_PARAMS_v2);
    SAME_PLACE(tcu__node_params, block[2], CUDA_KERNEL_NODE_PARAMS_v2, blockDimZ);
    SAME_PLACE(tcu__node_params, parameters, CUDA_KERNEL_NODE_PARAMS_v2, kernelParams);
    SAME_PLACE(tcu__node_params, extra, CUDA_KERNEL_NODE_PARAMS_v2, extra);
    SAME_PLACE(tcu__node_params, kernel, CUDA_KERNEL_NODE_PARAMS_v2, kern);
    SAME_PLACE(tcu__node_params, context, CUDA_KERNEL_NODE_PARAMS_v2, ctx);
    SAME_SIZE(tcu__edge, CUgraphEdgeData);
    SAME_PLACE(tcu__edge, to_port, CUgraphEdgeData, to_port);
    SAME_PLACE(tcu__edge, type, CUgraphEdgeData, type);
}

// ---- values

TEST(values) {
    CHECK_EQ(TCU__THREADS_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    CHECK_EQ(TCU__MULTIPROCESSORS, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    CHECK_EQ(TCU__L2_BYTES, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    CHECK_EQ(TCU__THREADS_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
    CHECK_EQ(TCU__MAJOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    CHECK_EQ(TCU__MINOR, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    CHECK_EQ(TCU__SHARED_PER_SM, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
    CHECK_EQ(TCU__SHARED_PER_BLOCK, CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
    CHECK_EQ(TCU__VIRTUAL_MEMORY, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED);
    CHECK_EQ(TCU__CLUSTERS, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
    CHECK_EQ(TCU__TENSOR_MAPS, CU_DEVICE_ATTRIBUTE_TENSOR_MAP_ACCESS_SUPPORTED);
    CHECK_EQ(TCU__FN_THREADS, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
    CHECK_EQ(TCU__FN_SHARED, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    CHECK_EQ(TCU__FN_LOCAL, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
    CHECK_EQ(TCU__FN_REGISTERS, CU_FUNC_ATTRIBUTE_NUM_REGS);
    CHECK_EQ(TCU__FN_DYNAMIC_SHARED, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    CHECK_EQ(TCU__FN_LARGE_CLUSTER, CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
    CHECK_EQ(TCU__LAUNCH_CLUSTER, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
    CHECK_EQ(TCU__LAUNCH_PROGRAMMATIC,
             CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    CHECK_EQ(TCU__JIT_ERROR_LOG, CU_JIT_ERROR_LOG_BUFFER);
    CHECK_EQ(TCU__JIT_ERROR_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
    CHECK_EQ(TCU__GRANULARITY_MINIMUM, CU_MEM_ALLOC_GRANULARITY_MINIMUM);
    CHECK_EQ(TCU__STREAM_NON_BLOCKING, CU_STREAM_NON_BLOCKING);
    CHECK_EQ(TCU__EVENT_BLOCKING, CU_EVENT_BLOCKING_SYNC);
    CHECK_EQ(TCU__EVENT_NO_TIMING, CU_EVENT_DISABLE_TIMING);
    CHECK_EQ(TCU__MEMORY_PINNED, CU_MEM_ALLOCATION_TYPE_PINNED);
    CHECK_EQ(TCU__ON_DEVICE, CU_MEM_LOCATION_TYPE_DEVICE);
    CHECK_EQ(TCU__READ_WRITE, CU_MEM_ACCESS_FLAGS_PROT_READWRITE);
    CHECK_EQ(TCU__MAP_F16, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
    CHECK_EQ(TCU__MAP_F32, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
    CHECK_EQ(TCU__MAP_BF16, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
    CHECK_EQ(TCU__MAP_PLAIN, CU_TENSOR_MAP_INTERLEAVE_NONE);
    CHECK_EQ(TCU__MAP_SWIZZLE_128, CU_TENSOR_MAP_SWIZZLE_128B);
    CHECK_EQ(TCU__MAP_L2_128, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
    CHECK_EQ(TCU__MAP_ZEROS, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    CHECK_EQ(sizeof(tcu__tensor_map), sizeof(CUtensorMap));
    CHECK_EQ(sizeof(tcu__tensor_map), TC_DEVICE_MAP_BYTES);
    CHECK_EQ(TCU__EDGE_PROGRAMMATIC, CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC);
    CHECK_EQ(TCU__EDGE_PROGRAMMATIC, CU_GRAPH_KERNEL_NODE_PORT_PROGRAMMATIC);
    CHECK_EQ(5, NVRTC_ERROR_INVALID_OPTION);
}

// ---- prototypes: the table with NVIDIA's types in it

#    define tcu__code                CUresult
#    define tcu__ordinal             CUdevice
#    define tcu__address             CUdeviceptr
#    define tcu__physical            CUmemGenericAllocationHandle
#    define tcu__context             CUcontext
#    define tcu__stream              CUstream
#    define tcu__event               CUevent
#    define tcu__code_library        CUlibrary
#    define tcu__code_kernel         CUkernel
#    define tcu__code_module         CUmodule
#    define tcu__function            CUfunction
#    define tcu__graph               CUgraph
#    define tcu__graph_node          CUgraphNode
#    define tcu__graph_exec          CUgraphExec
#    define tcu__nvrtc_program       nvrtcProgram
#    define tcu__device_attribute    CUdevice_attribute
#    define tcu__function_attribute  CUfunction_attribute
#    define tcu__launch_attribute_id CUlaunchAttributeID
#    define tcu__jit_option          CUjit_option
#    define tcu__library_option      CUlibraryOption
#    define tcu__granularity         CUmemAllocationGranularity_flags
#    define tcu__memory_kind         CUmemAllocationProp
#    define tcu__access              CUmemAccessDesc
#    define tcu__launch_value        CUlaunchAttributeValue
#    define tcu__launch_config       CUlaunchConfig
#    define tcu__node_params         CUDA_KERNEL_NODE_PARAMS_v2
#    define tcu__edge                CUgraphEdgeData
#    define tcu__tensor_map          CUtensorMap
#    define tcu__map_dtype           CUtensorMapDataType
#    define tcu__map_interleave      CUtensorMapInterleave
#    define tcu__map_swizzle         CUtensorMapSwizzle
#    define tcu__map_promotion       CUtensorMapL2promotion
#    define tcu__map_fill            CUtensorMapFloatOOBfill

#    define DRIVER(name, need, parameters) typedef CUresult ours_##name parameters;
#    define NVRTC(name, need, parameters)  typedef nvrtcResult ours_##name parameters;
#    include "tables/cuda_driver.def"
#    undef DRIVER
#    undef NVRTC

#    define COMPARE(name)                                                                  \
        CHECK(__builtin_types_compatible_p(ours_##name, __typeof__(name)) ||               \
              FAIL("%s has other parameters in NVIDIA's header", #name));
#    define DRIVER(name, need, parameters) COMPARE(name)
#    define NVRTC(name, need, parameters)  COMPARE(name)

TEST(prototypes) {
#    include "tables/cuda_driver.def"
}
#endif
