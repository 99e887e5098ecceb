// Element types: facts from tables/dtypes.def, promotion, and single values in and out of memory.

typedef enum tc__category { TC__BOOL, TC__INT, TC__FLOAT } tc__category;

// Register classes: what a value is while a kernel computes with it. bool is a mask in class i32.
typedef enum tc__class {
    TC__CLASS_f32,
    TC__CLASS_f64,
    TC__CLASS_i32,
    TC__CLASS_i64,
    TC__CLASSES
} tc__class;

typedef struct tc__dtype_info {
    const char *name;
    uint32_t bytes;
    tc__category category;
    tc__class reg;
    const char *c_type, *cuda_type, *numpy;
} tc__dtype_info;

#include "out/dtype_info.inc"

static const char *const tc__class_names[TC__CLASSES] = {"f32", "f64", "i32", "i64"};

static const tc__dtype_info *tc__dtype(int t) { return &tc__dtypes[t]; }
static int tc__dtype_valid(int t) { return t >= 0 && t < TC_DTYPE_COUNT; }
static int tc__is_float(int t) { return tc__dtypes[t].category == TC__FLOAT; }
static int tc__is_int(int t) { return tc__dtypes[t].category == TC__INT; }

// PyTorch's promotion of two tensors: the higher category wins, then the wider type.
static int tc__promote(int a, int b) {
    tc__category x = tc__dtypes[a].category, y = tc__dtypes[b].category;
    if (x != y) return x > y ? a : b;
    return a > b ? a : b;
}

// A scalar operand only raises the category: i32 + 1.5 is f32, f64 * 2 stays f64.
static int tc__promote_scalar(int a, double s) {
    int whole = s == (double)(int64_t)(s > -9e18 && s < 9e18 ? s : 0.5);
    if (tc__is_float(a)) return a;
    if (!whole) return TC_F32;
    return a == TC_BOOL ? TC_I64 : a;
}

// One scalar: floats as f, bool and integers as i. Which one is told by the dtype beside it.
typedef union tc__value {
    double f;
    int64_t i;
} tc__value;

static int64_t tc__double_to_i64(double v) {
    if (v != v) return 0;
    if (v >= 9223372036854775808.0) return INT64_MAX;
    if (v <= -9223372036854775808.0) return INT64_MIN;
    return (int64_t)v;
}

static int64_t tc__saturate(double v, int64_t lo, int64_t hi) {
    if (v != v) return 0;
    return v <= (double)lo ? lo : v >= (double)hi ? hi : (int64_t)v;
}

// v as dtype t holds it: rounded, wrapped or saturated as the op CAST would.
static tc__value tc__value_cast(tc__value v, int from, int to) {
    tc__value r;
    double f = tc__is_float(from) ? v.f : (double)v.i;
    switch ((tc_dtype)to) {
    case TC_DTYPE_COUNT: break;
    case TC_F64: r.f = f; return r;
    case TC_F32: r.f = (double)(tc__is_float(from) ? (float)v.f : (float)v.i); return r;
    case TC_BOOL: r.i = tc__is_float(from) ? v.f != 0 : v.i != 0; return r;
    case TC_U8: r.i = tc__is_float(from) ? tc__saturate(f, 0, 255) : v.i & 255; return r;
    case TC_I32:
        r.i = tc__is_float(from) ? tc__saturate(f, INT32_MIN, INT32_MAX)
                                 : (int32_t)(uint32_t)v.i;
        return r;
    case TC_I64: r.i = tc__is_float(from) ? tc__double_to_i64(v.f) : v.i; return r;
    }
    r.i = 0;
    return r;
}

static tc__value tc__value_of(double s, int t) {
    tc__value v;
    v.f = s;
    return tc__value_cast(v, TC_F64, t);
}

// The element `i` at `p`.
static tc__value tc__value_load(const void *p, int64_t i, int t) {
    tc__value v;
    switch ((tc_dtype)t) {
    case TC_DTYPE_COUNT: break;
    case TC_BOOL:
    case TC_U8: v.i = ((const uint8_t *)p)[i]; return v;
    case TC_I32: v.i = ((const int32_t *)p)[i]; return v;
    case TC_I64: v.i = ((const int64_t *)p)[i]; return v;
    case TC_F32: v.f = (double)((const float *)p)[i]; return v;
    case TC_F64: v.f = ((const double *)p)[i]; return v;
    }
    v.i = 0;
    return v;
}

static void tc__value_store(void *p, int64_t i, int t, tc__value v) {
    switch ((tc_dtype)t) {
    case TC_DTYPE_COUNT: break;
    case TC_BOOL:
    case TC_U8: ((uint8_t *)p)[i] = (uint8_t)v.i; return;
    case TC_I32: ((int32_t *)p)[i] = (int32_t)v.i; return;
    case TC_I64: ((int64_t *)p)[i] = v.i; return;
    case TC_F32: ((float *)p)[i] = (float)v.f; return;
    case TC_F64: ((double *)p)[i] = v.f; return;
    }
}
