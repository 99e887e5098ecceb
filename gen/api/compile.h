// Regions, stances, reading results, statistics.

// ---- regions ----

// Everything between begin and end is recorded, and runs as fused kernels at the end. The region is
// known by its name and place: the next visit follows the recording, and a visit that does something
// else gets a program of its own. A region or begin inside a region is inlined.
//
// After the end, results that nothing inside the region consumed have data, so do those named by
// tc_keep and those of at most 16 elements; any other recorded tensor is computed when it is first
// read and is an output from the next visit on. Results may be inputs of the next visit, and live on
// for as long as each visit on the same way uses them; tc_keep makes one yours until tc_free. See
// LIFETIMES in the manual.
// Inputs are read when what was recorded runs, not when an op is called: at tc_trace_end, at a graph break,
// and when a result that was not stored is first read. In-place ops write then, too. So memory of tc_wrap is
// yours to write before tc_trace_begin and behind tc_trace_end; what you write in between, an op sees that was
// called before.
// Visits that differ without end make a recording and a program each: past memory_mb (tc_config) those that
// were used longest ago are dropped, and made again when they are needed, with one warning. So are regions and
// functions themselves, past 43 for each MB of it; results of such a region that were not kept end then.
// TC_OK, or why nothing is recorded: then the code up to tc_trace_end runs op by op. tc_trace_end is due
// in every case, and gives that status again, but for c NULL or in use by another thread (TC_E_THREAD). A region of that name and
// place that is still open, and inside no other, is abandoned: what it has recorded is lost (TC_E_REGION in
// tc_error), and the new visit goes on. So a function that calls itself begins no region of its own, unless one
// is open around the first call: inside that all is inlined, the same place too. What looks like a region left
// by a break, continue or return is a warning of the log: a place that begins again inside an open region; one
// that stays open far beyond where it ended before; one that is open in tc_close.
TCDEF tc_status tc_trace_begin_at(tc_ctx *c, const char *name, const tc_options *options,
                                  const char *file, int line);

// Runs what was recorded. TC_OK, or the first error since tc_trace_begin that was not cleared: of running it
// (the inputs are unmodified then), or of a call in the region. An op that was refused gave null; the others
// run. TC_E_REGION too where a region begun inside this one was left without its end: that is told by where
// they stand, so a region is ended in the function that begins it (or all are by functions made for that).
// Code of yours that is called inside (bodies of functions, loops, branches and checkpoints, gradients of ops, host
// calls) ends nothing that was begun around it: regions (TC_E_REGION), tc_disable_begin, scopes and ranges (TC_E_STATE)
// stay open, and go on behind it. A region, scope or tc_disable_begin that it leaves open is an error, too, and ends there.
TCDEF tc_status tc_trace_end_at(tc_ctx *c, const char *file, int line);

#define tc_trace_begin(c, name) tc_trace_begin_at(c, name, NULL, TC__SITE)
#define tc_trace_begin_with(...) tc_trace_begin_at(__VA_ARGS__, TC__SITE)

// Programs get size `dim` of t at run time from the first one on, while it is within [min, max]
// (0, 0: any size). So are the counts of means and variances over it. Another number that C code makes of a size becomes
// one of run time where it first differs, in a second program. TC_E_ARG: the size of t is not in there; t is a result of a
// region that nobody kept. To be said before t is first used.
TCDEF tc_status tc_mark_dynamic_at(tc_tensor t, int dim, int64_t min, int64_t max,
                                   const char *file, int line);

// Programs are compiled for size `dim` of t, however often it changes.
TCDEF tc_status tc_mark_static_at(tc_tensor t, int dim, const char *file, int line);

// Makes t yours until tc_free, and gives it: a result of the open region, which is an output then; one of an
// earlier visit, computed if need be; a tensor of an open scope; a view. A body keeps only what it computes.
TCDEF tc_tensor tc_keep_at(tc_tensor t, const char *file, int line);

// ---- stances ----

// Sets the stance of the context, outside regions, and gives the one before. A context begins with that of tc_config,
// or of TC_STANCE: "default", "force_eager", ...
TCDEF tc_stance tc_set_stance(tc_ctx *c, tc_stance stance);

// Waits until all that is being compiled in the background is there.
TCDEF tc_status tc_wait_compiled(tc_ctx *c);

// Forgets all regions, programs and what functions know, as if nothing had run; results of regions
// that were not kept end. Compiled kernels stay on disk, and the last 256 in the process. TC_E_STATE: inside a
// region.
TCDEF tc_status tc_reset(tc_ctx *c);

// ---- reading ----

// Copies the elements of t in row-major order to dst; bytes must be numel * element size. TC_E_ALIAS: dst is memory that t
// itself shows, as what was given to tc_wrap; nothing is copied, nor is that needed where all of it is t's, row-major.
// Inside a region this is a graph break: what is needed runs now.
TCDEF tc_status tc_read_at(tc_tensor t, void *dst, size_t bytes, const char *file, int line);

// The one element of t as a double (as an int64). 0 and an error if t has not exactly one element: a loop
// that ends when a number is small looks at tc_error too, since an op that failed gives null, and null 0.
TCDEF double tc_item_at(tc_tensor t, const char *file, int line);
TCDEF int64_t tc_item_i64_at(tc_tensor t, const char *file, int line);

// Element t[index], as tc_item: tc_get(t, TC_DIMS(1, -1)) is the last of row 1. No view is made; of a
// tensor on a device one element is copied. 0 and TC_E_RANK: not an index for each dimension; TC_E_INDEX:
// one is not in [-size, size).
TCDEF double tc_get_at(tc_tensor t, tc_dims index, const char *file, int line);

// Prints t with its dtype and sizes on stdout.
TCDEF tc_status tc_print_at(tc_tensor t, const char *file, int line);

// Pointer to the row-major elements of t, computed first if need be; NULL on error. Borrowed: valid
// while the tensor lives and no in-place op runs. A strided view is refused: tc_contiguous it.
TCDEF const void *tc_data_at(tc_tensor t, const char *file, int line);

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
    uint64_t refused;          //   of them, those whose text the compiler refused
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
    uint64_t arena_bytes;                  // intermediates of all live programs, as planned; on a
                                           //   device the largest is what they take together
    uint64_t unplanned_bytes;              // and if each had memory of its own
} tc_stats;

TCDEF tc_stats tc_stats_get(const tc_ctx *c);

// What the regions and functions of the context became. First a summary: ops, kernels and programs; where
// values were read in the middle; what was compiled again, and why; memory, time, and what to do next.
// Then the programs with guards, runs, graphs, kernels, the calls that each is of, buffers and times; entries
// of functions with theirs. The text belongs to the context until the next call.
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

// The C text of every kernel of a region's last program; NULL if there is none.
TCDEF const char *tc_region_source(tc_ctx *c, const char *name);

// Kernels of a region's last program, 0 if there is none.
TCDEF int tc_region_kernels(tc_ctx *c, const char *name);
