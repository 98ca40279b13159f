// The function that the user called, which errors of the functions that it calls name, too.
#pragma once

namespace gradus {

// Functions that call one another each make one under their own name. While several of a thread
// live, each stands for the first one's.
class Called {
 public:
  Called(const char* function) : first_(!name_) {
    if (first_) name_ = function;
  }
  ~Called() {
    if (first_) name_ = nullptr;
  }
  Called(const Called&) = delete;
  Called& operator=(const Called&) = delete;
  operator const char*() const { return name_; }

  // REQUIRES: one lives.
  static const char* name() { return name_; }

 private:
  static inline constinit thread_local const char* name_ = nullptr;
  bool first_;
};

}  // namespace gradus
