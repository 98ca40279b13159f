// The programs that documents show are those that tests build and run.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <sstream>
#include <string>

namespace {

std::string read(const std::string& path) {
  std::ifstream in(std::string(GRADUS_SOURCE_DIR) + "/" + path);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Readme, ShowsTheProgramThatIsTested) {
  const std::string program = read("tests/project/consumer/project/client.cpp");
  ASSERT_FALSE(program.empty());
  EXPECT_NE(read("README.md").find("```cpp\n" + program + "```\n"), std::string::npos);
}

TEST(Version, IsThatOfTheProject) {
  const std::string project = read("CMakeLists.txt"), header = read("version.h");
  const std::string key = "project(gradus VERSION ";
  const size_t begin = project.find(key);
  ASSERT_NE(begin, std::string::npos);
  std::string numbers = project.substr(begin + key.size());
  numbers.resize(numbers.find(' '));
  EXPECT_NE(header.find("GRADUS_VERSION \"" + numbers + "\"\n"), std::string::npos) << numbers;
  std::istringstream parts(numbers);
  for (const char* name : {"MAJOR", "MINOR", "PATCH"}) {
    std::string number;
    ASSERT_TRUE(std::getline(parts, number, '.'));
    EXPECT_NE(header.find(std::string("GRADUS_VERSION_") + name + ' ' + number + '\n'),
              std::string::npos)
        << name;
  }
}

TEST(Docs, TheSimulatorsShowTheTourAndTheTestThatAreRun) {
  const std::string docs = read("docs/simulator.md");
  const std::string test = read("tests/sim/grading_test.cu");
  const size_t begin = test.find("TEST("), end = test.find("\n}\n", begin);
  ASSERT_NE(end, std::string::npos);
  EXPECT_NE(docs.find("```cpp\n" + test.substr(begin, end + 3 - begin) + "```\n"),
            std::string::npos);

  std::istringstream tour(read("examples/simulator/tiled_broken.cu"));
  std::string line;
  int lines_of_kernel = 0;
  for (int number = 1; std::getline(tour, line); ++number) {
    if (line.starts_with("__global__")) lines_of_kernel = 1;
    if (lines_of_kernel == 0) continue;
    EXPECT_NE(docs.find("\n" + std::to_string(number) + ' ' + line + '\n'), std::string::npos)
        << number << ' ' << line;
    if (line == "}") break;
    ++lines_of_kernel;
  }
  EXPECT_GT(lines_of_kernel, 10);
}

}  // namespace
