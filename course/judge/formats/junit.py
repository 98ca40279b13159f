"""JUnit XML, valid for both of its schemas.

Read in the projects windyroad/JUnit-Schema (JUnit.xsd at commit 2378e66f1918, the schema of Apache Ant) and
jenkinsci/xunit-plugin (junit-10.xsd at commit 031e285ef3b6). The format has no standard: this is what both allow.

- The first suite has no tests; its properties hold the totals. Then each task is a suite, whose properties hold its points
  and those of its tests.
- A test that lost is a failure. If a task could not be tested, one of its tests is an error that says why, and the others
  are skipped.
- CI shows its files to students. A hidden test has its points here, but neither its name nor its message.
"""

import datetime
import xml.etree.ElementTree as ET

from .rows import clean, cut, line, rows, seconds, whole

LONGEST = 10000  # Characters of a test's text.


def _time(value):
    return f"{seconds(value):.3f}"


def _case(suite, row):
    """Adds the test, and says how it ended: None, "skipped", "error" or "failure"."""
    case = ET.SubElement(suite, "testcase", name=row.public, classname=row.task, time=_time(row.seconds))
    if row.passed:
        return None
    if row.untested and not row.first:
        ET.SubElement(case, "skipped")
        return "skipped"
    kind = "error" if row.untested else "failure"
    text = "A hidden test." if row.hidden else cut(row.output, LONGEST)
    fault = ET.SubElement(case, kind, type="untested" if row.untested else "lost")
    fault.set("message", line(text.split("\n", 1)[0]) or "lost")
    fault.text = text
    return kind


def _suite(root, name, stamp, task_rows, properties):
    suite = ET.SubElement(root, "testsuite")
    holder = ET.SubElement(suite, "properties")
    kinds = []
    for row in task_rows:
        kinds.append(_case(suite, row))
        key = row.public if row.hidden else row.name
        properties += [(f"{key}.points", row.points), (f"{key}.max", row.max)]
    for key, value in properties:
        ET.SubElement(holder, "property", name=line(key) or "property", value=clean(value))
    ET.SubElement(suite, "system-out")
    ET.SubElement(suite, "system-err")
    counts = {"tests": len(kinds), "failures": kinds.count("failure"), "errors": kinds.count("error"),
              "skipped": kinds.count("skipped")}
    suite.attrib.update({"package": "gradus", "id": str(len(root) - 1), "name": name, "timestamp": stamp,
                         "hostname": "localhost", "time": _time(sum(row.seconds for row in task_rows)),
                         **{key: str(value) for key, value in counts.items()}})


def render(result, now=None):
    """The text of the XML file. `now` is the time in UTC."""
    now = now or datetime.datetime.now(datetime.timezone.utc)
    stamp = now.strftime("%Y-%m-%dT%H:%M:%S")
    root = ET.Element("testsuites")
    totals = [(key, result[key]) for key in ("course", "version", "seed", "student") if result.get(key, "") != ""]
    totals += [(key, whole(result[key])) for key in ("score", "max", "extra", "extra_max")]
    _suite(root, "result", stamp, [], totals + [("seconds", _time(result.get("seconds")))])
    for task in result["tasks"]:
        own = [("points", whole(task["points"])), ("max", whole(task["max"])),
               ("module", task["module"]), ("extra", "true" if task.get("extra") else "false")]
        of_task = rows({"tasks": [task]})
        _suite(root, of_task[0].task, stamp, of_task, own)
    ET.indent(root, " ")
    text = ET.tostring(root, encoding="us-ascii").decode("ascii")  # Other characters by number.
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + text + "\n"
