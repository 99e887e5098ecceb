// The profiler's public face: begin and end, the table, the trace file.

// ---- begin and end ----

static void tc__profile_clear(tc__profile *p) {
    TC__VEC_FREE(p->ctx, p->name);
    TC__VEC_FREE(p->ctx, p->event);
    TC__VEC_FREE(p->ctx, p->row);
    tc__map_free(&p->names);
    tc__arena_free(&p->arena);
    p->dropped = 0;
}

static void tc__profile_free(tc_ctx *c) {
    tc__profile *p = c->profile;
    if (!p) return;
    tc__profile_clear(p);
    tc__text_free(&p->text);
    tc__free(c, p, sizeof *p);
    c->profile = c->profiling = NULL;
}

static tc__profile *tc__profile_of(tc_ctx *c) {
    tc__profile *p = c->profile;
    if (p) return p;
    p = c->profile = TC__NEW(c, tc__profile);
    if (!p) return NULL;
    p->ctx = c;
    tc__arena_init(&p->arena, c);
    tc__map_init(&p->names, c);
    tc__text_init(&p->text, c);
    tc__device_yardstick(c, &c->here);
    return p;
}

// The short cut of calls looks for a profile at its timed runs only: the next run is one.
static void tc__profile_calls(tc_ctx *c) {
    for (tc_fn *f = c->fn; f; f = f->next)
        for (tc__entry *e = f->entry; e; e = e->next)
            if (e->leaf->program) ((tc__program *)e->leaf->program)->timed_next = 0;
}

TCDEF tc_status tc_profile_begin(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_profile_begin", NULL, 0);
    if (!tc__is_ours(c, "tc_profile_begin")) return tc__not_ours(c);
    tc__profile *p = tc__pool_need(c) ? tc__profile_of(c) : NULL;
    if (!p) return TC_E_NOMEM;
    tc__profile_clear(p);
    tc__profile_calls(c);
    p->number++, p->thread = tc__thread_self(), p->threads = c->pool->threads;
    p->begun = tc__now_ns(), p->ended = 0;
    c->profiling = p;
    return TC_OK;
}

TCDEF tc_status tc_profile_end(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_profile_end", NULL, 0);
    if (!tc__is_ours(c, "tc_profile_end")) return tc__not_ours(c);
    if (!c->profiling) {
        tc__fail(c, TC_E_STATE, "tc_profile_end: no profile was begun; tc_profile_begin");
        return TC_E_STATE;
    }
    c->profiling->ended = tc__now_ns();
    c->profiling = NULL;
    return TC_OK;
}

// ---- the table ----

static void tc__put_right(tc__text *t, int width, uint64_t v, int digits) {
    tc__text word;
    tc__text_init(&word, t->ctx);
    tc__put_fixed(&word, v, digits);
    tc__put(t, "%*s", width, word.at);
    tc__text_free(&word);
}

// A name on one line.
static void tc__put_word(tc__text *t, const char *s) {
    for (; *s; s++) tc__put(t, "%c", (unsigned char)*s < ' ' ? '?' : *s);
}

static void tc__put_rate(tc__text *t, const tc__profile_row *r) {
    double rate = r->ns ? (double)r->bytes / (double)r->ns : 0; // GB/s
    tc__put_right(t, 8, (uint64_t)(rate * 100 + 0.5), 2);
    if (r->copy_ns > 0 && r->ns)
        tc__put_right(t, 6, (uint64_t)(r->copy_ns / (double)r->ns * 100 + 0.5), 0);
    else
        tc__put(t, "%6s", "?");
    tc__put(t, " %%");
}

static void tc__put_profile_row(tc__text *t, const tc__profile *p,
                                const tc__profile_row *r) {
    const char *tier = r->device                 ? tc__device_name(p->ctx, r->device)
                       : r->compiled == r->calls ? "compiled"
                       : r->compiled             ? "both"
                                                 : "interpreted";
    tc__put_right(t, 8, r->calls, 0);
    tc__put_right(t, 12, r->ns / 100, 1);
    tc__put_right(t, 11, r->ns / r->calls / 100, 1);
    tc__put_right(t, 13, r->bytes / r->calls, 0);
    tc__put_rate(t, r);
    tc__put(t, "  %-12s %s of ", tier, r->kernel);
    tc__put_word(t, p->name.at[r->where]);
    tc__put(t, ", program %u\n", (unsigned)r->program);
}

// Bytes per second that a copy of size i reads and writes; 0 = unknown.
static uint64_t tc__copy_rate(const tc__device *d, int i) {
    double ns = (double)d->copy_ns[i];
    return ns > 0 ? (uint64_t)(2e9 * tc__yardsticks[i] / ns) : 0;
}

static void tc__put_device_peak(tc__text *t, const tc__device *d) {
    tc__put(t, "peak of %s: ", d->own.name);
    if (!d->copy_ns[0]) {
        tc__put(t, "unknown; its kernels are run one by one\n");
        return;
    }
    tc__put(t, "copies of ");
    for (int i = 1; i < TC__YARDSTICKS; i++)
        tc__put(t, i > 1 ? ", %u" : "%u", (unsigned)(tc__yardsticks[i] >> 20));
    for (int i = 1; i < TC__YARDSTICKS; i++) {
        tc__put(t, i > 1 ? ", " : " MB run at ");
        tc__put_fixed(t, tc__copy_rate(d, i) / 10000000, 2);
    }
    tc__put(t, " GB/s, of %u KB in ", (unsigned)(tc__yardsticks[0] >> 10));
    tc__put_fixed(t, d->copy_ns[0] / 100, 1);
    tc__put(t, " us; its kernels are run one by one\n");
}

// For what was profiled.
static void tc__put_device_peaks(tc__text *t, const tc__profile *p) {
    const tc__values *v = tc__values_of(p->ctx);
    for (size_t i = 0; i < v->device.count; i++) {
        const tc__device *d = v->device.at[i];
        if (d->measured) tc__put_device_peak(t, d);
    }
}

static void tc__put_profile_head(tc__text *t, const tc__profile *p) {
    uint64_t calls = 0, ns = 0, end = p->ended ? p->ended : tc__now_ns();
    for (size_t i = 0; i < p->row.count; i++)
        calls += p->row.at[i].calls, ns += p->row.at[i].ns;
    tc__put(t, "profile of ");
    tc__put_fixed(t, (end - p->begun) / 1000, 3);
    tc__put(t, " ms%s: %llu runs of %zu kernels took ", p->ended ? "" : ", which goes on",
            (unsigned long long)calls, p->row.count);
    tc__put_fixed(t, ns / 1000, 3);
    tc__put(t, " ms; %zu events kept, %llu dropped\n", p->event.count,
            (unsigned long long)p->dropped);
    tc__put(t, "peak: ");
    tc__put_fixed(t, tc__copy_rate(&p->ctx->here, TC__YARDSTICKS - 1) / 10000000, 2);
    tc__put(
        t, " GB/s, a copy of %d MB by %d threads, measured at the first tc_profile_begin\n",
        TC__YARDSTICK >> 20, p->threads);
    tc__put_device_peaks(t, p);
    tc__put(
        t, "bytes are those of each buffer that a kernel reads or writes, once a call, "
           "of what values name as many as\nare named; peak: the time of a copy of as many "
           "there, by the kernel's\n\n");
    tc__put(t, "%8s%12s%11s%13s%8s%8s  %-12s %s\n", "calls", "total us", "us/call",
            "bytes/call", "GB/s", "peak", "runs", "kernel");
}

// Rows by time, the slowest first; equal ones in the order they came.
static void tc__profile_order(const tc__profile *p, uint32_t *at) {
    for (uint32_t i = 0; i < p->row.count; i++) {
        uint32_t k = i;
        for (; k && p->row.at[at[k - 1]].ns < p->row.at[i].ns; k--) at[k] = at[k - 1];
        at[k] = i;
    }
}

TCDEF const char *tc_profile_text(tc_ctx *c) {
    static const char nothing[] = "nothing was profiled: see tc_profile_begin\n";
    if (!c) return tc__fail_no_context("tc_profile_text", NULL, 0), nothing;
    if (!tc__is_ours(c, "tc_profile_text")) return "";
    tc__profile *p = c->profile;
    if (!p || !p->number) return nothing;
    tc__text *t = &p->text;
    uint32_t *at = TC__NEW_ARRAY(c, uint32_t, p->row.count);
    if (!at) return "";
    tc__text_clear(t);
    tc__profile_order(p, at);
    tc__put_profile_head(t, p);
    for (size_t i = 0; i < p->row.count; i++) tc__put_profile_row(t, p, &p->row.at[at[i]]);
    TC__FREE_ARRAY(c, at, p->row.count);
    return t->at;
}

// ---- the trace file ----

static const char *const tc__span_names[TC__SPAN_KINDS] = {
    "record", "passes", "text", "compiler", "load", "autotune", "run", "kernel", "part"};

static void tc__put_event_args(tc__text *t, const tc__profile *p, const tc__event *e) {
    if (e->kind != TC__SPAN_KERNEL && e->kind != TC__SPAN_PART) {
        if (e->of != UINT32_MAX) {
            tc__put(t, "\"region\":");
            tc__put_json(t, p->name.at[e->of]);
        }
        return;
    }
    const tc__profile_row *r = &p->row.at[e->of];
    tc__put(t, "\"region\":");
    tc__put_json(t, p->name.at[r->where]);
    tc__put(t, ",\"program\":%u,\"compiled\":%s", (unsigned)r->program,
            e->compiled ? "true" : "false");
    if (e->kind == TC__SPAN_KERNEL)
        tc__put(t, ",\"bytes\":%lld,\"items\":%lld", (long long)e->bytes,
                (long long)e->items);
}

static void tc__put_event(tc__text *t, const tc__profile *p, const tc__event *e) {
    const char *kind = tc__span_names[e->kind];
    int kernel = e->kind == TC__SPAN_KERNEL || e->kind == TC__SPAN_PART;
    tc__put(t, ",\n{\"name\":");
    if (kernel) {
        tc__put_json(t, p->row.at[e->of].kernel);
    } else if (e->of != UINT32_MAX) {
        tc__text name;
        tc__text_init(&name, t->ctx);
        tc__put(&name, "%s %s", kind, p->name.at[e->of]);
        tc__put_json(t, name.at);
        tc__text_free(&name);
    } else {
        tc__put_json(t, kind);
    }
    tc__put(t, ",\"cat\":\"%s\",\"ph\":\"X\",\"ts\":", kind);
    tc__put_fixed(t, e->start - p->begun, 3);
    tc__put(t, ",\"dur\":");
    tc__put_fixed(t, e->ns, 3);
    tc__put(t, ",\"pid\":1,\"tid\":%u,\"args\":{", (unsigned)e->thread);
    tc__put_event_args(t, p, e);
    tc__put(t, "}}");
}

static void tc__put_thread_name(tc__text *t, int thread) {
    tc__put(t, ",\n{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":1,\"tid\":%d,\"args\":",
            thread);
    if (thread > TC__DEVICES)
        tc__put(t, "{\"name\":\"%s\"}}", tc__device_name(t->ctx, thread - TC__DEVICES));
    else if (thread)
        tc__put(t, "{\"name\":\"worker %d\"}}", thread);
    else
        tc__put(t, "{\"name\":\"caller\"}}");
}

static void tc__put_trace(tc__text *t, const tc__profile *p) {
    tc__put(t,
            "{\"displayTimeUnit\":\"ns\",\n\"otherData\":{\"tcompile\":\"%s\","
            "\"events\":%zu,\"dropped\":%llu,\"peak_copy_bytes_per_second\":%llu},\n"
            "\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":1,"
            "\"tid\":0,\"args\":{\"name\":\"tcompile\"}}",
            TC_VERSION, p->event.count, (unsigned long long)p->dropped,
            (unsigned long long)tc__copy_rate(&p->ctx->here, TC__YARDSTICKS - 1));
    for (int i = 0; i < p->threads; i++) tc__put_thread_name(t, i);
    for (size_t i = 1; i <= tc__values_of(p->ctx)->device.count; i++)
        tc__put_thread_name(t, TC__DEVICES + (int)i);
    for (size_t i = 0; i < p->event.count; i++) tc__put_event(t, p, &p->event.at[i]);
    tc__put(t, "\n]}\n");
}

TCDEF tc_status tc_profile_trace_at(tc_ctx *c, const char *path, const char *file,
                                    int line) {
    tc__site site;
    tc__text t;
    if (!c) return tc__fail_no_context("tc_profile_trace", file, line);
    site.file = file, site.line = line;
    tc__site_set(c, site);
    if (!tc__is_ours(c, "tc_profile_trace")) return tc__not_ours(c);
    if (!c->profile || !c->profile->number) {
        tc__fail(c, TC_E_STATE, "tc_profile_trace: nothing was profiled; tc_profile_begin");
        return TC_E_STATE;
    }
    tc__text_init(&t, c);
    tc_status outer = tc__unit_begin(c);
    tc__put_trace(&t, c->profile);
    int ok = !tc__core_of(c)->unit_item; // else something is missing
    ok = ok && tc__text_save(&t, "tc_profile_trace", path) == TC_OK;
    tc_status status = tc__unit_end(c, outer, ok);
    tc__text_free(&t);
    return status;
}
