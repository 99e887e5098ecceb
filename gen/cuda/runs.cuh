// Device functions of sums of whole rows by index, as an embedding's gradient is: what cuda_print/opaque.c calls. Where each index
// belongs in order is counted; then a row is brought once, and what goes there is added in its order.

// fn: rank_indices
// Puts m <= 1024 * EACH pairs of an index below n and its place in order: behind lesser ones, and equal ones that stand before it.
// A block does that for OWN of them, and counts all for it; those before its own first, so that it sees them. `count`: of
// `window` indices, an even number of them, two a word.
template <int EACH, class F>
TC_FN void TC_N(rank_indices)(tc_i64 m, tc_i64 n, int window, F key, unsigned *count, TC_N(pair)<unsigned> *pairs) {
    enum : int { THREADS = 1024, OWN = 64, LANES = THREADS / OWN };
    __shared__ unsigned before[THREADS + 1]; // by thread: counted in the words of those before it
    __shared__ int owned[OWN];
    const int x = threadIdx.x, first = blockIdx.x * OWN, own = x / LANES, lane = x % LANES;
    if (first >= m) return;
    int k[EACH];
#pragma unroll
    for (int u = 0; u < EACH; u++) {
        const int i = x + u * THREADS;
        k[u] = i < m ? (int)key(0, i) : -1;
        if (i >= first && i < first + OWN) owned[i - first] = k[u];
    }
    __syncthreads();
    const int mine = owned[own];
    unsigned rank = 0, below = 0;
#pragma unroll
    for (int j = lane; j < OWN; j += LANES) rank += j < own && owned[j] == mine;
#pragma unroll 1
    for (int base = 0; base < n; base += window) {
        const unsigned size = (unsigned)(n - base < window ? n - base : window), at = (unsigned)(mine - base);
        const int words = (int)(size + 1) / 2, each = (words + THREADS - 1) / THREADS | 1;
        __syncthreads();
        for (int i = x; i < words; i += THREADS) count[i] = 0;
#pragma unroll 1
        for (int later = 0; later < 2; later++) {
            __syncthreads();
#pragma unroll
            for (int u = 0; u < EACH; u++) {
                const unsigned w = (unsigned)(k[u] - base);
                if (w < size && (x + u * THREADS >= first) == later) atomicAdd(&count[w / 2], 1u << w % 2 * 16);
            }
            __syncthreads();
            if (!later && lane == 0 && at < size) rank += count[at / 2] >> at % 2 * 16 & 65535;
        }
        unsigned sum = 0;
#pragma unroll 8
        for (int i = x * each; i < (x + 1) * each; i++) {
            const unsigned two = i < words ? count[i] : 0;
            sum += (two & 65535) + (two >> 16);
        }
        const unsigned place = TC_N(scan_block)<THREADS>(sum);
        before[x] = place;
        if (x == THREADS - 1) before[THREADS] = place + sum;
        __syncthreads();
        if (at < size) {
            const int word = (int)at / 2, thread = word / each;
            if (lane == 0) rank += below + before[thread] + (at % 2 ? count[word] & 65535 : 0);
            for (int i = thread * each + lane; i < word; i += LANES) rank += (count[i] & 65535) + (count[i] >> 16);
        }
        below += before[THREADS];
    }
    for (int o = LANES / 2; o; o /= 2) rank += __shfl_xor_sync(~0u, rank, o);
    if (lane == 0 && mine >= 0) pairs[rank] = {(unsigned)mine, (unsigned)(first + own)};
}

// fn: run_ring
// Pairs of groups of 32 rows on their way to a warp, COLUMNS of them: of what is added, and of what it is added to where a run of
// equal indices begins. Pairs of an index and its place are asked for long before their rows.
template <class T, int COLUMNS> struct TC_N(run_ring) {
    enum : int { DEEP = 3, AHEAD = 6 };
    struct __align__(16) group {
        T row[32][COLUMNS], old[32][COLUMNS];
        unsigned key[32];
        unsigned owned, heads; // bits of rows: the block's own, the first of a run
    };
    group at[DEEP][2];
    TC_N(pair)<unsigned> look[8][32];
};

// fn: copy_piece
template <class T, int BYTES> TC_FN void TC_N(copy_piece)(T *to, const T *from) {
    if (BYTES < 4) *to = *from;
    else TC_N(copy_async)((tc_pack<T, BYTES / (int)sizeof(T)> *)to, (const tc_pack<T, BYTES / (int)sizeof(T)> *)from);
}

// fn: runs_meet
// Those who bring and who adds meet: whether something is left.
TC_FN int TC_N(runs_meet)(int on) { return __syncthreads_or(on); }

// fn: bring_runs
// Two warps bring what add_runs adds, each one of two groups, in pieces of PIECE bytes: those of [begin, end) whose run begins
// there, and the rest of the last one.
template <class T, int COLUMNS, int PIECE>
TC_FN void TC_N(bring_runs)(TC_N(run_ring)<T, COLUMNS> &ring, tc_i64 columns, tc_i64 column, int n, int begin, int end,
                           unsigned prior, unsigned last, const T *src, const TC_N(pair)<unsigned> *pairs, const T *y) {
    enum : int { DEEP = TC_N(run_ring)<T, COLUMNS>::DEEP, AHEAD = TC_N(run_ring)<T, COLUMNS>::AHEAD };
    enum : int { LANES = COLUMNS * (int)sizeof(T) / PIECE, ROWS = 32 / LANES, STEPS = 32 / ROWS };
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    const int its = lane / LANES, piece = lane % LANES * (PIECE / (int)sizeof(T));
    const bool in = column + piece < columns;
    const auto look = [&](int p) { // the pairs from p on
        TC_N(pair)<unsigned> *const to = &ring.look[(p - begin) / 32 % 8][lane];
        if (p + lane < n) TC_N(copy_async8)(to, &pairs[p + lane]);
        else *to = {~0u, 0};
    };
    const auto bring = [&](T (*to)[COLUMNS], unsigned row, unsigned wanted, const T *from) {
        unsigned at[STEPS];
#pragma unroll
        for (int k = 0; k < STEPS; k++) at[k] = __shfl_sync(~0u, row, k * ROWS + its);
        if (!in) wanted = 0;
#pragma unroll
        for (int k = 0; k < STEPS; k++)
            if (wanted >> (k * ROWS + its) & 1)
                TC_N(copy_piece)<T, PIECE>(&to[k * ROWS + its][piece], &from[(tc_i64)at[k] * columns + column + piece]);
    };
    int p = begin + 32 * warp;
    unsigned up = p + lane && p + lane <= n ? pairs[p + lane - 1].key : ~0u; // the index before
    bool more = p < n;
    const auto ask = [&](int slot) {
        auto &g = ring.at[slot][warp];
        if (lane == 0) g.owned = 0;
        if (more) {
            const int from = (p - begin) / 32;
            const TC_N(pair)<unsigned> own = ring.look[from % 8][lane];
            const bool is = p + lane < n && own.key != prior && (p + lane < end || own.key == last);
            const unsigned owned = __ballot_sync(~0u, is), heads = __ballot_sync(~0u, is && up != own.key);
            look(p + 32 * AHEAD);
            p += 64;
            if (p + lane - 1 < n) up = pairs[p + lane - 1].key;
            more = p < n && (p < end || ring.look[(from + 2) % 8][0].key == last);
            g.key[lane] = own.key;
            if (lane == 0) g.owned = owned, g.heads = heads;
            bring(g.row, own.at, owned, src);
            if (heads) bring(g.old, own.key, heads, y);
        }
        TC_N(copy_commit)();
    };
    for (int k = 0; k < AHEAD; k += 2) look(p + 32 * k);
    TC_N(copy_commit)();
    TC_N(copy_wait)<0>();
    __syncwarp();
#pragma unroll 1
    for (int slot = 0; slot < DEEP - 2; slot++) ask(slot);
    int slot = DEEP - 2, read = 0, on;
#pragma unroll 1
    do {
        ask(slot);
        TC_N(copy_wait)<DEEP - 2>();
        __syncwarp();
        on = TC_N(runs_meet)(more || ring.at[read][warp].owned);
        slot = slot + 1 < DEEP ? slot + 1 : 0, read = read + 1 < DEEP ? read + 1 : 0;
    } while (on);
}

// fn: add_runs
// To rows of y those of src are added that the m pairs, which are in order, name for it, in their order. A block of three warps
// does that for COLUMNS of the runs that begin in SPAN of the pairs: two bring, one adds, V columns a lane.
template <class T, class S, int V, int COLUMNS, int PIECE, int SPAN>
TC_FN void TC_N(add_runs)(tc_i64 columns, tc_i64 m, const T *src, const TC_N(pair)<unsigned> *pairs, T *y, void *shared) {
    typedef tc_pack<T, V> pack;
    TC_N(run_ring)<T, COLUMNS> &ring = *(TC_N(run_ring)<T, COLUMNS> *)shared;
    const int lane = threadIdx.x % 32, n = (int)m, parts = (int)((columns + COLUMNS - 1) / COLUMNS);
    const int begin = blockIdx.x / parts * SPAN, end = begin + SPAN < n ? begin + SPAN : n;
    const tc_i64 column = (tc_i64)(blockIdx.x % parts) * COLUMNS;
    if (begin >= n) return;
    const unsigned prior = begin ? pairs[begin - 1].key : ~0u, last = pairs[end - 1].key;
    if (prior == last) return; // the run of another block goes through all
    if (threadIdx.x < 64) {
        TC_N(bring_runs)<T, COLUMNS, PIECE>(ring, columns, column, n, begin, end, prior, last, src, pairs, y);
        return;
    }
    const bool in = lane * V < COLUMNS && column + lane * V < columns;
    const int mine = lane * V < COLUMNS ? lane * V : 0;
    S sum[V] = {};
    T *const own = y + column + mine, *to = own; // where the sum goes
    bool goes = false;
    const auto leave = [&]() {
        pack v;
        for (int e = 0; e < V; e++) v.at[e] = (T)sum[e];
        *(pack *)to = v;
    };
#pragma unroll 1
    for (int slot = 0; TC_N(runs_meet)(0); slot = slot + 1 < ring.DEEP ? slot + 1 : 0) {
#pragma unroll 1
        for (int w = 0; w < 2; w++) {
            const auto &g = ring.at[slot][w];
            const unsigned owned = g.owned, heads = g.heads;
            if (!owned) continue;
            const bool whole = owned == ~0u && !heads;
#pragma unroll
            for (int l = 0; l < 32 && whole; l++) {
                const pack v = *(const pack *)&g.row[l][mine];
                for (int e = 0; e < V; e++) sum[e] = sum[e] + v.at[e];
            }
#pragma unroll
            for (int h = 0; h < 32; h += 8) { // what is there is asked for at once
                if (whole || !(owned >> h & 255)) continue;
                pack v[8], o[8];
                unsigned key[8];
#pragma unroll
                for (int l = 0; l < 8; l++) {
                    v[l] = *(const pack *)&g.row[h + l][mine], o[l] = *(const pack *)&g.old[h + l][mine];
                    key[l] = g.key[h + l];
                }
#pragma unroll
                for (int l = 0; l < 8; l++) {
                    const bool starts = heads >> (h + l) & 1, is = owned >> (h + l) & 1;
                    if (starts && goes) leave();
                    goes = starts ? in : goes, to = starts ? own + (tc_i64)key[l] * columns : to;
                    for (int e = 0; e < V; e++) {
                        const S from = starts ? (S)o[l].at[e] : sum[e], next = from + v[l].at[e];
                        sum[e] = is ? next : from;
                    }
                }
            }
        }
    }
    if (goes) leave();
}
