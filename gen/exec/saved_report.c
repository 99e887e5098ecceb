// What gradients cost a program, as tc_explain tells it: what is kept for them, of which calls, what is computed again,
// what memory_budget chose, and how much lives at most. Input: a program with its plan. Output: lines.

// Bytes of the nodes marked in `what`.
static uint64_t tc__saved_bytes(const tc__saved *k, const uint8_t *what) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < k->p->graph.node.count; i++) {
        const tc__slab *s = what[i] ? tc__saved_slab(k->p, i) : NULL;
        bytes += s ? s->bytes : 0;
    }
    return bytes;
}

static int tc__same_call(const tc__step *a, const tc__step *b) {
    return a == b || (a && b && tc__same_site(a, b) &&
                      !strcmp(tc__step_call_name(a), tc__step_call_name(b)));
}

// "    327680 bytes of linear at model.c:20": a line for each call that made nodes marked in `what`, which are done with
// then.
static void tc__put_saved_calls(tc__text *t, const tc__saved *k, uint8_t *what, int bytes) {
    const tc__graph *g = &k->p->graph;
    uint32_t lines = 0, nodes = (uint32_t)g->node.count;
    for (uint32_t i = 0; i < nodes; i++) {
        const tc__step *from = g->node.at[i]->from;
        uint64_t size = 0;
        if (!what[i]) continue;
        for (uint32_t j = i; j < nodes; j++) {
            if (!what[j] || !tc__same_call(g->node.at[j]->from, from)) continue;
            const tc__slab *s = tc__saved_slab(k->p, j);
            size += s ? s->bytes : 0, what[j] = 0;
        }
        if (lines++ >= TC__MOST_CALLS || !from) continue;
        tc__put(t, "    ");
        if (bytes) tc__put(t, "%llu bytes of ", (unsigned long long)size);
        tc__put(t, "%s at ", tc__step_call_name(from));
        tc__put_site(t, from->site);
        tc__put(t, "\n");
    }
    if (lines > TC__MOST_CALLS)
        tc__put(t, "    and %u calls more\n", (unsigned)(lines - TC__MOST_CALLS));
}

// The most bytes of intermediates that live during one kernel, and which that is.
static size_t tc__plan_peak(const tc__plan *p, size_t kernels, uint32_t *at) {
    size_t most = 0;
    *at = 0;
    for (uint32_t i = 0; i < kernels; i++) {
        size_t live = 0;
        for (size_t k = 0; k < p->slab.count; k++) {
            const tc__slab *s = &p->slab.at[k];
            if (!s->output && !s->over && s->first <= i && i <= s->last) live += s->bytes;
        }
        if (live > most) most = live, *at = i;
    }
    return most;
}

// "at most 4096 bytes of intermediates live at once, in kernel 3"
static void tc__put_peak(tc__text *t, const tc__program *p, const tc__plan *plan,
                         const char *device) {
    uint32_t at = 0;
    size_t peak = tc__plan_peak(plan, p->launch.count, &at);
    if (peak)
        tc__put(t, "at most %zu bytes of intermediates%s%s live at once, in kernel %u\n",
                peak, device ? " of " : "", device ? device : "", (unsigned)at);
}

static void tc__put_peaks(tc__text *t, const tc__program *p) {
    int across = tc__program_is_across(p);
    tc__put_peak(t, p, &p->plan, across ? "cpu" : NULL);
    for (const tc__dispatch *r = p->dispatch; r; r = r->next)
        tc__put_peak(t, p, &r->plan, across ? r->device->own.name : NULL);
}

// "memory_budget 60: met by 5900 bytes of intermediates, 59.0 % of the 10000 without it; 21.3 % more operations"
static void tc__put_budget(tc__text *t, const tc__program *p) {
    int met = p->within * 100 <= p->without * p->memory_budget;
    if (p->without <= 0) return;
    tc__put(t, "memory_budget %d: %s %.0f bytes of intermediates, ", p->memory_budget,
            met ? "met by" : "not met; the least found is", p->within);
    tc__put_fixed(t, (uint64_t)(p->within / p->without * 1000 + 0.5), 1);
    tc__put(t, " %% of the %.0f without it; ", p->without);
    tc__put_fixed(t, (uint64_t)((p->again > 0 ? p->again : 0) * 1000 + 0.5), 1);
    tc__put(t, " %% more operations");
    if (p->size.count) tc__put(t, ", in the sizes that it was made for first");
    if (p->graph.loop.count)
        tc__put(t, " (where there are loops nothing is computed again)");
    tc__put(t, "\n");
}

// Of a program with derivatives.
static void tc__explain_gradients(tc__text *t, const tc__program *p) {
    tc__saved k;
    uint32_t any = 0;
    int ok = tc__saved_open(&k, p);
    for (uint32_t i = 0; ok && i < p->graph.node.count; i++) any |= k.repeated[i];
    if (ok && k.derives) {
        tc__put(t, "gradients: %llu bytes are kept for them\n",
                (unsigned long long)tc__saved_bytes(&k, k.saved));
        tc__put_saved_calls(t, &k, k.saved, 1);
        if (any) tc__put(t, "gradients: computed again for them\n");
        tc__put_saved_calls(t, &k, k.repeated, 0);
        tc__put_budget(t, p);
        tc__put_peaks(t, p);
    }
    tc__saved_close(&k);
}
