// Dashboard: a page for a browser with the curves of a training and the state of each GPU.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "gradus/tensor/base/ordered_dict.h"
#include "gradus/watch/log_value.h"

namespace gradus::watch {

namespace detail {
class DashboardServer;
}

// A page that shows what it is told, while the training runs.
//
//   watch::Dashboard dashboard;
//   std::cerr << dashboard.url() << '\n';  // http://127.0.0.1:6007/
//   dashboard.add_scalar("loss/train", loss, step);
//
// Only this machine can open it; from another one an SSH tunnel leads there (docs/watching.md). A
// thread of its own answers browsers, however slow they are, and asks for the state of the GPUs
// once a second while somebody looks. Several threads may call one dashboard. The page ends with
// the object. The report of a NanGuard stands below the title.
class Dashboard {
 public:
  // port: 0 is any that is free.
  // Errors: ValueError for a number that is no port; Error where the port is taken.
  explicit Dashboard(int port = 6007, const std::string& title = "");
  // The browser keeps what it shows.
  ~Dashboard();
  Dashboard(const Dashboard&) = delete;
  Dashboard& operator=(const Dashboard&) = delete;

  // A point of a curve. Curves with the same name up to the last slash share a chart. A curve keeps
  // at most 1000 points, evenly over its length, and the last one.
  // value: a number, or a tensor of one element, for which the call waits.
  // Errors: ValueError for a tensor of several elements, and for the 201st curve.
  void add_scalar(const std::string& tag, double value, int64_t global_step = 0);
  void add_scalar(const std::string& tag, const Tensor& value, int64_t global_step = 0);
  // Each number is a point, each text stands below the title. global_step: without it rows are
  // counted, from 1. Errors: as add_scalar; nothing of the row is shown then.
  void log(const LogRow& row, std::optional<int64_t> global_step = std::nullopt);

  // The curves and the texts, for a checkpoint: after a resume the page shows the curves from their
  // beginning. Errors: ValueError for the state of another object; nothing changes then.
  OrderedDict<std::string, Tensor> state_dict() const;
  void load_state_dict(const OrderedDict<std::string, Tensor>& state);

  int port() const;
  // "http://127.0.0.1:6007/"
  std::string url() const;

 private:
  std::unique_ptr<detail::DashboardServer> server_;
};

}  // namespace gradus::watch
