// Compiled programs on disk, by a key of any text.
#pragma once

#include <optional>
#include <string>

namespace gradus::cuda::rtc {

// What was kept under the key; nothing where that is missing, broken, or of another key.
std::optional<std::string> find_on_disk(const std::string& key);

// Keeps it, unless the folder cannot be written. A file is there as a whole or not at all, also
// where several processes keep it at the same time.
void keep_on_disk(const std::string& key, const std::string& program);

}  // namespace gradus::cuda::rtc
