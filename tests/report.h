// What tests of reports share: a small input, a context that must end without an error, and looking
// for words. After tcompile.h and harness.h.
#ifndef TEST_REPORT_H
#define TEST_REPORT_H

enum { ROWS = 8, COLUMNS = 64 };

TEST_UNUSED static void close_context(tc_ctx *tc) {
    if (tc_error(tc)) FAIL("error left over: %s", tc_error_text(tc));
    tc_close(tc);
}

TEST_UNUSED static tc_tensor matrix(tc_ctx *tc, int rows) {
    return tc_full(tc, TC_DIMS(rows, COLUMNS), 0.5, TC_F32);
}

TEST_UNUSED static int occurrences(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)) != NULL; text++) n++;
    return n;
}

// `text` has the part.
#define HAS(part) expect_text(text, (part), __FILE__, __LINE__)
TEST_UNUSED static void expect_text(const char *text, const char *part, const char *file,
                                    int line) {
    if (!strstr(text, part)) test_fail(file, line, "no \"%s\" in:\n%s", part, text);
}

#endif
