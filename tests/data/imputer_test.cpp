// SimpleImputer: what stands where numbers were missing.
#include <limits>

#include "tests/support.h"

namespace gradus {
namespace {

TEST(SimpleImputer, FillsColumnsByWhatItLearned) {
  const data::CsvTable table = data::parse_csv("a,b\n1,10\n2,NA\n,30\n9,50\n4,\n", "table.csv");
  for (const ScalarType dtype : {kFloat, kDouble}) {
    const Tensor x = table.numbers({"a", "b"}, dtype);
    data::SimpleImputer mean, median("median"), constant("constant", -1);
    expect_values(mean.fit_transform(x), {1, 10, 2, 30, 4, 30, 9, 50, 4, 30});
    expect_values(median.fit_transform(x), {1, 10, 2, 30, 3, 30, 9, 50, 4, 30});
    expect_values(constant.fit_transform(x), {1, 10, 2, -1, -1, 30, 9, 50, 4, -1});
    expect_values(median.statistics(), {3, 30});
    EXPECT_EQ(mean.fit_transform(x).dtype(), dtype);
    EXPECT_TRUE(x.isnan().any().item<bool>());  // x stays as it is
    // Another table gets what was learned of the first.
    const double missing = std::numeric_limits<double>::quiet_NaN();
    expect_values(mean.transform(tensor({missing, 1.0, 0.0, missing}, dtype).view({2, 2})),
                  {4, 1, 0, 30});
  }
  data::SimpleImputer one;
  expect_values(one.fit_transform(table.numbers("a")), {1, 2, 4, 9, 4});
}

TEST(SimpleImputer, SaysWhatIsWrong) {
  expect_error<ValueError>([] { data::SimpleImputer("mode"); }, "strategy is \"mode\"");
  data::SimpleImputer imputer;
  expect_error<ValueError>([&] { imputer.transform(ones({2})); }, "call fit() first");
  expect_error<TypeError>([&] { imputer.fit(ones({2}, kLong)); }, "x has dtype int64");
  const Tensor none = full({2, 3}, std::numeric_limits<double>::quiet_NaN());
  expect_error<ValueError>([&] { imputer.fit(none); }, "column 0 has no number to learn from");
  EXPECT_FALSE(imputer.statistics().defined());
  imputer.fit(ones({2, 3}));
  expect_error<ValueError>(
      [&] {
        imputer.transform(ones({2, 2}));
      },
      "fit() saw columns of shape [3]");
}

}  // namespace
}  // namespace gradus
