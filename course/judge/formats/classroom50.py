"""Classroom 50's result.json, schema "classroom50/result/v1".

Read in the project foundation50/classroom50, file schemas/result-v1.schema.json at commit 6e593c79b87c, and in the page
"Advanced Autograding" of its wiki (August 2026).

- The runner gives the identity of a submission in the environment, and writes `owner`, `assignment_type` and `datetime`
  itself. Outside of the runner a file says "local"; no collection takes it.
- A student can read this file. A hidden test has its points here, but neither its name nor its message.
- A score is at most the max-score and each is the sum over the tests, so the format has no place for extra credit. A test
  of an extra task stands with 0 of 0 points, its own points in "extra-score" and "extra-max-score" (a test may have
  further fields), and only if it earned some: a failed test would mark all of the submission as failed.
"""

import datetime
import json
import os

from .rows import cut, line, rows, whole

SCHEMA = "classroom50/result/v1"
SCHEMA_COMMIT = "6e593c79b87c99f94fec2ae0badadba761360516"
LONGEST = 500  # Characters of a test's message: all results of a class end in one file.


def _test(row):
    name = f"{row.task}: {row.public}"
    test = {"test-name": name, "passed": row.passed, "score": row.points, "max-score": row.max}
    if row.extra:
        test.update({"test-name": f"{name} (extra credit: {row.points} of {row.max})", "score": 0, "max-score": 0,
                     "extra-score": row.points, "extra-max-score": row.max})
    if row.output and not row.passed and not row.hidden:
        test["message"] = cut(row.output, LONGEST)
    return test


def render(result, environ=None, now=None):
    """The text of result.json. `environ` is what the runner set, `now` the time in UTC."""
    environ = os.environ if environ is None else environ
    now = now or datetime.datetime.now(datetime.timezone.utc)
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")

    def given(*names, default="local"):
        return next((line(environ[n], 1000) for n in names if line(environ.get(n, ""))), default)

    kind = given("ASSIGNMENT_TYPE")
    submission = given("SUBMISSION_TAG")
    commit = given("COMMIT_URL")
    out = {
        "schema": SCHEMA,
        "classroom": given("CLASSROOM"),
        "assignment": given("ASSIGNMENT"),
        "assignment_type": kind if kind in ("individual", "group") else "individual",
        "owner": given("OWNER", "USERNAME"),
        "submission": submission if submission.startswith("submit/") else "submit/local",
        "commit": commit,
        "release": given("RELEASE_URL"),
        "review": given("REVIEW_URL", default=commit),
        "datetime": stamp,
        "graded_at": stamp,
        "score": whole(result["score"]),
        "max-score": whole(result["max"]),
        "tests": [_test(row) for row in rows(result) if not row.extra or row.points],
    }
    return json.dumps(out, indent=1, allow_nan=False) + "\n"
