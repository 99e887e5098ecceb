// C dialect, memory: loads and stores. Vectors are whole, or the first n lanes
// count; lanes that a predicate excludes are a mask where it is a range, else they are asked one by one.
//
// A step along a row is a vector load, or scalars put together in registers: every second
// f32 two loads and a shuffle (tc_ld2_f32; the second load ends with the last element, so
// nothing behind is read), a row from behind one load and a shuffle (tc_rev_f32), other
// steps tc_ldx_f32. Of two rows in turn half a vector of each (tc_zip_f32), of three a third. Elements that are written one by one to a buffer and read as a vector
// stall until they are in the cache: rows from behind take 0.12 of that time, every third
// element 0.27. Indices that do not step (r / 12) are a list of lanes, so the compiler
// takes them out of the loop over columns: 20,000 distances to 12 centres take 0.42 of it.
// Ends of rows, loaded indices and what is beyond TC__C_LANES_MOST go by such a buffer
// still.

// ---- loads and stores ----

// `tc_ld_f32(in0_r + c)`, in a tail `tc_ldn_f32(in0_r + c, n)`
static void tc__c_vector_load(tc__printer *p, const tc__node *n) {
    int whole = !p->tail || tc__is_lane_row(p->g, n, p->axis);
    tc__put(p->out, "tc_ld%s_%s(", whole ? "" : "n", tc__c_dtype(p, n));
    tc__c_address(p, n, 0);
    tc__put(p->out, whole ? ")" : ", n)");
}

static void tc__c_uniform_load(tc__printer *p, const tc__node *n) {
    int dtype = tc__buffer_of(p->g, n)->dtype;
    if (tc__is_rounded(dtype)) {
        tc__put(p->out, "tc_of_%s(tc_splat_i32(", tc__dtypes[dtype].name);
        tc__c_address(p, n, 1);
        tc__put(p->out, "))");
        return;
    }
    tc__put(p->out, "tc_splat_%s(", tc__suffix(dtype));
    if (dtype == TC_BOOL) tc__put(p->out, "-(");
    tc__c_address(p, n, 1);
    tc__put(p->out, dtype == TC_BOOL ? " != 0))" : ")");
}

static tc__value tc__c_fill(const tc__node *n) {
    tc__value v;
    memcpy(&v, &n->attr[TC__LOAD_FILL], sizeof v);
    return v;
}

// A number as memory of dtype holds it.
static void tc__c_memory_number(tc__printer *p, int dtype, tc__value v) {
    if (tc__is_rounded(dtype)) {
        uint16_t bits = 0;
        uint8_t byte = 0;
        int one = tc__dtypes[dtype].bytes == 1;
        tc__value_store(one ? (void *)&byte : (void *)&bits, 0, dtype, v);
        tc__put(p->out, one ? "0x%02x" : "0x%04x", one ? (unsigned)byte : (unsigned)bits);
        return;
    }
    tc__c_number(p, dtype, v);
}

// `for (int l = 0; l < 8; l++) `
static void tc__c_lane_loop(tc__printer *p) {
    tc__put(p->out, "for (int l = 0; l < ");
    if (p->tail)
        tc__put(p->out, "n; l++) ");
    else
        tc__put(p->out, "%d; l++) ", p->unit);
}

// `float x5[8]; for (...) x5[l] = ...;`
static void tc__c_gather(tc__printer *p, const tc__node *n, int copy, int pred) {
    const char *memory = tc__c_memory(p, n);
    tc__value fill = tc__c_fill(n);
    tc__line(p);
    tc__put(p->out, "%s x%u_%d[%d]%s;\n", memory, n->id, copy, p->unit,
            p->tail && !pred ? " = {0}" : "");
    if (pred) {
        tc__line(p);
        tc__put(p->out, "for (int l = 0; l < %d; l++) x%u_%d[l] = ", p->unit, n->id, copy);
        tc__c_memory_number(p, n->dtype, fill);
        tc__put(p->out, ";\n");
    }
    tc__line(p);
    tc__c_lane_loop(p);
    p->lane = 1;
    if (pred) {
        tc__put(p->out, "if (");
        tc__c_pred(p, n);
        tc__put(p->out, ") ");
    }
    tc__put(p->out, "x%u_%d[l] = ", n->id, copy);
    tc__c_address(p, n, 1);
    p->lane = 0;
    tc__put(p->out, ";\n");
}

static void tc__c_gathered(tc__printer *p, const tc__node *n, int copy) {
    tc__put(p->out, "tc_ld_%s(x%u_%d);\n", tc__c_dtype(p, n), n->id, copy);
}

static tc__access tc__c_access(const tc__printer *p, const tc__node *n) {
    if (tc__is_lane_row(p->g, n, p->axis)) return TC__CONTIGUOUS;
    return tc__access_along(p->g, n->attr[TC__ACCESS_INDEX], p->axis, p->unit);
}

// Whether a load moves back by one from lane to lane, as what a border reflects does.
static int tc__c_moves_back(const tc__printer *p, const tc__node *n) {
    return tc__c_access(p, n) == TC__PER_LANE &&
           tc__c_moves_by(p, n->attr[TC__ACCESS_INDEX], -1);
}

// Whether a load that differs between lanes is one of a mask: of the dtypes that have it.
static int tc__c_has_mask(const tc__printer *p, const tc__node *n) {
    int dtype = tc__buffer_of(p->g, n)->dtype;
    return tc__is_own_class(dtype) && dtype != TC_BOOL && tc__c_pred_is_mask(p, n) &&
           (tc__c_access(p, n) == TC__CONTIGUOUS || tc__c_moves_back(p, n));
}

// `tc_ldm_f32(in0_r + c - 1, m5_0)`, or `tc_rev_f32(tc_ldm_f32(in0_r - c - 15, tc_rev_i32(m5_0)))`
static void tc__c_lanes_of_mask(tc__printer *p, const tc__node *n, int copy) {
    int back = tc__c_moves_back(p, n), last = back ? p->unit - 1 : 0;
    if (back) tc__put(p->out, "tc_rev_%s(", tc__suffix(n->dtype));
    tc__put(p->out, "tc_ldm_%s(", tc__c_dtype(p, n));
    p->shift += last;
    tc__c_address(p, n, 0);
    p->shift -= last;
    tc__put(p->out, back ? ", tc_rev_i32(m%u_%d)))" : ", m%u_%d)", n->id, copy);
}

// `tc_ldm_f32(in0_r + c - 1, m5_0)`, and the fill in the other lanes.
static void tc__c_masked_load(tc__printer *p, const tc__node *n, int copy) {
    tc__value fill = tc__c_fill(n);
    const char *cls = tc__suffix(n->dtype);
    int zero = !fill.i; // as bits: not -0
    if (!zero) tc__put(p->out, "TC_SEL_%s(TC_M_%s(m%u_%d), ", cls, cls, n->id, copy);
    tc__c_lanes_of_mask(p, n, copy);
    if (zero) return;
    tc__put(p->out, ", ");
    tc__c_constant(p, n->dtype, fill);
    tc__put(p->out, ")");
}

static void tc__c_let_mask(tc__printer *p, const tc__node *n, int copy) {
    tc__line(p);
    tc__put(p->out, "const tc_vi m%u_%d = ", n->id, copy);
    tc__c_mask(p, n, 0);
    tc__put(p->out, ";\n");
}

// `tc_vf t5 = fill;` and `if (` of what is asked behind it.
static void tc__c_filled_unless(tc__printer *p, const tc__node *n, int copy) {
    tc__line(p);
    tc__put(p->out, "%s ", p->d->reg[tc__class_of(n->dtype)]);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    tc__c_constant(p, n->dtype, tc__c_fill(n));
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(p->out, "if (");
}

// `const tc_vf t5 = tc_ldm_f32(in0_r + c - 1, m5_0);`, asked for where what all lanes share holds: without a lane, at a
// place that is no memory, a load of a mask takes the CPU hundreds of cycles.
static void tc__c_load_by_mask(tc__printer *p, const tc__node *n, int copy) {
    int still = tc__c_still(p, n, 0);
    if (still) {
        tc__c_filled_unless(p, n, copy);
        (void)tc__c_still(p, n, 1);
        tc__put(p->out, ")");
        tc__block_open(p);
    }
    tc__c_let_mask(p, n, copy);
    if (still) {
        tc__line(p);
        tc__put_name(p, n, copy);
        tc__put(p->out, " = ");
    } else {
        tc__put_let(p, n, copy);
    }
    tc__c_masked_load(p, n, copy);
    tc__put(p->out, ";\n");
    if (still) tc__block_close(p);
}

// `tc_vf t5; if (inside) t5 = load; else { by a mask, or lane by lane }`
static void tc__c_guarded_load(tc__printer *p, const tc__node *n, int copy, int pred) {
    tc__c_filled_unless(p, n, copy);
    if (pred == 1)
        tc__c_pred(p, n);
    else
        tc__c_pred_all(p, n);
    tc__put(p->out, ") ");
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    if (tc__access_along(p->g, n->attr[TC__ACCESS_INDEX], p->axis, p->unit) == TC__UNIFORM)
        tc__c_uniform_load(p, n);
    else
        tc__c_vector_load(p, n);
    tc__put(p->out, ";\n");
    if (pred == 1) return;
    tc__line(p);
    int mask = tc__c_has_mask(p, n), still = mask && tc__c_still(p, n, 0);
    tc__put(p->out, still ? "else if (" : "else");
    if (still) (void)tc__c_still(p, n, 1), tc__put(p->out, ")");
    tc__block_open(p);
    if (mask)
        tc__c_let_mask(p, n, copy);
    else
        tc__c_gather(p, n, copy, 1);
    tc__line(p);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    if (mask)
        tc__c_masked_load(p, n, copy), tc__put(p->out, ";\n");
    else
        tc__c_gathered(p, n, copy);
    tc__block_close(p);
}

// `tc_rev_f32(tc_ld_f32(in0_r - c - 7))`, in a tail `tc_rev_f32(tc_ldm_f32(in0_r - c - 7, tc_rev_i32(tc_lanes(n))))`
static void tc__c_reversed(tc__printer *p, const tc__node *n) {
    tc__put(p->out, "tc_rev_%s(tc_ld%s_%s(", tc__suffix(n->dtype), p->tail ? "m" : "",
            tc__c_dtype(p, n));
    p->shift += p->unit - 1;
    tc__c_address(p, n, 0);
    p->shift -= p->unit - 1;
    tc__put(p->out, p->tail ? ", tc_rev_i32(tc_lanes(n))));\n" : "));\n");
}

// `tc_ld2_f32(in0_r + 2 * c)`
static void tc__c_every_second(tc__printer *p, const tc__node *n) {
    tc__put(p->out, p->tail ? "tc_ld2n_f32(" : "tc_ld2_f32(");
    tc__c_address(p, n, 0);
    tc__put(p->out, p->tail ? ", n);\n" : ");\n");
}

// A load that moves by the same number from lane to lane; 0 = lane by lane.
static int tc__c_stepped_load(tc__printer *p, const tc__node *n, int copy) {
    int dtype = tc__buffer_of(p->g, n)->dtype;
    tc__ix stride;
    if (!tc__ix_steps(p->g, n->attr[TC__ACCESS_INDEX], p->axis, p->unit, &stride)) return 0;
    int second = dtype == TC_F32 && tc__ix_equals(stride, 2);
    int back = tc__ix_equals(stride, -1), own = tc__is_own_class(dtype) && dtype != TC_BOOL;
    if (p->tail && !second && !(back && own)) return 0;
    if (!second && !back && !own) return 0;
    tc__put_let(p, n, copy);
    if (second) {
        tc__c_every_second(p, n);
    } else if (back) {
        tc__c_reversed(p, n);
    } else {
        tc__put(p->out, "tc_ldx_%s(", tc__c_dtype(p, n));
        tc__c_address(p, n, 0);
        tc__put(p->out, ", ");
        tc__put_ix(p, stride);
        tc__put(p->out, ");\n");
    }
    return 1;
}

// Lanes of a kernel that are put together in registers; the text of each is compiled.
#define TC__C_LANES_MOST 256

// `{in0[8 * (r / 12)], in0[8 * ((r + 1) / 12)], ...}`: an index of sizes and loop variables that does not
// step. What of it does not move with the inner loop is computed once, and no lane is stored and
// read back. 0 = by a buffer.
static int tc__c_lanes_load(tc__printer *p, const tc__node *n, int copy) {
    enum { in_line = 4 };
    int dtype = tc__buffer_of(p->g, n)->dtype, shift = p->shift;
    if (p->tail || (dtype != TC_F32 && dtype != TC_I32)) return 0;
    if (tc__ix_has_lane_val(p->g, n->attr[TC__ACCESS_INDEX], p->axis)) return 0;
    if (p->lanes_put + (int)p->unit > TC__C_LANES_MOST) return 0;
    p->lanes_put += (int)p->unit;
    tc__put_let(p, n, copy);
    tc__put(p->out, "{\n");
    p->indent++;
    for (int l = 0; l < (int)p->unit; l++, p->shift++) {
        if (l % in_line == 0) tc__line(p);
        tc__c_address(p, n, 1);
        tc__put(p->out, l % in_line == in_line - 1 ? ",\n" : ", ");
    }
    p->indent--;
    p->shift = shift;
    tc__line(p);
    tc__put(p->out, "};\n");
    return 1;
}

// `static const tc_i32 to5[67] = {0, 400, 800, 1, ...};`: the places of a row, and behind them the first again, for vectors
// that begin in it and end in the next.
static void tc__c_row_places(tc__printer *p, const tc__node *n, const tc__lane_rows *rows) {
    enum { in_line = 16 };
    tc__ixpool *x = p->g->body.ix;
    int64_t all = rows->size + (rows->size % p->unit ? p->unit - 1 : 0);
    tc__line(p);
    tc__put(p->out, "static const tc_i32 to%u[%lld] = {", n->id, (long long)all);
    for (int64_t i = 0; i < all; i++) {
        tc__ix at = tc__ix_subst(x, rows->place, rows->t, tc__ix_const(i % rows->size));
        if (i % in_line == 0) tc__put(p->out, "\n"), tc__line(p);
        tc__put(p->out, "%lld, ", (long long)tc__ix_value(at));
    }
    tc__put(p->out, "};\n");
}

// `const float *at5_0 = in0 + 3600 * (c / 3600);`, where lanes of row `q` are counted from.
static void tc__c_row_first(tc__printer *p, const tc__node *n, int copy, const char *name,
                            tc__ix first) {
    tc__line(p);
    tc__put(p->out, "const %s *%s%u_%d = ", tc__c_memory(p, n), name, n->id, copy);
    tc__put_at(p, n->attr[TC__ACCESS_BUFFER], first);
    tc__put(p->out, ";\n");
}

// `{at5_0[to5[k5_0]], (k5_0 + 1 < 60 ? at5_0 : on5_0)[to5[k5_0 + 1]], ...}`: lanes that stand at the same places of each
// row, by a list. Of rows of 60 that are woven of 20 by threes this takes 0.2 of the time of their divisions. 0 = they do not.
static int tc__c_rows_load(tc__printer *p, const tc__node *n, int copy) {
    enum { in_line = 4 };
    tc__ixpool *x = p->g->body.ix;
    tc__lane_rows rows;
    int dtype = tc__buffer_of(p->g, n)->dtype;
    if (p->tail || (dtype != TC_F32 && dtype != TC_I32)) return 0;
    if (p->lanes_put + (int)p->unit > TC__C_LANES_MOST) return 0;
    if (!tc__find_lane_rows(p->g, n->attr[TC__ACCESS_INDEX], p->axis, (int)p->unit, &rows))
        return 0;
    int whole = rows.size % p->unit == 0;
    tc__ix row = tc__ix_div(x, rows.v, tc__ix_const(rows.size));
    tc__ix next = tc__ix_add(x, row, tc__ix_const(1));
    p->lanes_put += (int)p->unit;
    if (!copy) tc__c_row_places(p, n, &rows);
    tc__line(p);
    tc__put(p->out, "const tc_i64 k%u_%d = ", n->id, copy);
    tc__put_ix(p, tc__ix_mod(x, rows.v, tc__ix_const(rows.size)));
    tc__put(p->out, ";\n");
    tc__c_row_first(p, n, copy, "at", tc__ix_subst(x, rows.first, rows.v, row));
    if (!whole)
        tc__c_row_first(p, n, copy, "on", tc__ix_subst(x, rows.first, rows.v, next));
    tc__put_let(p, n, copy);
    tc__put(p->out, "{\n");
    p->indent++;
    for (int l = 0; l < (int)p->unit; l++) {
        if (l % in_line == 0) tc__line(p);
        if (!l || whole)
            tc__put(p->out, "at%u_%d[to%u[k%u_%d + %d]]", n->id, copy, n->id, n->id, copy,
                    l);
        else
            tc__put(p->out, "(k%u_%d + %d < %lld ? at%u_%d : on%u_%d)[to%u[k%u_%d + %d]]",
                    n->id, copy, l, (long long)rows.size, n->id, copy, n->id, copy, n->id,
                    n->id, copy, l);
        tc__put(p->out, l % in_line == in_line - 1 ? ",\n" : ", ");
    }
    p->indent--;
    tc__line(p);
    tc__put(p->out, "};\n");
    return 1;
}

// `tc_zip_f32(at5_0, at5_0 + 3136)`, or `{at5_0[0], at5_0[7], at5_0[2], ...}`: places from the first lane's. 0 = they move.
static int tc__c_placed_load(tc__printer *p, const tc__node *n, int copy) {
    enum { in_line = 8 };
    int64_t place[TC__PLACES_MOST];
    int dtype = tc__buffer_of(p->g, n)->dtype, zip = dtype == TC_F32;
    if (p->tail || (dtype != TC_F32 && dtype != TC_I32)) return 0;
    if (p->lanes_put + (int)p->unit > TC__C_LANES_MOST) return 0;
    if (!tc__lane_places(p->g, n->attr[TC__ACCESS_INDEX], p->axis, (int)p->unit, place))
        return 0;
    for (int l = 2; l < (int)p->unit; l++) zip &= place[l] == place[l - 2] + 1;
    if (!zip) p->lanes_put += (int)p->unit;
    tc__line(p);
    tc__put(p->out, "const %s *at%u_%d = ", tc__c_memory(p, n), n->id, copy);
    tc__c_address(p, n, 0);
    tc__put(p->out, ";\n");
    tc__put_let(p, n, copy);
    if (zip) {
        tc__put(p->out, "tc_zip_f32(at%u_%d, at%u_%d + %lld);\n", n->id, copy, n->id, copy,
                (long long)place[1]);
        return 1;
    }
    tc__put(p->out, "{\n");
    p->indent++;
    for (int l = 0; l < (int)p->unit; l++) {
        if (l % in_line == 0) tc__line(p);
        tc__put(p->out, "at%u_%d[%lld]%s", n->id, copy, (long long)place[l],
                l % in_line == in_line - 1 ? ",\n" : ", ");
    }
    p->indent--;
    tc__line(p);
    tc__put(p->out, "};\n");
    return 1;
}

// `tc_zip_f32(in0_r + c / 2, in0_r + (c + 1) / 2 + 784)`, in a tail `tc_zipn_f32(..., n)`: of each row what comes next of it.
// Rows of 53 that are woven of 27 by twos take so 0.3 of the time of the list. Rows that a predicate leaves out are none.
static void tc__c_zip(tc__printer *p, const tc__node *n, int rows, int pred) {
    tc__put(p->out, "tc_zip%s%s_f32(", rows == 3 ? "3" : "", p->tail ? "n" : "");
    for (int i = 0; i < rows; i++, p->shift++) {
        tc__put(p->out, i ? ", " : "");
        if (pred) {
            tc__put(p->out, "tc_or_none(");
            tc__c_moving(p, n);
            tc__put(p->out, ", ");
        }
        tc__c_address(p, n, 0);
        if (pred) tc__put(p->out, ")");
    }
    p->shift -= rows;
    tc__put(p->out, p->tail ? ", n);\n" : ");\n");
}

// A load of what is woven; 0 = nothing is.
static int tc__c_woven_load(tc__printer *p, const tc__node *n, int copy, int pred) {
    if (tc__buffer_of(p->g, n)->dtype != TC_F32) return 0;
    int rows = tc__ix_woven(p->g->body.ix, n->attr[TC__ACCESS_INDEX], p->axis);
    if (!rows) return 0;
    if (!pred) {
        tc__put_let(p, n, copy);
        tc__c_zip(p, n, rows, 0);
        return 1;
    }
    if (rows != 2 || tc__c_fill(n).i || !tc__c_pred_alternates(p, n)) return 0;
    if (tc__c_still(p, n, 0)) {
        tc__c_filled_unless(p, n, copy);
        (void)tc__c_still(p, n, 1);
        tc__put(p->out, ") ");
        tc__put_name(p, n, copy);
        tc__put(p->out, " = ");
    } else {
        tc__put_let(p, n, copy);
    }
    tc__c_zip(p, n, rows, 1);
    return 1;
}

// Whether no pair of a predicate moves back.
static int tc__c_pairs_move_on(const tc__printer *p, const tc__node *n) {
    tc__ix stride;
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2)
        if (!tc__ix_steps(p->g, n->attr[i], p->axis, p->unit, &stride) ||
            tc__ix_value(stride) < 0)
            return 0;
    return 1;
}

// Whether a load takes every second element, where each pair of its predicate holds for a range of lanes.
static int tc__c_is_second_span(const tc__printer *p, const tc__node *n) {
    tc__ix stride;
    if (tc__buffer_of(p->g, n)->dtype != TC_F32) return 0;
    if (!tc__ix_steps(p->g, n->attr[TC__ACCESS_INDEX], p->axis, p->unit, &stride) ||
        !tc__ix_equals(stride, 2) || !tc__c_pred_is_range(p, n))
        return 0;
    return tc__c_pairs_move_on(p, n);
}

// `tc_span(2 * c - 1, 112, 2, &low5_0, &high5_0);`, and of pairs that are the same for all lanes whether
// they hold.
static void tc__c_spans(tc__printer *p, const tc__node *n, int copy) {
    tc__ix stride;
    for (uint32_t i = (uint32_t)tc__c_pred_first(n); i + 1 < n->n_attr; i += 2) {
        (void)tc__ix_steps(p->g, n->attr[i], p->axis, p->unit, &stride);
        tc__line(p);
        tc__put(p->out, tc__ix_equals(stride, 0) ? "if (!(" : "tc_span(");
        if (tc__ix_equals(stride, 0)) {
            tc__c_in_range(p, n->attr[i], n->attr[i + 1]);
            tc__put(p->out, ")) high%u_%d = 0;\n", n->id, copy);
            continue;
        }
        tc__put_ix(p, n->attr[i]);
        tc__put(p->out, ", ");
        tc__put_ix(p, n->attr[i + 1]);
        tc__put(p->out, ", %lld, &low%u_%d, &high%u_%d);\n",
                (long long)tc__ix_value(stride), n->id, copy, n->id, copy);
    }
}

// Lanes of a range, the fill in the others.
static void tc__c_second_between(tc__printer *p, const tc__node *n, int copy) {
    tc__value fill = tc__c_fill(n);
    if (fill.i)
        tc__put(p->out, "TC_SEL_f32(TC_M_f32(tc_between(low%u_%d, high%u_%d)), ", n->id,
                copy, n->id, copy);
    tc__put(p->out, "tc_ld2m_f32(");
    tc__c_address(p, n, 0);
    tc__put(p->out, ", low%u_%d, high%u_%d)", n->id, copy, n->id, copy);
    if (!fill.i) return;
    tc__put(p->out, ", ");
    tc__c_constant(p, n->dtype, fill);
    tc__put(p->out, ")");
}

static void tc__c_all_lanes(tc__printer *p, const tc__node *n, int copy) {
    tc__line(p);
    tc__put(p->out, "tc_i64 low%u_%d = 0, high%u_%d = ", n->id, copy, n->id, copy);
    tc__put(p->out, p->tail ? "n;\n" : "%d;\n", p->unit);
}

// Whether all lanes load one place, in a range of them.
static int tc__c_is_spread(const tc__printer *p, const tc__node *n) {
    return tc__c_access(p, n) == TC__UNIFORM && n->dtype != TC_BOOL &&
           tc__c_pred_is_range(p, n) && tc__c_pairs_move_on(p, n);
}

// `if (low5_0 < high5_0) t5 = tc_splat_f32(in0_r[63]);`, and the fill in the other lanes.
static void tc__c_spread(tc__printer *p, const tc__node *n, int copy) {
    const char *cls = tc__suffix(n->dtype);
    tc__c_all_lanes(p, n, copy);
    tc__c_spans(p, n, copy);
    tc__c_filled_unless(p, n, copy);
    tc__put(p->out, "low%u_%d < high%u_%d) ", n->id, copy, n->id, copy);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = TC_SEL_%s(TC_M_%s(tc_between(low%u_%d, high%u_%d)), ", cls, cls,
            n->id, copy, n->id, copy);
    tc__c_uniform_load(p, n);
    tc__put(p->out, ", ");
    tc__put_name(p, n, copy);
    tc__put(p->out, ");\n");
}

// `tc_vf t5; if (inside) t5 = tc_ld2_f32(in0_r + 2 * c - 1); else { the lanes that are }`
static void tc__c_second_span(tc__printer *p, const tc__node *n, int copy) {
    tc__line(p);
    tc__put(p->out, "tc_vf ");
    tc__put_name(p, n, copy);
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(p->out, "if (");
    tc__c_pred_all(p, n);
    tc__put(p->out, ") ");
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    tc__c_every_second(p, n);
    tc__line(p);
    tc__put(p->out, "else");
    tc__block_open(p);
    tc__c_all_lanes(p, n, copy);
    tc__c_spans(p, n, copy);
    tc__line(p);
    tc__put_name(p, n, copy);
    tc__put(p->out, " = ");
    tc__c_second_between(p, n, copy);
    tc__put(p->out, ";\n");
    tc__block_close(p);
}

static void tc__c_load(tc__printer *p, const tc__node *n, int copy) {
    tc__access access = tc__c_access(p, n);
    int pred = tc__pred_along(p->g, n, p->axis, p->unit);
    int guard = pred == 1 && access != TC__PER_LANE;
    if (pred == 2 && access == TC__CONTIGUOUS && !p->tail)
        guard = tc__c_pred_is_range(p, n);
    if (guard) {
        tc__c_guarded_load(p, n, copy, pred);
        return;
    }
    if (pred == 2 && tc__c_has_mask(p, n)) {
        tc__c_load_by_mask(p, n, copy);
        return;
    }
    if (!pred && access == TC__PER_LANE &&
        (tc__c_stepped_load(p, n, copy) || tc__c_woven_load(p, n, copy, 0) ||
         tc__c_placed_load(p, n, copy) || tc__c_rows_load(p, n, copy) ||
         tc__c_lanes_load(p, n, copy)))
        return;
    if (pred == 2 && access == TC__PER_LANE && tc__c_woven_load(p, n, copy, 1)) return;
    if (pred && access == TC__PER_LANE && tc__c_is_second_span(p, n)) {
        tc__c_second_span(p, n, copy);
        return;
    }
    if (pred == 2 && tc__c_is_spread(p, n)) {
        tc__c_spread(p, n, copy);
        return;
    }
    if (pred || access == TC__PER_LANE) {
        tc__c_gather(p, n, copy, pred);
        tc__put_let(p, n, copy);
        tc__c_gathered(p, n, copy);
        return;
    }
    tc__put_let(p, n, copy);
    if (access == TC__UNIFORM)
        tc__c_uniform_load(p, n);
    else
        tc__c_vector_load(p, n);
    tc__put(p->out, ";\n");
}

// The node whose value is stored: one that was rounded to the dtype in memory is rounded by the store itself.
static uint32_t tc__c_stored(const tc__printer *p, const tc__node *n) {
    int dtype = tc__buffer_of(p->g, n)->dtype;
    const tc__node *cast = tc__body(p, n->in[0]);
    if (!tc__is_rounded(dtype) || cast->op != TC_OP_CAST || cast->dtype != dtype)
        return cast->id;
    const tc__node *of = tc__body(p, cast->in[0]);
    return tc__class_of(of->dtype) == TC__CLASS_f32 && !tc__is_rounded(of->dtype)
               ? of->id
               : cast->id;
}

// Lane `at` of a stored value as a memory element.
static void tc__c_element(tc__printer *p, const tc__node *n, int copy, const char *at) {
    int dtype = tc__buffer_of(p->g, n)->dtype, own = tc__is_own_class(dtype);
    if (!own) tc__put(p->out, "(%s)(", tc__c_memory(p, n));
    if (tc__is_rounded(dtype)) tc__put(p->out, "tc_bits_%s(", tc__dtypes[dtype].name);
    tc__put_value(p, tc__c_stored(p, n), copy);
    if (tc__is_rounded(dtype)) tc__put(p->out, ")");
    tc__put(p->out, "[%s]%s", at, own ? "" : dtype == TC_BOOL ? " & 1)" : ")");
}

// Non-temporal stores need addresses that are multiples of the vector; bases are.
static int tc__c_streams(const tc__printer *p, const tc__node *n) {
    int dtype = tc__buffer_of(p->g, n)->dtype;
    int least = p->g->shape.tuning.knob[TC__KNOB_STORES] == TC__STORES_STREAMED
                    ? TC__STORE_MAY_STREAM
                    : TC__STORE_STREAMS;
    if (p->g->shape.tuning.knob[TC__KNOB_STORES] == TC__STORES_CACHED) return 0;
    if (n->n_attr <= TC__STORE_KIND || n->attr[TC__STORE_KIND] < least ||
        tc__dtypes[dtype].bytes < 4 || p->tail)
        return 0;
    tc__ixpool *x = p->g->body.ix;
    tc__ix e = n->attr[TC__ACCESS_INDEX], v = tc__ix_find_var(x, e, p->axis);
    if (v) e = tc__ix_subst(x, e, v, tc__ix_mul(x, v, tc__ix_const(p->unit)));
    return tc__ix_divisor(x, e) % p->unit == 0;
}

static void tc__c_store(tc__printer *p, const tc__node *n, int copy) {
    tc__access access = tc__c_access(p, n);
    int lane_row = tc__is_lane_row(p->g, n, p->axis), counted = p->tail && !lane_row;
    tc__line(p);
    if (access == TC__CONTIGUOUS) {
        tc__put(p->out, "tc_%s_%s(",
                counted               ? "stn"
                : tc__c_streams(p, n) ? "nt"
                                      : "st",
                tc__c_dtype(p, n));
        tc__c_address(p, n, 0);
        tc__put(p->out, ", ");
        tc__put_value(p, tc__c_stored(p, n), copy);
        tc__put(p->out, counted ? ", n);\n" : ");\n");
        return;
    }
    if (access == TC__PER_LANE) {
        tc__c_lane_loop(p);
        p->lane = 1;
    }
    tc__c_address(p, n, 1);
    tc__put(p->out, " = ");
    int constant = !tc__lanes_differ(tc__body(p, tc__c_stored(p, n)), p->axis);
    tc__c_element(p, n, copy, p->lane && !constant ? "l" : "0");
    p->lane = 0;
    tc__put(p->out, ";\n");
}
