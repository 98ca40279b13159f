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

    def train(self, *words, said=""):
        done = subprocess.run([os.path.join(self.folder, "train"), *words], input=said, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
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

    def test_answers_what_it_is_asked(self):
        status, text = self.train("chat")
        self.assertEqual((0, 1), (status, text.count("not implemented yet: 8.1, 8.3, 8.4, 8.5, 8.6\n")), text)
        self.solve()
        status, text = self.train("chat", said="What is 3 plus 4?\n\nwho are you?\n" + 300 * "x" + "\nwhat does a cow say")
        self.assertEqual(0, status, text)
        lines = text.split("\n")
        first = lines.index("3 plus 4 is 7.")
        self.assertEqual(["i am a small model, and i run on your code.", "  a question has at most 256 bytes; this one has 300", "a cow says moo."],
                         lines[first + 1:first + 4], text)
        calls = dict(re.findall(r"(\w+) (\d+)", re.search("calls of your code: (.*)", text).group(1)))
        self.assertEqual(("1", "1", "3", "3", "3"), tuple(calls[name] for name in ("read_header", "load_model", "answer", "encode", "decode")), text)
        # Three layers: each has seven products and one of each attention and SwiGLU for a token; norms are two more for each of those.
        tokens = int(calls["swiglu"]) // 3
        self.assertEqual([3 * tokens, 6 * tokens, 21 * tokens + int(calls["sample"])], [int(calls[name]) for name in ("grouped_attention", "rope", "matvec_int8")], text)
        self.assertIn("handed out: parse_header 1, put 22, ", text)

    def test_says_what_is_wrong_with_a_model_file(self):
        self.solve()
        good = os.path.join(self.folder, "model", "chat.safetensors")
        with open(good, "rb") as file:
            content = file.read()
        for name, bad, why in (("cut", content[:-1], "lies outside of the data"), ("empty", b"", "the file has no length of a header"),
                               ("other", content.replace(b'"layers":"3"', b'"layers":"4"', 1), "the file has no tensor model.layers.3."),
                               ("merges", content.replace(b'"vocabulary":"512"', b'"vocabulary":"511"', 1), "its merges and its vocabulary do not fit")):
            path = os.path.join(self.folder, name)
            with open(path, "wb") as file:
                file.write(bad)
            status, text = self.train("chat", "--model", path, said="hello\n")
            with self.subTest(name):
                self.assertEqual((1, 1), (status, text.count("it ended")), text)
                self.assertRegex(text, rf"  it ended: {re.escape(path)} holds no model: .*{re.escape(why)}")
        status, text = self.train("chat", "--model", os.path.join(self.folder, "none"))
        self.assertEqual((1, f"train: there is no file {self.folder}/none; --model names a model\n"), (status, text))

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
