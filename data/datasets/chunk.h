// ChunkDataset: a data set that is read in chunks, ahead, by threads of its own.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>

#include "gradus/data/datasets/chunk_options.h"
#include "gradus/data/datasets/stateful.h"
#include "gradus/data/samplers/random.h"
#include "gradus/tensor/base/rethrow.h"
#include "gradus/tensor/base/thread.h"
#include "gradus/tensor/base/threads.h"
#include "gradus/tensor/generator_scope.h"

namespace gradus::data::datasets {

// The chunk sampler chooses the order of chunks, the example sampler that of the examples of a
// chunk, or of several that are mixed. The order is the same whatever the number of preloaders.
// Several workers of a loader share it (make_shared_dataset).
template <class ChunkReader, class ChunkSampler = samplers::RandomSampler,
          class ExampleSampler = samplers::RandomSampler>
class ChunkDataset final
    : public StatefulDataset<ChunkDataset<ChunkReader, ChunkSampler, ExampleSampler>,
                             typename ChunkReader::ChunkType, size_t> {
 public:
  using UnwrappedBatchType = typename ChunkReader::ChunkType;
  using BatchType = std::optional<UnwrappedBatchType>;
  using BatchRequestType = size_t;
  using ChunkSamplerType = ChunkSampler;
  using ExampleSamplerType = ExampleSampler;

  // The policy may change the examples that were read together, before they are sampled.
  ChunkDataset(ChunkReader chunk_reader, ChunkSampler chunk_sampler, ExampleSampler example_sampler,
               ChunkDatasetOptions options,
               std::function<void(UnwrappedBatchType&)> preprocessing_policy = {})
      : reader_(std::move(chunk_reader)),
        chunk_sampler_(std::move(chunk_sampler)),
        example_sampler_(std::move(example_sampler)),
        options_(options),
        policy_(std::move(preprocessing_policy)) {}
  ~ChunkDataset() override { stop(); }

  // Waits for the examples. Errors: ValueError for another batch size than that of the options;
  // those of the reader, which name the chunk, and are an Error whatever it throws.
  BatchType get_batch(size_t batch_size) override {
    check(batch_size == options_.batch_size(),
          "The requested batch size does not match with the initialized batch size.\n The "
          "requested batch size is ",
          batch_size, ", while the dataset is created with batch size equal to ",
          options_.batch_size());
    std::unique_lock lock(mutex_);
    check<Error>(was_reset_, "ChunkDataset: get_batch before the first epoch; call reset() first");
    changed_.wait(lock, [&] { return ready_.size() >= batch_size || running_ == 0 || error_; });
    if (ready_.size() < batch_size && error_) std::rethrow_exception(error_);
    if (ready_.empty()) return std::nullopt;
    UnwrappedBatchType batch;
    for (; batch.size() < batch_size && !ready_.empty(); ready_.pop_front())
      batch.push_back(std::move(ready_.front()));
    changed_.notify_all();
    return batch;
  }

  // Begins an epoch, where load() said where.
  void reset() override {
    stop();
    reader_.reset();
    if (!std::exchange(was_loaded_, false)) chunk_sampler_.reset(reader_.chunk_count());
    ready_.clear();
    error_ = nullptr;
    read_ = added_ = 0;
    stops_ = false;
    was_reset_ = true;
    seed_ = default_generator(kCPU).template get<GeneratorImpl>()->random64();
    running_ = options_.preloader_count();
    try {
      while (preloaders_.size() < options_.preloader_count())
        preloaders_.emplace_back("ChunkDataset: a preloader", [this] { preload(); });
    } catch (const Error&) {
      stop();
      throw;
    }
  }

  std::optional<size_t> size() const override { return std::nullopt; }
  ChunkSampler& chunk_sampler() { return chunk_sampler_; }

  // Where the sampler of chunks stands. Chunks that were read and not handed out are not read
  // again.
  void save(serialize::OutputArchive& archive) const override {
    const std::lock_guard lock(mutex_);
    chunk_sampler_.save(archive);
  }
  void load(serialize::InputArchive& archive) override {
    stop();
    chunk_sampler_.reset(reader_.chunk_count());
    chunk_sampler_.load(archive);
    was_loaded_ = true;
  }

 private:
  void stop() {
    {
      const std::lock_guard lock(mutex_);
      stops_ = true;
    }
    changed_.notify_all();
    preloaders_.clear();  // joins them
    running_ = 0;
  }

  void preload() {
    set_num_threads(1);
    std::unique_lock lock(mutex_);
    while (!stops_ && !error_) {
      const auto chunks = chunk_sampler_.next(options_.cross_chunk_shuffle_count());
      if (!chunks) break;
      const size_t turn = read_++;
      lock.unlock();
      const GeneratorScope numbers(seed_ + turn);
      UnwrappedBatchType examples;
      std::exception_ptr failure;
      try {
        examples = read(*chunks);
      } catch (...) {
        failure = failure_of(*chunks);
      }
      lock.lock();
      changed_.wait(lock, [&] {
        return stops_ || error_ || (turn == added_ && ready_.size() < options_.cache_size());
      });
      if (stops_ || error_) break;
      if (failure) {
        error_ = failure;
        break;
      }
      add(std::move(examples));
      ++added_;
      changed_.notify_all();
    }
    --running_;
    changed_.notify_all();
  }

  UnwrappedBatchType read(const std::vector<size_t>& chunks) {
    UnwrappedBatchType examples;
    for (const size_t index : chunks) {
      UnwrappedBatchType chunk = reader_.read_chunk(index);
      examples.insert(examples.end(), std::make_move_iterator(chunk.begin()),
                      std::make_move_iterator(chunk.end()));
    }
    if (policy_) policy_(examples);
    return examples;
  }

  // The exception that is being handled as an Error that names the chunks.
  static std::exception_ptr failure_of(ArrayRef<size_t> chunks) {
    std::string names;
    for (const size_t index : chunks)
      names += (names.empty() ? "; chunk " : ", ") + std::to_string(index);
    try {
      rethrow_with(std::current_exception(), names + " of the data set");
    } catch (...) {
      return std::current_exception();
    }
  }

  void add(UnwrappedBatchType examples) {
    if (examples.empty()) return;
    example_sampler_.reset(examples.size());
    while (const auto places = example_sampler_.next(examples.size()))
      for (const size_t place : *places) ready_.push_back(examples[place]);
  }

  ChunkReader reader_;
  ChunkSampler chunk_sampler_;
  ExampleSampler example_sampler_;
  ChunkDatasetOptions options_;
  std::function<void(UnwrappedBatchType&)> policy_;

  mutable std::mutex mutex_;  // of what follows, and of the samplers
  std::condition_variable changed_;
  std::deque<typename ChunkReader::ExampleType> ready_;  // in the order in which batches take them
  std::exception_ptr error_;
  size_t read_ = 0, added_ = 0;  // groups of chunks
  size_t running_ = 0;           // preloaders
  bool stops_ = false, was_reset_ = false, was_loaded_ = false;
  uint64_t seed_ = 0;
  std::vector<gradus::detail::Thread> preloaders_;
};

}  // namespace gradus::data::datasets
