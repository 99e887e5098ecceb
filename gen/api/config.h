// Version, linkage, and the small types that everything else names.
#include <stddef.h>
#include <stdint.h>

#define TC_VERSION_MAJOR 0
#define TC_VERSION_MINOR 1
#define TC_VERSION_PATCH 0
#define TC_VERSION "0.1.0"

// TCDEF is the linkage of public functions. -DTCOMPILE_STATIC makes them static to one file.
#ifndef TCDEF
#  if defined(TCOMPILE_STATIC) && defined(__GNUC__)
#    define TCDEF static __attribute__((unused))
#  elif defined(TCOMPILE_STATIC)
#    define TCDEF static
#  elif defined(__cplusplus)
#    define TCDEF extern "C"
#  else
#    define TCDEF extern
#  endif
#endif

#define TC_MAX_RANK 8

typedef struct tc_ctx tc_ctx;  // everything lives in a context; one thread at a time uses it
typedef struct tc_options tc_options;  // of regions and functions

// 0 is success, errors are the negative TC_E_... enumerators below.
typedef int tc_status;

// A tensor handle: a value, freely copied, never dereferenced. id 0 is the null tensor.
typedef struct tc_tensor {
    uint64_t id;  // context 8 bits, epoch 32, slot 24
} tc_tensor;

// Every byte the library uses goes through realloc(user, ptr, old_size, new_size);
// new_size 0 frees, ptr NULL allocates; old_size is what the block was asked for with. NULL realloc =
// TC_REALLOC(ptr, old_size, new_size), a macro to define before the implementation, or else the C
// library's. Blocks need the alignment of malloc. It is called from several
// threads where something is compiled in the background or contexts are shared; so is a logger. For a
// GPU several threads compile at once, and each calls realloc. Both return: a thread that ends in them takes the
// context with it.
typedef struct tc_allocator {
    void *(*realloc)(void *user, void *ptr, size_t old_size, size_t new_size);
    void *user;
} tc_allocator;

// Receives log lines and warnings. NULL log = stderr. level: 0 info, 1 warning, 2 error.
typedef struct tc_logger {
    void (*log)(void *user, int level, const char *channel, const char *text);
    void *user;
} tc_logger;
