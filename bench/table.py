"""Makes one table of the lines that the benchmark programs print.

    bench/table.py [--best] FILE...      each line: case, who, seconds per call, work per call, unit

Of several lines for one case the fastest counts. Prints Markdown: case, gradus, each peer with the
ratio peer's time / gradus' time (above 1: gradus is faster), and the fraction of the copy bandwidth
where the case moves bytes and a copy was timed. Where programs took turns (bench/in_turns.py), the
median of the turns' ratios stands beside that of the fastest ones, of which one may have been lucky.
--best: one peer for all, the fastest of them, captured or not, and which it was.
"""
import statistics
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
                turns = cases.setdefault(name, {}).setdefault(who, ([], float(work), unit))[0]
                turns.append(float(seconds))
    return cases


def shown(turns, work, unit):
    seconds = min(turns)
    if unit == "B":
        return f"{work / seconds * 1e-12:.2f} TB/s"
    if unit == "FLOP":
        rate = work / seconds
        return f"{rate * 1e-12:.1f} TFLOP/s" if rate > 1e12 else f"{rate * 1e-9:.1f} GFLOP/s"
    if unit in ("token", "image"):
        return f"{work / seconds:,.0f} {unit}s/s"
    if unit == "bytes":
        return f"{seconds / 2**30:.2f} GiB"
    if unit == "loss":
        return f"{seconds:.5f}"
    return f"{seconds * 1e6:.2f} us" if seconds < 1e-3 else f"{seconds * 1e3:.2f} ms"


def ratios(ours, theirs, in_turns):
    best = f"{min(theirs) / min(ours):.2f}"
    if not in_turns:
        return [best]
    return [best, f"{statistics.median(b / a for a, b in zip(ours, theirs)):.2f}"]


CAPTURED = ", captured"


def show_best(cases):
    print("| case | gradus | best of the peers | which | ratio |\n|---|---|---|---|---|")
    for name, results in cases.items():
        if "gradus" not in results:
            continue
        plain = name.removesuffix(CAPTURED)
        found = [(min(turns), work, unit, who + suffix) for suffix in ("", CAPTURED)
                 for who, (turns, work, unit) in cases.get(plain + suffix, {}).items() if who != "gradus"]
        row = [name, shown(*results["gradus"])]
        if found:
            best, work, unit, which = min(found)
            row += [shown([best], work, unit), which, ratios(results["gradus"][0], [best], False)[0]]
        else:
            row += [""] * 3
        print("| " + " | ".join(row) + " |")


def main():
    if sys.argv[1] == "--best":
        return show_best(read(sys.argv[2:]))
    cases = read(sys.argv[1:])
    peers = []
    for results in cases.values():
        peers += [who for who in results if who != "gradus" and who not in peers]
    copies = [work / min(turns) for name, results in cases.items() if name.startswith("copy")
              for turns, work, _ in results.values()]
    limit = max(copies, default=0)
    in_turns = any(len(turns) > 1 for results in cases.values() for turns, _, _ in results.values())
    columns = ["ratio", "median"] if in_turns else ["ratio"]
    heads = [head for peer in peers for head in [peer, *columns]]
    print("| " + " | ".join(["case", "gradus", *heads, "of copy limit"]) + " |")
    print("|" + "---|" * (len(heads) + 3))
    for name, results in cases.items():
        if "gradus" not in results:
            continue
        ours = results["gradus"]
        row = [name, shown(*ours)]
        for peer in peers:
            theirs = results.get(peer)
            if theirs:
                row += [shown(*theirs), *ratios(ours[0], theirs[0], in_turns)]
            else:
                row += [""] * (1 + len(columns))
        moves = ours[2] == "B" and limit > 0
        row.append(f"{ours[1] / min(ours[0]) / limit:.1%}" if moves else "")
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
