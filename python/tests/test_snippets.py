"""Programs for PyTorch, NumPy, CuPy, Numba, PyCUDA and JAX that run here, and how much of them is changed.

A line of snippets/*.py that is changed has the line of the other library before it, after `# was: `.
"""

import os
import pathlib
import re
import runpy
import subprocess
import sys

import pytest

import gradus

SNIPPETS = pathlib.Path(__file__).parent / "snippets"
NEEDS_GPU = {"cupy_arrays", "numba_cuda", "pycuda_kernels"}
IMPORTS_ALONE = ("pytorch", "numpy", "cupy")


def original(path):
    """The program as it was: a changed line, or several, comes behind those that it stands for."""
    lines, out, skip = path.read_text().splitlines(), [], False
    for line in lines:
        was = re.fullmatch(r"( *)# was: ?(.*)", line)
        if was:
            out.append(was[1] + was[2])
            skip = True
        elif skip:
            skip = False
        else:
            out.append(line)
    return "\n".join(out) + "\n"


@pytest.mark.parametrize("path", sorted(SNIPPETS.glob("*.py")), ids=lambda path: path.stem)
def test_a_snippet_runs(path):
    if path.stem in NEEDS_GPU and not gradus.cuda.is_available():
        pytest.skip("there is no GPU")
    names = {"__name__": "__main__"}
    exec(compile(path.read_text(), str(path), "exec"), names)
    names.clear()  # what the program made goes before the simulator looks for leaks


@pytest.mark.parametrize("path", [each for each in sorted(SNIPPETS.glob("*.py"))
                                  if each.stem.startswith(IMPORTS_ALONE)], ids=lambda path: path.stem)
def test_the_import_alone_is_changed(path):
    changed = re.findall(r"# was: (.*)\n(.*)", path.read_text())
    assert changed
    for was, line in changed:
        assert re.match(r"(import|from) (torch|numpy|cupy)\b", was), was
        assert re.match(r"(import|from) gradus\b", line), line
        # The same names come in by both.
        assert was.split("import")[-1].split(" as ")[-1].strip() == line.split("import")[-1].split(" as ")[-1].strip()


def test_numpy_gives_the_same_for_the_program_as_it_was():
    import numpy

    names = {}
    exec(compile(original(SNIPPETS / "numpy_arrays.py"), "numpy_arrays.py", "exec"), names)
    ours = runpy.run_path(str(SNIPPETS / "numpy_arrays.py"))
    for was, is_now in zip(names["results"], ours["results"], strict=True):
        assert numpy.allclose(was, is_now)
        if isinstance(was, numpy.ndarray):
            assert str(was.dtype) == str(is_now.dtype).removeprefix("gradus.")


def test_a_job_of_a_cluster():
    environment = {**os.environ, "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment["PYTHONPATH"] = os.pathsep.join([str(pathlib.Path(gradus.__file__).parents[1]), *sys.path[1:]])
    done = subprocess.run(["bash", str(SNIPPETS / "slurm.sh")], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "epoch 100, loss" in done.stdout
