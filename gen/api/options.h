// Options of regions and functions, and the table of all settings.

// Which sizes and scalars programs get at every run, instead of being compiled for them.
typedef enum tc_dynamic {
    TC_DYNAMIC_AUTO,  // those that were seen with a second value, and tc_mark_dynamic's
    TC_DYNAMIC_ON,    // all sizes of inputs from the start, the rest as with AUTO
    TC_DYNAMIC_OFF    // none: a program for each
} tc_dynamic;

// What compiled code may do to floating point.
typedef enum tc_numerics {
    TC_NUMERICS_STRICT, // the bits of the interpreter, on every machine
    TC_NUMERICS_FAST    // a product and the sum it goes into may be rounded once (-ffp-contract=fast), and
                        // matrix products of bf16 be summed in pairs, by AVX512-BF16 or the tiles of AMX, in
                        // f32 as ever, with subnormals taken as 0, and those of f8 by a GPU's units for it
                        // (tc_matmul): last bits may differ from the interpreter's and from machine to
                        // machine. On the CPU 3x3 convolutions of f32 by steps of 1, in one group, whose image and
                        // result have 32 channels or more (C: the image's), multiples of 8, and a known
                        // height and width that is not small, may take a quarter of the products (Winograd's F(4x4, 3x3)), which
                        // takes down to half of the time: their error is some four times that of sums in order, and
                        // was below the bound of these, 9 C 2^-24 sum |w| max |x|, in all that was measured but
                        // one result, where single weights were a thousand times the others: 1.1 times that.
                        // The largest x of the 6 x 6 beside a result counts for that; a NaN or infinity
                        // among them, or results beyond 1e36, may make NaN or infinity of it. Where there is AMX
                        // matrix products of f32 of 64 rows, 128 k and 128 columns or more, as far as these are
                        // known, are sums of six products of bf16, three of which add up to a value: as near as
                        // sums in order are, NaN and infinity where these have them; of numbers below 2^-110
                        // last bits are missing
} tc_numerics;

// A field that is zero takes the environment variable of that name (TC_FULLGRAPH, TC_BACKEND, ...),
// else its default.
struct tc_options {
    int fullgraph;           // 1 = a graph break (reading a value inside the region) is an error
    int disable;             // 1 = nothing of the region is recorded: every op runs at once
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
    int verify;              // N = the first run of a program's compiled code, and after it one run in
                             // N, drawn at random from the seed of the context (1 = every run), is
                             // compared, bit by bit, with the interpreter's, and c_source of custom
                             // ops with their run; where they differ that program stays interpreted.
                             // Not with TC_NUMERICS_FAST
    int suppress_errors;     // 1 = where a registered backend fails the interpreter goes on, with a
                             // warning; 0 = TC_E_COMPILER
    int autotune_seconds;    // that "max-autotune" may take for one program; 0 = 10
    int allow_tf32;          // 1 = products of f32 on a GPU may round what they multiply; see below
    int memory_budget;       // percent that intermediates may take of the memory they would take without it: for that
                             // gradients compute values of the forward pass again, as in tc_checkpoint, with the
                             // same bits (halves: see below). 0 = 100, nothing is. TC_E_ARG: above 100
};

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
// tiles of products; what is launched for many tensors at once stays as it is. A program on the host and
// on devices has the kernels of all of them measured.
// TC_LOGS=autotune tells all times; on a terminal a line of progress is shown, unless the context has
// a logger; tc_explain says what was kept.

// allow_tf32: products of f32 with more than 16 rows and more than 16 columns (tc_matmul, tc_linear,
// convolutions) may round both operands to TF32, the nearest numbers with 11 significant bits, on devices
// with tensor cores for that: CUDA from compute capability 8.0 on. Sums are f32. A result is within 2^-10 of
// the sum of |a b|, and mostly much nearer since roundings cancel. Numbers next to the largest of f32 may
// become infinite. Smaller products, those that share a kernel with a norm or a reduction, f64 and halves
// are as they are without it; so is everything on the CPU.

// memory_budget: intermediates are what kernels of a program leave to others, on all its devices together, in the arena
// that tc_explain tells of and tc_stats.arena_bytes counts; inputs and results, gradients among them, have memory of their
// own. Of a program with gradients up to eight are made, to the plan of their memory, and none is compiled but the one that
// is taken: of those within the budget that with the fewest operations, else the one that takes the least; that without a
// budget is one of them, so none takes more. In the others blocks of the forward pass, from its begin, at whose ends few
// bytes cross, are computed again. tc_explain says what was chosen, whether that meets the budget, what is kept and what is
// computed again. The choice is the same in every run, and for any number of threads; sizes at run time are those
// of the visit that the program is made in. The last block and the ends of the others are kept in any case, so a budget may
// be out of reach. Custom ops in blocks run twice. What is in a loop (tc_scan) is not chosen; what stands around it is.
// On the CPU gradients have the same bits; of halves, which are rounded where they are stored, and more or less of them is,
// under option round_each_op alone. The summary of tc_explain says where a budget is not met.
// As torch._functorch.config.activation_memory_budget, in percent, but of all intermediates.

TCDEF tc_options tc_options_default(void);

// Sets fields by a list, "fullgraph=1, mode=max-autotune". TC_E_ARG: an unknown name or value; the error
// says which, and what there is. Fields before it are set.
TCDEF tc_status tc_options_parse(tc_ctx *c, tc_options *options, const char *list);

// One setting: a field of tc_options (of_region) or of tc_config.
typedef struct tc_option_info {
    const char *name;    // of the field
    const char *env;     // environment variable
    const char *values;  // "0,1", "number", "0 to 100", "text", or all its values
    const char *fallback;// without field and variable
    const char *doc;
    int of_region;
} tc_option_info;

// All settings: sets *rows to a table that lives as long as the program, gives its length.
TCDEF int tc_list_options(const tc_option_info **rows);
