// Regions in parts: what a region has recorded runs, writes in place included, and recording goes on.
//
// A part is a visit that is over like any other: its results are in memory, or computed when they are read
// late, and are inputs of the parts behind it. So each part has a trie, programs and sizes of its own, in a
// region that the one before it leads to. Results of the visit before end when the last part does.
//
// tc__visit_split serves whatever cannot be one program with what comes behind it: now, another device.
//
// A graph break (BREAK) is less: it computes what is read, writes nothing, and leaves the
// path one.

// The region that has what is behind the parts of r; NULL = out of memory.
static tc__region *tc__region_rest(tc_ctx *c, tc__region *r) {
    if (!r->rest) {
        r->rest = tc__region_new(c, r->name, r->begin, r->depth + 1);
        if (!r->rest) return NULL;
        r->rest->first = r->first ? r->first : r;
        r->rest->function = r->function;
    }
    tc__region *rest = r->rest;
    rest->options = r->options, rest->backend = r->backend;
    rest->fixed_sizes = r->fixed_sizes;
    return rest;
}

// Frees region r, which has left the list of regions, and the parts behind it.
static void tc__region_free_all(tc_ctx *c, tc__region *r) {
    tc__region *rest = r->rest;
    tc__region_free(c, r);
    if (!rest) return;
    tc__region_unlink(rest);
    tc__region_free_all(c, rest);
}

static int tc__fail_split(tc_ctx *c, tc__visit *v, const char *why) {
    if (c->dry)
        return tc__fail(c, TC_E_STATE,
                        "tc_precompile: the body is more than one program: %s; call it "
                        "once instead",
                        why);
    v->broken = 1;
    return tc__fail(c, TC_E_FULLGRAPH,
                    "%s \"%s\" asked for fullgraph, and is more than one program: %s",
                    tc__region_kind(v->region), v->region->name, why);
}

// Runs the open visit as a part. 0 = reported.
static int tc__part_run(tc_ctx *c, tc__visit *v) {
    v->parted = 1;
    int ok = tc__visit_finish(c, v, NULL, 0);
    v->state = ok ? TC__VISIT_DONE : TC__VISIT_FAILED;
    if (!ok) tc__refuse_writes(c, v);
    c->begun = tc__now_ns(), c->busy = tc__busy_ns(c);
    return ok;
}

// What the open region has recorded runs now, with all that it writes, and recording goes on: a graph break
// after which nothing is pending. `why` is told in the log. 0 = reported; recording goes on as well, but
// where the region asked for one program, or there is no memory: then nothing has run.
static int tc__visit_split(tc_ctx *c, tc__site site, const char *why) {
    tc__recorder *r = &c->recorder;
    tc__visit *v = r->visit;
    if (c->dry || v->region->options.fullgraph) return tc__fail_split(c, v, why);
    tc__region *rest = tc__region_rest(c, v->region);
    if (!rest || !tc__visit_open(c, rest, v->begin)) return 0;
    tc__visit *next = r->visit;
    next->before = v, next->left = v->left;
    c->stats.graph_breaks++;
    tc__log(c, TC__LOG_GRAPH_BREAKS, "%s \"%s\": %u steps run at %s:%d: %s",
            tc__region_kind(v->region), v->region->name, (unsigned)v->path.count,
            site.file ? site.file : "?", site.line, why);
    r->visit = v;
    int ok = tc__part_run(c, v);
    r->visit = next;
    next->draw = r->draw;
    return ok;
}

// The parts of a visit that is over part: the last one stands for it no more.
static void tc__parts_end(tc__visit *v) {
    for (tc__visit *u; v; v = u) u = v->before, v->before = NULL;
}
