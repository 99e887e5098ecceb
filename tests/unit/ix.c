// Unit tests of gen/value/ix.c: random expressions against plain arithmetic, indices of split and merged dimensions,
// bounds, runs, text.
#define TCOMPILE_IMPLEMENTATION
#define TEST_LAST_PART "value/ix_text.c"
#include "tcompile.in.h"

#include "harness.h"
#include "bare.h"

static uint64_t state = 88172645463325252u;

static int64_t roll(int64_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (int64_t)(state % (uint64_t)n);
}

typedef struct kit {
    tc_ctx *c;
    tc__ixpool p;
    tc__ix r, col, deep, s0, s1, s2; // deep has a size of run time: 3 s0 s2
    int64_t size[3], at[TC__AXES];
    int64_t rows, cols;
} kit;

static void kit_open(kit *t) {
    memset(t, 0, sizeof *t);
    t->c = bare_open();
    tc__ix_open(&t->p, t->c);
    t->rows = 1 + roll(40), t->cols = 1 + roll(40);
    t->s0 = tc__ix_sym(&t->p, 0, 1, 100), t->s1 = tc__ix_sym(&t->p, 1, 0, 9);
    t->s2 = tc__ix_sym(&t->p, 2, 1, 6);
    t->deep =
        tc__ix_var(&t->p, TC__DEPTH,
                   tc__ix_mul(&t->p, tc__ix_const(3), tc__ix_mul(&t->p, t->s0, t->s2)));
    t->r = tc__ix_var(&t->p, TC__ROW, tc__ix_const(t->rows));
    t->col = tc__ix_var(&t->p, TC__COL, tc__ix_const(t->cols));
}

static void kit_close(kit *t) {
    tc__ix_close(&t->p);
    bare_close(t->c);
}

static void kit_values(kit *t) {
    t->size[0] = 1 + roll(roll(2) ? 100 : 3), t->size[1] = roll(10),
    t->size[2] = 1 + roll(6);
    t->at[TC__ROW] = roll(t->rows), t->at[TC__COL] = roll(t->cols);
    t->at[TC__DEPTH] = roll(3 * t->size[0] * t->size[2]);
}

static int64_t kit_eval(const kit *t, tc__ix e) {
    tc__ixenv v;
    memset(&v, 0, sizeof v);
    v.sym = t->size;
    memcpy(v.var, t->at, sizeof t->at);
    return tc__ix_eval(&t->p, e, &v);
}

// An expression and its value at POINTS points, computed beside it by hand.
enum { POINTS = 12 };

typedef struct pair {
    tc__ix e;
    int64_t v[POINTS];
} pair;

typedef struct points {
    int64_t size[POINTS][3], at[POINTS][TC__AXES];
} points;

static pair leaf(kit *t, const points *q) {
    pair x;
    int64_t kind = roll(7), k = roll(21) - 10;
    x.e = kind == 0   ? t->r
          : kind == 1 ? t->col
          : kind == 2 ? t->s0
          : kind == 3 ? t->s1
          : kind == 4 ? t->s2
          : kind == 5 ? t->deep
                      : tc__ix_const(k);
    for (int i = 0; i < POINTS; i++)
        x.v[i] = kind == 0   ? q->at[i][TC__ROW]
                 : kind == 1 ? q->at[i][TC__COL]
                 : kind == 2 ? q->size[i][0]
                 : kind == 3 ? q->size[i][1]
                 : kind == 4 ? q->size[i][2]
                 : kind == 5 ? q->at[i][TC__DEPTH]
                             : k;
    return x;
}

// A number above 0, a size of run time, or one of two: what is divided by.
static pair divisor(kit *t, const points *q) {
    static const int kinds[] = {0, 0, 0, 0, 1, 2, 3, 4, 5};
    int64_t kind = kinds[roll(9)], d = 1 + roll(12);
    tc__ixpool *p = &t->p;
    pair x;
    x.e = kind == 0   ? tc__ix_const(d)
          : kind == 1 ? t->s0
          : kind == 2 ? t->s2
          : kind == 3 ? tc__ix_mul(p, tc__ix_const(d), t->s0)
          : kind == 4 ? tc__ix_mul(p, t->s0, t->s2)
                      : tc__ix_add(p, t->s0, tc__ix_const(d));
    for (int i = 0; i < POINTS; i++)
        x.v[i] = kind == 0   ? d
                 : kind == 1 ? q->size[i][0]
                 : kind == 2 ? q->size[i][2]
                 : kind == 3 ? d * q->size[i][0]
                 : kind == 4 ? q->size[i][0] * q->size[i][2]
                             : q->size[i][0] + d;
    return x;
}

static pair grow(kit *t, const points *q, int depth) {
    if (depth == 0 || roll(5) == 0) return leaf(t, q);
    pair a = grow(t, q, depth - 1), b = grow(t, q, depth - 1), x;
    int64_t op = roll(6);
    pair d = divisor(t, q);
    if (op == 0)
        x.e = tc__ix_add(&t->p, a.e, b.e);
    else if (op == 1)
        x.e = tc__ix_sub(&t->p, a.e, b.e);
    else if (op == 2)
        x.e = tc__ix_mul(&t->p, a.e, d.e);
    else if (op == 3)
        x.e = tc__ix_div(&t->p, a.e, d.e);
    else if (op == 4)
        x.e = tc__ix_mod(&t->p, a.e, d.e);
    else
        x.e = tc__ix_min(&t->p, a.e, b.e);
    for (int i = 0; i < POINTS; i++) {
        int64_t n = d.v[i], f = tc__ix_floor_div(a.v[i], n);
        x.v[i] = op == 0           ? a.v[i] + b.v[i]
                 : op == 1         ? a.v[i] - b.v[i]
                 : op == 2         ? a.v[i] * n
                 : op == 3         ? f
                 : op == 4         ? a.v[i] - f * n
                 : a.v[i] < b.v[i] ? a.v[i]
                                   : b.v[i];
    }
    return x;
}

static void make_points(kit *t, points *q) {
    for (int i = 0; i < POINTS; i++) {
        kit_values(t);
        memcpy(q->size[i], t->size, sizeof t->size);
        memcpy(q->at[i], t->at, sizeof t->at);
    }
}

static void use_point(kit *t, const points *q, int i) {
    memcpy(t->size, q->size[i], sizeof t->size);
    memcpy(t->at, q->at[i], sizeof t->at);
}

TEST(random_expressions_keep_their_value) {
    int whole = 0;
    for (int round = 0; round < 6000; round++) {
        kit t;
        points q;
        kit_open(&t);
        make_points(&t, &q);
        pair x = grow(&t, &q, 5);
        for (int i = 0; i < POINTS && !t.p.failed; i++) {
            use_point(&t, &q, i);
            int64_t v = kit_eval(&t, x.e);
            CHECK(v == x.v[i] ||
                  FAIL("round %d: %lld, not %lld", round, (long long)v, (long long)x.v[i]));
            CHECK(tc__ix_lo(&t.p, x.e) <= v && v <= tc__ix_hi(&t.p, x.e));
            int64_t d = tc__ix_divisor(&t.p, x.e);
            CHECK(d ? v % d == 0 : v == 0);
        }
        whole += !t.p.failed;
        kit_close(&t);
    }
    CHECK(whole > 4000); // the others have products of too many sizes
}

// Chunks of 8 inside heads of 64 lie at multiples of 8.
TEST(divisors_reach_into_remainders) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix k = tc__ix_mul(p, tc__ix_var(p, TC__DEPTH, tc__ix_const(64)), tc__ix_const(8)),
           head = tc__ix_const(64);
    tc__ix e = tc__ix_add(p, tc__ix_mod(p, k, head),
                          tc__ix_mul(p, tc__ix_div(p, k, head), tc__ix_const(4096)));
    CHECK_EQ(tc__ix_divisor(p, e), 8);
    kit_close(&t);
}

// Digits of the column in small bases, weighted: what reshapes of views are made of.
static tc__ix digits(kit *t, int depth) {
    tc__ixpool *p = &t->p;
    tc__ix sum = tc__ix_const(0), x = t->col;
    for (int i = 0; i < 3; i++) {
        tc__ix base = tc__ix_const(1 + roll(8)), digit = tc__ix_mod(p, x, base);
        if (i == 2) digit = x;
        sum = tc__ix_add(p, sum, tc__ix_mul(p, tc__ix_const(1 + roll(16)), digit));
        x = tc__ix_div(p, x, base);
    }
    if (!depth) return sum;
    tc__ix d = tc__ix_const(1 + roll(24));
    return tc__ix_add(p, tc__ix_mul(p, tc__ix_const(1 + roll(9)), tc__ix_mod(p, sum, d)),
                      tc__ix_div(p, sum, d));
}

// e(c + j) = e(c) + j * stride inside the runs that tc__ix_run names, aligned to them.
TEST(runs_are_what_they_promise) {
    for (int round = 0; round < 6000; round++) {
        kit t;
        points q;
        kit_open(&t);
        make_points(&t, &q);
        tc__ix e = round % 2 ? digits(&t, round % 4 == 1) : grow(&t, &q, 4).e;
        tc__ixrun run = tc__ix_run(&t.p, t.p.failed ? t.col : e, TC__COL);
        for (int i = 0; !t.p.failed && run.ok && i < POINTS; i++) {
            use_point(&t, &q, i);
            int64_t n = run.run < t.cols ? run.run : t.cols;
            int64_t block = run.run == INT64_MAX ? 0 : t.at[TC__COL] / n * n;
            t.at[TC__COL] = block;
            int64_t first = kit_eval(&t, e), stride = kit_eval(&t, run.stride);
            for (int64_t j = 0; j < n && block + j < t.cols; j++) {
                t.at[TC__COL] = block + j;
                CHECK_EQ(kit_eval(&t, e), first + j * stride);
            }
        }
        kit_close(&t);
    }
}

TEST(equal_expressions_are_one_number) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix x = tc__ix_var(p, TC__ROW, tc__ix_const(6272)), k = tc__ix_const(196), s = t.s0;
    tc__ix whole =
        tc__ix_add(p, tc__ix_mul(p, tc__ix_div(p, x, k), k), tc__ix_mod(p, x, k));
    CHECK(whole == x);
    tc__ix y = tc__ix_add(p, tc__ix_mul(p, tc__ix_div(p, x, s), s), tc__ix_mod(p, x, s));
    CHECK(y == x);
    CHECK(tc__ix_mul(p, tc__ix_add(p, x, s), s) ==
          tc__ix_add(p, tc__ix_mul(p, s, s), tc__ix_mul(p, s, x)));
    CHECK(tc__ix_equals(tc__ix_sub(p, tc__ix_add(p, x, s), tc__ix_add(p, s, x)), 0));
    CHECK(tc__ix_equals(tc__ix_div(p, x, tc__ix_const(6272)), 0));
    CHECK(tc__ix_mod(p, x, tc__ix_const(6272)) == x);
    CHECK(tc__ix_div(p, tc__ix_mul(p, x, s), s) == x);
    CHECK(tc__ix_equals(tc__ix_mod(p, tc__ix_mul(p, x, s), s), 0));
    kit_close(&t);
}

// ---- dimensions that are split and merged

enum { DIMS = 4 };

// A space of numbers, sizes of run time and sums of both.
typedef struct space {
    int rank;
    pair dims[DIMS];
} space;

static pair constant(int64_t k) {
    pair x;
    x.e = tc__ix_const(k);
    for (int i = 0; i < POINTS; i++) x.v[i] = k;
    return x;
}

static pair size_of(kit *t, const points *q, int kind) {
    pair x = constant(kind == 0 ? 2 + roll(5) : 0);
    if (kind == 1) x.e = t->s0;
    if (kind == 2) x.e = t->s2;
    if (kind == 3) x.e = tc__ix_add(&t->p, t->s2, tc__ix_const(1));
    for (int i = 0; i < POINTS && kind; i++)
        x.v[i] = q->size[i][kind == 1 ? 0 : 2] + (kind == 3);
    return x;
}

static pair times(kit *t, const pair *a, const pair *b) {
    pair x;
    x.e = tc__ix_mul(&t->p, a->e, b->e);
    for (int i = 0; i < POINTS; i++) x.v[i] = a->v[i] * b->v[i];
    return x;
}

static pair quotient(kit *t, const pair *a, const pair *d) {
    pair x;
    x.e = tc__ix_div(&t->p, a->e, d->e);
    for (int i = 0; i < POINTS; i++) x.v[i] = a->v[i] / d->v[i];
    return x;
}

static pair rest(kit *t, const pair *a, const pair *d) {
    pair x;
    x.e = tc__ix_mod(&t->p, a->e, d->e);
    for (int i = 0; i < POINTS; i++) x.v[i] = a->v[i] % d->v[i];
    return x;
}

// a * n + b
static pair step(kit *t, const pair *a, const pair *n, const pair *b) {
    pair x = times(t, a, n);
    x.e = tc__ix_add(&t->p, x.e, b->e);
    for (int i = 0; i < POINTS; i++) x.v[i] += b->v[i];
    return x;
}

// Sizes of run time are at most two, so that no product is too long.
static void space_open(kit *t, const points *q, space *s) {
    int symbols = 0;
    s->rank = 2 + (int)roll(3);
    for (int i = 0; i < s->rank; i++) {
        int kind = symbols < 2 ? (int)roll(4) : 0;
        symbols += kind != 0;
        s->dims[i] = size_of(t, q, kind);
    }
}

static pair size_of_all(kit *t, const space *s, int first, int end) {
    pair all = constant(1);
    for (int i = first; i < end; i++) all = times(t, &all, &s->dims[i]);
    return all;
}

// A variable that goes over dimensions [first, end).
static pair variable(kit *t, const space *s, points *q, tc__axis axis, int first, int end) {
    pair x, all = size_of_all(t, s, first, end);
    x.e = tc__ix_var(&t->p, axis, all.e);
    for (int i = 0; i < POINTS; i++) x.v[i] = q->at[i][axis] = roll(all.v[i]);
    return x;
}

static void expect_equal(kit *t, const points *q, const pair *x) {
    for (int i = 0; i < POINTS; i++) {
        use_point(t, q, i);
        CHECK_EQ(kit_eval(t, x->e), x->v[i]);
        CHECK(tc__ix_lo(&t->p, x->e) <= x->v[i] && x->v[i] <= tc__ix_hi(&t->p, x->e));
    }
}

// x in dimensions [first, end): the last one first; or all but the first dimension at once, and those in turn.
static void split(kit *t, const space *s, int first, int end, pair x, pair *out) {
    if (roll(2))
        for (; end - 1 > first; end--) {
            out[end - 1] = rest(t, &x, &s->dims[end - 1]);
            x = quotient(t, &x, &s->dims[end - 1]);
        }
    for (; first < end - 1; first++) {
        pair inner = size_of_all(t, s, first + 1, end);
        out[first] = quotient(t, &x, &inner);
        x = rest(t, &x, &inner);
    }
    out[first] = x;
}

// Neighbours [first, end) as one dimension.
static pair merge(kit *t, const space *s, int first, int end, const pair *index) {
    pair x = index[first];
    for (int i = first + 1; i < end; i++) x = step(t, &x, &s->dims[i], &index[i]);
    return x;
}

// Neighbours [first, end) are one dimension, and are split again: into what they were.
static void check_part(kit *t, const points *q, const space *s, int first, int end,
                       const pair *at) {
    pair again[DIMS], some = merge(t, s, first, end, at);
    split(t, s, first, end, some, again);
    for (int i = first; i < end; i++) {
        CHECK(again[i].e == at[i].e || FAIL("dimension %d of %d to %d", i, first, end));
        expect_equal(t, q, &at[i]);
    }
    CHECK(merge(t, s, first, end, again).e == some.e);
    expect_equal(t, q, &some);
}

// However the index of an element is split into dimensions, it is merged to the same number. A kernel has rows
// and columns, of the first dimensions and the last.
TEST(split_dimensions_merge_to_the_same_index) {
    for (int round = 0; round < 4000; round++) {
        kit t;
        points q;
        space s;
        pair at[DIMS];
        kit_open(&t);
        make_points(&t, &q);
        space_open(&t, &q, &s);
        int cut = (int)roll(s.rank), first = (int)roll(s.rank),
            end = first + 1 + (int)roll(s.rank - first);
        pair c = variable(&t, &s, &q, TC__COL, cut, s.rank), whole = c;
        split(&t, &s, cut, s.rank, c, at);
        if (cut) {
            pair r = variable(&t, &s, &q, TC__ROW, 0, cut),
                 cols = size_of_all(&t, &s, cut, s.rank);
            split(&t, &s, 0, cut, r, at);
            whole = step(&t, &r, &cols, &c);
        }
        CHECK(merge(&t, &s, 0, s.rank, at).e == whole.e || FAIL("round %d", round));
        check_part(&t, &q, &s, 0, s.rank, at);
        check_part(&t, &q, &s, first, end, at);
        CHECK(!t.p.failed);
        kit_close(&t);
    }
}

// Of every element, rows of [batch, heads, s0] and columns of s0, as attention has them.
TEST(rows_of_heads_are_one_index) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix three = tc__ix_const(3), s = t.s0, rows = tc__ix_mul(p, tc__ix_const(6), s),
           r = tc__ix_var(p, TC__ROW, rows), c = tc__ix_var(p, TC__COL, s);
    tc__ix plane = tc__ix_mul(p, s, s), at = tc__ix_mul(p, r, s);
    tc__ix head = tc__ix_mod(p, tc__ix_div(p, r, s), three),
           batch = tc__ix_div(p, r, tc__ix_mul(p, three, s));
    tc__ix e = tc__ix_mul(p, tc__ix_mul(p, batch, three), plane);
    e = tc__ix_add(p, e, tc__ix_mul(p, head, plane));
    e = tc__ix_add(p, e, tc__ix_mul(p, tc__ix_mod(p, r, s), s));
    CHECK(tc__ix_add(p, e, c) == tc__ix_add(p, at, c));
    CHECK(tc__ix_div(p, tc__ix_div(p, r, s), three) == batch);
    CHECK(tc__ix_mod(p, tc__ix_div(p, r, s), tc__ix_const(6)) == tc__ix_div(p, r, s));
    CHECK(tc__ix_equals(tc__ix_div(p, r, rows), 0));
    CHECK(tc__ix_div(p, tc__ix_add(p, at, c), plane) == tc__ix_div(p, r, s));
    for (int64_t size = 1; size <= 9; size++)
        for (int64_t row = 0; row < 6 * size; row++)
            for (int64_t column = 0; column < size; column++) {
                t.size[0] = size, t.at[TC__ROW] = row, t.at[TC__COL] = column;
                CHECK_EQ(kit_eval(&t, e), row / (3 * size) * 3 * size * size +
                                              row / size % 3 * size * size +
                                              row % size * size);
                CHECK_EQ(kit_eval(&t, batch), row / size / 3);
            }
    kit_close(&t);
}

// A part of a number alone is none of it, nor are parts of two, or parts that count differently.
TEST(other_parts_do_not_join) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix x = t.deep, s = t.s0, rest_of = tc__ix_mod(p, x, s);
    tc__ix high = tc__ix_mul(p, tc__ix_div(p, x, s), s), other = tc__ix_mod(p, x, t.s2);
    CHECK(tc__ix_add(p, high, rest_of) == x);
    tc__ix sums[] = {tc__ix_add(p, high, other),
                     tc__ix_add(p, tc__ix_mul(p, high, tc__ix_const(2)), rest_of),
                     tc__ix_add(p, tc__ix_mul(p, high, t.s2), rest_of),
                     tc__ix_sub(p, high, rest_of)};
    for (int64_t a = 1; a < 6; a++)
        for (int64_t b = 1; b < 6; b++)
            for (int64_t v = 0; v < 3 * a * b; v++) {
                t.size[0] = a, t.size[2] = b, t.at[TC__DEPTH] = v;
                CHECK_EQ(kit_eval(&t, sums[0]), v / a * a + v % b);
                CHECK_EQ(kit_eval(&t, sums[1]), 2 * (v / a * a) + v % a);
                CHECK_EQ(kit_eval(&t, sums[2]), v / a * a * b + v % a);
                CHECK_EQ(kit_eval(&t, sums[3]), v / a * a - v % a);
            }
    kit_close(&t);
}

// A divisor of more sizes than a product may have stays two.
TEST(long_divisors_are_no_failure) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix three = tc__ix_mul(p, tc__ix_mul(p, t.s0, t.s2), t.s0);
    tc__ix e = tc__ix_div(p, tc__ix_div(p, t.deep, three), three);
    tc__ix m = tc__ix_mod(p, tc__ix_div(p, t.deep, three), three);
    t.size[0] = 2, t.size[2] = 1, t.at[TC__DEPTH] = 5;
    CHECK_EQ(kit_eval(&t, e), 0);
    CHECK_EQ(kit_eval(&t, m), 1);
    CHECK(!t.p.failed);
    kit_close(&t);
}

TEST(digits_of_a_number_join) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix x = tc__ix_mul(p, t.s0, tc__ix_var(p, TC__ROW, tc__ix_const(1000)));
    tc__ix by3 = tc__ix_div(p, x, tc__ix_const(3)),
           mod12 = tc__ix_mod(p, x, tc__ix_const(12));
    CHECK(tc__ix_div(p, by3, tc__ix_const(4)) == tc__ix_div(p, x, tc__ix_const(12)));
    CHECK(tc__ix_mod(p, mod12, tc__ix_const(3)) == tc__ix_mod(p, x, tc__ix_const(3)));
    tc__ix digit = tc__ix_div(p, mod12, tc__ix_const(3));
    CHECK(digit == tc__ix_mod(p, by3, tc__ix_const(4)));
    tc__ix joined = tc__ix_mul(p, digit, tc__ix_const(15));
    joined = tc__ix_add(p, joined,
                        tc__ix_mul(p, tc__ix_mod(p, x, tc__ix_const(3)), tc__ix_const(5)));
    CHECK(joined == tc__ix_mul(p, mod12, tc__ix_const(5)));
    kit_close(&t);
}

TEST(substitution_simplifies_again) {
    kit t;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__ix d = tc__ix_var(p, TC__DIM0, tc__ix_const(8)),
           e = tc__ix_add(p, tc__ix_mul(p, d, tc__ix_const(4)), t.s0);
    CHECK(tc__ix_subst(p, e, d, tc__ix_const(2)) == tc__ix_add(p, t.s0, tc__ix_const(8)));
    CHECK(tc__ix_uses(p, e, (tc__axis)TC__DIM0) && !tc__ix_uses(p, e, TC__COL));
    tc__ix v = tc__ix_val(p, 7, tc__ix_const(10)), at[2];
    CHECK_EQ(tc__ix_vals(p, tc__ix_add(p, tc__ix_mul(p, v, tc__ix_const(3)), e), at, 2), 1);
    CHECK(at[0] == v && tc__ix_has_val(p, v) && !tc__ix_has_val(p, e));
    kit_close(&t);
}

// Products of too many symbols and sums of too many terms fail softly.
TEST(too_large_is_marked) {
    kit t;
    kit_open(&t);
    tc__ix e = t.s0;
    for (int i = 0; i < 6; i++) e = tc__ix_mul(&t.p, e, t.s0);
    CHECK(t.p.failed);
    kit_close(&t);
    kit_open(&t);
    tc__ix sum = tc__ix_const(0);
    for (int i = 0; i < 60; i++) sum = tc__ix_add(&t.p, sum, tc__ix_sym(&t.p, 2 + i, 1, 5));
    CHECK(t.p.failed);
    kit_close(&t);
}

TEST(text_is_in_one_order) {
    kit t;
    tc__text out;
    kit_open(&t);
    tc__ixpool *p = &t.p;
    tc__text_init(&out, t.c);
    tc__ix r = tc__ix_var(p, TC__ROW, tc__ix_const(5000)),
           c = tc__ix_var(p, TC__COL, tc__ix_const(768));
    tc__dump_ix(&out, p, tc__ix_add(p, c, tc__ix_mul(p, r, tc__ix_const(768))));
    tc__put(&out, " | ");
    tc__dump_ix(&out, p,
                tc__ix_mod(p, tc__ix_div(p, r, tc__ix_const(196)), tc__ix_const(16)));
    tc__put(&out, " | ");
    tc__dump_ix(
        &out, p,
        tc__ix_add(p, tc__ix_mul(p, tc__ix_div(p, r, tc__ix_const(196)), tc__ix_const(-3)),
                   t.s0));
    tc__put(&out, " | ");
    tc__dump_ix(
        &out, p,
        tc__ix_min(p, tc__ix_sub(p, t.s0, tc__ix_const(1)), tc__ix_mul(p, t.s1, t.s0)));
    CHECK_STR(out.at, "768*r + c | (r/196)%16 | -3*(r/196) + s0 | min(s0 - 1, s0*s1)");
    tc__text_free(&out);
    kit_close(&t);
}
