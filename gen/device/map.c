// Tensor maps: a device that has them (tc_device.tensor_maps) copies tiles of an operand by itself, if that lies in memory as a
// tensor of three dimensions whose sizes and strides are known: what is contiguous, the other of line and place along k, and
// batches. Input: the index of an element, over variables, and how far neighbours lie apart. Output: the map that its launch
// gets as an argument (tc_device_map). Where there is none, threads bring the operand: device/template.c.

enum {
    TC__MAP_LINE = 64,      // halves of a row of a tile in shared memory
    TC__MAP_ALIGN = 8,      // of which addresses and strides are multiples
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
    int64_t tile;                        // lines of a tile
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

// Elements between batches, 0 = it is the same for all; -1 = not equally far apart.
static int64_t tc__mapped_batch_stride(tc__ixpool *x, const tc__mapped *o) {
    int64_t first = tc__mapped_element(x, o, 0), stride = 0;
    if (first < 0 || o->batches > TC__MAP_BATCHES) return -1;
    if (o->batches > 1) stride = tc__mapped_element(x, o, 1) - first;
    for (int64_t b = 2; b < o->batches; b++)
        if (tc__mapped_element(x, o, b) != first + b * stride) return -1;
    return stride;
}

static int tc__map_fits(const tc_device_map *m) {
    const int64_t sizes = (int64_t)1 << 31, strides = (int64_t)1 << 38;
    int ok = m->offset >= 0 && m->offset % TC__MAP_ALIGN == 0;
    for (int i = 0; i < 3; i++) ok = ok && m->size[i] > 0 && m->size[i] < sizes;
    for (int i = 0; i < 2; i++)
        ok = ok && m->stride[i] > 0 && m->stride[i] < strides &&
             m->stride[i] % TC__MAP_ALIGN == 0;
    return ok;
}

// The map of an operand, but for its arguments; 0 = there is none.
static int tc__map_of(tc__ixpool *x, const tc__mapped *o, tc_device_map *m) {
    int deep = o->deep_stride == 1;
    memset(m, 0, sizeof *m);
    if (o->deep_stride <= 0 || o->line_stride <= 0 || (!deep && o->line_stride != 1))
        return 0;
    int64_t apart = tc__mapped_batch_stride(x, o);
    if (apart < 0) return 0;
    m->dtype = o->dtype, m->offset = tc__mapped_element(x, o, 0);
    m->size[0] = deep ? o->depth : o->lines, m->size[1] = deep ? o->lines : o->depth;
    m->size[2] = apart ? o->batches : 1;
    m->stride[0] = deep ? o->line_stride : o->deep_stride;
    m->stride[1] = apart ? apart : m->stride[0] * m->size[1];
    m->box[0] = (uint32_t)tc__map_line(o->dtype);
    m->box[1] = deep ? (uint32_t)o->tile : (uint32_t)TC__MAP_LINE;
    m->box[2] = 1;
    return tc__map_fits(m);
}

// ---- windows of images, whose channels are last ----

enum {
    TC__MAP_CORNER = 127, // places of a border at most, less one,
    TC__MAP_REACH =
        127 //   and that a tap is from the first: behind the last are some that no result needs
};

// The map of windows for tiles of so many places, but for its arguments; 0 = there is none.
static int tc__map_of_windows(const tc__group_windows *w, int64_t places, int dtype,
                              tc_device_map *m) {
    int64_t stride = w->channels;
    memset(m, 0, sizeof *m);
    if (!w->channels || w->channels % tc__map_line(dtype) || places > 256) return 0;
    m->dtype = dtype, m->size[0] = w->channels, m->size[3] = w->images;
    m->box[0] = (uint32_t)tc__map_line(dtype), m->box[1] = (uint32_t)places, m->box[2] = 1;
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
    return n->op == TC_OP_TEMPLATE && n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES &&
           n->attr[TC__TEMPLATE_NUMBERS + TC__TILES_WAY] == (int64_t)TC__WAY_MAPPED;
}

// The map that stands for the copies of an operand's hole of TEMPLATE n. Its argument `address` is the buffer's number.
static int tc__template_map(const tc__group *k, const tc__node *n, const tc__node *hole,
                            tc_device_map *m) {
    const int64_t *number = n->attr + TC__TEMPLATE_NUMBERS, *a = hole->attr;
    const tc__node *copy = k->body.node.at[hole->id + 1];
    int left = a[TC__HOLE_HOLE] == TC__HOLE_LEFT;
    tc__mapped o;
    if (copy->op == TC_OP_COPY && !left && k->shape.windows.channels) {
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
    o.rows = tc__ix_value(n->attr[TC__TEMPLATE_ROWS]);
    o.lines = left ? o.rows : tc__ix_value(n->attr[TC__TEMPLATE_COLS]);
    o.depth = tc__ix_value(n->attr[TC__TEMPLATE_DEPTH]);
    o.batches = number[TC__TILES_BATCHES] ? number[TC__TILES_BATCHES] : 1;
    o.tile = number[left ? TC__TILES_ROWS : TC__TILES_COLS];
    o.dtype = k->buffer.at[copy->attr[TC__COPY_FROM]].dtype;
    if (!tc__map_of(k->body.ix, &o, m)) return 0;
    m->address = (uint32_t)copy->attr[TC__COPY_FROM];
    return 1;
}
