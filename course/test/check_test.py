"""The words that course/check takes: parts, tasks and modules; and the hidden tests, which differ from the public ones."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import tempfile
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
loader = importlib.machinery.SourceFileLoader("course_check", os.path.join(COURSE, "check"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("course_check", loader))
loader.exec_module(check)
from checks import common, record  # noqa: E402
from judge import message, testing  # noqa: E402


class Asked(Exception):
    """A test has called the student's code."""


def first_inputs(test, seed):
    """Those of the first call, as bytes: NaN is equal to itself there."""
    def ask(inputs, *_):
        raise Asked(message.pack(inputs))
    try:
        test.body(testing.Context(ask, seed, f"{test.task.name} {test.name}"))
    except Asked as asked:
        return asked.args[0]
    return b""


class CheckTest(unittest.TestCase):
    def test_runs_every_part_that_is_named(self):
        options, parts = check.parse(["count", "wrong", "3.7", "hostile"])
        self.assertEqual((list(parts), options.names), (["count", "wrong", "hostile"], ["3.7"]))

    def test_runs_all_but_the_mutants_where_none_is_named(self):
        self.assertEqual(list(check.parse([])[1]), list(check.PARTS))
        self.assertNotIn("mutants", check.PARTS)

    def test_every_public_test_has_a_hidden_relative(self):
        with contextlib.redirect_stdout(io.StringIO()):
            self.assertEqual([], [each for each in check.count(None) if "hidden" in each])

    def test_no_hidden_test_begins_as_the_public_one(self):
        for task in common.tasks(staff=True):
            public = {each.name: each for each in task.tests}
            for hidden in task.hidden_tests:
                alike = all(first_inputs(hidden, seed) == first_inputs(public[hidden.of], seed) for seed in (1, 2, 3))
                self.assertFalse(alike, f"{task.name}: '{hidden.name}' begins as '{hidden.of}' does")

    def test_a_file_of_a_task_changes_that_task_alone(self):
        known = record.now()
        self.assertEqual(sorted([record.SHARED, *(each.name for each in common.tasks())]), sorted(known))
        paths = {name: {path for path, of in record._files() if of == name} for name in known}
        for path, name in (("core/0_tensors/0.2_index.cpp", "0.2"), ("staff/hidden/3.7_matmul_tiled.py", "3.7"),
                           ("judge/build.py", record.SHARED), ("core/cuda.h", record.SHARED),
                           ("../cuda/sim/exec/launch.cpp", record.SHARED), ("text/0.2_index.md", None), ("test/check_test.py", None)):
            whole = os.path.normpath(os.path.join(COURSE, path))
            found = [of for of, files in paths.items() if whole in files]
            self.assertEqual(found, [name] if name else [], path)

    def test_what_has_passed_is_not_checked_again(self):
        hashes, path = record.now(), record.PATH
        with tempfile.TemporaryDirectory() as folder:
            record.PATH = os.path.join(folder, "checked")
            try:
                self.assertEqual(record.changed(hashes), sorted(hashes))
                for name in hashes:
                    record.passes(name, "another" if name == "3.7" else hashes[name])
                self.assertEqual(record.changed(hashes), ["3.7"])
                record.passes("3.7", hashes["3.7"])
                self.assertEqual(record.changed(hashes), [])
            finally:
                record.PATH = path

    def test_refuses_other_words(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            check.parse(["count", "9.9"])
        self.assertIn("'9.9' is no part, task or module", said.getvalue())


if __name__ == "__main__":
    unittest.main()
