"""The progress of a student: which points were seen when, in a small file beside core/."""
import json
import os
import sys
import time

from . import grading

MOST = 500  # runs; of more, the two oldest become one


class History:
    """`runs`: [{"at": seconds since 1970, "points": {task: points}}], the oldest first; a run has the tasks whose points are new."""

    def __init__(self, home):
        # In Gradus itself build/ takes it.
        self.path = os.path.join(os.path.dirname(os.path.abspath(grading.build_folder(home))), "progress.json")
        self.runs = _read(self.path)

    def add(self, graded, now=None):
        """Adds the points of these tasks' parts of a result, and writes the file."""
        known = {}
        for run in self.runs:
            known.update(run["points"])
        new = {each["task"]: each["points"] for each in graded if known.get(each["task"]) != each["points"]}
        if not new:
            return
        self.runs.append({"at": int(time.time() if now is None else now), "points": new})
        while len(self.runs) > MOST:
            first = self.runs.pop(0)
            self.runs[0]["points"] = {**first["points"], **self.runs[0]["points"]}
        temporary = f"{self.path}.{os.getpid()}.part"
        try:
            with open(temporary, "w") as file:
                file.write("[" + ",\n".join(map(json.dumps, self.runs)) + "]\n")
            os.replace(temporary, self.path)
        except OSError as error:
            print(f"note: {self.path} cannot be written, so the page of --web shows no progress of this run: {error.strerror}", file=sys.stderr)

    def totals(self, tasks):
        """[(seconds since 1970, points of these tasks)] after each run that graded one of them."""
        known, out = {}, []
        for run in self.runs:
            seen = {task: points for task, points in run["points"].items() if task in tasks}
            known.update(seen)
            if seen:
                out.append((run["at"], sum(known.values())))
        return out


def _read(path):
    """The runs of a file; none where it is missing or something else."""
    try:
        with open(path, encoding="utf-8") as file:
            runs = json.load(file)
        return [{"at": _number(run["at"]), "points": {str(task): _number(points) for task, points in run["points"].items()}} for run in runs][-MOST:]
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return []


def _number(value):
    if type(value) is not int or not 0 <= value < 1 << 40:
        raise ValueError(f"{value!r} is neither a time nor points")
    return value
