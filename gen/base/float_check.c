// include-many: a function that does what compilers may not change, and names the option that did; NULL =
// nothing. The includer says what stands before its body. Values come from memory that the compiler may not
// look into, and each question is one expression: compilers change what stands together.
TC__FLOAT_FAULT {
    volatile float zero = 0, f = 1.5f, seven = 7, next = 1.0000001f, high, seventh, square;
    volatile double d = 1.5, tenth = 0.1, tenth_f32 = (double)0.1f;
    double exact;
    float x;
    if (tenth == tenth_f32) return "-fsingle-precision-constant";
    high = 1 / zero, square = next * next, exact = 7.0 / 49.0, seventh = (float)exact;
    x = high - high;
    if (x == x || high * 2 < 3e38f) return "-ffinite-math-only";
    x = -zero;
    if (1 / x > 0 || 1 / (x + zero) < 0) return "-fno-signed-zeros";
    x = f;
    if ((x + 0.1f) - x == 0.1f) return "-fassociative-math, or x87 (-mfpmath=387)";
    exact = d;
    if ((exact + 0.1) - exact == 0.1) return "-funsafe-math-optimizations";
    if (seven / 49 != seventh) return "-freciprocal-math, or x87 (-mfpmath=387)";
    x = next;
    if (x * x - x != square - x) return "-ffp-contract=fast";
    return NULL;
}
