// Results in the place of operands, on the host: interpreted and compiled, by one thread and two.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

static tc_tensor there(tc_tensor t) { return t; }

#include "overlay.h"

BOTH(a_result_takes_the_place_of_what_it_is_made_of) { check_overlays(tc); }
