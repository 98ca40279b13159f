// What operations of the current thread do besides computing. autograd/engine/grad_mode.h holds the
// guards that set it.
#pragma once

namespace gradus {

struct ThreadModes {
  bool grad = true;        // operations record the graph
  bool inference = false;  // tensors that are made can never become part of a graph
};

inline constinit thread_local ThreadModes thread_modes;

}  // namespace gradus
