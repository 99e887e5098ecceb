// Parts of a tensor that are written in a region, and read behind that: tests/append.h on the host.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

#include "append.h"

#define RUN(name)                                                                          \
    BOTH(of_##name) { name(tc); }

APPEND_TESTS(RUN)
