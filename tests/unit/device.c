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

// The kernels of a graph, for devices.
static void kit_read(kit *t, const char *text) {
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
    REQUIRE(tc__schedule_join(&t->s, &tc__dialect_cuda));
    free(output);
}

// The one kernel of a graph and its list; knob `vectors` as kernel/group.c has it.
static void kit_open_with(kit *t, const char *text, uint8_t vectors) {
    kit_read(t, text);
    REQUIRE(t->s.kernel.count == 1);
    t->s.kernel.at[0]->shape.tuning.knob[TC__KNOB_VECTORS] = vectors;
    t->list = tc__lower_device(t->c, t->s.kernel.at[0]);
    if (!t->list) FAIL("%s", tc_error_text(t->c));
    REQUIRE(t->list != NULL);
    CHECK(tc__verify(t->c, &t->list->body, TC__LOOP) && tc__verify_device(t->c, t->list));
}

static void kit_open(kit *t, const char *text) { kit_open_with(t, text, 0); }

static void kit_close(kit *t) {
    tc__group_free(t->c, t->list);
    tc__schedule_close(&t->s);
    TC__VEC_FREE(t->c, t->outputs);
    tc__graph_close(&t->g), tc__graph_close(&t->from);
    tc__ix_close(&t->ix);
    tc_close(t->c);
}

// ---- what lists compute

static int whole; // elements are small whole numbers, whose products a sum holds

static float element(int64_t i, int input) {
    if (whole) return (float)((int)(test_word((unsigned)i, (unsigned)input + 3) % 17) - 8);
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

// ---- flat, and windows

enum { LARGEST = 1 << 16 };

typedef struct memory {
    void *at[MOST_BUFFERS];
    float *out;
    int64_t *out_i64; // where results are i64
    int64_t *index;   // of x1, if that is i64
} memory;

static void memory_open(const kit *t, memory *m, int64_t limit) {
    memset(m, 0, sizeof *m);
    REQUIRE(t->list->buffer.count <= MOST_BUFFERS);
    for (size_t b = 0; b < t->list->buffer.count; b++) {
        const tc__kbuf *buffer = &t->list->buffer.at[b];
        if (!tc__is_memory(buffer)) continue;
        m->at[b] = calloc(LARGEST, 8);
        if (buffer->place == TC__BUF_NODE && buffer->dtype == TC_I64)
            m->out_i64 = (int64_t *)m->at[b];
        if (buffer->place == TC__BUF_NODE) m->out = (float *)m->at[b];
        for (int64_t i = 0; i < LARGEST && buffer->place == TC__BUF_INPUT; i++)
            if (buffer->dtype == TC_I64)
                ((int64_t *)m->at[b])[i] =
                    (int64_t)(test_word((unsigned)i, 9) % (unsigned)limit);
            else
                ((float *)m->at[b])[i] = element(i, (int)buffer->source);
        if (buffer->dtype == TC_I64 && buffer->place == TC__BUF_INPUT)
            m->index = (int64_t *)m->at[b];
    }
}

static void memory_close(memory *m) {
    for (int b = 0; b < MOST_BUFFERS; b++) free(m->at[b]);
}

typedef double (*expected_fn)(int64_t r, int64_t c, int64_t cols, const memory *m);

// Runs the list up and down, with s0 = size: each element is what `expected` says.
static void check_list_of(kit *t, int64_t rows, int64_t cols, int64_t size,
                          expected_fn expected) {
    for (int backwards = 0; backwards < 2; backwards++) {
        memory m;
        memory_open(t, &m, 50);
        REQUIRE(m.out && rows * cols <= LARGEST);
        run_device(t->list, m.at, &size, backwards);
        int64_t bad = 0;
        for (int64_t i = 0; i < rows * cols; i++)
            bad += (m.out_i64 ? (double)m.out_i64[i] : (double)m.out[i]) !=
                   expected(i / cols, i % cols, cols, &m);
        CHECK(!bad || FAIL("%lld x %lld: %lld elements differ", (long long)rows,
                           (long long)cols, (long long)bad));
        for (int64_t i = rows * cols; i < LARGEST; i++)
            bad += m.out_i64 ? m.out_i64[i] != 0 : m.out[i] != 0;
        CHECK(!bad || FAIL("elements behind the end were written"));
        memory_close(&m);
    }
    kit_close(t);
}

static void check_list(kit *t, int64_t rows, int64_t cols, expected_fn expected) {
    check_list_of(t, rows, cols, cols, expected);
}

static double expected_sum(int64_t r, int64_t c, int64_t cols, const memory *m) {
    (void)m;
    return (double)element(r * cols + c, 0) + (double)element(r * cols + c, 1);
}

static void check_sum(const char *size, const char *symbol, int64_t rows, int64_t cols,
                      uint8_t vectors) {
    kit t;
    char text[600];
    snprintf(text, sizeof text,
             "%s%%0 = input x0  f32[%s]\n%%1 = input x1  f32[%s]\n"
             "%%2 = add %%0 %%1  f32[%s]\nreturn %%2\n",
             symbol, size, size, size);
    kit_open_with(&t, text, vectors);
    check_list_of(&t, rows, cols, strchr(size, '*') ? cols / 4 : cols, expected_sum);
}

TEST(vectors) { check_sum("24,100", "", 24, 100, 0); }
TEST(two_vectors_of_a_thread) { check_sum("24,100", "", 24, 100, 2); }
TEST(four_vectors_of_a_thread) { check_sum("2,1000", "", 2, 1000, 3); }
TEST(one_element) { check_sum("1", "", 1, 1, 0); }
TEST(a_tail) { check_sum("1003", "", 1, 1003, 0); }
TEST(a_tail_of_two_vectors) { check_sum("5003", "", 1, 5003, 2); }
TEST(tail_at_run_time) {
    check_sum("s0", "size s0 in 1..4096\n", 1, 2050, 0);
    check_sum("s0", "size s0 in 1..4096\n", 1, 3, 0);
    check_sum("s0", "size s0 in 1..4096\n", 1, 1024, 2);
}
TEST(columns_at_run_time) { check_sum("7,4*s0", "size s0 in 1..4096\n", 7, 4 * 31, 0); }

// A row for each index: the index is loaded, then the row.
static double expected_row(int64_t r, int64_t c, int64_t cols, const memory *m) {
    return (double)element(m->index[r] * cols + c, 0);
}

static void check_rows(uint8_t vectors) {
    kit t;
    kit_open_with(&t,
                  "%0 = input x0  f32[50,64]\n%1 = input x1  i64[33]\n"
                  "%2 = take %0 %1 dim=0  f32[33,64]\nreturn %2\n",
                  vectors);
    check_list(&t, 33, 64, expected_row);
}

TEST(gathered_rows) { check_rows(0); }
TEST(gathered_rows_of_two_vectors) { check_rows(2); }

// x0 with a border of twos: the box is its inside.
static double expected_pad(int64_t r, int64_t c, int64_t cols, const memory *m) {
    (void)m;
    int inside = r >= 1 && r < 40 - 1 && c >= 4 && c < cols - 4;
    return inside ? (double)element((r - 1) * (cols - 8) + c - 4, 0) : 0;
}

static void box_open(kit *t) {
    kit_open(t, "%0 = input x0  f32[38,248]\n"
                "%1 = pad %0 dim=0 low=1 high=1 dilation=1 fill=0  f32[40,248]\n"
                "%2 = pad %1 dim=1 low=4 high=4 dilation=1 fill=0  f32[40,256]\n"
                "return %2\n");
}

TEST(a_box) {
    kit t;
    box_open(&t);
    int branches = 0;
    for (size_t i = 0; i < t.list->body.node.count; i++)
        branches += t.list->body.node.at[i]->op == TC_OP_ELSE;
    CHECK_EQ(branches > 0, 1);
    check_list(&t, 40, 256, expected_pad);
}

// Four that are neighbours.
static double expected_near(int64_t r, int64_t c, int64_t cols, const memory *m) {
    (void)m;
    int64_t pitch = cols + 2, i = r * pitch + c;
    return (double)element(i, 0) + (double)element(i + 1, 0) +
           (double)element(i + pitch, 0) + (double)element(i + pitch + 1, 0);
}

static void check_window(int rows, int cols) {
    kit t;
    char text[1200], in[32], out[32];
    snprintf(in, sizeof in, "%d,%d", rows + 2, cols + 2);
    snprintf(out, sizeof out, "%d,%d", rows, cols);
    snprintf(text, sizeof text,
             "%%0 = input x0  f32[%s]\n"
             "%%1 = slice %%0 dim=0 start=0 count=%d step=1  f32[%d,%d]\n"
             "%%2 = slice %%1 dim=1 start=0 count=%d step=1  f32[%s]\n"
             "%%3 = slice %%1 dim=1 start=1 count=%d step=1  f32[%s]\n"
             "%%4 = slice %%0 dim=0 start=1 count=%d step=1  f32[%d,%d]\n"
             "%%5 = slice %%4 dim=1 start=0 count=%d step=1  f32[%s]\n"
             "%%6 = slice %%4 dim=1 start=1 count=%d step=1  f32[%s]\n"
             "%%7 = add %%2 %%3  f32[%s]\n%%8 = add %%5 %%6  f32[%s]\n"
             "%%9 = add %%7 %%8  f32[%s]\nreturn %%9\n",
             in, rows, rows, cols + 2, cols, out, cols, out, rows, rows, cols + 2, cols,
             out, cols, out, out, out, out);
    kit_open(&t, text);
    CHECK_EQ(t.list->buffer.at[t.list->buffer.count - 1].place == TC__BUF_REGISTER, 1);
    check_list(&t, rows, cols, expected_near);
}

TEST(a_window) { check_window(33, 126); }
TEST(a_window_of_few_rows) { check_window(3, 64); }

// ---- sums

static int summed; // elements of the row at hand

static double expected_row_sum(int64_t r, int64_t c, int64_t cols, const memory *m) {
    double sum = 0;
    (void)c, (void)cols, (void)m;
    for (int64_t i = 0; i < summed; i++) sum += (double)element(r * summed + i, 0);
    return sum;
}

static double expected_row_place(int64_t r, int64_t c, int64_t cols, const memory *m) {
    int64_t best = 0;
    (void)c, (void)cols, (void)m;
    for (int64_t i = 1; i < summed; i++)
        if (element(r * summed + i, 0) > element(r * summed + best, 0)) best = i;
    return (double)best;
}

static double expected_column_sum(int64_t r, int64_t c, int64_t cols, const memory *m) {
    double sum = 0;
    (void)r, (void)m;
    for (int64_t i = 0; i < summed; i++) sum += (double)element(i * cols + c, 0);
    return sum;
}

static double expected_column_place(int64_t r, int64_t c, int64_t cols, const memory *m) {
    int64_t best = 0;
    (void)r, (void)m;
    for (int64_t i = 1; i < summed; i++)
        if (element(i * cols + c, 0) > element(best * cols + c, 0)) best = i;
    return (double)best;
}

// x0 less the largest of its column.
static double expected_column_less(int64_t r, int64_t c, int64_t cols, const memory *m) {
    double most = (double)element(c, 0);
    (void)m;
    for (int64_t i = 1; i < summed; i++)
        if ((double)element(i * cols + c, 0) > most)
            most = (double)element(i * cols + c, 0);
    return (double)element(r * cols + c, 0) - most;
}

// A reduction of x0[rows, cols] along `dim`; whether it is cut into parts, whose blocks meet at a ticket.
static void check_reduction(const char *op, int dim, int rows, int cols, int ticket,
                            expected_fn expected) {
    kit t;
    char text[300];
    int along = dim ? cols : rows, left = dim ? rows : cols, found = 0;
    const char *dtype = strcmp(op, "argmax") ? "f32" : "i64";
    snprintf(text, sizeof text,
             "%%0 = input x0  f32[%d,%d]\n%%1 = %s %%0 dims=%d  %s[%d,%d]\nreturn %%1\n",
             rows, cols, op, dim + 1, dtype, dim ? rows : 1, dim ? 1 : cols);
    kit_open(&t, text);
    summed = along;
    for (size_t b = 0; b < t.list->buffer.count; b++)
        found |= t.list->buffer.at[b].place == TC__BUF_TICKET;
    CHECK_EQ(found, ticket);
    check_list(&t, dim ? left : 1, dim ? 1 : left, expected);
}

TEST(sums_of_rows) { check_reduction("sum", 1, 24, 512, 0, expected_row_sum); }
TEST(sums_of_short_rows) { check_reduction("sum", 1, 301, 24, 0, expected_row_sum); }
TEST(a_row_with_a_tail) { check_reduction("sum", 1, 1, 1003, 0, expected_row_sum); }
TEST(places_in_rows) { check_reduction("argmax", 1, 24, 512, 0, expected_row_place); }
TEST(rows_in_parts) { check_reduction("sum", 1, 3, 9000, 1, expected_row_sum); }
TEST(places_in_rows_in_parts) {
    check_reduction("argmax", 1, 3, 9000, 1, expected_row_place);
}
TEST(sums_of_columns) { check_reduction("sum", 0, 33, 1000, 0, expected_column_sum); }
TEST(sums_of_columns_by_single_rows) {
    check_reduction("sum", 0, 40, 37, 0, expected_column_sum);
}
TEST(columns_in_parts) { check_reduction("sum", 0, 300, 200, 1, expected_column_sum); }
TEST(places_in_columns) {
    check_reduction("argmax", 0, 33, 1000, 0, expected_column_place);
}
TEST(places_in_columns_in_parts) {
    check_reduction("argmax", 0, 300, 200, 1, expected_column_place);
}

// Sums that no block has memory for, of all its threads: rows have them, one by one.
TEST(more_sums_than_a_block_has_room_for) {
    static char text[16384];
    size_t n = 0;
    kit t;
    n += (size_t)snprintf(text, sizeof text, "%%0 = input x0  f64[40,500]\n");
    for (int i = 1; i <= 60; i++)
        n += (size_t)snprintf(
            text + n, sizeof text - n,
            "%%%d = const %d  f64[]\n%%%d = reshape %%%d  f64[1,1]\n"
            "%%%d = expand %%%d  f64[40,500]\n%%%d = mul %%0 %%%d  f64[40,500]\n"
            "%%%d = sum %%%d dims=1  f64[1,500]\n",
            5 * i, i, 5 * i + 1, 5 * i, 5 * i + 2, 5 * i + 1, 5 * i + 3, 5 * i + 2,
            5 * i + 4, 5 * i + 3);
    n += (size_t)snprintf(text + n, sizeof text - n, "return %%9");
    for (int i = 2; i <= 60; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, " %%%d", 5 * i + 4);
    snprintf(text + n, sizeof text - n, "\n");
    kit_open(&t, text);
    CHECK_EQ(tc__device_plan_of(t.s.kernel.at[0]).form, TC__DEVICE_ROWS);
    kit_close(&t);
}

// Values of rows that a later loop over the columns takes are the thread's.
TEST(two_loops_over_columns) {
    kit t;
    kit_open(&t, "%0 = input x0  f32[40,500]\n%1 = amax %0 dims=1  f32[1,500]\n"
                 "%2 = expand %1  f32[40,500]\n%3 = sub %0 %2  f32[40,500]\nreturn %3\n");
    summed = 40;
    check_list(&t, 40, 500, expected_column_less);
}

// Rows of an odd number of columns that begin at multiples of a vector: whole vectors from shared memory, and a tail.
static double expected_ragged(int64_t r, int64_t c, int64_t cols, const memory *m) {
    double factor = (double)element(r, 1), most = -1e30, sum = 0;
    (void)c, (void)cols, (void)m;
    for (int64_t i = 0; i < summed; i++)
        if ((double)element(i, 0) * factor > most) most = (double)element(i, 0) * factor;
    for (int64_t i = 0; i < summed; i++) sum += most - (double)element(i, 0) * factor;
    return sum;
}

static void check_ragged(int rows, int cols, int width, tc__device_hold hold) {
    char text[600];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0  f32[1,%d]\n%%1 = expand %%0  f32[%d,%d]\n"
             "%%2 = input x1  f32[%d,1]\n%%3 = expand %%2  f32[%d,%d]\n"
             "%%4 = mul %%1 %%3  f32[%d,%d]\n%%5 = amax %%4 dims=2  f32[%d,1]\n"
             "%%6 = expand %%5  f32[%d,%d]\n%%7 = sub %%6 %%4  f32[%d,%d]\n"
             "%%8 = sum %%7 dims=2  f32[%d,1]\nreturn %%8\n",
             cols, rows, cols, rows, rows, cols, rows, cols, rows, rows, cols, rows, cols,
             rows);
    whole = 1, summed = cols;
    kit_open(&t, text);
    tc__device_plan q = tc__device_plan_of(t.s.kernel.at[0]);
    CHECK_EQ(q.width, width);
    CHECK_EQ(q.hold, hold);
    check_list(&t, rows, 1, expected_ragged);
    whole = 0;
}

TEST(ragged_rows_have_vectors) { check_ragged(264, 4099, 4, TC__DEVICE_SHARED); }

// What the reduction behind a product has of its rows, [rows, cols] in bf16, as a device lays them apart.
static int ragged_width(int rows, int cols) {
    char text[500];
    kit t;
    snprintf(text, sizeof text,
             "%%0 = input x0  bf16[%d,8]\n%%1 = input x1  bf16[8,%d]\n"
             "%%2 = matmul %%0 %%1  bf16[%d,%d]\n%%3 = cast %%2  f32[%d,%d]\n"
             "%%4 = amax %%3 dims=2  f32[%d,1]\n%%5 = expand %%4  f32[%d,%d]\n"
             "%%6 = sub %%3 %%5  f32[%d,%d]\n%%7 = exp %%6  f32[%d,%d]\n"
             "%%8 = sum %%7 dims=2  f32[%d,1]\nreturn %%8\n",
             rows, cols, rows, cols, rows, cols, rows, rows, cols, rows, cols, rows, cols,
             rows);
    kit_read(&t, text);
    if (!CHECK(t.s.kernel.count == 2)) return 0;
    t.s.kernel.at[0]->target.device = t.s.kernel.at[1]->target.device = 1;
    CHECK_EQ(tc__result_width(t.s.kernel.at[0]), 1);
    tc__schedule_pitch(&t.s);
    // The product writes whole accesses, the last of a row into what lies behind it.
    CHECK_EQ(tc__result_width(t.s.kernel.at[0]), cols > 4096 ? 8 : 1);
    int width = tc__device_plan_of(t.s.kernel.at[1]).width;
    kit_close(&t);
    return width;
}

TEST(rows_of_a_product_lie_apart_for_sums) {
    CHECK_EQ(ragged_width(264, 50257), 8);
    CHECK_EQ(ragged_width(264, 4097), 8);
    CHECK_EQ(ragged_width(264, 4095), 1);  // in registers
    CHECK_EQ(ragged_width(263, 50257), 1); // in parts
}

// ---- products

static tc__node *statement(const kit *t, tc__op op, int which) {
    for (size_t i = 0; i < t->list->body.node.count; i++)
        if (t->list->body.node.at[i]->op == (uint16_t)op && !which--)
            return t->list->body.node.at[i];
    FAIL("no such statement");
    exit(1);
}

// x0[batch, rows, depth] times x1[batch, depth, cols] or, `turned`, x1[batch, cols, depth], and that twice; of -x0
// where it is `made`.
typedef struct product {
    int rows, cols, depth, batch, turned, made;
} product;
static product multiplied;

static double expected_product(int64_t r, int64_t c, int64_t cols, const memory *m) {
    const product *p = &multiplied;
    int64_t first = r / p->rows * p->depth * p->cols;
    double sum = 0;
    (void)m;
    for (int64_t k = 0; k < p->depth; k++)
        sum += (double)element(r * p->depth + k, 0) *
               (double)element(first + (p->turned ? c * p->depth + k : k * cols + c), 1);
    return p->made ? -2 * sum : 2 * sum;
}

static void product_open(kit *t, product p, int symbolic) {
    char text[900], rows[16], left[60], right[60], out[60];
    snprintf(rows, sizeof rows, symbolic ? "s0" : "%d", p.rows);
    snprintf(left, sizeof left, "%d,%s,%d", p.batch, rows, p.depth);
    snprintf(right, sizeof right, "%d,%d,%d", p.batch, p.depth, p.cols);
    snprintf(out, sizeof out, "%d,%s,%d", p.batch, rows, p.cols);
    size_t n = 0;
    n += (size_t)snprintf(text, sizeof text, "%s%%0 = input x0  f32[%s]\n",
                          symbolic ? "size s0 in 1..4096\n" : "", left);
    if (p.turned)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%%1 = input x1  f32[%d,%d,%d]\n"
                              "%%2 = permute %%1 order=0,2,1  f32[%s]\n",
                              p.batch, p.cols, p.depth, right);
    else
        n +=
            (size_t)snprintf(text + n, sizeof text - n, "%%2 = input x1  f32[%s]\n", right);
    if (p.made)
        n += (size_t)snprintf(text + n, sizeof text - n, "%%3 = neg %%0  f32[%s]\n", left);
    snprintf(text + n, sizeof text - n,
             "%%4 = matmul %%%d %%2  f32[%s]\n%%5 = add %%4 %%4  f32[%s]\nreturn %%5\n",
             p.made ? 3 : 0, out, out);
    kit_open(t, text);
    multiplied = p, whole = 1;
}

static void check_product(product p, const char *template_name, int symbolic) {
    kit t;
    product_open(&t, p, symbolic);
    const tc__node *n = statement(&t, TC_OP_TEMPLATE, 0);
    CHECK(!strcmp(tc__template_names[n->attr[TC__TEMPLATE_NAME]], template_name));
    check_list_of(&t, p.batch * p.rows, p.cols, p.rows, expected_product);
}

TEST(a_product) {
    check_product((product){64, 96, 48, 1, 0, 0}, "tiles", 0);
    check_product((product){50, 70, 37, 1, 1, 0}, "tiles", 0);
}
TEST(products_of_a_batch) {
    check_product((product){52, 76, 44, 2, 1, 0}, "tiles", 0);
    check_product((product){51, 70, 44, 3, 0, 1}, "tiles", 0);
}
TEST(a_product_of_rows_at_run_time) {
    check_product((product){53, 76, 44, 1, 0, 0}, "tiles", 1);
}
TEST(a_product_in_slices) {
    kit t;
    product_open(&t, (product){20, 40, 1600, 1, 1, 1}, 0);
    const tc__node *n = statement(&t, TC_OP_TEMPLATE, 0);
    CHECK(n->attr[TC__TEMPLATE_NUMBERS + TC__TILES_SLICES] > 1);
    kit_close(&t);
    check_product((product){20, 40, 1600, 1, 1, 1}, "tiles", 0);
}
TEST(few_rows) {
    check_product((product){2, 300, 64, 1, 0, 0}, "skinny", 0);
    check_product((product){2, 30, 2048, 1, 1, 1}, "skinny", 0);
}
TEST(few_columns) {
    check_product((product){300, 2, 64, 2, 1, 0}, "skinny", 0);
    check_product((product){301, 1, 200, 1, 0, 1}, "skinny", 0);
}

// ---- products of rows that they make

// x0[rows, depth] less the largest of its row, times x1[depth, cols] or x1[cols, depth] turned, and x2[rows, cols], and
// x3[1].
static double expected_made(int64_t r, int64_t c, int64_t cols, const memory *m) {
    const product *p = &multiplied;
    float most = element(r * p->depth, 0);
    double sum = (double)element(r * cols + c, 2) + (double)element(0, 3);
    (void)m;
    for (int64_t k = 1; k < p->depth; k++)
        if (element(r * p->depth + k, 0) > most) most = element(r * p->depth + k, 0);
    for (int64_t k = 0; k < p->depth; k++)
        sum += (double)(element(r * p->depth + k, 0) - most) *
               (double)element(p->turned ? c * p->depth + k : k * cols + c, 1);
    return sum;
}

static void made_open(kit *t, product p) {
    char text[900], right[200];
    if (p.turned)
        snprintf(right, sizeof right,
                 "%%4 = input x1  f32[%d,%d]\n%%5 = permute %%4 order=1,0  f32[%d,%d]\n",
                 p.cols, p.depth, p.depth, p.cols);
    else
        snprintf(right, sizeof right, "%%5 = input x1  f32[%d,%d]\n", p.depth, p.cols);
    snprintf(
        text, sizeof text,
        "%%0 = input x0  f32[%d,%d]\n%%1 = amax %%0 dims=2  f32[%d,1]\n"
        "%%2 = expand %%1  f32[%d,%d]\n%%3 = sub %%0 %%2  f32[%d,%d]\n%s"
        "%%6 = matmul %%3 %%5  f32[%d,%d]\n%%7 = input x2  f32[%d,%d]\n"
        "%%8 = add %%6 %%7  f32[%d,%d]\n%%9 = input x3  f32[1,1]\n"
        "%%10 = expand %%9  f32[%d,%d]\n%%11 = add %%8 %%10  f32[%d,%d]\nreturn %%11\n",
        p.rows, p.depth, p.rows, p.rows, p.depth, p.rows, p.depth, right, p.rows, p.cols,
        p.rows, p.cols, p.rows, p.cols, p.rows, p.cols, p.rows, p.cols);
    whole = 1, multiplied = p;
    kit_open(t, text);
}

// The rows are made by `making` threads each.
static void check_made(product p, int64_t making) {
    kit t;
    made_open(&t, p);
    const tc__node *n = statement(&t, TC_OP_TEMPLATE, 0);
    CHECK_EQ(n->attr[TC__TEMPLATE_NUMBERS + TC__SKINNY_MAKING], making);
    check_list(&t, p.rows, p.cols, expected_made);
}

TEST(rows_made_by_less_than_a_warp) { check_made((product){16, 64, 64, 1, 1, 0}, 16); }
TEST(rows_made_by_a_warp) {
    check_made((product){37, 40, 132, 1, 0, 0}, 32);
    check_made((product){37, 3, 132, 1, 1, 0}, 32);
}
TEST(rows_made_by_a_block) { check_made((product){3, 60, 900, 1, 1, 0}, 256); }

// ---- what is refused

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

// What the one branch has computed is not there in the other.
TEST(value_of_the_other_branch) {
    kit t;
    box_open(&t);
    statement(&t, TC_OP_STORE, 1)->in[0] = statement(&t, TC_OP_STORE, 0)->in[0];
    refused(&t, "inside a loop that is over");
}

TEST(else_of_no_if) {
    kit t;
    box_open(&t);
    statement(&t, TC_OP_STORE, 0)->op = TC_OP_ELSE;
    CHECK(!tc__verify(t.c, &t.list->body, TC__LOOP));
    kit_close(&t);
}

// Vectors that are not asked whether they are the kernel's.
TEST(vectors_behind_the_end) {
    kit t;
    kit_open(&t, "%0 = input x0  f32[24,100]\n%1 = exp %0  f32[24,100]\nreturn %1\n");
    statement(&t, TC_OP_IF, 0)->n_attr = 0;
    refused(&t, "may reach its extent");
}

// ---- what is refused of sums

static void parts_open(kit *t) {
    kit_open(t, "%0 = input x0  f32[300,200]\n%1 = sum %0 dims=1  f32[1,200]\nreturn %1\n");
}

static void refused_by_device(kit *t, const char *why) {
    CHECK(!tc__verify_device(t->c, t->list));
    CHECK(strstr(tc_error_text(t->c), why) || FAIL("\"%s\"", tc_error_text(t->c)));
    kit_close(t);
}

TEST(sums_without_a_barrier) {
    kit t;
    parts_open(&t);
    statement(&t, TC_OP_BARRIER, 0)->op = TC_OP_CONST;
    refused_by_device(&t, "another thread may meet it");
}

// Threads leave four elements each at 4*t + t/4 + l, say, where t is 32*y + x: gaps behind every few of them keep them apart,
// a pitch of less than four does not.
TEST(gaps_between_threads) {
    static const struct {
        int each, gap, lane, good;
    } rows[] = {{4, 0, 1, 1}, {4, 1, 1, 1}, {5, 0, 1, 1},
                {4, 1, 2, 0}, {2, 1, 1, 0}, {0, 4, 1, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        kit t;
        parts_open(&t);
        tc__node *put = statement(&t, TC_OP_PUT, 0);
        tc__ix *at = &put->attr[TC__PUT_INDEX];
        tc__ix lane = tc__ix_find_var(&t.ix, *at, (tc__axis)TC__VECTOR_L);
        tc__ix thread = tc__ix_div(&t.ix, tc__ix_sub(&t.ix, *at, lane), tc__ix_const(4));
        tc__ix gap = tc__ix_div(&t.ix, thread, tc__ix_const(4));
        t.list->buffer.at[put->attr[TC__PUT_BUFFER]].numel = tc__ix_const(8192);
        *at = tc__ix_mul(&t.ix, lane, tc__ix_const(rows[i].lane));
        *at = tc__ix_add(&t.ix, *at, tc__ix_mul(&t.ix, thread, tc__ix_const(rows[i].each)));
        *at = tc__ix_add(&t.ix, *at, tc__ix_mul(&t.ix, gap, tc__ix_const(rows[i].gap)));
        if (!rows[i].good) {
            refused_by_device(&t, "another thread may meet it");
            continue;
        }
        CHECK(tc__verify_device(t.c, t.list) || FAIL("%zu: %s", i, tc_error_text(t.c)));
        kit_close(&t);
    }
}

TEST(parts_read_before_the_last_block) {
    kit t;
    parts_open(&t);
    statement(&t, TC_OP_LAST, 0)->op = TC_OP_CONST;
    refused_by_device(&t, "may not have written it yet");
}

TEST(no_such_ticket) {
    kit t;
    parts_open(&t);
    tc__node *n = statement(&t, TC_OP_LAST, 0);
    n->attr[TC__LAST_INDEX] = tc__ix_add(&t.ix, n->attr[TC__LAST_INDEX], tc__ix_const(1));
    refused_by_device(&t, "no such ticket");
}

TEST(sum_behind_the_workspace) {
    kit t;
    parts_open(&t);
    tc__node *n = statement(&t, TC_OP_PUT, 1);
    n->attr[TC__PUT_INDEX] = tc__ix_add(&t.ix, n->attr[TC__PUT_INDEX], tc__ix_const(100));
    refused_by_device(&t, "leaves the workspace");
}

TEST(sum_of_another_accumulator) {
    kit t;
    parts_open(&t);
    statement(&t, TC_OP_GET, 0)->attr[TC__PUT_MONOID] = TC_OP_MUL;
    CHECK(!tc__verify(t.c, &t.list->body, TC__LOOP));
    CHECK(strstr(tc_error_text(t.c), "has another monoid") != NULL);
    kit_close(&t);
}

// ---- sums down the columns of what is done row by row

static void down_open(kit *t, int64_t rows, int64_t cols) {
    char text[800];
    int r = (int)rows, c = (int)cols;
    snprintf(text, sizeof text,
             "%%0 = input x0  f32[%d,%d]\n%%1 = sum %%0 dims=2  f32[%d,1]\n"
             "%%2 = expand %%1  f32[%d,%d]\n%%3 = add %%0 %%2  f32[%d,%d]\n"
             "%%4 = mul %%0 %%2  f32[%d,%d]\n%%5 = sum %%4 dims=1  f32[1,%d]\n"
             "return %%3 %%5\n",
             r, c, r, r, c, r, c, r, c, c);
    kit_open(t, text);
}

// out0[r, c] = x[r, c] + sum of row r; out1[c] = sum over r of x[r, c] times that: whole numbers, exact in f32.
static void check_down(int64_t rows, int64_t cols) {
    kit t;
    down_open(&t, rows, cols);
    float *x = NULL, *y = NULL, *s = NULL;
    void *memory[64] = {NULL};
    REQUIRE(t.list->buffer.count <= 64);
    for (size_t b = 0; b < t.list->buffer.count; b++) {
        const tc__kbuf *buffer = &t.list->buffer.at[b];
        if (!tc__is_memory(buffer)) continue;
        int64_t n = tc__ix_value(buffer->numel);
        float *p = (float *)calloc((size_t)n, sizeof *p);
        memory[b] = p;
        *(buffer->place == TC__BUF_INPUT ? &x : n == cols ? &s : &y) = p;
    }
    REQUIRE(x && y && s);
    for (int64_t i = 0; i < rows * cols; i++)
        x[i] = (float)((int)(test_word((unsigned)i, 9) % 7) - 3);
    for (int backwards = 0; backwards < 2; backwards++) {
        memset(y, 0, sizeof *y * (size_t)(rows * cols)),
            memset(s, 0, sizeof *s * (size_t)cols);
        run_device(t.list, memory, NULL, backwards);
        int bad = 0;
        for (int64_t c = 0; c < cols; c++) {
            double down = 0;
            for (int64_t r = 0; r < rows; r++) {
                double row = 0;
                for (int64_t k = 0; k < cols; k++) row += (double)x[r * cols + k];
                bad += (double)y[r * cols + c] != (double)x[r * cols + c] + row;
                down += (double)x[r * cols + c] * row;
            }
            bad += (double)s[c] != down;
        }
        CHECK(!bad || FAIL("%d x %d: %d differ", (int)rows, (int)cols, bad));
    }
    free(x), free(y), free(s);
    kit_close(&t);
}

// Rows of a warp and of a block; more of them than blocks, fewer, and one; columns that are no vectors.
TEST(sums_down_columns) {
    check_down(40, 96);
    check_down(33, 97);
    check_down(2, 64);
    check_down(500, 1024);
}

// What a block's next row begins with is under way while it has the one before: its values are seen by
// tests/cuda/down.c.
static tc__node *next_row(kit *t) {
    down_open(t, 134, 8192);
    for (int i = 0;; i++) {
        tc__node *n = statement(t, TC_OP_COPY, i);
        if (t->list->buffer.at[n->attr[TC__COPY_FROM]].place == TC__BUF_SHARED) return n;
    }
}

TEST(row_that_nobody_waited_for) {
    kit t;
    next_row(&t);
    statement(&t, TC_OP_WAIT, 0)->op = TC_OP_CONST;
    refused_by_device(&t, "nobody waited");
}

TEST(row_that_leaves_its_place) {
    kit t;
    tc__node *n = next_row(&t);
    n->attr[TC__COPY_SOURCE] =
        tc__ix_add(&t.ix, n->attr[TC__COPY_SOURCE], tc__ix_const(8192));
    refused_by_device(&t, "leaves the shared memory");
}

TEST(row_of_another_thread) {
    kit t;
    tc__node *n = next_row(&t);
    n->attr[TC__COPY_SOURCE] = tc__ix_const(0);
    refused_by_device(&t, "another thread may meet it");
}

TEST(meeting_of_other_blocks) {
    kit t;
    down_open(&t, 40, 1200);
    statement(&t, TC_OP_MEET, 0)->attr[TC__MEET_COUNT]++;
    refused_by_device(&t, "not of all blocks");
}

TEST(meeting_without_numbers_of_the_block) {
    kit t;
    down_open(&t, 40, 1200);
    tc__node *n = statement(&t, TC_OP_MEET, 0);
    n->attr[TC__MEET_OWN] = n->attr[TC__MEET_BUFFER];
    refused_by_device(&t, "no two numbers of its own");
}

TEST(parts_read_before_the_meeting) {
    kit t;
    down_open(&t, 40, 1200);
    statement(&t, TC_OP_MEET, 0)->op = TC_OP_CONST;
    refused_by_device(&t, "may not have written it yet");
}

// A thread that is ahead would write what others still read of the row before.
TEST(turns_that_run_into_each_other) {
    kit t;
    down_open(&t, 900, 3000);
    statement(&t, TC_OP_BARRIER, 0)->op = TC_OP_CONST;
    refused_by_device(&t, "in two turns");
}

// ---- what is refused of templates

// Sliced, with both operands copied by steps.
static tc__node *template_open(kit *t) {
    product_open(t, (product){20, 40, 1600, 1, 1, 0}, 0);
    return statement(t, TC_OP_TEMPLATE, 0);
}

static int64_t *template_number(tc__node *n, int which) {
    return &n->attr[TC__TEMPLATE_NUMBERS + which];
}

TEST(no_such_template) {
    kit t;
    template_open(&t)->attr[TC__TEMPLATE_NAME] = TC__TEMPLATES;
    refused_by_device(&t, "no such template");
}

TEST(numbers_of_another_template) {
    kit t;
    template_open(&t)->attr[TC__TEMPLATE_NAME] = TC__TEMPLATE_CHAIN;
    refused_by_device(&t, "no such template");
}

TEST(hole_that_is_not_there) {
    kit t;
    template_open(&t);
    statement(&t, TC_OP_HOLE, 2)->attr[TC__HOLE_HOLE] = TC__HOLE_AHEAD;
    refused_by_device(&t, "its holes are not those of tiles");
}

TEST(hole_that_is_there_twice) {
    kit t;
    template_open(&t);
    statement(&t, TC_OP_HOLE, 1)->attr[TC__HOLE_HOLE] = TC__HOLE_LEFT;
    refused_by_device(&t, "its holes are not those of tiles");
}

TEST(template_for_other_threads) {
    kit t;
    ++*template_number(template_open(&t), TC__TILES_THREADS);
    refused_by_device(&t, "it is for");
}

TEST(template_without_room) {
    kit t;
    *template_number(template_open(&t), TC__TILES_STAGES) += 4;
    refused_by_device(&t, "bytes of a block");
}

TEST(slices_without_room) {
    kit t;
    tc__node *n = template_open(&t);
    tc__ix *numel = &t.list->buffer.at[n->attr[TC__TEMPLATE_SUMS]].numel;
    *numel = tc__ix_sub(&t.ix, *numel, tc__ix_const(1));
    refused_by_device(&t, "blocks cannot leave their sums");
}

TEST(blocks_that_miss_a_tile) {
    kit t;
    tc__node *n = template_open(&t);
    n->attr[TC__TEMPLATE_COLS] = tc__ix_const(90);
    refused_by_device(&t, "its blocks are not those of the result");
}

TEST(strides_that_are_not_so) {
    for (int word = TC__HOLE_LINE_STRIDE; word <= (int)TC__HOLE_DEEP_STRIDE; word++) {
        kit t;
        template_open(&t);
        ++statement(&t, TC_OP_HOLE, 0)->attr[word];
        refused_by_device(&t, "do not lie so far apart");
    }
}

// Products of halves that a device with tensor maps has: x0[3, 72, 136] times x1[3, 136, 80], or `left`, or one for all batches.
static void mapped_lower(kit *t, const char *left, const char *right) {
    char text[600];
    snprintf(text, sizeof text, "%s%s%%9 = matmul %%3 %%6  bf16[3,72,80]\nreturn %%9\n",
             left, right);
    kit_read(t, text);
    REQUIRE(t->s.kernel.count == 1);
    tc__group *g = t->s.kernel.at[0];
    g->target.matrix_warps = 4, g->target.tensor_maps = 1;
    t->list = tc__lower_device(t->c, g);
    REQUIRE(t->list != NULL || FAIL("%s", tc_error_text(t->c)));
    CHECK(tc__verify_device(t->c, t->list));
}

static tc__node *mapped_open(kit *t, const char *left, const char *right) {
    mapped_lower(t, left, right);
    return statement(t, TC_OP_TEMPLATE, 0);
}

static const char mapped_left[] = "%3 = input x0  bf16[3,72,136]\n",
                  mapped_left_turned[] = "%2 = input x0  bf16[3,136,72]\n"
                                         "%3 = permute %2 order=0,2,1  bf16[3,72,136]\n",
                  mapped_left_odd[] =
                      "%2 = input x0  bf16[3,72,137]\n"
                      "%3 = slice %2 dim=2 start=0 count=136 step=1  bf16[3,72,136]\n",
                  mapped_right[] = "%6 = input x1  bf16[3,136,80]\n",
                  mapped_right_once[] = "%5 = input x1  bf16[1,136,80]\n"
                                        "%6 = expand %5  bf16[3,136,80]\n";

// Sums down the columns of the left operand, in the product.
static void total_lower(kit *t) {
    kit_read(t, "%0 = input x0  bf16[200,192]\n"
                "%1 = input x1  bf16[200,520]\n"
                "%2 = permute %0 order=1,0  bf16[192,200]\n"
                "%3 = matmul %2 %1  bf16[192,520]\n"
                "%4 = cast %0  f32[200,192]\n"
                "%5 = sum %4 dims=1  f32[1,192]\n"
                "return %3 %5\n");
    for (size_t i = 0; i < t->s.kernel.count; i++)
        t->s.kernel.at[i]->target.matrix_warps = 4,
        t->s.kernel.at[i]->target.tensor_maps = 1;
    REQUIRE(tc__schedule_join(&t->s, &tc__dialect_cuda) && t->s.kernel.count == 1);
    t->list = tc__lower_device(t->c, t->s.kernel.at[0]);
    REQUIRE(t->list != NULL || FAIL("%s", tc_error_text(t->c)));
    CHECK(tc__verify_device(t->c, t->list));
}

static tc__node *total_open(kit *t) {
    total_lower(t);
    return statement(t, TC_OP_TEMPLATE, 0);
}

TEST(sums_without_room_or_tickets) {
    for (int word = TC__TEMPLATE_TICKETS; word <= (int)TC__TEMPLATE_SUMS; word++) {
        kit t;
        tc__node *n = total_open(&t);
        tc__ix *numel = &t.list->buffer.at[n->attr[word]].numel;
        *numel = tc__ix_sub(&t.ix, *numel, tc__ix_const(1));
        refused_by_device(&t, "blocks cannot leave their sums");
        n = total_open(&t);
        n->attr[word] = -1;
        refused_by_device(&t, "blocks cannot leave their sums");
    }
}

TEST(sums_of_what_no_product_reads) {
    for (int depth = 0; depth < 2; depth++) {
        kit t;
        total_open(&t);
        tc__graph *g = &t.s.kernel.at[0]->body;
        tc__node *sum = NULL;
        for (size_t i = 0; i < g->node.count; i++)
            if (g->node.at[i]->op == TC_OP_LEFT_SUM) sum = (tc__node *)g->node.at[i];
        REQUIRE(sum != NULL && tc__verify(t.c, g, TC__LOOP));
        if (depth)
            sum->attr[TC__LEFT_SUM_DEPTH] = tc__ix_const(199);
        else
            sum->level = TC__AT_COL;
        CHECK(!tc__verify(t.c, g, TC__LOOP));
        CHECK(strstr(tc_error_text(t.c), depth ? "no product has" : "not of a row") ||
              FAIL("\"%s\"", tc_error_text(t.c)));
        kit_close(&t);
    }
}

static void check_map(const tc_device_map *m, int64_t inner, int64_t outer, int64_t batches,
                      int64_t stride, int64_t apart, uint32_t box) {
    CHECK_EQ(m->size[0], inner), CHECK_EQ(m->size[1], outer), CHECK_EQ(m->size[2], batches);
    CHECK_EQ(m->stride[0], stride), CHECK_EQ(m->stride[1], apart);
    CHECK_EQ(m->box[0], 64), CHECK_EQ(m->box[1], box), CHECK_EQ(m->offset, 0);
    CHECK_EQ(m->dtype, TC_BF16);
}

TEST(maps_of_operands) {
    kit t;
    tc__grids grids;
    tc__node *n = mapped_open(&t, mapped_left, mapped_right);
    uint32_t rows = (uint32_t)*template_number(n, TC__TILES_ROWS);
    CHECK(tc__template_is_mapped(n));
    memset(&grids, 0, sizeof grids);
    tc__device_grids(t.list, &grids);
    REQUIRE(grids.maps == 2);
    CHECK(grids.at[0].waves > 0);
    CHECK_EQ(grids.at[0].threads, *template_number(n, TC__TILES_THREADS) + 128);
    check_map(&grids.map[0], 136, 72, 3, 136, 72 * 136, rows);
    check_map(&grids.map[1], 80, 136, 3, 80, 136 * 80, 64);
    kit_close(&t);
    n = mapped_open(&t, mapped_left_turned, mapped_right_once);
    CHECK(tc__template_is_mapped(n));
    memset(&grids, 0, sizeof grids);
    tc__device_grids(t.list, &grids);
    check_map(&grids.map[0], 72, 136, 3, 72, 136 * 72, 64);
    check_map(&grids.map[1], 80, 136, 1, 80, 136 * 80, 64);
    kit_close(&t);
}

// Rows of 137 elements are no multiples of 16 bytes apart.
TEST(operand_without_a_map) {
    kit t;
    CHECK(!tc__template_is_mapped(mapped_open(&t, mapped_left_odd, mapped_right)));
    kit_close(&t);
}

TEST(map_that_there_is_not) {
    kit t;
    mapped_open(&t, mapped_left, mapped_right);
    statement(&t, TC_OP_HOLE, 0)->attr[TC__HOLE_DEEP_STRIDE] = 2;
    refused_by_device(&t, "there is no map of an operand");
}

TEST(address_of_what_is_computed) {
    kit t;
    product_open(&t, (product){20, 40, 1600, 1, 1, 1}, 0);
    statement(&t, TC_OP_HOLE, 0)->attr[TC__HOLE_BRING] = TC__BRING_ASYNC;
    refused_by_device(&t, "it gives an address of more than a copy");
}

TEST(what_another_hole_gives) {
    kit t;
    template_open(&t);
    tc__node *load = statement(&t, TC_OP_LOAD, 0);
    load->attr[TC__LOAD_BUFFER] = statement(&t, TC_OP_HOLE, 0)->attr[TC__HOLE_BUFFER];
    refused_by_device(&t, "it is of another hole");
}

TEST(hole_of_no_template) {
    kit t;
    template_open(&t)->op = TC_OP_IF;
    CHECK(!tc__verify_device(t.c, t.list));
    kit_close(&t);
}

// Rows that lie so close that one ends where the next begins.
TEST(rows_that_overlap) {
    kit t;
    made_open(&t, (product){37, 40, 132, 1, 0, 0});
    tc__node *n = NULL;
    for (int i = 0;
         !n || t.list->buffer.at[n->attr[TC__STORE_BUFFER]].place != TC__BUF_SHARED; i++)
        n = statement(&t, TC_OP_STORE, i);
    tc__ix i = tc__ix_find_var(&t.ix, n->attr[TC__STORE_INDEX], TC__ROWS_I);
    n->attr[TC__STORE_INDEX] = tc__ix_sub(&t.ix, n->attr[TC__STORE_INDEX], i);
    refused_by_device(&t, "another thread may meet it");
}

TEST(rows_that_nobody_makes) {
    kit t;
    made_open(&t, (product){37, 40, 132, 1, 0, 0});
    *template_number(statement(&t, TC_OP_TEMPLATE, 0), TC__SKINNY_MAKING) = 0;
    refused_by_device(&t, "its holes are not those of skinny");
}

// Half of a warp makes a row, and waits for the other half.
TEST(sums_of_half_a_warp) {
    kit t;
    made_open(&t, (product){16, 64, 64, 1, 1, 0});
    tc__node *n = statement(&t, TC_OP_IF, 0);
    CHECK(tc__ix_equals(n->attr[TC__IF_PREDICATES + 1], 2));
    n->attr[TC__IF_PREDICATES + 1] = tc__ix_const(1);
    refused_by_device(&t, "not all threads come here together");
}
