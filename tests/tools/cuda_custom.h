// Texts of custom ops for CUDA devices.
#ifndef CUDA_CUSTOM_H
#define CUDA_CUSTOM_H

#define SIGNATURE(name)                                                                    \
    "__device__ void " name "(const tc_buffer *in, int n_in, const tc_buffer *out) {\n"
#define ELEMENTS                                                                           \
    "    int64_t n = tc_elements(out), i = blockIdx.x * (int64_t)blockDim.x;\n"            \
    "    for (i += threadIdx.x; i < n; i += (int64_t)gridDim.x * blockDim.x) "

// Any dtype: x + 1, by what the spec says. A result of bools is 3 or 0.
static const char any_there[] = SIGNATURE("any") ELEMENTS
    "{\n"
    "        const void *x = in[0].data;\n"
    "        void *y = out->data;\n"
    "        switch (in[0].spec.dtype) {\n"
    "        case TC_BOOL: ((uint8_t *)y)[i] = ((uint8_t *)x)[i] ? 3 : 0; break;\n"
    "        case TC_U8: ((uint8_t *)y)[i] = ((uint8_t *)x)[i] + 1; break;\n"
    "        case TC_I8: ((int8_t *)y)[i] = ((int8_t *)x)[i] + 1; break;\n"
    "        case TC_I16: ((int16_t *)y)[i] = ((int16_t *)x)[i] + 1; break;\n"
    "        case TC_I32: ((int32_t *)y)[i] = ((int32_t *)x)[i] + 1; break;\n"
    "        case TC_I64: ((int64_t *)y)[i] = ((int64_t *)x)[i] + 1; break;\n"
    "        case TC_F16:\n"
    "            ((uint16_t *)y)[i] = tc_bits_f16(tc_of_f16(((uint16_t *)x)[i]) + 1); "
    "break;\n"
    "        case TC_BF16:\n"
    "            ((uint16_t *)y)[i] = tc_bits_bf16(tc_of_bf16(((uint16_t *)x)[i]) + 1); "
    "break;\n"
    "        case TC_F8E4M3:\n"
    "            ((uint8_t *)y)[i] = tc_bits_f8e4m3(tc_of_f8e4m3(((uint8_t *)x)[i]) + 1); "
    "break;\n"
    "        case TC_F8E5M2:\n"
    "            ((uint8_t *)y)[i] = tc_bits_f8e5m2(tc_of_f8e5m2(((uint8_t *)x)[i]) + 1); "
    "break;\n"
    "        case TC_F32: ((float *)y)[i] = ((float *)x)[i] + 1; break;\n"
    "        case TC_F64: ((double *)y)[i] = ((double *)x)[i] + 1; break;\n"
    "        }\n"
    "    }\n}\n";

// A block for each row, which shares memory.
static const char sums_there[] = SIGNATURE(
    "sums") "    __shared__ float part[256];\n"
            "    int64_t columns = in[0].spec.dims[1];\n"
            "    for (int64_t r = blockIdx.x; r < out->spec.dims[0]; r += gridDim.x) {\n"
            "        float sum = 0;\n"
            "        for (int64_t c = threadIdx.x; c < columns; c += blockDim.x)\n"
            "            sum += ((const float *)in[0].data)[r * columns + c];\n"
            "        part[threadIdx.x] = sum;\n"
            "        __syncthreads();\n"
            "        for (unsigned k = blockDim.x / 2; k; k /= 2) {\n"
            "            if (threadIdx.x < k) part[threadIdx.x] += part[threadIdx.x + k];\n"
            "            __syncthreads();\n"
            "        }\n"
            "        if (!threadIdx.x) ((float *)out->data)[r] = part[0];\n"
            "        __syncthreads();\n"
            "    }\n}\n";

#endif
