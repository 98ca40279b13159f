// queued: calls a function of module 3 or 4 for sizes that the simulator would need minutes for.
#pragma once

#ifndef COURSE_GPU
#include "gradus/cuda/sim/check/findings.h"
#include "gradus/cuda/sim/simulator.h"
#endif

#include <exception>
#include <utility>

// Calls body, whose kernels are queued and never run: so its pointers may be to any memory. A device refuses a grid
// that it cannot have when it is queued: launch then throws, and the finding says why.
template <class Body>
void queued([[maybe_unused]] Body body) {
#ifndef COURSE_GPU
  namespace sim = gradus::cuda::sim;
  sim::set_order(11027);  // an order in which devices begin late: after some 40 launches, or when somebody waits
  std::exception_ptr thrown;
  try {
    body();
  } catch (...) {
    thrown = std::current_exception();
  }
  // After a mistake, such as this one of the runner, devices leave out what is queued.
  sim::publish({sim::Kind::foreign_memory, "", "", {}});
  auto found = sim::take_findings();
  found.pop_back();
  for (sim::Finding& each : found) sim::publish(std::move(each));
  sim::set_order(std::nullopt);
  if (thrown) std::rethrow_exception(thrown);
#endif
}
