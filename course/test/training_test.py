"""Trains with the course's solutions on the CPU and on a simulated GPU (training_test.cpp): the parts of the core fit together."""
import os
import subprocess
import sys
import tempfile
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from judge import build, grading  # noqa: E402

TASKS = ["1.1", "1.2", "1.3", "1.4", "3.1", "3.2", "3.3", "3.8", "4.1", "4.2", "4.3", "4.4"]


class Training(unittest.TestCase):
    def test_trains_on_both_devices(self):
        builder = build.Builder(COURSE, grading.build_folder(COURSE))
        tasks = [task for task in grading.load_tasks(COURSE) if task.name in TASKS]
        self.assertEqual(TASKS, [task.name for task in tasks])
        parts = [builder._student_object(task, COURSE) for task in tasks]
        parts += [builder._own("core/not_implemented.cpp"), builder._own("test/training_test.cpp"),
                  *(builder._own(f"core/4_training/{name}.cpp") for name in ("host_device", "linear_model")),
                  builder._own("core/4_training/gpu_device.cu", "-x", "c++")]
        kernels = next(task for task in tasks if task.kernels)
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "training_test")
            subprocess.run([build.CXX, "-o", program, *parts, *builder._simulator_libraries(kernels), "-lpthread"], check=True)
            done = subprocess.run([program], capture_output=True, text=True, check=False)
        self.assertIn("\n0 failures\n", done.stdout, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
