"""Tests individual inputs: a student's number gives the same public tests to the student and to the staff, and no hidden ones."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from checks import common  # noqa: E402
from judge import grading  # noqa: E402

TASK = "0.3"


class SeedTest(unittest.TestCase):
    def test_a_number_gives_a_seed(self):
        self.assertEqual(265775243, grading.seed_of("123456"))  # the same on each machine and in each version
        self.assertEqual(grading.seed_of(grading.student_number("Ann B-1")), grading.seed_of(grading.student_number(" annb-1\n")))
        seeds = {grading.seed_of(str(number)) for number in range(10000)}
        self.assertGreater(len(seeds), 9990)
        for text in ("", " ", "--staff", "-1", "a/b", "a\x1b", "x" * 65, "a;b", "../x"):
            with self.assertRaises(ValueError, msg=text):
                grading.student_number(text)

    def test_hidden_tests_keep_the_grader_s_seed(self):
        seen = {}
        task = common.tasks(staff=True, names=[TASK])[0]
        for each in (task.tests[0], task.hidden_tests[0]):
            each.body = lambda t, name=each.name: seen.setdefault(name, []).append(t.random.random())
        program = os.path.join(COURSE, "grade")  # which is never asked
        for seed, student in ((1, None), (7, None), (7, "ann"), (8, "ann"), (7, "bob")):
            grader = common.grader(seed=seed, student=student)
            for each in (task.tests[0], task.hidden_tests[0]):
                grader.run_test(each, program)
        public, hidden = seen[task.tests[0].name], seen[task.hidden_tests[0].name]
        self.assertEqual(public[2], public[3])
        self.assertEqual(4, len(set(public)))
        self.assertEqual((hidden[1], hidden[1]), (hidden[2], hidden[4]))
        self.assertEqual(3, len(set(hidden)))


class SameForStaffTest(unittest.TestCase):
    """A function that is wrong: its messages show the inputs, which are the same for the student and the staff."""

    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.makedirs(common.BUILD, exist_ok=True)
        self.student, self.grader = os.path.join(self.root, "student"), os.path.join(self.root, "grader", "source")
        for target, options in ((self.student, []), (self.grader, ["--staff"])):
            subprocess.run([sys.executable, os.path.join(COURSE, "handout"), *options, target], check=True, stdout=subprocess.DEVNULL)
            os.symlink(common.BUILD, os.path.join(target, "build"))
        self.task = common.tasks(names=[TASK])[0]
        self.write(os.path.join(self.student, "core", self.task.file),
                   '#include "core/tensors.h"\nnamespace course {\nDims broadcast(const Dims&, const Dims&) { return {7, 7}; }\n}\n')

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def graded(self, *options):
        """(the result of the student's ./grade, its status)."""
        out = os.path.join(self.root, "result.json")
        done = subprocess.run([sys.executable, os.path.join(self.student, "grade"), TASK, "--json", out, *options], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            return done.stdout, done.returncode
        with open(out) as file:
            return json.load(file), 0

    def messages(self, result):
        return {each["name"]: each["message"] for each in result["tasks"][0]["tests"] if not each["hidden"]}

    def batch(self, submissions, *options, **settings):
        """(row of each submission, result of each)."""
        table, reports = os.path.join(self.root, "points.csv"), os.path.join(self.root, "reports")
        done = subprocess.run([sys.executable, os.path.join(self.grader, "batch"), submissions, table, "--reports", reports, *options],
                              env={**os.environ, "MODULES": TASK, **settings}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, done.returncode, done.stdout)
        with open(table, newline="", encoding="utf-8") as file:
            rows = {row["submission"]: row for row in csv.DictReader(file)}
        results = {}
        for name in rows:
            with open(os.path.join(reports, name + ".json")) as file:
                results[name] = json.load(file)
        return rows, results

    def test_each_folder_of_the_staff_has_a_seed_of_its_own(self):
        other = os.path.join(self.root, "other")
        subprocess.run([sys.executable, os.path.join(COURSE, "handout"), "--staff", other], check=True, stdout=subprocess.DEVNULL)
        seeds = []
        for folder in (self.grader, other):
            with open(os.path.join(folder, "grader.conf")) as file:
                seeds.append(int(re.search(r"^SEED=(\d+) ", file.read(), re.M)[1]))
        self.assertGreater(min(seeds), 1)  # ./grade has 1
        self.assertNotEqual(*seeds)

    def test_same_inputs(self):
        ann, _ = self.graded("--student", "Ann 12")
        plain, _ = self.graded()
        self.assertEqual(("ann12", grading.seed_of("ann12")), (ann["student"], ann["seed"]))
        self.assertEqual(("", 1), (plain["student"], plain["seed"]))
        self.assertNotEqual(self.messages(ann), self.messages(plain))
        self.assertEqual(ann["score"], plain["score"])
        # A file of the student does the same as the option, unless an option says otherwise.
        self.write(os.path.join(self.student, "student.txt"), "ann12\n")
        self.assertEqual(self.messages(ann), self.messages(self.graded()[0]))
        self.assertEqual(self.messages(plain), self.messages(self.graded("--seed", "1")[0]))
        text, status = self.graded("--seed", "1", "--student", "ann12")
        self.assertEqual(2, status, text)
        self.assertIn("leave one of them out", text)
        # The staff, by the name of a folder, by a table, and by the file.
        submissions = os.path.join(self.root, "submissions")
        for name in ("ann12", "other"):
            shutil.copytree(os.path.join(self.student, "core"), os.path.join(submissions, name, "core"))
        rows, results = self.batch(submissions, STUDENT="name")
        self.assertEqual(self.messages(ann), self.messages(results["ann12"]))
        self.assertNotEqual(self.messages(ann), self.messages(results["other"]))
        self.assertEqual(str(ann["seed"]), rows["ann12"]["seed"])
        self.write(os.path.join(self.root, "students.csv"), "submission,student\nother,ANN12\n")
        rows, results = self.batch(submissions, "--students", os.path.join(self.root, "students.csv"))
        self.assertEqual(self.messages(ann), self.messages(results["other"]))
        self.assertIn("No student's number", rows["ann12"]["note"])
        self.write(os.path.join(submissions, "ann12", "student.txt"), "--staff\n")
        self.write(os.path.join(submissions, "other", "student.txt"), "ann12\nmore\n")
        rows, results = self.batch(submissions, STUDENT="file")
        self.assertEqual(self.messages(ann), self.messages(results["other"]))
        self.assertIn("was not taken", rows["ann12"]["note"])
        self.assertNotEqual(str(ann["seed"]), rows["ann12"]["seed"])  # other seeds may give the same messages

    def test_gradescope_says_how_to_repeat_them(self):
        root = os.path.dirname(self.grader)
        shutil.copytree(os.path.join(self.student, "core"), os.path.join(root, "submission", "core"))
        self.write(os.path.join(root, "submission", "student.txt"), "ann12")
        subprocess.run([sys.executable, os.path.join(self.grader, "run_autograder")], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "AUTOGRADER_ROOT": root, "MODULES": TASK, "STUDENT": "file"})
        with open(os.path.join(root, "results", "results.json")) as file:
            result = json.load(file)
        self.assertIn("./grade --student ann12 repeats", result["output"])
        ann, _ = self.graded("--student", "ann12")
        shown = {each["output"].partition("\n\nHint")[0] for each in result["tests"] if each["visibility"] == "visible"}
        self.assertEqual({each.strip("\n") for each in self.messages(ann).values()}, shown)


if __name__ == "__main__":
    unittest.main()
