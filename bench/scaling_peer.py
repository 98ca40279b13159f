"""PyTorch on the cases of bench/scaling.cpp: python3 scaling_peer.py single|data_parallel|ddp BATCH [DEVICES]."""
import os
import statistics
import sys
import time

import torch
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = False


def make_model():
    return nn.Sequential(nn.Linear(4096, 8192), nn.ReLU(), nn.Linear(8192, 8192), nn.ReLU(),
                         nn.Linear(8192, 1024))


def seconds_per_step(model, x, y, devices):
    sgd = torch.optim.SGD(model.parameters(), lr=1e-3)
    calls = 10 if len(x) > 4096 else 30
    times = []
    for round in range(-1, 5):
        start = time.perf_counter()
        for _ in range(calls):
            sgd.zero_grad()
            nn.functional.mse_loss(model(x), y).backward()
            sgd.step()
        for device in devices:
            torch.cuda.synchronize(device)
        if round >= 0:
            times.append((time.perf_counter() - start) / calls)
    return statistics.median(times)


def report(mode, batch, devices, seconds):
    print(f"{mode}, batch {batch} on {devices}\tpytorch\t{seconds:.9g}\t{batch * devices}\tsamples", flush=True)


mode, batch = sys.argv[1], int(sys.argv[2])
torch.manual_seed(1)
if mode == "ddp":
    torch.distributed.init_process_group("nccl")
    device = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(device)
    model = nn.parallel.DistributedDataParallel(make_model().cuda(), device_ids=[device])
    x, y = torch.randn(batch, 4096, device="cuda"), torch.randn(batch, 1024, device="cuda")
    seconds = seconds_per_step(model, x, y, [device])
    if torch.distributed.get_rank() == 0:
        report(mode, batch, torch.distributed.get_world_size(), seconds)
    torch.distributed.destroy_process_group()
else:
    devices = 1 if mode == "single" else int(sys.argv[3])
    model = make_model().cuda()
    if mode == "data_parallel":
        model = nn.DataParallel(model, list(range(devices)))
    x = torch.randn(batch * devices, 4096, device="cuda")
    y = torch.randn(batch * devices, 1024, device="cuda")
    report(mode, batch, devices, seconds_per_step(model, x, y, range(devices)))
