// The state of a data loader as a tensor of an archive.
#include "gradus/data/loader/state.h"

#include "gradus/autograd/functions.h"
#include "gradus/serialize/archive.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

namespace {
constexpr const char* kLoaderKey = "loader";
}

void write_state(serialize::OutputArchive& archive, const LoaderState& state) {
  const std::vector<int64_t> numbers = {state.epochs, state.batches,
                                        static_cast<int64_t>(state.seed)};
  archive.write(kLoaderKey, tensor(numbers), /*is_buffer=*/true);
}

LoaderState read_state(serialize::InputArchive& archive) {
  const std::string name = archive.place("DataLoader::load");
  Tensor numbers;
  archive.read(kLoaderKey, numbers, /*is_buffer=*/true);
  check(numbers.scalar_type() == kLong && numbers.sizes() == IntArrayRef({3}), name, ": loader is ",
        numbers.scalar_type(), " of shape ", numbers.sizes(), ", expected three ", kLong,
        "; load what a DataLoader saved");
  const Tensor here = numbers.cpu().contiguous();
  const int64_t* const values = here.data_ptr<int64_t>();
  check(values[0] >= 0 && values[1] >= -1, name, ": ", values[0], " epochs and ", values[1],
        " batches, expected 0 or more; load what a DataLoader saved");
  return {values[0], values[1], static_cast<uint64_t>(values[2])};
}

}  // namespace gradus::data::detail
