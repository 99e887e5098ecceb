// Compiles CUDA source with NVRTC, found at run time: no GPU and no toolkit headers are
// needed.
//
//     cc -O1 tests/tools/nvrtc_check.c -ldl -o nvrtc_check
//     nvrtc_check FILE.cu [ARCH...]      default sm_80 sm_89 sm_90a; prints what ptxas says,
//         0 = all compiled
//
// NVRTC_CUBIN names a file for the last result. Exit status 77: NVRTC is not installed.
#include "nvrtc.h"

static void keep(const char *path, const nvrtc_result *r) {
    FILE *f = path ? fopen(path, "wb") : NULL;
    if (!f) return;
    fwrite(r->cubin, 1, r->cubin_size, f);
    fclose(f);
}

static int check(const char *source, const char *path, const char *arch) {
    nvrtc_result r;
    int ok = nvrtc_compile(source, arch, &r);
    printf("%s %s: %s, %zu bytes%s\n", path, arch, ok ? "ok" : "FAILED", r.cubin_size,
           nvrtc_spills(&r) ? ", spills" : "");
    if (*r.log) printf("%s\n", r.log);
    if (ok) keep(getenv("NVRTC_CUBIN"), &r);
    nvrtc_free(&r);
    return ok;
}

int main(int count, char **args) {
    static const char *const usual[] = {"sm_80", "sm_89", "sm_90a"};
    int ok = 1;
    if (count < 2) {
        fprintf(stderr, "usage: nvrtc_check FILE.cu [ARCH...]\n");
        return 2;
    }
    const char *why = nvrtc_open();
    if (why) fprintf(stderr, "nvrtc_check: %s\n", why);
    if (why) return 77;
    char *source = nvrtc_read(args[1]);
    if (!source) fprintf(stderr, "nvrtc_check: cannot read %s\n", args[1]);
    if (!source) return 2;
    for (int i = 2; i < count; i++) ok &= check(source, args[1], args[i]);
    for (int i = 0; i < 3 && count == 2; i++) ok &= check(source, args[1], usual[i]);
    free(source);
    return !ok;
}
