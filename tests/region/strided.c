// Rows whose elements lie apart or backwards: the values, and that nothing beside them is read.
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

// ---- every third element and others, and rows from behind ----

// `n` elements between two walls, at the first of which they begin, or at the second of which they
// end; element i is i % 101. NULL = the system has none.
static void *between_walls(tc_ctx *tc, int n, tc_dtype dtype, int at_end) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (size_t)n * tc_dtype_bytes(dtype);
    size_t bytes = (size / page + 1) * page;
    char *at = (char *)mmap(NULL, bytes + 2 * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == (char *)MAP_FAILED) return NULL;
    char *data = at + page + (at_end ? bytes - size : 0);
    float *x = (float *)malloc((size_t)n * sizeof *x);
    for (int i = 0; i < n; i++) x[i] = (float)(dtype == TC_BOOL ? i % 3 == 0 : i % 101);
    tc_tensor t = tc_from_data(tc, x, TC_DIMS(n), TC_F32);
    CHECK_EQ(tc_read(tc_cast(t, dtype), data, size), TC_OK);
    free(x);
    if (mprotect(at, page, PROT_NONE) || mprotect(at + page + bytes, page, PROT_NONE))
        return NULL;
    return data;
}

enum { STEP_ROWS = 3 };

// Row i of y is x[i, 0], x[i, step], ... or, for step -1, from its last element to its first.
static void check_step(tc_ctx *tc, tc_dtype dtype, int columns, int step, int at_end) {
    int width = step < 0 ? columns : (columns - 1) * step + 1;
    void *data = between_walls(tc, STEP_ROWS * width, dtype, at_end);
    REQUIRE(data);
    tc_tensor x = tc_wrap(tc, data, TC_DIMS(STEP_ROWS, width), dtype), y;
    double got[STEP_ROWS * 64];
    char name[64];
    snprintf(name, sizeof name, "step %d %d %d %d", (int)dtype, columns, step, at_end);
    for (int visit = 0; visit < 2; visit++) {
        BEGIN(name);
        y = step < 0 ? tc_flip(x, TC_DIMS(1)) : tc_slice(x, 1, 0, width, step);
        y = tc_mul_s(tc_cast(y, TC_F64), 2);
        END();
        CHECK_EQ(tc_read(y, got, (size_t)(STEP_ROWS * columns) * 8), TC_OK);
        for (int i = 0; i < STEP_ROWS * columns; i++) {
            int row = i / columns, j = i % columns;
            int at = row * width + (step < 0 ? width - 1 - j : j * step);
            double want = dtype == TC_BOOL ? 2.0 * (at % 3 == 0) : 2.0 * (at % 101);
            if (got[i] != want)
                FAIL("%s of %d by %d, element %d: %g, not %g", tc_dtype_name(dtype),
                     columns, step, i, got[i], want);
        }
    }
    tc_free(x);
}

static const tc_dtype step_dtypes[] = {TC_F32, TC_I32, TC_F64, TC_I64,
                                       TC_F16, TC_U8,  TC_BOOL};

BOTH(other_steps) {
    static const int columns[] = {7, 16, 33, 64}, steps[] = {-1, 3, 5};
    for (size_t d = 0; d < sizeof step_dtypes / sizeof *step_dtypes; d++)
        for (size_t i = 0; i < 4; i++)
            for (size_t k = 0; k < 3; k++)
                check_step(tc, step_dtypes[d], columns[i], steps[k], (int)(i + k + d) % 2);
}

// Distances of all x[n, 1, d] to all c[1, k, d]: an index of row r that is no multiple of it.
BOTH(all_to_all) {
    enum { N = 37, K = 5, D = 3 };
    tc_tensor x = tc_reshape(line(tc, N * D, -4, 0.25), TC_DIMS(N, 1, D));
    tc_tensor c = tc_reshape(line(tc, K * D, 3, -0.5), TC_DIMS(1, K, D)), y;
    BEGIN("all to all");
    y = tc_sum(tc_square(tc_sub(x, c)), -1);
    END();
    for (int i = 0; i < N * K; i++) {
        double want = 0;
        for (int d = 0; d < D; d++) {
            double a = -4 + (i / K * D + d) * 0.25, b = 3 - (i % K * D + d) * 0.5;
            want += (a - b) * (a - b);
        }
        CHECK_NEAR(AT(y, i), want, 1e-3);
    }
}

static void keep_steps(void *user, int level, const char *channel, const char *text) {
    (void)level, (void)channel;
    *(int *)user |= strstr(text, "tc_rev_f32(tc_ld_f32(") ? 1 : 0;
    *(int *)user |= strstr(text, "tc_ldx_i64(") ? 2 : 0;
}

TEST(other_steps_are_loaded_without_memory) {
    int seen = 0;
    tc_config config = tc_config_default();
    config.backend = "cpu", config.no_disk_cache = 1, config.logs = "output_code";
    config.logger.log = keep_steps, config.logger.user = &seen;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(tc);
    check_step(tc, TC_F32, 64, -1, 0);
    check_step(tc, TC_I64, 64, 3, 0);
    CHECK_EQ(seen, 3);
    tc_close(tc);
}

// ---- strides that overlap ----

enum { WALK = 64 }; // elements on each side of the first one

// Places of all elements from the first one on; 0 = two are one.
static int places(int rank, const int64_t *dims, const int64_t *strides, int *at) {
    int seen[2 * WALK] = {0}, n = 1, apart = 1;
    for (int d = 0; d < rank; d++) n *= (int)dims[d];
    for (int i = 0; i < n; i++) {
        int rest = i, place = WALK;
        for (int d = rank; d-- > 0; rest /= (int)dims[d])
            place += rest % (int)dims[d] * (int)strides[d];
        at[i] = place, apart &= !seen[place]++;
    }
    return apart;
}

// A write is refused where two elements are one in memory, and only there; reads are not.
TEST(writes_of_elements_that_are_one) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.no_disk_cache = 1;
    tc_ctx *tc = tc_open(&config);
    uint32_t random = 7;
    int counts[2] = {0, 0}, at[64], interleaved = 0;
    for (int k = 0; k < 3000; k++) {
        float memory[2 * WALK];
        int64_t dims[3], strides[3];
        int rank = 1 + k % 3, n = 1;
        for (int d = 0; d < rank; d++) {
            random = random * 1664525u + 1013904223u;
            dims[d] = 1 + (int64_t)(random >> 20) % 4, n *= (int)dims[d];
            strides[d] = (int64_t)(random >> 24) % 13 - 6;
        }
        for (int i = 0; i < 2 * WALK; i++) memory[i] = (float)i;
        int apart = places(rank, dims, strides, at), first = 1;
        interleaved += apart && rank > 1 && strides[0] * strides[1] && strides[0] % 2;
        tc_scope_begin(tc);
        tc_tensor x =
            tc_wrap_strided(tc, memory + WALK, tc_dims_of(rank, dims), strides, TC_F32);
        CHECK(tc_item(tc_sum_all(x)) >= 0);
        CHECK_EQ(tc_is_null(tc_add_s_(x, 100)), !apart);
        CHECK_EQ(tc_error(tc), apart ? TC_OK : TC_E_ALIAS);
        tc_error_clear(tc);
        for (int i = 0; i < n && first; i++)
            first = (double)memory[at[i]] == at[i] + (apart ? 100 : 0);
        if (!first) FAIL("layout %d", k);
        counts[apart]++;
        tc_scope_end(tc);
    }
    CHECK(counts[0] > 300 && counts[1] > 300 && interleaved > 100);
    tc_close(tc);
}
