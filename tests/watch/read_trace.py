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


def check_format(path):
    events = json.load(open(path))["traceEvents"]
    spans, flows = {}, {}
    for event in events:
        members = set(event) - {"ph"}
        assert members == MEMBERS[event["ph"]], f"members of {event}"
        assert isinstance(event["pid"], int) and isinstance(event["tid"], int), event
        if event["ph"] == "X":
            assert event["dur"] >= 0 and event["name"], event
            if event["cat"] != "kernel":
                spans.setdefault((event["pid"], event["tid"]), []).append((event["ts"], event["dur"], event["name"]))
        elif event["ph"] in "sf":
            flows.setdefault(event["id"], []).append(event["ph"])
        elif event["ph"] == "C":
            assert isinstance(event["args"]["bytes"], int), event
    assert all(ends == ["s", "f"] for ends in flows.values()), "flows without an end"
    # Spans of one thread lie within one another, or apart; times are rounded to a nanosecond.
    for of_thread in spans.values():
        open_ends = []
        for start, length, name in sorted(of_thread, key=lambda s: (s[0], -s[1])):
            while open_ends and open_ends[-1] <= start + 0.0015:
                open_ends.pop()
            assert not open_ends or start + length <= open_ends[-1] + 0.0015, f"{name} at {start} crosses an end"
            open_ends.append(start + length)
    print(sum(map(len, spans.values())), "spans, nested")


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
