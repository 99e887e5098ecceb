"""PyTorch's side of the training steps; bench/peers/train.sh runs it in turn with train.c.

Prints `name nanoseconds nanoseconds` per workload, medians of this process: torch.compile,
which is the faster of loss and gradients compiled beside AdamW(fused=True) and of both
compiled; eager with AdamW(fused=True). 2 threads, random data, dynamic=False. A step is loss, gradients,
for char_gpt their norm clipped, and AdamW of all parameters.
"""
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

THREADS, ROUNDS = 2, 15


class DigitsMLP(nn.Module):
    """As in examples/train_digits_mlp.c: 64 pixels, 128 hidden units, 10 classes."""
    clip, adamw = 0, dict(lr=3e-3, weight_decay=1e-2)

    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(64, 128), nn.Linear(128, 10)

    def forward(self, pixels, labels, which):
        x = pixels[which].float() / 16
        y = labels[which].long()
        return F.cross_entropy(self.out(torch.relu(self.hidden(x))), y)

    @staticmethod
    def inputs():
        return (torch.randint(0, 17, (1797, 64), dtype=torch.uint8),
                torch.randint(0, 10, (1797,), dtype=torch.uint8), torch.randint(0, 1797, (40,)))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1 = nn.LayerNorm(width, bias=False)
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.project = nn.Linear(width, width, bias=False)
        self.norm2 = nn.LayerNorm(width, bias=False)
        self.up = nn.Linear(width, 4 * width, bias=False)
        self.down = nn.Linear(4 * width, width, bias=False)

    def attention(self, x):
        b, t, c = x.shape
        qkv = self.qkv(x).view(b, t, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
        return self.project(y.transpose(1, 2).reshape(b, t, c))

    def forward(self, x):
        x = x + F.dropout(self.attention(self.norm1(x)), 0.1)
        y = self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))
        return x + F.dropout(y, 0.1)


class CharGPT(nn.Module):
    """As in examples/char_gpt.c."""
    clip, adamw = 1, dict(lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)

    def __init__(self, vocabulary=96, context=128, width=128, heads=4, layers=5):
        super().__init__()
        self.token = nn.Embedding(vocabulary, width)
        self.place = nn.Embedding(context, width)
        self.layers = nn.ModuleList(Layer(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, bias=False)
        for p in self.parameters():
            if p.dim() == 2:
                nn.init.normal_(p, std=0.02)

    def forward(self, batch):
        tokens, target = batch[:, :-1], batch[:, 1:]
        x = F.dropout(self.token(tokens) + self.place.weight[:tokens.shape[1]], 0.1)
        for layer in self.layers:
            x = layer(x)
        y = F.linear(self.norm(x), self.token.weight)
        return F.cross_entropy(y.view(-1, y.shape[-1]), target.reshape(-1))

    @staticmethod
    def inputs():
        return (torch.randint(0, 96, (16, 129)),)


class LSTM(nn.Module):
    """128 steps of 64 numbers, 128 hidden units, 32 at once; loss and gradients, no update."""
    clip, adamw = 0, None

    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 128)

    def forward(self, x):
        return self.lstm(x)[0].square().mean()

    @staticmethod
    def inputs():
        return (torch.rand(128, 32, 64),)


WORKLOADS = {"digits_mlp_b40_f32": DigitsMLP, "char_gpt_16x128_f32": CharGPT,
             "lstm_128x32x128_f32": LSTM}


def step_of(make, inputs, compiled, fused):
    torch.manual_seed(1)
    model = make()
    opt = make.adamw and torch.optim.AdamW(model.parameters(), fused=fused, **make.adamw)
    loss_of = torch.compile(model, dynamic=False) if compiled else model

    def update():
        if make.clip:
            nn.utils.clip_grad_norm_(model.parameters(), make.clip)
        if opt:
            opt.step()

    if compiled and not fused:
        update = torch.compile(update, dynamic=False)

    def step():
        model.zero_grad(set_to_none=True)
        loss = loss_of(*inputs)
        loss.backward()
        update()
        return loss

    return step


def calls_of(f):
    for _ in range(5):
        f()
    t = time.perf_counter()
    f()
    return max(1, int(5e-3 / max(time.perf_counter() - t, 1e-7)))


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
    for name, make in WORKLOADS.items():
        if sys.argv[1:] and not any(name.startswith(n) for n in sys.argv[1:]):
            continue
        torch._dynamo.reset()
        inputs = make.inputs()
        part, whole, eager = medians([step_of(make, inputs, True, True),
                                      step_of(make, inputs, True, False),
                                      step_of(make, inputs, False, True)])
        print(name, f"{min(part, whole):.0f} {eager:.0f}", flush=True)


main()
