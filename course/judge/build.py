"""Builds a runner: the judge's own parts, once, and a student's file with the checks that make it safe to link."""
import concurrent.futures
import contextlib
import functools
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import threading
import time
import typing

from . import gimple, kernels, limited, source, symbols, testing

CXX = os.environ.get("CXX", "g++")
COMMON = ["-std=c++20", "-g1", "-Wall", "-Wextra", "-Wno-unused-parameter"]
OWN = [*COMMON, "-O2"]
STUDENT = [*COMMON, "-O1", "-fno-stack-protector", "-U_FORTIFY_SOURCE", "-fno-gnu-unique", "-Werror=return-type"]
# Of files with kernels: a struct that a function takes by value is copied before the call, where the simulator sees it.
SEEN = ["-fno-elide-constructors"]
# Of files without kernels: a wrong index of a vector ends the program, and a new that nobody uses stays.
HOST = ["-D_GLIBCXX_ASSERTIONS", "-fno-allocation-dce"]
LARGEST_SOURCE = 64 << 10
LARGEST_FOLDER = 512 << 20  # of what was built before a grade; then the oldest goes
LARGEST_OBJECT = 8 << 20  # of a student's file
LARGEST_TEXT, LARGEST_OWN_TEXT = 16 << 20, 2 << 20  # with its macros, with all headers and without


# What a compiler says whose parts were ended, or got no memory.
_ENDED = re.compile(r"signal terminated program|virtual memory exhausted|out of memory|[Cc]annot allocate memory|std::bad_alloc")


class Problem(Exception):
    """Why a student's file cannot be tested. The text is for the student."""


class Ended(Problem):
    """The compiler was ended, or reached a limit: another time it may not, so this verdict is not kept."""


class Said(typing.NamedTuple):
    """What the compiler said of a student's file."""
    warnings: str = ""
    own_bytes: float = 0  # that a thread of a kernel keeps for itself
    where: str = ""  # the function that keeps most of them


class Builder:
    """Builds into `folder`, with the parts of the course in `home`. What is built already is used again."""

    def __init__(self, home, folder):
        self.home, self.folder = home, os.path.abspath(folder)
        # What was handed out beside the solutions. A student's repository has a copy, so that changes of core/ make no score.
        self.given = os.path.join(home, "judge") if os.path.isdir(os.path.join(home, "judge", "core")) else home
        self._locks, self._lock = {}, threading.Lock()
        root = home if os.path.isdir(os.path.join(home, "cuda")) else os.path.dirname(home)
        self._simulator = os.path.join(root, "cuda", "sim")
        # Of what the repository holds, <gradus/...> finds the simulator alone: a student's object depends on nothing else.
        self._links = os.path.join(self.folder, "include", _digest(self._simulator)[:8])
        os.makedirs(os.path.join(self._links, "gradus", "cuda"), exist_ok=True)
        try:
            os.symlink(self._simulator, os.path.join(self._links, "gradus", "cuda", "sim"))
        except FileExistsError:
            pass
        # All that a source may include beside the compiler's headers, and what compiles kernels.
        self._surroundings = self._hash_of(glob.glob(os.path.join(self.given, "core", "*.h")) +
                                           glob.glob(os.path.join(home, "runner", "**", "*.h"), recursive=True) +
                                           glob.glob(os.path.join(self._simulator, "**", "*"), recursive=True))
        # What lets the simulator see each access of a kernel (cuda/sim/simulate.cmake says why each is there).
        with open(os.path.join(self._simulator, "kernel.options")) as file:
            self._kernel = file.read().split()
        # What the object of a student's file depends on, besides its text.
        self._rules = self._surroundings + self._hash_of([each.__file__ for each in (symbols, source, gimple, kernels, limited)] + [__file__]) + \
            " ".join(self._kernel) + compilers_name()

    # --- What the judge's own parts are made of
    def runner(self, task, submission):
        """The program that runs the student's file of a task. Errors: Problem."""
        student = self._student_object(task, submission)
        sources = [*self._runner_sources(task), os.path.join("core", "not_implemented.cpp")]
        objects = [*map(self._own, sources), *map(self._given, task.given), student]
        libraries = [*task.libraries, *self._simulator_libraries(task)]
        program = self._path("".join([*objects, *libraries]), f"run-{task.name}")
        try:
            return self._made(program, [*self._linker(), "-o", program, *objects, *libraries, "-lpthread"])
        except Problem as problem:
            for each in task.exports:
                if f"{each}(" in str(problem):  # it has no definition: only the student's object could have it
                    raise Problem(f"core/{task.file}: it defines {each.replace('course::', '', 1)} with other arguments "
                                  f"than {self._header_of(task)} declares: keep the function's arguments as they were "
                                  "handed out") from None
            raise

    def _header_of(self, task):
        """The header that declares what is asked for."""
        for path in sorted(glob.glob(os.path.join(self.given, "core", "*.h"))):
            with open(path) as file:
                if f"// Task {task.name}." in file.read():
                    return "core/" + os.path.basename(path)
        return "its header"

    def _linker(self):
        return [CXX, "-Wl,-z,now"]

    def _runner_sources(self, task):
        own = os.path.basename(os.path.splitext(task.file)[0]) + ".cpp"
        observe = "observe_simulator.cpp" if task.kernels else "observe_nothing.cpp"
        # Races are found by an operator new of their own.
        memory = [] if task.kernels or "runner/races.cpp" in task.given else ["memory.cpp"]
        return [os.path.join("runner", each) for each in ("main.cpp", "message.cpp", "sandbox.cpp", "where.cpp", observe, own, *memory)]

    def _simulator_libraries(self, task):
        return [*map(self._simulator_object, self._simulator_rooms()), "-lbacktrace"] if task.kernels else []

    def prepare(self, tasks, jobs=None, told=lambda done, of: None):
        """Builds all that does not depend on a student, with `jobs` compilers at once (one for each core). told() is called
        as it goes on."""
        self._trim()
        sources, given = [os.path.join("core", "not_implemented.cpp")], []
        for task in tasks:
            sources += self._runner_sources(task)
            given += task.given
        with concurrent.futures.ThreadPoolExecutor(jobs or os.cpu_count()) as pool:
            waiting = []
            if any(task.kernels for task in tasks):
                waiting += [pool.submit(self._simulator_object, each) for each in self._simulator_rooms()]
            waiting += [pool.submit(self._own, each) for each in dict.fromkeys(sources)]
            waiting += [pool.submit(self._given, each) for each in dict.fromkeys(given)]
            for number, each in enumerate(waiting, 1):
                each.result()
                told(number, len(waiting))

    def _includes(self):
        """Of a student's file: nothing that may differ between a student's repository and the grader."""
        return ["-I", self.given, "-I", self._links, "-isystem", os.path.join(self._simulator, "include")]

    def _own_compiler(self):
        return [CXX, *OWN]

    def _given(self, source):
        """A further file of a task. The simulator sees its kernels."""
        return self._own(source, compiler=self._kernel_compiler() if source.endswith(".cu") else None)

    def _kernel_compiler(self):
        return [os.path.join(self._simulator, "compile"), *self._own_compiler(), *self._kernel, "-x", "c++"]

    def _own(self, source, *options, compiler=None):
        path = os.path.join(self.given if source.startswith("core" + os.sep) else self.home, source)
        options = [*(compiler or self._own_compiler()), *options]
        command = [*options, *self._includes(), "-I", self.home, "-c", path]
        out = self._path(self._hash_of([path]) + self._surroundings + compilers_name() + " ".join(options),
                         os.path.basename(source) + ".o")
        return self._made(out, [*command, "-o", out])

    def _simulator_rooms(self):
        return sorted({os.path.dirname(each) for each in glob.glob(os.path.join(self._simulator, "*", "*.cpp"))})

    def _simulator_object(self, room):
        """The sources of one of the simulator's folders, compiled as one: less than half of the time."""
        name = "sim-" + os.path.basename(room)
        unit = os.path.join(self.folder, name + ".cpp")
        options = [CXX, "-std=c++20", "-O2", "-U_FORTIFY_SOURCE"]
        command = [*options, *self._includes(), "-c", unit]
        out = self._path(self._surroundings + compilers_name() + " ".join(options), name + ".o")
        with self._lock_of(out):
            if not os.path.exists(out):
                _write(unit, "".join(f'#include "gradus/cuda/sim/{os.path.basename(room)}/{os.path.basename(each)}"\n'
                                     for each in sorted(glob.glob(os.path.join(room, "*.cpp")))))
        return self._made(out, [*command, "-o", out])

    # --- A student's file
    def _student_object(self, task, submission):
        path = os.path.join(submission, "core", task.file)
        text = _read_solution(path, task)
        name = os.path.join("core", task.file)
        out = self._object_path(task, text)
        with self._lock_of(out):
            if os.path.exists(out + ".problem"):
                with open(out + ".problem") as file:
                    raise Problem(file.read())
            if not os.path.exists(out):
                # A folder for this text alone: another of the same task may be compiled at the same time.
                with tempfile.TemporaryDirectory(prefix=f"stage-{os.getpid()}-", dir=self.folder) as stage:
                    staged = os.path.join(stage, name)
                    os.makedirs(os.path.dirname(staged))
                    with open(staged, "wb") as file:
                        file.write(text)
                    try:
                        self._compile(task, stage, name, out + _part())
                    except symbols.Unreadable as unreadable:
                        raise Ended(f"{name}: {unreadable}") from None
                    except Ended:
                        raise
                    except Problem as problem:
                        _write(out + ".problem", str(problem))
                        raise
                os.replace(out + _part(), out)
        return out

    def _object_path(self, task, text):
        return self._path(hashlib.sha256(text).hexdigest() + self._rules + task.name + " ".join(task.options), f"{task.name}.o")

    def text(self, task, submission):
        """The text of a student's file. Errors: Problem."""
        return _read_solution(os.path.join(submission, "core", task.file), task).decode(errors="replace")

    def said(self, task, submission):
        """What the compiler said of a file that it compiled."""
        path = self._object_path(task, _read_solution(os.path.join(submission, "core", task.file), task)) + ".said"
        if not os.path.exists(path):
            return Said()
        with open(path) as file:
            return Said(*json.load(file))

    def changed_headers(self):
        """Files that were handed out and are no longer as they were: grades do not depend on them."""
        if self.given == self.home:
            return []
        names = [os.path.relpath(os.path.join(folder, each), self.given)
                 for folder, _, files in os.walk(os.path.join(self.given, "core")) for each in files]
        return sorted(each for each in names if self._hash_of([os.path.join(self.home, each)]) !=
                      self._hash_of([os.path.join(self.given, each)]))

    def _compile(self, task, stage, name, out):
        options = STUDENT + ([*self._kernel, *SEEN] if task.kernels else HOST)
        compiler = [os.path.join(self._simulator, "compile"), CXX] if task.kernels else [CXX]
        command = [*compiler, *options, *task.options, *self._includes(), "-c", *(["-x", "c++"] if task.kernels else []),
                   name, "-o", out]
        self._check_text(command, name, stage)
        account = ["-dumpdir", stage + os.sep, "-dumpbase", "made", "-fdump-tree-ssa-asmname-lineno=made",
                   "-fdump-tree-tsan-asmname-lineno=marked", "-fcallgraph-info=su"]
        warnings = _run([*command, *account], stage, largest=LARGEST_OBJECT)
        # Of a file without functions the compiler writes no account.
        made, marked, graph = (_bytes_of(path).decode(errors="replace") if os.path.exists(path) else ""
                               for path in (os.path.join(stage, each) for each in ("made", "marked", "made.ci")))
        try:
            functions = gimple.functions_in(made)
        except gimple.Refused as refused:
            raise Problem(f"{name}: {refused}") from None
        memory = 0, ""
        if task.kernels:
            unmarked = gimple.unmarked_in(marked, symbols.data_of(out))
            problem = kernels.problem_with(functions, unmarked, symbols.addresses_taken(out), name, symbols.readable)
            if problem:
                raise Problem(problem)
            memory = kernels.own_memory(functions, graph)
        _write(self._object_path(task, _bytes_of(os.path.join(stage, name))) + ".said", json.dumps([warnings, *memory]))
        # GCC's own constructor of the thread sanitizer, which has nothing to do here.
        _run(["objcopy", "--remove-section=.init_array.00099", "--remove-section=.rela.init_array.00099", out], stage)
        problem = symbols.problem_with(out, set(task.exports), {"course::not_implemented", *task.calls},
                                       {name for each in testing.TASKS.values() for name in each.exports})
        if problem:
            raise Problem(f"{name}: {problem}")
        # Only what the task asks for is seen by the runner: nothing can take the place of a function of others.
        names = symbols.kept_symbols(out, set(task.exports))
        joined = os.path.join(stage, "joined.o")
        _run(["ld", "-r", "--force-group-allocation", "-o", joined, out], stage)
        _run(["objcopy", *(f"--keep-global-symbol={each}" for each in names), joined, out], stage)

    def _check_text(self, command, name, stage):
        """Reads the file as the compiler does, macros and all: it includes the course's headers and the compiler's, and
        holds nothing that hides what it does."""
        problem = source.problem_of_text(_bytes_of(os.path.join(stage, name)).decode(errors="replace"))
        if problem:
            raise Problem(f"{name}: {problem}")
        text = _run(["-E" if each == "-c" else each for each in command[command.index(CXX):-2]], stage, shown=False, largest=LARGEST_TEXT)
        allowed = tuple(os.path.realpath(each) + os.sep for each in
                        (os.path.join(self._simulator, "include"), *_compilers_folders()))
        headers = {os.path.realpath(each) for each in glob.glob(os.path.join(self.given, "core", "*.h"))}
        own, inside = [], False
        for line in text.splitlines():
            marker = re.match(r'# \d+ "([^"<]*)', line)
            if not marker:
                if inside:
                    own.append(line)
                continue
            inside = marker.group(1) == name
            path = os.path.realpath(os.path.join(stage, marker.group(1)))
            if not (inside or not marker.group(1) or path == os.path.realpath(stage) or
                    path.startswith(allowed) or path in headers):
                raise Problem(f"{name}: it includes {marker.group(1)}, which is not among the course's headers")
        if sum(map(len, own)) > LARGEST_OWN_TEXT:
            raise Problem(f"{name}: its macros make more than {LARGEST_OWN_TEXT >> 20} MB of text; no solution needs so much")
        word = source.forbidden_word("\n".join(own))
        if word:
            raise Problem(f"{name}: it holds '{word}', which no solution needs")

    # --- Files that are made once
    def _path(self, key, name):
        return os.path.join(self.folder, _digest(key)[:16] + "-" + name)

    def _hash_of(self, files):
        digest = hashlib.sha256()
        for each in sorted(files):
            if os.path.isfile(each):
                digest.update(os.path.basename(each).encode())
                with open(each, "rb") as file:
                    digest.update(file.read())
        return digest.hexdigest()

    def _lock_of(self, path):
        with self._lock:
            return self._locks.setdefault(path, threading.Lock())

    def _made(self, path, command):
        with self._lock_of(path):
            if not os.path.exists(path):
                temporary = path + _part()
                _run([temporary if each == path else each for each in command], self.folder)
                os.replace(temporary, path)
            else:
                os.utime(path)  # it is in use: _trim() takes others first
        return path

    def _trim(self):
        """Removes what is oldest. Another grade may do so in the same folder, so any file may be gone by now."""
        for each in glob.glob(os.path.join(self.folder, "stage-*")):  # of a grade that was ended
            with contextlib.suppress(FileNotFoundError):
                if time.time() - os.stat(each).st_mtime > 3600:
                    shutil.rmtree(each, ignore_errors=True)
        files = []
        for each in os.scandir(self.folder):
            with contextlib.suppress(FileNotFoundError):
                if each.is_file(follow_symlinks=False):
                    files.append((each.stat().st_mtime, each.stat().st_size, each.path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= LARGEST_FOLDER:
                break
            total -= size
            with contextlib.suppress(FileNotFoundError):
                os.remove(path)


@functools.lru_cache
def _compilers_folders():
    """Where the compiler looks for headers by itself."""
    text = subprocess.run([CXX, "-E", "-v", "-x", "c++", os.devnull], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"}).stderr
    listed = re.search(r"search starts here:\n((?: .*\n|#include.*\n)*)End of search list", text)
    return [line.strip() for line in listed.group(1).splitlines() if line.startswith(" ")] if listed else ["/usr/include"]


@functools.lru_cache
def compilers_name():
    """The compiler with its version: another makes other objects."""
    return subprocess.run([CXX, "--version"], capture_output=True, text=True).stdout.split("\n")[0]


def _digest(text):
    return hashlib.sha256(text.encode()).hexdigest()


def _part():
    """The end of a file's name until it is whole: another process may build the same."""
    return f".{os.getpid()}.part"


def _write(path, text):
    with open(path + _part(), "w") as file:
        file.write(text)
    os.replace(path + _part(), path)


def _read_solution(path, task):
    if os.path.islink(path) or not os.path.isfile(path):
        raise Problem(f"core/{task.file} is missing, or is no regular file")
    if os.path.getsize(path) > LARGEST_SOURCE:
        raise Problem(f"core/{task.file} has more than {LARGEST_SOURCE >> 10} KB")
    return source.text_of(_bytes_of(path))


def _bytes_of(path):
    with open(path, "rb") as file:
        return file.read()


def _run(command, folder, shown=True, largest=limited.OUTPUT):
    """The program's messages, or with shown=False its output. Errors: Problem."""
    try:
        status, out, messages = limited.run(command, folder, output=largest, seconds=20 if "-E" in command else limited.SECONDS)
    except limited.Exceeded as exceeded:
        raise Ended(f"{exceeded}; no solution needs so much") from None
    if status != 0:
        text = "\n".join((messages + (out if shown else "")).strip().splitlines()[:30])
        if status < 0 or status > 128 or _ENDED.search(messages):
            raise Ended(f"the compiler was ended before it was done: either this file needs more than {limited.SECONDS} s or "
                        f"{limited.MEMORY >> 20} MB, or the machine is short of memory; run it again\n{text}".rstrip())
        raise Problem(text or f"{command[0]} ended with status {status}")
    return messages if shown else out
