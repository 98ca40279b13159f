// Memory for objects that come and go with every operation.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <utility>

namespace gradus {

// Whether a sanitizer checks this build. A sanitizer must see all memory freed, so nothing is kept.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
inline constexpr bool kSanitized = __has_feature(address_sanitizer) ||
                                   __has_feature(memory_sanitizer) ||
                                   __has_feature(thread_sanitizer);
#else
inline constexpr bool kSanitized = false;
#endif

// An allocator of single objects that keeps what this thread freed for its next ones: the system's
// takes a fifth of the time of a small operation. Any thread may free what another allocated.
template <class T>
class Recycled {
 public:
  using value_type = T;

  Recycled() = default;
  template <class U>
  Recycled(const Recycled<U>&) {}  // NOLINT: implicit, as std::allocate_shared asks for

  T* allocate(size_t count) {
    if (count != 1 || !kept_.first) return std::allocator<T>().allocate(count);
    kept_.count -= 1;
    return reinterpret_cast<T*>(std::exchange(kept_.first, kept_.first->next));
  }

  void deallocate(T* memory, size_t count) {
    if (count != 1 || !keeps()) return std::allocator<T>().deallocate(memory, count);
    kept_.count += 1;
    kept_.first = new (memory) Block{kept_.first};
  }

  friend bool operator==(Recycled, Recycled) { return true; }

 private:
  static constexpr int kMost = 64;

  struct Block {
    Block* next;
  };
  static_assert(sizeof(T) >= sizeof(Block) && alignof(T) >= alignof(Block));

  // The blocks kept by this thread. The struct has no constructor and no destructor, so that it
  // exists before and after all other objects of the thread.
  struct Kept {
    Block* first;
    int count;
    bool begun, ended;
  };
  static constinit inline thread_local Kept kept_{};

  // Frees at the end of the thread what is kept.
  struct End {
    ~End() {
      kept_.ended = true;
      while (kept_.first) {
        Block* const block = std::exchange(kept_.first, kept_.first->next);
        std::allocator<T>().deallocate(reinterpret_cast<T*>(block), 1);
      }
    }
  };

  // Whether there is room for one more block.
  static bool keeps() {
    if (kSanitized) return false;
    if (kept_.begun) return kept_.count < kMost && !kept_.ended;
    static thread_local End end;
    static_cast<void>(&end);
    return kept_.begun = !kept_.ended;
  }
};

// std::make_shared, with memory of that kind.
template <class T, class... Args>
std::shared_ptr<T> make_recycled(Args&&... args) {
  return std::allocate_shared<T>(Recycled<T>(), std::forward<Args>(args)...);
}

}  // namespace gradus
