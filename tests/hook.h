// The allocator of every test (build.sh includes it in front of all): TC_REALLOC where a test gives no
// hook, and what hooks of tests end in. It ends the test where a block is given back that is none,
// with another size than it was asked for, or after something was written around it. New memory is
// full of a pattern, and aligned to 16 bytes and no more. harness.h asks it what is left at the end.
#ifndef TEST_HOOK_H
#define TEST_HOOK_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A test and the implementation may be two objects: what they share is weak.
__attribute__((weak)) long test_blocks; // not given back yet

typedef struct test_block { // stands in front of what is given out
    uint64_t mark;
    void *start; // of the C library's
    size_t size;
} test_block;

enum { TEST_BLOCK_AHEAD = 80, TEST_BLOCK_FILL = 4096, TEST_BLOCK_GUARD = 16 };
#define TEST_BLOCK_MARK UINT64_C(0x7e57b10c7e57b10c)

__attribute__((unused)) static void test_block_wrong(const char *what, const void *p,
                                                     size_t said, size_t size) {
    printf("memory: %s: %p, said to have %zu bytes, has %zu\n", what, p, said, size);
    fflush(stdout);
    abort();
}

__attribute__((unused)) static test_block *test_block_of(void *p, size_t said) {
    test_block *b = (test_block *)(void *)((char *)p - sizeof(test_block));
    unsigned char guard[TEST_BLOCK_GUARD];
    memset(guard, 0x5a, sizeof guard);
    if (b->mark != TEST_BLOCK_MARK) test_block_wrong("no block of ours", p, said, 0);
    if (b->size != said) test_block_wrong("another size", p, said, b->size);
    if (memcmp((char *)p + said, guard, sizeof guard))
        test_block_wrong("written behind its end", p, said, b->size);
    return b;
}

// realloc(), free() for size 0, with the size that p has.
__attribute__((unused)) static void *checked_realloc(void *p, size_t old, size_t size) {
    test_block *from = p ? test_block_of(p, old) : NULL;
    char *to = NULL;
    if (size) {
        char *start = (char *)malloc(size + TEST_BLOCK_AHEAD + TEST_BLOCK_GUARD);
        if (!start) return NULL;
        // 16 beyond a multiple of 32.
        to = start + sizeof(test_block);
        to += (16 - (uintptr_t)to % 32 + 32) % 32;
        test_block *b = (test_block *)(void *)(to - sizeof(test_block));
        b->mark = TEST_BLOCK_MARK, b->start = start, b->size = size;
        memset(to, 0xe5, size < TEST_BLOCK_FILL ? size : TEST_BLOCK_FILL);
        memset(to + size, 0x5a, TEST_BLOCK_GUARD);
        if (from) memcpy(to, p, old < size ? old : size);
        __atomic_add_fetch(&test_blocks, 1, __ATOMIC_RELAXED);
    }
    if (from) {
        void *start = from->start;
        memset(from, 0xd7, sizeof *from + (old < TEST_BLOCK_FILL ? old : TEST_BLOCK_FILL));
        free(start);
        __atomic_sub_fetch(&test_blocks, 1, __ATOMIC_RELAXED);
    }
    return to;
}

#define TC_REALLOC(p, old, size) checked_realloc(p, old, size)

#endif
