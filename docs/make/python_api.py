#!/usr/bin/env python3
"""Makes docs/python-api.md from the docstrings of the Python package, which scripts/python builds.

    build/python/venv/bin/python docs/make/python_api.py            writes it
    build/python/venv/bin/python docs/make/python_api.py --check    says whether it is up to date
"""
import enum
import importlib
import inspect
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python/stubs"))
from signatures import parameters_of  # noqa: E402

PAGE = ROOT / "docs/python-api.md"
MODULES = ["gradus", "gradus.nn", "gradus.nn.functional", "gradus.nn.init", "gradus.nn.utils", "gradus.nn.parallel",
           "gradus.nn.utils.parametrize", "gradus.nn.utils.parametrizations", "gradus.nn.utils.prune", "gradus.nn.utils.fusion",
           "gradus.optim", "gradus.optim.lr_scheduler", "gradus.optim.swa_utils", "gradus.utils.data", "gradus.utils.checkpoint",
           "gradus.utils.benchmark", "gradus.autograd", "gradus.autograd.functional", "gradus.autograd.graph", "gradus.func",
           "gradus.distributions",
           "gradus.distributions.constraints", "gradus.distributions.transforms", "gradus.amp", "gradus.random",
           "gradus.testing", "gradus.multiprocessing", "gradus.accelerator", "gradus.cuda", "gradus.sim",
           "gradus.watch", "gradus.metrics", "gradus.profiler", "gradus.distributed"]
HEAD = """# API of Python

<!-- docs/make/python_api.py makes this page -->

Every name of the modules, with the first sentence of its docstring. `help(NAME)` shows the rest. Functions and methods of
tensors that are rows of [operators](operators.md) are not repeated here; `gradus.fft`, `gradus.linalg`,
`gradus.special`, `gradus.numpy` and `gradus.cupy` hold rows alone.
"""


def rows():
    """The names of the table of operators, and of what follows from them."""
    names = set(re.findall(r"`(\w+)", (ROOT / "docs/operators.md").read_text()))
    return names | {f"{name}_" for name in names}


def first_sentence(value):
    made = getattr(value, "__nb_signature__", None)
    doc = made[0][1] if made else inspect.getdoc(value) if value.__doc__ else ""
    doc = re.sub(r"\s+", " ", doc or "").strip()
    return re.split(r"(?<=\.)\s", doc)[0].replace("|", "\\|")


def short(signature):
    """A signature without types: "(self, dim: int = 0) -> Tensor" is "(dim=0)"."""
    out = []
    for part in map(str.strip, parameters_of(signature)[0]):
        name, _, rest = part.partition(":")
        default = (rest or name).partition(" = ")[2] if " = " in part else part.partition("=")[2] if not rest else ""
        name = name.partition("=")[0].strip()
        if name not in ("self", "/", ""):
            out.append(name + (f"={default}" if default else ""))
    return "(" + ", ".join(out) + ")"


def signature_of(value):
    made = getattr(value, "__nb_signature__", None) or getattr(getattr(value, "__init__", None), "__nb_signature__", None)
    if made:
        text, _, defaults = made[0]
        for i, default in enumerate(defaults or ()):
            text = text.replace(f"\\{i}", repr(default), 1)
        return short(text)
    try:
        if inspect.isclass(value) and "__init__" not in vars(value) and "__new__" not in vars(value):
            return ""
        return short(str(inspect.signature(value)))
    except (TypeError, ValueError):
        return ""


def section(name, hidden):
    module = importlib.import_module(name)
    yield f"\n## {name}\n\n{module.__doc__.strip().splitlines()[0]}\n\n| name | what it is |\n|---|---|\n"
    for each, value in sorted(vars(module).items(), key=lambda item: item[0].lower()):
        if each.startswith("_") or each in hidden or inspect.ismodule(value) or not callable(value):
            continue
        if not (getattr(value, "__module__", None) or "gradus").startswith(("gradus", "nanobind")):
            continue  # of Python's library
        if inspect.isclass(value) and issubclass(value, (BaseException, enum.Enum)):
            signature = ""
        else:
            signature = signature_of(value)
        yield f"| `{each}{signature}` | {first_sentence(value)} |\n"


def page():
    known = rows()
    parts = [HEAD]
    for name in MODULES:
        elsewhere = set(vars(importlib.import_module("gradus.optim.lr_scheduler"))) if name == "gradus.optim" else set()
        parts += section(name, known if name in ("gradus", "gradus.nn.functional") else elsewhere)
    return "".join(parts)


def simulated():
    """Whether the package has what only a library with simulated devices has, as the page does."""
    return hasattr(importlib.import_module("gradus._gradus._sim"), "take_findings")


if __name__ == "__main__":
    if not simulated():
        sys.exit("docs/make/python_api.py: this package lacks names of gradus.sim; build the library with -DGRADUS_CUDA=SIM")
    text = page()
    if sys.argv[1:] == ["--check"]:
        if not PAGE.exists() or PAGE.read_text() != text:
            sys.exit("docs/python-api.md is out of date; docs/make/python_api.py makes it")
    else:
        PAGE.write_text(text)
