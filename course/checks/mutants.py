"""Mutants: solutions with one small change. A test suite that lets them pass tests too little.

Those that are as right as the solution, or that no test can tell from it, stand in course/wrong/equivalent.txt, one a
line: TASK, line of the solution's text as it is changed, and the reason.
"""
import concurrent.futures
import os
import random
import re

from judge import build

from . import common

CHANGES = [
    (r"(?<![<>=\-])<(?![<>=])(?= )", "<="), (r"<=", "<"), (r"(?<![<>=\-])>(?![<>=])(?= )", ">="), (r">=", ">"),
    (r"==", "!="), (r"!=", "=="), (r"&&", "||"), (r"\|\|", "&&"),
    (r"(?<= )\+(?= )", "-"), (r"(?<= )-(?= )", "+"), (r"(?<= )\*(?= )", "+"), (r"(?<= )/(?= )", "*"), (r"(?<= )%(?= )", "/"),
    (r"\+=", "="), (r"\+=", "-="), (r"\*=", "+="), (r"\b1\b", "2"), (r"\b0\b", "1"), (r"__syncthreads\(\);", ";"),
    (r"\b(\w+)( - | / )(\w+)\b", r"\3\2\1"),
]


def mutants(text):
    """(line as it was, line as it is, whole text) of each change of a solution."""
    lines, out, inside = text.splitlines(), [], False
    for number, line in enumerate(lines):
        if "// BEGIN SOLUTION" in line or "// END SOLUTION" in line:
            inside = "BEGIN" in line
            continue
        code = line.split("//")[0]
        if not inside or not code.strip():
            continue
        changed = {code[:match.start()] + match.expand(new) + code[match.end():]
                   for old, new in CHANGES for match in re.finditer(old, code)}
        for each in sorted(changed - {code}):
            out.append((line.strip(), each.strip(), "\n".join([*lines[:number], each, *lines[number + 1:]]) + "\n"))
    return out


def equivalent():
    """(task, line as it is changed) -> reason."""
    out = {}
    path = os.path.join(common.HOME, "wrong", "equivalent.txt")
    for line in common.read(path).splitlines() if os.path.exists(path) else ():
        if line and not line.startswith("#"):
            task, changed, reason = (part.strip() for part in line.split(" | "))
            out[task, changed] = reason
    return out


def survives(grader, task, text):
    """Whether a mutant loses no point; None where it does not compile. Stops at the first test that it loses."""
    with common.Submission({task.file: text}) as folder:
        try:
            program = grader.builder.runner(task, folder)
        except build.Problem:
            return None
    return not any(grader.run_test(test, program)[0] for test in task.tests)


def check(names=(), most=None, seed=1):
    """Returns (lost points, survived as listed, problems): at most `most` mutants of each task, at random."""
    known, problems, killed, listed = equivalent(), [], 0, 0
    grader = common.grader(jobs=1)
    tasks = common.tasks(names=names)
    grader.builder.prepare(tasks)
    work = []
    for task in tasks:
        made = mutants(common.read("core", task.file))
        if most and len(made) > most:
            made = random.Random(seed).sample(made, most)
        work += [(task, *each) for each in made]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for (task, before, after, _), alive in zip(work, pool.map(lambda each: survives(grader, each[0], each[3]), work)):
            if alive is None:
                continue
            if not alive:
                killed += 1
            elif (task.name, after) in known:
                listed += 1
            else:
                problems.append(f"{task.name}: no test notices '{after}' in place of '{before}'")
    return killed, listed, problems
