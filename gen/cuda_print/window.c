// CUDA dialect, the form "window": which places a thread has, and how its windows are read. What they
// are is in the plan (window_plan.c).
//
//     float w3[6][4];                                 // 9 loads of in0
//     #pragma unroll
//     for (int k = 0; k < 6; k++) {
//         ...                                         // row r0 + k, as few loads as its bytes allow
//     }
//     #pragma unroll
//     for (int u = 0; u < 4; u++) {                   // rows r0 .. r0 + 3
//         ... w3[u + 1][l + 2] ...

// Elements that one access reads from that of load n on, of those that are left in the row.
static int tc__window_access(const tc__printer *p, const tc__node *n, int left) {
    int width = p->cuda->width;
    while (width > 1 && (width > left || !tc__device_is_wide(p->g, n, width, TC__COL)))
        width /= 2;
    return width;
}

// Column `column` of row k of the window, and those that its access brings: their number.
static int tc__window_read(tc__printer *p, const tc__cuda_window *w, int column) {
    const tc__cuda_plan *plan = p->cuda;
    tc__cuda_plan piece = *plan;
    tc__ixpool *x = p->g->body.ix;
    int64_t words[TC__CUDA_WINDOW_WORDS];
    tc__ix k = tc__ix_var(x, TC__DEPTH, tc__ix_const(w->rows + plan->vectors - 1));
    tc__node n = tc__window_node(p->g, w);
    n = tc__window_moved(p->g, &n, tc__ix_add(x, k, tc__ix_const(w->top)), w->left + column,
                         words);
    int width = tc__window_access(p, &n, w->columns + plan->width - 1 - column);
    piece.width = width;
    p->cuda = &piece;
    tc__line(p);
    if (width == 1) {
        tc__put(p->out, "w%u[k][%d] = ", w->load, column);
        tc__cuda_read(p, &n);
        tc__put(p->out, ";\n");
    } else {
        tc__put(p->out, "tc_unpack(&w%u[k][%d], ", w->load, column);
        tc__cuda_issue_wide(p, &n);
        tc__put(p->out, ");\n");
    }
    p->cuda = plan;
    return width;
}

// Whether rows of the last threads may be behind the end.
static int tc__window_is_ragged(const tc__printer *p) {
    return tc__ix_divisor(p->g->body.ix, p->g->shape.rows) % p->cuda->vectors != 0;
}

// What the loop over k of window w does.
static void tc__window_read_row(tc__printer *p, const tc__cuda_window *w) {
    if (tc__window_is_ragged(p)) {
        tc__line(p);
        tc__put(p->out, "if (r0 + k >= ");
        tc__put_ix(p,
                   tc__ix_add(p->g->body.ix, p->g->shape.rows, tc__ix_const(w->rows - 1)));
        tc__put(p->out, ") break;\n");
    }
    for (int column = 0; column < w->columns + p->cuda->width - 1;)
        column += tc__window_read(p, w, column);
}

static void tc__window_read_all(tc__printer *p, const tc__cuda_window *w) {
    const tc__node *n = tc__body(p, w->load);
    int rows = w->rows + p->cuda->vectors - 1;
    tc__text body, *out = p->out;
    tc__line(p);
    tc__put(p->out, "%s w%u[%d][%d];  // %d loads of ", tc__cuda_memory(p, n), w->load,
            rows, w->columns + p->cuda->width - 1, w->loads);
    tc__put_buffer(p, n->attr[TC__LOAD_BUFFER]);
    tc__put(p->out, "\n");
    tc__cuda_unroll(p, "k", rows);
    tc__text_init(&body, out->ctx);
    p->out = &body;
    tc__window_read_row(p, w);
    p->out = out;
    if (tc__c_mentions(&body, "r")) {
        tc__line(p);
        tc__put(p->out, "const %s r = r0;\n", tc__cuda_index_type(p));
    }
    tc__put_raw(out, body.at, body.size);
    out->failed |= body.failed;
    tc__text_free(&body);
    tc__block_close(p);
}

// Where the thread is: `r0`, the first of its rows, and `c`.
static void tc__window_place(tc__printer *p) {
    const tc__cuda_plan *q = p->cuda;
    const char *type = tc__cuda_index_type(p);
    tc__ixpool *x = p->g->body.ix;
    int below = q->threads / q->sharing;
    tc__ix across =
        tc__ix_ceil_div(x, p->g->shape.cols, tc__ix_const((int64_t)q->sharing * q->width));
    int many = !tc__ix_equals(across, 1);
    tc__text blocks;
    const char *of = tc__cuda_text_of(p, &blocks, across, 0);
    tc__line(p);
    tc__put(p->out, "const %s r0 = (blockIdx.x", type);
    if (many) tc__put(p->out, " / %s", of);
    tc__put(p->out, " * %d + threadIdx.x / %d) * %d;\n", below, q->sharing, q->vectors);
    tc__line(p);
    tc__put(p->out, "const %s c = (", type);
    if (many) tc__put(p->out, "blockIdx.x %% %s * %d + ", of, q->sharing);
    tc__put(p->out, "threadIdx.x %% %d) * %d;\n", q->sharing, q->width);
    tc__text_free(&blocks);
    tc__line(p);
    tc__put(p->out, "if (r0 >= ");
    tc__put_ix(p, p->g->shape.rows);
    tc__put(p->out, " || c >= ");
    tc__put_ix(p, p->g->shape.cols);
    tc__put(p->out, ") return;\n");
}

// The rows of the thread, one by one.
static void tc__window_rows_place(tc__printer *p, tc__cuda_place *at) {
    tc__text end;
    char line[160];
    const char *rows = tc__cuda_text_of(p, &end, p->g->shape.rows, 1);
    int many = p->cuda->vectors > 1;
    memset(at, 0, sizeof *at);
    snprintf(line, sizeof line, "const %s r = r0%s;", tc__cuda_index_type(p),
             many ? " + u" : "");
    tc__cuda_place_add(at, "r", line);
    if (many && tc__window_is_ragged(p)) {
        snprintf(at->inside, sizeof at->inside, "r0 + u < %s", rows);
        snprintf(at->beyond, sizeof at->beyond, "r0 + u >= %s", rows);
    }
    tc__text_free(&end);
}

static void tc__cuda_window_form(tc__printer *p) {
    const tc__cuda_plan *q = p->cuda;
    tc__cuda_loop_body b;
    tc__cuda_place at;
    if (!tc__cuda_body_open(p, &b, 0, (uint32_t)p->g->body.node.count)) return;
    tc__window_place(p);
    tc__cuda_hoist(p, &b);
    for (int i = 0; i < q->windows; i++) tc__window_read_all(p, &q->window[i]);
    tc__window_rows_place(p, &at);
    if (q->vectors > 1) {
        tc__cuda_declare(p, &b, q->vectors);
        tc__cuda_put_vectors(p, &b, &at, q->vectors);
    } else {
        tc__cuda_at(p, &b, &at, tc__cuda_one_at);
    }
    tc__cuda_body_close(p, &b);
}
