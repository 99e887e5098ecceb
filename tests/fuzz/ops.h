// Custom ops of fuzzed programs. Each is code and text at once: interpreted variants call the code,
// compiled ones compile the text, and both go into reproducers.
#ifndef FUZZ_OPS_H
#define FUZZ_OPS_H

// Running sums of f32 along the last dimension, in order. No shape function: sizes may be symbols.
#define FUZZ_SUMS                                                                          \
    static tc_status fuzz_sums(void *user, const tc_buffer *in, int n_in,                  \
                               const tc_buffer *out) {                                     \
        const float *x = (const float *)in->data;                                          \
        float *y = (float *)out->data;                                                     \
        int rank = in->spec.rank;                                                          \
        int64_t n = 1;                                                                     \
        int64_t cols = rank ? in->spec.dims[rank - 1] : 1;                                 \
        (void)user, (void)n_in;                                                            \
        for (int i = 0; i < rank; i++) n *= in->spec.dims[i];                              \
        for (int64_t i = 0; i < n; i++) y[i] = i % cols ? y[i - 1] + x[i] : x[i];          \
        return in->spec.dtype == TC_F32 ? TC_OK : TC_E_DTYPE;                              \
    }
// All elements, of any dtype, in one dimension and reverse order; every other one is left out.
#define FUZZ_TURN                                                                          \
    static tc_status fuzz_turn(void *user, const tc_buffer *in, int n_in,                  \
                               const tc_buffer *out) {                                     \
        static const char sizes[] = {1, 1, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8};                  \
        int size = sizes[in->spec.dtype];                                                  \
        int64_t n = 1;                                                                     \
        (void)user, (void)n_in;                                                            \
        for (int i = 0; i < in->spec.rank; i++) n *= in->spec.dims[i];                     \
        for (int64_t i = 0; i < out->spec.dims[0]; i++)                                    \
            for (int k = 0; k < size; k++)                                                 \
                ((char *)out->data)[i * size + k] =                                        \
                    ((const char *)in->data)[(n - 1 - 2 * i) * size + k];                  \
        return TC_OK;                                                                      \
    }
#define FUZZ_TURN_SHAPE                                                                    \
    static tc_status fuzz_turn_shape(void *user, const tc_spec *in, int n_in,              \
                                     tc_spec *out) {                                       \
        int64_t n = 1;                                                                     \
        (void)user, (void)n_in;                                                            \
        for (int i = 0; i < in->rank; i++) n *= in->dims[i];                               \
        out->rank = 1, out->dims[0] = (n + 1) / 2;                                         \
        return TC_OK;                                                                      \
    }
#define FUZZ_QUOTED(...) #__VA_ARGS__
#define FUZZ_TEXT(...)   FUZZ_QUOTED(__VA_ARGS__)

// clang-format off
FUZZ_SUMS
FUZZ_TURN
FUZZ_TURN_SHAPE
static const char fuzz_sums_text[] = FUZZ_TEXT(FUZZ_SUMS);
static const char fuzz_turn_text[] = FUZZ_TEXT(FUZZ_TURN);
// clang-format on

static void fuzz_register(tc_ctx *tc) {
    tc_custom_op op;
    memset(&op, 0, sizeof op);
    op.name = "fuzz_sums", op.run = fuzz_sums, op.c_source = fuzz_sums_text;
    tc_register_op(tc, &op);
    op.name = "fuzz_turn", op.run = fuzz_turn, op.c_source = fuzz_turn_text;
    op.shape = fuzz_turn_shape;
    tc_register_op(tc, &op);
}

static const char *const custom_ops[] = {"fuzz_sums", "fuzz_turn"};

// The same for a reproducer.
static void print_ops(FILE *f) {
    fprintf(f, "%s\n\n%s\n\n%s\n\n", fuzz_sums_text, fuzz_turn_text,
            FUZZ_TEXT(FUZZ_TURN_SHAPE));
    fprintf(f,
            "#define QUOTED(...) #__VA_ARGS__\n"
            "static const char fuzz_sums_text[] = QUOTED(%s);\n"
            "static const char fuzz_turn_text[] = QUOTED(%s);\n",
            fuzz_sums_text, fuzz_turn_text);
    fprintf(f, "static void fuzz_register(tc_ctx *tc) {\n"
               "    tc_custom_op op;\n    memset(&op, 0, sizeof op);\n"
               "    op.name = \"fuzz_sums\", op.run = fuzz_sums, op.c_source = "
               "fuzz_sums_text;\n    tc_register_op(tc, &op);\n"
               "    op.name = \"fuzz_turn\", op.run = fuzz_turn, op.c_source = "
               "fuzz_turn_text;\n    op.shape = fuzz_turn_shape;\n"
               "    tc_register_op(tc, &op);\n}\n\n");
}

#endif
