// spawn_threads: runs a function as several ranks that are threads of this process.
#pragma once

#include <functional>

#include "gradus/distributed/job/clock.h"

namespace gradus::distributed {

// Runs f(rank) on world_size threads, each a rank of a job with the backend `threads`, and returns
// when all have ended. Where one throws, the communication of the others ends with a
// DistributedError, and the first exception is rethrown here; an Error then names its rank.
//
//   spawn_threads(4, [](int rank) {
//     Tensor x = full({3}, rank);
//     all_reduce(x);                 // 6, 6, 6 at each of them
//   });
void spawn_threads(int world_size, const std::function<void(int rank)>& f,
                   Milliseconds timeout = Milliseconds(60000));

}  // namespace gradus::distributed
