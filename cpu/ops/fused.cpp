// Chains in boxes: what a box of the domain needs stays in a core's cache from its first expression to
// its last.
#include "gradus/cpu/backend.h"
#include "gradus/cpu/parallel.h"
#include "gradus/tensor/fused/evaluate.h"

namespace gradus::cpu {

namespace {
// Few enough for several values to stay in a cache of 1 MiB, many enough to outweigh the calls.
constexpr int64_t kBoxElements = 16384;
}  // namespace

void CpuBackend::fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
                       ArrayRef<Tensor> outputs) {
  const Dims& domain = kernel.domain;
  // The dimension that is cut into pieces; of those before it a box has one element.
  int64_t cut = kernel.columns - 1, inner = 1, outer = 1;
  for (size_t d = static_cast<size_t>(kernel.columns); d < domain.size(); ++d) inner *= domain[d];
  for (; cut > 0 && inner * domain[cut] <= kBoxElements; --cut) inner *= domain[cut];
  const Dims none = Dims::filled(static_cast<int64_t>(domain.size()), 0);
  if (cut < 0) return fused::evaluate(*this, kernel, {none, domain}, inputs, outputs);

  for (int64_t d = 0; d < cut; ++d) outer *= domain[d];
  const int64_t step = std::clamp<int64_t>(kBoxElements / inner, 1, domain[cut]);
  const int64_t pieces = divide_up(domain[cut], step), boxes = outer * pieces;
  const auto body = [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      fused::Box box{none, domain};
      box.first[cut] = i % pieces * step;
      box.sizes[cut] = std::min(step, domain[cut] - box.first[cut]);
      int64_t rest = i / pieces;
      for (int64_t d = cut; d-- > 0; rest /= domain[d]) {
        box.first[d] = rest % domain[d];
        box.sizes[d] = 1;
      }
      fused::evaluate(*this, kernel, box, inputs, outputs);
    }
  };
  parallel_for(0, boxes, boxes * step * inner <= kGrain ? boxes : 1, body);
}

}  // namespace gradus::cpu
