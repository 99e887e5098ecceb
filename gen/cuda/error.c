// Errors of a device. Every call of the driver goes through TCU__CALL, which asks first
// whether the device still works and notes what failed: the call, its code, what it was
// for, what to do. The first failure stays until it is cleared. After some codes nothing
// works in this process any more (a kernel wrote where it may not): then the device is
// dead, and every later call is refused with the text of the error that killed it.

enum { TCU__TEXT = 640 };

typedef struct tcu__trouble {
    tc_status status; // of the first failure; TC_OK = none
    tcu__code code;   // the driver's, 0 = the failure is not a call of the driver
    tcu__code dead;   // what made the device unusable, 0 = it works
    char text[TCU__TEXT];
    char death[TCU__TEXT]; // the text of `dead`
} tcu__trouble;

enum {
    TCU__E_INVALID = 1,
    TCU__E_NOMEM = 2,
    TCU__E_STUB = 34,
    TCU__E_NO_DEVICE = 100,
    TCU__E_NOT_READY = 600,
    TCU__E_UNSUPPORTED = 801,
    TCU__E_GRAPH_UPDATE = 910
};

typedef enum tcu__severity { TCU__PASSING, TCU__DEADLY } tcu__severity;

// Codes about which there is more to say than the driver does.
static const struct {
    tcu__code code;
    tcu__severity severity;
    tc_status status;
    const char *advice;
} tcu__codes[] = {
    {2, TCU__PASSING, TC_E_NOMEM, "free tensors, or use smaller sizes"},
    {3, TCU__PASSING, TC_E_BACKEND,
     "a child of fork cannot use its parent's CUDA: exec, or fork before CUDA is "
     "used"},
    {4, TCU__DEADLY, TC_E_BACKEND,
     "the process is shutting down: close contexts before main returns"},
    {34, TCU__PASSING, TC_E_BACKEND,
     "this is the toolkit's stub, not a driver: take its folder out of "
     "LD_LIBRARY_PATH, or install a driver"},
    {36, TCU__PASSING, TC_E_VERSION, "update the driver"},
    {46, TCU__PASSING, TC_E_BACKEND, "another process has the device for itself"},
    {100, TCU__PASSING, TC_E_BACKEND,
     "no GPU is visible: see nvidia-smi and CUDA_VISIBLE_DEVICES"},
    {101, TCU__PASSING, TC_E_BACKEND, "there is no such device: see CUDA_VISIBLE_DEVICES"},
    {200, TCU__PASSING, TC_E_BACKEND, "the code is damaged: clear the cache"},
    {209, TCU__PASSING, TC_E_BACKEND, "the code was made for another GPU: clear the cache"},
    {214, TCU__DEADLY, TC_E_BACKEND, "the device's memory failed: reset or replace it"},
    {218, TCU__PASSING, TC_E_BACKEND, "the driver refuses the PTX; its log is below"},
    {220, TCU__DEADLY, TC_E_BACKEND, "a link between devices failed: see nvidia-smi"},
    {221, TCU__PASSING, TC_E_BACKEND,
     "the driver has no compiler for PTX: install libnvidia-ptxjitcompiler"},
    {222, TCU__PASSING, TC_E_VERSION,
     "the driver is older than the NVRTC that made the PTX: update it, or install an "
     "older NVRTC"},
    {226, TCU__DEADLY, TC_E_BACKEND, "the device's memory failed: restart the program"},
    {700, TCU__DEADLY, TC_E_BACKEND, "a kernel used memory that is not its own"},
    {701, TCU__PASSING, TC_E_BACKEND,
     "the kernel needs more registers or shared memory than there are"},
    {702, TCU__DEADLY, TC_E_BACKEND,
     "a kernel ran too long on a device that has a display"},
    {709, TCU__DEADLY, TC_E_BACKEND, "somebody in the process reset the device"},
    {710, TCU__DEADLY, TC_E_BACKEND, "a kernel's assertion failed"},
    {714, TCU__DEADLY, TC_E_BACKEND, "a kernel's stack is damaged"},
    {715, TCU__DEADLY, TC_E_BACKEND,
     "a kernel has an instruction that the device does not know"},
    {716, TCU__DEADLY, TC_E_BACKEND, "a kernel's access is not aligned"},
    {717, TCU__DEADLY, TC_E_BACKEND, "a kernel used an address of the wrong kind"},
    {718, TCU__DEADLY, TC_E_BACKEND, "a kernel jumped to nowhere"},
    {719, TCU__DEADLY, TC_E_BACKEND, "a kernel failed"},
    {721, TCU__DEADLY, TC_E_BACKEND, "a kernel kept tensor memory"},
    {802, TCU__PASSING, TC_E_BACKEND,
     "the system's GPUs are not ready: is the fabric manager running?"},
    {803, TCU__PASSING, TC_E_VERSION,
     "kernel module and driver library differ: reboot, or load the new module"},
    {804, TCU__PASSING, TC_E_VERSION,
     "the compatibility package is not for this GPU: take it out of LD_LIBRARY_PATH"},
};

// The row of a code; the count of rows = there is none.
TCU__FN size_t tcu__code_row(tcu__code code) {
    size_t i = 0;
    while (i < TCU__COUNT(tcu__codes) && tcu__codes[i].code != code) i++;
    return i;
}

TCU__FN void tcu__trouble_clear(tcu__trouble *t) {
    t->status = TC_OK;
    t->code = 0;
    t->text[0] = 0;
}

// Notes a failure, unless one is noted. Always 0, for `return tcu__fail(...)`.
TCU__PRINTF(3, 4)
TCU__FN int tcu__fail(tcu__trouble *t, tc_status status, const char *format, ...) {
    va_list list;
    if (t->status != TC_OK) return 0;
    t->status = status;
    va_start(list, format);
    vsnprintf(t->text, sizeof t->text, format, list);
    va_end(list);
    return 0;
}

// No memory of the host.
TCU__FN int tcu__no_memory(tcu__trouble *t, const char *what) {
    return tcu__fail(t, TC_E_NOMEM, "out of memory of the host for %s", what);
}

// "cuMemAlloc_v2, for a tensor: CUDA_ERROR_OUT_OF_MEMORY (2): out of memory; free tensors"
TCU__FN void tcu__describe(const tcu__driver_calls *call, tcu__code code, const char *name,
                           const char *what, char *text, size_t room) {
    const char *id = NULL, *meaning = NULL;
    size_t row = tcu__code_row(code);
    // A stub does not even know its own code.
    if (call->cuGetErrorName(code, &id) || !id) id = "error";
    if (call->cuGetErrorString(code, &meaning)) meaning = NULL;
    tcu__print(text, room, "%s, for %s: %s (%d)", name, what, id, code);
    if (meaning) tcu__put(text, room, ": %s", meaning);
    if (row < TCU__COUNT(tcu__codes)) {
        tcu__put(text, room, "; %s", tcu__codes[row].advice);
    }
}

// After a deadly code the device is refused from now on.
TCU__FN void tcu__note(const tcu__driver_calls *call, tcu__trouble *t, tcu__code code,
                       const char *name, const char *what) {
    size_t row = tcu__code_row(code);
    if (t->dead || row == TCU__COUNT(tcu__codes)) return;
    if (tcu__codes[row].severity != TCU__DEADLY) return;
    t->dead = code;
    tcu__describe(call, code, name, what, t->death, sizeof t->death);
}

// 0 = the device is dead, and the refusal is noted.
TCU__FN int tcu__alive(tcu__trouble *t, const char *what) {
    if (!t->dead) return 1;
    return tcu__fail(t, TC_E_BACKEND,
                     "%s: refused, since an earlier error made the device unusable until "
                     "the program is restarted: %.440s",
                     what, t->death);
}

// Whether the call succeeded; else the failure is noted.
TCU__FN int tcu__judge(const tcu__driver_calls *call, tcu__trouble *t, tcu__code code,
                       const char *name, const char *what) {
    char text[TCU__TEXT];
    if (!code) return 1;
    size_t row = tcu__code_row(code);
    tcu__note(call, t, code, name, what);
    if (t->status != TC_OK) return 0;
    tcu__describe(call, code, name, what, text, sizeof text);
    t->code = code;
    return tcu__fail(t,
                     row < TCU__COUNT(tcu__codes) ? tcu__codes[row].status : TC_E_BACKEND,
                     "%s", text);
}

// One call of the driver: 1, or 0 with its failure in *trouble. `what` is a text that ends
// the sentence "cuX, for ...".
#define TCU__CALL(calls, trouble, what, name, ...)                                         \
    (tcu__alive(trouble, what) &&                                                          \
     tcu__judge(calls, trouble, (calls)->name(__VA_ARGS__), #name, what))
