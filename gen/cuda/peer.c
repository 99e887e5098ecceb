// Copies from one device of the process to another, over the links between them where the driver says that
// there are any. The copy is work of the device that gets the elements: it begins behind what the other one
// was given so far, and what that is given later begins behind the copy. So nobody waits on the host.

enum {
    TCU__E_PEER_IS_ON = 704
}; // the access was switched on before, by us or by somebody else

// Asks the driver, and has it switch on what it takes. Failures are no trouble: there is no link then.
TCU__FN tcu__peer tcu__peer_ask(tcu__device *d, const tcu__device *from) {
    const tcu__driver_calls *call = &d->driver.call;
    int can = 0;
    if (!call->cuDeviceCanAccessPeer || !call->cuCtxEnablePeerAccess ||
        !call->cuMemcpyPeerAsync)
        return TCU__PEER_NO;
    if (call->cuDeviceCanAccessPeer(&can, d->handle, from->handle) || !can)
        return TCU__PEER_NO;
    tcu__code code = call->cuCtxEnablePeerAccess(from->context, 0);
    return code && code != TCU__E_PEER_IS_ON ? TCU__PEER_NO : TCU__PEER_YES;
}

// Whether d reaches the memory of `from`; d is entered.
TCU__FN int tcu__peer_reaches(tcu__device *d, const tcu__device *from) {
    if (from->ordinal < 0 || from->ordinal >= TCU__PEERS || from == d) return 0;
    if (!d->peer[from->ordinal]) d->peer[from->ordinal] = tcu__peer_ask(d, from);
    return d->peer[from->ordinal] == TCU__PEER_YES;
}

// What d's stream is given from now on begins behind what the other's was given, whichever way: events belong
// to the context of the stream that they are recorded in.
TCU__FN int tcu__peer_after(tcu__device *later, tcu__device *first) {
    int ok = 0;
    if (!tcu__enter(first)) return 0;
    tcu__event e = tcu__event_take(first);
    ok = e && TCU__DO(first, "the order of devices", cuEventRecord, e, first->compute) &&
         TCU__CALL(&first->driver.call, &first->trouble, "the order of devices",
                   cuStreamWaitEvent, later->compute, e, 0);
    tcu__event_give(first, e);
    tcu__leave(first);
    return ok;
}

// `from_address` of device `from` to `to` of d, which is entered; 0 = it is to go another way, or failed.
TCU__FN int tcu__peer_copy(tcu__device *d, tcu__address to, tcu__device *from,
                           tcu__address from_address, size_t size) {
    if (!size) return 1;
    return tcu__peer_after(d, from) &&
           TCU__DO(d, "a copy between devices", cuMemcpyPeerAsync, to, d->context,
                   from_address, from->context, size, d->compute) &&
           tcu__peer_after(from, d);
}
