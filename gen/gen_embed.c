// Text of the library that is emitted, too: gen/cpu/*.h and gen/cuda/*.cuh, one literal per line (one above
// 4095 bytes would warn under -Wpedantic). What is C of the library as well stands once: see embed_shared.

static int is_embedded(const char *path) {
    return (starts(path, "gen/cpu/") && ends(path, ".h")) || ends(path, ".cuh");
}

// gen/cpu/math.h -> text_cpu_math
static char *embedded_name(const char *path) {
    char *name = join("text_%s", path + 4), *dot = strrchr(name, '.');
    *dot = 0;
    for (char *s = name; *s; s++) {
        if (*s == '/' || *s == '-' || *s == '.') *s = '_';
    }
    return name;
}

// "// fn: exp_f32 exp_poly_f32" of a text is "// fn: exp_f32" to who prints it.
static size_t fn_mark(const char *line, size_t n) {
    size_t name = strlen("// fn: ");
    if (!starts(line, "// fn: ")) return 0;
    while (name < n && line[name] != ' ') name++;
    return name;
}

// A text that the library compiles and emits: rows of a table where TC__AS_TEXT is 1, code where it is 0. A
// function is one TC__TEXT(name, code), which exec/interp_set.c makes into either; what a macro cannot
// hold, directives and what is between them, stands twice.
enum { MAX_LINES = 4096 };

typedef struct shared {
    text *out;
    text rows, code; // since the last function
    const char *lines[MAX_LINES];
    size_t size[MAX_LINES]; // without their comments
    int count;
} shared;

static void read_shared(shared *e, const char *path, const char *s) {
    const char *line;
    size_t n;
    while (s && next_line(&s, &line, &n)) {
        size_t size = (size_t)(code_end(line, line + n) - line);
        int marks = starts(line, "// fn: ") || starts(line, "// undef: ");
        if (!size && !marks) continue;
        if (e->count == MAX_LINES) {
            fail(path, e->count, "too long", "its lines are held in a table",
                 "raise MAX_LINES in gen/gen_embed.c");
            return;
        }
        e->lines[e->count] = line;
        e->size[e->count++] = size;
    }
}

static void put_twice(shared *e, int i) {
    put_literal(&e->rows, e->lines[i], e->size[i]);
    put(&e->rows, ",\n");
    put(&e->code, "%.*s\n", (int)e->size[i], e->lines[i]);
}

static void flush_shared(shared *e) {
    if (e->rows.size)
        put(e->out, "#if TC__AS_TEXT\n%.*s#else\n%.*s#endif\n", (int)e->rows.size,
            e->rows.at, (int)e->code.size, e->code.at);
    else if (e->code.size)
        put(e->out, "#if !TC__AS_TEXT\n%.*s#endif\n", (int)e->code.size, e->code.at);
    e->rows.size = e->code.size = 0;
}

static int is_function(const shared *e, int i) { return starts(e->lines[i], "// fn: "); }

// Behind the function whose mark is line i.
static int function_end(const shared *e, int i) {
    for (i++; i < e->count; i++) {
        const char *s = e->lines[i];
        if (*s == '}' || (starts(s, "TC_FN") && s[e->size[i] - 1] == '}')) return i + 1;
    }
    return i;
}

static void embed_function(shared *e, int i, int end) {
    size_t mark = fn_mark(e->lines[i], strcspn(e->lines[i], "\n"));
    int directives = 0;
    for (int k = i + 1; k < end; k++) directives |= *e->lines[k] == '#';
    if (directives) {
        put_literal(&e->rows, e->lines[i], mark);
        put(&e->rows, ",\n");
        for (int k = i + 1; k < end; k++) put_twice(e, k);
        return;
    }
    flush_shared(e);
    put(e->out, "TC__TEXT(%.*s,\n", (int)mark - 7, e->lines[i] + 7);
    for (int k = i + 1; k < end; k++)
        put(e->out, "%.*s%s\n", (int)e->size[k], e->lines[k], k + 1 < end ? "" : ")");
}

// The line of the #endif of line i, and whether the functions between them can be had in one piece: if
// there are any, and no #else.
static int condition_end(const shared *e, int i, int *whole) {
    int depth = 0, functions = 0, others = 0;
    for (; i < e->count; i++) {
        const char *s = e->lines[i];
        functions |= is_function(e, i);
        depth += starts(s, "#if");
        others |= depth == 1 && starts(s, "#el");
        depth -= starts(s, "#endif");
        if (!depth) break;
    }
    *whole = functions && !others;
    return i;
}

// A condition around functions holds where its text is wanted.
static void embed_condition(shared *e, int i) {
    flush_shared(e);
    put_literal(&e->rows, e->lines[i], e->size[i]);
    put(e->out, "#if TC__AS_TEXT\n%s,\n#endif\n#if TC__AS_TEXT || (%.*s)\n", e->rows.at,
        (int)e->size[i] - 4, e->lines[i] + 4);
    e->rows.size = 0;
}

static void embed_lines(shared *e, int i, int end) {
    for (int whole; i < end; i++) {
        if (starts(e->lines[i], "// undef: begin")) {
            // Only a second inclusion needs these.
            while (!starts(e->lines[++i], "// undef: end"))
                put(&e->code, "%.*s\n", (int)e->size[i], e->lines[i]);
        } else if (is_function(e, i)) {
            int behind = function_end(e, i);
            embed_function(e, i, behind);
            i = behind - 1;
        } else if (starts(e->lines[i], "#if ")) {
            int last = condition_end(e, i, &whole);
            if (whole) {
                embed_condition(e, i);
                embed_lines(e, i + 1, last);
                flush_shared(e);
                put(e->out, "#endif\n");
                put_literal(&e->rows, "#endif", 6);
                put(&e->rows, ",\n");
            } else {
                for (; i < last; i++) put_twice(e, i);
                put_twice(e, i);
            }
            i = last;
        } else {
            put_twice(e, i);
        }
    }
}

static void embed_shared(const char *root, const char *path, text *t) {
    static shared e;
    memset(&e, 0, sizeof e);
    e.out = t;
    put(t, "// include-many: %s for the library and for emitted code.\n", path);
    read_shared(&e, path, read_file(join("%s/%s", root, path), NULL));
    embed_lines(&e, 0, e.count);
    flush_shared(&e);
}

// The lines of a text without comments and empty lines.
static void embed(const char *root, const char *path, text *t) {
    const char *s = read_file(join("%s/%s", root, path), NULL), *line;
    size_t n;
    if (starts(path, "gen/cpu/")) {
        embed_shared(root, path, t);
        return;
    }
    put(t, "// The lines of %s, for emitted code.\n", path);
    put(t, "static const char *const tc__%s[] = {\n", embedded_name(path));
    while (s && next_line(&s, &line, &n)) {
        size_t mark = fn_mark(line, n), size = (size_t)(code_end(line, line + n) - line);
        if (!(mark + size)) continue;
        put_literal(t, line, mark ? mark : size);
        put(t, ",\n");
    }
    put(t, "};\n");
}
