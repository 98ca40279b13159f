// Samplers: the order of examples, shares of ranks, resets, saving and loading.
#include <torch/torch.h>

#include <algorithm>
#include <iostream>
#include <set>
#include <sstream>

namespace samplers = torch::data::samplers;

void print(const char* name, const std::vector<size_t>& batch) {
  std::cout << name << " (";
  for (size_t i : batch) std::cout << " " << i;
  std::cout << " )\n";
}

// All batches that are left, and an end that stays one.
template <class Sampler>
void drain(const char* name, Sampler& sampler, size_t batch_size) {
  while (auto batch = sampler.next(batch_size)) print(name, *batch);
  std::cout << name << " ends " << !sampler.next(batch_size).has_value() << " at "
            << sampler.index() << "\n";
}

template <class Sampler>
void saved_and_loaded(const char* name, Sampler& from, Sampler& to) {
  std::stringstream stream;
  torch::save(from, stream);
  torch::load(to, stream);
  std::cout << name << " loaded at " << to.index() << "\n";
  drain(name, from, 2);
  drain(name, to, 2);
}

void in_order() {
  samplers::SequentialSampler sampler(7);
  drain("sequential", sampler, 3);
  sampler.reset();
  print("again", *sampler.next(100));
  sampler.reset(2);
  drain("smaller", sampler, 3);
  sampler.reset();
  print("of none", *sampler.next(0));
  sampler.reset(0);
  drain("empty", sampler, 3);
  samplers::SequentialSampler from(5), to(5);
  from.next(3);
  saved_and_loaded("sequential", from, to);
}

void random_order() {
  torch::manual_seed(3);
  for (torch::Dtype dtype : {torch::kInt64, torch::kInt32, torch::kUInt8}) {
    samplers::RandomSampler sampler(100, dtype);
    std::set<size_t> seen;
    std::vector<size_t> order, next_order;
    while (auto batch = sampler.next(30)) {
      std::cout << batch->size() << " at " << sampler.index() << ", ";
      order.insert(order.end(), batch->begin(), batch->end());
    }
    seen.insert(order.begin(), order.end());
    sampler.reset();
    next_order = *sampler.next(100);
    std::cout << "distinct " << seen.size() << " up to " << *seen.rbegin() << ", sorted "
              << std::is_sorted(order.begin(), order.end()) << ", another order "
              << (order != next_order) << "\n";
    sampler.reset(4);
    auto few = *sampler.next(10);
    std::sort(few.begin(), few.end());
    print("smaller", few);
  }
  torch::manual_seed(3);
  samplers::RandomSampler one(50);
  torch::manual_seed(3);
  samplers::RandomSampler other(50);
  std::cout << "same seed " << (*one.next(50) == *other.next(50)) << ", of none "
            << one.next(0).has_value() << "\n";
  one.reset();
  one.next(20);
  std::stringstream stream;
  torch::save(one, stream);
  torch::load(other, stream);
  std::cout << "loaded at " << other.index() << ", the same rest "
            << (*one.next(50) == *other.next(50)) << "\n";
  samplers::RandomSampler empty(0);
  std::cout << "empty " << empty.next(1).has_value() << "\n";
}

void stream_of_examples() {
  samplers::StreamSampler sampler(7);
  while (auto batch = sampler.next(3)) {
    const size_t converted = *batch;
    const samplers::CustomBatchRequest& request = *batch;
    std::cout << "stream " << request.size() << " " << converted << " " << batch->size_ << "\n";
  }
  std::cout << "ends " << sampler.next(3).has_value() << "\n";
  sampler.reset();
  std::cout << "again " << sampler.next(5)->size() << " " << sampler.next(5)->size() << "\n";
  sampler.reset(2);
  std::cout << "smaller " << sampler.next(5)->size() << " " << sampler.next(5).has_value() << "\n";
  samplers::StreamSampler from(10), to(10);
  from.next(4);
  std::stringstream stream;
  torch::save(from, stream);
  torch::load(to, stream);
  std::cout << "loaded " << to.next(100)->size() << "\n";
  static_assert(std::is_same<samplers::StreamSampler::BatchRequestType, samplers::BatchSize>::value,
                "");
}

template <class Sampler>
void shares(const char* name) {
  for (bool duplicates : {true, false})
    for (size_t size : {0, 1, 5, 12})
      for (size_t replicas : {1, 2, 3, 4}) {
        // libtorch would repeat examples that there are none of.
        if (size != 0 && replicas > 2 * size) continue;
        for (size_t rank = 0; rank < replicas; ++rank) {
          Sampler sampler(size, replicas, rank, duplicates);
          std::cout << size << " / " << replicas << " at " << rank << ": ";
          drain(name, sampler, 3);
        }
      }
}

template <class Sampler>
void epochs(const char* name) {
  Sampler sampler(10, 2, 1);
  std::cout << name << " epoch " << sampler.epoch() << "\n";
  for (size_t epoch : {1, 2, 7}) {
    sampler.set_epoch(epoch);
    sampler.reset();
    drain(name, sampler, 4);
  }
  sampler.reset(7);
  drain(name, sampler, 4);
  sampler.reset();
  drain(name, sampler, 4);
  sampler.reset();
  print("of none", *sampler.next(0));
  // Without reset an epoch counts for nothing yet.
  sampler.reset(10);
  sampler.next(2);
  sampler.set_epoch(8);
  drain(name, sampler, 4);

  Sampler from(9, 2, 1), to(9, 2, 1);
  from.set_epoch(5);
  from.reset();
  from.next(2);
  saved_and_loaded(name, from, to);
  std::cout << "epoch " << to.epoch() << "\n";
}

// A sampler of a user: every other example.
class EveryOther : public samplers::Sampler<> {
 public:
  explicit EveryOther(size_t size) : size_(size) {}
  void reset(torch::optional<size_t> new_size = torch::nullopt) override {
    size_ = new_size.value_or(size_);
    next_ = 0;
  }
  torch::optional<std::vector<size_t>> next(size_t batch_size) override {
    std::vector<size_t> out;
    for (; out.size() < batch_size && next_ < size_; next_ += 2) out.push_back(next_);
    if (out.empty()) return torch::nullopt;
    return out;
  }
  void save(torch::serialize::OutputArchive& archive) const override {
    archive.write("next", torch::tensor(static_cast<int64_t>(next_)), /*is_buffer=*/true);
  }
  void load(torch::serialize::InputArchive& archive) override {
    torch::Tensor next;
    archive.read("next", next, /*is_buffer=*/true);
    next_ = next.item<int64_t>();
  }
  size_t index() const { return next_; }

 private:
  size_t size_, next_ = 0;
};

int main() {
  in_order();
  random_order();
  stream_of_examples();
  shares<samplers::DistributedSequentialSampler>("in order");
  shares<samplers::DistributedRandomSampler>("shuffled");
  epochs<samplers::DistributedSequentialSampler>("in order");
  epochs<samplers::DistributedRandomSampler>("shuffled");
  EveryOther from(9), to(9);
  from.next(2);
  saved_and_loaded("every other", from, to);
}
