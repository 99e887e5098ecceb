#!/bin/sh
# Ours against torch (compiled, eager), ONNX Runtime and OpenBLAS on the CPU, 2 threads: cpu.py has the sides take
# turns, each in a process of its own, and prints medians, ratios and bars.
#
# usage: bench/peers/run.sh [ROW...]      (beginnings of names; none = all)
# Environment: PYTHON (one that has torch; onnxruntime and onnx, or numpy alone, are sides where they are there),
# CC, TC_INCLUDE (where tcompile.h is, default the root), and what cpu.py names.
set -u
cd "$(dirname "$0")/../.." || exit 2
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}

"$PYTHON" -c 'import torch' 2>/dev/null || {
    echo "skip: $PYTHON has no torch"
    echo "Fix: python3 -m venv v; v/bin/pip install torch; PYTHON=v/bin/python $0"
    exit 0
}

LOGS=$(mktemp -d) || exit 2
trap 'rm -rf "$LOGS"' EXIT
mkdir "$LOGS/cache" && chmod 700 "$LOGS/cache"
TC_CACHE_DIR=$LOGS/cache
# torch imports a package that has the name of a file beside cpu.py.
PYTHONSAFEPATH=1
export LOGS TC_CACHE_DIR PYTHONSAFEPATH
$CC -std=c99 -D_GNU_SOURCE -O2 -I"${TC_INCLUDE:-.}" bench/peers/cpu.c -o "$LOGS/ours" \
    -lpthread -ldl || exit 1
"$PYTHON" bench/peers/cpu.py "$LOGS/ours" "$@"
