// What measuring kernels found, remembered: in the process, and on disk for the next one. Input: the text
// of a kernel as the rules have it, and everything else that its times depend on: sizes, threads,
// compiler, CPU. Output: a tuning.
//
// An entry is a hint: only a tuning that the group could have found itself is taken, written as we write
// it; anything else is as if there were nothing. Which tuning is taken changes no bit of a result.

#if TC__JIT

enum { TC__CHOICE_MOST = 256 }; // bytes of an entry

// Sizes of the kernel in this run: what it goes over, and its buffers.
static void tc__put_choice_sizes(tc__text *t, const tc__group *g, const tc__ixenv *env) {
    const tc__ixpool *x = g->body.ix;
    tc__put(
        t, "sizes %lld %lld %lld, buffers", (long long)tc__ix_eval(x, g->shape.rows, env),
        (long long)tc__ix_eval(x, g->shape.cols, env),
        (long long)(g->shape.kind == TC__CONTRACTION ? tc__ix_eval(x, tc__depth_of(g), env)
                                                     : 0));
    for (size_t i = 0; i < g->buffer.count; i++)
        tc__put(t, " %lld", (long long)tc__ix_eval(x, g->buffer.at[i].numel, env));
    tc__put(t, "\n");
}

// The key of a kernel of the program: its text as the rules have it. The desk is ready. 0 = out of memory.
static int tc__choice_key(tc__text *t, tc__desk *k, const tc__program *p, tc__group *g) {
    tc__tuning held = g->shape.tuning;
    tc__ixenv env;
    memset(&env, 0, sizeof env);
    env.sym = p->size.at;
    tc__put(t, "tcompile %s %016llx\ntuning of\n%s\n", TC_VERSION,
            (unsigned long long)TC__BUILD_ID, k->maker->identity(k));
    k->maker->machine(k, t, tc__program_threads(p));
    tc__put(t, ", numerics %d\n", p->numerics);
    tc__put_choice_sizes(t, g, &env);
    memset(&g->shape.tuning, 0, sizeof g->shape.tuning);
    int ok = tc__print_kernel(t, g, k->maker->dialect(k->library), tc__order_stand_in);
    g->shape.tuning = held;
    return ok && !t->failed;
}

// ---- an entry as text ----

static size_t tc__choice_print(char *out, const tc__chosen *c) {
    size_t n = (size_t)snprintf(out, TC__CHOICE_MOST, "tuning");
    for (int k = 0; k < TC__KNOBS; k++)
        n += (size_t)snprintf(out + n, TC__CHOICE_MOST - n, " %d", c->tuning.knob[k]);
    n += (size_t)snprintf(out + n, TC__CHOICE_MOST - n, "; %u tried; %llu %llu ns\n",
                          (unsigned)c->tried, (unsigned long long)c->ns,
                          (unsigned long long)c->default_ns);
    return n;
}

// Takes `word` from the text, or a number; 0 = something else stands there.
static int tc__choice_word(const char **at, const char *end, const char *word) {
    size_t n = strlen(word);
    if ((size_t)(end - *at) < n || memcmp(*at, word, n)) return 0;
    *at += n;
    return 1;
}

static int tc__choice_number(const char **at, const char *end, uint64_t most, uint64_t *v) {
    const char *first = *at;
    for (*v = 0; *at < end && **at >= '0' && **at <= '9'; ++*at) {
        *v = *v * 10 + (uint64_t)(**at - '0');
        if (*v > most) return 0;
    }
    return *at > first;
}

// Whether the bytes are an entry, whole and written as we write it.
static int tc__choice_parse(const void *data, size_t size, tc__chosen *c) {
    const char *at = (const char *)data, *end = at + size;
    char again[TC__CHOICE_MOST];
    uint64_t v;
    memset(c, 0, sizeof *c);
    if (!tc__choice_word(&at, end, "tuning")) return 0;
    for (int k = 0; k < TC__KNOBS; k++) {
        if (!tc__choice_word(&at, end, " ") || !tc__choice_number(&at, end, 255, &v))
            return 0;
        c->tuning.knob[k] = (uint8_t)v;
    }
    if (!tc__choice_word(&at, end, "; ") || !tc__choice_number(&at, end, 1000000, &v))
        return 0;
    c->tried = (uint32_t)v;
    if (!tc__choice_word(&at, end, " tried; ")) return 0;
    if (!tc__choice_number(&at, end, UINT64_MAX / 1000, &c->ns)) return 0;
    if (!tc__choice_word(&at, end, " ")) return 0;
    if (!tc__choice_number(&at, end, UINT64_MAX / 1000, &c->default_ns)) return 0;
    return tc__choice_print(again, c) == size && !memcmp(again, data, size);
}

// ---- finding and keeping ----

static void tc__choice_remember(tc__library *b, const uint8_t *digest,
                                const tc__chosen *c) {
    tc__choice e;
    uint64_t i;
    memcpy(e.digest, digest, sizeof e.digest);
    e.chosen = *c;
    tc__library_lock(b);
    if (tc__map_get(&b->chosen, tc__digest_word(digest), &i))
        b->choice.at[i] = e;
    else if (TC__PUSH(tc__library_ctx(b), b->choice, e))
        tc__map_set(&b->chosen, tc__digest_word(digest), b->choice.count - 1);
    tc__library_unlock(b);
}

static int tc__choice_known(tc__library *b, const uint8_t *digest, tc__chosen *c) {
    uint64_t i;
    tc__library_lock(b);
    int ok = tc__map_get(&b->chosen, tc__digest_word(digest), &i) &&
             !memcmp(b->choice.at[i].digest, digest, 32);
    if (ok) *c = b->choice.at[i].chosen;
    tc__library_unlock(b);
    return ok;
}

static int tc__choice_read(tc__desk *k, const tc__text *key, tc__chosen *c) {
    tc__blob data;
    if (!k->cache || !tc__cache_get(k->cache, key->at, key->size, &data)) return 0;
    int ok = tc__choice_parse(data.at, data.size, c);
    tc__blob_free(k->ctx, &data);
    if (!ok) tc__log(k->ctx, TC__LOG_AUTOTUNE, "an entry on disk that is none; ignored");
    return ok;
}

// What process or disk knows of the key; 0 = nothing that fits the group.
static int tc__choice_find(tc__desk *k, const tc__text *key, const tc__group *g,
                           tc__emit target, tc__chosen *c) {
    uint8_t digest[32];
    tc__blake2s(digest, NULL, 0, key->at, key->size);
    int known = tc__choice_known(k->library, digest, c);
    if (!known && !tc__choice_read(k, key, c)) return 0;
    if (!tc__tuning_fits(g, target, &c->tuning)) {
        tc__log(k->ctx, TC__LOG_AUTOTUNE,
                "an entry on disk with a tuning that cannot be; ignored");
        return 0;
    }
    if (!known) tc__choice_remember(k->library, digest, c);
    return 1;
}

TC__UNUSED static void tc__choice_keep(tc__desk *k, const tc__text *key,
                                       const tc__chosen *c) {
    uint8_t digest[32];
    char text[TC__CHOICE_MOST];
    tc__blake2s(digest, NULL, 0, key->at, key->size);
    tc__choice_remember(k->library, digest, c);
    size_t n = tc__choice_print(text, c);
    if (k->cache) tc__cache_put(k->cache, key->at, key->size, text, n);
}

#endif // TC__JIT
