// Contexts, regions, reading results, errors, statistics.

typedef struct tc_config {
    tc_allocator allocator;  // zero = malloc
    tc_logger logger;        // zero = stderr
    int threads;             // 0 = TC_THREADS, else every core the process may use
    const char *cache_dir;   // NULL = TC_CACHE_DIR, else the user's cache folder
    const char *cc;          // NULL = CC, else cc, gcc, clang
    const char *logs;        // NULL = TC_LOGS; e.g. "graph,output_code"
    const char *backend;     // NULL = TC_BACKEND, else "cpu"; see tc_register_backend
    int no_disk_cache;       // 1 = compiled kernels live in memory only
    int compile_threads;     // compiling in the background at once; 0 = half the cores, at most 4
    int compile_ms;          // time that one step of the compiler may take; 0 = 60000
    int compile_mb;          // memory that one process of the compiler may have; 0 = 8192
    int no_fusion;           // 1 = one kernel per op (for tests and measurements)
    const char *passes_off;  // graph passes to leave out, "fold,split" or "all" (for tests)
    int baseline;            // 1 = emit for the oldest CPU of this architecture (for tests)
} tc_config;

// A tc_config of all defaults.
TCDEF tc_config tc_config_default(void);

// Opens a context; config NULL = defaults. NULL if memory is out or 255 contexts are open.
TCDEF tc_ctx *tc_open(const tc_config *config);

// Frees everything that belongs to the context; its handles are dead. NULL does nothing. Nothing is
// freed where code that the context calls does this: bodies, host calls, custom ops, backends (TC_E_STATE).
TCDEF void tc_close(tc_ctx *c);

// A context for another thread. It reads the tensors of `parent` that are alive now (eager ones, wrapped
// ones, kept results; not to be written there), in its regions and functions by their own handles, and
// shares compiled kernels; all else is its own. A call of one of parent's functions with inputs
// of the new context, or from one of its bodies, runs there (tc_fn_in). It runs kernels on the thread
// that calls. Nobody may use `parent` during this call; afterwards both are independent: parent may
// free what it shared (the memory stays until the new context is closed), and be closed first.
// Devices stay the parent's: here its tensors on them are TC_E_DEVICE, and there is only the host.
// NULL: error in parent (TC_E_STATE: parent is itself such a context; TC_E_NOMEM; TC_E_THREAD).
TCDEF tc_ctx *tc_open_shared(tc_ctx *parent);

// ---- regions ----

// Everything between begin and end is recorded, and runs as fused kernels at the end. The region is
// known by its name and place: the next visit follows the recording, and a visit that does something
// else gets a program of its own. A region or begin inside a region is inlined.
//
// After the end, results that nothing inside the region consumed have data, so do those named by
// tc_keep and those of at most 16 elements; any other recorded tensor is computed when it is first
// read and is an output from the next visit on. Results live until the end of the region's next
// visit and may be its inputs; tc_keep makes one yours until tc_free.
// TC_OK, or why nothing is recorded; a region of that name and place that is still open is abandoned
// (TC_E_REGION in tc_error), and the new visit goes on.
TCDEF tc_status tc_trace_begin_at(tc_ctx *c, const char *name, const tc_options *options,
                                  const char *file, int line);

// Runs what was recorded. TC_OK, or the error of running it (the inputs are unmodified then). An op
// that was refused while recording gave null and left its error in tc_error; the others run.
TCDEF tc_status tc_trace_end(tc_ctx *c);

#define tc_trace_begin(c, name) tc_trace_begin_at(c, name, NULL, TC__SITE)
#define tc_trace_begin_with(c, name, options) tc_trace_begin_at(c, name, options, TC__SITE)

// Programs get size `dim` of t at run time from the first one on, while it is within [min, max]
// (0, 0: any size). TC_E_ARG: the size of t is not in there. To be said before t is first used.
TCDEF tc_status tc_mark_dynamic_at(tc_tensor t, int dim, int64_t min, int64_t max,
                                   const char *file, int line);
#define tc_mark_dynamic(t, dim, min, max) tc_mark_dynamic_at(t, dim, min, max, TC__SITE)

// Programs are compiled for size `dim` of t, however often it changes.
TCDEF tc_status tc_mark_static_at(tc_tensor t, int dim, const char *file, int line);
#define tc_mark_static(t, dim) tc_mark_static_at(t, dim, TC__SITE)

// Makes a result of the open region an output and the caller's, until tc_free.
TCDEF tc_tensor tc_keep_at(tc_tensor t, const char *file, int line);
#define tc_keep(t) tc_keep_at(t, TC__SITE)

// ---- stances ----

// What regions and functions of a context do when there is no program for what they are given.
typedef enum tc_stance {
    TC_STANCE_DEFAULT,             // compile one
    TC_STANCE_FORCE_EAGER,         // nothing is recorded or compiled: every op runs at once
    TC_STANCE_EAGER_ON_RECOMPILE,  // run it in the interpreter; what is compiled is used
    TC_STANCE_FAIL_ON_RECOMPILE,   // TC_E_RECOMPILE, inputs unmodified
    TC_STANCE_EAGER_THEN_COMPILE   // run it in the interpreter while threads in the background
                                   // compile it; the first run that finds its code there uses it
} tc_stance;

// Sets the stance of the context, outside regions, and gives the one before.
TCDEF tc_stance tc_set_stance(tc_ctx *c, tc_stance stance);

// Waits until all that is being compiled in the background is there.
TCDEF tc_status tc_wait_compiled(tc_ctx *c);

// Forgets all regions, programs and what functions know, as if nothing had run; results of regions
// that were not kept die. Compiled kernels stay, in the process and on disk. TC_E_STATE: inside a
// region.
TCDEF tc_status tc_reset(tc_ctx *c);

// ---- reading ----

// Copies the elements of t in row-major order to dst; bytes must be numel * element size.
// Inside a region this is a graph break: what is needed runs now.
TCDEF tc_status tc_read_at(tc_tensor t, void *dst, size_t bytes, const char *file, int line);

// The one element of t as a double (as an int64). 0 and an error if t has not exactly one element.
TCDEF double tc_item_at(tc_tensor t, const char *file, int line);
TCDEF int64_t tc_item_i64_at(tc_tensor t, const char *file, int line);

// Prints t with its dtype and sizes on stdout.
TCDEF tc_status tc_print_at(tc_tensor t, const char *file, int line);

#define tc_read(t, dst, bytes) tc_read_at(t, dst, bytes, TC__SITE)
#define tc_item(t) tc_item_at(t, TC__SITE)
#define tc_item_i64(t) tc_item_i64_at(t, TC__SITE)
#define tc_print(t) tc_print_at(t, TC__SITE)

// Pointer to the row-major elements of t, computed first if need be; NULL on error. Borrowed: valid
// while the tensor lives and no in-place op runs. A strided view is refused: tc_contiguous it.
TCDEF const void *tc_data_at(tc_tensor t, const char *file, int line);
#define tc_data(t) tc_data_at(t, TC__SITE)

// ---- errors ----

// The first error since the last clear: TC_OK or a negative TC_E_..., its text, its caller's place.
TCDEF tc_status tc_error(const tc_ctx *c);
TCDEF const char *tc_error_text(const tc_ctx *c);
TCDEF const char *tc_error_file(const tc_ctx *c);
TCDEF int tc_error_line(const tc_ctx *c);
TCDEF void tc_error_clear(tc_ctx *c);

// "TC_E_SHAPE" and what it means.
TCDEF const char *tc_status_name(tc_status s);
TCDEF const char *tc_status_doc(tc_status s);

// ---- seeing ----

typedef struct tc_stats {
    uint64_t visits;           // region visits ended, and bodies run
    uint64_t calls, skips;     // of functions; calls whose body was skipped
    uint64_t eager_ops;        // ops run outside regions
    uint64_t records;          // visits that recorded something new
    uint64_t programs;         // programs made
    uint64_t graph_breaks;
    uint64_t program_hits;     // programs found made: a followed visit has one per segment
    uint64_t kernels_made;     // distinct kernels compiled or loaded
    uint64_t kernel_runs;
    uint64_t memory_hits;      // kernels that another program of the process has
    uint64_t disk_hits, disk_misses;
    uint64_t compiles;         // units given to the compiler
    uint64_t fallbacks;        // kernels that run in the interpreter for want of a compiler
    uint64_t autotuned;        // kernels measured by "max-autotune", to a choice
    uint64_t record_ns;        // in regions, less all below: recording, and the caller's own code
    uint64_t pass_ns;          // from recorded steps to kernels: passes, fusion, lowering, planning
    uint64_t emit_ns;          // printing kernels as C, and their keys
    uint64_t cc_ns;            // in the compiler
    uint64_t load_ns;          // finding compiler and cache, reading and loading objects
    uint64_t autotune_ns;      // measuring kernels, and compiling what is measured
    uint64_t run_ns;           // running programs, eager ops too
    uint64_t bytes, peak_bytes;            // memory of the context now and at most
    uint64_t allocations;                  // calls of the allocator
    uint64_t arena_bytes;                  // intermediates of all live programs, as planned,
    uint64_t unplanned_bytes;              //   and if each had memory of its own
} tc_stats;

TCDEF tc_stats tc_stats_get(const tc_ctx *c);

// What the regions and functions of the context became: their programs with guards, runs, graphs,
// kernels, buffers and times; entries of functions with theirs; graph breaks. The text belongs to
// the context until the next call.
TCDEF const char *tc_explain(tc_ctx *c);

// The same as numbers, to assert on.
typedef struct tc_explanation {
    int graphs;   // paths recorded to their end
    int breaks;   // graph breaks on them
    int programs; // of the paths and of what stands before breaks
    int kernels;  // of the programs
    int ops;      // recorded calls; a part that paths share counts once
    int guards;   // lines of guards in tc_explain
} tc_explanation;

// Of all regions and functions of this name together; name NULL = of all there are. All 0 if there
// is none.
TCDEF tc_explanation tc_explain_counts(tc_ctx *c, const char *name);

// Writes what tc_explain says as one HTML page, with graphs and memory plans drawn and the emitted C:
// nothing is fetched, no script runs, any browser opens it from disk. TC_E_IO: path and reason in
// the text; TC_E_NULL.
TCDEF tc_status tc_explain_html_at(tc_ctx *c, const char *path, const char *file, int line);
#define tc_explain_html(c, path) tc_explain_html_at(c, path, TC__SITE)

// The C text of every kernel of a region's last program; NULL if there is none.
TCDEF const char *tc_region_source(tc_ctx *c, const char *name);

// Kernels of a region's last program, 0 if there is none.
TCDEF int tc_region_kernels(tc_ctx *c, const char *name);

// Version of the implementation, TC_VERSION of the file it was compiled from.
TCDEF const char *tc_version(void);
