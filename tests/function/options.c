// Every option that tc_list_options names: set as a field, by tc_options_parse and by its variable, it
// shows; without, it does not. An option that the table below lacks is a failure. Then what is wrong:
// names, values, variables; and who wins. Values come from plain C.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "harness.h"

#include <dirent.h>

// ---- what a context said ----

static int warnings, graphs;
static char warning[2000];

static void on_log(void *user, int level, const char *channel, const char *text) {
    (void)user;
    graphs += !strcmp(channel, "graph");
    if (level != 1) return;
    warnings++;
    snprintf(warning, sizeof warning, "%s", text);
}

// A folder of one row, and in it the disk cache that an option is to lead to.
static char folder[40], cache[48];

static void open_folder(void) {
    strcpy(folder, "/tmp/tc-options-XXXXXX");
    CHECK(mkdtemp(folder) != NULL);
    snprintf(cache, sizeof cache, "%s/cache", folder);
}

static void close_folder(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    CHECK_EQ(system(command), 0);
}

// Nothing is compiled but where an option can only be seen so.
static tc_config quiet_config(void) {
    tc_config config = tc_config_default();
    config.logger.log = on_log;
    return config;
}

static tc_ctx *open_plain(void) {
    tc_config config = quiet_config();
    config.cc = "/nonexistent/cc", config.no_disk_cache = 1, config.threads = 4;
    return tc_open(&config);
}

// ---- regions to see it by ----

enum { FEW = 20, N = 1 << 20 };

static tc_tensor filled(tc_ctx *tc, int n) { return tc_full(tc, TC_DIMS(n), 0.5, TC_F32); }

// Five ops over n elements, two of which a rule takes out.
static tc_status visit(tc_ctx *tc, const tc_options *o, int n) {
    tc_tensor x = filled(tc, n);
    tc_trace_begin_at(tc, "visit", o, "options.c", 1);
    tc_exp(tc_neg(tc_neg(tc_square(tc_add_s(x, 1)))));
    tc_status s = tc_trace_end(tc);
    tc_free(x);
    return s;
}

// What the region that was begun last got, nothing left open.
static const tc_options *arrived(tc_ctx *tc) { return &tc->recorder.region->options; }

// The program of the region's last path.
static const tc__program *program_of(tc_ctx *tc) {
    const tc__step *s = tc->recorder.region->root.next;
    while (s && s->sibling) s = s->sibling;
    while (s && s->next) s = s->next;
    return s ? (const tc__program *)s->program : NULL;
}

static tc_status refuse(void *user, const tc_graph *g, void **state, const char **why) {
    (void)g, (void)state, (void)why;
    if (user) return ++*(int *)user, TC_OK;
    return TC_E_UNSUPPORTED;
}

static tc_status forward(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state;
    return tc_graph_forward(run);
}

// A visit on a backend that counts in *compiled, or refuses all where that is NULL.
static tc_status visit_on_own(tc_ctx *tc, const tc_options *o, int n, int *compiled) {
    tc_backend b;
    tc_options own = *o;
    memset(&b, 0, sizeof b);
    b.name = own.backend = "own", b.user = compiled;
    b.compile = refuse, b.run = forward;
    if (tc_list_backends(tc, NULL, 0) == 3) CHECK_EQ(tc_register_backend(tc, &b), TC_OK);
    return visit(tc, &own, n);
}

// ---- options of regions: 1 = it shows ----

enum { NOT_HERE = -1 }; // this machine, or this build, cannot show it

static int shows_fullgraph(tc_ctx *tc, const tc_options *o) {
    tc_tensor x = filled(tc, 8);
    tc_trace_begin_with(tc, "breaks", o);
    double v = tc_item(tc_sum_all(x));
    tc_status s = tc_trace_end(tc);
    CHECK_EQ(v, s ? 0 : 4);
    return s == TC_E_FULLGRAPH;
}

static int shows_disable(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return tc_stats_get(tc).visits == 0;
}

// 0 = auto, 1 = off, 2 = on: three sizes make two, three programs, one.
static int dynamic_of(tc_ctx *tc, const tc_options *o) {
    for (int n = 20; n < 23; n++) CHECK_EQ(visit(tc, o, n), TC_OK);
    uint64_t programs = tc_stats_get(tc).programs;
    return programs == 2 ? TC_DYNAMIC_AUTO : programs == 1 ? TC_DYNAMIC_ON : TC_DYNAMIC_OFF;
}

static int shows_dynamic_off(tc_ctx *tc, const tc_options *o) {
    return dynamic_of(tc, o) == TC_DYNAMIC_OFF;
}

static int shows_dynamic_on(tc_ctx *tc, const tc_options *o) {
    return dynamic_of(tc, o) == TC_DYNAMIC_ON;
}

static int shows_recompile_limit(tc_ctx *tc, const tc_options *o) {
    int compiled = 0;
    for (int n = 20; n < 40; n++) CHECK_EQ(visit_on_own(tc, o, n, &compiled), TC_OK);
    if (compiled != 3) CHECK_EQ(compiled, 16);
    return compiled == 3;
}

static int shows_backend(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return tc_region_kernels(tc, "visit") == 5; // eager
}

static int shows_mode(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return !strcmp(arrived(tc)->mode, "max-autotune");
}

static int shows_numerics(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return program_of(tc)->numerics == TC_NUMERICS_FAST;
}

// 256 + 1 is 256 in bf16; as f32, which a register holds, it is 257.
static int shows_round_each_op(tc_ctx *tc, const tc_options *o) {
    tc_tensor x = tc_full(tc, TC_DIMS(4), 256, TC_BF16);
    tc_trace_begin_with(tc, "round", o);
    tc_tensor y = tc_sub(tc_add_s(x, 1), x);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    double got = tc_item(tc_sum_all(y));
    CHECK(got == 0 || got == 4);
    return got == 0;
}

static int shows_allow_tf32(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return program_of(tc)->allow_tf32; // what it does: tests/cuda/tf32.c
}

static int shows_memory_budget(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return program_of(tc)->memory_budget == 40; // what it does: tests/grad/checkpoint.c
}

// Parts that the kernel is cut into, on a context of four threads.
static int shows_threads(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, N), TC_OK);
    const tc__program *p = program_of(tc);
    if (!CHECK(p && p->launch.count == 1)) return 0;
    const tc__launch *l = &p->launch.at[0];
    return (l->items - 1) / l->grain + 1 <= 2;
}

// A program that waits for its code still has to be compared.
static int shows_verify(tc_ctx *tc, const tc_options *o) {
    tc_set_stance(tc, TC_STANCE_EAGER_ON_RECOMPILE);
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    const tc__program *p = program_of(tc);
    return TC__JIT ? p && p->verify : NOT_HERE;
}

static int shows_suppress_errors(tc_ctx *tc, const tc_options *o) {
    tc_status s = visit_on_own(tc, o, FEW, NULL);
    if (s) CHECK_EQ(s, TC_E_COMPILER);
    return !s;
}

static int shows_autotune_seconds(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    if (arrived(tc)->autotune_seconds != 3) CHECK_EQ(arrived(tc)->autotune_seconds, 10);
    return arrived(tc)->autotune_seconds == 3;
}

// ---- options of contexts ----

static int shows_context_threads(tc_ctx *tc, const tc_options *o) {
    (void)o;
    return tc__threads(tc) == 3;
}

static int files_in_cache(void) {
    DIR *d = opendir(cache);
    int n = 0;
    for (const struct dirent *e; d && (e = readdir(d)) != NULL;) n += *e->d_name != '.';
    if (d) closedir(d);
    return n;
}

static int shows_cache_dir(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return files_in_cache() > 0;
}

static int shows_cc(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return tc_stats_get(tc).fallbacks == 1 &&
           strstr(warning, "/nonexistent/options") != NULL;
}

static int shows_logs(tc_ctx *tc, const tc_options *o) {
    graphs = 0;
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return graphs == 1;
}

static int shows_no_disk_cache(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return files_in_cache() == 0;
}

static int shows_no_fusion(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return tc_region_kernels(tc, "visit") == 3; // the rule has taken two
}

static int shows_passes_off(tc_ctx *tc, const tc_options *o) {
    CHECK_EQ(visit(tc, o, FEW), TC_OK);
    return strstr(tc_explain(tc), "= neg ") != NULL;
}

// The interpreter, what is printed and what the compiler may use: all of it, or nothing.
static int shows_isa(tc_ctx *tc, const tc_options *o) {
    (void)o;
    if (tc__isa_best(tc__cpu_features()) == &tc__isa_scalar) return NOT_HERE;
    int capped = tc__cpu_of(tc) == 0;
    CHECK_EQ(tc__isa_best(tc__cpu_of(tc)) == &tc__isa_scalar, capped);
    CHECK_EQ(tc->target == TC__EMIT_PLAIN, capped || !TC__X86);
#if TC__JIT
    CHECK_EQ(tc->kernels->library->cpu == 0, capped || !TC__X86);
#endif
    return capped;
}

static int shows_memory_mb(tc_ctx *tc, const tc_options *o) {
    (void)o;
    return tc->recordings_limit == (size_t)30 << 20 && tc->programs_limit == (size_t)60
                                                                                 << 20;
}

// Each op is a kernel of its own.
static int shows_stance(tc_ctx *tc, const tc_options *o) {
    if (visit(tc, o, FEW)) return 0;
    const tc__program *p = program_of(tc);
    return p && p->forced && p->launch.count > 1;
}

#if TC__JIT
static int shows_compile_threads(tc_ctx *tc, const tc_options *o) {
    (void)o;
    return tc->kernels->library->compile_threads == 2;
}

static int shows_compile_ms(tc_ctx *tc, const tc_options *o) {
    (void)o;
    return tc->kernels->library->compile_ms == 12345;
}

static int shows_compile_mb(tc_ctx *tc, const tc_options *o) {
    (void)o;
    return tc->kernels->library->compile_memory == (size_t)77 << 20;
}
#endif

// ---- the table ----

typedef struct row {
    const char *name;
    int of_region;
    const char *value; // as text
    const char *other; // another one, that an explicit field has to win over; NULL = none
    int (*shows)(tc_ctx *tc, const tc_options *o);
    void (*set)(tc_config *c, tc_options *o); // the field
    int compiles;                             // it shows only where something is compiled
} row;

#define SET(name, statement)                                                               \
    static void set_##name(tc_config *c, tc_options *o) { (void)c, (void)o, statement; }
SET(fullgraph, o->fullgraph = 1)
SET(disable, o->disable = 1)
SET(dynamic_off, o->dynamic = TC_DYNAMIC_OFF)
SET(dynamic_on, o->dynamic = TC_DYNAMIC_ON)
SET(recompile_limit, o->recompile_limit = 3)
SET(backend, o->backend = "eager")
SET(mode, o->mode = "max-autotune")
SET(numerics, o->numerics = TC_NUMERICS_FAST)
SET(round_each_op, o->round_each_op = 1)
SET(threads, o->threads = 2)
SET(verify, o->verify = 1)
SET(suppress_errors, o->suppress_errors = 1)
SET(autotune_seconds, o->autotune_seconds = 3)
SET(allow_tf32, o->allow_tf32 = 1)
SET(memory_budget, o->memory_budget = 40)
SET(context_threads, c->threads = 3)
SET(cache_dir, c->cache_dir = cache)
SET(cc, c->cc = "/nonexistent/options")
SET(logs, c->logs = "graph")
SET(no_disk_cache, c->no_disk_cache = 1)
SET(no_fusion, c->no_fusion = 1)
SET(passes_off, c->passes_off = "all")
SET(isa, c->isa = "baseline")
SET(stance, c->stance = TC_STANCE_FORCE_EAGER)
SET(memory_mb, c->memory_mb = 90)
#if TC__JIT
SET(compile_threads, c->compile_threads = 2)
SET(compile_ms, c->compile_ms = 12345)
SET(compile_mb, c->compile_mb = 77)
#endif

static const row rows[] = {
    {"fullgraph", 1, "1", "0", shows_fullgraph, set_fullgraph, 0},
    {"disable", 1, "1", "0", shows_disable, set_disable, 0},
    {"dynamic", 1, "off", "on", shows_dynamic_off, set_dynamic_off, 0},
    {"dynamic", 1, "on", "off", shows_dynamic_on, set_dynamic_on, 0},
    {"recompile_limit", 1, "3", "5", shows_recompile_limit, set_recompile_limit, 0},
    {"backend", 1, "eager", "aot_eager", shows_backend, set_backend, 0},
    {"mode", 1, "max-autotune", "reduce-overhead", shows_mode, set_mode, 0},
    {"numerics", 1, "fast", "strict", shows_numerics, set_numerics, 0},
    {"round_each_op", 1, "1", "0", shows_round_each_op, set_round_each_op, 0},
    {"threads", 1, "2", "3", shows_threads, set_threads, 0},
    {"verify", 1, "1", "0", shows_verify, set_verify, 0},
    {"suppress_errors", 1, "1", "0", shows_suppress_errors, set_suppress_errors, 0},
    {"autotune_seconds", 1, "3", "5", shows_autotune_seconds, set_autotune_seconds, 0},
    {"allow_tf32", 1, "1", "0", shows_allow_tf32, set_allow_tf32, 0},
    {"memory_budget", 1, "40", "60", shows_memory_budget, set_memory_budget, 0},
    {"threads", 0, "3", "2", shows_context_threads, set_context_threads, 0},
    {"cache_dir", 0, cache, "/nonexistent/cache", shows_cache_dir, set_cache_dir, 1},
    {"cc", 0, "/nonexistent/options", "/nonexistent/other", shows_cc, set_cc, 1},
    {"logs", 0, "graph", "cache", shows_logs, set_logs, 0},
    {"no_disk_cache", 0, "1", "0", shows_no_disk_cache, set_no_disk_cache, 1},
    {"no_fusion", 0, "1", "0", shows_no_fusion, set_no_fusion, 0},
    {"passes_off", 0, "all", "split", shows_passes_off, set_passes_off, 0},
    {"isa", 0, "baseline", "native", shows_isa, set_isa, 0},
    {"stance", 0, "force_eager", "fail_on_recompile", shows_stance, set_stance, 0},
    {"memory_mb", 0, "90", "30", shows_memory_mb, set_memory_mb, 0},
#if TC__JIT
    {"compile_threads", 0, "2", "1", shows_compile_threads, set_compile_threads, 0},
    {"compile_ms", 0, "12345", "10", shows_compile_ms, set_compile_ms, 0},
    {"compile_mb", 0, "77", "10", shows_compile_mb, set_compile_mb, 0},
#endif
};

enum { ROWS = (int)(sizeof rows / sizeof *rows) };

static const tc_option_info *info_of(const row *r) {
    const tc_option_info *all;
    int n = tc_list_options(&all);
    for (int i = 0; i < n; i++)
        if (!strcmp(all[i].name, r->name) && all[i].of_region == r->of_region)
            return &all[i];
    return NULL;
}

// Nothing but what a test sets.
static void clear_environment(void) {
    const tc_option_info *all;
    int n = tc_list_options(&all);
    for (int i = 0; i < n; i++) unsetenv(all[i].env);
}

typedef enum way {
    NOT_SET,
    AS_FIELD,
    BY_LIST,
    BY_VARIABLE,
    OVER_VARIABLE, // a field, where the variable says something else
    WAYS
} way;

static const char *const way_names[] = {"not set", "as a field", "by a list",
                                        "by its variable", "as a field over its variable"};

// Whether the option shows when it is set this way.
static int shows(const row *r, const tc_option_info *info, way w) {
    char list[100], home[60];
    clear_environment();
    tc_config config = quiet_config();
    tc_options o = tc_options_default();
    config.threads = r->of_region ? 4 : 0;
    if (!r->compiles) config.cc = "/nonexistent/cc", config.no_disk_cache = 1;
    snprintf(home, sizeof home, "%s/xdg", folder);
    setenv("XDG_CACHE_HOME", home, 1); // the default is not the user's
    if (r->compiles && strcmp(r->name, "cache_dir")) setenv("TC_CACHE_DIR", cache, 1);
    if (w == AS_FIELD || w == OVER_VARIABLE) r->set(&config, &o);
    if (w == BY_VARIABLE) setenv(info->env, r->value, 1);
    if (w == OVER_VARIABLE) setenv(info->env, r->other, 1);
    tc_ctx *tc = tc_open(&config);
    snprintf(list, sizeof list, "%s=%s", r->name, r->value);
    if (w == BY_LIST) CHECK_EQ(tc_options_parse(tc, &o, list), TC_OK);
    int seen = r->shows(tc, &o);
    tc_close(tc);
    return seen;
}

static void check_row(const row *r) {
    const tc_option_info *info = info_of(r);
    if (!CHECK(info)) return;
    for (int w = 0; w < WAYS; w++) {
        if (w == BY_LIST && !r->of_region) continue;
        open_folder();
        int seen = shows(r, info, (way)w);
        close_folder();
        if (seen != NOT_HERE && seen != (w != NOT_SET))
            FAIL("option %s (%s) %s, and %s", r->name, info->env, way_names[w],
                 seen ? "it shows" : "it does not show");
    }
}

TEST(options_of_regions) {
    for (int i = 0; i < ROWS; i++)
        if (rows[i].of_region) check_row(&rows[i]);
}

TEST(options_of_contexts) {
    for (int i = 0; i < ROWS; i++)
        if (!rows[i].of_region) check_row(&rows[i]);
}

// Every word of TC_STANCE is the stance of that name; tc_set_stance is said later, and counts.
TEST(stances_by_their_variable) {
    static const char *const word[] = {"default", "force_eager", "eager_on_recompile",
                                       "fail_on_recompile", "eager_then_compile"};
    for (int i = 0; i < 6; i++) {
        clear_environment();
        setenv("TC_STANCE", i < 5 ? word[i] : "eager", 1);
        warnings = 0;
        tc_ctx *tc = open_plain();
        CHECK_EQ(warnings, i == 5);
        if (i == 5)
            CHECK(strstr(warning, "TC_STANCE=\"eager\" is ignored; its values: default,"));
        CHECK_EQ(tc_set_stance(tc, TC_STANCE_DEFAULT), i % 5);
        CHECK_EQ(visit(tc, NULL, FEW), TC_OK);
        CHECK(!program_of(tc)->forced);
        tc_close(tc);
    }
    clear_environment();
}

TEST(every_option_has_a_row) {
    const tc_option_info *all;
    int n = tc_list_options(&all);
    CHECK(n > 20);
    CHECK_EQ(tc_list_options(NULL), n);
    for (int i = 0; i < n; i++) {
        int found = 0;
        for (int k = 0; k < ROWS; k++)
            found |=
                !strcmp(rows[k].name, all[i].name) && rows[k].of_region == all[i].of_region;
        if (TC__JIT && !found) FAIL("no row in this test for option %s", all[i].name);
        CHECK(!strncmp(all[i].env, "TC_", 3) || !strcmp(all[i].env, "CC"));
        CHECK(*all[i].values && all[i].fallback && *all[i].doc);
        for (int k = 0; k < i; k++) CHECK(strcmp(all[i].env, all[k].env));
    }
}

// ---- lists ----

TEST(lists) {
    tc_ctx *tc = open_plain();
    tc_options o = tc_options_default();
    char list[] = "  fullgraph = 1 ,,\tmode= max-autotune-no-cudagraphs, ,dynamic\t=off,"
                  "verify,backend=aot_eager ,recompile_limit = 5 , ";
    CHECK_EQ(tc_options_parse(tc, &o, list), TC_OK);
    memset(list, 'x', sizeof list - 1); // nothing points in there
    CHECK_EQ(o.fullgraph, 1);
    CHECK_EQ(o.verify, 1);
    CHECK_EQ(o.dynamic, TC_DYNAMIC_OFF);
    CHECK_EQ(o.recompile_limit, 5);
    CHECK_STR(o.mode, "max-autotune-no-cudagraphs");
    CHECK_STR(o.backend, "aot_eager");
    CHECK_EQ(o.disable + o.threads + o.suppress_errors + o.autotune_seconds, 0);
    CHECK_EQ(tc_options_parse(tc, &o, "fullgraph=0,mode=default,dynamic=auto"), TC_OK);
    CHECK_EQ(o.fullgraph, 0);
    CHECK_EQ(o.dynamic, TC_DYNAMIC_AUTO);
    CHECK_STR(o.mode, "default");
    CHECK_EQ(o.verify, 1); // what a list does not name stays
    CHECK_EQ(tc_options_parse(tc, &o, ""), TC_OK);
    CHECK_EQ(tc_options_parse(tc, &o, NULL), TC_OK);
    CHECK_EQ(tc_options_parse(tc, &o, " , ,"), TC_OK);
    CHECK_EQ(tc_error(tc), TC_OK);
    CHECK_EQ(tc_options_parse(NULL, &o, "fullgraph"), TC_E_NULL);
    CHECK_EQ(tc_options_parse(tc, NULL, "fullgraph"), TC_E_NULL);
    CHECK(strstr(tc_error_text(tc), "tc_options_parse"));
    tc_close(tc);
}

TEST(every_mode_is_known) {
    static const char *const modes[] = {"default", "reduce-overhead", "max-autotune",
                                        "max-autotune-no-cudagraphs"};
    tc_ctx *tc = open_plain();
    for (int i = 0; i < 4; i++) {
        char list[60];
        tc_options o = tc_options_default();
        snprintf(list, sizeof list, "mode=%s", modes[i]);
        CHECK_EQ(tc_options_parse(tc, &o, list), TC_OK);
        CHECK_STR(o.mode, modes[i]);
        CHECK_EQ(visit(tc, &o, FEW), TC_OK);
        CHECK_STR(arrived(tc)->mode, modes[i]);
    }
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_close(tc);
}

static void refused(tc_ctx *tc, const char *list, const char *part, const char *part2) {
    tc_options o = tc_options_default(), none = tc_options_default();
    char good[200];
    snprintf(good, sizeof good, "verify=1,%s,fullgraph=1", list);
    CHECK_EQ(tc_options_parse(tc, &o, good), TC_E_ARG);
    CHECK_EQ(tc_error(tc), TC_E_ARG);
    const char *text = tc_error_text(tc);
    if (!strstr(text, part) || !strstr(text, part2))
        FAIL("\"%s\" gives \"%s\", without %s and %s", list, text, part, part2);
    CHECK_EQ(o.verify, 1); // what stands before it is set, it and what follows are not
    o.verify = 0;
    CHECK(!memcmp(&o, &none, sizeof o));
    tc_error_clear(tc);
}

TEST(unknown_names) {
    tc_ctx *tc = open_plain();
    refused(tc, "fulgraph=1", "\"fulgraph\"", "\"fullgraph\"");
    refused(tc, "mod=default", "\"mod\"", "\"mode\"");
    refused(tc, "recompilelimit=3", "\"recompilelimit\"", "\"recompile_limit\"");
    refused(tc, "Backend=cpu", "\"Backend\"", "\"backend\"");
    refused(tc, "supress_error", "\"supress_error\"", "\"suppress_errors\"");
    refused(tc, "thread=2", "\"thread\"", "\"threads\"");
    refused(tc, "=1", "no option is called \"\"", "tc_list_options");
    refused(tc, "cache_dir=/tmp", "\"cache_dir\"", "tc_list_options"); // of a context
    refused(tc, "a_name_that_is_much_longer_than_any_option_could_ever_be_x=1",
            "a_name_that_is_much_longer", "tc_list_options");
    tc_close(tc);
}

TEST(bad_values) {
    tc_ctx *tc = open_plain();
    refused(tc, "disable=2", "disable: \"2\"", "0,1");
    refused(tc, "disable=yes", "disable: \"yes\"", "0,1");
    refused(tc, "disable=", "disable: \"\"", "0,1");
    refused(tc, "disable=-1", "disable: \"-1\"", "0,1");
    refused(tc, "disable=1 1", "disable: \"1 1\"", "0,1");
    refused(tc, "dynamic=maybe", "dynamic: \"maybe\"", "auto,on,off");
    refused(tc, "dynamic", "dynamic: \"\"", "auto,on,off");
    refused(tc, "dynamic=o", "dynamic: \"o\"", "auto,on,off");
    refused(tc, "threads=many", "threads: \"many\"", "number");
    refused(tc, "threads=-1", "threads: \"-1\"", "number");
    refused(tc, "threads=1.5", "threads: \"1.5\"", "number");
    refused(tc, "threads=99999999999999999999", "threads: \"9999", "number");
    refused(tc, "threads", "threads: \"\"", "number");
    refused(tc, "memory_budget=101", "memory_budget: \"101\"", "0 to 100");
    refused(tc, "memory_budget=-5", "memory_budget: \"-5\"", "0 to 100");
    refused(tc, "mode=max", "mode: \"max\"", "reduce-overhead");
    refused(tc, "mode=default=default", "mode: \"default=default\"", "max-autotune");
    refused(tc, "backend=cp", "\"cp\"", "eager, aot_eager, cpu");
    refused(tc, "backend", "\"\"", "eager, aot_eager, cpu");
    tc_close(tc);
}

static void twice(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add(in[0], in[0]);
}

// What stands in a struct: every number of a region's options, below and above its values.
TEST(bad_numbers_in_code) {
    static const int bad[] = {-1, -1000000, 3, 101};
    int checked = 0;
    tc_ctx *tc = open_plain();
    for (int i = 0; i < (int)TC__COUNT(tc__options); i++) {
        const tc_option_info *row = &tc__options[i];
        if (!row->of_region || tc__option_fields[i].kind == TC__OPTION_TEXT) continue;
        for (int k = 0; k < 4; k++) {
            char want[120];
            tc_options o = tc_options_default();
            if (bad[k] > 0 && !strcmp(row->values, "number")) continue;
            if (bad[k] == 3 && !strcmp(row->values, "0 to 100")) continue;
            memcpy((char *)&o + tc__option_fields[i].offset, &bad[k], sizeof bad[k]);
            snprintf(want, sizeof want, "tc_trace_begin: option %s is %d; its values: %s",
                     row->name, bad[k], row->values);
            CHECK_EQ(tc_trace_begin_at(tc, "visit", &o, "options.c", 1), TC_E_ARG);
            CHECK_STR(tc_error_text(tc), want);
            CHECK_EQ(tc_trace_end(tc), TC_E_ARG);
            tc_error_clear(tc);
            CHECK(!tc_compile(tc, twice, NULL, 0, &o));
            CHECK_EQ(tc_error(tc), TC_E_ARG);
            tc_error_clear(tc), checked++;
        }
    }
    CHECK(checked >= 20);
    CHECK_EQ(visit(tc, NULL, FEW), TC_OK);
    tc_close(tc);
}

// tc_open has no context to tell of them: each is warned of, and as if it were not given.
TEST(bad_numbers_of_a_config) {
    tc_config config = quiet_config();
    config.threads = -3, config.memory_mb = -1, config.no_fusion = 7;
    config.compile_ms = -5, config.compile_threads = -1, config.compile_mb = -9;
    config.no_disk_cache = 1, warnings = 0;
    tc_ctx *tc = tc_open(&config);
    REQUIRE(tc);
    CHECK_EQ(warnings, 6);
    CHECK(strstr(warning, "tc_open: compile_m"));
    CHECK_EQ(visit(tc, NULL, FEW), TC_OK);
    tc_close(tc);
}

// Also those that were registered can be named.
TEST(a_registered_backend_by_name) {
    tc_ctx *tc = open_plain();
    int compiled = 0;
    tc_options o = tc_options_default();
    refused(tc, "backend=own", "\"own\"", "eager, aot_eager, cpu");
    CHECK_EQ(visit_on_own(tc, &o, FEW, &compiled), TC_OK);
    CHECK_EQ(tc_options_parse(tc, &o, "backend=own"), TC_OK);
    CHECK_EQ(visit(tc, &o, FEW + 1), TC_OK);
    CHECK_EQ(compiled, 2);
    tc_close(tc);
}

// ---- the environment ----

TEST(bad_variables_are_ignored_with_a_warning) {
    static const char *const bad[] = {"nosuch", "-1", "1x"};
    const tc_option_info *all;
    int n = tc_list_options(&all), checked = 0;
    for (int i = 0; i < n; i++) {
        if (!strcmp(all[i].values, "text")) continue;
        for (int k = 0; k < 3; k++) {
            clear_environment();
            setenv(all[i].env, bad[k], 1);
            warnings = 0;
            tc_ctx *tc = open_plain();
            int explicitly = !strcmp(all[i].name, "no_disk_cache") ||
                             !strcmp(all[i].env, "TC_THREADS"); // fields that win
            CHECK_EQ(warnings, !explicitly);
            if (!explicitly)
                CHECK(strstr(warning, all[i].env) && strstr(warning, bad[k]) &&
                      strstr(warning, all[i].values));
            CHECK_EQ(tc_error(tc), TC_OK);
            CHECK_EQ(visit(tc, NULL, FEW), TC_OK);
            CHECK_EQ(tc_stats_get(tc).visits, 1);
            CHECK_EQ(arrived(tc)->recompile_limit, 16);
            CHECK_STR(arrived(tc)->mode, "default");
            CHECK_EQ(tc_error(tc), TC_OK);
            tc_close(tc);
            checked++;
        }
    }
    CHECK(checked > 40);
}

TEST(empty_variables_are_none) {
    const tc_option_info *all;
    int n = tc_list_options(&all);
    for (int i = 0; i < n; i++) setenv(all[i].env, "", 1);
    tc_ctx *tc = open_plain();
    CHECK_EQ(visit(tc, NULL, FEW), TC_OK);
    CHECK_EQ(tc_stats_get(tc).visits, 1);
    CHECK_EQ(warnings, 1); // that there is no compiler
    CHECK(strstr(warning, "/nonexistent/cc"));
    tc_close(tc);
}

// A variable, the context's field, the region's field: the later the stronger.
TEST(who_wins) {
    clear_environment();
    setenv("TC_BACKEND", "cpu", 1);
    tc_config config = quiet_config();
    config.no_disk_cache = 1, config.cc = "/nonexistent/cc", config.backend = "aot_eager";
    tc_ctx *tc = tc_open(&config);
    tc_options o = tc_options_default();
    CHECK_EQ(visit(tc, &o, FEW), TC_OK);
    CHECK_STR(arrived(tc)->backend, "aot_eager");
    o.backend = "eager";
    CHECK_EQ(visit(tc, &o, FEW), TC_OK);
    CHECK_STR(arrived(tc)->backend, "eager");
    CHECK_EQ(visit(tc, NULL, FEW), TC_OK); // and it is forgotten again
    CHECK_STR(arrived(tc)->backend, "aot_eager");
    tc_close(tc);
}

// They are read when the context is opened, and inherited by those opened from it.
TEST(variables_are_read_at_open) {
    clear_environment();
    char mode[32] = "max-autotune";
    setenv("TC_MODE", mode, 1);
    setenv("TC_BACKEND", "aot_eager", 1);
    tc_ctx *tc = open_plain();
    setenv("TC_MODE", "reduce-overhead", 1);
    setenv("TC_BACKEND", "eager", 1);
    tc_ctx *child = tc_open_shared(tc);
    CHECK_EQ(visit(tc, NULL, FEW), TC_OK);
    CHECK_EQ(visit(child, NULL, FEW), TC_OK);
    CHECK_STR(arrived(tc)->mode, "max-autotune");
    CHECK_STR(arrived(tc)->backend, "aot_eager");
    CHECK_STR(arrived(child)->mode, "max-autotune");
    CHECK_STR(arrived(child)->backend, "aot_eager");
    tc_close(child);
    tc_close(tc);
}

TEST(functions_have_them_too) {
    clear_environment();
    setenv("TC_RECOMPILE_LIMIT", "7", 1);
    tc_ctx *tc = open_plain();
    tc_options o = tc_options_default();
    CHECK_EQ(tc_options_parse(tc, &o, "mode=reduce-overhead,disable"), TC_OK);
    tc_fn *f = tc_compile(tc, twice, NULL, 0, &o);
    tc_tensor x = filled(tc, FEW), y;
    CHECK_EQ(arrived(tc)->recompile_limit, 7);
    CHECK_STR(arrived(tc)->mode, "reduce-overhead");
    for (int k = 0; k < 4; k++) CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK);
    CHECK_EQ(tc_stats_get(tc).visits, 0); // disabled: eager
    CHECK_EQ(tc_stats_get(tc).skips, 0);
    CHECK_EQ(tc_item(tc_amax_all(y)), 1);
    tc_close(tc);
}
