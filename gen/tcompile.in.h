// tcompile.h - fused, compiled, cached tensor kernels for C - v0.1.0 - MIT or public domain
//
// torch.compile for C: put tc_trace_begin/end around tensor code and get kernels that are fused,
// compiled by the system's C compiler, cached on disk and run on all cores; without a compiler the
// same code runs in the built-in interpreter, with the same bits. Licence at the end of the file.
//
// THE MANUAL
//     QUICK START, TENSORS AND OPS, REGIONS, FUNCTIONS, LIFETIMES, IDIOMS (training step, mixed precision,
//     decode loop, stencil with a border, solver, any batch size), PARAMETERS AND FILES, ERRORS, SEEING WHAT HAPPENS,
//     ENVIRONMENT, OPTIONS OF THE BUILD, THREADS, START-UP, DEVICES, BACKENDS, OPS OF YOUR OWN.
//     The reference is the declarations below, in the same order. All pieces of code here compile as C99
//     and as C++11, and are run by the tests; `tc` is an open context.
//
// QUICK START
//     The implementation is a file of its own, tcompile.c, compiled once:
//         #define TCOMPILE_IMPLEMENTATION
//         #include "tcompile.h"
//     Everywhere else the header is included and that is all:
//
//     ```c
//     #include "tcompile.h"
//
//     int main(void) {
//         tc_ctx *tc = tc_open(NULL);
//         tc_tensor x = tc_randn(tc, TC_DIMS(32, 196, 768), TC_F32);
//         tc_trace_begin(tc, "entropy");
//         tc_tensor p = tc_softmax(x, -1);
//         tc_tensor h = tc_neg(tc_sum(tc_mul(p, tc_log(tc_add_s(p, 1e-8))), -1));
//         tc_trace_end(tc);           // one kernel was compiled and run; h has data
//         tc_print(h);
//         tc_close(tc);
//     }
//     ```
//
//         cc -O2 -c tcompile.c
//         cc -O2 app.c tcompile.o -o app -lpthread -ldl
//
//     No other files, no install. (Small programs have the macro in app.c itself, before other includes.)
//
// WHAT IT DOES NOT DO
//     It is no array library with every function, no format of its own for models, and it never calls
//     Python, BLAS or a vendor library. GPUs come with tcompile_cuda.h.
//
// TENSORS AND OPS
//     A tensor is a handle, copied like a number. Ops give new tensors and follow PyTorch in names,
//     broadcasting and dtypes; `_s` marks a scalar operand, `_` at the end writes in place. Outside of
//     regions they run at once. Null goes through all of them, so look for errors once, at the end.
//
//     ```c
//     float data[] = {1, 2, 3, 4, 5, 6};
//     tc_tensor a = tc_from_data(tc, data, TC_DIMS(2, 3), TC_F32);  // a copy; tc_wrap borrows
//     tc_tensor b = tc_add_s(tc_mul(a, tc_amax(a, 0)), 1);          // [2, 3] * [3] + 1
//     tc_tensor row = tc_select(b, 0, 1);                           // a view
//     tc_mul_s_(row, 2);                                            // so b changes
//     tc_print(tc_matmul(b, tc_t(a)));
//     double total = tc_item(tc_sum_all(b));                        // the one element, as a number
//     double first = tc_get(b, TC_DIMS(0, -1));                     // one of many
//     if (tc_error(tc)) puts(tc_error_text(tc));
//     tc_free(a), tc_free(b), tc_free(row);
//     (void)total, (void)first;
//     ```
//
// REGIONS
//     What stands between tc_trace_begin and tc_trace_end runs as C code while ops are recorded: loops,
//     calls, printf and debuggers work. At the end it runs as fused kernels. The next visit that records
//     the same finds its program (5 ns per op); one that does something else gets another. Sizes and
//     scalars that change become arguments of one program.
//
//     ```c
//     tc_tensor x = tc_randn(tc, TC_DIMS(64, 512), TC_F32);
//     for (int i = 0; i < 100; i++) {
//         tc_trace_begin(tc, "step");
//         tc_tensor norm = tc_sqrt(tc_sum_all(tc_square(x)));       // small results have data too
//         x = tc_div(tc_tanh(tc_mul_s(x, 1 + 0.01 * i)), norm);     // the state of the next visit
//         tc_trace_end(tc);                                         // two kernels
//         if (tc_item(norm) < 1e-3) break;                          // read values behind the end
//     }
//     ```
//
//     Reading a value inside is a graph break: what it needs runs there, and ops on its two sides share no
//     kernel. Inputs are read when the region runs, not when an op is called, so memory of tc_wrap is yours to
//     write before tc_trace_begin and behind tc_trace_end.
//
// FUNCTIONS
//     tc_compile makes a C function whose body is not even run while its inputs look the same. A body
//     depends on its inputs, *user and tensors it captures, on nothing else.
//
//     ```c
//     typedef struct layer { tc_tensor weight, bias; } layer;
//
//     static void forward(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
//         const layer *l = (const layer *)user;
//         (void)tc;
//         out[0] = tc_relu(tc_linear(in[0], l->weight, l->bias));
//     }
//
//     layer l;
//     l.weight = tc_randn(tc, TC_DIMS(16, 32), TC_F32), l.bias = tc_zeros(tc, TC_DIMS(16), TC_F32);
//     tc_fn *f = tc_compile(tc, forward, &l, sizeof l, NULL);
//     for (int batch = 1; batch < 50; batch++) {                    // two programs, for all sizes
//         tc_tensor x = tc_randn(tc, TC_DIMS(batch, 32), TC_F32), y;
//         if (tc_call(f, &x, 1, &y, 1)) break;
//         tc_free(x), tc_free(y);
//     }
//     puts(tc_miss_text(f));                                        // why the body ran last
//     tc_fn_free(f);
//     ```
//
// LIFETIMES
//     tensor                                owner       it ends
//     made outside regions; out[] of        you         at tc_free, or at the end of the scope that
//     tc_call; made of data (tc_from_data,              was open; without a scope at tc_close
//     tc_wrap, tc_const) in a region or body
//     anything after tc_keep                you         at tc_free: no scope and no visit ends it
//     result of a region, stored or not     its region  when the region has taken the same way again
//                                                       without using it (the way: the ops recorded;
//                                                       of the last eight), at tc_free, at tc_reset, when
//                                                       thousands of other regions came since
//     view made outside of such a result    its region  at the next visit, unless the region uses it
//     result of a function's body           the call    with the call, but for out[]
//     memory of tc_wrap, *user of a body    you         after the last use of its tensors
//
//     - Memory goes with the last tensor that shares it, and views do. Where tc_free or a scope ends the tensor
//       that shows most of it (1 MB or more), the views left take what they show, first element to last, to
//       memory of their own, if that is less than half; what they share they go on sharing. So tc_free(z)
//       frees z behind tc_item(tc_select(z, 0, 3)), whose view nobody can free (tc_get(z, TC_DIMS(3)) makes
//       none). All of it stays behind a view of more, such as a nameless tc_t(z) or column of z, on a device,
//       after tc_data of such a view, while contexts of tc_open_shared see it, and as long as a region keeps z
//       for late reads; the next tc_free, end of a scope or tc_reset looks again. Memory of results of a region
//       or of calls is its program's: the next ones write it again, tc_reset and tc_fn_free give it back. A view of
//       one that is kept holds all of it, so of a large one keep tc_clone(tc_select(y, 0, 3)).
//     - What ended is TC_E_DEAD wherever it is given, with what ended it and where.
//     - A loop's state may be the result of the visit before, and go on for as long as each visit uses it.
//       Results that ops of the region consumed are not stored at first: one that is read late is computed
//       then, and stored from the next visit on. Until then wrapped memory may change only if it has at most
//       64 MB.
//     - Eager results stay until something frees them: C tells nobody when a handle is dropped, and one that may
//       still be read is not taken away. From 1 GB on a warning names the place, and what the machine has no
//       memory for is TC_E_NOMEM, with all that was there intact. A loop of them in bounded memory:
//
//     ```c
//     tc_tensor state = tc_ones(tc, TC_DIMS(1000), TC_F32);
//     for (int i = 0; i < 100; i++) {
//         tc_scope_begin(tc);
//         tc_tensor next = tc_sqrt(tc_add_s(state, 1));             // any number of eager ops
//         tc_free(state);
//         state = tc_scope_return(tc, next);                        // the others end here
//     }
//     ```
//
//       With tc_lazy no such result is made, and none has to be freed: ops are recorded, run together at tc_eval or where
//       a value is read, and what other ops alone use is never stored. Any number of steps holds the memory of two:
//
//     ```c
//     tc_tensor heat = tc_ones(tc, TC_DIMS(1000), TC_F32);
//     tc_lazy(tc, 1);
//     for (int i = 0; i < 100; i++) {
//         tc_tensor beside = tc_add(tc_roll(heat, 1, 0), tc_roll(heat, -1, 0));
//         heat = tc_add(heat, tc_mul_s(tc_sub(beside, tc_mul_s(heat, 2)), 0.1));
//         tc_eval(tc, NULL, 0);                                     // or of every tenth step: one kernel of ten
//     }
//     tc_lazy(tc, 0);
//     ```
//
// IDIOMS
//     A training step: forward, backward and update are one program. tc_grad is pure; tc_requires_grad and
//     tc_backward add to tensors that stay, as PyTorch does. The update is one of tc_sgd_, tc_adamw_ and the like (of
//     a list of parameters: tc_adamw_list_), or any ops in place, and is fused with what comes before it.
//
//     ```c
//     enum { N = 256, D = 16 };
//     tc_tensor x = tc_randn(tc, TC_DIMS(N, D), TC_F32), y = tc_sum(x, 1);
//     tc_tensor w = tc_zeros(tc, TC_DIMS(D), TC_F32), velocity = tc_zeros(tc, TC_DIMS(D), TC_F32);
//     for (int i = 0; i < 200; i++) {
//         tc_trace_begin(tc, "train");
//         tc_tensor off = tc_sub(tc_matmul(x, w), y);
//         tc_tensor loss = tc_mean_all(tc_square(off)), grad;
//         tc_grad(loss, &w, 1, &grad);
//         tc_sgd_(w, grad, velocity, 0.05, 0.9, 0, 0);              // w -= ..., in place
//         tc_trace_end(tc);
//         if (i % 50 == 49) printf("%g\n", tc_item(loss));          // only where it is looked at
//     }
//     ```
//
//     As a function it is not even recorded again. Its numbers are those of the first calls: a rate that changes is ops, here
//     of the step counter, between tc_lr_scale_begin and its end, or an input.
//
//     ```c
//     typedef struct trained { tc_tensor w, average, square, steps; } trained;
//
//     static void train(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
//         trained *m = (trained *)user;
//         tc_tensor grad, off = tc_sub(tc_matmul(in[0], m->w), in[1]);
//         out[0] = tc_mean_all(tc_square(off));
//         tc_grad(out[0], &m->w, 1, &grad);
//         tc_tensor rise = tc_minimum_s(tc_mul_s(tc_add_s(m->steps, 1), 0.05), 1); // over 20 steps
//         tc_lr_scale_begin(tc, rise);
//         tc_adamw_(m->w, grad, m->average, m->square, m->steps, 0.1, 0.9, 0.999, 1e-8, 0);
//         tc_lr_scale_end(tc);
//     }
//
//     enum { N = 256, D = 16 };
//     trained m;
//     tc_tensor in[2], loss;
//     in[0] = tc_randn(tc, TC_DIMS(N, D), TC_F32), in[1] = tc_sum(in[0], 1);
//     m.w = tc_zeros(tc, TC_DIMS(D), TC_F32), m.steps = tc_zeros(tc, TC_SCALAR, TC_F32);
//     m.average = tc_zeros(tc, TC_DIMS(D), TC_F32), m.square = tc_zeros(tc, TC_DIMS(D), TC_F32);
//     tc_fn *step = tc_compile(tc, train, &m, 0, NULL);
//     for (int i = 0; i < 200; i++) {
//         if (tc_call(step, in, 2, &loss, 1)) break;
//         if (i % 50 == 49) printf("%g\n", tc_item(loss));
//         tc_free(loss);
//     }
//     tc_fn_free(step);
//     ```
//
//     Mixed precision. Weights, gradients and the update stay f32; products are computed in halves, of casts that the graph
//     makes of the weights. In f16 a tc_grad_scaler keeps gradients in range: a step that overflows is not made, and
//     nothing waits to know. With TC_BF16 the scaler's lines are left out.
//
//     ```c
//     enum { N = 256, D = 16 };
//     tc_tensor x = tc_randn(tc, TC_DIMS(N, D), TC_F32), y = tc_sum(x, 1);
//     tc_tensor w = tc_zeros(tc, TC_DIMS(1, D), TC_F32);
//     tc_grad_scaler scaler;
//     tc_grad_scaler_init(tc, &scaler, 0);
//     for (int i = 0; i < 200; i++) {
//         tc_trace_begin(tc, "train");
//         tc_autocast_begin(tc, TC_F16);
//         tc_tensor out = tc_linear(x, w, tc_null());               // f16
//         tc_tensor loss = tc_mse_loss(tc_squeeze(out, 1), y), grad; // f32
//         tc_autocast_end(tc);
//         tc_grad(tc_grad_scaler_scale(&scaler, loss), &w, 1, &grad);
//         tc_grad_scaler_unscale_(&scaler, &grad, 1);
//         tc_grad_scaler_step_begin(&scaler);
//         tc_sgd_(w, grad, tc_null(), 0.1, 0, 0, 0);                // any optimiser
//         tc_grad_scaler_step_end(&scaler);
//         tc_grad_scaler_update(&scaler);
//         tc_trace_end(tc);
//         if (i % 50 == 49) printf("%g\n", tc_item(loss));
//     }
//     ```
//
//     A loop over rows, as a recurrent network is: in C it is unrolled, which is right for a few. tc_scan records a
//     body once and runs it for each row; tc_while and tc_cond decide by values that stay in the graph. Gradients go
//     through all of them.
//
//     A decode loop. The cache is room for the most; a region writes its row in place and reads the rows so far
//     where they lie, with a size that programs get at run time. Nothing is copied, and the second token
//     makes the program for all lengths. That holds where a region has written all that it writes of a tensor, to parts
//     that do not meet, before it reads it, where the row itself is no other result, and, on the CPU, where its elements
//     are neighbours, 16 or more; else the cache is written anew as a whole, which tc_explain shows ("writes").
//
//     ```c
//     enum { MOST = 64, D = 32 };
//     tc_tensor cache = tc_zeros(tc, TC_DIMS(MOST, D), TC_F32);
//     tc_tensor w = tc_randn(tc, TC_DIMS(D, D), TC_F32), x = tc_randn(tc, TC_DIMS(1, D), TC_F32);
//     for (int n = 0; n < 40; n++) {
//         tc_trace_begin(tc, "token");
//         tc_copy_(tc_narrow(cache, 0, n, 1), x);                   // one row
//         tc_tensor past = tc_narrow(cache, 0, 0, n + 1);
//         tc_tensor a = tc_scaled_dot_product_attention(x, past, past, tc_null(), 0, 0);
//         tc_tensor next = tc_keep(tc_tanh(tc_matmul(a, w)));       // yours, whatever ends
//         tc_trace_end(tc);
//         tc_free(x);
//         x = next;
//     }
//     ```
//
//     A stencil with a border. The pad costs next to nothing: it is a test at the edge of the kernel.
//
//     ```c
//     tc_tensor u = tc_rand(tc, TC_DIMS(128, 128), TC_F32);
//     for (int i = 0; i < 50; i++) {
//         tc_trace_begin(tc, "heat");
//         tc_tensor p = tc_pad_with(u, TC_DIMS(1, 1), TC_DIMS(1, 1), TC_PAD_REPLICATE);
//         tc_tensor up = tc_slice(p, 0, 0, -2, 1), down = tc_slice(p, 0, 2, TC_END, 1);
//         tc_tensor left = tc_slice(p, 1, 0, -2, 1), right = tc_slice(p, 1, 2, TC_END, 1);
//         tc_tensor sum = tc_add(tc_slice(tc_add(up, down), 1, 1, -1, 1),
//                                tc_slice(tc_add(left, right), 0, 1, -1, 1));
//         u = tc_add(u, tc_mul_s(tc_sub(sum, tc_mul_s(u, 4)), 0.2));
//         tc_trace_end(tc);
//     }
//     ```
//
//     A solver: state of several tensors, a number of the host decides. Conjugate gradients for a x = b:
//
//     ```c
//     enum { N = 64 };
//     tc_tensor g = tc_randn(tc, TC_DIMS(N, N), TC_F32), b = tc_ones(tc, TC_DIMS(N), TC_F32);
//     tc_tensor a = tc_add(tc_matmul(tc_t(g), g), tc_mul_s(tc_eye(tc, N, N, TC_F32), N));
//     tc_tensor x = tc_zeros(tc, TC_DIMS(N), TC_F32), r = b, p = b;
//     for (int i = 0; i < 200; i++) {
//         tc_trace_begin(tc, "solve");
//         tc_tensor q = tc_matmul(a, p), rr = tc_dot(r, r);
//         tc_tensor step = tc_div(rr, tc_dot(p, q));
//         x = tc_add(x, tc_mul(p, step));
//         r = tc_sub(r, tc_mul(q, step));
//         tc_tensor next = tc_dot(r, r);
//         p = tc_add(r, tc_mul(p, tc_div(next, rr)));
//         tc_trace_end(tc);
//         if (tc_item(next) < 1e-8) break;
//     }
//     ```
//
//     Any batch size: call a function with it (FUNCTIONS above). The second size seen makes one program for
//     all; tc_mark_dynamic makes it from the first on. As in PyTorch, a size of 1 has a program of its own where an op
//     broadcasts it, as a convolution does over a batch: then the second size above 1 makes the one for the rest.
//
// PARAMETERS AND FILES
//     A tc_params is a set of named tensors, made by the formulas of torch.nn.init, and owned by the set. It gives
//     optimisers their lists, and is saved and loaded as a safetensors file, whose bytes are those of the Python
//     package. What an optimiser keeps is another set, whose arrays tc_params_list keeps beside its list when parameters are
//     frozen or thawed (tc_requires_grad). tc_safetensors_open reads a file without one, and borrows
//     tensors where they lie. tc_training(tc, 0) ends dropout, and has tc_batch_norm_running use what it has gathered.
//
//     ```c
//     tc_tensor x = tc_randn(tc, TC_DIMS(32, 8), TC_F32), y = tc_sum_dims(x, TC_DIMS(1), TC_KEEPDIM);
//     tc_params *p = tc_params_open(tc), *state = tc_params_open(tc);
//     tc_tensor w = tc_param(p, "w", TC_DIMS(1, 8), TC_F32, tc_init_xavier_uniform(1));
//     tc_tensor b = tc_param(p, "b", TC_DIMS(1), TC_F32, tc_init_zeros());
//     const tc_tensor *list, *grads, *momentum = tc_params_state(p, state, "momentum");
//     for (int i = 0; i < 100; i++) {
//         tc_trace_begin(tc, "fit");
//         tc_params_zero_grad(p);
//         tc_backward(tc_mse_loss(tc_linear(tc_dropout(x, 0.1), w, b), y));
//         int n = tc_params_list(p, &list, &grads);
//         tc_sgd_list_(list, grads, momentum, n, 0.01, 0.9, 0, 0);
//         tc_trace_end(tc);
//     }
//     tc_training(tc, 0);
//     fputs(tc_params_text(p), stdout);                             // a table
//     tc_params_save(p, "model.safetensors");
//     tc_params_load(p, "model.safetensors", 0);                    // strict: all names, no others
//     ```
//
// ERRORS
//     Nothing prints, exits or aborts. The first error stays in the context until tc_error_clear, with the op,
//     the values, what to do, and the caller's place; tc_trace_end, tc_call and tc_read return their own status.
//     A loop that goes on after an error clears it: else later errors are told behind the first one's text.
//     A region or call that fails while it runs (an index, memory) leaves its inputs as they were. An op that was refused
//     while it was recorded is left out, and the others run.
//
//     ```c
//     tc_tensor a = tc_ones(tc, TC_DIMS(2, 3), TC_F32), y = tc_matmul(a, a);
//     if (tc_is_null(y)) printf("%s (%s:%d)\n", tc_error_text(tc), tc_error_file(tc), tc_error_line(tc));
//     tc_error_clear(tc);
//     ```
//
// SEEING WHAT HAPPENS
//     tc_explain           text: a summary, then programs, guards, kernels, breaks; tc_explain_counts:
//                          as numbers
//     tc_explain_html      the same as a page with graphs, memory plans and the emitted C
//     tc_profile_begin, tc_profile_end, tc_profile_text
//                          times of kernels, bytes, share of what the memory can do
//     tc_profile_trace     the events as a file for ui.perfetto.dev
//     tc_stats_get         counters and times of the context: `programs` says whether something was compiled anew
//     tc_set_stance        under TC_STANCE_FORCE_EAGER all runs op by op, gradients too: is it the compiler, or your code?
//     TC_LOGS=recompiles   why something was compiled again; TC_LOGS=output_code: the kernels as C, under the
//                          lines they are of
//
// ENVIRONMENT (read by tc_open; ignored in setuid programs)
//     Every field of tc_config and tc_options that decides something has a variable, which counts
//     where the field is zero. tc_list_options has all of them, with their values. The usual ones:
//     CC                   the compiler to use, default cc, gcc, clang in this order
//     TC_CACHE_DIR         where compiled kernels are kept; default $XDG_CACHE_HOME/tcompile or
//                          ~/.cache/tcompile
//     TC_LOGS              comma list: graph, fusion, recompiles, graph_breaks, cache, guards, perf,
//                          autotune; output_code: every kernel, under the calls and lines it is of;
//                          output_unit: what the compiler gets, with all that kernels call; or all
//     TC_THREADS           worker threads, default all cores the process may use
//     TC_MEMORY_MB         what recordings and programs may hold, default 192; then the oldest go
//     TC_DISABLE=1         regions and functions run eagerly
//     TC_STANCE            force_eager: all runs op by op; eager_on_recompile, fail_on_recompile, eager_then_compile
//     TC_BACKEND           eager, aot_eager, cpu (default), or one that is registered
//     TC_VERIFY=1          first runs of compiled code are compared with the interpreter's
//     TC_FULLGRAPH=1       a graph break is an error
//     And one that is no option:
//     TC_CACHE_KEY         a secret: what the disk cache keeps under it is found with it alone, and nothing else
//                          is used
//
// OPTIONS OF THE BUILD, each a macro before the include that has the implementation
//     TCOMPILE_STATIC      public functions are static to that file
//     TCOMPILE_IMPLEMENTED the implementation is in another file or library, whatever this one defines
//     TC_NO_SITES          ops do not pass __FILE__ and __LINE__ (define it in every file)
//     TC_NO_THREADS        no worker threads, no pthread
//     TC_NO_JIT            never run a compiler: interpreter only
//     TC_NO_DISK_CACHE     compiled kernels live in memory only
//     TC_NO_REPORT         without what only reports and tunes: tc_explain and what is like it, the profiler,
//                          modes of max-autotune; they say TC_E_UNSUPPORTED, all else is as ever
//     TC_ASSERT(cond)      checks for our own bugs; off unless defined
//     TC_DEBUG             every graph is verified between stages; on with TC_ASSERT
//
// THREADS
//     One thread at a time uses a context. While one has a region open or tc_lazy on, or runs code of yours in a
//     call, whatever another calls fails with TC_E_THREAD and changes nothing, also an op that is just what the
//     first would do next; so it does while one is in an op or in a call of a function. Calls that only look are not
//     refused: errors, statistics, names, sizes but tc_dim. Not noticed, and nothing is promised: who comes
//     outside regions at the same moment, while any other call works, or while a function that
//     skips its body runs a kernel on one thread. Another thread has a context of its own; tc_open_shared opens
//     one that reads this one's tensors and shares its compiled kernels. Kernels use all cores by themselves.
//
//     A thread may end: what it left open goes on in the next one that uses the context (Linux). One that ends in a
//     call (pthread_exit in a body, host call, gradient, op or backend of yours) takes with it what the call was
//     to give and the region around it, which a warning tells. What that writes in place is not read until it
//     is written anew or the error (TC_E_THREAD) cleared. Some memory may be held for ever. The allocator and
//     the logger must return. A thread is not cancelled (pthread_cancel) in code of yours that a call runs, but at
//     a cancellation point behind that call. Calls need not have one: a loop of nothing but calls goes on until it
//     asks by pthread_testcancel.
//
// START-UP
//     Compiled kernels stay on disk: the next start loads them. tc_precompile compiles a function without
//     data; under TC_STANCE_EAGER_THEN_COMPILE (tc_set_stance) first calls are interpreted while threads
//     in the background compile; after tc_freeze a call takes no memory, lock or system call.
//     tc_lazy and tc_eval work without regions.
//
// DEVICES
//     tcompile_cuda.h beside this file brings NVIDIA's GPUs: tc_cuda_open(tc, 0), tc_to(x, "cuda:0"), and what
//     is computed with x runs there. Without a GPU one sentence says why.
//
// BACKENDS
//     "cpu" compiles, "aot_eager" interprets the fused program, "eager" each op; tc_register_backend adds
//     yours, which is given each program as a graph.
//
// OPS OF YOUR OWN
//     tc_register_op makes a C function over whole buffers, or its text, an op like the others: tc_custom
//     calls it, in regions, functions and outside; ops around it are fused as ever. tc_host_call runs
//     host code with the values of tensors at its place inside a region.
//
//     ```c
//     static tc_status cube(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
//         const float *x = (const float *)in[0].data;
//         float *y = (float *)out->data;
//         int64_t n = 1;
//         for (int d = 0; d < out->spec.rank; d++) n *= out->spec.dims[d];
//         for (int64_t i = 0; i < n; i++) y[i] = x[i] * x[i] * x[i];
//         (void)user, (void)n_in;
//         return TC_OK;
//     }
//
//     tc_custom_op op;
//     memset(&op, 0, sizeof op);
//     op.name = "cube", op.run = cube;
//     int number = tc_register_op(tc, &op);
//     tc_tensor x = tc_arange(tc, 0, 5, 1, TC_F32);
//     tc_trace_begin(tc, "cubes");
//     tc_tensor y = tc_add_s(tc_custom(tc, number, &x, 1), 1);
//     tc_trace_end(tc);
//     tc_print(y);
//     ```

// clang-format off
#if defined(TCOMPILE_IMPLEMENTATION) && !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#  define _GNU_SOURCE 1
#endif

#ifndef TCOMPILE_H
#define TCOMPILE_H

#include "api/config.h"

#include "out/status.inc"

#include "out/dtype_enum.inc"

#include "api/context.h"
#include "api/tensor.h"

#include "out/op_api.inc"

#include "api/compile.h"
#include "api/function.h"
#include "api/options.h"
#include "api/spec.h"
#include "api/control.h"
#include "api/profile.h"
#include "api/device.h"
#include "api/backend.h"
#include "api/extend.h"
#include "api/grad.h"
#include "api/safetensors.h"
#include "api/params.h"
#include "api/amp.h"
#include "api/loop.h"

#include "out/call_macros.inc"

#endif  // TCOMPILE_H

#if defined(TCOMPILE_IMPLEMENTATION) && !defined(TCOMPILE_IMPLEMENTED)
#define TCOMPILE_IMPLEMENTED

#include "out/build_id.inc"

#include "base/prelude.c"
#include "base/float_begin.c"
#include "base/error.c"
#include "base/mem.c"
#include "base/text.c"
#include "base/hash.c"
#include "base/cpu.c"
#include "base/os.c"
#include "base/process.c"
#include "base/export.c"

#include "value/dtype.c"
#include "value/ix_pool.c"
#include "value/ix.c"
#include "value/ix_walk.c"
#include "value/ix_text.c"
#include "value/buffer.c"
#include "value/trim.c"
#include "value/overlap.c"
#include "value/family.c"

#include "graph/node.c"
#include "graph/custom.c"
#include "graph/infer.c"
#include "graph/shape.c"
#include "graph/composite.c"
#include "graph/view.c"
#include "graph/lexical.c"
#include "graph/trace.c"
#include "graph/refuse.c"
#include "graph/share.c"
#include "graph/place.c"
#include "graph/call_words.c"
#include "graph/follow.c"
#include "graph/ours.c"
#include "graph/record.c"
#include "graph/make.c"
#include "graph/whole.c"
#include "graph/life.c"
#include "graph/create.c"
#include "graph/random.c"
#include "graph/move.c"
#include "graph/index.c"
#include "graph/autocast.c"
#include "out/autocast.inc"
#include "out/op_calls.inc"

#include "graph/scalar.c"
#include "out/in_place.inc"
#include "graph/extend.c"

#include "base/once_begin.c"
#include "graph/promote_size.c"
#include "graph/promote_reshape.c"
#include "graph/promote.c"
#include "graph/formulas.c"
#include "graph/compose.c"
#include "out/reductions.inc"
#include "graph/product.c"
#include "graph/convolution.c"
#include "graph/woven.c"
#include "graph/transposed.c"
#include "graph/twice.c"
#include "graph/updates.c"
#include "graph/optim.c"
#include "graph/running.c"
#include "graph/init.c"
#include "graph/scaler.c"
#include "api/site.h"
#include "out/composites.inc"
#include "graph/rows.c"
#include "graph/grad.c"
#include "graph/construct.c"
#include "graph/recompute.c"
#include "graph/looped.c"
#include "graph/budget.c"
#include "graph/windowed.c"
#include "graph/derive.c"
#include "graph/derive_gather.c"
#include "graph/derive_sweep.c"
#include "graph/derive_loop.c"
#include "graph/cells.c"
#include "graph/build.c"
#include "graph/dump.c"
#include "graph/read.c"
#include "graph/verify.c"

#include "pass/split.c"
#include "pass/rules.c"
#include "pass/moments.c"
#include "pass/composites.c"
#include "pass/raise.c"
#include "pass/rescore.c"
#include "pass/laid.c"
#include "pass/winograd.c"
#include "pass/channels.c"
#include "pass/layouts.c"
#include "pass/rounded.c"
#include "pass/align.c"
#include "pass/passes.c"
#include "pass/loops.c"

#include "kernel/group.c"
#include "kernel/part.c"
#include "kernel/part_verify.c"
#include "kernel/space.c"
#include "kernel/walk.c"
#include "kernel/border.c"
#include "kernel/lower.c"
#include "kernel/outline.c"
#include "kernel/roots.c"
#include "kernel/find_roots.c"
#include "kernel/again.c"
#include "kernel/cluster.c"
#include "kernel/merge.c"
#include "kernel/cut.c"
#include "kernel/redraw.c"
#include "kernel/schedule.c"
#include "kernel/access.c"
#include "kernel/pitch.c"
#include "kernel/overlay.c"
#include "kernel/plan.c"
#include "kernel/same.c"
#include "kernel/list.c"
#include "kernel/report.c"
#include "kernel/digits.c"
#include "kernel/windows.c"
#include "kernel/fold.c"
#include "kernel/lanes.c"
#include "kernel/constants.c"
#include "kernel/range.c"
#include "kernel/print_custom.c"
#include "kernel/print.c"
#include "kernel/print_list.c"
#include "kernel/join.c"
#include "kernel/beside.c"
#include "kernel/assemble.c"
#include "kernel/down_host.c"
#include "kernel/ahead.c"
#include "kernel/down.c"
#include "kernel/down_product.c"
#include "kernel/dots.c"
#include "kernel/contract.c"
#include "kernel/contract_plan.c"
#include "kernel/thirds.c"
#include "kernel/contract_items.c"
#include "kernel/print_direct.c"
#include "kernel/print_operands.c"
#include "kernel/print_dots.c"
#include "kernel/print_digits.c"
#include "kernel/print_lying.c"
#include "kernel/print_matmul.c"
#include "kernel/print_thirds.c"
#include "kernel/print_windows.c"
#include "kernel/print_turned.c"
#include "kernel/print_contract.c"
#include "kernel/print_parts.c"
#include "kernel/print_c_acc.c"
#include "kernel/print_c_place.c"
#include "kernel/print_c_memory.c"
#include "kernel/print_c_values.c"
#include "kernel/print_c_loop.c"
#include "kernel/print_c.c"
#include "kernel/print_texts.c"
#include "kernel/print_transpose.c"
#include "kernel/print_thirds_texts.c"
#include "kernel/print_prelude.c"
#include "kernel/tune.c"
#include "base/once_end.c"

#include "exec/interp_block.c"
#include "exec/interp_isa.c"
#include "exec/interp_value.c"
#include "exec/interp_index.c"
#include "exec/interp_rect.c"
#include "exec/interp_access.c"
#include "exec/interp.c"
#include "exec/interp_choose.c"
#include "exec/interp_turn.c"
#include "exec/interp_contract.c"
#include "exec/pool.c"
#include "exec/opaque.c"

#include "base/once_begin.c"
#include "exec/interp_plan_index.c"
#include "exec/interp_plan_regs.c"
#include "exec/interp_plan_choose.c"
#include "exec/interp_plan.c"
#include "exec/cache.c"
#include "exec/modules.c"
#include "exec/work.c"
#include "exec/cc_learn.c"
#include "exec/cc.c"
#include "exec/library.c"
#include "exec/host_code.c"
#include "exec/workshop.c"
#include "exec/state.c"
#include "exec/backend.c"
#include "exec/options.c"
#include "exec/custom.c"
#include "exec/events.c"
#include "exec/across.c"
#include "exec/order.c"
#include "exec/dispatch.c"
#include "exec/dispatch_order.c"
#include "exec/dispatch_layout.c"
#include "exec/loops.c"
#include "exec/parts.c"
#include "exec/outputs.c"
#include "exec/runner.c"
#include "exec/still.c"
#include "exec/kept.c"
#include "exec/program.c"
#include "exec/program_devices.c"
#include "exec/saved.c"
#include "exec/budget.c"
#include "exec/pipeline.c"
#include "exec/choice.c"
#include "exec/device_code.c"
#include "exec/kernels.c"
#include "exec/dispatch_custom.c"
#include "exec/foreign.c"
#include "exec/tier.c"
#include "exec/guards.c"
#include "exec/why.c"
#include "exec/profile.c"
#include "base/once_end.c"

#include "exec/launch.c"
#include "exec/copy.c"
#include "exec/host_runner.c"
#include "exec/dispatch_run.c"

#include "base/once_begin.c"
#include "exec/transfer.c"

#ifdef TC_NO_REPORT
#include "exec/no_report.c"
#else
#include "exec/heat.c"
#include "exec/spare.c"
#include "exec/tune.c"
#endif
#include "base/once_end.c"

#include "exec/undo.c"
#include "exec/run_outputs.c"
#include "exec/strands.c"
#include "exec/run.c"
#include "exec/forget.c"
#include "exec/wanted.c"

#include "exec/region.c"
#include "exec/eager.c"
#include "exec/alone.c"
#include "exec/entry.c"
#include "base/once_begin.c"
#include "exec/miss.c"
#include "base/once_end.c"
#include "exec/nesting.c"
#include "exec/function.c"
#include "exec/gradient.c"
#include "exec/checkpoint.c"
#include "exec/bound.c"
#include "exec/call.c"
#include "base/once_begin.c"
#include "exec/device.c"
#include "exec/grads.c"
#include "exec/scalers.c"
#include "io/show.c"

#ifndef TC_NO_REPORT
#include "exec/profile_report.c"
#include "exec/summary.c"
#include "exec/saved_report.c"
#include "exec/explain.c"
#include "io/svg.c"
#include "io/html.c"
#endif

#include "exec/abandon.c"
#include "base/once_end.c"
#include "exec/context.c"
#include "base/once_begin.c"
#include "exec/control.c"
#include "exec/scan.c"
#include "exec/host.c"
#include "exec/params.c"

#include "io/npy.c"
#include "io/safetensors_header.c"
#include "io/safetensors.c"
#include "io/params_file.c"
#include "base/once_end.c"
#include "base/float_end.c"

#endif  // TCOMPILE_IMPLEMENTATION

// What the implementation needs several times stands once: for that this file includes itself, by its name.
#ifdef TC__SELF
#include "exec/interp_set.c"
#endif

// LICENCE: choose one.
//
// A. MIT. Copyright (c) 2026 the tcompile authors.
// Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
// associated documentation files (the "Software"), to deal in the Software without restriction,
// including without limitation the rights to use, copy, modify, merge, publish, distribute,
// sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
// furnished to do so, subject to the following conditions: The above copyright notice and this
// permission notice shall be included in all copies or substantial portions of the Software.
// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
// NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
// NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
// DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT
// OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
//
// B. Public domain (www.unlicense.org). This is free and unencumbered software released into the
// public domain. Anyone is free to copy, modify, publish, use, compile, sell, or distribute this
// software, either in source code form or as a compiled binary, for any purpose, commercial or
// non-commercial, and by any means. In jurisdictions that recognize copyright laws, the authors
// dedicate any and all copyright interest in the software to the public domain. THE SOFTWARE IS
// PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, AS ABOVE.
