// MetricCollection: several metrics of the same batches, as torchmetrics'.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/watch/log_value.h"
#include "gradus/watch/metrics/metric.h"

namespace gradus::metrics {

// Metrics by name.
//
//   metrics::MetricCollection metrics;
//   metrics.add("accuracy", metrics::Accuracy()).add("f1", metrics::F1Score(10));
//   metrics.update(scores, targets);
//   log.log(metrics.row({{"epoch", epoch}}));
class MetricCollection {
 public:
  // A copy of a metric with update(Tensor, Tensor). Errors: ValueError for a name that is taken.
  template <std::derived_from<Metric> M>
  MetricCollection& add(const std::string& name, M metric) {
    for (const Entry& entry : entries_)
      check(entry.name != name, "MetricCollection: ", name, " is taken; give another name");
    const auto shared = std::make_shared<M>(std::move(metric));
    entries_.push_back({name, shared, [shared](const Tensor& preds, const Tensor& target) {
                          shared->update(preds, target);
                        }});
    return *this;
  }
  size_t size() const { return entries_.size(); }

  // Counts a batch in each metric. Errors: those of the metrics; the ones before have counted then.
  void update(const Tensor& preds, const Tensor& target) {
    for (const Entry& entry : entries_) entry.update(preds, target);
  }
  // The figure of each metric by its name. Errors: those of the metrics.
  OrderedDict<std::string, Tensor> compute() const {
    OrderedDict<std::string, Tensor> out;
    for (const Entry& entry : entries_) out.insert(entry.name, entry.metric->compute());
    return out;
  }
  // The figures behind those of `first`, as logs and progress bars take them. A metric with a
  // figure for each class has numbers behind its name: "f1/0", "f1/1". Errors: as compute().
  watch::LogRow row(watch::LogRow first = {}) const {
    for (const auto& item : compute()) {
      const Tensor& figure = item.value();
      if (figure.dim() == 0) {
        first.emplace_back(item.key(), figure);
        continue;
      }
      const Tensor figures = figure.flatten();
      for (int64_t i = 0; i < figures.size(0); ++i)
        first.emplace_back(item.key() + "/" + std::to_string(i), figures[i]);
    }
    return first;
  }
  void reset() {
    for (const Entry& entry : entries_) entry.metric->reset();
  }
  // Calls Metric::sync of each metric.
  template <class ProcessGroup>
  void sync(const std::shared_ptr<ProcessGroup>& group) {
    for (const Entry& entry : entries_) entry.metric->sync(group);
  }

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<Metric> metric;
    std::function<void(const Tensor&, const Tensor&)> update;
  };
  std::vector<Entry> entries_;
};

}  // namespace gradus::metrics
