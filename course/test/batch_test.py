"""The staff's batch: a folder of submissions becomes a table."""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from checks import common  # noqa: E402


class BatchTest(unittest.TestCase):
    def test_grades_folders_and_zips(self):
        root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, root)
        grader, submissions, table, reports, taken = (os.path.join(root, each) for each in
                                                      ("grader", "submissions", "points.csv", "reports", "taken"))
        subprocess.run([sys.executable, os.path.join(COURSE, "handout"), "--staff", grader], check=True, stdout=subprocess.DEVNULL)
        os.makedirs(common.BUILD, exist_ok=True)
        os.symlink(common.BUILD, os.path.join(grader, "build"))
        task = next(each for each in common.tasks() if each.name == "0.1")
        name, text = os.path.join("core", task.file), common.solution(task)
        os.makedirs(os.path.dirname(os.path.join(submissions, "ann", name)))
        with open(os.path.join(submissions, "ann", name), "w") as file:
            file.write(text)
        with zipfile.ZipFile(os.path.join(submissions, "bob.zip"), "w") as archive:
            archive.writestr("__MACOSX/mine/" + name, "junk")
            archive.writestr("mine/" + name, text.replace("return", "if (sizes.size() == 3) return {};\n  return", 1))
            archive.writestr("../../escaped.txt", "x")
        for other, content in (("broken.zip", b"PK no zip"), ("notes.txt", b"not a submission")):
            with open(os.path.join(submissions, other), "wb") as file:
                file.write(content)
        os.mkdir(os.path.join(submissions, "empty"))
        done = subprocess.run([sys.executable, os.path.join(grader, "batch"), submissions, table, "--reports", reports, "--solutions", taken],
                              env={**os.environ, "MODULES": "0.1"}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, done.returncode, done.stdout)
        with open(table, newline="", encoding="utf-8") as file:
            rows = {row["submission"]: row for row in csv.DictReader(file)}
        self.assertEqual(["ann", "bob", "broken", "empty"], sorted(rows))
        self.assertEqual(("15", "15"), (rows["ann"]["score"], rows["ann"]["0.1"]))
        self.assertLess(int(rows["bob"]["0.1"]), 15)
        self.assertIn("The zip cannot be read", rows["broken"]["note"])
        self.assertIn("It holds no files", rows["empty"]["note"])
        self.assertFalse(os.path.exists(os.path.join(os.path.dirname(root), "escaped.txt")))
        with open(os.path.join(reports, "ann.json")) as file:
            self.assertEqual(15, json.load(file)["score"])
        with open(os.path.join(taken, "ann", name)) as file:
            self.assertEqual(text, file.read())
        done = subprocess.run([sys.executable, os.path.join(grader, "histogram"), table, "--reports", reports], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertIn("3 submissions; not graded: broken", done.stdout)
        self.assertIn(" 50%  0.1 known (1 of 2)", done.stdout)


if __name__ == "__main__":
    unittest.main()
