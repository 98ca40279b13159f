#!/usr/bin/env python3
"""Compares the first losses of the examples char_gpt and cnn_fashion_mnist with PyTorch's, from equal weights and batches.

    losses.py FOLDER [DEVICE]    the folder that example_losses was given (ninja example_losses builds it)

Of char_gpt it compares the first 50 losses to 1e-4, and the validation loss after all steps to 1%. Needs torch and numpy.
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


def relative(loss, expected):
    return abs(loss.item() - expected.item()) / abs(loss.item())


def main():
    failed = False
    device = sys.argv[2] if len(sys.argv) > 2 else "cpu"
    for make in (char_gpt, cnn_fashion_mnist):
        tensors = read(os.path.join(sys.argv[1], make.__name__ + ".safetensors"))
        weights = {name[6:]: value for name, value in tensors.items() if name.startswith("model.")}
        net, lr, cycle, clip = make(tensors, weights)
        net.load_state_dict(weights)
        net.to(device)
        adamw = torch.optim.AdamW(net.parameters(), lr=lr)
        schedule = torch.optim.lr_scheduler.OneCycleLR(adamw, lr, **cycle)
        differences = []
        for x, y, expected in zip(tensors["x"], tensors["y"], tensors["losses"]):
            adamw.zero_grad()
            loss = loss_of(net, x.to(device), y.to(device))
            loss.backward()
            if clip:
                nn.utils.clip_grad_norm_(net.parameters(), clip)
            adamw.step()
            schedule.step()
            differences.append(relative(loss.detach(), expected))
        worst = max(differences[:COMPARED])
        print(f"{make.__name__}: {len(tensors['x'])} losses from {tensors['losses'][0]:.4f} to {tensors['losses'][-1]:.4f}, "
              f"largest relative difference of the first {COMPARED} {worst:.1e}")
        failed |= not worst <= TOLERANCE
        if "validation.loss" in tensors:
            net.eval()
            with torch.no_grad():
                loss = torch.stack([loss_of(net, x.to(device), y.to(device)) for x, y in
                                    zip(tensors["validation.x"].split(64), tensors["validation.y"].split(64))]).mean()
            difference = relative(loss, tensors["validation.loss"])
            print(f"  validation loss {tensors['validation.loss'].item():.4f}, of PyTorch {loss.item():.4f}, difference {difference:.1e}")
            failed |= not difference <= VALIDATION_TOLERANCE
    return failed


if __name__ == "__main__":
    sys.exit(main())
