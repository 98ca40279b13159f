// NanGuard on GPUs: every word of a result is read, and none beside it, however the result lies in
// memory.
#include <functional>

#include "gradus/cuda/runtime/stats.h"
#include "gradus/tensor/nonfinite.h"
#include "tests/support.h"
#include "tests/watch/guarded.h"

namespace guarded {

struct LayoutCase {
  const char* name;
  Tensor (*view)(const Tensor& x);  // of 3,000 elements
};
const std::vector<LayoutCase> layouts{
    {"dense", [](const Tensor& x) { return x; }},
    {"not aligned", [](const Tensor& x) { return x.slice(0, 1, 2998); }},
    {"one word", [](const Tensor& x) { return x.slice(0, 5, 6); }},
    {"rows of whole vectors",
     [](const Tensor& x) {
       return x.view({30, 100}).slice(1, 8, 72);
     }},
    {"rows that are not aligned",
     [](const Tensor& x) {
       return x.view({40, 75}).slice(1, 1, 60);
     }},
    {"short rows",
     [](const Tensor& x) {
       return x.view({600, 5}).slice(1, 1, 4);
     }},
    {"a column",
     [](const Tensor& x) {
       return x.view({600, 5}).select(1, 3);
     }},
    {"each second word", [](const Tensor& x) { return x.slice(0, 0, 3000, 2); }},
    {"transposed",
     [](const Tensor& x) {
       return x.view({60, 50}).t();
     }},
    {"a part that is transposed",
     [](const Tensor& x) {
       return x.view({60, 50}).slice(1, 3, 40).t();
     }},
    {"heads of queries",
     [](const Tensor& x) {
       return x.view({2, 25, 3, 4, 5}).select(2, 1).transpose(1, 2);
     }},
    {"a box",
     [](const Tensor& x) {
       return x.view({10, 20, 15}).slice(0, 1, 9).slice(1, 2, 19).slice(2, 3, 14);
     }},
    {"a box of each second word",
     [](const Tensor& x) {
       return x.view({10, 20, 15}).slice(1, 2, 19).slice(2, 0, 15, 2);
     }},
    {"broadcast",
     [](const Tensor& x) {
       return x.view({30, 100}).slice(1, 3, 90).unsqueeze(1).expand({30, 4, 87});
     }},
    {"overlapping", [](const Tensor& x) {
       return x.as_strided({50, 7}, {3, 1}, 2);
     }}};

// What the search of GPUs tells of one operation whose result this is.
thread_local std::vector<NonfiniteFinding> found;
std::vector<NonfiniteFinding> search_of(std::vector<CheckedOperation> operations) {
  found.clear();
  cuda_tell_nonfinite([](int, const NonfiniteFinding& finding) { found.push_back(finding); });
  for (const CheckedOperation& operation : operations) cuda_find_nonfinite(operation);
  cuda_flush_nonfinite(operations[0].results[0].device());
  cuda_finish_nonfinite();
  cuda_tell_nonfinite(nullptr);
  return found;
}

TEST(NanGuardLayouts, EachWordIsReadAndNoneBesideIt) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  for (const ScalarType dtype : {kFloat, kBFloat16, kHalf, kDouble})
    for (const LayoutCase& c : layouts) {
      SCOPED_TRACE(testing::Message() << c.name << ", " << dtype);
      // The words of a view, in memory of others.
      const Tensor places = c.view(arange(3000)).reshape({-1}).contiguous();
      const auto search = [&](double others, double each, double bad, int64_t at) {
        std::vector<double> values(3000, others);
        for (int64_t i = 0; i < places.numel(); ++i)
          values[static_cast<size_t>(places.data_ptr<int64_t>()[i])] = each;
        if (at >= 0) values[static_cast<size_t>(places.data_ptr<int64_t>()[at])] = bad;
        return search_of({{.number = 7, .results = {c.view(row(values, kCUDA, dtype))}}});
      };
      EXPECT_TRUE(search(nan, dtype == kHalf ? 65504. : 3e38, 0, -1).empty());
      const int64_t numel = places.numel();
      for (const int64_t place : {int64_t{0}, numel / 3, numel / 2, numel - 2, numel - 1}) {
        if (place < 0) continue;
        const bool is_nan = place % 2 == 0;
        const auto findings = search(1, 1, is_nan ? nan : -inf, place);
        ASSERT_EQ(findings.size(), 1u) << place;
        EXPECT_EQ(findings[0].number, 7u);
        EXPECT_TRUE(findings[0].made);
        EXPECT_EQ(findings[0].results.kinds(), is_nan ? kNans : kInfinities);
        const auto* const all = places.data_ptr<int64_t>();  // the first place of this word
        EXPECT_EQ(all[findings[0].results.place], all[place]);
        EXPECT_LE(findings[0].results.place, place);
      }
    }
}

// More chunks than blocks, with few and with many rows of one launch.
TEST(NanGuardLayouts, LastWordsOfLargeResultsAreRead) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const Tensor x = ones({360000}, kCUDA);
  for (const Tensor& y : {x, x.view({600, 600}).slice(1, 3, 599), x.slice(0, 1, 360000)}) {
    const Tensor last = y.dim() == 2 ? y[y.size(0) - 1][y.size(1) - 1] : y[y.size(0) - 1];
    last.fill_(nan);
    const auto findings = search_of({{.number = 3, .results = {y}}});
    ASSERT_EQ(findings.size(), 1u);
    EXPECT_EQ(findings[0].results.place, y.numel() - 1);
    last.fill_(1);
    EXPECT_TRUE(search_of({{.number = 3, .results = {y}}}).empty());
  }
  std::vector<CheckedOperation> operations;
  std::vector<Tensor> results;
  for (int64_t i = 0; i < 40; ++i) results.push_back(x.slice(0, i, i + 100).clone());
  for (const Tensor& y : results)
    operations.push_back({.number = operations.size() + 1, .results = y});
  results[38][99].fill_(inf);
  const auto findings = search_of(operations);
  ASSERT_EQ(findings.size(), 1u);
  EXPECT_EQ(findings[0].number, 39u);
}

// Views that an operation passes on are not read: no kernel for other strides is launched.
TEST(NanGuardLayouts, PartsOfWhatIsPassedOnAreNotRead) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const auto box = [](const Tensor& x) { return x.view({10, 20, 15}).slice(1, 2, 19); };
  const auto inner = [](const Tensor& x) {
    return x.view({10, 20, 15}).slice(1, 3, 18).slice(2, 1, 14);
  };
  struct Case {
    const char* name;
    std::function<Tensor(const Tensor&)> result, operand;
    bool is_passed;
  };
  const std::vector<Case> cases{
      {"a box of all", inner, [](const Tensor& x) { return x; }, true},
      {"a box of all, transposed", inner,
       [](const Tensor& x) {
         return x.view({60, 50}).t();
       },
       true},
      {"the same box", box, box, true},
      {"the same box, transposed", box, [&](const Tensor& x) { return box(x).transpose(0, 2); },
       true},
      {"a box that reaches farther", box, inner, false},
      {"a box of the first half", box, [](const Tensor& x) { return x.slice(0, 0, 1500); }, false},
      {"a box of all but the first word",
       [](const Tensor& x) {
         return x.view({30, 100}).slice(1, 0, 9);
       },
       [](const Tensor& x) { return x.slice(0, 1, 3000); }, false}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const Tensor x = ones({3000}, kCUDA), other = ones({1}, kCUDA);
    const Tensor made = c.result(x);
    Tensor first = made;
    while (first.dim() > 0) first = first.select(0, 0);
    first.fill_(nan);
    const auto findings =
        search_of({{.number = 1, .results = made},
                   {.number = 2, .results = other, .operands = c.operand(x), .passed = 1}});
    EXPECT_EQ(findings.empty(), c.is_passed);
  }
}

// A result in Float beside the same one in a half type, which alone is read.
TEST(NanGuardLayouts, NamesANormalisationThatIsWrittenTwice) {
  if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
  const nn::LayerNorm norm(nn::LayerNormOptions({8}));
  const nn::Linear linear(8, 4);
  norm->to(kCUDA), linear->to(kCUDA);
  const Tensor x = rand({6, 8}).to(kCUDA);
  const auto step = [&] {
    const amp::autocast autocast(kCUDA, kBFloat16);
    linear->forward(norm->forward(x)).sum().backward();
  };
  step(), step();  // the second one knows of the half type
  expect_silence("finite", step);
  {
    const NoGradGuard no_grad;
    norm->weight.fill_(3.4e38);
  }
  const NanReport report = report_of(step);
  EXPECT_NE(report.operation.find("normalize"), std::string::npos) << report.message;
  EXPECT_TRUE(report.made);
}

}  // namespace guarded
