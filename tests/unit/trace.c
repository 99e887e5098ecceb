// The recorder's tries: what a visit's path looks like, when it is followed, when it forks, and
// what externals are bound to. Looks inside; what regions compute is tests/region.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"
#include "help.h"

static tc_tensor numbers(tc_ctx *tc, int n) { return tc_arange(tc, 0, n, 1, TC_F32); }
static tc__region *first_region(tc_ctx *tc) { return tc__recorder_of(tc)->region; }
static tc__visit *open_visit(tc_ctx *tc) { return tc__recorder_of(tc)->visit; }

// All steps of a trie, and those that end a path.
static void count_steps(const tc__step *s, int *steps, int *ends) {
    for (; s; s = s->sibling) {
        ++*steps;
        *ends += s->op == TC_OP_FINISH;
        count_steps(s->next, steps, ends);
    }
}

static void check_trie(tc_ctx *tc, int want_steps, int want_ends, int line) {
    int steps = 0, ends = 0;
    count_steps(first_region(tc)->root.next, &steps, &ends);
    if (steps != want_steps || ends != want_ends)
        test_fail(__FILE__, line, "%d steps and %d ends, not %d and %d", steps, ends,
                  want_steps, want_ends);
}
#define TRIE(steps, ends) check_trie(tc, (steps), (ends), __LINE__)

TEST(a_path_is_one_step_per_call) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = numbers(tc, 40);
    for (int k = 0; k < 3; k++) {
        BEGIN("trace");
        tc_tensor y = tc_add(x, x), z = tc_mul(y, x);
        (void)z;
        tc__visit *v = open_visit(tc);
        CHECK_EQ(v->path.count, 2);
        CHECK_EQ(v->external.count, 1);
        const tc__step *add = v->path.at[0], *mul = v->path.at[1];
        CHECK_EQ(add->op, TC_OP_ADD);
        CHECK(add->in[0] == TC__EXTERNAL && add->in[1] == TC__EXTERNAL);
        CHECK_EQ(add->n_bind, 1);
        CHECK_EQ(mul->in[0], 0); // the position of the sum
        CHECK_EQ(mul->in[1], TC__EXTERNAL);
        CHECK_EQ(mul->n_bind, 0);
        CHECK(mul->parent == add);
        END();
        TRIE(3, 1);
    }
    tc_close(tc);
}

TEST(a_handle_is_epoch_and_position) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = numbers(tc, 40), y[2];
    uint32_t epoch[2];
    for (int k = 0; k < 2; k++) {
        BEGIN("trace");
        tc_neg(x);
        y[k] = tc_abs(x);
        epoch[k] = open_visit(tc)->epoch;
        CHECK_EQ(tc__handle_epoch(y[k]), epoch[k]);
        CHECK(tc__is_visit(y[k]) && !tc__is_visit(x));
        CHECK_EQ(tc__position(y[k]), 1);
        END();
    }
    CHECK(epoch[0] != epoch[1]);
    tc_close(tc);
}

// Positions end: the op is refused with a word, and what was recorded before runs.
TEST(the_longest_path) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = numbers(tc, 40);
    tc_trace_begin(tc, "trace");
    tc_tensor y = tc_neg(x);
    open_visit(tc)->path.count = TC__LONGEST_VISIT;
    CHECK(tc_is_null(tc_abs(x)));
    open_visit(tc)->path.count = 1;
    CHECK_EQ(tc_trace_end(tc), TC_E_TOO_BIG);
    ERROR(TC_E_TOO_BIG, "8388607 ops");
    CHECK_EQ(AT(y, 3), -3);
    tc_close(tc);
}

TEST(patterns_fork_where_they_differ) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor a = numbers(tc, 40), b = numbers(tc, 40);
    BEGIN("trace");
    tc_add(a, a);
    END();
    TRIE(2, 1);
    BEGIN("trace");
    tc_add(a, b); // x0 x1
    END();
    TRIE(4, 2);
    BEGIN("trace");
    tc_add(b, a); // the same pattern
    END();
    TRIE(4, 2);
    BEGIN("trace");
    tc_add(b, b);
    END();
    TRIE(4, 2);
    tc_close(tc);
}

TEST(attributes_and_layouts_fork) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor m = tc_reshape(numbers(tc, 40), TC_DIMS(8, 5));
    const double s[4] = {1, 2, 1, 2};
    for (int k = 0; k < 4; k++) {
        BEGIN("trace");
        tc_add_s(m, s[k]);
        END();
        TRIE(k ? 4 : 2, k ? 2 : 1);
    }
    BEGIN("trace");
    tc_add_s(tc_t(m), 1); // a view recorded inside is a step, not a layout
    END();
    TRIE(7, 3);
    tc_tensor t = tc_t(m);
    BEGIN("trace");
    tc_add_s(t, 1); // a view from outside is a layout of its external
    END();
    TRIE(9, 4);
    BEGIN("trace");
    tc_add_s(t, 1);
    END();
    TRIE(9, 4);
    tc_close(tc);
}

TEST(a_view_of_a_bound_tensor_is_an_alias) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = numbers(tc, 40), v = tc_slice(x, 0, 0, 20, 1), w = tc_clone(v);
    BEGIN("trace");
    tc_neg(x), tc_neg(v), tc_neg(w);
    tc__visit *visit = open_visit(tc);
    CHECK_EQ(visit->external.count, 3);
    CHECK_EQ(visit->external.at[0].alias, 0);
    CHECK_EQ(visit->external.at[1].alias, 0);
    CHECK_EQ(visit->external.at[2].alias, 2);
    END();
    BEGIN("trace");
    tc_neg(x), tc_neg(w), tc_neg(w); // another pattern of storages
    END();
    TRIE(7, 2);
    tc_close(tc);
}

TEST(a_failed_match_leaves_no_binding_behind) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor a = numbers(tc, 40), b = numbers(tc, 40), c = numbers(tc, 41);
    BEGIN("trace");
    tc_add(a, b);
    END();
    // The step is tried with a bound first, then c does not fit: a must be free again.
    BEGIN("trace");
    tc_tensor y = tc_add(a, tc_narrow(c, 0, 0, 40)), z = tc_mul(a, a);
    tc__visit *v = open_visit(tc);
    CHECK_EQ(v->external.count, 2);
    CHECK_EQ(v->path.at[v->path.count - 1]->n_bind, 0);
    END();
    float out[40];
    CHECK_EQ(tc_read(y, out, sizeof out), TC_OK);
    CHECK_EQ(out[3], 6);
    CHECK_EQ(tc_read(z, out, sizeof out), TC_OK);
    CHECK_EQ(out[3], 9);
    tc_close(tc);
}

TEST(a_refused_call_is_no_step) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor a = numbers(tc, 40), b = numbers(tc, 41);
    BEGIN("trace");
    tc_neg(a);
    size_t before = open_visit(tc)->path.count, bound = open_visit(tc)->external.count;
    CHECK(tc_is_null(tc_add(a, b)));
    CHECK_EQ(open_visit(tc)->path.count, before);
    CHECK_EQ(open_visit(tc)->external.count, bound);
    tc_error_clear(tc);
    END();
    tc_close(tc);
}

TEST(breaks_and_keeps_are_steps) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = numbers(tc, 40);
    for (int k = 0; k < 3; k++) {
        BEGIN("trace");
        tc_tensor y = tc_keep(tc_add_s(x, 1)), s = tc_sum(y, 0);
        CHECK_EQ(tc_item(s), 820);
        CHECK_EQ(open_visit(tc)->path.at[1]->op, TC_OP_KEEP);
        tc_neg(s);
        END();
        tc_free(y);
    }
    int steps = 0, ends = 0;
    count_steps(first_region(tc)->root.next, &steps, &ends);
    CHECK_EQ(ends, 1);
    tc_close(tc);
}

TEST(two_visits_are_held_and_the_older_one_dies) {
    tc_ctx *tc = open_backend("aot_eager");
    tc_tensor x = numbers(tc, 40), y[4];
    for (int k = 0; k < 4; k++) {
        BEGIN("trace");
        y[k] = tc_add_s(x, 1);
        CHECK_EQ(tc__recorder_of(tc)->visits.count, k == 0 ? 1 : 2);
        END();
        CHECK(tc__visit_find(tc, y[k]) != NULL);
        if (k > 0) CHECK(tc__visit_find(tc, y[k - 1]) == NULL);
    }
    tc_close(tc);
}

TEST(closing_gives_everything_back) {
    for (int abandon = 0; abandon < 2; abandon++) {
        tc_ctx *tc = open_backend("aot_eager");
        tc_tensor x = numbers(tc, 40);
        BEGIN("trace");
        tc_keep(tc_add_s(x, 1));
        END();
        BEGIN("trace");
        tc_mul(x, x);
        if (!abandon) END();
        tc_close(tc); // ASan and LSan look on
    }
}
