"""Tests judge/gpu.py and judge/race.py where there is no GPU; where nvcc is, runners are built with it."""
import contextlib
import io
import os
import pathlib
import shutil
import sys
import tempfile
import unittest
from unittest import mock

COURSE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(COURSE))
from judge import build, gpu, grading, race, stubs, testing  # noqa: E402


def result_of(tasks, message=""):
    """A result of these tasks, all of whose tests pass, or fail with a message."""
    return {"leaderboard": [], "score": 35, "tasks": [
        {"task": each.name, "problem": "",
         "tests": [{"name": test.name, "passed": not message, "message": message} for test in each.tests]} for each in tasks]}


class Card:
    name, arch = "card", "sm_90"

    def __init__(self):
        self.nvcc = gpu.find_nvcc()

    def __str__(self):
        return "a card"


class GpuTest(unittest.TestCase):
    def setUp(self):
        self.tasks = grading.load_tasks(str(COURSE))
        self.by_name = {each.name: each for each in self.tasks}
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)

    def printed(self, tasks, result=None):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            gpu.main(str(COURSE), self.folder, tasks, str(COURSE), 1, result or result_of(tasks))
        return out.getvalue()

    def test_says_that_no_task_has_kernels(self):
        self.assertIn("none of these tasks has kernels", self.printed([self.by_name["0.1"]]))

    def test_says_that_there_is_no_nvcc(self):
        with mock.patch.object(gpu.shutil, "which", return_value=None):
            text = self.printed([self.by_name["3.7"]])
        self.assertIn("there is no nvcc: install NVIDIA's CUDA toolkit", text)
        self.assertIn("The score stands", text)

    def test_says_that_there_is_no_driver(self):
        with mock.patch.object(gpu, "find_nvcc", return_value="nvcc"), \
                mock.patch.object(gpu, "_nvcc_version", return_value="13.0"), \
                mock.patch.object(gpu.ctypes, "CDLL", side_effect=OSError):
            self.assertIn("there is no NVIDIA driver", self.printed([self.by_name["3.7"]]))

    def test_says_that_there_is_no_gpu(self):
        driver = mock.Mock()
        driver.cuInit.return_value = 100
        with mock.patch.object(gpu, "find_nvcc", return_value="nvcc"), \
                mock.patch.object(gpu, "_nvcc_version", return_value="13.0"), \
                mock.patch.object(gpu.ctypes, "CDLL", return_value=driver):
            self.assertIn("finds no GPU (CUDA error 100)", self.printed([self.by_name["3.7"]]))

    def test_explains_a_kernel_that_fails_on_the_gpu_alone(self):
        task = self.by_name["6.4"]
        with mock.patch.object(gpu, "Gpu", Card), mock.patch.object(gpu, "find_nvcc", return_value="nvcc"), \
                mock.patch.object(gpu, "_nvcc_version", return_value="13.0"), \
                mock.patch.object(gpu.GpuBuilder, "prepare"), \
                mock.patch.object(gpu.GpuBuilder, "runner", return_value="program"), \
                mock.patch.object(gpu.GpuGrader, "run_test", return_value=("kernel: an illegal memory access", 0, 0)):
            result = result_of([task])
            text = self.printed([task], result)
        self.assertIn(f"0 of {len(task.tests)} tests pass", text)
        self.assertIn("the simulator found no mistake in this test", text)
        self.assertIn("it begins when all tests of 6.4 pass on the GPU", text)
        self.assertEqual((result["score"], result["leaderboard"]), (35, []))

    def test_builds_nothing_that_is_not_solved(self):
        task = self.by_name["3.7"]
        with mock.patch.object(gpu, "Gpu", Card), mock.patch.object(gpu, "find_nvcc", return_value="nvcc"), \
                mock.patch.object(gpu, "_nvcc_version", return_value="13.0"), mock.patch.object(gpu.GpuBuilder, "prepare"), \
                mock.patch.object(gpu.GpuBuilder, "runner", side_effect=AssertionError):
            text = self.printed([task], result_of([task], "task 3.7 is not implemented yet"))
        self.assertIn("not implemented yet", text)

    def test_finds_parts_for_some_compilers_only(self):
        for text in ("#if 1\n", "  # ifdef X\n", "%:if 1\n", "/* */ #if 1\n", "\\\n#\\\nif 1\n", "x = '\"' \"/*\";\n#if 1\n*/",
                     'R"(" /*)";\n', "#/**/if 1\n", "#else\n"):
            self.assertTrue(gpu.has_conditions(text), text)
        for text in ("#include <cfloat>\n", "// #if\n", "/*\n#if\n*/\n", 'x = "#if";\n', "if (a) b();\n"):
            self.assertFalse(gpu.has_conditions(text), text)

    def test_fills_the_leaderboard(self):
        rates = {"matmul_coalesced": (1.0, ""), "matmul_tiled": (None, "task 3.7 is not implemented yet"),
                 "matmul_register": (None, "wrong: in run 4, row 0"), "matmul": (30.0, ""), "cuBLAS": (40.0, "")}
        grader = mock.Mock()
        grader.build.side_effect = lambda build_one, things: [each.name for each in things]
        result = result_of([self.by_name["6.4"]])
        out = io.StringIO()
        with mock.patch.object(race, "_time", side_effect=lambda grader, program: rates[program]), contextlib.redirect_stdout(out):
            race.run(grader, str(COURSE), Card, [self.by_name["6.4"]], result)
        self.assertEqual([(each["name"], each["value"]) for each in result["leaderboard"]],
                         [("TFLOP/s", 30.0), ("% of cuBLAS", 75), ("GPU", "card")])
        for text in ("30.00 TFLOP/s", "matmul_tiled         not implemented yet", "wrong: in run 4", "75% of cuBLAS"):
            self.assertIn(text, out.getvalue())

    @unittest.skipUnless(shutil.which("nvcc", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin"), "there is no nvcc")
    def test_builds_with_nvcc(self):
        grader = gpu.GpuGrader(str(COURSE), self.folder, 1, Card())
        submission = os.path.join(self.folder, "solved")
        task = self.by_name["6.4"]
        path = os.path.join(submission, "core", task.file)
        os.makedirs(os.path.dirname(path))
        for text, builds in ((stubs.unmarked((COURSE / "core" / task.file).read_text()), True), ("#if 1\n#endif\n", False)):
            with open(path, "w") as file:
                file.write(text)
            racer = race.Racer("6.4", "matmul", "matmul", testing.TASKS["6.4"])
            for made in grader.build(lambda one: one(), [lambda: grader.builder.runner(task, submission),
                                                         lambda: grader.builder.race_runner(racer, submission)]):
                self.assertEqual(not isinstance(made, build.Problem), builds, made)


if __name__ == "__main__":
    unittest.main()
