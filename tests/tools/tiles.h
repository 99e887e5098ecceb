// Kernels for AMX's tiles on any CPU with AVX-512: compiled with the macros of amx.h. After help.h; the test has the implementation.
#ifndef TILES_H
#define TILES_H

static const char no_tiles[] = "the CPU has no AVX-512";

static int emulate_tiles(void) {
    char folder[1024], cc[1200];
    if (!CHECK(getcwd(folder, sizeof folder))) return 0;
    snprintf(cc, sizeof cc, "cc -include %s/tests/tools/amx.h", folder);
    return !setenv("CC", cc, 1);
}

// A context whose kernels are for AMX; NULL = the CPU has not what they use beside it.
static tc_ctx *open_tiles(int threads) {
    tc_ctx *tc = emulate_tiles() ? open_as("cpu", "avx512", threads) : NULL;
    if (!tc || tc->target >= TC__EMIT_AVX512) {
        if (tc) tc->target = TC__EMIT_AMX;
        return tc;
    }
    tc_close(tc);
    return NULL;
}

#endif
