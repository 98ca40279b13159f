// DataLoader: batches of a data set, epoch by epoch, as Python's.
//
//   const auto options = data::DataLoaderOptions(64).shuffle(true).workers(2);
//   data::DataLoader loader(data::TensorPairDataset(images, targets), options);
//   for (int epoch = 0; epoch < 10; ++epoch)
//     for (auto& [x, y] : loader) train(x, y);
#pragma once

#include "gradus/data/datasets/shared.h"
#include "gradus/data/loader/any_sampler.h"
#include "gradus/data/loader/collated.h"
#include "gradus/data/loader/device_copies.h"
#include "gradus/data/loader/state.h"
#include "gradus/data/loader/stateful.h"
#include "gradus/data/loader/worker_exception.h"
#include "gradus/tensor/generator_scope.h"

namespace gradus::data {

namespace detail {

// Errors: NotImplementedError, always.
[[noreturn]] void refuse_state();

// Batches of an epoch, whatever the class of the data set is.
template <class Batch>
struct BatchSource {
  virtual ~BatchSource() = default;
  virtual void begin_epoch() = 0;
  virtual std::optional<Batch> next() = 0;
  virtual std::optional<size_t> size() const = 0;
  // Whether an epoch goes on; `unseen` batches of it were taken by next(), and not handed out.
  virtual void save(serialize::OutputArchive& archive, bool is_within, size_t unseen) const = 0;
  virtual void load(serialize::InputArchive& archive) = 0;
};

template <class Dataset, class Request>
class SampledSource final : public BatchSource<typename Dataset::BatchType>,
                            DataLoaderBase<Dataset, typename Dataset::BatchType, Request> {
  using Loader = DataLoaderBase<Dataset, typename Dataset::BatchType, Request>;
  using Sampler = std::unique_ptr<AnySampler<Request>>;

 public:
  SampledSource(Dataset dataset, Sampler sampler, const DataLoaderOptions& options)
      : Loader(options, std::make_unique<Dataset>(std::move(dataset))),
        sampler_(std::move(sampler)),
        begun_(sampler_->copy()) {
    this->start_workers();
  }

  void begin_epoch() override {
    const auto loaded = std::exchange(loaded_, std::nullopt);
    first_ = taken_ = loaded ? static_cast<size_t>(loaded->batches) : 0;
    if (loaded) {
      begun_ = sampler_->copy();
      for (size_t i = 0; i < first_; ++i) sampler_->next(Loader::options().batch_size);
      return Loader::begin_at(loaded->seed);
    }
    sampler_->set_epoch(static_cast<size_t>(epochs_));
    ++epochs_;
    Loader::restart();
  }
  std::optional<typename Dataset::BatchType> next() override {
    auto batch = Loader::next();
    taken_ += batch.has_value();
    return batch;
  }
  // Goes through the requests of an epoch of a copy of the sampler.
  std::optional<size_t> size() const override {
    const GeneratorScope unused(0);
    const Sampler copy = sampler_->copy();
    copy->reset();
    size_t batches = 0;
    while (next_of(*copy)) ++batches;
    return batches;
  }

  // The sampler as it was at the beginning of the epoch, and how many batches there were since.
  void save(serialize::OutputArchive& archive, bool is_within, size_t unseen) const override {
    (is_within ? begun_ : sampler_)->save(archive);
    const size_t seen = taken_ - unseen;
    const LoaderState here{epochs_, is_within ? static_cast<int64_t>(seen) : -1,
                           Loader::seed() + (seen - first_)};
    write_state(archive, loaded_.value_or(here), sizes());
  }
  void load(serialize::InputArchive& archive) override {
    const LoaderState state = read_state(archive, sizes());
    sampler_->load(archive);
    epochs_ = state.epochs;
    loaded_.reset();
    if (state.batches >= 0) loaded_ = state;
  }

 private:
  LoaderSizes sizes() const {
    return {this->main_thread_dataset().size(), Loader::options().batch_size};
  }
  void reset() override {
    sampler_->reset();
    begun_ = sampler_->copy();
  }
  std::optional<Request> get_batch_request() override { return next_of(*sampler_); }
  std::optional<Request> next_of(AnySampler<Request>& sampler) const {
    const size_t batch_size = Loader::options().batch_size;
    auto request = sampler.next(batch_size);
    if (request && Loader::options().drop_last && request->size() < batch_size) return std::nullopt;
    return request;
  }

  Sampler sampler_, begun_;  // begun_: at the beginning of the epoch
  size_t first_ = 0,
         taken_ = 0;  // batches: left out, as they were handed out before; taken, with these
  int64_t epochs_ = 0;
  std::optional<LoaderState> loaded_;  // the place where the next epoch begins
};

template <class Dataset>
class StatefulSource final : public BatchSource<typename Dataset::BatchType::value_type>,
                             StatefulDataLoader<Dataset> {
  using Loader = StatefulDataLoader<Dataset>;

 public:
  using Loader::Loader;
  void begin_epoch() override { Loader::restart(); }
  std::optional<typename Dataset::BatchType::value_type> next() override { return Loader::next(); }
  std::optional<size_t> size() const override { return std::nullopt; }
  void save(serialize::OutputArchive&, bool, size_t) const override { refuse_state(); }
  void load(serialize::InputArchive&) override { refuse_state(); }
};

// Whether batches lie in page-locked memory: where that is asked, and where they are copied to a
// GPU.
bool pins(const DataLoaderOptions& options);
// The options that DataLoaderBase takes. A data set that decides itself which examples come next
// is read by one worker at most, since the order would depend on which one is faster.
DataLoaderOptions loader_options(const DataLoaderOptions& options, bool has_indices);
size_t known_size(std::optional<size_t> size);

}  // namespace detail

// Batches of a data set: each `for` over it is an epoch. Examples are joined to batches: tensors of
// one shape are stacked along a new dimension 0, numbers become a tensor. Batches are the same for
// a seed (manual_seed) whatever the number of workers; each worker has a copy of the data set,
// which shares the memory of tensors.
//
// Errors while it runs: WorkerException for what a worker throws, an Error that names the sample
// and its file; without workers what the data set throws. An epoch begins anew after one.
template <class Batch>
class DataLoader {
 public:
  // Goes through all examples of a data set, in order, or with `shuffle` in an order drawn anew.
  // Errors: ValueError for a batch size of 0 and for a data set of unknown size; ThreadError.
  template <class Dataset>
  requires(!Dataset::is_stateful) explicit DataLoader(Dataset dataset,
                                                      const DataLoaderOptions& options = {})
      : DataLoader(options) {
    auto sampler = detail::every_index(detail::known_size(dataset.size()), options.shuffle());
    sample(std::move(dataset), std::move(sampler), options);
  }
  // The examples that the sampler chooses. A sampler with set_epoch gets the number of
  // each epoch.
  template <class Dataset, detail::IsSampler Sampler>
  DataLoader(Dataset dataset, Sampler sampler, const DataLoaderOptions& options = {})
      : DataLoader(options) {
    check(!options.shuffle(),
          "DataLoader: shuffle beside a sampler, which has an order of its own; leave one of them "
          "out");
    sample(std::move(dataset), detail::any_sampler(std::move(sampler)), options);
  }
  // The examples of a data set that knows itself which come next. One worker at most reads it.
  template <class Dataset>
  requires(Dataset::is_stateful) explicit DataLoader(Dataset dataset,
                                                     const DataLoaderOptions& options = {})
      : DataLoader(options) {
    check(!options.shuffle(),
          "DataLoader: shuffle for a data set without indices; let the data set shuffle, and leave "
          "it out");
    using Shared = datasets::SharedBatchDataset<detail::CollatedDataset<Dataset>>;
    source_ = std::make_unique<detail::StatefulSource<Shared>>(
        Shared(std::make_shared<detail::CollatedDataset<Dataset>>(std::move(dataset),
                                                                  detail::pins(options))),
        detail::loader_options(options, false));
  }

  // Begins an epoch, even within another one, whose iterators and batches are not used afterwards.
  Iterator<Batch> begin() {
    forget_ahead();
    source_->begin_epoch();
    is_within_ = true;
    return current_ = Iterator<Batch>([this] {
             auto batch = next();
             is_within_ = batch.has_value();
             return batch;
           });
  }
  Iterator<Batch> end() { return {}; }

  // The number of batches of an epoch. Errors: Error for a data set that knows itself which
  // examples come next.
  size_t size() const {
    const auto batches = source_->size();
    check<Error>(batches.has_value(),
                 "DataLoader::size: the data set does not say how many examples an epoch has; "
                 "count the batches");
    return *batches;
  }

  // Where it stands, for gradus::save and gradus::load: after load() the next epoch begins behind
  // the last batch that was handed out before save(), with the same batches whatever the number of
  // workers; between two epochs a new one begins. Load also the state of the default generator, as
  // load_checkpoint does, for the epochs after that. Errors: NotImplementedError for a data set
  // that knows itself which examples come next; ValueError for another state, for a data set of
  // another size, and within an epoch for another batch size.
  void save(serialize::OutputArchive& archive) const {
    source_->save(archive, is_within_, ahead_ ? 1 : 0);
  }
  void load(serialize::InputArchive& archive) {
    source_->load(archive);
    forget_ahead();
    is_within_ = false;
  }

 private:
  explicit DataLoader(const DataLoaderOptions& options) : copies_(options.device()) {
    check(
        options.batch_size() > 0,
        "DataLoader: batch_size = 0, expected at least 1; give the number of examples of a batch");
  }

  template <class Dataset, class Request>
  void sample(Dataset dataset, std::unique_ptr<detail::AnySampler<Request>> sampler,
              const DataLoaderOptions& options) {
    constexpr bool has_indices =
        std::is_convertible_v<std::vector<size_t>, typename Dataset::BatchRequestType>;
    using Collated = detail::CollatedDataset<Dataset>;
    source_ = std::make_unique<detail::SampledSource<Collated, Request>>(
        Collated(std::move(dataset), detail::pins(options)), std::move(sampler),
        detail::loader_options(options, has_indices));
  }

  void forget_ahead() {
    ahead_.reset();
    copies_.clear();
    has_begun_ = false;
  }

  // Begins the copy of the next batch to the device before it returns the one already copied.
  std::optional<Batch> next() {
    if (!copies_.is_needed()) return made();
    if (!std::exchange(has_begun_, true)) ahead_ = copied(made());
    if (!ahead_) return std::nullopt;
    auto batch = std::exchange(ahead_, copied(made()));
    copies_.wait_for_first();
    return batch;
  }
  std::optional<Batch> made() {
    try {
      return source_->next();
    } catch (WorkerException& error) {
      error.name_sample();
      throw;
    }
  }
  std::optional<Batch> copied(std::optional<Batch> batch) {
    if (batch) {
      std::vector<Tensor*> tensors;
      detail::for_each_tensor(*batch, [&](Tensor& x) { tensors.push_back(&x); });
      copies_.copy(tensors);
    }
    return batch;
  }

  std::unique_ptr<detail::BatchSource<Batch>> source_;
  detail::DeviceCopies copies_;
  std::optional<Batch> ahead_;
  bool has_begun_ = false;   // the first copy of the epoch
  bool is_within_ = false;   // an epoch, whose end was not seen
  Iterator<Batch> current_;  // keeps the batch of *loader.begin()
};

template <class Batch>
serialize::OutputArchive& operator<<(serialize::OutputArchive& archive,
                                     const DataLoader<Batch>& loader) {
  loader.save(archive);
  return archive;
}
template <class Batch>
serialize::InputArchive& operator>>(serialize::InputArchive& archive, DataLoader<Batch>& loader) {
  loader.load(archive);
  return archive;
}

template <class Dataset>
DataLoader(Dataset) -> DataLoader<detail::EpochBatch<Dataset>>;
template <class Dataset>
DataLoader(Dataset, DataLoaderOptions) -> DataLoader<detail::EpochBatch<Dataset>>;
template <class Dataset, detail::IsSampler Sampler>
DataLoader(Dataset, Sampler, DataLoaderOptions = {}) -> DataLoader<detail::EpochBatch<Dataset>>;

}  // namespace gradus::data
