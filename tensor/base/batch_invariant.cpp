// The setting that keeps the bits of a row from depending on its batch.
#include "gradus/tensor/base/batch_invariant.h"

#include <atomic>
#include <cstdlib>
#include <string_view>

#include "gradus/tensor/base/error.h"

namespace gradus::detail {

namespace {
std::atomic<bool>& invariant() {
  static std::atomic<bool> on = [] {
    const char* const text = std::getenv("GRADUS_BATCH_INVARIANT");
    const std::string_view value = text ? text : "0";
    check<ValueError>(value == "0" || value == "1",
                      "the environment variable GRADUS_BATCH_INVARIANT is '", value,
                      "'; expected 0 or 1; set it to 1 for the same bits in every batch");
    return value == "1";
  }();
  return on;
}
}  // namespace

bool batch_invariant() { return invariant().load(std::memory_order_relaxed); }
void set_batch_invariant(bool on) { invariant().store(on, std::memory_order_relaxed); }

}  // namespace gradus::detail
