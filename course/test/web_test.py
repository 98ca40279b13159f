"""Tests of ./grade --web: what the page holds, who may ask for it, and that a change of a file is graded again."""
import http.client
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import unittest
from html.parser import HTMLParser

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from checks import common  # noqa: E402
from judge import grading, history  # noqa: E402
from judge.web import page, pictures  # noqa: E402
from judge.web.desk import Desk  # noqa: E402
from judge.web.server import Server  # noqa: E402

EVIL = "<script>alert(1)</script>\"'&<img src=x onerror=alert(1)>"
COMPARED = {"what": EVIL, "size": 4, "compared": 4, "columns": 2, "wrong": [[1, 2]],
            "texts": [[0, "1", "1"], [1, "2", EVIL], [2, "3", "3"], [3, "4", "4"]]}
LINE = {"at": EVIL, "text": EVIL, "does": "load", "shared": False, "requests": 1, "found": 32, "least": 4, "allocated": 4096,
        "lanes": [[lane, 128 * lane, 4] for lane in range(32)]}
BANKS = {**LINE, "shared": True, "least": 1}
TRAFFIC = {"kernel": EVIL, "grid": [2, 1, 1], "block": [32, 1, 1], "lines": [LINE, BANKS]}


class FakeGrader:
    """Gives parts of results without a compiler."""
    jobs, student, seed = 1, None, 1
    result = grading.Grader.result

    def __init__(self):
        self.seen = []

    def grade(self, tasks, submission, told, built):
        for task in tasks:
            self.seen.append(task.name)
            told(part_of(task))


def part_of(task, **more):
    tests = [{"name": each.name, "title": each.title, "points": each.points, "max": each.points, "passed": True, "hidden": False, "message": "",
              "hint": "", "seconds": 0.0, "shown": {}} for each in task.tests]
    return {"task": task.name, "title": task.title, "module": task.module, "file": task.file, "points": task.points, "max": task.points,
            "extra": task.extra, "problem": "", "warnings": "", "tests": tests, **more}


class Tags(HTMLParser):
    """The tags and attributes of a page, and whether each is closed."""
    EMPTY = {"meta", "link", "rect", "line", "polyline", "input", "br"}

    def __init__(self, text):
        super().__init__()
        self.tags, self.open, self.ids = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, (tag, self.open)
        self.open.pop()


class WebTest(unittest.TestCase):
    def setUp(self):
        self.root = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.root)
        os.mkdir(os.path.join(self.root, "cuda"))  # as in a student's repository
        self.progress = history.History(self.root)
        self.tasks = common.tasks(names=["0.1", "0.2", "3.7"])
        self.grader = FakeGrader()
        self.desk = Desk(self.grader, self.tasks, self.root, self.progress)


class PageTest(WebTest):
    def show(self, name="0.1", **more):
        self.desk._done(part_of(self.desk.tasks[name], **more)) if name in self.desk.working else self.desk.graded.update(
            {name: part_of(self.desk.tasks[name], **more)})
        return page.whole(self.desk, "nonce")

    def failed(self, **more):
        part = part_of(self.desk.tasks["0.1"])
        part["tests"][0].update({"passed": False, "points": 0, "message": "m", **more})
        return self.show(points=12, tests=part["tests"], warnings=more.get("warnings", ""))

    def test_nothing_of_a_student_is_html(self):
        shown = {"compared": COMPARED, "traffic": TRAFFIC}
        pages = [self.failed(message=EVIL, hint=EVIL, shown=shown, warnings=EVIL), self.show(problem=EVIL)]
        self.desk._fail(EVIL)
        pages.append(page.whole(self.desk, "nonce"))
        for text in pages:
            self.assertIn("&lt;script&gt;alert(1)", text)
            tags = Tags(text)
            self.assertEqual([], tags.open)
            self.assertEqual(1, sum(tag == "script" for tag, _ in tags.tags))
            self.assertFalse([tag for tag in tags.tags if tag[0] == "img" or any(name.startswith("on") or name == "style" for name in tag[1])])
        for text in json.loads(json.dumps(page.state(self.desk, 0)))["parts"].values():
            self.assertNotIn("<script", text)

    def test_it_loads_nothing(self):
        text = self.failed(shown={"compared": COMPARED, "traffic": TRAFFIC})
        for tag, attributes in Tags(text).tags:
            for name in ("src", "href", "data", "srcset"):
                self.assertIn(attributes.get(name, ""), ("", "data:,"), tag)
        self.assertNotRegex(text, r"@import|url\(")

    def test_it_says_what_the_terminal_says(self):
        text = self.failed(message="found 3", hint="look")
        for part in ("found 3", "Hint", "look", "1 of 6 tests fail", "12 of 15", "12 of 50 points", "core/0_tensors/0.1_strides.cpp"):
            self.assertIn(part, text)
        self.assertIn("does not compile", self.show(points=0, problem="error: x"))
        unsolved = part_of(self.desk.tasks["0.1"])
        for each in unsolved["tests"]:
            each.update({"passed": False, "points": 0, "message": "task 0.1 is not implemented yet"})
        self.assertIn("not begun", self.show(points=0, tests=unsolved["tests"]))

    def test_it_can_be_used_without_eyes_and_mouse(self):
        text = self.failed(shown={"compared": COMPARED, "traffic": TRAFFIC})
        tags = Tags(text)
        self.assertEqual(sorted(set(tags.ids)), sorted(tags.ids))
        for tag, attributes in tags.tags:
            if tag == "svg":
                self.assertTrue(attributes.get("aria-hidden") == "true" or (attributes.get("role") == "img" and attributes.get("aria-label")))
            self.assertNotIn("onclick", attributes)
            if attributes.get("tabindex"):
                self.assertEqual("0", attributes["tabindex"])
        self.assertIn('lang="en"', text)
        self.assertTrue(any(tag == "p" and attributes.get("role") == "status" for tag, attributes in tags.tags))

    def test_colours_have_contrast(self):
        style = page._file("style.css")
        for scheme in re.findall(r":root \{(.*?)\}", style, re.S):
            colour = dict(re.findall(r"--([\w-]+): (#\w+)", scheme))
            for front, back, least in [(front, back, 4.5) for front in ("ink", "pale", "link", "good", "bad") for back in ("paper", "ground", "code")] + \
                    [("ink", "right", 4.5), ("ink", "used", 4.5), ("ink", "crowded", 4.5), ("wrong-ink", "wrong", 4.5), ("line", "paper", 3), ("line", "grid", 2.5)]:
                self.assertGreaterEqual(contrast(colour[front], colour[back]), least, f"{front} on {back}: {scheme}")

    def test_only_what_changed_is_sent(self):
        before = self.desk.version
        self.assertEqual({}, page.state(self.desk, before)["parts"])
        self.desk.ask(["0.2"])
        self.assertEqual({"score", "problem", "progress", "task-0.2"}, set(page.state(self.desk, before)["parts"]))
        self.desk.grade_next()
        self.assertIn("solved", page.state(self.desk, before)["parts"]["task-0.2"])


def contrast(one, other):
    """The ratio of WCAG 2."""
    def light(colour):
        parts = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
        red, green, blue = (each / 12.92 if each <= 0.03928 else ((each + 0.055) / 1.055) ** 2.4 for each in parts)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue
    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


class PictureTest(unittest.TestCase):
    def test_elements_that_differ(self):
        self.assertIn("1 of 4 elements differ", pictures.compared(COMPARED))
        large = {"what": "c", "size": 10000, "compared": 5000, "columns": 100, "wrong": [[101, 103], [4000, 4001]], "texts": [[101, "0", "1"]]}
        text = pictures.compared(large)
        self.assertIn("c: 3 of 5000 elements differ", text)
        self.assertEqual(3 + 1, text.count('fill="var(--wrong)"'))  # with the key
        self.assertEqual("", pictures.compared({**large, "size": 1, "compared": 1}))
        for size in (2, 3, 17, 64, 65, 1000, 100003):
            self.assertTrue(pictures.compared({**large, "size": size, "compared": size, "columns": 0, "wrong": [[1, 2]], "texts": []}))

    def test_memory_of_a_warp(self):
        picture, said = pictures.traffic(LINE)
        self.assertEqual("32 threads of the first warp: 32 words of 4 bytes in 32 sectors of 32 bytes", said)
        self.assertIn("and 16 more rows", picture)
        self.assertIn("up to 32 in one bank", pictures.traffic(BANKS)[1])
        alike = {**LINE, "lanes": [[lane, 0, 4] for lane in range(32)]}
        self.assertIn("×32", pictures.traffic(alike)[0])
        self.assertIn("32 threads of the first warp: 1 word of 4 bytes in 1 sector", pictures.traffic(alike)[1])
        self.assertIn("8 words of 4 bytes in 1 sector", pictures.traffic({**LINE, "lanes": [[0, 0, 16], [1, 16, 16]]})[1])
        self.assertIn('fill="var(--wrong)"', pictures.traffic({**LINE, "lanes": [[0, 4096, 4]]})[0])

    def test_progress(self):
        self.assertEqual("", pictures.progress([(1, 5)], 10))
        self.assertIn("5 points at first, 8 of 10 points now, in 3 runs", pictures.progress([(1, 5), (7, 6), (9, 8)], 10))
        self.assertTrue(pictures.progress([(1, 5), (1, 6)], 10))


class ServerTest(WebTest):
    def setUp(self):
        super().setUp()
        self.server = Server(self.desk)
        self.port, self.secret = self.server.server_address[1], self.server.secret
        self.own = f"http://127.0.0.1:{self.port}"
        thread = threading.Thread(target=self.server.serve_forever, args=[0.01], daemon=True)
        thread.start()
        self.addCleanup(lambda: (self.server.shutdown(), self.server.server_close(), thread.join()))

    def ask(self, method="GET", where="", body=None, secret=None, **headers):
        """(status, headers, text) of an answer. A header None is not sent."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        connection.putrequest(method, f"/{self.secret if secret is None else secret}/{where}", skip_host=True, skip_accept_encoding=True)
        headers = {"Host": f"127.0.0.1:{self.port}", **{name.replace("_", "-"): value for name, value in headers.items()}}
        if body is not None:
            headers.setdefault("Content-Length", str(len(body)))
        for name, value in headers.items():
            if value is not None:
                connection.putheader(name, value)
        connection.endheaders(None if body is None else body.encode())
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, answer.headers, text

    def test_the_page_is_given_to_who_knows_the_address(self):
        status, headers, text = self.ask()
        self.assertEqual(200, status)
        self.assertIn("Strides", text)
        nonce = re.search(r"script-src 'nonce-([\w-]+)'", headers["Content-Security-Policy"]).group(1)
        self.assertIn(f'<script nonce="{nonce}">', text)
        self.assertNotIn(nonce, self.ask()[2])
        for name, value in (("Cache-Control", "no-store"), ("X-Frame-Options", "DENY"), ("X-Content-Type-Options", "nosniff")):
            self.assertEqual(value, headers[name])
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIsNone(headers["Access-Control-Allow-Origin"])
        self.assertEqual(200, self.ask(Host=f"localhost:{self.port}")[0])
        self.assertEqual(200, self.ask(Sec_Fetch_Site="same-origin")[0])
        self.assertEqual(200, self.ask(Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")[0])

    def test_it_listens_on_this_machine_alone(self):
        self.assertEqual("127.0.0.1", self.server.server_address[0])
        self.assertGreaterEqual(len(self.secret), 16)
        with Server(self.desk) as other:
            self.assertNotEqual(self.secret, other.secret)

    def test_other_hosts_and_origins_are_refused(self):
        port = self.port
        for where in ("", "state?after=0"):
            for headers in ({"Host": "evil.example"}, {"Host": f"evil.example:{port}"}, {"Host": "127.0.0.1"}, {"Host": f"127.0.0.1:{port + 1}"}, {"Host": None},
                            {"Host": f"127.0.0.1:{port}.evil.example"}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": ""},
                            {"Origin": f"http://127.0.0.1:{port + 1}"}, {"Origin": f"https://127.0.0.1:{port}"}, {"Sec_Fetch_Site": "cross-site"},
                            {"Sec_Fetch_Site": "same-site"}, {"Sec_Fetch_Site": "cross-site", "Sec_Fetch_Mode": "navigate", "Sec_Fetch_Dest": "iframe"}):
                with self.subTest(where=where, **headers):
                    status, _, text = self.ask(where=where, **headers)
                    self.assertEqual(403, status)
                    self.assertNotIn("Strides", text)
        self.assertNotEqual(200, self.ask(where="state?after=0", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate", Sec_Fetch_Dest="document")[0])

    def test_only_the_page_starts_a_grade(self):
        for headers in ({}, {"Origin": "http://evil.example"}, {"Origin": "null"}, {"Origin": self.own, "Host": f"evil.example:{self.port}"},
                        {"Origin": self.own, "Sec_Fetch_Site": "cross-site"}):
            with self.subTest(**headers):
                self.assertEqual(403, self.ask("POST", "grade", "task=0.1", **headers)[0])
        self.assertEqual(404, self.ask("POST", "grade", "task=0.1", secret="x" * 16, Origin=self.own)[0])
        self.assertEqual([], self.desk.waiting)
        self.assertEqual(303, self.ask("POST", "grade", "task=0.2", Origin=self.own)[0])
        self.assertEqual(["0.2"], self.desk.waiting)
        self.assertEqual(303, self.ask("POST", "grade", "task=all", Origin=self.own, Sec_Fetch_Site="same-origin")[0])
        self.assertEqual(["0.1", "0.2", "3.7"], self.desk.waiting)

    def test_nothing_else_is_served(self):
        for where in ("core/0_tensors/0.1_strides.cpp", "../README.md", "%2e%2e/README.md", "style.css", "page.js", "grade", "/", "state/", "progress.json"):
            self.assertEqual(404, self.ask(where=where)[0], where)
        for secret in ("", "x", self.secret[:-1], self.secret + "x", "../" + self.secret, self.secret.swapcase(), "%C3%A9"):
            self.assertNotEqual(200, self.ask(secret=secret)[0], secret)
        for task in ("9.9", "", "../0.1", "0.1 0.2"):
            self.assertEqual(404, self.ask("POST", "grade", f"task={task}", Origin=self.own)[0], task)
        self.assertEqual(404, self.ask("POST", "state", "task=0.1", Origin=self.own)[0])
        self.assertEqual(404, self.ask("POST", "grade", "&".join("a=1" for _ in range(40)), Origin=self.own)[0])
        self.assertEqual(413, self.ask("POST", "grade", "x" * 1000, Origin=self.own)[0])
        self.assertEqual(413, self.ask("POST", "grade", "task=0.1", Origin=self.own, Content_Length="-1")[0])
        self.assertEqual([], self.desk.waiting)
        for method in ("PUT", "DELETE", "OPTIONS", "HEAD"):
            self.assertEqual(501, self.ask(method, Origin=self.own)[0])

    def test_an_answer_waits_for_a_change(self):
        version, answers = self.desk.version, []
        thread = threading.Thread(target=lambda: answers.append(self.ask(where=f"state?after={version}")))
        thread.start()
        self.desk.ask(["0.1"])
        thread.join(20)
        reply = json.loads(answers[0][2])
        self.assertGreater(reply["version"], version)
        self.assertIn("task-0.1", reply["parts"])
        for after in ("x", "-1", "9" * 30, "%D9%A3", "1&after=2&" + "a=1&" * 40):  # what is no number is 0
            self.assertEqual(200, self.ask(where="state?after=" + after)[0])


class DeskTest(WebTest):
    def test_what_was_asked_for_last_comes_first(self):
        self.desk.ask(["0.1", "0.2", "3.7"])
        self.desk.ask(["3.7"])
        for _ in range(3):
            self.desk.grade_next()
        self.assertEqual(["3.7", "0.1", "0.2"], self.grader.seen)
        self.assertEqual([], self.desk.waiting + self.desk.working)
        self.assertEqual({"0.1": 15, "0.2": 15, "3.7": 20}, self.progress.runs[0]["points"] | self.progress.runs[1]["points"] | self.progress.runs[2]["points"])

    def test_a_judge_that_fails_says_so_and_goes_on(self):
        self.desk.ask(["0.1"])
        self.grader.grade = lambda *_: 1 / 0
        self.desk.grade_next()
        self.assertIn("ZeroDivisionError", page.whole(self.desk, "nonce"))
        del self.grader.grade
        self.desk.ask(["0.1"])
        self.desk.grade_next()
        self.assertNotIn("ZeroDivisionError", page.whole(self.desk, "nonce"))
        self.assertIn("0.1", self.desk.graded)

    def test_a_change_is_graded_again(self):
        task = self.desk.tasks["0.1"]
        wrong = common.solution(task).replace("return", "if (sizes.size() == 3) return {};\n  return", 1)
        with common.Submission({task.file: wrong}) as folder:
            desk = Desk(common.grader(), [task], folder, self.progress)
            for work in (lambda: desk.watch(0.05), desk.grade_all_asked):
                threading.Thread(target=work, daemon=True).start()
            desk.ask(["0.1"])
            self.wait(desk, lambda: self.progress.runs and self.progress.runs[-1]["points"]["0.1"] < 15)
            path = os.path.join(folder, "core", task.file)
            with open(path + ".new", "w") as file:
                file.write(common.solution(task))
            os.replace(path + ".new", path)
            self.wait(desk, lambda: self.progress.runs[-1]["points"] == {"0.1": 15})
            os.remove(path)
            self.wait(desk, lambda: self.progress.runs[-1]["points"] == {"0.1": 0})
            self.assertIn("is missing", desk.graded["0.1"]["problem"])

    def wait(self, desk, holds):
        with desk.changed:
            self.assertTrue(desk.changed.wait_for(holds, 120))


if __name__ == "__main__":
    unittest.main()
