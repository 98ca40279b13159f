"""The page of ./grade --web: HTML of what the desk knows. What a student's program printed is text, never HTML: all goes through _text."""
import html
import os

from .. import report
from . import pictures

_FOLDER = os.path.dirname(os.path.realpath(__file__))
FEW = 3  # tasks: with no more, those that lose points are open from the start


def _text(value):
    return html.escape(str(value))


def _file(name):
    with open(os.path.join(_FOLDER, name), encoding="utf-8") as file:
        return file.read()


def whole(desk, nonce):
    """The page. It holds its own style and script, and works without the script, too."""
    with desk.changed:
        parts = _parts(desk, 0)
        modules = {}
        for task in desk.tasks.values():
            modules.setdefault(task.module, []).append(parts[f"task-{task.name}"])
        sections = "".join(f'<section aria-labelledby="module-{number}"><h2 id="module-{number}">Module {number}</h2>{"".join(tasks)}</section>'
                           for number, tasks in modules.items())
        return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
                f'<meta name="color-scheme" content="light dark"><link rel="icon" href="data:,"><title>Gradus, step by step</title>'
                f'<style nonce="{nonce}">{_file("style.css")}</style></head>\n'
                f'<body data-version="{desk.version}"><header><h1>Gradus, step by step</h1>{parts["score"]}'
                f'<p id="status" role="status">{_text(status(desk))}</p>{_button("all", "Grade all again")}</header>\n'
                f'<main>{parts["problem"]}{parts["progress"]}{sections}</main>\n'
                f'<script nonce="{nonce}">{_file("page.js")}</script></body></html>\n')


def state(desk, after):
    """What has changed since version `after`: {"version", "status", "parts": {id: HTML}}."""
    with desk.changed:
        return {"version": desk.version, "status": status(desk), "parts": _parts(desk, after) if desk.version > after else {}}


def status(desk):
    """What the desk does now, as a sentence."""
    if desk.building:
        return desk.building
    if desk.working:
        return f"Grading {', '.join(desk.working)}" + (f"; {len(desk.waiting)} more wait." if desk.waiting else ".")
    return "All is graded. A task is graded again when its file changes." if not (desk.waiting or desk.busy) else "Grading goes on."


def _parts(desk, after):
    """id -> HTML of the parts of the page that changed since version `after`."""
    result = desk.result()
    most, points = result["max"] + result["extra_max"], result["score"] + result["extra"]
    student = f"student {result['student']}, " if result["student"] else ""
    line = pictures.progress(desk.progress.totals(desk.tasks), most)
    parts = {
        "score": f'<p id="score"><strong>{_text(report.score(result).replace("score ", "", 1))} points</strong>{_bar(points, most)}'
                 f'<span class="pale">{_text(student)}seed {result["seed"]}</span></p>',
        "problem": f'<div id="problem">{_pre(desk.problem, "problem") if desk.problem else ""}</div>',
        "progress": f'<figure id="progress">{_scrolled(line, "progress") + "<figcaption>Points over time</figcaption>" if line else ""}</figure>'}
    parts.update({f"task-{name}": _task(desk, task) for name, task in desk.tasks.items() if desk.versions[name] > after})
    return parts


# --- A task
def _task(desk, task):
    name, graded = task.name, desk.graded.get(task.name)
    busy = name in desk.working or name in desk.waiting
    points = graded["points"] if graded else 0
    full = graded and points == task.points
    solved = "solved" if full else "being graded" if busy and not graded else "not graded" if not graded else _why(graded)
    opened = " open" if name == desk.asked or (len(desk.tasks) <= FEW and graded and not full) else ""
    mark = "✓" if full else "…" if not graded else "✗" if points or solved != "not begun" else "○"
    kind = "full" if full else "none" if not graded or solved == "not begun" else "lost"
    return (f'<details class="task {kind}" id="task-{name}"{opened}><summary id="summary-{name}"><span class="mark" aria-hidden="true">{mark}</span>'
            f'<span class="number">{name}</span><span class="title">{_text(task.title)}</span><span class="why">{solved}{", again …" if busy and graded else ""}</span>'
            f'{_bar(points, task.points)}<span class="points">{points} of {task.points}{" extra" if task.extra else ""}</span></summary>'
            f'<div class="body"><div class="tools"><code>core/{_text(task.file)}</code>{_button(name, f"Grade {name} again")}</div>'
            f'{"".join(_explained(graded)) if graded else "<p>It waits to be graded.</p>"}</div></details>')


def _why(graded):
    """In two words, why a task has not all its points."""
    kinds = {kind for kind, _, _ in report.explained(graded, True)}
    lost = sum(not each["passed"] for each in graded["tests"])
    return "does not compile" if "problem" in kinds else "not begun" if "unsolved" in kinds else f"{lost} of {len(graded['tests'])} tests fail"


def _explained(graded):
    """What the terminal says of the task, and pictures."""
    tests = []
    first = next((each for each in graded["tests"] if not each["passed"]), None)
    for kind, text, test in report.explained(graded, True):
        if kind == "test":
            tests.append(_test(graded["task"], len(tests), text, test, test is first))
        elif kind == "warnings":
            yield f'<h3>The compiler warns</h3>{_pre(text, "problem")}'
        else:
            yield _pre(text, "problem") if kind == "problem" else f"<p>{_text(text)}</p>"
    if tests:
        yield f'<ol class="tests">{"".join(tests)}</ol>'


def _test(task, number, message, test, opened):
    """opened: whether its memory traffic is open from the start."""
    passed, shown = test["passed"], test["shown"]
    parts = [f'<p class="test"><span class="mark" aria-hidden="true">{"✓" if passed else "✗"}</span> <span class="word">{"ok" if passed else "failed"}</span> '
             f'<strong>{_text(test["name"])}</strong>: {_text(test["title"])} <span class="points">{test["points"]} of {test["max"]}</span></p>']
    if message:
        parts.append(_pre(message, "message"))
    picture = pictures.compared(shown["compared"]) if "compared" in shown and message != "as above" else ""
    if picture:
        parts.append(f'<figure>{_scrolled(picture, "what differs in " + test["name"])}</figure>')
    if test["hint"] and not passed:
        parts.append(f'<p class="hint"><b>Hint</b> {_text(test["hint"])}</p>')
    if "traffic" in shown:
        parts.append(_traffic(f"traffic-{task}-{number}", shown["traffic"], opened))
    return f'<li class="{"ok" if passed else "failed"}">{"".join(parts)}</li>'


def _traffic(name, of, opened):
    """What the lines of a kernel ask of memory: those that move more than they need come first."""
    lines = sorted(of["lines"], key=lambda line: line["least"] - line["found"])
    if not lines:
        return ""
    shape = " x ".join(map(str, of["grid"])) + " blocks of " + " x ".join(map(str, of["block"])) + " threads"
    return (f'<details class="traffic" id="{name}"{" open" if opened else ""}><summary id="{name}-summary">Memory traffic of {_text(of["kernel"])}: {shape}</summary>'
            f'<p class="pale">{_legend(of)}</p>{"".join(map(_line, lines))}</details>')


def _line(line):
    """What one line of a kernel asks of memory."""
    picture, said = pictures.traffic(line)
    verb = {"load": "loads from", "store": "stores to", "atomic": "atomic operations on"}[line["does"]]
    text = f"{verb} {'shared' if line['shared'] else 'global'} memory"
    more = line["found"] > line["least"]
    if line["does"] != "atomic":
        text += f": {line['requests']} requests take {line['found']} {'wavefronts' if line['shared'] else 'sectors'}"
        text += f" where {line['least']} would do" if more else ""
    source = f'<code>{_text(line["text"])}</code>' if line["text"] else ""
    return (f'<figure class="line{" excess" if more else ""}"><figcaption><b>{_text(line["at"])}</b> {text}{source}</figcaption>'
            f'{_scrolled(picture, "memory of " + line["at"])}<p class="pale">{said}</p></figure>')


def _legend(of):
    shared, everywhere = any(line["shared"] for line in of["lines"]), any(not line["shared"] for line in of["lines"])
    text = "The first request of the first warp. A number is a thread of the warp; ×2 means two threads. A row is 128 bytes: "
    if everywhere:
        text += ('four sectors of global memory (<span class="key used"></span> accessed, <span class="key moved"></span> moved with it)'
                 + (", or " if shared else ""))
    if shared:
        text += 'the 32 banks of shared memory (<span class="key crowded"></span> the banks that make the warp wait)'
    return text + "."


# --- Small parts
def _pre(text, kind):
    return f'<pre class="{kind}" tabindex="0" role="region" aria-label="{"what is wrong" if kind == "problem" else "message"}">{_text(text)}</pre>'


def _scrolled(picture, label):
    """A picture that a narrow window scrolls, by the keyboard, too."""
    return f'<div class="scrolled" tabindex="0" role="region" aria-label="{_text(label)}">{picture}</div>'


def _bar(points, most):
    """How much of the points is there; the number stands beside it."""
    return (f'<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="8" fill="var(--grid)"/>'
            f'<rect width="{100 * points / most if most else 0:.1f}" height="8" fill="var(--line)"/></svg>')


def _button(task, text):
    return f'<form method="post" action="grade"><button id="button-{task}" name="task" value="{task}">{_text(text)}</button></form>'
