// What block loops work on: registers, the tables of an instruction set, and the moves
// between memory and registers that need no vectors. The interpreter (exec/interp.c) runs
// a LOOP list over blocks of up to TC__BLOCK elements; a value of the list is a register.
//
// A register is a block of its class: f32 float, f64 double, i32 int32_t, i64
// int64_t; gen/tables/dtypes.def tells the class of a dtype. A bool is 0 or isa->truth. A uniform value is one vector of equal lanes, read
// with mask 0, so every loop takes it as any operand:  operand i of x is  x->at[i &
// x->mask]. Loops compute n rounded up to isa->lanes elements: registers have the room.

enum {
    TC__BLOCK =
        1024, // elements of a block; of short rows, or of few registers, four times as many
    TC__FOLD_LANES = 32,  // logical lanes of a reduction
    TC__BLOCK_VECTOR = 8, // elements of the widest vector: what n is rounded up to
    TC__LOOP_FROM = 5,    // what casts start from: bool and the classes
    TC__TILE_ROWS = 4,    // rows and columns of one step of a contraction
    TC__TILE_COLS = 16
};

typedef struct tc__reg {
    void *at;     // elements of the value's class
    int64_t mask; // -1, or 0 for a uniform value
} tc__reg;

// d[0..n) = op(x, y, z); operands the op does not have are not looked at.
typedef void (*tc__block_fn)(void *d, const tc__reg *x, const tc__reg *y, const tc__reg *z,
                             int64_t n);

// Element i of x into lane i % 32 of acc. x NULL: the lanes are combined, into lane 0; the others are anything.
typedef void (*tc__fold_fn)(void *acc, const tc__reg *x, int64_t n);

// Element i of x * y into lane i % 32 of acc, added.
typedef void (*tc__fold_mul_fn)(void *acc, const tc__reg *x, const tc__reg *y, int64_t n);

// d[0..n) = in[0] * in[1] + (in[2] * in[3] + in[4]).
enum { TC__FMA2_OPERANDS = 5 };
typedef void (*tc__fma2_fn)(void *d, const tc__reg *const *in, int64_t n);

// d[0..n) = x op y of elements of 1 or 2 bytes in memory, which wrap.
typedef void (*tc__narrow_fn)(void *d, const void *x, const void *y, int64_t n);
enum { TC__NARROW_ADD, TC__NARROW_SUB, TC__NARROW_MUL, TC__NARROW_OPS };

// d = random elements by the i64 indices of x.
typedef void (*tc__random_fn)(void *d, const tc__reg *x, uint64_t seed, uint64_t draw,
                              int64_t n);

// c[4][16] (rows ldc apart) = or += a[k][4] * b[k][16] (rows of b ldb apart), k in order.
typedef void (*tc__tile_fn)(void *c, int64_t ldc, const void *a, const void *b, int64_t ldb,
                            int64_t k, int first);

// Lane l of best, which element at[l] < index has won, against elements index + l, index + l + 32, ...
// of x: n elements in all, a multiple of 32. The first among equals stays, NaN beats all.
typedef void (*tc__arg_lanes_fn)(void *best, int64_t *at, const void *x, int64_t index,
                                 int less, int64_t n);

// n elements between memory and registers.
typedef void (*tc__convert_fn)(void *d, const void *s, int64_t n);

// One instruction set: the same functions with the same bits.
typedef struct tc__isa {
    const char *name;
    int32_t lanes;                             // n is rounded up to this
    int32_t truth;                             // the register form of true
    const tc__block_fn (*alu)[TC_DTYPE_COUNT]; // by op and dtype of the operands
    const tc__fold_fn (*fold)[TC_DTYPE_COUNT];
    tc__fold_mul_fn fold_mul[TC__CLASSES];      // NULL: products are values of their own
    tc__fma2_fn fma2[TC__CLASSES];              // NULL: there is none
    tc__narrow_fn narrow[2][TC__NARROW_OPS];    // of 1 and 2 bytes
    const tc__block_fn (*cast)[TC_DTYPE_COUNT]; // by tc__loop_from and to
    // Memory that is narrower than a register; NULL = it is not.
    tc__convert_fn in[TC_DTYPE_COUNT], out[TC_DTYPE_COUNT];
    tc__random_fn random[2][2]; // kind; f32, f64
    tc__tile_fn tile[TC__CLASSES];
    tc__arg_lanes_fn arg[TC__CLASSES];
    tc__convert_fn second;                           // d[i] = s[2 * i], elements of 4 bytes
    tc__convert_fn turned;                           // d[i] = s[-i]
    void (*fill)(void *d, int64_t v, int64_t bytes); // d[0..bytes) = v, v, ...
    void (*ramp)(int64_t *d, int64_t at, int64_t step, int64_t n); // d[i] = at + i * step
    void (*ramp_i32)(int32_t *d, int64_t at, int64_t step, int64_t n); // which all fit
    const char *(*fault)(void); // what its compiler changed
} tc__isa;

// One register element of any class.
typedef union tc__word {
    float f32;
    double f64;
    int32_t i32;
    int64_t i64;
} tc__word;

// The row of tc__isa.cast.
static int tc__loop_from(int dtype) {
    return dtype == TC_BOOL ? 0 : 1 + (int)tc__dtype(dtype)->reg;
}

static int64_t tc__reg_width(int dtype) {
    tc__class c = tc__dtype(dtype)->reg;
    return c == TC__CLASS_f64 || c == TC__CLASS_i64 ? 8 : 4;
}

static tc__word tc__word_of(const tc__isa *isa, int dtype, tc__value v) {
    tc__word r;
    r.i64 = 0;
    switch (tc__dtype(dtype)->reg) {
    case TC__CLASS_f32: r.f32 = tc__f32_of(v.f); return r;
    case TC__CLASS_f64: r.f64 = v.f; return r;
    case TC__CLASS_i32: r.i32 = (int32_t)v.i; break;
    case TC__CLASS_i64: r.i64 = v.i; return r;
    case TC__CLASSES: break;
    }
    if (dtype == TC_BOOL) r.i32 = v.i ? isa->truth : 0;
    return r;
}

// d[0..n) = the element at s, of 1, 2, 4 or 8 bytes.
static void tc__fill(const tc__isa *isa, void *d, const void *s, int64_t bytes, int64_t n) {
    uint64_t v8 = 0;
    uint32_t v4 = 0;
    uint16_t v2;
    if (bytes == 1) v8 = *(const uint8_t *)s * UINT64_C(0x0101010101010101);
    if (bytes == 2) memcpy(&v2, s, 2), v8 = v2 * UINT64_C(0x0001000100010001);
    if (bytes == 4) memcpy(&v4, s, 4), v8 = v4 * UINT64_C(0x0000000100000001);
    if (bytes == 8) memcpy(&v8, s, 8);
    isa->fill(d, (int64_t)v8, n * bytes);
}

// p[i * to_step] = q[i * from_step], elements of 1, 2, 4 or 8 bytes.
#define TC__COPY_STEPS(T)                                                                  \
    {                                                                                      \
        const T first = *(const T *)q;                                                     \
        for (int64_t i = 0; i < n && from; i++)                                            \
            ((T *)p)[i * to] = ((const T *)q)[i * from];                                   \
        for (int64_t i = 0; i < n && !from; i++) ((T *)p)[i * to] = first;                 \
    }
static void tc__copy_steps(void *p, int64_t to, const void *q, int64_t from, int64_t bytes,
                           int64_t n) {
    if (n <= 0) return;
    if (bytes == 1) TC__COPY_STEPS(uint8_t)
    if (bytes == 2) TC__COPY_STEPS(uint16_t)
    if (bytes == 4) TC__COPY_STEPS(uint32_t)
    if (bytes == 8) TC__COPY_STEPS(uint64_t)
}
#undef TC__COPY_STEPS

enum { TC__NARROW = 128 }; // elements that are converted at a time

// ---- memory to registers: n elements of s from `at`, `step` apart, to d[j..j+n)

// What moves elements of a dtype that lie `step` apart, the first at hand, to a register; NULL: a plain copy does.
static tc__convert_fn tc__taker(const tc__isa *isa, int dtype, int64_t step) {
    if (step == 1 || isa->in[dtype]) return step == 1 ? isa->in[dtype] : NULL;
    if (tc__reg_width(dtype) != 4) return NULL;
    return step == 2 ? isa->second : step == -1 ? isa->turned : NULL;
}

static void tc__take(const tc__isa *isa, int dtype, void *d, int64_t j, const void *s,
                     int64_t at, int64_t step, int64_t n) {
    int64_t bytes = tc__dtype(dtype)->bytes, part;
    tc__convert_fn in = isa->in[dtype];
    const char *p = (const char *)s + at * bytes;
    char *to = (char *)d + j * tc__reg_width(dtype);
    tc__convert_fn at_once = tc__taker(isa, dtype, step);
    uint16_t t[TC__NARROW];
    if (n <= 0) return;
    if (at_once) {
        at_once(to, p, n);
        return;
    }
    if (step == 1) {
        memcpy(to, p, (size_t)(n * bytes));
        return;
    }
    if (!in && !step) {
        tc__fill(isa, to, p, bytes, n);
        return;
    }
    if (!in) {
        tc__copy_steps(to, 1, p, step, bytes, n);
        return;
    }
    for (; n > 0; n -= part, p += part * step * bytes, to += part * 4) {
        part = n < TC__NARROW ? n : (int64_t)TC__NARROW;
        tc__copy_steps(t, 1, p, step, bytes, part);
        in(to, t, part);
    }
}

// p[i] = q[at[i]] where keep[i] (NULL: everywhere), elements of 1, 2, 4 or 8 bytes.
#define TC__PICK(T)                                                                        \
    for (int64_t i = 0; i < n; i++)                                                        \
        if (!keep || keep[i]) ((T *)p)[i] = ((const T *)q)[at[i]]
static void tc__pick(void *p, const void *q, const int64_t *at, const uint8_t *keep,
                     int64_t bytes, int64_t n) {
    if (bytes == 1) TC__PICK(uint8_t);
    if (bytes == 2) TC__PICK(uint16_t);
    if (bytes == 4) TC__PICK(uint32_t);
    if (bytes == 8) TC__PICK(uint64_t);
}
#undef TC__PICK

// The same by indices, n <= TC__NARROW: d[j + i] = s[at[i]] where keep[i] (NULL: everywhere), else d
// stays.
static void tc__gather(const tc__isa *isa, int dtype, void *d, int64_t j, const void *s,
                       const int64_t *at, const uint8_t *keep, int64_t n) {
    int64_t bytes = tc__dtype(dtype)->bytes;
    char *to = (char *)d + j * tc__reg_width(dtype);
    uint16_t t[TC__NARROW];
    if (!isa->in[dtype]) {
        tc__pick(to, s, at, keep, bytes, n);
        return;
    }
    if (!keep) {
        tc__pick(t, s, at, NULL, bytes, n);
        isa->in[dtype](to, t, n);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        if (keep[i]) tc__take(isa, dtype, d, j + i, s, at[i], 0, 1);
}

// ---- registers to memory: d[at + i * step] = x[j + i]

static void tc__give(const tc__isa *isa, int dtype, void *d, int64_t at, int64_t step,
                     const tc__reg *x, int64_t j, int64_t n) {
    int64_t bytes = tc__dtype(dtype)->bytes, part;
    tc__convert_fn out = isa->out[dtype];
    char *to = (char *)d + at * bytes;
    const char *from = (const char *)x->at + (x->mask ? j * tc__reg_width(dtype) : 0);
    uint16_t t[TC__NARROW];
    if (n <= 0) return;
    if (step == 1 && x->mask) {
        if (out)
            out(to, from, n);
        else if (to != from)
            memmove(to, from, (size_t)(n * bytes));
        return;
    }
    if (step == 1) {
        if (out) out(t, from, 1), from = (const char *)t;
        tc__fill(isa, to, from, bytes, n);
        return;
    }
    if (!out) {
        tc__copy_steps(to, step, from, x->mask ? 1 : 0, bytes, n);
        return;
    }
    for (; n > 0; n -= part, to += part * step * bytes, from += x->mask ? part * 4 : 0) {
        part = n < TC__NARROW ? n : (int64_t)TC__NARROW;
        out(t, from, x->mask ? part : 1);
        tc__copy_steps(to, step, t, x->mask ? 1 : 0, bytes, part);
    }
}

// ---- arg-reductions: a state is (value, index) in two arrays

// Does (v, i) win over (best, at)? `less`: argmin. The lower index wins among equals.
#define TC__ARG_WINS(v, i, best, at, less)                                                 \
    ((best) == (best) && (((less) ? (v) < (best) : (v) > (best)) || (v) != (v))) ||        \
        (((v) == (best) || ((v) != (v) && (best) != (best))) && (i) < (at))

#define TC__ARG_LOOPS(X, T)                                                                \
    static void tc__arg_fold_##X(void *b, int64_t *at, const tc__reg *x, int64_t index,    \
                                 int64_t step, int64_t lanes, int less, int64_t n)         \
    {                                                                                      \
        T *best = (T *)b;                                                                  \
        const T *v = (const T *)x->at;                                                     \
        for (int64_t i = 0; i < n; i++, index += step) {                                   \
            int64_t l = i & lanes;                                                         \
            const T w = v[i & x->mask];                                                    \
            if (TC__ARG_WINS(w, index, best[l], at[l], less)) best[l] = w, at[l] = index;  \
        }                                                                                  \
    }                                                                                      \
    static void tc__arg_merge_##X(void *b, int64_t *at, const void *b2,                    \
                                  const int64_t *at2, int less, int64_t n)                 \
    {                                                                                      \
        T *best = (T *)b;                                                                  \
        const T *v = (const T *)b2;                                                        \
        for (int64_t i = 0; i < n; i++) {                                                  \
            const T w = v[i];                                                              \
            if (TC__ARG_WINS(w, at2[i], best[i], at[i], less))                             \
                best[i] = w, at[i] = at2[i];                                               \
        }                                                                                  \
    }

TC__ARG_LOOPS(f32, float)
TC__ARG_LOOPS(f64, double)
TC__ARG_LOOPS(i32, int32_t)
TC__ARG_LOOPS(i64, int64_t)

// Element i of x, whose index is index + i * step, into lane i & lanes.
typedef void (*tc__arg_fold_fn)(void *best, int64_t *at, const tc__reg *x, int64_t index,
                                int64_t step, int64_t lanes, int less, int64_t n);
// Lane i of the second state into lane i of the first.
typedef void (*tc__arg_merge_fn)(void *best, int64_t *at, const void *best2,
                                 const int64_t *at2, int less, int64_t n);

static const tc__arg_fold_fn tc__arg_fold[TC__CLASSES] = {
    tc__arg_fold_f32, tc__arg_fold_f64, tc__arg_fold_i32, tc__arg_fold_i64};
static const tc__arg_merge_fn tc__arg_merge[TC__CLASSES] = {
    tc__arg_merge_f32, tc__arg_merge_f64, tc__arg_merge_i32, tc__arg_merge_i64};
