"""Solutions and stubs: what a solution file becomes when it is handed out.

A solution stands between two lines of comment:

    // BEGIN SOLUTION 3.7          the stub throws "task 3.7 is not implemented yet"
    // BEGIN SOLUTION 3.7 kernel   the stub is empty: code of a kernel cannot throw
    // END SOLUTION 3.7
"""
import re

_REGION = re.compile(r"^( *)// BEGIN SOLUTION (\d\.\d)( kernel)?\n(.*?)^ *// END SOLUTION \2\n", re.S | re.M)


def stub(text):
    """The file without its solutions."""
    def replacement(match):
        indent, task, kernel, _ = match.groups()
        line = f"// Your code for task {task}." if kernel else f'not_implemented("{task}");'
        return f"{indent}{line}\n"
    return _REGION.sub(replacement, text)


def solutions(text):
    """The solutions of a file: a list of (task, lines)."""
    return [(match.group(2), match.group(4).splitlines()) for match in _REGION.finditer(text)]


def unmarked(text):
    """The file with its solutions, without the lines that mark them: what a student hands in."""
    return re.sub(r"^ *// (BEGIN|END) SOLUTION \d\.\d( kernel)?\n", "", text, flags=re.M)
