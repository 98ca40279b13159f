#!/usr/bin/env python3
"""Compares the first losses of the examples char_gpt and cnn_fashion_mnist with PyTorch's, from equal weights and batches.

    losses.py FOLDER [DEVICE] [--spread]    the folder that example_losses was given (ninja example_losses builds it)

It compares the first 50 losses to 1e-4, and char_gpt's validation loss after all steps to 1%. Needs torch and numpy. The cnn is
compared in float64 (example_losses --double): roundings of float32 grow to 3e-4 to 8e-4 in its 50 steps, in PyTorch as here. `--spread`
shows how far runs in float32, and PyTorch's own, are from float64.
"""
import json
import os
import sys

import numpy
import torch
from torch import nn
from torch.nn import functional as F

TOLERANCE, COMPARED, VALIDATION_TOLERANCE = 1e-4, 50, 1e-2
torch.backends.cudnn.allow_tf32 = False
DTYPES = {"F32": numpy.float32, "F64": numpy.float64, "I64": numpy.int64}


def read(path):
    """The tensors of a safetensors file."""
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        content = file.read()
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(numpy.frombuffer(content[slice(*item["data_offsets"])], DTYPES[item["dtype"]])
                                   .reshape(item["shape"]).copy()) for name, item in header.items()}


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.proj = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.qkv(self.norm1(x)).chunk(3, -1))
        seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.proj(seen.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary, context, layers, heads, width):
        super().__init__()
        self.token, self.place = nn.Embedding(vocabulary, width), nn.Embedding(context, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.head(self.norm(self.blocks(self.token(x) + self.place(torch.arange(x.size(1), device=x.device)))))


def char_gpt(tensors, model):
    width = model["head.weight"].shape[1]
    net = GPT(model["head.weight"].shape[0], model["place.weight"].shape[0],
              len([name for name in model if name.endswith("qkv.weight")]), tensors["heads"].item(), width)
    return net, 2e-3, {"total_steps": len(tensors["x"]), "pct_start": 0.1, "cycle_momentum": False}, 1.0


def cnn_fashion_mnist(tensors, model):
    def convolution(name_in, out):
        return nn.Conv2d(name_in, out, 3, padding=1, bias=False)
    net = nn.Sequential(convolution(1, 32), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d(2),
                        convolution(32, 64), nn.BatchNorm2d(64), nn.ReLU(), nn.MaxPool2d(2),
                        convolution(64, 128), nn.BatchNorm2d(128), nn.ReLU(), nn.Flatten(),
                        nn.Dropout(0.0), nn.Linear(128 * 7 * 7, 10))
    return net, 4e-3, {"total_steps": 2000}, None


def loss_of(net, x, y):
    scores = net(x)
    return F.cross_entropy(scores.reshape(-1, scores.shape[-1]), y.flatten())


def train(make, tensors, weights, device, dtype, **layout):
    """The losses of all steps, and the model after them."""
    net, lr, cycle, clip = make(tensors, weights)
    net.load_state_dict(weights)
    net.to(device, dtype, **layout)
    adamw = torch.optim.AdamW(net.parameters(), lr=lr)
    schedule = torch.optim.lr_scheduler.OneCycleLR(adamw, lr, **cycle)
    losses = []
    for x, y in zip(tensors["x"], tensors["y"]):
        adamw.zero_grad()
        loss = loss_of(net, x.to(device, dtype if x.is_floating_point() else None, **layout), y.to(device))
        loss.backward()
        if clip:
            nn.utils.clip_grad_norm_(net.parameters(), clip)
        adamw.step()
        schedule.step()
        losses.append(loss.detach().double().cpu())
    return torch.stack(losses), net


def largest(losses, expected):
    return (abs(losses - expected) / abs(expected))[:COMPARED].max().item()


def main():
    failed = False
    device = next((word for word in sys.argv[2:] if not word.startswith("--")), "cpu")
    for make in (char_gpt, cnn_fashion_mnist):
        tensors = read(os.path.join(sys.argv[1], make.__name__ + ".safetensors"))
        weights = {name[6:]: value for name, value in tensors.items() if name.startswith("model.")}
        ours, dtype = tensors["losses"].double(), tensors["losses"].dtype
        losses, net = train(make, tensors, weights, device, dtype)
        worst = largest(ours, losses)
        print(f"{make.__name__}: {len(ours)} losses from {ours[0]:.4f} to {ours[-1]:.4f}, "
              f"largest relative difference of the first {COMPARED} {worst:.1e}")
        if "--spread" in sys.argv:
            exact = losses if dtype == torch.float64 else train(make, tensors, weights, device, torch.float64)[0]
            runs = {"this run": ours, "PyTorch in float32": train(make, tensors, weights, device, torch.float32)[0]}
            if make is cnn_fashion_mnist:
                runs["and with channels last"] = train(make, tensors, weights, device, torch.float32,
                                                       memory_format=torch.channels_last)[0]
            for name, run in runs.items():
                print(f"  from PyTorch in float64: {name} {largest(run, exact):.1e}")
        failed |= not worst <= TOLERANCE
        if "validation.loss" in tensors:
            net.eval()
            with torch.no_grad():
                loss = torch.stack([loss_of(net, x.to(device), y.to(device)) for x, y in
                                    zip(tensors["validation.x"].split(64), tensors["validation.y"].split(64))]).mean().item()
            expected = tensors["validation.loss"].item()
            difference = abs(expected - loss) / loss
            print(f"  validation loss {expected:.4f}, of PyTorch {loss:.4f}, difference {difference:.1e}")
            failed |= not difference <= VALIDATION_TOLERANCE
    return failed


if __name__ == "__main__":
    sys.exit(main())
