// Functions: a body compiled once and skipped while its guards hold.

// Computes out[0..n_out) from in[0..n_in) with ops, as any C function does; it may loop, branch and
// call. It runs when there is no program for the inputs, and once more at the second call, to see
// that it records the same again. Then calls skip it for as long as these are equal: the inputs'
// dtypes, sizes, strides and which of them share memory; the bytes of *user and of tc_guard_bytes,
// those of functions it calls too;
// the tensors it used that are not inputs (which ones, not their contents); whether tc_training is on. What it reads beyond
// that (globals, rand(), the clock) it must not depend on. It must set every out[i]. Bodies and host
// calls may be 64 deep inside each other, or as many as leave 64 KB of the stack, of one below 128 KB half; then
// TC_E_STATE: one that calls itself without end is told so.
typedef void (*tc_body)(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user);

typedef struct tc_fn tc_fn;

// A function of `body`, called in reports and errors what stands there as the argument `body` of
// tc_compile (`name` of tc_compile_at; NULL = "function"). `user` is handed to it; the first `user_bytes` of *user are compared at
// every call. options NULL = defaults. Nothing is compiled before the first call. The function
// belongs to the context and lives until tc_fn_free or tc_close. NULL: error (TC_E_NULL, _NOMEM).
TCDEF tc_fn *tc_compile_at(tc_ctx *tc, tc_body body, void *user, size_t user_bytes,
                           const tc_options *options, const char *name, const char *file,
                           int line);

// Frees the function; results of its calls stay. NULL does nothing. Its own body cannot (TC_E_STATE,
// nothing is freed).
TCDEF void tc_fn_free(tc_fn *f);

// The same function in a context that was opened from f's with tc_open_shared: guards, programs and
// statistics of its own, compiled kernels in common. It lives as long as tc. NULL: error
// (TC_E_FOREIGN: tc was opened from another context).
TCDEF tc_fn *tc_fn_in(tc_ctx *tc, const tc_fn *f);

// Calls the function. out[i] are new tensors in the open scope; their memory is used again after
// tc_free. out[] may be in[], or overlap it. A body that gives an input, or a view of one, gives what shares its
// memory: tc_clone it there if the caller is to write either. Inside a region or another function's body the call is a part of that. The status is the
// call's own, also of an error that the body has cleared: after one out[] is null and no input was
// written. Inputs are the caller's: a body that frees one is an error (TC_E_DEAD), as is one that leaves a
// scope open, or ends one that it did not begin (TC_E_STATE).
TCDEF tc_status tc_call_at(tc_fn *f, const tc_tensor *in, int n_in, tc_tensor *out, int n_out,
                           const char *file, int line);

// The same, into tensors that exist: like tc_copy_(to[i], result i), broadcast and converted, of all
// results at once: one that is an input has its value of before the call.
TCDEF tc_status tc_call_into_at(tc_fn *f, const tc_tensor *in, int n_in, const tc_tensor *to,
                                int n_to, const char *file, int line);

#define tc_compile(tc, body, ...) tc_compile_at(tc, body, __VA_ARGS__, #body, TC__SITE)

// In a body: these bytes decide what it records, beside *user; copied now, compared at every call
// for as long as the function lives. Elsewhere it does nothing.
TCDEF void tc_guard_bytes(tc_ctx *tc, const void *at, size_t bytes);

// 1 while ops of this context are recorded: in a region, in a body that is not skipped.
TCDEF int tc_is_compiling(const tc_ctx *tc);

// Why the body ran at the last call that did not skip it.
typedef enum tc_miss_kind {
    TC_MISS_NONE,     // every call so far skipped it, or there was none
    TC_MISS_FIRST,    // the first call
    TC_MISS_CHECK,    // the second call of a program, which re-runs the body
    TC_MISS_COUNT,    // number of inputs or results
    TC_MISS_DTYPE,    // dtype of input `arg`
    TC_MISS_RANK,     //   its rank
    TC_MISS_DIM,      //   its size in dimension `dim`
    TC_MISS_STRIDE,   //   its stride in dimension `dim`, in elements
    TC_MISS_ALIAS,    //   which earlier input has the same memory; itself if none
    TC_MISS_CONST,    //   it is another tc_const
    TC_MISS_USER,     // byte `dim` of *user
    TC_MISS_BYTES,    // byte `dim` of the range `arg` of tc_guard_bytes
    TC_MISS_CAPTURED, // tensor `arg` used beside the inputs: freed, or of other layout or memory
    TC_MISS_DEMOTED,  // it is not skipped at all: see tc_fn_demoted
    TC_MISS_DEVICE,   // input `arg` is on another device; the default device is another, if -1
    TC_MISS_GRADIENT, //   it has a gradient now, has none, or has another: tc_requires_grad
    TC_MISS_TRAINING, // tc_training is on, or off
    TC_MISS_AUTOCAST, // tc_autocast_begin: dtypes, 0 = off
    TC_MISS_STEP,     // tc_grad_scaler_step_begin: 1 inside, 0 outside; equal: of another scaler
    TC_MISS_LR_SCALE  // tc_lr_scale_begin: 1 inside, 0 outside; equal: another factor
} tc_miss_kind;

typedef struct tc_miss {
    tc_miss_kind kind;
    int arg, dim;     // -1 = none
    int64_t was, now; // of the most recent program, of this call
    int compiled;     // 1 = there was no program for what the body recorded either
    const char *file; // the call
    int line;
} tc_miss;

TCDEF tc_miss tc_last_miss(const tc_fn *f);

// One line of it: "arg 0 dim 1 was 32, now 48; called at main.c:12". Of the function, until its next
// call; never NULL.
TCDEF const char *tc_miss_text(tc_fn *f);

// Why the body runs at every call, like a region; NULL if it is skipped. A body that reads values,
// keeps results, or records something else the second time cannot be skipped.
TCDEF const char *tc_fn_demoted(const tc_fn *f);
