// GeneratorScope: random numbers of a thread that depend on no other thread.
#pragma once

#include "gradus/tensor/generator.h"

namespace gradus {

// Until the end of the scope this thread draws random numbers on the CPU from a generator of its
// own with this seed. What is drawn then depends on the seed alone, whatever other threads draw.
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
