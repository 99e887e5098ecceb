// What the regions and functions of a context became: tc_explain, tc_explain_counts and what else a
// program can ask of itself. Everything is read from the tries, whose leaves own the programs. It begins
// with what exec/summary.c says.
//
// Not the last visit is told of, but all breaks and ends of a region's paths. Programs are
// numbered by region in the order of making; one that is made again keeps its number.

// ---- the last visit ----

// The visit that ended last, NULL = none did.
static const tc__visit *tc__last_visit(const tc__region *r) {
    for (int i = 0; i < TC__VISITS && r->visit[i]; i++) {
        const tc__visit *v = r->visit[i];
        size_t n = v->path.count;
        if (v->state != TC__VISIT_OPEN && n && v->path.at[n - 1]->op == TC_OP_FINISH)
            return v;
    }
    return NULL;
}

static tc__program *tc__last_program(const tc__region *r) {
    const tc__visit *v = tc__last_visit(r);
    return v ? (tc__program *)v->path.at[v->path.count - 1]->program : NULL;
}

// The youngest region of this name that has run.
static const tc__region *tc__region_named(tc_ctx *c, const char *name) {
    for (const tc__region *r = c ? tc__recorder_of(c)->region : NULL; r && name;
         r = r->next)
        if (!strcmp(r->name, name) && tc__last_program(r)) return r;
    return NULL;
}

// ---- words ----

// Each line of `lines` behind `before`.
static void tc__put_lines(tc__text *t, const char *before, const tc__text *lines) {
    const char *at = lines->at, *end;
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1)
        tc__put(t, "%s%.*s\n", before, (int)(end - at), at);
}

static void tc__explain_graph(tc__text *t, const tc__program *p) {
    uint32_t *at = TC__NEW_ARRAY(p->ctx, uint32_t, p->output.count);
    size_t n = 0;
    for (size_t i = 0; at && i < p->output.count; i++) at[n++] = p->output.at[i].node;
    if (at) tc__dump_graph(t, &p->graph, at, n);
    TC__FREE_ARRAY(p->ctx, at, p->output.count);
}

static void tc__explain_outputs(tc__text *t, const tc__visit *v, const tc__program *p) {
    static const char *const how[] = {"", ", is the external",
                                      ", written by the kernel itself"};
    for (size_t i = 0; i < p->output.count; i++) {
        const tc__output *o = &p->output.at[i];
        const char *note = how[o->direct ? 2 : o->alias ? 1 : 0];
        if (o->position == UINT32_MAX) {
            tc__put(t, "    %%%u written back to x%u%s\n", (unsigned)o->node,
                    (unsigned)o->external, note);
            continue;
        }
        tc__put(t, "    %%%u result %u of ", (unsigned)o->node, (unsigned)o->position);
        tc__put_site(t, v->path.at[o->position]->site);
        tc__put(t, "%s\n", note);
    }
}

// ---- programs ----

static void tc__explain_times(tc__text *t, const tc__program *p) {
    const tc_stats *a = &p->after, *b = &p->before;
    tc__put(t, "made in ");
    tc__put_us(t, tc__made_ns(p));
    tc__put(t, " us: passes ");
    tc__put_us(t, a->pass_ns - b->pass_ns);
    tc__put(t, ", text ");
    tc__put_us(t, a->emit_ns - b->emit_ns);
    tc__put(t, ", compiler ");
    tc__put_us(t, a->cc_ns - b->cc_ns);
    tc__put(t, ", load ");
    tc__put_us(t, a->load_ns - b->load_ns);
    if (p->tune_ns) tc__put(t, "\nkernels measured in "), tc__put_us(t, p->tune_ns);
    tc__put(t, p->tune_ns ? " us\nran " : "\nran ");
    tc__put_count(t, p->runs, "time");
    tc__put(t, ", ");
    tc__put_us(t, p->runs ? p->run_ns / p->runs : 0);
    tc__put(t, " us each");
    if (p->runs && (p->size.count || p->arg.count)) {
        tc__put(t, "; the last time with");
        tc__put_run_values(t, p);
    }
    tc__put(t, "\n");
}

// What a break reads: "mul %2 (main.c:9)".
static void tc__put_read(tc__text *t, const tc__visit *v, const tc__step *s) {
    if (s->in[0] & TC__EXTERNAL) {
        tc__put(t, "x%u", (unsigned)(s->in[0] & ~TC__EXTERNAL));
        return;
    }
    const tc__step *from = v->path.at[s->in[0]];
    tc__put(t, "%s %%%u (", tc__step_name(from), (unsigned)s->in[0]);
    tc__put_site(t, from->site);
    tc__put(t, ")");
}

static void tc__explain_break(tc__text *t, const tc__visit *v, const tc__step *s) {
    tc__put(t, "a graph break: a value is read at ");
    tc__put_site(t, s->site);
    tc__put(t, ", of ");
    tc__put_read(t, v, s);
}

static void tc__explain_guards(tc__text *t, const tc__visit *v) {
    tc__text lines;
    tc__text_init(&lines, t->ctx);
    tc__put_path_guards(&lines, v);
    tc__put(t, "\nguards, beside the ops themselves\n");
    tc__put_lines(t, "    ", &lines);
    tc__text_free(&lines);
}

// "on cuda:0, 1024 blocks of 256 threads, 40 registers, ...": each launch that it is on a device.
static void tc__explain_dispatch(tc__text *t, const tc__dispatch *r, uint32_t i) {
    const tc__dispatch_launch *l = &r->launch[i];
    const tc_device *d = &r->device->own;
    char text[200];
    int count = l->by ? 0 : l->pieces ? 1 : l->grids.count;
    if (l->by) tc__put(t, "    runs on the host, between two lists of %s, as ", d->name);
    if (l->pieces)
        tc__put(t, "    one of %u kernels in a launch for %u tensors\n",
                (unsigned)tc__dispatch_kernels_at(r, l->first),
                (unsigned)tc__dispatch_tensors_at(r, l->first));
    for (int k = 0; k < count; k++) {
        const tc_device_launch *at = &r->list[l->first + (uint32_t)k];
        tc__put(t, "    on %s: %u blocks of %u threads", d->name, (unsigned)at->blocks,
                (unsigned)at->threads);
        if (at->shared) tc__put(t, ", %u bytes shared", (unsigned)at->shared);
        if (at->cluster) tc__put(t, ", clusters of %u", (unsigned)at->cluster);
        if (l->beside == TC__BESIDE_FOLLOWS) tc__put(t, ", beside the one before");
        text[0] = 0;
        if (d->describe && at->kernel) d->describe(d->user, at->kernel, text, sizeof text);
        tc__put(t, "%s%s%s", *text ? "; " : "", text, k + 1 < count ? "; then\n" : " as ");
    }
}

// "list of launches 0..5 on cuda:0: a graph, ...".
static void tc__explain_lists(tc__text *t, const tc__dispatch *r) {
    const tc_device *d = &r->device->own;
    char text[300];
    for (uint32_t i = 0; i < r->parts; i++) {
        const tc__dispatch_part *part = &r->part[i];
        if (!d->tell || !part->plan) continue;
        d->tell(d->user, part->plan, text, sizeof text);
        tc__put(t, "list of launches %u..%u on %s: %s\n", (unsigned)part->begin,
                (unsigned)part->end - 1, d->name, text);
    }
}

static const char *tc__launch_how(const tc__launch *l) {
    if (l->custom && l->run == l->custom->host) return "the host's function";
    if (l->opaque && !l->custom) return "the library's function";
    return l->run ? "compiled" : "in the interpreter";
}

// How a kernel of "max-autotune" was chosen; nothing in other modes.
static void tc__explain_tuned(tc__text *t, const tc__launch *l) {
    const tc__chosen *c = &l->chosen;
    int found = l->tuned == TC__TUNED_HERE || l->tuned == TC__TUNED_KNOWN;
    if (l->tuned == TC__TUNED_NOT || l->opaque) return;
    tc__put(t, "autotune: ");
    tc__put_tuning(t, &l->group->shape.tuning);
    if (l->tuned == TC__TUNED_OPEN) tc__put(t, ", not measured");
    if (l->tuned == TC__TUNED_LATE) tc__put(t, ", there was no time to measure it");
    if (found) tc__put(t, ", best of %u: ", (unsigned)c->tried), tc__put_us(t, c->ns);
    if (found && !tc__tuning_is_default(&c->tuning)) {
        tc__put(t, " us, "), tc__put_us(t, c->default_ns);
        tc__put(t, " us by default (");
        tc__put_fixed(t, c->ns ? c->default_ns * 100 / c->ns : 0, 2);
        tc__put(t, "x)");
    } else if (found) {
        tc__put(t, " us");
    }
    if (l->tuned == TC__TUNED_KNOWN) tc__put(t, ", known from before");
    tc__put(t, "\n");
}

static void tc__explain_copy(tc__text *t, const tc__program *p, const tc__group *k) {
    tc__put(t, "    from %s to %s as ",
            tc__device_name(p->ctx, tc__copy_source(&p->graph, k)),
            tc__device_name(p->ctx, k->target.device));
}

// "intermediates of cuda:0: 4096 bytes in one arena, 8192 one by one"
static void tc__explain_plan(tc__text *t, const tc__plan *plan, const char *device) {
    tc__put(t, "intermediates%s%s: %zu bytes in one arena, %zu one by one\n",
            device ? " of " : "", device ? device : "", plan->bytes, plan->unplanned);
}

// "launches: 5, of which 2 for lists of tensors", and what became of lists.
static void tc__explain_launches(tc__text *t, const tc__program *p) {
    uint32_t listed = 0;
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        listed += (uint32_t)r->listed.count;
    if (listed)
        tc__put(t, "launches: %u, of which %u for lists of tensors\n",
                (unsigned)tc__program_runs(p), (unsigned)listed);
    for (const tc__dispatch *r = p->dispatch; r; r = r->next) tc__explain_lists(t, r);
}

// Loops whose threads did not wait for each other.
static void tc__explain_loops(tc__text *t, const tc__program *p) {
    for (size_t i = 0; i < p->graph.loop.count; i++)
        if (p->loops.run[i].gone)
            tc__put(t,
                    "loop %zu: %lld parts of its rows go through all turns by themselves\n",
                    i, (long long)p->loops.run[i].parts);
}

static void tc__explain_plans(tc__text *t, const tc__program *p) {
    int across = tc__program_is_across(p);
    if (!p->devices || p->here) tc__explain_plan(t, &p->plan, across ? "cpu" : NULL);
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        tc__explain_plan(t, &r->plan, across ? r->device->own.name : NULL);
}

static void tc__explain_kernels(tc__text *t, const tc__program *p) {
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        const tc__dispatch *r = tc__launch_on(p, i);
        tc__report_kernel(t, &p->graph, l->group, (uint32_t)i);
        tc__put_calls(t, "    of ", &p->graph, l->group);
        if (r)
            tc__explain_dispatch(t, r, (uint32_t)i);
        else if (tc__is_copy(l->group))
            tc__explain_copy(t, p, l->group);
        else if (tc__foreign_of(p))
            tc__put(t, "    backend \"%s\" has the graph; to us it is ", p->backend->name);
        else
            tc__put(t, "    runs %s as ", tc__launch_how(l));
        tc__put_kernel_name(t, l->group, (uint32_t)i);
        tc__put(t, l->tuned && !l->opaque ? "\n    " : "\n");
        tc__explain_tuned(t, l);
    }
    tc__explain_launches(t, p);
    tc__explain_gradients(t, p);
    tc__explain_plans(t, p);
    tc__explain_loops(t, p);
}

static void tc__explain_program(tc__text *t, const tc__visit *v, const tc__step *s) {
    const tc__program *p = (const tc__program *)s->program;
    tc__put(t, "\nprogram %u at step %u, ", (unsigned)p->number, (unsigned)s->position);
    if (s->op == TC_OP_BREAK)
        tc__explain_break(t, v, s);
    else
        tc__put(t, "the end of the %s", tc__region_kind(v->region));
    tc__put(t, p->forced ? ", op by op: TC_STANCE_FORCE_EAGER\n" : "\n");
    tc__explain_guards(t, v);
    tc__put(t, "\n");
    tc__explain_graph(t, p);
    tc__put(t, "\noutputs\n");
    tc__explain_outputs(t, v, p);
    tc__put(t, "\n");
    tc__explain_kernels(t, p);
    tc__explain_times(t, p);
}

// A break or an end; one without a program found its value in memory, or was never reached.
static void tc__explain_mark(tc__text *t, tc__region *r, tc__step *s) {
    tc__visit v;
    if (!s->program && s->op == TC_OP_FINISH) return;
    if (!tc__path_open(t->ctx, &v, r, s)) return;
    if (s->program) {
        tc__explain_program(t, &v, s);
    } else {
        tc__put(t, "\nno program at step %u, ", (unsigned)s->position);
        tc__explain_break(t, &v, s);
        tc__put(t, ": it was in memory\n");
    }
    tc__path_close(t->ctx, &v);
}

// ---- functions ----

static void tc__explain_entry(tc__text *t, const tc__entry *e, uint32_t number) {
    const tc__program *p = (const tc__program *)e->leaf->program;
    tc__text lines;
    tc__text_init(&lines, t->ctx);
    tc__put_entry_guards(&lines, e);
    tc__put(t, "\nentry %u: ", (unsigned)number);
    tc__put_count(t, e->hits, "call");
    tc__put(t, " skipped the body");
    if (p) tc__put(t, " and ran program %u", (unsigned)p->number);
    tc__put(t, e->checked ? "\n" : "; the next one runs it once more, to compare\n");
    tc__put_lines(t, "    ", &lines);
    tc__text_free(&lines);
}

static void tc__explain_function(tc__text *t, const tc_fn *f) {
    uint32_t n = 0;
    uint64_t hits = 0;
    for (const tc__entry *e = f->entry; e; e = e->next) n++, hits += e->hits;
    tc__put(t, "    %u entr%s, ", (unsigned)n, n == 1 ? "y" : "ies");
    tc__put_count(t, hits, "call");
    tc__put(t, " served without the body\n");
    if (f->miss.kind) {
        tc__put(t, "    the body ran last because: ");
        tc__put_miss_reason(t, &f->miss);
        tc__put(t, "; called at %s:%d\n", f->miss.file ? f->miss.file : "?", f->miss.line);
    }
    if (f->demoted) tc__put(t, "    its body is not skipped: %s\n", f->demoted);
    n = 0;
    for (const tc__entry *e = f->entry; e; e = e->next) tc__explain_entry(t, e, n++);
}

// ---- the report ----

static void tc__explain_head(tc__text *t, const tc__region *r, const tc__overview *o) {
    tc__put(t, "%s \"%s\" at ", tc__region_kind(r), r->name);
    tc__put_site(t, r->begin);
    tc__put(t, ": ");
    tc__put_count(t, r->visits, "visit");
    tc__put(t, ", ");
    tc__put_count(t, o->paths, "path");
    tc__put(t, ", ");
    tc__put_count(t, o->programs, "program");
    tc__put(t, ", ");
    tc__put_count(t, o->breaks, "graph break");
    tc__put(t, "\n");
}

static void tc__explain_region(tc__text *t, tc__region *r) {
    tc__overview o;
    const tc_fn *f = tc__fn_of(t->ctx, r);
    if (tc__overview_open(&o, t->ctx, r)) {
        tc__explain_head(t, r, &o);
        if (f) tc__explain_function(t, f);
        for (size_t i = 0; i < o.mark.count; i++) tc__explain_mark(t, r, o.mark.at[i]);
        tc__put(t, "\n");
    }
    tc__overview_close(&o);
}

// All of the context, all regions and eager ops together.
static void tc__explain_totals(tc__text *t, const tc_ctx *c) {
    const tc_stats *s = &c->stats;
    const struct {
        const char *name;
        uint64_t ns;
    } stage[] = {{"record", s->record_ns}, {"passes", s->pass_ns},
                 {"text", s->emit_ns},     {"compiler", s->cc_ns},
                 {"load", s->load_ns},     {"autotune", s->autotune_ns},
                 {"run", s->run_ns}};
    tc__put(t,
            "all together: %llu visits, %llu eager ops, %llu programs, %llu graph breaks\n",
            (unsigned long long)s->visits, (unsigned long long)s->eager_ops,
            (unsigned long long)s->programs, (unsigned long long)s->graph_breaks);
    tc__put(t, "calls of functions: %llu, %llu without the body\n",
            (unsigned long long)s->calls, (unsigned long long)s->skips);
    tc__put(t, "kernels: %llu made (%llu from disk, %llu units compiled), %llu runs\nus:",
            (unsigned long long)s->kernels_made, (unsigned long long)s->disk_hits,
            (unsigned long long)s->compiles, (unsigned long long)s->kernel_runs);
    for (size_t i = 0; i < TC__COUNT(stage); i++) {
        tc__put(t, "%s %s ", i ? "," : "", stage[i].name);
        tc__put_us(t, stage[i].ns);
    }
    tc__put(t, "\n");
}

TCDEF const char *tc_explain(tc_ctx *c) {
    if (!c) return tc__fail_no_context("tc_explain", NULL, 0), "";
    if (!tc__is_ours(c, "tc_explain")) return "";
    tc__text *t = &c->report;
    tc__text_clear(t);
    tc__explain_summary(t);
    for (tc__region *r = tc__recorder_of(c)->region; r; r = r->next)
        tc__explain_region(t, r);
    if (t->size) tc__explain_totals(t, c);
    if (!t->size) tc__put(t, "no region has run\n");
    return t->at;
}

// ---- counts ----

static int tc__guards_of_region(tc__text *t, tc__region *r, const tc__overview *o) {
    const tc_fn *f = tc__fn_of(t->ctx, r);
    tc__visit v;
    for (const tc__entry *e = f ? f->entry : NULL; e; e = e->next)
        tc__put_entry_guards(t, e);
    for (size_t i = 0; i < o->mark.count; i++) {
        if (!o->mark.at[i]->program) continue;
        if (!tc__path_open(t->ctx, &v, r, o->mark.at[i])) return 0;
        tc__put_path_guards(t, &v);
        tc__path_close(t->ctx, &v);
    }
    return !t->failed;
}

static int tc__count_region(tc_ctx *c, tc__region *r, tc_explanation *e) {
    tc__overview o;
    tc__text guards;
    tc__text_init(&guards, c);
    int ok = tc__overview_open(&o, c, r) && tc__guards_of_region(&guards, r, &o);
    e->graphs += (int)o.paths, e->breaks += (int)o.breaks;
    e->programs += (int)o.programs, e->kernels += (int)o.kernels, e->ops += (int)o.ops;
    e->guards += (int)tc__count_lines(&guards);
    tc__text_free(&guards);
    tc__overview_close(&o);
    return ok;
}

TCDEF tc_explanation tc_explain_counts(tc_ctx *c, const char *name) {
    tc_explanation e, none;
    memset(&none, 0, sizeof none);
    e = none;
    if (!c) return tc__fail_no_context("tc_explain_counts", NULL, 0), none;
    if (!tc__is_ours(c, "tc_explain_counts")) return none;
    for (tc__region *r = tc__recorder_of(c)->region; r; r = r->next)
        if ((!name || !strcmp(r->name, name)) && !tc__count_region(c, r, &e)) return none;
    return e;
}

// ---- one region ----

TCDEF const char *tc_region_source(tc_ctx *c, const char *name) {
    if (!c) return tc__fail_no_context("tc_region_source", NULL, 0), (const char *)NULL;
    if (!tc__is_ours(c, "tc_region_source")) return NULL;
    const tc__region *r = tc__region_named(c, name);
    tc__program *p = r ? tc__last_program(r) : NULL;
    tc__text t;
    if (!p || p->source) return p ? p->source : NULL;
    tc__text_init(&t, c);
    if (!tc__program_text(p, &t) || !t.capacity) {
        tc__text_free(&t);
        return NULL;
    }
    p->source = t.at, p->source_size = t.capacity; // freed with the program
    return p->source;
}

TCDEF int tc_region_kernels(tc_ctx *c, const char *name) {
    if (!c) return tc__fail_no_context("tc_region_kernels", NULL, 0), 0;
    if (!tc__is_ours(c, "tc_region_kernels")) return 0;
    const tc__region *r = tc__region_named(c, name);
    return r ? (int)tc__last_program(r)->launch.count : 0;
}
