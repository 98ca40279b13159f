#!/usr/bin/env python3
"""Makes what the course's pages take from its sources: the table of tasks in course/text/index.md, from the declarations in
course/tests, and the pictures in course/text/img, by the scripts in course/draw.

    docs/make/course.py            writes them
    docs/make/course.py --check    says whether they are up to date
"""
import contextlib
import glob
import os
import re
import runpy
import sys
import tempfile

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
COURSE = os.path.join(ROOT, "course")
MODULES = ["Tensors", "Loops on a CPU", "Automatic differentiation", "CUDA kernels", "Training", "Several GPUs", "Extra", "A transformer",
           "A language model"]
BEGIN, END = "<!-- tasks: made by docs/make/course.py -->\n", "<!-- end of tasks -->\n"

sys.path[:0] = [COURSE, os.path.join(COURSE, "draw")]
from judge import grading  # noqa: E402
import svg  # noqa: E402


def table():
    tasks = grading.load_tasks(COURSE)
    lines = ["| task | you write | tests | points |", "|---|---|---:|---:|"]
    for number, title in enumerate(MODULES):
        of_module = [task for task in tasks if task.module == number]
        usual, extra = (sum(task.points for task in of_module if task.extra is kind) for kind in (False, True))
        points = [f"**{usual}**"] * (usual > 0) + [f"**{extra}** extra"] * (extra > 0)
        lines.append(f"| **{number} {title}** | | **{sum(len(task.tests) for task in of_module)}** | {' and '.join(points)} |")
        for task in of_module:
            text = os.path.splitext(os.path.basename(task.file))[0] + ".md"
            writes = ", ".join(f"`{re.sub('^course::((cpu|gpu)::)?', '', each)}`" for each in task.exports)
            lines.append(f"| [{task.name} {task.title}]({text}) | {writes} | {len(task.tests)} | {task.points} |")
    return "\n".join(lines) + "\n"


def with_table(text):
    before, _, rest = text.partition(BEGIN)
    return before + BEGIN + table() + END + rest.partition(END)[2]


def pictures():
    """name -> text of all pictures."""
    with tempfile.TemporaryDirectory() as svg.FOLDER:
        for script in sorted(glob.glob(os.path.join(COURSE, "draw", "*.py"))):
            if not script.endswith("/svg.py"):
                with contextlib.redirect_stdout(sys.stderr):
                    runpy.run_path(script, run_name="__main__")
        return {name: open(os.path.join(svg.FOLDER, name)).read() for name in os.listdir(svg.FOLDER)}


def main():
    sys.dont_write_bytecode = True
    folder, index = os.path.join(COURSE, "text", "img"), os.path.join(COURSE, "text", "index.md")
    made = {os.path.join(folder, name): text for name, text in pictures().items()}
    made[index] = with_table(open(index).read())
    problems = [path for path in glob.glob(folder + "/*") if path not in made]
    for path, text in sorted(made.items()):
        if os.path.exists(path) and open(path).read() == text:
            continue
        problems.append(path)
        if "--check" not in sys.argv:
            os.makedirs(os.path.dirname(path), exist_ok=True)
            open(path, "w").write(text)
    strange = [os.path.relpath(path, ROOT) for path in problems if path not in made]
    for path in strange:
        print(f"{path} is made by no script of course/draw")
    if "--check" in sys.argv and problems:
        for path in sorted(made.keys() & set(problems)):
            print(f"{os.path.relpath(path, ROOT)} is out of date; run docs/make/course.py")
    return 1 if strange or ("--check" in sys.argv and problems) else 0


if __name__ == "__main__":
    sys.exit(main())
