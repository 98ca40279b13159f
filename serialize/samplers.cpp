// The state of the samplers of data/samplers, under libtorch's names.
#include "gradus/data/samplers/samplers.h"
#include "gradus/autograd/functions.h"
#include "gradus/serialize/archive.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::samplers {

namespace {

constexpr const char* kSizeKey = "size";

void write_number(serialize::OutputArchive& archive, const char* key, size_t number) {
  archive.write(key, tensor(static_cast<int64_t>(number)), /*is_buffer=*/true);
}

// An archive of libtorch, or of the first versions, has no such key.
void check_number(serialize::InputArchive& archive, const std::string& name, const char* key,
                  const char* what, size_t here) {
  Tensor saved;
  if (!archive.try_read(key, saved, /*is_buffer=*/true)) return;
  check(saved.scalar_type() == kLong && saved.numel() == 1, name, ": ", key, " is ",
        saved.scalar_type(), " of shape ", saved.sizes(), ", expected one ", kLong,
        "; load what a sampler of this class saved");
  check(saved.item<int64_t>() == static_cast<int64_t>(here), name, ": there are ", here, " ", what,
        ", and there were ", saved.item<int64_t>(),
        " when the sampler was saved; load into a sampler of the same size");
}

size_t read_number(serialize::InputArchive& archive, const std::string& name, const char* key,
                   size_t low, size_t high) {
  Tensor number;
  archive.read(key, number, /*is_buffer=*/true);
  check(number.scalar_type() == kLong && number.numel() == 1, name, ": ", key, " is ",
        number.scalar_type(), " of shape ", number.sizes(), ", expected one ", kLong,
        "; load what a sampler of this class saved");
  const auto value = number.item<int64_t>();
  check(value >= 0 && static_cast<size_t>(value) >= low && static_cast<size_t>(value) <= high, name,
        ": ", key, " = ", value, ", expected ", low, " to ", high,
        "; load into a sampler of the same size and rank");
  return static_cast<size_t>(value);
}

}  // namespace

void SequentialSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "index", index_);
  write_number(archive, kSizeKey, size_);
}

void SequentialSampler::load(serialize::InputArchive& archive) {
  const std::string name = archive.place("SequentialSampler::load");
  check_number(archive, name, kSizeKey, "examples", size_);
  index_ = read_number(archive, name, "index", 0, size_);
}

void StreamSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "index", index_);
  write_number(archive, kSizeKey, size_);
}

void StreamSampler::load(serialize::InputArchive& archive) {
  const std::string name = archive.place("StreamSampler::load");
  check_number(archive, name, kSizeKey, "examples", size_);
  index_ = read_number(archive, name, "index", 0, size_);
}

void RandomSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "index", index());
  archive.write("indices", order_, /*is_buffer=*/true);
}

// The order has the size that it was saved with.
void RandomSampler::load(serialize::InputArchive& archive) {
  const std::string name = archive.place("RandomSampler::load");
  Tensor order;
  archive.read("indices", order, /*is_buffer=*/true);
  const int64_t size = order.numel();
  check(order.dim() == 1 && !order.is_floating_point(), name, ": indices is ", order.scalar_type(),
        " of shape ", order.sizes(),
        ", expected a vector of whole numbers; load what a RandomSampler saved");
  const Tensor sorted = std::get<0>(order.to(kLong).sort());
  check(sorted.equal(arange(size)), name, ": indices are not 0 to ", size - 1,
        " in some order; load what a RandomSampler saved");
  index_ = static_cast<int64_t>(read_number(archive, name, "index", 0, static_cast<size_t>(size)));
  order_ = order;
}

void WeightedRandomSampler::save(serialize::OutputArchive& archive) const {
  write_number(archive, "index", index());
  archive.write("indices", drawn_, /*is_buffer=*/true);
  write_number(archive, kSizeKey, static_cast<size_t>(weights_.numel()));
}

// Draws as many indices as it had when it was saved.
void WeightedRandomSampler::load(serialize::InputArchive& archive) {
  const std::string name = archive.place("WeightedRandomSampler::load");
  check_number(archive, name, kSizeKey, "weights", static_cast<size_t>(weights_.numel()));
  Tensor drawn;
  archive.read("indices", drawn, /*is_buffer=*/true);
  const int64_t size = drawn.numel(), examples = weights_.numel();
  check(drawn.dim() == 1 && drawn.scalar_type() == kLong, name, ": indices is ",
        drawn.scalar_type(), " of shape ", drawn.sizes(), ", expected a vector of ", kLong,
        "; load what a WeightedRandomSampler saved");
  check(size == 0 || (drawn.min().item<int64_t>() >= 0 && drawn.max().item<int64_t>() < examples),
        name, ": indices are not all from 0 to ", examples - 1,
        "; load into a sampler of as many weights");
  index_ = static_cast<int64_t>(read_number(archive, name, "index", 0, static_cast<size_t>(size)));
  drawn_ = drawn.cpu().contiguous();
  num_samples_ = size;
}

template <bool shuffles>
void DistributedSampler<shuffles>::save(serialize::OutputArchive& archive) const {
  write_number(archive, "sample_index_", index_);
  write_number(archive, kSizeKey, size_);
  write_number(archive, "num_replicas_", num_replicas_);
  if constexpr (shuffles) write_number(archive, "epoch_", epoch_);
}

template <bool shuffles>
void DistributedSampler<shuffles>::load(serialize::InputArchive& archive) {
  const std::string name = archive.place("DistributedSampler::load");
  check_number(archive, name, kSizeKey, "examples", size_);
  check_number(archive, name, "num_replicas_", "replicas", num_replicas_);
  const size_t share = this->share(), begin = rank_ * share;
  const size_t index = read_number(archive, name, "sample_index_", begin, begin + share);
  if constexpr (shuffles) epoch_ = read_number(archive, name, "epoch_", 0, SIZE_MAX);
  reset();
  index_ = index;
}

template void DistributedSampler<true>::save(serialize::OutputArchive&) const;
template void DistributedSampler<false>::save(serialize::OutputArchive&) const;
template void DistributedSampler<true>::load(serialize::InputArchive&);
template void DistributedSampler<false>::load(serialize::InputArchive&);

}  // namespace gradus::data::samplers
