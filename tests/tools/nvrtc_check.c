// Compiles CUDA source with NVRTC, found at run time: no GPU and no toolkit headers are
// needed.
//
//     cc -O1 tests/tools/nvrtc_check.c -ldl -o nvrtc_check
//     nvrtc_check FILE.cu [ARCH...]      default sm_80 sm_90a; prints the log, 0 =
//         all compiled
//
// NVRTC_LIBRARY names the library; else the usual names and the toolkit's default place are
// tried. Exit status 77: NVRTC is not installed.
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct program *program;

static int (*create)(program *, const char *, const char *, int, const char *const *,
                     const char *const *);
static int (*compile)(program, int, const char *const *);
static int (*log_size)(program, size_t *);
static int (*get_log)(program, char *);
static int (*cubin_size)(program, size_t *);
static int (*get_cubin)(program, char *);
static int (*destroy)(program *);

static void find(void *so, const char *name, void *function) {
    void *symbol = dlsym(so, name);
    if (!symbol) fprintf(stderr, "nvrtc_check: no %s\n", name), exit(77);
    memcpy(function, &symbol, sizeof symbol);
}

// The builtins must be loaded first, from the same folder and for everybody: NVRTC looks
// for them by bare file name.
static void *open_library(const char *path) {
    const char *slash = strrchr(path, '/');
    char builtins[600];
    if (slash) {
        snprintf(builtins, sizeof builtins, "%.*s/libnvrtc-builtins.so",
                 (int)(slash - path), path);
        dlopen(builtins, RTLD_NOW | RTLD_GLOBAL);
    }
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static void *open_nvrtc(void) {
    const char *const names[] = {getenv("NVRTC_LIBRARY"),
                                 "/usr/local/cuda/lib64/libnvrtc.so",
                                 "/usr/local/cuda/lib/libnvrtc.so",
                                 "libnvrtc.so.13",
                                 "libnvrtc.so.12",
                                 "libnvrtc.so"};
    void *so = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !so; i++)
        if (names[i]) so = open_library(names[i]);
    if (!so) fprintf(stderr, "nvrtc_check: NVRTC is not installed\n"), exit(77);
    find(so, "nvrtcCreateProgram", &create);
    find(so, "nvrtcCompileProgram", &compile);
    find(so, "nvrtcGetProgramLogSize", &log_size);
    find(so, "nvrtcGetProgramLog", &get_log);
    find(so, "nvrtcGetCUBINSize", &cubin_size);
    find(so, "nvrtcGetCUBIN", &get_cubin);
    find(so, "nvrtcDestroyProgram", &destroy);
    return so;
}

static char *read_file(const char *path) {
    FILE *f = fopen(path, "rb");
    long size;
    char *text;
    if (!f || fseek(f, 0, SEEK_END) || (size = ftell(f)) < 0 || fseek(f, 0, SEEK_SET)) {
        fprintf(stderr, "nvrtc_check: cannot read %s\n", path);
        exit(2);
    }
    text = (char *)calloc((size_t)size + 1, 1);
    if (!text || fread(text, 1, (size_t)size, f) != (size_t)size) exit(2);
    fclose(f);
    return text;
}

// 1 when it compiled; NVRTC_CUBIN names a file for the result.
static int check(const char *source, const char *path, const char *arch) {
    char option[64];
    const char *options[] = {option, "-fmad=false", "--no-cache", "-Xptxas=-v"};
    program p = NULL;
    size_t size = 0, cubin = 0;
    snprintf(option, sizeof option, "--gpu-architecture=%s", arch);
    if (create(&p, source, path, 0, NULL, NULL)) return 0;
    int status = compile(p, 4, options);
    log_size(p, &size);
    char *text = (char *)calloc(size + 1, 1);
    if (text && !get_log(p, text) &&
        (status || strstr(text, "warning") || strstr(text, "C75")))
        printf("%s\n", text);
    int spills = text && strstr(text, "bytes spill stores") &&
                 !strstr(text, " 0 bytes spill stores");
    if (!status) cubin_size(p, &cubin);
    const char *out = getenv("NVRTC_CUBIN");
    if (!status && out) {
        char *bytes = (char *)malloc(cubin + 1);
        FILE *f = fopen(out, "wb");
        if (bytes && f && !get_cubin(p, bytes)) fwrite(bytes, 1, cubin, f);
        if (f) fclose(f);
        free(bytes);
    }
    printf("%s %s: %s, %zu bytes%s\n", path, arch, status ? "FAILED" : "ok", cubin,
           spills ? ", spills" : "");
    free(text);
    destroy(&p);
    return !status;
}

int main(int count, char **args) {
    static const char *const usual[] = {"sm_80", "sm_90a"};
    int ok = 1;
    if (count < 2) {
        fprintf(stderr, "usage: nvrtc_check FILE.cu [ARCH...]\n");
        return 2;
    }
    open_nvrtc();
    char *source = read_file(args[1]);
    for (int i = 2; i < count; i++) ok &= check(source, args[1], args[i]);
    for (int i = 0; i < 2 && count == 2; i++) ok &= check(source, args[1], usual[i]);
    free(source);
    return !ok;
}
