// What code says around the calls that it makes. A visit has its own, made of what holds where it begins: what a
// region or a body leaves open ends with it, and it ends nothing that was begun outside.
enum { TC__AUTOCAST_DEEP = 16 };
typedef struct tc__lexical {
    int half;                          // what autocast computes products in; 0 = it is off
    int depth;                         // begins of tc_autocast_begin without their ends,
    uint8_t around[TC__AUTOCAST_DEEP]; //   and `half` before each of them
    int body;                          // of a function, which later calls may skip
    int stepping;                      // a tc_grad_scaler_step_begin without its end
    tc_tensor
        skips; // what is written in place stays as it is where this is true; null = nothing
    int scaling;        // a tc_lr_scale_begin without its end
    int unscaled;       //   that was refused: optimisers are, too
    tc_tensor lr_scale; // the factor of optimisers' lr; null = none
} tc__lexical;

static tc__lexical tc__lexical_inside(const tc__lexical *outer) {
    tc__lexical l;
    memset(&l, 0, sizeof l);
    l.half = outer->half, l.skips = outer->skips, l.body = outer->body;
    l.lr_scale = outer->lr_scale, l.unscaled = outer->unscaled;
    return l;
}
