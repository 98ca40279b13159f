"""The handout: stubs get nothing, solutions get everything, each task stands alone, and no solution leaks."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from judge import grading, stubs

from . import common


class Handout:
    """A fresh handout in a temporary folder, for use as a context manager."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="course-handout-")
        subprocess.run([sys.executable, os.path.join(common.HOME, "handout"), self.folder], check=True, stdout=subprocess.DEVNULL)
        return self.folder

    def __exit__(self, *_):
        shutil.rmtree(self.folder)


def check(alone=True):
    """Returns (lines that say what was seen, problems)."""
    seen, problems = [], []
    with Handout() as folder:
        tasks = grading.load_tasks(folder)
        grader = grading.Grader(folder, os.path.join(folder, "build"))
        _stubs(grader, tasks, folder, seen, problems)
        problems += leaks(folder, tasks)
        solutions = {task.file: common.solution(task) for task in tasks}
        _solutions(grader, tasks, solutions, seen, problems)
        if alone:
            for task in tasks:
                with common.Submission({task.file: solutions[task.file]}) as one:
                    graded = grader.grade([task], one)["tasks"][0]
                if graded["points"] != task.points:
                    problems.append(f"{task.name} solved alone gets {graded['points']} of {task.points} points")
            seen.append(f"each of {len(tasks)} tasks solved alone, all others stubs: all its points")
        first = [task for task in tasks if task.module == 0]
        with common.Submission({**solutions, first[0].file: "this is no C++\n"}) as broken:
            result = grader.grade(first, broken)
        expected = sum(task.points for task in first[1:])
        seen.append(f"a syntax error in {first[0].name}: {result['score']} of {result['max']} in its module")
        if result["score"] != expected:
            problems.append(f"a syntax error in task {first[0].name} leaves {result['score']} points, not {expected}")
    return seen, problems


def _stubs(grader, tasks, folder, seen, problems):
    start = time.monotonic()
    result = grader.grade(tasks, folder)
    seconds = time.monotonic() - start
    seen.append(f"fresh handout: {result['score']} of {result['max']}, {result['extra']} of {result['extra_max']} extra, "
                f"in {seconds:.0f} s with the build")
    extra = sum(task.points for task in tasks if task.extra)
    if (result["score"], result["max"], result["extra"], result["extra_max"]) != (0, 600, 0, extra):
        problems.append(f"the fresh handout gets {result['score']} of {result['max']}, and {result['extra']} of "
                        f"{result['extra_max']} extra; expected are 0 of 600, and 0 of {extra}")
    for graded in result["tasks"]:
        said = [graded["problem"]] + [each["message"] for each in graded["tests"]]
        if not any(f"task {graded['task']} is not implemented yet" in text for text in said):
            problems.append(f"the stub of {graded['task']} does not say its task: {said}")


def _solutions(grader, tasks, solutions, seen, problems):
    with common.Submission(solutions) as all_solved:
        result = grader.grade(tasks, all_solved)
    seen.append(f"with the solutions: {result['score']} of {result['max']}, {result['extra']} of {result['extra_max']} extra")
    for graded in result["tasks"]:
        if graded["points"] != graded["max"]:
            why = graded["problem"] or next(each["message"] for each in graded["tests"] if not each["passed"])
            problems.append(f"the solution of {graded['task']} gets {graded['points']} of {graded['max']}: {why}")


def leaks(folder, tasks):
    """Where three lines of a solution that follow one another stand in the handout."""
    def plain(lines):
        return [re.sub(r"\s+", "", line) for line in lines if re.search(r"\w", line.split("//")[0])]
    windows = {}
    for task in tasks:
        for name, lines in stubs.solutions(common.read("core", task.file)):
            code = plain(lines)
            for i in range(len(code) - 2):
                windows["\n".join(code[i:i + 3])] = name
    problems = []
    for path in glob.glob(os.path.join(folder, "**", "*.*"), recursive=True):
        if os.path.relpath(path, folder).startswith("build") or not os.path.isfile(path):
            continue
        with open(path, errors="replace") as file:
            code = plain(file)
        for i in range(len(code) - 2):
            name = windows.get("\n".join(code[i:i + 3]))
            if name:
                problems.append(f"three lines of the solution of {name} stand in {os.path.relpath(path, folder)}: {code[i]}")
    return problems


def usage():
    """(module, processor seconds, megabytes of the judge and of the largest process that it starts) of grading the
    solutions of each module from nothing, one task at a time."""
    out = []
    for module in sorted({task.module for task in common.tasks()}):
        tasks = [task for task in common.tasks() if task.module == module]
        with tempfile.TemporaryDirectory(prefix="course-usage-") as folder, \
                common.Submission({task.file: common.solution(task) for task in tasks}) as submission:
            # A shell in between: what is measured begins with the memory of a small process, not with this one's.
            program = ("import resource, sys; sys.path.insert(0, sys.argv[1]); from judge.main import main; "
                       "main(sys.argv[1], sys.argv[2:]); "
                       "used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]; "
                       "print(sum(each.ru_utime + each.ru_stime for each in used), sum(each.ru_maxrss for each in used) / 1024)")
            done = subprocess.run(["/bin/sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-c", program, common.HOME, str(module),
                                   "--jobs", "1", "--build", folder, "--submission", submission],
                                  stdout=subprocess.PIPE, text=True, check=True)
            out.append((module, *map(float, done.stdout.split()[-2:])))
    return out
