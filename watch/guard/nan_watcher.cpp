// NanWatcher keeps what runs on each thread, and makes the message of a finding.
#include "gradus/watch/guard/nan_watcher.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <utility>

#include "gradus/autograd/engine/call_stack.h"
#include "gradus/autograd/engine/code_place.h"
#include "gradus/autograd/engine/graph_task.h"
#include "gradus/tensor/base/modes.h"
#include "gradus/watch/guard/module_paths.h"
#include "gradus/watch/guard/nan_backend.h"
#include "gradus/watch/profiler/device_layers.h"
#include "gradus/watch/profiler/operation_name.h"
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

// The shapes of a note as messages have them. Products and matrices have a batch in front, of one
// where the program has none.
struct Shapes {
  std::vector<std::vector<int64_t>> results, operands;
};
Shapes shapes_of(const OperationNote& note, const std::string& operation) {
  const bool product = operation == "matmul" || operation.starts_with("linalg.");
  Shapes out;
  for (auto at = note.shapes.begin(); at != note.shapes.end();) {
    const int64_t rank = *at++;
    auto& list = std::ssize(out.results) < note.results ? out.results : out.operands;
    list.emplace_back(at + (product && rank == 3 && *at == 1 ? 1 : 0), at + rank);
    at += rank;
  }
  return out;
}

// "512 of 65,536 outputs are NaN, first at [3, 17]"
std::string text_of_results(const OperationNote& note, const Shapes& shapes,
                            const NonfiniteFinding& finding, const NanReport& report) {
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
                     list_text(shapes.results[number])
               : " of what the step keeps";
  else if (note.results > 1)
    out += " of output " + std::to_string(number + 1);
  return out;
}

// "inputs are finite, largest 6.1e4 in float16"
std::string text_of_operands(const OperationNote& note, const Shapes& shapes,
                             const NonfiniteFinding& finding) {
  if (shapes.operands.empty()) return "";
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
  const amp::GradScaler* ended = nullptr;     // by this call
  ModulePath* path = nullptr;                 // of a module
  std::shared_ptr<const std::string> text{};  // of the path, which it owns
  const std::shared_ptr<const std::string>* text_before = nullptr;
};

struct NanWatcher::Thread {
  profiler::OpenCalls<Open> open;
  ModulePaths paths;
  std::unordered_map<std::string, std::shared_ptr<const std::string>> labels;  // by nodes' names

  bool is_open(bool Open::*kind) const {
    return std::ranges::any_of(open.all(), [&](const Open& each) { return each.*kind; });
  }
  const std::shared_ptr<const std::string>& label(const Node& node) {
    std::shared_ptr<const std::string>& known = labels[node.name()];
    if (!known) known = std::make_shared<const std::string>(node.label());
    return known;
  }
};

NanWatcher& NanWatcher::get() {
  static NanWatcher& watcher = *new NanWatcher;  // as observers must, it outlives every thread
  return watcher;
}

NanWatcher::Thread& NanWatcher::thread() {
  thread_local Thread mine;
  if (mine.open.enter(session_.load(std::memory_order_relaxed))) {
    autograd::module_of_call = nullptr;
    mine.paths.clear();
  }
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
  notes_ = {};
  next_note_ = 0;
}

void NanWatcher::reset(const std::shared_ptr<NanGuard::State>& guard) {
  const std::lock_guard lock(mutex_);
  guard->told = false;
  if (!guards_.empty() && guards_.back() == guard) looks_ = true;
}

bool NanWatcher::looks() {
  if (!looks_.load(std::memory_order_relaxed)) return false;
  if (scaled_.load(std::memory_order_relaxed) == 0) return true;
  if (autograd::in_backward_pass()) return false;
  if (thread_modes.grad) return !thread().is_open(&Open::scaler);
  return thread().is_open(&Open::optimizer);  // what else changes gradients, as clipping does
}

void NanWatcher::begin(const nn::Module& module) noexcept {
  Thread& mine = thread();
  const Open* const holder = mine.open.module();
  mine.open.begin([&](Open& open) {
    open.module = &module;
    auto path =
        mine.paths.find(holder ? holder->module : nullptr, holder ? holder->path : nullptr, module);
    open.path = path.get();
    open.text = {std::move(path), &open.path->text};
    open.text_before = std::exchange(autograd::module_of_call, &open.text);
  });
}

void NanWatcher::begin(const Node& node) noexcept {
  thread().open.begin([&](Open& open) { open.node = &node; });
}

void NanWatcher::begin(const optim::Optimizer&) noexcept {
  thread().open.begin([&](Open& open) { open.optimizer = true; });
}

void NanWatcher::begin(const amp::ScaledPass& pass) noexcept {
  thread().open.begin([&](Open& open) {
    open.scaler = true;
    if (pass.ends) open.ended = pass.scaler;
    const std::lock_guard lock(mutex_);
    scalers_.insert(pass.scaler);
    scaled_ = static_cast<int>(scalers_.size());
  });
}

void NanWatcher::end() noexcept {
  const std::optional<Open> last = thread().open.end();
  if (!last) return;
  if (last->module) autograd::module_of_call = last->text_before;
  if (last->ended) {
    const std::lock_guard lock(mutex_);
    scalers_.erase(last->ended);
    scaled_ = static_cast<int>(scalers_.size());
  }
}

void NanWatcher::describe(const NamedOperation& operation, OperationNote& note) {
  Thread& mine = thread();
  const std::deque<Open>& open = mine.open.all();
  const Node* node = nullptr;
  bool optimizer = false;
  if (!open.empty()) {
    node = open.back().node;
    optimizer = open.back().optimizer && !thread_modes.grad;  // which a closure's part has
  }
  const std::shared_ptr<const std::string>* module = nullptr;
  for (auto each = open.rbegin(); each != open.rend() && !module; ++each) {
    if (each->module) module = &each->text;
    if (each->node) break;
  }
  const autograd::ForwardCall* const call = node ? node->forward_call() : nullptr;
  if (call && call->module()) module = &call->module();

  const CheckedOperation& of = operation.checked;
  note.number = of.number;
  note.function = operation.function, note.chosen = operation.chosen;
  note.module = module ? *module : nullptr;
  note.node = node ? mine.label(*node) : nullptr;
  note.phase = optimizer                      ? NanReport::Phase::Optimizer
               : autograd::in_backward_pass() ? NanReport::Phase::Backward
                                              : NanReport::Phase::Forward;
  note.device = of.results[0].device();
  note.frames = call ? call->frames() : call_stack();
  note.shapes.clear();
  for (const ArrayRef<Tensor> list : {of.results, of.operands})
    for (const Tensor& x : list) {
      note.shapes.push_back(x.dim());
      note.shapes.insert(note.shapes.end(), x.sizes().begin(), x.sizes().end());
    }
  note.results = static_cast<int>(of.results.size());
  note.dtype = (of.operands.empty() ? of.results[0] : of.operands[0]).scalar_type();
  note.complex = of.results[0].is_complex();
  note.parameters = operation.parameters;
}

void NanWatcher::keep(const NamedOperation& operation, bool captured) {
  const std::lock_guard lock(mutex_);
  if (captured) {
    if (captured_.size() < kMostCaptured) describe(operation, captured_[operation.checked.number]);
    return;
  }
  if (notes_.size() < kMostNotes) {
    describe(operation, notes_.emplace_back());
  } else {
    describe(operation, notes_[next_note_]);
    next_note_ = (next_note_ + 1) % kMostNotes;
  }
}

void NanWatcher::tell_of_device(int device, const NonfiniteFinding& finding) {
  NanWatcher& self = get();
  OperationNote note;
  note.device = Device(kCUDA, static_cast<DeviceIndex>(device));
  {
    const std::lock_guard lock(self.mutex_);
    const auto kept = std::ranges::find(self.notes_, finding.number, &OperationNote::number);
    const auto captured = self.captured_.find(finding.number);
    if (kept != self.notes_.end())
      note = *kept;
    else if (captured != self.captured_.end())
      note = captured->second;
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
  report.operation = profiler::operation_name(note.function, note.chosen);
  const Shapes shapes = shapes_of(note, report.operation);
  if (note.node) report.operation += " in " + *note.node;
  report.line = user_line(note.frames);
  report.phase = note.phase;
  report.device = note.device;
  report.made = finding.made;
  report.nans = finding.results.nans, report.infinities = finding.results.infinities;
  for (const std::vector<int64_t>& sizes : shapes.results) {
    int64_t numel = 1;
    for (const int64_t size : sizes) numel *= size;
    report.numel += numel;
  }
  const Nonfinite& where = finding.made ? finding.results : finding.operands;
  const auto& looked_at = finding.made ? shapes.results : shapes.operands;
  const auto number = static_cast<size_t>(where.tensor);
  const int parts = note.complex && note.device.is_cuda() ? 2 : 1;
  if (number < looked_at.size() && where.kinds() != 0)
    report.first = coordinates(where.place / parts, looked_at[number]);

  std::string& text = report.message;
  text = "NanGuard: ";
  if (!report.module.empty()) text += report.module + ", ";
  text += report.operation + ", " + name_of_phase(report.phase);
  if (!report.line.empty()) text += ", " + report.line;
  if (report.device.is_cuda()) text += ", " + report.device.str();
  text += ": ";
  if (finding.made) {
    text +=
        text_of_results(note, shapes, finding, report) + text_of_operands(note, shapes, finding);
  } else {
    text += "input " + std::to_string(number + 1);
    if (number < looked_at.size()) text += ", of shape " + list_text(looked_at[number]) + ',';
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
