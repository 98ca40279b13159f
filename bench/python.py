#!/usr/bin/env python3
"""Times small operations through Python beside PyTorch, on one thread of the CPU.

    PYTHONPATH=build/python bench/python.py [--seconds S]

Prints nanoseconds a call, the best of several rounds, and Gradus' time over PyTorch's.
"""
import argparse
import time

import gradus

try:
    import torch
except ImportError:
    torch = None


def operations(lib):
    a, b = lib.rand(1), lib.rand(1)
    recorded = lib.rand(1)
    recorded.requires_grad_()
    matrix = lib.rand(4, 4)
    one = lib.rand(1)
    linear, x, y = lib.nn.Linear(10, 1), lib.rand(1, 10), lib.rand(1, 1)
    mse = lib.nn.MSELoss()
    sgd = lib.optim.SGD(linear.parameters(), lr=0.01)

    def step():
        sgd.zero_grad()
        mse(linear(x), y).backward()
        sgd.step()

    return {
        "a + b": lambda: a + b,
        "a + b, recorded": lambda: recorded + b,
        "x[0]": lambda: matrix[0],
        "x.view(16)": lambda: matrix.view(16),
        "x.view(2, 8)": lambda: matrix.view(2, 8),
        "x.sum()": lambda: matrix.sum(),
        "x.sum(1)": lambda: matrix.sum(1),
        "zeros(1)": lambda: lib.zeros(1),
        "x.item()": lambda: one.item(),
        "step of Linear(10, 1)": step,
    }


def nanoseconds(function, seconds):
    """The best round of so many calls as fill a tenth of the time."""
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            function()
        took = time.perf_counter() - start
        if took > seconds / 10:
            break
        count *= 2
    best = took
    for _ in range(9):
        start = time.perf_counter()
        for _ in range(count):
            function()
        best = min(best, time.perf_counter() - start)
    return best / count * 1e9


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
    seconds = parser.parse_args().seconds
    gradus.set_num_threads(1)
    ours = operations(gradus)
    theirs = {}
    if torch is not None:
        torch.set_num_threads(1)
        theirs = operations(torch)
    for name, function in ours.items():
        mine = nanoseconds(function, seconds)
        line = f"{name:24} {mine:8.0f} ns"
        if name in theirs:
            other = nanoseconds(theirs[name], seconds)
            line += f"   PyTorch {other:8.0f} ns   {mine / other:.2f}"
        print(line)


main()
