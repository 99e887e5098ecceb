// Which elements of memory two views have in common, and how one view lies in plain memory.
// Views are made by slicing, permuting and reshaping, so their dimensions nest: sorted by stride, each
// dimension steps over all that the smaller ones reach.

// A dimension that takes steps: of more than one element, and not expanded.
typedef struct tc__reachdim {
    int dim;              // of the layout
    int64_t size, stride; // stride > 0
    int64_t
        inner; // elements from the first to the last that smaller dimensions reach, both included
} tc__reachdim;

// The dimensions of l that take steps, the largest stride first; their number.
static int tc__layout_steps(const tc__layout *l, tc__reachdim *out) {
    int n = 0;
    for (int d = 0; d < l->rank; d++) {
        tc__reachdim r;
        if (l->dims[d] <= 1 || !l->strides[d]) continue;
        r.dim = d, r.size = l->dims[d], r.inner = 1;
        r.stride = l->strides[d] < 0 ? -l->strides[d] : l->strides[d];
        int at = n++;
        for (; at && out[at - 1].stride < r.stride; at--) out[at] = out[at - 1];
        out[at] = r;
    }
    int64_t inner = 1;
    for (int i = n; i-- > 0;) {
        out[i].inner = inner;
        inner += (out[i].size - 1) * out[i].stride;
    }
    return n;
}

// Whether each dimension steps over what the smaller ones reach: no two elements are one, but by expanded
// dimensions.
static int tc__layout_nests(const tc__layout *l) {
    tc__reachdim d[TC_MAX_RANK];
    int n = tc__layout_steps(l, d);
    for (int i = 0; i < n; i++)
        if (d[i].stride < d[i].inner) return 0;
    return 1;
}

// Whether steps along these dimensions, some of them backwards, lead `gap` away from the start: with gap 0, to
// where it is, if some were taken. *budget ends what takes long, as if they did.
static int tc__steps_lead(const tc__reachdim *d, int n, int64_t gap, int taken,
                          int *budget) {
    if (!n) return !gap && taken;
    int64_t rest = d->inner - 1, low = (gap - rest) / d->stride, most = d->size - 1;
    for (int64_t k = low - 1; k <= low + 2 * rest / d->stride + 2; k++) {
        int64_t left = gap - k * d->stride;
        if (k < -most || k > most || left > rest || left < -rest) continue;
        if (--*budget < 0) return 1;
        if (tc__steps_lead(d + 1, n - 1, left, taken || k, budget)) return 1;
    }
    return 0;
}

enum { TC__STEPS_TRIED = 1 << 14 };

// Whether several elements of l are one in memory, as tc_wrap_strided can have it, beside those of dimensions that are
// expanded.
static int tc__layout_overlaps(const tc__layout *l) {
    tc__reachdim steps[TC_MAX_RANK];
    int budget = TC__STEPS_TRIED;
    if (!l->numel || tc__layout_nests(l)) return 0;
    return tc__steps_lead(steps, tc__layout_steps(l, steps), 0, 0, &budget);
}

// Whether several elements of l are one in memory, which is expanded.
static int tc__layout_repeats(const tc__layout *l) {
    for (int d = 0; d < l->rank; d++)
        if (l->dims[d] > 1 && !l->strides[d]) return l->numel > 0;
    return 0;
}

// Elements from the first to the last that n dimensions reach, both included.
static int64_t tc__steps_reach(const tc__reachdim *d, int n) {
    return n ? d->inner + (d->size - 1) * d->stride : 1;
}

// Whether an element at a + (what the dimensions `x` reach) may be one at b + (what `y` reach). 0 is sure.
static int tc__steps_meet(int64_t a, const tc__reachdim *x, int nx, int64_t b,
                          const tc__reachdim *y, int ny) {
    for (;;) {
        int64_t reach_x = tc__steps_reach(x, nx), reach_y = tc__steps_reach(y, ny);
        if (a + reach_x <= b || b + reach_y <= a) return 0;
        if (!nx && !ny) return 1;
        // Whatever the largest stride is, both are looked at within one period of it.
        int64_t period = nx && (!ny || x->stride >= y->stride) ? x->stride : y->stride;
        if (nx && x->stride == period) x++, nx--;
        if (ny && y->stride == period) y++, ny--;
        int64_t apart = (b - a) % period;
        a = 0, b = apart < 0 ? apart + period : apart;
        reach_x = tc__steps_reach(x, nx), reach_y = tc__steps_reach(y, ny);
        if (reach_x > period || reach_y > period) return 1;
        if (b + reach_y > period && tc__steps_meet(0, x, nx, b - period, y, ny)) return 1;
    }
}

// Whether views of one memory, whose first elements are `a_at` and `b_at`, may have an element in common;
// 0 is sure.
static int tc__layouts_meet(const tc__layout *a, int64_t a_at, const tc__layout *b,
                            int64_t b_at) {
    tc__reachdim x[TC_MAX_RANK], y[TC_MAX_RANK];
    if (!a->numel || !b->numel) return 0;
    if (a_at + a->high < b_at + b->low || b_at + b->high < a_at + a->low) return 0;
    int nx = tc__layout_steps(a, x), ny = tc__layout_steps(b, y);
    return tc__steps_meet(a_at + a->low, x, nx, b_at + b->low, y, ny);
}
