"""PyTorch's side of GPT-2's training step on a GPU; bench/peers/gpt2.sh runs it in turn with examples/train_gpt2.c.

Prints `first S median MS peak GB`: the first step, with compilation, in seconds; the median of later ones; the most
memory that tensors had. torch.compile, bf16 autocast, AdamW(fused=True), norms clipped, 8 x 1024 tokens.

gpt2.py WEIGHTS TEXT STEPS: the losses of so many steps in f32, not compiled, of the weights that train_gpt2 saved, on the
same text with the same schedule.
"""
import json
import statistics
import struct
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

VOCABULARY, CONTEXT, WIDTH, HEADS, LAYERS, BATCH, STEPS = 50257, 1024, 768, 12, 12, 8, 20


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv, self.project = nn.Linear(WIDTH, 3 * WIDTH), nn.Linear(WIDTH, WIDTH)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH), nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        b, t, c = x.shape
        q, k, v = (z.view(b, t, HEADS, c // HEADS).transpose(1, 2)
                   for z in self.qkv(self.norm1(x)).split(c, 2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.project(y.transpose(1, 2).reshape(b, t, c))
        return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))


class GPT2(nn.Module):
    def __init__(self):
        super().__init__()
        self.token, self.place = nn.Embedding(VOCABULARY, WIDTH), nn.Embedding(CONTEXT, WIDTH)
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))
        self.norm = nn.LayerNorm(WIDTH)
        self.half = True

    def forward(self, tokens, target):
        with torch.autocast("cuda", torch.bfloat16, enabled=self.half):
            x = self.token(tokens) + self.place.weight[:tokens.shape[1]]
            for layer in self.layers:
                x = layer(x)
            y = F.linear(self.norm(x), self.token.weight)
            return F.cross_entropy(y.view(-1, y.shape[-1]).float(), target.reshape(-1))


OURS = {"token.weight": "wte", "place.weight": "wpe", "norm": "ln_f", "norm1": "ln_1", "norm2": "ln_2", "qkv": "attn.qkv",
        "project": "attn.proj", "up": "mlp.up", "down": "mlp.down"}


def name_of(ours):
    """The name that train_gpt2 has for a parameter: layers.0.qkv.bias -> h.0.attn.qkv.bias."""
    if ours in OURS:
        return OURS[ours]
    *layer, part, kind = ours.split(".")
    return ".".join([*(["h", layer[1]] if layer else []), OURS[part], kind])


def load(model, path):
    with open(path, "rb") as f:
        head = json.loads(f.read(struct.unpack("<Q", f.read(8))[0]))
        data = f.read()
    for name, p in model.named_parameters():
        begin, end = head[name_of(name)]["data_offsets"]
        p.data.copy_(torch.frombuffer(bytearray(data[begin:end]), dtype=torch.float32).view(p.shape))


def losses(weights, text, steps):
    torch.backends.cuda.matmul.allow_tf32 = False
    model = GPT2().cuda()
    load(model, weights)
    model.half = False
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), weight_decay=0.1)
    with open(text, "rb") as f:
        text = torch.frombuffer(bytearray(f.read(1 << 20)), dtype=torch.uint8).long()
    each = BATCH * (CONTEXT + 1)
    for i in range(steps):
        batch = text[torch.arange(i * each, (i + 1) * each) % len(text)].view(BATCH, -1).cuda()
        opt.zero_grad()
        loss = model(batch[:, :-1], batch[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        opt.param_groups[0]["lr"] = 1e-3 * min(0.25 * (i + 1), 1)
        opt.step()
        print(f"{loss.item():.5f}")


def main():
    torch.manual_seed(1)
    model = GPT2().cuda()
    opt = torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.95), fused=True)
    compiled = torch.compile(model, dynamic=False)
    batch = torch.randint(0, 256, (BATCH, CONTEXT + 1), device="cuda")
    took = []
    for i in range(STEPS):
        start = time.perf_counter()
        opt.zero_grad(set_to_none=True)
        loss = compiled(batch[:, :-1], batch[:, 1:])
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1)
        opt.step()
        loss.item()
        took.append(time.perf_counter() - start)
    print(f"first {took[0]:.2f} s median {1e3 * statistics.median(took[5:]):.2f} ms "
          f"peak {torch.cuda.max_memory_allocated() / 1e9:.2f} GB", flush=True)


if len(sys.argv) > 1:
    losses(sys.argv[1], sys.argv[2], int(sys.argv[3]))
else:
    main()
