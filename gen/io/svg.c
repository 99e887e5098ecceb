// Drawings for the report: a graph in layers, and the memory plan of a program, as inline SVG.
//
// The layout is the usual one (Sugiyama): a node stands one layer below the lowest of its operands, a
// source right above its first use; an edge over several layers passes each in a place of its own;
// places are put in order by the mean of their neighbours', down and up a few times. Operands come
// before their users in every graph of ours, so one walk finds the layers.

enum {
    TC__DRAWN_NODES = 300,   // more are not drawn
    TC__DRAWN_PLACES = 6000, //   nor graphs that need more places in their layers
    TC__DRAWN_SWEEPS = 4,
    TC__BOX_WIDTH = 184,
    TC__BOX_HEIGHT = 34,
    TC__BOX_TEXT = 26,    // characters that fit a box
    TC__PASS_WIDTH = 14,  // of an edge on its way through a layer
    TC__LAYER_PITCH = 58, // from one layer to the next
    TC__DRAWN_MARGIN = 8,
    TC__COLORS = 8 // classes c0 ... of the style sheet
};

typedef struct tc__box {
    const char *label, *detail; // two lines of text, of the drawing's arena
    int color;                  // -1 = none
    int is_source;
    uint32_t layer;
} tc__box;

// A pair of boxes, then of places in neighbouring layers.
typedef struct tc__edge {
    uint32_t from, to;
} tc__edge;

typedef struct tc__place_of {
    uint32_t box; // UINT32_MAX = an edge passes
    uint32_t layer;
    double key; // where it would like to be
    uint32_t order;
    int x; // of its middle
} tc__place_of;

typedef struct tc__drawing {
    tc_ctx *ctx;
    tc__arena arena;
    TC__VEC(tc__box) box;
    TC__VEC(tc__edge) edge;
    TC__VEC(tc__place_of) place; // one for each box first
    TC__VEC(tc__edge) link;      // between places
    uint32_t layers;
    int width, failed;
} tc__drawing;

static void tc__drawing_open(tc__drawing *d, tc_ctx *c) {
    memset(d, 0, sizeof *d);
    d->ctx = c;
    tc__arena_init(&d->arena, c);
}

static void tc__drawing_close(tc__drawing *d) {
    TC__VEC_FREE(d->ctx, d->box);
    TC__VEC_FREE(d->ctx, d->edge);
    TC__VEC_FREE(d->ctx, d->place);
    TC__VEC_FREE(d->ctx, d->link);
    tc__arena_free(&d->arena);
}

// ---- what is drawn ----

static const char *tc__drawing_text(tc__drawing *d, const tc__text *t) {
    char *copy = t->failed ? NULL : (char *)tc__arena_alloc(&d->arena, t->size + 1);
    if (copy) memcpy(copy, t->at, t->size + 1);
    return copy ? copy : "";
}

// A box with two lines, which are emptied; its number.
static uint32_t tc__draw_box(tc__drawing *d, tc__text *label, tc__text *detail, int color,
                             int is_source) {
    tc__box b;
    b.label = tc__drawing_text(d, label), b.detail = tc__drawing_text(d, detail);
    b.color = color, b.is_source = is_source, b.layer = 0;
    tc__text_clear(label);
    tc__text_clear(detail);
    d->failed |= !TC__PUSH(d->ctx, d->box, b);
    return (uint32_t)d->box.count - 1;
}

static void tc__draw_edge(tc__drawing *d, uint32_t from, uint32_t to) {
    tc__edge e;
    e.from = from, e.to = to;
    d->failed |= !TC__PUSH(d->ctx, d->edge, e);
}

// ---- layers ----

static void tc__drawing_layers(tc__drawing *d) {
    tc__box *b = d->box.at;
    for (size_t i = 0; i < d->edge.count; i++) { // edges stand in the order of their ends
        const tc__edge *e = &d->edge.at[i];
        if (b[e->to].layer <= b[e->from].layer) b[e->to].layer = b[e->from].layer + 1;
    }
    for (size_t i = 0; i < d->box.count; i++)
        if (b[i].layer >= d->layers) d->layers = b[i].layer + 1;
    for (uint32_t i = 0; i < d->box.count; i++) {
        uint32_t first = UINT32_MAX;
        for (size_t k = 0; k < d->edge.count && b[i].is_source; k++)
            if (d->edge.at[k].from == i && b[d->edge.at[k].to].layer < first)
                first = b[d->edge.at[k].to].layer;
        if (first != UINT32_MAX) b[i].layer = first - 1;
    }
}

static uint32_t tc__place_new(tc__drawing *d, uint32_t box, uint32_t layer) {
    tc__place_of p;
    memset(&p, 0, sizeof p);
    p.box = box, p.layer = layer;
    d->failed |= !TC__PUSH(d->ctx, d->place, p);
    return (uint32_t)d->place.count - 1;
}

static void tc__link_new(tc__drawing *d, uint32_t from, uint32_t to) {
    tc__edge e;
    e.from = from, e.to = to;
    d->failed |= !TC__PUSH(d->ctx, d->link, e);
}

// The edges of one box share their way down: a trunk through the layers, left where a user stands.
static void tc__drawing_trunk(tc__drawing *d, uint32_t box) {
    uint32_t last = 0, at = box;
    for (size_t i = 0; i < d->edge.count; i++)
        if (d->edge.at[i].from == box && d->box.at[d->edge.at[i].to].layer > last)
            last = d->box.at[d->edge.at[i].to].layer;
    for (uint32_t layer = d->box.at[box].layer + 1; layer <= last && !d->failed; layer++) {
        for (size_t i = 0; i < d->edge.count; i++) {
            const tc__edge *e = &d->edge.at[i];
            if (e->from == box && d->box.at[e->to].layer == layer)
                tc__link_new(d, at, e->to);
        }
        if (layer == last) break;
        uint32_t pass = tc__place_new(d, UINT32_MAX, layer);
        tc__link_new(d, at, pass);
        at = pass;
    }
}

static void tc__drawing_places(tc__drawing *d) {
    for (uint32_t i = 0; i < d->box.count; i++) tc__place_new(d, i, d->box.at[i].layer);
    for (uint32_t i = 0; i < d->box.count && d->place.count < TC__DRAWN_PLACES; i++)
        tc__drawing_trunk(d, i);
}

// ---- order ----

// The places of one layer, in their order, into `at`; how many.
static uint32_t tc__layer_places(const tc__drawing *d, uint32_t layer, uint32_t *at) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < d->place.count; i++) {
        if (d->place.at[i].layer != layer) continue;
        uint32_t k = n++;
        for (; k && d->place.at[at[k - 1]].key > d->place.at[i].key; k--) at[k] = at[k - 1];
        at[k] = i;
    }
    return n;
}

static void tc__layer_order(tc__drawing *d, uint32_t layer, uint32_t *at) {
    uint32_t n = tc__layer_places(d, layer, at);
    for (uint32_t i = 0; i < n; i++)
        d->place.at[at[i]].order = i, d->place.at[at[i]].key = i;
}

// Each place of the layer wants to the middle of its neighbours above, or below.
static void tc__layer_pull(tc__drawing *d, uint32_t layer, int up, double *sum,
                           uint32_t *count) {
    memset(sum, 0, d->place.count * sizeof *sum);
    memset(count, 0, d->place.count * sizeof *count);
    for (size_t i = 0; i < d->link.count; i++) {
        uint32_t here = up ? d->link.at[i].from : d->link.at[i].to;
        uint32_t there = up ? d->link.at[i].to : d->link.at[i].from;
        if (d->place.at[here].layer != layer) continue;
        sum[here] += d->place.at[there].order, count[here]++;
    }
    for (size_t i = 0; i < d->place.count; i++)
        if (count[i]) d->place.at[i].key = sum[i] / count[i];
}

static void tc__drawing_sweep(tc__drawing *d, uint32_t *at, double *sum, uint32_t *count) {
    for (uint32_t i = 0; i < d->place.count; i++) d->place.at[i].key = i;
    for (uint32_t l = 0; l < d->layers; l++) tc__layer_order(d, l, at);
    for (int sweep = 0; sweep < TC__DRAWN_SWEEPS; sweep++) {
        int up = sweep & 1;
        for (uint32_t i = 1; i < d->layers; i++) {
            uint32_t l = up ? d->layers - 1 - i : i;
            tc__layer_pull(d, l, up, sum, count);
            tc__layer_order(d, l, at);
        }
    }
}

// ---- coordinates ----

static int tc__place_width(const tc__place_of *p) {
    return p->box == UINT32_MAX ? TC__PASS_WIDTH : TC__BOX_WIDTH + TC__PASS_WIDTH;
}

static void tc__drawing_columns(tc__drawing *d, uint32_t *at) {
    for (int pass = 0; pass < 2; pass++) // first the widest layer, then each in its middle
        for (uint32_t l = 0; l < d->layers; l++) {
            uint32_t n = tc__layer_places(d, l, at);
            int width = 0;
            for (uint32_t i = 0; i < n; i++) width += tc__place_width(&d->place.at[at[i]]);
            if (width > d->width) d->width = width;
            int x = (d->width - width) / 2;
            for (uint32_t i = 0; i < n; i++) {
                tc__place_of *p = &d->place.at[at[i]];
                p->x = x + tc__place_width(p) / 2;
                x += tc__place_width(p);
            }
        }
}

static int tc__drawing_lay_out(tc__drawing *d) {
    if (d->failed || !d->box.count || d->box.count > TC__DRAWN_NODES) return 0;
    tc__drawing_layers(d);
    tc__drawing_places(d);
    if (d->failed || d->place.count >= TC__DRAWN_PLACES) return 0;
    uint32_t *at = TC__ANEW_ARRAY(&d->arena, uint32_t, d->place.count);
    uint32_t *count = TC__ANEW_ARRAY(&d->arena, uint32_t, d->place.count);
    double *sum = TC__ANEW_ARRAY(&d->arena, double, d->place.count);
    if (!at || !count || !sum) return 0;
    tc__drawing_sweep(d, at, sum, count);
    tc__drawing_columns(d, at);
    return 1;
}

// ---- SVG of a graph ----

static int tc__layer_top(uint32_t layer) {
    return TC__DRAWN_MARGIN + (int)layer * TC__LAYER_PITCH;
}

static void tc__svg_link(tc__text *t, const tc__drawing *d, const tc__edge *e) {
    const tc__place_of *a = &d->place.at[e->from], *b = &d->place.at[e->to];
    int top = tc__layer_top(a->layer) + TC__BOX_HEIGHT, end = tc__layer_top(b->layer);
    int middle = (top + end) / 2;
    tc__put(t, "<path d=\"M%d %dC%d %d %d %d %d %d", a->x, top, a->x, middle, b->x, middle,
            b->x, end);
    if (b->box == UINT32_MAX) tc__put(t, "V%d", end + TC__BOX_HEIGHT);
    tc__put(t, "\" />\n");
}

// One line of a box, cut to fit.
static void tc__svg_line(tc__text *t, const tc__place_of *p, int down, const char *kind,
                         const char *s) {
    char line[TC__BOX_TEXT + 1];
    int n = snprintf(line, sizeof line, "%s", s);
    if (n > TC__BOX_TEXT) memcpy(line + TC__BOX_TEXT - 3, "...", 4);
    tc__put(t, "<text class=\"%s\" x=\"%d\" y=\"%d\">", kind, p->x,
            tc__layer_top(p->layer) + down);
    tc__put_html(t, line);
    tc__put(t, "</text>\n");
}

static void tc__svg_box(tc__text *t, const tc__place_of *p, const tc__box *b) {
    tc__put(t, "<g><title>");
    tc__put_html(t, b->label);
    tc__put(t, "  ");
    tc__put_html(t, b->detail);
    if (b->color >= 0) tc__put(t, "  kernel %d", b->color);
    tc__put(t, "</title>\n<rect class=\"");
    if (b->color >= 0)
        tc__put(t, "c%d", b->color % TC__COLORS);
    else
        tc__put(t, "%s", b->is_source ? "source" : "plain");
    tc__put(t, "\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" />\n",
            p->x - TC__BOX_WIDTH / 2, tc__layer_top(p->layer), (int)TC__BOX_WIDTH,
            (int)TC__BOX_HEIGHT);
    tc__svg_line(t, p, 14, "label", b->label);
    tc__svg_line(t, p, 28, "detail", b->detail);
    tc__put(t, "</g>\n");
}

// The drawing; 0 = it is too large, and nothing is put.
static int tc__svg_drawing(tc__text *t, tc__drawing *d, const char *title) {
    if (!tc__drawing_lay_out(d)) return 0;
    int height = tc__layer_top(d->layers - 1) + TC__BOX_HEIGHT + TC__DRAWN_MARGIN;
    tc__put(t,
            "<div class=\"scroll\"><svg class=\"graph\" role=\"img\" aria-label=\"%s\" "
            "width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
            title, d->width, height, d->width, height);
    for (size_t i = 0; i < d->link.count; i++) tc__svg_link(t, d, &d->link.at[i]);
    for (size_t i = 0; i < d->box.count; i++)
        tc__svg_box(t, &d->place.at[i], &d->box.at[i]);
    tc__put(t, "</svg></div>\n");
    return 1;
}

// ---- a recorded path ----

static void tc__draw_externals(tc__drawing *d, const tc__step *s, tc__text *label,
                               tc__text *detail) {
    for (uint32_t i = 0; i < s->n_bind; i++) {
        tc__put(label, "x%u", (unsigned)(s->first_external + i));
        if (s->bind[i].shape)
            tc__put_shape(detail, s->bind[i].shape);
        else
            tc__put_layout(detail, s->bind[i].layout);
        tc__draw_box(d, label, detail, -1, 1);
    }
}

// Boxes: the externals, then the steps. An edge ends at a step, so edges are in its order.
static void tc__draw_path(tc__drawing *d, const tc__visit *v) {
    const tc__ixpool *p = &tc__recorder_of(d->ctx)->ix;
    tc__text label, detail;
    tc__text_init(&label, d->ctx);
    tc__text_init(&detail, d->ctx);
    for (size_t i = 0; i < v->path.count; i++)
        tc__draw_externals(d, v->path.at[i], &label, &detail);
    uint32_t externals = (uint32_t)d->box.count;
    for (uint32_t i = 0; i < v->path.count; i++) {
        const tc__step *s = v->path.at[i];
        if (s->op == TC_OP_FINISH && !s->n_in) break; // the end of a region: the last step
        tc__put(&label, "%u ", (unsigned)i);
        tc__dump_step(&label, p, s);
        if (tc__has_result((tc__op)s->op)) {
            tc__put(&detail, "%s", tc__dtype(s->meta.dtype)->name);
            tc__dump_dims(&detail, p, s->meta.rank, s->meta.dims);
        }
        tc__draw_box(d, &label, &detail, -1, 0);
        for (uint32_t k = 0; k < s->n_in; k++) {
            uint32_t from = s->in[k] & ~TC__EXTERNAL;
            tc__draw_edge(d, s->in[k] & TC__EXTERNAL ? from : externals + from,
                          externals + i);
        }
    }
    tc__text_free(&label);
    tc__text_free(&detail);
}

// ---- a graph after all passes ----

// The kernel that computes a node, -1 = none by itself: it is a part of those that use it.
static int tc__kernel_of_node(const tc__program *p, uint32_t node) {
    for (size_t i = 0; i < p->launch.count; i++) {
        const tc__group *k = p->launch.at[i].group;
        for (size_t n = 0; n < k->covers.count; n++)
            if (k->covers.at[n] == node) return (int)i;
    }
    return -1;
}

static void tc__draw_graph(tc__drawing *d, const tc__program *p) {
    const tc__graph *g = &p->graph;
    tc__dump type;
    tc__text label, detail;
    tc__text_init(&label, d->ctx);
    tc__text_init(&detail, d->ctx);
    type.t = &detail, type.g = g, type.indent = 0;
    for (uint32_t i = 0; i < g->node.count; i++) {
        const tc__node *n = g->node.at[i];
        tc__put(&label, "%%%u %s", (unsigned)i, tc__op_name((tc__op)n->op));
        tc__dump_attrs(&label, g->ix, n->op, n->dtype, n->attr, n->n_attr);
        tc__dump_type(&type, n);
        tc__draw_box(d, &label, &detail, tc__kernel_of_node(p, i), !n->n_in);
        for (uint32_t k = 0; k < n->n_in; k++) tc__draw_edge(d, n->in[k], i);
    }
    tc__text_free(&label);
    tc__text_free(&detail);
}

// ---- the memory plan ----

enum {
    TC__PLAN_WIDTH = 640,
    TC__PLAN_HEIGHT = 200,
    TC__PLAN_LEFT = 90,
    TC__PLAN_TICKS = 32
};

static int tc__plan_x(size_t kernel, size_t kernels) {
    return TC__PLAN_LEFT + (int)(kernel * TC__PLAN_WIDTH / kernels);
}

static int tc__plan_y(size_t offset, size_t bytes) {
    const int height = TC__PLAN_HEIGHT;
    double part = (double)offset / (double)bytes;
    return TC__DRAWN_MARGIN + height - (int)(part * height);
}

static void tc__svg_slab(tc__text *t, size_t n, const tc__plan *plan, const tc__slab *s) {
    int x = tc__plan_x(s->first, n), width = tc__plan_x(s->last + 1u, n) - x;
    int y = tc__plan_y(s->offset + s->bytes, plan->bytes);
    int height = tc__plan_y(s->offset, plan->bytes) - y;
    const char *what = s->lasts ? "loop " : "%";
    tc__put(t,
            "<g><title>%s%u: %zu bytes at %zu, from kernel %u to %u</title>\n"
            "<rect class=\"c%u\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" />\n",
            what, (unsigned)s->node, s->bytes, s->offset, (unsigned)s->first,
            (unsigned)s->last, (unsigned)s->first % TC__COLORS, x, y, width,
            height > 1 ? height : 1);
    if (width >= 40 && height >= 14)
        tc__put(t, "<text class=\"label\" x=\"%d\" y=\"%d\">%s%u</text>\n", x + width / 2,
                y + height / 2 + 4, what, (unsigned)s->node);
    tc__put(t, "</g>\n");
}

static void tc__svg_ticks(tc__text *t, size_t kernels) {
    size_t step = (kernels - 1) / TC__PLAN_TICKS + 1;
    for (size_t i = 0; i < kernels; i += step)
        tc__put(t, "<text class=\"detail\" x=\"%d\" y=\"%d\">k%zu</text>\n",
                (tc__plan_x(i, kernels) + tc__plan_x(i + 1, kernels)) / 2,
                TC__DRAWN_MARGIN + TC__PLAN_HEIGHT + 16, i);
}

// Intermediates: kernels to the right, offsets in the arena upwards. Only where there are some.
static void tc__svg_plan(tc__text *t, size_t kernels, const tc__plan *plan) {
    int width = TC__PLAN_LEFT + TC__PLAN_WIDTH + TC__DRAWN_MARGIN;
    int height = TC__PLAN_HEIGHT + 3 * TC__DRAWN_MARGIN + 16;
    tc__put(t,
            "<div class=\"scroll\"><svg class=\"plan\" role=\"img\" aria-label=\"memory "
            "plan\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n",
            width, height, width, height);
    tc__put(t, "<rect class=\"plain\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" />\n",
            (int)TC__PLAN_LEFT, (int)TC__DRAWN_MARGIN, (int)TC__PLAN_WIDTH,
            (int)TC__PLAN_HEIGHT);
    tc__put(t, "<text class=\"right\" x=\"%d\" y=\"%d\">%zu</text>\n", TC__PLAN_LEFT - 6,
            TC__DRAWN_MARGIN + 10, plan->bytes);
    tc__put(t, "<text class=\"right\" x=\"%d\" y=\"%d\">0 bytes</text>\n",
            TC__PLAN_LEFT - 6, TC__DRAWN_MARGIN + TC__PLAN_HEIGHT);
    for (size_t i = 0; i < plan->slab.count; i++)
        if (!plan->slab.at[i].output) tc__svg_slab(t, kernels, plan, &plan->slab.at[i]);
    tc__svg_ticks(t, kernels);
    tc__put(t, "</svg></div>\n");
}
