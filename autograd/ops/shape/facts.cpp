// is_floating_point, is_signed, is_complex and other facts of a tensor, as functions.
#include "gradus/autograd/functions.h"
#include "gradus/cuda/runtime/pinned.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

bool is_floating_point(const Tensor& self) { return self.is_floating_point(); }
bool is_signed(const Tensor& self) { return self.is_signed(); }
bool is_complex(const Tensor& self) { return self.is_complex(); }
bool is_conj(const Tensor& self) { return self.is_conj(); }
bool is_neg(const Tensor& self) { return self.is_neg(); }
bool is_distributed(const Tensor& self) { return self.is_distributed(); }
bool is_inference(const Tensor& self) { return self.is_inference(); }
int64_t size(const Tensor& self, int64_t dim) { return self.size(dim); }
int64_t stride(const Tensor& self, int64_t dim) { return self.stride(dim); }
Tensor detach(const Tensor& self) { return self.detach(); }

bool is_set_to(const Tensor& self, const Tensor& tensor) {
  return self.is_alias_of(tensor) && self.storage_offset() == tensor.storage_offset() &&
         self.sizes() == tensor.sizes() && self.strides() == tensor.strides();
}

bool Tensor::is_pinned(std::optional<Device>) const {
  return defined() && cuda::is_pinned(storage().impl_ptr());
}

Tensor Tensor::pin_memory(std::optional<Device>) const {
  operand("pin_memory");
  check<Error>(is_cpu(), "pin_memory: cannot pin '", toString(),
               "' only dense CPU tensors can be pinned; use cpu() first");
  if (is_pinned()) return *this;
  Tensor out = raw::over_storage(cuda::allocate_pinned(nbytes()), sizes(), scalar_type());
  return out.copy_(*this);  // recorded
}

}  // namespace gradus
