#!/usr/bin/env python3
"""Times training steps of bench/models/models.cpp through Python beside that program itself, on a GPU.

    PYTHONPATH=build/python bench/python_models.py PROGRAM FOLDER [--turns N] [PART...]

PROGRAM is bench_models of the build whose library the extension uses; FOLDER takes the weights and batches that it
leaves, from which Python starts. The cases are those of the models below whose names contain one of the parts. The
program and Python take turns, case by case. Prints microseconds a step, the best turn of each, and Python's time over that
of C++. A first loss that differs from the program's is an error.
"""
import argparse
import statistics
import subprocess
import sys
import time

import gradus
from gradus import nn
from gradus.nn import functional as F


def mlp():
    return nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 10))


def lenet():
    return nn.Sequential(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 16, 5), nn.ReLU(),
                         nn.MaxPool2d(2), nn.Flatten(), nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(),
                         nn.Linear(84, 10))


class GPTBlock(nn.Module):
    """As in bench/models/gpt.h."""

    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.norm1, self.qkv = nn.LayerNorm(width), nn.Linear(width, 3 * width)
        self.proj, self.norm2 = nn.Linear(width, width), nn.LayerNorm(width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, tokens, width = x.shape
        q, k, v = (part.view(batch, tokens, self.heads, width // self.heads).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        seen = gradus.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(seen.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, tokens, layers, heads, width):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
        self.blocks = nn.ModuleList([GPTBlock(heads, width) for _ in range(layers)])

    def forward(self, tokens):
        x = self.token(tokens) + self.place(gradus.arange(tokens.size(1), device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


# The name in models.cpp, the model, and the steps between two waits for the GPU.
MODELS = [("MLP 784-512-10 batch 128", mlp, 200), ("LeNet-5 batch 128", lenet, 200),
          ("Tiny GPT 4 x 128", lambda: GPT(65, 64, 4, 4, 128), 200), ("GPT 6 x 384", lambda: GPT(65, 256, 6, 6, 384), 10)]
CAPTURED = ", captured"


def in_cpp(program, folder, case):
    """Seconds a step, eager and captured, and the first loss."""
    lines = subprocess.run([program, folder, case], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    values = {fields[0]: float(fields[2]) for fields in (line.split("\t") for line in lines) if len(fields) == 5}
    return values[case], values[case + CAPTURED], values[case + ", first loss"]


def seconds(run, steps):
    """As host_seconds() of bench/timer.h."""
    times = []
    for _ in range(6):
        start = time.perf_counter()
        for _ in range(steps):
            run()
        gradus.cuda.synchronize()
        times.append((time.perf_counter() - start) / steps)
    return statistics.median(times[1:])


def in_python(make, values, case, steps):
    model, kind = make(), case.rsplit(", ", 1)[1]
    model.load_state_dict({name.removeprefix("model."): t for name, t in values.items() if name.startswith("model.")})
    model.to("cuda")
    adamw = gradus.optim.AdamW(model.parameters(), lr=3e-4)
    gradus.set_float32_matmul_precision("high" if kind == "TF32" else "highest")
    gradus.backends.cudnn.allow_tf32 = kind == "TF32"
    x, y = values["x"].cuda(), values["y"].cuda()

    def step(x, y):
        adamw.zero_grad()
        with gradus.amp.autocast("cuda", gradus.bfloat16, enabled=kind == "bfloat16"):
            scores = model(x)
            loss = F.cross_entropy(scores.reshape(-1, scores.size(-1)), y.flatten())
        loss.backward()
        adamw.step()
        return loss

    first = step(x, y).item()
    step(x, y)
    eager = seconds(lambda: step(x, y), steps)
    graphed = gradus.cuda.make_graphed(step, x, y)
    return eager, seconds(lambda: graphed(x, y), steps), first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_args()
    if not gradus.cuda.is_available():
        sys.exit("bench/python_models.py: there is no GPU")
    for name, make, steps in MODELS:
        for case in (f"{name}, {kind}" for kind in ("float32", "TF32", "bfloat16")):
            if args.parts and not any(part in case for part in args.parts):
                continue
            turns = []
            for _ in range(args.turns):
                *cpp, expected = in_cpp(args.program, args.folder, case)
                values = gradus.load(f"{args.folder}/{name}.safetensors")
                *mine, first = in_python(make, values, case, steps)
                if not abs(first - expected) <= 1e-4 * abs(expected):
                    sys.exit(f"{case}: the first loss is {first} in Python and {expected} in C++")
                turns.append((cpp, mine))
            for i, label in enumerate((case, case + CAPTURED)):
                best = [min(turn[who][i] for turn in turns) for who in (0, 1)]
                print(f"{label:44} C++ {best[0] * 1e6:9.2f} us   Python {best[1] * 1e6:9.2f} us   {best[1] / best[0]:.3f}",
                      flush=True)


if __name__ == "__main__":
    main()
