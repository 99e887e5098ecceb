// Opaque ops of this library: the functions, and what a launch of an opaque op has. Both tiers run
// them, so there is no text of them and nothing to compile.
//
// A function gets whole row-major buffers and a range of rows; a row is what stands along the last
// dimension of the result. Rows are shared by the workers, and none needs another one, so bits do
// not depend on how many there are. Whatever has an order (sums, equal keys, writes to one place)
// has it inside a row. Scratch is the program's: a function takes no memory.
//
// To add one, where a result depends on its operands in an order that no index map tells: a
// row of kind OPAQUE in ops.def, whose words are flags and counts; its shape rule
// (graph/shape.c); a function over a range of rows and its row in the table here, with the
// scratch that a worker needs; where operand 1 is an index, which raises the program's flag,
// tc__changes_some says so; the public call (graph/rows.c). kernel/roots.c makes the node and its operands
// roots, so producers store row-major and nothing merges with it; kernel/schedule.c makes
// its kernel, whose list is one CALL that tells all sizes. On a device it is kernels where
// the dialect has a text (tc__dialect.has_opaque; for CUDA a plan of steps,
// cuda_print/opaque_plan.c), else this function, between two lists of launches. References
// stand in tests/ops/rows.c, sizes that take other ways in tests/cuda/opaque.c.

typedef void (*tc__kernel_fn)(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker);

typedef struct tc__opaque {
    const tc__node *node;             // of the program's TENSOR graph
    const struct tc__opaque_row *row; // NULL = an op of the user's
    const int64_t *number;            // of the buffers: the result's, then the operands',
    const void *fill;                 //   and the element of what is filled
    void *const *base;                // addresses by number; of the launch, looked up anew
    tc_buffer *buffer; // result and operands; of ours only the specs are filled
    void *argument[1]; // the kernel's `buf`: this struct
    size_t scratch;    // bytes that each worker needs
    uint8_t *memory;   // scratch of all workers; the program's
} tc__opaque;

typedef struct tc__opaque_row {
    tc__op op;
    tc__kernel_fn run;
    size_t (*scratch)(const tc__opaque *o); // bytes of a worker, NULL = none
} tc__opaque_row;

// The struct of ours that a kernel is called for.
static const tc__opaque *tc__opaque_of(const tc__kargs *a) {
    return (const tc__opaque *)a->buf[0];
}

// Memory of buffer i: 0 is the result, then operands; NULL = it has no elements.
static void *tc__opaque_data(const tc__opaque *o, int i) {
    return o->number[i] < 0 ? NULL : o->base[o->number[i]];
}

// Elements of a row of buffer i.
static int64_t tc__opaque_width(const tc__opaque *o, int i) {
    const tc_spec *s = &o->buffer[i].spec;
    return s->dims[s->rank - 1];
}

// ---- scans ----
// From the identity on, as PyTorch's: so the first of -0.0 is 0.

#define TC__SCAN(name, type, identity, step)                                               \
    static void name(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {         \
        const tc__opaque *o = tc__opaque_of(a);                                            \
        int64_t n = tc__opaque_width(o, 0);                                                \
        const type *x = (const type *)tc__opaque_data(o, 1) + lo * n;                      \
        type *y = (type *)tc__opaque_data(o, 0) + lo * n;                                  \
        (void)worker;                                                                      \
        for (int64_t r = lo; r < hi; r++, x += n, y += n) {                                \
            type s = identity;                                                             \
            for (int64_t i = 0; i < n; i++) y[i] = s = step;                               \
        }                                                                                  \
    }
TC__SCAN(tc__cumsum_i64, uint64_t, 0, s + x[i])
TC__SCAN(tc__cumsum_f32, float, 0, s + x[i])
TC__SCAN(tc__cumsum_f64, double, 0, s + x[i])
TC__SCAN(tc__cumprod_i64, uint64_t, 1, x[i] * s)
TC__SCAN(tc__cumprod_f32, float, 1, x[i] * s)
TC__SCAN(tc__cumprod_f64, double, 1, x[i] * s)
#undef TC__SCAN

// A function by the dtype of operand 0.
typedef struct tc__by_dtype {
    int dtype;
    tc__kernel_fn run;
} tc__by_dtype;

static void tc__run_by_dtype(const tc__by_dtype *t, const tc__kargs *a, int64_t lo,
                             int64_t hi, int32_t worker) {
    while (t->dtype != (int)tc__opaque_of(a)->buffer[1].spec.dtype) t++;
    t->run(a, lo, hi, worker);
}

static void tc__cumsum_run(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    static const tc__by_dtype runs[] = {
        {TC_I64, tc__cumsum_i64}, {TC_F32, tc__cumsum_f32}, {TC_F64, tc__cumsum_f64}};
    tc__run_by_dtype(runs, a, lo, hi, worker);
}

static void tc__cumprod_run(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    static const tc__by_dtype runs[] = {
        {TC_I64, tc__cumprod_i64}, {TC_F32, tc__cumprod_f32}, {TC_F64, tc__cumprod_f64}};
    tc__run_by_dtype(runs, a, lo, hi, worker);
}

// ---- order ----
// Elements become unsigned keys that are in order as they are, equal where elements are: NaN the
// largest, -0.0 like 0.0, for a descending order all bits turned. Keys are sorted with their places.

typedef struct tc__keyed {
    uint64_t key;
    int64_t at;
} tc__keyed;

enum {
    TC__RADIX_BITS = 8,
    TC__RADIX = 1 << TC__RADIX_BITS,
    TC__DIGITS = 64 / TC__RADIX_BITS,
    TC__RADIX_LEAST = 256, // elements; below, merging is as fast
    TC__RUN = 16           // elements that are sorted by insertion before merging
};

// The bits of a float of `width` bits, in order; NaN and zeros are no longer told apart.
static uint64_t tc__float_key(uint64_t bits, int width) {
    uint64_t sign = (uint64_t)1 << (width - 1);
    return bits & sign ? ~bits & (sign | (sign - 1)) : bits | sign;
}

static uint64_t tc__key_i32(const void *x, int64_t i) {
    return (uint32_t)((const int32_t *)x)[i] ^ UINT32_C(0x80000000);
}

static uint64_t tc__key_i64(const void *x, int64_t i) {
    return (uint64_t)((const int64_t *)x)[i] ^ (uint64_t)1 << 63;
}

static uint64_t tc__key_f32(const void *x, int64_t i) {
    float v = ((const float *)x)[i];
    if (v != v) return UINT32_MAX;
    return tc__float_key(v == 0 ? 0 : tc__bits_of_f32(v), 32);
}

static uint64_t tc__key_f64(const void *x, int64_t i) {
    double v = ((const double *)x)[i];
    uint64_t bits = 0;
    if (v != v) return UINT64_MAX;
    if (v != 0) memcpy(&bits, &v, sizeof bits);
    return tc__float_key(bits, 64);
}

// The first of x[i, n) that may stand before x[of], n = none, by the type's own comparison, with which NaN
// may always: the keys decide. Nearly all elements of a row are behind, so 32 at once are looked at where
// the compiler has vectors. Of 16 bytes, which every CPU has: of wider ones gcc compares each element alone.
typedef int64_t (*tc__pass_fn)(const void *x, int64_t i, int64_t n, int64_t of);

enum { TC__PASSED = 32 };

#define TC__PASS_ONE(T, IS_BEHIND)                                                         \
    while (i < n && x[i] IS_BEHIND x[of]) i++;                                             \
    return i
#if TC__GNUC
#    define TC__PASS(name, T, MASK, IS_BEHIND)                                             \
        static int64_t name(const void *row, int64_t i, int64_t n, int64_t of) {           \
            typedef T vector __attribute__((vector_size(16)));                             \
            typedef MASK truth __attribute__((vector_size(16)));                           \
            enum { W = 16 / sizeof(T) };                                                   \
            const T *x = (const T *)row;                                                   \
            const vector none = {0}, last = none + x[of];                                  \
            for (; i + TC__PASSED <= n; i += TC__PASSED) {                                 \
                truth behind = ~(truth)none;                                               \
                int64_t all[2];                                                            \
                for (int k = 0; k < TC__PASSED; k += W) {                                  \
                    vector v;                                                              \
                    memcpy(&v, x + i + k, sizeof v);                                       \
                    behind &= (truth)(v IS_BEHIND last);                                   \
                }                                                                          \
                memcpy(all, &behind, sizeof all);                                          \
                if ((all[0] & all[1]) != -1) break;                                        \
            }                                                                              \
            TC__PASS_ONE(T, IS_BEHIND);                                                    \
        }
#else
#    define TC__PASS(name, T, MASK, IS_BEHIND)                                             \
        static int64_t name(const void *row, int64_t i, int64_t n, int64_t of) {           \
            const T *x = (const T *)row;                                                   \
            TC__PASS_ONE(T, IS_BEHIND);                                                    \
        }
#endif
TC__PASS(tc__pass_up_i32, int32_t, int32_t, >=)
TC__PASS(tc__pass_up_i64, int64_t, int64_t, >=)
TC__PASS(tc__pass_up_f32, float, int32_t, >=)
TC__PASS(tc__pass_up_f64, double, int64_t, >=)
TC__PASS(tc__pass_down_i32, int32_t, int32_t, <=)
TC__PASS(tc__pass_down_i64, int64_t, int64_t, <=)
TC__PASS(tc__pass_down_f32, float, int32_t, <=)
TC__PASS(tc__pass_down_f64, double, int64_t, <=)
#undef TC__PASS
#undef TC__PASS_ONE

static const struct tc__key_row {
    int dtype;
    uint64_t (*key)(const void *x, int64_t i);
    uint64_t mask;       // bits of a key
    tc__pass_fn pass[2]; // of an ascending and a descending order
} tc__keys[] = {
    {TC_I32, tc__key_i32, UINT32_MAX, {tc__pass_up_i32, tc__pass_down_i32}},
    {TC_I64, tc__key_i64, UINT64_MAX, {tc__pass_up_i64, tc__pass_down_i64}},
    {TC_F32, tc__key_f32, UINT32_MAX, {tc__pass_up_f32, tc__pass_down_f32}},
    {TC_F64, tc__key_f64, UINT64_MAX, {tc__pass_up_f64, tc__pass_down_f64}},
};

static const struct tc__key_row *tc__key_of(const tc__opaque *o) {
    const struct tc__key_row *k = tc__keys;
    while (k->dtype != (int)o->buffer[1].spec.dtype) k++;
    return k;
}

// What turns the keys of a descending order; TOPK has the word where ARGSORT has it.
static uint64_t tc__key_turn(const tc__opaque *o) {
    return o->node->attr[TC__ARGSORT_DESCENDING] ? tc__key_of(o)->mask : 0;
}

static void tc__insertion_sort(tc__keyed *x, int64_t n) {
    for (int64_t i = 1; i < n; i++) {
        tc__keyed v = x[i];
        int64_t k = i;
        for (; k && x[k - 1].key > v.key; k--) x[k] = x[k - 1];
        x[k] = v;
    }
}

// Two sorted runs, x[0, half) and x[half, n), as one in y; the left one first where keys are equal.
static void tc__merge_runs(const tc__keyed *x, int64_t half, int64_t n, tc__keyed *y) {
    int64_t i = 0, k = half;
    for (int64_t at = 0; at < n; at++) {
        int left = k >= n || (i < half && x[i].key <= x[k].key);
        y[at] = left ? x[i++] : x[k++];
    }
}

// Sorts x; gives where the result is, x or y.
static tc__keyed *tc__merge_sort(tc__keyed *x, tc__keyed *y, int64_t n) {
    int64_t run = TC__RUN;
    for (int64_t i = 0; i < n; i += run)
        tc__insertion_sort(x + i, n - i < run ? n - i : run);
    for (; run < n; run *= 2) {
        for (int64_t i = 0; i < n; i += 2 * run) {
            int64_t left = n - i, half = run < left ? run : left;
            tc__merge_runs(x + i, half, left < 2 * run ? left : 2 * run, y + i);
        }
        tc__keyed *was = x;
        x = y, y = was;
    }
    return x;
}

static int tc__digit(uint64_t key, int d) {
    return (int)(key >> d * TC__RADIX_BITS & (uint64_t)(TC__RADIX - 1));
}

// The same by digits from the lowest up; those that all keys share are left out.
static tc__keyed *tc__radix_sort(tc__keyed *x, tc__keyed *y, int64_t n, int64_t *counts) {
    memset(counts, 0, sizeof *counts * TC__DIGITS * TC__RADIX);
    for (int64_t i = 0; i < n; i++)
        for (int d = 0; d < TC__DIGITS; d++)
            counts[d * TC__RADIX + tc__digit(x[i].key, d)]++;
    for (int d = 0; d < TC__DIGITS; d++) {
        int64_t *count = counts + d * TC__RADIX, sum = 0;
        if (count[tc__digit(x[0].key, d)] == n) continue;
        for (int i = 0; i < TC__RADIX; i++) {
            int64_t here = count[i];
            count[i] = sum, sum += here;
        }
        for (int64_t i = 0; i < n; i++) y[count[tc__digit(x[i].key, d)]++] = x[i];
        tc__keyed *was = x;
        x = y, y = was;
    }
    return x;
}

static size_t tc__sort_scratch(const tc__opaque *o) {
    size_t n = (size_t)tc__opaque_width(o, 1);
    return 2 * n * sizeof(tc__keyed) + sizeof(int64_t) * TC__DIGITS * TC__RADIX;
}

// The order of a row of n elements at x, in the worker's scratch.
static const tc__keyed *tc__sort_row(const tc__opaque *o, const void *x, int64_t n,
                                     uint8_t *scratch) {
    const struct tc__key_row *k = tc__key_of(o);
    uint64_t turn = tc__key_turn(o);
    int64_t *counts = (int64_t *)(void *)scratch;
    tc__keyed *v = (tc__keyed *)(void *)(counts + TC__DIGITS * TC__RADIX);
    for (int64_t i = 0; i < n; i++) v[i].key = k->key(x, i) ^ turn, v[i].at = i;
    if (n < TC__RADIX_LEAST) return tc__merge_sort(v, v + n, n);
    return tc__radix_sort(v, v + n, n, counts);
}

static const void *tc__row_at(const tc__opaque *o, int i, int64_t row) {
    int64_t bytes = (int64_t)tc__dtype((int)o->buffer[i].spec.dtype)->bytes;
    return (const char *)tc__opaque_data(o, i) + row * tc__opaque_width(o, i) * bytes;
}

static void tc__argsort_run(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    const tc__opaque *o = tc__opaque_of(a);
    int64_t n = tc__opaque_width(o, 0), *y = (int64_t *)tc__opaque_data(o, 0) + lo * n;
    uint8_t *scratch = o->memory + (size_t)worker * o->scratch;
    for (int64_t r = lo; r < hi; r++, y += n) {
        const tc__keyed *v = tc__sort_row(o, tc__row_at(o, 1, r), n, scratch);
        for (int64_t i = 0; i < n; i++) y[i] = v[i].at;
    }
}

// ---- the first k ----

// Whether a stands behind b in the order.
static int tc__is_behind(const tc__keyed *a, const tc__keyed *b) {
    return a->key > b->key || (a->key == b->key && a->at > b->at);
}

// A heap of n whose first stands behind all others, but for heap[i]: that goes down to its place.
static void tc__heap_down(tc__keyed *heap, int64_t n, int64_t i) {
    tc__keyed v = heap[i];
    for (;;) {
        int64_t child = 2 * i + 1;
        if (child + 1 < n && tc__is_behind(&heap[child + 1], &heap[child])) child++;
        if (child >= n || !tc__is_behind(&heap[child], &v)) break;
        heap[i] = heap[child], i = child;
    }
    heap[i] = v;
}

// The first k of n elements in their order: a heap holds the best so far. Most elements only lose
// against its first.
static const tc__keyed *tc__select_row(const tc__opaque *o, const void *x, int64_t n,
                                       int64_t k, uint8_t *scratch) {
    const struct tc__key_row *row = tc__key_of(o);
    uint64_t turn = tc__key_turn(o);
    tc__keyed *heap = (tc__keyed *)(void *)scratch, v;
    for (int64_t i = 0; i < k; i++) heap[i].key = row->key(x, i) ^ turn, heap[i].at = i;
    for (int64_t i = k / 2; i-- > 0;) tc__heap_down(heap, k, i);
    tc__pass_fn pass = row->pass[turn != 0];
    for (int64_t i = k; (i = pass(x, i, n, heap[0].at)) < n; i++) {
        v.key = row->key(x, i) ^ turn, v.at = i;
        if (v.key >= heap[0].key) continue;
        heap[0] = v;
        tc__heap_down(heap, k, 0);
    }
    for (int64_t left = k; left-- > 1;) {
        v = heap[0], heap[0] = heap[left], heap[left] = v;
        tc__heap_down(heap, left, 0);
    }
    return heap;
}

enum {
    TC__SELECT_SHARE = 16
}; // below this part of the elements a heap is faster than sorting

static int tc__topk_selects(const tc__opaque *o) {
    return o->node->attr[TC__TOPK_K] <= tc__opaque_width(o, 1) / TC__SELECT_SHARE;
}

static size_t tc__topk_scratch(const tc__opaque *o) {
    if (!tc__topk_selects(o)) return tc__sort_scratch(o);
    return (size_t)o->node->attr[TC__TOPK_K] * sizeof(tc__keyed);
}

static void tc__topk_run(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    const tc__opaque *o = tc__opaque_of(a);
    int64_t n = tc__opaque_width(o, 1), k = tc__opaque_width(o, 0);
    int64_t *y = (int64_t *)tc__opaque_data(o, 0) + lo * k;
    uint8_t *scratch = o->memory + (size_t)worker * o->scratch;
    int selects = tc__topk_selects(o);
    for (int64_t r = lo; r < hi; r++, y += k) {
        const void *x = tc__row_at(o, 1, r);
        const tc__keyed *v =
            selects ? tc__select_row(o, x, n, k, scratch) : tc__sort_row(o, x, n, scratch);
        for (int64_t i = 0; i < k; i++) y[i] = v[i].at;
    }
}

// ---- scatters ----
// A row of the result is a copy of the tensor's row, then written by the index's row in its order.

typedef struct tc__scatter {
    const tc__kargs *a;
    const tc__opaque *o;
    void *to;          // the row of the result
    const void *index; // the row of the index, i32 or i64
    const void *from;  // the row of src
    int64_t n, m;      // elements of the result's row, and of the other two
    int wide;          // 1 = the index is i64
} tc__scatter;

typedef void (*tc__scatter_fn)(const tc__scatter *s);

// Index i made safe: negative ones count from the end, others are clamped and flagged.
static int64_t tc__scatter_at(const tc__scatter *s, int64_t i) {
    int64_t v = s->wide ? ((const int64_t *)s->index)[i] : ((const int32_t *)s->index)[i];
    int64_t x = v < 0 ? v + s->n : v;
    if (TC__LIKELY(x >= 0 && x < s->n)) return x;
    s->a->flag[0] = (int64_t)s->o->node->in[1] + 1;
    s->a->flag[1] = v;
    s->a->flag[2] = s->n;
    return x < 0 ? 0 : s->n - 1;
}

typedef void (*tc__row_sum_fn)(void *to, const void *from, int64_t n);

#define TC__ROW_SUM(name, type, step)                                                      \
    static void name(void *to, const void *from, int64_t n) {                              \
        const type *x = (const type *)from;                                                \
        type *y = (type *)to;                                                              \
        for (int64_t i = 0; i < n; i++) y[i] = (type)(step);                               \
    }
TC__ROW_SUM(tc__row_sum_1, uint8_t, (unsigned)y[i] + x[i])
TC__ROW_SUM(tc__row_sum_2, uint16_t, (unsigned)y[i] + x[i])
TC__ROW_SUM(tc__row_sum_4, uint32_t, y[i] + x[i])
TC__ROW_SUM(tc__row_sum_8, uint64_t, y[i] + x[i])
TC__ROW_SUM(tc__row_sum_f32, float, y[i] + x[i])
TC__ROW_SUM(tc__row_sum_f64, double, y[i] + x[i])
#undef TC__ROW_SUM

#define TC__SCATTER(name, type, step)                                                      \
    static void name(const tc__scatter *s) {                                               \
        const type *x = (const type *)s->from;                                             \
        type *y = (type *)s->to;                                                           \
        for (int64_t i = 0; i < s->m; i++) {                                               \
            int64_t at = tc__scatter_at(s, i);                                             \
            y[at] = (type)(step);                                                          \
        }                                                                                  \
    }
TC__SCATTER(tc__scatter_1, uint8_t, x[i])
TC__SCATTER(tc__scatter_2, uint16_t, x[i])
TC__SCATTER(tc__scatter_4, uint32_t, x[i])
TC__SCATTER(tc__scatter_8, uint64_t, x[i])
TC__SCATTER(tc__scatter_add_1, uint8_t, (unsigned)y[at] + x[i])
TC__SCATTER(tc__scatter_add_2, uint16_t, (unsigned)y[at] + x[i])
TC__SCATTER(tc__scatter_add_4, uint32_t, y[at] + x[i])
TC__SCATTER(tc__scatter_add_8, uint64_t, y[at] + x[i])
TC__SCATTER(tc__scatter_add_f32, float, y[at] + x[i])
TC__SCATTER(tc__scatter_add_f64, double, y[at] + x[i])
#undef TC__SCATTER

// Integers wrap, so signed ones are added as unsigned ones are; halves come as f32.
static const struct {
    size_t bytes;
    tc__scatter_fn set, add, add_float;
    tc__row_sum_fn row, row_float;
} tc__scatters[] = {
    {1, tc__scatter_1, tc__scatter_add_1, NULL, tc__row_sum_1, NULL},
    {2, tc__scatter_2, tc__scatter_add_2, NULL, tc__row_sum_2, NULL},
    {4, tc__scatter_4, tc__scatter_add_4, tc__scatter_add_f32, tc__row_sum_4,
     tc__row_sum_f32},
    {8, tc__scatter_8, tc__scatter_add_8, tc__scatter_add_f64, tc__row_sum_8,
     tc__row_sum_f64},
};

static int tc__scatter_row(int dtype) {
    int i = 0;
    while (tc__scatters[i].bytes != tc__dtype(dtype)->bytes) i++;
    return i;
}

static tc__scatter_fn tc__scatter_of(const tc__opaque *o) {
    int dtype = (int)o->buffer[0].spec.dtype, i = tc__scatter_row(dtype);
    if (o->node->op == TC_OP_SCATTER) return tc__scatters[i].set;
    return tc__is_float(dtype) ? tc__scatters[i].add_float : tc__scatters[i].add;
}

// The row of a tensor of sizes `part` at the place of row `row` of one of sizes `whole`, which are not
// smaller; -1 = it ends before.
static int64_t tc__row_of_part(const tc_spec *whole, const tc_spec *part, int64_t row) {
    int64_t at = 0, step = 1;
    for (int d = whole->rank - 2; d >= 0; d--) {
        int64_t i = row % whole->dims[d];
        if (i >= part->dims[d]) return -1;
        row /= whole->dims[d];
        at += i * step, step *= part->dims[d];
    }
    return at;
}

static void tc__scatter_run(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    const tc__opaque *o = tc__opaque_of(a);
    const tc_spec *whole = &o->buffer[0].spec, *part = &o->buffer[3].spec;
    int shared = o->node->op == TC_OP_INDEX_ADD; // one index for all rows
    tc__scatter_fn write = tc__scatter_of(o);
    tc__scatter s;
    (void)worker;
    s.a = a, s.o = o, s.n = tc__opaque_width(o, 0), s.m = tc__opaque_width(o, 3);
    s.wide = o->buffer[2].spec.dtype == TC_I64;
    size_t bytes = (size_t)s.n * tc__dtype((int)whole->dtype)->bytes;
    char *to = (char *)tc__opaque_data(o, 0) + (size_t)lo * bytes;
    for (int64_t r = lo; r < hi; r++, to += bytes) {
        int64_t row = tc__row_of_part(whole, part, r);
        if (to != tc__row_at(o, 1, r)) memcpy(to, tc__row_at(o, 1, r), bytes);
        if (row < 0 || !s.m) continue;
        s.to = to, s.from = tc__row_at(o, 3, row);
        s.index = tc__row_at(o, 2, shared ? 0 : row);
        write(&s);
    }
}

enum { TC__FILL_MOST = 1 << 15 }; // bytes that are copied at once

// The same element all over, each time twice as much as there is.
static void tc__fill_rows(char *to, const void *element, size_t size, size_t bytes) {
    size_t done = bytes < size ? bytes : size;
    memcpy(to, element, done);
    for (size_t more; done < bytes && done; done += more) {
        more = done < bytes - done && done < TC__FILL_MOST ? done : bytes - done;
        if (more > TC__FILL_MOST) more = TC__FILL_MOST;
        memcpy(to + done, to, more);
    }
}

// Rows lo to hi of the result: those of src that go there are added, in their order.
static void tc__row_add_run(const tc__kargs *a, int64_t lo, int64_t hi, int32_t worker) {
    const tc__opaque *o = tc__opaque_of(a);
    int dtype = (int)o->buffer[0].spec.dtype, i = tc__scatter_row(dtype);
    tc__row_sum_fn add =
        tc__is_float(dtype) ? tc__scatters[i].row_float : tc__scatters[i].row;
    tc__scatter s;
    (void)worker;
    s.a = a, s.o = o, s.n = o->buffer[0].spec.dims[0], s.m = o->buffer[3].spec.dims[0];
    s.wide = o->buffer[2].spec.dtype == TC_I64;
    int64_t width = tc__opaque_width(o, 0);
    size_t bytes = (size_t)width * tc__dtype(dtype)->bytes;
    char *to = (char *)tc__opaque_data(o, 0) + (size_t)lo * bytes;
    if (o->number[1] == TC__CALL_FILLED)
        tc__fill_rows(to, o->fill, tc__dtype(dtype)->bytes, (size_t)(hi - lo) * bytes);
    else if (to != tc__row_at(o, 1, lo))
        memcpy(to, tc__row_at(o, 1, lo), (size_t)(hi - lo) * bytes);
    if (s.m) s.index = tc__row_at(o, 2, 0);
    for (int64_t j = 0; j < s.m; j++) {
        int64_t at = tc__scatter_at(&s, j);
        if (at < lo || at >= hi) continue;
        add((char *)tc__opaque_data(o, 0) + (size_t)at * bytes, tc__row_at(o, 3, j), width);
    }
}

// ---- the table ----

static const tc__opaque_row tc__opaque_rows[] = {
    {TC_OP_CUMSUM, tc__cumsum_run, NULL},
    {TC_OP_CUMPROD, tc__cumprod_run, NULL},
    {TC_OP_ARGSORT, tc__argsort_run, tc__sort_scratch},
    {TC_OP_TOPK, tc__topk_run, tc__topk_scratch},
    {TC_OP_SCATTER, tc__scatter_run, NULL},
    {TC_OP_SCATTER_ADD, tc__scatter_run, NULL},
    {TC_OP_INDEX_ADD, tc__scatter_run, NULL},
    {TC_OP_ROW_ADD, tc__row_add_run, NULL},
};

// The row of an op, NULL = it is no opaque op of ours.
static const tc__opaque_row *tc__opaque_row_of(int op) {
    for (size_t i = 0; i < TC__COUNT(tc__opaque_rows); i++)
        if ((int)tc__opaque_rows[i].op == op) return &tc__opaque_rows[i];
    return NULL;
}

// ---- launches ----

// Fills what a launch of the OPAQUE kernel k of graph g has; 0 = out of memory.
static int tc__opaque_prepare(tc__opaque *o, tc__arena *a, const tc__graph *g,
                              const tc__group *k, void *const *base) {
    const tc__node *call = k->body.node.at[0];
    o->node = g->node.at[k->covers.at[0]];
    o->row = tc__opaque_row_of((int)call->attr[TC__CALL_OP]);
    o->number = call->attr + TC__CALL_BUFFERS, o->fill = call->attr + TC__CALL_FILL;
    o->base = base, o->argument[0] = o;
    o->buffer = TC__ANEW_ARRAY(a, tc_buffer, o->node->n_in + 1);
    return o->buffer != NULL;
}

// The sizes of a run: specs of the buffers, and the scratch that a worker needs.
static void tc__opaque_lay_out(tc__opaque *o, const tc__graph *g, const tc__ixenv *env) {
    for (uint32_t i = 0; i <= o->node->n_in; i++) {
        const tc__node *n = i ? tc__operand(g, o->node, i - 1) : o->node;
        tc_spec *s = &o->buffer[i].spec;
        memset(s, 0, sizeof *s);
        s->dtype = (tc_dtype)n->dtype, s->rank = n->rank;
        for (int d = 0; d < n->rank; d++) s->dims[d] = tc__ix_eval(g->ix, n->dims[d], env);
    }
    o->scratch = o->row && o->row->scratch ? (o->row->scratch(o) + 63) / 64 * 64 : 0;
}

// Cost of one of `items` rows in element steps: what is read and written, by the op's cost.
static int64_t tc__opaque_cost(const tc__opaque *o, int64_t items) {
    int64_t total = 0;
    for (uint32_t i = 0; i <= o->node->n_in; i++) {
        const tc_spec *s = &o->buffer[i].spec;
        total += tc__numel(s->rank, s->dims);
    }
    total = tc__ix_times(total, tc__ops[o->node->op].cost);
    return items > 0 ? total / items + 1 : 1;
}
