# Makes tests/function/batch_norm_torch.h: what torch.nn.functional.batch_norm gives in f64 for the operands of
# tests/function/modes.c, training and not, with its gradients and what it leaves in the running statistics.
import math
import torch

SIZES, C, N = (4, 3, 2, 2), 3, 48


def numbers(n, seed):
    return [math.sin(1.0 + 0.7 * i + 3 * seed) + 0.25 * seed for i in range(n)]


def tensor(n, seed, *sizes):
    return torch.tensor(numbers(n, seed), dtype=torch.float64).reshape(sizes or (n,))


def row(name, values):
    print("static const double %s[%d] = {" % (name, len(values)))
    for i in range(0, len(values), 3):
        print("    %s," % ", ".join("%.17g" % v for v in values[i:i + 3]))
    print("};")


def step(name, training, mean, var):
    x = tensor(N, 0, *SIZES).requires_grad_()
    weight, bias = tensor(C, 1).requires_grad_(), tensor(C, 2).requires_grad_()
    y = torch.nn.functional.batch_norm(x, mean, var, weight, bias, training, 0.3, 1e-5)
    (y * tensor(N, 3, *SIZES)).sum().backward()
    row(name + "_y", y.flatten().tolist())
    row(name + "_x_grad", x.grad.flatten().tolist())
    row(name + "_weight_grad", weight.grad.tolist())
    row(name + "_bias_grad", bias.grad.tolist())


print("// Made by tests/tools/batch_norm_torch.py with PyTorch %s." % torch.__version__.split("+")[0])
mean, var = tensor(C, 4), tensor(C, 5) + 1
step("train", True, mean, var)
row("running_mean", mean.tolist())
row("running_var", var.tolist())
step("test", False, mean, var)
