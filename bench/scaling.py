"""Weak scaling beside PyTorch: the same batch for each of 1 to N GPUs, in turns, as one table.

    bench/scaling.py BUILD_DIR [--turns 2] [--batches 512,4096] [--devices 2,4]

Weak scaling is the time of a step on one GPU over that on N, each program by itself.
"""
import argparse
import os
import pathlib
import socket
import subprocess
import sys

here = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def seconds(command, mode, batch, devices):
    """Of a step, as rank 0 prints it; None where a rank failed."""
    command = command + [mode, str(batch), str(devices)]
    ranks = devices if mode == "ddp" else 1
    common = dict(os.environ, NCCL_NVLS_ENABLE="0", OMP_NUM_THREADS="4")
    if mode == "ddp":
        common.update(WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(free_port()))
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                env=dict(common, RANK=str(r), LOCAL_RANK=str(r)))
               for r in range(ranks)]
    lines = []
    failed = False
    for process in running:
        try:
            lines += process.communicate(timeout=120)[0].splitlines()
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
        failed |= process.returncode != 0
    fields = [line.split("\t") for line in lines if line.count("\t") == 4]
    return None if failed or not fields else float(fields[0][2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--turns", type=int, default=2)
    parser.add_argument("--batches", default="512,4096")
    parser.add_argument("--devices", default="2,4")
    options = parser.parse_args()
    gpus = subprocess.run(["nvidia-smi", "-L"], capture_output=True, text=True).stdout.count("GPU ")
    programs = {"gradus": [f"{options.build}/bench/bench_scaling"],
                "PyTorch": [sys.executable, str(here / "scaling_peer.py")]}
    cases = [("single", 1)] + [(mode, n) for n in map(int, options.devices.split(","))
                               for mode in ("data_parallel", "ddp") if n <= gpus]
    print("| batch per GPU | GPUs | | gradus | weak scaling | PyTorch | weak scaling | ratio |")
    print("|---|---|---|---|---|---|---|---|")
    for batch in map(int, options.batches.split(",")):
        best = {}
        for mode, devices in cases * options.turns:
            for who, command in programs.items():
                spent = seconds(command, mode, batch, devices)
                key = who, mode, devices
                if spent is not None:
                    best[key] = min(spent, best.get(key, spent))
        for mode, devices in cases:
            row = [str(batch), str(devices), mode]
            for who in programs:
                spent, alone = best.get((who, mode, devices)), best.get((who, "single", 1))
                row += [f"{spent * 1e3:.2f} ms", f"{alone / spent:.3f}"] if spent and alone else ["failed", ""]
            ours, theirs = (best.get((who, mode, devices)) for who in programs)
            row.append(f"{theirs / ours:.2f}" if ours and theirs else "")
            print("| " + " | ".join(row) + " |", flush=True)


main()
