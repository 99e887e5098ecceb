// Copies that turn their data: rows of the result lie side by side in what is read, as where a matrix is copied
// transposed. One step does the whole list: strips of rows that share lines of memory, square by square. A square is read along
// its lines into memory that the first cache holds, and written from there along its rows. Row by row, a line would be
// read once for each row, from far away: 1024 x 1024 floats took five times as long.

enum {
    TC__STRIP_BYTES =
        256, // of a strip's rows side by side, in what is read: lines that are fetched together
    TC__STRIP_COLS = 64 // columns of a square
};

typedef struct tc__strip {
    int64_t first, every, rows; // rows first, first + every, ...
    int64_t bytes;              // of an element
    int64_t from_step;          // bytes from column to column in what is read,
    int64_t to_step;            //   from row to row in the result
    uint8_t *square;            // TC__STRIP_BYTES for each of TC__STRIP_COLS
} tc__strip;

#if TC__GNUC
#    define TC__PREFETCH(p) __builtin_prefetch(p)
#else
#    define TC__PREFETCH(p) ((void)(p))
#endif

// Row i of column j is at s + j * step + i; it goes to t[i][j], rows of t are `pitch` apart. The next strip's lines lie behind
// these: they are fetched ahead, as columns are too far from each other for the CPU to see it.
#define TC__STRIP_TURN(T)                                                                  \
    for (int64_t j = 0; j < n; j++, s += b->from_step) {                                   \
        for (int64_t l = 0; l < wide; l += 64) TC__PREFETCH(s + wide + l);                 \
        for (int64_t i = 0; i < b->rows; i++) ((T *)t)[i * pitch + j] = ((const T *)s)[i]; \
    }
static void tc__strip_turn(const tc__strip *b, void *t, int64_t pitch, const char *s,
                           int64_t n) {
    const int64_t wide = b->rows * b->bytes;
    if (b->bytes == 1) TC__STRIP_TURN(uint8_t)
    if (b->bytes == 2) TC__STRIP_TURN(uint16_t)
    if (b->bytes == 4) TC__STRIP_TURN(uint32_t)
    if (b->bytes == 8) TC__STRIP_TURN(uint64_t)
}
#undef TC__STRIP_TURN

// n columns of all rows of a strip.
static void tc__strip_square(const tc__strip *b, char *to, const char *s, int64_t n) {
    if (b->to_step <= TC__STRIP_COLS * b->bytes) { // rows of the result that are as near
        tc__strip_turn(b, to, b->to_step / b->bytes, s, n);
        return;
    }
    tc__strip_turn(b, b->square, TC__STRIP_COLS, s, n);
    for (int64_t i = 0; i < b->rows; i++)
        memcpy(to + i * b->to_step, b->square + i * TC__STRIP_COLS * b->bytes,
               (size_t)(n * b->bytes));
}

static char *tc__strip_at(tc__frame *f, const tc__path *p, const tc__strip *b,
                          int64_t col) {
    f->var[TC__ROW] = b->first, f->var[TC__COL] = col;
    return (char *)f->base[p->buffer] + tc__expr_at(f, &p->index.at, 0) * b->bytes;
}

// The columns of c of one strip.
static void tc__strip_run(tc__frame *f, const tc__strip *b, const tc__path *from,
                          const tc__path *to, const tc__cursor *c) {
    const char *s = tc__strip_at(f, from, b, c->at);
    char *d = tc__strip_at(f, to, b, c->at);
    for (int64_t n, at = c->at; at < c->end; at += n) {
        n = tc__lesser(c->end - at, TC__STRIP_COLS);
        tc__strip_square(b, d, s, n);
        s += n * b->from_step, d += n * b->bytes;
    }
}

// Rows up to the next multiple of `every` begin strips; a range that begins between two has strips of one row there.
static void tc__step_turn(tc__frame *f, const tc__insn *i) {
    const tc__loop *rows = &f->p->loop.at[i->item], *cols = rows + 1;
    const tc__path *from = &f->p->path.at[i->in[0]], *to = &f->p->path.at[i->in[1]];
    tc__cursor r, c;
    tc__strip b;
    tc__loop_range(f, rows, &r), tc__loop_range(f, cols, &c);
    f->pc = rows->after;
    b.every = f->p->turn_every, b.bytes = tc__dtype(i->dtype)->bytes;
    b.square = f->scratch + f->p->square_at;
    b.from_step = tc__expr_at(f, &from->index.stride, 0) * b.bytes;
    b.to_step = f->p->turn_to * b.every * b.bytes;
    for (int64_t next; c.at < c.end && r.at < r.end; r.at = next) {
        int64_t in = r.at % b.every, digit = r.at / b.every % f->p->turn_length;
        int64_t rest = f->p->turn_length - digit, most = TC__STRIP_BYTES / b.bytes;
        int64_t wide = in ? 1 : tc__lesser(rest, most - digit % most);
        int64_t end = tc__lesser(r.end, r.at - in + b.every);
        next = in ? end : tc__lesser(r.end, r.at + wide * b.every);
        for (b.first = r.at; b.first < end; b.first++) {
            b.rows = tc__lesser(wide, (r.end - b.first + b.every - 1) / b.every);
            tc__strip_run(f, &b, from, to, &c);
        }
    }
}
