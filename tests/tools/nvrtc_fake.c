// NVRTC for machines without a GPU: CUDA text becomes a shared object of the host, which
// cuda_fake.c executes. Few things are rewritten, line by line at their places:
//
//     a function of the prelude whose body is PTX      calls its host version: see `helpers`
//     __shared__ T x[4];                               T (&x)[4], memory of the block
//     extern __shared__ char x[];                      char *const x, the dynamic one
//
// and a table of the kernels stands at the end. The rest is the C++ compiler's: $CXX, else c++,
// g++ or clang++. Build: cc -shared -fPIC -std=c99 -D_GNU_SOURCE
// -DEMULATE_FOLDER='"/path/of/tests/tools"'.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- what has a host version: emu_NAME in cuda_emulate.h

typedef enum when { IF_ASM, ALWAYS } when;

static const struct {
    const char *name; // without tc_
    when when;
} helpers[] = {
    // halves
    {"of_f16", IF_ASM},
    {"bits_f16", IF_ASM},
    {"of_bf16", IF_ASM},
    {"bits_bf16", IF_ASM},
    {"pack_f16", IF_ASM},
    {"cvt_f8e4m3", IF_ASM},
    {"cvt_f8e5m2", IF_ASM},
    {"wide_f8e4m3", IF_ASM},
    {"pack_bf16", IF_ASM},
    {"bits_tf32", IF_ASM},
    // approximations
    {"larger_f32", IF_ASM},
    {"smaller_f32", IF_ASM},
    {"rcp", IF_ASM},
    {"rcp_flush", IF_ASM},
    {"ex2", IF_ASM},
    {"lg2", IF_ASM},
    {"tanh_bf16", IF_ASM},
    {"div_half", IF_ASM},
    {"rcp_half", IF_ASM},
    {"sqrt_half", IF_ASM},
    {"rsqrt_half", IF_ASM},
    // memory with hints, order
    {"load_words", IF_ASM},
    {"load_words_once", IF_ASM},
    {"store", IF_ASM},
    {"load_acquire", IF_ASM},
    {"store_release", IF_ASM},
    {"add_release", IF_ASM},
    // waiting
    {"grid_wait", IF_ASM},
    {"grid_launch", IF_ASM},
    {"bar_sync", IF_ASM},
    {"bar_any", IF_ASM},
    {"bar_arrive", IF_ASM},
    // clusters: rank; arrive, wait; (address, rank)
    {"cluster_rank", IF_ASM},
    {"cluster_size", IF_ASM},
    {"cluster_arrive", IF_ASM},
    {"cluster_begun", IF_ASM},
    {"cluster_wait", IF_ASM},
    {"cluster_sync", IF_ASM},
    {"cluster_map", IF_ASM},
    {"cluster_load", IF_ASM},
    {"cluster_store", IF_ASM},
    // launches come one after the other
    {"reads", IF_ASM},
    {"forget", IF_ASM},
    {"begin", IF_ASM},
    {"begin_beside", IF_ASM},
    {"follow", IF_ASM},
    // copies to shared memory, which happen when they are waited for
    {"copy_async16", IF_ASM},
    {"copy_async16_of", IF_ASM},
    {"copy_async8", IF_ASM},
    {"copy_async8_if", IF_ASM},
    {"copy_async4", IF_ASM},
    {"copy_async4_if", IF_ASM},
    {"copy_commit", IF_ASM},
    {"copy_wait", IF_ASM},
    {"copy_wait_all", IF_ASM},
    // semaphores; boxes of tensors, which come when they are waited for
    {"semaphore_set", IF_ASM},
    {"semaphores_are_set", IF_ASM},
    {"semaphore_expect", IF_ASM},
    {"semaphore_arrive", IF_ASM},
    {"semaphore_arrive_of", IF_ASM},
    {"semaphore_wait", IF_ASM},
    {"map_load", IF_ASM},
    {"map_load_to", IF_ASM},
    {"window_load", IF_ASM},
    {"registers_give", IF_ASM},
    {"registers_take", IF_ASM},
    // matrices: d += a * b; rows of 16 bytes
    {"mma_f16", IF_ASM},
    {"mma_bf16", IF_ASM},
    {"mma_tf32", IF_ASM},
    {"proxy_fence", IF_ASM},
    {"align_shared", ALWAYS},
    {"matrix_place", ALWAYS},
    {"matrix_begin", IF_ASM},
    {"matrix_commit", IF_ASM},
    {"matrix_wait", IF_ASM},
    {"matrix_keep", IF_ASM},
    {"wgmma", ALWAYS},
    {"wgmma_f8", ALWAYS},
    {"wgmma_held", ALWAYS},
    {"wgmma_words", ALWAYS},
    {"ldmatrix1", IF_ASM},
    {"ldmatrix2", IF_ASM},
    {"ldmatrix4", IF_ASM},
    {"ldmatrix1_trans", IF_ASM},
    {"ldmatrix2_trans", IF_ASM},
    {"ldmatrix4_trans", IF_ASM},
    // casts that saturate on a GPU
    {"cast_f32_i32", ALWAYS},
    {"cast_f64_i32", ALWAYS},
    {"cast_f32_i64", ALWAYS},
    {"cast_f64_i64", ALWAYS},
};

enum { HELPERS = sizeof helpers / sizeof *helpers };

// As NVRTC 13.0 has them.
static const int archs[] = {75, 80, 86, 87, 88, 89, 90, 100, 103, 110, 120, 121};
enum { ARCHS = sizeof archs / sizeof *archs };

static const char *const options_known[] = {"-std=",
                                            "--std=",
                                            "-default-device",
                                            "--device-as-default-execution-space",
                                            "-lineinfo",
                                            "-diag-suppress=",
                                            "--diag-suppress=",
                                            "--minimal",
                                            "-minimal",
                                            "--no-source-include",
                                            "-no-source-include",
                                            "--no-cache",
                                            "-no-cache",
                                            "-fmad=",
                                            "--fmad=",
                                            "-Xptxas=",
                                            "--ptxas-options=",
                                            "-D",
                                            "-w",
                                            "--restrict",
                                            "-G"};

enum { INVALID_OPTION = 5, COMPILATION = 6, INVALID_PROGRAM = 4, INVALID_INPUT = 3 };

// ---- text

typedef struct text {
    char *at; // of malloc, ends in 0; NULL = empty
    size_t size, room;
} text;

static void put_raw(text *t, const char *s, size_t n) {
    if (t->size + n + 1 > t->room) {
        t->room = 2 * (t->size + n + 1);
        t->at = (char *)realloc(t->at, t->room);
        if (!t->at) abort();
    }
    memcpy(t->at + t->size, s, n);
    t->at[t->size += n] = 0;
}

__attribute__((format(printf, 2, 3))) static void put(text *t, const char *format, ...) {
    char line[4000];
    va_list list;
    va_start(list, format);
    int n = vsnprintf(line, sizeof line, format, list);
    va_end(list);
    put_raw(t, line, n < (int)sizeof line ? (size_t)n : sizeof line - 1);
}

typedef struct program {
    char *source, *name;
    text log, code;
    int compiled;
} program;

// ---- tokens: words, and single characters; comments, strings and lines of # are passed over

typedef struct token {
    const char *at;
    size_t size;
} token;

static const char *skip_quoted(const char *s) {
    char quote = *s++;
    while (*s && *s != quote) s += *s == '\\' && s[1] ? 2 : 1;
    return *s ? s + 1 : s;
}

// A line of the preprocessor, with those it goes on in.
static const char *skip_line(const char *s) {
    while (*s && *s != '\n') s += *s == '\\' && s[1] ? 2 : 1;
    return s;
}

static const char *skip_blank(const char *s) {
    for (;;) {
        if (isspace((unsigned char)*s))
            s++;
        else if (s[0] == '/' && s[1] == '/')
            s = skip_line(s);
        else if (s[0] == '/' && s[1] == '*')
            s = strstr(s + 2, "*/") ? strstr(s + 2, "*/") + 2 : s + strlen(s);
        else if (*s == '#')
            s = skip_line(s);
        else
            return s;
    }
}

static int is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

static token token_at(const char *s) {
    token t = {skip_blank(s), 0};
    if (*t.at == '"' || *t.at == '\'')
        t.size = (size_t)(skip_quoted(t.at) - t.at);
    else if (is_word(*t.at))
        while (is_word(t.at[t.size])) t.size++;
    else
        t.size = *t.at != 0;
    return t;
}

static int is(token t, const char *word) {
    return t.size == strlen(word) && !memcmp(t.at, word, t.size);
}

typedef struct tokens {
    token *at; // of malloc
    int count, room;
} tokens;

static tokens tokens_of(const char *s) {
    tokens all = {NULL, 0, 0};
    for (;;) {
        token t = token_at(s);
        if (all.count == all.room) {
            all.room = all.room ? 2 * all.room : 1024;
            all.at = (token *)realloc(all.at, (size_t)all.room * sizeof *all.at);
            if (!all.at) abort();
        }
        all.at[all.count] = t; // the last one is empty
        if (!t.size) return all;
        all.count++;
        s = t.at + t.size;
    }
}

// ---- rewriting

typedef struct rewriting {
    program *p;
    tokens t;
    const char *copied; // up to here in the source
    text out, kernels;  // kernels: rows of their table
    int failed, shared; // number of shared variables
} rewriting;

static int line_of(const rewriting *r, const char *at) {
    int line = 1;
    for (const char *s = r->p->source; s < at; s++) line += *s == '\n';
    return line;
}

static void copy_to(rewriting *r, const char *end) {
    put_raw(&r->out, r->copied, (size_t)(end - r->copied));
    r->copied = end;
}

// Leaves out what is up to `end`, but for the ends of its lines.
static void drop_to(rewriting *r, const char *end) {
    for (; r->copied < end; r->copied++)
        if (*r->copied == '\n') put_raw(&r->out, "\n", 1);
}

static int opens(token t) { return is(t, "(") || is(t, "[") || is(t, "{"); }
static int closes(token t) { return is(t, ")") || is(t, "]") || is(t, "}"); }

// The token that closes the one at i, forwards or backwards; -1 = none.
static int partner(const tokens *t, int i) {
    int depth = 0, step = opens(t->at[i]) ? 1 : -1;
    for (; i >= 0 && i < t->count; i += step) {
        depth += opens(t->at[i]) - closes(t->at[i]);
        if (!depth) return i;
    }
    return -1;
}

// The name of the function whose body opens at i, with tc_; the place of its parameters.
static int function_at(const tokens *t, int i, char name[100], int *parameters) {
    int k = i - 1;
    while (k > 0 && (is(t->at[k], "const") || is(t->at[k], "noexcept"))) k--;
    if (k < 1 || !is(t->at[k], ")")) return 0;
    *parameters = k = partner(t, k);
    if (--k < 0) return 0;
    if (is(t->at[k], ")") && k >= 3 && is(t->at[k - 3], "TC_N")) {
        snprintf(name, 100, "tc_%.*s", (int)t->at[k - 1].size, t->at[k - 1].at);
        return 1;
    }
    snprintf(name, 100, "%.*s", (int)t->at[k].size, t->at[k].at);
    return is_word(*t->at[k].at);
}

static int find(const tokens *t, int from, int to, const char *word) {
    while (from < to && !is(t->at[from], word)) from++;
    return from < to ? from : -1;
}

static const char *find_asm(const tokens *t, int from, int to) {
    static const char *const words[] = {"asm", "__asm__", "__asm"};
    for (int i = 0; i < 3; i++) {
        int k = find(t, from, to, words[i]);
        if (k >= 0) return t->at[k].at;
    }
    return NULL;
}

static int helper_of(const char *name) {
    for (int i = 0; i < HELPERS; i++)
        if (!strncmp(name, "tc_", 3) && !strcmp(name + 3, helpers[i].name)) return i;
    return -1;
}

// Appends the names of the parameters in (from, to), of templates only those of values.
static void put_arguments(rewriting *r, int from, int to, text *out) {
    const tokens *t = &r->t;
    int depth = 0, value = 1;
    token name = {NULL, 0};
    for (int i = from + 1; i <= to; i++) {
        token k = t->at[i];
        int end = i == to || (!depth && is(k, ","));
        if (!end) depth += opens(k) - closes(k) + is(k, "<") - is(k, ">");
        if (is(k, "class") || is(k, "typename")) value = 0;
        if (end && name.size && value && !is(name, "void"))
            put(out, "%s%.*s", out->size ? ", " : "", (int)name.size, name.at);
        if (end) name.size = 0, value = 1;
        // The name is the last word outside of the sizes of arrays, and before a default.
        if (is(k, "[") || is(k, "=")) {
            while (i + 1 < to && !(!depth && is(t->at[i + 1], ","))) {
                i++;
                depth += opens(t->at[i]) - closes(t->at[i]);
            }
        } else if (!end && is_word(*k.at) && !isdigit((unsigned char)*k.at))
            name = k;
    }
}

// The body becomes a call of the host version, with the values of template parameters first;
// the helper learns the line it is called in.
static void replace_body(rewriting *r, int helper, int declared, int parameters, int open,
                         int close) {
    const tokens *t = &r->t;
    text arguments = {NULL, 0, 0};
    if (is(t->at[declared], "template")) {
        int depth = 0, angle = declared + 1;
        do depth += is(t->at[angle], "<") - is(t->at[angle], ">");
        while (depth && ++angle < open);
        put_arguments(r, declared + 1, angle, &arguments);
    }
    int end = partner(t, parameters), none = end == parameters + 1;
    put_arguments(r, parameters, end, &arguments);
    if (end == parameters + 2 && is(t->at[end - 1], "void")) {
        copy_to(r, t->at[end - 1].at);
        r->copied = t->at[end].at;
        none = 1;
    }
    copy_to(r, t->at[end].at);
    put(&r->out, "%sint emu_line = __builtin_LINE()", none ? "" : ", ");
    copy_to(r, t->at[open].at + 1);
    put(&r->out, " emu_at = emu_line; return emu_%s(%s); ", helpers[helper].name,
        arguments.size ? arguments.at : "");
    drop_to(r, t->at[close].at);
    free(arguments.at);
}

static void complain(rewriting *r, const char *at, const char *what, const char *fix) {
    put(&r->p->log, "%s(%d): error: %s\n    %s\n", r->p->name, line_of(r, at), what, fix);
    r->failed = 1;
}

// __shared__ T x[2], y; at i: each is a reference to memory of the block.
static void rewrite_shared(rewriting *r, int i, int dynamic, int end) {
    const tokens *t = &r->t;
    int depth = 0, first = i + 1;
    token name[16];
    int names = 0;
    copy_to(r, t->at[i - dynamic].at);
    if (dynamic) { // extern __shared__ __align__(16) char x[];
        int open = find(t, i, end, "[");
        const char *type = t->at[first].at;
        if (is(t->at[first], "__align__") || is(t->at[first], "alignas"))
            type = t->at[partner(t, first + 1) + 1].at;
        token x = t->at[open > 0 ? open - 1 : end - 1];
        put(&r->out, "%.*s*const %.*s = (%.*s*)emu_dynamic();", (int)(x.at - type), type,
            (int)x.size, x.at, (int)(x.at - type), type);
        drop_to(r, t->at[end].at + 1);
        return;
    }
    token align = {NULL, 0};
    if (is(t->at[first], "__align__")) { // of the variable, not of its elements
        align = t->at[first + 2];
        first = partner(t, first + 1) + 1;
    }
    for (int k = first; k <= end; k++) {
        token at = t->at[k];
        int is_end = k == end || (!depth && (is(at, ",") || is(at, "[")));
        if (is_end && is_word(*t->at[k - 1].at) && names < 16) name[names++] = t->at[k - 1];
        depth += opens(at) - closes(at) + is(at, "<") - is(at, ">");
    }
    r->copied = t->at[first].at;
    put(&r->out, "typedef ");
    for (int n = 0; n < names; n++) {
        copy_to(r, name[n].at);
        put(&r->out, "emu_type%d_", r->shared);
    }
    copy_to(r, t->at[end].at + 1);
    for (int n = 0; n < names; n++) {
        int size = (int)name[n].size;
        const char *x = name[n].at;
        put(&r->out,
            " static int emu_slot%d_%.*s; emu_type%d_%.*s &%.*s = "
            "emu_shared<emu_type%d_%.*s>(&emu_slot%d_%.*s, \"%.*s\"%s%.*s);",
            r->shared, size, x, r->shared, size, x, size, x, r->shared, size, x, r->shared,
            size, x, size, x, align.size ? ", " : "", (int)align.size, align.at);
    }
    r->shared++;
}

// The body of a function, between two braces.
static void rewrite_body(rewriting *r, int open, int close) {
    const tokens *t = &r->t;
    for (int i = open; i < close; i++) {
        if (!is(t->at[i], "__shared__")) continue;
        int end = find(t, i, close, ";"), dynamic = is(t->at[i - 1], "extern");
        if (end < 0) return;
        rewrite_shared(r, i, dynamic, end);
        i = end;
    }
}

// A row of the table of kernels: extern "C" __global__ void __launch_bounds__(N) name(...).
static void note_kernel(rewriting *r, int declared, int parameters, const char *name) {
    const tokens *t = &r->t;
    int bounds = find(t, declared, parameters, "__launch_bounds__"), end;
    if (find(t, declared, parameters, "__global__") < 0 ||
        find(t, declared, parameters, "\"C\"") < 0)
        return;
    put(&r->kernels, "    {\"%s\", emu_entry<%s>::call, ", name, name);
    if (bounds >= 0) {
        const char *from = t->at[bounds + 2].at;
        for (end = bounds + 2; !is(t->at[end], ",") && !is(t->at[end], ")");) end++;
        put(&r->kernels, "(%.*s)", (int)(t->at[end].at - from), from);
    } else
        put(&r->kernels, "0");
    put(&r->kernels, ", emu_entry<%s>::params, emu_entry<%s>::size},\n", name, name);
}

static void rewrite_function(rewriting *r, int declared, int open, int close) {
    const tokens *t = &r->t;
    char name[100], what[200];
    int parameters = 0;
    if (!function_at(t, open, name, &parameters)) return;
    const char *ptx = find_asm(t, open, close);
    int helper = helper_of(name);
    note_kernel(r, declared, parameters, name);
    if (helper >= 0 && (ptx || helpers[helper].when == ALWAYS)) {
        replace_body(r, helper, declared, parameters, open, close);
        return;
    }
    snprintf(what, sizeof what, "PTX in %s, which the emulator has no host version of",
             name);
    if (ptx)
        complain(r, ptx, what,
                 "put it into a helper of the prelude, and add a host version to "
                 "tests/tools/cuda_emulate.h and a row to tests/tools/nvrtc_fake.c");
    rewrite_body(r, open, close);
}

// What stands outside of functions: scopes are entered, functions are not.
static void rewrite(rewriting *r) {
    const tokens *t = &r->t;
    char name[100];
    for (int i = 0, declared = 0, parameters; i < t->count; i++) {
        if (is(t->at[i], ";") || is(t->at[i], "}")) declared = i + 1;
        if (is(t->at[i], "__shared__")) {
            int end = find(t, i, t->count, ";");
            int open = find(t, i, end, "[");
            if (open < 0 || !is(t->at[i - 1], "extern")) {
                complain(r, t->at[i].at, "a __shared__ variable outside of functions",
                         "declare it in the kernel");
                return;
            }
            copy_to(r, t->at[i - 1].at);
            put(&r->out, "static emu_dynamic_array<");
            r->copied = t->at[i + 1].at;
            if (is(t->at[i + 1], "__align__")) r->copied = t->at[partner(t, i + 2) + 1].at;
            copy_to(r, t->at[open - 1].at);
            put(&r->out, "> %.*s", (int)t->at[open - 1].size, t->at[open - 1].at);
            drop_to(r, t->at[end].at);
            i = end - 1;
        }
        if (!is(t->at[i], "{")) continue;
        if (function_at(t, i, name, &parameters)) {
            int close = partner(t, i);
            if (close < 0) return; // the compiler will say what is wrong
            rewrite_function(r, declared, i, close);
            i = close;
        }
        declared = i + 1;
    }
}

// Lines of # are not looked into, but must have no PTX in a macro.
static void check_macros(rewriting *r) {
    for (const char *s = r->p->source; (s = strstr(s, "#define")) != NULL;) {
        const char *end = skip_line(s);
        for (const char *p = s; p < end; p++)
            if (!strncmp(p, "asm", 3) && !is_word(p[-1]) && !is_word(p[3]))
                complain(r, p, "PTX in a macro", "put it into a helper of the prelude");
        s = end;
    }
}

// The C++ of a program in *out: 1, or 0 with the reason in the log.
static int rewrite_program(program *p, text *out) {
    rewriting r;
    memset(&r, 0, sizeof r);
    r.p = p;
    r.t = tokens_of(p->source);
    r.copied = p->source;
    put(&r.out, "#include \"cuda_emulate.h\"\n#line 1 \"%s\"\n", p->name);
    check_macros(&r);
    rewrite(&r);
    copy_to(&r, p->source + strlen(p->source));
    put(&r.out, "\n#line 1 \"the table of kernels\"\n"
                "static const emu_kernel emu_kernels[] = {\n");
    put_raw(&r.out, r.kernels.at ? r.kernels.at : "", r.kernels.size);
    put(&r.out, "    {nullptr, nullptr, 0, 0, nullptr}};\n"
                "extern \"C\" __attribute__((visibility(\"default\"))) const emu_image "
                "emu_image_of_text = {EMU_VERSION, __CUDA_ARCH__ / 10, &emu_self, &emu,\n"
                "    emu_kernels, (int)(sizeof emu_kernels / sizeof *emu_kernels) - 1};\n");
    free(r.t.at);
    free(r.kernels.at);
    *out = r.out;
    return !r.failed;
}

// ---- compiling

static void read_file(const char *folder, const char *name, text *out) {
    char path[300], part[4096];
    size_t n;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "rb");
    while (f && (n = fread(part, 1, sizeof part, f)) > 0) put_raw(out, part, n);
    if (f) fclose(f);
}

static int write_file(const char *folder, const char *name, const text *t) {
    char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    size_t n = f ? fwrite(t->at, 1, t->size, f) : 0;
    return f && fclose(f) == 0 && n == t->size;
}

// The checks of -fsanitize call functions of cuda_emulate.h, so no library is linked for them. -Og takes two thirds
// of the time of -O1, which texts that run once do not give back; EMULATE_LEVEL is for tests of others. What the
// compiler says would have each program compile a text again, so it says nothing of ABIs.
#define COMPILE_FLAGS                                                                      \
    "-std=c++17 ${EMULATE_LEVEL:--Og} -w -Wno-psabi -fPIC -fvisibility=hidden "            \
    "-ffp-contract=off "                                                                   \
    "-fno-strict-aliasing -fwrapv -fno-exceptions -fno-rtti -fno-threadsafe-statics "      \
    "-fno-math-errno -fno-sanitize-recover=all "                                           \
    "-fsanitize=alignment,bounds,float-cast-overflow,shift-exponent "

static const char compile_command[] =
    "cd '%s' && cxx=${CXX:-$(command -v c++ || command -v g++ || command -v clang++)}\n"
    "[ -n \"$cxx\" ] || { echo 'no C++ compiler: install g++ or clang++, or set CXX'; exit 1; }\n"
    "%sLC_ALL=C $cxx -shared " COMPILE_FLAGS
    "%s %s -I'%s' text.cpp -o image.so -nodefaultlibs -lm -lc\n";

// Where EMULATE_IMAGES, a folder that tests of one suite share, has or gets what is made of a text, or of the header alone
// (NULL), by its compiler, words and headers; 0 = nowhere.
static int kept_path(const text *cpp, const char *flags, char path[260]) {
    static const char *const headers[] = {"cuda_emulate.h", "cuda_emulate_image.h"};
    const char *images = getenv("EMULATE_IMAGES"), *cxx = getenv("CXX");
    const char *level = getenv("EMULATE_LEVEL");
    unsigned long long h = 0xcbf29ce484222325u;
    text t = {NULL, 0, 0};
    if (!images) return 0;
    put(&t, "%s\n%s\n%s\n", cxx ? cxx : "", level ? level : "", flags);
    put_raw(&t, compile_command, sizeof compile_command);
    if (cpp) put_raw(&t, cpp->at, cpp->size); // whole: `put` has a line
    for (int i = 0; i < 2; i++) read_file(EMULATE_FOLDER, headers[i], &t);
    for (size_t i = 0; i < t.size; i++) h = (h ^ (unsigned char)t.at[i]) * 0x100000001b3u;
    snprintf(path, 260, "%s/%016llx%zx%s", images, h, t.size, cpp ? ".so" : "");
    free(t.at);
    return 1;
}

// The header takes most compilers' time; g++ reads what it made of it before. Others pass over it.
static void use_precompiled(text *command, text *option, const char *flags) {
    static const char make[] =
        "[ -s '%s' ] || { $cxx " COMPILE_FLAGS
        "%s -x c++-header %s/cuda_emulate.h -o '%s'.$$ && mv '%s'.$$ '%s'; }\n";
    const char *cxx = getenv("CXX");
    char folder[260], path[300];
    if ((cxx && strstr(cxx, "clang")) || !kept_path(NULL, flags, folder)) return;
    snprintf(path, sizeof path, "%s/cuda_emulate.h.gch", folder);
    put(command, "mkdir -p '%s'\n", folder);
    put(command, make, path, flags, EMULATE_FOLDER, path, path, path);
    put(option, "-I'%s'", folder);
}

static int compile_text(program *p, const text *cpp, const char *flags) {
    char folder[] = "/tmp/tc-nvrtc-XXXXXX";
    text command = {NULL, 0, 0}, before = {NULL, 0, 0}, option = {NULL, 0, 0};
    if (!mkdtemp(folder)) return 0;
    put_raw(&before, "", 0), put_raw(&option, "", 0);
    use_precompiled(&before, &option, flags);
    put(&command, "(");
    put(&command, compile_command, folder, before.at, flags, option.at, EMULATE_FOLDER);
    free(before.at), free(option.at);
    put(&command, ") >'%s/log' 2>&1", folder);
    int ok = write_file(folder, "text.cpp", cpp) && system(command.at) == 0;
    read_file(folder, "log", &p->log);
    if (ok) read_file(folder, "image.so", &p->code);
    command.size = 0;
    put(&command, "rm -rf '%s'", folder);
    if (!getenv("EMULATE_KEEP") && system(command.at)) ok = 0;
    if (getenv("EMULATE_KEEP")) fprintf(stderr, "%s: %s\n", p->name, folder);
    free(command.at);
    return ok && p->code.size > 0;
}

static int compile(program *p, const text *cpp, const char *flags) {
    char path[260], part[280];
    int keeps = !getenv("EMULATE_KEEP") && kept_path(cpp, flags, path);
    if (keeps) read_file("", path, &p->code);
    if (p->code.size) return 1;
    if (!compile_text(p, cpp, flags)) return 0;
    if (!keeps || p->log.size) return 1;
    snprintf(part, sizeof part, "%s.%d", path, (int)getpid());
    if (!write_file("", part, &p->code) || rename(part, path)) remove(part);
    return 1;
}

// "-arch=sm_90a" -> 900; 0 = not known.
static int arch_of(const char *option) {
    const char *digits = strpbrk(option, "0123456789");
    int arch = digits ? atoi(digits) : 0;
    for (int i = 0; i < ARCHS; i++)
        if (archs[i] == arch) return 10 * arch;
    return 0;
}

static int is_known(const char *option) {
    for (size_t i = 0; i < sizeof options_known / sizeof *options_known; i++)
        if (!strncmp(option, options_known[i], strlen(options_known[i]))) return 1;
    return 0;
}

// Flags of the C++ compiler for the options.
static int read_options(program *p, int count, const char *const *options, text *flags) {
    int arch = 750;
    for (int i = 0; i < count; i++) {
        const char *o = options[i];
        if (!strncmp(o, "-arch=", 6) || !strncmp(o, "--gpu-architecture=", 19))
            arch = arch_of(o);
        else if (!is_known(o)) {
            put(&p->log, "nvrtc: error: unrecognized option %s found\n", o);
            return INVALID_OPTION;
        }
        if (!strncmp(o, "-D", 2)) put(flags, "'%s' ", o);
    }
    if (!arch) put(&p->log, "nvrtc: error: invalid value for --gpu-architecture (-arch)\n");
    put(flags, "-D__CUDA_ARCH__=%d -D__CUDACC_RTC__ -D__CUDACC__", arch);
    return arch ? 0 : INVALID_OPTION;
}

// ---- the library

int nvrtcVersion(int *major, int *minor) {
    *major = 13;
    *minor = 0;
    return 0;
}

int nvrtcGetNumSupportedArchs(int *count) {
    *count = ARCHS;
    return 0;
}

int nvrtcGetSupportedArchs(int *out) {
    memcpy(out, archs, sizeof archs);
    return 0;
}

int nvrtcCreateProgram(program **out, const char *source, const char *name, int headers,
                       const char *const *header, const char *const *header_name) {
    (void)header, (void)header_name;
    if (!source || headers) return INVALID_INPUT;
    *out = (program *)calloc(1, sizeof **out);
    if (!*out) abort();
    (*out)->source = strdup(source);
    (*out)->name = strdup(name ? name : "default_program");
    return 0;
}

int nvrtcCompileProgram(program *p, int count, const char *const *options) {
    text cpp = {NULL, 0, 0}, flags = {NULL, 0, 0};
    if (!p) return INVALID_PROGRAM;
    p->log.size = p->code.size = 0;
    int code = read_options(p, count, options, &flags);
    if (!code)
        code = rewrite_program(p, &cpp) && compile(p, &cpp, flags.at) ? 0 : COMPILATION;
    p->compiled = !code;
    free(cpp.at);
    free(flags.at);
    return code;
}

// A result as a text, with its 0.
static int give_text(const char *s, size_t n, char *out) {
    memcpy(out, s, n);
    out[n] = 0;
    return 0;
}

int nvrtcGetProgramLogSize(program *p, size_t *size) {
    *size = p->log.size + 1;
    return 0;
}

int nvrtcGetProgramLog(program *p, char *log) {
    return give_text(p->log.size ? p->log.at : "", p->log.size, log);
}

int nvrtcGetCUBINSize(program *p, size_t *size) {
    *size = p->compiled ? p->code.size : 0;
    return p->compiled ? 0 : INVALID_PROGRAM;
}

int nvrtcGetCUBIN(program *p, char *cubin) {
    if (!p->compiled) return INVALID_PROGRAM;
    memcpy(cubin, p->code.at, p->code.size);
    return 0;
}

// PTX is the same code, with the 0 at its end.
int nvrtcGetPTXSize(program *p, size_t *size) {
    *size = p->compiled ? p->code.size + 1 : 0;
    return p->compiled ? 0 : INVALID_PROGRAM;
}

int nvrtcGetPTX(program *p, char *ptx) {
    if (!p->compiled) return INVALID_PROGRAM;
    return give_text(p->code.at, p->code.size, ptx);
}

int nvrtcDestroyProgram(program **p) {
    free((*p)->source);
    free((*p)->name);
    free((*p)->log.at);
    free((*p)->code.at);
    free(*p);
    *p = NULL;
    return 0;
}
