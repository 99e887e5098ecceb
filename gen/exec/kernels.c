// A program's kernels: printed as orders, given to the library (exec/library.c), and what comes back.
// A program runs interpreted until it has taken its code.

#if TC__JIT

struct tc__kernels {
    tc__library *library; // shared by a family of contexts
    tc__desk desk;        // for what cannot wait
};

static const unsigned tc__emit_cpu[] = {0, TC__CPU_AVX2 | TC__CPU_FMA,
                                        TC__CPU_AVX2 | TC__CPU_FMA | TC__CPU_AVX512F};

// The most that a CPU with these features can run; the one place that decides it.
static tc__emit tc__emit_of(unsigned cpu) {
    int t = TC__EMIT_AVX512;
    while ((cpu & tc__emit_cpu[t]) != tc__emit_cpu[t]) t--;
    return (tc__emit)t;
}

static int tc__kernels_open(tc_ctx *c, const tc_config *config) {
    tc__kernels *k = TC__NEW(c, tc__kernels);
    if (!k) return 0;
    c->kernels = k;
    c->target = config->baseline ? TC__EMIT_PLAIN : tc__emit_of(tc__cpu_of(c));
    k->library = tc__library_open(c, config, tc__emit_cpu[c->target]);
    tc__desk_open(&k->desk, c, k->library);
    return k->library != NULL;
}

static void tc__kernels_close(tc_ctx *c) {
    tc__kernels *k = c->kernels;
    if (!k) return;
    tc__desk_close(&k->desk);
    if (k->library) tc__library_release(k->library);
    tc__free(c, k, sizeof *k);
    c->kernels = NULL;
}

// ---- orders ----

static int tc__order_print(tc_ctx *c, tc__order *o, const tc__group *g) {
    memset(o, 0, sizeof *o);
    o->group = g, o->lanes = tc__group_lanes(g);
    tc__text_init(&o->text, c);
    if (!tc__print_kernel(&o->text, g, &tc__dialect_c, tc__order_stand_in)) return 0;
    if (o->text.failed) return 0;
    tc__order_name(o, (int)c->target);
    return 1;
}

// Orders launch l's kernel, once however many launches have it.
static int tc__job_order(tc__job *j, tc__launch *l) {
    tc__order o;
    uint32_t i = 0;
    if (!tc__order_print(j->ctx, &o, l->group)) return tc__text_free(&o.text), 0;
    while (i < j->order.count && memcmp(j->order.at[i].digest, o.digest, 32)) i++;
    l->order = i;
    if (i < j->order.count) return tc__text_free(&o.text), 1;
    if (!TC__PUSH(j->ctx, j->order, o)) return tc__text_free(&o.text), 0;
    if (!tc__order_known(j->library, &j->order.at[i])) return 1;
    j->ctx->stats.memory_hits++;
    tc__log(j->ctx, TC__LOG_CACHE, "%s: in this process", j->order.at[i].symbol);
    tc__log_text(j->ctx, TC__LOG_OUTPUT_CODE, j->order.at[i].text.at);
    return 1;
}

static size_t tc__job_open_orders(const tc__job *j) {
    size_t n = 0;
    for (size_t i = 0; i < j->order.count; i++) n += !j->order.at[i].settled;
    return n;
}

// All kernels of a program; NULL = reported.
static tc__job *tc__program_order(tc__program *p) {
    tc_ctx *c = p->ctx;
    tc__job *j = tc__job_new(c, c->kernels->library);
    int ok = j != NULL;
    uint64_t start = tc__now_ns();
    for (size_t i = 0; ok && i < p->launch.count; i++)
        ok = tc__job_order(j, &p->launch.at[i]);
    c->stats.emit_ns += tc__now_ns() - start;
    if (ok) return j;
    if (j) tc__job_free(j);
    return NULL;
}

static void tc__job_load(tc__job *j, tc__desk *k) {
    for (size_t i = 0; i < j->order.count; i++) {
        tc__order *o = &j->order.at[i];
        if (o->settled || !tc__order_load(k, j, o)) continue;
        tc__log_text(j->ctx, TC__LOG_OUTPUT_CODE, o->text.at);
    }
}

// ---- units ----

static int tc__unit_print(tc__job *j, tc__unit *u) {
    const tc__group *groups[TC__UNIT_KERNELS];
    const tc__text *texts[TC__UNIT_KERNELS];
    for (uint32_t i = 0; i < u->count; i++) {
        groups[i] = j->order.at[u->order[i]].group;
        texts[i] = &j->order.at[u->order[i]].text;
    }
    tc__text_init(&u->text, j->ctx);
    int ok = tc__print_prelude(&u->text, groups, (int)u->count, texts, (int)u->count,
                               j->ctx->target);
    for (uint32_t i = 0; ok && i < u->count; i++)
        tc__put_raw(&u->text, texts[i]->at, texts[i]->size);
    return ok && !u->text.failed;
}

static int tc__unit_close(tc__job *j, tc__unit *u) {
    if (!u->count) return 1;
    int ok = tc__unit_print(j, u);
    tc__log_text(j->ctx, TC__LOG_OUTPUT_CODE, u->text.at);
    if (!TC__PUSH(j->ctx, j->unit, *u)) return tc__text_free(&u->text), 0;
    memset(u, 0, sizeof *u);
    return ok;
}

// The open orders as translation units: half a dozen kernels each, with vectors of one size.
static int tc__job_units(tc__job *j) {
    uint64_t start = tc__now_ns();
    int ok = 1;
    for (int lanes = 2 * TC__VECTOR; ok && lanes >= 1; lanes /= 2) {
        tc__unit u;
        memset(&u, 0, sizeof u);
        for (uint32_t i = 0; ok && i < j->order.count; i++) {
            const tc__order *o = &j->order.at[i];
            if (o->settled || o->lanes != lanes) continue;
            u.order[u.count++] = i;
            if (u.count == TC__UNIT_KERNELS) ok = tc__unit_close(j, &u);
        }
        ok = ok && tc__unit_close(j, &u);
    }
    j->ctx->stats.emit_ns += tc__now_ns() - start;
    return ok;
}

// ---- code comes back ----

static void tc__job_count(const tc__job *j) {
    tc_stats *s = &j->ctx->stats;
    s->cc_ns += j->cc_ns, s->load_ns += j->load_ns, s->compiles += j->compiles;
    s->disk_hits += j->disk_hits, s->disk_misses += j->disk_misses;
    for (size_t i = 0; i < j->order.count; i++) {
        const tc__order *o = &j->order.at[i];
        s->kernels_made += o->run && !o->known, s->fallbacks += !o->run;
    }
}

// The launches get what there is; the job is done with.
static void tc__program_take(tc__program *p, tc__job *j) {
    for (size_t i = 0; i < p->launch.count; i++)
        p->launch.at[i].run = (tc__kernel_fn)j->order.at[p->launch.at[i].order].run;
    tc__job_count(j);
    tc__job_free(j);
    p->compiled = 1;
}

// Gives every launch of the program its compiled code where that is to be had.
static void tc__program_compile(tc__program *p, const char *name) {
    tc_ctx *c = p->ctx;
    tc__desk *k = &c->kernels->desk;
    tc__job *j = tc__program_order(p);
    if (!j) return;
    uint64_t start = tc__now_ns();
    int ready = !tc__job_open_orders(j) || tc__desk_ready(k);
    c->stats.load_ns += tc__now_ns() - start;
    if (ready) tc__job_load(j, k);
    size_t missing = tc__job_open_orders(j);
    tc__log(c, TC__LOG_CACHE, "region \"%s\": %u kernels, %u to compile", name,
            (unsigned)p->launch.count, (unsigned)missing);
    if (missing && (!ready || tc__job_units(j))) tc__job_build(k, j);
    tc__program_take(p, j);
}

// The kernels with vectors of `lanes` elements, as one translation unit.
static int tc__program_print_unit(tc__program *p, tc__text *out, int lanes) {
    tc_ctx *c = p->ctx;
    enum { NAME = 24 };
    size_t most = p->launch.count, n = 0;
    const tc__group **groups = TC__NEW_ARRAY(c, const tc__group *, most);
    const char **symbols = TC__NEW_ARRAY(c, const char *, most);
    char *names = TC__NEW_ARRAY(c, char, most *NAME);
    int ok = groups && symbols && names;
    for (size_t i = 0; ok && i < most; i++) {
        if (tc__group_lanes(p->launch.at[i].group) != lanes) continue;
        snprintf(names + i * NAME, NAME, "kernel_%u", (unsigned)i);
        groups[n] = p->launch.at[i].group, symbols[n++] = names + i * NAME;
    }
    if (n && out->size) tc__put(out, "\n// ==== the next file ====\n\n");
    if (n) ok = ok && tc__print_unit(out, groups, symbols, (int)n, c->target);
    most += !most;
    tc__free(c, groups, most * sizeof *groups);
    tc__free(c, symbols, most * sizeof *symbols);
    tc__free(c, names, most * NAME);
    return ok;
}

// The C text of all kernels of the program, one translation unit for each size of vectors.
TC__UNUSED static int tc__program_print(tc__program *p, tc__text *out) {
    int ok = 1;
    for (int lanes = 2 * TC__VECTOR; ok && lanes >= 1; lanes /= 2)
        ok = tc__program_print_unit(p, out, lanes);
    return ok && !out->failed;
}

#else // TC__JIT

static int tc__kernels_open(tc_ctx *c, const tc_config *config) {
    (void)c, (void)config;
    return 1;
}

static void tc__kernels_close(tc_ctx *c) { (void)c; }

static void tc__program_compile(tc__program *p, const char *name) { (void)p, (void)name; }

TC__UNUSED static int tc__program_print(tc__program *p, tc__text *out) {
    (void)p, (void)out;
    return 0;
}

#endif
