"""Tests of the course's texts: each task has one, with all its parts, its picture, and a table of its tests; no link is dead."""
import glob
import math
import os
import re
import subprocess
import sys
import unittest

COURSE = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
sys.path.insert(0, COURSE)
from judge import grading  # noqa: E402

TEXTS = os.path.join(COURSE, "text")
# The part -> what its heading says. Why a task matters stands above all headings or has one; the mathematics have any others.
PARTS = {"what to write": r"\bwrite\b", "pitfalls": r"pitfalls", "what is tested": r"what is tested", "what to read next": r"\bread\b"}
WHY = r"\bwhy\b|matters"


def without_code(text):
    """The text with the blocks of code left empty."""
    return re.sub(r"^( *)```.*?^ *```$", lambda block: "\n" * block[0].count("\n"), text, flags=re.M | re.S)


def sections(text):
    """(heading, what stands below it) of each heading of the second level."""
    return [tuple(part.partition("\n")[::2]) for part in re.split(r"^## ", without_code(text), flags=re.M)[1:]]


def tested(text):
    """[(name, points)] of the table below the heading 'What is tested'."""
    rows = [[cell.strip().strip("`") for cell in line.strip("|").split("|")]
            for heading, below in sections(text) if re.search(PARTS["what is tested"], heading, re.I)
            for line in re.findall(r"^(\|.*\|)\s*$", below, re.M)]
    return [(row[0], row[1]) for row in rows if len(row) > 2 and not re.fullmatch(r":?-+:?", row[0])][1:]


def part_problems(task, text):
    """What a task's text lacks."""
    if text.split("\n")[0] != f"# {task.name} {task.title}":
        yield f"the first line is not '# {task.name} {task.title}'"
    headings = [heading for heading, _ in sections(text)]
    for part, pattern in PARTS.items():
        if not any(re.search(pattern, heading, re.I) for heading in headings):
            yield f"no heading says '{part}': {headings}"
    opening = re.sub(r"!\[.*", "", without_code(text).partition("\n## ")[0].partition("\n")[2]).split()
    if len(opening) < 25 and not any(re.search(WHY, heading, re.I) for heading in headings):
        yield "nothing above the first heading says why the task matters"
    if all(re.search("|".join([WHY, *PARTS.values()]), heading, re.I) for heading in headings):
        yield f"no heading leads to the mathematics: {headings}"
    for before, line in zip(without_code(text).split("\n"), without_code(text).split("\n")[1:]):
        kind = re.match(r"\||[-*] |\d+\. ", line)
        if kind and before.strip() and not re.match(r"\||[-*] |\d+\. | ", before):
            yield f"no empty line stands above the table or list that begins with '{line}'"
    if not re.search(rf"!\[[^\]]+\]\(img/{re.escape(task.name)}[._]\S*svg\)", without_code(text)):
        yield f"no picture ![what it shows](img/{task.name}.svg)"
    for needed in (f"./grade {task.name}", "core/" + task.file):
        if needed not in text:
            yield f"does not say {needed}"
    expected = [(test.name, str(test.points)) for test in task.tests]
    if tested(text) != expected:
        yield f"the table of tests has {tested(text)}, the task {expected}"


def link_problems(path, text, root=TEXTS):
    """Links that lead nowhere in the folder `root`, which is all that a reader has."""
    for target in re.findall(r"\]\(([^)\s]+)\)", without_code(text)):
        to = os.path.normpath(os.path.join(os.path.dirname(path), target.partition("#")[0]))
        if not re.match(r"\w+:|#", target) and not (to.startswith(root + "/") and os.path.exists(to)):
            yield f"the link {target} leads to nothing that a student has"


def read(path):
    with open(path) as file:
        return file.read()


class Texts(unittest.TestCase):
    def setUp(self):
        self.tasks = {task.name: task for task in grading.load_tasks(COURSE)}
        self.pages = {path: read(path) for path in sorted(glob.glob(TEXTS + "/*.md"))}

    def test_each_task_has_a_text_of_its_name(self):
        expected = {os.path.splitext(os.path.basename(task.file))[0] + ".md" for task in self.tasks.values()}
        self.assertEqual(sorted(expected | {"index.md"}), [os.path.basename(path) for path in self.pages])

    def test_each_text_has_all_parts_and_names_the_tests(self):
        for path, text in self.pages.items():
            task = self.tasks.get(os.path.basename(path).partition("_")[0])
            for problem in part_problems(task, text) if task else ():
                with self.subTest(os.path.basename(path)):
                    self.fail(problem)

    def test_links_lead_to_what_a_student_has(self):
        for path, text in self.pages.items():
            with self.subTest(os.path.basename(path)):
                self.assertEqual([], list(link_problems(path, text)))
        readme = os.path.join(COURSE, "README.md")  # where the student's README stands in the handout
        self.assertEqual([], list(link_problems(readme, read(os.path.join(COURSE, "staff", "student", "README.md")), COURSE)))

    def test_each_picture_is_shown(self):
        shown = set(re.findall(r"\]\((?:text/)?img/(\S+?)\)", "".join(self.pages.values()) + read(os.path.join(COURSE, "README.md"))))
        self.assertEqual([], sorted(set(os.listdir(TEXTS + "/img")) - shown))

    def test_pages_have_the_figures_of_the_tasks(self):
        points, extra = (sum(task.points for task in self.tasks.values() if task.extra is kind) for kind in (False, True))
        functions = sum(len(task.exports) for task in self.tasks.values())
        of_module = {}
        for task in self.tasks.values():
            of_module[task.module] = of_module.get(task.module, 0) + task.points
        student = read(os.path.join(COURSE, "staff", "student", "README.md"))
        self.assertIn(f"{points} points, and {extra} extra", student)
        rows = re.findall(r"^\| (\d) \| .* \| (\d+)(?: and (\d+) extra)? \|$", student, re.M)
        self.assertEqual(of_module, {int(module): int(usual) + int(more or 0) for module, usual, more in rows})
        self.assertIn(f"You write {functions} functions", self.pages[os.path.join(TEXTS, "index.md")])
        said = f"Extra are {of_module[4] - 100} points in task 4.5, {of_module[5] - 100} in tasks 5.6 and 5.7, {of_module[6]} in module 6, {of_module[7]} in module 7, and {of_module[8]} in module 8."
        self.assertIn(said, self.pages[os.path.join(TEXTS, "index.md")])
        self.assertIn(f"{points} points. {said}", read(os.path.join(COURSE, "staff", "README.md")))

    def test_the_example_of_attention_has_the_numbers_of_its_formulas(self):
        (page,) = (text for path, text in self.pages.items() if os.path.basename(path).startswith("7.3_"))
        example = " ".join(re.search(r"^### Example\n(.*?)^#", page, re.M | re.S)[1].split())
        given = re.search(r"d = 1, k = (\S+) (\S+), q = \S+ (\S+), v = (\S+) (\S+), dout\[1\] = (\S+)\. ", example)
        *k, q, v, w, dout = map(float, given.groups())
        scores, slopes = [q * each for each in k], [dout * v, dout * w]
        terms = [math.exp(each) for each in scores]
        weights = [round(each / sum(terms), 2) for each in terms]
        mean = sum(map(float.__mul__, weights, slopes))
        first, second = (weight * (slope - mean) for weight, slope in zip(weights, slopes))
        for said in (f"row 1 are {scores[0]:g} and {scores[1]:g}: they differ by {scores[1] - scores[0]:.2f}", f"the weights are {weights[0]:g} and {weights[1]:g}. ",
                     f"slope = {slopes[0]:g} {slopes[1]:g}, mean = ", f" = {mean:g}, dscore = ", f" = {first:g} and ", f" = {second:g}. dq[1] = ",
                     f" = {first * k[0] + second * k[1]:g}; dk = {first:g} * {q:g}, {second:g} * {q:g}."):
            self.assertIn(said, example)

    def test_pictures_and_the_table_of_tasks_are_up_to_date(self):
        script = os.path.join(os.path.dirname(COURSE), "docs", "make", "course.py")
        done = subprocess.run([sys.executable, "-B", script, "--check"], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.assertEqual(0, done.returncode, done.stdout)


GOOD = """# 0.1 Strides
## Why strides
![cells](img/0.1.svg)

- one
- two
## The mathematics
## What to write
`core/{file}`
## Pitfalls
## What is tested

| test | points | what it checks |
|---|---|---|
{rows}
Run `./grade 0.1`.
## Read on
"""


class BrokenTexts(unittest.TestCase):
    def setUp(self):
        self.task = next(task for task in grading.load_tasks(COURSE) if task.name == "0.1")
        self.task.title = "Strides"
        self.rows = [f"| `{test.name}` | {test.points} | it |" for test in self.task.tests]
        self.good = GOOD.format(file=self.task.file, rows="\n".join(self.rows))

    def test_a_whole_text(self):
        self.assertEqual([], list(part_problems(self.task, self.good)))

    def test_each_missing_part_is_found(self):
        points = self.rows[1].replace(f"| {self.task.tests[1].points} |", "| 9 |")
        for old, new in (("# 0.1 S", "# S"), ("## Why strides", "## Strides"), ("## The mathematics", "the rule"), ("## Pitfalls", "Pitfalls"),
                         ("## What to write", "```\n## What to write\n```"), ("## Read on", "## End"), ("![cells]", "![]"),
                         ("img/0.1.svg", "img/0.2.svg"), ("core/", ""), ("./grade 0.1", "./grade"), (self.rows[0] + "\n", ""),
                         ("- one", "Two:\n- one"),
                         (self.rows[1], points), (self.rows[0], self.rows[0].replace("`", "`x")),
                         (self.rows[0], "\n".join(self.rows[:1] * 2))):
            with self.subTest(new):
                self.assertEqual(1, len(list(part_problems(self.task, self.good.replace(old, new)))))

    def test_dead_links_are_found(self):
        page = os.path.join(TEXTS, "0.1_strides.md")
        self.assertEqual([], list(link_problems(page, "[a](index.md#tasks) [b](https://pytorch.org) ![c](img/index.svg) [d](#why)")))
        for target in ("none.md", "../README.md", "../core/types.h", "img/none.svg"):
            self.assertEqual(1, len(list(link_problems(page, f"[a]({target})"))), target)


if __name__ == "__main__":
    unittest.main()
