// The Fourier transforms against what PyTorch made of them (tests/conformance/golden/fft.py).
#include "gradus/autograd/fft.h"
#include "tests/conformance/golden/golden.h"
#include "tests/support.h"

namespace gradus::test {
namespace {

using Length = std::optional<int64_t>;
using Norm = std::optional<std::string_view>;

Length length_named(const std::string& text) {
  return text == "None" ? Length() : Length(std::stoll(text));
}
Norm norm_named(const std::string& text) { return text == "None" ? Norm() : Norm(text); }

// Functions by their names, with the tensor that each takes.
struct Transform {
  const char* name;
  bool real;
  Tensor (*one)(const Tensor&, Length, int64_t, Norm);
  Tensor (*two)(const Tensor&, OptionalIntArrayRef, IntArrayRef, Norm);
  Tensor (*several)(const Tensor&, OptionalIntArrayRef, OptionalIntArrayRef, Norm);
};
const Transform kTransforms[] = {{"fft", false, fft::fft, fft::fft2, fft::fftn},
                                 {"ifft", false, fft::ifft, fft::ifft2, fft::ifftn},
                                 {"rfft", true, fft::rfft, fft::rfft2, fft::rfftn},
                                 {"irfft", false, fft::irfft, fft::irfft2, fft::irfftn},
                                 {"hfft", false, fft::hfft, fft::hfft2, fft::hfftn},
                                 {"ihfft", true, fft::ihfft, fft::ihfft2, fft::ihfftn}};

// The calls that are no product of lists.
std::map<std::string, Tensor> other_calls(const Golden& golden) {
  const Tensor x = golden["x"], z = view_as_complex(golden["z"]);
  const Tensor signal = golden["signal"], window = golden["window"];
  const Tensor frames = signal.stft(8, 3, 6, window, true, "reflect", false, true, true);
  return {{"fftn dim=2,0", fft::fftn(z, {}, IntArrayRef({2, 0}))},
          {"rfftn dim=2,0", fft::rfftn(x, {}, IntArrayRef({2, 0}))},
          {"irfftn dim=2,1", fft::irfftn(z, {}, IntArrayRef({2, 1}))},
          {"hfftn dim=2,1", fft::hfftn(z, {}, IntArrayRef({2, 1}))},
          {"fftfreq", fft::fftfreq(7, 0.3, kDouble)},
          {"rfftfreq", fft::rfftfreq(7, 0.3, kDouble)},
          {"fftshift", fft::fftshift(x)},
          {"ifftshift dim=2", fft::ifftshift(x, IntArrayRef({2}))},
          {"stft", frames},
          {"stft plain", signal.stft(8, 3, 6, window, false, "reflect", true, true, true)},
          {"stft whole", signal.stft(8, 2, 8, std::nullopt, true, "constant", false, false, true)},
          {"istft", frames.istft(8, 3, 6, window, true, false, std::nullopt, 17)}};
}

TEST(Fft, IsWhatPyTorchComputes) {
  const Golden golden(recorded("golden/fft.txt"));
  const std::map<std::string, Tensor> others = other_calls(golden);
  const Tensor x = golden["x"], z = view_as_complex(golden["z"]);
  const std::vector<int64_t> given = {4, 3};
  std::map<std::string, Tensor> got = others;
  for (const Transform& f : kTransforms) {
    const Tensor& in = f.real ? x : z;
    for (const std::string n : {"None", "3", "6"})
      for (const int64_t dim : {-1, 1})
        for (const std::string norm : {"None", "forward", "ortho"})
          got[f.name + std::string(" n=") + n + " dim=" + std::to_string(dim) + " norm=" + norm] =
              f.one(in, length_named(n), dim, norm_named(norm));
    for (const std::string s : {"None", "(4, 3)"})
      for (const std::string norm : {"None", "ortho"}) {
        const OptionalIntArrayRef sizes =
            s == "None" ? OptionalIntArrayRef() : OptionalIntArrayRef(given);
        const std::string rest = " s=" + s + " norm=" + norm;
        got[f.name + ("2" + rest)] = f.two(in, sizes, IntArrayRef({-2, -1}), norm_named(norm));
        got[f.name + ("n" + rest)] = f.several(in, sizes, std::nullopt, norm_named(norm));
      }
  }
  EXPECT_EQ(golden.cases.size(), got.size());
  for (const GoldenCase& one : golden.cases) {
    SCOPED_TRACE(one.text);
    ASSERT_TRUE(got.contains(one.text));
    const Tensor& found = got[one.text];
    expect_values(found.is_complex() ? view_as_real(found) : found, to_vector(one.expected), 1e-13);
    EXPECT_EQ((found.is_complex() ? view_as_real(found) : found).sizes(), one.expected.sizes());
  }
}

}  // namespace
}  // namespace gradus::test
