#!/usr/bin/env python3
"""Gathers the C++ of README.md and docs/*.md into one source that compiles and runs all of it.

    blocks.py OUT.cpp PAGE...

A block with `main` is a program. Any other block is the body of a function, with gradus' names in
scope. A comment before a block, alone on its line, says what else is true of it:

    <!-- test: definitions -->          it stands outside of functions; later blocks of the page see it
    <!-- test: continues -->            it goes on in the function of the block before
    <!-- test: throws TYPE TEXT -->     it ends with this exception, whose message contains TEXT
    <!-- test: compiles -->             it is compiled and not run
    <!-- test: excerpt PATH -->         it is text of this file, and neither compiled nor run
    <!-- setup: CODE -->                CODE comes before it, in the same function

A ```text block after a block is what that one prints, to the character.
"""
import json
import os
import re
import sys


class Block:
    def __init__(self, page, line, kind, details, setup, code):
        self.page, self.line, self.kind, self.details = page, line, kind, details
        self.setup, self.code, self.output = setup, code, None
        self.name = f"block_{line}"


def error(page, line, text):
    sys.exit(f"{page}:{line}: {text}")


def read_blocks(page):
    """The C++ blocks of a page, in order."""
    blocks, comments, lines = [], [], open(page).read().split("\n")
    at = 0
    after_block = False  # nothing but blank lines since the last C++ block
    while at < len(lines):
        line = lines[at]
        comment = re.fullmatch(r"<!-- (test|setup): (.*) -->", line)
        fence = re.fullmatch(r"```(\w*)", line)
        if comment:
            comments.append(comment.groups())
        elif fence:
            end = lines.index("```", at + 1)
            code = "\n".join(lines[at + 1:end])
            if fence[1] == "cpp":
                blocks.append(make_block(page, at + 2, comments, code))
            elif fence[1] == "text" and after_block:
                blocks[-1].output = code + "\n"
            after_block = fence[1] == "cpp"
            comments, at = [], end
        elif line:
            if comments:
                error(page, at, "no block follows the comment")
            after_block = False
        at += 1
    return blocks


def make_block(page, line, comments, code):
    kind, details, setup = "function", "", ""
    for what, text in comments:
        if what == "setup":
            setup += text + "\n"
        else:
            kind, _, details = text.partition(" ")
    if kind not in ("function", "definitions", "continues", "throws", "compiles", "excerpt"):
        error(page, line, f"'{kind}' is no word of tests/project/docs/blocks.py")
    return Block(page, line, kind, details, setup, code)


def place(block):
    return f'#line {block.line} "{block.page}"\n'


def main_replaced(code):
    """main() as an ordinary function, which lacks main's own `return 0`."""
    code = code.replace("int main(", "int program(")
    if code.endswith("\n}"):
        code = code[:-1] + "return 0; }"
    return code


def check_excerpt(block):
    path = os.path.join(os.path.dirname(__file__), "../../..", block.details)
    if block.code not in open(path).read():
        error(block.page, block.line, f"the block is not in {block.details}")


def generate(pages):
    includes, body, calls = [], [], []

    def code_of(block):
        for found in re.findall(r"^#include .*$", block.code, re.M):
            if found not in includes:
                includes.append(found)
        return block.setup + place(block) + re.sub(r"^#include .*$", "", block.code, flags=re.M) + "\n"

    for page in pages:
        shown = os.path.relpath(page, os.path.join(os.path.dirname(__file__), "../../.."))
        space = "page_" + re.sub(r"\W", "_", shown)
        inside, functions = [f"namespace {space} {{\nusing namespace gradus;\n"], []
        for block in read_blocks(page):
            block.page = shown
            text = code_of(block)
            if block.kind == "excerpt":
                check_excerpt(block)
            elif "int main(" in block.code:
                body.append(f"namespace {space}_{block.line} {{\n{main_replaced(text.rstrip())}\n}}\n")
                if block.kind != "compiles":
                    calls.append(call(block, f"[] {{ gradus_docs::check_status({space}_{block.line}::program()); }}"))
            elif block.kind == "definitions":
                inside.append(text)
            elif block.kind == "continues":
                functions[-1][1].append(text)
                if block.output:
                    functions[-1][0].output = (functions[-1][0].output or "") + block.output
            else:
                functions.append((block, [text]))
                inside.append(functions[-1])
        for part in inside:
            if isinstance(part, tuple):
                block, texts = part
                body.append(f"[[maybe_unused]] void {block.name}() {{\n{''.join(texts)}}}\n")
                if block.kind != "compiles":
                    calls.append(call(block, f"{space}::{block.name}"))
            else:
                body.append(part)
        body.append("}\n")
    return ('#include "blocks.h"\n' + "\n".join(includes) + "\n" + "".join(body) +
            "void gradus_docs::run_all() {\n" + "".join(calls) + "}\n")


def call(block, function):
    where = json.dumps(f"{block.page}:{block.line}")
    if block.kind == "throws":
        error_type, _, text = block.details.partition(" ")
        return f"  expect_throw<gradus::{error_type}>({where}, {function}, {json.dumps(text)});\n"
    output = "nullptr" if block.output is None else json.dumps(block.output)
    return f"  expect({where}, {function}, {output});\n"


if __name__ == "__main__":
    text = generate([os.path.abspath(page) for page in sys.argv[2:]])
    with open(sys.argv[1], "w") as out:
        out.write(text)
