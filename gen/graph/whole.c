// Composite ops recorded whole. Input: the frame of a composite op that is done, its operands and its result.
// Output: behind the steps of its parts one more, which says what they are together.
//
// So who reads a path or its graph can see attention or layer_norm, with operands and words, before it is
// taken apart, and computes what the parts say all the same. Such a step has no result, needs nothing and
// binds nothing: an operand that its parts did not read (a weight whose taps are numbers in them) is not
// there. Its words are compared like those of any step; a run-time value is that of the part which has it
// (tc__arg_of_part). Its operands and its result are its operands, in that order.
// Outside of regions nothing is recorded; nor is it of optimisers, which have no result but what they write.

// A dimension as it counts from the front.
static int64_t tc__dim_counted(const tc__api *f, int dim) {
    return dim < 0 ? dim + (f->x.rank ? f->x.rank : 1) : dim;
}

// Whether the call that gave y is to be recorded whole.
static int tc__records_whole(const tc__api *f, tc_tensor y) {
    return y.id && tc__is_recording(f->c) && !f->together && !f->bypassed;
}

// Whether t is a result of the visit, or an external of it already.
static int tc__visit_has(tc_ctx *c, const tc__visit *v, tc_tensor t) {
    if (t.id >> TC__SLOT_BITS == v->key) return 1;
    const tc__tensor *m = tc__tensor_find(c, t);
    return m && m->bind_epoch == v->epoch;
}

// What does not follow. Where the parts are of several visits, as they are on two devices, nothing is recorded.
TC__NOINLINE static void tc__whole_slow(tc__api *f, tc__op op, const tc_tensor *in,
                                        uint32_t n, uint32_t words, tc_tensor y) {
    tc__visit *v = tc__recorder_of(f->c)->visit;
    tc_tensor all[TC__WHOLE_OPERANDS + 1];
    tc__call k;
    memset(&k, 0, sizeof k);
    f->word[TC__WHOLE_GIVEN] = 0;
    for (uint32_t i = 0; i < n; i++) {
        int there = in[i].id && tc__visit_has(f->c, v, in[i]);
        if (!there && !tc__whole_of(op)->in[i].may_miss) return;
        if (!there) continue;
        f->word[TC__WHOLE_GIVEN] |= (int64_t)1 << i;
        all[k.n_in++] = in[i];
    }
    if (y.id >> TC__SLOT_BITS != v->key) return;
    all[k.n_in++] = y;
    k.op = op, k.in = all, k.attr = f->word, k.n_attr = words;
    k.site.file = f->file, k.site.line = f->line;
    (void)tc__visit_step(f->c, v, &k);
}

static void tc__whole(tc__api *f, tc__op op, const tc_tensor *in, uint32_t n,
                      uint32_t words, tc_tensor y) {
    tc_tensor all[TC__WHOLE_OPERANDS + 1];
    uint32_t count = 0;
    f->word[TC__WHOLE_GIVEN] = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (!in[i].id) continue;
        f->word[TC__WHOLE_GIVEN] |= (int64_t)1 << i;
        all[count++] = in[i];
    }
    all[count++] = y;
    if (!tc__op_follow(tc__form_of(op, count, words), all, count, f->word, words).id)
        tc__whole_slow(f, op, in, n, words, y);
}
