// AMX's tiles in C, for compiled kernels on CPUs without them: included before a kernel's text, whose macros they replace.
// As Intel's manual has the instructions; for tiles of 16 rows of 64 bytes.
typedef union amx_tile {
    unsigned char u[16][64];
    signed char s[16][64];
    int i[16][16];
    unsigned w[16][16];
    float f[16][16];
} amx_tile;
static __thread amx_tile amx_tile_of[8];

#define TC_TILE_ZERO(t) __builtin_memset(&amx_tile_of[t], 0, sizeof(amx_tile))
#define TC_TILE_LOAD(t, p, step)                                                           \
    for (int amx_row = 0; amx_row < 16; amx_row++)                                         \
    __builtin_memcpy(amx_tile_of[t].u[amx_row],                                            \
                     (const char *)(p) + (step)*4 * (long long)amx_row, 64)
#define TC_TILE_STORE(t, p, step)                                                          \
    for (int amx_row = 0; amx_row < 16; amx_row++)                                         \
    __builtin_memcpy((char *)(p) + (step)*4 * (long long)amx_row,                          \
                     amx_tile_of[t].u[amx_row], 64)
#define TC_TILE_DOT(op, s, x, y) amx_##op(&amx_tile_of[s], &amx_tile_of[x], &amx_tile_of[y])
#define TC_TILES_OPEN(p)         __builtin_memset(amx_tile_of, (p)[0] != 1, sizeof amx_tile_of)
#define TC_TILES_CLOSE()         __builtin_memset(amx_tile_of, 255, sizeof amx_tile_of)

#define AMX_BYTES(op, left, right)                                                         \
    static inline __attribute__((unused)) void amx_##op(amx_tile *to, const amx_tile *x,   \
                                                        const amx_tile *y) {               \
        for (int m = 0; m < 16; m++)                                                       \
            for (int k = 0; k < 16; k++)                                                   \
                for (int n = 0; n < 16; n++)                                               \
                    for (int b = 0; b < 4; b++)                                            \
                        to->i[m][n] += x->left[m][4 * k + b] * y->right[k][4 * n + b];     \
    }
AMX_BYTES(tdpbssd, s, s)
AMX_BYTES(tdpbsud, s, u)
AMX_BYTES(tdpbusd, u, s)
AMX_BYTES(tdpbuud, u, u)

// A subnormal number counts as 0, as operand and as result.
static inline float amx_flushed(float x) {
    return __builtin_fabsf(x) < 1.17549435e-38f ? __builtin_copysignf(0, x) : x;
}
static inline float amx_bf16(unsigned bits) {
    union {
        unsigned u;
        float f;
    } x = {bits << 16};
    return amx_flushed(x.f);
}

// The first of each pair and the second are summed apart, one fma a step, and added to what is there.
static inline __attribute__((unused)) void amx_tdpbf16ps(amx_tile *to, const amx_tile *x,
                                                         const amx_tile *y) {
    for (int m = 0; m < 16; m++)
        for (int n = 0; n < 16; n++) {
            float sum[2] = {0, 0};
            for (int k = 0; k < 32; k++) {
                float a = amx_bf16(x->w[m][k / 2] >> k % 2 * 16 & 65535),
                      b = amx_bf16(y->w[k / 2][n] >> k % 2 * 16 & 65535);
                sum[k % 2] = amx_flushed(__builtin_fmaf(a, b, sum[k % 2]));
            }
            to->f[m][n] =
                amx_flushed(amx_flushed(to->f[m][n]) + amx_flushed(sum[0] + sum[1]));
        }
}
