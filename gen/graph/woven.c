// What counts for the results of a transposed convolution, axis by axis. Element i counts for result
// i * stride + k * dilation - low by tap k. Results that are `stride` apart see the same taps, every stride-th: so
// each of `stride` phases is a convolution with stride 1, and they are woven into each other (Shi et al. 2016). No zero
// is multiplied, and taps beside each other are products of more rows. The first phases have a tap more than the
// last, where stride does not divide the kernel. transposed.c makes steps of it, windowed.c nodes: what the image of
// a convolution counts is the same.
//
// Where the first result asked for is of the shorter phases' first, those stand before the longer ones, which begin one place
// later: no place is made that nobody asks for. Of 3x3 by steps of 2 with a border of 1 those were 29 x 29 for 28 x 28.
//
// Where taps are apart as well, no result but every `apart`th has any, apart being what divides both distances; if taps
// are apart still, elements get zeros between them. One element meets each tap once: each is a phase.

typedef struct tc__woven_axis {
    int64_t n, kernel, stride, dilation, low,
        out;             // elements, taps; results [0, out) are asked for
    int64_t apart;       // all but every `apart`th are zeros. Of those:
    int64_t spread, gap; // distances of elements, zeros between them, and of a phase's taps
    int64_t phases, taps;  // and taps of the first of them,
    int64_t longer;        //   of which there are so many
    int64_t first, places; // of each phase
    int turned;            // longer ones begin at first + 1, and stand behind the rest
    int64_t skip, length;  // of the woven ones those that are asked for
    int64_t before;        // results, which are zeros, before the first of those
    int whole; // places are all that elements meet: `more` than there are elements,
    int64_t more, behind; //   and so many results behind the woven ones are zeros, or none
} tc__woven_axis;

// Phases and their taps, of results that are `apart` from each other.
static void tc__woven_taps(tc__woven_axis *a, int64_t stride, int woven) {
    stride /= a->apart, a->gap = a->dilation / a->apart;
    a->phases = woven && a->gap == 1 ? stride : 1, a->spread = stride / a->phases;
    a->taps = (a->kernel - 1) / a->phases + 1;
    a->longer = a->kernel - (a->taps - 1) * a->phases;
}

// What follows of what is given. `woven` = 0: no phases, but zeros between elements.
static void tc__woven_plan(tc__woven_axis *a, int woven) {
    int64_t stride = a->n == 1 && woven ? a->dilation * a->kernel : a->stride;
    int64_t last = a->low + a->out - 1;
    a->apart = woven ? tc__ix_gcd(stride, a->dilation) : 1;
    int64_t from = (a->low + a->apart - 1) / a->apart;
    if (from * a->apart > last) a->apart = 1, from = a->low;
    tc__woven_taps(a, stride, woven), last /= a->apart;
    a->first = from / a->phases, a->places = last / a->phases - a->first + 1;
    a->skip = from - a->first * a->phases, a->length = last - from + 1;
    a->before = from * a->apart - a->low, a->whole = 0;
    a->turned = a->taps > 1 && a->skip && a->skip == a->longer;
    if (a->turned) a->places = (a->length - 1) / a->phases + 1, a->skip = 0;
}

// The same by phases that all meet elements, wherever results are asked for: those are cut out. What is planned for one element
// (n = 1) is right for n, with (n - 1) * spread more places.
static void tc__woven_whole(tc__woven_axis *a) {
    int64_t reach = (a->kernel - 1) * a->dilation + a->stride;
    a->apart = a->whole = 1;
    tc__woven_taps(a, a->stride, 1);
    a->first = a->before = a->turned = 0, a->skip = a->low, a->length = a->out;
    a->more = a->gap * (a->taps - 1);
    int64_t made = a->phases * (1 + a->more);
    a->behind = reach > made ? reach - made : 0;
    a->places = (a->n - 1) * a->spread + 1 + a->more;
}

// Elements, and zeros between them.
static int64_t tc__woven_elements(const tc__woven_axis *a) {
    return (a->n - 1) * a->spread + 1;
}

// What a phase of so many taps has before its elements and behind them, less than 0 = so many are cut off. 0 = it meets none.
static int tc__woven_border(const tc__woven_axis *a, int64_t taps, int64_t *low,
                            int64_t *high) {
    int64_t n = tc__woven_elements(a), first = a->first + (a->turned && taps == a->taps);
    *low = a->gap * (taps - 1) - first, *high = first + a->places - n;
    return taps > 0 && n + *low > 0 && n + *high > 0;
}

// Part `i`, the longer phases or the rest, of an axis: phases [*from, *to) of so many taps. 0 = there are none.
static int64_t tc__woven_part(const tc__woven_axis *a, int i, int64_t *from, int64_t *to) {
    int rest = a->turned ? !i : i;
    *from = rest ? a->longer : 0, *to = rest ? a->phases : a->longer;
    return *from < *to ? a->taps - rest : 0;
}

// Whether each phase meets an element.
static int tc__woven_meets(const tc__woven_axis *a) {
    int64_t from, to, low, high;
    for (int i = 0; i < 2; i++) {
        int64_t taps = tc__woven_part(a, i, &from, &to);
        if (taps && !tc__woven_border(a, taps, &low, &high)) return 0;
    }
    return 1;
}
