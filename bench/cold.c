// How long does the first visit of a region take? Against plain `cc -O2 -shared -fPIC` on
// the very text that was emitted, interleaved; and the same from a filled disk cache.
//
// Every round compiles kernels that nothing has seen: a constant in them is new. Rows:
//     compiler     time in the compiler (cc_ns) against cc -O2, bar <= 0.75
//     whole        the whole first visit against cc -O2
//     own stages   schedule, lower, print, load: what is not the compiler, bar <= 3 ms
//     from disk    a new context's first visit when the cache has the kernels, without
//                  running them, bar <= 1 ms per program
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

#include <sys/wait.h>
#include <unistd.h>

enum { ROUNDS = 9 };

typedef struct inputs {
    tc_ctx *tc;
    tc_tensor x, w, b;
} inputs;

typedef void (*recipe)(const inputs *in, double s);

static void gelu(const inputs *in, double s) { tc_gelu(tc_add_s(tc_mul_s(in->x, s), 0.5)); }

static void softmax_norm(const inputs *in, double s) {
    tc_keep(tc_softmax(tc_mul_s(in->x, s), -1));
    tc_keep(tc_layer_norm(tc_mul_s(in->x, -s), in->w, in->b, 1e-5));
}

// Ten kernels: the shapes differ, so nothing of them can be fused.
static void ten(const inputs *in, double s) {
    typedef tc_tensor (*unary)(tc_tensor, const char *, int);
    static const unary op[10] = {tc_exp_at,  tc_log_at,     tc_tanh_at,    tc_erf_at,
                                 tc_gelu_at, tc_sin_at,     tc_sigmoid_at, tc_silu_at,
                                 tc_sqrt_at, tc_softplus_at};
    for (int i = 0; i < 10; i++) {
        tc_tensor part = tc_narrow(in->x, 1, i, 17 + i);
        tc_tensor y = op[i](tc_abs(tc_add_s(tc_mul_s(part, s), 1)), __FILE__, __LINE__);
        tc_keep(i % 2 ? tc_sum(y, -1) : tc_mul(y, part));
    }
}

static inputs open_inputs(const char *cache) {
    inputs in;
    tc_config config = tc_config_default();
    config.threads = 1, config.cache_dir = cache;
    in.tc = tc_open(&config);
    bench_check(in.tc);
    in.x = bench_randn(in.tc, TC_DIMS(8, 64), 1);
    in.w = bench_randn(in.tc, TC_DIMS(64), 2), in.b = bench_randn(in.tc, TC_DIMS(64), 3);
    return in;
}

static double visit(const inputs *in, recipe f, double s) {
    double start = bench_ns();
    tc_options o = tc_options_default();
    o.dynamic = TC_DYNAMIC_OFF; // constants are what makes kernels new here
    o.recompile_limit = 1000;
    tc_trace_begin_with(in->tc, "cold", &o);
    f(in, s);
    tc_trace_end(in->tc);
    double took = bench_ns() - start;
    bench_check(in->tc);
    return took;
}

static void write_text(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    if (!f || !text || fputs(text, f) < 0 || fclose(f)) {
        fprintf(stderr, "%s: cannot write the emitted text\n", path);
        exit(2);
    }
}

// Plain compiler on the file, for the ISA that its text is written for.
static double plain_cc(const char *compiler, const char *text, char *source, char *object) {
    int wide =
        strstr(text, "512_mask") != NULL; // the flags are those of gen/exec/cc_learn.c
    const char *f = wide ? "-mavx512f" : "-mfma", *bw = wide ? "-mavx512bw" : "-mfma";
    const char *dq = wide ? "-mavx512dq" : "-mfma", *vl = wide ? "-mavx512vl" : "-mfma";
    double start = bench_ns();
    pid_t child = vfork();
    if (!child) {
#if defined(__x86_64__)
        execlp(compiler, compiler, "-O2", "-shared", "-fPIC", "-w", "-mavx2", "-mfma", f,
               bw, dq, vl, "-ffp-contract=off", source, "-o", object, (char *)NULL);
#else
        (void)f, (void)bw, (void)dq, (void)vl;
        execlp(compiler, compiler, "-O2", "-shared", "-fPIC", "-w", "-ffp-contract=off",
               source, "-o", object, (char *)NULL);
#endif
        _exit(127);
    }
    int status = -1;
    waitpid(child, &status, 0);
    if (status) {
        fprintf(stderr, "%s -O2 failed on %s\n", compiler, source);
        exit(2);
    }
    return bench_ns() - start;
}

typedef struct sample {
    double cc, whole, own, plain, disk, disk_run;
} sample;

// New kernels through us and through the plain compiler; then again from disk.
static sample once(recipe f, double s, const char *folder, const char *compiler,
                   int ours_first) {
    sample r;
    char cache[200], source[220], object[220];
    snprintf(cache, sizeof cache, "%s/cache", folder);
    snprintf(source, sizeof source, "%s/plain.c", folder);
    snprintf(object, sizeof object, "%s/plain.so", folder);
    inputs in = open_inputs(cache);
    visit(&in, gelu, -1); // the compiler's own lines are known from here on
    tc_stats before = tc_stats_get(in.tc);
    if (!ours_first) { // the text is the same but for the constant
        visit(&in, f, s + 0.5);
        write_text(source, tc_region_source(in.tc, "cold"));
        r.plain = plain_cc(compiler, tc_region_source(in.tc, "cold"), source, object);
        before = tc_stats_get(in.tc);
    }
    r.whole = visit(&in, f, s);
    tc_stats after = tc_stats_get(in.tc);
    r.cc = (double)(after.cc_ns - before.cc_ns);
    r.own = r.whole - r.cc - (double)(after.run_ns - before.run_ns);
    if (ours_first) {
        write_text(source, tc_region_source(in.tc, "cold"));
        r.plain = plain_cc(compiler, tc_region_source(in.tc, "cold"), source, object);
    }
    tc_close(in.tc);
    in = open_inputs(cache);
    r.disk = visit(&in, f, s);
    after = tc_stats_get(in.tc);
    r.disk_run = (double)after.run_ns;
    if (after.compiles) fprintf(stderr, "warning: the disk cache did not have it\n");
    tc_close(in.tc);
    return r;
}

static int rows(const char *name, recipe f, const char *folder, const char *compiler) {
    double cc[ROUNDS], whole[ROUNDS], own[ROUNDS], plain[ROUNDS], disk[ROUNDS];
    char label[64];
    int missed = 0;
    for (int i = 0; i < ROUNDS; i++) {
        sample s = once(f, 1.0 + i / 128.0, folder, compiler, i % 2);
        cc[i] = s.cc, whole[i] = s.whole, own[i] = s.own, plain[i] = s.plain;
        disk[i] = s.disk - s.disk_run;
    }
    double p = bench_median(plain, ROUNDS), c = bench_median(cc, ROUNDS);
    double w = bench_median(whole, ROUNDS), o = bench_median(own, ROUNDS);
    double d = bench_median(disk, ROUNDS);
    snprintf(label, sizeof label, "%s: compiler", name);
    missed += bench_row(label, c, p, c / p, BENCH_AT_MOST, 0.75);
    bench_row("    whole first visit", w, p, w / p, BENCH_NO_BAR, 0);
    missed += bench_row("    own stages, ms", o, -1, o / 1e6, BENCH_AT_MOST, 3);
    missed += bench_row("    from disk, ms", d, -1, d / 1e6, BENCH_AT_MOST, 1);
    return missed;
}

int main(void) {
    char folder[] = "/tmp/bench-cold-XXXXXX", command[64];
    const char *compiler = getenv("CC");
    int missed = 0;
    if (!compiler || !*compiler || strchr(compiler, ' ')) compiler = "cc";
    if (!mkdtemp(folder)) return 2;
    bench_head("ours", "cc -O2", "value");
    missed += rows("gelu", gelu, folder, compiler);
    missed += rows("softmax + layer_norm", softmax_norm, folder, compiler);
    missed += rows("ten mixed kernels", ten, folder, compiler);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command)) fprintf(stderr, "%s: left behind\n", folder);
    return bench_status(missed);
}
