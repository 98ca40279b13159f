// Observation: what the simulator finds and counts while the student's code runs.
#pragma once

#include <memory>

#include "runner/message.h"

class Observation {
 public:
  Observation();
  ~Observation();
  // Reads what will be needed of files, while they can be opened.
  static void prepare();
  // Adds "findings" and "launches" to the reply, as JSON; nothing where no simulator is linked.
  void report(Message& reply);

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};
