"""torch.compile's side of bench/peers/calls.sh: prints `name nanoseconds`, as calls.c does."""
import time

import torch

torch.set_num_threads(2)
torch.manual_seed(1)


def guards8():
    def many(*a):
        s = a[0]
        for b in a[1:]:
            s = s * b + 1
        return s

    xs = [torch.randn(16) for _ in range(8)]
    f = torch.compile(many, dynamic=False)
    for _ in range(50):
        f(*xs)
    ns = []
    for _ in range(5):
        start = time.perf_counter()
        for _ in range(2000):
            f(*xs)
        ns.append((time.perf_counter() - start) / 2000 * 1e9)
    return sorted(ns)[2]


def batches16():
    layers = [torch.nn.Linear(256, 256) for _ in range(3)]

    def forward(x):
        for layer in layers:
            x = torch.relu(layer(x))
        return torch.softmax(x, -1)

    sizes = [32, 48, 7, 64, 96, 33, 100, 5, 17, 80, 12, 55, 70, 41, 23, 90]
    xs = [torch.randn(n, 256) for n in sizes]
    start = time.perf_counter()
    f = torch.compile(forward)
    for x in xs:
        f(x)
    return (time.perf_counter() - start) * 1e9


with torch.no_grad():
    print("guards8 %.1f" % guards8(), flush=True)
    print("batches16 %.1f" % batches16(), flush=True)
