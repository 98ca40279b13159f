#!/usr/bin/python3
"""Trains LeNet-5 in PyTorch for 50 steps, from weights and batches that a formula gives, and keeps the
losses: writes lenet.txt (tests/nn/lenet_test.cpp has the same formula)."""
import pathlib

import torch

HERE = pathlib.Path(__file__).resolve().parent
STEPS, BATCH = 50, 32


def spread(count, seed):
    """Numbers in [-1, 1) without a pattern."""
    i = torch.arange(count, dtype=torch.int64)
    return ((i * 7919 + seed * 104729) * (i + seed + 17) % 1009).double() / 504.5 - 1


class LeNet(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = torch.nn.Conv2d(1, 6, 5, padding=2), torch.nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = (torch.nn.Linear(*n) for n in ((400, 120), (120, 84), (84, 10)))

    def forward(self, x):
        x = torch.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = torch.max_pool2d(torch.relu(self.conv2(x)), 2)
        x = torch.relu(self.fc1(x.flatten(1)))
        return self.fc3(torch.relu(self.fc2(x)))


def batch(step):
    labels = (torch.arange(BATCH) * 7 + step * 3) % 10
    pixels = torch.arange(784)
    pattern = (pixels * (labels[:, None] + 3) % 17).double() / 17
    noise = spread(BATCH * 784, step + 100).view(BATCH, 784)
    return (pattern + noise * 0.5).float().view(BATCH, 1, 28, 28), labels


def main():
    torch.set_num_threads(1)
    model = LeNet()
    for seed, p in enumerate(model.parameters()):
        bound = (p.numel() / p.shape[0]) ** -0.5 * 2 if p.dim() > 1 else 0.05
        p.data = (spread(p.numel(), seed) * bound).float().view(p.shape)
    sgd = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    losses = []
    for step in range(STEPS):
        x, y = batch(step)
        sgd.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(x), y)
        loss.backward()
        sgd.step()
        losses.append(loss.item())
    print(losses[0], losses[9], losses[-1])
    (HERE / "lenet.txt").write_text("# PyTorch's losses, written by lenet.py.\n"
                                    f"let losses = float64 [{len(losses)}] " +
                                    " ".join(f"{loss:.9g}" for loss in losses) + "\n")


main()
