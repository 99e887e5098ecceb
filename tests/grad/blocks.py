# Makes tests/grad/blocks_values.h: what PyTorch gives in f64 for the blocks of tests/grad/blocks.c, the loss, what it
# changes by with every operand, and what states are after all visits. Words of operands, and the numbers that they stand for, are explained there.
import math
import textwrap
import torch
import torch.nn.functional as F

WORD = 1 << 32
VISITS = 3  # of which each writes states


def word(i, seed):  # test_word of tests/harness.h
    x = ((i + 1) * 2654435761 + seed * 40503) % WORD
    x ^= x >> 15
    x = x * 2246822519 % WORD
    return x ^ x >> 13


def fraction(i, seed):  # in [-1, 1), of 20 bits
    x = word(i, seed) >> 12
    return (x - (1 << 20 if x >> 19 else 0)) / (1 << 19)


def operand(text, seed):
    kind, sizes, limit = text[0], text[1:], 0
    if kind == "i":
        sizes, limit = sizes.split("<")
    sizes = [int(n) for n in sizes.split("x")]
    values = range(math.prod(sizes))
    if kind == "i":
        return torch.tensor([word(i, seed) % int(limit) for i in values]).reshape(sizes)
    if kind == "b":
        bits = [word(i, seed) % 8 < 5 and i // sizes[1] != 2 for i in values]
        return torch.tensor(bits).reshape(sizes)
    scale = {"r": 1, "w": 0.5, "p": 0.5, "s": 0.5}[kind]
    more = 1 if kind in "ps" else 0
    numbers = [more + scale * fraction(i, seed) for i in values]
    return torch.tensor(numbers, dtype=torch.float64).reshape(sizes).requires_grad_(kind != "s")


def block(name, operands, loss_of):
    given = [operand(text, 1 + k) for k, text in enumerate(operands.split())]
    for _ in range(VISITS):
        loss = loss_of(*given)
    loss.backward()
    values = [loss.item()]
    for t in given:
        if t.requires_grad:
            values += t.grad.flatten().tolist()
    for t, text in zip(given, operands.split()):
        if text[0] == "s":
            values += t.tolist()
    assert all(math.isfinite(v) for v in values), name
    text = ", ".join("%.12g" % v for v in values)
    print("static const double %s_values[] = {" % name)
    print(textwrap.fill(text, 92, initial_indent="    ", subsequent_indent="    ") + "};")


def mean_square(y):
    return (y * y).mean()


def mlp(x, w1, b1, w2, b2, target):
    return F.cross_entropy(F.linear(F.gelu(F.linear(x, w1, b1)), w2, b2), target)


def cnn(x, w1, scale, shift, mean, var, w2, b2, w3, b3, target):
    y = F.conv2d(x, w1, None, stride=2, padding=1)
    y = F.relu(F.batch_norm(y, mean, var, scale, shift, True, 0.1, 1e-5))
    y = F.relu(F.conv2d(y, w2, b2, stride=1, padding=1))
    y = F.max_pool2d(y, 3, stride=2, padding=1)
    return F.cross_entropy(F.linear(y.flatten(1), w3, b3), target)


def transformer(x, norm1, norm1_bias, qkv, qkv_bias, project, project_bias, norm2, norm2_bias,
                up, up_bias, down, down_bias):
    b, t, w = x.shape
    y = F.linear(F.layer_norm(x, (w,), norm1, norm1_bias, 1e-5), qkv, qkv_bias)
    q, k, v = (part.reshape(b, t, 2, w // 2).transpose(1, 2) for part in y.split(w, dim=2))
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
    x = x + F.linear(y.transpose(1, 2).reshape(b, t, w), project, project_bias)
    y = F.layer_norm(x, (w,), norm2, norm2_bias, 1e-5)
    y = F.gelu(F.linear(y, up, up_bias), approximate="tanh")
    return mean_square(x + F.linear(y, down, down_bias))


def attention_boolean(q, k, v, mask):
    return mean_square(F.scaled_dot_product_attention(q, k, v, mask))


def attention_additive(q, k, v, mask):
    return mean_square(F.scaled_dot_product_attention(q, k, v, mask, scale=0.7))


def attention_grouped(q, k, v):  # heads 0 and 1 of q share one of k and v, 2 and 3 another
    q = q.reshape(1, 4, 5, 6)
    k, v = k.reshape(1, 2, 7, 6), v.reshape(1, 2, 7, 5)
    y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    return mean_square(y)


def lstm(x, h, c, w_input, w_state, bias, out, out_bias):
    cells = torch.nn.LSTM(x.shape[2], h.shape[1], dtype=torch.float64)
    weights = {"weight_ih_l0": w_input, "weight_hh_l0": w_state, "bias_ih_l0": bias,
               "bias_hh_l0": torch.zeros_like(bias)}
    ys, (h, c) = torch.func.functional_call(cells, weights, (x, (h[None], c[None])))
    return mean_square(F.linear(ys, out, out_bias)) + (h * c).mean()


print("// Made by tests/grad/blocks.py with PyTorch %s." % torch.__version__.split("+")[0])
print("// clang-format off")
block("mlp", "r7x9 w13x9 w13 w5x13 w5 i7<5", mlp)
block("cnn", "r3x1x9x7 w4x1x3x3 p4 w4 s4 s4 w3x4x3x2 w3 w4x27 w4 i3<4", cnn)
block("transformer", "r2x5x12 p12 w12 w36x12 w36 w12x12 w12 p12 w12 w17x12 w17 w12x17 w12", transformer)
block("attention_boolean", "r2x5x6 r2x7x6 r2x7x5 b5x7", attention_boolean)
block("attention_additive", "r2x5x6 r2x7x6 r2x7x5 r5x7", attention_additive)
block("attention_grouped", "r2x2x5x6 r2x1x7x6 r2x1x7x5", attention_grouped)
block("lstm", "r12x2x3 r2x7 r2x7 w28x3 w28x7 w28 w4x7 w4", lstm)
