"""torch's side of bench/peers/cuda.sh: prints `name nanoseconds mode`, the best of eager and torch.compile's
modes, for the workloads of bench/cuda.c. `--jax`: JAX's side, for those it is fair on.
"""
import itertools
import os
import sys
import time

import cuda_models

JAX = "--jax" in sys.argv
NAMES = [a for a in sys.argv[1:] if not a.startswith("--")]


def wanted(name):
    return not NAMES or any(name.startswith(n) for n in NAMES)


def report(name, ns, mode):
    print("%s %.1f %s" % (name, ns, mode), flush=True)


def median_ns(call, wait):
    """Calls among many, given without waiting, as bench/cuda.c does it."""
    for _ in range(5):
        call()
    wait()
    start = time.perf_counter()
    for _ in range(3):
        call()
    wait()
    n = int(0.03 / max((time.perf_counter() - start) / 3, 1e-6))
    n = max(5, min(2000, n))
    took = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(n):
            call()
        wait()
        took.append((time.perf_counter() - start) / n * 1e9)
    return sorted(took)[2]


def run_jax():
    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp

    key, f32, bf = jax.random.PRNGKey(0), jnp.float32, jnp.bfloat16

    def normal(dtype, *shape):
        return jax.random.normal(key, shape, dtype=dtype)

    def entropy(x):
        p = jax.nn.softmax(x, -1)
        return -(p * jnp.log(p + 1e-8)).sum(-1)

    def chain(x, a, b):
        y = x * a + b
        y = 0.5 * y * (1 + jnp.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
        y = jax.nn.sigmoid(y) * y
        return jnp.exp(-y * y) + jnp.sin(y)

    def layernorm(x, w, b):
        f = x.astype(f32)
        m = f.mean(-1, keepdims=True)
        v = ((f - m) ** 2).mean(-1, keepdims=True)
        return ((f - m) * jax.lax.rsqrt(v + 1e-5) * w + b).astype(x.dtype)

    def softmax(x):
        return jax.nn.softmax(x, -1)

    def relu(x, a, b):
        return jnp.maximum(x * a + b, 0)

    table = [
        ("relu_64M_f32", relu, lambda: (normal(f32, 1 << 26), normal(f32, 1), normal(f32, 1))),
        ("chain_64M_f32", chain, lambda: (normal(f32, 1 << 26), normal(f32, 1), normal(f32, 1))),
        ("chain_128M_bf16", chain, lambda: (normal(bf, 1 << 27), normal(bf, 1), normal(bf, 1))),
        ("softmax_16384x4096_f32", softmax, lambda: (normal(f32, 16384, 4096),)),
        ("softmax_4096x50304_bf16", softmax, lambda: (normal(bf, 4096, 50304),)),
        ("layernorm_32768x4096_bf16", layernorm,
         lambda: (normal(bf, 32768, 4096), normal(bf, 4096), normal(bf, 4096))),
        ("entropy_512x196x768_f32", entropy, lambda: (normal(f32, 512, 196, 768),)),
        ("entropy_32x196x768_f32", entropy, lambda: (normal(f32, 32, 196, 768),)),
    ]
    for name, fn, make in table:
        if not wanted(name):
            continue
        inputs, f, last = make(), jax.jit(fn), []

        def call():
            last[:] = [f(*inputs)]

        report(name, median_ns(call, lambda: jax.block_until_ready(last[0])), "jax")


def workloads(torch):
    F, nn = torch.nn.functional, torch.nn
    f32, bf, f16 = torch.float32, torch.bfloat16, torch.float16

    def r(dtype, *shape):
        return torch.randn(*shape, device="cuda", dtype=dtype)

    def entropy(x):
        p = torch.softmax(x, -1)
        return -(p * torch.log(p + 1e-8)).sum(-1)

    def chain(x, a, b):
        y = x * a + b
        y = 0.5 * y * (1 + torch.tanh(0.7978845608 * (y + 0.044715 * y * y * y)))
        y = torch.sigmoid(y) * y
        return torch.exp(-y * y) + torch.sin(y)

    def salience(img, kx, ky):
        gray = 0.299 * img[:, 0:1] + 0.587 * img[:, 1:2] + 0.114 * img[:, 2:3]
        gx, gy = F.conv2d(gray, kx, padding=1), F.conv2d(gray, ky, padding=1)
        mag = torch.sqrt(gx * gx + gy * gy + 1e-12)
        s = mag + (gray - F.avg_pool2d(gray, 7, stride=1, padding=3)).abs()
        return s / (s.amax(dim=(1, 2, 3), keepdim=True) + 1e-6)

    def stencil(taps, border=0):
        def f(x):
            if border: x = F.pad(x, (border,) * 4)
            h, w, s = x.shape[0] - taps + 1, x.shape[1] - taps + 1, 0
            for i in range(taps):
                for k in range(taps):
                    s = s + x[i:i + h, k:k + w] * (0.1 * (i + 1) + 0.01 * k)
            return s
        return f

    class TinyMLP(nn.Module):
        def __init__(self, width=64, layers=24):
            super().__init__()
            self.l = nn.ModuleList([nn.Linear(width, width) for _ in range(layers)])
            self.n = nn.ModuleList([nn.LayerNorm(width) for _ in range(layers)])

        def forward(self, x):
            for linear, norm in zip(self.l, self.n):
                x = x + torch.relu(linear(norm(x)))
            return x

    def softmax(x):
        return torch.softmax(x, -1)

    def layernorm(x, w, b):
        return F.layer_norm(x, (x.shape[-1],), w, b, 1e-5)

    def relu(x, a, b):
        return torch.relu(x * a + b)

    def gemm(a, b):
        return a @ b

    def linear_relu(x, w, b):
        return torch.relu(F.linear(x, w, b))

    def attn_score(q, c):
        return torch.softmax(torch.matmul(q, c.transpose(-2, -1)) / c.size(-1) ** 0.5, -1)

    sobel = torch.tensor([[-1.0, 0, 1], [-2, 0, 2], [-1, 0, 1]], device="cuda")
    yield "relu_64M_f32", relu, lambda: (r(f32, 1 << 26), r(f32, 1), r(f32, 1))
    yield "relu_128M_bf16", relu, lambda: (r(bf, 1 << 27), r(bf, 1), r(bf, 1))
    yield "chain_64M_f32", chain, lambda: (r(f32, 1 << 26), r(f32, 1), r(f32, 1))
    yield "chain_128M_bf16", chain, lambda: (r(bf, 1 << 27), r(bf, 1), r(bf, 1))
    yield "softmax_16384x4096_f32", softmax, lambda: (r(f32, 16384, 4096),)
    yield "softmax_4096x50304_bf16", softmax, lambda: (r(bf, 4096, 50304),)
    yield ("layernorm_32768x4096_bf16", layernorm,
           lambda: (r(bf, 32768, 4096), r(bf, 4096), r(bf, 4096)))
    yield "entropy_512x196x768_f32", entropy, lambda: (r(f32, 512, 196, 768),)
    yield "entropy_32x196x768_f32", entropy, lambda: (r(f32, 32, 196, 768),)
    yield ("salience_32x3x224x224_f32", salience,
           lambda: (r(f32, 32, 3, 224, 224), sobel[None, None],
                    sobel.t()[None, None].contiguous()))
    yield "attn_score_32x196x768_f32", attn_score, lambda: (r(f32, 32, 1, 768), r(f32, 32, 196, 768))
    yield "stencil_3x3_8192x8192_f32", stencil(3), lambda: (r(f32, 8192, 8192),)
    yield "stencil_same_8192x8192_f32", stencil(3, 1), lambda: (r(f32, 8192, 8192),)
    yield "stencil_7x7_8192x8192_f32", stencil(7), lambda: (r(f32, 8192, 8192),)
    def rotary(x, c, s):
        a, b = x.chunk(2, -1)
        return torch.cat((a * c - b * s, b * c + a * s), -1)

    def ids(limit, n):
        return torch.randint(limit, (n,), device="cuda")

    yield ("dropoutnorm_16384x1024_bf16",
           lambda x, y, w, b: layernorm(F.dropout(x, 0.1, True) + y, w, b),
           lambda: (r(bf, 16384, 1024), r(bf, 16384, 1024), r(bf, 1024), r(bf, 1024)))
    yield ("crossentropy_8192x50304_bf16", F.cross_entropy,
           lambda: (r(bf, 8192, 50304), ids(50304, 8192)))
    yield "softmax_1048576x64_f32", softmax, lambda: (r(f32, 1 << 20, 64),)
    yield "columnsums_65536x1024_f32", lambda x: x.sum(0), lambda: (r(f32, 65536, 1024),)
    yield "columnsums_8192x768_bf16", lambda x: x.sum(0), lambda: (r(bf, 8192, 768),)
    yield "columnsums_8192x3072_bf16", lambda x: x.sum(0), lambda: (r(bf, 8192, 3072),)
    yield "variance_128M_f32", lambda x: x.var(), lambda: (r(f32, 1 << 27),)
    yield "sort_4096x4096_f32", lambda x: x.sort(-1)[0], lambda: (r(f32, 4096, 4096),)
    yield ("embedding_65536x768_f32", F.embedding,
           lambda: (ids(50304, 65536), r(f32, 50304, 768)))
    yield ("embedding_grad_8192x768_f32",
           lambda at, d: torch.ops.aten.embedding_dense_backward(d, at, 50304, -1, False),
           lambda: (ids(50304, 8192), r(f32, 8192, 768)))
    yield ("rotary_16x16x2048x128_bf16", rotary,
           lambda: (r(bf, 16, 16, 2048, 128), r(bf, 2048, 64), r(bf, 2048, 64)))
    yield ("transposeadd_8192x8192_f32", lambda x, y: x.t() + y,
           lambda: (r(f32, 8192, 8192), r(f32, 8192, 8192)))
    yield "gemm_2048_bf16", gemm, lambda: (r(bf, 2048, 2048), r(bf, 2048, 2048))
    yield "gemm_4096_bf16", gemm, lambda: (r(bf, 4096, 4096), r(bf, 4096, 4096))
    yield "gemm_4096_f16", gemm, lambda: (r(f16, 4096, 4096), r(f16, 4096, 4096))
    yield "gemm_4096_f32", gemm, lambda: (r(f32, 4096, 4096), r(f32, 4096, 4096))
    yield "gemm_4096_tf32", gemm, lambda: (r(f32, 4096, 4096), r(f32, 4096, 4096))

    def f8(dtype, *shape):
        return r(f32, *shape).to(dtype)

    def scaled(a, b, x, y):
        return torch._scaled_mm(a, b.t(), scale_a=x, scale_b=y, out_dtype=bf)

    e4, e5 = torch.float8_e4m3fn, torch.float8_e5m2
    one = lambda: torch.ones((), device="cuda")
    yield "gemm_4096_fp8", scaled, lambda: (f8(e4, 4096, 4096), f8(e4, 4096, 4096), one(), one())
    yield "gemm_8192_fp8", scaled, lambda: (f8(e4, 8192, 8192), f8(e4, 8192, 8192), one(), one())
    yield "gemm_4096_fp8_mixed", scaled, lambda: (f8(e5, 4096, 4096), f8(e4, 4096, 4096), one(), one())
    yield "gemm_64x64x65536_bf16", gemm, lambda: (r(bf, 64, 65536), r(bf, 65536, 64))
    turned = lambda x, w: x @ w.t()
    yield "gemm_8192_bf16", gemm, lambda: (r(bf, 8192, 8192), r(bf, 8192, 8192))
    yield "gemm_1000x3000x5000_bf16", gemm, lambda: (r(bf, 1000, 5000), r(bf, 5000, 3000))
    yield "gemm_333x517x1029_bf16", gemm, lambda: (r(bf, 333, 1029), r(bf, 1029, 517))
    yield "gemm_511x769x1027_bf16", gemm, lambda: (r(bf, 511, 1027), r(bf, 1027, 769))
    yield "gemm_77x8191x513_bf16", gemm, lambda: (r(bf, 77, 513), r(bf, 513, 8191))
    yield "gemm_12x127x127x64_bf16", gemm, lambda: (r(bf, 12, 127, 64), r(bf, 12, 64, 127))
    yield "gemm_4095x4097x4093_bf16", gemm, lambda: (r(bf, 4095, 4093), r(bf, 4093, 4097))
    yield "gemm_128x4096x4096_bf16", turned, lambda: (r(bf, 128, 4096), r(bf, 4096, 4096))
    yield "qkv_8192x2304x768_bf16", turned, lambda: (r(bf, 8192, 768), r(bf, 2304, 768))
    yield "qkv_plain_8192x2304x768_bf16", gemm, lambda: (r(bf, 8192, 768), r(bf, 768, 2304))
    yield "out_8192x768x768_bf16", turned, lambda: (r(bf, 8192, 768), r(bf, 768, 768))
    yield "up_8192x3072x768_bf16", turned, lambda: (r(bf, 8192, 768), r(bf, 3072, 768))
    yield ("up_by_weight_bf16", lambda x, y: x.t() @ y,
           lambda: (r(bf, 8192, 3072), r(bf, 8192, 768)))
    yield "down_8192x768x3072_bf16", turned, lambda: (r(bf, 8192, 3072), r(bf, 768, 3072))
    yield "qkv_by_input_bf16", gemm, lambda: (r(bf, 8192, 2304), r(bf, 2304, 768))
    yield ("qkv_by_weight_bf16", lambda x, y: x.t() @ y,
           lambda: (r(bf, 8192, 2304), r(bf, 8192, 768)))
    yield ("linear_gradient_8192x3072x768_bf16", lambda g, x: (g.t() @ x, g.float().sum(0)),
           lambda: (r(bf, 8192, 3072), r(bf, 8192, 768)))
    yield "logits_8192x50304x768_bf16", turned, lambda: (r(bf, 8192, 768), r(bf, 50304, 768))
    yield ("scores_96x1024x1024x64_bf16", lambda q, k: q @ k.transpose(-2, -1),
           lambda: (r(bf, 96, 1024, 64), r(bf, 96, 1024, 64)))
    yield "gemv_8192x8192_bf16", gemm, lambda: (r(bf, 1, 8192), r(bf, 8192, 8192))
    yield "gemv_4096x14336_bf16", gemm, lambda: (r(bf, 1, 4096), r(bf, 4096, 14336))
    yield "gemv_8192x28672_bf16", gemm, lambda: (r(bf, 1, 8192), r(bf, 8192, 28672))
    yield ("gemv_turned_8192x8192_bf16", turned,
           lambda: (r(bf, 1, 8192), r(bf, 8192, 8192)))
    yield ("linear_relu_8192x4096x4096_bf16", linear_relu,
           lambda: (r(bf, 8192, 4096), r(bf, 4096, 4096), r(bf, 4096)))
    yield ("linear_gelu_8192x768x3072_bf16", lambda x, w, b: F.gelu(F.linear(x, w, b)),
           lambda: (r(bf, 8192, 768), r(bf, 3072, 768), r(bf, 3072)))
    yield ("linear_residual_8192x768x768_bf16", lambda x, w, b, y: y + F.linear(x, w, b),
           lambda: (r(bf, 8192, 768), r(bf, 768, 768), r(bf, 768), r(bf, 8192, 768)))
    yield ("attention_causal_8x12x1024x64_bf16",
           lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
           lambda: (r(bf, 8, 12, 1024, 64), r(bf, 8, 12, 1024, 64), r(bf, 8, 12, 1024, 64)))
    yield ("attention_4x16x4096x128_bf16", F.scaled_dot_product_attention,
           lambda: (r(bf, 4, 16, 4096, 128), r(bf, 4, 16, 4096, 128), r(bf, 4, 16, 4096, 128)))
    yield from convolutions(F, r, f32, bf)
    yield "tinymlp_24x64_b16_f32", TinyMLP().cuda(), lambda: (r(f32, 16, 64),)


def convolutions(F, r, f32, bf):
    def row(name, dtype, x, w, stride, padding, relu=False):
        def conv(x, w, *b):
            y = F.conv2d(x, w, *b, stride=stride, padding=padding)
            return F.relu(y) if relu else y
        return name, conv, lambda: (r(dtype, *x), r(dtype, *w)) + ((r(dtype, w[0]),) if relu else ())

    def square(name, dtype, n, c, side, o, t, stride=1, relu=False):
        return row(name, dtype, (n, c, side, side), (o, c, t, t), stride, t // 2, relu)

    yield square("conv3x3_32x256x28x28_bf16", bf, 32, 256, 28, 256, 3)
    yield square("conv3x3_relu_32x256x28x28_bf16", bf, 32, 256, 28, 256, 3, 1, True)
    yield square("conv3x3_last_32x256x28x28_bf16", bf, 32, 256, 28, 256, 3)
    yield square("conv3x3_64x512x7x7_bf16", bf, 64, 512, 7, 512, 3)
    yield square("conv3x3_32x64x56x56_bf16", bf, 32, 64, 56, 64, 3)
    yield square("conv3x3_32x64x56x56_tf32", f32, 32, 64, 56, 64, 3)
    yield square("conv3x3_32x64x56x56_f32", f32, 32, 64, 56, 64, 3)
    yield square("conv3x3_32x256x28x28_f32", f32, 32, 256, 28, 256, 3)
    yield square("conv3x3_64x512x7x7_f32", f32, 64, 512, 7, 512, 3)
    yield square("conv3x3s2_32x128x56x56_f32", f32, 32, 128, 56, 128, 3, 2)
    yield square("conv7x7s2_32x3x224x224_f32", f32, 32, 3, 224, 64, 7, 2)
    yield square("conv3x3s2_32x128x56x56_bf16", bf, 32, 128, 56, 128, 3, 2)
    yield square("conv1x1_32x512x28x28_bf16", bf, 32, 512, 28, 128, 1)
    yield square("conv1x1_32x1024x14x14_bf16", bf, 32, 1024, 14, 256, 1)
    yield square("conv7x7s2_32x3x224x224_bf16", bf, 32, 3, 224, 64, 7, 2)


def layouts(torch, name, make):
    """Inputs as they are and, of convolutions, with their channels last."""
    yield "", make()
    if name.startswith(("conv", "resnet")):
        yield "-last", tuple(t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t
                             for t in make())


def gradients(torch):
    """(name, forward, inputs, number of them to derive by): the last input is what the result counts, but of a loss."""
    import torch.nn.functional as F
    bf = torch.bfloat16

    def r(*s):
        return torch.randn(*s, device="cuda").to(bf)

    def full(*s):
        return torch.randn(*s, device="cuda")

    def layernorm(x, w, b):
        return F.layer_norm(x, (x.shape[-1],), w, b)

    yield ("layernorm_grad_32768x4096_bf16", layernorm,
           lambda: (r(32768, 4096), r(4096), r(4096), r(32768, 4096)), 3)
    yield ("dropoutnorm_grad_16384x1024_bf16", lambda x, y, w, b: layernorm(F.dropout(x, 0.1, True) + y, w, b),
           lambda: (r(16384, 1024), r(16384, 1024), r(1024), r(1024), r(16384, 1024)), 4)
    yield ("crossentropy_grad_8192x50304_bf16", F.cross_entropy,
           lambda: (r(8192, 50304), torch.randint(50304, (8192,), device="cuda")), 1)
    yield ("attention_causal_grad_8x12x1024x64_bf16",
           lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
           lambda: tuple(r(8, 12, 1024, 64) for _ in range(4)), 3)
    yield ("conv3x3_grad_32x256x28x28_bf16", lambda x, w: F.conv2d(x, w, padding=1),
           lambda: (r(32, 256, 28, 28), r(256, 256, 3, 3), r(32, 256, 28, 28)), 2)
    for kind in "tf32", "f32":
        yield ("conv3x3_grad_32x64x56x56_" + kind, lambda x, w: F.conv2d(x, w, padding=1),
               lambda: (full(32, 64, 56, 56), full(64, 64, 3, 3), full(32, 64, 56, 56)), 2)
    yield ("attention_grad_4x16x4096x128_bf16", F.scaled_dot_product_attention,
           lambda: tuple(r(4, 16, 4096, 128) for _ in range(4)), 3)


def forward_and_backward(torch, fn, inputs, derived):
    loss = len(inputs) == 2
    arguments = inputs if loss else inputs[:-1]
    for t in inputs[:derived]:
        t.requires_grad_(True)

    def step():
        y = fn(*arguments)
        return torch.autograd.grad(y, inputs[:derived], None if loss else inputs[-1])
    return step


def adamw(torch):
    """Over tensors of GPT-2's sizes: the fused optimiser's step."""
    width, layers = 768, 12
    shapes = [(50304, width), (1024, width)]
    for _ in range(layers):
        shapes += [(width,), (width,), (3 * width, width), (3 * width,), (width, width), (width,),
                   (width,), (width,), (4 * width, width), (4 * width,), (width, 4 * width), (width,)]
    shapes += [(width,), (width,)]
    p = [torch.randn(*s, device="cuda", requires_grad=True) for s in shapes]
    for q in p:
        q.grad = torch.randn_like(q)
    o = torch.optim.AdamW(p, lr=1e-4, fused=True)
    return o.step


def may_round(torch, name):
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = name.endswith("_tf32")


def run_torch():
    import torch

    torch.set_float32_matmul_precision("highest")
    torch.backends.cudnn.benchmark = True
    wait = torch.cuda.synchronize
    with torch.no_grad():
        rows = itertools.chain(((name, lambda fn=fn: fn, make) for name, fn, make in workloads(torch)),
                               cuda_models.models(torch))
        for name, function, make in rows:
            if not wanted(name):
                continue
            fn = function()
            may_round(torch, name)
            best = float("inf"), ""
            for layout, inputs in layouts(torch, name, make):
                if layout and name.startswith("resnet"):
                    fn = fn.to(memory_format=torch.channels_last)
                best = min(best, (median_ns(lambda: fn(*inputs), wait), "eager" + layout))
                for mode in ("default", "reduce-overhead"):
                    torch._dynamo.reset()
                    f = torch.compile(fn, mode=mode, dynamic=False)
                    best = min(best, (median_ns(lambda: f(*inputs), wait), mode + layout))
                del inputs
            report(name, *best)
    for name, fn, make, derived in gradients(torch):
        if not wanted(name):
            continue
        may_round(torch, name)
        best = float("inf"), ""
        for layout, inputs in layouts(torch, name, make):
            step = forward_and_backward(torch, fn, inputs, derived)
            best = min(best, (median_ns(step, wait), "eager" + layout))
            for mode in ("default", "reduce-overhead"):
                torch._dynamo.reset()
                f = torch.compile(fn, mode=mode, dynamic=False)
                step = forward_and_backward(torch, f, inputs, derived)
                best = min(best, (median_ns(step, wait), mode + layout))
            del inputs
        report(name, *best)
    if wanted("adamw_gpt2"):
        report("adamw_gpt2", median_ns(adamw(torch), wait), "fused")


run_jax() if JAX else run_torch()
