// Text builder, and numbers as exact text.
// A tc__text is always NUL-terminated, also when empty or failed. Running out of memory
// sets `failed` (already reported) and drops what follows: check once, at the end.
// Locales change %f, %e and strtod, so floats go through the functions below, never %f.

typedef struct tc__text {
    tc_ctx *ctx;
    char *at;        // owned while capacity > 0, else points at a constant ""
    size_t size;     // characters, the NUL not counted
    size_t capacity; // bytes owned
    int failed;      // 1 = something is missing
} tc__text;

// Read only, though `at` is not const: it is written to only where capacity > 0.
static const char tc__text_none[1] = "";

static void tc__text_init(tc__text *t, tc_ctx *c) {
    memset(t, 0, sizeof(*t));
    t->ctx = c;
    t->at = (char *)(uintptr_t)tc__text_none;
}

// Gives the memory back; the text is empty and may be used again.
TC__UNUSED static void tc__text_free(tc__text *t) {
    if (t->capacity) tc__free(t->ctx, t->at, t->capacity);
    tc__text_init(t, t->ctx);
}

// Empties the text but keeps its memory.
TC__UNUSED static void tc__text_clear(tc__text *t) {
    if (t->capacity) t->at[0] = 0;
    t->size = 0;
    t->failed = 0;
}

// Makes room for n more characters and the NUL.
static int tc__text_reserve(tc__text *t, size_t n) {
    size_t want = t->capacity < 128 ? 256 : t->capacity + t->capacity / 2;
    char *at;
    if (t->failed) return 0;
    if (n < t->capacity - t->size) return 1;
    if (n > SIZE_MAX / 2 || t->size > SIZE_MAX / 2 - 1) {
        t->failed = 1;
        return tc__fail(t->ctx, TC_E_TOO_BIG, "a text of %zu + %zu bytes", t->size, n);
    }
    if (want < t->size + n + 1) want = t->size + n + 1;
    at = (char *)tc__realloc(t->ctx, t->capacity ? t->at : NULL, t->capacity, want);
    t->failed = !at;
    if (!at) return 0;
    at[t->size] = 0;
    t->at = at;
    t->capacity = want;
    return 1;
}

// Appends n bytes, which must not lie in t itself.
TC__UNUSED static void tc__put_raw(tc__text *t, const void *p, size_t n) {
    if (!n || !tc__text_reserve(t, n)) return;
    memcpy(t->at + t->size, p, n);
    t->size += n;
    t->at[t->size] = 0;
}

static void tc__put_unsigned(tc__text *t, uint64_t v, int minus) {
    char digits[24];
    size_t n = sizeof digits;
    do digits[--n] = (char)('0' + v % 10);
    while (v /= 10);
    if (minus) digits[--n] = '-';
    tc__put_raw(t, digits + n, sizeof digits - n);
}

// One directive behind its '%', of those that emitted text is made of: %s %c %d %u %lld
// %llu. 0 = another.
static int tc__put_directive(tc__text *t, const char *s, va_list *args) {
    const char *word;
    char c;
    int wide = s[0] == 'l' && s[1] == 'l';
    int64_t v;
    switch (s[wide ? 2 : 0]) {
    case 's':
        if (wide) return 0;
        word = va_arg(*args, const char *);
        if (!word) word = "(null)";
        tc__put_raw(t, word, strlen(word));
        return 1;
    case 'c':
        if (wide) return 0;
        c = (char)va_arg(*args, int);
        tc__put_raw(t, &c, 1);
        return 1;
    case 'd':
        v = wide ? (int64_t)va_arg(*args, long long) : va_arg(*args, int);
        tc__put_unsigned(t, v < 0 ? 0 - (uint64_t)v : (uint64_t)v, v < 0);
        return 1;
    case 'u':
        tc__put_unsigned(
            t, wide ? va_arg(*args, unsigned long long) : va_arg(*args, unsigned), 0);
        return 1;
    default: return 0;
    }
}

// A warm start spends its time printing kernels, so the usual directives are done here;
// 0 = there is another one, and nothing was put.
static int tc__put_usual(tc__text *t, const char *fmt, va_list *args) {
    size_t before = t->size;
    for (;;) {
        const char *next = strchr(fmt, '%');
        size_t n = next ? (size_t)(next - fmt) : strlen(fmt);
        tc__put_raw(t, fmt, n);
        fmt += n;
        if (!*fmt) return 1;
        if (!tc__put_directive(t, ++fmt, args)) break;
        fmt += *fmt == 'l' ? 3 : 1;
    }
    t->size = before;
    if (t->capacity) t->at[before] = 0;
    return 0;
}

// Appends as printf does. Integers and strings only; arguments must not lie in t itself.
TC__PRINTF(2, 3)
static void tc__put(tc__text *t, const char *fmt, ...) {
    va_list args;
    int n;
    if (t->failed) return;
    va_start(args, fmt);
    n = tc__put_usual(t, fmt, &args);
    va_end(args);
    if (n) return;
    va_start(args, fmt);
    n = vsnprintf(t->at + t->size, t->capacity - t->size, fmt, args);
    va_end(args);
    if (n > 0 && (size_t)n >= t->capacity - t->size) {
        if (t->capacity) t->at[t->size] = 0; // undo the part that fitted
        if (!tc__text_reserve(t, (size_t)n)) return;
        va_start(args, fmt);
        vsnprintf(t->at + t->size, (size_t)n + 1, fmt, args);
        va_end(args);
    }
    if (n > 0) t->size += (size_t)n;
}

// Appends v / 10^digits with that many decimals, in any locale: 12345, 3 is 12.345.
TC__UNUSED static void tc__put_fixed(tc__text *t, uint64_t v, int digits) {
    uint64_t one = 1;
    for (int i = 0; i < digits; i++) one *= 10;
    tc__put(t, "%llu", (unsigned long long)(v / one));
    if (digits) tc__put(t, ".");
    while ((one /= 10) != 0) tc__put(t, "%u", (unsigned)(v / one % 10));
}

TC__INLINE uint64_t tc__double_bits(double v) {
    uint64_t bits;
    memcpy(&bits, &v, sizeof(bits));
    return bits;
}

// Multiples of 1/8 below a million are exact in a few decimal digits: 2.0, 0.125.
static int tc__put_eighths(tc__text *t, const char *sign, double v, const char *suffix) {
    static const char *const parts[] = {"0", "125", "25", "375", "5", "625", "75", "875"};
    double size = v < 0 ? -v : v;
    unsigned n = size < 1e6 ? (unsigned)(size * 8) : 0;
    if ((double)n != size * 8) return 0;
    tc__put(t, "%s%u.%s%s", sign, n / 8, parts[n % 8], suffix);
    return 1;
}

// Appends a C literal of exactly this value: 2.0f, 0.125f, -0x1.5p+9f; without the f for
// doubles. A float's v is rounded to float first. A negative number is not parenthesised;
// (1.0f/0.0f), (-1.0f/0.0f) and (0.0f/0.0f) are. The payload of a NaN is not kept.
TC__UNUSED static void tc__put_hexfloat(tc__text *t, double v, int is_f32) {
    const uint64_t implicit = UINT64_C(1) << 52;
    double value = is_f32 ? (double)(float)v : v;
    const char *suffix = is_f32 ? "f" : "";
    uint64_t bits = tc__double_bits(value), fraction = bits & (implicit - 1);
    const char *sign = bits >> 63 ? "-" : "";
    int exponent = (int)(bits >> 52 & 0x7ff), digits = 13;
    if (exponent == 0x7ff) {
        if (fraction) tc__put(t, "(0.0%s/0.0%s)", suffix, suffix);
        if (!fraction) tc__put(t, "(%s1.0%s/0.0%s)", sign, suffix, suffix);
        return;
    }
    if (tc__put_eighths(t, sign, value, suffix)) return;
    if (!exponent) // subnormal: shift until the leading 1 stands before the point
        for (exponent = 1; !(fraction & implicit); exponent--) fraction <<= 1;
    fraction &= implicit - 1;
    for (; digits && !(fraction & 15); digits--) fraction >>= 4;
    tc__put(t, "%s0x1", sign);
    if (digits) tc__put(t, ".%0*llx", digits, (unsigned long long)fraction);
    tc__put(t, "p%+d%s", exponent - 1023, suffix);
}

// Fewest decimal digits that read back as v (> 0, finite): d[0].d[1]d[2]... * 10^result.
// Tries all lengths: some microseconds, for dumps only. The locale's decimal point may be
// any text, so digits are picked out, and strtod reads it under the same locale.
static int tc__shortest_digits(double v, char digits[32]) {
    char buffer[64];
    const char *p;
    int precision, n = 0;
    for (precision = 0; precision < 17; precision++) {
        snprintf(buffer, sizeof(buffer), "%.*e", precision, v);
        if (tc__double_bits(strtod(buffer, NULL)) == tc__double_bits(v)) break;
    }
    for (p = buffer; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9') digits[n++] = *p;
    digits[n] = 0;
    return *p ? (int)strtol(p + 1, NULL, 10) : 0;
}

// Appends the shortest decimal that reads back as v: 2, -0.1, 1e-30, 12.5, inf, nan.
TC__UNUSED static void tc__put_double(tc__text *t, double v) {
    char digits[32];
    uint64_t bits = tc__double_bits(v), size = bits & (UINT64_MAX >> 1);
    int exponent, n;
    if (size > UINT64_C(0x7ff) << 52) {
        tc__put(t, "nan");
        return;
    }
    if (bits >> 63) tc__put(t, "-");
    if (!size || size == UINT64_C(0x7ff) << 52) {
        tc__put(t, size ? "inf" : "0");
        return;
    }
    exponent = tc__shortest_digits(v < 0 ? -v : v, digits);
    n = (int)strlen(digits);
    if (exponent < -5 || exponent > 15)
        tc__put(t, "%.1s%s%se%d", digits, n > 1 ? "." : "", digits + 1, exponent);
    else if (exponent < 0)
        tc__put(t, "0.%.*s%s", -exponent - 1, "0000", digits);
    else if (n <= exponent + 1)
        tc__put(t, "%s%.*s", digits, exponent + 1 - n, "0000000000000000");
    else
        tc__put(t, "%.*s.%s", exponent + 1, digits, digits + exponent + 1);
}

// ---- strings of their own

// What C names are made of.
static int tc__is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           c == '_';
}

// A copy that tc__string_free gives back; NULL for NULL, or with no memory, reported.
static const char *tc__string_copy(tc_ctx *c, const char *s) {
    if (!s) return NULL;
    char *copy = (char *)tc__alloc(c, strlen(s) + 1);
    if (copy) memcpy(copy, s, strlen(s) + 1);
    return copy;
}

static void tc__string_free(tc_ctx *c, const char *s) {
    if (s) tc__free(c, (void *)(uintptr_t)s, strlen(s) + 1);
}
