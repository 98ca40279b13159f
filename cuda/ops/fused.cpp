// Chains on CUDA: kernels whose text tensor/fused/kernel_text.h makes, compiled at run time.
#include <algorithm>

#include "gradus/cuda/backend.h"
#include "gradus/cuda/rtc/program.h"
#include "gradus/cuda/runtime/context.h"
#include "gradus/cuda/runtime/launch.h"
#include "gradus/tensor/codegen/walk.h"
#include "gradus/tensor/fused/kernel_text.h"

namespace gradus::cuda {

namespace {

struct Form {
  Form(const fused::Kernel& kernel, int vector)
      : text(fused::make_text(kernel, vector)), program(Source(text.text), {"fused"}) {}

  fused::KernelText text;
  Program program;
};

const Form& form_of(const fused::Kernel& kernel, int vector) {
  return kernel.forms->get<Form>(vector, [&] { return Form(kernel, vector); });
}

}  // namespace

void CudaBackend::prepare(const fused::Kernel& kernel, Device device) {
  form_of(kernel, codegen::kMostAligned).program.prepare(device.index());
}

void CudaBackend::fused(const fused::Kernel& kernel, ArrayRef<Tensor> inputs,
                        ArrayRef<Tensor> outputs) {
  if (outputs[0].numel() == 0) return;
  const Context context(outputs[0]);
  const Form* form = &form_of(kernel, codegen::kMostAligned);
  int aligned = codegen::kMostAligned;
  codegen::KernelArguments arguments;
  const auto add = [&](const Tensor& x, int64_t offset) {
    void* const data =
        static_cast<char*>(x.data_ptr()) + static_cast<size_t>(offset) * x.itemsize();
    arguments.add(data);
    aligned = std::min(aligned, codegen::alignment(data, x.itemsize()));
  };
  for (const int i : form->text.inputs) {
    const fused::Expr& expr = kernel.computation.exprs[static_cast<size_t>(i)];
    add(inputs[expr.input], expr.offset);
  }
  for (const Tensor& out : outputs) add(out, 0);
  if (aligned < form->text.vector) form = &form_of(kernel, aligned);
  arguments.add(form->text.more);
  const dim3 block(static_cast<unsigned>(form->text.threads_x),
                   static_cast<unsigned>(form->text.threads_y));
  detail::launch(form->program.kernel(), {dim3(static_cast<unsigned>(form->text.blocks)), block},
                 arguments.pointers().data());
}

}  // namespace gradus::cuda
