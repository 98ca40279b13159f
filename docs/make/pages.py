#!/usr/bin/env python3
"""Lays out the pages of the site: docs/make/pages.py OUT

docs/ becomes the root of OUT, where README.md is index.md; CONTRIBUTING.md, CHANGELOG.md and LICENSE stand beside it, and
course/text is course/, and examples/notebooks is notebooks/. Links between them are changed accordingly.
"""
import glob
import html
import os
import re
import shutil
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
# Where files and folders of the repository go. The longest that fits is taken.
PLACES = {"README.md": "index.md", "CONTRIBUTING.md": "CONTRIBUTING.md", "CHANGELOG.md": "CHANGELOG.md", "LICENSE": "LICENSE",
          "docs": "", "docs/make/site.css": "site.css", "docs/make/site.js": "site.js", "course/text": "course", "course/README.md": "course/teach.md",
          "course/staff/README.md": "course/staff.md", "examples/notebooks": "notebooks",
          "examples/notebooks/README.md": "notebooks/index.md"}


def place(path):
    """Where a file of the repository stands in the site; None where it has no place."""
    folder = path
    while folder not in PLACES:
        folder, _, _ = folder.rpartition("/")
        if not folder:
            return None
    return os.path.normpath(os.path.join(PLACES[folder], os.path.relpath(path, folder)))


def moved(page, target):
    """A link of a page as it is in the site: what has no place there is left as it is."""
    path, hash_, anchor = target.partition("#")
    to = path and ":" not in path and place(os.path.normpath(os.path.join(os.path.dirname(page), path)))
    return os.path.relpath(to, os.path.dirname(place(page)) or ".") + hash_ + anchor if to else target


def bar(code):
    """Code in a cell of a table, whose | mkdocs takes for the end of the cell, or shows with its backslash."""
    return "<code>" + html.escape(code[1].replace("\\|", "|")).replace("|", "&#124;") + "</code>"


def page_text(page):
    text = open(os.path.join(ROOT, page)).read()
    text = re.sub(r"\]\(([^)\s]+)\)", lambda link: f"]({moved(page, link[1])})", text)
    return re.sub(r"^\|.*", lambda row: re.sub(r"`([^`]*\\\|[^`]*)`", bar, row[0]), text, flags=re.M)


def main():
    out = sys.argv[1]
    shutil.rmtree(out, ignore_errors=True)
    for path in (os.path.join(ROOT, start) for start in PLACES):
        files = [path] if os.path.isfile(path) else glob.glob(path + "/**/*.*", recursive=True)
        for file in (os.path.relpath(each, ROOT) for each in files):
            if file.startswith("docs/make/") and file not in PLACES:
                continue
            to = os.path.join(out, place(file))
            os.makedirs(os.path.dirname(to), exist_ok=True)
            if file.endswith(".md"):
                open(to, "w").write(page_text(file))
            else:
                shutil.copy(os.path.join(ROOT, file), to)


if __name__ == "__main__":
    main()
