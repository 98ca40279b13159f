#!/usr/bin/env python3
"""Writes the four IDX files of this folder from the digits table of scikit-learn.

    python3 make_idx.py digits.csv.gz

The table has one row per image: 64 pixels of 0 to 16, then the digit. Pixels are stored scaled to
0 to 255, the range of MNIST, so that one reader serves both: value * 255 / 16, rounded.
"""

import csv
import gzip
import pathlib
import struct
import sys

TRAIN = 1437
SIDE = 8
UNSIGNED_BYTE = 8


def write_idx(path, sizes, values):
    header = struct.pack(">HBB", 0, UNSIGNED_BYTE, len(sizes))
    header += struct.pack(f">{len(sizes)}I", *sizes)
    # No name and no time in the gzip header: the same table gives the same files.
    path.write_bytes(gzip.compress(header + bytes(values), compresslevel=9, mtime=0))


def write_split(folder, prefix, rows):
    pixels = [round(value * 255 / 16) for row in rows for value in row[:-1]]
    labels = [row[-1] for row in rows]
    write_idx(folder / f"{prefix}-images-idx3-ubyte.gz", [len(rows), SIDE, SIDE], pixels)
    write_idx(folder / f"{prefix}-labels-idx1-ubyte.gz", [len(rows)], labels)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with gzip.open(sys.argv[1], "rt", newline="") as table:
        rows = [[int(float(value)) for value in row] for row in csv.reader(table)]
    if len(rows) != 1797 or any(len(row) != SIDE * SIDE + 1 for row in rows):
        sys.exit(f"{sys.argv[1]}: expected 1797 rows of {SIDE * SIDE + 1} numbers")
    folder = pathlib.Path(__file__).parent
    write_split(folder, "train", rows[:TRAIN])
    write_split(folder, "t10k", rows[TRAIN:])


if __name__ == "__main__":
    main()
