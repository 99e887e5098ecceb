// What a device in another language takes (gen/README.md, "How to add"): C on another thread. Kernels are the
// host's text with an entry of the device's own; it compiles them for itself. Its results have the host's bits.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"
#include "help.h"

#if TC__JIT && !defined _WIN32
#    include <dlfcn.h>
#    include <math.h>
#    include <pthread.h>

// ---- the dialect: the host's text of a kernel, and an entry that takes a launch's arguments ----

// Vectors of 8, so that nothing of the machine shows. What is a product's own is chosen here.
static tc__group toy_group(const tc__group *g) {
    tc__group k = *g;
    if (k.shape.kind == TC__CONTRACTION) tc__contract_items(&k);
    return k;
}

static int toy_sizes(const tc__group *g) {
    int64_t n = 0;
    for (size_t i = 0; i < g->body.ix->node.count; i++) {
        const tc__ixnode *x = &g->body.ix->node.at[i];
        if (x->kind == TC__IX_SYM && x->a >= n) n = x->a + 1;
    }
    return (int)n;
}

// One block does all items, one after the other, with scratch of the workspace.
static int toy_grids(tc_ctx *c, const tc__group *g, tc__grids *out) {
    tc__group k = toy_group(g);
    memset(out, 0, sizeof *out), (void)c;
    out->count = 1, out->at[0].blocks = tc__ix_const(1), out->at[0].threads = 1;
    out->at[0].shared = out->zeroed = tc__ix_const(0);
    out->workspace = tc__ix_add(g->body.ix, k.shape.scratch, tc__ix_const(4096));
    out->sizes = toy_sizes(g);
    return 1;
}

// void symbol(arguments): addresses of memory, the workspace, the state (tc__dispatch_state), sizes.
static void toy_kernel(tc__printer *p, const char *symbol) {
    tc__group k = toy_group(p->g);
    tc__text *t = p->out, items;
    char inner[64];
    int n = 0;
    snprintf(inner, sizeof inner, "%s_items", symbol);
    p->g = &k;
    tc__c_kernel(p, inner);
    tc__put(t, "\nTC_KERNEL void %s(const tc_i64 *x) {\n    void *buf[] = {", symbol);
    for (size_t i = 0; i < k.buffer.count; i++)
        if (tc__is_memory(&k.buffer.at[i]))
            tc__put(t, "(void *)x[%d], ", n++);
        else
            tc__put(t, "0, ");
    tc__put(t, "0};\n    void *scratch[] = {(void *)x[%d]};\n    tc_i64 packed[8] = {0};\n",
            n);
    tc__put(t, "    tc_i64 *state = (tc_i64 *)x[%d];\n", n + 1);
    tc__put(t, "    tc_kargs args = {buf, x + %d, (tc_scalar *)(state + 3), scratch,\n",
            n + 2);
    tc__put(
        t,
        "                     (tc_i64 *)state[0], state[1], state[2], 1, packed}, *a = &args;\n");
    tc__text_init(&items, t->ctx);
    p->out = &items;
    tc__put_ix(p, k.shape.items);
    p->out = t, p->indent = 1;
    tc__c_sizes(p, &items);
    tc__put(t, "    %s(a, 0, %s, 0);\n}\n", inner, items.at);
    tc__text_free(&items);
}

static int toy_has_opaque(tc_ctx *c, const tc__group *g) { return (void)c, (void)g, 0; }

static tc__dialect toy_dialect; // the host's but for these

static int toy_prelude(tc__text *out, const tc__group *const *groups, int count) {
    tc__text kernels;
    const tc__text *text = &kernels;
    int ok = 1;
    tc__text_init(&kernels, out->ctx);
    for (int i = 0; ok && i < count; i++)
        ok = tc__print_kernel(&kernels, groups[i], &toy_dialect, "kernel");
    ok = ok && tc__print_prelude(out, groups, count, &text, 1, TC__EMIT_PLAIN, TC__VECTOR);
    tc__text_free(&kernels);
    return ok;
}

static int toy_knob_fits(const tc__group *g, int knob, int v) {
    return (void)g, (void)knob, (void)v, 0;
}

#    define TOY_SPREAD(type, name)                                                         \
        "__attribute__((visibility(\"default\"))) void tc_kernel_0000000000000000" name    \
        "(const long long *x) {\n"                                                         \
        "    for (long long i = 0; i < x[2]; i++) {\n"                                     \
        "        long long left = i, at = 0;\n"                                            \
        "        for (long long d = x[3]; d-- > 0; left /= x[4 + d])\n"                    \
        "            at += left % x[4 + d] * x[12 + d];\n"                                 \
        "        ((" type " *)x[0])[at] = ((" type " *)x[1])[i];\n"                        \
        "    }\n}"

static const char *const toy_spread[] = {TOY_SPREAD("char", ""), TOY_SPREAD("short", "_1"),
                                         TOY_SPREAD("int", "_2"),
                                         TOY_SPREAD("long long", "_3")};

static const tc__language toy_language = {
    &toy_dialect, toy_prelude, toy_knob_fits, {toy_spread, 4}};

// ---- the device: memory of the host, a compiler, a thread ----

enum { TOY_ARENA = 1 << 24, TOY_LIST = 64, TOY_BYTES = 512 };

typedef void (*toy_fn)(const int64_t *argument);

static struct toy {
    char folder[32], why[200], *arena;
    int files, built, launched, live, refuses;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int count, stop; // of the list that the thread has
    toy_fn fn[TOY_LIST];
    int64_t argument[TOY_LIST][TOY_BYTES / 8];
} toy;

static void *toy_thread(void *user) {
    pthread_mutex_lock(&toy.lock);
    while (!toy.stop || toy.count) {
        for (int i = 0; i < toy.count; i++) toy.fn[i](toy.argument[i]);
        toy.count = 0;
        pthread_cond_broadcast(&toy.changed);
        if (!toy.stop) pthread_cond_wait(&toy.changed, &toy.lock);
    }
    pthread_mutex_unlock(&toy.lock);
    return user;
}

static tc_status toy_sync(void *user) {
    (void)user;
    pthread_mutex_lock(&toy.lock);
    while (toy.count) pthread_cond_wait(&toy.changed, &toy.lock);
    pthread_mutex_unlock(&toy.lock);
    return TC_OK;
}

static tc_status toy_failed(const char *why) {
    snprintf(toy.why, sizeof toy.why, "%s", why);
    return TC_E_BACKEND;
}

static tc_status toy_run(void *user, void **plan, const tc_device_launch *list, int n,
                         tc_device_mode mode, int changed) {
    (void)user, (void)plan, (void)mode, (void)changed;
    for (int i = 0; i < n; i++) {
        if (list[i].argument_bytes > TOY_BYTES) return toy_failed("too many arguments");
        pthread_mutex_lock(&toy.lock);
        while (toy.count && (!i || toy.count == TOY_LIST))
            pthread_cond_wait(&toy.changed, &toy.lock);
        memcpy(&toy.fn[toy.count], &list[i].kernel, sizeof(toy_fn));
        memcpy(toy.argument[toy.count++], list[i].argument, list[i].argument_bytes);
        toy.launched++;
        pthread_cond_broadcast(&toy.changed);
        pthread_mutex_unlock(&toy.lock);
    }
    return TC_OK;
}

static const char *toy_why(void *user) { return (void)user, toy.why; }

static tc_status toy_take_host(void *user, size_t bytes, void **address) {
    (void)user;
    *address = NULL;
    toy.live += !posix_memalign(address, 256, bytes + 64);
    return *address ? TC_OK : TC_E_NOMEM;
}

static void toy_give_host(void *user, void *address, size_t bytes) {
    (void)bytes, (void)toy_sync(user);
    toy.live -= address != NULL;
    free(address);
}

static tc_status toy_take(void *user, size_t bytes, tc_device_memory *out) {
    out->block = NULL;
    return toy_take_host(user, bytes, &out->address);
}

static void toy_give(void *user, tc_device_memory m) { toy_give_host(user, m.address, 0); }

static tc_status toy_arena(void *user, size_t bytes, void **address) {
    (void)user;
    *address = toy.arena;
    return bytes <= TOY_ARENA ? TC_OK : TC_E_NOMEM;
}

static tc_status toy_copy(void *user, void *to, const void *from, size_t bytes) {
    (void)toy_sync(user);
    memmove(to, from, bytes);
    return TC_OK;
}

static tc_status toy_fill(void *user, void *to, uint8_t value, size_t bytes) {
    (void)toy_sync(user);
    memset(to, value, bytes);
    return TC_OK;
}

static int toy_file(const char *path, const char *how, void *bytes, size_t n, size_t *got) {
    FILE *f = fopen(path, how);
    if (!f) return 0;
    *got = *how == 'w' ? fwrite(bytes, 1, n, f) : fread(bytes, 1, n, f);
    return !fclose(f) && *got;
}

enum { TOY_CODE = 1 << 20 };

static tc_status toy_build(void *user, tc_device_text *text, int n) {
    char source[64], code[64], command[300];
    (void)user;
    for (int i = 0; i < n; i++) {
        size_t size = strlen(text[i].text);
        snprintf(source, sizeof source, "%s/%d.c", toy.folder, toy.files);
        snprintf(code, sizeof code, "%s/%d.so", toy.folder, toy.files++);
        snprintf(command, sizeof command,
                 "cc -std=gnu99 -w -Wno-psabi -O1 -fPIC -shared -ffp-contract=off -fwrapv "
                 "-fno-strict-aliasing -fvisibility=hidden %s -o %s",
                 source, code);
        if (toy.refuses || !toy_file(source, "wb", (void *)text[i].text, size, &size) ||
            system(command))
            return toy_failed("the compiler failed");
        text[i].code = malloc(TOY_CODE);
        if (!text[i].code || !toy_file(code, "rb", text[i].code, TOY_CODE, &text[i].bytes))
            return toy_failed("no code");
        toy.built++;
    }
    return TC_OK;
}

static void toy_drop(void *user, tc_device_text *text, int n) {
    (void)user;
    for (int i = 0; i < n; i++) free(text[i].code), text[i].code = NULL;
}

static tc_status toy_load(void *user, const char *name, const void *code, size_t bytes,
                          void **module) {
    char path[64];
    size_t n;
    (void)user, (void)name;
    snprintf(path, sizeof path, "%s/%d.so", toy.folder, toy.files++);
    *module = toy_file(path, "wb", (void *)code, bytes, &n) ? dlopen(path, RTLD_NOW) : NULL;
    return *module ? TC_OK : toy_failed("dlopen");
}

static void toy_unload(void *user, void *module) { (void)toy_sync(user), dlclose(module); }

static tc_status toy_find(void *user, void *module, const char *symbol, uint32_t threads,
                          void **kernel) {
    (void)user, (void)threads;
    *kernel = dlsym(module, symbol);
    return *kernel ? TC_OK : toy_failed(symbol);
}

static void toy_forget(void *user, void *plan) { (void)user, (void)plan; }

static void toy_close(void *user) {
    (void)user;
    pthread_mutex_lock(&toy.lock);
    toy.stop = 1;
    pthread_cond_broadcast(&toy.changed);
    pthread_mutex_unlock(&toy.lock);
    pthread_join(toy.thread, NULL);
    free(toy.arena);
    test_folder_remove(toy.folder);
}

static int toy_open(tc_ctx *tc) {
    tc_device d;
    memset(&d, 0, sizeof d), memset(&toy, 0, sizeof toy);
    toy_dialect = tc__dialect_c;
    toy_dialect.name = "toy", toy_dialect.grids = toy_grids;
    toy_dialect.kernel = toy_kernel, toy_dialect.has_opaque = toy_has_opaque;
    strcpy(toy.folder, "/tmp/tc_toy_XXXXXX");
    toy.arena = (char *)malloc(TOY_ARENA);
    pthread_mutex_init(&toy.lock, NULL), pthread_cond_init(&toy.changed, NULL);
    if (!test_folder_make(toy.folder) || !toy.arena ||
        pthread_create(&toy.thread, NULL, toy_thread, NULL))
        return FAIL("no thread, memory or folder");
    d.name = "toy:0", d.identity = "toy 1", d.language = &toy_language;
    d.processors = 1, d.argument_bytes = 1; // no room for lists of tensors
    d.close = toy_close, d.why = toy_why, d.take = toy_take, d.give = toy_give;
    d.arena = toy_arena, d.take_host = toy_take_host, d.give_host = toy_give_host;
    d.copy_in = d.copy_out = d.copy_on = toy_copy, d.fill = toy_fill, d.sync = toy_sync;
    d.build = toy_build, d.drop = toy_drop, d.load = toy_load, d.unload = toy_unload;
    d.find = toy_find, d.run = toy_run, d.forget = toy_forget;
    return tc_register_device(tc, &d) == TC_OK || FAIL("%s", tc_error_text(tc));
}

// ---- it computes what the host does ----

enum { ROWS = 24, COLUMNS = 40 };

typedef tc_tensor (*program)(tc_ctx *tc, tc_tensor x);

static tc_tensor softmax(tc_ctx *tc, tc_tensor x) { return (void)tc, tc_softmax(x, -1); }

static tc_tensor product(tc_ctx *tc, tc_tensor x) {
    (void)tc;
    return tc_relu(tc_add_s(tc_matmul(x, tc_transpose(x, 0, 1)), 1.25));
}

static tc_tensor sorted(tc_ctx *tc, tc_tensor x) { // the host's, between two lists
    (void)tc;
    return tc_mul_s(tc_cumsum(tc_exp(x), 1), 3);
}

static tc_tensor drawn(tc_ctx *tc, tc_tensor x) {
    (void)tc;
    return tc_add(x, tc_rand(tc, TC_DIMS(tc_numel(x) / COLUMNS, COLUMNS), TC_F32));
}

static tc_tensor column_sums(tc_ctx *tc, tc_tensor x) { return (void)tc, tc_sum(x, 0); }

static tc_tensor written(tc_ctx *tc, tc_tensor x) { // through a strided view
    tc_tensor y = tc_add_s(x, 1);
    (void)tc;
    (void)tc_mul_s_(tc_slice(y, 1, 1, TC_END, 2), 2);
    return y;
}

static const struct {
    const char *name;
    program run;
} programs[] = {{"softmax", softmax}, {"product", product},         {"sorted", sorted},
                {"drawn", drawn},     {"column sums", column_sums}, {"written", written}};

static tc_tensor values(tc_ctx *tc, int rows) {
    float v[ROWS * COLUMNS];
    for (int i = 0; i < ROWS * COLUMNS; i++) v[i] = (float)(i * 37 % 101) / 16 - 3;
    return tc_from_data(tc, v, TC_DIMS(rows, COLUMNS), TC_F32);
}

// The bits of a program of `rows` rows, in a region, on a device.
static size_t bits(tc_ctx *tc, int i, int rows, const char *device, float *to) {
    tc_tensor x = tc_to(values(tc, rows), device), y;
    CHECK_EQ(tc_manual_seed(tc, 7), TC_OK);
    BEGIN(programs[i].name);
    y = programs[i].run(tc, x);
    END();
    CHECK_STR(tc_device_of(y), device);
    size_t n = (size_t)tc_numel(y) * sizeof *to;
    CHECK_EQ(tc_read(y, to, n), TC_OK);
    return n;
}

TEST(the_bits_of_a_toy_device_are_the_hosts) {
    static float here[ROWS * COLUMNS], there[ROWS * COLUMNS];
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(tc && toy_open(tc));
    for (int i = 0; i < (int)TC__COUNT(programs); i++)
        for (int rows = ROWS; rows > ROWS - 4;
             rows--) { // sizes of the run, from the second on
            tc_scope_begin(tc);
            int before = toy.launched;
            size_t n = bits(tc, i, rows, "cpu", here);
            CHECK_EQ(toy.launched, before);
            CHECK_EQ(bits(tc, i, rows, "toy:0", there), n);
            CHECK(toy.launched > before);
            CHECK(!memcmp(here, there, n) || FAIL("%s, %d rows", programs[i].name, rows));
            tc_scope_end(tc);
        }
    CHECK(toy.built > 0);
    CHECK(!tc_error(tc) || FAIL("%s", tc_error_text(tc)));
    tc_close(tc);
    CHECK_EQ(toy.live, 0);
}

// The bits of program i over those of program k, the one on the device and the other on the host, or all here.
static size_t bits_across(tc_ctx *tc, int i, int k, const char *device, float *to) {
    tc_tensor x = values(tc, ROWS), d = tc_to(x, device), y[2];
    CHECK_EQ(tc_manual_seed(tc, 7), TC_OK);
    BEGIN(device);
    y[0] = programs[k].run(tc, tc_to(programs[i].run(tc, d), "cpu"));
    y[1] = programs[i].run(tc, tc_to(programs[k].run(tc, x), device));
    END();
    size_t n = 0;
    for (int r = 0; r < 2; r++) {
        size_t bytes = (size_t)tc_numel(y[r]) * sizeof *to;
        CHECK_STR(tc_device_of(y[r]), r ? device : "cpu");
        CHECK_EQ(tc_read(y[r], to + n, bytes), TC_OK);
        n += bytes / sizeof *to;
    }
    return n * sizeof *to;
}

// One program on the host and a device: what it does there are the host's bits, so is what it does here.
TEST(a_program_is_on_both) {
    static float here[2 * ROWS * COLUMNS], there[2 * ROWS * COLUMNS];
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(tc && toy_open(tc));
    for (int i = 0; i < (int)TC__COUNT(programs); i++)
        for (int k = 0; k < (int)TC__COUNT(programs); k++) {
            if (!strcmp(programs[i].name, "product") ||
                !strcmp(programs[k].name, "product"))
                continue; // it makes other sizes
            if (!strcmp(programs[i].name, "column sums") ||
                !strcmp(programs[k].name, "column sums"))
                continue;
            tc_scope_begin(tc);
            size_t n = bits_across(tc, i, k, "cpu", here);
            uint64_t breaks = tc_stats_get(tc).graph_breaks;
            int before = toy.launched;
            CHECK_EQ(bits_across(tc, i, k, "toy:0", there), n);
            CHECK(toy.launched > before);
            CHECK_EQ(tc_stats_get(tc).graph_breaks, breaks);
            CHECK(!memcmp(here, there, n) ||
                  FAIL("%s, %s", programs[i].name, programs[k].name));
            tc_scope_end(tc);
        }
    CHECK(!tc_error(tc) || FAIL("%s", tc_error_text(tc)));
    tc_close(tc);
    CHECK_EQ(toy.live, 0);
}

static const char across_text[] = "%0 = input x0                     f32[4] on toy:0\n"
                                  "%1 = input x1                     f32[4]\n"
                                  "%2 = to %1 toy:0                  f32[4]\n"
                                  "%3 = add %0 %2                    f32[4]\n"
                                  "%4 = to %3 cpu                    f32[4]\n"
                                  "%5 = mul %4 %1                    f32[4]\n"
                                  "return %5\n";

// Devices of nodes are in the text, and an operand on another device is refused by name.
TEST(graphs_across_devices_as_text) {
    tc_ctx *tc = tc_open(NULL);
    tc__ixpool ix;
    tc__graph g;
    tc__ids outputs;
    tc__text t;
    REQUIRE(tc && toy_open(tc));
    memset(&outputs, 0, sizeof outputs);
    tc__ix_open(&ix, tc), tc__graph_open(&g, tc, &ix), tc__text_init(&t, tc);
    REQUIRE(tc__read_graph(tc, &g, across_text, &outputs) || FAIL("%s", tc_error_text(tc)));
    CHECK(tc__verify(tc, &g, TC__TENSOR) || FAIL("%s", tc_error_text(tc)));
    tc__dump_graph(&t, &g, outputs.at, outputs.count);
    CHECK_STR(t.at, across_text);
    CHECK_EQ(g.node.at[3]->device, 1);
    g.node.at[3]->in[1] = 1;
    CHECK(!tc__verify(tc, &g, TC__TENSOR));
    ERROR(TC_E_INTERNAL, "%3 = add: on toy:0, its operand %1 on cpu");
    tc__text_free(&t), tc__graph_close(&g), tc__ix_close(&ix);
    TC__VEC_FREE(tc, outputs);
    tc_close(tc);
}

// A list of tensors is a kernel of its own, which this dialect has no text for.
TEST(a_toy_device_has_no_lists) {
    tc_ctx *tc = tc_open(NULL);
    tc_tensor x[6];
    REQUIRE(tc && toy_open(tc));
    for (int i = 0; i < 6; i++)
        x[i] = tc_to(tc_full(tc, TC_DIMS(9 + i), i, TC_F32), "toy:0");
    BEGIN("step");
    for (int i = 0; i < 6; i++) tc_mul_s_(tc_add_s_(x[i], 1), 2);
    END();
    for (int i = 0; i < 6; i++) CHECK_EQ(AT(x[i], 8), 2 * (i + 1));
    CHECK(!tc_error(tc) || FAIL("%s", tc_error_text(tc)));
    tc_close(tc);
}

TEST(a_toy_device_tells_of_an_index_out_of_range) {
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(tc && toy_open(tc));
    int64_t at[] = {0, 3, ROWS};
    tc_tensor x = tc_to(values(tc, ROWS), "toy:0");
    tc_tensor i = tc_to(tc_from_data(tc, at, TC_DIMS(3), TC_I64), "toy:0");
    (void)tc_index_select(x, 0, i);
    CHECK_EQ(tc_sync(tc), TC_E_INDEX);
    CHECK(strstr(tc_error_text(tc), "24") || FAIL("%s", tc_error_text(tc)));
    tc_error_clear(tc);
    tc_close(tc);
}

// What the device's compiler refuses is an error in its words.
TEST(a_toy_device_says_what_failed) {
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(tc && toy_open(tc));
    tc_tensor x = tc_to(values(tc, 5), "toy:0");
    toy.refuses = 1;
    tc_tensor y = tc_exp(tc_add_s(x, 0.40625));
    CHECK(!y.id);
    CHECK(strstr(tc_error_text(tc), "toy:0: the compiler failed") ||
          FAIL("%s", tc_error_text(tc)));
    tc_error_clear(tc);
    tc_close(tc);
}

// ---- the host beside a device ----

static tc_options tuned(const char *mode) {
    tc_options o = tc_options_default();
    o.mode = mode, o.autotune_seconds = 600; // enough on any machine
    return o;
}

// Softmax on the host, exp on the device, and on the host again a sum of each row of it and of `held`, which is
// written in place. The sums to `to`.
static void span(tc_ctx *tc, const tc_options *o, tc_tensor x, tc_tensor held, float *to) {
    tc_trace_begin_at(tc, "span", o, "test.c", 1);
    tc_tensor there = tc_exp(tc_to(tc_softmax(x, -1), "toy:0"));
    tc_tensor sums = tc_keep(tc_sum(tc_mul(tc_to(there, "cpu"), held), 1));
    tc_add_s_(held, 1);
    END();
    CHECK_EQ(tc_read(sums, to, ROWS * sizeof *to), TC_OK);
    tc_free(sums);
}

// What span gives, in double.
static double span_sum(int row, double held) {
    double e[COLUMNS], all = 0, sum = 0, most = -3;
    for (int i = 0; i < COLUMNS; i++) {
        e[i] = (row * COLUMNS + i) * 37 % 101 / 16.0 - 3;
        most = e[i] > most ? e[i] : most;
    }
    for (int i = 0; i < COLUMNS; i++) all += e[i] = exp(e[i] - most);
    for (int i = 0; i < COLUMNS; i++) sum += exp(e[i] / all) * held;
    return sum;
}

static int times_in(const char *text, const char *what) {
    int n = 0;
    while ((text = strstr(text, what)) != NULL) n++, text++;
    return n;
}

// Kernels of the host are measured in a program that is on a device, too; what it computes and writes stays.
TEST(host_kernels_beside_a_device_are_measured) {
    float held[ROWS * COLUMNS], first[2][ROWS], sums[ROWS];
    for (int t = 0; t < 2; t++) {
        tc_ctx *tc = tc_open(NULL);
        REQUIRE(tc && toy_open(tc));
        tc_options o = tuned(t ? "max-autotune" : "default");
        for (int i = 0; i < ROWS * COLUMNS; i++) held[i] = 1;
        tc_tensor x = values(tc, ROWS),
                  h = tc_wrap(tc, held, TC_DIMS(ROWS, COLUMNS), TC_F32);
        span(tc, &o, x, h, first[t]);
        uint64_t measured = tc_stats_get(tc).autotuned;
        for (int visit = 1; visit < 4; visit++) {
            for (int i = 0; i < ROWS * COLUMNS; i++) CHECK_EQ(held[i], visit + 1);
            span(tc, &o, x, h, sums);
            for (int r = 0; r < ROWS; r++) {
                double want = span_sum(r, visit + 1);
                CHECK_NEAR(sums[r], want, want * 1e-6);
            }
        }
        if (tc_stats_get(tc).fallbacks) SKIP("no compiler");
        CHECK_EQ(times_in(tc_explain(tc), "autotune: "), t ? 2 : 0);
        CHECK_EQ(measured, t ? 2 : 0);
        CHECK_EQ(tc_stats_get(tc).autotuned, measured);
        CHECK(!tc_error(tc) || FAIL("%s", tc_error_text(tc)));
        tc_close(tc);
        CHECK_EQ(toy.live, 0);
    }
    CHECK_BYTES(first[1], first[0], sizeof sums);
}

enum { MATRIX = ROWS * COLUMNS * 4 }; // bytes

// Whether the table has a row of that kernel, with two calls of so many bytes each.
static int row_of(const char *text, const char *name, long long bytes, const char *where) {
    long long calls = 0, each = 0;
    char runs[20] = "";
    const char *at = strstr(text, name);
    while (at && at > text && at[-1] != '\n') at--;
    if (at) sscanf(at, "%lld %*s %*s %lld %*s %*s %% %19s", &calls, &each, runs);
    return (calls == 2 && each == bytes && !strcmp(runs, where)) ||
           FAIL("%s: %lld calls of %lld bytes, %s", name, calls, each, runs);
}

// A device without a clock has no rows; the host's kernels and the copies beside it have theirs.
TEST(a_program_on_both_is_profiled) {
    float held[ROWS * COLUMNS], sums[ROWS];
    tc_ctx *tc = tc_open(NULL);
    REQUIRE(tc && toy_open(tc));
    for (int i = 0; i < ROWS * COLUMNS; i++) held[i] = 1;
    tc_tensor x = values(tc, ROWS), h = tc_wrap(tc, held, TC_DIMS(ROWS, COLUMNS), TC_F32);
    span(tc, NULL, x, h, sums);
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    for (int i = 0; i < 2; i++) span(tc, NULL, x, h, sums);
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    for (int r = 0; r < ROWS; r++)
        CHECK_NEAR(sums[r], span_sum(r, 3), span_sum(r, 3) * 1e-6);
    const char *text = tc_profile_text(tc);
    if (tc_stats_get(tc).fallbacks) SKIP("no compiler");
    CHECK_EQ(times_in(text, " of span, program "), 4); // the device's own kernel is none
    CHECK(row_of(text, "k0_reduction_max_", 4 * MATRIX, "compiled"));
    CHECK(row_of(text, "k1_copy_to of ", 2 * MATRIX, "toy:0"));
    CHECK(row_of(text, "k3_copy_to of ", 2 * MATRIX, "compiled"));
    CHECK(row_of(text, "k4_reduction_mul_sum of ", 2 * MATRIX + 4 * ROWS, "compiled"));
    CHECK(!tc_error(tc) || FAIL("%s", tc_error_text(tc)));
    tc_close(tc);
}

#endif
