// What stands for the tuner, the reports and the profiler's table where TC_NO_REPORT leaves them out: the same
// public functions, each an error that says so. Nothing else asks for them but what is here.

// Reports that `call` is left out.
static tc_status tc__no_report(tc_ctx *c, const char *call) {
    if (!c) return tc__fail_no_context(call, NULL, 0);
    tc__fail(c, TC_E_UNSUPPORTED,
             "%s: it is left out by TC_NO_REPORT; compile without that", call);
    return TC_E_UNSUPPORTED;
}

static tc_status tc__no_report_at(tc_ctx *c, const char *call, const char *file, int line) {
    tc__site site;
    site.file = file, site.line = line;
    if (c) tc__site_set(c, site);
    return tc__no_report(c, call);
}

TCDEF const char *tc_explain(tc_ctx *c) { return tc__no_report(c, "tc_explain"), ""; }

TCDEF tc_explanation tc_explain_counts(tc_ctx *c, const char *name) {
    tc_explanation none;
    memset(&none, 0, sizeof none);
    tc__no_report(c, "tc_explain_counts");
    return (void)name, none;
}

TCDEF tc_status tc_explain_html_at(tc_ctx *c, const char *path, const char *file,
                                   int line) {
    return (void)path, tc__no_report_at(c, "tc_explain_html", file, line);
}

TCDEF const char *tc_region_source(tc_ctx *c, const char *name) {
    return (void)name, tc__no_report(c, "tc_region_source"), (const char *)NULL;
}

TCDEF int tc_region_kernels(tc_ctx *c, const char *name) {
    return (void)name, tc__no_report(c, "tc_region_kernels"), 0;
}

TCDEF tc_status tc_profile_begin(tc_ctx *c) { return tc__no_report(c, "tc_profile_begin"); }

TCDEF tc_status tc_profile_end(tc_ctx *c) { return tc__no_report(c, "tc_profile_end"); }

TCDEF const char *tc_profile_text(tc_ctx *c) {
    return tc__no_report(c, "tc_profile_text"), "";
}

TCDEF tc_status tc_profile_trace_at(tc_ctx *c, const char *path, const char *file,
                                    int line) {
    return (void)path, tc__no_report_at(c, "tc_profile_trace", file, line);
}

// ---- what others call ----

static void tc__profile_free(tc_ctx *c) { (void)c; }

static int tc__program_wants_tuning(const tc__program *p) { return (void)p, 0; }

static void tc__program_tune(tc__program *p, const tc__visit *v, tc__act_fn act) {
    (void)p, (void)v, (void)act;
}
