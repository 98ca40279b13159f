#!/usr/bin/env python3
"""Runs the cells of notebooks without Jupyter, each notebook in a process of its own.

    run.py [--update] NOTEBOOK ...

--update writes what the cells show into the notebooks. Otherwise the outputs in the file must be of the kinds that the
cells show now: text, a picture, a table. Lines that begin with % or ! are left out.
"""
import ast
import contextlib
import io
import json
import linecache
import subprocess
import sys

KINDS = {"image/svg+xml": "_repr_svg_", "text/html": "_repr_html_"}


class Recorder:
    """Runs cells in one namespace and keeps what each shows, as Jupyter writes it to a file."""

    def __init__(self):
        self.names = {"__name__": "__main__", "display": self.display}
        self.shown = []

    def display(self, *values, kind="display_data"):
        for value in values:
            data = {mime: getattr(value, method)() for mime, method in KINDS.items() if hasattr(value, method)}
            data = {mime: text.splitlines(True) for mime, text in data.items() if text is not None}
            data["text/plain"] = repr(value).splitlines(True)
            self.shown.append({"output_type": kind, "data": data, "metadata": {}})

    def run(self, source, number):
        self.shown = []
        lines = ["" if line[:1] in "%!" else line for line in source.split("\n")]
        text, name = "\n".join(lines), f"<cell {number}>"
        linecache.cache[name] = len(text), None, text.splitlines(True), name  # for functions that are asked for their text
        tree = ast.parse(text)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(tree, name, "exec"), self.names)
            value = eval(compile(ast.Expression(last.value), name, "eval"), self.names) if last else None
        if value is not None:
            self.display(value, kind="execute_result")
            self.shown[-1]["execution_count"] = number
        if printed.getvalue():
            text = printed.getvalue().splitlines(True)
            self.shown.insert(0, {"output_type": "stream", "name": "stdout", "text": text})
        return self.shown


def kinds(outputs):
    return [sorted(each.get("data", {"stream": 0})) for each in outputs]


def run(path, update):
    with open(path) as file:
        notebook = json.load(file)
    recorder, number = Recorder(), 0
    for cell in notebook["cells"]:
        if cell["cell_type"] != "code":
            continue
        number += 1
        outputs = recorder.run("".join(cell["source"]), number)
        if update:
            cell["outputs"], cell["execution_count"] = outputs, number
        elif kinds(outputs) != kinds(cell["outputs"]):
            sys.exit(f"{path}: cell {number} shows {kinds(outputs)}, the file holds {kinds(cell['outputs'])}; "
                     "run.py --update writes what it shows")
    if update:
        with open(path, "w") as file:
            json.dump(notebook, file, indent=1, ensure_ascii=False)
            file.write("\n")


def main(arguments):
    update = arguments[:1] == ["--update"]
    paths = arguments[update:]
    if len(paths) == 1:
        run(paths[0], update)
        return 0
    return max(subprocess.run([sys.executable, __file__, *arguments[:update], path]).returncode for path in paths)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
