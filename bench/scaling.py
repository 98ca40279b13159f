"""Training on 1 to N GPUs beside PyTorch, in turns, as one table.

    python3 bench/scaling.py BUILD_DIR [--turns 2] [--batches 512,4096] [--devices 2,4,8] [--out FILE]

Weak scaling has the same batch on each GPU: its efficiency is the time of a step on one GPU over
that on N. Strong scaling divides one batch: its efficiency is the time on one GPU over N times that
on N. A program that runs times all batches of its kind, since starting takes longer than timing.

Row `apart`: as many GPUs that train without each other at the same time, the slowest of them. What
it loses to one GPU is heat and power, not communication. Row `together`: they wait for one another
after each step, and exchange nothing else: what it loses to `apart`, beside that call, is that now
one is late, now another. Row `ddp_nccl`: with GRADUS_PEER_COPIES=0, NCCL averages the gradients.

--out FILE keeps what was measured, also what bench/scaling_model.py needs: the time of all_reduce
by size, and when the parts of a step on one GPU end.
"""
import argparse
import os
import pathlib
import socket
import subprocess
import sys
import time

here = pathlib.Path(__file__).parent


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def run(command, ranks, timeout=90, nccl=False, apart=False):
    """What ranks print that end well, as rows of a case, who, seconds, work and unit."""
    common = dict(os.environ, NCCL_NVLS_ENABLE="0", OMP_NUM_THREADS="4")
    if nccl:
        common["GRADUS_PEER_COPIES"] = "0"
    if ranks and not apart:
        common.update(WORLD_SIZE=str(ranks), LOCAL_WORLD_SIZE=str(ranks), MASTER_ADDR="127.0.0.1",
                      MASTER_PORT=str(free_port()))
    begin = time.monotonic()
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                                env=dict(common, CUDA_VISIBLE_DEVICES=str(r)) if apart
                                else dict(common, RANK=str(r), LOCAL_RANK=str(r)) if ranks else common)
               for r in range(ranks or 1)]
    lines = []
    try:
        for process in running:
            left = begin + timeout - time.monotonic()
            lines += process.communicate(timeout=max(left, 0))[0].splitlines()
    except subprocess.TimeoutExpired:
        print(f"{' '.join(command)}: not done in {timeout} s", file=sys.stderr)
    finally:
        for process in running:
            process.kill()
            process.communicate()
    print(f"{time.monotonic() - begin:6.1f} s: {' '.join(command)}", file=sys.stderr, flush=True)
    good = all(process.returncode == 0 for process in running)
    return [line.split("\t") for line in lines if line.count("\t") == 4] if good else []


def numbers(text):
    return [int(number) for number in text.split(",")]


def cells(ours_and_theirs, alone):
    """Time and efficiency of each, and how many times as long PyTorch takes."""
    row = []
    for spent, first in zip(ours_and_theirs, alone):
        row += [f"{spent * 1e3:.2f} ms" if spent else "failed",
                f"{first / spent:.3f}" if spent and first else ""]
    ours, theirs = ours_and_theirs
    return row + [f"{theirs / ours:.2f}" if ours and theirs else ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("--turns", type=int, default=2, help="how often each program runs; the best counts")
    parser.add_argument("--batches", type=numbers, default=[512, 4096], help="rows: on each GPU, and divided")
    parser.add_argument("--devices", type=numbers, default=[2, 4, 8], help="how many GPUs")
    parser.add_argument("--out", help="file for the measured figures")
    options = parser.parse_args()

    listed = subprocess.run(["sh", "-c", "nvidia-smi -L"], capture_output=True, text=True).stdout
    gpus = listed.count("GPU ")
    if gpus == 0:
        sys.exit("scaling.py: nvidia-smi lists no GPU; there is nothing to measure")
    counts = [n for n in options.devices if 1 < n <= gpus]
    if not counts:
        print(f"{gpus} GPU, and {min(options.devices)} are wanted: only steps on one GPU are timed.\n")

    program = f"{options.build}/bench/bench_scaling"
    if not os.path.exists(program):
        sys.exit(f"scaling.py: there is no {program}; configure with -DGRADUS_BENCH=ON and CUDA, and build it")
    whos = {"gradus": [program], "pytorch": [sys.executable, str(here / "scaling_peer.py")]}
    shares = {n: [batch // n for batch in options.batches if batch % n == 0] for n in counts}
    cases = {}  # the fastest row of each case and who
    failed = []

    def keep(who, arguments, ranks=0, nccl=False, apart=False):
        rows = run(whos[who] + arguments, ranks, nccl=nccl, apart=apart)
        if not rows and who == "gradus":
            failed.append(" ".join(arguments))
        if apart:
            slowest = {row[0]: row for row in sorted(rows, key=lambda row: float(row[2]))}
            rows = [[case.replace("single", "apart").replace("on 1", f"on {ranks}"), *row[1:]]
                    for case, row in slowest.items()]
        for row in rows:
            if nccl:
                row[0] = row[0].replace("ddp,", "ddp_nccl,")
            key = row[0], row[1]
            if key not in cases or float(row[2]) < float(cases[key][2]):
                cases[key] = row

    whole = ",".join(map(str, options.batches))
    for _ in range(options.turns):
        for who in whos:
            keep(who, ["single", whole])
            for n in counts:
                batches = ",".join(map(str, sorted({*options.batches, *shares[n]})))
                keep(who, ["data_parallel", batches, str(n)])
                keep(who, ["ddp", batches], n)
            if who == "gradus":
                for n in counts:
                    keep(who, ["ddp", whole], n, nccl=True)
                    keep(who, ["single", whole], n, apart=True)
                    keep(who, ["together", whole], n)
    if options.out:
        keep("gradus", ["profile", whole])
        for n in counts:
            keep("gradus", ["all_reduce"], n)
        with open(options.out, "w") as file:
            file.writelines("\t".join(row) + "\n" for row in cases.values())

    def spent(mode, batch, n):
        found = [cases.get((f"{mode}, batch {batch} on {n}", who)) for who in whos]
        return [float(row[2]) if row else None for row in found]

    print("| scaling | GPUs | | batch per GPU | gradus | efficiency | PyTorch | efficiency | ratio |")
    print("|---|---|---|---|---|---|---|---|---|")
    for batch in options.batches:
        alone = spent("single", batch, 1)
        print("| " + " | ".join(["", "1", "", str(batch)] + cells(alone, alone)) + " |")
        for n in counts:
            for mode in ("apart", "together", "data_parallel", "ddp", "ddp_nccl"):
                row = ["weak", str(n), mode, str(batch)] + cells(spent(mode, batch, n), alone)
                if mode in ("apart", "together", "ddp_nccl"):  # PyTorch has none
                    row[-3:] = ["", "", ""]
                print("| " + " | ".join(row) + " |")
            if batch % n:
                continue
            ideal = [time and time / n for time in alone]
            for mode in ("data_parallel", "ddp"):
                row = ["strong", str(n), mode, str(batch // n)] + cells(spent(mode, batch // n, n), ideal)
                print("| " + " | ".join(row) + " |")
    if failed:
        sys.exit(f"scaling.py: bench_scaling failed: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
