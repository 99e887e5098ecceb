// Random programs. A program is a list of instructions with raw numbers; elaborate() runs it
// eagerly and chooses from the raw numbers what fits the values at hand, so every change of a
// program is a program again: that is what lets the shrinker drop and halve at will.
#ifndef FUZZ_GRAPH_H
#define FUZZ_GRAPH_H

enum { MAX_INPUTS = 4, MAX_INS = 40, MAX_CALLS = 150, EXECUTIONS = 3 };
enum { PLAIN, TRANSPOSED, STEPPED, REVERSED, EXPANDED, WRAPPED, LAYOUTS };

typedef struct input {
    int dtype, layout, same; // same: 1 + number of the input it is; 0 = its own
    tc_dims d;
    int which[TC_MAX_RANK]; // size i is pool[which[i] - 1]; 0 = its own
    int wide;               // integers of the whole range
} input;

typedef struct ins {
    int op, live, in[3], keep, read;
    uint32_t r[6];
} ins;

typedef struct program {
    uint64_t seed;
    int n_inputs, n, wild, spice, large;
    int derives;     // with gradients
    int64_t pool[3]; // sizes that inputs have in common
    input input[MAX_INPUTS];
    ins ins[MAX_INS];
} program;

typedef struct value {
    tc_tensor t;
    tc_dims d;
    int dtype, group, view_ok, input, consumed, kept, read, source;
    int64_t n;
    double low, high; // of the finite elements
} value;

typedef struct graph {
    const program *p;
    tc_ctx *tc;
    FILE *f;
    call call[MAX_CALLS];
    value v[MAX_VALUES];
    int n_calls, n_values, slot[MAX_INPUTS + MAX_INS];
    int frozen[MAX_VALUES], external[MAX_VALUES];
    int external_written, refused, limit;
    int has_gradient; // 1: some element of one was not 0
    int internal;     // 1: a refusal was TC_E_INTERNAL, which nothing may be
    char refusal[600];
    void *memory[MAX_INPUTS]; // of the inputs' base arrays
} graph;

// ---- making programs ----
// What an instruction does that is several calls and none of its own.
enum { C_ATTEND = C_KINDS };

// Weights of what an instruction does.
static const struct {
    int op, weight;
} op_weights[] = {
    {C_UNARY, 22},   {C_BINARY, 30}, {C_SCALAR, 10},  {C_REDUCE, 14},   {C_ALONG, 6},
    {C_FMA, 2},      {C_WHERE, 4},   {C_CLAMP, 2},    {C_CAST, 5},      {C_MASKED, 2},
    {C_RESHAPE, 5},  {C_PERMUTE, 6}, {C_EXPAND, 4},   {C_SLICE, 6},     {C_SELECT, 2},
    {C_FLIP, 2},     {C_ROLL, 2},    {C_PAD, 5},      {C_RESIZE, 2},    {C_CAT, 4},
    {C_STACK, 2},    {C_UNFOLD, 2},  {C_TILE, 1},     {C_REPEAT, 1},    {C_UNSQUEEZE, 2},
    {C_SQUEEZE, 1},  {C_FLATTEN, 1}, {C_TRIANGLE, 1}, {C_MATMUL, 5},    {C_LINEAR, 1},
    {C_TAKE, 3},     {C_GATHER, 3},  {C_ONE_HOT, 1},  {C_VAR, 1},       {C_LAYER_NORM, 2},
    {C_FULL, 1},     {C_ARANGE, 1},  {C_RAND, 1},     {C_IN_TENSOR, 5}, {C_IN_SCALAR, 3},
    {C_IN_UNARY, 2}, {C_ITEM, 1},    {C_READ, 1},     {C_BRANCH, 1},    {C_CUSTOM, 3},
    {C_ROWS, 4},     {C_SCATTER, 2}, {C_ATTEND, 1},
};

static int random_op(rng *g) {
    int total = 0, k;
    for (int i = 0; i < COUNT(op_weights); i++) total += op_weights[i].weight;
    k = below(g, total);
    for (int i = 0;; i++)
        if ((k -= op_weights[i].weight) < 0) return op_weights[i].op;
}

static int random_dtype(rng *g) {
    static const int often[] = {TC_F32, TC_F32, TC_F32, TC_F32,  TC_F64, TC_I32,
                                TC_I64, TC_U8,  TC_I8,  TC_BOOL, TC_F32, TC_I32,
                                TC_F64, TC_I16, TC_F16, TC_BF16};
    return often[below(g, COUNT(often))];
}

static void random_input(program *p, rng *g, const int64_t *pool, int number) {
    input *in = &p->input[number];
    int64_t n = 1, limit = p->large ? 40000 : 2000;
    memset(in, 0, sizeof *in);
    in->dtype = random_dtype(g);
    in->layout = chance(g, 45) ? below(g, LAYOUTS) : PLAIN;
    in->wide = chance(g, 15);
    in->d.rank = below(g, 20) ? 1 + below(g, 4) : below(g, 6);
    for (int i = 0; i < in->d.rank; i++) {
        int which = chance(g, 15) ? 0 : 1 + below(g, 3);
        int64_t s = which ? pool[which - 1] : 1;
        if (n * s > limit) s = 1, which = 0;
        in->d.size[i] = s, in->which[i] = which;
        n *= s ? s : 1;
    }
    if (number && chance(g, 8)) in->same = 1 + below(g, number);
    if (in->same) {
        while (p->input[in->same - 1].same) in->same = p->input[in->same - 1].same;
        int same = in->same;
        *in = p->input[in->same - 1];
        in->same = same;
    }
}

// A program that has gradients for sure: of one input at least, through ops that have them.
static void make_derived(program *p) {
    int floats = 0;
    p->derives = 1;
    for (int i = 0; i < p->n_inputs; i++) floats |= category(p->input[i].dtype) == 2;
    for (int i = 0; i < p->n_inputs && !floats; i++)
        if (!i || p->input[i].same == 1) p->input[i].dtype = TC_F32;
    for (int i = 0; i < p->n; i++)
        if (p->ins[i].op == C_CUSTOM) p->ins[i].op = C_UNARY;
}

static void random_program(program *p, uint64_t seed) {
    static const int64_t sizes[] = {1,  2,  3,  4,  5,  6,  7,  8,  9, 13, 15, 16,  17,
                                    24, 31, 32, 33, 40, 63, 64, 65, 3, 4,  97, 130, 0};
    rng gen = {mix(seed)}, *g = &gen;
    int64_t pool[3];
    memset(p, 0, sizeof *p);
    p->seed = seed;
    p->large = chance(g, 6), p->wild = chance(g, 8), p->spice = chance(g, 8);
    for (int i = 0; i < 3; i++)
        pool[i] = sizes[below(g, COUNT(sizes) - (i > 0 || below(g, 4)))];
    if (p->large) pool[0] = 1000 + below(g, 9000), pool[1] = 1 + below(g, 300);
    memcpy(p->pool, pool, sizeof pool);
    p->n_inputs = 1 + below(g, MAX_INPUTS);
    for (int i = 0; i < p->n_inputs; i++) random_input(p, g, pool, i);
    p->n = 1 + below(g, chance(g, 30) ? MAX_INS : 12);
    p->derives = mix(seed ^ 0x6772616400000000u) % 4 == 0;
    for (int i = 0; i < p->n; i++) {
        ins *s = &p->ins[i];
        int slots = p->n_inputs + i;
        s->op = random_op(g), s->live = 1;
        s->keep = chance(g, 5), s->read = chance(g, 6);
        for (int k = 0; k < 3; k++)
            s->in[k] = chance(g, 50) ? slots - 1 - below(g, slots < 3 ? slots : 3)
                                     : below(g, slots);
        for (int k = 0; k < COUNT(s->r); k++) s->r[k] = any(g);
    }
    if (ALL_DERIVE) make_derived(p);
}

// Program p with other sizes and other scalars: set 0 is p itself.
static void resize_program(program *q, const program *p, int set) {
    rng gen = {mix(p->seed + (uint64_t)set * 7919)}, *g = &gen;
    *q = *p;
    if (!set) return;
    for (int i = 0; i < 3; i++)
        if (p->pool[i] > 0 && chance(g, 70))
            q->pool[i] = chance(g, 8) ? below(g, 2) : 1 + below(g, 2 * (int)p->pool[i] + 3);
    for (int i = 0; i < p->n_inputs; i++)
        for (int k = 0; k < q->input[i].d.rank; k++)
            if (q->input[i].which[k])
                q->input[i].d.size[k] = q->pool[q->input[i].which[k] - 1];
    for (int i = 0; i < p->n; i++)
        if (p->ins[i].op == C_SCALAR && chance(g, 40)) q->ins[i].r[2] = any(g);
}

// ---- inputs ----
// Sizes of the array that an input is laid over.
static tc_dims base_dims(const input *in) {
    tc_dims d = in->d;
    if (in->layout == TRANSPOSED)
        for (int i = 0; i < d.rank; i++) d.size[i] = in->d.size[d.rank - 1 - i];
    if (in->layout == STEPPED && d.rank) d.size[0] = 2 * d.size[0] + 1;
    if (in->layout == EXPANDED && d.rank && d.size[0]) d.size[0] = 1;
    return d;
}

static int64_t dims_count(const tc_dims *d) {
    int64_t n = 1;
    for (int i = 0; i < d->rank; i++) n *= d->size[i];
    return n;
}

static double input_element(const program *p, int number, int execution, int64_t i) {
    static const double odd[] = {0.0, -0.0, 1e-40, -1e-310, 1.0, -1.0, 3e38, -3e38};
    const input *in = &p->input[number];
    uint64_t h = mix(mix(p->seed ^ ((uint64_t)number << 50)) + (uint64_t)i * 4 +
                     (uint64_t)execution);
    double u = (double)(h >> 11) * 0x1p-53;
    if (in->dtype == TC_BOOL) return (double)(h >> 63);
    if (in->dtype == TC_U8) return (double)(h >> 56);
    if (in->dtype == TC_I8 && in->wide) return (double)((int64_t)h >> 56);
    if (in->dtype == TC_I16 && in->wide) return (double)((int64_t)h >> 48);
    if (in->dtype == TC_I32 && in->wide) return (double)(int32_t)(h >> 32);
    if (in->dtype == TC_I64 && in->wide) return (double)((int64_t)h >> 11);
    if (category(in->dtype) == 1) return (double)((int64_t)(h >> 40) % 19 - 9);
    if (p->spice && h % 17 == 0) {
        int k = (int)(h >> 33) % 12;
        return k < 8 ? odd[k] : k < 10 ? (double)NAN : k == 10 ? INFINITY : -INFINITY;
    }
    if (in->wide) return (u - 0.5) * 2000;
    return h % 29 == 0 ? 0.0 : (u - 0.5) * 4;
}

// Input `number` over `data`, which lives as long as the run. The text is that of the reproducer.
static tc_tensor make_input(tc_ctx *tc, const program *p, int number, void *data, FILE *f) {
    const input *in = &p->input[number];
    tc_dims b = base_dims(in), order = in->d;
    tc_tensor t = tc_null();
    int64_t n = in->d.rank ? in->d.size[0] : 0;
    for (int i = 0; i < order.rank; i++) order.size[i] = order.rank - 1 - i;
    if (in->same) {
        if (f) fprintf(f, "    tc_tensor v%d = v%d;\n", number, in->same - 1);
        return t; // the caller knows it
    }
    if (f) {
        fprintf(f, "    tc_tensor b%d = tc_%s(tc, d%d[k], ", number,
                in->layout == WRAPPED ? "wrap" : "from_data", number);
        print_dims(f, b);
        fprintf(f, ", %s), v%d = ", dtype_names[in->dtype], number);
    }
    if (tc && in->layout == WRAPPED)
        t = there(tc, tc_wrap(tc, data, b, (tc_dtype)in->dtype));
    else if (tc)
        t = there(tc, tc_from_data(tc, data, b, (tc_dtype)in->dtype));
    int view = in->layout * (in->d.rank > 0);
    if (view == TRANSPOSED) {
        if (f) fprintf(f, "tc_permute(b%d, ", number), print_dims(f, order), fputs(")", f);
        if (tc) t = tc_permute(t, order);
    } else if (view == STEPPED) {
        if (f) fprintf(f, "tc_slice(b%d, 0, 1, TC_END, 2)", number);
        if (tc) t = tc_slice(t, 0, 1, TC_END, 2);
    } else if (view == REVERSED && n) {
        if (f) fprintf(f, "tc_slice(b%d, 0, -1, TC_END, -1)", number);
        if (tc) t = tc_slice(t, 0, -1, TC_END, -1);
    } else if (view == EXPANDED) {
        if (f) fprintf(f, "tc_expand(b%d, ", number), print_dims(f, in->d), fputs(")", f);
        if (tc) t = tc_expand(t, in->d);
    } else if (f)
        fprintf(f, "b%d", number);
    if (f) fprintf(f, ";\n");
    return t;
}

static void fill_inputs(graph *g, int execution) {
    for (int k = 0; k < g->p->n_inputs; k++) {
        tc_dims b = base_dims(&g->p->input[k]);
        int64_t n = dims_count(&b);
        if (!g->memory[k]) g->memory[k] = calloc((size_t)n + 1, 8);
        for (int64_t i = 0; i < n; i++)
            store(g->memory[k], g->p->input[k].dtype, i,
                  input_element(g->p, k, execution, i));
    }
}

static void make_inputs(graph *g, tc_ctx *tc, tc_tensor *v, FILE *f) {
    for (int k = 0; k < g->p->n_inputs; k++) {
        int same = g->p->input[k].same;
        v[k] = make_input(tc, g->p, k, g->memory[k], f);
        if (same) v[k] = v[same - 1];
    }
}

// ---- elaboration ----
static void measure(value *v) {
    size_t bytes = (size_t)v->n * tc_dtype_bytes((tc_dtype)v->dtype);
    void *p = malloc(bytes + 8);
    v->low = INFINITY, v->high = -INFINITY;
    if (tc_read_at(v->t, p, bytes, "measure", 1) == TC_OK)
        for (int64_t i = 0; i < v->n; i++) {
            double x = fetch(p, v->dtype, i);
            if (x - x != 0) continue;
            if (x < v->low) v->low = x;
            if (x > v->high) v->high = x;
        }
    if (v->low > v->high) v->low = v->high = 0;
    free(p);
}

static int add_value(graph *g, tc_tensor t, int group) {
    value *v = &g->v[g->n_values];
    memset(v, 0, sizeof *v);
    v->t = t, v->d = tc_shape(t), v->dtype = (int)tc_dtype_of(t), v->n = tc_numel(t);
    v->group = group, v->view_ok = 1, v->input = -1;
    measure(v);
    return g->n_values++;
}

static int room(const graph *g) {
    return g->n_values < MAX_VALUES - 1 && g->n_calls < MAX_CALLS - 1;
}

// Runs the call and appends it; gives its value, or the first operand where it was refused.
static int emit(graph *g, call *o) {
    tc_tensor v[MAX_VALUES];
    reads none;
    memset(&none, 0, sizeof none);
    if (!room(g)) return o->in[0];
    int effect = o->kind >= C_IN_TENSOR && o->kind != C_BRANCH;
    o->out = effect ? o->in[0] : g->n_values;
    for (int i = 0; i < g->n_values; i++) v[i] = g->v[i].t;
    tc_tensor t = perform(g->tc, o, v, &none, g->f);
    free(none.at);
    if (!t.id) {
        g->refused++;
        snprintf(g->refusal, sizeof g->refusal, "%s", tc_error_text(g->tc));
        if (g->f) fprintf(g->f, "    // refused: %s\n", g->refusal);
        g->internal |= tc_error(g->tc) == TC_E_INTERNAL;
        tc_error_clear(g->tc);
        return o->n_in ? o->in[0] : 0;
    }
    for (int i = 0; i < o->n_in; i++) g->v[o->in[i]].consumed = 1;
    g->call[g->n_calls++] = *o;
    if (effect) return o->in[0];
    int r = add_value(g, t, g->n_values);
    g->v[r].source = !o->n_in;
    return r;
}

static call new_call(call_kind kind, int fn, int n, int a, int b, int c) {
    call o;
    memset(&o, 0, sizeof o);
    o.kind = kind, o.fn = fn, o.n_in = n, o.in[0] = a, o.in[1] = b, o.in[2] = c;
    return o;
}

// A view of value a for sure, or maybe one (then neither may be written any more).
static int emit_view(graph *g, call *o, int sure) {
    int a = o->in[0], r = emit(g, o);
    if (r == a) return r;
    g->v[r].group = g->v[a].group, g->v[r].view_ok = g->v[a].view_ok;
    if (!sure) g->frozen[g->v[a].group] = 1;
    return r;
}

static int cast(graph *g, int a, int dtype) {
    call o = new_call(C_CAST, 0, 1, a, 0, 0);
    o.a[0] = dtype;
    int same = g->v[a].dtype == dtype;
    return same ? emit_view(g, &o, 0) : emit(g, &o);
}

static int guard(graph *g, int a, double low, double high) {
    call o = new_call(C_CLAMP, 0, 1, a, 0, 0);
    if (g->p->wild || (g->v[a].low >= low && g->v[a].high <= high)) return a;
    o.s[0] = low, o.s[1] = high;
    return emit(g, &o);
}

static int is_float(const graph *g, int a) { return category(g->v[a].dtype) == 2; }

// floor, for what fits (no libm is linked).
static double round_down(double x) {
    double t = (double)(int64_t)x;
    return t > x ? t - 1 : t;
}

static int as_wanted(graph *g, int a, int wants, uint32_t r) {
    call o = new_call(C_SCALAR, 0, 1, a, 0, 0);
    int dtype = g->v[a].dtype;
    if ((wants == NUMBER || wants == SHIFT) && dtype == TC_BOOL)
        return cast(g, a, r % 2 || wants == SHIFT ? TC_I32 : TC_F32);
    if ((wants == INTEGER || wants == SHIFT) && is_float(g, a)) {
        static const int to[] = {TC_I64, TC_I32, TC_U8, TC_I8, TC_I16};
        a = guard(g, a, -1e6, 1e6);
        return cast(g, a, to[r % 5]);
    }
    if (wants != TRUTH || dtype == TC_BOOL) return a;
    while (strcmp(scalar_ops[o.fn].name, "gt_s")) o.fn++;
    o.s[0] = g->v[a].high < 1e15 ? round_down((g->v[a].low + g->v[a].high) / 2) : 0;
    return emit(g, &o);
}

// Sizes of a and b broadcast, 0 = they do not, or too many elements.
static int broadcast(const graph *g, const tc_dims *a, const tc_dims *b, tc_dims *out) {
    int64_t n = 1;
    out->rank = a->rank > b->rank ? a->rank : b->rank;
    for (int i = 0; i < out->rank; i++) {
        int x = i - (out->rank - a->rank), y = i - (out->rank - b->rank);
        int64_t s = x < 0 ? 1 : a->size[x], t = y < 0 ? 1 : b->size[y];
        if (s != t && s != 1 && t != 1) return 0;
        out->size[i] = s == 1 ? t : s;
        n *= out->size[i];
    }
    return n <= g->limit;
}

// A value that broadcasts with `d`, from `from` on; `fallback` if there is none.
static int partner(graph *g, const tc_dims *d, int from, int fallback) {
    tc_dims out;
    for (int i = 0; i < g->n_values; i++) {
        int k = (from + g->n_values - i) % g->n_values;
        if (broadcast(g, d, &g->v[k].d, &out)) return k;
    }
    return fallback;
}

static double scalar_between(double low, double high, uint32_t r) {
    double x = low + (high - low) * (double)(r >> 8) / (double)(1 << 24);
    if (r % 3) return round_down(x + 0.5) < low ? low : round_down(x + 0.5);
    return r % 2 ? (double)(float)x : x;
}

static int do_binary(graph *g, const ins *s, int a, int b) {
    int fn = (int)(s->r[0] % COUNT(binary_ops));
    b = partner(g, &g->v[a].d, b, a);
    a = as_wanted(g, a, binary_ops[fn].wants, s->r[1]);
    b = as_wanted(g, b, binary_ops[fn].wants, s->r[2]);
    if (is_float(g, a) || is_float(g, b)) {
        int other = binary_ops[fn].low2 != binary_ops[fn].high2;
        a = guard(g, a, binary_ops[fn].low, binary_ops[fn].high);
        if (!other)
            b = guard(g, b, binary_ops[fn].low, binary_ops[fn].high);
        else
            b = guard(g, b, binary_ops[fn].low2, binary_ops[fn].high2);
    }
    call o = new_call(C_BINARY, fn, 2, a, b, 0);
    return emit(g, &o);
}

static tc_dims some_dims(const graph *g, int a, uint32_t r) {
    tc_dims d;
    memset(&d, 0, sizeof d);
    for (int i = 0; i < g->v[a].d.rank; i++)
        if (r >> i & 1) d.size[d.rank++] = r & 512 ? i : i - g->v[a].d.rank;
    return d;
}

static int do_reduce(graph *g, const ins *s, int a) {
    int fn = (int)(s->r[0] % COUNT(reduce_ops));
    call o = new_call(C_REDUCE, fn, 1, 0, 0, 0);
    a = as_wanted(g, a, reduce_ops[fn].wants, s->r[1]);
    if (is_float(g, a)) a = guard(g, a, reduce_ops[fn].low, reduce_ops[fn].high);
    o.in[0] = a, o.d = some_dims(g, a, s->r[2]), o.a[0] = s->r[3] & 1;
    int empty_bad = g->v[a].n == 0 && (!strncmp(reduce_ops[fn].name, "a", 1) ||
                                       !strcmp(reduce_ops[fn].name, "logsumexp"));
    return empty_bad ? a : emit(g, &o);
}

// A factorisation of n into 1 to 4 sizes.
static tc_dims factor(int64_t n, uint32_t r) {
    tc_dims d;
    memset(&d, 0, sizeof d);
    int rank = 1 + (int)(r % 4);
    for (int i = 0; i < rank - 1; i++) {
        int64_t f = 1 + (int64_t)(r >> (4 + 7 * i)) % 8;
        while (n == 0 ? f > 3 : n % f) f--;
        d.size[d.rank++] = f;
        if (n) n /= f;
    }
    d.size[d.rank++] = n;
    return d;
}

static int do_pad(graph *g, const ins *s, int a) {
    call o = new_call(C_PAD, 0, 1, a, 0, 0);
    int64_t n = 1;
    o.d = o.e = g->v[a].d;
    for (int i = 0; i < o.d.rank; i++) {
        o.d.size[i] = (int64_t)(s->r[0] >> (3 * i)) % 5 - 1;
        o.e.size[i] = (int64_t)(s->r[1] >> (3 * i)) % 5 - 1;
        if ((s->r[2] >> i & 1) || g->v[a].d.size[i] < 2) o.d.size[i] = o.e.size[i] = 0;
        n *= g->v[a].d.size[i] + o.d.size[i] + o.e.size[i];
    }
    o.s[0] = is_float(g, a) ? 0.25 * (double)(s->r[3] % 9) - 1 : (double)(s->r[3] % 2);
    o.fn = s->r[4] % 2 ? 1 + (int)(s->r[5] % 3) : 0;
    for (int i = 0; i < o.d.rank; i++) // no mode has more to give than a dimension of 5
        if (g->v[a].d.size[i] < 5 && (o.d.size[i] || o.e.size[i])) o.fn = 0;
    return n <= g->limit ? emit_view(g, &o, 0) : a;
}

static int do_resize(graph *g, const ins *s, int a) {
    call o = new_call(C_RESIZE, (int)(s->r[0] % 3), 1, a, 0, 0);
    int64_t n = 1;
    for (int i = 0; i < g->v[a].d.rank; i++)
        if (!g->v[a].d.size[i]) return a;
    o.d.rank = g->v[a].d.rank < 2 ? g->v[a].d.rank : 1 + (int)(s->r[1] % 2);
    if (g->v[a].dtype == TC_BOOL) o.fn = TC_NEAREST;
    for (int i = 0; i < o.d.rank; i++) o.d.size[i] = 1 + (int64_t)(s->r[2 + i] % 12);
    for (int i = 0; i < g->v[a].d.rank; i++) {
        int k = i - (g->v[a].d.rank - o.d.rank);
        n *= k < 0 ? g->v[a].d.size[i] : o.d.size[k];
    }
    return n <= g->limit ? emit(g, &o) : a;
}

static int do_join(graph *g, const ins *s, int a, int b) {
    call o = new_call(s->op == C_STACK ? C_STACK : C_CAT, 0, 2, a, a, a);
    int rank = g->v[a].d.rank, dim = rank ? (int)(s->r[0] % (uint32_t)rank) : 0;
    if (o.kind == C_CAT && !rank) return a;
    for (int i = 0; i < g->n_values; i++) { // one of equal sizes
        int k = (b + i) % g->n_values, same = g->v[k].d.rank == rank;
        for (int j = 0; same && j < rank; j++)
            same = g->v[k].d.size[j] == g->v[a].d.size[j] || (o.kind == C_CAT && j == dim);
        if (!same) continue;
        o.in[1] = k;
        break;
    }
    o.n_in = 2 + (int)(s->r[1] % 2);
    o.a[0] = s->r[2] & 1 ? dim : dim - rank - (o.kind == C_STACK);
    return (g->v[a].n + g->v[o.in[1]].n) * 2 <= g->limit ? emit(g, &o) : a;
}

static int do_matmul(graph *g, const ins *s, int a, int b) {
    tc_dims d = g->v[a].d;
    int64_t k = d.rank ? d.size[d.rank - 1] : 0;
    call o = new_call(C_MATMUL, 0, 2, a, a, 0);
    if (!d.rank) return a;
    int found = 0;
    for (int i = 0; i < g->n_values && !found; i++) {
        int w = (b + i) % g->n_values;
        tc_dims e = g->v[w].d, x, y, out;
        if (e.rank < 1 || e.size[e.rank > 1 ? e.rank - 2 : 0] != k) continue;
        x = d, y = e;
        x.rank = d.rank > 2 ? d.rank - 2 : 0, y.rank = e.rank > 2 ? e.rank - 2 : 0;
        if (!broadcast(g, &x, &y, &out)) continue;
        int64_t n = dims_count(&out) * (d.rank > 1 ? d.size[d.rank - 2] : 1);
        if (e.rank > 1) n *= e.size[e.rank - 1];
        if (n > g->limit || n * k > 400000) continue;
        o.in[1] = w, found = 1;
    }
    if (!found && d.rank >= 2) { // with its own transpose
        call t = new_call(C_PERMUTE, 0, 1, a, 0, 0);
        int64_t rows = d.size[d.rank - 2];
        if (g->v[a].n * rows > 400000 || g->v[a].n / (k ? k : 1) * rows > g->limit)
            return a;
        t.d = d;
        for (int i = 0; i < d.rank; i++) t.d.size[i] = i;
        t.d.size[d.rank - 1] = d.rank - 2, t.d.size[d.rank - 2] = d.rank - 1;
        o.in[1] = emit_view(g, &t, 1);
        if (o.in[1] == a) return a;
    } else if (!found)
        return a;
    for (int i = 0; i < 2; i++) {
        o.in[i] = as_wanted(g, o.in[i], NUMBER, s->r[0]);
        if (is_float(g, o.in[i])) o.in[i] = guard(g, o.in[i], -100, 100);
    }
    return emit(g, &o);
}

static int is_index(const graph *g, int a) {
    return g->v[a].dtype == TC_I32 || g->v[a].dtype == TC_I64;
}

// An index into size n: a value made whole and taken modulo n; some count from the end.
static int as_index(graph *g, int a, int64_t n, uint32_t r) {
    call o = new_call(C_SCALAR, 0, 1, 0, 0, 0);
    if (category(g->v[a].dtype) < 2 && !is_index(g, a)) a = cast(g, a, TC_I32);
    a = as_wanted(g, a, INTEGER, r % 2);
    while (strcmp(scalar_ops[o.fn].name, "remainder_s")) o.fn++;
    o.in[0] = a, o.s[0] = (double)n;
    a = emit(g, &o);
    if (r & 8) return a;
    o.fn = 0;
    while (strcmp(scalar_ops[o.fn].name, "sub_s")) o.fn++;
    o.in[0] = a;
    return emit(g, &o);
}

static int do_take(graph *g, const ins *s, int a, int b) {
    tc_dims d = g->v[a].d;
    int dim = d.rank ? (int)(s->r[0] % (uint32_t)d.rank) : 0;
    call o = new_call(C_TAKE, 0, 2, a, 0, 0);
    if (!d.rank || !d.size[dim] || g->v[b].d.rank > 3) return a;
    if (g->v[a].n / d.size[dim] * g->v[b].n > g->limit) return a;
    o.in[1] = as_index(g, b, d.size[dim], s->r[1]), o.a[0] = dim;
    return is_index(g, o.in[1]) ? emit(g, &o) : a;
}

static int do_gather(graph *g, const ins *s, int a, int b) {
    tc_dims d = g->v[a].d;
    int dim = d.rank ? (int)(s->r[0] % (uint32_t)d.rank) : 0, found = -1;
    call o = new_call(C_GATHER, 0, 2, a, 0, 0);
    if (!d.rank || !d.size[dim]) return a;
    for (int i = 0; i < g->n_values && found < 0; i++) {
        int k = (b + i) % g->n_values, ok = g->v[k].d.rank == d.rank;
        for (int j = 0; ok && j < d.rank; j++)
            ok = j == dim || g->v[k].d.size[j] <= d.size[j];
        if (ok) found = k;
    }
    if (found < 0) return a;
    o.in[1] = as_index(g, found, d.size[dim], s->r[1]), o.a[0] = dim;
    return is_index(g, o.in[1]) ? emit(g, &o) : a;
}

static int do_rows(graph *g, const ins *s, int a) {
    int dim = g->v[a].d.rank ? (int)(s->r[0] % (uint32_t)g->v[a].d.rank) : 0;
    call o = new_call(C_ROWS, (int)(s->r[1] % 2), 1, a, 0, 0);
    if (!o.fn) o.in[0] = guard(g, a, -1e3, 1e3);
    o.a[0] = dim, o.a[1] = (int64_t)(s->r[2] & 1);
    return emit(g, &o);
}

// A value added to itself, at indices made of it.
static int do_scatter(graph *g, const ins *s, int a) {
    tc_dims d = g->v[a].d;
    int dim = d.rank ? (int)(s->r[0] % (uint32_t)d.rank) : 0;
    if (!d.rank || !d.size[dim] || g->v[a].dtype == TC_BOOL) return a;
    a = guard(g, a, -1e3, 1e3);
    call o = new_call(C_SCATTER, 0, 2, a, 0, 0);
    o.in[1] = as_index(g, a, d.size[dim], s->r[1]), o.a[0] = dim;
    return g->v[o.in[1]].dtype == TC_I32 || g->v[o.in[1]].dtype == TC_I64 ? emit(g, &o) : a;
}

static void rewritten(graph *g, int a) {
    int group = g->v[a].group;
    for (int i = 0; i < g->n_values; i++)
        if (g->v[i].group == group) measure(&g->v[i]);
    if (g->external[group]) g->external_written = 1;
}

static int same_dims(const tc_dims *a, const tc_dims *b) {
    return a->rank == b->rank &&
           !memcmp(a->size, b->size, (size_t)a->rank * sizeof *a->size);
}

static int do_in_place(graph *g, const ins *s, int a, int b) {
    value *v = &g->v[a];
    call o = new_call((call_kind)s->op, 0, 1, a, 0, 0);
    int n_calls = g->n_calls, whole = !is_float(g, a);
    double far = whole ? 1e30 : 500;
    if (!v->view_ok || g->frozen[v->group] || v->low < -far || v->high > far) return a;
    if (o.kind == C_IN_TENSOR) {
        o.fn = (int)(s->r[0] % COUNT(in_place_tensor)), o.n_in = 2, o.in[1] = a;
        for (int i = 0; i < g->n_values; i++) {
            tc_dims out;
            int k = (b + i) % g->n_values;
            if (g->v[k].d.rank > v->d.rank || !broadcast(g, &v->d, &g->v[k].d, &out))
                continue;
            if (!same_dims(&out, &v->d)) continue;
            if (o.fn != COUNT(in_place_tensor) - 1 &&
                category(g->v[k].dtype) > category(v->dtype))
                continue;
            if (!whole && is_float(g, k) && (g->v[k].low < -500 || g->v[k].high > 500))
                continue;
            o.in[1] = k;
            break;
        }
        if (v->dtype == TC_BOOL) o.fn = COUNT(in_place_tensor) - 1;
    } else if (o.kind == C_IN_SCALAR) {
        o.fn = v->dtype == TC_BOOL ? 2 : (int)(s->r[0] % COUNT(in_place_scalar));
        o.s[0] = scalar_between(-3, 3, s->r[1]);
        if (whole) o.s[0] = round_down(o.s[0]);
        if (v->dtype == TC_BOOL || v->dtype == TC_U8) o.s[0] = (double)(s->r[1] % 2);
    } else {
        o.fn = v->dtype == TC_BOOL ? 4 : (int)(s->r[0] % COUNT(in_place_unary));
        if (whole && o.fn == 2) o.fn = 0; // tanh_ of integers is refused
    }
    emit(g, &o);
    if (g->n_calls != n_calls) rewritten(g, a);
    return a;
}

static int do_branch(graph *g, const ins *s, int a, int b) {
    call o = new_call(C_BRANCH, 0, 2, a, 0, 0);
    if (g->v[a].n != 1) {
        call r = new_call(C_UNARY, 0, 1, guard(g, a, -1e3, 1e3), 0, 0);
        while (strcmp(unary_ops[r.fn].name, "sum_all")) r.fn++;
        a = emit(g, &r);
        if (g->v[a].n != 1) return a;
    }
    b = as_wanted(g, b, NUMBER, s->r[0]);
    o.in[0] = a, o.in[1] = guard(g, b, -1e6, 1e6), o.s[0] = g->v[a].low;
    return emit(g, &o);
}

// Every second reshape is one of sizes: neighbours joined, and ones put in front or behind. Programs of
// a family have the same then, whatever stands before it.
static tc_dims joined(tc_dims d, uint32_t r) {
    tc_dims to;
    memset(&to, 0, sizeof to);
    if (r & 4) to.size[to.rank++] = 1;
    for (int i = 0; i < d.rank; i++)
        if (i && r >> (4 + i) & 1)
            to.size[to.rank - 1] *= d.size[i];
        else
            to.size[to.rank++] = d.size[i];
    if (r & 8) to.size[to.rank++] = 1;
    return to;
}

// ---- movement ----
static int do_move(graph *g, const ins *s, int a) {
    tc_dims d = g->v[a].d;
    call o = new_call((call_kind)s->op, 0, 1, a, 0, 0);
    int dim = d.rank ? (int)(s->r[0] % (uint32_t)d.rank) : 0;
    int64_t n = d.rank ? d.size[dim] : 0;
    uint32_t r = s->r[1];
    if (!d.rank && s->op != C_UNSQUEEZE && s->op != C_RESHAPE && s->op != C_EXPAND)
        return a;
    switch (s->op) {
    case C_RESHAPE:
        o.d = (r & 1) && d.rank < 4 ? joined(d, r >> 1) : factor(g->v[a].n, r);
        return emit_view(g, &o, 1);
    case C_PERMUTE:
        o.d = d;
        for (int i = 0; i < d.rank; i++) o.d.size[i] = i;
        for (int i = d.rank - 1; i > 0; i--) {
            int k = (int)(r >> (4 * i)) % (i + 1);
            int64_t t = o.d.size[i];
            o.d.size[i] = o.d.size[k], o.d.size[k] = t;
        }
        return emit_view(g, &o, 1);
    case C_EXPAND:
        o.d = d;
        if (r % 3 == 0 && d.rank < 5) {
            o.d.rank++;
            for (int i = d.rank; i > 0; i--) o.d.size[i] = d.size[i - 1];
            o.d.size[0] = 2 + (int64_t)(r >> 4) % 3;
        }
        for (int i = 0; i < o.d.rank; i++)
            if (o.d.size[i] == 1) o.d.size[i] = 1 + (int64_t)(r >> (3 * i)) % 5;
        if (dims_count(&o.d) > g->limit) return a;
        a = emit_view(g, &o, 1);
        g->v[a].view_ok = 0;
        return a;
    case C_SLICE:
        o.a[0] = r & 1 ? dim : dim - d.rank;
        o.a[3] = 1 + (int64_t)(r >> 1) % 3;
        o.a[1] = n ? (int64_t)(r >> 4) % n : 0;
        o.a[2] = r & 8 ? TC_END : o.a[1] + 1 + (int64_t)(r >> 12) % (n + 1);
        if (r & 16 && n) o.a[3] = -o.a[3], o.a[1] = n - 1 - o.a[1], o.a[2] = TC_END;
        return emit_view(g, &o, 1);
    case C_SELECT:
        if (!n) return a;
        o.a[0] = dim, o.a[1] = (int64_t)(r >> 1) % n - (r & 1 ? n : 0);
        return emit_view(g, &o, 1);
    case C_FLIP: o.d = some_dims(g, a, r); return emit_view(g, &o, 1);
    case C_ROLL: o.a[0] = (int64_t)(r % 23) - 11, o.a[1] = dim; return emit_view(g, &o, 0);
    case C_UNFOLD:
        if (!n || d.rank > 4) return a;
        o.a[0] = dim, o.a[1] = 1 + (int64_t)(r >> 3) % (n < 4 ? n : 4), o.a[2] = 1 + r % 3;
        if (g->v[a].n * o.a[1] > g->limit) return a;
        a = emit_view(g, &o, 0);
        return a;
    case C_TILE:
        o.d = d;
        for (int i = 0; i < d.rank; i++) o.d.size[i] = 1 + (int64_t)(r >> (2 * i)) % 2;
        return g->v[a].n * 8 > g->limit ? a : emit_view(g, &o, 0);
    case C_REPEAT:
        o.a[0] = 1 + r % 3, o.a[1] = dim;
        return g->v[a].n * 3 > g->limit ? a : emit_view(g, &o, 0);
    case C_UNSQUEEZE:
        o.a[0] = (int64_t)(r % (uint32_t)(d.rank + 1));
        return d.rank < 5 ? emit_view(g, &o, 1) : a;
    case C_SQUEEZE: o.a[0] = dim; return emit_view(g, &o, 1);
    case C_FLATTEN:
        o.a[0] = dim, o.a[1] = dim + (int64_t)(r % (uint32_t)(d.rank - dim));
        return emit_view(g, &o, 1);
    case C_TRIANGLE:
        o.fn = (int)(r & 1), o.a[0] = (int64_t)(r >> 1) % 5 - 2;
        return d.rank >= 2 ? emit(g, &o) : a;
    default: return a;
    }
}

static int do_source(graph *g, const ins *s, int a) {
    call o = new_call((call_kind)s->op, 0, 0, 0, 0, 0);
    static const int dtypes[] = {TC_F32, TC_I32, TC_F64, TC_I64, TC_U8,
                                 TC_I8,  TC_I16, TC_F16, TC_BF16};
    o.d = g->v[a].d;
    o.a[0] = dtypes[s->r[0] % COUNT(dtypes)];
    if (s->op == C_FULL) o.s[0] = (double)(s->r[1] % 7);
    if (s->op == C_ARANGE)
        o.s[0] = (double)(s->r[1] % 7), o.s[1] = (double)(1 + s->r[2] % 3),
        o.a[1] = o.d.rank ? o.d.size[o.d.rank - 1] : 3;
    if (s->op == C_RAND && !is_half((int)o.a[0])) o.a[0] = s->r[0] % 2 ? TC_F32 : TC_F64;
    if (s->op == C_RAND) o.fn = (int)(s->r[1] % 2);
    return emit(g, &o);
}

static int normal_of(graph *g, int64_t batch, int64_t rows, int64_t columns) {
    call o = new_call(C_RAND, 1, 0, 0, 0, 0);
    o.d.rank = 3, o.a[0] = TC_F32;
    o.d.size[0] = batch, o.d.size[1] = rows, o.d.size[2] = columns;
    return emit(g, &o);
}

// A product, something with sums over its rows, a product: a kernel of three parts, as attention is. Sometimes
// what is between is seen by others, too.
static int do_attend(graph *g, const ins *s, int a) {
    int64_t batch = 16 + s->r[0] % 3, m = 9 + s->r[1] % 2, n = 16 + s->r[2] % 2;
    call product = new_call(C_MATMUL, 0, 2, 0, 0, 0),
         along = new_call(C_ALONG, 0, 1, 0, 0, 0);
    if (g->n_values + 12 > MAX_VALUES || g->n_calls + 12 > MAX_CALLS) return a;
    product.in[0] = normal_of(g, batch, m, 1 + s->r[3] % 7);
    product.in[1] = normal_of(g, batch, 1 + s->r[3] % 7, n);
    along.in[0] = emit(g, &product);
    along.a[0] = 2, along.fn = (int)(s->r[4] % 2);
    if (s->r[5] & 1) along.in[0] = guard(g, along.in[0], -2, 2);
    product.in[0] = emit(g, &along);
    product.in[1] = normal_of(g, batch, n, 1 + s->r[4] % 9);
    return emit(g, &product);
}

static int do_custom(graph *g, const ins *s, int a) {
    call o = new_call(C_CUSTOM, (int)(s->r[0] % COUNT(custom_ops)), 1, a, 0, 0);
    if (o.fn) return emit(g, &o);
    if (!g->v[a].d.rank) return a;
    if (is_float(g, a)) a = guard(g, a, -1e6, 1e6);
    o.in[0] = cast(g, a, TC_F32);
    return emit(g, &o);
}

static int do_cast(graph *g, const ins *s, int a) {
    int to = (int)(s->r[0] % TC_DTYPE_COUNT);
    a = cast(g, a, to);
    return is_byte_float(to) ? cast(g, a, s->r[1] % 2 ? TC_F32 : TC_BF16) : a; // to compute
}

static int do_ins(graph *g, const ins *s, int a, int b, int c) {
    call o = new_call((call_kind)s->op, 0, 1, a, 0, 0);
    tc_dims d = g->v[a].d, out;
    int dim = d.rank ? (int)(s->r[0] % (uint32_t)d.rank) : 0;
    switch (s->op) {
    case C_UNARY:
        o.fn = (int)(s->r[0] % COUNT(unary_ops));
        a = as_wanted(g, a, unary_ops[o.fn].wants, s->r[1]);
        if (unary_ops[o.fn].wants != INTEGER)
            a = guard(g, a, unary_ops[o.fn].low, unary_ops[o.fn].high);
        o.in[0] = a;
        if (!strcmp(unary_ops[o.fn].name, "contiguous")) return emit_view(g, &o, 0);
        if (!strcmp(unary_ops[o.fn].name, "squeeze_all")) return emit_view(g, &o, 1);
        return emit(g, &o);
    case C_BINARY: return do_binary(g, s, a, b);
    case C_SCALAR:
        o.fn = (int)(s->r[0] % COUNT(scalar_ops));
        a = as_wanted(g, a, scalar_ops[o.fn].wants, s->r[1]);
        o.in[0] = guard(g, a, scalar_ops[o.fn].low, scalar_ops[o.fn].high);
        o.s[0] = scalar_between(scalar_ops[o.fn].s, scalar_ops[o.fn].t, s->r[2]);
        return emit(g, &o);
    case C_REDUCE: return do_reduce(g, s, a);
    case C_ALONG:
        o.fn = (int)(s->r[1] % COUNT(along_ops));
        if (!d.rank || !g->v[a].n) return a;
        a = as_wanted(g, a, NUMBER, s->r[2]);
        o.in[0] = is_float(g, a) ? guard(g, a, -1e4, 1e4) : a;
        o.a[0] = s->r[3] & 1 ? dim : dim - d.rank;
        return emit(g, &o);
    case C_FMA:
    case C_WHERE:
        b = partner(g, &d, b, a);
        if (!broadcast(g, &d, &g->v[b].d, &out)) return a;
        c = partner(g, &out, c, b);
        if (s->op == C_WHERE)
            a = as_wanted(g, a, TRUTH, 0);
        else {
            a = guard(g, a, -1e3, 1e3);
            b = guard(g, b, -1e3, 1e3), c = guard(g, c, -1e6, 1e6);
        }
        o = new_call((call_kind)s->op, 0, 3, a, b, c);
        return emit(g, &o);
    case C_CLAMP:
        o.in[0] = as_wanted(g, a, NUMBER, s->r[0]);
        o.s[0] = scalar_between(-3, 0, s->r[1]), o.s[1] = scalar_between(0, 3, s->r[2]);
        return emit(g, &o);
    case C_CAST: return do_cast(g, s, a);
    case C_MASKED:
        b = partner(g, &d, b, a);
        o.in[1] = as_wanted(g, b, TRUTH, 0), o.n_in = 2;
        o.in[0] = as_wanted(g, a, NUMBER, s->r[0]);
        o.s[0] = (double)(s->r[1] % 5);
        return emit(g, &o);
    case C_PAD: return do_pad(g, s, a);
    case C_RESIZE: return do_resize(g, s, a);
    case C_CAT:
    case C_STACK: return do_join(g, s, a, b);
    case C_MATMUL: return do_matmul(g, s, a, b);
    case C_LINEAR:
        for (int i = 0; i < g->n_values; i++) {
            int k = (b + i) % g->n_values;
            tc_dims e = g->v[k].d;
            if (!d.rank || e.rank != 2 || e.size[1] != d.size[d.rank - 1]) continue;
            if (!category(g->v[k].dtype) || !category(g->v[a].dtype)) continue;
            if (g->v[a].n * e.size[0] > 100000) continue;
            o.in[0] = is_float(g, a) ? guard(g, a, -100, 100) : a, o.n_in = 2;
            o.in[1] = is_float(g, k) ? guard(g, k, -100, 100) : k;
            return emit(g, &o);
        }
        return a;
    case C_TAKE: return do_take(g, s, a, b);
    case C_GATHER: return do_gather(g, s, a, b);
    case C_ONE_HOT:
        o.a[0] = 1 + s->r[0] % 5;
        if (g->v[a].n * 5 > g->limit || d.rank > 4) return a;
        o.in[0] = as_index(g, a, o.a[0], 8);
        return is_index(g, o.in[0]) ? emit(g, &o) : a;
    case C_VAR:
        if (!d.rank || !g->v[a].n) return a;
        o.in[0] = guard(g, a, -1e3, 1e3), o.a[0] = dim, o.s[0] = (double)(s->r[1] % 2);
        return emit(g, &o);
    case C_LAYER_NORM:
        if (!d.rank || !g->v[a].n) return a;
        o.in[0] = guard(g, a, -1e3, 1e3), o.fn = (int)(s->r[1] % 2);
        return emit(g, &o);
    case C_FULL:
    case C_ARANGE:
    case C_RAND: return do_source(g, s, a);
    case C_ATTEND: return do_attend(g, s, a);
    case C_IN_TENSOR:
    case C_IN_SCALAR:
    case C_IN_UNARY: return do_in_place(g, s, a, b);
    case C_ITEM:
        if (g->v[a].n != 1) return a;
        emit(g, &o);
        return a;
    case C_READ: emit(g, &o); return a;
    case C_BRANCH: return do_branch(g, s, a, b);
    case C_ROWS: return do_rows(g, s, a);
    case C_SCATTER: return do_scatter(g, s, a);
    case C_CUSTOM: return do_custom(g, s, a);
    default: return do_move(g, s, a);
    }
}

// ---- gradients: of the sum of all float values that no call takes, by the inputs that are floats ----

// Custom ops of the fuzzer have no gradient.
static int derives(const graph *g) {
    int customs = 0;
    for (int i = 0; i < g->n_calls; i++) customs |= g->call[i].kind == C_CUSTOM;
    return g->p->derives && !customs;
}

static int has_writes(const graph *g) {
    int writes = 0;
    for (int i = 0; i < g->n_calls; i++)
        writes |= g->call[i].kind >= C_IN_TENSOR && g->call[i].kind != C_BRANCH;
    return writes;
}

static int has_slope(const graph *g, int i) { return is_float(g, i) && g->v[i].n; }

// Whether one of the terms is made of an input that has a gradient.
static int loss_reaches(const graph *g, const int *term, int n) {
    int made[MAX_VALUES] = {0}, reaches = 0;
    for (int i = 0; i < g->p->n_inputs; i++) made[i] = is_float(g, i);
    for (int k = 0; k < g->n_calls; k++)
        for (int i = g->call[k].kind == C_BRANCH; i < g->call[k].n_in;
             i++) // not by its condition
            made[g->call[k].out] |= made[g->call[k].in[i]] && is_float(g, g->call[k].out);
    for (int i = 0; i < n; i++) reaches |= made[term[i]];
    return reaches;
}

// The values whose elements are added up, none where nothing has a gradient: a loss that reaches none is refused, so
// an input counts where else none would. Where calls write in place the inputs count, too, as they are then: a
// tensor that a loss depends on only as it was before a write is refused, which tests/grad/edges.c is about.
static int loss_terms(const graph *g, int *term) {
    int n = 0;
    for (int i = g->p->n_inputs; i < g->n_values; i++)
        if (!g->v[i].consumed && has_slope(g, i)) term[n++] = i;
    for (int i = g->n_values; i-- > 0 && !n;)
        if (has_slope(g, i)) term[n++] = i;
    for (int i = 0; i < g->p->n_inputs && n && has_writes(g); i++)
        if (is_float(g, i)) term[n++] = i;
    if (!n || loss_reaches(g, term, n)) return n;
    for (int i = 0; i < g->p->n_inputs; i++)
        if (is_float(g, i)) return term[n] = i, n + 1;
    return 0;
}

static void print_loss(const graph *g, FILE *f) {
    int term[MAX_VALUES + MAX_INPUTS], n = loss_terms(g, term);
    for (int i = 0; i < n; i++) {
        if (i)
            fprintf(f, "    if (region) loss = tc_add(loss, tc_sum_all(v%d));\n", term[i]);
        else
            fprintf(f, "    tc_tensor loss = region ? tc_sum_all(v%d) : tc_null();\n",
                    term[i]);
    }
    if (n) fprintf(f, "    if (region) tc_backward(loss);\n");
}

static void graph_free(graph *g) {
    for (int i = 0; i < MAX_INPUTS; i++) free(g->memory[i]);
    memset(g->memory, 0, sizeof g->memory);
}

// Runs program p in tc and notes the calls; with f also prints them, as far as they come.
static void elaborate(graph *g, const program *p, tc_ctx *tc, FILE *f) {
    tc_tensor v[MAX_INPUTS];
    memset(g, 0, sizeof *g);
    g->p = p, g->tc = tc, g->f = f;
    g->limit = p->large ? 60000 : 3000;
    tc_scope_begin(tc);
    tc_manual_seed(tc, p->seed);
    fill_inputs(g, 0);
    make_inputs(g, tc, v, f);
    for (int i = 0; i < p->n_inputs; i++) {
        int same = p->input[i].same;
        add_value(g, v[i], same ? g->v[same - 1].group : i);
        g->v[i].input = i, g->external[i] = 1, g->slot[i] = i;
        g->v[i].view_ok = p->input[i].layout != EXPANDED;
    }
    for (int i = 0; f && p->derives && i < p->n_inputs; i++)
        if (is_float(g, i)) fprintf(f, "    if (region) tc_requires_grad(v%d, 1);\n", i);
    if (f)
        fprintf(f, "    tc_options options = tc_options_default();\n"
                   "    options.round_each_op = 1;\n"
                   "#ifdef FAST\n    options.numerics = TC_NUMERICS_FAST;\n#endif\n"
                   "    if (region) options.memory_budget = BUDGET;\n"
                   "    if (region) tc_trace_begin_with(tc, \"fuzz\", &options);\n");
    for (int i = 0; i < p->n; i++) {
        const ins *s = &p->ins[i];
        int a = g->slot[s->in[0]], b = g->slot[s->in[1]], c = g->slot[s->in[2]];
        int r = s->live && room(g) ? do_ins(g, s, a, b, c) : a;
        g->slot[p->n_inputs + i] = r;
        if (!s->live || g->v[r].input >= 0) continue;
        if (s->read) g->v[r].read = 1;
        if (!s->keep || g->v[r].kept) continue;
        call o = new_call(C_KEEP, 0, 1, r, 0, 0);
        int consumed = g->v[r].consumed;
        emit(g, &o);
        g->v[r].kept = 1, g->v[r].consumed = consumed;
    }
    if (f && derives(g)) print_loss(g, f);
    if (f) fprintf(f, "    if (region) end(tc);\n");
    tc_scope_end(tc);
    g->tc = NULL, g->f = NULL;
}

// Is value i read when the run is over?
static int is_read(const graph *g, int i) {
    const value *v = &g->v[i];
    int consumed = v->consumed || (g->p->derives && g->external_written); // by the loss
    if (v->input >= 0 || !consumed || v->kept) return 1;
    if (v->n <= 16 && !v->source)
        return 1; // small results are always stored, sources are not
    // Demanded after the end: refused where an input may have changed, which sources have not.
    if (v->source) return v->read;
    return v->read && !g->external_written;
}

#endif
