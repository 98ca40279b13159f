"""Wrong solutions: each loses the tests that its first line names, and no others.

course/wrong/TASK/NAME.EXTENSION is a whole solution file with one mistake that students make. It begins

    // LOSES: edges, loads
    // A sentence that says what is wrong.
"""
import glob
import os
import re

from . import common


def wrong_solutions(task):
    """(path, text, names of the tests that it loses) of each."""
    out = []
    for path in sorted(glob.glob(os.path.join(common.HOME, "wrong", task.name, "*.c*"))):
        text = common.read(path)
        first = re.match(r"// LOSES: (.+)\n// .+\n", text)
        if not first:
            raise SystemExit(f"{path} does not begin with '// LOSES: TEST, ...' and a line that says what is wrong")
        out.append((path, text, sorted(name.strip() for name in first.group(1).split(","))))
    return out


def check(names=(), staff=False, **options):
    """Grades all of them. Returns (how many there are, problems)."""
    grader = common.grader(**options)
    count, problems = 0, []
    for task in common.tasks(staff, names):
        for path, text, expected in wrong_solutions(task):
            count += 1
            with common.Submission({task.file: text}) as folder:
                graded = grader.grade([task], folder)["tasks"][0]
            where = os.path.relpath(path, common.HOME)
            if graded["problem"]:
                problems.append(f"{where} cannot be tested: {graded['problem']}")
            elif common.lost(graded) != expected:
                problems.append(f"{where} loses {', '.join(common.lost(graded)) or 'nothing'}; its first line says "
                                f"{', '.join(expected)}")
    return count, problems
