// Where a call is computed: on the one device that its operands are on. Input: a call, before it is looked
// for among the steps of the open visit. Output: an open visit that is on that device; where the one at hand
// is on another, what it has recorded runs first (tc__hooks.split).

enum {
    TC__ANYWHERE = -1,
    TC__APART = -2
}; // no device decides; several do, which is reported

// A result of the open visit: a number of the host goes with all devices, and so does everything while
// nothing has decided where the visit is.
static int tc__result_device(tc_ctx *c, const tc__visit *v, tc_tensor t, int written) {
    int device = tc__visit_device(c, v);
    if (tc__position(t) >= v->path.count || !tc__visit_decided(c, v)) return TC__ANYWHERE;
    int number = !device && !v->path.at[tc__position(t)]->meta.rank;
    return number && !written ? (int)TC__ANYWHERE : device;
}

// Where operand i has the call computed. What is written in place stays where it is.
static int tc__operand_device(tc_ctx *c, const tc__visit *v, const tc__call *k,
                              uint32_t i) {
    tc_tensor t = k->in[i];
    int written = k->op == TC_OP_COPY_ && !i;
    const tc__tensor *m = NULL;
    if (v && t.id >> TC__SLOT_BITS == v->key) return tc__result_device(c, v, t, written);
    m = tc__tensor_find(c, t);
    const tc__visit *of = !m && tc__is_visit(t) ? tc__visit_find(c, t) : NULL;
    if (of) return tc__result_device(c, of, t, written);
    if (!m) return TC__ANYWHERE;
    const tc__layout *l = tc__layout_at(c, m->layout);
    return tc__is_number(l) && !written ? (int)TC__ANYWHERE : l->device;
}

static int tc__fail_apart(tc_ctx *c, const tc__call *k, uint32_t i, int a, uint32_t j,
                          int b) {
    const char *who = tc__called(c, k->op), *there = tc__device_name(c, a);
    tc__meta m;
    if (k->op == TC_OP_COPY_ && !a && tc__meta_of(c, who, k->in[0], &m) && !m.rank)
        tc__fail(c, TC_E_DEVICE,
                 "%s: a number of the host is written in place by what runs on %s; move it "
                 "there with tc_to, or tc_copy_ to it",
                 who, tc__device_name(c, b));
    else
        tc__fail(c, TC_E_DEVICE,
                 "%s: operand %u is on %s, operand %u on %s; move one first, as by "
                 "tc_to(t, \"%s\") of operand %u",
                 who, (unsigned)i, there, (unsigned)j, tc__device_name(c, b), there,
                 (unsigned)j);
    return TC__APART;
}

// Where the call is computed; v NULL = eagerly.
static int tc__call_device(tc_ctx *c, const tc__visit *v, const tc__call *k) {
    int device = TC__ANYWHERE;
    uint32_t by = 0;
    for (uint32_t i = 0; i < k->n_in; i++) {
        int there = tc__operand_device(c, v, k, i);
        if (there == TC__ANYWHERE || there == device) continue;
        if (device != TC__ANYWHERE) return tc__fail_apart(c, k, by, device, i, there);
        device = there, by = i;
    }
    const tc__values *values = tc__values_of(c);
    if (k->dims && values->source_is_like) return values->source_device;
    return device;
}

// Makes the open visit one that the call can be recorded in. 0 = reported, or nothing to record in.
static int tc__visit_settle(tc_ctx *c, const tc__call *k) {
    char why[240];
    const tc__recorder *r = tc__recorder_of(c);
    const tc__visit *v = r->visit;
    int device = tc__call_device(c, v, k), here = tc__visit_device(c, v);
    if (device == TC__APART) return 0;
    if (device == TC__ANYWHERE || device == here || !tc__visit_decided(c, v)) return 1;
    snprintf(why, sizeof why,
             "%.60s is computed on %.60s, what is recorded so far on %.60s",
             tc__called(c, k->op), tc__device_name(c, device), tc__device_name(c, here));
    return r->hooks->split(c, k->site, why);
}

// Whether the op can be computed from what it is given: all of it there, and written as it was to be. 0 =
// reported.
static int tc__eager_check(tc_ctx *c, const tc__call *k) {
    if (!tc__operands_told(c, k)) return 0;
    return !tc__values_of(c)->device.count || tc__call_device(c, NULL, k) != TC__APART;
}

// Operands of a break: but for those from outside that are on another device, which are in memory.
static uint32_t tc__break_operands(tc_ctx *c, const tc__visit *v, const tc_tensor *t,
                                   uint32_t n, tc_tensor *out) {
    uint32_t kept = 0;
    int here = tc__visit_device(c, v), decided = tc__visit_decided(c, v) != NULL;
    for (uint32_t i = 0; i < n; i++) {
        int ours = t[i].id >> TC__SLOT_BITS == v->key;
        if (ours || !decided || tc__device_number(c, t[i]) == here) out[kept++] = t[i];
    }
    return kept;
}
