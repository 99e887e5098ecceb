// Attention scores softmax(q k^T / sqrt d) between words: which word does a misspelt one
// mean? A word is embedded by hashing its letter trigrams, as subword embeddings do,
// without learning.
//
// Build: cc -O2 -I. examples/attention_score.c -o attention_score -lm -lpthread -ldl
// Run:   ./attention_score [word...]
// Prints for each word the best match with its score. Exit status 1 if a row of scores does
// not sum to 1 or, for the built-in words, a match is wrong.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH = 256, MAX_WORDS = 64 };

static const char *const known[] = {"attention", "compiler",  "entropy",  "gradient",
                                    "kernel",    "language",  "matrix",   "saliency",
                                    "softmax",   "transform", "variance", "weight"};
static const char *const misspelt[] = {"atention", "compilr",  "enthropy", "gradeint",
                                       "kernal",   "langauge", "wieght"};
static const int meant[] = {0, 1, 2, 3, 4, 5, 11};

enum {
    KNOWN = sizeof known / sizeof known[0],
    MISSPELT = sizeof misspelt / sizeof misspelt[0]
};

// Trigrams of "^word$" fall on +-1 in one of DEPTH places; shorter grams too.
static void embed(float *out, const char *word) {
    char text[66];
    int n = snprintf(text, sizeof text, "^%.60s$", word);
    memset(out, 0, DEPTH * sizeof *out);
    for (int size = 1; size <= 3; size++) {
        for (int i = 0; i + size <= n; i++) {
            uint32_t h = 2166136261u ^ (uint32_t)size;
            for (int k = 0; k < size; k++) h = (h ^ (unsigned char)text[i + k]) * 16777619u;
            h ^= h >> 15;
            out[h % DEPTH] += h & 0x10000 ? 1.0f : -1.0f;
        }
    }
}

// q[N, D], k[M, D] -> [N, M]
static tc_tensor scores(tc_tensor q, tc_tensor k) {
    double scale = 1.0 / sqrt((double)tc_dim(k, -1));
    return tc_softmax(tc_mul_s(tc_matmul(q, tc_t(k)), scale), -1);
}

int main(int argc, char **argv) {
    static float q[MAX_WORDS * DEPTH], k[KNOWN * DEPTH];
    int given = argc > 1, n = given ? argc - 1 : (int)MISSPELT, wrong = 0;
    if (n > MAX_WORDS) n = MAX_WORDS;
    for (int i = 0; i < n; i++) embed(q + i * DEPTH, given ? argv[i + 1] : misspelt[i]);
    for (int i = 0; i < (int)KNOWN; i++) embed(k + i * DEPTH, known[i]);

    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    tc_tensor queries = tc_wrap(tc, q, TC_DIMS(n, DEPTH), TC_F32);
    tc_tensor keys = tc_wrap(tc, k, TC_DIMS(KNOWN, DEPTH), TC_F32);

    tc_trace_begin(tc, "attention");
    tc_tensor p = tc_keep(scores(queries, keys));
    tc_tensor best = tc_argmax(p, -1);
    tc_trace_end(tc);

    const float *score = (const float *)tc_data(p);
    const int64_t *at = (const int64_t *)tc_data(best);
    for (int i = 0; score && at && i < n; i++) {
        double sum = 0;
        for (int j = 0; j < (int)KNOWN; j++) sum += score[i * KNOWN + j];
        int good = fabs(sum - 1) < 1e-5 && (given || at[i] == meant[i]);
        printf("%-10s -> %-10s %.3f%s\n", given ? argv[i + 1] : misspelt[i], known[at[i]],
               (double)score[i * (int)KNOWN + at[i]], good ? "" : "   WRONG");
        wrong += !good;
    }
    if (tc_error(tc)) fprintf(stderr, "error: %s\n", tc_error_text(tc));
    int ok = score && at && !wrong && !tc_error(tc);
    tc_close(tc);
    return !ok;
}
