// Whatever bytes a name has, what is written is UTF-8: JSON, SVG, protocol buffers.
#include "gradus/tensor/base/utf8.h"

#include "gradus/watch/tensorboard/wire.h"
#include "gradus/watch/text.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

constexpr const char* kBroken = "na\xffme\xc3";  // a byte that there is not, and half a character
constexpr const char* kMended = "na\xef\xbf\xbdme\xef\xbf\xbd";

std::string all_of_file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

bool is_utf8(const std::string& text) { return valid_utf8(text) == text; }

TEST(Utf8, KnowsItsCharacters) {
  // The bounds of RFC 3629, section 4.
  for (const char* const one :
       {"a", "\x7f", "\xc2\x80", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf", "\xee\x80\x80",
        "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"})
    EXPECT_EQ(utf8_length(std::string(one) + "x"), std::string(one).size()) << one;
  for (const char* const none :
       {"", "\x80", "\xbf", "\xc0\x80", "\xc1\xbf", "\xc2", "\xc2x", "\xe0\x9f\xbf", "\xe2\x82",
        "\xed\xa0\x80", "\xf0\x8f\xbf\xbf", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"})
    EXPECT_EQ(utf8_length(none), 0U) << none;
  EXPECT_EQ(valid_utf8(kBroken), kMended);
  EXPECT_EQ(valid_utf8("a\u00e9\u20ac\U0001f600"), "a\u00e9\u20ac\U0001f600");
  // One for each byte.
  EXPECT_EQ(valid_utf8("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
}

TEST(Utf8, IsWhatEveryWriterWrites) {
  const TemporaryFolder folder;
  std::vector<std::pair<std::string, std::string>> written;
  {
    profiler::profile trace({.profile_memory = true});
    {
      const profiler::record_function range(kBroken);
      rand({2}) + 1;
    }
    trace.stop();
    for (const char* const file : {"trace.json", "memory.svg", "memory.json"}) {
      if (std::string(file) == "trace.json")
        trace.export_chrome_trace(folder / file);
      else
        trace.export_memory_timeline(folder / file);
      written.emplace_back(file, all_of_file(folder / file));
    }
  }
  EXPECT_NE(written[0].second.find(kMended), std::string::npos);
  written.emplace_back("json", watch::detail::json_text(kBroken));
  EXPECT_EQ(written.back().second, std::string("\"") + kMended + "\"");
  written.emplace_back("curves",
                       watch::plot_curves(kBroken, kBroken, {{kBroken, {{kBroken, {1, 2}}}}}));
  EXPECT_NE(written.back().second.find(kMended), std::string::npos);
  written.emplace_back("matrix",
                       watch::plot_confusion_matrix(kBroken, eye(2).to(kLong), {kBroken, "b"}));
  for (const auto& [name, text] : written) EXPECT_TRUE(is_utf8(text)) << name << text;
  // Protocol buffers: texts are, and bytes stay.
  using watch::detail::Message;
  EXPECT_EQ(Message().text(1, kBroken).bytes(), Message().data(1, kMended).bytes());
  EXPECT_EQ(Message().data(1, kBroken).bytes().substr(2), kBroken);
  {
    watch::SummaryWriter writer(folder / "run");
    writer.add_scalar(kBroken, 1);
    writer.add_text(kBroken, kBroken);
    writer.add_histogram(kBroken, ones({2}));
    writer.add_image(kBroken, ones({1, 2, 2}));
    EXPECT_EQ(all_of_file(writer.path()).find(kBroken), std::string::npos);
  }
}

}  // namespace
}  // namespace gradus
