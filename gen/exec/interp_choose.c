// Choices among elements: what a concatenation, a pad with elements of its own, a roll or a triangle is made of. A
// tree of WHEREs whose conditions are VALIDs, which only places decide, is one instruction: it cuts the lanes of
// a block into rectangles that choose alike, and copies to each what it chooses. Masks, elements that are not
// chosen and copies of copies there are none.
//
// Index and predicates of all choices of a tree move in runs of one length (exec/interp_plan_choose.c).
// A reflected border around 128 maps of 56 x 56 takes a sixth of the time of loads, masks and choices for each element.

// Lanes [lo, hi) of the runs [first, last) of a rectangle.
typedef struct tc__area {
    int64_t lo, hi, first, last;
} tc__area;

static int tc__area_is_empty(const tc__area *s) {
    return s->lo >= s->hi || s->first >= s->last;
}

// What of s the predicates of a path hold for, placed in q.
static tc__area tc__area_where(const tc__area *s, const tc__rect *q) {
    tc__area in;
    in.lo = q->lo > s->lo ? q->lo : s->lo, in.hi = tc__lesser(q->hi, s->hi);
    in.first = q->first > s->first ? q->first : s->first;
    in.last = tc__lesser(q->last, s->last);
    return in;
}

static void tc__area_add(tc__area *to, int *n, int64_t lo, int64_t hi, int64_t first,
                         int64_t last) {
    if (lo >= hi || first >= last) return;
    to[*n].lo = lo, to[*n].hi = hi, to[*n].first = first, to[*n].last = last;
    ++*n;
}

// What of s is not in `in`, a part of it. Returns how many areas that is.
static int tc__area_rest(const tc__area *s, const tc__area *in, tc__area rest[4]) {
    int n = 0;
    if (tc__area_is_empty(in)) {
        rest[0] = *s;
        return 1;
    }
    tc__area_add(rest, &n, s->lo, s->hi, s->first, in->first);
    tc__area_add(rest, &n, s->lo, s->hi, in->last, s->last);
    tc__area_add(rest, &n, s->lo, in->lo, in->first, in->last);
    tc__area_add(rest, &n, in->hi, s->hi, in->first, in->last);
    return n;
}

static void tc__choose_load(const tc__frame *f, const tc__picked *c, const tc__rect *base,
                            const tc__area *s, const tc__lanes *d) {
    const tc__path *p = &f->p->path.at[c->path];
    tc__rect q = *base;
    tc__area rest[4];
    tc__rect_place(f, p, &q);
    tc__area in = tc__area_where(s, &q);
    int n = tc__area_rest(s, &in, rest);
    q.lo = in.lo, q.hi = in.hi, q.first = in.first, q.last = in.last;
    if (!tc__area_is_empty(&in))
        tc__rect_load(f, c->dtype, &q, d, (const char *)f->base[p->buffer]);
    for (int k = 0; k < n; k++) {
        q.first = rest[k].first, q.last = rest[k].last;
        tc__rect_fill_part(f, &q, d, rest[k].lo, rest[k].hi, &c->fill);
    }
}

// A value that is in a register, where the result may be, too.
static void tc__choose_value(const tc__frame *f, const tc__picked *c, const tc__rect *base,
                             const tc__area *s, const tc__lanes *d) {
    const tc__reg *r = &f->reg[c->node];
    tc__rect q = *base;
    q.first = s->first, q.last = s->last;
    if (!r->mask) {
        tc__word w;
        memcpy(&w, r->at, (size_t)d->width);
        tc__rect_fill_part(f, &q, d, s->lo, s->hi, &w);
        return;
    }
    if (r->at == d->at) return;
    for (int64_t k = s->first; k < s->last; k++) {
        int64_t l = q.lane + k * q.length + s->lo;
        memcpy(tc__lane(d, l), (const char *)r->at + l * d->width,
               (size_t)((s->hi - s->lo) * d->width));
    }
}

// Choice n in the lanes s of a rectangle. A tree has TC__PICK_MOST choices, so it is not deep.
static void tc__choose_in(const tc__frame *f, uint32_t n, const tc__rect *base, tc__area s,
                          const tc__lanes *d) {
    const tc__picked *c;
    for (; (c = &f->p->choice.at[n])->kind == TC__PICK_WHERE; n = c->no) {
        tc__rect q = *base;
        tc__area rest[4];
        tc__rect_place(f, &f->p->path.at[c->path], &q);
        tc__area in = tc__area_where(&s, &q);
        int left = tc__area_rest(&s, &in, rest);
        if (!tc__area_is_empty(&in)) tc__choose_in(f, c->yes, base, in, d);
        if (!left) return;
        while (--left) tc__choose_in(f, c->no, base, rest[left], d);
        s = rest[0];
    }
    if (c->kind == TC__PICK_LOAD)
        tc__choose_load(f, c, base, &s, d);
    else
        tc__choose_value(f, c, base, &s, d);
}

static void tc__step_choose(tc__frame *f, const tc__insn *i) {
    const tc__path *p = &f->p->path.at[f->p->choice.at[i->item].path];
    tc__lanes d = {(char *)tc__dst_of(f, i, 0), 1, tc__reg_width(i->dtype)};
    tc__runs r;
    for (tc__runs_open(&r); tc__runs_next(f, p, &r);) {
        tc__area all = {0, r.now.length, 0, r.now.count};
        tc__choose_in(f, i->item, &r.now, all, &d);
    }
}

// ---- narrow elements in memory

// Operands are at the paths `item` and `k`; the STORE that follows has nothing left to do.
static void tc__step_narrow(tc__frame *f, const tc__insn *i) {
    const tc__path *x = &f->p->path.at[i->item], *y = &f->p->path.at[i->k];
    int64_t bytes = tc__dtype(i->dtype)->bytes;
    i->narrow(tc__dst_of(f, i, 0),
              (const char *)f->base[x->buffer] + tc__expr_at(f, &x->index.at, 0) * bytes,
              (const char *)f->base[y->buffer] + tc__expr_at(f, &y->index.at, 0) * bytes,
              f->n);
    f->pc++;
}
