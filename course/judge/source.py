"""What a student's text may not hold. What it says is decided on tokens, as the compiler sees them: a comment, a string or a
character hides nothing."""
import re

# Tokens in which other characters have no meaning; the first that fits at a place.
_TOKEN = re.compile(r"""
    (?:u8|[uUL])?R"([^()\\\s]{0,16})\(.*?\)\1"           # a raw string
  | [A-Za-z_]\w* | \.?\d(?:'?[\w.])*                      # a name, a number
  | "(?:\\.|[^"\\\n])*"? | '(?:\\.|[^'\\\n])*'?         # a string, a character: they end with the line
  | //[^\n]* | /\*.*?(?:\*/|\Z)""", re.S | re.X)
# Words that hide accesses from the simulator or reach beyond the language.
_WORDS = re.compile(r"\b((__)?(asm|no_sanitize\w*|no_instrument_function)(__)?|optimize(?=\s*\()"
                    r"|__builtin_(ia32|aarch64|longjmp|setjmp|return_address|frame_address|extract|apply)\w*"
                    r"|_mm\d*_\w+|v(ld|st)[1-4]q?_\w+)")
_DIRECTIVE = r"^[ \t]*(?:\#|%:)[ \t]*"
_LINE = re.compile(_DIRECTIVE + r"(line\b|\d)", re.M)
_KEYWORD = re.compile(_DIRECTIVE + r"define[ \t]+(private|protected|public|class|struct|const|volatile|if|else|for|while|"
                      r"return|static|inline|void|int|long|float|double|bool|__global__|__device__|__shared__)\b", re.M)
_PATH = re.compile(_DIRECTIVE + r"(?:include|include_next|import|embed)[ \t]*[\"<](/[^\">\n]*|[^\">\n]*\.\.[^\">\n]*)", re.M)
_ODD_NAME = re.compile(r"(?:include|import|embed)\w*[^\n<\"]*<[^>\n]*(?:/[*/]|[\"'])")


def code(text):
    """The text without comments and without what stands in strings and characters."""
    def kept(match):
        token = match.group(0)
        return token if token[0].isalnum() and not token.endswith('"') or token[0] in "_." else " " if token[0] == "/" else "0"
    return _TOKEN.sub(kept, text)


def problem_of_text(text):
    """Why a file is refused before the compiler sees it; None where it is not."""
    text = re.sub(r"\\[ \t\f\v\r]*\n", "", text)
    if _ODD_NAME.search(text):
        return "it includes a file with an odd name"
    included = _PATH.search(text)
    if included:
        return f"it includes {included.group(1)}, which is not among the course's headers"
    plain = code(text)
    if _LINE.search(plain):
        return "it holds #line, which no solution needs"
    keyword = _KEYWORD.search(plain)
    return f"it defines {keyword.group(1)}, a word of the language, as something else" if keyword else None


def forbidden_word(preprocessed):
    """A word among these lines that no solution needs; None where there is none."""
    found = _WORDS.search(code(preprocessed))
    return found.group(0) if found else None
