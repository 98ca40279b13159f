// The functions of ProfilingBackend: what each operation is called and which bytes it moves.
#include "gradus/watch/profiler/profiling_backend.h"

#include <tuple>

#include "gradus/cuda/runtime/device.h"
#include "gradus/watch/profiler/recorder.h"

namespace gradus::profiler {

namespace {

// The name of an operation that an argument chooses.
template <class Op>
const char* label_of(Op op) {
  return name_of(op);
}
const char* label_of(Distribution kind) {
  constexpr const char* names[] = {"uniform", "normal",    "log_normal", "exponential",
                                   "cauchy",  "geometric", "bernoulli",  "randint"};
  return names[static_cast<size_t>(kind)];
}
const char* label_of(RandomMap op) { return op == RandomMap::dropout ? "dropout" : "bernoulli"; }
const char* label_of(CountOp op) { return op == CountOp::poisson ? "poisson" : "binomial"; }
const char* label_of(UpdateOp op) {
  constexpr const char* names[] = {
#define OPTIMIZER(name, ...) #name,
#include "gradus/tensor/table/optimizers.def"
  };
  return names[static_cast<size_t>(op)];
}
const char* label_of(ConvolutionPass part) {
  constexpr const char* names[] = {"convolution", "convolution_dgrad", "convolution_wgrad"};
  return names[static_cast<size_t>(part)];
}

// The bytes of the elements that are there; an expanded dimension repeats the same ones.
int64_t bytes_of(const Tensor& x) {
  auto bytes = static_cast<int64_t>(x.element_size());
  for (int64_t d = 0; d < x.dim(); ++d)
    if (x.strides()[d] != 0 || x.sizes()[d] == 0) bytes *= x.sizes()[d];
  return bytes;
}

// Reads the arguments of a function of Backend.
class Description {
 public:
  explicit Description(std::string_view function) {
    for (const std::string_view end : {"_grads", "_grad"})
      if (function.ends_with(end)) {
        function.remove_suffix(end.size());
        suffix_ = "_backward";
      }
    operation.name = function;
  }

  template <class... Args>
  void read(const std::tuple<Args...>& arguments) {
    std::apply([&](const auto&... each) { (add(each), ...); }, arguments);
    operation.name += suffix_;
  }

  Operation operation;

 private:
  void add(const Tensor& x) {
    if (!x.defined()) return;
    operation.tensors.push_back(&x);
    operation.bytes += bytes_of(x);
    if (!operation.device.is_cuda()) operation.device = x.device();
  }
  void add(const Operand& x) {
    if (!x.is_number()) add(*x.tensor);
  }
  void add(ArrayRef<Tensor> list) {
    for (const Tensor& x : list) add(x);
  }
  void add(ArrayRef<UpdatedParameter> list) {
    for (const UpdatedParameter& each : list) {
      add(each.parameter);
      add(each.gradient);
      for (const Tensor& state : each.states) add(state);
      // The step writes them, too.
      operation.bytes += bytes_of(each.parameter);
      for (const Tensor& state : each.states)
        if (state.defined()) operation.bytes += bytes_of(state);
    }
  }
  template <class Other>
  void add(const Other& value) {
    if constexpr (std::is_enum_v<Other> && !std::is_same_v<Other, ScatterOp> &&
                  !std::is_same_v<Other, AfterNorm>)
      operation.name = label_of(value);
  }

  const char* suffix_ = "";
};

// Only the elements that an index names are read of the table, or changed in it.
void correct_bytes(std::string_view function, const Tensor& table, const Tensor& lines,
                   Operation& operation) {
  const int64_t all = bytes_of(table), some = std::min(all, bytes_of(lines));
  operation.bytes += (function == "scatter" ? 2 * some : some) - all;
}

class Scope {
 public:
  template <class... Args>
  Scope(const char* function, const std::tuple<Args...>& arguments) {
    if (!Recorder::get().is_on()) return;
    Description what(function);
    what.read(arguments);
    Operation& operation = what.operation;
    const std::string_view called = function;
    if (called == "gather") {
      correct_bytes(called, *operation.tensors[0], *operation.tensors.back(), operation);
    } else if (called == "scatter") {
      operation.name = "scatter";
      correct_bytes(called, *operation.tensors.back(), *operation.tensors[0], operation);
    } else if (called == "transfer") {
      const auto letter = [&](size_t i) { return operation.tensors[i]->is_cuda() ? 'D' : 'H'; };
      operation.name = std::string("copy ") + letter(0) + "to" + letter(1);
    }
    Recorder::get().begin(operation);
    told_ = true;
  }
  ~Scope() {
    if (told_) Recorder::get().end();
  }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  bool told_ = false;
};

}  // namespace

ProfilingBackend& ProfilingBackend::of(DeviceType type) {
  static ProfilingBackend &cpu = *new ProfilingBackend, &cuda = *new ProfilingBackend;
  return type == kCPU ? cpu : cuda;
}

void ProfilingBackend::install() {
  for (const DeviceType type : {kCPU, kCUDA}) {
    if (type == kCUDA && !cuda::is_available()) continue;
    ProfilingBackend& mine = of(type);
    mine.inner_.store(&backend(type), std::memory_order_release);
    mine.exchanged_ = exchange_backend(type, &mine);
  }
}

void ProfilingBackend::remove() {
  for (const DeviceType type : {kCPU, kCUDA})
    if (type == kCPU || cuda::is_available()) exchange_backend(type, of(type).exchanged_);
}

StoragePtr ProfilingBackend::allocate(size_t nbytes, Device device) {
  try {
    return Recorder::get().allocated(inner().allocate(nbytes, device));
  } catch (OutOfMemoryError& error) {
    error.add_context(Recorder::get().largest_tensors(device));
    throw;
  }
}
Device ProfilingBackend::resolve(Device device) { return inner().resolve(device); }
void ProfilingBackend::transfer(const Tensor& src, const Tensor& dst, bool non_blocking) {
  const Scope scope("transfer", std::tie(src, dst));
  inner().transfer(src, dst, non_blocking);
}

#define ROW(result, name, called, parameters, arguments, ...) \
  result ProfilingBackend::name parameters {                  \
    const Scope scope(#name, std::tie arguments);             \
    return inner().name arguments;                            \
  }
#define MEMORY(...)
#include "gradus/tensor/table/backend.def"

}  // namespace gradus::profiler
