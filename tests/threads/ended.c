// Threads that end inside a call, by pthread_exit or pthread_cancel in code of the user's that the call runs: the
// context is the next thread's then. Run it under SAN=thread too. Values come from plain C.
#include "tcompile.h"

#include "harness.h"

#include <math.h>
#include <pthread.h>

enum { N = 48, FIRST = 1, GOOD = FIRST + 3 + 2 }; // x is FIRST + i; all ways give x + 2

typedef enum ending { STAYS, EXITS, IS_CANCELLED } ending;

static struct {
    tc_ctx *tc;
    tc_tensor x;
    int op, way;
    ending next;  // what the next code of the user's does
    int in_hook;  //   which is the allocator
    int survived; // it was cancelled, and went on
    double third; // element of what the call gave
} now;

// f32 [N]: FIRST + i
static tc_tensor ramp(tc_ctx *tc) {
    float x[N];
    for (int i = 0; i < N; i++) x[i] = (float)(FIRST + i);
    return tc_from_data(tc, x, TC_DIMS(N), TC_F32);
}

static double third(tc_tensor t) {
    float x[N];
    return tc_read(t, x, sizeof x) ? NAN : (double)x[3];
}

// Where a thread may end.
static void may_end(void) {
    ending next = now.next;
    now.next = STAYS;
    if (next == EXITS) pthread_exit(NULL);
    if (next != IS_CANCELLED) return;
    CHECK(!pthread_cancel(pthread_self()));
    pthread_testcancel();
    now.survived++;
}

// ---- code of the user's ----

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_scope_begin(tc);
    tc_tensor y = tc_add_s(in[0], 1);
    tc_autocast_begin(tc, TC_BF16);
    may_end();
    tc_autocast_end(tc);
    out[0] = tc_scope_return(tc, tc_add_s(y, 1));
}

static void disables(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    tc_disable_begin(tc);
    may_end();
    tc_disable_end(tc);
    out[0] = tc_add_s(in[0], 2);
}

static tc_status looks(void *user, const tc_buffer *in, int n_in) {
    (void)user, (void)in, (void)n_in;
    may_end();
    return TC_OK;
}

static tc_status plus_two(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    const float *x = (const float *)in[0].data;
    float *y = (float *)out->data;
    (void)user, (void)n_in;
    for (int i = 0; i < N; i++) y[i] = x[i] + 2;
    may_end();
    return TC_OK;
}

static tc_status as_it_is(void *user, const tc_spec *in, int n_in, tc_spec *out) {
    (void)user, (void)n_in;
    *out = in[0];
    may_end();
    return TC_OK;
}

// Of x + 2, by a number that shows.
static tc_status slope(tc_ctx *tc, void *user, const tc_tensor *in, int n_in, tc_tensor out,
                       tc_tensor grad_out, tc_tensor *grad_in) {
    (void)tc, (void)user, (void)in, (void)n_in, (void)out;
    grad_in[0] = tc_mul_s(grad_out, GOOD);
    may_end();
    return TC_OK;
}

static tc_status backend_compile(void *user, const tc_graph *graph, void **state,
                                 const char **why) {
    (void)user, (void)graph, (void)state, (void)why;
    if (*(const int *)user) may_end();
    return TC_OK;
}

static tc_status backend_run(void *user, void *state, const tc_graph_run *run) {
    (void)state;
    if (!*(const int *)user) may_end();
    return tc_graph_forward(run);
}

// ---- calls of it ----

typedef enum way {
    CALL, // of a function
    CALL_IN_REGION,
    CALL_EAGER,
    CALL_FORCED, // TC_STANCE_FORCE_EAGER
    CALL_DISABLES,
    CHECKPOINT, // in a region
    COND,
    COND_EAGER,
    HOST, // a host call
    HOST_IN_REGION,
    OP, // a custom op
    OP_IN_REGION,
    OP_LAZY,
    SHAPE, // with a shape function
    SHAPE_IN_REGION,
    GRADIENT,
    BACKEND, // in a region
    BACKEND_COMPILE,
    WAYS
} way;

static const char *const way_names[] = {"call",
                                        "call in a region",
                                        "call, eager",
                                        "call, forced",
                                        "call that disables",
                                        "checkpoint",
                                        "cond",
                                        "cond, eager",
                                        "host",
                                        "host in a region",
                                        "op",
                                        "op in a region",
                                        "op, lazy",
                                        "shape",
                                        "shape in a region",
                                        "gradient",
                                        "backend",
                                        "backend compiles"};

static tc_tensor call_now(tc_ctx *tc, tc_tensor x) {
    tc_tensor y = tc_null(), one;
    tc_fn *f = NULL;
    tc_options disabled = tc_options_default();
    switch ((way)now.way) {
    case CALL:
    case CALL_IN_REGION:
    case CALL_EAGER:
    case CALL_FORCED:
    case CALL_DISABLES:
        disabled.disable = 1;
        f = tc_compile(tc, now.way == CALL_DISABLES ? disables : body, NULL, 0,
                       now.way == CALL_EAGER ? &disabled : NULL);
        tc_call(f, &x, 1, &y, 1);
        return y;
    case CHECKPOINT: tc_checkpoint(tc, body, NULL, &x, 1, &y, 1); return y;
    case COND:
    case COND_EAGER:
        one = tc_gt_s(tc_amax_all(x), 0);
        tc_cond(one, body, body, NULL, &x, 1, &y, 1);
        return y;
    case HOST:
    case HOST_IN_REGION:
        y = tc_add_s(x, 2);
        tc_host_call(tc, looks, NULL, &y, 1);
        return y;
    case OP:
    case OP_IN_REGION:
    case OP_LAZY:
    case SHAPE:
    case SHAPE_IN_REGION: return tc_custom(tc, now.op, &x, 1);
    case GRADIENT: tc_grad(tc_sum_all(tc_custom(tc, now.op, &x, 1)), &x, 1, &y); return y;
    case BACKEND:
    case BACKEND_COMPILE: return tc_add_s(x, 2);
    case WAYS: break;
    }
    return y;
}

static int is_in_region(int which) {
    return which == CALL_IN_REGION || which == CHECKPOINT || which == COND ||
           which == HOST_IN_REGION || which == OP_IN_REGION || which == SHAPE_IN_REGION ||
           which == GRADIENT || which == BACKEND || which == BACKEND_COMPILE;
}

// The way once, as a thread that works alone would. Its value is in now.third.
static void *go(void *arg) {
    tc_ctx *tc = now.tc;
    tc_options options = tc_options_default();
    int region = is_in_region(now.way);
    if (now.way == BACKEND || now.way == BACKEND_COMPILE) options.backend = "ends";
    if (region) CHECK_EQ(tc_trace_begin_with(tc, "ended", &options), TC_OK);
    if (now.way == OP_LAZY) CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    tc_tensor y = call_now(tc, now.x);
    if (now.way == OP_LAZY) CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
    if (now.way == OP_LAZY) CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    if (region) CHECK_EQ(tc_trace_end(tc), TC_OK);
    now.third = third(y);
    if (arg) pthread_testcancel();
    return arg;
}

// ---- memory of contexts whose threads end in calls ----

typedef struct block { // in front of what is given out
    struct block *next, **at;
} block;

static block *blocks; // that are not given back
static int block_count;

static void block_free(block *b) {
    *b->at = b->next;
    if (b->next) b->next->at = b->at;
    free(b);
    block_count--;
}

static void *listed_realloc(void *user, void *p, size_t old_size, size_t new_size) {
    block *old = p ? (block *)p - 1 : NULL, *b = NULL;
    (void)user;
    if (now.in_hook && new_size) now.in_hook = 0, may_end();
    if (new_size) {
        b = (block *)malloc(sizeof *b + new_size);
        if (!b) return NULL;
        if (old) memcpy(b + 1, p, old_size < new_size ? old_size : new_size);
        b->next = blocks, b->at = &blocks, blocks = b;
        if (b->next) b->next->at = &b->next;
        block_count++;
    }
    if (old) block_free(old);
    return b ? b + 1 : NULL;
}

// What the ended thread held is not found again, but for bodies, of which nothing is lost.
static void blocks_end(int way) {
    if (way < HOST) CHECK_EQ(block_count, 0);
    CHECK(block_count < 100);
    while (blocks) block_free(blocks);
}

// ---- tests ----

static void on_a_thread(void *(*run)(void *)) {
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run, NULL));
    CHECK(!pthread_join(thread, NULL));
}

static int backend_says_compile;

static tc_ctx *open_for(int which) {
    tc_config config = tc_config_default();
    tc_custom_op op;
    tc_backend backend;
    config.backend = "aot_eager", config.threads = 2, config.no_disk_cache = 1;
    config.allocator.realloc = listed_realloc;
    tc_ctx *tc = tc_open(&config);
    memset(&op, 0, sizeof op), memset(&backend, 0, sizeof backend);
    op.name = "plus_two", op.run = plus_two;
    if (which == SHAPE || which == SHAPE_IN_REGION) op.shape = as_it_is;
    if (which == GRADIENT) op.gradient = slope;
    now.op = tc_register_op(tc, &op);
    backend.name = "ends", backend.run = backend_run, backend.compile = backend_compile;
    backend.user = &backend_says_compile;
    backend_says_compile = which == BACKEND_COMPILE;
    CHECK_EQ(tc_register_backend(tc, &backend), TC_OK);
    if (which == CALL_FORCED) tc_set_stance(tc, TC_STANCE_FORCE_EAGER);
    now.x = ramp(tc);
    now.tc = tc, now.way = which, now.third = NAN, now.survived = 0;
    return tc;
}

// What the thread's call has left is neither open nor refused: x is as it was, and the same goes on here.
static void check_usable(const char *name) {
    tc_ctx *tc = now.tc;
    CHECK_EQ(third(now.x), FIRST + 3);
    for (int again = 0; again < 3; again++) {
        now.third = NAN;
        (void)go(NULL);
        if (now.third != GOOD) FAIL("%s: %g, again %d", name, now.third, again);
    }
    if (tc_error(tc)) FAIL("%s: %s", name, tc_error_text(tc));
    CHECK_EQ(tc_scope_end(tc), TC_E_STATE); // none is open
    tc_error_clear(tc);
    CHECK_EQ(tc_trace_end(tc), TC_E_REGION);
    tc_error_clear(tc);
    CHECK_EQ(tc_disable_end(tc), TC_E_STATE);
    CHECK_EQ(tc_autocast_end(tc), TC_E_STATE);
}

TEST(exits_in_a_call) {
    for (int way = 0; way < WAYS; way++) {
        tc_ctx *tc = open_for(way);
        now.next = EXITS;
        on_a_thread(go);
        CHECK_EQ(now.next, STAYS);
        CHECK(now.third != now.third); // nothing came back
        check_usable(way_names[way]);
        tc_close(tc);
        blocks_end(way);
    }
}

// The call goes on to its end, and the thread ends behind it.
TEST(is_cancelled_behind_a_call) {
    for (int way = 0; way < WAYS; way++) {
        tc_ctx *tc = open_for(way);
        pthread_t thread;
        void *gave = NULL;
        now.next = IS_CANCELLED;
        CHECK(!pthread_create(&thread, NULL, go, &now));
        CHECK(!pthread_join(thread, &gave));
        CHECK(gave == PTHREAD_CANCELED);
        if (now.survived != 1 || now.third != GOOD)
            FAIL("%s: survived %d, gave %g", way_names[way], now.survived, now.third);
        check_usable(way_names[way]);
        tc_close(tc);
        blocks_end(way);
    }
}

static void *write_in_place(void *arg) {
    tc_trace_begin(now.tc, "writes");
    tc_add_s_(now.x, 1);
    (void)tc_add(tc_custom(now.tc, now.op, &now.x, 1), now.x);
    tc_trace_end(now.tc);
    return arg;
}

// What the region was to write is not read as if it had.
TEST(exits_before_it_writes) {
    tc_ctx *tc = open_for(OP);
    now.next = EXITS;
    on_a_thread(write_in_place);
    CHECK(third(now.x) != third(now.x));
    CHECK_EQ(tc_error(tc), TC_E_THREAD);
    CHECK(strstr(tc_error_text(tc), "writes"));
    tc_error_clear(tc);
    CHECK_EQ(third(now.x), FIRST + 3);
    (void)write_in_place(NULL);
    CHECK_EQ(third(now.x), FIRST + 3 + 1);
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    blocks_end(OP);
}

// Also where nobody goes on with it.
TEST(is_closed_behind_a_call) {
    for (int way = 0; way < WAYS; way++) {
        tc_ctx *tc = open_for(way);
        int slot = (int)(now.x.id >> 56);
        now.next = EXITS;
        on_a_thread(go);
        tc_close(tc);
        tc = open_for(way);
        CHECK_EQ(now.x.id >> 56, slot); // which is free
        tc_close(tc);
        blocks_end(way);
    }
}

// ---- the allocator ----

static void *allocate(void *arg) {
    now.in_hook = 1;
    now.third = third(tc_neg(now.x));
    pthread_testcancel();
    return arg;
}

TEST(is_cancelled_in_the_allocator) {
    tc_ctx *tc = open_for(OP);
    now.next = IS_CANCELLED;
    on_a_thread(allocate);
    CHECK_EQ(now.third, -(FIRST + 3));
    CHECK_EQ(now.survived, 1);
    check_usable("allocator");
    tc_close(tc);
    blocks_end(CALL);
}

// Memory is asked for anywhere: nobody can go on from there, and is told so.
TEST(exits_in_the_allocator) {
    tc_ctx *tc = open_for(OP);
    now.next = EXITS;
    on_a_thread(allocate);
    CHECK(now.third != now.third);
    CHECK(tc_is_null(tc_neg(now.x)));
    CHECK_EQ(tc_error(tc), TC_E_THREAD);
    CHECK(strstr(tc_error_text(tc), "must return"));
    tc_error_clear(tc);
    tc_close(tc);
    CHECK_EQ(tc_error(tc), TC_E_THREAD); // it is there still
    blocks_end(HOST);
}

// ---- between calls ----

static void *leave_open(void *arg) {
    tc_ctx *tc = now.tc;
    (void)arg;
    if (now.way)
        CHECK_EQ(tc_lazy(tc, 1), TC_OK);
    else
        CHECK_EQ(tc_trace_begin(tc, "left open"), TC_OK);
    now.x = tc_neg(ramp(tc));
    return NULL;
}

static void count_warning(void *user, int level, const char *channel, const char *text) {
    (void)channel;
    if (level == 1 && strstr(text, "thread has ended")) ++*(int *)user;
}

// What a thread left open goes on in the next one that uses the context, and is not lost.
TEST(what_an_ended_thread_left_open) {
    for (int lazy = 0; lazy < 2; lazy++) {
        int told = 0;
        tc_config config = tc_config_default();
        config.backend = "aot_eager", config.no_disk_cache = 1;
        config.logger.log = count_warning, config.logger.user = &told;
        tc_ctx *tc = now.tc = tc_open(&config);
        now.way = lazy;
        on_a_thread(leave_open);
        tc_tensor y = tc_add_s(now.x, 1);
        if (lazy)
            CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
        else
            CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(third(y), -3);
        CHECK_STR(tc_error_text(tc), "");
        CHECK_EQ(told, 1);
        if (lazy) CHECK_EQ(tc_lazy(tc, 0), TC_OK);
        on_a_thread(leave_open);
        tc_close(tc); // is not refused
    }
}
