"""Tests judge/history.py: the points of each run are kept, in a small file that nothing breaks."""
import json
import os
import shutil
import sys
import tempfile
import unittest
from contextlib import redirect_stderr
from io import StringIO

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from judge import history  # noqa: E402


class HistoryTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.mkdir(os.path.join(self.root, "cuda"))  # as in a student's repository
        self.history = history.History(self.root)

    def add(self, now, **points):
        self.history.add([{"task": name.replace("_", "."), "points": each} for name, each in points.items()], now)

    def test_keeps_what_is_new(self):
        self.add(1, t0_1=5, t0_2=0)
        self.add(2, t0_1=5)
        self.add(3, t0_2=7)
        self.add(4, t0_1=2)
        expected = [(1, 5), (3, 12), (4, 9)]
        self.assertEqual(expected, self.history.totals({"t0.1", "t0.2"}))
        self.assertEqual(expected, history.History(self.root).totals({"t0.1", "t0.2"}))
        self.assertEqual([(1, 5), (4, 2)], self.history.totals({"t0.1"}))
        self.assertEqual([], self.history.totals({"t9.9"}))
        self.assertEqual(["cuda", "progress.json"], sorted(os.listdir(self.root)))

    def test_is_bounded_and_loses_no_points(self):
        self.add(0, t0_1=3)
        for i in range(1, 3 * history.MOST):
            self.add(i, t0_2=i)
        again = history.History(self.root)
        self.assertEqual(history.MOST, len(again.runs))
        self.assertEqual(3 + 3 * history.MOST - 1, again.totals({"t0.1", "t0.2"})[-1][1])
        self.assertLess(os.path.getsize(again.path), 100 << 10)

    def test_a_file_that_is_something_else_begins_anew(self):
        for text in (b"", b"{", b"\xff\xfe", b"[1]", b'[{"at": "x", "points": {}}]', b'[{"at": 1}]', b'{"at": 1}', b"[" * 100000, b'[{"at": 1, "points": {"a": NaN}}]'):
            with open(self.history.path, "wb") as file:
                file.write(text)
            self.history = history.History(self.root)
            self.assertEqual([], self.history.runs, text[:40])
            self.add(1, t0_1=5)
            self.assertEqual([(1, 5)], history.History(self.root).totals({"t0.1"}))

    def test_a_folder_that_cannot_be_written_costs_no_grade(self):
        self.history.path = os.path.join(self.root, "none", "progress.json")
        said = StringIO()
        with redirect_stderr(said):
            self.add(1, t0_1=5)
        self.assertIn("cannot be written", said.getvalue())
        self.assertEqual([(1, 5)], self.history.totals({"t0.1"}))

    def test_a_number_too_large_is_none(self):
        with open(self.history.path, "w") as file:
            json.dump([{"at": 10 ** 30, "points": {"0.1": 5}}], file)
        self.assertEqual([], history.History(self.root).runs)


if __name__ == "__main__":
    unittest.main()
