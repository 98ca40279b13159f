// Observation: what the simulator finds and counts while the student's code runs.
#pragma once

#include <memory>

#include "runner/message.h"

// The thread of a kernel that this thread of the system runs, if any.
struct KernelThread {
  bool runs = false;
  unsigned block[3] = {}, thread[3] = {};
};
KernelThread kernel_thread();

class Observation {
 public:
  Observation();
  ~Observation();
  // Reads what will be needed of files, while they can be opened.
  static void prepare();
  // Adds "findings", "launches" and "traffic" to the reply, as JSON; nothing where no simulator is linked.
  void report(Message& reply);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
