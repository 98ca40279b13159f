"""The time of a training step, on the CPU and on a GPU: a program for PyTorch."""

import time

# was: import torch
import gradus as torch

features, batch, steps = 1000, 16, 3  # 100000, 1000 and 10 in the document


def timed_training(device):
    model = torch.nn.Linear(features, 10).to(device)
    loss_fn = torch.nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    inputs = torch.randn(batch, features, device=device)
    labels = torch.randint(0, 10, (batch,), device=device)
    if device == "cuda":
        torch.cuda.synchronize()
    start = time.time()
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_fn(model(inputs), labels)
        loss.backward()
        optimizer.step()
    if device == "cuda":
        torch.cuda.synchronize()
    return time.time() - start, loss.item()


for name in ["cpu"] + ["cuda"] * torch.cuda.is_available():
    seconds, last = timed_training(name)
    print(f"{name}: {seconds:.4f} s, loss {last:.3f}")
    assert seconds > 0 and last < 10
