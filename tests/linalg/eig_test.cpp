// Eigenvalues of matrices without symmetry: LAPACK's ratios, known values, derivatives by what does
// not depend on the phase of vectors, and errors.
#include "gradus/autograd/engine/node.h"
#include "gradus/autograd/linalg.h"
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/autograd/tools/vmap.h"
#include "tests/conformance/golden/golden.h"
#include "tests/linalg/matrices.h"

namespace gradus {
namespace {

using C = std::complex<double>;
using test::each_matrix;
using test::ratio;

Tensor whole(const Tensor& x) { return x.detach().to(kCPU).to(kComplexDouble); }

void expect_decomposed(const Tensor& a, ScalarType part) {
  const auto [values, vectors] = linalg_eig(a);
  ASSERT_EQ(values.sizes(), a.sizes().slice(0, a.sizes().size() - 1));
  ASSERT_EQ(vectors.sizes(), a.sizes());
  ASSERT_EQ(values.dtype(), part == kFloat ? kComplexFloat : kComplexDouble);
  ASSERT_EQ(vectors.dtype(), values.dtype());
  EXPECT_RATIO(whole(a).matmul(whole(vectors)) - whole(vectors) * whole(values).unsqueeze(-2),
               whole(a), part);
  const Tensor lengths = whole(vectors).abs().square().sum(-2);
  EXPECT_TRUE((lengths - 1).abs().le(30 * test::epsilon_of(part)).all().item<bool>()) << lengths;
}

TEST(Eig, DecomposesEveryMatrix) {
  each_matrix([](const Tensor& a, const std::string&) { expect_decomposed(a, a.scalar_type()); },
              /*square=*/true);
}
TEST(Eig, DecomposesComplexMatrices) {
  each_matrix(
      [](const Tensor& a, const std::string&) {
        expect_decomposed(complex(a, a.mT() * 0.5), a.scalar_type());
      },
      /*square=*/true);
}
// Real matrices have pairs of conjugate values, the one with the positive part first.
TEST(Eig, OfARealMatrixHasConjugatePairs) {
  for (const Device& device : cpu_and_cuda()) {
    manual_seed(3);
    const auto [values, vectors] = linalg_eig(randn({7, 7}, kDouble).to(device));
    int64_t pairs = 0;
    for (int64_t i = 0; i < 7; ++i) {
      const C value = values[i].item<C>();
      if (value.imag() == 0) {
        EXPECT_EQ(vectors.select(1, i).imag().abs().max().item<double>(), 0);
      } else {
        ASSERT_GT(value.imag(), 0);
        EXPECT_EQ(values[++i].item<C>(), std::conj(value));
        EXPECT_TRUE(vectors.select(1, i).equal(vectors.select(1, i - 1).conj()));
        ++pairs;
      }
    }
    EXPECT_GT(pairs, 0);
  }
}

TEST(Eig, KnowsSmallMatrices) {
  for (const Device& device : cpu_and_cuda()) {
    const Tensor turn = tensor({0., -2., 2., 0.}, kDouble).view({2, 2}).to(device);
    const auto [values, vectors] = linalg::eig(turn);
    EXPECT_TRUE(values.cpu().allclose(tensor({C(0, 2), C(0, -2)})));
    EXPECT_TRUE((vectors[1] / vectors[0]).cpu().allclose(tensor({C(0, -1), C(0, 1)}))) << vectors;
    EXPECT_TRUE(linalg::eigvals(turn).equal(values));
    const Tensor one = tensor({C(1, 2)}).view({1, 1}).to(device);
    EXPECT_EQ(linalg::eigvals(one).item<C>(), C(1, 2));
    // A companion matrix: the roots of x^3 - 6 x^2 + 11 x - 6.
    const Tensor companion =
        tensor({6., -11., 6., 1., 0., 0., 0., 1., 0.}, kDouble).view({3, 3}).to(device);
    const Tensor roots = std::get<0>(real(linalg::eigvals(companion)).sort());
    EXPECT_TRUE(roots.cpu().allclose(tensor({1., 2., 3.}, kDouble)));
    Tensor out = empty({0}, TensorOptions(kComplexDouble).device(device));
    linalg_eigvals_out(out, turn);
    EXPECT_TRUE(out.equal(values));
  }
}

struct Invariant {
  const char* name;
  autograd::CheckedFunction f;
};

const std::vector<Invariant>& invariants() {
  static const std::vector<Invariant> all = {
      {"values", [](const Tensors& x) { return Tensors{linalg_eigvals(x[0])}; }},
      {"lengths of components",
       [](const Tensors& x) { return Tensors{std::get<1>(linalg_eig(x[0])).abs()}; }},
      {"projections", [](const Tensors& x) {
         const auto [values, vectors] = linalg_eig(x[0]);
         const Tensor first = vectors.narrow(-1, 0, 1);
         return Tensors{values, first.matmul(first.mH())};
       }}};
  return all;
}

TEST(Eig, DerivativesAreThoseOfFiniteDifferences) {
  for (const ScalarType dtype : {kDouble, kComplexDouble})
    for (const Invariant& each : invariants()) {
      SCOPED_TRACE(std::string(each.name) + " " + toString(dtype));
      manual_seed(11);
      const Tensor x = randn({2, 3, 3}, dtype).requires_grad_();
      EXPECT_TRUE(autograd::gradcheck(each.f, {x}));
      EXPECT_TRUE(autograd::gradgradcheck(each.f, {x}));
    }
}
TEST(Eig, DerivativesAreTheSameOnEveryDevice) {
  for (const ScalarType dtype : {kDouble, kComplexDouble})
    for (const Invariant& each : invariants()) {
      SCOPED_TRACE(std::string(each.name) + " " + toString(dtype));
      manual_seed(11);
      const Tensor x = randn({2, 3, 3}, dtype);
      Tensor expected;
      for (const Device& device : cpu_and_cuda()) {
        const Tensor leaf = x.to(device).detach().requires_grad_();
        Tensor loss = zeros({}, TensorOptions(kDouble).device(device));
        for (const Tensor& y : each.f({leaf})) {
          const Tensor weights = arange(y.numel(), loss.options()).view(y.sizes());
          loss = loss + (y.abs().square() * weights).sum();
        }
        loss.backward();
        if (!expected.defined()) expected = leaf.grad();
        EXPECT_TRUE(leaf.grad().cpu().allclose(expected, 1e-7, 1e-9)) << device;
      }
    }
}

// d(sum of values)/dA is the identity, and that of the sum of their squares 2 A^T.
TEST(Eig, GradientsOfTracesAreKnown) {
  for (const Device& device : cpu_and_cuda()) {
    const Tensor x = randn({4, 4}, kDouble).to(device).requires_grad_();
    const Tensor values = linalg_eigvals(x);
    EXPECT_EQ(values.grad_fn()->name(), "LinalgEigBackward0");
    const Tensor of_sum = autograd::grad({real(values).sum()}, {x}, {}, true)[0];
    EXPECT_TRUE(of_sum.allclose(eye(4, x.options()), 1e-8, 1e-10)) << of_sum;
    const Tensor of_squares = autograd::grad({real(values * values).sum()}, {x})[0];
    EXPECT_TRUE(of_squares.allclose(2 * x.detach().t(), 1e-8, 1e-10));
  }
}

// Matrices v v^H for each column: vectors have no fixed phase.
Tensor projections(const Tensor& vectors) {
  return vectors.mT().unsqueeze(-1) * vectors.mH().unsqueeze(-2);
}

// The place of each of `values` in `expected`, which has another order.
Tensor places_in(const Tensor& expected, const Tensor& values) {
  return (values.unsqueeze(-1) - expected.unsqueeze(-2)).abs().argmin(-1);
}

// tests/conformance/golden/eig.py has the same losses, which depend on no order and no phase.
TEST(Eig, IsWhatPyTorchComputes) {
  const test::Golden golden(test::recorded("golden/eig.txt"));
  const auto complex_of = [](const Tensor& pairs) { return view_as_complex(pairs.contiguous()); };
  for (const Device& device : cpu_and_cuda())
    for (const std::string kind : {"real", "complex"})
      for (const std::string size : {"2x3x3", "5x5", "1x1"}) {
        const std::string name = kind + " " + size;
        SCOPED_TRACE(name + " " + device.str());
        const auto recorded = [&](const std::string& what) {
          for (const test::GoldenCase& one : golden.cases)
            if (one.text == what + " " + name) return one.expected.to(device);
          throw Error("there is no case " + what + " " + name);
        };
        const bool is_real = kind == "real";
        const Tensor matrix = is_real ? golden[name] : complex_of(golden[name]);
        const Tensor weights = golden["weights"].to(device);
        const Tensor x = matrix.to(device).detach().requires_grad_();
        const auto [values, vectors] = linalg_eig(x);
        const Tensor only_values = linalg_eigvals(x);
        const Tensor expected = complex_of(recorded("values"));
        const Tensor places = places_in(expected, values.detach());
        const auto in_order = [&](const Tensor& all) {
          Tensor index = places;
          while (index.dim() < all.dim()) index = index.unsqueeze(-1);
          return all.gather(places.dim() - 1, index.expand(all.sizes()));
        };
        EXPECT_TRUE(std::get<0>(places.sort())
                        .equal(arange(places.size(-1), places.options()).expand(places.sizes())));
        EXPECT_TRUE(values.allclose(in_order(expected), 1e-10, 1e-12));
        EXPECT_TRUE(only_values.allclose(
            expected.gather(-1, places_in(expected, only_values.detach())), 1e-10, 1e-12));
        EXPECT_TRUE(projections(vectors).allclose(in_order(complex_of(recorded("projections"))),
                                                  1e-10, 1e-12));
        const Tensor cubes = only_values * only_values * only_values;
        const Tensor of_values = (only_values.abs().pow(3) + imag(cubes) + real(only_values)).sum();
        const int64_t n = x.size(-1);
        const Tensor squares = (values * values).unsqueeze(-1).unsqueeze(-1);
        const Tensor of_vectors =
            real((projections(vectors) * weights.narrow(0, 0, n).narrow(1, 0, n) * squares).sum());
        for (const auto& [loss, what] : {std::pair(of_values, "gradient_of_values"),
                                         std::pair(of_vectors, "gradient_of_vectors")}) {
          const Tensor want = recorded(what), got = autograd::grad({loss}, {x}, {}, true)[0];
          EXPECT_TRUE(got.allclose(is_real ? want : complex_of(want), 1e-8, 1e-10)) << what;
        }
      }
}

TEST(Eig, ALossOfThePhaseIsAnError) {
  for (const Device& device : cpu_and_cuda()) {
    const Tensor x = randn({3, 3}, kComplexDouble).to(device).requires_grad_();
    const Tensor vectors = std::get<1>(linalg_eig(x));
    expect_error<Error>([&] { imag(vectors).sum().backward(); },
                        "The eigenvectors in the complex case are specified up to multiplication "
                        "by e^{i phi}. The specified loss function depends on this quantity, so it "
                        "is ill-defined");
    EXPECT_FALSE(x.grad().defined());
  }
}

TEST(Eig, RefusesWhatItCannotTake) {
  expect_error<ValueError>(
      [&] {
        linalg_eig(randn({2, 3}));
      },
      "linalg.eig: A must be batches of square matrices");
  expect_error<ValueError>([&] { linalg_eigvals(randn({3}, kComplexFloat)); },
                           "linalg.eigvals: The input tensor A must have at least 2 dimensions");
  expect_error<TypeError>([&] { linalg_eig(eye(2).to(kHalf)); }, "Low precision dtypes");
  expect_error<TypeError>([&] { linalg_eig(eye(2).to(kLong)); },
                          "Expected a floating point or complex tensor as input. Got Long");
  for (const double value : {double(NAN), double(INFINITY)})
    expect_error<Error>(
        [&] {
          linalg_eig(full({2, 2}, value));
        },
        "linalg.eig: input tensor should not contain infs or NaNs");
}

TEST(Eig, HasItsShapesOnMeta) {
  const auto [values, vectors] = linalg_eig(empty({2, 3, 3}, TensorOptions(kFloat).device(kMeta)));
  EXPECT_EQ(values.sizes(), IntArrayRef({2, 3}));
  EXPECT_EQ(vectors.sizes(), IntArrayRef({2, 3, 3}));
  EXPECT_EQ(vectors.dtype(), kComplexFloat);
}

TEST(Eig, IsBatchedByVmap) {
  for (const ScalarType dtype : {kDouble, kComplexDouble}) {
    const Tensor x = randn({4, 3, 3}, dtype);
    EXPECT_TRUE(
        autograd::functional::vmap([](const Tensor& a) { return linalg_eigvals(a); })(x).equal(
            linalg_eigvals(x)));
  }
}

}  // namespace
}  // namespace gradus
