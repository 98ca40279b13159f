// Methods that draw random numbers, and those about pinned memory.
#include <gradus/gradus.h>

#include "bind.h"
#include "rows/rows.h"

namespace gradus::python {
namespace {

using Draws = Given<std::optional<Generator>>;

// f(x, generator), which fills x, or draws by its elements.
template <class F>
Tensor filled_by(const Tensor& x, Draws& generator, const F& f) {
  return computed_on<Tensor>([&]() -> Tensor { return f(generator.get()); }, work_of(x));
}

// name(a, b, *, generator) of two numbers.
template <auto method>
void add_two(nb::class_<Shown>& c, const char* name, const char* first, double a,
             const char* second, double b, const char* doc) {
  c.def(
      name,
      [](const Tensor& x, double p, double q, Draws& generator) {
        return filled_by(x, generator, [&](const auto& g) { return (x.*method)(p, q, g); });
      },
      nb::arg(first) = a, nb::arg(second) = b, nb::kw_only(), nb::arg("generator") = nb::none(),
      doc);
}

}  // namespace

void bind_sampling(nb::handle tensor) {
  nb::class_<Shown> c = nb::borrow<nb::class_<Shown>>(tensor);
  add_two<&Tensor::uniform_>(c, "uniform_", "from_", 0, "to", 1,
                             "Fills it with numbers drawn evenly from [from_, to).");
  add_two<&Tensor::normal_>(c, "normal_", "mean", 0, "std", 1,
                            "Fills it with numbers of a normal distribution.");
  add_two<&Tensor::log_normal_>(c, "log_normal_", "mean", 1, "std", 2,
                                "Fills it with numbers whose logarithms are normal.");
  add_two<&Tensor::cauchy_>(c, "cauchy_", "median", 0, "sigma", 1,
                            "Fills it with numbers of a Cauchy distribution.");
  c.def(
      "exponential_",
      [](const Tensor& x, double lambd, Draws& generator) {
        return filled_by(x, generator, [&](const auto& g) { return x.exponential_(lambd, g); });
      },
      nb::arg("lambd") = 1.0, nb::kw_only(), nb::arg("generator") = nb::none(),
      "Fills it with numbers of an exponential distribution of that rate.");
  c.def(
      "geometric_",
      [](const Tensor& x, double p, Draws& generator) {
        return filled_by(x, generator, [&](const auto& g) { return x.geometric_(p, g); });
      },
      nb::arg("p"), nb::kw_only(), nb::arg("generator") = nb::none(),
      "Fills it with numbers of trials until the first success, of probability p.");
  c.def(
      "bernoulli_",
      [](const Tensor& x, const Given<Operand>& p, Draws& generator) {
        return filled_by(x, generator, [&](const auto& g) {
          return p.value.tensor ? x.bernoulli_(*p.value.tensor, g)
                                : x.bernoulli_(p.value.number.toDouble(), g);
        });
      },
      nb::arg("p") = 0.5, nb::kw_only(), nb::arg("generator") = nb::none(),
      "Fills it with ones, of probability p, and zeros.");
  c.def(
      "random_",
      [](const Tensor& x, std::optional<int64_t> from, std::optional<int64_t> to,
         Draws& generator) {
        return filled_by(x, generator, [&](const auto& g) -> Tensor {
          if (!from) return x.random_(g);
          return to ? x.random_(*from, *to, g) : x.random_(*from, g);
        });
      },
      nb::arg("from_") = nb::none(), nb::arg("to") = nb::none(), nb::kw_only(),
      nb::arg("generator") = nb::none(),
      "Fills it with integers of [from_, to). One number is `to`; without any, all that its dtype "
      "holds.");
  c.def(
      "bernoulli",
      [](const Tensor& x, std::optional<double> p, Draws& generator) {
        return filled_by(x, generator,
                         [&](const auto& g) { return p ? x.bernoulli(*p, g) : x.bernoulli(g); });
      },
      nb::arg("p") = nb::none(), nb::kw_only(), nb::arg("generator") = nb::none(),
      "Ones, of the probability that each element is, or of p, and zeros.");
  c.def(
      "multinomial",
      [](const Tensor& x, int64_t num_samples, bool replacement, Draws& generator) {
        return filled_by(x, generator,
                         [&](const auto& g) { return x.multinomial(num_samples, replacement, g); });
      },
      nb::arg("num_samples"), nb::arg("replacement") = false, nb::kw_only(),
      nb::arg("generator") = nb::none(), "Indices drawn by the weights in the last dimension.");
  c.def(
      "is_pinned", [](const Tensor& x) { return x.is_pinned(); },
      "Whether a GPU reads its memory at full speed.");
  c.def(
      "pin_memory",
      [](const Tensor& x) { return released<Tensor>([&] { return x.pin_memory(); }); },
      "The tensor in memory of the CPU that a GPU reads at full speed.");
}

}  // namespace gradus::python
