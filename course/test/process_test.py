"""Tests judge/process.py and runner/where.cpp: what ends without a reply says why, and at which line."""
import copy
import os
import sys
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from checks import common  # noqa: E402

HOST = '#include "core/tensors.h"\nnamespace course {\nstatic long at(const long* p) {\n  return *p;\n}\nDims strides_of(const Dims& sizes) {\n%s\n}\n}\n'
KERNEL = ('#include "core/cuda.h"\n#include "core/launch.h"\nnamespace course::gpu {\n__global__ void work(float* out, const float* x, long n) {\n%s\n}\n'
          "void map(Op1 op, float* out, const float* x, long n) {\n%s\n}\n}\n")
LAUNCH = "launch(work, {1, 32}, out, x, n);"
ENDS = [  # task, text, what the message says
    ("0.1", HOST % "volatile int zero = 0;\nreturn {at(nullptr) + zero};", ["the program crashed", "at 0.1_strides.cpp:8"]),
    ("0.1", HOST % "volatile int zero = 0;\nreturn {7 / zero};", ["a division by zero", "at 0.1_strides.cpp:8"]),
    ("0.1", HOST % "Dims out;\nout[sizes.size()] = 1;\nreturn out;", ["an index outside of a vector", "at 0.1_strides.cpp:8"]),
    ("0.1", HOST % "volatile char big[4000];\nbig[sizes.size()] = 1;\nreturn strides_of(sizes).empty() ? Dims{big[1]} : sizes;",
     ["perhaps the stack is full", "at 0.1_strides.cpp:"]),
    ("0.1", HOST % "Dims out;\nfor (;;)\n  out.push_back(1);", ["MB of memory: does a loop", "at 0.1_strides.cpp:9"]),
    ("0.1", HOST % "for (volatile int i = 0;; i = 1) {\n}", ["does a loop never end?", "at 0.1_strides.cpp:7"]),
    ("3.1", KERNEL % ("for (long i = threadIdx.x + 1; i > 0;)\n  out[i] = 1;", LAUNCH),
     ["does a loop", "at 3.1_map.cu:6, block (0, 0, 0), thread (0, 0, 0)"]),
    ("3.1", KERNEL % ("if (threadIdx.x == 3)\n  for (volatile long i = 1; i > 0;) {\n  }", LAUNCH),
     ["does a loop", "at 3.1_map.cu:6, block (0, 0, 0), thread (3, 0, 0)"]),
    ("3.1", KERNEL % ("", "*(volatile int*)nullptr = 1;"), ["the program crashed", "at 3.1_map.cu:8"]),
]


class ProcessTest(unittest.TestCase):
    def graded(self, name, text, tests):
        grader, task = common.grader(), copy.copy(common.tasks(names=[name])[0])
        task.tests, task.hidden_tests = task.tests[:tests], []
        grader.builder.prepare([task])
        with common.Submission({task.file: text}) as folder:
            return grader.grade_task(task, folder)

    def test_an_end_has_a_reason_and_a_line(self):
        for name, text, expected in ENDS:
            graded = self.graded(name, text, 1)
            for each in expected:
                self.assertIn(each, graded["tests"][0]["message"] + graded["problem"], text)
            self.assertNotIn("it printed", graded["tests"][0]["message"])

    def test_an_endless_loop_skips_no_other_test(self):
        right = "Dims out(sizes.size()); long step = 1; for (size_t i = sizes.size(); i-- > 0; step *= sizes[i]) out[i] = step;\n"
        tests = self.graded("0.1", HOST % (right + "for (volatile int i = 0; !sizes.empty(); i = 1) {\n}\nreturn out;"), 5)["tests"]
        self.assertEqual([False, True, False, False, False], [each["passed"] for each in tests])
        for each in tests:
            self.assertTrue(each["passed"] or "does a loop never end?" in each["message"], each["message"])


if __name__ == "__main__":
    unittest.main()
