// GeneratorScope: random numbers of a thread that depend on no other thread.
#pragma once

#include "gradus/tensor/generator.h"

namespace gradus {

// While the scope lives, this thread draws random numbers on the CPU from a generator of its own.
// The numbers depend on the seed alone, not on other threads.
// Scopes nest.
class GeneratorScope {
 public:
  explicit GeneratorScope(uint64_t seed);
  ~GeneratorScope();
  GeneratorScope(const GeneratorScope&) = delete;
  GeneratorScope& operator=(const GeneratorScope&) = delete;

 private:
  Generator own_;
  Generator* outer_;
};

}  // namespace gradus
