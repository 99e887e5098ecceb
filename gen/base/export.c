// Text that leaves the process: escaped for JSON and HTML, and saved as a file.
// Names are the user's and may hold anything: what no reader could take becomes U+FFFD.

// Bytes of the character at s, 1 to 4; 0 = it is no UTF-8: cut short, overlong, a surrogate, or
// beyond U+10FFFF.
static int tc__utf8_size(const char *text) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *s = (const unsigned char *)text;
    int n = s[0] < 0x80             ? 1
            : (s[0] & 0xe0) == 0xc0 ? 2
            : (s[0] & 0xf0) == 0xe0 ? 3
            : (s[0] & 0xf8) == 0xf0 ? 4
                                    : 0;
    uint32_t v = n > 1 ? s[0] & (0x7fu >> n) : s[0];
    for (int i = 1; i < n; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0; // the NUL too
        v = v << 6 | (s[i] & 0x3fu);
    }
    return n && v >= least[n] && v <= 0x10ffff && (v < 0xd800 || v > 0xdfff) ? n : 0;
}

// A JSON string with its quotes.
TC__UNUSED static void tc__put_json(tc__text *t, const char *s) {
    tc__put(t, "\"");
    while (*s) {
        int n = tc__utf8_size(s);
        if (!n)
            tc__put(t, "\\ufffd");
        else if (*s == '"' || *s == '\\')
            tc__put(t, "\\%c", *s);
        else if ((unsigned char)*s < 0x20 || *s == 0x7f)
            tc__put(t, "\\u00%x%x", (unsigned)*s >> 4, (unsigned)*s & 15u);
        else
            tc__put_raw(t, s, (size_t)n);
        s += n ? n : 1;
    }
    tc__put(t, "\"");
}

// Text of an HTML page, in an element or in a quoted attribute.
TC__UNUSED static void tc__put_html(tc__text *t, const char *s) {
    static const struct {
        char c;
        const char *as;
    } special[] = {
        {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};
    while (*s) {
        size_t n = (size_t)tc__utf8_size(s), i = 0;
        int control = ((unsigned char)*s < 0x20 && *s != '\n' && *s != '\t') || *s == 0x7f;
        while (i < TC__COUNT(special) && special[i].c != *s) i++;
        if (!n || control)
            tc__put(t, "&#xfffd;");
        else if (i < TC__COUNT(special))
            tc__put(t, "%s", special[i].as);
        else
            tc__put_raw(t, s, n);
        s += n ? n : 1;
    }
}

// The text as a file; what was there is overwritten. TC_OK, or reported.
TC__UNUSED static tc_status tc__text_save(const tc__text *t, const char *who,
                                          const char *path) {
    if (!path) {
        tc__fail(t->ctx, TC_E_NULL, "%s: path is NULL", who);
        return TC_E_NULL;
    }
    if (t->failed) return TC_E_NOMEM;
    tc__calm calm = tc__calm_begin();
    errno = 0;
    FILE *f = tc__file_stream(path, TC__STREAM_WRITE);
    int other = !f && errno == EINVAL;
    int ok = f && fwrite(t->at, 1, t->size, f) == t->size;
    if (f && fclose(f)) ok = 0;
    tc__calm_end(calm);
    if (ok) return TC_OK;
    if (other) {
        tc__fail(t->ctx, TC_E_IO,
                 "%s: \"%s\" is no plain file; write one, and copy it there", who, path);
        return TC_E_IO;
    }
    tc__fail(t->ctx, TC_E_IO, "%s: cannot write \"%s\": %s", who, path,
             errno ? strerror(errno) : "unknown reason");
    return TC_E_IO;
}
