"""What a grade starts cannot read the hidden tests: neither the compiler of a student's file nor the runner.

In the place of both stand programs that try, without a system call filter, as a student's code would that has found a way
around it."""
import glob
import json
import os
import pwd
import shutil
import stat
import subprocess
import sys
import tempfile

from . import common

TASK, FILE = "0.1", "0_tensors/0.1_strides.cpp"
# A compiler that compiles, tries to read the hidden test, and makes the runner a program that tries the same.
COMPILER = """#!/bin/sh
case " $* " in *" -o "* | *" -E "*) cat {secret} >> {seen} 2>> {refused} ;; esac
{gcc} "$@" || exit
for word in "$@"; do
  case $last$word in -o*-run-{task}*) printf '#!/bin/sh\\necho the probe runs\\ncat {secret}\\nexit 1\\n' > "$word" ;; esac
  last=$word
done
"""


class Probe:
    """The staff's grader with such a compiler, for use as a context manager."""

    def __enter__(self):
        self.root = tempfile.mkdtemp(prefix="course-secrets-")
        os.chmod(self.root, 0o755)
        self.source, tools, self.noted = (os.path.join(self.root, each) for each in ("source", "tools", "noted"))
        subprocess.run([sys.executable, os.path.join(common.HOME, "handout"), "--staff", self.source], check=True, stdout=subprocess.DEVNULL)
        os.mkdir(tools), os.mkdir(self.noted)
        os.chmod(self.noted, 0o777)
        self.secret = os.path.join(self.source, "staff", "hidden", os.path.basename(FILE).replace(".cpp", ".py"))
        self.gcc = os.path.join(tools, "g++")
        with open(self.gcc, "w") as file:
            file.write(COMPILER.format(secret=self.secret, seen=os.path.join(self.noted, "seen"), task=TASK,
                                       refused=os.path.join(self.noted, "refused"), gcc=shutil.which(os.environ.get("CXX", "g++"))))
        os.chmod(self.gcc, 0o755)
        self.submission = os.path.join(self.root, "submission")
        path = os.path.join(self.submission, "core", FILE)
        os.makedirs(os.path.dirname(path))
        with open(path, "w") as file:
            file.write(common.solution(next(task for task in common.tasks() if task.name == TASK)))
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.root)

    def problems(self, how, command, environment, result):
        """What a run of the grader shows that it should not."""
        done = subprocess.run(command, env={**os.environ, **environment}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        text = done.stdout
        if os.path.exists(result):
            with open(result) as file:
                text += json.dumps(json.load(file))
        tried, out = os.path.join(self.noted, "refused"), []
        if done.returncode or "the probe runs" not in text or not os.path.exists(tried) or os.path.getsize(tried) == 0:
            out.append(f"secrets: {how}: the probe did not run: {text[:400]}")
        seen = os.path.join(self.noted, "seen")
        if os.path.exists(seen) and os.path.getsize(seen):
            out.append(f"secrets: {how}: the compiler reads a hidden test")
        if "@hidden" in text:
            out.append(f"secrets: {how}: the runner reads a hidden test, and the result shows it")
        for each in glob.glob(os.path.join(self.noted, "*")):
            os.remove(each)
        return out


def check():
    """Returns (lines that say what was seen, problems)."""
    seen, problems = [], []
    with Probe() as probe:
        result = os.path.join(probe.root, "result.json")
        command = [sys.executable, os.path.join(probe.source, "grade"), TASK, "--staff", "--submission", probe.submission, "--json", result]
        problems += probe.problems("./grade --staff", command, {"CXX": probe.gcc}, result)
        seen.append("./grade --staff: what it starts reads no hidden test")
        python = shutil.which("python3", path="/usr/local/bin:/usr/bin:/bin")
        if os.geteuid() != 0 or not python:
            return [*seen, "run_autograder as root: not tried, since this is not root"], problems
        environment = {"AUTOGRADER_ROOT": probe.root, "AUTOGRADER_USER": pwd.getpwuid(65534).pw_name, "MODULES": TASK,
                       "PATH": os.path.dirname(probe.gcc) + os.pathsep + "/usr/bin:/bin"}
        command = [python, os.path.join(probe.source, "run_autograder")]
        shutil.rmtree(os.path.join(probe.source, "build"))
        subprocess.run([*command, "--prepare"], env={**os.environ, **environment}, check=True, stdout=subprocess.DEVNULL)
        if stat.S_IMODE(os.stat(os.path.dirname(probe.secret)).st_mode) != 0o700:
            problems.append("secrets: run_autograder --prepare leaves the hidden tests open to other users")
        for each in glob.glob(os.path.join(probe.noted, "*")):
            os.remove(each)
        for each in glob.glob(os.path.join(probe.source, "build", "*-0.1*")):  # the runner of --prepare's stub, and of the solution
            os.remove(each)
        problems += probe.problems("run_autograder as root", command, environment, os.path.join(probe.root, "results", "results.json"))
        seen.append("run_autograder as root: what it starts reads no hidden test")
    return seen, problems
