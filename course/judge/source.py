"""What a student's text may not hold. What it says is decided on tokens, as the compiler sees them: a comment, a string or a
character hides nothing."""
import re

# Tokens in which other characters have no meaning; the first that fits at a place.
_TOKEN = re.compile(r"""
    (?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"           # a raw string
  | [A-Za-z_]\w* | \.?\d(?:'?[\w.])*                      # a name, a number
  | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?         # a string, a character: they end with the line
  | //[^\n]* | /\*.*?(?:\*/|\Z)""", re.S | re.X)
# What reaches the assembler as it is written, and names of the simulator: the object shows neither.
_WORDS = re.compile(r"\b((__)?asm(__)?\b|(__)?(section|alias|weakref|ifunc|symver)(__)?(?=\s*\(\s*\"\")|gradus\b)")
# What __constant__ is made of: two strings, which the compiler joins.
_CONSTANT = re.compile(r'\(\s*"gradus_constant_"\s*"\d+"\s*\)')
_DIRECTIVE = r"^[ \t\f\v]*(?:\#|%:)[ \t\f\v]*"
_LINE = re.compile(_DIRECTIVE + r"(line\b|\d)", re.M)
_PATH = re.compile(_DIRECTIVE + r"(?:include|include_next|import|embed)[ \t]*[\"<](/[^\">\n]*|[^\">\n]*\.\.[^\">\n]*)", re.M)
_ODD_NAME = re.compile(r"(?:include|import|embed)\w*[^\n<\"]*<[^>\n]*(?:/[*/]|[\"'])")


def code(text):
    """The text without comments and without what stands in strings and characters."""
    def kept(match):
        token = match.group(0)
        if token.endswith('"'):
            return '""'
        return token if token[0].isalnum() or token[0] in "_." else " " if token[0] == "/" else "0"
    return _TOKEN.sub(kept, text)


def text_of(content):
    """A file's bytes in UTF-8 with plain line ends, whatever an editor made of it."""
    for mark, encoding in ((b"\xef\xbb\xbf", "utf-8-sig"), (b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16")):
        if content.startswith(mark):
            content = content.decode(encoding, errors="replace").encode()
    return content.replace(b"\r\n", b"\n")


def problem_of_text(text):
    """Why a file is refused before the compiler sees it; None where it is not."""
    text = re.sub(r"\\[ \t\f\v\r]*\n", "", text)
    if _ODD_NAME.search(text):
        return "it includes a file with an odd name"
    included = _PATH.search(text)
    if included:
        return f"it includes {included.group(1)}, which is not among the course's headers"
    return "it holds #line, which no solution needs" if _LINE.search(code(text)) else None


def forbidden_word(preprocessed):
    """A word among these lines that no solution needs; None where there is none."""
    found = _WORDS.search(code(_CONSTANT.sub("(0)", preprocessed)))
    return found.group(0) if found else None
