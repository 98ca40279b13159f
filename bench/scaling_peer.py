"""PyTorch on the cases of bench/scaling.cpp: python3 scaling_peer.py single|data_parallel|ddp BATCHES [DEVICES]."""
import os
import statistics
import sys
import time

import torch
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = False


def make_model():
    return nn.Sequential(nn.Linear(4096, 8192), nn.ReLU(), nn.Linear(8192, 8192), nn.ReLU(),
                         nn.Linear(8192, 1024)).cuda()


def seconds_per_step(model, rows, steps, devices):
    x, y = torch.randn(rows, 4096, device="cuda"), torch.randn(rows, 1024, device="cuda")
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)
    times = []
    for _ in range(8):
        start = time.perf_counter()
        for _ in range(steps):
            sgd.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            sgd.step()
        for device in devices:
            torch.cuda.synchronize(device)
        times.append((time.perf_counter() - start) / steps)
    return statistics.median(times[1:])


def time_steps(mode, model, batches, ranks, devices, reports=True):
    for batch in batches:
        steps = min(max(12000 // batch, 3), 24)
        seconds = seconds_per_step(model, batch * len(devices), steps, devices)
        if reports:
            print(f"{mode}, batch {batch} on {ranks}\tpytorch\t{seconds:.9g}\t{batch * ranks}\tsamples", flush=True)


mode, batches = sys.argv[1], [int(batch) for batch in sys.argv[2].split(",")]
torch.manual_seed(1)
if mode == "ddp":
    device = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(device)
    torch.distributed.init_process_group("nccl")
    model = nn.parallel.DistributedDataParallel(make_model(), device_ids=[device])
    ranks, rank = torch.distributed.get_world_size(), torch.distributed.get_rank()
    time_steps(mode, model, batches, ranks, [device], rank == 0)
    torch.distributed.destroy_process_group()
else:
    devices = list(range(1 if mode == "single" else int(sys.argv[3])))
    model = make_model()
    if mode == "data_parallel":
        model = nn.DataParallel(model, devices)
    time_steps(mode, model, batches, len(devices), devices)
