"""PyTorch's DataLoader on the cases of bench/loader.cpp: four worker processes, which stay from epoch to epoch.

    bench/loader_peer.py FOLDER    the pictures that bench_loader made
"""
import statistics
import sys
import time

import torch
import torchvision

ROUNDS = 5


def measure(name, dataset, batch_size):
    loader = torch.utils.data.DataLoader(dataset, batch_size, shuffle=True, num_workers=4, persistent_workers=True)
    times = []
    for _ in range(1 + ROUNDS):
        start = time.perf_counter()
        seen = sum(len(x) for x, _ in loader)
        times.append(time.perf_counter() - start)
        assert seen == len(dataset)
    print(f"{name}\tPyTorch\t{statistics.median(times[1:]):.9g}\t{len(dataset)}\timage", flush=True)


measure("PNG files, 3 x 128 x 128",
        torchvision.datasets.ImageFolder(sys.argv[1], torchvision.transforms.ToTensor()), 32)
measure("tensors, 1 x 28 x 28",
        torch.utils.data.TensorDataset(torch.rand(60000, 1, 28, 28), torch.randint(10, (60000,))), 64)
