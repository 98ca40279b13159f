"""Messages between the judge and a runner: named lists of numbers, and texts (runner/message.h)."""
import array
import struct


def pack(values):
    """Bytes of a message. A value is a str, an int, a float, or a list of int or of float."""
    out = [struct.pack("<I", len(values))]
    for name, value in values.items():
        kind, data = _encoded(value)
        encoded_name = name.encode()
        out += [struct.pack("<I", len(encoded_name)), encoded_name, kind, struct.pack("<I", len(data)), data]
    return b"".join(out)


def _encoded(value):
    if isinstance(value, (str, bytes)):
        return b"s", value.encode() if isinstance(value, str) else value
    if isinstance(value, (bool, int)):
        return b"l", array.array("q", [value]).tobytes()
    if isinstance(value, float):
        return b"f", array.array("f", [value]).tobytes()
    if isinstance(value, array.array):
        return {"f": b"f", "q": b"l"}[value.typecode], value.tobytes()
    if all(isinstance(each, int) for each in value) and value != []:
        return b"l", array.array("q", value).tobytes()
    return b"f", array.array("f", value).tobytes()


def unpack(read):
    """The values of one message. read(n) gives n bytes."""
    values = {}
    (count,) = struct.unpack("<I", read(4))
    for _ in range(count):
        name = read(struct.unpack("<I", read(4))[0]).decode()
        kind = read(1)
        data = read(struct.unpack("<I", read(4))[0])
        if kind == b"s":
            values[name] = data.decode(errors="replace")
        else:
            values[name] = list(array.array({b"f": "f", b"l": "q"}[kind], data))
    return values
