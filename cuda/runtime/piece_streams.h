// PieceStreams: work in pieces, on two streams beside the current one, in turn.
#pragma once

#include <array>
#include <map>
#include <optional>

#include "gradus/cuda/runtime/event.h"
#include "gradus/cuda/runtime/stream.h"

namespace gradus::cuda {

// Pieces on different streams run at once where one of them leaves room or waits. The CPU has done
// each when run() returns.
class PieceStreams {
 public:
  // The pieces come after what the current stream of the device holds so far.
  explicit PieceStreams(Device device) {
    if (!device.is_cuda()) return;
    current_ = getCurrentCUDAStream(device.index());
    side_ = &side_streams(device.index());
    mark_.record(*current_);
    for (const Stream& stream : *side_) mark_.block(stream);
  }

  // f queues a piece, on the next stream in turn; the current stream waits for it.
  template <class F>
  void run(F f) {
    if (!side_) return f();
    const Stream& stream = (*side_)[turn_++ % side_->size()];
    {
      const StreamGuard guard(stream);
      f();
    }
    mark_.record(stream);
    mark_.block(*current_);
  }

 private:
  using Side = std::array<Stream, 2>;
  static const Side& side_streams(int device) {
    thread_local std::map<int, Side> known;
    const auto at = known.find(device);
    if (at != known.end()) return at->second;
    const auto next = [device] { return getStreamFromPool(false, device); };
    return known.emplace(device, Side{next(), next()}).first->second;
  }

  std::optional<Stream> current_;
  const Side* side_ = nullptr;  // null: the CPU
  Event mark_;
  size_t turn_ = 0;
};

}  // namespace gradus::cuda
