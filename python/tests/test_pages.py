"""The programs of the pages about Python, and those of docstrings, run and print what stands below them."""

import contextlib
import doctest
import importlib
import io
import pathlib
import pkgutil
import re
import subprocess
import sys

import pytest

import gradus

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(<!-- needs: (\w+) -->\n)?^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.M | re.S)


def blocks():
    for page in ("README.md", "docs/python.md", "docs/coming-from.md", "docs/simulator.md"):
        for i, found in enumerate(BLOCK.finditer((ROOT / page).read_text())):
            yield pytest.param(*found.groups()[1:], id=f"{page}-{i}")


@pytest.mark.parametrize("needs, code, printed", list(blocks()))
def test_program_of_a_page(needs, code, printed, tmp_path):
    if needs == "cuda" and not gradus.cuda.is_available():
        pytest.skip("no GPU, and no simulated one")
    if needs == "sim" and not gradus.sim.is_available():
        pytest.skip("no simulated devices")
    source = tmp_path / "page.py"  # whose text a function may ask for
    source.write_text(code)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(code, str(source), "exec"), {"__name__": "__main__"})
    if printed is not None:
        assert out.getvalue() == printed


def modules():
    yield "gradus"
    for each in pkgutil.walk_packages(gradus.__path__, "gradus."):
        if each.name != "gradus._gradus":
            yield each.name


@pytest.mark.parametrize("name", list(modules()))
def test_examples_of_docstrings(name):
    module = importlib.import_module(name)
    assert module.__doc__
    assert doctest.testmod(module, extraglobs={"gradus": gradus}, optionflags=doctest.ELLIPSIS).failed == 0


@pytest.mark.skipif(not hasattr(gradus._gradus._sim, "take_findings"), reason="the page is that of a library with simulated devices")
def test_page_of_the_api_is_up_to_date():
    out = subprocess.run([sys.executable, str(ROOT / "docs/make/python_api.py"), "--check"], capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
