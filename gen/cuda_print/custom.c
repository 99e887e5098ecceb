// The CUDA text of a custom op: a kernel that calls the user's cuda_source, with what that may use in
// front and the text itself behind, in a namespace of its own. So nothing in it, macros included, gets
// in the way of ours. As c_source it is a unit by itself, and all of its text is in its key.

static const tc__custom *tc__custom_of_printer(const tc__printer *p) {
    return tc__custom_of_group(p->out->ctx, p->g);
}

// What stands in front of the kernel.
static void tc__put_cuda_custom_head(tc__printer *p) {
    static const tc__prelude_text types = {tc__text_cuda_custom,
                                           (uint32_t)TC__COUNT(tc__text_cuda_custom)};
    tc__put(p->out, "\nnamespace tc_custom {\n");
    tc__put_dtype_names(p->out);
    tc__put_prelude_text(p->out, &types);
    tc__put(p->out,
            "__device__ void %s(const tc_buffer *in, int n_in, const tc_buffer *out);\n}\n",
            tc__custom_of_printer(p)->op.name);
}

static void tc__put_cuda_custom_source(tc__printer *p) {
    const tc__custom *o = tc__custom_of_printer(p);
    tc__put(p->out, "\nnamespace tc_custom {\n#line 1 \"custom op %s\"\n", o->op.name);
    tc__put_raw(p->out, o->op.cuda_source, strlen(o->op.cuda_source));
    tc__put(p->out, "\n}\n");
}

// `{(void *)in0, {tc_custom::TC_F32, 2, {s0, 64}}}` of the result, i = 0, or of operand i - 1.
static void tc__put_cuda_custom_buffer(tc__printer *p, const tc__opaque_plan *q,
                                       uint32_t i) {
    int64_t buffer = tc__call_buffer(q->call, i);
    int rank = tc__call_rank(q->call, i);
    int dtype = tc__custom_dtype(p->g, q->call, i);
    tc__put(p->out, "{(void *)");
    if (buffer < 0)
        tc__put(p->out, "0");
    else
        tc__put_buffer(p, buffer);
    tc__put(p->out, ", {tc_custom::");
    tc__put_dtype_name(p->out, dtype);
    tc__put(p->out, ", %d, {", rank);
    for (int d = 0; d < rank; d++) {
        tc__put(p->out, d ? ", " : "");
        tc__put_ix(p, tc__call_size(q->call, i, d));
    }
    tc__put(p->out, rank ? "}}}" : "0}}}");
}

// The step that calls the function. It is not called for nothing.
static void tc__put_custom_call(tc__printer *p, const tc__opaque_plan *q, int i) {
    uint32_t n = (uint32_t)q->call->attr[TC__CALL_OPERANDS];
    (void)i;
    tc__line(p);
    tc__put(p->out, "if ((");
    tc__put_ix(p, q->lines);
    tc__put(p->out, ") == 0) return;\n");
    tc__line(p);
    tc__put(p->out, "const tc_custom::tc_buffer operands[] = {");
    for (uint32_t k = 1; k <= n; k++) {
        tc__put(p->out, k > 1 ? ",\n        " : "\n        ");
        tc__put_cuda_custom_buffer(p, q, k);
    }
    tc__put(p->out, "};\n");
    tc__line(p);
    tc__put(p->out, "const tc_custom::tc_buffer result = ");
    tc__put_cuda_custom_buffer(p, q, 0);
    tc__put(p->out, ";\n");
    tc__line(p);
    tc__put(p->out, "tc_custom::%s(operands, %u, &result);\n",
            tc__custom_of_printer(p)->op.name, (unsigned)n);
}

// The step behind it where the result is of bools: kernels take them as 0 and 1.
static void tc__put_custom_bools(tc__printer *p, const tc__opaque_plan *q, int i) {
    (void)i;
    tc__line(p);
    tc__put(p->out, "const tc_i64 e = blockIdx.x * (tc_i64)blockDim.x + threadIdx.x;\n");
    tc__line(p);
    tc__put(p->out, "if (e < ");
    tc__put_ix(p, q->lines);
    tc__put(p->out, ") ");
    tc__put_buffer(p, tc__call_buffer(q->call, 0));
    tc__put(p->out, "[e] = ");
    tc__put_buffer(p, tc__call_buffer(q->call, 0));
    tc__put(p->out, "[e] != 0;\n");
}
