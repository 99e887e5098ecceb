// Where a call is computed: on the one device that its operands are on. Input: a call, before it is looked for
// among the steps of the open visit. Output: a device, or an error that names both and the way out.
//
// A visit has steps on as many devices as its tensors are on, and TO copies from one to another. What nothing
// decides is at home: what is made of nothing, and numbers of the host with each other. Home is where the first
// tensor from outside is that decides, also for what was recorded before it. What is made of nothing goes with
// all devices: who computes with it elsewhere has it made there, or copied.

// A result of the open visit at home: made of nothing, a number, or while nothing has decided where that is.
static int tc__result_floats(tc_ctx *c, const tc__visit *v, const tc__step *s,
                             int written) {
    if (!(s->flags & TC__STEP_HOME) || v->state != TC__VISIT_OPEN) return 0;
    int own = s->flags & TC__STEP_OWN || !s->meta.rank;
    return (own && !written) || !tc__visit_decided(c, v);
}

// A result of a visit: a number of the host goes with all devices.
static int tc__result_device(tc_ctx *c, const tc__visit *v, tc_tensor t, int written) {
    if (tc__position(t) >= v->path.count) return TC__ANYWHERE;
    const tc__step *s = v->path.at[tc__position(t)];
    if (tc__result_floats(c, v, s, written)) return TC__ANYWHERE;
    int device = tc__step_device(c, v, s), number = !device && !s->meta.rank;
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
    if (k->op == TC_OP_TO) return (int)k->attr[TC__TO_DEVICE];
    if (k->op == TC_OP_GRADIENT) return tc__operand_device(c, v, k, 0);
    for (uint32_t i = 0; i < k->n_in; i++) {
        int there = tc__operand_device(c, v, k, i);
        if (there == TC__ANYWHERE || there == device) continue;
        if (device != TC__ANYWHERE) return tc__fail_apart(c, k, by, device, i, there);
        device = there, by = i;
    }
    return k->dims ? k->device : device;
}

// Whether the call can be computed from what it is given; 0 = reported.
static int tc__call_is_together(tc_ctx *c, const tc__visit *v, const tc__call *k) {
    return !tc__values_of(c)->device.count || tc__call_device(c, v, k) != TC__APART;
}

// Whether step s is where the call would be that makes something of nothing.
static int tc__source_is_there(tc_ctx *c, const tc__visit *v, const tc__step *s,
                               const tc__call *k) {
    int device = tc__call_device(c, v, k);
    if (device == TC__ANYWHERE)
        return s->flags & TC__STEP_HOME && s->device == tc__visit_device(c, v);
    return !(s->flags & TC__STEP_HOME) && s->device == device;
}

// Sets where step s of the call is; marks are nowhere.
static void tc__step_place(tc_ctx *c, const tc__visit *v, tc__step *s, const tc__call *k) {
    if (tc__ops[k->op].kind == TC__KIND_EFFECT && k->op != TC_OP_COPY_) return;
    s->device = tc__call_device(c, v, k);
    if (s->device >= 0) return;
    s->flags |= TC__STEP_HOME;
    s->device = tc__visit_device(c, v);
}

// Whether the op can be computed from what it is given: all of it there, and written as it was to be. 0 =
// reported.
static int tc__eager_check(tc_ctx *c, const tc__call *k) {
    return tc__operands_told(c, k) && tc__call_is_together(c, NULL, k);
}
