// Vectors of memory.
//
// No hints for caches: loads that take no room in L1 and stores that leave L2 first
// (L1::no_allocate, st.cs) made every row that memory limits slower on an H200: relu by 2
// %, softmax of 4096 columns by 4 %, layer norm by 6 %.

// fn: reads
// Before tc_begin, of memory that the kernel only reads. Nothing happens; but ptxas moves loads ahead
// of a wait where it knows that they are of such memory (ld.global.nc), and does not know it now.
TC_FN void TC_N(reads)(const void *p) { asm volatile("" ::"l"(p) : "memory"); }

// fn: begin
// The launch behind this one may begin; what those before it wrote is there when this returns.
TC_FN void TC_N(begin)() {
#if __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// fn: begin_beside
// The same of a launch that can work beside another. 0: it does not. 1: the next one may begin when this has what it waits
// for. 2: this is such a one, and reads nothing before tc_follow that those beside it write; what was written before them is
// seen, too: behind the fence nothing older is in a cache.
TC_FN void TC_N(begin_beside)(tc_i64 beside) {
#if __CUDA_ARCH__ >= 900
    if (beside == 1) asm volatile("griddepcontrol.wait;" ::: "memory");
    asm volatile("griddepcontrol.launch_dependents;");
    if (beside == 0) asm volatile("griddepcontrol.wait;" ::: "memory");
    if (beside == 2) asm volatile("fence.acq_rel.gpu;" ::: "memory");
#endif
}

// fn: follow
// Waits for those beside: who waits for this launch waits for them, too.
TC_FN void TC_N(follow)(tc_i64 beside) {
#if __CUDA_ARCH__ >= 900
    if (beside == 2) asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// fn: words
// A vector as the words that memory instructions move.
template <class P> union TC_N(words) {
    P v;
    unsigned w[sizeof(P) < 4 ? 1 : sizeof(P) / 4];
    __device__ __forceinline__ TC_N(words)() {}
    __device__ __forceinline__ TC_N(words)(const P &p) : v(p) {}
};

// fn: load_words
// A vector of memory, as few instructions as its bytes allow. Who asks long before he needs it keeps words: of elements that
// are smaller each would be taken out at once, to a register of its own, and wait for memory.
template <class P> TC_FN TC_N(words)<P> TC_N(load_words)(const P *p) {
    TC_N(words)<P> u;
    const unsigned *q = (const unsigned *)p;
    #pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        asm volatile("ld.global.v4.b32 {%0, %1, %2, %3}, [%4];"
            : "=r"(u.w[4 * i]), "=r"(u.w[4 * i + 1]), "=r"(u.w[4 * i + 2]), "=r"(u.w[4 * i + 3])
            : "l"(q + 4 * i));
    if (sizeof(P) == 8) asm volatile("ld.global.v2.b32 {%0, %1}, [%2];" : "=r"(u.w[0]), "=r"(u.w[sizeof(P) / 8]) : "l"(q));
    if (sizeof(P) == 4) asm volatile("ld.global.b32 %0, [%1];" : "=r"(u.w[0]) : "l"(q));
    if (sizeof(P) < 4) u.v = *p;
    return u;
}

// fn: load
template <class P> TC_FN P TC_N(load)(const P *p) {
    return TC_N(load_words)(p).v;
}

// fn: load_words_once
// The same of what no cache holds as a whole, and nobody reads soon: it leaves the cache before what the launch before wrote.
template <class P> TC_FN TC_N(words)<P> TC_N(load_words_once)(const P *p) {
#if __CUDA_ARCH__ >= 800
    if (sizeof(P) % 16 == 0) {
        TC_N(words)<P> u;
        const unsigned *q = (const unsigned *)p;
        unsigned long long first;
        asm("createpolicy.fractional.L2::evict_first.b64 %0;" : "=l"(first));
        #pragma unroll
        for (int i = 0; i < (int)sizeof(P) / 16; i++)
            asm volatile("ld.global.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, [%4], %5;"
                : "=r"(u.w[4 * i]), "=r"(u.w[4 * i + 1]), "=r"(u.w[4 * i + 2]), "=r"(u.w[4 * i + 3])
                : "l"(q + 4 * i), "l"(first));
        return u;
    }
#endif
    return TC_N(load_words)(p);
}

// fn: load_once
template <class P> TC_FN P TC_N(load_once)(const P *p) {
    return TC_N(load_words_once)(p).v;
}

// fn: store
template <class P> TC_FN void TC_N(store)(P *p, const P &v) {
    TC_N(words)<P> u;
    unsigned *q = (unsigned *)p;
    u.v = v;
    #pragma unroll
    for (int i = 0; i < (int)sizeof(P) / 16; i++)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(q + 4 * i),
                     "r"(u.w[4 * i]), "r"(u.w[4 * i + 1]), "r"(u.w[4 * i + 2]), "r"(u.w[4 * i + 3])
                     : "memory");
    if (sizeof(P) == 8) asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(q), "r"(u.w[0]), "r"(u.w[sizeof(P) / 8]) : "memory");
    if (sizeof(P) < 8) *p = v;
}

// fn: forget
// Registers that the compiler knows nothing of any more: what it has made of them it makes again, rather than keep that,
// too. Of whole words.
template <class T, int N> TC_FN void TC_N(forget)(T (&held)[N]) {
    unsigned *w = (unsigned *)held;
    #pragma unroll
    for (int i = 0; i < (int)(sizeof(T) * N / 4); i++) asm volatile("" : "+r"(w[i]));
}

// fn: kept
// N halves in registers as the words that they were loaded by: each is taken out where it is used.
template <int N> struct TC_N(kept) {
    unsigned w[N / 2];
    __device__ __forceinline__ tc_u16 operator[](int i) const { return (tc_u16)(w[i / 2] >> 16 * (i % 2)); }
    template <class P> __device__ __forceinline__ void set(int i, const TC_N(words)<P> &u) {
        #pragma unroll
        for (int k = 0; k < (int)sizeof(P) / 4; k++) w[i / 2 + k] = u.w[k];
    }
};

// fn: splat
template <class T, int V> TC_FN tc_pack<T, V> TC_N(splat)(T x) {
    tc_pack<T, V> v;
    for (int l = 0; l < V; l++) v.at[l] = x;
    return v;
}

// fn: unpack
template <class T, int V> TC_FN void TC_N(unpack)(T *to, const tc_pack<T, V> &v) {
    #pragma unroll
    for (int l = 0; l < V; l++) to[l] = v.at[l];
}
