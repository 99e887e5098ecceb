"""Whole models for cuda.py, as bench/cuda_models.h has them: (name, module or function, its inputs)."""


def models(torch):
    F, nn, bf = torch.nn.functional, torch.nn, torch.bfloat16

    def r(*shape):
        return torch.randn(*shape, device="cuda", dtype=bf)

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
            self.qkv, self.project = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            b, t, c = x.shape
            q, k, v = (y.view(b, t, self.heads, c // self.heads).transpose(1, 2)
                       for y in self.qkv(self.norm1(x)).split(c, -1))
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.project(y.transpose(1, 2).reshape(b, t, c))
            return x + self.down(F.gelu(self.up(self.norm2(x)), approximate="tanh"))

    class GPT2(nn.Module):
        def __init__(self, words=50304, width=768, layers=12, heads=12, tokens=1024):
            super().__init__()
            self.word, self.place = nn.Embedding(words, width), nn.Embedding(tokens, width)
            self.block = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
            self.norm = nn.LayerNorm(width)

        def forward(self, x):
            y = self.word(x) + self.place.weight[:x.shape[1]]
            return F.linear(self.norm(self.block(y)), self.word.weight)

    class Bottleneck(nn.Module):
        def __init__(self, inputs, width, stride):
            super().__init__()
            def norm(i, o, taps, stride=1):
                return nn.Sequential(nn.Conv2d(i, o, taps, stride, taps // 2, bias=False), nn.BatchNorm2d(o))
            self.a, self.b, self.c = norm(inputs, width, 1), norm(width, width, 3, stride), norm(width, 4 * width, 1)
            self.short = norm(inputs, 4 * width, 1, stride) if inputs != 4 * width else None

        def forward(self, x):
            y = self.c(torch.relu(self.b(torch.relu(self.a(x)))))
            return torch.relu((self.short(x) if self.short else x) + y)

    def resnet50():
        layers = [nn.Conv2d(3, 64, 7, 2, 3, bias=False), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
        inputs = 64
        for stage, blocks in enumerate((3, 4, 6, 3)):
            for i in range(blocks):
                layers.append(Bottleneck(inputs, 64 << stage, 2 if stage and not i else 1))
                inputs = 256 << stage
        return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(2048, 1000)).eval()

    class Llama(nn.Module):
        """One token through layers of LLaMA-7B's shapes, behind 1024 in the cache, whose last row is its own."""
        def __init__(self, width=4096, heads=32, hidden=11008, layers=8, cache=1024):
            super().__init__()
            def w(*shape):
                return nn.Parameter(r(*shape) * 0.02)
            self.shape = 1, heads, 1, width // heads
            self.layers = layers
            for i in range(layers):
                for name, shape in (("norm1", (width,)), ("q", (width, width)), ("k", (width, width)),
                                    ("v", (width, width)), ("c", (width // heads // 2,)), ("s", (width // heads // 2,)),
                                    ("o", (width, width)), ("norm2", (width,)), ("gate", (hidden, width)),
                                    ("up", (hidden, width)), ("down", (width, hidden))):
                    setattr(self, name + str(i), w(*shape))
                for name in "keys", "values":
                    self.register_buffer(name + str(i), r(1, heads, cache, width // heads))

        def forward(self, x):
            def turned(y, c, s):
                a, b = y.chunk(2, -1)
                return torch.cat((a * c - b * s, b * c + a * s), -1)
            for i in range(self.layers):
                p = lambda name: getattr(self, name + str(i))
                y = F.rms_norm(x, (x.shape[-1],), p("norm1"), 1e-5)
                q, k, v = (F.linear(y, p(name)).view(self.shape) for name in "qkv")
                keys, values = p("keys"), p("values")
                keys[:, :, -1:] = turned(k, p("c"), p("s"))
                values[:, :, -1:] = v
                y = F.scaled_dot_product_attention(turned(q, p("c"), p("s")), keys, values)
                x = x + F.linear(y.reshape(x.shape), p("o"))
                y = F.rms_norm(x, (x.shape[-1],), p("norm2"), 1e-5)
                x = x + F.linear(F.silu(F.linear(y, p("gate"))) * F.linear(y, p("up")), p("down"))
            return x

    def mlp(x, w1, b1, w2, b2):
        return F.linear(F.gelu(F.linear(x, w1, b1), approximate="tanh"), w2, b2)

    def here(module):
        return lambda: module().cuda().to(bf)

    yield "mlp_8192x1024x4096_bf16", lambda: mlp, lambda: (
        r(8192, 1024), r(4096, 1024) * 0.03, r(4096), r(1024, 4096) * 0.02, r(1024))
    yield ("swiglu_4096x4096x11008_bf16", lambda: lambda x, g, u: F.silu(F.linear(x, g)) * F.linear(x, u),
           lambda: (r(4096, 4096), r(11008, 4096) * 0.02, r(11008, 4096) * 0.02))
    yield ("decode_32x8x4096x128_bf16", lambda: F.scaled_dot_product_attention,
           lambda: (r(32, 8, 1, 128), r(32, 8, 4096, 128), r(32, 8, 4096, 128)))
    yield ("encoder_8x512x512_bf16", here(lambda: nn.Sequential(*(Block(512, 8) for _ in range(6)))),
           lambda: (r(8, 512, 512),))
    yield ("gpt2_fwd_8x1024_bf16", here(GPT2), lambda: (torch.randint(50257, (8, 1024), device="cuda"),))
    yield "resnet50_64x3x224x224_bf16", here(resnet50), lambda: (r(64, 3, 224, 224),)
    yield "llama_step_1x4096_bf16", here(Llama), lambda: (r(1, 4096),)
