// The tensor of a block, where a launch is for a list of them: see cuda_print/list.c.

// fn: list
// Up to N tensors that a launch is for, each with W buffers, which the host lays out: see
// tc__list_argument.
template <int W, int N> struct tc_list {
    void *at[N][W];
    tc_i64 count[N];       // elements
    int first[N], rows;    // the first block of each; tensors
};

// fn: list_row
// The tensor of this block. TOP is the largest power of two below N.
template <int TOP, int W, int N> TC_FN int TC_N(list_row)(const tc_list<W, N> &list) {
    int row = 0;
    #pragma unroll
    for (int step = TOP; step; step /= 2)
        if (row + step < list.rows && list.first[row + step] <= (int)blockIdx.x) row += step;
    return row;
}
