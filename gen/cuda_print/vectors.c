// What a thread of a CUDA kernel does at its vectors: the lines that place one, loads of all vectors, what is
// computed of each.

// A line that defines a place, and its name: left out where nothing names it.
typedef struct tc__cuda_place {
    int count;
    char word[4][8], line[4][160];
    char inside[100], beyond[100]; // whether the place is in the extent or not; "" = it is
} tc__cuda_place;

static void tc__cuda_place_add(tc__cuda_place *at, const char *word, const char *line) {
    snprintf(at->word[at->count], sizeof at->word[0], "%s", word);
    snprintf(at->line[at->count], sizeof at->line[0], "%s", line);
    at->count++;
}

static void tc__cuda_put_place(tc__printer *p, const tc__cuda_place *at,
                               const tc__text *body) {
    int needed[4] = {0, 0, 0, 0};
    for (int i = at->count; i-- > 0;) {
        tc__text line;
        needed[i] = tc__c_mentions(body, at->word[i]);
        for (int k = i + 1; k < at->count; k++) {
            tc__text_init(&line, p->out->ctx);
            tc__put(&line, "%s", at->line[k]);
            needed[i] |= needed[k] && tc__c_mentions(&line, at->word[i]);
            tc__text_free(&line);
        }
    }
    for (int i = 0; i < at->count; i++) {
        if (!needed[i]) continue;
        tc__line(p);
        tc__put(p->out, "%s\n", at->line[i]);
    }
}

typedef void (*tc__cuda_body_fn)(tc__printer *p, const tc__cuda_loop_body *b,
                                 const tc__cuda_place *at);

// The lines of a place, then what `print` prints there.
static void tc__cuda_at(tc__printer *p, const tc__cuda_loop_body *b,
                        const tc__cuda_place *at, tc__cuda_body_fn print) {
    tc__text body, *out = p->out;
    tc__text_init(&body, out->ctx);
    p->out = &body;
    print(p, b, at);
    p->out = out;
    tc__cuda_put_place(p, at, &body);
    tc__put_raw(out, body.at, body.size);
    out->failed |= body.failed;
    tc__text_free(&body);
}

static void tc__cuda_issue_at(tc__printer *p, const tc__cuda_loop_body *b,
                              const tc__cuda_place *at) {
    tc__cuda_issue_all(p, b, at->inside, 0);
}

static void tc__cuda_break(tc__printer *p, const tc__cuda_place *at) {
    if (!*at->beyond) return;
    tc__line(p);
    tc__put(p->out, "if (%s) break;\n", at->beyond);
}

static void tc__cuda_compute_at(tc__printer *p, const tc__cuda_loop_body *b,
                                const tc__cuda_place *at) {
    tc__cuda_break(p, at);
    tc__cuda_compute(p, b);
}

static void tc__cuda_one_at(tc__printer *p, const tc__cuda_loop_body *b,
                            const tc__cuda_place *at) {
    (void)at;
    tc__cuda_issue_all(p, b, "", 1);
    tc__cuda_compute(p, b);
}

static void tc__cuda_unrolled(tc__printer *p, const tc__cuda_loop_body *b,
                              const tc__cuda_place *at, int count, tc__cuda_body_fn print) {
    tc__cuda_unroll(p, "u", count);
    tc__cuda_at(p, b, at, print);
    tc__block_close(p);
}

// `count` vectors of a thread: all loads, then all that is computed. Its arrays are declared.
static void tc__cuda_put_vectors(tc__printer *p, const tc__cuda_loop_body *b,
                                 const tc__cuda_place *at, int count) {
    if (!p->issued && tc__cuda_count_issues(p, b))
        tc__cuda_unrolled(p, b, at, count, tc__cuda_issue_at);
    tc__cuda_unrolled(p, b, at, count, tc__cuda_compute_at);
}
