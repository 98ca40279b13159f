"""Every notebook runs from top to bottom, and holds the outputs of its cells."""

import json
import pathlib
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "examples/notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_runs(path):
    out = subprocess.run([sys.executable, str(FOLDER / "run.py"), str(path)], capture_output=True, text=True)
    assert out.returncode == 0, out.stdout + out.stderr


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebook_is_short_and_begins_with_the_installation(path):
    cells = json.loads(path.read_text())["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    assert code[0].startswith("%pip install")
    assert "".join(cells[0]["source"]).startswith("# ")  # a title
    assert len(code) <= 10


def test_every_notebook_is_listed():
    listed = (FOLDER / "README.md").read_text()
    assert NOTEBOOKS and not [path.name for path in NOTEBOOKS if f"({path.name})" not in listed]
