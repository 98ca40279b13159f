// NanWatcher keeps what runs on each thread, and makes the message of a finding.
#include "gradus/watch/guard/nan_watcher.h"

#include <execinfo.h>

#include <algorithm>
#include <cmath>

#include "gradus/autograd/engine/code_place.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/nn/named_class.h"
#include "gradus/tensor/base/modes.h"
#include "gradus/watch/guard/nan_backend.h"
#include "gradus/watch/module_path.h"
#include "gradus/watch/profiler/device_layers.h"
#include "gradus/watch/profiler/recorder.h"
#include "gradus/watch/text.h"

namespace gradus::guarding {

namespace {

constexpr size_t kMostNotes = 1 << 14;     // more than launches that a GPU may be behind
constexpr size_t kMostCaptured = 1 << 16;  // of all graphs

std::vector<int64_t> coordinates(int64_t place, const std::vector<int64_t>& sizes) {
  std::vector<int64_t> out(sizes.size());
  for (size_t d = sizes.size(); d-- > 0; place /= sizes[d]) out[d] = place % sizes[d];
  return out;
}

std::string list_text(const std::vector<int64_t>& list) {
  std::string out;
  append(out, IntArrayRef(list));
  return out;
}

// "6.1e4"
std::string short_number(double value) {
  std::string out = watch::detail::format("%.2g", value);
  const size_t exponent = out.find('e');
  if (exponent == std::string::npos) return out;
  const int power = std::stoi(out.substr(exponent + 1));
  return out.substr(0, exponent + 1) + std::to_string(power);
}

const char* name_of_phase(NanReport::Phase phase) {
  constexpr const char* names[] = {"forward", "backward", "optimizer"};
  return names[static_cast<size_t>(phase)];
}

// "512 of 65,536 outputs are NaN, first at [3, 17]"
std::string text_of_results(const OperationNote& note, const NonfiniteFinding& finding,
                            const NanReport& report) {
  using watch::detail::with_commas;
  const bool nans = report.nans > 0;
  const int64_t count = nans ? report.nans : report.infinities;
  const auto number = static_cast<size_t>(finding.results.tensor);
  std::string out = with_commas(count) + " of " + with_commas(report.numel) +
                    (report.numel == 1 ? " output" : " outputs") + (count == 1 ? " is " : " are ") +
                    (nans ? "NaN" : "infinite");
  if (nans && report.infinities > 0) out += " and " + with_commas(report.infinities) + " infinite";
  if (!report.first.empty()) out += ", first at " + list_text(report.first);
  if (note.parameters > 0)
    out += finding.results.tensor < note.parameters
               ? " of parameter " + std::to_string(number + 1) + " of " +
                     std::to_string(note.parameters) + ", of shape " +
                     list_text(note.results[number])
               : " of what the step keeps";
  else if (note.results.size() > 1)
    out += " of output " + std::to_string(number + 1);
  return out;
}

// "inputs are finite, largest 6.1e4 in float16"
std::string text_of_operands(const OperationNote& note, const NonfiniteFinding& finding) {
  if (note.operands.empty()) return "";
  std::string out = (finding.given & kInfinities) ? "; inputs have infinities and no NaN"
                    : (finding.given & kNans)     ? "; inputs have NaN and no infinity"
                    : (finding.given & kChanged)
                        ? "; inputs that the step did not change since are finite"
                        : "; inputs are finite";
  std::string dtype;
  gradus::append(dtype, note.dtype);
  return out + ", largest " + short_number(finding.largest) + " in " + dtype;
}

}  // namespace

// A call that runs on a thread.
struct NanWatcher::Open {
  const nn::Module* module = nullptr;  // one of these
  const Node* node = nullptr;
  bool optimizer = false, scaler = false;
  const amp::GradScaler* ended = nullptr;  // by this call
  std::string prefix = "";                 // of a module
  std::shared_ptr<const std::string> path{};
  const std::shared_ptr<const std::string>* path_before = nullptr;
};

NanWatcher& NanWatcher::get() {
  static NanWatcher& watcher = *new NanWatcher;  // as observers must, it outlives every thread
  return watcher;
}

profiler::OpenCalls<NanWatcher::Open>& NanWatcher::thread() {
  thread_local profiler::OpenCalls<Open> mine;
  if (mine.enter(session_.load(std::memory_order_relaxed))) autograd::module_of_call = nullptr;
  return mine;
}

void NanWatcher::add(std::shared_ptr<NanGuard::State> guard) {
  const std::lock_guard lock(mutex_);
  if (guards_.empty()) {
    session_.fetch_add(1);
    scalers_.clear();
    scaled_ = 0;
    cuda_tell_nonfinite(&NanWatcher::tell_of_device);
    Observer<nn::Module>::add(*this);
    Observer<Node>::add(*this);
    Observer<optim::Optimizer>::add(*this);
    Observer<amp::ScaledPass>::add(*this);
    autograd::AnomalyMode::keep_places_for_guard(true);
    profiler::DeviceLayers<NanBackend>::install();
  }
  guards_.push_back(std::move(guard));
  looks_ = !guards_.back()->told;
}

void NanWatcher::remove(const std::shared_ptr<NanGuard::State>& guard) {
  const std::lock_guard lock(mutex_);
  std::erase(guards_, guard);
  looks_ = !guards_.empty() && !guards_.back()->told;
  if (!guards_.empty()) return;
  profiler::DeviceLayers<NanBackend>::remove();
  autograd::AnomalyMode::keep_places_for_guard(false);
  Observer<amp::ScaledPass>::remove(*this);
  Observer<optim::Optimizer>::remove(*this);
  Observer<Node>::remove(*this);
  Observer<nn::Module>::remove(*this);
  cuda_tell_nonfinite(nullptr);
  notes_.clear();
}

void NanWatcher::reset(const std::shared_ptr<NanGuard::State>& guard) {
  const std::lock_guard lock(mutex_);
  guard->told = false;
  if (!guards_.empty() && guards_.back() == guard) looks_ = true;
}

bool NanWatcher::is_open(bool Open::*kind) {
  return std::ranges::any_of(thread().all(), [&](const Open& open) { return open.*kind; });
}

bool NanWatcher::looks() {
  if (!looks_.load(std::memory_order_relaxed)) return false;
  if (scaled_.load(std::memory_order_relaxed) == 0) return true;
  if (autograd::in_backward_pass()) return false;
  if (thread_modes.grad) return !is_open(&Open::scaler);
  return is_open(&Open::optimizer);  // what else changes gradients, as clipping does
}

void NanWatcher::begin(const nn::Module& module) noexcept {
  thread().begin([&](Open& open) {
    const std::string type = nn::short_class_name(module);
    if (const Open* const holder = thread().module()) {
      const std::string name = watch::path_below(*holder->module, module);
      if (!name.empty()) open.prefix = holder->prefix + (holder->prefix.empty() ? "" : ".") + name;
    }
    open.module = &module;
    open.path = std::make_shared<const std::string>(
        open.prefix.empty() ? type : open.prefix + " (" + type + ")");
    open.path_before = std::exchange(autograd::module_of_call, &open.path);
  });
}

void NanWatcher::begin(const Node& node) noexcept {
  thread().begin([&](Open& open) { open.node = &node; });
}

void NanWatcher::begin(const optim::Optimizer&) noexcept {
  thread().begin([&](Open& open) { open.optimizer = true; });
}

void NanWatcher::begin(const amp::ScaledPass& pass) noexcept {
  thread().begin([&](Open& open) {
    open.scaler = true;
    if (pass.ends) open.ended = pass.scaler;
    const std::lock_guard lock(mutex_);
    scalers_.insert(pass.scaler);
    scaled_ = static_cast<int>(scalers_.size());
  });
}

void NanWatcher::end() noexcept {
  const std::optional<Open> last = thread().end();
  if (!last) return;
  if (last->module) autograd::module_of_call = last->path_before;
  if (last->ended) {
    const std::lock_guard lock(mutex_);
    scalers_.erase(last->ended);
    scaled_ = static_cast<int>(scalers_.size());
  }
}

OperationNote NanWatcher::note(std::string operation, const CheckedOperation& of, int parameters) {
  OperationNote out;
  // Products and matrices have a batch in front, of one where the program has none.
  const bool product = operation == "matmul" || operation.starts_with("linalg.");
  const auto shapes_of = [product](ArrayRef<Tensor> tensors) {
    std::vector<std::vector<int64_t>> shapes;
    for (const Tensor& x : tensors) {
      shapes.push_back(x.sizes().vec());
      if (product && x.dim() == 3 && x.size(0) == 1) shapes.back().erase(shapes.back().begin());
    }
    return shapes;
  };
  out.parameters = parameters;
  const std::deque<Open>& open = thread().all();
  const Node* node = nullptr;
  bool optimizer = false;
  if (!open.empty()) {
    node = open.back().node;
    optimizer = open.back().optimizer && !thread_modes.grad;  // which a closure's part has
  }
  for (auto each = open.rbegin(); each != open.rend() && !out.module; ++each) {
    if (each->module) out.module = each->path;
    if (each->node) break;
  }
  const autograd::ForwardCall* const call = node ? node->forward_call() : nullptr;
  if (call && call->module()) out.module = call->module();
  out.phase = optimizer                      ? NanReport::Phase::Optimizer
              : autograd::in_backward_pass() ? NanReport::Phase::Backward
                                             : NanReport::Phase::Forward;
  out.operation = std::move(operation);
  if (node) out.operation += " in " + node->label();
  if (call) {
    out.frames = call->frames();
  } else {
    out.frames.resize(64);
    out.frames.resize(
        static_cast<size_t>(backtrace(out.frames.data(), static_cast<int>(out.frames.size()))));
  }
  out.results = shapes_of(of.results);
  out.operands = shapes_of(of.operands);
  const Tensor& first = of.operands.empty() ? of.results[0] : of.operands[0];
  out.dtype = first.scalar_type();
  out.device = of.results[0].device();
  out.complex = of.results[0].is_complex();
  return out;
}

void NanWatcher::keep(uint64_t number, OperationNote note, bool captured) {
  const std::lock_guard lock(mutex_);
  if (captured) {
    if (captured_.size() < kMostCaptured) captured_.emplace(number, std::move(note));
    return;
  }
  notes_.emplace_back(number, std::move(note));
  if (notes_.size() > kMostNotes) notes_.pop_front();
}

void NanWatcher::tell_of_device(int device, const NonfiniteFinding& finding) {
  NanWatcher& self = get();
  OperationNote note;
  {
    const std::lock_guard lock(self.mutex_);
    const auto is_it = [&](const auto& each) { return each.first == finding.number; };
    const auto kept = std::ranges::find_if(self.notes_, is_it);
    const auto captured = self.captured_.find(finding.number);
    if (kept != self.notes_.end())
      note = kept->second;
    else if (captured != self.captured_.end())
      note = captured->second;
    else
      note.operation = "an operation that is not known any more",
      note.device = Device(kCUDA, static_cast<DeviceIndex>(device));
  }
  self.tell(note, finding);
}

void NanWatcher::tell(const OperationNote& note, const NonfiniteFinding& finding) {
  std::shared_ptr<NanGuard::State> guard;
  {
    const std::lock_guard lock(mutex_);
    if (guards_.empty() || guards_.back()->told) return;
    guard = guards_.back();
    if (guard->callback) guard->told = true, looks_ = false;
  }
  NanReport report;
  if (note.module) report.module = *note.module;
  report.operation = note.operation;
  report.line = user_line(note.frames);
  report.phase = note.phase;
  report.device = note.device;
  report.made = finding.made;
  report.nans = finding.results.nans, report.infinities = finding.results.infinities;
  for (const std::vector<int64_t>& sizes : note.results) {
    int64_t numel = 1;
    for (const int64_t size : sizes) numel *= size;
    report.numel += numel;
  }
  const Nonfinite& where = finding.made ? finding.results : finding.operands;
  const auto& shapes = finding.made ? note.results : note.operands;
  const auto number = static_cast<size_t>(where.tensor);
  const int parts = note.complex && note.device.is_cuda() ? 2 : 1;
  if (number < shapes.size() && where.kinds() != 0)
    report.first = coordinates(where.place / parts, shapes[number]);

  std::string& text = report.message;
  text = "NanGuard: ";
  if (!report.module.empty()) text += report.module + ", ";
  text += report.operation + ", " + name_of_phase(report.phase);
  if (!report.line.empty()) text += ", " + report.line;
  if (report.device.is_cuda()) text += ", " + report.device.str();
  text += ": ";
  if (finding.made) {
    text += text_of_results(note, finding, report) + text_of_operands(note, finding);
  } else {
    text += "input " + std::to_string(number + 1);
    if (number < shapes.size()) text += ", of shape " + list_text(shapes[number]) + ',';
    text += " has NaN";
    if (!report.first.empty()) text += ", first at " + list_text(report.first);
    text += "; no operation that is looked at made it: look at the batch and the parameters";
  }
  const Observed<NanReport> observed(report);
  if (guard->callback)
    guard->callback(report);
  else
    throw NanError(std::move(report));
}

}  // namespace gradus::guarding
