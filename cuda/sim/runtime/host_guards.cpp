// Protects page-locked memory, and names who touches it too early.
#include "gradus/cuda/sim/runtime/host_guards.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/exec/current.h"
#include "gradus/cuda/sim/runtime/memory.h"

namespace gradus::cuda::sim {

namespace {

struct HostGuard {
  Range range;
  bool written;
  uint32_t work;
  Side queued;  // for the report
};
struct HostGuards {
  std::recursive_mutex mutex;
  std::vector<HostGuard> all;
  bool opened = false;  // work of a device had to open some
  struct sigaction before {};
};
HostGuards& guards() {
  static auto& one = *new HostGuards;
  return one;
}
constexpr uintptr_t kGuardPage = 4096;
Range pages_of(Range range) {
  return {range.begin / kGuardPage * kGuardPage,
          (range.end + kGuardPage - 1) / kGuardPage * kGuardPage};
}
void protect(Range range, int how) {
  const Range pages = pages_of(range);
  mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, how);
}
int how_to_guard(const HostGuard& guard) { return guard.written ? PROT_NONE : PROT_READ; }
bool overlap(Range a, Range b) { return a.begin < b.end && b.begin < a.end; }

// Takes the guards for which `ended` out, and protects what is left.
template <class F>
void take_out(const F& ended) {
  auto& all = guards().all;
  const auto kept = std::stable_partition(all.begin(), all.end(),
                                          [&](const HostGuard& each) { return !ended(each); });
  const std::vector<HostGuard> out(kept, all.end());
  all.erase(kept, all.end());
  for (const HostGuard& each : out) protect(each.range, PROT_READ | PROT_WRITE);
  for (const HostGuard& each : all)
    if (std::ranges::any_of(out, [&](const HostGuard& other) {
          return overlap(pages_of(each.range), pages_of(other.range));
        }))
      protect(each.range, how_to_guard(each));
}

// The thread is one of the host, and the address is guarded.
void report_host(uintptr_t address, const HostGuard& guard, uintptr_t pc) {
  Trace trace = current_trace();  // through the signal to the fault
  trace.erase(trace.begin(), std::find(trace.begin(), trace.end(), pc));
  if (trace.empty()) trace = {pc};
  publish({Kind::order,
           "host code",
           "the host touches byte " + std::to_string(address - guard.range.begin) + " of " +
               std::to_string(guard.range.end - guard.range.begin) +
               " bytes of page-locked memory, which a copy may still " +
               (guard.written ? "write" : "read") +
               "; wait for its stream or an event behind it first (cudaStreamSynchronize)",
           {{"touches it", frames_of(trace)}, guard.queued}});
}

uintptr_t pc_of_fault(void* context) {
#if defined(__x86_64__)
  return static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  return static_cast<uintptr_t>(static_cast<ucontext_t*>(context)->uc_mcontext.pc);
#endif
}

void on_host_fault(int signal, siginfo_t* info, void* context) {
  if (info->si_code > 0 && open_guard(reinterpret_cast<uintptr_t>(info->si_addr), context)) return;
  // The handler before this one goes on.
  if (guards().before.sa_flags & SA_SIGINFO && guards().before.sa_sigaction)
    return guards().before.sa_sigaction(signal, info, context);
  sigaction(signal, &guards().before, nullptr);
}

void watch_host() {
  struct sigaction action {
  }, before{};
  sigaction(SIGSEGV, nullptr, &before);
  if (before.sa_flags & SA_SIGINFO && before.sa_sigaction == on_host_fault) return;
  action.sa_sigaction = on_host_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  guards().before = before;
  sigaction(SIGSEGV, &action, nullptr);
}

}  // namespace

bool open_guard(uintptr_t address, void* context) {
  if (!in_arena(address) || zone_of(address) != kHostZone) return false;
  HostGuards& it = guards();
  const std::lock_guard lock(it.mutex);
  // The pages are open already where another thread has met them first.
  const Range page = pages_of({address, address + 1});
  if (running || here) {
    it.opened = true;
    return protect(page, PROT_READ | PROT_WRITE), true;
  }
  const auto met = std::ranges::find_if(
      it.all, [&](const HostGuard& each) { return each.range.covers(address, 1); });
  if (met != it.all.end()) {
    const HostGuard guard = *met;
    report_host(address, guard, pc_of_fault(context));
    take_out([&](const HostGuard& each) { return overlap(each.range, guard.range); });
  }
  return protect(page, PROT_READ | PROT_WRITE), true;
}

void guard_host(const void* memory, size_t nbytes, bool written, uint32_t work) {
  if (nbytes == 0 || !checks()) return;
  const auto begin = reinterpret_cast<uintptr_t>(memory);
  Side queued = side_of_work(work);
  const std::lock_guard lock(guards().mutex);
  watch_host();
  guards().all.push_back({{begin, begin + nbytes}, written, work, std::move(queued)});
  protect(guards().all.back().range, how_to_guard(guards().all.back()));
}

void lift_guards(const Past& host) {
  const std::lock_guard lock(guards().mutex);
  if (guards().all.empty()) return;
  take_out([&](const HostGuard& each) { return comes_before(each.work, host); });
}

void guard_again() {
  const std::lock_guard lock(guards().mutex);
  if (!guards().opened) return;
  guards().opened = false;
  for (const HostGuard& each : guards().all) protect(each.range, how_to_guard(each));
}

}  // namespace gradus::cuda::sim
