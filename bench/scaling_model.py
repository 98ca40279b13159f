"""Predicts the step of DistributedDataParallel on 2 to 1024 GPUs from what few GPUs did.

    python3 bench/scaling_model.py FILE [--node 8] [--net-gbit 400] [--net-latency-us 5]

FILE is what bench/scaling.py --out has measured: all_reduce by size on 2 GPUs or more of one
machine, when the gradients of a step on one GPU are there, and the buckets in which they travel.
The network between machines is an assumption. docs/scaling.md explains the formulas. Prints
Markdown.
"""
import argparse
import itertools
import math
import re
import sys


class Measured:
    def __init__(self, path):
        self.all_reduce = {}  # GPUs: [(bytes, seconds)]
        self.buckets = {}  # GPUs: [bytes], in the order in which they start
        self.profile = {}  # batch: {what has ended: (seconds, bytes)}, in the order of time
        self.ddp = {}  # (batch, GPUs): seconds of a step; of one GPU alone under (batch, 1)
        with open(path) as lines:
            for line in lines:
                case, who, seconds, work, _ = line.rstrip("\n").split("\t")
                if who == "gradus":
                    self.take(case, float(seconds), float(work))

    def take(self, case, seconds, work):
        if found := re.match(r"all_reduce of (\d+) B on (\d+)$", case):
            self.all_reduce.setdefault(int(found[2]), []).append((int(found[1]), seconds))
        elif found := re.match(r"ddp_nccl, bucket \d+ on (\d+)$", case):
            self.buckets.setdefault(int(found[1]), []).append(int(work))
        elif found := re.match(r"profile, batch (\d+), (.*)$", case):
            self.profile.setdefault(int(found[1]), {})[found[2]] = seconds, work
        elif found := re.match(r"(single|ddp_nccl), batch (\d+) on (\d+)$", case):
            self.ddp[int(found[2]), int(found[3])] = seconds


def solve(matrix, right):
    """x of matrix x = right, by Gaussian elimination; the matrix is positive definite."""
    rows = [row + [value] for row, value in zip(matrix, right)]
    for k, pivot in enumerate(rows):
        for row in rows[k + 1:]:
            scale = row[k] / pivot[k]
            row[k:] = [x - scale * y for x, y in zip(row[k:], pivot[k:])]
    x = [0.0] * len(rows)
    for k in reversed(range(len(rows))):
        x[k] = (rows[k][-1] - sum(a * b for a, b in zip(rows[k][k + 1:-1], x[k + 1:]))) / rows[k][k]
    return x


def fit(all_reduce):
    """Seconds that every call takes, latency in s and bandwidth in B/s of a ring's step, by least squares of
    relative errors. Calls on one number of GPUs do not tell the first two apart: all counts for the call."""
    points = [(1, 2 * (ranks - 1), 2 * (ranks - 1) / ranks * size, seconds)
              for ranks, measured in all_reduce.items() for size, seconds in measured]

    def least_squares(columns):
        terms = [[point[c] / point[3] for c in columns] for point in points]
        products = [[sum(row[a] * row[b] for row in terms) for b in range(len(columns))] for a in range(len(columns))]
        return solve(products, [sum(row[a] for row in terms) for a in range(len(columns))])

    call, alpha, inverse = least_squares([0, 1, 2]) if len(all_reduce) > 1 else (0, -1, 0)
    if alpha < 0:
        (call, inverse), alpha = least_squares([0, 2]), 0.0
    return call, alpha, 1 / inverse


class Network:
    """Machines of `node` GPUs each; seconds of an all_reduce of n bytes by each algorithm."""

    def __init__(self, call, alpha, beta, node, net_alpha, net_beta):
        self.call, self.alpha, self.beta, self.node = call, alpha, beta, node
        self.net_alpha, self.net_beta = net_alpha, net_beta

    def shape(self, gpus):
        return min(gpus, self.node), math.ceil(gpus / self.node)

    def slowest(self, gpus):
        """Latency and bandwidth of a step that all GPUs take at once."""
        return ((self.alpha, self.beta) if gpus <= self.node else
                (self.net_alpha, min(self.beta, self.node * self.net_beta)))

    def ring(self, n, gpus):
        alpha, beta = self.slowest(gpus)
        return self.call + 2 * (gpus - 1) * (alpha + n / gpus / beta)

    def tree(self, n, gpus):
        local, nodes = self.shape(gpus)
        levels = math.ceil(math.log2(nodes))
        steps = 2 * (local - 1) * self.alpha + 2 * levels * self.net_alpha
        return self.call + steps + 2 * n / self.slowest(gpus)[1]

    def hierarchical(self, n, gpus):
        local, nodes = self.shape(gpus)
        part, levels = n / local, math.ceil(math.log2(nodes))
        between = min(2 * (nodes - 1) * (self.net_alpha + part / nodes / self.net_beta),
                      2 * levels * self.net_alpha + 2 * part / self.net_beta)
        return self.call + 2 * (local - 1) * (self.alpha + part / self.beta) + between

    def best(self, n, gpus):
        return min(self.ring(n, gpus), self.tree(n, gpus), self.hierarchical(n, gpus))


def pieces(profile, buckets, most):
    """Bytes of what is reduced by one call, and when it is there. A bucket of more than `most` bytes is one gradient
    that is computed, and travels, in pieces: evenly in the time since the gradient before it, so the model has it."""
    gradients = [mark for name, mark in profile.items() if name.startswith("gradient ")]
    arrived = list(itertools.accumulate(size for _, size in gradients))
    for size, needed in zip(buckets, itertools.accumulate(buckets)):
        last = next((i for i, there in enumerate(arrived) if there >= needed), len(gradients) - 1)
        count = math.ceil(size / most)
        begin, end = gradients[last - 1][0] if last > 0 else 0.0, gradients[last][0]
        for k in range(count):
            yield min(most, size - k * most), begin + (end - begin) * (k + 1) / count


def exposed(profile, buckets, cost, most):
    """How much later than the backward pass the last piece is there, and the time of all of them."""
    end = total = 0.0
    for size, ready in pieces(profile, buckets, most):
        spent = cost(size)
        end, total = max(end, ready) + spent, total + spent
    return max(0.0, end - profile["backward"][0]), total


def table(header, rows):
    print("| " + " | ".join(header) + " |\n" + "|---" * len(header) + "|")
    for row in rows:
        print("| " + " | ".join(row) + " |")
    print()


def size_of(n):
    for unit, scale in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if n >= scale:
            return f"{n / scale:.4g} {unit}"
    return f"{n} B"


def time_of(seconds):
    return f"{seconds * 1e6:.1f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def print_fit(measured, network):
    counts = " and ".join(map(str, sorted(measured.all_reduce)))
    print(f"Fitted to {counts} GPUs: a call {network.call * 1e6:.1f} us, and a step of the ring "
          f"alpha = {network.alpha * 1e6:.1f} us, {network.beta * 1e-9:.1f} GB/s.\n")
    rows = []
    for ranks, points in sorted(measured.all_reduce.items()):
        for size, seconds in points:
            bus = 2 * (ranks - 1) / ranks * size / seconds
            fitted = network.ring(size, ranks)
            rows.append([str(ranks), size_of(size), time_of(seconds), f"{bus * 1e-9:.1f} GB/s", time_of(fitted),
                         f"{fitted / seconds - 1:+.0%}"])
    table(["GPUs", "all_reduce of", "measured", "bus bandwidth", "fitted", "off by"], rows)


def print_algorithms(network, sizes, counts):
    table(["GPUs", "machines", "all_reduce of", "ring", "tree", "hierarchical"],
          [[str(n), str(network.shape(n)[1]), size_of(size)] +
           [time_of(f(size, n)) for f in (network.ring, network.tree, network.hierarchical)]
           for n in counts for size in sizes])


def print_steps(measured, network, counts, most):
    rows = []
    for batch, profile in measured.profile.items():
        alone = measured.ddp[batch, 1]

        def predict(n):
            buckets = measured.buckets.get(n) or next(iter(measured.buckets.values()))
            return exposed(profile, buckets, lambda size: network.best(size, n), most)

        fewest = min((n for b, n in measured.ddp if b == batch and n > 1), default=None)
        rest = measured.ddp[batch, fewest] - alone - predict(fewest)[0] if fewest else None
        for n in counts:
            late, total = predict(n)
            row = [str(batch), str(n), time_of(total), f"{1 - late / total:.0%}", time_of(alone + late),
                   f"{alone / (alone + late):.3f}"]
            row += [time_of(alone + late + rest), f"{alone / (alone + late + rest):.3f}"] if fewest else ["", ""]
            seen = measured.ddp.get((batch, n))
            rows.append(row + ([time_of(seen), f"{alone / seen:.3f}"] if seen else ["", ""]))
    table(["batch per GPU", "GPUs", "all_reduces", "hidden", "step at least", "efficiency", "step with the rest",
           "efficiency", "measured", "efficiency"], rows)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--node", type=int, default=8, help="GPUs of a machine")
    parser.add_argument("--net-gbit", type=float, default=400, help="of each GPU to other machines, Gb/s")
    parser.add_argument("--net-latency-us", type=float, default=5, help="of a step between machines")
    parser.add_argument("--piece-mib", type=float, default=32, help="of a large gradient, as it travels")
    parser.add_argument("--gpus", default="2,4,8,64,1024", help="the numbers to predict for")
    options = parser.parse_args()
    try:
        measured = Measured(options.file)
    except OSError as error:
        sys.exit(f"scaling_model.py: {error}")
    for what in ("all_reduce", "buckets", "profile"):
        if not getattr(measured, what):
            sys.exit(f"scaling_model.py: {options.file} has no figures of {what}; "
                     "run bench/scaling.py with --out on two GPUs or more")
    network = Network(*fit(measured.all_reduce), options.node, options.net_latency_us * 1e-6,
                      options.net_gbit / 8 * 1e9)
    counts = [int(n) for n in options.gpus.split(",")]
    print_fit(measured, network)
    print(f"Assumed: machines of {options.node} GPUs; between machines {options.net_gbit:g} Gb/s for each GPU and "
          f"{options.net_latency_us:g} us for a step.\n")
    whole = sum(next(iter(measured.buckets.values())))
    print_algorithms(network, [1 << 20, whole], counts)
    print_steps(measured, network, counts, options.piece_mib * (1 << 20))


if __name__ == "__main__":
    main()
