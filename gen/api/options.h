// Options of regions and functions, backends, and the table of all settings.

// Which sizes and scalars programs get at every run, instead of being compiled for them.
typedef enum tc_dynamic {
    TC_DYNAMIC_AUTO,  // those that were seen with a second value, and tc_mark_dynamic's
    TC_DYNAMIC_ON,    // all sizes of inputs from the start, the rest as with AUTO
    TC_DYNAMIC_OFF    // none: a program for each
} tc_dynamic;

// What compiled code may do to floating point.
typedef enum tc_numerics {
    TC_NUMERICS_STRICT, // the bits of the interpreter, on every machine
    TC_NUMERICS_FAST    // a product and the sum it goes into may be rounded once (-ffp-contract=fast): last
                        // bits may differ from the interpreter's and from machine to machine
} tc_numerics;

// A field that is zero takes the environment variable of that name (TC_FULLGRAPH, TC_BACKEND, ...),
// else its default.
typedef struct tc_options {
    int fullgraph;           // 1 = a graph break (reading a value inside the region) is an error
    int disable;             // 1 = the region runs eagerly
    tc_dynamic dynamic;
    int recompile_limit;     // programs of one region or function that are compiled; those after it
                             // are interpreted, with the same results. 0 = 16
    const char *backend;     // NULL = the context's
    const char *mode;        // NULL = "default"; "reduce-overhead", "max-autotune" and
                             // "max-autotune-no-cudagraphs" as in PyTorch; see below
    tc_numerics numerics;
    int round_each_op;       // 1 = f16 and bf16 are rounded after every op, which gives the bits of eager
                             // code; 0 = where they are stored
    int threads;             // that one kernel may use; 0 = the context's
    int verify;              // 1 = the first run of compiled code is compared, bit by bit, with the
                             // interpreter's; where it differs that program stays interpreted. Not
                             // with TC_NUMERICS_FAST
    int suppress_errors;     // 1 = where a registered backend fails the interpreter goes on, with a
                             // warning; 0 = TC_E_COMPILER
    int autotune_seconds;    // that "max-autotune" may take for one program; 0 = 10
    int allow_tf32;          // 1 = products of f32 on a GPU may round what they multiply; see below
} tc_options;

// Modes on the CPU: "reduce-overhead" is "default", and both of "max-autotune" are the same.
//
// "max-autotune": the first run of a program, in the default stance, compiles its kernels in several
// ways, measures each on its own inputs, and keeps the fastest: width of vectors, steps of loops, where
// sums are held, stores past the caches, prefetch, blocks of matrix products, threads. No bit of a result
// depends on it; a code whose results differ is dropped. Only what beats the default by more than
// 3 % is kept. Kernels that take longest come first; those that autotune_seconds do not suffice for stay
// as in "default", and are tried again by the next process. A compiler that was started is
// waited for, so a search may take a little longer than that.
//
// Your memory is written once, as ever: what is written in place is measured on a copy. Programs with
// custom ops are not measured, because their functions are called once. With sizes at run time the
// first ones count. What was found is kept with the compiled kernels, in the process and on disk, by
// kernel, sizes, threads, compiler and CPU: the next process compiles and measures nothing. In other
// stances nothing is measured; what is known is used. A busy machine gives choices for a busy machine.
// On a device that tells time (CUDA) its own clock measures: elements and threads of element-wise kernels,
// tiles of products. Programs that write in place, or have ops of the host, stay as they are there.
// TC_LOGS=autotune tells all times; on a terminal a line of progress is shown, unless the context has
// a logger; tc_explain says what was kept.

// allow_tf32: products of f32 with more than 16 rows and more than 16 columns (tc_matmul, tc_linear,
// convolutions) may round both operands to TF32, the nearest numbers with 11 significant bits, on devices
// with tensor cores for that: CUDA from compute capability 8.0 on. Sums are f32. A result is within 2^-10 of
// the sum of |a b|, and mostly much nearer since roundings cancel. Numbers next to the largest of f32 may
// become infinite. Smaller products, those that share a kernel with a norm or a reduction, f64 and halves
// are as they are without it; so is everything on the CPU.

TCDEF tc_options tc_options_default(void);

// Sets fields by a list, "fullgraph=1, mode=max-autotune". TC_E_ARG: an unknown name or value; the error
// says which, and what there is. Fields before it are set.
TCDEF tc_status tc_options_parse(tc_ctx *c, tc_options *options, const char *list);

// One setting: a field of tc_options (of_region) or of tc_config.
typedef struct tc_option_info {
    const char *name;    // of the field
    const char *env;     // environment variable
    const char *values;  // "0,1", "number", "text", or all its values
    const char *fallback;// without field and variable
    const char *doc;
    int of_region;
} tc_option_info;

// All settings: sets *rows to a table that lives as long as the program, gives its length.
TCDEF int tc_list_options(const tc_option_info **rows);

// ---- backends ----
//
// A backend runs the programs of regions and functions. There are
//     eager      every op by itself, interpreted: no passes, no fusion
//     aot_eager  the whole graph after all passes, fused, interpreted
//     cpu        the same, compiled by the system's C compiler (the default)
// and those you register. All give the same bits, apart from yours. A registered one is given a graph
// for each set of sizes, up to recompile_limit; what comes then is interpreted, and so is a result that
// no program stores, when it is first read.

// One node of a program's graph. Operands of arithmetic have the sizes of the result. Words of attr:
//     input               number of the external, see tc_graph.input
//     const               its value: the bits of a double if the dtype is a float, else an integer
//     arg                 index in tc_graph_run.arg
//     iota                the dimension whose index it is
//     random              kind; draw, counted from tc_graph_run.draw
//     cast                dtype
//     reshape, expand     the sizes, as in spec
//     permute             the dimension of the operand, for each
//     slice               dimension, start, count, step
//     pad                 dimension, before, after, dilation, value as in const
//     window              dimension, size, stride, dilation
//     cat, take, gather   dimension
//     sum, amax, argmin, all, ...   bit i: dimension i is reduced, to size 1
typedef struct tc_graph_node {
    const char *op;          // "input", "add", "amax", ...: the names in tc_graph_text
    tc_spec spec;            // dtype and sizes of its value
    int n_in;
    const int *in;           // operands: numbers of nodes before this one
    int n_attr;
    const int64_t *attr;
} tc_graph_node;

// What a backend is given: pure nodes in order, after all passes. Everything in it lives as long as what
// the backend makes of it.
typedef struct tc_graph {
    const char *name;        // of the region or function
    const tc_graph_node *node;
    int n_node;
    const int *input;        // nodes that inputs 0.. are
    int n_input;
    const int *output;       // nodes that outputs 0.. hold
    int n_output;
    void *program;           // not yours
} tc_graph;

// One run. Inputs and outputs are row-major; outputs are to be written.
typedef struct tc_graph_run {
    const tc_buffer *in, *out;
    int n_in, n_out;
    const double *arg;       // values of "arg" nodes, by their attr[0]
    uint64_t seed, draw;     // of random nodes: the stream, and its position
    void *program;           // not yours
} tc_graph_run;

// None of its functions may use the context (TC_E_STATE), but for the calls below.
typedef struct tc_backend {
    const char *name;        // copied
    const char *doc;         // one line, copied; NULL = none
    void *user;
    // Makes a graph ready, once for each. *state is what run and forget get. TC_OK, or an error of
    // yours, with *why set to a text that outlives the call. NULL = nothing to do.
    tc_status (*compile)(void *user, const tc_graph *graph, void **state, const char **why);
    // Runs it, on the thread that uses the context. Needed.
    tc_status (*run)(void *user, void *state, const tc_graph_run *run);
    // Frees *state, unless that is NULL: with the program, or after compile has failed. NULL = nothing
    // to do.
    void (*forget)(void *user, void *state);
} tc_backend;

// Adds a backend to the context; regions name it in their options. TC_E_NULL: no name or no run;
// TC_E_ARG: the name is taken; TC_E_STATE: inside a region.
TCDEF tc_status tc_register_backend(tc_ctx *c, const tc_backend *backend);

// Names of all backends, the first `room` of them into names. Gives how many there are.
TCDEF int tc_list_backends(const tc_ctx *c, const char **names, int room);

// For a backend: computes the outputs of a run as "aot_eager" does.
TCDEF tc_status tc_graph_forward(const tc_graph_run *run);

// For a backend: the graph as text, and its kernels as C ("c") or CUDA ("cuda") text; NULL = no memory,
// or no such language. The text belongs to the graph.
TCDEF const char *tc_graph_text(const tc_graph *graph);
TCDEF const char *tc_graph_source(const tc_graph *graph, const char *language);
