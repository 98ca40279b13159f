#!/usr/bin/env python3
"""Times training steps of bench/models/models.cpp through Python beside that program itself, on a GPU.

    PYTHONPATH=build/python bench/python_models.py PROGRAM FOLDER [--turns N] [PART...]

PROGRAM is bench_models of the build whose library the extension uses; FOLDER takes the weights and batches that it
leaves, from which Python starts. The cases are those of the models below whose names contain one of the parts. The
program and Python take turns, case by case. Prints microseconds a step, the best turn of each, and Python's time over that
of C++. A first loss that differs from the program's is an error.
"""
import argparse
import subprocess
import sys

import gradus
from gradus.nn import functional as F
from small_models import models_of, seconds

models = models_of(gradus)
# The name in models.cpp, the model, and the steps between two waits for the GPU.
MODELS = [("MLP 784-512-10 batch 128", models.mlp, 200), ("LeNet-5 batch 128", models.lenet, 200),
          ("Tiny GPT 4 x 128", lambda: models.GPT(65, 64, 4, 4, 128), 200), ("GPT 6 x 384", lambda: models.GPT(65, 256, 6, 6, 384), 10)]
CAPTURED = ", captured"


def in_cpp(program, folder, case):
    """Seconds a step, eager and captured, and the first loss."""
    lines = subprocess.run([program, folder, case], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()
    values = {fields[0]: float(fields[2]) for fields in (line.split("\t") for line in lines) if len(fields) == 5}
    return values[case], values[case + CAPTURED], values[case + ", first loss"]


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
    eager = seconds(gradus, lambda: step(x, y), steps)
    graphed = gradus.cuda.make_graphed(step, x, y)
    return eager, seconds(gradus, lambda: graphed(x, y), steps), first


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("parts", nargs="*")
    parser.add_argument("--turns", type=int, default=3)
    args = parser.parse_intermixed_args()
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
