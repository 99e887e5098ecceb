// The profiler: where the time goes, kernel by kernel.

// Begins a profile, and forgets the one before. While it is on, each kernel and each stage of making
// a program is timed: a kernel costs some 100 ns more. The first profile of a context also copies
// 64 MB a few times (some 100 ms), to know what this machine's memory can do at best.
// Kernels of a device are timed by its own clock, from one to the next: they are launched one by one,
// not as a graph, and the run waits for them. Short ones have the time that the host needs to launch
// them in theirs. What is launched for a list of tensors is one kernel, "list of 148: ...", with the
// bytes of all; its number is that of the first. Copies of 64 KB to 64 MB there are timed in the
// same way when a profile first sees the device (a few ms).
// TC_E_NULL, TC_E_NOMEM.
TCDEF tc_status tc_profile_begin(tc_ctx *c);

// Ends it; what it saw stays until the next one. TC_E_STATE: there is none.
TCDEF tc_status tc_profile_end(tc_ctx *c);

// The kernels as a table, most time first: calls, time, bytes read and written as planned (each
// buffer once), GB/s, its share of the peak, whether the kernel ran compiled, or on which device. The
// peak is the time that a copy takes which moves as many bytes: on the host at the speed of 64 MB, on
// a device as copies of the sizes around it took, so it counts what a launch takes. They are of memory
// that no cache has: above 100 % a kernel lives in the caches. Programs are numbered as in tc_explain;
// what runs outside regions is "eager". Of the context, until the next call.
TCDEF const char *tc_profile_text(tc_ctx *c);

// Writes the events as a trace for ui.perfetto.dev or chrome://tracing: recording, passes, text,
// compiler, loading, programs, kernels, the parts of each worker, a line for each device. TC_E_IO
// (path and reason in the text), TC_E_STATE without a profile, TC_E_NULL.
TCDEF tc_status tc_profile_trace_at(tc_ctx *c, const char *path, const char *file, int line);

// So many events are kept; the text says how many came after them. Kernels are counted in the table
// all the same.
#define TC_PROFILE_EVENTS 65536
