// The simulator finds each planted bug, names its line, and finds nothing else; and it finds
// nothing in the correct kernels.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>

#include "gradus/cuda/sim/simulator.h"
#include "tests/cuda/gpu_test.h"
#include "tests/sim/planted/planted.h"

namespace gradus::planted {

// For messages of GoogleTest.
void PrintTo(const Planted& bug, std::ostream* out) { *out << bug.name; }

namespace {

using cuda::sim::Finding;
using cuda::sim::Kind;
using cuda::sim::Side;

const std::map<std::string, Kind> kKinds = {
    {"out_of_bounds", Kind::out_of_bounds},
    {"misaligned", Kind::misaligned},
    {"use_after_free", Kind::use_after_free},
    {"foreign_memory", Kind::foreign_memory},
    {"unwritten", Kind::unwritten},
    {"race", Kind::race},
    {"order", Kind::order},
    {"under_way", Kind::under_way},
    {"layout", Kind::layout},
    {"barrier", Kind::barrier},
    {"warp", Kind::warp},
    {"arithmetic", Kind::arithmetic},
    {"stuck", Kind::stuck},
    {"launch", Kind::launch},
    {"leak", Kind::leak},
    {"uncoalesced", Kind::uncoalesced},
    {"bank_conflict", Kind::bank_conflict},
};

bool is_advice(Kind kind) { return kind == Kind::uncoalesced || kind == Kind::bank_conflict; }

using Place = std::pair<std::string, int>;  // file name and line

// The lines that end with "// BUG name", by name. A line "// AT name: places" says that the bug is
// at all lines of these places, each of which has lines that end with "// BUG place".
std::map<std::string, std::set<Place>> read_markers() {
  const std::string marker = "// BUG ";
  std::map<std::string, std::set<Place>> out;
  std::map<std::string, std::vector<std::string>> places;
  for (const auto& file :
       std::filesystem::directory_iterator(GRADUS_SOURCE_DIR "/tests/sim/planted")) {
    if (file.path().extension() != ".cu") continue;
    std::ifstream in(file.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number)
      if (const size_t at = line.find(marker); at != std::string::npos) {
        out[line.substr(at + marker.size())].insert({file.path().filename(), number});
      } else if (line.starts_with("// AT ")) {
        std::istringstream words(line.substr(6));
        std::string name;
        std::getline(words, name, ':');
        for (std::string place; words >> place;) places[name].push_back(place);
      }
  }
  std::set<std::string> used;
  for (const auto& [name, all] : places)
    for (const std::string& place : all) {
      out[name].insert(out.at(place).begin(), out.at(place).end());
      used.insert(place);
    }
  for (const std::string& place : used) out.erase(place);
  return out;
}

const std::map<std::string, std::set<Place>>& markers() {
  static const auto all = read_markers();
  return all;
}

bool is_marked(const cuda::sim::Frame& frame, const std::string& bug) {
  const auto lines = markers().find(bug);
  const Place place{std::filesystem::path(frame.file).filename(), frame.line};
  return lines != markers().end() && lines->second.contains(place);
}

// Whether the kernel's own line is, be it in a function of the library's headers that it calls.
bool is_marked(const Side& side, const std::string& bug) {
  const auto own = std::ranges::find_if(side.frames, [](const cuda::sim::Frame& frame) {
    return frame.file.find("tests/sim/planted/") != std::string::npos;
  });
  return own != side.frames.end() && is_marked(*own, bug);
}

// Whether the finding is at the line of the bug: a race and its like with all sides, a launch with
// the call of launch(), which contains frames of its own.
bool is_at_its_line(const Finding& finding, const std::string& bug) {
  const auto marked = [&](const Side& side) { return is_marked(side, bug); };
  if (finding.kind == Kind::race && finding.sides.size() != 2) return false;
  if (finding.kind == Kind::order)  // the lines of both are named
    return std::ranges::all_of(markers().at(bug), [&](const Place& line) {
      return std::ranges::any_of(finding.sides, [&](const Side& side) {
        return std::ranges::any_of(side.frames, [&](const cuda::sim::Frame& frame) {
          return Place{std::filesystem::path(frame.file).filename(), frame.line} == line;
        });
      });
    });
  if (finding.kind == Kind::race || finding.kind == Kind::under_way || finding.kind == Kind::layout)
    return std::ranges::all_of(finding.sides, marked);
  if (finding.kind == Kind::launch)
    return finding.sides.size() == 1 &&
           std::ranges::any_of(finding.sides[0].frames,
                               [&](const auto& frame) { return is_marked(frame, bug); });
  return std::ranges::any_of(finding.sides, marked);
}

// All findings of one run, advice included.
std::vector<Finding> findings_of(const Planted& bug) {
  cuda::sim::take_findings();
  const cuda::sim::Recording recording;
  try {
    bug.run();
  } catch (const Error&) {
    // The finding names it, too.
  }
  std::vector<Finding> out = cuda::sim::take_findings();
  for (const auto& launch : recording.launches())
    for (Finding& advice : launch.advice()) out.push_back(std::move(advice));
  // Only leaks of this run count: the library keeps memory for its own use.
  for (Finding& leak : cuda::sim::take_leaks())
    if (is_marked(leak.sides.at(0), bug.name)) out.push_back(std::move(leak));
  return out;
}

std::string text_of(const std::vector<Finding>& findings) {
  std::ostringstream out;
  for (const Finding& each : findings) out << each;
  return findings.empty() ? "nothing was found" : "found:\n" + out.str();
}

struct PlantedTest : testing::TestWithParam<Planted> {
  void SetUp() override {
    if (!cuda::is_available()) GTEST_SKIP() << cuda::why_unavailable();
    if (!cuda::sim::checks()) GTEST_SKIP() << "GRADUS_SIM_CHECK=0: the simulator does not check";
  }
};

void expect_found(const Planted& bug) {
  const std::vector<Finding> findings = findings_of(bug);
  if (*bug.kind == '\0') {  // a correct kernel
    EXPECT_TRUE(findings.empty()) << text_of(findings);
    return;
  }
  for (const Finding& each : findings)
    EXPECT_TRUE(is_advice(each.kind) || is_at_its_line(each, bug.name)) << "also found:\n" << each;

  const Kind kind = kKinds.at(bug.kind);
  const bool names_a_kernel = kind != Kind::leak && kind != Kind::launch && kind != Kind::order;
  EXPECT_TRUE(std::ranges::any_of(findings,
                                  [&](const Finding& each) {
                                    return each.kind == kind && is_at_its_line(each, bug.name) &&
                                           (!names_a_kernel ||
                                            each.kernel.find(bug.name) != std::string::npos);
                                  }))
      << "expected: " << cuda::sim::name_of(kind) << "; " << text_of(findings);
}

TEST_P(PlantedTest, IsFoundAtItsLineAndNothingElse) {
  const Planted& bug = GetParam();
  const bool is_of_streams = bug.kind == std::string("order");
  if (!is_of_streams) expect_found(bug);
  // Work comes in another order for each seed.
  if (is_of_streams || *bug.kind == '\0')
    for (const unsigned seed : {1, 2, 3}) {
      const testing::ScopedTrace trace(__FILE__, __LINE__, "seed " + std::to_string(seed));
      cuda::sim::set_order(seed);
      expect_found(bug);
      cuda::sim::set_order(std::nullopt);
    }
}

INSTANTIATE_TEST_SUITE_P(Bugs, PlantedTest,
                         testing::ValuesIn(planted_bugs().begin(), planted_bugs().end()),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(PlantedMarkersTest, EachBugHasALineAndEachLineABug) {
  std::set<std::string> bugs, marked;
  for (const Planted& bug : planted_bugs())
    if (*bug.kind != '\0') bugs.insert(bug.name);
  for (const auto& [name, lines] : markers()) marked.insert(name);
  EXPECT_EQ(bugs, marked);
  EXPECT_GE(bugs.size(), 32u);
}

}  // namespace
}  // namespace gradus::planted
