// How rows map to threads of a device: numbers that form.c chooses from the host's list alone, for rows.c and columns.c.
//
//   rows     threads that share a row walk its columns; sums by shuffles, then shared memory. The row
//            is read once: into registers, or into shared memory where it is long. What fits
//            into neither is read in every phase
//   columns  the vector runs along the rows: a thread has V rows, the threads below it in the block
//            share the columns
//
// A row that is too long for that is shared by the blocks of a cluster, where the device has them: each
// has a part of it in its memory, and writes what it has summed into that of the others.
//
// Few rows of many columns are cut into parts, one for each block. What the parts have is summed in
// their order, by the block that arrives last if nothing but rows is left to do, else by every
// block of a launch of its own.
//
// V is the number of elements in one 16-byte access of the narrowest dtype.

typedef enum tc__device_form { TC__DEVICE_ROWS, TC__DEVICE_COLUMNS } tc__device_form;

// Where the elements of a row are that several phases need.
typedef enum tc__device_hold {
    TC__DEVICE_AGAIN,     // read, or computed, again
    TC__DEVICE_REGISTERS, // of the thread whose columns they are
    TC__DEVICE_SHARED     // memory of the block
} tc__device_hold;

// What was chosen for a card with 132 multiprocessors and 4.8 TB/s (research: about 40 KB of loads
// in flight for each multiprocessor). Nothing else depends on the card.
enum {
    TC__DEVICE_BLOCK = 256, // of a block where nothing else decides
    TC__DEVICE_MOST = 1024, // of any block
    TC__DEVICE_FLIGHT = 64, // bytes of each input that a thread loads before it uses one,
    TC__DEVICE_COLUMN_FLIGHT =
        128, //   and of columns: sums of 65536 x 1024 take 65 us, with 64 they take 85
    TC__DEVICE_SHORT =
        2, // accesses of a thread to a row that fewer than a warp share: softmax of 64
           //   columns takes 129 us, with one access 161
    TC__DEVICE_VECTORS = 8,      // U at most,
    TC__DEVICE_PRIVATE = 256,    // elements of a row that one thread may keep
    TC__DEVICE_EARLY = 48,       // registers for what is loaded early
    TC__DEVICE_EARLY_LANES = 16, // of them for loads of single elements
    TC__DEVICE_TEXT = 4096, // cost of all elements of a thread, for the compiler's sake
    TC__DEVICE_WARP_BLOCK = 128,    // threads of a block of rows that a warp or less shares
    TC__DEVICE_WARP_ELEMENTS = 32,  // of a row, for a thread of such a warp
    TC__DEVICE_BLOCK_ELEMENTS = 16, // of a row, for a thread of a block that shares it
    TC__DEVICE_ROW_THREADS = 512,   // of a row in registers
    TC__DEVICE_LONG_THREADS =
        1024, // of a row in shared memory, from LONG_BYTES on; below, half
    TC__DEVICE_LONG_BYTES = 65536, //
    TC__DEVICE_WARP_HELD = 64,     // registers for the elements of a row that a warp shares
    TC__DEVICE_BLOCK_HELD = 40,    // and where a block does
    TC__DEVICE_ROW_BYTES = 204800, // of shared memory for a row
    TC__DEVICE_CLUSTER_BYTES =
        102400,                //   and of a block of a cluster, if there are enough blocks:
                               //   a multiprocessor has room for two
    TC__DEVICE_STATIC = 40960, // of shared memory that is declared in the text
    TC__DEVICE_FEW = 264,      // blocks; a launch of fewer is cut into parts
    TC__DEVICE_PARTS = 528,    // blocks that it is cut into
    TC__DEVICE_MEETING = 3,    // numbers of the ticket of a MEET
    TC__DEVICE_WORDS = 65536,  // registers of a multiprocessor,
    TC__DEVICE_COLUMN_WORDS =
        20, //   and of a thread that sums columns, beside what is early,
    TC__DEVICE_COLUMNS_LONG = 1024, //   in large blocks where there are so many
    TC__DEVICE_PART = 2048,         // columns of a part at least
    TC__DEVICE_WHOLE = 8192, // of a row that is not cut: a block asks for all of it at once
    TC__DEVICE_PHASED = 4096,         // and where each phase is a launch
    TC__DEVICE_PHASED_COST = 1 << 20, // of a row, from which on that is worth the launches
    TC__DEVICE_DEAR =
        64, // cost of a value that is kept in memory between launches, and from which
    TC__DEVICE_CHEAP =
        4, // cost of one that is computed again though there are registers for it
    TC__DEVICE_DEAR_PARTS = 2112, //   columns are cut into so many blocks
    TC__DEVICE_DEAR_PART = 1024   //   of so many columns at least
};

// How rows are shared out; the list is made of it (rows.c, columns.c).
typedef struct tc__device_plan {
    tc__device_form form;
    tc__axis axis;      // the vector runs along it
    int threads, width; // width: V
    int vectors;        // U; ROWS in registers: accesses of a thread that make its row
    int narrow;         // indices are int
    int lanes_early;    // loads of single elements are issued early, too,
    int led;            //   and those that values of the row lead to
    int tail;           // columns are not a multiple of V
    int sharing;        // ROWS: threads that share a row; COLUMNS: threads side by side
    tc__device_hold hold;
    int late; // what all rows read is loaded where it is used: registers have the row itself
    int parts;    // of a row, or of the columns of a block
    int cluster;  // blocks that have the parts of a row in their memory, 0 = one has it all
    int launches; // 1, or one for each phase of columns
    int kept;     // rows are in the workspace between launches
    tc__ix chunk; // columns of a part
} tc__device_plan;
