#!/usr/bin/env python3
"""Makes a lecture outline for each module, course/staff/lectures/MODULE.html, from the course's texts, the declarations of tests, the wrong
solutions, and the written questions. A browser shows it as slides that scroll, and prints two slides a task.

    docs/make/lectures.py            writes them
    docs/make/lectures.py --check    says whether they are up to date
"""
import glob
import html
import os
import re
import sys

sys.dont_write_bytecode = True
from course import COURSE, MODULES, ROOT  # noqa: E402  (which adds the course to the path)
from judge import grading  # noqa: E402

FOLDER = os.path.join(COURSE, "staff", "lectures")
# Headings that are no mathematics: those that test/text_test.py knows.
OTHERS = r"\bwrite\b|pitfalls|what is tested|\bread\b|\bwhy this\b|train with it|the race"
CODE = re.compile(r"^```[^\n]*\n(.*?)^```$|((?:^    [^\n]*\n(?:\n(?=    ))?)+)", re.M | re.S)


def read(*path):
    with open(os.path.join(COURSE, *path)) as file:
        return file.read()


def inline(text):
    """A line of Markdown as HTML; a link to another text shows its words alone."""
    parts = re.split(r"(`[^`]+`)", re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", " ".join(text.split())))
    codes = [f"<code>{html.escape(each.strip('`'), quote=False)}</code>" for each in parts[1::2]]
    words = html.escape("\0".join(parts[::2]), quote=False)
    words = re.sub(r"\*(?=\S)([^*]+)(?<=\S)\*", r"<em>\1</em>", re.sub(r"\*\*(.+?)\*\*", r"<b>\1</b>", words))
    return re.sub("\0", lambda _: codes.pop(0), words)


def sentences(text, count):
    """The first sentences of a paragraph."""
    return " ".join(re.split(r"(?<=[.?!:])\s+(?=[A-Z*`(])", " ".join(text.split()))[:count])


def paragraphs(text):
    """Those that are no picture, list, table or code."""
    return [each for each in re.split(r"\n\s*\n", CODE.sub("\n", text)) if each.strip() and not re.match(r"\s*(!\[|[-*] |\||#|\d+\. )", each)]


def sections(text, marks="##"):
    """[(heading, what stands below it)]; the first heading is "" where something stands above all headings."""
    parts = re.split(rf"^{marks} (.*)\n", text, flags=re.M)
    return [("", parts[0]), *zip(parts[1::2], parts[2::2])]


def bullets(text):
    """The points of a list that begin with a word in bold."""
    return re.findall(r"^[-*] (\*\*.+(?:\n  .*)*)", text, re.M)


class Text:
    """What a lecture takes from the text of a task."""

    def __init__(self, task):
        self.task, text = task, read("text", os.path.splitext(os.path.basename(task.file))[0] + ".md")
        parts = sections(text)
        self.why = [sentences(each, 4) for each in paragraphs(parts[0][1])[:2]]
        self.picture = re.search(r"!\[([^\]]+)\]\((img/[^)]+)\)", text).groups()
        named = {part: "".join(below for heading, below in parts if re.search(part, heading, re.I)) for part in ("pitfalls", "what is tested")}
        self.pitfalls = bullets(named["pitfalls"])
        self.rows = re.findall(r"^\| (?!test \|)([^|]+) \| (\d+) \| (.+) \|$", named["what is tested"], re.M)
        self.formulas, self.example = [], ""
        for heading, below in parts[1:]:
            if re.search(OTHERS, heading, re.I):
                continue
            for part, content in sections(below, "###"):
                if re.search("example", part, re.I):
                    self.example = content.strip("\n")
                    continue
                blocks = [fenced or indented for fenced, indented in CODE.findall(content)]
                said = paragraphs(content)[:1 if blocks else 4]  # without a formula it is a rule in words
                shown = [f"<p>{inline(sentences(each, 2))}</p>" for each in said] + [f"<pre>{html.escape(lines(each))}</pre>" for each in blocks[:3]]
                self.formulas += [(part or heading, "\n".join(shown))] if shown else []


def lines(block):
    """A block of code without the spaces before all its lines."""
    rows = block.rstrip().split("\n")
    least = min((len(row) - len(row.lstrip()) for row in rows if row.strip()), default=0)
    return "\n".join(row[least:] for row in rows)


def markdown(text):
    """Paragraphs, tables and code of an example."""
    out, at = [], 0
    for block in CODE.finditer(text + "\n"):
        out += [plain(text[at:block.start()]), f"<pre>{html.escape(lines(block[1] or block[2]))}</pre>"]
        at = block.end()
    return "\n".join(each for each in [*out, plain(text[at:])] if each)


def plain(text):
    parts = []
    for each in re.split(r"\n\s*\n", text.strip()):
        if each.startswith("|"):
            rows = [row.strip("| ").split("|") for row in each.split("\n") if not re.match(r"\|[-:| ]+\|$", row)]
            parts.append("<table>" + "".join("<tr>" + "".join(f"<td>{inline(cell)}</td>" for cell in row) + "</tr>" for row in rows) + "</table>")
        elif each:
            parts.append(f"<p>{inline(each)}</p>")
    return "\n".join(parts)


def slips(name, most=3):
    """[(test, what was done)]: mistakes that lose the points of one test and of no other."""
    found = {}
    for path in sorted(glob.glob(os.path.join(COURSE, "wrong", name, "*.patch"))):
        said = re.match(r"// LOSES: ([^,\n]+)\n// (.+)\n", read(path))
        if said:
            found.setdefault(*said.groups())
    return list(found.items())[:most]


def slides_of(task):
    text = Text(task)
    formulas = "\n".join(f"<h2>{inline(heading)}</h2>\n{shown}" for heading, shown in text.formulas[:4])
    why = "\n".join(f"<p>{inline(each)}</p>" for each in text.why)
    alt, picture = text.picture
    pitfalls = "\n".join(f"<li>{inline(sentences(each, 2))}</li>" for each in text.pitfalls)
    rows = "\n".join(f"<tr><td>{inline(name)}</td><td>{points}</td><td>{inline(checks)}</td></tr>" for name, points, checks in text.rows)
    ask = [f"<li><details><summary>All tests of {task.name} pass but <em>{inline(test)}</em>. What may the program do?</summary>"
           f"<p>{inline(done)}</p></details></li>" for test, done in slips(task.name)]
    if text.example:
        ask.insert(0, f"<li><details><summary>The example of the text, step by step on the board.</summary>\n{markdown(text.example)}\n</details></li>")
    asked = "\n".join(ask)
    title = f"<h1>{task.name} {inline(task.title)}</h1>"
    return f"""<section>
{title}
<div class="halves"><div>
<h2>Why</h2>
{why}
<img src="../../text/{picture}" alt="{html.escape(alt)}">
</div><div>
{formulas}
</div></div>
</section>
<section>
{title}
<div class="halves"><div>
<h2>Pitfalls</h2>
<ul>
{pitfalls}
</ul>
</div><div>
<h2>What is tested</h2>
<table>
{rows}
</table>
<h2>Questions to ask</h2>
<ul>
{asked}
</ul>
</div></div>
</section>"""


def questions(module):
    """[(title, points, question)] of a module in staff/questions.md."""
    below = dict(sections(read("staff", "questions.md"))).get(f"{module} {MODULES[module]}", "")
    return [(*re.match(r"(.*) \((\d+) points\)$", heading).groups(), paragraphs(content)[0]) for heading, content in sections(below, "###")[1:]]


def outline(module, tasks):
    readme = read("staff", "README.md")
    hours = re.search(rf"^\| {module}(?: \(extra\))? \| (.+) \| ([\d.]+) \|$", readme, re.M)
    rows = "\n".join(f"<tr><td>{task.name}</td><td>{inline(task.title)}</td><td>{task.points}{' extra' if task.extra else ''}</td>"
                     f"<td>{len(task.tests)}</td></tr>" for task in tasks)
    last = "\n".join(f"<li><b>{inline(title)}</b> ({points} points). {inline(text)}</li>" for title, points, text in questions(module))
    slides = "\n".join(slides_of(task) for task in tasks)
    return f"""<!DOCTYPE html>
<!-- The lecture outline of module {module}, made by docs/make/lectures.py from the course's texts. -->
<html lang="en">
<head><meta charset="utf-8"><title>{module} {MODULES[module]}</title><link rel="stylesheet" href="style.css"></head>
<body>
<section>
<h1>{module} {MODULES[module]}</h1>
<table>
<tr><th>task</th><th></th><th>points</th><th>tests</th></tr>
{rows}
</table>
<p>A student needs about {hours[2]} hours for these tasks.</p>
</section>
{slides}
<section>
<h1>Written questions</h1>
<ul>
{last}
</ul>
</section>
</body>
</html>
"""


def main():
    tasks = grading.load_tasks(COURSE)
    made = {os.path.join(FOLDER, f"{module}.html"): outline(module, [task for task in tasks if task.module == module]) for module in range(len(MODULES))}
    stale = [path for path in glob.glob(FOLDER + "/*.html") if path not in made]
    stale += [path for path, text in made.items() if not os.path.exists(path) or open(path).read() != text]
    for path in stale:
        if "--check" in sys.argv:
            print(f"{os.path.relpath(path, ROOT)} is out of date; run docs/make/lectures.py")
        elif path in made:
            os.makedirs(FOLDER, exist_ok=True)
            with open(path, "w") as file:
                file.write(made[path])
        else:
            os.remove(path)
    return 1 if stale and "--check" in sys.argv else 0


if __name__ == "__main__":
    sys.exit(main())
