// wait_value and write_value: words in GPU memory by which streams of different processes wait for
// each other. Private to the library.
#pragma once

#include <cstdint>

#include "gradus/cuda/runtime/stream.h"

namespace gradus::distributed {

// Makes later work on the stream wait until *word is at least `value`, compared modulo 2^32.
// REQUIRES: the word is in memory of the stream's device. Errors: Error.
void wait_value(const cuda::Stream& stream, const uint32_t* word, uint32_t value);
// *word = value, after the work queued on the stream so far is done and visible to all devices.
// REQUIRES: the stream's device can reach the word's memory. Errors: Error.
void write_value(const cuda::Stream& stream, uint32_t* word, uint32_t value);

}  // namespace gradus::distributed
