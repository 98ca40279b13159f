// What holds for every public operation, checked on every sample of it
// (tests/conformance/ops/samples.h).
#include "gradus/autograd/tools/gradcheck.h"
#include "gradus/tensor/raw/raw.h"
#include "tests/conformance/ops/operations.h"

#include <set>

namespace gradus::test {
namespace {

TEST_P(Operations, AgreeWithPyTorch) {
  each([](const Family& family, const Sample& sample) {
    Inputs in = inputs_of(family, sample);
    EXPECT_TRUE(alike(comparable(sample, sample.call(in)), answered(family, sample)));
  });
}

TEST_P(Operations, LeaveTheirInputsAlone) {
  each([](const Family& family, const Sample& sample) {
    Inputs in = inputs_of(family, sample);
    const Tensors out = sample.call(in), before = tensors(family, sample, "in");
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_TRUE(same(in[i], before[i], 0));
      EXPECT_EQ(in[i]._version(), 0u);
      for (const Tensor& y : out)
        EXPECT_FALSE(known().at(sample.name).makes_new && y.impl().storage == in[i].impl().storage)
            << "a result shares the memory of input " << i;
    }
  });
}

// The same values with another geometry in memory.
Tensor column_major(const Tensor& x) {
  return x.dim() < 2 ? x : x.transpose(0, -1).contiguous().transpose(0, -1);
}
Tensor with_gaps(const Tensor& x) {
  if (x.dim() == 0) return x;
  Dims sizes = x.impl().sizes;
  const int64_t last = x.dim() - 1;
  sizes[last] = 2 * sizes[last] + 3;
  const Tensor room = zeros(sizes, x.options());
  Dims strides = room.impl().strides;
  strides[last] = 2;
  Tensor out = raw::as_strided(room, x.impl().sizes, strides, 1);
  raw::copy_(out, x);
  return out.detach();
}

TEST_P(Operations, TakeAnyStrides) {
  each([](const Family& family, const Sample& sample) {
    if (std::string(sample.name) == "view") return;  // is about memory
    for (const auto layout : {column_major, with_gaps}) {
      Inputs in = inputs_of(family, sample);
      for (Tensor& x : in)
        if (x.defined()) x = layout(x);
      EXPECT_TRUE(alike(comparable(sample, sample.call(in)), answered(family, sample)));
    }
  });
}

TEST_P(Operations, ReadExpandedInputsAsTheirCopies) {
  each([](const Family& family, const Sample& sample) {
    if (std::string(sample.name) == "view") return;
    Inputs in = inputs_of(family, sample);
    for (Tensor& x : in)
      if (x.defined() && x.dim() > 0 && x.size(0) > 0 && x.is_floating_point())
        x = x.narrow(0, 0, 1).expand(x.sizes());
    Inputs copies = in;
    for (Tensor& x : copies)
      if (x.defined()) x = x.clone();
    EXPECT_TRUE(alike(sample.call(in), sample.call(copies)));
  });
}

// Complex numbers without imaginary parts give the same values, or are refused by a TypeError.
TEST_P(Operations, TakeComplexNumbersOrRefuseThem) {
  each([](const Family& family, const Sample& sample) {
    // Are about the type, or mean other numbers: -0 has the angle pi, float32 rounds 2.0000001.
    static const std::set<std::string> others = {"view",       "element_size", "is_floating_point",
                                                 "is_complex", "angle",        "isclose"};
    if (others.contains(sample.name)) return;
    for (const ScalarType dtype : {kComplexFloat, kComplexDouble}) {
      Inputs in = inputs_of(family, sample);
      bool converts = false;
      for (Tensor& x : in)
        if (x.defined() && x.is_floating_point()) x = x.to(dtype), converts = true;
      if (!converts) return;
      Tensors out;
      try {
        out = comparable(sample, sample.call(in));
      } catch (const TypeError&) {
        continue;
      }
      const Tensors expected = answered(family, sample);
      const double slack = dtype == kComplexFloat ? 1e12 : 1e5;  // 2e-4 and 2e-11
      for (size_t i = 0; i < out.size() && i < expected.size(); ++i) {
        const Tensor rest = out[i].is_complex() ? out[i].imag().abs().sum() : zeros({});
        EXPECT_FALSE(rest.item<double>() > 1e-4) << dtype;  // NaN where there is no value
        EXPECT_TRUE(same(real(out[i]).to(expected[i].dtype()), expected[i], slack)) << dtype;
      }
    }
  });
}

// Narrow types: the result is that of float64, rounded, for inputs that the narrow type holds.
TEST_P(Operations, RoundToTheDtypeOfTheirInputs) {
  each([](const Family& family, const Sample& sample) {
    const std::string name = sample.name;
    if (name == "nextafter" || name == "float_power") return;  // have types of their own
    for (const ScalarType dtype : {kFloat, kHalf, kBFloat16}) {
      // LAPACK knows no half types.
      if (dtype != kFloat && std::string(family.name) == "linalg") continue;
      Inputs in = inputs_of(family, sample), wide = in;
      bool any = false;
      for (size_t i = 0; i < in.size(); ++i) {
        if (!in[i].defined() || in[i].dtype() != kDouble) continue;
        in[i] = in[i].to(dtype);
        wide[i] = in[i].to(kDouble);
        any = true;
      }
      if (!any) return;
      const Tensors got = comparable(sample, sample.call(in)),
                    expected = comparable(sample, sample.call(wide));
      ASSERT_EQ(got.size(), expected.size());
      for (size_t i = 0; i < got.size(); ++i) {
        if (expected[i].dtype() != kDouble) {
          EXPECT_EQ(got[i].dtype(), expected[i].dtype());
          continue;
        }
        ASSERT_EQ(got[i].dtype(), dtype);
        ASSERT_EQ(got[i].sizes(), expected[i].sizes());
        // A few roundings of intermediate results, each of half a unit in the last place.
        const double unit = dtype == kFloat ? 0x1p-23 : dtype == kHalf ? 0x1p-10 : 0x1p-7;
        const Tensor x = got[i].to(kDouble).contiguous(), y = expected[i].contiguous();
        for (int64_t k = 0; k < x.numel(); ++k) {
          const double a = x.data_ptr<double>()[k], b = y.data_ptr<double>()[k];
          if (a == b || (std::isnan(a) && std::isnan(b))) continue;
          EXPECT_NEAR(a, b, 16 * unit * std::max(1.0, std::abs(b))) << dtype << " element " << k;
        }
      }
    }
  });
}

autograd::CheckedFunction weighted(const Sample& sample, const Inputs& in) {
  return [&sample, in](const Tensors& leaves) {
    Inputs all = in;
    size_t next = 0;
    for (Tensor& x : all)
      if (x.defined() && x.requires_grad()) x = leaves[next++];
    Tensors out;
    for (const Tensor& y : sample.call(all))
      if (y.requires_grad()) out.push_back(y);
    return out;
  };
}

void check_derivatives(const Family& family, const Sample& sample, Device device) {
  const Inputs in = inputs_of(family, sample, /*grad=*/true, device);
  const Tensors leaves = differentiable(in);
  if (leaves.empty()) return;
  const auto f = weighted(sample, in);
  if (f(leaves).empty()) {
    EXPECT_FALSE(known().at(sample.name).differentiable &&
                 tensors(family, sample, "out")[0].is_floating_point())
        << "its row says that it is differentiable, and no result requires grad";
    return;
  }
  EXPECT_TRUE(known().at(sample.name).differentiable)
      << "its row says that it is not differentiable, and a result requires grad";
  // padding_idx and scale_grad_by_freq change the gradient on purpose; tests/nn/rows has PyTorch's.
  if (sample.name == std::string("embedding") && sample.arguments != std::string("a, b")) return;
  EXPECT_TRUE(autograd::gradcheck(f, leaves));
  EXPECT_TRUE(autograd::gradgradcheck(f, leaves));
}

TEST_P(Operations, HaveTheDerivativesOfFiniteDifferences) {
  each([](const Family& family, const Sample& sample) { check_derivatives(family, sample, kCPU); });
}

TEST_P(Operations, HaveTheDerivativesOfFiniteDifferencesOnAGpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
#ifdef GRADUS_SIMULATED
  GTEST_SKIP() << "takes minutes on simulated devices, where gradients are compared to the CPU's";
#endif
  each(
      [](const Family& family, const Sample& sample) { check_derivatives(family, sample, kCUDA); });
}

TEST_P(Operations, GiveOnAGpuWhatTheyGiveOnTheCpu) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  each([](const Family& family, const Sample& sample) {
    Inputs here = inputs_of(family, sample, true), there = inputs_of(family, sample, true, kCUDA);
    const Tensors x = sample.call(here), y = sample.call(there);
    const bool follows = here[0].defined() && known().at(sample.name).gives_tensors;
    for (const Tensor& each : y) EXPECT_EQ(each.is_cuda(), follows);
    EXPECT_TRUE(alike(comparable(sample, y), comparable(sample, x)));
    for (const Tensors& outs : {x, y})
      for (const Tensor& out : outs)
        if (out.requires_grad())
          out.backward(arange(1, out.numel() + 1, out.options()).view(out.sizes()), true);
    for (size_t i = 0; i < here.size(); ++i) {
      if (!here[i].defined() || !here[i].grad().defined()) continue;
      ASSERT_TRUE(there[i].grad().defined()) << "input " << i << " has no gradient on the GPU";
      EXPECT_TRUE(same(there[i].grad(), here[i].grad(), kSlack)) << "gradient of input " << i;
    }
  });
}

TEST_P(Operations, ChangeInPlaceAsTheyCompute) {
  each([](const Family& family, const Sample& sample) {
    const std::set<std::string> others{"as_strided", "conj_physical", "detach"};
    if (others.contains(sample.name)) return;  // change no element
    Inputs in = inputs_of(family, sample);
    const Tensor expected = tensors(family, sample, "out")[0];
    std::optional<Tensor> out;
    try {
      out = sample.in_place(in);
    } catch (const Error& error) {
      EXPECT_FALSE(expected.sizes() == in[0].sizes() &&
                   kind_of(expected.dtype()) <= kind_of(in[0].dtype()))
          << error.what();
      EXPECT_TRUE(same(in[0], tensors(family, sample, "in")[0], 0)) << "changed by an error";
      return;
    }
    if (!out) return;
    EXPECT_TRUE(out->is_same(in[0]));
    EXPECT_GT(in[0]._version(), 0u);
    EXPECT_TRUE(same(in[0], expected.to(in[0].dtype()), kSlack));
  });
}

TEST_P(Operations, ChangeInPlaceWithTheGradientsThatTheyHave) {
  each([](const Family& family, const Sample& sample) {
    Inputs in = inputs_of(family, sample, true), plain = inputs_of(family, sample, true);
    if (!known().at(sample.name).differentiable || !in[0].defined()) return;
    const Inputs leaves = in;
    in[0] = in[0] * 1;  // a leaf may not change
    std::optional<Tensor> out;
    try {
      out = sample.in_place(in);
    } catch (const Error&) {
      return;  // the test above has an eye on it
    }
    if (!out || !out->requires_grad()) return;
    const Tensor expected = sample.call(plain)[0];
    const Tensor weights = arange(1, out->numel() + 1, out->options()).view(out->sizes());
    out->backward(weights);
    expected.backward(weights);
    for (size_t i = 0; i < leaves.size(); ++i)
      if (plain[i].defined() && plain[i].grad().defined()) {
        EXPECT_TRUE(same(leaves[i].grad(), plain[i].grad(), kSlack)) << "gradient of input " << i;
      }
  });
}

TEST_P(Operations, WriteIntoTensorsThatAreGiven) {
  each([](const Family& family, const Sample& sample) {
    const Tensors expected = tensors(family, sample, "out");
    for (const bool fits : {true, false}) {
      Inputs in = inputs_of(family, sample);
      Tensors outs;
      for (const Tensor& y : expected)
        outs.push_back(fits ? empty(y.sizes(), y.options()) : empty({0}, y.options()));
      outs.resize(2);
      const void* memory = outs[0].data_ptr();
      if (!sample.into(outs, in)) return;
      outs.resize(expected.size());
      EXPECT_TRUE(alike(comparable(sample, outs), comparable(sample, expected)));
      if (fits) {
        EXPECT_EQ(outs[0].data_ptr(), memory);
      }
    }
    Inputs in = inputs_of(family, sample, true);
    if (differentiable(in).empty() || !known().at(sample.name).differentiable) return;
    Tensors outs(2, empty({0}, expected[0].options()));
    try {
      sample.into(outs, in);
      EXPECT_FALSE(expected[0].is_floating_point()) << "it wrote where a gradient was asked for";
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find("out="), std::string::npos) << error.what();
    }
  });
}

TEST_P(Operations, RefuseWhatPyTorchRefuses) {
  each(
      [](const Family& family, const Sample& sample) {
        for (const Device device : {Device(kCPU), Device(kCUDA)}) {
          if (device.is_cuda() && !cuda::is_available()) continue;
          Inputs in = inputs_of(family, sample, false, device);
          std::string message;
          try {
            sample.call(in);
            if (device.is_cuda()) cuda::synchronize();
          } catch (const Error& error) {
            message = error.what();
          }
          EXPECT_NE(message.find(sample.refused), std::string::npos)
              << (message.empty() ? "nothing was thrown" : message);
          const Tensors before = tensors(family, sample, "in");
          for (size_t i = 0; i < before.size(); ++i) EXPECT_TRUE(same(in[i], before[i], 0));
        }
      },
      /*refused=*/true);
}

// Those that take undefined tensors, as questions about a tensor do, or as arguments that are not
// given.
bool takes_undefined(const std::string& name, size_t argument) {
  static const std::set<std::string> facts = {
      "atleast_1d",   "cartesian_prod", "conj",    "conj_physical", "diff",
      "dropout",      "is_complex",     "is_conj", "is_neg",        "real",
      "resolve_conj", "resolve_neg",    "size",    "is_same_size",  "is_distributed"};
  static const std::set<std::string> optional = {"linear",     "bilinear",   "bincount",
                                                 "histogram",  "cov",        "searchsorted",
                                                 "batch_norm", "layer_norm", "group_norm"};
  if (name == "scaled_dot_product_attention" && argument == 3) return true;  // the mask
  if (name == "embedding_bag" && argument == 3) return true;                 // the weights
  return facts.contains(name) || name.find("dropout") != std::string::npos ||
         (argument > 1 && name.starts_with("conv")) || (argument > 0 && optional.contains(name));
}

TEST_P(Operations, SayThatAnArgumentIsUndefined) {
  each([](const Family& family, const Sample& sample) {
    const size_t count = tensors(family, sample, "in").size();
    for (size_t i = 0; i < count; ++i) {
      if (takes_undefined(sample.name, i)) continue;
      Inputs in = inputs_of(family, sample);
      in[i] = Tensor();
      std::string message = "nothing was thrown";
      try {
        sample.call(in);
      } catch (const Error& error) {
        message = error.what();
      }
      EXPECT_NE(message.find("undefined"), std::string::npos) << "input " << i << ": " << message;
    }
  });
}

TEST(OperationSamples, ThereAreSomeForEveryPublicOperation) {
  // Samples are of real numbers. tests/autograd/complex_test.cpp, tests/linalg/eig_test.cpp and
  // tests/fft/pytorch_test.cpp have those of complex ones, and of names that begin with fft_.
  const std::set<std::string> of_complex_numbers = {
      "imag", "view_as_real", "view_as_complex", "complex", "polar", "linalg_eig", "linalg_eigvals",
      "stft", "istft"};
  std::set<std::string> sampled;
  for (const Family& family : families())
    for (const Sample& sample : family.samples)
      if (!sample.refused) sampled.insert(sample.name);
  for (const auto& [name, row] : known())
    EXPECT_TRUE(sampled.contains(name) || of_complex_numbers.contains(name) ||
                name.starts_with("fft_"))
        << name << " has no line in tests/conformance/ops/samples";
}

INSTANTIATE_TEST_SUITE_P(Of, Operations, ::testing::Range(size_t{0}, families().size()),
                         [](const auto& test) { return std::string(families()[test.param].name); });

}  // namespace
}  // namespace gradus::test
