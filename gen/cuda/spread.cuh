// A CUDA text that is no group's: elements of a view go to a view of other strides, with the sizes and strides
// of the launch. exec/transfer.c launches it; its kernels are by size of an element: 1, 2, 4, 8.

// Elements of `from` to `to`.
struct tc_spread {
    void *to;
    const void *from;
    long long count, rank, dims[8], to_strides[8], from_strides[8];  // strides in elements
};

template <class T> static __device__ __forceinline__ void tc_spread_all(const tc_spread &a) {
    const long long step = (long long)gridDim.x * 256;
    for (long long i = (long long)blockIdx.x * 256 + threadIdx.x; i < a.count; i += step) {
        long long left = i, to = 0, from = 0;
        for (int d = (int)a.rank - 1; d >= 0; d--) {
            const long long at = left % a.dims[d];
            to += at * a.to_strides[d], from += at * a.from_strides[d];
            left /= a.dims[d];
        }
        ((T *)a.to)[to] = ((const T *)a.from)[from];
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
