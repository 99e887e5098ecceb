// tests/golden/KERNELS.md: which kernels there are, read off the goldens. Input: the files
// NAME.tc, NAME.cu if there is one, and what golden.c, or the graph in NAME.tc, says of the
// program. Output: a table of programs, and one of kernels for each kind.

#define GOLDENS "tests/golden"
#define KERNELS GOLDENS "/KERNELS.md"

enum { OPS_SHOWN = 12, BUFFERS_SHOWN = 4 };

typedef struct kernel {
    const char *program, *number, *kind, *space;
    list ops, reads, writes, holds;
    const char *gpu; // how the text for a GPU is launched; NULL = it has none
} kernel;

typedef struct kernels {
    kernel *at;
    size_t count;
    text programs;
} kernels;

// ---- what a line says ----

// The rest of the line s behind `what`; NULL where it begins otherwise.
static const char *behind(const char *s, const char *what) {
    return starts(s, what) ? s + strlen(what) : NULL;
}

static char *until(const char *s, const char *stops) {
    return join("%.*s", (int)strcspn(s, stops), s);
}

// "rows 64 x columns 768 x depth 64, ..." -> "64 x 768 x 64"
static const char *space_of(const char *s) {
    text t = {0};
    for (const char *at = s; *at && *at != '\n' && *at != ',';) {
        const char *word = until(at, " ,\n");
        at += strlen(word);
        at += *at == ' ';
        if (!isalpha((unsigned char)*word) || starts(word, "s0") || !strcmp(word, "x"))
            put(&t, "%s%s", t.size ? " " : "", word);
    }
    return t.at;
}

static void note_op(kernel *k, const char *name) {
    static const char *const moves[] = {"load", "const", "combine", "new", "valid"};
    for (size_t i = 0; i < COUNT(moves); i++)
        if (strcmp(name, moves[i]) == 0) return;
    if (!list_has(&k->ops, name)) list_add(&k->ops, join("%s", name));
}

// "  %4 = mul %2 %3", "  acc0 = new max", "call argsort b1 -> b0"
static void note_statement(kernel *k, const char *line) {
    const char *s = line + strspn(line, " "), *made = NULL;
    if (behind(s, "call ")) note_op(k, until(s + 5, " \n"));
    if (*s == '%' || starts(s, "acc")) made = strstr(s, " = ");
    if (!made || made > s + strcspn(s, "\n")) return;
    s = behind(made, " = new ");
    note_op(k, until(s ? s : made + 3, " \n"));
}

// "x0, f32[49152], 196608 bytes": the second
static void note_buffer(list *l, const char *s) {
    s += strcspn(s, ",\n");
    if (*s == ',') list_add(l, until(s + 2, ",\n"));
}

static void note_report(kernel *k, const char *line) {
    const char *s;
    if ((s = behind(line, "    reads  ")) != NULL) note_buffer(&k->reads, s);
    if ((s = behind(line, "    writes ")) != NULL) note_buffer(&k->writes, s);
    if ((s = behind(line, "    holds  ")) != NULL && (s = strstr(s, " = ")) != NULL)
        list_add(&k->holds, until(s + 3, ",\n"));
}

// ---- files ----

static kernel *kernel_begin(kernels *all, const char *program, const char *line) {
    kernel *k;
    all->at = (kernel *)need(realloc(all->at, (all->count + 1) * sizeof *k));
    k = &all->at[all->count++];
    memset(k, 0, sizeof *k);
    k->program = program, k->number = until(line, ":");
    line += strlen(k->number) + 2; // "0: reduction, rows ..."
    k->kind = until(line, ",");
    k->space = space_of(line + strlen(k->kind) + 2);
    return k;
}

// The kernels of a golden: how many.
static size_t read_golden(kernels *all, const char *program, const char *s) {
    const char *line, *head;
    size_t n, first = all->count;
    kernel *k = NULL;
    while (next_line(&s, &line, &n)) {
        if (starts(line, "== ")) k = NULL;
        if ((head = behind(line, "kernel ")) != NULL)
            k = kernel_begin(all, program, head);
        else if (k && starts(line, "    "))
            note_report(k, line);
        if (k) note_statement(k, line);
    }
    return all->count - first;
}

// "// 256 threads in a block, 16 blocks have work" -> "256 x 16", "... along rows, 2 launches"
// -> "2 launches"; NULL = it says neither.
static const char *launch_of(const char *line) {
    static const char in_block[] = " threads in a block, ", work[] = " blocks have work",
                      along[] = " along rows, ";
    const char *s = until(line, "\n"), *at = strstr(s, along);
    if (at) return at + strlen(along);
    at = strstr(s, in_block);
    const char *end = at ? strstr(at, work) : NULL;
    if (!end) return NULL;
    at += strlen(in_block);
    return join("%s x %.*s%s", until(s + 3, " "), (int)(end - at), at, end + strlen(work));
}

// Texts for a GPU are of these kernels, in order, where there are as many; else lists of
// tensors share them. How many texts.
static size_t read_cuda(kernel *k, size_t count, const char *s) {
    const char *line;
    size_t n, texts = 0, i = 0;
    for (const char *t = s; (t = strstr(t, "\n// kernel")) != NULL; t++) texts++;
    while (texts == count && next_line(&s, &line, &n)) {
        i += starts(line, "// kernel");
        if (i && starts(line, "// ") && !k[i - 1].gpu) k[i - 1].gpu = launch_of(line);
    }
    return texts;
}

// The comment that ends before `at`, as one line; NULL = there is none.
static char *comment_before(const char *begin, const char *at) {
    const char *line = at;
    text t = {0};
    while (line > begin) {
        const char *above = line - 1;
        while (above > begin && above[-1] != '\n') above--;
        if (!starts(above, "// ")) break;
        line = above;
    }
    for (; line < at; line += strcspn(line, "\n") + 1)
        put(&t, "%s%s", t.size ? " " : "", until(line + 3, "\n"));
    return t.at;
}

// What the comment above its function in golden.c says of a program, or that in its graph.
static char *said_of(const char *program, const char *golden, const char *programs) {
    const char *at = strstr(programs, join("\nstatic void run_%s(", program));
    const char *input = strstr(golden, "\n# ");
    char *s = at ? comment_before(programs, at + 1) : input ? until(input + 3, "\n") : NULL;
    if (!s) return NULL;
    if (s[1] != 0 && !isupper((unsigned char)s[1])) *s = (char)tolower((unsigned char)*s);
    if (ends(s, ".")) s[strlen(s) - 1] = 0;
    return s;
}

static void add_program(kernels *all, const char *root, const char *path,
                        const char *programs) {
    const char *name = until(path + strlen(GOLDENS) + 1, ".");
    const char *s = read_file(join("%s/%s", root, path), NULL);
    const char *cuda = read_file(join("%s/%s/%s.cu", root, GOLDENS, name), NULL);
    const char *said = s ? said_of(name, s, programs) : NULL;
    size_t count = s ? read_golden(all, name, s) : 0, texts = 0;
    if (cuda) texts = read_cuda(all->at + all->count - count, count, cuda);
    if (!said) {
        fail(path, 1, "nothing says what it shows", KERNELS " is to tell",
             "a comment above its function in golden.c, or a line with # in its graph");
        return;
    }
    put(&all->programs, "| [%s](%s.tc) | %s | %u", name, name, said, (unsigned)count);
    if (texts && texts != count)
        put(&all->programs, "; [%u for lists](%s.cu)", (unsigned)texts, name);
    put(&all->programs, " |\n");
}

// ---- the page ----

// Items of a list, equal ones beside each other once, as "3 x it"; the first `most` of them.
static void put_list(text *t, const list *l, size_t most) {
    for (size_t i = 0, next = 0, shown = 0; i < l->count; i = next) {
        while (next < l->count && strcmp(l->at[next], l->at[i]) == 0) next++;
        if (shown++ == most) {
            put(t, " ...");
            return;
        }
        put(t, i ? ", " : "");
        if (next > i + 1) put(t, "%u x ", (unsigned)(next - i));
        put(t, "%s", l->at[i]);
    }
}

static void put_kernel(text *t, const kernel *k) {
    put(t, "| [%s %s](%s.tc) | %s | ", k->program, k->number, k->program, k->space);
    put_list(t, &k->ops, OPS_SHOWN);
    put(t, k->ops.count ? " | " : "copies | ");
    put_list(t, &k->reads, BUFFERS_SHOWN);
    put(t, " -> ");
    put_list(t, &k->writes, BUFFERS_SHOWN);
    put(t, k->holds.count ? "; holds " : "");
    put_list(t, &k->holds, BUFFERS_SHOWN);
    put(t, k->gpu ? " | [%s](%s.cu) |\n" : " | |\n", k->gpu, k->program);
}

static void put_kind(text *t, const kernels *all, const char *kind, const char *title) {
    put(t, "\n## %s\n\n| kernel | %s | computes | memory | on a GPU, threads x blocks |\n",
        title, strcmp(kind, "contraction") ? "rows x columns" : "rows x columns x depth");
    put(t, "| --- | --- | --- | --- | --- |\n");
    for (size_t i = 0; i < all->count; i++)
        if (strcmp(all->at[i].kind, kind) == 0) put_kernel(t, &all->at[i]);
}

static void make_kernels(const char *root, text *t) {
    kernels all = {0};
    list files = {0};
    const char *programs = read_file(join("%s/%s/golden.c", root, GOLDENS), NULL);
    walk(&files, root, GOLDENS);
    for (size_t i = 0; i < files.count; i++)
        if (ends(files.at[i], ".tc") && programs)
            add_program(&all, root, files.at[i], programs);
    put(t,
        "# Kernels\n\n"
        "What becomes of the programs that the golden tests pin, read off their files by "
        "`./build.sh gen`.\nA `.tc` holds trace, graph and kernels as lists (gen/README.md "
        "has one in all stages), for some the C;\na `.cu` the CUDA of its kernels. Ops are "
        "named once, in the order of the list.\n\n## Programs\n\n"
        "| program | what it shows | kernels |\n| --- | --- | --- |\n");
    put_raw(t, all.programs.at, all.programs.size);
    put_kind(t, &all, "pointwise", "Pointwise");
    put_kind(t, &all, "reduction", "Reductions");
    put_kind(t, &all, "contraction", "Products");
    put_kind(t, &all, "opaque op", "Ops over whole rows");
}

static void write_kernels(const char *root) {
    text t = {0};
    make_kernels(root, &t);
    write_file(join("%s/%s", root, KERNELS), &t);
}

static void compare_kernels(const char *root) {
    const char *old = read_file(join("%s/%s", root, KERNELS), NULL);
    text t = {0};
    make_kernels(root, &t);
    if (!old || strcmp(old, t.at) != 0)
        fail(KERNELS, 1, "stale", "the goldens say something else", "./build.sh gen");
}
