// Regions: following and forking, lifetimes, breaks, in-place ops, aliasing, steady state.
// Every test runs interpreted and compiled; values come from plain C loops.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <sys/mman.h>

enum { N = 40 }; // more than the 16 elements that are always outputs

// ---- following and forking ----
BOTH(leaves_have_data) {
    tc_tensor x = line(tc, N, 0, 1);
    BEGIN("leaves");
    tc_tensor y = tc_mul_s(x, 2), z = tc_add_s(y, 1), w = tc_neg(x);
    END();
    CHECK_EQ(AT(z, 7), 15);
    CHECK_EQ(AT(w, 7), -7);
}

BOTH(a_known_path_is_followed) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 10; k++) {
        BEGIN("known");
        tc_tensor y = tc_add_s(tc_mul(x, x), 3);
        END();
        CHECK_EQ(AT(y, 5), 28);
    }
    tc_stats s = tc_stats_get(tc);
    CHECK_EQ(s.visits, 10);
    CHECK_EQ(s.records, 1);
    CHECK_EQ(s.programs, 1);
}

BOTH(another_path_forks_once) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 12; k++) {
        BEGIN("fork");
        tc_tensor y = tc_add_s(x, 1);
        y = k % 3 == 0 ? tc_neg(y) : k % 3 == 1 ? tc_square(y) : tc_mul(y, x);
        y = tc_sub_s(y, 1);
        END();
        CHECK_EQ(AT(y, 4), k % 3 == 0 ? -6 : k % 3 == 1 ? 24 : 19);
    }
    CHECK_EQ(tc_stats_get(tc).records, 3);
    CHECK_EQ(tc_stats_get(tc).programs, 3);
}

BOTH(a_prefix_is_a_path_of_its_own) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 8; k++) {
        BEGIN("prefix");
        tc_tensor y = tc_add_s(x, 1), z = y;
        if (k % 2) z = tc_mul_s(y, 10);
        END();
        CHECK_EQ(AT(z, 3), k % 2 ? 40 : 4);
    }
    CHECK_EQ(tc_stats_get(tc).records, 2);
}

BOTH(an_empty_region) {
    for (int k = 0; k < 3; k++) {
        BEGIN("empty");
        END();
    }
    CHECK_EQ(tc_stats_get(tc).visits, 3);
}

BOTH(equality_pattern_of_operands) {
    tc_tensor a = line(tc, N, 0, 1), b = line(tc, N, 100, 1);
    tc_tensor pairs[4][2];
    pairs[0][0] = a, pairs[0][1] = a;
    pairs[1][0] = a, pairs[1][1] = b;
    pairs[2][0] = b, pairs[2][1] = b;
    pairs[3][0] = b, pairs[3][1] = a;
    for (int k = 0; k < 16; k++) {
        tc_tensor p = pairs[(k * 7 + k / 4) % 4][0], q = pairs[(k * 7 + k / 4) % 4][1];
        double want = AT(p, 2) - 3 * AT(q, 2);
        BEGIN("pattern");
        tc_tensor y = tc_sub(p, tc_mul_s(q, 3));
        END();
        CHECK_EQ(AT(y, 2), want);
    }
    CHECK_EQ(tc_stats_get(tc).records, 2);
}

BOTH(three_operands_all_patterns) {
    tc_tensor t[3];
    for (int i = 0; i < 3; i++) t[i] = line(tc, N, 10 * i, 1);
    for (int k = 0; k < 54; k++) {
        tc_tensor a = t[k % 3], b = t[k / 3 % 3], c = t[k / 9 % 3];
        BEGIN("patterns of three");
        tc_tensor y = tc_add(tc_mul_s(a, 100), tc_add(tc_mul_s(b, 10), c));
        END();
        CHECK_EQ(AT(y, 1), 100 * (10 * (k % 3) + 1) + 10 * (10 * (k / 3 % 3) + 1) +
                               10 * (k / 9 % 3) + 1);
    }
    CHECK_EQ(tc_stats_get(tc).records, 5); // Bell number of 3
}

BOTH(layout_and_shape_and_dtype_fork) {
    float data[64];
    for (int i = 0; i < 64; i++) data[i] = (float)i;
    tc_tensor m = tc_from_data(tc, data, TC_DIMS(8, 8), TC_F32);
    tc_tensor half = tc_slice(m, 0, 0, 4, 1), i32 = tc_cast(m, TC_I32);
    tc_tensor in[4];
    in[0] = m, in[1] = tc_t(m), in[2] = half, in[3] = tc_cast(i32, TC_F64);
    for (int k = 0; k < 12; k++) {
        BEGIN("layouts");
        tc_tensor y = tc_to_f32(tc_add_s(in[k % 4], 1));
        END();
        CHECK_EQ(AT(y, 10), k % 4 == 1 ? 18 : 11);
    }
    CHECK_EQ(tc_stats_get(tc).records, 4);
}

BOTH(scalars_that_change) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 12; k++) {
        BEGIN("scalars");
        tc_tensor y = tc_add_s(tc_mul_s(x, k), 0.5);
        END();
        CHECK_EQ(AT(y, 3) * 2, 6 * k + 1);
    }
}

BOTH(same_name_at_another_place_is_another_region) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 4; k++) {
        tc_trace_begin_at(tc, "same", NULL, "region.c", 10);
        tc_tensor y = tc_add_s(x, 1);
        END();
        tc_trace_begin_at(tc, "same", NULL, "region.c", 20);
        tc_tensor z = tc_add_s(y, 2);
        END();
        CHECK_EQ(AT(y, 1), 2);
        CHECK_EQ(AT(z, 1), 4);
    }
    CHECK_EQ(tc_stats_get(tc).records, 2);
}

// ---- lifetimes ----
BOTH(results_live_until_the_end_of_the_next_visit) {
    tc_tensor x = line(tc, N, 0, 1), y[3];
    for (int k = 0; k < 3; k++) {
        BEGIN("lives");
        y[k] = tc_add_s(x, 10);
        if (k) CHECK_EQ(tc_numel(y[k - 1]), N);
        END();
        CHECK_EQ(AT(y[k], 1), 11);
    }
    float out[N];
    CHECK(y[0].id != y[1].id && y[1].id != y[2].id);
    CHECK_EQ(tc_read(y[0], out, sizeof out), TC_E_DEAD);
    ERROR(TC_E_DEAD, "tc_keep");
    CHECK_EQ(tc_read(y[1], out, sizeof out), TC_E_DEAD);
    ERROR(TC_E_DEAD, "tc_keep");
    CHECK_EQ(AT(y[2], 1), 11);
}

BOTH(the_old_result_is_readable_inside_the_next_visit) {
    tc_tensor x = line(tc, N, 0, 1), old = tc_null();
    for (int k = 0; k < 6; k++) {
        BEGIN("old");
        tc_tensor y = tc_add_s(x, k);
        if (k) CHECK_EQ(AT(old, 2), 2 + k - 1);
        END();
        CHECK_EQ(AT(y, 2), 2 + k);
        old = y;
    }
}

BOTH(dead_operand_is_an_error_and_null) {
    tc_tensor x = line(tc, N, 0, 1), y = tc_null(), first = tc_null();
    for (int k = 0; k < 3; k++) {
        BEGIN("dead operand");
        y = tc_add_s(x, 1);
        END();
        if (!k) first = y;
    }
    CHECK(tc_is_null(tc_add(first, x)));
    ERROR(TC_E_DEAD, "add");
    BEGIN("with the dead");
    tc_tensor z = tc_mul(x, first);
    tc_tensor w = tc_neg(x);
    CHECK(tc_is_null(z));
    tc_error_clear(tc);
    tc_trace_end(tc);
    CHECK_EQ(AT(w, 3), -3);
    tc_error_clear(tc);
    CHECK_EQ(AT(y, 3), 4);
}

BOTH(kept_results_live_until_free) {
    tc_tensor x = line(tc, N, 0, 1), kept[8];
    for (int k = 0; k < 8; k++) {
        BEGIN("keep");
        tc_tensor y = tc_add_s(x, k);
        kept[k] = tc_keep(y);
        tc_tensor z = tc_mul(y, y);
        END();
        CHECK_EQ(AT(z, 1), (k + 1) * (k + 1));
    }
    for (int k = 0; k < 8; k++) CHECK_EQ(AT(kept[k], 5), 5 + k);
    tc_tensor sum = tc_add(kept[0], kept[7]);
    CHECK_EQ(AT(sum, 0), 7);
    for (int k = 0; k < 8; k++) tc_free(kept[k]);
    CHECK(tc_is_null(tc_neg(kept[3])));
    ERROR(TC_E_DEAD, "neg");
}

// tc_free right after the region, while the visit still has the result.
BOTH(a_kept_result_freed_at_once_is_freed) {
    tc_tensor x = line(tc, 5000, 0, 1);
    size_t bytes = 0;
    for (int k = 0; k < 20; k++) {
        BEGIN("keep");
        tc_tensor y = tc_keep(tc_add_s(x, k));
        END();
        CHECK_EQ(AT(y, 1), k + 1);
        tc_free(y);
        if (k == 4) bytes = tc_stats_get(tc).bytes;
    }
    CHECK_EQ(tc_stats_get(tc).bytes, bytes);
}

BOTH(keeping_twice_and_keeping_an_input) {
    tc_tensor x = line(tc, N, 0, 1), a = tc_null();
    for (int k = 0; k < 4; k++) {
        BEGIN("twice");
        tc_tensor y = tc_add_s(x, 1);
        tc_keep(y), tc_keep(y), tc_keep(x);
        END();
        if (k == 0)
            a = y;
        else
            tc_free(y);
    }
    CHECK_EQ(AT(a, 0), 1);
    CHECK_EQ(AT(x, 3), 3);
    tc_free(a);
}

BOTH(a_consumed_result_is_computed_on_demand) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 5; k++) {
        BEGIN("demand");
        tc_tensor y = tc_square(x), z = tc_add_s(y, 1);
        END();
        CHECK_EQ(AT(y, 3), 9);
        CHECK_EQ(AT(z, 3), 10);
        CHECK_EQ(AT(y, 4), 16);
    }
    // The second visit stores it, and makes its program anew once.
    CHECK(tc_stats_get(tc).programs <= 3);
}

// The first visits compute it from what the input was, and it is stored from then on; what is read late
// for the first time after more of them is not there.
BOTH(demand_after_an_input_changed) {
    tc_tensor x = line(tc, N, 0, 1), y = x, z = x, w = x;
    float out[N];
    for (int k = 0; k < 12; k++) {
        BEGIN("touched");
        y = tc_square(x), z = tc_add_s(y, 1), w = tc_mul_s(tc_neg(z), 2);
        END();
        tc_add_s_(x, 1);
        CHECK_EQ(AT(y, 3), (3 + k) * (3 + k));
        CHECK_EQ(AT(w, 3), -2 * (3 + k) * (3 + k) - 2);
    }
    CHECK_EQ(tc_read(z, out, sizeof out), TC_E_TOUCHED);
    ERROR(TC_E_TOUCHED, "tc_keep");
    CHECK_EQ(AT(x, 3), 15);
}

// Of no elements none changes.
BOTH(demand_after_an_empty_input_was_written) {
    for (int k = 0; k < 12; k++) {
        tc_tensor x = tc_zeros(tc, TC_DIMS(9, 0), TC_F32);
        BEGIN("empty");
        tc_tensor y = tc_matmul(x, tc_t(x)), z = tc_neg(y);
        tc_add_s_(x, 1);
        END();
        CHECK_EQ(AT(z, 80), 0);
        if (k > 8) CHECK_EQ(AT(y, 80), 0);
    }
}

BOTH(small_results_are_always_outputs) {
    tc_tensor x = line(tc, N, 0, 1);
    BEGIN("small");
    tc_tensor s = tc_sum(x, 0), y = tc_sub(x, s);
    END();
    tc_add_s_(x, 1);
    CHECK_EQ(tc_item(s), N * (N - 1) / 2);
    CHECK_EQ(AT(y, 1), 1 - N * (N - 1) / 2);
}

// ---- state across visits ----
BOTH(recurrence_fifty_visits) {
    float want[N];
    tc_tensor h = line(tc, N, 0, 0.25);
    for (int i = 0; i < N; i++) want[i] = (float)i * 0.25f;
    for (int k = 0; k < 50; k++) {
        tc_tensor old = h;
        BEGIN("step");
        h = tc_add_s(tc_mul_s(h, 0.5), 1);
        CHECK_EQ(AT(old, 9) * 1024, (double)want[9] * 1024); // no break: it is in memory
        END();
        for (int i = 0; i < N; i++) want[i] = want[i] * 0.5f + 1;
        float got[N];
        CHECK_EQ(tc_read(h, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
    }
}

BOTH(fibonacci_swaps_two_results) {
    double a = 0, b = 1;
    tc_tensor x = line(tc, N, 0, 0), y = line(tc, N, 1, 0);
    for (int k = 0; k < 30; k++) {
        BEGIN("fibonacci");
        tc_tensor z = tc_add(x, y);
        tc_tensor w = tc_mul_s(y, 1);
        END();
        x = w, y = z;
        double c = a + b;
        a = b, b = c;
        CHECK_EQ(AT(x, 39), a);
        CHECK_EQ(AT(y, 0), b);
    }
}

BOTH(a_result_passed_on_through_a_view) {
    tc_tensor h = line(tc, N, 0, 1);
    for (int k = 0; k < 20; k++) {
        tc_tensor r = tc_flip(h, TC_DIMS(0));
        BEGIN("view of the last");
        h = tc_add_s(r, 1);
        END();
        CHECK_EQ(AT(h, 0), k % 2 ? k + 1 : N + k);
    }
}

BOTH(two_regions_feed_each_other) {
    tc_tensor a = line(tc, N, 0, 1);
    for (int k = 0; k < 20; k++) {
        BEGIN("first");
        tc_tensor b = tc_add_s(a, 1);
        END();
        tc_trace_begin_at(tc, "second", NULL, "region.c", 2);
        a = tc_mul_s(b, k % 2 ? 0.5 : 2);
        END();
        CHECK(AT(a, 0) >= 0);
    }
    // a0 = 0; pairs of visits: (x + 1) * 2, then (y + 1) / 2
    double x = 0;
    for (int k = 0; k < 20; k++) x = (x + 1) * (k % 2 ? 0.5 : 2);
    CHECK_NEAR(AT(a, 0), x, 1e-5);
}

static tc_tensor model(tc_tensor x, tc_tensor w, tc_tensor b) {
    return tc_relu(tc_add(tc_matmul(x, w), b));
}

BOTH(two_models_alternate_in_one_region) {
    tc_tensor x[2], w[2], b[2];
    for (int m = 0; m < 2; m++) {
        int k = 4 + 4 * m;
        x[m] = tc_full(tc, TC_DIMS(5, k), 1 + m, TC_F32);
        w[m] = tc_full(tc, TC_DIMS(k, 8), 0.5, TC_F32);
        b[m] = tc_full(tc, TC_DIMS(8), m, TC_F32);
    }
    for (int k = 0; k < 12; k++) {
        int m = k % 2;
        BEGIN("models");
        tc_tensor y = model(x[m], w[m], b[m]);
        END();
        CHECK_EQ(AT(y, 11), m ? 9 : 2);
    }
    CHECK_EQ(tc_stats_get(tc).records, 2);
    // Two sets of weights of equal shape share one program.
    tc_tensor v = tc_full(tc, TC_DIMS(4, 8), 1, TC_F32);
    BEGIN("models");
    tc_tensor y = model(x[0], v, b[0]);
    END();
    CHECK_EQ(AT(y, 0), 4);
    CHECK_EQ(tc_stats_get(tc).records, 2);
}

// ---- nesting and abandonment ----
static tc_tensor inner(tc_ctx *tc, tc_tensor x) {
    tc_trace_begin_at(tc, "inner", NULL, "region.c", 7);
    tc_tensor y = tc_add_s(tc_square(x), 1);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    return y;
}

BOTH(a_region_inside_a_region_is_inlined) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 5; k++) {
        BEGIN("outer");
        tc_tensor y = tc_mul_s(inner(tc, tc_add_s(x, 1)), 2);
        tc_tensor z = inner(tc, y);
        END();
        CHECK_EQ(AT(z, 1), 101);
        tc_tensor w = inner(tc, x);
        CHECK_EQ(AT(w, 3), 10);
    }
    CHECK_EQ(tc_stats_get(tc).records, 2);
}

BOTH(an_abandoned_region_is_an_error_and_nothing_else) {
    tc_tensor x = line(tc, N, 0, 1);
    BEGIN("left");
    tc_tensor lost = tc_add_s(x, 1);
    BEGIN("left"); // again: the first was left without an end
    ERROR(TC_E_REGION, "left");
    tc_tensor y = tc_add_s(x, 2);
    END();
    CHECK_EQ(AT(y, 0), 2);
    float out[N];
    CHECK(tc_read(lost, out, sizeof out) < 0);
    tc_error_clear(tc);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    ERROR(TC_E_REGION, "tc_trace_begin");
    CHECK_EQ(AT(x, 5), 5);
}

BOTH(an_error_inside_leaves_inputs_alone) {
    tc_tensor x = line(tc, N, 0, 1), other = line(tc, N + 1, 0, 1);
    BEGIN("mistake");
    tc_tensor y = tc_add_s(x, 1), bad = tc_add(y, other), z = tc_mul_s(y, 2);
    CHECK(tc_is_null(bad));
    tc_trace_end(tc);
    ERROR(TC_E_BROADCAST, "add");
    CHECK_EQ(AT(x, 7), 7);
    CHECK_EQ(AT(z, 7), 16);
}

// ---- graph breaks ----
// One element is read where it lies: no view is made, and the memory of all goes with the tensor.
BOTH(one_element_is_read) {
    tc_tensor x = line(tc, 24, 0, 1), s = tc_full(tc, TC_SCALAR, 7, TC_I64);
    tc_tensor m = tc_t(tc_slice(tc_reshape(x, TC_DIMS(4, 6)), 1, 5, 0, -2));
    uint64_t bytes = tc_stats_get(tc).bytes;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++) {
            CHECK_EQ(tc_get(m, TC_DIMS(i, j)), 6 * j + 5 - 2 * i);
            CHECK_EQ(tc_get(m, TC_DIMS(i - 3, j - 4)), 6 * j + 5 - 2 * i);
        }
    CHECK_EQ(tc_get(s, TC_SCALAR), 7);
    CHECK_EQ(tc_stats_get(tc).bytes, bytes);
    for (int k = 0; k < 3; k++) {
        BEGIN("get");
        tc_tensor y = tc_add_s(x, k), z = tc_null();
        if (tc_get(y, TC_DIMS(3)) == 3 + k) z = tc_add_s(y, 1);
        END();
        CHECK_EQ(tc_get(z, TC_DIMS(-1)), 24 + k);
    }
}

BOTH(item_inside_a_region) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 4; k++) {
        BEGIN("item");
        tc_tensor y = tc_add_s(x, k), s = tc_sum(y, 0);
        double total = tc_item(s);
        tc_tensor z = tc_div(y, s);
        END();
        CHECK_EQ(total, N * (N - 1) / 2 + k * N);
        CHECK_EQ(AT(z, 2), (double)((float)(2 + k) / (float)total));
        CHECK_EQ(AT(y, 2), 2 + k);
    }
    CHECK(tc_stats_get(tc).graph_breaks >= 4);
}

BOTH(data_dependent_branches) {
    for (int k = 0; k < 30; k++) {
        int sign = (k * 7 % 5) - 2;
        tc_tensor x = line(tc, N, sign, 0);
        BEGIN("branches");
        tc_tensor y = tc_mul_s(x, 3), z;
        if (tc_item(tc_sum(y, 0)) > 0)
            z = tc_sub_s(y, 1);
        else if (tc_item(tc_amax(x, 0)) < 0)
            z = tc_neg(y);
        else
            z = tc_add_s(y, 100);
        tc_tensor w = tc_add(z, x);
        END();
        double y0 = 3 * sign, z0 = y0 > 0 ? y0 - 1 : sign < 0 ? -y0 : y0 + 100;
        CHECK_EQ(AT(z, 0), z0);
        CHECK_EQ(AT(w, 17), z0 + sign);
        CHECK_EQ(AT(y, 1), y0);
        tc_free(x);
    }
    CHECK_EQ(tc_stats_get(tc).records, 3);
}

BOTH(values_cross_several_breaks) {
    tc_tensor x = line(tc, N, 1, 1);
    for (int k = 0; k < 5; k++) {
        BEGIN("crossing");
        tc_tensor a = tc_add_s(x, 1), b = tc_mul(a, x),
                  c = tc_t(tc_reshape(b, TC_DIMS(8, 5)));
        double s = tc_item(tc_amax(tc_flatten(b, 0, -1), 0));
        tc_tensor d = tc_add(c, tc_reshape(a, TC_DIMS(5, 8)));
        double t = tc_item(tc_sum_all(d));
        tc_tensor e = tc_mul(tc_add(b, a), x);
        END();
        double sum = 0;
        for (int i = 1; i <= N; i++) sum += i * (i + 1) + i + 1;
        CHECK_EQ(s, N * (N + 1));
        CHECK_EQ(t, sum);
        CHECK_EQ(AT(e, 2), (3 * 4 + 4) * 3);
        CHECK_EQ(AT(d, 1), (6 * 7) + 3);
    }
}

BOTH(fullgraph_refuses_a_break) {
    tc_tensor x = line(tc, N, 0, 1);
    tc_options o = tc_options_default();
    o.fullgraph = 1;
    for (int k = 0; k < 3; k++) {
        tc_trace_begin_at(tc, "full", &o, "region.c", 1);
        tc_tensor y = tc_add_s(x, 1);
        tc_add_s_(x, 5);
        if (k == 2) { // without the read it is an ordinary region
            END();
            CHECK_EQ(AT(y, 1), 2);
            CHECK_EQ(AT(x, 1), 6);
            continue;
        }
        double v = tc_item(tc_sum(y, 0));
        int at = __LINE__ - 1;
        CHECK_EQ(v, 0);
        CHECK_EQ(tc_error_line(tc), at);
        CHECK(tc_error_file(tc) && strstr(tc_error_file(tc), "region.c"));
        ERROR(TC_E_FULLGRAPH, "full");
        tc_tensor z = tc_neg(y);
        CHECK_EQ(tc_trace_end(tc), TC_E_FULLGRAPH); // the whole region fails
        tc_error_clear(tc);
        float out[N];
        CHECK(tc_read(z, out, sizeof out) < 0);
        tc_error_clear(tc);
        CHECK_EQ(AT(x, 1), 1); // and leaves its inputs alone
    }
}

BOTH(a_disabled_region_is_eager) {
    tc_tensor x = line(tc, N, 0, 1);
    tc_options o = tc_options_default();
    o.disable = 1;
    CHECK_EQ(tc_trace_begin_with(tc, "off", &o), TC_OK);
    tc_tensor y = tc_add_s(x, 1), z = tc_mul(y, y);
    CHECK_EQ(tc_item(tc_amax(z, 0)), N * N);
    END();
    CHECK_EQ(AT(y, 1), 2);
    CHECK_EQ(tc_stats_get(tc).visits, 0);
}

// ---- in-place ----
BOTH(in_place_on_an_external) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 5; k++) {
        BEGIN("external");
        tc_tensor before = tc_mul_s(x, 1);
        tc_add_s_(x, 1);
        tc_tensor after = tc_mul_s(x, 10);
        END();
        CHECK_EQ(AT(before, 2), 2 + k);
        CHECK_EQ(AT(after, 2), 10 * (3 + k));
        CHECK_EQ(AT(x, 2), 3 + k);
    }
}

BOTH(in_place_on_views_of_an_external) {
    float data[48], want[48];
    for (int i = 0; i < 48; i++) data[i] = (float)i;
    tc_tensor x = tc_from_data(tc, data, TC_DIMS(6, 8), TC_F32);
    memcpy(want, data, sizeof want);
    for (int k = 0; k < 4; k++) {
        BEGIN("views");
        tc_tensor row = tc_select(x, 0, 2), column = tc_select(tc_t(x), 0, 5);
        tc_tensor block = tc_slice(tc_slice(x, 0, 1, TC_END, 2), 1, 0, 6, 3);
        tc_add_s_(row, 100);
        tc_mul_s_(column, 2);
        tc_neg_(block);
        tc_copy_(tc_narrow(x, 0, 5, 1), tc_narrow(x, 0, 0, 1));
        tc_tensor seen = tc_mul_s(x, 1);
        END();
        for (int j = 0; j < 8; j++) want[16 + j] += 100;
        for (int i = 0; i < 6; i++) want[8 * i + 5] *= 2;
        for (int i = 1; i < 6; i += 2)
            for (int j = 0; j < 6; j += 3) want[8 * i + j] *= -1;
        for (int j = 0; j < 8; j++) want[40 + j] = want[j];
        float got[48];
        CHECK_EQ(tc_read(x, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
        CHECK_EQ(tc_read(seen, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
        CHECK_EQ(AT(row, 0), (double)want[16]); // views read after the end, too
        CHECK_EQ(AT(column, 4), (double)want[37]);
    }
}

// A reshape is a view where strides can say it, and a copy elsewhere: the same inside a
// region, outside, and under TC_DISABLE.
BOTH(in_place_on_reshapes) {
    for (int inside = 0; inside < 2; inside++) {
        tc_tensor first = tc_reshape(line(tc, 32, 0, 1), TC_DIMS(4, 8));
        for (int k = 0; k < 2; k++) {
            if (inside) BEGIN("reshapes");
            tc_tensor middle = tc_reshape(tc_narrow(first, 0, 1, 2), TC_DIMS(16));
            tc_tensor turned = tc_reshape(tc_t(first), TC_DIMS(32));
            tc_tensor padded = tc_pad(first, TC_DIMS(0, 0), TC_DIMS(1, 0), -1);
            tc_tensor twice = tc_mul_s(padded, 2),
                      back = tc_reshape(tc_t(tc_t(first)), TC_DIMS(32));
            tc_add_s_(middle, 1);    // rows 1 and 2 of first
            tc_mul_s_(turned, 1000); // of its own: a transpose has no flat view
            tc_add_s_(padded, 5);
            tc_add_s_(back, 20); // all of first
            tc_tensor seen = tc_reshape(tc_add_s(first, 0), TC_DIMS(32));
            if (inside) END();
            for (int i = 0; i < 32; i++) {
                int in_middle = i >= 8 && i < 24;
                double old = i + k * 20 + (in_middle ? k : 0);
                CHECK_EQ(AT(tc_reshape(first, TC_DIMS(32)), i), old + 20 + in_middle);
                CHECK_EQ(AT(seen, i), old + 20 + in_middle);
                CHECK_EQ(AT(turned, i % 8 * 4 + i / 8), old * 1000);
                CHECK_EQ(AT(tc_reshape(padded, TC_DIMS(40)), i), old + 5);
                CHECK_EQ(AT(tc_reshape(twice, TC_DIMS(40)), i), old * 2);
            }
            for (int i = 0; i < 16; i++) CHECK_EQ(AT(middle, i), i + 8 + k * 21 + 21);
        }
    }
}

// A view that shows what the input was, because the input has become its own transpose.
BOTH(an_input_overwritten_by_its_transpose) {
    for (int inside = 0; inside < 2; inside++) {
        tc_tensor x = tc_reshape(line(tc, 36, 0, 1), TC_DIMS(6, 6));
        for (int k = 0; k < 2; k++) {
            if (inside) BEGIN("transpose");
            tc_tensor v = tc_keep(tc_t(x)), w = tc_mul_s(x, 2);
            tc_copy_(x, v);
            tc_tensor y = tc_add_s(x, 100);
            if (inside) END();
            for (int i = 0; i < 36; i++) {
                int t = i % 6 * 6 + i / 6, now = k ? i : t, was = k ? t : i;
                CHECK_EQ(AT(tc_reshape(x, TC_DIMS(36)), i), now);
                CHECK_EQ(AT(tc_reshape(v, TC_DIMS(36)), i), was);
                CHECK_EQ(AT(tc_reshape(w, TC_DIMS(36)), i), 2 * was);
                CHECK_EQ(AT(tc_reshape(y, TC_DIMS(36)), i), now + 100);
            }
        }
    }
}

BOTH(in_place_on_a_result_and_its_views) {
    float data[48], got[48], want[48];
    for (int i = 0; i < 48; i++) data[i] = (float)i;
    tc_tensor x = tc_from_data(tc, data, TC_DIMS(6, 8), TC_F32);
    for (int k = 0; k < 3; k++) {
        BEGIN("result");
        tc_tensor y = tc_add_s(x, 1), v = tc_t(y);
        tc_mul_s_(tc_select(v, 0, 3), -1);
        tc_add_s_(tc_slice(y, 0, 4, TC_END, 1), 1000);
        tc_zero_(tc_select(y, 0, 0));
        tc_tensor z = tc_add(y, x);
        END();
        for (int i = 0; i < 48; i++) {
            want[i] = data[i] + 1;
            if (i % 8 == 3) want[i] *= -1;
            if (i >= 32) want[i] += 1000;
            if (i < 8) want[i] = 0;
        }
        CHECK_EQ(tc_read(y, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
        CHECK_EQ(AT(v, 8), (double)want[17]);
        CHECK_EQ(AT(z, 35), (double)(want[35] + data[35]));
        CHECK_EQ(AT(x, 35), 35);
    }
}

BOTH(kv_cache_by_slices) {
    float want[12 * 4];
    tc_tensor cache = tc_zeros(tc, TC_DIMS(12, 4), TC_F32);
    memset(want, 0, sizeof want);
    for (int k = 0; k < 12; k++) {
        tc_tensor row = tc_full(tc, TC_DIMS(1, 4), k + 1, TC_F32);
        BEGIN("cache");
        tc_copy_(tc_narrow(cache, 0, k, 1), tc_mul_s(row, 2));
        tc_tensor s = tc_sum_all(cache);
        END();
        for (int j = 0; j < 4; j++) want[4 * k + j] = (float)(2 * (k + 1));
        CHECK_EQ(tc_item(s), 4 * (k + 1) * (k + 2));
        float got[48];
        CHECK_EQ(tc_read(cache, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
        tc_free(row);
    }
}

// Products wide enough for several blocks of columns, with rests of every block.
BOTH(matmul_of_many_columns) {
    enum { M = 61, K = 257, W = 701, BATCH = 2 };
    float *a = (float *)malloc(sizeof *a * BATCH * M * K);
    float *b = (float *)malloc(sizeof *b * K * W);
    float *got = (float *)malloc(sizeof *got * BATCH * M * W);
    for (int i = 0; i < BATCH * M * K; i++) a[i] = (float)(i % 613 * 7919 % 101 - 50) / 64;
    for (int i = 0; i < K * W; i++) b[i] = (float)(i % 1021 * 10472 % 89 - 44) / 64;
    tc_tensor x = tc_from_data(tc, a, TC_DIMS(BATCH, M, K), TC_F32);
    tc_tensor w = tc_from_data(tc, b, TC_DIMS(K, W), TC_F32);
    for (int round = 0; round < 3; round++) { // a batch of products, one product, eager
        if (round < 2) BEGIN(round ? "one" : "batch");
        tc_tensor y = tc_matmul(round ? tc_select(x, 0, 1) : x,
                                round ? w : tc_expand(w, TC_DIMS(BATCH, K, W)));
        if (round < 2) END();
        int first = round ? M : 0, rows = round ? M : BATCH * M;
        size_t bytes = sizeof *got * (size_t)rows * W;
        CHECK_EQ(tc_read(y, got, bytes), TC_OK);
        for (int i = 0; i < rows; i++)
            for (int j = 0; j < W; j++) {
                double want = 0;
                for (int k = 0; k < K; k++)
                    want += (double)a[(first + i) * K + k] * (double)b[k * W + j];
                CHECK_NEAR(got[i * W + j], want, 1e-3);
            }
    }
    free(a), free(b), free(got);
}

BOTH(in_place_then_break_then_read) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 3; k++) {
        BEGIN("written and broken");
        tc_add_s_(x, 1);
        double a = tc_item(tc_amax(x, 0));
        tc_mul_s_(x, 1);
        tc_tensor y = tc_add_s(x, a);
        END();
        CHECK_EQ(a, N - 1 + k + 1);
        CHECK_EQ(AT(y, 0), k + 1 + a);
        CHECK_EQ(AT(x, 0), k + 1);
    }
}

BOTH(in_place_reads_its_own_neighbours) {
    float want[N];
    tc_tensor x = line(tc, N, 0, 1);
    for (int i = 0; i < N; i++) want[i] = (float)i;
    for (int k = 0; k < 3; k++) {
        BEGIN("neighbours"); // x[1:] += x[:-1], from the old values
        tc_add_(tc_slice(x, 0, 1, TC_END, 1), tc_slice(x, 0, 0, -1, 1));
        END();
        for (int i = N - 1; i > 0; i--) want[i] += want[i - 1];
        float got[N];
        CHECK_EQ(tc_read(x, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
    }
    tc_tensor y = line(tc, N, 0, 1);
    BEGIN("reversal");
    tc_copy_(y, tc_flip(y, TC_DIMS(0)));
    END();
    CHECK_EQ(AT(y, 0), N - 1);
    CHECK_EQ(AT(y, N - 1), 0);
}

BOTH(wrapped_memory_is_written) {
    float memory[N];
    tc_tensor x = tc_wrap(tc, memory, TC_DIMS(N), TC_F32);
    for (int i = 0; i < N; i++) memory[i] = (float)i;
    for (int k = 0; k < 4; k++) {
        BEGIN("wrapped");
        tc_add_s_(x, 1);
        tc_tensor y = tc_square(x);
        END();
        CHECK_EQ(memory[4], 5 + k);
        CHECK_EQ(AT(y, 4), (5 + k) * (5 + k));
    }
    memory[4] = 100; // between regions the memory is the user's
    BEGIN("wrapped");
    tc_add_s_(x, 1);
    tc_tensor y = tc_square(x);
    END();
    CHECK_EQ(memory[4], 101);
    CHECK_EQ(AT(y, 4), 101 * 101);
}

// Results of this size are written past the caches, which takes addresses that the user need not give.
BOTH(in_place_on_large_memory_at_an_odd_address) {
    enum { N = 9 << 18 };
    float *memory = (float *)malloc(sizeof(float) * (N + 1)), *p = memory + 1;
    if (((uintptr_t)p & 63) == 0) p = memory;
    for (int i = 0; i < N; i++) p[i] = (float)(i % 1000);
    tc_tensor x = tc_wrap(tc, p, TC_DIMS(N), TC_F32),
              one = tc_full(tc, TC_DIMS(N), 1, TC_F32);
    tc_trace_begin(tc, "large");
    tc_add_(x, one);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int i = 0; i < N; i++)
        if (p[i] != (float)(i % 1000 + 1)) FAIL("element %d is %g", i, (double)p[i]), i = N;
    tc_free(x), tc_free(one);
    free(memory);
}

BOTH(in_place_eagerly) {
    float data[6] = {1, 2, 3, 4, 5, 6};
    tc_tensor x = tc_from_data(tc, data, TC_DIMS(2, 3), TC_F32),
              v = tc_select(tc_t(x), 0, 1);
    tc_mul_s_(v, 10);
    CHECK_EQ(AT(x, 1), 20);
    CHECK_EQ(AT(x, 4), 50);
    CHECK_EQ(AT(x, 3), 4);
    tc_copy_(x, tc_flip(x, TC_DIMS(1)));
    CHECK_EQ(AT(x, 0), 3);
    CHECK_EQ(AT(x, 2), 1);
    CHECK(tc_is_null(tc_add_s_(tc_expand(tc_narrow(x, 0, 0, 1), TC_DIMS(4, 3)), 1)));
    ERROR(TC_E_ALIAS, "expanded");
}

// ---- aliasing between externals ----
BOTH(a_tensor_and_its_view_as_inputs) {
    tc_tensor x = line(tc, N, 0, 1), v = tc_slice(x, 0, 0, N / 2, 1);
    tc_tensor w = tc_slice(x, 0, N / 2, TC_END, 1);
    for (int k = 0; k < 3; k++) {
        BEGIN("overlap");
        tc_tensor y = tc_add(v, w), z = tc_mul_s(x, 2);
        END();
        CHECK_EQ(AT(y, 1), N / 2 + 2);
        CHECK_EQ(AT(z, 1), 2);
    }
}

// Written through one view, read through another.
BOTH(writing_what_another_input_shares) {
    tc_tensor x = line(tc, N, 0, 1), v = tc_slice(x, 0, 0, N / 2, 1);
    for (int k = 0; k < 3; k++) {
        double before = AT(x, 3);
        BEGIN("shared write");
        tc_add_s_(v, 1);
        tc_tensor y = tc_mul_s(x, 2);
        END();
        CHECK_EQ(AT(x, 3), before + 1);
        CHECK_EQ(AT(y, 3), 2 * (before + 1));
    }
}

BOTH(disjoint_views_written_together) {
    tc_tensor x = line(tc, N, 0, 1);
    tc_tensor v = tc_slice(x, 0, 0, N / 2, 1), w = tc_slice(x, 0, N / 2, TC_END, 1);
    BEGIN("disjoint");
    tc_add_s_(v, 100);
    tc_add_s_(w, 1000);
    END();
    CHECK_EQ(AT(x, 0), 100);
    CHECK_EQ(AT(x, N - 1), N - 1 + 1000);
}

BOTH(an_output_that_is_a_view_of_an_input) {
    float data[20];
    for (int i = 0; i < 20; i++) data[i] = (float)i;
    tc_tensor x = tc_from_data(tc, data, TC_DIMS(4, 5), TC_F32);
    for (int k = 0; k < 3; k++) {
        BEGIN("view out");
        tc_tensor t = tc_t(x), s = tc_slice(x, 1, 1, 5, 3), r = tc_reshape(x, TC_DIMS(20));
        tc_tensor e = tc_expand(tc_narrow(x, 1, 0, 1), TC_DIMS(4, 7));
        END();
        CHECK_EQ(AT(t, 1), 5);
        CHECK_EQ(AT(s, 3), 9);
        CHECK_EQ(AT(r, 19), 19);
        CHECK_EQ(AT(e, 8), 5);
        CHECK_EQ(tc_dim(t, 0), 5);
    }
}

BOTH(one_result_as_several_outputs) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 3; k++) {
        BEGIN("views of a result");
        tc_tensor y = tc_add_s(x, 1), a = tc_reshape(y, TC_DIMS(8, 5)), b = tc_t(a);
        tc_tensor z = tc_add_s(x, 1); // equal to y: one value, two handles
        END();
        CHECK_EQ(AT(a, 6), 7);
        CHECK_EQ(AT(b, 1), 6);
        CHECK_EQ(AT(z, 6), 7);
    }
}

// ---- contexts and scopes ----
BOTH(contexts_do_not_mix) {
    tc_ctx *other = open_backend("aot_eager");
    tc_tensor x = line(tc, N, 0, 1), y = line(other, N, 0, 1);
    CHECK(tc_is_null(tc_add(x, y)));
    ERROR(TC_E_FOREIGN, "add");
    tc_error_clear(other);
    tc_trace_begin(tc, "mine");
    tc_trace_begin(other, "theirs");
    tc_tensor a = tc_add_s(x, 1), b = tc_add_s(y, 2);
    CHECK(tc_is_null(tc_mul(a, b)));
    tc_error_clear(tc), tc_error_clear(other);
    CHECK_EQ(tc_trace_end(other), TC_OK);
    END();
    CHECK_EQ(AT(a, 1), 2);
    CHECK_EQ(AT(b, 1), 3);
    tc_close(other);
    CHECK(tc_is_null(tc_neg(b)));
    CHECK_EQ(tc_rank(b), -1);
    ERROR(TC_E_DEAD, "neg: the tensor belongs to a context that was closed");
}

BOTH(scopes_free_eager_tensors) {
    tc_tensor x = line(tc, N, 0, 1), y, z;
    tc_scope_begin(tc);
    y = tc_add_s(x, 1);
    tc_scope_begin(tc);
    z = tc_add_s(y, 1);
    CHECK_EQ(AT(z, 0), 2);
    CHECK_EQ(tc_scope_end(tc), TC_OK);
    CHECK(tc_is_null(tc_neg(z)));
    ERROR(TC_E_DEAD, "scope");
    CHECK_EQ(AT(y, 0), 1);
    CHECK_EQ(tc_scope_end(tc), TC_OK);
    CHECK_EQ(AT(x, 1), 1);
    CHECK_EQ(tc_scope_end(tc), TC_E_STATE);
    ERROR(TC_E_STATE, "tc_scope_begin");
}

BOTH(a_freed_input_does_not_free_results) {
    tc_tensor x = line(tc, N, 0, 1);
    BEGIN("freed");
    tc_tensor v = tc_slice(x, 0, 1, TC_END, 1), y = tc_add_s(x, 1);
    END();
    tc_free(x);
    CHECK_EQ(AT(v, 0), 1);
    CHECK_EQ(AT(y, 0), 1);
}

BOTH(eager_ops_use_results_and_the_other_way) {
    tc_tensor x = line(tc, N, 0, 1);
    for (int k = 0; k < 5; k++) {
        tc_scope_begin(tc);
        tc_tensor e = tc_add_s(x, k);
        BEGIN("mixed");
        tc_tensor y = tc_mul_s(e, 2);
        END();
        tc_tensor z = tc_add(y, e);
        CHECK_EQ(AT(z, 3), 3 * (3 + k));
        tc_scope_end(tc);
    }
}

// ---- odd sizes ----
BOTH(scalars_and_empty_tensors) {
    float one = 3;
    tc_tensor s = tc_from_data(tc, &one, TC_SCALAR, TC_F32);
    tc_tensor e = tc_zeros(tc, TC_DIMS(0, 5), TC_F32), x = line(tc, 5, 0, 1);
    for (int k = 0; k < 3; k++) {
        tc_tensor parts[2];
        parts[0] = e, parts[1] = tc_reshape(x, TC_DIMS(1, 5));
        BEGIN("odd");
        tc_tensor a = tc_mul(s, s), b = tc_add(e, x), c = tc_sum(b, 0), d = tc_prod(b, 0);
        tc_tensor f = tc_cat(parts, 2, 0);
        tc_tensor g = tc_matmul(tc_t(e), e), h = tc_add(x, s), m = tc_mean(b, 0);
        END();
        CHECK_EQ(tc_item(a), 9);
        CHECK_EQ(tc_rank(a), 0);
        CHECK_EQ(tc_numel(b), 0);
        CHECK_EQ(tc_read(b, NULL, 0), TC_OK);
        tc_error_clear(tc);
        CHECK_EQ(AT(c, 4), 0);
        CHECK_EQ(AT(d, 4), 1);
        CHECK_EQ(AT(f, 4), 4);
        CHECK_EQ(AT(g, 24), 0);
        CHECK_EQ(AT(h, 4), 7);
        CHECK(AT(m, 0) != AT(m, 0));
    }
}

// ---- steady state ----
static tc_tensor steady_step(tc_ctx *tc, tc_tensor h, tc_tensor w, tc_tensor state) {
    BEGIN("steady");
    tc_tensor y = tc_softmax(tc_matmul(h, w), -1);
    tc_add_(state, tc_sum(y, 0));
    y = tc_layer_norm(tc_add(y, h), tc_null(), tc_null(), 1e-5);
    END();
    return y;
}

BOTH(a_steady_visit_allocates_nothing) {
    tc_tensor w = tc_full(tc, TC_DIMS(8, 8), 0.1, TC_F32),
              h = tc_ones(tc, TC_DIMS(6, 8), TC_F32);
    tc_tensor state = tc_zeros(tc, TC_DIMS(8), TC_F32);
    for (int k = 0; k < 8; k++) h = steady_step(tc, h, w, state);
    tc_stats before = tc_stats_get(tc);
    for (int k = 0; k < 20; k++) h = steady_step(tc, h, w, state);
    tc_stats after = tc_stats_get(tc);
    CHECK_EQ(after.allocations, before.allocations);
    CHECK_EQ(after.bytes, before.bytes);
    CHECK_EQ(after.programs, before.programs);
}

static double broken_step(tc_ctx *tc, tc_tensor x) {
    BEGIN("steady breaks");
    tc_tensor y = tc_sqrt(x);
    double sum = tc_item(tc_sum_all(y));
    tc_tensor z = tc_mul(tc_add_s(y, 1), x);
    sum += tc_item(tc_amax(z, 0));
    tc_tensor last = tc_sub(z, y);
    END();
    return sum + AT(last, 0);
}

BOTH(a_steady_visit_with_breaks_allocates_nothing) {
    float *squares = (float *)malloc(N * sizeof *squares);
    for (int i = 0; i < N; i++) squares[i] = (float)(i * i);
    tc_tensor x = tc_from_data(tc, squares, TC_DIMS(N), TC_F32);
    free(squares);
    for (int k = 0; k < 4; k++) broken_step(tc, x);
    tc_stats before = tc_stats_get(tc);
    for (int k = 0; k < 20; k++)
        CHECK_EQ(broken_step(tc, x), N * (N - 1) / 2 + N * (N - 1) * (N - 1));
    tc_stats after = tc_stats_get(tc);
    CHECK_EQ(after.graph_breaks, before.graph_breaks + 40);
    CHECK_EQ(after.allocations, before.allocations);
    CHECK_EQ(after.bytes, before.bytes);
    CHECK_EQ(after.programs, before.programs);
}

BOTH(fresh_inputs_do_not_leak) {
    size_t bytes = 0;
    for (int k = 0; k < 40; k++) {
        tc_tensor x = line(tc, N, k, 1);
        BEGIN("fresh");
        tc_tensor y = tc_mul(x, x);
        END();
        CHECK_EQ(AT(y, 0), k * k);
        tc_free(x);
        if (k == 10) bytes = (size_t)tc_stats_get(tc).bytes;
    }
    CHECK_EQ(tc_stats_get(tc).bytes, bytes);
}

// ---- random numbers ----
BOTH(random_streams_equal_eager_order) {
    float eager[2][2][N], region[N];
    for (int k = 0; k < 2; k++) {
        tc_scope_begin(tc);
        if (!k) tc_manual_seed(tc, 42);
        tc_read(tc_rand(tc, TC_DIMS(N), TC_F32), eager[k][0], sizeof region);
        tc_read(tc_randn(tc, TC_DIMS(N), TC_F32), eager[k][1], sizeof region);
        tc_scope_end(tc);
    }
    CHECK(memcmp(eager[0], eager[1], sizeof eager[0]) != 0);
    tc_manual_seed(tc, 42);
    for (int k = 0; k < 2; k++) {
        BEGIN("random");
        tc_tensor a = tc_rand(tc, TC_DIMS(N), TC_F32), b = tc_randn(tc, TC_DIMS(N), TC_F32);
        if (k == 0) CHECK_EQ(tc_manual_seed(tc, 1), TC_E_STATE);
        tc_error_clear(tc);
        END();
        CHECK_EQ(tc_read(a, region, sizeof region), TC_OK);
        CHECK_BYTES(region, eager[k][0], sizeof region);
        CHECK_EQ(tc_read(b, region, sizeof region), TC_OK);
        CHECK_BYTES(region, eager[k][1], sizeof region);
    }
}

BOTH(random_numbers_across_a_break_and_demand) {
    float want[N], got[N];
    tc_manual_seed(tc, 7);
    tc_read(tc_rand(tc, TC_DIMS(N), TC_F32), want, sizeof want);
    double second = AT(tc_rand(tc, TC_DIMS(N), TC_F32), 3);
    for (int k = 0; k < 2; k++) {
        tc_manual_seed(tc, 7);
        BEGIN("random break");
        tc_tensor a = tc_rand(tc, TC_DIMS(N), TC_F32);
        double m = tc_item(tc_amax(a, 0));
        tc_tensor b = tc_rand(tc, TC_DIMS(N), TC_F32), c = tc_add(tc_mul_s(a, 2), b);
        END();
        CHECK(m < 1 && m > 0.5);
        CHECK_EQ(tc_read(a, got, sizeof got), TC_OK);
        CHECK_BYTES(got, want, sizeof got);
        CHECK_EQ(AT(b, 3), second);
        CHECK_EQ(AT(c, 3), (double)(want[3] * 2 + (float)second));
    }
}

BOTH(an_index_out_of_range_is_an_error_of_the_region) {
    int64_t bad[3] = {0, 9, -11};
    tc_tensor x = line(tc, 8, 0, 1), i = tc_from_data(tc, bad, TC_DIMS(3), TC_I64);
    for (int k = 0; k < 2; k++) {
        BEGIN("index");
        tc_tensor y = tc_take(x, i, 0);
        CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
        ERROR(TC_E_INDEX, "8");
        (void)y;
        CHECK_EQ(AT(x, 7), 7);
    }
    BEGIN("good index");
    tc_tensor y = tc_take(x, tc_narrow(i, 0, 0, 1), 0);
    END();
    CHECK_EQ(AT(y, 0), 0);
}

// Only elements that are there have an index: where another operand of a cat is, or what a pad put, nothing is taken.
BOTH(indices_are_computed_only_where_something_is_taken) {
    tc_tensor x = line(tc, 64, 0, 1), two[2];
    tc_tensor low = tc_cast(line(tc, 20, -99, 1), TC_I64); // and 0 would be 100
    BEGIN("some elements");
    two[0] = x, two[1] = tc_take(x, tc_mul_s(tc_arange(tc, 0, 20, 1, TC_I64), 3), 0);
    tc_tensor both = tc_cat(two, 2, 0);
    tc_tensor taken = tc_take(x, tc_add_s(low, 100), 0);
    tc_tensor padded = tc_pad(taken, TC_DIMS(3), TC_DIMS(2), -1);
    END();
    CHECK_EQ(AT(both, 5), 5);
    CHECK_EQ(AT(both, 66), 6);
    CHECK_EQ(AT(padded, 2), -1);
    CHECK_EQ(AT(padded, 3), 1);
    CHECK_EQ(AT(padded, 22), 20);
    CHECK_EQ(tc_error(tc), TC_OK);
}

// The write-back of v must come after every read of its old value in the same kernel.
BOTH(in_place_after_reads_that_the_kernel_does_later) {
    for (int k = 0; k < 3; k++) {
        tc_tensor v = line(tc, N, -2 + k, 0.25);
        BEGIN("late reads");
        tc_tensor a = tc_neg(v), b = tc_mul(a, v);
        tc_fill_(v, -3);
        tc_tensor c = tc_where(tc_gt_s(a, -1), b, a);
        END();
        for (int i = 0; i < N; i++) {
            double x = -2 + k + i * 0.25;
            CHECK_EQ(AT(c, i), -x > -1 ? -x * x : -x);
            CHECK_EQ(AT(v, i), -3);
        }
    }
}

// Two kernels number their values alike: the range of one index must not become the other's.
BOTH(indices_of_two_kernels_keep_their_ranges) {
    tc_tensor one = line(tc, 1, 5, 0), x = line(tc, 32, 0, 1);
    for (int k = 0; k < 2; k++) {
        BEGIN("ranges");
        tc_tensor v =
            tc_reshape(tc_flip(tc_reshape(x, TC_DIMS(16, 2)), TC_DIMS(0)), TC_DIMS(4, 8));
        tc_tensor i = tc_remainder_s(tc_cast(v, TC_I64), 8), g = tc_gather(v, 1, i);
        tc_tensor zero = tc_sub_s(tc_remainder_s(tc_cast(tc_eq(v, one), TC_I32), 1), 1);
        tc_tensor h = tc_take(one, zero, 0);
        END();
        for (int at = 0; at < 32; at++) {
            int row = at / 8, value = (15 - at / 2) * 2 + at % 2, to = row * 8 + value % 8;
            CHECK_EQ(AT(tc_reshape(g, TC_DIMS(32)), at), (15 - to / 2) * 2 + to % 2);
            CHECK_EQ(AT(tc_reshape(h, TC_DIMS(32)), at), 5);
        }
    }
}

BOTH(a_result_of_no_input_outlives_a_write) {
    for (int k = 0; k < 2; k++) {
        tc_tensor x = line(tc, N, k, 1);
        BEGIN("sources");
        tc_tensor ones = tc_ones(tc, TC_DIMS(N), TC_F32), twos = tc_add_s(ones, 1);
        tc_tensor y = tc_mul(x, twos);
        tc_add_(x, tc_mul(ones, twos));
        END();
        tc_add_s_(x, 100);
        CHECK_EQ(AT(ones, 3), 1);
        CHECK_EQ(AT(twos, 3), 2);
        CHECK_EQ(AT(x, 3), k + 105);
        CHECK_EQ(AT(y, 3), 2 * (k + 3));
    }
}

// What the program of a break computes on its way and is small is stored there, not again.
BOTH(small_results_before_a_break_are_computed_once) {
    tc_tensor x = line(tc, N, 1, 1);
    for (int k = 0; k < 3; k++) {
        BEGIN("small break");
        tc_tensor m = tc_sum_all(x), h = tc_mul_s(m, 2);
        double seen = tc_item(h);
        tc_tensor y = tc_add_s(x, seen);
        END();
        CHECK_EQ(seen, N * (N + 1));
        CHECK_EQ(AT(m, 0), N * (N + 1) / 2);
        CHECK_EQ(AT(y, 1), 2 + N * (N + 1));
        CHECK_EQ(tc_region_kernels(tc, "small break"), 1); // y's
    }
}

BOTH(memory_wrapped_twice_is_not_written) {
    static float memory[N];
    for (int i = 0; i < N; i++) memory[i] = (float)i;
    tc_tensor a = tc_wrap(tc, memory, TC_DIMS(30), TC_F32);
    tc_tensor b = tc_wrap(tc, memory + 10, TC_DIMS(30), TC_F32);
    BEGIN("wrapped twice");
    tc_add_s_(a, 1);
    tc_tensor c = tc_mul_s(b, 2);
    CHECK_EQ(tc_trace_end(tc), TC_E_ALIAS);
    ERROR(TC_E_ALIAS, "wrap it once");
    (void)c;
    CHECK_EQ(memory[15], 15);
    BEGIN("read only");
    tc_tensor d = tc_add(a, b);
    END();
    CHECK_EQ(AT(d, 5), 20);
}

BOTH(a_view_of_a_folded_copy_keeps_its_value) {
    // The least of one element is a copy, though the graph folds it to its input.
    tc_tensor x = line(tc, 1, 4, 0);
    BEGIN("folded");
    tc_tensor y = tc_amin_dims(x, TC_DIMS(0), 1);
    tc_sub_(x, x);
    tc_tensor z = tc_permute(y, TC_DIMS(0));
    END();
    CHECK_EQ(AT(x, 0), 0);
    CHECK_EQ(AT(y, 0), 4);
    CHECK_EQ(AT(z, 0), 4);
}

BOTH(joining_nothing_gives_nothing) {
    tc_tensor x = line(tc, 0, 0, 0), list[3];
    for (int i = 0; i < 3; i++) list[i] = x;
    BEGIN("nothing");
    tc_tensor y = tc_cat(list, 3, 0);
    END();
    CHECK_EQ(tc_numel(y), 0);
    CHECK_EQ(tc_numel(tc_cat(list, 3, -1)), 0);
}

BOTH(a_view_of_a_stepped_input_crosses_a_break) {
    tc_tensor x = tc_slice(line(tc, 2 * N, 0, 1), 0, 1, TC_END, 2), y, z;
    for (int k = 0; k < 3; k++) {
        BEGIN("crossing");
        y = tc_permute(x, TC_DIMS(0));
        double sum = tc_item(tc_sum_all(y));
        z = tc_add_s(y, sum > 0 ? 1 : 2);
        END();
        CHECK_EQ(AT(y, 3), 7);
        CHECK_EQ(AT(z, 3), 8);
    }
}

BOTH(windows_over_a_reversed_reshape) {
    // Runs of 4 that begin at multiples of 2 and cross multiples of 8.
    tc_tensor x = tc_reshape(line(tc, 24, 0, 1), TC_DIMS(3, 2, 4)), y;
    BEGIN("windows");
    y = tc_unfold(tc_reshape(tc_flip(x, TC_DIMS(0)), TC_DIMS(24)), 0, 4, 2);
    END();
    for (int i = 0; i < 44; i++) {
        int at = 2 * (i / 4) + i % 4;
        CHECK_EQ(AT(y, i), (2 - at / 8) * 8 + at % 8);
    }
}

// Rows that exist over columns that do not: nothing is loaded or stored for them.
BOTH(nothing_is_touched_for_empty_results) {
    float one = 1;
    tc_tensor x = tc_from_data(tc, &one, TC_DIMS(0, 3, 16, 2), TC_F32);
    tc_tensor y = line(tc, 32, 0, 1), i = tc_from_data(tc, &one, TC_DIMS(0, 3), TC_I64);
    for (int k = 0; k < 2; k++) {
        BEGIN("empty");
        tc_tensor v = tc_clamp(x, 0.7, 1.3), p = tc_prod_dims(v, TC_DIMS(0, 1), 1);
        tc_tensor s =
            tc_sum_dims(tc_mul(v, tc_reshape(y, TC_DIMS(16, 2))), TC_DIMS(0, 1), 0);
        tc_tensor z = tc_add(tc_reshape(y, TC_DIMS(16, 2)), s), t = tc_take(y, i, 0);
        tc_add_s_(v, 1);
        END();
        CHECK_EQ(tc_numel(v), 0);
        CHECK_EQ(tc_numel(t), 0);
        for (int at = 0; at < 32; at++) {
            CHECK_EQ(AT(tc_reshape(p, TC_DIMS(32)), at), 1);
            CHECK_EQ(AT(tc_reshape(z, TC_DIMS(32)), at), at);
        }
    }
}

// Nor is the memory behind an empty input, which here may not even be read.
BOTH(empty_inputs_are_not_read) {
    enum { ROWS = 1024 };
    size_t bytes = ROWS * sizeof(float);
    void *closed = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REQUIRE(closed != MAP_FAILED);
    tc_tensor x = tc_wrap(tc, closed, TC_DIMS(0, ROWS), TC_F32);
    tc_tensor a = tc_wrap(tc, closed, TC_DIMS(8, 0), TC_F32);
    for (int k = 0; k < 2; k++) {
        tc_tensor two[2];
        BEGIN("empty inputs");
        tc_tensor s = tc_sum(x, 0), p = tc_prod(tc_permute(x, TC_DIMS(1, 0)), 1);
        two[0] = x, two[1] = tc_reshape(tc_add_s(s, 3), TC_DIMS(1, ROWS));
        tc_tensor t = tc_reshape(tc_cat(two, 2, 0), TC_DIMS(ROWS));
        tc_tensor q = tc_pad(x, TC_DIMS(0, 0), TC_DIMS(1, 0), 7);
        tc_tensor m = tc_reshape(tc_matmul(a, x), TC_DIMS(8 * ROWS));
        tc_tensor n = tc_matmul(x, tc_ones(tc, TC_DIMS(ROWS, 4), TC_F32));
        tc_tensor every = tc_all_dims(tc_gt_s(x, 0), TC_DIMS(0, 1), 0);
        END();
        q = tc_reshape(q, TC_DIMS(ROWS));
        for (int at = 0; at < ROWS; at++) {
            CHECK_EQ(AT(s, at), 0);
            CHECK_EQ(AT(p, at), 1);
            CHECK_EQ(AT(t, at), 3);
            CHECK_EQ(AT(q, at), 7);
            CHECK_EQ(AT(m, at * 8), 0);
        }
        CHECK_EQ(tc_numel(n), 0);
        CHECK_EQ(tc_item(every), 1);
    }
    munmap(closed, bytes);
}

// Indices of long chains of movement would grow without end: some values go to memory.
BOTH(long_chains_of_movement) {
    float want[32], turned[32];
    tc_tensor x = line(tc, 32, 0, 1), h = tc_reshape(x, TC_DIMS(4, 8)), p = h, q = h;
    for (int i = 0; i < 32; i++) want[i] = (float)i;
    BEGIN("movement");
    for (int k = 0; k < 30; k++) {
        h = tc_permute(tc_reshape(h, TC_DIMS(8, 4)), TC_DIMS(1, 0));
        for (int i = 0; i < 32; i++) turned[i] = want[i % 8 * 4 + i / 8];
        memcpy(want, turned, sizeof want);
        tc_tensor two[2];
        two[0] = p, two[1] = q;
        p = tc_narrow(tc_cat(two, 2, 0), 0, 1, 4);
        q = tc_narrow(tc_pad(q, TC_DIMS(0, 1), TC_DIMS(0, 2), 0.5), 1, 1, 8);
    }
    END();
    for (int i = 0; i < 32; i++) {
        CHECK_EQ(AT(tc_reshape(h, TC_DIMS(32)), i), want[i]);
        CHECK_EQ(AT(tc_reshape(q, TC_DIMS(32)), i), i);
        CHECK_EQ(AT(tc_reshape(p, TC_DIMS(32)), i), i % 8);
    }
}

// A result that is written in place is what the last write made of it, and is stored.
BOTH(a_result_written_in_place_is_stored) {
    for (int k = 0; k < 2; k++) {
        tc_tensor x = line(tc, N, k, 1);
        BEGIN("written result");
        tc_tensor ones = tc_ones(tc, TC_DIMS(N), TC_F32);
        tc_tensor steps = tc_arange(tc, 0, N, 1, TC_F32);
        tc_tensor used = tc_add(ones, x);
        tc_mul_(steps, x);
        tc_tensor after = tc_add_s(steps, 1);
        tc_add_(x, x);
        tc_mul_(ones, x);
        tc_fill_(tc_narrow(used, 0, 0, 2), 7);
        END();
        CHECK_EQ(AT(steps, 3), 3 * (k + 3));
        CHECK_EQ(AT(after, 3), 3 * (k + 3) + 1);
        CHECK_EQ(AT(x, 3), 2 * (k + 3));
        CHECK_EQ(AT(ones, 3), 2 * (k + 3));
        CHECK_EQ(AT(used, 1), 7);
        CHECK_EQ(AT(used, 3), k + 4);
    }
}

// A write to one result says nothing about what that result was made of.
BOTH(a_later_write_elsewhere_leaves_sources_readable) {
    for (int k = 0; k < 2; k++) {
        tc_tensor x = line(tc, N, k, 1);
        BEGIN("write elsewhere");
        tc_mul_s_(x, -3);
        tc_tensor ones = tc_ones(tc, TC_DIMS(N), TC_F32), y = tc_add(ones, x);
        tc_copy_(y, x);
        tc_tensor zeros = tc_zeros(tc, TC_DIMS(N), TC_F32);
        tc_sub_(zeros, x);
        tc_tensor z = tc_add(zeros, ones);
        END();
        CHECK_EQ(AT(ones, 3), 1);
        CHECK_EQ(AT(y, 3), -3 * (k + 3));
        CHECK_EQ(AT(zeros, 3), 3 * (k + 3));
        CHECK_EQ(AT(z, 3), 3 * (k + 3) + 1);
    }
}

// Two small results of one value: the second is asked for at a break, and again when all is over.
BOTH(one_small_value_of_two_results) {
    for (int k = 0; k < 4; k++) {
        tc_tensor x = line(tc, N, k, 1);
        BEGIN("two of one");
        tc_tensor a = tc_sum_all(x), b = tc_sum_all(x), c = tc_sum_all(x);
        tc_tensor y = tc_add(tc_add(x, a), tc_add(b, c));
        double sum = N * k + N * (N - 1) / 2.0;
        CHECK_EQ(tc_item(b), sum);
        tc_tensor d = tc_mul_s(a, 2), e = tc_mul_s(b, 2), z = tc_add(tc_add(d, e), y);
        END();
        CHECK_EQ(AT(y, 1), k + 1 + 3 * sum);
        CHECK_EQ(AT(z, 1), k + 1 + 7 * sum);
        CHECK_EQ(tc_item(c), sum);
        CHECK_EQ(tc_item(e), 2 * sum);
        CHECK_EQ(tc_item(d), 2 * sum);
    }
}
