// Part of every test program: backends that stand before those of the CPU and of CUDA, and check
// what callers give them against the columns of backend.def.
#include "gradus/tensor/raw/raw.h"

namespace gradus {
namespace {

// The arguments of one call.
class ContractCheck {
 public:
  ContractCheck(Function function, const char* called, DeviceType device)
      : function_(function), called_(called), device_(device) {}

  template <class... A>
  void operator()(const A&... args) {
    (see(args), ...);
    const auto count = static_cast<int>(tensors_.size()), results = contract().results;
    for (int i = std::max(count - results, 0); i < count; ++i) check_result(*tensors_[i]);
    if (contract().takes.are_alike && !contract().beside(device_).mixed)
      check_alike(std::max(count - results, 0));
  }

 private:
  const contracts::Contract& contract() const { return contracts::of(function_); }

  void see(const Tensor& x) {
    check_operand(x);
    ++place_;
  }
  void see(const Operand& x) {
    if (!x.is_number()) check_operand(*x.tensor);
    ++place_;
  }
  void see(const ArrayRef<Tensor>& list) {
    for (const Tensor& x : list) check_operand(x);
    ++place_;
  }
  template <class T>
  void see(const T&) {
    ++place_;
  }

  template <class... What>
  void require(bool met, const Tensor& x, const What&... what) const {
    check<Error>(met, called_, " breaks the contract of backend.def: argument ", place_,
                 " has shape ", x.sizes(), ", strides ", x.strides(), " and dtype ", x.dtype(),
                 " on ", x.device(), "; ", what...);
  }

  void check_operand(const Tensor& x) {
    if (!x.defined()) return;
    const contracts::Parameter p(function_, place_);
    require(x.device().type() == device_, x, "expected a tensor on ", device_);
    require(tensors_.empty() || x.device() == tensors_[0]->device(), x, "expected ",
            tensors_.empty() ? x.device() : tensors_[0]->device());
    require(contracts::takes_dtype(p, device_, x.scalar_type()), x,
            "the device takes other dtypes");
    const bool is_last = contract().beside(device_).channels_last &&
                         ((x.dim() == 4 && x.is_contiguous(MemoryFormat::ChannelsLast)) ||
                          (x.dim() == 5 && x.is_contiguous(MemoryFormat::ChannelsLast3d)));
    require(is_last || raw::lies(contracts::strides_of(p, device_), x), x,
            "the device takes other strides");
    tensors_.push_back(&x);
  }
  void check_result(const Tensor& x) const {
    for (int64_t d = 0; d < x.dim() && x.numel() > 0; ++d)
      require(x.sizes()[d] < 2 || x.strides()[d] != 0, x, "a result overlaps itself");
  }
  void check_alike(int operands) const {
    for (int i = 1; i < operands; ++i)
      require(tensors_[i]->dtype() == tensors_[0]->dtype() || tensors_[i]->numel() == 1 ||
                  tensors_[0]->numel() == 1,
              *tensors_[i], "expected operands of one dtype");
  }

  Function function_;
  const char* called_;
  DeviceType device_;
  int place_ = 0;
  std::vector<const Tensor*> tensors_;  // those that are defined
};

class ContractBackend final : public Backend {
 public:
  explicit ContractBackend(DeviceType device) : device_(device) {}

#define MEMORY(result, name, called, parameters, arguments, ...) \
  result name parameters override { return inner().name arguments; }
#define ROW(result, name, called, parameters, arguments, ...) \
  result name parameters override {                           \
    ContractCheck(Function::name, #name, device_) arguments;  \
    return inner().name arguments;                            \
  }
#include "gradus/tensor/table/backend.def"

 private:
  Backend& inner() const { return device_ == kCPU ? cpu_backend() : cuda_backend(); }

  DeviceType device_;
};

[[maybe_unused]] const bool checks_contracts = [] {
  for (const DeviceType device : {kCPU, kCUDA})
    exchange_backend(device, new ContractBackend(device));  // for as long as the program runs
  return true;
}();

}  // namespace
}  // namespace gradus
