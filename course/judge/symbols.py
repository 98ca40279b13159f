"""What a solution's object file may hold: functions that compute, and nothing that runs by itself or reaches the
system. Reads it with binutils."""
import re

from . import limited

# Sections by name; an object may have no others. Constructors (.init_array) are among those that it may not have.
SECTIONS = re.compile(
    r"(\.rela?)?(\.text|\.rodata|\.data|\.bss|\.tbss|\.tdata|\.eh_frame|\.gcc_except_table|\.debug_\w+)(\..*)?$"
    r"|\.comment$|\.note\.(GNU-stack|gnu\.property)$|\.(symtab|strtab|shstrtab|symtab_shndx|group)$"
    r"|gradus_variables$|gradus_constant_\d+$|(\.rela?)?\.data\.rel\.ro(\..*)?$|$")

# Functions that a solution may call, by their readable names.
ALLOWED = re.compile(
    r"operator (new|delete)(\[\])?\(.*|__cxa_(?!atexit|finalize|thread_atexit)\w+|__gxx_personality_v0|_Unwind_Resume|__stack_chk_fail"
    r"|__dynamic_cast|vtable for (std|__cxxabiv1|course)::.*|typeinfo (name )?for .*|(non-virtual )?thunk .*"
    r"|mem(cpy|move|set|cmp|chr)|v?sn?printf|printf|puts|putchar"
    r"|str(r?chr|n?(len|cmp|cpy|cat|casecmp)|c?spn|pbrk|str|coll)|is(alnum|alpha|digit|lower|punct|space|upper|xdigit)|to(lower|upper)"
    r"|ato(i|l|ll|f)|strto(u?ll?|[fd]|ld)|__errno_location"
    r"|(l|ll|imax)?(abs|div)|s?rand|qsort|bsearch"
    r"|(exp|exp2|expm1|log|log2|log10|log1p|sqrt|cbrt|pow|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh|asinh|acosh|atanh"
    r"|erf|erfc|tgamma|lgamma|ceil|floor|round|trunc|rint|nearbyint|lround|lrint|llround|llrint|fmod|remainder|remquo|drem|fma|fmax|fmin"
    r"|fabs|fdim|hypot|copysign|nextafter|nexttoward|frexp|ldexp|modf|ilogb|logb|scalbn|scalbln|significand|sincos|exp10|nan|gamma|[jy][01n])[fl]?"
    # std::complex, and what the compiler calls for its products and quotients, and for those of __int128.
    r"|c(abs|arg|exp|log|sqrt|pow|proj|a?(sin|cos|tan)h?)[fl]?|__(mul|div)[hsdxt]c3|std::(to|from)_chars\(.*"
    r"|__u?(div|mod)ti3|__u?divmodti4|__fix(uns)?[sdxt]fti|__float(un)?ti[sdxt]f"
    r"|std::__throw_\w+\(.*|std::__glibcxx_assert_fail\(.*|std::(__cxx11::)?basic_string<.*|std::(__cxx11::)?to_string\(.*"
    r"|std::(exception|logic_error|runtime_error|invalid_argument|out_of_range|length_error|domain_error|range_error"
    r"|overflow_error|underflow_error|bad_alloc|bad_optional_access|bad_function_call|bad_variant_access|bad_cast|bad_weak_ptr|nested_exception)::.*"
    r"|std::terminate\(\)|std::(current_exception|uncaught_exceptions?)\(\)|std::rethrow_exception\(.*|std::__exception_ptr::.*"
    r"|std::_Rb_tree_(in|de)crement\(.*|std::_Rb_tree_(insert|rebalance)\w*\(.*|std::_Hash_bytes\(.*"
    r"|std::__detail::_(Prime_rehash_policy|List_node_base)::.*|std::nothrow|std::get_new_handler\(\)"
    # std::shared_ptr: whether its counts must be atomic.
    r"|__libc_single_threaded|__pthread_key_create"
    # std::ostringstream: it writes into memory.
    r"|std::(__cxx11::)?basic_(ostringstream|stringbuf|ostream)<char, .*|std::(ostream|ios_base|locale|basic_ios<char, .*)::.*"
    r"|(VTT|vtable|construction vtable) for std::(__cxx11::)?basic_(ostringstream|stringbuf|ostream|ios|streambuf)<.*"
    r"|std::basic_ostream<char, .*|std::basic_ios<char, .*|std::basic_streambuf<char, .*"
    # Calls that the compiler makes for the simulator, and functions of kernels.
    r"|__tsan_((unaligned_)?(volatile_)?(read|write)\w*|atomic\w+|vptr_\w+|func_(entry|exit)|init|mem(cpy|move|set))|__ubsan_handle_\w+"
    r"|gradus_sim_(memcpy|memmove|memset|malloc|assert_fail|new|new_array|dynamic_shared|thread_index|block_index|block_size|grid_size)"
    r"|gradus::cuda::sim::(declare|handle|call|warp_call|refuse_alignment|sinpi|cospi|rcbrt|norm|reciprocal_norm|normcdf|erfcx"
    r"|erfinv|erfcinv|bessel_i0|bessel_i1|best_block)\(.*"
    r"|__(syncthreads|syncwarp|threadfence|shfl|ballot|any|all|activemask|reduce|match|ldg|ldcg|ldcs|brev|clz|ffs|popc)\w*(\(.*)?"
    r"|\w[\w ]* gradus::cuda::sim::(atomic|compare_and_swap|add|multiply|divide|multiply_add|square_root|convert)<[\w, ]+>\(.*"
    r"|atomic\w+(\(.*)?|cuda(LaunchKernel|GetErrorString|GetErrorName|GetLastError|PeekAtLastError|FuncSetAttribute)(\(.*)?"
    r"|warpSize|__trap\(\)|clock|clock64\(\)|_GLOBAL_OFFSET_TABLE_|_Unwind_\w+")

# Relocations of calls, and sections whose addresses no program follows.
_CALL = re.compile(r"R_X86_64_PLT32|R_AARCH64_(CALL|JUMP)26")
# Tables of classes, destructors of what is thrown, and variables.
_NO_FUNCTION = re.compile(r"_ZT[VISTC]|_ZNSt\w+D[012]Ev$|_ZSt7nothrow$|__libc_single_threaded$")
_NO_CODE = re.compile(r"\.(debug|eh_frame|gcc_except_table|data\.rel\.local\.DW|note)")

# What students reach for instead: (names, what the student wrote, advice); the first row that fits.
ADVICE = [(re.compile(names), what, advice) for names, what, advice in (
    (r"__assert\w*", "assert", "throw an exception instead"),
    (r"__cxa_(thread_)?atexit", "a static object with a destructor", "use local variables"),
    (r".*\bbasic_([io]?fstream|filebuf)\b.*|(f|fre|fd)?open(at)?(64)?|std::filesystem::.*", "files", "solutions open no files"),
    (r"std::cin|stdin|.*scanf|f?getc(har)?|fgets|fread|read", "input", "solutions read none"),
    (r".*\bbasic_([io]?(string)?stream|i?os|string(buf)?|streambuf)\b.*|std::(cout|cerr|clog|ios_base|locale)\b.*"
     r"|.*std::basic_ostream.*", "streams", "use std::to_string and printf"),
    (r"v?d?fprintf|vprintf|f?putc|fputs|fflush|fwrite|setv?buf|stdout|stderr|perror|write", "", "use printf"),
    (r"_?exit|_Exit|quick_exit|abort|raise|kill", "", "throw an exception"),
    (r"pthread_\w+|std::(jthread|thread|this_thread|mutex|condition_variable|__future_base|call_once)\b.*", "threads",
     "solutions start no threads"),
    (r"malloc|calloc|realloc|free|aligned_alloc|posix_memalign", "", "use std::vector"),
    (r"cuda\w+(\(.*)?", "", "launch starts a kernel, and a kernel of yours can set or copy memory"))]

# What a solution may define for others to see: its own functions, and templates of headers (its text may not hold the word gradus). All but the task's own
# functions are hidden from the runner afterwards.
_DEFINED = re.compile(r"course::|\(anonymous namespace\)|std::|__gnu_cxx::|gradus::cuda::sim::|DW\.ref\.(__gxx_personality_v0|_ZTI\w+)"
                      r"|(vtable|typeinfo|typeinfo name|guard variable) for ")
# Names that the compiler's own calls have: a definition of one would hide what a solution does.
_RESERVED = re.compile(r"_?_?(tsan|ubsan|asan|gradus_sim|cuda[A-Z]|cxa|gxx_personality|libc|printf|malloc|free)|mem(cpy|set|move)$|main$")

# Instructions that reach the system without a function.
_INSTRUCTIONS = re.compile(r"\t(syscall|sysenter|int +\$0x80|svc)\b")


def problem_with(object_file, exports, allowed_names=(), others=()):
    """Why this object may not be linked; None if it may. exports: the functions that others call. allowed_names:
    further functions, those of the course, that it may call. others: the functions of all tasks."""
    for section in _sections(object_file):
        if not SECTIONS.match(section):
            if re.match(r"\.(init|fini|preinit|ctors|dtors)", section):
                return ("it holds code that runs before main (a constructor of a global object, or <iostream>): "
                        "use local variables, and printf from <cstdio> for output")
            return f"it holds a section {section}, which no solution needs"
    defined, refused = set(), []
    for kind, name, readable in _symbols(object_file):
        if kind in "iI":
            return f"it defines {readable} by a resolver (ifunc), which no solution needs"
        if kind in "Uwv":
            if not (ALLOWED.fullmatch(readable) or _plain(readable) in allowed_names or _plain(readable) in exports):
                refused.append(readable)
            continue
        if _RESERVED.match(name) or not _DEFINED.search(readable) and kind.isupper():
            return f"it defines {readable}: a solution defines functions of namespace course alone"
        defined.add(_plain(readable))
    if refused:
        return _refusal(refused, others)
    for each in exports:
        if each not in defined:
            return f"it does not define {each}: keep the function's name and arguments as they were handed out"
    instruction = _forbidden_instruction(object_file)
    return f"it holds the instruction {instruction}, which no solution needs" if instruction else None


def _refusal(refused, others):
    """Why these names are refused: the first for which there is advice."""
    for readable in refused:
        called = _plain(readable).replace("course::", "", 1)
        if _plain(readable) in others:
            return (f"it calls {called}, which is another task's: each task is graded alone, so write what you need "
                    "in this file")
        if readable.startswith("course::"):
            return f"it calls {called}, which this file does not define"
    for names, what, advice in ADVICE:
        for readable in filter(names.fullmatch, refused):
            return f"a solution may not use {what or readable}: {advice}"
    return f"it uses {refused[0]}, which is not allowed in a solution"


def kept_symbols(object_file, exports):
    """The symbols' names in the object of the functions in exports."""
    return [name for kind, name, readable in _symbols(object_file) if kind in "TWVBDR" and _plain(readable) in exports]


def _plain(readable):
    """A readable name without its arguments: course::map for course::map(course::Op1, ...)."""
    return readable.split("(")[0].split("[")[0]


class Unreadable(Exception):
    """The object cannot be read within the limits. The text says why."""


def _output(command, text=""):
    try:
        status, out, messages = limited.run(command, text=text, memory=512 << 20, seconds=10)
    except limited.Exceeded as exceeded:
        raise Unreadable(str(exceeded)) from None
    if status != 0:
        raise Unreadable(f"{command[0]} cannot read its object (perhaps a name is too long): {messages.strip()[:200]}")
    return out


def _sections(object_file):
    text = _output(["readelf", "-SW", object_file])
    return re.findall(r"^ *\[ *\d+\] (\S*)", text, re.M)[1:]


def _symbols(object_file):
    """(kind, name, readable name) of each symbol, as nm has them."""
    plain = _output(["nm", object_file]).splitlines()
    names = [re.match(r"[0-9a-f ]{16} (\S) (\S+)", line).groups() for line in plain]
    return [(kind, name, text) for (kind, name), text in zip(names, readable([name for _, name in names]))]


def readable(names):
    """These names of the linker's as people read them, in order."""
    return _output(["c++filt"], "\n".join(names)).split("\n")


def data_of(object_file):
    """Names of the variables that the object defines."""
    return {name for kind, name, _ in _symbols(object_file) if kind in "BbCDdGgRrSsuVv"}


def addresses_taken(object_file):
    """Names of functions of others whose addresses the object takes, and of its own in tables: by what the linker is to fill in."""
    taken, text = set(), _output(["readelf", "-sSW", object_file])
    sections = dict(re.findall(r"^ *\[ *(\d+)\] (\S+)", text, re.M))
    others, own = set(), {}
    for value, kind, index, name in re.findall(r"^ *\d+: ([0-9a-f]{16}) +\S+ (\S+) +\S+ +\S+ +(\S+) (\S+)", text, re.M):
        if index == "UND" and kind != "TLS":
            others.add(name)
        elif kind == "FUNC":
            own[sections.get(index), int(value, 16)] = own[name, 0] = name
    section = ""
    for line in _output(["readelf", "-rW", object_file]).splitlines():
        start = re.match(r"Relocation section '\.rela?(\S+)'", line)
        section = start.group(1) if start else section
        filled = re.match(r"[0-9a-f]{16} +[0-9a-f]{16} (\S+) +[0-9a-f]{16} (\S+)(?: \+ ([0-9a-f]+))?", line)
        if not filled or _NO_CODE.match(section):
            continue
        kind, name, offset = filled.groups()
        if name in others and not _CALL.fullmatch(kind) and not _NO_FUNCTION.match(name):
            taken.add(name)
        elif section.startswith((".data", ".rodata")):
            taken.add(own.get((name, int(offset or "0", 16))))
    return taken - {None}


def _forbidden_instruction(object_file):
    text = _output(["objdump", "-d", "--no-show-raw-insn", object_file])
    found = _INSTRUCTIONS.search(text)
    return found.group(1) if found else None
