// The example that README.md shows is the program that tests/consumer builds and runs.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace {

std::string read(const std::string& path) {
  std::ifstream in(std::string(GRADUS_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Readme, ShowsTheProgramThatIsTested) {
  const std::string program = read("tests/consumer/project/client.cpp");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(read("README.md").find("```cpp\n" + program + "```\n"), std::string::npos);
}

}  // namespace
