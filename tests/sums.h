// Sums in the order that is promised: element i goes to lane i % 32, lanes are added pairwise, l with l + 16, then + 8 ... + 1;
// above 8192 elements the results of chunks in the same way.
#ifndef TESTS_SUMS_H
#define TESTS_SUMS_H

#include <stddef.h>

enum { SUMS_LANES = 32, SUMS_CHUNK = 8192, SUMS_CHUNKS = 256 };

// Of count elements, at most a chunk; `step` from one to the next.
static float sum_of_chunk(const float *x, int count, int step) {
    float lane[SUMS_LANES] = {0};
    for (int i = 0; i < count; i++) lane[i % SUMS_LANES] += x[(size_t)i * (size_t)step];
    for (int h = SUMS_LANES / 2; h; h /= 2)
        for (int l = 0; l < h; l++) lane[l] += lane[l + h];
    return lane[0];
}

// Of at most SUMS_CHUNKS chunks.
static float promised_sum(const float *x, int count, int step) {
    float chunk[SUMS_CHUNKS];
    int n = 0;
    if (count <= SUMS_CHUNK) return sum_of_chunk(x, count, step);
    for (int i = 0; i < count; i += SUMS_CHUNK)
        chunk[n++] = sum_of_chunk(x + (size_t)i * (size_t)step,
                                  count - i < SUMS_CHUNK ? count - i : SUMS_CHUNK, step);
    return sum_of_chunk(chunk, n, 1);
}

#endif
