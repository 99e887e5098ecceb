// Tiles of products, by what multiplies: how a block and its warps share one, and how fast that is, relative to the others
// of its table. product.c chooses; what is not in a table, it has no form for.

enum { TC__FEW_MOST = 16 }; // rows or columns that have no tile

typedef struct tc__product_tile {
    uint16_t rows, cols, depth; // of a block
    uint8_t high, across;       // its warps, along rows and columns
    uint8_t stages;
    uint8_t resident; // blocks of a multiprocessor that registers must suffice for
    uint8_t speed;    // on large products, relative
    uint8_t way;      // tc__tile_way
    uint16_t ends;    // what begin and end of a tile take, as long as so many elements of k
} tc__product_tile;

// Largest first; the second is for sizes that are known at run time only.
static const tc__product_tile tc__product_tiles_4[] = {
    {128, 128, 8, 4, 2, 2, 2, 100, TC__WAY_SIMT, 0}, // f32, i32: 8 x 8 sums of a thread
    {64, 64, 16, 2, 2, 2, 4, 80, TC__WAY_SIMT, 0},
    {32, 32, 32, 2, 1, 2, 4, 55, TC__WAY_SIMT, 0},
    {128, 128, 16, 2, 4, 2, 1, 120, TC__WAY_SPLIT, 0}, // 64 x 32 of a warp
    {64, 256, 16, 1, 8, 2, 1, 110, TC__WAY_SPLIT, 0},  // the same, of few rows
};
static const tc__product_tile tc__product_tiles_8[] = {
    {64, 64, 16, 2, 2, 2, 2, 100, TC__WAY_SIMT, 0}, // f64, i64: 8 x 4
    {32, 32, 16, 2, 2, 2, 4, 70, TC__WAY_SIMT, 0},
};
static const tc__product_tile tc__product_tiles_half[] = {
    {128, 256, 64, 2, 4, 4, 1, 110, TC__WAY_MMA, 0}, // 64 x 64 of a warp
    {128, 128, 32, 2, 2, 4, 2, 90, TC__WAY_MMA, 0},
    {128, 128, 32, 2, 4, 4, 1, 85, TC__WAY_MMA, 0},  // 64 x 32, for computed operands
    {128, 256, 32, 2, 4, 4, 1, 100, TC__WAY_MMA, 0}, // where a block has less memory
    {64, 128, 32, 2, 2, 4, 2, 75, TC__WAY_MMA, 0},
    {64, 64, 32, 2, 2, 4, 3, 60, TC__WAY_MMA, 0},
};
// Where the device has matrix units that read shared memory. A warp has 16 of 64 rows, and all columns. Speeds and ends
// are fitted to 25 products on an H200, each with every tile: what they choose is within 4 % of the best tile (geometric
// mean). A step takes 0.67 us with the first tile, its ends 5 us. With 3 stages it is 1.4 times as slow, with 4 stages of
// 128 x 128 as fast as with 3 and two blocks side by side.
static const tc__product_tile tc__product_tiles_groups[] = {
    {128, 256, 64, 8, 1, 4, 1, 100, TC__WAY_GROUPS, 480},
    {128, 128, 64, 8, 1, 4, 1, 82, TC__WAY_GROUPS, 210},
    {256, 192, 64, 8, 1, 4, 1, 106, TC__WAY_GROUPS, 490},
    {256, 128, 64, 8, 1, 4, 1, 99, TC__WAY_GROUPS, 450},
    {128, 192, 64, 8, 1, 5, 1, 91, TC__WAY_GROUPS, 400},
    {128, 128, 64, 8, 1, 3, 2, 56, TC__WAY_GROUPS, 60},
    {128, 64, 64, 8, 1, 4, 2, 51, TC__WAY_GROUPS, 350},
    {64, 128, 64, 4, 1, 4, 2, 62, TC__WAY_GROUPS, 210},
    {64, 64, 64, 4, 1, 4, 3, 45, TC__WAY_GROUPS, 180},
};
// Where the device brings operands by itself: 64 rows of four warps, or 128. Speeds and ends are fitted to 17 products on an
// H200.
static const tc__product_tile tc__product_tiles_mapped[] = {
    {128, 256, 64, 8, 1, 4, 1, 100, TC__WAY_MAPPED, 130},
    {128, 128, 64, 8, 1, 6, 1, 92, TC__WAY_MAPPED, 120},
    {128, 192, 64, 8, 1, 5, 1, 97, TC__WAY_MAPPED, 120},
    {256, 128, 64, 8, 1, 4, 1, 98, TC__WAY_MAPPED, 134},
    {128, 64, 64, 8, 1, 8, 1, 60, TC__WAY_MAPPED, 120},
    {64, 256, 64, 4, 1, 5, 1, 70, TC__WAY_MAPPED, 120},
    {256, 192, 64, 8, 1, 4, 1, 99, TC__WAY_MAPPED, 130},
    {64, 128, 64, 4, 1, 4, 2, 65, TC__WAY_MAPPED, 120},
    {64, 64, 64, 4, 1, 6, 2, 45, TC__WAY_MAPPED, 120},
    {128, 96, 64, 8, 1, 7, 1, 80, TC__WAY_MAPPED,
     120}, // where the right operand runs along k
};
// The same for f32 that was rounded to tf32. Speeds are those of halves.
static const tc__product_tile tc__product_tiles_mapped_tf32[] = {
    {128, 256, 32, 8, 1, 4, 1, 100, TC__WAY_MAPPED, 65},
    {128, 128, 32, 8, 1, 6, 1, 92, TC__WAY_MAPPED, 60},
    {128, 192, 32, 8, 1, 5, 1, 97, TC__WAY_MAPPED, 60},
    {256, 128, 32, 8, 1, 4, 1, 98, TC__WAY_MAPPED, 67},
    {128, 64, 32, 8, 1, 8, 1, 60, TC__WAY_MAPPED, 60},
    {64, 256, 32, 4, 1, 5, 1, 70, TC__WAY_MAPPED, 60},
    {256, 192, 32, 8, 1, 4, 1, 99, TC__WAY_MAPPED, 65},
    {64, 128, 32, 4, 1, 4, 2, 65, TC__WAY_MAPPED, 60},
    {64, 64, 32, 4, 1, 6, 2, 45, TC__WAY_MAPPED, 60},
    {128, 96, 32, 8, 1, 7, 1, 80, TC__WAY_MAPPED, 60},
};
// The same for f8, whose sums are added to others: beside them there are registers for 128 x 256. Speeds and ends are those of
// halves, of twice as many elements: of f8 the tiles chosen so were measured, not each.
static const tc__product_tile tc__product_tiles_mapped_f8[] = {
    {128, 256, 128, 8, 1, 4, 1, 100, TC__WAY_MAPPED, 260},
    {128, 128, 128, 8, 1, 6, 1, 92, TC__WAY_MAPPED, 240},
    {128, 192, 128, 8, 1, 5, 1, 97, TC__WAY_MAPPED, 240},
    {256, 128, 128, 8, 1, 4, 1, 98, TC__WAY_MAPPED, 268},
    {128, 64, 128, 8, 1, 8, 1, 60, TC__WAY_MAPPED, 240},
    {64, 256, 128, 4, 1, 5, 1, 70, TC__WAY_MAPPED, 240},
    {64, 128, 128, 4, 1, 4, 2, 65, TC__WAY_MAPPED, 240},
    {64, 64, 128, 4, 1, 6, 2, 45, TC__WAY_MAPPED, 240},
    {128, 96, 128, 8, 1, 7, 1, 80, TC__WAY_MAPPED, 240},
};
// Of f32 as tf32 that units get rounded on its way: tiles whose right operand is small. Speeds are of 4096 x 4096 x 4096 on an
// H200, the last as it is where a multiprocessor has one such block.
static const tc__product_tile tc__product_tiles_held[] = {
    {256, 128, 32, 8, 1, 4, 1, 100, TC__WAY_HELD, 65},
    {128, 128, 32, 8, 1, 6, 1, 71, TC__WAY_HELD, 60},
    {256, 64, 32, 8, 1, 5, 1, 65, TC__WAY_HELD, 60},
    {128, 64, 32, 8, 1, 8, 1, 50, TC__WAY_HELD, 60},
    {64, 64, 32, 4, 1, 6, 2, 28, TC__WAY_HELD, 60},
};
// Speeds are estimates, in the proportions of halves.
static const tc__product_tile tc__product_tiles_tf32[] = {
    {128, 256, 16, 2, 4, 2, 1, 110, TC__WAY_TF32, 0}, // 64 x 64 of a warp
    {64, 64, 16, 2, 2, 2, 3, 60, TC__WAY_TF32, 0},
    {128, 128, 16, 2, 4, 2, 1, 90, TC__WAY_TF32, 0},
    {32, 32, 16, 2, 1, 2, 4, 35, TC__WAY_TF32, 0},
    {64, 256, 16, 1, 8, 2, 1, 90, TC__WAY_TF32, 0}, // 64 x 32
};

static const struct {
    const tc__product_tile *tile;
    uint8_t count;
    uint8_t few;    // most rows or columns without a tile
    uint16_t round; // what a round of adding slices takes: as long as so many elements of k
} tc__product_kinds[] = {
    {tc__product_tiles_4, (uint8_t)TC__COUNT(tc__product_tiles_4), TC__FEW_MOST, 128},
    {tc__product_tiles_8, (uint8_t)TC__COUNT(tc__product_tiles_8), 8, 128},
    {tc__product_tiles_half, (uint8_t)TC__COUNT(tc__product_tiles_half), 4, 512},
    {tc__product_tiles_tf32, (uint8_t)TC__COUNT(tc__product_tiles_tf32), TC__FEW_MOST, 256},
    {tc__product_tiles_groups, (uint8_t)TC__COUNT(tc__product_tiles_groups), 4, 512},
    {tc__product_tiles_mapped, (uint8_t)TC__COUNT(tc__product_tiles_mapped), 4, 512},
    {tc__product_tiles_mapped_tf32, (uint8_t)TC__COUNT(tc__product_tiles_mapped_tf32),
     TC__FEW_MOST, 256},
    {tc__product_tiles_held, (uint8_t)TC__COUNT(tc__product_tiles_held), TC__FEW_MOST, 256},
    {tc__product_tiles_mapped_f8, (uint8_t)TC__COUNT(tc__product_tiles_mapped_f8), 4, 1024},
};
