// Compiled programs on disk, by a key of any text.
#pragma once

#include <optional>
#include <string>

#include "gradus/cuda/rtc/compiler.h"

namespace gradus::cuda::rtc {

// What was kept under the key; nothing where that is missing, broken, or of another key.
std::optional<Image> find_on_disk(const std::string& key);

// Keeps it, and returns the file; "" where the folder cannot be written. A file is there as a whole
// or not at all, also where several processes keep it at the same time.
std::string keep_on_disk(const std::string& key, const std::string& bytes);

}  // namespace gradus::cuda::rtc
