// A device that is in use: the driver, the primary context, facts, streams, events, and the
// sums of memory that other parts hold. The primary context is the one that every library
// in the process shares; it is never reset.
//
// Whoever uses a device says tcu__enter, works, and says tcu__leave, on one thread at a
// time. All functions of the parts below expect to be called in between.
//
// Nothing changes the thread's context for others: tcu__enter asks the driver what is
// current and sets ours, tcu__leave puts back what was there, even nothing. A flag per
// thread would be wrong as soon as another library of the process sets one, and would be a
// global.

enum { TCU__COPY_IN, TCU__COPY_OUT, TCU__COPY_WAYS };
enum { TCU__PEERS = 64 };      // devices that are known to reach each other, or not
enum { TCU__SPIN_NS = 20000 }; // asking an event costs less than sleeping, for so long

// Whether a device reaches another's memory: see cuda/peer.c.
typedef enum tcu__peer { TCU__PEER_UNASKED, TCU__PEER_YES, TCU__PEER_NO } tcu__peer;

typedef struct tcu__facts {
    int threads_block, sms, l2_bytes, threads_sm, major, minor, shared_sm, shared_block;
    int virtual_memory, clusters, tensor_maps;
    size_t memory;
    char name[128];
} tcu__facts;

typedef struct tcu__device {
    tc_allocator host;
    tcu__driver driver;
    tcu__trouble trouble;
    int ordinal;
    long process; // that opened it
    int orphan;   // this is a child of that process
    tcu__ordinal handle;
    tcu__context context;
    tcu__context outside; // what was current before tcu__enter
    int inside;           // tcu__enter without tcu__leave
    int careful;          // wait for every kernel, so that its error has its name
    int branches;         // kernels of a graph run side by side where they may: graph.c
    tcu__facts facts;
    tcu__peer peer[TCU__PEERS]; // by ordinal
    tcu__stream compute;
    tcu__stream copy[TCU__COPY_WAYS]; // made on first use
    struct {
        tcu__event *at; // owned; not in use
        size_t count, capacity;
    } events;
    struct { // bytes, kept by the parts that hold them
        size_t live, cached, peak, arena, pinned;
    } held;
    // Gives back what nobody uses, when memory runs out: the bytes. NULL = nothing to give.
    size_t (*relieve)(void *user);
    void *relieve_user;
} tcu__device;

// One call for a device: 1, or 0 with the failure in its trouble.
#define TCU__DO(d, what, name, ...)                                                        \
    TCU__CALL(&(d)->driver.call, &(d)->trouble, what, name, __VA_ARGS__)

// Gives something back. A failure changes nothing for the caller, but may be the first sign
// of a dead device. In a child of the process that has the device nothing is called.
#define TCU__UNDO(d, name, ...)                                                            \
    tcu__note(&(d)->driver.call, &(d)->trouble,                                            \
              (d)->orphan ? 0 : (d)->driver.call.name(__VA_ARGS__), #name, "giving back")

// ---- in and out

// Makes the device's context current: 1, or 0 = refused. The driver is asked what is
// current each time (it is a load for it): other libraries change that too, on any thread.
TCU__FN int tcu__enter(tcu__device *d) {
    tcu__context now = NULL;
    if (d->inside) return ++d->inside;
    if (d->process != tcu__process())
        return tcu__fail(
            &d->trouble, TC_E_BACKEND,
            "device %d was opened before this process was forked, and does not "
            "work in the child; exec a program, or fork before CUDA is used",
            d->ordinal);
    if (!TCU__DO(d, "entering the device", cuCtxGetCurrent, &now)) return 0;
    if (now != d->context &&
        !TCU__DO(d, "entering the device", cuCtxSetCurrent, d->context))
        return 0;
    d->outside = now;
    return d->inside = 1;
}

// The thread has again what it had, be it nothing: others in the process look at it too.
TCU__FN void tcu__leave(tcu__device *d) {
    if (--d->inside || d->outside == d->context) return;
    TCU__UNDO(d, cuCtxSetCurrent, d->outside);
}

// Enters to give things back, dead or not.
TCU__FN void tcu__enter_to_close(tcu__device *d) {
    if (d->inside || !d->context) return;
    d->inside = 1;
    TCU__UNDO(d, cuCtxGetCurrent, &d->outside);
    if (d->outside != d->context) TCU__UNDO(d, cuCtxSetCurrent, d->context);
}

// ---- facts

typedef struct tcu__fact {
    tcu__device_attribute what;
    tcu__need need; // OPTIONAL: 0 where the driver does not know the question
    size_t offset;
} tcu__fact;

#define TCU__FACT(what, need, field)                                                       \
    { what, need, offsetof(tcu__facts, field) }
static const tcu__fact tcu__fact_rows[] = {
    TCU__FACT(TCU__MAJOR, TCU__REQUIRED, major),
    TCU__FACT(TCU__MINOR, TCU__REQUIRED, minor),
    TCU__FACT(TCU__MULTIPROCESSORS, TCU__REQUIRED, sms),
    TCU__FACT(TCU__L2_BYTES, TCU__REQUIRED, l2_bytes),
    TCU__FACT(TCU__THREADS_PER_BLOCK, TCU__REQUIRED, threads_block),
    TCU__FACT(TCU__THREADS_PER_SM, TCU__REQUIRED, threads_sm),
    TCU__FACT(TCU__SHARED_PER_SM, TCU__REQUIRED, shared_sm),
    TCU__FACT(TCU__SHARED_PER_BLOCK, TCU__REQUIRED, shared_block),
    TCU__FACT(TCU__VIRTUAL_MEMORY, TCU__OPTIONAL, virtual_memory),
    TCU__FACT(TCU__CLUSTERS, TCU__OPTIONAL, clusters),
    TCU__FACT(TCU__TENSOR_MAPS, TCU__OPTIONAL, tensor_maps),
};

// Asks one attribute; a question that an older driver does not know is answered by 0.
TCU__FN int tcu__fact_ask(const tcu__driver *v, tcu__trouble *t, tcu__ordinal device,
                          const tcu__fact *f, tcu__facts *facts) {
    int value = 0;
    if (!tcu__alive(t, "an attribute of the device")) return 0;
    tcu__code code = v->call.cuDeviceGetAttribute(&value, f->what, device);
    if (f->need == TCU__OPTIONAL && code == TCU__E_INVALID) code = value = 0;
    if (!tcu__judge(&v->call, t, code, "cuDeviceGetAttribute",
                    "an attribute of the device"))
        return 0;
    memcpy((char *)facts + f->offset, &value, sizeof value);
    return 1;
}

// What is to know of a device without its context: 1, or 0 with the reason in *t.
TCU__FN int tcu__facts_ask(const tcu__driver *v, tcu__trouble *t, int ordinal,
                           tcu__ordinal *device, tcu__facts *f) {
    memset(f, 0, sizeof *f);
    if (ordinal < 0 || ordinal >= v->devices)
        return tcu__fail(t, TC_E_ARG, "device %d: there %s %d, numbered from 0", ordinal,
                         v->devices == 1 ? "is" : "are", v->devices);
    if (!TCU__CALL(&v->call, t, "the device", cuDeviceGet, device, ordinal) ||
        !TCU__CALL(&v->call, t, "the device's name", cuDeviceGetName, f->name,
                   (int)sizeof f->name, *device) ||
        !TCU__CALL(&v->call, t, "the device's memory", cuDeviceTotalMem_v2, &f->memory,
                   *device))
        return 0;
    f->name[sizeof f->name - 1] = 0;
    for (size_t i = 0; i < TCU__COUNT(tcu__fact_rows); i++) {
        if (!tcu__fact_ask(v, t, *device, &tcu__fact_rows[i], f)) return 0;
    }
    return 1;
}

// ---- open and close

// Gives everything back. What other parts hold must be gone; the device is zeroed but for
// its trouble.
TCU__FN void tcu__device_close(tcu__device *d) {
    if (d->context) {
        tcu__enter_to_close(d);
        for (size_t i = 0; i < d->events.count; i++)
            TCU__UNDO(d, cuEventDestroy_v2, d->events.at[i]);
        for (int i = 0; i < TCU__COPY_WAYS; i++) {
            if (d->copy[i]) TCU__UNDO(d, cuStreamDestroy_v2, d->copy[i]);
        }
        if (d->compute) TCU__UNDO(d, cuStreamDestroy_v2, d->compute);
        d->inside = 1;
        tcu__leave(d);
        TCU__UNDO(d, cuDevicePrimaryCtxRelease_v2, d->handle);
    }
    TCU__FREE(&d->host, d->events.at, d->events.capacity);
    tcu__driver_close(&d->driver);
    tcu__trouble kept = d->trouble;
    memset(d, 0, sizeof *d);
    d->trouble = kept;
}

// Opens device `ordinal`, and enters it: 1, or 0 with the reason in d->trouble and nothing
// left open. *d need not be initialised.
TCU__FN int tcu__device_open(tcu__device *d, const tc_allocator *host, int ordinal) {
    memset(d, 0, sizeof *d);
    if (host) d->host = *host;
    d->ordinal = ordinal;
    d->process = tcu__process();
    if (tcu__driver_open(&d->driver, &d->trouble) &&
        tcu__facts_ask(&d->driver, &d->trouble, ordinal, &d->handle, &d->facts) &&
        TCU__DO(d, "the device's context", cuDevicePrimaryCtxRetain, &d->context,
                d->handle) &&
        tcu__enter(d) &&
        TCU__DO(d, "the compute stream", cuStreamCreateWithPriority, &d->compute,
                TCU__STREAM_NON_BLOCKING, 0))
        return 1;
    tcu__device_close(d);
    return 0;
}

// The stream for copies one way; NULL = reported.
TCU__FN tcu__stream tcu__copy_stream(tcu__device *d, int way) {
    if (d->copy[way]) return d->copy[way];
    tcu__stream s = NULL;
    if (!TCU__DO(d, "a copy stream", cuStreamCreateWithPriority, &s,
                 TCU__STREAM_NON_BLOCKING, 0))
        return NULL;
    return d->copy[way] = s;
}

// ---- events

// An event without times, from the pool; NULL = reported.
TCU__FN tcu__event tcu__event_take(tcu__device *d) {
    tcu__event e = NULL;
    if (d->events.count) return d->events.at[--d->events.count];
    if (!TCU__DO(d, "an event", cuEventCreate, &e,
                 TCU__EVENT_NO_TIMING | TCU__EVENT_BLOCKING))
        return NULL;
    return e;
}

TCU__FN void tcu__event_give(tcu__device *d, tcu__event e) {
    if (!e) return;
    tcu__event *at = (tcu__event *)tcu__grown(&d->host, d->events.at, d->events.count,
                                              &d->events.capacity, sizeof *at);
    if (!at) {
        TCU__UNDO(d, cuEventDestroy_v2, e);
        return;
    }
    d->events.at = at;
    at[d->events.count++] = e;
}

// An event that knows when it happened; NULL = reported.
TCU__FN tcu__event tcu__moment_take(tcu__device *d) {
    tcu__event e = NULL;
    return TCU__DO(d, "an event", cuEventCreate, &e, TCU__EVENT_BLOCKING) ? e : NULL;
}

// Waits for what was recorded: asks for a while, then sleeps.
TCU__FN int tcu__event_wait(tcu__device *d, tcu__event e) {
    uint64_t end = tcu__now() + TCU__SPIN_NS;
    if (!tcu__alive(&d->trouble, "waiting for the device")) return 0;
    do {
        tcu__code code = d->driver.call.cuEventQuery(e);
        if (code != TCU__E_NOT_READY)
            return tcu__judge(&d->driver.call, &d->trouble, code, "cuEventQuery",
                              "waiting for the device");
    } while (tcu__now() < end);
    return TCU__DO(d, "waiting for the device", cuEventSynchronize, e);
}

// Waits for both, and gives what lies between them.
TCU__FN int tcu__moments_apart(tcu__device *d, tcu__event from, tcu__event to,
                               uint64_t *ns) {
    float ms = 0;
    *ns = 0;
    if (!tcu__event_wait(d, from) || !tcu__event_wait(d, to) ||
        !TCU__DO(d, "times of the device", cuEventElapsedTime, &ms, from, to))
        return 0;
    if (ms > 0) *ns = (uint64_t)((double)ms * 1e6 + 0.5);
    return 1;
}

// Waits until the stream has done all it was given.
TCU__FN int tcu__stream_wait(tcu__device *d, tcu__stream s) {
    tcu__event e = tcu__event_take(d);
    int ok = e && TCU__DO(d, "waiting for the device", cuEventRecord, e, s) &&
             tcu__event_wait(d, e);
    tcu__event_give(d, e);
    return ok;
}

// What `later` is given from now on begins after what `first` was given.
TCU__FN int tcu__stream_after(tcu__device *d, tcu__stream later, tcu__stream first) {
    tcu__event e = tcu__event_take(d);
    int ok = e && TCU__DO(d, "the order of streams", cuEventRecord, e, first) &&
             TCU__DO(d, "the order of streams", cuStreamWaitEvent, later, e, 0);
    tcu__event_give(d, e);
    return ok;
}
