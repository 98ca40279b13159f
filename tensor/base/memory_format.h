// How the elements of a tensor lie in memory.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string_view>

namespace gradus {

enum class Layout : int8_t { Strided, Sparse };
inline constexpr Layout kStrided = Layout::Strided, kSparse = Layout::Sparse;

// Preserve: what the operation makes anyway. Channels last: the elements of dimension 1 are
// neighbours in memory, and the other dimensions are row-major. ChannelsLast has 4 dimensions
// (N, C, H, W), ChannelsLast3d 5.
enum class MemoryFormat : int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

std::ostream& operator<<(std::ostream& out, Layout layout);
std::ostream& operator<<(std::ostream& out, MemoryFormat format);

[[noreturn]] void refuse_channels_last(std::string_view op);
// Errors: NotImplementedError that names op, where format is one of the channels-last ones.
inline void check_row_major(std::string_view op, std::optional<MemoryFormat> format) {
  if (format && *format != MemoryFormat::Contiguous && *format != MemoryFormat::Preserve)
      [[unlikely]]
    refuse_channels_last(op);
}

}  // namespace gradus
