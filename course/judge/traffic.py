"""The memory traffic of a kernel, as the runner reports it (runner/observe_simulator.cpp): for each line of the launch that moves
most, its counts, and what the threads of the first warp accessed first."""
import json

_COUNTS = ("requests", "found", "least", "allocated")


def parsed(text, file, source):
    """{"kernel", "grid", "block", "lines": [{"at": "file:line", "text": that line of the student's file, "does": "load", "store" or "atomic", "shared", "requests",
    "found" and "least": sectors of 32 bytes, or wavefronts of shared memory, "allocated": bytes, "lanes": [[lane, offset, size], ...]}]};
    None where there is none. A student's code shares the process that sends it, so nothing is taken that has another form."""
    try:
        value = json.loads(text)
        if value is None:
            return None
        rows = source.split("\n")
        lines = [{"at": str(each["at"])[:200], "text": _row(str(each["at"]), file, rows), "does": {"load": "load", "store": "store", "atomic": "atomic"}[each["does"]],
                  "shared": each["shared"] is True, **{name: _number(each[name]) for name in _COUNTS},
                  "lanes": [_lane(*lane) for lane in each["lanes"][:32]]}
                 for each in value["lines"][:40]]
        return {"kernel": str(value["kernel"])[:200], "grid": _three(value["grid"]), "block": _three(value["block"]),
                "lines": [each for each in lines if each["lanes"]]}
    except (ValueError, TypeError, KeyError, IndexError, RecursionError):
        return None


def _row(at, file, rows):
    """The line of the student's file that a place such as "3.7_matmul_tiled.cu:12" names; "" where it is of another file."""
    name, _, number = at.rpartition(":")
    return rows[int(number) - 1].strip()[:200] if name == file and 0 < int(number) <= len(rows) else ""


def _number(value, end=1 << 53):
    if type(value) is not int or not 0 <= value < end:
        raise ValueError(f"{value!r} is no count")
    return value


def _lane(lane, offset, size):
    """size: of one access, which is no larger than a float4."""
    return [_number(lane, 32), _number(offset), _number(size, 17)]


def _three(values):
    x, y, z = values
    return [_number(x), _number(y), _number(z)]
