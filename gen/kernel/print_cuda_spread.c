// A CUDA text that is no group's: row-major elements go to a strided view, with the sizes and strides
// of the launch. exec/remote_view.c launches it; its kernels are by size of an element: 1, 2, 4, 8.

enum {
    TC__SPREAD_THREADS = 256,
    TC__SPREAD_WAVES = 16 // blocks of a multiprocessor
};

static const char tc__text_cuda_spread[] =
    "// Elements of `from`, row-major, to the strided view `to`.\n"
    "struct tc_spread {\n"
    "    void *to;\n"
    "    const void *from;\n"
    "    long long count, rank, dims[8], strides[8];  // strides in elements\n"
    "};\n"
    "\n"
    "template <class T> static __device__ __forceinline__ void tc_spread_all(const tc_spread &a) {\n"
    "    const long long step = (long long)gridDim.x * 256;\n"
    "    for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < a.count; i += step) {\n"
    "        long long left = i, at = 0;\n"
    "        for (int d = (int)a.rank - 1; d >= 0; d--) {\n"
    "            at += left % a.dims[d] * a.strides[d];\n"
    "            left /= a.dims[d];\n"
    "        }\n"
    "        ((T *)a.to)[at] = ((const T *)a.from)[i];\n"
    "    }\n"
    "}\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "tc_kernel_0000000000000000(const tc_spread a) { tc_spread_all<unsigned char>(a); }\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "tc_kernel_0000000000000000_1(const tc_spread a) { tc_spread_all<unsigned short>(a); }\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "tc_kernel_0000000000000000_2(const tc_spread a) { tc_spread_all<unsigned>(a); }\n"
    "\n"
    "extern \"C\" __global__ void __launch_bounds__(256)\n"
    "tc_kernel_0000000000000000_3(const tc_spread a) { tc_spread_all<unsigned long long>(a); }\n";
