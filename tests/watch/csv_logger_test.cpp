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
