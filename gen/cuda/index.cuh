// Indices.

// fn: floor_div
template <class A, class B> TC_FN auto TC_N(floor_div)(A a, B b) -> decltype(a + b) {
    return a / b - (a % b < 0);
}

// fn: floor_mod
template <class A, class B> TC_FN auto TC_N(floor_mod)(A a, B b) -> decltype(a + b) {
    return a % b < 0 ? a % b + b : a % b;
}

// fn: min
template <class A, class B> TC_FN auto TC_N(min)(A a, B b) -> decltype(a + b) {
    return a < b ? a : b;
}

// fn: max
template <class A, class B> TC_FN auto TC_N(max)(A a, B b) -> decltype(a + b) {
    return a > b ? a : b;
}

// fn: check
// Index v made safe: negative ones count from the end, others are clamped, flagged.
TC_FN tc_i64 TC_N(check)(tc_state *a, tc_i64 v, tc_i64 limit, tc_i64 site) {
    const tc_i64 w = v < 0 ? (tc_i64)((tc_u64)v + (tc_u64)limit) : v;
    if ((tc_u64)w < (tc_u64)limit) return w;
    a->flag[1] = v;
    a->flag[2] = limit;
    a->flag[0] = site + 1;
    a->failed = 1;
    return w < 0 || limit <= 0 ? 0 : limit - 1;
}
