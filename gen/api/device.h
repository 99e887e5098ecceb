// Devices: memory that is not the host's, and kernels that run on it. Every tensor is on
// one, "cpu" unless it is said otherwise. A program runs where its tensors are: the same
// text computes on the host or on "cuda:0". tcompile_cuda.h brings devices.
//
// Operands of one op are on one device, else it is TC_E_DEVICE. A region or body may use
// several, and is one program all the same: each op runs where its operands are, tc_to is a
// copy from one to another, and devices that need not wait for each other work at the same
// time, the host among them. A tensor of the host without dimensions, of one number, goes with
// tensors of any device: kernels there have a copy of what it is when they are started. So does
// in a region what was made of nothing there.

// t on the device of that name: "cpu" or a registered one. Where it is there already, that
// is a second handle of the same memory; else a dense copy, which keeps what tc_const knows.
// From the host it returns when the bytes of t may change; to the host, when they are
// there; between two devices over the link that they have, if any, else by way of the host. In a
// region it is recorded like an op. TC_E_NULL; TC_E_DEVICE (no such device); TC_E_NOMEM; what
// computing t gives.
TCDEF tc_tensor tc_to_at(tc_tensor t, const char *device, const char *file, int line);

// The name of the device that t is on, valid until its context is closed; NULL = no live
// tensor.
TCDEF const char *tc_device_of(tc_tensor t);

// What is made of nothing is made on this device from now on, as torch.set_default_device has
// it: tc_from_data and tc_const, tc_full, tc_zeros, tc_ones, tc_scalar, tc_arange, tc_eye, tc_rand
// and the like, tc_load_npy, and the inputs of tc_precompile; at first it is "cpu", which NULL
// stands for. It decides where no tensor does: what tc_zeros_like and all other calls make of a
// tensor is where that is, and in a region or body what is made of nothing is where the first of
// its tensors from outside is; one without any runs on the default device. tc_wrap is memory of the host as
// ever, and nothing that is there moves. Programs are made for the default device they were
// recorded under, so that another one makes others. Each context has its own. TC_E_NULL (tc);
// TC_E_DEVICE (no such device: the default stays); TC_E_STATE (inside a region or body).
TCDEF tc_status tc_set_default_device(tc_ctx *tc, const char *device);

// The name of that device, valid until the context is closed; NULL = no context.
TCDEF const char *tc_default_device(const tc_ctx *tc);

// Waits until all devices have done what they were given. What went wrong there and was not
// reported yet is this call's status: an index out of range (TC_E_INDEX), a dead device
// (TC_E_BACKEND). tc_read and tc_to("cpu") wait and report too.
TCDEF tc_status tc_sync_at(tc_ctx *tc, const char *file, int line);

// A tensor over memory of a device that belongs to the caller, as tc_wrap is for the host:
// it must outlive the tensor, and what the caller does to it must be ordered with the
// device's work. TC_E_DEVICE, and the errors of tc_wrap.
TCDEF tc_tensor tc_wrap_device_at(tc_ctx *tc, const char *device, void *address,
                                  tc_dims dims, tc_dtype dtype, const char *file, int line);

// ---- for who makes a device ----
//
// A device is a struct of functions. They are called on the thread that uses the context,
// give TC_OK or a TC_E_..., and say why in why(), which is text until the next call. Work is
// done in the order in which it is given, and need not be done when a function returns,
// except where that is said.

typedef struct tc_device_memory {
    void *address;  // as kernels see it, a multiple of 256; the host does not look at it
    void *block;    // the device's own
} tc_device_memory;

// A text to compile, and what became of it.
typedef struct tc_device_text {
    const char *name;  // for people
    const char *text;
    int native;        // 1: it may have instructions of this device alone; portable stays NULL
    void *code;        // out: the device's, until drop
    size_t bytes;      //   of code
    void *portable;    // out, likewise: code that newer devices load, too; NULL = none
    size_t portable_bytes;
} tc_device_text;

// A tensor of which blocks of a launch bring boxes by themselves, where a device has tensor maps: `argument` of the launch is
// what the device makes of it, TC_DEVICE_MAP_BYTES, for the address in argument `address`. Its first size is contiguous; where
// a box goes beyond the others, it has zeros; the last two are batches. In shared memory a box has lines of 128 bytes, whose
// 16-byte chunks are swizzled.
//
// Of windows (step[0] is not 0) sizes are those of images [channels, width, height, images], and a box has the channels box[0] of
// box[1] places: along the width from `low` on, step by step, as far as size + high, then along the height, then in the next
// image. A launch says how far from its places it reads: what is outside of the image is zero.
typedef struct tc_device_map {
    uint32_t argument, address;
    int dtype;
    int64_t offset;          // elements from the address on
    int64_t size[4];
    int64_t stride[3];       // elements between neighbours in the second size and the others
    uint32_t box[4];
    int low[2], high[2];     // of windows, by width and height
    uint32_t step[2];
} tc_device_map;

enum { TC_DEVICE_MAP_BYTES = 128 };

// One launch of a kernel. `after` are places in the list, before this one, whose kernels
// must have ended.
typedef struct tc_device_launch {
    void *kernel;                      // of find
    uint32_t blocks, threads;          // of the grid; of a block
    uint32_t shared, cluster;          // bytes of a block; blocks of a cluster, 0 = none
    uint32_t early;                    // 1: blocks may begin earlier, the text waits
    const void *argument;              // bytes of all arguments
    const uint32_t *offset;            // where each begins in them
    uint32_t n_argument, argument_bytes;
    const int *after;
    int n_after;
    const tc_device_map *map;          // of which arguments are made; their bytes are the device's
    uint32_t n_map;
} tc_device_launch;

// How a list of launches may be run.
typedef enum tc_device_mode {
    TC_DEVICE_CHOOSE,    // as the device finds best
    TC_DEVICE_LAUNCHES,  // one by one
    TC_DEVICE_GRAPH      // as one recorded graph
} tc_device_mode;

typedef struct tc_device {
    const char *name;        // "cuda:0"
    const struct tc__language *language;  // of texts: that of tcompile_cuda.h is &tc__language_cuda
    const char *identity;    // what code is made by and for; part of its key in the cache
    const char *portable;    // the same of portable code, for all devices of its kind; NULL =
                             // there is none. It is looked for where build fails
    uint32_t processors;     // that blocks run on at the same time
    uint32_t shared_bytes;   // that a block can have
    uint32_t cluster_blocks; // that can reach each other's, 0 = none
    uint32_t matrix_warps;   // warps that its matrix units take tiles of shared memory from, 0 = none
    uint32_t tensor_maps;    // 1: it makes them for launches (tc_device_map)
    uint32_t argument_bytes; // that a launch can have, 0 = 4096
    int checked;             // 1 = texts look at every access to a tensor before it is made:
                             // one outside is not made, and told as an index out of range is,
                             // with the kernel, the tensor and the element. For debugging
    void *user;
    void (*close)(void *user);  // the context is closed; everything was given back
    const char *(*why)(void *user);

    // Memory: of tensors; of intermediates, one place for all programs, as large as the largest
    // asks for, which stays valid when it grows; and of the host, where kernels can write.
    tc_status (*take)(void *user, size_t bytes, tc_device_memory *out);
    void (*give)(void *user, tc_device_memory m);
    tc_status (*arena)(void *user, size_t bytes, void **address);
    tc_status (*take_host)(void *user, size_t bytes, void **address);
    void (*give_host)(void *user, void *address, size_t bytes);

    // Copies. in: `from` may change when it returns. out: the bytes are there.
    tc_status (*copy_in)(void *user, void *to, const void *from, size_t bytes);
    tc_status (*copy_out)(void *user, void *to, const void *from, size_t bytes);
    tc_status (*copy_on)(void *user, void *to, const void *from, size_t bytes);
    tc_status (*fill)(void *user, void *to, uint8_t value, size_t bytes);
    tc_status (*sync)(void *user);

    // From the memory of another registered device, in the order of the work of both. What
    // fails goes through the host instead. NULL = all does.
    tc_status (*copy_from)(void *user, void *to, const struct tc_device *other,
                           const void *from, size_t bytes);

    // Code. build compiles n texts, all or none; load makes a module of code, from build or
    // from an earlier process; find gives a kernel of it, which lives as long as it does.
    // unload waits for kernels that still run.
    tc_status (*build)(void *user, tc_device_text *text, int n);
    void (*drop)(void *user, tc_device_text *text, int n);
    tc_status (*load)(void *user, const char *name, const void *code, size_t bytes,
                      void **module);
    void (*unload)(void *user, void *module);
    tc_status (*find)(void *user, void *module, const char *symbol, uint32_t threads,
                      void **kernel);

    // What the device knows of a kernel, for people: registers, what spills. May be NULL.
    void (*describe)(void *user, void *kernel, char *text, size_t room);

    // Runs the list. *plan is the device's for this list, NULL at first; its length, its
    // kernels and what they come after are the same until forget. changed = 0: so is all
    // else, bytes of arguments too, since the plan ran last, and that did not fail.
    tc_status (*run)(void *user, void **plan, const tc_device_launch *list, int n,
                     tc_device_mode mode, int changed);
    void (*forget)(void *user, void *plan);

    // What became of a list, for people: its plan, in words. May be NULL.
    void (*tell)(void *user, void *plan, char *text, size_t room);

    // Time, for the profiler; NULL = there is none. mark notes the moment when what was given
    // before is done, in *moment, which is NULL at first, may be used again, and is the
    // device's until unmark. elapsed waits for both, and gives the time between them.
    tc_status (*mark)(void *user, void **moment);
    tc_status (*elapsed)(void *user, void *from, void *to, uint64_t *ns);
    void (*unmark)(void *user, void *moment);
} tc_device;

// Registers a device for as long as the context lives; *device is copied, its texts too. If
// it fails, close is not called. TC_E_NULL, TC_E_ARG (the name is taken), TC_E_STATE (inside a region, in a shared context), TC_E_UNSUPPORTED (this build
// compiles nothing).
TCDEF tc_status tc_register_device(tc_ctx *tc, const tc_device *device);

// The registered device of that name, NULL = there is none.
TCDEF const tc_device *tc_registered_device(const tc_ctx *tc, const char *name);

// Notes an error in the context, for code that extends it: `text` is copied. Gives `status`.
TCDEF tc_status tc_fail(tc_ctx *tc, tc_status status, const char *text);

// The hook that all memory of the context comes from: a device uses it too.
TCDEF tc_allocator tc_allocator_of(const tc_ctx *tc);
