#!/usr/bin/env python3
"""Writes small files of this folder that need Python alone: one or more of each format for tests/data/readers_test.cpp
and for the fuzzers of tests/project/fuzz."""
import json
import os
import struct
import zlib

here = os.path.dirname(os.path.abspath(__file__))


def write(name, data):
    with open(os.path.join(here, name), "wb") as f:
        f.write(data if isinstance(data, bytes) else data.encode())


def idx(*sizes):
    count = 1
    for size in sizes:
        count *= size
    return bytes([0, 0, 8, len(sizes)]) + b"".join(struct.pack(">I", n) for n in sizes) + bytes(range(count))


def gz(data, level=9, flags=0, fields=b""):
    """One member; flags 2: checksum of the header, 4: extra field, 8: name, 16: comment."""
    header = struct.pack("<2sBBIBB", b"\x1f\x8b", 8, flags, 0, 0, 255) + fields
    if flags & 2:
        header += struct.pack("<H", zlib.crc32(header) & 0xffff)
    deflate = zlib.compressobj(level, zlib.DEFLATED, -15)
    return header + deflate.compress(data) + deflate.flush() + struct.pack("<II", zlib.crc32(data), len(data))


def safetensors(header, data):
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def record(labels):
    """CIFAR's: pixels are the same in each row."""
    return bytes(labels) + bytes(7 * (i % 32) for i in range(3 * 32 * 32))


write("vector.idx", idx(5))
write("images.idx", idx(2, 3, 4))
write("none.idx", idx(7, 0, 2))
write("plain.gz", gz(idx(40)))
write("stored.gz", gz(idx(9), level=0))
write("named.gz", gz(idx(2, 3), flags=2 | 4 | 8 | 16, fields=struct.pack("<H", 3) + b"abc" + b"a.idx\0" + b"a text\0"))
write("members.gz", gz(idx(3, 3)[:9]) + gz(idx(3, 3)[9:]))
write("houses.csv", 'area,rooms,city,price\n120.5,3,"Bern, ""old"" town",1e5\n80,NA,Basel,\n-7,4,"two\nlines",0x10\n')
write("windows.csv", "a,b\r\n1,2\r\n\r\n3,nan\r\n")
write("names.csv", "\ufeff\u00e4,\u2603\n1,2")
write("small.safetensors", safetensors(
    {"__metadata__": {"by": "hand"},
     "weight": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]},
     "half": {"dtype": "BF16", "shape": [3], "data_offsets": [16, 22]},
     "flag": {"dtype": "BOOL", "shape": [], "data_offsets": [22, 23]},
     "empty": {"dtype": "I64", "shape": [0, 4], "data_offsets": [23, 23]}},
    struct.pack("<4f3H?", 1, -2, 3.5, float("inf"), 0x3f80, 0x4000, 0x7fc0, True)))
write("none.safetensors", safetensors({}, b""))
write("one.cifar10", record([9]))
write("one.cifar100", record([19, 99]))
write("page.http", "GET / HTTP/1.1\r\nHost: 127.0.0.1:6007\r\nAccept: */*\r\n\r\n")
write("figures.http", "GET /data.json?t=1 HTTP/1.1\r\nhost:localhost \r\nUser-Agent: a (b; c)\r\n\r\n")
write("refused.http", "POST /a HTTP/1.0\r\nHost: example.org\r\nContent-Length: 3\r\n\r\n")
