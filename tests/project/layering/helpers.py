"""Finds tests that use what a header of the tests declares, and do not include it.

    tests/project/layering/helpers.py ROOT

A unity build hides that where another test of the folder includes the header. Names that the library's headers have, too,
are left out. Exit status 1 where there are such tests.
"""
import pathlib
import re
import sys

# What a line declares: a macro, a type, an alias, a function, a constant. Of headers only lines at the left margin count.
DECLARES = (r"(?:#define (\w+)|(?:class|struct|enum class) (\w+)|using (\w+) =|"
            r"(?:[\w:<>,*&]+ )+[*&]*(\w+)(?:\(|(?:\[\w*\])* = |(?:\[\w*\])*\{))")
WORD = re.compile(r"\b\w+\b")


def declared(text, margin=""):
    return {name for names in re.findall("^" + margin + DECLARES, text, re.M) for name in names if name}


def main():
    root = pathlib.Path(sys.argv[1])
    texts = {path: re.sub(r"//.*", "", path.read_text()) for path in sorted((root / "tests").rglob("*"))
             if path.suffix in (".h", ".cpp", ".cu")}
    headers = {path for path in texts if path.suffix == ".h"}
    of_library = set()
    for folder in ("tensor", "cpu", "cuda", "autograd", "nn", "optim", "data", "serialize", "watch", "distributed"):
        for path in (root / folder).rglob("*.h"):
            of_library.update(WORD.findall(re.sub(r"//.*", "", path.read_text())))

    def included(path, seen):
        for name in re.findall(r'#include "([^"]+)"', texts[path]):
            for header in {root / name, path.parent / name} & headers - seen:
                seen.add(header)
                included(header, seen)
        return seen

    known = {path: included(path, {path}) for path in texts}
    hidden = {}  # by folder: what one of its files includes
    for path, seen in known.items():
        hidden.setdefault(path.parent, set()).update(seen & headers)
    faults = 0
    for path, text in texts.items():
        own = set().union(*(declared(texts[other], " *") for other in known[path]))
        used = set(WORD.findall(re.sub(r'"(?:[^"\\\n]|\\.)*"', "", text))) - own - of_library
        for header in sorted(hidden[path.parent] - known[path]):
            for name in sorted(used & declared(texts[header])):
                print(f"{path.relative_to(root)}: uses {name} and does not include {header.relative_to(root)}")
                faults += 1
    return faults > 0


sys.exit(main())
