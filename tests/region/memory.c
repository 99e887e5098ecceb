// Which results show whose memory: by what a write to one of them changes in the others, in eager
// code, regions and functions alike. What is expected is PyTorch's rule: movement is a view, what
// computes has memory of its own.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <sys/mman.h>

// ---- copies ----

typedef tc_tensor (*move)(tc_tensor x);

static tc_tensor m_contiguous(tc_tensor x) { return tc_contiguous(tc_t(x)); }
static tc_tensor m_contiguous_part(tc_tensor x) {
    return tc_contiguous(tc_slice(x, 1, 0, TC_END, 2));
}
static tc_tensor m_clone(tc_tensor x) { return tc_clone(x); }
static tc_tensor m_flip(tc_tensor x) { return tc_flip(x, TC_DIMS(1)); }
static tc_tensor m_flip_none(tc_tensor x) {
    tc_dims none = TC_SCALAR;
    return tc_flip(x, none);
}
static tc_tensor m_flip_one(tc_tensor x) {
    return tc_flip(tc_slice(x, 0, 0, 1, 1), TC_DIMS(0));
}
static tc_tensor m_roll(tc_tensor x) { return tc_roll(x, 0, 1); }
static tc_tensor m_roll_all(tc_tensor x) { return tc_roll(x, 4, 1); }
static tc_tensor m_pad(tc_tensor x) { return tc_pad(x, TC_DIMS(0, 0), TC_DIMS(0, 0), 7); }
static tc_tensor m_tile(tc_tensor x) { return tc_tile(x, TC_DIMS(1, 1)); }
static tc_tensor m_tile_one(tc_tensor x) {
    return tc_tile(tc_slice(x, 0, 1, 2, 1), TC_DIMS(3, 1));
}
static tc_tensor m_tile_turned(tc_tensor x) { return tc_tile(tc_t(x), TC_DIMS(2, 1, 1)); }
static tc_tensor m_pool(tc_tensor x) { return tc_max_pool2d(x, 1, 1, 0); }
static tc_tensor m_pool_steps(tc_tensor x) { return tc_max_pool2d(x, 1, 2, 0); }
static tc_tensor m_repeat(tc_tensor x) { return tc_repeat_interleave(x, 1, 0); }
static tc_tensor m_repeat_one(tc_tensor x) {
    return tc_repeat_interleave(tc_slice(x, 0, 1, 2, 1), 2, 0);
}
static tc_tensor m_repeat_cells(tc_tensor x) {
    return tc_repeat_interleave(tc_flatten(tc_slice(x, 1, 3, 4, 1), 0, 1), 3, 0);
}

static const struct {
    const char *name;
    move move;
} copies[] = {
    {"contiguous", m_contiguous},
    {"contiguous part", m_contiguous_part},
    {"clone", m_clone},
    {"flip", m_flip},
    {"flip none", m_flip_none},
    {"flip one", m_flip_one},
    {"roll", m_roll},
    {"roll all", m_roll_all},
    {"pad", m_pad},
    {"tile", m_tile},
    {"tile one", m_tile_one},
    {"tile turned", m_tile_turned},
    {"pool", m_pool},
    {"pool steps", m_pool_steps},
    {"repeat", m_repeat},
    {"repeat one", m_repeat_one},
    {"repeat cells", m_repeat_cells},
};

static move body_move;

static void move_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = body_move(in[0]);
}

// y has memory of its own, row-major: a write to either is not seen in the other.
static void check_own(const char *name, const char *where, tc_tensor x, tc_tensor y) {
    float before[64], after[64];
    size_t bytes = (size_t)tc_numel(y) * sizeof(float);
    if (!tc_data(y)) FAIL("%s, %s: no data", name, where);
    CHECK_EQ(tc_read(y, before, bytes), TC_OK);
    tc_add_s_(x, 100);
    CHECK_EQ(tc_read(y, after, bytes), TC_OK);
    if (memcmp(before, after, bytes))
        FAIL("%s, %s: a write to its operand shows", name, where);
    double first = AT(x, 0), last = AT(x, 11);
    tc_fill_(y, -1);
    if (AT(x, 0) != first || AT(x, 11) != last)
        FAIL("%s, %s: a write to it shows in its operand", name, where);
}

BOTH(copies_have_memory_of_their_own) {
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        tc_tensor x = tc_reshape(line(tc, 12, 0, 1), TC_DIMS(3, 4)), y;
        check_own(copies[i].name, "eager", x, copies[i].move(x));
        for (int visit = 0; visit < 2; visit++) {
            BEGIN(copies[i].name);
            y = copies[i].move(x);
            END();
            check_own(copies[i].name, "region", x, y);
        }
        body_move = copies[i].move;
        tc_fn *f = tc_compile(tc, move_body, NULL, 0, NULL);
        for (int visit = 0; visit < 3; visit++) {
            CALL(f, &x, 1, &y, 1);
            check_own(copies[i].name, "function", x, y);
        }
        tc_fn_free(f);
    }
}

// Inside a region a copy holds what was there, and is written alone.
BOTH(copies_do_not_follow_their_operand) {
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        tc_tensor x = tc_reshape(line(tc, 12, 0, 1), TC_DIMS(3, 4));
        float want[64], got[64];
        size_t bytes = 0;
        tc_tensor eager = copies[i].move(x);
        bytes = (size_t)tc_numel(eager) * sizeof(float);
        CHECK_EQ(tc_read(eager, want, bytes), TC_OK);
        BEGIN("follow");
        tc_tensor y = copies[i].move(x);
        tc_mul_s_(x, 3);
        tc_add_s_(y, 0.5);
        tc_tensor z = tc_mul_s(x, 1);
        END();
        CHECK_EQ(tc_read(y, got, bytes), TC_OK);
        for (size_t k = 0; k < bytes / sizeof(float); k++)
            if (got[k] != want[k] + 0.5f)
                FAIL("%s: [%d] is %g, not %g", copies[i].name, (int)k, (double)got[k],
                     (double)want[k] + 0.5);
        for (int k = 0; k < 12; k++) CHECK_EQ(AT(z, k), 3 * k);
    }
}

// What is row-major already is itself.
BOTH(contiguous_of_contiguous_is_a_view) {
    tc_tensor x = tc_reshape(line(tc, 12, 0, 1), TC_DIMS(3, 4)), y;
    tc_fill_(tc_contiguous(x), 1);
    CHECK_EQ(AT(x, 5), 1);
    BEGIN("same");
    tc_fill_(tc_contiguous(tc_slice(x, 0, 1, 2, 1)), 2);
    y = tc_contiguous(x);
    END();
    CHECK_EQ(AT(x, 3), 1);
    CHECK_EQ(AT(x, 4), 2);
    tc_fill_(y, 3);
    CHECK_EQ(AT(x, 4), 3);
}

// ---- tensors that share memory ----

BOTH(a_write_shows_in_views_of_views) {
    tc_tensor x = tc_reshape(line(tc, 24, 0, 1), TC_DIMS(4, 6)),
              v = tc_slice(x, 1, 0, 2, 1);
    for (int k = 1; k < 4; k++) {
        BEGIN("views of views");
        tc_tensor w = tc_t(v);
        tc_add_s_(x, 100);
        tc_tensor y = tc_mul_s(w, 1);
        END();
        CHECK_EQ(AT(y, 0), 100 * k);
        CHECK_EQ(AT(y, 5), 100 * k + 7);
    }
    for (int k = 0; k < 3; k++) {
        double was = AT(x, 0), beside = AT(x, 6);
        BEGIN("a lost write");
        tc_tensor w = tc_select(v, 0, 0);
        tc_add_s_(x, 2);
        tc_mul_s_(w, 2);
        END();
        CHECK_EQ(AT(x, 0), 2 * (was + 2));
        CHECK_EQ(AT(x, 6), beside + 2);
    }
}

// The same ops on tensors that lie otherwise: another path, another entry of a function.
static void b_shift(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_add_s_(in[0], 100);
    out[0] = tc_mul_s(in[1], 1);
}

BOTH(where_views_lie_is_guarded) {
    tc_fn *f = tc_compile(tc, b_shift, NULL, 0, NULL);
    tc_tensor x = line(tc, 40, 0, 1);
    double now[40];
    for (int i = 0; i < 40; i++) now[i] = i;
    for (int k = 0; k < 24; k++) {
        int a = k * 7 % 5, b = k * 3 % 29;
        tc_tensor in[2] = {tc_narrow(x, 0, a, 10), tc_narrow(x, 0, b, 10)}, y;
        for (int i = 0; i < 10; i++) now[a + i] += 100;
        if (k % 2) {
            CALL(f, in, 2, &y, 1);
        } else {
            BEGIN("shift");
            b_shift(tc, in, &y, NULL);
            END();
        }
        for (int i = 0; i < 10; i++) CHECK_EQ(AT(y, i), now[b + i]);
        for (int i = 0; i < 40; i++) CHECK_EQ(AT(x, i), now[i]);
    }
    tc_fn_free(f);
}

// Parts that share no element need nothing of each other, however their rows lie between each other.
BOTH(apart_in_one_memory) {
    tc_tensor x = tc_reshape(line(tc, 40, 0, 1), TC_DIMS(4, 10));
    uint64_t programs = 0;
    for (int k = 0; k < 8; k++) {
        tc_tensor left = tc_slice(x, 1, 0, 1 + k % 4, 1), right = tc_slice(x, 1, 4, 10, 1);
        BEGIN("apart");
        tc_add_s_(right, 1);
        tc_tensor y = tc_mul_s(tc_sum_all(left), 1);
        END();
        CHECK_EQ(AT(x, 39), 40 + k);
        CHECK_EQ(AT(y, 0), (1 + k % 4) * 60 + 4 * (k % 4) * (1 + k % 4) / 2);
        if (k == 3) programs = tc_stats_get(tc).programs;
    }
    CHECK_EQ(tc_stats_get(tc).programs, programs);
}

// What lies around a view that is written is not: it may be another thread's, or not writable at all.
BOTH(only_the_written_view_is_stored) {
    enum { PAGES = 5 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    int each = (int)(page / sizeof(float));
    char *memory = (char *)mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(memory != MAP_FAILED);
    tc_tensor x = tc_wrap(tc, memory, TC_DIMS(PAGES, each), TC_F32);
    tc_tensor row = tc_select(x, 0, 3);
    tc_fill_(x, 1);
    for (int i = 0; i < PAGES; i += 2) mprotect(memory + (size_t)i * page, page, PROT_READ);
    for (int k = 1; k < 4; k++) {
        tc_add_s_(row, 1);
        BEGIN("one row");
        tc_add_s_(tc_select(x, 0, 1), 1);
        tc_tensor all = tc_sum(x, 1); // reads the rest
        END();
        CHECK_EQ(AT(all, 0), each);
        CHECK_EQ(AT(all, 1), (k + 1) * each);
        BEGIN("strided");
        tc_add_s_(tc_slice(tc_slice(x, 0, 1, 4, 2), 1, 1, each, 2), 0);
        tc_copy_(tc_slice(x, 0, 1, 4, 2), tc_slice(x, 0, 3, 0, -2));
        tc_copy_(tc_slice(x, 0, 1, 4, 2), tc_slice(x, 0, 3, 0, -2));
        END();
        BEGIN("two views");
        tc_mul_s_(row, 1);
        tc_tensor sum = tc_sum_all(x);
        END();
        CHECK_EQ(AT(sum, 0), (3 + 2 * (k + 1)) * each);
    }
    tc_free(row), tc_free(x);
    munmap(memory, PAGES * page);
}

// ---- expanded tensors ----

BOTH(writes_through_an_expand) {
    tc_tensor x = tc_reshape(line(tc, 4, 0, 1), TC_DIMS(1, 4));
    for (int visit = 0; visit < 2; visit++) {
        double was = AT(x, 0);
        BEGIN("expand");
        tc_add_s_(tc_expand(x, TC_DIMS(1, 4)), 5);
        tc_tensor e = tc_expand(x, TC_DIMS(1, 1, 4));
        tc_add_s_(tc_select(e, 0, 0), 1);
        END();
        CHECK_EQ(AT(x, 0), was + 6);
        CHECK_EQ(AT(x, 3), was + 9);
    }
    for (int visit = 0; visit < 2; visit++) { // one row of many that are the same
        double was = AT(x, 3);
        BEGIN("row of an expand");
        tc_tensor e = tc_expand(x, TC_DIMS(3, 4)), y = tc_mul_s(tc_select(e, 0, 0), 2);
        tc_add_s_(tc_select(e, 0, 2), 1);
        tc_tensor z = tc_mul_s(tc_select(e, 0, 1), 2);
        END();
        CHECK_EQ(AT(x, 3), was + 1);
        CHECK_EQ(AT(y, 3), 2 * was);
        CHECK_EQ(AT(z, 3), 2 * was + 2);
    }
    tc_tensor outside = tc_expand(x, TC_DIMS(3, 4));
    for (int visit = 0; visit < 2; visit++) {
        double was = AT(x, 3);
        BEGIN("row of an input that is expanded");
        tc_add_s_(tc_select(outside, 0, 1), 1);
        tc_tensor z = tc_mul_s(outside, 2);
        END();
        CHECK_EQ(AT(x, 3), was + 1);
        CHECK_EQ(AT(z, 3), 2 * was + 2);
        CHECK_EQ(AT(z, 11), 2 * was + 2);
    }
    for (int n = 3; n < 8; n++) { // sizes at run time
        tc_tensor row = line(tc, n, 0, 1);
        BEGIN("row of an expand, sizes");
        tc_add_s_(tc_select(tc_expand(tc_reshape(row, TC_DIMS(1, n)), TC_DIMS(n, n)), 0, 1),
                  1);
        END();
        CHECK_EQ(AT(row, n - 1), n);
    }
    BEGIN("repeated");
    tc_add_s_(tc_permute(tc_expand(x, TC_DIMS(3, 4)), TC_DIMS(1, 0)), 5);
    ERROR(TC_E_ALIAS, "add_s_: dimension 1 is expanded");
    END();
    BEGIN("repeated, sliced");
    tc_mul_s_(tc_slice(tc_expand(x, TC_DIMS(3, 4)), 0, 0, 2, 1), 5);
    ERROR(TC_E_ALIAS, "mul_s_: dimension 0 is expanded");
    END();
}

// ---- results beside results ----

BOTH(sort_gives_both_results) {
    for (int dim = 0; dim < 2; dim++) {
        tc_tensor x = tc_reshape(line(tc, 60, 59, -1), TC_DIMS(3, 20)), value, index, top,
                  at;
        int64_t want[2] = {2, 19}, first[60];
        BEGIN(dim ? "sort 1" : "sort 0");
        tc_sort(x, dim, 0, &value, &index);
        tc_topk(x, dim ? 18 : 2, dim, 0, &top, &at);
        tc_add_s_(x, 1);
        END();
        CHECK_EQ(AT(x, 0), 60);
        CHECK_EQ(tc_read(index, first, sizeof first), TC_OK);
        CHECK_EQ(first[0], want[dim]);
        CHECK_EQ(tc_read(at, first, (size_t)tc_numel(at) * sizeof *first), TC_OK);
        CHECK_EQ(first[0], want[dim]);
        CHECK_EQ(AT(value, 0), dim ? 40 : 19);
        CHECK_EQ(AT(top, 0), dim ? 40 : 19);
    }
}

// ---- inputs as outputs ----

// The third input is not used at all.
static void pass_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = in[0];
    out[1] = in[1];
    out[2] = tc_slice(in[0], 0, 1, TC_END, 1);
    out[3] = in[0];
    out[4] = tc_mul_s(in[1], 2);
    out[5] = out[4];
}

static void only_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = in[0];
}

BOTH(inputs_pass_through_under_changing_sizes) {
    static const int sizes[] = {3, 4, 4, 7, 3, 4, 9, 9};
    tc_fn *f = tc_compile(tc, pass_body, NULL, 0, NULL);
    tc_fn *g = tc_compile(tc, only_body, NULL, 0, NULL);
    for (int k = 0; k < 16; k++) {
        int n = sizes[k % 8], twice = k % 3 == 1;
        tc_tensor in[3] = {line(tc, n, 0, 1), line(tc, n + k % 2, 10, 1),
                           line(tc, 2 * n + 1, 0, 1)};
        tc_tensor out[6], o;
        if (twice) in[1] = in[0];
        CALL(g, in, 1, &o, 1);
        CHECK_EQ(tc_numel(o), n);
        CHECK_EQ(AT(o, n - 1), n - 1);
        CALL(f, in, 3, out, 6);
        CHECK_EQ(tc_numel(out[0]), n);
        CHECK_EQ(tc_numel(out[1]), twice ? n : n + k % 2);
        CHECK_EQ(tc_numel(out[2]), n - 1);
        CHECK_EQ(AT(out[2], n - 2), n - 1);
        CHECK_EQ(AT(out[4], 0), twice ? 0 : 20);
        tc_fill_(out[3], -5);
        CHECK_EQ(AT(in[0], 1), -5);
        CHECK_EQ(AT(o, 1), -5);
        CHECK_EQ(AT(out[0], 1), -5);
        CHECK_EQ(AT(out[2], 0), -5);
        CHECK_EQ(AT(out[1], 1), twice ? -5 : 11);
        CHECK_EQ(AT(out[4], 1), twice ? 2 : 22);
        tc_fill_(out[5], 1);
        CHECK_EQ(AT(out[4], 1), 1);
        CHECK_EQ(AT(out[1], 1), twice ? -5 : 11);
    }
    CHECK(tc_stats_get(tc).programs < 12);
    tc_fn_free(g), tc_fn_free(f);
}

// Intermediates are no part of what programs hold: three regions with 12 MB of them each keep their programs.
TEST(large_intermediates_drop_no_program) {
    enum { ELEMENTS = 1 << 20 };
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.memory_mb = 24;
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = tc_keep(tc_ones(tc, TC_DIMS(ELEMENTS), TC_F32));
    for (int visit = 0; visit < 4; visit++) {
        for (int k = 0; k < 3; k++) {
            char name[8];
            snprintf(name, sizeof name, "r%d", k);
            tc_trace_begin_at(tc, name, NULL, "memory.c", k + 1);
            tc_tensor a = tc_cumsum(tc_mul_s(x, 0), 0), b = tc_cumsum(tc_add_s(a, 1), 0);
            tc_tensor y = tc_amax(tc_cumsum(tc_mul_s(b, 0), 0), 0);
            CHECK_EQ(tc_trace_end(tc), TC_OK);
            CHECK_EQ(tc_item(y), 0);
        }
        CHECK_EQ(tc_stats_get(tc).programs, 3);
    }
    tc_close(tc);
}

// ---- memory whose tensor has ended ----

enum { WIDE = 1024 }; // a base has WIDE x WIDE f32, 4 MB

static tc_tensor base(tc_ctx *tc) {
    tc_tensor flat = line(tc, WIDE * WIDE, 0, 1), z = tc_reshape(flat, TC_DIMS(WIDE, WIDE));
    tc_free(flat);
    return z;
}

static tc_tensor rows(tc_tensor x, int64_t from, int64_t to) {
    return tc_slice(x, 0, from, to, 1);
}

// Whether the context holds less than a base more than it did.
static int is_given_back(tc_ctx *tc, uint64_t before) {
    return tc_stats_get(tc).bytes < before + (1 << 20);
}

// Views that nobody can free do not hold what they were made of: they keep what they show.
BOTH(a_view_keeps_what_it_shows) {
    uint64_t before = tc_stats_get(tc).bytes;
    tc_tensor whole = line(tc, WIDE * WIDE, 0, 1),
              z = tc_reshape(whole, TC_DIMS(WIDE, WIDE));
    tc_tensor a = rows(z, 700, 710), b = rows(z, 705, 720), c = rows(z, 3, 4);
    tc_tensor turned = tc_t(z), column = tc_slice(turned, 0, 9, 5, -2);
    tc_tensor none = rows(z, 8, 8), row = rows(z, 1, 2);
    tc_tensor back = tc_slice(row, 1, 2, 0, -1); // its columns 2 and 1
    CHECK_EQ(tc_item(tc_select(tc_select(z, 0, 2), 0, 1)), 2 * WIDE + 1);
    CHECK_EQ(tc_item(tc_slice(whole, 0, TC_END, -2, -1)), WIDE * WIDE - 1);
    tc_tensor keep = tc_keep(tc_select(z, 0, 900));
    tc_free(z), tc_free(turned), tc_free(column);
    CHECK(!is_given_back(tc, before)); // the other shows all of it
    tc_free(whole);
    CHECK(is_given_back(tc, before));
    CHECK_EQ(AT(a, 9 * WIDE + 5), 709 * WIDE + 5), CHECK_EQ(AT(c, 1), 3 * WIDE + 1);
    CHECK_EQ(AT(back, 0), WIDE + 2), CHECK_EQ(AT(back, 1), WIDE + 1);
    CHECK_EQ(AT(keep, 1023), 900 * WIDE + 1023), CHECK_EQ(tc_numel(none), 0);
    // Those that share elements still do, others never did.
    (void)tc_fill_(rows(b, 0, 1), -1);
    CHECK_EQ(AT(a, 5 * WIDE), -1), CHECK_EQ(AT(a, 4 * WIDE), 704 * WIDE);
    CHECK_EQ(AT(c, 0), 3 * WIDE);
    (void)tc_item(z);
    CHECK_EQ(tc_error(tc), TC_E_DEAD);
    CHECK(strstr(tc_error_text(tc), "freed by tc_free") != NULL);
    tc_error_clear(tc);
}

// So does a scope that gives one, and columns are kept in their place among others.
BOTH(a_scope_gives_a_part) {
    uint64_t before = tc_stats_get(tc).bytes;
    tc_scope_begin(tc);
    tc_tensor z = base(tc), few = tc_slice(rows(z, 10, 20), 1, 4, 9, 2);
    few = tc_scope_return(tc, few);
    CHECK(is_given_back(tc, before));
    for (int i = 0; i < 30; i++)
        CHECK_EQ(AT(few, i), (10 + i / 3) * WIDE + 4 + 2 * (i % 3));
}

// A pointer of tc_data is right as long as its tensor lives.
BOTH(what_is_lent_does_not_move) {
    uint64_t before = tc_stats_get(tc).bytes;
    tc_tensor z = base(tc), a = rows(z, 3, 4), b = rows(z, 5, 6);
    const float *p = (const float *)tc_data(a), *all = (const float *)tc_data(z);
    REQUIRE(p && all);
    tc_free(z);
    CHECK(tc_data(a) == p && !is_given_back(tc, before));
    CHECK(p[1] == 3 * WIDE + 1);
    tc_free(a);
    tc_free(base(tc)); // looks at nothing: no memory of another is loose
    CHECK_EQ(AT(b, 7), 5 * WIDE + 7);
}

static void sum_body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(tc_sum_all(in[0]), tc_select(in[1], 0, 0));
}

// Regions and functions that have seen the tensors go on with those that moved; what a region keeps for late reads stays
// until tc_reset.
BOTH(programs_follow_what_moved) {
    uint64_t before = tc_stats_get(tc).bytes;
    tc_fn *f = tc_compile(tc, sum_body, NULL, 0, NULL);
    tc_tensor z = base(tc), in[2], out = tc_null(), sum = tc_null();
    in[0] = rows(z, 1, 3), in[1] = tc_select(rows(z, 2, 3), 0, 0);
    double want = 0;
    for (int i = WIDE; i < 3 * WIDE; i++) want += i;
    for (int visit = 0; visit < 8; visit++) {
        if (visit == 4) tc_free(z);
        if (visit == 6) (void)tc_fill_(in[1], 0);
        double first = visit < 6 ? 2 * WIDE : 0;
        double all =
            visit < 6 ? want : want - (double)(2 * WIDE + 2 * WIDE + WIDE - 1) * WIDE / 2;
        CHECK_EQ(tc_call(f, in, 2, &out, 1), TC_OK);
        CHECK_NEAR(tc_item(out), all + first, 1e-6 * want);
        tc_free(out);
        tc_trace_begin(tc, "sum");
        sum = tc_add(tc_sum_all(in[0]), tc_select(in[1], 0, 0));
        tc_trace_end(tc);
        CHECK_NEAR(tc_item(sum), all + first, 1e-6 * want);
    }
    CHECK_EQ(tc_reset(tc), TC_OK);
    CHECK(is_given_back(tc, before + (2 << 20)));
    CHECK_EQ(AT(in[0], 5), WIDE + 5), CHECK_EQ(AT(in[1], 5), 0);
    tc_fn_free(f);
}

// A leaf's gradient and its own elements are where they were for what comes later.
BOTH(a_leaf_may_be_a_part) {
    tc_tensor z = base(tc), w = rows(z, 0, 1);
    tc_requires_grad(w, 1);
    tc_free(z);
    tc_trace_begin(tc, "step");
    tc_backward(tc_sum_all(tc_mul_s(w, 3)));
    tc_trace_end(tc);
    CHECK_EQ(AT(tc_grad_of(w), 5), 3), CHECK_EQ(AT(w, 5), 5);
}

// ---- where in a page ----

enum { LARGE = 64 << 10 }; // bytes of a storage that has a place of its own in a page

static tc_tensor each_of(const tc_tensor *in, int n) {
    tc_tensor y = tc_mul_s(in[0], 2);
    for (int i = 1; i < n; i++) y = tc_add(y, in[i]);
    return y;
}

static void sum_of(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc;
    out[0] = each_of(in, *(const int *)user);
}

// A result is not stored at the places of a page where its operands are read, or a little behind them.
static void check_apart(const tc_tensor *in, int n, tc_tensor y) {
    uintptr_t at = (uintptr_t)tc_data(y);
    for (int i = 0; i < n; i++) {
        uintptr_t from = (uintptr_t)tc_data(in[i]), behind = (at - from) % 4096;
        CHECK(behind >= 512 || FAIL("%d of %d: %d behind", i, n, (int)behind));
    }
    CHECK_EQ(AT(y, 3), 3.0 * (n + 1));
}

BOTH(results_lie_apart_from_operands_in_their_pages) {
    static float x[LARGE / 4 + 4096];
    tc_tensor in[6];
    for (int i = 0; i < LARGE / 4 + 4096; i++) x[i] = (float)i;
    uint8_t *page = (uint8_t *)x + (4096 - (uintptr_t)x % 4096) % 4096;
    for (int k = 0; k < 12; k++) {
        int n = 1 + k % 3; // of 8 places at most 7 are taken, with those of earlier results
        char name[20];
        snprintf(name, sizeof name, "sum %d", k);
        for (int i = 0; i < n; i++) {
            in[i] = tc_arange(tc, 0, LARGE / 4, 1, TC_F32);
            // one is the user's, anywhere in its page
            if (i == k % 4) {
                float *own = (float *)(void *)(page + k * 320 % 4096);
                for (int e = 0; e < LARGE / 4; e++) own[e] = (float)e;
                in[i] = tc_wrap(tc, own, TC_DIMS(LARGE / 4), TC_F32);
            }
        }
        tc_trace_begin(tc, name);
        tc_tensor y = tc_keep(each_of(in, n));
        tc_trace_end(tc);
        check_apart(in, n, y);
        tc_fn *f = tc_compile(tc, sum_of, &n, sizeof n, NULL);
        for (int call = 0; call < 4; call++) { // each result has memory of its own
            tc_tensor out;
            CHECK_EQ(tc_call(f, in, n, &out, 1), TC_OK);
            check_apart(in, n, out);
        }
        tc_fn_free(f);
        CHECK_EQ(tc_reset(tc), TC_OK);
    }
}

// ---- laziness ----

static tc_tensor diffused(tc_tensor u) {
    tc_tensor a = tc_roll(u, 1, 0), b = tc_roll(u, -1, 0);
    tc_tensor c = tc_roll(u, 1, 1), d = tc_roll(u, -1, 1);
    tc_tensor sum = tc_add(tc_add(a, b), tc_add(c, d));
    return tc_add(u, tc_mul_s(tc_sub(sum, tc_mul_s(u, 4)), 0.125));
}

// Steps that nobody scopes or frees hold what two of them need, however many there are.
BOTH(lazy_steps_pile_up_nothing) {
    enum { SIDE = 96, EACH = SIDE * SIDE * 4 };
    static float x[SIDE * SIDE];
    static double want[SIDE][SIDE], last[SIDE][SIDE];
    for (int i = 0; i < SIDE * SIDE; i++) x[i] = (float)(i * 37 % 64);
    tc_tensor u = tc_from_data(tc, x, TC_DIMS(SIDE, SIDE), TC_F32);
    uint64_t early = 0;
    CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    for (int i = 0; i < 400; i++) {
        u = diffused(u);
        CHECK_EQ(tc_eval(tc, NULL, 0), TC_OK);
        if (i == 40) early = tc_stats_get(tc).bytes;
    }
    tc_stats s = tc_stats_get(tc);
    CHECK(s.bytes < early + EACH ||
          FAIL("%lld bytes, %lld early", (long long)s.bytes, (long long)early));
    CHECK(s.peak_bytes < 16 * EACH + (4 << 20) ||
          FAIL("%lld bytes at most", (long long)s.peak_bytes));
    CHECK(s.programs <= 6 || FAIL("%d programs", (int)s.programs));
    for (int i = 0; i < SIDE * SIDE; i++) want[i / SIDE][i % SIDE] = (double)x[i];
    for (int step = 0; step < 400; step++) {
        memcpy(last, want, sizeof last);
        for (int i = 0; i < SIDE; i++)
            for (int k = 0; k < SIDE; k++) {
                double sum = last[(i + 1) % SIDE][k] + last[(i + SIDE - 1) % SIDE][k] +
                             last[i][(k + 1) % SIDE] + last[i][(k + SIDE - 1) % SIDE];
                want[i][k] = last[i][k] + (sum - 4 * last[i][k]) * 0.125;
            }
    }
    for (int i = 0; i < SIDE * SIDE; i += 7)
        CHECK_NEAR(AT(u, i), want[i / SIDE][i % SIDE], 1e-3);
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
}

// ---- what late reads are kept ----

enum { MUCH = 160 << 20, LITTLE = 1 << 20 };

// Two tensors of `bytes` are written in place, and a result made of one of them is read late: its value, or NAN. *grown:
// bytes that the region took at most.
static double read_behind_writes(tc_ctx *tc, int64_t bytes, int64_t *grown) {
    tc_tensor a = tc_full(tc, TC_DIMS(bytes), 3, TC_U8);
    tc_tensor b = tc_full(tc, TC_DIMS(bytes), 5, TC_U8);
    uint8_t got[64] = {0};
    (void)tc_item(tc_sum_all(tc_narrow(a, 0, 0, 1))), (void)tc_item(tc_narrow(b, 0, 0, 1));
    int64_t before = (int64_t)tc_stats_get(tc).bytes;
    BEGIN("writes");
    tc_tensor y = tc_add_s(tc_narrow(a, 0, 0, 64), 1);
    tc_keep(tc_sum_all(y));
    tc_add_s_(a, 2), tc_add_s_(b, 2);
    END();
    *grown = (int64_t)tc_stats_get(tc).bytes - before;
    tc_status s = tc_read(y, got, sizeof got);
    double x = s ? (double)NAN : got[63];
    tc_free(a), tc_free(b);
    return x;
}

// Weights and what an optimiser keeps of them are not there twice; what is small is.
TEST(late_reads_have_copies_of_little) {
    tc_ctx *tc = open_backend("cpu");
    int64_t grown;
    REQUIRE(tc);
    CHECK_EQ(read_behind_writes(tc, LITTLE, &grown), 4);
    CHECK(grown >= 2 * LITTLE);
    CHECK(isnan(read_behind_writes(tc, MUCH, &grown)));
    ERROR(TC_E_TOUCHED, "tc_keep");
    CHECK(grown < MUCH / 2);
    tc_close(tc);
}
