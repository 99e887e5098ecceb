#!/bin/sh
# Ours against torch.compile on the CPU: several alternations of both processes, medians, ratios.
#
# usage: bench/peers/run.sh [WORKLOAD...]      (beginnings of names; none = all)
# Environment: PYTHON (one that has torch), CC, ALTERNATIONS=3.
# The ratio is against the best of torch.compile giving a new tensor and torch.compile writing
# into a given one.
set -u
cd "$(dirname "$0")/../.." || exit 2
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}
ALTERNATIONS=${ALTERNATIONS:-3}

"$PYTHON" -c 'import torch' 2>/dev/null || {
    echo "skip: $PYTHON has no torch (pip install torch in a virtualenv, PYTHON=venv/bin/python)"
    exit 0
}

work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
mkdir "$work/cache" && chmod 700 "$work/cache"
TC_CACHE_DIR=$work/cache
export TC_CACHE_DIR
$CC -std=c99 -D_GNU_SOURCE -O2 -I"${TC_INCLUDE:-.}" bench/peers/cpu.c -o "$work/ours" -lm -lpthread -ldl || exit 1

i=0
while [ $i -lt "$ALTERNATIONS" ]; do
    "$work/ours" "$@" >>"$work/ours.txt" || exit 1
    "$PYTHON" bench/peers/cpu.py "$@" >>"$work/torch.txt" 2>"$work/torch.log" || {
        tail -n 5 "$work/torch.log"
        exit 1
    }
    i=$((i + 1))
done

echo "torch $("$PYTHON" -c 'import torch; print(torch.__version__)' 2>/dev/null), 2 threads, $ALTERNATIONS alternations, medians"
awk -v ours="$work/ours.txt" '
function median(list,    n, v, i, j, t) {
    n = split(list, v, " ")
    for (i = 2; i <= n; i++)
        for (j = i; j > 1 && v[j - 1] + 0 > v[j] + 0; j--) { t = v[j]; v[j] = v[j - 1]; v[j - 1] = t }
    return n % 2 ? v[(n + 1) / 2] : (v[n / 2] + v[n / 2 + 1]) / 2
}
function ms(ns) { return ns < 1e6 ? sprintf("%.1f us", ns / 1e3) : sprintf("%.2f ms", ns / 1e6) }
BEGIN {
    bar["entropy"] = bar["softmax"] = bar["sincos"] = bar["chain"] = bar["salience"] = 2
    bar["layernorm"] = 1.3; bar["tinymlp"] = 3
    while ((getline line < ours) > 0) { split(line, f, " "); mine[f[1]] = mine[f[1]] " " f[2] }
}
{
    if (!($1 in fresh)) order[++rows] = $1
    fresh[$1] = fresh[$1] " " $2; given[$1] = given[$1] " " $3; eager[$1] = eager[$1] " " $4
}
END {
    printf "%-28s %10s %10s %10s %10s %8s  %s\n", "", "ours", "compile", "  into", "eager", "ratio", "bar"
    for (i = 1; i <= rows; i++) {
        n = order[i]; a = median(mine[n]); b = median(fresh[n]); c = median(given[n])
        kind = n; sub(/_.*/, "", kind)
        ratio = (b < c ? b : c) / a
        sum += log(ratio)
        printf "%-28s %10s %10s %10s %10s %8.2f  >= %g  %s\n", n, ms(a), ms(b), ms(c), ms(median(eager[n])),
            ratio, bar[kind], (ratio >= bar[kind] ? "ok" : "MISSED")
    }
    if (rows) printf "%-28s %10s %10s %10s %10s %8.2f\n", "geometric mean", "", "", "", "", exp(sum / rows)
}' "$work/torch.txt"
