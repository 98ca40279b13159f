// The inputs of graphed functions.
#include "gradus/cuda/graphed.h"

#include <algorithm>

#include "gradus/tensor/backend.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::cuda {

namespace {
// The elements of a contiguous tensor as bytes.
Tensor bytes_of(const Tensor& x) { return raw::view(raw::alias(x, {x.numel()}, {1}), kByte); }

// Whether tensors side by side are all aligned as if each were alone.
bool fit_side_by_side(const Tensors& all) {
  constexpr size_t kAlignment = 16;
  return std::all_of(all.begin(), all.end(), [&](const Tensor& x) {
    return x.is_contiguous() && x.numel() > 0 &&
           (&x == &all.back() || x.nbytes() % kAlignment == 0);
  });
}
}  // namespace

StaticInputs::StaticInputs(Tensors samples) {
  check(!samples.empty(), "make_graphed: there is no input; give at least one tensor");
  for (size_t i = 0; i < samples.size(); ++i) {
    const Tensor& x = samples[i];
    check(x.defined() && x.is_cuda() && x.device() == samples[0].device(), "make_graphed: input ",
          i + 1, " is ", x.defined() ? "on " + x.device().str() : std::string("undefined"),
          ", expected all on one GPU; use .to(kCUDA)");
  }
  if (fit_side_by_side(samples)) {
    int64_t total = 0;
    for (const Tensor& x : samples) total += static_cast<int64_t>(x.nbytes());
    joined_ = raw::empty({total}, kByte, samples[0].device());
  }
  int64_t begin = 0;
  for (const Tensor& x : samples) {
    if (joined_.defined()) {
      const auto count = static_cast<int64_t>(x.nbytes());
      const Tensor place = raw::view(raw::narrow(joined_, 0, begin, count), x.scalar_type());
      inputs_.push_back(raw::alias(place, x.impl().sizes, x.impl().strides));
      begin += count;
    } else {
      inputs_.push_back(raw::empty_like(x));
    }
  }
  copy(samples);
  for (size_t i = 0; i < samples.size(); ++i)
    inputs_[i].set_requires_grad(samples[i].requires_grad());
}

void StaticInputs::set(const Tensors& given) const {
  for (size_t i = 0; i < given.size(); ++i) {
    const Tensor &x = given[i], &sample = inputs_[i];
    const auto same = [&]<class E = ValueError>(bool holds, const char* what, const auto& found,
                                                const auto& expected) {
      check<E>(holds, "graphed function: input ", i + 1, " has ", what, " ", found,
               ", expected that of the sample, ", expected,
               "; make another graph for other inputs, or call the function itself");
    };
    check(x.defined(), "graphed function: input ", i + 1, " is undefined; give a tensor");
    same(x.sizes() == sample.sizes(), "shape", x.sizes(), sample.sizes());
    same.template operator()<TypeError>(x.dtype() == sample.dtype(), "dtype", x.scalar_type(),
                                        sample.scalar_type());
    same(x.device() == sample.device(), "device", x.device(), sample.device());
  }
  copy(given);
  for (const Tensor& input : inputs_) input.impl().storage->bump_version();
}

// One launch copies all where they lie side by side.
void StaticInputs::copy(const Tensors& given) const {
  const auto is_contiguous = [](const Tensor& x) { return x.is_contiguous(); };
  if (joined_.defined() && std::all_of(given.begin(), given.end(), is_contiguous)) {
    Tensors parts;
    for (const Tensor& x : given) parts.push_back(bytes_of(x));
    backend(joined_).cat(parts, 0, joined_);
  } else {
    for (size_t i = 0; i < given.size(); ++i) raw::copy_(inputs_[i], given[i]);
  }
}

}  // namespace gradus::cuda
