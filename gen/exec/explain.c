// What the regions of a context became: tc_explain, tc_region_source, tc_region_kernels.
// Everything is read from the last finished visit of a region: its path owns the programs.

// The visit that ended last, NULL = none did.
static const tc__visit *tc__last_visit(const tc__region *r) {
    for (int i = 0; i < 2; i++) {
        const tc__visit *v = &r->visit[i ? !r->current : r->current];
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

// ---- report ----

static void tc__explain_site(tc__text *t, tc__site s) {
    tc__put(t, "%s:%d", s.file ? s.file : "?", s.line);
}

static void tc__explain_graph(tc__text *t, const tc__program *p) {
    uint32_t *at = TC__NEW_ARRAY(p->ctx, uint32_t, p->output.count);
    size_t n = 0;
    for (size_t i = 0; at && i < p->output.count; i++) at[n++] = p->output.at[i].node;
    if (at) tc__dump_graph(t, &p->graph, at, n);
    tc__free(p->ctx, at, (p->output.count ? p->output.count : 1) * sizeof *at);
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
        tc__explain_site(t, v->path.at[o->position]->site);
        tc__put(t, "%s\n", note);
    }
}

static double tc__us(uint64_t ns) { return (double)ns / 1000; }

static void tc__explain_times(tc__text *t, const tc__program *p) {
    const tc_stats *a = &p->after, *b = &p->before;
    tc__put(t, "made in %.1f us: passes %.1f, text %.1f, compiler %.1f, load %.1f\n",
            tc__us(tc__made_ns(p)), tc__us(a->pass_ns - b->pass_ns),
            tc__us(a->emit_ns - b->emit_ns), tc__us(a->cc_ns - b->cc_ns),
            tc__us(a->load_ns - b->load_ns));
    tc__put(t, "ran %llu time%s, %.1f us each\n", (unsigned long long)p->runs,
            p->runs == 1 ? "" : "s", p->runs ? tc__us(p->run_ns) / (double)p->runs : 0);
}

// All of the context, all regions and eager ops together.
static void tc__explain_totals(tc__text *t, const tc_ctx *c) {
    const tc_stats *s = &c->stats;
    tc__put(t,
            "all together: %llu visits, %llu eager ops, %llu programs, %llu graph breaks\n",
            (unsigned long long)s->visits, (unsigned long long)s->eager_ops,
            (unsigned long long)s->programs, (unsigned long long)s->graph_breaks);
    tc__put(t, "kernels: %llu made (%llu from disk, %llu units compiled), %llu runs\n",
            (unsigned long long)s->kernels_made, (unsigned long long)s->disk_hits,
            (unsigned long long)s->compiles, (unsigned long long)s->kernel_runs);
    tc__put(t,
            "us: record %.1f, passes %.1f, text %.1f, compiler %.1f, load %.1f, run %.1f\n",
            tc__us(s->record_ns), tc__us(s->pass_ns), tc__us(s->emit_ns), tc__us(s->cc_ns),
            tc__us(s->load_ns), tc__us(s->run_ns));
}

static void tc__explain_program(tc__text *t, const tc__visit *v, const tc__step *s) {
    tc__program *p = (tc__program *)s->program;
    tc__put(t, "\nprogram at step %u, %s", (unsigned)s->position,
            s->op == TC_OP_BREAK ? "a graph break: a value is read at "
                                 : "the end of the region");
    if (s->op == TC_OP_BREAK) tc__explain_site(t, s->site);
    tc__put(t, "\n\n");
    tc__explain_graph(t, p);
    tc__put(t, "\noutputs\n");
    tc__explain_outputs(t, v, p);
    tc__put(t, "\n");
    for (size_t i = 0; i < p->launch.count; i++) {
        tc__report_kernel(t, p->launch.at[i].group, (uint32_t)i);
        if (tc__foreign_of(p))
            tc__put(t, "    backend \"%s\" has the graph\n", p->backend->name);
        else
            tc__put(t, "    runs %s\n",
                    p->launch.at[i].run ? "compiled" : "in the interpreter");
    }
    tc__put(t, "intermediates: %zu bytes in one arena, %zu one by one\n", p->plan.bytes,
            p->plan.unplanned);
    tc__explain_times(t, p);
}

static void tc__explain_region(tc__text *t, const tc__region *r) {
    const tc__visit *v = tc__last_visit(r);
    uint32_t programs = 0, breaks = 0;
    for (size_t i = 0; v && i < v->path.count; i++) {
        programs += v->path.at[i]->program != NULL;
        breaks += v->path.at[i]->op == TC_OP_BREAK;
    }
    tc__put(t, "region \"%s\" at ", r->name);
    tc__explain_site(t, r->begin);
    tc__put(t, ": %u visits; the last one took %u steps, %u program%s, %u graph break%s\n",
            (unsigned)r->visits, (unsigned)(v ? v->path.count : 0), (unsigned)programs,
            programs == 1 ? "" : "s", (unsigned)breaks, breaks == 1 ? "" : "s");
    for (size_t i = 0; v && i < v->path.count; i++)
        if (v->path.at[i]->program) tc__explain_program(t, v, v->path.at[i]);
    tc__put(t, "\n");
}

TCDEF const char *tc_explain(tc_ctx *c) {
    if (!c) return "";
    tc__text *t = &c->report;
    tc__text_clear(t);
    for (const tc__region *r = tc__recorder_of(c)->region; r; r = r->next)
        tc__explain_region(t, r);
    if (t->size) tc__explain_totals(t, c);
    if (!t->size) tc__put(t, "no region has run\n");
    return t->at;
}

// ---- one region ----

TCDEF const char *tc_region_source(tc_ctx *c, const char *name) {
    const tc__region *r = tc__region_named(c, name);
    tc__program *p = r ? tc__last_program(r) : NULL;
    tc__text t;
    if (!p || p->source) return p ? p->source : NULL;
    tc__text_init(&t, c);
    if (!tc__program_print(p, &t) || !t.capacity) {
        tc__text_free(&t);
        return NULL;
    }
    p->source = t.at, p->source_size = t.capacity; // freed with the program
    return p->source;
}

TCDEF int tc_region_kernels(tc_ctx *c, const char *name) {
    const tc__region *r = tc__region_named(c, name);
    return r ? (int)tc__last_program(r)->launch.count : 0;
}
