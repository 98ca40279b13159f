// Prefetcher: asks for batches ahead, gives them to workers, and hands them out in order. Batches
// have no class here, so the library compiles it once for all loaders.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "gradus/data/loader/options.h"

namespace gradus::data::detail {

// A value of any class.
struct Boxed {
  virtual ~Boxed() = default;
};
template <class T>
struct Box final : Boxed {
  explicit Box(T of) : value(std::move(of)) {}
  T value;
};
// REQUIRES: it is a Box<T>.
template <class T>
T& unboxed(Boxed& box) {
  return static_cast<Box<T>&>(box).value;
}

// Names the examples of a batch.
struct Request {
  std::unique_ptr<Boxed> value;                  // null at the end of an epoch
  const std::vector<size_t>* indices = nullptr;  // of the examples, where the value has some
};
// Makes the batch of a request; null where the data set has ended.
using Maker = std::function<std::unique_ptr<Boxed>(Boxed& request)>;

// The default generator gives the seed of an epoch. A batch adds its number in the epoch to it.
class Prefetcher {
 public:
  // `here` makes the batches where there are no workers. Errors: ValueError for workers without
  // jobs.
  Prefetcher(const DataLoaderOptions& options, Maker here);
  // REQUIRES: join() was called while what makes batches was there.
  virtual ~Prefetcher();

  const FullDataLoaderOptions& options() const noexcept { return options_; }
  // Ends the workers, and waits for those at work. Afterwards there are no more batches.
  void join();
  // Begins an epoch, even within another one.
  void restart();

 protected:
  // A worker for each. REQUIRES: called once, with as many as the options name.
  // Errors: ThreadError.
  void start(std::vector<Maker> makers);
  // Errors: Error while workers make batches for another iterator.
  void check_is_idle() const;
  // Asks for batches from here on; the first one draws its random numbers with this seed.
  void begin_at(uint64_t seed);
  uint64_t seed() const noexcept { return seed_; }
  // The next batch; null at the end of the epoch.
  // Errors: WorkerException; Error after the timeout; without workers those of the maker.
  std::unique_ptr<Boxed> next_box();

  // Called at the beginning of an epoch.
  virtual void reset() = 0;
  virtual Request next_request() = 0;

 private:
  struct Workers;
  void ask_for(size_t batches);
  void work(const Maker& make);

  const FullDataLoaderOptions options_;
  Maker here_;
  size_t sequence_number_ = 0;  // of the next request in its epoch
  uint64_t seed_ = 0;
  std::unique_ptr<Workers> workers_;
};

}  // namespace gradus::data::detail
