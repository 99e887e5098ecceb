// NVRTC, the run-time compiler of CUDA C++, found by dlopen: neither a GPU nor headers of the
// toolkit are needed. NVRTC_LIBRARY names the library; else the usual names and the
// toolkit's default place are tried.
#ifndef NVRTC_H
#define NVRTC_H
#ifndef _GNU_SOURCE
#    define _GNU_SOURCE 1
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct nvrtc_program *nvrtc_program;

typedef struct nvrtc_result {
    char *log;         // what the compiler and ptxas -v say; never NULL
    char *ptx, *cubin; // never NULL
    size_t cubin_size;
} nvrtc_result;

static struct {
    int (*create)(nvrtc_program *, const char *, const char *, int, const char *const *,
                  const char *const *);
    int (*compile)(nvrtc_program, int, const char *const *);
    int (*log_size)(nvrtc_program, size_t *);
    int (*get_log)(nvrtc_program, char *);
    int (*ptx_size)(nvrtc_program, size_t *);
    int (*get_ptx)(nvrtc_program, char *);
    int (*cubin_size)(nvrtc_program, size_t *);
    int (*get_cubin)(nvrtc_program, char *);
    int (*destroy)(nvrtc_program *);
} nvrtc;

static int nvrtc_find(void *so, const char *name, void *function) {
    void *symbol = dlsym(so, name);
    if (symbol) memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

// The builtins must be loaded first, from the same folder and for everybody: NVRTC looks
// for them by bare file name.
static void *nvrtc_load(const char *path) {
    const char *slash = strrchr(path, '/');
    char builtins[600];
    if (slash) {
        snprintf(builtins, sizeof builtins, "%.*s/libnvrtc-builtins.so",
                 (int)(slash - path), path);
        dlopen(builtins, RTLD_NOW | RTLD_GLOBAL);
    }
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// NULL, or why there is no NVRTC.
static const char *nvrtc_open(void) {
    const char *const names[] = {getenv("NVRTC_LIBRARY"),
                                 "/usr/local/cuda/lib64/libnvrtc.so",
                                 "/usr/local/cuda/lib/libnvrtc.so",
                                 "libnvrtc.so.13",
                                 "libnvrtc.so.12",
                                 "libnvrtc.so"};
    void *so = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && !so; i++)
        if (names[i]) so = nvrtc_load(names[i]);
    if (!so) return "NVRTC is not installed; NVRTC_LIBRARY may name it";
    int found = nvrtc_find(so, "nvrtcCreateProgram", &nvrtc.create) &&
                nvrtc_find(so, "nvrtcCompileProgram", &nvrtc.compile) &&
                nvrtc_find(so, "nvrtcGetProgramLogSize", &nvrtc.log_size) &&
                nvrtc_find(so, "nvrtcGetProgramLog", &nvrtc.get_log) &&
                nvrtc_find(so, "nvrtcGetPTXSize", &nvrtc.ptx_size) &&
                nvrtc_find(so, "nvrtcGetPTX", &nvrtc.get_ptx) &&
                nvrtc_find(so, "nvrtcGetCUBINSize", &nvrtc.cubin_size) &&
                nvrtc_find(so, "nvrtcGetCUBIN", &nvrtc.get_cubin) &&
                nvrtc_find(so, "nvrtcDestroyProgram", &nvrtc.destroy);
    return found ? NULL : "NVRTC lacks a function, it is older than CUDA 11.1";
}

// The text of a file, NULL if it cannot be read.
static char *nvrtc_read(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = f ? (char *)calloc(1, 1 << 20) : NULL;
    if (text && fread(text, 1, (1 << 20) - 1, f) == 0) free(text), text = NULL;
    if (f) fclose(f);
    return text;
}

// 1 when the source compiles for arch ("sm_90"). Free the result either way.
static int nvrtc_compile(const char *source, const char *arch, nvrtc_result *r) {
    char option[64];
    const char *options[] = {option, "-fmad=false", "--no-cache", "-Xptxas=-v",
                             "-Xptxas=-O2"};
    nvrtc_program p = NULL;
    size_t size = 0, ptx_size = 0;
    memset(r, 0, sizeof *r);
    snprintf(option, sizeof option, "--gpu-architecture=%s", arch);
    int status = nvrtc.create(&p, source, "kernels.cu", 0, NULL, NULL);
    if (!status) status = nvrtc.compile(p, 5, options);
    if (!status) nvrtc.cubin_size(p, &r->cubin_size);
    if (!status) nvrtc.ptx_size(p, &ptx_size);
    if (p) nvrtc.log_size(p, &size);
    r->log = (char *)calloc(size + 1, 1);
    r->cubin = (char *)calloc(r->cubin_size + 1, 1);
    r->ptx = (char *)calloc(ptx_size + 1, 1);
    if (!r->log || !r->cubin || !r->ptx) abort();
    if (ptx_size) nvrtc.get_ptx(p, r->ptx);
    if (size) nvrtc.get_log(p, r->log);
    if (r->cubin_size) nvrtc.get_cubin(p, r->cubin);
    if (p) nvrtc.destroy(&p);
    return !status;
}

static void nvrtc_free(nvrtc_result *r) {
    free(r->log);
    free(r->ptx);
    free(r->cubin);
}

// Whether a line of the log has a number other than 0 before `what`.
static int nvrtc_counts(const char *log, const char *what) {
    for (const char *s = strstr(log, what); s; s = strstr(s + 1, what))
        if (s - log < 2 || s[-1] != '0' || s[-2] != ' ') return 1;
    return 0;
}

// Registers did not suffice, or an array is in local memory; 0 too if the log is silent.
static int nvrtc_spills(const nvrtc_result *r) {
    return nvrtc_counts(r->log, " bytes spill stores") ||
           nvrtc_counts(r->log, " bytes spill loads") ||
           nvrtc_counts(r->log, " bytes stack frame");
}

// Whether a kernel that begins before the launch ahead of it has ended reads memory as constant: ptxas
// moves such loads ahead of the wait.
static int nvrtc_reads_early(const nvrtc_result *r) {
    for (const char *at = strstr(r->ptx, ".entry"), *next; at; at = next) {
        next = strstr(at + 1, ".entry");
        const char *wait = strstr(at, "griddepcontrol.wait"),
                   *load = strstr(at, "ld.global.nc");
        if (wait && load && (!next || (wait < next && load < next))) return 1;
    }
    return 0;
}
#endif
