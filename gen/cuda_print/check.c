// CUDA dialect, checked: kernels that look at every access to a tensor before it is made (tc__group.checked,
// which a device asks for: tc_device.checked). The text stays as it is, but that the names of buffers are
// objects instead of pointers: `in0[c]` looks, and so does `in0.at(c, 4)`, which stands for a vector.
// Scratch of rows and tiles is no tensor, and opaque ops are functions over whole buffers, whose indices
// are checked by themselves: both are as ever.
//
// An access outside is not made: it goes to words that nobody has, reads zeros, and its writes are lost. The
// first one is told by words of the program's flag (TC__OUTSIDE_BUFFER) that no other check uses.
//
// It is another text, so both kinds of code live side by side in process and on disk. A new
// form is checked by itself as long as it prints accesses by tc__cuda_element and
// tc__cuda_address.

// Whether accesses to buffer b are looked at: it is a tensor's.
static int tc__cuda_is_checked(const tc__group *g, int64_t b) {
    return g->target.checked && tc__is_memory(&g->buffer.at[b]);
}

// The elements that indices of a buffer may name: of a strided view, as far as its strides lead.
static void tc__buffer_range(const tc__group *g, const tc__kbuf *b, tc__ix *low,
                             tc__ix *high) {
    tc__ixpool *x = g->body.ix;
    tc__ix zero = tc__ix_const(0);
    const tc__shape *s =
        b->place == TC__BUF_INPUT && g->target.inputs ? g->target.inputs[b->source] : NULL;
    *low = zero, *high = b->numel;
    if (!s || s->contiguous) return;
    *high = tc__ix_const(1);
    for (int i = 0; i < s->rank; i++) {
        tc__ix last =
            tc__ix_mul(x, tc__ix_sub(x, s->dims[i], tc__ix_const(1)), s->strides[i]);
        tc__ix below = tc__ix_min(x, last, zero);
        *low = tc__ix_add(x, *low, below);
        *high = tc__ix_add(x, *high, tc__ix_sub(x, last, below));
    }
}

// `const tc_checked<const float> in0 = {in0_memory, 0, 4096, 1, 0, a.size[0], a.state};` for what
// `body` names.
static void tc__cuda_checked_names(tc__printer *p, const tc__text *body) {
    for (size_t i = 0; i < p->g->buffer.count; i++) {
        const tc__kbuf *b = &p->g->buffer.at[i];
        tc__ix low, high;
        char name[24];
        if (!tc__cuda_is_checked(p->g, (int64_t)i)) continue;
        tc__buffer_name(p, (int64_t)i, name);
        if (!tc__c_mentions(body, name)) continue;
        tc__buffer_range(p->g, b, &low, &high);
        tc__line(p);
        tc__put(p->out, "const tc_checked<%s%s> %s = {%s_memory, ",
                b->written ? "" : "const ", tc__dtypes[b->dtype].memory, name, name);
        tc__put_ix(p, low);
        tc__put(p->out, ", ");
        tc__put_ix(p, high);
        tc__put(p->out, ", %d, %d, a.size[%d], a.state};\n", (int)i + 1, b->written,
                tc__cuda_sizes(p->g));
    }
}

// Puts the names before the body that uses them.
static void tc__cuda_look(tc__printer *p, tc__text *body) {
    tc__text names, *out = p->out;
    if (!p->g->target.checked) return;
    tc__text_init(&names, out->ctx);
    p->out = &names;
    tc__cuda_checked_names(p, body);
    p->out = out;
    tc__put_raw(&names, body->at, body->size);
    names.failed |= body->failed;
    tc__text_free(body);
    *body = names;
}

// `in0[c]`; of a vector of `width` that a checked buffer has, `in0.at(c, 4)[0]`. `more` stands behind
// the index.
static void tc__cuda_place_of(tc__printer *p, int64_t b, tc__ix e, const char *more,
                              int width) {
    int at = width > 1 && tc__cuda_is_checked(p->g, b);
    tc__put_buffer(p, b);
    tc__put(p->out, at ? ".at(" : "[");
    tc__put_ix(p, e);
    if (at)
        tc__put(p->out, "%s, %d)[0]", more, width);
    else
        tc__put(p->out, "%s]", more);
}

// Sizes that the kernel is told, and the number of the launch where accesses are checked, or whether it works beside the
// one before.
static int tc__cuda_kargs(const tc__group *g) {
    int sizes = tc__cuda_sizes(g) + g->target.checked + tc__device_is_beside(g);
    return sizes ? sizes : 1;
}
