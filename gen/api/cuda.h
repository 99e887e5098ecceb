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
