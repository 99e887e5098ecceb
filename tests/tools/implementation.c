// The implementation, for tests of the public interface alone.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"
