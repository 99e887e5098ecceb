// Device functions of sums of whole rows by index, as an embedding's gradient is: what cuda_print/opaque.c calls. Where each index
// belongs in order is counted; then a row is brought once, and what goes there is added in its order.

// fn: count_indices
// Adds those of a thread's indices of [base, base + size) that stand before place `first`, or behind. Two counts are a word. Equal
// ones of a warp are not counted at once: with a __match_any_sync an embedding's gradient took 26.3-26.7 us, without 25.0-25.9 (H200).
template <int THREADS, int EACH>
TC_FN void TC_N(count_indices)(unsigned *count, const int (&k)[EACH], int base, unsigned size, int first, int behind) {
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        const unsigned w = (unsigned)(k[u] - base);
        if (w < size && (threadIdx.x + u * THREADS >= (unsigned)first) == (unsigned)behind)
            atomicAdd(&count[w / 2], 1u << w % 2 * 16);
    }
}

// fn: count_of
TC_FN unsigned TC_N(count_of)(unsigned two) { return (two & 65535) + (two >> 16); }

// fn: rank_indices
// Puts m <= 1024 * EACH pairs of an index below n and its place in order: behind lesser ones, and equal ones that stand before it.
// A block does that for OWN of them, and counts all for it; those before its own first, so that it sees them. `count`: of
// `window` indices, an even number of them. All of a thread are asked for before one is checked, which may tell memory.
template <int EACH, class I, class F>
TC_FN void TC_N(rank_indices)(tc_i64 m, tc_i64 n, int window, const I *index, F checked, unsigned *count,
                             TC_N(pair)<unsigned> *pairs) {
    enum : int { THREADS = 1024, OWN = 64, LANES = THREADS / OWN };
    __shared__ unsigned before[THREADS + 1]; // by thread: counted in the words of those before it
    __shared__ int owned[OWN];
    const int x = threadIdx.x, first = blockIdx.x * OWN, place = x / LANES, lane = x % LANES;
    if (first >= m) return;
    int k[EACH];
    I asked[EACH];
#pragma unroll
    for (int u = 0; u < EACH; u++) asked[u] = x + u * THREADS < m ? index[x + u * THREADS] : 0;
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        const int i = x + u * THREADS;
        k[u] = i < m ? checked(asked[u]) : -1;
        if (i >= first && i < first + OWN) owned[i - first] = k[u];
    }
    __syncthreads();
    const int own = owned[place];
    unsigned rank = 0, below = 0;
#pragma unroll
    for (int j = lane; j < OWN; j += LANES) rank += j < place && owned[j] == own;
#pragma unroll 1
    for (int base = 0; base < n; base += window) {
        const unsigned size = (unsigned)(n - base < window ? n - base : window), at = (unsigned)(own - base);
        const int words = (int)(size + 1) / 2, each = (words + THREADS - 1) / THREADS | 1;
        __syncthreads();
        for (int i = x; i < words; i += THREADS) count[i] = 0;
        __syncthreads();
        TC_N(count_indices)<THREADS>(count, k, base, size, first, 0);
        __syncthreads();
        if (lane == 0 && at < size) rank += count[at / 2] >> at % 2 * 16 & 65535;
        __syncthreads();
        TC_N(count_indices)<THREADS>(count, k, base, size, first, 1);
        __syncthreads();
        unsigned sum = 0;
#pragma unroll 8
        for (int i = x * each; i < (x + 1) * each; i++) sum += i < words ? TC_N(count_of)(count[i]) : 0;
        const unsigned scanned = TC_N(scan_block)<THREADS>(sum);
        before[x] = scanned;
        if (x == THREADS - 1) before[THREADS] = scanned + sum;
        __syncthreads();
        const int word = at < size ? (int)at / 2 : 0, thread = word / each;
        if (lane == 0 && at < size) rank += below + before[thread] + (at % 2 ? count[word] & 65535 : 0);
        for (int i = thread * each + lane; i < word; i += LANES) rank += TC_N(count_of)(count[i]);
        below += before[THREADS];
    }
    for (int o = LANES / 2; o; o /= 2) rank += __shfl_xor_sync(~0u, rank, o);
    if (lane == 0 && own >= 0) pairs[rank] = {(unsigned)own, (unsigned)(first + place)};
}

// fn: run_ring
// Chunks of 128 rows on their way to a warp, COLUMNS columns of each: of what is added, and of what it is added to where a run of equal
// indices begins. Pairs of an index and its place are asked for long before their rows.
template <class T, int COLUMNS> struct TC_N(run_ring) {
    enum : int { DEEP = 3, ROWS = 128, LOOKS = 8, AHEAD = 3, THREADS = 96 }; // looks: chunks of pairs
    struct __align__(16) chunk {
        T row[ROWS][COLUMNS], old[ROWS][COLUMNS];
        unsigned key[ROWS];
        unsigned owned[ROWS / 32], heads[ROWS / 32]; // bits of rows: the block's own, the first of a run
    };
    chunk at[DEEP];
    TC_N(pair)<unsigned> look[LOOKS * ROWS];
};

// fn: copy_piece
template <class T, int BYTES> TC_FN void TC_N(copy_piece)(T *to, const T *from) {
    if (BYTES < 4) *to = *from;
    else TC_N(copy_async)((tc_pack<T, BYTES / (int)sizeof(T)> *)to, (const tc_pack<T, BYTES / (int)sizeof(T)> *)from);
}

// fn: bring_rows
// A warp asks for the rows of 32 places that `wanted` has, in pieces of PIECE bytes: row is that of the lane's place.
template <class T, int COLUMNS, int PIECE>
TC_FN void TC_N(bring_rows)(T (*to)[COLUMNS], unsigned row, unsigned wanted, const T *from, tc_i64 bytes) {
    enum : int { LANES = COLUMNS * (int)sizeof(T) / PIECE, ROWS = 32 / LANES, STEPS = 32 / ROWS };
    const int its = threadIdx.x % 32 / LANES, piece = threadIdx.x % LANES * (PIECE / (int)sizeof(T));
    unsigned at[STEPS];
#pragma unroll
    for (int k = 0; k < STEPS; k++) at[k] = __shfl_sync(~0u, row, k * ROWS + its);
#pragma unroll
    for (int k = 0; k < STEPS; k++)
        if (wanted >> (k * ROWS + its) & 1)
            TC_N(copy_piece)<T, PIECE>(&to[k * ROWS + its][piece], (const T *)((const char *)(from + piece) + at[k] * bytes));
}

// fn: looked
// The pair of a place, of a block whose places begin at `begin`.
template <class R> TC_FN TC_N(pair)<unsigned> &TC_N(looked)(R &ring, int place, int begin) {
    return ring.look[(place - begin) % (R::LOOKS * R::ROWS)];
}

// fn: look_ahead
// One of two warps asks for half of the pairs of a chunk.
template <class R> TC_FN void TC_N(look_ahead)(R &ring, const TC_N(pair)<unsigned> *pairs, int chunk, int begin, int n) {
#pragma unroll
    for (int u = 0; u < R::ROWS / 2; u += 32) {
        const int place = chunk + threadIdx.x / 32 * (R::ROWS / 2) + u + threadIdx.x % 32;
        TC_N(pair)<unsigned> &to = TC_N(looked)(ring, place, begin);
        if (place < n) TC_N(copy_async8)(&to, &pairs[place]);
        else to = {~0u, 0};
    }
}

// fn: bring_runs
// Two warps bring what add_runs adds, each one half of a chunk: those of [begin, end) whose run begins there, and the rest of the
// last one. src, y: at the block's columns, of which `left` are in a row. The first pairs are asked for already.
template <class T, int COLUMNS, int PIECE, bool OLD>
TC_FN void TC_N(bring_runs)(TC_N(run_ring)<T, COLUMNS> &ring, tc_i64 bytes, tc_i64 left, int n, int begin, int end,
                           unsigned prior, unsigned last, const T *src, const TC_N(pair)<unsigned> *pairs, const T *y) {
    typedef TC_N(run_ring)<T, COLUMNS> R;
    enum : int { HALF = R::ROWS / 2, LANES = COLUMNS * (int)sizeof(T) / PIECE };
    const int lane = threadIdx.x % 32, half = threadIdx.x / 32 * HALF;
    const bool in = threadIdx.x % LANES * (PIECE / (int)sizeof(T)) < left;
    int p = begin; // the first place of the chunk that is asked for next
    bool more = true;
    const auto ask = [&](int slot) {
        auto &to = ring.at[slot];
        TC_N(pair)<unsigned> own[HALF / 32];
        unsigned owned[HALF / 32], heads[HALF / 32];
#pragma unroll
        for (int u = 0; u < HALF / 32; u++) {
            const int place = p + half + 32 * u + lane;
            own[u] = TC_N(looked)(ring, place, begin);
            const unsigned before = place > begin ? TC_N(looked)(ring, place - 1, begin).key : prior;
            const bool is = more && place < n && own[u].key != prior && (place < end || own[u].key == last);
            owned[u] = __ballot_sync(~0u, is), heads[u] = __ballot_sync(~0u, is && before != own[u].key);
            to.key[half + 32 * u + lane] = own[u].key;
            if (lane == 0) to.owned[half / 32 + u] = owned[u], to.heads[half / 32 + u] = heads[u];
        }
        TC_N(look_ahead)(ring, pairs, p + R::AHEAD * R::ROWS, begin, n);
        p += R::ROWS;
        more = more && p < n && (p < end || TC_N(looked)(ring, p, begin).key == last);
#pragma unroll
        for (int u = 0; u < HALF / 32; u++) {
            TC_N(bring_rows)<T, COLUMNS, PIECE>(to.row + half + 32 * u, own[u].at, in ? owned[u] : 0, src, bytes);
            if (OLD && heads[u]) TC_N(bring_rows)<T, COLUMNS, PIECE>(to.old + half + 32 * u, own[u].key, in ? heads[u] : 0, y, bytes);
        }
        TC_N(copy_commit)();
        return (owned[0] | owned[HALF / 32 - 1]) != 0;
    };
    TC_N(copy_wait)<0>();
    TC_N(bar_any)(1, R::THREADS, 1);
    int before = ask(0), slot = 1, on;
#pragma unroll 1
    do {
        const int next = ask(slot);
        TC_N(copy_wait)<1>();
        on = TC_N(bar_any)(1, R::THREADS, before || next || more);
        before = next, slot = slot + 1 < R::DEEP ? slot + 1 : 0;
    } while (on);
    TC_N(copy_wait)<0>(); // pairs that nobody needs
}

// fn: add_run_rows
// 32 rows of one run.
template <class S, int V, class T, int COLUMNS> TC_FN void TC_N(add_run_rows)(S (&sum)[V], const T (*row)[COLUMNS], int mine) {
    typedef tc_pack<T, V> pack;
#pragma unroll
    for (int h = 0; h < 32; h += 16) {
        pack v[16];
#pragma unroll
        for (int l = 0; l < 16; l++) v[l] = *(const pack *)&row[h + l][mine];
#pragma unroll
        for (int l = 0; l < 16; l++)
            for (int e = 0; e < V; e++) sum[e] = sum[e] + v[l].at[e];
    }
}

// fn: add_runs
// To rows of y those of src are added that the m pairs, which are in order, name for it, in their order. A block of three warps
// does that for COLUMNS of the runs that begin in SPAN of the pairs: two bring, one adds, V columns a lane. Without OLD, y has
// the element of those bits all over.
template <class T, class S, int V, int COLUMNS, int PIECE, int SPAN, int BYTES, bool OLD>
TC_FN void TC_N(add_runs)(tc_i64 columns, tc_i64 m, const T *src, const TC_N(pair)<unsigned> *pairs, T *y, void *shared,
                          tc_u64 bits) {
    typedef tc_pack<T, V> pack;
    typedef TC_N(run_ring)<T, COLUMNS> R;
    static_assert(sizeof(R) == BYTES, "what the launch asks for");
    R &ring = *(R *)shared;
    const int lane = threadIdx.x % 32, n = (int)m, parts = (int)((columns + COLUMNS - 1) / COLUMNS);
    const int begin = blockIdx.x / parts * SPAN, end = begin + SPAN < n ? begin + SPAN : n;
    const tc_i64 column = (tc_i64)(blockIdx.x % parts) * COLUMNS;
    if (m > 0x7fff0000) __trap(); // places are of 31 bits
    if (begin >= n) return;
    for (int k = 0; k < R::AHEAD && threadIdx.x < 64; k++)
        TC_N(look_ahead)(ring, pairs, begin + k * R::ROWS, begin, n);
    TC_N(copy_commit)();
    const unsigned prior = begin ? pairs[begin - 1].key : ~0u, last = pairs[end - 1].key;
    if (prior == last) { // the run of another block goes through all
        TC_N(copy_wait)<0>();
        return;
    }
    if (threadIdx.x < 64) {
        TC_N(bring_runs)<T, COLUMNS, PIECE, OLD>(ring, columns * (tc_i64)sizeof(T), columns - column, n, begin, end, prior, last,
                                            src + column, pairs, y + column);
        return;
    }
    const bool in = lane * V < COLUMNS && column + lane * V < columns;
    const int mine = lane * V < COLUMNS ? lane * V : 0;
    const T none = TC_N(of_word)<T>(bits);
    S sum[V] = {};
    T *const own = y + column + mine, *to = own; // where the sum goes
    bool goes = false;
    const auto leave = [&]() {
        pack v;
        for (int e = 0; e < V; e++) v.at[e] = (T)sum[e];
        *(pack *)to = v;
    };
    TC_N(bar_any)(1, R::THREADS, 1);
#pragma unroll 1
    for (int slot = 0; TC_N(bar_any)(1, R::THREADS, 0); slot = slot + 1 < R::DEEP ? slot + 1 : 0) {
        const auto &chunk = ring.at[slot];
#pragma unroll 1
        for (int w = 0; w < R::ROWS / 32; w++) {
            const unsigned owned = chunk.owned[w], heads = chunk.heads[w];
            if (owned == ~0u && !heads) {
                TC_N(add_run_rows)<S, V>(sum, chunk.row + 32 * w, mine);
                continue;
            }
#pragma unroll
            for (int h = 0; h < 32; h += 8) { // what is there is asked for at once
                if (!(owned >> h & 255)) continue;
                pack v[8], o[8];
                unsigned key[8];
#pragma unroll
                for (int l = 0; l < 8; l++) {
                    const int row = 32 * w + h + l;
                    v[l] = *(const pack *)&chunk.row[row][mine];
                    if (OLD) o[l] = *(const pack *)&chunk.old[row][mine];
                    key[l] = chunk.key[row];
                }
#pragma unroll
                for (int l = 0; l < 8; l++) {
                    const bool starts = heads >> (h + l) & 1, is = owned >> (h + l) & 1;
                    if (starts && goes) leave();
                    goes = starts ? in : goes, to = starts ? own + (tc_i64)key[l] * columns : to;
                    for (int e = 0; e < V; e++) {
                        const S from = starts ? (S)(OLD ? o[l].at[e] : none) : sum[e], next = from + v[l].at[e];
                        sum[e] = is ? next : from;
                    }
                }
            }
        }
    }
    if (goes) leave();
}
