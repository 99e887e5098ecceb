// How a contraction maps to threads of a device: made from the host's list alone, for template.c.
//
//   tiles  a block makes a tile of the result: operands come through shared memory, step by
//          step along k, in a ring of stages; each thread keeps its part of the tile in
//          registers. Halves go through tensor cores, large f32 as parts of it, and f32 that may be
//          rounded to tf32; the others one fma a step, k in order
//   few    up to 16 rows or columns: the other operand is read once, and that takes the time.
//          dot      lanes along k, shuffles at the end
//          columns  lanes along the other operand's rows or columns, slices of k in parallel
//   rows   as few, but a block first makes its rows of the left operand in shared memory: those
//          of a norm before it (join.c). The weights are on their way meanwhile
//
// Where tiles and few have work for less than half of the multiprocessors, and k is long, several blocks
// share their sums, each with a slice of k: the plan is that of a block, times `slices`.
//
// All numbers to be tuned stand in the tables of product_tiles.c and the enum below.
//
// Where a device has matrix units that read shared memory (tc_device.matrix_warps; Hopper's wgmma), halves go to them:
// operands come as before, into rows of 64 elements that are swizzled as the units want them, and a warp's threads bring
// what is next meanwhile. Where the device also has tensor maps (map.c), and both operands lie in memory as such a map
// can say, of sizes that are known, it brings them by itself (cuda/mapped.cuh). On an H200 that takes 0.90 to 1.0 of the time of
// cuBLAS for squares of 2048 to 8192 and the products of GPT-2, 0.94 for 96 of 1024 x 1024 x 64. Where rows are not aligned to
// 128 bytes, L2 limits: pairs of blocks get the right operand together there (1000 x 3000 x 5000: 50 us, not 67, cuBLAS 48; 3000 x
// 3000 x 3000: 86, not 114, cuBLAS 87). Where they are, that changes nothing, or takes 1.1 of the time (8192 x 768 x 768, 8192 x
// 8192 x 8192). Rows that are no multiples of an access are laid out before (pass/align.c); what is left of those comes element by
// element, and takes 3 to 4 times as long.
//
// Convolutions are products whose right operand is windows of images (kernel/fold.c), with channels last (pass/channels.c). Of
// halves, and of f32 that was rounded to tf32 there, the device brings windows by a map of them (im2col), as it does tiles; else
// threads bring 16 bytes of channels, or zeros beside the image. On an H200, against cuDNN's better layout in one run, with the
// kernels that lay out both operands: 3x3 over 32 x 256 x 28 x 28 0.93, 64 x 56 x 56 0.85, with stride 2 0.67, 64 x 512 x 7 x 7
// 0.87, 1x1 0.86 to 1.5, the first layer of a ResNet 2.9; tf32 64 x 56 x 56 0.81; f32 64 x 56 x 56 1.13, 256 x 28 x 28 0.56, where
// cuDNN has fewer multiplications than there are products. Halves of 64 x 56 x 56 are bound by L2: each place is read for every
// tap, for 64 results.
//
// Large f32 products are split: 3xTF32 with sums rounded outside of the tensor cores. The
// rms error is 0.8e-8 of sum |ab| at k = 4096, where a chain of f32 has 2.8e-8 and the
// usual 3xTF32, summed inside, 69e-8. Rounding the leading part matters: truncated it is
// faster (60 against 57 TFLOP/s), and biased. What is not finite is computed again by a
// chain, which stops at NaN.
//
// f32 as tf32 (allow_tf32) has tiles of its own. Operands are rounded to nearest on their
// way to shared memory, once, not by each warp that fetches them; the tensor cores would
// cut the bits off. Sums stay inside of them: what that loses is less than the rounding.
// Few rows or columns and products that make their rows stay f32: memory or latency is what
// they take. Speeds of these tiles are estimates. Matrix units have such operands as
// cuda/held.cuh brings them; what limits is shared memory, which is busy for 0.84 of the time
// of 4096 x 4096 x 4096: both operands are written to it, and the right one is read for each 64 rows.
//
// f8 that was cast is multiplied as halves, which hold its numbers; where numerics are fast and a map can bring both operands
// along k, by units for it (cuda/mapped.cuh, tc_mapped_sums_f8). Hopper's keep some 14 bits of a sum, so each step of 128 goes
// to registers of f32: half a tile's columns at a time, for which 128 x 256 has registers left.
//
// Slices: sums of threads go to the workspace as they lie in registers and come back so;
// the last block to arrive adds those of 12 in their order, then the last of those groups:
// for 128 slices one block alone would read 2 MB. Then it goes on with the epilogue as if
// it had summed all. Few rows want 4 blocks on each multiprocessor, 8 where lanes are along
// k, for their loads in flight: one row times 8192 x 8192 bf16 takes 48 us, not 101. Sizes
// alone decide, and no other tile is tried by the tuner, so bits are the same from run to
// run. Nothing waits for another block.

// ---- slices of k ----

TC__STATIC_ASSERT(slices_meet_in_two_rounds,
                  TC__SLICE_GROUP *TC__SLICE_GROUP >= TC__PRODUCT_SMS);

// Elements of k in each of about `slices` slices: whole steps of `step`.
static int64_t tc__slice_length(int64_t k, int step, int slices) {
    int64_t steps = (k - 1) / step + 1;
    return ((steps - 1) / slices + 1) * step;
}

// What a block with a slice of k takes until the sums are whole, as elements of k.
static int64_t tc__slices_cost(const tc__group *g, int step, int round, int slices) {
    if (!tc__ix_is_const(tc__depth_of(g)) || tc__ix_value(tc__depth_of(g)) < 1) return 1;
    int64_t cost = tc__slice_length(tc__ix_value(tc__depth_of(g)), step, slices);
    for (int apart = 1; apart < slices; apart *= TC__SLICE_GROUP) cost += round;
    return cost;
}

// Into how many slices k is cut where `blocks` blocks have work, which take `step` of it at a time;
// `want` are as many as the device can use.
static int tc__choose_slices(const tc__group *g, int64_t blocks, int64_t want, int step,
                             int round) {
    int best = 1;
    if (g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE])
        return 1; // only where no other tile cuts
    if (!tc__ix_is_const(tc__depth_of(g)) || blocks < 1 || 2 * blocks > want) return 1;
    int64_t most = tc__ix_value(tc__depth_of(g)) / (step * TC__SLICE_STEPS);
    if (most > TC__PRODUCT_SMS) most = TC__PRODUCT_SMS; // that meet in two rounds
    for (int i = 2; i <= most && i * blocks <= want; i++)
        if (tc__slices_cost(g, step, round, i) < tc__slices_cost(g, step, round, best))
            best = i;
    return best;
}

// Cuts k into about so many slices.
static void tc__cut_depth(const tc__group *g, tc__product *q, int step, int slices) {
    q->slices = slices;
    if (q->slices == 1) return;
    int64_t k = tc__ix_value(tc__depth_of(g));
    q->length = tc__slice_length(k, step, q->slices);
    q->slices = (int)((k - 1) / q->length + 1);
    q->blocks = tc__ix_const(q->shares * q->slices);
}

// Tickets of blocks that share: of the groups of either round, at the first slice of each.
static int64_t tc__slice_tickets(const tc__product *q) { return q->slices + 1; }

// ---- tiles ----

// Whether bringing an operand takes few registers.
static int tc__is_easy(const tc__product *q, const tc__staged *s) {
    int easy = s->bring == TC__BRING_ASYNC || (!q->half && s->bring == TC__BRING_LATER);
    return easy && !s->computed;
}

static int tc__are_easy(const tc__product *q) {
    return tc__is_easy(q, &q->left) && tc__is_easy(q, &q->right);
}

// Blocks that registers have to suffice for: with 8 x 8 sums of a thread, those that a cast and the bounds
// of a rest take are not left for two.
static int tc__tiles_resident(const tc__group *g, const tc__product *q) {
    int casts = g->body.node.at[q->left.id]->op == TC_OP_CAST ||
                g->body.node.at[q->right.id]->op == TC_OP_CAST;
    return tc__are_easy(q) && !(casts && q->tile->way == TC__WAY_SIMT) ? q->tile->resident
                                                                       : 1;
}

// Slices of k for `blocks` tiles. Where bringing needs registers, a large tile has none left to meet.
static int tc__tile_slices(const tc__group *g, const tc__product *q,
                           const tc__product_tile *t, int64_t blocks) {
    if (!tc__are_easy(q) && t->rows * t->cols > 128 * 128) return 1;
    return tc__choose_slices(g, blocks, TC__PRODUCT_SMS, t->depth,
                             tc__product_kinds[q->kind].round);
}

// Bytes behind the ring of tiles, and of the part of the result that its hole reads: of matrix units' tiles each warp
// has one. Those that the device brings have semaphores, and give results from registers, or `lines` columns at a time.
static int tc__tile_spare(int way, int stages, int64_t warps, int64_t lines) {
    if (way >= TC__WAY_MAPPED)
        return TC__PRODUCT_ALIGN + 2 * 8 * stages +
               (int)(warps * TC__MAPPED_HIGH * 4 * lines); // semaphores
    return way == TC__WAY_GROUPS ? TC__PRODUCT_ALIGN : 0;
}

// Stages of the ring that there is memory for beside halves of a tile.
static int tc__relay_stages(const tc__group *g, const tc__product *q,
                            const tc__product_tile *t) {
    int64_t room = g->target.room ? (int64_t)g->target.room : (int64_t)TC__MAPPED_ROOM,
            stage = tc__product_bytes(q) * t->depth * (t->rows + t->cols);
    room -= tc__relay_bytes(t->rows, t->cols, t->high * t->across);
    int stages = t->stages;
    while (stages && stages * stage + tc__tile_spare(t->way, stages, 0, 0) > room) stages--;
    return stages;
}

// Whether other warps can finish results of such a tile.
static int tc__tile_can_relay(const tc__group *g, const tc__product *q,
                              const tc__product_tile *t) {
    return t->way == TC__WAY_MAPPED && q->half &&
           32 * t->high * t->across == TC__RELAY_OF && t->cols % TC__MAP_LINE == 0 &&
           q->width >= TC__MAPPED_WIDTH && tc__relay_stages(g, q, t) >= TC__RELAY_STAGES &&
           q->halves.rounded;
}

// Whether they do, and in time: there are more tiles than blocks, so that somebody multiplies meanwhile, which takes
// longer.
static int tc__tile_relays(const tc__group *g, const tc__product *q,
                           const tc__product_tile *t, int64_t blocks) {
    if (blocks <= TC__PRODUCT_SMS || !tc__tile_can_relay(g, q, t)) return 0;
    return tc__relay_rest(g, &q->halves) * TC__RELAY_PACE <=
           tc__ix_lo(g->body.ix, tc__depth_of(g));
}

// What large products take with this tile, relative: whole waves of blocks, each as long as
// its tile is large.
static double tc__tile_cost(const tc__group *g, const tc__product *q,
                            const tc__product_tile *t) {
    int64_t m = tc__ix_value(q->m), n = tc__ix_value(g->shape.cols),
            blocks = tc__ix_value(g->shape.batch) * ((m - 1) / t->rows + 1) *
                     ((n - 1) / t->cols + 1);
    int round = tc__product_kinds[q->kind].round, slices = tc__tile_slices(g, q, t, blocks);
    int64_t waves = (blocks * slices - 1) / TC__PRODUCT_SMS + 1;
    int ends = tc__tile_relays(g, q, t, blocks) ? (int)TC__RELAY_ENDS : t->ends;
    return (double)(waves * t->rows * t->cols) *
           (double)(tc__slices_cost(g, t->depth, round, slices) + ends) / t->speed;
}

// Halves that are not copied wait in registers, beside the sums.
static int tc__tile_has_registers(const tc__product *q, const tc__product_tile *t) {
    int wait = q->left.bring == TC__BRING_LATER || q->right.bring == TC__BRING_LATER;
    int sums = t->rows * t->cols / (32 * t->high * t->across);
    return !q->half || !wait || sums <= TC__PRODUCT_SUMS;
}

// Whether the text of the result's hole is long.
static int tc__result_is_long(const tc__group *g) {
    uint32_t cost = 0;
    for (size_t i = 0; i < g->body.node.count; i++)
        if (g->body.node.at[i]->level == TC__AT_COL && tc__is_alu(g->body.node.at[i]))
            cost += tc__ops[g->body.node.at[i]->op].cost;
    return cost > TC__MAPPED_LIGHT;
}

static int tc__tile_part(int way, int64_t rows, int64_t high) {
    if (way >= TC__WAY_MAPPED) return 0;
    return (int)(way == TC__WAY_GROUPS ? 16 * high : rows / high);
}

// With semaphores of as many stages as halves of them would be.
static int tc__tile_bytes(const tc__product *q, const tc__product_tile *t, int lines) {
    return t->stages * tc__product_bytes(q) * t->depth * (t->rows + t->cols) +
           tc__tile_spare(t->way, 2 * t->stages, t->high * t->across, lines);
}

// Columns of the result that a warp gives at a time where it does so through memory, of which there may not be enough; 0 = from
// registers.
static int tc__product_lines(const tc__group *g, const tc__product *q,
                             const tc__product_tile *t) {
    int64_t room = g->target.room ? (int64_t)g->target.room : (int64_t)TC__MAPPED_ROOM;
    if (t->way < TC__WAY_MAPPED || (q->width > 1 && !tc__result_is_long(g))) return 0;
    int most = t->way == TC__WAY_HELD ? 1 : 2; // places in memory need registers
    for (int lines = most * TC__MAPPED_LINES; lines; lines -= TC__MAPPED_LINES) {
        int turns = t->cols > lines && t->cols % lines == 0;
        int one = q->width == 1 && lines == TC__MAPPED_LINES; // there is no other way
        if (one || (q->width > 1 && turns && tc__tile_bytes(q, t, lines) <= room))
            return lines;
    }
    return 0;
}

// Whether a block has the memory for such tiles and a thread the registers, and the dtype is theirs.
static int tc__tile_has_room(const tc__group *g, const tc__product *q,
                             const tc__product_tile *t) {
    if (t->way == TC__WAY_SPLIT &&
        (q->dtype != TC_F32 || tc__ix_lo(g->body.ix, tc__depth_of(g)) < TC__SPLIT_DEPTH))
        return 0;
    if (g->target.checked && t->rows * t->cols > 128 * 128)
        return 0; // addresses need registers
    if (q->total && t->way != TC__WAY_MAPPED) return 0;
    if (!tc__tile_has_registers(q, t)) return 0;
    if (t->way == TC__WAY_MAPPED && t->cols % TC__MAP_LINE && q->right.along != TC__DEPTH)
        return 0; // lines come 64 at a time there
    int bytes = tc__tile_bytes(q, t, tc__product_lines(g, q, t));
    return !g->target.room || (uint32_t)bytes <= g->target.room;
}

static const tc__product_tile *tc__choose_product_tile(const tc__group *g,
                                                       const tc__product *q) {
    const tc__product_tile *tile = tc__product_kinds[q->kind].tile, *best = &tile[1];
    int knob =
        g->shape.tuning.knob[TC__KNOB_PRODUCT_TILE]; // sums are in the order of k with all
    if (knob) return &tile[knob - 1];
    if (!tc__tile_has_registers(q, best)) best++;
    if (!tc__ix_is_const(q->m) || !tc__ix_is_const(g->shape.cols) ||
        !tc__ix_is_const(g->shape.batch))
        return best;
    for (int i = 0; i < tc__product_kinds[q->kind].count; i++)
        if (tc__tile_has_room(g, q, &tile[i]) &&
            tc__tile_cost(g, q, &tile[i]) < tc__tile_cost(g, q, best))
            best = &tile[i];
    return best;
}

static tc__ix tc__tiles_high(const tc__group *g, const tc__product *q) {
    return tc__ix_ceil_div(g->body.ix, q->m, tc__ix_const(q->tile->rows));
}

static tc__ix tc__tiles_across(const tc__group *g, const tc__product *q) {
    return tc__ix_ceil_div(g->body.ix, g->shape.cols, tc__ix_const(q->tile->cols));
}

// Elements between lines of a tile of `size` rows or columns in shared memory: of tiles that
// run along k in lines of the other axis; those of halves are swizzled instead.
static int tc__line_pitch(const tc__product *q, int size) {
    if (q->half || q->tile->way >= TC__WAY_MAPPED) return size;
    return size + (q->tile->way == TC__WAY_SIMT ? tc__product_pack(q) : TC__PRODUCT_PAD);
}

// Elements of one stage of an operand.
static int tc__stage_size(const tc__product *q, tc__level level) {
    int size = level == TC__AT_LEFT ? q->tile->rows : q->tile->cols;
    return q->depth * tc__line_pitch(q, size);
}

static int tc__has_async(const tc__product *q) {
    return q->left.bring == TC__BRING_ASYNC || q->right.bring == TC__BRING_ASYNC;
}

static int tc__product_stages(const tc__product *q) {
    if (tc__has_async(q)) return q->tile->stages;
    return q->tile->way == TC__WAY_GROUPS ? 3 : 2;
}

// Whether other warps finish the results of the tile that was chosen, and what that takes.
static void tc__plan_relay(const tc__group *g, tc__product *q) {
    int knob = g->shape.tuning.knob[TC__KNOB_RELAY];
    q->lines = tc__product_lines(g, q, q->tile), q->stages = tc__product_stages(q);
    if (knob ? knob == TC__RELAY_OFF || !tc__tile_can_relay(g, q, q->tile)
             : !tc__tile_relays(g, q, q->tile, q->shares))
        return;
    // Each of those that finish has a part of what each of the others made.
    int parts = q->tile->rows / (16 * q->tile->high), lines = TC__MAP_LINE;
    while (parts * q->tile->cols / lines < TC__RELAY_THREADS / 32) lines /= 2;
    q->relay = TC__RELAY_THREADS, q->lines = lines;
    q->stages = tc__relay_stages(g, q, q->tile);
}

// Bytes of a block: the ring of operands, later the part of the tile that the epilogue reads.
static int tc__tiles_shared(const tc__product *q) {
    int ring = q->stages * tc__product_bytes(q) *
               (tc__stage_size(q, TC__AT_LEFT) + tc__stage_size(q, TC__AT_RIGHT));
    int part = tc__tile_part(q->tile->way, q->tile->rows, q->tile->high) *
               (q->tile->cols + TC__PRODUCT_PAD) *
               (TC__PRODUCT_GROUP / tc__product_pack(q));
    if (q->relay)
        return ring + tc__tile_spare(q->tile->way, q->stages, 0, 0) +
               tc__relay_bytes(q->tile->rows, q->tile->cols, q->threads / 32);
    return (ring > part ? ring : part) +
           tc__tile_spare(q->tile->way, q->stages, q->threads / 32, q->lines);
}

// Accesses of a thread that bring one stage.
static int tc__stage_accesses(const tc__product *q, const tc__staged *s) {
    int size = s->level == TC__AT_LEFT ? q->tile->rows : q->tile->cols;
    return size * q->depth / s->width / q->threads;
}

// Narrower accesses where a stage has fewer of them than there are threads.
static void tc__fit_stage(const tc__product *q, tc__staged *s) {
    while (s->width > 1 && !tc__stage_accesses(q, s)) s->width /= 2;
    if (s->width == 1) s->bring = TC__BRING_NOW;
}

// Threads of a block: where the device brings operands, one of four warps beside the others orders it.
static int tc__product_threads(const tc__product *q) {
    int mapped = q->form == TC__PRODUCT_TILES && q->tile && q->tile->way >= TC__WAY_MAPPED;
    return q->threads + (mapped ? TC__MAP_BRINGERS : 0);
}

// Blocks that get the right operand together: pairs, where rows of an operand begin inside of lines, so that L2 is asked for
// more of them than there are.
static int tc__tiles_cluster(const tc__group *g, const tc__product *q) {
    if (q->tile->way != TC__WAY_MAPPED || g->target.cluster < 2 || q->total) return 1;
    if (g->shape.windows.channels || tc__ix_value(tc__tiles_high(g, q)) % 2) return 1;
    return tc__operand_is_skew(g, q, &q->left) || tc__operand_is_skew(g, q, &q->right) ? 2
                                                                                       : 1;
}

static void tc__plan_tiles(const tc__group *g, tc__product *q) {
    tc__ixpool *x = g->body.ix;
    q->form = TC__PRODUCT_TILES;
    q->tile = tc__choose_product_tile(g, q);
    q->depth = q->tile->depth;
    q->threads = 32 * q->tile->high * q->tile->across;
    tc__fit_stage(q, &q->left);
    tc__fit_stage(q, &q->right);
    q->resident = tc__tiles_resident(g, q);
    q->blocks = tc__ix_mul(x, g->shape.batch,
                           tc__ix_mul(x, tc__tiles_high(g, q), tc__tiles_across(g, q)));
    q->shares = tc__ix_is_const(q->blocks) ? tc__ix_value(q->blocks) : 0;
    tc__plan_relay(g, q);
    if (q->tile->way == TC__WAY_MAPPED && tc__windows_are_half(&g->shape.windows, q->dtype))
        q->depth /= 2, q->stages *= 2;
    q->shared = tc__ix_const(tc__tiles_shared(q));
    q->sums = q->tile->rows * q->tile->cols / q->threads;
    q->cluster = tc__tiles_cluster(g, q);
    tc__cut_depth(g, q, q->tile->depth, tc__tile_slices(g, q, q->tile, q->shares));
}

// ---- few rows or columns ----

// Which axis is wide when the other has few: 0 = neither has.
static int tc__choose_wide(const tc__group *g, tc__product *q) {
    int64_t most = tc__product_kinds[q->kind].few;
    int64_t m = tc__ix_is_const(q->m) ? tc__ix_value(q->m) : INT64_MAX,
            n = tc__ix_is_const(g->shape.cols) ? tc__ix_value(g->shape.cols) : INT64_MAX;
    if (m > most && n > most) return 0;
    q->wide = m <= n ? TC__COL : TC__ROW;
    q->few = (int)(m <= n ? m : n);
    return 1;
}

static const tc__staged *tc__wide_operand(const tc__product *q) {
    return q->wide == TC__COL ? &q->right : &q->left;
}

static tc__ix tc__wide_extent(const tc__group *g, const tc__product *q) {
    return q->wide == TC__COL ? g->shape.cols : q->m;
}

// One row times not so many long columns: as many threads along k as leave `want` blocks, which read four columns side by
// side, so that memory is asked for pages at a time. On an H200 one row times 4096 x 4096 bf16 takes 10.3 us so, 14.8 with
// a warp for each column and slices of k, and times 11008 x 4096 21.8, not 26.7. Of more columns warps of their own are as
// good, or better.
static void tc__share_deep(tc__product *q, int64_t accesses, int64_t sums, int64_t want) {
    q->each = TC__FEW_EACH, q->sharing = 32;
    while (q->sharing < q->threads && 4 * q->sharing <= accesses &&
           2 * q->sharing * sums <= want * q->each * q->threads)
        q->sharing *= 2;
    while (q->each > 1 && 2 * q->sharing * sums <= want * q->each * q->threads)
        q->each /= 2;
}

// Threads along k of one sum: not more than have work, a block where sums are few and long.
static void tc__share_dot(const tc__group *g, tc__product *q) {
    int64_t accesses = tc__ix_hi(g->body.ix, tc__depth_of(g)) / tc__wide_operand(q)->width;
    tc__ix all = tc__ix_mul(g->body.ix, g->shape.batch, tc__wide_extent(g, q));
    int64_t sums = tc__ix_hi(g->body.ix, all), busy = TC__PRODUCT_SMS * TC__FEW_BUSY;
    int rows = q->form == TC__PRODUCT_ROWS;
    int one = rows ? q->wide == TC__COL && tc__ix_equals(q->m, 1) : q->few == 1;
    int deep = one && tc__ix_is_const(all) && tc__ix_is_const(tc__depth_of(g)) &&
               accesses >= TC__FEW_DEEP && sums < 4 * busy;
    q->each = sums >= 4 * busy ? 2 : 1;
    q->sharing = 32;
    if (accesses <= 16) q->sharing = accesses <= 8 ? 8 : 16;
    if (sums <= busy / 2 && accesses >= TC__FEW_LONG) q->sharing = q->threads;
    if (deep) tc__share_deep(q, accesses, sums, rows ? TC__FEW_DOTS / 2 : TC__FEW_DOTS);
    q->parts = q->sharing > 32 ? q->sharing / 32 : 1;
    q->cover = q->threads / q->sharing * q->each;
}

// Lanes along the columns of a row of 128 bytes, fewer where rows that are made first are few: of those of a step of decoding
// there is one for each head.
static void tc__share_columns(const tc__group *g, tc__product *q) {
    tc__staged *wide = q->wide == TC__COL ? &q->right : &q->left;
    while (q->form == TC__PRODUCT_FEW && wide->width * q->few > TC__FEW_SUMS)
        wide->width /= 2;
    int width = wide->width;
    int lanes = width > 1 ? TC__FEW_LINE / TC__PRODUCT_GROUP : 32;
    tc__ix all = tc__ix_mul(g->body.ix, tc__ix_mul(g->body.ix, g->shape.batch, q->m),
                            tc__wide_extent(g, q));
    int64_t sums = tc__ix_hi(g->body.ix, all);
    while (q->form == TC__PRODUCT_ROWS && q->wide == TC__COL && lanes > TC__FEW_LANES &&
           lanes <= 8 && sums <= (int64_t)lanes * width * TC__PRODUCT_SMS)
        lanes /= 2;
    q->cover = lanes * width;
    q->sharing = q->threads / lanes, q->parts = q->threads / 32;
}

// Where the blocks that keep memory busy are not as many for each multiprocessor, some wait for the others: more of them, with
// shorter slices, are nearly as many. One row of halves times 8192 x 28672 takes 123 us of an H200 so, not 167, 4096 x 14336 37,
// not 48, of other columns 0.92 to 0.95 of the time; four rows, or f32, more than before.
static int tc__few_slices(const tc__group *g, const tc__product *q, int step) {
    int want = q->dot ? TC__FEW_DOTS : TC__FEW_BLOCKS,
        slices = tc__choose_slices(g, q->shares, want, step, TC__FEW_ROUND);
    int even = slices * q->shares * TC__FEW_EVEN >= (int64_t)want * (TC__FEW_EVEN - 1);
    if (even || q->dot || q->few > 1 || !q->half || tc__wide_operand(q)->computed)
        return slices;
    return tc__choose_slices(g, q->shares, TC__FEW_SHORT, step, TC__FEW_ROUND);
}

static void tc__plan_few(const tc__group *g, tc__product *q) {
    tc__ixpool *x = g->body.ix;
    q->form = TC__PRODUCT_FEW;
    q->threads = TC__FEW_THREADS;
    q->dot = tc__wide_operand(q)->along == TC__DEPTH;
    if (q->dot)
        tc__share_dot(g, q);
    else
        tc__share_columns(g, q);
    int bytes = TC__PRODUCT_GROUP / tc__product_pack(q);
    q->shared = tc__ix_const(q->parts * q->few * q->cover * bytes);
    q->blocks =
        tc__ix_mul(x, g->shape.batch,
                   tc__ix_ceil_div(x, tc__wide_extent(g, q), tc__ix_const(q->cover)));
    int width = tc__wide_operand(q)->width;
    q->sums = q->few * (q->dot ? q->each : width);
    q->shares = tc__ix_is_const(q->blocks) ? tc__ix_value(q->blocks) : 0;
    int step = q->sharing * (q->dot ? width : 1);
    tc__cut_depth(g, q, step, tc__few_slices(g, q, step));
}

// ---- rows that are made first ----

static const tc__kbuf *tc__left_rows(const tc__group *g) {
    size_t i = 0;
    while (g->buffer.at[i].place != TC__BUF_MADE) i++;
    return &g->buffer.at[i];
}

// Blocks of rows, and of columns, in a batch.
static tc__ix tc__rows_high(const tc__group *g, const tc__product *q) {
    return tc__ix_ceil_div(g->body.ix, q->m, tc__ix_const(q->made));
}

static tc__ix tc__rows_across(const tc__group *g, const tc__product *q) {
    if (q->wide == TC__ROW) return tc__ix_const(1);
    return tc__ix_ceil_div(g->body.ix, g->shape.cols, tc__ix_const(q->cover));
}

static tc__ix tc__rows_blocks(const tc__group *g, const tc__product *q) {
    tc__ixpool *x = g->body.ix;
    return tc__ix_mul(x, g->shape.batch,
                      tc__ix_mul(x, tc__rows_high(g, q), tc__rows_across(g, q)));
}

// As many rows for a block as give each multiprocessor one block, if there are so many.
static void tc__choose_made(const tc__group *g, tc__product *q) {
    int64_t m = tc__ix_hi(g->body.ix, q->m), most = TC__FEW_MOST;
    if (m < most) most = m;
    q->made = 1;
    while (q->made < most && tc__ix_hi(g->body.ix, tc__rows_blocks(g, q)) > TC__PRODUCT_SMS)
        q->made = q->made * 2 < most ? q->made * 2 : (int)most;
    q->few = q->made;
}

// Registers for all that a thread has of the wide operand: halves stay the words that they were loaded as until rows are made. A
// LLaMA-shaped step takes 943 us of an H200 so, 960 where 32 registers were the most.
static int64_t tc__held_registers(const tc__group *g, const tc__product *q) {
    const tc__node *n = g->body.node.at[tc__wide_operand(q)->id];
    int words = n->op == TC_OP_LOAD && tc__is_half(n->dtype) ? 2 : 1;
    return (int64_t)q->steps * (q->dot ? q->each : 1) * tc__wide_operand(q)->width / words;
}

// Depth is a constant: tc__device_makes_rows.
static void tc__plan_made(const tc__group *g, tc__product *q) {
    int64_t k = tc__ix_value(tc__depth_of(g)),
            bytes = TC__PRODUCT_GROUP / tc__product_pack(q);
    int few = tc__choose_wide(g, q) && q->wide == TC__ROW;
    q->form = TC__PRODUCT_ROWS, q->wide = few ? TC__ROW : TC__COL;
    q->threads = TC__FEW_THREADS;
    q->dot = tc__wide_operand(q)->along == TC__DEPTH;
    if (q->dot)
        tc__share_dot(g, q);
    else
        tc__share_columns(g, q);
    if (few)
        q->made = q->cover;
    else
        tc__choose_made(g, q);
    int64_t stride = (int64_t)q->sharing * (q->dot ? tc__wide_operand(q)->width : 1);
    q->steps = (int)((k - 1) / stride + 1);
    q->ahead = !few && tc__held_registers(g, q) <= TC__ROWS_AHEAD;
    q->row = tc__padded(k * tc__dtypes[tc__left_rows(g)->dtype].bytes, TC__PRODUCT_GROUP);
    q->shared = tc__ix_const(q->made * q->row + q->parts * q->few * q->cover * bytes);
    q->blocks = tc__rows_blocks(g, q);
}

// With `total`, the sums of the left operand's rows as well.
static tc__product tc__product_plan_with(const tc__group *g, int total) {
    tc__product q;
    memset(&q, 0, sizeof q);
    q.total = total;
    q.dtype = g->body.node.at[tc__left_of(g)]->dtype;
    if (q.dtype == TC_F32 && tc__product_is_of_f8(g)) q.dtype = TC_F16;
    q.half = tc__is_half(q.dtype);
    q.kind = q.half && g->target.matrix_warps      ? 4
             : q.half                              ? 2
             : tc__product_bytes(&q) == 8          ? 1
             : g->target.tf32 && q.dtype == TC_F32 ? 3
                                                   : 0;
    q.slices = q.cluster = 1;
    q.m = tc__ix_div(g->body.ix, g->shape.rows, g->shape.batch);
    int few = !g->shape.prologue && tc__choose_wide(g, &q), most = few ? TC__FEW_WIDTH : 8;
    q.room = !few && !g->shape.prologue;
    q.left = tc__stage_operand(g, &q, TC__AT_LEFT, most);
    q.right = tc__stage_operand(g, &q, TC__AT_RIGHT, most);
    if (g->shape.prologue)
        tc__plan_made(g, &q);
    else if (few)
        tc__plan_few(g, &q);
    else {
        if (tc__product_takes_f8(g, &q)) {
            q.kind = 8;
        } else if (tc__product_is_mapped(g, &q)) {
            q.kind = q.half ? 5 : 6;
            q.left.bring = q.right.bring = TC__BRING_ASYNC;
            if (!total) q.halves = tc__relay_of(g); // the same threads
            if (!q.half) q.right.along = TC__DEPTH, q.right.width = 4;
        } else if (tc__product_is_held(g, &q)) {
            q.kind = 7, q.left.bring = TC__BRING_ASYNC;
        }
        q.width = tc__result_width(g);
        tc__plan_tiles(g, &q);
    }
    return q;
}

static tc__product tc__product_plan(const tc__group *g) {
    return tc__product_plan_with(g, tc__total_of(g) != NULL);
}

// Whether product g has threads that sum its left operand (cuda/mapped.cuh), and is as good as without: takes_down of
// tc__dialect.
static int tc__product_takes_total(const tc__group *g) {
    tc__product q = tc__product_plan_with(g, 1), plain = tc__product_plan_with(g, 0);
    return q.form == TC__PRODUCT_TILES && q.tile->way == TC__WAY_MAPPED && q.half &&
           q.left.along == TC__ROW && q.slices == 1 && !g->shape.windows.channels &&
           plain.tile == q.tile && plain.slices == 1 && plain.cluster == 1 && !plain.relay;
}

// Whether value v of TC__KNOB_RELAY is not what an untuned group has, and can be.
static int tc__product_relay_fits(const tc__group *g, int v) {
    tc__product q = tc__product_plan(g);
    if (q.form != TC__PRODUCT_TILES || q.slices > 1) return 0;
    if (!tc__relay_is_exact(g, &q.halves)) return 0; // a bit would depend on it
    return v == TC__RELAY_OFF ? q.relay != 0
                              : !q.relay && tc__tile_can_relay(g, &q, q.tile);
}

// Whether value v of TC__KNOB_PRODUCT_TILE is a tile, and not the one that an untuned group has.
static int tc__product_tile_fits(const tc__group *g, int v) {
    tc__product q = tc__product_plan(g);
    if (q.form != TC__PRODUCT_TILES || v > tc__product_kinds[q.kind].count) return 0;
    if (q.slices > 1) return 0; // other tiles have other slices, which changes bits
    const tc__product_tile *tile = &tc__product_kinds[q.kind].tile[v - 1];
    if (tile == q.tile || tile->way != q.tile->way || !tc__tile_has_room(g, &q, tile))
        return 0;
    tc__group other = *g;
    other.shape.tuning.knob[TC__KNOB_PRODUCT_TILE] = (uint8_t)v;
    // Of another tile the halves may be nobody's, which changes bits unless they are those of the result.
    return tc__relay_is_exact(g, &q.halves) || tc__product_plan(&other).relay == q.relay;
}
