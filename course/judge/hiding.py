"""Keeps the hidden tests from all that the judge starts: compilers, readers of objects, and runners.

run_autograder reads them as root and hands them over by an open file, so that the user who grades can open none. Where they
are read from their folder, the kernel closes it to this process and to all that it starts (Landlock, Linux 5.13 and newer)."""
import ctypes
import glob
import json
import os

_READ = 1 << 2 | 1 << 3  # a file, and the names in a folder
_CREATE, _ADD, _RESTRICT = 444, 445, 446  # the same numbers on x86-64 and ARM
_BENEATH = 1
_NO_NEW_PRIVILEGES = 38


def texts(home, handed_over=None):
    """File name -> text of the hidden tests: what was handed over in an open file, or what stands in staff/hidden."""
    if handed_over is not None:
        with os.fdopen(handed_over) as file:
            file.seek(0)
            return json.load(file)
    out = {}
    for path in glob.glob(os.path.join(home, "staff", "hidden", "[0-9]*.py")):
        with open(path, encoding="utf-8") as file:
            out[os.path.basename(path)] = file.read()
    return out


class _Ruleset(ctypes.Structure):
    _fields_ = [("handled", ctypes.c_uint64)]


class _Beneath(ctypes.Structure):
    _pack_ = 1
    _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]


def hide(folder):
    """From now on neither this process nor any that it starts can read what lies in `folder`. False where the kernel cannot
    do that. REQUIRES: this process has one thread, and the files that it will read exist, or their folders."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.syscall.restype = ctypes.c_long
    ruleset = _Ruleset(_READ)
    rules = libc.syscall(_CREATE, ctypes.byref(ruleset), ctypes.c_size_t(ctypes.sizeof(ruleset)), 0)
    if rules < 0:
        return False
    try:
        # All that lies beside the way from / to the folder stays open.
        here, parts = "/", os.path.realpath(folder).strip("/").split("/")
        for part in parts:
            for each in os.listdir(here):
                if each != part:
                    _open_beneath(libc, rules, os.path.join(here, each))
            here = os.path.join(here, part)
        return libc.prctl(_NO_NEW_PRIVILEGES, 1, 0, 0, 0) == 0 and libc.syscall(_RESTRICT, rules, 0) == 0
    finally:
        os.close(rules)


def _open_beneath(libc, rules, path):
    try:
        file = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        allowed = _READ if os.path.isdir(path) else 1 << 2
        rule = _Beneath(allowed, file)
        libc.syscall(_ADD, rules, _BENEATH, ctypes.byref(rule), 0)
    finally:
        os.close(file)
