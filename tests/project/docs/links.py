#!/usr/bin/env python3
"""Checks that links between the documents lead somewhere, and that files they name exist.

    links.py ROOT

Reads *.md of ROOT, of ROOT/docs with its cookbook and notebook, and the course's texts and READMEs. A block of code may
show a tree of folders. mkdocs.yml and README.md name every page of docs/; mkdocs.yml and their indices those of the
cookbook and of the notebook. Needs no network: links to other hosts are left alone.
"""
import glob
import os
import re
import sys
import unicodedata

FOLDERS = ("tensor", "autograd", "cpu", "cuda", "nn", "optim", "data", "serialize", "distributed", "compat",
           "examples", "bench", "tests", "docs", "scripts", "cmake", "course")
# In the course's pages, as a student's repository has no folder around them. There they name the library's files, too.
FOLDERS_OF_COURSE = ("core", "text", "runner", "judge", "draw", "wrong", "staff", "checks", "plug")


def without_code(text):
    """The text with the blocks of code left empty, so that lines keep their numbers."""
    return re.sub(r"^( *)```.*?^ *```$", lambda m: "\n" * m[0].count("\n"), text, flags=re.M | re.S)


def anchors(path):
    """What a link may name behind '#': the headings as the sites of repositories and mkdocs spell them."""
    found = set()
    for heading in re.findall(r"^#+ (.*)$", without_code(open(path).read()), re.M):
        heading = unicodedata.normalize("NFKD", re.sub(r"\[(.*?)\]\(.*?\)", r"\1", heading))
        words = re.sub(r"[^\w\s-]", "", heading).strip().lower()
        found |= {re.sub(r"\s", "-", words), re.sub(r"[-\s]+", "-", words)}
    return found


def folders_shown(text):
    """The folders of a tree in a block of code, with their lines: `nn/  modules` and, indented, `  utils/  ...`."""
    parent = ""
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            parent = ""
        names = re.match(r"( *)((?:[\w.-]+/(?:, )?)+)  ", line)
        if names and (parent or not names[1]):
            parent = parent if names[1] else names[2]
            for name in names[2].split(", "):
                yield number, parent + name if names[1] else name


def check(root, page):
    text = open(page).read()
    shown = os.path.relpath(page, root)
    for number, name in folders_shown(text):
        if not os.path.isdir(os.path.join(root, name)):
            yield f"{shown}:{number}: there is no folder {name}"
    text = without_code(text)
    folders, roots = FOLDERS, [root]
    if shown.startswith("course/"):
        folders, roots = FOLDERS + FOLDERS_OF_COURSE, [root, root + "/course"]
    for number, line in enumerate(text.split("\n"), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"\w+:", target):
                continue
            path, _, anchor = target.partition("#")
            file = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
            if not os.path.exists(file):
                yield f"{shown}:{number}: the link {target} leads to no file"
            elif anchor and anchor not in anchors(file):
                yield f"{shown}:{number}: {os.path.relpath(file, root)} has no heading #{anchor}"
        for name in re.findall(r"`([\w./-]+)`", line):
            is_path = name.split("/")[0] in folders and re.search(r"/$|\.\w+$", name) and "NAME" not in name
            if is_path and not any(os.path.exists(os.path.join(each, name)) for each in roots):
                yield f"{shown}:{number}: there is no {name}"


def main():
    root = os.path.abspath(sys.argv[1])
    pages = sorted(page for folder in ("", "docs/", "docs/cookbook/", "docs/notebook/", "course/", "course/staff/", "course/text/")
                   for page in glob.glob(f"{root}/{folder}*.md"))
    problems = [problem for page in pages for problem in check(root, page)]
    for listing, folder in (("mkdocs.yml", "docs"), ("README.md", "docs"), ("mkdocs.yml", "docs/cookbook"),
                            ("docs/cookbook/index.md", "docs/cookbook"), ("mkdocs.yml", "docs/notebook"),
                            ("docs/lab-notebook.md", "docs/notebook")):
        text = open(os.path.join(root, listing)).read()
        problems += [f"{listing} does not name {folder}/{name}" for name in sorted(os.listdir(os.path.join(root, folder)))
                     if os.path.join(folder, name) != listing and name.endswith(".md") and not re.search(rf"[ (/]{re.escape(name)}", text)]
    print("\n".join(problems) or f"{len(pages)} pages, all links lead somewhere")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
