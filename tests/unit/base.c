// Unit tests of gen/base: prelude, error, mem, text, hash. C99 and C++11.
// gen/out is made by the generator: cc -std=c99 -Igen tests/unit/base.c -lpthread
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE 1
#endif
static int failures_of_assert;
#undef TC_ASSERT
#define TC_ASSERT(cond) ((void)((cond) ? 0 : failures_of_assert++))

#include "api/config.h"

#include "out/status.inc"

#include "base/prelude.c"

#include "base/error.c"

#include "base/mem.c"

#include "base/text.c"

#include "base/hash.c"

#include <locale.h>

struct tc_ctx {
    tc__core core;
};

static int passed, failed;

static void check(int ok, const char *what, int line) {
    passed += ok;
    failed += !ok;
    if (!ok) printf("FAIL line %d: %s\n", line, what);
}
#define CHECK(cond)         check((cond) ? 1 : 0, #cond, __LINE__)
#define CHECK_TEXT(t, want) check_text(t, want, __LINE__)

static void check_text(const tc__text *t, const char *want, int line) {
    if (strcmp(t->at, want)) printf("got \"%s\"\n", t->at);
    check(!strcmp(t->at, want) && t->size == strlen(want), want, line);
}

// splitmix64: every bit pattern turns up
static uint64_t random64(uint64_t *state) {
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

// ---- allocator hook that checks sizes and fails on demand

typedef struct test_heap {
    size_t bytes;
    int blocks, wrong_sizes;
    int until_failure; // fails every allocation once this reaches 0; negative = never
} test_heap;

static void *test_realloc(void *user, void *p, size_t old, size_t size) {
    test_heap *heap = (test_heap *)user;
    uint64_t *block = p ? (uint64_t *)p - 2 : NULL;
    if (block && block[0] != old) heap->wrong_sizes++;
    if (size && heap->until_failure >= 0 && heap->until_failure-- == 0) {
        heap->until_failure = 0;
        return NULL;
    }
    heap->bytes += size - (block ? old : 0);
    heap->blocks += !block - !size;
    if (!size) {
        free(block);
        return NULL;
    }
    block = (uint64_t *)realloc(block, size + 16);
    if (!block) abort();
    block[0] = size;
    if (!p) memset(block + 2, 0xa5, size);
    return block + 2;
}

static void context_init(tc_ctx *c, test_heap *heap) {
    memset(c, 0, sizeof(*c));
    memset(heap, 0, sizeof(*heap));
    heap->until_failure = -1;
    c->core.hook.realloc = test_realloc;
    c->core.hook.user = heap;
}

static void context_check(tc_ctx *c, test_heap *heap) {
    CHECK(heap->bytes == 0 && heap->blocks == 0 && heap->wrong_sizes == 0);
    CHECK(c->core.bytes == 0);
    CHECK(failures_of_assert == 0);
}

// ---- prelude

static void test_prelude(void) {
    volatile uint32_t a = 5;
    volatile uint64_t b = 5;
    int x = 0, array[7];
    void *volatile p = NULL;
    CHECK(TC__COUNT(array) == 7);
    CHECK(tc__atomic_add32(&a, 3) == 5 && tc__atomic_load32(&a) == 8);
    CHECK(!tc__atomic_cas32(&a, 7, 1) && tc__atomic_cas32(&a, 8, 1) && a == 1);
    CHECK(tc__atomic_add64(&b, UINT64_MAX) == 5 && tc__atomic_load64(&b) == 4);
    CHECK(!tc__atomic_cas64(&b, 5, 1) && tc__atomic_cas64(&b, 4, 1) && b == 1);
    tc__atomic_store32(&a, 9);
    tc__atomic_store64(&b, 9);
    CHECK(a == 9 && b == 9);
    CHECK(!tc__atomic_cas_pointer(&p, &x, NULL) && tc__atomic_cas_pointer(&p, NULL, &x));
    CHECK(tc__atomic_load_pointer(&p) == &x);
    tc__atomic_store_pointer(&p, NULL);
    CHECK(!p);
    tc__atomic_fence();
    tc__cpu_pause();
}

// ---- error

typedef struct test_log {
    int lines, level;
    char channel[32], text[2048];
} test_log;

static void test_logger(void *user, int level, const char *channel, const char *text) {
    test_log *log = (test_log *)user;
    log->lines++;
    log->level = level;
    snprintf(log->channel, sizeof(log->channel), "%s", channel);
    snprintf(log->text, sizeof(log->text), "%s", text);
}

static void test_error(void) {
    tc_ctx c;
    test_heap heap;
    char big[2000];
    int i, n = 0;
    context_init(&c, &heap);
    c.core.site_file = "user.c";
    c.core.site_line = 42;
    CHECK(tc__fail(&c, TC_E_SHAPE, "sizes %d and %s", 3, "four") == 0);
    c.core.site_line = 43;
    CHECK(tc__fail(&c, TC_E_DTYPE, "later") == 0);
    CHECK(c.core.error_item == TC_E_SHAPE &&
          !strcmp(c.core.error_text, "sizes 3 and four"));
    CHECK(c.core.error_line == 42 && !strcmp(c.core.error_file, "user.c"));
    tc__error_clear(&c);
    CHECK(!c.core.error_item && !c.core.error_text[0] && !c.core.error_file);
    memset(big, 'x', sizeof(big));
    big[sizeof(big) - 1] = 0;
    tc__fail(&c, TC_E_IO, "%s", big);
    CHECK(strlen(c.core.error_text) == TC__ERROR_TEXT - 1);
    CHECK(!strcmp(c.core.error_text + TC__ERROR_TEXT - 5, "x..."));
    CHECK(tc__fail(NULL, TC_E_IO, "no context") == 0);
    CHECK(!strcmp(tc__error_name(TC_OK), "TC_OK"));
    CHECK(!strcmp(tc__error_name(TC_E_NULL), "TC_E_NULL"));
    CHECK(!strcmp(tc__error_name(TC_E_INTERNAL), "TC_E_INTERNAL"));
    CHECK(!strcmp(tc__error_name(1), "?") && !strcmp(tc__error_name(INT_MIN), "?"));
    CHECK(!strcmp(tc__error_name(-TC__ERRORS - 1), "?"));
    CHECK(!*tc__error_doc(0) && !*tc__error_doc(1) && !*tc__error_doc(INT_MIN));
    for (i = -1; i >= -TC__ERRORS; i--) n += strlen(tc__error_doc(i)) > 20;
    CHECK(n == TC__ERRORS);
}

static void test_log_channels(void) {
    tc_ctx c;
    test_heap heap;
    test_log log;
    char big[3000];
    int i, n = 0;
    context_init(&c, &heap);
    memset(&log, 0, sizeof(log));
    c.core.logger.log = test_logger;
    c.core.logger.user = &log;
    tc__log(&c, TC__LOG_CACHE, "silent %d", 1);
    tc__log_text(&c, TC__LOG_CACHE, "silent");
    CHECK(log.lines == 0);
    CHECK(tc__log_parse(&c, "graph,cache"));
    CHECK(c.core.log_mask == (1u << TC__LOG_GRAPH | 1u << TC__LOG_CACHE));
    tc__log(&c, TC__LOG_CACHE, "hit %d", 7);
    CHECK(log.lines == 1 && log.level == 0);
    CHECK(!strcmp(log.channel, "cache") && !strcmp(log.text, "hit 7"));
    memset(big, 'x', sizeof(big));
    big[sizeof(big) - 1] = 0;
    tc__log(&c, TC__LOG_GRAPH, "%s", big);
    CHECK(strlen(log.text) == TC__LOG_LINE - 1 && strstr(log.text, "xx...") != NULL);
    big[1500] = 0;
    tc__log_text(&c, TC__LOG_GRAPH, big);
    CHECK(strlen(log.text) == 1500);
    CHECK(tc__log_parse(&c, "+all") && c.core.log_mask == TC__LOG_ALL);
    CHECK(tc__log_parse(&c, "-perf, -graph_breaks") && !tc__log_on(&c, TC__LOG_PERF));
    CHECK(!tc__log_on(&c, TC__LOG_GRAPH_BREAKS) && tc__log_on(&c, TC__LOG_GRAPH));
    CHECK(tc__log_parse(&c, "-all") && c.core.log_mask == 0);
    CHECK(tc__log_parse(&c, NULL) && tc__log_parse(&c, "") && tc__log_parse(&c, " ,, "));
    CHECK(c.core.log_mask == 0 && log.lines == 3);
    CHECK(!tc__log_parse(&c, "graph,nonsense,fusion,+,gra,wrong"));
    CHECK(log.lines == 4 && log.level == 1 && !strcmp(log.channel, "warning"));
    CHECK(strstr(log.text, "\"nonsense\"") && strstr(log.text, " graph_breaks "));
    CHECK(strstr(log.text, " autotune all") && !strstr(log.text, " aot "));
    CHECK(c.core.log_mask == (1u << TC__LOG_GRAPH | 1u << TC__LOG_FUSION));
    for (i = 0; i < TC__LOG_COUNT; i++) {
        c.core.log_mask = 0;
        n += tc__log_parse(&c, tc__log_channels[i].name) && c.core.log_mask == 1u << i;
    }
    CHECK(n == TC__LOG_COUNT);
    CHECK(heap.blocks == 0);
}

static void test_contexts(void) {
    static tc_ctx c[TC__CTX_SLOTS];
    int i, n = 0;
    for (i = 1; i < TC__CTX_SLOTS; i++)
        n += tc__ctx_register(&c[i], 1, (uint64_t)i) == i &&
             tc__ctx_at((unsigned)i) == &c[i];
    CHECK(n == 255);
    CHECK(tc__ctx_register(&c[0], 1, 0) == 0);
    CHECK(!tc__ctx_at(0) && !tc__ctx_at(256) && !tc__ctx_at(UINT_MAX));
    tc__ctx_unregister(77);
    CHECK(!tc__ctx_at(77) && tc__ctx_register(&c[0], 1, 0) == 77 &&
          tc__ctx_at(77) == &c[0]);
    for (i = -1; i <= TC__CTX_SLOTS; i++) tc__ctx_unregister(i);
    for (n = 0, i = 0; i < TC__CTX_SLOTS; i++) n += tc__ctx_at((unsigned)i) != NULL;
    CHECK(n == 0);
}

#if TC__THREADS
static volatile uint32_t slot_users[TC__CTX_SLOTS], slot_clashes;

static void *slot_thread(void *c) {
    int i;
    for (i = 0; i < 20000; i++) {
        int slot = tc__ctx_register((tc_ctx *)c, 1, 0);
        if (tc__atomic_add32(&slot_users[slot], 1) || tc__ctx_at((unsigned)slot) != c)
            tc__atomic_add32(&slot_clashes, 1);
        tc__atomic_add32(&slot_users[slot], UINT32_MAX);
        tc__ctx_unregister(slot);
    }
    return NULL;
}

static void test_context_threads(void) {
    tc_ctx c[4];
    pthread_t threads[4];
    int i;
    for (i = 0; i < 4; i++)
        if (pthread_create(&threads[i], NULL, slot_thread, &c[i])) abort();
    for (i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    CHECK(slot_clashes == 0);
}
#else
static void test_context_threads(void) {}
#endif

// ---- mem

static int all_zero(const void *p, size_t n) {
    const uint8_t *at = (const uint8_t *)p;
    while (n && !*at) at++, n--;
    return n == 0;
}

static void test_block_sizes(void) {
    tc_ctx c;
    test_heap heap;
    size_t size = 1, i;
    int ok = 1;
    uint64_t *p;
    void *q;
    context_init(&c, &heap);
    CHECK(tc__mul_size(6, 7, &size) && size == 42 && tc__mul_size(SIZE_MAX, 0, &size));
    CHECK(size == 0 && tc__mul_size(SIZE_MAX / 3, 3, &size));
    CHECK(!tc__mul_size(SIZE_MAX / 3 + 1, 3, &size) && size == SIZE_MAX / 3 * 3);
    p = TC__NEW_ARRAY(&c, uint64_t, 10);
    CHECK(p && all_zero(p, 80) && c.core.bytes == 80 && c.core.allocations == 1);
    p[9] = 9;
    p = (uint64_t *)tc__realloc(&c, p, 80, 800);
    CHECK(p && p[9] == 9 && c.core.bytes == 800 && c.core.peak_bytes == 800);
    tc__free(&c, p, 800);
    CHECK(c.core.bytes == 0 && c.core.peak_bytes == 800);
    q = tc__alloc(&c, 0);
    CHECK(q != NULL);
    q = tc__realloc(&c, q, 0, 0);
    CHECK(q != NULL && c.core.bytes == 1);
    tc__free(&c, q, 0);
    tc__free(&c, NULL, 12);
    CHECK(!TC__NEW_ARRAY(&c, uint64_t, SIZE_MAX / 4) && c.core.error_item == TC_E_TOO_BIG);
    tc__error_clear(&c);
    for (i = 0; i < 200; i++) {
        uint8_t *a = (uint8_t *)tc__alloc_aligned(&c, i), *b;
        b = (uint8_t *)tc__alloc_aligned(&c, 1);
        ok &= a && b && (uintptr_t)a % 64 == 0 && (uintptr_t)b % 64 == 0;
        memset(a, 255, i);
        b[0] = 255;
        tc__free_aligned(&c, a, i);
        tc__free_aligned(&c, b, 1);
    }
    CHECK(ok);
    size_t before = 0;
    // In a page of 2 MB each, which is all theirs; far from the one before in those of 4 KB.
    for (ok = 1, i = 0; i < 20; i++) {
        uint8_t *large = (uint8_t *)tc__alloc_aligned(&c, TC__HUGE_PAGE + 5);
        size_t at = (uintptr_t)large % TC__HUGE_PAGE;
        ok &= large && at < 4096 && at % 64 == 0 &&
              (!i || (at + 4096 - before) % 4096 == 1536);
        before = at;
        if (large) memset(large - at, 255, at + TC__HUGE_PAGE + 5);
        tc__free_aligned(&c, large, TC__HUGE_PAGE + 5);
        large = (uint8_t *)tc__alloc_aligned(&c, TC__COLORED - 1); // which has none
        tc__free_aligned(&c, large, TC__COLORED - 1);
    }
    for (i = 0; i < 20; i++) {
        uint8_t *large = (uint8_t *)tc__alloc_aligned(&c, TC__COLORED + i);
        ok &= large && (uintptr_t)large % 64 == 0;
        if (large) memset(large, 255, TC__COLORED + i);
        tc__free_aligned(&c, large, TC__COLORED + i);
    }
    CHECK(ok);
    tc__free_aligned(&c, NULL, 5);
    CHECK(!tc__alloc_aligned(&c, SIZE_MAX - 3) && c.core.error_item == TC_E_TOO_BIG);
    tc__error_clear(&c);
    heap.until_failure = 0;
    CHECK(!tc__alloc(&c, 8) && c.core.error_item == TC_E_NOMEM);
    CHECK(
        !strcmp(c.core.error_text, "out of memory: 8 bytes wanted, 0 held; free tensors?"));
    CHECK(!tc__alloc_aligned(&c, 8));
    context_check(&c, &heap);
    memset(&c, 0, sizeof(c)); // libc instead of the hook
    p = TC__NEW(&c, uint64_t);
    CHECK(p && *p == 0 && c.core.bytes == 8);
    tc__free(&c, p, 8);
    CHECK(c.core.bytes == 0);
}

static void test_arena(void) {
    tc_ctx c;
    test_heap heap;
    tc__arena a;
    int round, i, ok = 1;
    uint64_t held = 0, state = 1;
    context_init(&c, &heap);
    tc__arena_init(&a, &c);
    tc__arena_reset(&a);
    for (round = 0; round < 3; round++) {
        for (i = 0; i < 3000; i++) {
            size_t n = (size_t)(random64(&state) % (i % 500 ? 100 : 100000));
            void *p = tc__arena_alloc(&a, n);
            ok &= p && (uintptr_t)p % 16 == 0 && all_zero(p, n);
            if (p) memset(p, 255, n);
        }
        if (!round) held = c.core.allocations;
        tc__arena_reset(&a);
        state = 1;
    }
    CHECK(ok && held < 40);
    CHECK(c.core.allocations == held); // the same blocks again need no new chunk
    CHECK(TC__ANEW(&a, tc__core) != NULL);
    CHECK(TC__ANEW_ARRAY(&a, uint64_t, 1000000) != NULL);
    CHECK(!TC__ANEW_ARRAY(&a, uint64_t, SIZE_MAX / 2) && c.core.error_item == TC_E_TOO_BIG);
    tc__error_clear(&c);
    CHECK(!tc__arena_alloc(&a, SIZE_MAX - 8) && c.core.error_item == TC_E_TOO_BIG);
    tc__error_clear(&c);
    heap.until_failure = 0;
    CHECK(!tc__arena_alloc(&a, 5000000) && c.core.error_item == TC_E_NOMEM);
    heap.until_failure = -1;
    CHECK(tc__arena_alloc(&a, 5000000) != NULL);
    tc__arena_free(&a);
    context_check(&c, &heap);
    CHECK(tc__arena_alloc(&a, 1) != NULL);
    tc__arena_free(&a);
    context_check(&c, &heap);
}

typedef struct test_item {
    double x;
    char name[5];
} test_item;

static void test_vec(void) {
    tc_ctx c;
    test_heap heap;
    TC__VEC(int) v = {NULL, 0, 0};
    TC__VEC(test_item) items = {NULL, 0, 0};
    test_item item = {2.5, "four"};
    int i, ok = 1;
    context_init(&c, &heap);
    for (i = 0; i < 10000; i++) ok &= TC__PUSH(&c, v, i * 3);
    for (i = 0; i < 10000; i++) ok &= v.at[i] == i * 3;
    CHECK(ok && v.count == 10000 && c.core.bytes == v.capacity * sizeof(int));
    CHECK(c.core.allocations < 30);
    CHECK(TC__VEC_RESERVE(&c, items, 100) && items.capacity == 100 && items.count == 0);
    CHECK(TC__PUSH(&c, items, item) && !strcmp(items.at[0].name, "four"));
    heap.until_failure = 0;
    CHECK(!TC__VEC_RESERVE(&c, items, 101) && c.core.error_item == TC_E_NOMEM);
    CHECK(items.capacity == 100 && items.count == 1);
    tc__error_clear(&c);
    CHECK(!TC__VEC_RESERVE(&c, items, SIZE_MAX / 4) && c.core.error_item == TC_E_TOO_BIG);
    TC__VEC_FREE(&c, v);
    TC__VEC_FREE(&c, items);
    TC__VEC_FREE(&c, items);
    CHECK(!v.at && !v.count && !v.capacity);
    context_check(&c, &heap);
}

// ---- text

static void test_text(void) {
    tc_ctx c;
    test_heap heap;
    tc__text t;
    int i, ok = 1;
    context_init(&c, &heap);
    tc__text_init(&t, &c);
    CHECK_TEXT(&t, "");
    tc__text_clear(&t);
    tc__put_raw(&t, "", 0);
    tc__put(&t, "%s", "");
    CHECK_TEXT(&t, "");
    tc__put(&t, "%s = %d;", "x", -5);
    tc__put_raw(&t, "\n\0z", 3);
    CHECK(t.size == 10 && !memcmp(t.at, "x = -5;\n\0z", 11));
    tc__text_clear(&t);
    CHECK_TEXT(&t, "");
    for (i = 0; i < 3000; i++) tc__put(&t, "%d,", i % 10);
    for (i = 0; i < 3000; i++) ok &= t.at[2 * i] == '0' + i % 10 && t.at[2 * i + 1] == ',';
    CHECK(ok && t.size == 6000 && t.at[6000] == 0 && !t.failed);
    CHECK(c.core.allocations < 12);
    heap.until_failure = 0;
    for (i = 0; i < 10000; i++) tc__put(&t, "line %d\n", i);
    CHECK(t.failed && c.core.error_item == TC_E_NOMEM && strlen(t.at) == t.size);
    CHECK(t.size > 2 && !strcmp(t.at + t.size - 1, "\n"));
    heap.until_failure = -1;
    tc__put_raw(&t, "x", 1);
    CHECK(t.at[t.size - 1] == '\n');
    tc__error_clear(&c);
    tc__text_clear(&t);
    tc__put_raw(&t, "x", SIZE_MAX - 1);
    CHECK(t.failed && c.core.error_item == TC_E_TOO_BIG);
    tc__text_free(&t);
    CHECK_TEXT(&t, "");
    heap.until_failure = 0;
    tc__put(&t, "nothing");
    CHECK_TEXT(&t, "");
    tc__text_free(&t);
    context_check(&c, &heap);
}

static double from_bits(uint64_t bits) {
    double v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static float float_from_bits(uint32_t bits) {
    float v;
    memcpy(&v, &bits, sizeof(v));
    return v;
}

static void put_checked(tc__text *t, double v, int is_f32, const char *want, int line) {
    tc__text_clear(t);
    tc__put_hexfloat(t, v, is_f32);
    check_text(t, want, line);
}
#define HEXFLOAT(v, is_f32, want) put_checked(&t, v, is_f32, want, __LINE__)

static void decimal_checked(tc__text *t, double v, const char *want, int line) {
    tc__text_clear(t);
    tc__put_double(t, v);
    check_text(t, want, line);
}
#define DECIMAL(v, want) decimal_checked(&t, v, want, __LINE__)

static void test_numbers(void) {
    tc_ctx c;
    test_heap heap;
    tc__text t;
    const double infinite = from_bits(UINT64_C(0x7ff) << 52), nan = infinite - infinite;
    context_init(&c, &heap);
    tc__text_init(&t, &c);
    HEXFLOAT(0.0, 1, "0.0f");
    HEXFLOAT(-0.0, 0, "-0.0");
    HEXFLOAT(2.0, 1, "2.0f");
    HEXFLOAT(-0.125, 1, "-0.125f");
    HEXFLOAT(999999.75, 0, "999999.75");
    HEXFLOAT(1e6, 0, "0x1.e848p+19");
    HEXFLOAT(0.0625, 1, "0x1p-4f");
    HEXFLOAT(0.1, 1, "0x1.99999ap-4f");
    HEXFLOAT(0.1, 0, "0x1.999999999999ap-4");
    HEXFLOAT(-672.1, 1, "-0x1.500cccp+9f");
    HEXFLOAT((double)float_from_bits(1), 1, "0x1p-149f");
    HEXFLOAT((double)float_from_bits(0x7f7fffff), 1, "0x1.fffffep+127f");
    HEXFLOAT(from_bits(1), 0, "0x1p-1074");
    HEXFLOAT(from_bits(UINT64_C(0x000fffffffffffff)), 0, "0x1.ffffffffffffep-1023");
    HEXFLOAT(from_bits(UINT64_C(0x7fefffffffffffff)), 0, "0x1.fffffffffffffp+1023");
    HEXFLOAT(infinite, 1, "(1.0f/0.0f)");
    HEXFLOAT(-infinite, 0, "(-1.0/0.0)");
    HEXFLOAT(nan, 0, "(0.0/0.0)");
    DECIMAL(0.0, "0");
    DECIMAL(-0.0, "-0");
    DECIMAL(2.0, "2");
    DECIMAL(-0.1, "-0.1");
    DECIMAL(12.5, "12.5");
    DECIMAL(1200.0, "1200");
    DECIMAL(1e15, "1000000000000000");
    DECIMAL(1e16, "1e16");
    DECIMAL(123456789012345678.0, "1.2345678901234568e17");
    DECIMAL(0.5, "0.5");
    DECIMAL(0.00001, "0.00001");
    DECIMAL(-0.000001, "-1e-6");
    DECIMAL(0.00123, "0.00123");
    DECIMAL(0.1 + 0.2, "0.30000000000000004");
    DECIMAL(from_bits(1), "5e-324");
    DECIMAL(1.7976931348623157e308, "1.7976931348623157e308");
    DECIMAL(infinite, "inf");
    DECIMAL(-infinite, "-inf");
    DECIMAL(nan, "nan");
    tc__text_free(&t);
    context_check(&c, &heap);
}

// The number that a text means in the C locale, whatever the present one.
static double read_number(const char *text, const char *point) {
    char buffer[64];
    const char *dot = strchr(text, '.');
    if (!dot || !strcmp(point, ".")) return strtod(text, NULL);
    snprintf(buffer, sizeof(buffer), "%.*s%s%s", (int)(dot - text), text, point, dot + 1);
    return strtod(buffer, NULL);
}

// Random bit patterns, and the same through a random number of leading mantissa bits.
static void test_round_trip(int n) {
    tc_ctx c;
    test_heap heap;
    tc__text t;
    uint64_t state = 7;
    int i, wrong = 0;
    const char *point = localeconv()->decimal_point;
    context_init(&c, &heap);
    tc__text_init(&t, &c);
    for (i = 0; i < n; i++) {
        uint64_t r = random64(&state), bits = r >> (i & 1 ? 0 : random64(&state) % 64);
        double v = from_bits(i & 2 ? r & ~(UINT64_MAX >> (random64(&state) % 64)) : bits);
        float f = float_from_bits((uint32_t)(i & 4 ? r >> 32 : bits));
        if (v - v == 0) {
            tc__text_clear(&t);
            tc__put_hexfloat(&t, v, 0);
            wrong += tc__double_bits(read_number(t.at, point)) != tc__double_bits(v);
            wrong += strchr(t.at, ',') != NULL;
        }
        if (v - v == 0 && i % 8 == 0) {
            tc__text_clear(&t);
            tc__put_double(&t, v);
            wrong += tc__double_bits(read_number(t.at, point)) != tc__double_bits(v);
            wrong += strspn(t.at, "0123456789.-e") != t.size;
        }
        if (f - f == 0) {
            float g;
            tc__text_clear(&t);
            tc__put_hexfloat(&t, (double)f, 1);
            t.at[t.size - 1] = t.at[t.size - 1] == 'f' ? 0 : 'x';
            g = (float)read_number(t.at, point);
            wrong += memcmp(&f, &g, sizeof(f)) != 0;
            wrong += strchr(t.at, ',') != NULL;
        }
    }
    CHECK(wrong == 0);
    tc__text_free(&t);
    context_check(&c, &heap);
}

static void test_locales(int n) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "de_DE",
                                        "fr_FR.UTF-8"};
    size_t i;
    test_round_trip(n);
    for (i = 0; i < TC__COUNT(names); i++)
        if (setlocale(LC_ALL, names[i])) break;
    if (i == TC__COUNT(names)) printf("note: no locale with a decimal comma here\n");
    if (i == TC__COUNT(names)) return;
    CHECK(!strcmp(localeconv()->decimal_point, ","));
    test_round_trip(n);
    test_numbers();
    setlocale(LC_ALL, "C");
}

// ---- hash

static int same_hex(const uint8_t *p, size_t n, const char *want) {
    char text[129];
    tc__hex(text, p, n);
    return !strcmp(text, want);
}

// RFC 7693 appendix E: a deterministic input.
static void selftest_bytes(uint8_t *out, size_t n, uint32_t seed) {
    uint32_t a = 0xdead4badu * seed, b = 1;
    size_t i;
    for (i = 0; i < n; i++) {
        uint32_t t = a + b;
        a = b;
        b = t;
        out[i] = (uint8_t)(t >> 24);
    }
}

// Digest of any length: ours with the length in the parameter block replaced.
static void digest_of(uint8_t *out, size_t size, const uint8_t *key, size_t key_size,
                      const uint8_t *p, size_t n) {
    tc__blake2s_state s;
    uint8_t full[32];
    tc__blake2s_init(&s, key, key_size);
    s.h[0] ^= 32u ^ (uint32_t)size;
    tc__blake2s_update(&s, p, n);
    tc__blake2s_final(&s, full);
    memcpy(out, full, size);
}

static void test_blake2s_rfc(void) {
    static const size_t sizes[] = {16, 20, 28, 32}, lengths[] = {0, 3, 64, 65, 255, 1024};
    uint8_t in[1024], digest[32], key[32];
    tc__blake2s_state all;
    size_t i, j;
    tc__blake2s(digest, NULL, 0, "abc", 3); // appendix B
    CHECK(same_hex(digest, 32,
                   "508c5e8c327c14e2e1a72ba34eeb452f37458b209ed63a294d999b4c86675982"));
    tc__blake2s_init(&all, NULL, 0);
    for (i = 0; i < 4; i++)
        for (j = 0; j < 6; j++) {
            selftest_bytes(in, lengths[j], (uint32_t)lengths[j]);
            digest_of(digest, sizes[i], NULL, 0, in, lengths[j]);
            tc__blake2s_update(&all, digest, sizes[i]);
            selftest_bytes(key, sizes[i], (uint32_t)sizes[i]);
            digest_of(digest, sizes[i], key, sizes[i], in, lengths[j]);
            tc__blake2s_update(&all, digest, sizes[i]);
        }
    tc__blake2s_final(&all, digest);
    CHECK(same_hex(digest, 32,
                   "6a411f08ce25adcdfb02aba641451cec53c598b24f4fc787fbdc88797f4c1dfe"));
}

static void test_blake2s(void) {
    uint8_t in[512], whole[32], parts[32];
    uint64_t state = 3;
    int i, ok = 1;
    for (i = 0; i < 512; i++) in[i] = (uint8_t)i;
    tc__blake2s(whole, NULL, 0, NULL, 0);
    CHECK(same_hex(whole, 32,
                   "69217a3079908094e11121d042354a7c1f55b6482ca1a51e1b250dfd1ed0eef9"));
    tc__blake2s(whole, in, 32, in, 255); // last vector of the authors' keyed list
    CHECK(same_hex(whole, 32,
                   "3fb735061abc519dfe979e54c1ee5bfad0a9d858b3315bad34bde999efd724dd"));
    for (i = 0; i < 300; i++) {
        tc__blake2s_state s;
        size_t n = (size_t)i, at = 0;
        tc__blake2s(whole, NULL, 0, in, n);
        tc__blake2s_init(&s, NULL, 0);
        while (at < n) {
            size_t step = (size_t)(random64(&state) % 90);
            if (step > n - at) step = n - at;
            tc__blake2s_update(&s, in + at, step);
            at += step;
        }
        tc__blake2s_final(&s, parts);
        ok &= !memcmp(whole, parts, 32);
    }
    CHECK(ok);
    tc__blake2s(parts, NULL, 0, in, 100); // a long key counts by its digest
    tc__blake2s(whole, parts, 32, "x", 1);
    tc__blake2s(parts, in, 100, "x", 1);
    CHECK(!memcmp(whole, parts, 32));
    CHECK(failures_of_assert == 0);
}

// Flipping any input bit must flip each output bit about half of the time.
static void test_avalanche(void) {
    enum { ROUNDS = 400 };
    uint64_t state = 11;
    int in, out, i, worst = 0;
    for (in = 0; in < 64; in++) {
        int flips[64] = {0};
        for (i = 0; i < ROUNDS; i++) {
            uint64_t v = i & 1 ? (uint64_t)i : random64(&state), w = v ^ UINT64_C(1) << in;
            uint64_t d = tc__hash64(&v, 8, 0) ^ tc__hash64(&w, 8, 0);
            for (out = 0; out < 64; out++) flips[out] += (int)(d >> out & 1);
        }
        for (out = 0; out < 64; out++)
            if (abs(flips[out] - ROUNDS / 2) > worst) worst = abs(flips[out] - ROUNDS / 2);
    }
    CHECK(worst < ROUNDS / 4); // 10 standard deviations
}

static int compare64(const void *a, const void *b) {
    const uint64_t *x = (const uint64_t *)a, *y = (const uint64_t *)b;
    return (*x > *y) - (*x < *y);
}

static void test_hash64(void) {
    enum { N = 200000 };
    static uint64_t h[N];
    uint8_t zeros[100] = {0}, bytes[100];
    int i, clashes = 0;
    for (i = 0; i < 100; i++) bytes[i] = (uint8_t)i;
    CHECK(tc__hash64("abc", 3, 0) != tc__hash64("abc", 3, 1));
    CHECK(tc__hash64("abc", 3, 0) != tc__hash64("abc\0", 4, 0));
    CHECK(tc__hash64(NULL, 0, 5) == tc__hash64("x", 0, 5));
    CHECK(tc__hash64(bytes, 99, 7) ==
          UINT64_C(0x21fca53a7c7a90b5)); // fixed: also big-endian
    CHECK(tc__hash_mix(tc__hash_mix(0, 1), 2) != tc__hash_mix(tc__hash_mix(0, 2), 1));
    for (i = 0; i < N; i++) {
        uint32_t pair[2];
        pair[0] = (uint32_t)i % 500;
        pair[1] = (uint32_t)i / 500;
        h[i] = i < 100 ? tc__hash64(zeros, (size_t)i, 0) : tc__hash64(pair, 8, 0);
    }
    qsort(h, N, sizeof(*h), compare64);
    for (i = 1; i < N; i++) clashes += h[i] == h[i - 1];
    CHECK(clashes == 0);
    test_avalanche();
}

// Against a plain array, with keys that collide, wrap around and come and go.
static void test_map_random(tc_ctx *c, uint64_t spread) {
    enum { KEYS = 200 };
    tc__map m;
    uint64_t value[KEYS] = {0}, state = spread;
    size_t count = 0;
    int i, k, wrong = 0;
    tc__map_init(&m, c);
    for (i = 0; i < 30000; i++) {
        uint64_t r = random64(&state), found = 0;
        k = (int)(r % KEYS);
        if (r >> 40 & 1) {
            wrong += tc__map_remove(&m, (uint64_t)k * spread) != (value[k] != 0);
            value[k] = 0;
        } else {
            value[k] = r | 1;
            wrong += !tc__map_set(&m, (uint64_t)k * spread, value[k]);
        }
        if (i % 50) continue;
        for (count = 0, k = 0; k < KEYS; k++) {
            int has = tc__map_get(&m, (uint64_t)k * spread, &found);
            wrong += has != (value[k] != 0) || (has && found != value[k]);
            count += value[k] != 0;
        }
        wrong += m.count != count;
    }
    CHECK(wrong == 0);
    tc__map_free(&m);
}

static void test_map(void) {
    tc_ctx c;
    test_heap heap;
    tc__map m;
    uint64_t v = 1, i, wrong = 0;
    context_init(&c, &heap);
    tc__map_init(&m, &c);
    CHECK(!tc__map_get(&m, 0, &v) && !tc__map_get(&m, 5, &v) && v == 1);
    CHECK(!tc__map_remove(&m, 0) && !tc__map_remove(&m, 5));
    CHECK(tc__map_set(&m, 0, 9) && tc__map_get(&m, 0, &v) && v == 9 && m.count == 1);
    CHECK(tc__map_get(&m, 0, NULL) && tc__map_remove(&m, 0) && !tc__map_get(&m, 0, NULL));
    for (i = 0; i < 100000; i++) wrong += !tc__map_set(&m, i * i, i);
    for (i = 0; i < 100000; i++) wrong += !tc__map_get(&m, i * i, &v) || v != i;
    CHECK(wrong == 0 && m.count == 100000);
    tc__map_free(&m);
    CHECK(!tc__map_get(&m, 4, NULL) && m.count == 0);
    for (i = 1; i <= 12; i++) wrong += !tc__map_set(&m, i, i);
    heap.until_failure = 0;
    CHECK(wrong == 0 && !tc__map_set(&m, 13, 13) && c.core.error_item == TC_E_NOMEM);
    for (i = 1; i <= 12; i++) wrong += !tc__map_get(&m, i, &v) || v != i;
    CHECK(wrong == 0 && m.count == 12);
    tc__error_clear(&c);
    heap.until_failure = -1;
    tc__map_free(&m);
    test_map_random(&c, 1);
    test_map_random(&c, UINT64_C(1) << 32);
    test_map_random(&c, UINT64_C(0x9e3779b97f4a7c15));
    context_check(&c, &heap);
}

int main(void) {
    test_prelude();
    test_error();
    test_log_channels();
    test_contexts();
    test_context_threads();
    test_block_sizes();
    test_arena();
    test_vec();
    test_text();
    test_numbers();
    test_locales(100000);
    test_blake2s_rfc();
    test_blake2s();
    test_hash64();
    test_map();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
