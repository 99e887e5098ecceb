// Instructions of the block interpreter (interp.c) that read and write memory. A load, store or index moves along the vector
// axis in runs: inside a run its index is e + j * stride, so a block is a few copies. Where there are no runs, lanes are done
// one by one.

// Where the instruction writes.
static void *tc__dst(tc__frame *f, const tc__insn *i) { return f->reg[i->dst].at; }

// Where an instruction writes that does not always: its home, or the memory its value is stored to next.
// A loop writes whole vectors.
static void *tc__dst_of(tc__frame *f, const tc__insn *i, int whole) {
    tc__reg *r = &f->reg[i->dst];
    r->at = f->scratch + i->home, r->mask = -1;
    if (!i->direct || (whole && f->n & (TC__BLOCK_VECTOR - 1))) return r->at;
    const tc__path *p = &f->p->path.at[i->direct - 1];
    int64_t at = tc__expr_at(f, &p->index.at, 0) * p->scale;
    r->at = (char *)f->base[p->buffer] + at * tc__dtype(i->dtype)->bytes;
    return r->at;
}

// Lane 0 of a uniform register to its other lanes.
static void tc__spread(const tc__frame *f, void *at, int dtype) {
    tc__fill(f->isa, at, at, tc__reg_width(dtype), TC__BLOCK_VECTOR);
}

// ---- loads

static void tc__step_load_uniform(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    void *d = tc__dst(f, i);
    memcpy(d, &i->fill, (size_t)tc__reg_width(i->dtype));
    if (tc__path_holds(f, p))
        tc__take(f->isa, i->dtype, d, 0, f->base[p->buffer],
                 tc__expr_at(f, &p->index.at, 0), 1, 1);
    tc__spread(f, d, i->dtype);
}

// One run without predicates: whole vectors of a wide type are used where they are.
static void tc__step_load_plain(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at = tc__expr_at(f, &p->index.at, 0) * p->scale;
    char *s = (char *)f->base[p->buffer];
    if (i->alias && !(f->n & (TC__BLOCK_VECTOR - 1))) {
        f->reg[i->dst].at = s + at * tc__dtype(i->dtype)->bytes;
        return;
    }
    tc__take(f->isa, i->dtype, tc__dst_of(f, i, 0), 0, s, at, 1, f->n);
}

// Whole vectors that lie side by side in memory are used where they are if all lanes count.
static int tc__rect_alias(tc__frame *f, const tc__insn *i, const tc__rect *q, char *s) {
    if (!i->alias || q->count * q->length != f->n || f->n & (TC__BLOCK_VECTOR - 1))
        return 0;
    if (q->step != 1 || (q->count > 1 && q->over != q->length) || !tc__rect_counts(q))
        return 0;
    f->reg[i->dst].at = s + q->at * tc__dtype(i->dtype)->bytes;
    return 1;
}

// Lanes that lie side by side in memory, with predicates: one copy, and what does not count is
// filled.
static void tc__step_load_whole(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    char *s = (char *)f->base[p->buffer];
    tc__lanes d = {(char *)tc__dst_of(f, i, 0), 1, tc__reg_width(i->dtype)};
    const tc__rect *q;
    tc__runs r;
    for (tc__runs_open(&r), q = &r.now; tc__runs_next(f, p, &r);) {
        int64_t lo = q->first * q->length + q->lo, hi = q->last * q->length;
        hi -= q->length - q->hi;
        if (tc__rect_alias(f, i, q, s)) return;
        tc__take(f->isa, i->dtype, d.at, q->lane + lo, s, q->at + lo, 1, hi - lo);
        tc__rect_fill(f, q, &d, &i->fill);
    }
}

// All lanes of the block have one element, as a filter's: the register is one vector of it, in a
// place of its own, as the result of a loop may be written over its operand.
static void tc__load_one(tc__frame *f, const tc__insn *i, const char *s, int64_t at) {
    tc__reg *r = &f->reg[i->dst];
    r->at = f->scratch + i->k, r->mask = 0;
    if (f->isa->in[i->dtype]) {
        tc__take(f->isa, i->dtype, r->at, 0, s, at, 1, 1);
        s = (const char *)r->at, at = 0;
    }
    tc__fill(f->isa, r->at, s + at * tc__reg_width(i->dtype), tc__reg_width(i->dtype),
             TC__BLOCK_VECTOR);
}

static void tc__step_load_runs(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    char *s = (char *)f->base[p->buffer];
    tc__lanes d = {(char *)tc__dst_of(f, i, 0), 1, tc__reg_width(i->dtype)};
    const tc__rect *q;
    tc__runs r;
    for (tc__runs_open(&r), q = &r.now; tc__runs_next(f, p, &r);) {
        if (q->hi - q->lo == f->n && !q->step) {
            tc__load_one(f, i, s, q->at);
            return;
        }
        if (tc__rect_alias(f, i, q, s)) return;
        tc__rect_load(f, i->dtype, q, &d, s);
        tc__rect_fill(f, q, &d, &i->fill);
    }
}

// Runs of a comb, in which lane l of the block is l * comb + begin.
typedef struct tc__comb {
    const tc__path *path;
    int64_t var, n; // of the block
    int64_t begin, step;
} tc__comb;

// Makes the block that of comb t; 0 = it has no lanes here. To be closed in any case.
static int tc__comb_open(tc__frame *f, const tc__path *p, int64_t t, tc__comb *c) {
    c->path = &f->p->path.at[p->teeth + t];
    c->var = f->var[f->axis], c->n = f->n, c->step = p->comb;
    c->begin = (t + p->comb - c->var % p->comb) % p->comb;
    f->var[f->axis] = (c->var + c->begin) / p->comb;
    f->n = (c->n - c->begin + p->comb - 1) / p->comb;
    return c->begin < c->n;
}

static void tc__comb_close(tc__frame *f, const tc__comb *c) {
    f->var[f->axis] = c->var, f->n = c->n;
}

static void tc__step_load_combs(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    tc__lanes d = {(char *)tc__dst_of(f, i, 0), p->comb, tc__reg_width(i->dtype)};
    char *home = d.at;
    tc__comb c;
    tc__runs r;
    for (int64_t t = 0; t < p->comb; t++, tc__comb_close(f, &c)) {
        if (!tc__comb_open(f, p, t, &c)) continue;
        d.at = home + c.begin * d.width;
        for (tc__runs_open(&r); tc__runs_next(f, c.path, &r);) {
            tc__rect_load(f, i->dtype, &r.now, &d, (const char *)f->base[c.path->buffer]);
            tc__rect_fill(f, &r.now, &d, &i->fill);
        }
    }
}

static void tc__step_load_lanes(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at[TC__EXPR_LANES], n, scale = p->scale;
    int64_t width = tc__reg_width(i->dtype);
    uint8_t keep[TC__EXPR_LANES];
    void *d = tc__dst_of(f, i, 0);
    for (int64_t j = 0; j < f->n; j += n) {
        n = tc__lanes_after(f, j);
        tc__expr_lanes(f, &p->index.at, j, 1, n, at);
        if (p->limits) {
            tc__path_keep(f, p, j, n, keep);
            tc__fill(f->isa, (char *)d + j * width, &i->fill, width, n);
        }
        for (int64_t l = 0; scale > 1 && l < n; l++) at[l] = at[l] * scale + j + l;
        tc__gather(f->isa, i->dtype, d, j, f->base[p->buffer], at, p->limits ? keep : NULL,
                   n);
    }
}

// ---- stores

static void tc__step_store_one(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    tc__give(f->isa, i->dtype, f->base[p->buffer], tc__expr_at(f, &p->index.at, 0), 1,
             &f->reg[i->in[0]], 0, 1);
}

static void tc__step_store_plain(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    tc__give(f->isa, i->dtype, f->base[p->buffer],
             tc__expr_at(f, &p->index.at, 0) * p->scale, 1, &f->reg[i->in[0]], 0, f->n);
}

static void tc__step_store_runs(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    const tc__rect *q;
    tc__runs r;
    for (tc__runs_open(&r), q = &r.now; tc__runs_next(f, p, &r);)
        for (int64_t k = 0; k < q->count; k++)
            tc__give(f->isa, i->dtype, f->base[p->buffer], q->at + k * q->over, q->step,
                     &f->reg[i->in[0]], q->lane + k * q->length, q->length);
}

static void tc__step_store_lanes(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[i->item];
    int64_t at[TC__EXPR_LANES], n, scale = p->scale;
    for (int64_t j = 0; j < f->n; j += n) {
        n = tc__lanes_after(f, j);
        tc__expr_lanes(f, &p->index.at, j, 1, n, at);
        for (int64_t l = 0; l < n; l++) {
            int64_t to = scale > 1 ? at[l] * scale + j + l : at[l];
            tc__give(f->isa, i->dtype, f->base[p->buffer], to, 1, &f->reg[i->in[0]], j + l,
                     1);
        }
    }
}
