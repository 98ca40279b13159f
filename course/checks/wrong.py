"""Wrong solutions: each loses the tests that its first line names, and no others.

course/wrong/TASK/NAME.patch is a change of the task's solution: a mistake that students make. It begins

    // LOSES: edges, loads
    // A sentence that says what is wrong.

With LOSES AT LEAST only these tests are run, and the hidden ones that belong to them.

Then come places of the solution as `diff -U1` shows them: @@, and lines that begin with a space where they stay, with -
where they go and with + where they come. Places follow one another in the order of the file.

course/right/TASK/NAME.EXTENSION is a whole solution of another kind, which loses nothing.
"""
import concurrent.futures
import copy
import glob
import os
import re
import zlib

from . import common


def changed(text, patch):
    """The text with a patch's changes. Errors: ValueError where the text does not have its lines."""
    lines, out, at = text.splitlines(), [], 0
    for place in re.split(r"^@@.*\n", patch, flags=re.M)[1:]:
        rows = place.splitlines()
        old, new = ([row[1:] for row in rows if row[0] in kinds] for kinds in (" -", " +"))
        found = next((i for i in range(at, len(lines) - len(old) + 1) if lines[i:i + len(old)] == old), None)
        if found is None:
            raise ValueError("the solution has no such lines:\n" + "\n".join(old))
        out += lines[at:found] + new
        at = found + len(old)
    return "\n".join(out + lines[at:]) + "\n"


def wrong_solutions(task):
    """(path, text, names of the tests that it loses, whether it may lose others too) of each."""
    out = []
    for path in sorted(glob.glob(os.path.join(common.HOME, "wrong", task.name, "*.patch"))):
        patch = common.read(path)
        first = re.match(r"// LOSES( AT LEAST)?: (.+)\n// .+\n@@", patch)
        if not first:
            raise SystemExit(f"{path} does not begin with '// LOSES: TEST, ...' and a line that says what is wrong")
        try:
            text = changed(common.solution(task), patch)
        except ValueError as error:
            raise SystemExit(f"{path} does not fit: {error}") from None
        out.append((path, text, sorted(name.strip() for name in first.group(2).split(",")), bool(first.group(1))))
    return out


def _problem(grader, task, path, text, expected, at_least):
    """What is wrong with a wrong solution, or None."""
    part = copy.copy(task)
    if at_least:
        part.tests = [test for test in task.tests if test.name in expected]
        part.hidden_tests = [test for test in task.hidden_tests if test.of in expected]
    else:
        part.hidden_tests = []
    with common.Submission({task.file: text}) as folder:
        graded = grader.grade_task(part, folder)
    where = os.path.relpath(path, common.HOME)
    if graded["problem"]:
        return f"{where} cannot be tested: {graded['problem']}"
    if common.lost(graded) != expected:
        return (f"{where} loses {', '.join(common.lost(graded)) or 'nothing'}; its first line says "
                f"{', '.join(expected)}")
    return None


def _right(grader, task):
    """What is wrong with the other right solutions of a task."""
    problems = []
    for path in sorted(glob.glob(os.path.join(common.HOME, "right", task.name, "*.c*"))):
        with common.Submission({task.file: common.read(path)}) as folder:
            graded = grader.grade_task(task, folder)
        if graded["points"] != task.points:
            problems.append(f"{os.path.relpath(path, common.HOME)} gets {graded['points']} of {task.points}: "
                            f"{graded['problem'] or ', '.join(common.lost(graded))}")
    return problems


def check(names=(), one_in=1, **options):
    """Grades one in so many of them, and the other right solutions. Returns (how many wrong ones were graded, problems)."""
    grader, tasks = common.grader(**options), common.tasks(True, names)
    grader.builder.prepare(tasks)
    work = [(grader, task, *each) for task in tasks for each in wrong_solutions(task)
            if zlib.crc32(f"{task.name} {os.path.basename(each[0])}".encode()) % one_in == 0]

    def told(each):
        problem = _problem(*each)
        if problem:
            print(problem, flush=True)  # the whole check takes long
        return problem

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        problems = list(pool.map(told, work))
    return len(work), [each for each in problems if each] + [each for task in tasks for each in _right(grader, task)]
