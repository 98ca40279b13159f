"""Tests of the grader image and of the files of the student's repository."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

COURSE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(Path(__file__).resolve().parent))

from published import check_gradescope  # noqa: E402

SECRET = "SECRET-INPUT"  # what no student may see

FAKE_JUDGE = """class Task:
    def __init__(self, file):
        self.file = file


def load_tasks(home, staff=False):
    return [Task("0_tensors/strides.cpp"), Task("3_cuda/tiled.cu"), Task("3_cuda/map.cu")]
"""
# How each ./grade of these tests starts; `path` is the file of the result, `files` are those of the submission.
GRADE = """import json, os, sys
path = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("gradescope="))
folder = sys.argv[sys.argv.index("--submission") + 1]
files = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs)
"""
GOOD = """json.dump({"score": len(files), "output": "files " + " ".join(files), "extra_data": {"arguments": sys.argv[1:]},
           "tests": [{"score": len(files), "max_score": 3, "name": "x"}], "execution_time": 1.5}, open(path, "w"))
"""


class GraderImage(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.root.chmod(0o755)
        source = self.root / "source"
        (source / "judge").mkdir(parents=True)
        (source / "judge" / "grading.py").write_text(FAKE_JUDGE)
        (source / "staff").mkdir()
        self.submission = self.root / "submission"
        for name in ("core/0_tensors/strides.cpp", "core/3_cuda/tiled.cu", "core/3_cuda/map.cu"):
            (self.submission / name).parent.mkdir(parents=True, exist_ok=True)
            (self.submission / name).write_text("a solution")

    def run_grader(self, grade, **environment):
        (self.root / "source" / "grade").write_text(GRADE + grade)
        process = subprocess.run([sys.executable, str(COURSE / "staff" / "run_autograder")], text=True, timeout=60,
                                 env={**os.environ, "AUTOGRADER_ROOT": str(self.root), **environment},
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.log = process.stdout
        self.assertEqual(0, process.returncode, self.log)
        return check_gradescope((self.root / "results" / "results.json").read_text(encoding="utf-8"))

    def test_takes_the_solution_files_and_nothing_else(self):
        (self.submission / "core" / "3_cuda" / "more.cu").write_text("not listed")
        (self.submission / "judge").mkdir()
        (self.submission / "judge" / "main.py").write_text("mine")
        (self.submission / "results.json").write_text("{\"score\": 600}")
        value = self.run_grader(GOOD)
        self.assertIn("files core/0_tensors/strides.cpp core/3_cuda/map.cu core/3_cuda/tiled.cu", value["output"])
        self.assertIn("Files taken from the submission: 3 of 3.", value["output"])
        self.assertEqual(3, value["score"])

    def test_a_zipped_repository_and_flat_files(self):
        nested = self.root / "nested"
        self.submission.rename(nested)
        self.submission.mkdir()
        nested.rename(self.submission / "repository-main")
        self.assertIn("3 of 3", self.run_grader(GOOD)["output"])
        shutil.rmtree(self.submission)
        self.submission.mkdir()
        (self.submission / "tiled.cu").write_text("flat")
        self.assertIn("files core/3_cuda/tiled.cu", self.run_grader(GOOD)["output"])

    def test_other_layouts(self):
        for names, mark in ((("a/b/3_cuda/tiled.cu",), b""), (("3_cuda/tiled.cu",), b"\xef\xbb\xbf"), (("tiled (1).cu",), b""),
                            (("__MACOSX/core/3_cuda/._tiled.cu", "mine/core/3_cuda/Tiled.CU"), b""),
                            ((".git/HEAD", "mine/core/3_cuda/tiled.cu"), b"")):
            shutil.rmtree(self.submission)
            for name in names:
                (self.submission / name).parent.mkdir(parents=True, exist_ok=True)
                (self.submission / name).write_bytes(mark + b"a\r\n")
            self.assertIn("files core/3_cuda/tiled.cu", self.run_grader(GOOD)["output"], names)
        (self.submission / "mine/core/3_cuda/tiled.cu").rename(self.submission / "homework.docx")
        self.assertIn("It holds homework.docx", self.run_grader(GOOD)["output"])

    def test_refuses_links_large_files_and_other_things(self):
        secret = self.root / "secret"
        secret.write_text(SECRET)
        file = self.submission / "core" / "3_cuda" / "tiled.cu"
        for make, reason in ((lambda: file.symlink_to(secret), "symbolic link"), (lambda: os.mkfifo(file), "not a regular file"),
                             (file.mkdir, "not a regular file"), (lambda: file.write_bytes(b"x" * 65537), "larger than 64 KiB")):
            file.unlink()
            make()
            value = self.run_grader(GOOD)
            self.assertRegex(value["output"], f"core/3_cuda/tiled.cu was not taken: .*{reason}")
            self.assertEqual(2, value["score"])
            if file.is_dir() and not file.is_symlink():
                file.rmdir()
                file.touch()
        shutil.rmtree(self.submission / "core" / "3_cuda")
        (self.root / "elsewhere").mkdir()
        (self.root / "elsewhere" / "map.cu").write_text(SECRET)
        (self.submission / "core" / "3_cuda").symlink_to(self.root / "elsewhere")
        self.assertEqual(1, self.run_grader(GOOD)["score"])

    def test_an_empty_submission(self):
        shutil.rmtree(self.submission)
        self.submission.mkdir()
        value = self.run_grader(GOOD)
        self.assertEqual(0, value["score"])
        self.assertIn("0 of 3", value["output"])

    def test_a_judge_that_fails(self):
        for grade in ("sys.exit(1)\n", "raise RuntimeError('" + SECRET + "')\n", "open(path, 'w')\n",
                      "open(path, 'w').write('{')\n", "json.dump({'score': 'all', 'tests': []}, open(path, 'w'))\n",
                      "os.symlink('/etc/hostname', path)\n", "os.abort()\n", "pass\n", "json.dump([], open(path, 'w'))\n"):
            with self.subTest(grade=grade):
                value = self.run_grader(grade)
                self.assertEqual(0, value["score"])
                self.assertIn("tell the staff", value["output"])
                self.assertNotIn(SECRET, json.dumps(value))
        (self.root / "source" / "judge" / "grading.py").write_text("syntax error")
        self.assertIn("The grader itself failed", self.run_grader(GOOD)["output"])

    def test_time_and_memory_end_a_judge_with_all_its_processes(self):
        loop = "import subprocess, time\nsubprocess.Popen(['sleep', '987'])\n"
        value = self.run_grader(loop + "time.sleep(60)\n", LIMIT_SECONDS="1")
        self.assertEqual(0, value["score"])
        self.assertIn("longer than 1 s", value["output"])
        value = self.run_grader(loop + "x = bytearray(300 << 20)\ntime.sleep(60)\n", LIMIT_MB="100")
        self.assertIn("more than 100 MB", value["output"])
        value = self.run_grader(loop + "time.sleep(60)\n", LIMIT_SECONDS="1", MODULES="0 1")
        self.assertIn("Module 1: There was no time left.", value["output"])
        running = [Path(e.path, "cmdline").read_bytes() for e in os.scandir("/proc")
                   if e.name.isdigit() and Path(e.path, "cmdline").exists()]
        self.assertNotIn(b"sleep\x00987\x00", running)

    def test_module_by_module(self):
        value = self.run_grader("if sys.argv[3] == '3': sys.exit(1)\n" + GOOD, MODULES="0 3 1")
        self.assertEqual(6, value["score"])
        self.assertEqual(3.0, value["execution_time"])
        self.assertEqual(["x", "Not graded", "x"], [test["name"] for test in value["tests"]])
        self.assertIn("Module 3:", value["output"])
        (self.root / "source" / "grader.conf").write_text("# no\nMODULES= 0   # one\nSEED=7\nHIDDEN=0\n")
        arguments = self.run_grader(GOOD)["extra_data"]["arguments"]
        self.assertIn("0", arguments)
        self.assertEqual("7", arguments[arguments.index("--seed") + 1])
        self.assertNotIn("--staff", arguments)
        self.assertIn("--staff", self.run_grader(GOOD, HIDDEN="1")["extra_data"]["arguments"])

    def test_classroom50_starts_the_judge(self):
        bundle = self.root / "source"
        shutil.copy(COURSE / "staff" / "autograder.py", bundle)
        (bundle / "grader.conf").write_text("MODULES=0   # one\n")
        (bundle / "grade").write_text("import sys\nprint(sys.argv[1:])\nopen(sys.argv[-1].split('=')[1], 'w').write('new')\n")
        (self.submission / "result.json").symlink_to(self.root / "secret")
        process = subprocess.run([sys.executable, str(bundle / "autograder.py")], cwd=self.submission, text=True,
                                 stdout=subprocess.PIPE, check=False)
        self.assertEqual(0, process.returncode)
        self.assertIn("['0', '--submission'", process.stdout)
        self.assertEqual("new", (self.submission / "result.json").read_text())
        self.assertFalse((self.root / "secret").exists())


class Texts(unittest.TestCase):
    def test_files_of_the_student_s_repository(self):
        student = COURSE / "staff" / "student"
        first, rest = (student / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8").split("\n", 1)
        self.assertTrue(first.startswith("//"))
        self.assertIn("image", json.loads(rest))
        workflow = (student / ".github" / "workflows" / "grade.yml").read_text(encoding="utf-8")
        self.assertNotIn("\t", workflow)
        for part in ("--format junit=", "--format classroom50=", "g++ binutils"):
            self.assertIn(part, workflow)
        self.assertNotIn("cmake", workflow)

    def test_settings_are_those_that_run_autograder_knows(self):
        source = (COURSE / "staff" / "run_autograder").read_text(encoding="utf-8")
        known = re.findall(r'^    "([A-Z_]+)": "(.*?)"', source, re.M)
        conf = (COURSE / "staff" / "grader.conf").read_text(encoding="utf-8")
        self.assertEqual(known, re.findall(r"^([A-Z_]+)=(\S*)\s", conf, re.M))

    def test_scripts_are_executable_and_right(self):
        for name in ("setup.sh", "run_autograder"):
            self.assertTrue(os.access(COURSE / "staff" / name, os.X_OK), name)
        subprocess.run(["bash", "-n", str(COURSE / "staff" / "setup.sh")], check=True)
        self.assertNotIn("cmake", (COURSE / "staff" / "setup.sh").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
