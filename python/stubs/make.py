#!/usr/bin/env python3
"""Writes the stubs that type checkers read into the package of a build folder.

    make.py PACKAGE      the folder gradus with the extension, which Python can import

nanobind writes what C++ says of the extension. A file beside this one, as _nn.pyi, says the rest: operators, and what takes
or returns any object of Python. Its definitions take the place of those of the same name, or are added. Python modules
whose names are made at import get a stub, too; those of all others stand in their sources.
"""
import ast
import builtins
import importlib
import pathlib
import sys

from nanobind.stubgen import StubGen

HERE = pathlib.Path(__file__).resolve().parent
HEADER = """import builtins
import collections.abc
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

    def visit_Attribute(self, node):
        if ast.unparse(node.value) in ("gradus", "gradus._gradus"):
            return ast.Attribute(ast.Name("_C"), node.attr)
        return node


class Signatures(ast.NodeTransformer):
    """Every annotation by Types; *numbers are integers; a tensor is None only where that may be."""

    def __init__(self, classes):
        self.types = Types(classes)

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
        if a.vararg and not a.vararg.annotation:
            a.vararg.annotation = ast.Name("int")
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


def said_of(name):
    path = HERE / f"{name}.pyi"
    return ast.parse(path.read_text()).body if path.exists() else []


def extension_stub(path, classes):
    """Brings a stub of nanobind into its final form."""
    tree = ast.parse(path.read_text())
    name = path.parent.name if path.stem == "__init__" else path.stem
    doc = [node for node in tree.body[:1] if isinstance(node, ast.Expr)]
    body = [node for node in tree.body[len(doc):] if not isinstance(node, (ast.Import, ast.ImportFrom))]
    said = said_of(name)
    imports = [node for node in said if isinstance(node, (ast.Import, ast.ImportFrom))]
    tree.body = merge(body, [node for node in said if node not in imports])
    Signatures(classes - {name_of(node) for node in tree.body} if name != "_gradus" else classes).visit(tree)
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


def python_stub(source, module, known):
    """The stub of a Python module that takes names from the extension at import: these, and its own definitions."""
    tree = ast.parse(source.read_text())
    lines = [ast.unparse(tree.body[0])]
    lines += [ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom))]
    own = [node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name[0] != "_"]
    names = {node.name for node in own}
    for name, value in sorted(vars(module).items()):
        if name not in names and not name.startswith("_") and id(value) in known:
            lines.append("from {} import {} as {}".format(*known[id(value)], name))
    if hasattr(module, "__all__"):
        lines.append(f"__all__ = {sorted(module.__all__)!r}")
    for node in own:
        node.body = node.body[:1] if ast.get_docstring(node) else [ast.Expr(ast.Constant(...))]
        lines.append(ast.unparse(node))
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
    known = homes(extension)
    for source in sorted(package.rglob("*.py")):
        if "globals()[" not in source.read_text():
            continue
        module = importlib.import_module(".".join(("gradus", *source.relative_to(package).with_suffix("").parts)))
        source.with_suffix(".pyi").write_text(python_stub(source, module, known))


if __name__ == "__main__":
    main(sys.argv[1])
