// Sets of parameters on a device: moved as a whole under their handles, made there, saved and loaded there; what was
// compiled for them goes on. Modes: batch norm that trains gives there what it gives on the host.
#include "tcompile.h"

#include "tcompile_cuda.h"

#define TEST_NO_MAIN
#include "harness.h"
#include "help.h"
#include "tools/cuda_device.h"

static tc_ctx *open_with_device(void) {
    tc_config config = tc_config_default();
    config.no_disk_cache = 1, config.threads = 2;
    tc_ctx *tc = tc_open(&config);
    return open_device(tc) ? tc : NULL;
}

static void close_device(tc_ctx *tc) {
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    check_device_closed();
}

static void body(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    tc_params *p = *(tc_params **)user;
    const tc_tensor *w, *g;
    (void)tc;
    tc_tensor y = tc_linear(in[0], tc_params_find(p, "w"), tc_params_find(p, "b"));
    out[0] = tc_mean_all(tc_square(y));
    tc_params_zero_grad(p);
    tc_backward(out[0]);
    int n = tc_params_list(p, &w, &g);
    tc_sgd_list_(w, g, NULL, n, 0.1, 0, 0, 0);
}

// The same steps with all on the host, and with a move to the device and back among them.
static void steps(tc_ctx *tc, int moves, double out[8]) {
    tc_params *p = tc_params_open(tc);
    tc_tensor w = tc_param(p, "w", TC_DIMS(2, 4), TC_F32, tc_init_constant(0.5));
    tc_tensor b = tc_param(p, "b", TC_DIMS(2), TC_F32, tc_init_ones());
    tc_tensor x = tc_reshape(line(tc, 12, -1, 0.25), TC_DIMS(3, 4)), loss;
    tc_tensor there = tc_to(x, DEVICE_NAME), row = tc_select(w, 0, 1);
    tc_fn *f = tc_compile(tc, body, &p, sizeof p, NULL);
    for (int i = 0; i < 8; i++) {
        int on = moves && i / 3 == 1;
        if (moves && i % 3 == 0) CHECK_EQ(tc_params_to(p, on ? DEVICE_NAME : "cpu"), TC_OK);
        CHECK_STR(tc_device_of(w), on ? DEVICE_NAME : "cpu");
        CHECK_STR(tc_device_of(tc_grad_of(b)), on ? DEVICE_NAME : "cpu");
        CALL(f, on ? &there : &x, 1, &loss, 1);
        out[i] = tc_item(loss);
        tc_free(loss);
    }
    if (moves) CHECK_STR(tc_device_of(row), "cpu"); // a view stays where it was
    tc_fn_free(f);
    tc_params_close(p);
}

TEST(moved_and_trained) {
    double here[8], moved[8];
    tc_ctx *tc = open_with_device();
    REQUIRE(tc);
    steps(tc, 0, here);
    steps(tc, 1, moved);
    for (int i = 0; i < 8; i++) CHECK_NEAR(moved[i], here[i], 1e-5 * here[0]);
    CHECK(here[7] < here[0] / 2);
    close_device(tc);
}

TEST(made_saved_and_loaded_there) {
    static char folder[] = "/tmp/tc_params_XXXXXX", path[64];
    REQUIRE(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/p.safetensors", folder);
    tc_ctx *tc = open_with_device();
    REQUIRE(tc);
    tc_params *p = tc_params_open(tc), *q = tc_params_open(tc);
    tc_manual_seed(tc, 3);
    tc_tensor host =
        tc_param(q, "w", TC_DIMS(8, 8), TC_F32, tc_init_trunc_normal(0, 1, -2, 2));
    CHECK_EQ(tc_set_default_device(tc, DEVICE_NAME), TC_OK);
    tc_manual_seed(tc, 3);
    tc_tensor w =
        tc_param(p, "w", TC_DIMS(8, 8), TC_F32, tc_init_trunc_normal(0, 1, -2, 2));
    CHECK_STR(tc_device_of(w), DEVICE_NAME);
    CHECK_STR(tc_device_of(tc_grad_of(w)), DEVICE_NAME);
    for (int i = 0; i < 64; i++) CHECK_NEAR(AT(w, i), AT(host, i), 1e-5);
    tc_safetensors *s;
    CHECK_EQ(tc_params_save(p, path), TC_OK);
    REQUIRE((s = tc_safetensors_open(tc, path)) != NULL);
    tc_tensor read = tc_safetensors_read(s, "w"), lent = tc_safetensors_borrow(s, "w");
    CHECK_STR(tc_device_of(read), DEVICE_NAME);
    CHECK_STR(tc_device_of(lent), DEVICE_NAME); // a copy
    tc_fill_(w, 0);
    CHECK_EQ(tc_params_load(p, path, 0), TC_OK);
    CHECK_EQ(tc_params_load(q, path, 0), TC_OK);
    CHECK_STR(tc_device_of(w), DEVICE_NAME);
    CHECK_STR(tc_device_of(host), "cpu");
    for (int i = 0; i < 64; i++) {
        CHECK_NEAR(AT(w, i), AT(read, i), 0);
        CHECK_NEAR(AT(host, i), AT(lent, i), 0);
    }
    close_device(tc);
    unlink(path), rmdir(folder);
}

// What an optimiser keeps is made where the parameters are by then, whatever the default.
TEST(states_made_there) {
    tc_ctx *tc = open_with_device();
    REQUIRE(tc);
    tc_params *p = tc_params_open(tc), *state = tc_params_open(tc);
    const tc_tensor *w, *g, *velocity;
    tc_tensor one = tc_param(p, "w", TC_DIMS(2, 4), TC_F32, tc_init_ones());
    CHECK_EQ(tc_params_to(p, DEVICE_NAME), TC_OK);
    velocity = tc_params_state(p, state, "velocity");
    REQUIRE(velocity);
    CHECK_STR(tc_device_of(velocity[0]), DEVICE_NAME);
    CHECK_STR(tc_default_device(tc), "cpu");
    BEGIN("step");
    tc_backward(tc_sum_all(tc_square(one)));
    int n = tc_params_list(p, &w, &g);
    tc_sgd_list_(w, g, velocity, n, 0.1, 0.5, 0, 0);
    END();
    for (int i = 0; i < 8; i++) CHECK_NEAR(AT(one, i), 0.8, 1e-6);
    for (int i = 0; i < 8; i++) CHECK_NEAR(AT(velocity[0], i), 2, 1e-6);
    close_device(tc);
}

// Host and device, training and not, eager and in a region.
TEST(batch_norm_that_trains) {
    tc_ctx *tc = open_with_device();
    REQUIRE(tc);
    tc_tensor y[2], mean[2], var[2], eager;
    for (int i = 0; i < 2; i++) {
        const char *device = i ? DEVICE_NAME : "cpu";
        tc_tensor x =
            tc_to(tc_sin(tc_reshape(line(tc, 72, 0, 0.7), TC_DIMS(4, 3, 6))), device);
        mean[i] = tc_to(line(tc, 3, 0, 1), device),
        var[i] = tc_to(line(tc, 3, 1, 1), device);
        tc_training(tc, 1);
        eager = tc_batch_norm_running(x, mean[i], var[i], tc_null(), tc_null(), 0.1, 1e-5);
        BEGIN("norm");
        tc_tensor a =
            tc_batch_norm_running(x, mean[i], var[i], tc_null(), tc_null(), 0.1, 1e-5);
        tc_training(tc, 0);
        y[i] = tc_add(a, tc_dropout(tc_batch_norm_running(x, mean[i], var[i], tc_null(),
                                                          tc_null(), 0.1, 1e-5),
                                    0.5));
        y[i] = tc_keep(y[i]), a = tc_keep(a);
        END();
        CHECK_STR(tc_device_of(y[i]), device);
        for (int k = 0; k < 72; k++) CHECK_NEAR(AT(a, k), AT(eager, k), 1e-5);
    }
    for (int k = 0; k < 72; k++) CHECK_NEAR(AT(y[1], k), AT(y[0], k), 1e-5);
    for (int k = 0; k < 3; k++) CHECK_NEAR(AT(mean[1], k), AT(mean[0], k), 1e-6);
    for (int k = 0; k < 3; k++) CHECK_NEAR(AT(var[1], k), AT(var[0], k), 1e-6);
    close_device(tc);
}
