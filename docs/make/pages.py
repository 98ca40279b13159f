#!/usr/bin/env python3
"""Lays out the pages of the site: docs/make/pages.py OUT

docs/ becomes the root of OUT, where README.md is index.md; CONTRIBUTING.md, CHANGELOG.md and LICENSE stand beside it. Links
between them are changed accordingly.
"""
import html
import os
import re
import shutil
import sys

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))


def bar(code):
    """Code in a cell of a table, whose | mkdocs takes for the end of the cell, or shows with its backslash."""
    return "<code>" + html.escape(code[1].replace("\\|", "|")).replace("|", "&#124;") + "</code>"


def main():
    out = sys.argv[1]
    shutil.rmtree(out, ignore_errors=True)
    shutil.copytree(ROOT + "/docs", out, ignore=shutil.ignore_patterns("make", "__pycache__"))
    shutil.copy(ROOT + "/LICENSE", out)
    shutil.copy(ROOT + "/docs/make/site.css", out)
    for page, to in (("README.md", "index.md"), ("CONTRIBUTING.md",) * 2, ("CHANGELOG.md",) * 2):
        shutil.copy(os.path.join(ROOT, page), os.path.join(out, to))
    for name in os.listdir(out):
        if not name.endswith(".md"):
            continue
        path = os.path.join(out, name)
        text = open(path).read()
        text = re.sub(r"\]\((?:docs/|\.\./)", "](", text)
        text = text.replace("](README.md", "](index.md")
        text = re.sub(r"^\|.*", lambda row: re.sub(r"`([^`]*\\\|[^`]*)`", bar, row[0]), text, flags=re.M)
        open(path, "w").write(text)


if __name__ == "__main__":
    main()
