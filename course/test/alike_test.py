"""The staff's ./alike: of a class of twenty it finds those who copied, and nobody else."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path[:0] = [COURSE, os.path.join(COURSE, "test")]
import submissions  # noqa: E402
from checks import common  # noqa: E402
from judge import stubs  # noqa: E402


class AlikeTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        self.given, self.solutions = os.path.join(self.root, "core"), os.path.join(self.root, "class")
        for folder, _, files in os.walk(os.path.join(COURSE, "core")):
            for name in files:
                path = os.path.relpath(os.path.join(folder, name), os.path.join(COURSE, "core"))
                self.write(os.path.join(self.given, path), stubs.stub(common.read("core", path)))

    def write(self, path, text):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    def hand_in(self, texts):
        for name, files in texts.items():
            for path, text in files.items():
                self.write(os.path.join(self.solutions, name, "core", path), text)

    def run_it(self, *words, fails=False):
        done = subprocess.run([sys.executable, os.path.join(COURSE, "staff", "alike"), self.solutions, "--given", self.given, *words], capture_output=True, text=True)
        self.assertEqual(fails, done.returncode != 0, done.stderr)
        return done.stdout + done.stderr

    def found(self, *words):
        said = self.run_it(*words)
        return {pair[1:]: int(pair[0]) for pair in re.findall(r"^ *(\d+)%  (\w+)  (\w+)$", said, re.M)}, int(re.search(r"the next pair shares (\d+)%", said)[1])

    def test_finds_all_copies_of_a_class_and_accuses_nobody_else(self):
        texts, copies = submissions.made()
        self.assertEqual((20, 12), (len(texts), len(copies)))
        self.hand_in(texts)
        pairs, next_share = self.found()
        self.assertEqual((copies, set()), (set(pairs), set(pairs) - copies))
        self.assertLessEqual(next_share, 10)
        self.assertEqual(pairs, self.found()[0])  # the same in each run
        self.assertEqual(copies, set(self.found("--common", "100")[0]))

    def test_what_was_handed_out_proves_nothing(self):
        task = submissions.tasks()["5.6"]
        stub = stubs.stub(common.read("core", task.file))
        header = common.read("core", "parallel.h")
        self.hand_in({"ann": {task.file: stub + header}, "bob": {task.file: header + stub}})
        self.assertEqual(({}, 0), self.found("--least", "1"))

    def test_what_many_have_proves_nothing_and_what_few_have_does(self):
        mine = submissions.authors()[1]
        self.hand_in({f"s{i}": mine for i in range(12)})
        self.assertEqual(({}, 0), self.found())
        shutil.rmtree(self.solutions)
        self.hand_in({f"s{i}": mine for i in range(4)})
        self.assertEqual([100] * 6, list(self.found()[0].values()))

    def test_each_way_to_hide_a_copy_is_seen_through(self):
        task = submissions.tasks()["2.3"]
        draw, text = submissions.random.Random(3), submissions.written(task, 5)
        self.hand_in({"ann": {task.file: text}, "zoe": {task.file: submissions.written(task, 7)}})
        for way, least in ((submissions.renamed, 85), (submissions.commented, 100), (submissions.reordered, 100), (submissions.respelled, 60), (submissions.padded, 80)):
            with self.subTest(way.__name__):
                changed = way(text, draw)
                if way is not submissions.reordered:  # the file has one function
                    self.assertNotEqual(text, changed)
                self.hand_in({"bob": {task.file: changed}})
                pairs, next_share = self.found()
                self.assertEqual([("ann", "bob")], list(pairs))
                self.assertGreaterEqual(pairs["ann", "bob"], least)
                self.assertLessEqual(next_share, 10)

    def test_says_what_is_wrong(self):
        os.mkdir(self.solutions)
        self.assertIn("holds 0 folders", self.run_it(fails=True))
        self.solutions = os.path.join(self.root, "none")
        self.assertIn("is no folder", self.run_it(fails=True))


if __name__ == "__main__":
    unittest.main()
