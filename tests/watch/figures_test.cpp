// Figures as they are shown: MetricCollection, NaN without a sign, and warnings of likely mistakes.
#include "gradus/tensor/base/warning.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

struct Heard : WarningHandler {
  Heard() { Warning::set_warning_handler(this); }
  ~Heard() override { Warning::set_warning_handler(nullptr); }
  void process(const SourceLocation&, const std::string& message, bool) override {
    texts.push_back(message);
  }
  std::vector<std::string> texts;
};

TEST(MetricCollection, CountsEachBatchInEachMetric) {
  metrics::MetricCollection all;
  const auto each = metrics::ClassMetricOptions(3).average(metrics::Average::None);
  all.add("accuracy", metrics::Accuracy()).add("f1", metrics::F1Score(each));
  EXPECT_EQ(all.size(), 2U);
  metrics::Accuracy accuracy;
  metrics::F1Score f1(each);
  for (int batch = 0; batch < 3; ++batch) {
    const Tensor scores = rand({5, 3}), targets = tensor({0, 1, 2, 1, 0});
    all.update(scores, targets);
    accuracy.update(scores, targets);
    f1.update(scores, targets);
  }
  const auto figures = all.compute();
  EXPECT_EQ(figures.keys(), (std::vector<std::string>{"accuracy", "f1"}));
  EXPECT_TRUE(figures["accuracy"].equal(accuracy.compute()));
  EXPECT_TRUE(figures["f1"].equal(f1.compute()));
  const watch::LogRow row = all.row({{"epoch", 1}});
  std::vector<std::string> names;
  for (const auto& [name, value] : row) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"epoch", "accuracy", "f1/0", "f1/1", "f1/2"}));
  EXPECT_EQ(*row[1].second.number(), accuracy.compute().item<double>());
  expect_error<ValueError>([&] { all.add("f1", metrics::Accuracy()); }, "f1 is taken");
  // The metrics given are copied.
  all.reset();
  expect_error<Error>([&] { all.compute(); }, "");
  EXPECT_GE(accuracy.compute().item<double>(), 0);
}

TEST(Figures, NaNHasNoSign) {
  for (const double sign : {1.0, -1.0}) {
    const watch::LogValue value = std::copysign(NAN, sign);
    EXPECT_EQ(value.exact(), "nan");
    EXPECT_EQ(value.rounded(), "nan");
  }
  for (const int64_t only : {0, 1}) {
    const Heard heard;
    metrics::AUROC auroc;
    auroc.update(tensor({0.1, 0.7}), full({2}, only, kLong));
    const Tensor area = auroc.compute();
    EXPECT_TRUE(std::isnan(area.item<double>()));
    EXPECT_FALSE(std::signbit(area.item<double>()));
    ASSERT_EQ(heard.texts.size(), 1U);
    EXPECT_NE(heard.texts[0].find("all targets are of class " + std::to_string(only)),
              std::string::npos);
  }
}

TEST(Figures, PixelsBeyondOneAreAWarning) {
  const TemporaryFolder folder;
  const Tensor bytes = full({1, 2, 2}, 255, kFloat);
  const std::pair<const char*, std::function<void(const Tensor&)>> writers[] = {
      {"encode_png", [](const Tensor& x) { watch::encode_png(x); }},
      {"save_image", [&](const Tensor& x) { watch::save_image(x.unsqueeze(0), folder / "x.png"); }},
      {"plot_images",
       [](const Tensor& x) {
         watch::plot_images("", {{x, ""}});
       }},
      {"SummaryWriter.add_image",
       [&](const Tensor& x) { watch::SummaryWriter(folder / "run").add_image("x", x); }}};
  for (const auto& [name, write] : writers) {
    const Heard heard;
    write(bytes);
    ASSERT_EQ(heard.texts.size(), 1U) << name;
    EXPECT_NE(heard.texts[0].find("pixels reach 255, expected fractions from 0 to 1"),
              std::string::npos);
    write(bytes / 255);
    write(bytes.to(kByte));
    write(bytes / 255 * 1.5);  // as of an interpolation
    EXPECT_EQ(heard.texts.size(), 1U) << name;
  }
}

}  // namespace
}  // namespace gradus
