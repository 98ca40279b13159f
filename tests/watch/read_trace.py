#!/usr/bin/env python3
"""Checks a trace: `format FILE` against the Trace Event Format, `perfetto FILE` by the trace processor of Perfetto.

Prints how many spans of the host it holds, or what is wrong. `perfetto` prints "skip: WHY" where the Python package
`perfetto` or its program, which it downloads when it is first used, is missing.
"""
import json
import sys

MEMBERS = {"X": {"name", "cat", "pid", "tid", "ts", "dur", "args"}, "M": {"name", "pid", "tid", "args"},
           "C": {"name", "pid", "tid", "ts", "args"}, "s": {"name", "cat", "id", "pid", "tid", "ts"},
           "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"}}


CATEGORIES = {"cpu_op", "nn_module", "autograd", "user_annotation", "kernel", "ac2g"}
ROUNDING = 0.0015  # times are rounded to a nanosecond, of microseconds


def refuse(word):
    raise AssertionError(f"{word} is no JSON")


def check_members(event):
    """The members of an event, and their types."""
    assert set(event) - {"ph"} == MEMBERS[event["ph"]], f"members of {event}"
    assert type(event["pid"]) is int and type(event["tid"]) is int, event
    assert type(event["name"]) is str and event["name"], event
    assert event.get("cat", "cpu_op") in CATEGORIES and type(event.get("args", {})) is dict, event
    for time in ("ts", "dur"):
        assert type(event.get(time, 0.0)) in (int, float) and event.get(time, 0) >= 0, event
    if event["ph"] == "C":
        assert type(event["args"]["bytes"]) is int, event
    if event["ph"] == "M":
        assert event["name"] in ("process_name", "thread_name") and type(event["args"]["name"]) is str, event


def check_nested(spans):
    """Spans of one track, (start, length, name), lie within one another or apart."""
    open_ends = []
    for start, length, name in sorted(spans, key=lambda s: (s[0], -s[1])):
        while open_ends and open_ends[-1] <= start + ROUNDING:
            open_ends.pop()
        assert not open_ends or start + length <= open_ends[-1] + ROUNDING, f"{name} at {start} crosses an end"
        open_ends.append(start + length)


def check_format(path):
    trace = json.load(open(path, encoding="utf-8"), parse_constant=refuse)
    assert type(trace) is dict and trace["displayTimeUnit"] in ("ms", "ns") and type(trace["traceEvents"]) is list
    events = trace["traceEvents"]
    tracks, flows, counters, names = {}, {}, {}, {"process_name": set(), "thread_name": set()}
    for event in events:
        check_members(event)
        track = (event["pid"], event["tid"])
        if event["ph"] == "X":
            tracks.setdefault(track, []).append((event["ts"], event["dur"], event["name"]))
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], []).append((event["ph"], track, event["ts"]))
        elif event["ph"] == "C":
            counters.setdefault(event["name"], []).append(event["ts"])
        else:
            names[event["name"]].add(track if event["name"] == "thread_name" else event["pid"])
    assert set(tracks) == names["thread_name"], "tracks and their names"
    assert {process for process, _ in tracks} == names["process_name"], "processes and their names"
    for (process, _), spans in tracks.items():
        if process >= 0:  # streams of a device may overlap
            check_nested(spans)
    for times in counters.values():
        assert times == sorted(times), "a counter goes back in time"
    # An arrow leads forward, from the start of a span to the start of another one.
    starts = {(track, start) for track, spans in tracks.items() for start, _, _ in spans}
    for flow in flows.values():
        assert [end for end, _, _ in flow] == ["s", "f"] and flow[0][2] <= flow[1][2] + ROUNDING, f"arrow {flow}"
        assert all((track, time) in starts for _, track, time in flow), f"arrow {flow} meets no span"
    host = sum(event["ph"] == "X" and event["cat"] != "kernel" for event in events)
    assert sum(event.get("cat") == "kernel" for event in events) == len(flows), "a kernel without an arrow"
    print(host, "spans, nested")


def check_perfetto(path):
    try:
        from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig
    except ImportError:
        return print("skip: the Python package perfetto is not installed; GRADUS_PYTHON may name a Python that has it")
    try:
        processor = TraceProcessor(trace=path, config=TraceProcessorConfig(load_timeout=20))
    except Exception as error:  # it has no program for this machine, and cannot download it
        return print("skip: Perfetto's trace processor does not start:", str(error).split("\n")[0])
    wrong = [row.name for row in processor.query("select name from stats where severity = 'error' and value > 0")]
    host = "select count(*) as n from slice where category != 'kernel'"
    print(next(processor.query(host)).n, "spans,", "no errors" if not wrong else wrong)
    processor.close()


if __name__ == "__main__":
    {"format": check_format, "perfetto": check_perfetto}[sys.argv[1]](sys.argv[2])
