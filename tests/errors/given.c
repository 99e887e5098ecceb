// Calls that are given nothing, or something wrong, where no op's shape rule would say so: NULL for a context, a set of
// parameters, a function or a file; lists of optimisers; scalers; bodies and what they give; convolutions and pools. A
// row is a call, the error that it has to leave, and words of its text: the call, the value, the fix.
#include "tcompile.h"

#include "harness.h"

#include <limits.h>
#include <math.h>

static void quiet(void *user, int level, const char *channel, const char *text) {
    (void)user, (void)level, (void)channel, (void)text;
}

static tc_ctx *open_context(void) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1, config.logger.log = quiet;
    return tc_open(&config);
}

// Whether the error is `item`, its text has all of the words, which '|' keeps apart, and work goes on without it.
static void said(tc_ctx *tc, int at, tc_status item, const char *words) {
    const char *text = tc_error_text(tc);
    if (getenv("GIVEN_SHOW")) printf("%4d %s %s\n", at, tc_status_name(tc_error(tc)), text);
    if (!CHECK_EQ(tc_error(tc), item)) FAIL("line %d: \"%s\"", at, text);
    for (const char *w = words; *w;) {
        char word[160];
        size_t n = strcspn(w, "|");
        snprintf(word, sizeof word, "%.*s", (int)n, w);
        if (!strstr(text, word)) FAIL("line %d: \"%s\" lacks \"%s\"", at, text, word);
        w += n + (w[n] != 0);
    }
    tc_error_clear(tc);
    CHECK_STR(tc_error_text(tc), "");
}

#define GIVES(call, result, item, words)                                                   \
    do {                                                                                   \
        if ((call) != (result)) FAIL("line %d: %s is not " #result, __LINE__, #call);      \
        said(tc, __LINE__, item, words);                                                   \
    } while (0)
#define STATUS(call, item, words) GIVES(call, item, item, words)
#define RESULT(call, item, words) GIVES((call).id, 0, item, words)
#define SAYS(call, item, words)                                                            \
    do {                                                                                   \
        (void)(call);                                                                      \
        said(tc, __LINE__, item, words);                                                   \
    } while (0)

// ---- NULL for what a call is about ----

#define NO_CONTEXT(name) name ": the context is NULL|did tc_open fail?"

static tc_status host(void *user, const tc_buffer *in, int n_in) {
    return (void)user, (void)in, (void)n_in, TC_OK;
}
static void same(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = in[0];
}

static void makes_nothing(tc_ctx *tc) {
    const tc_dims d = TC_DIMS(2);
    float data[2] = {1, 2};
    int64_t strides[1] = {1};
    tc_tensor x = tc_null();
    RESULT(tc_from_data(NULL, data, d, TC_F32), TC_E_NULL, NO_CONTEXT("from_data"));
    RESULT(tc_const(NULL, data, d, TC_F32), TC_E_NULL, NO_CONTEXT("const"));
    RESULT(tc_wrap(NULL, data, d, TC_F32), TC_E_NULL, NO_CONTEXT("wrap"));
    RESULT(tc_wrap_strided(NULL, data, d, strides, TC_F32), TC_E_NULL,
           NO_CONTEXT("wrap_strided"));
    RESULT(tc_wrap_device(NULL, "cpu", data, d, TC_F32), TC_E_NULL,
           NO_CONTEXT("wrap_device"));
    RESULT(tc_empty(NULL, d, TC_F32), TC_E_NULL, NO_CONTEXT("empty"));
    RESULT(tc_full(NULL, d, 1, TC_F32), TC_E_NULL, NO_CONTEXT("full"));
    RESULT(tc_zeros(NULL, d, TC_F32), TC_E_NULL, NO_CONTEXT("zeros"));
    RESULT(tc_ones(NULL, d, TC_F32), TC_E_NULL, NO_CONTEXT("ones"));
    RESULT(tc_scalar(NULL, 1, TC_F32), TC_E_NULL, NO_CONTEXT("scalar"));
    RESULT(tc_arange(NULL, 0, 3, 1, TC_F32), TC_E_NULL, NO_CONTEXT("arange"));
    RESULT(tc_eye(NULL, 2, 2, TC_F32), TC_E_NULL, NO_CONTEXT("eye"));
    RESULT(tc_rand(NULL, d, TC_F32), TC_E_NULL, NO_CONTEXT("rand"));
    RESULT(tc_randn(NULL, d, TC_F32), TC_E_NULL, NO_CONTEXT("randn"));
    RESULT(tc_randint(NULL, 0, 3, d, TC_I64), TC_E_NULL, NO_CONTEXT("randint"));
    RESULT(tc_load_npy(NULL, "x"), TC_E_NULL, NO_CONTEXT("load_npy"));
    RESULT(tc_custom(NULL, 1, &x, 1), TC_E_NULL, NO_CONTEXT("custom"));
    RESULT(tc_scope_return(NULL, x), TC_E_NULL, NO_CONTEXT("scope_return"));
    GIVES(tc_params_open(NULL), NULL, TC_E_NULL, NO_CONTEXT("tc_params_open"));
    GIVES(tc_safetensors_open(NULL, "x"), NULL, TC_E_NULL,
          NO_CONTEXT("tc_safetensors_open"));
    GIVES(tc_compile(NULL, same, NULL, 0, NULL), NULL, TC_E_NULL, NO_CONTEXT("tc_compile"));
    GIVES(tc_open_shared(NULL), NULL, TC_E_NULL, NO_CONTEXT("tc_open_shared"));
    GIVES(tc_fn_in(NULL, NULL), NULL, TC_E_NULL, NO_CONTEXT("tc_fn_in"));
    GIVES(tc_fn_in(tc, NULL), NULL, TC_E_NULL, "tc_fn_in: the function is NULL");
}

static void controls_nothing(tc_ctx *tc) {
    tc_tensor x = tc_null(), out = tc_null();
    tc_rng_state state = {0, 0};
    tc_options options = tc_options_default();
    tc_grad_scaler scaler;
    STATUS(tc_trace_begin(NULL, "r"), TC_E_NULL, NO_CONTEXT("tc_trace_begin"));
    STATUS(tc_trace_end(NULL), TC_E_NULL, NO_CONTEXT("tc_trace_end"));
    STATUS(tc_disable_begin(NULL), TC_E_NULL, NO_CONTEXT("tc_disable_begin"));
    STATUS(tc_disable_end(NULL), TC_E_NULL, NO_CONTEXT("tc_disable_end"));
    STATUS(tc_no_grad_begin(NULL), TC_E_NULL, NO_CONTEXT("tc_no_grad_begin"));
    STATUS(tc_no_grad_end(NULL), TC_E_NULL, NO_CONTEXT("tc_no_grad_end"));
    STATUS(tc_autocast_begin(NULL, TC_F16), TC_E_NULL, NO_CONTEXT("tc_autocast_begin"));
    STATUS(tc_autocast_end(NULL), TC_E_NULL, NO_CONTEXT("tc_autocast_end"));
    STATUS(tc_lr_scale_begin(NULL, tc_null()), TC_E_NULL, NO_CONTEXT("tc_lr_scale_begin"));
    STATUS(tc_lr_scale_end(NULL), TC_E_NULL, NO_CONTEXT("tc_lr_scale_end"));
    STATUS(tc_scope_end(NULL), TC_E_NULL, NO_CONTEXT("scope_end"));
    SAYS((tc_scope_begin(NULL), 0), TC_E_NULL, NO_CONTEXT("tc_scope_begin"));
    STATUS(tc_training(NULL, 1), TC_E_NULL, NO_CONTEXT("tc_training"));
    STATUS(tc_lazy(NULL, 1), TC_E_NULL, NO_CONTEXT("tc_lazy"));
    STATUS(tc_eval(NULL, NULL, 0), TC_E_NULL, NO_CONTEXT("tc_eval"));
    STATUS(tc_freeze(NULL), TC_E_NULL, NO_CONTEXT("tc_freeze"));
    STATUS(tc_thaw(NULL), TC_E_NULL, NO_CONTEXT("tc_thaw"));
    STATUS(tc_reset(NULL), TC_E_NULL, NO_CONTEXT("tc_reset"));
    STATUS(tc_wait_compiled(NULL), TC_E_NULL, NO_CONTEXT("tc_wait_compiled"));
    STATUS(tc_sync(NULL), TC_E_NULL, NO_CONTEXT("tc_sync"));
    SAYS(tc_set_stance(NULL, TC_STANCE_DEFAULT), TC_E_NULL, NO_CONTEXT("tc_set_stance"));
    STATUS(tc_set_default_device(NULL, "cpu"), TC_E_NULL,
           NO_CONTEXT("tc_set_default_device"));
    STATUS(tc_register_device(NULL, NULL), TC_E_NULL, NO_CONTEXT("tc_register_device"));
    STATUS(tc_register_backend(NULL, NULL), TC_E_NULL, NO_CONTEXT("tc_register_backend"));
    GIVES(tc_register_op(NULL, NULL), 0, TC_E_NULL, NO_CONTEXT("tc_register_op"));
    STATUS(tc_options_parse(NULL, &options, ""), TC_E_NULL, NO_CONTEXT("tc_options_parse"));
    STATUS(tc_manual_seed(NULL, 1), TC_E_NULL, NO_CONTEXT("tc_manual_seed"));
    STATUS(tc_get_rng_state(NULL, &state), TC_E_NULL, NO_CONTEXT("tc_get_rng_state"));
    STATUS(tc_set_rng_state(NULL, &state), TC_E_NULL, NO_CONTEXT("tc_set_rng_state"));
    STATUS(tc_get_rng_state(tc, NULL), TC_E_NULL, "tc_get_rng_state: state is NULL");
    STATUS(tc_set_rng_state(tc, NULL), TC_E_NULL, "tc_set_rng_state: state is NULL");
    STATUS(tc_host_call(NULL, host, NULL, NULL, 0), TC_E_NULL, NO_CONTEXT("tc_host_call"));
    STATUS(tc_checkpoint(NULL, same, NULL, &x, 1, &out, 1), TC_E_NULL,
           NO_CONTEXT("tc_checkpoint"));
    STATUS(tc_grad_scaler_init(NULL, &scaler, 0), TC_E_NULL,
           NO_CONTEXT("tc_grad_scaler_init"));
    STATUS(tc_safetensors_save(NULL, "x", NULL, NULL, 0, NULL, 0), TC_E_NULL,
           NO_CONTEXT("tc_safetensors_save"));
    STATUS(tc_fail(NULL, TC_E_DEVICE, "broken"), TC_E_NULL, NO_CONTEXT("tc_fail"));
    SAYS((tc_guard_bytes(NULL, &x, sizeof x), 0), TC_E_NULL, NO_CONTEXT("tc_guard_bytes"));
}

static void tells_nothing(tc_ctx *tc) {
    tc_spec spec;
    memset(&spec, 0, sizeof spec);
    SAYS(tc_explain(NULL), TC_E_NULL, NO_CONTEXT("tc_explain"));
    SAYS(tc_explain_counts(NULL, "x").programs, TC_E_NULL, NO_CONTEXT("tc_explain_counts"));
    STATUS(tc_explain_html(NULL, "x"), TC_E_NULL, NO_CONTEXT("tc_explain_html"));
    GIVES(tc_region_source(NULL, "x"), NULL, TC_E_NULL, NO_CONTEXT("tc_region_source"));
    GIVES(tc_region_kernels(NULL, "x"), 0, TC_E_NULL, NO_CONTEXT("tc_region_kernels"));
    STATUS(tc_profile_begin(NULL), TC_E_NULL, NO_CONTEXT("tc_profile_begin"));
    STATUS(tc_profile_end(NULL), TC_E_NULL, NO_CONTEXT("tc_profile_end"));
    SAYS(tc_profile_text(NULL), TC_E_NULL, NO_CONTEXT("tc_profile_text"));
    STATUS(tc_profile_trace(NULL, "x"), TC_E_NULL, NO_CONTEXT("tc_profile_trace"));
    STATUS(tc_call(NULL, NULL, 0, NULL, 0), TC_E_NULL, "tc_call: the function is NULL");
    STATUS(tc_call_into(NULL, NULL, 0, NULL, 0), TC_E_NULL,
           "tc_call_into: the function is NULL");
    STATUS(tc_precompile(NULL, &spec, 1, 1), TC_E_NULL,
           "tc_precompile: the function is NULL");
    STATUS(tc_safetensors_spec(NULL, 0, &spec), TC_E_NULL,
           "tc_safetensors_spec: the file is NULL");
    RESULT(tc_safetensors_read(NULL, "x"), TC_E_NULL,
           "tc_safetensors_read: the file is NULL");
    RESULT(tc_safetensors_borrow(NULL, "x"), TC_E_NULL,
           "tc_safetensors_borrow: the file is NULL");
    // What frees may be given nothing, and what asks for an error, too.
    tc_close(NULL), tc_params_close(NULL), tc_safetensors_close(NULL), tc_fn_free(NULL);
    tc_grad_scaler_free(NULL), tc_error_clear(NULL);
    CHECK_EQ(tc_error(NULL), TC_E_NULL);
    CHECK_EQ(tc_error(tc), TC_OK);
}

TEST(nothing_to_work_in) {
    tc_ctx *tc = open_context();
    makes_nothing(tc), controls_nothing(tc), tells_nothing(tc);
    tc_close(tc);
    CHECK(tc_zeros(NULL, TC_DIMS(2), TC_F32).id == 0); // nor is there anywhere to say so
}

// ---- sets of parameters ----

#define NO_SET(name) name ": the set is NULL|did tc_params_open fail?"

TEST(no_set) {
    tc_ctx *tc = open_context();
    tc_params *p = tc_params_open(tc);
    const tc_tensor *list, *grads;
    tc_init zeros = tc_init_zeros();
    RESULT(tc_param(NULL, "w", TC_DIMS(2), TC_F32, zeros), TC_E_NULL, NO_SET("tc_param"));
    CHECK(!tc_error(tc));
    tc_param(NULL, "w", TC_DIMS(2), TC_F32, zeros);
    CHECK_EQ(tc_error_line(tc), __LINE__ - 1);
    tc_error_clear(tc);
    RESULT(tc_param_buffer(NULL, "w", TC_DIMS(2), TC_F32, zeros), TC_E_NULL,
           NO_SET("tc_param_buffer"));
    GIVES(tc_params_count(NULL), 0, TC_E_NULL, NO_SET("tc_params_count"));
    GIVES(tc_params_elements(NULL), 0, TC_E_NULL, NO_SET("tc_params_elements"));
    GIVES(tc_params_bytes(NULL), 0, TC_E_NULL, NO_SET("tc_params_bytes"));
    GIVES(tc_params_name(NULL, 0), NULL, TC_E_NULL, NO_SET("tc_params_name"));
    RESULT(tc_params_tensor(NULL, 0), TC_E_NULL, NO_SET("tc_params_tensor"));
    RESULT(tc_params_find(NULL, "w"), TC_E_NULL, NO_SET("tc_params_find"));
    GIVES(tc_params_list(NULL, &list, &grads), -1, TC_E_NULL, NO_SET("tc_params_list"));
    CHECK(!list && !grads);
    GIVES(tc_params_state(NULL, p, "m"), NULL, TC_E_NULL, NO_SET("tc_params_state"));
    STATUS(tc_params_zero_grad(NULL), TC_E_NULL, NO_SET("tc_params_zero_grad"));
    STATUS(tc_params_to(NULL, "cpu"), TC_E_NULL, NO_SET("tc_params_to"));
    GIVES(tc_params_text(NULL)[0], 0, TC_E_NULL, NO_SET("tc_params_text"));
    STATUS(tc_params_save(NULL, "x"), TC_E_NULL, NO_SET("tc_params_save"));
    STATUS(tc_params_load(NULL, "x", 0), TC_E_NULL, NO_SET("tc_params_load"));
    GIVES(tc_params_unmatched(NULL)[0], 0, TC_E_NULL, NO_SET("tc_params_unmatched"));
    tc_close(tc);
}

TEST(wrong_words_for_a_set) {
    tc_ctx *other = open_context(),
           *tc = open_context(); // errors of nothing go to the last
    tc_params *p = tc_params_open(tc), *theirs = tc_params_open(other);
    tc_init zeros = tc_init_zeros();
    tc_tensor w = tc_param(p, "w", TC_DIMS(2), TC_F32, zeros);
    RESULT(tc_param(p, NULL, TC_DIMS(2), TC_F32, zeros), TC_E_NULL,
           "tc_param: name is NULL");
    RESULT(tc_param(p, "", TC_DIMS(2), TC_F32, zeros), TC_E_ARG,
           "tc_param: the name \"\" cannot be saved; take another");
    RESULT(tc_param(p, "v", TC_DIMS(-2), TC_F32, zeros), TC_E_SHAPE, "tc_param|-2");
    RESULT(tc_param(p, "v", TC_DIMS(2), (tc_dtype)99, zeros), TC_E_DTYPE, "99");
    RESULT(tc_params_find(p, NULL), TC_E_NULL, "tc_params_find: the name is NULL");
    RESULT(tc_params_find(p, "v"), TC_OK, ""); // asking is no error
    RESULT(tc_params_tensor(p, -1), TC_OK, "");
    GIVES(tc_params_name(p, 1), NULL, TC_OK, "");
    GIVES(tc_params_state(p, NULL, "m"), NULL, TC_E_NULL, "tc_params_state: state is NULL");
    GIVES(tc_params_state(p, p, "m"), NULL, TC_E_ARG,
          "state is the set of the parameters; open another");
    GIVES(tc_params_state(p, theirs, "m"), NULL, TC_E_ARG, "state is of another context");
    tc_params *state = tc_params_open(tc);
    GIVES(tc_params_state(p, state, NULL), NULL, TC_E_NULL,
          "tc_params_state: prefix is NULL");
    STATUS(tc_params_to(p, NULL), TC_E_NULL,
           "tc_params_to: the name of the device is NULL");
    STATUS(tc_params_to(p, "cuda:7"), TC_E_DEVICE, "tc_params_to|cuda:7");
    STATUS(tc_params_save(p, NULL), TC_E_NULL, "tc_params_save: path is NULL");
    STATUS(tc_params_load(p, NULL, 0), TC_E_NULL, "tc_params_load: path is NULL");
    STATUS(tc_params_load(p, "x", 6), TC_E_ARG,
           "tc_params_load: flags are 6; 0 or TC_LOAD_PARTIAL");
    STATUS(tc_params_load(p, "/nowhere/x", 0), TC_E_IO, "tc_params_load|/nowhere/x");
    STATUS(tc_params_save(p, "/nowhere/x"), TC_E_IO, "tc_params_save|/nowhere/x");
    // A parameter that somebody has freed
    tc_free(w);
    const char *freed = "\"w\" was freed; the set frees it, with tc_params_close";
    GIVES(tc_params_list(p, NULL, NULL), -1, TC_E_DEAD, freed);
    GIVES(tc_params_state(p, state, "m"), NULL, TC_E_DEAD, freed);
    STATUS(tc_params_zero_grad(p), TC_E_DEAD, freed);
    STATUS(tc_params_to(p, "cpu"), TC_E_DEAD, freed);
    STATUS(tc_params_save(p, "/tmp/never"), TC_E_DEAD, freed);
    RESULT(tc_param(p, "w", TC_DIMS(2), TC_F32, zeros), TC_E_DEAD, freed);
    CHECK_EQ(tc_error(other), TC_OK);
    tc_close(tc), tc_close(other);
}

// ---- lists of optimisers ----

// One list of each optimiser, over the same arrays; NULL = as they are.
typedef struct lists {
    tc_tensor w[2], g[2], m[2], v[2], step;
} lists;

static lists lists_of(tc_ctx *tc) {
    lists l;
    for (int i = 0; i < 2; i++) {
        l.w[i] = tc_ones(tc, TC_DIMS(3), TC_F32), l.g[i] = tc_ones(tc, TC_DIMS(3), TC_F32);
        l.m[i] = tc_zeros(tc, TC_DIMS(3), TC_F32);
        l.v[i] = tc_zeros(tc, TC_DIMS(3), TC_F32);
    }
    l.step = tc_zeros(tc, TC_SCALAR, TC_F32);
    return l;
}

enum { OPTIMISERS = 6 };
static const char *const optimiser[OPTIMISERS] = {"sgd_list_",     "adam_list_",
                                                  "adamw_list_",   "adagrad_list_",
                                                  "rmsprop_list_", "lion_list_"};

static tc_status optimise(int k, const tc_tensor *w, const tc_tensor *g, const tc_tensor *m,
                          const tc_tensor *v, int n, tc_tensor step) {
    switch (k) {
    case 0: return tc_sgd_list_(w, g, m, n, 0.1, 0.9, 0, 0);
    case 1: return tc_adam_list_(w, g, m, v, n, step, 0.1, 0.9, 0.99, 1e-8, 0);
    case 2: return tc_adamw_list_(w, g, m, v, n, step, 0.1, 0.9, 0.99, 1e-8, 0);
    case 3: return tc_adagrad_list_(w, g, m, n, step, 0.1, 0, 1e-8, 0);
    case 4: return tc_rmsprop_list_(w, g, m, NULL, v, n, 0.1, 0.9, 1e-8, 0, 0.9, 0);
    default: return tc_lion_list_(w, g, m, n, 0.1, 0.9, 0.99, 0);
    }
}

static const char *about(int k, const char *words) {
    static char text[200];
    snprintf(text, sizeof text, "%s: %s", optimiser[k], words);
    return text;
}

TEST(lists_of_optimisers) {
    tc_ctx *other = open_context(),
           *tc = open_context(); // errors of nothing go to the last
    lists l = lists_of(tc), theirs = lists_of(other);
    for (int k = 0; k < OPTIMISERS; k++) {
        tc_tensor bad[2], state[2]; // of which element 1 is wrong
        bad[0] = l.w[0], bad[1] = tc_null();
        state[0] = l.m[0], state[1] = tc_null();
        STATUS(optimise(k, NULL, l.g, l.m, l.v, 2, l.step), TC_E_NULL,
               about(k, "parameter is null, an array of 2 is needed"));
        STATUS(optimise(k, l.w, NULL, l.m, l.v, 2, l.step), TC_E_NULL,
               about(k, "grad is null, an array of 2"));
        STATUS(optimise(k, l.w, l.g, NULL, l.v, 2, l.step), TC_E_NULL,
               about(k, "|is null, an array of 2"));
        STATUS(optimise(k, l.w, l.g, l.m, l.v, -2, l.step), TC_E_ARG,
               about(k, "-2 tensors"));
        STATUS(optimise(k, bad, l.g, l.m, l.v, 2, l.step), TC_E_NULL,
               about(k, "parameter 1 is a null tensor"));
        STATUS(optimise(k, l.w, bad, l.m, l.v, 2, l.step), TC_E_NULL,
               about(k, "grad 1 is a null tensor"));
        STATUS(optimise(k, l.w, l.g, state, l.v, 2, l.step), TC_E_NULL,
               about(k, "| 1 is a null tensor"));
        bad[1].id = 0x7f23456789abcdefu;
        STATUS(optimise(k, bad, l.g, l.m, l.v, 2, l.step), TC_E_DEAD,
               about(k, "parameter 1: |initialised"));
        STATUS(optimise(k, l.w, bad, l.m, l.v, 2, l.step), TC_E_DEAD,
               about(k, "grad 1: |initialised"));
        bad[1] = tc_ones(tc, TC_DIMS(3), TC_F32), tc_free(bad[1]);
        STATUS(optimise(k, bad, l.g, l.m, l.v, 2, l.step), TC_E_DEAD,
               about(k, "parameter 1: |freed"));
        STATUS(optimise(k, l.w, bad, l.m, l.v, 2, l.step), TC_E_DEAD,
               about(k, "grad 1: |freed"));
        state[1] = bad[1];
        STATUS(optimise(k, l.w, l.g, state, l.v, 2, l.step), TC_E_DEAD,
               about(k, "| 1: |freed"));
        bad[1] = theirs.w[1];
        STATUS(optimise(k, bad, l.g, l.m, l.v, 2, l.step), TC_E_FOREIGN,
               about(k, "parameter 1: |context"));
        STATUS(optimise(k, l.w, theirs.g, l.m, l.v, 2, l.step), TC_E_FOREIGN,
               about(k, "grad 0: |context"));
        STATUS(optimise(k, l.w, l.g, theirs.m, l.v, 2, l.step), TC_E_FOREIGN,
               about(k, "|context"));
        bad[1] = tc_ones(tc, TC_DIMS(4), TC_F32);
        STATUS(optimise(k, l.w, bad, l.m, l.v, 2, l.step), TC_E_SHAPE,
               about(k, "grad 1 is [4], its parameter [3]|"));
        CHECK_EQ(tc_get(l.w[0], TC_DIMS(0)),
                 1); // all is checked before anything is written
        CHECK_EQ(tc_get(l.step, TC_SCALAR), 0);
    }
    CHECK_EQ(tc_error(other), TC_OK);
    tc_close(tc), tc_close(other);
}

TEST(nesterov_needs_momentum) {
    tc_ctx *tc = open_context();
    lists l = lists_of(tc);
    const char *words = "nesterov is 1 and momentum 0|give a momentum above 0";
    RESULT(tc_sgd_(l.w[0], l.g[0], l.m[0], 0.1, 0, 0, 1), TC_E_ARG, words);
    STATUS(tc_sgd_list_(l.w, l.g, l.m, 2, 0.1, 0, 0, 1), TC_E_ARG, words);
    STATUS(tc_sgd_list_(l.w, l.g, NULL, 2, 0.1, 0, 0, 1), TC_E_ARG, words);
    CHECK_EQ(tc_get(l.w[0], TC_DIMS(0)), 1);
    CHECK_EQ(tc_sgd_list_(l.w, l.g, l.m, 2, 0.5, 0.5, 0, 1), TC_OK);
    CHECK_EQ(tc_get(l.w[0], TC_DIMS(0)), 1 - 0.5 * (1 + 0.5));
    tc_close(tc);
}

// ---- scalers ----

TEST(scalers) {
    tc_ctx *other = open_context(),
           *tc = open_context(); // errors of nothing go to the last
    tc_grad_scaler s, none, theirs;
    memset(&none, 0, sizeof none);
    tc_tensor loss = tc_scalar(tc, 1, TC_F32), g = tc_ones(tc, TC_DIMS(2), TC_F32);
    STATUS(tc_grad_scaler_init(tc, NULL, 0), TC_E_NULL,
           "tc_grad_scaler_init: the scaler is NULL");
    STATUS(tc_grad_scaler_init(tc, &s, -1), TC_E_ARG,
           "tc_grad_scaler_init: the scale is -1; a finite number above 0");
    STATUS(tc_grad_scaler_init(tc, &s, (double)NAN), TC_E_ARG, "the scale is nan");
    CHECK_EQ(tc_grad_scaler_init(tc, &s, 0), TC_OK);
    CHECK_EQ(tc_grad_scaler_init(other, &theirs, 0), TC_OK);
    const tc_grad_scaler *const empty[] = {NULL, &none};
    for (int i = 0; i < 2; i++) {
        RESULT(tc_grad_scaler_scale(empty[i], loss), TC_E_NULL,
               "tc_grad_scaler_scale: the scaler |");
        STATUS(tc_grad_scaler_unscale_(empty[i], &g, 1), TC_E_NULL,
               "tc_grad_scaler_unscale_: the scaler |");
        STATUS(tc_grad_scaler_step_begin(empty[i]), TC_E_NULL,
               "tc_grad_scaler_step_begin: the scaler |");
        STATUS(tc_grad_scaler_step_end(empty[i]), TC_E_NULL,
               "tc_grad_scaler_step_end: the scaler |");
        STATUS(tc_grad_scaler_update(empty[i]), TC_E_NULL,
               "tc_grad_scaler_update: the scaler |");
    }
    RESULT(tc_grad_scaler_scale(&s, tc_null()), TC_E_NULL,
           "tc_grad_scaler_scale: loss is a null tensor");
    STATUS(tc_grad_scaler_unscale_(&s, NULL, 2), TC_E_NULL,
           "tc_grad_scaler_unscale_: grad is null, an array of 2");
    STATUS(tc_grad_scaler_unscale_(&s, &g, -1), TC_E_ARG, "tc_grad_scaler_unscale_: -1");
    // of another context, whose error it is
    CHECK_EQ(tc_grad_scaler_scale(&theirs, loss).id, 0);
    said(other, __LINE__, TC_E_FOREIGN, "tc_grad_scaler_scale: loss: |context");
    CHECK_EQ(tc_grad_scaler_unscale_(&theirs, &g, 1), TC_E_FOREIGN);
    said(other, __LINE__, TC_E_FOREIGN, "tc_grad_scaler_unscale_: |context");
    CHECK_EQ(tc_error(tc), TC_OK);
    tc_grad_scaler freed = s;
    tc_grad_scaler_free(&s);
    RESULT(tc_grad_scaler_scale(&freed, loss), TC_E_DEAD, "freed");
    STATUS(tc_grad_scaler_unscale_(&freed, &g, 1), TC_E_DEAD, "freed");
    STATUS(tc_grad_scaler_step_begin(&freed), TC_E_DEAD, "freed");
    STATUS(tc_grad_scaler_update(&freed), TC_E_DEAD, "freed");
    tc_close(tc), tc_close(other);
}

// ---- bodies: what they give ----

typedef enum gift { UNSET, GARBAGE, FREED, FOREIGN, GIFTS } gift;
static const tc_status gift_status[GIFTS] = {TC_E_NULL, TC_E_DEAD, TC_E_DEAD, TC_E_FOREIGN};
static const char *const gift_words[GIFTS] = {"did not set out[0]", "initialised", "freed",
                                              "context"};

// What a body gives instead of a result, and a good body of one carry.
static tc_tensor given_by_body;
static void gives(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    (void)tc_add_s(in[0], 1);
    out[0] = given_by_body;
}
static void adds(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_add_s(in[0], 1);
}
static void goes_on(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_lt_s(in[0], 3);
}

typedef enum caller {
    CHECKPOINT,
    SCAN,
    WHILE,
    WHILE_TEST,
    COND_YES,
    COND_NO,
    FUNCTION,
    CALLERS
} caller;
static const char *const caller_words[CALLERS] = {
    "tc_checkpoint: |its body",     "tc_scan: |the body",
    "tc_while: |the body",          "tc_while: |the test",
    "tc_cond: |yes (pred is true)", "tc_cond: |no (pred is false)",
    "function \"gives\"|its body"};

// The call whose body is `gives`. x is a number, rows four of them.
static tc_status call_with(caller k, tc_ctx *tc, tc_fn *f, tc_tensor x, tc_tensor rows,
                           tc_tensor *out, int *line) {
    tc_tensor pred = tc_gt_s(x, 0); // false
    if (k == COND_YES) pred = tc_logical_not(pred);
    *line = __LINE__ + 2;
    switch (k) {
    case CHECKPOINT:
        return tc_checkpoint_at(tc, gives, NULL, &x, 1, out, 1, __FILE__, *line);
    case SCAN:
        return tc_scan_at(gives, NULL, &x, 1, &rows, 1, out, NULL, 0, __FILE__, *line);
    case WHILE: return tc_while_at(goes_on, gives, NULL, &x, 1, 9, out, __FILE__, *line);
    case WHILE_TEST: return tc_while_at(gives, adds, NULL, &x, 1, 9, out, __FILE__, *line);
    case COND_YES:
        return tc_cond_at(pred, gives, adds, NULL, &x, 1, out, 1, __FILE__, *line);
    case COND_NO:
        return tc_cond_at(pred, adds, gives, NULL, &x, 1, out, 1, __FILE__, *line);
    default: return tc_call_at(f, &x, 1, out, 1, __FILE__, *line);
    }
}

TEST(what_bodies_give) {
    tc_ctx *other = open_context(),
           *tc = open_context(); // errors of nothing go to the last
    tc_tensor x = tc_scalar(tc, 0, TC_F32), rows = tc_ones(tc, TC_DIMS(4), TC_F32);
    tc_tensor gift[GIFTS];
    gift[UNSET] = tc_null(), gift[GARBAGE].id = 0x7f23456789abcdefu;
    gift[FREED] = tc_scalar(tc, 2, TC_F32), tc_free(gift[FREED]);
    gift[FOREIGN] = tc_scalar(other, 2, TC_F32);
    for (int inside = 0; inside < 2; inside++) {
        for (int k = 0; k < CALLERS; k++) {
            for (int g = 0; g < GIFTS; g++) {
                tc_fn *f = tc_compile(tc, gives, NULL, 0, NULL);
                tc_tensor out = x;
                int line;
                given_by_body = gift[g];
                if (inside) tc_trace_begin(tc, "inside");
                tc_status s = call_with((caller)k, tc, f, x, rows, &out, &line);
                CHECK_EQ(tc_error_line(tc), line); // the call that has the body
                CHECK_EQ(out.id, 0);
                CHECK_EQ(s, gift_status[g]);
                if (inside) CHECK_EQ(tc_trace_end(tc), gift_status[g]);
                char words[200];
                snprintf(words, sizeof words, "%s|out[0]|%s", caller_words[k],
                         gift_words[g]);
                said(tc, 1000 * inside + 10 * k + g, gift_status[g], words);
                tc_fn_free(f);
            }
        }
    }
    CHECK_EQ(tc_error(other), TC_OK);
    tc_close(tc), tc_close(other);
}

// ---- bodies: what they are given ----

static void calls_with_bodies(tc_ctx *tc, tc_tensor x, tc_status status,
                              const char *words) {
    tc_tensor rows = tc_ones(tc, TC_DIMS(4), TC_F32),
              yes = tc_full(tc, TC_SCALAR, 1, TC_BOOL);
    tc_tensor good = tc_scalar(tc, 0, TC_F32), out[2] = {good, good};
    STATUS(tc_checkpoint(tc, adds, NULL, &x, 1, out, 1), status, words);
    STATUS(tc_scan(adds, NULL, &x, 1, &rows, 1, out, NULL, 0), status, words);
    STATUS(tc_scan(adds, NULL, &good, 1, &x, 1, out, NULL, 0), status, words);
    STATUS(tc_while(goes_on, adds, NULL, &x, 1, 9, out), status, words);
    STATUS(tc_cond(yes, adds, adds, NULL, &x, 1, out, 1), status, words);
    STATUS(tc_cond(x, adds, adds, NULL, &good, 1, out, 1), status, words);
    CHECK_EQ(out[0].id, 0);
}

TEST(what_bodies_are_given) {
    tc_ctx *other = open_context(),
           *tc = open_context(); // errors of nothing go to the last
    tc_tensor x = tc_scalar(tc, 0, TC_F32), garbage, freed = tc_scalar(tc, 0, TC_F32);
    tc_tensor theirs = tc_scalar(other, 0, TC_F32);
    garbage.id = 0x7f23456789abcdefu, tc_free(freed);
    for (int inside = 0; inside < 2; inside++) {
        if (inside) tc_trace_begin(tc, "inside");
        calls_with_bodies(tc, tc_null(), TC_E_NULL, "null tensor");
        calls_with_bodies(tc, garbage, TC_E_DEAD, "initialised");
        calls_with_bodies(tc, freed, TC_E_DEAD, "freed");
        if (inside) CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    (void)theirs;
    tc_tensor out[2], rows = tc_ones(tc, TC_DIMS(4), TC_F32);
    tc_tensor yes = tc_full(tc, TC_SCALAR, 1, TC_BOOL);
    STATUS(tc_checkpoint(tc, adds, NULL, &theirs, 1, out, 1), TC_E_FOREIGN, "context");
    STATUS(tc_scan(adds, NULL, &theirs, 1, &rows, 1, out, NULL, 0), TC_E_FOREIGN,
           "context");
    STATUS(tc_cond(yes, adds, adds, NULL, &theirs, 1, out, 1), TC_E_FOREIGN, "context");
    STATUS(tc_checkpoint(tc, NULL, NULL, &x, 1, out, 1), TC_E_NULL,
           "tc_checkpoint: body is NULL");
    STATUS(tc_checkpoint(tc, adds, NULL, NULL, 1, out, 1), TC_E_NULL,
           "tc_checkpoint: in is NULL");
    STATUS(tc_checkpoint(tc, adds, NULL, &x, 1, NULL, 1), TC_E_NULL,
           "tc_checkpoint: out is NULL");
    STATUS(tc_checkpoint(tc, adds, NULL, &x, -1, out, 1), TC_E_ARG,
           "tc_checkpoint: n_in is -1");
    STATUS(tc_checkpoint(tc, adds, NULL, &x, 1, out, -1), TC_E_ARG,
           "tc_checkpoint: n_out is -1");
    STATUS(tc_scan(NULL, NULL, &x, 1, &rows, 1, out, NULL, 0), TC_E_NULL,
           "tc_scan: the body is null");
    STATUS(tc_scan(adds, NULL, &x, -1, &rows, 1, out, NULL, 0), TC_E_ARG,
           "tc_scan: -1 carries|0 to 64 are possible");
    STATUS(tc_scan(adds, NULL, &x, 1, &rows, 1, out, NULL, -1), TC_E_ARG,
           "tc_scan: |-1 ys");
    STATUS(tc_scan(adds, NULL, &x, 1, &rows, -1, out, NULL, 0), TC_E_ARG,
           "tc_scan: there are no xs");
    STATUS(tc_scan(adds, NULL, NULL, 1, &rows, 1, out, NULL, 0), TC_E_NULL,
           "tc_scan: init is null");
    STATUS(tc_scan(adds, NULL, &x, 1, &rows, 1, NULL, NULL, 0), TC_E_NULL,
           "tc_scan: last is null");
    STATUS(tc_while(NULL, adds, NULL, &x, 1, 9, out), TC_E_NULL,
           "tc_while: the test is null");
    STATUS(tc_while(goes_on, NULL, NULL, &x, 1, 9, out), TC_E_NULL,
           "tc_while: the body is null");
    STATUS(tc_while(goes_on, adds, NULL, &x, 1, 9, NULL), TC_E_NULL,
           "tc_while: out is null");
    STATUS(tc_while(goes_on, adds, NULL, NULL, 1, 9, out), TC_E_NULL,
           "tc_while: init is null");
    STATUS(tc_while(goes_on, adds, NULL, &x, -1, 9, out), TC_E_ARG,
           "tc_while: n is -1; 1 to ");
    STATUS(tc_while(goes_on, adds, NULL, &x, 1, -9, out), TC_E_ARG, "tc_while: |most -9");
    STATUS(tc_cond(yes, NULL, adds, NULL, &x, 1, out, 1), TC_E_NULL,
           "tc_cond: yes (pred is true) is null");
    STATUS(tc_cond(yes, adds, NULL, NULL, &x, 1, out, 1), TC_E_NULL,
           "tc_cond: no (pred is false) is null");
    STATUS(tc_cond(yes, adds, adds, NULL, NULL, 1, out, 1), TC_E_NULL,
           "tc_cond: in is null");
    STATUS(tc_cond(yes, adds, adds, NULL, &x, 1, NULL, 1), TC_E_NULL,
           "tc_cond: out is null");
    STATUS(tc_cond(yes, adds, adds, NULL, &x, -1, out, 1), TC_E_ARG, "tc_cond: n_in is -1");
    STATUS(tc_cond(yes, adds, adds, NULL, &x, 1, out, 0), TC_E_ARG, "tc_cond: |n_out 0");
    CHECK_EQ(tc_error(other), TC_OK);
    tc_close(tc), tc_close(other);
}

// ---- branches that differ, values that are read ----

static void narrow(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 2), out[1] = tc_sum_all(in[0]);
}
static void wide(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], 3), out[1] = tc_cast(in[0], TC_F64);
}
static void reads(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_mul_s(in[0], tc_item_at(tc_sum_all(in[0]), "body.c", 7));
}
static void draws(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)user;
    out[0] = tc_add(in[0], tc_rand_at(tc, TC_DIMS(3, 4), TC_F32, "body.c", 9));
}

TEST(branches) {
    tc_ctx *tc = open_context();
    tc_tensor x = tc_ones(tc, TC_DIMS(3, 4), TC_F32), out[2];
    tc_tensor yes = tc_full(tc, TC_SCALAR, 1, TC_BOOL);
    tc_trace_begin(tc, "branches");
    STATUS(
        tc_cond(yes, narrow, wide, NULL, &x, 1, out, 2), TC_E_SHAPE,
        "tc_cond: out[1] of yes (pred is true) is f32[], of no (pred is false) f64[3, 4]; "
        "both must have the same sizes and dtype");
    STATUS(
        tc_cond(yes, adds, reads, NULL, &x, 1, out, 1), TC_E_UNSUPPORTED,
        "item: in no (pred is false) of tc_cond no value is read|tc_where|before the loop");
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_trace_begin(tc, "loops");
    (void)tc_while(goes_on, reads, NULL, &x, 1, 4, out); // its test gives no number
    said(tc, __LINE__, TC_E_DTYPE, "tc_while: out[0] of the test is bool[3, 4]; one bool");
    tc_scan(reads, NULL, &x, 1, &x, 1, out, NULL, 0);
    CHECK_STR(tc_error_file(tc), "body.c");
    CHECK_EQ(tc_error_line(tc), 7);
    said(tc, __LINE__, TC_E_UNSUPPORTED, "item: in the body of tc_scan no value is read");
    tc_scan(draws, NULL, &x, 1, &x, 1, out, NULL, 0);
    CHECK_EQ(tc_error_line(tc), 9);
    said(tc, __LINE__, TC_E_UNSUPPORTED, "in the body of tc_scan nothing random is drawn");
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    tc_close(tc);
}

// A test may say how it goes on with an integer, in a region too.
static void counts_down(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_sub_s(in[0], 1);
}
static void is_left(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_reshape(in[0], TC_DIMS(1));
}

TEST(tests_of_integers) {
    tc_ctx *tc = open_context();
    for (int inside = 0; inside < 2; inside++) {
        tc_tensor n = tc_scalar(tc, 3, TC_I64), out;
        if (inside) tc_trace_begin(tc, "integers");
        CHECK_EQ(tc_while(is_left, counts_down, NULL, &n, 1, 9, &out), TC_OK);
        if (inside) tc_keep(out);
        if (inside) CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(tc_item_i64(out), 0);
        CHECK_STR(tc_error_text(tc), "");
    }
    tc_close(tc);
}

// ---- convolutions and pools ----

enum { CONVOLUTIONS = 6 };
static const char *const convolution[CONVOLUTIONS] = {
    "conv1d",           "conv2d",           "conv3d",
    "conv_transpose1d", "conv_transpose2d", "conv_transpose3d"};

static tc_tensor convolve(tc_ctx *tc, int k, int stride, int padding, int dilation,
                          int groups) {
    tc_dims image = TC_DIMS(1, 4, 8, 8, 8), taps = TC_DIMS(4, 4, 3, 3, 3);
    int axes = 1 + k % 3;
    image.rank = taps.rank = 2 + axes;
    tc_tensor x = tc_ones(tc, image, TC_F32), w = tc_ones(tc, taps, TC_F32), b = tc_null();
    switch (k) {
    case 0: return tc_conv1d(x, w, b, stride, padding, dilation, groups);
    case 1: return tc_conv2d(x, w, b, stride, padding, dilation, groups);
    case 2: return tc_conv3d(x, w, b, stride, padding, dilation, groups);
    case 3: return tc_conv_transpose1d(x, w, b, stride, padding, 0, dilation, groups);
    case 4: return tc_conv_transpose2d(x, w, b, stride, padding, 0, dilation, groups);
    default: return tc_conv_transpose3d(x, w, b, stride, padding, 0, dilation, groups);
    }
}

TEST(convolutions) {
    tc_ctx *tc = open_context();
    static const struct {
        int stride, padding, dilation, groups;
        tc_status status;
        const char *words;
    } row[] = {
        {0, 0, 1, 1, TC_E_ARG,
         ": stride 0, |stride, dilation and groups must be at least 1"},
        {-1, 0, 1, 1, TC_E_ARG, ": stride -1, |at least 1"},
        {1, 0, 0, 1, TC_E_ARG, "dilation 0|at least 1"},
        {1, 0, -2, 1, TC_E_ARG, "dilation -2|at least 1"},
        {1, 0, 1, 0, TC_E_ARG, "groups 0|at least 1"},
        {1, 0, 1, -1, TC_E_ARG, "groups -1|at least 1"},
        {1, -1, 1, 1, TC_E_ARG, "padding -1|padding at least 0"},
        {1, 0, 1, 3, TC_E_SHAPE, "groups 3|groups dividing C and O are needed"},
        {1, 0, 1, 2, TC_E_SHAPE, "groups 2|x is [1, 4, 8"},
        {1, 0, 4, 1, TC_E_SHAPE,
         "a window of 3 (dilation 4) over 8 elements with padding 0"},
        {1, 3, 7, 1, TC_E_SHAPE,
         "a window of 3 (dilation 7) over 8 elements with padding 3"},
    };
    for (int inside = 0; inside < 2; inside++) {
        if (inside) tc_trace_begin(tc, "convolutions");
        for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
            for (int k = 0; k < CONVOLUTIONS; k++) {
                // a transposed one takes any window, and its weight has groups elsewhere
                if (k >= 3 && (row[i].dilation > 1 || row[i].groups == 2)) continue;
                tc_tensor y = convolve(tc, k, row[i].stride, row[i].padding,
                                       row[i].dilation, row[i].groups);
                CHECK_EQ(y.id, 0);
                if (!strstr(tc_error_text(tc), convolution[k]))
                    FAIL("\"%s\" is not of %s", tc_error_text(tc), convolution[k]);
                said(tc, __LINE__, row[i].status, row[i].words);
            }
        }
        for (int k = 0; k < CONVOLUTIONS; k++) CHECK(convolve(tc, k, 1, 0, 1, 1).id != 0);
        if (inside) CHECK_EQ(tc_trace_end(tc), TC_OK);
    }
    tc_close(tc);
}

// Options are all default where they are 0, and refused below that.
TEST(options_of_convolutions) {
    tc_ctx *tc = open_context();
    tc_tensor x = tc_ones(tc, TC_DIMS(1, 4, 8, 8), TC_F32),
              w = tc_ones(tc, TC_DIMS(4, 4, 3, 3), TC_F32), none = tc_null();
    tc_conv_options o;
    memset(&o, 0, sizeof o);
    CHECK_EQ(tc_dim(tc_conv2d_with(x, w, none, &o), 2), 6);
    CHECK_EQ(tc_dim(tc_conv_transpose2d_with(x, w, none, &o), 2), 10);
    o.groups = -1;
    RESULT(tc_conv2d_with(x, w, none, &o), TC_E_ARG,
           "conv2d_with: groups is -1; at least 1");
    RESULT(tc_conv_transpose2d_with(x, w, none, &o), TC_E_ARG, "groups is -1; at least 1");
    o.groups = 0, o.stride[1] = -1;
    RESULT(tc_conv2d_with(x, w, none, &o), TC_E_ARG, "stride -1|at least 1");
    o.stride[1] = 0, o.dilation[0] = -1;
    RESULT(tc_conv2d_with(x, w, none, &o), TC_E_ARG, "dilation -1|at least 1");
    RESULT(tc_conv_transpose2d_with(x, w, none, &o), TC_E_ARG, "dilation -1|at least 1");
    tc_close(tc);
}

TEST(pools) {
    tc_ctx *tc = open_context();
    static const struct {
        int kernel, stride, padding;
        tc_status status;
        const char *words;
    } row[] = {
        {0, 1, 0, TC_E_ARG, "the kernel is 0; at least 1"},
        {-2, 1, 0, TC_E_ARG, "the kernel is -2; at least 1"},
        {2, -1, 0, TC_E_ARG, "stride -1|at least 1"},
        {2, 1, -1, TC_E_ARG, "padding -1|padding at least 0"},
        {2, 1, 2, TC_E_ARG, "padding 2 is more than half of the kernel 2"},
        {9, 1, 0, TC_E_SHAPE, "a window of 9 |over 8 elements with padding 0; pad more"},
        {INT_MAX, 1, 1, TC_E_SHAPE, "a window of 2147483647 |over 8 elements"},
    };
    tc_tensor x = tc_ones(tc, TC_DIMS(1, 4, 8, 8), TC_F32);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        RESULT(tc_max_pool2d(x, row[i].kernel, row[i].stride, row[i].padding),
               row[i].status, row[i].words);
        RESULT(tc_avg_pool2d(x, row[i].kernel, row[i].stride, row[i].padding),
               row[i].status, row[i].words);
    }
    CHECK_EQ(tc_dim(tc_max_pool2d(x, 2, 0, 0), 2), 4); // as far apart as it is long
    RESULT(tc_unfold(x, 2, 9, 1), TC_E_SHAPE, "unfold: windows of 9|at most the size");
    RESULT(tc_unfold(x, 2, 2, 0), TC_E_ARG, "unfold: |0 apart|at least 1");
    tc_close(tc);
}
