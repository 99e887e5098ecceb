"""Ours against torch and other libraries on the CPU, 2 threads; bench/peers/run.sh builds ours and runs this.

usage: cpu.py OURS [ROW...]     (beginnings of names; none = all)

Each library is a process of its own, since the threads of one spin for a while when they have nothing to do: all
are stopped but the one whose turn it is. A turn is a call that is not timed and a few that are; the sides of a row
take turns, and medians count. Sides: torch.compile giving a new tensor; the same writing into a tensor made before
(no page faults for large outputs); torch's eager mode; that with channels last; ONNX Runtime; numpy's OpenBLAS.
Environment: SIDES, processes of these (compile,eager,onnxruntime,openblas), ALTERNATIONS (15), BUILDS, paths of
other builds of ours, whose times are no peers'.
"""
import os
import signal
import subprocess
import sys
import time

THREADS, LEAST = 2, 3e-3  # seconds of a turn
COPIES_BYTES, COPIES_ROWS = 256 << 20, 16  # as in cpu.c

# What `ratio` must be. Of those in AGAINST_COMPILE it is against torch.compile, and the other sides may not be faster
# than ours; of the rest against the best side.
BARS = {"entropy": 2, "softmax": 2, "sincos": 2, "chain": 2, "salience": 2, "layernorm": 1.3, "tinymlp": 3,
        "rows": 1.2, "gpt2": 1.3, "encoder": 1.5, "resnet18": 1.2}  # with fast numerics the same; gpt2bf16 and the rest: 1
AGAINST_COMPILE = {"entropy", "softmax", "sincos", "chain", "salience", "layernorm", "tinymlp"}

SIDE = sys.argv[2] if sys.argv[1:2] == ["--side"] else None
if SIDE:
    import torch
    import torch.nn as nn
    import torch.nn.functional as F
else:
    class nn:
        Module = object


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


def layernorm_grad(x, w, b, g):
    y, mean, rstd = torch.native_layer_norm(x, x.shape[-1:], w, b, 1e-5)
    return y, *torch.ops.aten.native_layer_norm_backward(g, x, x.shape[-1:], mean, rstd, w, b, [True, True, True])


def topk(x):
    return torch.topk(x, 64)[0]


def max_pool(x):
    return F.max_pool2d(x, 3, 2, 1)


def index_select(w, ids):
    return w.index_select(0, ids)


def column_sums(x):
    return x.sum(0)


def transposed(pad, more, stride=2):
    return lambda x, w: F.conv_transpose2d(x, w, None, stride, pad, more)


def image_gradient(stride):
    return lambda g, w: torch.nn.grad.conv2d_input((g.shape[0], w.shape[1], 56, 56), w, g, stride=stride, padding=1)


def conv(stride, pad, groups):
    return lambda x, w: F.conv2d(x, w, None, stride, pad, 1, groups)


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


def linear_int8(x, w, scale):
    return torch._int_mm(x, w.t()).float() * scale


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


class Residual(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.body = nn.Sequential(*conv_norm(inputs, outputs, 3, stride), nn.ReLU(), *conv_norm(outputs, outputs, 3, 1))
        self.side = nn.Sequential(*conv_norm(inputs, outputs, 1, stride)) if inputs != outputs else nn.Identity()

    def forward(self, x):
        return torch.relu(self.body(x) + self.side(x))


def conv_norm(inputs, outputs, size, stride):
    return nn.Conv2d(inputs, outputs, size, stride, size // 2, bias=False), nn.BatchNorm2d(outputs)


def resnet18():
    blocks = [Residual(64 << stage - (stage > 0 and not i), 64 << stage, 2 if stage and not i else 1)
              for stage in range(4) for i in range(2)]
    return nn.Sequential(*conv_norm(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, 1), *blocks,
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 1000)).eval()


class Made:
    """A module that is made when its row runs."""
    def __init__(self, make):
        self.make = make


def byte(*size):
    return torch.randint(-127, 128, size, dtype=torch.int8)


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
    yield "tinymlp_24x64_b16_f32", Made(TinyMLP), lambda: (r(16, 64),)
    ids = torch.randint(50304, (8192,))
    yield "embedding_8192x768_f32", embedding, lambda: (r(50304, 768), ids)
    yield "indexselect_8192x768_f32", index_select, lambda: (r(50304, 768), ids)
    yield "topk_64_512x32768_f32", topk, lambda: (r(512, 32768),)
    yield "maxpool_16x64x112x112_f32", max_pool, lambda: (r(16, 64, 112, 112),)
    yield ("crossentropy_512x50304_f32", F.cross_entropy,
           lambda: (r(512, 50304), torch.randint(50304, (512,))))
    yield "norm_4096x768_f32", layernorm, lambda: (r(4096, 768), r(768), r(768))
    for c in 768, 4096:
        yield f"layernorm_grad_4096x{c}_f32", layernorm_grad, lambda c=c: (r(4096, c), r(c), r(c), r(4096, c))
    yield "columnsums_8192x1024_f32", column_sums, lambda: (r(8192, 1024),)
    yield "conv3x3_1x64x56x56_f32", conv(1, 1, 1), lambda: (r(1, 64, 56, 56), r(64, 64, 3, 3))
    yield ("conv3x3_1x256x28x28_f32", conv(1, 1, 1),
           lambda: (r(1, 256, 28, 28), r(256, 256, 3, 3)))
    yield "conv3x3_1x512x7x7_f32", conv(1, 1, 1), lambda: (r(1, 512, 7, 7), r(512, 512, 3, 3))
    for batch, channels, side in [(1, 64, 56), (1, 256, 28), (32, 64, 56)]:
        yield (f"conv3x3fast_{batch}x{channels}x{side}x{side}_f32", conv(1, 1, 1),
               lambda b=batch, c=channels, s=side: (r(b, c, s, s), r(c, c, 3, 3)))
    yield "conv7x7s2_1x3x224x224_f32", conv(2, 3, 1), lambda: (r(1, 3, 224, 224), r(64, 3, 7, 7))
    yield "conv3x3_32x64x56x56_f32", conv(1, 1, 1), lambda: (r(32, 64, 56, 56), r(64, 64, 3, 3))
    yield ("depthwise3x3_1x128x56x56_f32", conv(1, 1, 128),
           lambda: (r(1, 128, 56, 56), r(128, 1, 3, 3)))
    yield "convgrad3x3_1x64x56x56_f32", image_gradient(1), lambda: (r(1, 64, 56, 56), r(64, 64, 3, 3))
    yield "convgrad3x3s2_1x64x56x56_f32", image_gradient(2), lambda: (r(1, 64, 28, 28), r(64, 64, 3, 3))
    yield ("conv3x3x3_1x16x16x32x32_f32", lambda x, w: F.conv3d(x, w, None, 1, 1),
           lambda: (r(1, 16, 16, 32, 32), r(32, 16, 3, 3, 3)))
    yield ("convtransposed4x4s2_1x256x28x28_f32", transposed(1, 0),
           lambda: (r(1, 256, 28, 28), r(256, 128, 4, 4)))
    yield ("convtransposed3x3s2_1x256x28x28_f32", transposed(1, 1),
           lambda: (r(1, 256, 28, 28), r(256, 128, 3, 3)))
    yield ("convtransposed2x2s2_1x128x56x56_f32", transposed(0, 0),
           lambda: (r(1, 128, 56, 56), r(128, 64, 2, 2)))
    yield ("convtransposed3x3s3_1x64x20x20_f32", transposed(0, 0, 3),
           lambda: (r(1, 64, 20, 20), r(64, 64, 3, 3)))
    yield ("convtransposed5x5s3_1x64x20x20_f32", transposed(1, 0, 3),
           lambda: (r(1, 64, 20, 20), r(64, 64, 5, 5)))
    yield ("convtransposed3x3s2_1x64x27x27_f32", transposed(1, 0),
           lambda: (r(1, 64, 27, 27), r(64, 64, 3, 3)))
    yield ("convtransposed4x4_1x512x1x1_f32", transposed(0, 0, 1),
           lambda: (r(1, 512, 1, 1), r(512, 512, 4, 4)))
    for name in "matmul", "matmulfast":
        for m, n, k in [(384, 384, 384), (1024, 1024, 1024), (2048, 2048, 2048), (333, 517, 1029)]:
            yield f"{name}_{m}x{n}x{k}_f32", matmul, lambda m=m, n=n, k=k: (r(m, k), r(k, n))
        yield f"{name}_96x128x128x64_f32", matmul, lambda: (r(96, 128, 64), r(96, 64, 128))
        for m, n, k in [(512, 3072, 768), (512, 768, 3072), (128, 768, 3072)]:
            yield f"{name}_{m}x{n}x{k}_f32", F.linear, lambda m=m, n=n, k=k: (r(m, k), r(n, k))
    yield "matmul_128x50304x768_f32", F.linear, lambda: (r(128, 768), r(50304, 768))
    for m, n, k in [(1, 4096, 4096), (1, 50257, 768), (5, 4096, 4096), (8, 4096, 4096), (16, 4096, 4096)]:
        yield f"rows_{m}x{n}x{k}_f32", F.linear, lambda m=m, n=n, k=k: (r(m, k), r(n, k))
    for m in [1, 8]:
        yield f"rows_kn_{m}x4096x4096_f32", matmul, lambda m=m: (r(m, 4096), r(4096, 4096))
    yield "matmul_17x23x61_f32", F.linear, lambda: (r(17, 61), r(23, 61))
    for m, n, k in [(512, 3072, 768), (512, 768, 3072), (128, 768, 768), (32, 4096, 4096)]:
        yield (f"int8_{m}x{n}x{k}", linear_int8,
               lambda m=m, n=n, k=k: (byte(m, k), byte(n, k), r(n)))
        yield f"bf16_{m}x{n}x{k}", F.linear, lambda m=m, n=n, k=k: (r(m, k).bfloat16(), r(n, k).bfloat16())
    for m in [1, 8]:
        yield f"half_{m}x4096x4096", F.linear, lambda m=m: (r(m, 4096).bfloat16(), r(4096, 4096).bfloat16())
    yield "matmul_1000x64x40_f32", matmul, lambda: (r(1000, 40), r(40, 64))
    for name in "mlp", "mlpfast":
        yield (f"{name}_512x768x3072_f32", mlp,
               lambda: (r(512, 768), r(3072, 768) * 0.03, r(3072), r(768, 3072) * 0.03, r(768)))
    yield "attention_12x128x64_f32", attention(False), lambda: [r(1, 12, 128, 64) for _ in "qkv"]
    yield "attention_12x1024x64_f32", attention(False), lambda: [r(1, 12, 1024, 64) for _ in "qkv"]
    yield "attention_causal_12x1024x64_f32", attention(True), lambda: [r(1, 12, 1024, 64) for _ in "qkv"]
    for kind in "", "fast", "const":
        yield f"gpt2{kind}_1x128_f32", Made(GPT2), lambda: (torch.randint(50304, (1, 128)),)
    for fast in "", "fast":
        yield f"encoder{fast}_8x512x512_f32", Made(Encoder), lambda: (r(8, 512, 512),)
    yield ("gpt2bf16_1x128", Made(lambda: GPT2().bfloat16()),
           lambda: (torch.randint(50304, (1, 128)),))
    yield ("encoderbf16_8x512x512", Made(lambda: Encoder().bfloat16()),
           lambda: (r(8, 512, 512).bfloat16(),))
    for name in "resnet18", "resnet18fast":
        yield f"{name}_1x3x224x224_f32", Made(resnet18), lambda: (r(1, 3, 224, 224),)


# ---- a side's process: what it can time of a row, by names ----


def rotated(name, inputs, f):
    """f(inputs), whose weights few rows meet, as copies of them in turn."""
    if not name.startswith("rows"):
        return lambda: f(*inputs)
    x, w = inputs
    copies = [w.clone() for _ in range(COPIES_BYTES // (w.numel() * 4) + 1)]
    if SIDE in ("onnxruntime", "openblas"):
        x, copies = x.numpy(), [c.numpy() for c in copies]
    at = [0]

    def call():
        at[0] += 1
        return f(x, copies[at[0] % len(copies)])

    return call


def compiled(name, fn, inputs):
    outs = fn(*inputs)
    single = isinstance(outs, torch.Tensor)
    outs = [torch.empty_like(o) for o in ([outs] if single else outs)]

    def into(outs, *a):
        results = fn(*a)
        for o, y in zip(outs, [results] if single else results):
            o.copy_(y)

    fresh, given = torch.compile(fn, dynamic=False), torch.compile(into, dynamic=False)
    return {"compile": rotated(name, inputs, fresh), "into": rotated(name, inputs, lambda *a: given(outs, *a))}


def eager(name, fn, inputs):
    sides = {"eager": rotated(name, inputs, fn)}
    if name.startswith(("conv", "depthwise", "resnet")):
        last = [t.to(memory_format=torch.channels_last if t.dim() == 4 else torch.channels_last_3d)
                for t in inputs]
        sides["last"] = lambda: fn(*last)
    return sides


def onnx_int8(x, w, scale):
    """MatMulInteger with weights that are known, of bytes without a sign as its kernels want them."""
    import numpy
    import onnxruntime
    from onnx import TensorProto as T, helper, numpy_helper

    nodes = [helper.make_node("MatMulInteger", ["x", "w", "zero"], ["sum"]),
             helper.make_node("Cast", ["sum"], ["float"], to=T.FLOAT),
             helper.make_node("Mul", ["float", "scale"], ["y"])]
    known = [numpy_helper.from_array(w.t().contiguous().numpy(), "w"), numpy_helper.from_array(scale.numpy(), "scale"),
             numpy_helper.from_array(numpy.uint8(128), "zero")]
    graph = helper.make_graph(nodes, "linear", [helper.make_tensor_value_info("x", T.UINT8, list(x.shape))],
                              [helper.make_tensor_value_info("y", T.FLOAT, [x.shape[0], w.shape[0]])], known)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(model.SerializeToString(), options)
    u = (x.int() + 128).to(torch.uint8).numpy()
    return lambda: session.run(None, {"x": u})


def onnx_runtime(name, fn, inputs):
    if name.startswith("int8"):
        return {"onnxruntime": onnx_int8(*inputs)}
    if name.startswith("convgrad") or not name.startswith(
            ("conv", "depthwise", "matmul", "rows", "mlp", "attention", "resnet")):
        return {}
    import io
    import onnxruntime

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.fn = fn

        def forward(self, *a):
            return self.fn(*a)

    text, names = io.BytesIO(), [f"x{i}" for i in range(len(inputs))]
    torch.onnx.export(Model().eval(), tuple(inputs), text, input_names=names, dynamo=False)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = THREADS
    session = onnxruntime.InferenceSession(text.getvalue(), options)
    given = inputs if name.startswith("rows") else [t.numpy() for t in inputs]
    return {"onnxruntime": rotated(name, given, lambda *a: session.run(None, dict(zip(names, a))))}


def openblas(name, fn, inputs):
    import numpy
    if not name.startswith(("matmul", "rows")):
        return {}
    given = inputs if name.startswith("rows") else [t.numpy() for t in inputs]
    turned = fn is F.linear
    out = numpy.empty(tuple(fn(*inputs).shape), numpy.float32)
    return {"openblas": rotated(name, given, lambda x, w: numpy.matmul(x, w.T if turned else w, out=out))}


def serve():
    """The other end of `Process`; what a row has made is freed with it."""
    torch.set_num_threads(THREADS)
    torch.manual_seed(1)
    make = {"compile": compiled, "eager": eager, "onnxruntime": onnx_runtime, "openblas": openblas}[SIDE]
    talk = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # libraries may print
    sides, calls = {}, {}
    for line in sys.stdin:
        what, _, name = line.strip().partition(" ")
        if what == "open":
            sides, calls = {}, {}
            for row, fn, inputs in table():
                if row == name:
                    fn = fn.make() if isinstance(fn, Made) else fn
                    sides = make(name, fn, inputs())
            for side, f in sides.items():
                f(), f()
                t = time.perf_counter()
                f()
                calls[side] = int(LEAST / max(time.perf_counter() - t, 1e-7)) + 1
            print(" ".join(sides), file=talk)
        elif what == "turn":
            f = sides[name]
            f()
            t = time.perf_counter()
            for _ in range(calls[name]):
                f()
            print(f"{(time.perf_counter() - t) / calls[name] * 1e9:.0f}", file=talk)
        else:
            sides = {}
            if SIDE == "compile":
                torch._dynamo.reset()
            print("closed", file=talk)


# ---- the process that gives them their turns ----


class Process:
    """A side, stopped while nothing is asked of it. What it says beside goes to its log."""
    def __init__(self, name, command):
        self.name, self.log = name, open(os.path.join(os.environ.get("LOGS", "/tmp"), name + ".log"), "w+")
        self.of = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                   text=True, bufsize=1)

    def ask(self, line):
        self.of.send_signal(signal.SIGCONT)
        self.of.stdin.write(line + "\n")
        self.of.stdin.flush()
        answer = self.of.stdout.readline()
        if not answer:
            self.log.seek(0)
            sys.exit(f"{self.name} has ended at `{line}`:\n{self.log.read()[-2000:]}")
        self.of.send_signal(signal.SIGSTOP)
        return answer.strip()

    def end(self):
        self.of.kill()
        self.of.wait()


def time_of(ns):
    return "-" if ns is None else f"{ns / 1e3:.1f} us" if ns < 1e6 else f"{ns / 1e6:.2f} ms"


def measure(name, processes):
    """Median nanoseconds by side."""
    turns = [(p, side) for p in processes for side in p.ask("open " + name).split()]
    key = {(p, side): p.name if p.name in BUILDS else side for p, side in turns}
    took, end = {k: [] for k in key.values()}, time.time() + 4
    for i in range(int(os.environ.get("ALTERNATIONS", 15))):
        if i >= 5 and time.time() > end:
            break
        for p, side in turns:
            took[key[p, side]].append(float(p.ask("turn " + side)))
    for p in processes:
        p.ask("close")
    return {side: sorted(v)[len(v) // 2] for side, v in took.items()}


BUILDS = {os.path.basename(path): path for path in os.environ.get("BUILDS", "").split(",") if path}
SIDES = ["ours", *BUILDS, "compile", "into", "eager", "last", "onnxruntime", "openblas"]


def print_row(name, ns):
    kind = name.split("_")[0]
    others = {s: v for s, v in ns.items() if s != "ours" and s not in BUILDS}
    best = min(others, key=others.get) if others else None
    bar = BARS.get(kind.removesuffix("fast").removesuffix("const"), 1)
    if not others:
        verdict, ratio = "", "-"
    elif kind in AGAINST_COMPILE:
        ratio = others.get("compile", others[best]) / ns["ours"]
        good = ratio >= bar and others[best] >= ns["ours"]
        verdict, ratio = f">= {bar}  {'ok' if good else 'MISSED'}", f"{ratio:.2f}"
    else:
        ratio = others[best] / ns["ours"]
        verdict, ratio = f">= {bar}  {'ok' if ratio >= bar else 'MISSED'}", f"{ratio:.2f}"
    print(f"{name:32}", *(f"{time_of(ns.get(s)):>9}" for s in SIDES), f"{ratio:>6}  {verdict}", flush=True)


def main():
    ours, wanted = sys.argv[1], sys.argv[2:]
    names = subprocess.run([ours, "--names", *wanted], capture_output=True, text=True, check=True).stdout.split()
    environment = os.environ.get("SIDES", "compile,eager,onnxruntime,openblas").split(",")
    os.environ["OPENBLAS_NUM_THREADS"] = os.environ["OMP_NUM_THREADS"] = str(THREADS)
    processes = [Process("ours", [ours, "--turns"])]
    processes += [Process(name, [path, "--turns"]) for name, path in BUILDS.items()]
    processes += [Process(side, [sys.executable, __file__, "--side", side]) for side in environment if side]
    print(f"{'2 threads, medians':32}", *(f"{s:>9.9}" for s in SIDES), " ratio  bar")
    try:
        for p in processes:
            p.ask("open nothing"), p.ask("close")
        for name in names:
            print_row(name, measure(name, processes))
    finally:
        for p in processes:
            p.end()


if SIDE:
    with torch.no_grad():
        serve()
else:
    main()
