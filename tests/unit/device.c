// Unit tests of gen/device: kernels get the lists of devices, which are run on the host and compared with
// plain C; and lists that are broken on purpose are refused by the verifier.
#define TCOMPILE_IMPLEMENTATION
#define TCOMPILE_CUDA_IMPLEMENTATION
#include "tcompile.in.h"
#include "tcompile_cuda.in.h"

#include "harness.h"
#include "tools/device_run.h"

enum { MOST_BUFFERS = 16 };

typedef struct kit {
    tc_ctx *c;
    tc__ixpool ix;
    tc__graph from, g;
    tc__ids outputs;
    tc__schedule s;
    tc__group *list;
} kit;

// The one kernel of a graph, for devices.
static void kit_open(kit *t, const char *text) {
    tc_config config = tc_config_default();
    memset(t, 0, sizeof *t);
    config.backend = "aot_eager", config.threads = 1;
    t->c = tc_open(&config);
    tc__ix_open(&t->ix, t->c);
    tc__graph_open(&t->from, t->c, &t->ix), tc__graph_open(&t->g, t->c, &t->ix);
    REQUIRE(tc__read_graph(t->c, &t->from, text, &t->outputs));
    REQUIRE(tc__passes_run(t->c, &t->from, &t->g, t->outputs.at, t->outputs.count, 0, 0));
    uint8_t *output = (uint8_t *)calloc(t->g.node.count + 1, 1);
    for (size_t i = 0; i < t->outputs.count; i++) output[t->outputs.at[i]] = 1;
    REQUIRE(tc__schedule_run(&t->s, t->c, &t->g, output, NULL, TC__FUSE_LOADS));
    free(output);
    REQUIRE(t->s.kernel.count == 1 && tc__device_has_list(t->s.kernel.at[0]));
    t->list = tc__lower_device(t->c, t->s.kernel.at[0]);
    if (!t->list) FAIL("%s", tc_error_text(t->c));
    REQUIRE(t->list != NULL);
    CHECK(tc__verify(t->c, &t->list->body, TC__LOOP) && tc__verify_device(t->c, t->list));
}

static void kit_close(kit *t) {
    tc__group_free(t->c, t->list);
    tc__schedule_close(&t->s);
    TC__VEC_FREE(t->c, t->outputs);
    tc__graph_close(&t->g), tc__graph_close(&t->from);
    tc__ix_close(&t->ix);
    tc_close(t->c);
}

// ---- what lists compute

static float element(int64_t i, int input) {
    return (float)((int)(test_word((unsigned)i, (unsigned)input + 3) % 2001) - 1000) / 64;
}

// out[r, c] = x0[c, r] * 3 + x1[r, c], of whole numbers of 1/64: exact in f32.
static const char turned[] = "%%0 = input x0  f32[%s,%s]\n"
                             "%%1 = permute %%0 order=1,0  f32[%s,%s]\n"
                             "%%2 = input x1  f32[%s,%s]\n"
                             "%%3 = const 3  f32[]\n"
                             "%%4 = reshape %%3  f32[1,1]\n"
                             "%%5 = expand %%4  f32[%s,%s]\n"
                             "%%6 = mul %%1 %%5  f32[%s,%s]\n"
                             "%%7 = add %%6 %%2  f32[%s,%s]\n"
                             "return %%7\n";

static void turned_text(char *out, size_t room, int64_t rows, int64_t cols, int symbolic) {
    char r[24], c[24], body[1200];
    snprintf(r, sizeof r, symbolic ? "s0" : "%lld", (long long)rows);
    snprintf(c, sizeof c, "%lld", (long long)cols);
    snprintf(body, sizeof body, turned, c, r, r, c, r, c, r, c, r, c, r, c);
    snprintf(out, room, "%s%s", symbolic ? "size s0 in 1..4096\n" : "", body);
}

// Memory of the kernel's buffers, in the order of the list.
static void check_turned_once(const kit *t, int64_t rows, int64_t cols, int backwards) {
    void *memory[MOST_BUFFERS] = {NULL};
    size_t numel = (size_t)(rows * cols);
    float *out = NULL;
    REQUIRE(t->list->buffer.count <= MOST_BUFFERS);
    for (size_t b = 0; b < t->list->buffer.count; b++) {
        const tc__kbuf *buffer = &t->list->buffer.at[b];
        if (!tc__is_memory(buffer)) continue;
        float *p = (float *)calloc(numel + 1, sizeof *p);
        memory[b] = p;
        if (buffer->place == TC__BUF_NODE) out = p;
        for (size_t i = 0; i < numel && buffer->place == TC__BUF_INPUT; i++)
            p[i] = element((int64_t)i, (int)buffer->source);
    }
    run_device(t->list, memory, &rows, backwards);
    int bad = 0;
    for (int64_t r = 0; r < rows; r++)
        for (int64_t c = 0; c < cols; c++) {
            double want =
                3.0 * (double)element(c * rows + r, 0) + (double)element(r * cols + c, 1);
            bad += (double)out[r * cols + c] != want;
        }
    CHECK(!bad ||
          FAIL("%lld x %lld: %d elements differ", (long long)rows, (long long)cols, bad));
    for (size_t b = 0; b < t->list->buffer.count; b++) free(memory[b]);
}

static void check_turned(int64_t rows, int64_t cols, int symbolic) {
    kit t;
    char text[1400];
    turned_text(text, sizeof text, rows, cols, symbolic);
    kit_open(&t, text);
    check_turned_once(&t, rows, cols, 0);
    check_turned_once(&t, rows, cols, 1);
    kit_close(&t);
}

TEST(tiles_of_four) { check_turned(64, 96, 0); }
TEST(ragged_tiles_of_four) { check_turned(132, 100, 0); }
TEST(single_elements) { check_turned(101, 99, 0); }
TEST(less_than_a_tile_across) { check_turned(201, 70, 0); }
TEST(rows_at_run_time) { check_turned(145, 64, 1); }

// ---- what is refused

static tc__node *statement(const kit *t, tc__op op, int which) {
    for (size_t i = 0; i < t->list->body.node.count; i++)
        if (t->list->body.node.at[i]->op == (uint16_t)op && !which--)
            return t->list->body.node.at[i];
    FAIL("no such statement");
    exit(1);
}

static void broken_open(kit *t) {
    char text[1400];
    turned_text(text, sizeof text, 101, 99, 0);
    kit_open(t, text);
}

// The list is refused for a reason in these words.
static void refused(kit *t, const char *why) {
    CHECK(!tc__verify(t->c, &t->list->body, TC__LOOP) || !tc__verify_device(t->c, t->list));
    CHECK(strstr(tc_error_text(t->c), why) || FAIL("\"%s\"", tc_error_text(t->c)));
    kit_close(t);
}

TEST(no_barrier) {
    kit t;
    broken_open(&t);
    statement(&t, TC_OP_BARRIER, 0)->op = TC_OP_CONST;
    CHECK(!tc__verify_device(t.c, t.list));
    CHECK(strstr(tc_error_text(t.c), "another thread may meet it") ||
          FAIL("\"%s\"", tc_error_text(t.c)));
    kit_close(&t);
}

// A pitch of 31: the last element of a line is the first of the next.
TEST(threads_write_one_element) {
    kit t;
    broken_open(&t);
    tc__node *n = statement(&t, TC_OP_STORE, 1);
    tc__ix *e = &n->attr[TC__STORE_INDEX];
    tc__ix y = tc__ix_find_var(&t.ix, *e, (tc__axis)TC__TILE_Y);
    *e = tc__ix_sub(&t.ix, *e, tc__ix_mul(&t.ix, tc__ix_const(2), y));
    refused(&t, "another thread may meet it");
}

TEST(index_leaves_memory) {
    kit t;
    broken_open(&t);
    tc__node *n = statement(&t, TC_OP_STORE, 1);
    n->attr[TC__STORE_INDEX] = tc__ix_add(&t.ix, n->attr[TC__STORE_INDEX], tc__ix_const(2));
    refused(&t, "leaves the shared memory");
}

// The first store is one to registers: of element u of four.
TEST(index_leaves_registers) {
    kit t;
    broken_open(&t);
    tc__node *n = statement(&t, TC_OP_STORE, 0);
    n->attr[TC__STORE_INDEX] = tc__ix_add(&t.ix, n->attr[TC__STORE_INDEX], tc__ix_const(1));
    refused(&t, "leaves the registers");
}

TEST(register_chosen_by_a_thread) {
    kit t;
    broken_open(&t);
    statement(&t, TC_OP_FOR, 4)->attr[TC__FOR_BIND] = TC__BIND_SERIAL;
    refused(&t, "a register has no address");
}

TEST(axis_beyond_its_extent) {
    kit t;
    broken_open(&t);
    tc__node *n = statement(&t, TC_OP_AXIS, 1);
    n->attr[TC__AXIS_VALUE] = tc__ix_add(&t.ix, n->attr[TC__AXIS_VALUE], tc__ix_const(1));
    refused(&t, "may reach its extent");
}

TEST(barrier_in_an_if) {
    kit t;
    broken_open(&t);
    statement(&t, TC_OP_STORE, 1)->op = TC_OP_BARRIER;
    CHECK(!tc__verify_device(t.c, t.list));
    CHECK(strstr(tc_error_text(t.c), "not all threads come here") ||
          FAIL("\"%s\"", tc_error_text(t.c)));
    kit_close(&t);
}

TEST(other_number_of_threads) {
    kit t;
    broken_open(&t);
    statement(&t, TC_OP_LAUNCH, 0)->attr[TC__LAUNCH_THREADS] = 128;
    refused(&t, "its loops have 256 threads");
}

TEST(variable_that_nothing_binds) {
    kit t;
    broken_open(&t);
    tc__node *n = statement(&t, TC_OP_STORE, 1);
    n->attr[TC__STORE_INDEX] = tc__ix_var(&t.ix, TC__TILE_L, tc__ix_const(4));
    refused(&t, "nothing around it binds");
}

TEST(variable_that_is_bound_twice) {
    kit t;
    broken_open(&t);
    statement(&t, TC_OP_FOR, 1)->attr[TC__FOR_AXIS] = TC__TILE_J;
    refused(&t, "bound by what is around");
}

// A loop over threads around another that is not opened with them.
TEST(thread_loop_inside_of_others) {
    kit t;
    broken_open(&t);
    statement(&t, TC_OP_FOR, 5)->attr[TC__FOR_BIND] = TC__BIND_BLOCK;
    CHECK(statement(&t, TC_OP_FOR, 5)->attr[TC__FOR_AXIS] == (int64_t)TC__TILE_U);
    refused(&t, "its loops have 1024 threads");
}
