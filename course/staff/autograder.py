"""The grader as Classroom 50 starts it: runs ./grade on the student's checkout, which is the working folder.

It lies beside ./grade in CLASSROOM/autograders/ASSIGNMENT/. MODULES in grader.conf says which modules count."""

import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent


def modules():
    conf = HERE / "grader.conf"
    found = re.search(r"^MODULES=([^#\n]*)", conf.read_text(encoding="utf-8"), re.M) if conf.is_file() else None
    return found.group(1).strip().strip("\"'").split() if found else []


def main():
    result = Path.cwd() / "result.json"
    if result.exists() or result.is_symlink():
        result.unlink()  # A student's own.
    command = [sys.executable, str(HERE / "grade"), *modules(), "--submission", str(Path.cwd()), "--format",
               f"classroom50={result}"]
    if (HERE / "staff" / "hidden").is_dir():
        command.append("--staff")
    return subprocess.run(command, check=False, env={**os.environ, "LC_ALL": "C.UTF-8"}).returncode


if __name__ == "__main__":
    sys.exit(main())
