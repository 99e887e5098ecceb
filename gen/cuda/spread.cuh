// A CUDA text that is no group's: row-major elements go to a strided view, with the sizes and strides
// of the launch. exec/transfer.c launches it; its kernels are by size of an element: 1, 2, 4, 8.

// Elements of `from`, row-major, to the strided view `to`.
struct tc_spread {
    void *to;
    const void *from;
    long long count, rank, dims[8], strides[8];  // strides in elements
};

template <class T> static __device__ __forceinline__ void tc_spread_all(const tc_spread &a) {
    const long long step = (long long)gridDim.x * 256;
    for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < a.count; i += step) {
        long long left = i, at = 0;
        for (int d = (int)a.rank - 1; d >= 0; d--) {
            at += left % a.dims[d] * a.strides[d];
            left /= a.dims[d];
        }
        ((T *)a.to)[at] = ((const T *)a.from)[i];
    }
}

extern "C" __global__ void __launch_bounds__(256)
tc_kernel_0000000000000000(const tc_spread a) { tc_spread_all<unsigned char>(a); }

extern "C" __global__ void __launch_bounds__(256)
tc_kernel_0000000000000000_1(const tc_spread a) { tc_spread_all<unsigned short>(a); }

extern "C" __global__ void __launch_bounds__(256)
tc_kernel_0000000000000000_2(const tc_spread a) { tc_spread_all<unsigned>(a); }

extern "C" __global__ void __launch_bounds__(256)
tc_kernel_0000000000000000_3(const tc_spread a) { tc_spread_all<unsigned long long>(a); }
