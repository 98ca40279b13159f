// The functions of ProfilingBackend: what each operation is called and which bytes it moves.
#include "gradus/watch/profiler/profiling_backend.h"

#include <tuple>

#include "gradus/watch/profiler/operation_name.h"
#include "gradus/watch/profiler/recorder.h"

namespace gradus::profiler {

namespace {

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
  template <class... Args>
  Description(const char* function, const std::tuple<Args...>& arguments) {
    std::apply([&](const auto&... each) { (add(each), ...); }, arguments);
    operation.name = operation_name(function, chosen_);
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
    if (const char* const name = chosen_name(value)) chosen_ = name;
  }

  const char* chosen_ = nullptr;
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
    Description what(function, arguments);
    Operation& operation = what.operation;
    const std::string_view called = function;
    if (called == "gather") {
      correct_bytes(called, *operation.tensors[0], *operation.tensors.back(), operation);
    } else if (called == "scatter") {
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

StoragePtr ProfilingBackend::allocate(size_t nbytes, Device device) {
  try {
    return Recorder::get().allocated(inner().allocate(nbytes, device));
  } catch (OutOfMemoryError& error) {
    error.add_context(Recorder::get().largest_tensors(device));
    throw;
  }
}
Device ProfilingBackend::resolve(Device device) { return inner().resolve(device); }
bool ProfilingBackend::takes_lstm_steps(Device device, ScalarType dtype, int64_t units) {
  return inner().takes_lstm_steps(device, dtype, units);
}
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
