// Contexts and errors.

// What regions and functions of a context do when there is no program for what they are given.
//
// TC_STANCE_FORCE_EAGER tells whether it is the compiler or your code: what is recorded runs op by op in the
// interpreter, gradients and writes in place as ever, with the bits of the other stances (of halves under option
// round_each_op; not of TC_NUMERICS_FAST). No code is made for the host, nor is what there is used, but for a custom
// op that is nothing but c_source; it stays for other stances, so a training loop may go back and forth. A body
// runs at every call. On a device, which has no interpreter, each op is a kernel of its own. There fullgraph
// allows reads, recompile_limit counts nothing, "max-autotune" measures nothing and registered backends are not asked.
// Code that is not to be recorded at all, and has no gradients, is disabled: option disable, TC_DISABLE, tc_disable_begin.
typedef enum tc_stance {
    TC_STANCE_DEFAULT,             // compile one
    TC_STANCE_FORCE_EAGER,         // run each op by itself, also where there is one
    TC_STANCE_EAGER_ON_RECOMPILE,  // run it in the interpreter; what is compiled is used
    TC_STANCE_FAIL_ON_RECOMPILE,   // TC_E_RECOMPILE, inputs unmodified
    TC_STANCE_EAGER_THEN_COMPILE   // run it in the interpreter while threads in the background
                                   // compile it; the first run that finds its code there uses it
} tc_stance;

typedef struct tc_config {
    tc_allocator allocator;  // zero = malloc, of at most nine tenths of the memory that the machine, or the
                             // container, has: what is wanted beyond is TC_E_NOMEM
    tc_logger logger;        // zero = stderr
    int threads;             // 0 = TC_THREADS, else every core the process may use
    const char *cache_dir;   // NULL = TC_CACHE_DIR, else the user's cache folder
    const char *cc;          // NULL = CC, else cc, gcc, clang
    const char *logs;        // NULL = TC_LOGS; e.g. "graph,output_code"
    const char *backend;     // NULL = TC_BACKEND, else "cpu"; see tc_register_backend
    tc_stance stance;        // as tc_set_stance; 0 = TC_STANCE, else "default"
    int no_disk_cache;       // 1 = compiled kernels live in memory only
    int compile_threads;     // compiling in the background at once; 0 = half the cores, at most 4
    int compile_ms;          // time that one step of the compiler may take; 0 = 60000
    int compile_mb;          // memory that one process of the compiler may have; 0 = 8192
    int memory_mb;           // memory that regions and functions may hold for what they recorded and made of
                             // it, without results and intermediates: past a third of it recordings, past
                             // two thirds programs go that were used longest ago, and are made again when
                             // they are needed, with one warning. Ops outside regions have another third
                             // for what was made of them. A program with a product or convolution has room
                             // for packed operands, 0.4 MB for each thread or more with its size: that is most of
                             // what small ones hold. 0 = 192
    int no_fusion;           // 1 = one kernel per op (for tests and measurements)
    const char *passes_off;  // graph passes to leave out, "fold,split" or "all" (for tests)
    const char *isa;         // instructions that may be used at most: "baseline" (of the oldest CPU of this
                             // kind), "avx2" (with FMA and F16C), "avx512" (F, BW, DQ and VL); NULL =
                             // TC_ISA, else "native", all that the CPU has. Results have the same bits.
                             // For AMX a context asks Linux to save its tiles: alternate stacks that the
                             // process sets for signals afterwards need 11 KB for them (sigaltstack: ENOMEM)
} tc_config;

// A tc_config of all defaults.
TCDEF tc_config tc_config_default(void);

// Opens a context; config NULL = defaults. NULL if memory is out, 255 contexts are
// open, or the implementation was compiled with options that change its results; the log says which.
TCDEF tc_ctx *tc_open(const tc_config *config);

// Frees everything that belongs to the context; its handles are dead. NULL does nothing. Nothing is
// freed where code that the context calls does this: bodies, host calls, custom ops and their gradients, backends (TC_E_STATE).
TCDEF void tc_close(tc_ctx *c);

// A context for another thread. It reads the tensors of `parent` that are alive now (eager ones, wrapped
// ones, kept results; not to be written there), in its regions and functions by their own handles, and
// shares compiled kernels; all else is its own. A call of one of parent's functions with inputs
// of the new context, or from one of its bodies, runs there (tc_fn_in). It runs kernels on the thread
// that calls. Outside regions an op is made where one of its tensors is, if that is the new context's; an
// op on parent's tensors alone in parent on the thread that opened that, else in the one of these contexts that
// the calling thread has worked with before (made a tensor, begun a region), else in parent. parent's tensors are neither written nor
// freed in the new context (TC_E_FOREIGN). Nobody may use `parent` during this call; afterwards both are independent: parent may
// free what it shared (the memory stays until the new context is closed), and be closed first.
// Devices stay the parent's: here its tensors on them are TC_E_DEVICE, and there is only the host.
// NULL: error in parent (TC_E_STATE: parent is itself such a context; TC_E_NOMEM; TC_E_THREAD).
TCDEF tc_ctx *tc_open_shared(tc_ctx *parent);

// ---- errors ----

// The first error since the last clear: TC_OK or a negative TC_E_..., its text, its caller's place: of what fails when
// a region or function runs, the place of the op there. It stays, as that of a device with CUDA does, until
// tc_error_clear; a call that has a status gives its own all the same, and the text says behind the first error how
// many followed, and what the last was: so a loop that goes on clears what it has dealt with. A call
// that has a status fails where something that it depends on failed: an op that gives a tensor gives null
// then, and a tensor that was to be written in place is not read, nor computed with, until all of it is
// written anew or the error is cleared. Errors about null tensors alone, about a context, a function, a set of parameters, a scaler or
// a file that is NULL (TC_E_NULL), and about those of a closed context (TC_E_DEAD), are left in the context whose region the
// calling thread has open, else in the one that it opened last, else in the only one.
TCDEF tc_status tc_error(const tc_ctx *c);
TCDEF const char *tc_error_text(const tc_ctx *c); // "" = no error; never NULL
TCDEF const char *tc_error_file(const tc_ctx *c); // the same; "?" = its caller is not known: TC_NO_SITES
TCDEF int tc_error_line(const tc_ctx *c);         // 0 = none, or not known
TCDEF void tc_error_clear(tc_ctx *c);

// "TC_E_SHAPE" and what it means.
TCDEF const char *tc_status_name(tc_status s);
TCDEF const char *tc_status_doc(tc_status s);

// Version of the implementation, TC_VERSION of the file it was compiled from.
TCDEF const char *tc_version(void);
