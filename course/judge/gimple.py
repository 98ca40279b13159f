"""What the compiler made of a student's file, as it says itself (-fdump-tree-gimple): functions with their attributes, calls
and assembly. Neither macros nor #line nor quotes hide anything here, since the file was read already."""
import re

# Attributes of functions that change no access to memory; _CALL alone may have no_sanitize.
_ATTRIBUTES = re.compile(
    r"always_inline|noinline|nodiscard|warn_unused_result|unused|maybe_unused|used|deprecated|nonnull|returns_nonnull|visibility"
    r"|const|pure|nothrow|noreturn|leaf|malloc|alloc_size|alloc_align|assume_aligned|cold|hot|flatten|artificial|gnu_inline|abi_tag"
    r"|noclone|noipa|no_icf|format|format_arg|sentinel|fn spec|omp declare simd|access|transaction_\w+")
_CALL = "void gradus::cuda::sim::call<"  # the simulator's own call of a kernel
_BUILTIN = re.compile(r"__builtin_(?:ia32|aarch64|arm|neon|sve|longjmp|setjmp|return_address|frame_address|extract|frob|apply|"
                      r"thread_pointer|set_thread|dwarf|init_dwarf|eh_return|unwind|nonlocal|update_setjmp|___clear_cache)\w*")
_STRING = re.compile(r'"(?:\\.|[^"\\])*"')
KERNEL = "no_icf"  # what core/launch.h makes of __global__
# Functions of the host that read memory where nobody counts; nvcc refuses them in kernels as well.
_HOST = re.compile(r"(?:__builtin_)?(mem(?:cmp|chr|rchr|mem|ccpy)|bcmp|bcopy|str(?:n?cpy|n?cmp|n?cat|n?len|r?chr|c?spn|pbrk|str|n?dup|xfrm|coll|tok)"
                   r"|v?sn?printf|sscanf|strto\w+|qsort|bsearch) ?\(|(basic_string)")


def problem_with(dump):
    """Why what the compiler made is refused; None where it is not."""
    attributes, kernels, words, launched, inside = [], set(), {}, [], set()
    arguments, own, others = {}, set(), set()  # of each function; names of functions that are the student's, or of std
    for line in _STRING.sub('""', dump).splitlines():
        if line.startswith("__attribute__(("):
            attributes = _attributes(line)
            continue
        if line[:1] not in ("", " ", "{", "}") and "(" in line:  # the first line of a function
            name = _name(line)
            inside = words.setdefault(name, set())
            arguments.setdefault(name, set()).update(re.findall(r"(\w+)[,)]", line))
            (others if re.search(r"(^| )(std|__gnu_cxx)::[\w:]*$", re.sub(r"<.*>", "", line.split(" (")[0])) else own).add(name)
            if KERNEL in attributes:
                kernels.add(name)
            for each in attributes:
                if not _ATTRIBUTES.fullmatch(each) and not (each == "no_sanitize" and line.startswith(_CALL)):
                    return f"it gives a function the attribute {each}, which no solution needs"
        else:
            inside.update(re.findall(r"\w+(?: ?\()?", line))
        attributes = []
        if "__asm__" in line:
            return "it holds assembly, which no solution needs"
        builtin = _BUILTIN.search(line)
        if builtin:
            return f"it uses {builtin.group(0)}, which no solution needs"
        start = re.match(r" +course::launch<.*> \((\w+)", line)
        if start:
            launched.append(start.group(1))
    for each in launched:
        if each in words and each not in kernels:
            return f"launch starts {each}, which is not declared __global__ (nvcc refuses it)"
    # An argument may have the name of a function of std, such as length.
    return _host_function_of(kernels, {name: used - (arguments[name] & (others - own)) for name, used in words.items()})


def _host_function_of(kernels, words):
    """That a kernel, or what it mentions, uses a function of the host; None where none does."""
    waiting, seen = list(kernels), set(kernels)
    while waiting:
        for each in words[waiting.pop()]:
            found = _HOST.fullmatch(each)
            if found:
                return f"a kernel uses {found.group(1) or 'std::string'}, a function of the host (nvcc refuses it)"
            each = each.rstrip(" (")
            if each in words and each not in seen:
                seen.add(each)
                waiting.append(each)
    return None


def _name(line):
    """The last part of the name of the function that begins with this line."""
    return re.sub(r"<.*>", "", line.split(" (")[0]).split("::")[-1].split(" ")[-1]


def _attributes(line):
    """Names of the attributes in a line such as __attribute__((noinline, no_sanitize (thread)))."""
    inside, names, depth, name = line[len("__attribute__(("):].rstrip().removesuffix("))"), [], 0, ""
    for each in inside + ",":
        depth += (each == "(") - (each == ")")
        if each == "," and depth == 0:
            names.append(name.split("(")[0].strip())
            name = ""
        else:
            name += each
    return names
