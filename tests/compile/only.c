// The implementation and nothing that uses it; linked with declarations.c.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"
