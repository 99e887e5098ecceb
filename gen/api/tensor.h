// Tensors: making, asking, moving, computing. What holds for all of it:
//
// - An op is a macro tc_xxx(...) over a function tc_xxx_at(..., file, line), so that errors
//   name the caller; -DTC_NO_SITES leaves the site out.
// - It returns a new tensor: outside a region computed at once, in the scope that is open;
//   inside a region recorded. Operands are never changed, except by ops whose name ends in
//   `_`.
// - A null operand gives null. A mistake gives null too, and sets the context's error
//   (TC_E_...) unless one is set already: check once, where results are read.
// - Dimensions count from 0, or from -1 backwards. Sizes follow NumPy's broadcasting and
//   dtypes PyTorch's promotion: bool < integers < floats, then the wider one (f16 with bf16
//   gives f32, u8 with i8 i16); a scalar, and a
//   tensor of no dimensions beside one that has some, only raises the category. f16 and bf16 are computed as
//   f32 and rounded where they are stored, which a region does less often. Shapes are written [N, C]; x[..., K] means any leading dimensions.
//   Ops made of several, such as tc_linear or tc_softmax, round them once, at their end.
// - f8e4m3 and f8e5m2 are for storage, as PyTorch's float8_e4m3fn and float8_e5m2: they are cast, moved, copied, compared,
//   sorted and selected (tc_cat, tc_where, tc_gather...). What computes wants a cast (tc_argmax, tc_rand, too), and so does a
//   call that mixes them with another dtype: TC_E_DTYPE; autocast casts operands of products. Gradients go through the cast as
//   if it did not round; a tensor of f8 has none itself (tc_requires_grad, parameters), nor has "a float" in what follows.
// - Along a dimension (tc_softmax, tc_cumsum, tc_scatter...) a scalar has one, of size 1.
// - Results of ops that compute are row-major; movement gives views where it can.
// - Errors name the call that the user wrote, whatever ops it is made of.
// - Formulas and names are PyTorch's (or the Array API's) of the same name, unless noted.

// Sizes of a tensor, by value: TC_DIMS(32, 196, 768), TC_SCALAR, tc_dims_of(rank, sizes).
// TC_DIMS ends at a size of INT64_MIN; sizes that anyone may have made go through tc_dims_of.
typedef struct tc_dims {
    int rank;
    int64_t size[TC_MAX_RANK]; // unused = 0
} tc_dims;

#define TC__NO_SIZE INT64_MIN

static inline tc_dims tc_dims_of(int rank, const int64_t *sizes) {
    tc_dims d;
    d.rank = rank; // a wrong one is reported by the op that gets it
    for (int i = 0; i < TC_MAX_RANK; i++) d.size[i] = i < rank ? sizes[i] : 0;
    return d;
}

// Up to 8 sizes and a terminator; a ninth size makes the rank 9, which every op refuses.
static inline tc_dims tc__dims_make(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e,
                                    int64_t f, int64_t g, int64_t h, int64_t end) {
    int64_t s[TC_MAX_RANK];
    int n = 0;
    s[0] = a, s[1] = b, s[2] = c, s[3] = d, s[4] = e, s[5] = f, s[6] = g, s[7] = h;
    while (n < TC_MAX_RANK && s[n] != TC__NO_SIZE) n++;
    tc_dims r = tc_dims_of(n, s);
    if (end != TC__NO_SIZE) r.rank = TC_MAX_RANK + 1;
    return r;
}

#define TC__DIMS_9(a, b, c, d, e, f, g, h, i, ...)                                         \
    tc__dims_make((int64_t)(a), (int64_t)(b), (int64_t)(c), (int64_t)(d), (int64_t)(e),    \
                  (int64_t)(f), (int64_t)(g), (int64_t)(h), (int64_t)(i))
#define TC_DIMS(...)                                                                       \
    TC__DIMS_9(__VA_ARGS__, TC__NO_SIZE, TC__NO_SIZE, TC__NO_SIZE, TC__NO_SIZE,            \
               TC__NO_SIZE, TC__NO_SIZE, TC__NO_SIZE, TC__NO_SIZE, TC__NO_SIZE,            \
               TC__NO_SIZE)
#define TC_SCALAR tc_dims_of(0, NULL)

// The end of a dimension in tc_slice, whatever its size; with a negative step, before its
// start.
#define TC_END INT64_MAX

enum { TC_KEEPDIM = 1 }; // reductions: reduced dimensions stay, with size 1

// The null tensor: "no bias", "no weight" where an argument is optional.
static inline tc_tensor tc_null(void) {
    tc_tensor t;
    t.id = 0;
    return t;
}

// ---- asking; nothing is computed ----

static inline int tc_is_null(tc_tensor t) { return !t.id; }

// Null and dead tensors give -1, TC_SCALAR, TC_BOOL; dead ones set the error as well.
TCDEF int tc_rank(tc_tensor t);              // number of dimensions
TCDEF int64_t tc_dim(tc_tensor t, int dim); // size of one dimension; TC_E_DIM

// Whether size `dim` of t is at least n, below n, a multiple of n > 0; 0 where there is no such size.
TCDEF int tc_dim_ge(tc_tensor t, int dim, int64_t n);
TCDEF int tc_dim_lt(tc_tensor t, int dim, int64_t n);
TCDEF int tc_dim_multiple_of(tc_tensor t, int dim, int64_t n);

TCDEF int64_t tc_numel(tc_tensor t);         // number of elements
TCDEF tc_dims tc_shape(tc_tensor t);         // all sizes
TCDEF tc_dtype tc_dtype_of(tc_tensor t);     // element type
TCDEF const char *tc_dtype_name(tc_dtype t); // "f32"; static, "?" for no dtype
TCDEF size_t tc_dtype_bytes(tc_dtype t);     // of one element; 0 for no dtype

// ---- scopes ---- Who owns a tensor and when it ends: LIFETIMES, in the manual ----

// Opens a scope; scopes nest, and cost nothing but a number.
TCDEF void tc_scope_begin(tc_ctx *tc);
// Frees every tensor made in the innermost scope that is still its. TC_E_STATE: none is open.
TCDEF tc_status tc_scope_end_at(tc_ctx *tc, const char *file, int line);
// The same, but t lives on in the scope around it, or is yours where there is none. Gives t; null: no
// scope is open (TC_E_STATE).
TCDEF tc_tensor tc_scope_return_at(tc_ctx *tc, tc_tensor t, const char *file, int line);
// Ends a tensor, whoever owns it. Null does nothing. TC_E_DEAD: it has ended before. A result of the open
// region may still be used inside it.
TCDEF void tc_free_at(tc_tensor t, const char *file, int line);

// ---- from memory ---- Elements are row-major, the last dimension fastest ----
// TC_E_NULL: data is NULL and not empty; TC_E_SHAPE, TC_E_RANK, TC_E_TOO_BIG: sizes.

// A copy of `data`. Bool elements become 0 or 1.
TCDEF tc_tensor tc_from_data_at(tc_ctx *tc, const void *data, tc_dims dims, tc_dtype dtype,
                                const char *file, int line);
// Borrows `data`, which must outlive every use of the tensor and be aligned to its element
// (TC_E_ARG). Bool elements must be 0 or 1. In-place ops write to it (TC_E_ALIAS where
// another tensor of the region wraps the same bytes). What you write to it yourself, ops see that run
// later: eager ones run at once, those of a region at its tc_trace_end or at a graph break, so write
// there before tc_trace_begin or behind tc_trace_end.
TCDEF tc_tensor tc_wrap_at(tc_ctx *tc, void *data, tc_dims dims, tc_dtype dtype,
                           const char *file, int line);
// tc_wrap with strides in elements, any sign; `data` is element [0, 0, ...].
TCDEF tc_tensor tc_wrap_strided_at(tc_ctx *tc, void *data, tc_dims dims,
                                   const int64_t *strides, tc_dtype dtype, const char *file,
                                   int line);
// tc_from_data whose contents never change and may be compiled in: filter taps, tables, parameters. Writing to it is TC_E_ARG.
// On the CPU products and convolutions lay such weights out once, which takes as much memory again in each program.
// Views of it are constants too (tc_transpose, tc_slice also backwards, tc_reshape); what is computed of it or copied
// (tc_flip, tc_clone, tc_cast, tc_mul_s, tc_cat) is a tensor like others, to be written and not known: made outside of
// regions, tc_const(tc, tc_data(y), ...) is one again.
TCDEF tc_tensor tc_const_at(tc_ctx *tc, const void *data, tc_dims dims, tc_dtype dtype,
                            const char *file, int line);
// Reads a NumPy .npy file: version 1 to 3, any of the dtypes but f8, little-endian; bf16 is '<V2'
// there. Fortran order gives a strided tensor. TC_E_IO: cannot be read; TC_E_FORMAT: malformed;
// TC_E_UNSUPPORTED: other dtypes.
TCDEF tc_tensor tc_load_npy_at(tc_ctx *tc, const char *path, const char *file, int line);
// Writes a version 1 .npy file, row-major, over an existing one. Reads t (a graph break in
// a region). TC_E_IO: cannot be written, or is no plain file (nothing waits at a fifo); TC_E_DTYPE: f8, which
// the format has not (tc_safetensors_save).
TCDEF tc_status tc_save_npy_at(tc_tensor t, const char *path, const char *file, int line);

// ---- creation ----

TCDEF tc_tensor tc_full_at(tc_ctx *tc, tc_dims dims, double value, tc_dtype dtype,
                           const char *file, int line);
TCDEF tc_tensor tc_full_like_at(tc_tensor t, double value, const char *file, int line);
TCDEF tc_tensor tc_zeros_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                            int line);
TCDEF tc_tensor tc_ones_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                           int line);
TCDEF tc_tensor tc_zeros_like_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_ones_like_at(tc_tensor t, const char *file, int line);
// Elements that nobody has set, to be written before they are read.
TCDEF tc_tensor tc_empty_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                            int line);
// A number that programs get at run time from the first one on, as a 0-d tensor: a learning rate, a
// temperature. As any tensor of no dimensions it does not widen what it is combined with: f32 with a tc_scalar of
// TC_F64 is f32.
TCDEF tc_tensor tc_scalar_at(tc_ctx *tc, double value, tc_dtype dtype, const char *file,
                             int line);

// start, start + step, ... before end; empty if step leads away from it. TC_E_ARG: step 0
// or NaN. start + i * step is computed in i64 where both are whole, else in f64, then
// converted.
TCDEF tc_tensor tc_arange_at(tc_ctx *tc, double start, double end, double step,
                             tc_dtype dtype, const char *file, int line);
// [rows, columns] with ones on the main diagonal.
TCDEF tc_tensor tc_eye_at(tc_ctx *tc, int64_t rows, int64_t columns, tc_dtype dtype,
                          const char *file, int line);
// Random numbers by Philox4x32-10: element i of the n-th draw since tc_manual_seed depends
// on seed, n and i alone. dtype a float (TC_E_DTYPE); halves are made of those of f32.
// Uniform over [0, 1).
TCDEF tc_tensor tc_rand_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                           int line);
// Standard normal.
TCDEF tc_tensor tc_randn_at(tc_ctx *tc, tc_dims dims, tc_dtype dtype, const char *file,
                            int line);
// Whole numbers in [low, high), any dtype; at most 2^53 apart and in size (TC_E_ARG).
TCDEF tc_tensor tc_randint_at(tc_ctx *tc, int64_t low, int64_t high, tc_dims dims,
                              tc_dtype dtype, const char *file, int line);
// Starts the random stream again. TC_E_STATE inside a region.
TCDEF tc_status tc_manual_seed(tc_ctx *tc, uint64_t seed);
// Where the random stream is: torch.get_rng_state and set_rng_state. Set again, it gives the numbers that followed
// then, on any machine, in regions and functions too, which keep their programs: to go on from a saved model, or to
// draw the same twice. Two words to be saved as they are; tc_manual_seed(tc, s) is {s, 0}. TC_E_STATE: inside a region;
// TC_E_NULL: state is NULL.
typedef struct tc_rng_state {
    uint64_t seed, draw; // draws since that seed
} tc_rng_state;
TCDEF tc_status tc_get_rng_state(tc_ctx *tc, tc_rng_state *state);
TCDEF tc_status tc_set_rng_state(tc_ctx *tc, const tc_rng_state *state);

// ---- movement: the same elements elsewhere ----
// As in PyTorch, inside regions and functions as outside: reshape, flatten, squeeze, unsqueeze, permute,
// transpose, t, movedim, expand, slice, select, narrow, split and chunk give views, which show t's
// memory: a write to one shows in the other. reshape and flatten copy where strides cannot tell the new
// sizes. All others have memory of their own, row-major, even where nothing moves.
// Behind the end of a region or call that holds for views of tensors from outside. A view of what was computed in it
// shows that as it was at the end, mostly in memory of its own, row-major; eager code (tc_disable_begin) shares
// it. So make a view that is to show later writes behind the end.

// New sizes, elements in row-major order; one size may be -1. TC_E_SHAPE: the counts
// differ.
TCDEF tc_tensor tc_reshape_at(tc_tensor t, tc_dims dims, const char *file, int line);
// Dimensions first..last, both inclusive, become one. A scalar becomes [1].
TCDEF tc_tensor tc_flatten_at(tc_tensor t, int first, int last, const char *file, int line);
// Removes one dimension, if its size is 1.
TCDEF tc_tensor tc_squeeze_at(tc_tensor t, int dim, const char *file, int line);
// Removes all dimensions of size 1.
TCDEF tc_tensor tc_squeeze_all_at(tc_tensor t, const char *file, int line);
// Inserts a dimension of size 1 before `dim`; -1 appends.
TCDEF tc_tensor tc_unsqueeze_at(tc_tensor t, int dim, const char *file, int line);
// Dimension i of the result is order.size[i] of t: tc_permute(t, TC_DIMS(0, 2, 1)).
TCDEF tc_tensor tc_permute_at(tc_tensor t, tc_dims order, const char *file, int line);
TCDEF tc_tensor tc_transpose_at(tc_tensor t, int dim0, int dim1, const char *file,
                                int line);
// Transpose of a matrix; at most 2 dimensions (TC_E_RANK).
TCDEF tc_tensor tc_t_at(tc_tensor t, const char *file, int line);
// Moves dimension `from` to place `to`; the others keep their order.
TCDEF tc_tensor tc_movedim_at(tc_tensor t, int from, int to, const char *file, int line);
// Repeats size 1 and adds leading dimensions; -1 keeps a size. TC_E_BROADCAST.
TCDEF tc_tensor tc_expand_at(tc_tensor t, tc_dims dims, const char *file, int line);
TCDEF tc_tensor tc_broadcast_to_at(tc_tensor t, tc_dims dims, const char *file, int line);
// t[start:end:step] of one dimension with Python's rules: negative counts from the end, out
// of range is clipped, TC_END is the end. step may be negative; 0 is TC_E_ARG.
TCDEF tc_tensor tc_slice_at(tc_tensor t, int dim, int64_t start, int64_t end, int64_t step,
                            const char *file, int line);
// t[i] of one dimension, which goes. TC_E_INDEX: not in [-size, size).
TCDEF tc_tensor tc_select_at(tc_tensor t, int dim, int64_t i, const char *file, int line);
// t[start:start+length] of one dimension, nothing clipped (TC_E_INDEX).
TCDEF tc_tensor tc_narrow_at(tc_tensor t, int dim, int64_t start, int64_t length,
                             const char *file, int line);
// Reverses the named dimensions.
TCDEF tc_tensor tc_flip_at(tc_tensor t, tc_dims dims, const char *file, int line);
// Moves elements `shift` places up along one dimension, those that fall off the end to the
// start.
TCDEF tc_tensor tc_roll_at(tc_tensor t, int64_t shift, int dim, const char *file, int line);
// low.size[i] elements `value` before and high.size[i] after dimension i; negative cuts
// off. Both have the rank of t (TC_E_RANK). PyTorch's pad, but first dimension first.
TCDEF tc_tensor tc_pad_at(tc_tensor t, tc_dims low, tc_dims high, double value,
                          const char *file, int line);
// What stands beyond the edge of e d c b a, for a wider pad than 2 as far as it goes:
typedef enum tc_pad_mode {
    TC_PAD_REFLECT,   // c d | e d c b a | b c   at most size - 1 (TC_E_SHAPE)
    TC_PAD_REPLICATE, // e e | e d c b a | a a   of at least one element (TC_E_SHAPE)
    TC_PAD_CIRCULAR   // b a | e d c b a | e d   at most size (TC_E_SHAPE)
} tc_pad_mode;
// tc_pad with elements of t itself.
TCDEF tc_tensor tc_pad_with_at(tc_tensor t, tc_dims low, tc_dims high, tc_pad_mode mode,
                               const char *file, int line);
// n tensors one after the other along `dim`; other sizes equal (TC_E_SHAPE). Null of none.
TCDEF tc_tensor tc_cat_at(const tc_tensor *list, int n, int dim, const char *file,
                          int line);
// n tensors of equal sizes along a new dimension. Null of none.
TCDEF tc_tensor tc_stack_at(const tc_tensor *list, int n, int dim, const char *file,
                            int line);
// Pieces of `size` along `dim`, the last one maybe smaller, into out[0..max). Returns their
// number, 0 = failed (TC_E_ARG: more than max). out is untouched then.
TCDEF int tc_split_at(tc_tensor t, int64_t size, int dim, tc_tensor *out, int max,
                      const char *file, int line);
// At most `chunks` pieces of equal size, the last one maybe smaller.
TCDEF int tc_chunk_at(tc_tensor t, int chunks, int dim, tc_tensor *out, int max,
                      const char *file, int line);
// All windows of `size` along `dim`, `step` apart; the place inside the window is appended
// as the last dimension. TC_E_SHAPE: the window is larger than the dimension.
TCDEF tc_tensor tc_unfold_at(tc_tensor t, int dim, int64_t size, int64_t step,
                             const char *file, int line);
// The whole of t repeats.size[i] times along dimension i; missing leading ones are added on
// both sides.
TCDEF tc_tensor tc_tile_at(tc_tensor t, tc_dims repeats, const char *file, int line);
// Every element `repeats` times in a row along `dim`.
TCDEF tc_tensor tc_repeat_interleave_at(tc_tensor t, int64_t repeats, int dim,
                                        const char *file, int line);
// Row-major in memory: a view of all of t if t is that already, else a copy.
TCDEF tc_tensor tc_contiguous_at(tc_tensor t, const char *file, int line);
// A copy in memory of its own.
TCDEF tc_tensor tc_clone_at(tc_tensor t, const char *file, int line);
// Converts. Float to integer truncates and saturates, NaN gives 0; any to bool is t != 0. To f8e4m3 what is beyond
// 448, infinity too, becomes 448, to f8e5m2 what is beyond 57344 infinity, as in PyTorch 2.15; NaN stays NaN.
TCDEF tc_tensor tc_cast_at(tc_tensor t, tc_dtype dtype, const char *file, int line);
TCDEF tc_tensor tc_to_bool_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_to_u8_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_to_i32_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_to_i64_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_to_f32_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_to_f64_at(tc_tensor t, const char *file, int line);

// ---- indexing ----
// The index is i32 or i64 (TC_E_DTYPE), negative counts from the end, out of range is
// clamped and makes the unit that runs it return TC_E_INDEX.

// Slices of t along dim: the dimension is replaced by the index's dimensions (Array API:
// take).
TCDEF tc_tensor tc_take_at(tc_tensor t, tc_tensor index, int dim, const char *file,
                           int line);
// tc_take for an index of one dimension, or a scalar (TC_E_RANK).
TCDEF tc_tensor tc_index_select_at(tc_tensor t, int dim, tc_tensor index, const char *file,
                                   int line);
// Rows of a weight [V, D] by index[...]: [..., D].
TCDEF tc_tensor tc_embedding_at(tc_tensor weight, tc_tensor index, const char *file,
                                int line);
// out[..i..] = t[..index[..i..]..] along dim; index has t's rank and the result index's
// sizes.
TCDEF tc_tensor tc_gather_at(tc_tensor t, int dim, tc_tensor index, const char *file,
                             int line);
// t with elements of src written along dim: out[..index[..i..]..] = src[..i..]. index has
// t's rank; it is no larger than src, nor, outside dim, than t (TC_E_SHAPE). Of those that go
// to one place the last in row-major order stays; the others have a gradient of 0 (PyTorch's is that of what
// stayed). src has t's dtype (TC_E_DTYPE).
TCDEF tc_tensor tc_scatter_at(tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                              const char *file, int line);
// The same with +=, added in row-major order of the index: the same bits in every run and for
// any number of threads. f16 and bf16 are added in f32 and rounded once. No bool
// (TC_E_DTYPE).
TCDEF tc_tensor tc_scatter_add_at(tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                                  const char *file, int line);
// t with slice i of src along dim added to slice index[i], in order of i; as tc_scatter_add.
// index has one dimension (TC_E_RANK), src t's sizes but for dim (TC_E_SHAPE).
TCDEF tc_tensor tc_index_add_at(tc_tensor t, int dim, tc_tensor index, tc_tensor src,
                                const char *file, int line);
// index[...] -> i64 [..., classes]: 1 where the last index equals the element, else 0. PyTorch refuses
// negative ones.
TCDEF tc_tensor tc_one_hot_at(tc_tensor index, int64_t classes, const char *file, int line);
// Zero above (tril) or below (triu) a diagonal of the last two dimensions; diagonal 0 is
// the main one, positive ones are above it.
TCDEF tc_tensor tc_tril_at(tc_tensor t, int64_t diagonal, const char *file, int line);
TCDEF tc_tensor tc_triu_at(tc_tensor t, int64_t diagonal, const char *file, int line);
// value where mask (bool) is true, else t.
TCDEF tc_tensor tc_masked_fill_at(tc_tensor t, tc_tensor mask, double value,
                                  const char *file, int line);

// Elementwise ops: the generated list behind this part, one function per row of
// tables/ops.def.

// ---- with a scalar: op(a, s) ----
// A whole s keeps the dtype of a (bool becomes i64), another one raises integers to f32;
// whole numbers are exact up to 2^53. u8, i8 and i16 are computed in i32, where a larger s
// saturates, and what comes out wraps: of u8, 200 + 300 is 244 and 200 < 300 is true. A scalar that
// is the result itself (tc_full, tc_masked_fill, tc_pad, tc_scalar) wraps as 0 + s does: 300 is 44,
// -1 is 255. A half, and an f8, is compared with what s rounds to in its dtype: no f8e4m3 is above 448.

TCDEF tc_tensor tc_add_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_sub_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_mul_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_div_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_floor_divide_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_remainder_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_fmod_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_pow_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_maximum_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_minimum_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_eq_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_ne_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_lt_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_le_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_gt_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_ge_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_bitwise_and_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_bitwise_or_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_bitwise_xor_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_bitwise_left_shift_s_at(tc_tensor a, double s, const char *file,
                                           int line);
TCDEF tc_tensor tc_bitwise_right_shift_s_at(tc_tensor a, double s, const char *file,
                                            int line);
// The scalar on the left: s - a, s / a, s ** a.
TCDEF tc_tensor tc_rsub_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_rdiv_s_at(tc_tensor a, double s, const char *file, int line);
TCDEF tc_tensor tc_rpow_s_at(tc_tensor a, double s, const char *file, int line);
// min(max(a, low), high); NaN stays.
TCDEF tc_tensor tc_clamp_at(tc_tensor a, double low, double high, const char *file,
                            int line);
TCDEF tc_tensor tc_clamp_min_at(tc_tensor a, double low, const char *file, int line);
TCDEF tc_tensor tc_clamp_max_at(tc_tensor a, double high, const char *file, int line);

// ---- in place: the result is written over dst, and dst is returned ----
// The result must broadcast to dst's sizes (TC_E_BROADCAST) and be of no higher category
// than dst (TC_E_DTYPE). TC_E_ALIAS: elements of dst share memory (an expanded view);
// TC_E_ARG: dst is a tc_const.

// Any dtype, on any device: src is converted and moved.
TCDEF tc_tensor tc_copy__at(tc_tensor dst, tc_tensor src, const char *file, int line);
TCDEF tc_tensor tc_fill__at(tc_tensor dst, double value, const char *file, int line);
TCDEF tc_tensor tc_zero__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_add__at(tc_tensor dst, tc_tensor b, const char *file, int line);
TCDEF tc_tensor tc_sub__at(tc_tensor dst, tc_tensor b, const char *file, int line);
TCDEF tc_tensor tc_mul__at(tc_tensor dst, tc_tensor b, const char *file, int line);
TCDEF tc_tensor tc_div__at(tc_tensor dst, tc_tensor b, const char *file, int line);
TCDEF tc_tensor tc_maximum__at(tc_tensor dst, tc_tensor b, const char *file, int line);
TCDEF tc_tensor tc_minimum__at(tc_tensor dst, tc_tensor b, const char *file, int line);
TCDEF tc_tensor tc_add_s__at(tc_tensor dst, double s, const char *file, int line);
TCDEF tc_tensor tc_sub_s__at(tc_tensor dst, double s, const char *file, int line);
TCDEF tc_tensor tc_mul_s__at(tc_tensor dst, double s, const char *file, int line);
TCDEF tc_tensor tc_div_s__at(tc_tensor dst, double s, const char *file, int line);
TCDEF tc_tensor tc_pow_s__at(tc_tensor dst, double s, const char *file, int line);
TCDEF tc_tensor tc_clamp__at(tc_tensor dst, double low, double high, const char *file,
                             int line);
TCDEF tc_tensor tc_masked_fill__at(tc_tensor dst, tc_tensor mask, double value,
                                   const char *file, int line);
TCDEF tc_tensor tc_neg__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_abs__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_square__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_sqrt__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_rsqrt__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_reciprocal__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_exp__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_log__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_tanh__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_sigmoid__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_relu__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_gelu__at(tc_tensor dst, const char *file, int line);
TCDEF tc_tensor tc_silu__at(tc_tensor dst, const char *file, int line);

// ---- reductions ----
// Three forms: over one dimension, which goes; over several (none named = all), which go
// unless keepdim is TC_KEEPDIM; over all, giving a scalar.

// Integers and bool give i64.
TCDEF tc_tensor tc_sum_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_sum_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                               int line);
TCDEF tc_tensor tc_sum_all_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_prod_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_prod_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                                int line);
TCDEF tc_tensor tc_prod_all_at(tc_tensor t, const char *file, int line);
// Sum divided by the count; integers are summed as i64 and give f32. NaN when empty.
TCDEF tc_tensor tc_mean_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_mean_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                                int line);
TCDEF tc_tensor tc_mean_all_at(tc_tensor t, const char *file, int line);
// Largest and smallest; NaN wins. TC_E_SHAPE when empty, but tc_logsumexp of nothing is
// -infinity and tc_softmax of nothing empty.
TCDEF tc_tensor tc_amax_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_amax_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                                int line);
TCDEF tc_tensor tc_amax_all_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_amin_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_amin_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                                int line);
TCDEF tc_tensor tc_amin_all_at(tc_tensor t, const char *file, int line);
// i64 index of the first largest or smallest, NaN wins; over several dimensions the
// row-major index in them. TC_E_SHAPE when empty.
TCDEF tc_tensor tc_argmax_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_argmax_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                                  int line);
TCDEF tc_tensor tc_argmax_all_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_argmin_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_argmin_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                                  int line);
TCDEF tc_tensor tc_argmin_all_at(tc_tensor t, const char *file, int line);
// bool: whether any, or all, elements differ from 0.
TCDEF tc_tensor tc_any_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_any_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                               int line);
TCDEF tc_tensor tc_any_all_at(tc_tensor t, const char *file, int line);
TCDEF tc_tensor tc_all_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_all_dims_at(tc_tensor t, tc_dims dims, int keepdim, const char *file,
                               int line);
TCDEF tc_tensor tc_all_all_at(tc_tensor t, const char *file, int line);
// log(sum(exp(t))) without overflow: the largest element is taken out first.
TCDEF tc_tensor tc_logsumexp_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_logsumexp_dims_at(tc_tensor t, tc_dims dims, int keepdim,
                                     const char *file, int line);
TCDEF tc_tensor tc_logsumexp_all_at(tc_tensor t, const char *file, int line);
// sum((t - mean)^2) / max(0, n - correction), in two passes; correction 1 is the unbiased
// estimate.
TCDEF tc_tensor tc_var_at(tc_tensor t, int dim, double correction, const char *file,
                          int line);
TCDEF tc_tensor tc_var_dims_at(tc_tensor t, tc_dims dims, double correction, int keepdim,
                               const char *file, int line);
TCDEF tc_tensor tc_var_all_at(tc_tensor t, double correction, const char *file, int line);
// Square root of the variance.
TCDEF tc_tensor tc_std_at(tc_tensor t, int dim, double correction, const char *file,
                          int line);
TCDEF tc_tensor tc_std_dims_at(tc_tensor t, tc_dims dims, double correction, int keepdim,
                               const char *file, int line);
TCDEF tc_tensor tc_std_all_at(tc_tensor t, double correction, const char *file, int line);
// p-norm sum(|t|^p)^(1/p); p = 0 counts elements that are not 0, +-infinity takes the
// largest or smallest |t|.
TCDEF tc_tensor tc_norm_at(tc_tensor t, int dim, double p, const char *file, int line);
TCDEF tc_tensor tc_norm_dims_at(tc_tensor t, tc_dims dims, double p, int keepdim,
                                const char *file, int line);
TCDEF tc_tensor tc_norm_all_at(tc_tensor t, double p, const char *file, int line);

// ---- scans and order, along one dimension; a scalar has one of size 1 ----

// Element i is the sum, or product, of elements 0..i, taken in this order. Integers and bool
// give i64; f16 and bf16 are computed in f32, each result rounded once. TC_E_DIM.
TCDEF tc_tensor tc_cumsum_at(tc_tensor t, int dim, const char *file, int line);
TCDEF tc_tensor tc_cumprod_at(tc_tensor t, int dim, const char *file, int line);
// The indices (i64) that sort t along dim, from the largest on if `descending`. Stable:
// equal elements keep their order. NaN is the largest, -0.0 equals 0.0.
TCDEF tc_tensor tc_argsort_at(tc_tensor t, int dim, int descending, const char *file,
                              int line);
// The same, and the elements in that order. Either result may be NULL; they are two variables (TC_E_ARG). Gives TC_OK,
// or the error, and null tensors.
TCDEF tc_status tc_sort_at(tc_tensor t, int dim, int descending, tc_tensor *values,
                           tc_tensor *indices, const char *file, int line);
// The k largest (or smallest) elements along dim, in order, of equal ones the first; results
// as tc_sort's. TC_E_ARG: k is not 0..size. Each k has a program.
TCDEF tc_status tc_topk_at(tc_tensor t, int64_t k, int dim, int largest, tc_tensor *values,
                           tc_tensor *indices, const char *file, int line);

// ---- softmax and normalisation; integers become f32; eps is 0 or more (TC_E_ARG) ----

// exp(x - max) / sum(exp(x - max)) along dim, as a product with the sum's reciprocal.
TCDEF tc_tensor tc_softmax_at(tc_tensor x, int dim, const char *file, int line);
// (x - max) - log(sum(exp(x - max))) along dim.
TCDEF tc_tensor tc_log_softmax_at(tc_tensor x, int dim, const char *file, int line);
// (x - mean) * rsqrt(var + eps) * weight + bias over the last dimension; var has correction
// 0. weight and bias are [D] or null. Ba et al. 2016.
TCDEF tc_tensor tc_layer_norm_at(tc_tensor x, tc_tensor weight, tc_tensor bias, double eps,
                                 const char *file, int line);
// x * rsqrt(mean(x^2) + eps) * weight over the last dimension; weight [D] or null. Zhang
// and Sennrich 2019.
TCDEF tc_tensor tc_rms_norm_at(tc_tensor x, tc_tensor weight, double eps, const char *file,
                               int line);
// layer_norm over each of `groups` blocks of channels of x[N, C, ...]; weight and bias [C]
// or null. Wu and He 2018. TC_E_SHAPE: groups does not divide C.
TCDEF tc_tensor tc_group_norm_at(tc_tensor x, int groups, tc_tensor weight, tc_tensor bias,
                                 double eps, const char *file, int line);
// (x - mean) * (rsqrt(var + eps) * weight) + bias for x[N, C, ...] with given statistics
// [C] (inference); weight and bias [C] or null. Ioffe and Szegedy 2015.
TCDEF tc_tensor tc_batch_norm_at(tc_tensor x, tc_tensor mean, tc_tensor var,
                                 tc_tensor weight, tc_tensor bias, double eps,
                                 const char *file, int line);
// x / max(p-norm along dim, eps). p stands before dim, as in PyTorch's F.normalize(x, p, dim, eps);
// in tc_norm it stands behind.
TCDEF tc_tensor tc_normalize_at(tc_tensor x, double p, int dim, double eps,
                                const char *file, int line);
// sum(a * b) / (max(|a|, eps) * max(|b|, eps)) along dim of the sizes that both broadcast to.
TCDEF tc_tensor tc_cosine_similarity_at(tc_tensor a, tc_tensor b, int dim, double eps,
                                        const char *file, int line);
// The same with statistics that are kept: x of [N, C, ...] is normalised by those of all its elements of a
// channel (var with correction 0), and running_mean and running_var, floats [C], become (1 - momentum) * running
// + momentum * that of x in place, the variance with correction 1. After tc_training(tc, 0) it is tc_batch_norm
// with the running ones. Both may be null: nothing is kept then, and those of x are used in both modes.
// torch.nn.functional.batch_norm. TC_E_SHAPE: a channel has less than two elements to train with; TC_E_ARG:
// momentum is not in [0, 1]; TC_E_NULL: one of both is null; TC_E_DTYPE; TC_E_ALIAS: one of both is expanded.
TCDEF tc_tensor tc_batch_norm_running_at(tc_tensor x, tc_tensor running_mean,
                                         tc_tensor running_var, tc_tensor weight,
                                         tc_tensor bias, double momentum, double eps,
                                         const char *file, int line);
// Zeroes elements with probability p and scales the others by 1 / (1 - p); after tc_training(tc, 0) it gives x,
// as a view. 0 <= p < 1 (TC_E_ARG).
TCDEF tc_tensor tc_dropout_at(tc_tensor x, double p, const char *file, int line);

// ---- linear algebra ----

// a[..., M, K] x b[..., K, N] -> [..., M, N], leading dimensions broadcast; a 1-D operand
// is a row on the left, a column on the right, and its dimension goes. The result has the
// dtype that a and b have together: sums of bytes wrap to a byte. Of quantised operands,
// tc_matmul(tc_cast(x, TC_I32), tc_cast(w, TC_I32)) has them in i32, and multiplies
// bytes all the same. Of f8, tc_mul(tc_matmul(tc_cast(x, TC_F32), tc_cast(w, TC_F32)), scale) has exact products,
// summed in f32; on a GPU by the units for halves, which hold all of its numbers. Under TC_NUMERICS_FAST, units for f8
// take both as they are in memory, where both run along k (w = tc_t(weight) of [N, K], K a multiple of 16): those of
// Hopper keep 14 bits of a sum, so every 128 products go to a sum in f32. TC_E_SHAPE: inner sizes differ.
TCDEF tc_tensor tc_matmul_at(tc_tensor a, tc_tensor b, const char *file, int line);
// x[..., I] x weight[O, I]^T + bias[O] -> [..., O]; bias may be null.
TCDEF tc_tensor tc_linear_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                             const char *file, int line);
// beta * t + alpha * (a x b), matrices.
TCDEF tc_tensor tc_addmm_at(tc_tensor t, tc_tensor a, tc_tensor b, double beta,
                            double alpha, const char *file, int line);
// [B, M, K] x [B, K, N], nothing broadcast.
TCDEF tc_tensor tc_bmm_at(tc_tensor a, tc_tensor b, const char *file, int line);
// Scalar product of two vectors, summed in the fixed shape of reductions; i64 of integers,
// as tc_sum.
TCDEF tc_tensor tc_dot_at(tc_tensor a, tc_tensor b, const char *file, int line);
// [M], [N] -> [M, N].
TCDEF tc_tensor tc_outer_at(tc_tensor a, tc_tensor b, const char *file, int line);
// softmax(q k^T * scale + mask) v for q[..., L, E], k[..., S, E], v[..., S, F]; scale 0 = 1
// / sqrt(E). mask: null, bool (true = attend) or added; causal: query i attends to keys
// 0..i; a query that attends to none gives 0. Of halves the scores stay f32, and the shares are
// rounded, as factors of the second product. Heads that share keys and values (GQA, MQA): leading dimensions
// broadcast, so q[B, KV, GROUP, L, E] with k and v as [B, KV, 1, S, E] reads them where they lie;
// tc_repeat_interleave(k, GROUP, 1) of [B, KV, S, E] gives the same in q's layout [B, HEADS, L, E]. Vaswani et al. 2017.
TCDEF tc_tensor tc_scaled_dot_product_attention_at(tc_tensor q, tc_tensor k, tc_tensor v,
                                                   tc_tensor mask, int causal, double scale,
                                                   const char *file, int line);

// ---- convolution and pooling: x[N, C, H, W] or [C, H, W] ----

// [0] is height, [1] width, of images with a depth [0] is depth, [1] height, [2] width; 0 means the default.
typedef struct tc_conv_options {
    int stride[3];   // default 1
    int padding[3];  // zeros on each side, of a transposed one what is cut off there; default 0
    int dilation[3]; // distance of the taps; default 1
    int groups;      // default 1
    int output_padding[3]; // of a transposed one: more at the end; default 0
} tc_conv_options;

// x[N, C, H, W] with weight[O, C / groups, KH, KW] -> [N, O, H', W'], plus bias[O] unless
// null; H' = (H + 2 padding - dilation (KH - 1) - 1) / stride + 1. Summed per output over
// (channel, ky, kx) in this order, one fma per step (f64: product and sum); f16, bf16 and tf32 on a GPU by tensor
// cores in f32, over (ky, kx, channel). A tc_const weight with one input
// channel per group and at most 49 taps is unrolled: taps that are exactly zero in every
// channel are left out, so infinities and NaN of x under them do not count. TC_E_SHAPE:
// sizes do not fit, or a window is larger than the padded x; TC_E_ARG: a stride, dilation or groups below 1, a padding
// below 0.
TCDEF tc_tensor tc_conv2d_at(tc_tensor x, tc_tensor weight, tc_tensor bias, int stride,
                             int padding, int dilation, int groups, const char *file,
                             int line);
// The same with options by axis; NULL = all defaults.
TCDEF tc_tensor tc_conv2d_with_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                  const tc_conv_options *options, const char *file,
                                  int line);
// x[N, C, L] or [C, L] with weight[O, C / groups, K].
TCDEF tc_tensor tc_conv1d_at(tc_tensor x, tc_tensor weight, tc_tensor bias, int stride,
                             int padding, int dilation, int groups, const char *file,
                             int line);
// x[N, C, D, H, W] or [C, D, H, W] with weight[O, C / groups, KD, KH, KW] -> [N, O, D', H', W'], over (channel, kd, ky,
// kx).
TCDEF tc_tensor tc_conv3d_at(tc_tensor x, tc_tensor weight, tc_tensor bias, int stride,
                             int padding, int dilation, int groups, const char *file,
                             int line);
TCDEF tc_tensor tc_conv3d_with_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                  const tc_conv_options *options, const char *file,
                                  int line);
// Transposed: x[N, C, H, W] or [C, H, W] with weight[C, O / groups, KH, KW] -> [N, O, H', W'], plus bias[O]
// unless null; H' = (H - 1) stride - 2 padding + dilation (KH - 1) + output_padding + 1. Element i of x counts for
// result i * stride + k * dilation - padding by tap k: tc_conv2d's gradient by its image, PyTorch's
// conv_transpose2d, whose groups come before its dilation. Summed per output over (channel, y, x) of what counts for
// it, one step each; as above on a GPU. Infinite taps meet zeros beyond x, too, and between its elements where both
// stride and dilation are above 1 after what divides them is taken out. TC_E_SHAPE: sizes do not fit, x has no row or column, or the padding leaves nothing;
// TC_E_ARG: an output_padding that is neither less than stride nor than dilation.
TCDEF tc_tensor tc_conv_transpose2d_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                       int stride, int padding, int output_padding,
                                       int dilation, int groups, const char *file,
                                       int line);
// The same with options by axis; NULL = all defaults.
TCDEF tc_tensor tc_conv_transpose2d_with_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                            const tc_conv_options *options,
                                            const char *file, int line);
// x[N, C, L] or [C, L] with weight[C, O / groups, K].
TCDEF tc_tensor tc_conv_transpose1d_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                       int stride, int padding, int output_padding,
                                       int dilation, int groups, const char *file,
                                       int line);
// x[N, C, D, H, W] or [C, D, H, W] with weight[C, O / groups, KD, KH, KW] -> [N, O, D', H', W'], over (channel, d, y, x).
TCDEF tc_tensor tc_conv_transpose3d_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                       int stride, int padding, int output_padding,
                                       int dilation, int groups, const char *file,
                                       int line);
TCDEF tc_tensor tc_conv_transpose3d_with_at(tc_tensor x, tc_tensor weight, tc_tensor bias,
                                            const tc_conv_options *options,
                                            const char *file, int line);
// Windows of kernel x kernel, `stride` apart (0 = kernel), over x[..., H, W] with `padding`
// on each side (at most kernel / 2, TC_E_ARG). Mean, zeros of the padding counted.
TCDEF tc_tensor tc_avg_pool2d_at(tc_tensor x, int kernel, int stride, int padding,
                                 const char *file, int line);
// Largest; NaN wins.
TCDEF tc_tensor tc_max_pool2d_at(tc_tensor x, int kernel, int stride, int padding,
                                 const char *file, int line);

// ---- resizing ----

typedef enum tc_interpolation {
    TC_NEAREST,       // element i is x[floor(i * in / out)]
    TC_LINEAR,        // between x[floor(s)] and the next, s = (i + 0.5) * in / out - 0.5, not
                      //   beyond the edges: PyTorch's align_corners=False
    TC_LINEAR_CORNERS // the same with s = i * (in - 1) / (out - 1): align_corners=True
} tc_interpolation;
// x[..., H, W] with its last dimensions resized to `sizes`: TC_DIMS(H', W') of images, bilinear then; any
// number of dimensions. PyTorch's interpolate(size=). TC_NEAREST keeps the dtype, else integers become
// f32. TC_E_SHAPE: a size is not in 1..2^28; TC_E_RANK: more sizes than dimensions.
TCDEF tc_tensor tc_interpolate_at(tc_tensor x, tc_dims sizes, tc_interpolation mode,
                                  const char *file, int line);

// ---- losses: a scalar, the mean over all elements ----

// (x - y)^2
TCDEF tc_tensor tc_mse_loss_at(tc_tensor x, tc_tensor y, const char *file, int line);
// |x - y|
TCDEF tc_tensor tc_l1_loss_at(tc_tensor x, tc_tensor y, const char *file, int line);
// log(sum(exp(logits))) - logits[target] for logits[N, C, ...] or [C] and targets [N, ...]
// or scalar, i32 or i64. A target below 0 or not below C is clamped and makes the unit that runs it return TC_E_INDEX:
// none counts from the end.
TCDEF tc_tensor tc_cross_entropy_at(tc_tensor logits, tc_tensor target, const char *file,
                                    int line);
// The same over the targets that differ from `ignore` (PyTorch: -100), which may be any number; NaN when there is none.
TCDEF tc_tensor tc_cross_entropy_ignore_at(tc_tensor logits, tc_tensor target,
                                           int64_t ignore, const char *file, int line);
// max(x, 0) - x * y + log(1 + exp(-|x|))
TCDEF tc_tensor tc_bce_with_logits_at(tc_tensor x, tc_tensor y, const char *file, int line);

// ---- optimisers: one step, in place; formulas of torch.optim ----
// Floats only (TC_E_DTYPE), states and gradient of the sizes of their parameter (TC_E_SHAPE), none null
// (TC_E_NULL) or expanded. What is written, parameters, states and the step, shares no memory: nothing is in a list
// twice, under whatever handle, but parts of one buffer may be (TC_E_ALIAS). Numbers are 0 or more, betas less than
// 1 (TC_E_ARG). Computed in f32, f64 for an f64 parameter, and rounded once to what is written. Everything is checked
// before the first write. States are tensors of yours, 0 before the first step:
// saved and read back they go on as before. lr and the like are given to programs at run time once they
// change; whether weight_decay or momentum is 0 is part of the program. What is for one parameter gives param.
//
// The _list_ forms are the same for n parameters (TC_E_ARG: n < 0), each with its own states, element i of each
// array; on a device those of a list share launches. `step`, a float scalar (TC_E_SHAPE), is shared and counted
// up first, by each call: 0 before the first step. So lists with rates of their own (PyTorch's parameter groups) have
// a step each: one for both would count two steps in one.

// Adam with decoupled weight decay (Loshchilov and Hutter 2019; torch.optim.AdamW).
TCDEF tc_tensor tc_adamw__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg,
                             tc_tensor exp_avg_sq, tc_tensor step, double lr, double beta1,
                             double beta2, double eps, double weight_decay,
                             const char *file, int line);
TCDEF tc_status tc_adamw_list__at(const tc_tensor *param, const tc_tensor *grad,
                                  const tc_tensor *exp_avg, const tc_tensor *exp_avg_sq,
                                  int n, tc_tensor step, double lr, double beta1,
                                  double beta2, double eps, double weight_decay,
                                  const char *file, int line);
// Adam (Kingma and Ba 2015; torch.optim.Adam): weight_decay * param is added to the gradient.
TCDEF tc_tensor tc_adam__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg,
                            tc_tensor exp_avg_sq, tc_tensor step, double lr, double beta1,
                            double beta2, double eps, double weight_decay,
                            const char *file, int line);
TCDEF tc_status tc_adam_list__at(const tc_tensor *param, const tc_tensor *grad,
                                 const tc_tensor *exp_avg, const tc_tensor *exp_avg_sq,
                                 int n, tc_tensor step, double lr, double beta1,
                                 double beta2, double eps, double weight_decay,
                                 const char *file, int line);
// g = grad + weight_decay * param; buffer = momentum * buffer + g; param -= lr * buffer, with
// nesterov lr * (g + momentum * buffer); torch.optim.SGD. The buffer, of a list the array, may be
// null where momentum is 0. TC_E_ARG: nesterov with a momentum of 0.
TCDEF tc_tensor tc_sgd__at(tc_tensor param, tc_tensor grad, tc_tensor momentum_buffer,
                           double lr, double momentum, double weight_decay, int nesterov,
                           const char *file, int line);
TCDEF tc_status tc_sgd_list__at(const tc_tensor *param, const tc_tensor *grad,
                                const tc_tensor *momentum_buffer, int n, double lr,
                                double momentum, double weight_decay, int nesterov,
                                const char *file, int line);
// g = grad + weight_decay * param; sum += g^2;
// param -= lr / (1 + (step - 1) * lr_decay) * g / (sqrt(sum) + eps); torch.optim.Adagrad. PyTorch's
// initial_accumulator_value is what sum has before the first step.
TCDEF tc_tensor tc_adagrad__at(tc_tensor param, tc_tensor grad, tc_tensor sum,
                               tc_tensor step, double lr, double lr_decay, double eps,
                               double weight_decay, const char *file, int line);
TCDEF tc_status tc_adagrad_list__at(const tc_tensor *param, const tc_tensor *grad,
                                    const tc_tensor *sum, int n, tc_tensor step, double lr,
                                    double lr_decay, double eps, double weight_decay,
                                    const char *file, int line);
// g = grad + weight_decay * param; square_avg = alpha * square_avg + (1 - alpha) * g^2;
// d = g / (sqrt(square_avg) + eps); buffer = momentum * buffer + d; param -= lr * buffer, lr * d without
// momentum; torch.optim.RMSprop. centered: grad_avg is the like average of g, and the root is that of
// max(square_avg - grad_avg^2, 0). grad_avg may be null where centered is 0, momentum_buffer where momentum
// is 0; of a list the array.
TCDEF tc_tensor tc_rmsprop__at(tc_tensor param, tc_tensor grad, tc_tensor square_avg,
                               tc_tensor grad_avg, tc_tensor momentum_buffer, double lr,
                               double alpha, double eps, double weight_decay,
                               double momentum, int centered, const char *file, int line);
TCDEF tc_status tc_rmsprop_list__at(const tc_tensor *param, const tc_tensor *grad,
                                    const tc_tensor *square_avg, const tc_tensor *grad_avg,
                                    const tc_tensor *momentum_buffer, int n, double lr,
                                    double alpha, double eps, double weight_decay,
                                    double momentum, int centered, const char *file,
                                    int line);
// param *= 1 - lr * weight_decay; param -= lr * sign(beta1 * exp_avg + (1 - beta1) * grad);
// exp_avg = beta2 * exp_avg + (1 - beta2) * grad (Chen et al. 2023, algorithm 2).
TCDEF tc_tensor tc_lion__at(tc_tensor param, tc_tensor grad, tc_tensor exp_avg, double lr,
                            double beta1, double beta2, double weight_decay,
                            const char *file, int line);
TCDEF tc_status tc_lion_list__at(const tc_tensor *param, const tc_tensor *grad,
                                 const tc_tensor *exp_avg, int n, double lr, double beta1,
                                 double beta2, double weight_decay, const char *file,
                                 int line);

// lr of the optimisers from here on, up to tc_lr_scale_end, is times `factor`, a float scalar (TC_E_NULL, _DTYPE, _SHAPE) that
// is read where and when they run; PyTorch's LambdaLR. So a schedule is ops, or an input, and a function whose rate changes
// at every call skips its body, which one that is told another lr does not:
//
//     // in the body: a rise over 100 steps. `steps` is counted by the call, so here it is 0 at the first
//     tc_lr_scale_begin(tc, tc_minimum_s(tc_mul_s(tc_add_s(steps, 1), 0.01), 1));
//     tc_adamw_list_(w, g, average, square, n, steps, 1e-3, 0.9, 0.999, 1e-8, 0.01);
//     tc_lr_scale_end(tc);
//
// The product is made in f64. The factor is yours, stays what it is until the end, and lies where the weights do. A region or
// body goes on with that of the code around it, ends what it leaves open, and cannot end or replace what was begun outside
// (TC_E_STATE). Where a begin was refused, so are the optimisers up to the end. A function that is called under another factor
// runs its body again (TC_MISS_LR_SCALE): keep one, and tc_fill_ it.
TCDEF tc_status tc_lr_scale_begin_at(tc_ctx *tc, tc_tensor factor, const char *file,
                                     int line);
TCDEF tc_status tc_lr_scale_end_at(tc_ctx *tc, const char *file, int line);

// ---- gradients clipped, in place ----
// Floats of any sizes, none twice (TC_E_DTYPE, TC_E_NULL, TC_E_ALIAS), checked before the first write. Formulas of
// torch.nn.utils.

// Gives the norm of all elements of n >= 1 gradients together (TC_E_ARG), a scalar that nothing was waited
// for: f64 if one of them is, else f32. norm_type is 2, the root of the sum of squares, or infinity, the
// largest |g| (TC_E_ARG). Each is multiplied by min(max_norm / (norm + 1e-6), 1), so a norm that is NaN makes
// all of them NaN. max_norm >= 0 (TC_E_ARG). Null = an error.
TCDEF tc_tensor tc_clip_grad_norm__at(const tc_tensor *grads, int n, double max_norm,
                                      double norm_type, const char *file, int line);
// Elements below -value become that, those above value value. value >= 0, n >= 0 (TC_E_ARG).
TCDEF tc_status tc_clip_grad_value__at(const tc_tensor *grads, int n, double value,
                                       const char *file, int line);

// ---- the macros: tc_xxx(...) is tc_xxx_at(..., TC__SITE), listed behind gen/api/extend.h ----
// They pass their arguments on as they come, so that commas may stand in them, as those of compound
// literals and of C++ templates do: tc_cat((tc_tensor[]){a, b}, 2, 1). A pointer to a function is one to the
// other: tc_tensor (*act)(tc_tensor, const char *, int) = tc_relu_at, called act(x, TC__SITE).

#include "api/site.h"
