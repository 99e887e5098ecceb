// Control beside options and stances: code that stays eager, laziness without regions, programs ahead of
// time, and calls that ask the system for nothing.

// What is called between these two runs eagerly, also inside a region or a body: everything it needs of the
// region is computed first (a graph break for each such value, so an error under fullgraph), and its
// results are inputs of what follows. Pairs nest. Regions and functions inside are eager too. What
// the region uses must not be written in place there (TC_E_STATE). A function whose body does this
// is not skipped. end: TC_E_STATE without its begin.
TCDEF tc_status tc_disable_begin_at(tc_ctx *c, const char *file, int line);
TCDEF tc_status tc_disable_end_at(tc_ctx *c, const char *file, int line);

// on = 1: from now on ops are recorded without tc_trace_begin, and run at tc_eval or where a value is
// read. on = 0: what is recorded runs, and ops are eager again. TC_E_STATE: inside a region.
TCDEF tc_status tc_lazy_at(tc_ctx *c, int on, const char *file, int line);

// Runs all that is recorded since the tc_eval before. The n tensors of `list` are the caller's then, until
// tc_free; other results live until the next tc_eval but one. The same ops in the same order use the
// program made before. Without tc_lazy the tensors are computed if they are not yet. TC_E_STATE: inside a
// region; else the status of the run.
TCDEF tc_status tc_eval_at(tc_ctx *c, const tc_tensor *list, int n, const char *file, int line);

// Makes and compiles the program of f for inputs of these dtypes and sizes (row-major, each in memory of
// its own), without data: nothing runs. The body is called twice, as by the first two calls. With
// several sizes of one dimension, one after the other, the program for all of them is made. Where
// compiling is left to the background, tc_wait_compiled waits for it; where f runs eagerly, or op by
// op (TC_STANCE_FORCE_EAGER), there is nothing to do, and its body is not called. TC_E_NULL; TC_E_ARG (a spec);
// TC_E_STATE (inside a region; the body reads values); and what tc_call gives.
TCDEF tc_status tc_precompile_at(tc_fn *f, const tc_spec *in, int n_in, int n_out, const char *file,
                                 int line);

// After it a region or call that was warmed up takes no memory, lock or system call, and logs nothing
// (but for an allocator hook in a tc_free, and in contexts with tc_open_shared children a lock per
// call). Worker threads spin between calls: give the context one thread where that is unwelcome. What would
// take memory is TC_E_STATE, what would have to be compiled TC_E_RECOMPILE; inputs are unmodified.
// TC_E_STATE: inside a region.
TCDEF tc_status tc_freeze(tc_ctx *c);
TCDEF tc_status tc_thaw(tc_ctx *c);

// Whether ops train (on = 1, as a context begins) or evaluate (on = 0): tc_dropout gives its operand then,
// tc_batch_norm_running uses the statistics that it has. In a region it counts for what is called behind it. A
// function has programs for both, and never runs the wrong one. TC_E_STATE: in a function's body, which a call
// may skip; TC_E_ARG: on is neither.
TCDEF tc_status tc_training_at(tc_ctx *tc, int on, const char *file, int line);
// 1 while ops train.
TCDEF int tc_is_training(const tc_ctx *tc);
