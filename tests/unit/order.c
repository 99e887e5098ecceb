// The order of a device's launches against all pairs of items: what conflicts keeps its order, what
// shares a step does not conflict, and every conflict is told by what steps come after.
#include "api/config.h"

#include "out/status.inc"

#include "base/prelude.c"

#include "base/error.c"

#include "base/mem.c"

#include "base/text.c"

#include "base/hash.c"

#include "exec/order.c"

#include "harness.h"
#include "bare.h"

enum { ITEMS = 60, USES = 3, FORMS = 3, ROOM = 7, ROUNDS = 100 };

typedef struct use {
    tc__memory_range m;
    int written;
} use;

typedef struct random_item {
    use use[USES];
    int form, part; // form: -1 = whole
} random_item;

static random_item items[ITEMS];
static uint32_t seed;

static uint32_t random_below(uint32_t n) {
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

// Ranges of a small arena, which overlap in all ways, and a few tensors.
static use random_use(void) {
    use u;
    memset(&u, 0, sizeof u);
    u.m.kind = (int)random_below(3);
    u.m.from = random_below(u.m.kind ? 12 : 60);
    u.m.to = u.m.from + 1 + random_below(9);
    u.written = random_below(3) == 0;
    return u;
}

static int uses_conflict(const use *a, const use *b) {
    if ((!a->written && !b->written) || a->m.kind != b->m.kind) return 0;
    if (a->m.kind) return a->m.from == b->m.from;
    return a->m.from < b->m.to && b->m.from < a->m.to;
}

static int items_conflict(const random_item *a, const random_item *b) {
    for (int i = 0; i < USES; i++)
        for (int k = 0; k < USES; k++)
            if (uses_conflict(&a->use[i], &b->use[k])) return 1;
    return 0;
}

static void make_items(tc__sequence *q) {
    int part = 0;
    for (int f = 0; f < FORMS; f++) tc__sequence_form(q, ROOM);
    for (int i = 0; i < ITEMS; i++) {
        random_item *n = &items[i];
        if (random_below(40) == 0) tc__sequence_cut(q), part++;
        n->part = part;
        n->form = (int)random_below(FORMS + 1) - 1;
        for (int k = 0; k < USES; k++) n->use[k] = random_use();
        if (n->form < 0)
            tc__sequence_item(q, (uint32_t)i, tc__nobody, 0);
        else
            tc__sequence_item(q, (uint32_t)i, (uint32_t)i, (uint32_t)n->form);
        for (int written = 0; written < 2; written++)
            for (int k = 0; k < USES; k++)
                if (n->use[k].written == written)
                    tc__sequence_use(q, &n->use[k].m, written);
        tc__sequence_settle(q);
    }
    tc__sequence_cut(q);
}

static uint8_t reach[ITEMS][ITEMS]; // [i][k]: step i comes after step k

static void find_reach(const tc__sequence *q) {
    memset(reach, 0, sizeof reach);
    for (uint32_t i = 0; i < q->step.count; i++) {
        const tc__turn *s = &q->step.at[i];
        for (uint32_t a = s->after; a < s->after + s->n_after; a++) {
            uint32_t before = q->after.at[a];
            if (before >= i || q->step.at[before].part != s->part)
                FAIL("step %u comes after step %u", (unsigned)i, (unsigned)before);
            for (uint32_t k = 0; k < before; k++) reach[i][k] |= reach[before][k];
            reach[i][before] = 1;
        }
    }
}

static void check_pair(const tc__sequence *q, int early, int late) {
    uint32_t a = q->item.at[early].step, b = q->item.at[late].step;
    const random_item *x = &items[early], *y = &items[late];
    if (x->part != y->part) {
        CHECK(a < b);
    } else if (items_conflict(x, y)) {
        CHECK((a < b && reach[b][a]) || FAIL("items %d and %d: steps %u and %u", early,
                                             late, (unsigned)a, (unsigned)b));
    } else if (a == b) {
        CHECK(x->form >= 0 && x->form == y->form);
    }
}

static void check_steps(const tc__sequence *q) {
    uint32_t members = 0;
    for (uint32_t i = 0; i < q->step.count; i++) {
        const tc__turn *s = &q->step.at[i];
        CHECK(s->count >= 1 && s->count <= ROOM && s->first == members);
        members += s->count;
        for (uint32_t k = 0; k < s->count; k++)
            CHECK_EQ(q->item.at[q->member.at[s->first + k]].step, i);
    }
    CHECK_EQ(members, ITEMS);
}

TEST(random_items) {
    tc_ctx *c = bare_open();
    int shared = 0;
    for (int round = 0; round < ROUNDS; round++) {
        tc__sequence q;
        seed = (uint32_t)round * 77 + 1;
        tc__sequence_open(&q, c, 0);
        make_items(&q);
        REQUIRE(q.ok && q.item.count == ITEMS);
        check_steps(&q);
        find_reach(&q);
        for (int late = 0; late < ITEMS; late++)
            for (int early = 0; early < late; early++) check_pair(&q, early, late);
        shared += q.step.count < ITEMS;
        tc__sequence_close(&q);
    }
    CHECK(shared > ROUNDS / 2);
    bare_close(c);
}

// Pieces that have nothing to do with each other meet, whatever stands between them; the step of a
// form has its room.
TEST(pieces_meet) {
    tc_ctx *c = bare_open();
    tc__sequence q;
    tc__memory_range m;
    memset(&m, 0, sizeof m);
    m.kind = 1;
    tc__sequence_open(&q, c, 0);
    tc__sequence_form(&q, 5);
    for (uint32_t i = 0; i < 20; i++) { // every second one is a launch of its own
        tc__sequence_item(&q, i, i % 2 ? i : tc__nobody, 0);
        m.from = i;
        tc__sequence_use(&q, &m, 1);
        tc__sequence_settle(&q);
    }
    tc__sequence_cut(&q);
    CHECK_EQ(q.step.count, 12); // 10 launches, 2 lists of 5
    CHECK_EQ(q.after.count, 0);
    tc__sequence_close(&q);
    bare_close(c);
}

// In order: a chain, that a cut begins anew.
TEST(in_order) {
    tc_ctx *c = bare_open();
    tc__sequence q;
    tc__memory_range m;
    memset(&m, 0, sizeof m);
    m.kind = 2;
    tc__sequence_open(&q, c, 1);
    for (uint32_t i = 0; i < 6; i++) {
        if (i == 3) tc__sequence_cut(&q);
        tc__sequence_item(&q, i, tc__nobody, 0);
        m.from = i;
        tc__sequence_use(&q, &m, 0);
        tc__sequence_settle(&q);
        CHECK_EQ(q.step.at[i].n_after, i % 3 ? 1 : 0);
        if (i % 3) CHECK_EQ(q.after.at[q.step.at[i].after], i - 1);
    }
    tc__sequence_close(&q);
    bare_close(c);
}
