"""The rows that all formats print: one for each test of a result, with texts that any reader of JSON or XML accepts."""

import math
import re
from dataclasses import dataclass

# What XML 1.0 forbids. JSON would take it, but the databases behind the readers refuse NUL and lone surrogates.
_ILLEGAL = re.compile("[^\t\n\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What a terminal takes for a change of colour, or for another command.
_ESCAPES = re.compile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|[@-Z\\\\-_])")


@dataclass
class Row:
    """One test, or a whole task that has no tests. `output` is for those who may see the test."""

    task: str  # Number and title.
    number: str
    module: int
    name: str
    title: str  # What the test tests.
    public: str  # The title, but for a hidden test a number.
    points: int
    max: int
    passed: bool
    hidden: bool
    extra: bool
    untested: bool  # The task could not be tested at all.
    first: bool  # Of the tests of a task that could not be tested, the one that carries the reason.
    output: str
    seconds: float
    seen: int  # The points without what hidden tests cost.


def clean(text):
    """The text without what XML forbids and without terminal commands; all line ends are newlines."""
    text = _ESCAPES.sub("", str(text)).replace("\r\n", "\n").replace("\r", "\n")
    return _ILLEGAL.sub("\ufffd", text)


def line(text, limit=200):
    """The text as one line of at most `limit` characters."""
    words = " ".join(clean(text).split())
    return words if len(words) <= limit else words[: limit - 3] + "..."


def cut(text, limit):
    """The text, shortened in its middle to about `limit` characters: the start names the fault, the end sums up."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    head = limit - tail
    return f"{text[:head]}\n[{len(text) - limit} characters left out]\n{text[-tail:]}"


def whole(value):
    """The points as an int. Points are whole; anything else is a fault of the judge."""
    if isinstance(value, bool) or value != int(value) or value < 0:
        raise ValueError(f"{value!r} is not a number of points")
    return int(value)


def seconds(value):
    """The time as a finite number that is not negative."""
    value = float(value or 0)
    return round(value, 3) if math.isfinite(value) and value > 0 else 0.0


def _output(test):
    parts = [clean(test.get("message") or "").strip("\n")]
    if test.get("hint") and not test["passed"]:
        parts.append("Hint: " + line(test["hint"], 1000))
    return "\n\n".join(part for part in parts if part)


def _of_task(task):
    number = line(task["task"], 20)
    title = f"{number} {line(task['title'])}"
    problem = clean(task.get("problem") or "").strip()
    extra = bool(task.get("extra"))
    tests = task.get("tests") or []
    if not tests:
        points, most = whole(task["points"]), whole(task["max"])
        yield Row(title, number, task["module"], "task", "all of the task", "all of the task", points, most,
                  not problem and points == most, False, extra, bool(problem), bool(problem), problem, 0.0, points)
    # The reason is told once, in a test that the student sees, where there is one.
    bearer = next((i for i, test in enumerate(tests) if not test.get("hidden")), 0)
    hidden = 0
    for i, test in enumerate(tests):
        output = _output(test)
        if problem:
            output = problem if i == bearer else "Not tested: the task could not be tested. Another test of it says why."
        what = line(test.get("title") or test["name"])
        secret = bool(test.get("hidden"))
        hidden += secret
        yield Row(title, f"{number}.{i + 1}", task["module"], line(test["name"]), what,
                  f"hidden test {hidden}" if secret else what, whole(test["points"]), whole(test["max"]),
                  bool(test["passed"]) and not problem, secret, extra, bool(problem), bool(problem) and i == bearer, output,
                  seconds(test.get("seconds")), whole(test.get("seen", test["points"])))


def rows(result):
    """A row for each test, in the order of the result. A task without tests has one row."""
    return [row for task in result["tasks"] for row in _of_task(task)]
