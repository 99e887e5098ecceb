// Everything that depends on the compiler or the system: includes, feature macros, shims.
// The only part with <...> includes; later parts test the flags made here, each 0 or 1:
//   TC__GNUC     gcc or clang: attributes, __atomic builtins, vector types
//   TC__X86      x86-64          TC__ARM64    AArch64
//   TC__POSIX    files, processes, dlopen          TC__LINUX    Linux on top of that
//   TC__THREADS  pthreads; 0 under TC_NO_THREADS
// The trap: libc decides what it declares when its first header is read. If that happened
// without _GNU_SOURCE it is too late here, and the check below says what to do.

#if !defined(_GNU_SOURCE) && !defined(_MSC_VER)
#    define _GNU_SOURCE 1
#endif

#if !defined(__cplusplus) && !defined(_MSC_VER)
#    if !defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L
#        error "tcompile.h needs C99 or newer. Fix: compile with -std=c99, or without -std."
#    endif
#endif

#if defined(__GNUC__)
#    define TC__GNUC 1
#else
#    define TC__GNUC 0
#endif
#if defined(__x86_64__) || defined(_M_X64)
#    define TC__X86 1
#else
#    define TC__X86 0
#endif
#if defined(__aarch64__) || defined(_M_ARM64)
#    define TC__ARM64 1
#else
#    define TC__ARM64 0
#endif
#if defined(__unix__) || defined(__APPLE__)
#    define TC__POSIX 1
#else
#    define TC__POSIX 0
#endif
#if defined(__linux__)
#    define TC__LINUX 1
#else
#    define TC__LINUX 0
#endif
#if defined(TC_NO_THREADS) || !TC__POSIX
#    define TC__THREADS 0
#else
#    define TC__THREADS 1
#endif

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#if TC__POSIX
#    include <dirent.h>
#    include <dlfcn.h>
#    include <fcntl.h>
#    include <poll.h>
#    include <sched.h>
#    include <signal.h>
#    include <spawn.h>
#    include <sys/file.h>
#    include <sys/mman.h>
#    include <sys/resource.h>
#    include <sys/stat.h>
#    include <sys/time.h>
#    include <sys/types.h>
#    include <sys/wait.h>
#    include <unistd.h>
#endif
#if TC__LINUX
#    include <sys/auxv.h>
#    include <sys/syscall.h>
#endif
#if TC__THREADS
#    include <pthread.h>
#endif

// glibc: __USE_GNU records how its first header was read. Others: CPU_SETSIZE is GNU only.
#if TC__LINUX && ((defined(__GLIBC__) && !defined(__USE_GNU)) || !defined(CPU_SETSIZE))
#    error "A libc header was included before the implementation of tcompile.h, without \
_GNU_SOURCE. Fix: include tcompile.h first in the one .c file that defines \
TCOMPILE_IMPLEMENTATION, or compile that file with -D_GNU_SOURCE."
#endif

#if TC__THREADS && !TC__GNUC
#    error "Threads need gcc's or clang's atomics. Fix: use those, or -DTC_NO_THREADS."
#endif

#if TC__GNUC
#    define TC__UNUSED   __attribute__((unused))
#    define TC__RESTRICT __restrict__
#    define TC__INLINE   static inline __attribute__((unused))
#    ifdef __OPTIMIZE__
#        define TC__ALWAYS_INLINE static inline __attribute__((unused, always_inline))
#    else // it would only be more to compile
#        define TC__ALWAYS_INLINE TC__INLINE
#    endif
#    define TC__NOINLINE    __attribute__((noinline))
#    define TC__LIKELY(x)   __builtin_expect(!!(x), 1)
#    define TC__UNLIKELY(x) __builtin_expect(!!(x), 0)
#    define TC__PRINTF(format_at, arguments_at)                                            \
        __attribute__((format(printf, format_at, arguments_at)))
#else
#    define TC__UNUSED
#    define TC__RESTRICT
#    define TC__INLINE        static inline
#    define TC__ALWAYS_INLINE static inline
#    define TC__NOINLINE
#    define TC__LIKELY(x)   (x)
#    define TC__UNLIKELY(x) (x)
#    define TC__PRINTF(format_at, arguments_at)
#endif

#define TC__COUNT(array) (sizeof(array) / sizeof((array)[0]))

// TC__STATIC_ASSERT(int_is_32_bits, sizeof(int) == 4);  at file scope or in a function
#define TC__STATIC_ASSERT(name, cond)                                                      \
    typedef char tc__assert_##name[(cond) ? 1 : -1] TC__UNUSED

// 1: the verifier looks at every graph between stages, and fails its program.
#if defined(TC_DEBUG) || defined(TC_ASSERT)
#    define TC__DEBUG 1
#else
#    define TC__DEBUG 0
#endif

// For our own bugs only, never for the user's mistakes. Off unless the user defines it.
#ifndef TC_ASSERT
#    define TC_ASSERT(cond) ((void)sizeof((cond) ? 1 : 0))
#endif

// Memory of contexts without an allocator of their own.
TC__INLINE void *tc__default_realloc(void *p, size_t old, size_t size) {
#ifdef TC_REALLOC
    return TC_REALLOC(p, old, size);
#else
    (void)old;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
#endif
}

TC__STATIC_ASSERT(byte_is_8_bits, CHAR_BIT == 8);
TC__STATIC_ASSERT(int_is_32_bits, sizeof(int) == 4);
TC__STATIC_ASSERT(float_is_32_bits, sizeof(float) == 4);
TC__STATIC_ASSERT(double_is_64_bits, sizeof(double) == 8);

// Atomics. load acquires, store releases, add and cas do both. add returns the OLD value.
// cas writes next where *p == expected and says whether it did. Without gcc or clang there
// are no threads (checked above), so plain accesses do.
#if TC__GNUC
#    define TC__ATOMIC_LOAD(p)     __atomic_load_n(p, __ATOMIC_ACQUIRE)
#    define TC__ATOMIC_STORE(p, v) __atomic_store_n(p, v, __ATOMIC_RELEASE)
#    define TC__ATOMIC_ADD(p, v)   __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
#    define TC__ATOMIC_CAS(p, expected, next)                                              \
        __atomic_compare_exchange_n(p, &(expected), next, 0, __ATOMIC_ACQ_REL,             \
                                    __ATOMIC_ACQUIRE)
#    define TC__ATOMIC_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)
#else
#    define TC__ATOMIC_LOAD(p)                (*(p))
#    define TC__ATOMIC_STORE(p, v)            ((void)(*(p) = (v)))
#    define TC__ATOMIC_ADD(p, v)              ((*(p) += (v)) - (v))
#    define TC__ATOMIC_CAS(p, expected, next) (*(p) == (expected) ? (*(p) = (next), 1) : 0)
#    define TC__ATOMIC_FENCE()                ((void)0)
#endif

TC__INLINE uint32_t tc__atomic_load32(const volatile uint32_t *p) {
    return TC__ATOMIC_LOAD(p);
}

TC__INLINE void tc__atomic_store32(volatile uint32_t *p, uint32_t v) {
    TC__ATOMIC_STORE(p, v);
}

TC__INLINE uint32_t tc__atomic_add32(volatile uint32_t *p, uint32_t v) {
    return TC__ATOMIC_ADD(p, v);
}

TC__INLINE int tc__atomic_cas32(volatile uint32_t *p, uint32_t expected, uint32_t next) {
    return TC__ATOMIC_CAS(p, expected, next);
}

TC__INLINE uint64_t tc__atomic_load64(const volatile uint64_t *p) {
    return TC__ATOMIC_LOAD(p);
}

TC__INLINE void tc__atomic_store64(volatile uint64_t *p, uint64_t v) {
    TC__ATOMIC_STORE(p, v);
}

TC__INLINE uint64_t tc__atomic_add64(volatile uint64_t *p, uint64_t v) {
    return TC__ATOMIC_ADD(p, v);
}

TC__INLINE int tc__atomic_cas64(volatile uint64_t *p, uint64_t expected, uint64_t next) {
    return TC__ATOMIC_CAS(p, expected, next);
}

TC__INLINE void *tc__atomic_load_pointer(void *volatile *p) { return TC__ATOMIC_LOAD(p); }

TC__INLINE void tc__atomic_store_pointer(void *volatile *p, void *v) {
    TC__ATOMIC_STORE(p, v);
}

TC__INLINE int tc__atomic_cas_pointer(void *volatile *p, void *expected, void *next) {
    return TC__ATOMIC_CAS(p, expected, next);
}

// Orders everything before against everything after, for flag pairs (store mine, load his).
TC__INLINE void tc__atomic_fence(void) { TC__ATOMIC_FENCE(); }

// Tells the core that this is a spin loop.
#if TC__GNUC && TC__X86
TC__INLINE void tc__cpu_pause(void) { __builtin_ia32_pause(); }
#elif TC__GNUC && TC__ARM64
TC__INLINE void tc__cpu_pause(void) { __asm__ volatile("yield" ::: "memory"); }
#else
TC__INLINE void tc__cpu_pause(void) {}
#endif

// The thread is not cancelled (pthread_cancel) until tc__cancel_as gets what this gives: who holds a lock, or is in
// code of the user's that we call, would leave what nobody ends. It is cancelled behind that.
#if TC__POSIX && TC__THREADS
TC__UNUSED static int tc__cancel_off(void) {
    int before = 0;
    (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    return before;
}
TC__UNUSED static void tc__cancel_as(int before) {
    (void)pthread_setcancelstate(before, NULL);
}
#else
TC__UNUSED static int tc__cancel_off(void) { return 0; }
TC__UNUSED static void tc__cancel_as(int before) { (void)before; }
#endif

// While we talk to the system, the host's thread is neither cancelled, which would leave
// processes, descriptors and half of our state behind, nor sent SIGXFSZ, which would end the
// host: a write beyond RLIMIT_FSIZE fails with EFBIG instead. Calms nest.
typedef struct tc__calm {
#if TC__POSIX
    sigset_t mask;
    int pending; // the signal was there before: it is the host's
    int cancel;
#else
    int none;
#endif
} tc__calm;

#if TC__POSIX
static int tc__signal_mask(int how, const sigset_t *set, sigset_t *old) {
#    if TC__THREADS
    return pthread_sigmask(how, set, old);
#    else
    return sigprocmask(how, set, old);
#    endif
}

static int tc__is_pending(int number) {
    sigset_t now;
    return !sigpending(&now) && sigismember(&now, number) == 1;
}

TC__UNUSED static tc__calm tc__calm_begin(void) {
    tc__calm calm;
    sigset_t large;
    (void)sigemptyset(&large);
    (void)sigaddset(&large, SIGXFSZ);
    (void)tc__signal_mask(SIG_BLOCK, &large, &calm.mask);
    calm.pending = tc__is_pending(SIGXFSZ), calm.cancel = tc__cancel_off();
    return calm;
}

// Keeps errno.
TC__UNUSED static void tc__calm_end(tc__calm calm) {
    int kept = errno, number;
    sigset_t large;
    (void)sigemptyset(&large);
    (void)sigaddset(&large, SIGXFSZ);
    if (!calm.pending && tc__is_pending(SIGXFSZ)) (void)sigwait(&large, &number);
    (void)tc__signal_mask(SIG_SETMASK, &calm.mask, NULL);
    tc__cancel_as(calm.cancel);
    errno = kept;
}
#else
TC__UNUSED static tc__calm tc__calm_begin(void) {
    tc__calm calm = {0};
    return calm;
}

TC__UNUSED static void tc__calm_end(tc__calm calm) { (void)calm; }
#endif
