// A flat axis as places in rows, of planes: a loop over it counts places, and where its rows' length is known at run time
// only, nothing is divided. Input: index expressions of the axis' variable v. Output: v = s0 z + s1 y + x, where 0 <= x < s1,
// which print.c names so, and the same expressions of these: v / s1 is y then, and v % s1 is x.

enum { TC__DIGITS_MOST = 3 };

typedef struct tc__digits {
    tc__ixpool *x;
    tc__ix axis, extent;            // the variable, and how many there are;
    int count;                      // digits, 1 = it is its own
    tc__ix stride[TC__DIGITS_MOST]; // of each, the last one's is 1
    tc__ix digit[TC__DIGITS_MOST];  // their variables,
    tc__ix flat;                    //   and v of them
} tc__digits;

// Another stride, if it is a multiple of those that are smaller, and a divisor of those that are larger.
static void tc__digits_add(tc__digits *d, tc__ix stride) {
    int at = 0;
    if (d->count == TC__DIGITS_MOST || tc__ix_names_of(d->x, stride) ||
        stride == d->extent || !tc__ix_exact(d->x, d->extent, stride))
        return;
    while (tc__ix_exact(d->x, d->stride[at], stride)) at++;
    if (stride == d->stride[at ? at - 1 : 0] || !tc__ix_exact(d->x, stride, d->stride[at]))
        return;
    for (int i = d->count; i > at; i--) d->stride[i] = d->stride[i - 1];
    d->stride[at] = stride, d->count++;
}

// Strides of v / m, v % m and v / m % n in e.
static void tc__digits_find(tc__digits *d, tc__ix e) {
    const tc__ixpool *x = d->x;
    tc__ix of, by;
    if (tc__ix_is_const(e) || !tc__ix_names_of(x, e) || e == d->axis) return;
    tc__ixnode n = *tc__ix_node(x, e);
    if (n.kind == TC__IX_DIV || n.kind == TC__IX_MOD) {
        if (n.a == d->axis) {
            tc__digits_add(d, n.b);
        } else if (tc__ix_is_kind(x, n.a, TC__IX_DIV, &of, &by) && of == d->axis) {
            tc__digits_add(d, by);
            if (tc__ix_multiply(d->x, by, n.b, &by)) tc__digits_add(d, by);
        } else {
            tc__digits_find(d, n.a);
        }
    }
    for (uint32_t i = 0; n.kind == TC__IX_POLY && i < n.count; i++)
        for (int k = 0; k < TC__IX_ATOMS; k++)
            tc__digits_find(d, x->term.at[n.first + i].atom[k]);
}

// The longest product in e that v is in.
static int tc__digits_atoms(const tc__digits *d, tc__ix e) {
    int most = 1;
    if (tc__ix_is_const(e) || !tc__ix_names_of(d->x, e)) return 0;
    const tc__ixnode *n = tc__ix_node(d->x, e);
    if (n->kind == TC__IX_DIV || n->kind == TC__IX_MOD) most = tc__digits_atoms(d, n->a);
    for (uint32_t i = 0; n->kind == TC__IX_POLY && i < n->count; i++) {
        const tc__ix *atom = d->x->term.at[n->first + i].atom;
        int own = 0;
        while (own < TC__IX_ATOMS && atom[own]) own++;
        for (int k = 0; k < TC__IX_ATOMS && atom[k]; k++) {
            if (atom[k] == d->axis && own > most) most = own;
            int within = tc__digits_atoms(d, atom[k]);
            if (within > most) most = within;
        }
    }
    return most;
}

// How many values digit i has.
static tc__ix tc__digits_size(const tc__digits *d, int i) {
    return tc__ix_exact(d->x, i ? d->stride[i - 1] : d->extent, d->stride[i]);
}

// The variables, when all expressions have been looked at.
static void tc__digits_end(tc__digits *d) {
    static const int axes[TC__DIGITS_MOST] = {11, 2, 3}; // z, y, x: tc__axis_name
    d->flat = tc__ix_const(0);
    for (int i = 0; i < d->count; i++) {
        int axis = TC__VAR0 + axes[TC__DIGITS_MOST - d->count + i];
        d->digit[i] = tc__ix_var(d->x, axis, tc__digits_size(d, i));
        d->flat = tc__ix_add(d->x, d->flat, tc__ix_mul(d->x, d->digit[i], d->stride[i]));
    }
    if (d->count == 1) d->digit[0] = d->flat = d->axis;
}

// Digits of `axis`, which the expressions name that are given; one where a product would be too long to be written.
static tc__digits tc__digits_of(tc__ixpool *x, tc__axis axis, tc__ix extent,
                                const tc__ix *e, int count) {
    tc__digits d;
    int terms, atoms;
    memset(&d, 0, sizeof d);
    d.x = x, d.axis = tc__ix_var(x, (int)axis, extent), d.extent = extent;
    d.count = 1, d.stride[0] = tc__ix_const(1);
    for (int i = 0; i < count; i++) tc__digits_find(&d, e[i]);
    tc__digits_end(&d);
    tc__ix_measure(x, d.flat, &terms, &atoms);
    for (int i = 0; i < count && d.count > 1; i++) {
        if (tc__digits_atoms(&d, e[i]) + atoms - 1 <= TC__IX_ATOMS) continue;
        d.count = 1, d.digit[0] = d.flat = d.axis, d.stride[0] = tc__ix_const(1);
    }
    return d;
}

// e of the digits.
static tc__ix tc__in_digits(const tc__digits *d, tc__ix e) {
    return d->count == 1 ? e : tc__ix_subst(d->x, e, d->axis, d->flat);
}
