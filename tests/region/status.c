// A status is the truth about its unit: where an op that it depends on was refused, the call fails, as
// compiled code and interpreted. Nothing here needs a device: sizes that do not fit are refused as well.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

enum { N = 24 };

// x += [N + 1 elements]: refused.
static void write_badly(tc_ctx *tc, tc_tensor x) {
    CHECK(!tc_add_(x, line(tc, N + 1, 0, 1)).id);
}

static void doubled(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2);
}

// What depends on a write that was refused: reading, ops, views, copies, calls, regions, host code.
static tc_status use(tc_ctx *tc, tc_fn *f, tc_tensor x, int how) {
    float p[N];
    tc_tensor y = tc_null(), to = line(tc, N, 0, 0);
    tc_status s = TC_OK;
    switch (how) {
    case 0: return tc_read(x, p, sizeof p);
    case 1: return tc_item(tc_select(x, 0, 1)) == 0 ? tc_error(tc) : TC_OK;
    case 2: return tc_data(x) ? TC_OK : tc_error(tc);
    case 3: return tc_read(tc_add_s(x, 1), p, sizeof p);
    case 4: return tc_read(tc_slice(x, 0, 0, TC_END, 1), p, sizeof p);
    case 5: return tc_read(tc_copy_(to, x), p, sizeof p);
    case 6: return tc_read((tc_copy_(to, x), to), p, sizeof p);
    case 7: return tc_call(f, &x, 1, &y, 1);
    case 8: return tc_call_into(f, &x, 1, &to, 1);
    case 9: return (void)tc_call_into(f, &x, 1, &to, 1), tc_read(to, p, sizeof p);
    case 10:
        BEGIN("uses");
        y = tc_mul_s(tc_add_s(x, 1), 2);
        s = tc_trace_end(tc);
        CHECK(!y.id == (s != TC_OK));
        return s;
    case 11: return tc_read(tc_to(x, "cpu"), p, sizeof p);
    default: return tc_save_npy(x, "/dev/null");
    }
}

BOTH(what_depends_on_it) {
    tc_fn *f = tc_compile(tc, doubled, NULL, 0, NULL);
    for (int how = 0; how < 13; how++) {
        tc_scope_begin(tc);
        tc_tensor x = line(tc, N, 1, 1), free = line(tc, N, 2, 1), y;
        CALL(f, &x, 1, &y, 1);
        CALL(f, &x, 1, &y, 1); // the body is skipped from here on
        CHECK_EQ(use(tc, f, x, how), TC_OK);
        write_badly(tc, x);
        // An op that is refused gives null, which is read here.
        tc_status want = how == 3 || how == 5 || how == 11 ? TC_E_NULL : TC_E_BROADCAST;
        tc_status got = use(tc, f, x, how);
        if (got != want) FAIL("use %d: %s", how, tc_status_name(got));
        CHECK_EQ(use(tc, f, free, how),
                 how == 1 || how == 2 ? use(tc, f, free, how) : TC_OK);
        ERROR(TC_E_BROADCAST, "add");
        if (use(tc, f, x, how)) FAIL("use %d: the error is cleared", how);
        tc_scope_end(tc);
    }
}

// What is written anew, all of it, does not depend on what failed before.
BOTH(written_anew) {
    tc_tensor x = line(tc, N, 1, 1), z;
    float p[N];
    write_badly(tc, x);
    CHECK_EQ(tc_read(x, p, sizeof p), TC_E_BROADCAST);
    CHECK(!tc_add_s_(x, 1).id); // made of itself
    CHECK(tc_fill_(tc_narrow(x, 0, 0, 2), 3).id);
    CHECK_EQ(tc_read(x, p, sizeof p), TC_E_BROADCAST); // some of it
    CHECK(tc_fill_(x, 3).id);
    CHECK_EQ(tc_read(x, p, sizeof p), TC_OK);
    CHECK_EQ(p[5], 3);
    write_badly(tc, x);
    BEGIN("anew");
    tc_copy_(x, line(tc, N, 4, 1));
    z = tc_mul_s(x, 2);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_EQ(tc_read(x, p, sizeof p), TC_OK);
    CHECK_EQ(p[5], 9);
    CHECK_EQ(tc_read(z, p, sizeof p), TC_OK);
    CHECK_EQ(p[5], 18);
    ERROR(TC_E_BROADCAST, "add");
}

// In a region: its end has the status, what does not depend on the refused op has run, what does fails.
BOTH(in_regions) {
    float p[N + 1];
    for (int k = 0; k < 4; k++) {
        tc_scope_begin(tc);
        tc_tensor x = line(tc, N, k, 1), w = line(tc, N, k, 1), own, before, a, b, c, v;
        BEGIN("in a region");
        before = tc_mul_s(x, 2);
        own = tc_add_s(x, 1);
        v = tc_mul_s(own, 3);
        if (k > 1) write_badly(tc, x), write_badly(tc, own);
        a = tc_mul_s(x, 3);                          // depends on it, if it is refused
        b = tc_mul_s(own, 4);                        //   too
        c = tc_add_s(w, 1);                          //   not
        tc_add_(w, k == 3 ? tc_select(b, 0, 0) : a); //   too
        CHECK_EQ(tc_trace_end(tc), k > 1 ? TC_E_BROADCAST : TC_OK);
        tc_status want = k > 1 ? TC_E_BROADCAST : TC_OK;
        CHECK_EQ(tc_read(before, p, N * sizeof *p), TC_OK);
        CHECK_EQ(p[3], 2 * (k + 3));
        CHECK_EQ(tc_read(v, p, N * sizeof *p), TC_OK);
        CHECK_EQ(p[3], 3 * (k + 4));
        CHECK_EQ(tc_read(c, p, N * sizeof *p), TC_OK);
        CHECK_EQ(p[3], k + 4);
        CHECK_EQ(tc_read(a.id ? a : x, p, N * sizeof *p), want);
        CHECK_EQ(tc_read(b.id ? b : own, p, N * sizeof *p), want);
        CHECK_EQ(tc_read(own, p, N * sizeof *p), want);
        CHECK_EQ(tc_read(x, p, N * sizeof *p), want);
        CHECK_EQ(tc_read(w, p, N * sizeof *p), want);
        if (k > 1) ERROR(TC_E_BROADCAST, "add");
        CHECK_EQ(tc_read(w, p, N * sizeof *p), TC_OK);
        tc_scope_end(tc);
    }
}

// A break in the region is told as well; an error that the region clears is none of its end.
BOTH(breaks_in_regions) {
    tc_tensor x = line(tc, N, 1, 1), y;
    BEGIN("breaks");
    write_badly(tc, x);
    CHECK_EQ(tc_item(tc_sum_all(x)), 0);
    y = tc_exp(line(tc, N, 0, 0));
    CHECK_EQ(tc_trace_end(tc), TC_E_BROADCAST);
    CHECK_EQ(AT(y, 0), 1);
    ERROR(TC_E_BROADCAST, "add");
    BEGIN("cleared");
    write_badly(tc, x);
    ERROR(TC_E_BROADCAST, "add");
    CHECK_EQ(tc_item(tc_sum_all(x)), N * (N + 1) / 2);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    for (int forced = 0; forced < 2; forced++) {
        tc_set_stance(tc, forced ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
        if (!forced) tc_disable_begin(tc);
        BEGIN("eager");
        CHECK(!tc_add(x, line(tc, N + 1, 0, 1)).id);
        CHECK_EQ(tc_trace_end(tc), TC_E_BROADCAST);
        ERROR(TC_E_BROADCAST, "add");
        BEGIN("eager");
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        if (!forced) tc_disable_end(tc);
    }
}

// A region or call that fails has written nothing, and says so when that is read.
static void out_of_range(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_index_select(in[0], 0, in[1]);
}

BOTH(runs_that_fail) {
    static const int64_t far[2] = {1, 99};
    float p[N];
    tc_tensor in[2], to = line(tc, 2, 0, 0), x = line(tc, 2, 5, 0);
    in[0] = line(tc, N, 1, 1), in[1] = tc_from_data(tc, far, TC_DIMS(2), TC_I64);
    tc_fn *f = tc_compile(tc, out_of_range, NULL, 0, NULL);
    for (int k = 0; k < 3; k++) {
        CHECK_EQ(tc_call_into(f, in, 2, &to, 1), TC_E_INDEX);
        CHECK_EQ(tc_read(to, p, 2 * sizeof *p), TC_E_INDEX);
        ERROR(TC_E_INDEX, "99");
        CHECK_EQ(tc_read(to, p, 2 * sizeof *p), TC_OK);
        CHECK(p[0] == 0 && p[1] == 0);
        BEGIN("fails");
        tc_add_(x, tc_index_select(in[0], 0, in[1]));
        CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
        CHECK_EQ(tc_read(x, p, 2 * sizeof *p), TC_E_INDEX);
        ERROR(TC_E_INDEX, "99");
        CHECK_EQ(AT(x, 1), 5);
        CHECK(!tc_add_(x, tc_index_select(in[0], 0, in[1])).id);
        CHECK_EQ(tc_read(x, p, 2 * sizeof *p), TC_E_INDEX);
        ERROR(TC_E_INDEX, "99");
    }
}

// Null tensors, and those of a context that was closed, leave an error where this thread looks for one.
TEST(nobodys_tensors) {
    float p[N];
    tc_ctx *gone = open_backend("aot_eager"), *tc = open_backend("aot_eager");
    tc_tensor x = line(gone, N, 1, 1), y = line(tc, N, 1, 1), none = tc_null();
    tc_close(gone);
    CHECK_EQ(tc_read(none, p, sizeof p), TC_E_NULL);
    ERROR(TC_E_NULL, "read: a null tensor");
    CHECK_EQ(tc_item(none), 0);
    ERROR(TC_E_NULL, "item: a null tensor");
    CHECK(!tc_data(none) && tc_print(none) == TC_E_NULL);
    ERROR(TC_E_NULL, "data: a null tensor");
    CHECK(!tc_exp(none).id);
    ERROR(TC_E_NULL, "exp: a null tensor");
    CHECK(!tc_copy_(y, none).id);
    CHECK_EQ(tc_read(y, p, sizeof p), TC_E_NULL);
    ERROR(TC_E_NULL, "copy_: a null tensor");
    CHECK_EQ(tc_save_npy(none, "/dev/null"), TC_E_NULL);
    ERROR(TC_E_NULL, "null tensor");
    CHECK_EQ(tc_read(x, p, sizeof p), TC_E_DEAD);
    ERROR(TC_E_DEAD, "read: the tensor belongs to a context that was closed");
    CHECK(!tc_exp(x).id);
    ERROR(TC_E_DEAD, "context that was closed");
    CHECK(!tc_add(x, y).id);
    ERROR(TC_E_DEAD, "context that was closed");
    CHECK(!tc_add(y, x).id);
    ERROR(TC_E_DEAD, "context that was closed");
    CHECK(!tc_softmax(x, 0).id);
    ERROR(TC_E_DEAD, "softmax: the tensor belongs to a context that was closed");
    CHECK_EQ(tc_rank(x), -1);
    ERROR(TC_E_DEAD, "context that was closed");
    x.id = 0xfe23456789abcdefu; // a handle that was never set
    CHECK(!tc_exp(x).id);
    ERROR(TC_E_DEAD,
          "exp: the tensor belongs to a context that was closed, or never was one");
    tc_tensor out = y;
    CHECK_EQ(tc_call(NULL, &y, 1, &out, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_call: the function is NULL (did tc_compile fail?)");
    CHECK(tc_is_null(out));
    tc_free(none), tc_free(x);
    CHECK_EQ(tc_rank(none), -1);
    CHECK(tc_is_null(none) && !tc_device_of(none));
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
    CHECK_EQ(tc_read(x, p, sizeof p), TC_E_DEAD); // there is nowhere to look
}
