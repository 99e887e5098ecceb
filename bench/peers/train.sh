#!/bin/sh
# Training steps on the CPU, ours against PyTorch's, 2 threads: several alternations of both processes, medians,
# ratios. A step is loss, gradients and the update of all parameters.
#
# usage: bench/peers/train.sh [WORKLOAD...]      (beginnings of names; none = all)
# Environment: PYTHON (one that has torch), CC, ALTERNATIONS=3, TC_INCLUDE (where tcompile.h is, default the root).
#
# `compile` is torch.compile, as train.py says; `ratio` is against it, and the bar for that. Nor may eager be faster.
# `first` is our first step, with nothing on disk.
set -u
cd "$(dirname "$0")/../.." || exit 2
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}
ALTERNATIONS=${ALTERNATIONS:-3}

version=$("$PYTHON" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
    echo "skip: $PYTHON has no torch"
    echo "Fix: python3 -m venv v; v/bin/pip install torch; PYTHON=v/bin/python $0"
    exit 0
}

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/cache" && chmod 700 "$work/cache"
TC_CACHE_DIR=$work/cache
export TC_CACHE_DIR
# torch imports packages that have names of files beside train.py.
export PYTHONSAFEPATH=1
$CC -std=c99 -D_GNU_SOURCE -O2 -I"${TC_INCLUDE:-.}" bench/peers/train.c -o "$work/ours" \
    -lm -lpthread -ldl || exit 1

i=0
while [ $i -lt "$ALTERNATIONS" ]; do
    "$work/ours" "$@" >>"$work/ours.txt" || exit 1
    "$PYTHON" bench/peers/train.py "$@" >>"$work/torch.txt" 2>"$work/torch.log" || {
        tail -n 5 "$work/torch.log"
        exit 1
    }
    i=$((i + 1))
done

echo "torch $version, 2 threads, $ALTERNATIONS alternations, medians"
awk -v ours="$work/ours.txt" '
function median(list,    n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) {
            t = v[j]; v[j] = v[j - 1]; v[j - 1] = t
        }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function time(ns) {
    return ns < 1e6 ? sprintf("%.1f us", ns / 1e3) : sprintf("%.2f ms", ns / 1e6)
}
BEGIN {
    bar["digits"] = 5; bar["char"] = 1; bar["lstm"] = 1.5; most["lstm"] = 1
    while ((getline line < ours) > 0) {
        split(line, f, " "); mine[f[1]] = mine[f[1]] " " f[2]
        if (!(f[1] in first)) first[f[1]] = f[3]
    }
}
{
    if (!($1 in compiled)) order[++rows] = $1
    compiled[$1] = compiled[$1] " " $2; eager[$1] = eager[$1] " " $3
}
END {
    row = "%-26s %9s %9s %9s %6s  %-14s %9s  %s\n"
    printf row, "", "ours", "compile", "eager", "ratio", "bar", "first", ""
    for (i = 1; i <= rows; i++) {
        n = order[i]; a = median(mine[n]); b = median(compiled[n]); e = median(eager[n])
        kind = n; sub(/_.*/, "", kind)
        good = b / a >= bar[kind] && e / a >= 1
        soon = kind in most ? sprintf("<= %g s  %s", most[kind], (first[n] <= 1e9 * most[kind] ? "ok" : "MISSED")) : ""
        printf row, n, time(a), time(b), time(e), sprintf("%.2f", b / a),
            sprintf(">= %g  %s", bar[kind], (good ? "ok" : "MISSED")), time(first[n]), soon
    }
}' "$work/torch.txt"
