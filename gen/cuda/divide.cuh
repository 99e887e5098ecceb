// Division of floats of ops.def in CUDA, as cpu/math.h defines it: the quotient that goes with the
// remainder; x / 0 is x / 0.

// fn: floor_divide_f32
TC_FN float TC_N(floor_divide_f32)(float x, float y) {
    const float m = fmodf(x, y);
    const float q = (x - m) / y - (float)(m != 0 && (m < 0) != (y < 0));
    const float f = floorf(q);
    if (y == 0) return x / y;
    if (q == 0) return copysignf(0.0f, x / y);
    return f + (float)(q - f > 0.5f);
}

// fn: floor_divide_f64
TC_FN double TC_N(floor_divide_f64)(double x, double y) {
    const double m = fmod(x, y);
    const double q = (x - m) / y - (double)(m != 0 && (m < 0) != (y < 0));
    const double f = floor(q);
    if (y == 0) return x / y;
    if (q == 0) return copysign(0.0, x / y);
    return f + (double)(q - f > 0.5);
}
