// Finds races: what code calls that is compiled with -fsanitize=thread, and parallel_for.
#include "runner/races.h"

#include <backtrace.h>
#include <link.h>
#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>
#include <span>
#include <unordered_map>

#include "core/cpu.h"

namespace {

constexpr long kNobody = -1, kSeveral = -2;

// Who has used a byte since parallel_for began: numbers of chunks, and where in the code.
struct Use {
  long writer = kNobody, reader = kNobody;
  std::vector<void*> written, read;
};

struct State {
  long chunks = 1, chunk = kNobody, calls = 0;
  bool backwards = false, watched = false;
  uintptr_t x = 0, x_end = 0, stack = 0;  // the chunk's own stack lies below the address `stack`
  uintptr_t own = 0, own_end = 0;         // variables that are thread_local: each chunk's thread has its own
  std::vector<long> reads;                // of x, by each chunk
  long outside = 0;
  std::unordered_map<uintptr_t, Use> uses;
  std::vector<void*> callers;
  std::string finding;
} state;
bool busy = false;  // within this file: the containers above must not be looked at while they change

struct Busy {
  Busy() { busy = true; }
  ~Busy() { busy = false; }
};

// "name.cpp:12", the innermost line of the student's file among these places in the code.
std::string line_of(const std::vector<void*>& places) {
  static backtrace_state* const symbols = backtrace_create_state(nullptr, 0, [](void*, const char*, int) {}, nullptr);
  std::string out;
  for (void* const place : places) {
    const auto found = [](void* text, uintptr_t, const char* file, int line, const char*) {
      const std::string name = file != nullptr ? file : "";
      if (name.find("core/1_cpu/") == std::string::npos) return 0;
      *static_cast<std::string*>(text) = name.substr(name.rfind('/') + 1) + ":" + std::to_string(line);
      return 1;
    };
    if (symbols != nullptr)
      backtrace_pcinfo(symbols, reinterpret_cast<uintptr_t>(place) - 1, found, [](void*, const char*, int) {}, &out);
    if (!out.empty()) return out;
  }
  return "an unknown line";
}

std::string side(const char* what, long chunk, const std::vector<void*>& places) {
  return std::string("\\n  ") + what + (chunk == kSeveral ? ", several chunks" : ", chunk " + std::to_string(chunk)) +
         ", at " + line_of(places);
}

std::vector<void*> here(void* place) {
  std::vector<void*> out{place};
  const size_t depth = std::min<size_t>(state.callers.size(), 4);
  out.insert(out.end(), state.callers.rbegin(), state.callers.rbegin() + static_cast<long>(depth));
  return out;
}

void access(bool writes, const void* address, size_t size, void* place) {
  if (busy) return;
  const Busy now;
  const auto at = reinterpret_cast<uintptr_t>(address);
  if (at >= state.x && at < state.x_end) {
    if (writes) state.finding = "writes to x, at " + line_of(here(place));
    long& reads = state.chunk == kNobody ? state.outside : state.reads[static_cast<size_t>(state.chunk)];
    reads += static_cast<long>(size / sizeof(float));
    return;
  }
  if (!state.watched || state.chunk == kNobody || !state.finding.empty()) return;
  const auto top = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if ((at >= top && at < state.stack) || (at >= state.own && at < state.own_end)) return;
  for (uintptr_t byte = at; byte < at + size; ++byte) {
    Use& use = state.uses[byte];
    const bool after_write = use.writer != kNobody && use.writer != state.chunk;
    const bool after_read = writes && use.reader != kNobody && use.reader != state.chunk;
    if (after_write || after_read) {
      state.finding = "race: two chunks use one address at the same time, and one of them writes to it";
      state.finding += side(writes ? "writes" : "reads", state.chunk, here(place));
      state.finding += after_write ? side("writes", use.writer, use.written) : side("reads", use.reader, use.read);
      return;
    }
    long& user = writes ? use.writer : use.reader;
    if (user == kNobody) (writes ? use.written : use.read) = here(place);
    user = user == kNobody || user == state.chunk ? state.chunk : kSeveral;
  }
}

// Memory that is given back may be another chunk's afterwards.
void forget(void* memory) {
  if (busy || !state.watched || state.chunk == kNobody || memory == nullptr) return;
  const Busy now;
  const auto at = reinterpret_cast<uintptr_t>(memory);
  for (uintptr_t byte = at; byte < at + malloc_usable_size(memory); ++byte) state.uses.erase(byte);
}

}  // namespace

void races::begin(long chunks, bool backwards, bool watched, const float* x, long size) {
  state = {};
  state.chunks = chunks, state.backwards = backwards, state.watched = watched, state.reads.resize(static_cast<size_t>(chunks));
  state.x = reinterpret_cast<uintptr_t>(x), state.x_end = reinterpret_cast<uintptr_t>(x + size);
  const auto find_own = [](dl_phdr_info* program, size_t, void*) {
    for (const ElfW(Phdr)& part : std::span(program->dlpi_phdr, program->dlpi_phnum))
      if (part.p_type == PT_TLS && program->dlpi_tls_data != nullptr)
        state.own = reinterpret_cast<uintptr_t>(program->dlpi_tls_data), state.own_end = state.own + part.p_memsz;
    return 1;  // the first is the runner, with the student's file; others follow
  };
  dl_iterate_phdr(find_own, nullptr);
}

void races::report(Message& reply) {
  state.chunk = kNobody;  // after an exception
  reply.text("findings", state.finding.empty() ? "[]" : "[{\"kind\":\"race\",\"text\":\"" + state.finding + "\"}]");
  reply.number("calls", state.calls);
  reply.number("busiest", *std::max_element(state.reads.begin(), state.reads.end()));
  reply.number("outside", state.outside);
}

// The first chunks are longer by one where `chunks` does not divide n. Chunks without elements do not run.
void course::cpu::parallel_for(long n, const std::function<void(long, long)>& body) {
  ++state.calls;
  if (state.chunk != kNobody) return body(0, n);  // within a chunk
  state.stack = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  for (long i = 0; i < state.chunks; ++i) {
    const long chunk = state.backwards ? state.chunks - 1 - i : i;
    const long length = n / state.chunks, longer = n % state.chunks;
    const long begin = chunk * length + std::min(chunk, longer), end = begin + length + (chunk < longer);
    state.chunk = chunk;
    if (begin < end) body(begin, end);
  }
  state.chunk = kNobody;
  const Busy now;
  state.uses.clear();
}

// Reads the program's lines while files can be opened.
[[maybe_unused]] const std::string first_line = line_of({reinterpret_cast<void*>(&races::report)});

void* operator new(size_t size) {
  void* const memory = std::malloc(size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept { forget(memory), std::free(memory); }
void operator delete(void* memory, size_t) noexcept { forget(memory), std::free(memory); }

// --- What the compiler puts beside each access
#define PLACE __builtin_return_address(0)
#define HOOKS(size)                                                                         \
  void __tsan_read##size(void* at) { access(false, at, size, PLACE); }                      \
  void __tsan_write##size(void* at) { access(true, at, size, PLACE); }                      \
  void __tsan_unaligned_read##size(void* at) { access(false, at, size, PLACE); }            \
  void __tsan_unaligned_write##size(void* at) { access(true, at, size, PLACE); }
#define ATOMIC_HOOKS(bits)                                                                                 \
  using T##bits = uint##bits##_t;                                                                          \
  T##bits __tsan_atomic##bits##_load(const volatile T##bits* at, int) { return __atomic_load_n(at, 5); }   \
  void __tsan_atomic##bits##_store(volatile T##bits* at, T##bits x, int) { __atomic_store_n(at, x, 5); }   \
  T##bits __tsan_atomic##bits##_exchange(volatile T##bits* at, T##bits x, int) {                           \
    return __atomic_exchange_n(at, x, 5);                                                                  \
  }                                                                                                        \
  T##bits __tsan_atomic##bits##_fetch_add(volatile T##bits* at, T##bits x, int) {                          \
    return __atomic_fetch_add(at, x, 5);                                                                   \
  }                                                                                                        \
  int __tsan_atomic##bits##_compare_exchange_strong(volatile T##bits* at, T##bits* was, T##bits x, int, int) { \
    return __atomic_compare_exchange_n(at, was, x, false, 5, 5);                                           \
  }                                                                                                        \
  int __tsan_atomic##bits##_compare_exchange_weak(volatile T##bits* at, T##bits* was, T##bits x, int, int) { \
    return __atomic_compare_exchange_n(at, was, x, false, 5, 5);                                           \
  }

extern "C" {
HOOKS(1)
HOOKS(2)
HOOKS(4)
HOOKS(8)
HOOKS(16)
ATOMIC_HOOKS(8)
ATOMIC_HOOKS(32)
ATOMIC_HOOKS(64)
void __tsan_read_range(void* at, size_t size) { access(false, at, size, PLACE); }
void __tsan_write_range(void* at, size_t size) { access(true, at, size, PLACE); }
void __tsan_vptr_update(void** at, void*) { access(true, at, sizeof *at, PLACE); }
void __tsan_vptr_read(void** at) { access(false, at, sizeof *at, PLACE); }
void __tsan_func_entry(void* caller) {
  const Busy now;
  state.callers.push_back(caller);
}
void __tsan_func_exit() {
  const Busy now;
  if (!state.callers.empty()) state.callers.pop_back();
}
void __tsan_init() {}
// These the compiler leaves to functions (-Wl,--wrap=memcpy and so on).
void* __real_memcpy(void* to, const void* from, size_t size);
void* __real_memmove(void* to, const void* from, size_t size);
void* __real_memset(void* to, int value, size_t size);
void* __wrap_memcpy(void* to, const void* from, size_t size) {
  access(false, from, size, PLACE), access(true, to, size, PLACE);
  return __real_memcpy(to, from, size);
}
void* __wrap_memmove(void* to, const void* from, size_t size) {
  access(false, from, size, PLACE), access(true, to, size, PLACE);
  return __real_memmove(to, from, size);
}
void* __wrap_memset(void* to, int value, size_t size) {
  access(true, to, size, PLACE);
  return __real_memset(to, value, size);
}
void __tsan_atomic_thread_fence(int) { __atomic_thread_fence(5); }
}
