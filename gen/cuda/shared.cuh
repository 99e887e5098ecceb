// Copies to shared memory, and blocks that wait for each other.

// fn: copy_async16
// Memory to shared memory, without registers; tc_copy_wait_all ends it for the thread that asked.
TC_FN void TC_N(copy_async16)(void *to, const void *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

// fn: copy_async8
TC_FN void TC_N(copy_async8)(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 8;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

// fn: copy_async4
TC_FN void TC_N(copy_async4)(void *to, const void *from) {
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from) : "memory");
}

// fn: copy_async
template <class P> TC_FN void TC_N(copy_async)(P *to, const P *from) {
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        TC_N(copy_async16)((char *)to + 16 * i, (const char *)from + 16 * i);
    if (sizeof(P) == 8) TC_N(copy_async8)(to, from);
    if (sizeof(P) == 4) TC_N(copy_async4)(to, from);
}

// fn: copy_wait_all
TC_FN void TC_N(copy_wait_all)() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// fn: cluster_arrive
// The barrier of the blocks that share a row, in two steps: what threads wrote before they arrive is
// seen by those that have waited.
TC_FN void TC_N(cluster_arrive)() { asm volatile("barrier.cluster.arrive.release;" ::: "memory"); }

// fn: cluster_begun
// The same of a block that has written nothing yet: the others may write to its memory behind the wait. Without a fence.
TC_FN void TC_N(cluster_begun)() { asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory"); }

// fn: cluster_wait
TC_FN void TC_N(cluster_wait)() { asm volatile("barrier.cluster.wait.acquire;" ::: "memory"); }

// fn: cluster_store
// *p = v in the shared memory of a block of the cluster.
template <class T> TC_FN void TC_N(cluster_store)(T *p, unsigned rank, T v) {
    tc_u64 there;
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(there) : "l"(p), "r"(rank));
    *(T *)there = v;
}

// fn: peek
// What another block has written.
template <class T> TC_FN T TC_N(peek)(const T *p) {
    return *(const volatile T *)p;
}

// fn: begun
// The block is there, and will come to the meeting.
TC_FN void TC_N(begun)(unsigned *ticket) {
    if (threadIdx.x == 0) atomicAdd(ticket, 1u);
}

// fn: met
// A block at a meeting: its turn, -1 = it has left; how many stayed; and, in its first thread, how many saw that before it.
struct TC_N(met) {
    int turn;
    unsigned blocks, before;
};

// fn: meets
// Waits for all blocks: what they have written is seen then. Who comes before all have begun cannot wait, since they may
// need its place: it has done its part (turn -1). The others have turns, 0 to blocks - 1; there is always one: the block that
// begins last finds that all have. A ticket has three numbers: blocks that have begun, that have come (and, by 65536, those of
// them that leave), and that have seen all come. `own`: two numbers of shared memory.
TC_FN TC_N(met) TC_N(meets)(unsigned *ticket, unsigned blocks, int *own) {
    unsigned begun = 0, before = 0;
    if (threadIdx.x == 0) begun = *(volatile unsigned *)ticket;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        const int stays = begun == blocks;
        unsigned come = atomicAdd(ticket + 1, stays ? 1u : 65537u);
        own[0] = stays ? (int)((come & 65535) - (come >> 16)) : -1;
        for (come++; stays && (come & 65535) != blocks;) come = *(volatile unsigned *)(ticket + 1);
        own[1] = (int)(blocks - (come >> 16));
        if (stays) before = atomicAdd(ticket + 2, 1u); // here, so that no block waits for the answer when it parts
    }
    __syncthreads();
    __threadfence();
    return {own[0], (unsigned)own[1], before};
}

// fn: parts
// The block has done its turns. Who saw last that all have come leaves the ticket as it was: nobody looks at it again.
TC_FN void TC_N(parts)(unsigned *ticket, const TC_N(met) &met) {
    if (threadIdx.x != 0 || met.before != met.blocks - 1) return;
    for (int i = 0; i < 3; i++) ticket[i] = 0;
}

// fn: bar_sync
// Threads of a block, so many, meet at one of its barriers.
TC_FN void TC_N(bar_sync)(int id, int threads) { asm volatile("bar.sync %0, %1;" :: "r"(id), "r"(threads) : "memory"); }

// fn: bar_any
// The same, and whether one of them says so.
TC_FN int TC_N(bar_any)(int id, int threads, int says) {
    int any;
    asm volatile("{ .reg .pred p, q; setp.ne.s32 p, %3, 0; bar.red.or.pred q, %1, %2, p; selp.s32 %0, 1, 0, q; }"
        : "=r"(any) : "r"(id), "r"(threads), "r"(says) : "memory");
    return any;
}

// fn: warp_arrives_last
// Whether this warp is the last of n that share the ticket, as arrives_last says it of blocks.
TC_FN bool TC_N(warp_arrives_last)(unsigned *ticket, unsigned n) {
    unsigned before = 0;
    __threadfence();
    __syncwarp();
    if (threadIdx.x % 32 == 0) before = atomicAdd(ticket, 1u);
    before = __shfl_sync(~0u, before, 0);
    if (before + 1 < n) return false;
    __threadfence();
    if (threadIdx.x % 32 == 0) *ticket = 0;
    return true;
}

// fn: arrives_last
// Whether this block is the last of n that share the ticket: it sees what all of them have written.
// The ticket is 0 again afterwards. N: threads that come, the first of the block; 0 = all do. No shared memory tells them:
// kernels that declare some beside what they are launched with are slower (device/list.c).
template <int N = 0> TC_FN int TC_N(arrives_last)(unsigned *ticket, unsigned n) {
    int last = 0;
    __threadfence();
    if constexpr (N > 0) TC_N(bar_sync)(1, N);
    else __syncthreads();
    if (threadIdx.x == 0) last = atomicAdd(ticket, 1u) == n - 1;
    if constexpr (N > 0) last = TC_N(bar_any)(1, N, last);
    else last = __syncthreads_or(last);
    if (last && threadIdx.x == 0) *ticket = 0;
    __threadfence();
    return last;
}
