// Every function of the tables: with operands that have no dimensions, no elements or no data, at
// each place of a call, it gives a result or an error of the library; of complex numbers it has the
// derivatives of finite differences, or refuses them.
#include <functional>
#include <optional>
#include <set>
#include <sstream>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/base/warning.h"
#include "gradus/tensor/dlpack.h"
#include "tests/changed_result.h"
#include "tests/support.h"

namespace gradus {
namespace every_function {

// What the arguments of one call are made of.
struct Making {
  std::function<Tensor(int64_t)> tensor;  // that at a place
  int64_t number;
  int64_t made = 0;  // tensors so far
  Tensors results = {};

  Tensor next() { return tensor(made++); }
};

template <class T>
struct Is {};
// An argument for a parameter of this type, which holds what the parameter only refers to.
inline Tensor make(Is<Tensor>, Making& m) { return m.next(); }
inline std::optional<Tensor> make(Is<std::optional<Tensor>>, Making& m) { return m.next(); }
inline Tensors make(Is<ArrayRef<Tensor>>, Making& m) { return {m.next(), m.next()}; }
inline Scalar make(Is<Scalar>, Making& m) { return m.number; }
inline std::optional<Scalar> make(Is<std::optional<Scalar>>, Making& m) { return m.number; }
inline std::vector<int64_t> make(Is<IntArrayRef>, Making& m) { return {m.number}; }
inline std::vector<int64_t> make(Is<OptionalIntArrayRef>, Making& m) { return {m.number}; }
inline PaddingName make(Is<PaddingName>, Making&) { return "same"; }
inline std::vector<double> make(Is<ArrayRef<double>>, Making&) { return {0.5}; }
template <class T>
T make(Is<T>, Making& m) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(m.number);
  else
    return T();
}
template <class T>
std::optional<T> make(Is<std::optional<T>>, Making& m) {
  if constexpr (std::is_arithmetic_v<T>)
    return static_cast<T>(m.number);
  else
    return std::nullopt;
}

inline void collect(Tensors& out, const Tensor& y) { out.push_back(y); }
inline void collect(Tensors& out, const Tensors& list) {
  out.insert(out.end(), list.begin(), list.end());
}
template <class... T>
void collect(Tensors& out, const std::tuple<T...>& results) {
  std::apply([&](const auto&... each) { (collect(out, each), ...); }, results);
}
inline void collect(Tensors& out, int64_t number) { out.push_back(full({}, number, kLong)); }
template <class T>
void collect(Tensors&, const T&) {}

struct Call {
  const char* name;
  void (*run)(Making&);
};
std::vector<Call> all_calls;

// Arguments for parameters of these types, made in their order.
template <class... T>
auto arguments(Making& m) {
  return std::tuple<decltype(make(Is<T>(), m))...>{make(Is<T>(), m)...};
}
// F, which has no state, with the first of its parameters P. Little depends on F here: there are
// hundreds.
template <class F, class R, class P, size_t... I>
void run(Making& m) {
  auto made = arguments<std::decay_t<std::tuple_element_t<I, P>>...>(m);
  if constexpr (std::is_void_v<R>)
    F()(std::get<I>(made)...);
  else
    collect(m.results, F()(std::get<I>(made)...));
}
// Adds such calls, for each number of parameters that F's defaults allow.
template <class F, class R, class P, size_t... I>
void add_with(const char* name, std::index_sequence<I...>) {
  if constexpr (std::is_invocable_v<F, std::tuple_element_t<I, P>...>)
    all_calls.push_back({name, &run<F, R, P, I...>});
  if constexpr (sizeof...(I) < std::tuple_size_v<P>)
    add_with<F, R, P>(name, std::make_index_sequence<sizeof...(I) + 1>());
}
template <class F, class R, class... P>
void add(const char* name, R (F::*)(P...) const) {
  add_with<F, R, std::tuple<P...>>(name, {});
}
template <class F>
void add(const char* name, F) {
  add<F>(name, &F::operator());
}

#define GRADUS_CALL(name, params, ...) add(name, [] params { return __VA_ARGS__; });
#define GRADUS_SELF(name, params, ...) \
  add(name, [](const Tensor& self GRADUS_AND params) { return __VA_ARGS__; });

inline void add_pointwise() {
#define UNARY(name, ...)                     \
  GRADUS_SELF(#name, (), gradus::name(self)) \
  GRADUS_SELF(#name "_", (), Tensor(self.name##_()))
#define PREDICATE(name, ...) GRADUS_SELF(#name, (), gradus::name(self))
#define BINARY(name, ...)                                              \
  GRADUS_SELF(#name, (const Tensor& other), gradus::name(self, other)) \
  GRADUS_SELF(#name, (const Scalar& other), gradus::name(self, other)) \
  GRADUS_SELF(#name "_", (const Tensor& other), Tensor(self.name##_(other)))
#define INTEGER(name, ...) BINARY(name)
#define COMPARISON(name, ...) BINARY(name)
#include "gradus/tensor/table/elementwise.def"
}

inline void add_methods() {
#define METHOD(result, name, params, args, ...) \
  GRADUS_SELF(#name, params, gradus::name(self GRADUS_AND args))
#define FUNCTION(...) METHOD(__VA_ARGS__)
#define PAIR(...) METHOD(__VA_ARGS__)
#define IN_PLACE(result, name, params, args, ...) \
  METHOD(result, name, params, args)              \
  GRADUS_SELF(#name "_", params, Tensor(self.name##_ args))
#define UPDATE(...) IN_PLACE(__VA_ARGS__)
#include "gradus/tensor/table/functions.def"
}

inline void add_functions() {
#define FREE(result, name, params, args, ...) GRADUS_CALL(#name, params, gradus::name args)
#define FREE_OUT(...) FREE(__VA_ARGS__)
#include "gradus/tensor/table/functions.def"
}

// What is no row of a table.
inline void add_others() {
  using namespace indexing;
  namespace functional = autograd::functional;
  GRADUS_SELF("size", (int64_t dim), self.size(dim))
  GRADUS_SELF("stride", (int64_t dim), self.stride(dim))
  GRADUS_SELF("item", (), self.item())
  GRADUS_SELF("strides", (), self.strides().size())
  GRADUS_SELF("data_ptr", (), self.data_ptr())
  GRADUS_SELF("data_ptr<double>", (), self.data_ptr<double>())
  GRADUS_SELF("accessor", (), self.accessor<double, 1>()[0])
  GRADUS_SELF("squeeze_", (), Tensor(self.squeeze_()))
  GRADUS_SELF("squeeze_", (int64_t dim), Tensor(self.squeeze_(dim)))
  GRADUS_SELF("unsqueeze_", (int64_t dim), Tensor(self.unsqueeze_(dim)))
  GRADUS_SELF("transpose_", (int64_t a, int64_t b), Tensor(self.transpose_(a, b)))
  GRADUS_SELF("t_", (), Tensor(self.t_()))
  GRADUS_SELF("as_strided_", (IntArrayRef a, IntArrayRef b), Tensor(self.as_strided_(a, b)))
  GRADUS_SELF("where", (const Tensor& c, const Tensor& y), self.where(c, y))
  GRADUS_SELF("view(dtype)", (), self.view(kHalf))
  GRADUS_SELF("view_as", (const Tensor& other), self.view_as(other))
  GRADUS_SELF("expand_as", (const Tensor& other), self.expand_as(other))
  GRADUS_SELF("operator[]", (int64_t i), self[i])
  GRADUS_SELF("operator[]", (const Tensor& i), self[i])
  GRADUS_SELF("index", (const Tensor& i), self.index({i.to(kLong)}))
  GRADUS_SELF("index", (const Tensor& i), self.index({Slice(), None, i > 0, Ellipsis}))
  GRADUS_SELF("index", (int64_t i), self.index({i, Slice(i)}))
  GRADUS_SELF("index_put_", (const Tensor& i, const Tensor& v), Tensor(self.index_put_({i > 0}, v)))
  GRADUS_SELF("at", (const Tensor& i, const Tensor& v), self.at({i > 0}).set(v))
  GRADUS_SELF("to", (), self.to(kFloat))
  GRADUS_SELF("copy_", (const Tensor& other), Tensor(self.copy_(other)))
  GRADUS_SELF("fill_", (const Tensor& value), Tensor(self.fill_(value)))
  GRADUS_SELF("resize_", (IntArrayRef size), Tensor(self.resize_(size)))
  GRADUS_SELF("fill_diagonal_", (const Scalar& v, bool wrap), Tensor(self.fill_diagonal_(v, wrap)))
  GRADUS_SELF("set_", (const Tensor& other), Tensor(self.set_(other)))
  GRADUS_SELF("set_data", (const Tensor& other), self.set_data(other))
  GRADUS_SELF("new_zeros", (IntArrayRef size), self.new_zeros(size))
  GRADUS_SELF("bernoulli_", (const Tensor& p), Tensor(self.bernoulli_(p)))
  GRADUS_SELF("uniform_", (), Tensor(self.uniform_()))
  GRADUS_SELF("toString", (), self.toString())
  GRADUS_SELF("storage", (), self.storage().nbytes())
  GRADUS_SELF("pin_memory", (), self.is_pinned())
  GRADUS_SELF("backward", (const Tensor& grad), self.backward(grad))
  GRADUS_SELF("grad", (), Tensor(self.grad()))
  GRADUS_SELF("grad_fn", (), self.grad_fn().get())
  GRADUS_SELF("_base", (), self._base())
  GRADUS_SELF("retain_grad", (), self.retain_grad())
  GRADUS_SELF("print", (), (std::ostringstream() << self).str())
  GRADUS_SELF("toDLPack", (), [&] {
    DLManagedTensor* const capsule = toDLPack(self);
    capsule->deleter(capsule);
    return 0;
  }())
  GRADUS_SELF("autograd::grad", (const Tensor& x), autograd::grad({self}, {x}))
  GRADUS_SELF("autograd::backward", (const Tensor& g), autograd::backward({self}, {g}))
  GRADUS_SELF("jacobian", (), functional::jacobian([](const Tensor& x) { return x * x; }, self))
  GRADUS_SELF("hessian", (),
              functional::hessian([](const Tensor& x) { return x.square().sum(); }, self))
  GRADUS_SELF("vjp", (const Tensor& v),
              functional::vjp([](const Tensors& x) { return x; }, {self}, {v}).outputs)
  GRADUS_SELF("jvp", (const Tensor& v),
              functional::jvp([](const Tensors& x) { return x; }, {self}, {v}).outputs)
  GRADUS_SELF("vmap", (int64_t in_dim, int64_t out_dim),
              functional::vmap([](const Tensor& x) { return x * 2; }, in_dim, out_dim)(self))
  GRADUS_SELF("vmap", (const Tensor& other),
              functional::vmap([](const Tensor& x, const Tensor& y) { return x + y; })(self, other))
  GRADUS_SELF("vmap of item", (),
              functional::vmap([](const Tensor& x) { return x * x.sum().item<double>(); })(self))
  GRADUS_SELF("checkpoint", (), autograd::checkpoint([](const Tensor& x) { return x * 2; }, self))
  GRADUS_SELF("fuse", (const Tensor& y),
              fuse([](const Tensor& a, const Tensor& b) { return a * b + a; })(self, y))
  GRADUS_SELF("clip_grad_norm_", (), nn::utils::clip_grad_norm_(Tensors{self}, 1))
  GRADUS_SELF("parameters_to_vector", (const Tensor& y), nn::utils::parameters_to_vector({self, y}))
  GRADUS_SELF("vector_to_parameters", (const Tensor& y), nn::utils::vector_to_parameters(self, {y}))
  GRADUS_SELF("pad_sequence", (const Tensor& y), nn::utils::rnn::pad_sequence({self, y}))
  GRADUS_SELF("pack_padded_sequence", (const Tensor& lengths),
              nn::utils::rnn::pack_padded_sequence(self, lengths).data())
  GRADUS_SELF("SGD", (), optim::SGD({self}, 0.1).step())
  GRADUS_SELF("xavier_uniform_", (), nn::init::xavier_uniform_(self))
  GRADUS_SELF("orthogonal_", (), nn::init::orthogonal_(self))
}

// What stands behind the sizes and strides of an odd tensor: who reads it makes it known.
constexpr int64_t kBeyond = 1234567891;
Tensor marked(const Tensor& x) {
  if (!x.defined()) return x;
  const Tensor out = x.detach().clone();
  for (Dims* dims : {&out.impl().sizes, &out.impl().strides}) {
    const size_t count = dims->size();
    dims->resize(kMaxDims);
    for (size_t i = count; i < dims->size(); ++i) (*dims)[i] = kBeyond;
    dims->resize(count);
  }
  return out;
}

// Tensors that little code is written for.
std::vector<Tensor> odd_tensors() {
  std::vector<Tensor> out{{}};
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{}, {0}, {0, 3}, {3, 0}, {2, 0, 3}, {1}})
    out.push_back(rand(sizes, kDouble));
  out.push_back(rand({}, kComplexDouble));
  out.push_back(ones({}, kLong));
  out.push_back(ones({0}, kLong));
  out.push_back(ones({}, kBool));
  return out;
}

const std::vector<Call>& calls() {
  if (all_calls.empty()) add_pointwise(), add_methods(), add_functions(), add_others();
  return all_calls;
}

// Says nothing.
class Quiet : WarningHandler {
 public:
  Quiet() : before_(Warning::get_warning_handler()) { Warning::set_warning_handler(this); }
  ~Quiet() override { Warning::set_warning_handler(before_); }

 private:
  void process(const SourceLocation&, const std::string&, bool) override {}
  WarningHandler* before_;
};

// Calls with the odd tensor at each place, and everywhere.
void expect_results_or_errors(const Call& call, const Tensor& odd, int64_t number) {
  for (int64_t at = -1, places = 1; at < places; ++at) {
    SCOPED_TRACE((std::ostringstream()
                  << call.name << ", number " << number << ", at " << at << ": "
                  << (odd.defined() ? odd.toString() : "undefined ") << odd.sizes())
                     .str());
    Tensor own = marked(odd);
    if (number == 2 && own.defined() && own.is_floating_point()) own.requires_grad_();
    Making m{[&](int64_t place) {
               return at < 0 || at == place ? own : rand({3, 3}, own.defined() ? kDouble : kFloat);
             },
             number};
    const auto is_clean = [](const std::string& text) {
      return text.find(std::to_string(kBeyond)) == std::string::npos;
    };
    try {
      call.run(m);
      for (const Tensor& y : m.results) {
        if (!y.defined()) continue;
        EXPECT_TRUE(is_clean((std::ostringstream() << y.sizes()).str())) << y.sizes();
        EXPECT_EQ(numel_of(y.sizes()), y.numel());
        if (y.dtype() == kLong && y.numel() == 1) {
          EXPECT_NE(y.item<int64_t>(), kBeyond);
        }
        if (y.requires_grad() && !y.is_complex()) y.sum().backward();
      }
    } catch (const Error& error) {
      EXPECT_TRUE(is_clean(error.what())) << error.what();
    } catch (const std::exception& other) {
      ADD_FAILURE() << other.what();
    }
    places = m.made;
  }
}

TEST(EveryFunction, OfOddOperandsGivesAResultOrAnError) {
  const Quiet quiet;
  for (const Call& call : calls())
    for (const Tensor& odd : odd_tensors())
      for (const int64_t number : {0, 1, -1, 2}) expect_results_or_errors(call, odd, number);
}

// What a call makes of these tensors, the numbers among it that are in the graph; none where it
// refuses them.
Tensors results_of(const Call& call, const Tensors& x, int64_t number, int64_t* made = nullptr) {
  manual_seed(1);
  Making m{[&](int64_t place) { return x[static_cast<size_t>(place) % x.size()] * 1; }, number};
  try {
    call.run(m);
  } catch (const Error&) {
    return {};
  }
  if (made) *made = m.made;
  Tensors out;
  for (const Tensor& y : m.results)
    if (y.defined() && y.requires_grad() && y.numel() > 0) out.push_back(y);
  return out;
}

TEST(EveryFunction, HasItsDerivativesByComplexNumbers) {
  const Quiet quiet;
  // linalg_eig: vectors of any phase. to: float32. The others draw numbers.
  const std::set<std::string> others = {"linalg_eig", "to", "orthogonal_", "xavier_uniform_"};
  manual_seed(7);
  Tensors x;
  for (int i = 0; i < 6; ++i) x.push_back(randn({3, 3}, kComplexDouble).requires_grad_());
  int64_t checked = 0;
  for (const Call& call : calls()) {
    if (others.contains(call.name)) continue;
    for (const int64_t number : {1, 2, 0, -1}) {
      int64_t made = 0;
      if (results_of(call, x, number, &made).empty()) continue;
      SCOPED_TRACE(call.name + std::string(", number ") + std::to_string(number));
      const Tensors inputs(x.begin(), x.begin() + std::min<int64_t>(made, 6));
      try {
        EXPECT_TRUE(autograd::gradcheck(
            [&](const Tensors& in) { return results_of(call, in, number); }, inputs));
      } catch (const Error& error) {
        ADD_FAILURE() << error.what();
      }
      ++checked;
      break;
    }
  }
  EXPECT_GT(checked, 100);
}

// Those of real numbers are tests/conformance/ops/results_test.cpp's.
TEST(EveryFunction, ResultsOfComplexNumbersChangeInPlace) {
  const Quiet quiet;
  manual_seed(7);
  Tensors x;
  for (int i = 0; i < 6; ++i) x.push_back(randn({3, 3}, kComplexDouble));
  int64_t changed = 0;
  for (const Call& call : calls()) {
    if (call.name == std::string("linalg_eig")) continue;  // its vectors have any phase
    for (const int64_t number : {1, 2, 0, -1}) {
      Tensors leaves;
      const auto results = [&] {
        leaves.clear();
        for (const Tensor& each : x) leaves.push_back(each.clone().requires_grad_());
        return results_of(call, leaves, number);
      };
      const size_t count = results().size();
      SCOPED_TRACE(call.name + std::string(", number ") + std::to_string(number));
      for (size_t i = 0; i < count; ++i) {
        try {
          changed += expect_changes_in_place(
              call.name,
              [&] {
                const Tensor y = results()[i];
                return CallResult{leaves, y};
              },
              1e-12);
        } catch (const Error& error) {
          ADD_FAILURE() << error.what();
        }
      }
      if (count > 0) break;
    }
  }
  EXPECT_GT(changed, 100);
}

}  // namespace every_function
}  // namespace gradus
