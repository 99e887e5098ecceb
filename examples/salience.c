// Saliency map of a photograph: edge strength plus local contrast, scaled to its largest
// value.
//
// Build: cc -O2 -I. examples/salience.c -o salience -lm -lpthread -ldl
// Run:   ./salience [photo.ppm]     (default examples/data/astronaut.ppm)
// Prints the size, the number of kernels the whole pipeline became, and the places that
// stand out most; writes the map to salience.pgm (in build/ if there is one). Checked
// against a plain double loop: exit status 1 if they differ by more than 1e-4.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct photo {
    int width, height;
    float *rgb; // [3, height, width], 0..1
} photo;

static int photo_load(photo *p, const char *path) {
    int max = 0;
    FILE *f = fopen(path, "rb");
    if (!f) return 0;
    int ok = fscanf(f, "P6 %d %d %d", &p->width, &p->height, &max) == 3 && max == 255 &&
             fgetc(f) != EOF && p->width > 0 && p->height > 0;
    size_t n = ok ? (size_t)p->width * (size_t)p->height : 0;
    p->rgb = (float *)malloc(3 * n * sizeof(float) + 1);
    for (size_t i = 0; p->rgb && i < 3 * n; i++)
        p->rgb[i % 3 * n + i / 3] = (float)fgetc(f) / 255.0f;
    ok = ok && p->rgb && !feof(f);
    fclose(f);
    return ok;
}

static tc_tensor channel(tc_tensor image, int i) { return tc_narrow(image, 1, i, 1); }

// image[N, 3, H, W] -> [N, 1, H, W]
static tc_tensor salience(tc_tensor image, tc_tensor sobel_x, tc_tensor sobel_y) {
    tc_tensor gray = tc_add(
        tc_add(tc_mul_s(channel(image, 0), 0.299), tc_mul_s(channel(image, 1), 0.587)),
        tc_mul_s(channel(image, 2), 0.114));
    tc_tensor gx = tc_conv2d(gray, sobel_x, tc_null(), 1, 1, 1, 1);
    tc_tensor gy = tc_conv2d(gray, sobel_y, tc_null(), 1, 1, 1, 1);
    tc_tensor edge = tc_sqrt(tc_add_s(tc_add(tc_square(gx), tc_square(gy)), 1e-12));
    tc_tensor contrast = tc_abs(tc_sub(gray, tc_avg_pool2d(gray, 7, 1, 3)));
    tc_tensor s = tc_add(edge, contrast);
    tc_tensor most = tc_amax_dims(s, TC_DIMS(1, 2, 3), TC_KEEPDIM);
    return tc_div(s, tc_add_s(most, 1e-6));
}

static double gray_at(const photo *p, int x, int y) {
    size_t n = (size_t)p->width * (size_t)p->height;
    size_t i = (size_t)y * (size_t)p->width + (size_t)x;
    if (x < 0 || y < 0 || x >= p->width || y >= p->height) return 0;
    return 0.299 * p->rgb[i] + 0.587 * p->rgb[n + i] + 0.114 * p->rgb[2 * n + i];
}

// The same at one pixel, before the scaling.
static double salience_at(const photo *p, int x, int y) {
    double gx = 0, gy = 0, mean = 0;
    for (int v = -1; v <= 1; v++) {
        int w = 2 - abs(v);
        gx += w * (gray_at(p, x + 1, y + v) - gray_at(p, x - 1, y + v));
        gy += w * (gray_at(p, x + v, y + 1) - gray_at(p, x + v, y - 1));
    }
    for (int v = -3; v <= 3; v++)
        for (int u = -3; u <= 3; u++) mean += gray_at(p, x + u, y + v) / 49;
    return sqrt(gx * gx + gy * gy + 1e-12) + fabs(gray_at(p, x, y) - mean);
}

// Largest difference between the map and the double loop.
static double check(const photo *p, const float *map) {
    double most = 0, worst = 0;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) most = fmax(most, salience_at(p, x, y));
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++)
            worst = fmax(
                worst, fabs(map[y * p->width + x] - salience_at(p, x, y) / (most + 1e-6)));
    return worst;
}

static const char *write_map(const photo *p, const float *map) {
    const char *path = "build/salience.pgm";
    FILE *f = fopen(path, "wb");
    if (!f) f = fopen(path = "salience.pgm", "wb");
    if (!f) return "(nowhere: cannot write)";
    fprintf(f, "P5\n%d %d\n255\n", p->width, p->height);
    for (int i = 0; i < p->width * p->height; i++) fputc((int)(map[i] * 255.0f + 0.5f), f);
    fclose(f);
    return path;
}

int main(int argc, char **argv) {
    const float sobel_x[] = {-1, 0, 1, -2, 0, 2, -1, 0, 1};
    const float sobel_y[] = {-1, -2, -1, 0, 0, 0, 1, 2, 1};
    const char *path = argc > 1 ? argv[1] : "examples/data/astronaut.ppm";
    photo p = {0, 0, NULL};
    if (!photo_load(&p, path)) {
        fprintf(stderr, "%s: not a binary 8-bit PPM; run from the root or name one\n",
                path);
        return 1;
    }
    tc_ctx *tc = tc_open(NULL);
    tc_tensor image = tc_wrap(tc, p.rgb, TC_DIMS(1, 3, p.height, p.width), TC_F32);
    tc_tensor kx = tc_const(tc, sobel_x, TC_DIMS(1, 1, 3, 3), TC_F32);
    tc_tensor ky = tc_const(tc, sobel_y, TC_DIMS(1, 1, 3, 3), TC_F32);

    tc_trace_begin(tc, "salience");
    tc_tensor s = salience(image, kx, ky);
    tc_tensor where = tc_argmax_all(s);
    tc_tensor strong = tc_sum_all(tc_to_f32(tc_gt_s(s, 0.5)));
    tc_keep(s);
    tc_trace_end(tc);

    const float *map = (const float *)tc_data(s);
    int at = (int)tc_item_i64(where), ok = map && !tc_error(tc);
    if (ok) {
        double worst = check(&p, map);
        printf("%s: %dx%d, %d kernels\n", path, p.width, p.height,
               tc_region_kernels(tc, "salience"));
        printf("most salient at (%d, %d); %.0f pixels above half of it\n", at % p.width,
               at / p.width, tc_item(strong));
        printf("largest difference to the double loop %.1e\n", worst);
        printf("written to %s\n", write_map(&p, map));
        ok = worst <= 1e-4;
    }
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    tc_close(tc);
    free(p.rgb);
    return !ok;
}
