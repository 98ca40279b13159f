// saved_tensors_hooks and save_on_cpu: what is kept for the backward pass, in another form.
#pragma once

#include <any>
#include <functional>
#include <memory>
#include <type_traits>

#include "gradus/tensor/tensor.h"

namespace gradus {

class SavedStore;
class SavedStoreGuard;

namespace autograd::graph {

// While it lives, operations of this thread keep pack(tensor) for their backward pass in place of
// the tensor, which is unpack of it again there. pack gets a tensor without a graph and must not
// change it; it may return anything. Nothing checks whether that changes in place later.
//
//   autograd::graph::saved_tensors_hooks hooks(
//       [](const Tensor& x) { return x.to(kHalf); }, [](const Tensor& x) { return x.to(kFloat); });
//
// Errors: of the backward pass, Error where unpack returns a tensor of another shape or dtype.
class saved_tensors_hooks {
 public:
  template <class Pack, class Unpack>
  saved_tensors_hooks(Pack pack, Unpack unpack) {
    using Packed = std::decay_t<std::invoke_result_t<Pack&, const Tensor&>>;
    begin([pack](const Tensor& x) mutable { return std::any(Packed(pack(x))); },
          [unpack](const std::any& x) mutable { return unpack(std::any_cast<const Packed&>(x)); });
  }
  ~saved_tensors_hooks();
  saved_tensors_hooks(const saved_tensors_hooks&) = delete;
  saved_tensors_hooks& operator=(const saved_tensors_hooks&) = delete;

 private:
  void begin(std::function<std::any(const Tensor&)> pack,
             std::function<Tensor(const std::any&)> unpack);

  std::shared_ptr<SavedStore> store_;
  std::shared_ptr<SavedStoreGuard> guard_;
};

// Keeps saved tensors in the memory of the CPU, and brings them back for the backward pass: less
// memory of a GPU for more time. pin_memory: in page-locked memory, copied without waiting.
class save_on_cpu : public saved_tensors_hooks {
 public:
  explicit save_on_cpu(bool pin_memory = false);
};

}  // namespace autograd::graph
}  // namespace gradus
