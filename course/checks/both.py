"""The same points by ./grade in the student's repository and by the staff's grader on what is handed in."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

from . import common

RIGHT = ("Dims out(sizes.size()); long step = 1; for (long d = long(sizes.size()) - 1; d >= 0; --d) { out[d] = step; "
         "if (sizes[d] > 0) step *= sizes[d]; } return out;")
STRIDES, INDEX, TILED, BLOCKED = ("0_tensors/0.1_strides.cpp", "0_tensors/0.2_index.cpp", "3_cuda/3.7_matmul_tiled.cu",
                                  "1_cpu/1.6_matmul_blocked.cpp")
HEADER = f"#pragma once\n#include \"core/tensors.h\"\ninline course::Dims mine(const course::Dims& sizes) {{ using course::Dims; {RIGHT} }}\n"


def strides(before="", body=RIGHT):
    return f'#include "core/tensors.h"\n{before}\nnamespace course {{\nDims strides_of(const Dims& sizes) {{\n{body}\n}}\n}}\n'


def solution(name):
    return common.solution(next(task for task in common.tasks() if task.file == name))


def with_header(include, path):
    return {STRIDES: strides(f'#include "{include}"', "return mine(sizes);"), path: HEADER}


def if_found(name):
    return strides(f"#if __has_include({name})\n#define BODY {RIGHT}\n#else\n#define BODY return {{}};\n#endif", "BODY")


def programs():
    """name -> (task, {file of core/, or a path with .. of the repository: its text or bytes}, environment of the student)."""
    blocked, tiled = solution(BLOCKED), solution(TILED)
    return {
        "a solution": ("0.1", {STRIDES: strides()}, {}),
        "a header beside the solution": ("0.1", with_header("mine.h", "0_tensors/mine.h"), {}),
        "a header of core": ("0.1", with_header("core/mine.h", "mine.h"), {}),
        "a header of the runner": ("0.1", with_header("runner/mine.h", "../runner/mine.h"), {}),
        "a header by an environment": ("0.1", with_header("mine.h", "../mine/mine.h"), {"CPATH": "mine", "CPLUS_INCLUDE_PATH": "mine"}),
        "a changed types.h": ("0.1", {STRIDES: strides("", "return mine(sizes);"), "types.h": common.read("core", "types.h") +
                                      f"namespace course {{ inline Dims mine(const Dims& sizes) {{ {RIGHT} }} }}\n"}, {}),
        "a changed tensors.h that does not compile": ("0.1", {STRIDES: strides(), "tensors.h": "#error mine\n"}, {}),
        "a changed launch.h": ("3.7", {TILED: tiled, "launch.h": "#error mine\n"}, {}),
        "module 7": ("7", {task.file: common.solution(task) for task in common.tasks(names=["7"])}, {}),
        "a changed cache": ("1.6", {BLOCKED: blocked, "cache.cpp": "#error mine\n"}, {}),
        "changed stubs of the course": ("0.1", {STRIDES: strides("", 'not_implemented("0.1");'),
                                                "not_implemented.cpp": "namespace course { void not_implemented(const char*) {} }\n"}, {}),
        "an include of another solution": ("0.2", {STRIDES: strides(), INDEX: '#include "core/0_tensors/0.1_strides.cpp"\n' + solution(INDEX)}, {}),
        "an include of a solution beside it": ("0.2", {STRIDES: strides(), INDEX: '#include "0.1_strides.cpp"\n' + solution(INDEX)}, {}),
        "a call of another solution": ("0.2", {STRIDES: strides(), INDEX: solution(INDEX).replace(
            "Dims index_of(", "Dims index_of(long n, const Dims& sizes);\nstatic Dims all(const Dims& s) { return strides_of(s); }\nDims index_of(", 1)
            .replace("{\n", "{\n  all(sizes);\n", 2)}, {}),
        "a look for a header": ("0.1", {STRIDES: if_found('"core/mine.h"'), "mine.h": ""}, {}),
        "a look for a header of the repository": ("0.1", {STRIDES: if_found("<gradus/core/mine.h>"), "mine.h": ""}, {}),
        "a look for the runner": ("0.1", {STRIDES: if_found('"runner/runner.h"')}, {}),
        "a look for the tests": ("0.1", {STRIDES: if_found('"tests/0.1_strides.py"')}, {}),
        "a look by a path": ("0.1", {STRIDES: if_found('"/usr/include/math.h"')}, {}),
        "UTF-16": ("0.1", {STRIDES: strides().encode("utf-16")}, {}),
        "a byte order mark and CRLF": ("0.1", {STRIDES: strides().replace("\n", "\r\n").encode("utf-8-sig")}, {}),
        "a continued line with CRLF": ("0.1", {STRIDES: strides("#define A \\\r\n  1\r\n")}, {}),
        "too large a file": ("0.1", {STRIDES: strides("//" + "x" * (64 << 10))}, {}),
        "a compiler that needs much memory": ("0.1", {STRIDES: strides(
            "template <int n> struct T { char text[n]; using Next = T<n - 1>; };\n"
            "template <int n, int m> struct L { L<n - 1, m> a; L<n - 1, m + (1 << n)> b; };\ntemplate <int m> struct L<0, m> { char c[m + 1]; };\n"
            "L<16, 0>* all() { static L<16, 0> one; return &one; }")}, {}),
    }


class Graders:
    """A student's repository and the staff's grader, for use as a context manager."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="course-both-")
        self.student, self.root = (os.path.join(self.folder, each) for each in ("student", "root"))
        for target, options in ((self.student, []), (os.path.join(self.root, "source"), ["--staff"])):
            subprocess.run([sys.executable, os.path.join(common.HOME, "handout"), *options, target], check=True, stdout=subprocess.DEVNULL)
            os.makedirs(common.BUILD, exist_ok=True)
            os.symlink(common.BUILD, os.path.join(target, "build"))  # their parts are the same, so they are built once
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def put(self, files):
        """Writes files into the student's repository. Returns what undoes it."""
        before = {}
        for name, text in files.items():
            path = os.path.join(self.student, "core", name)
            before[path] = _bytes_of(path) if os.path.exists(path) else None
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())

        def undo():
            for path, content in before.items():
                if content is None:
                    os.remove(path)
                else:
                    with open(path, "wb") as file:
                        file.write(content)
        return undo

    def locally(self, task, environment):
        out = os.path.join(self.folder, "result.json")
        environment = {name: os.path.join(self.student, folder) for name, folder in environment.items()}
        subprocess.run([sys.executable, os.path.join(self.student, "grade"), task, "--json", out], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, **environment})
        with open(out) as file:
            result = json.load(file)
        return result["score"] + result["extra"]

    def there(self, task):
        submission = os.path.join(self.root, "submission")
        shutil.rmtree(submission, ignore_errors=True)
        shutil.copytree(self.student, submission, symlinks=True, ignore=shutil.ignore_patterns("build"))
        subprocess.run([sys.executable, os.path.join(self.root, "source", "run_autograder")], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "AUTOGRADER_ROOT": self.root, "MODULES": task})
        with open(os.path.join(self.root, "results", "results.json")) as file:
            return json.load(file)["score"]


def _bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def check():
    """Returns (lines that say what was seen, problems)."""
    seen, problems = [], []
    with Graders() as graders:
        for name, (task, files, environment) in programs().items():
            undo = graders.put(files)
            try:
                here, there = graders.locally(task, environment), graders.there(task)
            finally:
                undo()
            seen.append(f"{name}: {here:g} points of {task} by ./grade, {there:g} by the staff's grader")
            if here != there:
                problems.append(f"{name} gets {here:g} points of {task} by ./grade, and {there:g} by the staff's grader")
    return seen, problems
