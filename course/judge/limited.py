"""Runs a program that reads what a student wrote: the compiler, and those that read its objects. Each has limits of time,
memory and output, and a session of its own that ends with it."""
import os
import signal
import subprocess
import tempfile

SECONDS, WALL_SECONDS = 60, 240  # of processor time; on a busy machine
MEMORY = 600 << 20  # the judge and a compiler fit into the smallest grader
OUTPUT = 64 << 20  # of each file that it writes
# Variables that change what a compiler reads: a file must mean the same for its student and for the grader.
_FORGOTTEN = ("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "OBJC_INCLUDE_PATH", "LIBRARY_PATH", "LD_RUN_PATH", "COMPILER_PATH",
              "GCC_EXEC_PREFIX", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES", "SOURCE_DATE_EPOCH", "GCC_COMPARE_DEBUG")


class Exceeded(Exception):
    """The program reached a limit. The text says which."""


def run(command, folder=None, text="", memory=MEMORY, output=OUTPUT, seconds=SECONDS):
    """(exit status, what it printed, its messages). Errors: Exceeded."""
    shell = f'ulimit -c 0; ulimit -t {seconds}; ulimit -v {memory >> 10}; ulimit -f {output >> 9}; exec "$@"'
    environment = {name: value for name, value in os.environ.items() if name not in _FORGOTTEN}
    environment.update({"LC_ALL": "C.UTF-8", **({"TMPDIR": folder} if folder else {})})
    with tempfile.TemporaryFile(dir=folder) as given, tempfile.TemporaryFile(dir=folder) as out, \
            tempfile.TemporaryFile(dir=folder) as messages:
        given.write(text.encode())
        given.seek(0)
        process = subprocess.Popen(["/bin/sh", "-c", shell, "sh", *command], cwd=folder, stdin=given, stdout=out,
                                   stderr=messages, start_new_session=True, env=environment)
        try:
            status = process.wait(WALL_SECONDS)
        except subprocess.TimeoutExpired:
            raise Exceeded(f"{os.path.basename(command[0])} took longer than {WALL_SECONDS} s") from None
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
        if status in (-signal.SIGXFSZ, 128 + signal.SIGXFSZ):
            raise Exceeded(f"{os.path.basename(command[0])} wrote more than {output >> 20} MB")
        out.seek(0), messages.seek(0)
        printed, said = (each.read(output).decode(errors="replace") for each in (out, messages))
        if status != 0 and "File size limit exceeded" in said:  # of a program that the compiler started
            raise Exceeded(f"{os.path.basename(command[0])} wrote more than {output >> 20} MB")
        return status, printed, said
