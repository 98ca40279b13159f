// Changes in place: which are refused, how the others are recorded, and copy_.
#include "gradus/autograd/engine/inplace.h"

#include "gradus/autograd/engine/as_strided.h"
#include "gradus/autograd/engine/record.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/batching/undo.h"
#include "gradus/tensor/factories.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {

void record_view_change(const Tensor& view, Edge value) {
  const Tensor base = view._base();
  auto backward = [b = geometry_beside(view, base), v = geometry_beside(base, view),
                   of_base = base.is_complex(),
                   of_view = view.is_complex()](Node& n, const Tensor& grad) {
    Tensors out(2);
    const Tensor copy = laid_out(in_geometry(grad, b), b);
    Tensor part = copy.as_strided(v.sizes, v.strides, v.offset - b.offset);
    if (n.wants(1)) out[1] = from_geometry(part.clone(), of_view);
    if (n.wants(0)) {
      part.zero_();
      out[0] = from_geometry(copy, of_base);
    }
    return out;
  };
  auto node =
      make_node<LambdaNode<decltype(backward)>>("torch::autograd::CopySlices", std::move(backward));
  node->add_next_edge(gradient_edge(base));
  node->add_next_edge(std::move(value));
  node->add_input_metadata(base);
  set_history(base, std::move(node), 0);
}

namespace {

// Records that x was overwritten with value (undefined: with what has no gradient). The caller has
// not bumped the version yet.
void record_overwrite(const char* node, const Tensor& x, const Tensor& value) {
  if (x.is_view()) return record_view_change(x, value.defined() ? gradient_edge(value) : Edge{});
  record(node, x, {x, value}, {}, [](Node& n, const Tensor& grad) {
    Tensors out(2);
    if (n.wants(0)) out[0] = zeros_like(grad);
    if (n.wants(1)) out[1] = grad;
    return out;
  });
}

}  // namespace

void check_view_origin(const Tensor& x, const char* changed) {
  const char* reason = "";
  switch (x.impl().creation_meta) {
    case autograd::CreationMeta::DEFAULT:
      return;
    case autograd::CreationMeta::NO_GRAD_MODE:
      fail<Error>("A view was created in no_grad mode and ", changed,
                  " modified inplace with grad mode enabled; take the view and change it both "
                  "inside of the no_grad block, or both outside");
    case autograd::CreationMeta::INFERENCE_MODE:
      fail<Error>("A view was created in inference mode and ", changed,
                  " modified inplace in normal mode; take the view and change it both inside of "
                  "the InferenceMode block, or both outside");
    case autograd::CreationMeta::MULTI_OUTPUT_NODE:
      reason =
          "This view is the output of a function that returns multiple views, which must not be "
          "modified inplace; use an operation that returns a new tensor";
      break;
    case autograd::CreationMeta::IN_CUSTOM_FUNCTION:
      reason =
          "This view was created inside a custom Function, whose backward would be overridden; "
          "clone() it in the Function's forward";
      break;
  }
  const AutogradMeta* meta = meta_of(x);
  fail<Error>("Output ", x.output_nr(), " of ",
              meta && meta->grad_fn ? meta->grad_fn->label() : "a function of several views",
              " is a view and ", changed, " modified inplace. ", reason);
}

void check_in_place(const char* op, const Tensor& x, bool records) {
  const int64_t rank = x.operand(op).dim();
  for (int64_t d = 0; d < rank; ++d)
    check(x.strides()[d] != 0 || x.sizes()[d] <= 1 || x.numel() == 0, op,
          "_: more than one element of the written-to tensor refers to a single memory location, "
          "as expand() makes them: shape ",
          x.sizes(), ", strides ", x.strides(), "; clone() it first");
  batching::before_writing(x);
  check_history(op, x, records);
}

namespace {
// How x lies and what autograd knows of it, to be given back to it.
batching::Undo::Restore kept_state(const std::shared_ptr<TensorImpl>& x) {
  const auto* meta = static_cast<const AutogradMeta*>(x->autograd.get());
  return [to = std::weak_ptr(x), storage = x->storage, dtype = x->dtype, offset = x->offset,
          sizes = x->sizes, strides = x->strides, numel = x->numel, contiguous = x->contiguous,
          view_of = x->view_of, creation = x->creation_meta, version = x->history_version.load(),
          requires_grad = meta && meta->requires_grad, output_nr = meta ? meta->output_nr : 0,
          grad_fn = meta ? meta->grad_fn : nullptr] {
    const std::shared_ptr<TensorImpl> now = to.lock();
    if (!now) return false;
    now->storage = storage, now->dtype = dtype, now->offset = offset, now->sizes = sizes;
    now->strides = strides, now->numel = numel, now->contiguous = contiguous;
    now->view_of = view_of, now->creation_meta = creation, now->history_version = version;
    if (auto* const its = static_cast<AutogradMeta*>(now->autograd.get()))
      its->requires_grad = requires_grad, its->output_nr = output_nr, its->grad_fn = grad_fn;
    return true;
  };
}
}  // namespace

void before_change_of_handle(const Tensor& x) {
  for (const auto& each : {x.impl_ptr(), x.impl().view_of})
    if (each)
      batching::before_change(each.get(), batching::depth_of(x), [&] { return kept_state(each); });
}

void check_history(const char* op, const Tensor& x, bool records) {
  check<Error>(!x.is_inference() || thread_modes.inference, op,
               "_: Inplace update to inference tensor outside InferenceMode is not allowed; "
               "clone() it first");
  before_change_of_handle(x);
  if (!records) return;
  if (x.is_view()) {
    check_view_origin(x, "is being");
    check<Error>(!x.requires_grad() || !x._base().is_leaf(), op,
                 "_: a view of a leaf Variable that requires grad is being used in an in-place "
                 "operation; do it under NoGradGuard, or on a clone()");
  }
  check<Error>(!x.requires_grad() || !x.is_leaf(), op,
               "_: a leaf Variable that requires grad is being used in an in-place operation; "
               "do it under NoGradGuard, or on a clone()");
}

Tensor old_value(const Tensor& x) {
  Tensor old = raw::empty_as(x, x.scalar_type());
  raw::copy_(old, x);
  if (Edge edge = gradient_edge(x); edge.is_valid())
    set_history(old, std::move(edge.function), edge.input_nr);
  return old;
}

void assign(const char* op, const Tensor& x, const Tensor& result) {
  check_output_shape(op, "_", x.sizes(), result.sizes());
  check_can_cast(op, "_", result.dtype(), x.dtype());
  raw::copy_(x, result);
}

void adopt(const char* op, const Tensor& x, const Tensor& result) {
  assign(op, x, result);
  const Tensor fitted = result.dtype() == x.dtype() ? result : result.to(x.dtype());
  Edge edge = gradient_edge(fitted);
  if (x.is_view())
    record_view_change(x, std::move(edge));
  else if (edge.is_valid())
    set_history(x, std::move(edge.function), edge.input_nr);
  else if (in_graph(x))  // of a comparison, say: nothing of the old value is left
    record_overwrite("torch::autograd::CopyBackwards", x, {});
  x.impl().storage->bump_version();
  if (x.retains_grad()) x.grad_fn();  // moves what keeps the gradient to the changed view
}

Tensor& Tensor::copy_(const Tensor& src, bool non_blocking) const {
  const bool records = recording(*this, src) && is_differentiable(operand("copy_").dtype());
  check_in_place("copy", *this, records);
  check_output_shape("copy", "_", sizes(),
                     broadcast_shapes("copy_", sizes(), src.operand("copy_", "src").sizes()));
  const bool overlaps = src.impl().storage == impl().storage && !src.is_same(*this);
  raw::copy_(*this, overlaps ? raw::clone(src) : src, non_blocking);
  if (records)
    record_overwrite("torch::autograd::CopyBackwards", *this,
                     is_differentiable(src.dtype()) ? src : Tensor());
  impl().storage->bump_version();
  return handle();
}

namespace {
Tensor& fill(const char* op, const char* node, const Tensor& x, const Scalar& value) {
  const bool records = recording(x);
  check_in_place(op, x, records);
  raw::fill_(x, value);
  if (records) record_overwrite(node, x, {});
  x.impl().storage->bump_version();
  return x.handle();
}
}  // namespace

Tensor& Tensor::fill_(const Scalar& value) const {
  return fill("fill", "FillBackward0", *this, value);
}
Tensor& Tensor::fill_(const Tensor& value) const {
  check(value.dim() == 0,
        "fill_: fill_ only supports 0-dimension value tensor but got tensor with ", value.dim(),
        " dimensions; use copy_(), which broadcasts");
  if (is_cuda() && value.is_cpu() && !recording(value))  // an argument of the kernel
    return fill("fill", "FillBackward0", *this, raw::item(raw::to(value, scalar_type())));
  return copy_(value);
}
Tensor& Tensor::zero_() const { return fill("zero", "ZeroBackward0", *this, 0); }

Tensor& Tensor::resize_(IntArrayRef size, std::optional<MemoryFormat> format) const {
  check_row_major("resize_", format);
  if (sizes() == size) return handle();
  check<Error>(!requires_grad(), "resize_: the tensor requires grad; resize a detach()ed one");
  const int64_t numel = checked_numel("resize_", size);
  int64_t end = 0, nbytes = 0;
  check(!__builtin_add_overflow(numel, storage_offset(), &end) &&
            !__builtin_mul_overflow(end, static_cast<int64_t>(element_size()), &nbytes),
        "resize_: shape ", size, " of ", dtype(), " from offset ", storage_offset(),
        " has more bytes than an int64 counts; make it smaller");
  const auto needed = static_cast<size_t>(nbytes);
  if (needed > impl().storage->nbytes()) {
    check<Error>(impl().storage->resizable(),
                 "resize_: Trying to resize storage that is not resizable: it has ",
                 impl().storage->nbytes(), " bytes, ", needed,
                 " are needed, and from_blob() was given it; resize a clone()");
    before_change_of_handle(*this);
    const Tensor larger = raw::empty(size, dtype(), device());
    const int64_t kept = std::min(numel, this->numel());
    raw::copy_(raw::narrow(larger.view({numel}), 0, 0, kept),
               raw::narrow(raw::contiguous(detach()).view({this->numel()}), 0, 0, kept));
    impl().storage = larger.impl().storage;
    impl().offset = 0;
  }
  before_change_of_handle(*this);
  impl().sizes = Dims(size.data(), size.size());
  impl().strides = contiguous_strides(size);
  impl().numel = numel;
  impl().contiguous = true;
  return handle();
}

}  // namespace gradus
