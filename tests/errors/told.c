// What an error tells: where it is of, also where it shows when a region runs; which of several is told, until it is
// cleared; and what tc_read may not write to.
#include "tcompile.h"

#include "harness.h"

#include "help.h"

// ---- the place of what fails in a run ----

static void is_at(tc_ctx *tc, int line_number) {
    CHECK_EQ(tc_error_line(tc), line_number);
    CHECK(strstr(tc_error_file(tc), "told.c") != NULL);
}

static tc_tensor numbers(tc_ctx *tc, int64_t last) {
    int64_t i[3] = {0, 1, 0};
    i[2] = last;
    return tc_from_data(tc, i, TC_DIMS(3), TC_I64);
}

// Each visit of a region, the program of which is old, and each of several ops at fault.
BOTH(an_index_has_the_place_of_its_op) {
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32);
    for (int k = 0; k < 9; k++) {
        int bad = k % 3, at = 0;
        tc_tensor i = numbers(tc, bad == 1 ? 7 : 2), j = numbers(tc, bad == 2 ? -9 : 2);
        tc_trace_begin(tc, "indices");
        tc_tensor y = tc_add_s(x, 1);
        if (bad == 1) at = __LINE__ + 1;
        y = tc_embedding(y, i);
        y = tc_neg(y);
        if (bad == 2) at = __LINE__ + 1;
        y = tc_index_select(y, 0, j);
        y = tc_mul_s(y, 2);
        tc_status s = tc_trace_end(tc);
        CHECK_EQ(s, bad ? TC_E_INDEX : TC_OK);
        if (bad) is_at(tc, at);
        if (bad) ERROR(TC_E_INDEX, bad == 1 ? "embedding (" : "index_select (");
    }
}

// Where a value is read inside of the region, and where one is wanted late.
BOTH(an_index_that_a_read_finds) {
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32);
    for (int k = 0; k < 4; k++) {
        tc_tensor i = numbers(tc, 7);
        tc_trace_begin(tc, "read");
        tc_tensor y = tc_take(x, i, 0);
        int at = __LINE__ - 1;
        CHECK_EQ(tc_item(tc_sum_all(y)), 0);
        is_at(tc, at);
        CHECK_EQ(tc_trace_end(tc), TC_E_INDEX);
        ERROR(TC_E_INDEX, "index 7 is out of range for size 3");
    }
}

static int line_of_body;
static void takes(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    line_of_body = __LINE__ + 1;
    out[0] = tc_neg(tc_embedding(in[0], in[1]));
}

BOTH(an_index_in_a_function) {
    tc_fn *f = tc_compile(tc, takes, NULL, 0, NULL);
    tc_tensor in[2], z;
    in[0] = tc_ones(tc, TC_DIMS(3, 4), TC_F32);
    for (int k = 0; k < 6; k++) { // recorded, skipped, and skipped by the short cut
        in[1] = numbers(tc, k % 2 ? 7 : 2);
        CHECK_EQ(tc_call(f, in, 2, &z, 1), k % 2 ? TC_E_INDEX : TC_OK);
        if (k % 2) is_at(tc, line_of_body);
        if (k % 2) ERROR(TC_E_INDEX, "embedding (");
    }
    CHECK(tc_stats_get(tc).skips > 0);
}

// Eager ops are where they are called.
BOTH(an_index_of_an_eager_op) {
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32), i = numbers(tc, 7);
    for (int k = 0; k < 3; k++) {
        CHECK(!tc_embedding(x, i).id);
        is_at(tc, __LINE__ - 1);
        ERROR(TC_E_INDEX, "embedding: index 7");
    }
}

static tc_status fails(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    memcpy(out->data, in->data, 4 * sizeof(float));
    return ((const float *)in->data)[0] < 0 ? TC_E_UNSUPPORTED : TC_OK;
}

BOTH(a_custom_op_that_fails) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "fails", op.run = fails;
    int number = tc_register_op(tc, &op);
    CHECK(number > 0);
    for (int k = 0; k < 4; k++) {
        tc_tensor x = tc_full(tc, TC_DIMS(4), k % 2 ? 1 : -1, TC_F32);
        tc_trace_begin(tc, "custom");
        tc_tensor y = tc_mul_s(x, -1);
        y = tc_custom(tc, number, &y, 1);
        int at = __LINE__ - 1;
        y = tc_add_s(y, 1);
        CHECK_EQ(tc_trace_end(tc), k % 2 ? TC_E_UNSUPPORTED : TC_OK);
        if (k % 2) is_at(tc, at);
        if (k % 2) ERROR(TC_E_UNSUPPORTED, "custom op \"fails\": its function");
    }
}

BOTH(a_write_to_memory_that_is_wrapped_twice) {
    float memory[8] = {0};
    tc_tensor a = tc_wrap(tc, memory, TC_DIMS(4), TC_F32),
              b = tc_wrap(tc, memory + 2, TC_DIMS(4), TC_F32);
    tc_trace_begin(tc, "wrapped");
    tc_tensor y = tc_add_s(b, 1);
    tc_add_(a, y);
    int at = __LINE__ - 1;
    y = tc_neg(y);
    CHECK_EQ(tc_trace_end(tc), TC_E_ALIAS);
    is_at(tc, at);
    ERROR(TC_E_ALIAS, "wraps some of the same memory");
}

// Memory is asked for while a program runs; its limit is the machine's, so the hook refuses what is large.
static void *refuses_large(void *user, void *p, size_t old_size, size_t size) {
    (void)user, (void)old_size;
    if (size > (size_t)1 << 20) return NULL;
    if (!size) return free(p), (void *)NULL;
    return realloc(p, size);
}

TEST(memory_for_a_result) {
    tc_config config = tc_config_default();
    config.allocator.realloc = refuses_large, config.backend = "aot_eager";
    config.threads = 1;
    tc_ctx *tc = tc_open(&config);
    tc_tensor x = tc_ones(tc, TC_DIMS(1024), TC_F32);
    tc_trace_begin(tc, "large");
    tc_tensor y = tc_neg(x);
    y = tc_expand(tc_unsqueeze(y, 0), TC_DIMS(1024, 1024));
    y = tc_keep(tc_exp(y));
    int at = __LINE__ - 1;
    CHECK_EQ(tc_trace_end(tc), TC_E_NOMEM);
    is_at(tc, at);
    ERROR(TC_E_NOMEM, "exp (");
    tc_close(tc);
}

// ---- which error is told ----

#define SINCE "(the first error since tc_error_clear; "

// A loop that does not clear its error: each step's status is its own, and the text tells the old from the new.
BOTH(an_error_that_nobody_clears) {
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32);
    char first[600] = "";
    for (int step = 0; step < 4; step++) {
        tc_tensor i = numbers(tc, step == 2 ? 1 : 7);
        tc_trace_begin(tc, "step");
        tc_tensor y = tc_embedding(x, i);
        if (step == 3) y = tc_matmul(x, x);
        int at = __LINE__ - 1;
        y = tc_neg(tc_add_s(y, 1)); // what follows from an error is no other one
        tc_status s = tc_trace_end(tc);
        const char *text = tc_error_text(tc);
        CHECK_EQ(s, step == 3 ? TC_E_SHAPE : step == 2 ? TC_OK : TC_E_INDEX);
        CHECK_EQ(tc_error(tc), TC_E_INDEX);
        is_at(tc, at - 1);
        if (!step) snprintf(first, sizeof first, "%s", text);
        CHECK(!strncmp(text, first, strlen(first)));
        if (!step) CHECK(!strstr(text, "first error"));
        if (step == 1 || step == 2)
            CHECK(strstr(text, SINCE "1 more followed, the last at "));
        if (step == 1) CHECK(strstr(text, ", TC_E_INDEX: embedding ("));
        char last[200];
        snprintf(last, sizeof last, "told.c:%d, TC_E_SHAPE: matmul: inner sizes differ",
                 at);
        if (step == 3) CHECK(strstr(text, SINCE "2 more followed") && strstr(text, last));
        if (step == 3) CHECK(text[strlen(text) - 1] == ')');
    }
    tc_error_clear(tc);
    CHECK_STR(tc_error_text(tc), "");
    CHECK(!tc_matmul(x, x).id);
    CHECK(!strstr(tc_error_text(tc), "first error"));
    ERROR(TC_E_SHAPE, "matmul: inner sizes differ");
}

BOTH(errors_of_eager_code) {
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32);
    tc_tensor y = tc_matmul(x, x);
    y = tc_softmax(tc_neg(y), -1);
    CHECK(!y.id && !strstr(tc_error_text(tc), "first error"));
    y = tc_reshape(x, TC_DIMS(5));
    CHECK(strstr(tc_error_text(tc), SINCE "1 more followed"));
    ERROR(TC_E_SHAPE, "TC_E_SHAPE: reshape: the 12 elements");
}

// One call has one error, however many of its parts fail, and one region too.
BOTH(consequences_are_not_told) {
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32), w = tc_ones(tc, TC_DIMS(3), TC_F32),
              g;
    tc_trace_begin(tc, "gradient");
    CHECK_EQ(tc_grad(tc_sum_all(x), &w, 1, &g), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_E_ARG);
    CHECK(!strstr(tc_error_text(tc), "first error"));
    ERROR(TC_E_ARG, "does not depend on wrt[0]");
    tc_add_s_(w, 0);
    CHECK(!tc_add_(w, x).id);
    CHECK(!tc_neg(w).id);
    CHECK(!strstr(tc_error_text(tc), "first error"));
    ERROR(TC_E_BROADCAST, "add_");
    CHECK(tc_neg(w).id != 0);
}

// A long text is cut, not the note.
BOTH(long_errors) {
    char name[400];
    memset(name, 'n', sizeof name - 1), name[sizeof name - 1] = 0;
    tc_status s = TC_OK;
    for (int k = 0; k < 3; k++) s = tc_fail(tc, TC_E_DEVICE, name);
    CHECK_EQ(s, TC_E_DEVICE);
    CHECK(strstr(tc_error_text(tc), SINCE "2 more followed"));
    CHECK_EQ(strlen(tc_error_text(tc)) > 2 * strlen(name), 1);
    ERROR(TC_E_DEVICE, "nnn");
}

// ---- reading into memory that is shown ----

BOTH(a_read_into_its_own_memory) {
    float m[6] = {1, 2, 3, 4, 5, 6};
    tc_tensor t = tc_wrap(tc, m, TC_DIMS(6), TC_F32);
    CHECK_EQ(tc_read(t, m, sizeof m), TC_OK); // they are there
    CHECK_EQ(tc_read(tc_narrow(t, 0, 2, 2), m + 2, 2 * sizeof *m), TC_OK);
    CHECK_EQ(tc_read(tc_narrow(t, 0, 0, 3), m + 3, 3 * sizeof *m), TC_OK); // beside it
    CHECK_EQ(m[3], 1);
    m[3] = 4, m[4] = 5, m[5] = 6;
    const char *text = "read: the destination is memory that the tensor itself shows";
    int64_t back = -1;
    tc_tensor turned = tc_wrap_strided(tc, m + 5, TC_DIMS(6), &back, TC_F32);
    CHECK_EQ(tc_read(turned, m, sizeof m), TC_E_ALIAS);
    ERROR(TC_E_ALIAS, text);
    CHECK_EQ(tc_read(tc_narrow(t, 0, 0, 4), m + 1, 4 * sizeof *m), TC_E_ALIAS);
    ERROR(TC_E_ALIAS, text);
    CHECK_EQ(tc_read(tc_narrow(t, 0, 2, 4), m + 1, 4 * sizeof *m), TC_E_ALIAS);
    ERROR(TC_E_ALIAS, text);
    CHECK_EQ(tc_read(tc_t(tc_reshape(t, TC_DIMS(2, 3))), m, sizeof m), TC_E_ALIAS);
    ERROR(TC_E_ALIAS, text);
    CHECK_EQ(tc_read(tc_expand(tc_narrow(t, 0, 5, 1), TC_DIMS(6)), m, sizeof m),
             TC_E_ALIAS);
    ERROR(TC_E_ALIAS, text);
    for (int i = 0; i < 6; i++) CHECK_EQ(m[i], i + 1);
}

// The way that the text tells
BOTH(a_flip_in_place) {
    float m[4] = {1, 2, 3, 4};
    tc_tensor t = tc_wrap(tc, m, TC_DIMS(4), TC_F32);
    CHECK(tc_copy_(t, tc_clone(tc_flip(t, TC_DIMS(0)))).id != 0);
    CHECK_EQ(tc_read(t, m, sizeof m), TC_OK);
    for (int i = 0; i < 4; i++) CHECK_EQ(m[i], 4 - i);
}
