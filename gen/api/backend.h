// Backends, and how to make one.
//
// A backend runs the programs of regions and functions. There are
//     eager      every op by itself, interpreted: no passes, no fusion
//     aot_eager  the whole graph after all passes, fused, interpreted
//     cpu        the same, compiled by the system's C compiler (the default)
//     cuda       as cpu, for contexts with a CUDA device: what is there runs there whatever the backend
//     cudagraphs as cuda, each program there as one recorded graph
// (TC_E_DEVICE for these two where no CUDA device is open) and those you register. All give the same bits, apart from yours. A registered one is given a graph
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

// For a backend: the graph as text, and its kernels as C ("c") or, where tc_cuda_open was called, with or
// without a GPU, as CUDA ("cuda") text; NULL = no memory, or no such language. The text belongs to the graph.
TCDEF const char *tc_graph_text(const tc_graph *graph);
TCDEF const char *tc_graph_source(const tc_graph *graph, const char *language);
