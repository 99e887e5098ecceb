// Unit tests of gen/kernel/plan.c: each slab of the arena has the lowest place that the larger
// ones leave, which a plain search finds again.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.in.h"

#include "harness.h"
#include "bare.h"

enum { SLABS_MOST = 300 };

static uint32_t below(uint32_t n, uint32_t seed) {
    static unsigned i;
    return test_word(i++, seed) % n;
}

static int lives_with(const tc__slab *a, const tc__slab *b) {
    return a->first <= b->last && b->first <= a->last;
}

static int is_free(const tc__plan *p, size_t i, size_t at) {
    const tc__slab *s = &p->slab.at[i];
    for (size_t k = 0; k < i; k++) {
        const tc__slab *o = &p->slab.at[k];
        if (o->output || !lives_with(o, s)) continue;
        if (at < o->offset + o->bytes && o->offset < at + s->bytes) return 0;
    }
    return 1;
}

// A place begins at 0 or where another ends.
static size_t lowest(const tc__plan *p, size_t i) {
    size_t best = SIZE_MAX;
    if (is_free(p, i, 0)) return 0;
    for (size_t k = 0; k < i; k++) {
        size_t end = p->slab.at[k].offset + p->slab.at[k].bytes;
        if (!p->slab.at[k].output && end < best && is_free(p, i, end)) best = end;
    }
    return best;
}

// `count` slabs of so many sizes, each of which lives for at most `life` kernels.
static void check(tc_ctx *c, tc__plan *p, uint32_t count, uint32_t sizes, uint32_t life) {
    uint32_t kernel = 0;
    p->slab.count = 0, p->bytes = p->unplanned = 0;
    for (uint32_t i = 0; i < count; i++) {
        tc__slab s;
        memset(&s, 0, sizeof s);
        kernel += below(3, life) != 0;
        s.node = s.born = i, s.first = kernel, s.last = kernel + below(life, sizes);
        s.bytes = 64 * (1 + (size_t)below(sizes, life)), s.output = below(8, life) == 0;
        CHECK(tc__plan_name(c, p, i, i));
        CHECK(TC__PUSH(c, p->slab, s));
    }
    CHECK(tc__plan_arrange(c, p));
    size_t bytes = 0;
    for (size_t i = 0; i < p->slab.count; i++) {
        const tc__slab *s = &p->slab.at[i];
        CHECK(tc__plan_find(p, s->node) == s);
        if (s->output) continue;
        if (s->offset != lowest(p, i))
            FAIL("slab %d of %u, %u sizes, lives of %u: at %zu, not %zu", (int)i, count,
                 sizes, life, s->offset, lowest(p, i));
        if (s->offset + s->bytes > bytes) bytes = s->offset + s->bytes;
    }
    CHECK_EQ(p->bytes, bytes);
}

TEST(each_slab_has_the_lowest_place) {
    tc_ctx *c = bare_open();
    tc__plan p;
    REQUIRE(c);
    memset(&p, 0, sizeof p);
    static const uint32_t counts[] = {0, 1, 2, 3, 17, 64, SLABS_MOST};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        for (uint32_t sizes = 1; sizes <= 64; sizes *= 4)
            for (uint32_t life = 1; life <= 1024; life *= 4)
                check(c, &p, counts[i], sizes, life);
    tc__plan_close(c, &p);
    bare_close(c);
}
