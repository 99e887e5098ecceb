// The programs of tests/cuda/fuzz.c, each call of which is computed on the host or on the device in turn: their
// regions are programs on both, with copies between.
#define FUZZ_ACROSS
#include "fuzz.c"
