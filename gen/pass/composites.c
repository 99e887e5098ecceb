// Composite ops through passes: what becomes of a composite op's operands and result where nodes are rewritten.
//
// A node that lives is what the pass made of it. One that is dead, since its movement was merged into other
// movement, stands aside from then on; else the composite op is gone with it.

enum { TC__ASIDE_MOST = 16 }; // movements one behind the other that stand aside

// Old node `id` in the new graph; TC__NO_NODE = nothing is it any more.
static uint32_t tc__composite_moved(tc__rewrite *w, uint32_t id) {
    const tc__node *chain[TC__ASIDE_MOST];
    uint32_t n = 0, in = TC__NO_NODE;
    for (;;) {
        if (!(id & TC__ASIDE) && w->live[id]) {
            in = w->output[id];
            break;
        }
        const tc__node *m = tc__composite_node(w->from, id);
        if (!tc__may_stand_aside(m) || n == TC__ASIDE_MOST) return TC__NO_NODE;
        chain[n++] = m;
        if (!m->n_in) break;
        id = m->in[0];
    }
    while (n-- > 0) {
        tc__node m = *chain[n];
        m.in = &in, w->to->from = m.from;
        in = tc__aside(w->to, &m);
        if (in == TC__NO_NODE) return w->failed = 1, in;
    }
    return in;
}

// Fact *f of the old graph as one of the new graph; 0 = it is gone.
static int tc__composite_carried(tc__rewrite *w, tc__composite *f) {
    for (uint32_t i = 0; i < TC__WHOLE_OPERANDS; i++) {
        if (f->in[i] == TC__NO_NODE) continue;
        f->in[i] = tc__composite_moved(w, f->in[i]);
        if (f->in[i] == TC__NO_NODE) return 0;
    }
    f->result = tc__composite_moved(w, f->result);
    return f->result != TC__NO_NODE;
}

// Those of the old graph that hold in the new one; 0 = no memory.
static int tc__composites_carry(tc__rewrite *w) {
    for (size_t i = 0; i < w->from->composite.count; i++) {
        tc__composite f = w->from->composite.at[i];
        size_t aside = w->to->aside.count;
        if (tc__composite_carried(w, &f)) {
            if (!tc__composite_add(w->to, &f)) return 0;
        } else {
            w->to->aside.count = aside;
        }
        if (w->failed) return 0;
    }
    return 1;
}
