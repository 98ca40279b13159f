"""PyTorch on the cases of bench/models/models.cpp, eager and compiled, each also as a graph, from its weights and batches.

    bench/models/peer.py FOLDER GRADUS.tsv [PART...]

A first loss that differs from that of GRADUS.tsv is an error.
"""
import statistics
import sys
import time

import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional as F

sys.path.insert(0, __file__.rsplit("/", 2)[0])
from resnet18 import ResNet18, ResNet50  # noqa: E402
from small_models import as_graph, lenet, mlp  # noqa: E402
from table import read  # noqa: E402

TOLERANCE = {"float32": 1e-4, "TF32": 1e-3, "bfloat16": 5e-3}


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
        q, k, v = (part.view(batch, tokens, self.heads, -1).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(seen.transpose(1, 2).reshape(batch, tokens, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, tokens, layers, heads, width):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(tokens, width)
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)
        self.blocks = nn.ModuleList(GPTBlock(heads, width) for _ in range(layers))

    def forward(self, tokens):
        x = self.token(tokens) + self.place(torch.arange(tokens.size(1), device=tokens.device))
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0)

    def forward(self, x):
        return self.layer(x.transpose(0, 1)).transpose(0, 1)


def report(name, who, value, work, unit):
    print(f"{name}\t{who}\t{value:.9g}\t{work:.9g}\t{unit}", flush=True)


def time_step(name, who, model, x, y, scores, dtype, items, unit, steps, expected):
    adamw = torch.optim.AdamW(model.parameters(), lr=3e-4, fused=True, capturable=True)
    run = torch.compile(model) if who == "compiled" else model

    def step(x, y):
        adamw.zero_grad(set_to_none=True)
        with torch.autocast("cuda", torch.bfloat16, enabled=dtype == "bfloat16"):
            loss = F.cross_entropy(run(x).reshape(-1, scores), y.flatten())
        loss.backward()
        adamw.step()
        return loss

    first = step(x, y).item()
    if expected and not abs(first - expected) <= TOLERANCE[dtype] * abs(expected):
        sys.exit(f"{name}: the first loss is {first} in PyTorch and {expected} in Gradus")

    def seconds(run):
        times = []
        for _ in range(6):
            torch.cuda.synchronize()
            start = time.perf_counter()
            for _ in range(steps):
                run(x, y)
            torch.cuda.synchronize()
            times.append((time.perf_counter() - start) / steps)
        return statistics.median(times[1:])

    for _ in range(3):
        step(x, y)
    torch.cuda.reset_peak_memory_stats()
    report(name, who, seconds(step), items, unit)
    report(name + ", peak memory", who, torch.cuda.max_memory_allocated(), 1, "bytes")
    report(name + ", first loss", who, first, 1, "loss")
    report(name + ", captured", who, seconds(as_graph(step, x, y)), items, unit)


def main():
    folder, ours, parts = sys.argv[1], read([sys.argv[2]]), sys.argv[3:]
    # The model, how many scores it makes, the items of a step, their name, and the steps between two waits.
    models = {"MLP 784-512-10 batch 128": (mlp, 10, 128, "image", 200),
              "LeNet-5 batch 128": (lenet, 10, 128, "image", 200),
              "Tiny GPT 4 x 128": (lambda: GPT(65, 64, 4, 4, 128), 65, 12 * 64, "token", 200),
              "GPT 6 x 384": (lambda: GPT(65, 256, 6, 6, 384), 65, 64 * 256, "token", 10),
              "GPT-2 12 x 768": (lambda: GPT(50257, 1024, 12, 12, 768), 50257, 8 * 1024, "token", 10),
              "Encoder 512": (Encoder, 512, 32 * 128, "token", 10),
              "ResNet-18 batch 128": (lambda: ResNet18(10), 10, 128, "image", 10),
              "ResNet-50 batch 64": (lambda: ResNet50(1000), 1000, 64, "image", 10)}
    for name, (make, scores, items, unit, steps) in models.items():
        for dtype in ("float32", "TF32", "bfloat16"):
            label = f"{name}, {dtype}"
            if parts and not any(part in label for part in parts):
                continue
            torch.set_float32_matmul_precision("high" if dtype == "TF32" else "highest")
            torch.backends.cudnn.allow_tf32 = dtype == "TF32"
            values = load_file(f"{folder}/{name.split()[0]}.safetensors")
            weights = {key[len("model."):]: value for key, value in values.items() if key.startswith("model.")}
            loss = ours.get(label + ", first loss")
            for who in ("pytorch", "compiled"):
                torch.compiler.reset()
                model = make()
                model.load_state_dict(weights)
                model.cuda()
                x, y = values["x"].cuda(), values["y"].cuda()
                if x.dim() == 4 and x.size(1) > 1 and dtype != "float32":
                    model, x = model.to(memory_format=torch.channels_last), x.to(memory_format=torch.channels_last)
                time_step(label, who, model, x, y, scores, dtype, items, unit, steps,
                          loss and min(loss["gradus"][0]))


main()
