// Your own code in a graph: ops that are opaque to the compiler, and host calls.

// ---- custom ops ----
//
// An op of your own is a C function over whole buffers. It takes part in everything as
// other ops do: eager calls, regions, functions (tc_call skips a body that has it), the
// disk cache. The ops around it are fused as ever; it is a kernel by itself, with its
// inputs in memory.
//
// It must be pure: the same inputs give the same bits every time, and nothing else changes,
// least of all the inputs. For a call whose result nobody needs is left out, equal calls
// are one, and a call may be made again where a result is needed later. It is called on the
// thread that uses the context, once for a launch; it may have threads of its own, but must
// not use the context (TC_E_STATE). It is not called where its result has no elements.

// Gives dtype and sizes of the result, *out, which is a copy of in[0] at first. It depends
// on nothing but its arguments, and is called any number of times. TC_OK, or the TC_E_...
// that the call of the op gets.
typedef tc_status (*tc_custom_shape)(void *user, const tc_spec *in, int n_in, tc_spec *out);

// Computes all elements of *out. TC_OK, or a TC_E_... that the region, the call or the
// eager op fails with: nothing was written in place then.
typedef tc_status (*tc_custom_run)(void *user, const tc_buffer *in, int n_in,
                                   const tc_buffer *out);

// The gradients of the inputs, given that of the result, as ops; grad_in[i] null = none, else of the sizes and dtype of
// in[i]. It is called where tc_grad and the like meet the op, records, and reads no values: grad_out has none yet.
// TC_E_UNSUPPORTED: it reads one (tc_item, tc_read, tc_data, tc_get, tc_host_call, ...), keeps one, or writes in place what
// it did not make; TC_E_STATE, TC_E_REGION: it leaves a scope or a region open, or calls itself without end. Ranges that
// it leaves open, of autocast and the like, end with it.
typedef tc_status (*tc_custom_gradient)(tc_ctx *tc, void *user, const tc_tensor *in,
                                        int n_in, tc_tensor out, tc_tensor grad_out,
                                        tc_tensor *grad_in);

// A name and one of run, c_source and cuda_source are needed; zero is right for the rest. One
// op has one result.
typedef struct tc_custom_op {
    const char *name;  // a C identifier of at most 63 characters, unique in its context
    int n_in;          // inputs, at most 64; 0 = 1
    void *user;        // handed to all functions; outlives the context
    tc_custom_shape shape;        // NULL = as input 0, whatever its dtype is: run and the sources
                                  // look at in[i].spec.dtype, and refuse those that they do not
                                  // take. Sizes may come at run time then, as for other ops;
                                  // else each set has a program
    tc_custom_run run;            // NULL = only source
    const char *c_source;         // NULL = only run; see below
    const char *cuda_source;      // NULL = on a device too the host computes it; see below
    tc_custom_gradient gradient;  // NULL = none
} tc_custom_op;

// c_source is C99 text that defines the function `tc_status NAME(void *user, const
// tc_buffer *in, int n_in, const tc_buffer *out)`, where NAME is the op's name: a
// tc_custom_run, so one function can be both. It is compiled as our own kernels are (a*b +
// c is never contracted), in a unit of its own; its text is part of its key in the cache.
// In front of it stand tc_status with TC_OK and TC_E_..., tc_dtype with TC_F32..., tc_spec,
// tc_buffer, TC_MAX_RANK, int8_t...uint64_t, size_t and NULL. It includes nothing and calls
// nothing but itself.
//
// Where nothing is compiled, run is called instead. The option verify compares the two, bit by bit:
// both are called then, on the same inputs. An op without run is compiled in any
// case, also outside regions and past a recompile_limit; where that cannot be, it is
// TC_E_COMPILER.
//
// cuda_source is CUDA C++ text of the same op for tensors on CUDA devices (tcompile_cuda.h). It
// defines a function that all threads of a launch call, as the body of a __global__ kernel:
//
//     __device__ void swish(const tc_buffer *in, int n_in, const tc_buffer *out) {
//         const float *x = (const float *)in[0].data;
//         float *y = (float *)out->data;
//         int64_t n = tc_elements(out), i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x;
//         for (; i < n; i += (int64_t)gridDim.x * blockDim.x) y[i] = x[i] / (1 + expf(-x[i]));
//     }
//
// The number of blocks is ours to choose: of 256 threads, one thread for each element of the
// result or fewer. So each thread takes what blockIdx, gridDim and threadIdx give it, in steps
// as above; or each block takes rows, from blockIdx.x in steps of gridDim.x. Threads of a block
// may share memory (__shared__) and wait for each other; blocks may not, and all elements of
// the result are written in one launch. Buffers are row-major memory of the device; an input
// without elements has NULL and no dtype. Ranks and dtypes are known when the text is compiled,
// sizes where the program is for one set of them, so one text may serve several dtypes: a switch
// over them costs nothing. tc_elements(b) is the number of elements; a loop over dims should run
// to TC_MAX_RANK and be unrolled as that one is, else the spec is in memory. Elements are float, double and intN_t; a bool is a byte, of
// which all but 0 become 1 afterwards; of f16 and bf16 they are uint16_t, for which there are
// tc_of_f16(bits) and tc_of_bf16(bits), which give a float, tc_bits_f16(f) and tc_bits_bf16(f); of f8 uint8_t, with
// tc_of_f8e4m3, tc_bits_f8e4m3, tc_of_f8e5m2 and tc_bits_f8e5m2.
// There is no status, since it cannot fail, and no user: what it needs stands in the text.
//
// In front of it stand tc_dtype with TC_F32..., tc_spec, tc_buffer, TC_MAX_RANK, those functions,
// int8_t...uint64_t, what NVRTC has built in (expf, atomicAdd...) and nothing else; other functions may
// stand in it, an #include may not. It is not extern "C"; it has a namespace and a unit of its
// own. It is compiled by NVRTC when a program first needs it, with a*b + c not contracted, and
// kept on disk by its text. If it does not compile, a warning says so with what NVRTC says, and
// run or c_source computes the op from then on, as they do where there is no cuda_source: what
// they read is copied to the host, and their result back. An op without them is TC_E_COMPILER
// then; one that has only cuda_source is TC_E_DEVICE for tensors of the host.

// Registers an op, for as long as the context lives; all but *user is copied. Contexts
// that tc_open_shared makes afterwards have it too, by the same number; their threads may
// call it at the same time. Gives its number for tc_custom, 0 on error: TC_E_NULL (no
// name, neither run nor source), TC_E_ARG (n_in; a name that is no identifier, or taken; a
// source without that function, or with an #include), TC_E_STATE (inside a region).
TCDEF int tc_register_op_at(tc_ctx *tc, const tc_custom_op *op, const char *file, int line);

// The number of the op of this name, 0 = there is none.
TCDEF int tc_op_named(const tc_ctx *tc, const char *name);

// Calls op number `op` of this context; views are handed to it row-major. TC_E_ARG: no such
// op, n_in; TC_E_NULL; and what its shape gives.
TCDEF tc_tensor tc_custom_at(tc_ctx *tc, int op, const tc_tensor *in, int n_in,
                             const char *file, int line);

// ---- host calls ----

// Host code that gets the values of tensors. It may do anything, use the context too, but
// not write to the buffers. What it returns is the status of the tc_host_call.
typedef tc_status (*tc_host_fn)(void *user, const tc_buffer *in, int n_in);

// Calls fn now. Inside a region that is one graph break, as tc_read is: what the inputs
// need runs before. So effects are in the order of the calls, at every visit; what in-place
// ops wrote is seen in the inputs given, not in memory of your own. The body of a function
// that does this is not skipped. n_in may be 0. TC_E_NULL; TC_E_ARG (more than 64 inputs);
// TC_E_FULLGRAPH; what computing the inputs gives (fn is not called then); what fn returns.
TCDEF tc_status tc_host_call_at(tc_ctx *tc, tc_host_fn fn, void *user, const tc_tensor *in,
                                int n_in, const char *file, int line);
