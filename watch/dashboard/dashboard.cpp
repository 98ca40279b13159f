// Dashboard: its figures as JSON, and what answers the browser.
#include "gradus/watch/dashboard/dashboard.h"

#include <charconv>
#include <cmath>
#include <mutex>
#include <vector>

#include "gradus/cuda/device_status.h"
#include "gradus/cuda/runtime/device.h"
#include "gradus/tensor/base/observed.h"
#include "gradus/watch/dashboard/history.h"
#include "gradus/watch/dashboard/http_server.h"
#include "gradus/watch/dashboard/page.h"
#include "gradus/watch/guard/nan_guard.h"
#include "gradus/watch/text.h"

namespace gradus::watch {

namespace {

// JSON has no infinity and no NaN.
std::string json_number(double value) {
  if (!std::isfinite(value)) return "null";
  char text[32];
  return {text, std::to_chars(std::begin(text), std::end(text), value).ptr};
}

template <class T>
std::string json_optional(const std::optional<T>& value) {
  return value ? json_number(static_cast<double>(*value)) : "null";
}

std::string json_curves(const detail::Curves& curves) {
  std::string out = "\"series\":{", comma;
  for (const auto& [name, series] : curves.series) {
    out += std::exchange(comma, ",") + detail::json_text(name) + ":[";
    std::string between;
    for (const auto& [step, value] : series.points())
      out +=
          std::exchange(between, ",") + '[' + std::to_string(step) + ',' + json_number(value) + ']';
    out += ']';
  }
  out += "},\"texts\":{";
  comma.clear();
  for (const auto& [name, text] : curves.texts)
    out += std::exchange(comma, ",") + detail::json_text(name) + ':' + detail::json_text(text);
  return out + '}';
}

std::string json_gpu(const cuda::DeviceStatus& gpu) {
  return "{\"device\":" + std::to_string(gpu.device) + ",\"name\":" + detail::json_text(gpu.name) +
         ",\"simulated\":" + (gpu.simulated ? "true" : "false") +
         ",\"used\":" + std::to_string(gpu.total_memory - gpu.free_memory) +
         ",\"total\":" + std::to_string(gpu.total_memory) +
         ",\"utilization\":" + json_optional(gpu.utilization) +
         ",\"power\":" + json_optional(gpu.power) +
         ",\"power_limit\":" + json_optional(gpu.power_limit) +
         ",\"temperature\":" + json_optional(gpu.temperature) + '}';
}

// A GPU that is simulated is of interest to a training that runs on it.
bool is_shown(const cuda::DeviceStatus& gpu) {
  return !gpu.simulated || gpu.free_memory < gpu.total_memory;
}

// The GPUs, or why there is nothing to say of them.
std::string json_gpus() {
  std::string out, reason = cuda::is_available() ? "" : cuda::why_unavailable();
  try {
    for (int i = 0; reason.empty() && i < static_cast<int>(cuda::device_count()); ++i)
      if (const auto gpu = cuda::device_status(i); is_shown(gpu))
        out += (out.empty() ? "" : ",") + json_gpu(gpu);
  } catch (const Error& error) {
    reason = error.what();
  }
  return "\"gpus\":[" + out + "],\"no_gpu\":" + detail::json_text(reason);
}

}  // namespace

namespace detail {

// Figures are written anew at most every half second, however many ask.
class DashboardServer {
 public:
  DashboardServer(int port, std::string title)
      : title_(std::move(title)),
        http("Dashboard", port, [this](const std::string& path) { return answer(path); }) {}

 private:
  std::optional<HttpContent> answer(const std::string& path) {
    if (path == "/") return HttpContent{"text/html", kDashboardPage};
    if (path == "/figures.json") return HttpContent{"application/json", figures()};
    return std::nullopt;
  }

  const std::string& figures() {
    const auto now = Clock::now();
    if (!json_.empty() && now - written_ < std::chrono::milliseconds(500)) return json_;
    if (gpus_.empty() || now - asked_ > std::chrono::milliseconds(900)) {
      gpus_ = json_gpus();
      asked_ = now;
    }
    const std::chrono::duration<double> age = now - start_;
    json_ = "{\"title\":" + json_text(title_) + ",\"seconds\":" + json_number(age.count()) + ',' +
            json_curves(history.copy()) + ',' + gpus_ + '}';
    written_ = now;
    return json_;
  }

  std::string title_, json_, gpus_;
  Clock::time_point start_ = Clock::now(), written_, asked_;

 public:
  History history;
  HttpServer http;  // the last one, whose thread reads the others
};

}  // namespace detail

namespace {

// Shows what a NanGuard finds on the pages that there are.
class NanReports final : public Observer<NanReport> {
 public:
  static NanReports& get() {
    static NanReports& all = *new NanReports;  // observers are never destroyed
    return all;
  }

  void show_on(detail::DashboardServer* server) {
    const std::lock_guard lock(mutex_);
    if (servers_.empty()) Observer<NanReport>::add(*this);
    servers_.push_back(server);
  }
  void forget(detail::DashboardServer* server) {
    const std::lock_guard lock(mutex_);
    std::erase(servers_, server);
    if (servers_.empty()) Observer<NanReport>::remove(*this);
  }

  void begin(const NanReport& report) noexcept override {
    const std::lock_guard lock(mutex_);
    for (detail::DashboardServer* server : servers_) try {
        server->history.add("NanGuard", {{"NanGuard", report.message}}, 0);
      } catch (...) {  // a page with too many texts lacks one, and the program goes on
      }
  }
  void end() noexcept override {}

 private:
  std::mutex mutex_;
  std::vector<detail::DashboardServer*> servers_;
};

}  // namespace

Dashboard::Dashboard(int port, const std::string& title)
    : server_(std::make_unique<detail::DashboardServer>(port, title)) {
  NanReports::get().show_on(server_.get());
}

Dashboard::~Dashboard() { NanReports::get().forget(server_.get()); }

void Dashboard::add_scalar(const std::string& tag, double value, int64_t global_step) {
  server_->history.add("Dashboard.add_scalar", {{tag, value}}, global_step);
}

void Dashboard::add_scalar(const std::string& tag, const Tensor& value, int64_t global_step) {
  check(value.numel() == 1, "Dashboard.add_scalar: '", tag, "' has the shape ", value.sizes(),
        ", expected one number; take its mean()");
  add_scalar(tag, value.item<double>(), global_step);
}

void Dashboard::log(const LogRow& row, std::optional<int64_t> global_step) {
  server_->history.add("Dashboard.log", row, global_step);
}

OrderedDict<std::string, Tensor> Dashboard::state_dict() const {
  return server_->history.state_dict();
}

void Dashboard::load_state_dict(const OrderedDict<std::string, Tensor>& state) {
  server_->history.load_state_dict(state);
}

int Dashboard::port() const { return server_->http.port(); }

std::string Dashboard::url() const { return "http://127.0.0.1:" + std::to_string(port()) + '/'; }

}  // namespace gradus::watch
