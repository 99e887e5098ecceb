# Makes tests/function/optim_torch.h: parameters after 50 steps of torch.optim in f64, one row for each
# kind of tests/function/optim_steps.c, in its order. Lion is not in torch.optim.
import math
import torch

COUNT, STEPS = (5, 12, 1), 50
O = torch.optim
KINDS = [
    (O.SGD, {}),
    (O.SGD, dict(weight_decay=0.1, momentum=0.9)),
    (O.SGD, dict(weight_decay=0.1, momentum=0.9, nesterov=True)),
    (O.Adam, {}),
    (O.Adam, dict(weight_decay=0.1)),
    (O.AdamW, dict(weight_decay=0.0)),
    (O.AdamW, dict(weight_decay=0.1)),
    (O.Adagrad, dict(lr_decay=0.02)),
    (O.Adagrad, dict(lr_decay=0.02, weight_decay=0.1)),
    (O.RMSprop, {}),
    (O.RMSprop, dict(weight_decay=0.1, momentum=0.9)),
    (O.RMSprop, dict(centered=True)),
    (O.RMSprop, dict(weight_decay=0.1, momentum=0.9, centered=True)),
]


def row(make, options):
    p = [torch.tensor([0.5 * i - l + 0.25 for i in range(n)], dtype=torch.float64,
                      requires_grad=True) for l, n in enumerate(COUNT)]
    optimiser = make(p, lr=0.01, **options)
    for t in range(1, STEPS + 1):
        optimiser.param_groups[0]["lr"] = 0.01 / (1 + 0.1 * t)
        for l, n in enumerate(COUNT):
            g = [math.sin(1.0 + i * 0.7 + l * 3 + t * 1.3) + 0.25 for i in range(n)]
            p[l].grad = torch.tensor(g, dtype=torch.float64)
        optimiser.step()
    return [x for t in p for x in t.tolist()]


print("// Made by tests/tools/optim_torch.py with PyTorch %s." % torch.__version__.split("+")[0])
print("enum { TORCH_KINDS = %d };\n" % len(KINDS))
print("static const double torch_given[TORCH_KINDS][%d] = {" % sum(COUNT))
for make, options in KINDS:
    print("    // %s %s" % (make.__name__, options or ""))
    values = row(make, options)
    text = ["%.17g" % x for x in values]
    print("    {" + ",\n     ".join(", ".join(text[i:i + 3]) for i in range(0, len(text), 3)) + "},")
print("};")
