// SummaryWriter: bytes as TensorFlow's classes write them, and files that TensorBoard's own package
// reads.
#include <cstdio>
#include <regex>
#include <thread>

#include "gradus/watch/tensorboard/histogram.h"
#include "gradus/watch/tensorboard/record.h"
#include "gradus/watch/tensorboard/wire.h"
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using watch::SummaryWriter, watch::detail::Message;

std::string hex(const std::string& bytes) {
  std::string out;
  for (const char byte : bytes) {
    char text[3];
    std::snprintf(text, sizeof(text), "%02x", static_cast<unsigned char>(byte));
    out += text;
  }
  return out;
}

// The expected bytes are those of tensorboard 2.20 (tensorboard.compat.proto, RecordWriter).
TEST(TensorBoard, WritesTheBytesOfProtocolBuffers) {
  const Message scalar = Message().text(1, "loss").single(2, 0.25f);
  EXPECT_EQ(hex(Message()
                    .number(1, 1.5)
                    .integer(2, 300)
                    .message(5, Message().message(1, scalar))
                    .bytes()),
            "09000000000000f83f10ac022a0d0a0b0a046c6f7373150000803e");
  const Message histogram = Message()
                                .number(1, -1)
                                .number(2, 2)
                                .number(3, 3)
                                .number(4, 1.5)
                                .number(5, 5.25)
                                .numbers(6, {0, 2})
                                .numbers(7, {1, 2});
  EXPECT_EQ(
      hex(Message()
              .number(1, 1.5)
              .integer(2, -1)
              .message(5, Message().message(1, Message().text(1, "w").message(5, histogram)))
              .bytes()),
      "09000000000000f83f10ffffffffffffffffff012a580a560a01772a5109000000000000f0bf1100000000000000"
      "4019000000000000084021000000000000f83f29000000000000154032100000000000000000000000000000"
      "00403a10000000000000f03f0000000000000040");
}

TEST(TensorBoard, WritesRecordsWithMaskedChecksums) {
  EXPECT_EQ(watch::detail::crc32c("123456789"), 0xe3069283u);
  EXPECT_EQ(watch::detail::crc32c(std::string(32, '\0')), 0x8a9136aau);
  EXPECT_EQ(watch::detail::masked_crc32c("123456789"), 0xc78ab0e5u);
  EXPECT_EQ(hex(watch::detail::record_of("abc")), "0300000000000000b099490e6162636e57f121");
}

TEST(TensorBoard, CountsNumbersInBuckets) {
  const auto h = watch::detail::histogram_of(
      tensor({-1.0, 0.0, 0.0, 2.0, 2.0, 1e300, double{NAN}, double{INFINITY}}, kDouble));
  EXPECT_EQ(h.count, 6);
  EXPECT_EQ(h.least, -1);
  EXPECT_EQ(h.greatest, 1e300);
  ASSERT_EQ(h.limits.size(), h.counts.size());
  EXPECT_TRUE(std::is_sorted(h.limits.begin(), h.limits.end()));
  for (const double x : {-1.0, 0.0, 2.0, 1e300}) {
    const auto at = std::lower_bound(h.limits.begin(), h.limits.end(), x) - h.limits.begin();
    ASSERT_GT(at, 0);
    EXPECT_EQ(h.counts[static_cast<size_t>(at)], x == 0 || x == 2 ? 2 : 1) << x;
    if (x != 0 && x < 1e20) {
      const double wide = h.limits[static_cast<size_t>(at)] - h.limits[static_cast<size_t>(at - 1)];
      EXPECT_LE(wide, 0.1000001 * std::abs(x)) << x;
    }
  }
  EXPECT_EQ(h.counts.front(), 0);
  EXPECT_EQ(h.counts.back(), 1);
  const auto none = watch::detail::histogram_of(tensor({NAN, -INFINITY}));
  EXPECT_EQ(none.count, 0);
  EXPECT_EQ(none.counts, std::vector<double>{0});
}

// What tests/watch/read_events.py prints of a folder; "skip" where it lacks TensorBoard.
std::string read_back(const std::string& folder) {
  const char* chosen = std::getenv("GRADUS_PYTHON");
  const std::string command = std::string(chosen != nullptr ? chosen : "python3") + " -B " +
                              GRADUS_SOURCE_DIR "/tests/watch/read_events.py " + folder +
                              " 2>/dev/null";
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "skip";
  std::string out;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) out += static_cast<char>(c);
  constexpr int kMissing = 77, kNoCommand = 127;
  const int status = WEXITSTATUS(pclose(pipe));
  return status == kMissing || status == kNoCommand ? "skip" : out;
}

constexpr const char* kNoTensorBoard =
    "the Python package tensorboard is not installed; GRADUS_PYTHON may name a Python that has it";

TEST(TensorBoard, ReadsWhatSummaryWriterWrote) {
  const TemporaryFolder folder;
  {
    SummaryWriter writer(folder / "runs");
    writer.add_scalar("loss/train", 0.5);
    writer.add_scalar("loss/train", tensor(0.25), 1);
    writer.add_scalar("count", 3, int64_t{1} << 40);
    writer.add_histogram("weights", tensor({-1.0, 0.0, 0.0, 2.0, double{NAN}}), 7);
    writer.add_image("picture", tensor({0.0, 1.0, 0.5, 2.0}).view({1, 2, 2}), 2);
    writer.add_image("colour", tensor({1, 2, 3, 4, 5, 6}).to(kByte).view({1, 2, 3}), 0, "HWC");
    writer.add_images("grid", ones({1, 1, 1, 2}), 3);
    writer.add_text("notes", "**bold** text", 4);
    writer.add_scalars("both", {{"a/b", 1}, {"c", 2}}, 5);
    writer.flush();
  }
  const std::string text = read_back(folder.path());
  if (text == "skip") GTEST_SKIP() << kNoTensorBoard;
  EXPECT_EQ(text, R"(run runs
scalar loss/train 0 0.5
scalar loss/train 1 0.25
scalar count 1099511627776 3.0
histogram weights 7 -1.0 2.0 4.0 1.0 5.0 4.0 [1.0, 2.0, 1.0] True
image picture 2 2 2 0000ff0080ff
image colour 0 2 1 00010203040506
image grid 3 2 1 00ffffffffffff
text notes/text_summary 4 **bold** text text
run runs/both_a_b
scalar both 5 1.0
run runs/both_c
scalar both 5 2.0
)");
}

TEST(TensorBoard, ComparesTheSettingsOfRuns) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder / "runs");
  writer.add_hparams({{"lr", 0.5}, {"layers", 3}, {"name", "x"}}, {{"loss/val", 0.25}}, "first", 7);
  expect_error<ValueError>(
      [&] {
        writer.add_hparams({{"lr", 1}, {"lr", 2}}, {});
      },
      "'lr' is given twice");
  writer.close();
  const std::string text = read_back(folder.path());
  if (text == "skip") GTEST_SKIP() << kNoTensorBoard;
  EXPECT_EQ(text, R"(run runs
run runs/first
scalar loss/val 7 0.25
hparams experiment [('lr', 3), ('layers', 3), ('name', 1)] ['loss/val']
hparams session_start_info {'layers': 3.0, 'lr': 0.5, 'name': 'x'}
hparams session_end_info 1
)");
}

TEST(TensorBoard, DoesNotShowWhatARunDoesAgain) {
  const TemporaryFolder folder;
  {
    SummaryWriter first(folder.path());
    for (int step = 0; step < 5; ++step) first.add_scalar("x", step, step);
    SummaryWriter second(folder.path(), "", /*purge_step=*/3, ".resumed");
    EXPECT_TRUE(second.path().ends_with(".resumed"));
    second.add_scalar("x", 30, 3);
  }
  const std::string text = read_back(folder.path());
  if (text == "skip") GTEST_SKIP() << kNoTensorBoard;
  EXPECT_EQ(text, "run .\nscalar x 0 0.0\nscalar x 1 1.0\nscalar x 2 2.0\nscalar x 3 30.0\n");
}

// TensorBoard reads files in the order of their names; a later one says what of the earlier ones
// counts no more.
TEST(SummaryWriter, NamesFilesInTheOrderOfTheirMaking) {
  const TemporaryFolder folder;
  std::string last;
  for (int file = 0; file < 12; ++file) {
    const std::string path = SummaryWriter(folder.path()).path();
    EXPECT_LT(last, path);
    last = path;
  }
}

TEST(SummaryWriter, HidesWhatEveryRunDoesAgain) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path(), "", /*purge_step=*/3);
  writer.add_scalars("both", {{"a", 1}, {"b", 2}}, 3);
  // The event of a start, with its step: what TensorBoard takes as the sign.
  const std::string sign = Message().integer(2, 3).message(7, Message().integer(1, 1)).bytes();
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    if (!entry.is_regular_file()) continue;
    std::ifstream in(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    EXPECT_NE(bytes.find(sign), std::string::npos) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 3);
}

TEST(TensorBoard, DrawsTheGraph) {
  const TemporaryFolder folder;
  nn::Sequential model(nn::Linear(3, 4), nn::ReLU(), nn::Linear(4, 2));
  {
    SummaryWriter writer(folder.path());
    writer.add_graph(model, ones({5, 3}));
  }
  EXPECT_TRUE(model->is_training());
  EXPECT_FALSE(model->parameters()[0].grad().defined());
  const std::string text = read_back(folder.path());
  if (text == "skip") GTEST_SKIP() << kNoTensorBoard;
  EXPECT_EQ(text, R"(run .
node 0/Addmm Addmm ['input', '0/weight', '0/bias'] [[5, 4]]
node Relu Relu ['0/Addmm'] [[5, 4]]
node 2/Addmm Addmm ['Relu', '2/weight', '2/bias'] [[5, 2]]
node 2/bias Parameter [] [[2]]
node 2/weight Parameter [] [[2, 4]]
node 0/bias Parameter [] [[4]]
node 0/weight Parameter [] [[4, 3]]
node input Placeholder [] [[5, 3]]
)");
}

TEST(SummaryWriter, TakesEventsOfSeveralThreads) {
  const TemporaryFolder folder;
  SummaryWriter writer(folder.path());
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 50; ++i) writer.add_scalar(std::to_string(t), i, i);
    });
  for (std::thread& thread : threads) thread.join();
  std::ifstream in(writer.path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(in), {}};
  size_t records = 0;
  for (size_t at = 0; at < bytes.size(); ++records) {
    const auto length = static_cast<unsigned char>(bytes[at]);
    ASSERT_EQ(watch::detail::record_of(bytes.substr(at + 12, length)),
              bytes.substr(at, length + 16u));
    at += length + 16u;
  }
  EXPECT_EQ(records, 201u);
}

TEST(SummaryWriter, NamesItsFolderByTime) {
  const TemporaryFolder folder;
  const auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path());
  const SummaryWriter writer("", "_lr0.1");
  std::filesystem::current_path(before);
  EXPECT_TRUE(std::regex_match(writer.log_dir(),
                               std::regex(R"(runs/[A-Z][a-z]{2}\d\d_\d\d-\d\d-\d\d_.+_lr0\.1)")))
      << writer.log_dir();
}

TEST(SummaryWriter, SaysWhatIsWrong) {
  const TemporaryFolder folder;
  folder.write("file", {1});
  expect_error<Error>([&] { SummaryWriter writer(folder / "file"); },
                      "SummaryWriter: the folder " + (folder / "file") + " cannot be made");
  SummaryWriter writer(folder / "run");
  expect_error<ValueError>([&] { writer.add_scalar("x", ones({2})); },
                           "SummaryWriter.add_scalar: 'x' has the shape [2], expected one number");
  expect_error<ValueError>([&] { writer.add_histogram("x", ones({0})); },
                           "SummaryWriter.add_histogram: 'x' has no elements");
  expect_error<ValueError>(
      [&] {
        writer.add_image("x", ones({2, 2}));
      },
      "SummaryWriter.add_image: the image has the shape [2, 2], expected CHW");
  expect_error<ValueError>(
      [&] {
        writer.add_image("x", ones({2, 2, 2}));
      },
      "the image has 2 channels, expected 1, 3 or 4");
  expect_error<ValueError>(
      [&] {
        writer.add_image("x", ones({1, 2, 2}), 0, "NCHW");
      },
      "dataformats is 'NCHW', expected 'CHW', 'HWC' or 'HW'");
  writer.close();
  expect_error<Error>([&] { writer.add_scalar("x", 1); },
                      writer.path() + " is closed; write all events before close()");
}

}  // namespace
}  // namespace gradus
