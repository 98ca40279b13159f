// CollatedDataset: a data set whose batches are joined to tensors, as Python's default_collate
// joins them.
#pragma once

#include "gradus/autograd/functions.h"
#include "gradus/data/datasets/base.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

// Tensors of one shape are stacked along a new dimension 0; numbers become a tensor; of other
// things a vector stays one.
template <class T>
auto joined(std::vector<T> values) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return stack(values);
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return tensor(values);
  } else {
    return values;
  }
}

template <class Data, class Target>
auto joined(std::vector<Example<Data, Target>> examples) {
  std::vector<Data> data;
  std::vector<Target> targets;
  for (auto& example : examples) {
    data.push_back(std::move(example.data));
    targets.push_back(std::move(example.target));
  }
  auto all_data = joined(std::move(data));
  auto all_targets = joined(std::move(targets));
  return Example<decltype(all_data), decltype(all_targets)>(std::move(all_data),
                                                            std::move(all_targets));
}
template <class Data>
auto joined(std::vector<Example<Data, example::NoTarget>> examples) {
  std::vector<Data> data;
  for (auto& example : examples) data.push_back(std::move(example.data));
  auto all_data = joined(std::move(data));
  return Example<decltype(all_data), example::NoTarget>(std::move(all_data));
}

// A batch that is one already, such as that of a data set with a Stack.
template <class Batch>
Batch collated(Batch batch) {
  return batch;
}
template <class E>
auto collated(std::vector<E> examples) {
  return joined(std::move(examples));
}

// Calls f(x) for each tensor x of a batch; of other things there are none.
template <class Other, class F>
void for_each_tensor(Other&, const F&) {}
template <class F>
void for_each_tensor(Tensor& batch, const F& f) {
  f(batch);
}
template <class Element, class F>
void for_each_tensor(std::vector<Element>& batch, const F& f);
template <class Data, class Target, class F>
void for_each_tensor(Example<Data, Target>& batch, const F& f) {
  for_each_tensor(batch.data, f);
  if constexpr (!std::is_void_v<Target>) for_each_tensor(batch.target, f);
}
template <class Element, class F>
void for_each_tensor(std::vector<Element>& batch, const F& f) {
  for (Element& element : batch) for_each_tensor(element, f);
}

// How a data set makes a collated batch: at once where it can, or of its examples.
template <class Source>
auto make_collated(Source& source, typename Source::BatchRequestType request) {
  if constexpr (requires { source.get_stacked(request); }) {
    return source.get_stacked(request);
  } else {
    auto batch = source.get_batch(std::move(request));
    if constexpr (Source::is_stateful) {
      using Batch = decltype(collated(std::move(*batch)));
      return batch ? std::optional<Batch>(collated(std::move(*batch))) : std::nullopt;
    } else {
      return collated(std::move(batch));
    }
  }
}

template <class Source>
using CollatedBatch = decltype(make_collated(std::declval<Source&>(),
                                             std::declval<typename Source::BatchRequestType>()));

template <class Optional>
struct WithoutOptional {
  using Type = Optional;
};
template <class T>
struct WithoutOptional<std::optional<T>> {
  using Type = T;
};
// The batch that a loader of the data set hands out.
template <class Source>
using EpochBatch = typename WithoutOptional<CollatedBatch<Source>>::Type;

template <class Source>
class CollatedDataset
    : public datasets::BatchDataset<CollatedDataset<Source>, CollatedBatch<Source>,
                                    typename Source::BatchRequestType> {
 public:
  static constexpr bool is_stateful = Source::is_stateful;

  CollatedDataset(Source source, bool pinned) : source_(std::move(source)), pinned_(pinned) {}

  CollatedBatch<Source> get_batch(typename Source::BatchRequestType request) override {
    auto batch = make_collated(source_, std::move(request));
    if (pinned_) {
      const auto pin = [](Tensor& x) {
        if (x.is_cpu()) x = x.pin_memory();
      };
      if constexpr (is_stateful) {
        if (batch) for_each_tensor(*batch, pin);
      } else {
        for_each_tensor(batch, pin);
      }
    }
    return batch;
  }
  std::optional<size_t> size() const override { return source_.size(); }
  void reset() requires is_stateful { source_.reset(); }

 private:
  Source source_;
  bool pinned_;
};

}  // namespace gradus::data::detail
