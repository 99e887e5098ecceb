// The host as a maker of code (tc__maker of exec/library.c): the system's C compiler, shared objects. What
// has no code is interpreted, after one line of the log; for how long, if it may pass.

#if TC__JIT

static int tc__desk_find(tc__desk *k) {
    tc__cc_options o;
    if (k->cc) return 1;
    memset(&o, 0, sizeof o);
    o.compiler = k->library->compiler, o.cpu = k->library->cpu;
    o.limit_ms = k->library->compile_ms, o.memory = k->library->compile_memory;
    if (k->library->disk && !k->cache)
        k->cache = tc__cache_open(k->ctx, k->library->cache_dir);
    k->cc = tc__cc_open(k->ctx, &o, k->cache);
    if (k->cc) k->cc->cancel = k->cancel;
    return k->cc != NULL;
}

// Finds compiler and cache; 0 = no compiler at all, or none for now.
static int tc__desk_ready(tc__desk *k) {
    if (!tc__desk_find(k)) return 0;
    if (tc__cc_is_known(k->cc)) return 1;
    if (tc__library_rests(k->library)) return 0;
    uint64_t start = tc__now_ns();
    if (tc__cc_identity(k->cc)) return 1;
    if (k->cc->passes) tc__library_rest(k, 1, tc__now_ns() - start, k->cc->why.at);
    return 0;
}

// The same, but never starts a program: 0 also where the compiler would have to be asked.
static int tc__desk_is_ready(tc__desk *k) {
    return tc__desk_find(k) && tc__cc_is_known(k->cc);
}

static void tc__library_warn(tc__desk *k, const char *what, const char *why) {
    tc__library_lock(k->library);
    int before = k->library->warned++;
    tc__library_unlock(k->library);
    if (before) return;
    tc__warn(k->ctx, "%s; kernels run in the interpreter, with the same results: %s", what,
             why ? why : "?");
}

static const char *tc__host_identity(tc__desk *k) { return tc__cc_identity(k->cc); }

static void tc__host_machine(const tc__desk *k, tc__text *out, int threads) {
    tc__put(out, "cpu %08x %08x, %d threads", tc__cpu_of(k->ctx), (unsigned)tc__cpu_model(),
            threads);
}

static const tc__dialect *tc__host_dialect(const tc__library *b) {
    return (void)b, &tc__dialect_c;
}

// ---- units ----

// A product takes the compiler as long as several others, and units are compiled at the same time: two
// products in one unit would be waited for.
static void tc__host_describe(tc_ctx *c, tc__order *o) {
    const tc__custom *op = tc__custom_of_group(c, o->group);
    if (tc__has_blocks(o->group)) o->weight = TC__UNIT_KERNELS * 2 / 3;
    if (o->group->shape.kind != TC__OPAQUE) o->lanes = tc__group_lanes(o->group);
    if (!op) return;
    o->custom = op->op.name, o->has_host = op->op.run != NULL;
    o->whole = o->alone = 1;
}

static uint32_t tc__host_room(const tc__job *j) { return (void)j, TC__UNIT_KERNELS; }

// What stands at the head of a unit for kernels that need not be strict.
static void tc__put_numerics(tc__text *out, int numerics) {
    if (numerics == TC_NUMERICS_STRICT) return;
    tc__put(
        out,
        "// TC_NUMERICS_FAST: this overrides the -ffp-contract=off below.\n"
        "#ifdef __clang__\n#pragma clang fp contract(fast)\n#else\n"
        "#pragma GCC optimize(\"fp-contract=fast\", \"expensive-optimizations\")\n#endif\n");
}

static int tc__host_prelude(tc__job *j, const tc__unit *u, tc__text *out) {
    const tc__group *groups[TC__UNIT_ROOM];
    const tc__text *texts[TC__UNIT_ROOM];
    for (uint32_t i = 0; i < u->count; i++) {
        groups[i] = j->order.at[u->order[i]].group;
        texts[i] = &j->order.at[u->order[i]].text;
    }
    tc__put_numerics(out, j->numerics);
    return tc__print_prelude(out, groups, (int)u->count, texts, (int)u->count,
                             (tc__emit)j->library->target, j->order.at[u->order[0]].lanes);
}

// ---- the compiler ----

enum { TC__HOST_UNITS = 16 }; // given to the compiler at once

static tc_status tc__host_build(tc__desk *k, tc__job *j, tc_device_text *text, int n) {
    tc__blob so[TC__HOST_UNITS];
    const char *source[TC__HOST_UNITS];
    size_t size[TC__HOST_UNITS];
    (void)j;
    for (int i = 0; i < n; i++) source[i] = text[i].text, size[i] = strlen(text[i].text);
    uint64_t start = tc__now_ns();
    int built = tc__cc_build_all(k->cc, source, size, n, so);
    if (!built && k->cc->passes)
        tc__library_rest(k, 1, tc__now_ns() - start, k->cc->why.at);
    if (built) tc__library_rest(k, 0, 0, NULL);
    for (int i = 0; i < n; i++) text[i].code = so[i].at, text[i].bytes = so[i].size;
    return TC_OK;
}

static void tc__host_drop(tc__desk *k, tc_device_text *text, int n) {
    for (int i = 0; i < n; i++) {
        tc__blob so;
        so.at = (uint8_t *)text[i].code, so.size = text[i].bytes;
        tc__blob_free(k->ctx, &so);
        text[i].code = NULL;
    }
}

// ---- trouble ----

// Text of the user's that is no kernel. Without run it will be an error where it is needed.
static void tc__custom_warn(tc__desk *k, const tc__order *o, int compiled) {
    tc__warn(k->ctx, "custom op \"%s\": its c_source %s%s\n%s", o->custom,
             compiled ? "does not load; does it call something outside itself?"
                      : "does not compile",
             o->has_host ? "; run is called instead" : "", compiled ? "" : k->cc->why.at);
}

// The line of a compiler's words that tells most: the first error, else the first.
static int tc__error_line(const char *why, const char **at) {
    const char *error = why ? strstr(why, "error:") : NULL;
    *at = why ? why : "?";
    while (error && error > why && error[-1] != '\n') error--;
    if (error) *at = error;
    return (int)strcspn(*at, "\n");
}

// Whether it fell over a text, as one does that has not enough stack: that is not the text's fault.
static int tc__compiler_crashed(const char *why) {
    return why && (strstr(why, "internal compiler error") || strstr(why, "by signal"));
}

static void tc__refused_warn(tc__desk *k, const tc__order *o) {
    const char *line, *why = k->cc->why.at;
    int size = tc__error_line(why, &line), crashed = tc__compiler_crashed(why);
    tc__warn(k->ctx,
             "the compiler %s the text of kernel %s: %s. It runs in the interpreter, with "
             "the same results; the other kernels of the program are compiled: %.*s",
             crashed ? "crashed over" : "refused", o->symbol,
             crashed ? "give it more memory or stack (ulimit -s), or another one (CC)"
                     : "a fault of tcompile, please report it with TC_LOGS=output_unit",
             size, line);
}

// Kernels of a unit have no code, and will not have any.
static void tc__host_gives_up(tc__desk *k, tc__job *j, const tc__unit *u, int compiled) {
    const tc__order *first = &j->order.at[u->order[0]];
    tc__unit_settle(k->library, j, u, TC__TEXT_FINE);
    if (j->trial)
        tc__log(k->ctx, TC__LOG_AUTOTUNE, "candidates that do not compile");
    else if (first->custom)
        tc__custom_warn(k, first, compiled);
    else
        tc__library_warn(
            k, compiled ? "compiled kernels could not be loaded" : "the compiler failed",
            compiled ? NULL : k->cc->why.at);
    if (!j->trial && !first->custom && compiled) tc__cc_distrust(k->cc);
}

// The one kernel of a unit has no code, and it is the text's fault.
static void tc__host_refuses(tc__desk *k, tc__job *j, const tc__unit *u) {
    const tc__order *o = &j->order.at[u->order[0]];
    tc__unit_settle(k->library, j, u, TC__TEXT_REFUSED);
    if (o->custom)
        tc__custom_warn(k, o, 0);
    else
        tc__refused_warn(k, o);
}

// Whether the compiler compiles anything; 0 also where that could not be found out, which tc__cc_undecided
// tells. Its words about what it was given last are lost.
static int tc__host_works(tc__desk *k) {
    static const char text[] = "int tc_probe(void);\nint tc_probe(void) { return 1; }\n";
    uint64_t start = tc__now_ns();
    tc__blob so;
    int works = tc__cc_build(k->cc, text, sizeof text - 1, &so);
    tc__blob_free(k->ctx, &so);
    if (!works && k->cc->passes)
        tc__library_rest(k, 1, tc__now_ns() - start, k->cc->why.at);
    return works;
}

// Kernel i of a unit as a unit of its own; the head of the text is that of all.
static void tc__unit_alone(tc__desk *k, tc__job *j, const tc__unit *u, uint32_t i,
                           tc__unit *one) {
    const tc__text *text = &j->order.at[u->order[i]].text;
    size_t head = u->text.size;
    for (uint32_t n = 0; n < u->count; n++) head -= j->order.at[u->order[n]].text.size;
    memset(one, 0, sizeof *one);
    one->order[0] = u->order[i], one->count = 1;
    tc__text_init(&one->text, k->ctx);
    tc__put_raw(&one->text, u->text.at, head);
    tc__put_raw(&one->text, text->at, text->size);
}

// A kernel that is compiled alone; 0 = no memory.
static int tc__unit_again(tc__desk *k, tc__job *j, tc__unit *one) {
    tc_device_text made;
    memset(&made, 0, sizeof made);
    made.name = j->order.at[one->order[0]].symbol, made.text = one->text.at;
    if (one->text.failed) return 0;
    uint64_t start = tc__now_ns();
    (void)tc__host_build(k, j, &made, 1);
    tc__job_span(j, start, 1);
    j->compiles++;
    if (made.code)
        tc__unit_load(k, j, one, &made);
    else if (tc__cc_undecided(k->cc))
        tc__unit_postpone(j, one);
    else
        tc__host_refuses(k, j, one);
    tc__host_drop(k, &made, 1);
    return 1;
}

// The compiler works and has no code for this unit: it is tried kernel by kernel, so that one broken
// text is one kernel's, and the compiler's words are about that.
static void tc__unit_apart(tc__desk *k, tc__job *j, const tc__unit *u) {
    for (uint32_t i = 0; i < u->count; i++) {
        tc__unit one;
        tc__unit_alone(k, j, u, i, &one);
        if (!tc__unit_again(k, j, &one)) tc__unit_postpone(j, &one);
        tc__text_free(&one.text);
    }
}

// A unit has no code, and another try makes no sense unless the compiler itself is broken.
static void tc__host_refused(tc__desk *k, tc__job *j, const tc__unit *u) {
    if (!j->trial && tc__host_works(k))
        tc__unit_apart(k, j, u);
    else if (!j->trial && tc__cc_undecided(k->cc))
        tc__unit_postpone(j, u);
    else
        tc__host_gives_up(k, j, u, 0);
}

static void tc__host_unbuilt(tc__desk *k, tc__job *j, tc__unit *u, tc_status s) {
    int undecided = !k->cc || tc__cc_undecided(k->cc);
    if (s && !undecided && !tc__library_rests(k->library))
        tc__library_warn(k, "no compiler can be used", k->cc->why.at);
    else if (s || undecided)
        tc__unit_postpone(j, u);
    else
        tc__host_refused(k, j, u);
}

static void tc__host_unloaded(tc__desk *k, tc__job *j, tc__unit *u, tc_status s) {
    if (s != TC_E_NOMEM) {
        tc__host_gives_up(k, j, u, 1);
        return;
    }
    tc__unit_postpone(j, u);
    tc__library_rest(k, 1, 0, "compiled kernels cannot be loaded");
}

static const char *tc__host_other(const tc__desk *k, const tc_device_text *text,
                                  tc__blob *code) {
    return (void)k, (void)text, (void)code, (const char *)NULL;
}

static const tc__maker tc__host_maker = {
    tc__host_dialect, TC__HOST_UNITS,    1,
    tc__desk_ready,   tc__desk_is_ready, tc__host_identity,
    tc__host_machine, tc__host_describe, tc__host_room,
    tc__host_prelude, tc__host_build,    tc__host_drop,
    tc__host_unbuilt, tc__host_unloaded, tc__host_other,
};

static void tc__desk_open(tc__desk *k, tc_ctx *c, tc__library *b) {
    memset(k, 0, sizeof *k);
    k->ctx = c, k->library = b, k->maker = &tc__host_maker;
}

#endif // TC__JIT
