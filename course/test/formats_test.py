"""Tests of the result files (Gradescope, Classroom 50, JUnit) and of the grader image, against the published formats."""

import copy
import datetime
import io
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ET
from pathlib import Path
from unittest import mock

COURSE = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(COURSE))

from judge.formats import FORMATS, classroom50, gradescope, junit  # noqa: E402
from judge.formats import rows as rows_module  # noqa: E402

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

# --- the published formats; each function raises AssertionError where a text breaks one ---


def check(condition, what):
    if not condition:
        raise AssertionError(what)


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


def load_json(text):
    def refuse(name):
        raise AssertionError(f"{name} is not JSON")

    value = json.loads(text, parse_constant=refuse)
    for part in re.findall(r"[^\x00-\x7f]|\x00|\x7f|[\ud800-\udfff]", json.dumps(value, ensure_ascii=False)):
        check(part.isprintable() or not part.isascii(), f"a control character {part!r}")
    text.encode("utf-8")
    json.dumps(value, ensure_ascii=False).encode("utf-8")  # Refuses lone surrogates.
    return value


def check_keys(value, types, required, where):
    check(isinstance(value, dict), f"{where} is not an object")
    for key in required:
        check(key in value, f"{where} has no {key}")
    for key, item in value.items():
        check(key in types, f"{where} has an unknown key {key}")
        check(types[key](item), f"{where}: {key} is {item!r:.100}")


def text(value):
    return isinstance(value, str)


def one_of(*values):
    return lambda value: value in values


VISIBILITY = one_of("hidden", "after_due_date", "after_published", "visible")
TEXT_FORMAT = one_of("text", "html", "simple_format", "md", "ansi")
GRADESCOPE_TEST = {
    "score": is_number, "max_score": is_number, "status": one_of("passed", "failed"), "name": text,
    "name_format": TEXT_FORMAT, "number": text, "output": text, "output_format": TEXT_FORMAT,
    "tags": lambda v: isinstance(v, list) and all(map(text, v)), "visibility": VISIBILITY,
    "extra_data": lambda v: isinstance(v, dict),
}
GRADESCOPE_ENTRY = {"name": text, "value": lambda v: text(v) or is_number(v), "order": one_of("asc", "desc")}
GRADESCOPE = {
    "score": is_number, "execution_time": is_number, "output": text, "output_format": TEXT_FORMAT,
    "test_output_format": TEXT_FORMAT, "test_name_format": TEXT_FORMAT, "visibility": VISIBILITY,
    "stdout_visibility": VISIBILITY, "extra_data": lambda v: isinstance(v, dict), "tests": lambda v: isinstance(v, list),
    "leaderboard": lambda v: isinstance(v, list),
}


def check_gradescope(source):
    value = load_json(source)
    check_keys(value, GRADESCOPE, [], "results.json")
    tests = value.get("tests", [])
    check("score" in value or (tests and all("score" in t for t in tests)), "there is no score")
    for test in tests:
        check_keys(test, GRADESCOPE_TEST, [] if "score" in value else ["score"], "a test")
    for entry in value.get("leaderboard", []):
        check_keys(entry, GRADESCOPE_ENTRY, ["name", "value"], "an entry of the leaderboard")
    return value


def count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def some(value):
    return text(value) and value != ""


def instant(value):
    return text(value) and re.fullmatch(r"\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ", value) is not None


CLASSROOM50 = {
    "schema": one_of("classroom50/result/v1"), "classroom": some, "assignment": some,
    "assignment_type": one_of("individual", "group"), "owner": some,
    "submission": lambda v: text(v) and v.startswith("submit/"), "commit": some, "release": some, "review": some,
    "datetime": instant, "score": count, "max-score": count, "tests": lambda v: isinstance(v, list),
}
CLASSROOM50_OPTIONAL = {"graded_at": instant, "submitted_by": lambda v: isinstance(v, dict) and some(v.get("username"))}
CLASSROOM50_TEST = {"test-name": some, "passed": lambda v: isinstance(v, bool), "score": count, "max-score": count}


def check_classroom50(source):
    check(len(source.encode("utf-8")) <= 10 << 20, "the collection takes at most 10 MiB")
    value = load_json(source)
    check_keys(value, {**CLASSROOM50, **CLASSROOM50_OPTIONAL}, CLASSROOM50, "result.json")
    check(value["score"] <= value["max-score"], "score > max-score")
    for test in value["tests"]:
        known = {key: test[key] for key in CLASSROOM50_TEST if key in test}  # A test may have further keys.
        check_keys(known, CLASSROOM50_TEST, CLASSROOM50_TEST, "a test")
        check(test["score"] <= test["max-score"], "score > max-score in a test")
    for key in ("score", "max-score"):
        check(value[key] == sum(test[key] for test in value["tests"]), f"{key} is not the sum of the tests")
    return value


INT = re.compile(r"[+-]?\d+")
DECIMAL = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)")
SUREFIRE_TIME = re.compile(r"((\d{0,3},)*\d{3}|\d{0,3})*(\.\d*)?")
LOCAL_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}")
# Where JUnit.xsd (Ant) and junit-10.xsd (Jenkins) differ, this is what both allow.
SUITE_REQUIRED = {"package", "id", "name", "timestamp", "hostname", "tests", "failures", "errors", "time"}


def check_attributes(element, required, optional=()):
    keys = set(element.attrib)
    check(set(required) <= keys, f"{element.tag} lacks {set(required) - keys}")
    check(keys <= set(required) | set(optional), f"{element.tag} has {keys - set(required) - set(optional)}")


def check_only_children(element):
    check(not (element.text or "").strip() and not any((c.tail or "").strip() for c in element), f"text in {element.tag}")


def check_case(case):
    check_attributes(case, {"name", "classname", "time"})
    check(DECIMAL.fullmatch(case.get("time")) and SUREFIRE_TIME.fullmatch(case.get("time")), "time of a test")
    check_only_children(case)
    check(len(case) <= 1, "a test has one fault at most")
    for fault in case:
        check(fault.tag in ("skipped", "error", "failure"), f"{fault.tag} in a test")
        check(len(fault) == 0, "a fault has text alone")
        check_attributes(fault, {"type"} if fault.tag != "skipped" else (), {"message"} if fault.tag != "skipped" else ())


def check_junit(source):
    check(not re.search("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]", source), "a character that XML forbids")
    root = ET.fromstring(source.encode("utf-8"))
    check(root.tag == "testsuites" and not root.attrib, "the root")
    check_only_children(root)
    for index, suite in enumerate(root):
        check(suite.tag == "testsuite", f"{suite.tag} in the root")
        check_only_children(suite)
        check_attributes(suite, SUITE_REQUIRED, {"skipped"})
        check(suite.get("id") == str(index), "ids count from 0")
        check(suite.get("name").strip() and suite.get("hostname").strip(), "a name is empty")
        check(LOCAL_TIME.fullmatch(suite.get("timestamp")), "timestamp")
        check(DECIMAL.fullmatch(suite.get("time")) and SUREFIRE_TIME.fullmatch(suite.get("time")), "time of a suite")
        tags = [child.tag for child in suite]
        cases = tags[1:-2]
        check(tags[:1] == ["properties"] and tags[-2:] == ["system-out", "system-err"], f"children {tags}")
        check(set(cases) <= {"testcase"}, f"children {tags}")
        for item in suite[0]:
            check(item.tag == "property" and len(item) == 0, "properties")
            check_attributes(item, {"name", "value"})
            check(item.get("name").strip(), "a property has no name")
        faults = [fault.tag for case in suite[1:-2] for fault in case]
        for case in suite[1:-2]:
            check_case(case)
        for key, number in (("tests", len(cases)), ("failures", faults.count("failure")),
                            ("errors", faults.count("error")), ("skipped", faults.count("skipped"))):
            check(INT.fullmatch(suite.get(key, "0")) and int(suite.get(key, "0")) == number, f"{key} of a suite")
    return root


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
            (gradescope, '"score": row.points', '"score": row.max'),
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


# --- the grader image ---

FAKE_JUDGE = """class Task:
    def __init__(self, file):
        self.file = file


def load_tasks(home, staff=False):
    return [Task("0_tensors/strides.cpp"), Task("3_cuda/tiled.cu"), Task("3_cuda/map.cu")]
"""
# How each ./grade of these tests starts; `path` is the file of the result, `files` are those of the submission.
GRADE = """import json, os, sys
path = next(a.split("=", 1)[1] for a in sys.argv if a.startswith("gradescope="))
folder = sys.argv[sys.argv.index("--submission") + 1]
files = sorted(os.path.relpath(os.path.join(d, f), folder) for d, _, fs in os.walk(folder) for f in fs)
"""
GOOD = """json.dump({"score": len(files), "output": "files " + " ".join(files), "extra_data": {"arguments": sys.argv[1:]},
           "tests": [{"score": len(files), "max_score": 3, "name": "x"}], "execution_time": 1.5}, open(path, "w"))
"""


class GraderImage(unittest.TestCase):
    def setUp(self):
        self.root = Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.root)
        self.root.chmod(0o755)
        source = self.root / "source"
        (source / "judge").mkdir(parents=True)
        (source / "judge" / "grading.py").write_text(FAKE_JUDGE)
        (source / "staff").mkdir()
        self.submission = self.root / "submission"
        for name in ("core/0_tensors/strides.cpp", "core/3_cuda/tiled.cu", "core/3_cuda/map.cu"):
            (self.submission / name).parent.mkdir(parents=True, exist_ok=True)
            (self.submission / name).write_text("a solution")

    def run_grader(self, grade, **environment):
        (self.root / "source" / "grade").write_text(GRADE + grade)
        process = subprocess.run([sys.executable, str(COURSE / "staff" / "run_autograder")], text=True, timeout=60,
                                 env={**os.environ, "AUTOGRADER_ROOT": str(self.root), **environment},
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.log = process.stdout
        self.assertEqual(0, process.returncode, self.log)
        return check_gradescope((self.root / "results" / "results.json").read_text(encoding="utf-8"))

    def test_takes_the_solution_files_and_nothing_else(self):
        (self.submission / "core" / "3_cuda" / "more.cu").write_text("not listed")
        (self.submission / "judge").mkdir()
        (self.submission / "judge" / "main.py").write_text("mine")
        (self.submission / "results.json").write_text("{\"score\": 600}")
        value = self.run_grader(GOOD)
        self.assertIn("files core/0_tensors/strides.cpp core/3_cuda/map.cu core/3_cuda/tiled.cu", value["output"])
        self.assertIn("Files taken from the submission: 3 of 3.", value["output"])
        self.assertEqual(3, value["score"])

    def test_a_zipped_repository_and_flat_files(self):
        nested = self.root / "nested"
        self.submission.rename(nested)
        self.submission.mkdir()
        nested.rename(self.submission / "repository-main")
        self.assertIn("3 of 3", self.run_grader(GOOD)["output"])
        shutil.rmtree(self.submission)
        self.submission.mkdir()
        (self.submission / "tiled.cu").write_text("flat")
        self.assertIn("files core/3_cuda/tiled.cu", self.run_grader(GOOD)["output"])

    def test_refuses_links_large_files_and_other_things(self):
        secret = self.root / "secret"
        secret.write_text(SECRET)
        file = self.submission / "core" / "3_cuda" / "tiled.cu"
        for make, reason in ((lambda: file.symlink_to(secret), "symbolic link"), (lambda: os.mkfifo(file), "not a regular file"),
                             (file.mkdir, "not a regular file"), (lambda: file.write_bytes(b"x" * 65537), "larger than 64 KiB")):
            file.unlink()
            make()
            value = self.run_grader(GOOD)
            self.assertRegex(value["output"], f"core/3_cuda/tiled.cu was not taken: .*{reason}")
            self.assertEqual(2, value["score"])
            if file.is_dir() and not file.is_symlink():
                file.rmdir()
                file.touch()
        shutil.rmtree(self.submission / "core" / "3_cuda")
        (self.root / "elsewhere").mkdir()
        (self.root / "elsewhere" / "map.cu").write_text(SECRET)
        (self.submission / "core" / "3_cuda").symlink_to(self.root / "elsewhere")
        self.assertEqual(1, self.run_grader(GOOD)["score"])

    def test_an_empty_submission(self):
        shutil.rmtree(self.submission)
        self.submission.mkdir()
        value = self.run_grader(GOOD)
        self.assertEqual(0, value["score"])
        self.assertIn("0 of 3", value["output"])

    def test_a_judge_that_fails(self):
        for grade in ("sys.exit(1)\n", "raise RuntimeError('" + SECRET + "')\n", "open(path, 'w')\n",
                      "open(path, 'w').write('{')\n", "json.dump({'score': 'all', 'tests': []}, open(path, 'w'))\n",
                      "os.symlink('/etc/hostname', path)\n", "os.abort()\n", "pass\n", "json.dump([], open(path, 'w'))\n"):
            with self.subTest(grade=grade):
                value = self.run_grader(grade)
                self.assertEqual(0, value["score"])
                self.assertIn("tell the staff", value["output"])
                self.assertNotIn(SECRET, json.dumps(value))
        (self.root / "source" / "judge" / "grading.py").write_text("syntax error")
        self.assertIn("The grader itself failed", self.run_grader(GOOD)["output"])

    def test_time_and_memory_end_a_judge_with_all_its_processes(self):
        loop = "import subprocess, time\nsubprocess.Popen(['sleep', '987'])\n"
        value = self.run_grader(loop + "time.sleep(60)\n", LIMIT_SECONDS="1")
        self.assertEqual(0, value["score"])
        self.assertIn("longer than 1 s", value["output"])
        value = self.run_grader(loop + "x = bytearray(300 << 20)\ntime.sleep(60)\n", LIMIT_MB="100")
        self.assertIn("more than 100 MB", value["output"])
        value = self.run_grader(loop + "time.sleep(60)\n", LIMIT_SECONDS="1", MODULES="0 1")
        self.assertIn("Module 1: There was no time left.", value["output"])
        running = [Path(e.path, "cmdline").read_bytes() for e in os.scandir("/proc")
                   if e.name.isdigit() and Path(e.path, "cmdline").exists()]
        self.assertNotIn(b"sleep\x00987\x00", running)

    def test_module_by_module(self):
        value = self.run_grader("if '3' in sys.argv: sys.exit(1)\n" + GOOD, MODULES="0 3 1")
        self.assertEqual(6, value["score"])
        self.assertEqual(3.0, value["execution_time"])
        self.assertEqual(["x", "Not graded", "x"], [test["name"] for test in value["tests"]])
        self.assertIn("Module 3:", value["output"])
        (self.root / "source" / "grader.conf").write_text("# no\nMODULES= 0   # one\nSEED=7\nHIDDEN=0\n")
        arguments = self.run_grader(GOOD)["extra_data"]["arguments"]
        self.assertIn("0", arguments)
        self.assertEqual("7", arguments[arguments.index("--seed") + 1])
        self.assertNotIn("--staff", arguments)
        self.assertIn("--staff", self.run_grader(GOOD, HIDDEN="1")["extra_data"]["arguments"])

    def test_classroom50_starts_the_judge(self):
        bundle = self.root / "source"
        shutil.copy(COURSE / "staff" / "autograder.py", bundle)
        (bundle / "grader.conf").write_text("MODULES=0   # one\n")
        (bundle / "grade").write_text("import sys\nprint(sys.argv[1:])\nopen(sys.argv[-1].split('=')[1], 'w').write('new')\n")
        (self.submission / "result.json").symlink_to(self.root / "secret")
        process = subprocess.run([sys.executable, str(bundle / "autograder.py")], cwd=self.submission, text=True,
                                 stdout=subprocess.PIPE, check=False)
        self.assertEqual(0, process.returncode)
        self.assertIn("['0', '--submission'", process.stdout)
        self.assertEqual("new", (self.submission / "result.json").read_text())
        self.assertFalse((self.root / "secret").exists())


class Texts(unittest.TestCase):
    def test_files_of_the_student_s_repository(self):
        student = COURSE / "staff" / "student"
        first, rest = (student / ".devcontainer" / "devcontainer.json").read_text(encoding="utf-8").split("\n", 1)
        self.assertTrue(first.startswith("//"))
        self.assertIn("image", json.loads(rest))
        workflow = (student / ".github" / "workflows" / "grade.yml").read_text(encoding="utf-8")
        self.assertNotIn("\t", workflow)
        for part in ("--format junit=", "--format classroom50=", "g++ binutils"):
            self.assertIn(part, workflow)
        self.assertNotIn("cmake", workflow)

    def test_settings_are_those_that_run_autograder_knows(self):
        source = (COURSE / "staff" / "run_autograder").read_text(encoding="utf-8")
        known = re.findall(r'^    "([A-Z_]+)": "(.*?)"', source, re.M)
        conf = (COURSE / "staff" / "grader.conf").read_text(encoding="utf-8")
        self.assertEqual(known, re.findall(r"^([A-Z_]+)=(\S*)\s", conf, re.M))

    def test_scripts_are_executable_and_right(self):
        for name in ("setup.sh", "run_autograder"):
            self.assertTrue(os.access(COURSE / "staff" / name, os.X_OK), name)
        subprocess.run(["bash", "-n", str(COURSE / "staff" / "setup.sh")], check=True)
        self.assertNotIn("cmake", (COURSE / "staff" / "setup.sh").read_text(encoding="utf-8"))


if __name__ == "__main__":
    unittest.main()
