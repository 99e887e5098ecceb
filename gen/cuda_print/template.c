// CUDA dialect, templates of lists: a text of cuda/tiles.cuh or skinny.cuh is called with the kernel's numbers as a struct, and
// its holes as functions, which loops.c prints as it does all statements.
//
//     struct product { typedef float sum; typedef tc_u16 element, stored; enum : int { way = 1, rows = 128, ... }; };
//     struct left_way { enum : int { bring = 3, deep = 1, width = 8, stepped = 1, line_stride = 1024, deep_stride = 1 }; };
//     auto left = [&](int, int r, int q, bool) { return &in0[1024 * r + q]; };
//     ...
//     tc_tiles<tc_tile_halves, product, left_way, right_way>(...);

static const char *tc__cuda_register_type(const tc__printer *p, int dtype) {
    return p->d->reg[tc__class_of(dtype)];
}

static const tc__node *tc__cuda_hole(const tc__printer *p, uint32_t begin, uint32_t end,
                                     tc__hole hole) {
    for (uint32_t id = begin; id < end; id++)
        if (tc__body(p, id)->op == TC_OP_HOLE &&
            tc__body(p, id)->attr[TC__HOLE_HOLE] == (int64_t)hole)
            return tc__body(p, id);
    return NULL;
}

static int tc__cuda_hole_dtype(const tc__printer *p, const tc__node *hole) {
    return p->g->buffer.at[hole->attr[TC__HOLE_BUFFER]].dtype;
}

// Whether a hole gives the address of what is copied.
static int tc__cuda_gives_address(const tc__node *hole) {
    return hole->attr[TC__HOLE_BRING] == TC__BRING_ASYNC ||
           hole->attr[TC__HOLE_DEEP_STRIDE];
}

// What multiplies: a template that takes product, left_way and right_way.
static const char *const tc__cuda_ways[] = {"tc_tile_simt",
                                            "tc_tile_halves",
                                            "tc_tile_split",
                                            "tc_tile_tf32",
                                            "tc_tile_groups",
                                            NULL,
                                            NULL};

// What units multiply, as tc_wgmma has it: f16, bf16, tf32, from 3 on pairs of f8.
static int tc__cuda_units(const tc__printer *p, const tc__node *n, uint32_t end, int left) {
    if (!tc__is_fp8(left)) return left == TC_F32 ? 2 : left == TC_BF16;
    int right = tc__cuda_hole_dtype(p, tc__cuda_hole(p, n->id, end, TC__HOLE_RIGHT));
    return 3 + (left == TC_F8E5M2) + 2 * (right == TC_F8E5M2);
}

// `struct product { ... };`: types and numbers of template n.
static void tc__cuda_product_struct(tc__printer *p, const tc__node *n, uint32_t end) {
    int64_t name = n->attr[TC__TEMPLATE_NAME];
    int64_t way = name == TC__TEMPLATE_TILES ? n->attr[TC__TEMPLATE_NUMBERS + TC__TILES_WAY]
                  : name == TC__TEMPLATE_CHAIN
                      ? (int64_t)(tc__template_is_mapped(n) ? TC__WAY_MAPPED : TC__WAY_MMA)
                      : (int64_t)TC__WAY_SIMT;
    int dtype = tc__cuda_hole_dtype(p, tc__cuda_hole(p, n->id, end, TC__HOLE_LEFT));
    const char *element = tc__dtypes[dtype].memory;
    tc__line(p);
    tc__put(p->out, "struct product {\n");
    p->indent++;
    tc__line(p);
    tc__put(p->out, "typedef %s sum;\n", tc__cuda_register_type(p, n->dtype));
    tc__line(p);
    tc__put(p->out, "typedef %s element;\n", element);
    tc__line(p);
    tc__put(p->out, "typedef %s stored;\n", way == TC__WAY_TF32 ? "unsigned" : element);
    tc__line(p);
    tc__put(p->out, "enum : int { ");
    for (uint32_t i = TC__TEMPLATE_NUMBERS; i < n->n_attr; i++)
        tc__put(p->out, "%s%s = %lld", i > TC__TEMPLATE_NUMBERS ? ", " : "",
                tc__template_number(name, i - TC__TEMPLATE_NUMBERS), (long long)n->attr[i]);
    tc__put(p->out, " };\n");
    if (way == TC__WAY_MMA) {
        tc__line(p);
        tc__put(p->out,
                "TC_FN void mma(float (&d)[4], const unsigned (&a)[4], const unsigned "
                "(&b)[2]) { tc_mma_%s(d, a, b); }\n",
                tc__dtypes[dtype].name);
    }
    if (name == TC__TEMPLATE_CHAIN) {
        int streamed = n->attr[TC__TEMPLATE_NUMBERS + TC__CHAIN_STREAMED] != 0;
        tc__line(p);
        tc__put(p->out, "typedef %s made;\n", streamed ? "float" : element);
        tc__line(p);
        tc__put(p->out,
                "TC_FN unsigned pack_two(float a, float b) { return tc_pack_%s(a, b); }\n",
                tc__dtypes[dtype].name);
    }
    if (name == TC__TEMPLATE_DECODE) {
        tc__line(p);
        tc__put(p->out, "TC_FN float of(tc_u16 b) { return tc_of_%s(b); }\n",
                tc__dtypes[dtype].name);
    }
    if (name == TC__TEMPLATE_TILES && n->attr[TC__TEMPLATE_NUMBERS + TC__TILES_TOTAL]) {
        tc__line(p);
        tc__put(p->out,
                "TC_FN void add(float &a, float &b, unsigned w) { tc_add_%s(a, b, w); }\n",
                tc__dtypes[dtype].name);
    }
    if (way >= TC__WAY_GROUPS) {
        tc__line(p);
        tc__put(p->out, "enum : int { units = %d };\n", tc__cuda_units(p, n, end, dtype));
    }
    p->indent--;
    tc__line(p);
    tc__put(p->out, "};\n");
}

// `struct left_way { ... };`: how an operand comes to shared memory.
static void tc__cuda_way_struct(tc__printer *p, const tc__node *hole) {
    const int64_t *a = hole->attr;
    tc__line(p);
    tc__put(
        p->out,
        "struct %s_way { enum : int { bring = %lld, deep = %d, width = %lld, stepped = %d, "
        "line_stride = %lld, deep_stride = %lld }; };\n",
        tc__hole_names[a[TC__HOLE_HOLE]], (long long)a[TC__HOLE_BRING],
        a[TC__HOLE_ALONG] == (int64_t)TC__DEPTH, (long long)a[TC__HOLE_WIDTH],
        a[TC__HOLE_DEEP_STRIDE] != 0, (long long)a[TC__HOLE_LINE_STRIDE],
        (long long)a[TC__HOLE_DEEP_STRIDE]);
}

// `struct left_way { enum : int { deep = 1, share = 1, inner = 8, outer = 1 }; };`: how the device brings it.
static void tc__cuda_map_struct(tc__printer *p, const tc__node *n, const tc__node *hole) {
    const int64_t *a = hole->attr;
    tc_device_map map;
    const tc__group_windows *w = &p->g->shape.windows;
    (void)tc__template_map(p->g, n, hole, &map);
    int windows = map.step[0] != 0; // whose last size is images, all in one batch
    long long inner = windows ? 1 : map.size[2], outer = windows ? 1 : map.size[3];
    long long share = windows ? 1 : tc__template_batches(n) / (inner * outer);
    tc__line(p);
    tc__put(
        p->out,
        "struct %s_way { enum : int { deep = %d, share = %lld, inner = %lld, outer = %lld, windows = %d",
        tc__hole_names[a[TC__HOLE_HOLE]], a[TC__HOLE_ALONG] == (int64_t)TC__DEPTH, share,
        inner, outer, windows);
    if (windows)
        tc__put(p->out,
                ", channels = %lld, taps = %lld, wide = %lld, tall = %lld, jump_x = %lld, "
                "jump_y = %lld, apart_x = %lld, apart_y = %lld, low_x = %lld, low_y = %lld",
                (long long)w->channels, (long long)w->size[1], (long long)w->out[1],
                (long long)w->out[0], (long long)w->stride[1], (long long)w->stride[0],
                (long long)w->dilation[1], (long long)w->dilation[0], (long long)w->low[1],
                (long long)w->low[0]);
    tc__put(p->out, " }; };\n");
}

// One of the numbers that a hole is told, without a name where it has none.
static void tc__cuda_hole_place(tc__printer *p, int64_t axis, int first) {
    tc__put(p->out, "%s%s", first ? "" : ", ", tc__cuda_index_type(p));
    if (axis >= 0) tc__put(p->out, " %s", tc__axis_name(axis));
}

// What loads for a hole before its sums are there.
static const char *tc__cuda_before(const tc__node *hole) {
    return hole->attr[TC__HOLE_HOLE] == TC__HOLE_ROUNDED ? "before" : "ahead";
}

// `auto left = [&](int, int r, int q, tc_u16 *given0) {`
static void tc__cuda_hole_head(tc__printer *p, const tc__node *n, int loaded) {
    const int64_t *a = n->attr;
    int result = a[TC__HOLE_HOLE] >= (int64_t)TC__HOLE_RESULT,
        given = a[TC__HOLE_BUFFER] >= 0;
    int rows = a[TC__HOLE_HOLE] == TC__HOLE_ROWS;
    tc__line(p);
    tc__put(p->out, "auto %s = [&](", tc__hole_names[a[TC__HOLE_HOLE]]);
    tc__cuda_hole_place(p, a[TC__HOLE_ROW], 1);
    tc__cuda_hole_place(p, a[TC__HOLE_LINE], 0);
    int sums = a[TC__HOLE_HOLE] == TC__HOLE_SCORE || a[TC__HOLE_HOLE] == TC__HOLE_ROUNDED ||
               a[TC__HOLE_HOLE] == TC__HOLE_SCORE_NEXT ||
               a[TC__HOLE_HOLE] == TC__HOLE_SHARE;
    if ((given && !result && !sums) || rows) tc__cuda_hole_place(p, a[TC__HOLE_DEEP], 0);
    if (tc__cuda_gives_address(n)) {
        tc__put(p->out, ", bool%s", p->g->target.checked ? " inside" : "");
    } else if (given) {
        tc__put(p->out, ", %s%s *", result ? "const " : "",
                tc__dtypes[tc__cuda_hole_dtype(p, n)].memory);
        tc__put_buffer(p, a[TC__HOLE_BUFFER]);
    }
    if (a[TC__HOLE_MADE] >= 0) {
        tc__put(p->out, ", %s *",
                tc__dtypes[p->g->buffer.at[a[TC__HOLE_MADE]].dtype].memory);
        tc__put_buffer(p, a[TC__HOLE_MADE]);
    }
    if (loaded) tc__put(p->out, ", const decltype(%s(0, 0)) &loaded", tc__cuda_before(n));
    tc__put(p->out, ")");
    tc__block_open(p);
}

static void tc__cuda_hole_end(tc__printer *p) {
    p->indent--;
    tc__line(p);
    tc__put(p->out, "};\n");
}

// `return &in0[1024 * r + q];` of the COPY in a hole. Where accesses are looked at, only what is read is.
static void tc__cuda_hole_address(tc__printer *p, const tc__node *copy) {
    int64_t from = copy->attr[TC__COPY_FROM];
    tc__line(p);
    tc__put(p->out, "return ");
    for (uint32_t i = TC__COPY_PREDICATES; i + 1 < copy->n_attr; i += 2) {
        const char *word = p->narrow ? "unsigned" : "tc_u64";
        tc__put(p->out, "%s(%s)(", i > TC__COPY_PREDICATES ? " || " : "", word);
        tc__put_ix(p, copy->attr[i]);
        tc__put(p->out, ") >= (%s)(", word);
        tc__put_ix(p, copy->attr[i + 1]);
        tc__put(p->out, ")");
    }
    if (copy->n_attr > TC__COPY_PREDICATES) tc__put(p->out, " ? nullptr : ");
    if (tc__cuda_is_checked(p->g, from)) {
        tc__put(p->out, "!inside ? ");
        tc__put_buffer(p, from);
        tc__put(p->out, "_memory : ");
    }
    tc__put(p->out, "&");
    tc__cuda_place_of(p, from, copy->attr[TC__COPY_SOURCE], "",
                      (int)copy->attr[TC__COPY_ELEMENTS]);
    tc__put(p->out, ";\n");
}

// The name of a buffer, or nothing to be pointed to.
static void tc__cuda_pointer(tc__printer *p, int64_t buffer, const char *cast) {
    if (buffer < 0) {
        tc__put(p->out, ", (%s)nullptr", cast);
        return;
    }
    tc__put(p->out, ", ");
    tc__put_buffer(p, buffer);
}

// `, left, right, left_next, right_next, value, score, share, result);`: holes that a template takes, 0 where there is none.
static void tc__cuda_holes(tc__printer *p, const tc__node *n, uint32_t end,
                           const tc__hole *hole, int count) {
    for (int i = 0; i < count; i++)
        tc__put(p->out, ", %s",
                tc__cuda_hole(p, n->id, end, hole[i]) ? tc__hole_names[hole[i]] : "0");
    tc__put(p->out, ");\n");
}

// `tc_chain<product, left_way, right_way, ...`: operands of a second product are those of the first where there is none.
static void tc__cuda_chain_ways(tc__printer *p, const tc__node *n) {
    const char *next = n->attr[TC__TEMPLATE_NUMBERS + TC__CHAIN_NEXT] ? "_next" : "";
    tc__put(p->out, "product, left_way, right_way, left%s_way, right%s_way, value_way, ",
            next, next);
}

// A hole of the template, as what names it: itself, or where it is not the one of `other`.
static const char *tc__cuda_hole_or(const tc__printer *p, const tc__node *n, uint32_t end,
                                    tc__hole hole, tc__hole other) {
    const tc__node *h = tc__cuda_hole(p, n->id, end, hole);
    return tc__hole_names[h && tc__hole_is_mapped(n, h) ? hole : other];
}

// `tc_mapped_chain<product, left_way, ..., value_way, int>((char *)shared0, ..., left_map, ..., value_map, columns, ...);`: where
// there is no operand of its own, the first right one stands.
static void tc__cuda_mapped_chain_call(tc__printer *p, const tc__node *n, uint32_t end) {
    static const tc__hole operand[][2] = {{TC__HOLE_LEFT, TC__HOLE_LEFT},
                                          {TC__HOLE_RIGHT, TC__HOLE_RIGHT},
                                          {TC__HOLE_LEFT_NEXT, TC__HOLE_LEFT},
                                          {TC__HOLE_RIGHT_NEXT, TC__HOLE_RIGHT},
                                          {TC__HOLE_VALUE, TC__HOLE_RIGHT}},
                          other[] = {TC__HOLE_COLUMNS, TC__HOLE_SCORE_NEXT,
                                     TC__HOLE_SCORE,   TC__HOLE_SHARE,
                                     TC__HOLE_RESULT,  TC__HOLE_RESULT_NEXT};
    const int64_t *a = n->attr;
    tc__line(p);
    tc__put(p->out, "tc_mapped_chain<product");
    for (size_t i = 0; i < TC__COUNT(operand); i++)
        tc__put(p->out, ", %s_way",
                tc__cuda_hole_or(p, n, end, operand[i][0], operand[i][1]));
    tc__put(p->out, ", %s>((char *)", tc__cuda_index_type(p));
    tc__put_buffer(p, a[TC__TEMPLATE_SHARED]);
    for (int i = TC__TEMPLATE_BLOCK; i <= (int)TC__TEMPLATE_DEPTH; i++) {
        tc__put(p->out, ", ");
        tc__put_ix(p, a[i]);
    }
    for (size_t i = 0; i < TC__COUNT(operand); i++)
        tc__put(p->out, ", %s_map",
                tc__cuda_hole_or(p, n, end, operand[i][0], operand[i][1]));
    tc__cuda_holes(p, n, end, other, (int)TC__COUNT(other));
}

// `tc_mapped<tc_mapped_sums, product, left_way, right_way, int>((char *)shared0, ..., left_map, right_map, 0, 0, ahead, result);`: or
// tc_held, whose right operand is a hole.
static void tc__cuda_mapped_call(tc__printer *p, const tc__node *n, uint32_t end) {
    const int64_t *a = n->attr;
    int held = a[TC__TEMPLATE_NUMBERS + TC__TILES_WAY] == (int64_t)TC__WAY_HELD;
    tc__line(p);
    int left = tc__cuda_hole_dtype(p, tc__cuda_hole(p, n->id, end, TC__HOLE_LEFT));
    tc__put(p->out, "%sproduct, left_way, right_way, %s>((char *)",
            held               ? "tc_held<"
            : tc__is_fp8(left) ? "tc_mapped<tc_mapped_sums_f8, "
                               : "tc_mapped<tc_mapped_sums, ",
            tc__cuda_index_type(p));
    tc__put_buffer(p, a[TC__TEMPLATE_SHARED]);
    tc__cuda_pointer(p, a[TC__TEMPLATE_TICKETS], "unsigned *");
    tc__cuda_pointer(p, a[TC__TEMPLATE_SUMS], "float *");
    for (int i = TC__TEMPLATE_BLOCK; i <= (int)TC__TEMPLATE_DEPTH; i++) {
        tc__put(p->out, ", ");
        tc__put_ix(p, a[i]);
    }
    const char *rounded = a[TC__TEMPLATE_NUMBERS + TC__TILES_RELAY]
                              ? "right_map, before, rounded"
                              : "right_map, 0, 0";
    tc__put(p->out, ", left_map, %s, ahead, result%s);\n", held ? "right" : rounded,
            held                                        ? ""
            : a[TC__TEMPLATE_NUMBERS + TC__TILES_TOTAL] ? ", total"
                                                        : ", 0");
}

// `tc_tiles<tc_tile_halves, product, left_way, right_way>((char *)shared0, ..., left, right, result);`
static void tc__cuda_template_call(tc__printer *p, const tc__node *n, uint32_t end) {
    const int64_t *a = n->attr, *number = a + TC__TEMPLATE_NUMBERS;
    static const tc__hole of_tiles[] = {TC__HOLE_LEFT, TC__HOLE_RIGHT, TC__HOLE_LEFT_ONE,
                                        TC__HOLE_RIGHT_ONE, TC__HOLE_RESULT},
                          of_chain[] = {TC__HOLE_LEFT,      TC__HOLE_RIGHT,
                                        TC__HOLE_LEFT_NEXT, TC__HOLE_RIGHT_NEXT,
                                        TC__HOLE_VALUE,     TC__HOLE_COLUMNS,
                                        TC__HOLE_SCORE,     TC__HOLE_SHARE,
                                        TC__HOLE_RESULT},
                          of_decode[] = {TC__HOLE_LEFT,  TC__HOLE_RIGHT, TC__HOLE_VALUE,
                                         TC__HOLE_SCORE, TC__HOLE_SHARE, TC__HOLE_RESULT};
    int tiles = a[TC__TEMPLATE_NAME] == TC__TEMPLATE_TILES,
        chain = a[TC__TEMPLATE_NAME] == TC__TEMPLATE_CHAIN,
        decode = a[TC__TEMPLATE_NAME] == TC__TEMPLATE_DECODE;
    char sums[40];
    snprintf(sums, sizeof sums, "%s *", tc__cuda_register_type(p, n->dtype));
    tc__line(p);
    tc__put(p->out, "tc_%s<", tc__template_names[a[TC__TEMPLATE_NAME]]);
    if (tiles) tc__put(p->out, "%s, ", tc__cuda_ways[number[TC__TILES_WAY]]);
    if (chain)
        tc__cuda_chain_ways(p, n);
    else
        tc__put(p->out, "product%s, ", tiles ? ", left_way, right_way" : "");
    tc__put(p->out, "%s>((char *)", tc__cuda_index_type(p));
    tc__put_buffer(p, a[TC__TEMPLATE_SHARED]);
    tc__cuda_pointer(p, a[TC__TEMPLATE_TICKETS], "unsigned *");
    tc__cuda_pointer(p, a[TC__TEMPLATE_SUMS], sums);
    for (int i = TC__TEMPLATE_BLOCK; i <= (int)TC__TEMPLATE_DEPTH; i++) {
        tc__put(p->out, ", ");
        tc__put_ix(p, a[i]);
    }
    if (tiles)
        tc__cuda_holes(p, n, end, of_tiles, (int)TC__COUNT(of_tiles));
    else if (chain)
        tc__cuda_holes(p, n, end, of_chain, (int)TC__COUNT(of_chain));
    else if (decode)
        tc__cuda_holes(p, n, end, of_decode, (int)TC__COUNT(of_decode));
    else
        tc__put(p->out, ", %s, %s, %s, %s, result, ",
                number[TC__SKINNY_MAKING] ? "rows" : "0",
                number[TC__SKINNY_BY_ROWS] ? "left, right" : "right, left",
                number[TC__SKINNY_AHEAD] ? "ahead" : "0",
                number[TC__SKINNY_EARLY] ? "early" : "0");
    if (tiles || chain || decode) return;
    if (tc__device_is_beside(p->g))
        tc__put(p->out, "a.size[%d]);\n", tc__cuda_sizes(p->g));
    else
        tc__put(p->out, "0);\n");
}
