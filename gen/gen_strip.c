// What the packed headers leave out of the implementation: comments, empty lines and all but one blank of
// each level of indentation. Its readers have gen/; the public part keeps every byte.

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

// A comment between code is one that a macro of several lines needs.
static void put_stripped_code(text *t, const char *s, const char *end) {
    int goes_on = end > s && end[-1] == '\\';
    if (goes_on) end--;
    while (end > s && end[-1] == ' ') end--;
    while (s < end) {
        const char *next = s + 1, *close = starts(s, "/*") ? strstr(s, "*/") : NULL;
        if (*s == '"' || *s == '\'') next = literal_end(s, end);
        if (close && close < end)
            next = close + 2;
        else
            put_raw(t, s, (size_t)(next - s));
        s = next;
    }
    put_raw(t, goes_on ? " \\\n" : "\n", goes_on ? 3 : 1);
}

static const char *skip_blanks(const char *s, const char *end) {
    while (s < end && *s == ' ') s++;
    return s;
}

// `inside`: the line before ends inside a literal, so this one is kept.
static int put_stripped_line(text *t, const char *line, size_t n, int inside) {
    const char *end = line + n, *s = skip_blanks(line, end);
    if (!inside) end = code_end(line, end);
    if (inside || s >= end) {
        if (inside) put_raw(t, line, n), put_raw(t, "\n", 1);
        return 0;
    }
    if (*s == '#') {
        put_raw(t, "#", 1);
        s = skip_blanks(s + 1, end);
    } else {
        for (const char *at = line; at < s; at += 4) put_raw(t, " ", 1);
    }
    put_stripped_code(t, s, end);
    const char *last = s;
    while (last < end && *last != '"' && *last != '\'') last++;
    while (last < end) {
        if (literal_end(last, end) == end && end[-1] == '\\') return 1;
        last = literal_end(last, end);
        while (last < end && *last != '"' && *last != '\'') last++;
    }
    return 0;
}

static char *stripped(const char *s) {
    text t = {0};
    const char *line;
    size_t n;
    int inside = 0;
    put_raw(&t, "", 0);
    while (next_line(&s, &line, &n)) inside = put_stripped_line(&t, line, n, inside);
    return t.at;
}
