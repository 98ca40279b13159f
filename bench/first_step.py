#!/usr/bin/env python3
"""Times how long the first training steps of GPT-2 take on a GPU: fused and captured here, compiled in PyTorch.

    PYTHONPATH=build/python bench/first_step.py [--layers N]

Each case is a process of its own, after its imports and after its model lies on the GPU: with an empty cache of kernels on
disk, and again with the cache that this left. Prints seconds until the first step has ended, until the third, with a step
of another batch size, and how long a step takes then. Steps are those of bench/models: bfloat16 by autocast, AdamW.
"""
import argparse
import os
import subprocess
import sys
import tempfile
import time

from small_models import models_of, seconds

BATCH, TOKENS, WORDS, HEADS, WIDTH = 8, 1024, 50257, 12, 768


def fused_gpt(library, layers):
    """The GPT of small_models.py whose blocks are two fused functions about the attention."""
    F, models = library.nn.functional, models_of(library)

    def norm(x, weight, bias):
        return F.layer_norm(x, (x.size(-1),), weight, bias)

    @library.fuse
    def before(x, norm_weight, norm_bias, weight, bias):
        return F.linear(norm(x, norm_weight, norm_bias), weight, bias)

    @library.fuse
    def after(x, seen, weight, bias, norm_weight, norm_bias, up, up_bias, down, down_bias):
        x = x + F.linear(seen, weight, bias)
        return x + F.linear(F.gelu(F.linear(norm(x, norm_weight, norm_bias), up, up_bias)), down, down_bias)

    class Block(models.GPTBlock):
        def forward(self, x, mask=None):
            batch, tokens, width = x.shape
            qkv = before(x, self.norm1.weight, self.norm1.bias, self.qkv.weight, self.qkv.bias)
            q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2) for part in qkv.chunk(3, -1))
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(batch, tokens, width)
            return after(x, seen, self.proj.weight, self.proj.bias, self.norm2.weight, self.norm2.bias, self.up.weight,
                         self.up.bias, self.down.weight, self.down.bias)

    model = models.GPT(WORDS, TOKENS, layers, HEADS, WIDTH)
    model.blocks = library.nn.ModuleList(Block(HEADS, WIDTH) for _ in range(layers))
    return model, (before, after)


def trained(library, model):
    F = library.nn.functional
    adamw = library.optim.AdamW(model.parameters(), lr=3e-4)

    def step(x, y):
        adamw.zero_grad()
        with library.amp.autocast("cuda", library.bfloat16):
            loss = F.cross_entropy(model(x).flatten(0, 1), y.flatten())
        loss.backward()
        adamw.step()
        return loss

    return step


def one(kind, layers):
    """The times of a kind, as a line: until the first step, until the third, a step of another size, one of many."""
    if kind == "gradus":
        import gradus as library

        model, functions = fused_gpt(library, layers)
    else:
        import torch as library

        model, functions = models_of(library).GPT(WORDS, TOKENS, layers, HEADS, WIDTH), ()
    library.manual_seed(0)
    model.to("cuda")
    x, y = (library.randint(0, WORDS, (BATCH, TOKENS), device="cuda") for _ in range(2))
    if kind == "torch":
        model = library.compile(model, mode="reduce-overhead")
    step = trained(library, model)
    library.cuda.synchronize()
    start = time.perf_counter()

    def since():
        library.cuda.synchronize()
        return time.perf_counter() - start

    step(x, y)
    first = since()
    if kind == "gradus":
        step_again = library.cuda.make_graphed(step, x, y)
        step_again(x, y)
    else:
        step(x, y), step(x, y)
        step_again = step
    third = since()
    before = since()
    step(x[1:], y[1:])
    other = since() - before
    for function in functions:
        if function.why_not():
            sys.exit(function.why_not())
    print(f"{first:.2f}\t{third:.2f}\t{other:.2f}\t{seconds(library, lambda: step_again(x, y), 10) * 1e3:.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--one", choices=("gradus", "torch"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        return one(args.one, args.layers)
    print("| case | first step, s | third | another batch size | a step, ms |\n|---|---|---|---|---|")
    for kind in ("gradus", "torch"):
        with tempfile.TemporaryDirectory() as folder:
            environment = {**os.environ, "GRADUS_KERNEL_CACHE": folder, "TORCHINDUCTOR_CACHE_DIR": folder, "TRITON_CACHE_DIR": folder}
            for cache in ("empty", "filled"):
                ran = subprocess.run([sys.executable, __file__, "--one", kind, "--layers", str(args.layers)], env=environment,
                                     stdout=subprocess.PIPE, text=True)
                times = ran.stdout.split() if ran.returncode == 0 else ["failed"]
                print(f"| {kind}, {cache} cache | {' | '.join(times)} |", flush=True)


if __name__ == "__main__":
    main()
