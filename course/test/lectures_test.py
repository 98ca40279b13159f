"""Tests of what a term takes beside the tasks: lecture outlines made from the texts, written questions, and the final project."""
import html
import os
import re
import subprocess
import sys
import unittest
from unittest import mock

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
MAKE = os.path.join(os.path.dirname(COURSE), "docs", "make")
sys.path[:0] = [MAKE, COURSE]
import lectures  # noqa: E402
from judge import grading  # noqa: E402


class Lectures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.tasks = grading.load_tasks(COURSE)

    def of(self, module):
        return lectures.outline(module, [task for task in self.tasks if task.module == module])

    def test_they_are_up_to_date(self):
        done = subprocess.run([sys.executable, "-B", os.path.join(MAKE, "lectures.py"), "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, done.returncode, done.stdout)

    def test_each_task_has_all_parts(self):
        for task in self.tasks:
            with self.subTest(task.name):
                text = lectures.Text(task)
                self.assertTrue(text.why and text.formulas)
                self.assertTrue(os.path.exists(os.path.join(COURSE, "text", text.picture[1])))
                self.assertGreaterEqual(len(text.pitfalls), 3)
                self.assertEqual([(test.name, str(test.points)) for test in task.tests], [(name.strip("`"), points) for name, points, _ in text.rows])
                self.assertTrue(lectures.slips(task.name) or text.example)
                slides = lectures.slides_of(task)
                self.assertEqual(slides.count("<section>"), 2)
                self.assertNotRegex(re.sub(r"<(pre|code)>.*?</\1>", "", slides, flags=re.S), r"\*\*|\]\(|```|^#")

    def test_a_change_of_a_text_changes_its_lecture(self):
        read, before = lectures.read, self.of(5)
        for old, new in (("**Receive before send.**", "**Wait first.**"), ("| alone | 2 |", "| alone | 3 |"), ("called *ranks*", "called *workers*"),
                         ("img/5.2.svg", "img/5.3.svg")):
            changed = read("text", "5.2_ring.md").replace(old, new)
            with mock.patch.object(lectures, "read", lambda *path, to=changed: to if path[-1] == "5.2_ring.md" else read(*path)):
                self.assertNotEqual(before, self.of(5), old)
        with mock.patch.object(lectures, "read", lambda *path: read(*path).replace("A ring, or one in the middle", "Rings")):
            self.assertIn("<b>Rings</b>", self.of(5))

    def test_markdown_becomes_html(self):
        self.assertEqual("a <code>x &lt; *y*</code> <b>b</b> <em>c</em> d &amp; e", lectures.inline("a `x < *y*` **b**\n*c* [d](d.md) & e"))
        self.assertEqual("<b>No <code>zero</code>.</b> 2 * b * c", lectures.inline("**No `zero`.** 2 * b * c"))
        self.assertEqual("One. Two?", lectures.sentences("One. Two?\nThree.", 2))
        self.assertEqual("a\n  b", lectures.lines("    a\n      b\n"))
        self.assertEqual("<table><tr><td>a</td><td>b</td></tr><tr><td>1</td><td>2</td></tr></table>", lectures.plain("| a | b |\n|---|---|\n| 1 | 2 |"))


class Questions(unittest.TestCase):
    def test_each_module_has_three_or_four_with_a_rubric(self):
        parts = lectures.sections(lectures.read("staff", "questions.md"))[1:]
        self.assertEqual([f"{module} {title}" for module, title in enumerate(lectures.MODULES)], [heading for heading, _ in parts])
        for heading, below in parts:
            asked = lectures.sections(below, "###")[1:]
            self.assertIn(len(asked), (3, 4), heading)
            for title, content in asked:
                with self.subTest(title):
                    points = int(re.fullmatch(r".+ \((\d+) points\)", title)[1])
                    rows = re.findall(r"^\| (\w+) \| (\d+) \| (.{10,}) \|$", content, re.M)
                    self.assertEqual([("full", points), ("half", points // 2), ("none", 0)], [(name, int(worth)) for name, worth, _ in rows])
                    self.assertEqual(0, points % 2)

    def test_outlines_end_with_them(self):
        for module in range(len(lectures.MODULES)):
            found = lectures.questions(module)
            with open(os.path.join(lectures.FOLDER, f"{module}.html")) as file:
                page = file.read()
            for title, points, text in found:
                self.assertIn(f"<b>{html.escape(title, quote=False)}</b> ({points} points)", page)


class Project(unittest.TestCase):
    def test_points_add_up_and_topics_name_tasks(self):
        text, names = lectures.read("staff", "project.md"), {task.name for task in grading.load_tasks(COURSE)}
        parts = dict(lectures.sections(text))
        milestones = re.findall(r"^\| \d \| .+ \| (\d+) \|$", parts["Milestones"], re.M)
        criteria = re.findall(r"^\| [A-Z][\w ]+ \| (\d+) \| .+ \| .+ \| .+ \|$", parts["What is graded"], re.M)
        self.assertEqual((100, 100), (sum(map(int, milestones)), sum(map(int, criteria))))
        topics = re.findall(r"^\| (?!topic|-)[^|]+ \| ([\d., ]+) \| ", parts["Topics"], re.M)
        self.assertGreaterEqual(len(topics), 6)
        self.assertEqual([], [name for each in topics for name in each.split(", ") if name not in names])


if __name__ == "__main__":
    unittest.main()
