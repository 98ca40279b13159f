#!/usr/bin/env python3
"""What compute-sanitizer says of each planted bug, as a table in Markdown.

    verdicts.py PATH_TO_planted

Wants a GPU, and compute-sanitizer on the PATH. A cell has the tool's words and the line that it
names, with "(?)" where that is not a line of the bug. "-" is a tool that found nothing; a program
that failed without a word of the tool has its own error there.
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys

TOOLS = ["memcheck", "racecheck", "initcheck", "synccheck"]
TIMEOUT = 60  # seconds a run
PROCESSES = 8  # at once: they share one GPU

# What a tool says that is no finding of its own.
FRAME = re.compile(
    r"COMPUTE-SANITIZER|.*SUMMARY|Saved|Target application|Error: (process|Target)|Process|"
    r"No |This tool|Internal")
API_ERROR = re.compile(r"Program hit (\w+) .*on CUDA API call to (\w+)")
PLACE = re.compile(r"\b(?:in|at) (?:\S*/)?(\w+\.(?:cuh?|h)):(\d+)")


def marked_lines():
    """The lines that end with "// BUG name": {name: {"file:line"}}."""
    lines = {}
    for path in sorted(pathlib.Path(__file__).parent.glob("*.cu")):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if match := re.search(r"// BUG (\w+)$", line):
                lines.setdefault(match[1], set()).add(f"{path.name}:{number}")
    return lines


def reports(output):
    """The tool's reports: lists of lines, the heading first."""
    out = []
    for line in output.splitlines():
        if not (match := re.match(r"=========( +)(\S.*)", line)):
            continue
        if len(match[1]) > 1:
            if out:
                out[-1].append(match[2])
        else:
            out.append([match[2]])
    return [report for report in out if not FRAME.match(report[0])]


def kind_of_race(report):
    """ "Error: Race reported between Write access at ..." has the other accesses below it."""
    text = " ".join(report)
    accesses = sorted(set(re.findall(r"\b(Read|Write|Atomic) access", text)))
    return "Race " + " / ".join(accesses).lower() if accesses else report[0]


def words_of(report):
    heading = report[0]
    if "Race reported" in heading:
        return kind_of_race(report)
    if match := API_ERROR.match(heading):
        return f"API: {match[1]} from {match[2]}"
    text = re.sub(r" at 0x[0-9a-f]+.*| of size \d+ bytes| \(error .*", "", heading)
    if any("misaligned" in line for line in report):
        text += ", misaligned"
    return text


def places_of(report):
    return ["{}:{}".format(*place) for place in PLACE.findall("\n".join(report))]


def verdict(output, status, lines):
    """A cell of the table, from what a run has printed and its exit status."""
    found = reports(output)
    # An API call that fails after the kernel is a consequence; alone it is the finding.
    found.sort(key=lambda report: (bool(API_ERROR.match(report[0])),
                                   lines.isdisjoint(places_of(report))))
    if not found:
        if status == 0:
            return "-"
        words = [line for line in output.splitlines() if line and not line.startswith("=====")]
        return "program failed: " + (words[0][:60] if words else f"exit status {status}")
    text = words_of(found[0])
    ours = [place for place in places_of(found[0]) if ".cu:" in place]
    if ours:
        right = [place for place in ours if place in lines]
        shown = sorted(set(right or ours[:1]), key=(right or ours).index)
        text += ", " + " and ".join(shown) + ("" if right else " (?)")
    return text.replace("|", "/")


def run(program, bug, kind, tool, lines):
    command = ["compute-sanitizer", "--tool", tool]
    if tool == "memcheck" and kind == "leak":
        command += ["--leak-check", "full"]
    try:
        done = subprocess.run(command + [program, bug], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace",
                              timeout=TIMEOUT, check=False)
    except subprocess.TimeoutExpired:
        return "timeout"
    return verdict(done.stdout, done.returncode, lines)


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    program = str(pathlib.Path(sys.argv[1]).resolve())
    listing = subprocess.run([program, "--list"], stdout=subprocess.PIPE, text=True, check=True)
    bugs = [line.split() for line in listing.stdout.splitlines()]
    lines = marked_lines()
    with concurrent.futures.ThreadPoolExecutor(PROCESSES) as pool:
        rows = [(bug, kind, [pool.submit(run, program, bug, kind, tool, lines.get(bug, set()))
                             for tool in TOOLS]) for bug, kind in bugs]
        print("| bug | kind | " + " | ".join(TOOLS) + " |")
        print("|---" * (2 + len(TOOLS)) + "|")
        for bug, kind, cells in rows:
            kind = "correct" if kind == "-" else kind
            print(f"| {bug} | {kind} | " + " | ".join(cell.result() for cell in cells) + " |",
                  flush=True)


if __name__ == "__main__":
    main()
