// Digests and the hash table.
// BLAKE2s-256 (RFC 7693, keyed = MAC) names and protects what goes to disk. tc__hash64 is
// for tables inside the process only: fast, and no match for an adversary. All results are
// the same on every machine, whatever its byte order.

TC__INLINE uint32_t tc__load_le32(const uint8_t *p) {
    uint32_t low = (uint32_t)p[0] | (uint32_t)p[1] << 8;
    return low | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

TC__INLINE uint64_t tc__load_le64(const uint8_t *p) {
    return (uint64_t)tc__load_le32(p) | (uint64_t)tc__load_le32(p + 4) << 32;
}

// ---- BLAKE2s

#define TC__BLAKE2S_BLOCK 64

typedef struct tc__blake2s_state {
    uint32_t h[8];
    uint64_t count;                   // bytes compressed so far
    size_t used;                      // bytes waiting in block
    uint8_t block[TC__BLAKE2S_BLOCK]; // compressed only when more input follows it
} tc__blake2s_state;

static const uint32_t tc__blake2s_iv[8] = {
    0x6a09e667u, 0xbb67ae85u, 0x3c6ef372u, 0xa54ff53au,
    0x510e527fu, 0x9b05688cu, 0x1f83d9abu, 0x5be0cd19u,
};

// Order in which each of the ten rounds takes the sixteen message words.
static const uint8_t tc__blake2s_sigma[10][16] = {
    {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
    {14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3},
    {11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4},
    {7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8},
    {9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13},
    {2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9},
    {12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11},
    {13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10},
    {6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5},
    {10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0},
};

TC__INLINE uint32_t tc__rotate_right32(uint32_t v, int n) { return v >> n | v << (32 - n); }

// One quarter round on the words a, b, c, d of v.
TC__ALWAYS_INLINE void tc__blake2s_mix(uint32_t *v, int a, int b, int c, int d, uint32_t x,
                                       uint32_t y) {
    v[a] += v[b] + x;
    v[d] = tc__rotate_right32(v[d] ^ v[a], 16);
    v[c] += v[d];
    v[b] = tc__rotate_right32(v[b] ^ v[c], 12);
    v[a] += v[b] + y;
    v[d] = tc__rotate_right32(v[d] ^ v[a], 8);
    v[c] += v[d];
    v[b] = tc__rotate_right32(v[b] ^ v[c], 7);
}

// One round; `o` is a row of sigma, known when this is compiled: a quarter faster than a
// loop over the rows.
TC__ALWAYS_INLINE void tc__blake2s_round(uint32_t *v, const uint32_t *m, const uint8_t *o) {
    tc__blake2s_mix(v, 0, 4, 8, 12, m[o[0]], m[o[1]]);
    tc__blake2s_mix(v, 1, 5, 9, 13, m[o[2]], m[o[3]]);
    tc__blake2s_mix(v, 2, 6, 10, 14, m[o[4]], m[o[5]]);
    tc__blake2s_mix(v, 3, 7, 11, 15, m[o[6]], m[o[7]]);
    tc__blake2s_mix(v, 0, 5, 10, 15, m[o[8]], m[o[9]]);
    tc__blake2s_mix(v, 1, 6, 11, 12, m[o[10]], m[o[11]]);
    tc__blake2s_mix(v, 2, 7, 8, 13, m[o[12]], m[o[13]]);
    tc__blake2s_mix(v, 3, 4, 9, 14, m[o[14]], m[o[15]]);
}

// Takes one block whose last byte is byte `count` of the input; last = all ones at the end.
static void tc__blake2s_compress(tc__blake2s_state *s, const uint8_t *block,
                                 uint32_t last) {
    uint32_t v[16], m[16];
    int i;
    for (i = 0; i < 16; i++) m[i] = tc__load_le32(block + 4 * i);
    memcpy(v, s->h, sizeof(s->h));
    memcpy(v + 8, tc__blake2s_iv, sizeof(tc__blake2s_iv));
    v[12] ^= (uint32_t)s->count;
    v[13] ^= (uint32_t)(s->count >> 32);
    v[14] ^= last;
    tc__blake2s_round(v, m, tc__blake2s_sigma[0]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[1]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[2]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[3]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[4]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[5]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[6]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[7]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[8]);
    tc__blake2s_round(v, m, tc__blake2s_sigma[9]);
    for (i = 0; i < 8; i++) s->h[i] ^= v[i] ^ v[i + 8];
}

static void tc__blake2s_update(tc__blake2s_state *s, const void *p, size_t n) {
    const uint8_t *in = (const uint8_t *)p;
    while (n) {
        size_t take = TC__BLAKE2S_BLOCK - s->used;
        if (take > n) take = n;
        if (s->used == TC__BLAKE2S_BLOCK) {
            s->count += TC__BLAKE2S_BLOCK;
            tc__blake2s_compress(s, s->block, 0);
            s->used = 0;
            continue;
        }
        memcpy(s->block + s->used, in, take);
        s->used += take;
        in += take;
        n -= take;
    }
}

static void tc__blake2s_final(tc__blake2s_state *s, uint8_t out[32]) {
    int i;
    memset(s->block + s->used, 0, TC__BLAKE2S_BLOCK - s->used);
    s->count += s->used;
    tc__blake2s_compress(s, s->block, UINT32_MAX);
    for (i = 0; i < 32; i++) out[i] = (uint8_t)(s->h[i / 4] >> (8 * (i % 4)));
}

// Starts a digest. With a key (1..32 bytes) the digest is a MAC; key_size 0: key unused.
static void tc__blake2s_init(tc__blake2s_state *s, const void *key, size_t key_size) {
    TC_ASSERT(key_size <= 32);
    memset(s, 0, sizeof(*s));
    memcpy(s->h, tc__blake2s_iv, sizeof(s->h));
    s->h[0] ^= 0x01010000u ^ (uint32_t)key_size << 8 ^ 32u;
    if (!key_size) return;
    memcpy(s->block, key, key_size);
    s->used = TC__BLAKE2S_BLOCK;
}

// Digest of n bytes in one go. A key longer than 32 bytes is hashed to 32 first.
TC__UNUSED static void tc__blake2s(uint8_t out[32], const void *key, size_t key_size,
                                   const void *p, size_t n) {
    tc__blake2s_state s;
    uint8_t short_key[32];
    if (key_size > sizeof(short_key)) {
        tc__blake2s_init(&s, NULL, 0);
        tc__blake2s_update(&s, key, key_size);
        tc__blake2s_final(&s, short_key);
        key = short_key;
        key_size = sizeof(short_key);
    }
    tc__blake2s_init(&s, key, key_size);
    tc__blake2s_update(&s, p, n);
    tc__blake2s_final(&s, out);
}

// 2n lower-case hex digits and a NUL.
TC__UNUSED static void tc__hex(char *out, const uint8_t *p, size_t n) {
    size_t i;
    for (i = 0; i < n; i++) {
        out[2 * i] = "0123456789abcdef"[p[i] >> 4];
        out[2 * i + 1] = "0123456789abcdef"[p[i] & 15];
    }
    out[2 * n] = 0;
}

// ---- 64-bit hash

// Takes v into h. For a fixed h different v give different results, and the other way
// round; the order of calls matters.
TC__INLINE uint64_t tc__hash_mix(uint64_t h, uint64_t v) {
    h = (h ^ v * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0xd1b54a32d192ed03);
    h = (h ^ h >> 32) * UINT64_C(0xff51afd7ed558ccd);
    return h ^ h >> 29;
}

TC__UNUSED static uint64_t tc__hash64(const void *p, size_t n, uint64_t seed) {
    const uint8_t *at = (const uint8_t *)p;
    uint64_t h = tc__hash_mix(seed, (uint64_t)n);
    uint8_t tail[8] = {0};
    for (; n >= 8; n -= 8, at += 8) h = tc__hash_mix(h, tc__load_le64(at));
    if (n) memcpy(tail, at, n);
    return tc__hash_mix(h, tc__load_le64(tail));
}

// ---- map: uint64 -> uint64, open addressing, linear probing, no tombstones

typedef struct tc__map_entry {
    uint64_t key, value; // key 0 = free
} tc__map_entry;

typedef struct tc__map {
    tc_ctx *ctx;
    tc__map_entry *at;   // owned; NULL while capacity is 0
    size_t capacity;     // 0 or a power of two; at most 3/4 are taken
    size_t count;        // all entries, that of key 0 included
    uint64_t zero_value; // the entry of key 0 lives here
    int has_zero;
} tc__map;

TC__UNUSED static void tc__map_init(tc__map *m, tc_ctx *c) {
    memset(m, 0, sizeof(*m));
    m->ctx = c;
}

// Gives the memory back; the map is empty and may be used again.
TC__UNUSED static void tc__map_free(tc__map *m) {
    tc__free(m->ctx, m->at, m->capacity * sizeof(*m->at));
    tc__map_init(m, m->ctx);
}

TC__INLINE size_t tc__map_home(const tc__map *m, uint64_t key) {
    return (size_t)tc__hash_mix(0, key) & (m->capacity - 1);
}

// Where the key is, or the free place where it belongs. Needs capacity > 0.
static size_t tc__map_find(const tc__map *m, uint64_t key) {
    size_t i = tc__map_home(m, key);
    while (m->at[i].key && m->at[i].key != key) i = (i + 1) & (m->capacity - 1);
    return i;
}

// Copies the value out if the key is there; value may be NULL.
TC__UNUSED static int tc__map_get(const tc__map *m, uint64_t key, uint64_t *value) {
    const uint64_t *found = m->has_zero ? &m->zero_value : NULL;
    if (key) {
        size_t i = m->capacity ? tc__map_find(m, key) : 0;
        found = m->capacity && m->at[i].key ? &m->at[i].value : NULL;
    }
    if (found && value) *value = *found;
    return found != NULL;
}

static int tc__map_grow(tc__map *m) {
    tc__map next = *m;
    size_t i;
    next.capacity = m->capacity ? m->capacity * 2 : 16;
    next.at = TC__NEW_ARRAY(m->ctx, tc__map_entry, next.capacity);
    if (!next.at) return 0;
    for (i = 0; i < m->capacity; i++)
        if (m->at[i].key) next.at[tc__map_find(&next, m->at[i].key)] = m->at[i];
    tc__free(m->ctx, m->at, m->capacity * sizeof(*m->at));
    *m = next;
    return 1;
}

// Room for n more keys; 0 = out of memory, reported.
TC__UNUSED static int tc__map_reserve(tc__map *m, size_t n) {
    while (m->count + n > m->capacity / 4 * 3)
        if (!tc__map_grow(m)) return 0;
    return 1;
}

// Adds or overwrites. 0 = out of memory, reported; the map is unchanged.
TC__UNUSED static int tc__map_set(tc__map *m, uint64_t key, uint64_t value) {
    size_t i;
    if (!key) {
        m->count += !m->has_zero;
        m->has_zero = 1;
        m->zero_value = value;
        return 1;
    }
    if (m->count >= m->capacity / 4 * 3 && !tc__map_grow(m)) return 0;
    i = tc__map_find(m, key);
    m->count += !m->at[i].key;
    m->at[i].key = key;
    m->at[i].value = value;
    return 1;
}

// Closes the gap at i: moves back each follower whose way from home leads over the gap.
static void tc__map_close_gap(tc__map *m, size_t i) {
    size_t mask = m->capacity - 1, next = i;
    for (;;) {
        m->at[i].key = 0;
        do {
            next = (next + 1) & mask;
            if (!m->at[next].key) return;
        } while (((next - tc__map_home(m, m->at[next].key)) & mask) < ((next - i) & mask));
        m->at[i] = m->at[next];
        i = next;
    }
}

// 1 if the key was there.
TC__UNUSED static int tc__map_remove(tc__map *m, uint64_t key) {
    size_t i;
    if (!tc__map_get(m, key, NULL)) return 0;
    m->count--;
    if (!key) {
        m->has_zero = 0;
        return 1;
    }
    i = tc__map_find(m, key);
    tc__map_close_gap(m, i);
    return 1;
}
