// One context, two threads: what a second one calls while the first has a region open is refused, whatever it is, and
// changes nothing. Run it under SAN=thread too. Values come from plain C.
#include "tcompile.h"

#include "harness.h"
#include "help.h"

#include <pthread.h>

enum { N = 64, M = 48 };

static tc_ctx *open_one(void) {
    tc_config config = tc_config_default();
    config.backend = "aot_eager", config.threads = 1, config.no_disk_cache = 1;
    return tc_open(&config);
}

static void negate(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_neg(in[0]);
}

static tc_status runs_nothing(void *user, void *state, const tc_graph_run *run) {
    (void)user, (void)state, (void)run;
    return TC_OK;
}

static tc_status copies(void *user, const tc_buffer *in, int n_in, const tc_buffer *out) {
    (void)user, (void)n_in;
    memcpy(out->data, in[0].data, M * sizeof(float));
    return TC_OK;
}

// What the owner has made before.
static struct {
    tc_ctx *tc;
    tc_fn *f;
    tc_tensor x, dead;
    int op, refused;
    tc_params *params;
    tc_safetensors *file;
    tc_grad_scaler scaler;
    tc_rng_state stream;
} made;

// ---- all calls ----

// What a second thread may not do: as its status, or 1 where a call that has none gives nothing.
#define STRANGERS(X)                                                                       \
    X(trace_begin, tc_trace_begin(tc, "stranger"))                                         \
    X(trace_end, tc_trace_end(tc))                                                         \
    X(disable_begin, tc_disable_begin(tc))                                                 \
    X(disable_end, tc_disable_end(tc))                                                     \
    X(lazy, tc_lazy(tc, 1))                                                                \
    X(not_lazy, tc_lazy(tc, 0))                                                            \
    X(eval, tc_eval(tc, &x, 1))                                                            \
    X(reset, tc_reset(tc))                                                                 \
    X(freeze, tc_freeze(tc))                                                               \
    X(thaw, tc_thaw(tc))                                                                   \
    X(manual_seed, tc_manual_seed(tc, 3))                                                  \
    X(get_rng_state, tc_get_rng_state(tc, &made.stream))                                   \
    X(set_rng_state, tc_set_rng_state(tc, &made.stream))                                   \
    X(precompile, tc_precompile(made.f, &spec, 1, 1))                                      \
    X(call, tc_call(made.f, &x, 1, &y, 1))                                                 \
    X(call_into, tc_call_into(made.f, &x, 1, &x, 1))                                       \
    X(profile_begin, tc_profile_begin(tc))                                                 \
    X(profile_end, tc_profile_end(tc))                                                     \
    X(profile_trace, tc_profile_trace(tc, "/dev/null"))                                    \
    X(explain_html, tc_explain_html(tc, "/dev/null"))                                      \
    X(read, tc_read(x, got, M * sizeof *got))                                              \
    X(print, tc_print(x))                                                                  \
    X(save_npy, tc_save_npy(x, "/dev/null"))                                               \
    X(sort, tc_sort(x, 0, 0, &y, &z))                                                      \
    X(topk, tc_topk(x, 2, 0, 1, &y, &z))                                                   \
    X(adamw_list_, tc_adamw_list_(&x, &x, &x, &x, 1, x, 0, 0, 0, 0, 0))                    \
    X(sgd_list_, tc_sgd_list_(&x, &x, &x, 1, 0, 1, 0, 0))                                  \
    X(clip_grad_value_, tc_clip_grad_value_(&x, 1, 1))                                     \
    X(clip_grad_norm_, tc_is_null(tc_clip_grad_norm_(&x, 1, 1, 2)))                        \
    X(mark_dynamic, tc_mark_dynamic(x, 0, 0, 0))                                           \
    X(mark_static, tc_mark_static(x, 0))                                                   \
    X(sync, tc_sync(tc))                                                                   \
    X(scope_end, tc_scope_end(tc))                                                         \
    X(set_default_device, tc_set_default_device(tc, "cpu"))                                \
    X(register_backend, tc_register_backend(tc, &backend))                                 \
    X(host_call, tc_host_call(tc, NULL, NULL, &x, 1))                                      \
    X(set_stance, (tc_set_stance(tc, TC_STANCE_FAIL_ON_RECOMPILE), 1))                     \
    X(scope_begin, (tc_scope_begin(tc), 1))                                                \
    X(scope_return, tc_is_null(tc_scope_return(tc, x)))                                    \
    X(open_shared, !tc_open_shared(tc))                                                    \
    X(compile, !tc_compile(tc, negate, NULL, 0, NULL))                                     \
    X(fn_free, (tc_fn_free(made.f), 1))                                                    \
    X(register_op, !tc_register_op(tc, &op))                                               \
    X(explain, !*tc_explain(tc))                                                           \
    X(explain_counts, !tc_explain_counts(tc, NULL).programs)                               \
    X(region_source, !tc_region_source(tc, "open"))                                        \
    X(region_kernels, !tc_region_kernels(tc, "open"))                                      \
    X(profile_text, !*tc_profile_text(tc))                                                 \
    X(keep, tc_is_null(tc_keep(x)))                                                        \
    X(free, (tc_free(x), 1))                                                               \
    X(data, !tc_data(x))                                                                   \
    X(from_data, tc_is_null(tc_from_data(tc, got, TC_DIMS(2), TC_F32)))                    \
    X(full, tc_is_null(tc_full(tc, TC_DIMS(2), 1, TC_F32)))                                \
    X(neg, tc_is_null(tc_neg(x)))                                                          \
    X(softmax, tc_is_null(tc_softmax(x, 0)))                                               \
    X(add_, tc_is_null(tc_add_(x, x)))                                                     \
    X(wait_compiled, tc_wait_compiled(tc))                                                 \
    X(options_parse, tc_options_parse(tc, &options, "verify=1"))                           \
    X(guard_bytes, (tc_guard_bytes(tc, got, sizeof got), 1))                               \
    X(custom, tc_is_null(tc_custom(tc, made.op, &x, 1)))                                   \
    X(fn_in, !tc_fn_in(tc, made.f))                                                        \
    X(miss_text, !*tc_miss_text(made.f))                                                   \
    X(training, tc_training(tc, 0))                                                        \
    X(no_grad_begin, tc_no_grad_begin(tc))                                                 \
    X(no_grad_end, tc_no_grad_end(tc))                                                     \
    X(autocast_begin, tc_autocast_begin(tc, TC_BF16))                                      \
    X(autocast_end, tc_autocast_end(tc))                                                   \
    X(lr_scale_begin, tc_lr_scale_begin(tc, made.scaler.scale))                            \
    X(lr_scale_end, tc_lr_scale_end(tc))                                                   \
    X(grad_scaler_init, tc_grad_scaler_init(tc, &scaler, 2))                               \
    X(grad_scaler_free, (scaler = made.scaler, tc_grad_scaler_free(&scaler), 1))           \
    X(grad_scaler_scale, tc_is_null(tc_grad_scaler_scale(&made.scaler, x)))                \
    X(grad_scaler_unscale_, tc_grad_scaler_unscale_(&made.scaler, &x, 1))                  \
    X(grad_scaler_step_begin, tc_grad_scaler_step_begin(&made.scaler))                     \
    X(grad_scaler_step_end, tc_grad_scaler_step_end(&made.scaler))                         \
    X(grad_scaler_update, tc_grad_scaler_update(&made.scaler))                             \
    X(checkpoint, tc_checkpoint(tc, negate, NULL, &x, 1, &y, 1))                           \
    X(scan, tc_scan(negate, NULL, &x, 1, NULL, 0, &y, NULL, 0))                            \
    X(cond, tc_cond(x, negate, negate, NULL, &x, 1, &y, 1))                                \
    X(while, tc_while(negate, negate, NULL, &x, 1, 3, &y))                                 \
    X(grad, tc_grad(x, &x, 1, &y))                                                         \
    X(vjp, tc_vjp(x, x, &x, 1, &y))                                                        \
    X(jvp, tc_jvp(x, &x, &x, 1, &y))                                                       \
    X(backward, tc_backward(x))                                                            \
    X(requires_grad, tc_requires_grad(x, 1))                                               \
    X(init_, tc_is_null(tc_init_(x, tc_init_zeros())))                                     \
    X(params_open, !tc_params_open(tc))                                                    \
    X(param, tc_is_null(tc_param(made.params, "v", TC_DIMS(2), TC_F32, tc_init_zeros())))  \
    X(param_buffer,                                                                        \
      tc_is_null(tc_param_buffer(made.params, "v", TC_DIMS(2), TC_F32, tc_init_zeros())))  \
    X(params_list, tc_params_list(made.params, &list, NULL) < 0)                           \
    X(params_state, !tc_params_state(made.params, made.params, "s"))                       \
    X(params_zero_grad, tc_params_zero_grad(made.params))                                  \
    X(params_to, tc_params_to(made.params, "cpu"))                                         \
    X(params_text, !*tc_params_text(made.params))                                          \
    X(params_save, tc_params_save(made.params, "/dev/null"))                               \
    X(params_load, tc_params_load(made.params, "/dev/null", 0))                            \
    X(params_close, (tc_params_close(made.params), 1))                                     \
    X(safetensors_open, !tc_safetensors_open(tc, "/dev/null"))                             \
    X(safetensors_spec, tc_safetensors_spec(made.file, 0, &spec))                          \
    X(safetensors_read, tc_is_null(tc_safetensors_read(made.file, "w")))                   \
    X(safetensors_borrow, tc_is_null(tc_safetensors_borrow(made.file, "w")))               \
    X(safetensors_save, tc_safetensors_save(tc, "/dev/null", &name, &x, 1, NULL, 0))       \
    X(safetensors_close, (tc_safetensors_close(made.file), 1))                             \
    X(register_device, tc_register_device(tc, &device))                                    \
    X(wrap_device, tc_is_null(tc_wrap_device(tc, "cpu", got, TC_DIMS(2), TC_F32)))         \
    X(to, tc_is_null(tc_to(x, "cpu")))                                                     \
    X(wrap, tc_is_null(tc_wrap(tc, got, TC_DIMS(2), TC_F32)))                              \
    X(wrap_strided, tc_is_null(tc_wrap_strided(tc, got, TC_DIMS(2), &stride, TC_F32)))     \
    X(const, tc_is_null(tc_const(tc, got, TC_DIMS(2), TC_F32)))                            \
    X(load_npy, tc_is_null(tc_load_npy(tc, "/dev/null")))                                  \
    X(zeros, tc_is_null(tc_zeros(tc, TC_DIMS(2), TC_F32)))                                 \
    X(ones, tc_is_null(tc_ones(tc, TC_DIMS(2), TC_F32)))                                   \
    X(empty, tc_is_null(tc_empty(tc, TC_DIMS(2), TC_F32)))                                 \
    X(scalar, tc_is_null(tc_scalar(tc, 1, TC_F32)))                                        \
    X(arange, tc_is_null(tc_arange(tc, 0, 3, 1, TC_F32)))                                  \
    X(eye, tc_is_null(tc_eye(tc, 2, 2, TC_F32)))                                           \
    X(rand, tc_is_null(tc_rand(tc, TC_DIMS(2), TC_F32)))                                   \
    X(randn, tc_is_null(tc_randn(tc, TC_DIMS(2), TC_F32)))                                 \
    X(randint, tc_is_null(tc_randint(tc, 0, 2, TC_DIMS(2), TC_I32)))                       \
    X(item_of_sum, tc_item(tc_sum_all(x)) == 0)                                            \
    X(item_of_null, tc_item(tc_null()) == 0)                                               \
    X(read_null, tc_read(tc_null(), got, 4))                                               \
    X(neg_of_null, tc_is_null(tc_neg(tc_null())))                                          \
    X(add_to_null, tc_is_null(tc_add(tc_null(), x)))                                       \
    X(empty_list, tc_is_null(tc_cat(&x, 0, 0)))                                            \
    X(sgd_of_null, tc_sgd_list_(&none, &none, &none, 1, 0.1, 0, 0, 0))                     \
    X(item, tc_item(x) == 0)                                                               \
    X(item_i64, tc_item_i64(x) == 0)                                                       \
    X(get, tc_get(x, TC_DIMS(2)) == 0)                                                     \
    X(dim, tc_dim(x, 0) < 0)                                                               \
    X(dim_ge, !tc_dim_ge(x, 0, 3))                                                         \
    X(dim_lt, !tc_dim_lt(x, 0, 3))                                                         \
    X(dim_multiple_of, !tc_dim_multiple_of(x, 0, 3))                                       \
    X(full_like, tc_is_null(tc_full_like(x, 1)))                                           \
    X(cat, tc_is_null(tc_cat(&x, 1, 0)))                                                   \
    X(split, !tc_split(x, 2, 0, &y, 1))                                                    \
    X(reshape, tc_is_null(tc_reshape(x, TC_DIMS(M))))                                      \
    X(matmul, tc_is_null(tc_matmul(x, x)))                                                 \
    X(fill_, tc_is_null(tc_fill_(x, 1)))                                                   \
    X(rsub_s, tc_is_null(tc_rsub_s(x, 1)))                                                 \
    X(masked_fill, tc_is_null(tc_masked_fill(x, x, 1)))                                    \
    X(detach, tc_is_null(tc_detach(x)))                                                    \
    X(close, (tc_close(tc), 1))

typedef enum stranger {
#define X(name, call) STRANGER_##name,
    STRANGERS(X)
#undef X
        STRANGER_COUNT
} stranger;

static const char *const stranger_names[] = {
#define X(name, call) #name,
    STRANGERS(X)
#undef X
};

static int stranger_call(stranger which) {
    tc_ctx *tc = made.tc;
    tc_tensor x = made.x, y = x, z = x, none = tc_null();
    const tc_tensor *list = NULL;
    const char *name = "w";
    int64_t stride = 1;
    float got[N];
    tc_options options = tc_options_default();
    tc_grad_scaler scaler;
    tc_device device;
    tc_spec spec;
    tc_backend backend;
    tc_custom_op op;
    memset(&spec, 0, sizeof spec), memset(&backend, 0, sizeof backend);
    memset(&device, 0, sizeof device), memset(&scaler, 0, sizeof scaler);
    memset(&op, 0, sizeof op), memset(got, 0, sizeof got);
    spec.dtype = TC_F32, spec.rank = 1, spec.dims[0] = M;
    backend.name = "stranger", backend.run = runs_nothing, op.name = "stranger";
    op.run = copies, device.name = "stranger";
    switch (which) {
#define X(name, call)                                                                      \
    case STRANGER_##name: return call;
        STRANGERS(X)
#undef X
    case STRANGER_COUNT: break;
    }
    return 0;
}

// Whether the call was refused, and the error tells why.
static int is_told(stranger which) {
    int got = stranger_call(which);
    tc_status error = tc_error(made.tc);
    const char *text = tc_error_text(made.tc);
    if ((got == TC_E_THREAD || got == 1) && error == TC_E_THREAD &&
        strstr(text, "another thread") && strstr(text, "tc_open_shared"))
        return 1;
    return FAIL("%s: %s; the context has %s: %s", stranger_names[which],
                tc_status_name((tc_status)got), tc_status_name(error), text);
}

static void *be_strange(void *arg) {
    (void)arg;
    for (int i = 0; i < STRANGER_COUNT; i++) {
        made.refused += is_told((stranger)i);
        tc_error_clear(made.tc);
    }
    CHECK_EQ(tc_rank(made.dead), -1); // it only looks, and finds an error
    CHECK_EQ(tc_error(made.tc), TC_E_DEAD);
    tc_error_clear(made.tc);
    return NULL;
}

static void on_a_thread(void *(*run)(void *)) {
    pthread_t thread;
    CHECK(!pthread_create(&thread, NULL, run, NULL));
    CHECK(!pthread_join(thread, NULL));
}

// All of them, while nothing of the owner's goes on.
static void bother(void) {
    tc_stats before = tc_stats_get(made.tc);
    on_a_thread(be_strange);
    tc_stats after = tc_stats_get(made.tc);
    CHECK_EQ(after.bytes, before.bytes);
    CHECK_EQ(after.visits, before.visits);
    CHECK_EQ(after.calls, before.calls);
    CHECK_EQ(tc_params_count(made.params), 1);
    CHECK_EQ(tc_safetensors_count(made.file), 1);
}

static void be_bothered(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    tc_tensor y = tc_neg(in[0]);
    bother();
    out[0] = tc_add_s(y, 1);
}

static tc_status op_bothered(void *user, const tc_buffer *in, int n_in,
                             const tc_buffer *out) {
    (void)user, (void)n_in;
    for (int i = 0; i < M; i++) ((float *)out->data)[i] = 1 - ((float *)in[0].data)[i];
    bother();
    return TC_OK;
}

static tc_status host_bothered(void *user, const tc_buffer *in, int n_in) {
    (void)user, (void)in, (void)n_in;
    bother();
    return TC_OK;
}

static char folder[] = "/tmp/strangers-XXXXXX";

static tc_ctx *make_all(void) {
    tc_ctx *tc = made.tc = open_one();
    tc_custom_op op;
    char path[64];
    const char *name = "w";
    memset(&op, 0, sizeof op);
    made.x = line(tc, M, 1, 1), made.dead = line(tc, M, 1, 1);
    tc_free(made.dead);
    made.f = tc_compile(tc, negate, NULL, 0, NULL), made.refused = 0;
    op.name = "bothered", op.run = op_bothered;
    made.op = tc_register_op(tc, &op);
    made.params = tc_params_open(tc);
    tc_param(made.params, "w", TC_DIMS(2), TC_F32, tc_init_ones());
    CHECK_EQ(tc_grad_scaler_init(tc, &made.scaler, 2), TC_OK);
    snprintf(path, sizeof path, "%s/one.safetensors", folder);
    CHECK_EQ(tc_safetensors_save(tc, path, &name, &made.x, 1, NULL, 0), TC_OK);
    made.file = tc_safetensors_open(tc, path);
    CHECK_STR(tc_error_text(tc), "");
    return tc;
}

typedef enum moment {
    REGION,
    LAZY,
    SUSPENDED,
    SKIPPED,
    FORCED,
    BODY,
    OP,
    HOST,
    MOMENTS
} moment;

// 1 - x, with strangers at a moment of it.
static tc_tensor disturbed(tc_ctx *tc, moment at, tc_tensor x, tc_fn *f) {
    tc_tensor y;
    if (at == BODY) return CHECK_EQ(tc_call(f, &x, 1, &y, 1), TC_OK), y;
    tc_options o = tc_options_default();
    o.disable = at == SKIPPED;
    tc_set_stance(tc, at == FORCED ? TC_STANCE_FORCE_EAGER : TC_STANCE_DEFAULT);
    CHECK_EQ(at == LAZY ? tc_lazy(tc, 1) : tc_trace_begin_with(tc, "open", &o), TC_OK);
    y = at == OP ? tc_custom(tc, made.op, &x, 1) : tc_neg(x);
    if (at == SUSPENDED) tc_disable_begin(tc);
    if (at == HOST) CHECK_EQ(tc_host_call(tc, host_bothered, NULL, &y, 1), TC_OK);
    if (at < BODY) bother();
    if (at == SUSPENDED) tc_disable_end(tc);
    if (at != OP) y = tc_add_s(y, 1);
    if (at != LAZY) return CHECK_EQ(tc_trace_end(tc), TC_OK), y;
    CHECK_EQ(tc_eval(tc, &y, 1), TC_OK);
    CHECK_EQ(tc_lazy(tc, 0), TC_OK);
    return y;
}

// Whatever is open: the owner's work goes on, and nothing of it is lost.
TEST(a_stranger_changes_nothing) {
    REQUIRE(test_folder_make(folder));
    for (int at = 0; at < MOMENTS; at++) {
        tc_ctx *tc = make_all();
        tc_fn *f = tc_compile(tc, be_bothered, NULL, 0, NULL);
        for (int k = 0; k < 3; k++) {
            tc_tensor y = disturbed(tc, (moment)at, made.x, f);
            CHECK_EQ(AT(y, 3), -3);
            CHECK_EQ(AT(made.x, 3), 4);
            CHECK_STR(tc_error_text(tc), "");
        }
        CHECK(made.refused >= 2 * STRANGER_COUNT);
        tc_close(tc);
    }
    test_folder_remove(folder);
}

// ---- that none is forgotten ----

// The name of the public function that is declared in a line, without tc_ and _at; NULL = none, or one that no
// context leads to but a const one: it only looks, which is not refused.
static char *declared(char *line) {
    static const char *const owners[] = {"tc_ctx *",         "tc_fn *",
                                         "tc_params *",      "tc_safetensors *",
                                         "tc_grad_scaler *", "const tc_grad_scaler *"};
    char *open = strchr(line, '(');
    int leads = 0;
    if (strncmp(line, "TCDEF ", 6) || !open) return NULL;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        leads |= !strncmp(open + 1, owners[i], strlen(owners[i]));
    *open = 0;
    if (open > line + 3 && !strcmp(open - 3, "_at")) open[-3] = 0;
    char *name = strrchr(line, ' ');
    return leads && name ? name + 1 + (name[1] == '*') + (int)strlen("tc_") : NULL;
}

static int is_listed(const char *name) {
    static const char *const others[] = {"error_clear", "fail"}; // anybody may
    for (int i = 0; i < STRANGER_COUNT; i++)
        if (!strcmp(stranger_names[i], name)) return 1;
    return !strcmp(name, others[0]) || !strcmp(name, others[1]);
}

TEST(all_calls_about_a_context_are_listed) {
    char line[400];
    int n = 0;
    FILE *f = fopen("tcompile.h", "r");
    if (!f) SKIP("tcompile.h is elsewhere");
    while (fgets(line, sizeof line, f) && strncmp(line, "#ifdef TCOMPILE_IMPL", 20)) {
        char *name = declared(line);
        if (name && !is_listed(name)) FAIL("%s is not among STRANGERS", name);
        n += name != NULL;
    }
    fclose(f);
    CHECK(n > 80);
}

// ---- the owner's own calls ----

static tc_tensor chain(tc_tensor y, int ops) {
    for (int i = 0; i < ops; i++) y = i % 2 ? tc_add_s(y, 1) : tc_mul(y, y);
    return y;
}

static void *repeat(void *arg) {
    tc_tensor *y = (tc_tensor *)arg;
    *y = tc_mul(*y, *y);
    made.refused += tc_is_null(*y) && tc_error(made.tc) == TC_E_THREAD;
    tc_error_clear(made.tc);
    return NULL;
}

// The visit follows its recording: a stranger whose op is the next of it is refused as well, whatever is to come.
TEST(a_stranger_who_does_the_same) {
    enum { OPS = 5, VISITS = 4 };
    tc_ctx *tc = made.tc = open_one();
    tc_tensor x = line(tc, M, 0, 1);
    made.refused = 0;
    for (int k = 0; k < VISITS; k++) {
        CHECK_EQ(tc_trace_begin(tc, "followed"), TC_OK);
        tc_tensor y = chain(x, 2 * (k % 2)), stolen = y;
        pthread_t thread;
        CHECK(!pthread_create(&thread, NULL, repeat, &stolen));
        CHECK(!pthread_join(thread, NULL));
        y = chain(y, OPS - 2 * (k % 2));
        CHECK_EQ(tc_trace_end(tc), TC_OK);
        CHECK_EQ(AT(y, 1), 25);
        CHECK_EQ(AT(y, 2), 676);
        CHECK_STR(tc_error_text(tc), "");
    }
    CHECK_EQ(made.refused, VISITS);
    CHECK_EQ(tc_stats_get(tc).programs, 1);
    tc_close(tc);
}
