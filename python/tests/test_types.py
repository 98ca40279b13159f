"""What type checkers say of the package: of its stubs, and of programs that use it."""

import ast
import importlib.util
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import gradus

ROOT = pathlib.Path(__file__).resolve().parents[2]
EXAMPLES = sorted((ROOT / "python/examples").glob("*.py"))
STUBS = pathlib.Path(gradus.__file__).parent


def needs(module):
    return pytest.mark.skipif(importlib.util.find_spec(module) is None, reason=f"{module} is not installed")


def run(*command, folder):
    out = subprocess.run([sys.executable, "-m", *command], cwd=folder, capture_output=True, text=True)
    assert out.returncode == 0, out.stdout[-8000:] + out.stderr[-2000:]


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(example):
    out = subprocess.run([sys.executable, str(example)], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    assert out.stdout


@pytest.fixture(scope="module")
def cache(tmp_path_factory):
    """What mypy keeps of the package from one run to the next."""
    return str(tmp_path_factory.mktemp("cache"))


@needs("mypy")
def test_mypy_accepts_the_examples(tmp_path, cache):
    run("mypy", "--strict", "--cache-dir", cache, *map(str, EXAMPLES), folder=tmp_path)


@needs("mypy")
@pytest.mark.parametrize("line, message", [
    ("gradus.ones(2).sum(dim='a')", "arg-type"),
    ("gradus.ones(2).exp(1)", "call-arg"),
    ("gradus.nn.Linear(2)", "call-arg"),
    ("gradus.nn.Linear(2, 2)(1)", "arg-type"),
    ("n: int = gradus.ones(2).matmul(gradus.ones(2))", "assignment"),
    ("gradus.optim.SGD([gradus.ones(2)], lr='a')", "arg-type"),
    ("gradus.fft.fft(1)", "arg-type"),
])
def test_mypy_finds_mistakes(line, message, mistakes):
    assert message in mistakes[line], mistakes


@pytest.fixture(scope="module")
def mistakes(tmp_path_factory, cache):
    """What mypy says of each line of the test above, in one run."""
    folder = tmp_path_factory.mktemp("mistakes")
    lines = [each.args[1][i][0] for each in test_mypy_finds_mistakes.pytestmark if each.name == "parametrize"
             for i in range(len(each.args[1]))]
    (folder / "lines.py").write_text("import gradus\n" + "\n".join(lines) + "\n")
    out = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", cache, "lines.py"],
                         cwd=folder, capture_output=True, text=True).stdout
    return {line: " ".join(each for each in out.splitlines() if each.startswith(f"lines.py:{i}:"))
            for i, line in enumerate(lines, 2)}


@needs("pyright")
@pytest.mark.skipif(shutil.which("node") is None, reason="pyright needs node")
def test_pyright_accepts_the_examples(tmp_path):
    run("pyright", "--pythonpath", sys.executable, *map(str, EXAMPLES), folder=tmp_path)


# What stubtest says of every extension of nanobind, and why it is no fault.
ALLOWED = {
    "is not a function": "functions of nanobind are objects of a type of their own; the next test reads them",
    "Layer@": "a class that a function makes",
    "Layer.__call__ is not present in stub": "its base is such a class",
    "Tensor.unique": "gradus.unique and unique_consecutive are the methods, too, and call their tensor input",
    "_signatures is inconsistent": "what functools.cache makes has another signature",
    "is inconsistent, metaclass differs": "classes of nanobind have a metaclass of their own",
    "__nb_enum__ is not present in stub": "what nanobind keeps in an enumeration",
    "is a disjoint base at runtime": "the mark for it is younger than the type checkers that people have",
    "__signature__ variable differs": "what inspect.signature() reads, which a descriptor makes for each class",
    '__init__ is inconsistent, stub does not have *args parameter "args"': "the class has no constructor; this one raises",
}


@needs("mypy")
def test_stubs_are_what_the_package_has(tmp_path):
    command = [sys.executable, "-m", "mypy.stubtest", "gradus", "--concise", "--mypy-config-file",
               str(ROOT / "python/stubs/mypy.ini")]
    lines = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True).stdout.splitlines()
    assert any("metaclass" in line for line in lines), lines  # it has run
    assert not [line for line in lines if not any(reason in line for reason in ALLOWED)]


def test_stubs_written_by_hand_name_the_parameters_that_functions_have():
    wrong = []
    for path in sorted((ROOT / "python/stubs").glob("*.pyi")):
        home = gradus._gradus if path.stem == "_gradus" else getattr(gradus._gradus, path.stem)
        for owner, nodes in [(home, ast.parse(path.read_text()).body)] + [
                (getattr(home, node.name), node.body) for node in ast.parse(path.read_text()).body
                if isinstance(node, ast.ClassDef)]:
            for node in nodes:
                real = getattr(getattr(owner, getattr(node, "name", ""), None), "__nb_signature__", None)
                if not isinstance(node, ast.FunctionDef) or real is None or "*args" in real[0][0]:
                    continue
                signature = re.sub(r"\\\d+", "None", real[0][0]).replace("def (", "def unnamed(")
                a = ast.parse(signature + ": ...").body[0].args
                # An overload may leave out what has a default.
                places, said = [arg.arg for arg in a.args], [arg.arg for arg in node.args.args]
                least = len(places) - len(a.defaults)
                if not (a.posonlyargs or node.args.posonlyargs) and not (
                        places[:len(said)] == said and len(said) >= least):
                    wrong.append(f"{path.name}: {node.name}{said}, but {places}")
    assert not wrong


def signatures():
    """(name, function) of the stubs."""
    for path in sorted(STUBS.rglob("*.pyi")):
        for home in ast.walk(ast.parse(path.read_text())):
            for node in home.body if isinstance(home, (ast.Module, ast.ClassDef)) else ():
                if isinstance(node, ast.FunctionDef):
                    owner = getattr(home, "name", path.stem)
                    yield f"{owner}.{node.name}", node


def test_every_signature_has_types():
    bare, rest, count = set(), set(), 0
    for name, node in signatures():
        count += 1
        a = node.args
        typed = [arg for arg in (*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg) if arg]
        missing = [arg.arg for arg in typed if not arg.annotation and arg.arg not in ("self", "cls")]
        if missing or node.returns is None and node.name != "__init__":
            bare.add(name)
        if a.vararg and a.vararg.arg == "args" and a.kwarg:
            rest.add(name)
    assert count > 2500
    assert not bare
    # Modules of Python's own take what their forward() takes, and some rows a list of tensors or its elements.
    lists = {"block_diag", "broadcast_tensors", "cartesian_prod", "chain_matmul", "einsum", "meshgrid"}
    assert {name for name in rest if name.partition(".")[2] not in lists} == {
        "Module.__init__", "Module.__call__", "Module._call"}
