// Unit tests of gen/graph/dump.c, read.c, verify.c and of tc_explain: texts that read back,
// hostile texts, graphs broken by hand.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"

typedef struct kit {
    tc_ctx *c;
    tc__ixpool ix;
    tc__graph g;
    tc__ids outputs;
} kit;

static void kit_open(kit *t) {
    tc_config config = tc_config_default();
    memset(t, 0, sizeof *t);
    config.backend = "aot_eager", config.threads = 1;
    t->c = tc_open(&config);
    tc__ix_open(&t->ix, t->c);
    tc__graph_open(&t->g, t->c, &t->ix);
}

static void kit_close(kit *t) {
    TC__VEC_FREE(t->c, t->outputs);
    tc__graph_close(&t->g);
    tc__ix_close(&t->ix);
    tc_close(t->c);
}

static int kit_read(kit *t, const char *text) {
    return tc__read_graph(t->c, &t->g, text, &t->outputs);
}

static const char *const sample =
    "size s0 in 1..4096\n"
    "%0 = input x0                     f32[32,s0]\n"
    "%1 = const 0.1                    f32[]\n"
    "%2 = reshape %1                   f32[1,1]\n"
    "%3 = expand %2                    f32[32,s0]\n"
    "%4 = mul %0 %3                    f32[32,s0]\n"
    "%5 = amax %4 dims=2               f32[32,1]\n"
    "%6 = permute %4 order=1,0         f32[s0,32]\n"
    "%7 = pad %6 dim=0 low=1 high=s0 + 2 dilation=1 fill=-inf  f32[2*s0 + 3,32]\n"
    "%8 = slice %7 dim=1 start=31 count=16 step=-2  f32[2*s0 + 3,16]\n"
    "%9 = cast %8                      i64[2*s0 + 3,16]\n"
    "%10 = const -9223372036854775808  i64[]\n"
    "%11 = iota dim=0                  i32[s0]\n"
    "%12 = take %6 %11 dim=0           f32[s0,32]\n"
    "%13 = random kind=1 draw=3        f64[4]\n"
    "%14 = cat %6 %12 dim=0            f32[2*s0,32]\n"
    "%15 = matmul %0 %6                f32[32,32]\n"
    "%16 = cumsum %0                   f32[32,s0]\n"
    "%17 = argsort %6 descending=1     i64[s0,32]\n"
    "%18 = topk %6 descending=0 k=5    i64[s0,5]\n"
    "%19 = scatter_add %6 %17 %12      f32[s0,32]\n"
    "%20 = index_add %15 %11 %0        f32[32,32]\n"
    "%21 = again %20 mark=1            f32[32,32]\n"
    "%22 = random kind=1 draw=3 mark=2  f64[4]\n"
    "return %5 %9 %15\n";

TEST(dump_of_read_is_the_text) {
    kit t;
    tc__text out;
    kit_open(&t);
    tc__text_init(&out, t.c);
    CHECK(kit_read(&t, sample));
    CHECK_STR(tc_error_text(t.c), "");
    tc__dump_graph(&out, &t.g, t.outputs.at, t.outputs.count);
    CHECK_STR(out.at, sample);
    CHECK(tc__verify(t.c, &t.g, TC__TENSOR));
    CHECK_STR(tc_error_text(t.c), "");
    tc__text_free(&out);
    kit_close(&t);
}

TEST(errors_tell_line_and_column) {
    static const struct {
        const char *text, *error;
    } rows[] = {
        {"%0 = input x0 f32[2]\n%1 = neg %7 f32[2]\n",
         "graph text, line 2, column 10: %7 is used before it is made"},
        {"%0 = input x0 f32[2]\n%0 = input x1 f32[2]\n",
         "graph text, line 2, column 3: %0 is made twice"},
        {"%0 = frobnicate f32[2]",
         "graph text, line 1, column 6: \"frobnicate\" is no op of a tensor graph"},
        {"%0 = load f32[2]",
         "graph text, line 1, column 6: \"load\" is no op of a tensor graph"},
        {"%0 = input x0 f33[2]",
         "graph text, line 1, column 15: a dtype and sizes are expected here, such as f32[2,3]"},
        {"%0 = input x0 f32[s1]",
         "graph text, line 1, column 21: s1 is not declared; \"size s1 in 1..4096\" does that"},
        {"%0 = input x0 f32[2", "graph text, line 1, column 20: \"]\" is expected here"},
        {"%0 = input x0 f32[1,1,1,1,1,1,1,1,1]",
         "graph text, line 1, column 35: more than 8 dimensions"},
        {"%0 = input x0 f32[99999999999999]",
         "graph text, line 1, column 31: the number is too large"},
        {"%0 = input x0 f32[7/0]",
         "graph text, line 1, column 22: a divisor must be at least 1"},
        {"%0 = input x0 f32[2] f32[3]",
         "graph text, line 1, column 22: the line should end here"},
        {"%0 = const abc f32[]", "graph text, line 1, column 12: not a number"},
        {"%0 = const 1.5 i32[]",
         "graph text, line 1, column 12: not a whole number of 64 bits"},
        {"size s0 in 5..4",
         "graph text, line 1, column 16: sizes are 0 or more, the lower one first"},
    };
    for (size_t i = 0; i < TC__COUNT(rows); i++) {
        kit t;
        kit_open(&t);
        CHECK(!kit_read(&t, rows[i].text));
        CHECK_EQ(tc_error(t.c), TC_E_FORMAT);
        CHECK_STR(tc_error_text(t.c), rows[i].error);
        kit_close(&t);
    }
}

static uint64_t state = 2463534242u;

static uint32_t roll(uint32_t n) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    return (uint32_t)(state % n);
}

// Bytes of the sample changed, dropped, doubled: an error or a graph that the verifier
// judges.
TEST(hostile_text_is_no_crash) {
    static const char letters[] = "%=[](),.0123456789sxf-+*/ \nminreturn";
    for (int round = 0; round < 6000; round++) {
        char text[4096];
        kit t;
        size_t n = strlen(sample);
        memcpy(text, sample, n + 1);
        for (uint32_t k = 1 + roll(6); k > 0; k--) {
            size_t at = roll((uint32_t)n), length = 1 + roll(8);
            if (at + length > n) continue;
            uint32_t how = roll(4);
            if (how == 0) text[at] = letters[roll(sizeof letters - 1)];
            if (how == 1)
                memmove(text + at, text + at + length, n + 1 - at - length), n -= length;
            if (how == 2 && n + length < sizeof text - 1)
                memmove(text + at + length, text + at, n + 1 - at), n += length;
            if (how == 3) text[at] = (char)('0' + roll(10));
        }
        kit_open(&t);
        int read = kit_read(&t, text);
        if (read && !t.ix.failed) tc__verify(t.c, &t.g, TC__TENSOR);
        CHECK(read || tc_error(t.c) < 0);
        kit_close(&t);
    }
}

// ---- the verifier ----

static void expect_bad(const char *text, const char *part) {
    kit t;
    kit_open(&t);
    if (CHECK(kit_read(&t, text))) {
        CHECK(!tc__verify(t.c, &t.g, TC__TENSOR));
        CHECK(strstr(tc_error_text(t.c), part) ||
              FAIL("\"%s\" is not in: %s", part, tc_error_text(t.c)));
    }
    kit_close(&t);
}

TEST(verifier_knows_the_rules) {
    expect_bad("%0 = input x0 f32[2]\n%1 = input x1 f32[3]\n%2 = add %0 %1 f32[2]",
               "other sizes");
    expect_bad("%0 = input x0 f32[2]\n%1 = input x1 f64[2]\n%2 = add %0 %1 f64[2]",
               "is f32, the result f64");
    expect_bad("%0 = input x0 f32[2]\n%1 = neg %0 f64[2]", "is f32, the result f64");
    expect_bad("%0 = input x0 i32[2]\n%1 = exp %0 i32[2]", "its rule gives f32");
    expect_bad("%0 = input x0 f32[2]\n%1 = reshape %0 f32[3]", "reshape");
    expect_bad("%0 = input x0 f32[2]\n%1 = permute %0 order=1 f32[2]", "permute");
    expect_bad("%0 = input x0 f32[2]\n%1 = sum %0 dims=2 f32[1]", "dims=2 for rank 1");
    expect_bad("%0 = input x0 f32[2]\n%1 = slice %0 dim=0 start=1 count=2 step=1 f32[2]",
               "outside");
    expect_bad("%0 = input x0 f32[2]\n%1 = slice %0 dim=9 start=0 count=1 step=1 f32[2]",
               "dimension 9");
    expect_bad(
        "%0 = input x0 f32[2]\n%1 = pad %0 dim=0 low=0 high=0 dilation=0 fill=0 f32[2]",
        "dilation");
    expect_bad("%0 = input x0 f32[2,3]\n%1 = matmul %0 %0 f32[2,3]", "matmul");
    expect_bad("%0 = input x0 f32[2]\n%1 = cumsum %0 %0 f32[2]", "2 operands");
    expect_bad("%0 = input x0 f32[]\n%1 = cumsum %0 f32[]", "scalar");
    expect_bad("%0 = input x0 u8[2]\n%1 = cumsum %0 u8[2]", "cumsum");
    expect_bad("%0 = input x0 u8[2]\n%1 = argsort %0 descending=0 i64[2]", "argsort");
    expect_bad("%0 = input x0 f32[2]\n%1 = topk %0 descending=0 k=3 i64[3]", "k is 3");
    expect_bad("%0 = input x0 f32[2,2]\n%1 = input x1 i64[3,2]\n"
               "%2 = input x2 f32[3,2]\n%3 = scatter %0 %1 %2 f32[2,2]",
               "index [3, 2]");
    expect_bad("%0 = input x0 f32[2,2]\n%1 = input x1 i64[3]\n"
               "%2 = index_add %0 %1 %0 f32[2,2]",
               "index [3]");
    expect_bad("%0 = input x0 f32[2]\n%1 = gt %0 %0 f32[2]", "its rule gives bool");
    expect_bad("%0 = input x0 f32[2]\n%1 = where %0 %0 %0 f32[2]", "where");
}

static tc__node *put(kit *t, tc__stage stage, tc__op op, int level, int phase,
                     uint32_t n_in, uint32_t in, uint32_t n_attr, int64_t a, int64_t b,
                     int64_t x) {
    tc__node n;
    uint32_t ids[2];
    int64_t attr[6];
    memset(&n, 0, sizeof n);
    memset(attr, 0, sizeof attr);
    attr[0] = a, attr[1] = b, attr[2] = x;
    if (op == TC_OP_FOR) attr[5] = tc__ix_const(8);
    ids[0] = ids[1] = in;
    n.op = (uint16_t)op, n.stage = (uint8_t)stage, n.dtype = TC_F32,
    n.level = (uint8_t)level, n.phase = (uint16_t)phase;
    n.in = ids, n.n_in = n_in, n.attr = attr, n.n_attr = n_attr;
    return tc__node_append(&t->g, &n);
}

#define G(op, level, phase, n_in, in, n_attr, a, b)                                        \
    put(&t, TC__GROUP, TC_OP_##op, TC__AT_##level, phase, n_in, in, n_attr, a, b, 0)
#define L(op, level, n_in, in, n_attr, a, b)                                               \
    put(&t, TC__LOOP, TC_OP_##op, TC__AT_##level, 0, n_in, in, n_attr, a, b, 0)

static void expect_stage(kit *t, tc__stage stage, const char *part) {
    int ok = tc__verify(t->c, &t->g, stage);
    if (!part)
        CHECK(ok || FAIL("%s", tc_error_text(t->c)));
    else
        CHECK((!ok && strstr(tc_error_text(t->c), part)) ||
              FAIL("\"%s\" is not in: %s", part, tc_error_text(t->c)));
    kit_close(t);
}

TEST(group_phases_and_levels) {
    kit t;
    kit_open(&t);
    tc__ix c = tc__ix_var(&t.ix, TC__COL, tc__ix_const(8));
    G(LOAD, COL, 0, 0, 0, 3, 0, c), G(ACC, COL, 0, 1, 0, 1, TC_OP_ADD, 0),
        G(NEG, ROW, 1, 1, 1, 0, 0, 0);
    expect_stage(&t, TC__GROUP, NULL);
    kit_open(&t);
    G(LOAD, COL, 0, 0, 0, 3, 0, 0), G(ACC, COL, 0, 1, 0, 1, TC_OP_ADD, 0),
        G(NEG, ROW, 0, 1, 1, 0, 0, 0);
    expect_stage(&t, TC__GROUP, "phase 0 uses %1 of phase 1");
    kit_open(&t);
    G(LOAD, COL, 0, 0, 0, 3, 0, 0), G(NEG, ROW, 0, 1, 0, 0, 0, 0);
    expect_stage(&t, TC__GROUP, "another level");
    kit_open(&t);
    G(FOR, ROW, 0, 0, 0, 6, TC__ROW, 0);
    expect_stage(&t, TC__GROUP, "not legal at this stage");
    kit_open(&t);
    G(LOAD, COL, 0, 0, 0, 3, 0, tc__ix_val(&t.ix, 5, tc__ix_const(4)));
    expect_stage(&t, TC__GROUP, "not earlier");
}

// put() gives both operands of a node the same id.
static void contract(kit *t, tc__level left, tc__level right, int dtype) {
    int64_t attr[3] = {0}, depth = tc__ix_const(8);
    uint32_t in[2] = {0, 1};
    tc__node n;
    memset(&n, 0, sizeof n);
    n.op = TC_OP_LOAD, n.stage = TC__GROUP, n.dtype = TC_F32, n.level = (uint8_t)left;
    n.in = in, n.attr = attr, n.n_attr = 3;
    tc__node_append(&t->g, &n);
    n.level = (uint8_t)right, n.dtype = (uint8_t)dtype;
    tc__node_append(&t->g, &n);
    n.op = TC_OP_CONTRACT, n.dtype = TC_F32, n.level = TC__AT_COL;
    n.n_in = 2, n.attr = &depth, n.n_attr = 1;
    tc__node_append(&t->g, &n);
}

TEST(contract_has_a_left_and_a_right_operand) {
    kit t;
    kit_open(&t);
    contract(&t, TC__AT_LEFT, TC__AT_RIGHT, TC_F32);
    expect_stage(&t, TC__GROUP, NULL);
    kit_open(&t);
    contract(&t, TC__AT_RIGHT, TC__AT_LEFT, TC_F32);
    expect_stage(&t, TC__GROUP, "not a left and a right one");
    kit_open(&t);
    contract(&t, TC__AT_LEFT, TC__AT_COL, TC_F32);
    expect_stage(&t, TC__GROUP, "not a left and a right one");
    kit_open(&t);
    contract(&t, TC__AT_LEFT, TC__AT_RIGHT, TC_F64);
    expect_stage(&t, TC__GROUP, "two dtypes");
    kit_open(&t);
    G(LOAD, LEFT, 0, 0, 0, 3, 0, 0), G(CONTRACT, COL, 0, 1, 0, 1, tc__ix_const(8), 0);
    expect_stage(&t, TC__GROUP, "operand");
}

TEST(loops_nest_and_own_their_values) {
    kit t;
    kit_open(&t);
    L(FOR, ROW, 0, 0, 6, TC__ROW, 0), L(NEW, ROW, 0, 0, 2, 0, TC_OP_ADD),
        L(FOR, ROW, 0, 0, 6, TC__COL, 2);
    L(LOAD, COL, 0, 0, 3, 0, 0), L(ACC, COL, 1, 3, 2, TC_OP_ADD, 0),
        L(END, ROW, 0, 0, 1, TC__COL, 0);
    L(COMBINE, ROW, 0, 0, 2, 0, TC_OP_ADD), L(STORE, ROW, 1, 6, 2, 1, 0),
        L(END, ROW, 0, 0, 1, TC__ROW, 0);
    expect_stage(&t, TC__LOOP, NULL);
    kit_open(&t);
    L(FOR, ROW, 0, 0, 6, TC__ROW, 0);
    expect_stage(&t, TC__LOOP, "a loop is not closed");
    kit_open(&t);
    L(FOR, ROW, 0, 0, 6, TC__ROW, 0), L(END, ROW, 0, 0, 1, TC__COL, 0);
    expect_stage(&t, TC__LOOP, "no such loop is innermost");
    kit_open(&t);
    L(FOR, ROW, 0, 0, 6, TC__COL, 2), L(LOAD, COL, 0, 0, 3, 0, 0),
        L(END, ROW, 0, 0, 1, TC__COL, 0), L(NEG, ROW, 1, 1, 0, 0, 0);
    expect_stage(&t, TC__LOOP, "inside a loop that is over");
    kit_open(&t);
    L(FOR, ROW, 0, 0, 6, TC__COL, 2), L(LOAD, COL, 0, 0, 3, 0, 0),
        L(ACC, COL, 1, 1, 2, TC_OP_ADD, 0);
    expect_stage(&t, TC__LOOP, "was not made");
    kit_open(&t);
    L(NEW, ROW, 0, 0, 2, 0, TC_OP_MUL), L(FOR, ROW, 0, 0, 6, TC__COL, 2),
        L(LOAD, COL, 0, 0, 3, 0, 0);
    L(ACC, COL, 1, 2, 2, TC_OP_ADD, 0);
    expect_stage(&t, TC__LOOP, "another monoid");
    kit_open(&t);
    L(LOAD, COL, 0, 0, 3, 0, 0);
    expect_stage(&t, TC__LOOP, "outside the loop over the columns");
}

// ---- public text ----

TEST(explain_tells_graph_kernels_and_breaks) {
    kit t;
    kit_open(&t);
    CHECK_STR(tc_explain(t.c), "no region has run\n");
    CHECK(tc_region_source(t.c, "r") == NULL && tc_region_kernels(t.c, "r") == 0);
    tc_tensor x = tc_randn(t.c, TC_DIMS(4, 40), TC_F32);
    tc_trace_begin(t.c, "r");
    tc_tensor s = tc_sum_all(x);
    CHECK(tc_item(s) == tc_item(s));
    tc_softmax(tc_mul(x, s), -1);
    CHECK_EQ(tc_trace_end(t.c), TC_OK);
    const char *text = tc_explain(t.c);
    CHECK(strstr(text, "region \"r\" at ") && strstr(text, "1 graph break"));
    CHECK(strstr(text, "a value is read at ") && strstr(text, "dump.c:"));
    CHECK(strstr(text, "= amax %") && strstr(text, ": reduction, rows 4 x columns 40"));
    CHECK(strstr(text, "640 bytes") && strstr(text, "intermediates: "));
    CHECK(tc_region_kernels(t.c, "r") >= 1);
    const char *source = tc_region_source(t.c, "r");
    CHECK(source && strstr(source, "kernel_0(") && source == tc_region_source(t.c, "r"));
    kit_close(&t);
}

TEST(trace_and_dot) {
    kit t;
    tc__text out;
    uint32_t kernel[8] = {0, 0, 1, UINT32_MAX, 0, 0, 0, 0};
    kit_open(&t);
    tc__text_init(&out, t.c);
    tc_tensor x = tc_randn(t.c, TC_DIMS(4, 40), TC_F32);
    tc_trace_begin(t.c, "r");
    tc_tensor y = tc_rsub_s(tc_add(x, x), 1);
    CHECK_EQ(tc_trace_end(t.c), TC_OK);
    (void)y;
    tc__dump_trace(&out, tc__last_visit(tc__region_named(t.c, "r")));
    CHECK_STR(out.at,
              "region \"r\"\n"
              "0   add x0 x0                     f32[4,40]  x0: f32[4,40] contiguous\n"
              "1   sub 1 %0                      f32[4,40]\n"
              "2   end\n");
    tc__text_clear(&out);
    CHECK(kit_read(
        &t,
        "%0 = input x0 f32[2]\n%1 = neg %0 f32[2]\n%2 = abs %1 f32[2]\n%3 = exp %2 f32[2]"));
    tc__dump_dot(&out, &t.g, kernel, 2);
    CHECK(strstr(
        out.at,
        "subgraph cluster_1 {\n    label=\"kernel 1\";\n    n2 [label=\"%2 abs\\nf32[2]\"];"));
    CHECK(strstr(out.at, "n2 -> n3;"));
    tc__text_free(&out);
    kit_close(&t);
}
