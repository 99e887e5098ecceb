#!/bin/sh
# GPT-2 124M's training step on one GPU (8 x 1024 tokens, bf16, AdamW, norms clipped), ours against torch.compile's:
# processes in turn, each with an empty cache; the last lines say the ratios of the best medians and of the most memory:
# what tensors had at most, and what lies between kernels. Before them, of our kernels that are neither products nor attention
# and move at least 4 MB, their share of the speed of a copy of as many bytes, by the profiler: the worst, all by their bytes;
# and how far the losses of 16 steps in f32 are from PyTorch's, of the same weights and text.
#
# usage: bench/peers/gpt2.sh
# Environment: PYTHON (one that has torch), CC, ALTERNATIONS=2
set -u
cd "$(dirname "$0")/../.." || exit 2
PYTHON=${PYTHON:-python3}
CC=${CC:-cc}

"$PYTHON" -c 'import torch; assert torch.cuda.is_available()' 2>/dev/null || {
    echo "skip: $PYTHON has no torch with a GPU"
    exit 0
}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
$CC -std=c99 -D_GNU_SOURCE -O2 -I. examples/train_gpt2.c -o "$work/ours" -lm -lpthread -ldl || exit 1

i=0
while [ $i -lt "${ALTERNATIONS:-2}" ]; do
    mkdir -m 700 "$work/cache$i"
    TC_CACHE_DIR=$work/cache$i "$work/ours" 124m bf16 cuda steps=20 memory >"$work/log" || {
        cat "$work/log"
        exit 1
    }
    awk '/^step/ { t[++n] = $5 + 0 }
    function bytes(s) { return s * (s ~ /GiB/ ? 1073741824 : s ~ /MiB/ ? 1048576 : 1024) }
    /^tensors/ {
        print
        sub(/.*at most /, ""); peak = bytes(substr($0, 1, 12))
        sub(/.*plans hold /, ""); peak += bytes(substr($0, 1, 12))
    }
    END {
        for (i = 6; i <= n; i++)
            for (j = i; j > 6 && t[j - 1] > t[j]; j--) { v = t[j]; t[j] = t[j - 1]; t[j - 1] = v }
        printf "first %.2f s median %.2f ms peak %.2f GB\n", t[1] / 1e3, t[6 + int((n - 5) / 2)], peak / 1e9
    }' "$work/log" | sed 's/^/ours:  /' | tee -a "$work/all"
    TORCHINDUCTOR_CACHE_DIR=$work/cache$i "$PYTHON" bench/peers/gpt2.py 2>"$work/torch.log" |
        sed 's/^/torch: /' | tee -a "$work/all"
    i=$((i + 1))
done
TC_CACHE_DIR=$work/cache0 "$work/ours" 124m bf16 cuda steps=10 profile >"$work/profile" || exit 1
awk '$7 == "%" && $8 ~ /^cuda/ && !/contraction/ && $4 >= 4e6 && $6 != "?" {
    share = $6 / 100; bytes = $1 * $4
    if (!all || share < worst) worst = share
    all += bytes; sum += bytes * share
    if (share < 0.85) { sub(/^ +/, ""); print "below 0.85 of a copy: " $0 }
}
END {
    if (!all) print "no kernels in the profile"
    printf "our kernels by copies of as many bytes: %.2f, the worst %.2f  >= 0.85  %s\n", \
        all ? sum / all : 0, worst, (all && worst >= 0.85 ? "ok" : "MISSED")
}' "$work/profile"
"$work/ours" 124m cuda steps=16 save="$work/weights" |
    sed -n 's/^step.*loss \([0-9.]*\),.*/\1/p' >"$work/losses"
"$PYTHON" bench/peers/gpt2.py "$work/weights" README.md 16 2>"$work/torch.log" | paste "$work/losses" - | awk '
NF == 2 { d = $1 / $2 - 1; if (d < 0) d = -d; if (d > worst) worst = d; n++ }
END {
    printf "losses of 16 steps in f32 by PyTorch: within %.1e  <= 1e-3  %s\n", worst, \
        (n == 16 && worst <= 1e-3 ? "ok" : "MISSED")
}'
awk '{
    for (i = 1; i < NF; i++) {
        if ($i == "median" && (!($1 in best) || $(i + 1) < best[$1])) best[$1] = $(i + 1)
        if ($i == "peak" && $(i + 1) > most[$1]) most[$1] = $(i + 1)
    }
}
END {
    r = best["ours:"] / best["torch:"]
    printf "time of ours by torch.compile: %.2f  <= 2  %s\n", r, (r <= 2 ? "ok" : "MISSED")
    r = most["ours:"] / most["torch:"]
    printf "memory of ours by torch.compile: %.2f  <= 1  %s\n", r, (r <= 1 ? "ok" : "MISSED")
}' "$work/all"
