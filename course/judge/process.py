"""A runner's process: requests and replies, and limits of time, memory and output."""
import ctypes
import os
import platform
import re
import resource
import select
import signal
import time

from . import limited, message


# What the C++ library prints before it ends a program (-D_GLIBCXX_ASSERTIONS), and what that means.
_ASSERTION = re.compile(r"/[^\s:]+:\d+: .*: Assertion '(.*)' failed\.\n?")
# What a runner tells before it ends: addresses of calls, and the thread of a kernel.
_WHERE = re.compile(rb"\n\x02at([ 0-9a-f]*)((?:, [a-z]+ \([\d, ]+\))*)\x03")
_ASSERTIONS = {"__n < this->size()": "an index outside of a vector",
               "!this->empty()": "front(), back() or pop_back() of an empty vector",
               "this->_M_is_engaged()": "the value of an empty std::optional"}


class Limits:
    """What one test may use. Processor time decides, so that a busy machine changes no verdict."""
    processor_seconds = 8
    wall_seconds = 120
    resident_bytes = 450 << 20
    output_bytes = 256 << 10
    reply_bytes = 16 << 20


class ShortLimits(Limits):
    """What the tests after an endless loop may use, so that each is tried."""
    processor_seconds = 3


class Died(Exception):
    """The runner ended, or was ended, without a reply."""


class Unfinished(Died):
    """It works for as long as was asked, without a mistake so far."""


class Runner:
    """A process that answers requests. `output` is what the student's code printed during the last of them; `timed_out`, whether it
    went on until its limit. file: the student's, whose lines are told."""

    def __init__(self, program, cores=None, limits=Limits, environment=None, file=None):
        self._program, self._limits, self._file = program, limits, file
        self.output, self._printed_bytes = b"", 0
        self._pid, self.timed_out = None, False
        request_end, self._requests = os.pipe()
        self._replies, reply_end = os.pipe()
        self._printed, print_end = os.pipe()
        null = os.open(os.devnull, os.O_RDONLY)
        # Numbers above those that the child gets, so that no dup2 closes one that is still needed.
        moved = [os.dup(each) for each in (null, print_end, request_end, reply_end)]
        while min(moved) < 10:
            moved = [os.dup(each) for each in moved]
        actions = [(os.POSIX_SPAWN_DUP2, source, target)
                   for source, target in zip((moved[0], moved[1], moved[1], moved[2], moved[3]), range(5))]
        env = {"PATH": "/usr/bin:/bin", "LC_ALL": "C", "GRADUS_SIM_DEVICES": "4", "GRADUS_SIM_PATIENCE": "5",
               **(environment or {})}
        if cores:
            env["GRADUS_SIM_CORES"] = str(cores)
        try:
            self._pid = os.posix_spawn(program, [program], env, file_actions=actions, setpgroup=0)
        finally:
            for each in {null, print_end, request_end, reply_end, *moved}:
                os.close(each)
        # The simulator reserves terabytes of addresses, so the address space has no limit.
        for what, limit in ((resource.RLIMIT_CPU, limits.processor_seconds), (resource.RLIMIT_FSIZE, 0),
                            (resource.RLIMIT_CORE, 0)):
            try:
                resource.prlimit(self._pid, what, (limit, limit + (what == resource.RLIMIT_CPU)))
            except ProcessLookupError:
                pass
        self.processor_seconds = 0.0

    def ask(self, inputs, seconds=None):
        """The reply to a request. Errors: Died; Unfinished after so many seconds of processor time."""
        self.output = b""
        self._enough = None if seconds is None else _processor_seconds(self._pid) + seconds
        try:
            _write_all(self._requests, message.pack(inputs))
        except BrokenPipeError:
            pass  # the reply says why
        deadline = time.monotonic() + self._limits.wall_seconds
        self._reply_bytes = 0
        reply = message.unpack(lambda n: self._read(n, deadline))
        reply.update(message.unpack(lambda n: self._read(n, deadline)))  # what is known when the reply is forgotten
        self._take_all_output()
        return reply

    def _read(self, size, deadline):
        self._reply_bytes += size
        if self._reply_bytes > self._limits.reply_bytes:
            raise Died(self._kill(f"its results have more than {self._limits.reply_bytes >> 20} MB"))
        out = bytearray()
        while len(out) < size:
            ready, _, _ = select.select([self._replies, self._printed], [], [], 0.02)
            if self._printed in ready:
                self._take_output()
            if self._replies in ready:
                part = os.read(self._replies, min(size - len(out), 1 << 20))
                if not part:
                    raise Died(self._why())
                out += part
            elif time.monotonic() > deadline:
                raise Died(self._kill(f"it took longer than {self._limits.wall_seconds} s"))
            if self._enough is not None and _processor_seconds(self._pid) > self._enough:
                os.killpg(self._pid, signal.SIGKILL)
                raise Unfinished("it has not ended")
            if _resident(self._pid) > self._limits.resident_bytes:
                raise Died(self._kill(f"it used more than {self._limits.resident_bytes >> 20} MB of memory: does a loop, or a function that calls itself, never end?"))
        return bytes(out)

    def _take_output(self):
        part = os.read(self._printed, 1 << 16)
        self.output += part
        self._printed_bytes += len(part)
        if self._printed_bytes > self._limits.output_bytes:
            raise Died(self._kill(f"it printed more than {self._limits.output_bytes >> 10} KB"))
        return part

    def _take_all_output(self):
        while select.select([self._printed], [], [], 0)[0] and self._take_output():
            pass

    def _kill(self, why):
        """Ends the process, which says where it is."""
        _end_busiest(self._pid)
        deadline = time.monotonic() + 1
        while time.monotonic() < deadline and not os.waitid(os.P_PID, self._pid, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            time.sleep(0.01)
        os.killpg(self._pid, signal.SIGKILL)
        while select.select([self._printed], [], [], 0)[0]:
            part = os.read(self._printed, 1 << 16)
            self.output += part
            if not part:
                break
        return why + self._where()

    def _where(self):
        """The student's line, and the thread of a kernel, that the process has told last (runner/where.cpp)."""
        found = _WHERE.findall(self.output)
        self.output = _WHERE.sub(b"", self.output)
        if not found or not self._file:
            return ""
        calls, thread = found[-1]
        try:
            _, out, _ = limited.run(["addr2line", "-i", "-e", self._program, *(b"0x" + each for each in calls.split())], seconds=10)
        except limited.Exceeded:
            return ""
        line = re.search(r"/core/" + re.escape(self._file) + r":(\d+)", out)
        return f"\n  at {os.path.basename(self._file)}:{line.group(1)}{thread.decode()}" if line else ""

    def _why(self):
        """Why the process has ended by itself."""
        status = self._wait()
        self._take_all_output()
        if os.WIFEXITED(status):
            code = os.WEXITSTATUS(status)
            if code == 77:
                return self.output.decode(errors="replace").strip()
            if code == 76:
                return self._too_long()
            return f"the program ended by itself, with status {code}"
        number, where = os.WTERMSIG(status), self._where()
        if number == signal.SIGSYS:
            return "the program made a system call that no solution needs, and was ended"
        if number in (signal.SIGXCPU, signal.SIGKILL):
            return self._too_long()
        if number == signal.SIGXFSZ:
            return "it wrote to a file, which no solution needs, and was ended"
        if number == signal.SIGABRT:
            text = self.output.decode(errors="replace")
            found = _ASSERTION.search(text)
            if found:
                self.output = _ASSERTION.sub("", text).encode()
                return "the program ended: " + _ASSERTIONS.get(found.group(1), f"'{found.group(1)}' does not hold") + where
        names = {signal.SIGSEGV: "an access outside of its memory; if a function calls itself, perhaps the stack is full",
                 signal.SIGABRT: "abort()",
                 signal.SIGFPE: "a division by zero"}
        return f"the program crashed: {names.get(number, signal.Signals(number).name)}{where}"

    def _too_long(self):
        self.timed_out = True
        return f"it took more than {self._limits.processor_seconds} s of processor time: does a loop never end?{self._where()}"

    def _wait(self):
        if self._pid is None:
            return 0
        pid, self._pid = self._pid, None
        _, status, usage = os.wait4(pid, 0)
        self.processor_seconds += usage.ru_utime + usage.ru_stime
        return status

    def close(self):
        if self._pid is not None:
            try:
                os.killpg(self._pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._wait()
        for each in (self._requests, self._replies, self._printed):
            if each is not None:
                os.close(each)
        self._requests = self._replies = self._printed = None


def _write_all(file, data):
    view = memoryview(data)
    while view:
        view = view[os.write(file, view):]


def _processor_seconds(pid):
    try:
        with open(f"/proc/{pid}/stat", errors="replace") as stat:
            return sum(map(int, stat.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")
    except (OSError, IndexError, ValueError):
        return 0.0


def _end_busiest(pid):
    """Sends SIGXCPU to the thread of the process that has worked most."""
    def worked(thread):
        try:
            with open(f"/proc/{pid}/task/{thread}/stat", errors="replace") as stat:
                return sum(map(int, stat.read().rpartition(")")[2].split()[11:13]))
        except (OSError, ValueError):
            return -1
    try:
        busiest = max(map(int, os.listdir(f"/proc/{pid}/task")), key=worked)
    except (OSError, ValueError):
        return
    ctypes.CDLL(None).syscall(234 if platform.machine() == "x86_64" else 131, pid, busiest, int(signal.SIGXCPU))  # tgkill


def _resident(pid):
    try:
        with open(f"/proc/{pid}/statm") as statm:
            return int(statm.read().split()[1]) * resource.getpagesize()
    except (OSError, IndexError, ValueError):
        return 0
