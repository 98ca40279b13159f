#!/usr/bin/env python3
"""Gathers programs into one source: its program takes the name of the one to run.

    together.py OUT.cpp PROGRAM.cpp...

Headers take the compiler longer than a program does. Each program stands in a namespace of its own, behind the headers of all.
"""
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../project/docs"))
from blocks import main_replaced

DIRECTIVE = r"^#include .*$"
headers, bodies, rows = {}, "", ""
for path in sys.argv[2:]:
    name, text = os.path.splitext(os.path.basename(path))[0], open(path).read().rstrip()
    headers.update(dict.fromkeys(re.findall(DIRECTIVE, text, re.M)))
    body = main_replaced(re.sub(DIRECTIVE, "", text, flags=re.M))
    bodies += f'namespace program_{name} {{\n#line 1 "{path}"\n{body}\n}}\n'
    rows += f'  if (name == "{name}") return program_{name}::program();\n'
with open(sys.argv[1], "w") as out:
    out.write("\n".join(headers) + "\n#include <string_view>\n" + bodies + "int main(int, char** argv) {\n"
              "  const std::string_view name = argv[1];\n" + rows + "  return 2;\n}\n")
