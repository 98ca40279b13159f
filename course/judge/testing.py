"""What a test of the course is made of: tasks, tests with points, checks, and readable failures.

A file of course/tests/ declares one task and its tests:

    from judge.testing import task

    T = task("0.1", "Strides", 15, "0_tensors/0.1_strides.cpp", exports=["course::strides_of"])

    @T.test(3, "known", "sizes with known strides", hint="The last dimension has stride 1.")
    def _(t):
        for sizes, strides in KNOWN:
            t.equal(t.run(sizes=sizes)["strides"], strides, "strides")

Tests know stored values and properties, never a solution. Inputs go from small to large: the first
that fails is the smallest.
"""
import array
import enum
import itertools
import json
import math
import random
import types

from . import counterexample, process

TASKS = {}


class _Op(enum.IntEnum):
    """An operation of core/types.h, a number to the runner, shown by its name."""

    def __str__(self):
        return self.name


Op1 = _Op("Op1", "neg exp log relu sigmoid tanh square identity", start=0)
Op2 = _Op("Op2", "add sub mul div maximum", start=0)

# What apply() of core/types.h gives where numbers are large, infinite or NaN: a formula of one's own often gives something else.
_INF, _NAN = math.inf, math.nan
EXTREMES1 = [-_INF, -100.0, -8.5, 12.5, 100.0, _INF, _NAN]
OF_EXTREMES1 = {Op1.neg: [_INF, 100.0, 8.5, -12.5, -100.0, -_INF, _NAN], Op1.exp: [0.0, 0.0, math.exp(-8.5), math.exp(12.5), _INF, _INF, _NAN],
                Op1.log: [_NAN, _NAN, _NAN, math.log(12.5), math.log(100), _INF, _NAN], Op1.relu: [0.0, 0.0, 0.0, 12.5, 100.0, _INF, 0.0],
                Op1.sigmoid: [0.0, 0.0, 1 / (1 + math.exp(8.5)), 1 / (1 + math.exp(-12.5)), 1.0, 1.0, _NAN],
                Op1.tanh: [-1.0, -1.0, -1.0, 1.0, 1.0, 1.0, _NAN],
                Op1.square: [_INF, 1e4, 72.25, 156.25, 1e4, _INF, _NAN], Op1.identity: EXTREMES1}
EXTREMES2 = [_NAN, 1.0, _INF, _INF, 1.0, -_INF], [1.0, _NAN, -_INF, 0.0, 0.0, 2.0]
OF_EXTREMES2 = {Op2.add: [_NAN, _NAN, _NAN, _INF, 1.0, -_INF], Op2.sub: [_NAN, _NAN, _INF, _INF, 1.0, -_INF],
                Op2.mul: [_NAN, _NAN, -_INF, _NAN, 0.0, -_INF], Op2.div: [_NAN, _NAN, _NAN, _INF, _INF, -_INF],
                Op2.maximum: [1.0, _NAN, _INF, _INF, 1.0, 2.0]}

OWN_BYTES = 2048  # of a thread: 255 registers of 4 bytes, and what this compiler keeps beside them
FAR = 2 ** 32 + 2 ** 14  # elements from one row to the next: more than 32 bits count, and a whole number of pages


class Failed(Exception):
    """A check that did not hold. The text is for the student; `compared` is what a picture is drawn of (counterexample.py)."""

    def __init__(self, text, compared=None):
        super().__init__(text)
        self.compared = compared


class NotImplementedYet(Failed):
    """The function is a stub."""


class Task:
    def __init__(self, name, title, points, file, exports, extra, given, options, calls, libraries):
        self.name, self.title, self.points, self.file = name, title, points, file
        self.exports, self.extra, self.given, self.options = exports, extra, given, options
        self.calls, self.libraries = calls, libraries
        self.module, self.kernels = int(name.split(".")[0]), file.endswith(".cu")
        self.tests, self.hidden_tests = [], []

    def test(self, points, name, title, hint):
        """Registers the function below as a test worth whole points."""
        return lambda body: self.tests.append(Test(self, points, name, title, hint, body))

    def hidden(self, of, name, title, hint):
        """Registers a test of the staff: where it fails, the public test `of` loses its points."""
        return lambda body: self.hidden_tests.append(Test(self, 0, name, title, hint, body, of))


class Test:
    def __init__(self, task_, points, name, title, hint, body, of=None):
        self.task, self.points, self.name, self.title = task_, points, name, title
        self.hint, self.body, self.of = hint, body, of


def task(name, title, points, file, exports, extra=False, given=(), options=(), calls=(), libraries=()):
    """Declares a task: its solution file in core/, the functions that this file defines for others, further
    files of runner/ or core/ that its runner is linked with (of those in .cu the simulator sees the kernels), and
    further options of the compiler (for the student's file), the functions of the course that it may call, and further options of the linker."""
    TASKS[name] = Task(name, title, points, file, list(exports), extra, list(given), list(options),
                       list(calls), list(libraries))
    return TASKS[name]


def hidden(name, of, test, title, hint):
    """Declares a hidden test in a file of the staff."""
    return TASKS[name].hidden(of, test, title, hint)


def public(name):
    """What the file of a task's public tests defines, for hidden ones: public("3.7").product(t, 9, 9, 9)."""
    return types.SimpleNamespace(**TASKS[name].tests[0].body.__globals__)


class Reply(dict):
    """The values that a runner sent; `findings` and `launches` are those of the simulator."""

    @property
    def findings(self):
        return json.loads(self.get("findings", "[]"))

    @property
    def launches(self):
        return [Launch(each) for each in json.loads(self.get("launches", "[]"))]

    def total(self, name):
        """A count, summed over all launches: reply.total("global_loads")."""
        return sum(each[name] for each in self.launches)

    def worst(self, unit):
        """The line with the most "sectors" or "wavefronts" too many, of the launch with the most of them."""
        count = {"sectors": "sectors", "wavefronts": "shared_wavefronts"}[unit]
        return max(self.launches, key=lambda each: each[count], default={}).get("worst_" + unit, "")


class Launch(dict):
    __getattr__ = dict.__getitem__


class Context:
    """What a test gets: calls of the student's code, random inputs, and checks."""

    def __init__(self, ask, seed, name, on_gpu=False, said=None):
        self._ask = ask
        self.random = random.Random(f"{seed} {name}")
        self.blocks_left = 0  # of memory that the student's code did not give back
        self.on_gpu = on_gpu  # on a GPU nothing is counted: leave counts out then
        self.counts = False  # whether the test looks at counts
        self.traffic = None  # of the last call, as the runner sent it
        self._inputs = {}
        self._said = said  # what the compiler said of the student's file

    # --- Calls
    def run(self, *, findings=False, **inputs):
        """Calls the student's code. Fails the test where it throws, and, unless findings=True, where the simulator
        finds a mistake."""
        return self._checked(self.run_unchecked(**inputs), findings)

    def begins(self, seconds=1, may_end=False, **inputs):
        """Calls the student's code with work for minutes, and ends the process when it has worked for some seconds without a
        mistake: nothing can be called after that, and None is returned. What ends earlier has left work out, unless it may end: then
        this is its reply."""
        self._inputs = inputs
        try:
            reply = self._checked(Reply(self._ask(inputs, seconds)))
        except process.Unfinished:
            return None
        if not may_end:
            self.fail("it ended at once, though this is work for minutes: is a number too large for an int?")
        return reply

    def _checked(self, reply, findings=False):
        if reply["problem"] == "not implemented":
            raise NotImplementedYet(reply["problem text"])
        found = reply.findings
        if found and not findings:
            self.fail(found[0]["text"])
        if reply["problem"] and not found:
            self.fail("it threw an exception: " + reply["problem text"])
        return reply

    def run_unchecked(self, **inputs):
        """The same, and the caller looks at reply["problem"]: "", "exception" or "not implemented"."""
        self._inputs, self.traffic = inputs, None
        reply = Reply(self._ask(inputs))
        self.traffic = reply.get("traffic")
        self.blocks_left = max(self.blocks_left, *reply.get("blocks left", [0]))
        return reply

    def throws(self, what, kind=None, **inputs):
        """Calls the student's code, which must throw; `kind`, such as "std::invalid_argument", or what is derived from it."""
        reply = self.run_unchecked(**inputs)
        if reply["problem"] == "not implemented":
            raise NotImplementedYet(reply["problem text"])
        if not reply["problem"]:
            self.fail(f"{what}: it threw nothing" + (f", expected {kind}" if kind else ""))
        types = reply["problem types"].split("\n")
        if kind and kind not in types:
            self.fail(f"{what}: it threw {types[0]}, expected {kind}")
        return reply["problem text"]

    # --- Inputs
    def floats(self, count, low=-1.0, high=1.0):
        """Random float32 numbers."""
        return list(array.array("f", (self.random.uniform(low, high) for _ in range(count))))

    def whole(self, count, low=-8, high=8):
        """Random whole numbers as float32, whose sums and products are exact."""
        return [float(self.random.randint(low, high)) for _ in range(count)]

    def quarters(self, count, low=-8, high=8):
        """Random multiples of 1/4 as float32, whose sums and products are exact: a sum that is an int loses them."""
        return [self.random.randint(4 * low, 4 * high) / 4 for _ in range(count)]

    # --- Checks
    def fail(self, text, compared=None):
        raise Failed(f"{self.shown_inputs()}{text}", compared)

    def check(self, condition, text):
        if not condition:
            self.fail(text)

    def equal(self, found, expected, what, before=None):
        """before: the number that the memory held before the call."""
        if not _same(found, expected):
            text = _difference(found, expected, what, _same)
            held = _shown(before)
            self.fail(text + (f" ({held} stood there before: it was not written)" if held in text else ""),
                      counterexample.compared(found, expected, what, _same, self._inputs))

    def close(self, found, expected, what, tolerance=1e-5, least=1.0):
        """Each number within tolerance * max(least, |expected|)."""
        near = lambda a, b: _same(a, b) or abs(a - b) <= tolerance * max(least, abs(b))  # noqa: E731
        if not isinstance(expected, (list, tuple)):
            found, expected = [found], [expected]
        if len(found) != len(expected) or not all(map(near, found, expected)):
            self.fail(_difference(found, expected, what, near), counterexample.compared(found, expected, what, near, self._inputs))

    def at_most(self, found, limit, what, where=""):
        """where: the line that counts most, such as reply.worst("sectors"). Memory that a thread keeps for itself is not counted,
        so there may be no more than registers hold; launches are counted whatever a thread keeps."""
        self.counts = True
        if self._said and self._said.own_bytes > OWN_BYTES and not what.startswith("launches"):
            kept = (f"a thread keeps {self._said.own_bytes:g} bytes for itself, at {self._said.where}" if math.isfinite(self._said.own_bytes) else
                    f"nobody knows how much a thread keeps for itself, at {self._said.where}: a function calls itself, or the size is no constant")
            self.fail(f"{kept}: 255 registers hold 1020 bytes, and all beyond them is local memory, which is as slow as global memory; "
                      "write a loop for a call of itself, and keep in shared memory what a block needs")
        if found > limit:
            self.fail(f"{what}: found {found}, expected at most {limit:g}" + (f"\n  {where}" if where else ""))

    def is_product(self, c, a, b, m, n, k, what="c"):
        """Freivalds' check that the row-major c (m, n) is a (m, k) times b (k, n), of whole() or quarters(): c v is
        a (b v) for random v. A wrong row goes unseen with a probability below 1e-5 for each of two v."""
        if len(c) != m * n:
            self.fail(f"{what} has {len(c)} elements, expected {m * n}")
        for i, each in enumerate(c):
            if not math.isfinite(each) or 16 * each != math.floor(16 * each):
                self._product_failed(c, a, b, i // n, n, k, what, 0)
        left, right, product = [int(4 * each) for each in a], [int(4 * each) for each in b], [int(16 * each) for each in c]
        for _ in range(2):
            v = [self.random.randint(-99991, 99991) for _ in range(n)]
            bv = [sum(map(int.__mul__, right[p * n:p * n + n], v)) for p in range(k)]
            for i in range(m):
                if sum(map(int.__mul__, product[i * n:i * n + n], v)) != sum(map(int.__mul__, left[i * k:i * k + k], bv)):
                    self._product_failed(c, a, b, i, n, k, what, i)

    def _product_failed(self, c, a, b, i, n, k, what, right):
        """Row i is wrong, and so many rows before it are right. Others are compared as far as that takes no time."""
        def row(i):
            return [sum(a[i * k + p] * b[p * n + j] for p in range(k)) for j in range(n)]
        for j, expected in enumerate(row(i)):
            if not _same(c[i * n + j], expected):
                end = min(len(c) // n, right + 1 + counterexample.MOST_PRODUCTS // (n * k + 1))
                all_rows = c[:right * n] + [each for other in range(right, end) for each in row(other)]
                self.fail(f"{what}[{i}, {j}]: found {_shown(c[i * n + j])}, expected {_shown(expected)}",
                          counterexample.compared(c, all_rows, what, _same, {"m": len(c) // n, "n": n}, len(all_rows)) if i < end else None)
        self.fail(f"{what}: row {i} is wrong")

    def no_finding(self, reply):
        """The simulator has found nothing."""
        if reply.findings:
            self.fail(reply.findings[0]["text"])

    # --- What a failure shows
    def shown_inputs(self):
        shown = [f"{name} = {_shown(value)}" for name, value in self._inputs.items() if not _is_long(value)]
        shown += [f"{name}: {len(value)} {'bytes' if isinstance(value, bytes) else 'numbers'}" for name, value in self._inputs.items() if _is_long(value)]
        return "with " + ", ".join(shown) + ":\n" if shown else ""


def positions(sizes):
    """All positions in a tensor of these sizes, in row-major order."""
    if not sizes:
        yield []
        return
    for i in range(sizes[0]):
        for rest in positions(sizes[1:]):
            yield [i, *rest]


def place(position, strides, offset=0):
    """Where the element at a position lies in memory."""
    return offset + sum(map(int.__mul__, position, strides))


def nearly_contiguous(sizes):
    """Strides that differ from those of a contiguous tensor in the order of the dimensions, or at one place: dense ones in each order, a gap
    behind one dimension, one stride of 0."""
    for order in itertools.permutations(range(len(sizes))):
        strides, step = [0] * len(sizes), 1
        for d in order:
            strides[d], step = step, step * sizes[d]
        yield strides
    contiguous = [math.prod(sizes[d + 1:]) for d in range(len(sizes))]
    for at in range(len(sizes)):
        yield [stride + 5 * math.prod(sizes[d + 1:at]) * (d < at) for d, stride in enumerate(contiguous)]
        yield [0 if d == at else stride for d, stride in enumerate(contiguous)]


def _same(a, b):
    if isinstance(a, float) and isinstance(b, float):
        return a == b or (math.isnan(a) and math.isnan(b))
    if isinstance(a, (list, tuple)) and isinstance(b, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    return a == b


def _is_long(value):
    return len(value) > (60 if isinstance(value, bytes) else 12) if isinstance(value, (list, tuple, bytes)) else False


def _shown(value, digits=6):
    if isinstance(value, float):
        return counterexample.number(value, digits) + ("" if value == value else " (not a number, or never written)")
    if isinstance(value, bytes):
        return repr(value[:60])[1:] + (f"... ({len(value)} in all)" if _is_long(value) else "")
    if isinstance(value, (list, tuple)):
        text = [_shown(each, digits) for each in value[:12]]
        if _is_long(value):
            text.append(f"... ({len(value)} in all)")
        return "[" + ", ".join(text) + "]"
    return str(value)


def _difference(found, expected, what, alike):
    if isinstance(found, (list, tuple)) and isinstance(expected, (list, tuple)):
        if len(found) == len(expected) > 8:
            for i, (a, b) in enumerate(zip(found, expected)):
                if not alike(a, b):
                    return _difference(a, b, f"{what}[{i}]", alike)
    digits = next((each for each in (6, 9) if _shown(found, each) != _shown(expected, each)), 17)  # 9 tell any two floats apart
    return f"{what}: found {_shown(found, digits)}, expected {_shown(expected, digits)}"
