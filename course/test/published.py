"""The published formats of result files (Gradescope, Classroom 50, JUnit); each function raises AssertionError where a text breaks one."""
import json
import math
import re
import xml.etree.ElementTree as ET


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
