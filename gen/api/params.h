// Parameters: tensors with names, and what they begin with. A set owns its tensors; it is a state_dict, and what
// optimisers and files are given.
//
//     tc_params *p = tc_params_open(tc);
//     tc_tensor w = tc_param(p, "w", TC_DIMS(10, 64), TC_F32, tc_init_kaiming_uniform(TC_FAN_IN, 1));
//     tc_tensor b = tc_param(p, "b", TC_DIMS(10), TC_F32, tc_init_zeros());
//     ...
//     tc_params_save(p, "model.safetensors");

// ---- first values: torch.nn.init ----

typedef enum tc_init_kind {
    TC_INIT_CONSTANT,        // a; so a zeroed tc_init is zeros
    TC_INIT_UNIFORM,         // in [low, high)
    TC_INIT_NORMAL,          // mean a, standard deviation b
    TC_INIT_TRUNC_NORMAL,    // the same, of those in [low, high]
    TC_INIT_KAIMING_UNIFORM, // in +-a sqrt(3 / fan): He et al. 2015; a is a gain
    TC_INIT_KAIMING_NORMAL,  // deviation a / sqrt(fan)
    TC_INIT_XAVIER_UNIFORM,  // in +-a sqrt(6 / (fan in + fan out)): Glorot and Bengio 2010
    TC_INIT_XAVIER_NORMAL    // deviation a sqrt(2 / (fan in + fan out))
} tc_init_kind;

// Of a weight [out, in, kh, kw...]: in * kh * kw..., and out * kh * kw...
typedef enum tc_fan { TC_FAN_IN, TC_FAN_OUT } tc_fan;

typedef struct tc_init {
    tc_init_kind kind;
    tc_fan fan;
    double a, b, low, high;
} tc_init;

static inline tc_init tc__init_make(tc_init_kind kind, tc_fan fan, double a, double b,
                                    double low, double high) {
    tc_init i;
    i.kind = kind, i.fan = fan, i.a = a, i.b = b, i.low = low, i.high = high;
    return i;
}

static inline tc_init tc_init_constant(double value) {
    return tc__init_make(TC_INIT_CONSTANT, TC_FAN_IN, value, 0, 0, 0);
}
static inline tc_init tc_init_zeros(void) { return tc_init_constant(0); }
static inline tc_init tc_init_ones(void) { return tc_init_constant(1); }
static inline tc_init tc_init_uniform(double low, double high) {
    return tc__init_make(TC_INIT_UNIFORM, TC_FAN_IN, 0, 0, low, high);
}
static inline tc_init tc_init_normal(double mean, double std) {
    return tc__init_make(TC_INIT_NORMAL, TC_FAN_IN, mean, std, 0, 0);
}
// In [low, high], which is to hold a good part of the bell: far from the mean all are at the bound that is nearer.
static inline tc_init tc_init_trunc_normal(double mean, double std, double low,
                                           double high) {
    return tc__init_make(TC_INIT_TRUNC_NORMAL, TC_FAN_IN, mean, std, low, high);
}
static inline tc_init tc_init_kaiming_uniform(tc_fan fan, double gain) {
    return tc__init_make(TC_INIT_KAIMING_UNIFORM, fan, gain, 0, 0, 0);
}
static inline tc_init tc_init_kaiming_normal(tc_fan fan, double gain) {
    return tc__init_make(TC_INIT_KAIMING_NORMAL, fan, gain, 0, 0, 0);
}
static inline tc_init tc_init_xavier_uniform(double gain) {
    return tc__init_make(TC_INIT_XAVIER_UNIFORM, TC_FAN_IN, gain, 0, 0, 0);
}
static inline tc_init tc_init_xavier_normal(double gain) {
    return tc__init_make(TC_INIT_XAVIER_NORMAL, TC_FAN_IN, gain, 0, 0, 0);
}

// torch.nn.init.calculate_gain; slope is leaky_relu's. The weight of a torch.nn.Linear or Conv2d begins with
// tc_init_kaiming_uniform(TC_FAN_IN, tc_gain(TC_GAIN_LEAKY_RELU, sqrt(5))).
typedef enum tc_nonlinearity {
    TC_GAIN_LINEAR,
    TC_GAIN_SIGMOID,
    TC_GAIN_TANH,
    TC_GAIN_RELU,
    TC_GAIN_LEAKY_RELU,
    TC_GAIN_SELU
} tc_nonlinearity;
TCDEF double tc_gain(tc_nonlinearity f, double slope);

// Fills t in place with such values, drawn from the context's stream (tc_manual_seed), and gives it. TC_E_DTYPE: random
// numbers for a t that is no float; TC_E_RANK: fans of a t with less than two dimensions; TC_E_ARG: low > high, a
// deviation or gain below 0; TC_E_ALIAS: t is expanded.
TCDEF tc_tensor tc_init__at(tc_tensor t, tc_init how, const char *file, int line);

// ---- sets ----

typedef struct tc_params tc_params;

// An empty set. It belongs to the context, and lives until tc_params_close or tc_close. Bodies of functions may ask
// it anything: a parameter that is added, and a gradient switched on or off, runs those again that have asked. NULL:
// error.
TCDEF tc_params *tc_params_open_at(tc_ctx *tc, const char *file, int line);
// Frees the set and its tensors. NULL does nothing. TC_E_STATE: in a function's body; nothing is freed.
TCDEF void tc_params_close(tc_params *p);

// The parameter of this name: the one that there is, else a new one on the default device, filled as `init` says; a
// float has tc_requires_grad. The set's: no scope ends it. A new one is made outside of regions (TC_E_STATE), one that
// is there is found anywhere. TC_E_SHAPE, TC_E_DTYPE: it is there with others, both named; TC_E_ARG: it is there as a
// buffer; the name is empty, no UTF-8 or "__metadata__".
TCDEF tc_tensor tc_param_at(tc_params *p, const char *name, tc_dims dims, tc_dtype dtype,
                            tc_init init, const char *file, int line);
// The same without a gradient: running statistics, an optimiser's state.
TCDEF tc_tensor tc_param_buffer_at(tc_params *p, const char *name, tc_dims dims,
                                   tc_dtype dtype, tc_init init, const char *file,
                                   int line);

TCDEF int tc_params_count(const tc_params *p);        // of tensors, buffers too
TCDEF int64_t tc_params_elements(const tc_params *p); // all of theirs
TCDEF int64_t tc_params_bytes(const tc_params *p);    //   without gradients
// Name and tensor i, in the order in which they were made; NULL, null: there is none.
TCDEF const char *tc_params_name(const tc_params *p, int i);
TCDEF tc_tensor tc_params_tensor(const tc_params *p, int i);
// The tensor of this name; null without an error where there is none.
TCDEF tc_tensor tc_params_find(const tc_params *p, const char *name);

// The parameters that have a gradient now, and these, for optimisers' lists: gives their number, and sets *params and
// *grads, of which either may be NULL, to arrays of the set. They live until the next call of this set that changes
// it, or this one. tc_requires_grad freezes one and thaws it: ask again then, which fills what tc_params_state has given for
// this set, too, so that element i of each is of one parameter. -1: error (TC_E_DEAD: somebody has freed one; TC_E_STATE:
// a state is to be made, in a region, or its array has no room: below).
TCDEF int tc_params_list_at(tc_params *p, const tc_tensor **params, const tc_tensor **grads,
                            const char *file, int line);
// Zeros of the sizes of each of them, as buffers "prefix.name" of the set `state`, made or found, in the same order:
// what an optimiser keeps, saved and loaded like parameters. Floats, and on a device, as the parameter is. The array is
// state's, and lives as long as it. It follows the list: tc_params_list, where parameters were frozen, thawed or added,
// fills it anew, in place, from "prefix.name", so a thawed one has the state that it had when it was frozen; zeros for one that
// never had any are made there, outside of regions. Once more parameters were added than there were and 64, tc_params_list
// is TC_E_STATE until this call has given a larger array; the old one has null handles then, as behind the list's end.
// NULL: error.
TCDEF const tc_tensor *tc_params_state_at(tc_params *p, tc_params *state,
                                          const char *prefix, const char *file, int line);
// All gradients become 0, in a region too.
TCDEF tc_status tc_params_zero_grad_at(tc_params *p, const char *file, int line);
// All tensors, and their gradients, are on a device from now on, under the handles that they have; views of them stay
// where they are. Nothing is moved where one of them does not fit. TC_E_STATE: in a region; TC_E_DEVICE.
TCDEF tc_status tc_params_to_at(tc_params *p, const char *device, const char *file,
                                int line);
// A table: name, dtype, sizes, elements and bytes of each, and what they sum to. Of the set, until its next call; "" =
// no memory.
TCDEF const char *tc_params_text(tc_params *p);

// ---- files ----

enum { TC_LOAD_PARTIAL = 1 };

// Writes all tensors to a safetensors file under their names: tc_safetensors_save.
TCDEF tc_status tc_params_save_at(tc_params *p, const char *path, const char *file,
                                  int line);
// Reads them from one, converted to what they are, on the device where they are; everything is read before the first
// is written. TC_E_ARG: the file lacks one of the set, or has others; the text has their names, tc_params_unmatched all
// of them. With TC_LOAD_PARTIAL the rest is loaded then. TC_E_SHAPE: sizes differ; and what tc_safetensors_open gives.
// TC_E_STATE: in a region.
TCDEF tc_status tc_params_load_at(tc_params *p, const char *path, int flags,
                                  const char *file, int line);
// What the last tc_params_load did not find, and what it found too much: "missing \"a\", \"b\"; unexpected \"c\""; "" = neither.
TCDEF const char *tc_params_unmatched(const tc_params *p);
