#!/usr/bin/env python3
"""Lists sentences that a reader may have to read twice: they begin with a preposition or a pronoun, or hold three commas.

    sentences.py ROOT            fails for each that sentences.txt does not allow
    sentences.py ROOT --list     prints all of them
    sentences.py ROOT --update   allows all that there are now, and forgets those that are gone

It reads the comments of the library, README.md, CONTRIBUTING.md and the pages of docs/ that are written by hand. Code, tables and
lists of names do not count. sentences.txt holds eight digits of a hash for each sentence that somebody read and found plain.
"""
import hashlib
import pathlib
import re
import sys
import textwrap

FOLDERS = "tensor autograd cpu cuda nn optim data serialize watch distributed compat".split()
SUFFIXES = (".h", ".cpp", ".cu", ".cuh", ".def", ".inc")
MADE = ("api.md", "operators.md", "python-api.md")  # tests compare these with their sources
ALLOWED = pathlib.Path(__file__).with_name("sentences.txt")
FIRST = """about above across after against along among around as at before behind below beneath beside besides between beyond by
despite during except for from in inside into like of off on onto out outside over per since through throughout till to toward
towards under unlike until unto upon via with within without
he her hers him his it its itself she that their theirs them these they this those what whatever which whichever who whom whose
such"""
FIRST = re.compile(rf"(?:{'|'.join(word.capitalize() for word in FIRST.split())})\b")  # a label beside code begins with a small letter
WORD = r"(?:[\w:./<>*&=+-]+(?:\([^()]*\))?)"
NAMES = re.compile(rf"{WORD}(?:, {WORD})+,? (?:and|or) {WORD}|{WORD}(?:, {WORD}){{2,}}")
END = re.compile(r"(?<=[.!?])(?<!al\.)(?<!\b[A-Z]\.)(?<!\.\.\.)\s+")


def comments(text):
    """The paragraphs of // comments as (line, words), a contract by itself."""
    line, words, column = 0, [], -1
    for number, row in enumerate(text.split("\n") + [""], 1):
        code, mark, said = re.match(r"((?:[^/\"]|/(?!/)|\"(?:[^\"\\]|\\.)*\")*)(//+)?(.*)", row).groups()
        joins = mark and (len(code) == column and said[:1] == " " and said.strip()) and (not code.strip() or column < 0)
        if words and not (joins and not re.match(r" (REQUIRES|Errors|NOLINT|---)|  | [-|*] ", said) and words[0] != "---"):
            yield line, " ".join(words)
            words = []
        if mark and said[:1] == " " and said.strip() and not re.match(r" (NOLINT|clang-format)", said):
            line = line if words else number
            words += said.split()
            column = len(code)
        else:
            column = -1


def prose(text):
    """The paragraphs of a page as (line, words), without code and tables."""
    text = re.sub(r"^( *)```.*?^ *```$|<!--.*?-->", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)
    line, words = 0, []
    for number, row in enumerate(text.split("\n") + [""], 1):
        table = re.match(r"\s*[|#]|<", row)
        item = re.match(r"\s*([-*]|\d+\.) ", row)
        if words and (not row.strip() or table or item):
            yield line, " ".join(words)
            words = []
        if row.strip() and not table:
            line = line if words else number
            words += row[item.end() if item else 0:].split()


def plain(sentence):
    """The sentence with code and lists of names as one word each."""
    sentence = re.sub(r"\[(.*?)\]\([^)]*\)", r"\1", sentence)
    sentence = re.sub(r"`[^`]*`|\"[^\"]*\"", "code", sentence)
    for _ in range(3):  # brackets may stand within brackets
        sentence = re.sub(r"\w*(?:\([^()]*\)|\{[^{}]*\}|\[[^][]*\])", "code", sentence)
    return NAMES.sub("names", sentence)


def is_hard(sentence):
    sentence = plain(sentence)
    start = re.sub(r"^[\W_]*(?:(?:REQUIRES|Errors): )?", "", sentence)
    return bool(FIRST.match(start)) and not re.match(r"code|names", start) or len(re.findall(r",\s", sentence)) >= 3


def found(root):
    paths = [root / "gradus.h", root / "version.h", root / "version.cpp"]
    paths += [p for folder in FOLDERS for p in sorted((root / folder).rglob("*")) if p.suffix in SUFFIXES]
    pages = [root / "README.md", root / "CONTRIBUTING.md"] + [page for folder in ("docs", "docs/cookbook", "docs/notebook") for page in sorted((root / folder).glob("*.md"))]
    for path in paths + [page for page in pages if page.name not in MADE]:
        text = path.read_text()
        for line, paragraph in prose(text) if path.suffix == ".md" else comments(text):
            for sentence in END.split(paragraph):
                if is_hard(sentence):
                    yield f"{path.relative_to(root)}:{line}", sentence


def main():
    hard = [(hashlib.sha1(sentence.encode()).hexdigest()[:8], place, sentence) for place, sentence in found(pathlib.Path(sys.argv[1]))]
    if "--update" in sys.argv:
        ALLOWED.write_text(textwrap.fill(" ".join(sorted({key for key, _, _ in hard})), 116) + "\n")
    allowed = set() if "--list" in sys.argv else set(ALLOWED.read_text().split())
    new = [f"{place}: {sentence}" for key, place, sentence in hard if key not in allowed]
    print("\n".join(new), f"{len(new)} sentences", sep="\n")
    if new and "--list" not in sys.argv:
        sys.exit("Write these as subject, verb, object, one idea a sentence; or read them again and allow them with --update.")


main()
