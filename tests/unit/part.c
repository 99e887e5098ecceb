// Unit tests of gen/kernel/part.c, part_verify.c and join.c: kernels of a graph become one of several parts; what is no such list
// is refused.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"
#include "bare.h"

#include <math.h>

enum { HEADS = 8, ROWS = 100, KEYS = 20, DEPTH = 6, WIDTH = 5 };

// Half the softmax, so that the last part has an epilogue.
static const char text[] = "%0 = input x0            f32[8,100,6]\n"
                           "%1 = input x1            f32[8,6,20]\n"
                           "%2 = input x2            f32[8,20,5]\n"
                           "%3 = matmul %0 %1        f32[8,100,20]\n"
                           "%4 = amax %3 dims=4      f32[8,100,1]\n"
                           "%5 = expand %4           f32[8,100,20]\n"
                           "%6 = sub %3 %5           f32[8,100,20]\n"
                           "%7 = exp %6              f32[8,100,20]\n"
                           "%8 = matmul %7 %2        f32[8,100,5]\n"
                           "%9 = neg %8              f32[8,100,5]\n"
                           "return %9\n";

typedef struct kit {
    tc_ctx *c;
    tc__ixpool ix;
    tc__graph g;
    tc__ids outputs;
    tc__schedule s;
} kit;

static tc__takes takes_all(const tc__group *g) { return (void)g, TC__TAKES; }

// kept: the node that is a result, too; 0 = none.
static void kit_open_with(kit *t, const char *graph, int contractions, uint32_t kept) {
    tc__dialect d = tc__dialect_c;
    memset(t, 0, sizeof *t);
    t->c = bare_open();
    tc__ix_open(&t->ix, t->c);
    tc__graph_open(&t->g, t->c, &t->ix);
    CHECK(tc__read_graph(t->c, &t->g, graph, &t->outputs));
    uint8_t *output = TC__NEW_ARRAY(t->c, uint8_t, t->g.node.count + 1);
    output[t->outputs.at[0]] = 1;
    if (kept) output[kept] = 1;
    CHECK(tc__schedule_run(&t->s, t->c, &t->g, output, NULL, TC__FUSE));
    tc__free(t->c, output, t->g.node.count + 1);
    d.takes_rows = takes_all, d.contractions = contractions;
    CHECK(tc__schedule_join(&t->s, &d));
    CHECK_STR(tc_error_text(t->c), "");
}

static void kit_open(kit *t, int contractions) { kit_open_with(t, text, contractions, 0); }

static void kit_close(kit *t) {
    tc__schedule_close(&t->s);
    TC__VEC_FREE(t->c, t->outputs);
    tc__graph_close(&t->g);
    tc__ix_close(&t->ix);
    bare_close(t->c);
}

// ---- lists ----

// A language that has no kernels of two contractions gets none.
TEST(a_language_says_how_many_contractions) {
    kit t;
    kit_open(&t, 1);
    CHECK_EQ(t.s.kernel.count, 2); // exp of the scores, made for the second product
    for (size_t i = 0; i < t.s.kernel.count; i++)
        CHECK_EQ(tc__count_contractions(t.s.kernel.at[i]), 1);
    kit_close(&t);
    kit_open(&t, 2);
    CHECK_EQ(t.s.kernel.count, 1);
    CHECK_EQ(tc__count_contractions(t.s.kernel.at[0]), 2);
    kit_close(&t);
}

TEST(parts_have_extents_of_their_own) {
    kit t;
    tc__group part[TC__LIST_PARTS];
    kit_open(&t, 2);
    const tc__group *k = t.s.kernel.at[0];
    REQUIRE(tc__parts_of_list(k, part) == 3);
    CHECK(tc__has_parts(k) && tc__has_blocks(k) && tc__verify_parts(t.c, k));
    CHECK_EQ(part[0].shape.kind, TC__CONTRACTION);
    CHECK_EQ(tc__ix_value(part[0].shape.cols), KEYS);
    CHECK_EQ(tc__ix_value(tc__depth_of(&part[0])), DEPTH);
    CHECK_EQ(part[1].shape.kind, TC__REDUCTION);
    CHECK_EQ(tc__ix_value(part[1].shape.cols), KEYS);
    CHECK_EQ(part[2].shape.kind, TC__CONTRACTION);
    CHECK_EQ(tc__ix_value(part[2].shape.cols), WIDTH);
    CHECK_EQ(tc__ix_value(tc__depth_of(&part[2])), KEYS);
    CHECK_EQ(tc__ix_value(part[0].shape.rows), HEADS * ROWS);
    CHECK_EQ(part[2].shape.prologue, part[1].body.node.count);
    kit_close(&t);
}

// ---- values ----

static float number(int which, int64_t i) {
    return (float)((i * 37 + which * 11) % 101 - 50) / 64.0f;
}

// exp(x - max(x)) v, negated, in double: x = q k.
static double ref(int64_t row, int64_t column) {
    int64_t head = row / ROWS;
    double x[KEYS], top = -INFINITY, sum = 0;
    for (int64_t c = 0; c < KEYS; c++) {
        x[c] = 0;
        for (int64_t k = 0; k < DEPTH; k++)
            x[c] += (double)number(0, row * DEPTH + k) *
                    (double)number(1, (head * DEPTH + k) * KEYS + c);
        if (x[c] > top) top = x[c];
    }
    for (int64_t c = 0; c < KEYS; c++)
        sum += exp(x[c] - top) * (double)number(2, (head * KEYS + c) * WIDTH + column);
    return -sum;
}

static float *input_of(int which, int64_t n) {
    float *p = (float *)malloc((size_t)n * sizeof *p + 64);
    for (int64_t i = 0; i < n; i++) p[i] = number(which, i);
    return p;
}

TEST(the_interpreter_goes_through_parts_by_blocks_of_rows) {
    kit t;
    tc__kargs a;
    void *buf[16] = {NULL}, *scratch, *in[3];
    int64_t flag[3] = {0, 0, 0};
    static float y[HEADS * ROWS * WIDTH];
    kit_open(&t, 2);
    tc__group *k = t.s.kernel.at[0];
    in[0] = input_of(0, HEADS * ROWS * DEPTH), in[1] = input_of(1, HEADS * DEPTH * KEYS);
    in[2] = input_of(2, HEADS * KEYS * WIDTH);
    for (size_t i = 0; i < k->buffer.count; i++) {
        const tc__kbuf *b = &k->buffer.at[i];
        if (b->place == TC__BUF_INPUT) buf[i] = in[b->source];
        if (b->place == TC__BUF_NODE) buf[i] = y;
    }
    tc__contract_items(k);
    tc__interp *p = tc__interp_prepare(t.c, k);
    REQUIRE(p != NULL);
    scratch = aligned_alloc(64, (tc__interp_scratch_bytes(p, NULL) + 127) / 64 * 64);
    memset(&a, 0, sizeof a);
    a.buf = buf, a.scratch = &scratch, a.flag = flag;
    tc__interp_run(p, &a, 0, tc__ix_value(k->shape.items), 0);
    double worst = 0;
    for (int64_t r = 0; r < HEADS * ROWS; r++)
        for (int64_t c = 0; c < WIDTH; c++) {
            double off = fabs((double)y[r * WIDTH + c] - ref(r, c));
            if (!(off <= worst)) worst = off;
        }
    CHECK(worst < 4e-6 || FAIL("%g", worst));
    tc__interp_free(p);
    for (int i = 0; i < 3; i++) free(in[i]);
    free(scratch);
    kit_close(&t);
}

// ---- what is refused ----

// The first node of this op from `from` on.
static tc__node *find(const tc__group *k, uint32_t from, tc__op op) {
    while (k->body.node.at[from]->op != (uint16_t)op) from++;
    return k->body.node.at[from];
}

static void refused(kit *t, const char *why) {
    CHECK(!tc__verify_parts(t->c, t->s.kernel.at[0]));
    CHECK(strstr(tc_error_text(t->c), why) ||
          FAIL("\"%s\" is not in: %s", why, tc_error_text(t->c)));
    kit_close(t);
}

static tc__group *broken(kit *t, uint32_t *second, uint32_t *last) {
    kit_open(t, 2);
    tc__group *k = t->s.kernel.at[0];
    *second = tc__part_end(k, 0), *last = k->shape.prologue;
    return k;
}

TEST(made_rows_are_read_at_their_own_place) {
    kit t;
    uint32_t second, last;
    tc__group *k = broken(&t, &second, &last);
    tc__node *n = find(k, last, TC_OP_LOAD);
    n->attr[TC__LOAD_INDEX] = tc__ix_add(&t.ix, n->attr[TC__LOAD_INDEX], tc__ix_const(1));
    refused(&t, "at another place than its own");
    k = broken(&t, &second, &last);
    find(k, last, TC_OP_LOAD)->level = TC__AT_ROW;
    refused(&t, "neither a left operand nor in columns");
    k = broken(&t, &second, &last);
    k->buffer.at[find(k, last, TC_OP_LOAD)->attr[TC__LOAD_BUFFER]].numel =
        tc__ix_const(KEYS + 1);
    refused(&t, "another length than its axis");
    k = broken(&t, &second, &last);
    find(k, second, TC_OP_LOAD)->attr[TC__LOAD_BUFFER] =
        find(k, last, TC_OP_LOAD)->attr[TC__LOAD_BUFFER];
    refused(&t, "no earlier part makes what it reads");
    k = broken(&t, &second, &last);
    find(k, second, TC_OP_STORE)->attr[TC__STORE_BUFFER] =
        find(k, second, TC_OP_LOAD)->attr[TC__LOAD_BUFFER];
    refused(&t, "it makes what is made already");
}

TEST(parts_share_nothing_but_made_rows) {
    kit t;
    uint32_t second, last;
    tc__group *k = broken(&t, &second, &last);
    find(k, last, TC_OP_CONTRACT)->in[0] = find(k, 0, TC_OP_CONTRACT)->in[0];
    refused(&t, "a value of another part");
    kit_open_with(&t, text, 2, 7);
    k = t.s.kernel.at[0], last = k->shape.prologue;
    REQUIRE(tc__verify_parts(t.c, k));
    const tc__node *store = find(k, tc__part_end(k, 0), TC_OP_STORE);
    REQUIRE(tc__buffer_of(k, store)->place == TC__BUF_NODE);
    find(k, find(k, last, TC_OP_LOAD)->id + 1, TC_OP_LOAD)->attr[TC__LOAD_BUFFER] =
        store->attr[TC__STORE_BUFFER];
    refused(&t, "it reads what an earlier part writes to memory");
}

TEST(all_parts_go_over_the_same_rows) {
    kit t;
    uint32_t second, last;
    tc__group *k = broken(&t, &second, &last);
    find(k, last, TC_OP_FOR)->attr[TC__FOR_END] = tc__ix_const(ROWS);
    refused(&t, "no loop over the rows that all parts have");
    k = broken(&t, &second, &last);
    k->shape.prologue = second;
    refused(&t, "do not end where the list does");
}

TEST(a_part_has_one_product) {
    kit t;
    uint32_t second, last;
    tc__group *k = broken(&t, &second, &last);
    tc__node *n = find(k, last, TC_OP_NEG), *product = find(k, last, TC_OP_CONTRACT);
    tc__node two = *product;
    uint32_t in[2];
    in[0] = product->in[0], in[1] = n->in[0];
    two.id = n->id, two.in = in;
    k->body.node.at[n->id] = &two;
    refused(&t, "a part has two products");
}
