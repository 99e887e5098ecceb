// Attention of few rows, as a step of decoding has: a chain of products (chain.cuh) whose keys and values are read once, and that
// takes the time. Tiles of matrix units would be empty: lanes multiply what they have loaded.
//
// `lanes` lanes share a key: each has 8 of its elements, and the same of the value with that number, so that after the exchange
// of a sum all of them have the score that they multiply it with: nothing goes through shared memory but, at the end, what the
// warps have. A group of lanes has every groups-th key of the block's, `each` of them at a time, keys and values of all on
// their way before it waits for one; with the maximum so far, as in chain.cuh. Blocks share the keys of their rows in `slices`
// stretches, which one of them joins in their order: those of a cluster by its memory, else the last one to arrive.
//
// Of a kernel are: P, with the numbers of TC__DECODE_..., `of`: a half as a float; and the holes, of which those of operands give addresses.

// fn: decode_sums
// What a group of lanes has of its keys: maximum and sum of exponentials, and the lane's part of the result.
template <class P> struct TC_N(decode_sums) {
    enum : int { groups = P::threads / P::lanes, deep = P::lanes * 8, warps = P::threads / 32, room = P::rows * (deep + 4) };
    float most[P::rows], all[P::rows], o[P::rows][8];
    TC_FN float none() { return -__int_as_float(0x7f800000); }
    // What is multiplied with where a maximum becomes another one.
    TC_FN float less(float from, float to) { return TC_N(ex2)((from - (to == none() ? 0.0f : to)) * 1.44269502f); }
};

// fn: decode_keys
// A lane's part of keys or values from c0 on: rows of a lane's address are `hole`s.
template <class P> struct TC_N(decode_keys) {
    typedef tc_pack<tc_u16, 8> eight;
    TC_N(words)<eight> w[P::each];
    template <class I, class H> __device__ __forceinline__ void bring(I c0, I end, H hole) {
        #pragma unroll
        for (int u = 0; u < P::each; u++) {
            const I c = c0 + (u * TC_N(decode_sums)<P>::groups + (int)threadIdx.x / P::lanes);
            w[u] = TC_N(load_words)((const eight *)hole(P::ragged_cols && c >= end ? end - 1 : c));
        }
    }
    __device__ __forceinline__ float at(int u, int e) const {
        return P::of((tc_u16)(e % 2 ? w[u].w[e / 2] >> 16 : w[u].w[e / 2]));
    }
};

// fn: decode_scores
// Of the keys from c0 on; what is behind the end has none.
template <class P, class I, class Score>
TC_FN void TC_N(decode_scores)(float (&s)[P::rows][P::each], const TC_N(decode_keys)<P> &key, const float (&q)[P::rows][8], I r0, I c0, I end, Score score) {
    typedef TC_N(decode_sums)<P> S;
    const bool deep = P::depth == S::deep || (int)threadIdx.x % P::lanes * 8 < P::depth;
    #pragma unroll
    for (int u = 0; u < P::each; u++) {
        #pragma unroll
        for (int i = 0; i < P::rows; i++) {
            float sum = 0;
            #pragma unroll
            for (int e = 0; e < 8; e++) sum = fmaf(q[i][e], key.at(u, e), sum);
            s[i][u] = deep ? sum : 0;
        }
    }
    #pragma unroll
    for (int o = P::lanes / 2; o; o /= 2) {
        #pragma unroll
        for (int k = 0; k < P::rows * P::each; k++)
            s[k / P::each][k % P::each] += __shfl_xor_sync(~0u, s[k / P::each][k % P::each], o);
    }
    #pragma unroll
    for (int k = 0; k < P::rows * P::each; k++) {
        const int i = k / P::each, u = k % P::each;
        const I c = c0 + (u * S::groups + (int)threadIdx.x / P::lanes);
        float sum[1] = {s[i][u]};
        float made[1] = {S::none()};
        if (!P::ragged_cols || c < end) score(r0 + i, c, sum, made);
        s[i][u] = made[0];
    }
}

// fn: decode_add
// Scores become exponentials without the maximum so far, values are added with them.
template <class P, class I> TC_FN void TC_N(decode_add)(TC_N(decode_sums)<P> &t, float (&s)[P::rows][P::each], const TC_N(decode_keys)<P> &value, I c0, I end) {
    typedef TC_N(decode_sums)<P> S;
    #pragma unroll
    for (int i = 0; i < P::rows; i++) {
        float top = t.most[i];
        #pragma unroll
        for (int u = 0; u < P::each; u++) top = fmaxf(top, s[i][u]);
        const float f = S::less(t.most[i], top);
        t.most[i] = top, t.all[i] *= f;
        #pragma unroll
        for (int e = 0; e < 8; e++) t.o[i][e] *= f;
        #pragma unroll
        for (int u = 0; u < P::each; u++) s[i][u] = S::less(s[i][u], top), t.all[i] += s[i][u];
    }
    #pragma unroll
    for (int u = 0; u < P::each; u++) {
        const bool inside = !P::ragged_cols || c0 + (u * S::groups + (int)threadIdx.x / P::lanes) < end;
        #pragma unroll
        for (int e = 0; e < 8; e++) {
            const float v = inside ? value.at(u, e) : 0; // which may be infinite
            #pragma unroll
            for (int i = 0; i < P::rows; i++) t.o[i][e] = fmaf(s[i][u], v, t.o[i][e]);
        }
    }
}

// fn: decode_read
// The block's keys of begin .. end.
template <class P, class I, class Left, class Right, class Value, class Score>
TC_FN void TC_N(decode_read)(TC_N(decode_sums)<P> &t, I r0, I begin, I end, Left left, Right right, Value value, Score score) {
    typedef TC_N(decode_sums)<P> S;
    typedef TC_N(decode_keys)<P> K;
    const int lane = (int)threadIdx.x % P::lanes * 8;
    const int deep = P::depth == S::deep || lane < P::depth ? lane : 0, wide = P::wide == S::deep || lane < P::wide ? lane : 0;
    auto key_at = [&](I c) { return right(r0, c, (I)deep, true); };
    auto value_at = [&](I c) { return value(r0, (I)wide, c, true); };
    K key, v;
    float q[P::rows][8];
    key.bring(begin, end, key_at);
    v.bring(begin, end, value_at);
    #pragma unroll
    for (int i = 0; i < P::rows; i++) {
        const tc_pack<tc_u16, 8> some = *(const tc_pack<tc_u16, 8> *)left((I)0, r0 + i, (I)deep, true);
        #pragma unroll
        for (int e = 0; e < 8; e++) q[i][e] = P::of(some.at[e]);
    }
    #pragma unroll 1
    for (I c0 = begin;;) {
        float s[P::rows][P::each];
        const I next = c0 + S::groups * P::each;
        const bool more = !P::single && next < end;
        TC_N(decode_scores)<P>(s, key, q, r0, c0, end, score);
        if (more) key.bring(next, end, key_at);
        TC_N(decode_add)<P>(t, s, v, c0, end);
        if (!more) return;
        v.bring(next, end, value_at);
        c0 = next;
    }
}

// fn: decode_warp
// The first group of a warp has what all of them had.
template <class P> TC_FN void TC_N(decode_warp)(TC_N(decode_sums)<P> &t) {
    #pragma unroll
    for (int o = P::lanes; o < 32; o *= 2) {
        #pragma unroll
        for (int i = 0; i < P::rows; i++) {
            const float most = __shfl_xor_sync(~0u, t.most[i], o), all = __shfl_xor_sync(~0u, t.all[i], o), top = fmaxf(t.most[i], most);
            const float f = t.less(t.most[i], top), g = t.less(most, top);
            t.most[i] = top, t.all[i] = fmaf(t.all[i], f, all * g);
            #pragma unroll
            for (int e = 0; e < 8; e++) t.o[i][e] = fmaf(t.o[i][e], f, __shfl_xor_sync(~0u, t.o[i][e], o) * g);
        }
    }
}

// fn: decode_have
// Of a row, and of one place of its result.
struct TC_N(decode_have) {
    float most, all, o;
};

// fn: decode_join
// What N parts have of row i, at place d of the result, in their order: maximum, sum, result. `read` gives a number of a part's room.
template <class P, int N, class Read> TC_FN TC_N(decode_have) TC_N(decode_join)(int i, int d, Read read) {
    typedef TC_N(decode_sums)<P> S;
    enum : int { together = N < 16 ? N : 16 };
    TC_N(decode_have) have = {S::none(), 0, 0};
    #pragma unroll 1
    for (int n = 0; n < N; n += together) {
        float most[together], all[together], o[together], top = have.most;
        #pragma unroll
        for (int k = 0; k < together; k++) {
            const int part = N % together == 0 || n + k < N ? n + k : N - 1;
            most[k] = read(part, P::rows * S::deep + i * 2), all[k] = read(part, P::rows * S::deep + i * 2 + 1);
            o[k] = read(part, i * S::deep + d);
        }
        #pragma unroll
        for (int k = 0; k < together; k++) top = fmaxf(top, most[k]);
        const float f = S::less(have.most, top);
        have.most = top, have.all *= f, have.o *= f;
        #pragma unroll
        for (int k = 0; k < together; k++) {
            const float g = S::less(most[k], top);
            if (N % together != 0 && n + k >= N) continue;
            have.all = fmaf(all[k], g, have.all), have.o = fmaf(o[k], g, have.o);
        }
    }
    return have;
}

// fn: decode_last
// As tc_arrives_last, with one fence of the block: what its threads wrote before the barrier is behind that of the first.
TC_FN int TC_N(decode_last)(unsigned *ticket, unsigned n) {
    int last = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(ticket, 1u) == n - 1;
        if (last) *ticket = 0;
        __threadfence();
    }
    return __syncthreads_or(last);
}

// fn: decode_meet
// Blocks that share keys bring what they have to one of them: those of a cluster to the memory of the first, `near`, others to
// memory, where the last to arrive finds it. False = this block has done its part.
template <class P, int EACH> TC_FN bool TC_N(decode_meet)(TC_N(decode_have) (&have)[EACH], float *near, unsigned *ticket, float *work, int slice) {
    typedef TC_N(decode_sums)<P> S;
    enum : int { places = P::rows * S::deep };
    float *const all = P::cluster ? near : work;
    auto put = [&](int place, float v) {
        if constexpr (P::cluster) TC_N(cluster_store)(&all[slice * S::room + place], 0, v);
        else all[slice * S::room + place] = v;
    };
    if constexpr (P::cluster) TC_N(cluster_wait)(); // all are there
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int at = threadIdx.x + k * P::threads, i = at / S::deep;
        if (at >= places) continue;
        put(at, have[k].o);
        if (at % S::deep == 0) put(places + i * 2, have[k].most), put(places + i * 2 + 1, have[k].all);
    }
    if constexpr (P::cluster) {
        TC_N(cluster_arrive)(), TC_N(cluster_wait)();
        if (slice) return false;
    } else if (!TC_N(decode_last)(ticket, P::slices)) {
        return false;
    }
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int at = threadIdx.x + k * P::threads;
        if (at < places) have[k] = TC_N(decode_join)<P, (int)P::slices>(at / S::deep, at % S::deep, [&](int part, int place) {
            if constexpr (P::cluster) return all[part * S::room + place];
            else return TC_N(peek)(&all[part * S::room + place]);
        });
    }
    return true;
}

// fn: decode_give
// Sums of rows are whole: one thread asks what they are multiplied with.
template <class P, int EACH, class I, class Share, class Result>
TC_FN void TC_N(decode_give)(const TC_N(decode_have) (&have)[EACH], float *factor, I r0, I n, Share share, Result result) {
    typedef TC_N(decode_sums)<P> S;
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int at = threadIdx.x + k * P::threads, i = at / S::deep;
        if (i >= P::rows || at % S::deep) continue;
        float of[4] = {have[k].most, have[k].all, 0, 0};
        share(r0 + i, 0, of);
        float f = of[2];
        if constexpr (P::streamed == 2) f = 1.0f / f;
        if constexpr (P::streamed == 3) f = 1.0f;
        if constexpr (P::bare != 0) f = of[0] == S::none() ? __int_as_float(0x7fffffff) : f;
        factor[i] = f;
    }
    __syncthreads();
    #pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int at = threadIdx.x + k * P::threads, i = at / S::deep;
        const float sums[1] = {have[k].o * (i < P::rows ? factor[i] : 0)};
        if (i < P::rows && at % S::deep < n) result(r0 + i, (I)(at % S::deep), sums);
    }
}

// fn: decode
// m: rows of a batch, of which a block has all, and those of batches with the same keys; n: columns of the result.
template <class P, class I, class Left, class Right, class Value, class Score, class Share, class Result>
TC_FN void TC_N(decode)(char *shared, unsigned *tickets, float *work, I j, I, I n, I keys, Left left, Right right, Value value, Score score, Share share, Result result) {
    typedef TC_N(decode_sums)<P> S;
    enum : int { places = P::rows * S::deep, each = (places + P::threads - 1) / P::threads };
    const int slice = P::slices > 1 ? (int)((unsigned)j % (unsigned)P::slices) : 0, lane = (int)threadIdx.x % 32;
    const I block = P::slices > 1 ? (I)((unsigned)j / (unsigned)P::slices) : j, r0 = block * P::rows;
    I begin = P::band & 1 && P::low > 0 ? (I)P::low : 0, end = P::band & 2 && P::up < keys ? (I)P::up : keys;
    if constexpr (P::slices > 1) {
        const I length = end > begin ? (end - begin + (P::slices * S::groups - 1)) / (P::slices * S::groups) * S::groups : 0;
        begin += slice * length;
        if (begin + length < end) end = begin + length;
    }
    if constexpr (P::cluster) TC_N(cluster_begun)();
    S t;
    #pragma unroll
    for (int i = 0; i < P::rows; i++) {
        t.most[i] = S::none(), t.all[i] = 0;
        #pragma unroll
        for (int e = 0; e < 8; e++) t.o[i][e] = 0;
    }
    if (begin < end) TC_N(decode_read)<P>(t, r0, begin, end, left, right, value, score);
    TC_N(decode_warp)<P>(t);
    float *const parts = (float *)shared, *const mine = parts + threadIdx.x / 32 * S::room;
    #pragma unroll
    for (int i = 0; i < P::rows; i++) {
        if (lane >= P::lanes) continue;
        #pragma unroll
        for (int e = 0; e < 8; e += 4) *(tc_pack<float, 4> *)&mine[i * S::deep + lane * 8 + e] = {t.o[i][e], t.o[i][e + 1], t.o[i][e + 2], t.o[i][e + 3]};
        if (lane == 0) mine[places + i * 2] = t.most[i], mine[places + i * 2 + 1] = t.all[i];
    }
    __syncthreads();
    TC_N(decode_have) have[each];
    #pragma unroll
    for (int k = 0; k < each; k++) {
        const int at = threadIdx.x + k * P::threads;
        if (at < places) have[k] = TC_N(decode_join)<P, (int)S::warps>(at / S::deep, at % S::deep, [&](int part, int place) { return parts[part * S::room + place]; });
    }
    if constexpr (P::slices > 1) {
        if (!TC_N(decode_meet)<P, each>(have, parts + S::warps * S::room, tickets + block, work + (tc_i64)block * (P::slices * S::room), slice)) return;
    }
    TC_N(decode_give)<P, each>(have, parts, r0, n, share, result);
}
