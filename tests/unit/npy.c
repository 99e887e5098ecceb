// .npy files: round trips, the bytes NumPy writes, refusals by name, and hostile files that
// must neither crash nor allocate what the file does not hold.
#include "harness.h"

#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"
#include "help.h"

static char folder[] = "/tmp/tc_npy_XXXXXX";
static char path[64];
static tc_ctx *tc;

static void start(void) {
    tc = open_backend("aot_eager");
    CHECK(tc && mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.npy", folder);
}

static void stop(void) {
    unlink(path);
    rmdir(folder);
    tc_close(tc);
}

static void put_file(const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, size, f) == size);
    if (f) fclose(f);
}

static size_t get_file(char *bytes, size_t room) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, room, f) : 0;
    if (f) fclose(f);
    return n;
}

// A file with this dict, `version`, and `bytes` of elements (0, 1, 2, ...). Its size.
static size_t make_file(char *out, int version, const char *dict, size_t bytes) {
    size_t n = strlen(dict), head = version == 1 ? 10 : 12;
    memcpy(out, "\x93NUMPY", 6);
    out[6] = (char)version, out[7] = 0;
    out[8] = (char)(n & 255), out[9] = (char)(n >> 8);
    if (version > 1) out[10] = out[11] = 0;
    memcpy(out + head, dict, n);
    for (size_t i = 0; i < bytes; i++) out[head + n + i] = (char)i;
    return head + n + bytes;
}

static tc_tensor load_dict(int version, const char *dict, size_t bytes) {
    char file[4096];
    put_file(file, make_file(file, version, dict, bytes));
    return tc_load_npy(tc, path);
}

// A fifo without a writer, a folder, a device: refused at once.
TEST(what_is_no_file) {
    start();
    CHECK_EQ(mkfifo(path, 0600), 0);
    CHECK(!tc_load_npy(tc, path).id);
    ERROR(TC_E_IO, "is no plain file");
    CHECK(!tc_load_npy(tc, folder).id);
    ERROR(TC_E_IO, "is no plain file");
    CHECK(!tc_load_npy(tc, "/dev/zero").id);
    ERROR(TC_E_IO, "is no plain file");
    // The same for who writes, with and without a reader at the other end.
    tc_tensor t = tc_zeros(tc, TC_DIMS(4), TC_F32);
    for (int reader = -1, i = 0; i < 2; i++) {
        CHECK_EQ(tc_save_npy(t, path), TC_E_IO);
        ERROR(TC_E_IO, "is no plain file");
        CHECK_EQ(tc_explain_html(tc, path), TC_E_IO);
        ERROR(TC_E_IO, "is no plain file");
        tc_profile_begin(tc), tc_profile_end(tc);
        CHECK_EQ(tc_profile_trace(tc, path), TC_E_IO);
        ERROR(TC_E_IO, "is no plain file");
        char got;
        if (i) CHECK_EQ(read(reader, &got, 1), 0); // nothing came
        if (i) close(reader);
        if (!i) CHECK((reader = open(path, O_RDONLY | O_NONBLOCK)) >= 0);
    }
    CHECK_EQ(tc_save_npy(t, folder), TC_E_IO);
    ERROR(TC_E_IO, "Is a directory");
    CHECK_EQ(tc_save_npy(t, "/dev/null"), TC_OK);
    stop();
}

// Beyond the size that the process may write: an error, and the host lives.
TEST(a_file_that_may_not_grow) {
    struct rlimit limit;
    start();
    tc_tensor t = tc_zeros(tc, TC_DIMS(4096), TC_F32);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQ(tc_save_npy(t, path), TC_E_IO);
    ERROR(TC_E_IO, "File too large");
    CHECK_EQ(tc_explain_html(tc, path), TC_E_IO);
    ERROR(TC_E_IO, "File too large");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQ(tc_save_npy(t, path), TC_OK);
    stop();
}

// ---- round trips ----

static void check_round_trip(tc_tensor t) {
    char a[512], b[512];
    size_t bytes = (size_t)tc_numel(t) * tc_dtype_bytes(tc_dtype_of(t));
    CHECK_EQ(tc_save_npy(t, path), TC_OK);
    tc_tensor u = tc_load_npy(tc, path);
    CHECK_STR(tc_error_text(tc), "");
    CHECK_EQ(tc_dtype_of(u), tc_dtype_of(t));
    CHECK_EQ(tc_rank(u), tc_rank(t));
    for (int i = 0; i < tc_rank(t); i++) CHECK_EQ(tc_dim(u, i), tc_dim(t, i));
    CHECK_EQ(tc_read(t, a, bytes), TC_OK);
    CHECK_EQ(tc_read(u, b, bytes), TC_OK);
    CHECK_BYTES(b, a, bytes);
}

TEST(round_trip) {
    start();
    tc_tensor x = tc_reshape(tc_arange(tc, -12, 12, 1, TC_F64), TC_DIMS(2, 3, 4));
    for (int t = 0; t < TC_DTYPE_COUNT; t++) {
        if (t == TC_F8E4M3 || t == TC_F8E5M2) continue; // without_f8
        tc_tensor y = tc_cast(x, (tc_dtype)t);
        check_round_trip(y);
        check_round_trip(tc_permute(y, TC_DIMS(2, 0, 1)));
        check_round_trip(tc_slice(y, 2, -1, TC_END, -2));
        check_round_trip(tc_reshape(y, TC_DIMS(24)));
        check_round_trip(tc_full(tc, TC_SCALAR, 1, (tc_dtype)t));
        check_round_trip(tc_zeros(tc, TC_DIMS(3, 0, 2), (tc_dtype)t));
    }
    stop();
}

// The format has no such type.
TEST(without_f8) {
    start();
    for (int t = TC_F8E4M3; t <= TC_F8E5M2; t++) {
        CHECK_EQ(tc_save_npy(tc_ones(tc, TC_DIMS(3), (tc_dtype)t), path), TC_E_DTYPE);
        CHECK(strstr(tc_error_text(tc), "tc_save_npy: .npy files have no f8"));
        tc_error_clear(tc);
    }
    stop();
}

TEST(inside_a_region) {
    start();
    tc_trace_begin(tc, "save");
    tc_tensor y = tc_mul_s(tc_arange(tc, 0, 4, 1, TC_F32), 2);
    CHECK_EQ(tc_save_npy(y, path), TC_OK);
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_NEAR(tc_item(tc_select(tc_load_npy(tc, path), 0, 3)), 6, 0);
    stop();
}

// What numpy.save wrote for numpy.arange(3, dtype="<f4").reshape(1, 3).
TEST(bytes_are_numpys) {
    char want[140], got[256];
    float elements[3] = {0, 1, 2};
    memset(want, ' ', sizeof want);
    memcpy(want,
           "\x93NUMPY\1\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3), }",
           69);
    want[127] = '\n';
    memcpy(want + 128, elements, sizeof elements);
    start();
    tc_save_npy(tc_from_data(tc, elements, TC_DIMS(1, 3), TC_F32), path);
    CHECK_EQ(get_file(got, sizeof got), sizeof want);
    CHECK_BYTES(got, want, sizeof want);
    stop();
}

// The descr and the elements of every dtype that is narrower than a word, as NumPy (and ml_dtypes,
// for bf16) spell them.
TEST(narrow_bytes_are_numpys) {
    static const struct {
        tc_dtype dtype;
        const char *descr;
        unsigned char bytes[4]; // of 1.5, -2: whole numbers 1, -2
    } rows[] = {{TC_U8, "'|u1'", {1, 254}},
                {TC_I8, "'|i1'", {1, 0xfe}},
                {TC_I16, "'<i2'", {1, 0, 0xfe, 0xff}},
                {TC_F16, "'<f2'", {0x00, 0x3e, 0x00, 0xc0}},
                {TC_BF16, "'<V2'", {0xc0, 0x3f, 0x00, 0xc0}}};
    start();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static const double values[2] = {1.5, -2};
        char got[256], dict[100];
        tc_tensor x = tc_from_data(tc, values, TC_DIMS(2), TC_F64);
        if (rows[i].dtype == TC_U8) x = tc_cast(x, TC_I32);
        size_t bytes = 2 * tc_dtype_bytes(rows[i].dtype);
        CHECK_EQ(tc_save_npy(tc_cast(x, rows[i].dtype), path), TC_OK);
        CHECK_EQ(get_file(got, sizeof got), 128 + bytes);
        CHECK_BYTES(got + 128, rows[i].bytes, bytes);
        snprintf(dict, sizeof dict,
                 "{'descr': %s, 'fortran_order': False, 'shape': (2,), }", rows[i].descr);
        CHECK_BYTES(got + 10, dict, strlen(dict));
        check_round_trip(tc_load_npy(tc, path));
    }
    stop();
}

// Every bit of a half survives, NaNs and infinities included.
TEST(halves_round_trip) {
    static const uint16_t bits[] = {0x0000, 0x8000, 0x0001, 0x7c00, 0xfc01, 0x7e00,
                                    0x7f80, 0xff80, 0x7fff, 0x3c00, 0x03ff, 0x0080};
    start();
    for (int t = 0; t < 2; t++) {
        uint16_t got[12];
        tc_tensor x = tc_from_data(tc, bits, TC_DIMS(12), t ? TC_BF16 : TC_F16);
        CHECK_EQ(tc_save_npy(x, path), TC_OK);
        CHECK_EQ(tc_read(tc_load_npy(tc, path), got, sizeof got), TC_OK);
        CHECK_BYTES(got, bits, sizeof got);
    }
    stop();
}

// ---- what is read ----

TEST(other_spellings) {
    static const char *const dicts[] = {
        "{'descr': '|u1', 'fortran_order': False, 'shape': (2, 3), }\n",
        "{\"shape\":(2,3,),\"descr\":\"<u1\",\"fortran_order\":False}   \n",
        " { 'fortran_order' : False , 'shape' : ( 2 , 3 ) , 'descr' : '=u1' } ",
    };
    start();
    for (size_t i = 0; i < sizeof dicts / sizeof *dicts; i++)
        for (int version = 1; version <= 3; version++) {
            tc_tensor t = load_dict(version, dicts[i], 6);
            CHECK_STR(tc_error_text(tc), "");
            CHECK_EQ(tc_dim(t, 1), 3);
            CHECK_EQ(tc_item_i64(tc_select(tc_select(t, 0, 1), 0, 0)), 3);
        }
    stop();
}

// bf16 by other hands: two bytes without an order, and the number that they are.
TEST(two_bytes_of_no_type_are_bf16) {
    static const char *const dicts[] = {
        "{'descr': '|V2', 'fortran_order': False, 'shape': (3,), }\n",
        "{'descr': '=V2', 'fortran_order': False, 'shape': (3,), }\n"};
    start();
    for (int i = 0; i < 2; i++) {
        tc_tensor t = load_dict(1, dicts[i], 6); // 0x0100, 0x0302, 0x0504
        CHECK_EQ(tc_dtype_of(t), TC_BF16);
        CHECK_EQ(tc_item(tc_select(t, 0, 2)), 0x1.08p-117);
    }
    stop();
}

TEST(fortran_order) {
    start();
    tc_tensor t =
        load_dict(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }\n", 6);
    unsigned char want[6] = {0, 2, 4, 1, 3, 5}, got[6];
    CHECK_EQ(tc_read(t, got, 6), TC_OK);
    CHECK_BYTES(got, want, 6);
    stop();
}

TEST(bool_becomes_0_or_1) {
    start();
    tc_tensor t =
        load_dict(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (200,), }\n", 200);
    CHECK_EQ(tc_item_i64(tc_sum_all(t)), 199);
    stop();
}

TEST(what_follows_the_elements_is_left) {
    start();
    tc_tensor t =
        load_dict(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (2,), }\n", 9);
    CHECK_EQ(tc_numel(t), 2);
    stop();
}

// ---- refusals ----

TEST(refusals) {
    static const struct {
        tc_status status;
        const char *dict;
        size_t bytes;
    } rows[] = {
        {TC_E_UNSUPPORTED, "{'descr': '>f4', 'fortran_order': False, 'shape': (1,), }", 4},
        {TC_E_UNSUPPORTED, "{'descr': '>f2', 'fortran_order': False, 'shape': (1,), }", 2},
        {TC_E_UNSUPPORTED, "{'descr': '<V4', 'fortran_order': False, 'shape': (1,), }", 4},
        {TC_E_UNSUPPORTED, "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", 2},
        {TC_E_UNSUPPORTED, "{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8},
        {TC_E_UNSUPPORTED, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8},
        {TC_E_UNSUPPORTED, "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 8},
        {TC_E_UNSUPPORTED,
         "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", 4},
        {TC_E_UNSUPPORTED,
         "{'descr': '|u1', 'fortran_order': False, 'shape': (1,1,1,1,1,1,1,1,1), }", 1},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 2},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': False, 'shape': (-1,), }", 2},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': False, 'shape': 3, }", 3},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': False, 'shape': (3 3), }", 9},
        {TC_E_FORMAT,
         "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999999999,), }", 9},
        {TC_E_FORMAT,
         "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,), }", 0},
        {TC_E_FORMAT,
         "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }",
         0},
        {TC_E_TOO_BIG,
         "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }",
         0},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': 0, 'shape': (3,), }", 3},
        {TC_E_FORMAT, "{'descr': '|u1', 'shape': (3,), }", 3},
        {TC_E_FORMAT,
         "{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", 3},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), 'x': 1}", 3},
        {TC_E_FORMAT, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,)} + 1", 3},
        {TC_E_UNSUPPORTED, "{'descr': '|u1, 'fortran_order': False, 'shape': (3,)}", 3},
        {TC_E_FORMAT, "['descr']", 3},
        {TC_E_FORMAT, "", 3},
    };
    start();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        tc_tensor t = load_dict(1, rows[i].dict, rows[i].bytes);
        CHECK_EQ(t.id, 0);
        if (tc_error(tc) != rows[i].status) FAIL("%s: %s", rows[i].dict, tc_error_text(tc));
        CHECK(rows[i].status == TC_E_TOO_BIG || strstr(tc_error_text(tc), path));
        tc_error_clear(tc);
    }
    stop();
}

TEST(paths) {
    start();
    CHECK_EQ(tc_load_npy(tc, path).id, 0);
    CHECK_EQ(tc_error(tc), TC_E_IO);
    tc_error_clear(tc);
    CHECK_EQ(tc_load_npy(tc, folder).id, 0);
    CHECK(tc_error(tc) != TC_OK);
    tc_error_clear(tc);
    CHECK_EQ(tc_load_npy(tc, NULL).id, 0);
    CHECK_EQ(tc_error(tc), TC_E_NULL);
    tc_error_clear(tc);
    tc_tensor x = tc_ones(tc, TC_DIMS(2), TC_F32);
    CHECK_EQ(tc_save_npy(x, folder), TC_E_IO);
    CHECK_EQ(tc_save_npy(tc_null(), path), TC_E_NULL);
    stop();
}

// ---- hostile files ----

TEST(every_truncation_is_refused) {
    char file[256];
    size_t size = make_file(
        file, 1, "{'descr': '<i4', 'fortran_order': False, 'shape': (5,), }\n", 20);
    start();
    for (size_t n = 0; n < size; n++) {
        put_file(file, n);
        CHECK_EQ(tc_load_npy(tc, path).id, 0);
        CHECK(tc_error(tc) == TC_E_FORMAT || tc_error(tc) == TC_E_UNSUPPORTED);
        tc_error_clear(tc);
    }
    stop();
}

// The parser alone: random changes of a valid dict. Whatever it accepts is within its
// limits.
TEST(random_headers) {
    static const char valid[] =
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }  \n";
    static const char likely[] = "{}()[],:'\"<>=|0123456789 bfiu\\\n";
    uint64_t random = 1;
    for (int round = 0; round < 200000; round++) {
        char text[sizeof valid];
        tc__npy_reader r;
        tc__npy h;
        size_t size = sizeof valid - 1;
        memcpy(text, valid, sizeof valid);
        for (int k = 0; k < 1 + round % 4; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            uint64_t v = random >> 33;
            text[v % size] =
                v >> 16 & 1 ? (char)(v >> 8) : likely[(v >> 8) % (sizeof likely - 1)];
        }
        if (round % 7 == 0) size = (size_t)(random >> 40) % sizeof valid;
        int ok = tc__npy_parse(&r, text, size, &h);
        CHECK(ok == !r.wrong);
        if (!ok) continue;
        CHECK(h.rank >= 0 && h.rank <= TC_MAX_RANK && tc__dtype_valid(h.dtype));
        for (int i = 0; i < h.rank; i++) CHECK(h.dims[i] >= 0);
    }
}
