"""Gradescope's results.json.

Read in the autograder specifications of Gradescope (project autograder_samples, docs/specs.md and docs/leaderboards.md,
with the test status of August 2022 and the formats of output strings). They have no version number.

- A test that a student sees has the points that it has without hidden tests; `score` has what these cost.
- A hidden test is "after_published": its text shows when staff publish the grades, and until then a student
  sees no total. Staff always see all.
- There is no field for extra credit. A score greater than the points of the assignment is extra credit, so `score` is the
  sum of both and the assignment is set to the points without extra.
- `output_format` is "text", which is escaped: a student's string is never read as HTML.
- What the judge prints (`stdout`) is for staff.
"""

import json
import math

from .rows import clean, cut, line, rows, seconds, whole

LONGEST = 10000  # Characters of a test's output.


def _test(row):
    return {
        "score": row.seen,
        "max_score": row.max,
        "status": "passed" if row.passed else "failed",
        "name": f"{row.task}: {row.title}" + (" (extra credit)" if row.extra else ""),
        "name_format": "text",
        "number": row.number,
        "output": cut(row.output, LONGEST),
        "output_format": "text",
        "tags": [f"module {row.module}"] + (["extra credit"] if row.extra else []),
        "visibility": "after_published" if row.hidden else "visible",
    }


def _board(entries):
    for entry in entries or []:
        value = entry["value"]
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if number and not math.isfinite(value):
            continue  # JSON has no such number.
        yield {
            "name": line(entry["name"]),
            "value": value if number else clean(value),
            "order": "asc" if entry.get("order") == "asc" else "desc",
        }


def _summary(result, all_rows):
    """Counts of what every student may see: neither points nor names of hidden tests."""
    seen = [row for row in all_rows if not row.hidden]
    base = [row for row in seen if not row.extra]
    text = [f"Tests that you see: {sum(r.seen for r in base)} of {sum(r.max for r in base)} points"]
    extra = [row for row in seen if row.extra]
    if extra:
        text[0] += f", and {sum(r.seen for r in extra)} of {sum(r.max for r in extra)} extra"
    text[0] += "."
    if len(seen) < len(all_rows):
        text.append("Hidden tests count too. They show when the grades are published.")
    student = line(result.get("student") or "")
    repeats = f"Student {student}: ./grade --student {student}" if student else f"Seed {line(result['seed'])}: ./grade --seed {line(result['seed'])}"
    text.append(f"{repeats} repeats the tests that you see.")
    return "\n".join(text)


def render(result):
    """The text of results.json."""
    all_rows = rows(result)
    out = {
        "score": whole(result["score"]) + whole(result["extra"]),
        "execution_time": seconds(result.get("seconds")),
        "output": _summary(result, all_rows),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "extra_data": {"course": line(result["course"]), "version": line(result["version"])},
        "tests": [_test(row) for row in all_rows],
    }
    board = list(_board(result.get("leaderboard")))
    if board:
        out["leaderboard"] = board
    return json.dumps(out, indent=1, allow_nan=False) + "\n"
