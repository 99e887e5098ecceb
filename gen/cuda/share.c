// Whether a list of launches is worth a graph: it is where launching them takes the host a share of the
// time that the device needs. Both are measured once, at the second run of the list, when nothing is
// loaded any more; a later run that finds the device done looks at the times, and nobody waits.
//
// A launch takes the host 3 to 4 us, a graph 2 us however many kernels it has, so from two
// on a graph costs it less (bench/cuda: 2.6 us a call, not 10). Runs where launching is
// less than a 64th of the time gain nothing by it, and a graph takes time to build and
// memory to keep. Of one kernel a graph would lose: launched, it begins while the run
// before it ends.

// A graph of one kernel would lose: launched, it begins while the run before it ends (7.0 us of device and
// host; 8.4 as a graph).
enum {
    TCU__SHARE_LEAST = 2, // kernels
    TCU__SHARE_OF = 64,   // a graph where launching takes the host at least a 64th
    TCU__SHARE_RUN = 1    // runs before the one that is measured
};

typedef enum tcu__share_state {
    TCU__SHARE_OPEN,  // not measured
    TCU__SHARE_ASKED, // measured, but the device was not done
    TCU__SHARE_GRAPH,
    TCU__SHARE_LAUNCHES
} tcu__share_state;

typedef struct tcu__share {
    tcu__share_state state;
    tcu__event from, to; // ASKED; owned
    uint64_t host_ns, device_ns;
} tcu__share;

TCU__FN void tcu__share_close(tcu__device *d, tcu__share *s) {
    if (s->from) TCU__UNDO(d, cuEventDestroy_v2, s->from);
    if (s->to) TCU__UNDO(d, cuEventDestroy_v2, s->to);
    s->from = s->to = NULL;
}

// One by one, measured.
TCU__FN int tcu__share_measure(tcu__device *d, tcu__share *s, const tcu__node *node,
                               int count, tcu__stream stream) {
    if (!(s->from = tcu__moment_take(d)) || !(s->to = tcu__moment_take(d)) ||
        !TCU__DO(d, "times of the device", cuEventRecord, s->from, stream))
        return tcu__share_close(d, s), 0;
    uint64_t start = tcu__now();
    int ok = tcu__nodes_run(d, node, count, stream);
    s->host_ns = tcu__now() - start;
    ok = ok && TCU__DO(d, "times of the device", cuEventRecord, s->to, stream);
    if (!ok) return tcu__share_close(d, s), 0;
    s->state = TCU__SHARE_ASKED;
    return 1;
}

// Looks at the times, if the device is done. 0 = it failed.
TCU__FN int tcu__share_settle(tcu__device *d, tcu__share *s) {
    if (s->state != TCU__SHARE_ASKED) return 1;
    if (!tcu__alive(&d->trouble, "times of the device")) return 0;
    tcu__code code = d->driver.call.cuEventQuery(s->to);
    if (code == TCU__E_NOT_READY) return 1;
    int ok = tcu__judge(&d->driver.call, &d->trouble, code, "cuEventQuery",
                        "times of the device") &&
             tcu__moments_apart(d, s->from, s->to, &s->device_ns);
    if (ok)
        s->state = s->host_ns * TCU__SHARE_OF >= s->device_ns ? TCU__SHARE_GRAPH
                                                              : TCU__SHARE_LAUNCHES;
    tcu__share_close(d, s);
    if (!ok) s->state = TCU__SHARE_OPEN;
    return ok;
}
