// The store of what hooks have packed.
#include "gradus/autograd/tools/saved_tensors_hooks.h"

#include <mutex>
#include <unordered_map>

#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/autograd/engine/saved.h"
#include "gradus/autograd/functions.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus::autograd::graph {

namespace {

using PackHook = std::function<std::any(const Tensor&)>;
using UnpackHook = std::function<Tensor(const std::any&)>;

class PackedStore final : public SavedStore {
 public:
  PackedStore(PackHook pack, UnpackHook unpack)
      : pack_(std::move(pack)), unpack_(std::move(unpack)) {}

  size_t put(const Tensor& tensor) override {
    const NoGradGuard guard;
    const uint32_t version = tensor._version();
    Packed packed{pack_(raw::alias(tensor)), tensor.sizes().vec(), tensor.scalar_type()};
    check<Error>(
        tensor._version() == version,
        "A saved tensor pack hook is modifying its input in place. Tensors passed as input "
        "to pack hook can not be modified by in-place operations; clone() it first");
    const std::lock_guard lock(mutex_);
    packed_.emplace(next_, std::move(packed));
    return next_++;
  }

  Tensor get(size_t number) override {
    const NoGradGuard guard;
    const Packed* packed = nullptr;
    {
      const std::lock_guard lock(mutex_);
      packed = &packed_.at(number);  // stays there while the ticket is read
    }
    const Tensor out = unpack_(packed->value);
    check<Error>(out.defined() && out.sizes() == IntArrayRef(packed->sizes) &&
                     out.scalar_type() == packed->dtype,
                 "saved_tensors_hooks: unpack returned ",
                 out.defined() ? out.toString() : "an undefined tensor", " of shape ",
                 out.defined() ? out.sizes() : IntArrayRef(), ", expected ", packed->dtype,
                 " of shape ", IntArrayRef(packed->sizes), "; return what was packed");
    return raw::alias(out);
  }

  void drop(size_t number) override {
    std::unordered_map<size_t, Packed>::node_type out;  // goes without the lock: it may own tickets
    const std::lock_guard lock(mutex_);
    out = packed_.extract(number);
  }

 private:
  struct Packed {
    std::any value;
    std::vector<int64_t> sizes;
    ScalarType dtype;
  };

  PackHook pack_;
  UnpackHook unpack_;
  std::mutex mutex_;  // guards what follows
  std::unordered_map<size_t, Packed> packed_;
  size_t next_ = 0;
};

struct OnCpu {
  Tensor copy;
  Device device;
};

}  // namespace

void saved_tensors_hooks::begin(PackHook pack, UnpackHook unpack) {
  store_ = std::make_shared<PackedStore>(std::move(pack), std::move(unpack));
  guard_ = std::make_shared<SavedStoreGuard>(*store_);
}
saved_tensors_hooks::~saved_tensors_hooks() = default;

save_on_cpu::save_on_cpu(bool pin_memory)
    : saved_tensors_hooks(
          [=](const Tensor& x) {
            if (!pin_memory) return OnCpu{x.cpu(), x.device()};
            Tensor copy = empty(x.sizes(), TensorOptions(x.scalar_type()).pinned_memory(true));
            copy.copy_(x);
            return OnCpu{copy, x.device()};
          },
          [=](const OnCpu& packed) {
            return packed.copy.to(packed.device, packed.copy.scalar_type(), pin_memory);
          }) {}

}  // namespace gradus::autograd::graph
