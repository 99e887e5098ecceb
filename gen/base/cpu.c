// What the CPU can do, what of it a context may use, and the flags that its kernels are compiled with.

enum {
    TC__CPU_AVX2 = 1,
    TC__CPU_FMA = 2,
    TC__CPU_F16C = 4,
    TC__CPU_AVX512F = 8, // with BW, DQ and VL
    TC__CPU_NEON = 16,
    TC__CPU_ASKED = 32, // in tc__core
    TC__CPU_VNNI = 64,  // of AVX-512
    TC__CPU_BF16 = 128, // of AVX-512
    TC__CPU_AMX = 256,  // tiles of bytes and bf16, which the system lets this process use
    TC__CPU_WIDE =
        TC__CPU_AVX2 | TC__CPU_FMA | TC__CPU_F16C // what eight lanes are written for
};

#if TC__X86 && TC__GNUC
typedef struct tc__cpuid {
    uint32_t a, b, c, d;
} tc__cpuid;

static tc__cpuid tc__cpuid_at(uint32_t leaf, uint32_t part) {
    tc__cpuid r;
    __asm__ volatile("cpuid"
                     : "=a"(r.a), "=b"(r.b), "=c"(r.c), "=d"(r.d)
                     : "a"(leaf), "c"(part));
    return r;
}

static tc__cpuid tc__cpuid_of(uint32_t leaf) { return tc__cpuid_at(leaf, 0); }

// Which vector registers the system saves at a task switch (the XCR0 register).
static uint32_t tc__cpu_saved_state(void) {
    uint32_t low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    (void)high;
    return low;
}

// Asks the system for AMX's tiles, as every process has to, once: 8 KB of state for each thread that uses them. It says no
// where an alternate stack for signals is too small to hold them.
static int tc__cpu_tiles(const tc__cpuid *seven, uint32_t saved) {
    enum { REQUEST = 0x1023, TILES = 18 }; // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    const uint32_t amx = 1u << 22 | 1u << 24 | 1u << 25; // bf16, tiles, int8
    if ((seven->d & amx) != amx || (saved >> 17 & 3u) != 3u) return 0;
#    if TC__LINUX && defined(SYS_arch_prctl)
    return !syscall(SYS_arch_prctl, REQUEST, TILES);
#    else
    return (int)REQUEST * 0;
#    endif
}

TC__UNUSED static unsigned tc__cpu_features(void) {
    const uint32_t avx512 = 1u << 16 | 1u << 17 | 1u << 30 | 1u << 31; // F, DQ, BW, VL
    tc__cpuid one = tc__cpuid_of(1), seven;
    unsigned found = 0;
    uint32_t saved;
    if (tc__cpuid_of(0).a < 7 || !(one.c >> 27 & 1u)) return 0; // no leaf 7 or no OSXSAVE
    seven = tc__cpuid_of(7);
    saved = tc__cpu_saved_state();
    if ((saved & 6u) != 6u) return 0; // xmm, ymm
    if (seven.b >> 5 & 1u) found |= TC__CPU_AVX2;
    if (one.c >> 12 & 1u) found |= TC__CPU_FMA;
    if (one.c >> 29 & 1u) found |= TC__CPU_F16C;
    if ((saved & 0xe0u) != 0xe0u || (seven.b & avx512) != avx512) return found;
    found |= TC__CPU_AVX512F;
    if (seven.c >> 11 & 1u) found |= TC__CPU_VNNI;
    if (seven.a && tc__cpuid_at(7, 1).a >> 5 & 1u) found |= TC__CPU_BF16;
    if (tc__cpu_tiles(&seven, saved)) found |= TC__CPU_AMX;
    return found;
}
#elif TC__ARM64
TC__UNUSED static unsigned tc__cpu_features(void) {
    return TC__CPU_NEON; // part of the architecture
}
#else
TC__UNUSED static unsigned tc__cpu_features(void) { return 0; }
#endif

// gcc's flags, and those with AVX-512. They give the speed of -O2's code in less time. What gcc's -O2 adds, and two passes
// of its -O1 that find little in texts like ours, take a quarter of its instructions and change 0.2 % of those in
// innermost loops (a multiply-add is not formed then, which is for TC_NUMERICS_FAST to ask). With the 32 registers of
// AVX-512 they pay (sin + cos 4.2 against 7.6 ms), and gcc may order instructions before it gives out registers,
// which overlaps the copies of an unrolled body (5.70 -> 4.67 ms); with 16 it would spill.
TC__UNUSED static const char *const tc__gcc_flags[] = {
    "-O1 -fno-tree-ccp -fno-tree-dominator-opts",
    "-O1 -fexpensive-optimizations -fgcse -fschedule-insns"};

// All that tells what the CPU can do, as text: what a compiler makes of -march=native depends on it.
#if TC__X86 && TC__GNUC
TC__UNUSED static void tc__cpu_put(tc__text *t) {
    static const uint32_t leaf[] = {0, 1, 7, 0x14, 0x19, 0x80000001u, 0x80000008u};
    for (size_t i = 0; i < TC__COUNT(leaf); i++) {
        tc__cpuid top = tc__cpuid_of(leaf[i] & 0x80000000u), r;
        if (leaf[i] > top.a) continue;
        r = tc__cpuid_of(leaf[i]);
        if (leaf[i] == 1) r.b = 0; // the core that this runs on
        tc__put(t, "cpuid %x %x %x %x %x\n", leaf[i], r.a, r.b, r.c, r.d);
    }
    if (tc__cpuid_of(1).c >> 27 & 1u) tc__put(t, "saved %x\n", tc__cpu_saved_state());
}
#elif TC__LINUX
TC__UNUSED static void tc__cpu_put(tc__text *t) {
    tc__put(t, "cpu %lx %lx\n", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#else
TC__UNUSED static void tc__cpu_put(tc__text *t) { (void)t; }
#endif

// What context c may use of it: the one place that interpreter, kernels and the compiler's flags ask.
// The CPU is asked once per context: a virtual machine takes 20 us to answer.
static unsigned tc__cpu_of(tc_ctx *c) {
    tc__core *core = tc__core_of(c);
    if (!core->cpu) core->cpu = tc__cpu_features() | TC__CPU_ASKED;
    return core->cpu & ~(unsigned)TC__CPU_ASKED;
}

// From now on it uses these features at most.
static void tc__cpu_limit(tc_ctx *c, unsigned most) {
    tc__core_of(c)->cpu = (tc__cpu_of(c) & most) | TC__CPU_ASKED;
}

// Which CPU it is, beyond what it can do: family, model and stepping; 0 = not told.
#if TC__X86 && TC__GNUC
TC__UNUSED static uint32_t tc__cpu_model(void) { return tc__cpuid_of(1).a; }
#else
TC__UNUSED static uint32_t tc__cpu_model(void) { return 0; }
#endif
