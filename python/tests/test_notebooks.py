"""Every notebook runs from top to bottom, and holds the outputs of its cells."""

import json
import pathlib
import re
import subprocess
import sys

import pytest

import gradus

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
NEED_SIMULATOR = {"first_kernel"}


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    if path.stem in NEED_SIMULATOR and not gradus.sim.is_available():
        pytest.skip("there are no simulated devices")
    out = subprocess.run([sys.executable, str(FOLDER / "run.py"), str(path)], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_short_and_begins_with_the_installation(path):
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert re.search("^%pip install -q ", code[0], re.MULTILINE) and code[0].endswith("import gradus")
    assert "".join(cells[0]["source"]).startswith("# ")  # a title
    assert len(code) <= 10


def test_every_notebook_is_listed():
    listed = (FOLDER / "README.md").read_text()
    assert NOTEBOOKS and not [path.name for path in NOTEBOOKS if f"({path.name})" not in listed]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_the_first_cell_installs_exists(path, tmp_path, monkeypatch):
    cells = json.loads(path.read_text())["cells"]
    first = "".join(next(cell["source"] for cell in cells if cell["cell_type"] == "code"))
    before, command = re.match(r"(.*?)^%pip (install .*?)$", first, re.DOTALL | re.MULTILINE).groups()

    def words():
        names = {}
        exec(before, names)
        return command.format(**names).split()

    monkeypatch.chdir(FOLDER)
    install, quiet, package, *options = words()
    assert (install, quiet) == ("install", "-q") and (FOLDER / package / "pyproject.toml").exists()
    known = (FOLDER / package / "cmake/options.cmake").read_text()
    for flag, option in zip(options[::2], options[1::2], strict=True):
        name, value = re.fullmatch(r"cmake[.]define[.](\w+)=(\w+)", option).groups()
        assert flag == "-C" and re.search(rf"^set\({name} .*\n.*\b{value}\b", known, re.MULTILINE)
    monkeypatch.chdir(tmp_path)
    wheel = tmp_path / "gradus-0.1.0-cp310-abi3-manylinux_2_34_x86_64.whl"
    wheel.touch()
    assert words()[2] == (package if path.stem in NEED_SIMULATOR else wheel.name)
