// What the compiler does not say: which files are packed, how they look, how long they are.

enum { LINE_WIDTH = 92, PART_LINES = 900, FUNCTION_LINES = 100 };

static const char *const layers[] = {"api",  "base",   "value",      "graph",
                                     "pass", "kernel", "exec",       "io",
                                     "cpu",  "device", "cuda_print", "cuda"};
static const char *const manifests[] = {"gen/tcompile.in.h", "gen/tcompile_cuda.in.h"};
static const char *const packed[] = {"tcompile.h", "tcompile_cuda.h"};

// The layer of "gen/base/mem.c" is "base"; NULL for what is not library code.
static const char *layer_of(const char *path) {
    for (size_t i = 0; i < COUNT(layers); i++) {
        if (starts(path, join("gen/%s/", layers[i]))) return layers[i];
    }
    return NULL;
}

static void lint_bytes(const char *path, int number, const char *line, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if ((unsigned char)line[i] < 0x80 && line[i] != '\t' && line[i] != '\r') continue;
        fail(path, number, join("byte 0x%02x", (unsigned)(unsigned char)line[i]),
             "sources are plain ASCII without tabs and carriage returns",
             "use spaces and ASCII spellings");
        return;
    }
    if (n && line[n - 1] == ' ') {
        fail(path, number, "trailing blank", "it makes noise in every diff", "delete it");
    }
    if (n > LINE_WIDTH && !ends(path, ".def") && !ends(path, ".md")) {
        warnings++;
        fprintf(stderr, "%s:%d: Warning: %d columns (limit %d)\n", path, number, (int)n,
                LINE_WIDTH);
    }
}

// Words of nodes have names. What begins with int64_t is a declaration.
static void lint_words(const char *path, const char *s) {
    const char *line;
    size_t n;
    for (int number = 1; next_line(&s, &line, &n); number++) {
        const char *code = line + strspn(line, " ");
        for (const char *at = line; at + 5 < line + n; at++) {
            if (!starts(at, "attr[") || !isdigit((unsigned char)at[5])) continue;
            int member = at > line && (at[-1] == '>' || at[-1] == '.');
            if (!member && starts(code, "int64_t ")) continue;
            fail(path, number, join("%.7s...", at), "words of nodes have names",
                 "use the name of the op's ATTR column: gen/out/op_words.inc");
        }
    }
}

// "static int f(" -> "f": the word before the first parenthesis.
static char *function_name(const char *s, const char *end) {
    const char *open = s, *start;
    while (open < end && *open != '(') open++;
    for (start = open;
         start > s && (start[-1] == '_' || isalnum((unsigned char)start[-1]));)
        start--;
    return join("%.*s", (int)(open - start), start);
}

static int is_definition(const char *s, const char *name) {
    size_t n = strlen(name);
    for (const char *at = strstr(s, name); at; at = strstr(at + 1, name)) {
        const char *stop = at[n] == '(' ? strpbrk(at, ";{") : NULL;
        const char *line = at;
        while (line > s && line[-1] != '\n') line--;
        if (stop && *stop == '{' && *line != ' ' && *line != '/') return 1;
    }
    return 0;
}

// A static prototype is for mutual recursion inside one part; across parts it would be a
// call upward that the order of the manifest cannot catch.
static void lint_prototypes(const char *path, const char *s) {
    const char *whole = s, *line;
    size_t n;
    for (int number = 1; next_line(&s, &line, &n); number++) {
        if (!starts(line, "static ") && !starts(line, "TC__UNUSED static ")) continue;
        const char *stop = strpbrk(line, ";{=");
        const char *open = strchr(line, '(');
        if (!stop || *stop != ';' || !open || open > stop || stop[-1] != ')') continue;
        char *name = function_name(line, stop);
        if (!*name || is_definition(whole, name)) continue;
        fail(path, number, join("%s is declared here but not defined", name),
             "a part may use only what stands above it in the manifest",
             "move the function down, or pass it through a struct");
    }
}

// A function: a column-0 line that ends in `{` and holds `(`, up to the next column-0 `}`.
static void lint_functions(const char *path, const char *s) {
    const char *line, *start = NULL;
    size_t n;
    int first = 0;
    for (int number = 1; next_line(&s, &line, &n); number++) {
        if (n && *line != ' ' && *line != '}' && *line != '/' && *line != '#') {
            start = line;
            first = number;
        }
        if (!n || *line != '}' || !start) continue;
        const char *open = strchr(start, '('), *table = strstr(start, " = {\n");
        if (table && table < strchr(start, '\n')) open = NULL; // of texts, maybe
        if (open && open < line && number - first + 1 > FUNCTION_LINES) {
            fail(path, first,
                 join("%s has %d lines", function_name(start, line), number - first + 1),
                 join("a function has at most %d", FUNCTION_LINES),
                 "name its steps and make functions of them, or make a table of it");
        }
        start = NULL;
    }
}

static void lint_system_includes(const char *path, const char *s) {
    const char *line;
    size_t n;
    if (ends(path, "base/prelude.c") || ends(path, "api/config.h")) return;
    for (int number = 1; next_line(&s, &line, &n); number++) {
        if (!starts(line, "#include <") && !starts(line, "#  include <")) continue;
        fail(path, number, "system include",
             "only base/prelude.c and api/config.h have them", "move it to base/prelude.c");
    }
}

static int lint_text(const char *root, const char *path) {
    size_t size = 0, n;
    const char *s = read_file(join("%s/%s", root, path), &size), *line, *at = s;
    int number = 0;
    if (!s) return 0;
    while (next_line(&at, &line, &n)) lint_bytes(path, ++number, line, n);
    if (size && s[size - 1] != '\n') {
        fail(path, number, "no newline at the end", "tools and diffs stumble over it",
             "add it");
    }
    return number;
}

static void lint_part(const char *root, const char *path) {
    const char *s = read_file(join("%s/%s", root, path), NULL);
    int lines = lint_text(root, path);
    if (!s) return;
    if (lines > PART_LINES && !starts(path, "gen/cpu/")) {
        fail(path, lines, join("%d lines", lines),
             join("a part has at most %d", PART_LINES),
             "split it by responsibility; the manifest takes any number of parts");
    }
    lint_prototypes(path, s);
    lint_functions(path, s);
    if (ends(path, ".c")) lint_words(path, s);
    if (!starts(path, "gen/cuda/")) lint_system_includes(path, s);
}

static int is_code(const char *path) {
    return ends(path, ".c") || ends(path, ".h") || ends(path, ".cc") || ends(path, ".cu") ||
           ends(path, ".cuh") || ends(path, ".def") || ends(path, ".md") ||
           ends(path, ".sh");
}

// A library file is used when a manifest includes it, or the text made from it.
static int uses(const list *used, const char *path) {
    if (list_has(used, path + 4)) return 1;
    return is_embedded(path) && list_has(used, join("out/%s.inc", embedded_name(path)));
}

static void lint_listed(const char *path, const list used[2], int many) {
    int times = uses(&used[0], path) + uses(&used[1], path);
    if (times == 1 || ends(path, ".md") || (times && many)) return;
    fail(path, 1, times ? "included by both manifests" : "included by no manifest",
         "a file of the library belongs to exactly one packed header",
         times ? "leave it to tcompile.in.h" : "add it to gen/tcompile.in.h, or delete it");
}

// ---- every public call has a test ----

// A file of tests in which results are looked at; in these folders only that nothing falls over.
static int is_test(const char *path) {
    static const char *const others[] = {"tests/compile/", "tests/errors/", "tests/fault/",
                                         "tests/tools/"};
    for (size_t i = 0; i < COUNT(others); i++) {
        if (starts(path, others[i])) return 0;
    }
    return starts(path, "tests/") && (ends(path, ".c") || ends(path, ".h"));
}

// s without comments and the insides of literals.
static void put_code(text *t, const char *s) {
    const char *line;
    size_t n;
    while (s && next_line(&s, &line, &n)) {
        for (const char *at = line, *end = line + n; at < end && !starts(at, "//");) {
            const char *next = *at == '"' || *at == '\'' ? literal_end(at, end) : at + 1;
            put_raw(t, at, next == at + 1 ? 1 : 0);
            at = next;
        }
        put_raw(t, "\n", 1);
    }
}

// s has a call of that name, or its function: tc_add(, tc_add_at.
static int has_call(const char *s, const char *name) {
    size_t n = strlen(name);
    for (const char *at = strstr(s, name); at; at = strstr(at + n, name)) {
        if (at > s && is_letter(at[-1])) continue;
        if (at[n] == '(' || (starts(at + n, "_at") && !is_letter(at[n + 3]))) return 1;
    }
    return 0;
}

// Elementwise ops are tested by their rows: tests/ops/ops.c has no row without a reference.
static int is_row(const call *c) {
    EACH(o, op, ops) {
        if (has_function(o) && !strcmp(o->name, c->name + 3)) return 1;
    }
    return 0;
}

static void lint_tested(const char *root, const list *files) {
    text tests = {0};
    put_raw(&tests, "", 0);
    for (size_t i = 0; i < files->count; i++) {
        if (is_test(files->at[i]))
            put_code(&tests, read_file(join("%s/%s", root, files->at[i]), NULL));
    }
    calls_read(root);
    EACH_CALL(c) {
        if (is_row(c) || has_call(tests.at, c->name)) continue;
        fail("gen/api", 0, join("no test calls %s", c->name),
             "what nobody runs is not known to work",
             "give it a test in tests/ops, with values from elsewhere");
    }
}

// ---- no public call upward ----

// A part of the manifest with its code, without comments.
typedef struct code_part {
    const char *path;
    text code;
} code_part;

// Whether a line of s defines the public function: its name is where its parameters begin.
static int defines(const char *s, const char *name) {
    const char *line;
    size_t n;
    while (s && next_line(&s, &line, &n))
        if (starts(line, "TCDEF ") && !strcmp(function_name(line, line + n), name))
            return 1;
    return 0;
}

static int has_public(const char *s, const char *name) {
    return defines(s, name) || defines(s, join("%s_at", name));
}

// The order of the manifest is the order of static functions; calls of public ones could go round it.
static void lint_upward(const char *root, const list *used) {
    static code_part part[256];
    size_t count = 0;
    for (size_t i = 0; i < used->count && count < COUNT(part); i++) {
        if (!ends(used->at[i], ".c")) continue;
        part[count].path = join("gen/%s", used->at[i]);
        put_code(&part[count].code, read_file(join("%s/%s", root, part[count].path), NULL));
        count++;
    }
    EACH_CALL(c) {
        size_t at = 0;
        while (at < count && !(part[at].code.at && has_public(part[at].code.at, c->name)))
            at++;
        for (size_t i = 0; at < count && i < at; i++) {
            if (!part[i].code.at || !has_call(part[i].code.at, c->name)) continue;
            fail(part[i].path, 0,
                 join("calls %s, which %s defines", c->name, part[at].path),
                 "a part may use only what stands above it in the manifest",
                 "move the function up, or pass it through a struct (tc__hooks)");
        }
    }
}

static void lint(const char *root, const char *dest) {
    static const char *const folders[] = {"gen", "tests", "examples", "bench"};
    list files = {0}, used[2];
    int any = 0;
    memset(used, 0, sizeof used);
    for (size_t i = 0; i < COUNT(manifests); i++) {
        packer p;
        if (!pack(&p, root, dest, manifests[i], packed[i])) continue;
        used[i] = p.used;
        any = 1;
    }
    for (size_t i = 0; i < COUNT(folders); i++) walk(&files, root, folders[i]);
    lint_tested(root, &files);
    for (size_t i = 0; i < COUNT(used); i++) lint_upward(root, &used[i]);
    for (size_t i = 0; i < files.count; i++) {
        const char *path = files.at[i];
        if (!is_code(path)) continue;
        if (!layer_of(path)) {
            lint_text(root, path);
            continue;
        }
        lint_part(root, path);
        const char *s = read_file(join("%s/%s", root, path), NULL);
        if (any) lint_listed(path, used, s && include_many(s));
    }
}

static void print_layers(const char *root) {
    int total = 0;
    for (size_t i = 0; i < COUNT(layers); i++) {
        list files = {0};
        int lines = 0, switches = 0;
        walk(&files, root, join("gen/%s", layers[i]));
        for (size_t k = 0; k < files.count; k++) {
            const char *s = read_file(join("%s/%s", root, files.at[k]), NULL), *line;
            size_t n;
            while (s && next_line(&s, &line, &n)) {
                lines++;
                switches += starts(line, "#if");
            }
        }
        total += lines;
        printf("  %-8s %6d lines in %3d files, %3d #if\n", layers[i], lines,
               (int)files.count, switches);
    }
    printf("  %-8s %6d lines\n", "all", total);
}
