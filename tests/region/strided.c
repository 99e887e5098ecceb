// Every second element of a row: the values, and that nothing behind the last one is read.
#include "harness.h"

#include "tcompile.h"

#include "help.h"

#include <sys/mman.h>
#include <unistd.h>

// `n` floats whose end is the end of what may be read; x[i] = i. NULL = the system has none.
static float *floats_to_a_wall(int n) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = ((size_t)n * 4 / page + 1) * page;
    char *at = (char *)mmap(NULL, bytes + page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == (char *)MAP_FAILED || mprotect(at + bytes, page, PROT_NONE)) return NULL;
    float *x = (float *)(void *)(at + bytes) - n;
    for (int i = 0; i < n; i++) x[i] = (float)i;
    return x;
}

// x[:, begin::2] of [rows, 2 * columns - 1 + begin] times 2: the last element read is x's last.
static void check_every_second(tc_ctx *tc, int rows, int columns, int begin) {
    int width = 2 * columns - 1 + begin, n = rows * width;
    float *data = floats_to_a_wall(n);
    REQUIRE(data);
    tc_tensor x = tc_wrap(tc, data, TC_DIMS(rows, width), TC_F32), y;
    static float got[8192];
    char name[64]; // each size is a program of its own
    snprintf(name, sizeof name, "second %d %d %d", rows, columns, begin);
    for (int visit = 0; visit < 2; visit++) {
        BEGIN(name);
        y = tc_mul_s(tc_slice(x, 1, begin, width, 2), 2);
        END();
        CHECK_EQ(tc_read(y, got, (size_t)(rows * columns) * 4), TC_OK);
        for (int i = 0; i < rows * columns; i++) {
            float want = 2 * data[i / columns * width + begin + 2 * (i % columns)];
            if (got[i] != want)
                FAIL("[%d, %d] from %d, element %d: %g, not %g", rows, columns, begin, i,
                     (double)got[i], (double)want);
        }
    }
    tc_free(x);
}

BOTH(every_second_element) {
    static const int columns[] = {1, 7, 8, 9, 16, 17, 33, 56};
    for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
        for (int begin = 0; begin < 2; begin++) {
            check_every_second(tc, 1, columns[i], begin);
            check_every_second(tc, 5, columns[i], begin);
        }
}

static void keep_code(void *user, int level, const char *channel, const char *text) {
    (void)level, (void)channel;
    *(int *)user |= strstr(text, "tc_ld2_f32(") && strstr(text, "tc_ld2n_f32(");
}

TEST(it_is_loaded_by_vectors) {
    int vectors = 0;
    tc_config config = tc_config_default();
    config.backend = "cpu", config.no_disk_cache = 1, config.logs = "output_code";
    config.logger.log = keep_code, config.logger.user = &vectors;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(tc);
    check_every_second(tc, 3, 71, 1);
    CHECK(vectors);
    tc_close(tc);
}
