// Packs a manifest: every `#include "x"` is replaced by gen/x, whose comments stay where it is public. The
// packed and the unpacked header are the same to the compiler (./build.sh check). What says include-self in
// its first line stands where the manifest names it; the parts that include it include the packed header,
// which is that text alone where TC__SELF is defined.

typedef struct packer {
    const char *root;     // the checkout
    const char *dest;     // where gen/out was written
    const char *manifest; // "gen/tcompile.in.h"
    text out;
    list used;        // "base/mem.c" in order, each once
    const char *name; // "tcompile.h"
    int parts;        // .c files met at the manifest's own level
    int depth;
    int inside; // behind the public part
} packer;

// The name in `#include "name"`, or NULL. Blanks around the # are allowed.
static char *include_name(const char *line, size_t n) {
    size_t i = 0, start;
    while (i < n && line[i] == ' ') i++;
    if (i == n || line[i++] != '#') return NULL;
    while (i < n && line[i] == ' ') i++;
    if (n - i < 7 || strncmp(line + i, "include", 7) != 0) return NULL;
    for (i += 7; i < n && line[i] == ' ';) i++;
    if (i == n || line[i++] != '"') return NULL;
    for (start = i; i < n && line[i] != '"';) i++;
    return i == n ? NULL : join("%.*s", (int)(i - start), line + start);
}

// A part is what a prefix build counts: a hand-written .c file named by the manifest.
static int is_part(const char *name) { return ends(name, ".c"); }

static char *read_part(const packer *p, const char *name) {
    const char *base = starts(name, "out/") ? p->dest : p->root;
    return read_file(join("%s/gen/%s", base, name), NULL);
}

static int first_line_says(const char *s, const char *word) {
    const char *mark = strstr(s, word), *end = strchr(s, '\n');
    return mark && (!end || mark < end);
}

static int include_many(const char *s) { return first_line_says(s, "include-many"); }

static void put_banner(packer *p, const char *name) {
    text *t = &p->out;
    size_t at = t->size;
    put(t, "// ---- gen/%s", name);
    if (!p->inside) put_raw(t, " ", 1);
    while (!p->inside && t->size - at < 76) put_raw(t, "-", 1);
    put_raw(t, "\n", 1);
}

static void pack_text(packer *p, const char *where, const char *s);

static void pack_include(packer *p, const char *where, int line, const char *name) {
    char *s = read_part(p, name);
    if (!s) {
        fail(where, line, join("cannot read gen/%s", name),
             "quoted includes are relative to gen/ and are inlined by the packer",
             "correct the name, or write the file");
        return;
    }
    if (p->depth && first_line_says(s, "include-self:")) {
        put(&p->out, "#define TC__SELF\n#include \"%s\"\n#undef TC__SELF\n", p->name);
        return;
    }
    int seen = list_has(&p->used, name);
    if (seen && !include_many(s)) {
        fail(where, line, join("gen/%s is included a second time", name),
             "the packed header would hold it twice",
             "drop one include, or write include-many in the first line of that file");
        return;
    }
    if (!seen) list_add(&p->used, join("%s", name));
    if (p->depth > 8) {
        fail(where, line, join("gen/%s includes itself", name), "the chain has no end",
             "break the cycle");
        return;
    }
    put_banner(p, name);
    p->depth++;
    pack_text(p, join("gen/%s", name), p->inside ? stripped(s) : s);
    p->depth--;
}

// Includes are relative to gen/; "../" goes up from the part's folder ("gen/base/x.c").
static const char *resolve(const char *where, const char *name) {
    const char *slash = strrchr(where, '/');
    if (!starts(name, "../") || !slash) return name;
    while (slash > where && slash[-1] != '/') slash--;
    return slash - where < 4
               ? name + 3
               : join("%.*s%s", (int)(slash - where - 4), where + 4, name + 3);
}

static void pack_text(packer *p, const char *where, const char *s) {
    const char *line;
    size_t n;
    for (int number = 1; next_line(&s, &line, &n); number++) {
        char *name = include_name(line, n);
        // The other packed header stays an include: users have it beside this one.
        if (name && !starts(name, "tcompile")) {
            pack_include(p, where, number, resolve(where, name));
            if (!p->depth && is_part(name)) p->parts++;
            continue;
        }
        put_raw(&p->out, line, n);
        put_raw(&p->out, "\n", 1);
        p->inside |= !p->depth && starts(line, "#define TCOMPILE_") &&
                     ends_line(line, n, "_IMPLEMENTED");
        if (!p->depth && number == 1) {
            const char *mark = starts(line, "/*") ? "  " : "//";
            put(&p->out, "%s Generated from gen/ by ./build.sh gen; edit there.\n", mark);
        }
    }
}

// 0 when the manifest does not exist.
static int pack(packer *p, const char *root, const char *dest, const char *manifest,
                const char *name) {
    memset(p, 0, sizeof *p);
    p->name = name;
    p->root = root;
    p->dest = dest;
    p->manifest = manifest;
    char *s = read_file(join("%s/%s", root, manifest), NULL);
    if (!s) return 0;
    pack_text(p, manifest, s);
    return 1;
}

// How many parts of a manifest a prefix has: a number, or the last one's name. 0 = no such part.
static int prefix_length(const char *manifest, const char *last) {
    const char *line;
    size_t n;
    int k = 0;
    if (isdigit((unsigned char)*last)) return atoi(last);
    while (next_line(&manifest, &line, &n)) {
        char *name = include_name(line, n);
        if (name && is_part(name)) k++;
        if (name && !strcmp(name, last)) return k;
    }
    return 0;
}

// The manifest with the parts after a prefix left out: what a part may not see.
static int print_prefix(const char *root, const char *manifest, const char *last) {
    const char *s = read_file(join("%s/%s", root, manifest), NULL), *line;
    size_t n;
    if (!s) return 0;
    int k = prefix_length(s, last);
    if (!k) {
        fail(manifest, 1, join("no part is called %s", last), "",
             "name one that it includes");
        return 0;
    }
    while (next_line(&s, &line, &n)) {
        char *name = include_name(line, n);
        if (name && k <= 0 && !starts(name, "api/")) continue;
        if (name && is_part(name)) k--;
        printf("%.*s\n", (int)n, line);
    }
    return 1;
}

static int print_parts(const char *root, const char *manifest) {
    const char *s = read_file(join("%s/%s", root, manifest), NULL), *line;
    size_t n;
    if (!s) return 0;
    while (next_line(&s, &line, &n)) {
        char *name = include_name(line, n);
        if (name && is_part(name)) printf("%s\n", name);
    }
    return 1;
}
