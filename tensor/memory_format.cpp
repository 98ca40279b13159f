// Memory formats: their strides, and which one a tensor has.
#include "gradus/tensor/base/memory_format.h"

#include <ostream>

#include "gradus/tensor/tensor.h"

namespace gradus {

namespace {
bool has_channels_last(MemoryFormat format) {
  return format == MemoryFormat::ChannelsLast || format == MemoryFormat::ChannelsLast3d;
}
size_t rank_of(MemoryFormat format) { return format == MemoryFormat::ChannelsLast ? 4 : 5; }

// The dimensions of a channels-last format from the innermost on: 1, the last, ..., 2, 0.
Dims innermost_first(size_t rank) {
  Dims out;
  out.push_back(1);
  for (size_t d = rank - 1; d > 1; --d) out.push_back(static_cast<int64_t>(d));
  out.push_back(0);
  return out;
}
}  // namespace

void refuse_channels_last(std::string_view op) {
  fail<NotImplementedError>(op,
                            ": a channels-last memory format was asked for, and this makes none; "
                            "call .contiguous(MemoryFormat::ChannelsLast) on the result");
}

std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  static constexpr const char* kNames[] = {"Contiguous", "Preserve", "ChannelsLast",
                                           "ChannelsLast3d"};
  return out << kNames[static_cast<size_t>(format)];
}

Dims strides_of(MemoryFormat format, IntArrayRef sizes) {
  if (!has_channels_last(format)) return contiguous_strides(sizes);
  check<ValueError>(sizes.size() == rank_of(format), "memory_format: required rank ",
                    rank_of(format), " tensor to use ",
                    format == MemoryFormat::ChannelsLast ? "channels_last" : "channels_last_3d",
                    " format, but got shape ", sizes, "; use MemoryFormat::Contiguous");
  Dims out = Dims::filled(static_cast<int64_t>(sizes.size()), 0);
  int64_t stride = 1;
  for (const int64_t d : innermost_first(sizes.size())) {
    out[d] = stride;
    stride *= std::max<int64_t>(sizes[static_cast<size_t>(d)], 1);
  }
  return out;
}

bool lies_in(MemoryFormat format, IntArrayRef sizes, IntArrayRef strides) {
  if (!has_channels_last(format)) return is_contiguous(sizes, strides);
  if (sizes.size() != rank_of(format)) return false;
  const Dims expected = strides_of(format, sizes);
  for (size_t d = 0; d < sizes.size(); ++d)
    if (sizes[d] > 1 && strides[d] != expected[d]) return false;
  return true;
}

MemoryFormat suggested_format(IntArrayRef sizes, IntArrayRef strides) {
  const size_t rank = sizes.size();
  if (rank != 4 && rank != 5) return MemoryFormat::Contiguous;
  if (strides[1] == 0) return MemoryFormat::Contiguous;
  int64_t least = 0;
  for (const int64_t i : innermost_first(rank)) {
    const auto d = static_cast<size_t>(i);
    if (sizes[d] == 0 || strides[d] < least) return MemoryFormat::Contiguous;
    // All inner dimensions are of size 1: both orders fit, and row-major is the default.
    if (d == 0 && least == strides[1]) return MemoryFormat::Contiguous;
    least = strides[d] * std::max<int64_t>(sizes[d], 1);
  }
  return rank == 4 ? MemoryFormat::ChannelsLast : MemoryFormat::ChannelsLast3d;
}

bool Tensor::is_contiguous(MemoryFormat format) const {
  return lies_in(format, sizes(), strides());
}
MemoryFormat Tensor::suggest_memory_format() const { return suggested_format(sizes(), strides()); }

}  // namespace gradus
