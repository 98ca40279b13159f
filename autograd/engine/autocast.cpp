// The state of autocast, the conversions of operands, and the autocast cache: weights that were
// converted once.
#include "gradus/autograd/engine/autocast.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "gradus/autograd/engine/any_dtype.h"
#include "gradus/autograd/engine/cast_operands.h"
#include "gradus/autograd/engine/grad_mode.h"
#include "gradus/cuda/runtime/stream.h"
#include "gradus/tensor/batching/storage.h"
#include "gradus/tensor/meta.h"
#include "gradus/tensor/raw/raw.h"

namespace gradus {
namespace autocast {

namespace {

struct Kept {
  Tensor weight, converted;  // the weight stays, so that no other one gets its place
  uint32_t version;
  bool recorded;
};
thread_local std::unordered_map<const TensorImpl*, Kept> cache;
// The weights that the last scope converted. The next step is likely to want the same ones.
thread_local std::vector<std::weak_ptr<TensorImpl>> last;
thread_local int nesting = 0;
// The last result that made() was told of, and on which stream.
struct Made {
  std::weak_ptr<TensorImpl> result, weight;
  std::weak_ptr<StorageImpl> memory;
  uint32_t version = 0;
  std::optional<cuda::Stream> stream;
  Tensor copy;
};
thread_local Made last_made;

DeviceAutocast& mode_of(DeviceType type) {
  return thread_modes.autocast.devices[static_cast<size_t>(type)];
}

// Null where autocast has nothing to do with x.
const DeviceAutocast* mode_of(const Tensor& x) {
  if (!x.defined() || !x.is_floating_point() || x.dtype() == kDouble) return nullptr;
  const DeviceAutocast& mode = mode_of(acting_device(x));
  return mode.enabled ? &mode : nullptr;
}

Cast cast_of(const Row& row, const Tensor& x) {
  return row.cast[static_cast<size_t>(acting_device(x))];
}

bool is_kept(const Tensor& x) {
  return x.dtype() == kFloat && x.requires_grad() && x.is_leaf() && !x.is_view() && !x.is_meta();
}
bool is_fresh(const Kept& kept, const Tensor& x, ScalarType dtype) {
  return kept.converted.defined() && kept.converted.dtype() == dtype &&
         kept.version == x._version() && kept.recorded == GradMode::is_enabled();
}

// Converts x and all other weights of the last scope, where x is one of them: one launch on a GPU.
void convert_last(const Tensor& x, ScalarType dtype) {
  const auto is_x = [&](const auto& weight) { return weight.lock() == x.impl_ptr(); };
  if (!x.is_cuda() || std::none_of(last.begin(), last.end(), is_x)) return;
  Tensors weights, converted;
  for (const auto& weight : std::exchange(last, {})) {
    const std::shared_ptr<TensorImpl> impl = weight.lock();
    if (!impl) continue;
    const Tensor w(impl);
    if (!is_kept(w) || w.device() != x.device() || !w.is_non_overlapping_and_dense() ||
        is_fresh(cache[impl.get()], w, dtype))
      continue;
    weights.push_back(w), converted.push_back(raw::empty_as(w, dtype));
  }
  backend(x).copy_list(weights, converted);
  for (size_t i = 0; i < weights.size(); ++i) {
    const Tensor& w = weights[i];
    if (recording(w)) record_conversion(converted[i], w);
    cache[&w.impl()] = {w, converted[i], w._version(), GradMode::is_enabled()};
  }
}

// The weight's next result is likely to be taken in this dtype; Float: in no half type.
void expect_copy(const std::weak_ptr<TensorImpl>& weight, ScalarType dtype) {
  if (const auto impl = weight.lock(); impl && impl->autograd)
    static_cast<AutogradMeta&>(*impl->autograd).copied_as = dtype;
}

// Nobody took the last copy: it was made in vain, and is not made again.
void forget_made() {
  if (last_made.copy.defined()) expect_copy(last_made.weight, kFloat);
  last_made = {};
}

// The copy of x, recorded as its conversion; undefined where there is none. Each is taken once: an
// operation may return its operand's memory, which is then changed.
Tensor taken_copy(const Tensor& x, ScalarType dtype) {
  if (!x.is_cuda() || last_made.result.lock() != x.impl_ptr()) return {};
  const Made found = std::exchange(last_made, {});
  expect_copy(found.weight, dtype);
  if (!found.copy.defined() || found.copy.dtype() != dtype || found.copy.sizes() != x.sizes() ||
      found.memory.lock() != x.impl().storage || found.version != x.impl().storage->version() ||
      !x.is_contiguous() || *found.stream != cuda::getCurrentCUDAStream(x.device().index()))
    return {};
  if (recording(x)) record_conversion(found.copy, x);
  return found.copy;
}

Tensor lowered(const Tensor& x, ScalarType dtype) {
  if (Tensor copy = taken_copy(x, dtype); copy.defined()) return copy;
  if (!thread_modes.autocast.caches || !is_kept(x)) return x.to(dtype);
  if (!is_fresh(cache[&x.impl()], x, dtype)) convert_last(x, dtype);
  Kept& kept = cache[&x.impl()];
  if (!is_fresh(kept, x, dtype)) kept = {x, x.to(dtype), x._version(), GradMode::is_enabled()};
  return kept.converted;
}

}  // namespace

bool is_autocast_enabled(DeviceType device_type) { return mode_of(device_type).enabled; }
void set_autocast_enabled(DeviceType device_type, bool enabled) {
  mode_of(device_type).enabled = enabled;
  thread_modes.autocast.casts = mode_of(kCPU).enabled || mode_of(kCUDA).enabled;
}
ScalarType get_autocast_dtype(DeviceType device_type) { return mode_of(device_type).dtype; }
void set_autocast_dtype(DeviceType device_type, ScalarType dtype) {
  check<TypeError>(dtype == kHalf || dtype == kBFloat16, "autocast: dtype is ", dtype,
                   ", expected float16 or bfloat16; turn autocast off for another one");
  mode_of(device_type).dtype = dtype;
}

bool is_autocast_cache_enabled() { return thread_modes.autocast.caches; }
void set_autocast_cache_enabled(bool enabled) { thread_modes.autocast.caches = enabled; }
void clear_cache() {
  forget_made();
  if (cache.empty()) return;
  last.clear();
  for (const auto& [impl, kept] : cache)
    if (kept.weight.defined()) last.push_back(kept.weight.impl_ptr());
  cache.clear();
}
int increment_nesting() { return ++nesting; }
int decrement_nesting() { return --nesting; }

void Operands::see(const Tensor& x) {
  if (!mode_of(x)) return;
  const Cast cast = cast_of(row_, x);
  check<Error>(cast != Cast::refused, row_.name,
               ": it is unsafe under autocast, since a probability near 0 or 1 is lost in 16 bits; "
               "use binary_cross_entropy_with_logits of what the sigmoid was taken of, or turn "
               "autocast off");
  cast_ |= cast != Cast::none;
  if (cast == Cast::widest) widest_ = promoteTypes(widest_.value_or(x.dtype()), x.dtype());
}

Tensor room_for_copy(const Tensor& x, const Tensor& weight) {
  if (!x.is_cuda() || x.dtype() != kFloat || !weight.defined() || batching::here()) return {};
  const DeviceAutocast* const mode = mode_of(x);
  const AutogradMeta* const meta = meta_of(weight);
  if (!mode || !meta || meta->copied_as != mode->dtype) return {};
  return raw::empty(x.sizes(), mode->dtype, x.device());
}

void made(const Tensor& result, const Tensor& weight, const Tensor& copy) {
  // An inference tensor does not count its changes.
  if (!weight.defined() || !mode_of(result) || !result.is_cuda() || result.is_inference()) return;
  forget_made();
  const StoragePtr& memory = result.impl().storage;
  last_made = {result.impl_ptr(),
               weight.impl_ptr(),
               memory,
               memory->version(),
               cuda::getCurrentCUDAStream(result.device().index()),
               copy};
}

std::optional<ScalarType> lower_type(DeviceType device) {
  const DeviceAutocast& mode = mode_of(device);
  return thread_modes.autocast.casts && mode.enabled ? std::optional(mode.dtype) : std::nullopt;
}
bool keeps_copy(const Tensor& x) {
  return thread_modes.autocast.caches && lower_type(x.device().type()) && is_kept(x) &&
         x.is_non_overlapping_and_dense();
}
Tensor kept_copy(const Tensor& x) { return lowered(x, mode_of(x.device().type()).dtype); }

ScalarType cast_type(const Row& row, const Tensor& x) {
  const DeviceAutocast* const mode = thread_modes.autocast.casts ? mode_of(x) : nullptr;
  const Cast cast = mode ? cast_of(row, x) : Cast::none;
  return cast == Cast::wide ? kFloat : cast == Cast::lower ? mode->dtype : x.scalar_type();
}

Tensor Operands::converted(const Tensor& x) const {
  const DeviceAutocast* mode = mode_of(x);
  if (!mode) return x;
  switch (cast_of(row_, x)) {
    case Cast::lower:
      return lowered(x, mode->dtype);
    case Cast::wide:
      return x.to(kFloat);
    case Cast::widest:
      return x.to(*widest_);
    default:
      return x;
  }
}

}  // namespace autocast

amp::autocast::autocast(DeviceType device_type, std::optional<ScalarType> dtype, bool enabled,
                        std::optional<bool> cache_enabled) {
  namespace state = gradus::autocast;
  if (dtype) state::set_autocast_dtype(device_type, *dtype);
  if (cache_enabled) state::set_autocast_cache_enabled(*cache_enabled);
  state::set_autocast_enabled(device_type, enabled);
}

}  // namespace gradus
