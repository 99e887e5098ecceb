// Tests of the inside are linked with an implementation whose static names are global, and see declarations of all that is
// in it, which a compiler reads in a tenth of the time that it takes to compile it (`build_inside` in build.sh).
//
// Declarations, from `cc -E -dD -dI` of the manifests: a header, its macros in it.
//     static T f(A a) { ... }           T f(A a);
//     static const T x[3] = {...};      extern const T x[3];
//     static const T x[] = {...};       extern __typeof__((const T[]){...}) x;    what has its size
//     static inline functions           as they are
// Definitions, from `cc -E`: the same text, its functions and data not static.
typedef struct insider {
    int defines; // or declares
    text out;
    text piece;        // of the declaration that is read, directives in it
    const char *file;  // of the current line
    int line, is_ours; // a file of gen/, not of the system
    int first;         // line where the piece begins
    int depth, parens; // open brackets
    size_t body, init; // where { of a function, where = stands in the piece; 0 = nowhere
} insider;

static int is_marker(const char *line) {
    return line[0] == '#' && line[1] == ' ' && isdigit((unsigned char)line[2]);
}

// "# 12 "gen/base/mem.c" 2 3"
static void read_marker(insider *p, const char *line, size_t n) {
    const char *quote = (const char *)memchr(line, '"', n);
    const char *end =
        quote ? (const char *)memchr(quote + 1, '"', n - (size_t)(quote + 1 - line)) : NULL;
    if (!end) return;
    p->line = atoi(line + 2) - 1;
    p->file = join("%.*s", (int)(end - quote - 1), quote + 1);
    p->is_ours = starts(p->file, "gen/") || strstr(p->file, "/gen/") != NULL;
}

// Directives between s and end, which hold on behind what is left out.
static void put_directives(text *t, const char *s, const char *end) {
    const char *line;
    size_t n;
    while (s < end && next_line(&s, &line, &n))
        if (*line == '#' && !is_marker(line)) put(t, "%.*s\n", (int)n, line);
}

// Where the word stands in s, before `end`; NULL = nowhere. Directives are not looked at.
static const char *word_before(const char *s, const char *end, const char *word) {
    size_t n = strlen(word);
    for (const char *at = s; (at = strstr(at, word)) != NULL && at < end; at += n)
        if ((at == s || !is_word(at[-1])) && !is_word(at[n])) return at;
    return NULL;
}

static char last_of(const char *s, const char *end) {
    while (end > s && isspace((unsigned char)end[-1])) end--;
    return end > s ? end[-1] : 0;
}

// The piece up to `end`, its head, without "static"; data behind "extern" where they are declared.
static void put_dynamic(insider *p, const char *end, const char *how) {
    const char *s = p->piece.at, *word = word_before(s, end, "static");
    put(&p->out, "%s%.*s%.*s", how, (int)(word - s), s, (int)(end - word - 6), word + 6);
}

// An array whose initial values, behind the head, tell its size.
static void put_unsized(insider *p, const char *head, const char *end) {
    const char *s = p->piece.at, *word = word_before(s, head, "static"), *values = head + 1;
    const char *sizes = strstr(s, "[]"), *name = sizes;
    while (is_word(name[-1])) name--;
    while (isspace((unsigned char)*values)) values++;
    int braces = *values != '{'; // a string has none
    put(&p->out, "%.*sextern __typeof__((%.*s %.*s)%s\n", (int)(word - s), s,
        (int)(name - word - 6), word + 6, (int)(head - sizes), sizes, braces ? "{" : "");
    put(&p->out, "%.*s%s) %.*s;\n", (int)(end - 1 - values), values, braces ? "}" : "",
        (int)(sizes - name), name);
}

// The piece is whole: prints it, or what declares it.
static void end_piece(insider *p) {
    const char *s = p->piece.at, *all = s + p->piece.size;
    const char *head = p->body ? s + p->body : p->init ? s + p->init : all - 1;
    int is_inline = word_before(s, head, "inline") != NULL;
    int is_static = !is_inline && word_before(s, head, "static");
    int is_function = p->body || (!p->init && last_of(s, head) == ')');
    put(&p->out, "# %d \"%s\" 3\n", p->first, p->file);
    if (is_inline || (!is_static && (!p->body || p->defines))) {
        put(&p->out, "%s\n", s);
    } else if (p->defines) {
        put_dynamic(p, head, "");
        put(&p->out, "%s\n", head);
    } else if (is_static && p->init && strstr(s, "[]") && strstr(s, "[]") < head) {
        put_unsized(p, head, all);
    } else {
        if (is_static)
            put_dynamic(p, head, is_function ? "" : "extern ");
        else
            put(&p->out, "%.*s", (int)(head - s), s);
        put(&p->out, ";\n");
        put_directives(&p->out, head, all);
    }
    p->piece.size = p->body = p->init = 0;
}

static void read_code(insider *p, const char *s, const char *end) {
    while (s < end) {
        const char *next = *s == '"' || *s == '\'' ? literal_end(s, end) : s + 1;
        int outside = !p->depth && !p->parens;
        if (!p->piece.size && *s == ' ') {
            s = next;
            continue;
        }
        if (!p->piece.size) p->first = p->line;
        if (outside && *s == '=' && !p->init) p->init = p->piece.size;
        if (outside && *s == '{' && !p->init &&
            last_of(p->piece.at, p->piece.at + p->piece.size) == ')')
            p->body = p->piece.size;
        p->depth += (*s == '{') - (*s == '}'), p->parens += (*s == '(') - (*s == ')');
        put_raw(&p->piece, s, (size_t)(next - s));
        outside = !p->depth && !p->parens;
        if (outside && (*s == ';' || (*s == '}' && p->body))) end_piece(p);
        s = next;
    }
    if (p->piece.size) put_raw(&p->piece, "\n", 1);
}

static void read_directive(insider *p, const char *line, size_t n) {
    text *to = p->piece.size ? &p->piece : &p->out;
    if (starts(line, "#include") && !starts(line, "#include <")) return;
    put(to, "%.*s\n", (int)n, line);
}

static void print_inside(const char *what) {
    insider p = {0};
    p.defines = strcmp(what, "definitions") == 0;
    text in = {0};
    char block[65536];
    const char *s, *line;
    size_t n;
    while ((n = fread(block, 1, sizeof block, stdin)) > 0) put_raw(&in, block, n);
    for (s = in.at ? in.at : ""; next_line(&s, &line, &n);) {
        p.line++;
        if (is_marker(line))
            read_marker(&p, line, n);
        else if (p.is_ours && *line == '#')
            read_directive(&p, line, n);
        else if (p.is_ours)
            read_code(&p, line, line + n);
        else if (p.defines)
            put(&p.out, "%.*s\n", (int)n, line);
    }
    fwrite(p.out.at, 1, p.out.size, stdout);
}
