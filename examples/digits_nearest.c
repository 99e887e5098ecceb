// Reads handwritten digits by the nearest known one: 1347 examples, 450 to read, 64 pixels
// each.
//
// Build: cc -O2 -I. examples/digits_nearest.c -o digits_nearest -lpthread -ldl
// Run:   ./digits_nearest [digits.u8]     (default examples/data/digits.u8)
// Prints how many are right, one that was read wrong, and what the region became. Exit
// status 1 if less than 97 % are right.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdio.h>

enum { DIGITS = 1797, PIXELS = 64, RECORD = PIXELS + 1, READ_EVERY = 4 };

// Record: 64 pixels 0..16, row by row, then the label.
static unsigned char records[DIGITS * RECORD];

static int load(const char *path) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(records, 1, sizeof records, f) : 0;
    if (f) fclose(f);
    return n == sizeof records;
}

// Every fourth digit is read with the help of the others.
static int split(int64_t *known, int64_t *unknown, int *n_unknown) {
    int n = 0;
    *n_unknown = 0;
    for (int i = 0; i < DIGITS; i++) {
        if (i % READ_EVERY)
            known[n++] = i;
        else
            unknown[(*n_unknown)++] = i;
    }
    return n;
}

// Squared distances |a - b|^2 = |a|^2 - 2 a b + |b|^2 of rows a[N, D] and b[M, D]: [N, M].
static tc_tensor distances(tc_tensor a, tc_tensor b) {
    tc_tensor aa = tc_sum_dims(tc_square(a), TC_DIMS(1), TC_KEEPDIM);
    tc_tensor bb = tc_sum(tc_square(b), 1);
    return tc_add(tc_sub(aa, tc_mul_s(tc_matmul(a, tc_t(b)), 2)), bb);
}

static void draw(int digit) {
    const unsigned char *p = records + digit * RECORD;
    for (int y = 0; y < 8; y++) {
        for (int x = 0; x < 8; x++) putchar(" .:-=+*#@"[p[8 * y + x] / 2]);
        putchar('\n');
    }
}

int main(int argc, char **argv) {
    static int64_t known_at[DIGITS], unknown_at[DIGITS];
    const char *path = argc > 1 ? argv[1] : "examples/data/digits.u8";
    int n_unknown, n_known = split(known_at, unknown_at, &n_unknown);
    if (!load(path)) {
        fprintf(stderr, "%s: not %d digits; run from the root or name the file\n", path,
                DIGITS);
        return 1;
    }
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    tc_tensor all = tc_wrap(tc, records, TC_DIMS(DIGITS, RECORD), TC_U8);
    tc_tensor known = tc_from_data(tc, known_at, TC_DIMS(n_known), TC_I64);
    tc_tensor unknown = tc_from_data(tc, unknown_at, TC_DIMS(n_unknown), TC_I64);

    tc_trace_begin(tc, "nearest");
    tc_tensor pixels = tc_to_f32(tc_narrow(all, 1, 0, PIXELS));
    tc_tensor labels = tc_to_i32(tc_select(all, 1, PIXELS));
    tc_tensor a = tc_index_select(pixels, 0, unknown),
              b = tc_index_select(pixels, 0, known);
    tc_tensor nearest = tc_argmin(distances(a, b), 1);
    tc_tensor said =
        tc_keep(tc_index_select(tc_index_select(labels, 0, known), 0, nearest));
    tc_tensor right = tc_eq(said, tc_index_select(labels, 0, unknown));
    tc_tensor n_right = tc_sum_all(right);
    tc_tensor wrong = tc_argmin_all(tc_to_i32(right));
    tc_trace_end(tc);

    int good = (int)tc_item_i64(n_right), ok = !tc_error(tc) && good >= 0.97 * n_unknown;
    const int32_t *label = (const int32_t *)tc_data(said);
    if (label) {
        int64_t w = tc_item_i64(wrong);
        int digit = (int)unknown_at[w];
        printf("%d of %d right (%.1f %%), %d kernels\n", good, n_unknown,
               100.0 * good / n_unknown, tc_region_kernels(tc, "nearest"));
        if (label[w] != records[digit * RECORD + PIXELS]) {
            printf("the first wrong one, a %d read as %d:\n",
                   records[digit * RECORD + PIXELS], (int)label[w]);
            draw(digit);
        }
    }
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    tc_close(tc);
    return !ok;
}
