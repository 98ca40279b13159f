// Sequencers: in which order results of workers are handed out.
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace gradus::data::detail::sequencers {

template <class Result>
struct Sequencer {
  // Returns the next result, or nothing at the end.
  using ResultProducer = std::function<std::optional<Result>()>;
  virtual ~Sequencer() = default;
  virtual std::optional<Result> next(ResultProducer next_result) = 0;
};

// Hands results out as they come.
template <class Result>
struct NoSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  std::optional<Result> next(ResultProducer next_result) override { return next_result(); }
};

// Hands results out by sequence_number. Numbers of waiting results differ by less than max_jobs.
template <class Result>
struct OrderedSequencer final : Sequencer<Result> {
  using typename Sequencer<Result>::ResultProducer;
  explicit OrderedSequencer(size_t max_jobs) : buffer_(max_jobs) {}

  std::optional<Result> next(ResultProducer next_result) override {
    std::optional<Result>& kept = slot(next_sequence_number_);
    while (!kept) {
      std::optional<Result> result = next_result();
      if (!result) return std::nullopt;
      slot(result->sequence_number) = std::move(result);
    }
    ++next_sequence_number_;
    return std::exchange(kept, std::nullopt);
  }

  std::optional<Result>& slot(size_t sequence_number) {
    return buffer_[sequence_number % buffer_.size()];
  }

  size_t next_sequence_number_ = 0;
  std::vector<std::optional<Result>> buffer_;
};

}  // namespace gradus::data::detail::sequencers
