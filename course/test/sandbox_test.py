"""Tests the runner's system call filter: what a student's code would meet that reaches system calls by some trick."""
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest

COURSE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(COURSE))
from judge import build  # noqa: E402

PROGRAM = r"""
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cerrno>
#include <cstdlib>
#include "runner/sandbox.h"
int main(int, char** words) {
  const int before = open("/etc/passwd", O_RDONLY);
  close_files();
  const pid_t parent = std::atoi(words[2]);
  switch (std::atoi(words[1])) {
    case 0: return before >= 0 && open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES ? 0 : 1;
    case 1: return syscall(SYS_tgkill, getpid(), gettid(), 0) == 0 ? 0 : 1;
    case 2: return static_cast<int>(syscall(SYS_tgkill, parent, parent, 0));
    case 3: return static_cast<int>(syscall(SYS_kill, parent, 0));
    case 4: return static_cast<int>(syscall(SYS_prlimit64, parent, RLIMIT_CPU, nullptr, nullptr));
    case 5: return static_cast<int>(syscall(SYS_socket, 1, 1, 0));
    case 6: return write(3, "x", 1) < 0 ? 1 : 0;
    case 7: return fork() < 0 ? 1 : 0;
  }
}
"""


class SandboxTest(unittest.TestCase):
    def test_opens_nothing_and_signals_nobody_else(self):
        folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, folder)
        source, program = os.path.join(folder, "try.cpp"), os.path.join(folder, "try")
        pathlib.Path(source).write_text(PROGRAM)
        subprocess.run([build.CXX, "-std=c++20", "-w", "-I", str(COURSE), source, str(COURSE / "runner" / "sandbox.cpp"), "-o", program],
                       check=True)
        for what in range(8):
            done = subprocess.run([program, str(what), str(os.getpid())], check=False)
            self.assertEqual(0 if what < 2 else -signal.SIGSYS, done.returncode, what)


if __name__ == "__main__":
    unittest.main()
