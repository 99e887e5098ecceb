#!/bin/sh
# Ours against the best of torch (eager, torch.compile's modes) and JAX on one GPU, each in processes
# of its own, in turn. Also prints shares of the copy's bandwidth: bench/cuda.c.
#
# usage: bench/peers/cuda.sh [WORKLOAD...]      (beginnings of names; none = all)
# Environment: PYTHON (one that has torch, and perhaps jax), CC, ALTERNATIONS=2
set -u
cd "$(dirname "$0")/../.." || exit 2
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}
ALTERNATIONS=${ALTERNATIONS:-2}

version=$("$PYTHON" -c 'import torch; print(torch.__version__)' 2>/dev/null) || {
    echo "skip: $PYTHON has no torch"
    exit 0
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
$CC -std=c99 -D_GNU_SOURCE -O2 -I. -Ibench bench/cuda.c -o "$work/ours" -lm -lpthread -ldl || exit 1

"$work/ours" "$@" || exit 1
touch "$work/peers.txt"
i=0
while [ $i -lt "$ALTERNATIONS" ]; do
    "$work/ours" --raw "$@" >>"$work/ours.txt" || exit 1
    "$PYTHON" bench/peers/cuda.py "$@" >>"$work/peers.txt" 2>"$work/torch.log" ||
        tail -n 5 "$work/torch.log"
    "$PYTHON" bench/peers/cuda.py --jax "$@" >>"$work/peers.txt" 2>"$work/jax.log" ||
        tail -n 1 "$work/jax.log"
    i=$((i + 1))
done

echo "torch $version, $ALTERNATIONS alternations; ratio = best peer / ours"
awk -v ours="$work/ours.txt" '
function us(ns) { return ns < 1e6 ? sprintf("%.1f us", ns / 1e3) : sprintf("%.2f ms", ns / 1e6) }
BEGIN {
    bar["entropy_512"] = bar["softmax_4096"] = bar["chain_128M"] = 1.3
    bar["entropy_32x"] = bar["attn_score"] = 1.3
    bar["chain_64M"] = bar["adamw"] = 1.1; bar["salience"] = 5; bar["tinymlp"] = 1.67
    bar["dropoutnorm_16384"] = bar["crossentropy_8192"] = bar["softmax_1048576"] = bar["columnsums"] = 1
    bar["variance"] = bar["sort"] = bar["embedding"] = bar["rotary"] = bar["transposeadd"] = 1
    bar["layernorm_grad"] = bar["crossentropy_grad"] = 1.5; bar["dropoutnorm_grad"] = 1.2
    bar["gemm_4096_bf16"] = bar["gemm_4096_f16"] = bar["gemm_8192_bf16"] = 0.98; bar["gemm_2048_bf16"] = 0.95
    bar["gemm_1000x"] = bar["gemm_64x64"] = bar["gemm_4096_f32"] = 1
    bar["mlp_8192"] = bar["linear_relu"] = bar["linear_gelu"] = bar["linear_residual"] = 1.05; bar["swiglu"] = 1.1; bar["encoder"] = 1.3; bar["gpt2_fwd"] = 1.2
    bar["resnet50"] = 1.1; bar["attention"] = bar["conv3x3_32"] = 1; bar["gemm_4096_tf32"] = bar["gemm_4096_fp8"] = 0.95
    bar["relu_64M"] = bar["softmax_16384"] = bar["layernorm_32768"] = 1
    while ((getline line < ours) > 0) {
        split(line, f, " ")
        if (f[2] > 0 && (!(f[1] in mine) || f[2] + 0 < mine[f[1]] + 0)) mine[f[1]] = f[2]
        if (f[2] > 0 && !(f[1] in seen)) { seen[f[1]] = 1; name[++names] = f[1] }
    }
}
{ if (!($1 in best) || $2 + 0 < best[$1] + 0) { best[$1] = $2; mode[$1] = $3 } }
END {
    for (i = 1; i <= names; i++) {
        n = name[i]
        if (!(n in best)) continue
        line = sprintf("%-34s %10s %10s %-16s %6.2f", n, us(mine[n]), us(best[n]), mode[n],
                       best[n] / mine[n])
        for (b in bar)
            if (index(n, b) == 1)
                line = line sprintf("  >= %g  %s", bar[b], best[n] / mine[n] < bar[b] ? "MISSED" : "ok")
        print line
    }
}' "$work/peers.txt"
