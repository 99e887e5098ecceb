// What accumulators of a device's list hold when it is run on the host: a part of device_run.h.
#ifndef DEVICE_SUMS_H
#define DEVICE_SUMS_H

enum { RUN_THREADS = 1024, RUN_WIDTH = 8, RUN_SUMS = 24 };

typedef struct run_sum {
    tc__op monoid;
    int dtype, width;
    tc__word value[RUN_THREADS][RUN_WIDTH];
    int64_t place[RUN_THREADS][RUN_WIDTH]; // INT64_MAX = none
} run_sum;

static int run_finds_place(const run_sum *s) {
    return s->monoid == TC_OP_ARGMAX || s->monoid == TC_OP_ARGMIN;
}

static void run_new(run_sum *s, int thread, const tc__node *n) {
    s->monoid = (tc__op)n->attr[TC__NEW_MONOID], s->dtype = n->dtype;
    s->width = (int)n->attr[TC__NEW_WIDTH];
    REQUIRE(s->width <= RUN_WIDTH);
    for (int l = 0; l < s->width; l++) {
        s->value[thread][l] =
            tc__word_of(&tc__isa_scalar, s->dtype, tc__identity(s->monoid, s->dtype));
        s->place[thread][l] = INT64_MAX;
    }
}

// One more value, and its place, into the element at hand. Places are looked for among f32 alone.
static void run_step(const run_sum *s, tc__word *value, int64_t *place, tc__word more,
                     int64_t at) {
    if (!run_finds_place(s)) {
        tc__word in[2][TC__BLOCK_VECTOR], out[TC__BLOCK_VECTOR];
        tc__reg a, b;
        in[0][0] = *value, in[1][0] = more;
        a.at = in[0], b.at = in[1], a.mask = b.mask = 0;
        tc__isa_scalar.alu[s->monoid][s->dtype](out, &a, &b, NULL, 1);
        *value = out[0];
        return;
    }
    REQUIRE(s->dtype == TC_F32);
    int better = s->monoid == TC_OP_ARGMAX ? more.f32 > value->f32 : more.f32 < value->f32;
    if (better || (more.f32 == value->f32 && at < *place)) *value = more, *place = at;
}

// What `count` threads from `first` on have, in element 0 of all of them: each folds its elements, then pairs of
// threads exchange what they have, those that are furthest apart first.
static void run_combine(run_sum *s, int first, int count) {
    static tc__word value[RUN_THREADS];
    static int64_t place[RUN_THREADS];
    for (int i = first; i < first + count; i++)
        for (int l = 1; l < s->width; l++)
            run_step(s, &s->value[i][0], &s->place[i][0], s->value[i][l], s->place[i][l]);
    for (int apart = count / 2; apart; apart /= 2) {
        for (int i = 0; i < count; i++) {
            int other = first + (i ^ apart);
            value[i] = s->value[first + i][0], place[i] = s->place[first + i][0];
            run_step(s, &value[i], &place[i], s->value[other][0], s->place[other][0]);
        }
        for (int i = 0; i < count; i++)
            s->value[first + i][0] = value[i], s->place[first + i][0] = place[i];
    }
}

#endif
