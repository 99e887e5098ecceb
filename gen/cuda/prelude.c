// What depends on the compiler or the system, and memory of the host. Later parts test
//   TCU__POSIX     dlopen, processes
//   TCU__THREADS   pthreads; 0 under TC_NO_THREADS
// Nothing here is shared with the inside of tcompile.h.

#if !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#    define _GNU_SOURCE 1
#endif

#if defined(__unix__) || defined(__APPLE__)
#    define TCU__POSIX 1
#else
#    define TCU__POSIX 0
#endif
#if defined(TC_NO_THREADS) || !TCU__POSIX || !defined(__GNUC__)
#    define TCU__THREADS 0
#else
#    define TCU__THREADS 1
#endif

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if TCU__POSIX
#    include <dlfcn.h>
#    include <glob.h>
#    include <sys/types.h>
#    include <unistd.h>
#endif
#if TCU__THREADS
#    include <pthread.h>
#    include <signal.h>
#endif

#if defined(__GLIBC__) && !defined(__USE_GNU)
#    error                                                                                 \
        "A libc header was included before the implementation of tcompile_cuda.h, without \
_GNU_SOURCE. Fix: include tcompile_cuda.h first in the one .c file that defines \
TCOMPILE_CUDA_IMPLEMENTATION, or compile that file with -D_GNU_SOURCE."
#endif

// All functions of the parts are TCU__FN: what the header has for its caller, the backend,
// is more than one program needs.
#if defined(__GNUC__)
#    define TCU__UNUSED         __attribute__((unused))
#    define TCU__FN             __attribute__((unused)) static
#    define TCU__PRINTF(at, to) __attribute__((format(printf, at, to)))
#    define TCU__LOAD(p)        __atomic_load_n(p, __ATOMIC_ACQUIRE)
#    define TCU__STORE(p, v)    __atomic_store_n(p, v, __ATOMIC_RELEASE)
#    define TCU__ADD(p, v)      __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#else
#    define TCU__UNUSED
#    define TCU__FN static
#    define TCU__PRINTF(at, to)
#    define TCU__LOAD(p)     (*(p))
#    define TCU__STORE(p, v) ((void)(*(p) = (v)))
#    define TCU__ADD(p, v)   ((*(p) += (v)) - (v))
#endif

#define TCU__COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define TCU__STATIC_ASSERT(name, cond)                                                     \
    typedef char tcu__assert_##name[(cond) ? 1 : -1] TCU__UNUSED

enum { TCU__PATH = 512 }; // of a library, with its end

// ---- host memory: all of it comes from the hook, which hears every size again

TCU__FN void *tcu__realloc(const tc_allocator *hook, void *p, size_t old, size_t size) {
    if (hook->realloc) return hook->realloc(hook->user, p, old, size);
#ifdef TC_REALLOC
    return TC_REALLOC(p, old, size);
#else
    if (size) return realloc(p, size);
    free(p);
    return NULL;
#endif
}

// Bytes of an array, 1 for none: the hook's size 0 means to free.
TCU__FN size_t tcu__array_size(size_t count, size_t item) {
    return count && item ? count * item : 1;
}

// Zeroed; NULL = no memory.
TCU__FN void *tcu__alloc(const tc_allocator *hook, size_t count, size_t item) {
    size_t size = tcu__array_size(count, item);
    if (item && count > SIZE_MAX / item) return NULL;
    void *p = tcu__realloc(hook, NULL, 0, size);
    return p ? memset(p, 0, size) : NULL;
}

TCU__FN void tcu__free(const tc_allocator *hook, void *p, size_t count, size_t item) {
    if (p) tcu__realloc(hook, p, tcu__array_size(count, item), 0);
}

#define TCU__NEW(hook, T)          ((T *)tcu__alloc(hook, 1, sizeof(T)))
#define TCU__NEW_ARRAY(hook, T, n) ((T *)tcu__alloc(hook, (size_t)(n), sizeof(T)))
#define TCU__FREE(hook, p, n)      tcu__free(hook, p, (size_t)(n), sizeof *(p))

// Room for one more in *at, a block of *capacity items; NULL = no memory, nothing changed.
TCU__FN void *tcu__grown(const tc_allocator *hook, void *at, size_t count, size_t *capacity,
                         size_t item) {
    size_t want = *capacity ? *capacity * 2 : 8;
    if (count < *capacity) return at;
    void *p = tcu__realloc(hook, at, *capacity * item, want * item);
    if (p) *capacity = want;
    return p;
}

// ---- text

// A text of `room` bytes, cut where it does not fit. Used for snprintf, about which
// compilers warn wherever they believe that something may be cut.
TCU__PRINTF(3, 4)
TCU__FN void tcu__print(char *text, size_t room, const char *format, ...) {
    va_list list;
    va_start(list, format);
    vsnprintf(text, room, format, list);
    va_end(list);
}

// Appends to a text of `room` bytes what fits, cut with "..."; the end is always kept.
TCU__PRINTF(3, 4)
TCU__FN void tcu__put(char *text, size_t room, const char *format, ...) {
    size_t used = strlen(text);
    va_list list;
    if (used + 1 >= room) return;
    va_start(list, format);
    int n = vsnprintf(text + used, room - used, format, list);
    va_end(list);
    if (n >= 0 && (size_t)n >= room - used && room > 4) memcpy(text + room - 4, "...", 4);
}

// "512 B", "32.0 MiB", into a buffer of the caller.
typedef struct tcu__size_text {
    char text[32];
} tcu__size_text;

TCU__FN const char *tcu__bytes(size_t n, tcu__size_text *out) {
    static const char *const unit[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)n;
    size_t u = 0;
    for (; value >= 1024 && u + 1 < TCU__COUNT(unit); u++) value /= 1024;
    tcu__print(out->text, sizeof out->text, "%.*f %s", u > 2 ? 2 : u > 0, value, unit[u]);
    return out->text;
}

// ---- system

// The value of an environment variable; NULL when unset, empty, or not to be trusted.
TCU__FN const char *tcu__env(const char *name) {
#if TCU__POSIX
    if (getuid() != geteuid() || getgid() != getegid()) return NULL;
#endif
    const char *s = getenv(name);
    return s && *s ? s : NULL;
}

TCU__FN long tcu__process(void) {
#if TCU__POSIX
    return (long)getpid();
#else
    return 1;
#endif
}

// Nanoseconds from some start.
TCU__FN uint64_t tcu__now(void) {
#if TCU__POSIX
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t)) return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
#else
    return (uint64_t)((double)clock() * (1e9 / CLOCKS_PER_SEC));
#endif
}
