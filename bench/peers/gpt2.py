"""PyTorch's side of GPT-2's training step on a GPU; bench/peers/gpt2.sh runs it in turn with examples/train_gpt2.c.

Prints `first S median MS peak GB`: the first step, with compilation, in seconds; the median of later ones; the most
memory that tensors had. torch.compile, bf16 autocast, AdamW(fused=True), norms clipped, 8 x 1024 tokens.
"""
import statistics
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

    def forward(self, tokens, target):
        with torch.autocast("cuda", torch.bfloat16):
            x = self.token(tokens) + self.place.weight[:tokens.shape[1]]
            for layer in self.layers:
                x = layer(x)
            y = F.linear(self.norm(x), self.token.weight)
            return F.cross_entropy(y.view(-1, y.shape[-1]).float(), target.reshape(-1))


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


main()
