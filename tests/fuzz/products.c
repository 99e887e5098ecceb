// Random products, convolutions, pooling and attention: operands that are permuted, sliced, turned, in parts, repeated or
// computed, of sizes around those of vectors, blocks and slices; values for rows, columns, channels and elements beside
// them; sums over them, several results of one sum, writes into views, products of products, gradients. Run eagerly, as
// regions in the interpreter, and compiled for several numbers of threads and kinds of CPUs: every result has the
// same bits. And every result is what loops in plain C make of the same numbers (arrays.h): the same bits where they are
// promised, within a bound elsewhere. Gradients have the slope of differences along a direction.
//
// Programs come in batches of eight, which share a region: so compiling costs a second for eight. A batch runs twice with
// other numbers, or, each third, three times with other sizes: by a program for all sizes from the second time on.
//
// Some batches are for TC_NUMERICS_FAST: 3x3 convolutions that take fewer products, more of bf16, by AVX512-BF16 or AMX (on
// CPUs without it by tests/tools/amx.h), constants, now and then NaN, infinity and subnormal numbers. They are
// interpreted and compiled; results are within the bounds of arrays.h, gradients have their slopes.
//
//     products [SECONDS] [SEED] [--graphs N] [--from K] [--cpu PERCENT] [--fast PERCENT] [--only SEED] [--out FOLDER]
//
// PERCENT of batches are compiled; PERCENT are fast. A program that fails is shrunk and written as FOLDER/products_SEED.c, which needs only
// tcompile.h.
#include "tcompile.h"

#define TEST_NO_MAIN
#include "../harness.h"
#include "child.h"
#include "scenes.h"

#include <sys/mman.h>

enum { BATCH = 8, VISITS = 3 };
// Which sizes programs get at run time: those that were seen with a second value; some from the first on; all of them.
enum { SECOND_SIZES, MARKED_SIZES, ALL_SIZES };

// ---- variants ----
enum { EAGER, INTERPRETED, UNFUSED, THREADED, FIRST_COMPILED };
static const struct {
    const char *name, *backend, *isa;
    int threads, no_fusion;
} variants[] = {
    {"eager", "aot_eager", NULL, 1, 0},
    {"interpreted", "aot_eager", NULL, 1, 0},
    {"interpreted, no fusion", "aot_eager", NULL, 1, 1},
    {"interpreted, 3 threads", "aot_eager", NULL, 3, 0},
    {"compiled, 2 threads", "cpu", NULL, 2, 0},
    {"compiled for AVX2, 2 threads", "cpu", "avx2", 2, 0},
    {"compiled, 1 thread", "cpu", NULL, 1, 0},
    {"compiled for any CPU, 2 threads", "cpu", "baseline", 2, 0},
    {"compiled for AVX2, 1 thread", "cpu", "avx2", 1, 0},
    {"compiled, 3 threads", "cpu", NULL, 3, 0},
    {"compiled, no fusion", "cpu", NULL, 2, 1},
    {"compiled for AMX, 2 threads", "cpu", "avx512", 2, 0},
};
// Strict numerics have the same bits by AMX as by VNNI: tests/region/dots.c. So AMX is for fast ones alone.
enum {
    VARIANTS = COUNT(variants),
    IN_TILES = VARIANTS - 1,
    COMPILED = IN_TILES - FIRST_COMPILED
};

static tc_ctx *contexts[VARIANTS];

// The last warning; a kernel that does not compile is one, and a failure here.
static char warning[500];
static void keep_warning(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)channel;
    if (level < 1) return;
    const char *error = strstr(text, "error:");
    snprintf(warning, sizeof warning, "%.200s", error ? error : text);
    for (char *p = warning; *p; p++)
        if (*p == '\n') *p = ' ';
}

int test_use_tiles(tc_ctx *tc); // tests/tools/implementation.c

// Whose compiler puts tests/tools/amx.h before kernels; on a CPU without AVX-512 it is that of other kernels.
static tc_ctx *open_tiles(const tc_config *config) {
    const char *before = getenv("CC");
    char was[2000], cc[4000], folder[1024];
    if (!getcwd(folder, sizeof folder)) abort();
    snprintf(was, sizeof was, "%s", before ? before : "cc");
    snprintf(cc, sizeof cc, "%s -include %s/tests/tools/amx.h", was, folder);
    setenv("CC", cc, 1);
    tc_ctx *tc = tc_open(config);
    if (before)
        setenv("CC", was, 1);
    else
        unsetenv("CC");
    if (tc) test_use_tiles(tc);
    return tc;
}

static tc_ctx *context(int variant) {
    tc_config config = tc_config_default();
    if (contexts[variant]) return contexts[variant];
    config.backend = variants[variant].backend, config.isa = variants[variant].isa;
    config.threads = variants[variant].threads;
    config.no_fusion = variants[variant].no_fusion;
    config.no_disk_cache = 1, config.logger.log = keep_warning;
    contexts[variant] = variant == IN_TILES ? open_tiles(&config) : tc_open(&config);
    if (!contexts[variant]) abort();
    return contexts[variant];
}

static void close_contexts(void) {
    for (int i = 0; i < VARIANTS; i++) tc_close(contexts[i]), contexts[i] = NULL;
}

// ---- batches ----
typedef struct batch {
    recipe p[BATCH];
    int n, family, dynamic;
    int fast, late,
        wild; // TC_NUMERICS_FAST; halves are rounded where they are stored; NaN ... among numbers
} batch;

static int visits_of(const batch *b) { return b->family ? VISITS : 2; }

static machine machine_of(const batch *b, int i, int visit) {
    machine m;
    memset(&m, 0, sizeof m);
    m.p = &b->p[i], m.dynamic = b->dynamic == MARKED_SIZES;
    m.fast = b->fast, m.wild = b->wild;
    if (b->family)
        m.set = visit;
    else
        m.execution = visit;
    return m;
}

typedef struct verdict {
    int failed, variant, visit, which; // which program, -1 = any
    int value; // and its element, where one is wrong: what it must be
    int64_t at;
    double want, far;
    char text[900];
} verdict;

// What processes share.
typedef struct shared {
    uint64_t batch, graphs, compiled, fast, families, derived, slopes, kinks, exact, rough;
    verdict verdict;
} shared;
static shared *state;

static void blame(verdict *v, int variant, int visit, int which, const char *format, ...) {
    va_list list;
    int n =
        snprintf(v->text, sizeof v->text, "%s, visit %d: ", variants[variant].name, visit);
    v->failed = 1, v->variant = variant, v->visit = visit, v->which = which, v->value = -1;
    v->far = 0;
    va_start(list, format);
    vsnprintf(v->text + n, sizeof v->text - (size_t)n, format, list);
    va_end(list);
}

enum { OF_GRADIENTS = 1000 };

// Programs of a batch in one region, or eagerly; 0 = blamed.
static int run(const batch *b, int visit, int variant, reads *r, verdict *out) {
    static machine m[BATCH];
    char name[64];
    tc_ctx *tc = context(variant);
    tc_options o = tc_options_default();
    int status = TC_OK;
    o.round_each_op = !b->late; // so that halves have the bits of eager code
    if (b->fast) o.numerics = TC_NUMERICS_FAST;
    if (b->dynamic == ALL_SIZES) o.dynamic = TC_DYNAMIC_ON;
    tc_error_clear(tc);
    tc_scope_begin(tc);
    for (int i = 0; i < b->n; i++) {
        m[i] = machine_of(b, i, visit), m[i].tc = tc;
        go(&m[i], MAKE);
    }
    snprintf(name, sizeof name, "%llu x%d", (unsigned long long)b->p[0].seed, b->n);
    uint64_t before = tc_stats_get(tc).fallbacks;
    if (variant != EAGER) tc_trace_begin_at(tc, name, &o, "products.c", 1);
    for (int i = 0; i < b->n; i++) {
        m[i].eager = variant == EAGER;
        go(&m[i], RECORD);
    }
    if (variant != EAGER) status = tc_trace_end(tc);
    if (tc_stats_get(tc).fallbacks > before)
        blame(out, variant, visit, -1, "a kernel does not compile: %s", warning);
    if ((status || tc_error(tc)) && !out->failed)
        blame(out, variant, visit, -1, "%s: %s", tc_status_name(status), tc_error_text(tc));
    for (int i = 0; i < b->n && !out->failed; i++) {
        for (int k = 0; k < m[i].results; k++)
            reads_tensor(&r[i], m[i].result[k], m[i].v[m[i].result[k]]);
        for (int k = 0; k < m[i].n_wrt && m[i].derives && variant != EAGER; k++)
            reads_tensor(&r[i], OF_GRADIENTS + k, m[i].grad[k]);
        if (tc_error(tc) && !out->failed)
            blame(out, variant, visit, i, "%s: %s", tc_status_name(tc_error(tc)),
                  tc_error_text(tc));
    }
    for (int i = 0; i < b->n; i++) {
        for (int k = 0; k < m[i].results; k++) tc_free(m[i].v[m[i].result[k]]);
        for (int k = 0; k < m[i].n_wrt && m[i].derives && variant != EAGER; k++)
            tc_free(m[i].grad[k]);
    }
    tc_error_clear(tc);
    tc_scope_end(tc);
    return !out->failed;
}

// ---- comparing ----
static void compare(const reads *a, const reads *b, int variant, int visit, int which,
                    verdict *out) {
    for (int i = 0; i < a->n && i < b->n && !out->failed; i++) {
        int dtype = a->part[i].dtype, value = a->part[i].value;
        size_t size = tc_dtype_bytes((tc_dtype)dtype);
        if (a->part[i].bytes != b->part[i].bytes || dtype != b->part[i].dtype) {
            blame(out, variant, visit, which, "v%d has other sizes or another dtype",
                  value);
            return;
        }
        const unsigned char *x = a->at + a->part[i].offset, *y = b->at + b->part[i].offset;
        for (size_t k = 0; k * size < a->part[i].bytes && !out->failed; k++) {
            if (same_element(x + k * size, y + k * size, dtype, size)) continue;
            double is = fetch(y, dtype, (int64_t)k), want = fetch(x, dtype, (int64_t)k);
            blame(out, variant, visit, which, "v%d[%lu] (%s) is %.17g, not %.17g", value,
                  (unsigned long)k, tc_dtype_name((tc_dtype)dtype), is, want);
            out->value = value, out->at = (int64_t)k, out->want = want;
        }
    }
}

// Whether element i of what was read is that of an array.
static int is_right(const array *a, const unsigned char *at, int64_t i) {
    const cell *c = &a->at[i];
    int64_t whole;
    if (a->dtype == TC_I64) return memcpy(&whole, at + 8 * i, 8), whole == c->i;
    double got = fetch(at, a->dtype, i);
    if (!is_floating(a->dtype)) return got == (double)c->i;
    if (got == c->x || (got != got && c->x != c->x)) return 1;
    if (c->far == 0) return 0;
    if (!isfinite(c->x) || !isfinite(c->far)) return 1;
    if (!isfinite(got)) return !isfinite(nearest(a->dtype, fabs(c->x) + c->far));
    return fabs(got - c->x) <= c->far;
}

static void check_numbers(const machine *m, int i, int variant, int visit, const reads *r,
                          verdict *out) {
    for (int k = 0; k < m->results && !out->failed; k++) {
        const array *a = &m->a[m->result[k]];
        const unsigned char *at = r->at + r->part[k].offset;
        size_t size = tc_dtype_bytes((tc_dtype)a->dtype);
        if (r->part[k].dtype != a->dtype || r->part[k].bytes != size * (size_t)a->n)
            blame(out, variant, visit, i, "v%d is %lu bytes of %s, not %lu of %s",
                  m->result[k], (unsigned long)r->part[k].bytes,
                  tc_dtype_name((tc_dtype)r->part[k].dtype),
                  (unsigned long)(size * (size_t)a->n), tc_dtype_name((tc_dtype)a->dtype));
        for (int64_t e = 0; e < a->n && !out->failed; e++) {
            if (is_right(a, at, e)) continue;
            double want = is_floating(a->dtype) ? a->at[e].x : (double)a->at[e].i;
            blame(out, variant, visit, i, "v%d[%lld] (%s) is %.17g, by loops %.17g +- %g",
                  m->result[k], (long long)e, tc_dtype_name((tc_dtype)a->dtype),
                  fetch(at, a->dtype, e), want, a->at[e].far);
            out->value = m->result[k], out->at = e, out->want = want;
            out->far = is_floating(a->dtype) ? a->at[e].far : 0;
        }
        *(a->rough ? &state->rough : &state->exact) += 1;
    }
}

// ---- slopes ----
static double loss_at(const batch *b, int i, int visit, double moved) {
    static machine m;
    m = machine_of(b, i, visit), m.moved = moved;
    unrounded = 1;
    go(&m, CALCULATE);
    unrounded = 0;
    forget(&m);
    return m.loss;
}

// The gradients times a direction are what the loss changes by along it. Not where there are halves, whose
// roundings are larger than what may be said of them; nor where a corner is met, which two differences tell.
static void check_slope(const batch *b, int i, int variant, int visit, const reads *r,
                        verdict *out) {
    static machine m;
    double by = 0, size = 0, counted = 0, h = 0x1p-22;
    int doubles = 1;
    m = machine_of(b, i, visit);
    go(&m, MAKE);
    for (int k = 0; k < m.n; k++)
        if (is_half(m.a[k].dtype)) return;
    for (int k = 0; k < m.n; k++)
        doubles &= m.a[k].dtype == TC_F64 || !is_floating(m.a[k].dtype);
    double wide = (loss_at(b, i, visit, 2 * h) - loss_at(b, i, visit, -2 * h)) / (4 * h);
    double slope = (loss_at(b, i, visit, h) - loss_at(b, i, visit, -h)) / (2 * h);
    for (int k = 0; k < r->n; k++) {
        int number = r->part[k].value - OF_GRADIENTS, dtype = r->part[k].dtype;
        if (number < 0) continue;
        int64_t n = (int64_t)(r->part[k].bytes / tc_dtype_bytes((tc_dtype)dtype));
        for (int64_t e = 0; e < n; e++) {
            double g =
                fetch(r->at + r->part[k].offset, dtype, e) * way_of(m.wrt[number], e);
            by += g, size += g * g;
        }
    }
    // Where everything cancels, what is left are roundings of terms that are as large as results are counted.
    for (int k = 0; k < m.results; k++) counted += (double)m.a[m.result[k]].n;
    double most =
        (doubles ? 1e-7 : 3e-5) * sqrt(size) + (doubles ? 1e-12 : 1e-6) * sqrt(counted);
    if (!isfinite(slope) || !isfinite(wide) || fabs(slope - wide) > most / 2) {
        state->kinks++;
        return;
    }
    state->slopes++;
    if (!(fabs(by - slope) <= most))
        blame(out, variant, visit, i,
              "the gradients have slope %.12g, differences %.12g (+- %g)", by, slope, most);
}

// ---- one batch in the variants of a mask ----
static void reads_free(reads *r, int n) {
    for (int i = 0; i < n; i++) free(r[i].at);
    memset(r, 0, (size_t)n * sizeof *r);
}

// Gradients of a are those of the first variant that has some.
static void extend(reads *a, const reads *b) {
    for (int i = a->n; i < b->n; i++)
        reads_add(a, b->part[i].value, b->part[i].dtype, b->at + b->part[i].offset,
                  b->part[i].bytes);
}

// All of them have the bits of the first, eager one, which are those of loops.
static void check_bits(const batch *b, const machine *calculated, uint32_t mask, int visit,
                       verdict *out) {
    static reads want[BATCH], r[BATCH];
    run(b, visit, EAGER, want, out);
    for (int i = 0; i < b->n && !out->failed; i++)
        check_numbers(&calculated[i], i, EAGER, visit, &want[i], out);
    for (int v = 1; v < VARIANTS && !out->failed; v++) {
        if (!(mask >> v & 1)) continue;
        run(b, visit, v, r, out);
        for (int i = 0; i < b->n && !out->failed; i++) {
            int first = want[i].n < r[i].n;
            extend(&want[i], &r[i]);
            compare(&want[i], &r[i], v, visit, i, out);
            if (first && !out->failed) check_slope(b, i, v, visit, &want[i], out);
        }
        reads_free(r, b->n);
    }
    reads_free(want, b->n);
}

// Each is within the bounds of loops.
static void check_bounds(const batch *b, const machine *calculated, uint32_t mask,
                         int visit, verdict *out) {
    static reads r[BATCH];
    for (int v = 1; v < VARIANTS && !out->failed; v++) {
        if (!(mask >> v & 1)) continue;
        run(b, visit, v, r, out);
        for (int i = 0; i < b->n && !out->failed; i++) {
            check_numbers(&calculated[i], i, v, visit, &r[i], out);
            if (calculated[i].derives && !out->failed)
                check_slope(b, i, v, visit, &r[i], out);
        }
        reads_free(r, b->n);
    }
}

static void check(const batch *b, uint32_t mask, verdict *out) {
    static machine calculated[BATCH];
    memset(out, 0, sizeof *out);
    numerics_fast = b->fast, rounded_late = b->late;
    for (int visit = 0; visit < visits_of(b) && !out->failed; visit++) {
        for (int i = 0; i < b->n; i++)
            calculated[i] = machine_of(b, i, visit), go(&calculated[i], CALCULATE);
        (b->fast ? check_bounds : check_bits)(b, calculated, mask, visit, out);
        for (int i = 0; i < b->n; i++) forget(&calculated[i]);
    }
}

// ---- in a process of its own ----
static int fails(const batch *b, uint32_t mask) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!freopen("/dev/null", "w", stderr)) _exit(FINE);
        check(b, mask, &state->verdict);
        _exit(state->verdict.failed ? WRONG : FINE);
    }
    return wait_for(child, 60);
}

// ---- shrinking ----
static int shrink_try(batch *b, const batch *candidate, uint32_t mask, double end) {
    if (test_clock() > end || !memcmp(b->p, candidate->p, sizeof b->p)) return 0;
    if (fails(candidate, mask) == FINE) return 0;
    *b = *candidate;
    return 1;
}

static void shrink(batch *b, uint32_t mask) {
    static batch q;
    double end = test_clock() + 60;
    int changed = 1;
    for (int chunk = 128; chunk > 1; chunk /= 2)
        for (int i = WORDS - WORDS % chunk; i >= 0; i -= chunk) {
            q = *b;
            for (int k = i; k < i + chunk && k < WORDS; k++) q.p[0].word[k] = 0;
            shrink_try(b, &q, mask, end);
        }
    while (changed && test_clock() < end) {
        changed = 0;
        for (int i = WORDS; i-- > 0;)
            for (uint32_t to = 0; to < 3 && to < b->p[0].word[i]; to++) {
                q = *b, q.p[0].word[i] = to;
                if (!shrink_try(b, &q, mask, end)) continue;
                changed = 1;
                break;
            }
    }
    fails(b, mask); // leaves the verdict of the smallest one
}

// ---- writing a reproducer ----
static const char reproducer_head[] =
    "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n"
    "static uint64_t mix(uint64_t x) {\n"
    "    x += 0x9e3779b97f4a7c15u;\n"
    "    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;\n"
    "    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;\n"
    "    return x ^ (x >> 31);\n}\n\n" FUZZ_TEXT(
        FUZZ_ELEMENT) "\n\n"
                      "static tc_tensor input(tc_ctx *tc, int number, int execution, tc_dims d, tc_dtype t,\n"
                      "                       int below_this) {\n"
                      "    int64_t n = 1;\n"
                      "    for (int i = 0; i < d.rank; i++) n *= d.size[i];\n"
                      "    double *x = (double *)malloc(((size_t)n + 1) * sizeof *x);\n"
                      "    for (int64_t i = 0; i < n; i++)\n"
                      "        x[i] = element(SEED, number, execution, i, t, below_this);\n"
                      "    tc_tensor r = tc_cast(tc_from_data(tc, x, d, TC_F64), t);\n"
                      "    free(x);\n    return r;\n}\n\n"
                      "static int check(const char *name, tc_tensor t, int64_t i, double want, double far) {\n"
                      "    int64_t n = tc_numel(t);\n"
                      "    double *x = (double *)malloc(((size_t)n + 1) * sizeof *x), got = 0;\n"
                      "    tc_status s = tc_read(tc_cast(t, TC_F64), x, (size_t)n * sizeof *x);\n"
                      "    if (!s) got = x[i];\n"
                      "    printf(\"%s[%lld] is %.17g, must be %.17g +- %g %s\\n\", name, (long long)i, got, want, far,\n"
                      "           s ? tc_status_name(s) : \"\");\n"
                      "    free(x);\n    return got == want || fabs(got - want) <= far;\n}\n\n"
                      "static void end(tc_ctx *tc, int region) {\n"
                      "    tc_status s = region ? tc_trace_end(tc) : TC_OK;\n"
                      "    if (s) printf(\"tc_trace_end: %s: %s\\n\", tc_status_name(s), tc_error_text(tc));\n}\n\n";

// The calls are printed while they run, so that a crash loses nothing but what would follow it.
static void write_visit(const batch *b, const verdict *v, int visit, const char *path) {
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        FILE *f = fopen(path, "a");
        static machine m;
        if (!f) _exit(1);
        m = machine_of(b, 0, visit), m.f = f, m.eager = v->variant == EAGER;
        fprintf(f,
                "static void visit%d(tc_ctx *tc, int region) {\n    tc_scope_begin(tc);\n",
                visit);
        go(&m, MAKE);
        fprintf(f,
                "    tc_options o = tc_options_default();\n    o.round_each_op = %d;\n%s%s"
                "    if (region) tc_trace_begin_with(tc, \"products\", &o);\n",
                !b->late, b->fast ? "    o.numerics = TC_NUMERICS_FAST;\n" : "",
                b->dynamic == ALL_SIZES ? "    o.dynamic = TC_DYNAMIC_ON;\n" : "");
        go(&m, RECORD);
        fprintf(f, "    end(tc, region);\n");
        if (visit == v->visit && v->value >= OF_GRADIENTS)
            fprintf(f, "    check(\"grad[%d]\", grad[%d], %lld, %.17g, 0);\n",
                    v->value - OF_GRADIENTS, v->value - OF_GRADIENTS, (long long)v->at,
                    v->want);
        else if (visit == v->visit && v->value >= 0)
            fprintf(f, "    check(\"v%d\", v%d, %lld, %.17g, %.17g);\n", v->value, v->value,
                    (long long)v->at, v->want, v->far);
        fprintf(f, "    tc_scope_end(tc);\n}\n\n");
        fclose(f);
        _exit(0);
    }
    wait_for(child, 20);
}

static const char *out_folder = "build";

static void write_reproducer(const batch *b, const verdict *v, char path[300]) {
    snprintf(path, 300, "%s/products_%llu.c", out_folder, (unsigned long long)b->p[0].seed);
    FILE *f = fopen(path, "w");
    if (!f) return;
    fprintf(f, "// Found by tests/fuzz/products.c. %s\n", v->text);
    fprintf(f, "//     cc -g -I. %s -o repro -lpthread -ldl -lm && ./repro\n", path);
    fprintf(
        f,
        "#define TCOMPILE_IMPLEMENTATION\n#include \"tcompile.h\"\n#define SEED %lluu\n%s",
        (unsigned long long)b->p[0].seed, reproducer_head);
    fclose(f);
    for (int i = 0; i <= v->visit; i++) write_visit(b, v, i, path);
    f = fopen(path, "a");
    if (!f) return;
    const char *isa = variants[v->variant].isa;
    fprintf(f, "int main(void) {\n    tc_config config = tc_config_default();\n");
    fprintf(f, "    config.backend = \"%s\", config.threads = %d, config.no_fusion = %d;\n",
            variants[v->variant].backend, variants[v->variant].threads,
            variants[v->variant].no_fusion);
    if (isa) fprintf(f, "    config.isa = \"%s\";\n", isa);
    if (v->variant == IN_TILES)
        fprintf(
            f,
            "    setenv(\"CC\", \"cc -include tests/tools/amx.h\", 1); // from the folder of the sources\n");
    fprintf(f, "    config.no_disk_cache = 1;\n    tc_ctx *tc = tc_open(&config);\n");
    if (v->variant == IN_TILES) fprintf(f, "    tc->target = TC__EMIT_AMX;\n");
    for (int i = 0; i <= v->visit; i++)
        fprintf(f, "    visit%d(tc, %d);\n", i, v->variant != EAGER);
    fprintf(f, "    if (tc_error(tc)) puts(tc_error_text(tc));\n    tc_close(tc);\n}\n");
    fclose(f);
}

// ---- the run ----
typedef struct options {
    double seconds;
    uint64_t seed, graphs, from, one;
    int cpu, fast, failures;
} options;

static void random_recipe(recipe *p, uint64_t seed) {
    rng gen = {mix(seed)};
    p->seed = seed;
    for (int i = 0; i < WORDS; i++) p->word[i] = any(&gen);
}

static void make_fast(batch *b, uint64_t h) {
    b->fast = 1, b->late = h % 2 == 0, b->wild = h % 8 < 3;
}

// Batch k of a run.
static void random_batch(batch *b, const options *o, uint64_t k) {
    uint64_t seed = o->seed, h = mix(seed * 31 + k);
    memset(b, 0, sizeof *b);
    if ((int)(mix(h) % 100) < o->fast) make_fast(b, mix(h) >> 8);
    b->n = BATCH, b->family = h % 4 == 0, b->dynamic = b->family ? (int)(h >> 8) % 3 : 0;
    for (int i = 0; i < BATCH; i++)
        random_recipe(&b->p[i], seed * 1000003u + k * BATCH + (uint64_t)i);
}

enum { USE_INTERPRETED = 1 << INTERPRETED | 1 << UNFUSED | 1 << THREADED };

// Of each batch that is compiled, another way. All fast ones are.
static uint32_t mask_of(const batch *b, const options *o, uint64_t k) {
    uint64_t h = mix(o->seed * 77 + k);
    if (b->fast)
        return 1u << INTERPRETED | 1u << (FIRST_COMPILED + (h >> 8) % (COMPILED + 1));
    if ((int)(h % 100) >= o->cpu) return USE_INTERPRETED;
    return USE_INTERPRETED | 1u << (FIRST_COMPILED + (h >> 8) % COMPILED);
}

static void worker(const options *o, uint64_t first, double end) {
    static batch b;
    static machine m;
    for (uint64_t k = first, n = 0; k * BATCH < o->graphs && test_clock() < end; k++, n++) {
        random_batch(&b, o, k);
        uint32_t mask = mask_of(&b, o, k);
        state->batch = k;
        check(&b, mask, &state->verdict);
        if (state->verdict.failed) _exit(WRONG);
        state->graphs += BATCH, state->families += (uint64_t)(b.family * BATCH);
        if (mask != USE_INTERPRETED) state->compiled += BATCH;
        state->fast += (uint64_t)(b.fast * BATCH);
        for (int i = 0; i < BATCH; i++) {
            m = machine_of(&b, i, 0);
            go(&m, MAKE);
            state->derived += (uint64_t)m.derives;
        }
        if (n % 8 == 7) close_contexts();
    }
    close_contexts();
    _exit(FINE);
}

// As few programs of the batch as fail together, printed.
static void report_batch(const batch *all, uint32_t mask, int how, const verdict *first) {
    static batch b, q;
    static machine m;
    b = *all;
    for (int i = b.n; i-- > 0 && b.n > 1;) {
        q = b, q.n--;
        memmove(&q.p[i], &q.p[i + 1], sizeof *q.p * (size_t)(q.n - i));
        if (fails(&q, mask) != FINE) b = q;
    }
    printf("seed %llu: %s%s; not by itself, but with %d others\n",
           (unsigned long long)all->p[first->which < 0 ? 0 : first->which].seed,
           how > 256 ? strsignal(how - 256) : "", how > 256 ? "" : first->text, b.n - 1);
    for (int i = 0; i < b.n; i++)
        for (int visit = 0; visit < visits_of(&b); visit++) {
            m = machine_of(&b, i, visit), m.f = stdout;
            printf("// program %d, visit %d\n", i, visit);
            go(&m, MAKE), go(&m, RECORD);
        }
    fflush(stdout);
}

// A program of the batch that fails by itself, shrunk.
static void report(const batch *all, uint32_t mask, int how) {
    static batch b;
    verdict first = state->verdict;
    char path[300] = "";
    for (int i = 0; i < all->n; i++) {
        b = *all, b.n = 1, b.p[0] = all->p[i];
        memset(&b.p[1], 0, sizeof b.p - sizeof *b.p);
        if (how == WRONG && first.which >= 0 && i != first.which) continue;
        if (fails(&b, mask) == FINE) continue;
        if (state->verdict.failed) mask = 1u << state->verdict.variant;
        shrink(&b, mask);
        if (!state->verdict.failed)
            snprintf(state->verdict.text, sizeof state->verdict.text,
                     "it ends by a signal");
        write_reproducer(&b, &state->verdict, path);
        printf("seed %llu: %s\n    %s\n", (unsigned long long)b.p[0].seed,
               state->verdict.text, path);
        fflush(stdout);
        return;
    }
    report_batch(all, mask, how, &first);
}

static int fuzz(const options *o) {
    static batch b;
    double end = test_clock() + o->seconds;
    uint64_t next = o->from / BATCH;
    int failures = 0;
    while (test_clock() < end && next * BATCH < o->graphs && failures < o->failures) {
        memset(&state->verdict, 0, sizeof state->verdict);
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) worker(o, next, end);
        int how = wait_for(child, end - test_clock() + 60);
        if (how == FINE) break;
        failures++;
        random_batch(&b, o, state->batch);
        report(&b, mask_of(&b, o, state->batch), how);
        next = state->batch + 1;
    }
    printf(
        "%llu graphs: %llu also compiled, %llu by fast numerics, %llu with several sizes, %llu with gradients (%llu "
        "slopes, %llu corners)\n",
        (unsigned long long)state->graphs, (unsigned long long)state->compiled,
        (unsigned long long)state->fast, (unsigned long long)state->families,
        (unsigned long long)state->derived, (unsigned long long)state->slopes,
        (unsigned long long)state->kinks);
    printf("results as calculated: %llu with all bits, %llu within a bound\n",
           (unsigned long long)state->exact, (unsigned long long)state->rough);
    printf("%llu passed, %d failed\n", (unsigned long long)state->graphs, failures);
    return failures != 0;
}

// The program of one seed, printed, in all variants.
static int only(uint64_t seed) {
    static batch b;
    static machine m;
    int failed = 0;
    for (int k = 0; k < 16 && !failed;
         k++) { // each dynamic, strict or fast with all that this may have
        int family = k % 4;
        memset(&b, 0, sizeof b);
        if (k >= 4) make_fast(&b, (uint64_t)(k < 8 ? 3 : k < 12 ? 4 : 0));
        b.n = 1, b.family = family > 0, b.dynamic = family ? family - 1 : 0;
        random_recipe(&b.p[0], seed);
        m = machine_of(&b, 0, 0), m.f = stdout;
        if (!family && (!k || k == 4)) go(&m, MAKE), go(&m, RECORD);
        fflush(stdout);
        uint32_t mask = (1u << (k < 4 ? IN_TILES : VARIANTS)) - 1;
        failed = fails(&b, mask) != FINE;
        if (failed) report(&b, mask, 256);
    }
    printf("%d passed, %d failed\n", !failed, failed);
    return failed;
}

static options read_options(int count, char **args) {
    options o = {5, 1, UINT64_MAX / 16, 0, 0, 25, 25, 5};
    for (int i = 1, plain = 0; i < count; i++) {
        const char *a = args[i], *b = i + 1 < count ? args[i + 1] : "0";
        if (!strcmp(a, "--graphs"))
            o.graphs = strtoull(b, NULL, 10), o.seconds = 1e6, i++;
        else if (!strcmp(a, "--from"))
            o.from = strtoull(b, NULL, 10), i++;
        else if (!strcmp(a, "--cpu"))
            o.cpu = atoi(b), i++;
        else if (!strcmp(a, "--fast"))
            o.fast = atoi(b), i++;
        else if (!strcmp(a, "--failures"))
            o.failures = atoi(b), i++;
        else if (!strcmp(a, "--only"))
            o.one = strtoull(b, NULL, 10), i++;
        else if (!strcmp(a, "--out"))
            out_folder = b, i++;
        else if (a[0] != '-' && plain++ == 0)
            o.seconds = atof(a);
        else if (a[0] != '-')
            o.seed = strtoull(a, NULL, 10);
    }
    return o;
}

int main(int count, char **args) {
    options o = read_options(count, args);
    state = (shared *)mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (state == MAP_FAILED) abort();
    return o.one ? only(o.one) : fuzz(&o);
}
