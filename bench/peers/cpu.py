"""torch.compile's side of the comparison; bench/peers/run.sh runs it in turn with cpu.c.

Prints `name nanoseconds nanoseconds nanoseconds` per workload, medians of this process:
torch.compile giving a new tensor; the same writing into a tensor made before (no page faults
for large outputs); eager. 2 threads, random data, dynamic=False.
"""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

THREADS, ROUNDS = 2, 15


def entropy(x):
    p = torch.softmax(x, -1)
    return -(p * torch.log(p + 1e-8)).sum(-1)


def salience(img, kx, ky):
    gray = 0.299 * img[:, 0:1] + 0.587 * img[:, 1:2] + 0.114 * img[:, 2:3]
    gx, gy = F.conv2d(gray, kx, padding=1), F.conv2d(gray, ky, padding=1)
    mag = torch.sqrt(gx * gx + gy * gy + 1e-12)
    s = mag + (gray - F.avg_pool2d(gray, 7, stride=1, padding=3)).abs()
    return s / (s.amax(dim=(1, 2, 3), keepdim=True) + 1e-6)


def chain(x, a, b):
    y = x * a + b
    y = 0.5 * y * (1 + torch.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
    y = torch.sigmoid(y) * y
    return torch.exp(-y * y) + torch.sin(y)


def sincos(x):
    return torch.sin(x) + torch.cos(x)


def softmax(x):
    return torch.softmax(x, -1)


def layernorm(x, w, b):
    return F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)


def topk(x):
    return torch.topk(x, 64)[0]


def max_pool(x):
    return F.max_pool2d(x, 3, 2, 1)


def index_select(w, ids):
    return w.index_select(0, ids)


def column_sums(x):
    return x.sum(0)


def conv(stride, pad, groups):
    return lambda x, w: F.conv2d(x, w, None, stride, pad, 1, groups)


def elsewhere(name, fn, inputs):
    """Other ways in which torch and ONNX Runtime do the same: the best of them counts as eager."""
    if not name.startswith(("conv", "depthwise")):
        return []
    last = [t.to(memory_format=torch.channels_last) for t in inputs]
    sides = [lambda: fn(*last)]
    try:
        import io
        import onnxruntime

        class Model(nn.Module):
            def forward(self, x, w):
                return fn(x, w)

        text = io.BytesIO()
        torch.onnx.export(Model(), inputs, text, input_names=["x", "w"], dynamo=False)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = THREADS
        session = onnxruntime.InferenceSession(text.getvalue(), options)
        given = {"x": inputs[0].numpy(), "w": inputs[1].numpy()}
        sides.append(lambda: session.run(None, given))
    except ImportError as why:
        print(f"no ONNX Runtime: {why}", file=sys.stderr)
    return sides


def embedding(w, ids):
    return F.embedding(ids, w)


class TinyMLP(nn.Module):
    def __init__(self, width=64, layers=24):
        super().__init__()
        self.l = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
        self.n = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers)])

    def forward(self, x):
        for linear, norm in zip(self.l, self.n):
            x = x + torch.relu(linear(norm(x)))
        return x


def matmul(a, b):
    return a @ b


def mlp(x, w1, b1, w2, b2):
    return F.linear(F.gelu(F.linear(x, w1, b1), approximate="tanh"), w2, b2)


def attention(causal):
    return lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=causal)


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.first, self.second = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        b, t, c = x.shape
        parts = self.qkv(self.first(x)).split(c, -1)
        q, k, v = (p.view(b, t, self.heads, c // self.heads).transpose(1, 2) for p in parts)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.second(x)), approximate="tanh"))


class Encoder(nn.Module):
    def __init__(self, width=512, heads=8, layers=6):
        super().__init__()
        self.blocks = nn.ModuleList([Block(width, heads) for _ in range(layers)])

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x


class GPT2(nn.Module):
    def __init__(self, words=50304, width=768, tokens=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.body, self.last = Encoder(width, 12, 12), nn.LayerNorm(width)

    def forward(self, ids):
        x = self.words(ids) + self.places.weight
        return F.linear(self.last(self.body(x)), self.words.weight)


class Made:
    """A module that is made when its row runs."""
    def __init__(self, make):
        self.make = make


def table():
    r = torch.randn
    sobel = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]])
    yield "entropy_32x196x768_f32", entropy, lambda: (r(32, 196, 768),)
    yield "softmax_4096x4096_f32", softmax, lambda: (r(4096, 4096),)
    yield "sincos_16M_f32", sincos, lambda: (r(1 << 24),)
    yield "chain_16M_f32", chain, lambda: (r(1 << 24), r(1), r(1))
    yield ("salience_32x3x224x224_f32", salience,
           lambda: (r(32, 3, 224, 224), sobel[None, None],
                    sobel.t()[None, None].contiguous()))
    yield "layernorm_4096x4096_f32", layernorm, lambda: (r(4096, 4096), r(4096), r(4096))
    yield "tinymlp_24x64_b16_f32", TinyMLP(), lambda: (r(16, 64),)
    table, ids = r(50304, 768), torch.randint(50304, (8192,))
    yield "embedding_8192x768_f32", embedding, lambda: (table, ids)
    yield "indexselect_8192x768_f32", index_select, lambda: (table, ids)
    yield "topk_64_512x32768_f32", topk, lambda: (r(512, 32768),)
    yield "maxpool_16x64x112x112_f32", max_pool, lambda: (r(16, 64, 112, 112),)
    yield ("crossentropy_512x50304_f32", F.cross_entropy,
           lambda: (r(512, 50304), torch.randint(50304, (512,))))
    yield "norm_4096x768_f32", layernorm, lambda: (r(4096, 768), r(768), r(768))
    yield "columnsums_8192x1024_f32", column_sums, lambda: (r(8192, 1024),)
    yield "conv3x3_1x64x56x56_f32", conv(1, 1, 1), lambda: (r(1, 64, 56, 56), r(64, 64, 3, 3))
    yield ("conv3x3_1x256x28x28_f32", conv(1, 1, 1),
           lambda: (r(1, 256, 28, 28), r(256, 256, 3, 3)))
    yield "conv3x3_1x512x7x7_f32", conv(1, 1, 1), lambda: (r(1, 512, 7, 7), r(512, 512, 3, 3))
    yield "conv7x7s2_1x3x224x224_f32", conv(2, 3, 1), lambda: (r(1, 3, 224, 224), r(64, 3, 7, 7))
    yield "conv3x3_32x64x56x56_f32", conv(1, 1, 1), lambda: (r(32, 64, 56, 56), r(64, 64, 3, 3))
    yield ("depthwise3x3_1x128x56x56_f32", conv(1, 1, 128),
           lambda: (r(1, 128, 56, 56), r(128, 1, 3, 3)))
    for m, n, k in [(384, 384, 384), (1024, 1024, 1024), (2048, 2048, 2048), (333, 517, 1029)]:
        yield f"matmul_{m}x{n}x{k}_f32", matmul, lambda m=m, n=n, k=k: (r(m, k), r(k, n))
    yield "matmul_96x128x128x64_f32", matmul, lambda: (r(96, 128, 64), r(96, 64, 128))
    for m in [1, 8, 16]:
        yield f"rows_{m}x4096x4096_f32", F.linear, lambda m=m: (r(m, 4096), r(4096, 4096))
    yield "matmul_512x3072x768_f32", F.linear, lambda: (r(512, 768), r(3072, 768))
    yield ("mlp_512x768x3072_f32", mlp,
           lambda: (r(512, 768), r(3072, 768) * 0.03, r(3072), r(768, 3072) * 0.03, r(768)))
    yield "attention_12x128x64_f32", attention(False), lambda: [r(1, 12, 128, 64) for _ in "qkv"]
    yield "attention_12x1024x64_f32", attention(False), lambda: [r(1, 12, 1024, 64) for _ in "qkv"]
    yield "attention_causal_12x1024x64_f32", attention(True), lambda: [r(1, 12, 1024, 64) for _ in "qkv"]
    yield "gpt2_1x128_f32", Made(GPT2), lambda: (torch.randint(50304, (1, 128)),)
    yield "encoder_8x512x512_f32", Made(Encoder), lambda: (r(8, 512, 512),)


def calls_of(f):
    f(), f()
    t = time.perf_counter()
    f()
    t = time.perf_counter() - t
    return max(1, int(1e-3 / max(t, 1e-7)))


def medians(sides):
    """Interleaved rounds, as in bench.h."""
    calls, took = [calls_of(f) for f in sides], [[] for _ in sides]
    for _ in range(ROUNDS):
        for f, n, v in zip(sides, calls, took):
            t = time.perf_counter()
            for _ in range(n):
                f()
            v.append((time.perf_counter() - t) / n * 1e9)
    return [sorted(v)[ROUNDS // 2] for v in took]


def main():
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    names = sys.argv[1:]
    with torch.inference_mode(False), torch.no_grad():
        for name, fn, make in table():
            if names and not any(name.startswith(n) for n in names):
                continue
            torch._dynamo.reset()
            inputs = make()
            fn = fn.make() if isinstance(fn, Made) else fn
            out = torch.empty_like(fn(*inputs))

            def into(o, *a, fn=fn):
                o.copy_(fn(*a))

            fresh = torch.compile(fn, dynamic=False)
            given = torch.compile(into, dynamic=False)
            sides = [lambda: fresh(*inputs), lambda: given(out, *inputs),
                     lambda: fn(*inputs), *elsewhere(name, fn, inputs)]
            times = medians(sides)
            print(name, *(f"{v:.0f}" for v in [*times[:2], min(times[2:])]), flush=True)


main()
