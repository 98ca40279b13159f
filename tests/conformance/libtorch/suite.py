#!/usr/bin/env python3
"""Measures how many tests of libtorch 1.13's own suite compile and pass here.

    suite.py DIR [--build BUILD] [--work WORK] [FILE ...]

DIR is the root of a PyTorch 1.13 source tree, of which only test/cpp/api and test/cpp/common are
read; it is no part of this project. FILE is a name in test/cpp/api, such as `modules` (default:
FILES). BUILD (default build/sim) is a build of the library and of `test_nn`.

A name that is missing fails a whole file, so what does not compile is taken out, one function or
test at a time, until the rest compiles; each remaining test then runs in a process of its own. The
sources are compiled as they are, but for three things: modules print their names as "gradus::nn::",
a program cannot open the namespace torch::nn, which is gradus::nn here, and a tensor's view is asked for
by a function.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys

FILES = ["any", "dataloader", "fft", "functional", "init", "module", "moduledict", "modulelist", "modules", "nn_utils", "optim",
         "parameterdict", "parameterlist", "rnn", "sequential", "serialize", "transformer"]
# Tests that are about something else than dense tensors on a CPU, or about libtorch's insides.
OUT_OF_SCOPE = {
    r"_(Multi)?CUDA$": "needs a GPU",
    r"^ModulesTest\.Unflatten$|^ModulesTest\.PrettyPrintUnflatten$": "named dimensions",
    r"^SerializeTest\.(KeysFunc|TryReadFunc|IValue)$": "TorchScript's values (c10::IValue)",
    r"^SerializeTest\.Optim_": "an optimizer's state by the addresses of libtorch's tensors",
}


def items(text):
    """Cuts C++ into (start, end) of its top-level declarations and preprocessor lines."""
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])\'|[{}();]|'
                       r'^[ \t]*#(?:\\\n|[^\n])*', re.S | re.M)
    start = depth = 0
    for match in token.finditer(text):
        what = match.group()
        if what in ("{", "("):
            depth += 1
        elif what in ("}", ")"):
            depth -= 1
        ends = what in ("}", ";") or what.lstrip().startswith("#")
        if depth == 0 and ends:
            yield start, match.end()
            start = match.end()


class Item:
    """A top-level declaration; `test` is Suite.Name of a test."""

    def __init__(self, text, start, end):
        self.text = text[start:end]
        blank = len(self.text) - len(self.text.lstrip())
        self.first = text.count("\n", 0, start + blank) + 1
        self.last = text.count("\n", 0, end) + 1
        head = re.match(r"\s*(?://[^\n]*\n\s*)*TEST(?:_F)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", self.text)
        self.test = ".".join(head.groups()) if head else None
        self.error = None

    def declares(self, name):
        return self.test is None and re.search(r"\b%s\b" % re.escape(name), self.text)


class Suite:
    def __init__(self, arguments):
        self.dir, self.work = arguments.dir, arguments.work
        self.work.mkdir(parents=True, exist_ok=True)
        build = arguments.build.resolve()
        link = subprocess.run(["ninja", "-C", build, "-t", "commands", "tests/test_nn"],
                              capture_output=True, text=True, check=True).stdout.splitlines()[-1]
        libraries = re.search(r" -o tests/test_nn (.*?)(?: && |$)", link).group(1).split()
        self.libraries = [str(build / x) if (build / x).exists() else x
                          for x in libraries if "gtest" not in x] + ["-lgtest_main", "-lgtest"]
        self.compiler = ["g++", "-std=c++20", "-O0", "-w", "-fmax-errors=0",
                         f"-I{self.work}", f"-I{self.dir}", f"-I{build}/include/gradus/compat", f"-I{build}/compat",
                         f"-I{build}/include"]
        (self.work / "suite.h").write_text("#include <gtest/gtest.h>\n#include <torch/torch.h>\n"
                                           "#include <test/cpp/api/support.h>\n")
        support = self.work / "test/cpp/api/support.h"  # found before that of DIR
        support.parent.mkdir(parents=True, exist_ok=True)
        support.write_text((self.dir / "test/cpp/api/support.h").read_text()
                           .replace("x.unsafeGetTensorImpl()->autograd_meta()", "torch::autograd::impl::get_view_autograd_meta(x)")
                           .replace("static_cast<torch::autograd::DifferentiableViewMeta*>(autograd_meta)", "autograd_meta"))
        self.call(["-x", "c++-header", self.work / "suite.h", "-o", self.work / "suite.h.gch"])
        self.call(["-include", self.work / "suite.h", "-c", self.dir / "test/cpp/api/support.cpp", "-o",
                   self.work / "support.o"])

    def call(self, arguments):
        result = subprocess.run(self.compiler + arguments, capture_output=True, text=True)
        if result.returncode:
            sys.exit(result.stderr)

    def compile(self, name, parts):
        """Takes out what does not compile; sets `error` of those parts."""
        source = self.work / f"{name}.cpp"
        while True:
            lines = "".join(x.text if x.error is None else "\n" * x.text.count("\n")
                            for x in parts)
            source.write_text(lines)
            result = subprocess.run(
                self.compiler + ["-include", self.work / "suite.h", "-c", source, "-o", source.with_suffix(".o")],
                capture_output=True, text=True)
            if result.returncode == 0:
                break
            errors = {}
            pending = []
            for line in result.stderr.splitlines():
                place = re.match(r"(.*?):(\d+):\d+:", line)
                if place and place.group(1) == str(source):
                    pending.append(int(place.group(2)))
                found = re.search(r"(?:fatal )?error: (.*)", line)
                if found:
                    for part in parts:
                        if part.error is None and any(part.first <= x <= part.last for x in pending):
                            errors.setdefault(part, found.group(1))
                            break
                    pending = []
            if not errors:
                sys.exit(result.stderr)
            helpers = {x: e for x, e in errors.items() if x.test is None}
            for part, error in (helpers or errors).items():
                part.error = self.explain(error, parts)

    @staticmethod
    def explain(error, parts):
        """The reason of an error about what a dropped declaration would have declared."""
        name = re.search(r"‘(\w+)’ (?:was not declared|has not been declared|does not name)", error)
        if name:
            for part in parts:
                if part.error and part.declares(name.group(1)):
                    return part.error
        return error

    def measure(self, name):
        """Yields (test, reason), reason None where it passes."""
        text = (self.dir / f"test/cpp/api/{name}.cpp").read_text()
        text = text.replace("namespace torch {\nnamespace nn {", "namespace gradus {\nnamespace nn {")
        text = re.sub(r'"(?:\\.|[^"\\\n])*"',
                      lambda x: x.group().replace("torch::nn::", "gradus::nn::"), text)
        parts = [Item(text, *x) for x in items(text)]
        self.compile(name, parts)
        program = self.work / f"test_{name}"  # <any> is a header
        subprocess.run(["g++", self.work / f"{name}.o", self.work / "support.o", "-o", program]
                       + self.libraries, check=True, cwd=self.work)
        for part in parts:
            if part.test is None:
                continue
            if part.error:
                yield part.test, "compile: " + part.error
                continue
            try:
                run = subprocess.run([program, f"--gtest_filter={part.test}"], capture_output=True,
                                     text=True, timeout=120)
            except subprocess.TimeoutExpired:
                yield part.test, "takes longer than 120 s"
                continue
            if run.returncode == 0:
                yield part.test, None
            else:
                out = run.stdout + run.stderr
                found = re.search(r"Failure\n(.*?)\n\n?(?:\[|/|$)", out, re.S) or re.search(
                    r"(C\+\+ exception.*?)\n", out)
                reason = " ".join(found.group(1).split()) if found else f"exit code {run.returncode}"
                yield part.test, "run: " + reason[:300]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dir", type=lambda x: pathlib.Path(x).resolve())
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/sim"))
    parser.add_argument("--work", type=lambda x: pathlib.Path(x).resolve(),
                        default=pathlib.Path(os.environ.get("TMPDIR", "/tmp")) / "libtorch-suite")
    parser.add_argument("files", nargs="*", metavar="FILE")
    arguments = parser.parse_intermixed_args()
    suite = Suite(arguments)
    table = []
    for name in arguments.files or FILES:
        scope = passed = 0
        for test, reason in suite.measure(name):
            outside = [why for what, why in OUT_OF_SCOPE.items() if re.search(what, test)]
            if outside and reason:
                continue
            scope += 1
            passed += reason is None
            if reason:
                print(f"{name}: {test}: {reason}", flush=True)
        table.append(f"{name:15} {scope:8} {passed:6}")
    print("\n".join([f"{'file':15} in scope   pass"] + table))


if __name__ == "__main__":
    main()
