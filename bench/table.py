"""Makes one table of the lines that the benchmark programs print.

    bench/table.py FILE...      each line: case, who, seconds per call, work per call, unit

Of several lines for one case the fastest counts. Prints Markdown: case, gradus, each peer with the
ratio peer's time / gradus' time (above 1: gradus is faster), and the fraction of the copy bandwidth
where the case moves bytes and a copy was timed.
"""
import sys


def read(paths):
    cases = {}
    for path in paths:
        with open(path) as lines:
            for line in lines:
                fields = line.rstrip("\n").split("\t")
                if len(fields) != 5:
                    continue
                name, who, seconds, work, unit = fields
                case = cases.setdefault(name, {})
                best = min(float(seconds), case.get(who, (float("inf"),))[0])
                case[who] = (best, float(work), unit)
    return cases


def shown(seconds, work, unit):
    if unit == "B":
        return f"{work / seconds * 1e-12:.2f} TB/s"
    if unit == "FLOP":
        rate = work / seconds
        return f"{rate * 1e-12:.1f} TFLOP/s" if rate > 1e12 else f"{rate * 1e-9:.1f} GFLOP/s"
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def main():
    cases = read(sys.argv[1:])
    peers = []
    for results in cases.values():
        peers += [who for who in results if who != "gradus" and who not in peers]
    copies = [work / seconds for name, results in cases.items() if name.startswith("copy")
              for seconds, work, _ in results.values()]
    limit = max(copies, default=0)
    print("| case | gradus | " + " | ".join(f"{p} | ratio" for p in peers) + " | of copy limit |")
    print("|---|---|" + "---|---|" * len(peers) + "---|")
    for name, results in cases.items():
        if "gradus" not in results:
            continue
        ours = results["gradus"]
        row = [name, shown(*ours)]
        for peer in peers:
            theirs = results.get(peer)
            row += [shown(*theirs), f"{theirs[0] / ours[0]:.2f}"] if theirs else ["", ""]
        moves = ours[2] == "B" and limit > 0
        row.append(f"{ours[1] / ours[0] / limit:.1%}" if moves else "")
        print("| " + " | ".join(row) + " |")


main()
