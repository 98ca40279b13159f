#!/usr/bin/env python3
"""Times small operations through Python beside PyTorch, on one thread of the CPU.

    PYTHONPATH=build/python bench/python.py [--seconds S]

Prints nanoseconds of processor time a call, the best of 20 rounds of `timeit`, and Gradus' time over PyTorch's.
"""
import argparse
import time
import timeit

import gradus

try:
    import torch
except ImportError:
    torch = None


def operations(lib):
    """What the statements name."""
    a, b = lib.rand(1), lib.rand(1)
    recorded = lib.rand(1)
    recorded.requires_grad_()
    matrix = lib.rand(4, 4)
    one = lib.rand(1)
    zeros = lib.zeros
    linear, x, y = lib.nn.Linear(10, 1), lib.rand(1, 10), lib.rand(1, 1)
    mse = lib.nn.MSELoss()
    sgd = lib.optim.SGD(linear.parameters(), lr=0.01)

    def step():
        sgd.zero_grad()
        mse(linear(x), y).backward()
        sgd.step()

    return locals()


ROUNDS = 20
STATEMENTS = {
    "a + b": "a + b",
    "a + b, recorded": "recorded + b",
    "x[0]": "matrix[0]",
    "x.view(16)": "matrix.view(16)",
    "x.view(2, 8)": "matrix.view(2, 8)",
    "x.sum()": "matrix.sum()",
    "x.sum(1)": "matrix.sum(1)",
    "zeros(1)": "zeros(1)",
    "x.item()": "one.item()",
    "step of Linear(10, 1)": "step()",
}


def nanoseconds(timers, seconds):
    """The best round of each, of a call. They take turns, so that all meet what else the machine does."""
    counts = [max(1, int(timer.autorange()[0] * seconds / ROUNDS / 0.2)) for timer in timers]
    rounds = [[timer.timeit(count) / count for timer, count in zip(timers, counts)] for _ in range(ROUNDS)]
    return [min(times) * 1e9 for times in zip(*rounds)]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=1.0, help="time for each figure")
    seconds = parser.parse_args().seconds
    gradus.set_num_threads(1)
    libraries = [operations(gradus)]
    if torch is not None:
        torch.set_num_threads(1)
        libraries.append(operations(torch))
    for name, statement in STATEMENTS.items():
        timers = [timeit.Timer(statement, timer=time.thread_time, globals=library) for library in libraries]
        mine, *other = nanoseconds(timers, seconds)
        line = f"{name:24} {mine:8.0f} ns"
        if other:
            line += f"   PyTorch {other[0]:8.0f} ns   {mine / other[0]:.2f}"
        print(line)


main()
