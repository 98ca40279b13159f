// BatchBackend: one call for one sample becomes one call for all, by the rules of rules.h.
#include "gradus/tensor/batching/backend.h"

#include <algorithm>

#include "gradus/tensor/base/recycled.h"
#include "gradus/tensor/batching/rules.h"
#include "gradus/tensor/batching/undo.h"

namespace gradus::batching {

namespace {

Tensor plain(const Tensor& x) { return physical(x, {}); }

bool has_no_sample(const Axes& axes) {
  return std::ranges::any_of(axes, [](const Axis& axis) { return axis.size == 0; });
}

// Whether a lift keeps what contracts say of contiguous operands.
bool keeps_contiguous(const Tensor& x, const Axes& axes) {
  return !x.is_contiguous() || physical(x, axes).is_contiguous();
}

using contracts::Contract, contracts::Rule;

// A function of Backend. below(backend, ...) calls it; special(rules, ...) and composed(...) say
// whether they did its work.
template <class Result, class Below, class Specially, class Composed>
struct Call {
  const Contract& contract;
  const char* called;
  DeviceType type;
  Below below;
  Specially special;
  Composed composed;

  template <class... A>
  Result operator()(const A&... args) const {
    const Rule rule = contract.batch.rule;
    const Operands operands(contract.results, args...);
    const Axes drawing = rule == Rule::draw ? drawing_axes() : Axes();
    const Axes axes = merge(operands.axes(), drawing);
    for (const Tensor* out : operands.results())
      if (out->defined()) before_writing(*out);
    if (axes.empty()) {
      if constexpr (!std::is_void_v<Result>) return outside(0, plain, args...);
      outside(0, plain, args...);
    } else if constexpr (!std::is_void_v<Result>) {
      fail<NotBatched>("vmap: ", called, " gives a result whose shape depends on data");
    } else if (has_no_sample(axes) || (!special(Special{called, axes}, args...) &&
                                       (rule != Rule::loop || !composed(args...)))) {
      for (const Tensor* out : operands.results())
        if (out->defined()) spread(called, *out, axes);
      if (has_no_sample(axes)) return;
      if (rule == Rule::draw)
        draw(drawing, without(axes, drawing), operands, args...);
      else if (rule == Rule::loop ||
               (contract.takes.are_contiguous != 0 && !operands.fill_memory(axes)))
        loop(axes, args...);
      else
        outside(
            rule == Rule::shift ? static_cast<int64_t>(axes.size()) : 0,
            [&, rank = operands.rank()](const Tensor& x) { return physical(x, axes, rank); },
            args...);
    }
    for (const Tensor* out : operands.results())
      if (BatchedStorage* const storage = out->defined() ? batched(*out) : nullptr;
          storage && storage->borrowed())
        storage->base()->bump_version();
  }

 private:
  template <class F, class... A>
  Result outside(int64_t shift, F f, const A&... args) const {
    const Scope scope(nullptr);
    return below(gradus::backend(type), changed(args, shift, f)...);
  }

  template <class... A>
  void loop(const Axes& axes, const A&... args) const {
    say_that_it_loops(called);
    for_samples(axes, [&](const std::vector<int64_t>& places) {
      const Sample at{axes, places};
      outside(
          0, [&](const Tensor& x) { return physical(x, {}, 0, &at); }, args...);
    });
  }

  // Contracts ask for contiguous operands.
  template <class... A>
  void draw(const Axes& axes, const Axes& alike, const Operands& operands, const A&... args) const {
    const Tensor& out = *operands.results()[0];
    for_samples(alike, [&](const std::vector<int64_t>& places) {
      const Sample at{alike, places};
      const Scope scope(nullptr);
      const Tensor to = physical(out, axes, 0, &at), block = raw::contiguous(to);
      const auto part = [&](const Tensor& x) {
        return &x == &out || !x.defined() ? x.defined() ? block : x
                                          : raw::contiguous(physical(x, axes, 0, &at));
      };
      below(gradus::backend(type), changed(args, 0, part)...);
      if (!block.is_same(to)) raw::copy_(to, block);
    });
  }
};

template <class Result, class Below, class Specially, class Composed>
Call<Result, Below, Specially, Composed> call_of(const Contract& contract, const char* called,
                                                 DeviceType type, Below below, Specially special,
                                                 Composed composed) {
  return {contract, called, type, below, special, composed};
}

class BatchBackend final : public Backend {
 public:
  explicit BatchBackend(DeviceType type) : type_(type) {}

#define GRADUS_BATCHED(result, name, called, parameters, arguments, composed)              \
  result name parameters override {                                                        \
    return call_of<result>(                                                                \
        contracts::name::kContract, called, type_,                                         \
        [](Backend& below, const auto&... args) -> result { return below.name(args...); }, \
        []([[maybe_unused]] const auto& rules, [[maybe_unused]] const auto&... args) {     \
          if constexpr (contracts::name::kContract.batch.special)                          \
            return rules.name(args...);                                                    \
          else                                                                             \
            return false;                                                                  \
        },                                                                                 \
        composed) arguments;                                                               \
  }
#define MEMORY(result, name, called, parameters, ...) result name parameters override;
#define FUNCTION(result, name, called, parameters, arguments, ...) \
  GRADUS_BATCHED(result, name, called, parameters, arguments, [](const auto&...) { return false; })
#define DEFAULT(result, name, called, parameters, arguments, ...)                            \
  GRADUS_BATCHED(result, name, called, parameters, arguments, ([this](const auto&... args) { \
                   Backend::name(args...);                                                   \
                   return true;                                                              \
                 }))
#include "gradus/tensor/table/backend.def"
#undef GRADUS_BATCHED

 private:
  DeviceType type_;
};

StoragePtr BatchBackend::allocate(size_t nbytes, Device device) {
  return make_recycled<BatchedStorage>(nbytes, device, here()->depth);
}

Device BatchBackend::resolve(Device device) {
  const Scope scope(nullptr);
  return gradus::backend(type_).resolve(device);
}

// Samples are rows of one product, step by step.
bool BatchBackend::takes_lstm_steps(Device, ScalarType, int64_t) { return false; }

void BatchBackend::transfer(const Tensor& src, const Tensor& dst, bool non_blocking) {
  const Axes axes = merge(axes_of(src), axes_of(dst));
  before_writing(dst);
  if (!axes.empty()) spread("to", dst, axes);
  const Scope scope(nullptr);
  raw::copy_(physical(dst, axes), physical(src, axes), non_blocking);
}

}  // namespace

Backend& batch_backend(DeviceType type) {
  static BatchBackend backends[] = {BatchBackend(kCPU), BatchBackend(kCUDA), BatchBackend(kMeta)};
  return backends[static_cast<int>(type)];
}

Axes Operands::axes() const {
  Axes out;
  for (const Tensor* x : all_) {
    if (!x->defined()) continue;
    const Axes& its = axes_of(*x);
    if (out.empty())
      out = its;
    else if (!std::ranges::equal(out, its, {}, &Axis::depth, &Axis::depth))
      out = merge(out, its);
  }
  return out;
}

bool Operands::fill_memory(const Axes& axes) const {
  for (const Tensor* x : results())
    if (!keeps_contiguous(*x, axes)) return false;
  return true;
}

int64_t Operands::rank() const {
  int64_t out = 0;
  for (const Tensor* x : all_)
    if (x->defined()) out = std::max(out, x->dim());
  return out;
}

}  // namespace gradus::batching
