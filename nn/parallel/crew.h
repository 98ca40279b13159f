// Threads that stay: one for each replica.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gradus/tensor/base/device.h"

namespace gradus::nn::parallel {

class Crew {
 public:
  // One thread for each device.
  explicit Crew(std::vector<Device> devices);
  ~Crew();
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  // Calls f(i) for i in [0, count), each on a thread of its own, which works as the caller does: in
  // its grad mode, on its current streams, with its share of the cores where its device is the CPU;
  // the current device is device i. Returns when all have ended. One caller at a time.
  // REQUIRES: count is at most the number of devices.
  // Errors: those of f, of several the one of the smallest i. An Error keeps its type and names i
  // and the device; any other exception comes nested within an Error that does.
  void run(size_t count, const std::function<void(size_t)>& f);

 private:
  struct Worker;
  std::vector<Device> devices_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace gradus::nn::parallel
