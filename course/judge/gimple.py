"""What the compiler made of a student's file, as it says itself (-fdump-tree-ssa-asmname-lineno): functions with their
attributes, calls and assembly. It has read macros and quotes, and resolved names: a variable may have any name, and no call hides.
A later account (-fdump-tree-tsan-asmname-lineno) shows what the sanitizer marked."""
import re

# Attributes of functions that change no access to memory; _CALL alone may have no_sanitize.
_ATTRIBUTES = re.compile(
    r"always_inline|noinline|nodiscard|warn_unused_result|unused|maybe_unused|used|deprecated|nonnull|returns_nonnull|visibility"
    r"|const|pure|nothrow|noreturn|leaf|malloc|alloc_size|alloc_align|assume_aligned|cold|hot|flatten|artificial|gnu_inline|abi_tag"
    r"|noclone|noipa|no_icf|format|format_arg|sentinel|fn spec|omp declare simd|access|transaction_\w+")
_CALL = "void gradus::cuda::sim::call<"  # the simulator's own call of a kernel
_BUILTIN = re.compile(r"__builtin_(?:ia32|aarch64|arm|neon|sve|longjmp|setjmp|return_address|frame_address|extract|frob|apply|"
                      r"thread_pointer|set_thread|dwarf|init_dwarf|eh_return|unwind|nonlocal|update_setjmp|___clear_cache)\w*")
_KERNEL = "no_icf"  # what core/launch.h makes of __global__
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
_FUNCTION = re.compile(r";; Function (.*) \((\S+), funcdef_no=")
_PLACE = re.compile(r"\[([^][]+:\d+):\d+(?: discrim \d+)?\] ")
_STATEMENT = re.compile(r" +(?:[^\"]*? = (?:\{v\} )?)?\*?([\w.$]+)(\(D\))? \((.*)\)(?: \[[\w ]+\])*;(?: \[[\w ]+\])*")
_VARIABLE = re.compile(r"  [^ #].*?([\w.$]+)(?:\[[^]]*\])*;")
_WORD = re.compile(r"(?<![\w.$>])[A-Za-z_][\w.$]*")  # no member
_WHOLE = re.compile(r"(?<=[a-zA-Z_\d])([CD])1(?=[EI])")  # I: a template
_DECLARED = re.compile(r"  (static )?[^ #=].*?([\w.$#]+)(?:\[[^]]*\])*;")  # args#0: one of many
_LOCAL = re.compile(r"MEM(?: <.*>)? ?\[\(.*\)&([\w.$#]+|<retval>).*")  # what lies in a variable
_LAUNCH = "_ZN6course6launchI"  # how the names of course::launch<...> begin


class Refused(Exception):
    """What no solution needs. The text says what."""


class Function:
    """A function that the file defines. Names are those that the linker sees."""

    def __init__(self, readable, is_kernel=False):
        self.short = re.sub(r"<.*>", "", readable.split("(")[0]).split("::")[-1].split(" ")[-1]
        self.is_kernel = is_kernel
        self.is_simulators = "gradus::cuda::sim::" in readable.split("(")[0]
        self.calls = []  # (name, arguments, place)
        self.pointers = []  # places of calls by a pointer
        self.words = {}  # that may be names of functions -> place

    @property
    def launched(self):
        """(first argument, place) of each launch."""
        return [(arguments.split(",")[0], place) for name, arguments, place in self.calls if name.startswith(_LAUNCH)]


def functions_in(dump):
    """Name -> Function. Errors: Refused."""
    functions, attributes, function, variables, inside = {}, [], None, set(), False
    for line in _STRING.sub('""', dump).splitlines():
        start = _FUNCTION.match(line)
        if start:
            function = functions[start.group(2)] = Function(start.group(1))
            attributes, variables, inside = [], set(), False
        elif inside:
            _read(line, function, variables)
        elif line == "{":
            inside = True
        elif line.startswith("__attribute__(("):
            attributes = _attributes(line)
        elif function and "(" in line and not line.startswith(" "):  # the function with its parameters
            for each in attributes:
                if not _ATTRIBUTES.fullmatch(each) and not (each == "no_sanitize" and line.startswith(_CALL)):
                    raise Refused(f"it gives a function the attribute {each}, which no solution needs")
            function.is_kernel |= _KERNEL in attributes
            variables.update(re.findall(r"([\w.$]+)[,)]", line))
    for function in functions.values():  # a constructor or destructor of a whole object is that of a part of one
        function.calls = [(name if name in functions else _WHOLE.sub(r"\g<1>2", name), arguments, place)
                          for name, arguments, place in function.calls]
    return functions


def _read(line, function, variables):
    """Reads a line of a function's body. variables: the names of those that it has."""
    place = _PLACE.search(line)
    line = _PLACE.sub("", line)
    if "__asm__" in line:
        raise Refused("it holds assembly, which no solution needs")
    variable = None if place else _VARIABLE.fullmatch(line)
    if variable:
        variables.add(variable.group(1))
        return
    builtin = _BUILTIN.search(line)
    if builtin:
        raise Refused(f"it uses {builtin.group(0)}, which no solution needs")
    where = place.group(1) if place else ""
    if "OBJ_TYPE_REF(" in line:
        function.pointers.append(where)
    call = _STATEMENT.fullmatch(line)
    if call:
        called, is_parameter, line = call.groups()
        if is_parameter or variables & {called, re.sub(r"(\.\d+)?_\d+$", "", called)}:
            function.pointers.append(where)
        elif not called.startswith("."):  # a mark of the compiler's own
            function.calls.append((called, line, where))
    for each in _WORD.findall(line):
        if each not in variables:
            function.words.setdefault(each, where)


def unmarked_in(dump, data):
    """Name of a function -> places of its calls that read or write memory by themselves, which the sanitizer does not mark: of a
    struct that a function with `...` takes, or that a constructor makes where it lies. data: names of global variables."""
    found, function, variables, inside = {}, "", set(), False
    for line in _STRING.sub('""', dump).splitlines():
        start = _FUNCTION.match(line)
        if start:
            function, variables, inside = start.group(2), {"<retval>"}, False
        elif line == "{":
            inside = True
        elif inside and line.startswith("  ") and not line.startswith("  #"):
            place = _PLACE.search(line)
            line = _PLACE.sub("", line).replace("->", ".*")
            declared = None if place else _DECLARED.fullmatch(line)
            if declared and not declared.group(1):
                variables.add(declared.group(2))
            elif any(_is_memory(each, variables, data) for each in _operands(line)):
                found.setdefault(function, []).append(place.group(1) if place else "")
        elif function and "(" in line:  # the function with its parameters
            variables.update(re.findall(r"([\w.$#]+)[,)]", line))
    return found


def _operands(line):
    """What a call takes, and where its result goes; nothing where the line holds no call."""
    result, _, called = line.strip().rpartition(" = ")
    call = re.fullmatch(r"(?:\{v\} )?(.*\))(?: \[[\w ]+\])*;(?: \[[\w ]+\])*", called)
    parts = _split(call.group(1), " ") if call else []
    if len(parts) != 2 or not parts[1].startswith("(") or parts[0].startswith(("(", ".")):
        return []
    return [f"{result}[]" if result else "", *_split(parts[1][1:-1], ",")]


def _is_memory(operand, variables, data):
    """Whether an operand of a call is what other threads may see: neither a number, an address nor a variable of the function."""
    operand = operand.strip()
    if operand.startswith("VIEW_CONVERT_EXPR<"):
        operand = operand[operand.index(">(") + 2:]
    local = _LOCAL.match(operand)
    if local:
        return local.group(1) not in variables
    if re.fullmatch(r"\*_\d+\(D\)\[\]", operand):  # the function's own result, where the call marks what it writes
        return False
    if operand.startswith(("*", "MEM")) or ".*" in operand:
        return True
    base = re.match(r"(?!\d)[\w$#]+(?:\.\d+)*", operand)
    if not base or base.group(0) in data:
        return bool(base)
    return base.group(0) not in variables and not re.fullmatch(r"[\w$]+|[\w$.#]*_\d+(\(D\))?", operand.removesuffix("[]"))


def _split(text, separator):
    """The parts of a text between separators outside of all parentheses."""
    parts, depth, part = [], 0, ""
    for each in text:
        depth += (each in "([<{") - (each in ")]>}")
        if each == separator and depth == 0:
            parts.append(part)
            part = ""
        else:
            part += each
    return [*parts, part] if part else parts


def _attributes(line):
    """Names of the attributes in a line such as __attribute__((noinline, no_sanitize (thread)))."""
    inside = line[len("__attribute__(("):].rstrip().removesuffix("))")
    return [each.split("(")[0].strip() for each in _split(inside, ",")]
