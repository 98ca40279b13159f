"""The package as a whole: what an import brings, and what a program of C++ finds in it."""

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

import gradus

FOLDER = pathlib.Path(gradus.__file__).parent


def test_import_needs_no_numpy_and_makes_nothing_that_is_not_used():
    done = subprocess.run(
        [sys.executable, "-c",
         "import sys; before = set(sys.modules); import gradus;"
         "print(*sorted((sys.modules.keys() - before) & {'numpy', 'inspect', 'multiprocessing', 'gradus.numpy', 'gradus.cupy',"
         "                                              'gradus.distributions', 'gradus.utils.data'}));"
         "gradus.numpy.ones(2); gradus.cupy; print('gradus.cupy' in sys.modules, 'numpy' in sys.modules)"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(FOLDER.parent), *filter(None, sys.path)])}, capture_output=True, text=True)
    assert done.stdout == "\nTrue False\n", done.stderr


def test_parts_that_are_imported_at_their_first_use_are_listed():
    assert {"cupy", "distributions", "multiprocessing", "numpy", "ones"} <= set(dir(gradus))
    assert {"benchmark", "checkpoint", "data"} <= set(dir(gradus.utils))
    for part in (gradus, gradus.utils):
        with pytest.raises(AttributeError, match=f"module '{part.__name__}' has no attribute 'nothing'"):
            part.nothing


@pytest.mark.skipif(not shutil.which("nm"), reason="there is no nm")
def test_libraries_give_away_nothing_of_libstdcxx():
    """Where libstdc++ is linked as an archive: another copy in the process would share its locales."""
    maps = pathlib.Path("/proc/self/maps").read_text()
    paths = set(re.findall(r"\S*/(?:libgradus[.]so|_gradus[.])\S*", maps))
    assert len(paths) == 2
    for path in paths:
        names = subprocess.run(["nm", "-D", "--defined-only", path], capture_output=True, text=True).stdout
        assert names and not re.findall(r"\S*_ZNSt\S*2idE$", names, re.M), path


def test_a_program_of_cpp_finds_the_library():
    if (FOLDER / "lib/cmake").exists():
        found = pathlib.Path(gradus.cmake_prefix_path())
        assert (found / "lib/cmake/gradus/gradus-config.cmake").exists()
        assert (found / "include/gradus/gradus.h").exists()
    else:
        with pytest.raises(gradus.Error, match="holds no CMake package"):
            gradus.cmake_prefix_path()
