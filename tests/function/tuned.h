// A function with everything in it that a call looks at: numbers and handles in *user, bytes behind
// a pointer, a tensor behind another. After help.h.
#ifndef FUNCTION_TUNED_H
#define FUNCTION_TUNED_H

enum { ROWS = 6, COLS = 10, N = ROWS * COLS };

static int runs; // of bodies

// What `tuned` goes by.
typedef struct knobs {
    double rate;
    tc_tensor weight;  // f32 [N]
    const int *mode;   // two of them, guarded by tc_guard_bytes
    tc_tensor *beside; // a tensor that is found through a pointer
} knobs;

// out = in[0] * rate + weight + *beside, negated if mode[1]
static void tuned(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    const knobs *u = (const knobs *)user;
    runs++;
    tc_tensor y = tc_mul_s(in[0], u->rate);
    if (u->weight.id) y = tc_add(y, u->weight);
    if (u->beside) y = tc_add(y, *u->beside);
    if (u->mode) tc_guard_bytes(tc, u->mode, 2 * sizeof *u->mode);
    out[0] = u->mode && u->mode[1] ? tc_neg(y) : y;
}

// One input, its function, and what that goes by.
typedef struct stand {
    tc_fn *f;
    knobs u;
    int mode[2];
    tc_tensor x, weight[2],
        beside; // x[i] = i, weight[k][i] = 10 + (k + 1) i, beside[i] = 1000
} stand;

// Nothing but the rate, 2, is in use yet.
static void open_stand(stand *s, tc_ctx *tc) {
    memset(s, 0, sizeof *s);
    s->x = line(tc, N, 0, 1), s->beside = line(tc, N, 1000, 0);
    for (int k = 0; k < 2; k++) s->weight[k] = line(tc, N, 10, k + 1);
    s->u.rate = 2;
    s->f = tc_compile(tc, tuned, &s->u, sizeof s->u, NULL);
}

// out = in[0] + 1, by the function that *user points to, after it
static void around(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_tensor y;
    (void)tc;
    runs++;
    tc_call(*(tc_fn **)user, in, 1, &y, 1);
    out[0] = tc_add_s(y, 1);
}

static uint32_t seed;
static int below(int n) {
    seed = seed * 1664525u + 1013904223u;
    return (int)(seed >> 8) % n;
}

#endif
