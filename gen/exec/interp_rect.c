// Rectangles of lanes between memory and registers: what loads (exec/interp.c) and choices (exec/interp_choose.c) copy,
// and what they fill where nothing is loaded.

// Lanes of a rectangle in registers: lane l of the block is element l * every from `at` on.
typedef struct tc__lanes {
    char *at;
    int64_t every, width;
} tc__lanes;

static char *tc__lane(const tc__lanes *d, int64_t l) {
    return d->at + l * d->every * d->width;
}

static void tc__lanes_fill(const tc__frame *f, const tc__lanes *d, int64_t l, int64_t n,
                           const tc__word *v) {
    if (n <= 0) return;
    if (d->every == 1)
        tc__fill(f->isa, tc__lane(d, l), v, d->width, n);
    else
        tc__copy_steps(tc__lane(d, l), d->every, v, 0, d->width, n);
}

// Lanes [lo, hi) of the runs in which predicates hold.
static void tc__rect_fill_part(const tc__frame *f, const tc__rect *q, const tc__lanes *d,
                               int64_t lo, int64_t hi, const tc__word *v) {
    int64_t runs = q->last - q->first, at = q->lane + q->first * q->length;
    if (hi - lo < runs)
        for (int64_t l = lo; l < hi; l++)
            tc__copy_steps(tc__lane(d, at + l), q->length * d->every, v, 0, d->width, runs);
    else
        for (int64_t k = 0; k < runs; k++)
            tc__lanes_fill(f, d, at + k * q->length + lo, hi - lo, v);
}

static int tc__rect_counts(const tc__rect *q) {
    return q->hi - q->lo == q->length && q->last - q->first == q->count;
}

// Lanes where predicates do not hold.
static void tc__rect_fill(const tc__frame *f, const tc__rect *q, const tc__lanes *d,
                          const tc__word *v) {
    if (tc__rect_counts(q)) return;
    tc__lanes_fill(f, d, q->lane, q->first * q->length, v);
    tc__lanes_fill(f, d, q->lane + q->last * q->length, (q->count - q->last) * q->length,
                   v);
    tc__rect_fill_part(f, q, d, 0, q->lo, v);
    tc__rect_fill_part(f, q, d, q->hi, q->length, v);
}

// The lanes where predicates hold; the longer of the two loops is inside where nothing lies side by side.
static void tc__rect_load(const tc__frame *f, int dtype, const tc__rect *q,
                          const tc__lanes *d, const char *s) {
    int64_t runs = q->last - q->first, n = q->hi - q->lo, bytes = tc__dtype(dtype)->bytes;
    int64_t at = q->at + q->first * q->over + q->lo * q->step;
    int64_t lane = q->lane + q->first * q->length + q->lo;
    int64_t across = (q->step > 2 || n == 1) && n < runs && !f->isa->in[dtype];
    for (int64_t l = 0; across && l < n; l++)
        tc__copy_steps(tc__lane(d, lane + l), q->length * d->every,
                       s + (at + l * q->step) * bytes, q->over, bytes, runs);
    if (across) return;
    tc__convert_fn at_once = d->every == 1 ? tc__taker(f->isa, dtype, q->step) : NULL;
    int plain = d->every == 1 && q->step == 1 && !at_once;
    if (d->every == 1 && q->step == 1 && n == q->length && q->over == n)
        n *= runs, runs = 1;
    for (int64_t k = 0; k < runs; k++, lane += q->length, at += q->over)
        if (plain)
            memcpy(tc__lane(d, lane), s + at * bytes, (size_t)(n * bytes));
        else if (at_once)
            at_once(tc__lane(d, lane), s + at * bytes, n);
        else if (d->every == 1)
            tc__take(f->isa, dtype, d->at, lane, s, at, q->step, n);
        else
            tc__copy_steps(tc__lane(d, lane), d->every, s + at * bytes, q->step, bytes, n);
}
