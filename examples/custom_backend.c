// A backend of one's own: it prints each graph that it is given once, counts its runs, and has the
// interpreter compute them. The place to begin for one that does the computing itself.
//
// Build: cc -O2 -I. examples/custom_backend.c -o custom_backend -lpthread -ldl
// Prints the graph of a function after all passes, once for each set of sizes; what is in every node;
// how often each ran; and what becomes of an error. Exit status 1 if anything is not as said.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct totals {
    int graphs, runs, freed, refuse;
} totals;

// What it keeps of one graph: the graph lives as long.
typedef struct seen {
    const tc_graph *graph;
    int runs;
} seen;

static void print_node(const tc_graph *g, int i) {
    const tc_graph_node *n = &g->node[i];
    printf("        %d: %s of", i, n->op);
    for (int k = 0; k < n->n_in; k++) printf(" %d", n->in[k]);
    printf("%s gives %s[", n->n_in ? "" : " nothing", tc_dtype_name(n->spec.dtype));
    for (int d = 0; d < n->spec.rank; d++)
        printf("%s%lld", d ? "," : "", (long long)n->spec.dims[d]);
    printf("]\n");
}

// Called once for each program.
static tc_status show_compile(void *user, const tc_graph *g, void **state,
                              const char **why) {
    totals *t = (totals *)user;
    if (t->refuse) {
        *why = "it has seen enough";
        return TC_E_UNSUPPORTED;
    }
    seen *s = (seen *)calloc(1, sizeof *s);
    if (!s) return TC_E_NOMEM;
    printf("    \"%s\": %d nodes, %d inputs, %d outputs\n%s", g->name, g->n_node,
           g->n_input, g->n_output, tc_graph_text(g));
    for (int i = 0; i < g->n_node && !t->graphs; i++) print_node(g, i);
    t->graphs++;
    s->graph = g, *state = s;
    return TC_OK;
}

// Called at every run, with memory for inputs and outputs.
static tc_status show_run(void *user, void *state, const tc_graph_run *run) {
    seen *s = (seen *)state;
    s->runs++, ((totals *)user)->runs++;
    return run->n_in == s->graph->n_input ? tc_graph_forward(run) : TC_E_INTERNAL;
}

static void show_forget(void *user, void *state) {
    seen *s = (seen *)state;
    printf("    \"%s\" ran %d times\n", s->graph->name, s->runs);
    ((totals *)user)->freed++;
    free(s);
}

static void normalize(tc_ctx *tc, const tc_tensor *in, tc_tensor *out, void *user) {
    (void)tc, (void)user;
    out[0] = tc_div(in[0], tc_add_s(tc_sum_dims(in[0], TC_DIMS(1), TC_KEEPDIM), 1));
}

// x = [1 2 3 ...] in rows of `columns`: each is divided by the sum of its row and one.
static int call(tc_ctx *tc, tc_fn *f, int columns) {
    float got[64];
    tc_scope_begin(tc);
    tc_tensor x = tc_add_s(tc_arange(tc, 0, 2 * columns, 1, TC_F32), 1), y;
    x = tc_reshape(x, TC_DIMS(2, columns));
    tc_status s = tc_call(f, &x, 1, &y, 1);
    if (!s) s = tc_read(y, got, (size_t)(2 * columns) * sizeof *got);
    tc_scope_end(tc);
    float sum = 1 + (float)(columns * (columns + 1)) / 2;
    return !s && got[columns - 1] == (float)columns / sum;
}

int main(void) {
    totals t;
    tc_backend b;
    tc_options o = tc_options_default();
    tc_ctx *tc = tc_open(NULL);
    if (!tc) return 1;
    memset(&t, 0, sizeof t);
    memset(&b, 0, sizeof b);
    b.name = "show", b.doc = "prints graphs, counts runs", b.user = &t;
    b.compile = show_compile, b.run = show_run, b.forget = show_forget;
    if (tc_register_backend(tc, &b)) return 1;

    printf("two sizes, four calls each:\n");
    o.backend = "show";
    tc_fn *f = tc_compile(tc, normalize, NULL, 0, &o);
    int ok = 1;
    for (int i = 0; i < 8; i++) ok &= call(tc, f, i % 2 ? 5 : 4);
    ok &= t.graphs == 2 && t.runs == 8 && !tc_error(tc);

    printf("a third size, which it refuses:\n");
    t.refuse = 1;
    ok &= !call(tc, f, 6);
    printf("    %s\n", tc_error_text(tc));
    ok &= tc_error(tc) == TC_E_COMPILER;
    tc_error_clear(tc);

    printf("at the end of the context:\n");
    tc_close(tc);
    printf("%d graphs, %d runs\n", t.graphs, t.runs);
    return !ok || t.freed != 2;
}
