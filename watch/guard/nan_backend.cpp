// The functions of NanBackend: which operations are looked at, and at which of their tensors.
#include "gradus/watch/guard/nan_backend.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <type_traits>

#include "gradus/cuda/runtime/device.h"
#include "gradus/cuda/runtime/graph.h"
#include "gradus/tensor/fused/computation.h"
#include "gradus/tensor/nonfinite.h"
#include "gradus/tensor/raw/raw.h"
#include "gradus/tensor/table/contract.h"
#include "gradus/watch/guard/nan_watcher.h"
#include "gradus/watch/profiler/operation_name.h"

namespace gradus::guarding {

namespace {

// Whether a function only moves elements, or draws them.
constexpr bool is_passed_over(Function f) {
  switch (f) {
    case Function::fill:
    case Function::arange:
    case Function::linspace:
    case Function::copy_list:
    case Function::cat:
    case Function::triangle:
    case Function::random:
    case Function::count:
    case Function::where:
    case Function::aminmax:
    case Function::arg_reduce:
    case Function::arg_scan:
    case Function::sort:
    case Function::select:
    case Function::median:
    case Function::mode:
    case Function::max_pool:
    case Function::gather:
    case Function::masked_select:
    case Function::masked_scatter:
    case Function::distinct:
    case Function::packed:
      return true;
    default:
      return false;
  }
}

// Functions of backends that call one another: the outermost is looked at.
struct Nested {
  Nested() { ++depth; }
  ~Nested() { --depth; }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  static inline thread_local constinit int depth = 0;
};
std::atomic<uint64_t> last_number{0};
// The memory that this thread filled last, where the number is finite. scatter_
// often changes that.
thread_local std::weak_ptr<StorageImpl> filled_last;

// Whether a function and its derivative make no NaN and no infinity of finite numbers.
constexpr bool stays_finite(UnaryOp op) {
  switch (op) {
    case UnaryOp::relu:
    case UnaryOp::abs:
    case UnaryOp::neg:
    case UnaryOp::sign:
    case UnaryOp::floor:
    case UnaryOp::ceil:
    case UnaryOp::round:
    case UnaryOp::trunc:
    case UnaryOp::sigmoid:
    case UnaryOp::tanh:
      return true;
    default:
      return false;
  }
}

// Whether f(x) is not finite wherever x is not.
constexpr bool passes(UnaryOp op) {
  switch (op) {
    case UnaryOp::log:
    case UnaryOp::sqrt:
    case UnaryOp::sin:
    case UnaryOp::cos:
    case UnaryOp::gelu:
    case UnaryOp::gelu_tanh:
    case UnaryOp::silu:
    case UnaryOp::square:
      return true;
    default:
      return false;
  }
}
constexpr bool passes(BinaryOp op) {
  return op == BinaryOp::add || op == BinaryOp::sub || op == BinaryOp::mul;
}
constexpr bool passes(TernaryOp op) { return op == TernaryOp::product || op == TernaryOp::addcmul; }
constexpr bool passes(ReduceOp op) {
  return op == ReduceOp::sum || op == ReduceOp::mean || op == ReduceOp::norm1 ||
         op == ReduceOp::norm2;
}

// The parameters of a function that pass on what is not finite, as bits of their places among the
// tensors. Functions whose rows choose are left out.
constexpr unsigned passing_parameters(Function f) {
  constexpr unsigned all = ~0u, first = 1;
  switch (f) {
    case Function::copy:
    case Function::mean_square:
    case Function::mean_square_grad:
    case Function::normalize:
    case Function::normalize_twice:
    case Function::normalize_sums:
    case Function::normalize_grad:
    case Function::normalize_grads:
    case Function::matmul:
    case Function::matmul_sums:
      return all;
    case Function::map_grad:
    case Function::map_grad_sums:  // grad times the derivative
      return first;
    default:
      return 0;
  }
}

// CheckedOperation::repeated.
constexpr uint64_t repeated_results(Function f) {
  return f == Function::normalize_twice ? 1u << 2 : 0;  // out, which low has in a half type
}

unsigned kinds_of(double value) {
  return std::isnan(value) ? kNans : std::isinf(value) ? kInfinities : 0u;
}

bool may_be_nonfinite(const Tensor& x) {
  return x.defined() && x.numel() > 0 && is_differentiable(x.scalar_type());
}

// The tensors of the call that a thread looks at, in lists whose memory is used again. The lists
// are empty while none is looked at.
struct LookedAt {
  ~LookedAt() {
    if (Nested::depth == 1) operands.clear(), overwritten.clear(), results.clear();
  }
  struct Lists {
    Tensors operands, overwritten, results;
  };
  static Lists& mine() {
    thread_local Lists lists;
    return lists;
  }
  Tensors &operands = mine().operands, &overwritten = mine().overwritten, &results = mine().results;
};

// One call of a function of Backend.
class Look {
 public:
  template <class... Args>
  Look(Function function, const char* name, const Args&... args)
      : function_(function), name_(name) {
    if (Nested::depth > 1) return;
    const int tensors = (0 + ... + int{is_of_tensors<Args>});
    first_result_ = tensors - contracts::of(function).results;
    const bool is_looked_at = !is_passed_over(function) && NanWatcher::get().looks();
    if (function != Function::update || !is_looked_at) (tell_change(args), ...);
    place_ = 0;
    if (function == Function::fill) filled_last = filled(args...);
    if (!is_looked_at || cuda_is_renewing()) return;
    passing_ = passing_parameters(function);
    (see(args), ...);
    looks_ = !results_.empty() && !stays_finite_ && (function != Function::copy || is_conversion());
    if (looks_) look_before();
  }
  // The operation has run. Errors: NanError.
  void end() {
    if (looks_) look_behind();
  }

 private:
  template <class T>
  static constexpr bool is_of_tensors = std::is_same_v<T, Tensor> || std::is_same_v<T, Operand> ||
                                        std::is_same_v<T, ArrayRef<Tensor>>;

  // A GPU looks at tensors that wait before they change.
  void tell_change(const Tensor& x) {
    if (place_++ >= first_result_ || function_ == Function::factorize) change({x});
  }
  void tell_change(const Operand&) { ++place_; }
  void tell_change(ArrayRef<Tensor> list) {
    if (place_++ >= first_result_ || function_ == Function::factorize) change(list);
  }
  void tell_change(ArrayRef<UpdatedParameter> list) {
    for (const UpdatedParameter& each : list) {
      change({each.parameter});
      change(each.states);
    }
  }
  template <class Other>
  void tell_change(const Other&) {}
  void change(ArrayRef<Tensor> list) {
    for (const Tensor& x : list) {
      if (!x.defined() || !x.is_cuda()) continue;
      cuda_will_change({x}, /*updates=*/false);
      if (function_ != Function::scatter && is_filled_last(x)) filled_last.reset();
    }
  }
  // Whether they have one owner, without a look at how many there are.
  static bool is_filled_last(const Tensor& x) {
    const StoragePtr& storage = x.impl().storage;
    return !filled_last.owner_before(storage) && !storage.owner_before(filled_last);
  }
  static std::weak_ptr<StorageImpl> filled(const Tensor& out, const Scalar& value) {
    if (!out.is_cuda() || (value.isFloatingPoint() && kinds_of(value.toDouble()) != 0)) return {};
    if (static_cast<size_t>(out.numel()) * out.element_size() != out.storage().nbytes()) return {};
    return out.impl().storage;
  }
  template <class... Other>
  static std::weak_ptr<StorageImpl> filled(const Other&...) {
    return {};
  }

  void add(const Tensor& x) {
    if (!may_be_nonfinite(x)) return;
    if (place_ < first_result_) {
      const auto i = operands_.size();
      if (i < 64 && place_ < 32 && (passing_ >> place_ & 1) &&
          (function_ != Function::copy || !x.is_complex()))  // a part of which may be dropped
        passed_ |= uint64_t{1} << i;
      operands_.push_back(x);
    } else {
      results_.push_back(x);
    }
  }
  void see(const Tensor& x) {
    add(x);
    ++place_;
  }
  void see(const Operand& x) {
    x.is_number() ? see(x.number) : add(*x.tensor);
    ++place_;
  }
  void see(ArrayRef<Tensor> list) {
    if (function_ == Function::factorize) return see_factorized(list);
    if (kernel_ && place_ < first_result_) {
      for (const fused::Expr& expr : kernel_->computation.exprs)
        if (expr.input >= 0) add(list[static_cast<size_t>(expr.input)]);
    } else {
      for (const Tensor& x : list) add(x);
    }
    ++place_;
  }
  void see(const UnaryOp& op) {
    chosen_ = profiler::chosen_name(op);
    stays_finite_ = stays_finite(op);
    if (function_ == Function::map && passes(op)) passing_ = ~0u;
    // The gradient of relu is 0 where it chose another number, whatever comes in.
    if (!passes(op) && (function_ == Function::map_grad || function_ == Function::map_grad_sums))
      passing_ = 0;
  }
  template <class Row>
  requires(std::is_same_v<Row, BinaryOp> || std::is_same_v<Row, TernaryOp> ||
           std::is_same_v<Row, ReduceOp>) void see(const Row& op) {
    chosen_ = profiler::chosen_name(op);
    if (passes(op)) passing_ = ~0u;
  }
  void see(const Factorization& op) {
    chosen_ = profiler::chosen_name(op);
    factorization_ = op;
  }
  void see(const FactorizationForm& form) { form_ = form; }
  void see_factorized(ArrayRef<Tensor> list) {
    const FactorizationRoles roles = roles_of(factorization_, form_);
    for (size_t i = 0; i < list.size(); ++i) {
      if (!may_be_nonfinite(list[i])) continue;
      const unsigned bit = 1u << i;
      if (roles.read & bit)
        (roles.overwritten & bit ? overwritten_ : operands_)
            .push_back(i == 0 && roles.triangle ? triangle_of(list[i]) : list[i]);
      if (roles.results & bit) results_.push_back(list[i]);
    }
    if (roles.info >= 0) info_ = list[static_cast<size_t>(roles.info)];
    if (form_.has_info) factors_ = list[0];
  }
  // The inputs of a chain hold what its later kernels make, too.
  void see(const fused::Kernel& kernel) { kernel_ = &kernel; }
  void see(const Scalar& number) {
    if (number.isFloatingPoint()) given_ |= kinds_of(number.toDouble());
  }
  void see(ArrayRef<UpdatedParameter> list) {
    for (const UpdatedParameter& each : list) {
      if (may_be_nonfinite(each.parameter)) results_.push_back(each.parameter);
      if (may_be_nonfinite(each.gradient)) operands_.push_back(each.gradient);
      passed_ = each.found_inf.defined() ? 0 : ~uint64_t{0};
    }
    parameters_ = static_cast<int>(results_.size());
    for (const UpdatedParameter& each : list)
      for (const Tensor& state : each.states)  // a step that is passed over leaves new ones unset
        if (!each.found_inf.defined() && may_be_nonfinite(state)) results_.push_back(state);
  }
  template <class Other>
  void see(const Other& value) {
    if (const char* const name = profiler::chosen_name(value)) chosen_ = name;
  }

  bool is_conversion() const {
    return operands_.empty() || operands_[0].scalar_type() != results_[0].scalar_type();
  }

  // Operands that the operation overwrites are looked at now.
  void look_before() {
    const auto is_result = [this](const Tensor& x) {
      return std::ranges::any_of(
          results_, [&](const Tensor& y) { return x.impl().storage == y.impl().storage; });
    };
    Tensors changed;
    if (!overwritten_.empty() || std::ranges::any_of(operands_, is_result)) {
      const auto kept =
          std::stable_partition(operands_.begin(), operands_.end(), std::not_fn(is_result));
      changed = overwritten_;
      changed.insert(changed.end(), kept, operands_.end());
      operands_.erase(kept, operands_.end());
      passed_ = 0;  // whose bits are of the operands that there were
    }
    if (function_ == Function::scatter && !is_filled_last(results_[0])) changed = results_;
    if (function_ == Function::scatter) filled_last.reset();
    number_ = ++last_number;
    if (function_ == Function::update && results_[0].is_cuda())
      cuda_will_change(results_, /*updates=*/true);
    if (changed.empty()) return;
    noted_ = results_[0].is_cuda();
    if (noted_)
      cuda_note_kinds(number_, changed);
    else
      given_ |= cpu_kinds(changed);
  }

  // LAPACK counts columns first, so that the lower triangle is the upper one in memory.
  Tensor triangle_of(const Tensor& x) const { return raw::triangle(name_, !form_.upper, 0, x); }

  // Leaves what the caller of a factorization sees. cholesky gives one triangle. The caller handles
  // matrices that info says to have no results.
  void hide_unseen() {
    if (factorization_ == Factorization::cholesky) results_[0] = triangle_of(results_[0]);
    Tensor good;  // for each matrix
    if (info_.defined()) {
      good = raw::zip(BinaryOp::eq, info_, Scalar(0));
    } else if (factors_.defined()) {  // a 0 in the diagonal of U is what info tells of
      const Dims sizes{factors_.size(0), factors_.size(1)},
          strides{factors_.stride(0), factors_.stride(1) + factors_.stride(2)};
      const Tensor diagonal = raw::as_strided(factors_, sizes, strides, factors_.storage_offset());
      good =
          raw::zip(BinaryOp::ne,
                   raw::reduce(ReduceOp::amin, raw::map(UnaryOp::abs, diagonal), IntArrayRef({1})),
                   Scalar(0));
    }
    for (Tensor& x : results_) {
      if (good.defined()) {
        Dims sizes{x.size(0)};
        for (int64_t d = 1; d < x.dim(); ++d) sizes.push_back(1);
        x = raw::where(*raw::try_view(good, sizes), x, Scalar(0));
      }
      if (x.dim() == 3) x = raw::transpose(x, 1, 2);
    }
  }

  void look_behind() {
    if (function_ == Function::factorize) hide_unseen();
    const CheckedOperation operation{.number = number_,
                                     .results = results_,
                                     .operands = operands_,
                                     .given = given_,
                                     .passed = passed_,
                                     .repeated = repeated_results(function_),
                                     .noted = noted_,
                                     .updates = function_ == Function::update};
    NanWatcher& watcher = NanWatcher::get();
    const NamedOperation named{name_, chosen_, operation, parameters_};
    if (results_[0].is_cuda()) {
      watcher.keep(named, cuda::Graph::capturing(results_[0].device().index()) != nullptr);
      cuda_find_nonfinite(operation);
      return;
    }
    NonfiniteFinding finding;
    if (!cpu_find_nonfinite(operation, finding)) return;
    OperationNote note;
    watcher.describe(named, note);
    watcher.tell(note, finding);
  }

  const Nested nested_;
  const LookedAt lists_;  // which a constructor that throws leaves empty, too
  Tensors &operands_ = lists_.operands, &overwritten_ = lists_.overwritten,
          &results_ = lists_.results;
  const Function function_;
  const char* const name_;
  const char* chosen_ = nullptr;
  const fused::Kernel* kernel_ = nullptr;
  bool looks_ = false, stays_finite_ = false, noted_ = false;
  unsigned passing_ = 0;  // parameters, as passing_parameters
  uint64_t passed_ = 0;   // as in CheckedOperation
  int place_ = 0, first_result_ = 0, parameters_ = 0;
  unsigned given_ = 0;
  uint64_t number_ = 0;
  Factorization factorization_{};
  FactorizationForm form_;
  Tensor info_, factors_;  // of a factorization
};

}  // namespace

namespace {

// Memory that a GPU's searches keep is given back where there is no other.
template <class F>
StoragePtr memory_of(const F& allocate, size_t, Device device) {
  try {
    return allocate();
  } catch (const OutOfMemoryError&) {
    if (!cuda_flush_nonfinite(device)) throw;
  }
  return allocate();
}
template <class F>
Device memory_of(const F& resolve, Device) {
  return resolve();
}
template <class F>
bool memory_of(const F& takes, Device, ScalarType, int64_t) {
  return takes();
}
template <class F>
void memory_of(const F& transfer, const Tensor& src, const Tensor& dst, bool) {
  cuda_flush_nonfinite(src.device());
  if (dst.is_cuda()) cuda_will_change({dst}, /*updates=*/false);
  transfer();
}

}  // namespace

#define GRADUS_SEEN(...) __VA_ARGS__
#define MEMORY(result, name, called, parameters, arguments, ...)                     \
  result NanBackend::name parameters {                                               \
    return memory_of([&] { return inner().name arguments; }, GRADUS_SEEN arguments); \
  }
#define ROW(result, name, called, parameters, arguments, ...) \
  result NanBackend::name parameters {                        \
    Look look(Function::name, #name, GRADUS_SEEN arguments);  \
    if constexpr (std::is_void_v<result>) {                   \
      inner().name arguments;                                 \
      look.end();                                             \
    } else {                                                  \
      return inner().name arguments;                          \
    }                                                         \
  }
#include "gradus/tensor/table/backend.def"
#undef GRADUS_SEEN

}  // namespace gradus::guarding
