// What the packed headers leave out of the implementation: comments, empty lines, and blanks that C does not
// need; lines stay lines. Its readers have gen/; the public part keeps every byte, and a file that says
// as-text in its first line the blanks between its words, which are emitted.

// Where the literal that begins at s ends, behind its quote; of what ends with the line, there.
static const char *literal_end(const char *s, const char *end) {
    char quote = *s++;
    while (s < end && *s != quote) s += *s == '\\' ? 2 : 1;
    return s < end ? s + 1 : end;
}

// Where the code of a line ends: at its comment, or behind it.
static const char *code_end(const char *line, const char *end) {
    const char *at = line;
    while (at < end && !starts(at, "//"))
        at = *at == '"' || *at == '\'' ? literal_end(at, end) : at + 1;
    while (at > line && at[-1] == ' ') at--;
    return at;
}

static int ends_line(const char *line, size_t n, const char *with) {
    size_t m = strlen(with);
    return n >= m && memcmp(line + n - m, with, m) == 0;
}

typedef struct stripper {
    text out;
    int text;    // in TC__TEXT: blanks are kept
    int literal; // goes on in the next line
} stripper;

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

// Would a and b, without a blank, be one token or a comment?
static int joins(char a, char b) {
    static const char tokens[] =
        "++ -- && || << >> == ## :: -> /* // <: <% %: %> :> += -= *= /= %= &= |= ^= != <= >=";
    char both[] = {a, b, 0};
    if (is_word(a)) return is_word(b) || b == '"' || b == '\'';
    if (a == '"' || a == '\'') return is_word(b) || b == '"';
    return strstr(tokens, both) != NULL;
}

// A comment between code is one that a macro of several lines needs.
static void put_stripped_code(stripper *p, const char *s, const char *end, int blanks) {
    int goes_on = end > s && end[-1] == '\\';
    if (goes_on) end--;
    while (end > s && end[-1] == ' ') end--;
    while (s < end) {
        const char *next = s + 1, *close = starts(s, "/*") ? strstr(s, "*/") : NULL;
        if (*s == '"' || *s == '\'') next = literal_end(s, end);
        while (*s == ' ' && *next == ' ') s++, next++;
        int needed = *s != ' ' || blanks || joins(s[-1], *next);
        if (close && close < end)
            next = close + 2;
        else if (needed)
            put_raw(&p->out, s, (size_t)(next - s));
        s = next;
    }
    // The next line of a macro comes behind this one without a blank.
    if (goes_on) put(&p->out, !blanks && strchr(";{}(,", end[-1]) ? "\\" : " \\");
    put_raw(&p->out, "\n", 1);
}

static const char *skip_blanks(const char *s, const char *end) {
    while (s < end && *s == ' ') s++;
    return s;
}

// Does a literal of the code s go on in the next line?
static int ends_in_literal(const char *s, const char *end) {
    while (s < end) {
        if (*s != '"' && *s != '\'') {
            s++;
            continue;
        }
        s = literal_end(s, end);
        if (s == end && end[-1] == '\\') return 1;
    }
    return 0;
}

// What of a directive needs its blanks: `#define NAME `, the whole of `#pragma` and `#include`.
static const char *put_directive(stripper *p, const char *s, const char *end) {
    const char *word = skip_blanks(s + 1, end), *at = word;
    int whole = starts(word, "pragma") || starts(word, "include") || starts(word, "error");
    while (at < end && is_word(*at)) at++;
    at = skip_blanks(at, end);
    while (at < end && (whole || is_word(*at))) at++;
    if (at < end && *at == ' ') at++;
    put(&p->out, "#%.*s", (int)(at - word), word);
    return skip_blanks(at, end);
}

static void put_stripped_line(stripper *p, const char *line, size_t n) {
    const char *end = line + n, *s = skip_blanks(line, end);
    if (p->literal) {
        put_raw(&p->out, line, n), put_raw(&p->out, "\n", 1);
        p->literal = ends_line(line, n, "\\") && !memchr(line, '"', n);
        return;
    }
    end = code_end(line, end);
    if (s >= end) return;
    int directive = *s == '#';
    p->text |= starts(s, "TC__TEXT(");
    if (directive) s = put_directive(p, s, end);
    put_stripped_code(p, s, end, p->text);
    if (ends_line(s, (size_t)(end - s), "})")) p->text = 0;
    p->literal = ends_in_literal(skip_blanks(line, end), end); // an #error's, too
}

static char *stripped(const char *s) {
    stripper p = {{0}, 0, 0};
    const char *line;
    size_t n;
    put_raw(&p.out, "", 0);
    while (next_line(&s, &line, &n)) put_stripped_line(&p, line, n);
    return p.out.at;
}
