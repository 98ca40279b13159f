"""Tests of the result files (Gradescope, Classroom 50, JUnit) against the published formats."""

import copy
import datetime
import io
import json
import math
import sys
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest import mock

COURSE = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(COURSE), str(COURSE / "test")]

from judge.formats import FORMATS, classroom50, gradescope, junit  # noqa: E402
from judge.formats import rows as rows_module  # noqa: E402
from published import check_classroom50, check_gradescope, check_junit  # noqa: E402

SECRET = "SECRET-INPUT"  # Stands in the messages, titles and hints of hidden tests alone.

# --- results to render ---


def make_test(name, points, most, hidden=False, message=None, passed=None):
    passed = points == most if passed is None else passed
    secret = SECRET if hidden else ""
    text = "" if passed else "smallest failing input: n = 33\nfound 1, expected 2\nrace at line 12"
    return {"name": f"{name}{secret}", "title": f"sizes of {name} {secret}", "points": points, "max": most, "passed": passed,
            "hidden": hidden, "message": (text if message is None else message) + secret,
            "hint": f"Look at the last tile. {secret}", "seconds": 0.12}


def make_task(number, title, tests, extra=False, problem=""):
    return {"task": number, "title": title, "module": int(number[0]), "points": sum(t["points"] for t in tests),
            "max": sum(t["max"] for t in tests), "extra": extra, "problem": problem, "tests": tests}


def make_result(tasks, leaderboard=()):
    def total(key, extra):
        return sum(task[key] for task in tasks if task["extra"] == extra)

    return {"seed": 1, "course": "gradus", "version": "0.1.0", "score": total("points", False), "max": total("max", False),
            "extra": total("points", True), "extra_max": total("max", True), "seconds": 93.1, "tasks": tasks,
            "leaderboard": list(leaderboard)}


def mixed():
    return make_result([
        make_task("0.1", "Strides", [make_test("a", 5, 5), make_test("b", 10, 10)]),
        make_task("3.7", "Matmul by tiles", [make_test("right", 8, 8), make_test("edges", 0, 4),
                                             make_test("loads", 4, 8, hidden=True), make_test("more", 0, 2, hidden=True)]),
        make_task("3.8", "Register tiles", [make_test("x", 0, 9), make_test("y", 0, 6, hidden=True)],
                  problem="matmul.cu:3:1: error: expected ';'"),
        make_task("5.1", "Scatter", [make_test("x", 15, 15, hidden=True)]),
        make_task("6.1", "Convolution", [make_test("x", 15, 15), make_test("y", 0, 10)], extra=True),
        make_task("6.4", "Fastest matmul", [make_test("x", 0, 25)], extra=True),
    ], [{"name": "Fastest matmul (TFLOP/s)", "value": 1.2, "order": "desc"}])


def full():
    return make_result([make_task("0.1", "Strides", [make_test("a", 15, 15)]),
                        make_task("1.1", "Map", [make_test("a", 10, 10), make_test("h", 5, 5, hidden=True)]),
                        make_task("6.1", "Convolution", [make_test("x", 25, 25)], extra=True)])


def failed(message=None):
    return make_result([make_task("0.1", "Strides", [make_test("a", 0, 15, message=message)]),
                        make_task("1.1", "Map", [make_test("a", 0, 10, message=message), make_test("h", 0, 5, hidden=True)]),
                        make_task("6.1", "Convolution", [make_test("x", 0, 25, message=message)], extra=True)])


def untested(problem):
    tasks = [make_task("0.1", "Strides", [make_test("a", 0, 15)], problem=problem)]
    no_tests = {"task": "0.2", "title": "Position", "module": 0, "points": 0, "max": 15, "extra": False, "problem": problem,
                "tests": []}
    return make_result(tasks + [no_tests])


def odd():
    result = mixed()
    for task in result["tasks"]:
        task["title"] += " \x00\x07<b>&\"'\u00e9\u4e2d\U0001f600\ud800 ]]> \x1b[31mred\x1b[0m"
        for test in task["tests"]:
            test["title"] = "  spaces\n\tand ends \x01\x0b\x7f\x9f\ufffe\uffff " + test["title"]
            test["message"] = "".join(map(chr, range(0, 300))) + "\udfff\x1b]0;title\x07\r\nline\rline" + test["message"]
            test["hint"] += "\x1b[2J\x00"
    result["course"] += "\x00\ud800"
    result["leaderboard"] = [{"name": "a\x00<", "value": "*\x1b*"}, {"name": "b", "value": math.nan},
                             {"name": "c", "value": math.inf, "order": "asc"}, {"name": "d", "value": 2, "order": "asc"}]
    return result


RESULTS = {
    "mixed": mixed(),
    "full": full(),
    "zero": make_result([make_task("0.1", "Strides", [make_test("a", 0, 0, passed=True)])]),
    "all failed": failed(),
    "no tasks": make_result([]),
    "huge message": failed("x" * (1 << 19) + "\n" + "\u00e9\x00" * (1 << 18)),
    "huge problem": untested("error: " * (1 << 17)),
    "odd characters": odd(),
    "untested": untested("core/0_tensors/strides.cpp is missing"),
    "empty texts": failed(""),
    "no optional keys": {**make_result([{"task": "0.1", "title": "Strides", "module": 0, "points": 0, "max": 4, "extra": False,
                                         "tests": [{"name": "a", "points": 0, "max": 4, "passed": False}]}]),
                         "leaderboard": None, "seconds": None},
}
CHECKS = {"gradescope": check_gradescope, "classroom50": check_classroom50, "junit": check_junit}
RUNNER = {"CLASSROOM": "c", "ASSIGNMENT": "gradus", "ASSIGNMENT_TYPE": "group", "OWNER": "alice",
          "SUBMISSION_TAG": "submit/2026-06-01T14-32-05Z-a1b2c3d", "COMMIT_URL": "u/commit/1", "RELEASE_URL": "u/releases/1",
          "REVIEW_URL": "u/compare/0...1"}
NOW = datetime.datetime(2026, 6, 1, 14, 33, 11, tzinfo=datetime.timezone.utc)


def properties(suite):
    return {item.get("name"): item.get("value") for item in suite[0]}


class Formats(unittest.TestCase):
    def test_every_result_is_valid_in_every_format(self):
        self.assertEqual({"gradescope": "results.json", "classroom50": "result.json", "junit": "junit.xml"},
                         {name: file for name, (file, _) in FORMATS.items()})
        for name, (_, render) in FORMATS.items():
            for what, result in RESULTS.items():
                with self.subTest(format=name, result=what):
                    before = copy.deepcopy(result) if what != "odd characters" else None
                    CHECKS[name](render(result))
                    if before is not None:
                        self.assertEqual(before, result)  # Rendering changes nothing.

    def test_files_stay_small(self):
        for name, (_, render) in FORMATS.items():
            self.assertLess(len(render(RESULTS["huge message"])), 100_000, name)
            self.assertLess(len(render(RESULTS["huge problem"])), 100_000, name)

    def test_hidden_tests_stay_hidden(self):
        for what in ("mixed", "full", "all failed", "odd characters"):
            result = RESULTS[what]
            with self.subTest(result=what):
                value = check_gradescope(gradescope.render(result))
                hidden = [test for test in value["tests"] if test["visibility"] != "visible"]
                self.assertEqual(sum(t["hidden"] for k in result["tasks"] for t in k["tests"]), len(hidden))
                self.assertEqual({"after_published"}, {test["visibility"] for test in hidden})
                visible = {**value, "tests": [test for test in value["tests"] if test["visibility"] == "visible"]}
                self.assertNotIn(SECRET, json.dumps(visible))
                self.assertNotIn(SECRET, classroom50.render(result))
                self.assertNotIn(SECRET, junit.render(result))

    def test_visible_summary_says_nothing_of_hidden_points(self):
        result = mixed()
        before = gradescope.render(result)
        for task in result["tasks"]:
            for test in task["tests"]:
                if test["hidden"]:
                    task["points"] += test["max"] - test["points"]
                    test["points"], test["passed"] = test["max"], True
        self.assertEqual(json.loads(before)["output"], json.loads(gradescope.render(result))["output"])

    def test_messages_and_hints_are_shown(self):
        value = check_gradescope(gradescope.render(RESULTS["mixed"]))
        edges = next(test for test in value["tests"] if test["name"].startswith("3.7 Matmul by tiles: sizes of edges"))
        self.assertIn("smallest failing input: n = 33\nfound 1, expected 2\n", edges["output"])
        self.assertIn("Hint: Look at the last tile.", edges["output"])
        root = check_junit(junit.render(RESULTS["mixed"]))
        fault = root.find("testsuite/testcase[@name='sizes of edges']/failure")
        self.assertIn("race at line 12", fault.text)
        self.assertEqual("smallest failing input: n = 33", fault.get("message"))

    def test_a_long_message_keeps_its_start_and_end(self):
        result = failed("START" + "x" * (1 << 20) + "END")
        output = json.loads(gradescope.render(result))["tests"][0]["output"]
        self.assertTrue(output.startswith("START"))
        self.assertIn("END", output)
        self.assertRegex(output, r"\[\d+ characters left out\]")

    def test_odd_characters_are_kept_where_they_may(self):
        for name, (_, render) in FORMATS.items():
            source = render(RESULTS["odd characters"])
            self.assertTrue(source.isascii(), name)  # The locale of the judge cannot break a file.
            kept = ET.tostring(ET.fromstring(source), encoding="unicode") if name == "junit" else \
                json.dumps(json.loads(source), ensure_ascii=False)
            for part in ("\u00e9", "\u4e2d", "\U0001f600"):
                self.assertIn(part, kept, name)
            self.assertNotIn("[31m", kept, name)


class Gradescope(unittest.TestCase):
    def test_totals(self):
        for what, result in RESULTS.items():
            value = check_gradescope(gradescope.render(result))
            self.assertEqual(result["score"] + result["extra"], value["score"], what)
            self.assertEqual(value["score"], sum(test["score"] for test in value["tests"]), what)
            base = [test for test in value["tests"] if "extra credit" not in test.get("tags", [])]
            self.assertEqual(result["max"], sum(test["max_score"] for test in base), what)

    def test_leaderboard_time_and_stdout(self):
        value = check_gradescope(gradescope.render(RESULTS["mixed"]))
        self.assertEqual([{"name": "Fastest matmul (TFLOP/s)", "value": 1.2, "order": "desc"}], value["leaderboard"])
        self.assertEqual(93.1, value["execution_time"])
        self.assertEqual("hidden", value["stdout_visibility"])
        self.assertNotIn("leaderboard", check_gradescope(gradescope.render(RESULTS["full"])))
        odd_board = check_gradescope(gradescope.render(RESULTS["odd characters"]))["leaderboard"]
        self.assertEqual(["*\ufffd*", 2], [entry["value"] for entry in odd_board])

    def test_a_task_that_could_not_be_tested(self):
        tests = check_gradescope(gradescope.render(RESULTS["mixed"]))["tests"]
        first, second = [test for test in tests if test["number"].startswith("3.8")]
        self.assertIn("expected ';'", first["output"])
        self.assertEqual(["failed", "failed"], [first["status"], second["status"]])
        self.assertIn("is missing", check_gradescope(gradescope.render(RESULTS["untested"]))["tests"][1]["output"])


class Classroom50(unittest.TestCase):
    def test_totals(self):
        for what, result in RESULTS.items():
            value = check_classroom50(classroom50.render(result))
            self.assertEqual((result["score"], result["max"]), (value["score"], value["max-score"]), what)
            self.assertEqual(result["extra"], sum(test.get("extra-score", 0) for test in value["tests"]), what)

    def test_identity_is_what_the_runner_says(self):
        value = check_classroom50(classroom50.render(RESULTS["mixed"], RUNNER, NOW))
        self.assertEqual(("c", "gradus", "group", "alice"),
                         tuple(value[key] for key in ("classroom", "assignment", "assignment_type", "owner")))
        self.assertEqual([RUNNER[key] for key in ("SUBMISSION_TAG", "COMMIT_URL", "RELEASE_URL", "REVIEW_URL")],
                         [value[key] for key in ("submission", "commit", "release", "review")])
        self.assertEqual("2026-06-01T14:33:11Z", value["datetime"])

    def test_odd_environments(self):
        for change in ({}, {"ASSIGNMENT_TYPE": "team"}, {"SUBMISSION_TAG": "main"}, {"REVIEW_URL": ""}, {"OWNER": " "},
                       {"CLASSROOM": "\x00\ud800"}):
            check_classroom50(classroom50.render(RESULTS["mixed"], {**RUNNER, **change}, NOW))
        check_classroom50(classroom50.render(RESULTS["mixed"], {}, NOW))
        value = json.loads(classroom50.render(RESULTS["mixed"], {**RUNNER, "REVIEW_URL": ""}, NOW))
        self.assertEqual(value["commit"], value["review"])

    def test_extra_credit_cannot_fail_a_submission(self):
        result = full()
        result["tasks"].append(make_task("6.2", "Softmax", [make_test("x", 0, 25)], extra=True))
        value = check_classroom50(classroom50.render(result))
        self.assertTrue(all(test["passed"] for test in value["tests"]))


class JUnit(unittest.TestCase):
    def test_totals(self):
        for what, result in RESULTS.items():
            root = check_junit(junit.render(result))
            totals = properties(root[0])
            for key in ("score", "max", "extra", "extra_max"):
                self.assertEqual(str(result[key]), totals[key], what)
            self.assertEqual(len(result["tasks"]) + 1, len(root))
            for task, suite in zip(result["tasks"], root[1:]):
                own = properties(suite)
                self.assertEqual((str(task["points"]), str(task["max"])), (own["points"], own["max"]))
                self.assertEqual(task["points"], sum(int(v) for k, v in own.items() if k.endswith(".points")), what)

    def test_failure_error_and_skipped(self):
        root = check_junit(junit.render(RESULTS["mixed"]))
        count_of = {suite.get("name").split()[0]: tuple(int(suite.get(key)) for key in ("failures", "errors", "skipped"))
                    for suite in root[1:]}
        self.assertEqual({"0.1": (0, 0, 0), "3.7": (3, 0, 0), "3.8": (0, 1, 1), "5.1": (0, 0, 0), "6.1": (1, 0, 0),
                          "6.4": (1, 0, 0)}, count_of)
        self.assertIn("expected ';'", root.find("testsuite/testcase/error").text)

    def test_markup_is_escaped(self):
        result = failed("</failure><testcase name='x'/> ]]> &amp; <![CDATA[")
        root = check_junit(junit.render(result))
        self.assertIn("</failure><testcase name='x'/> ]]> &amp; <![CDATA[", root.find("testsuite/testcase/failure").text)


class BrokenRenderers(unittest.TestCase):
    """Each mutant of a renderer must be seen by the checks above."""

    def suite_fails(self):
        names = (Formats, Gradescope, Classroom50, JUnit)
        suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromTestCase(case) for case in names)
        return not unittest.TextTestRunner(stream=io.StringIO(), failfast=True).run(suite).wasSuccessful()

    def mutate(self, module, old, new):
        source = Path(module.__file__).read_text(encoding="utf-8")
        self.assertIn(old, source)
        changed = {"__name__": module.__name__, "__package__": module.__package__}
        exec(compile(source.replace(old, new), module.__file__, "exec"), changed)
        return changed["render"]

    def test_mutants_fail(self):
        mutants = [
            (gradescope, '"after_published" if row.hidden else "visible"', '"visible"'),
            (gradescope, '"after_published"', '"after_publishing"'),
            (gradescope, '"output_format": "text",\n        "tags"', '"output_format": "plain",\n        "tags"'),
            (gradescope, '"score": row.seen', '"score": row.max'),
            (gradescope, '+ whole(result["extra"])', ""),
            (gradescope, '"max_score"', '"max-score"'),
            (gradescope, "cut(row.output, LONGEST)", "row.output"),
            (gradescope, "if not row.hidden]", "]"),
            (gradescope, "not math.isfinite(value)", "False"),
            (gradescope, '"stdout_visibility": "hidden"', '"stdout_visibility": "visible"'),
            (classroom50, "row.public}", "row.title}"),
            (classroom50, " and not row.hidden", ""),
            (classroom50, '"max-score": whole(result["max"])', '"max-score": whole(result["max"]) + 1'),
            (classroom50, '"score": 0, "max-score": 0,', ""),
            (classroom50, "if not row.extra or row.points", ""),
            (classroom50, "T%H:%M:%SZ", " %H:%M:%S"),
            (classroom50, '"passed": row.passed', '"passed": str(row.passed)'),
            (classroom50, 'if submission.startswith("submit/") else "submit/local"', ""),
            (junit, "name=row.public", "name=row.title"),
            (junit, '"A hidden test." if row.hidden else cut', "cut"),
            (junit, 'kinds.count("failure")', "len(kinds)"),
            (junit, "return kind\n", "return None\n"),
            (junit, 'ET.SubElement(suite, "system-err")', "None"),
            (junit, '"hostname": "localhost",', ""),
            (junit, 'str(len(root) - 1)', '"1"'),
            (junit, 'ET.SubElement(holder, "property"', 'ET.SubElement(suite, "property"'),
        ]
        for module, old, new in mutants:
            with self.subTest(module=module.__name__, old=old, new=new):
                with mock.patch.object(module, "render", self.mutate(module, old, new)):
                    entry = next(key for key, (_, render) in FORMATS.items() if render.__module__ == module.__name__)
                    with mock.patch.dict(FORMATS, {entry: (FORMATS[entry][0], module.render)}):
                        self.assertTrue(self.suite_fails())
        self.assertFalse(self.suite_fails())

    def test_uncleaned_text_fails(self):
        for name in ("clean", "cut"):
            same = (lambda value: str(value)) if name == "clean" else (lambda value, limit: value)
            with mock.patch.object(rows_module, name, same), mock.patch.object(gradescope, name, same), \
                    mock.patch.object(junit, name, same):
                self.assertTrue(self.suite_fails(), name)


if __name__ == "__main__":
    unittest.main()
