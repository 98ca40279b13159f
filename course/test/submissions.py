"""Submissions of a class of twenty for the test of ./alike: ten that share nothing, and ten that were copied from some of them."""
import functools
import os
import random
import re

from checks import common, wrong

HERE = os.path.join(os.path.dirname(os.path.realpath(__file__)), "authors")
TASKS = ("0.3", "1.4", "2.3", "5.6")
MISTAKES = {"0.3": "left_aligned", "1.4": "column_of_b", "2.3": "null_visited", "5.6": "sums_in_place"}  # of course/wrong, one of each task
ALONE = 10  # author 0 hands in the course's solutions, the others what stands in authors/
KEPT = set("""alignas auto bool break case catch char class const const_cast constexpr continue decltype default delete do double else enum false float for if int long namespace new
nullptr operator private public return short signed sizeof static static_cast struct switch template this throw true try catch typedef typename union unsigned using
virtual void volatile while std course cpu include define first second size_t ptrdiff_t""".split())


@functools.lru_cache(None)
def tasks():
    return {task.name: task for task in common.tasks(names=TASKS)}


def authors():
    """[file -> text] of those who worked alone."""
    out = [{task.file: common.solution(task) for task in tasks().values()}]
    for number in range(1, ALONE):
        out.append({task.file: written(task, number) for task in tasks().values()})
    return out


def written(task, number):
    """What an author wrote, in the file that was handed out."""
    name = os.path.splitext(os.path.basename(task.file))[0]
    with open(os.path.join(HERE, name + ".txt")) as file:
        part = re.split(r"^==== (\d+)\n", file.read(), flags=re.M)
    mine = part[part.index(str(number)) + 1]
    includes = "".join(re.findall(r"^#include.*\n", mine, re.M))
    body = re.sub(r"^#include.*\n", "", mine, flags=re.M)
    header = re.search(r'#include "core/\w+\.h"\n', common.solution(task))[0]
    space = "course::cpu" if "namespace course::cpu {" in common.solution(task) else "course"
    return f"// Task {task.name}.\n{includes}\n{header}\nnamespace {space} {{\n\n{body}\n}}  // namespace {space}\n"


# --- What those who copy do to hide it


def given_names(text):
    """Names that a copy cannot change: the course's types and functions, and those of the language and of its library."""
    headers = " ".join(uncommented(common.read("core", name)) for name in sorted(os.listdir(os.path.join(common.HOME, "core"))) if name.endswith(".h"))
    library = re.findall(r"(?:::|\.|->)(\w+)", text)
    return KEPT | set(re.findall(r"\b[A-Z]\w*|\w+(?=\()", headers)) | set(library)


def renamed(text, draw):
    """Other names for all variables, functions and types of its own."""
    kept, lines = given_names(text), text.split("\n")
    names = sorted(set(re.findall(r"\b[A-Za-z_]\w*\b", uncommented("\n".join(line for line in lines if not line.startswith("#include"))))) - kept)
    fresh = dict(zip(names, draw.sample([f"{a}{b}" for a in ("my", "the", "tmp", "cur", "val", "ix") for b in ("A", "B", "One", "Two", "Node", "Len", "Pos", "X", "Y")], len(names))))
    return "\n".join(line if line.startswith("#include") else re.sub(r"\b[A-Za-z_]\w*\b", lambda name: fresh.get(name[0], name[0]), line) for line in lines)


def uncommented(text):
    return re.sub(r"//.*", "", text)


def commented(text, draw):
    """Comments of its own in place of those that were there."""
    out = []
    for line in uncommented(text).split("\n"):
        if line.rstrip().endswith("{") and draw.random() < 0.4:
            out.append(f"  // {draw.choice(('now the loop', 'check this', 'sizes', 'go on'))} {draw.randint(1, 99)}")
        out.append(line)
    return "\n".join(out)


def reordered(text, draw):
    """The functions of the file in another order, where none of them calls another one of the file."""
    head, opening, rest = re.split(r"^(namespace course[\w:]* \{\n)", text, maxsplit=1, flags=re.M)
    body, closing, end = rest.rpartition("\n}")
    body += "\n"
    parts = re.findall(r"^\S.*?^\}.*?\n", body, re.M | re.S)
    void = [part for part in parts if part.startswith("void ")]
    helpers = [part for part in parts if part not in void]
    return head + opening + "\n" + "\n".join(helpers + void[::-1]) + closing + end


def respelled(text, draw):
    """Small changes that mean the same."""
    text = re.sub(r"\+\+(\w+)\)", r"\1++)", text)
    text = re.sub(r"(?<![\w*.>\]])(\w+) \+= ([^;,()]+);", r"\1 = \1 + \2;", text, count=1)
    return re.sub(r"\{\n", "\n{\n", text)


def padded(text, draw):
    """Lines that do nothing."""
    return re.sub(r"^(  return .*)$", lambda line: f"  int unused{draw.randint(1, 9)} = 0;\n{line[1]}", text, count=2, flags=re.M)


def mistaken(name, patch):
    """Author 0's solution with one of the mistakes of course/wrong."""
    task = tasks()[name]
    return wrong.changed(common.solution(task), common.read("wrong", name, patch + ".patch"))


def made():
    """(submission -> file -> text, pairs that share work). Students 0 to 9 worked alone, 10 to 19 copied."""
    draw, own, of = random.Random(20), authors(), {name: task.file for name, task in tasks().items()}

    def copy(number, *ways):
        return {file: _through(text, ways, draw) for file, text in own[number].items()}

    everything = (renamed, commented, reordered, respelled, padded)
    copies = [
        copy(1, renamed), copy(2, commented, reordered), copy(3, renamed, commented, respelled), copy(4, *everything), copy(4, renamed, reordered),
        # The course's solutions with a mistake in each, and other names.
        {of[name]: renamed(mistaken(name, patch), draw) for name, patch in MISTAKES.items()},
        # Two tasks of one student and two of another.
        {of[name]: renamed(own[6 if name in ("0.3", "5.6") else 7][of[name]], draw) for name in TASKS},
        copy(8, *everything),
        # One task was copied, the other ones of author 9 were not handed in.
        {of["5.6"]: renamed(own[9][of["5.6"]], draw)},
        copy(5, commented, respelled),
    ]
    sources = [(1,), (2,), (3,), (4,), (4,), (0,), (6, 7), (8,), (9,), (5,)]
    pairs = {(source, ALONE + i) for i, each in enumerate(sources) for source in each}
    pairs |= {(ALONE + i, ALONE + j) for i in range(len(sources)) for j in range(i) if set(sources[i]) & set(sources[j])}
    return {f"s{i:02}": texts for i, texts in enumerate(own + copies)}, {tuple(f"s{i:02}" for i in sorted(pair)) for pair in pairs}


def _through(text, ways, draw):
    for way in ways:
        text = way(text, draw)
    return text
