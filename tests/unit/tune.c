// Tuning, by its parts: choices as text, and who is ahead in a heat. Times are numbers of the test.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"

#if TC__JIT

// ---- a choice as text ----

static tc__chosen some_choice(void) {
    tc__chosen c;
    memset(&c, 0, sizeof c);
    for (int k = 0; k < TC__KNOBS; k++) c.tuning.knob[k] = (uint8_t)(k % 3);
    c.tried = 17, c.ns = 812345, c.default_ns = 900001;
    return c;
}

static int parses(const char *text) {
    tc__chosen c;
    return tc__choice_parse(text, strlen(text), &c);
}

#    define MOST_KNOBS "0 1 2 0 1 2 0 1 2 0 1 2" // but the last, 0

TEST(a_choice_is_read_as_it_was_written) {
    char text[TC__CHOICE_MOST];
    tc__chosen c = some_choice(), back;
    size_t n = tc__choice_print(text, &c);
    CHECK_STR(text, "tuning " MOST_KNOBS " 0; 17 tried; 812345 900001 ns\n");
    CHECK_EQ(n, strlen(text));
    CHECK(tc__choice_parse(text, n, &back));
    CHECK_BYTES(back.tuning.knob, c.tuning.knob, sizeof c.tuning.knob);
    CHECK_EQ(back.tried, 17);
    CHECK_EQ(back.ns, 812345);
    CHECK_EQ(back.default_ns, 900001);
}

TEST(any_other_text_is_no_choice) {
    static const char *const wrong[] = {
        "",
        "tuning",
        "\n",
        "tuning " MOST_KNOBS "; 17 tried; 812345 900001 ns\n",     // a knob less
        "tuning " MOST_KNOBS " 0 1; 17 tried; 812345 900001 ns\n", // a knob more
        "tuning " MOST_KNOBS " 00; 17 tried; 812345 900001 ns\n",  // not as we write it
        "tuning " MOST_KNOBS " -1; 17 tried; 812345 900001 ns\n",
        "tuning " MOST_KNOBS " 256; 17 tried; 812345 900001 ns\n", // more than a byte
        "tuning " MOST_KNOBS " 0; 17 tried; 99999999999999999999999 900001 ns\n",
        "tuning " MOST_KNOBS " 0; 17 tried; 812345 900001 ns\n\n",
        "tuning " MOST_KNOBS " 0; 17 tried; 812345 900001 ns",
        "Tuning " MOST_KNOBS " 0; 17 tried; 812345 900001 ns\n",
        "tuning  " MOST_KNOBS " 0; 17 tried; 812345 900001 ns\n"};
    char text[TC__CHOICE_MOST];
    tc__chosen c = some_choice();
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        if (parses(wrong[i])) FAIL("\"%s\" is taken", wrong[i]);
    size_t n = tc__choice_print(text, &c);
    for (size_t cut = 0; cut < n; cut++) CHECK(!tc__choice_parse(text, cut, &c));
    for (size_t i = 0; i < n;
         i++) { // a byte that is wrong: none, or a digit for another one
        char was = text[i];
        text[i] = (char)(was ^ 0x80);
        CHECK(!tc__choice_parse(text, n, &c));
        text[i] = was;
    }
    CHECK(tc__choice_parse(text, n, &c));
}

// ---- heats ----

enum { N = 3 };

// Entrants with these samples, a row each.
static void give(tc__entrant *e, const uint64_t ns[N][5], uint32_t samples) {
    memset(e, 0, N * sizeof *e);
    for (int i = 0; i < N; i++) {
        e[i].samples = samples;
        for (uint32_t k = 0; k < samples; k++) e[i].ns[k] = ns[i][k];
    }
}

TEST(the_lower_quartile_counts) {
    static const uint64_t ns[N][5] = {
        {100, 101, 102, 103, 104}, {90, 5000, 91, 4000, 92}, {95, 96, 95, 97, 96}};
    tc__entrant e[N];
    give(e, ns, 5);
    CHECK_EQ(tc__heat_leader(e, N), 1); // who was disturbed twice is still the fastest
    CHECK_EQ(e[0].low, 101);
    CHECK_EQ(e[1].low, 91);
    CHECK_EQ(e[1].median, 92);
    CHECK_EQ(e[2].low, 95);
    e[1].out = 1;
    CHECK_EQ(tc__heat_leader(e, N), 2);
}

TEST(the_slow_are_dropped_but_never_the_first) {
    static const uint64_t ns[N][5] = {
        {200, 210, 220, 0, 0}, {100, 110, 120, 0, 0}, {130, 140, 150, 0, 0}};
    tc__entrant e[N];
    give(e, ns, 3);
    CHECK_EQ(tc__heat_drop(e, N), 2);
    CHECK_EQ(e[0].out, 0);
    CHECK_EQ(e[1].out, 0);
    CHECK_EQ(e[2].out, 1); // its best, 130, is more than what the leader mostly needs
    give(e, ns, 3);
    e[2].ns[1] = 105; // it was as fast once
    CHECK_EQ(tc__heat_drop(e, N), 3);
}

// ---- words ----

TEST(tunings_in_words) {
    tc_ctx *c = tc_open(NULL);
    tc__text t;
    tc__tuning none, some;
    memset(&none, 0, sizeof none);
    some = none;
    some.knob[TC__KNOB_LANES] = 1, some.knob[TC__KNOB_STORES] = TC__STORES_STREAMED;
    some.knob[TC__KNOB_TILE] = 1;
    tc__text_init(&t, c);
    tc__put_tuning(&t, &none);
    tc__put(&t, "; ");
    tc__put_tuning(&t, &some);
    CHECK_STR(t.at, "default; lanes 8, stores streamed, tile 2x4");
    tc__text_free(&t);
    tc_close(c);
}

// Every value of every knob has a name.
TEST(every_value_has_a_name) {
    for (int k = 0; k < TC__KNOBS; k++) {
        CHECK(tc__knobs[k].name[0] != 0);
        CHECK(tc__knob_values(k) >= 2 && tc__knob_values(k) <= TC__KNOB_VALUES);
        for (int v = 1; v < tc__knob_values(k); v++)
            CHECK(k == TC__KNOB_TILE || tc__knobs[k].value[v][0]);
    }
    for (size_t i = 0; i < TC__COUNT(tc__tiles); i++) {
        char name[16];
        snprintf(name, sizeof name, "%dx%d", tc__tiles[i].rows, tc__tiles[i].vectors);
        CHECK_STR(tc__tiles[i].name, name);
    }
}

#endif
