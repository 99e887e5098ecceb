#!/bin/sh
# Calls of compiled functions against torch.compile: the cost of a call whose guards hold, and of
# 16 batch sizes from nothing (both compile caches empty), 2 threads.
#
# usage: bench/peers/calls.sh
# Environment: PYTHON (one that has torch), CC, TC_INCLUDE (where tcompile.h is, default the root).
set -u
cd "$(dirname "$0")/../.." || exit 2
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}
"$PYTHON" -c 'import torch' 2>/dev/null || {
    echo "skip: $PYTHON has no torch"
    echo "Fix: python3 -m venv v; v/bin/pip install torch; PYTHON=v/bin/python $0"
    exit 0
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
TORCHINDUCTOR_CACHE_DIR=$work/inductor
export TORCHINDUCTOR_CACHE_DIR
$CC -std=c99 -D_GNU_SOURCE -O2 -I"${TC_INCLUDE:-.}" bench/peers/calls.c -o "$work/ours" \
    -lpthread -ldl || exit 1
"$work/ours" >"$work/ours.txt" || exit 1
"$PYTHON" bench/peers/calls.py >"$work/torch.txt" 2>"$work/torch.log" || {
    tail -n 5 "$work/torch.log"
    exit 1
}
awk 'NR == FNR { ours[$1] = $2; next }
     { bar = $1 == "guards8" ? 100 : 10
       r = $2 / ours[$1]
       printf "%-10s %14.1f ns %16.1f ns %8.0fx  >= %dx  %s\n", $1, ours[$1], $2, r, bar,
              (r >= bar ? "ok" : "MISSED") }' "$work/ours.txt" "$work/torch.txt"
