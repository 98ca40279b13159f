// Dividing the indices of a data set among its parts.
#include "gradus/data/datasets/subset.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {

std::string written(ArrayRef<double> lengths) {
  std::string out = "[";
  for (const double length : lengths) {
    if (out.size() > 1) out += ", ";
    gradus::detail::append(out, length);
  }
  return out + "]";
}

// Whole numbers of examples. Python rounds shares down and deals out the rest, one to each part
// from the first on.
std::vector<size_t> counts(size_t size, ArrayRef<double> lengths) {
  bool whole = true;
  for (const double length : lengths) {
    check(length >= 0 && std::isfinite(length), "random_split: lengths = ", written(lengths),
          ", expected none below 0; give numbers of examples or shares");
    whole &= length == std::floor(length);
  }
  const double sum = std::accumulate(lengths.begin(), lengths.end(), 0.0);
  std::vector<size_t> out;
  if (whole && sum == static_cast<double>(size)) {
    for (const double length : lengths) out.push_back(static_cast<size_t>(length));
    return out;
  }
  constexpr double kRounding = 1e-6;
  check(std::abs(sum - 1) < kRounding, "random_split: lengths = ", written(lengths), " add up to ",
        sum, ", expected the ", size,
        " examples of the data set, or 1 for shares; change one of them");
  size_t left = size;
  for (const double share : lengths) {
    const auto count =
        std::min(left, static_cast<size_t>(std::floor(share * static_cast<double>(size))));
    out.push_back(count);
    left -= count;
  }
  for (size_t i = 0; left > 0; i = (i + 1) % out.size(), --left) ++out[i];
  return out;
}

}  // namespace

std::vector<std::vector<size_t>> split_indices(size_t size, ArrayRef<double> lengths,
                                               const std::optional<Generator>& generator) {
  const std::vector<size_t> sizes = counts(size, lengths);
  const Tensor order = randperm(static_cast<int64_t>(size), generator, kLong);
  const int64_t* next = order.data_ptr<int64_t>();
  std::vector<std::vector<size_t>> out;
  for (const size_t count : sizes) {
    out.emplace_back(next, next + count);
    next += count;
  }
  return out;
}

std::vector<std::vector<size_t>> stratified_indices(size_t size, const Tensor& targets,
                                                    ArrayRef<double> shares,
                                                    const std::optional<Generator>& generator) {
  constexpr const char* kOp = "stratified_split";
  check(targets.defined() && targets.dim() == 1 && targets.size(0) == static_cast<int64_t>(size),
        kOp, ": targets have the shape ", targets.defined() ? targets.sizes() : IntArrayRef(),
        " for ", size, " examples, expected the class of each");
  check<TypeError>(isIntegralType(targets.scalar_type(), /*include_bool=*/true), kOp,
                   ": targets are ", targets.scalar_type(),
                   ", expected whole numbers; use to(kLong)");
  const Tensor classes = targets.to(kCPU).to(kLong).contiguous();
  std::map<int64_t, std::vector<size_t>> members;
  for (size_t i = 0; i < size; ++i) members[classes.data_ptr<int64_t>()[i]].push_back(i);
  std::vector<std::vector<size_t>> out(shares.size());
  for (const auto& [label, indices] : members) {
    const auto parts = split_indices(indices.size(), shares, generator);
    for (size_t part = 0; part < parts.size(); ++part)
      for (const size_t place : parts[part]) out[part].push_back(indices[place]);
  }
  for (auto& part : out) std::sort(part.begin(), part.end());
  return out;
}

void check_subset(ArrayRef<size_t> indices, size_t size) {
  for (const size_t index : indices)
    check<IndexError>(index < size, "Subset: index ", index, " of a data set of ", size,
                      " examples; count from 0");
}

}  // namespace gradus::data::detail
