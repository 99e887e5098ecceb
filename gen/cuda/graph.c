// Launches of a plan as one CUDA graph. It is built from the list of kernels, not captured:
// so nodes are known by number. Each comes after the one before it: where independent kernels were branches, graphs of
// a dozen never ended when several processes shared a GPU (31 of 40 processes of tests/cuda/amp.c, 8 at a time, H200 with
// driver 580.159: the device idle, the graph's event not there; none of 16 where CUDA_DEVICE_MAX_CONNECTIONS was 1 or 32).
// TC_CUDA_GRAPH_BRANCHES in the environment brings the branches back; then none begins early, since who does may rely on
// the one before it (tc_begin_beside). Arguments are copied when a node is made, so a call with other arguments changes those nodes, and those
// only; nothing is ever copied to a fixed place. A few graphs are kept per plan, by the
// addresses of its inputs and outputs: loops alternate between a few buffers.
//
// Graphs are compared, not trusted: every launch but one that is told of no change compares
// functions, shapes and bytes of arguments with what each node was last set to, and only
// what differs is set. The addresses only choose which graph is likely to differ least.
// Clusters and early starts cannot be set: such a change builds anew, and so does a driver
// that refuses (910, 801).

enum { TCU__GRAPHS = 4, TCU__GRAPH_NODES = 4096 };

// One kernel of a plan. `after` are positions before its own.
typedef struct tcu__node {
    const tcu__kernel *kernel;
    tcu__launch_shape shape;
    tcu__args args;
    const int *after;
    int n_after;
} tcu__node;

// What a node of a graph was made or last changed for.
typedef struct tcu__node_state {
    tcu__graph_node handle;
    tcu__function function;
    tcu__launch_shape shape;
    size_t at, size; // of its arguments in `bytes`
} tcu__node_state;

typedef struct tcu__recorded {
    tcu__graph graph;
    tcu__graph_exec exec; // NULL = the entry is empty
    tcu__node_state *node;
    unsigned char *bytes;
    uint64_t *key;
    size_t n_bytes;
    int count, n_key;
    uint64_t used; // the clock at its last launch
} tcu__recorded;

typedef struct tcu__graphs {
    tcu__device *device;
    tcu__recorded entry[TCU__GRAPHS];
    tcu__recorded *last; // what ran last; NULL = something has changed since
    uint64_t clock;
    uint64_t built, changed; // graphs made, nodes changed: for reports
} tcu__graphs;

TCU__FN void tcu__graphs_open(tcu__graphs *g, tcu__device *d) {
    memset(g, 0, sizeof *g);
    g->device = d;
}

// Whether a plan of so many kernels may be a graph; else they are launched one by one.
TCU__FN int tcu__graph_fits(int count) { return count > 0 && count <= TCU__GRAPH_NODES; }

// Runs of it that were launched end by themselves.
TCU__FN void tcu__recorded_drop(tcu__device *d, tcu__recorded *r) {
    if (r->exec) TCU__UNDO(d, cuGraphExecDestroy, r->exec);
    if (r->graph) TCU__UNDO(d, cuGraphDestroy, r->graph);
    TCU__FREE(&d->host, r->node, r->count);
    TCU__FREE(&d->host, r->bytes, r->n_bytes);
    TCU__FREE(&d->host, r->key, r->n_key);
    memset(r, 0, sizeof *r);
}

// Forgets all graphs: before kernels are unloaded, or when the plan's kernels or their
// dependencies change.
TCU__FN void tcu__graphs_close(tcu__graphs *g) {
    if (!g->device) return;
    for (int i = 0; i < TCU__GRAPHS; i++) tcu__recorded_drop(g->device, &g->entry[i]);
}

// ---- making one

TCU__FN tcu__node_params tcu__node_params_of(const tcu__node *n, tcu__arg_list *list) {
    tcu__node_params p;
    memset(&p, 0, sizeof p);
    p.function = n->kernel->function;
    memcpy(p.grid, n->shape.grid, sizeof p.grid);
    memcpy(p.block, n->shape.block, sizeof p.block);
    p.shared = n->shape.shared;
    p.parameters = list->at;
    return p;
}

TCU__FN void tcu__node_remember(tcu__recorded *r, int i, const tcu__node *n) {
    tcu__node_state *s = &r->node[i];
    s->function = n->kernel->function;
    s->shape = n->shape;
    if (s->size) memcpy(r->bytes + s->at, n->args.at, s->size);
}

// The nodes that node i comes after, to `before`; their number.
TCU__FN int tcu__node_before(const tcu__device *d, const tcu__recorded *r,
                             const tcu__node *n, int i, tcu__graph_node *before) {
    for (int k = 0; k < n->n_after; k++) before[k] = r->node[n->after[k]].handle;
    if (d->branches) return n->n_after;
    if (i) before[0] = r->node[i - 1].handle;
    return i > 0;
}

// Edges that let a node begin while those before it end.
TCU__FN int tcu__node_edges(tcu__device *d, tcu__recorded *r, const tcu__node *n, int i,
                            const tcu__graph_node *before, int count) {
    tcu__edge edge;
    memset(&edge, 0, sizeof edge);
    edge.from_port = edge.type = TCU__EDGE_PROGRAMMATIC;
    for (int k = 0; k < count; k++) {
        if (!TCU__DO(d, n->kernel->name, cuGraphAddDependencies_v2, r->graph, &before[k],
                     &r->node[i].handle, &edge, 1))
            return 0;
    }
    return 1;
}

// Adds node i; `before` has room for the handles of all nodes.
TCU__FN int tcu__node_add(tcu__device *d, tcu__recorded *r, const tcu__node *n, int i,
                          tcu__graph_node *before) {
    int early =
        n->shape.programmatic && !d->branches && d->driver.call.cuGraphAddDependencies_v2;
    tcu__launch_value cluster;
    tcu__arg_list list;
    if (!tcu__args_list(d, n->kernel, &n->args, &list)) return 0;
    tcu__node_params p = tcu__node_params_of(n, &list);
    int count = tcu__node_before(d, r, n, i, before);
    if (!TCU__DO(d, n->kernel->name, cuGraphAddKernelNode_v2, &r->node[i].handle, r->graph,
                 before, early ? 0 : (size_t)count, &p))
        return 0;
    if (early && !tcu__node_edges(d, r, n, i, before, count)) return 0;
    if (!n->shape.cluster[0]) return 1;
    memset(&cluster, 0, sizeof cluster);
    memcpy(cluster.cluster, n->shape.cluster, sizeof n->shape.cluster);
    return TCU__DO(d, n->kernel->name, cuGraphKernelNodeSetAttribute, r->node[i].handle,
                   TCU__LAUNCH_CLUSTER, &cluster);
}

// Whether nodes come after earlier ones only; else it is our bug.
TCU__FN int tcu__nodes_are_ordered(tcu__device *d, const tcu__node *node, int count) {
    for (int i = 0; i < count; i++) {
        int ok = node[i].n_after <= i;
        for (int k = 0; ok && k < node[i].n_after; k++)
            ok = node[i].after[k] >= 0 && node[i].after[k] < i;
        if (!ok)
            return tcu__fail(
                &d->trouble, TC_E_INTERNAL,
                "a graph: kernel %d, %s, does not come after earlier ones only", i,
                node[i].kernel->name);
    }
    return 1;
}

// Host memory of an entry, and where the arguments of each node lie in it.
TCU__FN int tcu__recorded_make(tcu__device *d, tcu__recorded *r, const tcu__node *node,
                               int count, int n_key) {
    size_t bytes = 0;
    for (int i = 0; i < count; i++) bytes += node[i].args.size;
    r->node = TCU__NEW_ARRAY(&d->host, tcu__node_state, count);
    r->bytes = TCU__NEW_ARRAY(&d->host, unsigned char, bytes);
    r->key = TCU__NEW_ARRAY(&d->host, uint64_t, n_key);
    r->count = count;
    r->n_bytes = bytes;
    r->n_key = n_key;
    if (!r->node || !r->bytes || !r->key) return tcu__no_memory(&d->trouble, "a graph");
    bytes = 0;
    for (int i = 0; i < count; i++) {
        r->node[i].at = bytes;
        r->node[i].size = node[i].args.size;
        bytes += node[i].args.size;
        tcu__node_remember(r, i, &node[i]);
    }
    return 1;
}

TCU__FN int tcu__recorded_fill(tcu__device *d, tcu__recorded *r, const tcu__node *node,
                               tcu__stream stream) {
    tcu__graph_node *before = TCU__NEW_ARRAY(&d->host, tcu__graph_node, r->count);
    int ok = before || tcu__no_memory(&d->trouble, "a graph");
    ok = ok && TCU__DO(d, "a graph", cuGraphCreate, &r->graph, 0);
    for (int i = 0; ok && i < r->count; i++) ok = tcu__node_add(d, r, &node[i], i, before);
    TCU__FREE(&d->host, before, r->count);
    return ok &&
           TCU__DO(d, "a graph", cuGraphInstantiateWithFlags, &r->exec, r->graph, 0) &&
           TCU__DO(d, "a graph", cuGraphUpload, r->exec, stream);
}

// An entry that was empty; stays so on failure.
TCU__FN int tcu__recorded_build(tcu__graphs *g, tcu__recorded *r, const tcu__node *node,
                                int count, const uint64_t *key, int n_key,
                                tcu__stream stream) {
    tcu__device *d = g->device;
    if (tcu__nodes_are_ordered(d, node, count) &&
        tcu__recorded_make(d, r, node, count, n_key) &&
        tcu__recorded_fill(d, r, node, stream)) {
        if (n_key) memcpy(r->key, key, (size_t)n_key * sizeof *key);
        g->built++;
        return 1;
    }
    tcu__recorded_drop(d, r);
    return 0;
}

// ---- changing one

typedef enum tcu__change { TCU__SAME, TCU__CHANGED, TCU__ANOTHER } tcu__change;

// What became of a node since it was made: other arguments or sizes can be set; what the
// driver cannot set, or sets wrong (clusters), takes another graph.
TCU__FN tcu__change tcu__node_change(const tcu__recorded *r, int i, const tcu__node *n) {
    const tcu__node_state *s = &r->node[i];
    if (s->size != n->args.size || s->shape.programmatic != n->shape.programmatic ||
        memcmp(s->shape.cluster, n->shape.cluster, sizeof s->shape.cluster))
        return TCU__ANOTHER;
    if (s->function != n->kernel->function || s->shape.shared != n->shape.shared ||
        memcmp(s->shape.grid, n->shape.grid, sizeof s->shape.grid) ||
        memcmp(s->shape.block, n->shape.block, sizeof s->shape.block))
        return TCU__CHANGED;
    return s->size && memcmp(r->bytes + s->at, n->args.at, s->size) ? TCU__CHANGED
                                                                    : TCU__SAME;
}

TCU__FN int tcu__node_set(tcu__device *d, tcu__recorded *r, int i, const tcu__node *n) {
    tcu__arg_list list;
    if (!tcu__args_list(d, n->kernel, &n->args, &list)) return 0;
    tcu__node_params p = tcu__node_params_of(n, &list);
    if (!TCU__DO(d, n->kernel->name, cuGraphExecKernelNodeSetParams_v2, r->exec,
                 r->node[i].handle, &p))
        return 0;
    tcu__node_remember(r, i, n);
    return 1;
}

// Makes an entry the launches in `node`, if setting nodes can do that. TCU__ANOTHER: build
// it anew, or *failed.
TCU__FN tcu__change tcu__recorded_change(tcu__graphs *g, tcu__recorded *r,
                                         const tcu__node *node, int count, int *failed) {
    tcu__device *d = g->device;
    tcu__change change = r->count == count ? TCU__SAME : TCU__ANOTHER;
    for (int i = 0; i < count && change != TCU__ANOTHER; i++) {
        tcu__change one = tcu__node_change(r, i, &node[i]);
        if (one == TCU__ANOTHER) return TCU__ANOTHER;
        if (one == TCU__SAME) continue;
        if (!tcu__node_set(d, r, i, &node[i])) {
            tcu__code code = d->trouble.code;
            *failed = d->trouble.dead ||
                      (code != TCU__E_GRAPH_UPDATE && code != TCU__E_UNSUPPORTED);
            if (!*failed) tcu__trouble_clear(&d->trouble);
            return TCU__ANOTHER;
        }
        g->changed++;
        change = TCU__CHANGED;
    }
    return change;
}

// ---- running

TCU__FN int tcu__recorded_has(const tcu__recorded *r, const uint64_t *key, int n_key) {
    return r->exec && r->n_key == n_key &&
           (!n_key || !memcmp(r->key, key, (size_t)n_key * sizeof *key));
}

// The entry for a key: its own, an empty one, or the one not used for longest.
TCU__FN tcu__recorded *tcu__graphs_entry(tcu__graphs *g, const uint64_t *key, int n_key) {
    tcu__recorded *oldest = &g->entry[0];
    for (int i = 0; i < TCU__GRAPHS; i++)
        if (tcu__recorded_has(&g->entry[i], key, n_key)) return &g->entry[i];
    for (int i = 0; i < TCU__GRAPHS; i++) {
        tcu__recorded *r = &g->entry[i];
        if (!r->exec) return r;
        if (r->used < oldest->used) oldest = r;
    }
    return oldest;
}

// The same without a graph: one after the other, in their order.
TCU__FN int tcu__nodes_run(tcu__device *d, const tcu__node *node, int count,
                           tcu__stream stream) {
    for (int i = 0; i < count; i++)
        if (!tcu__launch(d, node[i].kernel, &node[i].shape, &node[i].args, stream))
            return 0;
    return 1;
}

// The graph that ran last, once more. 1, or 0 = reported.
TCU__FN int tcu__graphs_again(tcu__graphs *g, tcu__stream stream) {
    g->last->used = ++g->clock;
    return TCU__DO(g->device, "a graph", cuGraphLaunch, g->last->exec, stream);
}

// Launches the kernels as a graph; `key` are the addresses of inputs and outputs, by which
// graphs are kept. The kernels and what they come after must be the same in every call, up
// to tcu__graphs_close; sizes and arguments may differ. 1, or 0 = reported, nothing ran.
TCU__FN int tcu__graphs_run(tcu__graphs *g, const tcu__node *node, int count,
                            const uint64_t *key, int n_key, tcu__stream stream) {
    tcu__device *d = g->device;
    int failed = 0;
    g->last = NULL;
    if (d->careful) return tcu__nodes_run(d, node, count, stream);
    if (!tcu__graph_fits(count))
        return tcu__fail(&d->trouble, TC_E_TOO_BIG, "a graph of %d kernels (1 to %d)",
                         count, TCU__GRAPH_NODES);
    tcu__recorded *r = tcu__graphs_entry(g, key, n_key);
    if (r->exec && (r->n_key != n_key ||
                    tcu__recorded_change(g, r, node, count, &failed) == TCU__ANOTHER))
        tcu__recorded_drop(d, r);
    if (failed) return 0;
    if (!r->exec && !tcu__recorded_build(g, r, node, count, key, n_key, stream)) return 0;
    if (n_key) memcpy(r->key, key, (size_t)n_key * sizeof *key);
    g->last = r;
    return tcu__graphs_again(g, stream);
}
