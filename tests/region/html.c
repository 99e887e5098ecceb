// tc_explain_html: a page that every parser reads the same, whatever the names; drawings without
// overlaps; the same page for the same work. With a browser in PATH, it is opened.
#include "tcompile.h"

#include "harness.h"
#include "report.h"

#include <ctype.h>

enum { PAGE = 8 << 20 };

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.threads = 1, config.backend = "aot_eager";
    return tc_open(&config);
}

// A page is too long to be shown.
static void expect_on_page(const char *page, const char *part, int line) {
    if (!strstr(page, part)) test_fail(__FILE__, line, "the page has no \"%s\"", part);
}
#define SHOWS(part) expect_on_page(page, (part), __LINE__)

// The report as it lies on disk.
static char *page_of(tc_ctx *tc) {
    static char page[PAGE];
    char path[] = "/tmp/tc-html-XXXXXX";
    int file = mkstemp(path);
    CHECK(file >= 0);
    CHECK_EQ(tc_explain_html(tc, path), TC_OK);
    ssize_t n = read(file, page, sizeof page - 1);
    close(file);
    unlink(path);
    page[n > 0 ? n : 0] = 0;
    CHECK(n > 0 && n < (ssize_t)sizeof page - 1);
    return page;
}

// ---- is it well formed? ----

enum { DEEP = 64, IDS = 200, NAME = 32 };

typedef struct checker {
    const char *at;
    const char *wrong; // NULL = fine so far
    char open[DEEP][NAME];
    int depth;
    char id[IDS][NAME], link[IDS][NAME];
    int ids, links;
} checker;

static int wrong(checker *k, const char *why) {
    if (!k->wrong) k->wrong = why;
    return 0;
}

static size_t take_name(checker *k, char name[NAME]) {
    size_t n = 0;
    while ((isalnum((unsigned char)*k->at) || *k->at == '-') && n < NAME - 1)
        name[n++] = *k->at++;
    name[n] = 0;
    return n;
}

// An entity behind its ampersand.
static int take_entity(checker *k) {
    static const char *const known[] = {"amp;", "lt;",   "gt;",    "quot;",
                                        "#39;", "#160;", "#xfffd;"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strncmp(k->at, known[i], strlen(known[i])))
            return k->at += strlen(known[i]), 1;
    return wrong(k, "unknown entity");
}

// One character of text, which may not be markup.
static int take_character(checker *k, int quoted) {
    unsigned char c = (unsigned char)*k->at++;
    if (c == '&') return take_entity(k);
    if (c == '<' || c == '>') return wrong(k, "raw < or >");
    if (quoted && c == '"') return wrong(k, "raw quote");
    if ((c < 0x20 && c != '\n' && c != '\t') || c == 0x7f)
        return wrong(k, "control character");
    return 1;
}

static int take_attribute(checker *k) {
    char name[NAME], value[4096];
    size_t n = 0;
    if (!take_name(k, name)) return wrong(k, "no name of an attribute");
    if (k->at[0] != '=' || k->at[1] != '"') return wrong(k, "no quoted value");
    k->at += 2;
    while (*k->at && *k->at != '"' && !k->wrong) {
        const char *from = k->at;
        take_character(k, 1);
        for (; from < k->at && n < sizeof value - 1; from++) value[n++] = *from;
    }
    value[n] = 0;
    if (*k->at++ != '"') return wrong(k, "a value does not end");
    if (!strcmp(name, "id")) snprintf(k->id[k->ids++ % IDS], NAME, "%.30s", value);
    if (!strcmp(name, "href")) snprintf(k->link[k->links++ % IDS], NAME, "%.30s", value);
    if (!strncmp(name, "on", 2) || !strcmp(name, "src"))
        return wrong(k, "a script or fetch");
    return !strcmp(name, "href") && *value != '#' ? wrong(k, "a link that leaves") : 1;
}

// The text of a style sheet up to its end tag: nothing that leaves the page.
static int take_style(checker *k) {
    const char *end = strstr(k->at, "</style>");
    if (!end) return wrong(k, "the style sheet does not end");
    for (; k->at < end; k->at++)
        if (!strncmp(k->at, "url(", 4) || !strncmp(k->at, "@import", 7) || *k->at == '<')
            return wrong(k, "the style sheet fetches");
    return 1;
}

// A tag behind its '<'.
static int take_tag(checker *k) {
    char name[NAME];
    int closes = *k->at == '/';
    k->at += closes;
    if (!take_name(k, name)) return wrong(k, "a tag without a name");
    if (!strcmp(name, "script") || !strcmp(name, "b")) return wrong(k, "a tag of no ours");
    if (closes) {
        if (*k->at++ != '>') return wrong(k, "an end tag does not end");
        if (!k->depth || strcmp(k->open[--k->depth], name))
            return wrong(k, "an end tag of another element");
        return 1;
    }
    while (*k->at == ' ' && k->at[1] != '/') {
        k->at++;
        if (!take_attribute(k)) return 0;
    }
    if (!strncmp(k->at, " />", 3)) return k->at += 3, 1;
    if (*k->at++ != '>') return wrong(k, "a tag does not end");
    if (k->depth == DEEP) return wrong(k, "too deep");
    strcpy(k->open[k->depth++], name);
    return strcmp(name, "style") ? 1 : take_style(k);
}

static int take_markup(checker *k) {
    const char *end;
    if (strncmp(k->at, "!--", 3)) return take_tag(k);
    if (strncmp(k->at, "!--time-->", 10) && strncmp(k->at, "!--/time-->", 11))
        return wrong(k, "a comment of no ours");
    end = strstr(k->at, "-->");
    k->at = end + 3;
    return 1;
}

static void check_page_at(const char *page, int line) {
    static const char begin[] = "<!DOCTYPE html>\n";
    static checker k;
    memset(&k, 0, sizeof k);
    if (strncmp(page, begin, sizeof begin - 1)) wrong(&k, "no document type");
    k.at = page + sizeof begin - 1;
    while (!k.wrong && *k.at) {
        if (*k.at == '<')
            k.at++, take_markup(&k);
        else
            take_character(&k, 0);
    }
    if (!k.wrong && k.depth) wrong(&k, "an element is not closed");
    if (k.ids >= IDS || k.links >= IDS) wrong(&k, "too many ids for this checker");
    for (int i = 0; i < k.ids && !k.wrong; i++)
        for (int j = 0; j < i; j++)
            if (!strcmp(k.id[i], k.id[j])) wrong(&k, "an id stands twice");
    for (int i = 0; i < k.links && !k.wrong; i++) {
        int j = 0;
        while (j < k.ids && strcmp(k.link[i] + 1, k.id[j])) j++;
        if (j == k.ids) wrong(&k, "a link without its target");
    }
    if (k.wrong)
        test_fail(__FILE__, line, "%s at byte %ld: %.80s", k.wrong, (long)(k.at - page),
                  k.at > page + 20 ? k.at - 20 : page);
}
#define CHECK_PAGE(page) check_page_at(page, __LINE__)

// The checker of these tests refuses what it should.
static const char *verdict(const char *body) {
    static checker k;
    memset(&k, 0, sizeof k);
    k.at = body;
    while (!k.wrong && *k.at) {
        if (*k.at == '<')
            k.at++, take_markup(&k);
        else
            take_character(&k, 0);
    }
    if (!k.wrong && k.depth) wrong(&k, "an element is not closed");
    return k.wrong;
}

TEST(the_checker_is_strict) {
    static const char *const bad[] = {"<p>",
                                      "<p></i>",
                                      "</p>",
                                      "<p a=1></p>",
                                      "<p a=\"<\"></p>",
                                      "a & b",
                                      "a > b",
                                      "&nbsp;",
                                      "<b>x</b>",
                                      "<p onclick=\"x\"></p>",
                                      "<a href=\"http://x\"></a>",
                                      "<img src=\"x\" />",
                                      "<!-- x -->",
                                      "\x01",
                                      "<script></script>",
                                      "<style>@import x;</style>"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (!verdict(bad[i])) FAIL("accepted: %s", bad[i]);
    CHECK_STR(verdict("<p class=\"x\">a &lt; b<!--time--><i /><!--/time--></p>"), NULL);
}

// ---- rectangles ----

typedef struct box {
    int x, y, width, height;
} box;

static int number_of(const char *at, const char *end, const char *name) {
    char want[40];
    snprintf(want, sizeof want, " %s=\"", name);
    const char *found = strstr(at, want);
    return found && found < end ? atoi(found + strlen(want)) : -1;
}

// Every rectangle of a drawing is inside it, and no two overlap but the frame of a plan with its own.
static int check_drawing(const char *svg, int line) {
    static box b[2000];
    const char *end = strstr(svg, "</svg>"), *at = svg;
    int plan = !strncmp(svg, "<svg class=\"plan\"", 17), n = 0;
    int width = number_of(svg, end, "width"), height = number_of(svg, end, "height");
    while ((at = strstr(at, "<rect ")) != NULL && at < end && n < 2000) {
        const char *stop = strchr(at, '>');
        b[n].x = number_of(at, stop, "x"), b[n].y = number_of(at, stop, "y");
        b[n].width = number_of(at, stop, "width");
        b[n].height = number_of(at, stop, "height");
        if (b[n].x < 0 || b[n].y < 0 || b[n].width < 1 || b[n].height < 1 ||
            b[n].x + b[n].width > width || b[n].y + b[n].height > height)
            test_fail(__FILE__, line, "a rectangle leaves the drawing: %.80s", at);
        n++, at = stop;
    }
    for (int i = plan; i < n; i++)
        for (int j = plan; j < i; j++)
            if (b[i].x < b[j].x + b[j].width && b[j].x < b[i].x + b[i].width &&
                b[i].y < b[j].y + b[j].height && b[j].y < b[i].y + b[i].height)
                test_fail(__FILE__, line, "rectangles %d and %d overlap", i, j);
    return n - plan;
}

static int check_drawings(const char *page, int *graphs, int *plans) {
    int boxes = 0;
    *graphs = *plans = 0;
    for (; (page = strstr(page, "<svg ")) != NULL; page++) {
        int plan = !strncmp(page, "<svg class=\"plan\"", 17);
        *graphs += !plan, *plans += plan;
        boxes += check_drawing(page, __LINE__);
    }
    return boxes;
}

// Edges go down: the first and the last y of each path.
static void check_edges(const char *page) {
    for (; (page = strstr(page, "<path d=\"M")) != NULL; page++) {
        int v[8] = {0};
        CHECK_EQ(sscanf(page, "<path d=\"M%d %dC%d %d %d %d %d %d", &v[0], &v[1], &v[2],
                        &v[3], &v[4], &v[5], &v[6], &v[7]),
                 8);
        CHECK(v[7] > v[1] && v[3] > v[1] && v[5] < v[7]);
    }
}

// ---- pages ----

static void visit_break(tc_ctx *tc, const char *name, tc_tensor x) {
    tc_trace_begin_at(tc, name, NULL, "user.c", 5);
    tc_tensor y = tc_exp_at(x, "user.c", 6), s = tc_sum_all_at(y, "user.c", 7);
    CHECK(tc_item_at(s, "user.c", 8) > 0);
    tc_div_at(y, s, "user.c", 9);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

static void attend(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_softmax(tc_matmul(in[0], tc_t(in[1])), -1);
}

static void call_attend(tc_ctx *tc) {
    tc_fn *f = tc_compile_at(tc, attend, NULL, 0, NULL, "attend", "user.c", 10);
    for (int i = 0; i < 8; i++) {
        tc_tensor in[2], y;
        in[0] = matrix(tc, ROWS + i / 4), in[1] = matrix(tc, ROWS);
        CHECK_EQ(tc_call_at(f, in, 2, &y, 1, "user.c", 11), TC_OK);
        tc_free(y), tc_free(in[0]), tc_free(in[1]);
    }
}

static void work(tc_ctx *tc) {
    tc_tensor x = matrix(tc, ROWS);
    for (int i = 0; i < 3; i++) visit_break(tc, "broken", x);
    call_attend(tc);
}

TEST(nothing_has_run) {
    tc_ctx *tc = open_context();
    const char *page = page_of(tc);
    CHECK_PAGE(page);
    SHOWS("<p>No region has run.</p>");
    SHOWS("id=\"end\"");
    close_context(tc);
}

TEST(a_page_with_everything) {
    tc_ctx *tc = open_context();
    int graphs, plans;
    work(tc);
    const char *page = page_of(tc);
    CHECK_PAGE(page);
    SHOWS("<h2>Region broken</h2>");
    SHOWS("<h2>Function attend</h2>");
    SHOWS("<h3>Graph breaks</h3>");
    SHOWS("<li>a graph break: a value is read at user.c:8, of ");
    SHOWS("<h4>Entry 1</h4>");
    SHOWS("<li>arg 0 f32[8,64] contiguous</li>");
    SHOWS("<li>x1 f32[s0,64] contiguous (matmul, ");
    SHOWS("; the last time with<code> s0=9</code>.</p>");
    SHOWS("0 exp x0</text>");
    SHOWS("return %");
    SHOWS("together: ");
    SHOWS("void kernel_0(");
    SHOWS("<th>compiler</th>");
    SHOWS("It ran ");
    CHECK(!strstr(page, "<h2>Profile</h2>"));
    int boxes = check_drawings(page, &graphs, &plans);
    int programs = tc_explain_counts(tc, NULL).programs;
    CHECK_EQ(graphs, 2 * programs);
    CHECK(boxes > 6 * programs);
    check_edges(page);
    CHECK_EQ(occurrences(page, "<article>"), programs);
    close_context(tc);
}

TEST(the_profile_is_on_the_page) {
    tc_ctx *tc = open_context();
    CHECK_EQ(tc_profile_begin(tc), TC_OK);
    visit_break(tc, "broken", matrix(tc, ROWS));
    CHECK_EQ(tc_profile_end(tc), TC_OK);
    const char *page = page_of(tc);
    CHECK_PAGE(page);
    SHOWS("<h2>Profile</h2>");
    SHOWS("k0_reduction_exp_sum of broken, program 0\n");
    close_context(tc);
}

// ---- memory ----

TEST(memory_plans_are_drawn) {
    enum { PRODUCTS = 5 };
    tc_ctx *tc = open_context();
    tc_tensor x = matrix(tc, ROWS), w = matrix(tc, COLUMNS);
    int graphs, plans;
    tc_trace_begin(tc, "chain");
    for (int k = 0; k < PRODUCTS; k++) x = tc_matmul(x, w);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *page = page_of(tc);
    CHECK_PAGE(page);
    check_drawings(page, &graphs, &plans);
    CHECK_EQ(plans, 1);
    CHECK_EQ(check_drawing(strstr(page, "<svg class=\"plan\""), __LINE__), PRODUCTS - 1);
    SHOWS("4 intermediates: ");
    SHOWS("bytes at 0, from kernel 0 to 1</title>");
    close_context(tc);
}

// ---- graphs of all sizes ----

static void visit_chain(tc_ctx *tc, int ops) {
    tc_tensor x = matrix(tc, 1);
    tc_trace_begin(tc, "long");
    tc_tensor y = x;
    for (int i = 0; i < ops; i++) y = tc_add(tc_exp(y), i % 3 ? x : y);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
}

TEST(large_graphs_fall_back_to_text) {
    tc_ctx *tc = open_context();
    int graphs, plans;
    visit_chain(tc, 200);
    const char *page = page_of(tc);
    CHECK_PAGE(page);
    SHOWS("nodes are too many to draw.</p>");
    SHOWS("the recording as text, 402 lines"); // 400 ops, a head and the end
    check_drawings(page, &graphs, &plans);
    CHECK_EQ(graphs, 0);
    close_context(tc);
}

TEST(wide_and_tangled_graphs) {
    tc_ctx *tc = open_context();
    int graphs, plans;
    tc_tensor x = matrix(tc, 1), y[40];
    visit_chain(tc, 60);
    tc_trace_begin(tc, "wide");
    for (int i = 0; i < 40; i++) y[i] = tc_add_s(tc_exp(x), i);
    tc_cat(y, 40, 0);
    tc_add(tc_exp(y[0]), tc_log(tc_sqrt(tc_exp(y[39]))));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    const char *page = page_of(tc);
    CHECK_PAGE(page);
    check_drawings(page, &graphs, &plans);
    CHECK_EQ(graphs, 4);
    check_edges(page);
    close_context(tc);
}

// ---- names ----

static const char hostile[] = "</script><b>\"&'--><!--/time--></title></style>]]>{}%s\\";
static const char hostile_html[] =
    "&lt;/script&gt;&lt;b&gt;&quot;&amp;&#39;--&gt;&lt;!--/time--&gt;&lt;/title&gt;"
    "&lt;/style&gt;]]&gt;{}%s\\";

TEST(names_of_all_kinds) {
    static const char *const name[][2] = {
        {"plain", "plain"},
        {hostile, hostile_html},
        {"\x01\x1f\x7f", "&#xfffd;&#xfffd;&#xfffd;"},
        {"\xc3\xa4\xf0\x9f\x98\x80", "\xc3\xa4\xf0\x9f\x98\x80"},
        {"a\xff\xed\xa0\x80", "a&#xfffd;&#xfffd;&#xfffd;&#xfffd;"},
        {"", ""}};
    for (size_t i = 0; i < sizeof name / sizeof *name; i++) {
        char want[400];
        tc_ctx *tc = open_context();
        CHECK_EQ(tc_profile_begin(tc), TC_OK);
        visit_break(tc, name[i][0], matrix(tc, ROWS));
        const char *page = page_of(tc);
        CHECK_PAGE(page);
        snprintf(want, sizeof want, "<h2>Region %s</h2>", name[i][1]);
        SHOWS(want);
        close_context(tc);
    }
}

// ---- the same work, the same page ----

static void cut_times(char *page) {
    static const char begin[] = "<!--time-->", end[] = "<!--/time-->";
    char *to = page;
    for (const char *at = page; *at;) {
        const char *stop = strncmp(at, begin, sizeof begin - 1) ? NULL : strstr(at, end);
        if (stop)
            at = stop + sizeof end - 1;
        else
            *to++ = *at++;
    }
    *to = 0;
}

TEST(the_same_page_twice) {
    char *first = NULL;
    for (int i = 0; i < 2; i++) {
        tc_ctx *tc = open_context();
        work(tc);
        char *page = page_of(tc);
        cut_times(page);
        if (i)
            CHECK_STR(page, first);
        else
            first = strdup(page);
        close_context(tc);
    }
    CHECK(strlen(first) > 10000 && !strstr(first, "<i style="));
    free(first);
}

// ---- files ----

TEST(files_that_cannot_be_written) {
    tc_ctx *tc = open_context();
    CHECK_EQ(tc_explain_html_at(tc, "/nonexistent/r.html", "user.c", 77), TC_E_IO);
    CHECK_STR(tc_error_text(tc),
              "tc_explain_html: cannot write \"/nonexistent/r.html\": No "
              "such file or directory");
    CHECK_EQ(tc_error_line(tc), 77);
    tc_error_clear(tc);
    CHECK_EQ(tc_explain_html(tc, "/tmp"), TC_E_IO);
    CHECK(strstr(tc_error_text(tc), "\"/tmp\": Is a directory"));
    tc_error_clear(tc);
    CHECK_EQ(tc_explain_html(tc, NULL), TC_E_NULL);
    tc_error_clear(tc);
    CHECK_EQ(tc_explain_html(NULL, "/tmp/never.html"), TC_E_NULL);
    CHECK(strstr(tc_error_text(tc), "tc_explain_html: the ") != NULL);
    tc_error_clear(tc);
    if (!access("/dev/full", W_OK)) {
        CHECK_EQ(tc_explain_html(tc, "/dev/full"), TC_E_IO);
        CHECK(strstr(tc_error_text(tc), "\"/dev/full\": No space left on device"));
        tc_error_clear(tc);
    }
    close_context(tc);
}

// ---- a browser ----

static const char *browser(void) {
    static const char *const names[] = {"chromium", "google-chrome", "chromium-browser"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char command[80];
        snprintf(command, sizeof command, "command -v %s >/dev/null 2>&1", names[i]);
        if (!system(command)) return names[i];
    }
    return NULL;
}

static const char *file_text(const char *path) {
    static char text[2 * PAGE];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    return text;
}

// Opens folder/name; the document and what the browser said come to folder/dom and folder/said.
static void open_page(const char *folder, const char *name) {
    char command[900];
    snprintf(command, sizeof command,
             "cd %s && HOME=%s timeout 50 %s --headless --no-sandbox --disable-gpu "
             "--disable-dev-shm-usage --user-data-dir=%s/profile --enable-logging=stderr "
             "--dump-dom file://%s/%s >dom 2>said </dev/null",
             folder, folder, browser(), folder, folder, name);
    CHECK_EQ(system(command), 0);
}

TEST(a_browser_opens_it) {
    char folder[] = "/tmp/tc-html-XXXXXX", path[60];
    if (!browser()) SKIP("no chromium, google-chrome or chromium-browser in PATH");
    REQUIRE(mkdtemp(folder));
    tc_ctx *tc = open_context();
    visit_break(tc, hostile, matrix(tc, ROWS));
    work(tc);
    snprintf(path, sizeof path, "%s/report.html", folder);
    CHECK_EQ(tc_explain_html(tc, path), TC_OK);
    int programs = tc_explain_counts(tc, NULL).programs;
    close_context(tc);

    open_page(folder, "report.html");
    snprintf(path, sizeof path, "%s/dom", folder);
    const char *page = file_text(path);
    SHOWS("<p id=\"end\" class=\"soft\">The end of the report.</p>");
    CHECK_EQ(occurrences(page, "<section id="), 3);
    CHECK_EQ(occurrences(page, "<article>"), programs);
    CHECK_EQ(occurrences(page, "<svg "),
             2 * programs + occurrences(page, "class=\"plan\""));
    SHOWS("Region &lt;/script&gt;&lt;b&gt;\"&amp;'--&gt;&lt;!--/time--&gt;");
    CHECK_EQ(occurrences(page, "<b>"), 0);
    snprintf(path, sizeof path, "%s/said", folder);
    if (strstr(file_text(path), "CONSOLE")) FAIL("%s", strstr(file_text(path), "CONSOLE"));

    // What the browser would say of a page with an error, so that silence means something.
    snprintf(path, sizeof path, "%s/bad.html", folder);
    FILE *f = fopen(path, "w");
    REQUIRE(f);
    fputs("<!DOCTYPE html><script>nosuch();</script>", f);
    fclose(f);
    open_page(folder, "bad.html");
    snprintf(path, sizeof path, "%s/said", folder);
    CHECK(strstr(file_text(path), "CONSOLE"));
    snprintf(path, sizeof path, "rm -rf %s", folder);
    CHECK_EQ(system(path), 0);
}
