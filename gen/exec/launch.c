// One launch: where the user's memory is, its kernel over a range of items, and the bits that it leaves.
// Whoever runs kernels, for results or to time them, does it by this.

static void *tc__external_data(tc_ctx *c, const tc__external *e) {
    int64_t bytes = (int64_t)tc__dtype(tc__layout_at(c, e->layout)->dtype)->bytes;
    return (char *)e->storage->data + e->offset * bytes;
}

static void tc__launch_part(void *arg, int64_t lo, int64_t hi, int worker) {
    tc__launch *l = (tc__launch *)arg;
    tc__fp_state host = tc__fp_enter();
    lo += l->from, hi += l->from;
    if (l->run)
        l->run(&l->args, lo, hi, worker);
    else
        tc__interp_run(l->interp, &l->args, lo, hi, worker);
    tc__fp_leave(host);
}

// Its items are shared out among threads, `part` does those of a piece; and then those that need all before. A thread keeps
// what it packed for the pieces that it does of one launch.
static void tc__launch_share(tc_ctx *c, tc__launch *l, tc__pool_fn part, void *arg) {
    if (!l->keeps) l->args.turn = ++c->turns;
    tc__pool_run(tc__pool_of(c), part, arg, l->items, l->grain);
    if (!l->behind) return;
    l->from = l->items;
    tc__pool_run(tc__pool_of(c), part, arg, l->behind, 1);
    l->from = 0;
}

static void tc__launch_all(tc_ctx *c, tc__launch *l) {
    tc__launch_share(c, l, tc__launch_part, l);
}

// Elements that differ; NaN equals NaN.
static size_t tc__bits_differ(int dtype, const void *a, const void *b, size_t bytes) {
    size_t size = tc__dtype(dtype)->bytes, wrong = 0;
    if (!memcmp(a, b, bytes)) return 0;
    for (size_t at = 0; at < bytes; at += size) {
        if (!memcmp((const char *)a + at, (const char *)b + at, size)) continue;
        tc__value x = tc__value_load(a, (int64_t)(at / size), dtype);
        tc__value y = tc__value_load(b, (int64_t)(at / size), dtype);
        wrong += !(tc__is_float(dtype) && x.f != x.f && y.f != y.f);
    }
    return wrong;
}
