#!/usr/bin/python3
"""Safetensors files without any library: what another program makes of ours, and we of theirs.

    tests/serialize/golden.py write     # rewrites golden.safetensors
    tests/serialize/golden.py check F   # whether F holds the same tensors and metadata
"""
import json
import math
import pathlib
import struct
import sys

METADATA = {"format": "pt", "näme": "line\nbreak, \"quotes\", \\, tab\t, \u0001, 漢字, 😀"}
CODES = {"BOOL": "?", "U8": "B", "I8": "b", "I16": "h", "I32": "i", "I64": "q", "F16": "e", "BF16": "H",
         "F32": "f", "F64": "d"}
# name: dtype, shape, elements; those of BF16 are given by their bits
CONTENT = {
    "bool": ("BOOL", [3], [True, False, True]),
    "uint8": ("U8", [2, 2], [0, 1, 128, 255]),
    "int8": ("I8", [2], [-128, 127]),
    "int16": ("I16", [1, 2, 1], [-32768, 32767]),
    "int32": ("I32", [2], [-2**31, 2**31 - 1]),
    "int64": ("I64", [2], [-2**63, 2**63 - 1]),
    "float16": ("F16", [3], [0.5, -65504.0, math.inf]),
    "bfloat16": ("BF16", [2], [0x3FC0, 0xC000]),
    "float32": ("F32", [2, 3], [0.0, 1.0, 2.0, -3.5, 2.0**100, math.nan]),
    "float64": ("F64", [], [math.pi]),
    "empty": ("F32", [2, 0, 3], []),
    "größe \"漢\" \n": ("U8", [1], [7]),
}


def read(path):
    data = pathlib.Path(path).read_bytes()
    length, = struct.unpack("<Q", data[:8])
    header = json.loads(data[8:8 + length])
    metadata = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        begin, end = (8 + length + offset for offset in entry["data_offsets"])
        code = f"<{math.prod(entry['shape'])}{CODES[entry['dtype']]}"
        tensors[name] = entry["dtype"], entry["shape"], list(struct.unpack(code, data[begin:end]))
        assert begin % struct.calcsize(CODES[entry["dtype"]]) == 0, f"{name} is not aligned"
    return tensors, metadata


def write(path):
    header, data = {"__metadata__": METADATA}, b""
    # The header's order need not be that of the data.
    for name in sorted(CONTENT, key=lambda name: -struct.calcsize(CODES[CONTENT[name][0]])):
        dtype, shape, values = CONTENT[name]
        begin = len(data)
        data += struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [begin, len(data)]}
    header = {name: header[name] for name in ["__metadata__", *CONTENT]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


if __name__ == "__main__":
    if sys.argv[1:] == ["write"]:
        write(pathlib.Path(__file__).with_name("golden.safetensors"))
    else:
        assert sys.argv[1] == "check"
        tensors, metadata = read(sys.argv[2])
        assert metadata == METADATA, metadata
        assert list(tensors) == list(CONTENT), tensors
        assert repr(tensors) == repr(CONTENT), tensors
