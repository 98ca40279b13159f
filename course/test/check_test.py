"""The words that course/check takes: parts, tasks and modules; and the hidden tests, which differ from the public ones."""
import contextlib
import importlib.machinery
import importlib.util
import io
import os
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
loader = importlib.machinery.SourceFileLoader("course_check", os.path.join(COURSE, "check"))
check = importlib.util.module_from_spec(importlib.util.spec_from_loader("course_check", loader))
loader.exec_module(check)
from checks import common  # noqa: E402
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

    def test_refuses_other_words(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said), self.assertRaises(SystemExit):
            check.parse(["count", "9.9"])
        self.assertIn("'9.9' is no part, task or module", said.getvalue())


if __name__ == "__main__":
    unittest.main()
