// Data sets that know where they stand: StatefulDataset, and IterableDataset, which gives one
// example after another.
#pragma once

#include "gradus/data/datasets/base.h"

namespace gradus::serialize {
class OutputArchive;
class InputArchive;
}  // namespace gradus::serialize

namespace gradus::data::datasets {

// get_batch returns nothing at the end of an epoch. Copies would stand at places of their own:
// workers of a loader share one (make_shared_dataset), whose get_batch then locks for itself.
template <class Self, class Batch = std::vector<Example<>>, class BatchRequest = size_t>
class StatefulDataset : public BatchDataset<Self, std::optional<Batch>, BatchRequest> {
 public:
  static constexpr bool is_stateful = true;

  // Begins an epoch.
  virtual void reset() = 0;
  // Where it stands, so that gradus::save and gradus::load take it.
  virtual void save(serialize::OutputArchive& archive) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class Self, class Batch, class BatchRequest>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.save(archive);
  return archive;
}
template <class Self, class Batch, class BatchRequest>
serialize::InputArchive& operator>>(serialize::InputArchive& archive,
                                    StatefulDataset<Self, Batch, BatchRequest>& dataset) {
  dataset.load(archive);
  return archive;
}

// Examples one after another, as Python's IterableDataset: lines of a file, messages of a socket.
// next() returns the next one, or nothing at the end of an epoch; reset() begins an epoch. It is
// not saved unless save and load are overridden.
template <class Self, class SingleExample = Example<>>
class IterableDataset : public StatefulDataset<Self, std::vector<SingleExample>> {
 public:
  using ExampleType = SingleExample;

  virtual std::optional<ExampleType> next() = 0;

  std::optional<size_t> size() const override { return std::nullopt; }
  std::optional<std::vector<ExampleType>> get_batch(size_t batch_size) override {
    std::vector<ExampleType> batch;
    while (batch.size() < batch_size) {
      std::optional<ExampleType> example = next();
      if (!example) break;
      batch.push_back(std::move(*example));
    }
    if (batch.empty()) return std::nullopt;
    return batch;
  }
  // Errors: NotImplementedError.
  void save(serialize::OutputArchive&) const override { refuse("save"); }
  void load(serialize::InputArchive&) override { refuse("load"); }

 private:
  [[noreturn]] static void refuse(const char* what) {
    fail<NotImplementedError>(what, ": an IterableDataset does not say where it stands; override ",
                              what, " in its class");
  }
};

}  // namespace gradus::data::datasets

namespace gradus::data {
using datasets::IterableDataset;
}
