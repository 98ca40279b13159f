// The start of a job: every rank writes its name into the store, and waits for all others.
#include <random>

#include "gradus/distributed/job/monitor.h"
#include "gradus/distributed/world.h"
#include "gradus/tensor/base/error.h"

namespace gradus::distributed {

namespace {

// The verdict that all ranks wait for: empty where all is well.
constexpr const char* kVerdict = "init/verdict";

std::string rank_key(int rank) { return "init/rank " + std::to_string(rank); }

std::string missing_ranks(Store& store, int size) {
  std::string text;
  for (int rank = 0; rank < size; ++rank)
    if (!store.check({rank_key(rank)})) text += (text.empty() ? "" : ", ") + std::to_string(rank);
  return text;
}

}  // namespace

void refuse(Store& store, const std::string& message) {
  store.compare_set(kVerdict, "", message);
  throw ValueError(message);
}

void check_in(Store& store, int rank, int size, Milliseconds timeout) {
  const std::string expected = std::to_string(size);
  const std::string known = store.compare_set("init/world_size", "", expected);
  if (known != expected)
    refuse(store, "init_process_group: rank " + std::to_string(rank) +
                      " was started with world_size = " + expected + ", and another rank with " +
                      known);
  const std::string me =
      std::to_string(std::random_device{}()) + std::to_string(std::random_device{}());
  if (store.compare_set(rank_key(rank), "", me) != me)
    refuse(store, "init_process_group: two ranks were started with rank = " + std::to_string(rank) +
                      "; give each one of 0 to " + std::to_string(size - 1));
  if (store.add("init/present", 1) == size) store.compare_set(kVerdict, "", "well");
  try {
    store.wait({kVerdict}, timeout);
  } catch (const Error&) {
    const std::string missing = missing_ranks(store, size);
    if (missing.empty()) throw;
    fail<Error>("init_process_group: of ", size, " ranks these did not come within ",
                in_seconds(timeout), ": ", missing);
  }
  const std::string verdict = store.get(kVerdict);
  if (verdict != "well") throw ValueError(verdict);
}

}  // namespace gradus::distributed
