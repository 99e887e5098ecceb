// Ops of the user's on a device: their code is made before that of others, as it may not compile. Then the host
// has them, by the function that they have for it.

#if TC__JIT

// The code of a user's op, before that of others: 1 = it is there, 0 = it does not compile, -1 =
// reported.
static int tc__dispatch_custom_try(tc__dispatch *r, tc__dispatch_launch *l) {
    tc_ctx *c = r->ctx;
    tc__error_mark before = tc__error_now(c);
    tc_status outer = tc__unit_begin(c);
    tc__desk *k = tc__device_desk(c, r->device);
    tc__job *j = k ? tc__job_new(k) : NULL;
    int ok = j && tc__job_order(j, l->group, &l->grids, &l->order) &&
             tc__job_complete(j, k, 1, "custom op");
    if (j) tc__job_free(j);
    tc_status status = tc__unit_end(c, outer, ok);
    if (ok || status == TC_E_NOMEM) return ok ? 1 : -1;
    tc__error_restore(c, before);
    return 0;
}

// Its cuda_source does not compile: the host computes it from now on, in all programs. 0 = out of memory.
static int tc__dispatch_custom_failed(tc__dispatch *r, tc__custom *o) {
    const tc_device *d = &r->device->own;
    const char *why = d->why(d->user);
    o->trouble = tc__string_copy(r->ctx, why && *why ? why : "the compiler says nothing");
    if (o->trouble && (o->op.run || o->op.c_source))
        tc__warn(r->ctx,
                 "custom op \"%s\": its cuda_source does not compile for %s, so the host "
                 "computes it, with copies there and back: %s",
                 o->op.name, d->name, o->trouble);
    return o->trouble != NULL;
}

// Compiles the user's ops. 1 = done, 0 = some are the host's from now on: the program's launches are
// others, -1 = reported.
static int tc__dispatch_customs(tc__dispatch *r) {
    int same = 1;
    for (uint32_t i = 0; i < r->launches; i++) {
        tc__dispatch_launch *l = &r->launch[i];
        if (l->by || !tc__is_custom(l->group)) continue;
        int64_t number = l->group->body.node.at[0]->attr[TC__CALL_WORD];
        tc__custom *o = tc__values_of(r->ctx)->customs->at.at[number];
        int code = o->trouble ? 0 : tc__dispatch_custom_try(r, l);
        if (code < 0 || (!code && !o->trouble && !tc__dispatch_custom_failed(r, o)))
            return -1;
        same &= code;
    }
    return same;
}

#else

static int tc__dispatch_customs(tc__dispatch *r) { return (void)r, 1; }

#endif // TC__JIT
