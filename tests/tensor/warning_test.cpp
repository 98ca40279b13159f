// Warnings go to the handler of their thread.
#include "gradus/tensor/warning.h"

#include <thread>
#include <vector>

#include "tests/support.h"

namespace gradus {
namespace {

struct Notes : WarningHandler {
  Notes() { Warning::set_warning_handler(this); }
  ~Notes() override { Warning::set_warning_handler(nullptr); }
  void process(const SourceLocation& source, const std::string& message, bool verbatim) override {
    messages.push_back(message);
    line = source.line, without_place = verbatim;
  }

  std::vector<std::string> messages;
  uint32_t line = 0;
  bool without_place = false;
};

TEST(Warning, GoesToTheHandlerOfItsThread) {
  Notes notes;
  Warning::warn({"f", "file.cpp", 12}, "one");
  EXPECT_EQ(notes.messages, std::vector<std::string>{"one"});
  EXPECT_EQ(notes.line, 12u);
  EXPECT_FALSE(notes.without_place);
  warn("two");
  EXPECT_TRUE(notes.without_place);
  testing::internal::CaptureStderr();
  std::thread([] { warn("three"); }).join();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "Warning: three\n");
  EXPECT_EQ(notes.messages.size(), 2u);
}

TEST(Warning, NamesItsPlaceOnStderr) {
  testing::internal::CaptureStderr();
  Warning::warn({"f", "file.cpp", 12}, "one");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "[W file.cpp:12] Warning: one (function f)\n");
}

TEST(Warning, OnceUnlessAlways) {
  Notes notes;
  std::atomic<bool> warned = false;
  for (int i = 0; i < 3; ++i) warn_once(warned, "once");
  EXPECT_EQ(notes.messages.size(), 1u);
  {
    const Warning::WarnAlways always;
    EXPECT_TRUE(Warning::get_warnAlways());
    for (int i = 0; i < 3; ++i) warn_once(warned, "once");
  }
  EXPECT_EQ(notes.messages.size(), 4u);
  warn_once(warned, "once");
  EXPECT_EQ(notes.messages.size(), 4u);
}

}  // namespace
}  // namespace gradus
