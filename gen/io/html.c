// tc_explain_html: the report of tc_explain as one page that needs nothing but a browser, not even
// scripts. Same order, same words; graphs and memory are drawn (io/svg.c).
//
// Everything that a user can name goes through tc__put_html; what differs from run to run (times, and
// where kernels came from) stands between <!--time--> and <!--/time-->. Tags are balanced and void
// ones closed, so that the page is read the same by every parser.

static const char tc__html_head[] =
    "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\" />\n"
    "<meta http-equiv=\"Content-Security-Policy\" "
    "content=\"default-src 'none'; style-src 'unsafe-inline'\" />\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n"
    "<title>tcompile report</title>\n<style>\n"
    ":root { --page: #fff; --text: #1b1f24; --soft: #667; --line: #ccd2da; --block: #f4f6f8;\n"
    "  --bar: #3b78c4; --c0: #cfe3fb; --c1: #fbe0c6; --c2: #d3f0d2; --c3: #f8d3dc;\n"
    "  --c4: #e2d8f8; --c5: #f6eec0; --c6: #c9eff0; --c7: #e3e0da; color-scheme: light dark; }\n"
    "@media (prefers-color-scheme: dark) { :root { --page: #14171b; --text: #dfe4ea;\n"
    "  --soft: #98a2ae; --line: #3a424c; --block: #1d2228; --bar: #6ea3e0; --c0: #1f3c5e;\n"
    "  --c1: #5a3b1c; --c2: #1f4a28; --c3: #5a2936; --c4: #3c2f63; --c5: #4f4715;\n"
    "  --c6: #1a4b4d; --c7: #3d3a35; } }\n"
    "body { background: var(--page); color: var(--text); font: 15px/1.5 system-ui, sans-serif;\n"
    "  max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }\n"
    "h2 { border-top: 2px solid var(--line); padding-top: 1rem; margin-top: 3rem; }\n"
    "h2, h3 { overflow-wrap: anywhere; }\n"
    "article { border: 1px solid var(--line); border-radius: 6px; padding: 0 1rem 1rem;\n"
    "  margin: 1rem 0; }\n"
    "pre, code { font: 12px/1.45 ui-monospace, monospace; }\n"
    "pre { background: var(--block); padding: .6rem .8rem; border-radius: 4px; overflow: auto;\n"
    "  max-height: 40rem; }\n"
    "ul.guards { font: 12px/1.6 ui-monospace, monospace; overflow-wrap: anywhere; }\n"
    "small, .soft { color: var(--soft); }\n"
    "table { border-collapse: collapse; } th, td { text-align: left; padding: .1rem .8rem .1rem 0;\n"
    "  vertical-align: top; overflow-wrap: anywhere; }\n"
    "td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }\n"
    "td.bar { width: 24rem; vertical-align: middle; } td.bar i { display: block; height: .7rem;\n"
    "  background: var(--bar); border-radius: 2px; }\n"
    ".scroll { overflow: auto; max-height: 48rem; margin: .5rem 0; }\n"
    "svg { display: block; } svg text { font: 11px ui-monospace, monospace; fill: var(--text);\n"
    "  text-anchor: middle; } svg text.detail { fill: var(--soft); }\n"
    "svg text.right { text-anchor: end; fill: var(--soft); }\n"
    "svg path { fill: none; stroke: var(--soft); } svg rect { stroke: var(--line); }\n"
    ".plain { --fill: var(--page); } .source { --fill: var(--block); }\n"
    ".c0 { --fill: var(--c0); } .c1 { --fill: var(--c1); } .c2 { --fill: var(--c2); }\n"
    ".c3 { --fill: var(--c3); } .c4 { --fill: var(--c4); } .c5 { --fill: var(--c5); }\n"
    ".c6 { --fill: var(--c6); } .c7 { --fill: var(--c7); }\n"
    "rect { fill: var(--fill); } span { background: var(--fill); }\n"
    "a { color: var(--bar); } summary { cursor: pointer; }\n"
    "</style>\n</head>\n<body>\n";

#define TC__HTML_TIME_BEGIN "<!--time-->"
#define TC__HTML_TIME_END   "<!--/time-->"

typedef struct tc__html {
    tc_ctx *ctx;
    tc__text *t;    // the page
    tc__text plain; // what is put next, escaped
} tc__html;

// h->plain, escaped; it is empty then.
static void tc__html_flush(tc__html *h) {
    tc__put_html(h->t, h->plain.at);
    tc__text_clear(&h->plain);
}

static void tc__html_text(tc__html *h, const char *s) { tc__put_html(h->t, s); }

static void tc__html_site(tc__html *h, tc__site s) {
    tc__put(h->t, "<code>");
    tc__put_site(&h->plain, s);
    tc__html_flush(h);
    tc__put(h->t, "</code>");
}

static void tc__html_pre(tc__html *h) {
    tc__put(h->t, "<pre>");
    tc__html_flush(h);
    tc__put(h->t, "</pre>\n");
}

// h->plain behind a line that opens it.
static void tc__html_details(tc__html *h, const char *title) {
    tc__put(h->t, "<details><summary>%s, %u lines</summary>\n", title,
            (unsigned)tc__count_lines(&h->plain));
    tc__html_pre(h);
    tc__put(h->t, "</details>\n");
}

// The lines of h->plain as a list.
static void tc__html_list(tc__html *h) {
    tc__text line;
    const char *at = h->plain.at, *end;
    tc__text_init(&line, h->ctx);
    tc__put(h->t, "<ul class=\"guards\">\n");
    for (; (end = strchr(at, '\n')) != NULL; at = end + 1) {
        tc__text_clear(&line);
        tc__put_raw(&line, at, (size_t)(end - at));
        tc__put(h->t, "<li>");
        tc__put_html(h->t, line.at);
        tc__put(h->t, "</li>\n");
    }
    tc__put(h->t, "</ul>\n");
    tc__text_free(&line);
    tc__text_clear(&h->plain);
}

// ---- bars ----

typedef struct tc__bar {
    const char *name;
    uint64_t ns;
} tc__bar;

static void tc__html_bars(tc__html *h, const tc__bar *bar, size_t n) {
    uint64_t most = 1;
    for (size_t i = 0; i < n; i++)
        if (bar[i].ns > most) most = bar[i].ns;
    tc__put(h->t, "<table>\n");
    for (size_t i = 0; i < n; i++) {
        tc__put(h->t,
                "<tr><th>%s</th><td class=\"bar\">" TC__HTML_TIME_BEGIN "<i style=\"width:",
                bar[i].name);
        tc__put_fixed(h->t, (uint64_t)((double)bar[i].ns / (double)most * 1000), 1);
        tc__put(h->t, "%%\"></i>" TC__HTML_TIME_END
                      "</td><td class=\"number\">" TC__HTML_TIME_BEGIN);
        tc__put_us(h->t, bar[i].ns);
        tc__put(h->t, " us" TC__HTML_TIME_END "</td></tr>\n");
    }
    tc__put(h->t, "</table>\n");
}

static void tc__html_program_times(tc__html *h, const tc__program *p) {
    const tc_stats *a = &p->after, *b = &p->before;
    tc__bar bar[6];
    bar[0].name = "made in all", bar[0].ns = tc__made_ns(p);
    bar[1].name = "passes", bar[1].ns = a->pass_ns - b->pass_ns;
    bar[2].name = "text", bar[2].ns = a->emit_ns - b->emit_ns;
    bar[3].name = "compiler", bar[3].ns = a->cc_ns - b->cc_ns;
    bar[4].name = "load", bar[4].ns = a->load_ns - b->load_ns;
    bar[5].name = "one run", bar[5].ns = p->runs ? p->run_ns / p->runs : 0;
    tc__put(h->t, "<h4>Times</h4>\n");
    tc__html_bars(h, bar, TC__COUNT(bar));
    tc__put(h->t, "<p>It ran ");
    tc__put_count(h->t, p->runs, "time");
    if (p->runs && (p->size.count || p->arg.count)) {
        tc__put(h->t, "; the last time with<code>");
        tc__put_run_values(&h->plain, p);
        tc__html_flush(h);
        tc__put(h->t, "</code>");
    }
    tc__put(h->t, ".</p>\n");
}

// ---- one program ----

static void tc__html_drawing(tc__html *h, tc__drawing *d, const char *title) {
    size_t n = d->box.count;
    if (!tc__svg_drawing(h->t, d, title))
        tc__put(h->t, "<p class=\"soft\">%zu nodes are too many to draw.</p>\n", n);
    tc__drawing_close(d);
}

static void tc__html_graphs(tc__html *h, const tc__visit *v, const tc__program *p) {
    tc__drawing d;
    tc__put(h->t, "<h4>Recorded</h4>\n");
    tc__drawing_open(&d, h->ctx);
    tc__draw_path(&d, v);
    tc__html_drawing(h, &d, "recorded graph");
    tc__dump_trace(&h->plain, v);
    tc__html_details(h, "the recording as text");
    tc__put(h->t, "<h4>After all passes</h4>\n<p class=\"soft\">Boxes of one colour are "
                  "computed by one kernel; white ones inside those that use them.</p>\n");
    tc__drawing_open(&d, h->ctx);
    tc__draw_graph(&d, p);
    tc__html_drawing(h, &d, "canonical graph");
    tc__explain_graph(&h->plain, p);
    tc__html_details(h, "the graph as text");
    tc__put(h->t, "<h4>Outputs</h4>\n");
    tc__explain_outputs(&h->plain, v, p);
    tc__html_pre(h);
}

static void tc__html_kernels(tc__html *h, const tc__program *p) {
    tc__put(h->t, "<h4>Kernels</h4>\n");
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__launch *l = &p->launch.at[i];
        const tc__dispatch *r = tc__launch_on(p, i);
        tc__put(h->t, "<p><span class=\"c%u\">&#160;&#160;&#160;</span> <code>",
                (unsigned)(i % TC__COLORS));
        tc__put_kernel_name(h->t, l->group, (uint32_t)i);
        tc__put(h->t, "</code>, %s",
                r                       ? r->device->own.name
                : tc__is_copy(l->group) ? "a copy between devices"
                : l->run                ? "compiled"
                                        : "interpreted");
        if (r && r->launch[i].pieces)
            tc__put(h->t, ", in a launch for %u tensors",
                    (unsigned)tc__dispatch_tensors_at(r, r->launch[i].first));
        if (l->tuned) {
            tc__put(h->t, TC__HTML_TIME_BEGIN "; ");
            tc__explain_tuned(&h->plain, l);
            tc__html_flush(h);
            tc__put(h->t, TC__HTML_TIME_END);
        }
        tc__put(h->t, "</p>\n");
        tc__report_kernel(&h->plain, &p->graph, l->group, (uint32_t)i);
        tc__html_pre(h);
    }
}

static void tc__html_plan(tc__html *h, const tc__program *p, const tc__plan *plan,
                          const char *device) {
    size_t slabs = 0;
    for (size_t i = 0; i < plan->slab.count; i++) slabs += !plan->slab.at[i].output;
    tc__put(h->t, "<p>");
    tc__put_count(h->t, slabs, "intermediate");
    tc__put(h->t, "%s%s: %zu bytes in one arena, %zu one by one.</p>\n",
            device ? " of " : "", device ? device : "", plan->bytes, plan->unplanned);
    if (slabs) tc__svg_plan(h->t, p->launch.count, plan);
}

static void tc__html_memory(tc__html *h, const tc__program *p) {
    int across = tc__program_is_across(p);
    tc__put(h->t, "<h4>Memory of intermediates</h4>\n");
    if (!p->devices || p->here) tc__html_plan(h, p, &p->plan, across ? "cpu" : NULL);
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        tc__html_plan(h, p, &r->plan, across ? r->device->own.name : NULL);
}

static void tc__html_source(tc__html *h, tc__program *p) {
    tc__error_mark held = tc__error_now(h->ctx);
    if (tc__program_text(p, &h->plain)) {
        tc__html_details(h, "emitted C");
        return;
    }
    tc__text_clear(&h->plain);
    if (tc__core_of(h->ctx)->unit_item != TC_E_NOMEM) tc__error_restore(h->ctx, held);
    tc__put(h->t, "<p class=\"soft\">There is no C text of it.</p>\n");
}

static void tc__html_program(tc__html *h, const tc__visit *v, tc__step *s) {
    tc__program *p = (tc__program *)s->program;
    tc__put(h->t, "<article>\n<h3>Program %u</h3>\n<p>At step %u: ", (unsigned)p->number,
            (unsigned)s->position);
    if (s->op == TC_OP_BREAK)
        tc__explain_break(&h->plain, v, s);
    else
        tc__put(&h->plain, "the end of the %s",
                v->region->function ? "function" : "region");
    tc__html_flush(h);
    tc__put(h->t, ".</p>\n<h4>Guards, beside the ops themselves</h4>\n");
    tc__put_path_guards(&h->plain, v);
    tc__html_list(h);
    tc__html_graphs(h, v, p);
    tc__html_kernels(h, p);
    tc__html_source(h, p);
    tc__html_memory(h, p);
    tc__html_program_times(h, p);
    tc__put(h->t, "</article>\n");
}

// ---- regions and functions ----

static void tc__html_entry(tc__html *h, const tc__entry *e, uint32_t number) {
    const tc__program *p = (const tc__program *)e->leaf->program;
    tc__put(h->t, "<h4>Entry %u</h4>\n<p>", (unsigned)number);
    tc__put_count(h->t, e->hits, "call");
    tc__put(h->t, " skipped the body");
    if (p) tc__put(h->t, " and ran program %u", (unsigned)p->number);
    tc__put(h->t, e->checked ? "." : "; the next one runs it once more, to compare.");
    tc__put(h->t, "</p>\n");
    tc__put_entry_guards(&h->plain, e);
    tc__html_list(h);
}

static void tc__html_function(tc__html *h, const tc_fn *f) {
    uint32_t n = 0;
    if (f->demoted) {
        tc__put(h->t, "<p>Its body is not skipped: ");
        tc__html_text(h, f->demoted);
        tc__put(h->t, ".</p>\n");
    }
    if (f->miss.kind) {
        tc__put(h->t, "<p>The body ran last because: ");
        tc__put_miss_reason(&h->plain, &f->miss);
        tc__put(&h->plain, "; called at %s:%d", f->miss.file ? f->miss.file : "?",
                f->miss.line);
        tc__html_flush(h);
        tc__put(h->t, ".</p>\n");
    }
    for (const tc__entry *e = f->entry; e; e = e->next) tc__html_entry(h, e, n++);
}

static void tc__html_breaks(tc__html *h, tc__region *r, const tc__overview *o) {
    tc__visit v;
    tc__put(h->t, "<h3>Graph breaks</h3>\n");
    for (size_t i = 0; i < o->mark.count; i++) {
        tc__step *s = o->mark.at[i];
        if (s->op != TC_OP_BREAK || !tc__path_open(h->ctx, &v, r, s)) continue;
        tc__explain_break(&h->plain, &v, s);
        tc__put(&h->plain, "\n");
        tc__path_close(h->ctx, &v);
    }
    tc__html_list(h);
}

static void tc__html_region(tc__html *h, tc__region *r, uint32_t number) {
    tc__overview o;
    tc__visit v;
    const tc_fn *f = tc__fn_of(h->ctx, r);
    if (tc__overview_open(&o, h->ctx, r)) {
        tc__put(h->t, "<section id=\"r%u\">\n<h2>%s ", (unsigned)number,
                r->function ? "Function" : "Region");
        tc__html_text(h, r->name);
        tc__put(h->t, "</h2>\n<p>At ");
        tc__html_site(h, r->begin);
        tc__put(h->t, ".</p>\n");
        if (f) tc__html_function(h, f);
        if (o.breaks) tc__html_breaks(h, r, &o);
        for (size_t i = 0; i < o.mark.count; i++) {
            if (!o.mark.at[i]->program) continue;
            if (!tc__path_open(h->ctx, &v, r, o.mark.at[i])) continue;
            tc__html_program(h, &v, o.mark.at[i]);
            tc__path_close(h->ctx, &v);
        }
        tc__put(h->t, "</section>\n");
    }
    tc__overview_close(&o);
}

// One line of the table of contents.
static void tc__html_entry_of_region(tc__html *h, tc__region *r, uint32_t number) {
    tc__overview o;
    if (tc__overview_open(&o, h->ctx, r)) {
        tc__put(h->t, "<tr><td>%s</td><td><a href=\"#r%u\">",
                r->function ? "function" : "region", (unsigned)number);
        tc__html_text(h, *r->name ? r->name : "(no name)");
        tc__put(h->t, "</a></td><td>");
        tc__html_site(h, r->begin);
        const uint32_t count[] = {r->visits,  o.paths,   o.breaks,
                                  o.programs, o.kernels, o.ops};
        tc__put(h->t, "</td>");
        for (size_t i = 0; i < TC__COUNT(count); i++)
            tc__put(h->t, "<td class=\"number\">%u</td>", (unsigned)count[i]);
        tc__put(h->t, "</tr>\n");
    }
    tc__overview_close(&o);
}

// ---- the page ----

static void tc__html_totals(tc__html *h) {
    const tc_stats *s = &h->ctx->stats;
    const tc__bar bar[] = {{"record", s->record_ns}, {"passes", s->pass_ns},
                           {"text", s->emit_ns},     {"compiler", s->cc_ns},
                           {"load", s->load_ns},     {"run", s->run_ns}};
    tc__put(h->t, "<h2>All together</h2>\n<p>");
    tc__put_count(h->t, s->visits, "visit");
    tc__put(h->t, ", ");
    tc__put_count(h->t, s->calls, "call");
    tc__put(h->t, " of functions, %llu of them without the body, ",
            (unsigned long long)s->skips);
    tc__put_count(h->t, s->eager_ops, "eager op");
    tc__put(h->t, ", ");
    tc__put_count(h->t, s->programs, "program");
    tc__put(h->t, " made, ");
    tc__put_count(h->t, s->kernel_runs, "run");
    tc__put(h->t,
            " of kernels.</p>\n<p>" TC__HTML_TIME_BEGIN
            "%llu kernels compiled or loaded, %llu of them from disk; %llu found in "
            "the process; %llu interpreted for want of a compiler, %llu of them since "
            "it refused their text." TC__HTML_TIME_END "</p>\n",
            (unsigned long long)s->kernels_made, (unsigned long long)s->disk_hits,
            (unsigned long long)s->memory_hits, (unsigned long long)s->fallbacks,
            (unsigned long long)s->refused);
    tc__html_bars(h, bar, TC__COUNT(bar));
}

static void tc__html_profile(tc__html *h) {
    const char *table = tc_profile_text(h->ctx);
    if (!h->ctx->profile) return;
    tc__put(h->t, "<h2>Profile</h2>\n" TC__HTML_TIME_BEGIN "<pre>");
    tc__html_text(h, table);
    tc__put(h->t, "</pre>" TC__HTML_TIME_END "\n");
}

// All regions, the oldest first, through `put`.
static void tc__html_each(tc__html *h, void (*put)(tc__html *, tc__region *, uint32_t)) {
    tc__region *first = tc__recorder_of(h->ctx)->region;
    uint32_t n = 0;
    for (const tc__region *r = first; r; r = r->next) n++;
    for (uint32_t i = 0; i < n; i++) {
        tc__region *r = first;
        for (uint32_t k = n - 1; k > i; k--) r = r->next;
        put(h, r, i);
    }
}

static void tc__html_page(tc__html *h) {
    tc__put(h->t, "%s<h1>tcompile %s</h1>\n", tc__html_head, TC_VERSION);
    if (!tc__recorder_of(h->ctx)->region)
        tc__put(h->t, "<p>No region has run.</p>\n");
    else
        tc__put(h->t, "<table>\n<tr><th></th><th>name</th><th>at</th><th>visits</th>"
                      "<th>paths</th><th>breaks</th><th>programs</th><th>kernels</th>"
                      "<th>ops</th></tr>\n");
    tc__html_each(h, tc__html_entry_of_region);
    if (tc__recorder_of(h->ctx)->region) tc__put(h->t, "</table>\n");
    tc__html_totals(h);
    tc__html_profile(h);
    tc__html_each(h, tc__html_region);
    tc__put(h->t, "<p id=\"end\" class=\"soft\">The end of the report.</p>\n"
                  "</body>\n</html>\n");
}

TCDEF tc_status tc_explain_html_at(tc_ctx *c, const char *path, const char *file,
                                   int line) {
    tc__html h;
    tc__text page;
    tc__site site;
    if (!c) return tc__fail_no_context("tc_explain_html", file, line);
    site.file = file, site.line = line;
    tc__site_set(c, site);
    if (!tc__is_ours(c, "tc_explain_html")) return tc__not_ours(c);
    tc__text_init(&page, c);
    tc__text_init(&h.plain, c);
    h.ctx = c, h.t = &page;
    tc_status outer = tc__unit_begin(c);
    tc__html_page(&h);
    int ok = !tc__core_of(c)->unit_item; // else something is missing
    ok = ok && tc__text_save(&page, "tc_explain_html", path) == TC_OK;
    tc_status status = tc__unit_end(c, outer, ok);
    tc__text_free(&h.plain);
    tc__text_free(&page);
    return status;
}
