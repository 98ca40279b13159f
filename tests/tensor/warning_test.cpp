// Warnings go to the handler of their thread.
#include "gradus/tensor/base/warning.h"

#include <thread>
#include <vector>

#include "tests/support.h"

namespace gradus {
namespace {

struct Notes : WarningHandler {
  Notes() : before(Warning::get_warning_handler()) { Warning::set_warning_handler(this); }
  ~Notes() override { Warning::set_warning_handler(before); }
  void process(const SourceLocation& source, const std::string& message, bool verbatim) override {
    messages.push_back(message);
    line = source.line, without_place = verbatim;
  }

  WarningHandler* before;
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

// A handler may hand on to the one before it.
TEST(Warning, HasAHandlerFromTheStart) {
  Warning::set_warning_handler(nullptr);
  testing::internal::CaptureStderr();
  Warning::get_warning_handler()->process({"", "", 0}, "on", true);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "Warning: on\n");
}

TEST(Warning, OnceUnlessAlways) {
  Notes notes;
  std::atomic<bool> warned = false;
  for (int i = 0; i < 3; ++i)
    if (warns_again(warned)) warn("once");
  EXPECT_EQ(notes.messages.size(), 1u);
  {
    const Warning::WarnAlways always;
    EXPECT_TRUE(Warning::get_warnAlways());
    for (int i = 0; i < 3; ++i)
      if (warns_again(warned)) warn("once");
  }
  EXPECT_EQ(notes.messages.size(), 4u);
  if (warns_again(warned)) warn("once");
  EXPECT_EQ(notes.messages.size(), 4u);
}

}  // namespace
}  // namespace gradus
