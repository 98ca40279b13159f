// CSVLogger: what stands in the file, after errors and a resume, too.
#include "tests/support.h"
#include "tests/temporary_folder.h"

namespace gradus {
namespace {

using watch::CSVLogger;

std::string contents(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CSVLogger, WritesEachRowAtOnce) {
  const TemporaryFolder folder;
  CSVLogger log(folder / "a/b/train.csv");
  log.log({{"epoch", 1}, {"loss", 0.1}, {"note", "a \"b\", c\nd"}});
  const std::string first = "epoch,loss,note\n1,0.1,\"a \"\"b\"\", c\nd\"\n";
  EXPECT_EQ(contents(log.path()), first);
  log.log({{"loss", tensor(1.0 / 3, kDouble)}, {"epoch", 2}});
  log.log({{"loss", NAN}});
  log.log({{"loss", 1e-30f}, {"epoch", int64_t{1} << 40}});
  EXPECT_EQ(contents(log.path()), first +
                                      "2,0.3333333333333333,\n,nan,\n"
                                      "1099511627776,1.0000000031710769e-30,\n");
}

TEST(CSVLogger, WritesWholeNumbersExactly) {
  const TemporaryFolder folder;
  CSVLogger log(folder / "log.csv");
  const auto large = int64_t{1} << 53 | 1;
  log.log({{"a", INT64_MAX}, {"b", UINT64_MAX}, {"c", tensor(large)}, {"d", true}, {"e", -large}});
  log.log({{"a", INT64_MIN}, {"b", tensor(true)}, {"c", tensor(uint8_t{255})}, {"d", size_t{7}}});
  EXPECT_EQ(contents(log.path()),
            "a,b,c,d,e\n9223372036854775807,18446744073709551615,9007199254740993,1,"
            "-9007199254740993\n-9223372036854775808,1,255,7,\n");
  EXPECT_EQ(data::read_csv(log.path()).numbers("c", kLong)[0].item<int64_t>(), large);
}

TEST(CSVLogger, ReplacesOrGoesOn) {
  const TemporaryFolder folder;
  const std::string path = folder / "log.csv";
  CSVLogger(path).log({{"epoch", 1}, {"my, loss", 0.5}});
  CSVLogger(path, /*append=*/true).log({{"my, loss", 0.25}, {"epoch", 2}});
  EXPECT_EQ(contents(path), "epoch,\"my, loss\"\n1,0.5\n2,0.25\n");
  {  // a program that was killed left half a row
    std::ofstream(path, std::ios::app) << "3,0.1";
    CSVLogger log(path, true);
    log.log({{"epoch", 3}});
    EXPECT_EQ(contents(path), "epoch,\"my, loss\"\n1,0.5\n2,0.25\n3,\n");
    expect_error<ValueError>(
        [&] {
          log.log({{"accuracy", 1}});
        },
        "CSVLogger.log: 'accuracy' is no column of " + path +
            "; its first row names them: epoch,\"my, loss\"");
    expect_error<ValueError>(
        [&] {
          log.log({{"epoch", 1}, {"epoch", 2}});
        },
        "'epoch' is given twice");
    EXPECT_EQ(contents(path), "epoch,\"my, loss\"\n1,0.5\n2,0.25\n3,\n");
  }
  CSVLogger(path).log({{"x", 1}});
  EXPECT_EQ(contents(path), "x\n1\n");
  CSVLogger(folder / "new.csv", true).log({{"x", 1}});
  EXPECT_EQ(contents(folder / "new.csv"), "x\n1\n");
}

// What a file is after it was opened again and one more row was logged.
std::string after_a_row(const TemporaryFolder& folder, const std::string& before) {
  const std::string path = folder / "resumed.csv";
  std::ofstream(path, std::ios::binary) << before;
  CSVLogger(path, /*append=*/true).log({{"a", 3}, {"b", "w"}});
  return contents(path);
}

TEST(CSVLogger, GoesOnBehindTheLastWholeRow) {
  const TemporaryFolder folder;
  for (const std::string end : {"\n", "\r\n"})
    for (const std::string mark : {"", "\xef\xbb\xbf"}) {
      const std::string head = mark + "a,b" + end;
      const std::string rows = head + "1,\"x" + end + "y\"" + end + "2,\"say \"\"hi\"\"\"" + end;
      const std::string last = "3,w" + end;
      EXPECT_EQ(after_a_row(folder, head), head + last);
      EXPECT_EQ(after_a_row(folder, rows), rows + last);
      // Every part of a row that a killed program may leave.
      const std::string torn = "4,\"u" + end + "\"\"v\"" + end;
      for (size_t length = 0; length < torn.size(); ++length) {
        EXPECT_EQ(after_a_row(folder, rows + torn.substr(0, length)), rows + last) << length;
        EXPECT_EQ(data::read_csv(folder / "resumed.csv").rows(), 3);
      }
      EXPECT_EQ(after_a_row(folder, rows + torn), rows + torn + last);
    }
  for (const char* const no_row : {"", "a", "a,b", "a,\"b\n"})
    EXPECT_EQ(after_a_row(folder, no_row), "a,b\n3,w\n") << no_row;
}

TEST(CSVLogger, WritesNoRowTwiceAfterACheckpoint) {
  const TemporaryFolder folder;
  const std::string path = folder / "log.csv";
  nn::Linear net(1, 1);
  optim::SGD sgd(net->parameters(), 0.1);
  const auto train = [&](int from, int to, int last_saved) {
    CSVLogger log(path, /*append=*/from > 0);
    serialize::Checkpoints checkpoints(folder / "run", *net, sgd);
    checkpoints.add("log", log);
    if (from > 0) {
      EXPECT_EQ(checkpoints.load(), from);
    }
    for (int epoch = from + 1; epoch <= to; ++epoch) {
      log.log({{"epoch", epoch}});
      if (epoch <= last_saved) checkpoints.save(epoch);
    }
  };
  train(0, 4, 2);  // killed behind two rows that no checkpoint knows
  EXPECT_EQ(contents(path), "epoch\n1\n2\n3\n4\n");
  train(2, 5, 5);
  EXPECT_EQ(contents(path), "epoch\n1\n2\n3\n4\n5\n");

  // A state is loaded without a change of the file, which the next row brings.
  CSVLogger log(path, true);
  OrderedDict<std::string, Tensor> three = log.state_dict(), nine = log.state_dict();
  three["rows"] = tensor(int64_t{3});
  nine["rows"] = tensor(int64_t{9});
  expect_error<ValueError>([&] { log.load_state_dict(nine); },
                           path + " has 5 rows, and had 9 when the state was saved");
  const auto before = log.state_dict();
  log.load_state_dict(three);
  log.load_state_dict(before);
  EXPECT_EQ(contents(path), "epoch\n1\n2\n3\n4\n5\n");
  log.load_state_dict(three);
  log.log({{"epoch", 40}});
  log.log({{"epoch", 50}});
  EXPECT_EQ(contents(path), "epoch\n1\n2\n3\n40\n50\n");
}

TEST(CSVLogger, SaysWhatTheSystemRefuses) {
  const TemporaryFolder folder;
  folder.write("file", {1});
  expect_error<Error>([&] { CSVLogger log(folder / "file/log.csv"); },
                      "CSVLogger: the folder " + (folder / "file") + " cannot be made: ");
  expect_error<Error>([&] { CSVLogger log(folder.path()); },
                      "CSVLogger: " + folder.path() + " cannot be written: Is a directory");
  CSVLogger log(folder / "log.csv");
  expect_error<ValueError>([&] { log.log({}); }, "the first row is empty");
  if (std::filesystem::exists("/dev/full")) {
    CSVLogger full("/dev/full");
    expect_error<Error>(
        [&] {
          full.log({{"x", 1}});
        },
        "CSVLogger: /dev/full cannot be written: No space left on device; free "
        "space there, or choose another folder");
  }
}

}  // namespace
}  // namespace gradus
