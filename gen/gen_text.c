// Text and files for the generator: messages, growable text, reading, writing, walking.
// Memory is never freed: the program lives for a few milliseconds.
#include <dirent.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int errors; // how many fail() calls; the exit status of a run
static int warnings;

// Every message has the same three lines, so that the reader always finds the fix.
static void fail(const char *where, int line, const char *error, const char *why,
                 const char *fix) {
    errors++;
    fprintf(stderr, "%s:%d: Error: %s\n  Why: %s\n  Fix: %s\n", where, line, error, why,
            fix);
}

static void *need(void *p) {
    if (p) return p;
    fprintf(stderr, "gen: out of memory\n");
    exit(2);
}

typedef struct text {
    char *at; // always NUL-terminated once something was put
    size_t size, capacity;
} text;

static void put_raw(text *t, const char *p, size_t n) {
    if (t->size + n + 1 > t->capacity) {
        t->capacity = (t->size + n + 1) * 2;
        t->at = (char *)need(realloc(t->at, t->capacity));
    }
    if (n) memcpy(t->at + t->size, p, n);
    t->size += n;
    t->at[t->size] = 0;
}

static void put(text *t, const char *format, ...) {
    va_list list, copy;
    va_start(list, format);
    va_copy(copy, list);
    size_t n = (size_t)vsnprintf(NULL, 0, format, list);
    char *line = (char *)need(malloc(n + 1));
    vsnprintf(line, n + 1, format, copy);
    va_end(copy);
    va_end(list);
    put_raw(t, line, n);
    free(line);
}

// printf into a fresh string.
static char *join(const char *format, ...) {
    va_list list, copy;
    va_start(list, format);
    va_copy(copy, list);
    size_t n = (size_t)vsnprintf(NULL, 0, format, list);
    char *s = (char *)need(malloc(n + 1));
    vsnprintf(s, n + 1, format, copy);
    va_end(copy);
    va_end(list);
    return s;
}

// The C literal of n bytes, quotes included.
static void put_literal(text *t, const char *p, size_t n) {
    put_raw(t, "\"", 1);
    for (size_t i = 0; i < n; i++) {
        // "\?" keeps two question marks from becoming a trigraph.
        if (strchr("\"\\?", p[i])) put_raw(t, "\\", 1);
        put_raw(t, p + i, 1);
    }
    put_raw(t, "\"", 1);
}

static int starts(const char *s, const char *with) {
    return strncmp(s, with, strlen(with)) == 0;
}

// One of the words of s, which stand between blanks.
static int has_word(const char *s, const char *word) {
    size_t n = strlen(word);
    const char *begin = s;
    for (s = strstr(s, word); s; s = strstr(s + n, word))
        if ((s == begin || s[-1] == ' ') && (s[n] == 0 || s[n] == ' ')) return 1;
    return 0;
}

static int ends(const char *s, const char *with) {
    size_t n = strlen(s), m = strlen(with);
    return n >= m && strcmp(s + n - m, with) == 0;
}

// Whole file as a string, NULL when it cannot be opened.
static char *read_file(const char *path, size_t *size) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    text t = {0};
    char block[65536];
    size_t n;
    put_raw(&t, "", 0);
    while ((n = fread(block, 1, sizeof block, f)) > 0) put_raw(&t, block, n);
    fclose(f);
    if (size) *size = t.size;
    return t.at;
}

static int is_folder(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISDIR(s.st_mode);
}

static void make_folders(const char *path) {
    char *p = join("%s", path);
    for (char *s = strchr(p + 1, '/'); s; s = strchr(s + 1, '/')) {
        *s = 0;
        mkdir(p, 0777);
        *s = '/';
    }
    mkdir(p, 0777);
}

// Writes only what differs, so that time stamps keep their meaning.
static void write_file(const char *path, const text *t) {
    size_t size = 0;
    char *old = read_file(path, &size);
    if (old && size == t->size && memcmp(old, t->at, size) == 0) return;
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(t->at, 1, t->size, f) != t->size || fclose(f) != 0) {
        fail(path, 0, "cannot write", "the folder is missing, read-only or full",
             "make it writable and run ./build.sh gen again");
    }
}

typedef struct list {
    char **at; // sorted by walk()
    size_t count;
} list;

static void list_add(list *l, char *s) {
    l->at = (char **)need(realloc(l->at, (l->count + 1) * sizeof *l->at));
    l->at[l->count++] = s;
}

static int list_has(const list *l, const char *s) {
    for (size_t i = 0; i < l->count; i++) {
        if (strcmp(l->at[i], s) == 0) return 1;
    }
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

// Appends every file under root/path as "path/name", in byte order; hidden files and
// generated folders (out, build) are left out.
static void walk(list *l, const char *root, const char *path) {
    DIR *d = opendir(join("%s/%s", root, path));
    if (!d) return;
    list names = {0};
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        if (e->d_name[0] == '.') continue;
        if (strcmp(e->d_name, "out") == 0 || strcmp(e->d_name, "build") == 0) continue;
        list_add(&names, join("%s/%s", path, e->d_name));
    }
    closedir(d);
    if (names.count) qsort(names.at, names.count, sizeof *names.at, by_name);
    for (size_t i = 0; i < names.count; i++) {
        if (is_folder(join("%s/%s", root, names.at[i]))) {
            walk(l, root, names.at[i]);
        } else {
            list_add(l, names.at[i]);
        }
    }
}

// The line at *s without its end, and *s moved to the next one. 0 at the end of the text.
static int next_line(const char **s, const char **line, size_t *n) {
    if (!**s) return 0;
    const char *end = strchr(*s, '\n');
    *line = *s;
    *n = end ? (size_t)(end - *s) : strlen(*s);
    *s = end ? end + 1 : *s + *n;
    return 1;
}

static uint64_t fnv(uint64_t h, const char *p, size_t n) {
    for (size_t i = 0; i < n; i++) h = (h ^ (uint8_t)p[i]) * 0x100000001b3u;
    return h;
}
