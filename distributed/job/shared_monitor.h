// The monitor of ranks that are threads of this process.
#pragma once

#include "gradus/distributed/job/monitor.h"
#include "gradus/distributed/job/watch.h"

namespace gradus::distributed {

struct SharedMonitor {
  explicit SharedMonitor(Milliseconds time_limit)
      : monitor(time_limit), failure(std::make_shared<Failure>()), timeout(time_limit) {}
  std::mutex mutex;
  Monitor monitor;
  std::shared_ptr<Failure> failure;
  Milliseconds timeout;
};

}  // namespace gradus::distributed
