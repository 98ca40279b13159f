// A std::deque, and a text by std::ostringstream.
#include <deque>
#include <sstream>

#include "core/tensors.h"

namespace course {

Dims strides_of(const Dims& sizes) {
  std::deque<long> strides;
  long step = 1;
  for (size_t d = sizes.size(); d-- > 0;) {
    strides.push_front(step);
    step *= sizes[d] > 0 ? sizes[d] : 1;
  }
  std::ostringstream text;
  text << "a step is " << step << " of " << strides.size();
  if (text.str().empty()) throw std::runtime_error(text.str());
  return {strides.begin(), strides.end()};
}

}  // namespace course
