"""Tests of task 5.1."""
from judge.testing import task

T = task("5.1", "Scatter and gather", 15, "5_parallel/5.1_scatter_gather.cpp", exports=["course::scatter", "course::gather"])

# (rows, width, devices) -> numbers of each part
EVEN = [((2, 1, 2), [1, 1]), ((4, 3, 2), [6, 6]), ((6, 2, 3), [4, 4, 4]), ((4, 5, 1), [20])]
UNEVEN = [((3, 1, 2), [2, 1]), ((7, 2, 3), [6, 4, 4]), ((11, 1, 4), [3, 3, 3, 2]), ((5, 3, 4), [6, 3, 3, 3])]
FEW = [((1, 2, 3), [2, 0, 0]), ((2, 3, 4), [3, 3, 0, 0]), ((0, 4, 2), [0, 0]), ((5, 0, 3), [0, 0, 0])]


def ask(t, call, sizes, parts, home=0):
    rows, width, devices = sizes
    x = [float(i) for i in range(rows * width)]
    return x, t.run(call=call, x=x, rows=rows, width=width, devices=devices, home=home, **({"sizes": parts} if call == "gather" else {}))


def scattered(t, cases):
    for sizes, parts in cases:
        x, reply = ask(t, "scatter", sizes, parts)
        t.equal(reply["sizes"], parts, "numbers of each part")
        t.equal(reply["x"], x, "the parts, one after the other")


def gathered(t, cases):
    for sizes, parts in cases:
        x, reply = ask(t, "gather", sizes, parts)
        t.equal(reply["x"], x, "out")


def without_numbers(t, call, sizes, parts, home=0):
    """A call with more numbers than there is memory for: only where copies begin and how long they are can be looked at."""
    rows, width, devices = sizes
    reply = t.run(call=call, x=[], rows=rows, width=width, devices=devices, home=home, dry=1, **({"sizes": parts} if call == "gather" else {}))
    if call == "scatter":
        t.equal(reply["sizes"], parts, "numbers of each part")
    expected = [[sum(parts[:i]), 0, numbers] for i, numbers in enumerate(parts) if numbers]
    to, source, numbers = (reply["places"][each::3] for each in range(3))
    found = []
    for at, in_part, n in sorted(zip(*((source, to) if call == "scatter" else (to, source)), numbers)):
        if found and [at, in_part] == [found[-1][0] + found[-1][2], found[-1][1] + found[-1][2]]:
            found[-1][2] += n  # the next piece of a part
        else:
            found.append([at, in_part, n])
    t.equal(found, expected, f"copies of {call}, each [where it begins in memory of home, where in the part, numbers]")


@T.test(3, "scatter", "as many rows for each device", hint="Part i begins where part i - 1 ends; a row has `width` numbers.")
def _(t):
    scattered(t, EVEN)


@T.test(2, "scatter remainder", "rows that the devices do not divide", hint="The first rows % devices parts have one row more.")
def _(t):
    scattered(t, UNEVEN)
    without_numbers(t, "scatter", (2 ** 25 + 3, 1, 4), [2 ** 23 + 1] * 3 + [2 ** 23])


@T.test(3, "gather", "parts of the same size", hint="The parts lie in out one after the other, in the order of the devices.")
def _(t):
    gathered(t, EVEN)


@T.test(2, "gather remainder", "parts of different sizes", hint="gather must know the same sizes as scatter: the first parts may have one row more.")
def _(t):
    gathered(t, UNEVEN)
    without_numbers(t, "gather", (2 ** 25 + 3, 1, 4), [2 ** 23 + 1] * 3 + [2 ** 23])


@T.test(2, "few rows", "fewer rows than devices, and rows without numbers", hint="A device without rows gets an empty part, and no copy is made for it. Without numbers, all parts are empty.")
def _(t):
    scattered(t, FEW)
    gathered(t, FEW)
    for call in ("scatter", "gather"):
        for sizes, parts in FEW:
            t.at_most(ask(t, call, sizes, parts)[1]["empty"][0], 0, f"empty copies of {call}")


@T.test(3, "bytes", "each number is copied once, directly", hint="Copy from `home` to device i, or back: no other device has to do with it.")
def _(t):
    for call in ("scatter", "gather"):
        for sizes, parts in [((6, 2, 3), [4, 4, 4]), ((7, 3, 4), [6, 6, 6, 3]), ((20000, 1, 2), [10000, 10000])]:
            for home in range(sizes[2]):
                x, reply = ask(t, call, sizes, parts, home)
                t.equal(reply["x"], x, "the numbers")
                # All that is not home's own part goes from one device to another: 4 bytes each.
                t.at_most(reply["between"][0], 4 * (len(x) - parts[home]), f"bytes between devices in {call}")
                t.at_most(reply["copies"][0], len(parts), f"copies of {call}")
