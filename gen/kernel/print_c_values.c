// C dialect: values that are neither arithmetic nor memory: indices, checks, predicates, random numbers, exp and log in
// their ranges, sine with cosine, products.

// ---- other values ----

static void tc__c_index(tc__printer *p, const tc__node *n, int copy) {
    tc__ix e = n->attr[TC__INDEX_EXPR], stride;
    int steps =
        tc__lanes_differ(n, p->axis) && tc__ix_steps(p->g, e, p->axis, p->unit, &stride);
    if (tc__is_drawn_run(p->g, n, p->axis, p->unit)) return; // by tc__c_random
    if (!tc__lanes_differ(n, p->axis) || (steps && tc__ix_is_const(stride))) {
        int64_t s = steps ? tc__ix_value(stride) : 0;
        tc__put_let(p, n, copy);
        tc__put(p->out, s == 1 ? "tc_iota_i64(" : "tc_splat_i64(");
        tc__put_ix(p, e);
        tc__put(p->out, ")");
        if (s && s != 1) tc__put(p->out, " + tc_iota_i64(0) * %lld", (long long)s);
        tc__put(p->out, ";\n");
        return;
    }
    tc__line(p);
    tc__put(p->out, "tc_i64 x%u_%d[%d];\n", n->id, copy, p->unit);
    tc__line(p);
    p->lane = 1;
    tc__put(p->out, "for (int l = 0; l < %d; l++) x%u_%d[l] = ", p->unit, n->id, copy);
    tc__put_ix(p, e);
    p->lane = 0;
    tc__put(p->out, ";\n");
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_ld_i64(x%u_%d);\n", n->id, copy);
}

static void tc__c_check(tc__printer *p, const tc__node *n, int copy) {
    int one = !tc__lanes_differ(n, p->axis);
    tc__put_let(p, n, copy);
    tc__put(p->out, one ? "tc_check_one(a, " : "tc_check(a, ");
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ", ");
    tc__put_ix(p, n->attr[TC__CHECK_LIMIT]);
    tc__put(p->out, ", %lld", (long long)n->attr[TC__CHECK_SITE]);
    if (!one && p->tail) tc__put(p->out, ", n");
    if (!one && !p->tail) tc__put(p->out, ", %d", p->unit);
    tc__put(p->out, ");\n");
}

static void tc__c_valid(tc__printer *p, const tc__node *n, int copy) {
    if (tc__pred_along(p->g, n, p->axis, p->unit) != 2) {
        tc__put_let(p, n, copy);
        tc__put(p->out, "tc_splat_i32(-(");
        if (n->n_attr)
            tc__c_pred(p, n);
        else
            tc__put(p->out, "1");
        tc__put(p->out, "));\n");
        return;
    }
    if (tc__c_pred_is_mask(p, n)) {
        tc__put_let(p, n, copy);
        tc__c_mask(p, n, 1);
        tc__put(p->out, ";\n");
        return;
    }
    if (tc__c_pred_alternates(p, n)) {
        tc__put_let(p, n, copy);
        tc__put(p->out, "tc_turns_i32(-(");
        tc__c_pred(p, n);
        tc__put(p->out, "), -(");
        p->shift++;
        tc__c_pred(p, n);
        p->shift--;
        tc__put(p->out, "));\n");
        return;
    }
    tc__line(p);
    tc__put(p->out, "tc_i32 x%u_%d[%d];\n", n->id, copy, p->unit);
    tc__line(p);
    p->lane = 1;
    tc__put(p->out, "for (int l = 0; l < %d; l++) x%u_%d[l] = -(", p->unit, n->id, copy);
    tc__c_pred(p, n);
    p->lane = 0;
    tc__put(p->out, ");\n");
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_ld_i32(x%u_%d);\n", n->id, copy);
}

// How many vectors of one draw stand in the loop that is printed: those of 32 elements share their random words.
static int tc__c_drawn_together(const tc__printer *p, const tc__node *n) {
    int vectors = 32 / p->unit;
    int together = vectors <= 4 && !p->tail && p->copies % vectors == 0 &&
                   tc__draw_words(n) == 1 &&
                   tc__is_drawn_run(p->g, tc__body(p, n->in[0]), p->axis, 32);
    return together ? vectors : 1;
}

// `tc_philox_run(c + 16, 1, draw + 2, seed, w8_1);`: the words of copy `copy`, or of all that share.
static void tc__c_random_words(tc__printer *p, const tc__node *n, int copy, int together) {
    const tc__node *at = tc__body(p, n->in[0]);
    int run = tc__is_drawn_run(p->g, at, p->axis, p->unit);
    tc__line(p);
    tc__put(p->out, "tc_vu w%u_%d[4];\n", n->id, copy);
    tc__line(p);
    tc__put(p->out, together > 1 ? "tc_draw_32(" : run ? "tc_philox_run(" : "tc_philox(");
    if (run)
        tc__put_ix(p, at->attr[TC__INDEX_EXPR]);
    else
        tc__put_value(p, n->in[0], copy);
    if (together == 1) tc__put(p->out, ", %d", tc__draw_words(n));
    tc__put(p->out, ", draw + %lld, seed, w%u_%d);\n", (long long)n->attr[TC__RANDOM_DRAW],
            n->id, copy);
}

static void tc__c_random(tc__printer *p, const tc__node *n, int copy) {
    int words = tc__draw_words(n), together = tc__c_drawn_together(p, n);
    int part = copy % together, first = copy - part;
    if (!part) tc__c_random_words(p, n, copy, together);
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(w%u_%d[%d]", n->attr[TC__RANDOM_KIND] ? "normal" : "uniform",
            tc__suffix(n->dtype), n->id, first, part);
    for (int w = 1; w < words; w++) tc__put(p->out, ", w%u_%d[%d]", n->id, first, w);
    tc__put(p->out, ");\n");
}

// exp and log in the form that the range of the operand allows.
static void tc__c_ranged(tc__printer *p, const tc__node *n, int copy) {
    const char *form = tc__ranged_form(p->g, n);
    if (!form) {
        tc__print_alu(p, n, copy);
        return;
    }
    if (tc__is_called(p, n)) {
        tc__print_called(p, n, copy, form);
        return;
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_%s_%s(", form, tc__suffix(n->dtype));
    tc__put_value(p, n->in[0], copy);
    tc__put(p->out, ");\n");
}

// The first of the nodes sin(x) and cos(x) that stand in one loop with n, when both do.
static const tc__node *tc__c_turn(const tc__printer *p, const tc__node *n) {
    const tc__node *first = NULL, *other = NULL;
    for (size_t i = 0; i < p->g->body.node.count; i++) {
        const tc__node *o = p->g->body.node.at[i];
        if ((o->op != TC_OP_SIN && o->op != TC_OP_COS) || o->in[0] != n->in[0]) continue;
        if (o->level != n->level || o->phase != n->phase) continue;
        if (p->need && !p->need[o->id]) continue;
        if (o->op != n->op) other = o;
        if (!first) first = o;
    }
    return other && n->dtype == TC_F32 ? first : NULL;
}

// sin(x) and cos(x) share the reduction of x to an eighth of a turn.
static void tc__c_trig(tc__printer *p, const tc__node *n, int copy) {
    const tc__node *first = tc__c_turn(p, n);
    if (!first) {
        tc__print_alu(p, n, copy);
        return;
    }
    if (n == first) {
        tc__line(p);
        tc__put(p->out, "tc_vf turn%u_%d;\n", n->id, copy);
        tc__line(p);
        tc__put(p->out, "const tc_vi quarter%u_%d = tc_trig_reduce_f32(", n->id, copy);
        tc__put_value(p, n->in[0], copy);
        tc__put(p->out, ", &turn%u_%d);\n", n->id, copy);
    }
    tc__put_let(p, n, copy);
    tc__put(p->out, n->op == TC_OP_SIN ? "tc_sin_of_f32(" : "tc_cos_of_f32(");
    if (n->op == TC_OP_SIN) tc__put_value(p, n->in[0], copy);
    tc__put(p->out, "%squarter%u_%d, turn%u_%d);\n", n->op == TC_OP_SIN ? ", " : "",
            first->id, copy, first->id, copy);
}

// The product's value at (r, c): finished rows lie in the tile.
static void tc__c_contract(tc__printer *p, const tc__node *n, int copy) {
    tc__put_let(p, n, copy);
    tc__put(p->out, "tc_ld_%s(prod_r + c", tc__suffix(n->dtype)); // rows are padded
    if (p->shift) tc__put(p->out, " + %d", p->shift);
    tc__put(p->out, ");\n");
}
