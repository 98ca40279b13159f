"""What kernels may call, and how much memory of its own a thread takes. What a kernel reads is counted, so it calls what its file
defines, what the simulator sees, and functions of numbers."""
import re

# What kernels may call beside the functions of their file, by readable names.
_ALLOWED = re.compile(
    r"operator (new|delete)(\[\])?\(.*|gradus_sim_(memcpy|memmove|memset|malloc|assert_fail)|free|printf|puts|putchar"
    r"|(__builtin_)?(l?l?abs|(exp|exp2|exp10|expm1|log|log2|log10|log1p|sqrt|cbrt|pow|powi|sin|cos|tan|asin|acos|atan|atan2|sinh|cosh|tanh"
    r"|asinh|acosh|atanh|erf|erfc|tgamma|lgamma|j0|j1|jn|y0|y1|yn|ceil|floor|round|trunc|rint|nearbyint|(i|l|ll)(round|rint|ceil|floor)"
    r"|fmod|remainder|remquo|fma|fmax|fmin|fabs|fdim|hypot|copysign|nextafter|frexp|ldexp|modf|ilogb|logb|scalbn|scalbln|sincos|signbit)[fl]?)"
    r"|__builtin_(expect\w*|unreachable|trap|(clz|ctz|clrsb|ffs|popcount|parity)l{0,2}|bswap\d+|isnan|isinf\w*|isfinite|isnormal|fpclassify"
    r"|is(greater|less)(equal)?|islessgreater|isunordered|constant_p|is_constant_evaluated|assume_aligned|\w+_overflow|prefetch|object_size"
    r"|alloca\w*|stack_(save|restore)|va_(start|end|copy)|clear_padding|launder|eh_pointer)"
    r"|(__builtin_)?__ubsan_handle_\w+|__(atomic|sync)_\w+_[1248]|__atomic_(thread|signal)_fence|__sync_synchronize"
    r"|__cxa_(throw_bad_array_new_length|pure_virtual|begin_catch|end_catch)|std::__throw_\w+\(.*|std::__glibcxx_assert_fail\(.*|std::terminate\(\)"
    r"|gradus::cuda::sim::(warp_call|refuse_alignment|sinpi|cospi|rcbrt|norm|reciprocal_norm|normcdf|erfcx|erfinv|erfcinv|bessel_i0|bessel_i1)\(.*"
    r"|\w[\w ]* gradus::cuda::sim::(atomic|compare_and_swap|add|multiply|divide|multiply_add|square_root|convert)<[\w, ]+>\(.*"
    r"|__(syncthreads|syncwarp|threadfence|shfl|ballot|any|all|activemask|reduce|match|ldg|ldcg|ldcs|brev|clz|ffs|popc)\w*(\(.*)?"
    r"|atomic\w+(\(.*)?|__trap\(\)|clock|clock64\(\)")
# Functions of the C library that read memory, where a kernel takes their addresses.
_READS = re.compile(r"(__builtin_)?(ato(i|l|ll|f)|nan[fl]?|w?mem(cmp|chr|rchr|mem|ccpy|pcpy)|bcmp|bcopy|stpn?cpy|wcs[a-z]+|v?sn?printf|sscanf|qsort|bsearch"
                    r"|str(n?cpy|n?cmp|n?casecmp|n?cat|n?len|r?chr|c?spn|pbrk|str|n?dup|xfrm|coll|tok(_r)?|to[a-z]+))")
# An order of memory that there is not: the compiler then makes a plain access, which nobody sees.
_ODD_ORDER = re.compile(r".*, (?:[6-9]|\d\d+)$")
_STRING = re.compile(r"_ZNK?St7__cxx1112basic_stringI")
_NODE = re.compile(r'node: \{ title: "([^"]+)" label: "[^"]*\\n([^"\\]+:\d+):\d+\\n(\d+) bytes \(([\w,]+)\)')
_EDGE = re.compile(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"')


def problem_with(functions, unmarked, taken, file, readable):
    """Why kernels among these functions (gimple.py) are refused; None where they are not. unmarked: see gimple.unmarked_in. taken: names
    of functions whose addresses the file takes. file: the student's. readable(names): these as people read them."""
    for function in functions.values():
        for started, place in function.launched:
            if started in functions and not functions[started].is_kernel:
                return f"{place}: launch starts {functions[started].short}, which is not declared __global__ (nvcc refuses it)"
    reached = _reached(functions, taken, file)
    called = {name: how for name, how in reached.items() if name not in functions}
    refused = [(how, "std::string") for name, how in reached.items() if _STRING.match(name)]
    refused += [(how, shown) for how, shown in zip(called.values(), readable(called)) if not _ALLOWED.fullmatch(shown)]
    for (place, by), shown in refused:
        shown = shown.split("(")[0].replace("__builtin_", "", 1)
        return (f"{place}: a kernel calls {shown}{by}, a function of the host (nvcc refuses it): kernels call functions of this file, "
                "those of CUDA, and those of numbers")
    for function in functions.values():
        for name, arguments, place in function.calls:
            if re.match("__atomic_", name) and _ODD_ORDER.match(arguments):
                return f"{place}: it calls {name} with an order of memory that there is not"
    for name, places in unmarked.items():
        if _plain(name) in reached and not (name in functions and functions[name].is_simulators):
            own = [each for each in places if each.startswith(file + ":")] or [reached[_plain(name)][0] or file]
            return (f"{own[0]}: a call takes a struct from memory, or puts one there, where the simulator does not see it (a function with "
                    "`...`, a pointer to a member, a constructor of what lies there): read it into a variable first, or assign it")
    return None


def _mentioned(functions, taken):
    """Names of functions whose addresses may be taken."""
    words = taken.union(*(function.words for function in functions.values() if not function.is_simulators))
    return {each for each in words if each in taken or each in functions}


def _kernels(functions):
    """Names of kernels. Where a launch gets a variable, each function of the student whose address is taken may be one."""
    out = {name for name, function in functions.items() if function.is_kernel}
    if any(started not in functions for function in functions.values() for started, _ in function.launched):
        out |= {name for name in _mentioned(functions, set()) if not re.match(r"_ZZ?N?K?(St|9__gnu_cxx)", name)}
    return out


def _reached(functions, taken, file):
    """Name -> (the last place in the student's file on the way to it, how it is called) of all that kernels reach."""
    mentioned = sorted(_mentioned(functions, taken))
    waiting = {name: ("", "") for name in sorted(_kernels(functions))}
    reached = dict(waiting)
    while waiting:
        name, (before, _) = waiting.popitem()
        if name not in functions:
            continue
        function = functions[name]
        found = [(called, place, "") for called, _, place in function.calls]
        found += [(each, place, "") for each, place in function.words.items() if each in functions or _READS.fullmatch(each)]
        found += [(each, place, " by a pointer") for place in function.pointers[:1] for each in mentioned]
        for called, place, by in found:
            if called not in reached:
                reached[called] = waiting[called] = place if place.startswith(file + ":") else before, by
    return reached


def own_memory(functions, graph):
    """(bytes that a thread of a kernel keeps on its stack, the place of what keeps most); bytes are infinite where a function
    calls itself or takes memory of a size that is not constant. graph: by -fcallgraph-info=su."""
    # A frame that grows is bounded where a call puts arguments there; the compiler also says so of alloca in a loop, counted once.
    takes = any(re.match("(__builtin_)?alloca", name) for function in functions.values() for name, _, _ in function.calls)
    fixed = re.compile("static" if takes else "static|dynamic,bounded")
    frames = {title: (int(size) if fixed.fullmatch(kind) else float("inf"), place) for title, place, size, kind in _NODE.findall(graph)}
    calls, known = {}, {}
    for caller, called in _EDGE.findall(graph):
        calls.setdefault(caller, set()).add(called)
    mentioned = _mentioned(functions, set())
    calls["__indirect_call"] = {title for title in frames if _plain(title) in mentioned and not functions[_plain(title)].is_kernel}

    def deepest(title):
        if title not in known:
            known[title] = float("inf"), frames.get(title, (0, ""))[1]  # where it is met again
            size, place = frames.get(title, (0, ""))
            below, where = max((deepest(each) for each in calls.get(title, ())), default=(0, ""))
            known[title] = size + below, where if below > size else place
        return known[title]

    kernels = _kernels(functions)
    try:
        return max((deepest(title) for title in frames if _plain(title) in kernels), default=(0, ""))
    except RecursionError:
        return float("inf"), ""


def _plain(title):
    """The name of a function in the graph, without its file and what the compiler adds to parts of it."""
    return title.split(":")[-1].split(".")[0]
