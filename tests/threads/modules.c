// Loaded kernels: how many stay in a process that makes ever new ones, what becomes of one that comes
// again, and that none goes which somebody runs. Run it under SAN=thread too. Values come from plain C.
#include "tcompile.h"

#include "harness.h"

#include <math.h>
#include <pthread.h>
#include <unistd.h>

// Kernels of a region, which make one module; the library keeps 256 that nobody uses.
enum { KERNELS = 6, IDLE = 256, MANY = 50, SIZE = 128 };

static int warnings;

static void warned(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level != 1) return;
    __atomic_fetch_add(&warnings, 1, __ATOMIC_SEQ_CST);
    printf("    %s\n", text);
}

static tc_ctx *open_with(const char *folder) {
    tc_config config = tc_config_default();
    config.logger.log = warned;
    config.threads = 2, config.cache_dir = folder, config.no_disk_cache = !folder;
    return tc_open(&config);
}

// A region of its own for each number: x_k * (number + 1) + k for tensors of different sizes, each a kernel of
// its own. Gives how many results are wrong.
static int visit(tc_ctx *tc, int number) {
    float x[SIZE], got[SIZE];
    tc_tensor y[KERNELS];
    int wrong = 0;
    for (int i = 0; i < SIZE; i++) x[i] = (float)i;
    tc_scope_begin(tc);
    for (int k = 0; k < KERNELS; k++)
        y[k] = tc_from_data(tc, x, TC_DIMS(SIZE - 9 * k), TC_F32);
    tc_trace_begin_at(tc, "many", NULL, "modules.c", number);
    for (int k = 0; k < KERNELS; k++)
        y[k] = tc_keep(tc_add_s(tc_mul_s(y[k], number + 1), k));
    wrong += tc_trace_end(tc) != TC_OK;
    for (int k = 0; k < KERNELS; k++) {
        size_t n = (size_t)(SIZE - 9 * k);
        wrong += tc_read(y[k], got, n * sizeof *got) != TC_OK;
        for (size_t i = 0; i < n; i++)
            wrong += got[i] != (float)((double)x[i] * (number + 1) + k);
        tc_free(y[k]);
    }
    tc_scope_end(tc);
    return wrong;
}

// Mappings of this process that are of loaded kernels.
static int mappings(void) {
    FILE *f = fopen("/proc/self/maps", "r");
    char line[4096];
    int n = 0;
    if (!f) return -1;
    while (fgets(line, sizeof line, f)) n += strstr(line, "tcompile") != NULL;
    fclose(f);
    return n;
}

// Visits MANY regions, whose programs go one by one. Gives the most mappings on the way.
static int visit_many(tc_ctx *tc) {
    int most = 0;
    for (int number = 0; number < MANY; number++) {
        CHECK_EQ(visit(tc, number), 0);
        CHECK_EQ(tc_reset(tc), TC_OK);
        int now = mappings();
        if (now > most) most = now;
    }
    return most;
}

// Programs that are there keep theirs, however many others go; the last that went is there still, the first
// is compiled again.
TEST(they_are_bounded) {
    tc_ctx *tc = open_with(NULL), *child = tc_open_shared(tc);
    if (mappings() < 0) SKIP("no /proc");
    CHECK_EQ(mappings(), 0);
    CHECK_EQ(visit(child, 1000), 0);
    int each = mappings(), most = visit_many(tc), idle = IDLE / KERNELS;
    CHECK(each > 0 && most >= idle * each && most <= (idle + 3) * each);
    CHECK_EQ(tc_stats_get(tc).compiles, MANY);
    CHECK_EQ(tc_stats_get(tc).kernels_made, MANY * KERNELS);
    CHECK_EQ(visit(child, 1000), 0);
    CHECK_EQ(tc_stats_get(child).compiles, 1);
    CHECK_EQ(visit(tc, 1000), 0);
    CHECK_EQ(visit(tc, MANY - 1), 0);
    CHECK_EQ(tc_stats_get(tc).compiles, MANY);
    CHECK_EQ(visit(tc, 0), 0);
    CHECK_EQ(tc_stats_get(tc).compiles, MANY + 1);
    tc_close(tc);
    CHECK_EQ(visit(child, 1000), 0);
    tc_close(child);
    CHECK_EQ(mappings(), 0);
}

TEST(one_that_went_is_loaded_again) {
    char folder[] = "/tmp/modules-XXXXXX";
    REQUIRE(test_folder_make(folder));
    tc_ctx *tc = open_with(folder);
    (void)visit_many(tc);
    tc_stats before = tc_stats_get(tc);
    CHECK_EQ(visit(tc, 0), 0);
    tc_stats after = tc_stats_get(tc);
    CHECK_EQ(after.compiles, before.compiles);
    CHECK_EQ(after.disk_hits, before.disk_hits + KERNELS);
    tc_close(tc);
    test_folder_remove(folder);
}

// ---- threads ----

enum { THREADS = 4, ROUNDS = 20 };

typedef struct work {
    tc_ctx *tc;
    int index, wrong;
} work;

// Regions of its own and regions of all, dropped now and then, some while they are compiled.
static void *run(void *arg) {
    work *w = (work *)arg;
    for (int k = 0; k < ROUNDS; k++) {
        w->wrong += visit(w->tc, 2000 + w->index * ROUNDS + k);
        for (int i = 0; i < 5; i++) w->wrong += visit(w->tc, (k + i) % 7);
        if (k % 3 == w->index % 3) w->wrong += tc_reset(w->tc) != TC_OK;
    }
    w->wrong += tc_error(w->tc) != TC_OK;
    tc_close(w->tc);
    return NULL;
}

static void check_threads(tc_stance stance) {
    pthread_t thread[THREADS];
    work all[THREADS];
    tc_ctx *tc = open_with(NULL);
    tc_set_stance(tc, stance);
    for (int i = 0; i < THREADS; i++) {
        all[i].tc = tc_open_shared(tc), all[i].index = i, all[i].wrong = 0;
        REQUIRE(all[i].tc);
    }
    tc_close(tc); // it waits for the others
    for (int i = 0; i < THREADS; i++)
        REQUIRE(!pthread_create(&thread[i], NULL, run, &all[i]));
    for (int i = 0; i < THREADS; i++) {
        CHECK(!pthread_join(thread[i], NULL));
        CHECK_EQ(all[i].wrong, 0);
    }
    if (mappings() >= 0) CHECK_EQ(mappings(), 0);
    CHECK_EQ(warnings, 0); // what was dropped while it was compiled is nobody's failure
}

TEST(some_go_while_others_run) { check_threads(TC_STANCE_DEFAULT); }

TEST(some_go_while_others_are_made) { check_threads(TC_STANCE_EAGER_THEN_COMPILE); }
