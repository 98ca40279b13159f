// The runner's system call filter. It is in place before the program's first constructor: all that
// the student's code can do is compute, print, and answer the judge.
#include "runner/sandbox.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>

namespace {

constexpr unsigned kNumber = offsetof(seccomp_data, nr), kArchitecture = offsetof(seccomp_data, arch);
constexpr unsigned argument(int i) { return offsetof(seccomp_data, args) + 8u * static_cast<unsigned>(i); }

#ifdef __x86_64__
constexpr unsigned kThis = AUDIT_ARCH_X86_64;
#else
constexpr unsigned kThis = AUDIT_ARCH_AARCH64;
#endif

#define LOAD(offset) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset)
#define RETURN(what) BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW(call) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define REFUSE(call, error) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(SECCOMP_RET_ERRNO | (error))

void use(const sock_fprog& program) {
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) return;
  constexpr char text[] = "the runner could not install its system call filter\n";
  [[maybe_unused]] const ssize_t n = write(2, text, sizeof text - 1);
  _exit(77);
}

void install() {
  sock_filter filter[] = {
      LOAD(kArchitecture),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kThis, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(kNumber),
      // Memory, threads that wait for one another, time.
      ALLOW(brk), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(madvise), ALLOW(mprotect), ALLOW(futex),
      ALLOW(sched_yield), ALLOW(sched_getaffinity), ALLOW(clock_gettime), ALLOW(clock_nanosleep), ALLOW(nanosleep),
      ALLOW(gettimeofday), ALLOW(getrandom), ALLOW(getpid), ALLOW(gettid), ALLOW(set_robust_list), ALLOW(rseq),
      ALLOW(getrlimit), ALLOW(sysinfo), ALLOW(exit), ALLOW(exit_group),
      // Signals, which report faults of kernels, within the process.
      ALLOW(rt_sigaction), ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
      LOAD(argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(getpid()), 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      // A filter more, which can only forbid.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prctl, 0, 5),
      LOAD(argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_NO_NEW_PRIVS, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, PR_SET_SECCOMP, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      // The limits of this process alone: its number, or 0.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 5),
      LOAD(argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(getpid()), 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      // Files that are open, and files to read: the program's own symbols and lines, until close_files().
      ALLOW(read), ALLOW(fcntl), ALLOW(pread64), ALLOW(close), ALLOW(lseek), ALLOW(fstat), ALLOW(newfstatat), ALLOW(readlinkat),
#ifdef __x86_64__
      ALLOW(readlink), ALLOW(stat), ALLOW(access), ALLOW(arch_prctl), ALLOW(time),
#endif
      REFUSE(ioctl, ENOTTY), REFUSE(clone3, ENOSYS), REFUSE(statx, ENOSYS),
      // A new thread, but no new process.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
      LOAD(argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 0x00010000 /* CLONE_THREAD */, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 4),
      LOAD(argument(2)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, 03 | 0100 | 01000 /* writing, creating, truncating */, 1, 0),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      // Output, errors, and replies to the judge.
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_writev, 1, 0),
      RETURN(SECCOMP_RET_KILL_PROCESS),
      LOAD(argument(0)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 1, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 2, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 4, 0, 1),
      RETURN(SECCOMP_RET_ALLOW),
      RETURN(SECCOMP_RET_KILL_PROCESS),
  };
  use({static_cast<unsigned short>(sizeof filter / sizeof *filter), filter});
}

// Runs before every constructor of the program.
[[gnu::section(".preinit_array"), gnu::used]] void (*const first)() = install;

}  // namespace

void close_files() {
  sock_filter filter[] = {
      LOAD(kNumber),
      REFUSE(openat, EACCES),
#ifdef __x86_64__
      REFUSE(open, EACCES),
      REFUSE(readlink, EACCES),
#endif
      REFUSE(readlinkat, EACCES),
      RETURN(SECCOMP_RET_ALLOW),
  };
  use({static_cast<unsigned short>(sizeof filter / sizeof *filter), filter});
}
