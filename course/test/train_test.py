"""./train in a student's repository: it names what is not solved, and trains with what is."""
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


class TrainTest(unittest.TestCase):
    def setUp(self):
        self.folder = os.path.join(tempfile.mkdtemp(), "student")
        self.addCleanup(shutil.rmtree, os.path.dirname(self.folder))
        subprocess.run([sys.executable, os.path.join(COURSE, "handout"), self.folder], check=True, stdout=subprocess.DEVNULL)
        os.makedirs(common.BUILD, exist_ok=True)
        os.symlink(common.BUILD, os.path.join(self.folder, "build"))

    def solve(self, change=lambda task, text: text):
        for task in common.tasks():
            with open(os.path.join(self.folder, "core", task.file), "w") as file:
                file.write(change(task.name, common.solution(task)))

    def train(self, *words):
        done = subprocess.run([os.path.join(self.folder, "train"), *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        return done.returncode, done.stdout

    def test_names_what_is_not_solved(self):
        status, text = self.train()
        self.assertEqual((0, 6), (status, text.count("it needs what is not implemented yet:")), text)
        self.assertIn("not implemented yet: 1.1, 1.2, 1.3, 1.4, 4.1, 4.4\n", text)

    def test_trains_with_the_solutions(self):
        self.solve()
        status, text = self.train("--epochs", "2")
        self.assertEqual(0, status, text)
        right = [float(each) for each in re.findall(r"epoch 2: .* ([\d.]+)% of the test images right", text)]
        self.assertEqual(5, len(right), text)
        self.assertGreater(min(right), 75, text)
        self.assertEqual(right[0], right[2], "the GPU learns what the CPU learns")
        self.assertEqual(right[3], right[4], "the ring learns what the replicas learn")
        losses = [float(each) for each in re.findall(r"step \d+: loss ([\d.]+), ", text)]
        self.assertEqual(2, len(losses), text)
        self.assertLess(losses[1], 2.5, "a text learned: the loss of chance is 3.2")

    def test_runs_the_student_s_code(self):
        self.solve(lambda name, text: text.replace("model.step();", "") if name == "4.4" else text)
        _, text = self.train("cpu", "--epochs", "1")
        self.assertLess(float(re.search(r"([\d.]+)% of the test images right", text).group(1)), 20)
        self.solve(lambda name, text: text + "this is no C++\n" if name == "5.2" else text)
        status, text = self.train("ring", "replicas", "--epochs", "1")
        self.assertEqual(1, status)
        self.assertIn("5.2_ring.cpp", text)
        self.assertIn("of the test images right", text)


if __name__ == "__main__":
    unittest.main()
