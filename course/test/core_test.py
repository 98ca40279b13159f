"""Compiles what of course/core needs no device, and trains with it (core_test.cpp)."""
import concurrent.futures
import os
import pathlib
import subprocess
import tempfile
import unittest

COURSE = pathlib.Path(__file__).resolve().parent.parent
SOURCES = sorted((COURSE / "core").rglob("*.cpp"))
OPTIONS = ["-std=c++20", "-O1", "-g1", "-Wall", "-Wextra", "-fsanitize=address,undefined", "-fno-sanitize-recover=undefined"]


class Core(unittest.TestCase):
    def test_trains(self):
        with tempfile.TemporaryDirectory() as folder:
            program = os.path.join(folder, "core_test")
            sources = [COURSE / "test" / "core_test.cpp", *SOURCES]
            objects = [os.path.join(folder, f"{i}.o") for i in range(len(sources))]
            with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
                list(pool.map(self.compile, sources, objects))
            self.run_command(os.environ.get("CXX", "g++"), *OPTIONS, *objects, "-lpthread", "-o", program)
            text = self.run_command(program)
        self.assertIn("\n0 failures\n", text)

    def compile(self, source, made):
        self.run_command(os.environ.get("CXX", "g++"), *OPTIONS, "-I", COURSE, "-c", source, "-o", made)

    def run_command(self, *command):
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False)
        self.assertEqual(0, done.returncode, f"{command[0]} ... {command[-1]}\n{done.stdout}{done.stderr}")
        return done.stdout


if __name__ == "__main__":
    unittest.main()
