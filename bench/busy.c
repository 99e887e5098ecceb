// Is a kernel slower with all threads than with one where other programs want the CPUs? Each CPU has three
// processes beside this one that only compute. Means count, not medians: what a busy machine does
// to threads that wait for each other is rare and long.
#define TCOMPILE_IMPLEMENTATION
#include "tcompile.h"

#include "bench.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NEIGHBOURS = 3, MOST = 256, TURNS = 8, TURN_NS = 400000000 };

static volatile double sink;

static pid_t neighbour(void) {
    pid_t pid = fork();
    if (pid) return pid;
    alarm(120); // whatever becomes of the benchmark
    for (double x = 1;; x = x * 1.0000001 + 1e-9) sink = x;
}

typedef struct side {
    tc_ctx *tc;
    tc_tensor x;
    double ns, calls;
} side;

static side open_side(int threads, int64_t n) {
    side s;
    memset(&s, 0, sizeof s);
    s.tc = bench_open(threads);
    s.x = bench_randn(s.tc, TC_DIMS(n), 1);
    return s;
}

static void visit(side *s) {
    tc_trace_begin(s->tc, "busy");
    tc_exp(tc_sin(s->x));
    tc_trace_end(s->tc);
}

static void turn(side *s) {
    double start = bench_ns(), now;
    do {
        visit(s);
        s->calls++;
    } while ((now = bench_ns()) - start < TURN_NS);
    s->ns += now - start;
}

// One size, both sides in turn.
static int row(const char *name, int64_t n, double bar) {
    side one = open_side(1, n), all = open_side(0, n);
    visit(&one), visit(&all);
    for (int i = 0; i < TURNS; i++) turn(&one), turn(&all);
    bench_check(one.tc), bench_check(all.tc);
    double a = all.ns / all.calls, b = one.ns / one.calls;
    tc_close(one.tc), tc_close(all.tc);
    return bench_row(name, a, b, a / b, BENCH_AT_MOST, bar);
}

int main(void) {
    pid_t pid[MOST];
    int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN), n = cpus * NEIGHBOURS, missed = 0;
    if (n > MOST) n = MOST;
    for (int i = 0; i < n; i++) pid[i] = neighbour();
    bench_head("all threads", "one", "ratio");
    missed += row("exp(sin(x)) 32K f32, busy", 1 << 15, 1.3);
    missed += row("exp(sin(x)) 128K f32, busy", 1 << 17, 1.3);
    missed += row("exp(sin(x)) 1M f32, busy", 1 << 20, 1.3);
    for (int i = 0; i < n; i++) kill(pid[i], SIGKILL), waitpid(pid[i], NULL, 0);
    return bench_status(missed);
}
