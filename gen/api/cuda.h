// CUDA devices: is there one, and which. Nothing is linked and nothing needs to be
// installed: a program that has this runs on machines without a GPU too, and is told why
// there is none.
//
// All of these may be called at any time, from any thread, also without a context. They
// load the driver, but make no context on the device: another program does not notice.

// Whether there is a device to use: 1, or 0 and one sentence in `why` (what was looked for,
// where, what to do), cut to `room` bytes; 1 empties it. why may be NULL; 640 bytes are
// enough.
TCDEF int tc_cuda_available(char *why, size_t room);

// The number of devices, 0 where tc_cuda_available says no.
TCDEF int tc_cuda_device_count(void);

// The name of device `ordinal`, from 0, cut to `room` bytes: 1, or 0 and an empty name
// where there is no such device.
TCDEF int tc_cuda_device_name(int ordinal, char *name, size_t room);

// What is known about device `ordinal` and what code for it is made with, in lines for
// people, cut to `room` bytes; 4096 are enough. It loads NVRTC, the compiler. 1, or 0 =
// there is no such device, and the text says why.
TCDEF int tc_cuda_report(int ordinal, char *text, size_t room);

// ---- a device for a context

// Registers device `ordinal`, from 0, as "cuda:0"...: from then on tc_to(t, "cuda:0") moves tensors
// there, and what is computed with them runs there. Once is enough; later calls give TC_OK. Where it
// cannot be used: TC_E_BACKEND, TC_E_VERSION, TC_E_ARG (no such ordinal), with the reason in
// tc_error_text, and the context goes on with the host.
TCDEF tc_status tc_cuda_open(tc_ctx *tc, int ordinal);

// The CUstream (cudaStream_t) that all work of the context on the device is given to, for programs that
// use CUDA themselves: record an event there, or wait for one. NULL = the device is not open.
TCDEF void *tc_cuda_stream(const tc_ctx *tc, int ordinal);

// A tensor over device memory of the caller's: see tc_wrap_device.
TCDEF tc_tensor tc_wrap_cuda(tc_ctx *tc, int ordinal, void *address, tc_dims dims, tc_dtype dtype);

// What the context holds of the device's memory, one line for people, cut to `room` bytes; 512 are
// enough. Plans are programs: they share what is between their kernels, which is as much as the largest wants. 1, or 0 = the device is not open, or does not answer.
TCDEF int tc_cuda_memory(const tc_ctx *tc, int ordinal, char *text, size_t room);
