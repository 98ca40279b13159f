#!/usr/bin/env python3
"""Writes the stubs that type checkers read into the package of a build folder.

    make.py PACKAGE      the folder gradus with the extension, which Python can import

nanobind writes what C++ says of the extension. A file beside this one, as _nn.pyi, says the rest: operators, and what takes
or returns any object of Python. Its definitions take the place of those of the same name, or are added. Python modules
whose names are made at import get a stub, too; those of all others stand in their sources.
"""
import ast
import builtins
import copy
import importlib
import inspect
import pathlib
import re
import sys

from nanobind.stubgen import StubGen

from signatures import parameters_of

HERE = pathlib.Path(__file__).resolve().parent
HEADER = """import builtins
import collections.abc
import enum
import math
import types
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from typing import Any, Generic, Literal, NamedTuple, TypeVar, overload
from typing_extensions import Self
import gradus._gradus as _C
import gradus._gradus._nn
import gradus._gradus._optim
"""
# These tensors may be None though they have no default, as a layer without a bias has it.
MAYBE_NONE = {"weight", "bias", "running_mean", "running_var", "gradient"}


class Types(ast.NodeTransformer):
    """Names of types so that no attribute hides them: builtins.float, since gradus.float is a dtype."""

    def __init__(self, classes):
        self.classes = classes

    def visit_Name(self, node):
        if node.id in self.classes:
            return ast.Attribute(ast.Name("_C"), node.id)
        if isinstance(getattr(builtins, node.id, None), type):
            return ast.Attribute(ast.Name("builtins"), node.id)
        return node

    def visit_Constant(self, node):
        return self.visit(ast.parse(node.value, mode="eval").body) if isinstance(node.value, str) else node

    def visit_Subscript(self, node):  # the texts of Literal are no types
        return node if ast.unparse(node.value) == "Literal" else self.generic_visit(node)

    def visit_Attribute(self, node):
        if ast.unparse(node.value) in ("gradus", "gradus._gradus"):
            return ast.Attribute(ast.Name("_C"), node.attr)
        return node


class Signatures(ast.NodeTransformer):
    """Every annotation by Types; numbers as arguments of their own are integers; a tensor is None only where that may be."""

    def __init__(self, classes, enumerations=()):
        self.types, self.enumerations = Types(classes), enumerations

    def annotation(self, node):
        return node and self.types.visit(node)

    def visit_FunctionDef(self, node):
        a = node.args
        places = a.posonlyargs + a.args
        required = places[:len(places) - len(a.defaults)]
        for arg in required:
            if arg.annotation and ast.unparse(arg.annotation) in ("Tensor | None", "gradus._gradus.Tensor | None") \
                    and arg.arg not in MAYBE_NONE:
                arg.annotation = arg.annotation.left
        # nanobind writes the default of an enumeration as its number.
        for defaults, args in ((a.defaults, places[len(places) - len(a.defaults):]), (a.kw_defaults, a.kwonlyargs)):
            for i, arg in enumerate(args):
                if arg.annotation and ast.unparse(arg.annotation) in self.enumerations:
                    defaults[i] = ast.Constant(...)
        if a.vararg and not a.vararg.annotation:
            a.vararg.annotation = ast.Name("Any" if a.vararg.arg == "args" else "int")
        if a.kwarg and not a.kwarg.annotation:
            a.kwarg.annotation = ast.Name("Any")
        for arg in [*places, *a.kwonlyargs, a.vararg, a.kwarg]:
            if arg:
                if arg.arg == "device" and arg.annotation and ast.unparse(arg.annotation) in ("object", "object | None"):
                    arg.annotation = ast.parse("device | str | int | None", mode="eval").body
                arg.annotation = self.annotation(arg.annotation)
        node.returns = self.annotation(node.returns)
        return node

    def visit_Assign(self, node):
        if isinstance(node.value, ast.BinOp):  # a name for several types
            node.value = self.types.visit(node.value)
        return node

    def visit_AnnAssign(self, node):
        node.annotation = self.annotation(node.annotation)
        return node

    def visit_ClassDef(self, node):
        node.bases = [self.types.visit(base) for base in node.bases]
        self.generic_visit(node)
        return node


def name_of(node):
    if isinstance(node, ast.AnnAssign):
        return node.target.id
    if isinstance(node, ast.Assign):
        return node.targets[0].id
    return getattr(node, "name", None)


def without_numpy_keywords(body):
    """Definitions without the last overload of rows, which takes axis for dim."""
    out = [node for node in body if not (isinstance(node, ast.FunctionDef) and node.args.vararg and
                                         any(arg.arg == "axis" for arg in node.args.kwonlyargs))]
    names = [name_of(node) for node in out]
    for node in out:
        if isinstance(node, ast.ClassDef):
            node.body = without_numpy_keywords(node.body)
        elif isinstance(node, ast.FunctionDef) and names.count(node.name) == 1:
            node.decorator_list = [each for each in node.decorator_list if ast.unparse(each) != "overload"]
    return out


def merge(made, said):
    """The definitions of `made` with those of `said` in their place; documentation stays."""
    out, by_name = [], {}
    for node in said:
        by_name.setdefault(name_of(node), []).append(node)
    docs = {}
    for node in made:
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node):
            docs.setdefault(node.name, node.body[0])
    written = set()
    for node in made:
        name = name_of(node)
        if name is None or name not in by_name:
            out.append(node)
        elif isinstance(node, ast.ClassDef) and isinstance(by_name[name][0], ast.ClassDef):
            node.bases = by_name[name][0].bases or node.bases
            node.body = merge(node.body, by_name[name][0].body)
            out.append(node)
        elif name not in written:
            if name in docs and isinstance(by_name[name][-1], ast.FunctionDef):
                by_name[name][-1].body = [docs[name]]
            out += by_name[name]
        written.add(name)
    return out + [node for name, nodes in by_name.items() if name not in written for node in nodes]


def with_calls(body):
    """Layers of C++ are called with what their forward() takes: nanobind does not know what a slot takes."""
    for node in body:
        methods = {name_of(each): each for each in getattr(node, "body", []) if isinstance(each, ast.FunctionDef)}
        if isinstance(node, ast.ClassDef) and {"__call__", "forward"} <= set(methods) and not methods["__call__"].returns:
            call = copy.deepcopy(methods["forward"])
            call.name = "__call__"
            node.body[node.body.index(methods["__call__"])] = call
    return body


def said_of(name):
    path = HERE / f"{name}.pyi"
    return ast.parse(path.read_text()).body if path.exists() else []


def in_order(line):
    """A line "def name(p: float = 0, dtype: dtype)" as Python takes it: what follows a default has one, too."""
    try:
        ast.parse(line.strip() + " ..." * line.endswith(":"))
        return line
    except SyntaxError:
        parts, end = parameters_of(line)
        first = next(i for i, part in enumerate(parts) if " = " in part)
        parts[first:] = [part if " = " in part or "*" in part else part + " = ..." for part in parts[first:]]
        return line[:line.index("(") + 1] + ",".join(parts) + line[end:]


def extension_stub(path, classes):
    """Brings a stub of nanobind into its final form."""
    # Imports come from HEADER; nanobind takes functions of Python in a class for imported ones.
    text = re.sub(r"^(from|import) [^(\n]*(\([^)]*\))?\n", "", path.read_text(), flags=re.M)
    # A property of functions of Python has lost its definition the same way; the file beside this one has it.
    text = re.sub(r"^ *@(property|\w+\.setter)\n(?! *def )", "", text, flags=re.M).split("\n")
    tree = ast.parse("\n".join(in_order(line) if line.lstrip().startswith("def ") else line for line in text))
    name = path.parent.name if path.stem == "__init__" else path.stem
    doc = [node for node in tree.body[:1] if isinstance(node, ast.Expr)]
    body = [node for node in tree.body[len(doc):] if not isinstance(node, (ast.Import, ast.ImportFrom))]
    said = said_of(name)
    imports = [node for node in said if isinstance(node, (ast.Import, ast.ImportFrom))]
    tree.body = with_calls(merge(without_numpy_keywords(body), [node for node in said if node not in imports]))
    own = {name_of(node) for node in tree.body}
    enumerations = {node.name for node in tree.body if isinstance(node, ast.ClassDef) and "enum." in "".join(
        map(ast.unparse, node.bases))}
    Signatures(classes if name == "_gradus" else classes - own, enumerations).visit(tree)
    text = "".join(ast.unparse(node) + "\n" for node in doc) + HEADER
    text += "".join(ast.unparse(node) + "\n" for node in imports)
    path.write_text(text + "\n" + ast.unparse(ast.fix_missing_locations(tree)) + "\n")


def homes(extension):
    """Where each public object of the extension is: id to (module, name)."""
    out = {}
    for module in (extension, extension._nn, extension._nn.functional, extension._optim):
        for name, value in vars(module).items():
            if not name.startswith("_") and callable(value):
                out[id(value)] = (module.__name__, name)
    return out


class NumpyNames(ast.NodeTransformer):
    """A row's signature as gradus.numpy has it: NumPy's keywords, and whatever becomes an array for a tensor."""

    def visit_arg(self, node):
        kind = ast.unparse(node.annotation) if node.annotation else ""
        if kind.startswith("_C.Tensor") or "_Index" in kind or "PathLike" in kind:
            node.annotation = ast.Name("Any")
        for numpy, ours in _numpy_keywords().items():
            if node.arg in (ours, f"{ours}s"):
                node.arg = numpy
        return node


def _numpy_keywords():
    keywords = importlib.import_module("gradus._numpy")._KEYWORDS
    return {name: ours for name, ours in keywords.items() if name != "axes"}


def definition(name, value, known, rows, classes):
    """The lines of a stub that say what a public name of a module is."""
    if value is None:
        yield f"{name}: None"
    elif id(value) in known and isinstance(value, type):
        yield "{} = {}.{}".format(name, *known[id(value)])
    elif id(value) in known:
        yield "from {} import {} as {}".format(*known[id(value)], name)
    elif id(getattr(value, "__wrapped__", None)) in known:
        for row in rows[known[id(value.__wrapped__)][1]]:
            row = NumpyNames().visit(copy.deepcopy(row))
            row.name = name
            yield ast.unparse(row)
    elif inspect.ismethod(value) or inspect.isfunction(value):
        # A default that is no literal is "...", as stubs have it.
        signature = re.sub(r"<class '\w+'>|gradus\.\w+", "...", str(inspect.signature(value)))
        tree = ast.parse(f"def {name}{signature}:\n    {value.__doc__!r}")
        yield ast.unparse(ast.fix_missing_locations(Signatures(classes).visit(tree)))
    elif type(value).__module__ == "gradus._gradus" or isinstance(value, float):
        yield f"{name}: {'_C.' * (not isinstance(value, float))}{type(value).__name__}"


def python_stub(source, module, known, rows, classes):
    """The stub of a Python module that is filled at import: these names, and its own definitions."""
    tree = ast.parse(source.read_text())
    lines = [ast.unparse(tree.body[0]), HEADER]
    imported = {}
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != "__future__":
            for alias in node.names:
                alias.asname = alias.asname or alias.name  # "as" makes it a name of this module
                imported[alias.asname] = ast.unparse(ast.ImportFrom(node.module, [alias], node.level))
    lines += [text for name, text in imported.items() if name == "_gradus"]
    own = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_"]
    names = {node.name for node in own}
    for name, value in sorted(vars(module).items()):
        if name not in names and not name.startswith("_"):
            ours = inspect.isfunction(value) and name in imported
            made = [] if ours else list(definition(name, value, known, rows, classes))
            lines += made or filter(None, [imported.get(name)])
    for node in own:
        if isinstance(node, ast.ClassDef):  # as it is, for the attributes that its methods set
            lines.append(ast.unparse(node))
            continue
        node.body = node.body[:1] if ast.get_docstring(node) else [ast.Expr(ast.Constant(...))]
        lines.append(ast.unparse(node))
    if hasattr(module, "__all__"):
        lines.append(f"__all__ = {sorted(module.__all__)!r}")
    return "\n".join(lines) + "\n"


def main(package):
    package = pathlib.Path(package)
    sys.path.insert(0, str(package.parent))
    extension = importlib.import_module("gradus._gradus")
    out = package / "_gradus"
    out.mkdir(exist_ok=True)
    made = StubGen(module=extension, recursive=True, include_private=True, quiet=True, output_file=out / "__init__.pyi")
    made.put(extension)
    (out / "__init__.pyi").write_text(made.get())
    classes = {name for name, value in vars(extension).items() if isinstance(value, type)}
    for path in sorted(out.rglob("*.pyi")):
        extension_stub(path, classes)
    known, rows = homes(extension), {}
    for node in ast.parse((out / "__init__.pyi").read_text()).body:
        if isinstance(node, ast.FunctionDef):
            rows.setdefault(node.name, []).append(node)
    for source in sorted(package.rglob("*.py")):
        if "globals()" not in source.read_text():
            continue
        module = importlib.import_module(".".join(("gradus", *source.relative_to(package).with_suffix("").parts)))
        source.with_suffix(".pyi").write_text(python_stub(source, module, known, rows, classes))


if __name__ == "__main__":
    main(sys.argv[1])
