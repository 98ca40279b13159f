// Handles faults of the processor in kernels.
#include "gradus/cuda/sim/check/faults.h"

#include <ucontext.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

#include "gradus/cuda/sim/exec/of_thread.h"
#include "gradus/cuda/sim/exec/worker.h"
#include "gradus/cuda/sim/runtime/host_guards.h"

namespace gradus::cuda::sim {

namespace {

constexpr std::array kSignals = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
std::array<struct sigaction, kSignals.size()> before;

std::atomic<bool> endless{false};  // true: SIGABRT is meant for the thread that gets it

struct sigaction& action_before(int signal) {
  size_t at = 0;
  while (kSignals[at] != signal) ++at;
  return before[at];
}

// Passes the signal to the handler before this one. The default handler ends the process when the
// fault comes again.
void pass_on(int signal, siginfo_t* info, void* context) {
  const struct sigaction& action = action_before(signal);
  if (action.sa_flags & SA_SIGINFO) {
    action.sa_sigaction(signal, info, context);
  } else if (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN) {
    action.sa_handler(signal);
  } else {
    sigaction(signal, &action, nullptr);
    if (info->si_code <= 0) raise(signal);  // a process or abort() sent it: it is no fault
  }
}

// Returns the address of the faulting instruction.
uintptr_t pc_in(const void* context) {
  const auto& machine = static_cast<const ucontext_t*>(context)->uc_mcontext;
#if defined(__x86_64__)
  return static_cast<uintptr_t>(machine.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return machine.pc;
#else
#error "the simulator knows the registers of x86-64 and of 64-bit ARM"
#endif
}

#ifdef __x86_64__
// Runs in place of what a kernel's thread was doing.
thread_local uintptr_t division = 0;
[[noreturn]] void stop_after_division() {
  const Unwatched guard;
  Worker& worker = *here;
  worker.launch->sightings.add(Kind::arithmetic, division, 0, [&] {
    Sighting out{
        Kind::arithmetic,
        "an integer is divided by 0, or the smallest one, whose negative does not fit, by -1",
        {}};
    out.sides.push_back(worker.side("divides", *worker.current, {division}));
    return out;
  });
  worker.stop_thread();
}
bool can_go_on(int signal, void* context) {
  if (signal != SIGFPE) return false;
  auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  division = pc_in(context);
  constexpr greg_t kRedZone = 128, kAlignment = 16;
  registers[REG_RSP] = (registers[REG_RSP] - kRedZone) / kAlignment * kAlignment - 8;
  registers[REG_RIP] = reinterpret_cast<greg_t>(stop_after_division);
  return true;
}
#else
bool can_go_on(int, void*) { return false; }
#endif

std::string text_of(int signal, const siginfo_t& info) {
  const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
  std::ostringstream out;
  if (signal == SIGABRT)
    out << "the thread goes on and on, without a look at memory that others could change";
  else if (here->current->fiber->guards(address))
    out << "the stack of the thread, " << Fiber::kStackBytes / 1024
        << " KiB, is full; use smaller local arrays, or fewer calls within calls";
  else if (signal == SIGFPE)
    out << "an integer division has no result";
  else if (info.si_code == SI_KERNEL)  // the system does not tell the address
    out << "the address is none that memory can have";
  else
    out << "address 0x" << std::hex << address << " is no memory";
  if (!here->launch->checked) out << "; run without GRADUS_SIM_CHECK=0 to learn more";
  return out.str();
}

// Strictly, this is not safe in a signal handler. But the process is lost in any case, and a fault
// in here ends it.
void tell(int signal, const siginfo_t& info, uintptr_t pc) {
  const Unwatched guard;
  Worker& worker = *here;
  Trace trace = current_trace();  // frames from here through the signal to the fault
  trace.erase(trace.begin(), std::find(trace.begin(), trace.end(), pc));
  if (trace.empty()) trace = {pc};
  const Sighting::Side side = worker.side("fails", *worker.current, std::move(trace));
  const Kind kind = signal == SIGFPE    ? Kind::arithmetic
                    : signal == SIGABRT ? Kind::stuck
                                        : Kind::out_of_bounds;
  std::cerr << Finding{kind,
                       function_name(worker.launch->kernel),
                       text_of(signal, info),
                       {{side.what, frames_of(side.trace), true, side.block, side.thread}}}
            << std::flush;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const bool in_kernel = here && here->current;
  const bool is_fault = signal != SIGABRT && info->si_code > 0;  // a process did not send it
  if (in_kernel && is_fault && can_go_on(signal, context)) return;
  if (is_fault && signal == SIGSEGV && queues_work() &&
      open_guard(reinterpret_cast<uintptr_t>(info->si_addr), context))
    return;
  if (in_kernel && (is_fault || (signal == SIGABRT && endless))) {
    sigaction(signal, &action_before(signal), nullptr);
    tell(signal, *info, pc_in(context));
    if (!is_fault) raise(signal);
    return;  // the fault comes again
  }
  pass_on(signal, info, context);
}

}  // namespace

FaultWatch::FaultWatch() {
  struct sigaction action {};
  action.sa_sigaction = on_fault;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  sigemptyset(&action.sa_mask);
  for (const int signal : kSignals) sigaction(signal, &action, &action_before(signal));
}
FaultWatch::~FaultWatch() {
  for (const int signal : kSignals) sigaction(signal, &action_before(signal), nullptr);
}

void end_for_endless(pthread_t thread) {
  endless = true;
  pthread_kill(thread, SIGABRT);
}

FaultStack::FaultStack() {
  auto& stack = of_thread<std::array<char, 256 * 1024>>();
  const stack_t mine{.ss_sp = stack.data(), .ss_flags = 0, .ss_size = stack.size()};
  sigaltstack(&mine, &before_);
}
FaultStack::~FaultStack() { sigaltstack(&before_, nullptr); }

}  // namespace gradus::cuda::sim
