// safetensors files: what the Python package writes is read, and written with the same bytes; borrowed tensors;
// saving as a whole or not at all; and hostile files, which are errors with a reason, however they are changed.
#include "harness.h"

#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"
#include "help.h"

#include "safetensors_python.h"

enum { ROOM = 4096 };

static char folder[] = "/tmp/tc_safe_XXXXXX";
static char path[64];
static tc_ctx *tc;

static void start(void) {
    tc = open_backend("aot_eager");
    CHECK(tc && mkdtemp(folder));
    snprintf(path, sizeof path, "%s/a.safetensors", folder);
}

// Nothing but the file itself is left in its folder.
static void stop(void) {
    CHECK_STR(tc_error_text(tc), "");
    tc_close(tc);
    unlink(path);
    CHECK_EQ(rmdir(folder), 0);
}

static void put_file(const void *bytes, size_t size) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, size, f) == size);
    if (f) fclose(f);
}

static size_t get_file(unsigned char *bytes) {
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(bytes, 1, ROOM, f) : 0;
    if (f) fclose(f);
    return n;
}

// A file with this header and `bytes` of elements: 0, 1, 2, ...
static void put_header(const char *header, size_t length, size_t bytes) {
    unsigned char file[ROOM];
    memset(file, 0, 8);
    file[0] = (unsigned char)(length & 255), file[1] = (unsigned char)(length >> 8);
    memcpy(file + 8, header, length);
    for (size_t i = 0; i < bytes; i++) file[8 + length + i] = (unsigned char)i;
    put_file(file, 8 + length + bytes);
}

static tc_safetensors *open_header(const char *header, size_t bytes) {
    put_header(header, strlen(header), bytes);
    return tc_safetensors_open(tc, path);
}

// ---- what the package writes ----

// tests/tools/safetensors_python.py has the same.
static const struct {
    const char *name;
    tc_dtype dtype;
    tc_dims dims;
} rows[] = {{"b.weight", TC_F32, {2, {2, 3}}},
            {"a.weight", TC_F32, {1, {2}}},
            {"scalar", TC_F64, {0, {0}}},
            {"whole", TC_I64, {2, {1, 2}}},
            {"half", TC_F16, {1, {3}}},
            {"brain", TC_BF16, {1, {1}}},
            {"i32", TC_I32, {1, {1}}},
            {"i16", TC_I16, {1, {2}}},
            {"i8", TC_I8, {1, {3}}},
            {"u8", TC_U8, {1, {5}}},
            {"flag", TC_BOOL, {1, {4}}},
            {"nothing", TC_F32, {2, {0, 3}}},
            {"gr\xc3\xbc\xc3\x9f \"e\" \\", TC_U8, {1, {1}}}};
enum { ROWS = sizeof rows / sizeof *rows };

static void row_bytes(unsigned char *at, size_t n, tc_dtype dtype) {
    for (size_t i = 0; i < n; i++) at[i] = (unsigned char)(dtype == TC_BOOL ? i % 2 : i);
}

static size_t row_size(int i) {
    size_t n = tc_dtype_bytes(rows[i].dtype);
    for (int k = 0; k < rows[i].dims.rank; k++) n *= (size_t)rows[i].dims.size[k];
    return n;
}

static void check_row(tc_tensor t, int i) {
    unsigned char want[64], got[64];
    size_t n = row_size(i);
    row_bytes(want, n, rows[i].dtype);
    CHECK_EQ(tc_dtype_of(t), rows[i].dtype);
    CHECK_EQ(tc_rank(t), rows[i].dims.rank);
    for (int k = 0; k < rows[i].dims.rank; k++)
        CHECK_EQ(tc_dim(t, k), rows[i].dims.size[k]);
    CHECK_EQ(tc_read(t, got, n), TC_OK);
    CHECK_BYTES(got, want, n);
}

TEST(the_package_is_read) {
    tc_spec spec;
    start();
    put_file(python_file, sizeof python_file);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    REQUIRE(s);
    CHECK_EQ(tc_safetensors_count(s), ROWS);
    CHECK_STR(tc_safetensors_name(s, 0), "whole"); // as they lie
    CHECK_STR(tc_safetensors_name(s, 2), "a.weight");
    CHECK_STR(tc_safetensors_name(s, ROWS - 1), "flag");
    CHECK(!tc_safetensors_name(s, ROWS) && !tc_safetensors_name(s, -1));
    CHECK_STR(tc_safetensors_metadata(s, "format"), "pt \xe2\x9c\x93");
    CHECK(!tc_safetensors_metadata(s, "other"));
    CHECK_STR(tc_safetensors_metadata_key(s, 0), "format");
    CHECK(!tc_safetensors_metadata_key(s, 1) && !tc_safetensors_metadata_key(s, -1));
    CHECK_EQ(tc_safetensors_find(s, "none"), -1);
    for (int i = 0; i < ROWS; i++) {
        int at = tc_safetensors_find(s, rows[i].name);
        CHECK(at >= 0);
        CHECK_EQ(tc_safetensors_spec(s, at, &spec), TC_OK);
        CHECK_EQ(spec.dtype, rows[i].dtype);
        CHECK_EQ(spec.rank, rows[i].dims.rank);
        for (int k = 0; k < spec.rank; k++) CHECK_EQ(spec.dims[k], rows[i].dims.size[k]);
        check_row(tc_safetensors_read(s, rows[i].name), i);
        check_row(tc_safetensors_borrow(s, rows[i].name), i);
    }
    tc_safetensors_close(s);
    stop();
}

TEST(the_bytes_are_the_packages) {
    static const char *const metadata[] = {"format", "pt \xe2\x9c\x93"};
    const char *names[ROWS];
    tc_tensor t[ROWS];
    unsigned char file[ROOM], bytes[64];
    start();
    for (int i = 0; i < ROWS; i++) {
        row_bytes(bytes, row_size(i), rows[i].dtype);
        names[i] = rows[i].name;
        t[i] = tc_from_data(tc, bytes, rows[i].dims, rows[i].dtype);
    }
    for (int round = 0; round < 2; round++) {
        CHECK_EQ(tc_safetensors_save(tc, path, names, t, ROWS, metadata, 1), TC_OK);
        CHECK_EQ(get_file(file), sizeof python_file);
        CHECK_BYTES(file, python_file, sizeof python_file);
    }
    stop();
}

// The same of f8 and what it is sorted between, in a file of its own.
TEST(bytes_of_f8_are_the_packages) {
    static const char *const names[] = {"e4m3", "e5m2", "i16", "i8"};
    static const tc_dtype dtypes[] = {TC_F8E4M3, TC_F8E5M2, TC_I16, TC_I8};
    static const int64_t sizes[] = {3, 2, 1, 1};
    unsigned char file[ROOM], bytes[8], got[8];
    tc_tensor t[4];
    start();
    for (int i = 0; i < 4; i++) {
        row_bytes(bytes, 8, dtypes[i]);
        t[i] = tc_from_data(tc, bytes, TC_DIMS(sizes[i]), dtypes[i]);
    }
    CHECK_EQ(tc_safetensors_save(tc, path, names, t, 4, NULL, 0), TC_OK);
    CHECK_EQ(get_file(file), sizeof python_f8);
    CHECK_BYTES(file, python_f8, sizeof python_f8);
    put_file(python_f8, sizeof python_f8);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    REQUIRE(s);
    for (int i = 0; i < 2; i++) {
        tc_tensor u = tc_safetensors_read(s, names[i]);
        CHECK_EQ(tc_dtype_of(u), dtypes[i]);
        CHECK_EQ(tc_read(u, got, (size_t)sizes[i]), TC_OK);
        row_bytes(bytes, 8, dtypes[i]);
        CHECK_BYTES(got, bytes, (size_t)sizes[i]);
    }
    tc_safetensors_close(s);
    stop();
}

// ---- round trips ----

TEST(every_dtype_and_every_stride) {
    static const char *const names[] = {"plain", "turned", "back", "scalar", "empty"};
    start();
    tc_tensor x = tc_reshape(tc_arange(tc, -12, 12, 1, TC_F64), TC_DIMS(2, 3, 4));
    for (int d = 0; d < TC_DTYPE_COUNT; d++) {
        tc_tensor y = tc_cast(x, (tc_dtype)d), t[5];
        t[0] = y, t[1] = tc_permute(y, TC_DIMS(2, 0, 1));
        t[2] = tc_slice(y, 2, -1, TC_END, -2),
        t[3] = tc_full(tc, TC_SCALAR, 1, (tc_dtype)d);
        t[4] = tc_zeros(tc, TC_DIMS(3, 0, 2), (tc_dtype)d);
        CHECK_EQ(tc_safetensors_save(tc, path, names, t, 5, NULL, 0), TC_OK);
        tc_safetensors *s = tc_safetensors_open(tc, path);
        REQUIRE(s);
        CHECK(!tc_safetensors_metadata_key(s, 0));
        for (int i = 0; i < 5; i++) {
            unsigned char a[256], b[256];
            size_t n = (size_t)tc_numel(t[i]) * tc_dtype_bytes((tc_dtype)d);
            tc_tensor u = tc_safetensors_read(s, names[i]);
            CHECK_EQ(tc_dtype_of(u), d);
            CHECK_EQ(tc_rank(u), tc_rank(t[i]));
            CHECK_EQ(tc_read(u, a, n), TC_OK);
            CHECK_EQ(tc_read(t[i], b, n), TC_OK);
            CHECK_BYTES(a, b, n);
        }
        tc_safetensors_close(s);
    }
    stop();
}

TEST(metadata_and_names_of_all_kinds) {
    static const char *const metadata[] = {"z", "last",   "a\n\t\"\\\x01",    "\x7f first",
                                           "",  "no key", "\xf0\x9f\x98\x80", ""};
    static const char *const names[] = {"", "a\nb", "\xf0\x9f\x98\x80"};
    tc_tensor t[3];
    start();
    for (int i = 0; i < 3; i++) t[i] = tc_full(tc, TC_DIMS(1), i, TC_F32);
    CHECK_EQ(tc_safetensors_save(tc, path, names, t, 3, metadata, 4), TC_OK);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    REQUIRE(s);
    for (int i = 0; i < 4; i++)
        CHECK_STR(tc_safetensors_metadata(s, metadata[2 * i]), metadata[2 * i + 1]);
    CHECK_STR(tc_safetensors_metadata_key(s, 0), ""); // sorted
    CHECK_STR(tc_safetensors_metadata_key(s, 2), "z");
    for (int i = 0; i < 3; i++) CHECK_NEAR(tc_item(tc_safetensors_read(s, names[i])), i, 0);
    tc_safetensors_close(s);
    // Nothing at all is a file as well.
    CHECK_EQ(tc_safetensors_save(tc, path, NULL, NULL, 0, NULL, 0), TC_OK);
    s = tc_safetensors_open(tc, path);
    CHECK(s && tc_safetensors_count(s) == 0);
    CHECK_EQ(tc_safetensors_save(tc, path, NULL, NULL, 0, metadata, 1), TC_OK);
    tc_safetensors *only = tc_safetensors_open(tc, path);
    CHECK(only && !strcmp(tc_safetensors_metadata(only, "z"), "last"));
    stop(); // tc_close closes both
}

TEST(escapes) {
    tc_safetensors *s;
    start();
    s = open_header(
        "{\"__metadata__\":{\"\\u00fc\\ud83d\\ude00\\/\\b\\f\\n\\r\\t\":\"\\\"\\\\\"}}", 0);
    REQUIRE(s);
    CHECK_STR(tc_safetensors_metadata(s, "\xc3\xbc\xf0\x9f\x98\x80/\b\f\n\r\t"), "\"\\");
    // Blanks may stand between all, and behind.
    s = open_header(
        "{ \"a\" : { \"shape\" : [ 1 , 2 ] , \"dtype\" :\t\"U8\" ,\r\n\"data_offsets\" "
        ": [ 0 , 2 ] } }  \n ",
        2);
    REQUIRE(s);
    CHECK_NEAR(tc_get(tc_safetensors_read(s, "a"), TC_DIMS(0, 1)), 1, 0);
    stop();
}

TEST(inside_a_region) {
    static const char *const name = "y";
    start();
    tc_trace_begin(tc, "save");
    tc_tensor y = tc_mul_s(tc_arange(tc, 0, 4, 1, TC_F32), 2);
    CHECK_EQ(tc_safetensors_save(tc, path, &name, &y, 1, NULL, 0), TC_OK);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    tc_tensor z = tc_add(tc_safetensors_read(s, "y"), tc_safetensors_borrow(s, "y"));
    CHECK_EQ(tc_trace_end(tc), TC_OK);
    CHECK_NEAR(AT(z, 3), 12, 0);
    stop();
}

// ---- borrowed ----

TEST(a_borrowed_tensor_is_the_file) {
    static const char *const names[] = {"big", "flag"};
    unsigned char before[ROOM], after[ROOM];
    tc_tensor t[2];
    start();
    t[0] = line(tc, 100, 0, 1), t[1] = tc_lt_s(line(tc, 5, 0, 1), 2);
    CHECK_EQ(tc_safetensors_save(tc, path, names, t, 2, NULL, 0), TC_OK);
    size_t size = get_file(before);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    size_t held = tc_stats_get(tc).bytes;
    tc_tensor a = tc_safetensors_borrow(s, "big"), b = tc_safetensors_borrow(s, "big");
    CHECK(tc_stats_get(tc).bytes - held < 400); // no elements
    CHECK(tc_data(a) == tc_data(b));
    tc_fill_(tc_narrow(a, 0, 3, 2), -1); // for both, and for nobody else
    CHECK_NEAR(AT(b, 4), -1, 0);
    CHECK_NEAR(AT(tc_safetensors_read(s, "big"), 4), 4, 0);
    CHECK_EQ(get_file(after), size);
    CHECK_BYTES(after, before, size);
    CHECK_NEAR(tc_item(tc_sum_all(tc_safetensors_borrow(s, "flag"))), 2, 0);
    tc_safetensors_close(s); // they live on
    CHECK_NEAR(AT(a, 99), 99, 0);
    tc_free(a);
    BEGIN("use");
    tc_tensor sum = tc_sum_all(b);
    END();
    CHECK_NEAR(tc_item(sum), 4950 - 7 - 2, 0);
    unlink(path); // the system keeps it
    CHECK_NEAR(AT(b, 99), 99, 0);
    stop();
}

// Elements that lie askew are copied, and a file that has become shorter is not used as memory.
TEST(what_cannot_be_borrowed) {
    start();
    tc_safetensors *s =
        open_header("{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"b\":{"
                    "\"dtype\":\"I16\",\"shape\":[2],\"data_offsets\":[1,5]}}  ",
                    5);
    REQUIRE(s);
    tc_tensor b = tc_safetensors_borrow(s, "b");
    CHECK_NEAR(tc_get(b, TC_DIMS(1)), 3 + 256 * 4, 0);
    CHECK(tc_data(b) != NULL);
    tc_safetensors_close(s);
    static const char *const name = "large";
    tc_tensor large = tc_zeros(tc, TC_DIMS(4096), TC_F32);
    CHECK_EQ(tc_safetensors_save(tc, path, &name, &large, 1, NULL, 0), TC_OK);
    s = tc_safetensors_open(tc, path);
    CHECK_EQ(truncate(path, 100), 0);
    CHECK(tc_is_null(tc_safetensors_borrow(s, "large")));
    ERROR(TC_E_IO, "unexpected end");
    stop();
}

TEST(a_shared_context_reads_what_is_borrowed) {
    start();
    put_file(python_file, sizeof python_file);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    tc_tensor t = tc_safetensors_borrow(s, "b.weight");
    tc_ctx *other = tc_open_shared(tc);
    REQUIRE(other);
    tc_safetensors_close(s);
    tc_free(t);
    tc_close(other);
    stop();
}

// ---- hostile files ----

#define T(dtype, shape, from, to)                                                          \
    "{\"dtype\":\"" dtype "\",\"shape\":[" shape "],\"data_offsets\":[" from "," to "]}"

static const struct {
    const char *header;
    size_t bytes;
    const char *wrong; // NULL = nothing
} hostile[] = {
    {"{\"a\":" T("F32", "2", "0", "8") "}", 8, NULL},
    {"{\"a\":" T("F32", "2", "0", "8") "}", 9, "bytes follow the last tensor"},
    {"{\"a\":" T("F32", "2", "0", "8") "}", 7, "\"a\": its bytes are not all in the file"},
    {"{\"a\":" T("F32", "2", "0", "4") "}", 4, "\"a\": its shape and dtype need another"},
    {"{\"a\":" T("F32", "2", "4", "12") "}", 12, "\"a\": there is a gap before its bytes"},
    {"{\"a\":" T("U8", "2", "0", "2") ",\"b\":" T("U8", "2", "1", "3") "}", 3,
     "\"b\": its bytes overlap others"},
    {"{\"a\":" T("U8", "2", "0", "2") ",\"b\":" T("U8", "2", "0", "2") "}", 2,
     "\"b\": its bytes overlap others"},
    {"{\"a\":" T("U8", "2", "0", "2") ",\"b\":" T("U8", "1", "3", "4") "}", 4,
     "\"b\": there is a gap before its bytes"},
    {"{\"a\":" T("U8", "2", "2", "0") "}", 2, "\"a\": it ends before it begins"},
    {"{\"a\":" T("U8", "1", "0", "1") ",\"\\u0061\":" T("U8", "1", "1", "2") "}", 2,
     "\"a\": two tensors have this name"},
    {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", 0, "\"k\": two values have this key"},
    {"{\"__metadata__\":{},\"__metadata__\":{}}", 0, "\"__metadata__\": it stands twice"},
    {"{\"__metadata__\":{\"k\":1}}", 0, "\"__metadata__\": a text in quotes"},
    {"{\"__metadata__\":{\"k\":{}}}", 0, "a text in quotes was expected"},
    {"{\"__metadata__\":[]}", 0, "it is no object of texts"},
    // Sizes whose product is more than there can be, and 0 after all.
    {"{\"a\":" T("U8", "9223372036854775807,9223372036854775807", "0", "1") "}", 1,
     "need another number of bytes"},
    {"{\"a\":" T("I64", "2305843009213693952", "0", "0") "}", 0, "need another number"},
    {"{\"a\":" T("U8", "4294967296,4294967296", "0", "0") "}", 0, "need another number"},
    {"{\"a\":" T("U8", "9223372036854775807,9,0", "0", "0") "}", 0, NULL},
    {"{\"a\":" T("U8", "9223372036854775808", "0", "1") "}", 1, "a number is too large"},
    {"{\"a\":" T("U8", "1", "0", "99999999999999999999999") "}", 1,
     "a number is too large"},
    {"{\"a\":" T("U8", "1", "0", "9223372036854775807") "}", 1, "are not all in the file"},
    {"{\"a\":" T("U8", "-1", "0", "1") "}", 1, "a number without sign or fraction"},
    {"{\"a\":" T("U8", "+1", "0", "1") "}", 1, "a number without sign or fraction"},
    {"{\"a\":" T("U8", "1.0", "0", "1") "}", 1, "a number is not whole"},
    {"{\"a\":" T("U8", "1e0", "0", "1") "}", 1, "a number is not whole"},
    {"{\"a\":" T("U8", "01", "0", "1") "}", 1, "a number begins with 0"},
    {"{\"a\":" T("U8", "\"1\"", "0", "1") "}", 1, "a number without sign or fraction"},
    {"{\"a\":" T("U8", "null", "0", "1") "}", 1, "a number without sign or fraction"},
    {"{\"a\":" T("U8", "[1]", "0", "1") "}", 1, "a number without sign or fraction"},
    {"{\"a\":" T("U8", "1,", "0", "1") "}", 1, "a number without sign or fraction"},
    {"{\"a\":" T("U8", "1 1", "0", "1") "}", 1, "a comma or a closing bracket"},
    {"{\"a\":" T("U8", "1", "0", "1,2") "}", 1, "data_offsets has not two numbers"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1]}}", 1, "not two numbers"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":1}}", 1, "is no list"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":{},\"data_offsets\":[0,1]}}", 1,
     "shape is no list"},
    {"{\"a\":{\"dtype\":3,\"shape\":[1],\"data_offsets\":[0,1]}}", 1, "a text in quotes"},
    {"{\"a\":{\"dtype\":\"U8\",\"shape\":[1]}}", 1,
     "\"a\": dtype, shape or data_offsets is"},
    {"{\"a\":{}}", 1, "\"a\": a text in quotes was expected"},
    {"{\"a\":{\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1]}}", 1, "a key stands twice"},
    {"{\"a\":{\"dtype\":\"U8\",\"strides\":[1]}}", 1, "a key that is not dtype, shape or"},
    {"{\"a\":[]}", 0, "\"a\": it is no object"},
    {"{\"a\":{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{", 0,
     "a text in quotes was expected"},
    {"{\"a\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[", 0, "it is no object"},
    {"[]", 0, "the header does not begin with {"},
    {" {}", 0, "the header does not begin with {"},
    {"\xef\xbb\xbf{}", 0, "the header does not begin with {"},
    {"{}x", 0, "something follows the header's object, at byte 2"},
    {"{}{}", 0, "something follows the header's object"},
    {"{,}", 0, "a text in quotes was expected"},
    {"{\"a\"}", 0, "a colon was expected"},
    {"{\"a", 0, "a text does not end"},
    {"{\"a\\", 0, "a text does not end"},
    {"{\"a\\\"", 0, "a text does not end"},
    {"{\"", 0, "a text does not end"},
    {"{'a'", 0, "a text in quotes was expected"},
    {"{\"a\\x\":", 0, "an unknown escape"},
    {"{\"\\u12\":", 0, "\\u without four digits"},
    {"{\"\\u12g4\":", 0, "\\u without four digits"},
    {"{\"\\ud800\":", 0, "half of a surrogate pair"},
    {"{\"\\udc00\\ud800\":", 0, "half of a surrogate pair"},
    {"{\"\\ud800\\u0041\":", 0, "half of a surrogate pair"},
    {"{\"\\u0000\":", 0, "\\u0000 in a text"},
    {"{\"a\nb\":", 0, "a control character in a text"},
    {"{\"\xc0\xaf\":", 0, "no UTF-8"},
    {"{\"\xed\xa0\x80\":", 0, "no UTF-8"},
    {"{\"\xf4\x90\x80\x80\":", 0, "no UTF-8"},
    {"{\"\xc3\":", 0, "no UTF-8"},
    {"{\"\xff\":", 0, "no UTF-8"},
    {"{", 0, "2 bytes"}, // shorter than any
};

TEST(hostile_headers) {
    start();
    for (size_t i = 0; i < sizeof hostile / sizeof *hostile; i++) {
        tc_safetensors *s = open_header(hostile[i].header, hostile[i].bytes);
        if (!hostile[i].wrong != !!s) FAIL("%s: %s", hostile[i].header, tc_error_text(tc));
        if (s) continue;
        const char *wrong =
            strlen(hostile[i].header) < 2 ? "100000000 are the most" : hostile[i].wrong;
        if (!strstr(tc_error_text(tc), wrong)) FAIL("%s: %s", wrong, tc_error_text(tc));
        CHECK_EQ(tc_error(tc), TC_E_FORMAT);
        tc_error_clear(tc);
    }
    // A NUL in the middle of the header.
    put_header("{\"a\0b\":{}}", 10, 0);
    CHECK(!tc_safetensors_open(tc, path));
    ERROR(TC_E_FORMAT, "a control character in a text");
    put_header("{}\0\0", 4, 0);
    CHECK(!tc_safetensors_open(tc, path));
    ERROR(TC_E_FORMAT, "something follows");
    stop();
}

TEST(hostile_lengths) {
    static const uint64_t length[] = {
        0, 1, 3, 100000001, INT64_MAX, UINT64_MAX, UINT64_MAX - 7, (uint64_t)1 << 32};
    unsigned char file[10] = {0};
    start();
    for (size_t i = 0; i < sizeof length / sizeof *length; i++) {
        for (int k = 0; k < 8; k++) file[k] = (unsigned char)(length[i] >> 8 * k);
        memcpy(file + 8, "{}", 2);
        put_file(file, sizeof file);
        size_t peak = tc_stats_get(tc).peak_bytes;
        CHECK(!tc_safetensors_open(tc, path));
        ERROR(TC_E_FORMAT, "its header would have");
        CHECK(tc_stats_get(tc).peak_bytes < peak + 4096);
    }
    for (size_t n = 0; n < 8; n++) {
        put_file(file, n);
        CHECK(!tc_safetensors_open(tc, path));
        ERROR(TC_E_FORMAT, "it ends before the length of its header");
    }
    stop();
}

TEST(every_truncation_is_refused) {
    start();
    for (size_t n = 0; n < sizeof python_file; n++) {
        put_file(python_file, n);
        CHECK(!tc_safetensors_open(tc, path));
        CHECK_EQ(tc_error(tc), TC_E_FORMAT);
        tc_error_clear(tc);
    }
    stop();
}

// What is not ours is refused where it is asked for, and all else is there.
TEST(dtypes_and_ranks_that_are_not_ours) {
    tc_spec spec;
    start();
    tc_safetensors *s =
        open_header("{\"a\":" T("F8_E8M0", "3", "0", "3") ",\"b\":" T(
                        "U8", "1", "3",
                        "4") ","
                             "\"c\":" T("U8", "1,1,1,1,1,1,1,1,1", "4", "5") ",\"d\":" T(
                                 "A dtype with a long name", "7", "5", "5") "}",
                    5);
    REQUIRE(s);
    CHECK_EQ(tc_safetensors_count(s), 4);
    CHECK_NEAR(tc_item(tc_safetensors_read(s, "b")), 3, 0);
    CHECK(tc_is_null(tc_safetensors_read(s, "a")));
    ERROR(TC_E_UNSUPPORTED, "\"a\" has elements of F8_E8M0; convert it");
    CHECK(tc_is_null(tc_safetensors_borrow(s, "c")));
    ERROR(TC_E_UNSUPPORTED, "\"c\" has 9 dimensions; 8 are the most");
    CHECK_EQ(tc_safetensors_spec(s, 0, &spec), TC_E_UNSUPPORTED);
    ERROR(TC_E_UNSUPPORTED, "F8_E8M0");
    CHECK(tc_is_null(tc_safetensors_read(s, "d")));
    ERROR(TC_E_UNSUPPORTED, "A dtype with a ;");
    stop();
}

// Opens what is in the file and takes all of it. 1 = it was a good one.
static int take_all(void) {
    tc_safetensors *s = tc_safetensors_open(tc, path);
    if (!s) {
        CHECK(tc_error(tc) == TC_E_FORMAT && tc_error_text(tc)[0]);
        tc_error_clear(tc);
        return 0;
    }
    for (int i = 0; i < tc_safetensors_count(s); i++) {
        const char *name = tc_safetensors_name(s, i);
        CHECK_EQ(tc_safetensors_find(s, name), i);
        tc_scope_begin(tc);
        tc_tensor a = tc_safetensors_read(s, name), b = tc_safetensors_borrow(s, name);
        CHECK_EQ(tc_is_null(a), tc_is_null(b));
        CHECK(!tc_is_null(a) || tc_error(tc) == TC_E_UNSUPPORTED ||
              tc_error(tc) == TC_E_TOO_BIG);
        if (tc_numel(a) > 0) tc_get(tc_reshape(b, TC_DIMS(-1)), TC_DIMS(-1));
        tc_error_clear(tc);
        tc_scope_end(tc);
    }
    tc_safetensors_close(s);
    return 1;
}

// One change in the first `most` bytes behind the length: a byte, one that stands for something, a few cut out or
// doubled. Gives the size.
static size_t change(unsigned char *file, size_t size, size_t most, uint64_t v) {
    static const char likely[] = "{}[],:\"\\u0123456789eE.-+ \n\t_FIUB";
    size_t at = 8 + (size_t)(v % most), n = 1 + (size_t)(v >> 32 & 7);
    switch (v >> 40 & 3) {
    case 0: file[at] = (unsigned char)(v >> 24); return size;
    case 1: file[at] = (unsigned char)likely[(v >> 24) % (sizeof likely - 1)]; return size;
    case 2: memmove(file + at, file + at + n, size - at - n); return size - n;
    default: memmove(file + at + n, file + at, size - at); return size + n;
    }
}

// Random changes of a good file, whose length sometimes follows.
TEST(random_files) {
    enum { ROUNDS = 4000, ELEMENTS = 85 };
    int good = 0;
    uint64_t random = 7;
    start();
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char file[ROOM];
        size_t size = sizeof python_file, header = size - 8 - ELEMENTS;
        memcpy(file, python_file, size);
        for (int k = 0; k < 1 + round % 3; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            size = change(file, size, sizeof python_file - 8 - ELEMENTS, random >> 20);
            if (random >> 19 & 1) header = size - 8 - ELEMENTS;
        }
        file[0] = (unsigned char)(header & 255), file[1] = (unsigned char)(header >> 8);
        put_file(file, size);
        good += take_all();
    }
    CHECK(good > ROUNDS / 100 && good < ROUNDS / 2);
    stop();
}

// The parser alone, in memory of just the header's length: what it accepts is within the file.
TEST(random_headers) {
    enum { ROUNDS = 60000, ELEMENTS = 85, HEADER = sizeof python_file - 8 - ELEMENTS };
    uint64_t random = 3;
    int good = 0;
    start();
    for (int round = 0; round < ROUNDS; round++) {
        unsigned char file[ROOM];
        size_t size = sizeof python_file - ELEMENTS;
        memcpy(file, python_file, size);
        for (int k = 0; k < 1 + round % 5; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            size = change(file, size, HEADER - 40, random >> 20);
        }
        char *text = (char *)malloc(size - 8 + 1);
        memcpy(text, file + 8, size - 8);
        text[size - 8] = 0;
        tc__safe_reader r;
        tc__safe_header h;
        int ok = tc__safe_parse(&r, tc, text, size - 8, ELEMENTS, &h);
        CHECK(ok == !r.wrong);
        CHECK(r.at <= r.end);
        for (size_t i = 0; ok && i < h.tensor.count; i++) {
            const tc__safe_tensor *t = &h.tensor.at[i];
            CHECK(t->begin <= t->end && t->end <= ELEMENTS && t->dtype < TC_DTYPE_COUNT);
            CHECK(tc__safe_find(&h, t->name) == t);
            for (const char *s = t->name; *s;) s += tc__utf8_size(s); // 0 would never end
        }
        good += ok;
        tc__safe_header_free(tc, &h);
        free(text);
    }
    CHECK(good > ROUNDS / 200);
    stop();
}

// ---- errors ----

TEST(reading_refused) {
    tc_spec spec;
    start();
    put_file(python_file, sizeof python_file);
    tc_safetensors *s = tc_safetensors_open(tc, path);
    REQUIRE(s);
    CHECK(!tc_safetensors_open(NULL, path));
    ERROR(TC_E_NULL, "tc_safetensors_open: ");
    CHECK(!tc_safetensors_open(tc, NULL));
    ERROR(TC_E_NULL, "path is NULL");
    CHECK(!tc_safetensors_open(tc, folder));
    ERROR(TC_E_IO, "it is no plain file");
    CHECK(!tc_safetensors_open(tc, "/nowhere/a"));
    ERROR(TC_E_IO, "cannot open \"/nowhere/a\": No such file");
    CHECK_EQ(tc_safetensors_spec(s, ROWS, &spec), TC_E_ARG);
    ERROR(TC_E_ARG, "has 13 tensors, none is 13");
    CHECK_EQ(tc_safetensors_spec(s, 0, NULL), TC_E_NULL);
    ERROR(TC_E_NULL, "spec is NULL");
    CHECK_EQ(tc_safetensors_spec(NULL, 0, &spec), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_safetensors_spec: ");
    CHECK(tc_is_null(tc_safetensors_read(s, "none")));
    ERROR(TC_E_ARG, "has no tensor \"none\"");
    CHECK(tc_is_null(tc_safetensors_read(s, NULL)));
    ERROR(TC_E_NULL, "name is NULL");
    CHECK(tc_is_null(tc_safetensors_borrow(s, "none")));
    ERROR(TC_E_ARG, "tc_safetensors_borrow: ");
    CHECK(tc_is_null(tc_safetensors_read(NULL, "a")));
    ERROR(TC_E_NULL, "tc_safetensors_read: ");
    CHECK(tc_is_null(tc_safetensors_borrow(NULL, "a")));
    ERROR(TC_E_NULL, "tc_safetensors_borrow: ");
    CHECK_EQ(tc_safetensors_count(NULL), 0);
    CHECK_EQ(tc_safetensors_find(NULL, "a"), -1);
    CHECK(!tc_safetensors_name(NULL, 0) && !tc_safetensors_metadata(NULL, "a"));
    CHECK(!tc_safetensors_metadata_key(NULL, 0));
    tc_safetensors_close(NULL);
    stop();
}

#define SAVE(...) tc_safetensors_save(tc, path, __VA_ARGS__)
TEST(writing_refused) {
    static const char *const names[] = {"a", "b"}, *const twice[] = {"a", "a"};
    static const char *const wrong[] = {"a", "\xff"}, *const meta[] = {"__metadata__"};
    static const char *const missing[] = {"a", NULL}, *const pairs[] = {"k", "1", "k", "2"};
    unsigned char before[ROOM], after[ROOM];
    tc_tensor t[2], null[2];
    start();
    t[0] = line(tc, 4, 0, 1), t[1] = tc_to_i32(t[0]);
    null[0] = t[0], null[1] = tc_null();
    CHECK_EQ(SAVE(names, t, 2, NULL, 0), TC_OK);
    size_t size = get_file(before);
    CHECK_EQ(tc_safetensors_save(NULL, path, names, t, 2, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tc_safetensors_save: ");
    CHECK_EQ(tc_safetensors_save(tc, NULL, names, t, 2, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "path is NULL");
    CHECK_EQ(SAVE(NULL, t, 2, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "names is NULL");
    CHECK_EQ(SAVE(names, NULL, 2, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tensors is NULL");
    CHECK_EQ(SAVE(names, t, 2, NULL, 1), TC_E_NULL);
    ERROR(TC_E_NULL, "metadata is NULL");
    CHECK_EQ(SAVE(names, t, -1, NULL, 0), TC_E_ARG);
    ERROR(TC_E_ARG, "-1 tensors");
    CHECK_EQ(SAVE(twice, t, 2, NULL, 0), TC_E_ARG); // of other dtypes
    ERROR(TC_E_ARG, "two tensors have the name \"a\"");
    CHECK_EQ(SAVE(wrong, t, 2, NULL, 0), TC_E_ARG);
    ERROR(TC_E_ARG, "name 1 is no UTF-8");
    CHECK_EQ(SAVE(missing, t, 2, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "name 1 is NULL");
    CHECK_EQ(SAVE(meta, t, 1, NULL, 0), TC_E_ARG);
    ERROR(TC_E_ARG, "__metadata__, which is no tensor");
    CHECK_EQ(SAVE(names, null, 2, NULL, 0), TC_E_NULL);
    ERROR(TC_E_NULL, "tensor 1, \"b\", is null");
    CHECK_EQ(SAVE(names, t, 2, pairs, 2), TC_E_ARG);
    ERROR(TC_E_ARG, "two values have the key \"k\"");
    CHECK_EQ(SAVE(names, t, 2, wrong, 1), TC_E_ARG);
    ERROR(TC_E_ARG, "metadata 1 is no UTF-8");
    tc_tensor dead = tc_clone(t[0]);
    tc_free(dead);
    CHECK_EQ(SAVE(names, &dead, 1, NULL, 0), TC_E_DEAD);
    ERROR(TC_E_DEAD, "");
    CHECK_EQ(get_file(after), size); // what was there is there
    CHECK_BYTES(after, before, size);
    stop();
}

// A file that cannot be written whole leaves the old one, and nothing beside it.
TEST(whole_or_not_at_all) {
    static const char *const name = "a";
    struct rlimit limit;
    unsigned char before[ROOM], after[ROOM];
    start();
    tc_tensor small = line(tc, 4, 0, 1), large = tc_zeros(tc, TC_DIMS(4096), TC_F32);
    CHECK_EQ(SAVE(&name, &small, 1, NULL, 0), TC_OK);
    size_t size = get_file(before);
    getrlimit(RLIMIT_FSIZE, &limit);
    limit.rlim_cur = 1000;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQ(SAVE(&name, &large, 1, NULL, 0), TC_E_IO);
    ERROR(TC_E_IO, "File too large");
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_FSIZE, &limit);
    CHECK_EQ(get_file(after), size);
    CHECK_BYTES(after, before, size);
    CHECK_EQ(SAVE(&name, &large, 1, NULL, 0), TC_OK);
    CHECK_EQ(tc_safetensors_save(tc, folder, &name, &small, 1, NULL, 0), TC_E_IO);
    ERROR(TC_E_IO, "is no plain file");
    CHECK_EQ(tc_safetensors_save(tc, "/dev/null", &name, &small, 1, NULL, 0), TC_E_IO);
    ERROR(TC_E_IO, "is no plain file");
    CHECK_EQ(tc_safetensors_save(tc, "/nowhere/a", &name, &small, 1, NULL, 0), TC_E_IO);
    ERROR(TC_E_IO, "No such file");
    stop();
}

// Every allocation fails once: an error, and nothing is lost.
typedef struct poor {
    long n, seen;
} poor;

static void *poor_realloc(void *user, void *p, size_t old, size_t bytes) {
    poor *m = (poor *)user;
    return bytes && ++m->seen == m->n ? NULL : checked_realloc(p, old, bytes);
}

TEST(without_memory) {
    static const char *const names[] = {"a", "b"}, *const metadata[] = {"k", "v"};
    int refused = 0;
    start();
    for (long n = 1; n < 200; n++) {
        poor m = {0, 0};
        tc_config config = tc_config_default();
        config.allocator.realloc = poor_realloc, config.allocator.user = &m;
        config.backend = "aot_eager", config.no_disk_cache = 1;
        tc_ctx *c = tc_open(&config);
        tc_tensor t[2], a = tc_null(), b = a;
        t[0] = line(c, 4, 0, 1), t[1] = line(c, 4, 1, 1);
        m.n = n, m.seen = 0;
        tc_status saved = tc_safetensors_save(c, path, names, t, 2, metadata, 1);
        tc_safetensors *s = saved ? NULL : tc_safetensors_open(c, path);
        if (s) a = tc_safetensors_read(s, "a"), b = tc_safetensors_borrow(s, "b");
        long seen = m.seen;
        m.n = 0;
        CHECK(!saved || saved == TC_E_NOMEM);
        if (!a.id || !b.id) CHECK_EQ(tc_error(c), TC_E_NOMEM), refused++;
        if (a.id && b.id) CHECK(AT(a, 1) == 1 && AT(b, 1) == 2);
        tc_close(c);
        if (seen < n) break;
    }
    CHECK(refused > 5);
    stop();
}
