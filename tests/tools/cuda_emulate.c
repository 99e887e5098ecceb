// The runtime of the emulator: the threads of a block are fibers on the caller's thread, which
// change only where they wait. Blocks run one after the other, each to its end, so tickets
// and look-back find what they wait for; the blocks of a cluster run together.
//
// What a GPU leaves undefined is an error here: threads that disagree about a barrier or a
// shuffle, accesses outside of memory, and waits that cannot end. The order of threads changes
// from block to block, so that results without a barrier between them differ. A launch that
// fails leaves its fibers where they are.
//
// New memory and shared memory are NaN, -1 as integers (not 0xA5, which as f32 is -3e-16
// and changes no sum that a test would notice). cp.async copies when it is waited for and
// no sooner. Accesses outside are found by pages that cannot be touched and patterns around
// each allocation and shared variable, not each tensor of an arena. Approximations, sums of
// mma and libm's functions are not a GPU's to the last bit; occupancy, memory models and
// speed do not show. EMULATE_KEEP=1 keeps the C++ and says where.
#include "tools/cuda_emulate_image.h"

#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    STACK = 64 << 10, // of a fiber, with a page that cannot be touched at its low end
    MOST_STATIC = 48 << 10,
    MOST_SHARED = 232448, // of a block, static and dynamic
    AROUND = 64,          // bytes behind each shared variable
    STATIC_ROOM = 128 << 10,
    DYNAMIC_ROOM = 240 << 10,
    SHARED_STRIDE = PAGE + STATIC_ROOM + PAGE + DYNAMIC_ROOM + PAGE,
    DYNAMIC_ALIGN = 1024,
    SLOTS = 512,          // shared variables of a launch
    BARRIERS = 16,        // of a block
    IDLE_ROUNDS = 100000, // of threads that do nothing but wait for memory to change
    CPU_SECONDS = 40      // of a launch, unless EMULATE_SECONDS says other
};

// ---- fibers

#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(EMU_UCONTEXT)
typedef void *context;

// Leaves the running context in *from and goes on in `to`.
void emu_switch(context *from, context to);

#    ifdef __x86_64__
enum { SAVED = 8, ENTRY = 6 }; // words on the stack of one that waits; where it goes on
__asm__(".text\n.hidden emu_switch\n.globl emu_switch\n.type emu_switch,@function\n"
        "emu_switch:\n"
        "push %rbp\npush %rbx\npush %r12\npush %r13\npush %r14\npush %r15\n"
        "mov %rsp, (%rdi)\nmov %rsi, %rsp\n"
        "pop %r15\npop %r14\npop %r13\npop %r12\npop %rbx\npop %rbp\nret\n"
        ".size emu_switch,.-emu_switch\n");
#    else
enum { SAVED = 20, ENTRY = 19 };
__asm__(".text\n.hidden emu_switch\n.globl emu_switch\n.type emu_switch,%function\n"
        "emu_switch:\n"
        "sub sp, sp, #160\n"
        "stp d8, d9, [sp]\nstp d10, d11, [sp, #16]\n"
        "stp d12, d13, [sp, #32]\nstp d14, d15, [sp, #48]\n"
        "stp x19, x20, [sp, #64]\nstp x21, x22, [sp, #80]\n"
        "stp x23, x24, [sp, #96]\nstp x25, x26, [sp, #112]\n"
        "stp x27, x28, [sp, #128]\nstp x29, x30, [sp, #144]\n"
        "mov x9, sp\nstr x9, [x0]\nmov sp, x1\n"
        "ldp d8, d9, [sp]\nldp d10, d11, [sp, #16]\n"
        "ldp d12, d13, [sp, #32]\nldp d14, d15, [sp, #48]\n"
        "ldp x19, x20, [sp, #64]\nldp x21, x22, [sp, #80]\n"
        "ldp x23, x24, [sp, #96]\nldp x25, x26, [sp, #112]\n"
        "ldp x27, x28, [sp, #128]\nldp x29, x30, [sp, #144]\n"
        "add sp, sp, #160\nret\n"
        ".size emu_switch,.-emu_switch\n");
#    endif

// A context that begins in `function`, on the stack that ends at `top`.
static void context_make(context *c, unsigned char *top, void (*function)(void)) {
    uintptr_t *at = (uintptr_t *)(void *)top - SAVED;
    memset(at, 0, SAVED * sizeof *at);
    at[ENTRY] = (uintptr_t)function;
    *c = at;
}
#else // the same with what POSIX had: a call of the system for each change
#    include <ucontext.h>
typedef ucontext_t *context;
enum { KEPT = 2048 }; // bytes at the end of a stack for its context

static void emu_switch(context *from, context to) {
    ucontext_t here;
    *from = &here;
    swapcontext(&here, to);
}

static void context_make(context *c, unsigned char *top, void (*function)(void)) {
    ucontext_t *u = (ucontext_t *)(void *)(top - KEPT);
    getcontext(u);
    u->uc_stack.ss_sp = top - (STACK - PAGE);
    u->uc_stack.ss_size = STACK - PAGE - KEPT;
    u->uc_link = NULL;
    makecontext(u, function, 0);
    *c = u;
}
#endif

typedef enum state { READY, IN_BARRIER, IN_WARP, IN_CLUSTER, ENDED } state;

typedef struct copy {
    void *to;
    const void *from;
    unsigned size, filled; // bytes copied, and zeroes behind them
    int group;             // -1 = not committed
} copy;

typedef struct fiber {
    emu_thread self;
    context context;
    struct block *block;
    state state;
    int barrier, line;
    const char *what;  // it waits for
    unsigned mask;     // IN_WARP
    void *mine;        // "
    emu_finish finish; // "
    int phase;         // of the cluster's barrier, that it waits for
    copy *copies;      // of malloc; in the order they were begun
    int n_copies, most_copies, groups;
} fiber;

typedef struct barrier {
    int arrived, need, line, votes, result;
} barrier;

// Lanes of a warp: who waits in an exchange, the last of them, and who has ended or never was.
typedef struct warp {
    unsigned waiting, ended;
    const fiber *last;
} warp;

typedef struct block {
    fiber *fiber; // `threads` of them
    warp warp[EMU_THREADS / EMU_WARP];
    int threads, ended;
    unsigned char *room; // shared memory with what is around it
    barrier barrier[BARRIERS];
} block;

typedef struct variable {
    const char *name;
    size_t at, size;
} variable;

// The launch that runs: one at a time.
static struct {
    const emu_launch *launch;
    int code;
    char *why;
    size_t why_room;
    context scheduler;
    fiber *running;
    block block[EMU_CLUSTER];
    int blocks, threads; // running together; of all of them
    unsigned turn;       // number of the group of blocks
    int cluster_arrived, cluster_phase;
    int progress, yields; // in this round
    variable variable[SLOTS];
    int variables;
    size_t static_used, static_size; // with what is around them, and without
    size_t dynamic_at;               // in the room of a block
    int seconds;                     // of CPU time, at most
} run;

static fiber *fibers; // of malloc, for as many threads as ever ran together
static int most_fibers;
static unsigned char *stacks, *rooms;
static int launches;

// ---- failures

static const char *name_of(const fiber *f, char text[120]) {
    const emu_thread *t = &f->self;
    snprintf(text, 120, "thread (%u,%u,%u) of block (%u,%u,%u)", t->thread.x, t->thread.y,
             t->thread.z, t->block.x, t->block.y, t->block.z);
    return text;
}

__attribute__((format(printf, 2, 3))) static void note(int code, const char *format, ...) {
    va_list list;
    if (run.code) return;
    run.code = code;
    int n = snprintf(run.why, run.why_room, "kernel %s: ", run.launch->kernel->name);
    va_start(list, format);
    if (n >= 0 && (size_t)n < run.why_room)
        vsnprintf(run.why + n, run.why_room - (size_t)n, format, list);
    va_end(list);
}

// To the scheduler, for good.
__attribute__((noreturn)) static void leave(void) {
    static context nowhere;
    emu_switch(&nowhere, run.scheduler);
    abort();
}

static const char *put_where(const void *at, char *text, size_t room) {
    const unsigned char *p = (const unsigned char *)at;
    size_t all = (size_t)SHARED_STRIDE * EMU_CLUSTER,
           stack = (size_t)STACK * (size_t)most_fibers;
    text[0] = 0;
    if (p >= rooms && p < rooms + all)
        snprintf(text, room, "outside of the block's shared memory (%u bytes dynamic)",
                 run.launch->shared);
    else if (p >= stacks && p < stacks + stack)
        snprintf(text, room, "in a thread's stack of %d bytes: it is full?", STACK);
    else if (run.launch->describe)
        run.launch->describe(at, text, room);
    return text;
}

static void fail(int code, int line, const char *what, const void *at) {
    char who[120], where[200] = "";
    if (at) put_where(at, where, sizeof where);
    if (at)
        note(code, "%s, line %d: %s: address %p %s", name_of(run.running, who), line, what,
             at, where);
    else
        note(code, "%s, line %d: %s", name_of(run.running, who), line, what);
    leave();
}

// ---- signals: a fiber that does what no thread may

static __thread int inside; // this thread runs a fiber
static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGVTALRM};
enum { SIGNALS = 6 };
static struct sigaction before[SIGNALS];

static void on_signal(int number, siginfo_t *info, void *more) {
    char who[120], where[200] = "";
    (void)more;
    if (!inside) { // not ours: as if we were not here
        for (int i = 0; i < SIGNALS; i++)
            if (signals[i] == number) sigaction(number, &before[i], NULL);
        if (number != SIGVTALRM) raise(number);
        return;
    }
    name_of(run.running, who);
    if (number == SIGSEGV && info->si_code == SI_KERNEL) // the CPU does not say where
        note(EMU_ALIGNMENT, "%s: an access that is not aligned, or at no address", who);
    else if (number == SIGSEGV || number == SIGBUS)
        note(EMU_ADDRESS, "%s: an access at address %p %s", who, info->si_addr,
             put_where(info->si_addr, where, sizeof where));
    else if (number == SIGVTALRM)
        note(EMU_ENDLESS, "%s, and %d s of CPU time are over: an endless loop?", who,
             run.seconds);
    else
        note(EMU_FAILED, "%s: %s", who,
             number == SIGFPE ? "an integer division by 0, or of the least by -1"
                              : strsignal(number));
    leave();
}

static void catch_signals(void) {
    static unsigned char *other;
    enum { OTHER = 64 << 10 };
    struct sigaction a;
    stack_t s;
    struct itimerval limit;
    if (!other) other = (unsigned char *)malloc(OTHER);
    memset(&s, 0, sizeof s);
    s.ss_sp = other;
    s.ss_size = OTHER;
    sigaltstack(&s, NULL);
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on_signal;
    a.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER; // the handler does not return
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &a, &before[i]);
    memset(&limit, 0, sizeof limit);
    limit.it_value.tv_sec = run.seconds;
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
}

static void leave_signals(void) {
    struct itimerval none;
    stack_t s;
    memset(&none, 0, sizeof none);
    setitimer(ITIMER_VIRTUAL, &none, NULL);
    for (int i = 0; i < SIGNALS; i++) sigaction(signals[i], &before[i], NULL);
    memset(&s, 0, sizeof s);
    s.ss_flags = SS_DISABLE;
    sigaltstack(&s, NULL);
}

// ---- waiting

static void wait_as(state s, const char *what, int line) {
    fiber *f = run.running;
    f->state = s;
    f->what = what;
    f->line = line;
    context *mine = &f->context;
    emu_switch(mine, run.scheduler);
}

static void wake(fiber *f) {
    f->state = READY;
    run.progress++;
}

// One that waits there; NULL = they have arrived without waiting.
static const fiber *one_in_barrier(const block *b, int id) {
    for (int i = 0; i < b->threads; i++)
        if (b->fiber[i].state == IN_BARRIER && b->fiber[i].barrier == id)
            return &b->fiber[i];
    return NULL;
}

// Fails unless all threads of the block can come to this barrier.
static void barrier_agrees(const block *b, int id, int count, int line) {
    const barrier *r = &b->barrier[id];
    char mine[120], its[120] = "some";
    if (!count && b->ended)
        fail(EMU_FAILED, line, "a barrier of all threads, some of which have ended", NULL);
    if (!r->arrived) return;
    if (!count && r->line != line) {
        const fiber *other = one_in_barrier(b, id);
        if (other) name_of(other, its);
        note(EMU_FAILED, "threads wait in different barriers: %s in line %d, %s in line %d",
             its, r->line, name_of(run.running, mine), line);
        leave();
    }
    if (r->need != (count ? count : b->threads))
        fail(EMU_FAILED, line, "threads expect different counts at a barrier", NULL);
}

static int emu_barrier(int id, int count, int wait, int vote, int line) {
    fiber *f = run.running;
    block *b = f->block;
    if (id < 0 || id >= BARRIERS || count % EMU_WARP || count > b->threads)
        fail(EMU_FAILED, line, "a barrier that there is not, or for a wrong count", NULL);
    barrier_agrees(b, id, count, line);
    barrier *r = &b->barrier[id];
    r->need = count ? count : b->threads;
    r->line = line;
    r->votes += vote;
    if (++r->arrived == r->need) {
        r->result = r->votes;
        r->arrived = r->votes = 0;
        run.progress++;
        for (int i = 0; i < b->threads; i++)
            if (b->fiber[i].state == IN_BARRIER && b->fiber[i].barrier == id)
                wake(&b->fiber[i]);
    } else if (wait) {
        f->barrier = id;
        wait_as(IN_BARRIER, "a barrier", line);
    }
    return r->result;
}

static fiber *lane_of(const fiber *f, int lane) {
    int at = (int)(f - f->block->fiber) / EMU_WARP * EMU_WARP + lane;
    return at < f->block->threads ? &f->block->fiber[at] : NULL;
}

static warp *warp_of(const fiber *f) {
    return &f->block->warp[(f - f->block->fiber) / EMU_WARP];
}

// Finishes the exchange that the lane waits in, if all who are alive are there.
static int meet_ends(const fiber *f) {
    void *mine[EMU_WARP];
    warp *w = warp_of(f);
    unsigned present = f->mask & ~w->ended;
    if (present & ~w->waiting) return 0;
    for (int l = 0; l < EMU_WARP; l++) {
        if (!(present >> l & 1)) continue;
        const fiber *other = lane_of(f, l);
        if (other->mask != f->mask) return 0;
        mine[l] = other->mine;
    }
    f->finish(mine, present);
    w->waiting &= ~present;
    for (int l = 0; l < EMU_WARP; l++)
        if (present >> l & 1) wake(lane_of(f, l));
    return 1;
}

// Whether all lanes that wait are in the lane's mask, and one does the same: then so do all, since those agreed.
static int meet_is_known(const fiber *f, int line) {
    const warp *w = warp_of(f);
    if (!w->waiting) return 1;
    return !(w->waiting & ~f->mask) && w->last->mask == f->mask && w->last->line == line &&
           w->last->finish == f->finish && w->waiting >> w->last->self.lane & 1;
}

// Fails if another lane that is to take part does something else.
static void meet_agrees(const fiber *f, const char *what, int line) {
    char text[200];
    if (!(f->mask >> f->self.lane & 1))
        fail(EMU_FAILED, line, "the mask of a shuffle or vote lacks the lane itself", NULL);
    if (meet_is_known(f, line)) return;
    for (int l = 0; l < EMU_WARP; l++) {
        const fiber *other = lane_of(f, l);
        if (!other || other == f || other->state != IN_WARP) continue;
        if (!(other->mask & f->mask)) continue;
        if (other->mask == f->mask && other->line == line && other->finish == f->finish)
            continue;
        snprintf(
            text, sizeof text,
            "lanes of a warp disagree: %s with mask %08x, and lane %d is in %s of line "
            "%d with mask %08x",
            what, f->mask, l, other->what, other->line, other->mask);
        fail(EMU_FAILED, line, text, NULL);
    }
}

static void emu_meet(unsigned mask, void *mine, emu_finish finish, const char *what,
                     int line) {
    fiber *f = run.running;
    f->mask = mask;
    f->mine = mine;
    f->finish = finish;
    meet_agrees(f, what, line);
    f->state = IN_WARP;
    warp_of(f)->waiting |= 1u << f->self.lane, warp_of(f)->last = f;
    if (!meet_ends(f)) wait_as(IN_WARP, what, line);
}

static void emu_yield(int line) {
    run.yields++;
    wait_as(READY, "memory to change", line);
}

// Opens the cluster's barrier, if all who are alive have arrived.
static void cluster_ends(void) {
    if (!run.cluster_arrived) return;
    for (int i = 0; i < run.threads; i++)
        if (fibers[i].state != ENDED && fibers[i].phase <= run.cluster_phase) return;
    run.cluster_arrived = 0;
    run.cluster_phase++;
    run.progress++;
    for (int i = 0; i < run.threads; i++)
        if (fibers[i].state == IN_CLUSTER && fibers[i].phase <= run.cluster_phase)
            wake(&fibers[i]);
}

static void emu_cluster_arrive(int line) {
    fiber *f = run.running;
    if (f->phase > run.cluster_phase)
        fail(EMU_FAILED, line, "arrives twice at the cluster's barrier", NULL);
    f->phase = run.cluster_phase + 1;
    run.cluster_arrived++;
    cluster_ends();
}

static void emu_cluster_wait(int line) {
    if (run.running->phase > run.cluster_phase)
        wait_as(IN_CLUSTER, "the cluster's barrier", line);
}

// ---- shared memory: of each block a room, variables at its begin, what is dynamic at the end

static unsigned char *static_of(const block *b) { return b->room + PAGE; }

static unsigned char *dynamic_of(const block *b) { return b->room + run.dynamic_at; }

static void around(const unsigned char *at, size_t size, const char *what) {
    for (size_t i = 0; i < size; i++) {
        if (at[i] == EMU_AROUND) continue;
        note(EMU_ADDRESS, "a write %zu bytes behind __shared__ %s", i, what);
        return;
    }
}

static void lay_out_variable(const block *b, const variable *v) {
    memset(static_of(b) + v->at, EMU_POISON, v->size);
    memset(static_of(b) + v->at + v->size, EMU_AROUND, AROUND);
}

// Variables are met as they are executed. A slot holds the launch, and its number in it.
static void *emu_shared(int *slot, size_t size, size_t align, const char *name) {
    if (*slot / SLOTS != launches) {
        variable *v = &run.variable[run.variables];
        *slot = launches * SLOTS + run.variables++;
        v->name = name;
        v->size = size;
        v->at = (run.static_used + align - 1) / align * align;
        run.static_used = v->at + size + AROUND;
        run.static_size += size;
        if (run.variables == SLOTS || run.static_size > MOST_STATIC ||
            run.static_used > STATIC_ROOM)
            fail(EMU_FAILED, 0, "more than 48 KiB of static __shared__ variables", NULL);
        for (int i = 0; i < run.blocks; i++) lay_out_variable(&run.block[i], v);
    }
    return static_of(run.running->block) + run.variable[*slot % SLOTS].at;
}

// Is it all in this block's shared memory?
static void emu_in_shared(const void *at, size_t size, const char *what, int line) {
    const block *b = run.running->block;
    const unsigned char *p = (const unsigned char *)at;
    const unsigned char *end = dynamic_of(b) + run.launch->shared;
    if (p >= static_of(b) && p + size <= static_of(b) + run.static_used) return;
    if (p >= dynamic_of(b) && p + size <= end) return;
    fail(EMU_ADDRESS, line, what, at);
}

static void *emu_mapped(const void *shared, unsigned rank, int line) {
    if (rank >= (unsigned)run.blocks)
        fail(EMU_FAILED, line, "a block of the cluster that there is not", NULL);
    emu_in_shared(shared, 1, "a mapped address that is not in shared memory", line);
    return run.block[rank].room +
           ((const unsigned char *)shared - run.running->block->room);
}

static void shared_begin(block *b) {
    unsigned char *d = dynamic_of(b);
    size_t size = run.launch->shared, end = SHARED_STRIDE - PAGE;
    memset(d - run.dynamic_at % PAGE, EMU_AROUND, run.dynamic_at % PAGE);
    memset(d, EMU_POISON, size);
    memset(d + size, EMU_AROUND, end - run.dynamic_at - size);
    for (int i = 0; i < run.variables; i++) lay_out_variable(b, &run.variable[i]);
}

static void shared_end(const block *b) {
    const unsigned char *d = dynamic_of(b);
    size_t size = run.launch->shared, end = SHARED_STRIDE - PAGE;
    around(d - run.dynamic_at % PAGE, run.dynamic_at % PAGE, "memory before dynamic one");
    around(d + size, end - run.dynamic_at - size, "dynamic memory");
    for (int i = 0; i < run.variables; i++) {
        const variable *v = &run.variable[i];
        around(static_of(b) + v->at + v->size, AROUND, v->name);
    }
    if (size + run.static_size > MOST_SHARED)
        note(EMU_FAILED, "needs %zu bytes of shared memory, a block has %d",
             size + run.static_size, MOST_SHARED);
}

// Dynamic memory ends where the room does, as nearly as it is aligned; before it nothing can
// be touched.
static int shared_lay_out(void) {
    size_t all = (size_t)SHARED_STRIDE * EMU_CLUSTER,
           size = (run.launch->shared + DYNAMIC_ALIGN - 1) / DYNAMIC_ALIGN * DYNAMIC_ALIGN;
    if (!rooms) {
        void *p = mmap(NULL, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED) return 0;
        rooms = (unsigned char *)p;
    }
    run.dynamic_at = SHARED_STRIDE - PAGE - size;
    for (int i = 0; i < run.blocks; i++) {
        size_t open = run.dynamic_at / PAGE * PAGE, first = PAGE + STATIC_ROOM;
        run.block[i].room = rooms + (size_t)i * SHARED_STRIDE;
        mprotect(run.block[i].room + PAGE, STATIC_ROOM, PROT_READ | PROT_WRITE);
        mprotect(run.block[i].room + first, open - first, PROT_NONE);
        mprotect(run.block[i].room + open, SHARED_STRIDE - PAGE - open,
                 PROT_READ | PROT_WRITE);
    }
    return 1;
}

// ---- asynchronous copies

static void emu_copy(void *to, const void *from, unsigned size, unsigned filled, int line) {
    fiber *f = run.running;
    uintptr_t both = (uintptr_t)to | (size ? (uintptr_t)from : 0);
    if (both % (size + filled))
        fail(EMU_ALIGNMENT, line, "an asynchronous copy that is not aligned", from);
    emu_in_shared(to, size + filled, "an asynchronous copy that is not to shared memory",
                  line);
    if (f->n_copies == f->most_copies) {
        f->most_copies = f->most_copies ? 2 * f->most_copies : 16;
        f->copies = (copy *)realloc(f->copies, (size_t)f->most_copies * sizeof *f->copies);
        if (!f->copies) abort();
    }
    copy c = {to, from, size, filled, -1};
    f->copies[f->n_copies++] = c;
}

static void emu_copy_commit(void) {
    fiber *f = run.running;
    for (int i = 0; i < f->n_copies; i++)
        if (f->copies[i].group < 0) f->copies[i].group = f->groups;
    f->groups++;
}

static void emu_copy_wait(int open) {
    fiber *f = run.running;
    int kept = 0;
    for (int i = 0; i < f->n_copies; i++) {
        copy c = f->copies[i];
        if (open >= 0 && (c.group < 0 || c.group >= f->groups - open)) {
            f->copies[kept++] = c;
            continue;
        }
        if (c.size) memcpy(c.to, c.from, c.size);
        memset((unsigned char *)c.to + c.size, 0, c.filled);
    }
    f->n_copies = kept;
}

static const emu_calls calls = {emu_barrier,      emu_meet,      emu_shared,
                                emu_in_shared,    emu_mapped,    emu_cluster_arrive,
                                emu_cluster_wait, emu_yield,     emu_copy,
                                emu_copy_commit,  emu_copy_wait, fail};

// ---- the scheduler

static void thread_ends(fiber *f) {
    block *b = f->block;
    char who[120];
    emu_copy_wait(-1);
    f->state = ENDED;
    warp_of(f)->ended |= 1u << f->self.lane;
    b->ended++;
    run.progress++;
    const barrier *r = &b->barrier[0];
    if (r->arrived && r->need == b->threads) {
        const fiber *other = one_in_barrier(b, 0);
        note(EMU_FAILED, "a thread has ended, and %s waits in the barrier of line %d",
             name_of(other, who), other->line);
        return;
    }
    for (int l = 0; l < EMU_WARP; l++) {
        const fiber *other = lane_of(f, l);
        if (other && other->state == IN_WARP && (other->mask >> f->self.lane & 1) &&
            meet_ends(other))
            break;
    }
    cluster_ends();
}

static void fiber_main(void) {
    run.launch->kernel->call(run.launch->params);
    thread_ends(run.running);
    leave();
}

// The i-th to run of n: rising, falling or mixed, by the number of the block.
static int position(int i, int n) {
    static const int steps[] = {7, 11, 13, 17, 1};
    int step = 0;
    if (run.turn % 3 == 0) return i;
    if (run.turn % 3 == 1) return n - 1 - i;
    while (steps[step] > 1 && n % steps[step] == 0) step++;
    return (int)((long)i * steps[step] % n);
}

static void no_end(void) {
    char text[400] = "", who[120];
    size_t n = 0;
    int shown = 0;
    for (int i = 0; i < run.threads && shown < 3; i++) {
        const fiber *f = &fibers[i];
        int same = shown && f->state != ENDED && f->line == fibers[i - 1].line;
        if (f->state == ENDED || same) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%s waits for %s in line %d",
                              shown++ ? "; " : "", name_of(f, who), f->what, f->line);
        if (n >= sizeof text) break;
    }
    note(EMU_FAILED, "threads wait for what never comes: %s", text);
}

static void schedule(void) {
    for (int idle = 0; !run.code;) {
        int ran = 0, ended = 0;
        run.progress = run.yields = 0;
        for (int i = 0; i < run.threads && !run.code; i++) {
            fiber *f = &fibers[position(i, run.threads)];
            ended += f->state == ENDED;
            if (f->state != READY) continue;
            ran++;
            run.running = f;
            *run.launch->image->self = &f->self;
            emu_switch(&run.scheduler, f->context);
        }
        if (ended == run.threads) return;
        idle = ran == run.yields && !run.progress ? idle + 1 : 0;
        if (!run.code && (!ran || idle > IDLE_ROUNDS)) no_end();
    }
}

static emu_dim dim_of(const unsigned v[3]) {
    emu_dim d = {v[0], v[1], v[2]};
    return d;
}

// The i-th of what a box has, x first.
static emu_dim nth(unsigned i, emu_dim box) {
    emu_dim d = {i % box.x, i / box.x % box.y, i / box.x / box.y};
    return d;
}

static void block_begin(block *b, int rank, emu_dim at, emu_dim in_cluster,
                        emu_dim cluster) {
    emu_dim threads = dim_of(run.launch->block), blocks = dim_of(run.launch->grid);
    memset(b->barrier, 0, sizeof b->barrier);
    b->ended = 0;
    b->threads = (int)(threads.x * threads.y * threads.z);
    b->fiber = fibers + rank * b->threads;
    shared_begin(b);
    for (int i = 0; i < b->threads; i += EMU_WARP) {
        int lanes = b->threads - i;
        warp w = {0, lanes < EMU_WARP ? ~0u << lanes : 0, NULL};
        b->warp[i / EMU_WARP] = w;
    }
    for (int i = 0; i < b->threads; i++) {
        fiber *f = &b->fiber[i];
        emu_thread self = {nth((unsigned)i, threads),
                           at,
                           threads,
                           blocks,
                           in_cluster,
                           cluster,
                           (unsigned)i % EMU_WARP,
                           (unsigned)rank,
                           (unsigned)run.blocks,
                           dynamic_of(b)};
        f->self = self;
        f->block = b;
        f->state = READY;
        f->phase = 0;
        f->n_copies = f->groups = 0;
        f->what = "nothing";
        context_make(&f->context, stacks + (size_t)(f - fibers + 1) * STACK, fiber_main);
    }
}

// A cluster, or one block.
static void group_run(emu_dim first, emu_dim cluster) {
    run.cluster_arrived = run.cluster_phase = 0;
    for (int i = 0; i < run.blocks; i++) {
        emu_dim in = nth((unsigned)i, cluster);
        emu_dim at = {first.x + in.x, first.y + in.y, first.z + in.z};
        block_begin(&run.block[i], i, at, in, cluster);
    }
    inside = 1;
    schedule();
    inside = 0;
    for (int i = 0; i < run.blocks && !run.code; i++) shared_end(&run.block[i]);
    run.turn++;
}

static int fibers_reserve(int n) {
    if (n <= most_fibers) return 1;
    if (stacks) munmap(stacks, (size_t)most_fibers * STACK);
    for (int i = 0; i < most_fibers; i++) free(fibers[i].copies);
    free(fibers);
    fibers = (fiber *)calloc((size_t)n, sizeof *fibers);
    void *p = mmap(NULL, (size_t)n * STACK, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!fibers || p == MAP_FAILED) return 0;
    stacks = (unsigned char *)p;
    most_fibers = n;
    for (int i = 0; i < n; i++) mprotect(stacks + (size_t)i * STACK, PAGE, PROT_NONE);
    return 1;
}

static int prepare(emu_dim cluster) {
    emu_dim threads = dim_of(run.launch->block);
    unsigned n = threads.x * threads.y * threads.z;
    run.blocks = (int)(cluster.x * cluster.y * cluster.z);
    run.threads = (int)n * run.blocks;
    if (run.blocks > EMU_CLUSTER || run.launch->grid[0] % cluster.x ||
        run.launch->grid[1] % cluster.y || run.launch->grid[2] % cluster.z)
        note(EMU_FAILED, "%u x %u x %u blocks cannot be in clusters of %u x %u x %u",
             run.launch->grid[0], run.launch->grid[1], run.launch->grid[2], cluster.x,
             cluster.y, cluster.z);
    else if (n > EMU_THREADS || run.launch->shared > MOST_SHARED)
        note(EMU_FAILED, "%u threads and %u bytes of shared memory are too much", n,
             run.launch->shared);
    else if (!fibers_reserve(run.threads) || !shared_lay_out())
        note(EMU_FAILED, "no memory of the host for %d threads", run.threads);
    return !run.code;
}

int emu_run(const emu_launch *launch, char *why, size_t room) {
    emu_dim cluster = dim_of(launch->cluster), blocks = dim_of(launch->grid);
    memset(&run, 0, sizeof run);
    launches = launches < INT_MAX / SLOTS ? launches + 1 : 1;
    run.launch = launch;
    run.why = why;
    run.why_room = room;
    const char *seconds = getenv("EMULATE_SECONDS");
    run.seconds = seconds && atoi(seconds) > 0 ? atoi(seconds) : CPU_SECONDS;
    if (!cluster.x) cluster.x = cluster.y = cluster.z = 1;
    if (!prepare(cluster)) return run.code;
    *launch->image->calls = &calls;
    catch_signals();
    for (emu_dim at = {0, 0, 0}; at.z < blocks.z; at.z += cluster.z)
        for (at.y = 0; at.y < blocks.y; at.y += cluster.y)
            for (at.x = 0; at.x < blocks.x && !run.code; at.x += cluster.x)
                group_run(at, cluster);
    leave_signals();
    return run.code;
}

// ---- images: a shared object, whose size its own head tells

static size_t size_of(const void *bytes) {
    Elf64_Ehdr h;
    memcpy(&h, bytes, sizeof h);
    return memcmp(h.e_ident, ELFMAG, SELFMAG)
               ? 0
               : (size_t)h.e_shoff + (size_t)h.e_shnum * h.e_shentsize;
}

// The file has a new name each time: the loader takes an equal name for an equal library.
static void *load_bytes(const void *bytes, size_t size) {
    char path[] = "/tmp/tc-image-XXXXXX";
    int f = mkstemp(path);
    if (f < 0) return NULL;
    ssize_t n = write(f, bytes, size);
    close(f);
    void *library = n == (ssize_t)size ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    unlink(path);
    return library;
}

const emu_image *emu_load(const void *bytes, void **library, char *why, size_t room) {
    size_t size = size_of(bytes);
    const emu_image *image = NULL;
    *library = size ? load_bytes(bytes, size) : NULL;
    if (*library) image = (const emu_image *)dlsym(*library, "emu_image_of_text");
    if (image && image->version == EMU_VERSION) return image;
    const char *said = *library ? NULL : dlerror();
    snprintf(why, room, "this is no code for the emulator%s%s", said ? ": " : "",
             said ? said : "");
    emu_unload(*library);
    *library = NULL;
    return NULL;
}

void emu_unload(void *library) {
    if (library) dlclose(library);
}
