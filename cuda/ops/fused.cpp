// Chains on CUDA: kernels whose text tensor/fused/source.h makes, compiled at run time.
#include <algorithm>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/rtc/program.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/fused/source.h"

namespace gradus::cuda {

namespace {

struct Form {
  Form(const fused::Kernel& kernel, int vector)
      : source(fused::make_source(kernel, vector)), program(Source(source.text), {"fused"}) {}

  fused::Source source;
  Program program;
};

const Form& form_of(const fused::Kernel& kernel, int vector) {
  return kernel.forms->get<Form>(vector, [&] { return Form(kernel, vector); });
}

constexpr int kMostAligned = 16;

// The greatest power of two, up to kMostAligned, of which the address is a multiple in elements.
int alignment(const void* data, size_t element_size) {
  const uintptr_t number = reinterpret_cast<uintptr_t>(data) / element_size;
  return number == 0 ? kMostAligned
                     : static_cast<int>(std::min<uintptr_t>(number & -number, kMostAligned));
}

}  // namespace

void CudaBackend::fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
                        ArrayRef<Tensor> outputs) {
  if (outputs[0].numel() == 0) return;
  const Context context(outputs[0]);
  const Form* form = &form_of(kernel, kMostAligned);
  int aligned = kMostAligned;
  std::vector<void*> pointers;
  const auto add = [&](const Tensor& x, int64_t offset) {
    void* const data =
        static_cast<char*>(x.data_ptr()) + static_cast<size_t>(offset) * x.itemsize();
    pointers.push_back(data);
    aligned = std::min(aligned, alignment(data, x.itemsize()));
  };
  for (const int i : form->source.inputs) {
    const fused::Node& node = kernel.program.nodes[static_cast<size_t>(i)];
    add(inputs[node.input], node.offset);
  }
  for (const Tensor& out : outputs) add(out, 0);
  if (aligned < form->source.vector) form = &form_of(kernel, aligned);

  std::vector<int64_t> numbers = form->source.numbers;
  std::vector<void*> args;
  for (void*& pointer : pointers) args.push_back(&pointer);
  for (int64_t& number : numbers) args.push_back(&number);
  args.push_back(nullptr);
  const dim3 block(static_cast<unsigned>(form->source.threads_x),
                   static_cast<unsigned>(form->source.threads_y));
  detail::launch(form->program.kernel(), {dim3(static_cast<unsigned>(form->source.blocks)), block},
                 args.data());
}

}  // namespace gradus::cuda
