// Tensor maps: a device that has them (tc_device.tensor_maps) copies tiles of an operand by itself, if that lies in memory as a
// tensor of four dimensions whose sizes and strides are known: what is contiguous, the other of line and place along k, and
// batches, which may be a tensor of two dimensions, and several of them the same memory. Input: the index of an element, over variables, and how far neighbours lie apart. Output: the map that its launch
// gets as an argument (tc_device_map). Where there is none, threads bring the operand: device/template.c.

enum {
    TC__MAP_LINE = 64,      // halves of a row of a tile in shared memory
    TC__MAP_ALIGN = 16,     // bytes of which addresses and strides are multiples
    TC__MAP_BATCHES = 4096, // that are looked at one by one
    TC__MAP_BRINGERS =
        128 // threads of a block beside those that multiply: copies are theirs
};

// An operand that may be copied so.
typedef struct tc__mapped {
    tc__ix at; // in its buffer, over these variables:
    int line, deep,
        row; //   its line, and place along k; the first row of the batch, -1 = `line` tells the batch, too
    int64_t line_stride, deep_stride;    // 0 = not known
    int64_t lines, depth, rows, batches; // lines of a batch; rows of the result of one
    int64_t tile, step;                  // lines of a tile, and of k in it,
    int64_t whole; // that step of all blocks of a cluster; 0 = a line at least
    int dtype;
} tc__mapped;

// Elements of a row of a tile.
static int64_t tc__map_line(int dtype) {
    return 2 * TC__MAP_LINE / (int64_t)tc__dtypes[dtype].bytes;
}

// The element where a batch begins; -1 = more than the variables is named in it.
static int64_t tc__mapped_element(tc__ixpool *x, const tc__mapped *o, int64_t batch) {
    const int axis[] = {o->line, o->deep, o->row};
    tc__ix e = o->at;
    for (int i = 0; i < 3; i++) {
        tc__ix v = axis[i] < 0 ? 0 : tc__ix_find_var(x, e, (tc__axis)axis[i]);
        int tells = axis[i] == (o->row >= 0 ? o->row : o->line);
        if (v) e = tc__ix_subst(x, e, v, tc__ix_const(tells ? batch * o->rows : 0));
    }
    return tc__ix_is_const(e) ? tc__ix_value(e) : -1;
}

// How batches lie: `share` beside each other are the same memory, `inner` of those are `stride[0]` apart, and `outer` times
// those `stride[1]`.
typedef struct tc__mapped_batches {
    int64_t share, inner, outer, stride[2];
} tc__mapped_batches;

// From batch `at` on in steps of `step`: how many are equally far apart.
static int64_t tc__mapped_run(tc__ixpool *x, const tc__mapped *o, int64_t step,
                              int64_t stride) {
    int64_t first = tc__mapped_element(x, o, 0), n = 1;
    while (n * step < o->batches &&
           tc__mapped_element(x, o, n * step) == first + n * stride)
        n++;
    return n;
}

// 0 = they do not lie so.
static int tc__mapped_batches_of(tc__ixpool *x, const tc__mapped *o,
                                 tc__mapped_batches *b) {
    int64_t first = tc__mapped_element(x, o, 0);
    memset(b, 0, sizeof *b);
    if (first < 0 || o->batches > TC__MAP_BATCHES) return 0;
    b->share = tc__mapped_run(x, o, 1, 0), b->inner = b->outer = 1;
    if (b->share < o->batches) {
        b->stride[0] = tc__mapped_element(x, o, b->share) - first;
        b->inner = tc__mapped_run(x, o, b->share, b->stride[0]);
    }
    int64_t beside = b->share * b->inner;
    b->outer = o->batches / beside;
    if (b->outer > 1) b->stride[1] = tc__mapped_element(x, o, beside) - first;
    for (int64_t z = 0; z < o->batches; z++) {
        int64_t own = z / b->share;
        if (tc__mapped_element(x, o, z) !=
            first + own % b->inner * b->stride[0] + own / b->inner * b->stride[1])
            return 0;
    }
    return beside * b->outer == o->batches;
}

static int tc__map_fits(const tc_device_map *m) {
    const int64_t sizes = (int64_t)1 << 31, strides = (int64_t)1 << 38;
    const int64_t align = TC__MAP_ALIGN / (int64_t)tc__dtypes[m->dtype].bytes;
    int ok = m->offset >= 0 && m->offset % align == 0;
    for (int i = 0; i < 4; i++) ok = ok && m->size[i] > 0 && m->size[i] < sizes;
    for (int i = 0; i < 3; i++)
        ok = ok && m->stride[i] > 0 && m->stride[i] < strides && m->stride[i] % align == 0;
    return ok;
}

// The map of an operand, but for its arguments; 0 = there is none.
static int tc__map_of(tc__ixpool *x, const tc__mapped *o, tc_device_map *m) {
    int deep = o->deep_stride == 1;
    memset(m, 0, sizeof *m);
    if (o->deep_stride <= 0 || o->line_stride <= 0 || (!deep && o->line_stride != 1))
        return 0;
    tc__mapped_batches b;
    if (!tc__mapped_batches_of(x, o, &b)) return 0;
    m->dtype = o->dtype, m->offset = tc__mapped_element(x, o, 0);
    m->size[0] = deep ? o->depth : o->lines, m->size[1] = deep ? o->lines : o->depth;
    m->size[2] = b.inner, m->size[3] = b.outer;
    m->stride[0] = deep ? o->line_stride : o->deep_stride;
    m->stride[1] = b.inner > 1 ? b.stride[0] : m->stride[0] * m->size[1];
    m->stride[2] = b.outer > 1 ? b.stride[1] : m->stride[1] * m->size[2];
    int half = deep && o->whole && o->whole < tc__map_line(o->dtype);
    m->box[0] = (uint32_t)(half ? o->whole : tc__map_line(o->dtype));
    m->box[1] = (uint32_t)(deep ? o->tile : o->step);
    m->box[2] = m->box[3] = 1;
    return tc__map_fits(m);
}

// ---- windows of images, whose channels are last ----

enum {
    TC__MAP_CORNER = 127, // places of a border at most, less one,
    TC__MAP_REACH =
        127 //   and that a tap is from the first: behind the last are some that no result needs
};

// Whether tiles have half lines: of windows along k whose channels are no whole ones.
static int tc__windows_are_half(const tc__group_windows *w, int dtype) {
    return w->channels && !w->turned && w->channels % tc__map_line(dtype) != 0;
}

// The map of windows for tiles of so many places, but for its arguments; 0 = there is none.
static int tc__map_of_windows(const tc__group_windows *w, int64_t places, int dtype,
                              tc_device_map *m) {
    int64_t stride = w->channels,
            line = tc__map_line(dtype) / (1 + tc__windows_are_half(w, dtype));
    memset(m, 0, sizeof *m);
    if (!w->channels || w->channels % line || places > 256) return 0;
    m->dtype = dtype, m->size[0] = w->channels, m->size[3] = w->images;
    m->box[0] = (uint32_t)line, m->box[1] = (uint32_t)places, m->box[2] = 1;
    for (int i = 0; i < 2; i++) { // width is first
        int64_t reach = (w->size[1 - i] - 1) * w->dilation[1 - i];
        int64_t end = (w->out[1 - i] - 1) * w->stride[1 - i] - w->low[1 - i];
        m->size[1 + i] = w->image[1 - i], m->stride[i] = stride;
        stride *= w->image[1 - i];
        m->low[i] = (int)-w->low[1 - i], m->high[i] = (int)(end + 1 - w->image[1 - i]);
        m->step[i] = (uint32_t)w->stride[1 - i];
        if (reach > TC__MAP_REACH || w->low[1 - i] > TC__MAP_CORNER ||
            w->stride[1 - i] > 8 || m->high[i] > TC__MAP_CORNER ||
            m->high[i] < -TC__MAP_CORNER)
            return 0;
    }
    m->stride[2] = stride;
    for (int i = 0; i < 4; i++)
        if (m->size[i] <= 0 || m->size[i] >= (int64_t)1 << 31) return 0;
    return 1;
}

// ---- of a list ----

static int tc__template_is_mapped(const tc__node *n) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    if (n->op != TC_OP_TEMPLATE) return 0;
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN)
        return number[TC__CHAIN_STAGES] != 0;
    return n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES &&
           number[TC__TILES_WAY] >= (int64_t)TC__WAY_MAPPED;
}

static int64_t tc__template_batches(const tc__node *n) {
    int64_t batches =
        n->attr[TC__TEMPLATE_NUMBERS + (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN
                                            ? (int)TC__CHAIN_BATCHES
                                            : (int)TC__TILES_BATCHES)];
    return batches ? batches : 1;
}

// Whether a hole of mapped TEMPLATE n has a map of its own.
static int tc__hole_is_mapped(const tc__node *n, const tc__node *hole) {
    if (hole->op != TC_OP_HOLE || hole->attr[TC__HOLE_BRING] == TC__BRING_VALUES) return 0;
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES)
        return hole->attr[TC__HOLE_BRING] == TC__BRING_ASYNC;
    return hole->attr[TC__HOLE_HOLE] != TC__HOLE_VALUE ||
           !n->attr[TC__TEMPLATE_NUMBERS + TC__CHAIN_SAME];
}

// The sizes of what a hole brings, of tiles of a product
static void tc__mapped_tiles(const tc__node *n, int64_t hole, tc__mapped *o) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    int left = hole == TC__HOLE_LEFT;
    o->rows = tc__ix_value(n->attr[TC__TEMPLATE_ROWS]);
    o->lines = left ? o->rows : tc__ix_value(n->attr[TC__TEMPLATE_COLS]);
    o->depth = tc__ix_value(n->attr[TC__TEMPLATE_DEPTH]);
    o->tile = number[left ? TC__TILES_ROWS : TC__TILES_COLS],
    o->step = o->whole = number[TC__TILES_DEPTH];
    // Of a right tile's rows in memory each block of a cluster brings a part.
    if (!left) o->tile /= number[TC__TILES_CLUSTER], o->step /= number[TC__TILES_CLUSTER];
}

// or of a chain of them: values are a whole step of k, of all columns of the result.
static void tc__mapped_chain(const tc__node *n, int64_t hole, tc__mapped *o) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS;
    int left = hole == TC__HOLE_LEFT || hole == TC__HOLE_LEFT_NEXT,
        next = hole == TC__HOLE_LEFT_NEXT || hole == TC__HOLE_RIGHT_NEXT;
    int64_t keys = tc__ix_value(n->attr[TC__TEMPLATE_DEPTH]);
    int64_t ragged = number[next ? TC__CHAIN_RAGGED_NEXT : TC__CHAIN_RAGGED_DEPTH];
    o->rows = tc__ix_value(n->attr[TC__TEMPLATE_ROWS]);
    o->lines = left ? o->rows : keys;
    o->depth = ragged ? ragged : number[next ? TC__CHAIN_NEXT : TC__CHAIN_DEPTH];
    o->tile = number[left ? TC__CHAIN_ROWS : TC__CHAIN_COLS];
    o->step = number[TC__CHAIN_COLS];
    if (hole != TC__HOLE_VALUE) return;
    o->lines = tc__ix_value(n->attr[TC__TEMPLATE_COLS]), o->depth = keys;
}

// The map that stands for the copies of an operand's hole of TEMPLATE n. Its argument `address` is the buffer's number.
static int tc__template_map(const tc__group *k, const tc__node *n, const tc__node *hole,
                            tc_device_map *m) {
    const int64_t *a = hole->attr, *number = n->attr + TC__TEMPLATE_NUMBERS;
    const tc__node *copy = k->body.node.at[hole->id + 1];
    tc__mapped o;
    memset(&o, 0, sizeof o);
    if (copy->op == TC_OP_COPY && k->shape.windows.channels &&
        a[TC__HOLE_HOLE] != TC__HOLE_LEFT) {
        int64_t from = copy->attr[TC__COPY_FROM];
        int64_t places = number[k->shape.windows.turned ? TC__TILES_DEPTH : TC__TILES_COLS];
        int ok = tc__map_of_windows(&k->shape.windows, places, k->buffer.at[from].dtype, m);
        m->address = (uint32_t)from;
        return ok;
    }
    if (copy->op != TC_OP_COPY || !tc__ix_is_const(n->attr[TC__TEMPLATE_ROWS]) ||
        !tc__ix_is_const(n->attr[TC__TEMPLATE_COLS]) ||
        !tc__ix_is_const(n->attr[TC__TEMPLATE_DEPTH]))
        return 0;
    o.at = copy->attr[TC__COPY_SOURCE];
    o.line = (int)a[TC__HOLE_LINE], o.deep = (int)a[TC__HOLE_DEEP];
    o.row = (int)a[TC__HOLE_ROW];
    o.line_stride = a[TC__HOLE_LINE_STRIDE], o.deep_stride = a[TC__HOLE_DEEP_STRIDE];
    if (n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN)
        tc__mapped_chain(n, a[TC__HOLE_HOLE], &o);
    else
        tc__mapped_tiles(n, a[TC__HOLE_HOLE], &o);
    o.batches = tc__template_batches(n);
    o.dtype = k->buffer.at[copy->attr[TC__COPY_FROM]].dtype;
    if (!tc__map_of(k->body.ix, &o, m)) return 0;
    m->address = (uint32_t)copy->attr[TC__COPY_FROM];
    return 1;
}
