"""Tests judge/build.py: what was built is used again as long as nothing that it was made of has changed."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from unittest import mock

COURSE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(COURSE))
from judge import build, grading, limited  # noqa: E402


class BuildTest(unittest.TestCase):
    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.home = self.root / "course"
        for folder in ("core", "runner"):
            shutil.copytree(COURSE / folder, self.home / folder)
        shutil.copytree(COURSE.parent / "cuda" / "sim", self.root / "cuda" / "sim")
        self.task = next(each for each in grading.load_tasks(str(COURSE)) if each.kernels)

    def objects(self):
        """The files that a new grader makes its own parts, the simulator and a student's file of."""
        builder = build.Builder(str(self.home), str(self.root / "build"))
        made = []

        def note(path, *_):
            made.append(path)
            return path
        builder._made = note
        builder._compile = lambda task, stage, name, out: pathlib.Path(out).touch()
        builder._own("runner/observe_simulator.cpp")
        builder._simulator_object(builder._simulator_rooms()[0])
        made.append(builder._student_object(self.task, str(self.home)))
        return made

    def test_uses_again_what_did_not_change(self):
        self.assertEqual(self.objects(), self.objects())

    def test_builds_anew_what_a_change_reaches(self):
        for changed in ("cuda/sim/include/cuda_runtime.h", "cuda/sim/simulator.h", "cuda/sim/compile", "cuda/sim/kernel.options",
                        "course/runner/message.h", "course/core/tensors.h"):
            before = self.objects()
            with open(self.root / changed, "a") as file:
                file.write("\n")
            for old, new in zip(before, self.objects()):
                self.assertNotEqual(old, new, changed)

    def test_reads_what_editors_of_other_systems_write(self):
        path = self.home / "core" / self.task.file
        for encoding in ("utf-8", "utf-8-sig", "utf-16"):
            path.write_bytes("int caf\u00e9;\r\n".encode(encoding))
            self.assertEqual("int caf\u00e9;\n", build._read_solution(str(path), self.task).decode(), encoding)

    def test_keeps_no_verdict_of_a_compiler_that_was_ended(self):
        builder, run = build.Builder(str(self.home), str(self.root / "build")), limited.run
        task = next(each for each in grading.load_tasks(str(COURSE)) if each.name == "0.1")
        ends = [(1, "", "g++: fatal error: Killed signal terminated program cc1plus"), (-signal.SIGKILL, "", ""), (137, "", ""),
                (1, "", "virtual memory exhausted: Cannot allocate memory"), limited.Exceeded("g++ took longer than 240 s")]
        for end in ends:
            with mock.patch.object(limited, "run", side_effect=[end]), self.assertRaises(build.Ended):
                builder._student_object(task, str(self.home))
        with mock.patch.object(limited, "run", side_effect=[(1, "", "error: expected ';'")]), self.assertRaises(build.Problem):
            builder._student_object(task, str(self.home))
        with mock.patch.object(limited, "run", run), self.assertRaises(build.Problem) as kept:  # this one is kept
            builder._student_object(task, str(self.home))
        self.assertNotIsInstance(kept.exception, build.Ended)

    def test_keeps_no_verdict_of_a_reader_that_was_ended(self):
        builder, run = build.Builder(str(self.home), str(self.root / "build")), limited.run
        task = next(each for each in grading.load_tasks(str(COURSE)) if each.name == "0.1")

        def ended(command, *more, **options):
            if command[0] == "nm":
                raise limited.Exceeded("nm took longer than 10 s")
            return run(command, *more, **options)
        with mock.patch.object(limited, "run", ended), self.assertRaises(build.Ended):
            builder._student_object(task, str(self.home))
        self.assertTrue(os.path.exists(builder._student_object(task, str(self.home))))

    def test_a_file_without_functions_says_what_it_lacks(self):
        builder, tasks = build.Builder(str(self.home), str(self.root / "build")), grading.load_tasks(str(COURSE))
        for task in (next(each for each in tasks if each.kernels is kernels) for kernels in (False, True)):
            for text in ("", "// Nothing.\n", '#include "core/cuda.h"\ntemplate <class T> void mine(T) {}\n'):
                (self.home / "core" / task.file).write_text(text)
                with self.assertRaisesRegex(build.Problem, f"it does not define {task.exports[0]}"):
                    builder._student_object(task, str(self.home))

    def test_a_fault_of_the_judge_costs_one_task(self):
        grader = grading.Grader(str(self.home), str(self.root / "build"))
        with mock.patch.object(grader.builder, "runner", side_effect=FileNotFoundError("made")):
            graded = grader.grade_task(self.task, str(self.home))
        self.assertEqual(0, graded["points"])
        self.assertIn("FileNotFoundError: made", graded["problem"])

    def test_takes_functions_of_the_standard_library_that_compute(self):
        builder, task = build.Builder(str(self.home), str(self.root / "build")), grading.load_tasks(str(COURSE))[0]
        headers = "any bitset cctype charconv cinttypes cmath complex cstdio cstdlib cstring exception functional list map memory random set string vector"
        body = """
  long n = sizes[0]; double d = n; float f = d; int q = n; const char* s = sizes.empty() ? "1" : "2"; char b[99];
  n += std::ldiv(n, 2).rem + std::div(q, 2).quot + std::lldiv(n, 3).quot + std::llabs(n) + std::imaxdiv(n, 2).rem + std::imaxabs(n);
  d += std::remquo(d, 3.0, &q) + std::nan("") + std::nexttoward(d, 1) + std::scalbln(d, n) + std::beta(d, d) + j0(d);
  n += std::atoi(s) + std::strtol(s, nullptr, 10) + std::stol(s) + std::tolower(q) + std::isdigit(q) + std::stoi(std::to_string(d));
  f += std::strtof(s, nullptr) + std::stod(s) + std::atof(s);
  n += std::to_chars(b, b + 9, d).ptr - b + (std::strrchr(b, 's') - b) + (std::strstr(b, s) - b) + std::strcspn(b, s);
  std::complex<double> c(d, f); c = std::exp(c) * c / std::pow(c, 2.0); d += std::abs(c) + std::arg(c);
  std::mt19937 g(n); std::normal_distribution<float> normal; std::gamma_distribution<> gamma; f += normal(g) + gamma(g); std::srand(q);
  try { throw n; } catch (...) { const auto p = std::current_exception(); try { std::rethrow_exception(p); } catch (long m) { n += m; } catch (const std::exception& e) { n += *e.what(); } }
  std::any a = q; n += std::any_cast<int>(a); std::weak_ptr<int> w = std::make_shared<int>(q); n += *std::shared_ptr<int>(w);
  std::list<long> l(sizes.begin(), sizes.end()); l.sort(); n += l.front(); return {n, long(d), long(f)};"""
        text = "".join(f"#include <{each}>\n" for each in headers.split()) + '#include "core/tensors.h"\nnamespace course {\n' \
            "Dims strides_of(const Dims& sizes) {" + body + "\n}\n}\n"
        (self.home / "core" / task.file).write_text(text)
        builder._student_object(task, str(self.home))

    def test_many_warnings_take_little_memory(self):
        text = "#define W0 { int x; }\n" + "\n".join(f"#define W{i} " + f"W{i - 1} " * 10 for i in range(1, 7)) + \
            '\n#include "core/tensors.h"\nnamespace course { Dims strides_of(const Dims&) { W6 return {}; } }\n'
        (self.home / "core" / "0_tensors" / "0.1_strides.cpp").write_text(text)
        grade = f"import sys, resource; sys.path.insert(0, {str(COURSE)!r})\nfrom judge import build, grading\n" \
            f"builder, task = build.Builder({str(self.home)!r}, {str(self.root / 'build')!r}), grading.load_tasks({str(COURSE)!r})[0]\n" \
            f"try: builder._student_object(task, {str(self.home)!r})\nexcept build.Problem as problem: print(len(str(problem)))\n" \
            "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10)"
        length, megabytes = map(int, subprocess.run([sys.executable, "-c", grade], capture_output=True, text=True, check=True).stdout.split())
        self.assertLess(length, 10000)
        self.assertLess(megabytes, 120)

    def test_removes_what_an_ended_grade_left(self):
        for age in (10, 7200):
            stage = self.root / "build" / f"stage-{age}"
            stage.mkdir(parents=True)
            os.utime(stage, (time.time() - age, time.time() - age))
        build.Builder(str(self.home), str(self.root / "build"))._trim()
        self.assertEqual(["stage-10"], [each.name for each in (self.root / "build").glob("stage-*")])

    def test_another_grade_may_remove_files_at_the_same_time(self):
        builder, listed, removed = build.Builder(str(self.home), str(self.root / "build")), os.scandir, os.remove
        files = [self.root / "build" / name for name in ("old", "new")]

        def lists_and_removes(folder):
            entries = list(listed(folder))
            files[0].unlink()
            return entries

        def removes_twice(path):
            removed(path)
            removed(path)
        for each in files:
            each.write_text("text")
        with mock.patch("glob.glob", return_value=[str(self.root / "build" / "stage-gone")]), \
                mock.patch("os.scandir", lists_and_removes), mock.patch("os.remove", removes_twice), \
                mock.patch.object(build, "LARGEST_FOLDER", 0):
            builder._trim()
        self.assertFalse(files[1].exists())

    def test_a_source_of_the_simulator_counts(self):
        source = next((self.root / "cuda" / "sim" / "exec").glob("*.cpp"))
        before = self.objects()
        source.write_text(source.read_text() + "\n")
        self.assertNotEqual(before[1], self.objects()[1])


if __name__ == "__main__":
    unittest.main()
