// What measuring kernels of a device found, remembered as exec/choice.c does it: by the text of the kernel as
// the rules have it, its sizes, and the device.

#if TC__JIT

// Launch i is what was chosen for it; its code is to be found again, and the program laid out. 0 =
// reported.
static int tc__remote_launch_tune(tc__program *p, uint32_t i) {
    tc__launch *l = &p->launch.at[i];
    tc__remote *r = p->remote;
    const tc__dialect *d = r->device->own.language->dialect;
    l->group->shape.tuning = l->chosen.tuning;
    p->laid_out = 0, r->ready = 0;
    return d->grids(p->ctx, l->group, &r->launch[i].grids);
}

// Takes what process or disk knows of launch i. 0 = nothing.
static int tc__remote_launch_recall(tc__program *p, uint32_t i) {
    tc_ctx *c = p->ctx;
    tc__launch *l = &p->launch.at[i];
    tc__error_mark before = tc__error_now(c);
    tc__text key;
    tc__desk k;
    tc__text_init(&key, c);
    int ok = tc__device_desk(&k, c, p->remote->device) &&
             tc__choice_key(&key, &k, p, l->group) &&
             tc__choice_find(&k, &key, l->group, c->target, &l->chosen);
    if (ok) l->tuned = TC__TUNED_KNOWN;
    tc__text_free(&key);
    tc__error_restore(c, before);
    return ok;
}

// What there is to choose, for a device.
static int tc__remote_candidates(const tc__program *p, uint32_t i, tc__tuning *out) {
    tc__tuning none;
    memset(&none, 0, sizeof none);
    return tc__candidates(p->launch.at[i].group, p->ctx->target, TC__STAGE_DEVICE, &none,
                          out);
}

// Before a program is compiled: what is known is taken, the rest is to be measured. 0 = reported.
static int tc__remote_recall(tc__program *p) {
    tc__tuning all[TC__CANDIDATES];
    int ok = 1;
    for (uint32_t i = 0; ok && i < p->remote->launches; i++) {
        if (p->launch.at[i].opaque || tc__remote_candidates(p, i, all) < 2) continue;
        p->launch.at[i].tuned = TC__TUNED_OPEN;
        if (tc__remote_launch_recall(p, i)) ok = tc__remote_launch_tune(p, i);
    }
    return ok;
}

#else

static int tc__remote_recall(tc__program *p) { return (void)p, 1; }

#endif // TC__JIT
