"""Wrong solutions: each loses the tests that its first line names, and no others.

course/wrong/TASK/NAME.EXTENSION is a whole solution file with one mistake that students make. It begins

    // LOSES: edges, loads
    // A sentence that says what is wrong.
"""
import concurrent.futures
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


def _problem(grader, task, path, text, expected):
    """What is wrong with a wrong solution, or None."""
    with common.Submission({task.file: text}) as folder:
        graded = grader.grade_task(task, folder)
    where = os.path.relpath(path, common.HOME)
    if graded["problem"]:
        return f"{where} cannot be tested: {graded['problem']}"
    if common.lost(graded) != expected:
        return (f"{where} loses {', '.join(common.lost(graded)) or 'nothing'}; its first line says "
                f"{', '.join(expected)}")
    return None


def check(names=(), staff=False, **options):
    """Grades all of them. Returns (how many there are, problems)."""
    grader, tasks = common.grader(**options), common.tasks(staff, names)
    grader.builder.prepare(tasks)
    work = [(grader, task, *each) for task in tasks for each in wrong_solutions(task)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(lambda each: _problem(*each), work))
    return len(work), [each for each in problems if each]
