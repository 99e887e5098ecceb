// The unit of a custom op's c_source: what the text may use, the text, and the kernel around it.
// Such a unit stands by itself. Nothing in it can get in the way of other kernels, and its key is
// all of its text.

// In front of the text, behind the names of statuses and dtypes. The layouts are those of
// api/extend.h, and of exec/custom.c.
static const char tc__text_custom[] =
    "enum { TC_MAX_RANK = 8 };\n"
    "typedef __INT8_TYPE__ int8_t;\n"
    "typedef __INT16_TYPE__ int16_t;\n"
    "typedef __INT32_TYPE__ int32_t;\n"
    "typedef __INT64_TYPE__ int64_t;\n"
    "typedef __UINT8_TYPE__ uint8_t;\n"
    "typedef __UINT16_TYPE__ uint16_t;\n"
    "typedef __UINT32_TYPE__ uint32_t;\n"
    "typedef __UINT64_TYPE__ uint64_t;\n"
    "typedef __SIZE_TYPE__ size_t;\n"
    "#define NULL ((void *)0)\n"
    "\n"
    "typedef struct tc_spec {\n"
    "    tc_dtype dtype;\n"
    "    int rank;\n"
    "    int64_t dims[TC_MAX_RANK];\n"
    "} tc_spec;\n"
    "\n"
    "typedef struct tc_buffer {\n"
    "    void *data;\n"
    "    tc_spec spec;\n"
    "} tc_buffer;\n"
    "\n"
    "typedef struct tc_call {\n"
    "    void *user;\n"
    "    const tc_buffer *in, *out;\n"
    "    int n_in;\n"
    "    tc_status status;\n"
    "} tc_call;\n"
    "\n"
    "typedef struct tc_kargs {\n"
    "    void *const *buf; // of the kernel of a custom op: its tc_call\n"
    "} tc_kargs;\n"
    "\n";

TC__STATIC_ASSERT(custom_rank_is_the_same, TC_MAX_RANK == 8);

// "TC_F32"
static void tc__put_dtype_name(tc__text *out, int dtype) {
    tc__put(out, "TC_");
    for (const char *s = tc__dtypes[dtype].name; *s; s++)
        tc__put(out, "%c", *s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
}

static void tc__put_dtype_names(tc__text *out) {
    tc__put(out, "typedef enum tc_dtype { ");
    for (int t = 0; t < TC_DTYPE_COUNT; t++) {
        if (t) tc__put(out, ", ");
        tc__put_dtype_name(out, t);
    }
    tc__put(out, " } tc_dtype;\n");
}

static void tc__put_names(tc__text *out) {
    tc__put(out, "typedef int tc_status;\nenum { TC_OK");
    for (int i = 0; i < TC__ERRORS; i++)
        tc__put(out, ", %s = %d", tc__errors[i].name, -i - 1);
    tc__put(out, " };\n");
    tc__put_dtype_names(out);
}

// The user's op that an OPAQUE group calls, NULL = it is one of ours.
static const tc__custom *tc__custom_of_group(tc_ctx *c, const tc__group *g) {
    return tc__is_custom(g) ? tc__custom_at(c, g->body.node.at[0]->attr[TC__CALL_WORD])
                            : NULL;
}

// Whether the kernel has text: functions of the host's and of this library have none.
TC__UNUSED static int tc__has_source(tc_ctx *c, const tc__group *g) {
    const tc__custom *o = tc__custom_of_group(c, g);
    return o ? o->op.c_source != NULL : g->shape.kind != TC__OPAQUE;
}

// Appends the unit of a user's op. The name is declared static first, so that no function of the
// host program with that name takes its place.
static int tc__print_custom(tc__text *out, const tc__group *g, const char *symbol) {
    const tc__custom *o = tc__custom_of_group(out->ctx, g);
    const char *source = o->op.c_source;
    if (!source)
        return tc__fail(out->ctx, TC_E_UNSUPPORTED,
                        "custom op \"%s\" has no c_source to print", o->op.name);
    tc__put(out, "\n// %s: custom op %s\n", symbol, o->op.name);
    tc__put_names(out);
    tc__put(out, "%s", tc__text_custom);
    tc__put(out,
            "static tc_status %s(void *user, const tc_buffer *in, int n_in, const "
            "tc_buffer *out);\n\n#line 1 \"custom op %s\"\n",
            o->op.name, o->op.name);
    tc__put_raw(out, source, strlen(source));
    tc__put(
        out,
        "\n\n__attribute__((visibility(\"default\"))) void %s(const tc_kargs *a, int64_t "
        "lo,\n    int64_t hi, int32_t worker) {\n"
        "    tc_call *call = (tc_call *)a->buf[0];\n"
        "    (void)lo, (void)hi, (void)worker;\n"
        "    call->status = %s(call->user, call->in, call->n_in, call->out);\n}\n",
        symbol, o->op.name);
    return !out->failed;
}
