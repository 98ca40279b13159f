// Arrival, a pending event: another device or another rank still writes data to some memory.
#pragma once

namespace gradus {

// nn/parallel and distributed/ddp hand it to StorageImpl::expect, whose data() waits for it.
class Arrival {
 public:
  virtual ~Arrival() = default;
  // Makes the caller's later work wait for the data: on this thread, and on the current stream of
  // the memory's device. Returns whether all data has arrived, so that no later call is needed.
  virtual bool await() = 0;
};

}  // namespace gradus
