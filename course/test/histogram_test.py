"""The staff's histogram of a class, from tables and reports of known students."""
import csv
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
POINTS = {"ann": (15, 15, 15), "bob": (15, 9, 14), "cid": (0, 15, 0), "dee": (13, 0, 8)}  # of tasks 0.1, 0.2 and 1.1, of 15 points each


class HistogramTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.table, self.svg = os.path.join(self.root, "points.csv"), os.path.join(self.root, "class.svg")
        self.write([{"submission": name, "score": sum(points), "extra": 0, "0.1": points[0], "0.2": points[1], "1.1": points[2], "seconds": 3, "note": ""}
                    for name, points in POINTS.items()] + [{"submission": "zip", "score": 0, "extra": 0, "seconds": 0, "note": "Not graded. It holds no files."}])

    def write(self, rows):
        with open(self.table, "w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, ["submission", "score", "extra", "0.1", "0.2", "1.1", "seconds", "note"], restval="")
            writer.writeheader()
            writer.writerows(rows)

    def run_it(self, *words, fails=False):
        done = subprocess.run([sys.executable, os.path.join(COURSE, "staff", "histogram"), self.table, *words], capture_output=True, text=True)
        self.assertEqual(fails, done.returncode != 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def test_counts_each_submission_once_in_each_histogram(self):
        said = self.run_it("--svg", self.svg)
        self.assertIn("4 submissions; not graded: zip", said)
        self.assertIn("all modules: mean 29.8, median 29.5 of 45", said)  # 45, 38, 15 and 21 points
        self.assertIn("module 0: mean 20.5, median 19.5 of 30", said)
        self.assertIn("module 1: mean 9.2, median 11 of 15", said)
        bars = re.findall(r"^ +(\d+) to +(\d+) \|(#*) +(\d+)$", said, re.M)
        self.assertEqual(3 * 10, len(bars))
        self.assertEqual(3 * 4, sum(int(many) for *_, many in bars))
        self.assertTrue(all(len(marks) == int(many) for _, _, marks, many in bars))
        self.assertEqual([("14", "17", "#", "1"), ("41", "45", "#", "1")], [bars[3], bars[9]])  # 15 points, and all of them

    def test_the_picture_has_the_bars_of_the_text(self):
        self.run_it("--svg", self.svg)
        space = "{http://www.w3.org/2000/svg}"
        bars = ET.parse(self.svg).getroot().findall(space + "rect")[1:]
        self.assertEqual(4 + 4 + 3, len(bars))  # points of two students of module 1 lie in the last tenth

    def test_the_hardest_tests_are_those_that_most_lose(self):
        reports = os.path.join(self.root, "reports")
        os.mkdir(reports)
        for name, lost in (("ann", []), ("bob", ["first"]), ("cid", None), ("dee", ["first", "second"])):
            message = "task 0.1 is not implemented yet" if lost is None else ""
            tests = [{"name": test, "points": 0 if lost is None or test in lost else 5, "max": 5, "hidden": False, "message": message} for test in ("first", "second", "third")]
            tests.append({"name": "secret", "points": 0, "max": 0, "hidden": True, "message": ""})
            with open(os.path.join(reports, name + ".json"), "w") as file:
                json.dump({"tasks": [{"task": "0.1", "points": sum(test["points"] for test in tests), "problem": "", "tests": tests}]}, file)
        said = self.run_it("--reports", reports).partition("tests that most students lose")[2]
        self.assertEqual([("67%", "first", "2 of 3"), ("33%", "second", "1 of 3")], re.findall(r"(\d+%)  0\.1 (\w+) \((.+)\)", said))
        os.remove(os.path.join(reports, "bob.json"))
        self.assertIn("the report of bob cannot be read", self.run_it("--reports", reports, fails=True))

    def test_says_what_is_wrong_with_a_table(self):
        self.write([{"submission": "zip", "score": 0, "extra": 0, "note": "Not graded. It holds no files."}])
        self.assertIn("none of the 1 submissions", self.run_it(fails=True))
        with open(self.table, "w") as file:
            file.write("name,points\nann,3\n")
        self.assertIn("has the columns name, points", self.run_it(fails=True))


if __name__ == "__main__":
    unittest.main()
