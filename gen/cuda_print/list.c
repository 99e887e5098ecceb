// CUDA dialect, one launch for a list of tensors (kernel/list.c): the form "flat" with other
// parameters. Addresses and sizes of all tensors are in the kernel's arguments, which the hardware
// keeps in the cache of constants: nothing has to be copied to the device before a launch, a recorded
// graph has them like other arguments, and all threads of a block read the same words. A block finds
// its tensor among the first blocks of all by halving.

static const char tc__cuda_list_block[] = "(blockIdx.x - list.first[row])";

static void tc__cuda_list_parameters(tc__printer *p) {
    tc__put(p->out, "const __grid_constant__ tc_list<%u, %d> list, const tc_kargs<1> a",
            (unsigned)tc__list_width(p->g), p->g->shape.list);
}

static int tc__cuda_has_work(const tc__printer *p) {
    return !tc__ix_equals(tc__device_work_at(p->g, p->g->buffer.count), 0);
}

// The tensor of the block: its size, its buffers in the group's order, and its part of the workspace.
static void tc__cuda_list_names(tc__printer *p, const tc__text *body) {
    int top = 1;
    while (2 * top < p->g->shape.list) top *= 2;
    tc__line(p);
    tc__put(p->out, "const int row = tc_list_row<%d>(list);\n", top);
    if (tc__c_mentions(body, "s0")) {
        tc__line(p);
        tc__put(p->out, "const %s s0 = list.count[row];\n", tc__cuda_index_type(p));
    }
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        const char *type = tc__dtypes[b->dtype].memory, *fixed = b->written ? "" : "const ";
        if (!tc__is_memory(b)) continue;
        tc__line(p);
        tc__put(p->out, "%s%s *__restrict__ ", fixed, type);
        tc__put_buffer(p, (int64_t)i);
        tc__put(p->out, " = (%s%s *)list.at[row][%u];\n", fixed, type, (unsigned)i);
    }
    if (!tc__cuda_has_work(p)) return;
    tc__line(p);
    tc__put(p->out, "unsigned char *const work = (unsigned char *)list.at[row][%u];\n",
            (unsigned)tc__list_width(p->g) - 1);
}
