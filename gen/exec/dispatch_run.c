// A run on a device: arguments are filled in, what changed is told, and the lists are handed over. How a
// program was laid out for that is in exec/dispatch_layout.c.
//
// State (random numbers, run-time values) lies in the device's memory and is copied only
// when it changes, so it never touches a recorded graph. A run notes while it fills in
// arguments whether one became another; if none did, the seam is told so and launches the
// graph that it launched last: 6,000 instructions for a call of 24 kernels with 150
// arguments, not 14,700. Checks are looked at when somebody waits: a kernel writes an index
// out of range into memory of the host, and tc_sync, tc_read and tc_to("cpu") report it.
// Only a program that writes in place waits by itself, since it must not write then.

// Whether the argument at `to` was another address.
static int tc__argument_put(uint8_t *to, const void *address) {
    int other = memcmp(to, &address, sizeof address) != 0;
    memcpy(to, &address, sizeof address);
    return other;
}

// 1 = some argument has changed.
static int tc__dispatch_fill(const tc__dispatch *r, const tc__dispatch_launch *l) {
    uint8_t *to = l->argument;
    int changed = 0;
    for (uint32_t i = 0; i < l->memories; i++, to += 8)
        changed |= tc__argument_put(to, l->buf[l->memory[i]]);
    if (!tc__ix_equals(l->grids.workspace, 0)) {
        changed |= tc__argument_put(to, (char *)r->work.address + l->work);
        to += 8;
    }
    return changed | tc__argument_put(to, r->state.address);
}

// Where buffer b of a piece is in this run; the device has its numbers behind the rest of the state.
static const void *tc__piece_address(const tc__dispatch *r, const tc__piece *p, size_t b) {
    uint32_t from = p->buffer[b];
    if (!(from & tc__piece_number)) return r->launch[p->launch].buf[from];
    return (const char *)r->state.address + sizeof(tc__dispatch_state) +
           (from & ~tc__piece_number) * sizeof(tc__value);
}

// Its part of the workspace; NULL = nothing needs any.
static const void *tc__piece_work(const tc__dispatch *r, const tc__piece *p) {
    return r->work.address ? (const char *)r->work.address + p->work : NULL;
}

// The tensors of a list, where they are in this run.
static int tc__dispatch_fill_list(const tc__dispatch *r, const tc__dispatch_listed *d) {
    const tc__turn *s = &r->order.step.at[d->step];
    const tc__dispatch_launch *l = tc__turn_launch(r, s);
    size_t buffers = l->group->buffer.count;
    int changed = tc__argument_put(d->argument + l->offset[1], r->state.address);
    tc__list_argument a = tc__list_argument_of(d->argument, tc__list_width(l->group),
                                               (size_t)l->group->shape.list);
    for (uint32_t i = 0; i < s->count; i++) {
        const tc__piece *p =
            &r->lists.piece.at[r->order.item.at[r->order.member.at[s->first + i]].piece];
        for (size_t b = 0; b < buffers; b++, a.at++)
            changed |= tc__argument_put((uint8_t *)a.at, tc__piece_address(r, p, b));
        if (l->group->shape.order)
            changed |= tc__argument_put((uint8_t *)a.at++, tc__piece_work(r, p));
    }
    return changed;
}

// The arguments of all launches of a run.
static void tc__dispatch_fill_all(tc__dispatch *r) {
    int changed = 0;
    for (uint32_t i = 0; i < r->launches; i++)
        if (!r->launch[i].by && !r->launch[i].pieces)
            changed |= tc__dispatch_fill(r, &r->launch[i]);
    for (size_t i = 0; i < r->listed.count; i++)
        changed |= tc__dispatch_fill_list(r, &r->listed.at[i]);
    for (uint32_t i = 0; changed && i < r->parts; i++) r->part[i].ran = 0;
}

// Another turn of a loop: addresses that move, and its number among the sizes.
static void tc__dispatch_turn(tc__dispatch *r, const int64_t *size) {
    int changed = 0;
    for (uint32_t i = 0; i < r->launches; i++) {
        const tc__dispatch_launch *l = &r->launch[i];
        uint8_t *to = l->argument;
        int64_t *own = (int64_t *)(void *)(to + l->sizes);
        if (l->by || l->pieces) continue;
        for (uint32_t k = 0; k < l->memories; k++, to += 8) {
            const tc__kbuf *b = &l->group->buffer.at[l->memory[k]];
            int input = b->place == TC__BUF_INPUT;
            if (input ? b->source >= r->placed : l->group->target.loop != 0)
                changed |= tc__argument_put(to, l->buf[l->memory[k]]);
        }
        for (int k = 0; l->group->target.loop && k < l->grids.sizes; k++)
            changed |= own[k] != size[k], own[k] = size[k];
    }
    for (uint32_t i = 0; changed && i < r->parts; i++) r->part[i].ran = 0;
}

// The device is told what changed of state and run-time values.
static int tc__dispatch_tell(tc__dispatch *r, uint64_t seed, uint64_t draw,
                             const tc__value *arg) {
    const tc_device *d = &r->device->own;
    tc__dispatch_state now;
    size_t args = r->state_bytes - sizeof now;
    memset(&now, 0, sizeof now);
    now.flag = r->flag;
    if (r->draws) now.seed = seed, now.draw = draw;
    int same = r->told && !memcmp(r->state_now, &now, sizeof now) &&
               (!args || !memcmp(r->state_now + sizeof now, arg, args));
    if (same) return 1;
    memcpy(r->state_now, &now, sizeof now);
    if (args) memcpy(r->state_now + sizeof now, arg, args);
    tc_status s = d->copy_in(d->user, r->state.address, r->state_now, r->state_bytes);
    r->told = !s;
    return !s || tc__device_failed(r->ctx, &r->device->own, "values of a run", s);
}

// Runs a part up to its launch on the host. 0 = reported.
static int tc__dispatch_run_part(tc__dispatch *r, tc__dispatch_part *p) {
    const tc_device *d = &r->device->own;
    if (p->begin == p->end) return 1;
    tc_status s = d->run(d->user, &p->plan, r->list + p->begin, (int)(p->end - p->begin),
                         r->mode, !p->ran);
    p->ran = !s;
    return !s || tc__device_failed(r->ctx, &r->device->own, "kernels", s);
}

// ---- as runner of kernels ----

static uint32_t tc__dispatch_kernel(const tc__program *p, const tc__act *a, uint32_t at,
                                    tc__kernel_run *k) {
    const tc__dispatch *r = a->on;
    uint32_t place = r->part[a->at].begin + at;
    (void)p;
    if (place >= r->part[a->at].end) return 0;
    k->launch = tc__dispatch_launch_at(r, place);
    k->tensors = tc__dispatch_list_at(r, place);
    k->count = k->tensors ? 1 : r->launch[k->launch].grids.count;
    k->items = r->list[place].blocks, k->plan = NULL;
    memcpy(k->list, &r->list[place], (size_t)k->count * sizeof *k->list);
    tc__kernel_chain(k);
    return at + (uint32_t)k->count;
}

static int tc__dispatch_tune(tc__program *p, tc__launch *l, const tc__tuning *t) {
    tc__dispatch *r = tc__program_on(p, l->group->target.device);
    tc__tuning before = l->group->shape.tuning;
    tc__grids grids;
    l->group->shape.tuning = *t;
    if (!r->device->own.language->dialect->grids(p->ctx, l->group, &grids))
        return l->group->shape.tuning = before, 0;
    r->launch[l - p->launch.at].grids = grids;
    p->laid_out = 0;
    return 1;
}

static void tc__dispatch_use(tc__program *p, tc__launch *l, const tc__variant *w,
                             tc__compiled *code) {
    tc__dispatch *r = tc__program_on(p, l->group->target.device);
    tc__dispatch_launch *to = &r->launch[l - p->launch.at];
    tc__compiled_use(&to->code, code);
    for (int i = 0; i < w->run.count; i++) to->kernel[i] = w->run.list[i].kernel;
}

// Arguments are those of the launch itself.
static int tc__dispatch_vary(tc__program *p, uint32_t i, tc__variant *w) {
    tc__dispatch *r = tc__program_on(p, w->group.target.device);
    const tc__dispatch_launch *l = &r->launch[i];
    tc__dispatch_launch *own = &w->own.there;
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    *own = *l, own->group = &w->group, w->grids = &own->grids;
    if (!r->device->own.language->dialect->grids(r->ctx, &w->group, &own->grids)) return 0;
    if (own->grids.count != l->grids.count || own->grids.workspace != l->grids.workspace ||
        own->grids.maps != l->grids.maps)
        return 0;
    w->run.count = own->grids.count, w->share = (uint64_t)own->grids.at[0].threads;
    if (!tc__dispatch_launch_lay_out(r, own, w->run.list, &p->ix, &env)) return 0;
    tc__kernel_chain(&w->run);
    return 1;
}
