// call_stack: stacks that were unwound before are known again.
#include "gradus/autograd/engine/call_stack.h"

#include <unwind.h>

#include <cstddef>
#include <deque>
#include <unordered_map>
#include <utility>

namespace gradus {

namespace {

constexpr size_t kMostFrames = 64;
constexpr size_t kMostStacks = 1 << 12;  // of a thread, which then forgets them all
constexpr ptrdiff_t kMostTried = 256;    // the newest ones that begin at one place

using Slot = void* const*;  // a word of the stack with a return address

struct KnownStack {
  std::vector<Slot> slots;
  std::vector<void*> addresses;
  KnownStack* next = nullptr;  // which came after this one the last time
};

// Whether these calls run now. The innermost frame at its place with its return address implies
// where the next one lies, and so on: a slot is read only where all before it hold.
__attribute__((no_sanitize("address", "thread"))) bool runs(const KnownStack& stack,
                                                            Slot innermost) {
  if (stack.slots[0] != innermost) return false;
  for (size_t i = 0; i < stack.slots.size(); ++i)
    if (*stack.slots[i] != stack.addresses[i]) return false;
  return true;
}

struct Unwinding {
  Slot innermost;
  KnownStack stack;
  bool has_slots = true;  // each address was found on the stack
};

__attribute__((no_sanitize("address", "thread"))) _Unwind_Reason_Code add_frame(
    _Unwind_Context* context, void* to) {
  auto& out = *static_cast<Unwinding*>(to);
  // The frame of the function that was called ends here, and holds the return address.
  const auto end = reinterpret_cast<Slot>(_Unwind_GetCFA(context));
  if (end <= out.innermost) return _URC_NO_REASON;  // a call of call_stack
  auto* const address = reinterpret_cast<void*>(_Unwind_GetIP(context));
  if (!address || out.stack.addresses.size() == kMostFrames) return _URC_END_OF_STACK;
  if (out.has_slots) {
    const Slot first = out.stack.slots.empty() ? out.innermost : out.stack.slots.back() + 1;
    Slot at = end - 1;
    while (at > first && *at != address) --at;
    out.has_slots = at >= first && *at == address;
    if (out.has_slots) out.stack.slots.push_back(at);
  }
  out.stack.addresses.push_back(address);
  return _URC_NO_REASON;
}

class KnownStacks {
 public:
  const std::vector<void*>& find(Slot innermost) {
    KnownStack* const expected = last_ ? last_->next : nullptr;
    if (expected && runs(*expected, innermost)) return (last_ = expected)->addresses;
    const std::vector<KnownStack*>& some = at_[innermost];
    for (auto each = some.rbegin(); each != some.rend() && each - some.rbegin() < kMostTried;
         ++each)
      if (runs(**each, innermost)) return follow(*each);

    Unwinding found{innermost, {}};
    _Unwind_Backtrace(add_frame, &found);
    if (!found.has_slots || found.stack.slots.empty()) {
      unknown_ = std::move(found.stack.addresses);
      return unknown_;
    }
    if (all_.size() == kMostStacks) all_.clear(), at_.clear(), last_ = nullptr;
    all_.push_back(std::move(found.stack));
    at_[innermost].push_back(&all_.back());
    return follow(&all_.back());
  }

 private:
  const std::vector<void*>& follow(KnownStack* stack) {
    if (last_) last_->next = stack;
    last_ = stack;
    return stack->addresses;
  }

  std::deque<KnownStack> all_;
  std::unordered_map<Slot, std::vector<KnownStack*>> at_;  // by the slot of the innermost frame
  KnownStack* last_ = nullptr;
  std::vector<void*> unknown_;
};

}  // namespace

// A frame begins with that of the caller, and the return address.
[[gnu::noinline]] const std::vector<void*>& call_stack() {
  thread_local KnownStacks known;
  return known.find(static_cast<Slot>(__builtin_frame_address(0)) + 1);
}

}  // namespace gradus
