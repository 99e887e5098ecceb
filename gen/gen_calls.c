// Calls that know their site. A function NAME_at(..., const char *file, int line) is declared once, in
// gen/api or by a row of ops.def; from that come the macro NAME(...) and what forms of an op need no
// text of their own.

typedef struct call_parameter {
    const char *type, *name; // "const tc_tensor *", "list"
} call_parameter;

typedef struct call {
    const char *name, *result; // "tc_add_s", "tc_tensor"
    call_parameter in[16];     // without the site
    int n;
} call;

static struct {
    call at[512];
    size_t count;
    const char *headers; // the text of gen/api
} calls;

#define EACH_CALL(c) for (const call *c = calls.at; c < calls.at + calls.count; c++)

static int is_letter(char c) { return c == '_' || isalnum((unsigned char)c); }

// "  int  k " -> "int k"
static char *one_line(const char *s, size_t n) {
    text t = {0};
    put_raw(&t, "", 0);
    for (size_t i = 0; i < n; i++) {
        if (!isspace((unsigned char)s[i]))
            put_raw(&t, s + i, 1);
        else if (t.size && t.at[t.size - 1] != ' ')
            put_raw(&t, " ", 1);
    }
    while (t.size && t.at[t.size - 1] == ' ') t.at[--t.size] = 0;
    return t.at;
}

// The word at the end of s, which is cut off there, with the blank before it.
static char *cut_word(char *s) {
    char *end = s + strlen(s), *word = end;
    while (word > s && is_letter(word[-1])) word--;
    char *name = join("%s", word);
    if (word > s && word[-1] == ' ') word--;
    *word = 0;
    return name;
}

// One declaration, from behind TCDEF to before the semicolon, is a call if it ends in the site.
static void call_read(char *s) {
    static const char site[] = ", const char *file, int line)";
    char *open = strchr(s, '('), *stop;
    if (!open || !ends(s, site) || calls.count == COUNT(calls.at)) return;
    s[strlen(s) - strlen(site)] = 0, *open = 0;
    call *c = &calls.at[calls.count++];
    c->name = cut_word(s), c->result = s;
    c->name = join("%.*s", (int)strlen(c->name) - 3, c->name); // without _at
    for (char *p = open + 1; p && c->n < (int)COUNT(c->in); p = stop ? stop + 2 : NULL) {
        if ((stop = strchr(p, ','))) *stop = 0;
        c->in[c->n].name = cut_word(p), c->in[c->n++].type = p;
    }
}

static void calls_of(const char *s) {
    const char *line;
    size_t n;
    while (next_line(&s, &line, &n)) {
        if (!starts(line, "TCDEF ")) continue;
        call_read(one_line(line + 6, strcspn(line + 6, ";")));
    }
}

static void calls_read(const char *root) {
    list files = {0};
    text all = {0}, rows = {0};
    walk(&files, root, "gen/api");
    for (size_t i = 0; i < files.count; i++)
        put(&all, "%s", read_file(join("%s/%s", root, files.at[i]), NULL));
    op_api(&rows);
    calls.count = 0, calls.headers = all.at;
    calls_of(all.at);
    calls_of(rows.at);
}

static const call *call_find(const char *name) {
    EACH_CALL(c) {
        if (strcmp(c->name, name) == 0) return c;
    }
    return NULL;
}

// ---- macros ----

static void put_names(text *t, const call *c) {
    for (int i = 0; i < c->n; i++) put(t, "%s%s", i ? ", " : "", c->in[i].name);
}

// Arguments are passed on as they come: commas of compound literals and templates divide them.
static void call_macros(text *t) {
    put(t, "// Generated from the declarations in gen/api and gen/tables/ops.def by\n"
           "// gen/gen_calls.c: what passes the site.\n");
    EACH_CALL(c) {
        if (strstr(calls.headers, join("#define %s(", c->name))) continue; // says more
        put(t, "#define %s(...) %s_at(__VA_ARGS__, TC__SITE)\n", c->name, c->name);
    }
}

// ---- forms ----

static void put_head(text *t, const call *c) {
    put(t, "TCDEF %s %s_at(", c->result, c->name);
    for (int i = 0; i < c->n; i++) {
        const char *type = c->in[i].type;
        put(t, "%s%s%s, ", type, ends(type, "*") ? "" : " ", c->in[i].name);
    }
    put(t, "const char *file, int line)");
}

static const op *binary_row(const char *name, size_t n) {
    EACH(o, op, ops) {
        if (!strcmp(o->kind, "BINARY") && strlen(o->name) == n && !memcmp(o->name, name, n))
            return o;
    }
    return NULL;
}

// The same for those that autocast looks at.
static void scalar_casts_macro(text *t, const char *side) {
    put(t,
        "#define TC__CALL_SCALAR_%s_AUTOCAST(name, id, policy) \\\n"
        "    TCDEF tc_tensor tc_##name##_at(tc_tensor a, double s, const char *file, int line) { \\\n"
        "        return tc__listed_scalar(TC__AUTOCAST_##policy, #name, a, s, file, line, \\\n"
        "                                 tc__form_of_scalar(TC_OP_##id, TC__SCALAR_%s)); \\\n"
        "    }\n",
        side, side);
}

// tc_sub_s is SUB of a and s, tc_rsub_s of s and a. A scalar is an attribute word, no tensor: it costs
// no step of its own.
static void scalar_calls(text *t) {
    put(t,
        "#define TC__CALL_SCALAR_RIGHT(name, id) \\\n"
        "    TCDEF tc_tensor tc_##name##_at(tc_tensor a, double s, const char *file, int line) { \\\n"
        "        return tc__op_scalar(a, s, file, line, \\\n"
        "                             tc__form_of_scalar(TC_OP_##id, TC__SCALAR_RIGHT)); \\\n"
        "    }\n"
        "#define TC__CALL_SCALAR_LEFT(name, id) \\\n"
        "    TCDEF tc_tensor tc_##name##_at(tc_tensor a, double s, const char *file, int line) { \\\n"
        "        return tc__op_scalar_left(#name, a, s, file, line, \\\n"
        "                                  tc__form_of_scalar(TC_OP_##id, TC__SCALAR_LEFT)); \\\n"
        "    }\n");
    scalar_casts_macro(t, "RIGHT");
    scalar_casts_macro(t, "LEFT");
    EACH_CALL(c) {
        const char *name = c->name + 3;
        if (!ends(name, "_s")) continue;
        size_t n = strlen(name) - 2;
        const op *right = binary_row(name, n);
        const op *left = *name == 'r' && !right ? binary_row(name + 1, n - 1) : NULL;
        if (!right && !left) continue;
        const char *policy = autocast_of(name);
        put(t, "TC__CALL_SCALAR_%s%s(%s, %s%s%s)\n", right ? "RIGHT" : "LEFT",
            policy ? "_AUTOCAST" : "", name, right ? right->id : left->id,
            policy ? ", " : "", policy ? policy : "");
    }
}

// tc_add_ is tc_copy_ of tc_add, which keeps the category of what it writes.
static void in_place_calls(text *t) {
    put(t, "// Generated from the declarations in gen/api by gen/gen_calls.c.\n");
    put(t, "#define TC__IN_PLACE(name, made) \\\n"
           "    tc__api f; \\\n"
           "    if (!tc__begin(&f, name, dst, file, line)) return tc__null(); \\\n"
           "    return tc__assign(&f, dst, made, TC__CONVERT_WITHIN);\n");
    EACH_CALL(c) {
        const char *of = join("%.*s", (int)strlen(c->name) - 1, c->name);
        if (!ends(c->name, "_") || !call_find(of)) continue;
        put_head(t, c);
        put(t, " {\n    TC__IN_PLACE(\"%s\", %s_at(", c->name + 3, of);
        put_names(t, c);
        put(t, ", file, line))\n}\n");
    }
}

// The bodies of a reduction's calls; p is its parameter, 0 without one, cast what autocast does.
static const char reduce_macros[] =
    "#define TC__REDUCE_ONE(name, cast, p) { \\\n"
    "        return tc__reduce_one(tc__##name##_keep, #name, TC__AUTOCAST_##cast, t, dim, p, \\\n"
    "                              file, line); \\\n"
    "    }\n"
    "#define TC__REDUCE_DIMS(name, cast, p, dims, keepdim) { \\\n"
    "        return tc__reduce_dims(tc__##name##_keep, #name, TC__AUTOCAST_##cast, t, dims, \\\n"
    "                               keepdim, p, file, line); \\\n"
    "    }\n";

// Over one dimension, over several, over all: by tc__NAME_keep, which keeps them as size 1.
static void reduce_calls(text *t) {
    put(t, "// Generated from the declarations in gen/api by gen/gen_calls.c.\n%s",
        reduce_macros);
    EACH_CALL(c) {
        const call *several = call_find(join("%s_dims", c->name));
        const call *all = call_find(join("%s_all", c->name));
        const char *name = c->name + 3;
        if (!several || !all) continue;
        const char *p = c->n > 2 ? c->in[2].name : "0";
        const char *cast = autocast_of(name) ? autocast_of(name) : "NONE";
        put_head(t, c);
        put(t, "    TC__REDUCE_ONE(%s, %s, %s)\n", name, cast, p);
        put_head(t, several);
        put(t, "    TC__REDUCE_DIMS(%s, %s, %s, dims, keepdim)\n", name, cast, p);
        put_head(t, all);
        put(t, "    TC__REDUCE_DIMS(%s, %s, %s, TC_SCALAR, 0)\n", name, cast, p);
    }
}

// ---- composite ops ----

typedef struct composite {
    const char *name, *operand, *frame, *whole;
} composite;

#define WHOLE(name, in, attr, dtype, shape)
#define COMPOSITE(name, operand, frame, whole) {#name, #operand, #frame, #whole},
static const composite composites[] = {
#include "tables/composites.def"
};
#undef COMPOSITE

static const whole *whole_of(const composite *o) {
    EACH(w, whole, wholes) {
        if (!strcmp(w->name, o->whole)) return w;
    }
    if (strcmp(o->whole, "NODE"))
        fail("gen/tables/composites.def", 0, join("%s: there is no %s", o->name, o->whole),
             "a composite op is recorded as what a row WHOLE tells", "add that row");
    return NULL;
}

static const call_parameter *parameter_of(const call *c, const char *name) {
    for (int i = 0; i < c->n; i++)
        if (!strcmp(c->in[i].name, name)) return &c->in[i];
    return NULL;
}

// The words that are parameters of the call.
static void put_whole_words(text *t, const whole *w, const call *c) {
    const char *rest = w->attr;
    op_word word;
    while (next_word(&rest, &word)) {
        const call_parameter *p = parameter_of(c, word.name);
        if (!p) continue;
        put(t, "    f.word[TC__");
        put_upper(t, w->name);
        put(t, "_");
        put_upper(t, word.name);
        put(t, "] = ");
        if (word.kind == 'v')
            put(t, "tc__value_word((double)%s, TC_F64);\n", p->name);
        else if (word.kind == 's')
            put(t, "tc__ix_const(%s);\n", p->name);
        else
            put(t, strcmp(p->name, "dim") ? "%s;\n" : "tc__dim_counted(&f, %s);\n",
                p->name);
    }
}

static int count_words(const whole *w) {
    const char *rest = w->attr;
    op_word word;
    int n = 1;
    while (next_word(&rest, &word)) n++;
    return n;
}

// `made` is the result; what it is of goes behind the steps of its parts.
static void put_whole(text *t, const whole *w) {
    const char *rest = w->in;
    whole_operand in;
    put(t, "    TC__LEAVE_WHOLE(");
    put_upper(t, w->name);
    put(t, ", %d", count_words(w));
    while (next_operand(&rest, &in)) put(t, ", %s", in.name);
    put(t, ")\n");
}

static int may_miss(const whole *w, const char *name) {
    const char *rest = w ? w->in : "";
    whole_operand in;
    while (next_operand(&rest, &in))
        if (!strcmp(in.name, name)) return in.may_miss;
    return 0;
}

// The frame has looked at its own operand; a number `eps` is no NaN and not below 0.
static void put_operand_checks(text *t, const composite *o, const whole *w, const call *c) {
    for (int i = 0; i < c->n; i++) {
        const char *name = c->in[i].name;
        if (!strcmp(name, "eps"))
            put(t,
                "    if (!tc__number_given(&f, \"eps\", eps)) return tc__leave_null(&f);\n");
        if (strcmp(c->in[i].type, "tc_tensor") || !strcmp(name, o->operand) ||
            may_miss(w, name))
            continue;
        put(t, "    TC__GIVEN(%s)\n", name);
    }
}

// The operands as autocast has them.
static void put_casts(text *t, const composite *o, const call *c) {
    const char *between = "";
    if (!autocast_of(o->name)) return;
    put(t, "    TC__AUTOCAST(%s, ", autocast_of(o->name));
    for (int i = 0; i < c->n; i++) {
        if (strcmp(c->in[i].type, "tc_tensor")) continue;
        put(t, "%s&%s", between, c->in[i].name);
        between = ", ";
    }
    put(t, ")\n");
}

// The frame is of the operand; the context is that of all tensors.
static void put_enter(text *t, const composite *o, const call *c) {
    int tensors = 0;
    for (int i = 0; i < c->n; i++) tensors += !strcmp(c->in[i].type, "tc_tensor");
    put(t, " {\n    TC__ENTER%s(tc__begin%s, %s, %s", tensors > 1 ? "_AMONG" : "",
        strcmp(o->frame, "TOGETHER") ? "" : "_together", o->name, o->operand);
    for (int i = 0; tensors > 1 && i < c->n; i++)
        if (!strcmp(c->in[i].type, "tc_tensor")) put(t, ", %s", c->in[i].name);
    put(t, ")\n");
}

static void composite_call(text *t, const composite *o, const call *c) {
    const whole *w = whole_of(o);
    put_head(t, c);
    put_enter(t, o, c);
    put_operand_checks(t, o, w, c);
    put_casts(t, o, c);
    if (w) put_whole_words(t, w, c);
    put(t, "    tc_tensor made = tc__rounded(&f, tc__%s(&f, ", o->name);
    put_names(t, c);
    put(t, "));\n");
    if (w)
        put_whole(t, w);
    else
        put(t, "    return tc__leave(&f, made);\n");
    put(t, "}\n");
}

static void composite_calls(text *t) {
    put(t,
        "// Generated from gen/tables/composites.def and the declarations in gen/api by\n"
        "// gen/gen_calls.c.\n"
        "#define TC__ENTER(begin, name, x) \\\n"
        "    tc__api f; \\\n"
        "    if (!begin(&f, #name, x, file, line)) return tc__null();\n"
        "#define TC__ENTER_AMONG(begin, name, x, ...) \\\n"
        "    tc__api f; \\\n"
        "    const tc_tensor all[] = {__VA_ARGS__}; \\\n"
        "    if (!tc__begin_among(&f, begin, #name, x, all, (uint32_t)TC__COUNT(all), file, \\\n"
        "                         line)) \\\n"
        "        return tc__null();\n"
        "#define TC__GIVEN(name) \\\n"
        "    if (!tc__operand_given(&f, #name, name)) return tc__leave_null(&f);\n"
        "#define TC__AUTOCAST(policy, ...) \\\n"
        "    tc_tensor *const cast[] = {__VA_ARGS__}; \\\n"
        "    if (!tc__autocast(&f, TC__AUTOCAST_##policy, cast, (int)TC__COUNT(cast))) \\\n"
        "        return tc__leave_null(&f);\n"
        "#define TC__LEAVE_WHOLE(op, words, ...) \\\n"
        "    if (tc__records_whole(&f, made)) { \\\n"
        "        const tc_tensor in[] = {__VA_ARGS__}; \\\n"
        "        TC__STATIC_ASSERT(room_for_words, words <= TC__WHOLE_WORDS); \\\n"
        "        TC__STATIC_ASSERT(room_for_operands, TC__COUNT(in) <= TC__WHOLE_OPERANDS); \\\n"
        "        tc__whole(&f, TC_OP_##op, in, (uint32_t)TC__COUNT(in), words, made); \\\n"
        "    } \\\n"
        "    return tc__leave(&f, made);\n");
    EACH(o, composite, composites) {
        const call *c = call_find(join("tc_%s", o->name));
        if (c)
            composite_call(t, o, c);
        else
            fail("gen/tables/composites.def", 0, join("%s is not declared", o->name),
                 "the declaration says what a composite op takes",
                 "declare it in gen/api/tensor.h");
    }
}

// ---- autocast ----

static int is_generated(const call *c, const char *name) {
    EACH(o, op, ops) {
        if (has_function(o) && !strcmp(o->name, name)) return 1;
    }
    EACH(o, composite, composites) {
        if (!strcmp(o->name, name)) return 1;
    }
    return ends(name, "_s") || call_find(join("%s_all", c->name));
}

// What is generated has its policy there; calls with a text of their own name it.
static void autocast_calls(text *t) {
    put(t, "// Generated from gen/tables/autocast.def by gen/gen_calls.c.\n");
    EACH(a, autocast, autocasts) {
        const call *c = call_find(join("tc_%s", a->name));
        if (!c)
            fail("gen/tables/autocast.def", 0, join("there is no tc_%s", a->name),
                 "a row is about a public call that gives one tensor",
                 "correct its name, or take the row out");
        if (!c || is_generated(c, a->name)) continue;
        put(t, "#define TC__AUTOCAST_OF_");
        put_upper(t, a->name);
        put(t, " TC__AUTOCAST_%s\n", a->policy);
    }
}
