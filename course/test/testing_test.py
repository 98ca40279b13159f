"""Tests judge/testing.py: what a failure shows."""
import os
import sys
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from judge import build, process, testing  # noqa: E402


def message(check, **more):
    try:
        check(testing.Context(None, 1, "test", **more))
    except testing.Failed as failed:
        return str(failed)
    return ""


class ContextTest(unittest.TestCase):
    def test_shows_as_many_digits_as_differ(self):
        for found, expected in (([1.0, -1.6617600917816162], [1.0, -1.6617599725723267]), (0.1, 0.1 + 1e-12), ([2.0] * 9 + [1e9 + 1], [2.0] * 9 + [1e9])):
            shown = message(lambda t: t.equal(found, expected, "sums"))
            one, other = shown.split("found ")[1].split(", expected ")
            self.assertNotEqual(one, other)
        self.assertIn("found 1.5, expected 2", message(lambda t: t.equal(1.5, 2.0, "sum")))

    def test_counts_hold_where_registers_do(self):
        self.assertEqual("", message(lambda t: t.at_most(5, 5, "loads"), said=build.Said("", 1040, "a.cu:3")))
        for size in (65760, float("inf")):
            self.assertIn("for itself, at a.cu:3", message(lambda t: t.at_most(5, 5, "loads"), said=build.Said("", size, "a.cu:3")))

    def test_work_that_may_end_gives_its_reply(self):
        def ended(inputs, seconds):
            return {"problem": "", "sums": [1.0]}

        def goes_on(inputs, seconds):
            raise process.Unfinished("it has not ended")
        self.assertEqual([1.0], testing.Context(ended, 1, "test").begins(may_end=True, n=[1])["sums"])
        self.assertIsNone(testing.Context(goes_on, 1, "test").begins(may_end=True, n=[1]))
        with self.assertRaises(testing.Failed):
            testing.Context(ended, 1, "test").begins(n=[1])


if __name__ == "__main__":
    unittest.main()
