// What the options of this file's compiler do to arithmetic, although the header sets them back; nothing = 0.
#include <stdio.h>

#define TC__GNUC 1
#include "base/float_begin.c"

int main(void) {
    const char *fault = tc__float_fault();
    if (fault) puts(fault);
    return fault != 0;
}
