// Work on a device while the host's memory ends. After help.h and cuda_device.h.
#ifndef TEST_POOR_H
#define TEST_POOR_H

// The n-th request of at least `least` bytes fails; 0 = none does.
typedef struct poor {
    size_t least;
    long n, seen;
} poor;

static void *poor_realloc(void *user, void *p, size_t old, size_t bytes) {
    poor *m = (poor *)user;
    int fails = bytes && m->n && bytes >= m->least &&
                __atomic_add_fetch(&m->seen, 1, __ATOMIC_SEQ_CST) == m->n;
    return fails ? NULL : checked_realloc(p, old, bytes);
}

// Work that gives twice its f32 [64] works again after memory of the host has ended in the middle of it.
static void check_poor(const char *what, tc_tensor (*work)(tc_ctx *, tc_tensor)) {
    int failures = 0;
    for (long n = 1; n <= 24; n++) {
        poor m = {4096, 0, 0};
        tc_config config = tc_config_default();
        config.allocator.realloc = poor_realloc, config.allocator.user = &m;
        config.no_disk_cache = 1;
        tc_ctx *tc = tc_open(&config);
        REQUIRE(open_device(tc));
        tc_tensor x = tc_to(line(tc, 64, 0, 1), DEVICE_NAME);
        m.n = n;
        tc_tensor y = work(tc, x);
        m.n = 0;
        failures += !y.id;
        if (!y.id && tc_error(tc) != TC_E_NOMEM)
            FAIL("%s, request %ld: %s", what, n, tc_error_text(tc));
        tc_error_clear(tc);
        x = tc_to(line(tc, 64, 0, 1), DEVICE_NAME);
        y = work(tc, x);
        if (!y.id) FAIL("%s, after request %ld: %s", what, n, tc_error_text(tc));
        if (y.id) CHECK_EQ(AT(y, 5), 10);
        tc_close(tc);
        if (m.seen < n) break;
    }
    CHECK(failures > 0);
}

#endif
