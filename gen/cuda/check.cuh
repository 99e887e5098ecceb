// Accesses that are looked at before they are made: see cuda_print/check.c.

// fn: checked
// What is read, and where is written, outside of a buffer.
static __device__ __align__(16) tc_u64 tc_nothing[16], tc_nowhere[16];

// Elements low .. high of a buffer, each access to which is looked at. The first outside is told.
template <class T> struct TC_N(checked) {
    T *memory;
    tc_i64 low, high;
    int buffer, write;     // its number, from 1
    tc_i64 launch;         // of the program
    const tc_state *state;
    __device__ __forceinline__ T *at(tc_i64 i, int n) const {
        if (low <= i && i + n <= high) return memory + i;
        if (!atomicCAS((tc_u64 *)state->flag + 4, (tc_u64)0, (tc_u64)buffer)) {
            state->flag[5] = i < low ? i : i + n - 1;
            state->flag[6] = launch;
            state->flag[7] = write;
        }
        return (T *)aside(memory);
    }
    static __device__ __forceinline__ const void *aside(const void *) { return tc_nothing; }
    static __device__ __forceinline__ void *aside(void *) { return tc_nowhere; }
    template <class I> __device__ __forceinline__ T &operator[](I i) const { return *at(i, 1); }
};
