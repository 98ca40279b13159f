#!/usr/bin/env python3
"""Checks that docs/from-libtorch.md says of nothing both that there is such a thing and that there is not.

    contradictions.py ROOT

Reads the table under "What there is", whose columns are what there is and what there is not, and the sentences below it
that call something an error. A thing is refused where a sentence or the other column has all of its words.
"""
import os
import re
import sys


def words(text):
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)|`", r"\1", text)
    return frozenset(re.findall(r"[a-z0-9_:]+(?:-[a-z0-9_:]+)*", text.lower())) - {"and", "the", "of", "as", "in", "a", "also"}


def things(cell):
    """The things that a cell lists, each as its words."""
    return {words(thing) for thing in re.split(r"[;,]|: |\band\b", re.sub(r"\([^()]*\)", "", cell)) if len(words(thing)) > 0}


def contradictions(page):
    table, _, rest = page.partition("## What there is")[2].partition("## What differs")
    rows = [line.split("|")[2:4] for line in table.split("\n") if line.startswith("| ") and not line.startswith("| area")]
    there = {thing for row in rows for thing in things(row[0])}
    refused = {thing for row in rows for thing in things(row[1])}
    # "Channels-last memory formats and sparse layouts are errors.": what a sentence begins with.
    for sentence in re.split(r"(?<=\.)\s", re.sub(r"\s+", " ", "\n".join(l for l in rest.split("\n") if not l.startswith("|")))):
        subject = re.match(r"(?:- )?([A-Z`][^.;:]*?) (?:are|is) (?:not supported|missing|errors|an error)", sentence)
        refused |= things(subject[1]) if subject else set()
    return sorted(" ".join(sorted(thing)) for thing in there for no in refused if thing <= no)


def main():
    found = contradictions(open(os.path.join(sys.argv[1], "docs/from-libtorch.md")).read())
    for thing in found:
        print(f"docs/from-libtorch.md says both that there is and that there is not: {thing}")
    # The check itself: it finds what was planted.
    planted = ("## What there is\n| area | there is | there is not |\n|---|---|---|\n"
               "| tensors | views; channels-last formats | sparse tensors, views |\n## What differs\n"
               "- Tensors are strided. Channels-last memory formats and other layouts are errors.\n")
    if contradictions(planted) != ["channels-last formats", "views"]:
        sys.exit(f"the check of contradictions finds {contradictions(planted)} in what was planted")
    return 1 if found else 0


sys.exit(main())
