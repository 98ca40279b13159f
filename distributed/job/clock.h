// The clock of a job.
#pragma once

#include <chrono>
#include <string>

namespace gradus::distributed {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

// "0.5 s"
std::string in_seconds(Clock::duration time);

}  // namespace gradus::distributed
