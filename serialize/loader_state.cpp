// The state of a data loader as a tensor of an archive.
#include "gradus/data/loader/state.h"

#include "gradus/autograd/functions.h"
#include "gradus/serialize/archive.h"
#include "gradus/tensor/base/counted.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {
constexpr const char* kLoaderKey = "loader";

// -1: the data set does not say how many examples it has.
int64_t in_state(std::optional<size_t> examples) {
  return examples ? static_cast<int64_t>(*examples) : -1;
}

}  // namespace

void write_state(serialize::OutputArchive& archive, const LoaderState& state,
                 const LoaderSizes& sizes) {
  const std::vector<int64_t> numbers = {state.epochs, state.batches,
                                        static_cast<int64_t>(state.seed), in_state(sizes.examples),
                                        static_cast<int64_t>(sizes.batch_size)};
  archive.write(kLoaderKey, tensor(numbers), /*is_buffer=*/true);
}

LoaderState read_state(serialize::InputArchive& archive, const LoaderSizes& sizes) {
  const std::string name = archive.place("DataLoader::load");
  Tensor numbers;
  archive.read(kLoaderKey, numbers, /*is_buffer=*/true);
  // The first versions wrote three numbers, without sizes.
  constexpr int64_t kWithoutSizes = 3, kWithSizes = 5;
  check(numbers.scalar_type() == kLong && numbers.dim() == 1 &&
            (numbers.size(0) == kWithoutSizes || numbers.size(0) == kWithSizes),
        name, ": loader is ", numbers.scalar_type(), " of shape ", numbers.sizes(), ", expected ",
        kWithSizes, " ", kLong, "; load what a DataLoader saved");
  const Tensor here = numbers.cpu().contiguous();
  const int64_t* const values = here.data_ptr<int64_t>();
  check(values[0] >= 0 && values[1] >= -1, name, ": ", values[0], " epochs and ", values[1],
        " batches, expected 0 or more; load what a DataLoader saved");
  if (numbers.size(0) == kWithSizes) {
    const int64_t examples = in_state(sizes.examples);
    check(values[3] == examples, name, ": the data set has ", counted(examples, "example"),
          ", and had ", values[3],
          " when the loader was saved (-1: not known); give the same data set, or load the others "
          "without the loader");
    check(values[1] <= 0 || values[4] == static_cast<int64_t>(sizes.batch_size), name,
          ": batch_size is ", sizes.batch_size, ", and was ", values[4],
          " when the loader was saved within an epoch; give the same, or save between two epochs");
  }
  return {values[0], values[1], static_cast<uint64_t>(values[2])};
}

}  // namespace gradus::data::detail
