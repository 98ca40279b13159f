// The text of a reduction.
#pragma once

#include "gradus/cuda/rtc/call.h"
#include "gradus/cuda/rtc/source.h"

namespace gradus::cuda::rtc {

// What the text depends on, besides the types. A block of kThreads has so many `parts` for each of
// its results: side by side they are lanes of a warp, else neighbouring lanes have other results.
struct ReductionForm {
  bool side_by_side, wide;
  unsigned parts;
  std::string walks;  // the parameters `kept` and `reduced`, each followed by a comma
};

// What the user gave.
struct ReductionSource {
  Source map, reduce, post, preamble;
  std::string identity;
};

// Three kernels for the types of the call, with `value` for the type that is reduced: NAME reduces
// in one block for each few results; NAME_chunks and NAME_last do in several.
std::string reduction_text(const Call& call, const ReductionForm& form, const std::string& name,
                           const std::string& value, const ReductionSource& source);

}  // namespace gradus::cuda::rtc
