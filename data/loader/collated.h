// CollatedDataset: a data set whose batches are joined to tensors, as Python's default_collate
// joins them.
#pragma once

#include <array>
#include <tuple>
#include <utility>
#include <vector>

#include "gradus/autograd/functions.h"
#include "gradus/data/datasets/whole_batches.h"
#include "gradus/tensor/factories.h"

namespace gradus::data::detail {

// Holds for std::array, std::pair and std::tuple.
template <class T>
concept IsTuple = requires {
  std::tuple_size<T>::value;
};
template <class T>
constexpr bool kIsVector = false;
template <class T>
constexpr bool kIsVector<std::vector<T>> = true;
template <>
inline constexpr bool kIsVector<std::vector<bool>> = false;
template <class T>
constexpr bool kIsExample = false;
template <class Data, class Target>
constexpr bool kIsExample<Example<Data, Target>> = true;

// Errors: ValueError unless both are equal.
void check_length(size_t first, size_t other);
// stack(values), with an error for users of a loader.
Tensor stacked(const std::vector<Tensor>& values);

// `member` of each value, which takes it out.
template <class T, class Member>
auto members(std::vector<T>& values, const Member& member) {
  std::vector<std::decay_t<decltype(member(values[0]))>> out;
  out.reserve(values.size());
  for (T& value : values) out.push_back(std::move(member(value)));
  return out;
}

// Stacks tensors along a new dimension 0, and makes a tensor of numbers. Joins each member of
// examples, tuples and lists by itself. Leaves other things in their vector.
// Errors: ValueError for tensors of different shapes, and for lists of different lengths.
template <class T>
auto joined(std::vector<T> values) {
  if constexpr (std::is_same_v<T, Tensor>) {
    return stacked(values);
  } else if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) {
    return tensor(values);
  } else if constexpr (kIsExample<T>) {
    auto data = joined(members(
        values, [](T & x) -> auto& { return x.data; }));
    if constexpr (std::is_void_v<typename T::TargetType>) {
      return Example<decltype(data), example::NoTarget>(std::move(data));
    } else {
      auto targets = joined(members(
          values, [](T & x) -> auto& { return x.target; }));
      return Example<decltype(data), decltype(targets)>(std::move(data), std::move(targets));
    }
  } else if constexpr (IsTuple<T>) {
    return [&]<size_t... i>(std::index_sequence<i...>) {
      return std::make_tuple(joined(members(
          values, [](T & x) -> auto& { return std::get<i>(x); }))...);
    }
    (std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (kIsVector<T>) {
    std::vector<decltype(joined(std::declval<T>()))> out;
    for (const T& list : values) check_length(values[0].size(), list.size());
    for (size_t i = 0; i < (values.empty() ? 0 : values[0].size()); ++i)
      out.push_back(joined(members(
          values, [i](T & x) -> auto& { return x[i]; })));
    return out;
  } else {
    return values;
  }
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
template <IsTuple Tuple, class F>
void for_each_tensor(Tuple& batch, const F& f);
template <class Data, class Target, class F>
void for_each_tensor(Example<Data, Target>& batch, const F& f) {
  for_each_tensor(batch.data, f);
  if constexpr (!std::is_void_v<Target>) for_each_tensor(batch.target, f);
}
template <class Element, class F>
void for_each_tensor(std::vector<Element>& batch, const F& f) {
  for (Element& element : batch) for_each_tensor(element, f);
}
template <IsTuple Tuple, class F>
void for_each_tensor(Tuple& batch, const F& f) {
  std::apply([&](auto&... element) { (for_each_tensor(element, f), ...); }, batch);
}

// How a data set makes a collated batch: at once where it can, or of its examples. drop_last counts
// for stateful data sets.
template <class Source>
auto make_collated(Source& source, typename Source::BatchRequestType request, bool drop_last) {
  if constexpr (requires { source.get_stacked(request); }) {
    return source.get_stacked(request);
  } else if constexpr (Source::is_stateful) {
    auto batch = next_batch(source, std::move(request), drop_last);
    using Batch = decltype(collated(std::move(*batch)));
    return batch ? std::optional<Batch>(collated(std::move(*batch))) : std::nullopt;
  } else {
    return collated(source.get_batch(std::move(request)));
  }
}

template <class Source>
using CollatedBatch = decltype(make_collated(
    std::declval<Source&>(), std::declval<typename Source::BatchRequestType>(), false));

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
    return made(std::move(request), false);
  }
  CollatedBatch<Source> next_batch(typename Source::BatchRequestType request,
                                   bool drop_last) requires is_stateful {
    return made(std::move(request), drop_last);
  }
  std::optional<size_t> size() const override { return source_.size(); }
  void reset() requires is_stateful { source_.reset(); }
  auto path(size_t index) const requires requires(const Source& s) { s.path(index); }
  { return source_.path(index); }

 private:
  CollatedBatch<Source> made(typename Source::BatchRequestType request, bool drop_last) {
    auto batch = make_collated(source_, std::move(request), drop_last);
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

  Source source_;
  bool pinned_;
};

}  // namespace gradus::data::detail
