// CUDA dialect, lists of devices (device/lower.c): one walker over their statements.
//
//   for grid, block, lane   variables are parts of blockIdx and threadIdx
//   for unroll, vector      loops that the compiler unrolls
//   axis                    a variable
//   if, else                the same
//   barrier                 __syncthreads()
//
// Before a loop over a vector stand the loads of whole vectors and what is the same for all elements, behind
// it the stores of whole vectors.

static void tc__cuda_statements(tc__printer *p, uint32_t begin, uint32_t end);

// ---- loads and stores ----

static void tc__cuda_pack(tc__printer *p, const char *element) {
    tc__put(p->out, "tc_pack<%s, %d>", element, p->vector->width);
}

// `(const tc_pack<float, 4> *)&in0[c]`
static void tc__cuda_pack_at(tc__printer *p, const tc__node *n) {
    tc__put(p->out, n->op == TC_OP_LOAD ? "(const " : "(");
    tc__cuda_pack(p, tc__cuda_memory(p, n));
    tc__put(p->out, " *)&");
    tc__cuda_place_of(p, n->attr[TC__LOAD_BUFFER],
                      tc__cuda_first(p, n->attr[TC__LOAD_INDEX]), "", p->vector->width);
}

// `tc_words<tc_pack<tc_u16, 8>>`: what is asked for ahead.
static void tc__cuda_words(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "tc_words<");
    tc__cuda_pack(p, tc__cuda_memory(p, n));
    tc__put(p->out, ">");
}

// `const tc_pack<float, 4> v3 = tc_load((const tc_pack<float, 4> *)&in0[c]);`, or ahead
// `const tc_words<tc_pack<float, 4>> w3 = tc_load_words((const tc_pack<float, 4> *)&in0[c]);`
static void tc__cuda_load_name(tc__printer *p, const tc__node *n, int words) {
    tc__put(p->out, "const ");
    if (words)
        tc__cuda_words(p, n);
    else
        tc__cuda_pack(p, tc__cuda_memory(p, n));
    tc__put(p->out, " %c%u = ", words ? 'w' : 'v', n->id);
}

// The same, or `held0.set(8 * u, tc_load_words((const tc_pack<tc_u16, 8> *)&in0[c]));`: kept.c.
static void tc__cuda_load_whole(tc__printer *p, const tc__node *n) {
    int kept = tc__cuda_is_passed(p, n);
    int words = kept || p->vector->loaded == TC__LOADED_AHEAD;
    tc__line(p);
    if (kept)
        tc__cuda_set_kept(p, tc__cuda_passed(p, n));
    else
        tc__cuda_load_name(p, n, words);
    for (uint32_t i = TC__LOAD_PREDICATES; i + 1 < n->n_attr; i += 2) {
        const char *word = p->narrow ? "unsigned" : "tc_u64";
        tc__put(p->out, "%s(%s)(", i > TC__LOAD_PREDICATES ? " && " : "", word);
        tc__put_ix(p, tc__cuda_first(p, n->attr[i]));
        tc__put(p->out, ") < (%s)(", word);
        tc__put_ix(p, n->attr[i + 1]);
        tc__put(p->out, ")");
    }
    if (tc__cuda_guarded(n)) tc__put(p->out, " ? ");
    const char *load = words ? "tc_load_words(" : "tc_load(";
    tc__put(p->out, "%s", tc__cuda_is_near(p, n) ? "*(" : load);
    tc__cuda_pack_at(p, n);
    tc__put(p->out, ")");
    if (tc__cuda_guarded(n)) {
        tc__put(p->out, " : ");
        if (words) tc__cuda_words(p, n), tc__put(p->out, "(");
        tc__put(p->out, "tc_splat<%s, %d>(", tc__cuda_memory(p, n), p->vector->width);
        tc__cuda_fill(p, n);
        tc__put(p->out, words ? "))" : ")");
    }
    tc__put(p->out, kept ? ");\n" : ";\n");
}

static void tc__cuda_store_whole(tc__printer *p, const tc__node *n) {
    int dtype = tc__cuda_dtype(p, n), shared = tc__cuda_is_near(p, n);
    tc__line(p);
    tc__put(p->out, shared ? "*(" : "tc_store(");
    tc__cuda_pack_at(p, n);
    tc__put(p->out, shared ? ") = " : ", ");
    if (tc__is_rounded(dtype)) // all of them are rounded at once
        tc__put(p->out, "tc_%s_%s(o%u)", tc__is_half(dtype) ? "halves" : "bytes",
                tc__dtypes[dtype].name, n->id);
    else
        tc__put(p->out, "o%u", n->id);
    tc__put(p->out, shared ? ";\n" : ");\n");
}

static void tc__cuda_list_load(tc__printer *p, const tc__node *n, int copy) {
    (void)copy;
    if (tc__cuda_is_passed(p, n)) return; // before the vector
    tc__put_let(p, n, 0);
    tc__put(p->out, "%s", tc__cuda_wrap(p, n, 0));
    if (tc__cuda_is_whole(p, n))
        tc__put(p->out, "v%u.at[%s]", n->id, tc__axis_name(p->vector->axis));
    else
        tc__cuda_read(p, n);
    tc__put(p->out, "%s;\n", tc__cuda_wrapped(p, n, 0));
}

static void tc__cuda_list_store(tc__printer *p, const tc__node *n, int copy) {
    int whole = tc__cuda_is_whole(p, n);
    int bare = whole && tc__is_rounded(tc__cuda_dtype(p, n));
    (void)copy;
    if (tc__cuda_is_passed(p, n)) return;
    tc__line(p);
    if (whole)
        tc__put(p->out, "o%u.at[%s]", n->id, tc__axis_name(p->vector->axis));
    else
        tc__cuda_place_of(p, n->attr[TC__STORE_BUFFER], n->attr[TC__STORE_INDEX], "", 1);
    tc__put(p->out, " = %s", bare ? "" : tc__cuda_wrap(p, n, 1));
    tc__put_value(p, n->in[0], 0);
    tc__put(p->out, "%s;\n", bare ? "" : tc__cuda_wrapped(p, n, 1));
}

// Four numbers are drawn at once: where the vector has fours, each of its elements takes one of them.
static void tc__cuda_list_random(tc__printer *p, const tc__node *n, int copy) {
    const tc__node *at = tc__body(p, n->in[0]);
    int fours = p->vector && p->vector->width % 4 == 0 && at->op == TC_OP_INDEX &&
                at->id >= p->vector->begin &&
                tc__cuda_moves_by(p, at->attr[TC__INDEX_EXPR]) == TC__CONTIGUOUS &&
                tc__cuda_starts_at_multiple(p, at->attr[TC__INDEX_EXPR]);
    if (!fours) {
        tc__cuda_random(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(tc_drawn<%d>(",
            n->attr[TC__RANDOM_KIND] ? "normal" : "uniform", tc__suffix(n->dtype),
            tc__draw_words(n));
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, " - %s, %s, draw + %lld, seed));\n", tc__axis_name(p->vector->axis),
            tc__axis_name(p->vector->axis), (long long)n->attr[TC__RANDOM_DRAW]);
}

// ---- loops ----

static int tc__cuda_is_named(const tc__printer *p, tc__axis axis, uint32_t begin,
                             uint32_t end);

// Whether the text of statement n, in [.., end), names the variable of an axis.
static int tc__cuda_mentions(const tc__printer *p, const tc__node *n, tc__axis axis,
                             uint32_t end) {
    const tc__cuda_vector *v = p->vector;
    int inside = v && n->id >= v->begin && n->id < v->end;
    int first = inside && (v->way[n->id] == TC__WAY_STILL ||
                           (tc__device_is_memory(n) && tc__cuda_is_whole(p, n)));
    int names = 0;
    if (n->op == TC_OP_ACC && axis == TC__COL) // of a place
        names |= n->attr[TC__ACC_MONOID] == TC_OP_ARGMAX ||
                 n->attr[TC__ACC_MONOID] == TC_OP_ARGMIN;
    for (uint32_t i = 0; i < n->n_attr; i++)
        if (tc__attr_is_ix(n, i))
            names |= tc__ix_uses(p->g->body.ix,
                                 first ? tc__cuda_first(p, n->attr[i]) : n->attr[i], axis);
    return names &&
           (n->op != TC_OP_AXIS ||
            tc__cuda_is_named(p, (tc__axis)n->attr[TC__AXIS_AXIS], n->id + 1, end));
}

// Whether a statement in [begin, end) does.
static int tc__cuda_is_named(const tc__printer *p, tc__axis axis, uint32_t begin,
                             uint32_t end) {
    for (uint32_t id = begin; id < end; id++)
        if (tc__cuda_mentions(p, tc__body(p, id), axis, end)) return 1;
    return 0;
}

// `const int r = 32 * j + x;` where something behind it names it. Where columns are divided, a compiler that knows that it
// is not negative has shifts for it: two thirds of the instructions that lay out the windows of 3 channels.
static void tc__cuda_axis(tc__printer *p, const tc__node *n, uint32_t end) {
    const char *name = tc__axis_name(n->attr[TC__AXIS_AXIS]);
    tc__ix value = n->attr[TC__AXIS_VALUE];
    if (!tc__cuda_is_named(p, (tc__axis)n->attr[TC__AXIS_AXIS], n->id + 1, end)) return;
    tc__line(p);
    tc__put(p->out, "const %s %s = ", tc__cuda_index_type(p), name);
    tc__put_ix(p, value);
    tc__put(p->out, ";\n");
    if (p->vector || tc__ix_is_const(value) || tc__ix_lo(p->g->body.ix, value) < 0 ||
        !tc__cuda_divides_columns(p->g))
        return;
    tc__line(p);
    tc__put(p->out, "__builtin_assume(%s >= 0);\n", name);
}

// `r < 1000 && c - 1 >= 0 && c - 1 < 98`
static void tc__cuda_facts(tc__printer *p, const tc__node *n) {
    for (uint32_t i = TC__IF_PREDICATES; i < n->n_attr; i += 2) {
        if (i > TC__IF_PREDICATES) tc__put(p->out, " && ");
        if (tc__ix_lo(p->g->body.ix, n->attr[i]) < 0) {
            tc__put_fact(p, n->attr[i], n->attr[i + 1]);
            continue;
        }
        tc__put_ix(p, n->attr[i]);
        tc__put(p->out, " < ");
        tc__put_ix(p, n->attr[i + 1]);
    }
}

// `if (r < 1000) {`, or `{` where there is nothing to ask.
static void tc__cuda_if(tc__printer *p, const tc__node *n) {
    tc__line(p);
    if (!n->n_attr) {
        tc__put(p->out, "{\n");
        p->indent++;
        return;
    }
    tc__put(p->out, "if (");
    tc__cuda_facts(p, n);
    tc__put(p->out, ")");
    tc__block_open(p);
}

static void tc__cuda_leave(tc__printer *p, const tc__node *n) {
    int one =
        n->n_attr == 2 && tc__ix_lo(p->g->body.ix, n->attr[TC__LEAVE_PREDICATES]) >= 0;
    tc__line(p);
    tc__put(p->out, one ? "if (" : "if (!(");
    if (one) {
        tc__put_ix(p, n->attr[TC__LEAVE_PREDICATES]);
        tc__put(p->out, " >= ");
        tc__put_ix(p, n->attr[TC__LEAVE_PREDICATES + 1]);
    } else {
        tc__cuda_facts(p, n);
    }
    tc__put(p->out, one ? ") return;\n" : ")) return;\n");
}

// So much of a cache is worth more to others, if it has as much.
enum { TC__STREAM_BYTES = 64 << 20 };

// Whether n copies of a tensor of which one number is made, and which no cache holds.
static int tc__cuda_reads_once(const tc__printer *p, const tc__node *n) {
    const tc__kbuf *from = &p->g->buffer.at[n->attr[TC__COPY_FROM]];
    return p->g->shape.kind == TC__REDUCTION && tc__ix_equals(p->g->shape.rows, 1) &&
           tc__is_memory(from) && tc__ix_is_const(from->numel) &&
           tc__ix_value(from->numel) * (int64_t)tc__dtypes[from->dtype].bytes >=
               TC__STREAM_BYTES;
}

// Into registers at once, from memory or what was copied before; into shared memory by the engine for that:
// `tc_copy_async((tc_pack<float, 4> *)&shared0[c], (const tc_pack<float, 4> *)&in0[c]);`
static void tc__cuda_list_copy(tc__printer *p, const tc__node *n) {
    int64_t b = n->attr[TC__COPY_BUFFER];
    const tc__kbuf *to = &p->g->buffer.at[b];
    const char *type = tc__dtypes[to->dtype].memory;
    int width = (int)n->attr[TC__COPY_ELEMENTS], shared = to->place == TC__BUF_SHARED;
    int copied = p->g->buffer.at[n->attr[TC__COPY_FROM]].place == TC__BUF_SHARED;
    int guarded = n->n_attr > TC__COPY_PREDICATES; // zeros elsewhere
    int kept = tc__cuda_is_kept(p, b);
    const char *once = tc__cuda_reads_once(p, n) ? "_once" : "";
    tc__line(p);
    if (kept) {
        tc__cuda_set_kept_at(p, b, n->attr[TC__COPY_INDEX]);
    } else {
        tc__put(p->out, "%s(tc_pack<%s, %d> *)&", shared ? "tc_copy_async(" : "*", type,
                width);
        tc__cuda_place_of(p, b, n->attr[TC__COPY_INDEX], "", 1);
        tc__put(p->out, shared ? ", " : " = ");
    }
    if (guarded) tc__cuda_pred(p, n, TC__COPY_PREDICATES);
    if (guarded) tc__put(p->out, " ? ");
    if (kept)
        tc__put(p->out, "tc_load_words%s(", once);
    else if (!shared)
        tc__put(p->out, copied ? "*" : "tc_load%s(", once);
    tc__put(p->out, "(const tc_pack<%s, %d> *)&", type, width);
    tc__cuda_place_of(p, n->attr[TC__COPY_FROM], n->attr[TC__COPY_SOURCE], "", width);
    if (!copied) tc__put(p->out, ")");
    if (guarded && kept)
        tc__put(p->out, " : tc_words<tc_pack<%s, %d>>(tc_pack<%s, %d>{})", type, width,
                type, width);
    else if (guarded)
        tc__put(p->out, " : tc_pack<%s, %d>{}", type, width);
    tc__put(p->out, kept ? ");\n" : ";\n");
}

// A node that is the same for all elements, as it is at the first.
static void tc__cuda_print_still_node(tc__printer *p, const tc__node *n, uint32_t end) {
    int64_t words[TC__NODE_WORDS];
    tc__node m = *n;
    for (uint32_t i = 0; i < n->n_attr; i++)
        words[i] = tc__attr_is_ix(n, i) ? tc__cuda_first(p, n->attr[i]) : n->attr[i];
    m.attr = words;
    if (n->op == TC_OP_AXIS)
        tc__cuda_axis(p, &m, end);
    else
        tc__print_node(p, &m);
}

// Whether n stands before the vector and can be had without what a hole is given.
static int tc__cuda_is_ahead(const tc__printer *p, const tc__node *n) {
    int still = p->vector->way[n->id] == TC__WAY_STILL;
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG || n->id < p->vector->begin) return 1;
    if (n->op == TC_OP_LOAD) {
        if (p->g->buffer.at[n->attr[TC__LOAD_BUFFER]].place == TC__BUF_GIVEN) return 0;
        return (still || tc__cuda_is_whole(p, n)) &&
               !tc__ix_has_val(p->g->body.ix, n->attr[TC__LOAD_INDEX]);
    }
    if (!still || (!tc__is_alu(n) && n->op != TC_OP_CAST)) return 0;
    for (uint32_t i = 0; i < n->n_in; i++)
        if (!tc__cuda_is_ahead(p, tc__body(p, n->in[i]))) return 0;
    return 1;
}

// What is the same for all elements, and the loads of whole vectors.
static void tc__cuda_still_and_whole(tc__printer *p, const tc__cuda_vector *v) {
    for (uint32_t id = v->begin; id < v->end; id++) {
        const tc__node *n = tc__body(p, id);
        int still = v->way[id] == TC__WAY_STILL;
        if (n->op != TC_OP_AXIS && v->loaded &&
            tc__cuda_is_ahead(p, n) != (v->loaded == TC__LOADED_AHEAD))
            continue;
        if (still)
            tc__cuda_print_still_node(p, n, v->end);
        else if (n->op == TC_OP_LOAD && tc__cuda_is_whole(p, n))
            tc__cuda_load_whole(p, n);
    }
}

// The same, and names of vectors that are stored.
static void tc__cuda_before_vector(tc__printer *p, const tc__cuda_vector *v) {
    tc__cuda_still_and_whole(p, v);
    for (uint32_t id = v->begin; id < v->end; id++) {
        const tc__node *n = tc__body(p, id);
        if (n->op != TC_OP_STORE || !tc__cuda_is_whole(p, n)) continue;
        tc__line(p);
        tc__cuda_pack(p, tc__is_rounded(tc__cuda_dtype(p, n)) ? "float"
                                                              : tc__cuda_memory(p, n));
        tc__put(p->out, " o%u;\n", id);
    }
}

// Whether the loop has something to do for each element.
static int tc__cuda_any_inside(const tc__printer *p, const tc__cuda_vector *v) {
    for (uint32_t id = v->begin; id < v->end; id++)
        if (v->way[id] != TC__WAY_STILL && tc__body(p, id)->op != TC_OP_AXIS &&
            !tc__cuda_is_passed(p, tc__body(p, id)))
            return 1;
    return 0;
}

// The loop over the elements of a vector.
static void tc__cuda_vector_loop(tc__printer *p, const tc__node *loop, uint32_t end,
                                 tc__cuda_loaded loaded) {
    tc__cuda_vector v;
    if (!tc__cuda_vector_open(p, &v, loop, end)) return;
    v.loaded = loaded;
    tc__cuda_before_vector(p, &v);
    if (tc__cuda_any_inside(p, &v)) {
        tc__cuda_unroll(p, tc__axis_name(v.axis), v.width);
        v.inside = 1;
        tc__cuda_statements(p, v.begin, v.end);
        v.inside = 0;
        tc__block_close(p);
    }
    for (uint32_t id = v.begin; id < v.end; id++)
        if (tc__body(p, id)->op == TC_OP_STORE && tc__cuda_is_whole(p, tc__body(p, id)))
            tc__cuda_store_whole(p, tc__body(p, id));
    tc__cuda_vector_close(p, &v);
}

// `for (int t = 0; t < 12; t++) {`
static void tc__cuda_serial(tc__printer *p, const tc__node *n) {
    const char *variable = tc__axis_name(n->attr[TC__FOR_AXIS]);
    tc__line(p);
    tc__put(p->out, "for (%s %s = 0; %s < ", tc__cuda_index_type(p), variable, variable);
    tc__put_ix(p, n->attr[TC__FOR_END]);
    tc__put(p->out, "; %s++)", variable);
    tc__block_open(p);
}

// `for (int j = met.turn; j < 128; j += met.blocks, __syncthreads()) {` behind their meeting
static void tc__cuda_taken(tc__printer *p, const tc__node *n) {
    const char *variable = tc__axis_name(n->attr[TC__FOR_AXIS]);
    tc__line(p);
    tc__put(p->out, "for (int %s = met.turn; %s < ", variable, variable);
    tc__put_ix(p, n->attr[TC__FOR_END]);
    tc__put(p->out, "; %s += met.blocks, __syncthreads())", variable);
    tc__block_open(p);
}

// `tc_parts(ticket0, met);`
static void tc__cuda_parts(tc__printer *p, const tc__node *n) {
    while (n->op != TC_OP_MEET) n = tc__body(p, n->id - 1);
    tc__line(p);
    tc__put(p->out, "tc_parts(");
    tc__put_buffer(p, n->attr[TC__MEET_BUFFER]);
    tc__put(p->out, ", met);\n");
}

// The loop at `id`, all of what is in it.
static void tc__cuda_list_loop(tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id);
    uint32_t end = tc__loop_end(p->g, id);
    if (n->attr[TC__FOR_BIND] == TC__BIND_VECTOR) {
        tc__cuda_vector_loop(p, n, end, TC__LOADED_HERE);
        return;
    }
    if (n->attr[TC__FOR_BIND] == TC__BIND_TAKEN)
        tc__cuda_taken(p, n);
    else if (n->attr[TC__FOR_BIND] == TC__BIND_SERIAL)
        tc__cuda_serial(p, n);
    else
        tc__cuda_unroll(p, tc__axis_name(n->attr[TC__FOR_AXIS]),
                        (int)tc__ix_value(n->attr[TC__FOR_END]));
    tc__cuda_statements(p, id + 1, end);
    tc__block_close(p);
    if (n->attr[TC__FOR_BIND] == TC__BIND_TAKEN) tc__cuda_parts(p, n);
}

// ---- templates ----

// The loop over a vector that hole `id` is; NULL = it is another.
static const tc__node *tc__cuda_hole_vector(const tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id + 1);
    int vector = n->op == TC_OP_FOR && n->attr[TC__FOR_BIND] == TC__BIND_VECTOR;
    return vector && tc__loop_end(p->g, id + 1) + 1 == tc__loop_end(p->g, id) ? n : NULL;
}

// Whether what is not had ahead names it.
static int tc__cuda_is_named_ahead(const tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id);
    if (n->op == TC_OP_CONST || n->op == TC_OP_ARG || !tc__cuda_is_ahead(p, n)) return 0;
    if (p->vector->way[id] != TC__WAY_STILL) return 1;
    for (uint32_t user = id + 1; user < p->vector->end; user++) {
        const tc__node *u = tc__body(p, user);
        for (uint32_t i = 0; i < u->n_in; i++)
            if (u->in[i] == id && !tc__cuda_is_ahead(p, u)) return 1;
    }
    return 0;
}

static int tc__cuda_any_ahead(const tc__printer *p) {
    for (uint32_t id = p->vector->begin; id < p->vector->end; id++)
        if (tc__cuda_is_named_ahead(p, id)) return 1;
    return 0;
}

// `w14, t15`, the names of what is had ahead; with their types `tc_words<tc_pack<tc_u16, 8>> w14; float t15; `.
static void tc__cuda_ahead_names(tc__printer *p, int types) {
    const char *between = "";
    for (uint32_t id = p->vector->begin; id < p->vector->end; id++) {
        const tc__node *n = tc__body(p, id);
        int still = p->vector->way[id] == TC__WAY_STILL;
        if (!tc__cuda_is_named_ahead(p, id)) continue;
        tc__put(p->out, "%s", between);
        if (types && still) tc__put(p->out, "%s ", p->d->reg[tc__class_of(n->dtype)]);
        if (types && !still) tc__cuda_words(p, n), tc__put(p->out, " ");
        tc__put(p->out, "%c%u%s", still ? 't' : 'w', id, types ? "; " : "");
        between = types ? "" : ", ";
    }
}

// `const tc_pack<tc_u16, 8> &v14 = w14.v;`
static void tc__cuda_name_loaded(tc__printer *p) {
    for (uint32_t id = p->vector->begin; id < p->vector->end; id++) {
        if (!tc__cuda_is_named_ahead(p, id) || p->vector->way[id] == TC__WAY_STILL)
            continue;
        tc__line(p);
        tc__put(p->out, "const ");
        tc__cuda_pack(p, tc__cuda_memory(p, tc__body(p, id)));
        tc__put(p->out, " &v%u = w%u.v;\n", id, id);
    }
}

// `auto ahead = [&](int r, int p) { ... return loaded{w14, t15}; };`: what the result's hole needs beside sums.
static void tc__cuda_print_ahead(tc__printer *p, uint32_t id) {
    const tc__node *loop = tc__cuda_hole_vector(p, id), *n = tc__body(p, id);
    tc__cuda_vector v;
    if (loop && !tc__cuda_vector_open(p, &v, loop, tc__loop_end(p->g, id + 1))) return;
    tc__line(p);
    tc__put(p->out, "auto %s = [&](", tc__cuda_before(n));
    tc__cuda_hole_place(p, n->attr[TC__HOLE_ROW], 1);
    tc__cuda_hole_place(p, n->attr[TC__HOLE_LINE], 0);
    tc__put(p->out, ")");
    tc__block_open(p);
    if (loop && tc__cuda_any_ahead(p)) {
        v.loaded = TC__LOADED_AHEAD, tc__cuda_still_and_whole(p, &v);
        tc__line(p);
        tc__put(p->out, "struct loaded { ");
        tc__cuda_ahead_names(p, 1);
        tc__put(p->out, "};\n");
        tc__line(p);
        tc__put(p->out, "return loaded{");
        tc__cuda_ahead_names(p, 0);
        tc__put(p->out, "};\n");
    } else {
        tc__line(p);
        tc__put(p->out, "return tc_nothing{};\n");
    }
    tc__cuda_hole_end(p);
    if (loop) tc__cuda_vector_close(p, &v);
}

// The hole of a mapped template's result, which gets what was loaded.
static void tc__cuda_print_loaded(tc__printer *p, uint32_t id) {
    const tc__node *loop = tc__cuda_hole_vector(p, id);
    uint32_t end = tc__loop_end(p->g, id + 1);
    tc__cuda_vector v;
    tc__cuda_hole_head(p, tc__body(p, id), 1);
    if (loop && tc__cuda_vector_open(p, &v, loop, end)) {
        if (tc__cuda_any_ahead(p)) {
            tc__line(p);
            tc__put(p->out, "const auto &[");
            tc__cuda_ahead_names(p, 0);
            tc__put(p->out, "] = loaded;\n");
            tc__cuda_name_loaded(p);
        }
        tc__cuda_vector_close(p, &v);
        tc__cuda_vector_loop(p, loop, end, TC__LOADED_BEFORE);
    } else {
        tc__cuda_statements(p, id + 1, tc__loop_end(p->g, id));
    }
    tc__cuda_hole_end(p);
}

static void tc__cuda_print_hole(tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id);
    tc__cuda_hole_head(p, n, 0);
    if (tc__cuda_gives_address(n))
        tc__cuda_hole_address(p, tc__body(p, id + 1));
    else
        tc__cuda_statements(p, id + 1, tc__loop_end(p->g, id));
    tc__cuda_hole_end(p);
}

// The template at `id`, with all its holes.
static void tc__cuda_template(tc__printer *p, uint32_t id) {
    const tc__node *n = tc__body(p, id);
    uint32_t end = tc__loop_end(p->g, id);
    int mapped = tc__template_is_mapped(n);
    tc__cuda_product_struct(p, n, end);
    for (uint32_t hole = id + 1; hole < end; hole = tc__loop_end(p->g, hole) + 1) {
        int way = tc__body(p, hole)->attr[TC__HOLE_BRING] != TC__BRING_VALUES;
        int chain = n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN;
        int map = mapped && tc__hole_is_mapped(n, tc__body(p, hole));
        if (map) tc__cuda_map_struct(p, n, tc__body(p, hole));
        if (map || (mapped && way && chain)) continue; // of a chain the others are as those
        if (way && n->attr[TC__TEMPLATE_NAME] != TC__TEMPLATE_DECODE)
            tc__cuda_way_struct(p, tc__body(p, hole));
        int64_t which = tc__body(p, hole)->attr[TC__HOLE_HOLE];
        if (mapped && !chain && (which == TC__HOLE_RESULT || which == TC__HOLE_ROUNDED))
            tc__cuda_print_ahead(p, hole), tc__cuda_print_loaded(p, hole);
        else
            tc__cuda_print_hole(p, hole);
    }
    if (mapped && n->attr[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN)
        tc__cuda_mapped_chain_call(p, n, end);
    else if (mapped)
        tc__cuda_mapped_call(p, n, end);
    else
        tc__cuda_template_call(p, n, end);
}

// ---- statements ----

static void tc__cuda_statements(tc__printer *p, uint32_t begin, uint32_t end) {
    for (uint32_t id = begin; id < end; id++) {
        const tc__node *n = tc__body(p, id);
        int done = p->vector && p->vector->inside && p->vector->way[id] == TC__WAY_STILL;
        uint32_t last = tc__opens(n) ? tc__loop_end(p->g, id) : id;
        if (n->op == TC_OP_FOR)
            tc__cuda_list_loop(p, id);
        else if (n->op == TC_OP_TEMPLATE)
            tc__cuda_template(p, id);
        else if (n->op == TC_OP_AXIS && !done)
            tc__cuda_axis(p, n, end);
        else if (n->op == TC_OP_BARRIER)
            tc__line(p),
                tc__put(p->out, "%s();\n", n->n_attr ? "__syncwarp" : "__syncthreads");
        else if (n->op == TC_OP_WAIT)
            tc__line(p), tc__put(p->out, "tc_copy_wait_all();\n");
        else if (n->op == TC_OP_COPY)
            tc__cuda_list_copy(p, n);
        else if (n->op == TC_OP_LEAVE)
            tc__cuda_leave(p, n);
        else if (n->op == TC_OP_IF) {
            tc__cuda_if(p, n);
            tc__cuda_statements(p, id + 1, last);
            tc__block_close(p);
        } else if (n->op == TC_OP_ELSE) {
            p->indent--;
            tc__line(p);
            tc__put(p->out, "} else {\n");
            p->indent++;
        } else if (n->op != TC_OP_AXIS && !done)
            tc__print_node(p, n);
        id = last;
    }
}
