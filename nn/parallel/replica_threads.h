// ReplicaThreads: one thread for each replica, kept from one forward to the next.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "gradus/tensor/base/device.h"

namespace gradus::nn::parallel {

class ReplicaThreads {
 public:
  // One thread for each device.
  explicit ReplicaThreads(std::vector<Device> devices);
  ~ReplicaThreads();
  ReplicaThreads(const ReplicaThreads&) = delete;
  ReplicaThreads& operator=(const ReplicaThreads&) = delete;

  // Calls f(i) for i in [0, count), each on its own thread. Returns when all have ended. The
  // threads take over the caller's grad mode, autocast and current streams; the current device is
  // device i, and replicas on the CPU share its cores. One caller at a time.
  // REQUIRES: count is at most the number of devices.
  // Errors: those of f; where several calls throw, that of the smallest i. An Error keeps its type
  // and names i and the device; any other exception is nested in such an Error.
  void run(size_t count, const std::function<void(size_t)>& f);
  static bool is_replica();  // whether this is such a thread

 private:
  struct Worker;
  std::vector<Device> devices_;
  std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace gradus::nn::parallel
