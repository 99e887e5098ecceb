#!/bin/sh
# Ours against torch.compile on the CPU, 2 threads: several alternations of both processes,
# medians, ratios.
#
# usage: bench/peers/run.sh [WORKLOAD...]      (beginnings of names; none = all)
# Environment: PYTHON (one that has torch), CC, ALTERNATIONS=3, TC_INCLUDE (where tcompile.h
# is, default the root).
#
# `ratio` is against torch.compile giving a new tensor, as it is used: outputs of many
# megabytes are then memory that the system clears page by page. `into` is against the same
# writing into a tensor made before; ours never makes one. The bars are for the first; the
# second must not be below 1, nor may eager be faster: of convolutions that is the best of eager in both
# layouts, and ONNX Runtime where PYTHON has onnxruntime and onnx.
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
# torch imports a package that has the name of a file beside cpu.py.
export PYTHONSAFEPATH=1
$CC -std=c99 -D_GNU_SOURCE -O2 -I"${TC_INCLUDE:-.}" bench/peers/cpu.c -o "$work/ours" \
    -lpthread -ldl || exit 1

i=0
while [ $i -lt "$ALTERNATIONS" ]; do
    "$work/ours" "$@" >>"$work/ours.txt" || exit 1
    "$PYTHON" bench/peers/cpu.py "$@" >>"$work/torch.txt" 2>"$work/torch.log" || {
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
    bar["entropy"] = bar["softmax"] = bar["sincos"] = bar["chain"] = bar["salience"] = 2
    bar["layernorm"] = 1.3; bar["tinymlp"] = 3
    bar["embedding"] = bar["indexselect"] = bar["topk"] = bar["maxpool"] = 1
    bar["crossentropy"] = bar["norm"] = bar["columnsums"] = 1
    bar["matmul"] = bar["attention"] = bar["mlp"] = 1
    bar["rows"] = 1.2; bar["gpt2"] = 1.3; bar["encoder"] = 1.5
    bar["conv3x3"] = bar["conv7x7s2"] = bar["depthwise3x3"] = 1
    while ((getline line < ours) > 0) {
        split(line, f, " "); mine[f[1]] = mine[f[1]] " " f[2]
    }
}
{
    if (!($1 in fresh)) order[++rows] = $1
    fresh[$1] = fresh[$1] " " $2; given[$1] = given[$1] " " $3; eager[$1] = eager[$1] " " $4
}
END {
    row = "%-26s %9s %9s %9s %9s %6s %6s  %s\n"
    printf row, "", "ours", "compile", "into", "eager", "ratio", "into", "bar"
    for (i = 1; i <= rows; i++) {
        n = order[i]; a = median(mine[n]); b = median(fresh[n]); c = median(given[n])
        e = median(eager[n])
        kind = n; sub(/_.*/, "", kind)
        good = b / a >= bar[kind] && c / a >= 1 && e / a >= 1
        sum += log(b / a); sum_into += log(c / a)
        printf row, n, time(a), time(b), time(c), time(e),
            sprintf("%.2f", b / a), sprintf("%.2f", c / a),
            sprintf(">= %g, >= 1  %s", bar[kind], (good ? "ok" : "MISSED"))
    }
    if (rows) {
        total = exp(sum / rows); total_into = exp(sum_into / rows)
        printf "%-66s %6.2f %6.2f\n", "geometric mean", total, total_into
    }
}' "$work/torch.txt"
