// A context of no more than base/error.c has of it, for tests of parts below those that open one. It counts
// memory; the rest of it is zeros.
#ifndef BARE_H
#define BARE_H

enum { BARE_BYTES = 1 << 16 }; // more than any part has in a context

TEST_UNUSED static tc_ctx *bare_open(void) { return (tc_ctx *)calloc(1, BARE_BYTES); }

// All that was asked for through c must have been given back.
TEST_UNUSED static void bare_close(tc_ctx *c) {
    CHECK_EQ(tc__core_of(c)->bytes, 0);
    free(c);
}

#endif
