// ---- loops and branches that stay in the graph ----
// The body is called once while a region or function is recorded, whatever the number of rows: what it records is a
// loop of the program, with kernels of its own, one program for any length. Outside it is called for each row. In a
// body, tensors of the outside are used as they are; they are not written in place, nothing is read or kept, and
// nothing random is drawn (TC_E_UNSUPPORTED): draw before the loop, and give what was drawn as rows. What a body
// makes ends with it, but for out[] (TC_E_DEAD). Each out[] is set (TC_E_NULL) to a tensor of the context (TC_E_DEAD, TC_E_FOREIGN). Results may go where what is given stands: &h may be both init
// and last.

// Calls `body` for each row of xs, in order: in[] are n_carry carries and behind them a row of each of the n_xs tensors
// of xs, of one dimension less; out[] are to be what the carries are for the next row, of their sizes and dtypes, and
// behind them n_ys results. The first row has init[]; last[i] gets carry i behind the last row, ys[i] the results of
// all rows, one after the other along a new first dimension. n_xs >= 1, and all xs have as many rows, which may be
// none (tc_arange numbers them); n_carry and n_ys may be 0, at most 64 each. Gradients go through it: what products,
// reductions, carries, and dear functions of products (sigmoid, tanh) were is saved for each row, all else computed
// again. `user` is handed to the body. On the CPU rows of a batch that never meet in it go through all turns by themselves,
// some on each thread: tc_explain tells whether they do.
// TC_E_SHAPE, TC_E_DTYPE: a carry that changes, xs that differ; then last and ys are null. TC_E_ARG: last and ys
// overlap. TC_E_NULL: body, or init, last or ys where there are carries or results; a result that nobody wants is freed.
//
//     static void cell(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) { // in: h, x
//         out[0] = out[1] = tc_tanh(tc_add(tc_matmul(in[0], w), in[1]));
//     }
//     tc_scan(cell, NULL, &h0, 1, &x, 1, &h, &y, 1); // x: [steps, batch, n]
TCDEF tc_status tc_scan_at(tc_body body, void *user, const tc_tensor *init, int n_carry,
                           const tc_tensor *xs, int n_xs, tc_tensor *last, tc_tensor *ys,
                           int n_ys, const char *file, int line);
// out[] = what `yes` makes of in[] where `pred`, one bool or integer, is not 0, else what `no` does; both are recorded,
// and one is run: what it makes of in[] alone, so in[] is what takes long. What they give has the same sizes and dtypes (TC_E_SHAPE). n_out is 1 to 63. Where a device computes, it is waited for.
TCDEF tc_status tc_cond_at(tc_tensor pred, tc_body yes, tc_body no, void *user,
                           const tc_tensor *in, int n_in, tc_tensor *out, int n_out,
                           const char *file, int line);
// out[] = init[] made again by `body` as long as `test` of them gives in its out[0] one bool or integer that is not 0, but `most`
// times at most: then it ends, whatever the test says. Both are recorded, once. n is 1 to 62. Gradients go back through
// as many turns as there were; memory for `most` is taken then. A device is waited for before each turn.
TCDEF tc_status tc_while_at(tc_body test, tc_body body, void *user, const tc_tensor *init,
                            int n, int64_t most, tc_tensor *out, const char *file,
                            int line);
